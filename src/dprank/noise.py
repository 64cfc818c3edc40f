"""Noise: seeded for research, exact and unseeded for releases.

Seeded noise can be reproduced, hence undone, by whoever knows the seed, and floating-point Laplace noise can leak what
it should hide (Mironov 2012). A release of real data therefore takes integer noise from `SECURE`.
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: 2^13 scales reach the end of 64-bit integers; a draw gets there with probability exp(-2^13).
_WIDEST = 2.0**50


class SecureSource:
    """Randomness of the operating system, through OpenDP's exact samplers: for releases, cannot be seeded."""

    def discrete_laplace(self, scale: float, size: int) -> NDArray[np.int64]:
        """Independent integers with P(x) proportional to exp(-abs(x) / scale)."""
        try:
            import opendp.prelude as dp
        except ImportError:
            raise ImportError("secure noise needs OpenDP: pip install 'dprank[release]'") from None
        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64"), size), dp.l1_distance(T="i64")
        return np.array(dp.m.make_laplace(*space, scale)([0] * size), np.int64)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniformly random order of 0 .. n - 1."""
        order = list(range(n))
        secrets.SystemRandom().shuffle(order)
        return np.array(order)

    def __repr__(self) -> str:
        return "dprank.noise.SECURE"


#: The source of randomness to pass as ``rng`` when publishing.
SECURE = SecureSource()


def laplace(scale: float, size: Any, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Independent Laplace noise with density exp(-abs(x) / scale) / (2 scale), for research only.

    Parameters
    ----------
    scale : float
        At least 0, finite; 0 gives no noise.
    size : int or tuple of int
    rng : numpy.random.Generator
    """
    _check_scale(scale)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r}; floating-point noise is for research: pass a numpy.random.Generator")
    return rng.laplace(0.0, scale, size)


def discrete_laplace(scale: float, size: Any, *, rng: np.random.Generator | SecureSource) -> NDArray[np.int64]:
    """Independent integers with P(x) = tanh(1 / (2 scale)) exp(-abs(x) / scale).

    Parameters
    ----------
    scale : float
        At least 0, at most 2^50; 0 gives no noise.
    size : int or tuple of int
    rng : numpy.random.Generator or `SECURE`
        A seeded generator for research, `SECURE` for publishing.

    Notes
    -----
    The difference of two geometric variables with failure probability exp(-1 / scale).
    """
    _check_scale(scale)
    if scale > _WIDEST:
        raise ValueError(f"scale = {scale}; above 2^50 the draws would not fit 64 bits")
    if not isinstance(rng, np.random.Generator | SecureSource):
        raise ValueError(f"rng = {rng!r}; a numpy.random.Generator or dprank.noise.SECURE is needed")
    shape = (size,) if np.isscalar(size) else tuple(size)
    if scale == 0:
        return np.zeros(shape, np.int64)
    if isinstance(rng, SecureSource):
        return rng.discrete_laplace(scale, math.prod(shape)).reshape(shape)
    success = -math.expm1(-1 / scale)
    return rng.geometric(success, shape) - rng.geometric(success, shape)


def _check_scale(scale: float) -> None:
    if not 0 <= scale < math.inf:
        raise ValueError(f"scale = {scale}; it must be at least 0 and finite")
