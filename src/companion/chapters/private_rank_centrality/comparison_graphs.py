"""Comparison graphs and the chain that answers on them make: the model, adjacency, the normalisation d."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csgraph
from scipy.special import comb

from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
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


#: Strengths of three items.
OMEGAS = ((1, 1, 1), (1, 2, 5), (9, 1, 1))
STATISTICS: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]] = {
    "averages y": lambda averages, wins: averages,
    "wins of each item": lambda averages, wins: wins,
    "wins of the first item": lambda averages, wins: wins[:, :1],
}


def conditional_laws(statistic: str, samples: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """P(all samples | statistic) of three items by `OMEGAS`, and the wins of the second item of each pair."""
    pairs = all_pairs(3)
    won = np.array(list(product((0, 1), repeat=3 * samples))).reshape(-1, 3, samples).sum(2)
    each = np.eye(3, dtype=int)
    wins = won @ (each[pairs[:, 1]] - each[pairs[:, 0]])  # of each item, up to a constant
    group = np.unique(STATISTICS[statistic](won, wins), axis=0, return_inverse=True)[1].ravel()
    shares = [even_shares(omega, pairs) for omega in OMEGAS]
    chances = [(p**won * (1 - p) ** (samples - won)).prod(1) for p in shares]
    return np.array([chance / np.bincount(group, chance)[group] for chance in chances]), won


def conditional_gap(statistic: str, samples: int) -> float:
    """Largest change of a conditional probability with the strengths; 0 says that the statistic is sufficient."""
    return float(np.ptp(conditional_laws(statistic, samples)[0], axis=0).max())


@claim("qiao2021:eq-3.1")
def check_model(samples: int = 2) -> Iterator[Check]:
    """Whether the averages y are sufficient, and whether less is."""
    laws, won = conditional_laws("averages y", samples)
    exact = 1 / comb(samples, won).prod(1)
    where = f"3 items, L = {samples}, {len(OMEGAS)} ω, all {len(won)} samples"
    form = f"{where}: largest change of P(samples | "
    what = f"{where}: P(samples | averages y) off one over the number of samples with these averages"
    yield printed(what, np.abs(laws - exact).max(), "<=", ROUNDING)
    yield amended(f"{form}wins of each item)", conditional_gap("wins of each item", samples), "<=", ROUNDING)
    yield amended(f"{form}wins of the first item)", conditional_gap("wins of the first item", samples), ">", 0.1)


def norm(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest absolute row sum, of one matrix or of a stack of them."""
    return np.asarray(np.abs(matrix).sum(-1).max(-1))


def replaced_sample(samples: int, d: float) -> float:
    """Most that one replaced sample moves P in the norm of the paper: three items, all data."""
    pairs = all_pairs(3)
    chains = {
        won: printed_matrix(3, pairs, np.array(won) / samples, d) for won in product(range(samples + 1), repeat=3)
    }
    near = ((a, b) for a, b in combinations(chains, 2) if np.abs(np.subtract(a, b)).sum() == 1)
    return max(float(norm(chains[a] - chains[b])) for a, b in near)


def added_sample(d: float) -> float:
    """How far the first sample of a new edge moves P: three items, two edges, won and lost."""
    pairs, shares = all_pairs(3), np.eye(3)[0]
    return float(norm(printed_matrix(3, pairs, shares, d) - printed_matrix(3, pairs[:2], shares[:2], d)))


@claim("qiao2021:sec-3:adjacency")
def check_adjacency(samples: int = 2, d: float = 2) -> Iterator[Check]:
    """Whether one sample moves P by no more than 2 / (d L), the sensitivity that Theorem 3.5 builds on."""
    bound = 2 / (d * samples)
    replaced, added = replaced_sample(samples, d), added_sample(d)
    form = f"‖P̃ − P‖∞, 3 items, d = {d:g}, L = {samples}"
    yield printed(f"{form}, worst case", replaced, "<=", bound + ROUNDING, reading="a sample is replaced")
    yield printed(f"{form}, a new edge", added, "<=", bound + ROUNDING, reading="a sample is added (Definition 1.1)")
    yield amended(f"{form}, one sample replaced, worst case", replaced, "==", bound, error=ROUNDING)
    yield amended(f"{form}, the first sample of a new edge, L times that", added, "==", samples * bound, error=ROUNDING)


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


@claim("qiao2021:eq-3.2")
def check_transition(n: int = 4) -> Iterator[Check]:
    """Whether equation (3.2) gives probabilities, and from which d on."""
    every = graphs(n)
    least = {factor: np.array([least_entry(n, pairs, factor) for pairs in every]) for factor in (0.5, 0.99, 1.0)}
    two = least_entry(2, all_pairs(2), 0.5)
    form = f"all graphs of {n} items, all outcomes"
    yield printed("least entry of P, 2 items, d = 1/2, one lost all comparisons", two, ">=", 0)
    yield printed("least entry of P, 3 items on a path, d = 1, worst outcome", least_entry(3, path(3), 0.5), ">=", 0)
    yield supplied(f"least entry of P, {form}, d = maximum degree", least[1.0].min(), ">=", -ROUNDING)
    different = len({pairs.tobytes() for pairs in every})
    yield argument(f"different graphs of {n} items with an edge", different, "==", 2 ** math.comb(n, 2) - 1)
    sums = np.ravel([printed_matrix(n, pairs, np.ones(len(pairs)), rivals(n, pairs)).sum(1) for pairs in every])
    rows = f"row sums of P off 1, all graphs of {n} items, higher numbers win"
    yield amended(rows, np.abs(sums - 1).max(), "<=", ROUNDING)
    for factor, entries in least.items():
        what = f"least entry of P off 1 − 1/{factor:g}, {form}, d = {factor:g} maximum degree"
        yield amended(what, np.abs(entries - (1 - 1 / factor)).max(), "<=", ROUNDING)


def degrees_within(n: int, steps: int = 2) -> NDArray[np.int64]:
    """Maximum degrees of all graphs of n items in which any two items are within so many steps.

    Farther than two apart, two rows of P share no column. O(2^(n (n - 1) / 2)).
    """
    i, j = all_pairs(n).T
    masks = np.arange(2 ** len(i))[:, None] >> np.arange(len(i)) & 1
    near = np.zeros((len(masks), n, n))
    near[:, i, j] = near[:, j, i] = masks
    degrees = near.sum(2).max(1).astype(int)
    walks = np.linalg.matrix_power(near + np.eye(n), steps)
    return degrees[(walks > 0).all((1, 2))]


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
def check_growth(sizes: Sequence[int] = (5, 500), most: int = 6) -> Iterator[Check]:
    """Whether the maximum degree must grow with the number of items."""
    cycles = [rivals(n, cycle(n)) for n in sizes]
    listed = " and ".join(map(str, sizes))
    least = {n: int(degrees_within(n).min()) for n in range(2, most + 1)}
    slack = min(degree**2 + 1 - n for n, degree in least.items())
    off = max(abs(degree - math.ceil(math.sqrt(n - 1))) for n, degree in least.items())
    tight = petersen()
    even = transition_matrix(10, tight, np.full(len(tight), 0.5))
    form = f"all graphs of {min(least)} to {max(least)} items that may have τ₁ < 1"
    yield printed(f"largest less least maximum degree of cycles of {listed} items", np.ptp(cycles), ">", 0)
    yield amended(f"maximum degree of a cycle of {sizes[-1]} items", max(cycles), "==", 2)
    yield supplied(f"least of d² + 1 − m, d the maximum degree, {form}", slack, ">=", 0)
    yield amended(f"least maximum degree off ⌈√(m − 1)⌉, {form}", off, "==", 0)
    attained = "τ₁ of the Petersen graph, m = d² + 1 = 10, all shares 1/2: one of six equal steps in common"
    yield amended(attained, ergodicity_coefficient(even), "==", 5 / 6, error=ROUNDING)
