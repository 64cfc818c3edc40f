"""Which method: the arena's answer to three questions, and its map."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from companion.chapters.which_method.advice import standing
from companion.chapters.which_method.arena import FIRST_LOSS
from companion.chapters.which_method.contenders import DELTA
from companion.instruments.style import COLOURS, styled

__all__ = ["answers", "draw_map", "map_of"]

_SIZE = ["items", "people", "answers", "k"]
_WHO = {"curator": "somebody is trusted", "nobody": "nobody is trusted"}


def _worst_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Of every mechanism the kind of data that is worst for it: one does not know beforehand which one has.

    Ballots that are cut short are left out: some mechanisms do not take them, and would look better for it.
    """
    cell = ["question", *_SIZE, "epsilon", "trust", "method", "delta"]
    frame = frame[(frame["loss"] == frame["question"].map(FIRST_LOSS)) & (frame["data"] != "cut short")]
    return frame.loc[frame.groupby(cell)["mean"].idxmax()].assign(data="worst")


def map_of(frame: pd.DataFrame, question: str, delta: float = 0.0) -> pd.DataFrame:
    """A row a size, epsilon and trust: ``use``, the best method or "" where several are alike; its ``mean``, ``se``.

    Each method stands with the kind of data that is worst for it. ``alone``: by more than two error bars.
    """
    ranked = standing(_worst_kind(frame[(frame["question"] == question) & (frame["delta"] <= delta)]), delta)
    rows = []
    for cell, group in ranked.groupby([*_SIZE, "epsilon", "trust"]):
        best = group.loc[group["mean"].idxmin()]
        classes, others = (
            {name.partition("(")[0] for name in names}
            for names in (group.loc[group["alike"], "method"], group["method"])
        )
        rows.append(
            dict(zip([*_SIZE, "epsilon", "trust"], cell, strict=True))
            | {"use": classes.pop() if len(classes) == 1 < len(others) else "", "mean": best["mean"], "se": best["se"]}
        )
    return pd.DataFrame(rows)


def answers(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a question, trust and delta: the class that is best, or alike to it, in most cells of the map.

    ``use``, ``best in`` (share of cells), ``alone in``; ``second`` and its share; ``costs``: what the first loses more
    than the best where it is neither, at most.
    """
    rows = []
    for question in FIRST_LOSS:
        for delta in (0.0, DELTA):
            ranked = standing(_worst_kind(frame[(frame["question"] == question) & (frame["delta"] <= delta)]), delta)
            ranked = ranked.assign(mechanism=ranked["method"].str.partition("(")[0])
            for trust, here in ranked.groupby("trust"):
                cells = here.groupby([*_SIZE, "epsilon", "mechanism"])
                seen = cells.agg(alike=("alike", "max"), excess=("excess", "min")).reset_index()
                many = seen.groupby([*_SIZE, "epsilon"])["alike"].transform("sum")
                shares = seen.groupby("mechanism")["alike"].mean().sort_values(ascending=False, kind="stable")
                first = shares.index[0]
                mine = seen["mechanism"] == first
                rows.append(
                    {
                        "question": question,
                        "trust": trust,
                        "delta": delta,
                        "use": first,
                        "best in": shares.iloc[0],
                        "alone in": (mine & seen["alike"] & (many == 1)).sum() / mine.sum(),
                        "second": shares.index[1] if len(shares) > 1 else "",
                        "second best in": shares.iloc[1] if len(shares) > 1 else np.nan,
                        "costs": seen.loc[mine & ~seen["alike"], "excess"].max()
                        if (mine & ~seen["alike"]).any()
                        else 0.0,
                    }
                )
    return pd.DataFrame(rows)


@styled
def draw_map(frame: pd.DataFrame) -> Figure:
    """What the best method loses, in per cent; it is framed and named by colour where it alone is the best."""
    names = [name for name in frame["use"].drop_duplicates() if name]
    colours = dict(zip(sorted(names), COLOURS, strict=False))
    trusts = [name for name in _WHO if name in set(frame["trust"])]
    sizes = (
        frame[_SIZE].drop_duplicates().sort_values(["items", "people", "answers", "k"]).to_records(index=False).tolist()
    )
    epsilons = sorted(frame["epsilon"].unique())
    figure = Figure(figsize=(7.2, 0.8 + len(trusts) * (0.5 + 0.27 * len(sizes))))
    for axes, trust in zip(np.atleast_1d(figure.subplots(len(trusts), 1)), trusts, strict=True):
        for row in frame[frame["trust"] == trust].itertuples():
            x = epsilons.index(row.epsilon)
            y = len(sizes) - 1 - sizes.index((row.items, row.people, row.answers, row.k))
            axes.add_patch(Rectangle((x, y), 1, 1, color="#888888", alpha=0.65 * min(2 * row.mean, 1), lw=0))
            if row.use:
                frame_of = {"fill": False, "edgecolor": colours[row.use], "lw": 1.8}
                axes.add_patch(Rectangle((x + 0.04, y + 0.07), 0.92, 0.86, **frame_of))
            axes.annotate(f"{100 * row.mean:.1f}", (x + 0.5, y + 0.5), ha="center", va="center", fontsize=8)
        axes.set(xlim=(0, len(epsilons)), ylim=(0, len(sizes)), title=_WHO[trust])
        axes.set_xticks([x + 0.5 for x in range(len(epsilons))], [f"{e:g}" for e in epsilons])
        axes.set_yticks([len(sizes) - y - 0.5 for y in range(len(sizes))], [_size(*size) for size in sizes])
        axes.grid(visible=False)
        axes.tick_params(length=0)
    axes.set_xlabel("ε")
    handles = [Rectangle((0, 0), 1, 1, fill=False, edgecolor=colours[name], lw=1.8) for name in sorted(names)]
    if handles:
        figure.legend(handles, sorted(names), loc="outside upper right", ncols=3, fontsize=8)
    return figure


def _size(items: int, people: int, answers: int, k: int) -> str:
    more = (f", top {k}" if k else "") + (f", {answers} each" if answers else "")
    return f"{items} items, {people:,} people{more}".replace("000,000", " M").replace(", M", " M")
