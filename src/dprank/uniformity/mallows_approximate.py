"""Mallows's test of uniformity: the summed Kendall distance from a centre, with three readings of 'the centre'."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import (
    MOST_DRAWS,
    require_draws,
    require_generator,
    require_one_of,
    require_probability,
    require_sizes,
    require_whole,
    settle,
)
from dprank._search import least_whole
from dprank.data.kendall import kendall_distances
from dprank.data.rankings import Rankings, require_rankings
from dprank.models.mallows import Mallows
from dprank.release import Decision
from dprank.uniformity._thresholds import LARGEST, LEAST_EXACT

__all__ = ["Centre", "MallowsApproximate", "Sides"]

Centre = Literal["fixed", "first", "borda"]
Sides = Literal["one", "two"]


@dataclass(frozen=True)
class MallowsApproximate:
    """Test of uniformity by the sum of the Kendall distances from a centre, without privacy.

    Mallows's test for a known centre, of which Busa-Fekete et al. (2021, Section 7.2) leave open what to do when it is
    unknown. The null law is exact where the centre does not depend on the distances, else simulated.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    n_voters : int
        n, at least 2.
    size : float
        Largest probability of rejecting uniform rankings, in (0, 1); from 1e-10 to 1 - 1e-9 with the exact law, whose
        absolute error is 1e-12.
    centre : {"first", "fixed", "borda"}
        The first ranking, and the distances of the others from it; the ranking 0, 1, .. m - 1, chosen before
        looking; the items by their mean position in the data, whose null law is simulated.
    sided : {"one", "two"}
        Reject small sums of distances, or small and large ones.
    draws : int
        Sets of uniform rankings that are simulated with ``centre="borda"``: at least 1 / size - 1; else unused.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> from dprank import MallowsApproximate, Rankings
    >>> test = MallowsApproximate.calibrated(n_items=4, n_voters=3, size=0.05)
    >>> print(test.test(Rankings([[0, 1, 2, 3]] * 3, ["ash", "elm", "fir", "oak"])))
    the rankings are not uniform, p = 0.00174; not for publication: of no private release
    """

    n_items: int
    n_voters: int
    size: float
    centre: Centre = "first"
    sided: Sides = "one"
    draws: int = 999

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_voters))
        for name, allowed in (("centre", Centre), ("sided", Sides)):
            require_one_of(name, getattr(self, name), get_args(allowed))
        bounds = () if self.simulated else (LEAST_EXACT, LARGEST)
        settle(self, size=require_probability("size", self.size, *bounds))
        settle(self, draws=require_whole("draws", self.draws, 1, MOST_DRAWS))
        if self.simulated:
            require_draws(self.draws, self.size)

    @classmethod
    def calibrated(
        cls,
        *,
        n_items: int,
        n_voters: int,
        size: float = 0.05,
        centre: Centre = "first",
        sided: Sides = "one",
        draws: int = 999,
    ) -> Self:
        """The test of that size: by the exact law, or by Monte Carlo where the centre is estimated.

        Parameters
        ----------
        n_items, n_voters, size, centre, sided, draws
            As in `MallowsApproximate`.
        """
        return cls(n_items, n_voters, size, centre, sided, draws)

    @property
    def simulated(self) -> bool:
        """Whether the null law is: where the centre is estimated from all rankings."""
        return self.centre == "borda"

    @property
    def n_distances(self) -> int:
        """Distances that are summed."""
        return self.n_voters - (self.centre == "first")

    @property
    def exact_size(self) -> float:
        """Probability of rejecting uniform rankings, exact; unknown for an estimated centre.

        Raises
        ------
        ValueError
            For ``centre = "borda"``.
        """
        if self.simulated:
            raise ValueError("centre = 'borda'; the exact size is known for 'fixed' and 'first'")
        low = self._null_cdf(self._mean - self.threshold())
        return low if self.sided == "one" else 2 * low

    def threshold(self, rng: np.random.Generator | None = None) -> float:
        """Rejects what lies this far below the mean (two-sided: from it), or further.

        Parameters
        ----------
        rng : numpy.random.Generator, optional
            Needed where the null law is simulated.
        """
        if self.simulated:
            return self._simulated_threshold(self._null(rng))
        # P(T <= low) <= tail < P(T <= low + 1); the law is symmetric
        low = least_whole(lambda t: self._null_cdf(t) > self._tail, -1, math.ceil(self._mean)) - 1
        return self._mean - low

    def statistic(self, positions: NDArray[Any]) -> float:
        """How far the summed distance lies below its mean under uniform rankings, or from it if two-sided.

        Parameters
        ----------
        positions : ndarray of int, shape (rankings, items)
        """
        below = self._mean - self._total(positions)
        return below if self.sided == "one" else abs(below)

    def null_statistics(self, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Statistics of `draws` sets of uniform rankings. O(draws * rankings * items * log(items))."""
        law = Mallows(self.n_items, 0.0)
        return np.array([self.statistic(law.sample(self.n_voters, rng=rng)) for _ in range(draws)])

    def test(self, rankings: Rankings, rng: np.random.Generator | None = None) -> Decision:
        """Decide; `rng`, a numpy.random.Generator, is needed where the null law is simulated.

        Raises
        ------
        ValueError
            If `rankings` are not `n_voters` rankings of `n_items` items.

        Notes
        -----
        A simulated p-value is (1 + number of null statistics at least as large) / (draws + 1), never below
        1 / (draws + 1).
        """
        require_rankings(rankings, self.n_items, n_voters=self.n_voters)
        if rng is not None:
            require_generator(rng)
        value = self.statistic(rankings.positions)
        threshold, p_value = self._judged(value, rng)
        return Decision(value >= threshold, value, threshold, p_value)

    def _judged(self, value: float, rng: np.random.Generator | None) -> tuple[float, float]:
        """Threshold and p-value of a statistic."""
        if self.simulated:
            null = self._null(rng)
            return self._simulated_threshold(null), (1 + int((null >= value).sum())) / (1 + self.draws)
        return self.threshold(), self._sided(self._null_cdf(self._mean - value))

    def _sided(self, tail: float) -> float:
        """The p-value that goes with the tail on one side."""
        return min(1.0, tail * (1 if self.sided == "one" else 2))

    def _total(self, positions: NDArray[Any]) -> int:
        if self.centre == "first":
            return int(kendall_distances(positions[1:], positions[0]).sum())
        if self.centre == "fixed":
            return int(kendall_distances(positions, np.arange(self.n_items)).sum())
        places = np.argsort(np.argsort(positions.sum(axis=0, dtype=np.int64), kind="stable"))
        return int(kendall_distances(positions, places).sum())

    def _null(self, rng: np.random.Generator | None) -> NDArray[np.float64]:
        return self.null_statistics(self.draws, require_generator(rng, "the null law is simulated"))

    def _simulated_threshold(self, null: NDArray[np.float64]) -> float:
        """Least statistic with at most a share `size` of (1 + draws) in its tail, itself counted."""
        allowed = min(math.floor(self.size * (1 + self.draws) + 1e-9), self.draws)
        return float(np.nextafter(np.sort(null)[::-1][allowed - 1], math.inf))

    def _null_cdf(self, total: float) -> float:
        """P(T <= t) for the sum T of the distances of uniform rankings from a centre that they do not determine."""
        return _null_cdf(self.n_items, self.n_distances, total)

    @property
    def _mean(self) -> float:
        return self.n_distances * self.n_items * (self.n_items - 1) / 4

    @property
    def _tail(self) -> float:
        """Of the null law, on one side."""
        return self.size if self.sided == "one" else self.size / 2


@lru_cache(1 << 12)
def _null_cdf(n_items: int, n_distances: int, total: float) -> float:
    """Whoever tests many data asks for the same few again."""
    return float(Mallows(n_items, 0.0).distance_cdf(total, n_distances))
