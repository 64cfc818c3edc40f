"""Pictures of constrained comparison graphs, and of private rank centrality beside its rivals."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_COUNTS, _CHAIN = COLOURS[2], COLOURS[0]
_LOOKS: dict[str, dict[str, Any]] = {
    "no noise": {"color": COLOURS[6], "ls": ":"},
    "win counts, then the model": {"color": _COUNTS, "marker": "D"},
    "win counts over degrees": {"color": _COUNTS, "marker": "D", "ls": "--", "mfc": "none"},
    "noise on every edge": {"color": COLOURS[3], "marker": "^"},
    "chain, relative": {"color": _CHAIN, "marker": "o"},
    "chain, relative, teleport": {"color": _CHAIN, "marker": "o", "ls": "--", "mfc": "none"},
    "chain, as printed": {"color": COLOURS[1], "marker": "s"},
}


@styled
def constrained(frame: pd.DataFrame) -> Figure:
    """Fraction of random graphs with a coefficient below 1 against the edge probability."""
    figure = Figure(figsize=(4.8, 5.4))
    titles = {0: "expected shares, L = ∞", 1: "one comparison of every edge, L = 1"}
    for axes, (samples, title) in zip(figure.subplots(2, 1, sharex=True), titles.items(), strict=True):
        for number, (size, part) in enumerate(frame[frame.samples == samples].sort_values("p").groupby("n_items")):
            off = [part["mean"] - part.low, part.high - part["mean"]]
            colour = COLOURS[number]
            axes.errorbar(
                part.p, part["mean"], [x.clip(lower=0) for x in off], color=colour, marker="o", label=f"m = {size}"
            )
            axes.axvline(part.threshold.iloc[0], color=colour, lw=1, ls="--")
            axes.axvline(part.connected.iloc[0], color=colour, lw=1, ls=":")
        axes.set(title=title, ylabel="fraction with τ₁ < 1", xlim=(0, 1.02), ylim=(-0.03, 1.03))
    figure.axes[-1].set_xlabel("chance p of an edge")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


@styled
def recall(frame: pd.DataFrame) -> Figure:
    """Fraction of the true top k found against L, the comparisons of an edge, one panel a graph density."""
    densities = sorted(frame.p.unique(), reverse=True)
    figure = Figure(figsize=(4.8, 1.2 + 2.3 * len(densities)))
    panels = figure.subplots(len(densities), 1, sharex=True, squeeze=False)[:, 0]
    for axes, p in zip(panels, densities, strict=True):
        for number, (method, look) in enumerate(_LOOKS.items()):
            part = frame[(frame.p == p) & (frame.method == method)].sort_values("samples")
            beside = part.samples * 1.05 ** (number - len(_LOOKS) // 2)
            axes.errorbar(beside, part["mean"], BAR * part.se, label=method, lw=1.2, **look)
        axes.axhline(frame.blind.iloc[0], color="grey", lw=0.8, ls="-.", label="a set drawn uniformly")
        axes.set(xscale="log", title=f"p = {p:g}", ylabel="fraction found", ylim=(-0.03, 1.05))
    panels[-1].set_xlabel("comparisons of every edge L")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8.5)
    return figure
