"""Definition 3.4, constrained comparison graphs: which graphs, random ones included, have a coefficient below 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from scipy.stats import binom

from companion.chapters.private_rank_centrality.comparison_graphs import all_pairs, connected, graphs, printed_matrix
from companion.chapters.private_rank_centrality.small_graphs import GRAPHS
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import wilson
from companion.ledger.claim import Check, amended, claim, printed
from dprank.models.draws import binomial
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix


def incomplete_graphs(most: int) -> pd.DataFrame:
    """Every connected graph of at most so many items that lacks a pair: the largest tau over its data, one sample each.

    ``items``, ``edges``, ``largest tau``.
    """
    rows = []
    for n_items in range(3, most + 1):
        every = all_pairs(n_items).tolist()
        for pairs in graphs(n_items):
            if len(pairs) < len(every) and connected(n_items, pairs):
                # two items that were not compared may have beaten all their rivals
                winners = next(pair for pair in every if pair not in pairs.tolist())
                chain = transition_matrix(n_items, pairs, 1.0 - np.isin(pairs[:, 0], winners))
                rows.append({"items": n_items, "edges": len(pairs), "largest tau": ergodicity_coefficient(chain)})
    return pd.DataFrame(rows)


def threshold(n_items: int, samples: int = 0) -> float:
    """Edge probability from which on a random graph of equal items is expected to have a coefficient below 1.

    Two items need a rival that beat both at least once: sqrt(2 log m / m) for all their chances (samples = 0, the
    chain of the model), and 1 - 2^-samples below that for samples of an edge.
    """
    return math.sqrt(2 * math.log(n_items) / n_items) / (1 - 0.5**samples if samples else 1.0)


def constrained_draws(
    n_items: int, p: float, samples: int, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """1 where the ergodicity coefficient of a random graph of equal items is below 1.

    Rows of the chain overlap if the two items were compared or some rival beat both: one matrix product a replicate.
    """
    out = np.empty(repetitions)
    i, j = np.triu_indices(n_items, 1)
    for r in range(repetitions):
        edge = rng.random(len(i)) < p
        won = binomial(samples, 0.5, len(i), rng=rng) if samples else np.ones(len(i))
        lost, near = np.zeros((n_items, n_items), np.float32), np.eye(n_items, dtype=np.float32)
        lost[i, j], lost[j, i] = edge & (won > 0), edge & (won < samples if samples else True)
        near[i, j] = near[j, i] = edge
        out[r] = ((lost @ lost.T + near) > 0).all()
    return out


def constrained(sizes: Sequence[int], factors: Sequence[float], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """How often a random graph has a coefficient below 1, around the threshold of the model's chain.

    ``n_items``, ``samples`` (0 for the model's chain, 1), ``p``, ``mean`` and Wilson's ``low`` and ``high`` (95 %);
    ``threshold`` of the coefficient, and ``connected``, log m / m.
    """
    cells = [
        {"n_items": int(m), "p": round(min(1.0, factor * threshold(m, samples)), 4), "samples": samples}
        for m in sizes
        for samples in (0, 1)
        for factor in factors
    ]
    frame = sweep(constrained_draws, cells, experiment="qiao2021 constrained", repetitions=repetitions, jobs=jobs)
    low, high = wilson(frame["mean"], repetitions)
    return frame.assign(
        low=low,
        high=high,
        threshold=[threshold(m, L) for m, L in zip(frame.n_items, frame.samples, strict=True)],
        connected=np.log(frame.n_items) / frame.n_items,
    )


def constrained_at_most(n_items: int, p: float) -> float:
    """Bound on the chance that all items are within two edges of each other: expected number within two of one item."""
    return (1 + n_items * p + (n_items * p) ** 2) / n_items


def unconstrained_at_most(n_items: int, p: float, samples: int = 0) -> float:
    """Bound on the chance that the coefficient is 1: expected number of pairs that share nothing.

    The model's own chain for any strengths (samples = 0), or that of so many samples an edge of equal items.
    """
    shared = (p * (1 - 0.5**samples if samples else 1.0)) ** 2
    return math.comb(n_items, 2) * (1 - p) * (1 - shared) ** (n_items - 2)


@claim("qiao2021:def-3.4")
def check_constrained_graph(graphs: pd.DataFrame, found: pd.DataFrame) -> Iterator[Check]:
    """Definition 3.4 as a property of the graph alone, or of its answers too."""
    complete = {name: m - 1 for name, (m, pairs) in GRAPHS.items() if len(pairs) == math.comb(m, 2)}
    ones = found[found.graph.isin(complete)]
    off = (ones["largest tau"] - (1 - 1 / ones.graph.map(complete))).abs().max()
    lacking = f"the {len(graphs)} connected graphs of 3 to {graphs['items'].max()} items that lack a pair"
    what = f"largest τ₁ over the answers, least of {lacking}"
    yield printed(what, graphs["largest tau"].min(), "<", 1, reading="ρ belongs to the graph, whatever the answers")
    where = f"all {found['data sets'].sum():,} data sets on {found.graph.nunique()} graphs"
    what = f"data sets with τ₁ < 1 that have, or whose neighbour has, several stationary distributions, {where}"
    yield printed(what, found["not unique"].sum(), "==", 0, reading="ρ belongs to the graph and its answers")
    what = "distance of the largest τ₁ over the answers from 1 − 1/d, graphs with all pairs"
    yield amended(what, off, "==", 0, error=ROUNDING)


def strangers(n_items: int, p: float, samples: int = 0) -> float:
    """Expected number of pairs of rows of the chain that share nothing, by listing all graphs and all answers."""
    answers = np.arange(samples + 1) / samples if samples else np.array([0.5])
    law = dict(zip(answers, binom.pmf(np.arange(samples + 1), samples, 0.5), strict=True))
    pairs, total = all_pairs(n_items), 0.0
    for shares in product((None, *answers), repeat=len(pairs)):
        there = [share is not None for share in shares]
        given = [share for share in shares if share is not None]
        chain = printed_matrix(n_items, pairs[there], given, n_items)
        apart = np.abs(chain[:, None] - chain).sum(2)[np.triu_indices(n_items, 1)] > 2 - ROUNDING
        chance = math.prod(p * law[share] for share in given) * (1 - p) ** (len(shares) - len(given))
        total += chance * apart.sum()
    return total


@claim("qiao2021:def-3.4:random-graph")
def check_random_graph(n_items: int = 10_000, margin: float = 1.2) -> Iterator[Check]:
    """Erdos-Renyi comparison graphs and Definition 3.4: first-moment bounds on the chance of a coefficient below 1."""

    def between(low: float, high: float, p: float, note: str, bound: float, about: str = "printed") -> Check:
        what = f"chance that τ₁ < 1, m = {n_items:,}, p = {p:.4f} ({note})"
        return Check(what, (low + high) / 2, ">=", bound, about=about, error=(high - low) / 2)

    thin, dense, once = 2 * math.log(n_items) / n_items, margin * threshold(n_items), margin * threshold(n_items, 1)
    model = 1 - unconstrained_at_most(n_items, dense)
    one = 1 - unconstrained_at_most(n_items, once, 1)
    above, twice = f"model's chain, {margin:g} √(2 log m/m)", f"L = 1, {2 * margin:g} √(2 log m/m), equal items"
    yield between(0, constrained_at_most(n_items, thin), thin, "twice the threshold of being connected", 0.5)
    yield between(model, 1, dense, above, 0.5, "supplied")
    yield between(model, 1, dense, above, 0.99, "corrected")
    yield between(one, 1, once, twice, 0.99, "corrected")
    for samples, listed in ((0, "model's chain"), (1, "L = 1, equal items"), (2, "L = 2, equal items")):
        p, shared = threshold(n_items, samples), 2 * math.log(n_items) / n_items
        # (1 - p) (1 - shared)^(m - 2) m (m - 1) / 2, where exp(-m shared) = 1 / m^2
        near = (p + n_items * shared**2) / 2
        what = f"expected pairs that share nothing at the threshold, m = {n_items:,}, p = {p:.4f} ({listed})"
        yield amended(what, unconstrained_at_most(n_items, p, samples), "==", 0.5, error=near)
        exact, bound = strangers(4, 0.9, samples), unconstrained_at_most(4, 0.9, samples)
        what = f"expected pairs that share nothing, all graphs of 4 items and all answers, p = 0.9, {listed}"
        yield amended(what, exact, "==", bound, error=ROUNDING)


#: Colours of numbers of players; orange is what is printed.
_SIZES = COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[6]


@styled
def draw_constrained(frame: pd.DataFrame) -> Figure:
    """Fraction of random graphs with a coefficient below 1 against the edge probability."""
    message = "One piece is not enough: the theorem needs far denser tournaments"
    figure, made = panels(2, message=message, height=2.7, sharex=True, sharey=True)
    titles = {0: "many games of each pair that meets", 1: "one game of each pair that meets"}
    for axes, (samples, title) in zip(made, titles.items(), strict=True):
        rows = frame[frame.samples == samples].sort_values("p")
        for number, (size, part) in enumerate(rows.groupby("n_items")):
            off = [part["mean"] - part.low, part.high - part["mean"]]
            colour = _SIZES[number % len(_SIZES)]
            axes.errorbar(
                part.p, part["mean"], [x.clip(lower=0) for x in off], color=colour, marker="o", label=f"{size} players"
            )
            axes.axvline(part.threshold.iloc[0], color=colour, lw=1, ls="--", label="_")
            axes.axvline(part.connected.iloc[0], color=colour, lw=1, ls=":", label="_")
        axes.set(title=title, xlim=(0, 1.02), ylim=(-0.03, 1.03))
        axes.annotate("in one piece", (rows.connected.max() + 0.01, 0.5), rotation=90, va="center", fontsize=8.5)
    label_outer(made, "chance that a pair meets", "share of tournaments\nwith a promise")
    handles, labels = made[0].get_legend_handles_labels()
    expected = Line2D([], [], color="black", lw=1, ls="--")
    key(figure, [*handles, expected], [*labels, "expected threshold"], columns=4)
    note(
        figure,
        "Random walk: it moves from player to player, towards those who win; the players where it stays longest are "
        "best. Its theorem makes a promise only for tournaments that are well connected. Bars: 95 %.",
    )
    return figure
