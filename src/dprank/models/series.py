"""Sums over the items of a Mallows law, in a time that grows with the logarithm of their number."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["BERNOULLI", "K", "log_shrinkage", "mass", "sum_over_items"]

# x / (exp(x) - 1) = 1 - x / 2 + sum of BERNOULLI[k - 1] x^(2k), k = 1, 2, ...; radius 2 pi
K = np.arange(1, 46)
BERNOULLI = -((-1.0) ** K) * 2 * scipy.special.zeta(2 * K) / (2 * np.pi) ** (2.0 * K)


def mass(j: Any, theta: Any) -> Any:
    """1 - phi^j, where phi = exp(-theta).

    Examples
    --------
    >>> round(float(mass(2, math.log(2))), 6)
    0.75
    """
    return -np.expm1(-theta * j)


def sum_over_items(m: int, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes x and weights w with w @ f(x) the sum of f(j) over j = 1 .. m, for functions f(x) = F(x scale).

    F is analytic but for poles or zeros at distance 2 pi from 0, and settles to elementary functions beyond 45. The
    first terms are added one by one, the others by Euler-Maclaurin: Gauss-Legendre for the integral, central
    differences at both ends.

    Examples
    --------
    >>> x, weights = sum_over_items(1000, 0.01)
    >>> len(x) < 200, round(float(weights @ x), 4)
    (True, 500500.0)
    """
    head = 8 if scale < 0.03 else max(200, math.ceil(45 / scale))
    if m <= max(150, head):
        return np.arange(1.0, m + 1), np.ones(m)
    edges = [head + 0.5]
    while edges[-1] < m + 0.5:
        edges.append(min(max(2 * edges[-1], 4 / scale if scale > 0 else math.inf), m + 0.5))
    left, width = np.array(edges[:-1])[:, None], np.diff(edges)[:, None]
    nodes, weights = _gauss()
    ends = _END_WEIGHTS
    return (
        np.concatenate([np.arange(1.0, head + 1), (left + width * nodes).ravel(), head + _ENDS, m + _ENDS]),
        np.concatenate([np.ones(head), (width * weights).ravel(), ends, -ends]),
    )


_ENDS = np.arange(-2.0, 4)
_END_WEIGHTS = (
    np.array([0, 0, -1, 1, 0, 0]) / 24
    - np.array([0, -1, 3, -3, 1, 0]) * 17 / 5760
    + np.array([-1, 5, -10, 10, -5, 1]) * 367 / 967680
)


@cache
def _gauss() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, w = np.polynomial.legendre.leggauss(20)
    return (x + 1) / 2, w / 2


def log_shrinkage(m: int, theta: float) -> float:
    """log(m!) - log Z, where Z sums phi^inversions over all rankings of m items and phi = exp(-theta).

    Examples
    --------
    >>> round(math.exp(log_shrinkage(2, math.log(2))), 6)
    1.333333
    """
    j, weights = sum_over_items(m, theta)
    x = np.minimum(theta * j, 1.0)
    k, c = K[:12, None], BERNOULLI[:12, None]
    terms = theta * (j - 1) / 2 - (c / (2 * k) * (x ** (2 * k) - min(theta, 1.0) ** (2 * k))).sum(0)
    far = theta * j > 1
    terms[far] = np.log(j[far] * (mass(1, theta) / mass(j[far], theta)))
    return float(weights @ terms)
