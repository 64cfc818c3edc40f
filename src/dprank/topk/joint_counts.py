r"""How many choices of k of m items lose at most so much, and any of those: lists and sets, no choice ever listed.

With values best first, :math:`c_1 \ge c_2 \ge \dots \ge c_m`:

A list s loses :math:`\max_i (c_i - c_{s_i})` (Gillenwater, Joseph, Muñoz Medina and Ribero Diaz 2022). It loses at
most t if every :math:`s_i` is among the :math:`n_i(t)` items with values of at least :math:`c_i - t`. These are more
and more as i grows, and whatever came before is among them, so that :math:`n_i(t) - i + 1` are left to choose from:
there are :math:`\prod_i (n_i(t) - i + 1)` such lists, and one is drawn place by place.

A set S loses :math:`\max_{j \notin S} c_j - \min_{i \in S} c_i` (Shekelyan and Loukides 2022), for the right set minus
the gap. In any other set let p be the best item left out, and q the worst one taken: it loses :math:`c_p - c_q`. All
p - 1 before p are taken, and the other k - p + 1 from behind p: with a bound on the loss q is among the first
:math:`n_p(t)`, so that there are :math:`\binom{n_p(t) - p}{k - p + 1}` sets for every :math:`p \le k`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._jit import njit
from dprank.privacy.noise import Source
from dprank.privacy.thresholds import whole_below

__all__ = ["Choices", "Lists", "Sets"]

#: Numbers that are counted at a time.
_CELLS = 1 << 20
#: Draws that are made at once, at least, and choices up to which they are.
_MANY, _WHOLE = 16, 1 << 62


class Choices(ABC):
    """Of k from values that are given best first; losses are counted from the least.

    Parameters
    ----------
    best : ndarray of int or float, shape (items,)
        Falling.
    k : int

    Examples
    --------
    >>> lists = Lists(np.array([9, 7, 1]), 2)
    >>> lists.losses().tolist(), lists.counts(np.array([0, 2, 8])), lists.total
    ([0, 2, 6, 8], [1, 2, 6], 6)
    >>> sets = Sets(np.array([9, 7, 1]), 2)  # the right one leads by 6
    >>> sets.losses().tolist(), sets.counts(np.array([0, 12, 14])), sets.total
    ([0, 12, 14], [1, 2, 3], 3)
    """

    def __init__(self, best: NDArray[np.int64] | NDArray[np.float64], k: int) -> None:
        self.best, self.k = best, k

    @property
    @abstractmethod
    def total(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def _first(self) -> float | int:
        """The least loss."""

    @abstractmethod
    def counts(self, losses: NDArray[np.int64]) -> list[int]:
        """How many lose at most so much, exactly."""

    @abstractmethod
    def log_counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All losses, with repetitions and in order, and the logarithm of how many lose at most so much."""

    @abstractmethod
    def draw(self, loss: float, rng: Source) -> list[int]:
        """One of those that lose at most so much, all alike: places in `best`."""

    def draws(self, losses: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
        """One for each of many losses, shape (losses, k): those that `draw` takes one after another."""
        if len(losses) >= _MANY and type(rng) is np.random.Generator and self.total <= _WHOLE:
            return self._draws(losses, rng)
        return np.array([self.draw(loss, rng) for loss in losses], np.int64).reshape(-1, self.k)

    @abstractmethod
    def _draws(self, losses: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
        """The same where there are few choices, by the generator of numpy."""

    def losses(self) -> NDArray[np.int64]:
        """All that occur, increasing."""
        return np.unique(np.r_[0, self._pairs()])

    def _pairs(self) -> NDArray[Any]:
        """The loss of each value that is taken too early, or left out."""
        return (self.best[: self.k, None] - self.best)[self._apart()] - self._first

    @abstractmethod
    def _apart(self) -> NDArray[np.bool_]:
        """Which pairs these are, shape (k, items)."""

    def _sizes(self, losses: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.int64]:
        """How many values are at most so much below each of the first k, shape (losses, k)."""
        lowest = self.best[: self.k] - (losses[:, None] + self._first)
        return np.maximum(len(self.best) - np.searchsorted(self.best[::-1], lowest, "left"), np.arange(self.k) + 1)


class Lists(Choices):
    """In order, best first."""

    @property
    def total(self) -> int:
        return math.perm(len(self.best), self.k)

    @property
    def _first(self) -> int:
        return 0

    def _apart(self) -> NDArray[np.bool_]:
        return np.arange(len(self.best)) > np.arange(self.k)[:, None]

    def counts(self, losses: NDArray[np.int64]) -> list[int]:
        rows = max(1, _CELLS // self.k)
        blocks = (self._sizes(losses[start : start + rows]) for start in range(0, len(losses), rows))
        return [math.prod(row) for sizes in blocks for row in (sizes - np.arange(self.k)).tolist()]

    def log_counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        ahead = (np.arange(len(self.best)) - np.arange(self.k)[:, None])[self._apart()]
        losses = self._pairs()
        order = np.argsort(losses, kind="stable")
        return np.r_[0.0, losses[order]], np.r_[0.0, np.cumsum(np.log1p(1 / ahead[order]))]

    def draw(self, loss: float, rng: Source) -> list[int]:
        pool: list[int] = []
        chosen: list[int] = []
        known = 0
        for size in self._sizes(np.array([loss]))[0].tolist():
            pool.extend(range(known, size))
            known = size
            chosen += _taken(pool, 1, rng)
        return chosen

    def _draws(self, losses: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
        sizes = self._sizes(losses)
        width = int(sizes.max(initial=self.k))
        rows = max(1, _CELLS // width)
        if len(losses) > rows:
            blocks = range(0, len(losses), rows)
            return np.concatenate([self._draws(losses[start : start + rows], rng) for start in blocks])
        left = sizes - np.arange(self.k)
        at, row = rng.integers(left), np.arange(len(losses))
        chosen, place = np.empty_like(at), np.arange(width)
        pool = np.tile(place, (len(losses), 1))
        for p in range(self.k):
            if p:  # what is new stands behind what is left, as many places before its own as are taken
                pool = np.where(place < left[:, p - 1, None] - 1, pool, place + p)
            chosen[:, p] = pool[row, at[:, p]]
            pool[row, at[:, p]] = pool[row, left[:, p] - 1]
        return chosen


class Sets(Choices):
    """In no order."""

    @property
    def total(self) -> int:
        return math.comb(len(self.best), self.k)

    @property
    def _first(self) -> float | int:
        return self.best[self.k] - self.best[self.k - 1] if self.k < len(self.best) else 0

    def _apart(self) -> NDArray[np.bool_]:
        return np.tile(np.arange(len(self.best)) >= self.k, (self.k, 1))

    def counts(self, losses: NDArray[np.int64]) -> list[int]:
        rows = max(1, _CELLS // self.k)
        blocks = (self._sizes(losses[start : start + rows]) for start in range(0, len(losses), rows))
        known, by_first, alike = np.zeros(self.k, np.int64), [0] * self.k, [1]
        for sizes in blocks:
            for row in sizes:
                # from one loss to the next few sizes change
                moved = np.flatnonzero(row != known).tolist()
                before, known = sum(by_first[p] for p in moved), row
                for p in moved:
                    by_first[p] = self._leaving(p, int(row[p]))
                alike.append(alike[-1] - before + sum(by_first[p] for p in moved))
        return alike[1:]

    def _leaving(self, p: int, size: int) -> int:
        """How many sets leave out the item of that place first, the last that they take being one of so many."""
        return math.comb(size - p - 1, self.k - p) if size > self.k else 0

    def log_counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        losses = self._pairs()
        p, q = np.nonzero(self._apart())
        between, taken = q - p - 1, self.k - p - 1
        alike = (
            scipy.special.gammaln(between + 1)
            - scipy.special.gammaln(taken + 1)
            - scipy.special.gammaln(between - taken + 1)
        )
        order = np.argsort(losses, kind="stable")
        return np.r_[0.0, losses[order]], np.logaddexp.accumulate(np.r_[0.0, alike[order]])

    def draw(self, loss: float, rng: Source) -> list[int]:
        sizes = self._sizes(np.array([loss]))[0].tolist()
        sums = self._sums(sizes)
        p = bisect_right(sums, whole_below(sums[-1], rng)) - 1
        if p < 0:
            return list(range(self.k))
        return [*range(p), *_taken(list(range(p + 1, sizes[p])), self.k - p, rng)]

    def _draws(self, losses: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
        distinct, which = np.unique(losses, return_inverse=True)
        sizes = self._sizes(distinct)
        sums = np.array([self._sums(row) for row in sizes.tolist()], np.int64)
        return _drawn_sets(rng, which, sizes, sums)

    def _sums(self, sizes: list[int]) -> list[int]:
        """How many sets leave out none of the first k, or the first of them, or one of the first two ..."""
        return list(accumulate((self._leaving(p, size) for p, size in enumerate(sizes)), initial=1))


def _taken(pool: list[int], number: int, rng: Source) -> list[int]:
    """So many of a pool, any alike, which leave it."""
    taken = []
    for _ in range(number):
        at = whole_below(len(pool), rng)
        pool[at], pool[-1] = pool[-1], pool[at]
        taken.append(pool.pop())
    return taken


@njit(cache=True, error_model="numpy")
def _drawn_sets(
    rng: np.random.Generator, which: NDArray[np.intp], sizes: NDArray[np.int64], sums: NDArray[np.int64]
) -> NDArray[np.int64]:
    """What `Sets.draw` takes, of rows of sizes and sums."""
    k = sizes.shape[1]
    chosen = np.empty((len(which), k), np.int64)
    pool = np.empty(sizes.max(), np.int64)
    for draw in range(len(which)):
        row = which[draw]
        at, p = rng.integers(0, sums[row, k]), 0
        while at >= sums[row, p]:
            p += 1
        p -= 1
        for place in range(k if p < 0 else p):
            chosen[draw, place] = place
        if p < 0:
            continue
        left = sizes[row, p] - p - 1
        for place in range(left):
            pool[place] = p + 1 + place
        for place in range(p, k):
            taken = rng.integers(0, left)
            left -= 1
            chosen[draw, place] = pool[taken]
            pool[taken] = pool[left]
    return chosen
