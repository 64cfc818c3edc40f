"""What belief costs in accuracy: the arena's losses against the most that an attacker can believe."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.which_method.arena import EPSILONS
from companion.instruments.style import BAR, COLOURS, styled
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
    wide.insert(0, "ε: belief at most", [f"{epsilon:g}: {gain(epsilon):.1%}" for epsilon in wide.index])
    return wide.reset_index(drop=True)


def _percent(lost: float, se: float) -> str:
    return f"{100 * lost:.1f}±{100 * BAR * se:.1f}"


def least_epsilon(frame: pd.DataFrame, lost: float, people: int, trust: str = "curator") -> float:
    """Least epsilon of the arena at which so many people lose no more than that; infinite if there is none."""
    rows = frame[(frame["trust"] == trust) & (frame["people"] == people) & (frame["lost"] <= lost)]
    return float(rows["epsilon"].min()) if len(rows) else np.inf


def numbers(frame: pd.DataFrame, epsilon: float) -> dict[str, str]:
    """Losses at an epsilon of the arena, as text, and the least epsilon that keeps nine pairs of ten."""
    rows = frame[frame["epsilon"] == epsilon].set_index(["trust", "people"])
    found = {"belief": f"{gain(epsilon):.0%}"}
    for trust, short in (("curator", "lost"), ("nobody", "local")):
        found |= {f"{short}-{people}": f"{rows.loc[(trust, people), 'lost']:.1%}" for people in PEOPLE}
    for people in PEOPLE:
        enough = least_epsilon(frame, 0.1, people)
        found[f"enough-{people}"] = f"{enough:g}"
        found[f"enough-belief-{people}"] = f"{gain(enough):.0%}"
    return found


@styled
def draw_frontier(frame: pd.DataFrame) -> Figure:
    """Pairs in the wrong order against the most that a belief may become, a line a number of people."""
    figure = Figure(figsize=(5.2, 5.8))
    panels = figure.subplots(len(TRUST), 1, sharex=True)
    for axes, (trust, title) in zip(panels, TRUST.items(), strict=True):
        for colour, marker, (people, rows) in zip(
            COLOURS, "osD", frame[frame["trust"] == trust].groupby("people"), strict=False
        ):
            x, y = 100 * rows["belief"], 100 * rows["lost"]
            axes.errorbar(x, y, 100 * BAR * rows["se"], color=colour, marker=marker)
            where = rows["epsilon"].to_numpy().tolist().index(0.5 if people < 1000 or trust == "nobody" else 0.2)
            axes.annotate(
                f"{people:,} people",
                (x.iloc[where], y.iloc[where]),
                xytext=(7, 5),
                textcoords="offset points",
                color=colour,
            )
        axes.set(title=title, ylabel="pairs in wrong order, %", xlim=(50, 100.5), ylim=(0, 52))
    panels[-1].set_xlabel("belief at most, %, of somebody who guessed at even odds")
    above = panels[0].secondary_xaxis("top")
    shown = [epsilon for epsilon in EPSILONS if 0.05 < epsilon < 10]
    above.set_xticks([100 * gain(epsilon) for epsilon in shown], [f"{epsilon:g}" for epsilon in shown])
    above.set_xlabel("ε")
    middle = frame[(frame["trust"] == "curator") & (frame["people"] == 400) & (frame["epsilon"] == 0.5)].iloc[0]
    message = f"A belief of {middle['belief']:.0%} at most costs 400 people {middle['lost']:.0%} of the pairs"
    figure.suptitle(message, x=0.02, ha="left", size=10)
    return figure
