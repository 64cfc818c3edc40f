"""Pictures of constrained comparison graphs, and of private rank centrality beside its rivals."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_LOOKS: dict[str, dict[str, Any]] = {
    "no noise": {"color": COLOURS[6], "ls": ":", "marker": ""},
    "win counts": {"color": COLOURS[2], "marker": "D"},
    "noise on every edge": {"color": COLOURS[4], "marker": "^"},
    "chain, relative": {"color": COLOURS[0], "marker": "o"},
    "chain, relative, teleport": {"color": COLOURS[5], "marker": "v"},
    "chain, as printed": {"color": COLOURS[1], "marker": "s"},
}


@styled
def constrained(frame: pd.DataFrame) -> Figure:
    """Share of random graphs with a coefficient below 1 against the edge probability."""
    figure = Figure(figsize=(7.2, 3.2))
    titles = {0: "the model's chain", 1: "one comparison an edge"}
    for axes, (samples, title) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
        for number, (size, part) in enumerate(frame[frame.samples == samples].sort_values("p").groupby("n_items")):
            off = [part["mean"] - part.low, part.high - part["mean"]]
            colour = COLOURS[number]
            axes.errorbar(
                part.p, part["mean"], [x.clip(lower=0) for x in off], color=colour, marker="o", label=f"m = {size}"
            )
            axes.axvline(part.threshold.iloc[0], color=colour, lw=1, ls="--")
            axes.axvline(part.connected.iloc[0], color=colour, lw=1, ls=":")
        axes.set(title=title, xlabel="chance p of an edge", xlim=(0, 1.02), ylim=(-0.03, 1.03))
    figure.axes[0].set_ylabel("share with τ₁ < 1")
    figure.axes[1].legend()
    return figure


@styled
def recall(frame: pd.DataFrame) -> Figure:
    """Share of the true top k found against the samples an edge, one panel a graph density."""
    densities = sorted(frame.p.unique(), reverse=True)
    figure = Figure(figsize=(7.2, 3.4))
    for axes, p in zip(figure.subplots(1, len(densities), sharey=True, squeeze=False)[0], densities, strict=True):
        for method, look in _LOOKS.items():
            part = frame[(frame.p == p) & (frame.method == method)].sort_values("samples")
            axes.errorbar(part.samples, part["mean"], BAR * part.se, label=method, **look)
        axes.set(xscale="log", title=f"p = {p:g}", xlabel="comparisons L an edge", ylim=(-0.03, 1.05))
    figure.axes[0].set_ylabel("share of the top k found")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
