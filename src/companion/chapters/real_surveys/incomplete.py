"""What to rank by when the comparison graph is incomplete."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import expit

from companion.chapters.real_surveys.panels import ESTIMATORS, curves
from companion.chapters.real_surveys.survey_likelihood import random_difference
from companion.instruments.loss_curves import AXES
from companion.instruments.style import key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.printed.cai2025 import algorithm_1
from dprank.data.counting import Score
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.pairwise.rank_law import places
from dprank.privacy import noise

GRAPHS = ("Erdős–Rényi", "two leagues")
#: Of a league's pairs, how many times as often they are compared as pairs across the leagues.
WITHIN = 9.0


def pair_probabilities(graph: str, n_items: int, probability: float) -> NDArray[np.float64]:
    """Chance that a pair is compared, for the items in order of strength, shape (pairs,); its mean is `probability`.

    In leagues the stronger and the weaker half meet mostly among themselves, `WITHIN` times as often, at most surely.
    """
    first, second = np.triu_indices(n_items, 1)
    if graph == GRAPHS[0]:
        return np.full(first.size, probability)
    same = (first < n_items // 2) == (second < n_items // 2)
    within = min(1.0, probability / np.where(same, 1, 1 / WITHIN).mean())
    across = (probability - within * same.mean()) / (1 - same.mean())
    return np.where(same, within, across)


def incomplete_errors(
    method: str,
    graph: str,
    n_items: int,
    probability: float,
    epsilon: float,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Rank difference of private rankings by one of `METHODS` from the truth, as a share of a random order's.

    One comparison of a pair at most, one comparison as the unit of privacy; strengths uniform on [log 0.2, 0].
    """
    # the items in order of strength: the truth is 0, 1, 2, ...
    theta = -np.sort(-rng.uniform(math.log(0.2), 0, (repetitions, n_items)), axis=1)
    played, wins = _compare(theta, pair_probabilities(graph, n_items, probability), rng)
    private = METHODS[method](Setting(played, wins, probability, epsilon, rng))
    private = private + 1e-9 * rng.random(private.shape)  # equal scores in random order
    return np.abs(places(private) - np.arange(n_items)).mean(1) / random_difference(n_items)


def _compare(
    theta: NDArray[np.float64], chance: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    replicates, n = theta.shape
    first, second = np.triu_indices(n, 1)
    u = rng.random((replicates, first.size))
    compared = u < chance
    won = u < chance * expit(theta[:, first] - theta[:, second])
    table = np.zeros((replicates, n, n), np.float32)
    table[:, first, second], table[:, second, first] = won, compared & ~won
    return table + table.transpose(0, 2, 1), table.sum(2, dtype=float)


@dataclass(frozen=True)
class Setting:
    """Comparisons, how likely a pair was to be compared, and the privacy that a method is to have."""

    played: NDArray[np.float32]
    wins: NDArray[np.float64]
    probability: float
    epsilon: float
    rng: np.random.Generator

    @property
    def losses(self) -> NDArray[np.float64]:
        return np.asarray(self.played.sum(2) - self.wins)


def counted(score: Score, of: Setting) -> NDArray[np.float64]:
    """Wins or net wins, and noise."""
    n = of.wins.shape[1]
    mechanism = NoisyCounts.calibrated(epsilon=of.epsilon, n_items=n, unit="comparison", score=score)
    counts = of.wins - of.losses if score == "net" else of.wins
    return counts + noise.laplace(mechanism.scale, counts.shape, rng=of.rng)


def win_fraction(of: Setting) -> NDArray[np.float64]:
    """Noisy wins over noisy wins and losses.

    A moved comparison takes a win and a loss away and adds one of each: l1 distance 4 of the two vectors together.
    """
    won, lost = (np.maximum(x + noise.laplace(4 / of.epsilon, x.shape, rng=of.rng), 0.0) for x in (of.wins, of.losses))
    return np.asarray((won + 1) / (won + lost + 2))


def likelihood_as_printed(of: Setting) -> NDArray[np.float64]:
    """Algorithm 1 with the ridge of the authors' simulations."""
    n = of.wins.shape[1]
    ridge = 2 * math.sqrt(n * of.probability * math.log(n))
    return np.asarray(algorithm_1(of.epsilon, n, ridge=ridge).mechanism.estimate(of.played, of.wins, of.rng))


def likelihood(graph: Any, ridge: Callable[[float], float], of: Setting) -> NDArray[np.float64]:
    """The least noise, the compared pairs being private or public."""
    mechanism = PerturbedMLE.calibrated(
        epsilon=of.epsilon,
        n_items=of.wins.shape[1],
        ridge=ridge(of.epsilon),
        graph=graph,
        unit="comparison",
        law="continuous",
    )
    return mechanism.estimate(of.played, of.wins, of.rng)


METHODS: dict[str, Callable[[Setting], NDArray[np.float64]]] = {
    "wins": partial(counted, "wins"),
    "net wins": partial(counted, "net"),
    "win fraction": win_fraction,
    "MLE as printed": likelihood_as_printed,
    "MLE, private graph": partial(likelihood, "private", lambda epsilon: 4 / epsilon),
    "MLE, public graph": partial(likelihood, "public", lambda epsilon: 1.0),
}


def incomplete(
    n_items: int, probabilities: Iterable[float], epsilon: float, repetitions: int, methods: Iterable[str] = METHODS
) -> pd.DataFrame:
    """Error of every method against the sampling probability, on both kinds of graphs.

    ``method``, ``graph``, ``n_items``, ``probability``, ``epsilon``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [
        {"method": m, "graph": g, "n_items": n_items, "probability": float(p), "epsilon": float(epsilon)}
        for g, m, p in product(GRAPHS, methods, probabilities)
    ]
    return sweep(incomplete_errors, cells, experiment="cai2025:incomplete", repetitions=repetitions)


def net_or_mle(
    sizes: Iterable[int], probabilities: Iterable[float], epsilons: Iterable[float], repetitions: int
) -> pd.DataFrame:
    """Net wins against the MLE at equal privacy, the compared pairs secret or public.

    ``graph``, ``n``, ``p``, ``ε``, the error of the three methods, and ``secret graph``, ``public graph``: which is
    better there by more than three standard errors, or a dash.
    """
    three = ("net wins", "MLE, private graph", "MLE, public graph")
    rows = []
    for n, epsilon in product(sizes, epsilons):
        frame = incomplete(n, probabilities, epsilon, repetitions, three)
        for (graph, p), part in frame.groupby(["graph", "probability"], sort=False):
            cell = part.set_index("method")
            row = {"graph": graph, "n": n, "p": p, "ε": epsilon, **cell["mean"][list(three)].to_dict()}
            for column, rival in (("secret graph", three[1]), ("public graph", three[2])):
                gap = cell.loc[rival, "mean"] - cell.loc["net wins", "mean"]
                sure = abs(gap) > 3 * math.hypot(cell.loc[rival, "se"], cell.loc["net wins", "se"])
                row[column] = ("net wins" if gap > 0 else "MLE") if sure else "–"
            rows.append(row)
    return pd.DataFrame(rows).sort_values(["graph", "n", "p", "ε"], ignore_index=True)


@styled
def draw_incomplete(frame: pd.DataFrame) -> Figure:
    """Error against the share of compared pairs, a panel a kind of graph; bars are 95 % intervals."""
    message = "Net wins are as good as any, unless leagues rarely meet"
    figure, made = panels(frame.graph.nunique(), message=message, height=3.1, sharey=True)
    names = {"Erdős–Rényi": "every pair equally likely", "two leagues": "two leagues that rarely meet"}
    for axes, (graph, rows) in zip(made, frame.groupby("graph", sort=False), strict=True):
        curves(axes, rows, "probability")
        axes.axhline(1.0, color="black", ls=":", lw=1.2)
        axes.annotate("random order", (1.03, 1.0), (0, 3), textcoords="offset points", ha="right")
        axes.set(title=names.get(str(graph), str(graph)), xlim=(0, 1.03), ylim=(0, 1.12))
    label_outer(made, AXES["p"], "places off / those of a random order")
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    shares = "Win fraction: noisy wins over noisy wins plus losses."
    note(figure, f"ε = {frame.epsilon.iloc[0]:g} for one comparison. {ESTIMATORS} {shares} Bars: 95 %.")
    return figure
