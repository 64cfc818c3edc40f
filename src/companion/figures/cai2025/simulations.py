"""Figures of Experiments 1 to 7 of Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled

#: Standard errors of a band: 95 % of the time it covers the mean.
BAND = 1.96
_PANELS = (
    ("MLE", "log ℓ∞", "log relative ℓ∞ error"),
    ("MLE", "log ℓ2", "log relative ℓ2 error"),
    ("MLE", "missed", "MLE: top k missed"),
    ("counts", "missed", "counts: top k missed"),
)
_NAMES = {"n": "items n", "p": "probability p", "m": "voters m", "epsilon": "ε"}


def _number(value: float) -> str:
    return f"{value:.4g}".replace("inf", "∞")


def _finite(values: pd.Series, last: float) -> pd.Series:
    """Infinity is drawn beyond the last number."""
    return values.replace(np.inf, 2 * last)


def _band(axes: Axes, x: Any, part: pd.DataFrame, **look: Any) -> None:
    axes.plot(x, part["mean"], **look)
    half = BAND * part.se
    axes.fill_between(x, part["mean"] - half, part["mean"] + half, color=look["color"], alpha=0.2, lw=0)


def _losses(frame: pd.DataFrame, along: str, curve: str) -> Figure:
    """A panel a loss; a curve for every value of a column; dotted where a mistake of the authors' code is kept."""
    figure = Figure(figsize=(7.2, 5.4))
    last = frame[along][np.isfinite(frame[along])].max()
    variants = frame["variant"].unique() if "variant" in frame else [""]
    for axes, (method, loss, title) in zip(figure.subplots(2, 2).ravel(), _PANELS, strict=True):
        rows = frame[(frame.method == method) & (frame.loss == loss)]
        for number, (value, curves) in enumerate(rows.groupby(curve)):
            for variant in variants:
                part = curves[curves.variant == variant] if variant else curves
                part = part.sort_values(along)
                plain = variant != "as run"
                look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "ls": "-" if plain else ":"}
                label = f"{_NAMES[curve].split()[-1]} = {_number(float(str(value)))}"
                _band(
                    axes,
                    _finite(part[along], last),
                    part,
                    marker="o" if plain else "",
                    ms=3,
                    label=label * plain,
                    **look,
                )
        axes.set(title=title, xlabel=_NAMES[along])
        if along == "epsilon":
            ticks = [t for t in sorted(frame.epsilon.unique()) if t in (0.2, 0.25, 0.5, 1, 2, 4, 5, 8, np.inf)]
            axes.set_xscale("log")
            axes.set_xticks(_finite(pd.Series(ticks), last), [_number(t) for t in ticks])
            axes.minorticks_off()
        if loss == "missed":
            axes.set_ylim(bottom=0)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    shown = [(h, text) for h, text in zip(handles, labels, strict=True) if text]
    figure.legend(*zip(*shown, strict=True), loc="outside upper center", ncols=4, fontsize=9)
    return figure


@styled
def by_items(frame: pd.DataFrame) -> Figure:
    """Losses against the number of items, a curve an epsilon (Figures 1 and 5)."""
    return _losses(frame, "n", "epsilon")


@styled
def by_probability(frame: pd.DataFrame) -> Figure:
    """Losses against the chance that a pair is compared, a curve an epsilon (Figure 2)."""
    return _losses(frame, "p", "epsilon")


@styled
def by_voters(frame: pd.DataFrame) -> Figure:
    """Losses against the number of voters, a curve an epsilon (Figure 6)."""
    return _losses(frame, "m", "epsilon")


@styled
def by_epsilon_edge(frame: pd.DataFrame) -> Figure:
    """Losses against epsilon, a curve a probability (Figure 3)."""
    return _losses(frame, "epsilon", "p")


@styled
def by_epsilon_voter(frame: pd.DataFrame) -> Figure:
    """Losses against epsilon, a curve a number of voters (Figure 7)."""
    return _losses(frame, "epsilon", "m")


@styled
def one_draw(frame: pd.DataFrame) -> Figure:
    """Curves of the MLE's missed share, each with one noise vector in all replicates, and the published values."""
    figure = Figure(figsize=(7.2, 3.4))
    groups = list(frame[frame.source != "published"].groupby("epsilon"))
    for axes, (epsilon, rows) in zip(
        figure.subplots(1, len(groups), sharey=True, squeeze=False)[0], groups, strict=True
    ):
        for number, (_, part) in enumerate(rows[rows.source == "one draw"].groupby("noise")):
            axes.plot(part.n, part["mean"], color="0.6", lw=0.8, label="" if number else "one noise vector a curve")
        for source, look in (
            ("new noise", {"color": COLOURS[0], "marker": "o"}),
            ("seed 13", {"color": COLOURS[1], "marker": "s"}),
        ):
            part = rows[rows.source == source]
            _band(axes, part.n, part, label=source, ms=3.5, **look)
        known = frame[(frame.source == "published") & (frame.epsilon == epsilon)]
        axes.plot(known.n, known["mean"], "x", color="black", ms=8, mew=1.8, label="published")
        axes.set(title=f"ε = {_number(float(str(epsilon)))}", xlabel=_NAMES["n"])
    figure.axes[0].set_ylabel("MLE: top k missed")
    figure.axes[-1].legend(fontsize=8)
    return figure


@styled
def oneshot(frame: pd.DataFrame) -> Figure:
    """Share of the top k missed by three methods against the number of items, a panel an epsilon (Figure 4)."""
    groups = list(frame[frame.method.isin(("counts", "MLE", "oneshot"))].groupby("epsilon"))
    figure = Figure(figsize=(7.2, 3.2))
    for axes, (epsilon, rows) in zip(
        figure.subplots(1, len(groups), sharey=True, squeeze=False)[0], groups, strict=True
    ):
        for number, (method, part) in enumerate(rows.groupby("method", sort=False)):
            _band(axes, part.n, part, color=COLOURS[number], marker="osD"[number], ms=3.5, label=str(method))
        axes.plot(part.n, part.chance, color="black", lw=1, ls="--", label="blind guess")
        axes.set(title=f"ε = {_number(float(str(epsilon)))}", xlabel=_NAMES["n"], ylim=(0, 0.85))
    figure.axes[0].set_ylabel("top k missed")
    figure.axes[-1].legend(fontsize=8)
    return figure


@styled
def ridge(frame: pd.DataFrame) -> Figure:
    """Relative l2 error (log) and missed share of the MLE against the factor of gamma, a curve an epsilon."""
    figure = Figure(figsize=(7.2, 3.2))
    for axes, (loss, title) in zip(
        figure.subplots(1, 2), (("log ℓ2", "log relative ℓ2 error"), ("missed", "MLE: top k missed")), strict=True
    ):
        for number, (epsilon, part) in enumerate(frame[frame.loss == loss].groupby("epsilon")):
            label = f"ε = {_number(float(str(epsilon)))}"
            _band(axes, part.factor, part, color=COLOURS[number], marker="o", ms=3, label=label)
        axes.axvline(2, color="black", lw=1, ls="--")
        axes.set(title=title, xlabel="c₀ in γ = c₀ √(np log n)", xscale="log")
    figure.axes[0].legend(fontsize=8)
    return figure


@styled
def advantage(frame: pd.DataFrame) -> Figure:
    """How much more the MLE misses than counts, as printed: a panel a kind of privacy, a field a setting."""
    groups = list(frame.groupby("unit", sort=False))
    figure = Figure(figsize=(7.2, 3.2))
    for axes, (unit, rows) in zip(figure.subplots(1, len(groups), squeeze=False)[0], groups, strict=True):
        table = rows.pivot_table(index="along", columns="epsilon", values="more")
        axes.imshow(table, cmap="RdBu", vmin=-0.3, vmax=0.3, aspect="auto", origin="lower")
        for (row, column), value in np.ndenumerate(table.to_numpy()):
            shade = "white" if abs(value) > 0.2 else "black"
            whole = round(100 * value)
            text = f"{whole:+d}".replace("-", "−") if whole else "0"
            axes.text(column, row, text, ha="center", va="center", color=shade, fontsize=9)
        axes.set(
            title=f"{unit} privacy, n = {rows.n.iloc[0]}", xlabel="ε", ylabel=_NAMES["p" if unit == "edge" else "m"]
        )
        axes.set_xticks(range(table.shape[1]), [_number(e) for e in table.columns])
        axes.set_yticks(range(table.shape[0]), [_number(a) for a in table.index])
        axes.grid(False)
    return figure
