"""Figure of the sections on Reduction II of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_LOOK = {
    "I": {"color": COLOURS[0], "marker": "o", "label": "I: noise on all pairs"},
    "II": {"color": COLOURS[1], "marker": "s", "label": "II: private KwikSort"},
}


@styled
def worst_errors(frame: pd.DataFrame) -> Figure:
    """Largest error found over m^2.5, against the number of items m; a panel a delta, bars are 95 % intervals."""
    figure = Figure(figsize=(5.6, 5.8))
    panels = np.atleast_1d(figure.subplots(frame.delta.nunique(), 1, sharex=True))
    ticks = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
    for axes, (delta, rows) in zip(panels, frame.groupby("delta"), strict=True):
        for reduction, part in rows.groupby("reduction"):
            unit = part.n_items**2.5
            # side by side, so that no bar hides another
            at = part.n_items * (0.97 if reduction == "I" else 1.03)
            axes.errorbar(at, part["mean"] / unit, BAR * part.se / unit, capsize=2, **_LOOK[str(reduction)])
        axes.set(
            title=f"δ = $10^{{{math.log10(delta):.0f}}}$" if delta else "δ = 0",
            ylabel="error × εn / m$^{2.5}$",
            xscale="log",
            yscale="log",
        )
        low, high = axes.get_ylim()
        axes.set_yticks([t for t in ticks if low <= t <= high], [f"{t:g}" for t in ticks if low <= t <= high])
        axes.set_xticks(rows.n_items.unique(), [str(m) for m in rows.n_items.unique()])
        axes.minorticks_off()
    panels[-1].set_xlabel("items m")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
