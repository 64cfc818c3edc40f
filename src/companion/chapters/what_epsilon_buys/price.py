"""What belief costs in accuracy: the arena's losses against the most that an attacker can believe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.what_epsilon_buys.belief import per_cent
from companion.chapters.which_method.arena import EPSILONS
from companion.instruments.style import BAR, COLOURS, key, label_outer, panels, styled
from dprank.publication import gain

__all__ = ["PEOPLE", "TRUST", "draw_frontier", "frontier", "least_epsilon", "menu", "numbers"]

#: Numbers of people whose losses are shown.
PEOPLE = (50, 400, 10_000)
TRUST = {"curator": "somebody is trusted with the ballots", "nobody": "nobody is trusted"}


def frontier(arena: pd.DataFrame, items: int, data: str = "Mallows") -> pd.DataFrame:
    """What the best mechanism without a delta loses on ballots of one kind.

    ``trust``, ``people``, ``epsilon``, ``belief`` (the most it may become from a half), ``lost`` (share of the pairs in
    the wrong order), ``se``, ``method``.
    """
    here = (arena["question"] == "consensus") & (arena["loss"] == "pairs") & (arena["data"] == data)
    rows = arena[here & (arena["items"] == items) & arena["people"].isin(PEOPLE) & (arena["delta"] == 0)]
    if rows.empty:
        raise ValueError(f"items = {items}; the arena has ballots of {sorted(set(arena.loc[here, 'items']))} items")
    best = rows.loc[rows.groupby(["trust", "people", "epsilon"])["mean"].idxmin()]
    best = best.assign(belief=[gain(epsilon) for epsilon in best["epsilon"]])
    return best.rename(columns={"mean": "lost"}).reset_index(drop=True)[
        ["trust", "people", "epsilon", "belief", "lost", "se", "method"]
    ]


def menu(frame: pd.DataFrame, trust: str = "curator") -> pd.DataFrame:
    """A row an epsilon: the belief at most, and what is lost by numbers of people; all in per cent, as text."""
    rows = frame[frame["trust"] == trust]
    text = rows.assign(text=[_percent(row.lost, row.se) for row in rows.itertuples()])
    wide = text.pivot(index="epsilon", columns="people", values="text")
    wide.columns = [f"{people:,}" for people in wide.columns]
    wide.insert(0, "ε: belief at most", [f"{epsilon:g}: {per_cent(gain(epsilon), 1)}" for epsilon in wide.index])
    return wide.reset_index(drop=True)


def _percent(lost: float, se: float) -> str:
    return f"{100 * lost:.1f}±{100 * BAR * se:.1f}"


def least_epsilon(frame: pd.DataFrame, lost: float, people: int, trust: str = "curator") -> float:
    """Least epsilon of the arena at which so many people lose no more than that; infinite if there is none."""
    rows = frame[(frame["trust"] == trust) & (frame["people"] == people) & (frame["lost"] <= lost)]
    return float(rows["epsilon"].min()) if len(rows) else np.inf


def numbers(frame: pd.DataFrame, epsilon: float) -> dict[str, str]:
    """Losses at the epsilon of the arena that is nearest, as text, and the least that keeps nine pairs of ten."""
    near = min(sorted(set(frame["epsilon"])), key=lambda it: abs(np.log(it / epsilon)))
    rows = frame[frame["epsilon"] == near].set_index(["trust", "people"])
    found = {"belief": per_cent(gain(near))}
    for trust, short in (("curator", "lost"), ("nobody", "local")):
        found |= {f"{short}-{people}": per_cent(rows.loc[(trust, people), "lost"], 1) for people in PEOPLE}
    for people in PEOPLE:
        enough = least_epsilon(frame, 0.1, people)
        found[f"enough-{people}"] = f"{enough:g}"
        found[f"enough-belief-{people}"] = per_cent(gain(enough))
    return found


@styled
def draw_frontier(frame: pd.DataFrame) -> Figure:
    """Pairs in the wrong order against the most that a belief may become, a line a number of people."""
    middle = frame[(frame["trust"] == "curator") & (frame["people"] == 400) & (frame["epsilon"] == 0.5)].iloc[0]
    message = f"A cap of {100 * middle['belief']:.0f} % on belief costs {100 * middle['lost']:.0f} % of pairs"
    figure, made = panels(len(TRUST), message=message, height=3.2, sharey=True)
    shown = [epsilon for epsilon in EPSILONS if 0.2 < epsilon < 10]
    for axes, (trust, title) in zip(made, TRUST.items(), strict=True):
        groups = frame[frame["trust"] == trust].groupby("people")
        for colour, marker, (people, rows) in zip(COLOURS, "osD", groups, strict=False):
            look: dict[str, Any] = {"color": colour, "marker": marker, "label": f"{people:,} people"}
            axes.errorbar(100 * rows["belief"], 100 * rows["lost"], 100 * BAR * rows["se"], **look)
        axes.set(title=title, xlim=(50, 100.5), ylim=(0, 56))
        for epsilon in shown:
            axes.axvline(100 * gain(epsilon), ymax=0.93, color="0.8", lw=0.8, zorder=0)
            said = f"ε = {epsilon:g}" if epsilon == shown[0] else f"{epsilon:g}"
            axes.annotate(said, (100 * gain(epsilon), 55.5), fontsize=8.5, color="0.4", ha="center", va="top")
    belief, lost = 100 * middle["belief"], 100 * middle["lost"]
    made[0].plot(belief, lost, "o", ms=12, mfc="none", mec="0.2")
    made[0].annotate(
        f"{belief:.0f} %: {lost:.0f} % lost", (belief, lost), (8, 7), textcoords="offset points", fontsize=9
    )
    label_outer(made, "most that a belief of 50 % can become, %", "pairs in the wrong order, %")
    key(figure, *made[0].get_legend_handles_labels())
    return figure
