r"""Decisions by fair bits, of chances that are no rational numbers: whole numbers bound them, and no float decides.

A chance p is known between bounds, :math:`l_b \le 2^b p \le h_b`, as narrow as asked. A uniform number U is drawn bit
by bit: of its first b bits, read as the whole number u, it is known that :math:`u \le 2^b U < u + 1`. So
:math:`U < p` if :math:`u + 1 \le l_b`, and :math:`U \ge p` if :math:`u \ge h_b`. Where neither holds, more bits are
drawn, and narrower bounds asked for; as long as the bounds are a few units apart, b bits leave it open with a chance of
a few units in :math:`2^b`, so that it ends, and what comes out is what U itself decides: an event of chance p, exactly.
"""

from __future__ import annotations

import math
import os
import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts", "exp_bounds", "exp_falls", "fair_words", "happens"]

#: Bits of a uniform number that are drawn at a time.
_BITS = 64
#: Bits of it that are looked up.
_FIRST = 16

Bounds = tuple[list[int], list[int]]


def exp_bounds(loss: int, scale: float | Fraction, point: int, doublings: int = 0) -> tuple[int, int]:
    """Whole numbers below and above 2^(point + doublings) exp(-loss / scale), at most 3 apart.

    Parameters
    ----------
    loss : int
        At least 0.
    scale : float or Fraction
        Above 0; taken as the rational number that it is.
    point : int
    doublings : int
        At least 0, and so few that what is bounded is at most 2^point.

    Notes
    -----
    Python's decimal exponential is rounded correctly. Its argument, off by a share of some digits in the last place, is
    off by less than 10^-20 units of the result.

    Examples
    --------
    >>> low, high = exp_bounds(1, 2.0, 20)
    >>> low <= 2**20 * math.exp(-0.5) <= high
    True
    """
    rate = Fraction(loss) / Fraction(scale)
    if not doublings and rate > 2 * point:
        return 0, 1
    digits = _digits(math.ceil(point * math.log10(2)) + len(str(math.ceil(rate))) + 25)
    exponent = digits.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    if doublings:
        exponent = digits.add(exponent, digits.multiply(doublings, _log_2(digits.prec)))
        if exponent < -2 * point:
            return 0, 1
    below = math.floor(digits.multiply(digits.exp(exponent), Decimal(1 << point)))
    return max(0, below - 1), below + 2


@lru_cache(64)
def _digits(number: int) -> Context:
    return Context(prec=number, Emin=-(10**9))


@lru_cache(64)
def _log_2(digits: int) -> Decimal:
    return Context(prec=digits).ln(2)


def exp_falls(losses: Iterable[int], scale: float | Fraction, point: int) -> Iterator[tuple[int, int]]:
    """Bounds of 2^point exp(-loss / scale) of increasing losses from 0 on, each from the one before.

    Every step widens them by two units at most, as factors below 1 do.

    Examples
    --------
    >>> [(low <= 2**30 * math.exp(-it / 2.0) <= high) for it, (low, high) in enumerate(exp_falls(range(3), 2.0, 30))]
    [True, True, True]
    """
    factors: dict[int, tuple[int, int]] = {}
    low = high = 1 << point
    yield low, high
    for before, loss in pairwise(losses):
        step = loss - before
        if step not in factors:
            factors[step] = exp_bounds(step, scale, point)
        least, most = factors[step]
        low, high = low * least >> point, -(-high * most >> point)
        yield low, high


def happens(bounds: Callable[[int], tuple[int, int]], drawn: int = 0, taken: int = 0) -> bool:
    """Whether a uniform number is below a chance.

    Parameters
    ----------
    bounds : callable
        Of so many bits: whole numbers below and above 2^bits times the chance.
    drawn, taken : int
        First bits of the uniform number, and how many they are.

    Examples
    --------
    >>> happens(lambda bits: (1 << bits, 1 << bits)), happens(lambda bits: (0, 0))
    (True, False)
    """
    while True:
        drawn, taken = drawn << _BITS | secrets.randbits(_BITS), taken + _BITS
        low, high = bounds(taken)
        if drawn < low:
            return True
        if drawn >= high:
            return False


def fair_words(size: int, kind: type[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    """Uniform unsigned integers from the operating system.

    Examples
    --------
    >>> fair_words(3, np.uint16).shape
    (3,)
    """
    return np.frombuffer(os.urandom(size * np.dtype(kind).itemsize), kind)


class Cuts:
    r"""Whole numbers by their cumulative chances :math:`F_0 \le F_1 \le \ldots`: how many a uniform number reaches.

    That is 0 with chance :math:`F_0`, and j with chance :math:`F_j - F_{j - 1}`.

    Parameters
    ----------
    bounds : callable
        Of so many bits: whole numbers below and above 2^bits times each cumulative chance, both ascending, all chances
        below 1. There may be more chances than that, even without end: then the last bounds are a lower one of all that
        are left out, and 2^bits.

    Notes
    -----
    How many chances a uniform number U, of which the first bits are u, reaches for certain is how many upper bounds are
    at most u; and how many it may reach is how many lower ones are. Where these are equal it is decided: of 16 bits by
    a table, of 64 by bisection, and where 64 are too few by Python's whole numbers, with 64 bits more at a time. Bounds
    of 64 bits are rounded outwards to those of 16.

    Two bytes and some nanoseconds a number; a table of 2^16 numbers.

    Examples
    --------
    >>> half = Cuts(lambda bits: ([1 << bits - 1], [1 << bits - 1]))  # a fair coin
    >>> sorted(set(half.draw(1000).tolist()))
    [0, 1]
    """

    def __init__(self, bounds: Callable[[int], Bounds]) -> None:
        self._bounds = bounds
        low, high = bounds(_BITS)
        # a chance is reached by u from its upper bound on, which 2^64 may be
        self._low, self._under = np.array(low, np.uint64), np.array([it - 1 for it in high], np.uint64)
        words, rest = np.arange(1 << _FIRST, dtype=np.uint64), np.uint64(_BITS - _FIRST)
        reached, perhaps = self._reached(words, self._low >> rest, self._under >> rest)
        self._first = np.where(reached == perhaps, reached, -1).astype(np.int32)

    @staticmethod
    def _reached(words: NDArray[Any], low: NDArray[Any], under: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.searchsorted(under, words, "left"), np.searchsorted(low, words, "right")

    def draw(self, size: int) -> NDArray[np.int64]:
        """So many independent numbers."""
        words = fair_words(size, np.uint16)
        drawn = self._first[words].astype(np.int64)
        open_ = np.flatnonzero(drawn < 0)
        drawn[open_] = self._closer(words[open_])
        return drawn

    def _closer(self, first: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        rest = np.uint64(_BITS - _FIRST)
        words = first.astype(np.uint64) << rest | fair_words(len(first), np.uint64) >> np.uint64(_FIRST)
        reached, perhaps = self._reached(words, self._low, self._under)
        for at in np.flatnonzero(reached != perhaps):
            reached[at] = self._exactly(int(words[at]))
        return reached

    def _exactly(self, drawn: int) -> int:
        taken = _BITS
        while True:
            drawn, taken = drawn << _BITS | secrets.randbits(_BITS), taken + _BITS
            low, high = self._bounds(taken)
            reached = bisect_right(high, drawn)
            if reached == bisect_right(low, drawn):
                return reached
