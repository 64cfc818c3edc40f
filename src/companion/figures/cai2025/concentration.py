"""Figure of the lemmas behind the error bounds of Cai, Chakraborty and Wang (2025)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from companion.figures.style import BAR, CALIBRATION, styled


@styled
def norm_ratios(frame: pd.DataFrame) -> Figure:
    """Distance of the perturbed MLE from the truth over two candidate rates, against the number of items."""
    figure = Figure(figsize=(6.4, 3.4))
    axes = figure.subplots()
    for rate, part in frame.groupby("rate", sort=False):
        look = CALIBRATION[str(rate)]
        axes.errorbar(part["items"], part["mean"], BAR * part.se, capsize=2, label=f"rate {rate}", **look)
    first = frame[frame.rate == "as printed"].iloc[0]
    root = (frame["items"] / first["items"]) ** 0.5 * first["mean"]
    axes.plot(frame["items"], root, color="black", lw=0.8, ls=":", label="√n through the first mark")
    axes.set(xlabel="items n", ylabel="ℓ2 error over its rate", xscale="log", yscale="log")
    ticks = sorted(frame["items"].unique())
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()
    return figure
