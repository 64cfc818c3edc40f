"""Every local mechanism, on two opposite rankings, or what else a voter has."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed import Printed
from companion.printed import busafekete2021 as paper
from companion.printed.alabi2022 import PrintedPair, algorithm_2, algorithm_3, report_loss
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.randomisers import Randomiser, SampledOrder, SplitResponse
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.topk.local import LocalTopK
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.local_two_stage import LocalTwoStage

_EPSILON = 1.0


def cases() -> list[Case]:
    """Every local mechanism, on two opposite rankings, answers or sets: of all pairs of them none loses more."""
    return [*_tests(), *_one_round(), *_kwiksort(), *_comparisons(), *_sets()]


def _case(name: str, made: Any, source: str = "alabi2022", loss: float | None = None) -> Case:
    """Of a mechanism, or of one that is printed with what its paper claims."""
    mechanism, printed = (made.mechanism, made.claims.epsilon) if isinstance(made, Printed) else (made, None)
    ranking = np.arange(mechanism.n_items)
    loss = mechanism.guarantee.epsilon if loss is None else loss
    return Case(name, mechanism, ranking, ranking[::-1], printed, loss, "exhausted", source)


def _tests() -> list[Case]:
    four, five = (partial(LocalPairs.calibrated, epsilon=_EPSILON, n_items=m) for m in (4, 5))
    tests = {
        "LocalPairs, 4 items": four(),
        "LocalPairs, 5 items": five(),
        "LocalPairs, private pairs": four(randomness="private"),
        "LocalPairs, 4 items, as printed": paper.local_pairs(4, _EPSILON),
        "LocalPairs, 5 items, as printed": paper.local_pairs(5, _EPSILON),
        "LocalOneBit": LocalOneBit.calibrated(epsilon=_EPSILON, n_items=4),
    }
    # to the two-stage test one item would be a middle one, in which opposite rankings do not differ
    stages = _case("LocalTwoStage", LocalTwoStage.calibrated(epsilon=_EPSILON, n_items=4), "")
    return [*(_case(name, test, "busafekete2021") for name, test in tests.items()), stages]


def _one_round() -> list[Case]:
    randomisers: dict[str, Randomiser] = {
        "ball": VectorReport.calibrated(n_items=3, epsilon=_EPSILON),
        "cube": VectorReport.calibrated(n_items=3, epsilon=_EPSILON, geometry="cube"),
        "cube, 4 items": VectorReport.calibrated(n_items=4, epsilon=_EPSILON, geometry="cube"),
        "every pair": SplitResponse.calibrated(n_items=3, epsilon=_EPSILON),
        "printed pair": PrintedPair.calibrated(n_items=3, epsilon=_EPSILON),
        "order of 2": SampledOrder.calibrated(n_items=3, epsilon=_EPSILON, length=2),
        "order of 3": SampledOrder.calibrated(n_items=3, epsilon=_EPSILON, length=3),
    }
    return [
        *(_case(f"LocalMatrix, {name}", LocalMatrix(report)) for name, report in randomisers.items()),
        _case("LocalMatrix, printed pair, as printed", algorithm_2(3, _EPSILON)),
        _case("LocalBorda, order", LocalBorda.calibrated(n_items=3, epsilon=_EPSILON)),
        _case("LocalBorda, vector", LocalBorda(PositionVector.calibrated(n_items=3, epsilon=_EPSILON))),
    ]


def _kwiksort() -> list[Case]:
    fallback = LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=_EPSILON / 2, length=2))
    asked_out = LocalKwikSort(3, _EPSILON / 4, 2, 1, fallback=fallback)
    # Algorithm 3 prints no budget of its reports, so that its fallback may cost more than is left is a reading of it
    printed, backed = algorithm_3(3, 3, _EPSILON), algorithm_3(3, 3, _EPSILON, fallback=fallback).mechanism
    # copied counters bound nothing in general; three items give one of the copies nothing to ask
    answers = printed.mechanism.reports * report_loss(printed.mechanism.report_epsilon)
    everything = answers + fallback.guarantee.epsilon
    return [
        _case("LocalKwikSort", LocalKwikSort.calibrated(n_items=3, epsilon=_EPSILON)),
        _case("LocalKwikSort, every answer by one block", LocalKwikSort(3, _EPSILON / 3, 3, 1)),
        _case("LocalKwikSort, answers and fallback", asked_out),
        _case("LocalKwikSort, as printed", printed, loss=answers),
        _case("LocalKwikSort with fallback, Algorithm 2's budget", backed, loss=everything),
    ]


def _comparisons() -> list[Case]:
    """Answers to all pairs, and their opposites."""
    cases = []
    for length in (1, 2, 3):
        made = LocalComparisons.calibrated(epsilon=_EPSILON, n_items=3, per_person=3, length=length)
        answers = np.array([1, -1, 1])
        cases.append(
            Case(
                f"LocalComparisons, {length} of 3",
                made,
                answers,
                -answers,
                None,
                made.guarantee.epsilon,
                "exhausted",
                "",
            )
        )
    return cases


def _sets() -> list[Case]:
    """Two persons who have other items; and one who has none."""
    four = partial(LocalTopK.calibrated, epsilon=_EPSILON, n_items=4, k=1)
    cases = []
    for words, made, own, other in (
        ("one item", four(per_person=1), [0], [3]),
        ("two items", four(per_person=2), [0, 1], [2, 3]),
        ("two items or none", four(per_person=2), [0, 1], []),
    ):
        loss = made.guarantee.epsilon
        cases.append(Case(f"LocalTopK, {words}", made, np.array(own), np.array(other), None, loss, "exhausted", ""))
    both = LocalTopK(1, 2, 3, 2, made.kept, n_items=4)
    loss = both.guarantee.epsilon
    return [*cases, Case("LocalTopK, two hits", both, np.array([0, 1]), np.array([2, 3]), None, loss, "exhausted", "")]
