"""What is known of a mechanism's output: its exact law, many releases at once, and the numbers it publishes.

Every family registers its own in its `laws` module, which is imported when it is first asked for.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache, singledispatch
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.divergence import Divergence

__all__ = ["EXACT", "NoExactRoute", "best_first", "exact", "features", "released", "sample", "signs_law"]

#: Whole numbers up to here are doubles.
EXACT = 2.0**53
#: Classes whose laws were looked for.
_LOADED: set[type] = set()


class NoExactRoute(LookupError):
    """The law of a mechanism's output is not known exactly: its releases alone can be audited.

    Examples
    --------
    >>> exact("no mechanism", [1], [2])
    Traceback (most recent call last):
        ...
    dprank.privacy.laws.NoExactRoute: str has no exact route
    """


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

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.Peeling(k=1, scale=2.0, noise="gumbel")  # the exponential mechanism
    >>> round(exact(mechanism, [1, 0], [0, 1]).epsilon(0.0), 4)
    0.5
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

    Examples
    --------
    >>> import dprank
    >>> sample(dprank.Peeling(k=2, scale=0.1), [0, 90, 50], 3, np.random.default_rng(1)).tolist()
    [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    """
    return sample(mechanism, data, size, rng) if _load_laws(mechanism) else released(mechanism, data, size, rng)


def released(mechanism: Any, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Features of releases made one by one, by the code that a user runs: shape (size, features).

    Raises
    ------
    ValueError
        If a release is not made of numbers, or their number varies.

    Examples
    --------
    >>> class Blur:
    ...     def release(self, data, rng):
    ...         return data + rng.integers(2)
    >>> rows = released(Blur(), 7, 50, np.random.default_rng(1))
    >>> rows.shape, np.unique(rows).tolist()
    ((50, 1), [7.0, 8.0])
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

    Examples
    --------
    >>> features([[1, 2], [3, 4]]).tolist()
    [1.0, 2.0, 3.0, 4.0]
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
    """Every row's codes by falling score, equal scores in random order: that of many rows.

    Examples
    --------
    >>> best_first(np.array([[10, 30, 20], [50, 0, 90]]), np.random.default_rng(1)).tolist()
    [[1, 2, 0], [2, 0, 1]]
    """
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

    Examples
    --------
    >>> signs_law(np.array([1, 1]), 0.25).tolist()  # of (-1, -1), (-1, 1), (1, -1), (1, 1)
    [0.0625, 0.1875, 0.1875, 0.5625]
    """
    sent = _sheets(signs.shape[-1])
    return np.prod(np.where(signs[..., None, :] == sent, 1 - turned, turned), axis=-1)


@lru_cache(maxsize=8)
def _sheets(bits: int) -> NDArray[np.int64]:
    """All rows of signs."""
    return np.array(list(product((-1, 1), repeat=bits)))


def _load_laws(instance: Any) -> bool:
    """Import the laws of the families that an instance's classes belong to; False if all were there before."""
    if type(instance) in _LOADED:
        return False
    homes = {kind.__module__.rpartition(".")[0] + ".laws" for kind in type(instance).__mro__}
    new = [home for home in homes - sys.modules.keys() if home.count(".") == 2 and home.startswith("dprank.")]
    found = [importlib.import_module(home) for home in new if importlib.util.find_spec(home)]
    _LOADED.add(type(instance))  # and not before: an import that was broken off is tried again
    return bool(found)
