"""Figures of the chapters on Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled


@styled
def two_items(frame: pd.DataFrame) -> Figure:
    """Exact privacy loss of the released order of two items against the number of voters."""
    figure = Figure(figsize=(6.4, 3.4))
    axes = figure.subplots()
    for calibration, part in frame.groupby("calibration", sort=False):
        axes.plot(part.voters, part.loss, label=f"{calibration}: the order", **CALIBRATION[str(calibration)])
        axes.axhline(part.vector.iloc[0], color=CALIBRATION[str(calibration)]["color"], ls=":", lw=1.2)
    claimed = frame.claimed.iloc[0]
    axes.axhline(claimed, color="black", lw=1)
    last = frame.voters.max()
    axes.annotate("claimed ε", (last, claimed), (0, 3), textcoords="offset points", ha="right")
    axes.annotate(
        "noisy counts, as printed", (last, frame.vector.max()), (0, 3), textcoords="offset points", ha="right"
    )
    axes.set(xlabel="voters, one answer each", ylabel="privacy loss (exact)", ylim=(0, 1.12 * frame.vector.max()))
    axes.set_xticks([1, *range(5, last + 1, 5)])
    axes.legend(loc="lower right")
    return figure


@styled
def rank_difference(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon, a panel a survey; bars are 95 % intervals of the simulation."""
    figure = Figure(figsize=(7.2, 3.6))
    panels = figure.subplots(1, frame.survey.nunique(), sharey=True)
    for axes, (survey, rows) in zip(np.atleast_1d(panels), frame.groupby("survey", sort=False), strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            look = CALIBRATION[str(calibration)]
            axes.plot(part.epsilon, part.exact, color=look["color"], lw=1)
            seen = part[part.se > 0]  # where no release differed there is no error to draw
            axes.errorbar(seen.epsilon, seen["mean"], BAR * seen.se, ls="", capsize=2, label=calibration, **look)
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "x", color="black", ms=7, mew=1.5, label="published")
        axes.set(title=survey, xlabel="ε on the axis of the paper", xscale="log")
        ticks = [e for e in (0.5, 1, 2, 4, 10) if rows.epsilon.min() <= e <= rows.epsilon.max()]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    np.atleast_1d(panels)[0].set_ylabel("mean absolute rank difference")
    np.atleast_1d(panels)[-1].legend(loc="upper right")
    return figure


@styled
def reversed_pair(frame: pd.DataFrame) -> Figure:
    """Places of the universities in the data of 1998 and in the corrected data, a panel a score."""
    names = {"wins": "wins", "half": "wins + ½ ties", "net": "wins − losses"}
    figure = Figure(figsize=(7.2, 3.4))
    colour = dict(zip(frame.university.unique(), COLOURS, strict=False))
    for axes, (score, rows) in zip(figure.subplots(1, 3, sharey=True), frame.groupby("score", sort=False), strict=True):
        for university, part in rows.groupby("university", sort=False):
            place = part.set_index("data").place[["1998", "corrected"]]
            axes.plot([0, 1], place, "o-", color=colour[university], lw=1 + 2 * (place.iloc[0] != place.iloc[1]))
            axes.annotate(university, (1, place.iloc[1]), (7, 0), textcoords="offset points", va="center", fontsize=9)
        axes.set(title=names[str(score)], xlim=(-0.1, 2.1), ylim=(len(colour) + 0.5, 0.5))
        axes.set_xticks([0, 1], ["1998", "corrected"])
        axes.set_yticks(range(1, len(colour) + 1))
        axes.grid(False)
    figure.axes[0].set_ylabel("place")
    return figure


@styled
def place_probabilities(frame: pd.DataFrame) -> Figure:
    """Exact probability of every place for every university, a panel an epsilon."""
    groups = list(frame.groupby("epsilon", sort=True))
    figure = Figure(figsize=(7.2, 2.9))
    panels = figure.subplots(1, len(groups), sharey=True)
    order = frame.university.unique()
    for axes, (epsilon, part) in zip(np.atleast_1d(panels), groups, strict=True):
        table = part.pivot(index="university", columns="place", values="probability").loc[order]
        axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (row, column), p in np.ndenumerate(table.to_numpy()):
            if p >= 0.005:
                shade = "white" if p > 0.6 else "black"
                axes.text(column, row, f"{100 * p:.0f}", ha="center", va="center", color=shade, fontsize=8)
        axes.set(title=f"ε = {epsilon:g}", xlabel="place")
        axes.set_xticks(range(len(order)), range(1, len(order) + 1))
        axes.set_yticks(range(len(order)), order)
        axes.grid(False)
        axes.tick_params(length=0)
    return figure
