"""Figures of the lower bounds of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

_MODELS = {"pure": "pure", "approximate": "approximate", "local": "local, pure"}


@styled
def thresholds(frame: pd.DataFrame) -> Figure:
    """Voters against items: needed (dashed) and enough (solid), a colour a model of privacy."""
    figure = Figure(figsize=(7.2, 4.4))
    axes = figure.subplots()
    for (model, name), colour in zip(_MODELS.items(), COLOURS, strict=False):
        for kind, line in (("enough", "-"), ("needed", "--")):
            part = frame[(frame.model == model) & (frame.kind == kind)]
            axes.plot(part["items"], part.voters, color=colour, ls=line, marker="o", label=f"{name}: {kind}")
    axes.set(xlabel="items m", ylabel="voters n", xscale="log", yscale="log")
    bottom = axes.get_ylim()[0]
    axes.axhspan(bottom, 1, color=COLOURS[6], alpha=0.12, lw=0)
    axes.set_ylim(bottom=bottom)
    axes.text(0.98, 0.02, "less than one voter: says nothing", ha="right", va="bottom", transform=axes.transAxes)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


@styled
def tracing(frame: pd.DataFrame) -> Figure:
    """Voters traced (linear below 1 %, logarithmic above), and wrong signs, against voters over the root of items."""
    figure = Figure(figsize=(7.2, 3.9))
    left, right = figure.subplots(1, 2)
    marks = dict(zip(sorted(frame.n_items.unique()), ("o", "s"), strict=True))
    kinds = frame.epsilon.fillna(math.inf)
    for epsilon, colour in zip(sorted(kinds.unique(), reverse=True), COLOURS, strict=False):
        for items, mark in marks.items():
            label = f"{'exact' if math.isinf(epsilon) else f'ε = {epsilon:g}'}, m = {items:,}"
            rows = frame[(kinds == epsilon) & (frame.n_items == items)]
            part = rows[rows.outcome == "traced"]
            left.errorbar(
                part.share, part["mean"], BAR * part.se, color=colour, marker=mark, lw=1.2, capsize=2, label=label
            )
            part = rows[rows.outcome == "wrong"]
            if not math.isinf(epsilon):
                right.errorbar(part.share, part["mean"], BAR * part.se, color=colour, marker=mark, lw=1.2, capsize=2)
    left.axhline(0.01, color=COLOURS[6], lw=0.8, ls=":")
    left.set(title="voters traced, 1 % false alarms", xlabel="n / √m", ylabel="share of the n voters", xscale="log")
    left.set_yscale("symlog", linthresh=0.01)
    left.set(ylim=(0, 1), yticks=[0, 0.01, 0.1, 1], yticklabels=["0", "1 %", "10 %", "100 %"])
    right.set(title="wrong signs beyond the majority's", xlabel="n / √m", ylabel="share of all d n signs", xscale="log")
    right.set_ylim(bottom=0)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
