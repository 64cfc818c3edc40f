"""Where a condition turns: the one search by bisection, of whole numbers and of positive ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

#: How many times the width of a search a border is bracketed by: values may be rounded to so much.
_ROUGH = 16


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


def least_whole_under(value: Callable[[int], float], most: float, low: int, high: int) -> int:
    """What `least_whole` finds of ``value(x) <= most``, with less than half of the calls; `value` falls.

    Examples
    --------
    >>> least_whole_under(lambda x: 2.0**-x, 1e-6, 0, 1 << 20)
    20
    """
    from scipy.optimize import brentq  # a fifth of a second, and few commands need it

    value = cache(value)
    if value(low) > most >= value(high):
        near = math.floor(brentq(lambda x: _log(value(round(x))) - _log(most), low, high, xtol=0.5, disp=False))
        low, high = near - 1, near + 1
    return least_whole(lambda x: value(x) <= most, low, high)


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


def least_under(value: Callable[[float], float], most: float, start: float, within: float = 2.0**-40) -> float:
    """What `least` finds of ``value(x) <= most``, with less than half of the calls; `value` falls.

    Examples
    --------
    >>> least_under(lambda x: 1 / x, 3.0, 1.0) == least(lambda x: 1 / x <= 3.0, 1.0)
    True
    """
    value = cache(value)
    return _bracketed(value, most, lambda x: value(x) <= most, start, within)[1]


def largest_under(value: Callable[[float], float], most: float, start: float, within: float = 2.0**-40) -> float:
    """What `largest` finds of ``value(x) <= most``, with less than half of the calls; `value` rises.

    Examples
    --------
    >>> largest_under(lambda x: x * x, 3.0, 1.0) == largest(lambda x: x * x <= 3.0, 1.0)
    True
    """
    value = cache(value)
    return _bracketed(value, most, lambda x: not value(x) <= most, start, within)[0]


def _bracketed(
    value: Callable[[float], float], most: float, turned: Callable[[float], bool], start: float, within: float
) -> tuple[float, float]:
    """The same as `_crossing`, step by step: what lies beyond a narrow bracket of the border is not asked."""
    from scipy.optimize import brentq  # a fifth of a second, and few commands need it

    low, _ = _crossing(turned, start, 1.0)

    def excess(power: float) -> float:
        return _log(value(low * 2.0**power)) - _log(most)

    power, end = brentq(excess, 0.0, 1.0, xtol=within, full_output=True, disp=False)
    if not end.converged:
        return _crossing(turned, start, within)
    near = low * 2.0 ** float(power)
    below, above = near * (1 - _ROUGH * within), near * (1 + _ROUGH * within)
    found = _crossing(lambda x: x >= above or (x > below and turned(x)), start, within)
    return found if turned(found[1]) and not turned(found[0]) else _crossing(turned, start, within)


def _log(x: float) -> float:
    """Finite, of 0 and of infinity too; what is no number is more than any."""
    return math.log(max(min(math.nextafter(math.inf, 0.0), x), math.ulp(0.0)))


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
