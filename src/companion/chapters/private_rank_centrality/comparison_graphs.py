"""Comparison graphs and the chain that answers on them make: the model, adjacency, the normalisation d."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csgraph

from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix


def all_pairs(n: int) -> NDArray[np.int64]:
    """Edges of the complete graph, shape (pairs, 2)."""
    return np.array(list(combinations(range(n), 2)))


def even_shares(weights: ArrayLike, pairs: ArrayLike) -> NDArray[np.float64]:
    """Chance that the second item of each pair wins, equation (3.1)."""
    w = np.asarray(weights, float)[np.asarray(pairs)]
    return np.asarray(w[:, 1] / w.sum(1))


def printed_matrix(n: int, pairs: ArrayLike, shares: ArrayLike, d: float) -> NDArray[np.float64]:
    """Equation (3.2) to the letter, for any d: entries may be negative."""
    i, j = np.asarray(pairs).T
    matrix = np.zeros((n, n))
    matrix[i, j], matrix[j, i] = np.asarray(shares) / d, (1 - np.asarray(shares)) / d
    np.fill_diagonal(matrix, 1 - matrix.sum(1))
    return matrix


def connected(n: int, pairs: NDArray[np.int64]) -> bool:
    """Whether the comparison graph is connected."""
    return bool(csgraph.connected_components(printed_matrix(n, pairs, np.full(len(pairs), 0.5), n))[0] == 1)


@cache
def graph(n: int, probability: float) -> NDArray[np.int64]:
    """A connected Erdos-Renyi graph, always the same one."""
    return connected_graph(n, probability, stream("qiao2021 comparison graph", {"n": n, "p": probability}))


def connected_graph(n: int, probability: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random graph, drawn until it is connected."""
    every = all_pairs(n)
    while True:
        pairs = every[rng.random(len(every)) < probability]
        if connected(n, pairs):
            return pairs


def strengths(n: int) -> NDArray[np.float64]:
    """n strengths from 1 to 5, evenly spread, of sum 1."""
    omega = np.linspace(1, 5, n)
    return np.asarray(omega / omega.sum())


# --- equation (3.1): the model and its statistics --------------------------------------------------------------------


def conditional_gap(statistic: str, samples: int, weights: Sequence[ArrayLike]) -> float:
    """How much the law of all samples given a statistic depends on the strengths.

    Largest difference of a conditional probability; 0 says that the statistic is sufficient.
    """
    pairs = all_pairs(3)
    won = np.array(list(product((0, 1), repeat=3 * samples))).reshape(-1, 3, samples).sum(2)
    wins = np.zeros((len(won), 3), int)
    for column, (i, j) in enumerate(pairs):
        wins[:, j] += won[:, column]
        wins[:, i] += samples - won[:, column]
    values = {"averages": won, "wins": wins, "wins of all but one": wins[:, 2:]}[statistic]
    group = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    conditional = []
    for w in weights:
        p = even_shares(w, pairs)
        chance = (p**won * (1 - p) ** (samples - won)).prod(1)
        conditional.append(chance / np.bincount(group, chance)[group])
    return float(np.ptp(conditional, axis=0).max())


@claim("qiao2021:eq-3.1")
def check_model(samples: int = 2) -> Iterator[Check]:
    """Whether the averages y are sufficient, and whether less is."""
    weights = [[1, 1, 1], [1, 2, 5], [9, 1, 1]]
    form = f"3 items, L = {samples}, three ω: largest change of P(samples | "
    yield printed(f"{form}averages y)", conditional_gap("averages", samples, weights), "<=", ROUNDING)
    yield amended(f"{form}wins of each item)", conditional_gap("wins", samples, weights), "<=", ROUNDING)


# --- what a neighbour is ---------------------------------------------------------------------------------------------


def norm(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest absolute row sum, of one matrix or of a stack of them."""
    return np.asarray(np.abs(matrix).sum(-1).max(-1))


def replaced_sample(samples: int) -> float:
    """Most that one replaced sample moves P in the norm of the paper: three items, all data, d = 2."""
    pairs = all_pairs(3)
    worst = 0.0
    for won in product(range(samples + 1), repeat=3):
        here = printed_matrix(3, pairs, np.array(won) / samples, 2)
        for edge in range(3):
            if won[edge] < samples:
                other = np.array(won) + (np.arange(3) == edge)
                worst = max(worst, float(norm(printed_matrix(3, pairs, other / samples, 2) - here)))
    return worst


def added_sample(samples: int) -> float:
    """How far the first sample of a new edge moves P: three items, two edges with L samples each, d = 2."""
    pairs, shares = all_pairs(3), np.array([1.0, 0.0, 0.0])
    return float(norm(printed_matrix(3, pairs, shares, 2) - printed_matrix(3, pairs[:2], shares[:2], 2)))


@claim("qiao2021:sec-3:adjacency")
def check_adjacency(samples: int = 2) -> Iterator[Check]:
    """Whether one sample moves P by no more than 2 / (d L), the sensitivity that Theorem 3.5 builds on."""
    bound = 2 / (2 * samples)
    replaced, added = replaced_sample(samples), added_sample(samples)
    form = f"‖P̃ − P‖∞, 3 items, d = 2, L = {samples}"
    yield printed(f"{form}, worst case", replaced, "<=", bound + ROUNDING, reading="a sample is replaced")
    yield printed(f"{form}, a new edge", added, "<=", bound + ROUNDING, reading="a sample is added (Definition 1.1)")
    yield amended(f"{form}, one sample replaced, worst case", replaced, "==", bound, error=ROUNDING)


# --- equation (3.2): the transition matrix ---------------------------------------------------------------------------


def graphs(n: int) -> list[NDArray[np.int64]]:
    """All comparison graphs of n items with at least one edge."""
    pairs = all_pairs(n)
    masks = product((False, True), repeat=len(pairs))
    return [pairs[np.array(mask)] for mask in masks if any(mask)]


def rivals(n: int, pairs: NDArray[np.int64]) -> int:
    """Largest number of rivals of an item."""
    return int(np.bincount(pairs.ravel(), minlength=n).max())


def least_entry(n: int, pairs: NDArray[np.int64], factor: float) -> float:
    """Least entry of equation (3.2) with d = factor times the maximum degree, over all outcomes of single samples.

    Entries are linear in y, so that no other y does worse.
    """
    d = factor * rivals(n, pairs)
    return min(float(printed_matrix(n, pairs, y, d).min()) for y in product((0.0, 1.0), repeat=len(pairs)))


def transition_entries(factors: Iterable[float], n: int = 4) -> pd.DataFrame:
    """What d does to equation (3.2), over all graphs of n items and all outcomes.

    ``d over maximum degree``, ``least entry`` and ``graphs with a negative entry``, a share.
    """
    rows = []
    for factor in factors:
        least = np.array([least_entry(n, pairs, factor) for pairs in graphs(n)])
        shares = (least < -ROUNDING).mean()
        rows.append(
            {
                "d over maximum degree": factor,
                "least entry": least.min(),
                "graphs with a negative entry": shares,
            }
        )
    return pd.DataFrame(rows)


@claim("qiao2021:eq-3.2")
def check_transition() -> Iterator[Check]:
    """Whether equation (3.2) gives probabilities, and from which d on."""
    ceiling = 4
    frame = transition_entries([0.99, 1.0], ceiling)
    low, right = frame.iloc[0], frame.iloc[1]
    form = f"least entry of P, all graphs of {ceiling} items, all outcomes, d = maximum degree"
    yield printed(
        "least entry of P, 2 items, d = 1/2, one lost all comparisons", least_entry(2, all_pairs(2), 0.5), ">=", 0
    )
    yield printed("least entry of P, 3 items on a path, d = 1, worst outcome", least_entry(3, path(3), 0.5), ">=", 0)
    yield supplied(form, right["least entry"], ">=", -ROUNDING)
    yield amended(
        f"share of graphs of {ceiling} items where d = 0.99 maximum degree fails for some outcome",
        low["graphs with a negative entry"],
        "==",
        1,
    )


def degrees_within(n: int, steps: int = 2) -> NDArray[np.int64]:
    """Maximum degrees of all graphs of n items in which any two items are within so many steps.

    Farther than two apart, two rows of P share no column. O(2^(n (n - 1) / 2)).
    """
    i, j = all_pairs(n).T
    masks = np.arange(2 ** len(i))[:, None] >> np.arange(len(i)) & 1
    near = np.zeros((len(masks), n, n))
    near[:, i, j] = near[:, j, i] = masks
    degrees = near.sum(2).max(1).astype(int)
    reached = np.linalg.matrix_power(near + np.eye(n), steps)
    return degrees[(reached > 0).all((1, 2))]


def path(n: int) -> NDArray[np.int64]:
    """Edges of a path."""
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


def star(n: int) -> NDArray[np.int64]:
    """Edges of a star, the first item in the middle."""
    return np.column_stack([np.zeros(n - 1, int), np.arange(1, n)])


def cycle(n: int) -> NDArray[np.int64]:
    """Edges of a cycle."""
    return np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])


def petersen() -> NDArray[np.int64]:
    """Edges of the Petersen graph: ten items with three rivals each, any two of them within two steps."""
    ring = np.arange(5)
    inner = np.column_stack([5 + ring, 5 + (ring + 2) % 5])
    return np.vstack([cycle(5), np.column_stack([ring, ring + 5]), inner])


@claim("qiao2021:sec-3:d-grows")
def check_growth(sizes: Sequence[int] = (5, 50, 500), most: int = 6) -> Iterator[Check]:
    """Whether the maximum degree must grow with the number of items."""
    cycles = [rivals(n, cycle(n)) for n in sizes]
    slack = min(int((degrees_within(n) ** 2 + 1 - n).min()) for n in range(2, most + 1))
    tight = petersen()
    even = transition_matrix(10, tight, np.full(len(tight), 0.5))
    cycle_growth = f"maximum degree of a cycle of {sizes[-1]} items over that of {sizes[0]}"
    form = f"least of d² + 1 − m, d the maximum degree, all graphs of 2 to {most} items that may have τ₁ < 1"
    attained = "τ₁ of the Petersen graph, m = d² + 1 = 10, all shares 1/2"
    yield printed(cycle_growth, cycles[-1] / cycles[0], ">", 1)
    yield supplied(form, slack, ">=", 0)
    yield amended(attained, ergodicity_coefficient(even), "<", 1)
