r"""One of many values after another, by chances in proportion to exp(value / scale), or by permute-and-flip: exactly.

*Octaves.* Let d be how far a value is behind the best of all, s the scale, and L a rational number above log 2, by so
little that :math:`d / (s L)` does not show it. An item of octave :math:`j = \lfloor d / (s L) \rfloor` has a weight
:math:`e^{-d / s} \le 2^{-j}`. What is left of it, :math:`2^j e^{-d / s}`, a half at least or hardly less, is left to a
coin (`dprank.privacy.exact.happens`). So whole numbers decide nearly all. Let :math:`j_0` be the first octave that has
an item left. Octaves before :math:`j_0 + r` are looked at; all other items, the *rest*, count as if they were in octave
:math:`j_0 + r`, where they weigh no more, either.

*Exponential mechanism.* Draw an octave with chances in proportion to :math:`n_j 2^{-j}`, n how many of its items are
left, then one of these, all alike, and take it if its coin, of chance :math:`2^j e^{-d / s}`, says so; else begin
again. An item is drawn and taken with a chance in proportion to :math:`2^{-j} 2^j e^{-d / s} = e^{-d / s}`. About half
of the tries succeed, or more; the rest is drawn with a chance of its number of items in :math:`2^r`, at most.

*Permute-and-flip* takes the first item, in random order, whose coin, of chance :math:`e^{-(d - d_0) / s}`, shows heads,
:math:`d_0` that of the best item left (McKenna and Sheldon 2020): one of all items with heads, each equally likely. As
:math:`d - d_0 \ge (j - j_0 - 1) s L`, a coin may be two coins that must both show heads, of chance :math:`2^{-c}`, c
the larger of :math:`j - j_0 - 1` and 0, and of chance :math:`2^c e^{-(d - d_0) / s}`. *How many* of an octave's items
pass the first is binomial: of so many fair bits those that are 1, c times over. *Which* these are is drawn as they are
asked for the second: all that passed the first, in random order. The best item's coins are certain, so some are heads.

Who is taken is drawn no more; of the rest, coins of those who are taken fail.
"""

from __future__ import annotations

import math
import secrets
from bisect import insort
from collections.abc import Iterator
from decimal import Context
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.exact import exp_bounds, happens

__all__ = ["peel"]

#: The rest is drawn once in 2^31 times, about.
_REACH = 32
#: Bits of a loss.
_WIDEST = 64


def peel(
    values: NDArray[np.int64], k: int, scale: float, noise: Literal["gumbel", "exponential"], *, largest: bool = True
) -> NDArray[np.int64]:
    """Positions of k noisy maxima (minima, unless `largest`), each taken away before the next; best first.

    Parameters
    ----------
    values : ndarray of int, shape (items,)
    k : int
        In 1 .. items.
    scale : float
        Above 0; taken as the rational number that it is.
    noise : {"gumbel", "exponential"}
        Fresh in each round: a round is the exponential mechanism, or permute-and-flip.
    largest : bool

    Returns
    -------
    ndarray of int, shape (k,)

    Notes
    -----
    A pass over all values, O(n log n) for the n that are less than some 30 + log2(items) octaves below the k-th best,
    and some tens of microseconds a round; with exponential noise a bit an item and round besides.

    Examples
    --------
    >>> peel(np.array([50, 10, 40]), 2, 0.5, "gumbel").tolist()
    [0, 2]
    """
    octaves = _Octaves(np.asarray(values, np.int64), k, scale, largest)
    take = octaves.by_weight if noise == "gumbel" else octaves.by_flips
    return octaves.items(np.array([take() for _ in range(k)], np.int64))


class _Octave:
    """Items at places from a start on, those that are left."""

    def __init__(self, number: int, start: int, stop: int) -> None:
        self.number, self.start, self.left = number, start, stop - start
        self._moved: dict[int, int] = {}

    def place(self, at: int) -> int:
        return self.start + self._moved.get(at, at)

    def take(self, at: int) -> None:
        """The last one left comes in its stead."""
        self.left -= 1
        last = self._moved.pop(self.left, self.left)
        if at != self.left:
            self._moved[at] = last


class _Octaves:
    """Items by place, best first as far as the octaves reach; the far ones behind them, in no order."""

    def __init__(self, values: NDArray[np.int64], k: int, scale: float, largest: bool) -> None:
        self._scale, self._unit = scale, Fraction(scale) * _above_log_2(scale)
        self._reach = _REACH + len(values).bit_length()
        bits = values.view(np.uint64)
        # differences of 64 bits may need all of them
        self._behind = values.max().view(np.uint64) - bits if largest else bits - values.min().view(np.uint64)
        worst = int(np.partition(self._behind, k - 1)[k - 1])
        self._end = self._least(self._number(worst) + self._reach)
        near = np.flatnonzero(self._behind < self._end) if self._end < 1 << 64 else np.arange(len(values))
        self._near = near[np.argsort(self._behind[near])]
        self._losses = self._behind[self._near]
        self._far: NDArray[np.int64] | None = None
        self._size = len(values)
        self._open: list[_Octave] = []
        self._opened = self._best = 0
        self._taken: set[int] = set()
        self._bounds: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}

    def items(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self._item(place) for place in places.tolist()], np.int64)

    def _item(self, place: int) -> int:
        if place < len(self._near):
            return int(self._near[place])
        if self._far is None:
            self._far = np.flatnonzero(self._behind >= self._end)
        return int(self._far[place - len(self._near)])

    def _loss(self, place: int) -> int:
        return int(self._losses[place] if place < len(self._losses) else self._behind[self._item(place)])

    def _number(self, loss: int) -> int:
        return loss // self._unit

    def _least(self, number: int) -> int:
        """The least loss of an octave."""
        return -(-number * self._unit.numerator // self._unit.denominator)

    def _ready(self) -> None:
        """Open the octaves of this round: all that have items, from the first with one left, as far as they reach."""
        while self._open and not self._open[0].left:
            self._open.pop(0)
        while self._opened < len(self._near):
            number = self._number(int(self._losses[self._opened]))
            if self._open and number >= self._open[0].number + self._reach:
                return
            self._open_next(number)
            if not self._open[0].left:
                self._open.pop(0)

    def _open_next(self, number: int) -> None:
        end = self._least(number + 1)
        stop = int(np.searchsorted(self._losses, np.uint64(end), "left")) if end < 1 << 64 else len(self._losses)
        octave = _Octave(number, self._opened, stop)
        for place in sorted(self._taken.intersection(range(self._opened, stop)), reverse=True):
            octave.take(place - self._opened)
        self._open.append(octave)
        self._opened = stop

    def _rest(self) -> int:
        return self._size - self._opened

    def _take(self, place: int) -> int:
        self._taken.add(place)
        return place

    def by_weight(self) -> int:
        """A place by the exponential mechanism."""
        self._ready()
        while True:
            place = self._try()
            if place is not None:
                return self._take(place)

    def _try(self) -> int | None:
        first = self._open[0].number
        doubled = [first + self._reach - octave.number for octave in self._open]
        weights = [octave.left << more for octave, more in zip(self._open, doubled, strict=True)]
        drawn = secrets.randbelow(sum(weights) + self._rest())
        for octave, weight, more in zip(self._open, weights, doubled, strict=True):
            if drawn < weight:
                at = drawn >> more
                place = octave.place(at)
                if not self._heads(self._loss(place), octave.number):
                    return None
                octave.take(at)
                return place
            drawn -= weight
        place = self._opened + drawn
        heads = place not in self._taken and self._heads(self._loss(place), first + self._reach)
        return place if heads else None

    def _heads(self, loss: int, doublings: int) -> bool:
        """With chance 2^doublings exp(-loss / scale)."""
        # equal values are asked again; nothing of them is kept beyond this release
        known = self._bounds.setdefault((loss, doublings), {})

        def bounds(bits: int) -> tuple[int, int]:
            if bits not in known:
                known[bits] = exp_bounds(loss, self._scale, bits, doublings)
            return known[bits]

        return happens(bounds)

    def by_flips(self) -> int:
        """A place by permute-and-flip."""
        self._ready()
        while self._best in self._taken:
            self._best += 1
        best = self._loss(self._best)
        for octave, at, place, halvings in self._passing():
            if self._heads(self._loss(place) - best, halvings):
                if octave:
                    octave.take(at)
                return self._take(place)
        raise AssertionError("the best item's coins are certain")

    def _passing(self) -> Iterator[tuple[_Octave | None, int, int, int]]:
        """Items whose first coin shows heads, in random order: octave and place in it, place, halvings."""
        first = self._open[0].number
        groups: list[tuple[_Octave | None, int, int]] = [
            (octave, octave.left, max(0, octave.number - first - 1)) for octave in self._open
        ]
        groups.append((None, self._rest(), self._reach - 1))
        passing = [_halved(size, halvings) for _, size, halvings in groups]
        seen: list[list[int]] = [[] for _ in groups]
        while total := sum(passing):
            which, drawn = 0, secrets.randbelow(total)
            while drawn >= passing[which]:
                drawn -= passing[which]
                which += 1
            passing[which] -= 1
            octave, size, halvings = groups[which]
            at = _another(size, seen[which])
            place = octave.place(at) if octave else self._opened + at
            if octave or place not in self._taken:
                yield octave, at, place, halvings


@lru_cache(16)
def _above_log_2(scale: float) -> Fraction:
    """A number above log 2, so close that any 2^64 / scale of the difference are below 2^-60."""
    bits = 2 * _WIDEST + max(0, -math.frexp(scale)[1])
    digits = Context(prec=bits // 3 + 10)
    return Fraction(int(digits.multiply(digits.ln(2), 1 << bits)) + 1, 1 << bits)


def _another(size: int, seen: list[int]) -> int:
    """A whole number below the size, each that was not seen alike; it is seen then. Those seen are in order."""
    at = secrets.randbelow(size - len(seen))
    for before in seen:
        at += at >= before
    insort(seen, at)
    return at


def _halved(n: int, times: int) -> int:
    """How many of n pass so many fair coins each."""
    for _ in range(times):
        if not n:
            break
        n = secrets.randbits(n).bit_count()
    return n
