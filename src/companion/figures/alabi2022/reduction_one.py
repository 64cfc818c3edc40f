"""Figure on noise on all pairs of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, COLOURS, styled

_LOOKS = {
    "printed bound": {"color": CALIBRATION["as printed"]["color"], "ls": "--"},
    "our bound": {"color": CALIBRATION["corrected"]["color"], "ls": "--"},
}


@styled
def error_curves(frame: pd.DataFrame) -> Figure:
    """Error of the best order of a noisy matrix against the number of items, with the printed bound and ours."""
    figure = Figure(figsize=(5.6, 3.6))
    axes = figure.subplots()
    for curve, look in _LOOKS.items():
        part = frame[frame.curve == curve]
        axes.plot(part["items"], part.error, label=curve, **look)
    part = frame[frame.curve == "measured"]
    axes.errorbar(part["items"], part.error, BAR * part.se, color=COLOURS[2], marker="D", capsize=2, label="measured")
    ticks = sorted(frame["items"].unique())
    axes.set(xlabel="items m", ylabel="K − OPT, in noise deviations", xscale="log", yscale="log")
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()
    return figure
