"""A mechanism, two neighbouring data sets, and the two routes by which every family is audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.divergence import Divergence
from dprank.mechanism import Mechanism


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
    NotImplementedError
        If there is no exact route.
    """
    raise NotImplementedError(f"{type(mechanism).__name__} has no exact route")


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
    """Features of releases made one by one, by the code that a user runs: shape (size, features)."""
    return np.array([features(mechanism.release(data, rng)) for _ in range(size)], float)


@singledispatch
def features(result: Any) -> NDArray[np.float64]:
    """What a result publishes, as a vector of numbers; families register their kinds of result."""
    return np.atleast_1d(np.asarray(result, float)).ravel()


def sampler(mechanism: Mechanism) -> Callable[[Any, int, np.random.Generator], NDArray[np.float64]]:
    """`sample` of one mechanism, as `lower_bound` takes it."""
    return lambda data, size, rng: sample(mechanism, data, size, rng)
