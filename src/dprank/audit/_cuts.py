"""Inner loops of the search for events: where to cut the line, and a tree, that tell two samples apart; and which cell
each row is in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit

__all__ = [
    "added",
    "chances",
    "counted",
    "counted_each",
    "cut",
    "cut_each",
    "extent",
    "grow",
    "leaves",
    "looked",
    "matched",
    "ordered",
    "placed",
    "reached",
    "standardised",
    "tame",
    "weighted",
]


@njit(cache=True, nogil=True, error_model="numpy")
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
        Of a tree whose levels are full. Filled in: feature and threshold of every node; the children of node i are
        2 i + 1 and 2 i + 2.

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
    start = 0
    while start < len(columns):
        met = np.zeros((start + 1, features, cuts + 1, 2), np.intp)  # of all nodes of a level
        for row in range(n):
            for column in range(features):
                met[node[row] - start, column, reached[row, column], int(row >= ours)] += 1
        for at in range(start, 2 * start + 1):
            best = -1.0
            for column in range(features):
                own = met[at - start, column]
                a, b, c, d = 0, 0, 0, 0
                for cut in range(cuts + 1):
                    c, d = c + own[cut, 0], d + own[cut, 1]
                for cut in range(cuts):
                    a, b = a + own[cut, 0], b + own[cut, 1]
                    c, d = c - own[cut, 0], d - own[cut, 1]
                    gain = (c - d) ** 2 / max(c + d, 1) + (a - b) ** 2 / max(a + b, 1)
                    if gain > best:
                        best, columns[at], cut_at[at] = gain, column, cut
        for row in range(n):
            at = node[row]
            node[row] = 2 * at + 1 + (reached[row, columns[at]] > cut_at[at])
        start = 2 * start + 1
    return node


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def cut_each(
    x: NDArray[np.float64], y: NDArray[np.float64], levels: NDArray[np.float64], atoms: int, met: int
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """What `cut` returns of many pairs of samples, shape (pairs, rows), all in a line: pair k has the edges from
    ``starts[k]`` on, and three ranks and two tallies of one cell more, from ``3 * (starts[k] + k)`` on, and from
    ``2 * (starts[k] + k)``.
    """
    pairs = len(x)
    most = pairs * (2 * len(levels) + 2 * atoms + 8)
    starts, edges = np.zeros(pairs + 1, np.intp), np.empty(most)
    ranks, tallies = np.empty(3 * most, np.intp), np.empty(2 * most, np.intp)
    for k in range(pairs):
        own, places, met_by = cut(x[k], y[k], levels, atoms, met)
        start, cells = starts[k], len(own) + 1
        starts[k + 1] = start + len(own)
        edges[start : start + len(own)] = own
        for at in range(3 * cells):
            ranks[3 * (start + k) + at] = places[at // cells, at % cells]
        for at in range(2 * cells):
            tallies[2 * (start + k) + at] = met_by[at // cells, at % cells]
    cells = starts[pairs] + pairs
    return starts, edges[: starts[pairs]], ranks[: 3 * cells], tallies[: 2 * cells]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def placed(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.intp]:
    """Of every value the cell between rising edges that it is in."""
    cells = np.empty(len(values), np.intp)
    for row in range(len(values)):
        cells[row] = _place(values[row], edges, 0, len(edges))
    return cells


@njit(cache=True, nogil=True, error_model="numpy")
def reached(rows: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
    """How many of its rising thresholds, shape (cuts, features), every number reaches, shape (rows, features)."""
    cells = np.empty(rows.shape, np.intp)
    for column in range(rows.shape[1]):
        edges = thresholds[:, column].copy()
        for row in range(len(rows)):
            cells[row, column] = _place(rows[row, column], edges, 0, len(edges))
    return cells


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def weighted(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A weighted sum of every row, from the first column to the last."""
    sums = np.zeros(len(rows))
    for row in range(len(rows)):
        for column in range(len(weights)):
            sums[row] += rows[row, column] * weights[column]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def extent(rows: NDArray[np.float64], largest: bool) -> NDArray[np.float64]:
    """The largest number of every row, or the least; none is NaN."""
    found = rows[:, 0].copy()
    for row in range(len(rows)):
        for column in range(1, rows.shape[1]):
            value = rows[row, column]
            found[row] = value if (value > found[row]) == largest and value != found[row] else found[row]
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def counted(values: NDArray[np.float64], edges: NDArray[np.float64], ranks: NDArray[np.intp]) -> NDArray[np.int64]:
    """Values in the r first cells between rising edges, r = 1 .. cells - 1, by every order, a row of their ranks."""
    return ordered(_tally(values, edges, 0, ranks.shape[1] - 1), ranks)


@njit(cache=True, nogil=True, error_model="numpy")
def counted_each(
    values: NDArray[np.float64], starts: NDArray[np.intp], edges: NDArray[np.float64], ranks: NDArray[np.intp]
) -> NDArray[np.int64]:
    """What `counted` returns of many rows of values, all in a line: cuts as of `cut_each`, row k's counts from
    ``3 * starts[k]`` on.
    """
    found = np.empty(3 * starts[-1], np.int64)
    for k in range(len(values)):
        start, count = starts[k], starts[k + 1] - starts[k]
        tally = _tally(values[k], edges, start, count)
        sums = np.zeros(count + 1, np.int64)
        for order in range(3):
            first = 3 * (start + k) + order * (count + 1)
            for cell in range(count + 1):
                sums[ranks[first + cell]] = tally[cell]
            total = 0
            for place in range(count):
                total += sums[place]
                found[3 * start + order * count + place] = total
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _tally(values: NDArray[np.float64], edges: NDArray[np.float64], start: int, count: int) -> NDArray[np.int64]:
    """Values in every cell between rising edges, `count` from `start` on."""
    tally = np.zeros(count + 1, np.int64)
    for value in values:
        tally[_place(value, edges, start, count)] += 1
    return tally


@njit(cache=True, nogil=True, error_model="numpy")
def ordered(tally: NDArray[np.int64], ranks: NDArray[np.intp]) -> NDArray[np.int64]:
    """Of the r first cells, r = 1 .. cells - 1, by every order, a row of their ranks, the sum of the tallies."""
    orders, cells = ranks.shape
    sums = np.zeros((orders, cells), np.int64)
    for order in range(orders):
        for cell in range(cells):
            sums[order, ranks[order, cell]] = tally[cell]
        for place in range(1, cells):
            sums[order, place] += sums[order, place - 1]
    return sums[:, : cells - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def looked(rows: NDArray[np.float64], views: NDArray[np.intp], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers of every row, shape (views, rows), by the kind of each view and two columns: of kind 0 the first column,
    of 1 the difference of both, of 2 and 3 the least and the largest of the row, of 4 the sum weighted by `direction`,
    of 5 the sum; of another kind 0.
    """
    found = np.empty((len(views), len(rows)))
    for at in range(len(views)):
        kind, a, b = views[at, 0], views[at, 1], views[at, 2]
        if kind == 0:
            for row in range(len(rows)):
                found[at, row] = rows[row, a]
        elif kind == 1:
            for row in range(len(rows)):
                found[at, row] = rows[row, a] - rows[row, b]
        elif kind <= 3:
            found[at] = extent(rows, kind == 3)
        elif kind == 4:
            found[at] = weighted(rows, direction)
        elif kind == 5:
            found[at] = weighted(rows, np.ones(rows.shape[1]))
        else:
            found[at] = 0.0
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def matched(numbers: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Of every number its place among rising values, or how many these are."""
    found = np.empty(len(numbers), np.intp)
    for row in range(len(numbers)):
        at = _place(numbers[row], values, 0, len(values)) - 1
        found[row] = at if at >= 0 and values[at] == numbers[row] else len(values)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def tame(rows: NDArray[np.float64], nan: float, infinity: float) -> None:
    """Put what stands for it in the place of NaN, and of what lies beyond plus or minus infinity."""
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            rows[row, column] = nan if value != value else min(max(value, -infinity), infinity)


@njit(cache=True, nogil=True, error_model="numpy")
def standardised(
    p: NDArray[np.float64], q: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Standard deviations of the columns of two samples together, 1 for 0; the difference of the samples' means in
    these units; and what every number of either is above its mean.
    """
    features = p.shape[1]
    total, unit = np.zeros(features), np.zeros(features)
    for rows in (p, q):
        for row in range(len(rows)):
            for column in range(features):
                total[column] += rows[row, column]
    n = len(p) + len(q)
    for rows in (p, q):
        for row in range(len(rows)):
            for column in range(features):
                apart = rows[row, column] - total[column] / n
                unit[column] += apart * apart
    for column in range(features):
        deviation = np.sqrt(unit[column] / n)
        unit[column] = deviation if deviation != 0 else 1.0
    difference, own, other = np.zeros(features), p / unit, q / unit
    for scaled, sign in ((own, 1.0), (other, -1.0)):
        mean = np.zeros(features)
        for row in range(len(scaled)):
            for column in range(features):
                mean[column] += scaled[row, column]
        mean /= len(scaled)
        for row in range(len(scaled)):
            for column in range(features):
                scaled[row, column] -= mean[column]
        difference += sign * mean
    return unit, difference, own, other


@njit(cache=True, nogil=True, error_model="numpy")
def chances(high: NDArray[np.float64], low: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Chances of (x, y) = 00, 01, 10, 11, shape (4, events), where x and y are 1 with chances that are half a deviation
    below and above their shares of so many rows.
    """
    found = np.empty((4, len(high)))
    for at in range(len(high)):
        p = max(high[at] - 0.5 * np.sqrt(high[at] * (1 - high[at]) / rows), 0.0)
        q = min(low[at] + 0.5 * np.sqrt(low[at] * (1 - low[at]) / rows) + 0.5 / rows, 1.0)
        found[0, at], found[1, at] = (1 - p) * (1 - q), (1 - p) * q
        found[2, at], found[3, at] = p * (1 - q), p * q
    return found
