"""The pairwise matrix of a set of rankings, and the Kemeny score of an order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_floats
from dprank.data.kendall import ranking
from dprank.data.rankings import Rankings, require_rankings

__all__ = ["kemeny_score", "pairwise_fractions", "shrink", "upper"]

#: How far an entry may be from [0, 1], or a pair of entries from the sum 1.
ROUNDING = 1e-9
_upper_of_few = lru_cache(64)(np.triu_indices)


def upper(n: int) -> Any:
    """What `numpy.triu_indices` gives above the diagonal, made once where there are few items: not to be written to.

    Examples
    --------
    >>> first, second = upper(3)
    >>> first.tolist(), second.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    return _upper_of_few(n, 1) if n <= 64 else np.triu_indices(n, 1)


def pairwise_fractions(rankings: Rankings) -> NDArray[np.float64]:
    """Fraction of voters that put each item (row) before each other (column): the paper's w.

    Returns
    -------
    ndarray of float, shape (items, items)
        ``w[i, j] + w[j, i] = 1`` off the diagonal, which is 0. O(voters * items^2).

    Raises
    ------
    ValueError
        Where there is no voter.

    Examples
    --------
    >>> from dprank import Rankings, pairwise_fractions
    >>> votes = Rankings([[0, 1], [0, 1], [1, 0], [0, 1]], ["roads", "schools"])
    >>> pairwise_fractions(votes).tolist()
    [[0.0, 0.75], [0.25, 0.0]]
    """
    return require_rankings(rankings, least=1).pairwise() / len(rankings)


def require_fractions(w: ArrayLike) -> NDArray[np.float64]:
    """A matrix that meets the probability constraints, as the paper asks of every input.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        Entries in [0, 1], ``w[i, j] + w[j, i] = 1`` off the diagonal; the diagonal is not read. At least two items.

    Returns
    -------
    ndarray of float, shape (items, items)
        A copy whose diagonal is 0, and whose two entries of a pair sum to 1 exactly.

    Raises
    ------
    ValueError
        Naming the first entry at fault.

    Examples
    --------
    >>> require_fractions([[9, 0.75], [0.25, 9]]).tolist()
    [[0.0, 0.75], [0.25, 0.0]]
    >>> require_fractions([[0, 0.75], [0.75, 0]])
    Traceback (most recent call last):
        ...
    ValueError: w[0, 1] + w[1, 0] is not 1; the fractions of a pair must sum to 1
    """
    matrix = require_matrix(w)
    off = ~np.eye(len(matrix), dtype=bool)
    if (wrong := off & ~((matrix >= -ROUNDING) & (matrix <= 1 + ROUNDING))).any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(f"w[{i}, {j}] is out of range; a fraction in [0, 1] is needed: `shrink` makes them")
    if (wrong := off & ~(abs(matrix + matrix.T - 1) <= ROUNDING)).any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(f"w[{i}, {j}] + w[{j}, {i}] is not 1; the fractions of a pair must sum to 1")
    upper = np.triu(np.clip(matrix, 0, 1), 1)
    return upper + np.tril(1 - upper.T, -1)


def require_matrix(w: ArrayLike) -> NDArray[np.float64]:
    """A square matrix of numbers from -1e300 to 1e300, at least 2 by 2; a copy whose diagonal is 0.

    Examples
    --------
    >>> require_matrix([[9, 3], [-1, 9]]).tolist()
    [[0.0, 3.0], [-1.0, 0.0]]
    """
    try:
        matrix = as_floats("w", w).copy()
    except ValueError:
        raise ValueError(f"w = <{type(w).__name__}> is no matrix of numbers: `pairwise_fractions` makes one") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"w has shape {matrix.shape}; a square matrix of at least two items is needed")
    np.fill_diagonal(matrix, 0)
    if (wrong := ~(abs(matrix) <= 1e300)).any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(f"w[{i}, {j}] is out of range; a finite number, at most 1e300 in size, is needed")
    return matrix


def kemeny_score(order: ArrayLike, w: ArrayLike) -> float:
    """Cost of an order: the sum, over all pairs, of the weight of those who would have them the other way round.

    Parameters
    ----------
    order : array_like of int, shape (items,)
        Item codes from best to worst.
    w : array_like of float, shape (items, items)
        ``w[i, j]`` is the weight of i before j. Noisy matrices are allowed: any finite numbers.

    Returns
    -------
    float
        For the fractions of a set of rankings, their average Kendall tau distance from the order. O(items^2).

    Examples
    --------
    >>> from dprank import kemeny_score
    >>> w = [[0, 0.75], [0.25, 0]]
    >>> kemeny_score([0, 1], w), kemeny_score([1, 0], w)
    (0.25, 0.75)
    """
    matrix = require_matrix(w)
    rank = require_order(order, len(matrix))
    return float(np.tril(matrix[np.ix_(rank, rank)], -1).sum())


def require_order(order: Any, n_items: int) -> NDArray[np.int64]:
    """Refuse what is no order of the items 0 .. n_items - 1.

    Examples
    --------
    >>> require_order([1, 0], 2).tolist()
    [1, 0]
    >>> require_order([1, 0], 3)
    Traceback (most recent call last):
        ...
    ValueError: order ranks 2 items; w has 3
    """
    row = ranking("order", order).astype(np.int64)
    if len(row) != n_items:
        raise ValueError(f"order ranks {len(row)} items; w has {n_items}")
    return row


def shrink(w: ArrayLike) -> NDArray[np.float64]:
    """A matrix that meets the probability constraints, with the costs of all orders in the same proportion.

    Clipping noisy fractions to [0, 1] changes which order is best; this does not. Kemeny scores of two orders differ in
    the result by what they differ in the input, divided by one number for all.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        Any finite numbers; only ``w[i, j] - w[j, i]`` matters.

    Returns
    -------
    ndarray of float, shape (items, items)

    Examples
    --------
    >>> shrink([[0, 3.0], [-1.0, 0]]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    matrix = require_matrix(w)
    margin = matrix - matrix.T
    shrunk = 0.5 + margin / max(2 * abs(margin).max(), 2.0)
    np.fill_diagonal(shrunk, 0)
    return require_fractions(shrunk)
