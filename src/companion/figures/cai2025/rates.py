"""Figure of the error of the perturbed MLE of Cai, Chakraborty and Wang (2025) against its rate."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled


@styled
def error_ratios(frame: pd.DataFrame) -> Figure:
    """Mean largest error over its rate against the number of items, on the sparsest graphs that are allowed."""
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    looks = zip(frame.groupby("privacy", sort=False), "os", COLOURS, strict=False)
    for (privacy, part), mark, colour in looks:
        axes.errorbar(part["items"], part["mean"], BAR * part.se, capsize=2, label=privacy, marker=mark, color=colour)
    axes.set(xlabel="items n", ylabel="ℓ∞ error over rate (2.6)", xscale="log")
    axes.set_ylim(bottom=0)
    ticks = sorted(frame["items"].unique())
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()
    return figure
