"""Bugs planted in what a voter's device does before it answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.case import sampler
from companion.chapters.privacy_audited.planted import Law, Mutant, listed, miscalibrated
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_laws import report_law
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.randomisers import OrderReport, Randomiser, SampledOrder, SplitResponse, ranking_signs
from dprank.audit.betting import Sampler
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.privacy.guarantee import compose
from dprank.privacy.laws import sample, signs_law
from dprank.privacy.randomized_response import GRAIN, flips_for, randomise
from dprank.topk.local import LocalTopK
from dprank.topk.random_sets import random_sets
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.local_two_stage import LocalTwoStage
from dprank.uniformity.pairs import pair_signs

# Numbers of any kind.
Table = NDArray[Any]
# What is to be sent of one ranking.
Signs = Callable[[Any], Table]
# Rankings, as positions.
Pairs = list[tuple[Any, Any]]


def mutants() -> list[Mutant]:
    """Two or more of every local mechanism."""
    families = (_disjoint_pairs, _one_answer, _two_stages, _all_pairs, _borda, _kwiksort, _comparisons, _sets)
    return [mutant for family in families for mutant in family()]


def _opposite(n_items: int) -> Pairs:
    return [(np.arange(n_items), np.arange(n_items)[::-1])]


def _both(n_items: int) -> Pairs:
    """Opposite rankings, and some that differ in the two last places."""
    first = np.arange(n_items)
    return [*_opposite(n_items), (first, np.r_[first[:-2], first[-1], first[-2]])]


def _signs(ranking: Any) -> Table:
    """Of all pairs."""
    return ranking_signs(np.asarray(ranking)[None])[0]


def _own(size: int, flips: int, rng: np.random.Generator) -> Table:
    """Whether the coin of each release leaves what is the voter's own."""
    return randomise(np.ones((size, 1), np.int8), flips, rng) > 0


def _flipped(bug: str, right: Any, pairs: Pairs, signs: Signs, flips: int) -> Mutant:
    """Each sign is reversed by a coin of its own, in so many of 2^53 throws."""

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return randomise(np.tile(signs(data), (size, 1)), flips, rng)

    return listed(bug, right, pairs, sample, lambda data: signs_law(signs(data), flips / GRAIN))


def _turned(bug: str, right: Any, pairs: Pairs, signs: Signs, chance: float) -> Mutant:
    """Each sign is reversed with a probability that is a float."""

    def sample(data: Any, size: int, rng: np.random.Generator) -> Table:
        return np.where(rng.random((size, len(signs(data)))) < chance, -1, 1) * signs(data)

    return listed(bug, right, pairs, sample, lambda data: signs_law(signs(data), chance))


def _disjoint_pairs() -> list[Mutant]:
    right = LocalPairs.calibrated(epsilon=1.0, n_items=4, randomness="private")

    def signs(data: Any) -> Table:
        return pair_signs(np.asarray(data), right.pairs(np.random.default_rng(0)))

    def last_bare(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = np.tile(signs(data), (size, 1))
        sent[:, 0] = randomise(sent[:, 0], right.flips, rng)
        return sent

    def law(data: Any) -> Table:
        return np.outer(signs_law(signs(data)[:1], right.flips / GRAIN), signs_law(signs(data)[1:], 0.0))

    return [
        _flipped("epsilon spent on every answer", right, _both(4), signs, flips_for(right.guarantee.epsilon)),
        listed("last bit untouched", right, _both(4), last_bare, law),
    ]


def _one_answer() -> list[Mutant]:
    small, right, large = (LocalOneBit.calibrated(epsilon=epsilon, n_items=2) for epsilon in (0.25, 1.0, 5.5))
    opposite = _opposite(2)
    lost, voter, percent = 0.1, 7, 1 - round(100 / (1 + math.exp(-5.5))) / 100

    def sign(ranking: Any) -> Table:
        return np.array([1 if ranking[0] < ranking[1] else -1], np.int8)

    def refilled(data: Any) -> Table:
        return np.resize([*sign(data), 1, 1], 4)

    def seeded(data: Any, size: int = 1, _: np.random.Generator | None = None) -> Table:
        return np.tile(randomise(sign(data), right.flips, np.random.default_rng(voter)), (size, 1))

    def retried(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = randomise(np.tile(sign(data), (size, 2)), right.flips, rng)
        return np.where([True, False] | (rng.random((size, 1)) < lost), sent, 0)

    def retried_law(data: Any) -> Table:
        one = signs_law(sign(data), right.flips / GRAIN)
        return np.r_[(1 - lost) * one, lost * np.kron(one, one)]

    return [
        # for 1 / (1 + exp(epsilon)): needless noise for an epsilon above 0.482; below, most answers are false
        _turned("answers reversed with probability exp(-epsilon)", small, opposite, sign, math.exp(-0.25)),
        _turned("chance of the truth in whole percent", large, opposite, sign, percent),
        # three voters are to fill two groups of two: the first is asked again
        _flipped("groups filled up with voters asked before", right, opposite, refilled, right.flips),
        listed(
            "coin seeded with the voter's number", right, opposite, seeded, lambda data: signs_law(seeded(data), 0.0)
        ),
        listed("report drawn anew at a retry", right, opposite, retried, retried_law),
    ]


def _two_stages() -> list[Mutant]:
    """Of four items, with weights that were learnt; a ranking may agree with half of them."""
    right = LocalTwoStage.calibrated(epsilon=1.0, n_items=4)
    turned, half = right.flips / GRAIN, np.array([1, -1, -1, 1])

    def both(data: Any) -> Table:
        return np.sign(np.array([[1, 0, 0, -1], [3, 1, -1, -3]]) @ (3 - 2 * np.asarray(data)))

    def front(data: Any) -> int:
        return int(np.sign(half @ (3 - 2 * np.asarray(data))))

    def tied(data: Any, size: int, rng: np.random.Generator) -> Table:
        return randomise(np.full((size, 1), front(data), np.int8), right.flips, rng)

    def tied_law(data: Any) -> Table:
        return np.array([[turned, 0, 1 - turned], [0, 1, 0], [1 - turned, 0, turned]])[1 - front(data)]

    return [
        _flipped("asked in both stages", right, _opposite(4), both, right.flips),
        listed("no coin where weights cancel", right, [([0, 1, 2, 3], [0, 3, 2, 1])], tied, tied_law),
    ]


def _all_pairs() -> list[Mutant]:
    def report(bug: str, right: Randomiser, sample: Sampler, law: Law) -> Mutant:
        return listed(bug, LocalMatrix(right), _both(right.n_items), sample, law)

    three, four = (SplitResponse.calibrated(n_items=m, epsilon=1.0) for m in (3, 4))
    rounded, coin = SplitResponse.calibrated(n_items=3, epsilon=0.66), three.flips / GRAIN
    tenths = 1 - round(1 - rounded.flips / GRAIN, 1)
    loud = LocalMatrix(SplitResponse(4, flips_for(1.0, four.n_items)))
    two, whole = (SampledOrder.calibrated(n_items=3, epsilon=1.0, length=length) for length in (2, 3))
    flips, orders = flips_for(1.0), np.array(list(permutations(range(3))))
    cube = VectorReport.calibrated(n_items=3, epsilon=1.0, geometry="cube")
    vectors = np.array(list(product((-1, 1), repeat=cube.n_pairs)))

    def surest(data: Any, size: int, rng: np.random.Generator) -> Table:
        best, last = np.argsort(data)[[0, -1]]
        return np.where(_own(size, flips, rng), [best, last], [last, best])

    def surest_law(data: Any) -> Table:
        best, last = np.argsort(data)[[0, -1]]
        chances = np.zeros((3, 3))
        chances[best, last], chances[last, best] = 1 - flips / GRAIN, flips / GRAIN
        return chances

    def coded_law(data: Any) -> Table:
        own, coded = ((orders == order).all(axis=1) for order in (np.argsort(data), orders[0]))
        return whole.shrinkage * own + (1 - whole.shrinkage) * coded

    def sure(data: Any, size: int, rng: np.random.Generator) -> Table:
        sent = cube.report(np.tile(data, (size, 1)), rng)
        return np.where((sent == -_signs(data)).all(axis=1, keepdims=True), -sent, sent)

    def sure_law(data: Any) -> Table:
        chances = report_law(cube, np.array([data]))[0]
        own, against = ((vectors == signs).all(axis=1) for signs in (_signs(data), -_signs(data)))
        chances[own] += chances[against]
        chances[against] = 0
        return chances

    return [
        report(
            "one coin for all answers",
            three,
            lambda data, size, rng: randomise(np.ones((size, 1), np.int8), three.flips, rng) * _signs(data),
            lambda data: (1 - coin) * signs_law(_signs(data), 0.0) + coin * signs_law(_signs(data), 1.0),
        ),
        _turned("chance of the truth rounded to tenths", LocalMatrix(rounded), _both(3), _signs, tenths),
        report(
            "budget shared among the items, not the pairs",
            four,
            sampler(loud),
            lambda data: report_law(loud.randomiser, np.array([data])),
        ),
        # the pair is not drawn: a voter is asked to compare her best item with her last
        report("pair chosen by the voter's own ranking", two, surest, surest_law),
        report(
            "hidden orders sent in the order of codes",
            whole,
            lambda data, size, rng: np.where(_own(size, GRAIN - whole.kept, rng), np.argsort(data), orders[0]),
            coded_law,
        ),
        # noise skipped where the gap is large: a vector that is all the voter's own, or all opposite to it
        report("no coin for vectors that agree in all signs", cube, sure, sure_law),
    ]


def _borda() -> list[Mutant]:
    tanh, twice = (PositionVector.calibrated(n_items=3, epsilon=epsilon) for epsilon in (1.0, 2.0))
    pair, whole = (SampledOrder.calibrated(n_items=3, epsilon=1.0, length=size) for size in (2, 3))
    kept, loud = LocalBorda(OrderReport(whole)), SampledOrder(3, whole.length, pair.kept)
    right = LocalBorda(OrderReport.calibrated(n_items=3, epsilon=1.0))

    def polls(data: Any, size: int, rng: np.random.Generator, *, remember: bool) -> Table:
        """Two of them; a report sent again while the ranking stays shows that the ranking has changed."""
        first, second = (sample(right, ranking, size, rng) for ranking in data)
        return np.hstack([first, first if remember and np.array_equal(*data) else second])

    def law(data: Any) -> Table:
        first, second = report_law(right.randomiser, np.array(data))
        return np.diag(first) if np.array_equal(*data) else np.outer(first, second)

    [(one, other)] = _opposite(3)
    return [
        # a vector is put on the voter's side with probability (1 + tanh(epsilon)) / 2, for tanh(epsilon / 2)
        miscalibrated("factor 2 forgotten in tanh(epsilon / 2)", LocalBorda(tanh), LocalBorda(twice), _both(3)),
        miscalibrated("order of three sent with the odds of a pair", kept, LocalBorda(OrderReport(loud)), _both(3)),
        listed(
            "report remembered as long as the ranking stays",
            right,
            [((one, one), (other, other)), ((one, one), (one, other))],
            partial(polls, remember=True),
            law,
            guarantee=compose(right.guarantee, right.guarantee),
            twin=partial(polls, remember=False),
        ),
    ]


def _kwiksort() -> list[Mutant]:
    halves, alone = LocalKwikSort(4, 1.0, 1, 1), LocalKwikSort(3, 1.0, 1, 1)
    flips, sides = flips_for(halves.report_epsilon), np.array([[0, 1], [2, 3]])
    backed = replace(alone, fallback=LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=1.0, length=2)))

    def signs(data: Any) -> Table:
        return pair_signs(np.asarray(data), sides)

    def copied(data: Any, size: int, rng: np.random.Generator) -> Table:
        """Two recursive calls each get a number, how many answers are left: neither sees what the other took."""
        return np.column_stack([randomise(np.full(size, sign), flips, rng) for sign in signs(data)])

    def law(data: Any) -> Table:
        return signs_law(signs(data), flips / GRAIN)

    return [
        listed("counter passed by value", halves, _opposite(4), copied, law),
        # the promise is that of the answers alone
        miscalibrated("fallback not accounted for", alone, backed, _both(3)),
    ]


def _comparisons() -> list[Mutant]:
    make = partial(LocalComparisons.calibrated, epsilon=1.0, n_items=3, per_person=3)
    one, right = make(length=1), make(length=3)
    opposite: Pairs = [(np.array([1, -1, 1]), np.array([-1, 1, -1]))]

    def told(data: Any) -> Table:
        return np.asarray(data, np.int8)

    def answered(data: Any, size: int, rng: np.random.Generator) -> Table:
        picked = rng.choice(np.flatnonzero(data), size)
        return (picked[:, None] + 1) * np.where(
            _own(size, GRAIN - one.kept, rng), told(data)[picked, None], rng.choice([1, -1], (size, 1))
        )

    def answered_law(data: Any) -> Table:
        own = told(data)[:, None] * [1, -1] > 0
        return (one.shrinkage * own + (1 - one.shrinkage) / 2) * (told(data) != 0)[:, None] / np.count_nonzero(data)

    return [
        _flipped("budget spent on each of three answers", right, opposite, told, flips_for(1.0)),
        listed("pairs picked among those answered", one, [([1, 1, 1], [1, 1, 0])], answered, answered_law),
        miscalibrated("three answers told with the odds of one", right, replace(right, kept=one.kept), opposite),
    ]


def _sets() -> list[Mutant]:
    right = LocalTopK.calibrated(epsilon=1.0, n_items=4, k=1, per_person=2)
    wide = LocalTopK(1, 2, 2, 1, right.kept, n_items=4)
    sets = np.array(list(combinations(range(wide.n_codes), wide.length)))
    lists = np.array(list(permutations(range(wide.n_codes), wide.length)))
    other: Pairs = [([0, 1], [2, 3])]

    def bare(data: Any) -> Table:
        """Whether a set has any of the items, without blanks."""
        return np.asarray(np.isin(sets, data).any(axis=1))

    def bare_law(data: Any) -> Table:
        share, fits = wide.kept / GRAIN, bare(data)
        return share * fits / fits.sum() + (1 - share) / len(sets)

    def drawn(data: Any, size: int, rng: np.random.Generator) -> Table:
        return sets[rng.choice(len(sets), size, p=bare_law(data))]

    def own_first(data: Any, size: int, rng: np.random.Generator) -> Table:
        overlap = rng.choice(3, size, p=wide.overlap_law)
        return random_sets(np.tile(wide.filled(data), (size, 1)), overlap, wide.n_codes, wide.length, rng)

    def own_first_law(data: Any) -> Table:
        own = np.isin(lists, wide.filled(data))
        hits = own.sum(axis=1)
        behind = np.array([math.perm(2, j) * math.perm(4, 2 - j) for j in range(3)])
        return np.where((np.diff(own.astype(int), axis=1) <= 0).all(axis=1), (wide.overlap_law / behind)[hits], 0.0)

    return [
        listed("no blanks for those who have few items", wide, [([0, 1], [2])], drawn, bare_law),
        listed("a person's own codes sent first", wide, other, own_first, own_first_law),
        miscalibrated("two hits with the odds of one", wide, LocalTopK(1, 2, 2, 2, wide.kept, n_items=4), other),
    ]
