"""Figure on the noise of KwikSort's answers (Alabi et al. 2022)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def noise_ratio(frame: pd.DataFrame) -> Figure:
    """Noise of the second reduction over that of the first, against the number of items, as printed and as planned."""
    figure = Figure(figsize=(5.6, 3.6))
    axes = figure.subplots()
    for (noise, part), colour in zip(frame.groupby("noise", sort=False), (COLOURS[0], COLOURS[2]), strict=True):
        for split, line in (("printed", "-"), ("planned", "--")):
            axes.plot(part["items"], part[split], line, color=colour, label=f"{noise}, {split}")
    axes.axhline(1, color="black", lw=1)
    ticks = [m for m in (3, 5, 10, 20, 40, 100, 200) if m <= frame["items"].max()]
    axes.set(xscale="log", xlabel="items m", ylabel="noise on an answer, II / I", ylim=(0, 2.1))
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=9, loc="lower left")
    return figure
