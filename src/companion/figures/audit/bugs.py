"""Figure of the section on planted bugs."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled

#: Loss over the promise beyond which a mark points outwards.
HIGH = 30.0
_LOOK: dict[bool, dict[str, Any]] = {
    True: {"color": COLOURS[0], "marker": "o"},
    False: {"color": COLOURS[1], "marker": "X"},
}


@styled
def releases_needed(frame: pd.DataFrame) -> Figure:
    """Releases until a bug is proved against the loss over the promise; bugs without an exact loss on the right."""
    figure = Figure(figsize=(5.6, 3.8))
    axes = figure.subplots()
    ratio = frame.ratio.clip(upper=HIGH).fillna(HIGH * 1.6)
    for often, look in _LOOK.items():
        part = frame.often == often
        if not part.any():
            continue
        label = "caught in nine of ten runs" if often else "caught less often"
        axes.plot(ratio[part], frame.samples[part], linestyle="", label=label, alpha=0.8, **look)
    axes.axvline(1, color="black", lw=1)
    ticks = [1, 1.2, 1.5, 2, 3, 5, 10, HIGH, HIGH * 1.6]
    axes.set(xscale="log", yscale="log", xlabel="true ε over the promised ε", ylabel="releases (median)")
    axes.set_xticks(ticks, [*(f"{tick:g}" for tick in ticks[:-2]), f"≥{HIGH:g}", " ?"])
    axes.minorticks_off()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
