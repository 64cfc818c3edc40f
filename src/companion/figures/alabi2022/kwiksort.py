"""Figure on the comparisons of KwikSort (Alabi et al. 2022)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def noise_ratio(frame: pd.DataFrame) -> Figure:
    """Noise of the second reduction over that of the first, against the number of items."""
    figure = Figure(figsize=(6.8, 3.4))
    axes = figure.subplots()
    for noise, colour in (("laplace", COLOURS[0]), ("gaussian", COLOURS[2])):
        for (xi, part), line in zip(frame.groupby("xi", sort=False), ("-", "--"), strict=True):
            axes.plot(part["items"], part[noise], line, color=colour, label=f"{noise.title()}, ξ = {xi:g}")
    axes.axhline(1, color="black", lw=1)
    ticks = [m for m in (3, 5, 10, 20, 40, 100, 200) if m <= frame["items"].max()]
    axes.set(xscale="log", xlabel="items m", ylabel="noise on an answer, II / I", ylim=(0, 2.1))
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=8, loc="lower left")
    return figure
