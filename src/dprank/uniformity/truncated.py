"""TRUN, repaired: a private test of uniformity that randomizes its decision (Busa-Fekete et al. 2021, Algorithm 3)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    as_floats,
    require_at_least_0,
    require_generator,
    require_positive,
    require_probability,
    require_sizes,
    settle,
)
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.published import Published
from dprank.release import Decision, source_of
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import square_law

__all__ = ["LEAST", "MOST_PLANNED", "Trun"]

#: Least chance of the coin: beside 1, a smaller one is lost in rounding.
LEAST = 1e-12
#: Most items or rankings that a loss is computed for: a formula, which the paper asks of more voters than there are.
MOST_PLANNED = (1 << 63) - 1


@dataclass(frozen=True)
class Trun:
    """Answer by a coin, or reject with a probability that grows with UNIF's statistic.

    With probability `coin` toss a fair coin. Otherwise reject with probability (Y - start) / width, kept within 0 and
    1, where Y is UNIF's statistic. What the paper has besides, truncated Laplace noise on the mean sign, does not bound
    what one ranking can do to Y, and is left out.

    Parameters
    ----------
    n_items, n_voters : int
        m and k, at least 2; public.
    coin : float
        Probability of the coin, in [1e-12, 1).
    start, width : float
        Of the ramp in Y, finite: the start at least 0, the width above 0.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    dprank.uniformity.noisy_norm.NoisyNorm : a test that pays log(1 / size) where this one pays 1 / size.

    Notes
    -----
    Publishes reject: a coin whose chance is that of the sums of signs.

    Examples
    --------
    >>> from dprank import Trun
    >>> test = Trun.calibrated(epsilon=1.0, n_items=4, n_voters=400, size=0.1)
    >>> print(test.guarantee)
    epsilon = 1 (central; replace one voter)
    >>> test.coin
    0.1
    """

    card: ClassVar[Card] = Card(
        question="agreement",
        how="a coin that is the likelier to reject the more voters agree",
        needs="research: floats draw its coins",
    )

    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("reject", "a coin whose chance is that of the sums of signs"),
    )

    #: A release has the answer alone: neither statistic nor threshold nor p-value.
    shows: ClassVar[tuple[str, ...]] = ()

    n_items: int
    n_voters: int
    _: KW_ONLY
    coin: float
    start: float
    width: float

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_voters, MOST_PLANNED))
        settle(
            self,
            coin=require_probability("coin", self.coin, LEAST),
            width=require_positive("width", self.width),
            start=require_at_least_0("start", self.start),
        )

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, n_voters: int, size: float = 0.05) -> Self:
        """Private, and of a size of which one half is the coin's and one half the ramp's.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, n_voters : int
            As in `Trun`.
        size : float
            Largest probability of rejecting uniform rankings, in [1e-12, 1).

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        The width is the least that the guarantee allows; the start follows from the exact null law of Y. With so few
        rankings that it would be below 0 it is 0, and the size is smaller. The null law of O(k (m + 90)) entries is
        summed some fifty times.
        """
        epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size, LEAST)
        free = cls(n_items, n_voters, coin=size, start=0.0, width=1.0)
        pairs, k, coin = free.n_items // 2, free.n_voters, free.coin
        step = min(1.0, coin * math.expm1(min(epsilon, 700.0)) / (2 * (1 - coin)))
        if step < 1e-100:
            raise ValueError(f"epsilon = {epsilon}; the ramp in Y would be too wide for floating point")
        squares, law = square_law(pairs, k)
        y, law = squares[law > 1e-18] / k, law[law > 1e-18]

        def width(start: float) -> float:
            # the root x of step (x^2 - k start) = x^2 - (x - reach)^2, the end of the ramp on the scale of the norm
            reach = free.reach
            x = (reach + math.sqrt(reach**2 * (1 - step) + step**2 * k * start)) / step
            return x * x / k - start

        def excess(start: float) -> float:
            ramp = np.clip((y - start) / width(start), 0, 1)
            return float(law @ ramp) - coin / (2 * (1 - coin))

        high = float(pairs)
        while excess(high) > 0:
            high *= 2
        start = 0.0 if excess(0.0) <= 0 else float(scipy.optimize.brentq(excess, 0.0, high)) * (1 + 1e-9)
        test, slack = replace(free, start=start, width=width(start)), 1e-12
        while test.guarantee.epsilon > epsilon:  # by a rounding
            test, slack = replace(test, width=test.width * (1 + slack)), 2 * slack
        return test

    @property
    def reach(self) -> float:
        """How far one ranking can move the norm of the vector of pair sums: 2 sqrt(pairs), by the triangle rule."""
        return 2 * math.sqrt(self.n_items // 2)

    @property
    def ramp_step(self) -> float:
        """Most that one ranking can change the ramp's probability: at its upper end, where the norm is largest."""
        top = math.sqrt(self.n_voters * (self.start + self.width))
        moved = min(self.reach, top)
        return min(1.0, moved * (2 * top - moved) / (self.n_voters * self.width))

    @property
    def step(self) -> float:
        """Bound on how much one ranking can change the probability of acceptance."""
        return (1 - self.coin) * self.ramp_step

    @property
    def guarantee(self) -> Guarantee:
        """Both answers have probability at least coin / 2, and one ranking moves them by no more than the step."""
        return Guarantee(math.log1p(2 * self.step / self.coin) * (1 + 1e-12))

    def ramp(self, y: ArrayLike) -> NDArray[np.float64]:
        """Probability of the event that is drawn where no coin is, from UNIF's statistic."""
        return np.clip((as_floats("y", y) - self.start) / self.width, 0.0, 1.0)

    def acceptance(self, y: ArrayLike) -> NDArray[np.float64]:
        """Exact probability of acceptance.

        Parameters
        ----------
        y : array_like of float
            UNIF's statistic.
        """
        return self.coin / 2 + (1 - self.coin) * (1 - self.ramp(y))

    def accepts(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exact probability of acceptance, given the pairing.

        Parameters
        ----------
        sums : ndarray of int, shape (..., pairs)
            Of the signs of each pair, over all rankings.
        """
        return self.acceptance((sums**2).sum(-1) / self.n_voters)

    def release(self, data: Rankings, rng: np.random.Generator) -> Decision:
        """One private answer and nothing else: statistic, threshold and p-value are NaN.

        Parameters
        ----------
        data : Rankings
            `n_voters` rankings of `n_items` items.
        rng : numpy.random.Generator
            For research: the coins are floating-point ones. `dprank.uniformity.noisy_norm.NoisyNorm` is for publishing.

        Raises
        ------
        ValueError
            If the numbers of items or voters are not those promised, or for `dprank.SECURE`.
        """
        require_generator(rng, "floating-point coins are for research")
        require_rankings(data, self.n_items, n_voters=self.n_voters)
        sums = pair_signs(data.positions, disjoint_pairs(self.n_items, rng=rng)).sum(0, dtype=np.int64)
        reject = bool(rng.random() >= self.accepts(sums))
        return Decision(reject, math.nan, math.nan, math.nan, mechanism=self, source=source_of(rng, self))
