"""Tests of uniformity on batches of rankings: one outcome at random, or a noisy vote.

Busa-Fekete, Fotakis and Zampetakis (2021), Section 5, after Theorem 6, and what is private instead: a coin besides,
and a vote, both of which are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dprank._require import (
    require_below_1,
    require_claim,
    require_generator,
    require_number,
    require_positive,
    require_probability,
    require_real,
    require_whole,
    settle,
)
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, ratio_up, require_scale
from dprank.privacy.noise import require_source
from dprank.release import Decision, source_of
from dprank.uniformity._require import MOST, require_data, require_sizes, require_whole_noise
from dprank.uniformity.laplace import discrete_laplace_cdf
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import LEAST, pair_statistic, printed_threshold, unif_null_threshold, unif_sf


@dataclass(frozen=True)
class _Batches:
    """UNIF on batches of rankings, batch by batch."""

    n_items: int
    n_rankings: int
    n_batches: int
    batch_threshold: float

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_rankings))
        settle(self, n_batches=require_whole("n_batches", self.n_batches, 1))
        settle(self, batch_threshold=require_number("batch_threshold", self.batch_threshold))
        if self.n_rankings < 2 * self.n_batches:
            raise ValueError(
                f"n_rankings = {self.n_rankings} for n_batches = {self.n_batches}; 2 in each batch are needed"
            )

    @property
    def batch_rankings(self) -> int:
        """k, rankings in a batch; a remainder is not looked at."""
        return self.n_rankings // self.n_batches

    def batch_power(self, bias: float = 0.0) -> float:
        """Exact probability that a batch is rejected if its pairs are independent and have one bias; 0: uniform."""
        return float(unif_sf(self.n_items // 2, self.batch_rankings, self.batch_threshold, bias))

    def batch_rejects(self, data: Rankings, pairs: NDArray[np.int64], batch: int) -> bool:
        """UNIF on batch number `batch`."""
        k = self.batch_rankings
        signs = pair_signs(data.positions[batch * k : (batch + 1) * k], pairs)
        return float(pair_statistic(signs)) >= self.batch_threshold


@dataclass(frozen=True)
class Bucketed(_Batches):
    """UNIF on one of several batches, chosen at random (BUNIF); then perhaps a fair coin instead.

    Parameters
    ----------
    n_items : int
        m, at least 2. If it is odd one random item is left alone.
    n_rankings : int
        All of them, public; consecutive ones make a batch.
    n_batches : int
        B, at least 1.
    batch_threshold : float
        A batch is rejected if its Y is at least that.
    coin : float
        Probability that a fair coin gives the answer, 0 or in [1e-300, 1]; 0 as printed.
    claimed_epsilon : float, optional
        What the paper says. It enters nothing.
    privacy_delta : float
        The delta that `guarantee` is to be stated with if there is a coin, in [0, 1).

    Notes
    -----
    Replacing a ranking changes the outcome of one batch, hence the probability of rejection by (1 - coin) / B at most.
    Without a coin that may be from 0 to 1 / B: no ratio is bounded.
    """

    coin: float = 0.0
    claimed_epsilon: float | None = None
    privacy_delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        needed = "it must be 0, or lie in [1e-300, 1]"
        coin = require_real("coin", self.coin, needed, lambda x: x == 0 or 1e-300 <= x <= 1)
        settle(
            self,
            coin=coin,
            claimed_epsilon=require_claim(self.claimed_epsilon),
            privacy_delta=require_below_1("privacy_delta", self.privacy_delta),
        )

    @classmethod
    def as_printed(cls, n_items: int, n_rankings: int, epsilon_0: float, delta: float) -> Self:
        """ceil(1 / epsilon_0) batches with UNIF's printed threshold m / 2 + 2 sqrt(m log(1 / delta))."""
        sizes = require_sizes(n_items, n_rankings)
        n_items, n_rankings = sizes["n_items"], sizes["n_rankings"]
        epsilon_0, delta = require_positive("epsilon_0", epsilon_0), require_probability("delta", delta)
        batches = _batches((1 - 1e-12) / epsilon_0, n_rankings, epsilon_0)  # 1 / (1 / B) may be a hair above B
        return cls(n_items, n_rankings, batches, printed_threshold(n_items, delta), 0.0, epsilon_0)

    @classmethod
    def calibrated(
        cls,
        n_items: int,
        n_rankings: int,
        epsilon_0: float,
        delta: float,
        *,
        n_batches: int | None = None,
        privacy_delta: float = 0.0,
    ) -> Self:
        """The least coin that makes it private, and the exact threshold that the coin leaves.

        Parameters
        ----------
        n_items, n_rankings : int
        epsilon_0 : float
            Above 0.
        delta : float
            Size of the test, in (0, 1).
        n_batches : int, optional
            By default the fewest for which the coin spends at most half of the size.
        privacy_delta : float
            The delta of (epsilon_0, delta)-privacy, in [0, 1); 1 / B or more needs no coin.

        Raises
        ------
        ValueError
            Also if the coin alone rejects more often than `delta`, or accepts more often than 1 - `delta`.
        """
        sizes = require_sizes(n_items, n_rankings)
        n_items, n_rankings = sizes["n_items"], sizes["n_rankings"]
        epsilon_0, delta = require_positive("epsilon_0", epsilon_0), require_probability("delta", delta)
        privacy_delta = require_below_1("privacy_delta", privacy_delta)
        if n_batches is None:
            spent = delta * _growth(epsilon_0) / 2 + privacy_delta
            n_batches = _batches((1 - delta) / spent if spent > 1e-300 else math.inf, n_rankings, epsilon_0)
        n_batches = require_whole("n_batches", n_batches, 1)
        coin = _coin(epsilon_0, n_batches, privacy_delta)
        if coin / 2 >= delta:
            raise ValueError(
                f"n_batches = {n_batches}; the coin alone rejects with probability {coin / 2:.4g}, "
                f"delta = {delta} needs more batches"
            )
        free = cls(n_items, n_rankings, n_batches, math.inf, coin, privacy_delta=privacy_delta)
        level = (delta - coin / 2) / (1 - coin)
        if not LEAST <= level < 1:
            raise ValueError(
                f"delta = {delta}; with a coin of {coin:.4g} a batch would be rejected with probability {level:.4g}, "
                f"which must lie in [{LEAST:g}, 1)"
            )
        return replace(free, batch_threshold=unif_null_threshold(n_items // 2, free.batch_rankings, level))

    @property
    def size(self) -> float:
        """Exact probability that uniform rankings are rejected."""
        return self.coin / 2 + (1 - self.coin) * self.batch_power()

    @property
    def guarantee(self) -> Guarantee:
        """With a coin, pure or at `privacy_delta`; without one (0, 1 / B), and nothing at all for a single batch."""
        if self.coin > 0:
            coin, spared = Fraction(self.coin), Fraction(self.privacy_delta)
            growth = float(max(Fraction(0), 2 * ((1 - coin) / self.n_batches - spared) / coin))
            return Guarantee(_round_up(math.log1p(growth)), self.privacy_delta)
        return Guarantee(0.0, ratio_up(1, self.n_batches)) if self.n_batches > 1 else Guarantee(math.inf)

    def release(self, data: Rankings, rng: np.random.Generator) -> Decision:
        """One test, for research: its coins are not made for publishing (`BatchVote` is).

        Parameters
        ----------
        data : Rankings
            `n_rankings` rankings of `n_items` items.
        rng : numpy.random.Generator
            `dprank.SECURE` is refused.

        Returns
        -------
        Decision
            Only the outcome is private. So `statistic` is that, 0 or 1, and `p_value` what it alone can say: the size
            of the test, or 1.
        """
        require_generator(rng, "floating-point coins are for research")
        require_data(data, self.n_items, self.n_rankings)
        pairs = disjoint_pairs(self.n_items, rng=rng)
        batch = int(rng.integers(self.n_batches))
        tossed = rng.random() < self.coin
        reject = bool(rng.random() < 0.5) if tossed else self.batch_rejects(data, pairs, batch)
        p_value = self.size if reject else 1.0
        return Decision(reject, float(reject), 1.0, p_value, mechanism=self, source=source_of(rng, self))


@dataclass(frozen=True)
class BatchVote(_Batches):
    """UNIF on all batches; rejects if the number of rejected batches, with whole Laplace noise, is large (ours).

    Parameters
    ----------
    n_items, n_rankings, n_batches, batch_threshold
        As in `Bucketed`.
    scale : float
        Of the noise on the number of votes. Replacing a ranking moves that by at most 1.
    threshold : int
        Rejects if the noisy number is at least that.
    """

    scale: float
    threshold: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(
            self,
            scale=require_scale(self.scale, 1),
            threshold=require_whole("threshold", self.threshold, -(2**62), 2**62),
        )

    @classmethod
    def calibrated(
        cls,
        n_items: int,
        n_rankings: int,
        epsilon_0: float,
        delta: float,
        *,
        n_batches: int | None = None,
        batch_level: float = 0.1,
    ) -> Self:
        """Noise of scale 1 / epsilon_0 and the exact threshold.

        Parameters
        ----------
        n_items, n_rankings : int
        epsilon_0 : float
            Above 0.
        delta : float
            Size of the test, in (0, 1 - 1e-9].
        n_batches : int, optional
            By default the fewest for which the test rejects with probability 1 - delta when all batches do and
            `batch_level` is attained.
        batch_level : float
            Largest probability that a batch of uniform rankings is rejected, in [1e-7, 1).

        Notes
        -----
        Time O(B log(B / delta)) for each number of batches B that is tried, from log(1 / delta) / epsilon_0 on.
        """
        sizes = require_sizes(n_items, n_rankings)
        n_items, n_rankings = sizes["n_items"], sizes["n_rankings"]
        epsilon_0, delta = require_positive("epsilon_0", epsilon_0), require_probability("delta", delta, most=MOST)
        batch_level = require_probability("batch_level", batch_level, LEAST)
        scale = require_whole_noise(epsilon_0, ratio_up(1, epsilon_0))
        if n_batches is None:
            # with fewer no private test of as many bits has these errors
            n_batches = _batches(math.log((1 - delta) / delta) / epsilon_0, n_rankings, epsilon_0)
            while vote_sf(n_batches, 1.0, scale, vote_threshold(n_batches, batch_level, scale, delta)) < 1 - delta:
                n_batches = _batches(n_batches + 1, n_rankings, epsilon_0)
        free = cls(n_items, n_rankings, n_batches, math.inf, scale, 0)
        n_batches = free.n_batches
        batch_threshold = unif_null_threshold(n_items // 2, free.batch_rankings, batch_level)
        free = cls(n_items, n_rankings, n_batches, batch_threshold, scale, 0)
        return cls(
            *(n_items, n_rankings, n_batches, batch_threshold, scale),
            vote_threshold(n_batches, free.batch_power(), scale, delta),
        )

    @property
    def size(self) -> float:
        """Exact probability that uniform rankings are rejected."""
        return vote_sf(self.n_batches, self.batch_power(), self.scale, self.threshold)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy number of votes, hence of the decision and its p-value."""
        return Guarantee(ratio_up(1, self.scale))

    def release(self, data: Rankings, rng: np.random.Generator | noise.SecureSource) -> Decision:
        """One private test, all of which may be published; `p_value` is exact.

        Parameters
        ----------
        data : Rankings
            `n_rankings` rankings of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research; `SECURE` to publish.
        """
        require_data(data, self.n_items, self.n_rankings)
        pairs = disjoint_pairs(self.n_items, rng=require_source(rng))
        votes = sum(self.batch_rejects(data, pairs, batch) for batch in range(self.n_batches))
        noisy = votes + int(noise.discrete_laplace(self.scale, 1, rng=rng)[0])
        p_value = vote_sf(self.n_batches, self.batch_power(), self.scale, noisy)
        source = source_of(rng, self)
        least = float(self.threshold)
        return Decision(noisy >= self.threshold, float(noisy), least, p_value, mechanism=self, source=source)


def vote_sf(n_batches: int, rate: float, scale: float, votes: int) -> float:
    """P(noisy number of rejected batches >= votes) if each of them is rejected with probability `rate`."""
    count = np.arange(n_batches + 1)
    return float(stats.binom.pmf(count, n_batches, rate) @ discrete_laplace_cdf(count - votes, scale))


def vote_threshold(n_batches: int, rate: float, scale: float, delta: float) -> int:
    """The least number that the noisy number of rejected batches attains with probability at most `delta`."""
    low, high = -1, n_batches + 1
    while vote_sf(n_batches, rate, scale, low) <= delta:
        low *= 2
    while vote_sf(n_batches, rate, scale, high) > delta:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if vote_sf(n_batches, rate, scale, middle) <= delta else (middle, high)
    return high


def _batches(least: float, n_rankings: int, epsilon_0: float) -> int:
    """The fewest batches that are not below `least`, refused where they would have fewer than 2 rankings each."""
    if least > n_rankings // 2:
        raise ValueError(
            f"epsilon_0 = {epsilon_0}; n_batches = {least:.6g} or more would be needed, with 2 rankings in each; "
            f"n_rankings = {n_rankings}"
        )
    return max(1, math.ceil(least))


def _coin(epsilon: float, n_batches: int, delta: float) -> float:
    """The least coin for which (coin / 2, coin / 2 + (1 - coin) / B) is within (epsilon, delta)."""
    share = 1 / n_batches
    coin = max(0.0, share - delta) / (_growth(epsilon) / 2 + share)
    return min(1.0, coin * (1 + 1e-12))


def _growth(epsilon: float) -> float:
    """exp(epsilon) - 1; beyond epsilon = 30 the coin is not made any rarer."""
    return math.expm1(min(epsilon, 30.0))


def _round_up(value: float) -> float:
    return math.nextafter(value * (1 + 1e-15), math.inf)
