"""Busa-Fekete, Fotakis and Zampetakis (2021) as printed: their tests, constants and sample sizes.

The tests without privacy promise nothing, so that those come without a claim.
"""

from __future__ import annotations

import math
import sys
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from companion.printed import Printed
from dprank._require import (
    as_floats,
    require_bool,
    require_positive,
    require_probability,
    require_real,
    require_sizes,
    require_whole,
    settle,
)
from dprank.models.mallows import Mallows, theta_at
from dprank.privacy.guarantee import Guarantee, ratio_up
from dprank.privacy.randomized_response import flips_for
from dprank.uniformity.bucketed import Bucketed, fewest_batches
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.local import LocalPairs
from dprank.uniformity.mallows_approximate import Centre, MallowsApproximate, Sides
from dprank.uniformity.truncated import MOST_PLANNED, Trun
from dprank.uniformity.two_sample import TwoSample
from dprank.uniformity.unif import Unif

#: The one point of Figure 1 that the text of Section 7.1 states: items, 1 - phi and the power of both tests there.
FIGURE_1 = 10_000, 2e-5, 1.0

# --- two rankings ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrintedTwoSample(TwoSample):
    """Algorithm 1, with the condition of line 3."""

    @property
    def least_gap(self) -> float:
        """The 1 - phi_epsilon from which line 3 lets the test run: `two_sample_gap`."""
        return two_sample_gap(self.n_items, self.size)

    def applies(self, epsilon: float) -> bool:
        """Line 3: whether the test runs at tolerance `epsilon`, in (0, 1 - 1/m!)."""
        return -math.expm1(-theta_at(self.n_items, epsilon)) >= self.least_gap


def two_sample(n_items: int, size: float) -> PrintedTwoSample:
    """Algorithm 1, line 6: m (m - 1) / 4 less the square root of m^3 ln(1 / delta) / 12."""
    free = TwoSample(n_items, size, 0.0)
    m, size = free.n_items, free.size
    return PrintedTwoSample(m, size, m * (m - 1) / 4 - math.sqrt(m**3 * math.log(1 / size) / 12))


def two_sample_gap(n_items: float, size: float) -> float:
    """8 / (m + 7 - sqrt(12 log(2 / delta) m)): the least 1 - phi_epsilon of Theorem 4 and of Algorithm 1, line 3.

    Negative, which lets the test run always, for some m below 12 log(2 / delta); above 1, never, for some larger m.
    """
    rest = n_items + 7 - math.sqrt(12 * math.log(2 / size) * n_items)
    return 8 / rest if rest else math.inf


# --- Section 7.2 -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalMallows(MallowsApproximate):
    """MA of Section 7.2: the normal approximation, as if the centre did not depend on the distances."""

    def threshold(self, rng: np.random.Generator | None = None) -> float:
        """The normal quantile; nothing is drawn."""
        return float(-ndtri(self._tail) * self._deviation)

    def _judged(self, value: float, rng: np.random.Generator | None) -> tuple[float, float]:
        return self.threshold(), self._sided(float(ndtr(-value / self._deviation)))

    @property
    def _deviation(self) -> float:
        return math.sqrt(self.n_distances * Mallows(self.n_items, 0.0).distance_moments()[1])


def mallows_approximate(
    n_items: int, n_voters: int, size: float, *, centre: Centre, sided: Sides = "one"
) -> NormalMallows:
    """MA of Section 7.2 with one reading of its centre."""
    return NormalMallows(n_items, n_voters, size, centre, sided)


# --- UNIF ------------------------------------------------------------------------------------------------------------


def unif(n_items: int, size: float) -> Unif:
    """Algorithm 2 with its own threshold, for any number of rankings."""
    n_items = require_whole("n_items", n_items, 2)
    return Unif(n_items, unif_threshold(n_items, size))


def unif_threshold(n_items: int, size: float) -> float:
    """m / 2 + 2 sqrt(m log(1 / delta)), for delta in (0, 1): Algorithm 2, line 10."""
    size = require_probability("size", size)
    return n_items / 2 + 2 * math.sqrt(n_items * math.log(1 / size))


def unif_bias(n_items: int, theta: float) -> float:
    """The paper's mu: (1 - phi^(m/8)) / (1 + phi^(m/8)) for theta = -log phi."""
    return math.tanh(theta * n_items / 16)


def unif_samples(n_items: int, theta: float, size: float) -> float:
    """Algorithm 2, lines 4 and 5: the paper's number of samples for theta = -log phi_epsilon, and delta in (0, 1).

    Infinite where m = 4 log(2 / delta) and the formula divides by zero. Below this m the number of pairs that it counts
    on, m_1, is negative; the formula only uses the square.
    """
    require_probability("size", size)
    spread = n_items * math.log(2 / size)
    far = abs(n_items / 8 - math.sqrt(spread / 16))
    if far <= 1e-12 * n_items or theta <= 0:
        return math.inf
    need = (12 * spread / far**2 + 10 * math.sqrt(spread) / far) / unif_bias(n_items, theta) ** 2
    return float(1 + math.ceil(need))


# --- central privacy: Section 5 --------------------------------------------------------------------------------------


def laplace_unif(n_items: int, n_voters: int, epsilon: float, size: float) -> Printed:
    """Algorithm 4: noise Lap(2 m / epsilon_0) on Y.

    The paper says of the threshold only that it is adapted. Here UNIF's at significance delta / 2 is raised by the
    noise's quantile at delta / 2: m / 2 + 2 sqrt(m log(2 / delta)) + (2 m / epsilon_0) log(1 / delta).
    """
    sizes = require_sizes(n_items, n_voters)
    n_items, n_voters = sizes["n_items"], sizes["n_voters"]
    epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size)
    threshold = unif_threshold(n_items, size / 2) + 2 * n_items / epsilon * math.log(1 / size)
    scale = ratio_up(n_items * n_voters, 2 * epsilon)
    if not (0 < scale < math.inf and threshold < math.inf):
        raise ValueError(f"epsilon = {epsilon}; the printed noise is out of range")
    return Printed(LaplaceUnif(n_items, n_voters, scale, threshold, "continuous"), Guarantee(epsilon))


@dataclass(frozen=True)
class PrintedBucketed(Bucketed):
    """BUNIF, after Theorem 6: one batch, chosen at random, decides alone; only (0, 1 / B)-privacy is provable of it."""

    coin: float = 0.0

    def _settled_coin(self) -> float:
        if self.coin or self.delta:
            raise ValueError("coin and delta must be 0, as printed")
        return 0.0

    @property
    def guarantee(self) -> Guarantee:
        """(0, 1 / B), and nothing at all for a single batch."""
        return Guarantee(0.0, ratio_up(1, self.n_batches)) if self.n_batches > 1 else Guarantee(math.inf)


def bucketed(n_items: int, n_voters: int, epsilon: float, size: float) -> Printed:
    """BUNIF, after Theorem 6: ceil(1 / epsilon_0) batches with UNIF's printed threshold."""
    sizes = require_sizes(n_items, n_voters)
    n_items, n_voters = sizes["n_items"], sizes["n_voters"]
    epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size)
    batches = fewest_batches((1 - 1e-12) / epsilon, n_voters, epsilon)  # 1 / (1 / B) may be a hair above B
    return Printed(PrintedBucketed(n_items, n_voters, batches, unif_threshold(n_items, size)), Guarantee(epsilon))


@dataclass(frozen=True)
class PrintedTrun(Trun):
    """Algorithm 3: answer by a coin, by the mean sign, or with a probability that grows with UNIF's statistic.

    Draw Z from the Laplace law of scale b. If abs(Z) > b log(1 / delta), which has probability delta (`coin`), toss a
    fair coin. Otherwise reject if abs(t + Z) > gate + b log(1 / delta), where t is the mean of all signs (an infinite
    gate is none); otherwise draw an event of probability (Y - start) / width, kept within 0 and 1: acceptance, as
    printed, or rejection (`accept_large`). The formulas take m as printed; with odd m there are floor(m / 2) pairs.
    """

    _: KW_ONLY
    scale: float
    gate: float
    accept_large: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(
            self,
            scale=require_positive("scale", self.scale),
            gate=require_real("gate", self.gate, "it must be at least 0", lambda x: x >= 0),
            accept_large=require_bool("accept_large", self.accept_large),
        )

    @property
    def gate_step(self) -> float:
        """Bound on how much one ranking can change the probability of passing coin and gate."""
        if math.isinf(self.gate):
            return 0.0
        moved = 4 * (self.n_items // 2) / (self.n_items * self.n_voters)
        return min(1 - self.coin, moved / (2 * self.scale))

    @property
    def step(self) -> float:
        """Of gate and ramp together."""
        return min(1 - self.coin, self.gate_step + super().step)

    def acceptance(self, y: ArrayLike, total: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Exact probability of acceptance, from UNIF's statistic and the sum of all signs, over pairs and rankings."""
        t = np.abs(as_floats("total", total)) * 2 / (self.n_items * self.n_voters)
        cut = math.log(1 / self.coin)
        upper = np.minimum(cut, cut + (self.gate - t) / self.scale)
        # the law of a Laplace variable, as scipy.stats has it, which takes ten times as long to say so
        below = np.exp(-np.abs(upper)) / 2
        passing = np.maximum(np.where(upper > 0, 1 - below, below) - self.coin / 2, 0.0)
        large = self.ramp(y)
        return self.coin / 2 + passing * (large if self.accept_large else 1 - large)

    def accepts(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exact probability of acceptance, from the sums of the signs of each pair, shape (..., pairs)."""
        return self.acceptance((sums**2).sum(-1) / self.n_voters, sums.sum(-1))


def trun(n_items: int, n_voters: int, epsilon: float, size: float, mu: float, *, accept_large: bool = True) -> Printed:
    """Algorithm 3 with its own constants; `mu`, in (0, 1], the paper derives from the tolerance.

    ``accept_large=False`` exchanges Accept and Reject in the last step and leaves all else.
    """
    sizes = require_sizes(n_items, n_voters, MOST_PLANNED)
    n_items, n_voters = sizes["n_items"], sizes["n_voters"]
    epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size)
    mu = require_real("mu", mu, "it must lie in (0, 1]", lambda x: 0 < x <= 1)
    if n_voters * size * epsilon < 1e-300:
        raise ValueError(f"epsilon = {epsilon}; its noise would be too wide for floating point")
    if n_items * mu**2 < 1e-300:
        raise ValueError(f"mu = {mu}; the ramp would be too steep for floating point")
    mechanism = PrintedTrun(
        n_items,
        n_voters,
        coin=size,
        scale=4 / (n_voters * size * epsilon),
        start=n_items / 2,
        width=n_items * mu**2 * (n_voters - 1) / 16,
        gate=math.sqrt(2 * math.log(2 / size) / (n_items * n_voters)),
        accept_large=accept_large,
    )
    return Printed(mechanism, Guarantee(epsilon))


# --- local privacy: Section 6 ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrintedPairs(LocalPairs):
    """Algorithms 5 and 6 with UNIF's printed threshold."""

    def threshold(self, n_voters: int) -> float:
        """Of Algorithm 2, for any number of voters."""
        return unif_threshold(self.n_items, self.size)


def local_pairs(
    n_items: int, epsilon: float, size: float = 0.05, *, randomness: Literal["public", "private"] = "public"
) -> Printed:
    """Algorithms 5 and 6: gamma = 2 epsilon_0 / m a sign (at odd m it spends less than epsilon_0)."""
    n_items, epsilon = require_whole("n_items", n_items, 2), require_positive("epsilon", epsilon)
    pairs = n_items // 2
    flips = flips_for(min(2 * pairs * epsilon / n_items, sys.float_info.max), pairs)
    return Printed(PrintedPairs(n_items, flips, size, randomness=randomness), Guarantee(epsilon, model="local"))
