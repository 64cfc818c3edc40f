"""The twelve mechanisms at one epsilon, as printed and as calibrated, by exact laws alone: in a second."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from companion.chapters.privacy_audited import promises
from companion.chapters.privacy_audited.cases.aggregation import neighbours, voters_of
from companion.chapters.privacy_audited.cases.case import Case
from companion.chapters.privacy_audited.cases.pairwise import worst_neighbours, worst_sheets
from companion.chapters.privacy_audited.cases.topk import comparisons_of, lows_rise
from companion.chapters.privacy_audited.cases.uniformity import agreeing
from companion.chapters.privacy_audited.promises import draw_claimed_and_true
from companion.printed import Printed, alabi2022, busafekete2021, cai2025, qiao2021
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.topk.oneshot import Oneshot
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.uniformity.bucketed import Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.local import LocalPairs
from dprank.uniformity.truncated import Trun

__all__ = ["MOST_OF_QIAO", "cases", "draw_claimed_and_true", "frame", "numbers"]

#: Theorems 2.2 and 3.5 of Qiao et al. are for this epsilon or less.
MOST_OF_QIAO = 0.2
_FAR = 100


def cases(epsilon: float) -> list[Case]:
    """Every mechanism that a paper prints, as printed and as calibrated here, on the neighbours of `promises`."""
    return [*_pairs(epsilon), *_tests(epsilon), *_top(epsilon), *_orders(epsilon), *_local(epsilon)]


def frame(epsilon: float) -> pd.DataFrame:
    """Rows of `promises.picture` without bounds from samples, all with a claim of `epsilon`; the walk as printed with
    `MOST_OF_QIAO` at most.
    """
    rows = [
        {
            "case": case.name,
            "mechanism": case.kind.__name__,
            "paper": promises.PAPERS[case.kind.__module__.split(".")[1]],
            "calibration": "calibrated" if case.printed is None else "as printed",
            "claimed": case.claimed,
            "guarantee": case.guaranteed,
            "exact": case.exact_epsilon() if case.closed_form is None else case.closed_form,
            "lower": math.nan,
        }
        for case in cases(epsilon)
    ]
    return promises.picture(pd.DataFrame(rows)).drop(columns="lower").assign(epsilon=epsilon)


def numbers(table: pd.DataFrame) -> dict[str, str]:
    """Of the mechanisms as printed, as text: how many there are, and lose more than is claimed; their factors, and
    the loss of TRUN, of which a sentence speaks.
    """
    printed = table[table.calibration == "as printed"].set_index("mechanism")
    shares = {f"share-{name}": f"{share:.3g}" for name, share in printed.share.items()}
    shares |= {f"loss-{name}": f"{loss:.3g}" for name, loss in printed.exact.items() if name == Trun.__name__}
    least = printed.share.idxmin()
    return shares | {
        "epsilon": f"{table.epsilon.iloc[0]:g}",
        "odds": f"{math.exp(table.epsilon.iloc[0]):.2g}",
        "all": f"{len(printed)}",
        "broken": f"{(printed.share > 1 + 1e-9).sum()}",
        "waste": f"{least}",
        "used": f"{100 * printed.share[least]:.2g} %",
    }


def _case(printed: Any, pair: Iterable[Any], loss: float | None = None) -> Case:
    """Of what is printed, with its claim, or of a mechanism; with its `loss` where that takes no time."""
    data, other = pair
    if not isinstance(printed, Printed):
        return Case(type(printed).__name__, printed, data, other, closed_form=loss)
    known: dict[str, Any] = {"printed": printed.claims.epsilon, "printed_delta": printed.claims.delta}
    mechanism = printed.mechanism
    return Case(f"{type(mechanism).__name__}, as printed", mechanism, data, other, closed_form=loss, **known)


def _drawn(made: Any) -> Any:
    """The mechanism of what is printed, or it itself."""
    return made.mechanism if isinstance(made, Printed) else made


def _pairs(epsilon: float) -> Iterator[Case]:
    """Win counts of two answers, and the likelihood on a secret graph."""
    for counts in (
        cai2025.algorithm_3(epsilon, 3, per_person=2),
        NoisyCounts.calibrated(epsilon=epsilon, n_items=3, per_person=2, score="wins"),
    ):
        yield _case(counts, worst_sheets(_drawn(counts)))
    printed = cai2025.algorithm_1(epsilon, 4)
    secret: dict[str, Any] = {"unit": "comparison", "graph": "private", "law": "continuous"}
    secret["ridge"] = 1.5 * max(1.0, 1 / epsilon)
    for made in (printed, PerturbedMLE.calibrated(epsilon=epsilon, n_items=4, **secret)):
        m = _drawn(made)
        data, other, _ = worst_neighbours(m.scale, m.ridge, link=m.link, repeats=True)
        m = replace(m, n_items=data.n_items)
        yield _case(Printed(m, made.claims) if isinstance(made, Printed) else m, (data, other))


def _tests(epsilon: float) -> Iterator[Case]:
    """One of agreeing rankings is reversed; batches are of five, so that each may say that they agree."""
    paper, batches = busafekete2021, math.ceil(1 / epsilon)
    tests: list[Any] = [
        paper.laplace_unif(4, 3, epsilon, 0.05),
        LaplaceUnif.calibrated(epsilon=epsilon, n_items=4, n_voters=3, size=0.1),
        paper.bucketed(4, 5 * batches, epsilon, 0.05),
        Bucketed.calibrated(epsilon=epsilon, n_items=4, n_voters=3 * (batches + 3), size=0.4, n_batches=batches + 3),
    ]
    for test in tests:
        m = _drawn(test)
        yield _case(test, (agreeing(m.n_items, m.n_voters, dissenters) for dissenters in (0, 1)))
    for test in (
        paper.trun(2, 2, epsilon, 0.05, 0.5),
        Trun.calibrated(epsilon=epsilon, n_items=2, n_voters=40, size=0.2),
    ):
        m = _drawn(test)
        listed = [_case(test, (agreeing(2, m.n_voters, d), agreeing(2, m.n_voters, d + 1))) for d in range(m.n_voters)]
        yield max(listed, key=Case.exact_epsilon)


def _top(epsilon: float) -> Iterator[Case]:
    """Two of four with their values; a walk on a path, or between two items."""
    printed = qiao2021.theorem_2_1(epsilon=epsilon, k=2)
    low, high = lows_rise(2, 2, _FAR * printed.mechanism.scale, "replace")
    yield _case(printed, (-low, -high))
    ours = Oneshot.calibrated(epsilon=epsilon, k=2, values=True)
    yield _case(ours, lows_rise(2, 2, _FAR * ours.scale, "replace"))
    walk = qiao2021.theorem_3_5(
        epsilon=min(epsilon, MOST_OF_QIAO), delta=1e-6, n_items=3, k=1, samples=10, pairs=((0, 1), (1, 2))
    )
    yield _case(walk, (comparisons_of(walk.mechanism, (wins, 0)) for wins in (9, 10)))
    two = PrivateRankCentrality.calibrated(epsilon=epsilon, n_items=2, k=1, samples=20, damped=False, relative=False)
    yield _case(two, (comparisons_of(two, (wins,)) for wins in (0, 1)))


def _orders(epsilon: float) -> Iterator[Case]:
    """A voter turns round."""
    pair = neighbours("replace", 3)
    yield _case(alabi2022.corollary_3(3, epsilon, rule="borda"), pair)
    gaussian = alabi2022.corollary_4(3, epsilon, 0.01, rule="borda")
    many = math.ceil(alabi2022.CLEAR * gaussian.mechanism.scale) + 1
    yield _case(gaussian, neighbours("replace", many, many))
    yield _case(NoisyMatrix.calibrated(epsilon=epsilon, n_items=3, rule="borda"), pair)
    for made in (
        alabi2022.corollary_6(3, 3, epsilon, rule="copeland"),
        PrivateKwikSort.calibrated(epsilon=epsilon, n_items=3, queries=3, law="continuous"),
    ):
        for one, other in (("cab", "bac"), ("abc cba", "abc abc")):
            yield _case(made, (voters_of(one), voters_of(other)))


def _local(epsilon: float) -> Iterator[Case]:
    """Two opposite rankings; the answers of KwikSort add up."""
    sorting = alabi2022.algorithm_3(3, 3, epsilon)
    spent = sorting.mechanism.reports * alabi2022.report_loss(sorting.mechanism.report_epsilon)
    made: list[tuple[Any, float | None]] = [
        (busafekete2021.local_pairs(4, epsilon), None),
        (LocalPairs.calibrated(epsilon=epsilon, n_items=4), None),
        (alabi2022.algorithm_2(3, epsilon), None),
        (LocalMatrix.calibrated(epsilon=epsilon, n_items=3), None),
        (sorting, spent),
        (LocalKwikSort.calibrated(epsilon=epsilon, n_items=3), epsilon),
    ]
    for test, loss in made:
        ranking = np.arange(_drawn(test).n_items)
        yield _case(test, (ranking, ranking[::-1]), loss)
