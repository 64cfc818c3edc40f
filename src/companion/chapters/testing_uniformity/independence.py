"""Which pairs of signs are independent, how biased they are, and what lies far apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_distances, all_pairings, all_rankings
from companion.ledger.claim import Check, amended, claim, printed
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import pair_signs

#: How two pairs can lie in the centre: places of the items.
CONFIGURATIONS = {"separated": ((0, 1), (2, 3)), "nested": ((0, 3), (1, 2)), "crossing": ((0, 2), (1, 3))}

Pairs = tuple[tuple[int, int], ...] | NDArray[np.int64]


def sign_law(n_items: int, phi: float, pairs: Pairs) -> NDArray[np.float64]:
    """Exact joint law of the signs of pairs, by enumeration of all rankings.

    Index 1 where the first item of the pair comes first.
    """
    index = tuple((pair_signs(all_rankings(n_items), np.array(pairs)).T + 1) // 2)
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
    """Exact covariance of the statistics of two pairs of four items, from the moments of their signs."""
    law, k = sign_law(4, phi, pairs), n_rankings
    sign = np.array([-1.0, 1.0])
    one, two, both = sign @ law.sum(1), sign @ law.sum(0), sign @ law @ sign
    same = 2 * k * (k - 1) * (both**2 - one**2 * two**2)
    shared = 4 * k * (k - 1) * (k - 2) * (both - one * two) * one * two
    return float((same + shared) / k**2)


@claim("busafekete2021:sec-4.2:independence")
def check_independence() -> Iterator[Check]:
    """Mutual independence of the pairs' statistics, under both hypotheses."""
    all_of_six = all_pairings(6)
    uniform = max(dependence(6, 1.0, pairs) for pairs in all_of_six)
    what = "distance of the signs from independence, "
    yield printed(f"{what}all {len(all_of_six)} pairings of 6 items, φ = 1", uniform, "==", 0, error=ROUNDING)
    for name, pairs in CONFIGURATIONS.items():
        what = f"covariance of the squares of two {name} pairs, 4 items, φ = 1/2, k = 2"
        yield printed(what, squares_covariance(0.5, 2, pairs), "==", 0, error=ROUNDING)
    for phi in (0.1, 0.5, 0.9):
        table = pairings(6, phi)
        calm, crossed = table[table.crossings == 0], table[table.crossings > 0]
        what = f"distance of the signs from independence, 6 items, φ = {phi:g}, "
        these = f"the {calm.pairings.sum()} pairings without crossings"
        yield amended(what + these, calm.largest.max(), "==", 0, error=ROUNDING)
        these = f"least of the {crossed.pairings.sum()} with crossings"
        yield amended(what + these, crossed.least.min(), ">", ROUNDING)
    least = min(crossing_rates(m, theta).covariance.min() for m in (4, 5, 6) for theta in (0.1, 0.5, 1.0, 2.0))
    what = "least covariance of two crossing pairs that reach over 4, 5 or 6 items, θ = 0.1 .. 2"
    yield amended(what, least, ">", ROUNDING)


# --- bias -------------------------------------------------------------------------------------------------------------


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
def _bias_grid() -> pd.DataFrame:
    phis = np.unique(np.r_[np.linspace(0.02, 0.98, 49), 1 - np.geomspace(1e-6, 0.5, 60)])
    return bias_ratios([*range(2, 41), 100, 1000, 10000], phis)


def least_failing_items() -> int:
    """The smallest number of items at which the printed bound on the bias fails for some phi of our grid."""
    frame = _bias_grid()
    return int(frame[frame.ratio < 1 - ROUNDING].m.min())


@claim("busafekete2021:sec-4.2:bias")
def check_bias() -> Iterator[Check]:
    """The printed lower bound on the bias, in three readings, and ours."""
    frame = _bias_grid()
    failing = frame[frame.ratio < 1 - ROUNDING]
    least = failing[failing.m == failing.m.min()]
    first = least.loc[least.ratio.idxmin()]
    worst = frame.loc[frame.ratio.idxmin()]
    chance = frame[frame.before < frame.mu - ROUNDING].iloc[0]
    for row in (first, worst):
        what = f"P(i first) - P(j first), {row.apart:.0f} places apart, m = {row.m:.0f}, φ = {row.phi:.6g}"
        yield printed(what, row.bias, ">=", row.mu, reading="bias is a difference of probabilities")
    what = f"P(i first) - 1/2, {first.apart:.0f} places apart, m = {first.m:.0f}, φ = {first.phi:.6g}"
    yield printed(what, first.bias / 2, ">=", first.mu, reading="bias is an excess over 1/2")
    what = f"P(j first), {chance.apart:.0f} places apart, m = {chance.m:.0f}, φ = {chance.phi:.6g}, at most 1 − μ"
    yield printed(what, 1 - chance.before, "<=", 1 - chance.mu, reading="bias is the probability")
    what = "least ratio of the bias to tanh(θg/2), g = 1 .. 2000 places apart, θg from 1e-6 to 60"
    places, ratios = np.arange(1, 2001), []
    for theta in np.geomspace(1e-6 / 2000, 60, 300).tolist():
        g = places[(theta * places >= 1e-6) & (theta * places <= 60)]
        ratios.append(float((Mallows(2001, theta).bias(g) / np.tanh(theta * g / 2)).min()))
    yield amended(what, min(ratios), ">=", 2 / 3, error=1e-6)


# --- pairs that lie far apart -----------------------------------------------------------------------------------------


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
    chosen = [0] * (total + 1)
    for ways in states.values():
        for r, number in enumerate(ways):
            chosen[r] += number
    free = [math.prod(range(n_items - 2 * r - 1, 0, -2)) for r in range(total + 1)]  # pairings of the other items
    close = [
        sum((-1) ** (r - j) * math.comb(r, j) * chosen[r] * free[r] for r in range(j, total + 1))
        for j in range(total + 1)
    ]
    return np.array([number / free[0] for number in reversed(close)])


def far_mean(n_items: int, apart_by: int) -> float:
    """Expected number of pairs at least `apart_by` places apart, for a random pairing of an even number of items."""
    return (n_items - apart_by) * (n_items - apart_by + 1) / (2 * (n_items - 1))


def m_1(n_items: ArrayLike, delta: float) -> NDArray[np.float64]:
    """The paper's number of pairs that are far apart."""
    m = np.asarray(n_items, float)
    return m / 8 - np.sqrt(m * math.log(2 / delta) / 16)


def far_pairs(sizes: Iterable[int], delta: float) -> pd.DataFrame:
    """Pairs at least m / 8 places apart in a random pairing, exactly.

    ``m``, ``m / 8``, ``mean``, ``low`` (the number is below it with probability at most `delta` / 2), ``m1`` (the
    paper's), ``below`` (probability of fewer than m1).
    """
    rows = []
    for m in sizes:
        law = far_law(m, math.ceil(m / 8))
        below = np.cumsum(law)
        m1 = float(m_1(m, delta))
        short = float(law[: max(0, math.ceil(m1))].sum())
        row = {"m": m, "m / 8": m / 8, "mean": law @ np.arange(len(law)), "low": int((below <= delta / 2).sum())}
        rows.append(row | {"m1": m1, "below": short})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-4.2:m1")
def check_m1(delta: float = 0.05) -> Iterator[Check]:
    """The number of pairs that are far apart."""
    for m in (64, 10**4, 10**8):
        what = f"mean number of pairs at least m/8 apart, per m/8, m = {m:,} (≈ read as within a factor of 2)"
        yield printed(what, far_mean(m, math.ceil(m / 8)) / (m / 8), "<=", 2)
    law = far_law(64, 8)
    what = "chance that at most twice m/8 pairs are that far apart, m = 64"
    yield printed(what, law[:17].sum(), ">=", 0.5)
    frame = far_pairs(range(16, 57, 8), delta)
    what = f"largest chance of fewer than m₁ such pairs, m = 16 .. 56, δ = {delta:g}"
    yield amended(what, frame.below.max(), "<=", delta / 2)
    what = "mean number of such pairs per m/8, m = 10⁸"
    yield amended(what, far_mean(10**8, 10**8 // 8) / (10**8 / 8), "==", 49 / 16, error=1e-6)
