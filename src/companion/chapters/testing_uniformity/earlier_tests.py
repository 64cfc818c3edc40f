"""Sections 1 and 2: what a test needs if anything may be the alternative, and the tests for that."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from companion.chapters.testing_uniformity.fixed_epsilon import unif_samples
from companion.chapters.testing_uniformity.independence import sign_law
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_pairings, all_rankings, distance_counts
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.unif import pair_statistic, unif_null_threshold

#: Both errors of a test that tells two laws apart, as the papers of Section 2 count.
THIRD = 1 / 3


def halves_distance(cells: int, n: int) -> Fraction:
    """Total variation distance of n samples of a uniformly random half of the cells from n samples of all; exact."""
    half, total = cells // 2, Fraction(0)
    for distinct in range(1, min(n, cells) + 1):
        # ways to fall into so many cells: Stirling's numbers of the second kind, times the cells in order
        surjections = sum((-1) ** i * math.comb(distinct, i) * (distinct - i) ** n for i in range(distinct + 1))
        ways = math.comb(cells, distinct) * surjections
        inside = (
            Fraction(math.comb(cells - distinct, half - distinct), math.comb(cells, half)) if distinct <= half else 0
        )
        total += ways * abs(inside / Fraction(half) ** n - Fraction(1, cells**n))
    return total / 2


@claim("busafekete2021:sec-1:polynomial")
def check_polynomial(
    degrees: Sequence[int] = (1, 10, 100, 1000), items: int = 10**4, delta: float = 0.05, most: int = 8
) -> Iterator[Check]:
    """No polynomial in m: below the root of m! nobody tells all rankings from a random half of them."""
    for degree in degrees:
        # power exceeds size by n(n−1)/m! at most
        logs = [(math.lgamma(m + 1) + math.log1p(-2 * delta)) / 2 - degree * math.log(m) for m in (items, items + 1)]
        of = f"log of √((1−2δ) m!), of which any test needs more, over m^{degree}"
        yield printed(f"{of}, ε < 1/2, δ = {delta:g}, m = {items:,}", logs[0], ">", 0)
        yield printed(f"growth of that log to the next m, power {degree}", logs[1] - logs[0], ">", 0)
    shares = [halves_distance(d, n) / Fraction(n * (n - 1), d) for d in (6, 24, 120) for n in range(2, most)]
    what = (
        f"distance of n samples of a random half from those of all m! over n(n−1)/m!, {len(shares)} cases, m = 3 to 5"
    )
    yield argument(f"{what}: largest", float(max(shares)), "<=", 1)
    # two samples of a half are equal with chance 2/m!, of all with half of that
    yield argument("the same, two samples, m = 3", float(shares[0]), "==", 1 / 2)


def empirical_distance(rows: NDArray[np.int64]) -> float:
    """Total variation distance of the uniform law from that of the rankings `rows`, by sorting these."""
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    return float(np.maximum(counts / len(rows) - 1 / math.factorial(rows.shape[1]), 0).sum())


def listed_distance(rows: NDArray[np.int64]) -> float:
    """`empirical_distance` by going through all m! rankings."""
    every = all_rankings(rows.shape[1])
    share = (rows[None] == every[:, None]).all(axis=2).mean(axis=1)
    return float(abs(share - 1 / len(every)).sum() / 2)


def singles_by_distance(items: int, rankings: int) -> dict[float, set[int]]:
    """Of all data sets of some rankings: how many rankings may be seen once, by the plug-in statistic."""
    every, seen = all_rankings(items), defaultdict[float, set[int]](set)
    for chosen in combinations_with_replacement(range(len(every)), rankings):
        seen[empirical_distance(every[list(chosen)])].add(sum(n == 1 for n in Counter(chosen).values()))
    return seen


@claim("busafekete2021:sec-2:tv-statistic")
def check_tv_statistic(items: int = 50, rankings: int = 1000) -> Iterator[Check]:
    """The plug-in statistic: a sum over m! rankings, or over those that were seen; and not that of the other tests."""
    looked = rankings * items * math.ceil(math.log2(rankings))
    what = f"log₁₀ of the entries that sorting {rankings:,} rankings of {items} items looks at, against log₁₀ m!"
    yield printed(what, math.log10(looked), ">=", math.lgamma(items + 1) / math.log(10))
    cells = [(m, n) for m in (2, 3, 4, 5) for n in (2, 5, 40, 500)]
    rng = stream("busafekete2021 seen rankings", {})
    data = [all_rankings(m)[rng.integers(math.factorial(m), size=n)] for m, n in cells]
    off = max(abs(empirical_distance(rows) - listed_distance(rows)) for rows in data)
    yield amended(
        f"the sum over what was seen, off that over all m!, {len(cells)} data sets", off, "==", 0, error=ROUNDING
    )
    what = "4 rankings of 3 items: most numbers of rankings seen once (Paninski's statistic) that go with one distance"
    yield amended(what, max(map(len, singles_by_distance(3, 4).values())), ">", 1)
    few = [rows for rows in data if len(rows) <= math.factorial(rows.shape[1])]
    by_count = [1 - len(np.unique(rows, axis=0)) / math.factorial(rows.shape[1]) for rows in few]
    off = max(abs(empirical_distance(rows) - share) for rows, share in zip(few, by_count, strict=True))
    what = f"1 less the share of the m! rankings that was seen, off it, {len(few)} of them with n ≤ m!"
    yield amended(what, off, "==", 0, error=ROUNDING)


def log_repeats(law: Mallows) -> float:
    """log of the chance that two rankings of a Mallows law are equal."""
    return Mallows(law.n_items, 2 * law.theta).log_normaliser - 2 * law.log_normaliser


@claim("busafekete2021:sec-2:adapt")
def check_adapt(items: Sequence[int] = (30, 50, 100), epsilon: float = 0.5, delta: float = 0.05) -> Iterator[Check]:
    """Tests that see which rankings are equal, and no more, on Mallows laws: before any two are, they see nothing.

    On the two cells of a pair of items the same tests see which rankings agree on it, and that is all UNIF looks at.
    """
    for m in items:
        law = Mallows(m, theta_at(m, epsilon))
        # n(n−1)/2 couples, each equal with that chance: below this n no two are with probability 1/2 and more
        blind = -log_repeats(law) / 2 / math.log(10)
        enough = math.log10(unif_samples(m, law.theta, delta))
        of = f"ε = {epsilon:g}, m = {m}: log₁₀ of the rankings up to which all differ, more likely than not"
        yield printed(f"{of}, less that of UNIF's k", blind - enough, ">", 3, reading="each ranking is a cell")
    counts = distance_counts(4) * math.exp(-0.5) ** (2.0 * np.arange(7))
    direct = math.log(counts.sum()) - 2 * Mallows(4, 0.5).log_normaliser
    yield argument(
        "that chance for 4 items, log, off a sum over all",
        log_repeats(Mallows(4, 0.5)) - direct,
        "==",
        0,
        error=ROUNDING,
    )
    signs, coincident = coincidences(3, 2)
    n, pairs = signs.shape[1:]
    y = pair_statistic(signs)
    whole = np.rint(n * y)
    orders = int((np.sign(np.subtract.outer(whole, whole)) != np.sign(np.subtract.outer(coincident, coincident))).sum())
    of = f"{len(y)} data sets, n = {n}, {pairs} pairs"
    what = f"couples of them that UNIF and the collision tests of its pairs, added up, order differently, of {of}"
    yield printed(what, orders, ">", 0, reading="the two orders of a pair are cells")
    off = abs(y - (4 * coincident / n - pairs * (n - 2))).max()
    yield amended(
        f"Y off 4/n times the couples of rankings that agree on a pair, less m(n − 2)/2, {of}",
        off,
        "==",
        0,
        error=ROUNDING,
    )


def coincidences(rankings: int, pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All signs that some rankings can have on some pairs, and how many couples of rankings agree, over the pairs."""
    signs = np.array(list(product((-1, 1), repeat=rankings * pairs))).reshape(-1, rankings, pairs)
    return signs, sum((signs[:, a] == signs[:, b]).sum(axis=1) for a, b in combinations(range(rankings), 2))


def singles_moments(n: int, chances: ArrayLike, counts: ArrayLike) -> tuple[float, float]:
    """Mean and variance of the number of cells with just one of n samples; `counts` cells of each chance."""
    p, c = np.asarray(chances, float), np.asarray(counts, float)
    one = n * p * np.exp((n - 1) * np.log1p(-p))
    mean = float(c @ one)
    two = n * (n - 1) * np.outer(p, p) * np.exp((n - 2) * np.log1p(-np.add.outer(p, p)))
    return mean, mean + float(((np.outer(c, c) - np.diag(c)) * two).sum()) - mean**2


def repeats_moments(n: int, chances: ArrayLike, counts: ArrayLike) -> tuple[float, float]:
    """Mean and variance of the number of couples of equal samples among n."""
    p, c = np.asarray(chances, float), np.asarray(counts, float)
    two, three = float(c @ p**2), float(c @ p**3)
    couples = n * (n - 1) / 2
    return couples * two, couples * two * (1 - two) + n * (n - 1) * (n - 2) * (three - two**2)


def larger_error(null: tuple[float, float], law: tuple[float, float]) -> float:
    """Bound on the larger error of the best threshold between two means: Cantelli's inequality on both sides."""
    (mean, variance), (other, of_other) = null, law
    reach = abs(other - mean) / (1 + math.sqrt(of_other / variance))
    return variance / (variance + reach**2)


def hard(cells: int, epsilon: float) -> tuple[list[float], list[int]]:
    """Paninski's alternatives at distance epsilon: half of the cells (1 + 2 epsilon) / d, the others less."""
    return [(1 + 2 * epsilon) / cells, (1 - 2 * epsilon) / cells], [cells // 2, cells // 2]


def blur(cells: int, epsilon: float, n: int) -> float:
    """Chi-square distance from uniform of n samples of a randomly chosen law of `hard`, its cells in couples; exact."""
    ones = np.arange(cells // 2 + 1)
    overlap = (4 * ones - cells) / cells
    ratio = (1 + 4 * epsilon**2 * overlap) ** n
    return max(float(stats.binom.pmf(ones, cells // 2, 0.5) @ ratio) - 1, 0.0)


def order_samples(cells: int, epsilon: float, constant: float) -> int:
    """A constant times sqrt(d) / epsilon^2, rounded up."""
    return math.ceil(constant * math.sqrt(cells) / epsilon**2)


CELLS = (256, 1024, 10**4, 10**6, 10**8)


def enough_and_needed(
    grid: Sequence[tuple[int, float]], moments: Callable[..., tuple[float, float]], upper: float, lower: float, at: str
) -> Iterator[Check]:
    """√d/ε² samples of (d, ε) on a grid: with `upper` times as many one statistic tells, with `lower` times no test."""
    errors = [
        larger_error(moments(n, [1 / d], [d]), moments(n, *hard(d, e)))
        for d, e in grid
        for n in [order_samples(d, e, upper)]
    ]
    yield printed(f"larger error with {upper:g} √d/ε² samples, at most, {at}", max(errors), "<=", THIRD)
    small = [(d, e) for d, e in grid if d <= 10**4]
    gain = max(math.sqrt(blur(d, e, math.floor(lower * math.sqrt(d) / e**2))) / 2 for d, e in small)
    yield printed(f"power less size of any test with {lower:g} √d/ε², at most, d ≤ 10⁴", gain, "<", 1 - 2 * THIRD)


@claim("busafekete2021:sec-2:paninski")
def check_paninski(upper: float = 1.5, lower: float = 0.1) -> Iterator[Check]:
    """The coincidence test on the hardest alternatives, and the bound for every test, where epsilon is no smaller than
    2 d^(-1/4).
    """
    grid = [(d, e) for d in CELLS for e in np.geomspace(2 * d**-0.25, 0.5, 6)]
    at = f"{len(grid)} cases, d = {CELLS[0]} to 10⁸, ε = 2d^(−1/4) to 1/2"
    yield from enough_and_needed(grid, singles_moments, upper, lower, at)
    law = singles_law(6, [1 / 3, 1 / 12], [2, 4])
    number = np.arange(len(law))
    mean, variance = singles_moments(6, [1 / 3, 1 / 12], [2, 4])
    yield argument("mean of the singles, 6 cells, against their law", mean, "==", float(law @ number), error=ROUNDING)
    yield argument("their variance", variance, "==", float(law @ (number - mean) ** 2), error=ROUNDING)


@claim("busafekete2021:sec-2:general-epsilon")
def check_general_epsilon(upper: float = 2.0, lower: float = 0.1) -> Iterator[Check]:
    """The same rate for every epsilon, by counting couples that are equal."""
    grid = [(d, e) for d in (16, *CELLS) for e in np.geomspace(1e-3, 0.5, 10)]
    at = f"{len(grid)} cases, d = 16 to 10⁸, ε = 0.001 to 1/2"
    yield from enough_and_needed(grid, repeats_moments, upper, lower, at)
    p, n = np.array([0.5, 0.3, 0.2]), 4
    draws = np.array(np.meshgrid(*[range(3)] * n)).reshape(n, -1)
    chance = p[draws].prod(axis=0)
    couples = sum((draws[a] == draws[b]) for a, b in combinations(range(n), 2))
    mean, variance = repeats_moments(n, p, [1, 1, 1])
    yield argument(
        "mean number of equal couples, 3 cells, against all outcomes", mean, "==", chance @ couples, error=ROUNDING
    )
    yield argument("its variance", variance, "==", chance @ (couples - mean) ** 2, error=ROUNDING)


@claim("busafekete2021:sec-2:plug-in")
def check_plug_in(most: int = 100, epsilons: Sequence[float] = (0.01, 0.1, 0.25, 0.4, 0.49)) -> Iterator[Check]:
    """Two cells: the best test against both alternatives at a distance orders outcomes as the plug-in test does."""
    wrong, levels = 0, 0
    for n in range(2, most + 1):
        ones = np.arange(n + 1)
        distance = abs(2 * ones - n)
        for epsilon in epsilons:
            up, down = (math.log(1 + s * 2 * epsilon) for s in (1, -1))
            likelihood = np.logaddexp(ones * up + (n - ones) * down, ones * down + (n - ones) * up)
            rises = [
                likelihood[distance == a].max() < likelihood[distance == b].min()
                for a, b in pairwise(np.unique(distance))
            ]
            wrong, levels = wrong + rises.count(False), levels + len(rises)
    what = (
        f"of {levels} steps of the plug-in statistic, n = 2 to {most}: how many the likelihood ratio does not rise with"
    )
    yield printed(what, wrong, "==", 0)


def singles_law(n: int, chances: Sequence[float], counts: Sequence[int]) -> NDArray[np.float64]:
    """Law of the number of cells with just one of n samples, exactly: of Poisson numbers, given their sum."""
    r = np.arange(n + 1)

    def join(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros_like(a)
        for i, j in zip(*np.nonzero(a > 1e-300), strict=True):
            out[i:, j:] += a[i, j] * b[: n + 1 - i, : n + 1 - j]
        return out

    total = np.eye(n + 1) * (r == 0)
    for p, count in zip(chances, counts, strict=True):
        cell = np.zeros((n + 1, n + 1))
        cell[:, 0] = stats.poisson.pmf(r, n * p)
        cell[1] = np.roll(cell[1], 1)
        for bit in f"{int(count):b}"[::-1]:
            total = join(total, cell) if bit == "1" else total
            cell = join(cell, cell)
    return np.asarray(total[n] / stats.poisson.pmf(n, n))


def singles_power(n_items: int, theta: float, n: int, delta: float) -> tuple[float, float]:
    """Size and power of the coincidence test on rankings: it rejects where few rankings were seen just once. Exact."""
    counts: list[int] = distance_counts(n_items).tolist()
    null = singles_law(n, [1 / sum(counts)], [sum(counts)])
    law = singles_law(
        n, (np.exp(-theta * np.arange(len(counts))) / math.exp(Mallows(n_items, theta).log_normaliser)).tolist(), counts
    )
    edge = int(np.searchsorted(np.cumsum(null), delta, side="right"))
    return float(null[:edge].sum()), float(law[:edge].sum())


def two_pairs_power(n_items: int, theta: float, n: int, delta: float) -> float:
    """Power of UNIF at its exact threshold for 4 or 5 items, over all pairings; exact."""
    parts = [np.delete(np.arange(n_items), out) for out in range(n_items)] if n_items == 5 else [np.arange(4)]
    threshold = unif_null_threshold(2, n, delta)
    a, b, c = (x.ravel() for x in np.meshgrid(*[np.arange(n + 1)] * 3))
    a, b, c = (x[a + b + c <= n] for x in (a, b, c))
    d = n - a - b - c
    ways = special.gammaln(n + 1) - sum(special.gammaln(x + 1) for x in (a, b, c, d))
    far = (2 * (c + d) - n) ** 2 + (2 * (b + d) - n) ** 2 >= n * threshold - ROUNDING
    powers = []
    for part in parts:
        for pairs in all_pairings(4):
            law = sign_law(n_items, math.exp(-theta), part[pairs]).ravel()
            logs = ways + sum(special.xlogy(x, p) for x, p in zip((a, b, c, d), law, strict=True))
            powers.append(np.exp(logs[far]).sum())
    return float(np.mean(powers))


@claim("busafekete2021:sec-2:small-m")
def check_small_m(epsilon: float = 0.5, delta: float = 0.05, rankings: Sequence[int] = (10, 20, 40)) -> Iterator[Check]:
    """The coincidence test against UNIF, both at their exact thresholds, for four and five items."""
    for m in (4, 5):
        theta = theta_at(m, epsilon)
        for n in rankings:
            size, power = singles_power(m, theta, n, delta)
            lead = two_pairs_power(m, theta, n, delta) - power
            yield printed(
                f"power of UNIF less that of the coincidence test, m = {m}, ε = {epsilon:g}, n = {n}", lead, ">", 0.01
            )
            yield argument(f"size of the coincidence test there, m = {m}, n = {n}", size, "<=", delta)
