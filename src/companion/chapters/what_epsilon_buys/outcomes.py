"""Several releases of the same data side by side: how far the order wobbles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from companion.chapters.what_epsilon_buys.belief import RELEASES, names, order_law, per_cent
from companion.chapters.which_method.populations import ranking_people
from companion.instruments.style import panels, styled
from companion.instruments.sweep import stream
from dprank import PrivateBorda, Rankings
from dprank.data.kendall import kendall_distance

__all__ = ["draw_releases", "how_often", "numbers", "people_of", "releases"]

#: From the first place to the last, of at most eight items: apart in lightness, and so in grey as well.
SHADES = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fdd0a2", "#fd8d3c", "#d94801", "#7f2704")


def people_of(items: int, people: int) -> NDArray[np.int64]:
    """Place of every item on the ballot of everybody: all have one order in mind, and contradict it at random."""
    rng = stream("16: people", {"items": items, "people": people})
    return np.asarray(ranking_people("Mallows", items, people, rng), np.int64)


def releases(places: NDArray[np.int64], epsilons: Iterable[float], number: int = RELEASES) -> pd.DataFrame:
    """So many releases of the same ballots: ``epsilon``, ``release``, ``place``, ``item`` (its place without noise)."""
    items = places.shape[1]
    without = np.argsort(places.sum(axis=0), kind="stable")
    place_without = np.argsort(without)
    data = Rankings(places, names(items))
    frames = []
    for epsilon in epsilons:
        mechanism = PrivateBorda.calibrated(epsilon=epsilon, n_items=items)
        rng = stream("16: releases", {"epsilon": epsilon, "items": items, "people": len(places)})
        for release in range(number):
            order = np.asarray(mechanism.release(data, rng).order)
            columns = {"place": np.arange(items) + 1, "item": place_without[order] + 1}
            frames.append(pd.DataFrame({"epsilon": epsilon, "release": release + 1} | columns))
    return pd.concat(frames, ignore_index=True)


def how_often(sums: NDArray[np.int64], epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact chances over the noise, an ``epsilon`` a row.

    That the ``winner`` and the whole ``order`` are those without noise, and the expected share of ``pairs`` that are
    not.
    """
    items, rows = len(sums), []
    right = np.argsort(np.argsort(sums, kind="stable"))
    for epsilon in epsilons:
        law = order_law(sums, PrivateBorda.calibrated(epsilon=epsilon, n_items=items).scale)
        orders = [right[list(order)] for order in law]
        chance = np.array(list(law.values()))
        wrong = np.array([kendall_distance(order, np.arange(items)) for order in orders]) / (items * (items - 1) / 2)
        first = np.array([order[0] == 0 for order in orders])
        rows.append(
            {"epsilon": epsilon, "winner": chance @ first, "order": chance @ (wrong == 0), "pairs": chance @ wrong}
        )
    return pd.DataFrame(rows)


def numbers(sums: NDArray[np.int64], epsilons: Iterable[float]) -> dict[str, str]:
    """How many of twenty releases put the right item first, and all in the right order, as text, by epsilon."""
    found = {}
    for row in how_often(sums, epsilons).itertuples():
        for name in ("winner", "order"):
            found[f"{name}-{row.epsilon:g}".replace(".", "-")] = _of_twenty(getattr(row, name))
        found[f"pairs-{row.epsilon:g}".replace(".", "-")] = per_cent(row.pairs, 1)
    return found


def _of_twenty(chance: float) -> str:
    number = round(RELEASES * chance)
    if number in (0, RELEASES) and 0 < chance < 1:
        return f"nearly {'none' if number == 0 else 'all'}"
    return f"{number} of {RELEASES}"


@styled
def draw_releases(frame: pd.DataFrame) -> Figure:
    """A column a release, a tile an item, best on top; without noise the shades would run from dark to dark."""
    epsilons: Sequence[float] = sorted(frame["epsilon"].unique())
    items, number = frame["place"].max(), frame["release"].max()
    least = f"ε = {epsilons[0]:g}".replace(" ", "\N{NO-BREAK SPACE}")
    orders = frame[frame["epsilon"] == epsilons[0]].groupby("release")["item"].agg(tuple).nunique()
    changes = "changes from release to release" if orders > 1 else "is the same in all releases"
    message = f"At {least} the order {changes}"
    figure, made = panels(len(epsilons), message=message, height=0.2 * items + 0.45, columns=1, sharex=True)
    letters = names(items)
    for axes, epsilon in zip(made, epsilons, strict=True):
        rows = frame[frame["epsilon"] == epsilon]
        columns = [(0, place, place) for place in range(1, items + 1)]
        columns += [(row.release + 0.6, row.place, row.item) for row in rows.itertuples()]
        for x, place, item in columns:
            tile = Rectangle((x, place - 1), 1, 1, facecolor=SHADES[item - 1], edgecolor="0.5", lw=0.3)
            light = "black" if 3 <= item <= 6 else "white"
            letter = axes.text(
                x + 0.5, place - 0.48, letters[item - 1], ha="center", va="center", fontsize=7, color=light
            )
            # they lie inside, and to be asked for their size takes long
            axes.add_patch(tile).set_in_layout(False)
            letter.set_in_layout(False)
        axes.set(xlim=(0, number + 1.6), ylim=(items, 0), yticks=[], xticks=[], title=f"ε = {epsilon:g}")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    made[-1].set_xticks([0.5, 1.6 + number / 2], ["no noise", f"{number} releases of the same ballots"])
    return figure
