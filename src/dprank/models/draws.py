"""Binomial and multinomial counts that are the same with every numpy.

numpy promises its generators' bits, not what its distributions make of them, and numpy 2.5 draws other binomials from
the same seed than numpy 2.4. A recorded number must not change with that, so here counts are made of uniforms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._jit import jitable, njit
from dprank._require import require_generator, shown

__all__ = ["FEW", "MOST", "binomial", "multinomial"]

#: Below this mean, inversion is faster than rejection.
FEW = 10.0
#: Trials that a float still counts one by one.
MOST = 2**53


def binomial(n: ArrayLike, p: ArrayLike, size: Any = None, *, rng: np.random.Generator) -> Any:
    """Successes in n independent trials.

    Parameters
    ----------
    n : int or array_like of int
        At least 0.
    p : float or array_like of float
        From 0 to 1; broadcast with n.
    size : int or tuple of int, optional
        By default that of n and p together.
    rng : numpy.random.Generator
        One of another class, as those that follow every coin both ways, draws by its own method.

    Returns
    -------
    int or ndarray of int

    Raises
    ------
    ValueError
        If n or p lies elsewhere, or does not fit size.

    Notes
    -----
    Inversion of one uniform where the rarer outcome is expected fewer than ten times, else Hörmann's (1993) rejection
    BTRS, of about 2.6 uniforms a draw: a point under the hat's graph is kept if it is also under that of the law.

    Examples
    --------
    >>> draws = binomial(10, 0.5, 1000, rng=np.random.default_rng(0))
    >>> draws.shape, bool(abs(draws.mean() - 5) < 0.3)
    ((1000,), True)
    """
    require_generator(rng)
    if type(rng) is not np.random.Generator:
        own: Any = rng
        return own.binomial(n, p, size)
    if size is None and type(n) is int and isinstance(p, float) and 0 <= n <= MOST and 0 <= p <= 1:
        return _draw(rng, n, float(p))  # in Python: to hand a generator to the kernel takes longer
    n, p = _trials(n), _chances(p)
    if size is None and n.ndim == p.ndim == 0:
        return _draw(rng, int(n), float(p))
    shape = np.broadcast_shapes(n.shape, p.shape) if size is None else size
    n, p = np.broadcast_to(n, shape), np.broadcast_to(p, shape)
    return _fill(rng, n.ravel(), p.ravel()).reshape(n.shape)


def multinomial(n: int, p: ArrayLike, size: int | None = None, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each of several outcomes comes up in n independent trials.

    Parameters
    ----------
    n : int
        At least 0.
    p : array_like of float, shape (outcomes,) or (size, outcomes)
        From 0 to 1; each row sums to 1.
    size : int, optional
        Of the sample, if p is one law.
    rng : numpy.random.Generator
        One of another class draws by its own method.

    Returns
    -------
    ndarray of int, shape (outcomes,) or (size, outcomes)

    Raises
    ------
    ValueError
        If n or p lies elsewhere, or does not fit size.

    Notes
    -----
    One outcome after the other: binomial among the trials that are left, given those before.

    Examples
    --------
    >>> multinomial(10, [0.2, 0.8], 4, rng=np.random.default_rng(0)).sum(axis=1).tolist()
    [10, 10, 10, 10]
    """
    require_generator(rng)
    if type(rng) is not np.random.Generator:
        own: Any = rng
        return np.asarray(own.multinomial(n, p, size))
    trials, laws = _trials(n), _chances(p)
    if trials.ndim:
        raise ValueError(f"n = {shown(n)}; one integer is needed")
    if laws.ndim not in (1, 2) or laws.shape[-1] == 0 or np.any(np.abs(laws.sum(axis=-1) - 1) > 1e-9):
        raise ValueError("p: laws that sum to 1 are needed, one or a row each")
    shape = laws.shape if size is None else (size, laws.shape[-1])
    rest = np.cumsum(laws[..., ::-1], axis=-1)[..., ::-1]
    chances = np.divide(laws, rest, out=np.ones_like(laws), where=rest > 0)
    return _split(
        rng, int(trials), np.ascontiguousarray(np.broadcast_to(chances, shape).reshape(-1, shape[-1]))
    ).reshape(shape)


def _trials(n: ArrayLike) -> NDArray[np.int64]:
    given = np.asarray(n)
    if given.dtype.kind not in "iu" or (given.size and (given.min() < 0 or given.max() > MOST)):
        raise ValueError(f"n = {shown(n)}; integers from 0 to 2^53 are needed")
    return given.astype(np.int64)


def _chances(p: ArrayLike) -> NDArray[np.float64]:
    given = np.asarray(p, float)
    if not np.all((given >= 0) & (given <= 1)):
        raise ValueError(f"p = {shown(p)}; numbers from 0 to 1 are needed")
    return given


@jitable
def _invert(rng, n, p):
    """Least k at which the distribution function reaches a uniform; p at most 1/2, n p small."""
    ratio, first = p / (1 - p), math.exp(n * math.log1p(-p))
    # beyond: a probability that rounding has made of nothing
    last = min(float(n), n * p + 20 * math.sqrt(n * p + 1))
    while True:
        u, mass, k = rng.random(), first, 0
        while u >= mass and k < last:
            u -= mass
            k += 1
            mass *= ratio * (n - k + 1) / k
        if u < mass:
            return k


@jitable
def _stirling(k):
    """log k! less Stirling's (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2."""
    if k < 16:
        exact = 0.0
        for i in range(2, k + 1):
            exact += math.log(i)
        return exact - (k + 0.5) * math.log(k + 1.0) + (k + 1.0) - 0.9189385332046727
    x = 1.0 / (k + 1.0)
    return x * (1 / 12 - x * x * (1 / 360 - x * x * (1 / 1260 - x * x / 1680)))


@jitable
def _reject(rng, n, p):
    """Hörmann's transformed rejection with squeeze; p at most 1/2, n p at least 10."""
    ratio, spread = p / (1 - p), math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    inside = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = int((n + 1) * p)
    at_mode = (mode + 0.5) * math.log((mode + 1) / (ratio * (n - mode + 1))) + _stirling(mode) + _stirling(n - mode)
    while True:
        u, v = rng.random() - 0.5, 1 - rng.random()
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + n * p + 0.5) if edge > 0 else -1
        if edge >= 0.07 and v <= inside:
            return int(k)
        if not 0 <= k <= n:
            continue
        k = int(k)
        law = (
            at_mode
            + (n + 1) * math.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * math.log(ratio * (n - k + 1) / (k + 1))
            - _stirling(k)
            - _stirling(n - k)
        )
        if math.log(v * alpha / (a / (edge * edge) + b)) <= law:
            return k


@jitable
def _draw(rng, n, p):
    rare = min(p, 1 - p)
    if n == 0 or rare == 0.0:
        return n if p > 0.5 else 0
    k = _invert(rng, n, rare) if n * rare < FEW else _reject(rng, n, rare)
    return k if p <= 0.5 else n - k


@njit(cache=True, error_model="numpy")
def _fill(rng, n, p):
    out = np.empty(len(n), np.int64)
    for i in range(len(n)):
        out[i] = _draw(rng, n[i], p[i])
    return out


@njit(cache=True, error_model="numpy")
def _split(rng, n, chances):
    out = np.zeros(chances.shape, np.int64)
    for i in range(len(chances)):
        left = n
        for j in range(chances.shape[1]):
            out[i, j] = _draw(rng, left, chances[i, j])
            left -= out[i, j]
            if left == 0:
                break
    return out
