"""Figure 2: many rankings, around a centre that is not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.testing_uniformity import power
from companion.instruments.allowance import Z
from companion.instruments.power_curves import LEAN, REJECTED, curve
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import certain
from companion.ledger.claim import Check, amended, claim, printed
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows


def fixed_centre_limit(n_items: int, n_rankings: int, sides: int = 2, delta: float = power.DELTA) -> float:
    """Power of MA with an arbitrary centre when phi = 0: all rankings equal the true, random centre. Exact."""
    uniform = Mallows(n_items, 0.0)
    mean, variance = uniform.distance_moments()
    reach = -stats.norm.ppf(delta / sides) * math.sqrt(variance / n_rankings)
    # the law is symmetric about its mean
    return sides * float(uniform.distance_cdf(mean - reach))


def figure_2_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """What Figure 2 shows: the rows of its panels, and in ``limit`` what MA with any fixed centre tends to."""
    shown = frame[frame.test.isin([power.UNIF, power.FIXED, power.FIRST]) & (frame.scaled > 0)]
    shown = shown.merge(pd.DataFrame(power.PANELS, columns=["n_items", "n_rankings"]))
    limits = {panel: fixed_centre_limit(*panel) for panel in power.PANELS}
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
        rejects[r] = z <= stats.norm.ppf(power.DELTA)
    return rejects


def estimated_centre_sizes(panels: Iterable[tuple[int, int]], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Probability that MA with an estimated centre rejects uniform rankings."""
    cells = [{"n_items": m, "n_rankings": n} for m, n in panels]
    name = "busafekete2021 estimated centre"
    return sweep(estimated_centre, cells, experiment=name, repetitions=repetitions, jobs=jobs)


def lead(says: Callable[..., Check], name: str, row: Any, other: str, than: Any) -> Check:
    """Whether one test has more power than another in a cell."""
    # a difference that no repetition showed may still be one in as many
    error = Z * math.hypot(row.se, than.se, 1 / row.repetitions)
    cell = f"m = {row.n_items}, {row.n_rankings} rankings, 1 − φ = {row.gap:.2g}"
    return says(f"power of {name} less that of {other}, {cell}", row["mean"] - than["mean"], ">", 0, error=error)


@claim("busafekete2021:fig-2")
def check_figure_2(frame: pd.DataFrame, sizes: pd.DataFrame, panels: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """MA, in each reading of its centre, against UNIF."""
    two = [m for m, n in panels if n == 2]
    more = [(m, n) for m, n in panels if n > 2]
    for m in two:
        what = f"limit of MA's power as φ → 0, m = {m}, two rankings"
        for reading, sides in (("any fixed centre, two-sided", 2), ("any fixed centre, one-sided", 1)):
            yield printed(what, fixed_centre_limit(m, 2, sides), ">=", power.DETECTED, reading=reading)
        yield amended(f"{what}, any fixed centre", fixed_centre_limit(m, 2), "<", 0.17)
        ahead, behind = (power.row_at(frame, m, 15, test, power.PRINTED) for test in (power.FIRST, power.UNIF))
        yield lead(partial(printed, reading="first ranking as centre"), "UNIF", behind, "MA", ahead)
        yield lead(amended, "MA, first ranking as centre,", ahead, "UNIF", behind)
        row = power.row_at(frame, m, 50, power.UNIF, power.PRINTED)
        what = f"power of UNIF, m = {m}, two rankings, 1 − φ = {row.gap:.2g}"
        yield amended(what, row["mean"], ">=", 0.9, error=power.off(row))
    for row in sizes.itertuples():
        error = certain(row.mean, row.repetitions)
        what = f"MA rejects uniform rankings, m = {row.n_items}, {row.n_rankings} rankings"
        yield printed(what, row.mean, "<=", 0.5, reading="estimated centre (Borda)", error=error)
    for m, n in more:
        unif = power.row_at(frame, m, 25, power.UNIF, power.PRINTED, n)
        for test in (power.FIXED, power.FIRST):
            yield lead(amended, "UNIF", unif, test, power.row_at(frame, m, 25, test, power.PRINTED, n))


_MALLOWS: dict[str, dict[str, Any]] = {
    "MA, any centre": {"color": COLOURS[3], "marker": "^"},
    "MA, first ranking": {"color": COLOURS[2], "marker": "D"},
}
_NAMES = {"MA, any centre": "MA, any fixed centre", "MA, first ranking": "MA, centre = first ranking"}


@styled
def draw_any_centre(frame: pd.DataFrame) -> Figure:
    """Power of UNIF and of two readings of MA against 1 - phi, a panel for each number of items and of rankings."""
    groups = list(frame.groupby(["n_items", "n_rankings"], sort=True))
    message = "With few rankings, a fixed centre puts a ceiling on Mallows's test"
    figure, made = panels(len(groups), message=message, height=2.3, columns=2, sharey=True)
    for axes, ((items, rankings), rows) in zip(made, groups, strict=True):
        for (test, calibration), part in rows.groupby(["test", "calibration"], sort=False):
            unif = test == "UNIF"
            look = power.SIZE[str(calibration)] | {"ls": ":"} if unif else _MALLOWS[str(test)]
            curve(axes, part.gap, part, label=_NAMES.get(str(test), f"UNIF, {calibration}"), **look)
        axes.axhline(rows.limit.iloc[0], color=COLOURS[3], lw=1, ls="--", label="ceiling of a fixed centre")
        axes.set(title=f"{items:,} items, {rankings:,} rankings", xscale="log", ylim=(-0.03, 1.05))
    label_outer(made, LEAN, REJECTED)
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    note(
        figure,
        "Centre: the order from which Mallows's test measures the rankings. Rejected: found not to be shuffled. "
        f"UNIF: the paper's test by pairs of items; equal size: with exactly {100 * power.DELTA:g} % false alarms. "
        "Bars: 95 %.",
    )
    return figure
