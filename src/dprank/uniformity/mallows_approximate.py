"""Mallows's test of uniformity: the summed Kendall distance from a centre, with three readings of 'the centre'."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from dprank.kendall import kendall_distances
from dprank.mechanism import require
from dprank.models.mallows import Mallows
from dprank.rankings import Rankings
from dprank.uniformity.decision import Decision

Centre = Literal["fixed", "first", "borda"]
Sides = Literal["one", "two"]
Null = Literal["normal", "exact", "simulated"]


def null_cdf(n_items: int, n_distances: int, totals: ArrayLike) -> NDArray[np.float64]:
    """P(T <= t) for the sum T of independent Kendall distances of uniform rankings from fixed ones.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    n_distances : int
        Summands, at least 1.
    totals : array_like of float

    Returns
    -------
    ndarray of float
        Of the shape of `totals`, to about 1e-13 absolutely.

    Notes
    -----
    Inverts the characteristic function on a lattice of 14 standard deviations about the mean, up to where a bound
    shows it negligible. O(items) for each of about 50 points, more for few items.
    """
    if n_distances < 1:
        raise ValueError(f"n_distances = {n_distances}; at least 1 is needed")
    mean, reach, t, wave = _inverse(n_items, n_distances)
    total = np.floor(np.asarray(totals, float))
    centred = (total - mean + 0.5).clip(-reach, reach)
    inside = 0.5 + (wave * np.sin(t * centred[..., None])).sum(-1)
    return np.where(total < max(0, mean - reach), 0.0, np.where(total >= mean + reach, 1.0, np.clip(inside, 0, 1)))


@lru_cache(maxsize=64)
def _inverse(m: int, n: int) -> tuple[float, float, NDArray[np.float64], NDArray[np.float64]]:
    """Mean, half-width of the lattice, points and weights of the inversion."""
    mean, variance = (n * x for x in Mallows(m, 0.0).distance_moments())
    reach = 14 * math.sqrt(variance) + 2
    half = 2 * math.ceil(reach)
    t = np.pi * np.arange(1, min(half, half * _reach(m, n) / np.pi), 2) / half
    wave = np.ones_like(t)
    for j in range(2, m + 1):
        wave *= np.sin(j * t / 2) / (j * np.sin(t / 2))
    return mean, reach, t, wave**n / np.sin(t / 2) / half


def _reach(m: int, n: int) -> float:
    """Where the characteristic function has fallen below 1e-22 for good, or pi.

    A factor is at most exp(-(j^2 - 1) t^2 / 24) while j t <= 2 pi, and pi / (j t) anywhere.
    """
    j = np.arange(2, m + 1)
    low, high = 0.0, math.pi
    while high - low > 1e-3 * high:
        t = (low + high) / 2
        near = np.minimum((j * j - 1) * t * t / 24, math.log(2))
        fall = np.where(j * t <= 2 * np.pi, near, np.log(np.maximum(j * t / np.pi, 1)))
        low, high = (low, t) if n * fall.sum() > 50 else (t, high)
    return high


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
        Size that is aimed at, in (0, 1).
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
        Mallows(self.n_items, 0.0)
        if self.n_rankings < 2:
            raise ValueError(f"n_rankings = {self.n_rankings}; at least 2 are needed")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta = {self.delta}; it must lie in (0, 1)")
        for name, allowed in (("centre", Centre), ("sided", Sides), ("null", Null)):
            require(name, getattr(self, name), get_args(allowed))
        if self.null == "exact" and self.centre == "borda":
            raise ValueError("null = 'exact'; with centre = 'borda' only 'normal' and 'simulated' are known")
        if self.null == "simulated" and self.draws < 1 / self.delta - 1:
            raise ValueError(f"draws = {self.draws}; at least 1 / delta - 1 = {1 / self.delta - 1:g} are needed")

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
        low = float(null_cdf(self.n_items, self.n_distances, self._mean - self.threshold()))
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
            return self._simulated_threshold(self.null_statistics(self.draws, self._needed(rng)))
        low, high = -1, math.ceil(self._mean)  # P(T <= low) <= tail < P(T <= high)
        while high - low > 1:
            middle = (low + high) // 2
            fits = float(null_cdf(self.n_items, self.n_distances, middle)) <= tail
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
        """Decide; `rng` is needed where the null law is simulated.

        Raises
        ------
        ValueError
            If `rankings` are not `n_rankings` rankings of `n_items` items.
        """
        if (len(rankings), rankings.n_items) != (self.n_rankings, self.n_items):
            raise ValueError(
                f"rankings = {len(rankings)} of {rankings.n_items} items; this test is for {self.n_rankings} of "
                f"{self.n_items}"
            )
        value = self.statistic(rankings.positions)
        if self.null == "simulated":
            null = self.null_statistics(self.draws, self._needed(rng))
            threshold = self._simulated_threshold(null)
            p_value = (1 + int((null >= value).sum())) / (1 + self.draws)
        else:
            threshold = self.threshold()
            if self.null == "normal":
                p_value = float(ndtr(-value / self._deviation))
            else:
                p_value = float(null_cdf(self.n_items, self.n_distances, self._mean - value))
            p_value = min(1.0, p_value * (1 if self.sided == "one" else 2))
        return Decision(value >= threshold, value, threshold, p_value)

    def _total(self, positions: NDArray[Any]) -> int:
        if self.centre == "first":
            return int(kendall_distances(positions[1:], positions[0]).sum())
        if self.centre == "fixed":
            return int(kendall_distances(positions, np.arange(self.n_items)).sum())
        places = np.argsort(np.argsort(positions.sum(axis=0, dtype=np.int64), kind="stable"))
        return int(kendall_distances(positions, places).sum())

    def _simulated_threshold(self, null: NDArray[np.float64]) -> float:
        """Least statistic with at most a share delta of (1 + draws) in its tail, itself counted."""
        allowed = math.floor(self.delta * (1 + self.draws) + 1e-9)
        return float(np.nextafter(np.sort(null)[::-1][allowed - 1], math.inf))

    @staticmethod
    def _needed(rng: np.random.Generator | None) -> np.random.Generator:
        if rng is None:
            raise ValueError("rng = None; a simulated null law needs a generator")
        return rng

    @property
    def _mean(self) -> float:
        return self.n_distances * self.n_items * (self.n_items - 1) / 4

    @property
    def _deviation(self) -> float:
        return math.sqrt(self.n_distances * Mallows(self.n_items, 0.0).distance_moments()[1])
