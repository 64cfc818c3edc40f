"""A mechanism, two neighbouring data sets, and the two routes by which every family is audited."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.audit.betting import Sampler
from dprank.divergence import Divergence
from dprank.mechanism import Mechanism

#: Whole numbers up to here are doubles.
EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism on two neighbouring data sets, the worst that are known.

    Parameters
    ----------
    name : str
        Of its own: class, variant and change of the data.
    mechanism : Mechanism
    data, other : object
        What `release` takes; of a local mechanism the ranking of one voter, as positions.
    printed : float, optional
        Epsilon that the paper promises, where the calibration is the paper's.
    closed_form : float, optional
        Loss that the field's formula gives for this pair, at the delta of the guarantee.
    found : str
        How the pair was found: "by hand", "exhausted", "climbed".
    source : str
        Key of the paper.
    printed_delta : float, optional
        Delta that the paper promises with `printed`, where the guarantee has another.
    """

    name: str
    mechanism: Mechanism
    data: Any
    other: Any
    printed: float | None = None
    closed_form: float | None = None
    found: str = "by hand"
    source: str = ""
    printed_delta: float | None = None

    @property
    def claimed(self) -> float:
        """Epsilon that is promised: the paper's, else that of the guarantee."""
        return self.mechanism.guarantee.epsilon if self.printed is None else self.printed

    @property
    def delta(self) -> float:
        """Delta that is promised with it."""
        return self.mechanism.guarantee.delta if self.printed_delta is None else self.printed_delta

    @property
    def guaranteed(self) -> float:
        """Epsilon that is provable at `delta`: infinite where the guarantee needs a larger one."""
        guarantee = self.mechanism.guarantee
        return guarantee.epsilon if guarantee.delta <= self.delta else math.inf


class NoExactRoute(LookupError):
    """The law of a mechanism's output is not known exactly: its releases alone can be audited."""


@singledispatch
def exact(mechanism: Any, data: Any, other: Any) -> Divergence:
    """Divergence of the laws of a mechanism's output on two data sets, where it can be computed.

    Parameters
    ----------
    mechanism : Mechanism
        Families register their own route: ``@exact.register``.
    data, other : object
        As of `Case`; small enough to list or integrate what may come out.

    Raises
    ------
    NoExactRoute
        If there is no exact route.
    """
    raise NoExactRoute(f"{type(mechanism).__name__} has no exact route")


@singledispatch
def sample(mechanism: Any, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Features of independent releases: all that is published, as numbers.

    Parameters
    ----------
    mechanism : Mechanism
        A family that can draw many releases at once registers how: ``@sample.register``. Any other mechanism releases
        one by one.
    data : object
        As of `Case`.
    size : int
        At least 1.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (size, features)
    """
    return released(mechanism, data, size, rng)


def released(mechanism: Any, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Features of releases made one by one, by the code that a user runs: shape (size, features).

    Raises
    ------
    ValueError
        If a release is not made of numbers, or their number varies.
    """
    rows = [features(mechanism.release(data, rng)) for _ in range(size)]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("releases vary in how many numbers they have; each must have as many as any other")
    return np.array(rows)


@singledispatch
def features(result: Any) -> NDArray[np.float64]:
    """What a result publishes, as a vector of numbers of its own.

    Parameters
    ----------
    result : object
        A number or an array of numbers. Other kinds of result are registered: ``@features.register``.

    Raises
    ------
    ValueError
        If it is anything else, or holds whole numbers so large that a double would round them.
    """
    needed = "a number, an array of numbers, or a type registered with dprank.audit.case.features is needed"
    try:
        given = np.asarray(result)
        if given.dtype.kind == "c":
            raise ValueError
        numbers = np.array(given, float).ravel()
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"release returned <{type(result).__name__}>; {needed}") from None
    if given.dtype.kind in "iuO" and (np.abs(numbers) > EXACT).any():
        raise ValueError(f"release returned <{type(result).__name__}>; whole numbers above 2^53 must be split in two")
    return numbers


def best_first(scores: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Every row's codes by falling score, equal scores in random order: `dprank.noise.best_first` of many rows."""
    return np.lexsort((rng.random(scores.shape), -scores))


def sampler(mechanism: Mechanism) -> Sampler:
    """`sample` of one mechanism, as `lower_bound` takes it."""
    return partial(sample, mechanism)
