"""Curves of simulated losses: whether they fall, and how the book draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.instruments.allowance import Z
from companion.instruments.strengths import L2, LINF, MISSED
from companion.instruments.style import BAR, key, label_outer, note, panels, styled
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
    ("MLE", LINF, "estimator: largest error of a strength"),
    ("MLE", L2, "estimator: error of all strengths"),
    ("MLE", MISSED, "estimator: the best that it misses"),
    ("counts", MISSED, "counting: the best that it misses"),
)
AXES = {
    "n": "number of items",
    "p": "share of the pairs compared",
    "m": "number of voters",
    "epsilon": "ε (privacy lost; less is better)",
}
_SYMBOLS = {"n": "n", "p": "share of pairs", "m": "voters", "epsilon": "ε"}
_TICKS = (0.2, 0.25, 0.5, 1, 2, 2.5, 4, 5, 10, np.inf)
#: What a figure's note says of its errors.
RELATIVE = "Estimator: strengths by likelihood; counting: by wins. Log relative error: 0 if all items are called equal."
_MISTAKES = "The authors' two mistakes: true strengths not shifted to mean 0, and wrong items taken for the best."
#: Marks of a figure's curves.
MARKS = "os^DvP"
#: How a variant of a curve is drawn; the last is as the paper's figure has it.
_LOOKS: dict[str, dict[str, Any]] = {
    "corrected": {"ls": "-", "ms": 3},
    "as run": {"ls": ":", "lw": 1.8},
    "as printed": {"ls": (0, (5, 1.5)), "lw": 1.3},
    "other ridge": {"ls": (0, (7, 1.5, 1.2, 1.5)), "lw": 1.3},
    "published": {"ls": "", "marker": "x", "ms": 7, "mew": 1.7},
}


def label_of(value: Any) -> str:
    """A number as figures name it."""
    return f"{value:.4g}".replace("inf", "∞")


def epsilon_of(value: float, before: str = "") -> str:
    """An epsilon, after some words, as figures name it."""
    return "no noise" if math.isinf(value) else before + label_of(value)


def shades(count: int) -> list[Any]:
    """Colours of an ordered quantity, the darkest for the least; apart when inverted for the dark, too."""
    return list(sns.color_palette("viridis", as_cmap=True)(np.linspace(0, 0.66, count)))


def band(axes: Axes, x: Any, part: pd.DataFrame, **look: Any) -> None:
    """A curve in a band that covers its mean 95 % of the time."""
    axes.plot(x, part["mean"], **look)
    half = BAR * part.se
    axes.fill_between(x, part["mean"] - half, part["mean"] + half, color=look["color"], alpha=0.2, lw=0)


def draw_losses(frame: pd.DataFrame, along: str, curve: str, message: str, said: str = "") -> Figure:
    """A panel a loss, a curve for every value of a column; ``variant`` is a key of `_LOOKS`, `said` ends the note."""
    figure, made = panels(4, message=message, height=2.5, columns=2)
    made[3].sharey(made[2])
    last = frame[along][np.isfinite(frame[along])].max()
    values = sorted(frame[curve].unique())
    for axes, (method, loss, title) in zip(made, _PANELS, strict=True):
        rows = frame[(frame.method == method) & (frame.loss == loss)].sort_values(along)
        for colour, mark, value in zip(shades(len(values)), cycle(MARKS), values, strict=False):
            for variant, look in _LOOKS.items():
                part = rows[(rows[curve] == value) & (rows.variant == variant)]
                if part.empty or value not in _drawn(rows[rows.variant == variant][curve], variant):
                    continue
                named: dict[str, Any] = {"label": "_"}
                if variant == "corrected":
                    named = {"label": epsilon_of(value, f"{_SYMBOLS[curve]} = "), "marker": mark}
                band(axes, _finite(part[along], last), part, color=colour, **look | named)
        axes.set_title(title)
        if along == "epsilon":
            ticks = [t for t in sorted(frame.epsilon.unique()) if t in _TICKS]
            axes.set_xscale("log")
            axes.set_xticks(_finite(pd.Series(ticks), last), [epsilon_of(t) for t in ticks])
            axes.minorticks_off()
        if loss == MISSED:
            axes.set_ylim(bottom=0)
    label_outer(made, AXES[along], "")
    for axes, (_, loss, _) in zip(made, _PANELS, strict=True):
        axes.set_ylabel("share of the best missed" if loss == MISSED else "log relative error")
    handles, labels = made[0].get_legend_handles_labels()
    names = {"published": "published"}
    if (frame.variant == "as run").any():
        estimates = {"as printed": "estimate as printed", "other ridge": "as printed, κ2 = 57"}
        names = {"corrected": "mistakes corrected", "as run": "as the authors ran it"} | estimates | names
        ends = " and ".join(epsilon_of(value, f"{_SYMBOLS[curve]} = ") for value in (values[0], values[-1]))
        said = " ".join((_MISTAKES, f"Dotted and crosses: {ends} only.", said)).strip()
    for variant, name in names.items():
        if (frame.variant == variant).any():
            handles.append(Line2D([], [], color="black", **_LOOKS[variant]))
            labels.append(name)
    key(figure, handles, labels, columns=6)
    note(figure, " ".join((RELATIVE, "Bands (95 %) are mostly narrower than a line.", said)).strip())
    return figure


def _drawn(values: pd.Series, variant: str) -> tuple[Any, ...]:
    """Which of a variant's curves a figure has: all, the first and the last, or the last."""
    ordered = sorted(values.unique())
    return tuple(
        {"corrected": ordered, "published": ordered, "other ridge": ordered[-1:]}.get(
            variant, ordered[:: max(1, len(ordered) - 1)]
        )
    )


def _finite(values: pd.Series, last: float) -> pd.Series:
    """Infinity is drawn beyond the last number."""
    return values.replace(np.inf, 2 * last)


@styled
def draw_by_items(frame: pd.DataFrame) -> Figure:
    """Losses against the number of items, a curve an epsilon (Figures 1 and 5)."""
    edge = "If every pair is compared, more items make every error smaller"
    voter = "The estimate minus its mean, and counts, get worse with more items"
    return draw_losses(frame, "n", "epsilon", voter if "m" in frame else edge)
