"""How far degrees, Laplace noise, gradients and spectra stray on an Erdos-Renyi graph: the lemmas of Appendix A.2.

Tails of degrees and of Laplace noise are exact; spectra and gradients are bounded by matrix Chernoff and Bernstein
inequalities with every constant written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special, stats

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.two_items import overtaken
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link

#: Chernoff exponents of a Poisson mean at 3/2 and at 1/2 of itself, per unit of the mean.
UPPER, LOWER = 1.5 * math.log(1.5) - 0.5, 0.5 - 0.5 * math.log(2)
#: Constants in D >= c log n, ours: degrees, gradient, second-smallest eigenvalue.
C_DEGREES, C_GRADIENT, C_SPECTRUM = 102.0, 40.0, 144.0

#: Numbers of items at which bounds are evaluated, and at which the exact law of a sum of Laplace variables is.
SIZES = (2, 3, 5, 10, 30, 100, 300, 10**3, 10**4, 10**5, 10**6, 10**9)
SUMS = (1, *range(2, 121), 200, 500, 10**3, 5 * 10**3, 2 * 10**4)
#: Constants that are too small for the degrees, the last for many items only; between which numbers of items it shows.
TOO_SMALL = {1.0: (10**3, 10**6), 10.0: (10**3, 10**6), 100.0: (10**6, 10**9)}
#: Small graphs, with their probability of an edge, of which all are listed.
LISTED = ((4, 0.5), (5, 0.3))
#: Sizes and thresholds of sums of Laplace variables that are integrated; sizes and thresholds per item of the proof.
INTEGRATED = tuple(product((1, 2, 7), (0.0, 0.3, 9.0)))
DEVIATIONS = tuple(product((1, 2, 3, 5, 10, 30, 100, 300), np.linspace(0.01, 3.5, 60)))
#: A round robin of four items, and gaps between an item and its three opponents.
ROUND_ROBIN = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3))
GAPS = tuple(product((-1.0, -0.3, 0.4, 1.0), repeat=3))
#: Differences of strengths within which (A2) bounds the curvature from below: a step of 1/1000.
WITHIN_FOUR = np.linspace(-4, 4, 8001)

Array = NDArray[np.float64]


def flattest(link: Link) -> float:
    """Least curvature (-log F)'' at differences of at most 4."""
    return float(np.min(link.curvature(WITHIN_FOUR)))


@cache
def condition_number(link: Link = LOGISTIC) -> float:
    """The least whole number that satisfies both halves of condition (A2): 57 for the logistic link."""
    return float(math.floor(max(link.kappa_2, 1 / flattest(link))) + 1)


def boundaries(items: Sequence[int], constant: float, points: int) -> list[tuple[int, float]]:
    """Numbers of items n, and means np from constant log n to n."""
    sizes = [n for n in items if constant * math.log(n) <= n]
    return [(n, mean) for n in sizes for mean in np.geomspace(constant * math.log(n), n, points)]


# --- degrees ---------------------------------------------------------------------------------------------------------


def degree_failure(items: int, probability: float) -> tuple[float, float]:
    """Lower and upper bound on P(some degree of an Erdos-Renyi graph leaves [np/2, 3np/2]).

    Of exact laws of one degree and of two: the union bound, and the better of one degree and Bonferroni.
    """
    mean = items * probability
    below, above = math.ceil(mean / 2) - 1, math.floor(1.5 * mean)

    def outside(others: int, edge: int) -> float:
        law = stats.binom(others, probability)
        return float(law.cdf(below - edge) + law.sf(above - edge))

    one = outside(items - 1, 0)
    both = probability * outside(items - 2, 1) ** 2 + (1 - probability) * outside(items - 2, 0) ** 2
    return max(one, items * one - math.comb(items, 2) * both), min(1.0, items * one)


def listed_degrees(items: int, probability: float) -> tuple[float, float]:
    """The same two bounds from the mean numbers of items and of pairs outside, by listing all graphs."""
    pairs = list(combinations(range(items), 2))
    held = np.array(list(product((0, 1), repeat=len(pairs))))
    degree = held @ [[i in pair for i in range(items)] for pair in pairs]
    mean = items * probability
    outside = ((degree < mean / 2) | (degree > 1.5 * mean)).sum(1)
    chance = np.where(held, probability, 1 - probability).prod(1)
    single, two = chance @ outside, chance @ (outside * (outside - 1) / 2)
    return max(single / items, single - two), min(1.0, single)


def decay(constant: float, ends: tuple[int, int], side: int) -> float:
    """Exponent a for which P(some degree outside) falls like n^-a at np = c log n: at most (-1), at least (1)."""
    first, last = (degree_failure(n, constant * math.log(n) / n) for n in ends)
    return math.log(first[side] / last[1 - side]) / math.log(ends[1] / ends[0])


@claim("cai2025:sec-a.2:degrees")
def check_degrees(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Event A0 for arbitrary and for sufficient constants in np >= c log n."""
    few, more, nearly = TOO_SMALL
    for c in (few, more):
        what = f"n = 10³ to 10⁶, np = {c:g} log n: P(some degree outside) falls at most like n^-a, a"
        yield printed(what, decay(c, TOO_SMALL[c], 1), ">=", 10)
    cases = boundaries(items, C_DEGREES, 5)
    exact = [degree_failure(n, mean / n)[1] for n, mean in cases]
    chernoff = [n * (math.exp(-UPPER * mean) + math.exp(-LOWER * mean)) for n, mean in cases]
    worst = max(bound * n**10.0 for bound, (n, _) in zip(chernoff, cases, strict=True))
    where = f"np ≥ {C_DEGREES:g} log n, n ≤ {max(items):.0e}"
    for says in (supplied, amended):
        yield says(f"largest n¹⁰ × Chernoff's bound on P(some degree outside), {where}", worst, "<=", 1)
    over = max(x / y for x, y in zip(exact, chernoff, strict=True) if y > 0)
    what = f"largest exact P(some degree outside) over that bound, which lacks 1/√(np), {where}"
    yield argument(what, over, "<=", 1)
    what = "n = 10⁶ to 10⁹, np = 100 log n: the exponent a is short of 10"
    yield amended(what, decay(nearly, TOO_SMALL[nearly], 1), "<", 10)
    off = np.ptp([[degree_failure(*case), listed_degrees(*case)] for case in LISTED], axis=1).max()
    yield agree("both bounds on P(some degree outside), off the listing of graphs, n = 4, 5", off)


# --- Laplace noise ---------------------------------------------------------------------------------------------------


def laplace_sum_tail(items: int, threshold: float) -> float:
    """P(w_1 + ... + w_n > t), exact, for standard Laplace variables and t >= 0: a mixture of Erlang tails.

    Weights C(n - 1 + j, j) 2^-(n + j), shapes n - j.
    """
    j = np.arange(items)
    weight = special.gammaln(items + j) - special.gammaln(items) - special.gammaln(j + 1) - (items + j) * math.log(2)
    return float(np.exp(special.logsumexp(weight + stats.poisson.logcdf(items - j - 1, threshold))))


def sum_failure(items: int) -> float:
    """P(abs(sum) > 8 lambda sqrt(n log n)), exact, for any scale lambda."""
    return 2 * laplace_sum_tail(items, 8 * math.sqrt(items * math.log(items)))


def laplace_failure(items: int) -> tuple[float, float]:
    """P(maximum > 9 lambda log n), and `sum_failure`."""
    return -math.expm1(special.xlog1py(items, -(float(items) ** -9))), sum_failure(items)


def integrated_tail(items: int, threshold: float) -> float:
    """P(w_1 + ... + w_n > t) by integration: one Gamma(n) variable exceeds another by t."""
    gamma = stats.gamma(items)
    return float(integrate.quad(lambda x: gamma.pdf(x) * gamma.sf(x + threshold), 0, np.inf)[0])


def sum_tail_check() -> Check:
    """The tail of a sum of Laplace variables against its integral."""
    off = [laplace_sum_tail(*case) - integrated_tail(*case) for case in INTEGRATED]
    return agree("P(Σ w > t), off the integral over two Gamma laws, n = 1, 2, 7", off, 1e-7)


def laplace_checks(items: Sequence[int]) -> Iterator[Check]:
    """The statement that Lemmas A.2 and B.3 share, from exact laws."""
    laws = {n: laplace_failure(n) for n in items}
    grid = f"n = {min(items)} to {max(items):,}"
    total = max(min(1.0, sum(law)) * float(n) ** 8 for n, law in laws.items())
    each = max(law[1] * float(n) ** 8 for n, law in laws.items())
    yield printed(f"largest n⁸ P(either bound is exceeded), {grid}", total, "<=", 2)
    yield printed(f"largest n⁸ P(the sum exceeds its bound), {grid}", each, "<=", 2)
    apart = {n: 2 * integrated_tail(n, 8 * math.sqrt(n * math.log(n))) for n in (2, 3)}
    known = {n: (1 - (1 - n**-9.0) ** n, tail) for n, tail in apart.items()}
    off = [np.divide(laws[n], law) - 1 for n, law in known.items()]
    yield agree("both probabilities for n = 2 and 3, off the product and the integral, relative", off, 1e-6)
    yield agree("those largest, off n = 3 and n = 1", [total - 3**8 * sum(known[3]), each - 1], 1e-6)
    yield sum_tail_check()


@claim("cai2025:lem-a.2")
def check_lemma_a2(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Lemma A.2 from the exact laws of maximum and sum."""
    yield from laplace_checks(items)


@claim("cai2025:lem-a.2:proof")
def check_lemma_a2_proof(scale: float = 8.0) -> Iterator[Check]:
    """The Bernstein inequality that the proof of Lemma A.2 prints, and the one it needs."""
    threshold = 8 * scale * math.sqrt(2 * math.log(2))
    what = f"P(w₁ + w₂ > t), λ = {scale:g}, t = 8λ √(2 log 2) = {threshold:.1f} < 2λ²"
    exact = laplace_sum_tail(2, threshold / scale)
    yield printed(what, exact, "<=", math.exp(-(threshold**2) / (8 * 2 * scale)))
    ratio = max(laplace_sum_tail(n, u * n) / math.exp(-(u**2) * n / 8) for n, u in DEVIATIONS)
    yield amended("largest P(Σ w > t) / exp(−t²/(8nλ²)), 0 < t ≤ 3.5 nλ, n ≤ 300", ratio, "<=", 1)
    share = exact / float(overtaken(8 * math.sqrt(2 * math.log(2))))
    yield argument("that P(w₁ + w₂ > t) over the chance that two items change places", share, "==", 1, error=ROUNDING)


def last_linear() -> int:
    """The largest n at which t / (4 lambda) is below t^2 / (8 n lambda^2), t = 8 lambda sqrt(n log n)."""
    return max(n for n in range(2, 1000) if 2 * math.sqrt(n * math.log(n)) < 8 * math.log(n))


# --- the gradient at the truth ---------------------------------------------------------------------------------------


def gradient(wins: Array, theta: Array, link: Link = LOGISTIC) -> Array:
    """Gradient of the negative log-likelihood (A.8); `wins`, (..., items, items), counts or expects the row's wins."""
    score = link.score(theta[..., :, None] - theta[..., None, :])
    moved = wins * score
    return moved.sum(-2) - moved.sum(-1)


def numeric_gradient(wins: Array, theta: Array, link: Link, step: float = 1e-6) -> Array:
    """The same by central differences of the negative log-likelihood."""

    def loss(at: Array) -> float:
        return float(-(wins * link.log_cdf(at[:, None] - at)).sum())

    return np.array([(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(len(theta))])


def gradient_failure(items: float, mean: float, deviation: float) -> float:
    """Logarithm of Bernstein's bound on P(a gradient entry > kappa_1 deviation sqrt(mean log n)).

    Sums of centred terms in [-kappa_1, kappa_1], variances at most kappa_1^2 mean / 4; `mean` comparisons an item.
    """
    t = deviation * math.sqrt(mean * math.log(items))
    return math.log(2 * items) - t**2 / (2 * (mean / 4 + t / 3))


def gradient_checks(what: str, least: int, worst: float, c: float, deviation: float) -> Iterator[Check]:
    """n^10 times the bound, exp(worst), against 2, and against its closed form 2 n^-b where it is largest."""
    power = 11 - deviation**2 / (0.5 + 2 * deviation / (3 * math.sqrt(c)))
    yield printed(what, math.exp(worst), "<=", 2)
    closed = math.log(2) + power * math.log(least)
    yield agree(f"its logarithm, off log(2 n^({power:.3f})), n = {least}", worst - closed)


@claim("cai2025:lem-a.1")
def check_lemma_a1(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma A.1 with c = 40, by Bernstein, whatever the degrees."""
    cases = boundaries(items, C_GRADIENT, 9)
    worst = max(gradient_failure(n, mean, 3) + 10 * math.log(n) for n, mean in cases)
    what = f"largest n¹⁰ P(the gradient exceeds its bound), np ≥ {C_GRADIENT:g} log n, n ≤ {max(items):.0e}"
    yield from gradient_checks(what, cases[0][0], worst, C_GRADIENT, 3)


def balancing_strengths(wins: Array, link: Link) -> Array:
    """Strengths at which every item has won exactly what the link expects; `wins` strongly connected."""
    games = wins + wins.T
    theta = np.zeros(len(wins))
    for _ in range(100):
        gaps = theta[:, None] - theta
        surplus = (games * link.cdf(gaps) - wins).sum(1)
        weight = games * link.pdf(gaps)
        theta = theta - np.linalg.lstsq(np.diag(weight.sum(1)) - weight, surplus, rcond=1e-9)[0]
    return theta


@claim("cai2025:lem-a.1:proof")
def check_lemma_a1_proof() -> Iterator[Check]:
    """The first display of the proof of Lemma A.1 on four items, and the inequality that repairs it."""
    wins = np.zeros((4, 4))
    wins[tuple(np.transpose(ROUND_ROBIN))] = 1
    for link, says in ((ARCTAN, printed), (LOGISTIC, amended)):
        theta = balancing_strengths(wins, link)
        surplus = ((wins + wins.T) * link.cdf(theta[:, None] - theta) - wins).sum(1)
        slope = gradient(wins, theta, link)
        what = f"4 items, {link.name} link, outcomes as expected"
        yield says(f"‖∇L(θ)‖₂ where its bound is 0, {what}", float(np.linalg.norm(slope)), "==", 0, error=ROUNDING)
        yield agree(f"that bound without κ₁, {what}", surplus)
        off = slope - numeric_gradient(wins, theta, link)
        yield agree(f"the gradient off central differences, {what}", off, 1e-8)
    ratio = 0.0
    for gaps in map(np.array, GAPS):
        p = ARCTAN.cdf(gaps)
        weight = ARCTAN.score(gaps) + ARCTAN.score(-gaps)
        won = np.array(list(product((0, 1), repeat=gaps.size)))
        law = np.prod(np.where(won == 1, p, 1 - p), 1)
        value = np.abs((weight * (p - won)).sum(1))
        tails = [law[value >= v - 1e-12].sum() for v in value]  # t just below v
        ratio = max(ratio, *(tails / (2 * np.exp(-2 * value**2 / (3 * ARCTAN.kappa_1**2)))))
    what = "P(weighted sum > κ₁ s) / (2 exp(−2s²/d)), d = 3 opponents, arctan link, all outcomes"
    yield amended(what, ratio, "<=", 1)


# --- the spectrum of the Hessian -------------------------------------------------------------------------------------


def spectrum_failure(items: float, mean: float) -> float:
    """Logarithm of the matrix Chernoff bound on P(second-smallest eigenvalue < half its `mean`).

    Of the Laplacian of randomly drawn pairs, each a matrix of norm 2.
    """
    return math.log(items - 1) - LOWER * mean / 2


def two_items_eigenvalue(theta: float) -> float:
    """Second-smallest eigenvalue of the logistic Hessian of two items of strengths theta and -theta that met once."""
    return float(2 * LOGISTIC.curvature(2 * theta))


def curvature_checks() -> Iterator[Check]:
    """What Lemmas A.3 and B.4 share: curvature within the strengths supplied, and the Hessian of two items."""
    kappa, flat = condition_number(), flattest(LOGISTIC)
    for says in (supplied, amended):
        yield says("least (−log F)'' at |v_i − v_j| ≤ 4, logistic, times κ₂", flat * kappa, ">=", 1)
    yield argument("the same with κ₂ − 1", flat * (kappa - 1), "<", 1)
    wins, theta, step = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([4.0, -4.0]), 1e-5
    hessian = [(gradient(wins, theta + step * e) - gradient(wins, theta - step * e)) / (2 * step) for e in np.eye(2)]
    off = two_items_eigenvalue(4.0) - np.linalg.eigvalsh(hessian)[1]
    yield agree("λ₂ of two items, off that of the differences of the gradient", off)


@claim("cai2025:lem-a.3")
def check_lemma_a3(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma A.3 without and with the conditions that it leaves out."""
    kappa, n, mean = condition_number(), 25, 1.9
    ring = np.roll(np.eye(n), 1, axis=0)
    cycle = float(np.linalg.eigvalsh(2 * np.eye(n) - ring - ring.T)[1])
    cases = boundaries(items, C_SPECTRUM, 9)
    worst = max(spectrum_failure(k, np_) + 10 * math.log(k) for k, np_ in cases)
    what = f"largest n¹⁰ P(λ₂ of the Laplacian < np/2), np ≥ {C_SPECTRUM:g} log n, n ≤ {max(items):.0e}"
    yield printed("λ₂, two items that are compared, θ* = (4, −4), v = θ*", two_items_eigenvalue(4.0), ">=", 1 / kappa)
    yield printed(f"largest λ₂, n = {n}, np = {mean}, any graph with event A₀", cycle / 4, ">=", mean / (2 * kappa))
    for says in (supplied, amended):
        yield says(what, math.exp(worst), "<=", 1)
    closed = math.log(cases[0][0] - 1) + (10 - C_SPECTRUM * LOWER / 2) * math.log(cases[0][0])
    yield agree(f"its logarithm, off the closed form at n = {cases[0][0]}", worst - closed)
    closed = 2 - 2 * math.cos(2 * math.pi / n)
    yield agree(f"λ₂ of a cycle of {n} items, off 2 − 2 cos(2π/n)", cycle - closed)
    yield from curvature_checks()
