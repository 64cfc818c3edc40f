"""Random sets that hold some of a person's own codes: how many there are, which lengths tell most, and their draws."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._jit import njit

__all__ = ["Overlap", "least_variance", "overlap_of", "random_sets"]


class Overlap(NamedTuple):
    """How many sets of `length` of all codes hold how many of a person's; of those that fit, and of all."""

    ways: tuple[int, ...]
    fitting: int
    all: int


@lru_cache(maxsize=64)
def overlap_of(n_items: int, own: int, length: int, hits: int) -> Overlap:
    """Of sets of `length` of all codes, for a person with `own`; exact.

    Examples
    --------
    >>> overlap_of(n_items=3, own=1, length=2, hits=1)
    Overlap(ways=(3, 3), fitting=3, all=6)
    """
    ways = tuple(math.comb(own, j) * math.comb(n_items, length - j) if j <= length else 0 for j in range(own + 1))
    return Overlap(ways, sum(ways[hits:]), sum(ways))


def least_variance(n_items: int, own: int, epsilon: float) -> tuple[int, int]:
    """Length and hits for which the mean variance over items is least, of a person with so many.

    O((n_items + own) own) time and memory.

    Examples
    --------
    >>> least_variance(1000, 5, 1.0), least_variance(1000, 1, 8.0)
    ((52, 1), (1, 1))
    """
    length, held = np.arange(1, n_items + own)[:, None], np.arange(own + 1)
    law = _hypergeometric(n_items, own, length, held)
    fits, mean = (np.cumsum(part[:, ::-1], axis=1)[:, ::-1][:, 1:] for part in (law, law * held))
    odds = fits * math.expm1(min(epsilon, 700.0))
    with np.errstate(all="ignore"):
        own_mean = (odds * mean / fits + length * own / (n_items + own)) / (1 + odds)
        p, q = own_mean / own, (length - own_mean) / n_items
        variance = (min(own, n_items) * p * (1 - p) + max(n_items - own, 0) * q * (1 - q)) / (p - q) ** 2
    # what always fits tells nothing, and what never can is not drawn
    variance[~((fits > 0) & (length - n_items < held[1:]) & (p > q))] = np.inf
    at, hits = np.unravel_index(np.argmin(variance), variance.shape)
    return int(at) + 1, int(hits) + 1


def _hypergeometric(others: int, own: int, length: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.float64]:
    """Probability that a set of so many codes, of all alike, holds so many of a person's own."""

    def log_ways(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            ways = scipy.special.gammaln(n + 1.0) - scipy.special.gammaln(k + 1.0) - scipy.special.gammaln(n - k + 1.0)
        return np.where((k >= 0) & (k <= n), ways, -np.inf)

    return np.exp(log_ways(own, held) + log_ways(others, length - held) - log_ways(own + others, length))


@njit(cache=True, error_model="numpy")
def random_sets(own, overlap, codes, length, rng):
    """Random sets of so many codes, of which so many are a person's own.

    Parameters
    ----------
    own : ndarray of int, shape (people, per_person)
        Different codes.
    overlap : ndarray of int, shape (people,)
        How many of their own each set holds.
    codes, length : int
        There are 0 .. codes - 1; a set holds `length` of them.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (people, length)
        A person's own first, each part in random order. O(people (length + per_person)) time.

    Examples
    --------
    >>> random_sets(np.array([[0, 2]]), np.array([2]), 5, 4, np.random.default_rng(1))[0, 2:].sum() in (4, 5, 7)
    True
    """
    people, number = own.shape
    order, place = np.arange(codes), np.arange(codes)
    sets = np.empty((people, length), np.int64)
    for person in range(people):
        for j in range(number):  # a person's own to the end
            _swap(order, place, place[own[person, j]], codes - 1 - j)
        hits = overlap[person]
        for j in range(length):
            start, size = (codes - number + j, number - j) if j < hits else (j - hits, codes - number - (j - hits))
            at = start + rng.integers(0, size)
            sets[person, j] = order[at]
            _swap(order, place, at, start)
    return sets


@njit(inline="always")
def _swap(order, place, one, other):
    order[one], order[other] = order[other], order[one]
    place[order[one]], place[order[other]] = one, other
