"""Friedman's test: uniformity from all ranks, where UNIF looks at one pairing of the items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit
from dprank._require import (
    require_draws,
    require_generator,
    require_probability,
    require_sizes,
    require_whole,
    settle,
)
from dprank.data.rankings import Rankings, require_rankings
from dprank.release import Decision

__all__ = ["Friedman", "friedman_statistic", "null_rank_sums"]

#: Additions up to which the null law is enumerated: a second.
_EXACT = 5_000_000


@dataclass(frozen=True)
class Friedman:
    """Rejects uniformity when the items' rank sums spread too much; the size is kept at every n and m. Without privacy.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    n_voters : int
        n, at least 2: one ranking has the same rank sums, up to names, as any other.
    size : float
        Largest probability of rejecting uniform rankings, in (0, 1).
    draws : int
        Null statistics that are simulated where the null law is too large to enumerate; at least 1 / size - 1, with
        fewer the test could never reject.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    The statistic is Friedman's ``12 / (n m (m + 1)) * sum over items of (rank sum - n (m - 1) / 2)^2``. Divided by
    n (m - 1) it is Kendall's W, and with n = 2 it is m - 1 times one plus Spearman's correlation of the two rankings.
    The centre need not be known.
    Time O(n m) for the statistic, and that times `draws` for a simulated null.

    Examples
    --------
    >>> from dprank import Friedman, Rankings
    >>> test = Friedman.calibrated(n_items=3, n_voters=5, size=0.05)
    >>> test.enumerated
    True
    >>> print(test.test(Rankings([[0, 1, 2]] * 5, ["ash", "elm", "fir"])))
    the rankings are not uniform, p = 0.000772; not for publication: of no private release
    """

    n_items: int
    n_voters: int
    size: float = 0.05
    draws: int = 1999

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_voters))
        settle(self, size=require_probability("size", self.size))
        settle(self, draws=require_draws(self.draws, self.size))

    @classmethod
    def calibrated(cls, *, n_items: int, n_voters: int, size: float = 0.05, draws: int = 1999) -> Self:
        """The test of that size: with the exact null law where it can be enumerated, else certified by simulation.

        Parameters
        ----------
        n_items, n_voters, size, draws
            As in `Friedman`.
        """
        return cls(n_items, n_voters, size, draws)

    @property
    def enumerated(self) -> bool:
        """Whether the null law is exact, as it is where n (n (m - 1) + 1)^(m - 1) is at most 5 million.

        Else it is simulated, and the size is certified all the same.
        """
        # n steps with m! permutations each; sorted rank sums of 0 .. n (m - 1) with a fixed total
        m, n = self.n_items, self.n_voters
        return n * (n * (m - 1) + 1) ** (m - 1) <= _EXACT

    def statistic(self, rankings: Rankings) -> float:
        """Friedman's chi-square, from 0 (all items alike) to n (m - 1) (all rankings equal)."""
        require_rankings(rankings, self.n_items, n_voters=self.n_voters)
        return float(friedman_statistic(rankings.positions.sum(axis=0, dtype=np.int64), self.n_voters))

    def null(self, rng: np.random.Generator | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The statistic's values under uniform rankings, ascending, and their probabilities.

        Parameters
        ----------
        rng : numpy.random.Generator, optional
            Needed where the law is simulated: `draws` values of probability 1 / (draws + 1) each, and infinity.
        """
        if self.enumerated:
            return _null_law(self.n_items, self.n_voters)
        rng = require_generator(rng, f"the null law of {self} is simulated")
        sums = null_rank_sums(rng, self.draws, self.n_voters, self.n_items)
        values = np.sort(friedman_statistic(sums, self.n_voters))
        return np.append(values, np.inf), np.full(self.draws + 1, 1 / (self.draws + 1))

    def test(self, rankings: Rankings, rng: np.random.Generator | None = None) -> Decision:
        """Reject when the p-value is at most `size`.

        Parameters
        ----------
        rankings : Rankings
        rng : numpy.random.Generator, optional
            Used, and needed, where the null law is simulated. The p-value is then (1 + number of null statistics at
            least as large) / (draws + 1): under the null hypothesis the observed statistic is one of draws + 1
            exchangeable ones, so that the p-value is at most `size` with probability at most `size`. It is never below
            1 / (draws + 1).
        """
        if rng is not None:
            require_generator(rng)
        observed = self.statistic(rankings)
        values, law = self.null(rng)
        tail = np.append(np.cumsum(law[::-1])[::-1], 0.0)
        # the same rank sums give the same floating-point value, so that ties are exact
        p_value = float(min(tail[np.searchsorted(values, observed)], 1.0))
        small = np.flatnonzero(tail[:-1] <= self.size * (1 + 1e-12))
        threshold = float(values[small[0]]) if small.size else math.inf
        return Decision(p_value <= self.size * (1 + 1e-12), observed, threshold, p_value)


def friedman_statistic(rank_sums: NDArray[np.int64], n_voters: int) -> NDArray[np.float64]:
    """Friedman's chi-square from the sums of the positions 0 .. m - 1.

    Parameters
    ----------
    rank_sums : ndarray of int, shape (..., items)
    n_voters : int

    Returns
    -------
    ndarray of float, shape (...)

    Examples
    --------
    >>> float(friedman_statistic(np.array([0, 5, 10]), n_voters=5))
    10.0
    """
    m = rank_sums.shape[-1]
    spread = 2 * rank_sums.astype(np.int64) - n_voters * (m - 1)
    squares: NDArray[np.float64] = 3.0 * (spread * spread).sum(axis=-1) / (n_voters * m * (m + 1))
    return squares


def null_rank_sums(rng: np.random.Generator, draws: int, n_voters: int, n_items: int) -> NDArray[np.int64]:
    """Rank sums of uniform rankings, shape (draws, items), without holding the rankings. O(draws * n * m).

    Examples
    --------
    >>> sums = null_rank_sums(np.random.default_rng(1), draws=4, n_voters=10, n_items=3)
    >>> sums.sum(axis=1).tolist()
    [30, 30, 30, 30]
    """
    sizes = (("draws", draws), ("n_voters", n_voters), ("n_items", n_items))
    return np.asarray(_null_rank_sums(require_generator(rng), *(require_whole(name, n, 0) for name, n in sizes)))


@njit(cache=True, error_model="numpy")
def _null_rank_sums(rng, draws, n_voters, n_items):
    sums = np.zeros((draws, n_items), np.int64)
    row = np.arange(n_items)
    for d in range(draws):
        for _ in range(n_voters):
            for i in range(n_items - 1, 0, -1):
                j = int(rng.random() * (i + 1))
                row[i], row[j] = row[j], row[i]
            for i in range(n_items):
                sums[d, i] += row[i]
    return sums


@cache
def _null_law(m: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exact law of the statistic: the first ranking is the identity, the others are added one by one.

    Which item has which rank sum does not matter to what follows, so that sums are kept sorted.
    """
    steps = np.array(list(permutations(range(m))))
    sums: NDArray[np.int64] = np.arange(m)[None]
    law: NDArray[np.float64] = np.ones(1)
    for _ in range(n - 1):
        grown = np.sort((sums[:, None] + steps).reshape(-1, m), axis=1)
        sums, place = np.unique(grown, axis=0, return_inverse=True)
        law = _added(place, np.repeat(law / len(steps), len(steps)))
    values, place = np.unique(friedman_statistic(sums, n), return_inverse=True)
    return values, _added(place, law)


def _added(place: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.bincount(place.ravel(), weights).astype(np.float64)
