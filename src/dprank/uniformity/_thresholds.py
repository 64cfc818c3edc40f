"""Thresholds of tests: the least whole number from which something holds."""

from __future__ import annotations

from collections.abc import Callable

#: Size from which rounding could keep a search for a threshold from ending.
LARGEST = 1 - 1e-9
#: Least size for which the exact law of Kendall distances, absolute error 1e-12, is asked.
LEAST_EXACT = 1e-10


def least_whole(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number that fits, by bisection; `fits` is false, then true.

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
