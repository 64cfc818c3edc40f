"""Figure of the section on UNIF."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def null_law(frame: pd.DataFrame) -> Figure:
    """Exact tails of UNIF's statistic for uniform rankings against what the printed threshold promises."""
    figure = Figure(figsize=(6.8, 3.8))
    axes = figure.subplots()
    for (sizes, part), colour, mark in zip(frame.groupby(["m", "k"], sort=False), COLOURS, "osD^v", strict=False):
        m, k = sizes
        few = len(part) < 12
        label = f"m = {m:,}, k = {k:,}"
        axes.plot(
            part.excess, part["size"], color=colour, marker=mark if few else "", ls=":" if few else "-", label=label
        )
    excess = np.linspace(0, frame.excess.max(), 200)
    axes.plot(excess, np.exp(-(excess**2) / 4), color="black", lw=1.2, label="promised δ")
    axes.set(xlabel="(y − m/2) / √m", ylabel="P(Y ≥ y), uniform rankings", yscale="log", ylim=(1e-6, 1.3))
    axes.legend(loc="lower left")
    return figure
