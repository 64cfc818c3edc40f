"""How far degrees, Laplace noise, gradients and spectra stray on an Erdos-Renyi graph: the lemmas of Appendix A.2.

Tails of degrees and of Laplace noise are exact; spectra and gradients are bounded by matrix Chernoff and Bernstein
inequalities with every constant written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link

#: Chernoff exponents of a Poisson mean at 3/2 and at 1/2 of itself, per unit of the mean.
UPPER, LOWER = 1.5 * math.log(1.5) - 0.5, 0.5 - 0.5 * math.log(2)
#: Constants in D >= c log n, ours: degrees, gradient, second-smallest eigenvalue; and mL >= c n log n for the last two.
C_DEGREES, C_GRADIENT, C_SPECTRUM = 102.0, 40.0, 144.0

#: Numbers of items at which bounds are evaluated, and at which the exact law of a sum of Laplace variables is.
SIZES = (2, 3, 5, 10, 30, 100, 300, 10**3, 10**4, 10**5, 10**6, 10**9)
SUMS = (1, *range(2, 121), 200, 500, 10**3, 5 * 10**3, 2 * 10**4)

Array = NDArray[np.float64]


def flattest(link: Link, reach: float = 4.0) -> float:
    """Least curvature (-log F)'' at differences of at most `reach`, on a grid of step 1/1000 that holds the ends."""
    return float(np.min(link.curvature(np.linspace(-reach, reach, int(2000 * reach) + 1))))


@cache
def condition_number(link: Link = LOGISTIC) -> float:
    """The least whole number that satisfies both halves of condition (A2): 57 for the logistic link."""
    x = np.linspace(-40, 40, 80_001)
    return float(math.floor(max(np.max(link.curvature(x)), 1 / flattest(link))) + 1)


# --- degrees ---------------------------------------------------------------------------------------------------------


def degree_failure(items: int, probability: float) -> tuple[float, float]:
    """Probability that some degree of an Erdos-Renyi graph leaves [np/2, 3np/2]: a lower and an upper bound.

    Degrees are Binomial(n - 1, p). The upper bound is the union bound, the lower one the better of a single degree and
    Bonferroni's inequality with the exact joint law of two degrees.
    """
    mean = items * probability
    if not 0 < probability <= 1 or items < 2:
        raise ValueError(f"items = {items}, probability = {probability}; at least 2 items and (0, 1] are allowed")
    below, above = math.ceil(mean / 2) - 1, math.floor(1.5 * mean)

    def outside(others: int, edge: int) -> float:
        law = stats.binom(others, probability)
        return float(law.cdf(below - edge) + law.sf(above - edge))

    one = outside(items - 1, 0)
    both = probability * outside(items - 2, 1) ** 2 + (1 - probability) * outside(items - 2, 0) ** 2
    return max(one, items * one - math.comb(items, 2) * both), min(1.0, items * one)


def decay(first: float, second: float, items: tuple[float, float]) -> float:
    """Exponent a for which a probability falls like n^-a from one number of items to another."""
    return math.log(first / second) / math.log(items[1] / items[0])


@claim("cai2025:sec-a.2:degrees")
def check_degrees(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Event A0 for arbitrary and for sufficient constants in np >= c log n."""
    ends = (10**3, 10**6)
    for c in (1.0, 10.0):
        (_, most), (least, _) = (degree_failure(n, c * math.log(n) / n) for n in ends)
        what = f"n = 10³ to 10⁶, np = {c:g} log n: P(some degree outside) falls at most like n^-a, a"
        yield printed(what, decay(most, least, ends), ">=", 10)
    worst = max(
        degree_failure(n, share)[1] * float(n) ** 10
        for n in items
        if C_DEGREES * math.log(n) <= n
        for share in np.geomspace(C_DEGREES * math.log(n) / n, 1, 5)
    )
    what = f"largest n¹⁰ P(some degree outside), np ≥ {C_DEGREES:g} log n, n ≤ {max(items):.0e}"
    for says in (supplied, amended):
        yield says(what, worst, "<=", 1)
    ends = (10**6, 10**9)
    (_, most), (least, _) = (degree_failure(n, 100 * math.log(n) / n) for n in ends)
    what = "n = 10⁶ to 10⁹, np = 100 log n: the exponent a is short of 10"
    yield amended(what, decay(most, least, ends), "<", 10)


# --- Laplace noise ---------------------------------------------------------------------------------------------------


def laplace_sum_tail(items: int, threshold: float) -> float:
    """P(w_1 + ... + w_n > t) for independent standard Laplace variables, exact, t >= 0.

    The sum is a difference of two Gamma(n) variables. Its density is that of a mixture of Erlang laws: the tail is a
    sum of n positive terms, C(n - 1 + j, j) 2^-(n + j) P(Poisson(t) < n - j), j = 0, ..., n - 1.
    """
    if items < 1 or threshold < 0:
        raise ValueError(f"items = {items}, threshold = {threshold}; at least 1 item and 0 are allowed")
    j = np.arange(items)
    weight = special.gammaln(items + j) - special.gammaln(items) - special.gammaln(j + 1) - (items + j) * math.log(2)
    return float(np.exp(special.logsumexp(weight + stats.poisson.logcdf(items - j - 1, threshold))))


def laplace_failure(items: int) -> tuple[float, float]:
    """P(maximum > 9 lambda log n) and P(abs(sum) > 8 lambda sqrt(n log n)), exact, for any scale lambda."""
    largest = -math.expm1(items * math.log1p(-(float(items) ** -9))) if items > 1 else 1.0
    return largest, 2 * laplace_sum_tail(items, 8 * math.sqrt(items * math.log(items)))


def laplace_checks(items: Sequence[int]) -> list[Check]:
    laws = {n: laplace_failure(n) for n in items}
    grid = f"n = {min(items)} to {max(items):,}"
    total = max(min(1.0, sum(law)) * float(n) ** 8 for n, law in laws.items())
    each = max(law[1] * float(n) ** 8 for n, law in laws.items())
    return [
        printed(f"largest n⁸ P(either bound is exceeded), {grid}", total, "<=", 2),
        printed(f"largest n⁸ P(the sum exceeds its bound), {grid}", each, "<=", 2),
    ]


@claim("cai2025:lem-a.2")
def check_lemma_a2(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Lemma A.2 from the exact laws of maximum and sum."""
    yield from laplace_checks(items)


@claim("cai2025:lem-a.2:proof")
def check_lemma_a2_proof(scale: float = 8.0) -> Iterator[Check]:
    """The Bernstein inequality that the proof of Lemma A.2 prints, and the one it needs."""
    threshold = 8 * scale * math.sqrt(2 * math.log(2))
    bound = math.exp(-(threshold**2) / (8 * 2 * scale))
    what = f"P(w₁ + w₂ > t), λ = {scale:g}, t = 8λ √(2 log 2) = {threshold:.1f} < 2λ²"
    ratio = max(
        laplace_sum_tail(n, u * n) / math.exp(-(u**2) * n / 8)
        for n in (1, 2, 3, 5, 10, 30, 100, 300)
        for u in np.linspace(0.01, 3.5, 60)
    )
    yield printed(what, laplace_sum_tail(2, threshold / scale), "<=", bound)
    yield amended("largest P(Σ w > t) / exp(−t²/(8nλ²)), 0 < t ≤ 3.5 nλ, n ≤ 300", ratio, "<=", 1)


def last_linear() -> int:
    """The largest n at which t / (4 lambda) is below t^2 / (8 n lambda^2), t = 8 lambda sqrt(n log n)."""
    return max(n for n in range(2, 1000) if 2 * math.sqrt(n * math.log(n)) < 8 * math.log(n))


# --- the gradient at the truth ---------------------------------------------------------------------------------------


def gradient_failure(items: float, mean: float, deviation: float) -> float:
    """Logarithm of Bernstein's bound on P(some coordinate of the gradient > kappa_1 deviation sqrt(mean log n)).

    A coordinate is a sum of independent centred terms in [-kappa_1, kappa_1] whose variances add up to at most
    kappa_1^2 mean / 4, where `mean` is the expected number of comparisons of an item.
    """
    t = deviation * math.sqrt(mean * math.log(items))
    return math.log(2 * items) - t**2 / (2 * (mean / 4 + t / 3))


@claim("cai2025:lem-a.1")
def check_lemma_a1(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma A.1 with c = 40, by Bernstein, whatever the degrees."""
    worst = max(
        gradient_failure(n, mean, 3) + 10 * math.log(n)
        for n in items
        if C_GRADIENT * math.log(n) <= n
        for mean in np.geomspace(C_GRADIENT * math.log(n), n, 9)
    )
    what = f"largest n¹⁰ P(the gradient exceeds its bound), np ≥ {C_GRADIENT:g} log n, n ≤ {max(items):.0e}"
    yield printed(what, math.exp(worst), "<=", 2)


def balancing_strengths(wins: Array, link: Link) -> Array:
    """Strengths at which every item has won exactly what the link expects; `wins` strongly connected."""
    games = wins + wins.T
    theta = np.zeros(len(wins))
    for _ in range(100):
        gaps = theta[:, None] - theta
        surplus = (games * link.cdf(gaps) - wins).sum(1)
        weight = games * link.pdf(gaps)
        theta = theta - np.linalg.lstsq(np.diag(weight.sum(1)) - weight, surplus, rcond=None)[0]
    return theta


@claim("cai2025:lem-a.1:proof")
def check_lemma_a1_proof() -> Iterator[Check]:
    """The first display of the proof of Lemma A.1 on four items, and the inequality that repairs it."""
    wins = np.zeros((4, 4))
    for winner, loser in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)):
        wins[winner, loser] = 1
    for link, says in ((ARCTAN, printed), (LOGISTIC, printed)):
        theta = balancing_strengths(wins, link)
        gaps = theta[:, None] - theta
        surplus = ((wins + wins.T) * link.cdf(gaps) - wins).sum(1)
        right = link.kappa_1 * 2 * np.abs(surplus).max()
        left = float(np.linalg.norm(gradient(wins, theta, link)))
        what = f"‖∇L(θ)‖₂, 4 items, {link.name} link, outcomes as expected"
        yield says(what, left, "<=", right + ROUNDING)
    ratio = 0.0
    for gaps in map(np.array, product((-1.0, -0.3, 0.4, 1.0), repeat=3)):
        p = ARCTAN.cdf(gaps)
        weight = ARCTAN.pdf(gaps) / (p * (1 - p))
        won = np.array(list(product((0, 1), repeat=3)))
        law = np.prod(np.where(won == 1, p, 1 - p), 1)
        value = np.abs((weight * (p - won)).sum(1))
        tails = [law[value >= v - 1e-12].sum() for v in value]  # t just below v
        ratio = max(ratio, *(tails / (2 * np.exp(-2 * value**2 / (3 * ARCTAN.kappa_1**2)))))
    what = "P(weighted sum > κ₁ s) / (2 exp(−2s²/d)), d = 3 opponents, arctan link, all outcomes"
    yield amended(what, ratio, "<=", 1)


# --- the spectrum of the Hessian -------------------------------------------------------------------------------------


def spectrum_failure(items: float, mean: float) -> float:
    """Logarithm of the matrix Chernoff bound on P(second-smallest eigenvalue < half its mean).

    Of the Laplacian of randomly drawn pairs, each a matrix of norm 2; `mean` is the non-zero eigenvalue of the mean.
    """
    return math.log(items - 1) - LOWER * mean / 2


def two_items_eigenvalue(theta: float, comparisons: float = 1.0) -> float:
    """Second-smallest eigenvalue of the logistic Hessian of two items of strengths theta and -theta."""
    return float(2 * comparisons * LOGISTIC.curvature(2 * theta))


@claim("cai2025:lem-a.3")
def check_lemma_a3(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma A.3 without and with the conditions that it leaves out."""
    kappa = condition_number()
    n, mean = 25, 1.9
    cycle = 2 - 2 * math.cos(2 * math.pi / n)
    worst = max(
        spectrum_failure(n, mean) + 10 * math.log(n)
        for n in items
        if C_SPECTRUM * math.log(n) <= n
        for mean in np.geomspace(C_SPECTRUM * math.log(n), n, 9)
    )
    what = f"largest n¹⁰ P(λ₂ of the Laplacian < np/2), np ≥ {C_SPECTRUM:g} log n, n ≤ {max(items):.0e}"
    yield printed("λ₂, two items that are compared, θ* = (4, −4), v = θ*", two_items_eigenvalue(4.0), ">=", 1 / kappa)
    yield printed(f"largest λ₂, n = {n}, np = {mean}, any graph with event A₀", cycle / 4, ">=", mean / (2 * kappa))
    for says in (supplied, amended):
        yield says(what, math.exp(worst), "<=", 1)
        curve = "least (−log F)'' at |v_i − v_j| ≤ 4, logistic, times κ₂"
        yield says(curve, flattest(LOGISTIC) * kappa, ">=", 1)


# --- gradient descent and its leave-one-out copies -------------------------------------------------------------------


def gradient(wins: Array, theta: Array, link: Link = LOGISTIC) -> Array:
    """Gradient of the negative log-likelihood (A.8); `wins`, (..., items, items), counts or expects the row's wins."""
    score = link.score(theta[..., :, None] - theta[..., None, :])
    moved = wins * score
    return moved.sum(-2) - moved.sum(-1)
