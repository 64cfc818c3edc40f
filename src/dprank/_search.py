"""Where a condition turns: the one search by bisection, of whole numbers and of positive ones."""

from __future__ import annotations

import math
from collections.abc import Callable


def least_whole(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number that fits; `fits` is false, then true.

    Parameters
    ----------
    fits : callable
        Of an integer; false of all small ones, true of all large ones.
    low, high : int
        Where the search begins, `low` below `high`; it goes beyond them where it must.

    Examples
    --------
    >>> least_whole(lambda x: x * x * x > 1000, 0, 4)
    11
    """
    step = high - low
    while fits(low):
        low, high, step = low - step, low, 2 * step
    while not fits(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def least(fits: Callable[[float], bool], start: float, within: float = 2.0**-40) -> float:
    """A positive number that fits, by a share `within` at most above one that does not; `fits` is false, then true.

    Examples
    --------
    >>> round(least(lambda x: x * x >= 2, 1.0), 6)
    1.414214
    """
    return _crossing(fits, start, within)[1]


def largest(fits: Callable[[float], bool], start: float, within: float = 2.0**-40) -> float:
    """A positive number that fits, by a share `within` at most below one that does not; `fits` is true, then false.

    Examples
    --------
    >>> round(largest(lambda x: x * x <= 2, 1.0), 6)
    1.414214
    """
    return _crossing(lambda x: not fits(x), start, within)[0]


def _crossing(turned: Callable[[float], bool], start: float, within: float) -> tuple[float, float]:
    high = start
    while not turned(high):
        high *= 2
    low = high / 2
    while turned(low):
        low, high = low / 2, low
    while high > low * (1 + within):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if turned(middle) else (middle, high)
    return low, high
