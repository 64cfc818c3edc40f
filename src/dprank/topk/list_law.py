"""Exact laws of the ordered list of the k largest noisy values, by nested integrals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import ArrayLike, NDArray

from dprank._quadrature import rule
from dprank._require import as_array, as_floats
from dprank.topk.noise_laws import LAWS, Noise

__all__ = ["TAIL", "Array", "Grid", "integral_above", "list_chances", "noise_grid", "panels"]

Array = NDArray[np.float64]

#: Beyond so many noise scales from all values nothing is integrated.
TAIL = 45.0
_NODES = 20


class Grid(NamedTuple):
    """Quadrature nodes, shape (panels, nodes), and the laws of all noisy values there, in logarithms.

    Examples
    --------
    >>> grid = noise_grid([0.0, 3.0], "laplace")
    >>> bool(np.allclose(np.exp(grid.above) + np.exp(grid.below), 1))
    True
    """

    half: Array
    at: Array
    density: Array
    above: Array
    below: Array


def panels(kinks: ArrayLike, low: float, high: float) -> tuple[Array, Array, Array]:
    """Gauss-Legendre panels at most 1 wide from `low` to `high` that no kink cuts.

    Returns
    -------
    tuple of ndarray of float
        Half widths, shape (panels, 1); nodes, shape (panels, nodes); weights on [-1, 1], shape (nodes,).

    Examples
    --------
    >>> half, at, weight = panels([0.5], 0.0, 1.0)
    >>> half.tolist(), round(float((half * at @ weight).sum()), 4)  # two panels; the integral of x from 0 to 1
    ([[0.25], [0.25]], 0.5)
    """
    inside = as_floats("kinks", kinks)
    stops = np.unique(np.r_[low, inside[(inside > low) & (inside < high)], high])
    cuts = [np.linspace(a, b, math.ceil(b - a) + 1)[:-1] for a, b in pairwise(stops)]
    edges = np.r_[np.concatenate(cuts), high]
    node, weight = rule(_NODES)
    half = np.diff(edges)[:, None] / 2
    return half, edges[:-1, None] + half * (1 + node), weight


def noise_grid(values: ArrayLike, noise: Noise) -> Grid:
    """Panels for integrals over the noisy values of items, in units of the noise scale.

    Examples
    --------
    >>> grid = noise_grid([0.0, 3.0], "laplace")
    >>> grid.at.shape, grid.density.shape  # 93 panels from -45 to 48, of 20 nodes each; two items
    ((93, 20), (2, 93, 20))
    """
    x, law = as_floats("values", values), LAWS[noise]
    half, at, _ = panels(x, x.min() - TAIL, x.max() + TAIL)
    z = at - x[:, None, None]
    return Grid(half, at, law.log_density(z), law.log_above(z), law.log_below(z))


@cache
def _upper_integrals() -> Array:
    """Matrix from values at the nodes of [-1, 1] to integrals from every node to 1, exact for polynomials."""
    node, _ = rule(_NODES)
    p = legvander(node, _NODES)
    degree = np.arange(1, _NODES)
    upper = np.c_[1 - node, (p[:, degree - 1] - p[:, degree + 1]) / (2 * degree + 1)]
    return np.asarray(upper @ np.linalg.inv(p[:, :_NODES]))


def integral_above(density: Array, half: Array) -> Array:
    """Integral of a density, shape (..., panels, nodes), from every node upwards.

    Examples
    --------
    >>> half, at, _ = panels([], 0.0, 1.0)
    >>> bool(np.allclose(integral_above(2 * at, half), 1 - at**2))
    True
    """
    panel = half[:, 0] * (density @ rule(_NODES)[1])
    later = np.zeros_like(panel)
    later[..., :-1] = np.cumsum(panel[..., :0:-1], axis=-1)[..., ::-1]
    return half * (density @ _upper_integrals().T) + later[..., None]


def list_chances(values: ArrayLike, lists: Sequence[Sequence[int]], noise: Noise = "laplace") -> Array:
    """Probabilities that the k largest noisy values are those of given items, in this order, best first.

    Parameters
    ----------
    values : array_like of float, shape (items,)
        In units of the noise scale.
    lists : sequence of sequence of int
        Of one length k, in 1 .. items.
    noise : {"laplace", "gumbel", "exponential"}

    Returns
    -------
    ndarray of float, shape (lists,)

    Notes
    -----
    k nested integrals, each cumulative on the panels of the next: O(items * nodes) a list.

    Examples
    --------
    >>> list_chances([math.log(2), 0, 0], [[0, 1], [1, 0], [1, 2]], "gumbel").round(4).tolist()
    [0.25, 0.1667, 0.0833]
    """
    x, chosen = as_floats("values", values), as_array("lists", lists)
    grid = noise_grid(x, noise)
    density = np.exp(grid.density)
    ahead, at = np.ones((1, *grid.at.shape)), np.zeros(len(chosen), np.int64)
    for column in chosen.T[:-1]:  # once for all lists that begin alike
        begun, at = np.unique(at * len(x) + column, return_inverse=True)
        ahead = integral_above(density[begun % len(x)] * ahead[begun // len(x)], grid.half)
    ahead = ahead[at]
    last = density[chosen[:, -1]]
    if chosen.shape[1] < len(x):
        rest = np.ones((len(chosen), len(x)))
        np.put_along_axis(rest, chosen, 0, axis=1)
        last *= np.exp(np.tensordot(rest, np.maximum(grid.below, -1e200), 1))  # 0 times infinity is not 0
    last *= ahead
    return np.asarray(last @ rule(_NODES)[1] @ grid.half[:, 0])
