"""KwikSort (Ailon, Charikar and Newman 2008): a sample, its exact expected cost, and how many pairs it asks for."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import as_floats, require_generator, require_probability, require_whole, shown
from dprank.aggregation.matrix import require_matrix

__all__ = ["before_probabilities", "comparisons_law", "expected_cost", "kwiksort", "log_moments", "majority", "queries"]

#: Items up to which all subsets are listed.
MOST_LISTED = 16
#: Items up to which the law of the comparisons is computed.
MOST_COUNTED = 256
#: Absolute error of a tail of the law of the comparisons, far above what tests find.
TAIL_ERROR = 1e-13
#: Logarithm of the mass at which a law of the comparisons is cut off.
_CUT = -40.0


def majority(w: ArrayLike) -> NDArray[np.bool_]:
    """The tournament that KwikSort follows: whether it puts an item (row) before a pivot (column), or the reverse.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        Fractions or weights of i before j; noisy ones are allowed, any finite numbers.

    Returns
    -------
    ndarray of bool, shape (items, items)
        Of each pair exactly one entry is true: that of the larger weight; in a tie, of the item of the lower code.

    Examples
    --------
    >>> majority([[0, 0.9], [0.1, 0]]).tolist()
    [[False, True], [False, False]]
    """
    matrix = require_matrix(w)
    return (matrix > matrix.T) | (np.triu(matrix == matrix.T, 1))


def kwiksort(w: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sort like QuickSort: a uniform pivot, the others before or after it by majority, then both sides alike.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        As in `majority`, which decides ties.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first. O(items log items) after O(items^2) for reading `w`.

    Examples
    --------
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> kwiksort(w, rng=np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    before = majority(w)
    return _kwiksort(before, require_generator(rng).random(len(before)))


def before_probabilities(w: ArrayLike) -> NDArray[np.float64]:
    """Chance that KwikSort puts an item (row) before another (column), exactly, by a programme over subsets.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        As in `majority`; at most 16 items.

    Returns
    -------
    ndarray of float, shape (items, items)
        The two entries of a pair sum to 1; the diagonal is 0. O(2^items items^3).

    Raises
    ------
    ValueError
        Naming what `w` is, if it is no such matrix.

    Examples
    --------
    >>> cycle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> before_probabilities(cycle)[0].round(9).tolist()
    [0.0, 0.666666667, 0.333333333]
    """
    before = majority(w)
    if len(before) > MOST_LISTED:
        raise ValueError(f"w has {len(before)} items; at most {MOST_LISTED} are allowed, all subsets are listed")
    return _before_probabilities(before)


def expected_cost(w: ArrayLike, truth: ArrayLike | None = None) -> float:
    """Expected Kemeny score of KwikSort, over its pivots, exactly.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        What KwikSort sees, as in `majority`; at most 16 items.
    truth : array_like of float, shape (items, items), optional
        What the order is measured against; `w` by default.

    Returns
    -------
    float
        O(2^items items^3).

    Raises
    ------
    ValueError
        As `before_probabilities`, or if `truth` is no matrix of as many items.

    Examples
    --------
    >>> cycle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> round(expected_cost(cycle), 9)
    1.0
    """
    chance = before_probabilities(w)
    weights = require_matrix(w if truth is None else truth)
    if weights.shape != chance.shape:
        raise ValueError(f"truth has {len(weights)} items; w has {len(chance)}")
    return float((chance * weights.T).sum())


def comparisons_law(n_items: int) -> NDArray[np.float64]:
    """Law of the number of pairs that KwikSort asks for on a tournament without cycles, which is QuickSort's.

    Parameters
    ----------
    n_items : int
        1 to 256.

    Returns
    -------
    ndarray of float, shape (n_items (n_items - 1) / 2 + 1,)
        Chance of 0, 1, ... comparisons. Sums of it are right to 1e-13, not in relation to their size. O(items^3 log
        items), kept for all smaller numbers of items.

    Raises
    ------
    ValueError
        Naming `n_items`.

    Examples
    --------
    >>> comparisons_law(3).round(9).tolist()  # two pivots in three compare all pairs
    [0.0, 0.0, 0.333333333, 0.666666667]
    """
    law = np.maximum(_law(n_items), 0)
    return np.pad(law, (0, max(0, math.comb(n_items, 2) + 1 - len(law))))[: math.comb(n_items, 2) + 1]


def queries(n_items: int, tail: float) -> int:
    """Least q such that KwikSort asks for more than q pairs with chance `tail` at most, on a tournament without cycles.

    Parameters
    ----------
    n_items : int
        1 to 256.
    tail : float
        At least 1e-12, below 1.

    Returns
    -------
    int
        At most ``n_items (n_items - 1) / 2``.

    Raises
    ------
    ValueError
        Naming the argument and its value.

    Examples
    --------
    >>> queries(3, 0.5), queries(3, 0.9)
    (3, 2)
    """
    tail = require_probability("tail", tail, 10 * TAIL_ERROR)
    beyond = np.r_[np.cumsum(_law(n_items)[:0:-1])[::-1], 0.0]
    return min(int(np.argmax(beyond <= tail)), math.comb(n_items, 2))


def log_moments(n_items: int, theta: ArrayLike) -> NDArray[np.float64]:
    """Log of E exp(theta C_k), with C_k the comparisons on k items without cycles, for all k up to `n_items`.

    Parameters
    ----------
    n_items : int
        At least 1.
    theta : array_like of float, shape (points,)
        Arguments of the moment generating function; finite.

    Returns
    -------
    ndarray of float, shape (n_items + 1, points)
        Row k for k items. O(n_items^2) a point.

    Examples
    --------
    >>> log_moments(3, 0.0)[-1].round(9).tolist()
    [0.0]
    """
    n_items = require_whole("n_items", n_items, 1)
    points = np.atleast_1d(as_floats("theta", theta))
    if points.ndim != 1 or not (abs(points) < 1e300).all():
        raise ValueError(f"theta = {shown(theta)}; finite numbers in a row are needed")
    logs = np.zeros((n_items + 1, len(points)))
    for k in range(2, n_items + 1):
        logs[k] = points * (k - 1) + scipy.special.logsumexp(logs[:k] + logs[k - 1 :: -1], axis=0) - math.log(k)
    return logs


def _law(n_items: int) -> NDArray[np.float64]:
    most = require_whole("n_items", n_items, 1, MOST_COUNTED)
    return _laws(max(8, 1 << (most - 1).bit_length()))[most]


@cache
def _laws(most: int) -> NDArray[np.float64]:
    """Laws of the comparisons on 0 .. most items, cut off where the mass beyond is exp(-40): products of spectra."""
    points = np.geomspace(0.1, 30, 60) / most
    size = 1 + min(math.comb(most, 2), math.ceil(((log_moments(most, points)[-1] - _CUT) / points).min()))
    laws, spectra = np.zeros((most + 1, size)), np.zeros((most + 1, size + 1), complex)
    for k in range(most + 1):
        if k < 2:
            laws[k, 0] = 1
        else:
            halves = (spectra[: k // 2] * spectra[k - 1 : (k - 1) // 2 : -1]).sum(axis=0) * 2
            middle = spectra[k // 2] ** 2 if k % 2 else 0
            laws[k, k - 1 :] = np.fft.irfft(halves + middle, 2 * size)[: size - k + 1] / k
        spectra[k] = np.fft.rfft(laws[k], 2 * size)
    return laws


@njit(cache=True)
def _kwiksort(before, uniforms):
    n = len(before)
    order, spare = np.arange(n), np.empty(n, np.int64)
    stack = [(0, n)]
    drawn = 0
    while stack:
        low, high = stack.pop()
        if high - low < 2:
            continue
        pivot = order[low + int(uniforms[drawn] * (high - low))]
        drawn += 1
        left, right = low, 0
        for place in range(low, high):
            item = order[place]
            if before[item, pivot]:
                order[left] = item
                left += 1
            elif item != pivot:
                spare[right] = item
                right += 1
        order[left] = pivot
        for place in range(right):  # a slice takes a second to compile
            order[left + 1 + place] = spare[place]
        stack.append((low, left))
        stack.append((left + 1, high))
    return order


@njit(cache=True)
def _before_probabilities(before):
    n = len(before)
    masks = np.zeros(n, np.int64)
    for pivot in range(n):
        for item in range(n):
            masks[pivot] |= int(before[item, pivot]) << item
    chance = np.zeros((n, n))
    reached = np.zeros(1 << n)
    reached[-1] = 1.0
    members = np.empty(n, np.int64)
    for subset in range((1 << n) - 1, 0, -1):
        if reached[subset] == 0:
            continue
        size = 0
        for item in range(n):
            if subset >> item & 1:
                members[size] = item
                size += 1
        share = reached[subset] / size
        for pivot in members[:size]:
            left = subset & masks[pivot]
            right = subset & ~masks[pivot] & ~(1 << pivot)
            reached[left] += share
            reached[right] += share
            for item in members[:size]:
                if left >> item & 1:
                    chance[item, pivot] += share
                    for other in members[:size]:
                        if right >> other & 1:
                            chance[item, other] += share
                elif item != pivot:
                    chance[pivot, item] += share
    return chance
