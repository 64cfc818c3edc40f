"""Figure of the section on floating-point noise."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled


@styled
def betrayals(frame: pd.DataFrame) -> Figure:
    """Share of releases that rule out a neighbouring count against the true count; bars are 95 % intervals."""
    figure = Figure(figsize=(5.6, 3.4))
    axes = figure.subplots()
    counts = sorted(frame["count"].unique())
    rows = frame[frame.ruled_out == "either neighbour"]
    for number, ((noise, scale), part) in enumerate(rows.groupby(["noise", "scale"])):
        at = [counts.index(count) + 0.08 * number for count in part["count"]]
        look: dict[str, Any] = {"color": COLOURS[(1, 3, 0, 2)[number % 4]], "marker": "sDo^"[number % 4]}
        axes.errorbar(at, part["mean"], BAR * part.se, capsize=2, label=f"{noise}, scale {scale:g}", **look)
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set(xlabel="true count", ylabel="share that rule out a neighbour", ylim=(-0.03, 1.03))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
