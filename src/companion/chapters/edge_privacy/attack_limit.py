"""What the score attack can gain from a private estimate: Proposition 2.3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog
from scipy.stats import binom

from companion.chapters.edge_privacy.private_programs import private_rows, sum_rows
from companion.instruments.allowance import ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC

#: (A1) asks for a constant above the supremum 1 of the logistic link.
KAPPA_1 = 1.001
#: Supremum of the logistic density.
STEEPEST = 0.25


def printed_bound(n_items: int, p: float, epsilon: float, delta: float, mean_error: float) -> float:
    """Right-hand side of (2.8), logistic link."""
    return KAPPA_1 * (4 * n_items * p * epsilon * mean_error + 4 * (n_items - 1) * delta + 2 / n_items)


def rare_leak(n_items: int, epsilon: float, delta: float, size: float) -> dict[str, float]:
    """Both sides of (2.8), k = 1, strengths 0, p = 1, for an estimator that betrays the data once in a while.

    With probability delta it is the sign of item 1's score times `size`, otherwise 0: (0, delta)-private.
    """
    d = n_items - 1
    half = (d + 1) // 2  # E|wins − d/2| is half P(wins = half)
    attack_sum = delta * size * half * float(binom.pmf(half, d, 0.5))
    tie = float(binom.pmf(d // 2, d, 0.5)) if d % 2 == 0 else 0.0
    return {"attack": attack_sum, "bound": printed_bound(n_items, 1.0, epsilon, delta, delta * size * (1 - tie))}


def pure_ratio(n_items: int, p: float, epsilon: float) -> float:
    """Attack over the bound (2.8), strengths 0, delta = 0, of an estimate that is huge if all pairs met, else 0.

    It is B with probability exp(epsilon (wins - d)) / 2, d = n - 1. Neighbours have equally many comparisons, so that
    test costs no privacy; given a complete graph the attack is d tanh(epsilon / 2) / 2 times the mean estimate.
    """
    return (n_items - 1) * math.tanh(epsilon / 2) / 2 / (4 * KAPPA_1 * n_items * p * epsilon)


def worst_attack(
    comparisons: int, epsilon: float, delta: float, price: float, own: float = 0.0, others: float = 0.0
) -> float:
    """Largest expected attack less `price` times the mean absolute error of private estimates in [-1, 1].

    One item of strength `own` met `comparisons` others. By symmetry its wins are enough, and by linearity the values
    -1, truth and 1: a linear program.
    """
    d = comparisons
    wins = np.arange(d + 1)
    chance, density = float(LOGISTIC.cdf(own - others)), float(LOGISTIC.pdf(own - others))
    law = binom.pmf(wins, d, chance)
    score = (wins - d * chance) * density / (chance * (1 - chance))
    errors = np.array([-1.0, own, 1.0]) - own
    gain = law[:, None] * (score[:, None] * errors - price * np.abs(errors))
    a, b, slacks = private_rows(pairwise(wins.tolist()), d + 1, 3, epsilon, delta)
    solved = linprog(
        -np.r_[gain.ravel(), np.zeros(slacks)], a, b, sum_rows(d + 1, 3, gain.size + slacks), np.ones(d + 1)
    )
    return 0.0 - float(solved.fun)


#: The least size that (2.8) admits with p = 1: p > 6 log n / n needs n >= 17.
SMALLEST = 17
#: Strengths of the attacked item and of the others.
PLACES = ((0.0, 0.0), (0.5, 0.0), (1.0, -1.0), (-1.0, 0.0))
#: Items and chances of a comparison of which all pairs seldom meet.
SPARSE = ((10_000, 0.006), (1_000_000, 0.0001))
#: Items and epsilons at which the steps of the proof are evaluated.
SIZES, EPSILONS = np.unique(np.geomspace(SMALLEST, 1e6, 60).astype(int)), np.linspace(1e-6, 1, 1001)


def listed_leak(comparisons: int, epsilon: float, delta: float, size: float) -> dict[str, float]:
    """`rare_leak` and `pure_ratio` (p = 1/2) of one item by listing its numbers of wins, and the loss of the latter."""
    d = comparisons
    wins = np.arange(d + 1)
    law, score = binom.pmf(wins, d, 0.5), wins - d / 2
    estimate = delta * size * np.sign(score)
    chance = np.exp(epsilon * (wins - d)) / 2
    price = 4 * KAPPA_1 * (d + 1) * epsilon
    return {
        "attack": law @ (estimate * score),
        "bound": KAPPA_1 * (4 * (d + 1) * epsilon * (law @ np.abs(estimate)) + 4 * d * delta + 2 / (d + 1)),
        "ratio": law @ (chance * score) / (price / 2 * (law @ chance)),
        "loss": np.abs(np.diff(np.log([chance, 1 - chance]))).max(),
    }


def leak_checks(comparisons: int, epsilon: float = 0.5, delta: float = 0.01, size: float = 50.0) -> Iterator[Check]:
    """The closed forms of this section against the listing."""
    n = comparisons + 1
    listed = listed_leak(comparisons, epsilon, delta, size)
    closed = rare_leak(n, epsilon, delta, size) | {"ratio": pure_ratio(n, 0.5, epsilon)}
    off = [listed[name] - closed[name] for name in closed]
    yield agree(f"closed forms off the listing of the wins of one of {n} items", off)
    what = f"privacy loss over ε of the estimate that is huge if all pairs met, {n} items"
    yield argument(what, listed["loss"] / epsilon, "==", 1, error=ROUNDING)


@claim("cai2025:prop-2.3")
def check_prop_2_3(epsilons: Sequence[float] = (0.01, 0.3, 0.999)) -> Iterator[Check]:
    """(2.8) for estimators without limits, and for estimates in [-1, 1]."""
    for n in (SMALLEST, 1_000, 1_000_000):
        both = rare_leak(n, 1 / (4 * n), 1 / n**2, float(n) ** 4)
        what = f"attack over its bound, n = {n:,}, p = 1, ε = 1/(4n), δ = 1/n², estimate ±n⁴ with probability δ"
        yield printed(what, both["attack"] / both["bound"], "<=", 1)
    for n, p in SPARSE:
        what = f"attack over its bound, n = {n:,}, p = {p:g}, ε = 0.5, δ = 0, huge estimates if all pairs met"
        yield printed(what, pure_ratio(n, p, 0.5), "<=", 1)
    n = SMALLEST
    for epsilon in epsilons:
        for delta in (0.0, 0.01):
            most = max(worst_attack(n - 1, epsilon, delta, 4 * KAPPA_1 * n * epsilon, *at) for at in PLACES)
            what = f"worst attack minus 4κ₁npε·error, any estimate in [-1, 1], n = {n}, p = 1, ε = {epsilon:g}"
            bound = printed_bound(n, 1.0, epsilon, delta, 0.0)
            what = f"{what}, δ = {delta:g}; the terms of (2.8) are larger than need be"
            yield supplied(what, most, "<=", bound, error=ROUNDING)
        gain, over = math.expm1(epsilon), 0.0
        for place in PLACES:
            density = float(LOGISTIC.pdf(np.subtract(*place)))
            most = worst_attack(n - 1, epsilon, 0.01, (n - 1) * density * gain, *place)
            over = max(over, most / (2 * (n - 1) * density * 0.01))
        what = f"worst attack minus (n-1)F'(e^ε-1)·error over 2(n-1)F'δ, {len(PLACES)} pairs of strengths"
        yield amended(f"{what}, ε = {epsilon:g}, δ = 0.01", over, "<=", 1)
        # the three terms of our bound against those of (2.8)
        ours = STEEPEST * np.array([2 * gain / epsilon, 2.0, 2 * gain])
        what = f"terms of our bound over those of (2.8), largest, ε = {epsilon:g}: at most (e − 1)/4"
        yield argument(what, (ours / (KAPPA_1 * np.array([4, 4, 2]))).max(), "<=", (math.e - 1) / 4)
    keep = 1 / (1 + math.exp(-0.7))
    one = [worst_attack(1, 0.7, 0.0, 0.0) - keep + 0.5, worst_attack(1, 0.0, 0.3, 0.0) - 0.5 * 0.3]
    yield agree("worst free attack on one comparison, off its closed forms", one)
    yield from leak_checks(4)
    yield from leak_checks(n - 1)


@claim("cai2025:prop-2.3:proof")
def check_prop_2_3_proof() -> Iterator[Check]:
    """The steps of Appendix A.3."""
    steep = 2.0  # F(x) = expit(2x) has kappa_1 = 2
    term = 2 * steep * float(LOGISTIC.cdf(2 * steep))
    edge = 6 * np.log(SIZES) / SIZES
    tail = max(
        float((binom.logsf(2 * SIZES * p, SIZES - 1, p) + SIZES * p / 3)[p < 0.5].max()) for p in (edge, np.sqrt(edge))
    )
    epsilon, n = 0.9, 100
    yield printed("largest attack term, link 1/(1 + e^(-2x)), κ₁ = 2, estimate 2 off", term, "<=", 2)
    yield amended("the same attack term, against 2κ₁", term, "<=", 2 * steep)
    yield argument("e^ε / (1 + 2ε), largest for ε < 1", (np.exp(EPSILONS) / (1 + 2 * EPSILONS)).max(), "<=", 1)
    yield argument("log P(degree > 2np) + np/3, largest, n = 17 to 10⁶", tail, "<=", 0)
    yield agree("2 log n - np/3 at p = 6 log n/n, off 0, largest, n = 17 to 10⁶", 2 * np.log(SIZES) - SIZES * edge / 3)
    yield argument("left-over term 2ε·κ₁·2/n at κ₁ = 1, ε = 0.9, n = 100", 2 * epsilon * 2 / n, ">", 2 * epsilon / n)
    ours = STEEPEST * np.expm1(EPSILONS).max()
    yield argument("our left-over term 2·sup F'·(e^ε - 1)/n over 2/n, largest for ε < 1", ours, "<=", 1)


#: Largest constant that Proposition 2.4 can have, and the one that its proof finds with c = 1/4.
CEILING, FOUND = 1.0, 0.5


def left_over(n_items: int, delta: float, kappa_1: float) -> float:
    """The terms of (2.8) without the estimator's error: 4 kappa_1 (n - 1) delta + 2 kappa_1 / n."""
    return 4 * kappa_1 * (n_items - 1) * delta + 2 * kappa_1 / n_items


@claim("cai2025:thm-2.2:proof")
def check_thm_2_2_proof(kappa_1: float = 1.1) -> Iterator[Check]:
    """Appendix A.5: what of (2.9) is left once (2.8) is taken off, for delta up to a constant over n."""
    for n in (100, 10**6):
        as_displayed = 4 * (n - 1) / n + 2 * kappa_1 / n
        what = f"C less 4(n−1)δ + 2κ₁/n, C = 1 at most, δ = 1/n, κ₁ = {kappa_1:g}, n = {n:,}"
        yield printed(what, CEILING - as_displayed, ">", 0)
        what = f"the same with the κ₁ of (2.8), n = {n:,}"
        yield printed(what, CEILING - left_over(n, 1 / n, kappa_1), ">", 0)
    cases = [(n, k) for n in (SMALLEST, 100, 10**6) for k in (1.001, 1.1, 2.0)]
    for says in (supplied, amended):
        spare = min(FOUND - left_over(n, 1 / (32 * k * n), k) for n, k in cases)
        yield says("½ less 4κ₁(n−1)δ + 2κ₁/n, δ ≤ 1/(32κ₁n), n ≥ 17, κ₁ ≤ 2, least", spare, ">=", 1 / 8)
    least = min(6 * math.log(n) / math.log(n) for n, _ in cases)
    yield argument("npε at p = 6 log n/n and ε = 1/log n: 1/(npε) is at most a constant", least, ">=", 1)
    mean = rare_leak(SMALLEST, 0.5, 0.01, 1.0)
    off = mean["bound"] - left_over(SMALLEST, 0.01, KAPPA_1)
    share = 4 * KAPPA_1 * SMALLEST * 0.5 * 0.01 * (1 - float(binom.pmf(8, 16, 0.5)))
    yield agree("left-over terms, off (2.8) less its first term", off - share)
