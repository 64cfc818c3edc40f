"""Figures of the sections on two rankings (Busa-Fekete, Fotakis and Zampetakis 2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled


@styled
def distance_laws(frame: pd.DataFrame) -> Figure:
    """Distribution functions of the distance of two rankings, with the printed and the exact threshold."""
    figure = Figure(figsize=(7.2, 3.6))
    axes = figure.subplots()
    for (law, part), colour in zip(frame.groupby("law", sort=False), ("black", *COLOURS[2:]), strict=False):
        axes.plot(part.distance, part.probability, color=colour, label=str(law).replace("phi", "φ").replace("-", "−"))
        if (seen := part[part.se > 0]).size:
            axes.errorbar(seen.distance, seen.probability, BAR * seen.se, ls="", capsize=2, color=colour)
    for column, calibration in (("printed", "as printed"), ("exact", "corrected")):
        colour = CALIBRATION[calibration]["color"]
        axes.axvline(frame[column].iloc[0], color=colour, ls="--", lw=1.2, label=f"{column} threshold")
    axes.set(xlabel="Kendall distance x of the two rankings", ylabel="P(d ≤ x)", ylim=(-0.02, 1.02))
    axes.legend(loc="center left", bbox_to_anchor=(0.24, 0.5))
    return figure


@styled
def ma_power(frame: pd.DataFrame) -> Figure:
    """Power of the readings of MA against 1 - phi; at 0 their size."""
    figure = Figure(figsize=(7.2, 3.6))
    axes = figure.subplots()
    marks = "osD^v"
    for i, (reading, part) in enumerate(frame.groupby("reading", sort=False)):
        axes.errorbar(
            part.gap, part["mean"], BAR * part.se, fmt=f"{marks[i]}-", capsize=2, color=COLOURS[i], label=reading
        )
    axes.axhline(frame.delta.iloc[0], color="black", lw=0.8, ls=":")
    axes.set(xlabel="1 − φ", ylabel="share rejected", ylim=(-0.02, 1.02))
    figure.legend(loc="outside right center")
    return figure
