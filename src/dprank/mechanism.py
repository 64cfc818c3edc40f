"""What a private algorithm is: parameters, a guarantee that follows from them, and a release."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, get_args

import numpy as np

Unit = Literal["comparison", "voter"]
Adjacency = Literal["replace", "add_remove"]
Model = Literal["central", "local"]


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta) differential privacy of one release.

    For neighbouring data D, D' and every event A, P(M(D) in A) <= e^epsilon P(M(D') in A) + delta, both ways round.

    Parameters
    ----------
    epsilon : float
        At least 0; infinity says that nothing is promised.
    delta : float
        In [0, 1).
    unit : {"comparison", "voter"}
        What one neighbour may change: one comparison, or all that one voter contributed.
    adjacency : {"replace", "add_remove"}
        How: by any other value of it, or by adding or removing it.
    model : {"central", "local"}
        Who holds the data: a curator, or every voter their own.
    """

    epsilon: float
    delta: float = 0.0
    unit: Unit = "voter"
    adjacency: Adjacency = "replace"
    model: Model = "central"

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ValueError(f"epsilon = {self.epsilon}; it must be at least 0")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta = {self.delta}; it must lie in [0, 1)")
        for name, allowed in (("unit", Unit), ("adjacency", Adjacency), ("model", Model)):
            require(name, getattr(self, name), get_args(allowed))

    def __str__(self) -> str:
        delta = f", delta = {self.delta:.3g}" if self.delta else ""
        return f"epsilon = {self.epsilon:.6g}{delta} ({self.model}; {self.adjacency.replace('_', '/')} one {self.unit})"


def compose(*guarantees: Guarantee) -> Guarantee:
    """Guarantee of releasing all the results, by basic composition: the epsilons add, and so do the deltas."""
    if not guarantees:
        raise ValueError("compose needs at least one guarantee")
    if not all(isinstance(guarantee, Guarantee) for guarantee in guarantees):
        raise ValueError("compose takes guarantees one by one: compose(*guarantees)")
    first = guarantees[0]
    for other in guarantees[1:]:
        if (other.unit, other.adjacency, other.model) != (first.unit, first.adjacency, first.model):
            raise ValueError(f"cannot compose '{first}' with '{other}': unit, adjacency and model must agree")
    return replace(first, epsilon=_sum_up(g.epsilon for g in guarantees), delta=_sum_up(g.delta for g in guarantees))


class Mechanism(Protocol):
    """A private algorithm: a frozen dataclass of its parameters."""

    @property
    def guarantee(self) -> Guarantee:
        """What is provable from the noise that `release` draws."""
        ...

    def release(self, data: Any, rng: np.random.Generator) -> Any:
        """One private result."""
        ...


def require(field: str, value: object, allowed: tuple[object, ...]) -> None:
    """Refuse a value that is not one of those allowed, naming all three."""
    if value not in allowed:
        raise ValueError(f"{field} = {value!r}; allowed are {', '.join(map(repr, allowed))}")


def _sum_up(terms: Iterable[float]) -> float:
    terms = list(terms)
    if math.inf in terms:
        return math.inf
    exact = sum(map(Fraction, terms))
    try:
        total = float(exact)
    except OverflowError:
        return math.inf
    return total if total >= exact else math.nextafter(total, math.inf)


def ratio_up(numerator: float, denominator: float) -> float:
    """The least float that is not below the exact quotient, so that no rounding ever promises too much.

    ``ratio_up(a, ratio_up(a, b)) <= b`` for all floats: a noise scale so computed keeps its epsilon.
    """
    if denominator == 0:
        return math.inf if numerator > 0 else 0.0
    if math.isinf(denominator):
        return 0.0
    quotient = numerator / denominator
    if math.isinf(quotient):
        return quotient
    exact = Fraction(numerator) / Fraction(denominator)
    return quotient if Fraction(quotient) >= exact else math.nextafter(quotient, math.inf)
