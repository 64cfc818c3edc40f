"""Curves of simulated losses: whether they fall, and how the book draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.instruments.allowance import Z
from companion.instruments.strengths import L2, LINF, MISSED
from companion.instruments.style import BAR, COLOURS, styled
from companion.ledger.claim import Check, printed

#: A point of a curve of missed shares below this is the floor of the figure: the curve is not asked to fall on.
FLOOR = 0.01
#: Neighbouring points of a curve that are compared are this far apart, at least.
STEP = 1.5
#: Columns of a frame of losses that do not say in which setting they were simulated.
MEASURED = {"mean", "se", "repetitions", "loss", "method"}


def levels(frame: pd.DataFrame) -> pd.DataFrame:
    """The losses themselves, without their differences."""
    return frame[frame.loss.isin((LINF, L2, MISSED))]


def place(row: Any, columns: list[str]) -> str:
    """Where in the grid a row stands, in words."""
    return ", ".join(f"{'ε' if c == 'epsilon' else c} = {shown(row[c])}" for c in columns)


def shown(value: float) -> str:
    """A number as checks name it."""
    return f"{value:g}".replace("inf", "∞")


def monotone(frame: pd.DataFrame, along: str, word: str = "fall") -> Iterator[Check]:
    """For every method and loss the least certain fall (or rise) between neighbouring points; undecided without any."""
    sign = {"fall": 1, "rise": -1}[word]
    setting = [c for c in frame.columns if c not in MEASURED | {along}]
    for (method, loss), rows in levels(frame).groupby(["method", "loss"], sort=False):
        steps = []
        for _, curve in rows.groupby(setting, sort=False):
            for a, b in pairwise(_thinned(curve.sort_values(along), along)):
                if loss != MISSED or max(a["mean"], b["mean"]) >= FLOOR:
                    step, error = sign * (a["mean"] - b["mean"]), math.hypot(a.se, b.se)
                    ends = f"{place(a, [along])} to {shown(b[along])}, {place(a, setting)}"
                    steps.append((step / error if error else math.copysign(math.inf, step), step, error, ends))
        if steps:
            _, step, error, ends = min(steps, key=lambda each: each[0])
            what = f"{method}, {loss}: least certain {word} of {len(rows)} points, from {ends}"
            yield printed(what, step, ">", 0, error=Z * error)
        else:
            yield printed(f"{method}, {loss}: no two points along {along} to compare", 0, ">", 0, error=1)


def _thinned(points: pd.DataFrame, along: str) -> list[Any]:
    kept: list[Any] = []
    for _, row in points.iterrows():
        if not kept or row[along] >= STEP * kept[-1][along]:
            kept.append(row)
    return kept


def epsilon_falls(frame: pd.DataFrame) -> Iterator[Check]:
    """For every method and loss the least certain of the falls that the sweep measured on the same data."""
    setting = [c for c in frame.columns if c not in MEASURED | {"epsilon"}]
    for (method, loss), rows in levels(frame).groupby(["method", "loss"], sort=False):
        falls = frame[(frame.method == method) & (frame.loss == f"fall of {loss}")]
        both = falls.merge(rows[[*setting, "epsilon", "mean"]], on=[*setting, "epsilon"], suffixes=("", "_before"))
        if loss == MISSED:
            both = both[both.mean_before >= FLOOR]
        if both.empty:
            raise ValueError(f"frame has no fall of {loss} for {method}")
        row = both.loc[(both["mean"] / both.se.clip(lower=1e-12)).idxmin()]
        where = place(row, ["epsilon", *setting])
        what = f"{method}, {loss}: least certain of {len(both)} falls, from {where}"
        yield printed(what, row["mean"], ">", 0, error=Z * row.se)


_PANELS = (
    ("MLE", LINF, "log relative ℓ∞ error"),
    ("MLE", L2, "log relative ℓ2 error"),
    ("MLE", MISSED, "MLE: top k missed"),
    ("counts", MISSED, "counts: top k missed"),
)
AXES = {"n": "items n", "p": "probability p", "m": "voters m", "epsilon": "ε"}
_TICKS = (0.2, 0.25, 0.5, 1, 2, 4, 5, 8, np.inf)


def label_of(value: Any) -> str:
    """A number as figures name it."""
    return f"{value:.4g}".replace("inf", "∞")


def band(axes: Axes, x: Any, part: pd.DataFrame, **look: Any) -> None:
    """A curve in a band that covers its mean 95 % of the time."""
    axes.plot(x, part["mean"], **look)
    half = BAR * part.se
    axes.fill_between(x, part["mean"] - half, part["mean"] + half, color=look["color"], alpha=0.2, lw=0)


def draw_losses(frame: pd.DataFrame, along: str, curve: str) -> Figure:
    """A panel a loss; a curve for every value of a column; dotted where a mistake of the authors' code is kept."""
    figure = Figure(figsize=(7.2, 5.4))
    last = frame[along][np.isfinite(frame[along])].max()
    if "variant" not in frame:
        frame = frame.assign(variant="")
    for axes, (method, loss, title) in zip(figure.subplots(2, 2).ravel(), _PANELS, strict=True):
        rows = frame[(frame.method == method) & (frame.loss == loss)]
        for number, (value, curves) in enumerate(rows.groupby(curve)):
            look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "ms": 3}
            for variant, part in curves.sort_values(along).groupby("variant", sort=False):
                if variant == "as run":
                    look |= {"ls": ":", "marker": "", "label": ""}
                else:
                    look |= {"ls": "-", "marker": "o", "label": f"{AXES[curve].split()[-1]} = {label_of(value)}"}
                band(axes, _finite(part[along], last), part, **look)
        axes.set(title=title, xlabel=AXES[along])
        if along == "epsilon":
            ticks = [t for t in sorted(frame.epsilon.unique()) if t in _TICKS]
            axes.set_xscale("log")
            axes.set_xticks(_finite(pd.Series(ticks), last), [label_of(t) for t in ticks])
            axes.minorticks_off()
        if loss == MISSED:
            axes.set_ylim(bottom=0)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9)
    return figure


def _finite(values: pd.Series, last: float) -> pd.Series:
    """Infinity is drawn beyond the last number."""
    return values.replace(np.inf, 2 * last)


@styled
def draw_by_items(frame: pd.DataFrame) -> Figure:
    """Losses against the number of items, a curve an epsilon (Figures 1 and 5)."""
    return draw_losses(frame, "n", "epsilon")
