"""How gains grow with the size of the problem, and where they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.better_than_printed.agreement import one_bit
from companion.chapters.better_than_printed.comparisons import conditioned
from companion.chapters.better_than_printed.consensus import corollary_3_over, queries
from companion.chapters.better_than_printed.gain import OF_THE_BOOK, At, Factor
from companion.chapters.better_than_printed.selection import theorem_2_2_over, theorem_3_5_over
from companion.chapters.which_method import table as arena
from companion.instruments.style import BAR, COLOURS, key, label_outer, name_lines, note, panels, styled

__all__ = ["draw_growth", "draw_scores", "grown", "scores_over_pairs"]

#: Classes that put noise on pairs.
BY_PAIRS = ("NoisyMatrix", "PrivateKwikSort")
SIZES = (4, 10, 20, 50, 100, 200)
CURVES: dict[str, Callable[[int, At], Factor]] = {
    "Algorithm 5: one bit of m items": lambda m, _: one_bit(m),
    "Theorem 3.5: a walk, a tenth of m items": lambda m, at: theorem_3_5_over(
        m, max(1, m // 10), epsilon=at.epsilon, delta=at.delta
    ),
    "Theorem 2.2: Gumbel noise, k of 10·k items": lambda k, at: theorem_2_2_over(
        "gumbel", k, 10 * k, at.delta, at.epsilon
    ),
    "Corollary 6: KwikSort, m items": lambda m, _: queries(m),
    "Corollary 3: noise on pairs, m items": lambda m, _: corollary_3_over(m),
    "Algorithm 3: noise that sums to zero": lambda m, _: conditioned(m),
}


def grown(at: At = OF_THE_BOOK) -> pd.DataFrame:
    """A row a curve and ``size``: ``factor``."""
    return pd.DataFrame(
        {"curve": name, "size": size, "factor": curve(size, at).value}
        for name, curve in CURVES.items()
        for size in SIZES
    )


def scores_over_pairs(items: int = 20) -> pd.DataFrame:
    """Pairs lost by the better of matrix and KwikSort over those lost by noisy scores, from the arena, without a delta.

    ``data``, ``people``, ``epsilon``, ``factor``, ``log_se``; where both lose hardly a pair there is no row.
    """
    frame = arena.load()
    here = frame[
        (frame["question"] == "consensus")
        & (frame["loss"] == "pairs")
        & (frame["trust"] == "curator")
        & (frame["items"] == items)
        & (frame["delta"] == 0)
        & frame["data"].isin(["Mallows", "two camps"])
        & frame["people"].isin([50, 400, 10_000])
    ]
    rows = []
    for (data, people, epsilon), cell in here.groupby(["data", "people", "epsilon"]):
        mechanism = cell["method"].str.partition("(")[0]
        by_scores, by_pairs = (
            cell.loc[cell.loc[mechanism.isin(names), "mean"].idxmin()] for names in (("PrivateBorda",), BY_PAIRS)
        )
        if min(by_scores["mean"], by_pairs["mean"]) > 0.002:
            log_se = np.hypot(by_scores["se"] / by_scores["mean"], by_pairs["se"] / by_pairs["mean"])
            row = {"data": data, "people": people, "epsilon": epsilon}
            rows.append(row | {"factor": by_pairs["mean"] / by_scores["mean"], "log_se": log_se})
    return pd.DataFrame(rows)


@styled
def draw_growth(frame: pd.DataFrame) -> Figure:
    """Factor against size on log axes, names on the lines."""
    last = frame.pivot(index="curve", columns="size", values="factor")[list(SIZES[-2:])]
    grows = last[SIZES[-1]] > 1.2 * last[SIZES[-2]]
    message = f"{grows.sum()} of {len(grows)} replacements gain more on larger problems"
    figure, (axes,) = panels(message=message, height=3.9)
    for colour, name in zip((*COLOURS[:3], COLOURS[6], *COLOURS[3:5]), CURVES, strict=False):
        rows = frame[frame["curve"] == name]
        axes.plot(rows["size"], rows["factor"], "o-", color=colour, label=name)
    axes.axhline(1, color="0.4", lw=1)
    axes.set(xscale="log", yscale="log", xlabel="items m, or chosen items k", ylabel="times better than printed")
    axes.set_ylim(0.7, max(900, 1.5 * frame["factor"].max()))
    axes.set_xticks(SIZES, [f"{size}" for size in SIZES])
    axes.set_yticks([1, 2, 5, 10, 100], ["1", "2", "5", "10", "100"])
    axes.minorticks_off()
    name_lines(axes, size=8.5, width=18)
    return figure


@styled
def draw_scores(frame: pd.DataFrame) -> Figure:
    """Pairs lost by pairs over pairs lost by scores, against epsilon, with error bars; below 1 the scores are worse."""
    worse = frame[frame["factor"] * np.exp(BAR * frame["log_se"]) < 1]
    message = "Noise on scores wins or is as good" + ", except in two camps" * bool(len(worse))
    styles = {"Mallows": "voters of one mind", "two camps": "voters in two camps"}
    figure, made = panels(len(styles), message=message, height=3.1, sharey=True)
    ticks = sorted(frame["epsilon"].unique())
    colours = dict(zip(sorted(frame["people"].unique()), COLOURS, strict=False))
    for axes, (data, title) in zip(made, styles.items(), strict=True):
        for people, rows in frame[frame["data"] == data].groupby("people"):
            factor, spread = rows["factor"].to_numpy(), np.exp(BAR * rows["log_se"].to_numpy())
            bars = (factor - factor / spread, factor * spread - factor)
            look: dict[str, Any] = {"color": colours[people], "marker": "o", "label": f"{people:,} voters"}
            axes.errorbar(rows["epsilon"], factor, bars, **look)
        axes.axhline(1, color="0.4", lw=1)
        axes.set(xscale="log", yscale="log", title=title)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks([0.8, 1, 2, 5], ["0.8", "1", "2", "5"])
        axes.minorticks_off()
    says: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 8.5}
    made[0].annotate("scores better", (1, 1), (0, 4), ha="right", **says)
    made[0].annotate("pairs better", (1, 1), (0, -4), ha="right", va="top", **says)
    alone = frame[frame["data"] == "Mallows"].groupby("people").filter(lambda rows: len(rows) == 1)
    for row in alone.itertuples():
        told = f"{row.people:,} voters: with a larger ε\nboth lose hardly a pair"
        made[0].annotate(told, (row.epsilon, row.factor), (8, 0), textcoords="offset points", fontsize=8.5, va="center")
    label_outer(made, "ε", "pairs lost by noise on pairs,\ndivided by those lost by noise on scores")
    key(figure, *made[0].get_legend_handles_labels())
    if len(worse):
        many, least = worse["people"].max(), worse["epsilon"].min()
        note(figure, f"In two camps noise on pairs is clearly better with {many:,} voters and ε of {least:g} or more.")
    return figure
