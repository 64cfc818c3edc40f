"""Rank aggregation by the exponential mechanism (McSherry and Talwar 2007), sampled exactly without listing orders."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import (
    require_at_least_0,
    require_generator,
    require_one_of,
    require_positive,
    require_whole,
    settle,
)
from dprank.aggregation.matrix import require_matrix
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy.guarantee import Adjacency, Guarantee
from dprank.privacy.published import Published
from dprank.release import Ranking, source_of

__all__ = ["ExponentialMechanism"]

#: Most items: a table of 2^22 floats is 32 MiB.
MOST_ITEMS = 22


@dataclass(frozen=True)
class ExponentialMechanism:
    r"""An order drawn with probability proportional to exp(-rate * disagreements with all voters).

    Parameters
    ----------
    n_items : int
        From 2 to 22.
    rate : float
        Of the decay, for one pair on which one voter disagrees; at least 0.
    adjacency : {"replace", "add_remove"}

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    ExponentialMechanism.calibrated : the rate that an epsilon allows.

    Notes
    -----
    Publishes order: one draw, the likelier the fewer disagree.

    One voter more adds between 0 and :math:`\binom{m}{2}` disagreements to every order, one replaced between minus
    that and that: a log ratio of two laws, normaliser included, is at most the rate times the width of this range. No
    smaller bound is true for all numbers of voters; for one voter replaced by another the loss is half of it, as the
    normaliser is the same for all rankings.

    The sum over all orders is one over all sets S of items, placed first:
    :math:`Z(S) = \sum_{i \in S} Z(S \setminus i) e^{-rate \cdot c(i, S)}`, where c(i, S) counts the votes for i before
    any other item of S. O(2^m m) time and 2^m floats, whatever the number of voters.

    Examples
    --------
    >>> from dprank import ExponentialMechanism, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, ["roads", "schools", "parks"])
    >>> mechanism = ExponentialMechanism.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, np.random.default_rng(0)).ranking
    ('roads', 'schools', 'parks')
    """

    card: ClassVar[Card] = Card(
        question="consensus",
        how="one random order, the likelier the fewer votes it contradicts",
        adjacency=True,
        needs="research: floats draw it",
    )

    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("order", "one draw, the likelier the fewer disagree"),)

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 1.0

    n_items: int
    rate: float
    _: KW_ONLY
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        require_one_of("adjacency", self.adjacency, get_args(Adjacency))
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2, MOST_ITEMS),
            rate=require_at_least_0("rate", self.rate),
        )
        if math.isinf(self.guarantee.epsilon):
            raise ValueError(f"rate = {self.rate}; too fast a decay for any finite epsilon")

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, adjacency: Adjacency = "replace") -> Self:
        """The fastest decay that is epsilon-private for every number of voters.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items, adjacency
            As in `ExponentialMechanism`.

        Raises
        ------
        ValueError
            Naming what is out of range, or an epsilon so small that no order would be likelier than another.

        Examples
        --------
        >>> from dprank import ExponentialMechanism
        >>> print(ExponentialMechanism.calibrated(epsilon=1.0, n_items=4).guarantee)
        epsilon = 1 (central; replace one voter)
        """
        free, epsilon = cls(n_items, 0.0, adjacency=adjacency), require_positive("epsilon", epsilon)
        fastest = replace(free, rate=epsilon / free.spread)
        while fastest.guarantee.epsilon > epsilon:
            fastest = replace(fastest, rate=math.nextafter(fastest.rate, 0))
        if not fastest.rate:
            raise ValueError(f"epsilon = {epsilon}; too little for any decay: the order would be drawn blindly")
        return fastest

    @property
    def spread(self) -> int:
        """Width of the range in which one voter moves the numbers of disagreements."""
        return math.comb(self.n_items, 2) * (2 if self.adjacency == "replace" else 1)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the order."""
        return Guarantee(
            math.nextafter(self.rate * self.spread, math.inf) if self.rate else 0.0, adjacency=self.adjacency
        )

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy, from the bounded range (Cesar and Rogers 2021)."""
        return self.guarantee.epsilon**2 / 8

    def additive_error(self, n_voters: int) -> float:
        r"""Bound on the expected Kemeny score of the released order, less the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing. No data are
        read, so that one can plan before any budget is spent.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            :math:`\log m!` over the rate and the number of voters: in pairs on which the average voter disagrees.
        """
        n_voters = require_whole("n_voters", n_voters, 1)
        return math.lgamma(self.n_items + 1) / self.rate / n_voters if self.rate else math.inf

    def release(self, data: Rankings, rng: np.random.Generator) -> Ranking:
        """One private order, for research: its arithmetic is in floating point.

        Parameters
        ----------
        data : Rankings
            Of `n_items` items.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            Where the number of items differs.
        """
        votes = require_rankings(data, self.n_items).pairwise()
        return Ranking(data.items, self.draw(votes, 1, rng)[0], mechanism=self, source=source_of(rng, self))

    def draw(self, votes: ArrayLike, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Independent orders.

        Parameters
        ----------
        votes : array_like of float, shape (items, items)
            How many voters put the row's item before the column's.
        size : int
            At least 0.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of int, shape (size, items)
            Item codes from best to worst. O(2^items items + size items^2).
        """
        shape = require_whole("size", size, 0), self.n_items
        uniform = require_generator(rng, "floating-point weights are for research").random(shape)
        low, high = self._half_sums(votes)
        return _draw(_log_sums(low, high, self.rate), low, high, self.rate, uniform)

    def expected_disagreements(self, votes: ArrayLike) -> float:
        """Exact mean number of disagreements, over all voters, of an order drawn for them.

        Parameters
        ----------
        votes : array_like of float, shape (items, items)
            As of `draw`.
        """
        low, high = self._half_sums(votes)
        return float(_mean(_log_sums(low, high, self.rate), low, high, self.rate))

    def _half_sums(self, votes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Votes for each item (row) before the items of any subset of the first, and of the second, half of them."""
        matrix = require_matrix(votes)
        if len(matrix) != self.n_items:
            raise ValueError(f"votes are for {len(matrix)} items; this mechanism is for n_items = {self.n_items}")
        half = self.n_items // 2
        return _subset_sums(matrix[:, :half]), _subset_sums(matrix[:, half:])


def _subset_sums(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    table = np.zeros((len(columns), 1))
    for column in columns.T:
        table = np.c_[table, table + column[:, None]]
    return table


@njit(cache=True, error_model="numpy")
def _log_sums(low, high, rate):
    """Log of the weight of all orders of every subset; the last item pays for all that it should have preceded."""
    m = len(low)
    half = m // 2
    logs = np.zeros(1 << m)
    terms = np.empty(m)
    for s in range(1, 1 << m):
        a, b, k, top = s & (low.shape[1] - 1), s >> half, 0, -np.inf
        for i in range(m):
            if s >> i & 1:
                terms[k] = logs[s ^ (1 << i)] - rate * (low[i, a] + high[i, b])
                top = max(top, terms[k])
                k += 1
        total = 0.0
        for j in range(k):
            total += np.exp(terms[j] - top)
        logs[s] = top + np.log(total)
    return logs


@njit(cache=True, error_model="numpy")
def _mean(logs, low, high, rate):
    m = len(low)
    half = m // 2
    means = np.zeros(1 << m)
    for s in range(1, 1 << m):
        a, b = s & (low.shape[1] - 1), s >> half
        for i in range(m):
            if s >> i & 1:
                rest, cost = s ^ (1 << i), low[i, a] + high[i, b]
                means[s] += np.exp(logs[rest] - rate * cost - logs[s]) * (means[rest] + cost)
    return means[-1]


@njit(cache=True, error_model="numpy")
def _draw(logs, low, high, rate, uniform):
    """Orders from the last place to the first."""
    m = len(low)
    half = m // 2
    orders = np.empty(uniform.shape, np.int64)
    for r in range(len(uniform)):
        s = (1 << m) - 1
        for place in range(m - 1, -1, -1):
            a, b, left, last = s & (low.shape[1] - 1), s >> half, uniform[r, place], -1
            for i in range(m):
                if s >> i & 1:
                    last = i
                    left -= np.exp(logs[s ^ (1 << i)] - rate * (low[i, a] + high[i, b]) - logs[s])
                    if left < 0:
                        break
            orders[r, place] = last
            s ^= 1 << last
    return orders
