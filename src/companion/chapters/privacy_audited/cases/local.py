"""Every local mechanism, on two opposite rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed import busafekete2021 as paper
from companion.printed.alabi2022 import PrintedPair, algorithm_2, algorithm_3, report_loss
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.randomisers import Randomiser, SampledOrder, SplitResponse
from dprank.uniformity.local import LocalOneBit, LocalPairs

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
        _case("LocalPairs, 4 items", LocalPairs.calibrated(epsilon=_EPSILON, n_items=4), source),
        _case("LocalPairs, 5 items", LocalPairs.calibrated(epsilon=_EPSILON, n_items=5), source),
        _case(
            "LocalPairs, private pairs",
            LocalPairs.calibrated(epsilon=_EPSILON, n_items=4, randomness="private"),
            source,
        ),
        _case("LocalPairs, 4 items, as printed", paper.local_pairs(4, _EPSILON).mechanism, source, _EPSILON),
        _case("LocalPairs, 5 items, as printed", paper.local_pairs(5, _EPSILON).mechanism, source, _EPSILON),
        _case("LocalOneBit", LocalOneBit.calibrated(epsilon=_EPSILON, n_items=4), source),
    ]


def _one_round() -> list[Case]:
    source = "alabi2022"
    randomisers: dict[str, Randomiser] = {
        "ball": VectorReport.calibrated(n_items=3, epsilon=_EPSILON),
        "cube": VectorReport.calibrated(n_items=3, epsilon=_EPSILON, geometry="cube"),
        "cube, 4 items": VectorReport.calibrated(n_items=4, epsilon=_EPSILON, geometry="cube"),
        "every pair": SplitResponse.calibrated(n_items=3, epsilon=_EPSILON),
        "printed pair": PrintedPair.calibrated(n_items=3, epsilon=_EPSILON),
        "order of 2": SampledOrder.calibrated(n_items=3, epsilon=_EPSILON, length=2),
        "order of 3": SampledOrder.calibrated(n_items=3, epsilon=_EPSILON, length=3),
    }
    printed = algorithm_2(3, _EPSILON)
    return [
        *(_case(f"LocalMatrix, {name}", LocalMatrix(report), source) for name, report in randomisers.items()),
        _case("LocalMatrix, printed pair, as printed", printed.mechanism, source, printed.claims.epsilon),
        _case("LocalBorda, order", LocalBorda.calibrated(n_items=3, epsilon=_EPSILON), source),
        _case("LocalBorda, vector", LocalBorda(PositionVector.calibrated(n_items=3, epsilon=_EPSILON)), source),
    ]


def _kwiksort() -> list[Case]:
    source, m, q = "alabi2022", 3, 3
    fallback = LocalMatrix(SampledOrder.calibrated(n_items=m, epsilon=_EPSILON / 2, length=2))
    asked_out = LocalKwikSort(m, _EPSILON / 4, 2, 1, fallback=fallback)
    printed, backed = (algorithm_3(m, q, _EPSILON, fallback=then) for then in (None, fallback))
    # copied counters bound nothing in general; three items give one of the copies nothing to ask
    answers = printed.mechanism.reports * report_loss(printed.mechanism.report_epsilon)
    everything = answers + fallback.guarantee.epsilon
    return [
        _case("LocalKwikSort", LocalKwikSort.calibrated(n_items=m, epsilon=_EPSILON), source),
        _case("LocalKwikSort, every answer by one block", LocalKwikSort(m, _EPSILON / 3, 3, 1), source),
        _case("LocalKwikSort, answers and fallback", asked_out, source),
        _case("LocalKwikSort, as printed", printed.mechanism, source, printed.claims.epsilon, answers),
        _case("LocalKwikSort with fallback, as printed", backed.mechanism, source, backed.claims.epsilon, everything),
    ]
