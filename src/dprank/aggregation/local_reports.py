"""Pairwise fractions under local privacy, all in one round: every voter randomises a ranking, and nobody is trusted.

Alabi, Ghazi, Kumar and Manurangsi (2022), Reduction I in the local model, with the randomiser of Duchi, Jordan and
Wainwright (2014) that they cite, the naive one that they compare it with, and one of ours.

A voter's ranking is a vector of m(m-1)/2 signs, one a pair i < j in the order of `numpy.triu_indices`: +1 where item i
comes before j. Every randomiser yields unbiased estimates of the voters' mean signs, the margins w[i, j] - w[j, i].
"""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import itemgetter
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    require_generator,
    require_one_of,
    require_positive,
    require_unmasked,
    require_whole,
    settle,
    shown,
)
from dprank.aggregation.rules import Rule, order_by, require_exact, require_rule
from dprank.data.kendall import as_positions
from dprank.data.rankings import Rankings, require_items, require_rankings
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import SecureSource, Source, require_source
from dprank.privacy.randomized_response import GRAIN, bit_loss, flips_for, randomise
from dprank.release import Ranking, Report, source_of, source_of_reports

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
    """What `OneRound` asks of a randomiser: a frozen dataclass of its parameters."""

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
        """Largest variance of an estimate from one report."""
        ...

    def report(self, positions: NDArray[Any], rng: Any) -> NDArray[Any]:
        """What each voter sends, a row a voter."""
        ...

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimates from the reports: of the voters' mean signs, shape (pairs,), or of their mean places."""
        ...

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what no voter sends."""
        ...


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
    """Items, and the probability that a sign is reversed, in units of 2^-53; 1 to 2^52 - 1."""

    flips: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flips=require_whole("flips", self.flips, 1, GRAIN // 2 - 1))

    @property
    def kept(self) -> float:
        """Probability that a bit is kept less that it is reversed: tanh of half its loss."""
        return 1 - 2 * self.flips / GRAIN


@dataclass(frozen=True)
class VectorReport(Flipped):
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
        require_one_of("geometry", self.geometry, ("ball", "cube"))

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, geometry: Literal["ball", "cube"] = "ball") -> Self:
        """The whole of `epsilon`, above 0, on the choice of the side."""
        return cls(n_items, some_flips(epsilon), geometry)

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
            return self.kept * mean_overlap(d)
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

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of unit vectors, or of signs."""
        return (require_directions if self.geometry == "ball" else require_signs)(reports, self.n_pairs)


@dataclass(frozen=True)
class SplitResponse(Flipped):
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
        n_items = require_whole("n_items", n_items, 2)
        return cls(n_items, some_flips(epsilon, math.comb(n_items, 2)))

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
class PrintedPair(Flipped):
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
        return cls(n_items, some_flips(epsilon))

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float) -> Self:
        """The same shape of answer with all of `epsilon`, above 0, used up."""
        epsilon = require_positive("epsilon", epsilon)
        flips = max(1, math.ceil(GRAIN / 2 * math.exp(-epsilon)))
        while _printed_loss(flips) > epsilon and flips < GRAIN // 2:
            flips += 1
        return cls(n_items, _biased(flips, epsilon))

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

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of two items a row."""
        return require_lists(reports, 2, self.n_items)


@dataclass(frozen=True)
class SampledOrder(Items):
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

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of `size` items a row."""
        return require_lists(reports, self.size, self.n_items)


@dataclass(frozen=True)
class OneRound(ABC):
    """What `LocalMatrix` and `LocalBorda` have in common: one report a voter, and an order from the reports.

    Parameters
    ----------
    randomiser : Randomiser
        Fixes items and privacy.
    """

    randomiser: Any

    @property
    def n_items(self) -> int:
        """m."""
        return int(self.randomiser.n_items)

    @property
    def guarantee(self) -> Guarantee:
        """Of one report a voter: covers all reports, hence the order."""
        return Guarantee(self.randomiser.loss, model="local")

    def report(self, positions: ArrayLike, rng: Source) -> Report:
        """What one voter sends, once: to be run where the voter's ranking is, which goes nowhere else.

        Parameters
        ----------
        positions : array_like of int, shape (items,)
            The place that the voter gives every item, 0 for the best.
        rng : numpy.random.Generator or dprank.SECURE
            `SECURE` for a voter; a seeded generator for research.

        Returns
        -------
        Report
            A list of int, or of float where the randomiser is for research, fit for JSON. A voter who sends a second
            report spends `guarantee` again.
        """
        one = require_votes([positions], self.n_items)  # type: ignore[arg-type]
        return Report(self.randomiser.report(one, require_source(rng))[0].tolist(), source_of(rng, self))

    def aggregate(self, reports: Any, rng: Source, *, items: Sequence[str]) -> Ranking:
        """The order that the reports of all voters give: needs no trust, and spends nothing more.

        Parameters
        ----------
        reports : sequence of what `report` returns
            At least one.
        rng : numpy.random.Generator or dprank.SECURE
            Breaks ties.
        items : sequence of str
            Names, in the order in which all voters number the items.

        Returns
        -------
        Ranking
            Its source is "voters" where reports were sent here, without the mark that `report` gives them.

        Raises
        ------
        ValueError
            Naming the first report that no voter's `report` returns. One that it could return is counted, whoever made
            it up.
        """
        names = require_items(items, self.n_items)
        reports = list(reports) if isinstance(reports, Iterator) else reports
        table = self.randomiser.checked(reports)
        order = self._order(names, self.randomiser.estimate(table), len(table), rng)
        return replace(order, source=source_of_reports(reports, source_of(rng, self)))

    @abstractmethod
    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        """The order that the estimates of the randomiser give."""


@dataclass(frozen=True)
class LocalMatrix(OneRound):
    """Reduction I: every voter reports once, and a rule orders the estimated fractions.

    Parameters
    ----------
    randomiser : VectorReport, SplitResponse, PrintedPair or SampledOrder
        Fixes items and privacy.
    rule : {"auto", "kemeny", "local_search", "borda", "copeland"}
        What orders the estimates, unclipped, see `order_by`. "auto" never takes long.

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank.privacy.noise import SECURE
    >>> poll = LocalMatrix.calibrated(3, epsilon=2.0)
    >>> reports = [poll.report(places, SECURE) for places in ([0, 1, 2], [0, 2, 1], [0, 1, 2])]
    >>> poll.aggregate(reports, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 1.0

    randomiser: Randomiser
    rule: Rule = "auto"

    def __post_init__(self) -> None:
        require_rule(self.rule)
        if not isinstance(self.randomiser, VectorReport | SplitResponse | PrintedPair | SampledOrder):
            raise ValueError(
                f"randomiser = {shown(self.randomiser)}; a SampledOrder, SplitResponse, PrintedPair or VectorReport"
                " is needed"
            )

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, *, rule: Rule = "auto") -> Self:
        """With the `SampledOrder` of least variance for `epsilon`.

        Parameters
        ----------
        n_items : int
            At least 2.
        epsilon : float
            Of one voter's report, above 0, finite.
        rule : {"auto", "kemeny", "local_search", "borda", "copeland"}

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(SampledOrder.calibrated(n_items, epsilon), rule)

    def additive_error(self, n_voters: int) -> float:
        r"""Bound on the expected Kemeny score of the released order, less the least there is, if the rule is exact.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            In pairs on which the average voter disagrees. The rule "auto" is exact up to 20 items.

        Raises
        ------
        ValueError
            With a rule for which nothing is proved.

        Notes
        -----
        At most the sum of the mean absolute errors of all margins. With `SampledOrder`, one report moves the estimated
        cost of any order within a range of width :math:`\binom m2 / c`, where c is the chance of the voter's own order;
        so the error is at most half of that times :math:`\sqrt{2 \log m! / n}`.
        """
        require_exact(self.rule)
        pairs = math.comb(self.n_items, 2)
        error = pairs * math.sqrt(self.randomiser.variance)
        if isinstance(self.randomiser, SampledOrder):
            width = pairs / self.randomiser.shrinkage
            error = min(error, width / 2 * math.sqrt(2 * math.lgamma(self.n_items + 1)))
        return error / math.sqrt(require_whole("n_voters", n_voters, 1))

    def fractions(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the pairwise fractions from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter.
        rng : numpy.random.Generator or dprank.SECURE

        Returns
        -------
        ndarray of float, shape (items, items)
            The two entries of a pair sum to 1; entries may lie outside [0, 1]. Diagonal 0.
        """
        m = self.n_items
        table = require_votes(positions, m)
        require_source(rng)
        rows = max(1, BLOCK // math.comb(m, 2))
        total = np.zeros(math.comb(m, 2))
        for start in range(0, len(table), rows):
            block = table[start : start + rows]
            total += len(block) * self.randomiser.estimate(self.randomiser.report(block, rng))
        return self._fractions(total / len(table))

    def release(self, data: Rankings, rng: Source) -> Ranking:
        """One order from at least one ranking, as `report` and `aggregate` make it.

        Parameters
        ----------
        data : Rankings
            Of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`, which `VectorReport` refuses.
        """
        w = self.fractions(require_rankings(data, self.n_items, 1).positions, rng)
        order = order_by(self.rule, w, rng=rng)
        return Ranking(data.items, order, mechanism=self, source=source_of(rng, self))

    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        return Ranking(items, order_by(self.rule, self._fractions(estimates), rng=rng), mechanism=self)

    def _fractions(self, signs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix of mean signs."""
        matrix = np.zeros((self.n_items, self.n_items))
        matrix[np.triu_indices(self.n_items, 1)] = (1 + signs) / 2
        return matrix + np.tril(1 - matrix.T, -1)


def some_flips(epsilon: float, bits: int = 1) -> int:
    """`flips_for` answers that tell something: refuses an epsilon so small that they would be fair coins."""
    return _biased(flips_for(epsilon, bits), epsilon, bits)


def _biased(flips: int, epsilon: float, bits: int = 1) -> int:
    if flips >= GRAIN // 2:
        raise ValueError(f"epsilon = {epsilon}; too little for {bits} answers a voter: all would be fair coins")
    return flips


def mean_overlap(dimension: int) -> float:
    """Mean absolute inner product of two unit vectors, one of them uniformly random: about sqrt(2 / (pi dimension))."""
    dimension = require_whole("dimension", dimension, 1)
    return math.exp(math.lgamma(dimension / 2) - math.lgamma((dimension + 1) / 2)) / math.sqrt(math.pi)


def require_votes(positions: ArrayLike, n_items: int) -> NDArray[Any]:
    """Refuse what is not at least one ranking of so many items."""
    table = as_positions("positions", positions)
    if table.shape[1] != n_items or not len(table):
        raise ValueError(f"positions are no table; at least one row of n_items = {n_items} places is needed")
    return table


def require_reports(
    reports: Any, width: int, kinds: str, fits: Callable[[NDArray[Any]], Any], needed: str
) -> NDArray[Any]:
    """A table of at least one row of so many numbers that all fit; or the first report that does not, refused."""

    if not isinstance(reports, Iterable):
        raise ValueError(f"reports are of type {type(reports).__name__}; a list of them is needed")

    require_unmasked("reports", reports)

    def table_of(rows: Any) -> NDArray[Any] | None:
        try:
            table = np.asarray(rows)
        except (ValueError, OverflowError):
            return None
        shaped = table.ndim == 2 and table.shape[1] == width and len(table) and table.dtype.kind in kinds
        return table if shaped and np.all(fits(table)) else None

    rows = np.atleast_1d(reports) if isinstance(reports, np.ndarray) else list(reports)
    if (table := table_of(rows)) is not None:
        return table
    tables = list[NDArray[Any]]()
    for voter, row in enumerate(rows):
        if (own := table_of([row])) is None:
            raise ValueError(f"reports[{voter}] = <{type(row).__name__}>; {needed} needed")
        tables.append(own)
    if not tables:
        raise ValueError("reports are none, or no table; at least one row is needed")
    # integers of several kinds fit one by one, though together numpy would make them floats
    kind = np.int64 if all(own.dtype.kind in "iu" for own in tables) else np.float64
    return np.concatenate([own.astype(kind) for own in tables])


def require_lists(reports: Any, size: int, n_items: int) -> NDArray[np.int64]:
    """Refuse what are no lists of so many different items."""

    def fits(table: NDArray[Any]) -> Any:
        return ((table >= 0) & (table < n_items)).all() and np.diff(np.sort(table, axis=1), axis=1).all()

    needed = f"{size} different items of 0 .. {n_items - 1} are"
    return require_reports(reports, size, "iu", fits, needed).astype(np.int64)


def require_signs(reports: Any, n_pairs: int) -> NDArray[np.int8]:
    """Refuse what are no vectors of so many signs."""
    needed = f"{n_pairs} signs, 1 or -1, are"
    return require_reports(reports, n_pairs, "iu", lambda t: (t == 1) | (t == -1), needed).astype(np.int8)


def require_directions(reports: Any, dimension: int) -> NDArray[np.float64]:
    """Refuse what are no unit vectors of so many dimensions."""

    def fits(table: NDArray[Any]) -> Any:
        return abs(np.linalg.norm(table, axis=1) - 1) < 1e-9

    return require_reports(reports, dimension, "iuf", fits, f"{dimension} numbers of norm 1 are").astype(float)


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
    return math.nextafter(math.nextafter(math.log1p((GRAIN - 2 * flips) / (2 * flips)), math.inf), math.inf)


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
