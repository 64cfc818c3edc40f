"""Kendall tau distance: how many pairs two rankings order differently."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray


def kendall_distance(a: ArrayLike, b: ArrayLike) -> int:
    """Pairs of items that two rankings put in opposite orders.

    Parameters
    ----------
    a, b : array_like of int, shape (items,)
        Positions 0 .. items - 1 of the items, each used once.

    Returns
    -------
    int
        0 for equal rankings, items (items - 1) / 2 for opposite ones. O(items log items), by merge sort.

    Examples
    --------
    >>> kendall_distance([0, 1, 2], [2, 0, 1])
    2
    """
    return int(kendall_distances(_row("a", a), b)[0])


def kendall_distances(positions: ArrayLike, centre: ArrayLike) -> NDArray[np.int64]:
    """Kendall tau distance of many rankings from one.

    Parameters
    ----------
    positions : array_like of int, shape (rankings, items)
    centre : array_like of int, shape (items,)

    Returns
    -------
    ndarray of int, shape (rankings,)
        O(rankings * items * log(items)) time.
    """
    middle = as_positions("centre", _row("centre", centre))[0]
    rows = as_positions("positions", positions)
    if rows.shape[1] != len(middle):
        raise ValueError(f"positions rank {rows.shape[1]} items, centre ranks {len(middle)}: they must agree")
    return _inversions(np.ascontiguousarray(rows[:, np.argsort(middle)]))


def as_positions(name: str, values: ArrayLike) -> NDArray[Any]:
    """Rows that are rankings: each uses every position 0 .. items - 1 once.

    Raises
    ------
    ValueError
        Naming the first row that does not.
    """
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] < 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} has shape {array.shape} of {array.dtype}; rows of integer positions are needed")
    bad = np.flatnonzero((np.sort(array, axis=1) != np.arange(array.shape[1])).any(axis=1))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] = {array[bad[0]].tolist()}; a ranking uses every position 0 .. {array.shape[1] - 1} once"
        )
    return array.astype(np.min_scalar_type(array.shape[1] - 1))


def _row(name: str, ranking: ArrayLike) -> NDArray[Any]:
    array = np.asarray(ranking)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; one ranking is needed")
    return array[None]


@numba.njit(cache=True, error_model="numpy")
def _inversions(rows):
    m = rows.shape[1]
    out = np.zeros(rows.shape[0], np.int64)
    for r in range(rows.shape[0]):
        source, target = rows[r].copy(), np.empty_like(rows[r])
        width = 1
        while width < m:
            for low in range(0, m, 2 * width):
                middle, high = min(low + width, m), min(low + 2 * width, m)
                i, j = low, middle
                for k in range(low, high):
                    if i < middle and (j >= high or source[i] < source[j]):
                        target[k] = source[i]
                        i += 1
                    else:
                        target[k] = source[j]
                        j += 1
                        out[r] += middle - i
            source, target = target, source
            width *= 2
    return out
