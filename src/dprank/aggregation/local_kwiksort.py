"""KwikSort among voters who trust nobody: blocks of voters answer the comparisons that it makes.

Algorithms 2 and 3 of Alabi, Ghazi, Kumar and Manurangsi (2022), mended. Research code: the coins are floats, and the
voters are simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import (
    require_generator,
    require_one_of,
    require_positive,
    require_probability,
    require_real,
    require_whole,
    settle,
    shown,
)
from dprank.aggregation.kwiksort import MOST_COUNTED, queries
from dprank.data.rankings import Rankings, require_rankings
from dprank.models.draws import binomial
from dprank.privacy.guarantee import Guarantee, Mechanism, compose
from dprank.privacy.published import Published
from dprank.release import Ranking, source_of

__all__ = ["AdaptiveAnswers", "LocalKwikSort", "plus_chances"]

#: Largest epsilon of a report: beyond, chances that are floats no longer have the ratio that is promised.
LARGEST = 30.0


def plus_chances(report_epsilon: float) -> tuple[float, float]:
    """Probabilities of a plus from a voter whose answer is no, and from one whose answer is yes.

    Parameters
    ----------
    report_epsilon : float
        Log of the odds of a true report; above 0.

    Examples
    --------
    >>> no, yes = plus_chances(math.log(3))
    >>> round(no, 12), round(yes, 12)
    (0.25, 0.75)
    """
    yes = 1 / (1 + math.exp(-require_positive("report_epsilon", report_epsilon)))
    return 1 - yes, yes


def _require_telling(name: str, report_epsilon: float) -> float:
    """Refuse reports that would be fair coins, whatever the answers are."""
    if plus_chances(report_epsilon)[1] == 0.5:
        raise ValueError(f"{name} = {report_epsilon}; too little: every report would be a fair coin")
    return report_epsilon


@dataclass(frozen=True)
class LocalKwikSort:
    """KwikSort whose comparisons are put to blocks of voters, the next block in turn (Bassily 2019).

    The voters are cut at random into blocks whose sizes differ by at most one. A comparison is put to one block, every
    voter of which sends one randomised sign. A voter sends at most `reports` of them; a block that is used up answers
    no more. Then `fallback` ranks all items from reports of its own; without one, fair coins replace the answers.

    Parameters
    ----------
    n_items : int
        At least 2.
    report_epsilon : float
        Of one report, see `plus_chances`; in (0, 30]. The coins are floats: up to there their chances have the ratio
        that `guarantee` promises, and beyond 37 they would be certain of the answer.
    reports : int
        How many a voter sends at most; at least 1.
    blocks : int
        At least 1; the data must have as many voters.
    fallback : Mechanism, optional
        A local one, of as many items, whose release has an `order`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LocalKwikSort.calibrated : what to use at a given epsilon.

    Notes
    -----
    Publishes order: sums of reports, and fair coins.

    Examples
    --------
    >>> from dprank import LocalKwikSort, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 3000 + [[1, 2, 0]] * 1000, ["roads", "schools", "parks"])
    >>> mechanism = LocalKwikSort.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, np.random.default_rng(0)).ranking
    ('roads', 'schools', 'parks')
    >>> print(mechanism.guarantee)
    epsilon = 1 (local; replace one voter)
    """

    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("order", "sums of reports, and fair coins"),)

    #: Most that `report_epsilon` may be.
    most_epsilon: ClassVar[float] = LARGEST

    n_items: int
    report_epsilon: float
    reports: int
    blocks: int
    fallback: Mechanism | None = None

    def __post_init__(self) -> None:
        needed = (
            "it must be above 0 and finite"
            if math.isinf(self.most_epsilon)
            else f"it must lie in (0, {self.most_epsilon:g}]"
        )
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            report_epsilon=require_real(
                "report_epsilon", self.report_epsilon, needed, lambda x: 0 < x <= self.most_epsilon and x < math.inf
            ),
            reports=require_whole("reports", self.reports, 1),
            blocks=require_whole("blocks", self.blocks, 1),
        )
        _require_telling("report_epsilon", self.report_epsilon)
        if self.fallback is not None:
            if not isinstance(getattr(self.fallback, "guarantee", None), Guarantee):
                raise ValueError(f"fallback = {shown(self.fallback)}; a local mechanism, or None, is needed")
            require_one_of("fallback.guarantee.model", self.fallback.guarantee.model, ("local",))
            require_one_of("fallback.n_items", getattr(self.fallback, "n_items", self.n_items), (self.n_items,))

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, tail: float = 1e-6) -> Self:
        """One report a voter with the whole budget, and as many blocks as KwikSort needs.

        Parameters
        ----------
        epsilon : float
            In (0, 30].
        n_items : int
            2 to 256, for which QuickSort's law is computed.
        tail : float
            At least 1e-12, below 1. Chance, at most, that the blocks do not last for a tournament without cycles; for
            any other it is at most 30 times that, by Chernoff's bound. Then coins decide the rest, which costs that
            chance times m (m - 1) / 2 at most: no fallback is worth its budget.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        m = require_whole("n_items", n_items, 2, MOST_COUNTED)
        blocks = min(queries(m, require_probability("tail", tail)), math.comb(m, 2))
        needed = f"it must lie in (0, {LARGEST:g}]"
        epsilon = require_real("epsilon", epsilon, needed, lambda x: 0 < x <= LARGEST)
        return cls(m, _require_telling("epsilon", epsilon), 1, blocks)

    @property
    def asked(self) -> int:
        """Most comparisons that one voter can be asked for: KwikSort compares no pair twice, and blocks take turns."""
        return -(-math.comb(self.n_items, 2) // self.blocks)

    @property
    def guarantee(self) -> Guarantee:
        """Of the whole transcript: all reports of a voter, and those to the fallback if a run can get there.

        Attained by two opposite rankings, if they attain the fallback's.
        """
        reports = Guarantee(min(self.reports, self.asked) * self.report_epsilon, model="local")
        lasts = self.reports >= self.asked
        return reports if self.fallback is None or lasts else compose(reports, self.fallback.guarantee)

    def release(self, data: Rankings, rng: np.random.Generator) -> Ranking:
        """One private order; O(voters * comparisons / blocks).

        Parameters
        ----------
        data : Rankings
            Of `n_items` items by at least `blocks` voters, whose number is public.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            Where the number of items differs, or voters are too few.
        """
        order = self.sort(self.poll(data, rng))
        if order is None:
            assert self.fallback is not None
            order = self.fallback.release(data, rng).order
        return Ranking(data.items, order, mechanism=self, source=source_of(rng, self))

    def poll(self, data: Rankings, rng: np.random.Generator) -> AdaptiveAnswers:
        """Voters who answer by this design; none asked yet."""
        return AdaptiveAnswers(self, data, rng)

    def sort(self, answers: AdaptiveAnswers) -> NDArray[np.int64] | None:
        """KwikSort on such answers.

        Parameters
        ----------
        answers : AdaptiveAnswers
            Of this design; none asked yet.

        Returns
        -------
        ndarray of int, shape (n_items,), or None
            Item codes, best first; None where a block is used up and there is a fallback.
        """
        rng, order = answers.rng, list[int]()
        calls = [list(range(self.n_items))]
        while calls:
            items = calls.pop()
            if len(items) < 2:
                order += items
                continue
            pivot = int(rng.choice(items))
            before, behind = list[int](), list[int]()
            for item in items:
                if item == pivot:
                    continue
                answer = answers.query(item, pivot)
                if answer is None and self.fallback is not None:
                    return None
                if answer is None or answer == 0.5:
                    answer = rng.random()
                (before if answer > 0.5 else behind).append(item)
            calls += [behind, [pivot], before]
        return np.array(order)


class AdaptiveAnswers:
    """Blocks of voters that answer comparisons one after the other (Algorithm 2, mended).

    A query asks one block which of two items comes first; each of its voters sends one randomised report, and their
    mean is the answer. A block is used up when its voters have sent as many reports as `design` allows.

    Parameters
    ----------
    design : LocalKwikSort
        Its blocks and reports; its recursion is not run.
    data : Rankings
        One ranking a voter; at least as many voters as blocks.
    rng : numpy.random.Generator

    Attributes
    ----------
    load : ndarray of int, shape (blocks,)
        How many queries every block has answered.
    sent : ndarray of int, shape (voters,)
        How many reports every voter has sent.
    asked : int
        Queries so far.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> from dprank import LocalKwikSort, Rankings
    >>> votes = Rankings([[0, 1]] * 4, ["roads", "schools"])
    >>> design = LocalKwikSort(n_items=2, report_epsilon=30.0, reports=1, blocks=1)
    >>> answers = design.poll(votes, np.random.default_rng(0))
    >>> round(answers.query(0, 1), 9)  # the fraction of voters who put the first item first
    1.0
    >>> answers.query(0, 1) is None  # they have sent what they may
    True
    """

    def __init__(self, design: LocalKwikSort, data: Rankings, rng: np.random.Generator) -> None:
        require_rankings(data, design.n_items)
        if len(data) < design.blocks:
            raise ValueError(f"data have too few voters; at least blocks = {design.blocks} are needed")
        self.rng = require_generator(rng, "floating-point coins are for research")
        self.design, self.positions = design, data.positions
        order, (size, more) = self.rng.permutation(len(data)), divmod(len(data), design.blocks)
        ends = [block * size + min(block, more) for block in range(design.blocks + 1)]
        self.members = [order[start:end] for start, end in pairwise(ends)]
        self.load = np.zeros(design.blocks, np.int64)
        self.sent = np.zeros(len(data), np.int64)
        self.asked = 0

    def query(self, j: int, i: int) -> float | None:
        """Estimated fraction of voters that put j before i, unbiased; None if the block is used up."""
        block = self.block_of(j, i)
        self.asked += 1
        if self.load[block] == self.design.reports:
            return None
        self.load[block] += 1
        return self.collect(block, j, i)

    def block_of(self, j: int, i: int) -> int:
        """Number of the block that is asked next, about this pair."""
        return self.asked % self.design.blocks

    def collect(self, block: int, j: int, i: int) -> float:
        """The answer of a block, every voter of which sends one report more."""
        members = self.members[block]
        self.sent[members] += 1
        return self.answer(int((self.positions[members, j] < self.positions[members, i]).sum()), len(members))

    def answer(self, yes: int, size: int) -> float:
        """The mean of the reports of a block of this size, so many of whose voters say yes, scaled to a fraction."""
        no_plus, yes_plus = plus_chances(self.design.report_epsilon)
        plus = binomial(yes, yes_plus, rng=self.rng) + binomial(size - yes, no_plus, rng=self.rng)
        return float((1 + (2 * plus / size - 1) / math.tanh(self.design.report_epsilon / 2)) / 2)
