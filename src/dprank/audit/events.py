"""Events that tell two samples apart: outputs sorted into cells, in orders whose beginnings are worth betting on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from dprank.audit._cuts import (
    added,
    counted,
    counted_each,
    cut_each,
    grow,
    leaves,
    matched,
    ordered,
    placed,
    reached,
    weighted,
)
from dprank.audit._views import JOINT, TREE_ROWS, Rows, Views, Words, lowest_bit, named, views_of

__all__ = ["CATEGORIES", "SMOOTHING", "Event", "Partition", "Rows", "Words", "counts", "lowest_bit", "proposals"]

#: Most distinct outputs that are told apart one by one.
CATEGORIES = 2048
#: Levels of a tree, and cuts it tries on each feature.
DEPTH, CUTS = 3, 24
#: Most values with a cell of their own, and times that each must have been met.
ATOMS, MET = 16, 3
#: Rows that smooth the frequencies of a cell where log ratios of several features are added up.
SMOOTHING = 8
#: Shares of the sample at which a feature is cut.
_LEVELS = np.unique(np.r_[np.linspace(0, 1, 17), 2.0 ** -np.arange(1, 13), 1 - 2.0 ** -np.arange(1, 13)])


@dataclass(frozen=True, eq=False)
class Partition:
    """Outputs sorted into cells, and orders of the cells whose beginnings are events worth a look.

    Parameters
    ----------
    cells : callable
        The cell of every row, shape (rows,).
    ranks : ndarray of int, shape (orders, cells)
        Place of every cell in each order.
    name : callable
        Words for the event that keeps the cells of a mask, from names of the features.

    Examples
    --------
    >>> sides = Partition(lambda rows: (rows[:, 0] >= 0).astype(int), np.array([[0, 1]]), lambda kept, names: "below 0")
    >>> sides.counts(np.array([[-1.0], [2.0], [-3.0]])).tolist()  # two rows in the first cell
    [[2]]
    """

    cells: Callable[[Rows], NDArray[np.intp]]
    ranks: NDArray[np.intp]
    name: Callable[[NDArray[np.bool_], Sequence[str]], str]

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """Rows in the r first cells of every order, r = 1 .. cells - 1, shape (orders, cells - 1)."""
        return ordered(np.bincount(self.cells(rows), minlength=self.ranks.shape[1]), self.ranks)


@dataclass(frozen=True, eq=False)
class Event:
    """The first cells of a partition in one of its orders, or all the others.

    Parameters
    ----------
    partition : Partition
    order : int
        Row of its `ranks`.
    size : int
        1 .. cells - 1.
    swapped : bool
        Whether the event is made of the others, because the second law makes more of them.

    Examples
    --------
    >>> sides = Partition(lambda rows: (rows[:, 0] >= 0).astype(int), np.array([[0, 1]]), lambda kept, names: "below 0")
    >>> below = Event(sides, order=0, size=1, swapped=False)  # the first cell
    >>> below.holds(np.array([[-1.0], [2.0]])).tolist(), below.describe()
    ([True, False], 'below 0')
    """

    partition: Partition
    order: int
    size: int
    swapped: bool

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which cells it is made of, shape (cells,)."""
        return (self.partition.ranks[self.order] < self.size) != self.swapped

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether it happened, row by row."""
        return self.kept[self.partition.cells(rows)]

    def describe(self, names: Sequence[str] = ()) -> str:
        """In words."""
        return self.partition.name(self.kept, names)


def proposals(p: Rows, q: Rows, *, bits: bool = True) -> list[Partition]:
    """Partitions learned from two samples.

    Parameters
    ----------
    p, q : ndarray of float, shape (rows, features)
        Features of releases from two neighbouring data sets, finite.
    bits : bool
        Whether to look at the lowest set bits of floats.

    Returns
    -------
    list of Partition
        Whole outputs where few are distinct; every feature, differences, the sum, least and largest, Fisher's
        discriminant, and the lowest set bit of floats, cut at shared quantiles and at single values that tell the
        samples apart; the likelihood ratio that independent features would have; and a tree of three levels. Cells are
        ordered by how much likelier the first law makes them: by Neyman and Pearson the beginnings of the true order
        are the best events that a partition has. Intervals are ordered by place as well, where nothing has to be
        learned.

    Notes
    -----
    O(views rows log rows), of about 3 views a feature.

    Examples
    --------
    >>> partitions = proposals(np.full((8, 1), 3.0), np.full((8, 1), 4.0))
    >>> Event(partitions[0], order=0, size=1, swapped=False).describe(["the release"])
    'the release < 4'
    """
    p, q = np.ascontiguousarray(p), np.ascontiguousarray(q)
    lines = _cut_up(views_of(p, q, bits), p, q)
    columns = [intervals for intervals in lines if intervals.number < p.shape[1]]
    ratio = _ratio(columns)
    found = [_whole(p, q), *lines, *(_cut_up(ratio, p, q) if ratio else ()), _tree(p, q)]
    return [partition for partition in found if partition]


def counts(partitions: Sequence[Partition], rows: Rows) -> list[NDArray[np.int64]]:
    """`Partition.counts` of each, those of one family of views at once.

    Examples
    --------
    >>> p, q = (np.random.default_rng(seed).normal(size=(50, 2)) for seed in (1, 2))
    >>> partitions = proposals(p, q)
    >>> all(np.array_equal(*both) for both in zip(counts(partitions, p), (one.counts(p) for one in partitions)))
    True
    """
    rows = np.ascontiguousarray(rows)
    families: dict[int, list[NDArray[np.int64]]] = {}
    found = []
    for partition in partitions:
        if not isinstance(partition, _Intervals):
            found.append(partition.counts(rows))
            continue
        key = id(partition.cuts)
        if key not in families:
            families[key] = partition.cuts.counts(rows)
        found.append(families[key][partition.number])
    return found


# --- partitions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Ratio:
    """Log likelihood ratio that some features would have if they were independent, as `added` takes it."""

    columns: NDArray[np.intp]
    starts: NDArray[np.intp]
    edges: NDArray[np.float64]
    ratios: NDArray[np.float64]

    def __call__(self, rows: Rows, which: slice = slice(None)) -> NDArray[np.float64]:
        """Shape (1, rows)."""
        return added(rows, self.columns, self.starts, self.edges, self.ratios)[None]

    def name(self, number: int, names: Sequence[str]) -> str:
        """In words."""
        return f"the summed log ratio of {len(self.columns)} outputs"


def _ratio(columns: Sequence[_Intervals]) -> _Ratio | None:
    """Over the features that clearly differ, if they are two or more."""
    if len(columns) < 2:
        return None
    a, b = np.concatenate([intervals.tallies for intervals in columns], axis=1)
    logs, squares = np.log((a + SMOOTHING) / (b + SMOOTHING)), (a - b) ** 2 / np.maximum(a + b, 1)
    places = [slice(*ends) for ends in pairwise(accumulate((len(it.edges) + 1 for it in columns), initial=0))]
    sizes = ((place, place.stop - place.start) for place in places)
    excess = [squares[place].sum() - size - 3 * (2 * size) ** 0.5 for place, size in sizes]
    telling = [at for at in np.argsort(excess, kind="stable")[::-1][:JOINT] if excess[at] > 0]
    if len(telling) < 2:
        return None
    chosen = [columns[at] for at in telling]
    return _Ratio(
        np.array([intervals.number for intervals in chosen], np.intp),
        np.cumsum([0, *(len(intervals.edges) for intervals in chosen)], dtype=np.intp),
        np.concatenate([intervals.edges for intervals in chosen]),
        np.concatenate([logs[places[at]] for at in telling]),
    )


def _learned(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Place of every cell, from the largest ratio of its smoothed frequencies to the least."""
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(-np.log((first + 0.5) / (second + 0.5)), kind="stable")] = np.arange(len(first))
    return rank


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Views, each cut into intervals, as `cut_each` returns them."""

    views: Views | _Ratio
    starts: NDArray[np.intp]
    edges: NDArray[np.float64]
    ranks: NDArray[np.intp]
    tallies: NDArray[np.intp]

    def counts(self, rows: Rows) -> list[NDArray[np.int64]]:
        """Of every view the rows in the r first cells of every order."""
        found, starts = counted_each(self.views(rows), self.starts, self.edges, self.ranks), (3 * self.starts).tolist()
        return [found[start:stop].reshape(3, -1) for start, stop in pairwise(starts)]


class _Intervals(Partition):
    """Cells between rising `edges` of one of the views, and how often each was met in the two samples: `tallies`, two
    rows. What is in no bet is not made.
    """

    def __init__(self, cuts: _Cuts, number: int) -> None:
        self.cuts, self.number = cuts, number

    @property
    def edges(self) -> NDArray[np.float64]:
        return self.cuts.edges[self.cuts.starts[self.number] : self.cuts.starts[self.number + 1]]

    @property
    def ranks(self) -> NDArray[np.intp]:
        return self._own(self.cuts.ranks, 3)

    @property
    def tallies(self) -> NDArray[np.intp]:
        return self._own(self.cuts.tallies, 2)

    def _own(self, line: NDArray[np.intp], rows: int) -> NDArray[np.intp]:
        first, last = (int(self.cuts.starts[at]) + at for at in (self.number, self.number + 1))
        return line[rows * first : rows * last].reshape(rows, -1)

    def cells(self, rows: Rows) -> NDArray[np.intp]:
        return placed(self._seen(rows), self.edges)

    def name(self, kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        return f"{self.cuts.views.name(self.number, names)} {_intervals(kept, self.edges)}"

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        return counted(self._seen(rows), self.edges, self.ranks)

    def _seen(self, rows: Rows) -> NDArray[np.float64]:
        """What the view makes of every row."""
        return self.cuts.views(np.ascontiguousarray(rows), slice(self.number, self.number + 1))[0]


def _cut_up(views: Views | _Ratio, p: Rows, q: Rows) -> list[_Intervals]:
    """Intervals of every view that varies, ordered by likelihood ratio, upwards and downwards."""
    x, y = views(p), views(q)
    x.sort(axis=1)
    y.sort(axis=1)
    cuts = _Cuts(views, *cut_each(x, y, _LEVELS[1:-1], ATOMS, MET))
    return [_Intervals(cuts, at) for at, (start, stop) in enumerate(pairwise(cuts.starts.tolist())) if start < stop]


def _intervals(kept: NDArray[np.bool_], edges: NDArray[np.float64]) -> str:
    """The cells kept, as intervals."""
    starts = np.flatnonzero(kept & ~np.r_[False, kept[:-1]])
    stops = np.flatnonzero(kept & ~np.r_[kept[1:], False])
    parts = []
    for start, stop in zip(starts, stops, strict=True):
        low = f">= {edges[start - 1] + 0.0:.4g}" if start > 0 else ""  # not -0
        high = f"< {edges[stop] + 0.0:.4g}" if stop < len(edges) else ""
        single = low and high and edges[stop] == np.nextafter(edges[start - 1], np.inf)
        parts.append(f"= {edges[start - 1]:.4g}" if single else " and ".join(filter(None, (low, high))))
    shown = " or ".join(parts[:3])
    return shown + (f" or in {len(parts) - 3} more intervals" if len(parts) > 3 else "")


def _whole(p: Rows, q: Rows) -> Partition | None:
    """Every distinct output a cell, the unseen in one of their own, if there are few."""
    if p.shape[1] == 1:
        return None
    # equal rows get equal numbers, others hardly ever do
    weights = _weights(p.shape[1])

    def number(rows: Rows) -> NDArray[np.float64]:
        return weighted(np.ascontiguousarray(rows), weights)

    both = np.concatenate([p, q])
    numbers = number(both)
    rising = np.sort(numbers)
    new = np.append(True, rising[1:] != rising[:-1])
    if not 1 < np.count_nonzero(new) <= min(CATEGORIES, len(both) // 4):
        return None
    values = rising[new]

    def cells(rows: Rows) -> NDArray[np.intp]:
        return matched(number(rows), values)

    tallies = [np.bincount(cells(rows), minlength=len(values) + 1) for rows in (p, q)]

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        first = np.unique(numbers, return_index=True)[1]
        outputs = [tuple(float(v) for v in both[row]) for row in first[np.flatnonzero(kept[:-1])[:3]]]
        more = int(kept[:-1].sum()) - len(outputs)
        text = "the output is one of " + ", ".join(f"({', '.join(f'{v:.4g}' for v in row)})" for row in outputs)
        return text + (f" and {more} more" if more else "")

    return Partition(cells, _learned(*tallies)[None], words)


@cache
def _weights(features: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).random(features)


def _tree(p: Rows, q: Rows) -> Partition:
    """Leaves of the greedy tree that raises the chi-square distance of the two samples most."""
    learned = np.concatenate([p[:TREE_ROWS], q[:TREE_ROWS]])
    shares = np.arange(1, CUTS + 1) * (len(learned) - 1) // (CUTS + 1)
    thresholds = np.sort(learned, axis=0)[shares]
    columns, cut_at = np.zeros((2, 2**DEPTH - 1), np.intp)
    grow(reached(learned, thresholds), min(len(p), TREE_ROWS), CUTS, columns, cut_at)
    least = thresholds[cut_at, columns]

    def cells(rows: Rows) -> NDArray[np.intp]:
        return leaves(np.ascontiguousarray(rows), columns, least)

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        over = ", ".join(named(names, column) for column in sorted(set(columns.tolist())))
        return f"{int(kept.sum())} of {len(kept)} leaves of a tree over {over}"

    tallies = [np.bincount(cells(side), minlength=2**DEPTH) for side in (p, q)]
    return Partition(cells, _learned(*tallies)[None], words)
