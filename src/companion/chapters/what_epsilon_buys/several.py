"""Releases of the same people add up: the promise of all, and what somebody learns who reads all."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.what_epsilon_buys.belief import scores_law
from companion.instruments.style import COLOURS, styled
from dprank import PrivateBorda
from dprank.privacy.composition import optimal
from dprank.privacy.divergence import PairLaw, discrete_laplace_shift
from dprank.publication import gain

__all__ = ["DELTA", "added_up", "all_read", "draw_added_up", "numbers"]

DELTA = 1e-6
#: Numbers of releases that are drawn.
NUMBERS = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 26, 32, 40, 52)


def all_read(items: int, epsilon: float, number: int) -> PairLaw:
    """Of so many releases of noisy Borda scores of the same ballots, where one person may have turned hers round."""
    scale = PrivateBorda.calibrated(epsilon=epsilon, n_items=items).scale
    move = 2 * np.arange(items) - (items - 1)
    # the scores are known up to a common shift, and whole noise up to a whole one
    move = move - np.sort(move)[items // 2]
    return discrete_laplace_shift(np.tile(move, number), scale)


def added_up(items: int, epsilon: float) -> pd.DataFrame:
    """By the number of ``releases``, each of which spends epsilon: the belief at most from even odds.

    ``sum`` by the sum of the epsilons, ``with delta`` by the best that holds for all mechanisms and outcomes but those
    of chance `DELTA`; ``right``, how often the better guess is right of who reads all scores.
    """
    return pd.DataFrame(
        {
            "releases": number,
            "sum": gain(number * epsilon),
            "with delta": gain(optimal(number, epsilon, DELTA), DELTA),
            "right": (1 + float(all_read(items, epsilon, number).delta(0.0))) / 2,
        }
        for number in NUMBERS
    )


def numbers(items: int, epsilon: float) -> dict[str, str]:
    """Of ten releases and of a year of weeks, as text."""
    rows = added_up(items, epsilon).set_index("releases")
    return {
        "each": f"{epsilon:g}",
        "ten": f"{rows.loc[10, 'sum']:.0%}",
        "year": f"{rows.loc[52, 'sum']:.1%}",
        "year-delta": f"{rows.loc[52, 'with delta']:.1%}",
        "year-right": f"{rows.loc[52, 'right']:.1%}",
    }


@styled
def draw_added_up(frame: pd.DataFrame) -> Figure:
    """Belief against the number of releases, two bounds and what happens, with names on the lines."""
    figure = Figure(figsize=(5.2, 3.8))
    axes = figure.subplots()
    lines = {
        "sum": ("at most, as epsilons add", (-6, 4), "right"),
        "with delta": (f"at most, but for a chance of {DELTA:g}", (8, -14), "left"),
        "right": ("how often the attacker guesses right", (8, -14), "left"),
    }
    for colour, marker, (name, (label, offset, side)) in zip(COLOURS, "so^", lines.items(), strict=False):
        axes.plot(frame["releases"], 100 * frame[name], color=colour, marker=marker)
        at = frame["releases"].tolist().index(13 if name != "sum" else 26)
        axes.annotate(
            label,
            (frame["releases"].iloc[at], 100 * frame[name].iloc[at]),
            xytext=offset,
            textcoords="offset points",
            ha=side,
            color=colour,
        )
    axes.set(xlabel="releases about the same people", ylabel="belief from 50 %, in %", ylim=(49, 101))
    axes.set_title("A promise a week is no promise after a year")
    return figure
