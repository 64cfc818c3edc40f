"""Which pairs of signs are independent, how biased they are, and what lies far apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, count, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_distances, all_pairings, all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import pair_signs

#: How two pairs can lie in the centre: places of the items.
CONFIGURATIONS = {"separated": ((0, 1), (2, 3)), "nested": ((0, 3), (1, 2)), "crossing": ((0, 2), (1, 3))}

#: Where the bias is held against the paper's bound.
SIZES = (*range(2, 41), 100, 1000, 10_000)
SPANS = np.geomspace(1e-6, 60, 200)
PHIS = np.unique(np.r_[np.linspace(0.02, 0.98, 49), 1 - np.geomspace(1e-6, 0.5, 60)])

Pairs = tuple[tuple[int, int], ...] | NDArray[np.int64]


def sign_law(n_items: int, phi: float, pairs: Pairs) -> NDArray[np.float64]:
    """Exact joint law of the signs of pairs, by enumeration of all rankings.

    Index 1 where the first item of the pair comes first.
    """
    index = tuple((pair_signs(all_rankings(n_items), np.array(pairs)).T == 1).astype(int))
    law = np.zeros((2,) * len(pairs))
    np.add.at(law, index, phi ** all_distances(n_items)[0].astype(float))
    return law / law.sum()


def dependence(n_items: int, phi: float, pairs: Pairs) -> float:
    """Total variation distance of the joint law of the signs from the product of its marginals."""
    law = sign_law(n_items, phi, pairs)
    product = np.ones(())
    for axis in range(law.ndim):
        product = np.multiply.outer(product, law.sum(tuple(a for a in range(law.ndim) if a != axis)))
    return float(np.abs(law - product).sum() / 2)


def crossings(pairs: Pairs) -> int:
    """How many of the couples of pairs cross in the centre: exactly one item of one pair lies between the other two."""
    spans = [(min(pair), max(pair)) for pair in pairs]
    return sum(a < c < b < d for a, b in spans for c, d in spans)


def covariance(n_items: int, phi: float, pairs: Pairs) -> float:
    """Covariance of the signs of two pairs."""
    law = sign_law(n_items, phi, pairs)
    sign = np.array([-1.0, 1.0])
    return float(sign @ law @ sign - (sign @ law.sum(1)) * (sign @ law.sum(0)))


def pairings(n_items: int, phi: float) -> pd.DataFrame:
    """All pairings of a few items: are the signs of all pairs jointly independent?

    ``crossings`` of the pairing, ``pairings`` (how many), ``least`` and ``largest`` total variation distance from
    independence among them.
    """
    rows = [(crossings(pairs), dependence(n_items, phi, pairs)) for pairs in all_pairings(n_items)]
    distance = pd.DataFrame(rows, columns=["crossings", "distance"]).groupby("crossings").distance
    return distance.agg(pairings="count", least="min", largest="max").round(12).reset_index()


def crossing_rates(n_items: int, theta: float) -> pd.DataFrame:
    """Covariance of crossing pairs that reach over all items.

    For pairs (a, b), (c, d) with a < c < b < d, a = 0 and d the last of the items: ``c``, ``b``, ``covariance``.
    """
    last, phi = n_items - 1, math.exp(-theta)
    inner = list(combinations(range(1, last), 2))
    rows = [(c, b, covariance(n_items, phi, ((0, b), (c, last)))) for c, b in inner]
    return pd.DataFrame(rows, columns=["c", "b", "covariance"])


def squares_covariance(phi: float, n_rankings: int, pairs: Pairs) -> float:
    """Exact covariance of the statistics of two pairs of four items, over all outcomes of a few rankings."""
    outcomes = np.array(list(product((0, 1), repeat=2 * n_rankings))).reshape(-1, n_rankings, 2)
    chance = sign_law(4, phi, pairs)[outcomes[..., 0], outcomes[..., 1]].prod(axis=1)
    one, two = ((2 * outcomes - 1).sum(axis=1) ** 2 / n_rankings).T
    return float(chance @ (one * two) - (chance @ one) * (chance @ two))


@claim("busafekete2021:sec-4.2:independence")
def check_independence(
    spreads: Sequence[float] = (0.1, 0.5, 0.9), thetas: Sequence[float] = (0.1, 0.5, 1.0, 2.0)
) -> Iterator[Check]:
    """Mutual independence of the pairs' statistics, under both hypotheses."""
    what = "distance of the signs from independence, 6 items"
    null = pairings(6, 1.0)
    yield amended(f"{what}, φ = 1, all {null.pairings.sum()} pairings", null.largest.max(), "==", 0, error=ROUNDING)
    for says, name in ((amended, "separated"), (amended, "nested"), (printed, "crossing")):
        squares = squares_covariance(0.5, 2, CONFIGURATIONS[name])
        about = f"covariance of the squares of two {name} pairs, 4 items, φ = 1/2, k = 2"
        yield says(about, squares, "==", 0, error=ROUNDING)
    law = sign_law(4, 0.5, CONFIGURATIONS["crossing"])
    one, two = (law.sum(axis)[1] - law.sum(axis)[0] for axis in (0, 1))
    squared, about = (law.trace() - law[::-1].trace()) ** 2, f"{about}, against E[ss′]² − E[s]² E[s′]²"
    yield argument(about, squares, "==", squared - (one * two) ** 2, error=ROUNDING)
    for phi in spreads:
        table = pairings(6, phi)
        calm, crossed = table[table.crossings == 0], table[table.crossings > 0]
        these = f"{what}, φ = {phi:g}, the {calm.pairings.sum()} pairings without crossings"
        yield amended(these, calm.largest.max(), "==", 0, error=ROUNDING)
        these = f"{what}, φ = {phi:g}, least of the {crossed.pairings.sum()} with crossings, clear of rounding"
        yield amended(these, crossed.least.min(), ">", ROUNDING)
    catalan = math.comb(6, 3) / 4
    yield amended("pairings of 6 items without crossings, a Catalan number", calm.pairings.sum(), "==", catalan)
    yield amended("pairings of 6 items", table.pairings.sum(), "==", 5 * 3)
    crossed = pd.concat(crossing_rates(m, theta) for m in (4, 5, 6) for theta in thetas)
    what = f"least covariance of {len(crossed)} crossing pairs that reach over 4, 5 or 6 items, θ = 0.1 .. 2"
    yield amended(f"{what}, clear of rounding", crossed.covariance.min(), ">", ROUNDING)


def bias_ratios(sizes: Iterable[int], phis: ArrayLike) -> pd.DataFrame:
    """Bias of the closest pair that counts as far, against the printed bound.

    ``m``, ``phi``, ``apart`` (places between the items: m / 8 rounded up), ``bias``, ``mu``, ``ratio``, ``before``
    (probability of the centre's order).
    """
    m = np.array(list(sizes))
    apart_by = np.ceil(m / 8).astype(int)
    frames = []
    for phi in np.atleast_1d(phis).tolist():
        law = Mallows.of_phi(int(m.max()), phi)  # the bias does not depend on how many items there are
        bias, mu = law.bias(apart_by), np.tanh(law.theta * m / 16)
        columns = {"m": m, "phi": phi, "apart": apart_by, "bias": bias, "mu": mu, "ratio": bias / mu}
        frames.append(pd.DataFrame(columns | {"before": (1 + bias) / 2}))
    return pd.concat(frames).sort_values(["m", "phi"], ignore_index=True)


@cache
def bias_grid() -> pd.DataFrame:
    """`bias_ratios` of few and many items, from nearly fixed to nearly uniform rankings."""
    return bias_ratios(SIZES, PHIS)


def least_failing_items() -> int:
    """The smallest number of items at which the printed bound on the bias fails for some phi of our grid."""
    frame = bias_grid()
    return int(frame[frame.ratio < 1 - ROUNDING].m.min())


@claim("busafekete2021:sec-4.2:bias")
def check_bias(places: Sequence[int] = (1, 2, 3, 5, 10, 50, 200, 1000, 2000)) -> Iterator[Check]:
    """The printed lower bound on the bias, in three readings, and ours."""
    frame, failing = bias_grid(), least_failing_items()
    worst = frame.loc[frame.ratio.idxmin()]
    chance = frame[frame.before < frame.mu - ROUNDING].iloc[0]
    cell = f"{worst.apart:.0f} places apart, m = {worst.m:.0f}, φ = {worst.phi:.6g}"
    lost = "π*(j) − π*(i) ≥ m/8, the minus lost; "
    reading = f"{lost}bias is a difference of probabilities"
    yield printed(f"P(i first) - P(j first), {cell}", worst.bias, ">=", worst.mu, reading=reading)
    reading = f"{lost}bias is an excess over 1/2"
    yield printed(f"P(i first) - 1/2, {cell}", worst.before - 0.5, ">=", worst.mu, reading=reading)
    what = f"P(j first), {chance.apart:.0f} places apart, m = {chance.m:.0f}, φ = {chance.phi:.6g}, at most 1 − μ"
    reading = f"{lost}bias is the probability"
    yield printed(what, 1 - chance.before, "<=", 1 - chance.mu, reading=reading, error=ROUNDING)
    rows = all_rankings(5)
    alike = sum(int((rows[:, i] == rows[:, j]).sum()) for i, j in combinations(range(5), 2))
    what = (
        f"couples of items with one place in a centre, {len(rows)} centres of 5 items: how many there are to break it"
    )
    yield printed(what, alike, "==", 0, reading="π*(j) = π*(i) ≥ m/8, as our copy has it")
    # as φ → 1 the bias is (2g+1)θ/6 and μ is mθ/16
    fails = next(m for m in count(2) if 8 * (2 * math.ceil(m / 8) + 1) < 3 * m)
    what = "least m at which some φ of ours breaks the printed bound, against that of φ → 1: 8(2⌈m/8⌉ + 1) < 3m"
    yield amended(what, failing, "==", fails)
    limit, square = (2 * worst.apart + 1) / 6 / (worst.m / 16), ((1 - worst.phi) * worst.m) ** 2
    yield amended(f"bias over μ, {cell}, against its limit", worst.ratio, "==", limit, error=square)
    m = 5
    laws = [(sign_law(m, phi, ((0, g),)), Mallows.of_phi(m, phi).bias(g)) for phi in PHIS[:40:8] for g in range(1, m)]
    off = sum(abs(law[1] - law[0] - bias) > ROUNDING for law, bias in laws)
    yield amended(f"of {len(laws)} biases by enumeration of {m} items: how many are not the closed form", off, "==", 0)
    ratios = [float(Mallows(g + 1, u / g).bias(g)) / math.tanh(u / 2) for g in places for u in SPANS]
    what = f"least ratio of the bias to tanh(θg/2), {len(places)} g to {places[-1]}, {len(SPANS)} θg from 1e-6 to 60"
    yield amended(f"{what}: 2/3 + 1/(3g)", min(ratios), "==", 2 / 3 + 1 / (3 * places[-1]), error=ROUNDING)


def far_law(n_items: int, apart_by: int) -> NDArray[np.float64]:
    """Exact law of the number of pairs at least `apart_by` places apart in the centre, for a random pairing.

    Probability of 0, 1, ... such pairs. The number of ways to choose r disjoint pairs that are all closer is counted
    item by item, in whole numbers, with the set of the recent items that are taken as the state. Inclusion and
    exclusion over the pairings of the other items gives the law.
    """
    width, total = apart_by - 1, n_items // 2
    # bit g of a state: the item g + 1 places back is taken, as are those before the first; ways by number of pairs
    states: dict[int, list[int]] = {(1 << width) - 1: [1]}
    for _ in range(n_items):
        fresh: dict[int, list[int]] = {}
        for taken, ways in states.items():
            moves = [(taken << 1, 0)]
            moves += [((taken | 1 << g) << 1 | 1, 1) for g in range(width) if not taken >> g & 1]
            for state, more in moves:
                row = fresh.setdefault(state & ((1 << width) - 1), [])
                row += [0] * (len(ways) + more - len(row))
                for r, number in enumerate(ways):
                    row[r + more] += number
        states = fresh
    sizes = range(total + 1)
    chosen = [sum(ways[r] for ways in states.values() if r < len(ways)) for r in sizes]
    free = [math.prod(range(n_items - 2 * r - 1, 0, -2)) for r in sizes]  # pairings of the other items
    close = [sum((-1) ** (r - j) * math.comb(r, j) * chosen[r] * free[r] for r in sizes[j:]) for j in sizes]
    return np.array([ways / free[0] for ways in reversed(close)])


def far_mean(n_items: int, apart_by: int) -> float:
    """Expected number of pairs at least `apart_by` places apart, for a random pairing of an even number of items."""
    return (n_items - apart_by) * (n_items - apart_by + 1) / (2 * (n_items - 1))


def m_1(n_items: ArrayLike, delta: float) -> NDArray[np.float64]:
    """The paper's number of pairs that are far apart."""
    m = np.asarray(n_items, float)
    return m / 8 - np.sqrt(m * math.log(2 / delta) / 16)


def far_pairs(sizes: Iterable[int], delta: float) -> pd.DataFrame:
    """Pairs at least m / 8 places apart in a random pairing, exactly.

    ``m``, ``mean``, ``low`` (the number is below it with probability at most `delta` / 2), ``m1`` (the
    paper's), ``below`` (probability of fewer than m1).
    """
    rows = []
    for m in sizes:
        law = far_law(m, math.ceil(m / 8))
        below = np.cumsum(law)
        m1 = float(m_1(m, delta))
        short = float(law[: max(0, math.ceil(m1))].sum())
        row = {"m": m, "mean": law @ np.arange(len(law)), "low": int((below <= delta / 2).sum())}
        rows.append(row | {"m1": m1, "below": short})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-4.2:m1")
def check_m1(delta: float = 0.05, sizes: Sequence[int] = (8, 16, 24, 32, 40, 48, 56)) -> Iterator[Check]:
    """The number of pairs that are far apart."""
    law, few = far_law(64, 64 // 8), sizes[0]
    far = [(abs(np.diff(pairs)) >= few // 4).sum() for pairs in all_pairings(few)]
    counted = np.bincount(far, minlength=few // 2 + 1) / len(far)
    frame = far_pairs(sizes, delta)
    off = sum(abs(row.mean - far_mean(row.m, row.m // 8)) > ROUNDING for row in frame.itertuples(name="Row"))
    what = "mean number of pairs at least m/8 apart, per m/8"
    yield printed(f"{what}, m = 64 (≈ read as within a factor of 2)", float(law @ np.arange(len(law))) / 8, "<=", 2)
    yield printed("chance that at most twice m/8 pairs are that far apart, m = 64", law[: 2 * 8 + 1].sum(), ">=", 0.5)
    yield amended(f"{what}, m = 10⁸", far_mean(10**8, 10**8 // 8) / (10**8 / 8), "==", 49 / 16, error=1e-6)
    what = f"of {len(frame)} m from {few} to {sizes[-1]}: how many have an exact mean other than the formula"
    yield amended(what, off, "==", 0)
    what = f"law of the pairs at least {few // 4} places apart, m = {few}, against that of all {len(far)} pairings"
    yield amended(what, abs(far_law(few, few // 4) - counted).max(), "<=", ROUNDING)
    what = f"largest chance of fewer than m₁ such pairs, m = {few} .. {sizes[-1]}, δ = {delta:g} (the paper allows δ/2)"
    yield amended(what, frame.below.max(), "<=", delta / 2)
