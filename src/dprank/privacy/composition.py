"""Privacy of k rounds together, each of which sees what the earlier ones released.

A round is *purely* private with loss at most `round_epsilon`. It may also be *bounded in range*: for every pair of
neighbours there is a c in [0, round_epsilon] such that its log ratio of probabilities lies in [c - round_epsilon, c].
The exponential mechanism is (Dong, Durfee and Rogers 2020), and its rounds then compose as if they spent half as much.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Literal, get_args

import numpy as np
import scipy

from dprank._binomial import binomial
from dprank._require import (
    MOST,
    require_at_least_0,
    require_below_1,
    require_loss,
    require_one_of,
    require_positive,
    require_real,
    require_whole,
)
from dprank._search import largest_under, least_under
from dprank.privacy.gaussian import zcdp

__all__ = [
    "MOST_ROUNDS",
    "Composition",
    "advanced",
    "basic",
    "epsilon_per_round",
    "optimal",
    "optimal_delta",
    "rho",
    "total_epsilon",
]

Composition = Literal["basic", "advanced", "zcdp", "optimal"]
#: Relative allowance for the rounding of `optimal_delta`, far above what tests find.
_ROUNDING = 1e-9
#: Most rounds that are added up one by one: twice what may be chosen.
MOST_ROUNDS = 2 * 10**7
#: Standard deviations after which binomial terms are below the least positive float.
_FAR = 40.0


def basic(k: int, round_epsilon: float) -> float:
    """Epsilon of k rounds: k round_epsilon, rounded up (Dwork and Roth 2014, Corollary 3.15).

    Examples
    --------
    >>> round(basic(10, 0.1), 4)
    1.0
    """
    return math.nextafter(require_whole("k", k, 0) * require_loss("round_epsilon", round_epsilon, up=True), math.inf)


def advanced(k: int, round_epsilon: float, delta: float) -> float:
    """Epsilon of k pure rounds at `delta`, as Dwork, Rothblum and Vadhan (2010) print it; infinite at delta = 0.

    Examples
    --------
    >>> round(advanced(100, 0.01, 1e-6), 4), round(basic(100, 0.01), 4)
    (0.5357, 1.0)
    """
    k, round_epsilon = require_whole("k", k, 0), require_loss("round_epsilon", round_epsilon, up=True)
    delta = require_below_1("delta", delta)
    if delta == 0:
        return math.inf
    drift = k * round_epsilon * math.expm1(min(round_epsilon, 700.0))
    return (math.sqrt(2 * k * math.log(1 / delta)) * round_epsilon + drift) * (1 + _ROUNDING)


def optimal_delta(k: int, round_epsilon: float, epsilon: float) -> float:
    r"""The least delta that holds for all k pure rounds at `epsilon` (Kairouz, Oh and Viswanath 2017, Theorem 3.3).

    Parameters
    ----------
    k : int
        At least 1.
    round_epsilon : float
        Pure loss of a round, above 0.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        Not below the exact number; attained by k answers of randomized response.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    With l binomial of k and :math:`p = e^{\varepsilon_0} / (1 + e^{\varepsilon_0})` the loss is
    :math:`(2 l - k) \varepsilon_0`, and :math:`\delta = E[1 - e^{\varepsilon - loss}]_+`. All terms are positive, so
    there is no cancellation, and delta may be as small as a float can be. O(k) time.

    Examples
    --------
    >>> odds = math.log(3)  # the truth three times in four
    >>> round(optimal_delta(1, odds, 0.0), 4), optimal_delta(1, odds, odds)
    (0.5, 0.0)
    """
    k = require_whole("k", k, 1, MOST_ROUNDS)
    round_epsilon, epsilon = (
        require_positive("round_epsilon", round_epsilon, up=True),
        require_at_least_0("epsilon", epsilon),
    )
    p = float(scipy.special.expit(round_epsilon))
    if epsilon / round_epsilon >= k:
        return 0.0
    first = max(0, math.floor((k + epsilon / round_epsilon) / 2))
    last = min(k, math.ceil(max(first, k * p) + _FAR * math.sqrt(k)))
    losses = np.arange(first, last + 1)
    with np.errstate(over="ignore"):
        beyond = np.maximum((2 * losses - k) * round_epsilon - epsilon, 0.0)
    return min(1.0, float((binomial(losses, k, p) * -np.expm1(-beyond)).sum()) * (1 + _ROUNDING))


def optimal(k: int, round_epsilon: float, delta: float) -> float:
    """Least epsilon at `delta` that holds for all k pure rounds; the inverse of `optimal_delta`, rounded up.

    Examples
    --------
    >>> round(optimal(100, 0.01, 1e-6), 4), round(advanced(100, 0.01, 1e-6), 4)
    (0.3923, 0.5357)
    """
    delta = require_below_1("delta", delta)
    k, round_epsilon = require_whole("k", k, 1, MOST_ROUNDS), require_positive("round_epsilon", round_epsilon, up=True)
    return _optimal(k, round_epsilon, delta)


@lru_cache(1 << 14)  # whoever plans asks the same again and again, and so does whoever reads what is promised
def _optimal(k: int, round_epsilon: float, delta: float) -> float:
    if optimal_delta(k, round_epsilon, 0.0) <= delta:
        return 0.0
    if math.isinf(basic(k, round_epsilon)):
        return math.inf
    return least_under(lambda epsilon: optimal_delta(k, round_epsilon, epsilon), delta, basic(k, round_epsilon), 1e-13)


def rho(k: int, round_epsilon: float, bounded_range: bool = False) -> float:
    """zCDP of k rounds: k round_epsilon^2 / 2 (Bun, Steinke 2016), / 8 if bounded in range (Cesar, Rogers 2021).

    Examples
    --------
    >>> rho(8, 0.5), rho(8, 0.5, bounded_range=True)
    (1.0, 0.25)
    """
    k, round_epsilon = require_whole("k", k, 0, MOST**2), require_loss("round_epsilon", round_epsilon, up=True)
    if k == 0 or round_epsilon == 0:
        return 0.0
    square = round_epsilon**2 if round_epsilon < 1e154 else math.inf
    return max(k * square / (8 if bounded_range else 2), math.ulp(0.0))


def total_epsilon(
    composition: Composition, k: int, round_epsilon: float, delta: float = 0.0, *, bounded_range: bool = False
) -> float:
    """Epsilon at `delta` of k adaptive rounds of pure loss `round_epsilon`.

    Parameters
    ----------
    composition : {"basic", "advanced", "zcdp", "optimal"}
        Only "zcdp" uses a bounded range. The optimal composition for bounded range (Dong, Durfee and Rogers 2020) is
        left out: for adaptive rounds it is a recursion over all rounds.
    k : int
        At least 0.
    round_epsilon : float
        At least 0.
    delta : float
        In [0, 1).
    bounded_range : bool
        Whether `round_epsilon` bounds the range of each round's log ratio.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> [round(total_epsilon(rule, 100, 0.01, 1e-6), 4) for rule in ("basic", "advanced", "zcdp", "optimal")]
    [1.0, 0.5357, 0.4299, 0.3923]
    """
    require_one_of("composition", composition, get_args(Composition))
    k, delta = require_whole("k", k, 0), require_below_1("delta", delta)
    round_epsilon = require_loss("round_epsilon", round_epsilon, up=True)
    if k == 0 or round_epsilon == 0:
        return 0.0
    if math.isinf(round_epsilon):
        return math.inf
    if composition == "zcdp":
        return zcdp(rho(k, round_epsilon, bounded_range), delta)
    if composition == "advanced":
        return advanced(k, round_epsilon, delta)
    return basic(k, round_epsilon) if composition == "basic" or delta == 0 else optimal(k, round_epsilon, delta)


def epsilon_per_round(
    composition: Composition, k: int, epsilon: float, delta: float = 0.0, *, bounded_range: bool = False
) -> float:
    """Largest pure loss of a round at which `total_epsilon` of k rounds is at most `epsilon`.

    Parameters
    ----------
    composition, k, delta, bounded_range
        As for `total_epsilon`, with k at least 1, and delta above 0 for "advanced" and "zcdp".
    epsilon : float
        Above 1e-300 and below 1e300.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Bisection; about 60 evaluations, O(k) each for "optimal" and O(1) otherwise.

    Examples
    --------
    >>> [round(epsilon_per_round(rule, 100, 1.0, 1e-6), 4) for rule in ("basic", "zcdp", "optimal")]
    [0.01, 0.0221, 0.024]
    """
    require_one_of("composition", composition, get_args(Composition))
    k, delta = require_whole("k", k, 1, MOST_ROUNDS), require_below_1("delta", delta)
    epsilon = require_real("epsilon", epsilon, "it must lie in (1e-300, 1e300)", lambda x: 1e-300 < x < 1e300)
    require_spare(composition, delta)

    if composition == "optimal" and delta > 0:
        return _optimal_round(k, epsilon, delta)
    told = partial(total_epsilon, composition, k, delta=delta, bounded_range=bounded_range)
    return largest_under(told, epsilon, epsilon / k, 1e-13)


@lru_cache(maxsize=256)
def _optimal_round(k: int, epsilon: float, delta: float) -> float:
    """What `epsilon_per_round` says of "optimal"; who calibrates noise for many data sets asks for the same again."""
    return largest_under(lambda one: optimal_delta(k, one, epsilon), delta, epsilon / k, 1e-13)


def require_spare(composition: Composition, delta: float) -> None:
    """Refuse a delta of 0 where the composition would promise nothing.

    Examples
    --------
    >>> require_spare("basic", 0.0)  # allowed
    >>> require_spare("zcdp", 0.0)
    Traceback (most recent call last):
        ...
    ValueError: delta = 0.0; 'zcdp' composition needs it above 0
    """
    if composition in ("advanced", "zcdp") and delta == 0:
        raise ValueError(f"delta = {delta}; {composition!r} composition needs it above 0")
