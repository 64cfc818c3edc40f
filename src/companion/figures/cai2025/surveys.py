"""Figures of the chapter on the two surveys and on incomplete graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

LOOK: dict[str, dict[str, Any]] = {
    "wins": CALIBRATION["corrected"],
    "net wins": CALIBRATION["net wins"],
    "win fraction": {"color": COLOURS[5], "marker": "P"},
    "MLE as printed": CALIBRATION["as printed"],
    "MLE, private graph": {"color": COLOURS[3], "marker": "^"},
    "MLE, public graph": {"color": COLOURS[4], "marker": "v"},
}


@styled
def figure_8(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon as printed, a panel a survey; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.6))
    look = CALIBRATION["as printed"]
    for axes, (survey, rows) in zip(_panels(figure, frame.survey), frame.groupby("survey", sort=False), strict=True):
        mle, counts = (rows[rows.curve == name].sort_values("epsilon") for name in ("perturbed MLE", "noisy counts"))
        _bars(axes, mle.epsilon, mle, "perturbed MLE", look)
        axes.plot(counts.epsilon, counts["mean"], color=look["color"], ls="--", lw=1.2, label="noisy counts, exact")
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "x", color="black", ms=7, mew=1.5, label="MLE, published", zorder=3)
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        _epsilon_axis(axes, str(survey), rows.epsilon, "ε on the axis of the paper")
    _label(figure, "mean absolute rank difference")
    return figure


@styled
def equal_privacy(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference of all methods against epsilon, a panel a survey; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (survey, rows) in zip(_panels(figure, frame.survey), frame.groupby("survey", sort=False), strict=True):
        for method in (name for name in LOOK if name in set(rows.method)):
            part = rows[rows.method == method].sort_values("epsilon")
            _bars(axes, part.epsilon, part, method, LOOK[method])
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        _epsilon_axis(axes, str(survey), rows.epsilon, "ε, each pair at most once")
    _label(figure, "mean absolute rank difference")
    return figure


@styled
def incomplete(frame: pd.DataFrame) -> Figure:
    """Error against the share of compared pairs, a panel a kind of graph; bars are 95 % intervals."""
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (graph, rows) in zip(_panels(figure, frame.graph), frame.groupby("graph", sort=False), strict=True):
        for method in (name for name in LOOK if name in set(rows.method)):
            part = rows[rows.method == method].sort_values("probability")
            _bars(axes, part.probability, part, method, LOOK[method])
        axes.axhline(1.0, color="black", ls=":", lw=1.2, label="random order")
        axes.set(title=str(graph), xlabel="share of pairs compared", xlim=(0, 1.03), ylim=(0, 1.06))
    figure.axes[0].set_ylabel("rank difference from the truth,\nas a share of a random order's")
    figure.axes[0].legend(loc="lower left", fontsize=8)
    return figure


def _panels(figure: Figure, names: pd.Series) -> Any:
    return np.atleast_1d(figure.subplots(1, names.nunique(), sharey=True))


def _bars(axes: Axes, x: pd.Series, part: pd.DataFrame, label: str, look: dict[str, Any]) -> None:
    axes.errorbar(x, part["mean"], BAR * part.se, lw=1, capsize=2, label=label, **look)


def _epsilon_axis(axes: Axes, title: str, epsilon: pd.Series, label: str) -> None:
    axes.set(title=title, xlabel=label, xscale="log")
    ticks = [e for e in (0.5, 1, 2, 4, 10) if epsilon.min() <= e <= epsilon.max()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _label(figure: Figure, text: str) -> None:
    figure.axes[0].set_ylabel(text)
    figure.axes[0].set_ylim(bottom=0)
    figure.axes[0].legend(loc="upper right", fontsize=8, bbox_to_anchor=(1.0, 0.93))
