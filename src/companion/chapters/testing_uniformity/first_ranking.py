"""MA, which takes the first ranking for the centre."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.testing_uniformity.two_samples import (
    APPROXIMATE,
    FALSE_ALARM,
    READINGS,
    SETTINGS,
    all_distances,
)
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import distance_law
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.mallows_approximate import Centre, MallowsApproximate

# --- MA --------------------------------------------------------------------------------------------------------------


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

    Returns
    -------
    pandas.DataFrame
        ``items``, ``rankings``, ``delta``, ``gap`` (1 - phi), ``reading``, ``mean``, ``se``, ``repetitions``.
    """
    common = {"n_items": n_items, "n_rankings": n_rankings, "delta": delta, "readings": tuple(READINGS)}
    frame = sweep(
        ma_rejections,
        [common | {"gap": float(gap)} for gap in gaps],
        experiment="busafekete2021:ma:power",
        repetitions=repetitions,
        outcomes=("reading",),
    )
    return frame.drop(columns="readings").rename(columns={"n_items": "items", "n_rankings": "rankings"})


def ma_sizes(delta: float, repetitions: int, settings: Iterable[tuple[int, int]] = SETTINGS) -> pd.DataFrame:
    """Size of the readings of MA under the normal approximation, at the sizes of Figure 2.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``rankings``, ``centre``, ``sided``, ``size``, ``error`` (0 if exact, else the Hoeffding half-width).
    """
    rows = []
    for m, n in settings:
        setting = {"items": m, "rankings": n}
        centres: tuple[Centre, ...] = ("fixed", "first")
        for centre in centres:
            one = paper.mallows_approximate(m, n, delta, centre=centre)
            two = paper.mallows_approximate(m, n, delta, centre=centre, sided="two")
            rows += [
                setting | {"centre": centre, "sided": t.sided, "size": t.exact_size, "error": 0.0} for t in (one, two)
            ]
        cell = {"n_items": m, "n_rankings": n, "gap": 0.0, "delta": delta, "readings": ["mean positions, naive"]}
        frame = sweep(
            ma_rejections,
            [cell],
            experiment="busafekete2021:ma:size",
            repetitions=repetitions,
            outcomes=("reading",),
        )
        error = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * repetitions))
        rows.append(setting | {"centre": "borda", "sided": "one", "size": frame["mean"].iloc[0], "error": error})
    return pd.DataFrame(rows)


def first_ranking_limit(n_items: int, phis: Iterable[float]) -> pd.DataFrame:
    """Power of MA with the first ranking as the centre, as the number of rankings grows without bound.

    The mean distance from the first ranking is then known, and the test rejects if it lies below that of uniform ones.

    Returns
    -------
    pandas.DataFrame
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


def fixed_centre_limit(n_items: int) -> dict[str, float]:
    """Power against phi = 0 and a random true centre, as the number of rankings grows without bound.

    Returns
    -------
    dict
        ``one``, ``two``: by sides. All rankings are the true centre, at one distance from the fixed one.
    """
    law = distance_law(n_items)
    below = np.arange(len(law)) < n_items * (n_items - 1) / 4
    return {"one": float(law @ below), "two": float(2 * (law @ below))}


@claim("busafekete2021:sec-7.2:ma")
def check_ma(frame: pd.DataFrame, delta: float) -> Iterator[Check]:
    """Size of every reading of MA, and of its exact form with the first ranking as the centre."""
    readings = {"fixed": "any fixed centre", "first": "first ranking", "borda": "estimated centre"}
    for row in frame.itertuples():
        yield printed(
            f"size, {row.sided}-sided, δ = {delta:g}, m = {row.items:,}, n = {row.rankings:,}",
            row.size,
            "<=",
            delta * (1 + APPROXIMATE),
            reading=readings[str(row.centre)],
            error=row.error,
        )
    for m, n in dict.fromkeys(zip(frame["items"], frame["rankings"], strict=True)):
        size = MallowsApproximate.calibrated(n_items=int(m), n_voters=int(n), size=delta).exact_size
        what = f"size, first ranking as the centre, exact threshold, m = {m:,}, n = {n:,}"
        yield amended(what, size, "<=", delta)


@styled
def draw_ma_power(frame: pd.DataFrame) -> Figure:
    """Power of the readings of MA against 1 - phi; at 0 their size."""
    figure = Figure(figsize=(7.2, 3.6))
    axes = figure.subplots()
    marks = "osD^v"
    for i, (reading, part) in enumerate(frame.groupby("reading", sort=False)):
        axes.errorbar(
            part.gap, part["mean"], BAR * part.se, fmt=f"{marks[i]}-", capsize=2, color=COLOURS[i], label=reading
        )
    axes.axhline(frame.delta.iloc[0], color="black", lw=0.8, ls=":")
    axes.set(xlabel="1 − φ", ylabel="share rejected", ylim=(-0.02, 1.02))
    figure.legend(loc="outside right center")
    return figure
