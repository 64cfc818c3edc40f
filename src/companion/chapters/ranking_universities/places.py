"""Which place each university has: in the data of 1998, and after private noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from scipy.optimize import brentq

from companion.chapters.ranking_universities.survey_counts import (
    place_law,
    survey_data,
    survey_mechanism,
    survey_scores,
)
from companion.instruments import surveys as datasets
from companion.instruments.style import COLOURS, label_outer, note, on_phone, panels, styled
from companion.instruments.two_items import log_first_wins
from dprank.data.comparisons import Comparisons
from dprank.data.counting import Score, pairwise_wins, win_counts
from dprank.pairwise import rank_law, top_set_law
from dprank.pairwise.rank_law import places


def preferences() -> pd.DataFrame:
    """How the students answered: ``university``, ``rival``, and ``share``, of the answers that prefer the first.

    An undecided student counts as half a student for each; universities in the order of their net wins.
    """
    preferred, names = pairwise_wins(survey_data("CEMS")), survey_data("CEMS").items
    order = np.argsort(places(survey_scores("CEMS", "net")), kind="stable")
    return pd.DataFrame(
        {
            "university": names[i],
            "rival": names[j],
            "share": preferred[i, j] / (preferred[i, j] + preferred[j, i]) if i != j else math.nan,
        }
        for i in order
        for j in order
    )


#: A place that a university keeps in as many releases is settled.
SETTLED = 0.95


def answers_and_places(epsilon: float) -> pd.DataFrame:
    """What was answered, and what a private ranking by net wins makes of it, exactly.

    ``panel`` ("answers" or "places"), ``university``, ``against`` (the rival, or the place), ``share`` (of
    `preferences`, or the chance of the place).
    """
    asked = preferences().rename(columns={"rival": "against"}).assign(panel="answers")
    law = place_probabilities([epsilon]).rename(columns={"place": "against", "probability": "share"})
    return pd.concat([asked, law.assign(panel="places", epsilon=epsilon)], ignore_index=True)


def gaps_to_the_next(epsilon: float) -> pd.DataFrame:
    """How clearly the universities are told apart by wins and by net wins at equal privacy.

    By place: ``by wins`` and ``by net wins`` (names), ``lead by wins`` and ``lead by net wins`` over the next one, in
    Laplace scales of the mechanism.
    """
    columns: dict[str, Any] = {}
    choices: tuple[tuple[Score, str, str], ...] = (("wins", "wins", "corrected"), ("net", "net wins", "net wins"))
    for score, name, calibration in choices:
        value = survey_scores("CEMS", score)
        order = np.argsort(-value, kind="stable")
        scale = survey_mechanism(calibration, epsilon, "CEMS").scale
        columns[f"by {name}"] = [datasets.UNIVERSITIES[i] for i in order]
        columns[f"lead by {name}"] = np.append(-np.diff(value[order]) / scale, np.nan)
    return pd.DataFrame(columns)


def reversed_pair() -> pd.DataFrame:
    """Scores and places of the universities in the corrected data and in the data of 1998.

    ``university``, ``data`` ("corrected" or "1998"), ``score``, ``value``, ``place`` (1 for the best).
    """
    scores: tuple[Score, ...] = ("wins", "half", "net")
    frames = []
    for name, data in (("corrected", datasets.cems()), ("1998", datasets.cems_1998())):
        for score in scores:
            value = win_counts(data, score)
            frames.append(
                pd.DataFrame(
                    {"university": data.items, "data": name, "score": score, "value": value, "place": places(value) + 1}
                )
            )
    return pd.concat(frames, ignore_index=True)


def majority_cycle(data: Comparisons) -> tuple[str, ...]:
    """Three items of which each beats the next by majority and the last the first, or none."""
    wins = pairwise_wins(data)
    beats = wins > wins.T
    for i, j, k in np.argwhere(beats[:, :, None] & beats[None] & beats.T[:, None]):
        return tuple(data.items[x] for x in (i, j, k))
    return ()


def place_probabilities(epsilons: Iterable[float], survey: str = "CEMS") -> pd.DataFrame:
    """Exact law of the places that private net wins give.

    ``epsilon``, ``university``, ``place`` (1 for the best), ``probability``; universities from best to worst.
    """
    names = survey_data(survey).items
    order = np.argsort(places(survey_scores(survey, "net")), kind="stable")
    return pd.DataFrame(
        {"epsilon": epsilon, "university": names[i], "place": place + 1, "probability": law[i, place]}
        for epsilon in epsilons
        for law in [place_law(survey, "net wins", epsilon)]
        for i in order
        for place in range(len(names))
    )


def wrong_order_gap(scale: float, probability: float = 0.05) -> float:
    """The gap between two scores at which noise puts them in the wrong order with the given probability."""
    return float(brentq(lambda gap: log_first_wins(-gap, scale) - math.log(probability), 0, 100 * scale))


def dean(epsilon: float, wrong: float = 0.05) -> dict[str, str]:
    """Numbers for a reader who has to decide, as text: what one private ranking by net wins can and cannot tell.

    Two scores are near each other that noise turns round with probability `wrong` or more.
    """
    mechanism = survey_mechanism("net wins", epsilon, "CEMS")
    items, net = list(datasets.UNIVERSITIES), survey_scores("CEMS", "net")
    law = dict(zip(items, place_law("CEMS", "net wins", epsilon), strict=True))
    top = top_set_law(net, mechanism.scale, 2, mechanism.law)[items.index("London"), items.index("Paris")]
    rivals = [items.index("Barcelona"), items.index("StGallen")]
    tie = rank_law(net[rivals], mechanism.scale, mechanism.law)[0, 0]
    return {
        "dean-epsilon": f"{epsilon:g}",
        "dean-odds": f"{math.exp(epsilon):.2f}",
        "dean-top": f"{top:.4f}",
        "dean-last": f"{law['Stockholm'][-1]:.4f}",
        "dean-tie": f"{tie:.2f}",
        "dean-gap": f"{wrong_order_gap(mechanism.scale, wrong):.0f}",
        "dean-wrong": f"{100 * wrong:.3g}",
        "dean-most": f"{2 * len(survey_data('CEMS').voters) * (len(items) - 1):,}",
    }


def why_net(epsilon: float) -> dict[str, str]:
    """Numbers, as text, of what wins and net wins say of Barcelona and St. Gallen, and how far apart they see Paris."""
    rows = gaps_to_the_next(epsilon)
    items, wins, net = list(datasets.UNIVERSITIES), survey_scores("CEMS", "wins"), survey_scores("CEMS", "net")
    here, there = items.index("StGallen"), items.index("Barcelona")
    more = wins[here] - wins[there]
    return {
        "net-more-wins": f"{more:.0f}",
        "net-more-losses": f"{more - (net[here] - net[there]):.0f}",
        "net-apart": f"{net[there] - net[here]:.0f}",
        "net-lead": f"{rows['lead by net wins'].iloc[1]:.1f}",
        "wins-lead": f"{rows['lead by wins'].iloc[1]:.1f}",
    }


@styled
def draw_answers_and_places(frame: pd.DataFrame) -> Figure:
    """Who was preferred to whom, and the chance of every place after noise, as two fields of colours."""
    asked, law = (frame[frame.panel == panel] for panel in ("answers", "places"))
    names, epsilon = list(asked.university.unique()), law.epsilon.iloc[0]
    shares = 100 * asked.pivot(index="university", columns="against", values="share").loc[names, names]
    chances = 100 * law.pivot(index="university", columns="against", values="share").loc[names]
    kept = [name for place, name in enumerate(names) if chances.loc[name].iloc[place] >= 100 * SETTLED]
    those = " and ".join([", ".join(kept[:-1]), kept[-1]] if len(kept) > 1 else kept)
    message = f"Under noise only {those} {'keeps its place' if len(kept) == 1 else 'keep their places'}"
    every = {0: "Under noise no place is sure any more", len(names): "Even under noise all keep their places"}
    message = every.get(len(kept), message)
    figure, (left, right) = panels(2, message=message, height=3.2)
    text = {"size": 8 if on_phone() else 9}
    look: dict[str, Any] = {"cbar": False, "linewidths": 1, "yticklabels": True}
    black = {"annot": True, "fmt": ".0f", "annot_kws": text | {"color": "black"}}
    sns.heatmap(shares, ax=left, cmap="RdBu", vmin=-25, vmax=125, **black, **look)
    percent = chances.map(lambda p: f"{p:.0f}" if p >= 0.5 else "")
    sns.heatmap(chances, ax=right, cmap="Blues", vmin=0, vmax=100, annot=percent, fmt="", annot_kws=text, **look)
    for cell, share in zip(right.texts, chances.to_numpy().flat, strict=True):
        cell.set_color("white" if share > 100 * _DARK else "black")
    left.set(title="per cent who prefer the row", xlabel="to the column", ylabel="")
    right.set(title=f"chance of a place, ε = {epsilon:g}, in per cent", xlabel="place", ylabel="")
    for axes in (left, right):
        axes.grid(False)
        axes.tick_params(length=0, labelrotation=0)
    left.tick_params("x", labelrotation=40)
    if not on_phone():
        right.set_yticks([])
    note(figure, "Blue: most prefer the university of the row; red: most prefer that of the column.")
    return figure


@styled
def draw_reversed_pair(frame: pd.DataFrame) -> Figure:
    """Places of the universities in the data of 1998 and in the corrected data, a panel a score."""
    names = {"wins": "wins", "half": "wins and half the ties", "net": "net wins: wins − losses"}
    message = "One reversed pair moves three universities by net wins, none by wins"
    figure, made = panels(3, message=message, height=2.7, sharey=True)
    colour = dict(zip(frame.university.unique(), COLOURS, strict=False))
    for axes, (score, rows) in zip(made, frame.groupby("score", sort=False), strict=True):
        for university, part in rows.groupby("university", sort=False):
            place = part.set_index("data").place[["1998", "corrected"]]
            axes.plot([0, 1], place, "o-", color=colour[university], lw=1 + 2 * (place.iloc[0] != place.iloc[1]))
            axes.annotate(university, (1, place.iloc[1]), (7, 0), textcoords="offset points", va="center", fontsize=9)
        axes.set(title=names[str(score)], xlim=(-0.1, 2.1), ylim=(len(colour) + 0.5, 0.5))
        axes.set_xticks([0, 1], ["1998", "corrected"])
        axes.set_yticks(range(1, len(colour) + 1))
        axes.grid(False)
    label_outer(made, "", "place")
    return figure


#: From this share on white is read best on a cell, by day and inverted.
_DARK = 0.62


@styled
def draw_place_probabilities(frame: pd.DataFrame) -> Figure:
    """Exact probability of every place for every university, a panel an epsilon."""
    groups = list(frame.groupby("epsilon", sort=True))
    message = "Third and fourth place stay open when all others are settled"
    figure, made = panels(len(groups), message=message, height=2.4, on_phone=2, sharey=True)
    order = frame.university.unique()
    for axes, (epsilon, part) in zip(made, groups, strict=True):
        table = part.pivot(index="university", columns="place", values="probability").loc[order]
        percent = table.map(lambda p: f"{100 * p:.0f}" if p >= 0.005 else "")
        look = {"cmap": "Blues", "vmin": 0, "vmax": 1, "cbar": False, "annot_kws": {"size": 7.5 if on_phone() else 8}}
        sns.heatmap(table, ax=axes, annot=percent, fmt="", xticklabels=range(1, len(order) + 1), **look)
        for text, share in zip(axes.texts, table.to_numpy().flat, strict=True):
            text.set_color("white" if share > _DARK else "black")
        axes.set(title=f"ε = {epsilon:g}")
        axes.tick_params(length=0, labelrotation=0)
    label_outer(made, "place", "chance of a place, in per cent")
    return figure
