"""Figure of the truncated test of Busa-Fekete, Fotakis and Zampetakis (2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def acceptance(frame: pd.DataFrame) -> Figure:
    """Probability of acceptance against UNIF's statistic, and privacy loss against the number of rankings."""
    figure = Figure(figsize=(7.6, 3.9))
    left, right = figure.subplots(1, 2)
    part = frame[frame.panel == "acceptance"]
    left.plot(part.x, part["value"], color=COLOURS[1], label="Y as it is")
    left.fill_between(
        part.x, part.low, part.high, color=COLOURS[1], alpha=0.25, lw=0, label="what one ranking can make of it"
    )
    left.axvline(1, color="black", lw=0.8, ls=":", label="mean of uniform rankings")
    left.set(xlabel="Y over its mean m/2", ylabel="probability of acceptance", ylim=(0, 1))
    left.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=8)
    part = frame[frame.panel == "loss"]
    right.plot(part.x, part.low, color=COLOURS[1], label="attained")
    right.plot(part.x, part["value"], color=COLOURS[2], lw=1, ls="-.", label="attained if the pairing is known")
    right.plot(part.x, part.high, color=COLOURS[1], ls="--", lw=1, label="proved upper bound")
    right.axhline(1 / 3, color="black", lw=0.8, ls=":", label="claimed")
    right.set(xlabel="rankings k", ylabel="privacy loss", xscale="log", yscale="log")
    right.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=8)
    return figure
