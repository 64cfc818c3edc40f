"""The three noise laws of noisy top-k selection, in log space: Laplace, Gumbel and exponential."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_floats, require_one_of

__all__ = ["LAPLACE", "LAWS", "Noise", "NoiseLaw"]

Noise = Literal["laplace", "gumbel", "exponential"]
_DEVIATION = {"laplace": math.sqrt(2), "gumbel": math.pi / math.sqrt(6), "exponential": 1.0}


@dataclass(frozen=True)
class NoiseLaw:
    """A standard noise law (scale 1); arguments and results are arrays of any shape.

    Every result is accurate to a few units in its last place, however far out z lies.

    Parameters
    ----------
    name : {"laplace", "gumbel", "exponential"}
        Density exp(-abs(z)) / 2; exp(-z - exp(-z)); exp(-z) for z >= 0. All three are log-concave.

    Examples
    --------
    >>> law = NoiseLaw("exponential")
    >>> law.deviation, law.log_above([1.0, 2.0]).tolist()
    (1.0, [-1.0, -2.0])
    """

    name: Noise

    def __post_init__(self) -> None:
        require_one_of("name", self.name, get_args(Noise))

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the density is not smooth."""
        return () if self.name == "gumbel" else (0.0,)

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        return _DEVIATION[self.name]

    def log_density(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the density."""
        z = as_floats("z", z)
        if self.name == "laplace":
            return -np.abs(z) - math.log(2)
        if self.name == "gumbel":
            return -z - _exp(-z)
        return np.where(z < 0, -np.inf, -z)

    def log_above(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the probability of more than z."""
        z = as_floats("z", z)
        if self.name == "laplace":
            return np.where(z < 0, np.log1p(-np.exp(-np.abs(z)) / 2), -z - math.log(2))
        if self.name == "gumbel":
            # beyond 40 the tail is exp(-z) to rounding, and exp(-z) may underflow
            return np.where(z > 40, -z, _log_one_minus_exp(_exp(-np.minimum(z, 40))))
        return np.minimum(-z, 0.0)

    def log_below(self, z: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the probability of less than z."""
        z = as_floats("z", z)
        if self.name == "laplace":
            return self.log_above(-z)
        if self.name == "gumbel":
            return -_exp(-z)
        return _log_one_minus_exp(np.maximum(z, 0.0))

    def log_tails(self, z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both logarithms, of more than z and of less."""
        if self.name != "laplace":
            return self.log_above(z), self.log_below(z)
        rest = np.log1p(-np.exp(-np.abs(z)) / 2)
        return np.where(z < 0, rest, -z - math.log(2)), np.where(z > 0, rest, z - math.log(2))

    def draw(self, scale: float, size: int | tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws times `scale`, of shape `size`; floating-point noise is for research only."""
        if self.name == "laplace":
            return rng.laplace(0, scale, size)
        return rng.gumbel(0, scale, size) if self.name == "gumbel" else rng.exponential(scale, size)


def _exp(z: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.exp(z)


def _log_one_minus_exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of 1 - exp(-x) for x >= 0, without cancellation."""
    with np.errstate(divide="ignore"):
        return np.where(x < math.log(2), np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))


LAWS: dict[str, NoiseLaw] = {name: NoiseLaw(name) for name in get_args(Noise)}
LAPLACE = LAWS["laplace"]
