"""Figures on pure privacy of the one-shot mechanism (Qiao, Su and Zhang 2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def gap_curve(frame: pd.DataFrame) -> Figure:
    """Exact loss over the claimed epsilon against how far behind the chosen lie, a panel a number of items and k."""
    figure = Figure(figsize=(5.8, 6.4))
    shapes = frame.groupby(["m", "k"], sort=False)
    for axes, ((m, k), part) in zip(figure.subplots(shapes.ngroups, 1, sharex=True), shapes, strict=True):
        for (adjacency, release), line in part.groupby(["adjacency", "release"], sort=False):
            axes.plot(
                line.gap,
                line.times,
                color=COLOURS[adjacency == "any direction"],
                ls="-" if "values" in release else "--",
                label=f"{release}; {adjacency}",
            )
        axes.axhline(1, color="black", lw=1)
        axes.set(title=f"{k} of {m} items", ylabel="privacy loss / ε (exact)", ylim=(0, 1.6))
    figure.axes[-1].set_xlabel("gap in units of λ")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
