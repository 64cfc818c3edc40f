"""Corollaries 6 and 7, and the budget of Algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_aggregation.kwiksort_queries import any_queries
from companion.chapters.private_aggregation.reduction_two import (
    ROUNDING,
    Order,
    data_sets,
    excess,
    half_margins,
    in_places,
    kemeny_law,
    kwiksort_law,
    neighbours,
)
from companion.instruments.aggregation import gaussian_constant, printed_rate
from companion.instruments.allowance import Z
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.alabi2022 import corollary_6
from dprank.aggregation.kwiksort import queries
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.privacy.gaussian import gaussian_epsilon

#: Rounding of a sum of some thousand ratios, at most.
EXACT = 1e-12


def error_bounds(sizes: Sequence[int], xi: float) -> pd.DataFrame:
    """Our bounds on the additive error of Reduction II, with query limits that hold for every tournament.

    A row a number of items: ``items``, ``queries`` (q that no tournament exceeds with chance above xi / m^4),
    ``pairs``; ``pure``: 4 C(m, 2) 2 q + 6 xi over m^3 log m, the constant of Corollary 6; ``approximate``: the same of
    Corollary 7 with Gaussian noise of standard deviation (2 + sqrt 2) sqrt(q log(1 / delta)) / (epsilon n), where log(1
    / delta) is at least 1 / 4 (delta = 1 / 2 will do).
    """
    rows = []
    for m in sizes:
        q, pairs, log = any_queries(m, min(xi, 1.0) / m**4), math.comb(m, 2), math.log(m)
        gaussian = 4 * pairs * math.sqrt(2 / math.pi) * (2 + math.sqrt(2)) * math.sqrt(q)
        rows.append(
            {
                "items": m,
                "queries": q,
                "pairs": pairs,
                "pure": (8 * pairs * q + 6 * min(xi, 1.0)) / printed_rate(6, m),
                "approximate": (gaussian + 12 * min(xi, 1.0)) / (m**2.5 * math.sqrt(log)),
            }
        )
    return pd.DataFrame(rows)


@claim("alabi2022:cor-6")
def check_cor_6(sizes: Sequence[int], repetitions: int) -> Iterator[Check]:
    """Corollary 6 with explicit constants: noise 2 q / (epsilon n) a query, ratio 2 + xi / 8.

    Items from 2 to 256; `repetitions` are simulated releases of 16 items.
    """
    for xi in (1.0, 0.01):
        frame = error_bounds(sizes, xi)
        constant = 33 + 3.2 * math.log(1 / xi) / math.log(2)
        what = f"our bound on the error over m³ log m/(εn), our constant, largest of {len(frame)} sizes, ξ = {xi:g}"
        yield printed(what, float(frame.pure.max()), "<=", constant)
    cells = [{"n_items": 16, "spread": s, "voters": n, "epsilon": 5.0} for s in (0.0, 4.0) for n in (10, 40)]
    seen = sweep(excess, cells, experiment="alabi2022: Corollary 6", repetitions=repetitions)
    for row in seen.itertuples():
        allowed = 33 * printed_rate(6, 16, 5.0) / row.voters
        what = f"cost − 2 OPT with our 33 m³ log m/(εn), 16 items, {row.voters} voters{in_places(row.spread)}, ε = 5"
        yield printed(what, row.mean, "<=", allowed, error=Z * row.se + 1e-12)
    loss = max(
        PrivateKwikSort.calibrated(n_items=16, epsilon=e, queries=110, share=0.5).guarantee.epsilon / e
        for e in (0.1, 1, 10)
    )
    yield printed("privacy loss over ε, Laplace(2q/(εn)) and fallback of ε/2", loss, "<=", 1.0)


def scores_over(sizes: Sequence[int], deltas: Sequence[float] = (1e-12, 1e-6, 0.1, 0.5)) -> float:
    """Largest proved error of noisy Borda scores, which have ratio 5, over Corollary 7's rate with constant 1.

    Epsilon up to 4 log(m) log(1 / delta), from 3 items on.
    """
    over = []
    for m, delta, share in product((m for m in sizes if m > 2), deltas, (1e-3, 0.1, 1.0)):
        epsilon = share * 4 * math.log(m) * math.log(1 / delta)
        scores = PrivateBorda.calibrated(n_items=m, epsilon=epsilon, delta=delta, law="continuous")
        over.append(scores.additive_error(1) / printed_rate(7, m, epsilon, delta))
    return max(over)


@claim("alabi2022:cor-7")
def check_cor_7(sizes: Sequence[int]) -> Iterator[Check]:
    """Corollary 7: no constant does for all epsilon; one does for epsilon up to log(1 / delta).

    Items from 2 to 256.
    """
    for delta in (0.5, 1e-6):
        grown = gaussian_constant(1e5, delta) / gaussian_constant(1e1, delta)
        what = f"least constant of the printed noise, δ = {delta:g}: its growth from ε = 10 to ε = 10⁵"
        yield printed(what, grown, "<=", 1.0)
    grid = [
        gaussian_constant(share * math.log(1 / delta), delta)
        for delta in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)
        for share in (1e-3, 0.1, 0.5, 1.0)
    ]
    frame = error_bounds(sizes, 1.0)
    what = "least constant where ε ≤ log(1/δ), largest of 28 pairs (ε, δ)"
    yield supplied(what, max(grid), "<=", 1 + math.sqrt(0.5))
    what = f"our bound over m^2.5 √(log m log(1/δ))/(εn), largest of {len(frame)} sizes, δ ≤ 1/2"
    yield supplied(what, float(frame.approximate.max()), "<=", 18.0)
    yield amended(
        "noisy Borda scores, ratio 5: proved error over m^2.5 √(log m log(1/δ))/(εn), ε ≤ 4 log m log(1/δ), largest",
        scores_over(sizes),
        "<=",
        2.0,
    )
    delta, q, epsilon = 1e-6, 100, 1.0
    scale = (2 + math.sqrt(2)) * math.sqrt(q * math.log(1 / delta)) / epsilon
    loss = gaussian_epsilon(math.sqrt(q), scale, delta)
    yield amended("loss of 100 such answers at δ = 10⁻⁶, budget ε/2", loss, "<=", epsilon / 2)


def run_loss(mechanism: PrivateKwikSort, voters: int) -> float:
    """Privacy loss of one run: all answers and the matrix of the fallback, from the densities.

    All voters rank the items in the order of their numbers; the neighbour has one voter with the reverse. In the run
    all noisy counts turn out at -1: every pivot comes out at an end, so that more than the allowed queries are wanted.
    """
    assert mechanism.fallback is not None
    scales = [mechanism.scale] * mechanism.queries + [mechanism.fallback.scale] * mechanism.fallback.n_pairs
    near, far = (abs(-1.0 - count) for count in (voters - 1, voters))
    return math.fsum((far - near) / scale for scale in scales)


def coded_loss(epsilon: float, voters: int) -> float:
    """Privacy loss of one ranking of three items, from an algorithm that asks on only after two answers below 0.

    It asks for the pairs 12 and 23; if both noisy counts are below 0 it wants the third, and Reduction II with q = 2
    returns the fallback's ranking; otherwise it returns 123. The ranking is 321; data as in `run_loss`.
    """
    mechanism = corollary_6(3, 2, epsilon).mechanism
    assert mechanism.fallback is not None
    chances = []
    for against in (0, 1):
        count = voters - against
        margins = np.triu(np.full((3, 3), count - voters / 2), 1)
        asks = 2 * stats.laplace.logcdf(0.0, count, mechanism.scale)
        chances.append(asks + math.log(kemeny_law(margins - margins.T, mechanism.fallback.scale)[(2, 1, 0)]))
    return chances[1] - chances[0]


def ranking_loss(n_items: int, limit: int, epsilon: float, data: Sequence[tuple[Order, ...]]) -> float:
    """A bound on the loss of the ranking that Algorithm 1 returns, over given data and all neighbours.

    By the mediant inequality the log ratio for a ranking is at most the larger of those of its two ways: KwikSort's
    own, and the fallback's, whose chance is exact and whose ranking loses epsilon / 2 at most.
    """
    scale = corollary_6(n_items, limit, epsilon).mechanism.scale
    known: dict[bytes, dict[Order | None, float]] = {}

    def law(x: tuple[Order, ...]) -> dict[Order | None, float]:
        margins = half_margins(x)
        if margins.tobytes() not in known:
            known[margins.tobytes()] = kwiksort_law(margins, limit, scale)
        return known[margins.tobytes()]

    worst = 0.0
    for one in data:
        for other in neighbours(one):
            p, q = law(one), law(other)
            for order in p:
                spent = epsilon / 2 if order is None else 0.0
                worst = max(worst, abs(math.log(p[order] / q[order])) + spent)
    return worst


#: Items and queries at which the loss of a run is computed; 54 of 55 are exceeded with a chance below 1 / m^4.
SPENT = ((3, 2), (8, 20), (11, 54), (64, 900))


@claim("alabi2022:cor-6:budget")
def check_cor_6_budget(voters: int) -> Iterator[Check]:
    """Laplace(q / (epsilon n)) a query and a fallback of epsilon / 2, together.

    Data of three items up to so many voters, and of four items up to two, are searched for KwikSort's ranking.
    """
    for m, limit in SPENT:
        mechanism = corollary_6(m, limit, 1.0).mechanism
        loss = run_loss(mechanism, 10)
        what = f"loss of what is drawn, answers and fallback's matrix, ε = 1, {m} items, q = {limit}"
        yield printed(what, loss, "<=", 1.0)
        yield amended(f"{what}: 1 + (m − 1)/(4m)", loss, "==", 1 + (m - 1) / (4 * m), error=EXACT)
        assert mechanism.fallback is not None
        least = replace(mechanism.fallback, scale=2.0 * mechanism.fallback.n_pairs)
        what = f"the same with the least noise of {m} items that loses ε/2, Laplace(2 C(m, 2)/(εn))"
        yield amended(what, run_loss(replace(mechanism, fallback=least), 10), "==", 1.5, error=EXACT)
    for epsilon in (1.0, 4.0):
        what = f"loss of the ranking alone, another algorithm than KwikSort, 3 items, 2 voters, q = 2, ε = {epsilon:g}"
        yield printed(what, coded_loss(epsilon, 2), "<=", epsilon)
    for m, limit in SPENT:
        right = PrivateKwikSort.calibrated(n_items=m, epsilon=1.0, queries=limit, share=0.5, law="continuous")
        what = f"loss of what is drawn with Laplace(2q/(εn)), ε = 1, {m} items, q = {limit}"
        yield amended(what, run_loss(right, 10), "<=", 1.0 + ROUNDING)
    small = [x for n in range(1, voters + 1) for x in data_sets(3, n)] + list(data_sets(3, 2, copies=10))
    four = [x for n in (1, 2) for x in data_sets(4, n) if x[0] == (0, 1, 2, 3)]
    for epsilon in (0.5, 4.0, 20.0):
        what = (
            f"largest loss of KwikSort's ranking alone, printed noise, 3 items, {len(small)} data sets, ε = {epsilon:g}"
        )
        yield amended(what, ranking_loss(3, 2, epsilon, small), "<=", epsilon * (1 + ROUNDING))
        loss = max(ranking_loss(4, limit, epsilon, four) for limit in (4, 5))
        what = f"the same, 4 items, q = 4 and 5, {len(four)} data sets"
        yield amended(what, loss, "<=", epsilon * (1 + ROUNDING))


@cache
def _by_value(n_items: int, left: int) -> NDArray[np.float64]:
    size = math.comb(max(n_items, 2), 2) + 1
    law = np.zeros(size)
    if n_items < 2:
        law[0] = 1
    elif n_items - 1 <= left:
        for before in range(n_items):
            here = left - n_items + 1
            both = np.convolve(_by_value(before, here), _by_value(n_items - 1 - before, here))
            kept = min(len(both), size - n_items + 1)
            law[n_items - 1 : n_items - 1 + kept] += both[:kept] / n_items
    return law


def by_value_law(n_items: int, limit: int) -> NDArray[np.float64]:
    """Chances that Algorithm 1 makes 0, 1, ... queries and does not fall back, its counter handed down as an argument.

    On answers without cycles. Every call counts on from what it was handed, so that the limit applies to each branch of
    the recursion; what is missing to 1 falls back. O(items^5) at most.
    """
    return _by_value(n_items, limit).copy()


def answered(
    n_items: int, limit: int, repetitions: int, rng: np.random.Generator, handed_down: bool
) -> NDArray[np.int64]:
    """Queries that Algorithm 1 answers before it returns or falls back, run as the pseudocode says, one a repetition.

    On answers without cycles. `handed_down`: every call counts on from the number it was given, and tells nobody.
    """

    def run(items: NDArray[np.int64], counter: int) -> tuple[int, int, bool]:
        """Where the counter stands for the next call, queries answered, whether the run ended here."""
        if not len(items):
            return counter, 0, False
        pivot, made = rng.choice(items), min(len(items) - 1, limit - counter)
        if made < len(items) - 1:
            return counter, made, True
        here = counter + made
        after, left, ended = run(items[items < pivot], here)
        if ended:
            return after, made + left, True
        after, right, ended = run(items[items > pivot], here if handed_down else after)
        return after, made + left + right, ended

    return np.array([run(np.arange(n_items), 0)[1] for _ in range(repetitions)])


def counters(sizes: Sequence[int]) -> pd.DataFrame:
    """What a counter that is handed down lets pass, exactly, on answers without cycles.

    A row a number of items: ``items``, ``q`` (5 for 5 items, else exceeded with chance 1 / m^4 at most), ``most``
    queries answered without a fallback, ``P(more)`` (chance that more than q are), ``loss`` of the most, in budgets.
    """
    rows = []
    for m in sizes:
        limit = _limit(m)
        law = by_value_law(m, limit)
        most = int(np.flatnonzero(law).max())
        passes = float(law[limit + 1 :].sum())
        rows.append({"items": m, "q": limit, "most": most, "P(more)": passes, "loss": most / limit})
    return pd.DataFrame(rows)


def _limit(n_items: int) -> int:
    return 5 if n_items == 5 else queries(n_items, n_items**-4.0)


@claim("alabi2022:alg-1")
def check_alg_1(sizes: Sequence[int], repetitions: int) -> Iterator[Check]:
    """Algorithm 1: queries that are answered before it falls back, by either reading of its counter.

    Five items are the fewest at which the readings differ; `repetitions` are runs with one counter.
    """
    for m, limit, most in counters(sizes)[["items", "q", "most"]].itertuples(index=False):
        rng = stream("alabi2022: Algorithm 1", {"items": m})
        seen = answered(m, limit, repetitions, rng, handed_down=False).max()
        what = f"most queries answered{{}}, {m} items, q = {limit}"
        yield printed(what.format(""), most, "<=", limit, reading="c handed down, as in the code")
        runs = what.format(f" in {repetitions} runs")
        yield printed(runs, seen, "<=", limit, reading="c global, as in the text")
    for delta in (0.0, 1e-6):
        right = PrivateKwikSort.calibrated(n_items=6, epsilon=2.0, delta=delta, queries=9, share=0.5)
        what = f"loss, one counter, 6 items, q = 9, ε = 2, δ = {delta:g}"
        yield amended(what, right.guarantee.epsilon, "<=", 2.0)
