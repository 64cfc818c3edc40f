"""Privacy of Gaussian noise: exact on the real line, and of what is zero-concentrated.

On the integers see also `dprank.privacy.discrete_gaussian`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from dprank._quadrature import gauss
from dprank._require import (
    require_at_least_0,
    require_below_1,
    require_loss,
    require_positive,
    require_probability,
    require_real,
)
from dprank._search import least_under

__all__ = [
    "FARTHEST",
    "LEAST",
    "LOWEST",
    "ROUNDING",
    "STEEPEST",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_scale",
    "zcdp",
]

#: Relative allowance for the rounding of deltas and of `zcdp`, far above what tests find.
ROUNDING = 1e-9
#: Least delta above 0 at which an epsilon is found.
LEAST = 1e-300
#: Beyond so many standard deviations a normal variable is less often than that.
FARTHEST = 40
#: Most standard deviations that data may move: half the square is a float.
STEEPEST = 1e153
#: Least Rényi order above 1 that `dp-accounting` converts.
LOWEST = math.nextafter(1.01, 2)


def gaussian_delta(l2: float, scale: float, epsilon: float) -> float:
    r"""Least delta of Gaussian noise at a given epsilon (Balle and Wang 2018, Theorem 8).

    Parameters
    ----------
    l2 : float
        Euclidean sensitivity, at least 0, finite.
    scale : float
        Standard deviation of the noise in every coordinate, above 0.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        :math:`\Phi(\mu / 2 - \epsilon / \mu)` less :math:`e^\epsilon \Phi(-\mu / 2 - \epsilon / \mu)`, where
        :math:`\mu` = l2 / scale. Relative accuracy 1e-9 for deltas from 1e-300 on; below that, 0 is possible.

    Notes
    -----
    With Mills' ratio R, and x and y = x + mu the two arguments with their signs turned round, delta is
    :math:`\varphi(x) (R(x) - R(y))`, where no factor overflows; and the difference is
    :math:`\int_x^y (1 - t R(t)) dt`, where nothing cancels, however small mu is. x is computed exactly, then rounded.

    Examples
    --------
    >>> [round(gaussian_delta(1.0, 1.0, epsilon), 4) for epsilon in (0.0, 1.0, 2.0)]
    [0.3829, 0.1269, 0.0209]
    """
    l2, scale = require_at_least_0("l2", l2, up=True), require_positive("scale", scale)
    return _delta(l2, scale, require_loss("epsilon", epsilon))


def _delta(l2: float, scale: float, epsilon: float) -> float:
    mu = l2 / scale
    if mu == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(mu):
        return 1.0
    # x = epsilon / mu - mu / 2, a quotient of whole numbers
    (a, b), (c, d), (e, f) = (number.as_integer_ratio() for number in (l2, scale, epsilon))
    above, below = 2 * e * b * b * c * c - f * a * a * d * d, 2 * f * a * b * c * d
    if above > FARTHEST * below:
        return 0.0
    x = above / below
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    if mu < 1:
        step, weight = _panel(mu)
        return float(density * ((1 - (x + step) * _mills(x + step)) @ weight))
    if x < 0:
        return float(scipy.special.ndtr(-x) - density * _mills(x + mu))
    return float(density * (_mills(x) - _mills(x + mu)))


@lru_cache
def _panel(mu: float) -> Any:
    return gauss(np.zeros(1), np.array([mu]), 16)


def gaussian_epsilon(l2: float, scale: float, delta: float) -> float:
    """Least epsilon of Gaussian noise at a given delta, rounded up as if delta were less by a share of 1e-9.

    Parameters
    ----------
    l2, scale : float
        As of `gaussian_delta`; a scale of 0, or one below 1e-153 of `l2`, promises nothing.
    delta : float
        In (0, 1), at least 1e-300.

    Returns
    -------
    float
        Found by bisection; 0 where the delta pays for all.

    Examples
    --------
    >>> [round(gaussian_epsilon(1.0, scale, 1e-6), 4) for scale in (1.0, 2.0, 4.0)]
    [4.8866, 2.2541, 1.0607]
    """
    delta = require_probability("delta", delta, LEAST)
    l2, scale = require_at_least_0("l2", l2, up=True), require_at_least_0("scale", scale)
    if scale == 0 or l2 / scale > STEEPEST:
        return math.inf if l2 > 0 else 0.0
    return _least_epsilon(l2, scale, delta)


@lru_cache(1 << 14)  # whoever plans asks the same again and again
def _least_epsilon(l2: float, scale: float, delta: float) -> float:
    allowed = delta * (1 - ROUNDING)
    if _delta(l2, scale, 0.0) <= allowed:
        return 0.0
    mu = l2 / scale
    most = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))
    return least_under(lambda epsilon: _delta(l2, scale, epsilon), allowed, most)


def gaussian_scale(l2: float, epsilon: float, delta: float) -> float:
    """Least standard deviation with which Gaussian noise is (epsilon, delta) private, rounded up likewise.

    Parameters
    ----------
    l2 : float
        Euclidean sensitivity: 0, or from 1e-150 to 1e150.
    epsilon : float
        Above 0, finite; no more than 1e300 is spent.
    delta : float
        In (0, 1), at least 1e-300.

    Returns
    -------
    float
        In the unit of `l2`; ``gaussian_epsilon(l2, gaussian_scale(l2, epsilon, delta), delta) <= epsilon``.

    Examples
    --------
    >>> [round(gaussian_scale(1.0, epsilon, 1e-6), 4) for epsilon in (0.5, 1.0, 2.0)]
    [8.0576, 4.2247, 2.2305]
    """
    needed = "it must be 0, or from 1e-150 to 1e150"
    l2 = require_real("l2", l2, needed, lambda x: x == 0 or 1e-150 <= x <= 1e150, up=True)
    epsilon, delta = min(require_positive("epsilon", epsilon), 1e300), require_probability("delta", delta, LEAST)
    if l2 == 0:
        return 0.0
    scale = least_under(lambda scale: _delta(l2, scale, epsilon), delta * (1 - ROUNDING), l2)
    while gaussian_epsilon(l2, scale, delta) > epsilon:
        scale *= 1 + 2.0**-40
    return scale


def zcdp(rho: float, delta: float) -> float:
    r"""Epsilon at `delta` of a rho-zCDP mechanism, by `dp-accounting`.

    Parameters
    ----------
    rho : float
        At least 0.
    delta : float
        In [0, 1); infinite at 0 unless rho is 0.

    Raises
    ------
    ImportError
        Without `dp-accounting`.

    Notes
    -----
    At the order 1 + t the conversion of Canonne, Kamath and Steinke (2020, Proposition 12) gives an epsilon whose
    derivative has the sign of :math:`\rho t^2 + \log(1 + t) - \log(1 / \delta)`: it falls, then rises, and its root is
    the best order. `dp-accounting` takes orders above 1.01 only, and order 1 to see whether `delta` pays for all.

    Examples
    --------
    >>> zcdp(0.0, 0.0), zcdp(0.125, 0.0), round(zcdp(0.125, 1e-6), 4)
    (0.0, inf, 2.4191)
    """
    rho, delta = require_loss("rho", rho), require_below_1("delta", delta)
    if rho == 0 or delta == 0:
        return math.inf if rho > 0 else 0.0
    if math.isinf(rho):
        return math.inf
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon
    from scipy.optimize import brentq

    spare = -math.log(delta)
    most = 2 * min(math.sqrt(spare) / math.sqrt(rho), 1 / delta - 1)
    above_1 = brentq(lambda t: rho * t * t + math.log1p(t) - spare, 0.0, most, rtol=1e-12, maxiter=10_000)
    orders = [1.0, max(1 + above_1, LOWEST)]
    return float(compute_epsilon(orders, [rho * order for order in orders], delta)[0]) * (1 + ROUNDING)


def _mills(x: Any) -> Any:
    """(1 - Phi(x)) / phi(x)."""
    return math.sqrt(math.pi / 2) * scipy.special.erfcx(x / math.sqrt(2))
