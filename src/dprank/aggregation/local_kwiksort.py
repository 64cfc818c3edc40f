"""KwikSort among voters who trust nobody: blocks of voters answer the comparisons that it makes (Algorithms 2 and 3).

Research code: the coins are floats, and the voters are simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import (
    require_claim,
    require_generator,
    require_one_of,
    require_positive,
    require_probability,
    require_real,
    require_whole,
    settle,
)
from dprank.aggregation.kwiksort import MOST_COUNTED, queries
from dprank.data.rankings import Rankings, require_rankings
from dprank.models.draws import binomial
from dprank.privacy.guarantee import Guarantee, Mechanism, compose, require_promise
from dprank.release import Ranking, source_of

Report = Literal["centred", "printed"]
Assignment = Literal["fresh", "random"]
Counter = Literal["query", "voter", "copied"]
#: Of one calibrated report: beyond, chances that are floats no longer have the ratio that is promised.
LARGEST = 30.0


def report_loss(epsilon_0: float, report: Report = "centred") -> float:
    """Exact privacy loss of one report.

    Parameters
    ----------
    epsilon_0 : float
        Above 0. A voter for whom the answer is yes sends a plus with probability ``1 / (1 + exp(-epsilon_0))``.
    report : {"centred", "printed"}
        Otherwise a plus has the probability ``1 / (1 + exp(epsilon_0))``; in Algorithm 2 as printed, 1/2.
    """
    epsilon_0 = require_positive("epsilon_0", epsilon_0)
    require_one_of("report", report, get_args(Report))
    if report == "centred":
        return epsilon_0
    return math.log1p(math.expm1(epsilon_0) / 2) if epsilon_0 < 1 else float(np.logaddexp(0, epsilon_0)) - math.log(2)


def plus_chances(epsilon_0: float, report: Report = "centred") -> tuple[float, float]:
    """Probabilities of a plus from a voter whose answer is no, and from one whose answer is yes; see `report_loss`."""
    yes = 1 / (1 + math.exp(-require_positive("epsilon_0", epsilon_0)))
    require_one_of("report", report, get_args(Report))
    return (1 - yes if report == "centred" else 0.5), yes


@dataclass(frozen=True)
class LocalKwikSort:
    """KwikSort whose comparisons are put to blocks of voters (Algorithm 3 of Alabi et al. 2022, mended).

    The voters are cut at random into blocks whose sizes differ by at most one. A comparison is put to one block, every
    voter of which sends one randomised sign. A voter sends at most `reports` of them; a block that is used up answers
    no more. Then `fallback` ranks all items from reports of its own; without one, fair coins replace the answers.

    Parameters
    ----------
    n_items : int
        At least 2.
    epsilon_0 : float
        Of one report, see `report_loss`; above 0. The guarantee is that of exact coins. Ours are floats, which keep to
        it up to 30, and are certain of the answer beyond 37.
    reports : int
        How many a voter sends at most; at least 1.
    blocks : int
        At least 1; the data must have as many voters.
    assignment : {"fresh", "random"}
        Which block answers: the next one in turn (Bassily 2019), or one drawn for the pair (Algorithm 2).
    report : {"centred", "printed"}
        See `report_loss`.
    counter : {"query", "voter", "copied"}
        What a block's counter counts: queries; or, as printed, every voter of a query; or that, with the counters
        handed to the two recursive calls as copies, so that neither sees what the other asked.
    fallback : Mechanism, optional
        A local one, of as many items, whose release has an `order`.
    claimed_epsilon : float, optional
        What the paper says of this calibration. It enters nothing.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LocalKwikSort.calibrated : what to use at a given epsilon.
    LocalKwikSort.as_printed : the paper's own calibration.
    """

    n_items: int
    epsilon_0: float
    reports: int
    blocks: int
    assignment: Assignment = "fresh"
    report: Report = "centred"
    counter: Counter = "query"
    fallback: Mechanism | None = None
    claimed_epsilon: float | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            epsilon_0=require_positive("epsilon_0", self.epsilon_0),
            reports=require_whole("reports", self.reports, 1),
            blocks=require_whole("blocks", self.blocks, 1),
            claimed_epsilon=require_claim(self.claimed_epsilon),
        )
        for name, allowed in (("assignment", Assignment), ("report", Report), ("counter", Counter)):
            require_one_of(name, getattr(self, name), get_args(allowed))
        if self.fallback is not None:
            require_one_of("fallback.guarantee.model", self.fallback.guarantee.model, ("local",))
            require_one_of("fallback.n_items", getattr(self.fallback, "n_items", self.n_items), (self.n_items,))
        require_promise(self.epsilon_0, self.guarantee.epsilon, "epsilon_0")

    @classmethod
    def as_printed(
        cls,
        n_items: int,
        queries: int,
        epsilon: float,
        *,
        counter: Counter = "copied",
        fallback: Mechanism | None = None,
    ) -> Self:
        """Algorithm 3 with what Algorithm 2 sets: epsilon_0 = epsilon m / (2 q) and a threshold of 2 q / m reports.

        Parameters
        ----------
        n_items : int
            The paper's m, and the number of blocks.
        queries : int
            The paper's q, at least m / 2.
        epsilon : float
            Claimed.
        counter : {"copied", "voter", "query"}
            The last one is what the proof of Lemma 10 counts.
        fallback : Mechanism, optional
            The paper's has the budget epsilon / 2.
        """
        m = require_whole("n_items", n_items, 2)
        q, epsilon = require_whole("queries", queries, -(-m // 2)), require_positive("epsilon", epsilon)
        budget = epsilon * m / (2 * q)
        if not 0 < budget < math.inf:
            raise ValueError(f"epsilon = {epsilon}; {budget} a report is out of range")
        return cls(m, budget, 2 * q // m, m, "random", "printed", counter, fallback, claimed_epsilon=epsilon)

    @classmethod
    def calibrated(cls, n_items: int, epsilon: float, *, tail: float = 1e-6) -> Self:
        """One centred report a voter with the whole budget, and as many blocks as KwikSort needs.

        Parameters
        ----------
        n_items : int
            2 to 256, for which QuickSort's law is computed.
        epsilon : float
            Above 0, at most 30: up to there coins that are floats keep to it.
        tail : float
            At least 1e-12, below 1. Chance, at most, that the blocks do not last for a tournament without cycles; for
            any other it is at most 30 times that, by Chernoff's bound. Then coins decide the rest, which costs that
            chance times m (m - 1) / 2 at most: no fallback is worth its budget.
        """
        m = require_whole("n_items", n_items, 2, MOST_COUNTED)
        blocks = min(queries(m, require_probability("tail", tail)), math.comb(m, 2))
        needed = f"it must lie in (0, {LARGEST:g}]"
        return cls(m, require_real("epsilon", epsilon, needed, lambda x: 0 < x <= LARGEST), 1, blocks)

    @property
    def guarantee(self) -> Guarantee:
        """Of the whole transcript: all reports of a voter, and those to the fallback if a run can get there.

        Attained by two opposite rankings where the counter counts queries, if they attain the fallback's; an upper
        bound otherwise. Copied counters bound nothing: a voter is asked at most once about every pair, and fresh blocks
        share the pairs.
        """
        pairs = math.comb(self.n_items, 2)
        asked = -(-pairs // self.blocks) if self.assignment == "fresh" else pairs
        most = asked if self.counter == "copied" else min(self.reports, asked)
        reports = Guarantee(most * report_loss(self.epsilon_0, self.report), model="local")
        lasts = self.counter == "query" and self.reports >= asked
        return reports if self.fallback is None or lasts else compose(reports, self.fallback.guarantee)

    def release(self, data: Rankings, rng: np.random.Generator) -> Ranking:
        """One private order; O(voters * comparisons / blocks).

        Parameters
        ----------
        data : Rankings
            Of `n_items` items by at least `blocks` voters.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            Where the number of items differs, or voters are too few.
        """
        order = self.sort(AdaptiveAnswers(self, data, rng))
        if order is None:
            assert self.fallback is not None
            order = self.fallback.release(data, rng).order
        return Ranking(data.items, order, mechanism=self, source=source_of(rng, self))

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
        calls: list[tuple[list[int], NDArray[np.int64]]] = [(list(range(self.n_items)), answers.load)]
        while calls:
            items, answers.load = calls.pop()
            if len(items) < 2:
                order += items
                continue
            pivot = int(rng.choice(items))
            sides: tuple[list[int], list[int]] = ([], [])
            for item in items:
                if item == pivot:
                    continue
                answer = answers.query(item, pivot)
                if answer is None and self.fallback is not None:
                    return None
                if answer is None or (answer == 0.5 and self.report == "centred"):
                    answer = rng.random()
                sides[answer <= 0.5].append(item)
            left, right = (answers.load.copy() if self.counter == "copied" else answers.load for _ in sides)
            calls += [(sides[1], right), ([pivot], left), (sides[0], left)]
        return np.array(order)


class AdaptiveAnswers:
    """Algorithm 2: blocks of voters that answer comparisons one after the other.

    A query asks one block which of two items comes first; each of its voters sends one randomised report, and their
    mean is the answer. A block is used up when its voters have sent as many reports as `design` allows.

    Parameters
    ----------
    design : LocalKwikSort
        Its blocks, reports and counter; its recursion is not run.
    data : Rankings
        One ranking a voter; at least as many voters as blocks.
    rng : numpy.random.Generator

    Attributes
    ----------
    load : ndarray of int, shape (blocks,)
        The counters.
    sent : ndarray of int, shape (voters,)
        How many reports every voter has sent.
    asked : int
        Queries so far.
    """

    def __init__(self, design: LocalKwikSort, data: Rankings, rng: np.random.Generator) -> None:
        require_rankings(data, design.n_items)
        if len(data) < design.blocks:
            raise ValueError(f"data have too few voters; at least blocks = {design.blocks} are needed")
        self.rng = require_generator(rng, "floating-point coins are for research")
        self.design, self.positions = design, data.positions
        self.members = np.array_split(self.rng.permutation(len(data)), design.blocks)
        self.load = np.zeros(design.blocks, np.int64)
        self.sent = np.zeros(len(data), np.int64)
        self.asked = 0
        self._block: dict[tuple[int, int], int] = {}

    def query(self, j: int, i: int) -> float | None:
        """Estimated fraction of voters that put j before i, unbiased; None if the block is used up."""
        design, block = self.design, self._block_of(j, i)
        self.asked += 1
        members = self.members[block]
        step = 1 if design.counter == "query" else len(members)
        room = design.reports - int(self.load[block])
        self.load[block] += step
        if step > room:
            if design.counter != "query":
                self.sent[members[: max(room, 0)]] += 1
            return None
        self.sent[members] += 1
        yes = int((self.positions[members, j] < self.positions[members, i]).sum())
        chances = plus_chances(design.epsilon_0, design.report)
        plus = binomial(yes, chances[1], rng=self.rng) + binomial(len(members) - yes, chances[0], rng=self.rng)
        signal = (2 * plus / len(members) - 1) / math.tanh(design.epsilon_0 / 2)
        return float((1 + signal) / 2 if design.report == "centred" else signal)

    def _block_of(self, j: int, i: int) -> int:
        if self.design.assignment == "fresh":
            return self.asked % self.design.blocks
        pair = (j, i) if self.design.report == "printed" else (min(j, i), max(j, i))
        if pair not in self._block:
            self._block[pair] = int(self.rng.integers(self.design.blocks))
        return self._block[pair]
