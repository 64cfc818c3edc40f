"""Ballots of one voter, all of them, and neighbours of ballots under every adjacency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_whole
from dprank.data.ballots import HEAVIEST, Ballots, as_orders
from dprank.privacy.guarantee import Adjacency

__all__ = ["BallotNeighbours", "OneBallot", "all_orders"]


def all_orders(n_items: int) -> NDArray[np.int64]:
    """Every order of some of the items, with or without ties.

    Parameters
    ----------
    n_items : int
        From 1 to 6: there are 2, 6, 26, 150, 1,082 and 9,366 of them.

    Returns
    -------
    ndarray of int, shape (orders, items)
        Places without gaps, -1 for an item that is not ranked.

    Examples
    --------
    >>> all_orders(2).tolist()
    [[-1, -1], [-1, 0], [0, -1], [0, 0], [0, 1], [1, 0]]
    """
    n_items = require_whole("n_items", n_items, 1, 6)
    rows = np.array(list(product(range(-1, n_items), repeat=n_items)))
    return np.unique(as_orders("places", rows).astype(np.int64), axis=0)


@dataclass(frozen=True)
class BallotNeighbours:
    """Neighbours of ballots: one voter's replaced by any other, or one added or removed.

    Parameters
    ----------
    adjacency : {"replace", "add_remove"}
    max_weight : int
        Weights tried are 0, 1 and this; 1 to 2^20.

    Examples
    --------
    >>> data = Ballots([[0, 1]], "ab")
    >>> [other.places.tolist()[0] for other in BallotNeighbours().all(data) if other.weight[0]]
    [[-1, -1], [-1, 0], [0, -1], [0, 0], [1, 0]]
    """

    adjacency: Adjacency = "replace"
    max_weight: int = 1

    def __post_init__(self) -> None:
        require_whole("max_weight", self.max_weight, 1, HEAVIEST)

    def all(self, data: Ballots) -> Iterator[Ballots]:
        """Every neighbour of these weights: O(voters * orders), or O(voters + orders)."""
        old = list(zip(data.places.tolist(), data.weight.tolist(), strict=True))
        new = [(row, weight) for weight in sorted({0, 1, self.max_weight}) for row in all_orders(data.n_items).tolist()]
        if self.adjacency == "add_remove":
            yield from (_ballots([*old[:v], *old[v + 1 :]], data) for v in range(len(old)))
            yield from (_ballots([*old, one], data) for one in new)
            return
        for v, own in enumerate(old):
            yield from (_ballots([*old[:v], one, *old[v + 1 :]], data) for one in new if one != own)

    def draw(self, data: Ballots, rng: np.random.Generator) -> Ballots:
        """One neighbour at random: every second new ballot is heaviest and full, or a given one turned round."""
        old = list(zip(data.places.tolist(), data.weight.tolist(), strict=True))
        if self.adjacency == "add_remove" and (not old or rng.random() < 0.5):
            return _ballots([*old, self._drawn(data.n_items, rng)], data)
        if not old:
            return data
        v = int(rng.integers(len(old)))
        rest = [*old[:v], *old[v + 1 :]]
        if self.adjacency == "add_remove":
            return _ballots(rest, data)
        new = self._drawn(data.n_items, rng)
        if rng.random() < 0.5:
            places = np.array(old[v][0])
            new = (np.where(places < 0, -1, places.max() - places).tolist(), self.max_weight)
        return _ballots([*old[:v], new, *old[v + 1 :]], data)

    def _drawn(self, n_items: int, rng: np.random.Generator) -> tuple[list[int], int]:
        if rng.random() < 0.5:
            return rng.permutation(n_items).tolist(), self.max_weight
        return rng.integers(-1, n_items, n_items).tolist(), int(rng.integers(0, self.max_weight + 1))


@dataclass(frozen=True)
class OneBallot:
    """Neighbours of the ballot of one voter, as places, under local privacy: all others of as many items.

    Examples
    --------
    >>> [other.tolist() for other in OneBallot().all([0, 1])]
    [[-1, -1], [-1, 0], [0, -1], [0, 0], [1, 0]]
    """

    def all(self, data: Any) -> Iterator[NDArray[np.int64]]:
        """Every other order, full or not."""
        given = as_orders("data", [data])[0].tolist()
        yield from (new for new in all_orders(len(given)) if new.tolist() != given)

    def draw(self, data: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """One order at random, full every second time."""
        m = len(data)
        if rng.random() < 0.5:
            return rng.permutation(m)
        return as_orders("data", [rng.integers(-1, m, m)])[0].astype(np.int64)


def _ballots(rows: Sequence[tuple[list[int], int]], like: Ballots) -> Ballots:
    places = np.array([row for row, _ in rows], np.int64).reshape(-1, like.n_items)
    return Ballots(places, like.items, [weight for _, weight in rows])
