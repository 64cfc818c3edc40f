"""What a voter sends of a ranking under local privacy, all in one round: randomisers, and how their reports are read.

Alabi, Ghazi, Kumar and Manurangsi (2022), Reduction I in the local model: the naive randomiser that they compare theirs
with, and one of ours. That of Duchi, Jordan and Wainwright, which they cite, is in `dprank.aggregation.directions`.

A voter's ranking is a vector of m(m-1)/2 signs, one a pair i < j in the order of `numpy.triu_indices`: +1 where item i
comes before j. A randomiser of signs yields unbiased estimates of the voters' mean signs, the margins w[i, j] -
w[j, i]; a randomiser of places, of their mean places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_positive, require_whole, settle, shown
from dprank.aggregation.matrix import upper
from dprank.aggregation.sent_reports import net_wins, require_signs
from dprank.privacy.kept import kept_for, kept_loss
from dprank.privacy.noise import Source
from dprank.privacy.randomized_response import GRAIN, bit_loss, flips_for, randomise
from dprank.privacy.reports import random_lists, require_lists

__all__ = [
    "OrderReport",
    "Randomiser",
    "SampledOrder",
    "SplitResponse",
    "ranking_signs",
]

Estimates = Literal["signs", "places"]


@runtime_checkable
class Randomiser(Protocol):
    """What `OneRound` asks of a randomiser: a frozen dataclass of its parameters.

    Any class that has all of this will do; its law, for the auditor, is registered with
    `dprank.aggregation.local_laws.report_law`.

    Examples
    --------
    >>> isinstance(SampledOrder.calibrated(epsilon=1.0, n_items=4), Randomiser)
    True
    """

    @property
    def estimates(self) -> Estimates:
        """Of what its reports are estimates: the voters' mean signs (`LocalMatrix`), or mean places (`LocalBorda`)."""
        ...

    @property
    def n_items(self) -> int:
        """Number of items, m."""
        ...

    @property
    def loss(self) -> float:
        """Largest log ratio of the probabilities (densities) of one report under two rankings; attained."""
        ...

    @property
    def variance(self) -> float:
        """Of an estimate from one report: the largest over the pairs, or the mean over the items."""
        ...

    def report(self, positions: NDArray[Any], rng: Any) -> NDArray[Any]:
        """What each voter sends, a row a voter."""
        ...

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates: of mean signs, shape (pairs,); of mean places less (m - 1) / 2, shape (items,)."""
        ...

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what no voter sends."""
        ...


def require_randomiser(randomiser: Any, estimates: Estimates) -> Randomiser:
    """Refuse what is no randomiser, or one whose reports estimate something else."""
    fits = isinstance(randomiser, Randomiser) and not isinstance(randomiser, type)
    if not fits or randomiser.estimates != estimates:
        known = (
            "SampledOrder, SplitResponse or VectorReport" if estimates == "signs" else "OrderReport or PositionVector"
        )
        raise ValueError(f"randomiser = {shown(randomiser)}; a Randomiser of {estimates} is needed, such as {known}")
    return randomiser


def ranking_signs(positions: NDArray[Any]) -> NDArray[np.int8]:
    """+1 for every pair i < j of items that a ranking puts in that order, else -1.

    Parameters
    ----------
    positions : ndarray of int, shape (voters, items)

    Returns
    -------
    ndarray of int8, shape (voters, items * (items - 1) / 2)

    Examples
    --------
    >>> ranking_signs(np.array([[0, 1, 2], [2, 0, 1]])).tolist()
    [[1, 1, 1], [-1, -1, 1]]
    """
    first, second = upper(positions.shape[1])
    return np.where(positions[:, first] < positions[:, second], 1, -1).astype(np.int8)


@dataclass(frozen=True)
class Items:
    """A number of items, at least 2."""

    n_items: int

    def __post_init__(self) -> None:
        settle(self, n_items=require_whole("n_items", self.n_items, 2))

    @property
    def n_pairs(self) -> int:
        """m (m - 1) / 2."""
        return math.comb(self.n_items, 2)


@dataclass(frozen=True)
class Flipped(Items):
    """Items, and the probability that a sign is reversed, in units of 2^-53; 1 to 2^52 - 1.

    Examples
    --------
    >>> Flipped(n_items=3, flips=GRAIN // 4).kept  # 3/4 - 1/4
    0.5
    """

    flips: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flips=require_whole("flips", self.flips, 1, GRAIN // 2 - 1))

    @property
    def kept(self) -> float:
        """Probability that a bit is kept less that it is reversed: tanh of half its loss."""
        return 1 - 2 * self.flips / GRAIN


@dataclass(frozen=True)
class SampledOrder(Items):
    """A few random items, in the voter's order or, if a coin says so, as they were drawn (ours).

    With two items it is randomised response on one random pair; with all of them, on the whole ranking.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    length : int
        How many items a voter sends, 2 to m.
    kept : int
        Probability that they are put in the voter's order, in units of 2^-53; 1 to 2^53 - 1.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    All coins are whole numbers, so that `SECURE` may toss them. O(voters * m) time with a generator.

    Examples
    --------
    >>> pair = SampledOrder.calibrated(epsilon=1.0, n_items=5, length=2)
    >>> pair.report(np.array([[4, 3, 2, 1, 0]]), np.random.default_rng(0)).shape
    (1, 2)
    >>> round(pair.loss, 9)
    1.0
    """

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    estimates: ClassVar[Estimates] = "signs"

    length: int
    kept: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(
            self,
            length=require_whole("length", self.length, 2, self.n_items),
            kept=require_whole("kept", self.kept, 1, GRAIN - 1),
        )

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, length: int | None = None) -> Self:
        """All of the budget on the choice between the voter's order and the order drawn.

        Parameters
        ----------
        epsilon : float
            Of one report; above 0, finite.
        n_items : int
            As in `SampledOrder`.
        length : int, optional
            As in `SampledOrder`; without it, the one of least variance.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where it is too little for any such order.
        """
        n_items, epsilon = require_whole("n_items", n_items, 2), require_positive("epsilon", epsilon)
        lengths = range(2, n_items + 1) if length is None else [require_whole("length", length, 2, n_items)]
        shares = ((k, kept_for(epsilon, math.factorial(k))) for k in lengths)
        # the more items, the smaller the share
        fit = [cls(n_items, k, kept) for k, kept in takewhile(itemgetter(1), shares)]
        if not fit:
            raise ValueError(f"epsilon = {epsilon}; too little for an order of length = {lengths[0]} items")
        return min(fit, key=lambda r: r.variance)

    @property
    def loss(self) -> float:
        """Attained by two rankings that order the sampled items differently."""
        return kept_loss(math.factorial(self.length), 1, self.kept)

    @property
    def chance(self) -> float:
        """Probability that a given pair is among the items sent."""
        return math.comb(self.length, 2) / self.n_pairs

    @property
    def shrinkage(self) -> float:
        """Probability of the voter's own order."""
        return self.kept / GRAIN

    @property
    def variance(self) -> float:
        """The same for every entry and ranking."""
        return 1 / (self.chance * self.shrinkage**2) - 1

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Items in the order sent, shape (voters, length)."""
        drawn = random_lists(len(positions), self.n_items, self.length, rng)
        voters = np.arange(len(drawn))[:, None]
        own = randomise(np.ones(len(drawn), np.int8), GRAIN - self.kept, rng) > 0
        return np.where(own[:, None], drawn[voters, np.argsort(positions[voters, drawn], axis=1)], drawn)

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Net wins in the orders sent, scaled."""
        return net_wins(reports, self.n_items) / (len(reports) * self.chance * self.shrinkage)

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of `length` items a row."""
        return require_lists(reports, self.length, self.n_items)


@dataclass(frozen=True)
class SplitResponse(Flipped):
    """The naive randomiser: every pair's sign by randomised response, with an equal share of the budget.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability that a sign is reversed, in units of 2^-53; 1 to 2^52 - 1.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> naive = SplitResponse.calibrated(epsilon=1.0, n_items=3)
    >>> naive.report(np.array([[0, 1, 2]]), np.random.default_rng(0)).shape
    (1, 3)
    """

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    estimates: ClassVar[Estimates] = "signs"

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int) -> Self:
        """All signs together spend the budget.

        Parameters
        ----------
        epsilon : float
            Of one report; above 0, finite.
        n_items : int
            As in `SplitResponse`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        n_items = require_whole("n_items", n_items, 2)
        return cls(n_items, flips_for(epsilon, math.comb(n_items, 2)))

    @property
    def loss(self) -> float:
        """Attained by two opposite rankings."""
        return bit_loss(self.flips, self.n_pairs)

    @property
    def variance(self) -> float:
        """The same for every entry and ranking."""
        return 1 / self.kept**2 - 1

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int8]:
        """Randomised signs, shape (voters, pairs)."""
        return randomise(ranking_signs(positions), self.flips, rng)

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Mean reports, scaled."""
        return reports.mean(axis=0) / self.kept

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of signs."""
        return require_signs(reports, self.n_pairs)


@dataclass(frozen=True)
class OrderReport:
    """A few random items in the voter's order, or as drawn, read as places.

    Parameters
    ----------
    order : SampledOrder
        Fixes items and privacy.

    Raises
    ------
    ValueError
        Where `order` is no `SampledOrder`.

    Examples
    --------
    >>> sent = OrderReport.calibrated(epsilon=1.0, n_items=4)
    >>> sent.report(np.array([[0, 1, 2, 3]]), np.random.default_rng(0)).shape == (1, sent.order.length)
    True
    """

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    estimates: ClassVar[Estimates] = "places"

    order: SampledOrder

    def __post_init__(self) -> None:
        if not isinstance(self.order, SampledOrder):
            raise ValueError(f"order = {shown(self.order)}; a SampledOrder is needed")

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int) -> Self:
        """All of the budget on the number of items whose `variance` is least.

        Where that number is small, more than log(length! 2^53) cannot be spent, and what is spent is less.

        Parameters
        ----------
        epsilon : float
            Of one report; above 0, finite.
        n_items : int
            At least 2.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        made = [cls(SampledOrder.calibrated(epsilon=epsilon, n_items=n_items, length=2))]
        for length in range(3, made[0].n_items + 1):
            try:
                made.append(cls(SampledOrder.calibrated(epsilon=epsilon, n_items=n_items, length=length)))
            except ValueError:  # so little epsilon allows no such order
                break
        return min(made, key=lambda report: report.variance)

    @property
    def n_items(self) -> int:
        """m."""
        return self.order.n_items

    @property
    def loss(self) -> float:
        """Attained by two rankings that order the sampled items differently."""
        return self.order.loss

    @property
    def variance(self) -> float:
        """Of the estimate of an item's place from one report, mean over the items; the same for every ranking.

        The k items of a report have places with mean square (k^2 - 1) / 12 about their middle, whatever their order.
        """
        m, k = self.n_items, self.order.length
        scaled = self.order.chance * self.order.shrinkage
        return k * mean_square(k) / (m * scaled**2) - mean_square(m)

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Items in the order sent, shape (voters, length)."""
        return self.order.report(positions, rng)

    @property
    def doubled_chance(self) -> float:
        """Twice the chance that a pair is told truly: this times an estimated sum of places is a whole number."""
        return 2 * self.order.chance * self.order.shrinkage

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates of mean places less (m - 1) / 2."""
        margins = np.zeros((self.n_items, self.n_items))
        margins[upper(self.n_items)] = self.order.estimate(reports)
        return np.asarray((margins.sum(axis=0) - margins.sum(axis=1)) / 2)

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of that many items a row."""
        return self.order.checked(reports)


def mean_square(n_items: int) -> float:
    """Of the places 0 .. n_items - 1, about their middle."""
    return (n_items**2 - 1) / 12
