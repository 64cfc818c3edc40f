"""Inner loops of the search for events: where to cut the line, and a tree, that tell two samples apart; and which cell
each row is in.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["added", "counted", "cut", "extent", "grow", "leaves", "placed", "reached", "weighted"]


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cut(
    x: NDArray[np.float64], y: NDArray[np.float64], levels: NDArray[np.float64], atoms: int, met: int
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Where to cut the line, from two sorted samples: between all values if they are few, at most twice the `levels`.

    Parameters
    ----------
    x, y : ndarray of float, rising
    levels : ndarray of float, rising
        Shares of both samples together, in (0, 1), up to which they are cut where values are many.
    atoms, met : int
        Values at most that have a cell of their own, and times that each must have been met: those that tell the
        samples apart best.

    Returns
    -------
    edges : ndarray of float, rising
    ranks : ndarray of int, shape (3, edges + 1)
        Places of the cells upwards, downwards, and from the largest ratio of smoothed frequencies to the least.
    tallies : ndarray of int, shape (2, edges + 1)
        Values of either sample in every cell.

    Notes
    -----
    O(rows).
    """
    n = len(x) + len(y)
    both, values = np.empty(n), np.empty(n)
    ours, theirs = np.zeros(n, np.intp), np.zeros(n, np.intp)
    i = j = 0
    last = -1
    for at in range(n):
        if j == len(y) or (i < len(x) and x[i] <= y[j]):
            value, mine, i = x[i], 1, i + 1
        else:
            value, mine, j = y[j], 0, j + 1
        both[at] = value
        if at == 0 or value > both[at - 1]:
            last += 1
            values[last] = value
        ours[last] += mine
        theirs[last] += 1 - mine
    distinct = last + 1
    if distinct <= 2 * (len(levels) + 2):
        edges = values[1:distinct].copy()
    else:
        tried = np.empty(len(levels) + 2 * atoms + 4)
        for at in range(len(levels)):
            tried[at] = both[int(np.ceil(levels[at] * n)) - 1]
        size = len(levels)
        best, told = np.empty(atoms, np.intp), np.empty(atoms)
        found = 0
        for at in range(distinct):
            often = ours[at] + theirs[at]
            if often < met:
                continue
            telling = abs(ours[at] - theirs[at]) / np.sqrt(often)
            if found == atoms and telling <= told[atoms - 1]:
                continue
            place = min(found, atoms - 1)
            while place > 0 and told[place - 1] < telling:
                told[place], best[place] = told[place - 1], best[place - 1]
                place -= 1
            told[place], best[place] = telling, at
            found = min(found + 1, atoms)
        for at in range(found):
            tried[size], tried[size + 1] = values[best[at]], np.nextafter(values[best[at]], np.inf)
            size += 2
        # beyond the extremes of one sample lie the outputs that only the other can give
        tried[size], tried[size + 1] = x[0], y[0]
        tried[size + 2], tried[size + 3] = np.nextafter(x[-1], np.inf), np.nextafter(y[-1], np.inf)
        for at in range(1, size + 4):
            value, place = tried[at], at
            while place > 0 and tried[place - 1] > value:
                tried[place] = tried[place - 1]
                place -= 1
            tried[place] = value
        many, size = size + 4, 1
        for at in range(1, many):
            if tried[at] > tried[size - 1]:
                tried[size] = tried[at]
                size += 1
        edges = tried[:size].copy()
    cells = len(edges) + 1
    ranks, order, ratios = np.empty((3, cells), np.intp), np.empty(cells, np.intp), np.empty(cells)
    tallies = np.empty((2, cells), np.intp)
    i = j = 0
    for cell in range(cells):
        first, second = i, j
        while i < len(x) and (cell == len(edges) or x[i] < edges[cell]):
            i += 1
        while j < len(y) and (cell == len(edges) or y[j] < edges[cell]):
            j += 1
        tallies[0, cell], tallies[1, cell] = i - first, j - second
        ratio = (i - first + 0.5) / (j - second + 0.5)
        place = cell
        while place > 0 and ratios[place - 1] < ratio:
            ratios[place], order[place] = ratios[place - 1], order[place - 1]
            place -= 1
        ratios[place], order[place] = ratio, cell
    for cell in range(cells):
        ranks[0, cell], ranks[1, cell], ranks[2, order[cell]] = cell, cells - 1 - cell, cell
    return edges, ranks, tallies


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _place(value: float, edges: NDArray[np.float64], start: int, count: int) -> int:
    """How many of `count` rising edges, from `start` on, are not above a value: steps without a branch to guess."""
    if not count:
        return 0
    at = start
    while count > 1:
        half = count >> 1
        at += half if edges[at + half - 1] <= value else 0
        count -= half
    return at - start + int(edges[at] <= value)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def placed(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.intp]:
    """Of every value the cell between rising edges that it is in."""
    cells = np.empty(len(values), np.intp)
    for row in range(len(values)):
        cells[row] = _place(values[row], edges, 0, len(edges))
    return cells


@numba.njit(cache=True, nogil=True, error_model="numpy")
def reached(rows: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
    """How many of its rising thresholds, shape (cuts, features), every number reaches, shape (rows, features)."""
    cells = np.empty(rows.shape, np.intp)
    for column in range(rows.shape[1]):
        edges = thresholds[:, column].copy()
        for row in range(len(rows)):
            cells[row, column] = _place(rows[row, column], edges, 0, len(edges))
    return cells


@numba.njit(cache=True, nogil=True, error_model="numpy")
def leaves(rows: NDArray[np.float64], columns: NDArray[np.intp], least: NDArray[np.float64]) -> NDArray[np.intp]:
    """Leaf of every row in the tree whose nodes ask whether a column is `least` or more."""
    nodes = len(columns)
    cells = np.empty(len(rows), np.intp)
    for row in range(len(rows)):
        at = 0
        while at < nodes:
            at = 2 * at + 1 + int(rows[row, columns[at]] >= least[at])
        cells[row] = at - nodes
    return cells


@numba.njit(cache=True, nogil=True, error_model="numpy")
def added(
    rows: NDArray[np.float64],
    columns: NDArray[np.intp],
    starts: NDArray[np.intp],
    edges: NDArray[np.float64],
    ratios: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums over some columns of what each one's cell adds: column k has the edges from ``starts[k]`` on, and as many
    ratios and one more, from ``starts[k] + k`` on.
    """
    sums = np.zeros(len(rows))
    for k in range(len(columns)):
        count = starts[k + 1] - starts[k]
        for row in range(len(rows)):
            sums[row] += ratios[starts[k] + k + _place(rows[row, columns[k]], edges, starts[k], count)]
    return sums


@numba.njit(cache=True, nogil=True, error_model="numpy")
def weighted(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A weighted sum of every row, from the first column to the last."""
    sums = np.zeros(len(rows))
    for row in range(len(rows)):
        for column in range(len(weights)):
            sums[row] += rows[row, column] * weights[column]
    return sums


@numba.njit(cache=True, nogil=True, error_model="numpy")
def extent(rows: NDArray[np.float64], largest: bool) -> NDArray[np.float64]:
    """The largest number of every row, or the least; none is NaN."""
    found = rows[:, 0].copy()
    for row in range(len(rows)):
        for column in range(1, rows.shape[1]):
            value = rows[row, column]
            found[row] = value if (value > found[row]) == largest and value != found[row] else found[row]
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def counted(values: NDArray[np.float64], edges: NDArray[np.float64], ranks: NDArray[np.intp]) -> NDArray[np.int64]:
    """Values in the r first cells between rising edges, r = 1 .. cells - 1, by every order, a row of their ranks."""
    orders, cells = ranks.shape
    tally = np.zeros(cells, np.int64)
    for value in values:
        tally[_place(value, edges, 0, cells - 1)] += 1
    sums = np.zeros((orders, cells), np.int64)
    for order in range(orders):
        for cell in range(cells):
            sums[order, ranks[order, cell]] = tally[cell]
        for place in range(1, cells):
            sums[order, place] += sums[order, place - 1]
    return sums[:, : cells - 1]
