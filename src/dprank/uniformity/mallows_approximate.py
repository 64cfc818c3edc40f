"""Mallows's test of uniformity: the summed Kendall distance from a centre, with three readings of 'the centre'."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dprank._require import require_generator, require_one_of, require_probability, require_whole, settle
from dprank.data.kendall import kendall_distances
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.release import Decision
from dprank.uniformity._require import LEAST_EXACT, MOST_DRAWS, require_data, require_draws, require_sizes

Centre = Literal["fixed", "first", "borda"]
Sides = Literal["one", "two"]
Null = Literal["normal", "exact", "simulated"]


@dataclass(frozen=True)
class MallowsApproximate:
    """Test of uniformity by the sum of the Kendall distances from a centre (Busa-Fekete et al. 2021, Section 7.2).

    The paper takes Mallows's test for a known centre and leaves open what to do when it is unknown.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    n_rankings : int
        n, at least 2.
    delta : float
        Size that is aimed at, in (0, 1); at least 1e-10 with the exact law, whose absolute error is 1e-12.
    centre : {"first", "fixed", "borda"}
        The first ranking, and the distances of the others from it; the ranking 0, 1, .. m - 1, chosen before
        looking; the items by their mean position in the data.
    sided : {"one", "two"}
        Reject small sums of distances, or small and large ones.
    null : {"normal", "exact", "simulated"}
        Law to compare with: the normal approximation, as if the centre did not depend on the distances; the exact
        law, right for "fixed" and "first"; `draws` sets of uniform rankings, right for every centre.
    draws : int
        At least 1 / delta - 1 where the null law is simulated, else unused.

    See Also
    --------
    MallowsApproximate.as_printed : the normal approximation.
    MallowsApproximate.calibrated : size at most delta, by exact law or certified Monte Carlo.
    """

    n_items: int
    n_rankings: int
    delta: float
    centre: Centre = "first"
    sided: Sides = "one"
    null: Null = "exact"
    draws: int = 999

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_rankings))
        least = LEAST_EXACT if isinstance(self.null, str) and self.null == "exact" else 0.0
        settle(self, delta=require_probability("delta", self.delta, least))
        for name, allowed in (("centre", Centre), ("sided", Sides), ("null", Null)):
            require_one_of(name, getattr(self, name), get_args(allowed))
        if self.null == "exact" and self.centre == "borda":
            raise ValueError("null = 'exact'; with centre = 'borda' only 'normal' and 'simulated' are known")
        settle(self, draws=require_whole("draws", self.draws, 1, MOST_DRAWS))
        if self.null == "simulated":
            require_draws(self.draws, self.delta)

    @classmethod
    def as_printed(cls, n_items: int, n_rankings: int, delta: float, *, centre: Centre, sided: Sides = "one") -> Self:
        """The normal approximation with one reading of the centre."""
        return cls(n_items, n_rankings, delta, centre, sided, "normal")

    @classmethod
    def calibrated(
        cls, n_items: int, n_rankings: int, delta: float, *, centre: Centre = "first", sided: Sides = "one"
    ) -> Self:
        """Size at most delta: the exact law, or Monte Carlo where the centre is estimated."""
        return cls(n_items, n_rankings, delta, centre, sided, "simulated" if centre == "borda" else "exact")

    @property
    def n_distances(self) -> int:
        """Distances that are summed."""
        return self.n_rankings - (self.centre == "first")

    @property
    def size(self) -> float:
        """Probability of rejecting uniform rankings, exact; unknown for an estimated centre.

        Raises
        ------
        ValueError
            For ``centre = "borda"``.
        """
        if self.centre == "borda":
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
        tail = self.delta if self.sided == "one" else self.delta / 2
        if self.null == "normal":
            return float(-ndtri(tail) * self._deviation)
        if self.null == "simulated":
            return self._simulated_threshold(self._null(rng))
        # P(T <= low) <= tail < P(T <= high); the law is symmetric
        low, high = -1, math.ceil(self._mean if tail <= 0.5 else 2 * self._mean)
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._null_cdf(middle) <= tail
            low, high = (middle, high) if fits else (low, middle)
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
        return np.array([self.statistic(law.sample(self.n_rankings, rng=rng)) for _ in range(draws)])

    def test(self, rankings: Rankings, rng: np.random.Generator | None = None) -> Decision:
        """Decide; `rng`, a numpy.random.Generator, is needed where the null law is simulated.

        Raises
        ------
        ValueError
            If `rankings` are not `n_rankings` rankings of `n_items` items.
        """
        require_data(rankings, self.n_items, self.n_rankings)
        if rng is not None:
            require_generator(rng)
        value = self.statistic(rankings.positions)
        if self.null == "simulated":
            null = self._null(rng)
            threshold = self._simulated_threshold(null)
            p_value = (1 + int((null >= value).sum())) / (1 + self.draws)
        else:
            threshold = self.threshold()
            if self.null == "normal":
                p_value = float(ndtr(-value / self._deviation))
            else:
                p_value = self._null_cdf(self._mean - value)
            p_value = min(1.0, p_value * (1 if self.sided == "one" else 2))
        return Decision(value >= threshold, value, threshold, p_value)

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
        """Least statistic with at most a share delta of (1 + draws) in its tail, itself counted."""
        allowed = min(math.floor(self.delta * (1 + self.draws) + 1e-9), self.draws)
        return float(np.nextafter(np.sort(null)[::-1][allowed - 1], math.inf))

    def _null_cdf(self, total: float) -> float:
        """P(T <= t) for the sum T of the distances of uniform rankings from a centre that they do not determine."""
        return float(Mallows(self.n_items, 0.0).distance_cdf(total, self.n_distances))

    @property
    def _mean(self) -> float:
        return self.n_distances * self.n_items * (self.n_items - 1) / 4

    @property
    def _deviation(self) -> float:
        return math.sqrt(self.n_distances * Mallows(self.n_items, 0.0).distance_moments()[1])
