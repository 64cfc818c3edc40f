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
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Literal

from dprank._search import largest_under
from dprank._typed import said
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
#: By how much more a number that was asked for may be than the promise, which then is that number but for rounding.
_SAME = Fraction(1, 10**9)


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


def cost_of(
    guarantee: Guarantee,
    unit: Unit,
    adjacency: Adjacency,
    rho: float | None = None,
    asked: tuple[Fraction, Fraction] | None = None,
) -> Cost | None:
    r"""What a release costs in a budget of these neighbours; None where that is infinite.

    Parameters
    ----------
    guarantee : Guarantee
    unit, adjacency
        Of the budget.
    rho : float, optional
        Of a zero-concentrated guarantee for the neighbours of `guarantee`.
    asked : tuple of Fraction, optional
        Epsilon and delta as somebody typed them, for which the mechanism was made.

    Raises
    ------
    ValueError
        Where the guarantee says nothing about them.

    Notes
    -----
    What was typed is charged in the place of what is promised where it is no less, and more by rounding alone (one part
    in :math:`10^9`). So no cost is below the promise: let the mechanism lose at most :math:`\varepsilon_0`, which is
    its guarantee and a float, and let :math:`\varepsilon` be the decimal. Whoever typed it gets a mechanism that was
    made for the largest float that is not above :math:`\varepsilon` (`dprank._typed.Typed.below`), so that
    :math:`\varepsilon_0 \le \varepsilon`; were it otherwise, :math:`\varepsilon_0` itself would be charged. The sum
    of such costs is one of decimals, and exact: five times 0.2 is 1.

    Examples
    --------
    >>> fifth = cost_of(Guarantee(0.2), "voter", "replace", asked=(Fraction(1, 5), Fraction(0)))
    >>> fifth.epsilon == Fraction(0.2) > Fraction(1, 5)  # the float is more than was typed: it is charged
    True
    >>> one = cost_of(Guarantee(0.5, adjacency="add_remove"), "voter", "replace")
    >>> float(one.epsilon), float(one.rho)  # twice as much, and four times
    (1.0, 0.5)
    """
    cost = guarantee.converted(unit, adjacency)
    if math.isinf(cost.epsilon):
        return None
    promised = (cost.epsilon, cost.delta)
    twice = _doubled(guarantee, unit, adjacency)
    typed = asked if asked and not twice else (2 * asked[0], Fraction(cost.delta)) if asked else map(Fraction, promised)
    epsilon, delta = (_charged(*pair) for pair in zip(promised, typed, strict=True))
    by_epsilon = epsilon**2 / 2
    if rho is None or math.isinf(rho):
        return Cost(epsilon, delta, by_epsilon, delta)
    stated = Fraction(rho) * (1 + _ROUNDING) * (4 if twice else 1)
    return Cost(epsilon, delta, stated if delta else min(stated, by_epsilon), Fraction(0))


def _doubled(guarantee: Guarantee, unit: Unit, adjacency: Adjacency) -> bool:
    return guarantee.adjacency == "add_remove" and (guarantee.unit, guarantee.adjacency) != (unit, adjacency)


def _charged(promised: float, asked: Fraction) -> Fraction:
    """What was asked for, if it is what is promised but for rounding; never less than the promise."""
    exact = Fraction(promised)
    return asked if exact <= asked <= exact * (1 + _SAME) else exact


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
    exact : tuple of Fraction, optional
        Epsilon and delta, of which those of the guarantee are the nearest floats; these by default.

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
    exact: tuple[Fraction, Fraction] | None = None

    @classmethod
    def of(
        cls, guarantee: Guarantee, composition: Composition, exact: tuple[Fraction, Fraction] | None = None
    ) -> Limit:
        """The limit that a guarantee allows: half of delta turns rho into epsilon, half is for deltas of releases."""
        if composition == "basic":
            return cls(guarantee, exact=exact)
        if guarantee.delta == 0:
            raise ValueError("delta = 0.0; composition 'zcdp' needs it above 0")
        limit = cls(guarantee, composition, exact=exact)
        spare = _down(limit.delta) / 2
        return replace(limit, rho=most_rho(_down(limit.epsilon), spare), spare=Fraction(spare))

    @property
    def epsilon(self) -> Fraction:
        """The limit itself."""
        return Fraction(self.guarantee.epsilon) if self.exact is None else self.exact[0]

    @property
    def delta(self) -> Fraction:
        """The same of delta."""
        return Fraction(self.guarantee.delta) if self.exact is None else self.exact[1]

    @property
    def decimal(self) -> bool:
        """Whether it is what its digits say, and costs are decimals, too; version 0.2 wrote the floats next to them."""
        pairs = ((self.epsilon, self.guarantee.epsilon), (self.delta, self.guarantee.delta))
        return all(exact == Fraction(Decimal(repr(number))) for exact, number in pairs)

    def fits(self, total: Cost) -> bool:
        """Whether all of it together is within the limit."""
        within = total.epsilon <= self.epsilon
        if self.composition == "basic":
            return within and total.delta <= self.delta
        return (within and not total.delta) or (total.rho <= self.rho and total.rest <= self._deltas)

    def left(self, spent: Cost) -> tuple[float, float]:
        """Largest epsilon and delta that fit beside what is spent, rounded down; of "zcdp" pure epsilon, and 0."""
        epsilon, delta = self.rest(spent)
        return _down(epsilon), _down(delta)

    def rest(self, spent: Cost) -> tuple[Fraction, Fraction]:
        """The same, exact but for a square root."""
        epsilon = max(self.epsilon - spent.epsilon, Fraction(0))
        if self.composition == "basic":
            return epsilon, max(self.delta - spent.delta, Fraction(0))
        root = Fraction(_root(2 * self.left_rho(spent)))
        return (root if spent.delta else max(epsilon, root)), Fraction(0)

    def fitting(self, spent: Cost, given: Guarantee) -> float:
        """Largest epsilon that still fits, for the neighbours and the delta of a guarantee; 0 where none does.

        Of composition "zcdp" without a delta: what more would cost with one, its mechanism knows.

        Examples
        --------
        >>> limit, spent = Limit(Guarantee(1.0)), cost_of(Guarantee(0.5), "voter", "replace")
        >>> limit.fitting(spent, Guarantee(3.0)), limit.fitting(spent, Guarantee(3.0, adjacency="add_remove"))
        (0.5, 0.25)
        """
        epsilon, delta = self.rest(spent)
        lost = 0.0 if self.composition == "zcdp" else given.delta
        if _doubled(given, self.guarantee.unit, self.guarantee.adjacency):
            epsilon /= 2
            if lost:  # (1 + e^epsilon) lost <= delta
                most = float(delta / Fraction(lost)) - 1
                epsilon = min(epsilon, Fraction(math.log(most) if most > 1 else 0))
        if lost > delta or not self.fits(spent):
            return 0.0
        found, less = said(epsilon, up=False), 1e-12
        while found > 0 and not self._takes(spent, replace(given, epsilon=found, delta=lost)):
            found, less = max(0.0, math.nextafter(found * (1 - less), 0)), 2 * less
        return found

    def _takes(self, spent: Cost, given: Guarantee) -> bool:
        asked = (Fraction(Decimal(repr(given.epsilon))), Fraction(given.delta))
        below = replace(given, epsilon=min(given.epsilon, _down(asked[0])))
        cost = cost_of(below, self.guarantee.unit, self.guarantee.adjacency, asked=asked)
        return cost is not None and self.fits(spent + cost)

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
        return self.delta - self.spare


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
