"""Better: tests of all ranks, and how many rankings each test needs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import joblib
import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.testing_uniformity import power
from companion.instruments.style import BAR, CALIBRATION, label_outer, name_lines, note, panels, styled
from companion.instruments.sweep import stream
from companion.instruments.uniformity import crossing, exponent, mean_square_bias, spread
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.friedman import friedman_statistic


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

    ndarray of float, shape (2, marks, repetitions)
    """
    m = law.n_items
    draws = (_running(law.sample(int(marks[-1]), rng=rng), rng.permutation(m), marks) for _ in range(repetitions))
    return np.stack(list(draws), axis=-1)


def rankings_needed(
    n_items: int, theta: float, repetitions: int, level: float = 0.8, resamples: int = 100
) -> dict[str, float]:
    """Rankings with which UNIF and Friedman's test, both of size exactly 0.05, reach a power.

    ``n_items``, ``theta``, ``UNIF``, ``Friedman``, ``ratio``, with ``… se``, and ``known centre``: what the normal
    approximation gives for the most powerful test when the centre is known.
    """
    law, uniform = Mallows(n_items, theta), Mallows(n_items, 0.0)
    z = stats.norm.ppf(level) - stats.norm.ppf(power.DELTA)
    guess = 2 * z / (math.sqrt(n_items) * mean_square_bias(law))
    marks = np.unique(np.maximum(2, np.round(1 + guess * np.geomspace(0.25, 2, 16)))).astype(np.int64)
    cell = {"n_items": n_items, "theta": theta}
    rng = stream("busafekete2021 rankings needed", cell)
    null = running_statistics(uniform, marks, 2 * repetitions, rng)
    drawn = running_statistics(law, marks, repetitions, rng)

    def needed(null: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, ...]:
        answers = []
        for one, other in zip(drawn, null, strict=True):
            curve = [power.against_draws(x, y, power.DELTA).mean() for x, y in zip(one, other, strict=True)]
            answers.append(math.exp(crossing(np.log(marks), curve, level)))
        return answers[0], answers[1], answers[0] / answers[1]

    def resample(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[..., rng.integers(values.shape[-1], size=values.shape[-1])]

    again = [needed(resample(null), resample(drawn)) for _ in range(resamples)]
    names = (*power.RIVALS, "ratio")
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
        for test in power.RIVALS
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
            wins = power.pairwise_wins(rows)
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
    powers = [power.against_draws(x, y, power.DELTA).mean() for x, y in zip(drawn, null, strict=True)]
    named = dict(zip((power.UNIF, "Friedman", "mean distance", "MA, estimated centre"), powers, strict=True))
    return {"m": n_items, "n": n_rankings} | named | {"±": 1.96 * 0.5 / math.sqrt(repetitions)}


@styled
def draw_rankings_needed(frame: pd.DataFrame) -> Figure:
    """Rankings for power 0.8 against the number of items, at fixed spread and at fixed distance from uniform."""
    groups = list(frame.groupby("held", sort=False))
    message = "More items make a fixed lean easier and a fixed distance harder"
    figure, made = panels(len(groups), message=message, height=3.0)
    looks = {"UNIF": CALIBRATION["corrected"], "Friedman": CALIBRATION["net wins"]}
    for axes, (held, rows) in zip(made, groups, strict=True):
        for test, look in looks.items():
            axes.errorbar(rows.n_items, rows[test], BAR * rows[f"{test} se"], capsize=2, label=test, **look)
        axes.plot(rows.n_items, rows["known centre"], color="black", ls="--", lw=1.2, label="order known")
        distance = str(held).removeprefix("TV = ")
        axes.set(title=f"fixed lean, {held}" if distance == held else f"fixed distance from random, {distance}")
        axes.set(xlabel="items", xscale="log", yscale="log")
        ticks = sorted(rows.n_items)
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.minorticks_off()
    label_outer(made, "items", "rankings for power 0.8")
    for axes in made:
        name_lines(axes, width=9)
    note(
        figure,
        "Lean 1 − φ: how much people lean to one order (0: shuffled). Distance: total variation from shuffled, 0 to "
        "1. Power 0.8: 80 % of such data are found not to be shuffled. UNIF: the paper's test by pairs of items. "
        "Friedman: by mean places. Order known: the best test for a known order. Bars: 95 %.",
    )
    return figure
