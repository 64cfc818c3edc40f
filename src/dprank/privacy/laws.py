"""What is known of a mechanism's output: its exact law, many releases at once, and the numbers it publishes.

Every family registers its own in its `laws` module, which is imported when it is first asked for.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import singledispatch
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.divergence import Divergence

__all__ = ["EXACT", "NoExactRoute", "best_first", "exact", "features", "released", "sample", "signs_law"]

#: Whole numbers up to here are doubles.
EXACT = 2.0**53


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
    if _load_laws(mechanism):
        return exact(mechanism, data, other)
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
    return sample(mechanism, data, size, rng) if _load_laws(mechanism) else released(mechanism, data, size, rng)


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
    if _load_laws(result):
        return features(result)
    needed = "a number, an array of numbers, or a type registered with dprank.privacy.laws.features is needed"
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
    """Every row's codes by falling score, equal scores in random order: that of many rows."""
    return np.lexsort((rng.random(scores.shape), -scores))


def signs_law(signs: NDArray[Any], turned: float) -> NDArray[np.float64]:
    """Law of signs that are reversed one by one.

    Parameters
    ----------
    signs : ndarray, shape (..., bits)
        Of -1 and +1.
    turned : float
        Probability that a sign is reversed.

    Returns
    -------
    ndarray of float, shape (..., 2^bits)
        Sent are the rows of ``product((-1, 1), repeat=bits)``.
    """
    sent = np.array(list(product((-1, 1), repeat=signs.shape[-1])))
    return np.prod(np.where(signs[..., None, :] == sent, 1 - turned, turned), axis=-1)


def _load_laws(instance: Any) -> bool:
    """Import the laws of the families that an instance's classes belong to; False if all were there before."""
    homes = {kind.__module__.rpartition(".")[0] + ".laws" for kind in type(instance).__mro__}
    new = [home for home in homes - sys.modules.keys() if home.count(".") == 2 and home.startswith("dprank.")]
    found = [importlib.import_module(home) for home in new if importlib.util.find_spec(home)]
    return bool(found)
