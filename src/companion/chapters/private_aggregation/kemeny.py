"""The Kemeny score: its definition and its formula on all small cases, and what finding the best order takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from companion.instruments.aggregation import numbered
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, require_matrix, shrink
from dprank.data.kendall import pairwise_kendall_distances
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows


def disagreements(n_items: int) -> NDArray[np.int64]:
    """The paper's set, counted: ordered pairs (i, j) that one ranking puts in this order and the other does not.

    For all rankings, in the order of `~companion.instruments.uniformity.all_rankings`.
    """
    rows = all_rankings(n_items)
    before = (rows[:, :, None] < rows[:, None, :]).reshape(len(rows), -1).astype(np.int64)
    after = (rows[:, :, None] > rows[:, None, :]).reshape(len(rows), -1).astype(np.int64)
    return before @ after.T


def draw(n_items: int, voters: int, *, rng: np.random.Generator) -> Rankings:
    """Uniformly random rankings."""
    return numbered(np.argsort(rng.random((voters, n_items)), axis=1))


@claim("alabi2022:sec-background:kendall")
def check_kendall(n_items: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """Distance, maximum and average on all rankings of up to `n_items` items."""
    for m in range(2, n_items + 1):
        counts = disagreements(m)
        rows = all_rankings(m)
        yield printed(
            f"largest K(π₁,π₂), all {counts.size:,} pairs of rankings, {m} items",
            int(counts.max()),
            "==",
            math.comb(m, 2),
        )
        none = np.argwhere((counts == 0) != np.eye(len(rows), dtype=bool))
        yield printed(
            f"pairs of rankings, {m} items, of which K is 0 without, or above with, their being one", len(none), "==", 0
        )
        if m <= 4:
            detour = int((counts[:, :, None] > counts[:, None] + counts.T[None]).sum())
            yield printed(
                f"triples of rankings, {m} items, with K(a,c) > K(a,b) + K(b,c), or unequal ways",
                detour + int((counts != counts.T).sum()),
                "==",
                0,
            )
        mistaken = int((counts != pairwise_kendall_distances(rows)).sum())
        yield printed(f"pairs of rankings, {m} items, whose number of inversions is another", mistaken, "==", 0)
        votes = rng.integers(len(rows), size=5)
        data = numbered(rows[votes])
        totals = np.array([_total(np.argsort(row), data) for row in rows])
        wrong = int((counts[:, votes].sum(axis=1) != totals).sum())
        yield printed(f"orders, {m} items, 5 voters, whose n·K(σ,Π) is no sum of distances", wrong, "==", 0)


def _total(order: NDArray[np.int64], data: Rankings) -> int:
    """Votes against an order, over all pairs."""
    counts = data.pairwise()[np.ix_(order, order)]
    return int(np.tril(counts, -1).sum())


def displayed(order: ArrayLike, w: ArrayLike, diagonal: float) -> float:
    """The displayed formula as it stands, with i = j included.

    `diagonal` is taken for w_ii.
    """
    matrix = require_matrix(w)
    np.fill_diagonal(matrix, diagonal)
    place = np.argsort(order)
    return float((matrix.T * (place[:, None] <= place)).sum())


@claim("alabi2022:sec-notation:cost")
def check_cost(n_items: int, voters: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """The formula against the average distance: the paper gives no w_ii, ½ makes it fail, 0 makes it true."""
    largest = {0.0: 0.0, 0.5: 0.0, None: 0.0}
    for m in range(2, n_items + 1):
        rows = all_rankings(m)
        votes = rng.integers(len(rows), size=voters)
        w = pairwise_fractions(numbered(rows[votes]))
        average = disagreements(m)[:, votes].mean(axis=1)
        orders = np.argsort(rows, axis=1)
        for order, mean in zip(orders, average, strict=True):
            for diagonal in (0.0, 0.5):
                largest[diagonal] = max(largest[diagonal], abs(displayed(order, w, diagonal) - mean))
            largest[None] = max(largest[None], abs(kemeny_score(order, w) - mean))
    where = f"all orders of 2 to {n_items} items, {voters} voters"
    what = f"largest error of the formula, {where}"
    yield printed(f"{what}, w_ii = ½", largest[0.5], "<=", ROUNDING, error=1e-12)
    yield supplied(f"{what}, w_ii = 0", largest[0.0], "<=", ROUNDING, error=1e-12)
    yield amended(f"the same of the sum over i ≠ j, {where}", largest[None], "<=", ROUNDING)


def least_feedback(w: ArrayLike) -> float:
    """Least weight of a set of edges whose removal leaves no cycle, over all sets; at most 4 items.

    Weights of the edges from row to column, both directions present.
    """
    matrix = require_matrix(w)
    m = len(matrix)
    if m > 4:
        raise ValueError(f"w has {m} items; allowed: up to 4, all sets of edges are listed")
    tail, head = np.nonzero(~np.eye(m, dtype=bool))
    kept = np.arange(2 ** len(tail))[:, None] >> np.arange(len(tail)) & 1
    graphs = np.zeros((len(kept), m, m), np.int64)
    graphs[:, tail, head] = kept
    walks = np.linalg.matrix_power(graphs, m)
    # a walk of m steps meets some item twice
    acyclic = ~walks.any(axis=(1, 2))
    return float(((1 - kept) @ matrix[tail, head])[acyclic].min())


@claim("alabi2022:sec-background:fast")
def check_feedback(instances: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """Rank aggregation as a feedback arc set, against all sets of edges of 3 and 4 items."""
    for m in (3, 4):
        data = [pairwise_fractions(draw(m, voters, rng=rng)) for voters in range(1, instances + 1)]
        if m == 3:
            data.append(pairwise_fractions(Rankings([[0, 1, 2], [2, 0, 1], [1, 2, 0]], "abc")))
        gap = max(abs(least_feedback(w) - kemeny(w).cost) for w in data)
        what = f"largest gap of OPT and the least weight to remove, {m} items, {len(data)} sets of rankings"
        yield printed(what, gap, "<=", ROUNDING)


def solvers(cells: Iterable[Mapping[str, Any]], *, rng: np.random.Generator) -> pd.DataFrame:
    """The best order, and what simpler orders cost above it.

    One row a cell: its keys, ``floor`` (the smaller fraction of every pair, summed), ``optimum``, and how far above it
    are ``Borda (%)`` and ``local search (%)``. The keys: ``items``, ``voters``, ``phi`` (spread of the Mallows law of
    the voters) and ``noise`` (standard deviation of what is added to each fraction).
    """
    rows = []
    for cell in cells:
        m = cell["items"]
        votes = Mallows.of_phi(m, cell["phi"]).sample(cell["voters"], rng=rng)
        w = pairwise_fractions(Rankings(votes, list(map(str, range(m)))))
        w = shrink(w + rng.normal(0, cell["noise"], (m, m)) / math.sqrt(2))
        best = kemeny(w, time_limit=120)
        excess = {"Borda (%)": np.argsort(-w.sum(axis=1), kind="stable"), "local search (%)": local_search(w)}
        rows.append(
            dict(cell)
            | {"floor": np.minimum(w, w.T)[np.triu_indices(m, 1)].sum(), "optimum": best.cost}
            | {name: 100 * max(kemeny_score(order, w) / best.cost - 1, 0.0) for name, order in excess.items()}
        )
    return pd.DataFrame(rows)
