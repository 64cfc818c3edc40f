"""Disjoint pairs of items and the orders that rankings give them: what UNIF and its private forms look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_whole
from dprank.privacy.noise import SecureSource, require_source

__all__ = ["disjoint_pairs", "pair_signs"]


def disjoint_pairs(n_items: int, *, rng: np.random.Generator | SecureSource | None = None) -> NDArray[np.int64]:
    """floor(m / 2) disjoint pairs of items: a uniformly random pairing, or (0, 1), (2, 3), ... without `rng`.

    Parameters
    ----------
    n_items : int
        m, at least 2. If it is odd one item stays alone, a random one if the pairing is.
    rng : numpy.random.Generator or dprank.SECURE, optional

    Returns
    -------
    ndarray of int, shape (pairs, 2)

    Raises
    ------
    ValueError
        For fewer than two items, or what is no source of randomness.

    Examples
    --------
    >>> disjoint_pairs(5).tolist()
    [[0, 1], [2, 3]]
    """
    n_items = require_whole("n_items", n_items, 2)
    order = np.arange(n_items) if rng is None else require_source(rng).permutation(n_items)
    return order[: n_items // 2 * 2].reshape(-1, 2)


def pair_signs(positions: NDArray[Any], pairs: NDArray[np.int64]) -> NDArray[np.int8]:
    """+1 where a ranking puts the first item of a pair before the second, else -1.

    Parameters
    ----------
    positions : ndarray of int, shape (..., items)
    pairs : ndarray of int, shape (pairs, 2)

    Returns
    -------
    ndarray of int8, shape (..., pairs)

    Examples
    --------
    >>> pair_signs(np.array([[0, 1, 2, 3], [1, 0, 2, 3]]), disjoint_pairs(4)).tolist()
    [[1, 1], [-1, 1]]
    """
    return np.where(positions[..., pairs[:, 0]] < positions[..., pairs[:, 1]], np.int8(1), np.int8(-1))
