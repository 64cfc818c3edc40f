"""Which number of queries KwikSort needs, and what a limit costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from companion.chapters.private_aggregation.kwiksort import THETA
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.aggregation.kwiksort import MOST_COUNTED, comparisons_law, log_moments, queries


def tournaments(n_items: int) -> list[NDArray[np.bool_]]:
    """One tournament of each isomorphism class; at most 7 items. The first is that without cycles."""
    if not 1 <= n_items <= 7:
        raise ValueError(f"n_items = {n_items}; allowed: 1 to 7")
    if n_items == 1:
        return [np.zeros((1, 1), bool)]
    relabel = np.array(list(permutations(range(n_items))))
    left, right = np.array(list(combinations(range(n_items), 2))).T
    powers = 1 << np.arange(len(left))[::-1]
    found: dict[int, NDArray[np.bool_]] = {}
    for smaller in tournaments(n_items - 1):
        for beaten in range(1 << (n_items - 1)):
            wins = (beaten >> np.arange(n_items - 1) & 1).astype(bool)
            beats = np.block([[smaller, ~wins[:, None]], [wins[None], np.zeros((1, 1), bool)]])
            name = int((beats[relabel[:, left], relabel[:, right]] @ powers).max())
            found.setdefault(name, beats)
    return [found[name] for name in sorted(found, reverse=True)]


def tournament_law(beats: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Law of the number of comparisons of KwikSort on a tournament, by a recursion over the sets that it meets."""
    n = len(beats)
    wins = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in beats]
    laws = {0: np.ones(1)}

    def law(subset: int) -> NDArray[np.float64]:
        if subset not in laws:
            size = subset.bit_count()
            total = np.zeros(math.comb(size, 2) + 1)
            for pivot in (i for i in range(n) if subset >> i & 1):
                worse = subset & wins[pivot]
                parts = np.convolve(law(worse), law(subset & ~worse & ~(1 << pivot)))
                total[size - 1 : size - 1 + len(parts)] += parts / size
            laws[subset] = total
        return laws[subset]

    return law((1 << n) - 1)


def worst_tournament(n_items: int) -> pd.DataFrame:
    """Comparisons on every tournament against the one without cycles, which comes first.

    ``mean`` (comparisons, above those without cycles), ``moment`` (largest log E exp(theta C) above that without
    cycles, theta in a grid), ``tail`` (largest chance to exceed some q above that without cycles).
    """
    laws = np.array([tournament_law(beats) for beats in tournaments(n_items)])
    number = np.arange(laws.shape[1])
    moment, tail = np.log(laws @ np.exp(np.outer(number, THETA))), laws[:, ::-1].cumsum(axis=1)
    columns = {"mean": (laws @ number)[:, None], "moment": moment, "tail": tail}
    return pd.DataFrame({name: (value - value[0]).max(axis=1) for name, value in columns.items()})


@cache
def _moments() -> NDArray[np.float64]:
    return log_moments(MOST_COUNTED, THETA)


def any_queries(n_items: int, tail: float) -> int:
    """A number of pairs that KwikSort exceeds with chance `tail` at most, on any tournament: Chernoff's bound.

    The tournament without cycles has the largest exponential moments, as their logarithms are convex in the number of
    items (`convexity`): 2 to 256.
    """
    bound = (_moments()[n_items] - math.log(tail)) / THETA
    return min(math.ceil(bound.min()) - 1, math.comb(n_items, 2))


def convexity() -> float:
    """Least second difference of log E exp(theta C_k) in k up to 256, in units of theta, over the grid of theta."""
    return float((np.diff(_moments(), 2, axis=0) / THETA).min())


def proved_queries(n_items: int, xi: float) -> float:
    """Comparisons that KwikSort exceeds with chance xi / m^4 at most, on any tournament; the chapter has the proof."""
    return n_items * (8 * math.log(n_items) + 0.8 * math.log(1 / xi))


def deep(n_items: int, x: float = 3.6) -> float:
    """Bound on the chance that KwikSort compares some item more than 8 log m times to pivots, times m^4.

    The expected sum of x^(comparisons to pivots) over the m items is at most G(m + 2 x) / (G(2 x) m! (2 x - 1)) on any
    tournament, with G the gamma function; Markov's inequality.
    """
    log = special.gammaln(n_items + 2 * x) - special.gammaln(2 * x) - special.gammaln(n_items + 1) - math.log(2 * x - 1)
    return math.exp(log + (4 - 8 * math.log(x)) * math.log(n_items))


def printed_comparisons(w: NDArray[np.float64], *, rng: np.random.Generator) -> int:
    """Comparisons of one run by the printed rule: item j goes before pivot i if w_ji > 0.5, else behind it."""
    parts, made = [np.arange(len(w))], 0
    while parts:
        here = parts.pop()
        if len(here) > 1:
            pivot = rng.choice(here)
            rest = here[here != pivot]
            made += len(rest)
            first = w[rest, pivot] > 0.5
            parts += [rest[first], rest[~first]]
    return made


def counts(items: Iterable[int], xis: Iterable[float]) -> pd.DataFrame:
    """How many comparisons must be allowed for a chance xi / m^4 to need more.

    ``items``, ``ξ``, ``q`` (least, exact, no cycles), ``any`` (enough for every tournament), ``pairs`` (m (m - 1) / 2,
    never exceeded), ``proved`` (`proved_queries`).
    """
    return pd.DataFrame(
        {
            "items": m,
            "ξ": xi,
            "q": queries(m, xi / m**4),
            "any": any_queries(m, xi / m**4),
            "pairs": math.comb(m, 2),
            "proved": proved_queries(m, xi),
        }
        for xi in xis
        for m in items
    )


@claim("alabi2022:sec-central:q")
def check_q(items: Sequence[int], xis: Sequence[float], listed: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """Is q = O(m log m) comparisons enough but for a chance xi / m^4, with ties as printed and with a tournament?"""
    frame = counts(items, xis)
    what = f"m = {min(items)} to {max(items)}, ξ = {', '.join(f'{xi:g}' for xi in xis)}"
    small = pd.concat([worst_tournament(m) for m in range(3, listed + 1)])
    far = max(deep(m) for m in np.unique(np.geomspace(16, 1e9, 200).astype(int)))
    convex = f"convexity of log E exp(θ C_k) in k ≤ {MOST_COUNTED}: least second difference / θ"
    every = f"any tournament against the one without cycles, m ≤ {listed}, largest"
    for m in (256, 1024, 4096):
        yield printed(
            f"comparisons of a run over m log m, two opposite voters, printed rule, {m:,} items; without ties: 8",
            printed_comparisons(np.full((m, m), 0.5), rng=rng) / (m * math.log(m)),
            "<=",
            8,
        )
    yield supplied(
        f"least q over ours, ties decided beforehand, no cycles, exact, {what}", (frame.q / frame.proved).max(), "<=", 1
    )
    yield supplied(
        f"q that is enough for every tournament (Chernoff) over ours, {what}",
        (frame["any"] / frame.proved).max(),
        "<=",
        1,
    )
    yield amended("m⁴ × bound on P(some item meets over 8 log m pivots), m from 16 to 10⁹", far, "<=", 1)
    yield amended(convex, convexity(), ">=", 0)
    yield amended(f"{every} E[C] − E[C, no cycles]", small["mean"].max(), "<=", ROUNDING)
    yield amended(f"{every} log E exp(θC) − the same without cycles", small.moment.max(), "<=", ROUNDING)


@claim("alabi2022:sec-central:quicksort")
def check_quicksort(n_items: int = 6) -> Iterator[Check]:
    """Whether Theorem 1, which wants at most q comparisons always, applies to KwikSort: with all pairs as q it does."""
    m, pairs, laws = n_items, math.comb(n_items, 2), [tournament_law(beats) for beats in tournaments(n_items)]
    most = max(int(np.flatnonzero(law).max()) for law in laws)
    what = f"most comparisons on any tournament of {m} items, beyond q = m(m − 1)/2"
    yield printed(what, most - pairs, ">", 0, reading="with any q")
    what = f"P(more than q comparisons), q = m(m − 1)/2 − 1, no cycles, {m} items"
    yield printed(what, float(laws[0][pairs]), ">", 0, reading="with a q below all pairs")
    # each pivot is the first or the last of what is left
    every = 2 ** (m - 1) / math.factorial(m)
    yield argument(f"the same less 2^(m − 1)/m!, {m} items", float(laws[0][pairs]) - every, "==", 0, error=ROUNDING)
    yield amended(f"most comparisons on any tournament of {m} items", most, "<=", pairs)


@claim("alabi2022:sec-central:negligible")
def check_negligible(n_items: int = MOST_COUNTED) -> Iterator[Check]:
    """Chance of more than q comparisons where q is of order m log m: with a small constant, and with ours."""
    m, law = n_items, comparisons_law(n_items)

    def beyond(limit: float) -> float:
        return float(law[math.floor(limit) + 1 :].sum())

    few, many = m * math.log(m), 8 * m * math.log(m)
    yield printed(f"P(c > q), q = m log m, no cycles, m = {m}; small: below 1/m", beyond(few), "<=", 1 / m)
    yield supplied(f"the same, q = 8 m log m, m = {m}; below m⁻⁴", beyond(many), "<=", m**-4.0)
    yield amended("m⁴ × bound on P(some item meets over 8 log m pivots), any tournament, m = 16", deep(16), "<=", 1)


def stopped_cost(n_items: int, limit: int) -> NDArray[np.float64]:
    """Expected Kemeny score when all voters agree, there is no noise, and sorting stops at a limit of comparisons.

    As Hay et al. (2017): sets are sorted from the best items on; a set for which too few comparisons are left, and all
    that come after it, are put in random order. For the limits 0 .. `limit`; the optimum is 0. O(n_items^2 limit^2).
    """
    shuffled = np.arange(n_items + 1) * np.arange(-1, n_items) / 4
    cost = np.repeat(shuffled[:, None], limit + 1, axis=1)
    laws = [comparisons_law(max(k, 1))[: limit + 1] for k in range(n_items + 1)]
    laws = [np.pad(law, (0, limit + 1 - len(law))) for law in laws]
    for size in range(2, n_items + 1):
        rest = limit + 2 - size
        if rest < 1:
            continue
        total = np.zeros(rest)
        for left in range(size):
            right = size - 1 - left
            spent = laws[left][:rest]
            total += cost[left, :rest] + np.convolve(spent, cost[right, :rest])[:rest]
            total += (1 - spent.cumsum()) * shuffled[right]
        cost[size, size - 1 :] = total / size
    return cost[n_items]


def stopped(items: Iterable[int], xi: float, epsilon: float) -> pd.DataFrame:
    """What is left of the error of Hay et al.'s rule as the number of voters grows, and where it begins to matter.

    ``items``, ``q``, ``P(more)`` (chance of more than q comparisons), ``error`` (exact limit as n grows), ``error
    m⁴/ξ``, ``voters`` (n at which the mean absolute noise of all pairs together is as large, its scale being 2 q /
    (epsilon n) a pair).
    """
    rows = []
    for m in items:
        q = queries(m, xi / m**4)
        error, beyond = max(float(stopped_cost(m, q)[-1]), 0.0), float(comparisons_law(m)[:q:-1].sum())
        voters = math.comb(m, 2) * 2 * q / (epsilon * error) if q < math.comb(m, 2) else math.inf
        row = {"items": m, "q": q, "P(more)": beyond, "error": error, "error m⁴/ξ": error * m**4 / xi}
        rows.append(row | {"voters": voters})
    return pd.DataFrame(rows)


@claim("alabi2022:sec-central:hay-kwiksort")
def check_hay(items: Sequence[int], xi: float) -> Iterator[Check]:
    """Does an error polynomially small in m remain, whatever n, when the unsorted rest is put in random order?"""
    frame = stopped(items, xi, 1.0)
    what = f"m = {min(items)} to {max(items)}, all voters agree, n → ∞, q as small as ξ/m⁴ allows, ξ = {xi:g}"
    pair = float(stopped_cost(2, 0)[0])
    yield printed("expected cost of one unsorted pair on which all voters agree", pair, ">=", 0.5)
    yield printed(
        f"error over half the chance to hit the limit, least, {what}",
        (2 * frame.error / frame["P(more)"]).min(),
        ">=",
        1,
    )
    yield printed(f"error × m⁴/ξ, least, {what}", frame["error m⁴/ξ"].min(), ">=", 0.25)
