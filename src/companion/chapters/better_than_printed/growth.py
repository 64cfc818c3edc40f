"""How gains grow with the size of the problem, and where they end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.better_than_printed.agreement import one_bit
from companion.chapters.better_than_printed.comparisons import conditioned
from companion.chapters.better_than_printed.consensus import corollary_3_over, queries
from companion.chapters.better_than_printed.gain import Factor
from companion.chapters.better_than_printed.selection import theorem_2_2_over, theorem_3_5_over
from companion.chapters.which_method import table as arena
from companion.instruments.style import BAR, COLOURS, styled

__all__ = ["draw_growth", "draw_scores", "grown", "scores_over_pairs"]

#: Classes that put noise on pairs.
BY_PAIRS = ("NoisyMatrix", "PrivateKwikSort")
SIZES = (4, 10, 20, 50, 100, 200)
#: A curve, and where its name stands: beside which size, and how far above.
CURVES: dict[str, tuple[Callable[[int], Factor], int, int]] = {
    "Algorithm 5: one bit of m items": (one_bit, 200, 6),
    "Theorem 3.5: a walk, a tenth of m items": (lambda m: theorem_3_5_over(m, max(1, m // 10)), 50, 8),
    "Theorem 2.2: Gumbel noise, k of 10 k": (lambda k: theorem_2_2_over("gumbel", k, 10 * k, 1e-6), 200, -13),
    "Corollary 6: KwikSort, m items": (queries, 200, -13),
    "Corollary 3: noise on pairs, m items": (corollary_3_over, 200, 5),
    "Algorithm 3: noise that sums to zero": (conditioned, 200, -12),
}


def grown() -> pd.DataFrame:
    """A row a curve and ``size``: ``factor``."""
    return pd.DataFrame(
        {"curve": name, "size": size, "factor": curve(size).value}
        for name, (curve, *_) in CURVES.items()
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
    figure = Figure(figsize=(6.0, 4.4))
    axes = figure.subplots()
    for colour, (name, (_, beside, above)) in zip(COLOURS, CURVES.items(), strict=False):
        rows = frame[frame["curve"] == name]
        axes.plot(rows["size"], rows["factor"], "o-", color=colour)
        axes.annotate(
            name,
            (beside, rows.loc[rows["size"] == beside, "factor"].iloc[0]),
            xytext=(0, above),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=colour,
        )
    axes.axhline(1, color="0.4", lw=1)
    axes.set(xscale="log", yscale="log", xlabel="items m, or chosen k", ylabel="times better", ylim=(0.7, 900))
    axes.set_xticks(SIZES, [f"{size}" for size in SIZES])
    axes.set_yticks([1, 2, 5, 10, 100], ["1", "2", "5", "10", "100"])
    axes.minorticks_off()
    axes.set_title("Some gains grow with size, some end at two, one fades")
    return figure


@styled
def draw_scores(frame: pd.DataFrame) -> Figure:
    """Pairs lost by pairs over pairs lost by scores, against epsilon, with error bars; below 1 the scores are worse."""
    figure = Figure(figsize=(5.6, 4.2))
    axes = figure.subplots()
    styles = {"Mallows": ("one mind", "-", "o"), "two camps": ("two camps", "--", "s")}
    colours = dict(zip(sorted(frame["people"].unique()), COLOURS, strict=False))
    for (data, people), rows in frame.groupby(["data", "people"]):
        name, line, marker = styles[str(data)]
        factor = rows["factor"].to_numpy()
        spread = np.exp(BAR * rows["log_se"].to_numpy())
        bars = (factor - factor / spread, factor * spread - factor)
        axes.errorbar(rows["epsilon"], factor, bars, color=colours[people], ls=line, marker=marker)
        top = int(np.argmax(np.abs(np.log(factor))))
        axes.annotate(
            f"{people:,}, {name}",
            (rows["epsilon"].iloc[top], factor[top]),
            xytext=(5, 5 if factor[top] > 1 else -11),
            textcoords="offset points",
            fontsize=8,
            color=colours[people],
        )
    axes.axhline(1, color="0.4", lw=1)
    ticks = sorted(frame["epsilon"].unique())
    axes.set(xscale="log", yscale="log", xlabel="ε", ylabel="pairs lost: by pairs over by scores", xlim=(0.04, 30))
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([0.8, 1, 2, 5], ["0.8", "1", "2", "5"])
    axes.minorticks_off()
    axes.set_title("Noise on scores wins where noise decides, not where camps do")
    return figure
