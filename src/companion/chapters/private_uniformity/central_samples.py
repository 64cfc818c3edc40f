"""How many rankings each central test needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from companion.chapters.private_uniformity.batches import bucketed_loss
from companion.chapters.private_uniformity.central import FIGURE_3
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import exponent, least, mean_square_bias
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.bucketed import BatchVote, Bucketed, vote_sf
from dprank.uniformity.laplace import LaplaceUnif, discrete_laplace_cdf
from dprank.uniformity.unif import unif_null_threshold, unif_sf


def laplace_power(test: LaplaceUnif, bias: float) -> float:
    """Exact power of a calibrated `LaplaceUnif` if all pairs are independent and of that bias."""
    counts, law = test.law_of_counts(bias)
    u = math.floor((test.statistic(0) - test.threshold) * test.n_voters / 4 + 1e-6)
    return float(law @ discrete_laplace_cdf(u - counts, test.scale))


def unif_power(m: int, k: int, bias: float, delta: float) -> float:
    """Exact power of UNIF without privacy, at its exact threshold."""
    return float(unif_sf(m // 2, k, unif_null_threshold(m // 2, k, delta), bias))


def coin_power(test: Bucketed, bias: float) -> float:
    """Exact power of one outcome of several batches."""
    return test.coin / 2 + (1 - test.coin) * test.batch_power(bias)


def vote_power(test: BatchVote, bias: float) -> float:
    """Exact power of a noisy vote of batches."""
    return vote_sf(test.n_batches, test.batch_power(bias), test.scale, test.threshold)


def certified_laplace(m: int, bias: float, epsilon: float, delta: float) -> int:
    """Rankings for which `LaplaceUnif` certainly has both errors at most delta, on independent pairs of one bias.

    A Laplace tail is at most half an exponential function, so that P log(M_0 M_1) <= log(4 delta^2) is enough, with
    M_0 the mean of exp(S^2 / (k b)) for uniform rankings, M_1 that of exp(-S^2 / (k b)) for biased ones, b the noise.
    """

    def enough(k: int) -> bool:
        count = np.arange(k + 1)
        noise = 4 * (m // 2) * (1 - 1 / k) / epsilon
        y = (2 * count - k) ** 2 / (k * noise)
        null, biased = (stats.binom.logpmf(count, k, (1 + x) / 2) for x in (0, bias))
        return (m // 2) * (special.logsumexp(null + y) + special.logsumexp(biased - y)) <= math.log(4 * delta**2)

    return least(enough, max(2, math.floor(laplace_least(bias**2, epsilon, delta))))


def needed(m: int, bias: float, epsilon: float, delta: float) -> dict[str, int]:
    """Rankings at which each test has size at most delta and power at least 1 - delta.

    All pairs are neighbours in the centre, hence independent and equally biased. Power rises with the number of
    rankings but for the steps of whole numbers; the number given is found by bisection, with exact laws, and for
    Laplace noise with `certified_laplace`.
    """
    sheet: dict[str, Any] = {"epsilon": epsilon, "n_items": m, "size": delta}
    coins = Bucketed.calibrated(n_voters=10**4, **sheet).n_batches
    votes = BatchVote.calibrated(n_voters=10**4, **sheet).n_batches

    def of_coin(k: int) -> bool:
        test = Bucketed.calibrated(n_voters=k * coins, n_batches=coins, **sheet)
        return coin_power(test, bias) >= 1 - delta

    def of_vote(k: int) -> bool:
        test = BatchVote.calibrated(n_voters=k * votes, n_batches=votes, **sheet)
        return vote_power(test, bias) >= 1 - delta

    return {
        "UNIF": least(lambda k: unif_power(m, k, bias, delta) >= 1 - delta),
        "Laplace": certified_laplace(m, bias, epsilon, delta),
        "coin": coins * least(of_coin),
        "vote": votes * least(of_vote),
    }


def needed_by_items(sizes: Iterable[int], bias: float, epsilon: float, delta: float) -> pd.DataFrame:
    """`needed` for several m, and ``increase``, of Laplace noise over UNIF."""
    frame = pd.DataFrame({"items": m, **needed(m, bias, epsilon, delta)} for m in sizes)
    return frame.assign(increase=frame.Laplace / frame.UNIF)


def laplace_least(mean_square_bias: float, epsilon: float, delta: float) -> float:
    """Fewer rankings than that leave `LaplaceUnif` no threshold of size and error delta, whatever m is.

    The bound (2 L / epsilon - 2) / b for the mean b of squared biases over the random pairing, with
    L = log(1/(2 delta)) + log(1/(4 delta)), delta < 1/4; independence is not needed.
    """
    log = math.log(1 / (2 * delta)) + math.log(1 / (4 * delta))
    return max(2.0, (2 * log / epsilon - 2) / mean_square_bias)


def laplace_enough(bias: float, epsilon: float, delta: float) -> int:
    """Rankings that suffice for `LaplaceUnif` if no pair has a smaller bias, for all m >= 4, epsilon <= 1."""
    error = (3 + 8 / epsilon * math.log(1 / (2 * delta**2))) / bias**2
    return math.ceil(max(1 + error, 32 * math.log(2 / delta) / bias**4))


@claim("busafekete2021:alg-4:samples")
def check_laplace_samples(frame: pd.DataFrame, bias: float, epsilon: float, delta: float) -> Iterator[Check]:
    """The factor m^(3/2) / epsilon_0 and the root of log(1/delta)."""
    sizes = f"m = {frame['items'].min()} to {frame['items'].max()}"
    last = frame.iloc[-2:]
    slope = f"exponent of m in the increase over UNIF, m = {last['items'].iloc[0]} to {last['items'].iloc[1]}"
    factor = exponent(last["items"], last.increase)
    deltas = np.array([1e-2, 1e-8, 1e-32, 1e-128])
    outgrow = 8 * np.log(1 / (2 * deltas)) / (2 * np.sqrt(np.log(1 / deltas)))
    rising = "k that any threshold needs, over m √log(1/δ)/(μ²ε₀), m = 2, φ = 0: δ = 1e-128 over δ = 1e-2"
    length, times, m, mu = 40_000, 100, 2, 1 / 2
    k_epsilon = times * m * math.sqrt(length) / mu**2 + epsilon  # as k is rounded up
    error = -math.log(2) - k_epsilon / 8
    what = f"log of the larger error at any threshold, m = {m}, μ = {mu}, δ = e^−{length}, {times} times the printed k"
    low, high = (frame.Laplace * epsilon * bias**2).agg(["min", "max"])
    certain = laplace_least(bias**2, epsilon, delta)
    yield printed(slope, factor, "==", 1.5, error=0.1)
    yield printed(rising, outgrow[-1] / outgrow[0], "<=", 1)
    yield printed(what, error, "<=", -length, error=ROUNDING)
    yield amended(slope, factor, "==", 0.5, error=0.1)
    yield amended(f"k ε₀β² of Laplace, largest over smallest, {sizes}", high / low, "<=", 1.1)
    yield amended(f"k of Laplace less our lower bound, {sizes}", frame.Laplace.min() - certain, ">=", 0)


def rate_at_distance(sizes: Iterable[int], distance: float, epsilon: float, delta: float) -> pd.DataFrame:
    """What tests need at a fixed total variation distance from uniform.

    Columns: ``items``; ``1 − φ``; ``mean squared bias`` of a random pair; ``Laplace``, rankings that Algorithm 4 needs,
    from below; ``claimed``, the abstract's maximum; ``μ`` as printed; ``bucketing``, its printed rate.
    """
    rows = []
    for m in sizes:
        theta = theta_at(m, distance)
        square, mu = mean_square_bias(Mallows(m, theta)), paper.unif_bias(m, theta)
        row = {"items": m, "1 − φ": -math.expm1(-theta), "mean squared bias": square}
        row |= {"Laplace": laplace_least(square, epsilon, delta), "claimed": max(1 / epsilon, m**-0.5), "μ": mu}
        printed_rate = math.sqrt(math.log(1 / delta) / m) / (mu**2 * epsilon)
        rows.append(row | {"bucketing": max(printed_rate, 2 / epsilon)})
    return pd.DataFrame(rows)


@claim("busafekete2021:abstract:cdp-rate")
def check_rate(frame: pd.DataFrame, epsilon: float, delta: float, phi: float) -> Iterator[Check]:
    """The abstract's rate at a fixed distance, and at a fixed spread."""
    ratio = frame.Laplace / frame.claimed
    first, last = int(frame["items"].iloc[0]), int(frame["items"].iloc[-1])
    what = f"rankings Algorithm 4 needs over max{{1/ε₀, 1/√m}} at fixed distance, m = {last} over m = {first}"
    yield printed(what, ratio.iloc[-1] / ratio.iloc[0], "<=", 1)
    loss = bucketed_loss(paper.bucketed(*FIGURE_3[-1], epsilon, delta).mechanism)
    yield printed("BUNIF's privacy loss, m = 1000", loss, "<=", epsilon)
    order = exponent(frame["items"][-2:], frame.Laplace[-2:])
    yield amended("exponent of m in that need, last two sizes", order, "==", 1, error=0.02)
    bias, epsilons = (1 - phi) / (1 + phi), (1.0, epsilon, 0.1, 0.01)
    most = max(laplace_enough(bias, e, delta) * e for e in epsilons)
    ceiling = 1 + 3 / bias**2 + 8 * math.log(1 / (2 * delta**2)) / bias**2 + 1 + 32 * math.log(2 / delta) / bias**4
    what = f"rankings that suffice × ε₀, for all m ≥ 4, φ = {phi:g}, largest over ε₀ = 1 to 0.01"
    yield supplied(what, most, "<=", ceiling)
    k = laplace_enough(bias, epsilon, delta)
    for m in (4, 10, 100):
        test = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=delta)
        what = f"exact power at that number, ε₀ = {epsilon:.3g}, m = {m}"
        yield supplied(what, laplace_power(test, bias), ">=", 1 - delta)
