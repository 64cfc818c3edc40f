"""Every local mechanism, on two opposite rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.experiments.audit.cases.case import Case
from companion.printed import busafekete2021 as paper
from dprank.aggregation.local_kwiksort import LocalKwikSort, report_loss
from dprank.aggregation.local_reports import (
    LocalMatrix,
    PrintedPair,
    Randomiser,
    SampledOrder,
    SplitResponse,
    VectorReport,
)
from dprank.aggregation.private_borda import LocalBorda, PositionVector
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
