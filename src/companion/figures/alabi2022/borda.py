"""Figures on noisy Borda scores beside the algorithms of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_LOOK = {
    "noisy Borda scores": (COLOURS[2], "D"),
    "noisy matrix, exact order": (COLOURS[0], "o"),
    "DPKwikSort": (COLOURS[1], "s"),
    "half and half": (COLOURS[3], "^"),
}


@styled
def equal_privacy(frame: pd.DataFrame) -> Figure:
    """Excess Kemeny score per pair against epsilon, a panel a data set, a line a mechanism."""
    panels = list(frame.groupby("data", sort=False))
    figure = Figure(figsize=(7.2, 1.0 + 2.3 * ((len(panels) + 2) // 3)))
    grid = figure.subplots((len(panels) + 2) // 3, 3, sharex=True, squeeze=False).ravel()
    for axes, (name, part) in zip(grid, panels, strict=False):
        for method, line in part.groupby("method", sort=False):
            colour, marker = _LOOK[str(method)]
            bars = BAR * line["se"]
            axes.errorbar(
                line.epsilon, line["mean"], bars, label=method, color=colour, marker=marker, capsize=2, lw=1.2
            )
        axes.axhline(part["floor"].iloc[0], color="black", lw=0.8, ls=":", label="Borda without noise")
        axes.set(xscale="log", title=name)
        axes.set_ylim(bottom=0)
    values = sorted(set(frame.epsilon))
    grid[0].set_xticks(values, [f"{value:g}" for value in values])
    grid[0].minorticks_off()
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.supxlabel("ε", fontsize=10)
    figure.supylabel("excess cost per pair", fontsize=10)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=8.5)
    return figure
