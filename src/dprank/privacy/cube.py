"""Noise on whole numbers whose law depends on the largest of them alone: the K-norm mechanism of a cube."""

from __future__ import annotations

import math
import secrets
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE, require_at_least_0, require_positive, require_probability, require_whole
from dprank._search import least_whole
from dprank.privacy.noise import SecureSource, Source, require_source
from dprank.privacy.pair_errors import PairError

__all__ = ["CubeError", "cube_law", "cube_noise", "require_radii"]

#: Radii that are looked at, at most.
_MOST_RADII = 2 * 10**5
#: Bits of chance that are drawn first, and twice as many wherever they do not decide.
_BITS = 128
#: Of one of them, or a little more.
_NATS = 0.7


def cube_noise(scale: float, n: int, size: int, *, rng: Source) -> NDArray[np.int64]:
    r"""Vectors of n whole numbers with P(z) proportional to exp(-max(abs(z)) / scale).

    The K-norm mechanism (Hardt and Talwar 2010) of a cube, on the whole numbers: a move of at most D in each number
    changes the largest by at most D, and the chance by a factor of at most :math:`e^{D / scale}`.

    Parameters
    ----------
    scale : float
        At least 0; 0 gives no noise.
    n : int
        From 1 to 10^4.
    size, rng
        As of `dprank.privacy.conditioned.conditioned_laplace`.

    Returns
    -------
    ndarray of int, shape (size, n)

    Raises
    ------
    ValueError
        Naming what is out of range, or a scale so wide that more than 200,000 radii were to be looked at.

    Notes
    -----
    :math:`e^{-r / scale}` is in proportion to the sum of :math:`e^{-t / scale}` over whole t from r on. So z is uniform
    in the cube of radius t, where t has weight :math:`(2 t + 1)^n e^{-t / scale}`. `SECURE` inverts the distribution
    function of t: weights are bounded from both sides by whole numbers, from a correctly rounded exponential, and what
    is beyond the last t by a geometric series. Where the bits of chance do not decide between two t, as many again are
    drawn and bounds are computed to twice as many. O(n scale) the first time, and O(n) a vector.

    Examples
    --------
    >>> drawn = cube_noise(2.0, 3, 10**5, rng=np.random.default_rng(1))
    >>> round(float(np.abs(drawn).max(axis=1).mean()))  # n scale, about
    6
    """
    scale, n = require_at_least_0("scale", scale), require_whole("n", n, 1, 10_000)
    size = require_whole("size", size, 0, MOST_AT_ONCE // n)
    require_source(rng)
    if scale == 0:
        return np.zeros((size, n), np.int64)
    if isinstance(rng, SecureSource):
        rows = [[secrets.randbelow(2 * t + 1) - t for _ in range(n)] for t in (_radius(scale, n) for _ in range(size))]
        return np.array(rows, np.int64).reshape(size, n)
    below = np.cumsum(cube_law(scale, n))
    radius = np.minimum(np.searchsorted(below, rng.random(size), "right"), len(below) - 1)[:, None]
    return rng.integers(-radius, radius + 1, (size, n))


def cube_law(scale: float, n: int) -> NDArray[np.float64]:
    """Chances of the radii 0, 1, ... of the cubes in which `cube_noise` is uniform, but for less than exp(-60).

    Parameters
    ----------
    scale, n
        As of `cube_noise`; the scale above 0.

    Examples
    --------
    >>> cube_law(1.0, 1).round(3).tolist()[:3]  # in proportion to (2 t + 1) exp(-t)
    [0.292, 0.322, 0.198]
    """
    scale, n = require_positive("scale", scale), require_whole("n", n, 1, 10_000)
    t = np.arange(_beyond(scale, n, 60.0))
    with np.errstate(over="ignore"):  # of scales next to 0
        log_weight = n * np.log(2 * t + 1) - t / scale
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def require_radii(scale: float, n: int) -> None:
    """Refuse a scale of which `SECURE` would look at more than 200,000 radii.

    Examples
    --------
    >>> require_radii(50.0, 3)
    >>> require_radii(5e4, 3)
    Traceback (most recent call last):
        ...
    ValueError: scale = 50000.0; with n = 3 more than 200000 radii would be looked at
    """
    _beyond(scale, n, _NATS * _BITS + 20)


def _beyond(scale: float, n: int, nats: float) -> int:
    """A radius that is passed with chance exp(-nats), about: that of a gamma variable (Laurent and Massart 2000)."""
    far = scale * (n + 1 + math.sqrt(2 * (n + 1) * nats) + nats) + 3
    if far > _MOST_RADII:
        raise ValueError(f"scale = {scale}; with n = {n} more than {_MOST_RADII} radii would be looked at")
    return math.ceil(far)


def _radius(scale: float, n: int) -> int:
    chance, bits = 0, 0
    while True:
        more = bits or _BITS
        chance, bits = chance << more | secrets.randbits(more), bits + more
        low, high, most = _bounds(scale, n, bits)
        # below is what is at t or less, over all: the exact chance lies in [chance, chance + 1) / 2^bits
        t = bisect_right(low, chance * low[-1] >> bits)
        decided = t < len(low) and (chance + 1) * most <= low[t] << bits
        if decided and (t == 0 or chance * low[-1] >= high[t - 1] << bits):
            return t


@lru_cache(maxsize=4)
def _bounds(scale: float, n: int, bits: int) -> tuple[list[int], list[int], int]:
    """Whole numbers below and above the cumulative weights, and one above that of all radii."""
    last = _beyond(scale, n, _NATS * bits + 20)
    fraction = bits + 64 + math.ceil(1.5 * min(last / scale, 1e6))
    one = 1 << fraction
    less, more = 0, 1
    if 1 / scale < fraction:
        # 30 digits behind the point are right at least, though 1 / scale is rounded: a unit to either side is enough
        exact = Context(prec=fraction * 31 // 100 + 40)
        ratio = exact.exp(exact.minus(exact.divide(Decimal(1), Decimal(scale))))
        near = int(exact.multiply(ratio, Decimal(one)))
        less, more = max(near - 1, 0), near + 2
    low, high, down, up, total_low, total_high = [], [], one, one, 0, 0
    for t in range(last):
        power = (2 * t + 1) ** n
        total_low, total_high = total_low + power * down, total_high + power * up
        low.append(total_low)
        high.append(total_high)
        down, up = down * less >> fraction, (up * more >> fraction) + 1
    first = (2 * last + 1) ** n * up
    above, below = (2 * last + 3) ** n * more, (2 * last + 1) ** n << fraction
    assert above < below, "weights beyond the last fall as a geometric series"
    return low, high, total_high + first * below // (below - above) + 1


@dataclass(frozen=True)
class CubeError(PairError):
    """Error in the difference of two scores with noise of `cube_noise`.

    Parameters
    ----------
    noises
        One law of Laplace noise on a grid, of that scale, twice.
    deviation
        As in `PairError`; drawing comes on top, with half of the chance.
    n_items : int

    Notes
    -----
    Of two numbers, uniform up to t, :math:`(2 t + 1 - k) (2 t + 2 - k) / 2` pairs of :math:`(2 t + 1)^2` differ by k
    or more in one direction.

    Examples
    --------
    >>> from dprank.privacy.ranges import ScoreNoise
    >>> CubeError(((ScoreNoise("laplace", 2.0, step=1.0), 2, 1.0),), n_items=5).quantile(0.01)
    27.0
    """

    n_items: int = 2

    def quantile(self, chance: float) -> float:
        """A number that the error exceeds with at most that chance."""
        chance = require_probability("chance", chance)
        share, law = chance / 2 if self.deviation else chance, self.noises[0][0]
        radii = cube_law(law.scale / law.step, self.n_items)
        sides = 2 * np.arange(len(radii)) + 1.0

        def fits(q: int) -> bool:
            rest = np.maximum(sides - q - 1, 0)
            return float(radii @ (rest * (rest + 1) / 2 / sides**2)) + 1e-13 <= share

        noise = least_whole(fits, -1, 1) * law.step
        return noise + PairError(deviation=self.deviation).quantile(share) if self.deviation else noise
