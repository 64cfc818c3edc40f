"""The same tails where voters draw their pairs with replacement: the lemmas of Appendix B.2."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
from scipy import stats

from companion.chapters.edge_privacy import tails
from companion.chapters.edge_privacy.link_conditions import KAPPA_1
from companion.instruments.allowance import ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT

#: Constants in mL >= c n log n, ours: for the gradient, the spectrum, and the least whole one for the degrees.
C_GRADIENT_VOTERS, C_SPECTRUM_VOTERS, C_DEGREES_VOTERS = 2.0, 72.0, 43.0
#: Few items and few draws; how many times its boundary mL is; items and draws of which the exact law is had.
FEW = tuple(product((2, 3, 5, 20, 100), (1, 2, 3, 7, 20, 50, 200)))
MORE, MANY_MORE = (1, 2, 10, 100), (1, 1.5, 3, 10, 1e2, 1e4, 1e8)
DESIGNS = ((100, 1), (100, 40), (10, 100), (30, 300))
#: Items, draws and s at which Lemma B.2's tail is looked at over the pairs drawn; the mean degree S, given the pairs.
LEMMA, DEGREES = (100, 30_000, 14.0), 100


def voter_degree_failure(items: int, draws: int) -> tuple[float, float]:
    """P(a degree outside [S/2, 3S/2]), S = 2mL/n, pairs drawn with replacement: of one item, and the union bound."""
    law = stats.binom(draws, 2 / items)
    one = float(law.cdf(-(-draws // items) - 1) + law.sf(3 * draws // items))
    return one, min(1.0, items * one)


def listed_degree_failure(items: int, draws: int) -> float:
    """The same for one item, by listing all draws."""
    lists = product(combinations(range(items), 2), repeat=draws)
    degrees = np.array([sum(0 in pair for pair in pairs) for pairs in lists])
    return float(((degrees < draws / items) | (degrees > 3 * draws / items)).mean())


@claim("cai2025:lem-b.1")
def check_lemma_b1(items: Sequence[int] = tails.SIZES) -> Iterator[Check]:
    """Lemma B.1 below its boundary mL = 60 n log n, by Chernoff's bound, and the bound that it uses."""
    mean = {n: 2 * C_DEGREES_VOTERS * math.log(n) for n in items}
    enough = max(n**9 * (math.exp(-tails.UPPER * s) + math.exp(-tails.LOWER * s)) for n, s in mean.items())
    grid = f"n = {min(items)} to {max(items):.0e}"
    what = (
        f"largest n⁸ × Chernoff's bound on P(some degree outside), mL = {C_DEGREES_VOTERS:g} n log n, below 60, {grid}"
    )
    yield printed(what, enough, "<=", 1)
    powers = [9 - 2 * C_DEGREES_VOTERS * exponent for exponent in (tails.UPPER, tails.LOWER)]
    yield agree("the same, off its value at n = 2", enough - sum(2.0**power for power in powers))
    ratio = max(voter_degree_failure(n, draws)[0] / (2 * math.exp(-draws / (6 * n))) for n, draws in FEW)
    yield printed("P(one degree outside) over its printed Chernoff bound, n ≤ 100 and mL ≤ 200", ratio, "<=", 1)
    few = 4, 5
    off = voter_degree_failure(*few)[0] - listed_degree_failure(*few)
    yield agree("P(one degree outside), off the listing of all draws, n = {}, mL = {}".format(*few), off)


@claim("cai2025:lem-b.3")
def check_lemma_b3(items: Sequence[int] = tails.SUMS) -> Iterator[Check]:
    """Lemma B.3 from the exact laws: the sum alone within 2 n^-8, as its proof concludes."""
    yield from tails.laplace_checks(items)


def sub_exponential(n: int = 10, scale: float = 8.0) -> Iterator[Check]:
    """Whether a sum of Laplace variables is sub-exponential with (2 lambda, 4): log E e^(s X) <= 2 (lambda s)^2."""
    s = 1 / 10
    growth = -n * math.log1p(-((scale * s) ** 2))
    what = f"log E exp(s Σ w) over 2λ²s², n = {n}, λ = {scale:g}, s = {s:g} < 1/4"
    yield printed(what, growth / (2 * (scale * s) ** 2), "<=", 1)
    grid = np.linspace(1e-6, 1 / (2 * scale), 200)
    most = float((-np.log1p(-((scale * grid) ** 2)) / (2 * (scale * grid) ** 2)).max())
    yield amended("the same over 2nλ²s², all s ≤ 1/(2λ): parameters (2λ√n, 2λ)", most, "<=", 1)


@claim("cai2025:lem-b.3:proof")
def check_lemma_b3_proof(items: Sequence[int] = tails.SUMS) -> Iterator[Check]:
    """Which term of the proof's minimum is the smaller one, and what is true where it is the other."""
    last = tails.last_linear()
    for n, says in ((last, printed), (last + 1, argument)):
        t = 8 * math.sqrt(n * math.log(n))  # in units of lambda
        yield says(f"t²/(8nλ²) at t = 8λ √(n log n), n = {n}, against t/(4λ)", t**2 / (8 * n), "<=", t / 4)
    yield from sub_exponential()
    worst = max(tails.sum_failure(k) * float(k) ** 8 for k in items)
    yield amended(f"largest n⁸ P(the sum exceeds its bound), n = {min(items)} to {max(items):,}", worst, "<=", 2)
    yield agree("the same, off 1: for one item it is sure", worst - 1)
    yield tails.sum_tail_check()


@claim("cai2025:lem-b.2")
def check_lemma_b2(items: Sequence[int] = tails.SIZES) -> Iterator[Check]:
    """Lemma B.2 with c = 2, by Bernstein."""
    deviation = math.sqrt(33)
    cases = [(n, 2 * C_GRADIENT_VOTERS * math.log(n) * more) for n in items for more in MANY_MORE]
    worst = max(tails.gradient_failure(n, mean, deviation) + 10 * math.log(n) for n, mean in cases)
    what = f"largest n¹⁰ P(the gradient exceeds its bound), mL ≥ {C_GRADIENT_VOTERS:g} n log n"
    grid = f"n = {min(items)} to {max(items):.0e}"
    yield from tails.gradient_checks(f"{what}, {grid}", min(items), worst, 2 * C_GRADIENT_VOTERS, deviation)


def coordinate_law(items: int, draws: int) -> tuple[tails.Array, tails.Array]:
    """Exact law of a coordinate of the gradient at theta = 0: values and probabilities.

    Logistic link. Each of `draws` comparisons holds the item with probability 2/n and then adds 1/2 or -1/2.
    """
    step = np.array([1 / items, 1 - 2 / items, 1 / items])
    law = np.ones(1)
    for _ in range(draws):
        law = np.convolve(law, step)
    return np.arange(-draws, draws + 1) / 2, law


def given_pairs(degree: int, chance: float) -> tuple[tails.Array, tails.Array]:
    """What the size of a coordinate can be, given an item's number of comparisons, and log P(it is at least that).

    Every rival wins with the same chance.
    """
    won = np.arange(degree + 1)
    size = np.abs(won - degree * chance)
    order = np.argsort(-size)
    return size[order], np.logaddexp.accumulate(stats.binom.logpmf(won, degree, chance)[order])


@claim("cai2025:lem-b.2:proof")
def check_lemma_b2_proof() -> Iterator[Check]:
    """Whether a coordinate of the gradient is sub-Gaussian with its variance as parameter; over all draws, or given."""
    n, draws, s = LEMMA
    values, law = coordinate_law(n, 1)
    at = f"θ* = 0, κ₁ = {KAPPA_1:g}, n = {n}, mL = {draws:,} ≥ 60 n log n"
    growth, variance = draws * math.log(law @ np.exp(s * values)), KAPPA_1**2 * 2 * draws / n
    yield printed(f"log E exp(s g), s = {s:g}, {at}", growth, "<=", s**2 * variance / 2, error=ROUNDING)
    closed = math.log1p(2 / n * (math.cosh(s / 2) - 1))
    yield agree("the same, over mL, off log(1 + 2(cosh(s/2) − 1)/n)", growth / draws - closed)
    t = draws / 2 - 0.25  # beyond it every draw holds the item, and all go one way
    beyond = math.log(2) + draws * math.log(law[-1])
    bound = math.log(2) - t**2 / (2 * variance)
    yield printed(f"log P(|g| > {t:,.2f}), {at}", beyond, "<=", bound, error=ROUNDING)
    yield argument("60 n log n over mL", 60 * n * math.log(n) / draws, "<=", 1)
    degrees, chances = range(1, 3 * DEGREES // 2 + 1), [float(LOGISTIC.cdf(gap)) for gap in (0.0, 1.0, 2.0)]
    laws = [(d, *given_pairs(d, chance)) for d, chance in product(degrees, chances)]
    at = f"given the pairs, S = {DEGREES}, each degree up to 3S/2, all t, strengths 0, 1 and 2 ahead"
    as_printed = max(float((log - math.log(2) + size**2 / (2 * DEGREES)).max()) for _, size, log in laws)
    hoeffding = max(float((log - math.log(2) + 2 * size**2 / d).max()) for d, size, log in laws)
    yield supplied(f"largest log of P(|g| > t) / (2 exp(−t²/(2S))), {at}", as_printed, "<=", 0)
    yield amended(f"largest log of P(|g| > t) / (2 exp(−2t²/d)), {at}", hoeffding, "<=", 0)
    worst, off = 0.0, list[float]()
    for items, draws in DESIGNS:
        values, law = coordinate_law(items, draws)
        off += [float(law @ values**2) - draws / (2 * items), float(law @ values), law.sum() - 1]
        for t in values[values > 0] - 1e-9:
            bound = 2 * math.exp(-(t**2) / (2 * (draws / items / 2 + t / 3)))
            worst = max(worst, float(law[np.abs(values) > t].sum()) / bound)
    yield amended("largest P(|g| > t) / (2 exp(−t²/(S/2 + 2t/3))), all t, four designs", worst, "<=", 1)
    yield agree("mass, mean and variance of those laws, off 1, 0 and mL/(2n)", off)


@claim("cai2025:lem-b.4")
def check_lemma_b4(items: Sequence[int] = tails.SIZES) -> Iterator[Check]:
    """Lemma B.4 without and with a bound on the true strengths."""
    kappa, worst, apart = tails.condition_number(), 0.0, 0.0
    for n, more in product(items, MORE):
        draws = math.ceil(C_SPECTRUM_VOTERS * n * math.log(n)) * more
        log_low, high = tails.spectrum_failure(n, 2 * draws / (n - 1)), voter_degree_failure(n, draws)[1]
        worst = max(worst, (math.exp(log_low) + high) * float(n) ** 10)
        apart = max(apart, abs(math.log(n - 1) - tails.LOWER * draws / (n - 1) - log_low))
    what = f"largest n¹⁰ P(λ₂ < S/2 or a degree > 3S/2), mL ≥ {C_SPECTRUM_VOTERS:g} n log n, n ≤ {max(items):.0e}"
    yield printed("λ₂ / mL, two items, θ* = (4, −4), at θ = θ*", tails.two_items_eigenvalue(4.0), ">=", 1 / (2 * kappa))
    for says in (supplied, amended):
        yield says(what, worst, "<=", 1)
    what = "log of the matrix Chernoff bound, off log(n − 1) − (1 − log 2)/2 · mL/(n − 1)"
    yield agree(what, apart)
    yield from tails.curvature_checks()


@claim("cai2025:lem-b.4:proof")
def check_lemma_b4_proof() -> Iterator[Check]:
    """Two numbers in the proof of Lemma B.4."""
    for n in (2, 3, 10):
        vectors = [np.eye(n)[i] - np.eye(n)[j] for i, j in combinations(range(n), 2)]
        value = float(np.linalg.eigvalsh(np.mean([np.outer(v, v) for v in vectors], 0))[1])
        what = f"non-zero eigenvalue of the mean Laplacian, n = {n}"
        yield printed(what, value, "==", 2 / n, error=ROUNDING)
        yield amended(what, value, "==", 2 / (n - 1), error=ROUNDING)
    n = 100
    net = n * math.log(2)  # a net of width 1/2 of a ball has (1 / (1/2))^n points at least, by their volumes
    what = f"log of the points of a net of width ½ times n⁻¹² over 100 n⁻¹⁰, n = {n}"
    yield printed(what, net - 2 * math.log(n) - math.log(100), "<=", 0)
    delta, as_printed = 1 / 2, math.exp(-1 / 8)
    base = math.exp(-delta) / (1 - delta) ** (1 - delta)
    what = "e^(−δ) / (1 − δ)^(1 − δ) at δ = 1/2"
    yield printed(what, base, "==", as_printed, error=ROUNDING)
    yield amended(f"{what}, against e^(−1/8)", base, "<=", as_printed)
    yield agree(f"{what}, off √(2/e)", base - math.sqrt(2 / math.e))


def path_laplacian(n: int) -> np.ndarray:
    """Laplacian of n items, each compared with the next once."""
    steps = np.eye(n)[:-1] - np.eye(n)[1:]
    return np.asarray(steps.T @ steps)


@claim("cai2025:lem-b.4:projected")
def check_projected(sizes: Sequence[int] = (2, 3, 10)) -> Iterator[Check]:
    """Whether the second-smallest eigenvalue is the smallest of the projected matrix: 1 is still among its vectors."""
    for n in sizes:
        laplacian = path_laplacian(n)
        project = np.eye(n) - np.ones((n, n)) / n
        basis = np.linalg.svd(np.ones((1, n)))[2][1:]  # of what is orthogonal to 1
        second = float(np.linalg.eigvalsh(laplacian)[1])
        at = f"path of {n} items"
        least = float(np.linalg.eigvalsh(project @ laplacian @ project)[0])
        yield printed(f"λ_min(PHP) less λ₂(H), {at}", least - second, "==", 0, error=ROUNDING)
        inside = float(np.linalg.eigvalsh(basis @ laplacian @ basis.T)[0])
        yield amended(f"least eigenvalue of H on 1^⊥, less λ₂(H), {at}", inside - second, "==", 0, error=ROUNDING)
        yield agree(f"λ₂ off 2 − 2cos(π/n), {at}", second - 2 + 2 * math.cos(math.pi / n))


@claim("cai2025:lem-b.4:winner")
def check_winner() -> Iterator[Check]:
    """The coefficient of a comparison in the Hessian, if the first item lost: (-log F)'' at the other sign."""
    x, step = np.linspace(-4, 4, 81), 1e-3
    for link in (LOGISTIC, PROBIT, ARCTAN):
        lost = -link.log_cdf(-np.array([x - step, x, x + step]))  # of an answer that the second item won
        bend = (lost[0] - 2 * lost[1] + lost[2]) / step**2
        at = f"{link.name} link, leads up to 4"
        first, winner = (float(np.abs(bend - link.curvature(sign * x)).max()) for sign in (1, -1))
        yield printed(
            f"curvature of a lost answer off c, largest, {at}", first, "<=", 1e-5, reading="I is one of the pair"
        )
        yield printed(f"the same, {at}", winner, "<=", 1e-5, reading="I is the winner")
        yield amended(f"curvature of a lost answer off (−log F)″ at the other sign, {at}", winner, "<=", 1e-5)


@claim("cai2025:lem-b.2:number")
def check_number(constant: int = 33) -> Iterator[Check]:
    """The square root of 33 to two places."""
    hundredths = math.isqrt(4 * 10_000 * constant) + 1 >> 1  # rounded to nearest
    what = "√33 in hundredths, rounded"
    yield printed(what, hundredths, "==", 575, reading="rounded to two places")
    near = abs(math.sqrt(constant) - 5.75)
    yield printed("√33 off 5.75", near, "<=", 0.01, reading="about, to a hundredth")
    yield amended(what, hundredths, "==", 574)
