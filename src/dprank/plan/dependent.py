"""Laws of noises that depend on each other: Laplace noise that sums to zero, and noise uniform in a random cube.

Both are mixtures: given one number, the difference of two of the noises is uniform, triangular, or exponential beyond
a point. With a normal variable on top each of these has a closed form.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._quadrature import gauss
from dprank._require import as_floats
from dprank._search import least

__all__ = ["Dependent", "dependent_apart", "dependent_draws", "dependent_right", "dependent_variance"]

Array = NDArray[np.float64]
#: The noises of `dprank.NoisyCounts` that are not drawn item by item.
Dependent = Literal["conditioned", "cube"]
#: A normal variable so many times wider than the noise hides its law.
_WIDE = 300.0
#: Nodes of a radius, by its quantiles; and where the sum of two conditioned noises ends, but for exp(-80).
_RADII, _END = 96, 40.0


class _Mixture(NamedTuple):
    """Radii, in scales, and their chances."""

    at: Array
    chance: Array


@lru_cache(maxsize=16)
def _mixture(noise: Dependent, n_items: int) -> _Mixture:
    """Of a cube half its side; of conditioned noise the sum of two noises, without its sign."""
    if noise == "cube":  # the volume of a cube makes a gamma variable of an exponential one
        x, weight = gauss(np.array([0.0]), np.array([1.0]), _RADII)
        return _Mixture(scipy.special.gammaincinv(n_items + 1, x), weight)
    if n_items == 2:
        return _Mixture(np.zeros(1), np.ones(1))
    edges = np.linspace(0, _END, 7)
    t, weight = gauss(edges[:-1], edges[1:], 16)
    # the others sum to the same: of n Laplace variables the density is exp(-t) times a polynomial
    n = n_items - 2
    k = np.arange(n)
    logs = (
        scipy.special.gammaln(2 * n - 1 - k)
        - scipy.special.gammaln(n)
        - scipy.special.gammaln(n - k)
        - scipy.special.gammaln(k + 1)
        + k * np.log(2 * t[:, None])
    )
    log_chance = scipy.special.logsumexp(logs, axis=1) - 2 * t + np.log1p(t) + np.log(weight)
    return _Mixture(t, np.exp(log_chance - scipy.special.logsumexp(log_chance)))


def dependent_variance(noise: Dependent, n_items: int) -> float:
    """Variance of the difference of two of the noises, of scale 1.

    Examples
    --------
    >>> round(dependent_variance("conditioned", 2), 6), round(dependent_variance("cube", 4), 6)
    (2.0, 20.0)
    """
    if noise == "cube":
        return 2 * (n_items + 1) * (n_items + 2) / 3
    t, chance = _mixture(noise, n_items)
    return float(chance @ ((t**3 / 3 + t * t + 2 * t + 2) / (1 + t)))


def dependent_right(noise: Dependent, n_items: int, scale: float, apart: ArrayLike, variance: ArrayLike) -> Array:
    r"""Chance that the better of two items has the larger noisy score.

    Parameters
    ----------
    noise : {"conditioned", "cube"}
    n_items : int
        At least 2.
    scale : float
        As of `dprank.NoisyCounts`, above 0.
    apart, variance : array_like of float
        As of `dprank.plan.laws.pair_right`.

    Notes
    -----
    Of conditioned noises let T be the sum of two and D their difference. As :math:`|z_i| + |z_j| = \max(|T|, |D|)`,
    given :math:`|T| = t` the law of D is in proportion to :math:`e^{-\max(t, |D|)}`: uniform up to t with chance
    t / (1 + t), exponential beyond; and T has the density of the sum of the m - 2 others. In a cube of half side r the
    difference is triangular up to 2 r; r is a gamma variable of shape m + 1. O(pairs), some 100 nodes each.

    Examples
    --------
    Of two items there is one Laplace variable, of which the second has the negative: its double has scale 1.

    >>> dependent_right("conditioned", 2, 1.0, [0.0, 2.0], 0.0).round(4).tolist()
    [0.5, 0.9323]
    """
    x, v = np.broadcast_arrays(as_floats("apart", apart) / scale, as_floats("variance", variance) / scale**2)
    total = dependent_variance(noise, n_items)
    s = np.sqrt(v)[..., None]
    t, chance = _mixture(noise, n_items)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        if noise == "cube":
            width = 2 * t
            near = _twice(x[..., None] + width, s) - 2 * _twice(x[..., None], s) + _twice(x[..., None] - width, s)
            found = (near / width**2) @ chance
        else:
            half = np.maximum(t, 1e-9)
            flat = (_once(x[..., None] + half, s) - _once(x[..., None] - half, s)) / (2 * half)
            beyond = (1 + _exponential(x[..., None] - t, s) - _exponential(-x[..., None] - t, s)) / 2
            found = (flat * t / (1 + t) + beyond / (1 + t)) @ chance
    normal = scipy.special.ndtr(x / np.sqrt(v + total))
    return np.asarray(np.where(v > _WIDE**2 * total, normal, found).clip(0, 1))


def _over(u: Array, s: Array) -> Array:
    return np.where(s > 0, u / np.where(s > 0, s, 1.0), np.where(u == 0, 0.0, np.sign(u) * np.inf))


def _bell(z: Array) -> Array:
    z = np.minimum(np.abs(z), 1e3)
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _once(u: Array, s: Array) -> Array:
    """Integral of the normal law up to u."""
    z = _over(u, s)
    return np.asarray(u * scipy.special.ndtr(z) + s * _bell(z))


def _twice(u: Array, s: Array) -> Array:
    """The same, integrated again."""
    z = _over(u, s)
    return np.asarray(((u * u + s * s) * scipy.special.ndtr(z) + u * s * _bell(z)) / 2)


def _exponential(u: Array, s: Array) -> Array:
    """Chance that an exponential variable plus a normal one is below u."""
    z = _over(u, s)
    return np.asarray(scipy.special.ndtr(z) - np.exp(np.minimum(s * s / 2 - u + scipy.special.log_ndtr(z - s), 0.0)))


def dependent_apart(noise: Dependent, n_items: int, scale: float, step: float, level: float) -> float:
    """How far apart noisy scores must lie, so that all that do are in their right order with probability `level`.

    Of a cube by the law of the range of uniform variables; of conditioned noise by the sum of all pairs' chances.

    Examples
    --------
    >>> [round(dependent_apart(noise, 10, 1.0, 0.0, 0.95), 1) for noise in ("cube", "conditioned")]
    [28.9, 7.8]
    """
    if noise == "cube":
        radius, chance = _mixture(noise, n_items)

        def within(q: float) -> bool:
            return float(scipy.special.betainc(n_items - 1, 2, np.minimum(q / (2 * radius), 1.0)) @ chance) >= level
    else:

        def within(q: float) -> bool:
            wrong = 1 - float(dependent_right(noise, n_items, 1.0, q, 0.0))
            return n_items * (n_items - 1) * wrong <= 1 - level

    return least(within, 1.0, 2.0**-20) * scale + step


def dependent_draws(noise: Dependent, n_items: int, draws: int, rng: np.random.Generator) -> Array:
    """Noises of scale 1 for simulations, shape (draws, items): on the line, where a release has whole numbers.

    Examples
    --------
    >>> drawn = dependent_draws("conditioned", 5, 3, np.random.default_rng(1))
    >>> bool(np.allclose(drawn.sum(axis=1), 0))
    True
    """
    if noise == "cube":
        return rng.gamma(n_items + 1, size=(draws, 1)) * rng.uniform(-1, 1, (draws, n_items))
    positive = rng.hypergeometric(n_items, n_items - 2, n_items - 1, draws)[:, None]
    above = np.argsort(rng.random((draws, n_items)), axis=1) < positive
    sizes = rng.exponential(size=(draws, n_items))
    total = rng.gamma(n_items - 1, 0.5, (draws, 1))
    sums = [np.where(side, sizes, 0.0).sum(axis=1, keepdims=True) for side in (above, ~above)]
    return np.asarray(total * np.where(above, sizes / sums[0], -sizes / sums[1]))
