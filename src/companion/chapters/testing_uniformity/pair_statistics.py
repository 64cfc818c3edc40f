"""Disjoint pairs and UNIF (Busa-Fekete, Fotakis and Zampetakis 2021, Section 4.2): what the chapter computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_pairings, all_rankings, divergence, exponent, mean_square_bias
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import Unif, pair_statistic, unif_null_sf, unif_sf

#: Probability that an interval of a simulated power misses it.
MISS = 1e-4
#: The printed threshold keeps its size from m = CALM log(1 / delta) on; see `check_alg_2`.
CALM = 6.1
#: How two pairs can lie in the centre: places of the items.
CONFIGURATIONS = {
    "separated": ((0, 1), (2, 3)),
    "nested": ((0, 3), (1, 2)),
    "crossing": ((0, 2), (1, 3)),
}

Pairs = tuple[tuple[int, int], ...] | NDArray[np.int64]


# --- which pairs are independent --------------------------------------------------------------------------------------


@cache
def _distances(n_items: int) -> NDArray[np.int64]:
    """Distances of all rankings from the identity."""
    return kendall_distances(all_rankings(n_items), np.arange(n_items))


def sign_law(n_items: int, phi: float, pairs: Pairs) -> NDArray[np.float64]:
    """Exact joint law of the signs of pairs, by enumeration of all rankings.

    Returns
    -------
    ndarray of float, shape (2,) * pairs
        Index 1 where the first item of the pair comes first.
    """
    index = tuple((pair_signs(all_rankings(n_items), np.array(pairs)).T + 1) // 2)
    law = np.zeros((2,) * len(pairs))
    np.add.at(law, index, phi ** _distances(n_items).astype(float))
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

    Returns
    -------
    pandas.DataFrame
        ``crossings`` of the pairing, ``pairings`` (how many), ``least`` and ``largest`` total variation distance from
        independence among them.
    """
    rows = [
        {"crossings": crossings(pairs), "distance": dependence(n_items, phi, pairs)} for pairs in all_pairings(n_items)
    ]
    spread = pd.DataFrame(rows).groupby("crossings").distance
    return spread.agg(pairings="count", least="min", largest="max").round(12).reset_index()


def crossing_rates(n_items: int, theta: float) -> pd.DataFrame:
    """Covariance of crossing pairs that reach over all items.

    Returns
    -------
    pandas.DataFrame
        For pairs (a, b), (c, d) with a < c < b < d, a = 0 and d the last of the items: ``c``, ``b``,
        ``covariance``.
    """
    last, phi = n_items - 1, math.exp(-theta)
    rows = [
        {
            "c": c,
            "b": b,
            "covariance": covariance(n_items, phi, ((0, b), (c, last))),
        }
        for c in range(1, last)
        for b in range(c + 1, last)
    ]
    return pd.DataFrame(rows)


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

    Returns
    -------
    pandas.DataFrame
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

    Parameters
    ----------
    n_items : int
        Even.
    apart_by : int
        At most 14 or so: the cost grows as 2^apart_by times the square of the items.

    Returns
    -------
    ndarray of float, shape (n_items / 2 + 1,)
        Probability of 0, 1, ... such pairs.

    Notes
    -----
    The number of ways to choose r disjoint pairs that are all closer is counted item by item, in whole numbers, with
    the set of the recent items that are taken as the state. Inclusion and exclusion over the pairings of the other
    items gives the law.
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


def far_pairs(sizes: Iterable[int], delta: float) -> pd.DataFrame:
    """Pairs at least m / 8 places apart in a random pairing, exactly.

    Returns
    -------
    pandas.DataFrame
        ``m``, ``m / 8``, ``mean``, ``low`` (the number is below it with probability at most `delta` / 2), ``m1`` (the
        paper's), ``below`` (probability of fewer than m1).
    """
    rows = []
    for m in sizes:
        law = far_law(m, math.ceil(m / 8))
        below = np.cumsum(law)
        m1 = m / 8 - math.sqrt(m * math.log(2 / delta) / 16)
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


# --- size -------------------------------------------------------------------------------------------------------------


def size_at_atoms(n_items: int, n_rankings: int) -> pd.DataFrame:
    """The printed threshold against the exact law of Y, for all significances at once.

    A value v of Y above m/2 is rejected if log(1/delta) <= (v - m/2)^2 / (4m). The size is at most delta for every
    delta if and only if P(Y >= v) <= exp(-(v - m/2)^2 / (4m)) at every v that Y can take.

    Returns
    -------
    pandas.DataFrame
        ``value``, ``size`` (P(Y >= value)), ``delta`` (the least with which `value` is rejected), ``ours`` (the same
        for the threshold m/2 + sqrt(2 m log(1/delta)) + 2 log(1/delta)).
    """
    pairs, k = n_items // 2, n_rankings
    # the lattice of `dprank.uniformity.unif`: k Y is 4 w or N + 8 w
    base, step = (0, 4) if k % 2 == 0 else (1, 8)
    most = min(pairs * k, pairs + 12 * math.sqrt(pairs) + 60)
    value = (base * pairs + step * np.arange((k * most - base * pairs) // step + 1)) / k
    value = value[value > n_items / 2]
    size = unif_null_sf(pairs, k, value)
    real = (size > 1e-8) & (size - np.append(size[1:], 0) > 1e-10)  # values that do occur, above the table's rounding
    excess = value - n_items / 2
    ours = (np.sqrt(n_items / 2 + 2 * excess) - math.sqrt(n_items / 2)) ** 2 / 4
    frame = {"value": value, "size": size, "delta": np.exp(-(excess**2) / (4 * n_items)), "ours": np.exp(-ours)}
    return pd.DataFrame(frame)[real].reset_index(drop=True)


def null_size(n_items: int, n_rankings: int, threshold: float) -> float:
    """Exact probability that uniform rankings reach a threshold."""
    return float(unif_null_sf(n_items // 2, n_rankings, threshold))


def null_curves(sizes: Iterable[tuple[int, int]], points: int = 150) -> pd.DataFrame:
    """The exact law of Y for uniform rankings, in the unit of the printed threshold.

    Returns
    -------
    pandas.DataFrame
        ``m``, ``k``, ``excess`` ((y - m/2) / sqrt(m)), ``size`` (P(Y >= y)), ``promised`` (the delta whose printed
        threshold is y).
    """
    frames = []
    for m, k in sizes:
        frame = size_at_atoms(m, k)
        frame = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, points).round().astype(int))]
        excess = (frame.value - m / 2) / math.sqrt(m)
        curve = {"m": m, "k": k, "excess": excess, "size": frame["size"], "promised": frame.delta}
        frames.append(pd.DataFrame(curve))
    return pd.concat(frames, ignore_index=True)


@claim("busafekete2021:alg-2")
def check_alg_2() -> Iterator[Check]:
    """Size of UNIF with the printed threshold, with one that holds for every significance, and with the exact one."""
    few = paper.unif(2, 0.015).threshold
    yield printed("size, m = 2, k = 7, δ = 0.015", null_size(2, 7, few), "<=", 0.015)
    k, delta = paper.unif_samples(2, math.log(3), 1e-3), 1e-3
    size = null_size(2, int(k), paper.unif(2, delta).threshold)
    yield printed(f"size, m = 2, φ_ε = 1/3, the algorithm's k = {k:,.0f}, δ = 0.001", size, "<=", delta)
    size = null_size(10, 10_000, paper.unif(10, 1e-4).threshold)
    yield printed("size, m = 10, k = 10,000, δ = 0.0001", size, "<=", 1e-4)
    calm, ours = [], []
    for m in (2, 4, 6, 8, 10, 14, 20, 30, 40, 60):
        for k in (2, 3, 4, 5, 6, 7, 9, 12, 20, 51, 200):
            frame = size_at_atoms(m, k)
            inside = frame[np.log(1 / frame.delta) <= m / CALM]
            calm += [(inside["size"] / inside.delta).max()] if len(inside) else []
            ours += [(frame["size"] / frame.ours).max()] if len(frame) else []
    what = f"largest size / δ, m = 2 .. 60, k = 2 .. 200, all δ with m ≥ {CALM} log(1/δ)"
    yield supplied(what, max(calm), "<=", 1, error=1e-6)
    what = "largest size / δ with the threshold m/2 + √(2m log(1/δ)) + 2 log(1/δ), all δ"
    yield amended(what, max(ours), "<=", 1, error=1e-6)
    few = max(
        null_size(m, k, paper.unif(m, 0.05).threshold) for m in range(2, 19) for k in (*range(2, 31), 50, 100, 1000)
    )
    what = "size as printed at δ = 0.05, largest, m = 2 .. 18, k = 2 .. 30, 50, 100, 1000"
    yield amended(what, few, "<=", 0.05)
    for m, k in ((2, 7), (10, 20), (100, 2), (10000, 2)):
        size = null_size(m, k, Unif.calibrated(n_items=m, n_voters=k, size=0.05).threshold)
        yield amended(f"size with the exact threshold, m = {m}, k = {k}, δ = 0.05", size, "<=", 0.05)


def thresholds(sizes: Iterable[tuple[int, int]], delta: float) -> pd.DataFrame:
    """Thresholds of UNIF and their exact sizes.

    Returns
    -------
    pandas.DataFrame
        ``m``, ``k``, ``as printed``, ``size as printed``, ``exact``, ``size exact``.
    """
    rows = []
    for m, k in sizes:
        as_printed, exact = paper.unif(m, delta).threshold, Unif.calibrated(n_items=m, n_voters=k, size=delta).threshold
        sizes_of = unif_null_sf(m // 2, k, [as_printed, exact])
        rows.append(
            {
                "m": m,
                "k": k,
                "as printed": as_printed,
                "size as printed": sizes_of[0],
                "exact": exact,
                "size exact": sizes_of[1],
            }
        )
    return pd.DataFrame(rows)


# --- moments ----------------------------------------------------------------------------------------------------------


def square_moments(n_rankings: int, bias: float) -> tuple[float, float]:
    """Mean and variance of S^2 / k, S the sum of k independent signs of mean `bias`."""
    k, b = n_rankings, bias * bias
    return 1 + (k - 1) * b, (1 - 1 / k) * (2 * (1 - b * b) + 4 * (k - 2) * b * (1 - b))


@claim("busafekete2021:sec-4.2:moments")
def check_moments() -> Iterator[Check]:
    """Moments of one pair's statistic and the orders the paper gives them."""
    yield printed(
        "largest mean of Y_i under H₀, k = 2 .. 10⁶", max(square_moments(k, 0)[0] for k in (2, 10, 10**6)), "<=", 1
    )
    yield printed(
        "largest variance of Y_i under H₀, k = 2 .. 10⁶", max(square_moments(k, 0)[1] for k in (2, 10, 10**6)), "<=", 2
    )
    ratios, sizes = [], [10**4, 10**6, 10**8, 10**10]
    for m in sizes:
        theta = 16 / m * math.atanh(1e-3)  # mu = 0.001
        k = int(paper.unif_samples(m, theta, 0.05))
        ratios.append(square_moments(k, float(Mallows(m, theta).bias(m // 8)))[1] / (k * 1e-6))
    slope = exponent(sizes, ratios)
    what = "V[Y_i] / (kμ²) under H₁, a pair m/8 apart, line 5's k, μ = 0.001, m = 10¹⁰, against m = 10⁴: growth"
    yield printed(what, ratios[-1] / ratios[0], "<=", 10)
    yield printed("exponent of m in that ratio (0 for a bounded one)", slope, "<=", 0.1)
    means, spreads, sums = [], [], []
    for m in (16, 100, 1000):
        for theta in np.geomspace(1e-6, 2, 25) / m * 16:
            law, mu = Mallows(m, float(theta)), paper.unif_bias(m, float(theta))
            b = float(law.bias(math.ceil(m / 8)))
            for k in (2, 10, 10**4):
                mean, variance = square_moments(k, b)
                means.append(mean / (k * mu**2))
                spreads.append(variance / (2 + 4 * k * b * b))
                sums.append((1 + (k - 1) * mean_square_bias(law)) / (2 * k * mu**2))
    yield amended("least E[Y_i] / (kμ²), pairs m/8 apart", min(means), ">=", 4 / 9)
    yield amended("largest V[Y_i] / (2 + 4k b²)", max(spreads), "<=", 1)
    yield amended("least E[Y] / (mkμ²), random pairing", min(sums), ">=", 0.17)


# --- samples and power ------------------------------------------------------------------------------------------------


def small_samples(n_items: int, theta: float, delta: float) -> int:
    """The paper's number of samples for small m, by the bias of neighbours."""
    need = math.log(1 / delta) / n_items
    return 1 + math.ceil((48 * need + 16 * math.sqrt(need)) / math.tanh(theta / 2) ** 2)


def family_samples(n_items: int, theta: float, delta: float, exponent: float, far: float) -> int:
    """Line 5 of Algorithm 2 with another exponent of phi in mu, and another number of far pairs for m_1."""
    spread = n_items * math.log(2 / delta)
    mu = math.tanh(theta * exponent / 2)
    return 1 + math.ceil((12 * spread / far**2 + 10 * math.sqrt(spread) / far) / mu**2)


def line_5(sizes: Iterable[int], mu: float, delta: float) -> pd.DataFrame:
    """The printed number of samples at a given mu: ``m``, ``m1``, ``k``."""
    rows = [
        {
            "m": m,
            "m1": m / 8 - math.sqrt(m * math.log(2 / delta) / 16),
            "k": paper.unif_samples(m, 16 / m * math.atanh(mu), delta),
        }
        for m in sizes
    ]
    return pd.DataFrame(rows)


def rejections(
    n_items: int, theta: float, n_rankings: int, threshold: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """UNIF on Mallows rankings, a fresh pairing every time; the centre does not matter then."""
    law = Mallows(n_items, theta)
    rejected = np.zeros(repetitions, bool)
    for r in range(repetitions):
        signs = pair_signs(law.sample(n_rankings, rng=rng), disjoint_pairs(n_items, rng=rng))
        rejected[r] = pair_statistic(signs) >= threshold
    return rejected


def powers(sizes: Iterable[int], biases: Iterable[float], delta: float, repetitions: int) -> pd.DataFrame:
    """Power of UNIF as printed with the printed number of samples, and with a middle member of the paper's family.

    Parameters
    ----------
    sizes : iterable of int
    biases : iterable of float
        Values of the paper's mu, which say how far the alternative is.
    delta : float
    repetitions : int

    Returns
    -------
    pandas.DataFrame
        As of `sweep`, ``mean`` the power; ``samples`` ("line 5" or "family"), ``mu``.
    """
    cells, about = [], []
    for m in sizes:
        for mu in biases:
            theta = 16 / m * math.atanh(mu)
            for name, k in (
                ("line 5", int(paper.unif_samples(m, theta, delta))),
                ("family", family_samples(m, theta, delta, m / 16, 9 * m / 16)),
            ):
                threshold = paper.unif(m, delta).threshold
                cells.append({"n_items": m, "theta": theta, "n_rankings": k, "threshold": threshold})
                about.append({"samples": name, "mu": mu})
    frame = sweep(rejections, cells, experiment="busafekete2021:thm-5", repetitions=repetitions)
    return pd.concat([pd.DataFrame(about), frame], axis=1)


def at_least(what: str, row: pd.Series, bound: float, about: str = "corrected", reading: str = "") -> Check:
    """A simulated power against a bound, with a Clopper-Pearson interval that misses it with probability `MISS`."""
    hits = round(row["mean"] * row.repetitions)
    low = stats.beta.ppf(MISS / 2, hits, row.repetitions - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - MISS / 2, hits + 1, row.repetitions - hits) if hits < row.repetitions else 1.0
    return Check(what, (low + high) / 2, ">=", bound, about, reading, (high - low) / 2)


def one_pair_power(n_items: int, theta: float, delta: float) -> float:
    """A lower bound on the power of UNIF as printed with the printed samples: a single far pair must do it alone."""
    k, threshold = int(paper.unif_samples(n_items, theta, delta)), paper.unif(n_items, delta).threshold
    apart_by = math.ceil(n_items / 8)
    alone = float(unif_sf(1, k, threshold, float(Mallows(n_items, theta).bias(apart_by))))
    return (1 - float(far_law(n_items, apart_by)[0])) * alone


@claim("busafekete2021:alg-2:k")
def check_alg_2_k(frame: pd.DataFrame, delta: float = 0.05) -> Iterator[Check]:
    """The number of samples in line 5: where it is defined, and whether it is enough there."""
    yield printed(
        "k, m = 12, δ = 2e⁻³, φ_ε = 1/2", paper.unif_samples(12, math.log(2), 2 * math.exp(-3)), "<", math.inf
    )
    for m in (16, 24, 32, 40, 56):
        for mu in (0.01, 0.5, 0.99):
            power = one_pair_power(m, 16 / m * math.atanh(mu), delta)
            yield amended(f"power, one pair alone, m = {m}, μ = {mu:g}, δ = {delta:g}", power, ">=", 1 - delta)
    yield from _simulated(frame, "line 5", delta)


def _simulated(
    frame: pd.DataFrame, samples: str, delta: float, about: str = "corrected", reading: str = ""
) -> list[Check]:
    return [
        at_least(
            f"power (mid-interval), {samples}, m = {row.n_items}, μ = {row.mu:g}, k = {row.n_rankings}, δ = {delta:g}",
            row, 1 - delta, about, reading,
        )
        for _, row in frame[frame.samples == samples].iterrows()
    ]  # fmt: skip


def too_few(constant: float, delta: float, phi: float = 0.5) -> tuple[int, int]:
    """The least m (a power of ten) at which Theorem 5's samples, times a constant and rounded up, are a single one."""
    m = 10
    while True:
        mu = paper.unif_bias(m, -math.log(phi))
        k = math.ceil(constant / mu**2 * math.sqrt(math.log(1 / delta) / m))
        if k <= 1:
            return m, k
        m *= 10


def needed_over_stated(deltas: Iterable[float], n_items: int = 10, phi: float = 0.5) -> pd.DataFrame:
    """Samples that any test needs, over Theorem 5's without its constant, as the significance shrinks.

    Returns
    -------
    pandas.DataFrame
        ``delta``, ``log`` (of 1 / delta), ``needed`` (log(1 / (4 delta)) over the divergence), ``stated``, ``ratio``.
    """
    law = Mallows.of_phi(n_items, phi)
    mu = paper.unif_bias(n_items, law.theta)
    frame = pd.DataFrame({"delta": list(deltas)})
    frame["log"] = -np.log(frame.delta)
    frame["needed"] = (frame.log - math.log(4)) / divergence(law)
    frame["stated"] = np.sqrt(frame.log / n_items) / mu**2
    return frame.assign(ratio=frame.needed / frame.stated)


@claim("busafekete2021:thm-5")
def check_thm_5(frame: pd.DataFrame, delta: float = 0.05) -> Iterator[Check]:
    """Theorem 5's order of the samples: many items, small significance, and line 5 in its place."""
    for constant in (1, 10, 100):
        m, k = too_few(constant, delta)
        power = null_size(m, k, paper.unif(m, delta).threshold)  # of one ranking Y is always m / 2
        what = f"power, k = ⌈{constant} μ⁻² √(log(1/δ)/m)⌉ = {k}, m = {m:,}, φ_ε = 1/2, δ = {delta:g}"
        yield printed(what, power, ">=", 1 - delta)
    ratios = needed_over_stated([1e-20, 1e-40, 1e-80, 1e-160])
    slope = exponent(ratios.log, ratios.ratio)
    what = (
        "exponent of log(1/δ) in (samples any test needs) / (μ⁻² √(log(1/δ)/m)), m = 10, φ_ε = 1/2, δ = 10⁻²⁰ .. 10⁻¹⁶⁰"
    )
    yield printed(what, slope, "<=", 0)
    for m in (32, 100, 1000):
        size = null_size(m, 12, paper.unif(m, delta).threshold)
        yield amended(f"size of the printed threshold, m = {m}, k = 12, δ = {delta:g}", size, "<=", delta)
    yield from _simulated(frame, "line 5", delta)


def mean_statistic(law: Mallows, n_rankings: int) -> float:
    """Exact mean of UNIF's Y for Mallows rankings of an even number of items, over rankings and pairings."""
    return law.n_items / 2 * (1 + (n_rankings - 1) * mean_square_bias(law))


def pairing_gain(sizes: Iterable[int], mu: float) -> pd.DataFrame:
    """What a random pairing gains over a fixed one whose pairs an adversary made neighbours in the centre.

    Returns
    -------
    pandas.DataFrame
        ``m``, ``1 - phi``, ``random`` and ``neighbours`` (mean squared bias of a pair), ``gain`` (their ratio: that of
        the rankings that move Y equally far), ``2m²/27`` (its limit near the uniform law).
    """
    rows = []
    for m in sizes:
        law = Mallows(m, 16 / m * math.atanh(mu))
        random, near = mean_square_bias(law), float(law.bias(1)) ** 2
        row = {"m": m, "1 - phi": -math.expm1(-law.theta), "random": random, "neighbours": near}
        rows.append(row | {"gain": random / near, "2m²/27": 2 * m * m / 27})
    return pd.DataFrame(rows)


def adjacent_power(n_items: int, mu: float, delta: float, n_rankings: int) -> float:
    """Exact power of UNIF as printed where all pairs are neighbours in the centre, whose signs have mean `mu`."""
    return float(unif_sf(n_items // 2, n_rankings, paper.unif(n_items, delta).threshold, mu))


@claim("busafekete2021:sec-4.2:small-m")
def check_small_m() -> Iterator[Check]:
    """The mean of Y by the bias of neighbours, and the number of samples that goes with it."""
    phi, k = 0.5, 10
    law, mu = Mallows.of_phi(4, phi), (1 - phi) / (1 + phi)
    stated = 4 * (1 + (k - 1) * mu**2) / 2
    drawn, chosen = "the pairing is random", "all pairs are neighbours in the centre"
    what = f"E[Y], m = 4, φ = 1/2, k = {k}"
    signs = sign_law(4, phi, CONFIGURATIONS["separated"]) @ np.array([[-1.0], [1.0]])
    nearest = 2 * float(signs.sum()) ** 2 * (k - 1) + 2
    yield printed(what, mean_statistic(law, k), "==", stated, reading=drawn, error=ROUNDING)
    yield printed(what, nearest, "==", stated, reading=chosen, error=ROUNDING)
    k, delta = small_samples(2, math.log(3), 1e-3), 1e-3
    size = null_size(2, k, paper.unif(2, delta).threshold)
    what = f"size, m = 2, φ_ε = 1/3, k = {k}, δ = 0.001"
    for reading in (drawn, chosen):
        yield printed(what, size, "<=", delta, reading=reading)
    grid = [Mallows.of_phi(m, phi) for m in (2, 4, 10, 50) for phi in (0.1, 0.5, 0.9, 0.999)]
    least = min(mean_square_bias(law) / float(law.bias(1)) ** 2 for law in grid)
    what = "least (E[Y] - m/2) / ((k-1) m μ′²/2), random pairing, m = 2 .. 50"
    yield amended(what, least, ">=", 1 - ROUNDING)
    worst, size = adjacent_margins(small_samples)
    yield amended("least (power - (1-δ)) / δ, all pairs neighbours, m = 2 .. 1000", worst, ">=", 0)
    what = f"largest size / δ of them where m ≥ {CALM} log(1/δ)"
    yield amended(what, size, "<=", 1)


def adjacent_margins(samples: Callable[[int, float, float], int]) -> tuple[float, float]:
    """Least margin of the exact power, and largest size / delta, of a number of samples where all pairs are neighbours.

    Over m = 2 .. 1000, mean signs 0.1 .. 0.99 and delta = 0.5 .. 0.01; the size only where m >= CALM log(1 / delta).
    """
    margins, sizes = [], [0.0]
    for m in (2, 4, 6, 10, 30, 100, 1000):
        for mu in (0.1, 0.3, 0.6, 0.9, 0.99):
            for delta in (0.5, 0.2, 0.05, 0.01):
                k = samples(m, 2 * math.atanh(mu), delta)
                margins.append((adjacent_power(m, mu, delta, k) - (1 - delta)) / delta)
                if m >= CALM * math.log(1 / delta):
                    sizes.append(adjacent_power(m, 0, delta, k) / delta)
    return min(margins), max(sizes)


@claim("busafekete2021:sec-4.2:small-m-family")
def check_family(frame: pd.DataFrame, delta: float = 0.05) -> Iterator[Check]:
    """The last member of the family, exponent 1 and m_1 = m: as a number of pairs, and as a number in a formula."""
    counts, formula = "m₁ is a number of pairs", "m₁ is a number in the formula"
    yield printed("pairs at least 1 place apart, m = 10", 10 // 2, ">=", 10, reading=counts)
    worst, _ = adjacent_margins(lambda m, theta, delta: family_samples(m, theta, delta, 1, m))
    what = "least (power - (1-δ)) / δ, exponent 1, m₁ = m, all pairs neighbours, m = 2 .. 1000"
    yield printed(what, worst, ">=", 0, reading=formula)
    yield from _simulated(frame, "family", delta, "printed", formula)
    worst, _ = adjacent_margins(lambda m, theta, delta: family_samples(m, theta, delta, 1, m / 2))
    what = "least (power - (1-δ)) / δ, exponent 1, m₁ = m/2, all pairs neighbours, m = 2 .. 1000"
    yield amended(what, worst, ">=", 0)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_null_law(frame: pd.DataFrame) -> Figure:
    """Exact tails of UNIF's statistic for uniform rankings against what the printed threshold promises."""
    figure = Figure(figsize=(6.8, 3.8))
    axes = figure.subplots()
    for (sizes, part), colour, mark in zip(frame.groupby(["m", "k"], sort=False), COLOURS, "osD^v", strict=False):
        m, k = sizes
        few = len(part) < 12
        label = f"m = {m:,}, k = {k:,}"
        axes.plot(
            part.excess, part["size"], color=colour, marker=mark if few else "", ls=":" if few else "-", label=label
        )
    excess = np.linspace(0, frame.excess.max(), 200)
    axes.plot(excess, np.exp(-(excess**2) / 4), color="black", lw=1.2, label="promised δ")
    axes.set(xlabel="(y − m/2) / √m", ylabel="P(Y ≥ y), uniform rankings", yscale="log", ylim=(1e-6, 1.3))
    axes.legend(loc="lower left")
    return figure
