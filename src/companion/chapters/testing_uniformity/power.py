"""Power of the tests on one grid: Figures 1 and 2, and the tests beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.instruments.allowance import Z
from companion.instruments.power_curves import LEAN, REJECTED, curve, level
from companion.instruments.style import CALIBRATION, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import certain, crossing, spread, wilson
from companion.ledger.claim import Check, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distances
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows

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
PRINTED, EXACT, PUBLISHED = "as printed", "equal size", "published"
#: Compared by the number of rankings that they need.
RIVALS = (UNIF, "Friedman")


def randomised(above: ArrayLike, at: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Probability of rejecting in the test of size exactly `delta`, given the null law around what was observed."""
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


def row_distances(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """Kendall distance of each row of one array of rankings from the same row of another."""
    order = np.empty_like(b)
    np.put_along_axis(order, b, np.arange(b.shape[1], dtype=b.dtype)[None], axis=1)
    return kendall_distances(np.take_along_axis(a, order, axis=1), np.arange(b.shape[1]))


def power_draws(
    n_items: int, n_rankings: int, scaled: float, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Chance that each test rejects, given the same sampled rankings; for `sweep`.

    By test and calibration: 0 or 1 as printed, a probability at equal size.
    """
    law = Mallows(n_items, spread(n_items, n_rankings, scaled))
    if n_rankings == 2:
        statistics = _two_rankings(law, repetitions, rng)
    else:
        statistics = _many_rankings(law, n_rankings, repetitions, rng)
    return _decisions(n_items, n_rankings, rng=rng, **statistics)


def two_rankings(law: Mallows, size: int, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
    """Twice `size` rankings, those of the same row around a common random centre."""
    names: Any = rng.permuted(np.tile(np.arange(law.n_items), (size, 1)), axis=1)
    return (np.take_along_axis(law.sample(size, rng=rng), names, axis=1) for _ in range(2))


def _two_rankings(law: Mallows, repetitions: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    m = law.n_items
    a, b = two_rankings(law, repetitions, rng)
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
        (UNIF, PRINTED): y >= paper.unif_threshold(n_items, DELTA),
        (UNIF, EXACT): exact,
        (FIXED, PRINTED): np.abs(z_fixed) >= -two,
        (ONE_SIDED, PRINTED): z_fixed <= one,
        (FIRST, PRINTED): z_first <= one,
    }
    if n_rankings == 2:
        below, upto = uniform.distance_cdf(first - 1), uniform.distance_cdf(first)
        close = first <= paper.two_sample(n_items, DELTA).threshold
        decisions |= {(TWO, PRINTED): close, (TWO, EXACT): randomised(below, upto - below, DELTA)}
        decisions["gain", PRINTED] = (1.0 + close - decisions[UNIF, PRINTED]) / 2
    return {label: np.asarray(value, float) for label, value in decisions.items()}


def power(panels: Iterable[tuple[int, int]], scaled: Sequence[float], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Power of every test on a grid of spreads, all tests on the same rankings.

    ``n_items``, ``n_rankings``, ``scaled``, ``gap`` (1 - phi), ``test``, ``calibration``, ``mean``, ``se``, ``low`` and
    ``high`` (Wilson, 95 %), ``repetitions``. The rows of the test "gain" hold (1 + g) / 2, g the power of 2SAMP less
    that of UNIF, paired and as printed.
    """
    cells = [{"n_items": m, "n_rankings": n, "scaled": float(s)} for m, n in panels for s in scaled]
    name, outcomes = "busafekete2021 power", ("test", "calibration")
    frame = sweep(power_draws, cells, experiment=name, repetitions=repetitions, outcomes=outcomes, jobs=jobs)
    frame["gap"] = _gap(frame)
    frame["low"], frame["high"] = wilson(frame["mean"], frame.repetitions)
    return frame


def _gap(frame: pd.DataFrame) -> NDArray[np.float64]:
    rows = zip(frame.n_items, frame.n_rankings, frame.scaled, strict=True)
    return -np.expm1([-spread(m, n, s) for m, n, s in rows])


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


def off(row: Any) -> float:
    """How far a power can be from that of a row of `power`."""
    return certain(float(row["mean"]), int(row.repetitions))


def row_at(frame: pd.DataFrame, n_items: int, scaled: float, test: str, calibration: str, n_rankings: int = 2) -> Any:
    """The row of a test in `power` that is nearest to a spread."""
    of = frame[(frame.n_items == n_items) & (frame.n_rankings == n_rankings)]
    of = of[(of.test == test) & (of.calibration == calibration)]
    return of.iloc[(of.scaled - scaled).abs().argmin()]


@claim("busafekete2021:fig-1")
def check_figure_1(frame: pd.DataFrame) -> Iterator[Check]:
    """2SAMP against UNIF on two rankings, with the printed thresholds."""
    for m in sorted(frame.n_items.unique()):
        size = float(printed_sizes([m])[TWO].iloc[0])
        yield printed(f"probability that 2SAMP rejects uniform rankings, m = {m}", size, "<=", DELTA)
        row = row_at(frame, m, 25, TWO, PRINTED)
        yield printed(f"power of 2SAMP, m = {m}, 1 − φ = {row.gap:.2g}", row["mean"], ">=", 0.9, error=off(row))
        gains = frame[(frame.n_items == m) & (frame.test == "gain")]
        worst, best = (gains.loc[at] for at in (gains["mean"].idxmin(), gains["mean"].idxmax()))
        for word, row, relation, bound in (("least", worst, ">=", -READING), ("largest", best, ">", 0.0)):
            # a difference that no repetition showed may still be one in as many
            error = Z * math.hypot(2 * row.se, 1 / row.repetitions)
            what = f"{word} gain in power of 2SAMP over UNIF over the grid, m = {m}"
            yield printed(what, 2 * row["mean"] - 1, relation, bound, error=error)


def first_sizes(most: int = 100, delta: float = DELTA) -> dict[str, int]:
    """The least m at which each test as printed can reject anything, on two rankings. Exact."""
    return {
        TWO: next(m for m in range(2, most) if paper.two_sample(m, delta).threshold >= 0),
        UNIF: next(m for m in range(2, most) if 2 * (m // 2) >= paper.unif_threshold(m, delta)),
    }


def printed_sizes(n_items: Iterable[int]) -> pd.DataFrame:
    """Exact probability that the printed tests reject two uniform rankings."""
    return pd.DataFrame(
        {
            "n_items": m,
            TWO: float(Mallows(m, 0.0).distance_cdf(paper.two_sample(m, DELTA).threshold)),
            UNIF: float(stats.binom(m // 2, 0.5).sf(math.ceil(paper.unif_threshold(m, DELTA) / 2) - 1)),
        }
        for m in n_items
    )


def with_published(frame: pd.DataFrame) -> pd.DataFrame:
    """The curves of Figure 1, and the one point of it that the paper's text states."""
    items, gap, share = paper.FIGURE_1
    point = {"n_items": items, "n_rankings": 2, "test": TWO, "calibration": PUBLISHED, "gap": gap, "mean": share}
    return pd.concat([frame, pd.DataFrame([point])], ignore_index=True)


SIZE: dict[str, dict[str, Any]] = {"as printed": CALIBRATION["as printed"], "equal size": CALIBRATION["corrected"]}


@styled
def draw_two_rankings(frame: pd.DataFrame) -> Figure:
    """Power of 2SAMP and UNIF on two rankings against 1 - phi, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    message = "2SAMP, which counts all pairs, sees smaller leans than UNIF"
    names = {"equal size": f"{100 * DELTA:g} % false alarms"}
    figure, made = panels(len(groups), message=message, height=2.6, sharey=True)
    for axes, (items, rows) in zip(made, groups, strict=True):
        for (test, calibration), part in rows.groupby(["test", "calibration"], sort=False):
            if calibration == PUBLISHED:
                axes.plot(part.gap, part["mean"], "kx", ms=8, mew=2, clip_on=False, zorder=5)
                beside: dict[str, Any] = {"textcoords": "offset points", "va": "top", "fontsize": 9}
                axes.annotate(f"paper:\n{part['mean'].iloc[0]:.1f}", (part.gap.iloc[0], 1), (-4, -7), **beside)
                continue
            line = {"2SAMP": "-", "UNIF": ":"}[str(test)]
            curve(
                axes,
                part.gap,
                part,
                label=f"{test}, {names.get(calibration, calibration)}",
                ls=line,
                **SIZE[str(calibration)],
            )
        level(axes, DELTA)
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.set(title=f"{items:,} items", ylim=(-0.03, 1.03))
    label_outer(made, LEAN, REJECTED)
    handles, labels = made[0].get_legend_handles_labels()
    if (frame.calibration == PUBLISHED).any():
        handles, labels = (
            [*handles, Line2D([], [], color="black", marker="x", ms=8, mew=2, ls="")],
            [*labels, "2SAMP, in the paper's text"],
        )
    key(figure, handles, labels, columns=3)
    note(
        figure,
        f"Line at {100 * DELTA:g} %: the share of shuffled rankings that a test may reject (false alarms). "
        "UNIF counts on how many pairs of items, drawn so that each item is in one, the two rankings agree. "
        "Cross: the one share that the paper's text states, for 2SAMP.",
    )
    return figure
