"""What one locally private report a voter tells of a pair, and of the order."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_MARKS = "sovD^P"


@styled
def deviations(frame: pd.DataFrame) -> Figure:
    """Deviation of one entry against epsilon, a panel a number of items."""
    sizes = list(frame.groupby("n_items"))
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (m, part) in zip(figure.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
        for number, (name, curve) in enumerate(part.groupby("randomiser", sort=False)):
            axes.plot(curve.epsilon, curve.deviation, color=COLOURS[number], marker=_MARKS[number], ms=3, label=name)
        axes.set(xscale="log", yscale="log", title=f"m = {m}", ylim=(0.2, 2 * part.deviation.max()))
    handles, labels = axes.get_legend_handles_labels()
    figure.supxlabel("ε", fontsize=10)
    figure.supylabel("error of a fraction × √n", fontsize=10)
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


@styled
def excesses(frame: pd.DataFrame) -> Figure:
    """Cost above the optimum against the number of voters."""
    figure = Figure(figsize=(7.2, 3.9))
    axes = figure.subplots()
    for number, (name, curve) in enumerate(frame.groupby("randomiser", sort=False)):
        look: dict[str, Any] = {"color": COLOURS[number], "marker": _MARKS[number], "ms": 4, "lw": 1.2, "capsize": 2}
        axes.errorbar(curve.voters, curve["mean"], BAR * curve.se, label=name, **look)
    axes.axhline(frame.random.iloc[0], color="black", lw=0.8, ls=":", label="random order")
    axes.set(xscale="log", xlabel="voters", ylabel="K − OPT, pairs a voter", ylim=(-0.05, None))
    figure.legend(loc="outside upper center", ncols=4)
    return figure
