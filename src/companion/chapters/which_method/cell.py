"""One cell of the arena, run while the page is made: ballots of so many people, a quarter of them, and four times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.which_method.advice import BARS
from companion.chapters.which_method.arena import data_of, entered, lost_by
from companion.chapters.which_method.contenders import publishable
from companion.instruments.style import BAR, COLOURS, MOST_LINES, label_outer, name_lines, note, panels, styled
from companion.instruments.sweep import stream

__all__ = ["draw_contest", "frame", "numbers"]

#: How many people there are, over those that are asked for.
SIZES = (0.25, 1.0, 4.0)
_WHO = {"curator": "somebody is trusted", "nobody": "nobody is trusted"}
_RULES = {"borda": ", scores", "copeland": ", wins"}


def frame(items: int, people: int, epsilon: float, repetitions: int) -> pd.DataFrame:
    """What all methods without a delta lose on the same ballots of people of one mind: ``people``, ``trust``,
    ``method``, ``mean`` (share of the pairs in the wrong order), ``se``, and whether it is ``alike`` to the best.
    """
    rows = []
    for size in SIZES:
        voters = max(2, round(size * people))
        heat = {"question": "consensus", "data": "Mallows", "items": items, "people": voters}
        for (trust, method), lost in _lost(heat, epsilon, repetitions).items():
            se = lost.std(ddof=1) / repetitions**0.5
            rows.append({"people": voters, "trust": trust, "method": method, "mean": lost.mean(), "se": se})
    table = pd.DataFrame(rows).assign(items=items, epsilon=epsilon)
    best = table.loc[table.groupby(["people", "trust"])["mean"].transform("idxmin"), ["mean", "se"]]
    best = best.set_axis(table.index)
    return table.assign(alike=table["mean"] - best["mean"] <= BARS * np.hypot(table["se"], best["se"]))


def _lost(heat: dict[str, Any], epsilon: float, repetitions: int) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Shares of the pairs that who may be published loses without a delta, by trust and method, all on the same people.

    As the arena has it, at any epsilon.
    """
    contest = [it for it in entered(heat, epsilon) if it[0][1] == 0 and publishable(it[0][3])]
    rng = stream("15: contest", heat)
    own = [stream("15: contest", heat | {"epsilon": epsilon, "method": label[3]}) for label, _ in contest]
    found = {(label[2], label[3]): np.empty(repetitions) for label, _ in contest}
    for repetition in range(repetitions):
        data = data_of(heat, rng)
        for (label, mechanism), draws in zip(contest, own, strict=True):
            found[label[2], label[3]][repetition] = lost_by(heat, mechanism, data, draws)["pairs"]
    return found


def numbers(table: pd.DataFrame) -> dict[str, str]:
    """Of the middle size, if somebody is trusted: the best, its loss, and what four times the people lose."""
    few, here, many = (part for _, part in table[table["trust"] == "curator"].groupby("people"))
    best, more = (part.loc[part["mean"].idxmin()] for part in (here, many))
    return {
        "items": f"{table['items'].iloc[0]}",
        "persons": f"{best['people']:,}",
        "epsilon": f"{table['epsilon'].iloc[0]:g}",
        "best": _called(best["method"]),
        "lost": f"{100 * best['mean']:.1f} %",
        "most": f"{100 * here['mean'].max():.1f} %",
        "few-lost": f"{100 * few['mean'].min():.1f} %",
        "many": f"{more['people']:,}",
        "many-lost": f"{100 * more['mean']:.1f} %",
    }


def _called(method: str) -> str:
    """A method of the arena in words: the class and, where it has several, the rule."""
    name, _, rule = method.rstrip(")").partition("(")
    return name + _RULES.get(rule, "")


@styled
def draw_contest(table: pd.DataFrame) -> Figure:
    """Pairs in the wrong order against people, a line a method, a panel a kind of trust."""
    said = numbers(table)
    message = f"With {said['persons']} ballots the best loses {said['lost']}, the worst {said['most']}"
    figure, made = panels(len(_WHO), message=message, height=3.3, sharey=True)
    for axes, (trust, title) in zip(made, _WHO.items(), strict=True):
        rows = table[table["trust"] == trust]
        order = rows.groupby("method")["mean"].sum().sort_values().index[:MOST_LINES]
        for colour, marker, method in zip(COLOURS, "osD^vP", order, strict=False):
            line = rows[rows["method"] == method]
            look: dict[str, Any] = {"color": colour, "marker": marker, "label": _called(str(method)), "capsize": 2}
            axes.errorbar(line["people"], 100 * line["mean"], 100 * BAR * line["se"], **look)
        axes.set(xscale="log", title=title)
        axes.set_xticks(sorted(table["people"].unique()), [f"{it:,}" for it in sorted(table["people"].unique())])
        axes.minorticks_off()
    made[0].set_ylim(bottom=0)
    label_outer(made, "people", "pairs in the wrong order, %")
    for axes in made:
        name_lines(axes, size=8.5, width=16)
    note(
        figure,
        "Every method gets the same made-up ballots, of people who contradict one order at random. "
        f"{said['items']} items, ε = {said['epsilon']}; the title is for the first panel. Bars: 95 %.",
    )
    return figure
