"""Figure of the audits that called a kept promise broken."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def false_alarms(frame: pd.DataFrame) -> Figure:
    """Share of false alarms of every mechanism, with the upper bound on their probability."""
    figure = Figure(figsize=(6.2, 1.2 + 0.28 * len(frame)))
    axes = figure.subplots()
    shares = frame.alarms / frame.runs
    rows = range(len(frame))
    axes.errorbar(
        100 * shares, rows, xerr=[0 * shares, 100 * (frame.most - shares)], fmt="o", color=COLOURS[0], capsize=3
    )
    axes.axvline(1, color=COLOURS[1], ls="--", lw=1)
    axes.set_yticks(rows, frame.mechanism)
    axes.invert_yaxis()
    axes.set_xlim(left=-0.03)
    axes.set_xlabel("false alarms, % of audits")
    return figure
