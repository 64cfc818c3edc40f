"""What a private algorithm is: parameters, a guarantee that follows from them, and a release."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, get_args

import numpy as np

from dprank._require import require_below_1, require_loss, require_one_of, require_positive, settle

__all__ = ["Adjacency", "Guarantee", "Mechanism", "Model", "Unit", "compose", "ratio_up"]

Unit = Literal["comparison", "voter"]
Adjacency = Literal["replace", "add_remove"]
Model = Literal["central", "local"]
_UNITS, _ADJACENCIES, _MODELS = map(get_args, (Unit, Adjacency, Model))


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

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> print(Guarantee(1.0, adjacency="add_remove"))
    epsilon = 1 (central; add/remove one voter)
    """

    epsilon: float
    delta: float = 0.0
    unit: Unit = "voter"
    adjacency: Adjacency = "replace"
    model: Model = "central"

    def __post_init__(self) -> None:
        settle(
            self,
            epsilon=require_loss("epsilon", self.epsilon, up=True),
            delta=require_below_1("delta", self.delta, up=True),
            unit=require_one_of("unit", self.unit, _UNITS),
            adjacency=require_one_of("adjacency", self.adjacency, _ADJACENCIES),
            model=require_one_of("model", self.model, _MODELS),
        )

    def __str__(self) -> str:
        delta = f", delta = {self.delta:.3g}" if self.delta else ""
        return f"epsilon = {self.epsilon:.6g}{delta} ({self.model}; {self.adjacency.replace('_', '/')} one {self.unit})"

    def converted(self, unit: Unit, adjacency: Adjacency) -> Guarantee:
        r"""What it implies for other neighbours.

        Parameters
        ----------
        unit : {"comparison", "voter"}
        adjacency : {"replace", "add_remove"}

        Returns
        -------
        Guarantee
            Rounded up.

        Raises
        ------
        ValueError
            Where it implies nothing: about voters, if it is about comparisons; about adding and removing, if it is
            about replacing. Also where delta would be 1 or more, or a float could not tell.

        Notes
        -----
        A comparison stays with its voter, so that to replace it is to replace what that voter contributed. To replace
        is to remove and to add, hence :math:`(2 \varepsilon, (1 + e^\varepsilon) \delta)`. So is one comparison more
        or less of a voter who gave others, where whole voters are added or removed. All of it is attained.
        """
        unit = require_one_of("unit", unit, _UNITS)
        adjacency = require_one_of("adjacency", adjacency, _ADJACENCIES)
        if (self.unit, unit) == ("comparison", "voter") or (self.adjacency, adjacency) == ("replace", "add_remove"):
            raise ValueError(f"'{self}' says nothing about {adjacency.replace('_', '/')} one {unit}")
        other = replace(self, unit=unit, adjacency=adjacency)
        if self.adjacency == "replace" or other == self or math.isinf(self.epsilon):
            return other
        # the C library's error is below one unit in the last place
        growth = math.nextafter(math.exp(self.epsilon), math.inf) if self.epsilon < 709 else math.inf
        grown = _sum_up([self.delta, _up(Fraction(self.delta) * Fraction(growth)) if growth < math.inf else growth])
        return replace(other, epsilon=2 * self.epsilon, delta=grown if self.delta else 0.0)


def compose(*guarantees: Guarantee) -> Guarantee:
    """Guarantee of releasing all the results, by basic composition: the epsilons add, and so do the deltas.

    Parameters
    ----------
    *guarantees : Guarantee
        Of one model. Where units or adjacencies differ, what all of them imply is added up (`Guarantee.converted`): of
        comparisons if any is about those, of replacing if any is about that.

    Raises
    ------
    ValueError
        For none, for what is no guarantee, and where models differ or units do not convert.

    Examples
    --------
    >>> str(compose(Guarantee(0.5), Guarantee(0.25, delta=1e-6)))
    'epsilon = 0.75, delta = 1e-06 (central; replace one voter)'
    """
    if not guarantees:
        raise ValueError("compose needs at least one guarantee")
    if not all(isinstance(guarantee, Guarantee) for guarantee in guarantees):
        raise ValueError("compose takes guarantees one by one: compose(*guarantees)")
    first, *others = guarantees
    for other in others:
        if other.model != first.model:
            raise ValueError(f"cannot compose '{first}' with '{other}': the model must agree")
    unit: Unit = "voter" if all(g.unit == "voter" for g in guarantees) else "comparison"
    adjacency: Adjacency = "add_remove" if all(g.adjacency == "add_remove" for g in guarantees) else "replace"
    common = [guarantee.converted(unit, adjacency) for guarantee in guarantees]
    epsilon, delta = _sum_up(g.epsilon for g in common), _sum_up(g.delta for g in common)
    return Guarantee(epsilon, delta, unit, adjacency, first.model)


class Mechanism(Protocol):
    """A private algorithm: a frozen dataclass of its parameters.

    A class whose noise `dprank.SECURE` draws exactly says ``for_publication = True`` in its own body; a budget pays for
    no other.

    Examples
    --------
    >>> class Lie:  # one time in four, about a yes or a no
    ...     guarantee = Guarantee(math.log(3), model="local")
    ...     def release(self, data, rng):
    ...         return data != (rng.random() < 0.25)
    >>> lie: Mechanism = Lie()
    >>> print(lie.guarantee)
    epsilon = 1.09861 (local; replace one voter)
    """

    @property
    def guarantee(self) -> Guarantee:
        """What is provable from the noise that `release` draws."""
        ...

    def release(self, data: Any, rng: np.random.Generator) -> Any:
        """One private result."""
        ...


def require_scale(scale: Any, sensitivity: float, name: str = "scale") -> float:
    """Refuse noise that hides nothing: none at all, or too little for any finite epsilon.

    Examples
    --------
    >>> require_scale(2, 1.0)
    2.0
    >>> require_scale(1e-320, 1.0)
    Traceback (most recent call last):
        ...
    ValueError: scale = 1e-320; too little noise for any finite epsilon
    """
    scale = require_positive(name, scale)
    require_promise(scale, ratio_up(sensitivity, scale), name)
    return scale


def require_promise(scale: float, epsilon: float, name: str = "scale") -> None:
    """Refuse noise that promises nothing.

    Examples
    --------
    >>> require_promise(2.0, 0.5)  # allowed
    >>> require_promise(1e-320, math.inf)
    Traceback (most recent call last):
        ...
    ValueError: scale = 1e-320; too little noise for any finite epsilon
    """
    if math.isinf(epsilon):
        raise ValueError(f"{name} = {scale}; too little noise for any finite epsilon")


def _sum_up(terms: Iterable[float]) -> float:
    terms = list(terms)
    return math.inf if math.inf in terms else _up(sum(map(Fraction, terms), Fraction(0)))


def ratio_up(numerator: float, denominator: float) -> float:
    """The least float that is not below the exact quotient, so that no rounding ever promises too much.

    ``ratio_up(a, ratio_up(a, b)) <= b`` for all numbers above 0: a noise scale so computed keeps its epsilon. Nothing,
    over 0, is infinite: without noise nothing is promised.

    Parameters
    ----------
    numerator, denominator : float
        At least 0; infinity is allowed.

    Examples
    --------
    >>> ratio_up(1, 4), ratio_up(1, 0), 1 / 3 < Fraction(1, 3) < ratio_up(1, 3)
    (0.25, inf, True)
    """
    top, bottom = _exact("numerator", numerator, up=True), _exact("denominator", denominator, up=False)
    if bottom == 0 or top == math.inf:
        return math.inf
    if bottom == math.inf:
        return 0.0
    (top, over), (bottom, under) = top.as_integer_ratio(), bottom.as_integer_ratio()
    return _quotient_up(top * under, over * bottom)


def _exact(name: str, number: float, *, up: bool) -> float:
    """Python's own number: whole ones as they are, others as floats."""
    loss = require_loss(name, number, up=up)
    return int(number) if isinstance(number, int | np.integer) else loss


def _up(exact: Fraction) -> float:
    """The least float that is not below."""
    return _quotient_up(exact.numerator, exact.denominator)


def _quotient_up(numerator: int, denominator: int) -> float:
    try:
        number = numerator / denominator  # of whole numbers it is the nearest float
    except OverflowError:
        return math.inf
    top, bottom = number.as_integer_ratio()
    return number if top * denominator >= numerator * bottom else math.nextafter(number, math.inf)
