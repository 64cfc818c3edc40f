"""Local mechanisms: what one voter sends, whoever listens.

Every report is a draw from a finite list, or a direction on one of two sides of the voter's own: all have exact laws.
Of `LocalKwikSort` the voter's whole transcript is audited, in a poll with one voter in every block.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.aggregation.local_kwiksort import AdaptiveAnswers, LocalKwikSort, report_loss
from dprank.aggregation.local_reports import (
    LocalMatrix,
    OneRound,
    PrintedPair,
    Randomiser,
    SampledOrder,
    SplitResponse,
    VectorReport,
    ranking_signs,
)
from dprank.aggregation.private_borda import LocalBorda, OrderReport, PositionVector
from dprank.audit.case import Case, exact, features, sample
from dprank.audit.coins import law_of
from dprank.divergence import PairLaw, pair_of
from dprank.randomized_response import GRAIN
from dprank.rankings import Rankings
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import pair_signs

# --- laws of one report ----------------------------------------------------------------------------------------------


def signs_law(signs: NDArray[Any], turned: float) -> NDArray[np.float64]:
    """Law of signs that are reversed one by one.

    Parameters
    ----------
    signs : ndarray, shape (..., bits)
        Of -1 and +1.
    turned : float
        Probability that a sign is reversed.

    Returns
    -------
    ndarray of float, shape (..., 2^bits)
        Sent are the rows of ``product((-1, 1), repeat=bits)``.
    """
    sent = np.array(list(product((-1, 1), repeat=signs.shape[-1])))
    return np.prod(np.where(signs[..., None, :] == sent, 1 - turned, turned), axis=-1)


def report_law(randomiser: Randomiser | OrderReport, positions: NDArray[Any]) -> NDArray[np.float64]:
    """Probability of every report under every given ranking, by enumeration.

    Parameters
    ----------
    randomiser : SplitResponse, PrintedPair, SampledOrder, OrderReport, or VectorReport on the cube
        Of few items.
    positions : ndarray of int, shape (rankings, items)

    Returns
    -------
    ndarray of float, shape (rankings, reports)
        Reports in the same order under every ranking: sign vectors as in `signs_law`; the answers yes of all pairs,
        then the answers no; or lists of items in lexicographic order.

    Raises
    ------
    ValueError
        If the reports cannot be listed.
    """
    m, signs = randomiser.n_items, ranking_signs(positions)
    match randomiser:
        case SplitResponse():
            return signs_law(signs, randomiser.flips / GRAIN)
        case VectorReport(geometry="cube"):
            sent = np.array(list(product((-1, 1), repeat=randomiser.n_pairs)))
            return (1 + randomiser.kept * np.sign(signs.astype(int) @ sent.T)) / len(sent)
        case PrintedPair():
            yes = np.where(signs > 0, 1 - randomiser.flips / GRAIN, 0.5)
            return np.concatenate([yes, 1 - yes], axis=1) / randomiser.n_pairs
        case OrderReport():
            return report_law(randomiser.order, positions)
        case SampledOrder():
            lists = np.array(list(permutations(range(m), randomiser.size)))
            own = (np.diff(positions[:, lists], axis=-1) > 0).all(-1)
            orders = math.factorial(randomiser.size)
            share = orders / len(lists)
            return np.asarray(share * (randomiser.shrinkage * own + (1 - randomiser.shrinkage) / orders))
    raise ValueError(f"randomiser = {shown(randomiser)}; its reports cannot be listed")


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
    """
    cosine = one @ other / math.sqrt((one @ one) * (other @ other))
    apart = math.acos(min(1.0, max(-1.0, cosine))) / math.pi
    towards = np.array([1 - turned, turned])
    sides = np.array([[1 - apart, apart], [apart, 1 - apart]])
    return pair_of((sides * towards[:, None]).ravel(), (sides * towards).ravel())


def _centred(positions: NDArray[Any]) -> NDArray[np.float64]:
    """Places about their middle."""
    return np.asarray(positions - np.mean(positions))


@exact.register
def _(mechanism: OneRound, data: Any, other: Any) -> PairLaw:
    randomiser, both = mechanism.randomiser, np.array([data, other])
    match randomiser:
        case VectorReport(geometry="ball"):
            one, another = ranking_signs(both).astype(int)
            return sides_law(one, another, randomiser.flips / GRAIN)
        case PositionVector():
            return sides_law(_centred(both[0]), _centred(both[1]), randomiser.flips / GRAIN)
    return pair_of(*report_law(randomiser, both))


@sample.register
def _(mechanism: OneRound, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(mechanism.randomiser.report(np.tile(data, (size, 1)), rng), float)


# --- randomised answers about disjoint pairs -------------------------------------------------------------------------


@exact.register(LocalPairs)
@exact.register(LocalOneBit)
def _(mechanism: LocalPairs | LocalOneBit, data: Any, other: Any) -> PairLaw:
    announced, turned = _announced(mechanism), mechanism.flips / GRAIN
    signs = [[pair_signs(np.asarray(ranking), pairs) for pairs in announced] for ranking in (data, other)]
    p, q = (signs_law(np.array(asked), turned).ravel() / len(announced) for asked in signs)
    return pair_of(p, q)


def _announced(mechanism: LocalPairs | LocalOneBit) -> list[NDArray[np.int64]]:
    """Pairs that one voter may be asked about, all equally likely."""
    if _private(mechanism):
        return [mechanism.pairs(np.random.default_rng(0))]
    asked = _asked(mechanism)
    return [np.array(items).reshape(asked, 2) for items in permutations(range(mechanism.n_items), 2 * asked)]


def _private(mechanism: LocalPairs | LocalOneBit) -> bool:
    return isinstance(mechanism, LocalPairs) and mechanism.randomness == "private"


def _asked(mechanism: LocalPairs | LocalOneBit) -> int:
    return mechanism.n_pairs if isinstance(mechanism, LocalPairs) else 1


@sample.register(LocalPairs)
@sample.register(LocalOneBit)
def _(mechanism: LocalPairs | LocalOneBit, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    # to ask about random pairs is to ask about the first ones of items that are numbered at random
    numbers = np.tile(np.arange(mechanism.n_items), (size, 1))
    if not _private(mechanism):
        numbers = rng.permuted(numbers, axis=1)
    pairs = np.arange(2 * _asked(mechanism)).reshape(-1, 2)
    sent = mechanism.report(np.asarray(data)[numbers], pairs if isinstance(mechanism, LocalPairs) else pairs[0], rng)
    return np.column_stack([numbers[:, : pairs.size], sent]).astype(float)


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
    """
    others = np.tile(np.arange(design.n_items), (design.blocks - 1, 1))
    return Rankings(np.vstack([ranking, others]), [str(item) for item in range(design.n_items)])


@features.register
def _(result: Transcript) -> NDArray[np.float64]:
    """Answers oriented: positive where the item of the lower code is said to come first."""
    m = result.design.n_items
    oriented = np.sign(np.arange(m) - np.arange(m)[:, None]) * result.answers
    return np.r_[oriented[~np.eye(m, dtype=bool)], result.fallback].astype(float)


@cache
def _transcripts(design: LocalKwikSort, ranking: tuple[int, ...]) -> dict[tuple[float, ...], float]:
    """Law of a voter's transcript but for the report to the fallback: all coins of the library's own code followed."""
    poll = poll_of(design, ranking)
    return law_of(lambda rng: tuple(features(Transcript(design, poll, rng)).tolist()))


@exact.register
def _(mechanism: LocalKwikSort, data: Any, other: Any) -> PairLaw:
    laws: list[dict[Any, float]] = [_transcripts(mechanism, tuple(np.asarray(r).tolist())) for r in (data, other)]
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


@sample.register
def _(mechanism: LocalKwikSort, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    law = _transcripts(mechanism, tuple(np.asarray(data).tolist()))
    rows = np.array(list(law))[rng.choice(len(law), size, p=np.array(list(law.values())) / sum(law.values()))]
    if mechanism.fallback is None:
        return rows
    return np.hstack([rows, sample(mechanism.fallback, data, size, rng) * rows[:, -1:]])


# --- cases -----------------------------------------------------------------------------------------------------------

_EPSILON = 1.0


def cases() -> list[Case]:
    """Every local mechanism, on two opposite rankings.

    All pairs of rankings of these numbers of items were tried: none loses more.
    """
    return [*_tests(), *_one_round(), *_kwiksort()]


def _case(
    name: str, mechanism: Any, source: str, printed: float | None = None, closed_form: float | None = None
) -> Case:
    ranking = np.arange(mechanism.n_items)
    loss = mechanism.guarantee.epsilon if closed_form is None else closed_form
    return Case(name, mechanism, ranking, ranking[::-1], printed, loss, "exhausted", source)


def _tests() -> list[Case]:
    source = "busafekete2021"
    return [
        _case("LocalPairs, 4 items", LocalPairs.calibrated(4, _EPSILON), source),
        _case("LocalPairs, 5 items", LocalPairs.calibrated(5, _EPSILON), source),
        _case("LocalPairs, private pairs", LocalPairs.calibrated(4, _EPSILON, randomness="private"), source),
        _case("LocalPairs, 4 items, as printed", LocalPairs.as_printed(4, _EPSILON), source, _EPSILON),
        _case("LocalPairs, 5 items, as printed", LocalPairs.as_printed(5, _EPSILON), source, _EPSILON),
        _case("LocalOneBit", LocalOneBit.calibrated(4, _EPSILON), source),
    ]


def _one_round() -> list[Case]:
    source = "alabi2022"
    randomisers: dict[str, Randomiser] = {
        "ball": VectorReport.calibrated(3, _EPSILON),
        "cube": VectorReport.calibrated(3, _EPSILON, "cube"),
        "cube, 4 items": VectorReport.calibrated(4, _EPSILON, "cube"),
        "every pair": SplitResponse.calibrated(3, _EPSILON),
        "printed pair": PrintedPair.calibrated(3, _EPSILON),
        "order of 2": SampledOrder.calibrated(3, _EPSILON, 2),
        "order of 3": SampledOrder.calibrated(3, _EPSILON, 3),
    }
    printed = LocalMatrix(PrintedPair.as_printed(3, _EPSILON))
    return [
        *(_case(f"LocalMatrix, {name}", LocalMatrix(report), source) for name, report in randomisers.items()),
        _case("LocalMatrix, printed pair, as printed", printed, source, _EPSILON),
        _case("LocalBorda, order", LocalBorda.calibrated(3, _EPSILON), source),
        _case("LocalBorda, vector", LocalBorda(PositionVector.calibrated(3, _EPSILON)), source),
    ]


def _kwiksort() -> list[Case]:
    source, m, q = "alabi2022", 3, 3
    fallback = LocalMatrix(SampledOrder.calibrated(m, _EPSILON / 2, 2))
    asked_out = LocalKwikSort(m, _EPSILON / 4, 2, 1, fallback=fallback)
    printed, backed = (LocalKwikSort.as_printed(m, q, _EPSILON, fallback=then) for then in (None, fallback))
    # copied counters bound nothing in general; three items give one of the copies nothing to ask
    answers = printed.reports * report_loss(printed.epsilon_0, "printed")
    everything = answers + fallback.guarantee.epsilon
    return [
        _case("LocalKwikSort", LocalKwikSort.calibrated(m, _EPSILON), source),
        _case("LocalKwikSort, every answer by one block", LocalKwikSort(m, _EPSILON / 3, 3, 1), source),
        _case("LocalKwikSort, answers and fallback", asked_out, source),
        _case("LocalKwikSort, as printed", printed, source, _EPSILON, answers),
        _case("LocalKwikSort with fallback, as printed", backed, source, _EPSILON, everything),
    ]
