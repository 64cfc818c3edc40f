"""Slips of the pen in the proofs of Appendix A: where they stand, and what is meant."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from companion.chapters.edge_privacy.counting_rates import SUFFICIENT, rate
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.two_items import log_first_wins, overtaken
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.data.comparisons import Comparisons
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.likelihood import gradient


def block_means(items: float, top: float, lead: float) -> tuple[float, float, float, float]:
    """tau of a top item, the next two, and of the others: the top beats all, the two the others, by `lead` each other.

    Within the top, and within the others, all is even; what is compared with itself counts as a half.
    """
    others = items - top - 2
    middle = others + 0.5
    return (
        (top / 2 + 2 + others) / items,
        (middle + 0.5 + lead) / items,
        (middle + 0.5 - lead) / items,
        others / 2 / items,
    )


def listed_means(items: int, top: int, lead: float) -> np.ndarray:
    """The same by listing the matrix, best item first."""
    level = np.repeat([3.0, 2.0, 1.0, 0.0], [top, 1, 1, items - top - 2])
    gap = level[:, None] - level
    rho = 0.5 + 0.5 * np.sign(gap)
    rho[top, top + 1], rho[top + 1, top] = 0.5 + lead, 0.5 - lead
    return np.asarray(rho.mean(1))


def log_printed_failure(items: float, constant: float) -> float:
    """Log of n² (n^(-C²) + n^(-C/4)), with which Appendix A.6 ends."""
    log = math.log(items)
    return 2 * log + float(np.logaddexp(-(constant**2) * log, -constant / 4 * log))


@claim("cai2025:sec-a.6:tolerance")
def check_tolerance(items: float = 1e6, lead: float = 0.01, epsilon: float = 1.0) -> Iterator[Check]:
    """Two displays of A.6 and B.4 at m = 1: k and k + 1 are nearly even, and far from what is before and after."""
    asked = SUFFICIENT * sum(rate(items, 1, epsilon))
    at = f"n = {items:.0e}, p = 1, ε = {epsilon:g}, C = {SUFFICIENT:g}, m = 1"
    for top in (1.0, items / 2 - 1):
        best, one, other, rest = block_means(items, top, lead)
        yield argument(
            f"τ(k−1) − τ(k+2) over what the theorem asks, {at}, k = {top + 1:g}", (best - rest) / asked, ">", 1
        )
        if top == 1:
            what = f"2τ_a − (τ(k) − τ(k+1)), what the display has, over np, {at}"
            yield printed(what, 2 * best - (one - other), "<=", 2 - asked)
            yield amended("2τ_a − (τ(k−m) − τ(k+m+1)) there", 2 * best - (best - rest), "<=", 2 - asked)
    scale = 2 / epsilon
    wrong = (0.5 + lead) * overtaken(1 / scale) + (0.5 - lead) * overtaken(-1 / scale)
    what = f"log P(k + 1 is counted above k), so that S̃ ≠ S_k, {at}"
    yield printed(what, math.log(float(wrong)), "<=", log_printed_failure(items, SUFFICIENT))
    # with one answer for k and k + 1, of 2m = 2 places none is lost unless a pair that is far apart is reversed
    spread = (best - rest) * items
    pair = np.logaddexp(-((spread / 2) ** 2) / (4 * items), log_first_wins(-spread / 2, scale))
    what = f"log of a bound on P(d_H > 2m), k = n/2, against the same, {at}"
    yield amended(what, 2 * math.log(items) - math.log(4) + float(pair), "<=", log_printed_failure(items, SUFFICIENT))
    small = listed_means(9, 3, 0.1)[[0, 3, 4, 5]]
    yield agree("the four τ, off a listing, 9 items", np.array(block_means(9, 3, 0.1)) - small)


@claim("cai2025:sec-a.6:signs")
def check_signs(items: float = 1e4, constant: float = SUFFICIENT) -> Iterator[Check]:
    """Lost parentheses and an equals sign in A.6: all items even, p = 1, where all is known."""
    log = math.log(items)
    short, both = constant * math.sqrt(items * log), items - 1  # the deviation, and E N_a + E N_b
    at = f"n = {items:.0e}, p = 1, all even, C = {constant:g}"
    # N_a − N_b is a sum of one ±1 and n − 2 differences of two even answers, of mean 0: Hoeffding
    beyond = math.exp(-((both - short) ** 2) / (2 * items))
    what = f"log P(N_a − N_b − E N_a − E N_b ≤ −C√(np log n)), at least; bound: log n^(−C²/4), above the print's, {at}"
    yield printed(what, math.log1p(-beyond), "<=", -(constant**2) / 4 * log)
    what = f"the same with N_a − N_b − (E N_a − E N_b), at most, {at}"
    yield amended(what, -(short**2) / (2 * items), "<=", -(constant**2) / 4 * log)
    second, linear = 1 + (items - 2) / 2, 1 + (items - 2)
    what = f"E d₀² + Σ E d_j² over p(Σ ρ_aj + Σ ρ_bj), {at}"
    yield printed(what, second / linear, "==", 1, error=ROUNDING)
    yield amended(what, second / linear, "<=", 1)
    values = np.array([-1, 0, 0, 1])  # of d_j: an answer each
    yield agree("E d_j² of two even answers off ½, by listing", (values**2).mean() - 0.5)


@claim("cai2025:sec-a.1:equal")
def check_equal(ridge: float = 1.0) -> Iterator[Check]:
    """The first sign of A.1's display of gradient norms, two items and one answer that is flipped."""
    sizes = np.array(
        [
            [np.abs(gradient(t, Comparisons([0], [1], [won], ["0", "1"])) + ridge * t).sum() for won in (0, 1)]
            for t in np.array([[0.0, 0.0], [1.0, -1.0], [0.3, 2.0]])
        ]
    )
    off = np.abs(sizes[:, 1] - sizes[:, 0])
    at = f"2 items, 1 answer, γ = {ridge:g}, three t"
    what = f"difference of ‖∇R(t; y′)‖₁ and ‖∇R(t; y)‖₁, largest, {at}"
    yield printed(what, off.max(), "==", 0, reading="an equals sign, as our copy has it", error=ROUNDING)
    bound = 2 * LOGISTIC.kappa_1 * (1 + ROUNDING)
    yield printed(f"{what}, against 2κ₁", off.max(), "<=", bound, reading="a minus sign")
    yield amended(f"{what}, against 2κ₁", off.max(), "<=", bound)
