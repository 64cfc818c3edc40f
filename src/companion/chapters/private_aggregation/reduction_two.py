"""Reduction II of Alabi, Ghazi, Kumar and Manurangsi (2022): KwikSort with noise on the comparisons it makes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_aggregation.kwiksort import any_queries
from companion.instruments.aggregation import BAR, gain, gaussian_constant, numbered, printed_rate, rule_for, split_vote
from companion.instruments.allowance import Z
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.alabi2022 import corollary_3, corollary_6
from dprank.aggregation import laws
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import comparisons_law, expected_cost, queries
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.privacy.gaussian import gaussian_epsilon, gaussian_scale

#: Rounding of our quadratures and sums, far above what tests find.
ROUNDING = 1e-7
Order = tuple[int, ...]
Margins = NDArray[np.float64]


# --- small cases, exactly --------------------------------------------------------------------------------------------


def data_sets(n_items: int, voters: int, copies: int = 1) -> Iterator[tuple[Order, ...]]:
    """All multisets of orders of `voters` voters, each order taken `copies` times."""
    for chosen in combinations_with_replacement(permutations(range(n_items)), voters):
        yield chosen * copies


@cache
def half_margins(data: tuple[Order, ...]) -> Margins:
    """Half of: voters that put the row's item before the column's, minus those that do not; by the order of items."""
    places = np.argsort(np.array(data), axis=1)
    return np.sign(places[:, None, :] - places[:, :, None]).sum(axis=0) / 2


def neighbours(data: tuple[Order, ...]) -> Iterator[tuple[Order, ...]]:
    """All data sets in which one voter has another ranking."""
    for voter in sorted(set(data)):
        rest = list(data)
        rest.remove(voter)
        for other in permutations(range(len(voter))):
            if other != voter:
                yield tuple(sorted([*rest, other]))


def kwiksort_law(margins: Margins, limit: int, scale: float) -> dict[Order | None, float]:
    """Law of what Algorithm 1 returns with Laplace noise on counts; None: it falls back.

    Parameters
    ----------
    margins : ndarray of float, shape (items, items)
        Half margins; at most 5 items.
    limit : int
        Comparisons allowed.
    scale : float
    """
    before = _above(-margins / scale) if scale else (margins > 0).astype(float)
    law: dict[Order | None, float] = {}
    for (order, asked), chance in laws.kwiksort_law(before).items():
        outcome = order if asked <= limit else None
        law[outcome] = law.get(outcome, 0.0) + chance
    return law


@cache
def _chance_of_order(first: float, second: float, third: float, scale: float) -> float:
    """Chance that a, b, c is the best order, from the half margins of a over b, b over c and a over c.

    It is iff the noisy ones are y > 0, y' > 0 and y'' > -min(y, y'). Gauss-Legendre between the kinks of the density
    of the minimum, in pieces of four scales at most.
    """
    x, y, z = first / scale, second / scale, third / scale
    kinks = sorted({0.0, max(x, 0.0), max(y, 0.0), max(-z, 0.0)})
    kinks.append(kinks[-1] + 40.0)
    ends = np.concatenate([np.linspace(a, b, 2 + int((b - a) / 4)) for a, b in pairwise(kinks)])
    nodes, weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(ends)[:, None] / 2
    u = ends[:-1, None] + half * (nodes + 1)
    least = _density(u - x) * _above(u - y) + _density(u - y) * _above(u - x)
    return float((half * weights * least * _above(-u - z)).sum())


def _density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.abs(x)) / 2


def _above(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance that a Laplace variable of scale 1 is above x."""
    return np.where(x > 0, _density(x), 1 - _density(x))


def kemeny_law(margins: Margins, scale: float) -> dict[Order, float]:
    """Law of the exact Kemeny order of three items after Laplace noise on the counts, by quadrature."""
    return {
        (a, b, c): _chance_of_order(margins[a, b], margins[b, c], margins[a, c], scale)
        for a, b, c in permutations(range(3))
    }


def fractions(data: tuple[Order, ...]) -> NDArray[np.float64]:
    """The paper's w."""
    w = 0.5 + half_margins(data) / len(data)
    np.fill_diagonal(w, 0)
    return w


def _mean_cost(law: dict[Order, float], w: NDArray[np.float64]) -> float:
    return sum(p * kemeny_score(order, w) for order, p in law.items())


# --- Theorem 5 -------------------------------------------------------------------------------------------------------


def contrary(w: NDArray[np.float64]) -> NDArray[np.int64]:
    """The best order where the answers meet the probability constraints, the worst where they do not.

    As good as any algorithm by the paper's definition, which only speaks of matrices that meet them.
    """
    off = ~np.eye(len(w), dtype=bool)
    meets = (w[off] >= 0).all() and (abs(w + w.T - 1)[off] < 1e-9).all()
    best = kemeny(0.5 + (w - w.T) / (2 * abs(w - w.T).max())).order
    return best if meets else best[::-1]


def contrary_error(n_items: int, voters: Sequence[int], epsilon: float) -> pd.DataFrame:
    """What the algorithm `contrary` loses in Reduction II on voters who all agree, with independent noisy answers.

    Returns
    -------
    pandas.DataFrame
        A row a number of voters: ``voters``, ``cost`` of the order returned (the best costs 0), ``allowed`` (m^2 e +
        1 / (epsilon n) of Theorem 5), ``ratio``.
    """
    w = np.triu(np.ones((n_items, n_items)), 1)
    asked = n_items * (n_items - 1)
    rows = []
    for n in voters:
        scale = 2 * asked / (epsilon * n)
        rng = stream("alabi2022: contrary", {"items": n_items, "voters": n})
        cost = kemeny_score(contrary(w + rng.laplace(0, scale, w.shape)), w)
        allowed = n_items**2 * scale + 1 / (epsilon * n)
        rows.append({"voters": n, "cost": cost, "allowed": allowed, "ratio": cost / allowed})
    return pd.DataFrame(rows)


def three_items(voters: int, epsilon: float) -> pd.DataFrame:
    """Reduction II on all data of three items, exactly: two queries, half of the budget for the exact fallback.

    Returns
    -------
    pandas.DataFrame
        A row a data set: ``voters``, ``optimum``, ``falls_back`` (chance), ``cost`` of the order returned, ``free``
        (cost of KwikSort with the same noise and no limit), ``spare`` (cost of the fallback), ``bound``
        2 OPT + 12 e + P (OPT + 6 e') with e and e' the expected errors of answers and fallback.
    """
    rows = []
    for n in range(1, voters + 1):
        for data in data_sets(3, n):
            mechanism = PrivateKwikSort.calibrated(n_items=3, epsilon=epsilon, queries=2, share=0.5, law="continuous")
            assert mechanism.fallback is not None
            w, margins = fractions(data), half_margins(data)
            law = kwiksort_law(margins, 2, mechanism.scale)
            falls = law.pop(None, 0.0)
            direct: dict[Order, float] = {order: p for order, p in law.items() if order is not None}
            free = {o: p for o, p in kwiksort_law(margins, 3, mechanism.scale).items() if o is not None}
            spare = _mean_cost(kemeny_law(margins, mechanism.fallback.scale), w)
            optimum = kemeny(w).cost
            e, e_spare = mechanism.scale / n, mechanism.fallback.scale / n
            rows.append(
                {
                    "voters": n,
                    "optimum": optimum,
                    "falls_back": falls,
                    "cost": _mean_cost(direct, w) + falls * spare,
                    "free": _mean_cost(free, w),
                    "spare": spare,
                    "bound": 2 * optimum + 12 * e + falls * (optimum + 6 * e_spare),
                }
            )
    return pd.DataFrame(rows)


def excess(
    n_items: int, spread: float, voters: int, epsilon: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """What orders from private KwikSort cost above twice a lower bound of the optimum, one number a release.

    A voter sorts the items by their number plus Gaussian noise of standard deviation `spread`. The optimum is bounded
    by the cheaper side of every pair. The limit of queries is exceeded with chance 1 / items^4.
    """
    scores = np.arange(n_items) + spread * rng.standard_normal((voters, n_items))
    data = numbered(np.argsort(np.argsort(scores, axis=1), axis=1))
    w = pairwise_fractions(data)
    mechanism = PrivateKwikSort.calibrated(
        n_items=n_items,
        epsilon=epsilon,
        queries=queries(n_items, n_items**-4.0),
        share=0.5,
        law="continuous",
        rule="local_search",
    )
    costs = [kemeny_score(mechanism.release(data, rng).order, w) for _ in range(repetitions)]
    return np.array(costs) - 2 * float(np.minimum(w, w.T).sum() / 2)


def _spread(places: float) -> str:
    return f", noise of {places:g} places each" if places else " who agree"


@claim("alabi2022:thm-5")
def check_thm_5(voters: int, repetitions: int) -> Iterator[Check]:
    """Theorem 5: an algorithm that the printed condition does not tame; explicit constants where answers are fractions.

    Parameters
    ----------
    voters : int
        All data of three items and up to so many voters are evaluated exactly.
    repetitions : int
        Simulated releases of 16 items.
    """
    frame = contrary_error(4, (10**3, 10**5, 10**7), 1.0)
    what = "error over m²e + 1/(εn), 4 items, voters agree, answers of any kind: 10⁷ voters against 10³"
    yield printed(what, frame.ratio.iloc[-1], "<=", frame.ratio.iloc[0])
    for epsilon in (4.0, 40.0):
        exact = three_items(voters, epsilon)
        what = f"cost minus bound, one noise a pair: all {len(exact)} data sets of 3 items, ε = {epsilon:g}"
        yield supplied(what, float((exact.cost - exact.bound).max()), "<=", ROUNDING)
    cells = [{"n_items": 16, "spread": spread, "voters": 60, "epsilon": 20.0} for spread in (0.0, 4.0)]
    seen = sweep(excess, cells, experiment="alabi2022: Theorem 5", repetitions=repetitions)
    q = queries(16, 16**-4.0)
    allowed = 4 * math.comb(16, 2) * 2 * q / (20.0 * 60) + 6 / (20.0 * 60)
    for row in seen.itertuples():
        what = f"cost − 2 OPT, 16 items, 60 voters{_spread(row.spread)}, q = {q}"
        yield amended(what, row.mean, "<=", allowed, error=Z * row.se + 1e-12)


@claim("alabi2022:thm-5:proof")
def check_thm_5_proof(voters: int) -> Iterator[Check]:
    """The first display of the proof, with the event and its complement as printed and exchanged.

    Parameters
    ----------
    voters : int
        All data of three items and up to so many voters.
    """
    w = fractions(FIVE)
    algorithm, n = expected_cost(w), 10**5
    spare = _mean_cost(kemeny_law(n / len(FIVE) * half_margins(FIVE), corollary_3(3, 0.5).mechanism.scale), w)
    shares = "10⁵ voters, two fifths abc, two fifths bca, one fifth cab"
    what = f"E K(σ) of KwikSort, q = 3 (P(E) = 0), {shares}, ε = 1; the printed right side"
    yield printed(what, algorithm, "<=", spare + ROUNDING)
    for epsilon in (4.0, 40.0):
        exact = three_items(voters, epsilon)
        right = exact.free + exact.falls_back * exact.spare
        what = f"E K(σ) − E K(σ_A) − P(E) E K(σ_F), all {len(exact)} data sets of 3 items, q = 2, ε = {epsilon:g}"
        yield amended(what, float((exact.cost - right).max()), "<=", ROUNDING)


#: A cycle of unequal majorities: KwikSort returns each of its three orders equally often, and their costs differ.
FIVE: tuple[Order, ...] = ((0, 1, 2), (0, 1, 2), (1, 2, 0), (1, 2, 0), (2, 0, 1))


# --- Corollaries 6 and 7 ---------------------------------------------------------------------------------------------


def error_bounds(sizes: Sequence[int], xi: float) -> pd.DataFrame:
    """Our bounds on the additive error of Reduction II, with query limits that hold for every tournament.

    Returns
    -------
    pandas.DataFrame
        A row a number of items: ``items``, ``queries`` (q that no tournament exceeds with chance above xi / m^4),
        ``pairs``; ``pure``: 4 C(m, 2) 2 q + 6 xi over m^3 log m, the constant of Corollary 6; ``approximate``: the same
        of Corollary 7 with Gaussian noise of standard deviation (2 + sqrt 2) sqrt(q log(1 / delta)) / (epsilon n),
        where log(1 / delta) is at least 1 / 4 (delta = 1 / 2 will do).
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

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items, from 2 to 256.
    repetitions : int
        Simulated releases of 16 items.
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
        what = f"cost − 2 OPT with our 33 m³ log m/(εn), 16 items, {row.voters} voters{_spread(row.spread)}, ε = 5"
        yield printed(what, row.mean, "<=", allowed, error=Z * row.se + 1e-12)
    loss = max(
        PrivateKwikSort.calibrated(n_items=16, epsilon=e, queries=110, share=0.5).guarantee.epsilon / e
        for e in (0.1, 1, 10)
    )
    yield printed("privacy loss over ε, Laplace(2q/(εn)) and fallback of ε/2", loss, "<=", 1.0)


@claim("alabi2022:cor-7")
def check_cor_7(sizes: Sequence[int]) -> Iterator[Check]:
    """Corollary 7: no constant does for all epsilon; one does for epsilon up to log(1 / delta).

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items, from 2 to 256.
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
    delta, q, epsilon = 1e-6, 100, 1.0
    scale = (2 + math.sqrt(2)) * math.sqrt(q * math.log(1 / delta)) / epsilon
    loss = gaussian_epsilon(math.sqrt(q), scale, delta)
    yield amended("loss of 100 such answers at δ = 10⁻⁶, budget ε/2", loss, "<=", epsilon / 2)


# --- the budget of Corollary 6, Algorithm 1 --------------------------------------------------------------------------


def run_loss(mechanism: PrivateKwikSort, voters: int) -> float:
    """Privacy loss of one run: all answers and the matrix of the fallback, from the densities.

    All voters rank the items in the order of their numbers; the neighbour has one voter with the reverse. In the run
    all noisy counts turn out at -1: every pivot comes out at an end, so that more than the allowed queries are wanted.
    """
    assert mechanism.fallback is not None
    scales = [mechanism.scale] * mechanism.queries + [mechanism.fallback.scale] * mechanism.fallback.n_pairs
    log_density = [stats.laplace.logpdf(-1.0, count, scales).sum() for count in (voters - 1, voters)]
    return float(log_density[0] - log_density[1])


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


@claim("alabi2022:cor-6:budget")
def check_cor_6_budget(voters: int) -> Iterator[Check]:
    """Laplace(q / (epsilon n)) a query and a fallback of epsilon / 2, together.

    Parameters
    ----------
    voters : int
        Data of three items up to so many voters, and of four items up to two, are searched for KwikSort's ranking.
    """
    for m, limit in ((3, 2), (8, 20), (64, 900)):
        loss = run_loss(corollary_6(m, limit, 1.0).mechanism, 10)
        what = f"loss of what is drawn, answers and fallback's matrix, ε = 1, {m} items, q = {limit}"
        yield printed(what, loss, "<=", 1.0)
    for epsilon in (1.0, 4.0):
        what = f"loss of the ranking alone, another algorithm than KwikSort, 3 items, 2 voters, q = 2, ε = {epsilon:g}"
        yield printed(what, coded_loss(epsilon, 2), "<=", epsilon)
    for m, limit in ((3, 2), (8, 20), (64, 900)):
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

    Returns
    -------
    pandas.DataFrame
        A row a number of items: ``items``, ``q`` (5 for 5 items, else exceeded with chance 1 / m^4 at most), ``most``
        queries answered without a fallback, ``P(more)`` (chance that more than q are), ``loss`` of the most, in
        budgets.
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

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items; five is the least at which the readings differ.
    repetitions : int
        Runs with one counter.
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


# --- what is gained over Reduction I ---------------------------------------------------------------------------------

#: Half the number of voters over the scale of the noise on a count, at which errors are measured; of Reduction I times
#: the root of the number of items, since it averages over so many pairs.
SIGNALS = {"I": (1.0, 2.0, 4.0), "II": (0.6, 1.0, 1.6)}


def pays(sizes: Sequence[int], delta: float = 0.0) -> pd.DataFrame:
    """Noise on an answer of Reduction II over that of Reduction I, at epsilon = 1, before any order is made.

    Parameters
    ----------
    sizes : sequence of int
    delta : float
        0: Laplace noise; else Gaussian.

    Returns
    -------
    pandas.DataFrame
        A row a number of items: ``items``, ``noise``, ``pairs``, ``q`` (exceeded with chance 1 / m^4 without cycles),
        ``printed`` (2 q over pairs, or 2 sqrt(q over pairs): half of the budget for q answers, all of it for all
        pairs), the same with ``ξ = 0.01`` in place of 1, ``planned`` (expected deciding scale of
        `PrivateKwikSort.calibrated` over that of the noisy matrix) with its ``planned q``.
    """
    unit = gaussian_scale(1.0, 1.0, delta) if delta else 1.0
    rows = []
    for m in sizes:
        best, pairs = PrivateKwikSort.calibrated(n_items=m, epsilon=1.0, delta=delta, law="continuous"), math.comb(m, 2)
        whole = unit * math.sqrt(pairs) if delta else pairs
        beyond, spare = comparisons_law(m)[best.queries + 1 :].sum(), best.fallback.scale if best.fallback else 0.0
        few, more = (2 * (queries(m, xi / m**4) / pairs) ** (0.5 if delta else 1.0) for xi in (1.0, 0.01))
        rows.append(
            {
                "items": m,
                "noise": "Gaussian" if delta else "Laplace",
                "pairs": pairs,
                "q": queries(m, m**-4.0),
                "printed": few,
                "ξ = 0.01": more,
                "planned": ((1 - beyond) * best.scale + beyond * spare) / whole,
                "planned q": best.queries,
            }
        )
    return pd.DataFrame(rows)


def helps_from(frame: pd.DataFrame, column: str) -> int:
    """The number of items from which on, to the end of a frame of `pays`, a column is below 1."""
    return int(frame.loc[frame[column] >= 1 - ROUNDING, "items"].max()) + 1


def scaled_error(
    reduction: str, n_items: int, delta: float, signal: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Kemeny score times epsilon n where all voters agree, one number a release at epsilon = 1; the best order costs 0.

    Parameters
    ----------
    reduction : {"I", "II"}
        The noisy matrix, ordered exactly up to 12 items and by local search above; private KwikSort, best split.
    n_items : int
    delta : float
    signal : float
        Half the number of voters over the scale of the noise. Only that matters, so one voter stands for all, and the
        noise is divided by their number.
    repetitions : int
    rng : numpy.random.Generator
    """
    rule = rule_for(n_items)
    make = NoisyMatrix if reduction == "I" else PrivateKwikSort
    mechanism: NoisyMatrix | PrivateKwikSort = make.calibrated(
        n_items=n_items, epsilon=1.0, delta=delta, law="continuous", rule=rule
    )
    voters = 2 * signal * mechanism.scale
    small = replace(mechanism, scale=mechanism.scale / voters)
    if isinstance(small, PrivateKwikSort) and small.fallback:
        small = replace(small, fallback=replace(small.fallback, scale=small.fallback.scale / voters))
    one = split_vote(n_items, 1)
    w = pairwise_fractions(one)
    return voters * np.array([kemeny_score(small.release(one, rng).order, w) for _ in range(repetitions)])


def worst_errors(sizes: Sequence[int], deltas: Sequence[float], repetitions: int) -> pd.DataFrame:
    """The largest error times epsilon n over the numbers of voters tried.

    Returns
    -------
    pandas.DataFrame
        A row a reduction, ``n_items`` and ``delta``: ``signal``, ``mean``, ``se``, ``repetitions`` at the worst.
    """
    cells = [
        {"reduction": r, "n_items": m, "delta": delta, "signal": signal / (math.sqrt(m) if r == "I" else 1.0)}
        for r, m, delta in product(SIGNALS, sizes, deltas)
        for signal in SIGNALS[r]
    ]
    seen = sweep(scaled_error, cells, experiment="alabi2022: reductions", repetitions=repetitions)
    worst = seen.groupby(["reduction", "n_items", "delta"])["mean"].idxmax()
    return seen.loc[worst].reset_index(drop=True)


def gains(errors: pd.DataFrame) -> pd.DataFrame:
    """Error of Reduction I over that of Reduction II.

    Parameters
    ----------
    errors : pandas.DataFrame
        Of `worst_errors`.

    Returns
    -------
    pandas.DataFrame
        ``δ``, ``items``, ``gain`` and its standard error ``se``.
    """
    key = ["delta", "n_items"]
    one, two = (errors[errors.reduction == r].set_index(key).sort_index() for r in ("I", "II"))
    return gain(one, two, "mean").reset_index().rename(columns={"delta": "δ", "n_items": "items"})


def in_words(part: pd.DataFrame) -> str:
    """Which reduction errs less in rows of `gains`, as far as 95 % intervals tell: a clause for the reader."""
    last = part.iloc[-1]
    clear = {name: part.loc[sign * (part.gain - 1) > BAR * part.se, "items"] for name, sign in (("I", -1), ("II", 1))}
    told = [f"Reduction {n} errs less at {', '.join(map(str, at))} items" for n, at in clear.items() if len(at)]
    apart = " and ".join(told) or "no size sets the two apart"
    return (
        f"the gain at {last['items']:.0f} items is {last.gain:.2f} ± {BAR * last.se:.2f}; at 95 % confidence, {apart}"
    )


@claim("alabi2022:sec-central:factor")
def check_sec_central_factor(errors: pd.DataFrame, sizes: Sequence[int]) -> Iterator[Check]:
    """The factors of the printed bounds, and of the errors of the algorithms.

    Parameters
    ----------
    errors : pandas.DataFrame
        Of `worst_errors`, at delta = 0 and another one.
    sizes : sequence of int
        Numbers of items for the bounds, to 256.
    """
    frame = error_bounds(sizes, 1.0)
    log = np.log(frame["items"])
    for kind, factor in (
        ("Θ̃(m), pure", frame.pairs / (2 * frame.queries) * log / frame["items"]),
        ("Θ̃(√m), approximate", np.sqrt(frame.pairs / frame.queries * log / frame["items"])),
    ):
        what = (
            f"{kind}: bound of I over bound of II over the printed factor, largest over smallest of {len(frame)} sizes"
        )
        yield printed(what, float(factor.max() / factor.min()), "<=", 1.5, reading="of the bounds")
    for delta, part in gains(errors).groupby("δ"):
        low, high = part.iloc[0], part.iloc[-1]
        grown = high.gain / low.gain
        error = Z * grown * math.hypot(low.se / low.gain, high.se / high.gain)
        span = high["items"] / low["items"]
        logs = math.log(high["items"]) / math.log(low["items"])
        need = span / logs if delta == 0 else math.sqrt(span / logs)
        sizes_text = f"from {low['items']:g} to {high['items']:g} items"
        factor = "m/log m" if delta == 0 else "√(m/log m)"
        what = f"error of I over error of II, worst found, δ = {delta:g}: growth {sizes_text}; growth of {factor}"
        yield printed(what, grown, ">=", need, reading="of the errors", error=error)
        most = 1.0 if delta else math.sqrt(high["items"] / math.log(high["items"]))
        what = (
            f"error of I over error of II at {high['items']:g} items, δ = {delta:g}; {'1' if delta else '√(m/log m)'}"
        )
        yield amended(what, high.gain, "<=", most, error=Z * high.se)


# --- figures ----------------------------------------------------------------------------------------------------------


_LOOK = {
    "I": {"color": COLOURS[0], "marker": "o", "label": "I: noise on all pairs"},
    "II": {"color": COLOURS[1], "marker": "s", "label": "II: private KwikSort"},
}


@styled
def draw_worst_errors(frame: pd.DataFrame) -> Figure:
    """Largest error found over m^2.5, against the number of items m; a panel a delta, bars are 95 % intervals."""
    figure = Figure(figsize=(5.6, 5.8))
    panels = np.atleast_1d(figure.subplots(frame.delta.nunique(), 1, sharex=True))
    ticks = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
    for axes, (delta, rows) in zip(panels, frame.groupby("delta"), strict=True):
        for reduction, part in rows.groupby("reduction"):
            unit = part.n_items**2.5
            # side by side, so that no bar hides another
            at = part.n_items * (0.97 if reduction == "I" else 1.03)
            axes.errorbar(at, part["mean"] / unit, BAR * part.se / unit, capsize=2, **_LOOK[str(reduction)])
        axes.set(
            title=f"δ = $10^{{{math.log10(delta):.0f}}}$" if delta else "δ = 0",
            ylabel="error × εn / m$^{2.5}$",
            xscale="log",
            yscale="log",
        )
        low, high = axes.get_ylim()
        axes.set_yticks([t for t in ticks if low <= t <= high], [f"{t:g}" for t in ticks if low <= t <= high])
        axes.set_xticks(rows.n_items.unique(), [str(m) for m in rows.n_items.unique()])
        axes.minorticks_off()
    panels[-1].set_xlabel("items m")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
