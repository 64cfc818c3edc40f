r"""An (epsilon, delta) bound for one-shot selection, by the coins that a falling threshold lets one see.

Let a = sensitivity / scale, and let the noise have a density that a shift by at most the sensitivity changes by a
factor of at most :math:`e^a`, as Laplace noise has.

*Coins.* The two laws of a noisy value are then one channel applied to the two coins of randomized response with loss
a (Kairouz, Oh and Viswanath 2017): heads with probability :math:`p = e^a / (1 + e^a)` at one data set and 1 - p at the
other; on heads the value is drawn from one law, on tails from another, and these two know nothing of the data. So draw
for every item both values that it might have, and publish them: what is left to know is the coins. Let a threshold fall
from infinity. Where it meets the upper of an item's two values, its coin is seen: either the item is in, or it waits
for its lower value, at which it is in for sure. As soon as k items are in, all is known that is released: which they
are, in what order, even their noisy values. So the release is a function of what has nothing to do with the data, and
of coins that are seen one by one until k items are in; which side of a coin brings its item in at once, an adversary
may choose. More coins tell no less: an item that comes in without a coin only ends the game sooner, and is left out.
Of a set of all but k items the threshold may as well rise; of an order of all m the last is known.

*The game.* So delta is at most the largest mean of :math:`(1 - e^{\varepsilon - L})_+`, where L is the sum of the
losses :math:`\pm a` of the coins seen. When L is i whole steps of a away from epsilon, above or below, and n items are
not in, that is :math:`(1 - e^{\varepsilon - L})_+ + e^{(\varepsilon - L) / 2} \tau_n(i)` with
:math:`h = 1 / (2 \cosh(a / 2))`, :math:`\tau_0 = 0` and

.. math::

   \tau_n(i) = h (\tau_n(i - 1) + \tau_{n - 1}(i + 1)), \quad
   \tau_n(0) = \tanh(a / 2) + h (\tau_n(1) + \tau_{n - 1}(1)),

if that side of each coin brings an item in that leads away from epsilon: steps towards epsilon are free. Indeed
:math:`p e^{-a / 2} = (1 - p) e^{a / 2} = h`, and the mean of :math:`(1 - e^{\varepsilon - L})_+` after a coin is what
it was before, but for :math:`\tanh(a / 2)` more where L is epsilon.

*No other choice is better.* It would be, at some i > 0, if :math:`\tau_n - \tau_{n - 1}` were larger at i + 1 than at
i - 1. But that is :math:`\tanh(a / 2)` times the mean number of visits to 0 after n - 1 items came in and before the
n-th does, each counted :math:`(2 h)^{steps}`, of a walk that at even odds goes towards 0 for free, or away from it at
the price of an item. Let one walk start from i - 1 and another from i + 1, with the same coins. They stay two apart, at
the same price, until the nearer is at 0; then it goes to 1, and the other to 1 or to 3, at the same price again. So
they stay two apart or meet, and whenever the farther is at 0, so is the nearer.

Between whole steps delta is convex in :math:`e^\varepsilon`, and the chord is above it. Where the walk is cut off,
:math:`\tau_{n - 1}(i + 1)` is replaced by :math:`\tau_{n - 1}(i - 1)`, which is no less, by the same two walks.

*Many items.* The mean is no less if N coins are seen, and if delta is 1 where k items are not in by then. A coin brings
an item in with probability 1 - p at least, so that is no more often than :math:`\exp(-2 (N (1 - p) - k + 1)^2 / N)`
(Hoeffding), and N coins have the optimal composition of Kairouz, Oh and Viswanath (2017).

Noise on a lattice is covered as by `dprank.topk.bound`.
"""

from __future__ import annotations

import math

import numpy as np

from dprank._jit import njit
from dprank._require import require_loss, require_positive, require_probability, require_real
from dprank._search import largest_under, least_under
from dprank.data.tallies import require_k
from dprank.privacy.composition import MOST_ROUNDS, optimal_delta

__all__ = ["descent_delta", "descent_epsilon", "descent_shift"]

#: Most items that are played for one by one.
MOST_PLAYED = 1 << 10
#: Relative allowance for rounding: all terms are positive, and some ten thousand factors make a product.
_ROUNDING = 1e-9
#: Part of delta for more coins than are counted.
_MORE = 0.02
#: Least delta that is told, and largest epsilon and shift: no product of the game is too small for a float.
_LEAST, _MOST = 1e-100, 600.0


def descent_delta(k: int, shift: float, epsilon: float) -> float:
    """A delta at which one-shot selection of k items, best first, is (epsilon, delta) private.

    Parameters
    ----------
    k : int
        From 1 to 1024. Of m items in no order, k or m - k.
    shift : float
        Sensitivity over scale of Laplace noise (discrete, with ties broken at random, too), above 0. Halve it if all
        values move one way (noise on a lattice: see `dprank.topk.bound`): a selection sees differences only.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        At most 1, rounded up. It falls no more from epsilon = 2 k `shift` on, from where the selection is private
        without a delta.

    Raises
    ------
    ValueError
        Naming the parameter and its value.

    Notes
    -----
    O(k (sqrt(k) + epsilon / shift)).

    Examples
    --------
    >>> [round(descent_delta(50, 0.02, epsilon), 4) for epsilon in (0.0, 0.5, 1.0)]
    [0.0842, 0.0013, 0.0]
    """
    k, shift = require_k(k, MOST_PLAYED), require_positive("shift", shift, up=True)
    return _delta(k, shift, require_loss("epsilon", epsilon))


def descent_epsilon(k: int, shift: float, delta: float) -> float:
    """An epsilon at which one-shot selection of k items is (epsilon, delta) private, for any k.

    Parameters
    ----------
    k, shift
        As of `descent_delta`, any k.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Rounded up; infinity where it is not below 2 k `shift`, which no delta is needed for.

    Raises
    ------
    ValueError
        Naming the parameter and its value.

    Notes
    -----
    Some twenty of `descent_delta`; of more than 1024 items of `dprank.privacy.composition.optimal_delta`.

    Examples
    --------
    >>> round(descent_epsilon(50, 0.02, 1e-6), 4), descent_epsilon(1, 0.02, 1e-6)
    (1.0396, inf)
    """
    k, shift = require_k(k, math.inf), require_positive("shift", shift, up=True)
    delta = require_probability("delta", delta)
    most = 2 * k * shift
    if most == math.inf or not _fits(k, shift, most, delta):
        return math.inf
    if _fits(k, shift, 0.0, delta):
        return 0.0
    return least_under(lambda epsilon: _told(k, shift, epsilon, delta), _allowed(k, delta), most)


def descent_shift(k: int, epsilon: float, delta: float) -> float:
    """A shift, nearly the largest, at which one-shot selection of k items is so private.

    Parameters
    ----------
    k : int
        At least 1.
    epsilon : float
        Above 1e-300 and below 1e300; no more than 600 is spent.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Sensitivity over scale; not above epsilon / (2 k) where a delta is of no use.

    Raises
    ------
    ValueError
        Naming the parameter and its value.

    Examples
    --------
    >>> shift = descent_shift(50, 1.0, 1e-6)
    >>> round(shift, 4), round(descent_epsilon(50, shift, 1e-6), 6)
    (0.0193, 1.0)
    """
    k, delta = require_k(k, math.inf), require_probability("delta", delta)
    epsilon = require_real("epsilon", epsilon, "it must lie in (1e-300, 1e300)", lambda x: 1e-300 < x < 1e300)
    pure = min(epsilon, _MOST) / (2 * k)
    if not _fits(k, pure, epsilon, delta):
        return pure
    return largest_under(lambda shift: _told(k, shift, epsilon, delta), _allowed(k, delta), pure)


def _fits(k: int, shift: float, epsilon: float, delta: float) -> bool:
    return _told(k, shift, epsilon, delta) <= _allowed(k, delta)


def _allowed(k: int, delta: float) -> float:
    return delta if k <= MOST_PLAYED else (1 - 2 * _MORE) * delta


def _told(k: int, shift: float, epsilon: float, delta: float) -> float:
    """What may be `_allowed`; infinity where nothing is known."""
    if delta < _LEAST or shift > _MOST:
        return math.inf
    if k <= MOST_PLAYED:
        return _delta(k, shift, epsilon)
    coins = _coins(k, shift, _MORE * delta)
    return optimal_delta(coins, shift, epsilon) if coins <= MOST_ROUNDS else math.inf


def _coins(k: int, shift: float, rarely: float) -> int:
    """So many that k items are in, but rarely."""
    chance = 1 / (1 + math.exp(shift)) * (1 - 1e-12)
    spare = math.sqrt(math.log(1 / rarely) / 2)
    root = (spare + math.sqrt(spare * spare + 4 * chance * k)) / (2 * chance)
    return math.ceil(root * root * (1 + 1e-12))


def _delta(k: int, shift: float, epsilon: float) -> float:
    epsilon = min(epsilon, 2 * k * shift, _MOST)
    if shift > _MOST:
        return 1.0
    steps = math.floor(epsilon / shift)
    reach = steps + 2 + min(k, 8 * math.isqrt(k) + 20)
    lower, upper = _played(k, 0.5 / math.cosh(shift / 2), math.tanh(shift / 2), steps, reach)
    ends = math.exp(steps * shift / 2) * lower, math.exp((steps + 1) * shift / 2) * upper
    share = min(max(math.expm1(epsilon - steps * shift) / math.expm1(shift), 0.0), 1.0)
    return min(1.0, ((1 - share) * ends[0] + share * ends[1]) * (1 + _ROUNDING))


@njit(cache=True, error_model="numpy")
def _played(k, half, gain, steps, reach):
    """tau_k at so many steps from epsilon, and at one more."""
    before, now = np.zeros(reach + 1), np.zeros(reach + 1)
    for _ in range(k):
        # tau(0) and tau(1) in terms of each other
        now[0] = (gain + half * (half * before[2] + before[1])) / (1 - half * half)
        for i in range(1, reach):
            now[i] = half * (now[i - 1] + before[i + 1])
        now[reach] = half * (now[reach - 1] + before[reach - 1])
        before, now = now, before
    return before[steps], before[steps + 1]
