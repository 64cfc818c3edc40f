"""Algorithm 2, rank centrality: whether it finds the strengths, and how well, beside maximum likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from companion.chapters.private_rank_centrality.comparison_graphs import (
    all_pairs,
    connected,
    even_shares,
    graph,
    graphs,
    path,
    printed_matrix,
    star,
    strengths,
)
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, COLOURS, key, note, on_phone, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import wilson
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.draws import binomial
from dprank.models.likelihood import mle_from_counts
from dprank.topk.spectral import stationary_distribution, transition_matrix

#: Of the likelihood that is fitted beside rank centrality: small, so that it always has a maximum.
RIDGE = 0.01


def population_error(n: int, pairs: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Largest relative error of the stationary distribution when every share is its expectation."""
    law = stationary_distribution(transition_matrix(n, pairs, even_shares(weights, pairs)))
    return float(np.abs(law / weights - 1).max())


def laws_of(n: int, pairs: NDArray[np.int64], shares: ArrayLike) -> int:
    """Dimension of the space of stationary vectors."""
    chain = printed_matrix(n, pairs, shares, n)
    return int(n - np.linalg.matrix_rank(np.eye(n) - chain, rtol=1e-9))


def estimation_draws(
    n: int, probability: float, samples: int, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """l1 errors of rank centrality and of maximum likelihood on the same data.

    `samples` comparisons of each edge of a fixed graph; 2, the largest distance of two distributions, where the
    stationary one is not unique.
    """
    pairs, truth = graph(n, probability), strengths(n)
    i, j = pairs.T
    won = binomial(samples, even_shares(truth, pairs), (repetitions, len(pairs)), rng=rng)
    played = np.zeros((1, n, n))
    played[0, i, j] = played[0, j, i] = samples
    wins = won @ np.eye(n)[j] + (samples - won) @ np.eye(n)[i]
    theta, _ = mle_from_counts(played, wins, ridge=RIDGE)
    fitted = np.exp(theta - theta.max(1, keepdims=True))
    likely = np.abs(fitted / fitted.sum(1, keepdims=True) - truth).sum(1)
    central = np.full(repetitions, 2.0)
    for row, wins_of_second in enumerate(won):
        try:
            law = stationary_distribution(transition_matrix(n, pairs, wins_of_second / samples))
        except ValueError:
            continue
        central[row] = np.abs(law - truth).sum()
    return {("rank centrality",): central, ("maximum likelihood",): likely}


def estimation(
    samples: Iterable[int], repetitions: int, probabilities: Iterable[float] = (0.3, 1.0), n: int = 20, jobs: int = 1
) -> pd.DataFrame:
    """Error of both estimators against the number of comparisons of an edge.

    ``n``, ``probability``, ``samples``, ``method``, ``mean``, ``se``, ``repetitions``.
    """
    probabilities = list(probabilities)
    return sweep(
        estimation_draws,
        [{"n": n, "probability": float(p), "samples": int(L)} for p in probabilities for L in samples],
        experiment="qiao2021 rank centrality",
        repetitions=repetitions,
        outcomes=("method",),
        jobs=jobs,
    )


def log_covariances(
    n: int, pairs: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits of L times the covariance of centred log strengths: rank centrality, maximum likelihood.

    By the delta method, strengths of sum 1 on a connected graph; the second is the inverse of the Fisher information.
    O(items^3 + pairs * items^2).
    """
    i, j = pairs.T
    share = even_shares(weights, pairs)
    centre = np.eye(n) - 1 / n
    rates = np.eye(n) - printed_matrix(n, pairs, share, 1)
    # a share of pair (i, j) that is too high by one moves the law by (pi_i + pi_j) (row j - row i) of this inverse
    inverse = np.linalg.inv(rates + weights) - weights
    moves = (weights[i] + weights[j])[:, None] * (inverse[j] - inverse[i]) / weights @ centre
    step = centre[j] - centre[i]
    variance = (share * (1 - share))[:, None]
    return moves.T @ (variance * moves), np.linalg.pinv(step.T @ (variance * step), rcond=1e-9, hermitian=True)


def efficiency(spreads: Iterable[float], n: int = 20) -> pd.DataFrame:
    """How much larger the mean squared error of log strengths is than that of maximum likelihood, as L grows.

    ``best over worst strength`` (logarithms are evenly spread) and a column for each graph.
    """
    shapes = {"a path": path(n), "p = 0.3": graph(n, 0.3), "every pair": all_pairs(n)}
    rows = []
    for spread in spreads:
        weights = np.geomspace(1, spread, n)
        # shuffled: a path that climbs would be a special case
        weights = stream("qiao2021 shuffled strengths", {"n": n}).permutation(weights / weights.sum())
        row: dict[str, float] = {"best over worst strength": spread}
        for name, pairs in shapes.items():
            central, likely = log_covariances(n, pairs, weights)
            row[name] = float(np.trace(central) / np.trace(likely))
        rows.append(row)
    return pd.DataFrame(rows)


def shape_draws(
    n: int, probability: float, samples: int, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """Which data leave rank centrality without an answer, or with zeros: 1 or 0, the cell as in `estimation_draws`."""
    pairs = graph(n, probability)
    won = binomial(samples, even_shares(strengths(n), pairs), (repetitions, len(pairs)), rng=rng)
    several, zeros = np.zeros(repetitions), np.zeros(repetitions)
    for row, wins in enumerate(won):
        try:
            law = stationary_distribution(transition_matrix(n, pairs, wins / samples))
        except ValueError:
            several[row] = 1
            continue
        zeros[row] = (law == 0).any()
    return {("no unique answer",): several, ("some entries 0",): zeros, ("all positive",): 1 - several - zeros}


def shapes(
    samples: Iterable[int], repetitions: int, probability: float = 0.3, n: int = 20, jobs: int = 1
) -> pd.DataFrame:
    """How often few comparisons suffice for rank centrality.

    ``L`` and a column for each kind of data: how often it came, with Wilson's interval of 95 %.
    """
    cells = [{"n": n, "probability": probability, "samples": int(L)} for L in samples]
    name = "qiao2021 shape of data"
    frame = sweep(shape_draws, cells, experiment=name, repetitions=repetitions, outcomes=("kind",), jobs=jobs)
    kinds, ranges = frame.kind.unique(), zip(frame["mean"], *wilson(frame["mean"], repetitions), strict=True)
    text = [f"{100 * mean:.0f} % ({100 * abs(low):.0f} to {100 * high:.0f})" for mean, low, high in ranges]
    wide = frame.assign(text=text).pivot(index="samples", columns="kind", values="text")[kinds]
    return wide.reset_index().rename(columns={"samples": "L"})


def undefeated(items: int, comparisons: int) -> float:
    """Expected number of equally strong items that lose none of the comparisons of random pairs.

    Each comparison is lost by one item, uniformly at random.
    """
    return items * (1 - 1 / items) ** comparisons


@claim("qiao2021:alg-2")
def check_spectral(frame: pd.DataFrame) -> Iterator[Check]:
    """Whether Algorithm 2 finds the strengths: with expected shares, and from samples."""
    apart = np.array([[0, 1], [2, 3]])
    weights = np.array([1, 2, 3, 4]) / 10
    forms = {"path": path(20), "star": star(20), "random": graph(20, 0.3), "complete": all_pairs(20)}
    errors = [population_error(20, pairs, strengths(20)) for pairs in forms.values()]
    unique = [(connected(4, pairs), laws_of(4, pairs, even_shares(weights, pairs)) == 1) for pairs in graphs(4)]
    yield printed(
        "independent stationary vectors, 4 items, two separate pairs, L → ∞",
        laws_of(4, apart, even_shares(weights, apart)),
        "==",
        1,
    )
    yield supplied(
        "relative error of π, L → ∞, path, star, random and complete graph of 20 items", max(errors), "<=", ROUNDING
    )
    central = frame[frame.method == "rank centrality"]
    for probability, part in central.groupby("probability", sort=False):
        few, many = part[part.samples == 16].iloc[0], part[part.samples == 256].iloc[0]
        gain, error = many["mean"] - few["mean"] / 2, Z * np.hypot(many.se, few.se / 2)
        what = f"l1 error at L = 256 less half of that at L = 16, 20 items, p = {probability:g}"
        yield supplied(what, gain, "<", 0, error=error)
    yield amended(
        "graphs of 4 items where a unique π and connectedness differ, L → ∞", sum(a != b for a, b in unique), "==", 0
    )
    three = stationary_distribution(transition_matrix(3, all_pairs(3), [0, 0, 0.5]))
    yield amended("π of an item that won all its comparisons, 3 items", three[0], "==", 1)


METHODS = "rank centrality", "maximum likelihood"
_GRAPHS: tuple[dict[str, Any], ...] = (
    {"color": COLOURS[0], "marker": "o"},
    {"color": COLOURS[2], "marker": "D", "ls": "--"},
)


@styled
def draw_estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean l1 error of rank centrality against the comparisons of each edge, and over that of maximum likelihood."""
    message = "With a few games a pair, the walk matches maximum likelihood"
    figure, (error, ratio) = panels(2, message=message, height=2.8)
    for (probability, part), look in zip(frame.groupby("probability"), _GRAPHS, strict=False):
        walk, fit = (part[part.method == name].sort_values("samples").reset_index() for name in METHODS)
        share = walk["mean"] / fit["mean"]
        off = share * np.hypot(walk.se / walk["mean"], fit.se / fit["mean"])
        error.errorbar(
            walk.samples, walk["mean"], BAR * walk.se, capsize=2, label=f"{100 * probability:g} % of pairs meet", **look
        )
        ratio.errorbar(walk.samples, share, BAR * off, capsize=2, **look)
    root = 0.7 * walk["mean"].iloc[-1] * (walk.samples.iloc[-1] / walk.samples) ** 0.5
    error.plot(walk.samples, root, color="black", lw=0.8, ls=":", label="four times the games, half the error")
    ratio.axhline(1, color="black", lw=0.8)
    error.set(yscale="log", title="the walk", ylabel="sum of all errors")
    ratio.set(title="beside maximum likelihood", ylabel="the walk's error /\nmaximum likelihood's error")
    for axes in (error, ratio):
        axes.set(xscale="log", xlabel="games of every pair that meets")
        axes.set_xticks(walk.samples, [f"{tick}" for tick in walk.samples])
        axes.minorticks_off()
    key(figure, *error.get_legend_handles_labels(), columns=1 if on_phone() else 3)
    note(
        figure,
        "The walk moves from losers to winners; the share of its time at a player is that player's strength. "
        "Error: summed over all strengths, which add up to 1. Bars: 95 %.",
    )
    return figure
