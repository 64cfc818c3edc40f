"""Figures on power without privacy of Busa-Fekete, Fotakis and Zampetakis (2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

_SIZE: dict[str, dict[str, Any]] = {"as printed": CALIBRATION["as printed"], "equal size": CALIBRATION["corrected"]}
_MALLOWS: dict[str, dict[str, Any]] = {
    "MA, any centre": {"color": COLOURS[3], "marker": "^"},
    "MA, first ranking": {"color": COLOURS[2], "marker": "D"},
}


def _curve(axes: Axes, part: pd.DataFrame, label: str, **look: Any) -> None:
    bars = np.stack([part["mean"] - part.low, part.high - part["mean"]]).clip(0)
    axes.errorbar(part.gap, part["mean"], bars, capsize=2, lw=1.2, ms=3.5, label=label, **look)


@styled
def two_rankings(frame: pd.DataFrame) -> Figure:
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
def any_centre(frame: pd.DataFrame) -> Figure:
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
def rankings_needed(frame: pd.DataFrame) -> Figure:
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
