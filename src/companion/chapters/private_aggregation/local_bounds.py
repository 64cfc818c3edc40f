"""Theorem 11 and Corollary 12: how many voters are enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from companion.chapters.private_aggregation.local_answers import (
    PER_QUERY,
    lemma_queries,
    one_pair_each,
    overload,
    unanimous,
)
from companion.chapters.private_aggregation.local_costs import design_cost, designs
from companion.instruments.aggregation import numbered, printed_rate
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import exponent, least
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.alabi2022 import PrintedKwikSort, algorithm_3, plus_chances
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import expected_cost, queries
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions

# --- Theorem 11 and Corollary 12 -------------------------------------------------------------------------------------


def thresholds(zeta: float = 1.0) -> dict[str, int]:
    """From how many items on the conditions and bounds of Theorem 11 say something.

    Returns
    -------
    dict
        ``ordered``, ``unordered``: q >= 10 m log(m / zeta) is at most the number of pairs. ``bound``: m^1.5 q is below
        m^3, Corollary 9's. ``mended``, ``fresh``: an answer has a smaller variance than with one pair each, in the
        limit of small epsilon: m blocks with centred reports and as few of them as last, and fresh blocks; 201 stands
        for more than 200.
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


def _large_epsilon() -> Check:
    """Two items, two voters, one a block: printed reports err however large epsilon is."""
    q, grid = lemma_queries(2), np.array([1e3, 1e4, 1e5])
    costs = [design_cost(algorithm_3(2, q, e, counter="query").mechanism, 2) for e in grid]
    slope = exponent(grid, np.array(costs) * grid)
    what = f"exponent of ε in E K/(m^1.5 q/(ε√n)), m = n = 2, both agree, q = {q}, ε = 10³ to 10⁵"
    return printed(what, slope, "<=", 0.0, error=1e-6)


def spoiled(n_items: int, voters: int, epsilon: float) -> float:
    """Chance that two answers about a pair sum to 1 as fractions do; two blocks, unanimous voters.

    A rank aggregation algorithm may ask both, and return its worst order if they do not.
    """
    design = algorithm_3(n_items, lemma_queries(n_items), epsilon, counter="query").mechanism
    size, scale = voters // design.blocks, math.tanh(design.report_epsilon / 2)
    total = round(size * (1 + scale / 2))  # of both blocks, the only number of pluses that can do
    if abs((2 * total / size - 2) / scale - 1) > ROUNDING:
        return 0.0
    no, yes = plus_chances(design.report_epsilon, "printed")
    plus = np.arange(total + 1)
    return float(stats.binom.pmf(plus, size, yes) @ stats.binom.pmf(total - plus, size, no))


def _printed_costs(zeta: float = 1.0) -> Iterator[tuple[int, int, int, float, float]]:
    """Items, voters, q, epsilon up to 2 q / m, and exact expected cost of the printed design; all voters agree."""
    for m, share, times in product((3, 8, 30, 100), (0.01, 0.3, 1.0), (1, 10, 1000, 10**5)):
        q = lemma_queries(m, zeta)
        e = 2 * q / m * share
        yield m, m * times, q, e, design_cost(algorithm_3(m, q, e, counter="query").mechanism, m * times)


@claim("alabi2022:thm-11")
def check_thm_11(epsilon: float = 1.0) -> Iterator[Check]:
    """Theorem 11 by the printed algorithm, at large epsilon, with an unhelpful A, and with conditions supplied."""
    m, sizes = 8, np.array([10**3, 10**4, 10**5])
    costs = np.array([math.comb(m, 2) * (1 - spoiled(m, n * m, epsilon)) for n in sizes])
    what = "exponent of n in E K/(m^1.5 q/(ε√n)), m = 8, all agree, A returns its worst order when w̃ᵢⱼ + w̃ⱼᵢ ≠ 1"
    yield printed(what, exponent(sizes, costs * np.sqrt(sizes)), "<=", 0.0, error=1e-6)
    yield _large_epsilon()
    worst = max(cost / (m**1.5 * q / (e * math.sqrt(n))) for m, n, q, e, cost in _printed_costs())
    what = "E K/(m^1.5 q/(ε√n)), worst of a grid with ε ≤ 2q/m, KwikSort, all agree; against 4/tanh(½)"
    yield supplied(what, worst, "<=", 2 * PER_QUERY)
    for zeta in (1.0, 0.1):
        asked = {k: lemma_queries(k, zeta) for k in (2, 8, 30)}
        lost = max(overload(q, k, 2 * q // k) + zeta / k**4 for k, q in asked.items())
        what = f"P(fallback), worst of m = 2, 8, 30, ζ = {zeta:g}"
        yield supplied(what, lost, "<=", zeta / 2, error=1e-12)
    worst = 0.0
    for m, e, times in product((3, 8, 30, 100), (0.1, 1.0), (1, 10, 1000, 10**5)):
        design = LocalKwikSort.calibrated(n_items=m, epsilon=e)
        worst = max(worst, design_cost(design, design.blocks * times) / fresh_error(m, e, times))
    what = "E K/(4 C(m, 2) s), s an answer's deviation, fresh blocks, all agree, m = 3 to 100, ε = 0.1 and 1"
    yield amended(what, worst, "<=", 1.0)


def _fresh_sd(epsilon: float, size: int) -> float:
    """Standard deviation, at most, of the answer of a block of `size` voters drawn at random, with centred reports."""
    return 1 / (2 * math.tanh(epsilon / 2) * math.sqrt(size))


def fresh_error(n_items: int, epsilon: float, size: int) -> float:
    """Proved additive error at ratio 2 of KwikSort with fresh blocks of `size` voters."""
    return 4 * math.comb(n_items, 2) * _fresh_sd(epsilon, size)


def run_out(repetitions: int, rng: np.random.Generator) -> dict[str, Any]:
    """Runs in which the blocks often run out: 8 items, 400 unanimous voters, 4 reports each, one pair each at last.

    Returns
    -------
    dict
        ``cost`` and ``bottom`` (whether the fallback ranked), a number a run; ``own`` and ``other``, exact costs of
        KwikSort on answers that never end and of the fallback.
    """
    inner, data, truth = one_pair_each(8, 2.0), unanimous(8, 400), np.triu(np.ones((8, 8)), 1)
    design = PrintedKwikSort(8, 0.2, 4, 8, inner, report="centred", counter="query")
    cost, bottom = np.empty(repetitions), np.zeros(repetitions)
    for r in range(repetitions):
        order = design.sort(design.poll(data, rng))
        if order is None:
            order, bottom[r] = inner.release(data, rng).order, 1
        cost[r] = kemeny_score(order, truth)
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
    share, error = seen["bottom"].mean(), 5 * float(excess.std(ddof=1)) / math.sqrt(repetitions)
    what = f"E K less E K(A) + P(⊥) E K(fallback) where P(⊥) is {share:.2f}, {repetitions} runs, 5 standard errors"
    yield amended(what, float(excess.mean()), "<=", 0.0, error=error)


def two_approximation(votes: ArrayLike, design: LocalKwikSort, voters: int) -> dict[str, float]:
    """Exact expected cost of KwikSort on few items when voters are drawn at random from given rankings.

    Parameters
    ----------
    votes : array_like of int, shape (rankings, items)
        Places; a voter has each ranking with equal chance, so that the answers of fresh blocks are independent.
    design : LocalKwikSort
        With centred reports.
    voters : int

    Returns
    -------
    dict
        ``cost``, ``optimum``, ``wrong`` (expected sum of the errors of answers that contradict the majority).
    """
    positions = np.asarray(votes)
    m = positions.shape[1]
    w = pairwise_fractions(numbered(positions))
    size, (no, yes) = voters // design.blocks, plus_chances(design.report_epsilon, "centred")
    plus = np.arange(size + 1)
    estimate = (1 + (2 * plus / size - 1) / math.tanh(design.report_epsilon / 2)) / 2
    pairs, up, wrong = list(combinations(range(m), 2)), [], 0.0
    for i, j in pairs:
        law = stats.binom.pmf(plus, size, w[i, j] * yes + w[j, i] * no)
        says = np.where(estimate == 0.5, 0.5, estimate > 0.5)
        up.append(float(law @ says))
        against = 1 - says if w[i, j] > 0.5 else says
        wrong += float((law * against) @ abs(estimate - w[i, j])) if w[i, j] != 0.5 else 0.0
    cost = 0.0
    for answers in product((0, 1), repeat=len(pairs)):
        t = np.zeros((m, m))
        for (i, j), first in zip(pairs, answers, strict=True):
            t[i, j], t[j, i] = first, 1 - first
        chance = np.prod([p if first else 1 - p for p, first in zip(up, answers, strict=True)])
        cost += float(chance) * expected_cost(t, w)
    return {"cost": cost, "optimum": kemeny(w).cost, "wrong": wrong}


@claim("alabi2022:cor-12")
def check_cor_12(zeta: float = 1.0) -> Iterator[Check]:
    """Corollary 12 with explicit constants, and ours: ratio 2, one report a voter."""
    yield _large_epsilon()
    sizes = (3, 8, 30, 100, 200)
    share = max(max(queries(m, zeta / m**4), lemma_queries(m, zeta)) / (m * math.log(m)) for m in sizes)
    what = "q/(m log m) for queries beyond q with chance 1/m⁴ at most, and Theorem 11's least, m = 3 to 200"
    yield supplied(what, share, "<=", 11.0)
    constant = 11 * 2 * PER_QUERY
    worst = max(cost * math.sqrt(n) / printed_rate(12, m, e) for m, n, _, e, cost in _printed_costs(zeta))
    what = "E K/(m^2.5 log m/(ε√n)), worst of a grid with ε ≤ 2q/m, all agree"
    yield supplied(what, worst, "<=", constant)
    rng = stream("blocks: votes", {"m": 4})
    for n in (60, 600, 6000):
        votes = np.array([rng.permutation(4) for _ in range(5)])
        design = LocalKwikSort.calibrated(n_items=4, epsilon=1.0)
        seen = two_approximation(votes, design, n)
        what = f"4 items, {n} voters drawn from 5 rankings, ε = 1: E K for the population, against 2 OPT + 4 E Σ ν_p"
        yield amended(what, seen["cost"], "<=", 2 * seen["optimum"] + 4 * seen["wrong"])
    for m in (30, 100):
        what = f"standard deviation of an answer, fresh blocks over Algorithm 2's, both claim ε = 1, m = {m}"
        yield amended(what, 1 / answer_gain(m, 1.0), "<=", 1.0)


def answer_gain(n_items: int, epsilon: float) -> float:
    """Standard deviation of Algorithm 2's answers, q as in Lemma 10, over that of fresh blocks with a tail of m^-4."""
    as_printed = math.sqrt(n_items) / math.tanh(n_items * epsilon / (4 * lemma_queries(n_items)))
    blocks = LocalKwikSort.calibrated(n_items=n_items, epsilon=epsilon, tail=n_items**-4.0).blocks
    return as_printed / (math.sqrt(blocks) * _fresh_sd(epsilon, 1))
