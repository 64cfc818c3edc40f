"""Power of private tests of uniformity, a panel a number of items."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled

_MARKS = "osD^vPX*"


def _panels(frame: pd.DataFrame) -> Figure:
    sizes = list(frame.groupby("n_items"))
    tests = list(dict.fromkeys(frame.test))
    figure = Figure(figsize=(7.2, 1.2 + 2.5 * ((len(sizes) + 1) // 2)))
    grid = figure.subplots((len(sizes) + 1) // 2, 2, sharey=True, squeeze=False).ravel()
    for axes, (m, part) in zip(grid, sizes, strict=False):
        least = part.gap[part.gap > 0].min() / 3
        for number, test in enumerate(tests):
            curve = part[part.test == test].sort_values("gap")
            # the uniform law, at the left end, is infinitely far on a logarithmic axis
            x = curve.gap.where(curve.gap > 0, least)
            bars = [(curve["mean"] - curve.low).clip(lower=0), (curve.high - curve["mean"]).clip(lower=0)]
            look = {"color": COLOURS[number % len(COLOURS)], "marker": _MARKS[number % len(_MARKS)]}
            axes.errorbar(x, curve["mean"], bars, capsize=1.5, ms=3.5, lw=1.2, label=test, **look)
        axes.axhline(part.delta.iloc[0], color="black", lw=0.8, ls=":")
        axes.set(xscale="log", title=f"m = {m}", ylim=(-0.03, 1.03))
        most = part.gap.max()
        room = (most / least) ** 0.15  # or the label runs into that of the left end
        ticks = [10.0**e for e in range(-7, 1) if least * room < 10.0**e <= most]
        axes.set_xticks([least, *ticks], ["0", *(f"$10^{{{round(math.log10(t))}}}$" for t in ticks)])
        axes.minorticks_off()
    for axes in grid[len(sizes) :]:
        axes.set_axis_off()
    figure.supxlabel("1 − φ", fontsize=10)
    figure.supylabel("share rejected", fontsize=10)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


@styled
def figure_3(frame: pd.DataFrame) -> Figure:
    """The paper's Figure 3: its private tests as printed."""
    return _panels(frame)


@styled
def equal_privacy(frame: pd.DataFrame) -> Figure:
    """Tests of one size and one pure epsilon."""
    return _panels(frame)
