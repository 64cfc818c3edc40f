r"""Exact draws of a threshold on whole losses: the exponential mechanism over classes far too many to list.

Let N(t) be how many outcomes lose at most t. To draw an outcome with probability proportional to exp(-loss / scale) is
to draw a threshold t of the losses with probability proportional to :math:`N(t) (e^{-t / scale} - e^{-t' / scale})`,
t' the next loss, and then any outcome that loses at most t, all alike: an outcome of loss l comes with weight
:math:`\sum_{t \ge l} (e^{-t / scale} - e^{-t' / scale}) = e^{-l / scale}`.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_left
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.noise import SecureSource, Source

__all__ = ["exp_bounds", "threshold", "whole_below"]

#: Bits of the uniform number that are drawn at a time.
_BITS = 64


def threshold(
    losses: NDArray[np.int64],
    counts: Callable[[NDArray[np.int64]], list[int]],
    total: int,
    scale: float,
    draw_bits: Callable[[int], int],
) -> int:
    r"""A loss t with probability proportional to :math:`N(t) (e^{-t / scale} - e^{-t' / scale})`, exactly.

    Parameters
    ----------
    losses : ndarray of int, shape (losses,)
        All that occur, increasing, from 0 on.
    counts : callable
        How many outcomes lose at most so much, N, for an array of losses.
    total : int
        N of the largest loss: of all outcomes.
    scale : float
        Above 0; taken as the rational number that it is.
    draw_bits : callable
        So many independent fair bits, as a whole number.

    Returns
    -------
    int

    Notes
    -----
    A uniform number on [0, 1) is drawn bit by bit, and sums of weights are known between bounds that grow tighter with
    the bits: what comes out is decided only where no digit still to come could change it. Losses beyond the reach of
    the bits so far, together at most the total times the next weight, wait for more of them. 64 bits decide but with a
    chance of about the number of losses in 2^60. Numbers have as many digits as `total`.

    Examples
    --------
    >>> counts = lambda t: [1 + int(x) for x in t]  # one outcome for each loss
    >>> [threshold(np.arange(9), counts, 9, 1.0, lambda n, b=b: b) for b in (0, 2**63, 2**64 - 1)]
    [0, 1, 8]
    """
    drawn = taken = 0
    while True:
        drawn, taken = drawn << _BITS | draw_bits(_BITS), taken + _BITS
        reach = scale * (math.log(total) + taken * math.log(2))
        near = int(np.searchsorted(losses, reach, "right"))
        # every weight is off by so many times the rounding of one
        point = taken + total.bit_length() + 2 * near.bit_length() + 4
        bounds = _weights(losses[: near + 1], scale, point)
        if near == len(losses):
            bounds.append((0, 0))
        alike = counts(losses[:near])
        least = [n * max(0, low - high) for n, (low, _), (_, high) in zip(alike, bounds, bounds[1:], strict=False)]
        most = [n * (high - low) for n, (_, high), (low, _) in zip(alike, bounds, bounds[1:], strict=False)]
        low, high = list(accumulate(least)), list(accumulate(most))
        # weights up to the place sum to more than the uniform number could be of all, and those before to no more
        place = bisect_left(low, -(-(drawn + 1) * (high[-1] + total * bounds[-1][1]) >> taken))
        if near == len(losses):
            place = min(place, near - 1)
        if place < near and (place == 0 or high[place - 1] << taken <= drawn * low[-1]):
            return int(losses[place])


def _weights(losses: NDArray[np.int64], scale: float, point: int) -> list[tuple[int, int]]:
    """Bounds of 2^point exp(-loss / scale) of increasing losses from 0 on, each from the one before."""
    steps = np.diff(losses).tolist()
    factors = {step: exp_bounds(step, scale, point) for step in set(steps)}
    bounds = [(1 << point, 1 << point)]
    for step in steps:
        (low, high), (least, most) = bounds[-1], factors[step]
        bounds.append((low * least >> point, -(-high * most >> point)))
    return bounds


def exp_bounds(loss: int, scale: float, point: int) -> tuple[int, int]:
    """Whole numbers below and above 2^point exp(-loss / scale), at most 3 apart.

    Parameters
    ----------
    loss : int
        At least 0.
    scale : float
        Above 0.
    point : int

    Notes
    -----
    Python's decimal exponential is rounded correctly. Its argument, off by a share of one digit in the last place, is
    below 10^20 where the result is not 0.

    Examples
    --------
    >>> low, high = exp_bounds(1, 2.0, 20)
    >>> low <= 2**20 * math.exp(-0.5) <= high
    True
    """
    rate = Fraction(loss) / Fraction(scale)
    if rate > 2 * point:
        return 0, 1
    digits = Context(prec=math.ceil(point * math.log10(2)) + len(str(math.ceil(rate))) + 25, Emin=-(10**9))
    exponent = digits.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    below = math.floor(digits.multiply(digits.exp(exponent), Decimal(1 << point)))
    return max(0, below - 1), below + 2


def whole_below(n: int, rng: Source) -> int:
    """A uniformly random whole number from 0 to n - 1, however large n is.

    Examples
    --------
    >>> 0 <= whole_below(10**30, np.random.default_rng(1)) < 10**30
    True
    """
    if isinstance(rng, SecureSource):
        return secrets.randbelow(n)
    if n <= 1 << 62:
        return int(rng.integers(n))
    size = n.bit_length()
    while (drawn := int.from_bytes(rng.bytes(-(-size // 8))) >> (-size % 8)) >= n:
        pass
    return drawn
