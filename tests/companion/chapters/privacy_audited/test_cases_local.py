"""Local mechanisms, audited. A statistical check raises a false alarm with probability below 1e-6 each; seeds fixed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product
from typing import get_args
from unittest.mock import Mock

import numpy as np
import pytest
from checks import all_rankings, certified_epsilon, each, refused
from scipy import stats

from companion.chapters.privacy_audited.cases import local
from companion.printed.alabi2022 import Assignment, Counter, PrintedKwikSort, PrintedTranscript, Report, report_loss
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_laws import poll_of, report_law, sides_law
from dprank.aggregation.local_reports import LocalMatrix, OneRound
from dprank.aggregation.randomisers import OrderReport, SampledOrder, SplitResponse
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.privacy.coins import law_of
from dprank.privacy.divergence import pair_of
from dprank.privacy.laws import exact, sample, signs_law
from dprank.topk.local import LocalTopK

ALARM = 1e-6
CASES = {case.name: case for case in local.cases()}
#: Of rankings; reports on comparisons and on items are listed beside their classes.
RANKED = [name for name, case in CASES.items() if not isinstance(case.mechanism, LocalComparisons | LocalTopK)]


def loss(mechanism, data, other):
    return exact(mechanism, np.asarray(data), np.asarray(other)).epsilon(0)


def test_every_randomiser_has_a_case():
    mechanisms = [case.mechanism for case in CASES.values()]
    kinds = {type(m.randomiser).__name__ for m in mechanisms if isinstance(m, OneRound)}
    assert kinds >= {"VectorReport", "SplitResponse", "PrintedPair", "SampledOrder", "OrderReport", "PositionVector"}


@each("name", RANKED)
@pytest.mark.slow
def test_no_two_rankings_lose_more(name):
    """Over all pairs of rankings; items are told apart by no mechanism, so that few of the firsts do beyond three."""
    case = CASES[name]
    rankings = all_rankings(case.mechanism.n_items)
    firsts = {6: rankings, 24: rankings[::7], 120: rankings[:1]}[len(rankings)]
    worst = max(loss(case.mechanism, a, b) for a in firsts for b in rankings)
    assert worst == pytest.approx(case.exact_epsilon(), rel=1e-12)


@pytest.mark.slow
def test_copied_counters_let_a_voter_say_more_than_is_counted():
    """Five answers are counted; a split of four items in halves asks for a sixth, and the guarantee allows for it."""
    design = PrintedKwikSort(5, 0.4, 5, 1, assignment="fresh", report="centred")
    found = loss(design, np.arange(5), np.arange(5)[::-1])
    assert found == pytest.approx(6 * 0.4)
    assert found <= design.guarantee.epsilon


@each("counter", get_args(Counter))
@pytest.mark.slow
def test_no_design_of_three_items_breaks_its_guarantee(counter):
    """The guarantee is attained where queries are counted."""
    fallbacks = (None, LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=0.5, length=2)))
    designs = product((1, 2), (1, 2), get_args(Assignment), get_args(Report), fallbacks)
    for blocks, reports, assignment, report, fallback in designs:
        design = PrintedKwikSort(3, 0.7, reports, blocks, fallback, assignment, report, counter)
        found, promised = loss(design, [0, 1, 2], [2, 1, 0]), design.guarantee.epsilon
        assert found <= promised + 1e-9
        assert counter != "query" or found == pytest.approx(promised)


def test_the_printed_design_mended_is_the_library_s():
    """Fresh blocks, centred reports and one counter: the same law, by code of its own."""
    mended = {"assignment": "fresh", "report": "centred", "counter": "query"}
    for some in ((3, 0.7, 1, 2), (4, 0.5, 3, 2)):
        ours, theirs, ranking = LocalKwikSort(*some), PrintedKwikSort(*some, None, **mended), range(some[0])
        assert ours.guarantee == theirs.guarantee
        assert loss(ours, ranking, ranking[::-1]) == pytest.approx(loss(theirs, ranking, ranking[::-1]), rel=1e-12)


@each("report", ["centred", "printed"])
def test_loss_of_answers_from_a_hand_count(report):
    """One block, one report: the first answer is the voter's, all others are coins."""
    design = PrintedKwikSort(3, 0.7, 1, 1, assignment="fresh", report=report, counter="query")
    assert loss(design, [0, 1, 2], [2, 1, 0]) == pytest.approx(report_loss(0.7, report))
    law = law_of(lambda rng: PrintedTranscript(design, poll_of(design, [0, 1, 2]), rng).answers.ravel().tobytes())
    # pivot 0 is asked about 1 first, pivots 1 and 2 about 0: two outcomes each, and that is all
    assert len(law) == 6
    assert sum(law.values()) == pytest.approx(1)


def test_sides_of_the_ball_from_the_circle():
    """Two vectors of the plane, by the angle of the direction on a fine grid."""
    one, other, turned = np.array([1.0, 0.0]), np.array([1.0, 2.0]), 0.2
    angles = (np.arange(200_000) + 0.5) / 200_000 * 2 * np.pi
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    laws = [np.where(directions @ vector > 0, 1 - turned, turned) / 100_000 for vector in (one, other)]
    grid, formula = pair_of(*laws), sides_law(one, other, turned)
    levels = [0.0, 0.3, 1.0, 1.3]
    assert formula.delta(levels) == pytest.approx(grid.delta(levels), abs=1e-5)
    assert formula.epsilon(0) == pytest.approx(math.log(4))
    assert sides_law(one, one, turned).delta(0.0) == 0
    assert sides_law(one, -one, turned).delta(0.0) == pytest.approx(1 - 2 * turned)


def test_broken_laws_are_louder():
    right = SplitResponse.calibrated(n_items=3, epsilon=1.0)
    signs = np.array([1, 1, 1])
    assert pair_of(signs_law(signs, 0.3), signs_law(-signs, 0.3)).epsilon(0) == pytest.approx(3 * math.log(7 / 3))
    assert pair_of(signs_law(signs, 0.0), signs_law(-signs, 0.0)).epsilon(0) == math.inf
    less = SplitResponse(3, right.flips - (right.flips // 10))
    assert loss(LocalMatrix(less), [0, 1, 2], [2, 1, 0]) > 1.1
    with refused("its reports cannot be listed"):
        report_law(VectorReport.calibrated(n_items=3, epsilon=1.0), all_rankings(3))


def test_composition_with_the_fallback_is_the_sum():
    """Answers and the report of the fallback, each on its own: a voter who sends both loses both."""
    order = OrderReport(SampledOrder.calibrated(n_items=3, epsilon=0.8, length=2))
    for report in (order, PositionVector.calibrated(n_items=3, epsilon=0.8)):
        design = LocalKwikSort(3, 0.5, 2, 1, fallback=LocalBorda(report))
        assert loss(design, [0, 1, 2], [2, 1, 0]) == pytest.approx(2 * 0.5 + 0.8, rel=1e-9)
    assert loss(replace(design, fallback=LocalBorda(order)), [0, 1, 2], [0, 2, 1]) <= 2 * 0.5 + 0.8


def drawing(vector):
    """A generator that draws this vector, and keeps the voter's side."""
    rng = Mock(spec=np.random.default_rng(0))
    rng.standard_normal = lambda shape: np.broadcast_to(np.array(vector, float), shape).copy()
    rng.integers = lambda low, high, size, dtype: np.full(size, high - 1, dtype)
    return rng


def test_a_direction_at_right_angles_is_sent_as_drawn():
    """A report of its own would tell rankings apart: the vector is orthogonal to the first ranking only."""
    poll = LocalBorda(PositionVector.calibrated(n_items=3, epsilon=1.0))
    for ranking, side in (([0, 1, 2], 1), ([0, 2, 1], -1)):
        assert poll.report(ranking, drawing([1, -2, 1])) == pytest.approx(side * np.array([1, -2, 1]) / math.sqrt(6))


def test_laws_of_small_programs():
    law = law_of(lambda rng: int(rng.integers(6) + rng.integers(6)))
    assert law[5] == pytest.approx(6 / 36)
    assert sum(law.values()) == pytest.approx(1)
    assert law_of(lambda rng: "same") == {"same": 1}
    binomial = law_of(lambda rng: int(rng.binomial(3, 0.2)))
    assert [*binomial.values()] == pytest.approx(stats.binom.pmf([0, 1, 2, 3], 3, 0.2))
    assert law_of(lambda rng: int(rng.binomial(0, 0.2))) == {0: 1}
    assert sorted(law_of(lambda rng: tuple(rng.permutation(3).tolist()))) == sorted(permutations(range(3)))
    stopped = law_of(lambda rng: "a" if rng.random() < 0.5 else rng.choice(["b", "c"]))
    assert stopped == pytest.approx({"a": 1 / 2, "b": 1 / 4, "c": 1 / 4})


def test_counts_of_outcomes_certify_most_of_the_loss():
    case = CASES["LocalMatrix, order of 3"]
    rows = [sample(case.mechanism, data, 200_000, np.random.default_rng(3)) for data in (case.data, case.other)]
    counts = [np.bincount((side @ [9, 3, 1]).astype(int), minlength=27) for side in rows]
    assert 0.95 < certified_epsilon(*counts, ALARM) <= 1
