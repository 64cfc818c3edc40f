"""Tulap noise on a grid (Awan and Slavkovic 2018): truncated uniform Laplace, drawn exactly."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_floats
from dprank._search import least_whole
from dprank.privacy import noise
from dprank.privacy.noise import Source
from dprank.privacy.randomized_response import GRAIN, randomise

__all__ = ["BITS", "NARROWEST", "UNIT", "WIDEST", "tulap", "tulap_bound", "tulap_delta", "tulap_law", "tulap_sf"]

#: Fair bits of the uniform part of the noise.
BITS = 20
#: Its values are odd multiples of 1 / UNIT, between -1/2 and 1/2.
UNIT = 1 << (BITS + 1)
#: Bounds on noise: the last leaves neighbours something in common, the first makes sums with noise doubles.
WIDEST, NARROWEST = 2.0**30, 0.5 + 2.0**-BITS
_PARTS = 1 << BITS
_WEIGHTS = 2.0 ** np.arange(BITS)
#: More than one and the relative error of a delta that is computed in floats.
_SLACK = 1 + 1e-11


def tulap(values: ArrayLike, scale: float, bound: float = math.inf, *, rng: Source) -> NDArray[np.float64]:
    """Whole numbers with noise: whole Laplace noise plus a part between -1/2 and 1/2, drawn again beyond a bound.

    Parameters
    ----------
    values : array_like of int, shape (values,)
    scale : float
        Of the whole part; at least 0, at most 2^50.
    bound : float
        At least `NARROWEST`, at most `WIDEST`, or infinity.
    rng : numpy.random.Generator or dprank.SECURE

    Returns
    -------
    ndarray of float, shape (values,)
        Where the noise is so wide that a double must be rounded, it is the noisy value that is.

    Notes
    -----
    Exact, whatever the scale. A geometric variable modulo b has the law of one that is below b; with a fair sign, 0 of
    one sign alone, it is the whole part. At least one draw in four is kept.

    Examples
    --------
    >>> noisy = tulap([7] * 1000, scale=2.0, bound=3.25, rng=np.random.default_rng(1))
    >>> bool(np.abs(noisy - 7).max() <= 3.25), round(float((noisy >= 8).mean()), 1)
    (True, 0.3)
    """
    values = np.asarray(values, np.int64)
    if bound == math.inf:
        return values + noise.discrete_laplace(scale, len(values), rng=rng) + _parts(len(values), rng) / UNIT
    blocks, kept = _blocks(bound)
    drawn = np.zeros(0)
    while len(drawn) < len(values):
        many = 4 * (len(values) - len(drawn))
        whole = noise.geometric(scale, many, rng=rng) % (int(blocks) + 1)
        sign, part = randomise(np.ones(many, np.int8), GRAIN // 2, rng), _parts(many, rng)
        # of the last whole number only the parts next to 0
        fits = (whole < blocks) | (part < 2 * kept - _PARTS)
        fits &= (whole > 0) | (sign > 0)
        drawn = np.r_[drawn, (sign * (whole + part / UNIT))[fits]]
    return values + drawn[: len(values)]


def tulap_sf(x: ArrayLike, scale: float, bound: float = math.inf) -> NDArray[np.float64]:
    """P(N >= x) for the noise N of `tulap`, shape of `x`.

    Examples
    --------
    >>> tulap_sf([-0.5, 0.0, 0.5], scale=1.0).round(3).tolist()
    [0.731, 0.5, 0.269]
    """
    x = as_floats("x", x)
    whole = np.floor(x + 0.5)
    below = np.ceil(((x - whole) * UNIT + _PARTS - 1) / 2).clip(0, _PARTS)
    far, mirrored = np.abs(whole), whole < 0
    above = _beyond(far, np.where(mirrored, _PARTS - below, below) / _PARTS, scale, bound)
    return np.where(mirrored, 1 - above, above)


def tulap_delta(scale: float, bound: float) -> float:
    """The delta that a bound spends, rounded up; 0 without one.

    Examples
    --------
    >>> tulap_delta(1.0, math.inf), round(tulap_delta(1.0, 5.0), 4)
    (0.0, 0.0058)
    """
    if bound == math.inf:
        return 0.0
    blocks, kept = _blocks(bound)
    ends = kept / _PARTS * math.exp(-blocks / scale) + (1 - kept / _PARTS) * math.exp(-(blocks - 1) / scale)
    return math.nextafter(ends / _total(scale, bound) * _SLACK, math.inf)


def tulap_bound(scale: float, delta: float) -> float:
    """The least bound that spends at most `delta`; infinity for 0.

    Raises
    ------
    ValueError
        If it is above 2^30.

    Examples
    --------
    >>> round(tulap_bound(1.0, 1e-3), 2)
    6.7
    """
    if delta == 0:
        return math.inf
    if tulap_delta(scale, WIDEST) > delta:
        raise ValueError(f"delta = {delta}; noise of scale {scale:.4g} would be bounded beyond 2^30")
    if tulap_delta(scale, NARROWEST) <= delta:
        return NARROWEST
    return least_whole(lambda t: tulap_delta(scale, t / UNIT) <= delta, round(NARROWEST * UNIT), 8 * UNIT) / UNIT


def tulap_law(scale: float, bound: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The law of bounded noise by what it is next to.

    Parameters
    ----------
    scale, bound : float
        Above 0, and above 1/2.

    Returns
    -------
    whole : ndarray of int, shape (numbers,)
    law : ndarray of float, shape (numbers, 3)
        Probability to be in the lower, the middle and the upper parts between `whole` - 1/2 and `whole` + 1/2, of which
        the bound leaves each wholly or not at all.

    Examples
    --------
    >>> whole, law = tulap_law(scale=1.0, bound=0.75)
    >>> whole.tolist(), law.round(3).tolist()
    ([-1, 0, 1], [[0.0, 0.0, 0.078], [0.211, 0.422, 0.211], [0.078, 0.0, 0.0]])
    """
    blocks, kept = _blocks(bound)
    whole, least = np.arange(-int(blocks), int(blocks) + 1), min(kept, _PARTS - kept)
    parts = np.array([least, _PARTS - 2 * least, least]) / _PARTS
    fits = np.ones((len(whole), 3), bool)
    fits[-1] = [kept > 0, 2 * kept > _PARTS, False]
    fits[0] = fits[-1, ::-1]
    return whole, fits * parts * np.exp(-np.abs(whole) / scale)[:, None] / _total(scale, bound)


@lru_cache(1 << 8)
def _blocks(bound: float) -> tuple[float, int]:
    """The last whole number that noise comes next to, and how many of its 2^20 parts a bound leaves."""
    if bound == math.inf:
        return math.inf, 0
    blocks = math.floor(bound + 0.5)
    return blocks, min(max((math.floor((bound - blocks) * UNIT) + _PARTS + 1) // 2, 0), _PARTS)


def _parts(size: int, rng: Source) -> NDArray[np.int64]:
    """Uniform odd numbers between -2^20 and 2^20."""
    bits = randomise(np.ones((size, BITS), np.int8), GRAIN // 2, rng)
    return (bits.astype(float) @ _WEIGHTS).astype(np.int64)  # far below 2^53


def _from(whole: Any, scale: float, bound: float) -> NDArray[np.float64]:
    """Weight exp(-w / scale) of all whole numbers w from this one on, at least 1, that a bound leaves."""
    blocks, kept = _blocks(bound)
    with np.errstate(over="ignore"):  # of scales next to 0
        full = np.exp(-whole / scale) * np.expm1(-np.maximum(blocks - whole, 0) / scale) / math.expm1(-1 / scale)
    return np.asarray(np.where(whole <= blocks, full + kept / _PARTS * math.exp(-blocks / scale), 0.0))


@lru_cache(1 << 8)
def _total(scale: float, bound: float) -> float:
    return 1 + 2 * float(_from(1, scale, bound))


def _beyond(whole: NDArray[np.float64], share: NDArray[np.float64], scale: float, bound: float) -> NDArray[np.float64]:
    """P(noise is next to `whole`, at least 0, but for a lower `share` of its parts, or above)."""
    blocks, kept = _blocks(bound)
    own = np.where(whole < blocks, 1 - share, np.maximum(kept / _PARTS - share, 0)) * (whole <= blocks)
    with np.errstate(over="ignore"):
        own *= np.exp(-whole / scale)
    return np.asarray((own + _from(whole + 1, scale, bound)) / _total(scale, bound))
