"""Figures of what samples alone can prove."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled

_MARKS = ("o", "s", "D", "^", "v", "P", "X")


@styled
def wealth(frame: pd.DataFrame) -> Figure:
    """Wealth of the bets against a promise after every round: a line an audit, a colour a true over promised loss."""
    figure = Figure(figsize=(6.2, 3.8))
    axes = figure.subplots()
    top = frame.goal.max() * 100
    for (factor, lines), colour, mark in zip(frame.groupby("factor", sort=True), COLOURS, _MARKS, strict=False):
        for number, (_, line) in enumerate(lines.groupby("run")):
            label = f"{factor:g}" if number == 0 else None
            axes.plot(line.samples, np.minimum(line.wealth, top), color=colour, marker=mark, ms=3, lw=1, label=label)
    axes.axhline(frame.goal.max(), color="black", lw=0.8, ls=":")
    axes.set(xscale="log", yscale="log", xlabel="releases", ylabel="wealth", ylim=(1e-3, top * 2))
    figure.legend(*axes.get_legend_handles_labels(), title="true ε / promised ε", loc="outside lower center", ncols=6)
    return figure


@styled
def to_catch(frame: pd.DataFrame) -> Figure:
    """Releases until a broken promise is refuted, against the true loss over the promised: medians and quartiles."""
    figure = Figure(figsize=(6.2, 3.8))
    axes = figure.subplots()
    for (method, line), colour, mark, shift in zip(
        frame.groupby("method", sort=False), COLOURS, _MARKS, (0.985, 1.015), strict=False
    ):
        seen = line[np.isfinite(line["median"])].sort_values("factor")
        high = np.where(np.isfinite(seen.high), seen.high, seen["median"])
        bars = np.array([seen["median"] - seen.low, high - seen["median"]])
        axes.errorbar(
            (seen.factor - 1) * shift, seen["median"], bars, label=method, color=colour, marker=mark, capsize=3
        )
    factors = sorted(set(frame.factor))
    axes.set_xlim((factors[0] - 1) / 1.2, (factors[-1] - 1) * 1.2)
    needed = frame[["median", "high"]].to_numpy()
    axes.set_ylim(500, 2 * needed[np.isfinite(needed)].max(initial=5000))
    axes.set(xscale="log", yscale="log", xlabel="true ε / promised ε", ylabel="releases until refuted")
    axes.set_xticks([factor - 1 for factor in factors], [f"{factor:g}" for factor in factors])
    axes.minorticks_off()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
