"""Cai, Chakraborty and Wang (2025), Appendices A.2 and B.2: the lemmas behind the error bounds of the perturbed MLE.

Tails of degrees and of Laplace noise are exact; spectra and gradients are bounded by matrix Chernoff and Bernstein
inequalities with every constant written out; the induction is closed with explicit constants and watched on runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import special, stats

from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link, voter_counts
from dprank.models.likelihood import mle_from_counts

#: Chernoff exponents of a Poisson mean at 3/2 and at 1/2 of itself, per unit of the mean.
UPPER, LOWER = 1.5 * math.log(1.5) - 0.5, 0.5 - 0.5 * math.log(2)
#: Deviations t = A sqrt(D log n), B sqrt(D log n) of the two sums in (A.33), D = np, that fail w.p. n^-9 each.
SUM_A, SUM_B = math.sqrt(6.75), 2.3
#: Constants in D >= c log n, ours: degrees, gradient, second-smallest eigenvalue; and mL >= c n log n for the last two.
C_DEGREES, C_GRADIENT, C_SPECTRUM = 102.0, 40.0, 144.0
C_GRADIENT_VOTERS, C_SPECTRUM_VOTERS = 2.0, 72.0

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


def voter_degree_failure(items: int, draws: int) -> tuple[float, float]:
    """The same for pairs drawn with replacement: a degree is Binomial(mL, 2/n); a single one, and the union bound."""
    if items < 2 or draws < 1:
        raise ValueError(f"items = {items}, draws = {draws}; at least 2 items and 1 draw are allowed")
    law = stats.binom(draws, 2 / items)
    one = float(law.cdf(-(-draws // items) - 1) + law.sf(3 * draws // items))
    return one, min(1.0, items * one)


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


@claim("cai2025:lem-b.1")
def check_lemma_b1(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.1 at its boundary mL = 60 n log n, and the Chernoff bound that it uses."""
    exact, chernoff = [], []
    for n in items:
        draws = math.ceil(60 * n * math.log(n))
        one, union = voter_degree_failure(n, draws)
        exact.append(union * float(n) ** 8)
        chernoff.append(one / (2 * math.exp(-draws / (6 * n))))
    grid = f"mL = 60 n log n, n = {min(items)} to {max(items):.0e}"
    few = [(n, draws) for n in (2, 3, 5, 20, 100) for draws in (1, 2, 3, 7, 20, 50, 200)]
    small = max(voter_degree_failure(n, draws)[0] / (2 * math.exp(-draws / (6 * n))) for n, draws in few)
    yield printed(f"largest n⁸ P(some degree outside), {grid}", max(exact), "<=", 1)
    yield printed(f"P(one degree outside) over its Chernoff bound, {grid}", max(chernoff), "<=", 1)
    yield printed("the same, n ≤ 100 and mL ≤ 200", small, "<=", 1)


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


@claim("cai2025:lem-b.3")
def check_lemma_b3(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Lemma B.3 from the exact laws: the sum alone within 2 n^-8, as its proof concludes."""
    yield from laplace_checks(items)


def last_linear() -> int:
    """The largest n at which t / (4 lambda) is below t^2 / (8 n lambda^2), t = 8 lambda sqrt(n log n)."""
    return max(n for n in range(2, 1000) if 2 * math.sqrt(n * math.log(n)) < 8 * math.log(n))


@claim("cai2025:lem-b.3:proof")
def check_lemma_b3_proof(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Which term of the proof's minimum is the smaller one, and what is true where it is the other."""
    n = last_linear()
    quadratic, linear = 8 * math.log(n), 2 * math.sqrt(n * math.log(n))
    what = f"t²/(8nλ²) at t = 8λ √(n log n), n = {n}, against t/(4λ)"
    worst = max(laplace_failure(k)[1] * float(k) ** 8 for k in items)
    grid = f"n = {min(items)} to {max(items):,}"
    yield printed(what, quadratic, "<=", linear)
    yield amended(f"largest n⁸ P(the sum exceeds its bound), {grid}", worst, "<=", 2)


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


@claim("cai2025:lem-b.2")
def check_lemma_b2(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.2 with c = 2, by Bernstein."""
    worst = max(
        gradient_failure(n, 2 * C_GRADIENT_VOTERS * math.log(n) * more, math.sqrt(33)) + 10 * math.log(n)
        for n in items
        for more in (1, 1.5, 3, 10, 1e2, 1e4, 1e8)
    )
    what = f"largest n¹⁰ P(the gradient exceeds its bound), mL ≥ {C_GRADIENT_VOTERS:g} n log n"
    yield printed(f"{what}, n = {min(items)} to {max(items):.0e}", math.exp(worst), "<=", 2)


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


def coordinate_law(items: int, draws: int) -> tuple[Array, Array]:
    """Exact law of a coordinate of the gradient at theta = 0: values and probabilities.

    Logistic link. Each of `draws` comparisons holds the item with probability 2/n and then adds 1/2 or -1/2.
    """
    step = np.array([1 / items, 1 - 2 / items, 1 / items])
    law = np.ones(1)
    for _ in range(draws):
        law = np.convolve(law, step)
    return np.arange(-draws, draws + 1) / 2, law


@claim("cai2025:lem-b.2:proof")
def check_lemma_b2_proof() -> Iterator[Check]:
    """Whether a coordinate of the gradient is sub-Gaussian with its variance as parameter; Bernstein instead."""
    n, s = 1000, 10.0
    growth = math.log1p(2 / n * (math.cosh(s / 2) - 1))
    yield printed(f"log E exp(s g) per draw, θ* = 0, n = {n}, s = {s:g}", growth, "<=", s**2 / n)
    # one comparison: a coordinate is 1/2 in size with probability 2/n, and S = 2/n
    yield printed("P(|g| > 0.499), θ* = 0, n = 100, one comparison", 2 / 100, "<=", 2 * math.exp(-(0.499**2) * 100 / 4))
    worst = 0.0
    for items, draws in ((100, 1), (100, 40), (10, 100), (30, 300)):
        values, law = coordinate_law(items, draws)
        for t in (np.arange(2 * draws) + 1) / 2 - 1e-9:
            bound = 2 * math.exp(-(t**2) / (2 * (draws / items / 2 + t / 3)))
            worst = max(worst, float(law[np.abs(values) > t].sum()) / bound)
    what = "largest P(|g| > t) / (2 exp(−t²/(S/2 + 2t/3))), all t, four designs"
    yield amended(what, worst, "<=", 1)


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


@claim("cai2025:lem-b.4")
def check_lemma_b4(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.4 without and with a bound on the true strengths."""
    kappa = condition_number()
    worst = 0.0
    for n in items:
        for more in (1, 2, 10, 100):
            draws = math.ceil(C_SPECTRUM_VOTERS * n * math.log(n)) * more
            low = math.exp(spectrum_failure(n, 2 * draws / (n - 1)))
            worst = max(worst, (low + voter_degree_failure(n, draws)[1]) * float(n) ** 10)
    what = f"largest n¹⁰ P(λ₂ < S/2 or a degree > 3S/2), mL ≥ {C_SPECTRUM_VOTERS:g} n log n, n ≤ {max(items):.0e}"
    yield printed("λ₂ / mL, two items, θ* = (4, −4), at θ = θ*", two_items_eigenvalue(4.0), ">=", 1 / (2 * kappa))
    for says in (supplied, amended):
        yield says(what, worst, "<=", 1)
        curve = "least (−log F)'' at |θ_i − θ_j| ≤ 4, logistic, times κ₂"
        yield says(curve, flattest(LOGISTIC) * kappa, ">=", 1)


def mean_laplacian(items: int) -> Array:
    """Mean of (e_i - e_j)(e_i - e_j)' over all pairs of items."""
    vectors = [np.eye(items)[i] - np.eye(items)[j] for i in range(items) for j in range(i)]
    return np.mean([np.outer(v, v) for v in vectors], 0)


@claim("cai2025:lem-b.4:proof")
def check_lemma_b4_proof() -> Iterator[Check]:
    """Two numbers in the proof of Lemma B.4."""
    for n in (2, 3, 10):
        value = float(np.linalg.eigvalsh(mean_laplacian(n))[1])
        what = f"non-zero eigenvalue of the mean Laplacian, n = {n}"
        yield printed(what, value, "==", 2 / n, error=ROUNDING)
        yield amended(what, value, "==", 2 / (n - 1), error=ROUNDING)
    base, as_printed = math.exp(-LOWER), math.exp(-1 / 8)
    what = "e^(−δ) / (1 − δ)^(1 − δ) at δ = 1/2"
    yield printed(what, base, "==", as_printed, error=ROUNDING)
    yield amended(f"{what}, against e^(−1/8)", base, "<=", as_printed)


# --- gradient descent and its leave-one-out copies -------------------------------------------------------------------


def gradient(wins: Array, theta: Array, link: Link = LOGISTIC) -> Array:
    """Gradient of the negative log-likelihood (A.8).

    Parameters
    ----------
    wins : numpy.ndarray, shape (..., items, items)
        How often, or with which expectation, the row beat the column.
    theta : numpy.ndarray, shape (..., items)
    link : Link
    """
    score = link.score(theta[..., :, None] - theta[..., None, :])
    moved = wins * score
    return moved.sum(-2) - moved.sum(-1)


def leave_one_out(wins: Array, theta: Array, pair: float, link: Link = LOGISTIC) -> Array:
    """Copies of `wins` (A.5): in copy m all comparisons of item m are replaced by their expectation.

    Parameters
    ----------
    wins : numpy.ndarray, shape (items, items)
    theta : numpy.ndarray, shape (items,)
        The truth.
    pair : float
        Expected number of comparisons of a pair.
    link : Link

    Returns
    -------
    numpy.ndarray, shape (items, items, items)
    """
    n = len(wins)
    expected = pair * link.cdf(theta[:, None] - theta)
    item = np.arange(n)
    own = (item[:, None, None] == item[None, :, None]) | (item[:, None, None] == item[None, None, :])
    copies = np.where(own, expected, wins)
    copies[:, item, item] = 0
    return copies


def descend(
    wins: Array, start: Array, noise: Array, gamma: float, eta: float, link: Link = LOGISTIC
) -> Iterator[Array]:
    """Iterates of gradient descent (A.4), from `start` on; broadcasts over copies."""
    theta = start
    while True:
        yield theta
        theta = theta - eta * (gradient(wins, theta, link) + gamma * theta + noise)


def minimise(wins: Array, noise: Array, gamma: float) -> Array:
    """The perturbed MLE, logistic link, gradient below 1e-12."""
    theta, _ = mle_from_counts(wins + wins.T, (wins.sum(1) - noise)[None], ridge=gamma, tolerance=1e-12)
    return theta[0]


def draw_wins(theta: Array, p: float, rng: np.random.Generator) -> Array:
    """Outcomes on an Erdos-Renyi graph, logistic link.

    Parameters
    ----------
    theta : numpy.ndarray, shape (items,)
    p : float
        Chance that a pair is compared, once.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray, shape (items, items)
        1 where the row beat the column.
    """
    first, second = np.triu_indices(len(theta), 1)
    met = rng.random(first.size) < p
    won = rng.random(first.size) < LOGISTIC.cdf(theta[first] - theta[second])
    wins = np.zeros((len(theta), len(theta)))
    wins[first, second], wins[second, first] = met & won, met & ~won
    return wins


def rates(items: int, mean: float, scale: float) -> dict[str, float]:
    """Error rates of the hypotheses (A.10) to (A.13), without their constants, in powers of D = np."""
    entry = math.sqrt(math.log(items) / mean) + scale * math.log(items) / mean
    norm = math.sqrt(items * math.log(items) / mean) + scale * math.log(items) / math.sqrt(mean)
    return {"C1": norm, "C2": entry, "C3": entry, "C4": entry}


def watch(items: int, p: float, scale: float, steps: int, c0: float = 1.0, repetition: int = 0) -> dict[str, float]:
    """One run of (A.4) and of all its leave-one-out copies, from the truth, logistic link, kappa_2 = 57.

    Parameters
    ----------
    items, steps : int
    p : float
        Chance that a pair is compared.
    scale : float
        Of the Laplace noise.
    c0 : float
        gamma = c0 sqrt(np log n).
    repetition : int
        Names the random stream.

    Returns
    -------
    dict
        ``C1`` to ``C4``: the largest error over its rate, over all steps; ``A.33``: its left side over
        sqrt(np log n) (1 + the largest error of the copy); ``drift``: difference of the coordinate sums of the copies
        and of the descent; ``progress``: what the last 1 % of the steps changed.
    """
    cell = {"items": items, "p": p, "scale": scale, "c0": c0}
    rng = stream("cai2025:prop-a.1", cell, repetition)
    mean, theta = items * p, np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, p, rng), rng.laplace(0, scale, items)
    gamma = c0 * math.sqrt(mean * math.log(items))
    eta = 1 / (gamma + 3 * condition_number() * mean)
    copies = np.concatenate([wins[None], leave_one_out(wins, theta, p)])
    start = np.broadcast_to(theta, (items + 1, items))
    rate, unit = rates(items, mean, scale), math.sqrt(mean * math.log(items))
    most = dict.fromkeys(("C1", "C2", "C3", "C4", "A.33", "drift", "progress"), 0.0)
    late = start
    for t, all_at in enumerate(descend(copies, start, noise, gamma, eta)):
        if t > steps:
            break
        at, others = all_at[0], all_at[1:]
        error = {
            "C1": float(np.linalg.norm(at - theta)),
            "C2": float(np.abs(np.diag(others) - theta).max()),
            "C3": float(np.linalg.norm(others - at, axis=1).max()),
            "C4": float(np.abs(at - theta).max()),
        }
        for name, value in error.items():
            most[name] = max(most[name], value / rate[name])
        most["drift"] = max(most["drift"], float(np.abs(others.sum(1) - at.sum()).max()))
        if t % 20 == 0:
            gap = np.linalg.norm(gradient(wins, others) - gradient(copies[1:], others), axis=1)
            most["A.33"] = max(most["A.33"], float((gap / (unit * (1 + np.abs(others - theta).max(1)))).max()))
        if t == int(0.99 * steps):
            late = all_at
        most["progress"] = float(np.abs(all_at - late).max())
    return most


def runs(items: Iterable[int], shares: Iterable[float], scale: float, steps: int) -> pd.DataFrame:
    """`watch` on a grid: ``items``, ``p``, then its numbers."""
    return pd.DataFrame({"items": n, "p": p} | watch(n, p, scale, steps) for n, p in product(items, shares))


# --- the induction with explicit constants ---------------------------------------------------------------------------


def closing_constants(kappa_1: float, kappa_2: float, c0: float, c2: float, slope: float) -> dict[str, float]:
    """Constants with which the induction of Propositions A.1 to A.4 closes.

    Parameters
    ----------
    kappa_1, kappa_2 : float
        Of conditions (A1) and (A2).
    c0, c2 : float
        Of Proposition 2.2.
    slope : float
        A lower bound of F'(a) F'(b) / (F(b)(1 - F(b))) at differences of at most 4.

    Returns
    -------
    dict
        ``C1`` to ``C4``, ``A.33`` (its constant), ``c1`` (of p >= c1 lambda log n / n).
    """
    lead = math.sqrt(3 * kappa_1**2 + 0.75 * kappa_1**4 + (SUM_A * kappa_1 + SUM_B * kappa_1**2) ** 2)
    first, third = 2 * kappa_2 * (3 * kappa_1 + c0 + 2), 2.02 * kappa_2 * lead
    second = 2 * (kappa_1**2 * (first + third) / 4 + 9 + c0) / slope
    fourth = second + third
    # (C3 + C4) times the rate is at most 1 when the rate is, which is at most 1/sqrt(c1 c2) + 1/c1
    c1 = max(1.1 * (third + fourth) ** 2 / c2, C_SPECTRUM, 18 * c2)
    return {"C1": first, "C2": second, "C3": third, "C4": fourth, "A.33": lead, "c1": c1}


def one_step(
    constants: dict[str, float],
    items: float,
    mean: float,
    scale: float,
    *,
    kappa_1: float,
    kappa_2: float,
    c0: float,
    slope: float,
) -> dict[str, float]:
    """What the hypotheses at step t imply at step t + 1, over what they claim there: all below 1 if it closes.

    On the events of Lemmas A.1 to A.3, that of (A.33), and that the l2 norm of the noise is at most
    lambda sqrt(18 n log n). ``reach`` is the largest error of any iterate, which must not pass 1.
    """
    log = math.log(items)
    s = c0 * math.sqrt(log / mean)
    step, gamma = 1 / (s + 3 * kappa_2), s * mean
    norm = math.sqrt(items * log / mean) + scale * log / math.sqrt(mean)
    entry = math.sqrt(log / mean) + scale * log / mean
    c = constants
    keep = 1 - step / (2 * kappa_2)
    first = (
        keep * c["C1"] * norm
        + step / mean * ((3 * kappa_1 + c0) * math.sqrt(items * mean * log) + scale * math.sqrt(18 * items * log))
        + 8 * scale * math.sqrt(log) / gamma
    )
    third = keep * c["C3"] * entry + step / mean * c["A.33"] * math.sqrt(mean * log)
    second = (
        (1 - step * slope * (items - 1) / items) * c["C2"] * entry
        + step * kappa_1**2 / (4 * math.sqrt(items)) * (c["C1"] * norm + c["C3"] * entry)
        + step * (9 * scale * log / mean + c0 * math.sqrt(log / mean))
    )
    return {
        "C1": first / (c["C1"] * norm),
        "C2": second / (c["C2"] * entry),
        "C3": third / (c["C3"] * entry),
        "C4": (second + third) / (c["C4"] * entry),
        "reach": (c["C3"] + c["C4"]) * entry,
    }


def logistic_constants(c0: float = 1.0, c2: float = 8.0) -> tuple[dict[str, float], dict[str, float]]:
    """Closing constants for the logistic link, and the arguments that `one_step` needs."""
    link = {"kappa_1": 1.0, "kappa_2": condition_number(), "c0": c0, "slope": flattest(LOGISTIC)}
    return closing_constants(**link, c2=c2), link


def least_items(c1: float, scale: float) -> float:
    """The least number of items, to 1 %, for which some p <= 1 satisfies p >= c1 lambda log n / n."""
    n = c1 * scale * 3.0
    while c1 * scale * math.log(n) > n:
        n *= 1.01
    return n


def closure(c0: float = 1.0, c2: float = 8.0) -> pd.DataFrame:
    """`one_step` on a grid with all boundaries: logistic link, np from c1 lambda log n to n, both ends of lambda."""
    constants, link = logistic_constants(c0, c2)
    rows = []
    for grow in (1, 10, 1e3, 1e6, 1e20):
        for wide in (False, True):
            n = least_items(constants["c1"], c2 * math.sqrt(math.log(1e30)) if wide else c2) * grow
            scale = c2 * math.sqrt(math.log(n)) if wide else c2
            rows += [
                {"items": n, "mean": mean, "scale": scale} | one_step(constants, n, mean, scale, **link)
                for mean in np.geomspace(constants["c1"] * scale * math.log(n), n, 7)
                if mean <= n * (1 + ROUNDING)
            ]
    return pd.DataFrame(rows)


def first_step_error(bound: float, items: float, scale: float, c0: float = 1.0) -> float:
    """A lower bound of the l-infinity error after one step from a truth of which one entry is `bound`, p = 1.

    On the event of Lemma A.2; logistic link. The step moves the entry by eta (gamma theta + gradient + noise).
    """
    gamma = c0 * math.sqrt(items * math.log(items))
    eta = 1 / (gamma + 3 * condition_number() * items)
    return eta * (gamma * bound - (items - 1) - 9 * scale * math.log(items))


@claim("cai2025:prop-a.1")
def check_prop_a1(frame: pd.DataFrame) -> Iterator[Check]:
    """Propositions A.1 to A.4: without a bound on the truth, with explicit constants, and on runs."""
    constants, _ = logistic_constants()
    scale = 8.0
    n = least_items(constants["c1"], scale)
    claim = constants["C4"] * rates(int(n), n, scale)["C4"]
    nothing = first_step_error(0.0, n, scale)
    bound = 2 * (claim - nothing) / (first_step_error(1.0, n, scale) - nothing)
    what = f"ℓ∞ error after one step, p = 1, n = {n:.0e}, an entry of θ* is {bound:.0e}"
    grid = closure()
    yield printed(what, first_step_error(bound, n, scale), "<", claim)
    for name in ("C1", "C2", "C3", "C4"):
        what = (
            f"bound at t + 1 over hypothesis at t + 1, {name} = {constants[name]:,.0f}, ‖θ*‖∞ ≤ 1, worst of {len(grid)}"
        )
        yield supplied(what, grid[name].max(), "<", 1)
    yield supplied("(C3 + C4) times the ℓ∞ rate, worst", grid.reach.max(), "<=", 1)
    exponent = SUM_B**2 / (0.5 + SUM_B / 3 / math.sqrt(C_SPECTRUM))
    yield supplied("(A.33), exponent of the sum of the B_j", exponent, ">=", 9)
    yield supplied("(A.33), exponent of the sum of the A_j", 4 * SUM_A**2 / 3, ">=", 9 - ROUNDING)
    for name in ("C1", "C2", "C3", "C4", "A.33"):
        what = f"largest measured {name}, {len(frame)} runs with ‖θ*‖∞ = 1"
        yield amended(what, frame[name].max(), "<=", constants[name])


@claim("cai2025:lem-a.4")
def check_lemma_a4(items: int = 8) -> Iterator[Check]:
    """Lemma A.4 at its boundary: noise whose sum is as large as the event allows."""
    n, scale = items, 8.0
    theta = np.linspace(-1, 1, n)
    noise = np.full(n, 8 * scale * math.sqrt(math.log(n) / n))
    worst, apart = 0.0, 0.0
    for link, p in product((LOGISTIC, ARCTAN), (0.0, 0.5, 1.0)):
        rng = stream("cai2025:lem-a.4", {"items": n, "p": p})
        wins = draw_wins(theta, p, rng)
        for gamma in (0.5, 5.0, 500.0):
            eta = 1 / (gamma + 3 * condition_number(link) * n * max(p, 0.1))
            path = descend(wins, theta, noise, gamma, eta, link)
            sums = np.array([at.sum() for at, _ in zip(path, range(2000), strict=False)])
            exact = -(noise.sum() / gamma) * -np.expm1(np.arange(2000) * math.log1p(-eta * gamma))
            worst = max(worst, np.abs(sums).max() / (8 * scale * math.sqrt(n * math.log(n)) / gamma))
            apart = max(apart, np.abs(sums - exact).max() / np.abs(exact).max())
    yield printed(
        "largest |Σ θ_i| over its bound, 2 links, 3 graphs, 3 values of γ, 2000 steps", worst, "<=", 1 + ROUNDING
    )
    yield printed("largest relative distance of Σ θ_i from its closed form", apart, "<=", ROUNDING)


def delayed(wins: Array, start: Array, noise: Array, gamma: float, eta: float) -> Iterator[Array]:
    """The recursion (A.7) as printed, with the gradient one iterate late; before the start stands the start."""
    before = at = start
    while True:
        yield at
        before, at = at, at - eta * (gradient(wins, before) + gamma * before + noise)


@claim("cai2025:eq-a.7")
def check_eq_a7(items: int = 6, steps: int = 50) -> Iterator[Check]:
    """Whether the leave-one-out recursion is the one that the proofs use: (A.21) at every step."""
    rng = stream("cai2025:eq-a.7", {"items": items})
    theta = np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, 1.0, rng), rng.laplace(0, 8, items)
    copies = leave_one_out(wins, theta, 1.0)
    gamma = math.sqrt(items * math.log(items))
    eta = 1 / (gamma + 3 * condition_number() * items)
    start = np.broadcast_to(theta, copies.shape[:2])
    for make, about in ((delayed, "printed"), (descend, "corrected")):
        path = [at for at, _ in zip(make(copies, start, noise, gamma, eta), range(steps), strict=False)]
        worst = max(
            np.abs(new - (old - eta * (gradient(copies, old) + gamma * old + noise))).max() / np.abs(new - old).max()
            for old, new in pairwise(path)
            if np.abs(new - old).max() > 0
        )
        index = "t − 1" if about == "printed" else "t"
        what = f"largest relative residual of (A.21), gradient at {index}, {items} items, {steps} steps"
        yield Check(what, worst, "<=", ROUNDING, about)


# --- from the descent to its limit -----------------------------------------------------------------------------------


def small_problem(items: int, repetition: int, scale: float = 8.0) -> tuple[Array, Array, Array, float, float]:
    """A complete graph: wins, truth, noise, gamma (c0 = 1) and step."""
    rng = stream("cai2025:prop-2.2:proof", {"items": items}, repetition)
    theta = np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, 1.0, rng), rng.laplace(0, scale, items)
    gamma = math.sqrt(items * math.log(items))
    return wins, theta, noise, gamma, 1 / (gamma + 3 * condition_number() * items)


def objective(wins: Array, theta: Array, noise: Array, gamma: float) -> float:
    """The perturbed and penalised negative log-likelihood (A.3), logistic link."""
    fit = -(wins * LOGISTIC.log_cdf(theta[:, None] - theta)).sum()
    return float(fit + gamma / 2 * theta @ theta + noise @ theta)


@claim("cai2025:prop-2.2:proof")
def check_prop_2_2_proof(items: Sequence[int] = (2, 3, 4)) -> Iterator[Check]:
    """The steps from the induction to Proposition 2.2, each inequality at its boundaries, and small descents."""
    kappa = condition_number()
    contraction, initial = math.inf, 0.0
    for c0 in (0.1, 1.0, 10.0):
        for n in (2, 3, 10, 10**3, 10**6, 10**12):
            for mean in np.geomspace(1 / math.log(n), n, 9):
                gamma = c0 * math.sqrt(mean * math.log(n))
                contraction = min(contraction, gamma / (gamma + 3 * kappa * mean) / (c0 / ((c0 + 3 * kappa) * n)))
        for n in (10, 10**3, 10**6, 10**12):
            for scale in (8.0, 8 * math.sqrt(math.log(n))):
                mean = C_SPECTRUM * scale * math.log(n)  # smaller means need not be covered
                far = 3 / c0 + 1 + 9 * scale * math.sqrt(math.log(n)) / (c0 * math.sqrt(mean))
                initial = max(initial, far / math.log(n) / (12 / c0 + 1))
    last, start = 0.0, 0.0
    for n in items:
        for repetition in range(3):
            wins, theta, noise, gamma, eta = small_problem(n, repetition)
            limit = minimise(wins, noise, gamma)
            steps = math.ceil((1 + 3 * kappa) * n**3)
            path = descend(wins, theta, noise, gamma, eta)
            for _ in range(steps + 1):
                next(path)
            left = np.linalg.norm(next(path) - limit)
            last = max(last, float(left) / (math.exp(-(n**2)) * float(np.linalg.norm(theta - limit))))
            slope = np.linalg.norm(gradient(wins, theta) + gamma * theta + noise)
            start = max(start, gamma * float(np.linalg.norm(theta - limit)) / float(slope))
    small = max(n**1.5 * math.exp(-(n**2)) for n in range(1, 100))
    total = max(
        n**5 * (4 * n**-10 + 2 * n**-8 + math.exp((math.log(2) - 1) * n) + 4 * (1 + 3 * kappa) * n**3 * n**-8)
        for n in np.geomspace(100, 1e9, 15)
    )
    sizes = f"n = {min(items)} to {max(items)}, p = 1"
    yield printed("(A.14): γ/(γ + 3κ₂np) over c₀/((c₀ + 3κ₂)n), least of 162 cases", contraction, ">=", 1 - ROUNDING)
    yield printed(f"distance left after n³(c₀ + 3κ₂)/c₀ steps, over e^(−n²) times the first, {sizes}", last, "<=", 1)
    yield printed(f"γ‖θ* − θ̃‖₂ over the gradient's norm at θ*, {sizes}", start, "<=", 1)
    yield printed("bound on ‖θ* − θ̃‖₂ over (12/c₀ + 1) √n log n, n ≥ 10, largest of 24 cases", initial, "<=", 1)
    yield printed("e^(−n²) √n log n over log n / n, largest of n = 1 to 99", small, "<=", 1)
    yield printed(
        "n⁵ times the sum of all failure probabilities, c₀ = 1, n ≥ 100", total, "<=", 4 * (1 + 3 * kappa) + 1
    )


@claim("cai2025:prop-2.2:distance")
def check_prop_2_2_distance(items: int = 2) -> Iterator[Check]:
    """The two displays that bound the distance from the truth to the minimiser."""
    wins, theta, noise, gamma, _ = small_problem(items, 0)
    limit = minimise(wins, noise, gamma)
    slope = gradient(wins, theta) + gamma * theta + noise
    square = float(np.sum((theta - limit) ** 2))
    fall = objective(wins, limit, noise, gamma) - objective(wins, theta, noise, gamma)
    what = f"{items} items compared once"
    yield printed(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", fall - float(slope @ (theta - limit)))
    yield amended(f"(γ/2)‖θ* − θ̃‖², {what}", gamma * square / 2, "<=", fall - float(slope @ (limit - theta)))
    yield amended(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", float(slope @ (theta - limit)))


# --- the individual case ---------------------------------------------------------------------------------------------


def first_step_norm(items: float, mean: float, scale: float, c0: float = 1.0) -> float:
    """A lower bound of the l2 error after one step from the truth 0; it fails with probability at most exp(-n / 8).

    A symmetric noise entry moves any centre by more than lambda log 2 with probability at least 1/2, so at least a
    quarter of the entries of gradient plus noise are that large but for exp(-n / 8) (Hoeffding).
    """
    gamma = c0 * math.sqrt(mean * math.log(items))
    return scale * math.log(2) * math.sqrt(items) / 2 / (gamma + 3 * condition_number() * mean)


def voter_rates(items: float, mean: float, scale: float, answers: int = 1) -> tuple[float, float]:
    """Right side of (H1) without its constant: as printed, and with the factor sqrt(n) on both terms of (H2)."""
    log = math.log(items)
    as_printed = math.sqrt(log / mean) + answers * scale * log / (math.sqrt(items) * mean)
    return as_printed, math.sqrt(items) * (math.sqrt(log / mean) + answers * scale * log / mean)


def norm_ratio(
    items: int, density: float, scale: float, rate: str, *, repetitions: int, rng: np.random.Generator
) -> Array:
    """Distance of the perturbed MLE from the truth over the rate of (H1), with L = 1 and gamma = sqrt(S log n).

    Parameters
    ----------
    items : int
    density, scale : float
        S = density log n comparisons of an item; Laplace scale.
    rate : {"as printed", "corrected"}
    repetitions : int
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray, shape (repetitions,)
    """
    if rate not in ("as printed", "corrected"):
        raise ValueError(f"rate = {rate!r}; allowed are 'as printed' and 'corrected'")
    mean = density * math.log(items)
    theta, gamma = np.linspace(-1, 1, items), math.sqrt(mean * math.log(items))
    played, wins = voter_counts(theta, round(mean * items / 2), 1, repetitions, rng=rng)
    noisy = wins - rng.laplace(0, scale, wins.shape)
    error = np.linalg.norm(mle_from_counts(played, noisy, ridge=gamma)[0] - theta, axis=1)
    return np.asarray(error / voter_rates(items, mean, scale)[rate == "corrected"])


def norm_ratios(items: Iterable[int], repetitions: int, density: float = 20.0, scale: float = 8.0) -> pd.DataFrame:
    """`norm_ratio` against the number of items: ``items``, ``rate``, ``mean``, ``se``, ``repetitions``."""
    cells = [
        {"items": n, "density": density, "scale": scale, "rate": rate}
        for rate in ("as printed", "corrected")
        for n in items
    ]
    return sweep(norm_ratio, cells, experiment="cai2025:sec-b.2:induction", repetitions=repetitions)


def norm_growth(items: Iterable[float], density: float = 144.0, scale: float = 8.0) -> pd.DataFrame:
    """Lower bounds of the l2 error after one step over both rates of (H1): ``items``, ``as printed``, ``corrected``."""
    rows = []
    for n in items:
        mean = density * math.log(n)
        least = first_step_norm(n, mean, scale)
        as_printed, corrected = voter_rates(n, mean, scale)
        rows.append({"items": n, "as printed": least / as_printed, "corrected": least / corrected})
    return pd.DataFrame(rows)


@claim("cai2025:sec-b.2:induction")
def check_induction(frame: pd.DataFrame) -> Iterator[Check]:
    """Hypothesis (H1) as printed and with the missing factor; a step of (A.33) that repeated pairs break."""
    growth = norm_growth([1e8, 1e12, 1e16])
    for a, b, x, y in zip(
        growth["items"], growth["items"][1:], growth["as printed"], growth["as printed"][1:], strict=False
    ):
        yield printed(
            f"least ℓ2 error after one step over (H1), growth from n = {a:.0e} to {b:.0e}, S = 144 log n",
            y / x,
            "<=",
            1,
        )
    # two items, seven draws of their one pair, all won by the same item: the degree is S = 7, F = 1/2
    yield printed("Σ A_j², two items, 7 draws, all won by one, θ* = 0", (7 / 2) ** 2, "<=", 1.5 * 7)
    for row in frame[frame.rate == "corrected"].itertuples():
        what = f"mean ℓ2 error of θ̃ over √n times the ℓ∞ rate, n = {row.items}, S = {row.density:g} log n"
        yield amended(what, row.mean, "<=", 2, error=Z * row.se)
    down = growth["corrected"].iloc[-1] / growth["corrected"].iloc[0]
    yield amended("the same lower bound over the corrected rate, growth", down, "<=", 1)


def penalty_margin(items: float, epsilon: float, c0: float, answers: int, ratio: float) -> tuple[float, float]:
    """Both sides of the two inequalities that the proof of Theorem 3.1 calls equivalent, as quotients.

    Parameters
    ----------
    items, epsilon, c0 : float
    answers : int
        L.
    ratio : float
        n log n / (m epsilon).

    Returns
    -------
    tuple of float
        c0 sqrt(2 m L log n / n) over 8 L kappa_2 / epsilon, and c' epsilon log(n)^2 over the ratio, with
        c' = c0^2 / (32 L kappa_2^2); logistic link.
    """
    kappa, log = condition_number(), math.log(items)
    voters = items * log / (ratio * epsilon)
    penalty = c0 * math.sqrt(2 * voters * answers * log / items)
    share = c0**2 / (32 * answers * kappa**2)
    return penalty * epsilon / (8 * answers * kappa), share * epsilon * log**2 / ratio


def private_from(epsilon: float, c0: float = 1.0, answers: int = 1, ratio: float = 1.0) -> float:
    """Decimal logarithm of the number of items from which the penalty of the proof is large enough."""
    kappa = condition_number()
    return math.sqrt(ratio * 32 * answers * kappa**2 / (c0**2 * epsilon)) / math.log(10)


def sufficient_c0(answers: int, ratio: float, c2: float = 1.0) -> float:
    """A constant c0 with which that penalty is large enough for all n >= 3 and all epsilon > c2 / sqrt(log n)."""
    return 8 * condition_number() * math.sqrt(answers * ratio / (2 * c2)) * math.log(3) ** -0.75


@claim("cai2025:thm-3.1:proof")
def check_thm_3_1_proof() -> Iterator[Check]:
    """The equivalence, which is algebra, and the conclusion, which depends on the constant c0."""
    cases = list(product((1e1, 1e3, 1e6, 1e9, 1e40), (0.3, 0.9), (0.1, 1.0, 100.0), (1, 5), (0.01, 1.0, 10.0)))
    apart = 0.0
    for case in cases:
        first, second = penalty_margin(*case)
        apart = max(apart, abs(first**2 / second - 1))
    n, epsilon = 1e6, 0.9
    what = "γ = c₀ √(2mL log n / n) over 8Lκ₂/ε, n log n / (mε) = 1, L = 1"
    yield printed(f"the first inequality, squared, over the second, {len(cases)} cases, off 1", apart, "<=", ROUNDING)
    yield printed(f"{what}, c₀ = 1, n = 10⁶, ε = 0.9", penalty_margin(n, epsilon, 1.0, 1, 1.0)[0], ">=", 1)
    worst = min(
        penalty_margin(n, epsilon, sufficient_c0(answers, ratio), answers, ratio)[0]
        for n in (3, 10, 1e3, 1e6, 1e12)
        for answers, ratio in product((1, 5), (0.1, 1.0, 10.0))
        for epsilon in np.linspace(1 / math.sqrt(math.log(n)), 1, 5)
    )
    what = "least γ over 8Lκ₂/ε, c₀ supplied, n = 3 to 10¹², all ε > 1/√(log n)"
    for says in (supplied, amended):
        yield says(what, worst, ">=", 1 - ROUNDING)


# --- for the prose ---------------------------------------------------------------------------------------------------


def edge_numbers() -> dict[str, str]:
    """Numbers of the text on Appendix A.2."""
    constants, _ = logistic_constants()
    least = least_items(constants["c1"], 8.0)
    return {
        "lemma-kappa": f"{condition_number():.0f}",
        "lemma-c-degrees": f"{C_DEGREES:.0f}",
        "lemma-c-sharp": f"{11 / UPPER:.1f}",
        "lemma-c-gradient": f"{C_GRADIENT:.0f}",
        "lemma-c-spectrum": f"{C_SPECTRUM:.0f}",
        "lemma-linear": f"{last_linear()}",
        "lemma-c1": f"{constants['c1']:.1e}",
        "lemma-least-items": f"{least:.1e}",
    }


def voter_numbers() -> dict[str, str]:
    """Numbers of the text on Appendix B.2."""
    return {
        "lemma-b-sharp": f"{9 / (2 * UPPER):.1f}",
        "lemma-b-gradient": f"{C_GRADIENT_VOTERS:.0f}",
        "lemma-b-spectrum": f"{C_SPECTRUM_VOTERS:.0f}",
        "lemma-b-linear": f"{last_linear()}",
        "lemma-b-kappa": f"{condition_number():.0f}",
        "lemma-b-digits": f"{private_from(0.9):.0f}",
        "lemma-b-digits-low": f"{low_privacy_digits():.0f}",
    }


def low_privacy_digits() -> float:
    """Decimal logarithm of the number of items from which c0 = 1 suffices at epsilon = 1 / sqrt(log n), L = 1."""
    return (32 * condition_number() ** 2) ** (2 / 3) / math.log(10)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_norm_ratios(frame: pd.DataFrame) -> Figure:
    """Distance of the perturbed MLE from the truth over two candidate rates, against the number of items."""
    figure = Figure(figsize=(6.4, 3.4))
    axes = figure.subplots()
    for rate, part in frame.groupby("rate", sort=False):
        look = CALIBRATION[str(rate)]
        axes.errorbar(part["items"], part["mean"], BAR * part.se, capsize=2, label=f"rate {rate}", **look)
    first = frame[frame.rate == "as printed"].iloc[0]
    root = (frame["items"] / first["items"]) ** 0.5 * first["mean"]
    axes.plot(frame["items"], root, color="black", lw=0.8, ls=":", label="√n through the first mark")
    axes.set(xlabel="items n", ylabel="ℓ2 error over its rate", xscale="log", yscale="log")
    ticks = sorted(frame["items"].unique())
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()
    return figure
