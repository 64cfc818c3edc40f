"""How far gradient descent is from its limit, and the error without it: the end of Appendix B.2.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from companion.chapters.edge_privacy.descent import descend
from companion.chapters.edge_privacy.link_conditions import KAPPA_1
from companion.chapters.edge_privacy.tails import (
    LOWER,
    SUMS,
    UPPER,
    Array,
    condition_number,
    laplace_failure,
    laplace_sum_tail,
)
from companion.chapters.individual_privacy.voter_estimation import STRENGTHS, answered, rate, sum_peak
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.likelihood import mle_from_counts
from dprank.privacy.noise import laplace

#: Items, voters, answers and epsilon at which the descent is far from its limit; how far, and how often at least.
FAR, DISTANCE, OFTEN = (10, 10**6, 5, 0.9), 5e-3, 0.6
#: Numbers of items; constants c0.
ITEMS = (2, 3, 10, 100, 10**3, 10**6)
CASES = tuple(product(ITEMS, (0.1, 1.0, 10.0)))
#: Of mL >= DRAWS n (n - 1) log n comparisons nearly surely every pair has half of its mean: our proof needs no descent.
DRAWS = 28.0
#: Our proof's error over the rate, logistic link, at most, where epsilon is 0.3 or more and the rate at most 1 / 1000.
PROVED = 200.0
#: Items at which it is evaluated, epsilons, and rates.
GRID = tuple(product((10**2, 10**3, 10**4, 10**6), (0.3, 0.9), (1e-3, 1e-5, 1e-7), (1, 5)))


class Descent(NamedTuple):
    """Gradient descent of Appendix B.2.1: mean degree S, ridge gamma, step eta, Laplace scale and steps T."""

    degree: float
    ridge: float
    step: float
    scale: float
    steps: int


def descent(items: float, voters: float, answers: int, epsilon: float, c0: float = 1.0) -> Descent:
    """As printed, with gamma = c0 sqrt(S log n) and T = (c0 + 3 kappa_2) n^3 / c0, logistic link."""
    kappa, degree = condition_number(), 2 * voters * answers / items
    ridge = c0 * math.sqrt(degree * math.log(items))
    steps = math.ceil((c0 + 3 * kappa) * items**3 / c0)
    return Descent(degree, ridge, 1 / (ridge + 3 * kappa * degree), 8 * answers * KAPPA_1 / epsilon, steps)


def needed_steps(items: float, degree: float, c0: float) -> int:
    """Steps after which a distance has become e^(-n^2) of itself: n^2 (gamma + 3 kappa_2 S) / gamma."""
    return math.ceil(items**2 * (1 + 3 * condition_number() * math.sqrt(degree / math.log(items)) / c0))


def within(items: int, distance: float, run: Descent) -> tuple[float, float]:
    """Chance at most, and exactly, that the mean alone leaves the last iterate so near to the limit.

    Along the vector of ones the descent is linear: what is left is (1 - eta gamma)^T abs(sum of w) / (gamma sqrt(n)).
    """
    left = math.exp(run.steps * math.log1p(-run.step * run.ridge))
    reach = distance * run.ridge * math.sqrt(items) / (left * run.scale)
    return min(1.0, 2 * reach * sum_peak(items)), 1 - 2 * laplace_sum_tail(items, reach)


@claim("cai2025:sec-b.2:optimization")
def check_optimization() -> Iterator[Check]:
    """The contraction, which holds, and what is left after the printed number of steps."""
    rng = stream("cai2025:sec-b.2:optimization", {})
    n, draws, kappa = 8, 4000, condition_number()
    low, high, off = [], [], []
    for _ in range(20):
        theta = rng.normal(0, 2, n)
        played = answered(theta, draws, 1, rng)[0]
        degree, gamma = 2 * draws / n, math.sqrt(2 * draws / n * math.log(n))
        bent = played[0] * LOGISTIC.pdf(theta[:, None] - theta)
        spectrum = np.linalg.eigvalsh(np.diag(bent.sum(1)) - bent + gamma * np.eye(n))
        low.append(spectrum[0] / gamma)
        high.append(spectrum[-1] / (gamma + 3 * kappa * degree))
        noise = laplace(8.0, n, rng=rng)
        wins = np.zeros((n, n))  # any with these degrees: the sum of an iterate knows no outcome
        wins[:] = np.triu(played[0])
        path = descend(wins, STRENGTHS["spread"](n), noise, gamma, 1 / (gamma + 3 * kappa * degree))
        iterate = [next(path) for _ in range(30)][-1]
        left = (1 - gamma / (gamma + 3 * kappa * degree)) ** 29
        off.append(iterate.sum() + (1 - left) * noise.sum() / gamma)
    cases = f"n = {n}, mL = {draws:,}, 20 runs"
    yield printed(f"least eigenvalue of the Hessian and ridge, over γ, {cases}", min(low), ">=", 1 - ROUNDING)
    yield printed(f"largest over γ + 3κ₂S, {cases}", max(high), "<=", 1)
    most = max(math.log(k) / (2 * 60 * math.log(k)) for k in ITEMS)
    yield printed("largest (γ/(c₀S))², mL ≥ 60 n log n", most, "<=", 1)
    yield agree("sum of the 29th iterate, off that of the linear recursion", off)
    n, run = FAR[0], descent(*FAR)
    bound = math.exp(-(n**2)) * math.sqrt(n) * math.log(n)
    at = "n = {}, m = {:,}, L = {}, ε = {:g}".format(*FAR) + f", c₀ = 1, κ₂ = {kappa:g}, T = {run.steps:,} steps"
    what = f"chance, at most, that θ̃^(T) is within e^(−n²) √n log n = {bound:.2g} of θ̃, {at}"
    yield printed(what, within(n, bound, run)[0], ">=", 1 - 100 * n**-5.0, error=ROUNDING)
    chance = 1 - within(n, DISTANCE, run)[1]
    yield amended(f"chance that θ̃^(T) is {DISTANCE:g} or more from θ̃, {at}", chance, ">=", OFTEN, error=ROUNDING)
    small = max(k**1.5 * math.exp(-(k**2)) for k in ITEMS)
    yield printed("largest e^(−n²) √n log n over log n/n, n ≥ 2", small, "<=", 1)
    exponents, beyond = [], []
    for k, c0 in CASES:
        fine = descent(k, k**3 * math.log(k) / 2, 1, 0.9, c0)  # S = n² log n
        exponents.append(-fine.steps * math.log1p(-fine.step * fine.ridge) / k**2)
        large = descent(k, float(k) ** 12, 1, 0.9, c0)
        beyond.append(-needed_steps(k, large.degree, c0) * math.log1p(-large.step * large.ridge) / k**2)
    cases = f"n = 2 to 10⁶, c₀ = 0.1 to 10, {len(exponents)} cases"
    yield amended(f"least −T log(1 − ηγ) over n², S = n² log n, {cases}", min(exponents), ">=", 1)
    yield amended(f"the same after n²(γ + 3κ₂S)/γ steps, m = n¹², {cases}", min(beyond), ">=", 1 - ROUNDING)


def spread_bound(force: Array, degree: float) -> Array:
    """Most that errors range over where every pair has half of its mean, from the range of the forces at the truth.

    Subtract the equations of the items with the largest and the least error: of the terms of a third item
    at least q F'(2) (1 - e^(-D)) / 2 is left, q = S / (n - 1), since the slope of F falls by at most e^u over u.
    """
    share = 2 * force / (degree * float(LOGISTIC.pdf(2.0)))
    return np.where(share < 1, -np.log1p(-np.minimum(share, 1 - 1e-16)), np.inf)


def proved_error(items: float, voters: float, answers: int, epsilon: float, larger: bool) -> float:
    """Our bound on the error that fails with chance 4 n^-5: minus the mean, or with a larger ridge as it is.

    Forces at the truth are within sqrt(4.5 S log n) (Hoeffding, degrees up to 3 S / 2), the ridge, and 9 lambda log n.
    """
    run, log = descent(items, voters, answers, epsilon), math.log(items)
    least = 8 * answers * condition_number() / epsilon
    ridge = max(run.ridge, least) if larger else least
    force = math.sqrt(4.5 * run.degree * log) + ridge + 9 * run.scale * log
    shift = 8 * run.scale * math.sqrt(log / items) / ridge if larger else 0.0
    return float(spread_bound(np.array(2 * force), run.degree)) + shift


def uneven(items: int) -> float:
    """Bound on the chance that some pair has less than half of its mean, at mL = DRAWS n (n - 1) log n (Chernoff)."""
    return math.comb(items, 2) * math.exp(-LOWER * 2 * DRAWS * math.log(items))


def bad_event(items: int) -> float:
    """Bound on 1 - P(A) at mL = 60 n log n: degrees (Chernoff), the gradient (Lemma B.2), the noise (exact)."""
    degrees = items * (math.exp(-120 * UPPER * math.log(items)) + math.exp(-120 * LOWER * math.log(items)))
    return min(1.0, degrees + 2 * float(items) ** -10 + sum(laplace_failure(items)))


@claim("cai2025:sec-b.2:final")
def check_final(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """What is added to the rate, what fails, and an argument without descent where comparisons are many."""
    for n in (10**3, 10**4):
        run = descent(n, float(n) ** 6, 1, 0.9)
        log = math.log(n)
        whole = math.sqrt(log / run.degree) + run.scale * log / run.degree
        what = f"log n/n over 100 (√(log n/S) + Lλ log n/S), n = {n:,}, m = n⁶, L = 1, ε = 0.9"
        yield printed(what, log / n / (100 * whole), "<=", 1)
    law = 100**10 * laplace_failure(100)[0]
    yield printed("n¹⁰ P(‖w‖∞ > 9λ log n), part of 1 − P(A), over 100, n = 100", law / 100, "<=", 1)
    yield argument(
        "n⁵ P(‖w‖∞ > 9λ log n), n = 100: O(n⁻⁵), which the section has first, is true", law / 100**5, "<=", 1
    )
    total = max(bad_event(n) * float(n) ** 8 for n in items if n > 1)
    what = "largest n⁸ × bound on 1 − P(A), mL ≥ 60 n log n, n ≤ 20,000"
    yield amended(what, total, "<=", 3)
    shares = [descent(n, n**2, 1, 0.9, c0).steps / ((1 + 3 * condition_number() / c0) * n**3) for n, c0 in CASES]
    yield argument("T over (1 + 3κ₂/c₀) n³, so that T steps of chance n⁻⁸ add up to O(n⁻⁵)", max(shares), "<=", 1.1)
    many = needed_steps(100, descent(100, 100.0**9, 1, 0.9).degree, 1.0) / 100**3
    yield argument("steps that are needed at m = n⁹ over n³, n = 100: their union is beyond O(n⁻⁵)", many, ">", 10**4)
    part = max(math.log(n) / n / math.sqrt(math.log(n) / (n**2 / math.log(n))) for n in ITEMS)
    yield amended("largest log n/n over √(log n/S), S = n²/log n", part, "<=", 1 + ROUNDING)
    yield from direct_checks()


def direct_checks(n: int = 10, voters: int = 10**6, answers: int = 5, epsilon: float = 0.5) -> Iterator[Check]:
    """The argument without descent: its chances, its inequality in runs, its constant."""
    worst = max(each**5.0 * uneven(each) for each in ITEMS)
    yield amended("largest n⁵ × bound on P(a pair below half its mean), mL = 28 n(n − 1) log n", worst, "<=", 1)
    rng = stream("cai2025:sec-b.2:final", {})
    theta, run = STRENGTHS["spread"](n), descent(n, voters, answers, epsilon)
    played, wins = answered(theta, voters * answers, 50, rng)
    noise = laplace(run.scale, wins.shape, rng=rng)
    gaps = theta[:, None] - theta
    for name, ridge in (("8Lκ₂/ε", 8 * answers * condition_number() / epsilon), ("√(S log n)", run.ridge)):
        estimate, _ = mle_from_counts(played, wins - noise, ridge=ridge)
        force = wins - (played * LOGISTIC.cdf(gaps)).sum(-1) - noise - ridge * theta
        share = np.ptp(estimate - theta, axis=1) / spread_bound(np.ptp(force, axis=1), run.degree)
        what = (
            f"largest range of the errors over our bound, γ = {name}, n = {n}, m = {voters:,}, L = {answers}, 50 runs"
        )
        yield amended(what, share.max(), "<=", 1)
    ratios = []
    for each, budget, goal, spoken in GRID:
        share = each * math.log(each)
        many = max(share / goal**2, share / (goal * budget), DRAWS * each * share)
        ratios += [
            proved_error(each, many, spoken, budget, larger) / float(rate(each, many, budget))
            for larger in (False, True)
        ]
    what = (
        f"error that is proved over the rate, minus the mean or with the larger ridge, largest of {len(ratios)} cases"
    )
    yield amended(what, max(ratios), "<=", PROVED)
