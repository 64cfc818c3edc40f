"""Events that tell two samples apart: outputs sorted into cells, in orders whose beginnings are worth betting on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dprank.audit._cuts import added, counted, cut, extent, grow, leaves, placed, reached, weighted

__all__ = ["CATEGORIES", "SMOOTHING", "Event", "Partition", "Rows", "View", "Words", "lowest_bit", "proposals"]

Rows = NDArray[np.float64]

#: Most distinct outputs that are told apart one by one.
CATEGORIES = 2048
#: Most features of which all differences are looked at, and most that are put together in one number.
PAIRED, JOINT = 6, 32
#: Levels of a tree, cuts it tries on each feature, and rows of each sample that it learns from.
DEPTH, CUTS, TREE_ROWS = 3, 24, 1 << 13
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

    @cached_property
    def orders(self) -> NDArray[np.intp]:
        """The cells, first ones first, shape (orders, cells)."""
        return np.argsort(self.ranks, axis=1)

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """Rows in the r first cells of every order, r = 1 .. cells - 1, shape (orders, cells - 1)."""
        tally = np.bincount(self.cells(rows), minlength=self.ranks.shape[1])
        return tally[self.orders].cumsum(axis=1)[:, :-1]


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
    columns = [(c, cuts) for c in range(p.shape[1]) if (cuts := _cut_up(*_column(c), p, q))]
    views = _views(p, q, bits) + _ratio(columns)
    found = [_whole(p, q), *(cuts for _, cuts in columns), *(_cut_up(*view, p, q) for view in views), _tree(p, q)]
    return [partition for partition in found if partition]


# --- views: one number of every row ----------------------------------------------------------------------------------

View = Callable[[Rows], NDArray[np.float64]]
Words = Callable[[Sequence[str]], str]


def _views(p: Rows, q: Rows, bits: bool) -> list[tuple[View, Words]]:
    """Of several features at once, and of the lowest bits."""
    features = p.shape[1]
    few = range(min(features, PAIRED))
    next_ones = ((a, a + 1) for a in range(min(features, JOINT) - 1))
    views = [_difference(a, b) for a, b in (combinations(few, 2) if features <= PAIRED else next_ones)]
    if features >= 2:
        views += [_sum(), _extent("the least", largest=False), _extent("the largest", largest=True)]
    return views + _projection(p, q) + [_bit(c) for c in few if bits and any(_has_bits(rows[:, c]) for rows in (p, q))]


def _column(c: int) -> tuple[View, Words]:
    return lambda rows: rows[:, c], lambda names: _named(names, c)


def _difference(a: int, b: int) -> tuple[View, Words]:
    return lambda rows: rows[:, a] - rows[:, b], lambda names: f"{_named(names, a)} - {_named(names, b)}"


def _sum() -> tuple[View, Words]:
    return lambda rows: rows.sum(axis=1), lambda names: "the sum"


def _extent(words: str, *, largest: bool) -> tuple[View, Words]:
    return lambda rows: extent(np.ascontiguousarray(rows), largest), lambda names: words


def _bit(c: int) -> tuple[View, Words]:
    return lambda rows: lowest_bit(rows[:, c]), lambda names: f"the lowest set bit of {_named(names, c)}"


def _has_bits(x: NDArray[np.float64]) -> bool:
    """Whether there are fractions, or zeros with a sign."""
    return bool((x != np.round(x)).any() or np.signbit(x[x == 0]).any())


def _projection(p: Rows, q: Rows) -> list[tuple[View, Words]]:
    """Fisher's discriminant: the direction in which the samples differ most for their spread, if any without noise."""
    p, q = p[:TREE_ROWS], q[:TREE_ROWS]
    with np.errstate(over="ignore", invalid="ignore"):
        unit = np.concatenate([p, q]).std(axis=0)
    unit = np.where(unit == 0, 1.0, unit)
    if not 2 <= p.shape[1] <= JOINT or not np.isfinite(unit).all():
        return []
    (mean, spread), (other, more) = _moments(p / unit), _moments(q / unit)
    direction = np.linalg.solve(spread + more + 1e-9 * np.eye(p.shape[1]), mean - other) / unit

    def view(rows: Rows) -> NDArray[np.float64]:
        return weighted(np.ascontiguousarray(rows), direction)

    return [(view, lambda names: "a weighted sum of the outputs")]


def _moments(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and covariances; what `numpy.cov` gives, in a third of its time."""
    mean = rows.mean(axis=0)
    apart = rows - mean
    return mean, np.dot(apart.T, apart) * np.true_divide(1, len(rows) - 1)


def _ratio(columns: list[tuple[int, _Intervals]]) -> list[tuple[View, Words]]:
    """Log likelihood ratio that the features would have if they were independent, over those that clearly differ."""
    if len(columns) < 2:
        return []
    tallies = [intervals.tallies for _, intervals in columns]
    excess = [((a - b) ** 2 / np.maximum(a + b, 1)).sum() - len(a) - 3 * (2 * len(a)) ** 0.5 for a, b in tallies]
    telling = [at for at in np.argsort(excess, kind="stable")[::-1][:JOINT] if excess[at] > 0]
    if len(telling) < 2:
        return []
    chosen = np.array([columns[at][0] for at in telling], np.intp)
    starts = np.cumsum([0, *(len(columns[at][1].edges) for at in telling)], dtype=np.intp)
    edges = np.concatenate([columns[at][1].edges for at in telling])
    ratios = np.concatenate([np.log(np.divide(*(tallies[at] + SMOOTHING))) for at in telling])

    def view(rows: Rows) -> NDArray[np.float64]:
        return added(np.ascontiguousarray(rows), chosen, starts, edges, ratios)

    return [(view, lambda names: f"the summed log ratio of {len(telling)} outputs")]


def lowest_bit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponent of the lowest set bit of doubles, the power of 2 of which each is an odd multiple.

    1024 for 0 and what is not finite, 1025 for -0.

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 6.0, 0.75, 0.0, -0.0])).tolist()  # 6 = 3 * 2^1, 0.75 = 3 * 2^-2
    [0.0, 1.0, -2.0, 1024.0, 1025.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = (whole & -whole).astype(np.float64)
    return np.where(
        whole == 0, 1024.0 + (np.signbit(x) & (x == 0)), np.log2(np.where(low > 0, low, 1.0)) + exponent - 53
    )


def _named(names: Sequence[str], column: int) -> str:
    return names[column] if column < len(names) else f"output {column}"


# --- partitions ------------------------------------------------------------------------------------------------------


def _learned(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Place of every cell, from the largest ratio of its smoothed frequencies to the least."""
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(-np.log((first + 0.5) / (second + 0.5)), kind="stable")] = np.arange(len(first))
    return rank


@dataclass(frozen=True, eq=False)
class _Intervals(Partition):
    """Cells between rising `edges` of a view, and how often each was met in the two samples: `tallies`, two rows."""

    view: View
    edges: NDArray[np.float64]
    tallies: NDArray[np.intp]

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        return counted(np.ascontiguousarray(self.view(rows)), self.edges, self.ranks)


def _cut_up(view: View, name: Words, p: Rows, q: Rows) -> _Intervals | None:
    """Intervals of a view, ordered by likelihood ratio, upwards and downwards."""
    edges, ranks, tallies = cut(np.sort(view(p)), np.sort(view(q)), _LEVELS[1:-1], ATOMS, MET)
    if not len(edges):
        return None

    def cells(rows: Rows) -> NDArray[np.intp]:
        return placed(np.ascontiguousarray(view(rows)), edges)

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        return f"{name(names)} {_intervals(kept, edges)}"

    return _Intervals(cells, ranks, words, view, edges, tallies)


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
    if not 1 < 1 + np.count_nonzero(rising[1:] != rising[:-1]) <= min(CATEGORIES, len(both) // 4):
        return None
    values, first = np.unique(numbers, return_index=True)

    def cells(rows: Rows) -> NDArray[np.intp]:
        x = number(rows)
        at = np.minimum(np.searchsorted(values, x), len(values) - 1)
        return np.where(values[at] == x, at, len(values))

    tallies = [np.bincount(cells(rows), minlength=len(values) + 1) for rows in (p, q)]

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
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
        over = ", ".join(_named(names, column) for column in sorted(set(columns.tolist())))
        return f"{int(kept.sum())} of {len(kept)} leaves of a tree over {over}"

    tallies = [np.bincount(cells(side), minlength=2**DEPTH) for side in (p, q)]
    return Partition(cells, _learned(*tallies)[None], words)
