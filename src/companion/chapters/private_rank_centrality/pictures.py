"""The walk on a path of three players, where one game decides whether it has any feedback bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.instruments.style import COLOURS, key, panels, styled
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix

#: Three players, two games: B meets A and C.
_PLAYERS, _GAMES = "ABC", np.array([[0, 1], [1, 2]])
_PLACES = {"A": (0.0, 0.0), "B": (1.0, 0.75), "C": (2.0, 0.0)}
#: How a player looks to whom the walks from A and from C may both step.
_SHARED = {"ec": COLOURS[2], "lw": 3}
#: Who won: the share of each game that its second player won.
_RESULTS = {"B beat both": (1.0, 0.0), "A beat B": (0.0, 0.0)}


def feedback() -> pd.DataFrame:
    """The walk's steps: ``results``, ``start``, ``end``, ``chance``, and the ergodicity coefficient ``tau``."""
    rows = []
    for results, won in _RESULTS.items():
        chain = transition_matrix(len(_PLAYERS), _GAMES, np.array(won))
        tau = ergodicity_coefficient(chain)
        rows += [
            (results, _PLAYERS[i], _PLAYERS[j], chance, tau)
            for (i, j), chance in np.ndenumerate(chain.toarray())
            if chance
        ]
    return pd.DataFrame(rows, columns=["results", "start", "end", "chance", "tau"])


@styled
def draw_feedback(frame: pd.DataFrame) -> Figure:
    """Players as circles, steps of the walk as arrows with their chances, a panel for each result."""
    message = "Without a rival who beat both, two walks share no next step"
    figure, made = panels(2, message=message, height=2.1)
    for axes, (results, part) in zip(made, frame.groupby("results", sort=False), strict=True):
        axes.set(
            xlim=(-0.45, 2.45),
            ylim=(-0.75, 1.25),
            title=f"{results}:\nnext steps differ by up to {part.tau.iloc[0]:g}",
        )
        axes.set_axis_off()
        for step in part.itertuples():
            _step(axes, step.start, step.end, step.chance)
        ends = part.groupby("start").end.agg(set)
        for player, place in _PLACES.items():
            shared = player in ends["A"] & ends["C"]
            axes.text(*place, player, ha="center", va="center", fontsize=11,
                      bbox={"boxstyle": "circle,pad=0.35", "fc": "none", **(_SHARED if shared else {})})  # fmt: skip
    arrow = Line2D([], [], color=COLOURS[0], marker=">")
    common = Line2D([], [], ls="", marker="o", ms=9, mfc="none", mec=_SHARED["ec"], mew=2)
    said = ["from loser to winner, with its chance", "next from A and from C"]
    key(figure, [arrow, common], said, columns=2)
    return figure


def _step(axes: Axes, start: str, end: str, chance: float) -> None:
    """An arrow to another player, or words below one who stays."""
    (x, y), (there, above) = _PLACES[start], _PLACES[end]
    if start == end:
        axes.text(
            x, y - 0.42 if y == 0 else y + 0.42, f"stays with chance {chance:g}", ha="center", va="center", fontsize=9
        )
        return
    arrow = {"arrowstyle": "-|>", "color": COLOURS[0], "lw": 1.6, "shrinkA": 14, "shrinkB": 14}
    axes.annotate("", (there, above), (x, y), arrowprops=arrow)
    side = -0.24 if x + there < 2 else 0.24
    axes.text((x + there) / 2 + side, (y + above) / 2 + 0.08, f"{chance:g}", ha="center", va="center", fontsize=9)
