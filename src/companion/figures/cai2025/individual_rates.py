"""Figures on the rates under a voter's privacy of Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

_LOOKS = {
    "as printed": CALIBRATION["as printed"],
    "centred": CALIBRATION["corrected"],
    "larger ridge": {"color": COLOURS[2], "marker": "D"},
}


@styled
def estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean largest error of the perturbed MLE against the number of voters, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    figure = Figure(figsize=(3.6 * max(2, len(groups)), 3.9))
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (items, rows) in zip(panels, groups, strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            axes.errorbar(
                part.voters, part["mean"], BAR * part.se, capsize=2, label=calibration, **_LOOKS[str(calibration)]
            )
        one = rows.drop_duplicates("voters")
        axes.plot(one.voters, one.rate, color="black", ls="--", lw=1, label="the rate")
        axes.plot(one.voters, one.floor, color="black", ls=":", lw=1.2, label="mean of the noise (exact)")
        axes.set(title=f"{items} items", xlabel="voters", xscale="log", yscale="log")
    panels[0].set_ylabel("largest error of a strength, mean")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure
