"""Worst neighbours by exhaustion, where the data are small enough to list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Edges(NamedTuple):
    """All data with at most one comparison a pair, and which of them are neighbours."""

    wins: NDArray[np.int64]  # (data sets, items)
    neighbours: list[tuple[int, int]]


def edge_data(n_items: int) -> Edges:
    """Every outcome of every comparison graph, and all edge-adjacent pairs (Cai et al. 2025, Section 2.1).

    Two data sets are adjacent if one outcome differs, or one compared pair with its outcome is another.

    Parameters
    ----------
    n_items : int
        At least 2. There are 3^(n (n - 1) / 2) data sets: 27 for 3 items, 729 for 4.
    """
    pairs = list(combinations(range(n_items), 2))
    # of a pair: not compared, won by its first item, won by its second
    data = list(product((None, 0, 1), repeat=len(pairs)))
    index = {d: row for row, d in enumerate(data)}
    wins = np.zeros((len(data), n_items), np.int64)
    for row, outcomes in enumerate(data):
        for pair, winner in zip(pairs, outcomes, strict=True):
            if winner is not None:
                wins[row, pair[winner]] += 1

    def adjacent(outcomes: tuple[int | None, ...]) -> Iterator[tuple[int | None, ...]]:
        for gone, winner in enumerate(outcomes):
            if winner is None:
                continue
            yield (*outcomes[:gone], 1 - winner, *outcomes[gone + 1 :])
            rest = (*outcomes[:gone], None, *outcomes[gone + 1 :])
            for new in range(len(pairs)):
                if new != gone and rest[new] is None:
                    for won in (0, 1):
                        yield (*rest[:new], won, *rest[new + 1 :])

    return Edges(
        wins, [(row, index[other]) for row, d in enumerate(data) for other in adjacent(d) if row < index[other]]
    )


def voter_scores(n_items: int, answers: int, *, repeats: bool, ties: bool, score: str) -> NDArray[np.int64]:
    """Every score vector that the answer sheet of one voter can give.

    Parameters
    ----------
    n_items, answers : int
        Sheets with 0 .. answers comparisons.
    repeats : bool
        Whether a pair may be answered more than once.
    ties : bool
        Whether an answer may be undecided.
    score : {"wins", "net"}

    Returns
    -------
    ndarray of int, shape (distinct vectors, items)
        The cost grows with their number, which answer sheets reach one answer at a time.
    """
    lost = {"wins": 0, "net": -1}[score]
    moves = []
    for i, j in combinations(range(n_items), 2):
        sheet = [(i, j), (j, i)]
        gains = [np.zeros(n_items, np.int64)] * ties
        for winner, loser in sheet:
            gain = np.zeros(n_items, np.int64)
            gain[winner], gain[loser] = 1, lost
            gains.append(gain)
        moves.append(gains)
    zero = (0,) * n_items
    if repeats:
        reached = {zero}
        for _ in range(answers):
            reached |= {tuple(np.add(s, gain).tolist()) for s in reached for gains in moves for gain in gains}
        return np.array(sorted(reached))
    counted = {(0, zero)}
    for gains in moves:
        counted |= {
            (used + 1, tuple(np.add(s, gain).tolist())) for used, s in counted if used < answers for gain in gains
        }
    return np.array(sorted({s for _, s in counted}))


def worst_pair(scores: NDArray[np.int64]) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The largest l1 distance between two rows, and two rows that attain it.

    The distance is the largest signed sum of the difference, and for given signs each row can be chosen alone.
    O(2^items * rows).
    """
    best = (-1, 0, 0)
    for signs in product((-1, 1), repeat=scores.shape[1]):
        along = scores @ np.array(signs)
        a, b = int(along.argmax()), int(along.argmin())
        best = max(best, (int(along[a] - along[b]), a, b))
    return best[0], scores[best[1]], scores[best[2]]
