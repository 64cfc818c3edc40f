"""Busa-Fekete, Fotakis and Zampetakis (2021), Sections 7, 7.1 and 7.2: power without privacy, and a better test.

Rankings are drawn around the identity and the items then get random names. That is the paper's random centre; only
tests that look at fixed items, or at a fixed centre, notice it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import joblib
import numba
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.instruments.allowance import Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import certain, exponent, mean_square_bias, wilson
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distances
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.friedman import friedman_statistic

#: What "power equal to 1" asks at least, when 1000 repetitions that all reject are its evidence.
DETECTED = 0.99
#: What two curves of 1000 repetitions can hide: their 95 % intervals together.
READING = 0.05
DELTA = 0.05
#: Panels of Figure 2: items and rankings.
PANELS = ((10, 10_000), (100, 100), (1000, 2), (10_000, 2))
#: Names of the tests that the figures compare.
TWO, UNIF = "2SAMP", "UNIF"
FIXED, ONE_SIDED, FIRST = "MA, any centre", "MA, any centre, one-sided", "MA, first ranking"
PRINTED, EXACT = "as printed", "equal size"
#: Compared by the number of rankings that they need.
RIVALS = (UNIF, "Friedman")


# --- simulated power and its errors ----------------------------------------------------------------------------------


def randomised(above: ArrayLike, at: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Probability of rejecting in the test of size exactly `delta`, given the null law around what was observed.

    Parameters
    ----------
    above, at : array_like of float
        Null probabilities of a statistic more extreme than the observed one, and of just the same.
    delta : float
    """
    at = np.asarray(at, float)
    spare = delta - np.asarray(above, float)
    return np.where(spare <= 0, 0.0, np.clip(spare / np.maximum(at, 1e-300), 0, 1))


def against_draws(observed: NDArray[Any], null: NDArray[Any], delta: float) -> NDArray[np.float64]:
    """`randomised` against simulated null statistics, large ones being extreme: the size is exactly `delta`.

    The observed statistic counts among the null ones, with which it is exchangeable under the null hypothesis.
    """
    null = np.sort(null)
    more = len(null) - np.searchsorted(null, observed, "right")
    same = 1 + np.searchsorted(null, observed, "right") - np.searchsorted(null, observed, "left")
    return randomised(more / (len(null) + 1), same / (len(null) + 1), delta)


# --- one grid for Figures 1 and 2 ------------------------------------------------------------------------------------


def spread(n_items: int, n_rankings: int, scaled: float) -> float:
    """-log phi at ``scaled`` units of ``m^(-5/4) (n - 1)^(-1/2)``, in which the power curves of all panels agree."""
    return scaled * n_items**-1.25 * (n_rankings - 1) ** -0.5


def row_distances(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """Kendall distance of each row of one array of rankings from the same row of another."""
    order = np.empty_like(b)
    np.put_along_axis(order, b, np.arange(b.shape[1], dtype=b.dtype)[None], axis=1)
    return kendall_distances(np.take_along_axis(a, order, axis=1), np.arange(b.shape[1]))


def power_draws(
    n_items: int, n_rankings: int, scaled: float, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Chance that each test rejects, given the same sampled rankings; for `sweep`.

    Parameters
    ----------
    n_items, n_rankings : int
        Two rankings, or few items: the pairwise matrix of the rankings is formed for more than two.
    scaled : float
        See `spread`.
    repetitions : int
    rng : numpy.random.Generator

    Returns
    -------
    dict
        By test and calibration: 0 or 1 as printed, a probability at equal size.
    """
    law = Mallows(n_items, spread(n_items, n_rankings, scaled))
    if n_rankings == 2:
        statistics = _two_rankings(law, repetitions, rng)
    else:
        statistics = _many_rankings(law, n_rankings, repetitions, rng)
    return _decisions(n_items, n_rankings, rng=rng, **statistics)


def _two_rankings(law: Mallows, repetitions: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    m = law.n_items
    names = rng.permuted(np.tile(np.arange(m), (repetitions, 1)), axis=1)
    a, b = (np.take_along_axis(law.sample(repetitions, rng=rng), names, axis=1) for _ in range(2))
    pairs = slice(0, m // 2 * 2, 2), slice(1, m // 2 * 2, 2)
    agree = ((a[:, pairs[0]] < a[:, pairs[1]]) == (b[:, pairs[0]] < b[:, pairs[1]])).sum(axis=1)
    middle = np.arange(m)
    fixed = (kendall_distances(a, middle) + kendall_distances(b, middle)) / 2
    apart = row_distances(a, b)
    return {"y": 2.0 * agree, "fixed": fixed, "first": apart.astype(float)}


def _many_rankings(
    law: Mallows, n_rankings: int, repetitions: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    m, n = law.n_items, n_rankings
    y, fixed, first = np.zeros((3, repetitions))
    for r in range(repetitions):
        rows = law.sample(n, rng=rng)
        wins = pairwise_wins(rows)
        centre = rng.permutation(m)
        order = np.argsort(centre)  # the items as the arbitrary centre ranks them; adjacent ones make a random pairing
        odd, even = order[0 : m // 2 * 2 : 2], order[1 : m // 2 * 2 : 2]
        y[r] = ((2 * wins[odd, even] - n) ** 2).sum() / n
        fixed[r] = np.triu(wins.T[np.ix_(order, order)]).sum() / n
        start = np.argsort(rows[0])
        first[r] = np.triu(wins.T[np.ix_(start, start)]).sum() / (n - 1)
    return {"y": y, "fixed": fixed, "first": first}


@numba.njit(cache=True, error_model="numpy")
def pairwise_wins(rows: Any) -> Any:
    """How many rankings put each item before each other one. O(n m^2)."""
    n, m = rows.shape
    wins = np.zeros((m, m), np.int64)
    for r in range(n):
        for i in range(m):
            for j in range(i + 1, m):
                wins[i, j] += rows[r, i] < rows[r, j]
    for i in range(m):
        for j in range(i + 1, m):
            wins[j, i] = n - wins[i, j]
    return wins


def unif_threshold(n_items: int, delta: float = DELTA) -> float:
    """Line 10 of Algorithm 2, at our significance: UNIF rejects from there on."""
    return paper.unif_threshold(n_items, delta)


def two_threshold(n_items: int, delta: float = DELTA) -> float:
    """Line 6 of Algorithm 1, at our significance: 2SAMP rejects up to that distance."""
    return paper.two_sample(n_items, delta).threshold


def _decisions(
    n_items: int,
    n_rankings: int,
    y: NDArray[np.float64],
    fixed: NDArray[np.float64],
    first: NDArray[np.float64],
    rng: np.random.Generator,
) -> dict[tuple[str, str], NDArray[np.float64]]:
    uniform = Mallows(n_items, 0.0)
    mean, variance = uniform.distance_moments()
    z_fixed = (fixed - mean) / math.sqrt(variance / n_rankings)
    z_first = (first - mean) / math.sqrt(variance / (n_rankings - 1))
    one, two = stats.norm.ppf(DELTA), stats.norm.ppf(DELTA / 2)
    pairs = n_items // 2
    if n_rankings == 2:
        law = stats.binom(pairs, 0.5)
        exact = randomised(law.sf(y / 2), law.pmf(y / 2), DELTA)
    else:
        signs = 2 * binomial(n_rankings, 0.5, (4999, pairs), rng=rng) - n_rankings
        exact = against_draws(y, (signs**2).sum(axis=1) / n_rankings, DELTA)
    decisions = {
        (UNIF, PRINTED): y >= unif_threshold(n_items),
        (UNIF, EXACT): exact,
        (FIXED, PRINTED): np.abs(z_fixed) >= -two,
        (ONE_SIDED, PRINTED): z_fixed <= one,
        (FIRST, PRINTED): z_first <= one,
    }
    if n_rankings == 2:
        below, upto = uniform.distance_cdf(first - 1), uniform.distance_cdf(first)
        decisions |= {
            (TWO, PRINTED): first <= two_threshold(n_items),
            (TWO, EXACT): randomised(below, upto - below, DELTA),
            ("gain", PRINTED): ((first <= two_threshold(n_items)).astype(float) - (y >= unif_threshold(n_items)) + 1)
            / 2,
        }
    return {label: np.asarray(value, float) for label, value in decisions.items()}


def power(panels: Iterable[tuple[int, int]], scaled: Sequence[float], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Power of every test on a grid of spreads, all tests on the same rankings.

    Parameters
    ----------
    panels : iterable of (int, int)
        Items and rankings.
    scaled : sequence of float
        See `spread`; 0 gives the size.
    repetitions, jobs : int

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``n_rankings``, ``scaled``, ``gap`` (1 - phi), ``test``, ``calibration``, ``mean``, ``se``,
        ``low`` and ``high`` (Wilson, 95 %), ``repetitions``. The rows of the test "gain" hold (1 + g) / 2, g the power
        of 2SAMP less that of UNIF, paired and as printed.
    """
    cells = [{"n_items": m, "n_rankings": n, "scaled": float(s)} for m, n in panels for s in scaled]
    frame = sweep(
        power_draws,
        cells,
        experiment="busafekete2021 power",
        repetitions=repetitions,
        outcomes=("test", "calibration"),
        jobs=jobs,
    )
    frame["gap"] = _gap(frame)
    frame["low"], frame["high"] = wilson(frame["mean"], frame.repetitions)
    return frame


def _gap(frame: pd.DataFrame) -> NDArray[np.float64]:
    rows = zip(frame.n_items, frame.n_rankings, frame.scaled, strict=True)
    return -np.expm1([-spread(m, n, s) for m, n, s in rows])


def crossing(x: ArrayLike, y: ArrayLike, level: float) -> float:
    """Where a rising power curve first reaches `level`, between grid points; NaN where it does not."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    reached = np.flatnonzero(y >= level)
    if not reached.size or reached[0] == 0:
        return math.nan
    k = reached[0]
    return float(x[k - 1] + (x[k] - x[k - 1]) * (level - y[k - 1]) / (y[k] - y[k - 1]))


def critical(frame: pd.DataFrame, level: float = 0.5) -> pd.DataFrame:
    """The 1 - phi at which each test reaches a power, by panel."""
    keys = ["n_items", "n_rankings", "test", "calibration"]
    rows = [
        dict(zip(keys, key, strict=True)) | {"scaled": crossing(part.scaled, part["mean"], level)}
        for key, part in frame[frame.test != "gain"].groupby(keys, sort=False)
    ]
    result = pd.DataFrame(rows)
    return result.assign(gap=_gap(result))


def scale_exponents(frame: pd.DataFrame, level: float = 0.5) -> pd.DataFrame:
    """Exponent of m in the 1 - phi that two rankings detect, from each number of items to the next.

    Returns
    -------
    pandas.DataFrame
        ``test``, ``calibration``, ``from``, ``to``, ``exponent``.
    """
    two = critical(frame, level)
    two = two[(two.n_rankings == 2) & two.gap.notna() & two.test.isin([TWO, UNIF])]
    return pd.DataFrame(
        {"test": test, "calibration": calibration, "from": a.n_items, "to": b.n_items}
        | {"exponent": math.log(b.gap / a.gap) / math.log(b.n_items / a.n_items)}
        for (test, calibration), part in two.groupby(["test", "calibration"])
        for a, b in pairwise(part.sort_values("n_items").itertuples())
    )


def _power_check(what: str, row: Any, relation: str, bound: float, about: str = "printed", reading: str = "") -> Check:
    mean = float(row["mean"])
    return Check(what, mean, relation, bound, about, reading, error=certain(mean, int(row.repetitions)))


def _at(frame: pd.DataFrame, n_items: int, scaled: float, test: str, calibration: str, n_rankings: int = 2) -> Any:
    of = frame[(frame.n_items == n_items) & (frame.n_rankings == n_rankings)]
    of = of[(of.test == test) & (of.calibration == calibration)]
    return of.iloc[(of.scaled - scaled).abs().argmin()]


# --- Figure 1 --------------------------------------------------------------------------------------------------------


@claim("busafekete2021:fig-1")
def check_figure_1(frame: pd.DataFrame) -> Iterator[Check]:
    """2SAMP against UNIF on two rankings, with the printed thresholds."""
    for m in sorted(frame.n_items.unique()):
        size = float(printed_sizes([m])[TWO].iloc[0])
        yield printed(f"probability that 2SAMP rejects uniform rankings, m = {m}", size, "<=", DELTA)
        row = _at(frame, m, 25, TWO, PRINTED)
        yield _power_check(f"power of 2SAMP, m = {m}, 1 − φ = {row.gap:.2g}", row, ">=", 0.9)
        gains = frame[(frame.n_items == m) & (frame.test == "gain")]
        worst = gains.loc[gains["mean"].idxmin()]
        best = gains.loc[gains["mean"].idxmax()]
        for word, row, relation, bound in (("least", worst, ">=", -READING), ("largest", best, ">", 0.0)):
            # a difference that no repetition showed may still be one in as many
            error = Z * math.hypot(2 * row.se, 1 / row.repetitions)
            what = f"{word} gain in power of 2SAMP over UNIF over the grid, m = {m}"
            yield printed(what, 2 * row["mean"] - 1, relation, bound, error=error)


def first_sizes(most: int = 100, delta: float = DELTA) -> dict[str, int]:
    """The least m at which each test as printed can reject anything, on two rankings. Exact."""
    return {
        TWO: next(m for m in range(2, most) if two_threshold(m, delta) >= 0),
        UNIF: next(m for m in range(2, most) if 2 * (m // 2) >= unif_threshold(m, delta)),
    }


def printed_sizes(n_items: Iterable[int]) -> pd.DataFrame:
    """Exact probability that the printed tests reject two uniform rankings."""
    return pd.DataFrame(
        {
            "n_items": m,
            TWO: float(Mallows(m, 0.0).distance_cdf(two_threshold(m))),
            UNIF: float(stats.binom(m // 2, 0.5).sf(math.ceil(unif_threshold(m) / 2) - 1)),
        }
        for m in n_items
    )


# --- Section 7.1: why, and from which 1 - phi on ---------------------------------------------------------------------


def rounds(n_items: int) -> NDArray[np.int64]:
    """All pairs of an even number of items as m - 1 pairings, the rounds of a tournament; shape (m - 1, m / 2, 2)."""
    turn, seat = np.arange(n_items - 1)[:, None], np.arange(1, n_items // 2)
    first = np.c_[turn, (turn + seat) % (n_items - 1)]
    second = np.c_[np.full_like(turn, n_items - 1), (turn - seat) % (n_items - 1)]
    return np.stack([first, second], axis=-1)


def signal_gain(pairings: ArrayLike) -> NDArray[np.float64]:
    """Signal over noise of the agreement of two rankings on several pairings, relative to one pairing.

    The product of a pair's two signs has variance 1 under uniform rankings, and covariance 1 / 9 with that of a pair
    that shares an item: 1 / 3 in either ranking. With J pairings a pair meets 2 (J - 1) such pairs.
    """
    j = np.asarray(pairings, float)
    return np.sqrt(j / (1 + 2 * (j - 1) / 9))


def agreement(law: Mallows, pairings: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs that two rankings order alike less those they do not, among the first J pairings; shape (J, size).

    With one pairing this is UNIF's ``Y - m / 2``, with all m - 1 it is the number of pairs less twice 2SAMP's distance.
    """
    m = law.n_items
    names = rng.permuted(np.tile(np.arange(m), (size, 1)), axis=1)
    pairs = rounds(m).reshape(-1, 2)
    signs = []
    for _ in range(2):
        rows = np.take_along_axis(law.sample(size, rng=rng), names, axis=1)
        signs.append(rows[:, pairs[:, 0]] < rows[:, pairs[:, 1]])
    total = np.where(signs[0] == signs[1], 1, -1).reshape(size, m - 1, m // 2).sum(axis=2).cumsum(axis=1)
    return total[:, np.asarray(pairings) - 1].T


def pairing_power(
    n_items: int, scaled: float, pairings: Sequence[int], repetitions: int, draws: int = 1999
) -> pd.DataFrame:
    """Power at equal size on two rankings when J pairings are looked at.

    Returns
    -------
    pandas.DataFrame
        ``pairings``, ``mean``, ``low``, ``high``, ``repetitions``, ``gain`` (`signal_gain`) and ``normal`` (the power
        of a normal statistic with that signal over noise).
    """
    law = Mallows(n_items, spread(n_items, 2, scaled))
    cell = {"n_items": n_items, "scaled": scaled}
    null = agreement(Mallows(n_items, 0.0), pairings, draws, stream("busafekete2021 pairings, null", cell))
    rows = agreement(law, pairings, repetitions, stream("busafekete2021 pairings", cell))
    mean = [against_draws(row, base, DELTA).mean() for row, base in zip(rows, null, strict=True)]
    gain = signal_gain(pairings)
    signal = gain * mean_square_bias(law) * math.sqrt(n_items / 2)
    frame = pd.DataFrame({"pairings": pairings, "mean": mean, "repetitions": repetitions, "gain": gain})
    frame["low"], frame["high"] = wilson(frame["mean"], repetitions)
    return frame.assign(normal=stats.norm.cdf(stats.norm.ppf(DELTA) + signal))


@claim("busafekete2021:sec-7.1:why")
def check_why(n_items: int, scaled: float, repetitions: int) -> Iterator[Check]:
    """At equal size and on the same rankings: all pairs against one pairing."""
    frame = pairing_power(n_items, scaled, [1, n_items - 1], repetitions)
    one, every = frame["mean"]
    error = certain(one, repetitions) + certain(every, repetitions)
    what = f"power at size {DELTA} from all pairs less that from one pairing, m = {n_items}, two rankings"
    yield printed(what, every - one, ">", 0, error=error)
    yield printed(
        f"signal over noise, all pairs to one pairing, m = {n_items}", float(signal_gain(n_items - 1)), ">", 1
    )
    yield printed("the same at its least, m = 4", float(signal_gain(3)), ">", 1)


def known_centre_power(n_items: int, theta: float, count: int = 2, delta: float = DELTA) -> float:
    """Power of the most powerful test when the centre is known, from above: its size is just over `delta`.

    The likelihood ratio falls with the sum of the distances from the centre (Neyman and Pearson). No test that has to
    do without the centre does better on average over random centres.
    """
    uniform, law = Mallows(n_items, 0.0), Mallows(n_items, theta)
    low, high = -1, count * uniform.n_pairs
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if uniform.distance_cdf(middle, count) <= delta else (low, middle)
    # one distance more than the size allows: an upper bound that spares the randomisation
    return float(law.distance_cdf(high, count))


def margins(frame: pd.DataFrame, n_items: int) -> pd.DataFrame:
    """Power on two rankings against 1 - phi, and what is possible with a known centre."""
    part = frame[(frame.n_items == n_items) & (frame.n_rankings == 2) & frame.test.isin([TWO, UNIF])]
    wide = part.assign(label=part.test + ", " + part.calibration)
    wide = wide.pivot_table(index="gap", columns="label", values="mean").reset_index()
    best = [known_centre_power(n_items, -math.log1p(-gap)) if 0 < gap < 1e-4 else math.nan for gap in wide.gap]
    return wide.assign(**{"known centre": best})


@claim("busafekete2021:sec-7.1:margin")
def check_margin(frame: pd.DataFrame, n_items: int = 10_000) -> Iterator[Check]:
    """What two rankings detect at the largest m."""
    rows = [
        ("2SAMP as printed", TWO, PRINTED, "printed", 2),
        ("UNIF as printed", UNIF, PRINTED, "printed", 2),
        (f"2SAMP at size {DELTA}", TWO, EXACT, "printed", 2),
        ("2SAMP as printed", TWO, PRINTED, "corrected", 20),
        ("UNIF as printed", UNIF, PRINTED, "corrected", 30),
    ]
    for name, test, calibration, about, scaled in rows:
        row = _at(frame, n_items, scaled, test, calibration)
        what = f"power of {name}, m = {n_items}, two rankings, 1 − φ = {row.gap:.2g}"
        bound = DETECTED if about == "printed" else 0.9
        yield _power_check(what, row, ">=", bound, about)
    power = known_centre_power(n_items, -math.log1p(-1e-5))
    what = f"power of the best test of size {DELTA} that knows the centre, m = {n_items}, two rankings, 1 − φ = 1e-05"
    yield printed(what, power, ">=", DETECTED)
    yield amended(what, power, "<", 0.77)


# --- Section 7: what epsilon does ------------------------------------------------------------------------------------


def trun_power(n_rankings: int, phi: float, epsilon: float, epsilon_0: float = 1 / 3, delta: float = DELTA) -> float:
    """Probability that Algorithm 3 as printed rejects, for two items. Exact.

    A negative probability in line 15 is read as 0.
    """
    test = paper.trun(2, n_rankings, epsilon_0, delta, paper.unif_bias(2, theta_at(2, epsilon))).mechanism
    first = np.arange(n_rankings + 1)
    total = 2 * first - n_rankings
    reject = 1 - test.acceptance(total**2 / n_rankings, total)
    return float(stats.binom(n_rankings, 1 / (1 + phi)).pmf(first) @ reject)


@claim("busafekete2021:sec-7:epsilon-role")
def check_epsilon_role(n_rankings: int, n_items: int, epsilons: tuple[float, float]) -> Iterator[Check]:
    """Whether a test's answers at a fixed number of rankings depend on the tolerance."""
    low, high = epsilons
    moved = trun_power(n_rankings, 0.5, high) - trun_power(n_rankings, 0.5, low)
    answer = f"power of TRUN, m = 2, k = {n_rankings}, φ = 1/2, ε₀ = 1/3: at ε = {high} less that at ε = {low}"
    limit = f"total variation at the least 1 − φ_ε at which 2SAMP does not stop in line 3, m = {n_items}"
    distance = Mallows.of_gap(n_items, paper.two_sample_gap(n_items, DELTA)).total_variation()
    yield printed(answer, moved, "==", 0, error=1e-9)
    yield printed(limit, distance, "<=", high)
    yield amended(answer, moved, ">", 0.01)
    yield amended(limit, distance, ">=", 1 - 1e-9)


# --- Figure 2 --------------------------------------------------------------------------------------------------------


def fixed_centre_limit(n_items: int, n_rankings: int, sides: int = 2, delta: float = DELTA) -> float:
    """Power of MA with an arbitrary centre when phi = 0: all rankings equal the true, random centre. Exact."""
    uniform = Mallows(n_items, 0.0)
    mean, variance = uniform.distance_moments()
    reach = -stats.norm.ppf(delta / sides) * math.sqrt(variance / n_rankings)
    # the law is symmetric about its mean
    return sides * float(uniform.distance_cdf(mean - reach))


def figure_2_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """What Figure 2 shows: the rows of its panels, and in ``limit`` what MA with any fixed centre tends to."""
    shown = frame[frame.test.isin([UNIF, FIXED, FIRST]) & (frame.scaled > 0)]
    shown = shown.merge(pd.DataFrame(PANELS, columns=["n_items", "n_rankings"]))
    limits = {panel: fixed_centre_limit(*panel) for panel in PANELS}
    return shown.assign(limit=[limits[panel] for panel in zip(shown.n_items, shown.n_rankings, strict=True)])


def estimated_centre(
    n_items: int, n_rankings: int, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Whether MA rejects uniform rankings when their Borda ranking stands for the centre; for `sweep`."""
    uniform = Mallows(n_items, 0.0)
    mean, variance = uniform.distance_moments()
    rejects = np.zeros(repetitions)
    for r in range(repetitions):
        rows = uniform.sample(n_rankings, rng=rng)
        centre = np.argsort(np.argsort(rows.sum(axis=0) + 0.5 * rng.random(n_items)))
        z = (kendall_distances(rows, centre).mean() - mean) / math.sqrt(variance / n_rankings)
        rejects[r] = z <= stats.norm.ppf(DELTA)
    return rejects


def estimated_centre_sizes(panels: Iterable[tuple[int, int]], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Probability that MA with an estimated centre rejects uniform rankings."""
    cells = [{"n_items": m, "n_rankings": n} for m, n in panels]
    return sweep(
        estimated_centre, cells, experiment="busafekete2021 estimated centre", repetitions=repetitions, jobs=jobs
    )


@claim("busafekete2021:fig-2")
def check_figure_2(frame: pd.DataFrame, sizes: pd.DataFrame, panels: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """MA, in each reading of its centre, against UNIF."""
    two = [m for m, n in panels if n == 2]
    more = [(m, n) for m, n in panels if n > 2]
    for m in two:
        what = f"limit of MA's power as φ → 0, m = {m}, two rankings"
        for reading, sides in (("any fixed centre, two-sided", 2), ("any fixed centre, one-sided", 1)):
            yield printed(what, fixed_centre_limit(m, 2, sides), ">=", DETECTED, reading=reading)
        yield amended(f"{what}, any fixed centre", fixed_centre_limit(m, 2), "<", 0.17)
        ahead, behind = (_at(frame, m, 15, test, PRINTED) for test in (FIRST, UNIF))
        yield _lead("UNIF", behind, "MA", ahead, "printed", "first ranking as centre")
        yield _lead("MA, first ranking as centre,", ahead, "UNIF", behind, "corrected")
        row = _at(frame, m, 50, UNIF, PRINTED)
        what = f"power of UNIF, m = {m}, two rankings, 1 − φ = {row.gap:.2g}"
        yield _power_check(what, row, ">=", 0.9, "corrected")
    for row in sizes.itertuples():
        error = certain(row.mean, row.repetitions)
        what = f"MA rejects uniform rankings, m = {row.n_items}, {row.n_rankings} rankings"
        yield printed(what, row.mean, "<=", 0.5, reading="estimated centre (Borda)", error=error)
    for m, n in more:
        unif = _at(frame, m, 25, UNIF, PRINTED, n)
        others = [(test, _at(frame, m, 25, test, PRINTED, n)) for test in (FIXED, FIRST)]
        for test, row in others:
            yield _lead("UNIF", unif, test, row, "corrected")


def _lead(name: str, row: Any, other: str, than: Any, about: str, reading: str = "") -> Check:
    """Whether one test has more power than another in a cell."""
    # a difference that no repetition showed may still be one in as many
    error = Z * math.hypot(row.se, than.se, 1 / row.repetitions)
    cell = f"m = {row.n_items}, {row.n_rankings} rankings, 1 − φ = {row.gap:.2g}"
    return Check(
        f"power of {name} less that of {other}, {cell}", row["mean"] - than["mean"], ">", 0, about, reading, error
    )


# --- better: all ranks -----------------------------------------------------------------------------------------------


@numba.njit(cache=True, error_model="numpy")
def _running(rows, order, marks):
    n, m = rows.shape
    pairs = m // 2
    sums, signs = np.zeros(m), np.zeros(pairs)
    out = np.empty((2, len(marks)))
    mark = 0
    for r in range(n):
        for i in range(m):
            sums[i] += rows[r, i]
        for p in range(pairs):
            signs[p] += 1.0 if rows[r, order[2 * p]] < rows[r, order[2 * p + 1]] else -1.0
        if r + 1 == marks[mark]:
            centre = (r + 1) * (m - 1) / 2
            out[0, mark] = (signs**2).sum()
            out[1, mark] = ((sums - centre) ** 2).sum()
            mark += 1
    return out


def running_statistics(
    law: Mallows, marks: NDArray[np.int64], repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """k times UNIF's Y, and the sum of the squared centred rank sums, after each number of rankings in `marks`.

    Returns
    -------
    ndarray of float, shape (2, marks, repetitions)
    """
    m = law.n_items
    draws = (_running(law.sample(int(marks[-1]), rng=rng), rng.permutation(m), marks) for _ in range(repetitions))
    return np.stack(list(draws), axis=-1)


def rankings_needed(
    n_items: int, theta: float, repetitions: int, level: float = 0.8, resamples: int = 100
) -> dict[str, float]:
    """Rankings with which UNIF and Friedman's test, both of size exactly 0.05, reach a power.

    Parameters
    ----------
    n_items : int
    theta : float
        -log phi.
    repetitions : int
        Under the alternative; twice as many under the null.
    level : float
    resamples : int
        Of the bootstrap, over alternative and null draws, that gives the standard errors.

    Returns
    -------
    dict
        ``n_items``, ``theta``, ``UNIF``, ``Friedman``, ``ratio``, with ``… se``, and ``known centre``: what the normal
        approximation gives for the most powerful test when the centre is known.
    """
    law, uniform = Mallows(n_items, theta), Mallows(n_items, 0.0)
    z = stats.norm.ppf(level) - stats.norm.ppf(DELTA)
    guess = 2 * z / (math.sqrt(n_items) * mean_square_bias(law))
    marks = np.unique(np.maximum(2, np.round(1 + guess * np.geomspace(0.25, 2, 16)))).astype(np.int64)
    cell = {"n_items": n_items, "theta": theta}
    rng = stream("busafekete2021 rankings needed", cell)
    null = running_statistics(uniform, marks, 2 * repetitions, rng)
    drawn = running_statistics(law, marks, repetitions, rng)

    def needed(null: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, ...]:
        answers = []
        for one, other in zip(drawn, null, strict=True):
            curve = [against_draws(x, y, DELTA).mean() for x, y in zip(one, other, strict=True)]
            answers.append(math.exp(crossing(np.log(marks), curve, level)))
        return answers[0], answers[1], answers[0] / answers[1]

    def resample(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[..., rng.integers(values.shape[-1], size=values.shape[-1])]

    again = [needed(resample(null), resample(drawn)) for _ in range(resamples)]
    names = (*RIVALS, "ratio")
    result: dict[str, float] = {"n_items": n_items, "theta": theta}
    result |= dict(zip(names, needed(null, drawn), strict=True))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Degrees of freedom")  # of what no resample reaches: NaN
        errors = np.nanstd(again, axis=0).tolist()
    result |= dict(zip((f"{name} se" for name in names), errors, strict=True))
    _, variance = uniform.distance_moments()
    return result | {"known centre": max(1.0, (z / theta) ** 2 / variance)}


def needed_table(cells: Iterable[Mapping[str, float]], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """`rankings_needed` over a grid of items and spreads; columns of a cell that it does not know are kept."""
    grid = [dict(cell) for cell in cells]
    rows = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(rankings_needed)(int(cell["n_items"]), cell["theta"], repetitions) for cell in grid
    )
    return pd.DataFrame([cell | row for cell, row in zip(grid, rows, strict=True)])


def growth_cells(
    gap: float, gap_items: Iterable[int], epsilon: float, epsilon_items: Iterable[int]
) -> list[dict[str, Any]]:
    """Cells at a fixed 1 - phi, and at a fixed total variation distance from uniform."""
    fixed = [{"held": f"1 − φ = {gap:g}", "n_items": m, "theta": -math.log1p(-gap)} for m in gap_items]
    return fixed + [{"held": f"TV = {epsilon:g}", "n_items": m, "theta": theta_at(m, epsilon)} for m in epsilon_items]


def growth_exponents(frame: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent of m in the number of rankings beyond the first, by what is held fixed and by test."""
    return pd.DataFrame(
        {"held": held, "test": test, "exponent": exponent(part.n_items, part[test] - 1)}
        for held, part in frame.groupby("held", sort=False)
        for test in RIVALS
    )


def rivals(n_items: int, n_rankings: int, scaled: float, repetitions: int) -> dict[str, float]:
    """Power at equal size of UNIF, of Friedman's test and of two tests that look at all pairs in O(n m^2).

    One is the mean Kendall distance between rankings, 2SAMP for any number of them. The other is MA with the items in
    the order of their mean positions for a centre, ties broken at random, and a simulated null law.
    """
    cell = {"n_items": n_items, "n_rankings": n_rankings, "scaled": scaled}
    rng = stream("busafekete2021 rivals", cell)

    def draws(law: Mallows, size: int) -> NDArray[np.float64]:
        out = np.empty((4, size))
        for r in range(size):
            rows = law.sample(n_rankings, rng=rng)
            wins = pairwise_wins(rows)
            squares = (2 * wins - n_rankings) ** 2
            order = rng.permutation(n_items)
            half = n_items // 2 * 2
            out[0, r] = squares[order[0:half:2], order[1:half:2]].sum()
            out[1, r] = friedman_statistic(rows.sum(axis=0), n_rankings)
            out[2, r] = np.triu(squares, 1).sum()
            centre = np.lexsort((rng.random(n_items), rows.sum(axis=0)))
            out[3, r] = np.triu(wins[np.ix_(centre, centre)], 1).sum()  # pairs ordered as in the estimated centre
        return out

    null = draws(Mallows(n_items, 0.0), 2 * repetitions - 1)
    drawn = draws(Mallows(n_items, spread(n_items, n_rankings, scaled)), repetitions)
    powers = [against_draws(x, y, DELTA).mean() for x, y in zip(drawn, null, strict=True)]
    named = dict(zip((UNIF, "Friedman", "mean distance", "MA, estimated centre"), powers, strict=True))
    return {"m": n_items, "n": n_rankings} | named | {"±": 1.96 * 0.5 / math.sqrt(repetitions)}


# --- figures ----------------------------------------------------------------------------------------------------------


_SIZE: dict[str, dict[str, Any]] = {"as printed": CALIBRATION["as printed"], "equal size": CALIBRATION["corrected"]}


_MALLOWS: dict[str, dict[str, Any]] = {
    "MA, any centre": {"color": COLOURS[3], "marker": "^"},
    "MA, first ranking": {"color": COLOURS[2], "marker": "D"},
}


def _curve(axes: Axes, part: pd.DataFrame, label: str, **look: Any) -> None:
    bars = np.stack([part["mean"] - part.low, part.high - part["mean"]]).clip(0)
    axes.errorbar(part.gap, part["mean"], bars, capsize=2, lw=1.2, ms=3.5, label=label, **look)


@styled
def draw_two_rankings(frame: pd.DataFrame) -> Figure:
    """Power of 2SAMP and UNIF on two rankings against 1 - phi, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    figure = Figure(figsize=(2.6 * max(2, len(groups)), 3.4))
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (items, rows) in zip(panels, groups, strict=True):
        for (test, calibration), part in rows.groupby(["test", "calibration"], sort=False):
            line = {"2SAMP": "-", "UNIF": ":"}[str(test)]
            _curve(axes, part, f"{test}, {calibration}", ls=line, **_SIZE[str(calibration)])
        axes.axhline(0.05, color="black", lw=0.8, ls="--")
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 3))
        axes.set(title=f"m = {items}", xlabel="1 − φ")
    panels[0].set(ylabel="power", ylim=(-0.03, 1.03))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=8.5)
    return figure


@styled
def draw_any_centre(frame: pd.DataFrame) -> Figure:
    """Power of UNIF and of two readings of MA against 1 - phi, a panel for each number of items and of rankings."""
    groups = list(frame.groupby(["n_items", "n_rankings"], sort=True))
    figure = Figure(figsize=(7.2, 2.6 * ((len(groups) + 1) // 2) + 0.4))
    panels = figure.subplots((len(groups) + 1) // 2, 2, sharey=True, squeeze=False)
    for axes, ((items, rankings), rows) in zip(panels.flat, groups, strict=False):
        for (test, calibration), part in rows.groupby(["test", "calibration"], sort=False):
            unif = test == "UNIF"
            look = _SIZE[str(calibration)] | {"ls": ":"} if unif else _MALLOWS[str(test)]
            _curve(axes, part, f"{test}, {calibration}" if unif else str(test), **look)
        axes.axhline(rows.limit.iloc[0], color=COLOURS[3], lw=1, ls="--", label="MA, any centre: limit as φ → 0")
        axes.set(title=f"m = {items}, {rankings} rankings", xscale="log", ylim=(-0.03, 1.05))
    for axes in panels[-1]:
        axes.set_xlabel("1 − φ")
    for axes in panels[:, 0]:
        axes.set_ylabel("power")
    for axes in panels.flat[len(groups) :]:
        axes.set_axis_off()
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8.5)
    return figure


@styled
def draw_rankings_needed(frame: pd.DataFrame) -> Figure:
    """Rankings for power 0.8 against the number of items, at fixed spread and at fixed distance from uniform."""
    groups = list(frame.groupby("held", sort=False))
    figure = Figure(figsize=(7.2, 3.4))
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    looks = {"UNIF": CALIBRATION["corrected"], "Friedman": CALIBRATION["net wins"]}
    for axes, (held, rows) in zip(panels, groups, strict=True):
        for test, look in looks.items():
            axes.errorbar(rows.n_items, rows[test], BAR * rows[f"{test} se"], capsize=2, label=test, **look)
        axes.plot(rows.n_items, rows["known centre"], color="black", ls="--", lw=1.2, label="centre known (normal)")
        axes.set(title=str(held), xlabel="items m", xscale="log", yscale="log")
        ticks = sorted(rows.n_items)
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.minorticks_off()
        axes.set_ylabel("rankings for power 0.8")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure
