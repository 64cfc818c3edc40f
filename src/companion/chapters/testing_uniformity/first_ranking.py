"""MA, with a fixed centre, the first ranking or the mean positions for a centre."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.testing_uniformity.power import PANELS
from companion.instruments.allowance import ROUNDING
from companion.instruments.power_curves import LEAN, REJECTED, level
from companion.instruments.style import BAR, COLOURS, key, name_lines, note, on_phone, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import FALSE_ALARM, all_distances
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.mallows_approximate import Centre, MallowsApproximate, Sides

#: The normal approximation is to keep its size to this share of it.
APPROXIMATE = 0.01
#: Readings of MA's 'centre is unknown': the null law, centre, sides.
READINGS: dict[str, tuple[type[MallowsApproximate], Centre, Sides]] = {
    "fixed centre, one-sided": (MallowsApproximate, "fixed", "one"),
    "fixed centre, two-sided": (MallowsApproximate, "fixed", "two"),
    "first ranking": (MallowsApproximate, "first", "one"),
    "mean positions, naive": (paper.NormalMallows, "borda", "one"),
    "mean positions, simulated null": (MallowsApproximate, "borda", "one"),
}
_SHORT = dict(
    zip(
        READINGS,
        (
            "centre fixed, one-sided",
            "centre fixed, two-sided",
            "centre = first ranking",
            "centre estimated",
            "centre estimated, threshold simulated",
        ),
        strict=True,
    )
)


@cache
def _rejects_from(n_items: int, n_rankings: int, delta: float, reading: str) -> tuple[MallowsApproximate, float]:
    test_of, centre, sided = READINGS[reading]
    test = test_of(n_items, n_rankings, delta, centre, sided)
    cell = {"items": n_items, "rankings": n_rankings, "delta": delta}
    return test, test.threshold(stream("busafekete2021:ma:null", cell))


def ma_rejections(
    n_items: int,
    n_rankings: int,
    gap: float,
    delta: float,
    readings: Sequence[str],
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str], NDArray[np.bool_]]:
    """Which of `repetitions` data sets, each with a centre of its own, every reading of MA rejects."""
    law = Mallows.of_gap(n_items, gap)
    tests = [_rejects_from(n_items, n_rankings, delta, reading) for reading in readings]
    out = np.empty((repetitions, len(tests)), bool)
    for row in out:
        data = law.sample(n_rankings, rng=rng, centre=rng.permutation(n_items))
        row[:] = [test.statistic(data) >= threshold for test, threshold in tests]
    return {(reading,): out[:, i] for i, reading in enumerate(readings)}


def ma_power(n_items: int, n_rankings: int, gaps: Iterable[float], delta: float, repetitions: int) -> pd.DataFrame:
    """Power of the readings of MA; at gap 0 their size.

    ``items``, ``rankings``, ``delta``, ``gap`` (1 - phi), ``reading``, ``mean``, ``se``, ``repetitions``.
    """
    common = {"n_items": n_items, "n_rankings": n_rankings, "delta": delta, "readings": tuple(READINGS)}
    cells = [common | {"gap": float(gap)} for gap in gaps]
    name = "busafekete2021:ma:power"
    frame = sweep(ma_rejections, cells, experiment=name, repetitions=repetitions, outcomes=("reading",))
    return frame.drop(columns="readings").rename(columns={"n_items": "items", "n_rankings": "rankings"})


def ma_sizes(delta: float, repetitions: int, settings: Iterable[tuple[int, int]] = PANELS) -> pd.DataFrame:
    """Size of the readings of MA under the normal approximation, at the sizes of Figure 2.

    ``items``, ``rankings``, ``centre``, ``sided``, ``size``, ``error`` (0 if exact, else the Hoeffding half-width).
    """
    rows = []
    for m, n in settings:
        setting = {"items": m, "rankings": n}
        centres: tuple[Centre, ...] = ("fixed", "first")
        for centre in centres:
            for sided in ("one", "two"):
                size = paper.mallows_approximate(m, n, delta, centre=centre, sided=sided).exact_size
                rows.append(setting | {"centre": centre, "sided": sided, "size": size, "error": 0.0})
        cell = {"n_items": m, "n_rankings": n, "gap": 0.0, "delta": delta, "readings": ["mean positions, naive"]}
        name = "busafekete2021:ma:size"
        frame = sweep(ma_rejections, [cell], experiment=name, repetitions=repetitions, outcomes=("reading",))
        error = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * repetitions))
        rows.append(setting | {"centre": "borda", "sided": "one", "size": frame["mean"].iloc[0], "error": error})
    return pd.DataFrame(rows)


def nearest_size(n_items: int, n_rankings: int, delta: float) -> float:
    """Size of MA two-sided, its lower tail alone, if the centre is the ranking nearest to the data. All data."""
    rows = all_distances(n_items)
    totals = rows
    for _ in range(n_rankings - 1):
        totals = (totals[:, None] + rows).reshape(-1, len(rows))
    threshold = paper.mallows_approximate(n_items, n_rankings, delta, centre="fixed", sided="two").threshold()
    return float((n_rankings * n_items * (n_items - 1) / 4 - totals.min(axis=1) >= threshold).mean())


def two_nearest_size(n_items: int, delta: float) -> float:
    """Lower bound on that size for two rankings: their total distance is their own, and Chebyshev's inequality."""
    mean, variance = Mallows(n_items, 0.0).distance_moments()
    threshold = paper.mallows_approximate(n_items, 2, delta, centre="fixed", sided="two").threshold()
    return 1 - variance / (mean - threshold) ** 2


def first_ranking_limit(n_items: int, phis: Iterable[float]) -> pd.DataFrame:
    """Power of MA with the first ranking as the centre, as the number of rankings grows without bound.

    The mean distance from the first ranking is then known, and the test rejects if it lies below that of uniform ones.

    ``1 - phi``, ``power``. Enumerates all first rankings.
    """
    distances = all_distances(n_items)
    rows = []
    for phi in phis:
        law = phi ** distances[0].astype(float)
        law /= law.sum()
        below = distances @ law < n_items * (n_items - 1) / 4 - ROUNDING
        rows.append({"1 - phi": 1 - phi, "power": float(law @ below)})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-7.2:ma")
def check_ma(frame: pd.DataFrame, delta: float) -> Iterator[Check]:
    """Size of every reading of MA, and of its exact form with the first ranking as the centre."""
    readings = {"fixed": "any fixed centre", "first": "first ranking", "borda": "estimated centre"}
    size = nearest_size(3, 3, delta)
    what = f"size, two-sided, its lower tail, δ = {delta:g}, m = 3, n = 3, the ranking nearest to all as centre"
    yield printed(what, size, "<=", delta * (1 + APPROXIMATE), reading=readings["borda"])
    of = "m = 1,000, n = 2, the ranking nearest to all as centre"
    what = f"size, two-sided, its lower tail, at least, δ = {delta:g}, {of}"
    size = two_nearest_size(1000, delta)
    yield printed(what, size, "<=", delta * (1 + APPROXIMATE), reading=readings["borda"], error=ROUNDING)
    for row in frame.itertuples():
        what = f"size, {row.sided}-sided, δ = {delta:g}, m = {row.items:,}, n = {row.rankings:,}"
        reading, most = readings[str(row.centre)], delta * (1 + APPROXIMATE)
        yield printed(what, row.size, "<=", most, reading=reading, error=row.error)
    for m, n in dict.fromkeys(zip(frame["items"], frame["rankings"], strict=True)):
        size = MallowsApproximate.calibrated(n_items=int(m), n_voters=int(n), size=delta).exact_size
        what = f"size, first ranking as the centre, exact threshold, m = {m:,}, n = {n:,}"
        yield amended(what, size, "<=", delta)


@claim("busafekete2021:sec-7.2:accurate")
def check_accurate(delta: float = 0.05, least: float = 0.005) -> Iterator[Check]:
    """How far the normal threshold's size is off, at Figure 2's sizes, with each reading of the centre."""
    centres: tuple[tuple[Centre, str], ...] = (("fixed", "any fixed centre"), ("first", "first ranking"))
    for m, n in PANELS:
        for centre, reading in centres:
            size = paper.mallows_approximate(m, n, delta, centre=centre, sided="one").exact_size
            what = f"size of MA off δ = {delta:g}, m = {m:,}, n = {n:,}: 'not so accurate' is {least:g} and more"
            yield printed(what, abs(size - delta), ">=", least, reading=reading)
    off = two_nearest_size(1000, delta) - delta
    what = f"size of MA less δ = {delta:g}, at least, m = 1,000, n = 2: 'not so accurate' is {least:g} and more"
    yield printed(what, off, ">=", least, reading="the ranking nearest to all as centre")
    worst = max(
        abs(paper.mallows_approximate(m, n, delta, centre=centre, sided="one").exact_size - delta)
        for m, n in PANELS
        for centre, _ in centres
    )
    yield amended(
        "size of MA off δ, centre fixed or the first ranking, largest of Figure 2's sizes", worst, "<=", 0.001
    )


@styled
def draw_ma_power(frame: pd.DataFrame) -> Figure:
    """Power of the readings of MA against 1 - phi; at 0 their size."""
    message = "With an estimated centre, the usual threshold rejects shuffled rankings, too"
    figure, (axes,) = panels(message=message, height=3.2)
    for colour, mark, (reading, part) in zip(COLOURS, "osD^v", frame.groupby("reading", sort=False), strict=False):
        axes.errorbar(part.gap, part["mean"], BAR * part.se, capsize=2, color=colour, marker=mark, label=str(reading))
    level(axes, frame.delta.iloc[0])
    axes.set(xlabel=LEAN, ylabel=REJECTED, ylim=(-0.02, 1.02))
    items, rankings, delta = frame[["items", "rankings", "delta"]].iloc[0]
    said = (
        "Centre: the order that rankings are held against. At the left end they are shuffled, and "
        f"{100 * delta:g} % of the tests may reject (dotted). {items:,.0f} items, {rankings:,.0f} rankings; bars: 95 %."
    )
    if on_phone():
        handles, labels = axes.get_legend_handles_labels()
        key(figure, handles, [_SHORT[label] for label in labels])
    else:
        whole = {label: name.replace("-", "\N{NON-BREAKING HYPHEN}") for label, name in _SHORT.items()}
        name_lines(axes, width=22, names=whole)
    note(figure, said)
    return figure
