"""Section 7: what the tolerance epsilon does to tests that keep their power."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from companion.chapters.testing_uniformity import power
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows, theta_at


def trun_power(
    n_rankings: int, phi: float, epsilon: float, epsilon_0: float = 1 / 3, delta: float = power.DELTA
) -> float:
    """Probability that Algorithm 3 as printed rejects, for two items. Exact.

    A negative probability in line 15 is read as 0.
    """
    test = paper.trun(2, n_rankings, epsilon_0, delta, paper.unif_bias(2, theta_at(2, epsilon))).mechanism
    first = np.arange(n_rankings + 1)
    total = 2 * first - n_rankings
    reject = 1 - test.acceptance(total**2 / n_rankings, total)
    return float(stats.binom(n_rankings, 1 / (1 + phi)).pmf(first) @ reject)


def line_15(n_rankings: int, total: int, epsilon: float) -> float:
    """p of line 15 for two items, whose signs add up to `total`."""
    test = paper.trun(2, n_rankings, 1 / 3, power.DELTA, paper.unif_bias(2, theta_at(2, epsilon))).mechanism
    return min(1.0, (total**2 / n_rankings - test.start) / test.width)


@claim("busafekete2021:sec-7:epsilon-role")
def check_epsilon_role(n_rankings: int, n_items: int, epsilons: tuple[float, float]) -> Iterator[Check]:
    """Whether a test's answers at a fixed number of rankings depend on the tolerance."""
    low, high = epsilons
    moved = trun_power(n_rankings, 0.5, high) - trun_power(n_rankings, 0.5, low)
    answer = f"power of TRUN, m = 2, k = {n_rankings}, φ = 1/2, ε₀ = 1/3: at ε = {high} less that at ε = {low}"
    limit = f"total variation at the least 1 − φ_ε at which 2SAMP does not stop in line 3, m = {n_items}"
    distance = Mallows.of_gap(n_items, paper.two_sample_gap(n_items, power.DELTA)).total_variation()
    yield printed(answer, moved, "==", 0, error=1e-9)
    total = 2 + n_rankings % 2
    p, other = (line_15(n_rankings, total, epsilon) for epsilon in (high, low))
    what = f"p of line 15, m = 2, k = {n_rankings}, signs that add up to {total}: at ε = {high}, and at ε = {low}"
    yield printed(what, p, "==", other, error=ROUNDING)
    yield printed(limit, distance, "<=", high)
    yield amended(answer, moved, ">", 0.01)
    yield amended(limit, distance, ">=", 1 - 1e-9)
