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
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.exact import exp_falls
from dprank.privacy.noise import SecureSource, Source

__all__ = ["threshold", "whole_below"]

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
        bounds = list(exp_falls(losses[: near + 1].tolist(), scale, point))
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
