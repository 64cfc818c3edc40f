"""Figure of exact privacy curves beside what is proved."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def privacy_curves(frame: pd.DataFrame) -> Figure:
    """Delta against epsilon, a colour for each noise: needed at the worst pair found (solid) and proved (dashed)."""
    figure = Figure(figsize=(6.8, 3.9))
    axes = figure.subplots()
    names = {"laplace": "Laplace", "gumbel": "Gumbel", "exponential": "exponential"}
    for colour, (noise, rows) in zip(COLOURS, frame.groupby("noise", sort=False), strict=False):
        for curve, part in rows.groupby("curve", sort=False):
            style = {"found": "-", "proved": "--"}[str(curve)]
            axes.plot(part.epsilon, part.delta, ls=style, color=colour, label=f"{names[str(noise)]}, {curve}")
    axes.set(xlabel="ε", ylabel="least δ", yscale="log", xlim=(0, None), ylim=(frame.delta.min(), 1))
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=9)
    return figure
