"""Figure on central privacy of tests of uniformity."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import COLOURS, styled


@styled
def privacy_profiles(frame: pd.DataFrame) -> Figure:
    """The delta_0 that each test needs against epsilon, in units of the claimed one."""
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    looks = zip(frame.groupby("test", sort=False), (1, 0, 2, 3), ("-", "-", "--", ":"), strict=True)
    for (test, part), colour, line in looks:
        axes.plot(part.times, part.delta, line, color=COLOURS[colour], label=test)
    axes.axvline(1, color="black", lw=1)
    axes.set(xlabel="ε′ / claimed ε₀", ylabel="δ₀ needed at ε′ (exact)", xlim=(0, frame.times.max()))
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure
