"""Figures of rank centrality (Qiao, Su and Zhang 2021, Section 3)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

METHODS: dict[str, dict[str, Any]] = {
    "rank centrality": {"color": COLOURS[0], "marker": "o"},
    "maximum likelihood": {"color": COLOURS[2], "marker": "D", "ls": "--"},
}
QUANTITIES: dict[str, tuple[str, dict[str, Any]]] = {
    "printed": ("Lemma 3.3 as printed", CALIBRATION["as printed"]),
    "halved": ("1/(dL(1 − τ₁))", CALIBRATION["corrected"]),
    "change": ("largest change", {"color": COLOURS[6], "marker": "^"}),
}


@styled
def estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean l1 error of two estimators against the comparisons of each edge, a panel for each graph."""
    figure = Figure(figsize=(4.8, 5.8))
    graphs = list(frame.groupby("probability", sort=True))
    panels = figure.subplots(len(graphs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (probability, part) in zip(panels, graphs, strict=True):
        for method, curve in part.groupby("method", sort=False):
            axes.errorbar(
                curve.samples, curve["mean"], BAR * curve.se, capsize=2, label=str(method), **METHODS[str(method)]
            )
        last = part[part.method == "rank centrality"].iloc[-1]
        axes.plot(
            part.samples,
            last["mean"] * (last.samples / part.samples) ** 0.5,
            color="black",
            lw=0.8,
            ls=":",
            label="1/√L",
        )
        axes.set(xscale="log", yscale="log", ylabel="ℓ1 error of π")
        axes.set_title("every pair" if probability == 1 else f"each pair with chance {probability:g}")
        ticks = sorted(part.samples.unique())
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.minorticks_off()
    panels[-1].set_xlabel("comparisons of every edge L")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def flipped_comparison(frame: pd.DataFrame) -> Figure:
    """Effect of one flipped comparison on random data, and the two bounds on it, against the density of the graph."""
    figure = Figure(figsize=(4.8, 3.8))
    axes = figure.subplots()
    for quantity, (label, look) in QUANTITIES.items():
        part = frame[frame.quantity == quantity]
        axes.errorbar(part.probability, part["mean"], BAR * part.se, capsize=2, label=label, **look)
    axes.set(yscale="log", xlabel="probability of an edge", ylabel="m × change of an entry of π")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
