"""Figures on the lower bounds of Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import CALIBRATION, styled


@styled
def attack_by_item(frame: pd.DataFrame) -> Figure:
    """Expected attack on every item against its number, printed and corrected."""
    figure = Figure(figsize=(6.4, 3.0))
    axes = figure.subplots()
    for calibration, part in frame.groupby("calibration", sort=False):
        look = CALIBRATION[str(calibration)]
        axes.plot(part.k, part.attack, label=calibration, lw=1, **look)
    axes.axhline(0, color="black", lw=1)
    axes.set(xlabel="attacked item k", ylabel="expected attack (exact)", xlim=(0, frame.k.max() + 1))
    axes.legend(loc="lower left")
    return figure
