"""What a lean looks like in one ranking."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.instruments.style import COLOURS, label_outer, on_phone, panels, styled
from companion.instruments.sweep import stream
from dprank.models.mallows import Mallows


def decks(n_items: int, gaps: Iterable[float]) -> pd.DataFrame:
    """One ranking at each 1 - phi: ``gap``, ``item`` (its place in the centre) and ``place``, both from 1."""
    rng = stream("05: decks", {"items": n_items})
    draws = [(gap, Mallows.of_gap(n_items, gap).sample(1, rng=rng)[0]) for gap in gaps]
    item = np.arange(1, n_items + 1)
    return pd.concat([pd.DataFrame({"gap": g, "item": item, "place": row + 1}) for g, row in draws], ignore_index=True)


@styled
def draw_decks(frame: pd.DataFrame) -> Figure:
    """A dot an item, its place in one ranking against its place in the common order, a panel a spread."""
    groups = list(frame.groupby("gap"))
    message = "A single ranking shows a strong lean, but not a slight one"
    height = 1.7 if on_phone() else 2.5
    figure, made = panels(len(groups), message=message, height=height, on_phone=len(groups), sharex=True, sharey=True)
    for axes, (gap, part) in zip(made, groups, strict=True):
        axes.plot(part.item, part.place, "o", color=COLOURS[0], ms=1.8 if on_phone() else 3)
        axes.set(title="shuffled" if gap == 0 else f"φ = {1 - float(str(gap)):g}")
    below, left = "place in the common order", "place in the ranking"
    if on_phone():
        below, left = below.replace("the ", "the\n"), left.replace("in ", "in\n")
    label_outer(made, below, left)
    for axes in (made[0], made[-1]) if on_phone() else ():
        axes.set_xlabel("")
    return figure
