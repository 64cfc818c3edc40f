"""Theorem 7: how many samples the local test needs, and what public and private randomness cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from companion.chapters.private_uniformity.central_samples import unif_power
from companion.chapters.private_uniformity.local_channels import (
    channel_losses,
    pairing,
    pointwise_loss,
    printed_channel,
    sign_vectors,
)
from companion.chapters.private_uniformity.local_moments import randomised, sign_law
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_pairings, all_rankings, exponent, mean_square_bias
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.draws import multinomial
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.local import LocalPairs
from dprank.uniformity.unif import unif_null_sf, unif_null_threshold, unif_sf


def printed_order(n_items: int, theta: float, epsilon: float, delta: float, *, private: bool = False) -> float:
    """Theorem 7's number of samples without its constant; `private` for the second bullet."""
    mu = math.tanh(theta / 2) if private else paper.unif_bias(n_items, theta)
    return math.sqrt(math.log(1 / delta) / n_items) / (mu * math.tanh(epsilon / n_items)) ** 2


def sufficient_samples(n_items: int, bias: float, delta: float) -> int:
    """1 + (24 sqrt(L/m) + 58 L/m) / bias^2, rounded up, L = log(1/delta): both errors at most delta, exact threshold.

    For independent pairs whose mean signs, after randomised response, are `bias` at least; of an odd m, m - 1 counts.
    """
    share = math.log(1 / delta) / (2 * (n_items // 2))
    return 1 + math.ceil((24 * math.sqrt(share) + 58 * share) / bias**2)


def growth(values: Sequence[float], arguments: Sequence[float]) -> float:
    """Exponent between the last two of several values."""
    return exponent(arguments[-2:], values[-2:])


def orders(epsilon: float, delta: float, items: Sequence[int]) -> pd.DataFrame:
    """Theorem 7's expression against m: at fixed phi, and at a fixed distance 1/2 from uniform.

    Columns: ``items``, ``φ = 0.9``, ``distance ½``, ``distance ½, fixed pairing``.
    """
    rows = []
    for m in items:
        theta = theta_at(m, 0.5)
        row = {"items": m, "φ = 0.9": printed_order(m, -math.log(0.9), epsilon, delta)}
        row["distance ½"] = printed_order(m, theta, epsilon, delta)
        rows.append(row | {"distance ½, fixed pairing": printed_order(m, theta, epsilon, delta, private=True)})
    return pd.DataFrame(rows)


def two_item_errors(bias: float, delta: float, most: int = 150_000) -> float:
    """Two items, printed threshold: the least value, over all numbers of samples, of the larger error.

    Exact up to `most` samples; beyond, the size alone is bounded, by its normal limit less twice the Berry-Esseen
    distance 0.4748 / sqrt(k). The bias is the mean sign of the pair after randomised response.
    """
    k = np.arange(2, most + 1)
    least = np.ceil(np.sqrt(k * paper.unif_threshold(2, delta)) - ROUNDING)
    least += (least + k) % 2
    heads = (least + k) / 2 - 1
    size = 2 * binom.sf(heads, k, 0.5)
    power = binom.sf(heads, k, (1 + bias) / 2) + binom.sf(heads, k, (1 - bias) / 2)
    limit = float(chi2.sf(paper.unif_threshold(2, delta), 1)) - 2 * 0.4748 / math.sqrt(most)
    return float(min(np.maximum(size, 1 - power).min(), limit))


def least_errors(constant: float, log_inverse_delta: float) -> float:
    """Log of a lower bound on size plus miss of any test of two items from C sqrt(L/2) / bias^2 + 1 private reports.

    Bretagnolle and Huber: the sum is at least exp(-k KL) / 2, and the KL divergence of a fair coin from one of bias b
    is -log(1 - b^2) / 2, at most b^2 for b^2 up to 0.79.
    """
    return -math.log(2) - constant * math.sqrt(log_inverse_delta / 2) - 1


def indistinguishable(n_items: int, samples: int, bias: float) -> float:
    """Bound on power less size: half the root of exp(k^2 sum b^4 / 2) - 1, see the chapter."""
    return 0.5 * math.sqrt(math.expm1(samples**2 * (n_items // 2) * bias**4 / 2))


@lru_cache
def power_gap(sizes: tuple[int, ...], biases: tuple[float, ...], deltas: tuple[float, ...]) -> pd.DataFrame:
    """Errors with `sufficient_samples`, and what 1 / (2 b^2 sqrt(m)) samples gain over the size; independent pairs.

    Columns: ``items``, ``bias``, ``δ``, ``voters``, ``P(miss)``, ``few voters``, ``power − size`` with these, and its
    ``upper bound``.
    """
    rows = []
    for m, bias, delta in product(sizes, biases, deltas):
        samples = sufficient_samples(m, bias, delta)
        miss = 1 - unif_power(m, samples, bias, delta)
        few = max(2, math.ceil(0.5 / bias**2 / math.sqrt(m)))
        threshold = unif_null_threshold(m // 2, few, delta)
        size, bound = float(unif_null_sf(m // 2, few, threshold)), indistinguishable(m, few, bias)
        power = float(unif_sf(m // 2, few, threshold, bias))
        row = {"items": m, "bias": bias, "δ": delta, "voters": samples, "P(miss)": max(0.0, round(miss, 12))}
        rows.append(row | {"few voters": few, "power − size": power - size, "upper bound": bound})
    return pd.DataFrame(rows)


#: Items, biases and deltas of which errors are computed.
GRID = ((2, 4, 10, 100), (0.2, 0.5), (0.05, 1e-3, 1e-6))


def worst_miss() -> float:
    """Most miss over delta with `sufficient_samples`; a miss below 1e-12, a millionth of the least delta, is 0."""
    grid = power_gap(*GRID)
    return float((grid["P(miss)"] / grid["δ"]).max())


@claim("busafekete2021:thm-7")
def check_thm_7(
    epsilon: float = 1.0,
    delta: float = 0.05,
    items: Sequence[int] = (2_500, 10_000),
    wide: Sequence[float] = (1e3, 1e4),
    narrow: Sequence[float] = (1e-4, 1e-3),
) -> Iterator[Check]:
    """Privacy, orders and errors of Theorem 7, first bullet."""
    order = orders(epsilon, delta, items)
    losses = channel_losses(epsilon)
    m = 10
    saturated, fine = (growth([printed_order(m, 0.1, e, delta) for e in grid], grid) for grid in (wide, narrow))
    sizes, of = f"m = {items[0]} to {items[1]}", f"ε₀ = {wide[0]:g} to {wide[1]:g}, m = {m}"
    near = growth(order["φ = 0.9"].tolist(), items)
    far = growth(order["distance ½"].tolist(), items)
    worse = two_item_errors(math.tanh(0.5), 1e-3)
    loss = losses.loss.max() / epsilon
    yield printed(f"largest loss over ε₀, {len(losses)} numbers of items", loss, "<=", 1 + ROUNDING)
    yield argument("loss over ε₀, 3 items: 2/3", losses.loss[1] / epsilon, "==", 2 / 3, error=ROUNDING)
    yield printed(f"exponent of m at fixed φ = 0.9, {sizes}", near, "==", 1.5, error=0.02)
    # there μ is 1, so that m^(-1/2) / tanh(ε₀/m)² is left
    left = (order["φ = 0.9"] * np.sqrt(order["items"]) * np.tanh(epsilon / order["items"]) ** 2).iloc[-1]
    yield argument("that k √m tanh²(ε₀/m) / √log(1/δ)", left / math.sqrt(-math.log(delta)), "==", 1, error=ROUNDING)
    yield printed("exponent of m at fixed distance ε = 1/2", far, "==", 1.5, error=0.02)
    yield printed(f"exponent of ε₀, {of}", saturated, "==", -2, error=0.02)
    what = "m = 2, φ = 0, ε₀ = 1, printed threshold, δ = 0.001, best k: larger of size and miss"
    yield printed(what, worse, "<=", 1e-3)
    yield amended("exponent of m at fixed distance ε = 1/2", far, "==", 2.5, error=0.02)
    yield amended(f"exponent of ε₀, ε₀ = {narrow[0]:g} to {narrow[1]:g}, m = {m}", fine, "==", -2, error=1e-6)
    yield amended(f"exponent of ε₀, {of}", saturated, "==", 0, error=ROUNDING)
    what = "exact threshold, our k: most miss / δ, m = 2, 4, 10, 100"
    yield amended(what, worst_miss(), "<=", 1, error=ROUNDING / 1e-6)
    grid = power_gap(*GRID)
    share = (grid["power − size"] / grid["upper bound"]).max()
    yield amended("k = 1/(2 b² √m): most of (power − size) / our bound on it", share, "<=", 1)
    # the exact divergence of a mixture of all signs; the bound's exponential function is its limit
    m, k, b = 4, 1000, 0.01
    exact = 0.5 * math.sqrt((((1 + b**2) ** k + (1 - b**2) ** k) / 2) ** 2 - 1)
    near = indistinguishable(m, k, b) / exact
    yield argument(
        f"that bound over half the root of the exact χ², m = {m}, b = {b}, k = {k}", near, "==", 1, error=2 / k
    )


def ranking_bits(n_items: int) -> float:
    """log2 m!, the bits that a uniformly random ranking needs."""
    return math.lgamma(n_items + 1) / math.log(2)


def pairing_bits(n_items: int) -> float:
    """log2 of the number of ways to cut an even number of items into pairs."""
    pairs = n_items // 2
    return max(0.0, (math.lgamma(n_items + 1) - math.lgamma(pairs + 1)) / math.log(2) - pairs)


def own_ranking_law(n_items: int, theta: float) -> NDArray[np.float64]:
    """Law of a peer's signs, pair by pair, if each peer has a random numbering of the items to itself.

    Averaged over all numberings, shape (2^pairs,). At most 5 items.
    """
    numberings = all_rankings(n_items)
    return np.mean([sign_law(n_items, theta, order[: n_items // 2 * 2].reshape(-1, 2)) for order in numberings], axis=0)


def bias_ratios(items: Sequence[int], scaled: Sequence[float]) -> pd.DataFrame:
    """Mean squared bias of a random pair over the square of the paper's mu, at theta = scaled / m."""
    rows = []
    for m, x in product(items, scaled):
        ratio = mean_square_bias(Mallows(m, x / m)) / paper.unif_bias(m, x / m) ** 2
        rows.append({"items": m, "theta times m": x, "ratio": ratio})
    return pd.DataFrame(rows)


@claim("busafekete2021:thm-7:randomness")
def check_randomness(
    few: int = 4,
    several: int = 12,
    many: int = 10_000,
    items: Sequence[int] = (2, 3, 10, 100, 1000),
    scaled: Sequence[float] = tuple(np.geomspace(1e-3, 1e3, 13)),
) -> Iterator[Check]:
    """Bits, one ranking for all against one for each, and what a random pair's bias is."""
    yield printed(f"bits of a random ranking, {few} items; m", ranking_bits(few), "<=", few)
    yield printed(f"bits of a random pairing, {several} items; m", pairing_bits(several), "<=", several)
    for kind, bits, every in (
        ("rankings", ranking_bits(few), all_rankings(few)),
        ("pairings", pairing_bits(few), all_pairings(few)),
    ):
        what = f"two to the bits of a random one of {few} items: all {kind}"
        yield argument(what, 2**bits, "==", len(every), error=1e-6)
    own = own_ranking_law(few, math.inf)
    what = f"{few} items, φ = 0, a ranking of its own for each peer: most off the law of fair coins"
    yield printed(what, float(np.abs(own - 1 / len(own)).max()), ">", ROUNDING)
    common = sign_law(few, 2.0, pairing(few))
    # pairs of neighbours are independent, each in its order with probability 1 / (1 + φ)
    first = 1 / (1 + math.exp(-2.0))
    what = f"{few} items, φ = e⁻², one ranking for all: both pairs as in the centre"
    yield amended(what, float(common[-1]), "==", first**2, error=ROUNDING)
    what = f"bits of a random pairing over (m/2) log₂ m, {many} items"
    half = many / 2 * math.log2(many)
    # Stirling: (m/2) (log₂ m − log₂ e), and log₂(2)/2
    yield amended(f"{what}: 1 − 1/log m", pairing_bits(many) / half, "==", 1 - 1 / math.log(many), error=1 / half)
    ratio = bias_ratios(items, scaled).ratio
    yield amended(f"least mean squared bias of a random pair over μ², {len(ratio)} cases", ratio.min(), ">=", 0.8)


@claim("busafekete2021:sec-6:pairing-gain")
def check_pairing_gain(
    items: Sequence[int] = (100, 1000), scaled: float = 1e-3, epsilon: float = 1.0
) -> Iterator[Check]:
    """Next to the uniform law: the fixed pairing's number over the random one's, as printed, and by their biases."""
    delta = 0.05
    for m in items:
        law = Mallows(m, scaled / m)
        fixed, drawn = (printed_order(m, law.theta, epsilon, delta, private=it) for it in (True, False))
        yield printed(
            f"Theorem 7's order without public randomness over that with it, m = {m:,}, θ = {scaled:g}/m",
            fixed / drawn,
            ">",
            1,
        )
        gain = mean_square_bias(law) / float(law.bias(np.array([1]))[0]) ** 2
        what = f"mean squared bias of a random pair over that of neighbours, m = {m:,}, θ = {scaled:g}/m"
        yield printed(what, gain, ">", 1)
        # mean of ((2g + 1)/3)² over random gaps
        yield argument(f"{what}, over 2m²/27", gain * 27 / 2 / m**2, "==", 1, error=4 / m)


def crossing_power(samples: int, epsilon: float, theta: float, repetitions: int) -> pd.DataFrame:
    """Four items in every fixed pairing, exact threshold: simulated power, all dependence included.

    Columns: ``pairing``, ``power``, ``error`` (four standard errors, and 1 / repetitions).
    """
    test = LocalPairs.calibrated(epsilon=epsilon, n_items=4)
    threshold = unif_null_threshold(2, samples, test.size)
    rows = []
    for name, pairs in zip(("side by side", "crossing", "nested"), all_pairings(4), strict=True):
        law = randomised(sign_law(4, theta, pairs), test.shrinkage)
        rng = stream("06: fixed pairing", {"pairing": name, "samples": samples})
        sums = multinomial(samples, law, repetitions, rng=rng) @ sign_vectors(2)
        power = float(((sums**2).sum(-1) / samples >= threshold).mean())
        error = 4 * math.sqrt(power * (1 - power) / repetitions) + 1 / repetitions
        rows.append({"pairing": name, "samples": samples, "power": power, "error": error})
    return pd.DataFrame(rows)


@claim("busafekete2021:thm-7:private-randomness")
def check_private_randomness(
    repetitions: int = 2_000,
    constants: Sequence[float] = (10.0, 100.0, 1000.0),
    thetas: Sequence[float] = (1e-6, 1e-3, 0.1, 1.0, 10.0),
    n_items: int = 1000,
) -> Iterator[Check]:
    """Second bullet of Theorem 7: no constant serves all delta, ours with a second term does."""
    for constant in constants:
        log = constant**2
        of = f"m = 2, k = 1 + {constant:g} √(log(1/δ)/m)/μ₀′², δ = e^−{log:g}"
        error = least_errors(constant, log)
        yield printed(f"{of}: log of (size + miss) of any test; log 2δ", error, "<=", math.log(2) - log)
        # the divergence of one report, -log(1 - b^2)/2, is largest against b^2 at the end of what is allowed
        exact = (constant * math.sqrt(log / 2) / 0.79 + 1) * -0.5 * math.log1p(-0.79)
        share = exact / -(error + math.log(2))
        yield argument(f"k KL over our bound on it, b² = 0.79, C = {constant:g}", share, "<=", 1)
        yield argument(f"k KL over our bound on it, b² = 0.79, C = {constant:g}", share, ">=", 0.98)
    what = "m = 2, 4, 10, 100, k with a term log(1/δ)/m: most miss / δ, exact threshold"
    yield supplied(what, worst_miss(), "<=", 1, error=ROUNDING / 1e-6)
    least = min((Mallows(n_items, x).bias(np.arange(1, n_items)) / math.tanh(x / 2)).min() for x in thetas)
    yield supplied(f"least bias of two items over μ′, any gap, m = {n_items}", least, ">=", 1 - ROUNDING)
    what = f"bias of neighbours over μ′, φ = 1/e, m = {n_items}"
    yield amended(what, float(Mallows(n_items, 1.0).bias(np.array([1]))[0]) / math.tanh(0.5), "==", 1, error=ROUNDING)
    theta, epsilon, delta = 0.5, 1.0, 0.05
    bias = math.tanh(theta / 2) * LocalPairs.calibrated(epsilon=epsilon, n_items=4).shrinkage
    for row in crossing_power(sufficient_samples(4, bias, delta), epsilon, theta, repetitions).itertuples():
        what = f"m = 4, {row.pairing}, k = {row.samples}, δ = {delta:g}: power"
        yield supplied(what, row.power, ">=", 1 - delta, error=row.error)


def reports_ratio(n_items: int, epsilon: float, reports: int = 2) -> float:
    """Largest log ratio of the law of some reports, each of any ranking, to that of reports of uniform rankings."""
    law = printed_channel(n_items, epsilon)
    return float(reports * np.log(law.max(axis=0) / law.mean(axis=0)).max())


@claim("busafekete2021:sec-1:local-both")
def check_local_both(
    epsilon: float = 1 / 3, delta: float = 0.05, items: Sequence[int] = (2, 3, 4, 5), bias: float = 0.3
) -> Iterator[Check]:
    """Can both tests without privacy be run on local reports?"""
    one, other = "UNIF", "2SAMP"
    loss = max(pointwise_loss(printed_channel(m, epsilon)) for m in items)
    what = f"loss of the paper's channel over ε₀, largest, m = {items[0]} to {items[-1]}"
    yield printed(what, loss / epsilon, "<=", 1 + ROUNDING, reading=one)
    kept = paper.local_pairs(2, epsilon).mechanism.shrinkage
    enough = sufficient_samples(2, kept * bias, delta)
    power = unif_power(2, enough, kept * bias, delta)
    what = f"power of UNIF on {enough:,} reports, exact threshold of size δ = {delta:g}, m = 2, bias {bias:g}"
    yield printed(what, power, ">=", 1 - delta, reading=one)
    most = delta * math.exp(2 * epsilon)
    what = f"most power of any test of two reports, of size δ = {delta:g}, any m and φ, ε₀ = {epsilon:.3g}"
    yield printed(what, most, ">=", 1 - delta, reading=other)
    ratios = [reports_ratio(m, epsilon) / (2 * epsilon) for m in items]
    what = f"log ratio of two reports' laws, any two rankings to uniform ones, over 2ε₀, largest, m = {items[0]} to"
    yield argument(f"{what} {items[-1]}", max(ratios), "<=", 1)
    least = math.log((1 - delta) / delta)
    yield amended(f"reports that any test needs at least, ε₀ = {epsilon:.3g}, δ = {delta:g}", least / epsilon, ">", 8)
    yield amended(f"ε₀ below which two reports are too few, δ = {delta:g}", least / 2, ">", 1.47)
