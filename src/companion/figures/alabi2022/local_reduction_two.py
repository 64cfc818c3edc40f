"""Figures on Reduction II in the local model (Alabi et al. 2022)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

_LOOK = {
    "as printed": ("as printed, counter mended", CALIBRATION["as printed"]["color"], "-"),
    "corrected": ("corrected: centred reports, exact q", CALIBRATION["corrected"]["color"], "-"),
    "fresh blocks": ("fresh blocks, one report each", COLOURS[2], "-"),
    "one pair each": ("KwikSort, one pair each", COLOURS[3], "--"),
}


@styled
def cost_curves(frame: pd.DataFrame) -> Figure:
    """Exact error of the designs against the number of voters, a panel a number of items; Borda's with 95 % bars."""
    figure = Figure(figsize=(7.2, 3.6))
    panels = figure.subplots(1, frame["items"].nunique(), sharey=True, squeeze=False)[0]
    for axes, (items, part) in zip(panels, frame.groupby("items"), strict=True):
        for design, (label, colour, line) in _LOOK.items():
            curve = part[part.design == design]
            axes.plot(curve.voters, curve.error, line, color=colour, label=label)
        seen = part[part.design == "matrix"]
        bars = {"ls": "", "marker": "v", "color": COLOURS[4], "capsize": 2}
        axes.errorbar(seen.voters, seen["mean"], BAR * seen.se, label="Borda, one pair each", **bars)
        axes.axhline(0.5, color="black", lw=1, ls=":")
        axes.set(title=f"{items} items", xlabel="voters", xscale="log", ylim=(0, 0.55))
    figure.axes[0].set_ylabel("share of pairs in the wrong order")
    figure.axes[0].annotate("a coin", (1, 0.5), (-3, 3), ("axes fraction", "data"), "offset points", ha="right")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
