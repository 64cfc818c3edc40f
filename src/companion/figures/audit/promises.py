"""The picture of the chapter on the audit: what is claimed, what is guaranteed, what is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.figures.style import CALIBRATION, COLOURS, styled

#: Losses over the claimed one that are drawn to scale; beyond, a mark at the edge points outwards.
LOW, HIGH = 0.1, 20.0
_LOOK = {"as printed": CALIBRATION["as printed"], "calibrated": CALIBRATION["corrected"]}
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)


@styled
def claimed_and_true(frame: pd.DataFrame) -> Figure:
    """Loss, guarantee and lower bound over the claimed epsilon: a row a mechanism, a colour a calibration.

    In the shaded half more is lost than was claimed.
    """
    papers = frame.paper.unique()
    figure = Figure(figsize=(5.6, 0.27 * (len(frame) + 2 * len(papers)) + 1.4))
    heights = [(frame.paper == paper).sum() + 0.6 for paper in papers]
    panels = figure.subplots(len(papers), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, paper in zip(panels, papers, strict=True):
        rows = frame[frame.paper == paper].reset_index(drop=True)
        for place, row in rows.iterrows():
            _row(axes, place, row)
        new = rows.mechanism != rows.mechanism.shift()
        axes.set_yticks(range(len(rows)), rows.mechanism.where(new, ""))
        axes.set(title=paper, ylim=(len(rows) - 0.4, -0.6), xscale="log", xlim=(LOW * 0.9, HIGH * 1.1))
        axes.axvline(1, color="black", lw=1, zorder=0)
        axes.axvspan(1, HIGH * 1.1, color=COLOURS[1], alpha=0.07, lw=0, zorder=0)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.minorticks_off()
    panels[-1].set_xlabel("ε over the claimed ε")
    figure.legend(handles=_legend(), loc="outside upper center", ncols=2)
    return figure


def _row(axes: Axes, place: int, row: pd.Series) -> None:
    look = _LOOK[row.calibration]
    lower, exact, guarantee = (np.clip(row[key] / row.claimed, LOW, HIGH) for key in ("lower", "exact", "guarantee"))
    top = guarantee if np.isnan(exact) else exact
    # the truth lies on this line: from what samples show to what is proved
    axes.plot([lower, top], [place, place], color=look["color"], lw=1.2, alpha=0.6)
    axes.plot(lower, place, marker=5, color=look["color"], markersize=5, alpha=0.8)
    for value, marker in ((guarantee, "|"), (exact, look["marker"])):
        beyond = ">" if value >= HIGH else "<" if value <= LOW else ""
        axes.plot(
            value,
            place,
            marker=beyond or marker,
            color=look["color"],
            markersize=13 if marker == "|" and not beyond else 6,
            linestyle="",
        )


def _legend() -> list[Line2D]:
    plain: dict[str, Any] = {"color": "0.4", "linestyle": ""}
    return [
        *(
            Line2D(
                [], [], color=look["color"], marker=look["marker"], linestyle="", markersize=6, label=f"exact, {name}"
            )
            for name, look in _LOOK.items()
        ),
        Line2D([], [], marker="|", markersize=13, label="provable guarantee", **plain),
        Line2D([], [], marker=5, label="lower bound from samples", **plain),
    ]
