"""Figure of exact privacy curves beside what is proved."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def privacy_curves(frame: pd.DataFrame) -> Figure:
    """Delta against epsilon, a colour for each noise: needed at the worst pair found (solid) and proved (dashed)."""
    figure = Figure(figsize=(5.8, 4.4))
    axes = figure.subplots()
    looks = {"laplace": ("Laplace", 0), "gumbel": ("Gumbel", 2), "exponential": ("exponential", 3)}
    for (noise, curve), part in frame.groupby(["noise", "curve"], sort=False):
        name, colour = looks[noise]
        style = {"found": "-", "proved": "--", "calibrated": "o"}[curve]
        label = None if curve == "calibrated" else f"{name}, {curve}"
        axes.plot(part.epsilon, part.delta, style, color=COLOURS[colour], label=label)
    axes.set_title(f"{frame.k.iloc[0]} items selected")
    axes.set(xlabel="ε", ylabel="least δ", yscale="log", xlim=(0, None), ylim=(frame.delta.min(), 1))
    figure.legend(loc="outside lower center", ncols=2)
    return figure
