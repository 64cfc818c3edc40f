"""Theorem 11 and Corollary 12: how many voters are enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.chapters.local_aggregation.local_answers import (
    PER_QUERY,
    TAIL,
    answer_variance,
    least_query,
    lemma_queries,
    one_pair_each,
    overload,
    unanimous,
    variance_gap,
)
from companion.chapters.local_aggregation.local_costs import (
    design_cost,
    designs,
    form_of,
    placement_cost,
    wrong_chances,
)
from companion.chapters.private_aggregation.reduction_two import contrary
from companion.instruments.aggregation import numbered, printed_rate
from companion.instruments.allowance import Z, agree
from companion.instruments.sweep import stream
from companion.instruments.uniformity import exponent, least
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.alabi2022 import PrintedKwikSort, algorithm_3, plus_chances
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import expected_cost, queries
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions


def thresholds(zeta: float = 1.0) -> dict[str, int]:
    """From how many items on Theorem 11 says something.

    ``ordered``, ``unordered``: its least q is at most the number of pairs; ``bound``: m^1.5 q is below m^3, Corollary
    9's; ``mended``, ``fresh``: at small epsilon an answer varies less than with one pair each, for m blocks with
    centred reports and as few of them as last, and for fresh blocks (201: more than 200).
    """
    found = {
        "ordered": least(lambda m: lemma_queries(m, zeta) <= m * (m - 1)),
        "unordered": least(lambda m: 2 * lemma_queries(m, zeta) <= m * (m - 1)),
        "bound": least(lambda m: lemma_queries(m, zeta) <= m**1.5),
    }
    for name in ("mended", "fresh"):
        found[name] = least(lambda m, name=name: m > 200 or _variance_share(m, name) < 1, start=4)  # type: ignore[misc]
    return found


def _variance_share(n_items: int, name: str, tail: float = 1e-6) -> float:
    """Variance of an answer over that with one pair each, in the limit of small epsilon."""
    q, pairs = queries(n_items, tail), math.comb(n_items, 2)
    if name == "fresh":
        return q / pairs
    return n_items * least(lambda k: overload(q, n_items, k) <= tail, start=1) ** 2 / pairs


def truth(n_items: int) -> NDArray[np.float64]:
    """Fractions of voters who all rank the items by their codes."""
    return np.triu(np.ones((n_items, n_items)), 1)


def _large_epsilon() -> Iterator[Check]:
    """Two items, two voters, one a block: printed reports err however large epsilon is."""
    q, grid = lemma_queries(2), np.array([1e3, 1e5])
    costs = [design_cost(algorithm_3(2, q, e, counter="query").mechanism, 2) for e in grid]
    slope = exponent(grid, np.array(costs) * grid)
    what = f"exponent of ε in E K/(m^1.5 q/(ε√n)), m = n = 2, both agree, q = {q}, ε = {grid[0]:g} to {grid[1]:g}"
    yield printed(what, slope, "<=", 0.0, error=1e-6)
    yield argument("largest E K there: half of the pivots, a fair coin each", max(costs), "==", 0.25, error=1e-6)


def spoiled(n_items: int, voters: int) -> float:
    """Cost, epsilon being 2 q / m and all voters agreeing, of an A that asks about every pair both ways.

    It returns its worst order if two answers do not sum to 1, as they never do: tanh(1/2) is no fraction.
    """
    q = lemma_queries(n_items)
    design = algorithm_3(n_items, q, 2 * q / n_items, counter="query").mechanism
    answers = design.poll(unanimous(n_items, voters), stream("blocks: spoiled", {"voters": voters}))
    seen = np.zeros((n_items, n_items))
    for i, j in permutations(range(n_items), 2):
        seen[i, j] = answers.query(i, j)
    return kemeny_score(contrary(seen), truth(n_items))


def _printed_costs(zeta: float = 1.0) -> Iterator[tuple[int, int, int, float, float]]:
    """Items, voters, q, epsilon up to 2 q / m, and exact expected cost of the printed design; all voters agree."""
    for m, share, times in product((3, 100), (0.01, 1.0), (1, 10)):
        q = lemma_queries(m, zeta)
        e = 2 * q / m * share
        yield m, m * times, q, e, design_cost(algorithm_3(m, q, e, counter="query").mechanism, m * times)


def _exact_costs() -> Iterator[Check]:
    """Exact costs by two routes, and an answer's error that turns a pair round: half of a deviation at most."""
    yield least_query(30)
    for size in (10, 11):
        right, wrong = np.full((4, 4), told(1.0, size, 1.0)[0]), wrong_chances(size, 1.0, "centred")
        gap = placement_cost(4, *wrong) - answered_cost(right, truth(4))
        yield agree(f"E K, 4 items, fresh blocks of {size} who agree, ε = 1, less its enumeration", gap)
    for size in (1, 2):
        half = 2 * told(1.0, size, 0.1)[1] / fresh_sd(0.1, size)
        what = f"2 E ν over an answer's deviation, blocks of {size}, ε = 0.1, less 1/(√{size} cosh²(ε/2))"
        yield agree(what, half - 1 / math.cosh(0.05) ** 2 / math.sqrt(size))
    for report in ("centred", "printed"):
        gap = variance_gap(4, 2, 0.5, report)
        yield agree(f"variance of a {report} answer, n = 4, m = 2, less its enumeration", gap)


@claim("alabi2022:thm-11")
def check_thm_11() -> Iterator[Check]:
    """Theorem 11 by the printed algorithm, with an unhelpful A, at large epsilon, and with conditions supplied."""
    sizes = (8000, 80_000)
    costs = np.array([spoiled(8, n) for n in sizes])
    span = " to ".join(f"{n:,}" for n in sizes)
    what = f"exponent of n, {span}, in K/(m^1.5 q/(ε√n)), m = 8, all agree, A's worst order where w̃ᵢⱼ + w̃ⱼᵢ ≠ 1"
    yield printed(what, exponent(sizes, costs * np.sqrt(sizes)), "<=", 0.0, error=1e-6)
    yield argument("least cost of that order, in pairs of 8 items", costs.min(), "==", math.comb(8, 2))
    yield argument("cost of A's order on fractions", kemeny_score(contrary(truth(8)), truth(8)), "==", 0)
    yield from _large_epsilon()
    # the answers that turn a pair round are off to one side, by half a deviation at most
    worst = max(cost / (m**1.5 * q / (e * math.sqrt(n))) for m, n, q, e, cost in _printed_costs())
    what = "E K/(m^1.5 q/(ε√n)), worst of a grid with ε ≤ 2q/m, KwikSort, all agree; against 2/tanh(½)"
    yield supplied(what, worst, "<=", PER_QUERY)
    for zeta in (1.0, 0.1):
        asked = {m: lemma_queries(m, zeta) for m in (2, 8)}
        lost = max(overload(q, m, 2 * q // m) / zeta + m**-4 for m, q in asked.items())
        what = f"P(fallback)/ζ, worst of m = {', '.join(map(str, asked))}, ζ = {zeta:g}; 2⁻⁴, at m = 2"
        yield supplied(what, lost, "==", 1 / 16, error=TAIL / zeta)
    shares = []
    for m, e, size in product((3, 100), (0.1, 1.0), (1, 1000)):
        design, turned = LocalKwikSort.calibrated(n_items=m, epsilon=e), told(1.0, size, e)[1]
        shares.append(design_cost(design, design.blocks * size) / (4 * math.comb(m, 2) * turned))
    what = "E K/(4 C(m, 2) E ν), ν an answer's error if it turns a pair, fresh blocks, all agree, m ≤ 100, ε ≤ 1"
    yield amended(what, max(shares), "<=", 1.0)
    yield from _exact_costs()


def fresh_sd(epsilon: float, size: int) -> float:
    """Standard deviation, at most, of the answer of a block of `size` voters drawn at random, with centred reports."""
    return 1 / (2 * math.tanh(epsilon / 2) * math.sqrt(size))


def fresh_error(n_items: int, epsilon: float, size: int) -> float:
    """Proved additive error at ratio 2 of KwikSort with fresh blocks of `size` voters."""
    return 4 * math.comb(n_items, 2) * fresh_sd(epsilon, size)


def told(w: float, size: int, epsilon_0: float) -> tuple[float, float]:
    """Chance that a block, drawn of voters of whom `w` say yes, is for yes; its expected error against the majority."""
    no, yes = plus_chances(epsilon_0, "centred")
    plus = np.arange(size + 1)
    law = stats.binom.pmf(plus, size, w * yes + (1 - w) * no)
    estimate = (1 + (2 * plus / size - 1) / math.tanh(epsilon_0 / 2)) / 2
    says = np.where(estimate == 0.5, 0.5, estimate > 0.5)
    against = (1 - says if w > 0.5 else says) * (w != 0.5)
    return float(law @ says), float((law * against) @ abs(estimate - w))


def run_out(repetitions: int, rng: np.random.Generator) -> dict[str, Any]:
    """Runs that often end in the fallback: ``cost``, ``bottom``; exact costs, ``own`` without it and its ``other``.

    8 items, 400 unanimous voters, 3 reports each, one pair each at last.
    """
    inner, data = one_pair_each(8, 2.0), unanimous(8, 400)
    design = PrintedKwikSort(8, 0.2, 3, 8, inner, report="centred", counter="query")
    cost, bottom = np.empty(repetitions), np.zeros(repetitions)
    for r in range(repetitions):
        order = design.sort(design.poll(data, rng))
        if order is None:
            order, bottom[r] = inner.release(data, rng).order, 1
        cost[r] = kemeny_score(order, truth(8))
    return {"cost": cost, "bottom": bottom, "own": design_cost(design, 400), "other": design_cost(inner, 400)}


@claim("alabi2022:thm-11:proof")
def check_thm_11_proof(repetitions: int, n_items: int = 8, voters: int = 1000, epsilon: float = 1.0) -> Iterator[Check]:
    """Theorem 5's first display carried over, and what it should say."""
    q, pairs = lemma_queries(n_items), math.comb(n_items, 2)
    lost = overload(q, n_items, 2 * q // n_items)
    own = design_cost(algorithm_3(n_items, q, epsilon / 2, counter="query").mechanism, voters)
    other = design_cost(designs(n_items, epsilon / 2)["one pair each"], voters)
    what = f"E K less P(⊥) E[K(A); ⊥] + P(not ⊥) E K(fallback), m = {n_items}, n = {voters}, ε = {epsilon:g}, all agree"
    yield printed(what, own - other, "<=", 0.0, error=2 * lost * pairs)
    seen = run_out(repetitions, stream("blocks: run out", {"repetitions": repetitions}))
    excess = seen["cost"] - seen["own"] - seen["bottom"] * seen["other"]
    share, error = seen["bottom"].mean(), Z * float(excess.std(ddof=1)) / math.sqrt(repetitions)
    what = f"E K less E K(A) + P(⊥) E K(fallback) where P(⊥) is {share:.2f}, {repetitions} runs, {Z:g} standard errors"
    yield amended(what, float(excess.mean()), "<=", 0.0, error=error)


def answered_cost(first: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Exact expected cost of KwikSort on few items if item i goes before a later j with the chance ``first[i, j]``."""
    pairs, cost = list(combinations(range(len(w)), 2)), 0.0
    for answers in product((0, 1), repeat=len(pairs)):
        t, chance = np.zeros_like(w), 1.0
        for (i, j), says in zip(pairs, answers, strict=True):
            t[i, j], t[j, i] = says, 1 - says
            chance *= first[i, j] if says else 1 - first[i, j]
        cost += chance * expected_cost(t, w)
    return cost


def two_approximation(votes: ArrayLike, design: LocalKwikSort, voters: int) -> dict[str, float]:
    """Exact expected ``cost`` of KwikSort where voters are drawn from rankings (rows of places), ``optimum``, and
    ``wrong``: the expected sum of the errors of answers that contradict the majority.
    """
    w = pairwise_fractions(numbered(np.asarray(votes)))
    first, errors = np.zeros((2, *w.shape))
    for pair in combinations(range(len(w)), 2):
        first[pair], errors[pair] = told(w[pair], voters // design.blocks, design.report_epsilon)
    return {"cost": answered_cost(first, w), "optimum": kemeny(w).cost, "wrong": errors.sum()}


@claim("alabi2022:cor-12")
def check_cor_12(zeta: float = 1.0) -> Iterator[Check]:
    """Corollary 12 with explicit constants, and ours: ratio 2, one report a voter."""
    yield from _large_epsilon()
    yield from _exact_costs()
    for m in (3, 30, 200):
        q = lemma_queries(m, zeta)
        yield supplied(f"q/(m log m), Theorem 11's least q = {q}, m = {m}", q / (m * math.log(m)), "<=", 11.0)
        what = f"queries that KwikSort exceeds with chance 1/m⁴ at most, against this q, m = {m}"
        yield supplied(what, queries(m, zeta / m**4), "<=", q)
        # 4q/(ε√m), where x is less than tanh(x) by 2e-5, and √q′/(2 tanh(ε/2)), of whose square 1/q′ is too much
        blocks = LocalKwikSort.calibrated(n_items=m, epsilon=1.0, tail=m**-4.0).blocks
        bound = 8 * math.tanh(0.5) * q / math.sqrt(m * blocks)
        what = f"standard deviation of an answer, Algorithm 2's over that of {blocks} fresh blocks, ε = 1, m = {m}"
        yield amended(what, answer_gain(m, 1.0), "==", bound, error=bound / blocks)
    worst = max(cost * math.sqrt(n) / printed_rate(12, m, e) for m, n, _, e, cost in _printed_costs(zeta))
    what = "E K/(m^2.5 log m/(ε√n)), worst of a grid with ε ≤ 2q/m, all agree; against 11 · 2/tanh(½)"
    yield supplied(what, worst, "<=", 11 * PER_QUERY)
    rng = stream("blocks: votes", {"m": 4})
    for n in (60, 600, 6000):
        votes = np.array([rng.permutation(4) for _ in range(5)])
        design = LocalKwikSort.calibrated(n_items=4, epsilon=1.0)
        seen = two_approximation(votes, design, n)
        what = f"4 items, {n} voters drawn from 5 rankings, ε = 1: E K for the population, against 2 OPT + 4 E Σ ν_p"
        yield amended(what, seen["cost"], "<=", 2 * seen["optimum"] + 4 * seen["wrong"])


def answer_gain(n_items: int, epsilon: float) -> float:
    """Standard deviation of Algorithm 2's answers, q as in Lemma 10, over that of fresh blocks with a tail of m^-4."""
    as_printed = algorithm_3(n_items, lemma_queries(n_items), epsilon).mechanism
    fresh = LocalKwikSort.calibrated(n_items=n_items, epsilon=epsilon, tail=n_items**-4.0)
    one, other = (
        answer_variance(np.linspace(0, 1, 21), 10**9, design.blocks, design.report_epsilon, form_of(design)).max()
        for design in (as_printed, fresh)
    )
    return math.sqrt(one / other)
