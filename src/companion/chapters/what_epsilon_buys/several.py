"""Releases of the same people add up: the promise of all, and what somebody learns who reads all."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import expit, logit

from companion.chapters.what_epsilon_buys.belief import losses, per_cent
from companion.instruments.style import BAR, COLOURS, name_lines, note, panels, styled
from companion.instruments.sweep import stream
from dprank.privacy.composition import optimal
from dprank.publication import gain

__all__ = ["DELTA", "NUMBERS", "added_up", "draw_added_up", "numbers"]

DELTA = 1e-6
#: Numbers of releases that are drawn.
NUMBERS = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 26, 32, 40, 52)


@lru_cache(maxsize=1)
def added_up(items: int, epsilon: float, draws: int = 4000) -> pd.DataFrame:
    """By the number of ``releases``, each of which spends epsilon: the belief at most from even odds.

    ``sum`` by the sum of the epsilons, ``with delta`` by the best that holds for all mechanisms and outcomes but those
    of chance `DELTA`; ``right``, how often the better guess is right of who reads all noisy Borda scores, and its
    ``se``: from so many attacks.
    """
    rng = stream("16: releases add up", {"items": items, "epsilon": epsilon})
    odds = np.cumsum(losses(items, epsilon, (draws, max(NUMBERS)), rng), axis=1)
    surer = expit(np.abs(odds[:, np.array(NUMBERS) - 1]))
    return pd.DataFrame(
        {
            "releases": NUMBERS,
            "sum": [gain(number * epsilon) for number in NUMBERS],
            "with delta": [gain(optimal(number, epsilon, DELTA), DELTA) for number in NUMBERS],
            "right": surer.mean(axis=0),
            "se": surer.std(axis=0, ddof=1) / draws**0.5,
        }
    )


def numbers(items: int, epsilon: float) -> dict[str, str]:
    """Of ten releases and of a year of weeks, as text."""
    rows = added_up(items, epsilon).set_index("releases")
    return {
        "each": f"{epsilon:g}",
        "ten-sum": f"{10 * epsilon:g}",
        "ten": per_cent(rows.loc[10, "sum"]),
        "year": per_cent(rows.loc[52, "sum"], 1),
        "year-delta": per_cent(rows.loc[52, "with delta"], 1),
        "year-right": per_cent(rows.loc[52, "right"], 1),
    }


@styled
def draw_added_up(frame: pd.DataFrame) -> Figure:
    """Belief against the number of releases, two bounds and what happens, with names on the lines."""
    cap = frame["sum"].iloc[-1]
    message = "A promise for each weekly release bounds almost nothing after a year"
    if cap < 0.95:
        message = f"After a year of weekly releases belief is bounded by {100 * cap:.0f} %"
    figure, (axes,) = panels(message=message, height=3.3)
    lines = {
        "sum": "at most, if epsilons add up",
        "with delta": f"at most, but for {DELTA / 1e-6:g} chance in a million",
        "right": "how often the attacker is right",
    }
    for colour, marker, (name, label) in zip(COLOURS, "so^", lines.items(), strict=False):
        bars = 100 * BAR * frame["se"] if name == "right" else None
        axes.errorbar(frame["releases"], 100 * frame[name], bars, color=colour, marker=marker, label=label)
    axes.set(xlabel="weekly releases about the same people", ylabel="belief that began at 50 %, in %", ylim=(49, 101))
    note(
        figure,
        f"Each release spends ε = {logit(frame['sum'].iloc[0]):.2g}. Belief: of somebody who reads all releases and "
        "wonders which of two ballots a person handed in. Blue and orange: no attacker can do better; green: an "
        "attacker who makes the best use of noisy mean places. Bars: 95 %.",
    )
    name_lines(axes, width=14)
    return figure
