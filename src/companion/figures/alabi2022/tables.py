"""Figures on Tables 1 and 2 of Alabi et al. (2022) as measurements, and on which mechanism to use."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from companion.figures.style import BAR, COLOURS, styled

_ROWS = {
    "I, Laplace": (COLOURS[0], "o"),
    "I, Gaussian": (COLOURS[5], "o"),
    "II, Laplace": (COLOURS[1], "s"),
    "II, Gaussian": (COLOURS[4], "s"),
    "exponential": (COLOURS[3], "^"),
    "scores, Laplace": (COLOURS[2], "D"),
    "scores, Gaussian": (COLOURS[6], "D"),
    "local I": (COLOURS[0], "o"),
    "local II": (COLOURS[1], "s"),
    "local II, ours": (COLOURS[4], "s"),
    "local scores": (COLOURS[2], "D"),
}
_MECHANISMS = {
    "matrix": ("M", COLOURS[0]),
    "KwikSort": ("K", COLOURS[1]),
    "scores": ("S", COLOURS[2]),
    "exponential": ("E", COLOURS[3]),
    "coin toss": ("coin", "#bbbbbb"),
}


@styled
def errors(frame: pd.DataFrame) -> Figure:
    """Measured errors over m^2.5 against the number of items, a panel a table; thin lines rise as the printed ones."""
    figure = Figure(figsize=(7.2, 4.4))
    for axes, (table, rows) in zip(figure.subplots(1, 2), frame.groupby("table"), strict=True):
        for row, part in rows.groupby("row", sort=False):
            colour, marker = _ROWS[str(row)]
            unit = part["items"] ** 2.5
            look = {"color": colour, "marker": marker, "ls": "none", "capsize": 2, "label": row}
            axes.errorbar(part["items"], part["error"] / unit, BAR * part["se"] / unit, **look)
            guide = part["printed"] * part["error"].iloc[0] / part["printed"].iloc[0]
            axes.plot(part["items"], guide / unit, color=colour, lw=0.8)
        unit_text = "K × εn / m$^{2.5}$" if table == 1 else "K × ε√n / m$^{2.5}$"
        axes.set(title=f"Table {table}", xlabel="items m", ylabel=unit_text, xscale="log", yscale="log")
        ticks = sorted(frame["items"].unique())
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.set_xticks([], minor=True)
    handles = [drawn for axes in figure.axes for drawn in axes.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8.5)
    return figure


@styled
def winners(frame: pd.DataFrame) -> Figure:
    """The mechanism of least excess in every cell, with the excess in per cent; a row of panels a kind of data."""
    data, models = list(frame["data"].unique()), list(frame["model"].unique())
    figure = Figure(figsize=(7.2, 3.1 * len(data)))
    panels = figure.subplots(len(data), len(models), squeeze=False, sharex=True, sharey=True)
    voters = sorted(frame["voters"].unique())
    lines = sorted({(row.n_items, -row.epsilon) for row in frame.itertuples()}, reverse=True)
    for (i, kind), (j, model) in ((a, b) for a in enumerate(data) for b in enumerate(models)):
        axes = panels[i, j]
        for cell in frame[(frame["data"] == kind) & (frame["model"] == model)].to_dict("records"):
            x, y = voters.index(cell["voters"]), lines.index((cell["n_items"], -cell["epsilon"]))
            tied = (
                "coin"
                if cell["first"] == "coin toss"
                else "".join(_MECHANISMS[t][0] for t in cell["use"].split(" or "))
            )
            axes.add_patch(Rectangle((x, y), 1, 1, color=_MECHANISMS[cell["first"]][1], alpha=0.4, lw=0))
            axes.annotate(f"{tied}\n{100 * cell['mean']:.1f}", (x + 0.5, y + 0.5), ha="center", va="center", fontsize=7)
        axes.set(xlim=(0, len(voters)), ylim=(0, len(lines)), title=f"{kind}, {model}")
        axes.set_xticks(
            [x + 0.5 for x in range(len(voters))], [f"{n / 1e6:g} M" if n >= 1e6 else f"{n:,}" for n in voters]
        )
        axes.set_yticks([y + 0.5 for y in range(len(lines))], [f"{m}, {-e:g}" for m, e in lines])
        axes.grid(visible=False)
    figure.supxlabel("voters", fontsize=10)
    figure.supylabel("items, ε", fontsize=10)
    handles = [
        Patch(color=c, alpha=0.4, label=n if n == "coin toss" else f"{s} {n}") for n, (s, c) in _MECHANISMS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=8.5)
    return figure
