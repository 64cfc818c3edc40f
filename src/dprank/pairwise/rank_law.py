"""Exact law of the ranking that noisy scores give, by one-dimensional quadrature.

Given the noisy score of one item the others are independent, so every probability of a place or of a top set is an
integral over one variable. The integrands are smooth between kinks, which are known: Gauss-Legendre panels between
them are accurate to rounding.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._quadrature import cut, gauss
from dprank._require import as_array, as_floats, require_one_of, require_positive

__all__ = ["mean_rank_difference", "places", "rank_law", "top_set_law"]

#: Beyond this many scales from all scores lies a share exp(-45) of any probability.
_TAIL = 45.0
#: Gauss-Legendre nodes on a panel one scale wide, where the integrand is a sum of a few exponentials.
_NODES = 20


class _Grid(NamedTuple):
    """Quadrature nodes (last axis) with the law of every item (first axis) at each."""

    mass: NDArray[np.float64]  # density times quadrature weight
    below: NDArray[np.float64]  # probability of a smaller noisy score
    above: NDArray[np.float64]


def rank_law(
    scores: ArrayLike, scale: float, law: Literal["continuous", "discrete"] = "continuous", grain: float = 1.0
) -> NDArray[np.float64]:
    """Probability of every place for every item when Laplace noise is added to all scores.

    Parameters
    ----------
    scores : array_like of float, shape (items,)
        At least two; higher is better.
    scale : float
        Of the noise, above 0.
    law : {"continuous", "discrete"}
        Discrete noise lives on multiples of `grain`, as must the scores; ties are broken at random.
    grain : float
        Above 0.

    Returns
    -------
    ndarray of float, shape (items, items)
        Entry (i, r) is the probability that exactly r items come before item i. Rows and columns sum to 1 to about
        1e-13.

    Notes
    -----
    O(items^3 * nodes), with (range of scores / scale + 90) * 20 nodes for continuous noise.

    Examples
    --------
    >>> rank_law([2, 1, 0], 1.0).round(2).tolist()
    [[0.67, 0.25, 0.08], [0.25, 0.51, 0.25], [0.08, 0.25, 0.67]]
    """
    grid = _grid(scores, scale, law, grain)
    items = len(grid.mass)
    table = np.empty((items, items))
    for i in range(items):
        # Poisson-binomial law of how many others come before item i, at every node
        ahead = np.zeros((items, grid.mass.shape[1]))
        ahead[0] = 1.0
        for j in range(items):
            if j != i:
                ahead[1:] = ahead[1:] * grid.below[j] + ahead[:-1] * grid.above[j]
                ahead[0] *= grid.below[j]
        table[i] = ahead @ grid.mass[i]
    return table


def top_set_law(
    scores: ArrayLike,
    scale: float,
    k: int,
    law: Literal["continuous", "discrete"] = "continuous",
    grain: float = 1.0,
) -> dict[tuple[int, ...], float]:
    """Probability of every set of k items to be the top k of the noisy scores.

    Parameters
    ----------
    scores, scale, law, grain
        As in `rank_law`.
    k : int
        In 1 .. items - 1.

    Returns
    -------
    dict
        From ascending item codes to probability, relative accuracy about 1e-12 each. O(binomial(items, k) * items *
        nodes).

    Examples
    --------
    >>> {chosen: round(p, 2) for chosen, p in top_set_law([2, 1, 0], 1.0, 1).items()}
    {(0,): 0.67, (1,): 0.25, (2,): 0.08}
    """
    grid = _grid(scores, scale, law, grain)
    items = len(grid.mass)
    if not 1 <= k < items:
        raise ValueError(f"k = {k}; it must lie in 1 .. {items - 1}")
    out = {}
    for chosen in combinations(range(items), k):
        others = [j for j in range(items) if j not in chosen]
        losing = np.prod(grid.below[others], axis=0)
        # the last of the chosen is at the node, the rest above it
        out[chosen] = sum(
            float(grid.mass[i] @ (losing * np.prod(grid.above[[j for j in chosen if j != i]], axis=0))) for i in chosen
        )
    return out


def mean_rank_difference(table: NDArray[np.float64], scores: ArrayLike) -> float:
    """Expected mean absolute difference between noisy and noiseless places.

    Parameters
    ----------
    table : ndarray of float, shape (items, items)
        As of `rank_law`.
    scores : array_like of float, shape (items,)
        The noiseless scores, all different.

    Examples
    --------
    >>> round(mean_rank_difference(rank_law([2, 1, 0], 1.0), [2, 1, 0]), 2)
    0.44
    """
    place = places(scores)
    return float((table * np.abs(np.arange(len(place)) - place[:, None])).sum() / len(place))


def places(scores: ArrayLike) -> NDArray[np.int64]:
    """Place of every item, 0 for the highest score; along the last axis, ties by position.

    Examples
    --------
    >>> places([3.0, 9.0, 4.0]).tolist()
    [2, 0, 1]
    """
    backwards = np.argsort(as_array("scores", scores)[..., ::-1], axis=-1, kind="stable")
    order = (backwards.shape[-1] - 1 - backwards)[..., ::-1]
    return np.argsort(order, axis=-1, kind="stable")


def _grid(scores: ArrayLike, scale: float, law: str, grain: float) -> _Grid:
    given = as_floats("scores", scores)
    if given.ndim != 1 or len(given) < 2 or not np.isfinite(given).all():
        raise ValueError("scores are not a list of at least two finite numbers: that is needed")
    require_positive("scale", scale)
    require_positive("grain", grain)
    require_one_of("law", law, get_args(Literal["continuous", "discrete"]))
    if law == "discrete" and (np.abs(given / grain - np.round(given / grain)) > 1e-9).any():
        raise ValueError(f"scores are not all multiples of grain = {grain}; discrete noise needs them")
    # only differences matter, and small numbers keep their last bits
    above = given - given.min()
    return _continuous(above, scale) if law == "continuous" else _discrete(np.round(above / grain), scale / grain)


def _continuous(scores: NDArray[np.float64], scale: float) -> _Grid:
    # kinks at the scores; panels between them no wider than the scale
    edges = cut(np.r_[-_TAIL * scale, np.unique(scores), scores.max() + _TAIL * scale], scale)
    x, weight = gauss(edges[:-1], edges[1:], _NODES)
    z = (x - scores[:, None]) / scale
    tail = np.exp(-np.abs(z)) / 2
    return _Grid(weight * tail / scale, np.where(z < 0, tail, 1 - tail), np.where(z < 0, 1 - tail, tail))


def _discrete(scores: NDArray[np.float64], scale: float) -> _Grid:
    # a random order of ties is a uniform share of a grain on top of every score: the density is constant on cells, and
    # on a cell the integrand is a polynomial of degree items - 1, which so many nodes integrate exactly
    reach = np.ceil(_TAIL * scale) + 1
    edges = np.arange(-reach, scores.max() + reach + 1)
    x, weight = gauss(edges[:-1], edges[1:], (len(scores) + 1) // 2)
    cell = np.floor(x) - scores[:, None]
    share = x - np.floor(x)
    ratio = np.exp(-1 / scale)
    near = ratio ** np.abs(cell) / (1 + ratio)  # of this cell and all beyond it, away from the score
    point = near * (1 - ratio)
    left = np.where(cell <= 0, near * ratio, 1 - near)
    right = np.where(cell >= 0, near * ratio, 1 - near)
    return _Grid(weight * point, left + share * point, right + (1 - share) * point)
