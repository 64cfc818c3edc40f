"""Private rank aggregation by Borda's count: noise on m mean places instead of m(m-1)/2 fractions.

Not in Alabi, Ghazi, Kumar and Manurangsi (2022), whose algorithms noise pairs.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank import noise as laws
from dprank._require import (
    require_at_least_0,
    require_below_1,
    require_generator,
    require_positive,
    require_whole,
    settle,
)
from dprank.aggregation.local_reports import SampledOrder, Source
from dprank.aggregation.matrix import PrivateOrder
from dprank.aggregation.noisy_matrix import Law, Noise, _least, gaussian_epsilon, gaussian_scale
from dprank.kendall import as_positions
from dprank.mechanism import Adjacency, Guarantee, ratio_up, require
from dprank.noise import require_source
from dprank.pairwise.noisy_counts import best_first
from dprank.rankings import Rankings
from dprank.topk.composition import zcdp
from dprank.uniformity.local import GRAIN, bit_loss, flips_for, randomise


@dataclass(frozen=True)
class PrivateBorda:
    r"""Independent noise on the sum of places of every item, then sort.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    scale : float
        Of the noise, in places: Laplace scale, or standard deviation. 0 for no noise and no privacy.
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

    n_items: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    delta: float = 0.0
    adjacency: Adjacency = "replace"
    law: Law = "discrete"

    def __post_init__(self) -> None:
        for name, allowed in (("noise", Noise), ("adjacency", Adjacency), ("law", Law)):
            require(name, getattr(self, name), get_args(allowed))
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            scale=require_at_least_0("scale", self.scale),
            delta=require_below_1("delta", self.delta),
        )
        if (self.noise == "laplace") != (self.delta == 0):
            raise ValueError(f"delta = {self.delta}; 0 for Laplace noise, in (0, 1) for Gaussian noise")

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, delta: float = 0.0, **others: Any) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Parameters
        ----------
        n_items : int
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        **others
            Of `PrivateBorda`, without the scale and the noise.
        """
        free = cls(n_items, 0.0, "gaussian" if delta else "laplace", delta=delta, **others)
        require_positive("epsilon", epsilon)
        if free.noise == "laplace":
            return replace(free, scale=ratio_up(free.l1_sensitivity, epsilon))
        if free.law == "continuous":
            return replace(free, scale=gaussian_scale(free.l2_sensitivity, epsilon, delta))
        scale = _least(lambda s: replace(free, scale=s).guarantee.epsilon <= epsilon, free.l2_sensitivity)
        return replace(free, scale=scale)

    @property
    def l1_sensitivity(self) -> int:
        """Least bound on the sum of absolute moves that one voter causes, up to a common shift."""
        return round(float(abs(self._move).sum()))

    @property
    def l2_sensitivity(self) -> float:
        """The same of the Euclidean norm, rounded up; shifts are whole where the noise is."""
        return math.nextafter(math.sqrt(float((self._move**2).sum())), math.inf)

    @property
    def _move(self) -> NDArray[np.float64]:
        places, middle = np.arange(float(self.n_items)), (self.n_items - 1) / 2
        if self.adjacency == "replace":
            return 2 * (places - middle)
        return places - (middle if self.law == "continuous" else math.floor(middle))

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy sums up to a common shift, hence of the order."""
        if self.noise == "laplace":
            return Guarantee(ratio_up(self.l1_sensitivity, self.scale), adjacency=self.adjacency)
        if self.law == "continuous":
            epsilon = gaussian_epsilon(self.l2_sensitivity, self.scale, self.delta)
        else:
            ratio = ratio_up(self.l2_sensitivity, self.scale)
            epsilon = zcdp(ratio * ratio / 2 * (1 + 1e-12), self.delta)
        return Guarantee(epsilon, self.delta, adjacency=self.adjacency)

    def release(self, rankings: Rankings, rng: Source) -> PrivateOrder:
        """One private order.

        Parameters
        ----------
        rankings : Rankings
            Of `n_items` items.
        rng : numpy.random.Generator or dprank.noise.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items + items log items).
        """
        if rankings.n_items != self.n_items:
            raise ValueError(f"items = {rankings.n_items} names; this mechanism is for n_items = {self.n_items}")
        sums = self.perturb(rankings.positions.sum(axis=0, dtype=np.int64), rng)
        return PrivateOrder(rankings.items, best_first(-sums, rng), self.guarantee)

    def perturb(self, sums: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Sums of places with noise.

        Parameters
        ----------
        sums : ndarray of int, shape (..., items)
            Leading axes are independent repetitions.
        rng : numpy.random.Generator or dprank.noise.SECURE
        """
        if self.law == "continuous":
            draw = laws.laplace if self.noise == "laplace" else laws.gaussian
            return np.asarray(sums + draw(self.scale, sums.shape, rng=rng))  # type: ignore[arg-type]
        whole = laws.discrete_laplace if self.noise == "laplace" else laws.discrete_gaussian
        return np.asarray(sums + whole(self.scale, sums.shape, rng=rng), float)


@dataclass(frozen=True)
class PositionVector:
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

    n_items: int
    flips: int

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            flips=require_whole("flips", self.flips, 1, GRAIN // 2 - 1),
        )

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """The whole of `epsilon`, above 0, on the choice of the side."""
        return cls(n_items, flips_for(epsilon))

    @property
    def loss(self) -> float:
        """Attained by two opposite rankings."""
        return bit_loss(self.flips)

    @property
    def length(self) -> float:
        """Of a report: the norm of the places, over the mean length along them of what is sent."""
        d = self.n_items - 1
        mean = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)
        return math.sqrt(self.n_items * _mean_square(self.n_items)) / (mean * (1 - 2 * self.flips / GRAIN))

    @property
    def variance(self) -> float:
        """Of the estimate of an item's place from one report, mean over the items; the same for every ranking."""
        return self.length**2 / self.n_items - _mean_square(self.n_items)

    def places(self, positions: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
        """Mean over the voters of their reports: unbiased estimates of mean places less (m - 1) / 2."""
        vectors = require_generator(rng, "floating-point coins are for research").standard_normal(positions.shape)
        vectors -= vectors.mean(axis=1, keepdims=True)
        vectors *= self.length / np.linalg.norm(vectors, axis=1, keepdims=True)
        side = randomise(np.ones(len(vectors), np.int8), self.flips, rng)
        inner = np.einsum("vi,vi->v", vectors, positions)
        return np.asarray((np.sign(inner) * side) @ vectors / len(vectors))


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
        """All of `epsilon`, above 0, on the number of items whose `variance` is least."""
        made = []
        for size in range(2, require_whole("n_items", n_items, 2) + 1):
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

    def places(self, positions: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Mean over the voters of their reports: unbiased estimates of mean places less (m - 1) / 2."""
        margins = np.zeros((self.n_items, self.n_items))
        margins[np.triu_indices(self.n_items, 1)] = self.order.estimate(self.order.report(positions, rng))
        return np.asarray((margins.sum(axis=0) - margins.sum(axis=1)) / 2)


@dataclass(frozen=True)
class LocalBorda:
    """Borda's count under local privacy, in one round: one report a voter, and nobody is trusted.

    Parameters
    ----------
    report : OrderReport or PositionVector
        What a voter sends; fixes items and privacy.
    """

    report: OrderReport | PositionVector

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """With `OrderReport`: at equal epsilon `PositionVector` has the larger variance, from three items on."""
        return cls(OrderReport.calibrated(n_items, epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """Covers all reports, hence the order."""
        return Guarantee(self.report.loss, model="local")

    def places(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the voters' mean places, less (m - 1) / 2, from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter.
        rng : numpy.random.Generator or dprank.noise.SECURE
            A seeded generator for research. To publish, `SECURE`, which `PositionVector` refuses.
        """
        table = as_positions("positions", positions)
        if table.shape[1] != self.report.n_items or not len(table):
            needed = f"at least one row of n_items = {self.report.n_items} places is needed"
            raise ValueError(f"positions of shape {table.shape}; {needed}")
        return self.report.places(table, require_source(rng))  # type: ignore[arg-type]

    def release(self, rankings: Rankings, rng: Source) -> PrivateOrder:
        """One order from at least one ranking, in O(voters * items) time; `places` says which `rng`."""
        return PrivateOrder(rankings.items, best_first(-self.places(rankings.positions, rng), rng), self.guarantee)


def _mean_square(n_items: int) -> float:
    """Of the places 0 .. n_items - 1, about their middle."""
    return (n_items**2 - 1) / 12
