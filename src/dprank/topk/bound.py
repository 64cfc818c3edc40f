r"""An (epsilon, delta) bound for one-shot selection that does not see the number of items.

Let a = sensitivity / scale, and let the noise be such that a shift by the sensitivity changes both its tails by a
factor of at most :math:`e^a` (Laplace and discrete Laplace noise). Given the noisy value v of the last selected item
the others are selected independently, item i with probability :math:`q_i`. Write :math:`q_i'` for the neighbour,
:math:`\ell` for the log ratio of an item's two laws, and choose :math:`\alpha > 0`, :math:`0 < \eta < 1`. If

.. math:: q e^{\alpha \ell(1) - \mu} + (1 - q) e^{\alpha \ell(0)} \le 1 - \eta q

for all pairs (q, q') such noise allows, then Markov's inequality and

.. math:: \int \sum_j f_j(v) \prod_{i \ne j} (1 - \eta q_i(v)) \, dv = \frac{1 - (1 - \eta)^m}{\eta}

give :math:`\delta(\varepsilon) \le c_\alpha \eta^{-1} e^{\mu (k - 1) - \alpha (\varepsilon - a)}`. The left side is
convex along the two lines that bound the allowed pairs, so three corners decide.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq, minimize


def _log_delta_at(alpha: float, eta: float, k: int, shift: float, epsilon: float, n_items: float) -> float:
    low, high = 1 / (1 + math.exp(shift)), 1 / (1 + math.exp(-shift))
    room = 1 - eta * low - high * math.exp(alpha * shift), 1 - eta * high - low * math.exp(-alpha * shift)
    if min(room) <= 0 or eta >= 1:
        return math.inf
    mu = max(
        math.log(low / room[0]) - alpha * shift,
        math.log(high / room[1]) + alpha * shift,
        -math.log1p(-eta),
    )
    markov = alpha * math.log(alpha) - (1 + alpha) * math.log1p(alpha)
    count = math.log(-math.expm1(n_items * math.log1p(-eta))) - math.log(eta)
    return markov + count + mu * (k - 1) - alpha * (epsilon - shift)


def log_delta(k: int, shift: float, epsilon: float, n_items: float = math.inf) -> float:
    """Logarithm of a delta at which one-shot selection of k items by Laplace noise is (epsilon, delta) private.

    Parameters
    ----------
    k : int
        At least 1.
    shift : float
        Sensitivity over scale, above 0.
    epsilon : float
        At least 0.
    n_items : float
        Number of items, if the bound is to use it.
    """
    best = 0.0
    for alpha in (epsilon / (2 * k * shift**2), epsilon / (4 * k * shift**2), 0.3 / shift):
        found = minimize(
            lambda at: min(
                _log_delta_at(math.exp(at[0]), 1 / (1 + math.exp(-at[1])), k, shift, epsilon, n_items), 1e9
            ),
            [math.log(min(alpha, 0.6 / shift)), -math.log(k + 1)],
            method="Nelder-Mead",
        )
        best = min(best, float(found.fun))
    return best


def shift_for(k: int, epsilon: float, delta: float, n_items: float = math.inf) -> float:
    """Largest shift (sensitivity over scale) at which `log_delta` is at most log(delta)."""
    pure = epsilon / (2 * k)
    excess = lambda log_shift: log_delta(k, math.exp(log_shift), epsilon, n_items) - math.log(delta)  # noqa: E731
    low = math.log(pure) - 3
    while excess(low) > 0:
        low -= 2
    high = math.log(epsilon)
    return math.exp(float(brentq(excess, low, high, xtol=1e-10)))
