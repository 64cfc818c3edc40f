"""Busa-Fekete, Fotakis and Zampetakis (2021): uniformity under local differential privacy, Section 6 and Theorem 7."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import binom, chi2, ncx2, norm

from companion.chapters.private_uniformity.central import unif_power
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import all_pairings, all_rankings, exponent, mean_square_bias
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.data.kendall import kendall_distances
from dprank.models.draws import binomial, multinomial
from dprank.models.mallows import Mallows, theta_at
from dprank.privacy.laws import signs_law
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.unif import unif_null_sf, unif_null_threshold, unif_sf

#: Up to so many items the joint law of all signs of a voter is used; beyond, independent counts.
JOINT = 10
#: Beyond so many voters the null law of the statistic is taken to be chi-square.
MANY = 1_000_000

# --- channels, by enumeration ----------------------------------------------------------------------------------------


def sign_vectors(n_pairs: int) -> NDArray[np.int64]:
    """All vectors of signs, shape (2^pairs, pairs)."""
    return np.array(list(product((-1, 1), repeat=n_pairs)))


def channel(n_items: int, shrinkage: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """W(z given ranking) when the signs of `pairs` go through randomised response one by one.

    Parameters
    ----------
    n_items : int
    shrinkage : float
        Probability that a sign is kept, less that it is reversed.
    pairs : numpy.ndarray of int, shape (pairs, 2)

    Returns
    -------
    numpy.ndarray of float, shape (n_items!, 2^pairs)
        Columns as in `sign_vectors`.
    """
    return signs_law(pair_signs(all_rankings(n_items), pairs), (1 - shrinkage) / 2)


def pointwise_loss(law: NDArray[np.float64]) -> float:
    """Left-hand side of Definition 2: the largest log ratio over outputs and pairs of rows."""
    return max(privacy_loss(a, b) for a in law for b in law)


def eventwise_loss(law: NDArray[np.float64]) -> float:
    """The largest log ratio over all non-empty sets of outputs and all ordered pairs of rows; at most 12 outputs."""
    outputs = law.shape[1]
    events = np.array(list(product((0, 1), repeat=outputs)))[1:]
    chances = np.unique(law, axis=0) @ events.T
    return float(np.log(chances.max(0) / chances.min(0)).max())


def pairing(n_items: int) -> NDArray[np.int64]:
    """The pairs (0, 1), (2, 3), ..., shape (pairs, 2)."""
    return np.arange(n_items // 2 * 2).reshape(-1, 2)


@claim("busafekete2021:def-2")
def check_def_2() -> Iterator[Check]:
    """Definition 2 against the inequality over all events, both ways round, and over what all peers send."""
    for m in (2, 3, 4, 5):
        law = channel(m, paper.local_pairs(m, 1.0).mechanism.shrinkage, pairing(m))
        what = f"{m} items, the paper's channel: loss over all events less the definition's"
        yield printed(what, eventwise_loss(law) - pointwise_loss(law), "==", 0, error=ROUNDING)
    law = channel(2, paper.local_pairs(2, 1.0).mechanism.shrinkage, pairing(2))
    both = np.array([np.kron(a, law[0]) for a in law])
    what = "two peers, one of whom changes the ranking: loss of all that is sent less the definition's"
    yield printed(what, eventwise_loss(both) - pointwise_loss(law), "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-3:ldp-stronger")
def check_ldp_stronger(epsilon: float = 1.0) -> Iterator[Check]:
    """Two items, two peers: every decision from local reports is centrally private; the converse fails."""
    law = channel(2, paper.local_pairs(2, epsilon).mechanism.shrinkage, pairing(2))
    reports = np.array([[np.kron(a, b) for b in law] for a in law])
    decisions = np.array(list(product((0, 1), repeat=4)))[1:-1]
    rejects = reports @ decisions.T
    outcomes = np.log(np.stack([rejects, 1 - rejects]))
    central = max(float(np.abs(np.diff(outcomes, axis=axis)).max()) for axis in (1, 2))
    agree = np.where(np.eye(2) == 1, 1, -1)  # of two peers with two possible rankings each
    answer = np.log((1 + math.tanh(epsilon / 2) * np.stack([agree, -agree])) / 2)
    kept = max(float(np.abs(np.diff(answer, axis=axis)).max()) for axis in (1, 2))
    yield printed("two peers: central loss of any decision from the paper's reports", central, "<=", epsilon + ROUNDING)
    yield printed(
        "randomised answer to 'do both agree?' from raw rankings: central loss", kept, "<=", epsilon + ROUNDING
    )
    yield printed("the same: local loss of what the peers hand over", pointwise_loss(np.eye(2)), ">", epsilon)


def public_channels(n_items: int, epsilon: float) -> list[NDArray[np.float64]]:
    """The paper's channel for every pairing that the curator may announce, each of shape (n_items!, 2^pairs)."""
    shrinkage = paper.local_pairs(n_items, epsilon).mechanism.shrinkage
    return [channel(n_items, shrinkage, pairs) for pairs in all_pairings(n_items)]


def padded_channels() -> list[NDArray[np.float64]]:
    """A bit sent through a public pad: as it is, or reversed."""
    return [np.eye(2), np.eye(2)[::-1]]


@claim("busafekete2021:def-3")
def check_def_3() -> Iterator[Check]:
    """Definition 3 against the loss of pairing and output seen together; and what hiding the pairing would change."""
    family = public_channels(4, 1.0)
    seen = np.hstack(family) / len(family)
    worst = max(map(pointwise_loss, family))
    what = "4 items, 3 pairings: loss over all events of pairing and output together, less the definition's"
    pads = padded_channels()
    yield printed(what, eventwise_loss(seen) - worst, "==", 0, error=ROUNDING)
    yield printed("4 items: the definition's loss of Algorithm 6, ε₀ = 1", worst, "<=", 1 + ROUNDING)
    yield printed(
        "a bit sent under a public pad: the definition's loss", max(map(pointwise_loss, pads)), "==", math.inf
    )
    yield printed("the same were the pad kept secret", pointwise_loss((pads[0] + pads[1]) / 2), "==", 0, error=ROUNDING)


def channel_losses(epsilon: float, most: int = 6) -> pd.DataFrame:
    """Exact privacy loss of Algorithm 6 as printed, from all rankings and outputs, beside the library's guarantee.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``pairs``, ``loss``, ``guarantee``.
    """
    rows = []
    for m in range(2, most + 1):
        test = paper.local_pairs(m, epsilon).mechanism
        loss = float(np.ptp(np.log(channel(m, test.shrinkage, pairing(m))), axis=0).max())
        rows.append({"items": m, "pairs": m // 2, "loss": loss, "guarantee": test.guarantee.epsilon})
    return pd.DataFrame(rows)


@claim("busafekete2021:alg-5")
def check_alg_5(epsilons: Sequence[float]) -> Iterator[Check]:
    """Every even number of items spends epsilon_0 exactly, every odd one less."""
    for epsilon in epsilons:
        losses = channel_losses(epsilon)
        ratio = losses.loss / epsilon
        even = losses["items"] % 2 == 0
        what = f"items, ε₀ = {epsilon:g}: "
        yield printed(f"2 to 6 {what}largest loss over ε₀", ratio.max(), "<=", 1 + ROUNDING)
        yield printed(f"2, 4, 6 {what}least loss over ε₀", ratio[even].min(), "==", 1, error=ROUNDING)


# --- the statistic's moments -----------------------------------------------------------------------------------------


def sign_law(n_items: int, theta: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Law of the signs of `pairs` in one Mallows ranking with centre 0, 1, ..., by enumeration; shape (2^pairs,)."""
    rankings = all_rankings(n_items)
    distance = kendall_distances(rankings, np.arange(n_items))
    weight = (distance == 0) * 1.0 if math.isinf(theta) else np.exp(-theta * distance)
    code = (pair_signs(rankings, pairs) > 0) @ (1 << np.arange(len(pairs))[::-1])
    return np.asarray(np.bincount(code, weight / weight.sum(), 1 << len(pairs)), float)


def randomised(law: NDArray[np.float64], shrinkage: float) -> NDArray[np.float64]:
    """Law of the signs after randomised response, shape (..., 2^pairs)."""
    keep, turn = (1 + shrinkage) / 2, (1 - shrinkage) / 2
    for bit in range(law.shape[-1].bit_length() - 1):
        law = keep * law + turn * law[..., np.arange(law.shape[-1]) ^ (1 << bit)]
    return law


def statistic_moments(law: NDArray[np.float64], samples: int) -> tuple[float, float]:
    """Mean and variance of Y for `samples` independent sign vectors of a given law, by enumeration of all samples."""
    pairs = len(law).bit_length() - 1
    sums = reduce(np.add.outer, [np.arange(len(law)) * 0] * samples)[..., None] + sum(
        sign_vectors(pairs).reshape((1,) * i + (-1,) + (1,) * (samples - 1 - i) + (pairs,)) for i in range(samples)
    )
    y = (sums**2).sum(-1) / samples
    chance = reduce(np.multiply.outer, [law] * samples)
    mean = float((chance * y).sum())
    return mean, float((chance * (y - mean) ** 2).sum())


def unif_moments(biases: ArrayLike, samples: int, products: ArrayLike | None = None) -> tuple[float, float]:
    """Mean and variance of Y from the mean signs b_i of the pairs and the mean products E_ij of two signs.

    Parameters
    ----------
    biases : array_like of float, shape (pairs,)
    samples : int
    products : array_like of float, shape (pairs, pairs), optional
        Off the diagonal; by default b_i b_j, independent pairs.
    """
    b, k = np.asarray(biases, float), samples
    both = np.multiply.outer(b, b)
    e = both if products is None else np.asarray(products, float)
    covariance = 2 * (1 - 1 / k) * ((e**2 - both**2) + 2 * (k - 2) * (e - both) * both)
    own = 2 * (1 - 1 / k) * ((1 - b**4) + 2 * (k - 2) * (b**2 - b**4))
    return float(len(b) + (k - 1) * (b**2).sum()), float(own.sum() + covariance[~np.eye(len(b), dtype=bool)].sum())


def moment_table(theta: float, shrinkage: float, samples: int) -> pd.DataFrame:
    """Four items in every pairing: enumerated moments of the local statistic, and what the two formulas say.

    Returns
    -------
    pandas.DataFrame
        ``pairing``; ``mean`` and ``variance``, enumerated; ``mean, bias shrunk`` and ``variance, bias shrunk``, UNIF's
        functions of the pairs' biases, multiplied by the shrinkage t; ``variance, products shrunk``, with the mean
        products multiplied by t^2 as well.
    """
    rows = []
    signs = sign_vectors(2)
    for name, pairs in zip(("side by side", "crossing", "nested"), all_pairings(4), strict=True):
        law = sign_law(4, theta, pairs)
        mean, variance = statistic_moments(randomised(law, shrinkage), samples)
        b = law @ signs
        products = (law[:, None, None] * signs[:, :, None] * signs[:, None, :]).sum(0)
        scaled = unif_moments(shrinkage * b, samples)
        joint = unif_moments(shrinkage * b, samples, shrinkage**2 * products)
        row = {"pairing": name, "mean": mean, "mean, bias shrunk": scaled[0], "variance": variance}
        rows.append(row | {"variance, bias shrunk": scaled[1], "variance, products shrunk": joint[1]})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-6:null")
def check_null() -> Iterator[Check]:
    """Moments of the local statistic under uniform rankings, by enumeration of rankings, noise and samples."""
    for m, k in ((2, 1), (2, 6), (4, 1), (4, 4), (6, 3)):
        law = randomised(sign_law(m, 0.0, pairing(m)), paper.local_pairs(m, 1.0).mechanism.shrinkage)
        mean, variance = statistic_moments(law, k)
        yield printed(f"mean, m = {m}, k = {k}; m/2", mean, "==", m / 2, error=ROUNDING)
        yield printed(f"variance, m = {m}, k = {k}; m", variance, "<=", m)


@claim("busafekete2021:sec-6:alternative")
def check_alternative(
    theta: float = math.log(2), shrinkage: float = math.tanh(0.5), samples: int = 4
) -> Iterator[Check]:
    """Moments under Mallows rankings against UNIF's functions of a shrunken bias."""
    frame = moment_table(theta, shrinkage, samples)
    gamma = 2 * math.atanh(shrinkage)
    what = f"4 items, φ = {math.exp(-theta):.3g}, γ = {gamma:.3g}, k = {samples}, worst of 3 pairings: "
    mean = np.abs(frame["mean"] - frame["mean, bias shrunk"]).max()
    scaled = np.abs(frame.variance - frame["variance, bias shrunk"]).max()
    joint = np.abs(frame.variance - frame["variance, products shrunk"]).max()
    apart, nested = (
        (row["variance"], row["variance, bias shrunk"])
        for row in (frame[frame.pairing == name].iloc[0] for name in ("side by side", "nested"))
    )
    yield printed(what + "mean less the formula's", mean, "==", 0, error=ROUNDING)
    yield printed(what + "variance less the formula's", scaled, "==", 0, error=ROUNDING)
    yield supplied(what + "variance, mean products shrunk too", joint, "==", 0, error=ROUNDING)
    yield amended(what + "mean", mean, "==", 0, error=ROUNDING)
    yield amended("pairs side by side: variance", apart[0], "==", apart[1], error=ROUNDING)
    yield amended("nested pairs: variance", nested[0], "==", nested[1], error=ROUNDING)
    yield amended(what + "variance, mean products shrunk too", joint, "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-6:tanh")
def check_tanh() -> Iterator[Check]:
    """tanh(epsilon_0 / m) against 2 epsilon_0 / m."""
    x = np.geomspace(1e-8, 1e3, 200)
    exact = np.tanh(x)
    yield printed(
        "(e^γ − 1)/(e^γ + 1) over 2ε₀/m at ε₀/m = 1e-6; ≈ says 1", math.tanh(1e-6) / 2e-6, "==", 1, error=1e-3
    )
    yield amended("the same ratio, most on ε₀/m = 1e-8 ... 1000", (exact / (2 * x)).max(), "<=", 0.5)
    yield amended("least of tanh x / (x − x³/3) for x ≤ 1", (exact / (x - x**3 / 3))[x <= 1].min(), ">=", 1 - ROUNDING)
    yield amended("most of tanh x / x", (exact / x).max(), "<=", 1)


# --- Theorem 7 -------------------------------------------------------------------------------------------------------


def printed_order(n_items: int, theta: float, epsilon: float, delta: float, *, private: bool = False) -> float:
    """Theorem 7's number of samples without its constant; `private` for the second bullet."""
    mu = math.tanh(theta / 2) if private else paper.unif_bias(n_items, theta)
    return math.sqrt(math.log(1 / delta) / n_items) / (mu * math.tanh(epsilon / n_items)) ** 2


def sufficient_samples(n_items: int, bias: float, delta: float) -> int:
    """1 + (24 sqrt(L/m) + 58 L/m) / bias^2, rounded up, L = log(1/delta): enough for independent pairs of such a bias.

    Parameters
    ----------
    n_items : int
        m; of an odd number, m - 1 counts.
    bias : float
        Least mean sign of the pairs after randomised response, in (0, 1].
    delta : float
        Bounds both errors of the test with the exact threshold.
    """
    share = math.log(1 / delta) / (2 * (n_items // 2))
    return 1 + math.ceil((24 * math.sqrt(share) + 58 * share) / bias**2)


def growth(values: Sequence[float], arguments: Sequence[float]) -> float:
    """Exponent between the last two of several values."""
    return exponent(arguments[-2:], values[-2:])


def orders(epsilon: float, delta: float, items: Sequence[int]) -> pd.DataFrame:
    """Theorem 7's expression against m: at fixed phi, and at a fixed distance 1/2 from uniform.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``φ = 0.9``, ``distance ½``, ``distance ½, fixed pairing``.
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

    Parameters
    ----------
    bias : float
        Mean sign of the pair after randomised response.
    delta : float
    most : int
        Exact up to so many samples; for more of them the size alone is bounded, by its normal limit less twice the
        Berry-Esseen distance 0.4748 / sqrt(k).
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

    Returns
    -------
    pandas.DataFrame
        ``items``, ``bias``, ``δ``, ``voters``, ``P(miss)``, ``few voters``, ``power − size`` with these, and its
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


@claim("busafekete2021:thm-7")
def check_thm_7(epsilon: float = 1.0, delta: float = 0.05) -> Iterator[Check]:
    """Privacy, orders and errors of Theorem 7, first bullet."""
    m = [2_500, 10_000]
    order = orders(epsilon, delta, m)
    wide = [1e3, 1e4]
    saturated = growth([printed_order(10, 0.1, e, delta) for e in wide], wide)
    narrow = [1e-3, 1e-4]
    fine = growth([printed_order(10, 0.1, e, delta) for e in narrow], narrow)
    worse = two_item_errors(math.tanh(0.5), 1e-3)
    grid = power_gap((2, 4, 10, 100), (0.2, 0.5), (0.05, 1e-3, 1e-6))
    loss = channel_losses(epsilon).loss.max() / epsilon
    yield printed("largest loss over ε₀, 2 to 6 items", loss, "<=", 1 + ROUNDING)
    yield printed(
        "exponent of m at fixed φ = 0.9, m = 2500 to 10000", growth(order["φ = 0.9"].tolist(), m), "==", 1.5, error=0.02
    )
    yield printed(
        "exponent of m at fixed distance ε = 1/2", growth(order["distance ½"].tolist(), m), "==", 1.5, error=0.02
    )
    yield printed("exponent of ε₀, ε₀ = 1000 to 10000, m = 10", saturated, "==", -2, error=0.02)
    yield printed(
        "m = 2, φ = 0, ε₀ = 1, printed threshold, δ = 0.001, best k: larger of size and miss", worse, "<=", 1e-3
    )
    yield amended("largest loss over ε₀, 2 to 6 items", loss, "<=", 1 + ROUNDING)
    yield amended(
        "exponent of m at fixed distance ε = 1/2", growth(order["distance ½"].tolist(), m), "==", 2.5, error=0.02
    )
    yield amended("exponent of ε₀, ε₀ = 1e-3 to 1e-4, m = 10", fine, "==", -2, error=0.02)
    yield amended("exponent of ε₀, ε₀ = 1000 to 10000, m = 10", saturated, "==", 0, error=0.02)
    yield amended(
        "exact threshold, our k: most miss / δ, m = 2, 4, 10, 100",
        (grid["P(miss)"] / grid["δ"]).max(),
        "<=",
        1,
        error=ROUNDING / 1e-6,
    )
    yield amended(
        "k = 1/(2 b² √m): most of (power − size) / our bound on it",
        (grid["power − size"] / grid["upper bound"]).max(),
        "<=",
        1,
    )


# --- public and private randomness -----------------------------------------------------------------------------------


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
def check_randomness() -> Iterator[Check]:
    """Bits, one ranking for all against one for each, and what a random pair's bias is."""
    ratio = bias_ratios((2, 3, 10, 100, 1000), tuple(np.geomspace(1e-3, 1e3, 13))).ratio.min()
    own = own_ranking_law(4, math.inf)
    common = sign_law(4, 2.0, pairing(4))
    uniform = np.full(4, 0.25)
    yield printed("bits of a random ranking, 4 items; m", ranking_bits(4), "<=", 4)
    yield printed("bits of a random pairing, 12 items; m", pairing_bits(12), "<=", 12)
    yield printed(
        "4 items, φ = 0, a ranking of its own for each peer: distance of the signs from fair coins",
        0.5 * float(np.abs(own - uniform).sum()),
        ">",
        ROUNDING,
    )
    yield amended(
        "bits of a random pairing over (m/2) log2 m, 10000 items",
        pairing_bits(10_000) / (5_000 * math.log2(10_000)),
        "<=",
        1,
    )
    yield amended("the same, from below", pairing_bits(10_000) / (5_000 * math.log2(10_000)), ">=", 0.85)
    yield amended(
        "4 items, φ = e⁻², one ranking for all: distance of the signs from fair coins",
        0.5 * float(np.abs(common - uniform).sum()),
        ">",
        0.1,
    )
    yield amended("least mean squared bias of a random pair over μ², m = 2 ... 1000, all φ", ratio, ">=", 0.8)


def crossing_power(samples: int, epsilon: float, theta: float, repetitions: int) -> pd.DataFrame:
    """Four items in every fixed pairing, exact threshold: simulated power, all dependence included.

    Returns
    -------
    pandas.DataFrame
        ``pairing``, ``power``, ``error`` (four standard errors, and 1 / repetitions).
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
def check_private_randomness(repetitions: int = 2_000) -> Iterator[Check]:
    """Second bullet of Theorem 7: no constant serves all delta, ours with a second term does."""
    for constant in (10.0, 100.0, 1000.0):
        log = constant**2
        what = (
            f"m = 2, k = 1 + {constant:g} √(log(1/δ)/m)/μ₀′², δ = e^−{log:g}: log of (size + miss) of any test; log 2δ"
        )
        yield printed(what, least_errors(constant, log), "<=", math.log(2) - log)
    grid = power_gap((2, 4, 10, 100), (0.2, 0.5), (0.05, 1e-3, 1e-6))
    worst = (grid["P(miss)"] / grid["δ"]).max()
    gap = np.arange(1, 1000)
    least = min((Mallows(1000, x).bias(gap) / math.tanh(x / 2)).min() for x in (1e-6, 1e-3, 0.1, 1.0, 10.0))
    theta, epsilon = 0.5, 1.0
    bias = math.tanh(theta / 2) * LocalPairs.calibrated(epsilon=epsilon, n_items=4).shrinkage
    other = crossing_power(sufficient_samples(4, bias, 0.05), epsilon, theta, repetitions)
    for says in (supplied, amended):
        yield says(
            "m = 2, 4, 10, 100, k with a term log(1/δ)/m: most miss / δ, exact threshold",
            worst,
            "<=",
            1,
            error=ROUNDING / 1e-6,
        )
        yield says("least bias of two items over μ′, any gap, m = 1000", least, ">=", 1 - ROUNDING)
        for row in other.itertuples():
            yield says(
                f"m = 4, {row.pairing}, k = {row.samples}, δ = 0.05: power", row.power, ">=", 0.95, error=row.error
            )


# --- the adversary, and m = 2 ----------------------------------------------------------------------------------------


def best_guess(n_items: int, epsilon: float) -> float:
    """Most probable success of a guess at a uniform ranking after any epsilon-LDP output: e^eps / (e^eps + m! - 1)."""
    return 1 / (1 + (math.factorial(n_items) - 1) * math.exp(-epsilon))


def guess_pairs(n_items: int, epsilon: float) -> float:
    """Success of the best guess at a uniform ranking after the paper's channel, by enumeration."""
    law = channel(n_items, paper.local_pairs(n_items, epsilon).mechanism.shrinkage, pairing(n_items))
    return float(law.max(0).sum() / len(law))


@claim("busafekete2021:sec-7.3:adversary")
def check_adversary() -> Iterator[Check]:
    """What an adversary who starts from all rankings equally likely can know."""
    excess = max(guess_pairs(m, e) - best_guess(m, e) for m in (2, 3, 4, 5) for e in (1 / 3, 1.0, 5.0))
    sure = max(best_guess(m, e) for m in (2, 3, 10) for e in (1 / 3, 1.0, 5.0, 30.0))
    yield printed("largest probability of a right guess, ε₀ up to 30", sure, "<", 1, reading="know = be certain")
    yield printed(
        "m = 2, ε₀ = 5: probability of a right guess",
        guess_pairs(2, 5.0),
        "<=",
        0.95,
        reading="know = be right 19 times in 20",
    )
    yield amended("the paper's channel: most success above e^ε₀/(e^ε₀ + m! − 1)", excess, "<=", ROUNDING)
    yield amended("m = 2, where the bound is attained", guess_pairs(2, 5.0), "==", best_guess(2, 5.0), error=ROUNDING)
    yield amended(
        "m = 10, ε₀ = 1/3: success over blind success",
        best_guess(10, 1 / 3) * math.factorial(10),
        "<=",
        math.exp(1 / 3),
    )


def coin_samples(epsilon: float, bias: float, delta: float) -> tuple[float, float]:
    """Two items: reports that any epsilon-LDP test needs, and that suffice for randomised response.

    Below: Bretagnolle and Huber, from both errors at most `delta`; any binary channel is randomised response
    followed by noise. Above: Hoeffding, for the test that rejects when abs(sum) >= sqrt(2 k log(2 / delta)).
    """
    mean = math.tanh(epsilon / 2) * bias
    enough = 2 * (math.sqrt(math.log(2 / delta)) + math.sqrt(math.log(1 / delta))) ** 2 / mean**2
    return math.log(1 / (4 * delta)) / (-0.5 * math.log1p(-(mean**2))), enough


@claim("busafekete2021:sec-8:ldp-lower")
def check_ldp_lower(delta: float = 0.05, biases: Sequence[float] = (0.01, 0.1, 0.5, 0.9)) -> Iterator[Check]:
    """Both bounds of two items, times epsilon_0^2 and the squared bias."""
    need, enough, as_printed = [], [], []
    for b, e in product(biases, np.geomspace(1e-3, 1, 31)):
        low, high = coin_samples(e, b, delta)
        need.append(low * (e * b) ** 2)
        enough.append(high * (e * b) ** 2)
        as_printed.append(printed_order(2, 2 * math.atanh(b), e, delta) * (e * b) ** 2)
    wide = [10.0, 100.0]
    rate = growth([printed_order(2, 0.2, e, delta) for e in wide], wide)
    tiny = 1e-300
    ratio = printed_order(2, 0.2, 1.0, tiny, private=True) / coin_samples(1.0, math.tanh(0.1), tiny)[0]
    bounds = [
        ("ε₀ ≤ 1, bias b: least of (needed k) ε₀² b²", min(need), ">=", 2.0),
        ("ε₀ ≤ 1, bias b: most of (sufficient k) ε₀² b²", max(enough), "<=", 130.0),
        ("ε₀ ≤ 1, bias b: most of (Theorem 7's k) ε₀² b²", max(as_printed), "<=", 100.0),
    ]
    yield printed("e^γ − 1 over ε₀ at γ = ε₀ = 1e-4", math.expm1(1e-4) / 1e-4, "==", 1, error=1e-3)
    yield printed("exponent of ε₀ in Theorem 7's k at m = 2, ε₀ = 10 to 100", rate, "==", -2, error=0.02)
    for what, value, relation, bound in bounds:
        yield supplied(what, value, relation, bound)
    for what, value, relation, bound in bounds:
        yield amended(what, value, relation, bound)
    yield amended("δ = 1e-300, ε₀ = 1: √(log(1/δ)/m)/μ₀′² over the needed k", ratio, "<=", 0.05)


# --- power at scale --------------------------------------------------------------------------------------------------


def joint_sign_laws(n_items: int, theta: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Exact laws of the signs of many pairings under one Mallows law, centre 0, 1, ...; for up to a dozen items.

    Parameters
    ----------
    n_items : int
    theta : float
    pairs : numpy.ndarray of int, shape (pairings, pairs, 2)

    Returns
    -------
    numpy.ndarray of float, shape (pairings, 2^pairs)
        Columns as in `sign_vectors`. A ranking is built from the top: given the set of items placed, item i comes next
        with probability proportional to phi^(items not placed before i in the centre). O(2^items items 2^pairs) each.
    """
    signs = sign_vectors(pairs.shape[1]) > 0
    rows = np.arange(len(pairs))
    partner = np.full((len(pairs), n_items), -1)
    waits = np.zeros((len(pairs), n_items, len(signs)), bool)
    for j in range(pairs.shape[1]):
        a, b = pairs[:, j].T
        partner[rows, a], partner[rows, b] = b, a
        waits[rows, a], waits[rows, b] = ~signs[:, j], signs[:, j]
    law = np.zeros((1 << n_items, len(pairs), len(signs)))
    law[0] = 1
    for mask in range((1 << n_items) - 1):
        free = [i for i in range(n_items) if not mask >> i & 1]
        weight = Mallows(n_items, theta).phi ** np.arange(len(free))
        for i, chance in zip(free, weight / weight.sum(), strict=True):
            met = (mask >> np.maximum(partner[:, i], 0) & 1).astype(bool)
            law[mask | 1 << i] += chance * law[mask] * (met[:, None] | ~waits[:, i])
    return law[-1]


def random_pairings(n_items: int, n_pairs: int, repetitions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Disjoint random pairs, shape (repetitions, pairs, 2), of items numbered along the centre."""
    orders = rng.permuted(np.tile(np.arange(n_items), (repetitions, 1)), axis=1)
    return orders[:, : 2 * n_pairs].reshape(repetitions, n_pairs, 2)


@lru_cache(maxsize=64)
def _threshold(n_items: int, pairs: int, samples: int, delta: float, threshold: str) -> float:
    if threshold == "printed":
        return paper.unif_threshold(n_items, delta)
    return unif_null_threshold(pairs, samples, delta) if samples <= MANY else float(chi2.isf(delta, pairs))


def local_rejections(
    n_items: int,
    n_rankings: int,
    epsilon: float,
    gap: float,
    repetitions: int,
    rng: np.random.Generator,
    public: bool = True,
    one_bit: bool = False,
    delta: float = 0.05,
    threshold: str = "exact",
    independent: bool = False,
) -> NDArray[np.float64]:
    """Simulated decisions (1 = reject) of the local tests, each with a random centre or, equally, a random pairing.

    Parameters
    ----------
    n_items, n_rankings : int
    epsilon : float
        epsilon_0, spent in full.
    gap : float
        1 - phi of the rankings.
    repetitions : int
    rng : numpy.random.Generator
    public : bool
        False for the fixed pairing with the centre that is worst for it: every pair adjacent.
    one_bit : bool
        `LocalOneBit` with its default groups, else `LocalPairs`.
    delta : float
    threshold : {'exact', 'printed'}
        Exact null quantile (chi-square beyond 10^6 voters), or the paper's (all bits only).
    independent : bool
        Independent counts even where the joint law could be used.

    Notes
    -----
    Counts of different pairs are drawn independently, each from its exact binomial law: exact for one bit a voter, for
    pairs that do not cross in the centre and for uniform rankings; else the error is bounded by `replacement_error`,
    and up to 10 items the joint law is used instead.
    """
    law = Mallows.of_gap(n_items, gap)
    test = (
        LocalOneBit.calibrated(epsilon=epsilon, n_items=n_items, size=delta)
        if one_bit
        else LocalPairs.calibrated(epsilon=epsilon, n_items=n_items, size=delta)
    )
    groups = test.groups if isinstance(test, LocalOneBit) else test.n_pairs
    samples = n_rankings // groups if one_bit else n_rankings
    pairs = random_pairings(n_items, groups, repetitions, rng)
    if public and not (one_bit or independent) and n_items <= JOINT:
        laws = randomised(joint_sign_laws(n_items, law.theta, pairs), test.shrinkage)
        sums = multinomial(samples, laws, rng=rng) @ sign_vectors(groups)
    else:
        apart = np.abs(pairs[..., 0] - pairs[..., 1]) if public else np.ones(pairs.shape[:2], int)
        chance = (1 + test.shrinkage * law.bias(np.arange(n_items))[apart]) / 2
        sums = 2 * binomial(samples, chance, rng=rng) - samples
    statistic = (sums.astype(float) ** 2).sum(-1) / samples
    critical = _threshold(n_items, groups, samples, delta, "exact" if one_bit else threshold)
    return (statistic >= critical * (1 - 1e-13)).astype(float)


def local_power(
    n_items: int,
    n_rankings: int,
    epsilon: float,
    gaps: Iterable[float],
    repetitions: int,
    *,
    public: bool = True,
    one_bit: bool = False,
    delta: float = 0.05,
    threshold: str = "exact",
    independent: bool = False,
) -> pd.DataFrame:
    """Simulated power of a local test along 1 - phi, see `local_rejections`.

    Returns
    -------
    pandas.DataFrame
        A row a gap: the parameters, ``mean`` (the power), ``se``, ``repetitions``.
    """
    fixed: dict[str, Any] = {
        "n_items": n_items,
        "n_rankings": n_rankings,
        "epsilon": epsilon,
        "public": public,
        "one_bit": one_bit,
    }
    fixed |= {"delta": delta, "threshold": threshold, "independent": independent}
    cells = [fixed | {"gap": float(gap)} for gap in gaps]
    return sweep(local_rejections, cells, experiment="06: local power", repetitions=repetitions)


def replacement_error(
    n_items: int, gap: float, epsilon: float, n_rankings: int, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    """Bound on the total variation distance between all reports and independent counts, for one random pairing.

    With t the shrinkage, b_i the biases and kappa_A the mean of the product of X_i - b_i over a set A of pairs, the
    chi-square divergence of one report is exactly the sum over sets A of two or more pairs of t^(2 size(A)) kappa_A^2 /
    prod(1 - t^2 b_i^2). Sets of two are estimated without bias from simulated rankings; all larger ones are bounded by
    abs(kappa_A) <= 2^size(A).

    Parameters
    ----------
    n_items : int
    gap : float
        1 - phi.
    epsilon : float
    n_rankings : int
        Voters.
    samples : int
        Simulated rankings, a multiple of 16.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to float
        ``Σκ², pairs``, estimated, with its ``error`` (four standard errors); ``V, pairs``, its part of the divergence
        at the upper end; ``V, larger sets``, a bound; ``distance``, the bound for all reports:
        sqrt(voters log(1 + divergence) / 2).
    """
    test, law = LocalPairs.calibrated(epsilon=epsilon, n_items=n_items), Mallows.of_gap(n_items, gap)
    pairs = random_pairings(n_items, test.n_pairs, 1, rng)[0]
    ahead = pairs[:, 1] - pairs[:, 0]
    centred = pair_signs(law.sample(samples, rng=rng), pairs) - (np.sign(ahead) * law.bias(np.abs(ahead)))
    tables = [block.T @ block / len(block) for block in np.split(centred.astype(np.float32), 16)]
    estimates = [float(np.triu(a * b, 1).sum(dtype=float)) for a, b in zip(tables[::2], tables[1::2], strict=True)]
    squares, error = float(np.mean(estimates)), 4 * float(np.std(estimates, ddof=1)) / math.sqrt(8)
    x = test.shrinkage**2 / (1 - test.shrinkage**2)
    pairwise = x**2 * max(squares + error, 0.0)
    p = test.n_pairs
    higher = max(math.expm1(p * math.log1p(4 * x)) - 4 * p * x - math.comb(p, 2) * (4 * x) ** 2, 0.0)
    distance = min(1.0, math.sqrt(n_rankings * math.log1p(pairwise + higher) / 2))
    row = {"Σκ², pairs": squares, "error": error, "V, pairs": pairwise, "V, larger sets": higher}
    return row | {"distance": distance}


def replacement_table(cells: Iterable[tuple[int, int, float]], epsilon: float, samples: int) -> pd.DataFrame:
    """`replacement_error` for several (items, voters, 1 - phi), as a frame with a row a cell."""
    return pd.DataFrame(
        {"items": m, "voters": n, "1 − φ": gap}
        | replacement_error(m, gap, epsilon, n, samples, stream("06: replacement", {"items": m, "gap": gap}))
        for m, n, gap in cells
    )


def replacement_by_power(n_rankings: int, epsilon: float, gaps: Sequence[float], repetitions: int) -> pd.DataFrame:
    """Ten items, all bits: simulated power by the joint law of the signs, and with independent counts in its place.

    Returns
    -------
    pandas.DataFrame
        ``1 − φ``, ``joint``, ``independent``, ``error`` (1.96 standard errors of the difference).
    """
    joint = local_power(JOINT, n_rankings, epsilon, gaps, repetitions)
    apart = local_power(JOINT, n_rankings, epsilon, gaps, repetitions, independent=True)
    error = 1.96 * np.hypot(joint.se, apart.se)
    return pd.DataFrame({"1 − φ": joint.gap, "joint": joint["mean"], "independent": apart["mean"], "error": error})


def ceilings(cells: Iterable[tuple[int, int]], epsilon: float, delta: float = 0.05) -> pd.DataFrame:
    """Power at phi = 0, where all voters agree and the test of all pairs cannot do better, for (items, voters).

    The limit for many voters, noncentral chi-square.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``voters``, ``power, printed threshold``, ``power, exact threshold``.
    """
    rows = []
    for m, n in cells:
        test, p = LocalPairs.calibrated(epsilon=epsilon, n_items=m), m // 2
        shift = n * p * test.shrinkage**2
        row = {"items": m, "voters": n, "power, printed threshold": ncx2.sf(paper.unif_threshold(m, delta), p, shift)}
        rows.append(row | {"power, exact threshold": ncx2.sf(chi2.isf(delta, p), p, shift)})
    return pd.DataFrame(rows)


def samples_needed(
    n_items: int,
    theta: float,
    epsilon: float,
    test: str,
    pairings: int,
    rng: np.random.Generator,
    power: float = 0.8,
    delta: float = 0.05,
    groups: int | None = None,
) -> tuple[float, float]:
    """Voters for a given mean power over random pairings, and the standard error of its logarithm.

    Parameters
    ----------
    n_items : int
    theta : float
        -log phi of the rankings.
    epsilon : float
    test : {'all bits', 'fixed pairing', 'one bit'}
    pairings : int
        Random pairings to average over.
    rng : numpy.random.Generator
    power, delta : float
    groups : int, optional
        For one bit; the library's choice by default.

    Notes
    -----
    Given the pairing, the statistic of many voters is noncentral chi-square; a shift of both the null and the
    alternative by their discreteness is of relative order 1 / voters a pair.
    """
    if test == "one bit":
        one = LocalOneBit.calibrated(epsilon=epsilon, n_items=n_items, size=delta, groups=groups)
        count, each, t = one.groups, 1 / one.groups, one.shrinkage
    else:
        count, each, t = (
            n_items // 2,
            1.0,
            LocalPairs.calibrated(epsilon=epsilon, n_items=n_items, size=delta).shrinkage,
        )
    pairs = random_pairings(n_items, count, pairings, rng)
    apart = np.ones((1, count), int) if test == "fixed pairing" else np.abs(pairs[..., 0] - pairs[..., 1])
    shift = each * t**2 * (Mallows(n_items, theta).bias(np.arange(n_items))[apart] ** 2).sum(-1)
    critical = chi2.isf(delta, count)

    def mean_power(log_n: float) -> NDArray[np.float64]:
        return np.asarray(ncx2.sf(critical, count, math.exp(log_n) * shift))

    middle = math.log(count**0.5 / shift.mean())
    found = brentq(lambda x: mean_power(x).mean() - power, middle - 3, middle + 12, xtol=1e-4)
    slope = (mean_power(found + 0.02).mean() - mean_power(found - 0.02).mean()) / 0.04
    return math.exp(found), float(mean_power(found).std() / math.sqrt(len(shift)) / slope)


def needed_table(items: Sequence[int], epsilon: float, distance: float, pairings: int) -> pd.DataFrame:
    """Voters for power 0.8 at a fixed total variation distance from uniform, size 0.05.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``test``, ``voters``, ``low``, ``high`` (95 % interval over pairings).
    """
    rows = []
    for m, test in product(items, ("all bits", "fixed pairing", "one bit")):
        rng = stream("06: voters needed", {"items": m, "test": test, "epsilon": epsilon})
        voters, error = samples_needed(m, theta_at(m, distance), epsilon, test, pairings, rng)
        low, high = (voters * math.exp(s * 1.96 * error) for s in (-1, 1))
        rows.append({"items": m, "test": test, "voters": voters, "low": low, "high": high})
    return pd.DataFrame(rows)


def confirm_needed(needed: pd.DataFrame, epsilon: float, distance: float, repetitions: int) -> pd.DataFrame:
    """Simulated power at the numbers of `needed_table`: it should be 0.8.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``test``, ``voters``, ``power``, ``error`` (1.96 standard errors).
    """
    rows = []
    for row in needed.itertuples():
        gap = -math.expm1(-theta_at(row.items, distance))
        options = {"public": row.test != "fixed pairing", "one_bit": row.test == "one bit"}
        power = local_power(row.items, math.ceil(row.voters), epsilon, [gap], repetitions, **options).iloc[0]
        rows.append(
            {
                "items": row.items,
                "test": row.test,
                "voters": row.voters,
                "power": power["mean"],
                "error": 1.96 * power.se,
            }
        )
    return pd.DataFrame(rows)


def best_groups(power: float) -> float:
    """4 (7/5) z^2, z the normal quantile of `power`: about the best number of groups, see the chapter."""
    return 5.6 * float(norm.ppf(power)) ** 2


def group_choice(
    n_items: int, epsilon: float, groups: Sequence[int], powers: Sequence[float], pairings: int
) -> pd.DataFrame:
    """Voters that `LocalOneBit` needs, by number of groups and power, over the least among those tried.

    Returns
    -------
    pandas.DataFrame
        Index ``groups``, a column a power.
    """
    theta = theta_at(n_items, 0.5)
    table = {
        f"power {power:g}": [
            samples_needed(
                n_items, theta, epsilon, "one bit", pairings, stream("06: groups", {"groups": g}), power, groups=g
            )[0]
            for g in groups
        ]
        for power in powers
    }
    frame = pd.DataFrame(table, index=pd.Index(groups, name="groups"))
    return frame / frame.min()


# --- figures ----------------------------------------------------------------------------------------------------------


_LOOK = {
    "fixed pairing": ("all pairs, fixed pairing, worst centre", COLOURS[3], "v"),
    "all bits": ("all pairs, random pairing", COLOURS[0], "o"),
    "one bit": ("one bit a person", COLOURS[2], "D"),
}


@styled
def draw_voters_needed(frame: pd.DataFrame) -> Figure:
    """Voters for power 0.8 against the number of items, one line a test, with intervals."""
    figure = Figure(figsize=(7.2, 3.8))
    axes = figure.subplots()
    for test, (label, colour, marker) in _LOOK.items():
        part = frame[frame.test == test]
        bars = [part.voters - part.low, part.high - part.voters]
        axes.errorbar(part["items"], part.voters, yerr=bars, label=label, color=colour, marker=marker, capsize=2)
    axes.set(xscale="log", yscale="log", xlabel="items m", ylabel="voters needed for power 0.8")
    axes.legend()
    return figure
