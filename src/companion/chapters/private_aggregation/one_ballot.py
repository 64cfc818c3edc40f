"""What one voter can move: every pair, the sum of every item, or only the pairs that are asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from companion.instruments.style import COLOURS, note, panels, styled
from companion.instruments.sweep import stream

PAIRS, SCORES, ASKED = "all pairs", "sums of places", "pairs asked"


def moved(n_items: int = 10) -> pd.DataFrame:
    """How far numbers move if one voter turns the ballot round: ``method``, ``first``, ``second`` (an item and another
    or, for its sum, itself), ``by``.
    """
    pairs = list(combinations(range(n_items), 2))
    asked = set(questions(list(range(n_items)), stream("9: one ballot", {"items": n_items})))
    rows = [(PAIRS, i, j, 1.0) for i, j in pairs]
    rows += [(SCORES, i, i, abs(n_items - 1.0 - 2 * i)) for i in range(n_items)]
    rows += [(ASKED, i, j, float((i, j) in asked)) for i, j in pairs]
    return pd.DataFrame(rows, columns=["method", "first", "second", "by"])


def questions(items: list[int], rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """The pairs that a run of KwikSort compares, all voters agreeing on the order of `items`."""
    if len(items) < 2:
        return
    at = int(rng.integers(len(items)))
    before, pivot, after = items[:at], items[at], items[at + 1 :]
    yield from ((min(item, pivot), max(item, pivot)) for item in before + after)
    yield from questions(before, rng)
    yield from questions(after, rng)


@styled
def draw_moved(frame: pd.DataFrame) -> Figure:
    """A square a pair or a bar an item, with how far a voter who turns the ballot round moves it."""
    counts = {method: int((rows["by"] > 0).sum()) for method, rows in frame.groupby("method")}
    message = f"One ballot moves {counts[PAIRS]} counts of pairs, {counts[SCORES]} sums or {counts[ASKED]} comparisons"
    figure, made = panels(3, message=message, height=2.4)
    n_items = int(frame["second"].max()) + 1
    names = [chr(ord("a") + item) for item in range(n_items)]
    for axes, (method, rows) in zip(made, frame.groupby("method", sort=False), strict=True):
        (_draw_sums if method == SCORES else _draw_pairs)(axes, rows)
        axes.set_title(f"{method},\ntogether moved by {rows['by'].sum():g}", fontsize=9.5)
        axes.set_yticks(range(n_items), names, fontsize=8.5)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.tick_params(length=0)
    note(
        figure,
        f"One voter gives the order {names[-1]} to {names[0]} instead of {names[0]} to {names[-1]}. "
        "A square: the count of a pair; empty: not asked.",
    )
    return figure


def _draw_pairs(axes: Axes, rows: pd.DataFrame) -> None:
    last = int(rows["second"].max())
    for row in rows.itertuples():
        look = {"facecolor": COLOURS[0], "alpha": 0.75} if row.by else {"facecolor": "none", "edgecolor": "0.7"}
        axes.add_patch(Rectangle((row.second - 0.45, row.first - 0.45), 0.9, 0.9, **look))
    axes.set(xlim=(0.4, last + 0.6), ylim=(-0.6, last + 0.6), aspect="equal")
    axes.set_xticks(range(1, last + 1), [chr(ord("a") + item) for item in range(1, last + 1)], fontsize=8.5)


def _draw_sums(axes: Axes, rows: pd.DataFrame) -> None:
    axes.barh(rows["first"], rows["by"], 0.8, color=COLOURS[0], alpha=0.75)
    for row in rows.itertuples():
        axes.text(row.by + 0.15, row.first, f"{row.by:g}", va="center", fontsize=8.5)
    axes.set(xlim=(0, rows["by"].max() + 1), xticks=[], ylim=(-0.6, len(rows) - 0.4))
    axes.spines["bottom"].set_visible(False)
