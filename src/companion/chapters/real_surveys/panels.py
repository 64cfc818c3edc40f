"""How the figures on the two surveys are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.instruments.style import BAR, CALIBRATION, COLOURS

LOOK: dict[str, dict[str, Any]] = {
    "wins": CALIBRATION["corrected"],
    "net wins": CALIBRATION["net wins"],
    "win fraction": {"color": COLOURS[5], "marker": "P"},
    "MLE as printed": CALIBRATION["as printed"],
    "MLE, private graph": {"color": COLOURS[3], "marker": "^"},
    "MLE, public graph": {"color": COLOURS[4], "marker": "v"},
}


def panels(figure: Figure, names: pd.Series) -> Any:
    return np.atleast_1d(figure.subplots(1, names.nunique(), sharey=True))


def bars(axes: Axes, x: pd.Series, part: pd.DataFrame, label: str, look: dict[str, Any]) -> None:
    axes.errorbar(x, part["mean"], BAR * part.se, lw=1, capsize=2, label=label, **look)


def epsilon_axis(axes: Axes, title: str, epsilon: pd.Series, label: str) -> None:
    axes.set(title=title, xlabel=label, xscale="log")
    ticks = [e for e in (0.5, 1, 2, 4, 10) if epsilon.min() <= e <= epsilon.max()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def label_first(figure: Figure, text: str) -> None:
    figure.axes[0].set_ylabel(text)
    figure.axes[0].set_ylim(bottom=0)
    figure.axes[0].legend(loc="upper right", fontsize=8, bbox_to_anchor=(1.0, 0.93))
