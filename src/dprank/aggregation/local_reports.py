"""Pairwise fractions under local privacy, all in one round: every voter randomises a ranking, and nobody is trusted.

Alabi, Ghazi, Kumar and Manurangsi (2022), Reduction I in the local model, with the randomiser of Duchi, Jordan and
Wainwright (2014) that they cite, the naive one that they compare it with, and one of ours.

A voter's ranking is a vector of m(m-1)/2 signs, one a pair i < j in the order of `numpy.triu_indices`: +1 where item i
comes before j. Every randomiser yields unbiased estimates of the voters' mean signs, the margins w[i, j] - w[j, i].
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_generator, require_positive, require_whole, settle
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import PrivateOrder, shrink
from dprank.kendall import as_positions
from dprank.mechanism import Guarantee, require
from dprank.noise import SecureSource, require_source
from dprank.rankings import Rankings
from dprank.uniformity.local import GRAIN, bit_loss, flips_for, randomise

Source = np.random.Generator | SecureSource
#: Signs that are held in memory at a time.
BLOCK = 1 << 22


def ranking_signs(positions: NDArray[Any]) -> NDArray[np.int8]:
    """+1 for every pair i < j of items that a ranking puts in that order, else -1.

    Parameters
    ----------
    positions : ndarray of int, shape (voters, items)

    Returns
    -------
    ndarray of int8, shape (voters, items * (items - 1) / 2)
    """
    first, second = np.triu_indices(positions.shape[1], 1)
    return np.where(positions[:, first] < positions[:, second], 1, -1).astype(np.int8)


class Randomiser(Protocol):
    """What `LocalMatrix` asks of a randomiser: a frozen dataclass of its parameters."""

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
        """Largest variance of the estimate of one sign from one report."""
        ...

    def report(self, positions: NDArray[Any], rng: Any) -> NDArray[Any]:
        """What each voter sends, a row a voter."""
        ...

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates of the voters' mean signs, shape (pairs,)."""
        ...


@dataclass(frozen=True)
class _Items:
    n_items: int

    def __post_init__(self) -> None:
        settle(self, n_items=require_whole("n_items", self.n_items, 2))

    @property
    def n_pairs(self) -> int:
        """m (m - 1) / 2."""
        return math.comb(self.n_items, 2)


@dataclass(frozen=True)
class _Flipped(_Items):
    flips: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flips=require_whole("flips", self.flips, 1, GRAIN // 2 - 1))

    @property
    def kept(self) -> float:
        """Probability that a bit is kept less that it is reversed: tanh of half its loss."""
        return 1 - 2 * self.flips / GRAIN


@dataclass(frozen=True)
class VectorReport(_Flipped):
    """The randomiser of Duchi, Jordan and Wainwright: a random vector on the signs' side, or on the other side.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability of the other side, in units of 2^-53; 1 to 2^52 - 1.
    geometry : {"ball", "cube"}
        A uniform point of the unit sphere, or a uniform vector of signs. A cube vector orthogonal to the voter's is
        sent as drawn; Duchi et al. count it to both sides, which at even numbers of pairs is a little worse.

    Notes
    -----
    Floating-point coins, for research. O(voters * m^2) time.
    """

    geometry: Literal["ball", "cube"] = "ball"

    def __post_init__(self) -> None:
        super().__post_init__()
        require("geometry", self.geometry, ("ball", "cube"))

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, geometry: Literal["ball", "cube"] = "ball") -> Self:
        """The whole of `epsilon`, above 0, on the choice of the side."""
        return cls(n_items, flips_for(epsilon), geometry)

    @property
    def loss(self) -> float:
        """Attained by any two rankings that have some report on opposite sides, such as opposite ones."""
        return bit_loss(self.flips)

    @property
    def shrinkage(self) -> float:
        """Share of a sign in the mean of its entry, relative to the entry's root mean square.

        `kept` times the mean length, along one vector, of a random one: about sqrt(2 / (pi pairs)).
        """
        d, h = self.n_pairs, self.n_pairs // 2
        if self.geometry == "ball":
            return self.kept * math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)
        return self.kept * math.exp(math.lgamma(2 * h + 1) - 2 * math.lgamma(h + 1) - 2 * h * math.log(2))

    @property
    def variance(self) -> float:
        """The same for every entry and ranking."""
        return 1 / self.shrinkage**2 - 1

    def report(self, positions: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Unit vectors, or vectors of signs (int8), shape (voters, pairs)."""
        require_generator(rng, "floating-point coins are for research")
        signs = ranking_signs(positions)
        if self.geometry == "ball":
            vectors = rng.standard_normal(signs.shape)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            inner = np.einsum("vd,vd->v", vectors, signs)
        else:
            vectors = 2 * rng.integers(0, 2, signs.shape, np.int8) - 1
            inner = np.einsum("vd,vd->v", vectors, signs, dtype=float)
        side = randomise(np.ones(len(signs), np.int8), self.flips, rng)
        vectors[inner * side < 0] *= -1
        return vectors

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Mean reports, scaled."""
        length = math.sqrt(self.n_pairs) if self.geometry == "ball" else 1.0
        return reports.mean(axis=0) * length / self.shrinkage


@dataclass(frozen=True)
class SplitResponse(_Flipped):
    """The naive randomiser: every pair's sign by randomised response, with an equal share of the budget.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability that a sign is reversed, in units of 2^-53; 1 to 2^52 - 1.
    """

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """All signs together spend `epsilon`, above 0."""
        return cls(n_items, flips_for(epsilon, math.comb(require_whole("n_items", n_items, 2), 2)))

    @property
    def loss(self) -> float:
        """Attained by two opposite rankings."""
        return math.nextafter(self.n_pairs * bit_loss(self.flips), math.inf)

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


@dataclass(frozen=True)
class PrintedPair(_Flipped):
    """One random pair, answered as in the paper's Algorithm 2: a fair coin where the answer is no (w = 0).

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability of the answer no where it is yes, in units of 2^-53; 1 to 2^52 - 1.

    Notes
    -----
    Calibrated as printed, it spends log((1 + exp(epsilon)) / 2) only, about half of epsilon where that is small.
    """

    @classmethod
    def as_printed(cls, n_items: int, epsilon: float) -> Self:
        """Answers +d with probability (1 + w / d) / 2, d = (exp(epsilon) + 1) / (exp(epsilon) - 1), else -d."""
        return cls(n_items, flips_for(epsilon))

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """The same shape of answer with all of `epsilon`, above 0, used up."""
        flips = max(1, math.ceil(GRAIN / 2 * math.exp(-require_positive("epsilon", epsilon))))
        while _printed_loss(flips) > epsilon and flips < GRAIN // 2:
            flips += 1
        return cls(n_items, flips)

    @property
    def loss(self) -> float:
        """Attained by the answer no, of two rankings that differ in the pair."""
        return _printed_loss(self.flips)

    @property
    def variance(self) -> float:
        """Attained where the answer is no; lower by 4 where it is yes."""
        return 4 * self.n_pairs / self.kept**2

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Two items a voter, the answer yes being the lower code first; shape (voters, 2)."""
        asked = np.sort(_samples(len(positions), self.n_items, 2, rng), axis=1)
        places = np.take_along_axis(positions, asked, 1)
        no = places[:, 0] > places[:, 1]
        yes = np.ones(len(positions), np.int8)
        answer = np.where(no, randomise(yes, GRAIN // 2, rng), randomise(yes, self.flips, rng))
        return np.where(answer[:, None] > 0, asked, asked[:, ::-1])

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Twice the estimated fractions, less 1."""
        return 2 * _net_wins(reports, self.n_items) * self.n_pairs / (len(reports) * self.kept) - 1


@dataclass(frozen=True)
class SampledOrder(_Items):
    """A few random items, in the voter's order or, if a coin says so, as they were drawn (ours).

    With two items it is randomised response on one random pair; with all of them, on the whole ranking.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    size : int
        How many items a voter sends, 2 to m.
    kept : int
        Probability that they are put in the voter's order, in units of 2^-53; 1 to 2^53 - 1.

    Notes
    -----
    All coins are whole numbers, so that `SECURE` may toss them. O(voters * m) time with a generator.
    """

    size: int
    kept: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(
            self,
            size=require_whole("size", self.size, 2, self.n_items),
            kept=require_whole("kept", self.kept, 1, GRAIN - 1),
        )

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, size: int | None = None) -> Self:
        """All of `epsilon`, above 0; without a size, the one of least variance."""
        n_items, epsilon = require_whole("n_items", n_items, 2), require_positive("epsilon", epsilon)
        sizes = range(2, n_items + 1) if size is None else [require_whole("size", size, 2, n_items)]
        shares = ((k, _most_kept(math.factorial(k), epsilon)) for k in sizes)
        # the more items, the smaller the share
        fit = [cls(n_items, k, kept) for k, kept in takewhile(itemgetter(1), shares)]
        if not fit:
            raise ValueError(f"epsilon = {epsilon}; too little for an order of size = {sizes[0]} items")
        return min(fit, key=lambda r: r.variance)

    @property
    def loss(self) -> float:
        """Attained by two rankings that order the sampled items differently."""
        return _order_loss(math.factorial(self.size), self.kept)

    @property
    def chance(self) -> float:
        """Probability that a given pair is among the items sent."""
        return math.comb(self.size, 2) / self.n_pairs

    @property
    def shrinkage(self) -> float:
        """Probability of the voter's own order."""
        return self.kept / GRAIN

    @property
    def variance(self) -> float:
        """The same for every entry and ranking."""
        return 1 / (self.chance * self.shrinkage**2) - 1

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Items in the order sent, shape (voters, size)."""
        drawn = _samples(len(positions), self.n_items, self.size, rng)
        places = np.take_along_axis(positions, drawn, 1)
        own = randomise(np.ones(len(drawn), np.int8), GRAIN - self.kept, rng) > 0
        return np.where(own[:, None], np.take_along_axis(drawn, np.argsort(places, axis=1), 1), drawn)

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Net wins in the orders sent, scaled."""
        return _net_wins(reports, self.n_items) / (len(reports) * self.chance * self.shrinkage)


Rule = Literal["kemeny", "local_search"]


@dataclass(frozen=True)
class LocalMatrix:
    """Reduction I: every voter reports once, and a rule orders the estimated fractions.

    Parameters
    ----------
    randomiser : VectorReport, SplitResponse, PrintedPair or SampledOrder
        Fixes items and privacy.
    rule : {"kemeny", "local_search"}
        Cheapest order of the estimates, unclipped; or a cheap one, in O(m^3) or so.
    """

    randomiser: Randomiser
    rule: Rule = "kemeny"

    def __post_init__(self) -> None:
        require("rule", self.rule, ("kemeny", "local_search"))

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, rule: Rule = "kemeny") -> Self:
        """With the `SampledOrder` of least variance for `epsilon`, above 0."""
        return cls(SampledOrder.calibrated(n_items, epsilon), rule)

    @property
    def guarantee(self) -> Guarantee:
        """Covers all reports, hence the order."""
        return Guarantee(self.randomiser.loss, model="local")

    def fractions(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the pairwise fractions from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter.
        rng : numpy.random.Generator or dprank.noise.SECURE

        Returns
        -------
        ndarray of float, shape (items, items)
            The two entries of a pair sum to 1; entries may lie outside [0, 1]. Diagonal 0.
        """
        table = as_positions("positions", positions)
        m = self.randomiser.n_items
        if table.shape[1] != m or not len(table):
            raise ValueError(f"positions of shape {table.shape}; at least one row of n_items = {m} places is needed")
        require_source(rng)
        rows = max(1, BLOCK // math.comb(m, 2))
        total = np.zeros(math.comb(m, 2))
        for start in range(0, len(table), rows):
            block = table[start : start + rows]
            total += len(block) * self.randomiser.estimate(self.randomiser.report(block, rng))
        matrix = np.zeros((m, m))
        matrix[np.triu_indices(m, 1)] = (1 + total / len(table)) / 2
        return matrix + np.tril(1 - matrix.T, -1)

    def release(self, rankings: Rankings, rng: Source) -> PrivateOrder:
        """One order from at least one ranking; time of the reports and of the rule.

        Parameters
        ----------
        rankings : Rankings
        rng : numpy.random.Generator or dprank.noise.SECURE
            A seeded generator for research. To publish, `SECURE`, which `VectorReport` refuses.
        """
        w = self.fractions(rankings.positions, rng)
        order = kemeny(shrink(w)).order if self.rule == "kemeny" else local_search(w)
        return PrivateOrder(rankings.items, order, self.guarantee)


def _samples(voters: int, n_items: int, size: int, rng: Source) -> NDArray[np.int64]:
    """Random lists of `size` different items, every list equally likely."""
    if isinstance(rng, SecureSource):
        draw = secrets.SystemRandom().sample
        return np.array([draw(range(n_items), size) for _ in range(voters)], np.int64)
    if size == 2:
        first = rng.integers(0, n_items, voters)
        return np.stack([first, (first + rng.integers(1, n_items, voters)) % n_items], axis=1)
    return np.argsort(rng.random((voters, n_items)), axis=1)[:, :size]


def _net_wins(lists: NDArray[np.int64], n_items: int) -> NDArray[np.float64]:
    """How many lists put i before j, less how many j before i, for all pairs i < j; items not in a list count for 0."""
    first, second = np.triu_indices(lists.shape[1], 1)
    before = np.zeros(n_items**2)
    for a, b in zip(first, second, strict=True):
        before += np.bincount(lists[:, a] * n_items + lists[:, b], minlength=n_items**2)
    table = before.reshape(n_items, n_items)
    return (table - table.T)[np.triu_indices(n_items, 1)]


def _printed_loss(flips: int) -> float:
    """log of the odds of "no" where it is true against where it is not, rounded up."""
    return math.nextafter(math.log(GRAIN / (2 * flips)), math.inf)


def _most_kept(orders: int, epsilon: float) -> int:
    """The most of 2^53 chances of the voter's own order that `epsilon` allows; 0 where none is."""
    gain = -math.expm1(-epsilon)
    rest = math.exp(min(math.log(orders) - epsilon, 700))
    kept = min(math.floor(GRAIN * gain / (gain + rest)), GRAIN - 1)
    while kept and _order_loss(orders, kept) > epsilon:
        kept -= 1
    return kept


def _order_loss(orders: int, kept: int) -> float:
    """log of (c + (1 - c) / orders) / ((1 - c) / orders) with c = kept / 2^53, rounded up."""
    if orders > 1 << 900:  # no float; an error in the logarithm of far less than is added
        return math.log(orders * kept + GRAIN - kept) - math.log(GRAIN - kept) + 1e-10
    return math.nextafter(math.nextafter(math.log1p(orders * kept / (GRAIN - kept)), math.inf), math.inf)
