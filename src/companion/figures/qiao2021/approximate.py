"""Figures on Theorem 2.2 of Qiao, Su and Zhang (2021)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import CALIBRATION, COLOURS, styled

_LOOK: dict[str, dict[str, Any]] = {
    "Laplace, Theorem 2.1": {"color": COLOURS[0], "linestyle": "--"},
    "Laplace, Theorem 2.2": CALIBRATION["as printed"],
    "Laplace, our bound": CALIBRATION["corrected"],
    "Laplace, true need at least": {"color": COLOURS[0], "linestyle": ":"},
    "Gumbel, zCDP or pure": CALIBRATION["net wins"],
    "Gumbel, true need at least": {"color": COLOURS[2], "linestyle": ":"},
    "exponential, pure": {"color": COLOURS[3], "marker": "^"},
    "Laplace, basic": {"color": COLOURS[0], "linestyle": "--"},
    "Laplace, advanced": {"color": COLOURS[0], "linestyle": "-."},
    "Laplace, zCDP": {"color": COLOURS[5], "marker": "v"},
    "Laplace, optimal": {"color": COLOURS[0], "marker": "x"},
    "exponential mechanism, zCDP or pure": {"color": COLOURS[2], "marker": "D"},
}


@styled
def scales(frame: pd.DataFrame) -> Figure:
    """Standard deviation of the noise that each mechanism needs, against k, from `approximate.scales`.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``panel`` ("oneshot" or "peeling"), ``mechanism``, ``k``, ``sd``.
    """
    figure = Figure(figsize=(5.8, 8.4))
    axes = figure.subplots(2, 1, sharex=True, sharey=True)
    panels = {"oneshot": "Noise once", "peeling": "Peeling, round after round"}
    for axis, (panel, title) in zip(axes, panels.items(), strict=True):
        for mechanism, rows in frame[frame.panel == panel].groupby("mechanism", sort=False):
            axis.plot(rows.k, rows.sd, label=mechanism, **_LOOK[str(mechanism)])
        axis.set(title=title, xscale="log", yscale="log", ylabel="standard deviation of the noise / $s$")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    for axis in axes:
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("items selected, $k$", labelpad=1)
    return figure
