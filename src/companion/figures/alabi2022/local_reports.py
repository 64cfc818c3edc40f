"""What one locally private report a voter tells of a pair, and of the order."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, COLOURS, styled

# colour, mark and line of a randomiser, the same in both figures; the cube is dashed, as it covers the sphere
_LOOK: dict[str, dict[str, Any]] = {
    "every pair (naive)": {"color": COLOURS[1], "marker": "s", "ls": "-"},
    "sphere": {"color": COLOURS[4], "marker": "o", "ls": "-"},
    "cube": {"color": COLOURS[2], "marker": "v", "ls": (0, (4, 4))},
    "one pair, printed form": {"color": COLOURS[3], "marker": "D", "ls": "-"},
    "one pair": {"color": COLOURS[0], "marker": "^", "ls": "-"},
    "order of k items": {"color": COLOURS[6], "marker": "P", "ls": "-"},
}


@styled
def deviations(frame: pd.DataFrame) -> Figure:
    """Deviation of one entry against epsilon, a panel a number of items."""
    sizes = list(frame.groupby("n_items"))
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (m, part) in zip(figure.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
        for name, curve in part.groupby("randomiser", sort=False):
            axes.plot(curve.epsilon, curve.deviation, ms=3, label=name, **_LOOK[str(name)])
        axes.set(xscale="log", yscale="log", title=f"{m} items", ylim=(0.2, 2 * part.deviation.max()))
    handles, labels = axes.get_legend_handles_labels()
    figure.supxlabel("ε", fontsize=10)
    figure.supylabel("error of a fraction × √n", fontsize=10)
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return figure


@styled
def excesses(frame: pd.DataFrame) -> Figure:
    """Cost above the optimum against the number of voters."""
    figure = Figure(figsize=(7.2, 3.9))
    axes = figure.subplots()
    for name, curve in frame.groupby("randomiser", sort=False):
        look = _LOOK[str(name)] | {"ms": 4, "lw": 1.2, "capsize": 2}
        axes.errorbar(curve.voters, curve["mean"], BAR * curve.se, label=name, **look)
    axes.axhline(frame.random.iloc[0], color="black", lw=0.8, ls=":", label="random order")
    axes.set(xscale="log", xlabel="voters", ylabel="K − OPT, pairs a voter", ylim=(-0.05, None))
    figure.legend(loc="outside upper center", ncols=3)
    return figure
