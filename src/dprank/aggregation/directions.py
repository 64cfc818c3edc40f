"""Random directions on the side of a voter's ranking, or on the other side (Duchi, Jordan and Wainwright 2014).

Floating-point coins, for research: on one pair, or on a few items in the voter's order, a report says more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_generator, require_one_of, require_whole
from dprank.aggregation.randomisers import Estimates, Flipped, mean_square, ranking_signs
from dprank.aggregation.sent_reports import require_directions, require_signs
from dprank.privacy.randomized_response import bit_loss, flips_for, randomise

__all__ = ["PositionVector", "VectorReport"]

Geometry = Literal["ball", "cube"]


@dataclass(frozen=True)
class VectorReport(Flipped):
    """The randomiser of Duchi, Jordan and Wainwright: a random vector on the signs' side, or on the other side.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability of the other side, in units of 2^-53; 1 to 2^52 - 1.
    geometry : {"ball", "cube"}
        A uniform point of the unit sphere, or a uniform vector of signs. A cube vector orthogonal to the voter's is
        sent as drawn; Duchi et al. count it to both sides, which at even numbers of pairs is a little worse.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Floating-point coins, for research. O(voters * m^2) time.

    Examples
    --------
    >>> vector = VectorReport.calibrated(epsilon=1.0, n_items=4)
    >>> vector.report(np.array([[0, 1, 2, 3]]), np.random.default_rng(0)).shape
    (1, 6)
    """

    estimates: ClassVar[Estimates] = "signs"

    geometry: Geometry = "ball"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("geometry", self.geometry, ("ball", "cube"))

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, geometry: Geometry = "ball") -> Self:
        """All of the budget on the choice of the side.

        Parameters
        ----------
        epsilon : float
            Of one report; above 0, finite.
        n_items, geometry
            As in `VectorReport`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(n_items, flips_for(epsilon), geometry)

    @property
    def loss(self) -> float:
        """Attained by any two rankings that have some report on opposite sides, such as opposite ones."""
        return bit_loss(self.flips)

    @property
    def shrinkage(self) -> float:
        """Share of a sign in the mean of its entry, relative to the entry's root mean square.

        `kept` times the mean length, along one vector, of a random one: about sqrt(2 / (pi pairs)).
        """
        d, h = self.n_pairs, self.n_pairs // 2
        if self.geometry == "ball":
            return self.kept * mean_overlap(d)
        return self.kept * math.exp(math.lgamma(2 * h + 1) - 2 * math.lgamma(h + 1) - 2 * h * math.log(2))

    @property
    def variance(self) -> float:
        """The same for every entry and ranking."""
        return 1 / self.shrinkage**2 - 1

    def report(self, positions: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Unit vectors, or vectors of signs (int8), shape (voters, pairs)."""
        require_generator(rng, "floating-point coins are for research")
        signs = ranking_signs(positions)
        if self.geometry == "ball":
            vectors = rng.standard_normal(signs.shape)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            inner = np.einsum("vd,vd->v", vectors, signs)
        else:
            vectors = 2 * rng.integers(0, 2, signs.shape, np.int8) - 1
            inner = np.einsum("vd,vd->v", vectors, signs, dtype=float)
        side = randomise(np.ones(len(signs), np.int8), self.flips, rng)
        vectors[inner * side < 0] *= -1
        return vectors

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Mean reports, scaled."""
        length = math.sqrt(self.n_pairs) if self.geometry == "ball" else 1.0
        return reports.mean(axis=0) * length / self.shrinkage

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of unit vectors, or of signs."""
        return (require_directions if self.geometry == "ball" else require_signs)(reports, self.n_pairs)


@dataclass(frozen=True)
class PositionVector(Flipped):
    """A random direction on the side of the voter's places, or on the other side (Duchi, Jordan and Wainwright 2014).

    All rankings' places, less their mean, have the same norm; the direction is drawn among those orthogonal to
    (1, ..., 1), where they live.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability of the other side, in units of 2^-53; 1 to 2^52 - 1.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Floating-point coins, for research. O(voters * m) time.

    Examples
    --------
    >>> vector = PositionVector.calibrated(epsilon=1.0, n_items=4)
    >>> vector.report(np.array([[0, 1, 2, 3]]), np.random.default_rng(0)).shape
    (1, 4)
    """

    estimates: ClassVar[Estimates] = "places"

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int) -> Self:
        """All of the budget on the choice of the side.

        Parameters
        ----------
        epsilon : float
            Of one report; above 0, finite.
        n_items : int
            As in `PositionVector`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(n_items, flips_for(epsilon))

    @property
    def loss(self) -> float:
        """Attained by two opposite rankings."""
        return bit_loss(self.flips)

    @property
    def length(self) -> float:
        """Of an estimate from one report: the norm of the places, over the mean length along them of what is sent."""
        return math.sqrt(self.n_items * mean_square(self.n_items)) / (mean_overlap(self.n_items - 1) * self.kept)

    @property
    def variance(self) -> float:
        """Of the estimate of an item's place from one report, mean over the items; the same for every ranking."""
        return self.length**2 / self.n_items - mean_square(self.n_items)

    def report(self, positions: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
        """Unit vectors whose entries sum to 0, shape (voters, items)."""
        vectors = require_generator(rng, "floating-point coins are for research").standard_normal(positions.shape)
        vectors -= vectors.mean(axis=1, keepdims=True)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        side = randomise(np.ones(len(vectors), np.int8), self.flips, rng)
        vectors[np.einsum("vi,vi->v", vectors, positions) * side < 0] *= -1
        return vectors

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates of mean places less (m - 1) / 2."""
        return np.asarray(reports.mean(axis=0) * self.length)

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of unit vectors."""
        return require_directions(reports, self.n_items)


def mean_overlap(dimension: int) -> float:
    """Mean absolute inner product of two unit vectors, one of them uniformly random: about sqrt(2 / (pi dimension)).

    Examples
    --------
    >>> round(mean_overlap(1), 9), round(mean_overlap(3), 9)
    (1.0, 0.5)
    """
    dimension = require_whole("dimension", dimension, 1)
    return math.exp(math.lgamma(dimension / 2) - math.lgamma((dimension + 1) / 2)) / math.sqrt(math.pi)
