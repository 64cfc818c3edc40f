"""Figure of the sections on Reduction II of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

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
    figure = Figure(figsize=(7.2, 3.4))
    panels = np.atleast_1d(figure.subplots(1, frame.delta.nunique(), sharey=True))
    for axes, (delta, rows) in zip(panels, frame.groupby("delta"), strict=True):
        for reduction, part in rows.groupby("reduction"):
            unit = part.n_items**2.5
            axes.errorbar(part.n_items, part["mean"] / unit, BAR * part.se / unit, capsize=2, **_LOOK[str(reduction)])
        axes.set(title=f"δ = {delta:g}", xlabel="items m", xscale="log", yscale="log")
        axes.set_xticks(rows.n_items.unique(), [str(m) for m in rows.n_items.unique()])
        axes.minorticks_off()
    panels[0].set_ylabel("error × εn / m$^{2.5}$")
    panels[0].legend(loc="upper left")
    return figure
