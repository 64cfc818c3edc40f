"""Figures on uniformity under local privacy, Busa-Fekete, Fotakis and Zampetakis (2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled

_LOOK = {
    "fixed pairing": ("all pairs, fixed pairing, worst centre", COLOURS[3], "v"),
    "all bits": ("all pairs, random pairing", COLOURS[0], "o"),
    "one bit": ("one bit a person", COLOURS[2], "D"),
}


@styled
def voters_needed(frame: pd.DataFrame) -> Figure:
    """Voters for power 0.8 against the number of items, one line a test, with intervals."""
    figure = Figure(figsize=(7.2, 3.8))
    axes = figure.subplots()
    for test, (label, colour, marker) in _LOOK.items():
        part = frame[frame.test == test]
        bars = [part.voters - part.low, part.high - part.voters]
        axes.errorbar(part["items"], part.voters, yerr=bars, label=label, color=colour, marker=marker, capsize=2)
    axes.set(xscale="log", yscale="log", xlabel="items m", ylabel="voters needed for power 0.8")
    axes.legend()
    return figure
