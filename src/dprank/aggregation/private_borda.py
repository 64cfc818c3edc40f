"""Private rank aggregation by Borda's count: noise on m mean places instead of m(m-1)/2 fractions.

Not in Alabi, Ghazi, Kumar and Manurangsi (2022), whose algorithms noise pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_generator, require_whole, shown
from dprank.aggregation.additive import AdditiveNoise
from dprank.aggregation.local_reports import (
    Flipped,
    OneRound,
    SampledOrder,
    mean_overlap,
    require_directions,
    require_votes,
    some_flips,
)
from dprank.data.rankings import Rankings, require_rankings
from dprank.privacy.noise import Source, best_first, require_source
from dprank.privacy.randomized_response import bit_loss, randomise
from dprank.release import Ranking, source_of


@dataclass(frozen=True)
class PrivateBorda(AdditiveNoise):
    r"""Independent noise on the sum of places of every item, then sort.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    scale : float
        Of the noise, in places: Laplace scale, or standard deviation; above 0.
    noise : {"laplace", "gaussian"}
    delta : float
        At which the guarantee of Gaussian noise is stated, in (0, 1); 0 for Laplace noise.
    adjacency : {"replace", "add_remove"}
        The number of voters is used by neither.
    law : {"discrete", "continuous"}
        Whole noise, fit for release; or on the real line.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    PrivateBorda.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    The order depends on differences of scores only, so that a common shift of all scores changes nothing, and a voter
    moves them by no more than the least norm of the move over all shifts. To replace a ranking moves the sums most
    where it is turned round, with :math:`l_1` norm :math:`\lfloor m^2 / 2 \rfloor` and :math:`l_2` norm
    :math:`\sqrt{m (m^2 - 1) / 3}`, and no shift shortens either. To add a ranking moves them, after the shift by the
    middle place, by half of that: without the shift it would be :math:`m (m - 1) / 2`.
    """

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 5.0

    @property
    def l1_sensitivity(self) -> float:
        """Least bound on the sum of absolute moves that one voter causes, up to a common shift."""
        return float(self.n_items**2 // (2 if self.adjacency == "replace" else 4))

    @property
    def l2_sensitivity(self) -> float:
        """The same of the Euclidean norm, rounded up; shifts are whole where the noise is."""
        m = self.n_items
        square = Fraction(m * (m * m - 1), 3 if self.adjacency == "replace" else 12)
        if self.adjacency == "add_remove" and self.law == "discrete" and m % 2 == 0:
            square += Fraction(m, 4)  # the middle place lies between two
        return math.nextafter(math.sqrt(square), math.inf)

    def additive_error(self, n_voters: int) -> float:
        """Bound on the expected Kemeny score of the released order, less five times the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing. No data are
        read, so that one can plan before any budget is spent.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            Twice the expected sum of absolute noise, a voter: in pairs on which the average voter disagrees.
        """
        return 2 * self.n_items * self._wander / require_whole("n_voters", n_voters, 1)

    def release(self, data: Rankings, rng: Source) -> Ranking:
        """One private order, with its scores.

        Parameters
        ----------
        data : Rankings
            Of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items + items log items).
        """
        sums = require_rankings(data, self.n_items).positions.sum(axis=0, dtype=np.int64)
        scores = _centred(sums + self._drawn(sums.shape, rng))
        return Ranking(data.items, best_first(scores, rng), scores, mechanism=self, source=source_of(rng, self))

    def perturb(self, sums: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Sums of places with noise: what `guarantee` covers is their differences.

        Under "add_remove" the sums themselves are not covered: a voter who comes or goes shifts them all.

        Parameters
        ----------
        sums : ndarray, shape (..., items)
            Whole numbers, for noise on the grid; leading axes are independent repetitions.
        rng : numpy.random.Generator or dprank.SECURE

        Raises
        ------
        ValueError
            Where whole noise would leave digits as they are.
        """
        sums = self._require_counts("sum", sums, 1)
        return np.asarray(sums + self._drawn(sums.shape, rng), float)


@dataclass(frozen=True)
class PositionVector(Flipped):
    """A random direction on the side of the voter's places, or on the other side (Duchi, Jordan and Wainwright 2014).

    All rankings' places, less their mean, have the same norm; the direction is drawn among those orthogonal to
    (1, ..., 1), where they live.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability of the other side, in units of 2^-53; 1 to 2^52 - 1.

    Notes
    -----
    Floating-point coins, for research. O(voters * m) time.
    """

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """The whole of `epsilon`, above 0, on the choice of the side."""
        return cls(n_items, some_flips(epsilon))

    @property
    def loss(self) -> float:
        """Attained by two opposite rankings."""
        return bit_loss(self.flips)

    @property
    def length(self) -> float:
        """Of an estimate from one report: the norm of the places, over the mean length along them of what is sent."""
        return math.sqrt(self.n_items * _mean_square(self.n_items)) / (mean_overlap(self.n_items - 1) * self.kept)

    @property
    def variance(self) -> float:
        """Of the estimate of an item's place from one report, mean over the items; the same for every ranking."""
        return self.length**2 / self.n_items - _mean_square(self.n_items)

    def report(self, positions: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
        """Unit vectors whose entries sum to 0, shape (voters, items)."""
        vectors = require_generator(rng, "floating-point coins are for research").standard_normal(positions.shape)
        vectors -= vectors.mean(axis=1, keepdims=True)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        side = randomise(np.ones(len(vectors), np.int8), self.flips, rng)
        vectors[np.einsum("vi,vi->v", vectors, positions) * side < 0] *= -1
        return vectors

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates of mean places less (m - 1) / 2."""
        return np.asarray(reports.mean(axis=0) * self.length)

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of unit vectors."""
        return require_directions(reports, self.n_items)


@dataclass(frozen=True)
class OrderReport:
    """A few random items in the voter's order, or as drawn, read as places.

    Parameters
    ----------
    order : SampledOrder
        Fixes items and privacy.
    """

    order: SampledOrder

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """All of `epsilon`, above 0, on the number of items whose `variance` is least.

        Where that number is small, more than log(size! 2^53) cannot be spent, and what is spent is less.
        """
        made = [cls(SampledOrder.calibrated(n_items, epsilon, 2))]
        for size in range(3, made[0].n_items + 1):
            try:
                made.append(cls(SampledOrder.calibrated(n_items, epsilon, size)))
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
        m, k = self.n_items, self.order.size
        scaled = self.order.chance * self.order.shrinkage
        return k * _mean_square(k) / (m * scaled**2) - _mean_square(m)

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Items in the order sent, shape (voters, size)."""
        return self.order.report(positions, rng)

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates of mean places less (m - 1) / 2."""
        margins = np.zeros((self.n_items, self.n_items))
        margins[np.triu_indices(self.n_items, 1)] = self.order.estimate(reports)
        return np.asarray((margins.sum(axis=0) - margins.sum(axis=1)) / 2)

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of that many items a row."""
        return self.order.checked(reports)


@dataclass(frozen=True)
class LocalBorda(OneRound):
    """Borda's count under local privacy, in one round: one report a voter, and nobody is trusted.

    Parameters
    ----------
    randomiser : OrderReport or PositionVector
        What a voter sends; fixes items and privacy.

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank.privacy.noise import SECURE
    >>> poll = LocalBorda.calibrated(3, epsilon=2.0)
    >>> reports = [poll.report(places, SECURE) for places in ([0, 1, 2], [0, 2, 1], [0, 1, 2])]
    >>> poll.aggregate(reports, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 5.0

    randomiser: OrderReport | PositionVector

    def __post_init__(self) -> None:
        if not isinstance(self.randomiser, OrderReport | PositionVector):
            raise ValueError(f"randomiser = {shown(self.randomiser)}; an OrderReport or a PositionVector is needed")

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """With `OrderReport`: at equal epsilon `PositionVector` has the larger variance, from three items on.

        Parameters
        ----------
        n_items : int
            At least 2.
        epsilon : float
            Of one voter's report, above 0, finite. What is more than about 37 above the log of the number of orders
            that can be sent is not spent: `guarantee` then says less.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(OrderReport.calibrated(n_items, epsilon))

    def additive_error(self, n_voters: int) -> float:
        """Bound on the expected Kemeny score of the released order, less five times the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            Twice (a bound on) the expected sum of absolute errors of the mean places: in pairs on which the average
            voter disagrees.
        """
        return 2 * self.n_items * math.sqrt(self.randomiser.variance / require_whole("n_voters", n_voters, 1))

    def places(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the voters' mean places, less (m - 1) / 2, from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`, which `PositionVector` refuses.
        """
        table = require_votes(positions, self.n_items)
        return self.randomiser.estimate(self.randomiser.report(table, require_source(rng)))  # type: ignore[arg-type]

    def release(self, data: Rankings, rng: Source) -> Ranking:
        """One order from at least one ranking, as `report` and `aggregate` make it; `places` says which `rng`.

        O(voters * items) time.
        """
        places = self.places(require_rankings(data, self.n_items, 1).positions, rng)
        return replace(self._order(data.items, places, len(data), rng), source=source_of(rng, self))

    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        return Ranking(items, best_first(-estimates, rng), _centred(voters * estimates), mechanism=self)


def _centred(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores from sums of places: a function of their differences, to the last bit."""
    ahead = places[0] - places
    return ahead - ahead.mean()


def _mean_square(n_items: int) -> float:
    """Of the places 0 .. n_items - 1, about their middle."""
    return (n_items**2 - 1) / 12
