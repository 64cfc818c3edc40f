r"""Exact noise on whole numbers, many draws at once, from the operating system's fair bits: no float decides.

*Laplace.* Let :math:`q = e^{-1 / s}`, s the rational number that the scale is. Discrete Laplace noise is at least 0
with chance :math:`\sum_{x \ge 0} q^x \frac{1 - q}{1 + q} = \frac{1}{1 + q}`; then it is a geometric number g, of
:math:`P(g) = (1 - q) q^g`, and else :math:`-1 - g`, since
:math:`\frac{1 - q}{1 + q} q^{1 + g} = \frac{q}{1 + q} (1 - q) q^g`. So a coin and g are independent.

*Digits.* Write :math:`g = \sum_i 2^{w i} d_i`, all digits but the last below :math:`2^w`. As :math:`q^g` is the product
of :math:`q^{2^{w i} d_i}`, digits are independent, each with chances in proportion to its factor: the cumulative ones
are :math:`(1 - q^{u (j + 1)}) / (1 - q^{u n})` of a digit of n values that counts u each, and
:math:`1 - q^{u (j + 1)}` of the last, which has no end.

*Gauss.* Let :math:`x = \pm (2^w h + l)` with :math:`0 \le l < 2^w`, and :math:`r = s / 2^w`. Then
:math:`e^{-x^2 / (2 s^2)} = e^{-h^2 / (2 r^2)} e^{-\gamma}` with
:math:`\gamma = \frac{l}{2^w} (2 h + \frac{l}{2^w}) / (2 r^2)`. Draw h with chances in proportion to the first factor, l
and the sign uniformly; keep them with chance :math:`e^{-\gamma}`, but not a 0 whose sign is minus. What is kept has
chances in proportion to :math:`e^{-x^2 / (2 s^2)}`: a number comes about in one way, 0 too.

*A coin of chance* :math:`e^{-\gamma}` for :math:`\gamma \le 1` needs no exponential (Forsythe 1972; Canonne, Kamath and
Steinke 2020, Algorithm 1): with coins of chances :math:`\gamma / 1, \gamma / 2, \ldots` until the first that fails, the
K-th, :math:`P(K > k) = \gamma^k / k!`, so that K is odd with chance
:math:`\sum_k (-\gamma)^k / k! = e^{-\gamma}`. Here :math:`2^{32} \gamma` lies between whole numbers (`_rates`), and
:math:`\gamma` is rational: what 32 bits of a coin leave open is decided by more of them, and by fractions. Where
:math:`\gamma` may be above 1, the exponential itself is bounded.

*All other chances* are decided by `dprank.privacy.exact.Cuts`, between bounds that are products of whole numbers,
rounded down and up (`dprank.privacy.exact.exp_falls`). How many digits there are, and of how many bits, is chosen with
floats: any choice has the same law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, count

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.exact import Bounds, Cuts, exp_bounds, exp_falls, fair_words, happens

__all__ = ["MANY", "gaussian", "geometric", "laplace", "permutation"]

#: From so many draws on they are quicker made here than by OpenDP.
MANY = 10_000
#: Draws at a time, which bounds memory.
_BLOCK = 1 << 16
#: A digit has at most so many bits; and the last one counts at least a sixteenth of the scale.
_DIGIT, _SHARE = 8, 16
#: Gaussian noise is looked up in steps of at most a share of the scale of 2^-5, and of at least 2^-6.
_STEP = 5
#: Bits that products of bounds may lose.
_GUARD = 16
#: Bits of the first look at a coin, and of the fraction l / 2^w in it.
_COIN, _FINE = 32, 20


def laplace(scale: float, size: int) -> NDArray[np.int64]:
    """Independent integers with P(x) proportional to exp(-abs(x) / scale), exactly.

    Parameters
    ----------
    scale : float
        Above 0, at most 2^50.
    size : int
        At least 0.

    Notes
    -----
    Some 50 nanoseconds a draw, growing like the logarithm of the scale, and some milliseconds for a new scale. 8 bytes
    a draw, and some megabytes. Time does not depend on anything but scale, size and the bits drawn.

    Examples
    --------
    >>> draws = laplace(1 / math.log(2), 10**5)
    >>> [round(float((draws == x).mean()), 1) for x in (-1, 0, 1)]
    [0.2, 0.3, 0.2]
    """
    return _filled(size, partial(_laplace, scale))


def geometric(scale: float, size: int) -> NDArray[np.int64]:
    """Independent integers with P(x) proportional to exp(-x / scale) for x >= 0, exactly.

    Parameters
    ----------
    scale, size
        As of `laplace`, as are time and memory.

    Examples
    --------
    >>> draws = geometric(1 / math.log(2), 10**5)
    >>> [round(float((draws == x).mean()), 1) for x in (0, 2)]
    [0.5, 0.1]
    """
    return _filled(size, partial(_geometric, scale))


def gaussian(scale: float, size: int) -> NDArray[np.int64]:
    """Independent integers with P(x) proportional to exp(-x^2 / (2 scale^2)), exactly.

    Parameters
    ----------
    scale, size
        As of `laplace`, as is memory.

    Notes
    -----
    Some 100 nanoseconds a draw. About 98 of 100 are kept where the scale is wide, half of them next to 0.

    Examples
    --------
    >>> draws = gaussian(2.0, 10**5)
    >>> round(float(draws.std()), 1)
    2.0
    """
    return _filled(size, partial(_gaussian, scale))


def permutation(n: int) -> NDArray[np.int64]:
    """A uniformly random order of 0 .. n - 1: that of so many random numbers, all drawn again where two are equal.

    Parameters
    ----------
    n : int
        At least 0, at most 10^8: two numbers are then equal with a chance below 1 in 3,000.

    Notes
    -----
    Of numbers that are all different every order is equally likely. O(n log n), some 100 nanoseconds an item.

    Examples
    --------
    >>> sorted(permutation(3).tolist())
    [0, 1, 2]
    """
    while True:
        keys = fair_words(n, np.uint64)
        order = np.argsort(keys)
        if (keys[order[1:]] != keys[order[:-1]]).all():
            return order


def _filled(size: int, draw: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
    """The first draws, so many; `draw` gives at most as many as it is asked for."""
    drawn, held = np.empty(size, np.int64), 0
    while held < size:
        more = draw(min(_BLOCK, size - held))
        drawn[held : held + len(more)] = more
        held += len(more)
    return drawn


def _laplace(scale: float, size: int) -> NDArray[np.int64]:
    # -1 - g has all bits of g turned
    return _geometric(scale, size) ^ -_negative(scale).draw(size)


def _geometric(scale: float, size: int) -> NDArray[np.int64]:
    drawn = np.zeros(size, np.int64)
    for shift, digit in _digits(scale):
        drawn += digit.draw(size) << shift
    return drawn


@lru_cache(16)
def _negative(scale: float) -> Cuts:
    """1 with chance q / (1 + q)."""

    def bounds(bits: int) -> Bounds:
        low, high = exp_bounds(1, scale, bits)
        half = 1 << 2 * bits
        return [half // ((1 << bits) + high)], [-(-half // ((1 << bits) + low))]

    return Cuts(bounds)


@lru_cache(16)
def _digits(scale: float) -> list[tuple[int, Cuts]]:
    """How far each digit is shifted, and its chances; as few digits as may be, of as few bits."""
    bits = max(0, math.frexp(scale / _SHARE)[1])
    low = -(-bits // _DIGIT)
    width = -(-bits // low) if low else 0
    shifts = [width * it for it in range(low + 1)]
    closed = [(shift, Cuts(partial(_closed, scale, 1 << shift, 1 << width))) for shift in shifts[:-1]]
    return [*closed, (shifts[-1], Cuts(partial(_open, scale, 1 << shifts[-1])))]


def _closed(scale: float, unit: int, values: int, bits: int) -> Bounds:
    r"""Of :math:`(1 - q^{u (j + 1)}) / (1 - q^{u n})` for j below n - 1."""
    point = bits + 4 * _GUARD + max(0, math.frexp(scale / unit)[1])
    one = 1 << point
    falls = list(exp_falls(range(0, unit * values + 1, unit), scale, point))[1:]
    least, most = one - falls[-1][1], one - falls[-1][0]
    low = [(one - high << bits) // most for _, high in falls[:-1]]
    return low, [min(1 << bits, -(-(one - low << bits) // least)) for low, _ in falls[:-1]]


def _open(scale: float, unit: int, bits: int) -> Bounds:
    r"""Of :math:`1 - q^{u (j + 1)}`, up to where less than a unit is left."""
    point = bits + _GUARD
    low, high = [], []
    for least, most in _until_rare(exp_falls(count(0, unit), scale, point)):
        low.append((1 << point) - most >> _GUARD)
        high.append(-(least - (1 << point) >> _GUARD))
    return [*low[1:], low[-1]], [*high[1:], 1 << bits]


def _until_rare(falls: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for low, high in falls:
        yield low, high
        if high < 1 << _GUARD:
            return


def _gaussian(scale: float, size: int) -> NDArray[np.int64]:
    shift = max(0, math.frexp(scale)[1] - 1 - _STEP)
    step = Fraction(scale) / (1 << shift)
    drawn = _steps(step).draw(size)
    negative = fair_words(size, np.uint8) & 1 == 1
    kept = np.ones(size, bool)
    if shift:
        rest = (fair_words(size, np.uint64) >> np.uint64(64 - shift)).astype(np.int64)
        kept = _kept(drawn, rest, shift, step)
        drawn = (drawn << shift) + rest
    kept &= ~(negative & (drawn == 0))
    return np.where(negative, -drawn, drawn)[kept]


@lru_cache(16)
def _steps(step: Fraction) -> Cuts:
    r"""Of h with chances in proportion to :math:`e^{-h^2 / (2 r^2)}`."""

    def bounds(bits: int) -> Bounds:
        point, width = bits + 2 * _GUARD, 2 * step * step
        falls = list(_until_rare(exp_falls((h * h for h in count()), width, point)))
        # those left out fall at least like a geometric series: (n + t)^2 >= n^2 + 2 n t
        last, ratio = len(falls) - 1, exp_bounds(2 * len(falls) - 2, width, point)[1]
        rest = -(-(falls[last][1] << point) // ((1 << point) - ratio))
        below, above = (list(accumulate(side)) for side in zip(*falls[:-1], strict=True))
        least, most = below[-1], above[-1] + rest
        low = [(it << bits) // most for it in below]
        return [*low, low[-1]], [*(min(1 << bits, -(-(it << bits) // least)) for it in above), 1 << bits]

    return Cuts(bounds)


def _kept(h: NDArray[np.int64], rest: NDArray[np.int64], shift: int, step: Fraction) -> NDArray[np.bool_]:
    r"""True with chance :math:`e^{-\gamma}` each."""
    low, high = _rates(h, rest, shift, step)

    def rate(at: int) -> Fraction:
        return _rate(int(h[at]), int(rest[at]), shift, step)

    kept = np.ones(len(h), bool)
    wide = (high > 1 << _COIN) | (h >= 1 << 11)
    for at in np.flatnonzero(wide).tolist():
        kept[at] = happens(partial(_fallen, rate(at)))
    going = np.flatnonzero(~wide)
    for coin in count(1):
        going = going[_coins(low[going], high[going], coin, going, rate)]
        if not len(going):
            break
        # unless more of them succeed, the first to fail is the next
        kept[going] = coin % 2 == 0
    return kept


def _fallen(rate: Fraction, bits: int) -> tuple[int, int]:
    return exp_bounds(1, 1 / rate, bits)


def _coins(
    low: NDArray[np.int64], high: NDArray[np.int64], over: int, at: NDArray[np.int64], rate: Callable[[int], Fraction]
) -> NDArray[np.bool_]:
    r"""True with chance :math:`\gamma / k` each."""
    words = (fair_words(len(low), np.uint32) >> np.uint32(32 - _COIN)).astype(np.int64)
    true = (words + 1) * over <= low
    for open_ in np.flatnonzero(~true & (words * over < high)).tolist():
        true[open_] = happens(partial(_rounded, rate(at[open_]) / over), int(words[open_]), _COIN)
    return true


def _rounded(chance: Fraction, bits: int) -> tuple[int, int]:
    doubled = chance * (1 << bits)
    return math.floor(doubled), math.ceil(doubled)


def _rate(h: int, rest: int, shift: int, step: Fraction) -> Fraction:
    r""":math:`\gamma`."""
    share = Fraction(rest, 1 << shift)
    return share * (2 * h + share) / (2 * step * step)


def _rates(
    h: NDArray[np.int64], rest: NDArray[np.int64], shift: int, step: Fraction
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Whole numbers below and above :math:`2^{32} \gamma`, of h below 2^11; they and all on the way are below 2^63.

    With the first 20 bits of :math:`l / 2^w`, a, :math:`2^{40} \frac{l}{2^w} (2 h + \frac{l}{2^w})` is at least
    :math:`a (2^{21} h + a)`, and at most the same of a + 1.
    """
    a = rest >> shift - _FINE if shift > _FINE else rest << _FINE - shift
    twice, most = h << _FINE + 1, a + 1
    width = (1 << _COIN) / (2 * step * step)
    low = (a * (twice + a) >> _FINE) * math.floor(width) >> _FINE
    high = ((most * (twice + most) >> _FINE) + 1) * math.ceil(width) >> _FINE
    return low, high + 1
