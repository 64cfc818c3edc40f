"""Events that tell two samples apart: outputs sorted into cells, ranked by how much likelier one law makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

#: Most distinct outputs that are told apart one by one.
CATEGORIES = 2048
#: Most features whose differences are looked at.
PAIRED = 8
#: Levels of a tree, and cuts it tries on each feature.
DEPTH, CUTS = 3, 24
#: Shares of the sample at which a feature is cut.
_LEVELS = np.unique(np.r_[np.linspace(0, 1, 17), 2.0 ** -np.arange(1, 13), 1 - 2.0 ** -np.arange(1, 13)])


@dataclass(frozen=True, eq=False)
class Ranked:
    """A partition of the outputs, its cells ordered from most to least typical of the first law.

    Parameters
    ----------
    cells : callable
        The cell of every row, shape (rows,).
    rank : ndarray of int, shape (cells,)
        Place of every cell in the order.
    name : callable
        Words for the event that keeps the cells of a mask, from names of the features.
    """

    cells: Callable[[Rows], NDArray[np.intp]]
    rank: NDArray[np.intp]
    name: Callable[[NDArray[np.bool_], Sequence[str]], str]

    def places(self, rows: Rows) -> NDArray[np.intp]:
        """Place of every row's cell."""
        return self.rank[self.cells(rows)]

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """Rows in the r first cells, r = 1 .. cells - 1."""
        return np.cumsum(np.bincount(self.places(rows), minlength=len(self.rank)))[:-1]


@dataclass(frozen=True, eq=False)
class Event:
    """The `size` first cells of a ranked partition, or all the others where the second data set is the likelier one.

    Parameters
    ----------
    ranked : Ranked
    size : int
        1 .. cells - 1.
    swapped : bool
        Whether the event is the complement, of which the second law makes more.
    """

    ranked: Ranked
    size: int
    swapped: bool

    def __contains__(self, row: Any) -> bool:
        return bool(self.holds(np.atleast_2d(np.asarray(row, float)))[0])

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether it happened, row by row."""
        return (self.ranked.places(rows) < self.size) != self.swapped

    def describe(self, names: Sequence[str] = ()) -> str:
        """In words."""
        return self.ranked.name((self.ranked.rank < self.size) != self.swapped, names)


def proposals(p: Rows, q: Rows, *, bits: bool = True) -> list[Ranked]:
    """Ranked partitions learned from two samples.

    Parameters
    ----------
    p, q : ndarray of float, shape (rows, features)
        Features of releases from two neighbouring data sets, finite.
    bits : bool
        Whether to look at the lowest set bits of floats.

    Returns
    -------
    list of Ranked
        Whole outputs where few are distinct; every feature, the differences of few features, their sum, least and
        largest, and the lowest set bit of floats, cut at shared quantiles and at single values that are frequent; and
        a tree of three levels. By Neyman and Pearson the first cells of the order are the best events a partition has.

    Notes
    -----
    O(features^2 rows log rows), features^2 for 8 features at most.
    """
    both = np.concatenate([p, q])
    views = _views(both, bits)
    found = [_binned(view, p, q, name) for view, name in views]
    whole = _whole(p, q)
    return [*([whole] if whole else []), *(ranked for ranked in found if ranked), _tree(p, q)]


# --- views: one number of every row ----------------------------------------------------------------------------------

View = Callable[[Rows], NDArray[np.float64]]
Words = Callable[[Sequence[str]], str]


def _views(rows: Rows, bits: bool) -> list[tuple[View, Words]]:
    features = rows.shape[1]
    few = range(min(features, PAIRED))
    views = [_column(c) for c in range(features)]
    if features >= 2:
        views += [_difference(a, b) for a, b in combinations(few, 2) if features <= PAIRED]
        views += [_extent(f"the {word}", of) for word, of in (("sum", np.sum), ("least", np.min), ("largest", np.max))]
    return views + [_bit(c) for c in few if bits and (rows[:, c] != np.round(rows[:, c])).any()]


def _column(c: int) -> tuple[View, Words]:
    return lambda rows: rows[:, c], lambda names: _named(names, c)


def _difference(a: int, b: int) -> tuple[View, Words]:
    return lambda rows: rows[:, a] - rows[:, b], lambda names: f"{_named(names, a)} - {_named(names, b)}"


def _extent(words: str, of: Callable[..., Any]) -> tuple[View, Words]:
    return lambda rows: of(rows, axis=1), lambda names: words


def _bit(c: int) -> tuple[View, Words]:
    return lambda rows: lowest_bit(rows[:, c]), lambda names: f"the lowest set bit of {_named(names, c)}"


def lowest_bit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponent of the lowest set bit of a double, of which x is a whole odd multiple; 1024 for 0."""
    mantissa, exponent = np.frexp(x)
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = (whole & -whole).astype(np.float64)
    return np.where(x == 0, 1024.0, np.log2(np.where(low > 0, low, 1.0)) + exponent - 53)


def _named(names: Sequence[str], column: int) -> str:
    return names[column] if column < len(names) else f"output {column}"


# --- partitions ------------------------------------------------------------------------------------------------------


def _order(cells_p: NDArray[np.intp], cells_q: NDArray[np.intp], cells: int) -> NDArray[np.intp]:
    """Place of every cell, from the largest ratio of its smoothed frequencies to the least."""
    a, b = (np.bincount(c, minlength=cells) for c in (cells_p, cells_q))
    rank = np.empty(cells, np.intp)
    rank[np.argsort(-np.log((a + 0.5) / (b + 0.5)), kind="stable")] = np.arange(cells)
    return rank


def _binned(view: View, p: Rows, q: Rows, name: Words) -> Ranked | None:
    x, y = view(p), view(q)
    values, frequency = np.unique(np.r_[x, y], return_counts=True)
    if len(values) == 1:
        return None
    if len(values) <= 2 * len(_LEVELS):
        edges = values[1:]
    else:
        shares = np.searchsorted(np.cumsum(frequency) / frequency.sum(), _LEVELS[1:-1])
        # values met so often get a cell of their own
        atoms = values[frequency * len(_LEVELS) > frequency.sum()]
        # beyond the extremes of one sample lie the outputs that only the other can give
        ends = np.array([x.min(), y.min(), np.nextafter(x.max(), np.inf), np.nextafter(y.max(), np.inf)])
        edges = np.unique(np.r_[values[shares], atoms, np.nextafter(atoms, np.inf), ends])

    def cells(rows: Rows) -> NDArray[np.intp]:
        return np.searchsorted(edges, view(rows), side="right")

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        return f"{name(names)} {_intervals(kept, edges)}"

    return Ranked(cells, _order(cells(p), cells(q), len(edges) + 1), words)


def _intervals(kept: NDArray[np.bool_], edges: NDArray[np.float64]) -> str:
    """The cells kept, as intervals."""
    starts = np.flatnonzero(kept & ~np.r_[False, kept[:-1]])
    stops = np.flatnonzero(kept & ~np.r_[kept[1:], False])
    parts = []
    for start, stop in zip(starts, stops, strict=True):
        low = f">= {edges[start - 1]:.4g}" if start > 0 else ""
        high = f"< {edges[stop]:.4g}" if stop < len(edges) else ""
        parts.append(" and ".join(filter(None, (low, high))))
    shown = " or ".join(parts[:3])
    return shown + (f" or in {len(parts) - 3} more intervals" if len(parts) > 3 else "")


def _whole(p: Rows, q: Rows) -> Ranked | None:
    """Every distinct output a cell, the unseen in one of their own, if there are few."""
    if p.shape[1] == 1:
        return None
    # equal rows get equal numbers, others hardly ever do
    weights: list[float] = np.random.default_rng(0).random(p.shape[1:]).tolist()

    def number(rows: Rows) -> NDArray[np.float64]:
        total = np.zeros(len(rows))
        for column, weight in enumerate(weights):
            total = total + rows[:, column] * weight
        return total

    values, first = np.unique(number(both := np.concatenate([p, q])), return_index=True)
    if not 1 < len(values) <= min(CATEGORIES, len(both) // 4):
        return None

    def cells(rows: Rows) -> NDArray[np.intp]:
        x = number(rows)
        at = np.minimum(np.searchsorted(values, x), len(values) - 1)
        return np.where(values[at] == x, at, len(values))

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        outputs = [tuple(float(v) for v in both[row]) for row in first[np.flatnonzero(kept[:-1])[:3]]]
        more = int(kept[:-1].sum()) - len(outputs)
        text = "the output is one of " + ", ".join(f"({', '.join(f'{v:.4g}' for v in row)})" for row in outputs)
        return text + (f" and {more} more" if more else "")

    return Ranked(cells, _order(cells(p), cells(q), len(values) + 1), words)


def _tree(p: Rows, q: Rows) -> Ranked:
    """Leaves of the greedy tree that raises the chi-square distance of the two samples most."""
    rows, ours = np.concatenate([p, q]), np.r_[np.ones(len(p), bool), np.zeros(len(q), bool)]
    leaf = np.zeros(len(rows), np.intp)
    cuts: list[list[tuple[int, float]]] = []  # of every level, one for each node
    for level in range(DEPTH):
        here = [_cut(rows[leaf == node], ours[leaf == node]) for node in range(2**level)]
        leaf = _descend(rows, leaf, here)
        cuts.append(here)

    def cells(some: Rows) -> NDArray[np.intp]:
        at = np.zeros(len(some), np.intp)
        for here in cuts:
            at = _descend(some, at, here)
        return at

    def words(kept: NDArray[np.bool_], names: Sequence[str]) -> str:
        return f"{int(kept.sum())} of {len(kept)} leaves of a tree over {', '.join(sorted(_tested(cuts, names)))}"

    return Ranked(cells, _order(leaf[ours], leaf[~ours], 2**DEPTH), words)


def _tested(cuts: list[list[tuple[int, float]]], names: Sequence[str]) -> set[str]:
    return {_named(names, column) for here in cuts for column, _ in here}


def _descend(rows: Rows, leaf: NDArray[np.intp], cuts: list[tuple[int, float]]) -> NDArray[np.intp]:
    columns, thresholds = (np.array(part)[leaf] for part in zip(*cuts, strict=True))
    return 2 * leaf + (rows[np.arange(len(rows)), columns] >= thresholds)


def _cut(rows: Rows, ours: NDArray[np.bool_]) -> tuple[int, float]:
    """Column and threshold of the best cut; one that cuts nothing where there is none."""
    best = (0.0, 0, np.inf)
    if len(rows) < 2:
        return best[1:]
    total = np.array([ours.sum(), (~ours).sum()], float)
    for column in range(rows.shape[1]):
        x = rows[:, column]
        thresholds = np.unique(np.quantile(x, np.linspace(0, 1, CUTS + 2)[1:-1], method="higher"))
        at = np.searchsorted(thresholds, x, side="right")
        above = np.array([np.bincount(at[side], minlength=len(thresholds) + 1) for side in (ours, ~ours)])
        above = above[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        sides = (above, total[:, None] - above)
        gain = sum((side[0] - side[1]) ** 2 / np.maximum(side.sum(axis=0), 1) for side in sides)
        place = int(np.argmax(gain))
        best = max(best, (float(gain[place]), column, float(thresholds[place])))
    return best[1:]
