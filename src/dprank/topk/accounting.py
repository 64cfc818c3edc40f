r"""What the parts of a selection cost: noise that is added once, released values, and rounds.

Every part says the epsilon of noise of some scale at some delta, its zero-concentrated rho, and the least scale for an
epsilon. Parameters are validated by the mechanisms that hand them over.

Differences of values decide, and the difference of two moves by at most w: twice the sensitivity if values move in
any directions, once if all move one way. So moving one way is moving in any directions by half the sensitivity,
as far as the chosen are concerned.

Pure: push the noise of the k chosen up by at most w each, and they stay chosen. That costs k w / scale under each
of the three laws. Laplace noise may as well push the m - k others down, and an order of all m outlives any shift of
all m, by the median move say, from which the moves differ by floor(m / 2) w together at most: min(k, m - k) w /
scale for the set, min(k, floor(m / 2)) w / scale for the order.

If a record moves at most c values, Laplace noise may undo the moves themselves: c moves by the sensitivity if a
record is added or removed, 2c if it is replaced, hence c w / scale either way. These moves are as many independent
releases, so they also compose, to an (epsilon, delta) and to a rho; and no more of the k released values move. This
says nothing of Gumbel and exponential noise, which cannot be pushed down: raising a single item that was far ahead
of the k chosen costs k sensitivity / scale.

Approximate: Laplace noise by the coins of `dprank.topk.descent`, which one by one cost half a spread each, or by
`dprank.topk.bound.log_delta`; a set is symmetric, so k or m - k. If few values move, or there are few, no more coins
are seen than those. Last, whatever is purely private for some epsilon is, for less, at the delta of one coin of that
epsilon (Kairouz, Oh and Viswanath 2017): so is exponential noise, of which no more is known.

Gumbel noise selects, in order, as k rounds of the exponential mechanism do (the last of m is no choice). A round
loses at most w / scale and costs (w / scale)^2 / 8 of zCDP (Cesar and Rogers 2021); `dprank.privacy.composition` adds
the rounds up, and the k released values.

Rounds: given the noise of the others, an item wins a round if its own noise is above a threshold, which a neighbour
moves by at most w. Under each of the three laws the chance to be above it then changes by a factor of at most
:math:`e^{w / scale}`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import scipy

from dprank._require import require_positive
from dprank.privacy.composition import MOST_ROUNDS, Composition, epsilon_per_round, rho, total_epsilon
from dprank.privacy.guarantee import Adjacency, ratio_up
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.descent import descent_epsilon, descent_shift
from dprank.topk.noise_laws import Noise
from dprank.topk.selection import spread

__all__ = ["SLACK", "Chosen", "Rounds", "Shown", "shared_scales", "splits", "times_up"]

#: Relative; scales that numbers were inverted for are so much larger than found.
SLACK = 1e-9
#: So many times more items than are chosen may be seen whole at less cost.
_FEW = 8
#: A pure promise is not given up for less than a hundredth of it.
_WORTH = 0.99
#: How the rounds of Gumbel noise compose.
_ROUNDS: tuple[Composition, ...] = ("optimal", "zcdp")


@dataclass(frozen=True)
class Chosen:
    """Which k of m items come out, by noise that is added once.

    Parameters
    ----------
    k : int
    noise, sensitivity, adjacency, ordered
        As of `dprank.topk.oneshot.Oneshot`.
    m : float
        Number of items, infinity where none is public.
    per_person : float
        Values that adding or removing a record may move, infinity where nothing bounds them.

    Examples
    --------
    >>> chosen = Chosen(2, "exponential", sensitivity=1.0, adjacency="replace", ordered=False, m=4, per_person=math.inf)
    >>> chosen.pushes, chosen.spread, chosen.epsilon(8.0, 0.0), chosen.scale(0.5, 0.0)
    (2, 2.0, 0.5, 8.0)
    """

    k: int
    noise: Noise
    sensitivity: float
    adjacency: Adjacency
    ordered: bool
    m: float
    per_person: float

    @property
    def spread(self) -> float:
        """Most that the difference of two values may move."""
        return spread(self.sensitivity, self.adjacency)

    @property
    def moves(self) -> float:
        """How many values one record may move."""
        return 2 * self.per_person if self.adjacency == "replace" else self.per_person

    @property
    def pushes(self) -> float:
        """How many shifts by the spread keep what is chosen as it is."""
        if self.noise != "laplace":
            return min(self.k, self.m - 1) if self.ordered else self.k if self.k < self.m else 0
        half = self.m // 2 if self.m < math.inf else math.inf
        return min(self.k, half if self.ordered else self.m - self.k, self.per_person)

    @property
    def _entries(self) -> int:
        """How many items must come in until all is known that is released."""
        return int(min(self.k, self.m - 1 if self.ordered else self.m - self.k))

    @property
    def _whole(self) -> list[tuple[int, float]]:
        """How many values there are and by how much they move, where they are few: all are seen."""
        few = self.noise == "laplace" and self.m <= min(_FEW * self._entries, MOST_ROUNDS)
        return [(int(self.m), self.spread / 2)] if few else []

    @property
    def bounded(self) -> bool:
        """Whether noise that can be pushed down has few values to undo."""
        return self.noise == "laplace" and self.moves < math.inf

    @property
    def _unordered_m(self) -> float:
        """Items for `log_delta`: in an order the others do not tell what the chosen do."""
        return math.inf if self.ordered else self.m

    def epsilon(self, scale: float, delta: float) -> float:
        """Of noise of a scale, at a delta."""
        pure = ratio_up(times_up(self.pushes, self.spread), scale)
        if delta == 0 or pure == 0 or pure == math.inf:
            return pure
        if self.noise == "gumbel":
            each, rounds = ratio_up(self.spread, scale), int(self.pushes)
            return min(pure, *(total_epsilon(c, rounds, each, delta, bounded_range=True) for c in _ROUNDS))
        coins = [(1, times_up(self.pushes, self.spread)), *self._whole]
        routes = [total_epsilon("optimal", number, ratio_up(loss, scale), delta) for number, loss in coins]
        if self.noise == "laplace":
            shift = ratio_up(self.spread / 2, scale)
            routes += [descent_epsilon(self._entries, shift, delta), self._bounded_epsilon(shift, pure, delta)]
        found = _worth(min(routes), pure)
        if not self.bounded:
            return found
        return min(found, total_epsilon("optimal", int(self.moves), ratio_up(self.sensitivity, scale), delta))

    def _bounded_epsilon(self, shift: float, most: float, delta: float) -> float:
        """By `log_delta`; no more than a given one."""

        def excess(epsilon: float) -> float:
            return log_delta(self.k, shift, epsilon, self._unordered_m) - math.log(delta)

        if excess(most) > 0:
            return most
        epsilon = 0.0 if excess(0.0) <= 0 else float(scipy.optimize.brentq(excess, 0.0, most, xtol=1e-300, rtol=1e-14))
        while excess(epsilon) > 0:
            epsilon *= 1 + 1e-13
        return epsilon

    def rho(self, scale: float) -> float:
        """Of noise of a scale."""
        loss = self.spread / scale
        if self.noise == "gumbel":
            return rho(int(self.pushes), loss, True)
        pushed = rho(1, self.pushes * loss)
        return min(pushed, rho(int(self.moves), self.sensitivity / scale)) if self.bounded else pushed

    def scale(self, epsilon: float, delta: float) -> float:
        """Least that is (epsilon, delta) private; where nothing is chosen, any would do."""
        pushes = self.pushes or 1
        pure = ratio_up(times_up(pushes, self.spread), epsilon)
        if delta == 0 or self.pushes == 0:
            return pure
        if self.noise == "gumbel":
            each = max(epsilon_per_round(c, int(pushes), epsilon, delta, bounded_range=True) for c in _ROUNDS)
            return min(pure, self.spread / each * (1 + SLACK))
        coins = [(1, times_up(pushes, self.spread)), *self._whole]
        scales = [loss / epsilon_per_round("optimal", number, epsilon, delta) for number, loss in coins]
        if self.noise == "laplace":
            shifts = descent_shift(self._entries, epsilon, delta), shift_for(self.k, epsilon, delta, self._unordered_m)
            scales += [self.spread / 2 / shift for shift in shifts]
        found = _worth(min(scales) * (1 + SLACK), pure)
        if self.bounded:
            each = epsilon_per_round("optimal", int(self.moves), epsilon, delta)
            found = min(found, self.sensitivity / each * (1 + SLACK))
        more = SLACK
        while self.epsilon(found, delta) > epsilon:
            found, more = min(pure, found * (1 + more)), 2 * more
        return found


@dataclass(frozen=True)
class Shown:
    """Values that come out under fresh Laplace noise; of no scale where none do.

    Parameters
    ----------
    moves : int
        Of the values that are released, how many one record may move.
    sensitivity : float

    Examples
    --------
    >>> shown = Shown(moves=2, sensitivity=1.0)
    >>> shown.epsilon(4.0, 0.0), shown.scale(0.5, 0.0)
    (0.5, 4.0)
    """

    moves: int
    sensitivity: float

    def epsilon(self, scale: float | None, delta: float) -> float:
        """Of noise of a scale, at a delta."""
        if scale is None:
            return 0.0
        pure = ratio_up(times_up(self.moves, self.sensitivity), scale)
        if delta == 0:
            return pure
        return min(pure, total_epsilon("optimal", self.moves, ratio_up(self.sensitivity, scale), delta))

    def rho(self, scale: float | None) -> float:
        """Of noise of a scale."""
        return 0.0 if scale is None else rho(self.moves, self.sensitivity / scale)

    def scale(self, epsilon: float, delta: float) -> float:
        """Least that is (epsilon, delta) private."""
        pure = ratio_up(times_up(self.moves, self.sensitivity), epsilon)
        if delta == 0:
            return pure
        each = epsilon_per_round("optimal", self.moves, epsilon, delta)
        return min(pure, self.sensitivity / each * (1 + SLACK))


@dataclass(frozen=True)
class Rounds:
    """Winners of rounds, each with fresh noise.

    Parameters
    ----------
    number : int
        Of rounds that have a choice.
    noise, composition
        As of `dprank.topk.peeling.Peeling`.
    spread : float
        Most that the difference of two values may move.

    Examples
    --------
    >>> rounds = Rounds(2, "exponential", "basic", spread=2.0)
    >>> rounds.each(8.0), round(rounds.epsilon(8.0, 0.0), 4), round(rounds.scale(0.5, 0.0), 4)
    (0.25, 0.5, 8.0)
    """

    number: int
    noise: Noise
    composition: Composition
    spread: float

    @property
    def _ranged(self) -> bool:
        return self.noise == "gumbel"

    def _rules(self, delta: float) -> tuple[Composition, ...]:
        """All that hold, where the best is asked for."""
        return _ROUNDS if self._ranged and self.composition == "optimal" and delta else (self.composition,)

    def each(self, scale: float) -> float:
        """Pure loss of a round; for Gumbel noise also the range of its log ratio."""
        return ratio_up(self.spread, scale)

    def epsilon(self, scale: float, delta: float) -> float:
        """Of noise of a scale, at a delta."""
        each, rules = self.each(scale), self._rules(delta)
        return min(total_epsilon(rule, self.number, each, delta, bounded_range=self._ranged) for rule in rules)

    def rho(self, scale: float) -> float:
        """Of noise of a scale."""
        return rho(self.number, self.each(scale), self._ranged)

    def scale(self, epsilon: float, delta: float) -> float:
        """Least that is (epsilon, delta) private."""
        epsilon, rounds = require_positive("epsilon", epsilon), max(self.number, 1)
        ranged, rules = self._ranged, self._rules(delta)
        each = max(epsilon_per_round(rule, rounds, epsilon, delta, bounded_range=ranged) for rule in rules)
        scale = ratio_up(self.spread, each)
        while self.epsilon(scale, delta) > epsilon:
            scale *= 1 + 2.0**-44
        return scale


def shared_scales(chosen: Chosen, shown: Shown, epsilon: float, delta: float, share: float) -> tuple[float, float]:
    """Least scales of a selection and of its values that are (epsilon, delta) private together.

    Parameters
    ----------
    chosen, shown : Chosen, Shown
    epsilon, delta : float
    share : float
        Of epsilon, or of rho where one conversion of the sum is better, that the values have.

    Returns
    -------
    tuple of float
        Delta is split so that their product is least.

    Examples
    --------
    >>> chosen = Chosen(2, "exponential", sensitivity=1.0, adjacency="replace", ordered=False, m=4, per_person=math.inf)
    >>> [round(scale, 4) for scale in shared_scales(chosen, Shown(2, 1.0), 1.0, 0.0, share=0.5)]
    [8.0, 4.0]
    """
    paid = share * epsilon
    rest = math.nextafter(epsilon - paid, 0)
    scales = [(chosen.scale(rest, d), shown.scale(paid, e)) for d, e in splits(delta)]
    if chosen.noise == "gumbel" and delta > 0:
        total = rho(1, epsilon_per_round("zcdp", 1, epsilon, delta)) * (1 - SLACK)
        scale = chosen.spread * math.sqrt(chosen.pushes / (8 * (1 - share) * total))
        scales.append((scale, shown.sensitivity * math.sqrt(shown.moves / (2 * share * total))))
    return min(scales, key=math.prod)


def splits(delta: float) -> list[tuple[float, float]]:
    """What the selection and the values may have of delta; pure first.

    Examples
    --------
    >>> splits(1e-6)
    [(0.0, 0.0), (0.0, 1e-06), (5e-07, 5e-07), (1e-06, 0.0)]
    """
    return sorted({(0.0, 0.0), (0.0, delta), (delta / 2, delta / 2), (delta, 0.0)})


def _worth(found: float, pure: float) -> float:
    return found if found < _WORTH * pure else pure


def times_up(count: float, size: float) -> float:
    """The product, rounded up.

    Examples
    --------
    >>> times_up(3, 0.5), times_up(10, 0.1) > 1  # the float 0.1 is above 1/10
    (1.5, True)
    """
    product = count * size
    return product if Fraction(product) >= Fraction(count) * Fraction(size) else math.nextafter(product, math.inf)
