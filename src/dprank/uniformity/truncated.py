"""TRUN: a private test of uniformity that randomizes its decision (Busa-Fekete et al. 2021, Algorithm 3)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import brentq

from dprank._require import (
    as_floats,
    require_bool,
    require_claim,
    require_generator,
    require_positive,
    require_probability,
    require_real,
    settle,
)
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Guarantee
from dprank.release import Decision, source_of
from dprank.uniformity._require import require_data, require_sizes
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import square_law

#: Least chance of the coin: beside 1, a smaller one is lost in rounding.
LEAST = 1e-12
#: Most items or rankings that a loss is computed for: a formula, which the paper asks of more voters than there are.
MOST_PLANNED = (1 << 63) - 1


@dataclass(frozen=True)
class Trun:
    """Answer by a coin, by the mean sign, or with a probability that grows with UNIF's statistic.

    Draw Z from the Laplace law of scale b. If abs(Z) > b log(1 / delta), which has probability delta, toss a fair coin.
    Otherwise reject if abs(t + Z) > gate + b log(1 / delta), where t is the mean of all signs; otherwise draw an event
    of probability (Y - start) / width, kept within 0 and 1, where Y is UNIF's statistic.

    Parameters
    ----------
    n_items, n_rankings : int
        m and k, at least 2. The formulas take m as printed; with odd m there are floor(m / 2) pairs.
    delta : float
        Probability of the coin, in [1e-12, 1).
    scale : float
        b, above 0.
    start, width : float
        Of the ramp in Y, finite: the start at least 0, the width above 0.
    gate : float
        At least 0; infinity for none.
    accept_large : bool
        Whether the event of the last step is acceptance, as printed, or rejection.
    claimed_epsilon : float, optional
        What the paper says of this calibration. It enters nothing.

    See Also
    --------
    dprank.uniformity.noisy_norm.NoisyNorm : a test that pays log(1 / delta) where this one pays 1 / delta.
    """

    n_items: int
    n_rankings: int
    _: KW_ONLY
    delta: float
    scale: float
    start: float
    width: float
    gate: float = math.inf
    accept_large: bool = False
    claimed_epsilon: float | None = None

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_rankings, MOST_PLANNED))
        settle(
            self,
            delta=require_probability("delta", self.delta, LEAST),
            scale=require_positive("scale", self.scale),
            width=require_positive("width", self.width),
            start=require_real("start", self.start, "it must be at least 0 and finite", lambda x: 0 <= x < math.inf),
            gate=require_real("gate", self.gate, "it must be at least 0", lambda x: x >= 0),
            accept_large=require_bool("accept_large", self.accept_large),
            claimed_epsilon=require_claim(self.claimed_epsilon),
        )
        if 2 / self.delta == math.inf:
            raise ValueError(f"delta = {self.delta}; too rare a coin for any finite epsilon")

    @classmethod
    def as_printed(
        cls, n_items: int, n_rankings: int, epsilon_0: float, delta: float, mu: float, *, accept_large: bool = True
    ) -> Self:
        """Algorithm 3 with its own constants.

        Parameters
        ----------
        n_items, n_rankings : int
        epsilon_0 : float
            The privacy that the paper claims, above 0.
        delta : float
        mu : float
            In (0, 1]; the paper derives it from the tolerance.
        accept_large : bool
            True is the print. False exchanges Accept and Reject in the last step and leaves all else.
        """
        sizes = require_sizes(n_items, n_rankings, MOST_PLANNED)
        n_items, n_rankings = sizes["n_items"], sizes["n_rankings"]
        epsilon_0, delta = require_positive("epsilon_0", epsilon_0), require_probability("delta", delta)
        mu = require_real("mu", mu, "it must lie in (0, 1]", lambda x: 0 < x <= 1)
        if n_rankings * delta * epsilon_0 < 1e-300:
            raise ValueError(f"epsilon_0 = {epsilon_0}; its noise would be too wide for floating point")
        if n_items * mu**2 < 1e-300:
            raise ValueError(f"mu = {mu}; the ramp would be too steep for floating point")
        return cls(
            n_items,
            n_rankings,
            delta=delta,
            scale=4 / (n_rankings * delta * epsilon_0),
            start=n_items / 2,
            width=n_items * mu**2 * (n_rankings - 1) / 16,
            gate=math.sqrt(2 * math.log(2 / delta) / (n_items * n_rankings)),
            accept_large=accept_large,
            claimed_epsilon=epsilon_0,
        )

    @classmethod
    def calibrated(cls, n_items: int, n_rankings: int, epsilon_0: float, delta: float) -> Self:
        """Private with `epsilon_0`, and of size `delta`: half of it the coin's, half the ramp's.

        No gate: it does not bound what one ranking can do to Y. The width is the least that the guarantee allows; the
        start follows from the exact null law of Y. With so few rankings that it would be below 0 it is 0, and the size
        is smaller. The null law of O(k (m + 90)) entries is summed some fifty times.
        """
        epsilon_0 = require_positive("epsilon_0", epsilon_0)
        free = cls(n_items, n_rankings, delta=delta, scale=1.0, start=0.0, width=1.0)
        pairs, k, delta = free.n_items // 2, free.n_rankings, free.delta
        step = min(1.0, delta * math.expm1(min(epsilon_0, 700.0)) / (2 * (1 - delta)))
        if step < 1e-100:
            raise ValueError(f"epsilon_0 = {epsilon_0}; the ramp in Y would be too wide for floating point")
        squares, law = square_law(pairs, k)
        y, law = squares[law > 1e-18] / k, law[law > 1e-18]

        def width(start: float) -> float:
            # the root x of step (x^2 - k start) = x^2 - (x - reach)^2, the end of the ramp on the scale of the norm
            reach = free.reach
            x = (reach + math.sqrt(reach**2 * (1 - step) + step**2 * k * start)) / step
            return x * x / k - start

        def excess(start: float) -> float:
            ramp = np.clip((y - start) / width(start), 0, 1)
            return float(law @ ramp) - delta / (2 * (1 - delta))

        high = float(pairs)
        while excess(high) > 0:
            high *= 2
        start = 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, high)) * (1 + 1e-9)
        test, slack = replace(free, start=start, width=width(start)), 1e-12
        while test.guarantee.epsilon > epsilon_0:  # by a rounding
            test, slack = replace(test, width=test.width * (1 + slack)), 2 * slack
        return test

    @property
    def reach(self) -> float:
        """How far one ranking can move the norm of the vector of pair sums: 2 sqrt(pairs), by the triangle rule."""
        return 2 * math.sqrt(self.n_items // 2)

    @property
    def ramp_step(self) -> float:
        """Most that one ranking can change the ramp's probability: at its upper end, where the norm is largest."""
        top = math.sqrt(self.n_rankings * (self.start + self.width))
        moved = min(self.reach, top)
        return min(1.0, moved * (2 * top - moved) / (self.n_rankings * self.width))

    @property
    def gate_step(self) -> float:
        """Bound on how much one ranking can change the probability of passing coin and gate."""
        if math.isinf(self.gate):
            return 0.0
        moved = 4 * (self.n_items // 2) / (self.n_items * self.n_rankings)
        return min(1 - self.delta, moved / (2 * self.scale))

    @property
    def guarantee(self) -> Guarantee:
        """Both answers have probability at least delta / 2, and one ranking moves them by no more than the steps."""
        moved = min(1 - self.delta, self.gate_step + (1 - self.delta) * self.ramp_step)
        return Guarantee(math.log1p(2 * moved / self.delta) * (1 + 1e-12))

    def acceptance(self, total: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Exact probability of acceptance.

        Parameters
        ----------
        total : array_like of float
            Sum of all signs: over pairs and rankings.
        y : array_like of float
            UNIF's statistic, of the same shape.
        """
        t = np.abs(as_floats("total", total)) * 2 / (self.n_items * self.n_rankings)
        cut = math.log(1 / self.delta)
        upper = np.minimum(cut, cut + (self.gate - t) / self.scale)
        passing = np.maximum(stats.laplace.cdf(upper) - self.delta / 2, 0.0)
        large = np.clip((as_floats("y", y) - self.start) / self.width, 0.0, 1.0)
        return self.delta / 2 + passing * (large if self.accept_large else 1 - large)

    def release(self, data: Rankings, rng: np.random.Generator) -> Decision:
        """One private answer and nothing else: statistic, threshold and p-value are NaN.

        Parameters
        ----------
        data : Rankings
            `n_rankings` rankings of `n_items` items.
        rng : numpy.random.Generator
            For research: the coins are floating-point ones. `dprank.uniformity.noisy_norm.NoisyNorm` is for publishing.

        Raises
        ------
        ValueError
            If the numbers of items or rankings are not those promised, or for `dprank.SECURE`.
        """
        require_generator(rng, "floating-point coins are for research")
        require_data(data, self.n_items, self.n_rankings)
        sums = pair_signs(data.positions, disjoint_pairs(self.n_items, rng=rng)).sum(0, dtype=np.int64)
        accept = self.acceptance(sums.sum(), (sums**2).sum() / self.n_rankings)
        reject = bool(rng.random() >= accept)
        return Decision(reject, math.nan, math.nan, math.nan, mechanism=self, source=source_of(rng, self))
