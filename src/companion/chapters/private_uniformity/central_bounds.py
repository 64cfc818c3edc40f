"""Section 8: the best private test of a coin, and what any test needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import optimize, sparse, stats

from companion.chapters.private_uniformity.batches import bucketed_delta, bucketed_loss, private_least, vote_batches
from companion.chapters.private_uniformity.central import FIGURE_3
from companion.chapters.private_uniformity.central_samples import laplace_enough
from companion.chapters.private_uniformity.trun import losses_by_constant
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.bucketed import Bucketed


def best_private_power(n: int, p: float, epsilon: float, delta: float) -> float:
    """Largest power at Bernoulli(p) of all epsilon-private tests of n bits with size delta at p = 1/2, exactly.

    A private test averaged over the orders of the bits is private and depends on their sum alone; its rejection
    probabilities for the sums 0 .. n make a linear program.
    """
    x = np.arange(n + 1)
    grow = math.exp(epsilon)
    here, there = sparse.eye(n, n + 1), sparse.eye(n, n + 1, 1)
    rows = [here - grow * there, there - grow * here, grow * there - here, grow * here - there]
    bounds = np.repeat([0, 0, grow - 1, grow - 1], n)
    null = stats.binom.pmf(x, n, 0.5)
    result = optimize.linprog(
        -stats.binom.pmf(x, n, p),
        sparse.vstack([*rows, null[None]]),
        np.r_[bounds, delta],
        bounds=(0, 1),
        method="highs",
    )
    return -float(result.fun)


def bernoulli_needs(epsilons: Sequence[float], p: float, delta: float) -> pd.DataFrame:
    """Bits that the best private test of Bernoulli(1/2) against Bernoulli(p) needs for both errors at most delta.

    Columns: ``ε₀``, ``bits needed`` (exact), ``lower bound`` (`private_least`), ``bits × ε₀``.
    """
    rows = []
    for epsilon in epsilons:
        bound = float(private_least(epsilon, delta, abs(p - 0.5)))
        start = max(2, math.floor(bound / 2))
        count = least(lambda n, e=epsilon: best_private_power(n, p, e, delta) >= 1 - delta, start)  # type: ignore[misc]
        rows.append({"ε₀": epsilon, "bits needed": count, "lower bound": bound, "bits × ε₀": count * epsilon})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-8:cdp-lower")
def check_lower(frame: pd.DataFrame, p: float, delta: float) -> Iterator[Check]:
    """No private test with o(1/epsilon_0) bits."""
    for row in frame.to_dict("records"):
        more = row["bits needed"] - row["lower bound"]
        what = f"bits the best private test needs, less our bound, ε₀ = {row['ε₀']:g}, p = {p:g}"
        yield printed(what, more, ">=", 0)
    constant = math.log((1 - delta) / delta) / (abs(p - 0.5) * math.expm1(1))
    smallest = float(frame["bits × ε₀"].min())
    yield printed("ε₀ × bits, smallest over ε₀ ≤ 1", smallest, ">=", constant)


@claim("busafekete2021:sec-8:cdp-optimal")
def check_optimal(epsilon: float, delta: float, phi: float) -> Iterator[Check]:
    """Whether 'our central DP algorithm' is optimal in epsilon_0 among private ones."""
    bias = (1 - phi) / (1 + phi)
    epsilons = 10.0 ** -np.arange(7)
    scaled = np.array([laplace_enough(bias, e, delta) * e for e in epsilons])
    ratio = scaled / (private_least(epsilons, delta) * epsilons)
    limit = 8 * math.log(1 / (2 * delta**2)) / (bias**2 * math.log((1 - delta) / delta))
    test = paper.laplace_unif(*FIGURE_3[1], epsilon, delta).mechanism
    bucketed = paper.bucketed(*FIGURE_3[1], epsilon, delta).mechanism
    yield printed("privacy loss, m = 100, k = 1000", test.guarantee.epsilon, "<=", epsilon, reading="Algorithm 4")
    what = f"rankings that suffice over rankings any private test needs, φ = {phi:g}, at ε₀ = {epsilons[-1]:g}"
    yield printed(what, float(ratio[-1]), "<=", 1.01 * limit, reading="Algorithm 4")
    (row,) = losses_by_constant((10,), epsilon, delta).itertuples()
    what = f"attained loss, k = 10 × the printed maximum or more, μ = {row.mu:.2g}, m = {row.items:.2g}"
    yield printed(what, row.attained, "<=", epsilon, reading="Algorithm 3", error=ROUNDING)
    yield printed("privacy loss, m = 100, k = 1000", bucketed_loss(bucketed), "<=", epsilon, reading="bucketing")
    small = paper.bucketed(2, 6 * math.ceil(1 / epsilon), epsilon, delta).mechanism
    what = f"δ₀ that it needs at any ε₀, m = 2, {small.n_batches} batches of {small.batch_voters}"
    yield printed(what, bucketed_delta(small, 50.0), "<=", 0, reading="bucketing", error=ROUNDING)
    share = vote_batches(0.01, delta) * 0.01 / math.log(1 / delta)
    yield amended("batches of a noisy vote × ε₀ / log(1/δ), ε₀ = 0.01", share, "<=", 5)


@claim("busafekete2021:sec-8:bernoulli")
def check_bernoulli(points: int) -> Iterator[Check]:
    """Mallows laws of two items against all Bernoulli laws, and their distances from uniform."""
    p = np.linspace(0, 1, points)
    more, less = np.maximum(p, 1 - p), np.minimum(p, 1 - p)
    phi = less / more
    first = np.array([float(Mallows.of_phi(2, x).before(1)) for x in phi])
    reached = np.where(p >= 0.5, first, 1 - first)
    distance = np.array([Mallows.of_phi(2, x).total_variation() for x in phi])
    off = np.abs(reached - p).max()
    yield printed(f"P(first item first) less p, largest of {points} p in [0, 1]", off, "==", 0, error=ROUNDING)
    off = np.abs(distance - np.abs(p - 0.5)).max()
    yield printed("total variation distance from uniform less |p − 1/2|, largest", off, "==", 0, error=ROUNDING)


@claim("busafekete2021:def-1")
def check_definition(epsilon: float, delta: float) -> Iterator[Check]:
    """'Pure if delta = 0' where delta is the significance of a test, on a test that is pure."""
    m, n = FIGURE_3[1]
    coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    as_printed = paper.bucketed(m, n, epsilon, delta).mechanism
    what = "δ, the significance: exact chance to reject uniform rankings, of a test whose privacy loss is at most ε₀"
    yield printed(what, coin.exact_size, "==", 0)
    yield supplied("δ₀ that this test needs at ε₀", bucketed_delta(coin, epsilon), "==", 0, error=ROUNDING)
    yield supplied("its exact privacy loss", bucketed_loss(coin), "<=", epsilon + ROUNDING)
    least = bucketed_delta(as_printed, epsilon)
    yield amended("δ₀ that BUNIF needs at ε₀, not pure at any significance", least, ">", 0)
