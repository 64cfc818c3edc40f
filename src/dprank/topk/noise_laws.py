"""The three noise laws of noisy top-k selection, in log space: Laplace, Gumbel and exponential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Noise = Literal["laplace", "gumbel", "exponential"]


@dataclass(frozen=True)
class NoiseLaw:
    """A standard noise law (scale 1); all arguments and results are arrays of any shape.

    Parameters
    ----------
    name : {"laplace", "gumbel", "exponential"}
        Density exp(-abs(z)) / 2; exp(-z - exp(-z)); exp(-z) for z >= 0.
    """

    name: Noise

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the density is not smooth."""
        return () if self.name == "gumbel" else (0.0,)

    def log_density(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the density."""
        z = np.asarray(z, float)
        if self.name == "laplace":
            return -np.abs(z) - np.log(2)
        if self.name == "gumbel":
            return -z - np.exp(-z)
        return np.where(z < 0, -np.inf, -z)

    def log_above(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the probability of more than z."""
        z = np.asarray(z, float)
        if self.name == "laplace":
            tail = np.exp(-np.abs(z)) / 2
            return np.where(z < 0, np.log1p(-tail), -z - np.log(2))
        if self.name == "gumbel":
            return np.log(-np.expm1(-np.exp(-z)))
        return np.minimum(-z, 0.0)

    def log_below(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the probability of less than z."""
        z = np.asarray(z, float)
        if self.name == "laplace":
            return self.log_above(-z)
        if self.name == "gumbel":
            return -np.exp(-z)
        with np.errstate(divide="ignore"):
            return np.log(-np.expm1(-np.maximum(z, 0.0)))

    def draw(self, scale: float, size: int | tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws times `scale`, for research only."""
        return getattr(rng, self.name)(size=size) * scale


LAPLACE, GUMBEL, EXPONENTIAL = NoiseLaw("laplace"), NoiseLaw("gumbel"), NoiseLaw("exponential")
LAWS: dict[str, NoiseLaw] = {law.name: law for law in (LAPLACE, GUMBEL, EXPONENTIAL)}
