"""Figure of Theorem 2.3 of Qiao, Su and Zhang (2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import CALIBRATION, COLOURS, styled


@styled
def failure(frame: pd.DataFrame) -> Figure:
    """Probability of a wrong set against the gap: bounds as lines, exact values as marks."""
    figure = Figure(figsize=(5.8, 4.8))
    axes = figure.subplots()
    printed = frame[frame.kind == "as printed"]
    for (items, part), line in zip(printed.groupby("items"), (":", "--", "-"), strict=False):
        label = f"Theorem 2.3, m = {items:,}"
        axes.plot(part["gap"], part.failure, color=CALIBRATION["as printed"]["color"], ls=line, label=label)
    ours, exact = (frame[frame.kind == kind] for kind in ("corrected", "exact"))
    axes.plot(ours["gap"], ours.failure, color=CALIBRATION["corrected"]["color"], label="ours, for any m")
    axes.plot(
        exact["gap"],
        exact.failure,
        color=COLOURS[6],
        marker="o",
        ls="",
        ms=3,
        label=f"exact, m = {exact['items'].max():,}",
    )
    axes.set(xlabel="gap Δ / noise scale λ", ylabel="probability of a wrong set", yscale="log")
    axes.set_ylim(bottom=exact.failure.min() / 3, top=2)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
