"""Sensitivity as a picture: one student's answer sheet before and after, and how far it moves all counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from companion.instruments.style import COLOURS, key, note, panels, styled
from companion.instruments.surveys import UNIVERSITIES

Array = NDArray[np.int64]


def turned(n_items: int, empty: bool) -> tuple[Array, Array]:
    """Two sheets that are furthest apart, as tables of who wins against whom: all items of one half win, or all of
    the other; within a half each item wins against those that follow.

    With `empty`, only the winning half is compared within itself, and the other leaves its lines empty.
    """
    first = np.arange(n_items) < n_items // 2
    across, follows = np.outer(first, ~first), np.triu(np.ones((n_items, n_items), bool), 1)
    inside = [follows & np.outer(half, half) for half in (first, ~first)]
    before = across | inside[0] | (inside[1] & (not empty))
    after = across.T | inside[1] | (inside[0] & (not empty))
    return before.astype(int), after.astype(int)


def moved(names: tuple[str, ...] = UNIVERSITIES) -> pd.DataFrame:
    """What the two sheets count for every item: ``rule``, ``item``, ``before``, ``after``."""
    rules = {"every line filled": False, "lines may stay empty": True}
    counts = {rule: [sheet.sum(1) for sheet in turned(len(names), empty)] for rule, empty in rules.items()}
    counts["halved net wins"] = [(sheet.sum(1) - sheet.sum(0)) / 2 for sheet in turned(len(names), True)]
    return pd.concat(
        pd.DataFrame({"rule": rule, "item": names, "before": before, "after": after})
        for rule, (before, after) in counts.items()
    )


@styled
def draw_moved(frame: pd.DataFrame) -> Figure:
    """Counts of one sheet before (open) and after (arrow), a row an item and a panel a rule."""
    total = (frame.after - frame.before).abs().groupby(frame.rule, sort=False).sum()
    filled, empty, _ = (f"{steps:g}" for steps in total)
    message = f"One sheet moves up to {filled} wins, or {empty} with empty lines"
    figure, made = panels(len(total), message=message, height=2.8, sharey=True)
    for axes, (rule, rows) in zip(made, frame.groupby("rule", sort=False), strict=True):
        for row, (before, after) in enumerate(zip(rows.before, rows.after, strict=True)):
            colour = COLOURS[2 if after > before else 1]
            axes.plot(before, row, "o", color=colour, mfc="none", ms=7)
            arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 0, "shrinkB": 0, "joinstyle": "miter"}
            axes.annotate("", (after, row), (before, row), arrowprops=arrow)
            change = f"{after - before:+g}".replace("-", "−")
            axes.text((before + after) / 2, row - 0.12, change, color=colour, ha="center", va="bottom", fontsize=9)
        axes.set(title=f"{rule}: {total[rule]:g}", ylim=(len(rows) - 0.4, -0.9))
        axes.set_yticks(range(len(rows)), rows["item"])
        axes.set_xlabel("(wins − losses) / 2" if "net wins" in str(rule) else "wins on the sheet")
    looks: tuple[dict[str, Any], ...] = (
        {"marker": "o", "mfc": "none", "ls": "", "color": "0.4"},
        {"marker": "<", "lw": 2, "color": COLOURS[1]},
        {"marker": ">", "lw": 2, "color": COLOURS[2]},
    )
    marks = [Line2D([], [], ms=7, **look) for look in looks]
    key(figure, marks, ("the sheet as filled in", "changed: loses", "changed: gains"))
    note(
        figure,
        "A line of the sheet compares two universities. In the change, the upper three and the lower three swap "
        "their parts. The number above each panel adds up the sizes of all changes.",
    )
    return figure
