"""Four ways to one private order: what they lose as voters are added, where one does not know the voters."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.private_aggregation.what_to_use import (
    COIN,
    FAMILIES,
    TIE,
    TONES,
    best_of,
    compare,
    random_excess,
    tally,
    worse,
)
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, panels, styled

#: Numbers of voters at which all curves are measured, beside the reader's own.
VOTERS = (100, 1000, 10_000, 100_000, 1_000_000)
TITLES = {"approximate": "an office, a small δ", "pure": "an office, no δ", "local": "nobody is trusted"}


def curves(items: int, people: int, epsilon: float, releases: int, voters: Iterable[int] = VOTERS) -> pd.DataFrame:
    """`worse` of `compare` for one number of items, with ``people``, the number that the reader has."""
    frame = compare([items], sorted({*voters, people}), [epsilon], releases, surveys=())
    return worse(frame).sort_index().reset_index(drop=True).assign(people=people)


def here(frame: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """Of `curves` at the reader's number of voters: by model what loses least, ties included, and how much."""
    now = frame[frame["voters"] == frame["people"]]
    found = {str(model): best_of(part) for model, part in now.groupby("model", sort=False)}
    return {model: (found[model]["use"], float(found[model]["mean"])) for model in TITLES}


def numbers(frame: pd.DataFrame, best: pd.DataFrame) -> dict[str, str]:
    """Numbers of the road's sentences, as text, from `curves` and from the `winners` of the map."""
    alone = tally(best).set_index("mechanism")["alone"]
    chance = [100 * random_excess(data, int(m)) for data in FAMILIES for m in best["n_items"].unique()]
    told = {
        "cells": f"{len(best)}",
        "ties": f"{len(best) - alone.sum()}",
        "random": f"{min(chance):.0f} to {max(chance):.0f} %",
        "tie": f"{100 * TIE:g}",
        "coin": f"{100 * COIN:g}",
        "items": f"{frame['n_items'].iloc[0]}",
        "people": f"{frame['people'].iloc[0]:,}",
        "epsilon": f"{frame['epsilon'].iloc[0]:g}",
    }
    for name in ("matrix", "scores", "KwikSort", "exponential", "coin toss"):
        told[f"alone-{name.partition(' ')[0].lower()}"] = f"{alone[name] or 'none'}"
    return told | {f"here-{model}": f"{_percent(lost)} ({use})" for model, (use, lost) in here(frame).items()}


def _percent(lost: float) -> str:
    return f"{100 * lost:.1f} %" if lost >= 5e-4 else "less than 0.1 %"


@styled
def draw_curves(frame: pd.DataFrame) -> Figure:
    """Pairs lost against voters, a panel a model of privacy, a line a method."""
    found = here(frame)
    pure, local = (_percent(found[model][1]).replace("less than ", "<") for model in ("pure", "local"))
    people = frame["people"].iloc[0]
    message = f"Without trust {local} of pairs are lost, with trust {pure}"
    figure, made = panels(3, message=message, height=2.9, sharey=True, sharex=True)
    for axes, (model, title) in zip(made, TITLES.items(), strict=True):
        for name, part in frame[frame.model == model].groupby("mechanism", sort=False):
            line = part.sort_values("voters")
            axes.errorbar(
                line.voters, 100 * line["mean"], 100 * BAR * line.se, color=TONES[str(name)], label=str(name), fmt="o-",
                ms=4, capsize=2, lw=1.2,
            )  # fmt: skip
        axes.axvline(people, color=COLOURS[6], lw=1, ls=":")
        axes.set(xscale="log", title=title)
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_yticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
        axes.set_ylim(-0.03, 50)
    label_outer(made, "voters", "pairs lost, %")
    handles = dict(zip(*reversed(made[1].get_legend_handles_labels()), strict=True))
    key(figure, list(handles.values()), list(handles), columns=4)
    note(
        figure,
        "Pairs lost: share of the pairs on which an order contradicts a voter, less that of the best order, on the "
        f"kind of votes that is worse for the method. Dotted: {people:,} voters, as in the title (no δ). Bars: 95 %.",
    )
    return figure
