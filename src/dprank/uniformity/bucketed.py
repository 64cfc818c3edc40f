"""Tests of uniformity on batches of rankings: one outcome at random, or a noisy vote (long: two tests, four laws).

Busa-Fekete, Fotakis and Zampetakis (2021), Section 5, after Theorem 6, let one batch decide, which promises no finite
epsilon. What is private instead is ours: a coin besides, or a noisy vote of all batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._binomial import binomial
from dprank._frozen import frozen
from dprank._require import (
    require_below_1,
    require_generator,
    require_number,
    require_positive,
    require_probability,
    require_real,
    require_sizes,
    require_whole,
    settle,
)
from dprank._search import least_whole
from dprank.data.rankings import Rankings, require_rankings
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, ratio_up, require_scale
from dprank.privacy.noise import require_drawable, require_source
from dprank.privacy.published import Published, on_steps
from dprank.release import Decision, source_of
from dprank.uniformity._thresholds import LARGEST
from dprank.uniformity.laplace import discrete_laplace_cdf
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import LEAST, pair_statistic, unif_null_threshold, unif_sf

__all__ = ["BatchVote", "Bucketed", "fewest_batches", "vote_sf", "vote_threshold", "votes_law"]

#: Every release and every power asks for the same few again.
_unif_sf = lru_cache(1 << 10)(unif_sf)


@dataclass(frozen=True)
class _Batches:
    """UNIF on batches of rankings, batch by batch."""

    n_items: int
    n_voters: int
    n_batches: int
    batch_threshold: float

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_voters))
        settle(self, n_batches=require_whole("n_batches", self.n_batches, 1))
        settle(self, batch_threshold=require_number("batch_threshold", self.batch_threshold))
        if self.n_voters < 2 * self.n_batches:
            raise ValueError(f"n_voters = {self.n_voters} for n_batches = {self.n_batches}; 2 in each batch are needed")

    @property
    def batch_voters(self) -> int:
        """k, voters in a batch; a remainder is not looked at."""
        return self.n_voters // self.n_batches

    def batch_power(self, bias: float = 0.0) -> float:
        """Exact probability that a batch is rejected if its pairs are independent and have one bias; 0: uniform."""
        above = _unif_sf if type(bias) is float else unif_sf
        return float(above(self.n_items // 2, self.batch_voters, self.batch_threshold, bias))

    def dealt(self, data: Rankings, rng: Any) -> NDArray[Any]:
        """Positions in random order: where a voter's ranking stands must not tell which others make a batch."""
        return data.positions[rng.permutation(len(data))]

    def batch_rejects(self, positions: NDArray[Any], pairs: NDArray[np.int64], batch: int) -> bool:
        """UNIF on batch number `batch` of rankings that were dealt."""
        k = self.batch_voters
        signs = pair_signs(positions[batch * k : (batch + 1) * k], pairs)
        return float(pair_statistic(signs)) >= self.batch_threshold


@dataclass(frozen=True)
class Bucketed(_Batches):
    """UNIF on one of several batches, chosen at random; or a fair coin instead (BUNIF, made private).

    Parameters
    ----------
    n_items : int
        m, at least 2. If it is odd one random item is left alone.
    n_voters : int
        All of them, public; they are dealt to the batches at random.
    n_batches : int
        B, at least 1.
    batch_threshold : float
        A batch is rejected if its Y is at least that.
    coin : float
        Probability that a fair coin gives the answer, in [1e-300, 1]; 0 only where `delta` is at least 1 / B.
    delta : float
        The delta that `guarantee` is stated with, in [0, 1).

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    BatchVote : a better test, fit for publishing.

    Notes
    -----
    Publishes reject: a coin, or one random batch; statistic: the decision (0 or 1); threshold: nothing private (1);
    p_value: the decision (the size of the test, or 1).

    Where a table has rows for persons, a person's rows say at which place the ranking stands: voters are dealt to the
    batches at random, or one who moves would move all others. How they are dealt is told to nobody.

    Replacing a ranking changes the outcome of one batch, hence the probability of rejection by (1 - coin) / B at most.
    Without a coin that may be from 0 to 1 / B: no ratio is bounded.

    Examples
    --------
    >>> from dprank import Bucketed
    >>> test = Bucketed.calibrated(epsilon=1.0, n_items=4, n_voters=500, size=0.1)
    >>> print(test.guarantee)
    epsilon = 1 (central; replace one voter)
    >>> test.exact_size <= 0.1
    True
    """

    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("reject", "a coin, or one random batch"),
        on_steps("statistic", "the decision", "0 or 1"),
        on_steps("threshold", "nothing private", "1"),
        Published(
            "p_value",
            "the decision",
            "the size of the test, or 1",
            lambda r: r.mechanism.exact_size if r.reject else 1.0,
        ),
    )

    coin: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, delta=require_below_1("delta", self.delta))
        settle(self, coin=self._settled_coin())

    def _settled_coin(self) -> float:
        """Refuse what is no probability, and no coin where there is nothing else to hide a batch."""
        needed = "it must lie in [1e-300, 1], or be 0 where delta is at least 1 / n_batches"
        spared = Fraction(self.delta) * self.n_batches >= 1
        return require_real("coin", self.coin, needed, lambda x: (x == 0 and spared) or 1e-300 <= x <= 1)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        n_voters: int,
        size: float = 0.05,
        n_batches: int | None = None,
    ) -> Self:
        """The least coin that makes it private, and the exact threshold that the coin leaves.

        Parameters
        ----------
        epsilon : float
            Above 0.
        delta : float
            Of (epsilon, delta)-privacy, in [0, 1); 1 / B or more needs no coin.
        n_items, n_voters : int
            As in `Bucketed`.
        size : float
            Largest probability of rejecting uniform rankings, in (0, 1).
        n_batches : int, optional
            By default the fewest for which the coin spends at most half of the size.

        Raises
        ------
        ValueError
            Also if the coin alone rejects more often than `size`, or accepts more often than 1 - `size`.
        """
        sizes = require_sizes(n_items, n_voters)
        n_items, n_voters = sizes["n_items"], sizes["n_voters"]
        epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size)
        delta = require_below_1("delta", delta)
        if n_batches is None:
            spent = size * _growth(epsilon) / 2 + delta
            n_batches = fewest_batches((1 - size) / spent if spent > 1e-300 else math.inf, n_voters, epsilon)
        n_batches = require_whole("n_batches", n_batches, 1)
        coin = _coin(epsilon, n_batches, delta)
        if coin / 2 >= size:
            raise ValueError(
                f"n_batches = {n_batches}; the coin alone rejects with probability {coin / 2:.4g}, "
                f"size = {size} needs more batches"
            )
        if coin == 1:
            raise ValueError(f"epsilon = {epsilon}; so little leaves a coin of 1, and nothing to any batch")
        level = (size - coin / 2) / (1 - coin)
        if not LEAST <= level < 1:
            raise ValueError(
                f"size = {size}; with a coin of {coin:.4g} a batch would be rejected with probability {level:.4g}, "
                f"which must lie in [{LEAST:g}, 1)"
            )
        free = cls(n_items, n_voters, n_batches, math.inf, coin, delta)
        return replace(free, batch_threshold=unif_null_threshold(n_items // 2, free.batch_voters, level))

    @property
    def exact_size(self) -> float:
        """Exact probability that uniform rankings are rejected."""
        return self.coin / 2 + (1 - self.coin) * self.batch_power()

    @property
    def guarantee(self) -> Guarantee:
        """With a coin, pure or at `delta`; where `delta` pays for the batch, (0, 1 / B)."""
        if self.coin == 0:
            return Guarantee(0.0, ratio_up(1, self.n_batches))
        coin, spared = Fraction(self.coin), Fraction(self.delta)
        growth = float(max(Fraction(0), 2 * ((1 - coin) / self.n_batches - spared) / coin))
        return Guarantee(_round_up(math.log1p(growth)), self.delta)

    def release(self, data: Rankings, rng: np.random.Generator) -> Decision:
        """One test, for research: its coins are not made for publishing (`BatchVote` is).

        Parameters
        ----------
        data : Rankings
            `n_voters` rankings of `n_items` items.
        rng : numpy.random.Generator
            `dprank.SECURE` is refused.

        Returns
        -------
        Decision
            Only the outcome is private. So `statistic` is that, 0 or 1, and `p_value` what it alone can say: the size
            of the test, or 1.
        """
        require_generator(rng, "floating-point coins are for research")
        require_rankings(data, self.n_items, n_voters=self.n_voters)
        pairs = disjoint_pairs(self.n_items, rng=rng)
        batch = int(rng.integers(self.n_batches))
        tossed = rng.random() < self.coin
        reject = bool(rng.random() < 0.5) if tossed else self.batch_rejects(self.dealt(data, rng), pairs, batch)
        p_value = self.exact_size if reject else 1.0
        return Decision(reject, float(reject), 1.0, p_value, mechanism=self, source=source_of(rng, self))


@dataclass(frozen=True)
class BatchVote(_Batches):
    """UNIF on all batches; rejects if the number of rejected batches, with whole Laplace noise, is large (ours).

    Parameters
    ----------
    n_items, n_voters, n_batches, batch_threshold
        As in `Bucketed`.
    scale : float
        Of the noise on the number of votes. Replacing a ranking moves that by at most 1.
    threshold : int
        Rejects if the noisy number is at least that.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    dprank.uniformity.optimal_vote.OptimalVote : rejects more often at the same size.

    Notes
    -----
    Publishes statistic: the noisy number of votes (whole numbers); threshold: nothing private (a whole number); reject:
    the statistic; p_value: the statistic (values of a public function).

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import BatchVote, Rankings
    >>> test = BatchVote.calibrated(epsilon=1.0, n_items=4, n_voters=200, size=0.05)
    >>> print(test.guarantee)
    epsilon = 1 (central; replace one voter)
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 200, ["ash", "elm", "fir", "oak"])
    >>> test.release(agreeing, rng=np.random.default_rng(1)).reject
    True
    """

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        on_steps("statistic", "the noisy number of votes", "whole numbers"),
        Published("threshold", "nothing private", "a whole number", lambda r: r.mechanism.threshold),
        Published("reject", "the statistic"),
        Published(
            "p_value", "the statistic", "values of a public function", lambda r: r.mechanism._p_value(int(r.statistic))
        ),
    )

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
        *,
        epsilon: float,
        n_items: int,
        n_voters: int,
        size: float = 0.05,
        n_batches: int | None = None,
        batch_level: float = 0.1,
    ) -> Self:
        """Noise of scale 1 / epsilon and the exact threshold.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, n_voters : int
            As in `Bucketed`.
        size : float
            Largest probability of rejecting uniform rankings, in (0, 1 - 1e-9].
        n_batches : int, optional
            By default the fewest for which the test rejects with probability 1 - `size` when all batches do and
            `batch_level` is attained.
        batch_level : float
            Largest probability that a batch of uniform rankings is rejected, in [1e-7, 1).

        Raises
        ------
        ValueError
            Naming what is out of range, or too few voters for so small an epsilon.

        Notes
        -----
        Time O(B log(B / size)) for each number of batches B that is tried, from log(1 / size) / epsilon on.
        """
        sizes = require_sizes(n_items, n_voters)
        n_items, n_voters = sizes["n_items"], sizes["n_voters"]
        epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size, most=LARGEST)
        batch_level = require_probability("batch_level", batch_level, LEAST)
        scale = require_drawable(epsilon, ratio_up(1, epsilon))
        if n_batches is None:
            # with fewer no private test of as many bits has these errors
            n_batches = fewest_batches(math.log((1 - size) / size) / epsilon, n_voters, epsilon)
            while vote_sf(n_batches, 1.0, scale, vote_threshold(n_batches, batch_level, scale, size)) < 1 - size:
                n_batches = fewest_batches(n_batches + 1, n_voters, epsilon)
        free = cls(n_items, n_voters, n_batches, math.inf, scale, 0)
        free = replace(free, batch_threshold=unif_null_threshold(free.n_items // 2, free.batch_voters, batch_level))
        return replace(free, threshold=vote_threshold(free.n_batches, free.batch_power(), scale, size))

    @property
    def exact_size(self) -> float:
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
            `n_voters` rankings of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research; `SECURE` to publish.
        """
        require_rankings(data, self.n_items, n_voters=self.n_voters)
        pairs = disjoint_pairs(self.n_items, rng=require_source(rng))
        positions = self.dealt(data, rng)
        votes = sum(self.batch_rejects(positions, pairs, batch) for batch in range(self.n_batches))
        noisy = votes + int(noise.discrete_laplace(self.scale, 1, rng=rng)[0])
        p_value, source, least = self._p_value(noisy), source_of(rng, self), float(self.threshold)
        return Decision(noisy >= self.threshold, float(noisy), least, p_value, mechanism=self, source=source)

    def _p_value(self, noisy: int) -> float:
        return vote_sf(self.n_batches, self.batch_power(), self.scale, noisy)


def vote_sf(n_batches: int, rate: float, scale: float, votes: int) -> float:
    """P(noisy number of rejected batches >= votes) if each of them is rejected with probability `rate`.

    Examples
    --------
    >>> round(vote_sf(n_batches=10, rate=0.1, scale=1.0, votes=4), 4)
    0.063
    """
    return float(votes_law(n_batches, rate) @ discrete_laplace_cdf(np.arange(n_batches + 1) - votes, scale))


@lru_cache(1 << 6)
def votes_law(n_batches: int, rate: float) -> NDArray[np.float64]:
    """Law of how many batches are rejected, each with probability `rate`; read-only.

    Examples
    --------
    >>> votes_law(2, 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]
    """
    return frozen(binomial(np.arange(n_batches + 1), n_batches, rate))


def vote_threshold(n_batches: int, rate: float, scale: float, size: float) -> int:
    """The least number that the noisy number of rejected batches attains with probability at most `size`.

    Examples
    --------
    >>> vote_threshold(n_batches=10, rate=0.1, scale=1.0, size=0.05)
    5
    """
    return least_whole(lambda votes: vote_sf(n_batches, rate, scale, votes) <= size, -1, n_batches + 1)


def fewest_batches(least: float, n_voters: int, epsilon: float) -> int:
    """The fewest batches that are not below `least`, refused where they would have fewer than 2 rankings each.

    Examples
    --------
    >>> fewest_batches(3.2, n_voters=100, epsilon=1.0)
    4
    """
    if least > n_voters // 2:
        raise ValueError(
            f"epsilon = {epsilon}; n_batches = {least:.6g} or more would be needed, with 2 rankings in each; "
            f"n_voters = {n_voters}"
        )
    return max(1, math.ceil(least))


def _coin(epsilon: float, n_batches: int, delta: float) -> float:
    """The least coin for which (coin / 2, coin / 2 + (1 - coin) / B) is within (epsilon, delta)."""
    if Fraction(delta) * n_batches >= 1:
        return 0.0
    share = 1 / n_batches
    coin = max(0.0, share - delta) / (_growth(epsilon) / 2 + share)
    return min(1.0, max(1e-300, coin * (1 + 1e-12)))


def _growth(epsilon: float) -> float:
    """exp(epsilon) - 1; beyond epsilon = 30 the coin is not made any rarer."""
    return math.expm1(min(epsilon, 30.0))


def _round_up(value: float) -> float:
    return math.nextafter(value * (1 + 1e-15), math.inf)
