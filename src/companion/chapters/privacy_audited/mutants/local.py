"""Bugs planted in what a voter's device does before it answers."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.case import sampler
from companion.chapters.privacy_audited.planted import Law, Mutant, by_law, miscalibrated, rewritten
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_laws import report_law
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.randomisers import OrderReport, Randomiser, SampledOrder, SplitResponse, ranking_signs
from dprank.audit.betting import Sampler
from dprank.privacy.guarantee import compose
from dprank.privacy.laws import sample, signs_law
from dprank.privacy.randomized_response import GRAIN, flips_for, randomise
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import pair_signs

# Numbers of any kind.
Table = NDArray[Any]
# Two rankings, as positions.
Neighbours = tuple[Any, Any]


def mutants() -> list[Mutant]:
    """Two or more of every local mechanism."""
    makers = [_per_answer, _last_untouched, _exponential, _percent, _refilled, _seeded, _retried]
    makers += [_one_coin, _tenths, _per_item, _surest, _by_code, _sure]
    makers += [_tanh, _few_orders, _remembered, _copied, _unaccounted]
    return [make() for make in makers]


def _opposite(n_items: int) -> Neighbours:
    return np.arange(n_items), np.arange(n_items)[::-1]


def _close(n_items: int) -> Neighbours:
    """Rankings that differ in the two last places."""
    first = np.arange(n_items)
    return first, np.r_[first[:-2], first[-1], first[-2]]


def _signs(ranking: Any) -> NDArray[np.int8]:
    """Of all pairs."""
    return ranking_signs(np.asarray(ranking)[None])[0]


# --- answers about disjoint pairs ------------------------------------------------------------------------------------

_FIXED = LocalPairs.calibrated(epsilon=1.0, n_items=4, randomness="private")


def _fixed_signs(ranking: Any) -> NDArray[np.int8]:
    return pair_signs(np.asarray(ranking), _FIXED.pairs(np.random.default_rng(0)))


def _pairs_mutant(bug: str, sample: Sampler, law: Law) -> Mutant:
    return rewritten(bug, _FIXED, [_opposite(4), _close(4)], sample, by_law(law))


def _per_answer() -> Mutant:
    flips = flips_for(_FIXED.guarantee.epsilon)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return randomise(np.tile(_fixed_signs(data), (size, 1)), flips, rng)

    return _pairs_mutant(
        "epsilon spent on every answer", sample, lambda data: signs_law(_fixed_signs(data), flips / GRAIN)
    )


def _last_untouched() -> Mutant:
    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = np.tile(_fixed_signs(data), (size, 1))
        for bit in range(_FIXED.n_pairs - 1):
            sent[:, bit] = randomise(sent[:, bit], _FIXED.flips, rng)
        return sent

    def law(data: Any) -> Table:
        *others, last = _fixed_signs(data)
        return np.outer(signs_law(np.array(others), _FIXED.flips / GRAIN), signs_law(np.array([last]), 0.0))

    return _pairs_mutant("last bit untouched", sample, law)


# --- one answer ------------------------------------------------------------------------------------------------------

_ONCE = LocalOneBit.calibrated(epsilon=1.0, n_items=2)


def _sign(ranking: Any) -> int:
    """Of two items."""
    return 1 if ranking[0] < ranking[1] else -1


def _answer_law(turned: float, ranking: Any) -> Table:
    return signs_law(np.array([_sign(ranking)]), turned)


def _bit_mutant(bug: str, right: LocalOneBit, sample: Sampler, law: Law) -> Mutant:
    return rewritten(bug, right, [_opposite(2)], sample, by_law(law))


def _turned(bug: str, epsilon: float, turned: float) -> Mutant:
    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return np.where(rng.random((size, 1)) < turned, -1, 1) * _sign(data)

    return _bit_mutant(bug, LocalOneBit.calibrated(epsilon=epsilon, n_items=2), sample, partial(_answer_law, turned))


def _exponential() -> Mutant:
    """For 1 / (1 + exp(epsilon)). Above epsilon = 0.482 that is needless noise; below, most answers are false."""
    epsilon = 0.25
    return _turned("answers reversed with probability exp(-epsilon)", epsilon, math.exp(-epsilon))


def _percent() -> Mutant:
    epsilon = 5.5
    turned = 1 - round(100 / (1 + math.exp(-epsilon))) / 100
    return _turned("chance of the truth in whole percent", epsilon, turned)


def _refilled() -> Mutant:
    """Three voters are to fill two groups of two: the first is asked again."""

    def answers(data: Any) -> Table:
        return np.resize([_sign(data), 1, 1], 4)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return randomise(np.tile(answers(data), (size, 1)), _ONCE.flips, rng)

    return _bit_mutant(
        "groups filled up with voters asked before",
        _ONCE,
        sample,
        lambda data: signs_law(answers(data), _ONCE.flips / GRAIN),
    )


def _seeded() -> Mutant:
    voter = 7

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = randomise(np.array([_sign(data)], np.int8), _ONCE.flips, np.random.default_rng(voter))
        return np.tile(sent, (size, 1))

    def law(data: Any) -> Table:
        return signs_law(sample(data, 1, np.random.default_rng(0)), 0.0)

    return _bit_mutant("coin seeded with the voter's number", _ONCE, sample, law)


def _retried() -> Mutant:
    lost = 0.1

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = randomise(np.full((size, 2), _sign(data), np.int8), _ONCE.flips, rng)
        return np.where([True, False] | (rng.random((size, 1)) < lost), sent, 0)

    def law(data: Any) -> Table:
        one = _answer_law(_ONCE.flips / GRAIN, data)
        return np.r_[(1 - lost) * one, lost * np.kron(one, one)]

    return _bit_mutant("report drawn anew at a retry", _ONCE, sample, law)


# --- reports on all pairs --------------------------------------------------------------------------------------------


def _matrix_mutant(bug: str, right: Randomiser, sample: Sampler, law: Law) -> Mutant:
    return rewritten(bug, LocalMatrix(right), [_opposite(right.n_items), _close(right.n_items)], sample, by_law(law))


def _one_coin() -> Mutant:
    right = SplitResponse.calibrated(n_items=3, epsilon=1.0)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return randomise(np.ones((size, 1), np.int8), right.flips, rng) * _signs(data)

    def law(data: Any) -> Table:
        turned = right.flips / GRAIN
        return (1 - turned) * signs_law(_signs(data), 0.0) + turned * signs_law(_signs(data), 1.0)

    return _matrix_mutant("one coin for all answers", right, sample, law)


def _tenths() -> Mutant:
    right = SplitResponse.calibrated(n_items=3, epsilon=0.66)
    turned = 1 - round(1 - right.flips / GRAIN, 1)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return np.where(rng.random((size, right.n_pairs)) < turned, -1, 1) * _signs(data)

    return _matrix_mutant(
        "chance of the truth rounded to tenths", right, sample, lambda data: signs_law(_signs(data), turned)
    )


def _per_item() -> Mutant:
    right = SplitResponse.calibrated(n_items=4, epsilon=1.0)
    loud = LocalMatrix(SplitResponse(4, flips_for(1.0, right.n_items)))
    return _matrix_mutant(
        "budget shared among the items, not the pairs",
        right,
        sampler(loud),
        lambda data: report_law(loud.randomiser, np.array([data])),
    )


def _surest() -> Mutant:
    """The pair is not drawn: a voter is asked to compare her best item with her last."""
    right = SampledOrder.calibrated(n_items=3, epsilon=1.0, length=2)
    flips = flips_for(1.0)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        best, last = np.argsort(data)[[0, -1]]
        own = randomise(np.ones((size, 1), np.int8), flips, rng) > 0
        return np.where(own, [best, last], [last, best])

    def law(data: Any) -> Table:
        best, last = np.argsort(data)[[0, -1]]
        chances = np.zeros((3, 3))
        chances[best, last], chances[last, best] = 1 - flips / GRAIN, flips / GRAIN
        return chances

    return _matrix_mutant("pair chosen by the voter's own ranking", right, sample, law)


def _by_code() -> Mutant:
    right = SampledOrder.calibrated(n_items=3, epsilon=1.0, length=3)
    orders = np.array(list(permutations(range(3))))

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        own = randomise(np.ones((size, 1), np.int8), GRAIN - right.kept, rng) > 0
        return np.where(own, np.argsort(data), orders[0])

    def law(data: Any) -> Table:
        own, coded = ((orders == order).all(axis=1) for order in (np.argsort(data), orders[0]))
        return right.shrinkage * own + (1 - right.shrinkage) * coded

    return _matrix_mutant("hidden orders sent in the order of codes", right, sample, law)


def _sure() -> Mutant:
    """Noise skipped where the gap is large: a vector that is all the voter's own, or all opposite to it."""
    right = VectorReport.calibrated(n_items=3, epsilon=1.0, geometry="cube")
    sent = np.array(list(product((-1, 1), repeat=right.n_pairs)))

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        vectors = right.report(np.tile(data, (size, 1)), rng)
        return np.where((vectors == -_signs(data)).all(axis=1, keepdims=True), -vectors, vectors)

    def law(data: Any) -> Table:
        chances = report_law(right, np.array([data]))[0]
        own, against = ((sent == signs).all(axis=1) for signs in (_signs(data), -_signs(data)))
        chances[own] += chances[against]
        chances[against] = 0
        return chances

    return _matrix_mutant("no coin for vectors that agree in all signs", right, sample, law)


# --- reports for Borda's count ---------------------------------------------------------------------------------------


def _borda_mutant(bug: str, right: Any, broken: Any) -> Mutant:
    """What is sent by one randomiser, promised for another."""
    pairs = [_opposite(right.n_items), _close(right.n_items)]
    return miscalibrated(bug, LocalBorda(right), LocalBorda(broken), pairs)


def _tanh() -> Mutant:
    """A vector is put on the voter's side with probability (1 + tanh(epsilon)) / 2, for tanh(epsilon / 2)."""
    return _borda_mutant(
        "factor 2 forgotten in tanh(epsilon / 2)",
        PositionVector.calibrated(n_items=3, epsilon=1.0),
        PositionVector.calibrated(n_items=3, epsilon=2.0),
    )


def _few_orders() -> Mutant:
    pair, whole = (SampledOrder.calibrated(n_items=3, epsilon=1.0, length=size) for size in (2, 3))
    loud = SampledOrder(3, whole.length, pair.kept)
    return _borda_mutant("order of three sent with the odds of a pair", OrderReport(whole), OrderReport(loud))


def _remembered() -> Mutant:
    """Two polls. A report is kept and sent again while the ranking stays: it shows that the ranking has changed."""
    right = LocalBorda(OrderReport.calibrated(n_items=3, epsilon=1.0))

    def kept(data: Any) -> bool:
        return bool(np.array_equal(*data))

    def both(data: Any, size: int, rng: np.random.Generator, *, remember: bool) -> Table:
        first, second = (sample(right, ranking, size, rng) for ranking in data)
        return np.hstack([first, first if remember and kept(data) else second])

    def law(data: Any) -> Table:
        first, second = report_law(right.randomiser, np.array(data))
        return np.diag(first) if kept(data) else np.outer(first, second)

    first, second = _opposite(3)
    pairs = [((first, first), (second, second)), ((first, first), (first, second))]
    return rewritten(
        "report remembered as long as the ranking stays",
        right,
        pairs,
        partial(both, remember=True),
        by_law(law),
        promise=compose(right.guarantee, right.guarantee),
        twin=partial(both, remember=False),
    )


# --- KwikSort among voters -------------------------------------------------------------------------------------------


def _copied() -> Mutant:
    """Two recursive calls each get a number, how many answers are left: neither sees what the other took."""
    right = LocalKwikSort(4, 1.0, 1, 1)
    flips = flips_for(right.report_epsilon)
    sides = np.array([[0, 1], [2, 3]])

    def sorted_side(signs: Table, left: int, rng: np.random.Generator) -> Table:
        if left == 0:
            return np.zeros_like(signs)
        left -= 1  # of no effect on the caller
        return randomise(signs, flips, rng)

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        signs = np.tile(pair_signs(np.asarray(data), sides), (size, 1))
        return np.column_stack([sorted_side(signs[:, side], right.reports, rng) for side in range(2)])

    def law(data: Any) -> Table:
        return signs_law(pair_signs(np.asarray(data), sides), flips / GRAIN)

    return rewritten("counter passed by value", right, [_opposite(4)], sample, by_law(law))


def _unaccounted() -> Mutant:
    """The promise is that of the answers alone."""
    right = LocalKwikSort(3, 1.0, 1, 1)
    wrong = replace(right, fallback=LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=1.0, length=2)))
    pairs = [_opposite(3), _close(3)]
    return miscalibrated("fallback not accounted for", right, wrong, pairs)
