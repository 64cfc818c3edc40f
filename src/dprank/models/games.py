"""Comparisons summed up by pair, all that a likelihood needs of them, and the estimate that comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import FrozenFields, frozen
from dprank._jit import njit
from dprank._require import as_array, settle
from dprank.data.comparisons import FEW_ROWS, Comparisons, require_comparisons

__all__ = ["Fit", "Games"]

#: So that points of one pair are integers of 32 bits.
_MOST_GAMES = 2**30


@dataclass(frozen=True, eq=False)
class Fit(FrozenFields):
    """A minimiser, with its certificate.

    Attributes
    ----------
    theta : ndarray of float, shape (items,)
        Strengths; without ridge their mean is 0.
    gradient_norm : float
        l2 norm of the gradient at theta, computed in double precision.
    ridge : float
    iterations : int
        Newton steps taken.

    Examples
    --------
    >>> Fit(np.array([1.0, -1.0]), gradient_norm=0.5, ridge=0.25, iterations=3).distance_bound
    2.0
    """

    theta: NDArray[np.float64]
    gradient_norm: float
    ridge: float
    iterations: int

    @property
    def distance_bound(self) -> float:
        """Upper bound on the l2 distance from theta to the minimiser: the objective is ridge-strongly convex.

        True of the gradient norm as it is; that of Fit has the rounding errors of a sum in double precision.
        """
        return self.gradient_norm / self.ridge if self.ridge else np.inf


@dataclass(frozen=True, eq=False)
class Games(FrozenFields):
    """Comparisons summed up by pair: all that a likelihood needs of them.

    Each compared pair is listed once, and in one order, whatever the order of the comparisons was: what is computed
    from private counts on a public graph knows nothing else, to the last bit.

    Attributes
    ----------
    start : ndarray of int, shape (items + 1,)
        Pairs ``start[i] : start[i + 1]`` are those of item i with larger items.
    other : ndarray of int, shape (pairs,)
        The larger item of the pair; those of one item rise.
    played : ndarray of int or float, shape (pairs,)
        How often the pair was compared, above 0.
    points : ndarray of int, shape (pairs,)
        Of the smaller item: two for a win, one for a tie.

    Raises
    ------
    ValueError
        Naming the field that does not list pairs so. O(items + pairs).

    Examples
    --------
    >>> games = Games.of(Comparisons([0, 1, 2], [1, 0, 1], [1, 0.5, 0], items=["a", "b", "c"]))
    >>> games.played.tolist(), games.points.tolist(), games.wins.tolist()
    ([2, 1], [3, 2], [1.5, 1.5, 0.0])
    """

    start: NDArray[np.int64]
    other: NDArray[np.uint32]
    played: NDArray[Any]
    points: NDArray[np.int32]

    def __post_init__(self) -> None:
        start, other, played, points = (_column(name, value) for name, value in self._named())
        whole = start.dtype.kind in "iu" and len(start) > 2
        if not (whole and start[0] == 0 and start[-1] == len(other) and (start[1:] >= start[:-1]).all()):
            raise ValueError("start does not count up from 0 to the number of pairs; it must, with a step an item")
        for name, column in (("other", other), ("played", played), ("points", points)):
            if len(column) != len(other) or (column.dtype.kind not in "iu" and name != "played"):
                raise ValueError(f"{name} is no list of whole numbers, one a pair; that is needed")
        settle(self, start=start.astype(np.int64, copy=False))
        if not ((other > self.item) & (other < self.n_items)).all():
            raise ValueError("other lists what is no larger item; each pair is listed under its smaller one")
        if (np.diff(self.item * self.n_items + other.astype(np.int64)) <= 0).any():
            raise ValueError("other does not rise; the larger items of one item are listed once each, in their order")
        counted = played.dtype.kind in "iu"
        if not ((played > 0) & (played <= (_MOST_GAMES if counted else np.finfo(np.float32).max))).all():
            raise ValueError(f"played has numbers out of range; they are from 1 to {_MOST_GAMES}, or fractions")
        played = played.astype(np.int32 if counted else np.float32, copy=False)
        if not ((points >= 0) & (points / 2 <= played)).all():
            raise ValueError("points has numbers out of range; they are from 0 to twice those of played")
        other, points = other.astype(np.uint32, copy=False), points.astype(np.int32, copy=False)
        settle(self, other=other, played=played, points=points)
        super().__post_init__()

    @classmethod
    def of(cls, comparisons: Comparisons) -> Games:
        """O(comparisons + items) time and memory."""
        c = require_comparisons(comparisons)
        games = object.__new__(cls)
        start, other, played, points = map(frozen, _merged(c.first, c.second, c.points, c.n_items))
        settle(games, start=start, other=other, played=played, points=points)
        return games

    @classmethod
    def listed(cls, table: NDArray[np.float32]) -> Games:
        """Of a symmetric table of counts above 0, without the points."""
        i, j = np.nonzero(np.triu(table))
        start = np.searchsorted(i, np.arange(len(table) + 1))
        return cls(start, j.astype(np.uint32), table[i, j], np.zeros(len(i), np.int32))

    @property
    def n_items(self) -> int:
        return len(self.start) - 1

    @property
    def item(self) -> NDArray[np.int64]:
        """The smaller item of each pair."""
        return np.repeat(np.arange(self.n_items), np.diff(self.start))

    @property
    def wins(self) -> NDArray[np.float64]:
        """Wins of every item, a tie as half a win."""
        if len(self.other) < FEW_ROWS and self.played.dtype.kind == "i":
            lost = 2 * self.played.astype(np.int64) - self.points
            n = self.n_items
            return (np.bincount(self.item, self.points, n) + np.bincount(self.other, lost, n)) / 2
        return np.asarray(_points_of(self.start, self.other, self.played, self.points) / 2)

    @property
    def table(self) -> NDArray[np.float32]:
        """How often each pair was compared, shape (items, items): symmetric, diagonal 0. O(items^2) memory."""
        if len(self.other) >= FEW_ROWS:
            return np.asarray(_table(self.start, self.other, self.played))
        table = np.zeros((self.n_items, self.n_items), np.float32)
        table[self.item, self.other] = table[self.other, self.item] = self.played
        return table

    def chained(self) -> bool:
        """Whether chains of wins lead from item 0 to all others and back; False also if it takes long to say."""
        lists = self.start, self.other, self.played, self.points
        return len(self.other) >= FEW_ROWS and all(_all_reached(*lists, back) for back in (False, True))


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    column = as_array(name, values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise ValueError(f"{name} is no list of numbers; that is needed")
    return column


def _merged(first: NDArray[Any], second: NDArray[Any], points: NDArray[np.uint8], n: int) -> tuple[NDArray[Any], ...]:
    """Start, other, played and points: by whichever way takes least, and all give the same."""
    rows = len(first)
    if rows < FEW_ROWS:
        return _merge_few(first, second, points, n)
    if n * n <= rows:
        return _merge_dense(first, second, points, n)
    keys = np.empty((2, rows), np.uint32 if n <= 2**30 else np.int64)
    ends = np.zeros((2, n), np.uint32 if rows < 2**32 else np.int64)
    start, other, played, won = _merge(first, second, points, n, *keys, *ends)
    return start, other.astype(np.uint32), played, won


def _merge_few(
    first: NDArray[Any], second: NDArray[Any], points: NDArray[np.uint8], n: int
) -> tuple[NDArray[Any], ...]:
    """What `_merge` gives, of so few rows that to compile it would take longer."""
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second).astype(np.int64)
    pair, of = np.unique(low * n + high, return_inverse=True)
    won = np.bincount(of, np.where(first == low, points, 2 - points), len(pair))
    start, played = np.searchsorted(pair // n, np.arange(n + 1)), np.bincount(of, minlength=len(pair))
    return start, (pair % n).astype(np.uint32), played.astype(np.int32), won.astype(np.int32)


@njit(cache=True, nogil=True, error_model="numpy")
def _merge(first, second, points, n, by_larger, by_smaller, end, end_of_larger):
    """Counting sorts by the larger item, then by the smaller one, where rows of one pair meet."""
    for r in range(first.size):
        a, b = np.int64(first[r]), np.int64(second[r])
        end[min(a, b)] += 1
        end_of_larger[max(a, b)] += 1
    below, below_of_larger = np.int64(0), np.int64(0)
    for i in range(n):
        here, here_of_larger = np.int64(end[i]), np.int64(end_of_larger[i])
        end[i], end_of_larger[i] = below, below_of_larger
        below += here
        below_of_larger += here_of_larger
    for r in range(first.size):
        a, b = np.int64(first[r]), np.int64(second[r])
        larger = max(a, b)
        by_larger[end_of_larger[larger]] = 4 * min(a, b) + (points[r] if a < b else 2 - points[r])
        end_of_larger[larger] += 1
    begin = np.int64(0)
    for j in range(n):
        for at in range(begin, end_of_larger[j]):
            smaller = np.int64(by_larger[at] >> 2)
            by_smaller[end[smaller]] = 4 * j + (by_larger[at] & 3)
            end[smaller] += 1
        begin = np.int64(end_of_larger[j])
    start, played, won = np.empty(n + 1, np.int64), np.empty(first.size, np.int32), np.empty(first.size, np.int32)
    new, begin = 0, np.int64(0)
    for i in range(n):
        start[i] = new
        last = np.int64(-1)
        for at in range(begin, end[i]):
            other, mine = np.int64(by_smaller[at] >> 2), np.int64(by_smaller[at] & 3)
            if other != last:
                # what is written here has been read
                by_smaller[new], played[new], won[new] = other, 1, mine
                last = other
                new += 1
            else:
                played[new - 1] += 1
                won[new - 1] += mine
        begin = np.int64(end[i])
    start[n] = new
    return start, by_smaller[:new], played[:new], won[:new]


@njit(cache=True, nogil=True, error_model="numpy")
def _merge_dense(first, second, points, n):
    """Where there are more rows than places in a table: how often each pair was compared below, its points above."""
    met, pairs = np.zeros(n * n, np.int64), 0
    for r in range(first.size):
        a, b = np.int64(first[r]), np.int64(second[r])
        mine = np.int64(points[r] if a < b else 2 - points[r])
        met[min(a, b) * n + max(a, b)] += (mine << 32) + 1
    for at in range(met.size):
        pairs += met[at] > 0
    start = np.zeros(n + 1, np.int64)
    other, played, won = np.empty(pairs, np.uint32), np.empty(pairs, np.int32), np.empty(pairs, np.int32)
    new = 0
    for i in range(n):
        for j in range(i + 1, n):
            found = met[i * n + j]
            if found:
                other[new], played[new], won[new] = j, found & 0xFFFFFFFF, found >> 32
                new += 1
        start[i + 1] = new
    return start, other, played, won


@njit(cache=True, nogil=True, error_model="numpy")
def _points_of(start, other, played, points):
    """Of every item, two for a win and one for a tie."""
    total = np.zeros(start.size - 1)
    for i in range(total.size):
        mine = 0
        for at in range(start[i], start[i + 1]):
            mine += points[at]
            total[other[at]] += 2 * played[at] - points[at]
        total[i] += mine
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _table(start, other, played):
    n = start.size - 1
    table = np.zeros((n, n), np.float32)
    for i in range(n):
        for at in range(start[i], start[i + 1]):
            table[i, other[at]] = table[other[at], i] = played[at]
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def _all_reached(start, other, played, points, back):
    """Whether chains of wins lead from item 0 to all others, or back from them; False also if it takes long to say."""
    n = start.size - 1
    reached = np.zeros(n, np.bool_)
    reached[0], count, before = True, 1, 0
    for sweep in range(50):
        if count in (n, before):
            break
        before = count
        for k in range(n):
            i = n - 1 - k if sweep % 2 else k
            for at in range(start[i], start[i + 1]):
                j = other[at]
                # the smaller item's side of the pair that leads on: it won, or it lost
                won = reached[i] != back
                if reached[i] != reached[j] and (points[at] > 0 if won else points[at] < 2 * played[at]):
                    reached[i] = reached[j] = True
                    count += 1
    return count == n
