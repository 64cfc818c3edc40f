r"""What several releases lose together where each is chosen after seeing the others: sums that are filters.

A *filter* says whether one more release fits, whatever was seen before and however the next one was chosen. Not every
sum that is right for a list fixed in advance is one.

- "basic": the epsilons add, and so do the deltas (Rogers, Roth, Ullman and Vadhan 2016).
- "zcdp": zero-concentrated privacy adds (Bun and Steinke 2016), and the sum is a filter (Feldman and Zrnic 2021, for
  Rényi divergence of any order; Whitehouse, Ramdas, Rogers and Wu 2023; also of delta-approximate kind, whose deltas
  add). An :math:`\varepsilon`-private release has :math:`\rho = \varepsilon^2 / 2`, not an eighth, unless its range is
  bounded, which its mechanism knows; an :math:`(\varepsilon, \delta)`-private one the same but for events of chance
  :math:`\delta`. Twice as many neighbours apart is four times :math:`\rho`.

Where all that was spent is purely private, basic sums may be used beside: what is published splits into what came
while the one sum was within its limit, and the rest, while the other was. On the first part the loss is at most
:math:`\varepsilon` everywhere; the second is an event of a process that stops at its own filter. So the two deltas add,
and the first is 0. With deltas of their own in both they would add to more than the limit: hence purely private only.

Privacy loss distributions are *no* filter. Let a first release have loss x, and let both of two mechanisms, whose
curves of delta cross, fill the budget after it. Choosing the one or the other by x, whichever is worse there, loses
more than either. Koskela, Tran, Räisä and Honkela (2026, "f-Differential Privacy Filters") prove that tracking curves
along a path is invalid in general. For a list that is fixed before anything is seen a budget is not needed: its losses
compose as one mechanism, which is spent once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from dprank._search import largest_under
from dprank.privacy.gaussian import zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit

__all__ = ["COMPOSITIONS", "NOTHING", "NO_FILTER", "Composition", "Cost", "Limit", "cost_of", "most_rho"]

Composition = Literal["basic", "zcdp"]
COMPOSITIONS: tuple[Composition, ...] = ("basic", "zcdp")
NO_FILTER = (
    "composition = 'pld'; it is right for a list that is fixed in advance only: where a release is chosen after seeing "
    "others it would promise too much; 'basic' or 'zcdp'"
)
#: Relative allowance for the rounding of a mechanism's rho.
_ROUNDING = Fraction(1, 2**40)


@dataclass(frozen=True)
class Cost:
    """What a release is counted as, or several: exact.

    Parameters
    ----------
    epsilon, delta : Fraction
        By basic composition.
    rho, rest : Fraction
        Zero-concentrated, but for events of that chance.

    Examples
    --------
    >>> one = cost_of(Guarantee(0.5), "voter", "replace")
    >>> (one + one).rho
    Fraction(1, 4)
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    rest: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.epsilon + other.epsilon, self.delta + other.delta, self.rho + other.rho, self.rest + other.rest
        )


NOTHING = Cost()


def cost_of(guarantee: Guarantee, unit: Unit, adjacency: Adjacency, rho: float | None = None) -> Cost | None:
    """What a release costs in a budget of these neighbours; None where that is infinite.

    Parameters
    ----------
    guarantee : Guarantee
    unit, adjacency
        Of the budget.
    rho : float, optional
        Of a zero-concentrated guarantee for the neighbours of `guarantee`.

    Raises
    ------
    ValueError
        Where the guarantee says nothing about them.

    Examples
    --------
    >>> one = cost_of(Guarantee(0.5, adjacency="add_remove"), "voter", "replace")
    >>> float(one.epsilon), float(one.rho)  # twice as much, and four times
    (1.0, 0.5)
    """
    cost = guarantee.converted(unit, adjacency)
    if math.isinf(cost.epsilon):
        return None
    epsilon, delta = Fraction(cost.epsilon), Fraction(cost.delta)
    by_epsilon = epsilon**2 / 2
    if rho is None or math.isinf(rho):
        return Cost(epsilon, delta, by_epsilon, delta)
    twice = guarantee.adjacency == "add_remove" and (guarantee.unit, guarantee.adjacency) != (unit, adjacency)
    stated = Fraction(rho) * (1 + _ROUNDING) * (4 if twice else 1)
    return Cost(epsilon, delta, stated if delta else min(stated, by_epsilon), Fraction(0))


@cache
def most_rho(epsilon: float, delta: float) -> Fraction:
    """The largest rho whose epsilon at `delta` is within the limit, rounded down.

    Examples
    --------
    >>> found = float(most_rho(1.0, 1e-6))
    >>> round(found, 5), zcdp(found, 1e-6) <= 1.0
    (0.02436, True)
    """
    if delta == 0:
        return Fraction(0)
    # at any delta below 1/2 rho is no more than epsilon, and above that no budget is meant
    return Fraction(largest_under(lambda rho: zcdp(rho, delta), epsilon, epsilon, 1e-12))


@dataclass(frozen=True)
class Limit:
    """What may be lost of a data set, and by which sums: fixed when a budget is made.

    Parameters
    ----------
    guarantee : Guarantee
    composition : {"basic", "zcdp"}
    rho, spare : Fraction
        Of "zcdp": limit of the sum of rho, and the part of delta that turns it into epsilon.

    Examples
    --------
    >>> limit = Limit.of(Guarantee(1.0, 1e-6), "zcdp")
    >>> one = cost_of(Guarantee(0.1), "voter", "replace")
    >>> limit.fits(one), round(limit.left(NOTHING)[0], 3)  # all of epsilon at once
    (True, 1.0)
    """

    guarantee: Guarantee
    composition: Composition = "basic"
    rho: Fraction = Fraction(0)
    spare: Fraction = Fraction(0)

    @classmethod
    def of(cls, guarantee: Guarantee, composition: Composition) -> Limit:
        """The limit that a guarantee allows: half of delta turns rho into epsilon, half is for deltas of releases."""
        if composition == "basic":
            return cls(guarantee)
        if guarantee.delta == 0:
            raise ValueError("delta = 0.0; composition 'zcdp' needs it above 0")
        spare = guarantee.delta / 2
        return cls(guarantee, composition, most_rho(guarantee.epsilon, spare), Fraction(spare))

    def fits(self, total: Cost) -> bool:
        """Whether all of it together is within the limit."""
        within = total.epsilon <= Fraction(self.guarantee.epsilon)
        if self.composition == "basic":
            return within and total.delta <= Fraction(self.guarantee.delta)
        return (within and not total.delta) or (total.rho <= self.rho and total.rest <= self._deltas)

    def left(self, spent: Cost) -> tuple[float, float]:
        """Largest epsilon and delta that fit beside what is spent, rounded down; of "zcdp" pure epsilon, and 0."""
        epsilon = max(Fraction(self.guarantee.epsilon) - spent.epsilon, Fraction(0))
        if self.composition == "basic":
            return _down(epsilon), _down(max(Fraction(self.guarantee.delta) - spent.delta, Fraction(0)))
        root = _root(2 * self.left_rho(spent))
        return (root if spent.delta else max(_down(epsilon), root)), 0.0

    def left_rho(self, spent: Cost) -> Fraction:
        """The same of rho."""
        return max(self.rho - spent.rho, Fraction(0)) if spent.rest <= self._deltas else Fraction(0)

    def promised(self, spent: Cost) -> tuple[float, float]:
        """Epsilon and delta of what is spent, rounded up: the least of the sums that hold."""
        basic = _up(spent.epsilon), _up(spent.delta)
        if self.composition == "basic" or spent == NOTHING:
            return basic
        epsilon = zcdp(_up(spent.rho), float(self.spare))
        if not spent.delta and basic[0] <= epsilon:
            return basic
        return epsilon, _up(self.spare + spent.rest)

    @property
    def _deltas(self) -> Fraction:
        return Fraction(self.guarantee.delta) - self.spare


def _root(exact: Fraction) -> float:
    """The square root, rounded down."""
    root = math.sqrt(_down(exact))
    while Fraction(root) ** 2 > exact:
        root = math.nextafter(root, 0)
    return root


def _down(exact: Fraction) -> float:
    number = float(exact)
    return number if number <= exact else math.nextafter(number, 0)


def _up(exact: Fraction) -> float:
    number = float(exact)
    return number if number >= exact else math.nextafter(number, math.inf)
