"""Inner loop of the search for events: a tree that tells two samples apart."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["grow"]


@numba.njit(cache=True, nogil=True)
def grow(
    reached: NDArray[np.intp], ours: int, cuts: int, columns: NDArray[np.intp], cut_at: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Cut every node of a tree, level by level, where the chi-square distance of two samples grows most.

    Parameters
    ----------
    reached : ndarray of int, shape (rows, features)
        Thresholds, 0 .. cuts, that a row reaches of every feature.
    ours : int
        Rows of the first sample, which come first.
    cuts : int
        Thresholds of a feature.
    columns, cut_at : ndarray of int, shape (nodes,)
        Filled in: feature and threshold of every node; the children of node i are 2 i + 1 and 2 i + 2.

    Returns
    -------
    ndarray of int, shape (rows,)
        Node below the last level of every row.

    Notes
    -----
    O(rows features) a level, and nodes features cuts.
    """
    n, features = reached.shape
    node = np.zeros(n, np.intp)
    met = np.zeros((features, cuts + 1, 2), np.intp)
    for at in range(len(columns)):
        met[:] = 0
        for row in range(n):
            if node[row] == at:
                for column in range(features):
                    met[column, reached[row, column], int(row >= ours)] += 1
        best = -1.0
        for column in range(features):
            a, b, c, d = 0, 0, 0, 0
            for cut in range(cuts + 1):
                c, d = c + met[column, cut, 0], d + met[column, cut, 1]
            for cut in range(cuts):
                a, b = a + met[column, cut, 0], b + met[column, cut, 1]
                c, d = c - met[column, cut, 0], d - met[column, cut, 1]
                gain = (c - d) ** 2 / max(c + d, 1) + (a - b) ** 2 / max(a + b, 1)
                if gain > best:
                    best, columns[at], cut_at[at] = gain, column, cut
        for row in range(n):
            if node[row] == at:
                node[row] = 2 * at + 1 + (reached[row, columns[at]] > cut_at[at])
    return node
