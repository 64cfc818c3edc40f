"""Figures on the perturbed likelihood of Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled


@styled
def least_noise(frame: pd.DataFrame) -> Figure:
    """Least noise scale times epsilon against the ridge; what is printed, and what a public graph needs."""
    figure = Figure(figsize=(6.6, 3.6))
    axes = figure.subplots()
    for colour, (epsilon, part) in zip(COLOURS[1:], frame.groupby("epsilon"), strict=False):
        axes.plot(part.ridge, part.scaled, color=colour, label=f"enough, ε = {epsilon:g}")
        axes.plot(part.printed_ridge.iloc[0], part.printed.iloc[0], "s", color=colour)
    axes.axhline(4, color="black", lw=1, ls=":")
    axes.axhline(2, color=COLOURS[0], lw=1.6)
    right = frame.ridge.max()
    axes.annotate("public pairs, and noisy counts: 2", (right, 2), (0, -12), textcoords="offset points", ha="right")
    axes.annotate("private pairs, any ridge: at least 4", (right, 4), (0, -12), textcoords="offset points", ha="right")
    axes.annotate("squares: as printed", (right, 8), (0, 4), textcoords="offset points", ha="right")
    axes.set(xscale="log", xlabel="ridge γ", ylabel="noise scale λ times ε", ylim=(0, 10))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.02))
    return figure


@styled
def order_differences(frame: pd.DataFrame) -> Figure:
    """Share of pairs that the estimate and two noisy scores order differently, against the ridge."""
    figure = Figure(figsize=(7.2, 3.2))
    panels = figure.subplots(1, frame.probability.nunique(), sharey=True)
    for axes, (probability, rows) in zip(np.atleast_1d(panels), frame.groupby("probability"), strict=True):
        for colour, mark, (score, part) in zip(COLOURS[1:], "sD", rows.groupby("score", sort=False), strict=False):
            axes.errorbar(part.ridge, part["mean"], BAR * part.se, color=colour, marker=mark, capsize=2, label=score)
        axes.set(title=f"p = {probability:g}", xscale="log", xlabel="ridge γ")
        axes.set_xticks([0.1, 10, 1000])
    np.atleast_1d(panels)[0].set_ylabel("pairs ordered differently (%)")
    np.atleast_1d(panels)[0].legend(loc="upper right")
    return figure
