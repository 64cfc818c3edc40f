"""What of epsilon goes unused, by whom, and why; and whether too little noise would have been caught."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.chapters.which_method.arena import entered
from companion.chapters.which_method.contenders import DELTA
from companion.chapters.which_method.fairness import loss
from companion.chapters.which_method.losses import ALLOWED, over, size_of, some
from companion.chapters.which_method.table import heat_of
from companion.instruments.style import COLOURS, key, note, on_phone, panels, styled
from companion.ledger.claim import Check, argument, claim, printed

__all__ = ["WHY", "by_method", "careless", "check_equal_privacy", "draw_used", "reasons"]

_GROUP = ["question", "trust", "method", "delta"]
_FEW = "With so few people no two data sets are as far apart as the worst neighbours; the promise holds for any number."
_ROUNDS = "The bound adds up rounds, or noises, that are not all seen: no data are known on which all of it is lost."
_ORDER = "All answers are paid for, and the order alone is published, which does not tell them."
_MORE = "Noisy counts of places lose all of it; of the order, which alone is published, no law is known."
_BOUND = " Who has fewer items than are chosen loses less: what is promised is that one person may move any counts."
#: Why more than `ALLOWED` of epsilon is not known to be used, by class and whether a delta is spent.
WHY: dict[tuple[str, bool], str] = {
    ("ExponentialMechanism", False): _FEW,
    ("JointExponential", False): _FEW,
    ("NoisyCounts", True): "Little discrete noise, and a proof that goes by noise on the line and pays for the grid.",
    ("Oneshot", False): _FEW + _BOUND,
    ("Oneshot", True): _ROUNDS + " " + _FEW,
    ("Peeling", False): _FEW + _BOUND,
    ("Peeling", True): _ROUNDS + " Only how many of each kind are chosen is looked at here, not in which order.",
    ("PerturbedMLE", False): "On a secret graph all of it is lost in the limit alone, where strengths are far apart; on"
    " the neighbours known here about half. On a public one people may answer a pair again; who answers nearly all"
    " pairs, each once, loses less.",
    ("PrivateFootrule", False): _MORE,
    ("PrivateFootrule", True): _MORE,
    ("PrivateKwikSort", False): _ORDER,
    ("PrivateKwikSort", True): _ORDER,
    ("PrivateWinner", False): _FEW,
    ("Trun", False): "Its coin bounds what it can lose, whatever epsilon is; and its ramp may end out of reach.",
}


def _used(frame: pd.DataFrame) -> pd.DataFrame:
    """With the share of epsilon that is used; the delta is what was allowed: some spend a little less."""
    much = frame["unused"] > ALLOWED
    return frame.assign(used=1 - frame["unused"], much=much, delta=DELTA * (frame["delta"] > 0))


def by_method(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a question, trust, mechanism and delta: shares of epsilon that are known to be used.

    ``cells``; ``exact``: share of them in which the law of all that is released is known; ``least``, ``median`` and
    ``most`` of epsilon that is used; ``unused``: share of cells in which it is less than 1 - `ALLOWED`.
    """
    seen = _used(frame).assign(exact=frame["how"] == "exact law")
    return (
        seen.groupby(_GROUP)
        .agg(
            cells=("used", "size"),
            exact=("exact", "mean"),
            least=("used", "min"),
            median=("used", "median"),
            most=("used", "max"),
            unused=("much", "mean"),
        )
        .reset_index()
    )


def reasons(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a class and delta that leave more than `ALLOWED` unused: in how many cells, the least used, why."""
    seen = _used(frame).assign(mechanism=frame["method"].str.partition("(")[0])
    rows = []
    for (name, delta), group in seen.groupby(["mechanism", "delta"]):
        if group["much"].any():
            cells, why = f"{group['much'].sum()} of {len(group)}", WHY.get((name, delta > 0), "")
            row = {"mechanism": name, "delta": delta, "cells": cells}
            rows.append(row | {"least used": group["used"].min(), "why": why})
    return pd.DataFrame(rows)


def careless(frame: pd.DataFrame, number: int, share: float = 0.95) -> pd.DataFrame:
    """Random cells that use nearly all of epsilon, with so much of the noise; ``caught``: they lose too much."""
    rows = []
    tight = frame[frame["unused"] < (1 - share) / 2]
    for row in some(tight[tight["made"].str.contains("scale=")], number).to_dict("records"):
        heat = heat_of(row)
        mechanism = dict(entered(heat, row["epsilon"]))[row["epsilon"], row["delta"], row["trust"], row["method"]]
        lost = loss(replace(mechanism, scale=share * mechanism.scale), size_of(heat)).epsilon
        rows.append({**row, "loss": lost})
    found = pd.DataFrame(rows)
    return found.assign(caught=found.index.isin(over(found).index))


@claim("guide:equal-privacy")
def check_equal_privacy(frame: pd.DataFrame, recomputed: tuple[int, list[str]], bugs: pd.DataFrame) -> Iterator[Check]:
    """By the committed table; some of it computed `again`, and with too little noise, see `careless`."""
    yield printed(f"losses above epsilon, of {len(frame)}", len(over(frame)), "==", 0)
    unsaid = (reasons(frame)["why"] == "").sum()
    yield printed("mechanisms that leave more than a twentieth unused, for no reason given", unsaid, "==", 0)
    number, differing = recomputed
    yield argument(f"losses that differ from the table, of {number} computed again", len(differing), "==", 0)
    missed = (~bugs["caught"]).sum()
    yield argument(f"not caught of {len(bugs)} with a twentieth less noise", missed, "==", 0)


_PAPER = {"color": "white", "pad": 0.5}
#: The methods, and what they are asked for, in words.
_SAID = {
    "Oneshot(gumbel, ordered=False)": "one pass, Gumbel",
    "Oneshot(laplace, ordered=False)": "one pass, Laplace",
    "Peeling(exponential)": "in rounds, exponential",
    "Peeling(gumbel)": "in rounds, Gumbel",
    "PerturbedMLE(as printed, equal privacy)": "noisy likelihood, as printed",
    "PerturbedMLE(public_graph=False, ridge=best)": "noisy likelihood, secret graph",
    "PrivateFootrule": "noisy footrule",
    "PrivateKwikSort": "private sorting",
    "PrivateKwikSort(as printed, equal privacy)": "private sorting, as printed",
    "Trun": "ramp test (TRUN)",
}
_ASKED = {"consensus": "ballots", "ranking": "order", "topk": "top k"}
_MARKS = (
    Line2D([], [], color="0.4", marker="o", ms=4, ls="", label="middle setting"),
    Line2D([], [], color="0.4", lw=2, label="from least to most"),
)


@styled
def draw_used(frame: pd.DataFrame) -> Figure:
    """Share of epsilon known to be used, if that is often little: least, middle and most over all cells."""
    less = frame[frame["median"] < 1 - ALLOWED].sort_values(["median", "method", "delta"]).reset_index(drop=True)
    message = f"{len(less)} of {len(frame)} methods seem to use less than all of ε"
    figure, (axes,) = panels(message=message, height=0.8 + (0.4 if on_phone() else 0.26) * len(less))
    spent = less["delta"] > 0
    for at, colour, label in ((~spent, COLOURS[0], "δ = 0"), (spent, COLOURS[1], "δ = 10⁻⁶")):
        rows = less[at]
        axes.hlines(rows.index, rows["least"], rows["most"], color=colour, lw=2, label=label)
        axes.plot(rows["median"], rows.index, "o", color=colour, ms=4, clip_on=False, zorder=3)
    axes.axvline(1.0, color="#666666", lw=1)
    axes.axvline(1 - ALLOWED, color="#666666", lw=1, ls=":")
    axes.annotate(f"{100 * (1 - ALLOWED):g}\N{NO-BREAK SPACE}%", (1 - ALLOWED, 1), (-2, 1), ha="right", va="bottom",
                  xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=8.5)  # fmt: skip
    asked = less["question"].replace(_ASKED)
    said = asked + ": " + less["method"].replace(_SAID)
    twins = said.duplicated(keep=False)
    names = (said + spent.map({True: ", δ = 10⁻⁶", False: ", δ = 0"}).where(twins, "")).tolist()
    if on_phone():
        for place, name in enumerate(names):
            axes.annotate(name, (0, place), (4, 7), textcoords="offset points", fontsize=8.5, bbox=_PAPER)
    axes.set_yticks(less.index, [""] * len(less) if on_phone() else names, fontsize=8)
    axes.set(xlim=(0, 1.05), ylim=(-0.7, len(less) - 0.3), xlabel="share of ε that is known to be used")
    axes.tick_params(axis="y", length=0, pad=6)
    handles = [*axes.get_legend_handles_labels()[0], *_MARKS]
    key(figure, handles, [str(it.get_label()) for it in handles])
    note(
        figure,
        "Used: the largest privacy loss known for any data, over the ε promised. Setting: so many items and "
        "people, at one ε. At 0: no data are known that lose any. δ: a small chance that the promise may fail. The "
        f"other {len(frame) - len(less)} methods are not drawn.",
    )
    return figure
