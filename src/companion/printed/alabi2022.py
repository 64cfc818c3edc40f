"""Alabi, Ghazi, Kumar and Manurangsi (2022) as printed: their calibrations, and their Algorithms 2 and 3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from companion.printed import Printed
from dprank._require import require_one_of, require_positive, require_probability, require_whole
from dprank.aggregation.laws import noisy_matrix_law, ordered
from dprank.aggregation.local_kwiksort import AdaptiveAnswers, LocalKwikSort
from dprank.aggregation.local_laws import Transcript, draw_transcripts, report_law, transcripts_law
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import Estimates, Flipped, ranking_signs
from dprank.aggregation.rules import Rule
from dprank.aggregation.sent_reports import net_wins
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.models.draws import binomial
from dprank.privacy.divergence import Divergence, PairLaw
from dprank.privacy.guarantee import Guarantee, Mechanism, compose, require_promise
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.privacy.noise import Source
from dprank.privacy.randomized_response import GRAIN, flips_for, randomise, require_telling
from dprank.privacy.reports import random_lists, require_lists

Report = Literal["centred", "printed"]
Assignment = Literal["fresh", "random"]
Counter = Literal["query", "voter", "copied"]


#: Standard deviations between a margin and the bound of clipping beyond which clipping is not seen.
CLEAR = 9


@dataclass(frozen=True)
class ClippedMatrix(NoisyMatrix):
    """A noisy matrix whose fractions are clipped to [0, 1] before the rule (footnote 2), which may change the order.

    Fractions need the number of voters, which the adjacency "add_remove" keeps private.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("adjacency", self.adjacency, ("replace",))

    def additive_error(self, n_voters: int) -> float:
        """None is proved."""
        raise ValueError("no error is proved for clipped fractions")

    def noisy_margins(self, data: Rankings | Ballots, rng: Source) -> NDArray[np.float64]:
        """Margins with noise, no larger than the number of voters."""
        return np.clip(super().noisy_margins(data, rng), -len(data), len(data))


@exact.register
def clipped_matrix_law(mechanism: ClippedMatrix, data: Rankings, other: Rankings) -> Divergence:
    """Of the noisy margins.

    Clipping hides nothing of Laplace noise at delta 0: all noise may point one way. Where it would hide some of
    Gaussian noise there is no exact route.
    """
    if mechanism.noise == "gaussian":
        most = max(np.abs(votes - votes.T).max() for votes in (data.pairwise(), other.pairwise()))
        if (len(data) - most) / 2 < CLEAR * mechanism.scale:
            raise NoExactRoute("margins are too near to being clipped: no exact law of Gaussian noise")
    return noisy_matrix_law(mechanism, data, other)


@sample.register
def draw_clipped_matrices(
    mechanism: ClippedMatrix, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders, and the margins of all pairs."""
    votes = data.pairwise()
    margins = mechanism.perturb(np.tile(votes - votes.T, (size, 1, 1)), rng)
    return ordered(mechanism, np.clip(margins, -len(data), len(data)), rng)


def corollary_3(n_items: int, epsilon: float, *, rule: Rule = "auto") -> Printed:
    """Corollary 3: Laplace(m^2 / (epsilon n)) on the fractions of n voters, clipped (footnote 2); counts have no n."""
    n_items, epsilon = require_whole("n_items", n_items, 2), require_positive("epsilon", epsilon)
    mechanism = ClippedMatrix(n_items, n_items**2 / epsilon, law="continuous", rule=rule)
    return Printed(mechanism, claims=Guarantee(epsilon))


def corollary_4(n_items: int, epsilon: float, delta: float, *, constant: float = 1.0, rule: Rule = "auto") -> Printed:
    """Corollary 4: Gaussian noise of deviation ``constant`` m sqrt(log(1 / delta)) / (epsilon n) on the fractions."""
    n_items, epsilon = require_whole("n_items", n_items, 2), require_positive("epsilon", epsilon)
    constant, delta = require_positive("constant", constant), require_probability("delta", delta)
    scale = constant * n_items / epsilon * math.sqrt(math.log(1 / delta))
    mechanism = ClippedMatrix(n_items, scale, "gaussian", delta=delta, law="continuous", rule=rule)
    return Printed(mechanism, claims=Guarantee(epsilon, delta))


def corollary_6(n_items: int, queries: int, epsilon: float, *, rule: Rule = "auto") -> Printed:
    """Corollary 6, of Algorithm 1: Laplace(q / (epsilon n)) on an answer, and Corollary 3 with half of epsilon at last.

    From m (m - 1) / 2 queries on, no run falls back.
    """
    epsilon, asked = require_positive("epsilon", epsilon), require_whole("queries", queries, 1)
    made, fallback = _fallback(n_items, asked, epsilon, rule)
    mechanism = PrivateKwikSort(n_items, made, asked / epsilon, fallback, "laplace", law="continuous")
    return Printed(mechanism, claims=Guarantee(epsilon))


def corollary_7(
    n_items: int, queries: int, epsilon: float, delta: float, *, constant: float = 1.0, rule: Rule = "auto"
) -> Printed:
    """Corollary 7: `corollary_6` with Gaussian answers, deviation ``constant`` sqrt(q log(1 / delta)) / (epsilon n)."""
    epsilon, asked = require_positive("epsilon", epsilon), require_whole("queries", queries, 1)
    delta, constant = require_probability("delta", delta), require_positive("constant", constant)
    made, fallback = _fallback(n_items, asked, epsilon, rule)
    scale = constant * math.sqrt(asked * math.log(1 / delta)) / epsilon
    mechanism = PrivateKwikSort(n_items, made, scale, fallback, "gaussian", delta=delta, law="continuous")
    return Printed(mechanism, claims=Guarantee(epsilon, delta))


def _fallback(n_items: int, asked: int, epsilon: float, rule: Rule) -> tuple[int, NoisyMatrix | None]:
    """Queries that are made at most, and what ranks where more are wanted."""
    matrix = corollary_3(n_items, epsilon / 2, rule=rule).mechanism
    made = min(asked, matrix.n_pairs)
    return made, matrix if made < matrix.n_pairs else None


def report_loss(epsilon_0: float, report: Report = "printed") -> float:
    """Exact privacy loss of one report; the answer yes is a plus with probability ``1 / (1 + exp(-epsilon_0))``.

    Other voters send a plus with probability ``1 / (1 + exp(epsilon_0))`` if centred; in Algorithm 2 as printed, 1/2.
    """
    epsilon_0 = require_positive("epsilon_0", epsilon_0)
    require_one_of("report", report, get_args(Report))
    if report == "centred":
        return epsilon_0
    return math.log1p(math.expm1(epsilon_0) / 2) if epsilon_0 < 1 else float(np.logaddexp(0, epsilon_0)) - math.log(2)


def plus_chances(epsilon_0: float, report: Report = "printed") -> tuple[float, float]:
    """Probabilities of a plus from a voter whose answer is no, and from one whose answer is yes; see `report_loss`."""
    yes = 1 / (1 + math.exp(-require_positive("epsilon_0", epsilon_0)))
    require_one_of("report", report, get_args(Report))
    return (1 - yes if report == "centred" else 0.5), yes


#: An exact law asks for the same ones at every answer.
_plus_chances = cache(plus_chances)


@dataclass(frozen=True)
class PrintedPair(Flipped):
    """One random pair, answered as in Algorithm 2: a fair coin where the answer is no (w = 0).

    The answer is no where it is yes with probability `flips` times 2^-53; `flips` is 1 to 2^52 - 1.
    """

    estimates: ClassVar[Estimates] = "signs"

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int) -> Self:
        """The same shape of answer with all of `epsilon`, above 0, used up."""
        epsilon = require_positive("epsilon", epsilon)
        flips = max(1, math.ceil(GRAIN / 2 * math.exp(-epsilon)))
        while _pair_loss(flips) > epsilon and flips < GRAIN // 2:
            flips += 1
        return cls(n_items, require_telling(flips, epsilon))

    @property
    def loss(self) -> float:
        """Attained by the answer no, of two rankings that differ in the pair."""
        return _pair_loss(self.flips)

    @property
    def variance(self) -> float:
        """Attained where the answer is no; lower by 4 where it is yes."""
        return 4 * self.n_pairs / self.kept**2

    def report(self, positions: NDArray[Any], rng: Source) -> NDArray[np.int64]:
        """Two items a voter, the answer yes being the lower code first; shape (voters, 2)."""
        asked = np.sort(random_lists(len(positions), self.n_items, 2, rng), axis=1)
        places = np.take_along_axis(positions, asked, 1)
        no = places[:, 0] > places[:, 1]
        yes = np.ones(len(positions), np.int8)
        answer = np.where(no, randomise(yes, GRAIN // 2, rng), randomise(yes, self.flips, rng))
        return np.where(answer[:, None] > 0, asked, asked[:, ::-1])

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Twice the estimated fractions, less 1."""
        return 2 * net_wins(reports, self.n_items) * self.n_pairs / (len(reports) * self.kept) - 1

    def checked(self, reports: Any) -> NDArray[Any]:
        """Refuse what is no table of two items a row."""
        return require_lists(reports, 2, self.n_items)


def _pair_loss(flips: int) -> float:
    """log of the odds of "no" where it is true against where it is not, rounded up."""
    return math.nextafter(math.nextafter(math.log1p((GRAIN - 2 * flips) / (2 * flips)), math.inf), math.inf)


@report_law.register
def printed_pair_law(randomiser: PrintedPair, positions: NDArray[Any]) -> NDArray[np.float64]:
    """The answers yes of all pairs, then the answers no."""
    yes = np.where(ranking_signs(positions) > 0, 1 - randomiser.flips / GRAIN, 0.5)
    return np.concatenate([yes, 1 - yes], axis=1) / randomiser.n_pairs


def algorithm_2(n_items: int, epsilon: float) -> Printed:
    """Algorithm 2's answer about one random pair a voter: d with chance (1 + w / d) / 2, else -d.

    ``d = (exp(epsilon) + 1) / (exp(epsilon) - 1)``. It spends log((1 + exp(epsilon)) / 2) only, about half of epsilon
    where that is small.
    """
    pair = PrintedPair(n_items, flips_for(epsilon))
    return Printed(LocalMatrix(pair), claims=Guarantee(epsilon, model="local"))


@dataclass(frozen=True)
class PrintedKwikSort(LocalKwikSort):
    """Algorithm 3 with Algorithm 2's answers: as printed, or partly mended; the guarantee is that of exact coins.

    `report_epsilon` is the paper's epsilon_0. `assignment`: the block that answers is drawn for the pair (Algorithm 2),
    or the next one in turn; the first has no use of its own: pairs meet in blocks, and a voter needs a report for each.
    `report`: see `report_loss`. `counter`: a block's counts queries; or, as printed, every voter of a query; or that,
    with the counters handed to the two recursive calls as copies, so that neither sees what the other asked.
    """

    most_epsilon: ClassVar[float] = math.inf

    assignment: Assignment = "random"
    report: Report = "printed"
    counter: Counter = "copied"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed in (("assignment", Assignment), ("report", Report), ("counter", Counter)):
            require_one_of(name, getattr(self, name), get_args(allowed))
        require_promise(self.report_epsilon, self.guarantee.epsilon, "report_epsilon")

    @property
    def asked(self) -> int:
        """Most comparisons that one voter can be asked for."""
        return super().asked if self.assignment == "fresh" else math.comb(self.n_items, 2)

    @property
    def guarantee(self) -> Guarantee:
        """Of the whole transcript: all reports of a voter, and those to the fallback if a run can get there.

        Attained by two opposite rankings where the counter counts queries, if they attain the fallback's; an upper
        bound otherwise. Copied counters bound nothing: a voter is asked at most once about every pair, and fresh blocks
        share the pairs.
        """
        most = self.asked if self.counter == "copied" else min(self.reports, self.asked)
        reports = Guarantee(most * report_loss(self.report_epsilon, self.report), model="local")
        lasts = self.counter == "query" and self.reports >= self.asked
        return reports if self.fallback is None or lasts else compose(reports, self.fallback.guarantee)

    def poll(self, data: Rankings, rng: np.random.Generator) -> PrintedAnswers:
        """Voters who answer by this design; none asked yet."""
        return PrintedAnswers(self, data, rng)

    def sort(self, answers: AdaptiveAnswers) -> NDArray[np.int64] | None:
        """KwikSort on such answers, with the counters of the design."""
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


class PrintedAnswers(AdaptiveAnswers):
    """Algorithm 2, with the assignment, the report and the counters (`load`, one a block) of a `PrintedKwikSort`."""

    design: PrintedKwikSort

    def __init__(self, design: PrintedKwikSort, data: Rankings, rng: np.random.Generator) -> None:
        super().__init__(design, data, rng)
        self.drawn: dict[tuple[int, int], int] = {}

    def query(self, j: int, i: int) -> float | None:
        """Estimated fraction of voters that put j before i, unbiased; None if the block is used up."""
        design, block = self.design, self.block_of(j, i)
        self.asked += 1
        members = self.members[block]
        step = 1 if design.counter == "query" else len(members)
        room = design.reports - int(self.load[block])
        self.load[block] += step
        if step > room:
            if design.counter != "query":
                self.sent[members[: max(room, 0)]] += 1
            return None
        return self.collect(block, j, i)

    def block_of(self, j: int, i: int) -> int:
        """Drawn once for every pair, as printed for every ordered one; or the next in turn."""
        if self.design.assignment == "fresh":
            return super().block_of(j, i)
        pair = (j, i) if self.design.report == "printed" else (min(j, i), max(j, i))
        if pair not in self.drawn:
            self.drawn[pair] = int(self.rng.integers(self.design.blocks))
        return self.drawn[pair]

    def answer(self, yes: int, size: int) -> float:
        """The mean of the reports: that of the printed ones is the fraction itself."""
        epsilon_0, report = self.design.report_epsilon, self.design.report
        no_plus, yes_plus = _plus_chances(epsilon_0, report)
        plus = binomial(yes, yes_plus, rng=self.rng) + binomial(size - yes, no_plus, rng=self.rng)
        signal = (2 * plus / size - 1) / math.tanh(epsilon_0 / 2)
        return float((1 + signal) / 2 if report == "centred" else signal)


class PrintedTranscript(Transcript, PrintedAnswers):
    """What one voter sends to Algorithm 3."""


@exact.register
def printed_kwiksort_law(mechanism: PrintedKwikSort, data: Any, other: Any) -> PairLaw:
    """Of one voter's transcript, in a poll with one voter in every block."""
    return transcripts_law(PrintedTranscript, mechanism, data, other)


@sample.register
def draw_printed_kwiksort(
    mechanism: PrintedKwikSort, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Transcripts of one voter."""
    return draw_transcripts(PrintedTranscript, mechanism, data, size, rng)


def algorithm_3(
    n_items: int, queries: int, epsilon: float, *, counter: Counter = "copied", fallback: Mechanism | None = None
) -> Printed:
    """Algorithm 3 with what Algorithm 2 sets: m blocks, epsilon_0 = epsilon m / (2 q), a threshold of 2 q / m reports.

    The proof of Lemma 10 counts each "query". The paper's fallback has the budget epsilon / 2.
    """
    m = require_whole("n_items", n_items, 2)
    q, epsilon = require_whole("queries", queries, -(-m // 2)), require_positive("epsilon", epsilon)
    budget = epsilon * m / (2 * q)
    if not 0 < budget < math.inf:
        raise ValueError(f"epsilon = {epsilon}; {budget} a report is out of range")
    mechanism = PrintedKwikSort(m, budget, 2 * q // m, m, fallback, counter=counter)
    return Printed(mechanism, claims=Guarantee(epsilon, model="local"))
