"""What voters sent of rankings, checked and counted: it comes from devices that nobody trusts."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank.aggregation.matrix import upper
from dprank.data.ballots import as_orders
from dprank.privacy.noise import SecureSource, Source
from dprank.privacy.randomized_response import GRAIN, randomise
from dprank.privacy.reports import require_reports

__all__ = ["completed", "is_full", "net_wins"]


def require_votes(positions: ArrayLike, n_items: int) -> NDArray[Any]:
    """Refuse what is not at least one order of so many items, with or without ties and gaps.

    Examples
    --------
    >>> require_votes([[0, 1], [1, 1], [-1, 0]], 2).shape
    (3, 2)
    >>> require_votes([[0, 1], [1, 0]], 3)
    Traceback (most recent call last):
        ...
    ValueError: positions are no table; at least one row of n_items = 3 places is needed
    """
    table = as_orders("positions", positions)
    if table.shape[1] != n_items or not len(table):
        raise ValueError(f"positions are no table; at least one row of n_items = {n_items} places is needed")
    return table


def is_full(places: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows are rankings of all items, without ties and gaps; rows as of `as_orders`.

    Examples
    --------
    >>> is_full(np.array([[1, 0, 2], [0, 1, 1], [-1, 0, 1]])).tolist()
    [True, False, False]
    """
    # places have no gaps: the last one is there only if all others are, in as many items
    return np.asarray(places.max(axis=1) == places.shape[1] - 1)


def completed(places: NDArray[Any], rng: Source) -> NDArray[Any]:
    """Full rankings, each of which keeps every pair that a row orders, and orders every other one by a fair coin.

    Tied items in random order; items that are not ranked in random order before all others, or behind all others. The
    mean of the ranking over these coins says of every pair what the row says of it: nothing, if that is nothing.

    Parameters
    ----------
    places : ndarray of int, shape (voters, items)
        As of `as_orders`.
    rng : numpy.random.Generator or dprank.SECURE
        `SECURE` tosses the same coins for every row; a generator none, where all rows are full.

    Notes
    -----
    O(voters * items * log(items)) time.

    Examples
    --------
    >>> rankings = completed(np.array([[0, -1, 1]] * 99), np.random.default_rng(1))
    >>> sorted({tuple(row) for row in rankings.tolist()})  # the second item is last, or first
    [(0, 2, 1), (1, 0, 2)]
    """
    if not isinstance(rng, SecureSource) and is_full(places).all():
        return places
    voters, m = places.shape
    if isinstance(rng, SecureSource):
        # two words are equal once in 2^64: a pair would be less than fair by that, and no less private
        words = np.frombuffer(secrets.token_bytes(8 * voters * m), np.uint64).reshape(voters, m)
    else:
        words = rng.integers(0, 1 << 64, (voters, m), np.uint64)
    front = randomise(np.ones(voters, np.int8), GRAIN // 2, rng) > 0
    tiers = np.where(places < 0, np.where(front, -1, m)[:, None], places)
    return np.argsort(np.lexsort((words, tiers), axis=-1), axis=1)


def require_signs(reports: Any, n_pairs: int) -> NDArray[np.int8]:
    """Refuse what are no vectors of so many signs.

    Examples
    --------
    >>> require_signs([[1, -1, 1]], 3).tolist()
    [[1, -1, 1]]
    """
    needed = f"{n_pairs} signs, 1 or -1, are"
    return require_reports(reports, n_pairs, "iu", lambda t: (t == 1) | (t == -1), needed).astype(np.int8)


def require_directions(reports: Any, dimension: int) -> NDArray[np.float64]:
    """Refuse what are no unit vectors of so many dimensions.

    Examples
    --------
    >>> require_directions([[0.6, 0.8]], 2).tolist()
    [[0.6, 0.8]]
    """

    def fits(table: NDArray[Any]) -> Any:
        return abs(np.linalg.norm(table, axis=1) - 1) < 1e-9

    return require_reports(reports, dimension, "iuf", fits, f"{dimension} numbers of norm 1 are").astype(float)


def net_wins(lists: NDArray[np.int64], n_items: int) -> NDArray[np.float64]:
    """How many lists put i before j, less how many j before i, for all pairs i < j; items not in a list count for 0.

    Examples
    --------
    >>> net_wins(np.array([[0, 1], [0, 1], [2, 0]]), 3).tolist()  # of the pairs 01, 02, 12
    [2.0, -1.0, 0.0]
    """
    first, second = upper(lists.shape[1])
    before = np.zeros(n_items**2)
    for a, b in zip(first, second, strict=True):
        before += np.bincount(lists[:, a] * n_items + lists[:, b], minlength=n_items**2)
    table = before.reshape(n_items, n_items)
    return (table - table.T)[upper(n_items)]
