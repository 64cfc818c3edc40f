"""Local mechanisms: what one voter sends, whoever listens.

Every report is a draw from a finite list, or a direction on one of two sides of the voter's own: all have exact laws.
Of `LocalKwikSort` the voter's whole transcript is audited, in a poll with one voter in every block.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, singledispatch
from itertools import chain, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_kwiksort import AdaptiveAnswers, LocalKwikSort
from dprank.aggregation.local_reports import OneRound
from dprank.aggregation.randomisers import OrderReport, SampledOrder, SplitResponse, ranking_signs
from dprank.aggregation.sent_reports import is_full, require_votes
from dprank.data.rankings import Rankings
from dprank.privacy.coins import law_of
from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import NoExactRoute, exact, features, sample, signs_law
from dprank.privacy.randomized_response import GRAIN

__all__ = [
    "Polled",
    "Transcript",
    "completions",
    "cube_law",
    "draw_local_kwiksort",
    "draw_reports",
    "draw_transcripts",
    "local_kwiksort_law",
    "one_round_law",
    "order_report_law",
    "poll_of",
    "report_law",
    "sampled_order_law",
    "sides_law",
    "split_response_law",
    "transcript_features",
    "transcripts_law",
]

# --- laws of one report ----------------------------------------------------------------------------------------------


@singledispatch
def report_law(randomiser: Any, positions: NDArray[Any]) -> NDArray[np.float64]:
    """Probability of every report under every given ranking, by enumeration.

    Parameters
    ----------
    randomiser : Randomiser
        Of few items. A new one registers its own law: ``@report_law.register``.
    positions : ndarray of int, shape (rankings, items)

    Returns
    -------
    ndarray of float, shape (rankings, reports)
        Reports in the same order under every ranking: sign vectors as in `signs_law`, or lists of items in
        lexicographic order.

    Raises
    ------
    ValueError
        If the reports cannot be listed.

    Examples
    --------
    >>> pair = SampledOrder.calibrated(epsilon=math.log(3), n_items=2)
    >>> report_law(pair, np.array([[0, 1], [1, 0]])).round(9).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    raise ValueError(f"randomiser = {shown(randomiser)}; its reports cannot be listed")


@report_law.register
def split_response_law(randomiser: SplitResponse, positions: NDArray[Any]) -> NDArray[np.float64]:
    """Every sign by a coin of its own.

    Examples
    --------
    >>> naive = SplitResponse(n_items=2, flips=GRAIN // 4)  # turns its one sign with probability 1/4
    >>> split_response_law(naive, np.array([[0, 1], [1, 0]])).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    return signs_law(ranking_signs(positions), randomiser.flips / GRAIN)


@report_law.register
def cube_law(randomiser: VectorReport, positions: NDArray[Any]) -> NDArray[np.float64]:
    """Of vectors of signs; those of the ball cannot be listed.

    Examples
    --------
    >>> one_sign = VectorReport(n_items=2, flips=GRAIN // 4, geometry="cube")
    >>> cube_law(one_sign, np.array([[0, 1], [1, 0]])).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    if randomiser.geometry != "cube":
        raise ValueError(f"randomiser = {shown(randomiser)}; its reports cannot be listed")
    sent = np.array(list(product((-1, 1), repeat=randomiser.n_pairs)))
    sides = np.sign(ranking_signs(positions).astype(int) @ sent.T)
    return np.asarray((1 + randomiser.kept * sides) / len(sent))


@report_law.register
def sampled_order_law(randomiser: SampledOrder, positions: NDArray[Any]) -> NDArray[np.float64]:
    """Lists in the voter's order have its chance besides that of any list.

    Examples
    --------
    >>> both = SampledOrder(n_items=2, length=2, kept=GRAIN // 2)  # the voter's order half the time, else any
    >>> sampled_order_law(both, np.array([[0, 1], [1, 0]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    lists = np.array(list(permutations(range(randomiser.n_items), randomiser.length)))
    own = (np.diff(positions[:, lists], axis=-1) > 0).all(-1)
    orders = math.factorial(randomiser.length)
    share = orders / len(lists)
    return np.asarray(share * (randomiser.shrinkage * own + (1 - randomiser.shrinkage) / orders))


@report_law.register
def order_report_law(randomiser: OrderReport, positions: NDArray[Any]) -> NDArray[np.float64]:
    """That of the order.

    Examples
    --------
    >>> sent = OrderReport(SampledOrder(n_items=2, length=2, kept=GRAIN // 2))
    >>> order_report_law(sent, np.array([[0, 1]])).tolist()
    [[0.75, 0.25]]
    """
    return report_law(randomiser.order, positions)


def sides_law(one: NDArray[Any], other: NDArray[Any], turned: float) -> PairLaw:
    """Laws of a random direction that is put on the side of one of two vectors, or of the other.

    Parameters
    ----------
    one, other : ndarray, shape (dimensions,)
    turned : float
        Probability of the side away from the vector.

    Notes
    -----
    Given that it lies on some side of both, a direction is uniform: all that tells is on which. A random direction lies
    on the same side of two vectors with probability 1 - angle / pi.

    Examples
    --------
    >>> opposite = sides_law(np.array([1, 1]), np.array([-1, -1]), turned=0.25)
    >>> round(math.exp(opposite.epsilon(0)), 6)  # odds of 3/4 to 1/4
    3.0
    """
    cosine = one @ other / math.sqrt((one @ one) * (other @ other))
    apart = math.acos(min(1.0, max(-1.0, cosine))) / math.pi
    towards = np.array([1 - turned, turned])
    sides = np.array([[1 - apart, apart], [apart, 1 - apart]])
    return pair_of((sides * towards[:, None]).ravel(), (sides * towards).ravel())


def _centred(positions: NDArray[Any]) -> NDArray[np.float64]:
    """Places about their middle."""
    return np.asarray(positions - np.mean(positions))


def completions(places: NDArray[Any]) -> NDArray[np.int64]:
    """Every full ranking that `dprank.aggregation.sent_reports.completed` may make of a ballot, as often as is likely.

    Parameters
    ----------
    places : ndarray of int, shape (items,)
        As of `dprank.data.ballots.as_orders`.

    Returns
    -------
    ndarray of int, shape (rankings, items)
        Of a full ranking itself alone; at most 2 items! rows.

    Examples
    --------
    >>> completions(np.array([0, 1, 1])).tolist()
    [[0, 1, 2], [0, 2, 1]]
    >>> completions(np.array([0, 1, -1])).tolist()
    [[0, 1, 2], [1, 2, 0]]
    """
    tiers = [np.flatnonzero(places == place) for place in range(int(places.max(initial=-1)) + 1)]
    gaps = np.flatnonzero(places < 0)
    ordered = [[*tiers, gaps], [gaps, *tiers]] if len(gaps) and tiers else [[*tiers, gaps]]
    orders = [[*chain(*parts)] for all_tiers in ordered for parts in product(*map(permutations, all_tiers))]
    return np.argsort(np.array(orders), axis=1)


@exact.register
def one_round_law(mechanism: OneRound, data: Any, other: Any) -> PairLaw:
    """Of one voter's report: by the side that a direction lies on, else by enumeration of all coins.

    Examples
    --------
    >>> from dprank import LocalMatrix
    >>> poll = LocalMatrix.calibrated(epsilon=1.0, n_items=3)
    >>> round(one_round_law(poll, [0, 1, 2], [2, 1, 0]).epsilon(0), 6)
    1.0
    """
    randomiser, both = mechanism.randomiser, require_votes([data, other], mechanism.n_items)
    match randomiser:
        case VectorReport(geometry="ball") | PositionVector() if not is_full(both).all():
            raise NoExactRoute("directions on the side of one of several rankings, as ties and gaps have them: no law")
        case VectorReport(geometry="ball"):
            one, another = ranking_signs(both).astype(int)
            return sides_law(one, another, randomiser.flips / GRAIN)
        case PositionVector():
            return sides_law(_centred(both[0]), _centred(both[1]), randomiser.flips / GRAIN)
    return pair_of(*(report_law(randomiser, completions(places)).mean(axis=0) for places in both))


@sample.register
def draw_reports(mechanism: OneRound, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Of one voter.

    Examples
    --------
    >>> from dprank import LocalMatrix
    >>> poll = LocalMatrix.calibrated(epsilon=1.0, n_items=2)  # a report: both items, in some order
    >>> draw_reports(poll, [0, 1], 5, np.random.default_rng(1)).shape
    (5, 2)
    """
    return np.asarray(mechanism.sent(np.tile(require_votes([data], mechanism.n_items), (size, 1)), rng), float)


# --- KwikSort among voters -------------------------------------------------------------------------------------------


class Transcript(AdaptiveAnswers):
    """A poll of `LocalKwikSort`, and what its first voter sends.

    Parameters
    ----------
    design : LocalKwikSort
    data : Rankings
        One voter for every block.
    rng : numpy.random.Generator

    Attributes
    ----------
    answers : ndarray of int, shape (items, items)
        At [j, i] what the voter sent when asked whether j comes before i: +1, -1, or 0 if not asked.
    fallback : bool
        Whether the run came to ask for a fallback.

    Examples
    --------
    >>> design = LocalKwikSort(n_items=2, report_epsilon=30.0, reports=1, blocks=1)
    >>> met = Transcript(design, Rankings([[0, 1]], "ab"), np.random.default_rng(1))
    >>> int(abs(met.answers).sum()), met.fallback  # one comparison sorts two items
    (1, False)
    """

    def __init__(self, design: LocalKwikSort, data: Rankings, rng: np.random.Generator) -> None:
        super().__init__(design, data, rng)
        self.answers = np.zeros((design.n_items, design.n_items), np.int64)
        self.fallback = design.sort(self) is None

    def query(self, j: int, i: int) -> float | None:
        """As in the parent; remembers what the first voter says."""
        before = self.sent[0]
        answer = super().query(j, i)
        if answer is not None and self.sent[0] > before:
            self.answers[j, i] = 1 if answer > 0.5 else -1
        return answer


def poll_of(design: LocalKwikSort, ranking: Any) -> Rankings:
    """One voter for every block: the first with this ranking, the others with the items in the order of their codes.

    What the others think matters little: at delta 0 nothing, for whatever they think they may give any answer.

    Examples
    --------
    >>> design = LocalKwikSort(n_items=3, report_epsilon=1.0, reports=1, blocks=2)
    >>> poll_of(design, [2, 0, 1]).positions.tolist()
    [[2, 0, 1], [0, 1, 2]]
    """
    others = np.tile(np.arange(design.n_items), (design.blocks - 1, 1))
    return Rankings(np.vstack([ranking, others]), [str(item) for item in range(design.n_items)])


@features.register
def transcript_features(result: Transcript) -> NDArray[np.float64]:
    """Answers oriented: positive where the item of the lower code is said to come first.

    Examples
    --------
    >>> design = LocalKwikSort(n_items=2, report_epsilon=30.0, reports=1, blocks=1)
    >>> met = Transcript(design, poll_of(design, [0, 1]), np.random.default_rng(1))
    >>> sorted(transcript_features(met).tolist())  # one pair in two directions, and no fallback
    [0.0, 0.0, 1.0]
    """
    signs, apart = _orientation(result.design.n_items)
    found = np.empty(len(signs) + 1)
    found[:-1] = signs * result.answers.ravel()[apart]
    found[-1] = result.fallback
    return found


@cache
def _orientation(items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of two different items in either order, row by row: 1 where the first has the lower code, else -1; and where."""
    apart = np.flatnonzero(~np.eye(items, dtype=bool))
    return np.sign(apart % items - apart // items), apart


#: What makes a transcript: `Transcript`, or an heir.
Polled = Callable[[Any, Rankings, np.random.Generator], Transcript]


@cache
def _transcripts(polled: Polled, design: LocalKwikSort, ranking: tuple[int, ...]) -> dict[tuple[float, ...], float]:
    """Law of a voter's transcript but for the report to the fallback: all coins of the library's own code followed."""
    poll = poll_of(design, ranking)
    return law_of(lambda rng: tuple(features(polled(design, poll, rng)).tolist()))


def transcripts_law(polled: Polled, mechanism: LocalKwikSort, data: Any, other: Any) -> PairLaw:
    """Divergence of a voter's transcripts under two rankings, the report to the fallback included.

    Examples
    --------
    >>> design = LocalKwikSort(n_items=2, report_epsilon=1.0, reports=1, blocks=1)
    >>> round(transcripts_law(Transcript, design, [0, 1], [1, 0]).epsilon(0), 6)
    1.0
    """
    rankings = (tuple(np.asarray(r).tolist()) for r in (data, other))
    laws: list[dict[Any, float]] = [_transcripts(polled, mechanism, ranking) for ranking in rankings]
    if mechanism.fallback is not None:
        reports = exact(mechanism.fallback, data, other)
        assert isinstance(reports, PairLaw)
        laws = [
            {
                (sent, report): chance * share
                for sent, chance in law.items()
                for report, share in enumerate(np.exp(log_shares) if sent[-1] else [1.0])
            }
            for law, log_shares in zip(laws, (reports.log_p, reports.log_q), strict=True)
        ]
    return pair_of(*laws)


def draw_transcripts(
    polled: Polled, mechanism: LocalKwikSort, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Transcripts of one voter, from their law; shape (size, items * (items - 1) + 1 + numbers of a report).

    Examples
    --------
    >>> design = LocalKwikSort(n_items=2, report_epsilon=1.0, reports=1, blocks=1)
    >>> draw_transcripts(Transcript, design, [0, 1], 5, np.random.default_rng(1)).shape
    (5, 3)
    """
    law = _transcripts(polled, mechanism, tuple(np.asarray(data).tolist()))
    rows = np.array(list(law))[rng.choice(len(law), size, p=np.array(list(law.values())) / sum(law.values()))]
    if mechanism.fallback is None:
        return rows
    return np.hstack([rows, sample(mechanism.fallback, data, size, rng) * rows[:, -1:]])


@exact.register
def local_kwiksort_law(mechanism: LocalKwikSort, data: Any, other: Any) -> PairLaw:
    """Of one voter's transcript, in a poll with one voter in every block.

    Examples
    --------
    >>> design = LocalKwikSort.calibrated(epsilon=0.5, n_items=3)
    >>> round(local_kwiksort_law(design, [0, 1, 2], [2, 1, 0]).epsilon(0), 6)
    0.5
    """
    return transcripts_law(Transcript, mechanism, data, other)


@sample.register
def draw_local_kwiksort(
    mechanism: LocalKwikSort, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Transcripts of one voter.

    Examples
    --------
    >>> design = LocalKwikSort.calibrated(epsilon=0.5, n_items=3)  # 3 * 2 answers, and whether it fell back
    >>> draw_local_kwiksort(design, [0, 1, 2], 5, np.random.default_rng(1)).shape
    (5, 7)
    """
    return draw_transcripts(Transcript, mechanism, data, size, rng)
