"""Figure of recall against privacy and against k."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

_LOOKS = {
    "Laplace, Theorem 2.1": {"color": COLOURS[0], "marker": "^", "linestyle": "--"},
    "Laplace, Theorem 2.2": CALIBRATION["as printed"],
    "Laplace, ours": CALIBRATION["corrected"],
    "Gumbel": CALIBRATION["net wins"],
    "exponential, pure": {"color": COLOURS[3], "marker": "v"},
    "peeling, Laplace": {"color": COLOURS[5], "marker": "x", "linestyle": "-."},
}


def _curves(axes: Axes, frame: pd.DataFrame, along: str) -> None:
    for name, part in frame.groupby("mechanism", sort=False):
        rows = part.sort_values(along)
        axes.errorbar(rows[along], rows["mean"], BAR * rows.se, label=name, capsize=2, **_LOOKS[str(name)])
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)


@styled
def recall(frame: pd.DataFrame) -> Figure:
    """Share of the true top k found, against epsilon at one k (top) and against k at one epsilon (bottom)."""
    figure = Figure(figsize=(5.8, 7.2))
    top, bottom = figure.subplots(2, 1, sharey=True)
    for axes, along, fixed, name in ((top, "epsilon", "k", "ε"), (bottom, "k", "epsilon", "k")):
        part = frame[frame.panel == along]
        _curves(axes, part, along)
        symbol = {"k": "k", "epsilon": "ε"}[fixed]
        axes.set(xlabel=name, title=f"{symbol} = {part[fixed].iloc[0]:g}")
        axes.set_xticks(sorted(part[along].unique()), [f"{v:g}" for v in sorted(part[along].unique())])
        axes.minorticks_off()
        axes.set_ylabel("share of the true top k found")
    handles, labels = top.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
