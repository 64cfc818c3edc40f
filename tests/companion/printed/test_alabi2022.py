"""What Alabi et al. print. Seeds are fixed; a statistical test raises a false alarm with probability 1e-6."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from checks import HARDLY, each, law_p_value, refused

from companion.printed.alabi2022 import (
    ClippedMatrix,
    PrintedKwikSort,
    PrintedPair,
    algorithm_2,
    algorithm_3,
    corollary_3,
    corollary_4,
    corollary_6,
    corollary_7,
    plus_chances,
    report_loss,
)
from dprank.aggregation.local_reports import LocalMatrix
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact, sample
from dprank.privacy.randomized_response import GRAIN

Z = 5.5
ITEMS = ("a", "b", "c", "d", "e")


def votes(n, m=5, seed=None):
    rng = np.random.default_rng(seed)
    rows = [np.arange(m) if seed is None else rng.permutation(m) for _ in range(n)]
    return Rankings(rows, ITEMS[:m])


class Fallback:
    guarantee = Guarantee(0.25, model="local")


def test_corollary_3_clips_and_uses_half_its_budget():
    for m in (2, 3, 10, 100):
        printed = corollary_3(m, 0.5)
        assert printed.guarantee.epsilon == pytest.approx(0.5 * (m - 1) / (2 * m))
        assert (printed.mechanism.scale, printed.claims) == (m * m / 0.5, Guarantee(0.5))
    released = corollary_3(5, 0.01).release(votes(20, seed=0), np.random.default_rng(0))
    assert abs(released.margins).max() == 20
    normal = corollary_4(10, 2.0, 1e-4, constant=3.0)
    assert normal.mechanism.scale == pytest.approx(3 * 5 * math.sqrt(math.log(1e4)))
    assert normal.claims == Guarantee(2.0, 1e-4)
    assert corollary_4(10, 128.0, 1e-6).guarantee.epsilon > 128


def test_corollaries_6_and_7_promise_more_than_they_keep():
    printed = corollary_6(8, 20, 1.0)
    assert printed.mechanism.scale == 20.0
    assert printed.mechanism.fallback.scale == 128.0
    assert printed.guarantee.epsilon == pytest.approx(1 + 28 / 128)
    assert printed.claims == Guarantee(1.0)
    assert corollary_6(4, 20, 1.0).mechanism.fallback is None
    gaussian = corollary_7(8, 20, 1.0, 0.01, constant=3.0)
    assert gaussian.mechanism.scale == pytest.approx(3 * math.sqrt(20 * math.log(100)))
    assert gaussian.mechanism.fallback.noise == "laplace"
    assert gaussian.claims == Guarantee(1.0, 0.01)


def test_printed_answers_spend_half():
    for epsilon in (0.01, 1.0, 6.0):
        printed = algorithm_2(4, epsilon)
        report = printed.mechanism.randomiser
        assert printed.claims == Guarantee(epsilon, model="local")
        assert report.loss == pytest.approx(math.log((1 + math.exp(epsilon)) / 2), rel=1e-9)
        assert report.variance == pytest.approx(4 * 6 / math.tanh(epsilon / 2) ** 2)


def test_printed_answers_yes_are_unbiased():
    report, rng = PrintedPair.calibrated(n_items=3, epsilon=1.0), np.random.default_rng(5)
    reports = report.report(np.tile([0, 1, 2], (60_000, 1)), rng)
    variance = report.variance - 4
    assert np.abs(report.estimate(reports) - 1).max() < Z * math.sqrt(variance / 60_000)


def test_the_printed_pair_s_loss_is_rounded_up():
    with localcontext(prec=60):
        for epsilon in np.geomspace(1e-9, 20, 400).tolist():
            pair = PrintedPair.calibrated(n_items=4, epsilon=epsilon)
            loss = (Decimal(GRAIN) / Decimal(2 * pair.flips)).ln()
            assert loss <= Decimal(pair.loss) <= loss * (1 + Decimal("1e-15"))
            assert loss <= Decimal(epsilon)


@each("report", ["centred", "printed"])
@each("epsilon_0", [0.01, 1.0, 5.0])
def test_loss_of_a_report_is_that_of_its_two_laws(report, epsilon_0):
    laws = [[p, 1 - p] for p in plus_chances(epsilon_0, report)]
    assert report_loss(epsilon_0, report) == pytest.approx(privacy_loss(*laws), rel=1e-12)


def test_loss_of_a_report_at_the_extremes():
    assert report_loss(2000.0, "printed") == pytest.approx(2000 - np.log(2))
    assert report_loss(1e-12, "printed") == pytest.approx(5e-13, rel=1e-9, abs=0)


def test_guarantee_is_the_loss_of_all_reports_to_two_opposite_voters():
    printed = algorithm_3(4, 6, 2.0, counter="query")
    design = printed.mechanism
    assert (design.reports, design.report_epsilon) == (3, 2 / 3)
    laws = [np.prod(list(product((p, 1 - p), repeat=3)), axis=1) for p in plus_chances(2 / 3, "printed")]
    assert design.guarantee.epsilon == pytest.approx(privacy_loss(*laws))
    assert printed.claims == Guarantee(2.0, model="local")


def test_the_printed_counter_stops_inside_the_block():
    design = algorithm_3(2, 1, 1.0, counter="voter").mechanism
    answers = design.poll(votes(4, 2), np.random.default_rng(0))
    assert answers.query(0, 1) is None
    assert sorted(answers.sent) == [0, 0, 0, 1]
    assert design.poll(votes(2, 2), np.random.default_rng(0)).query(0, 1) is not None


def test_the_papers_fallback_ranks_in_its_place():
    fallback = LocalMatrix.calibrated(n_items=5, epsilon=0.5)
    design = algorithm_3(5, 40, 1.0, counter="voter", fallback=fallback).mechanism
    released = design.release(votes(5 * 17), np.random.default_rng(6))  # 17 voters a block, 16 reports
    assert sorted(released.ranking) == list(ITEMS)
    reports = 10 * report_loss(1 / 16, "printed")  # there are ten pairs
    assert released.guarantee.epsilon == pytest.approx(reports + fallback.guarantee.epsilon)


@pytest.mark.parametrize("counter", ["query", "voter"])
def test_no_voter_sends_more_than_promised(counter):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        design = PrintedKwikSort(5, 1.0, 3, 2, report="centred", counter=counter)
        answers = design.poll(votes(9), rng)
        for _ in range(30):
            answers.query(*rng.choice(5, 2, replace=False))
        assert answers.sent.max() == (3 if counter == "query" else 1)


def test_without_noise_the_order_is_the_voters():
    for counter in ("query", "copied"):
        design = PrintedKwikSort(5, 60.0, 10, 2, report="centred", counter=counter)
        order = design.release(votes(2), np.random.default_rng(3))
        assert order.ranking == ITEMS


@pytest.mark.parametrize("report", ["centred", "printed"])
def test_answers_are_unbiased(report):
    data, rng = votes(7, seed=1), np.random.default_rng(2)
    w = data.pairwise() / 7
    design = PrintedKwikSort(5, 0.8, 10, 3, report=report, counter="query")
    seen = np.array([design.poll(data, rng).query(3, 1) for _ in range(4000)])
    assert abs(seen.mean() - w[3, 1]) < Z * seen.std() / len(seen) ** 0.5


@pytest.mark.parametrize("report", ["centred", "printed"])
@pytest.mark.slow
def test_one_voter_s_answer_has_the_law_that_is_promised(report):
    """And a mutant that spends half more is caught."""
    rng, draws = np.random.default_rng(8), 2500

    def pluses(epsilon_0, item, other):
        design = PrintedKwikSort(5, epsilon_0, 1, 1, report=report, counter="query")
        return sum(design.poll(votes(1), rng).query(item, other) > 0.5 for _ in range(draws))

    no, yes = plus_chances(1.0, report)
    for chance, pair in ((no, (3, 1)), (yes, (1, 3))):
        count = pluses(1.0, *pair)
        assert law_p_value([count, draws - count], np.array([chance, 1 - chance])) > 1e-7
    count = pluses(1.5, 1, 3)
    assert law_p_value([count, draws - count], np.array([yes, 1 - yes])) < 1e-7


def test_guarantee_counts_the_fallback_and_copies():
    with_fallback = algorithm_3(4, 6, 2.0, counter="query", fallback=Fallback()).guarantee.epsilon
    assert with_fallback == pytest.approx(algorithm_3(4, 6, 2.0, counter="query").guarantee.epsilon + 0.25)
    assert algorithm_3(4, 6, 2.0).guarantee.epsilon == pytest.approx(6 * report_loss(2 / 3))
    fresh = PrintedKwikSort(5, 0.5, 1, 4, assignment="fresh", report="centred")  # ten pairs in turn to four blocks
    assert fresh.guarantee.epsilon == 1.5


def test_printed_pairs_are_unbiased_with_the_stated_variance():
    """Of a voter who says no, where the variance is the largest; and a scale ten percent off is noticed."""
    report, voters, batches = PrintedPair.calibrated(n_items=4, epsilon=1.3), 60_000, 300
    reports = report.report(np.tile([3, 2, 1, 0], (voters, 1)), np.random.default_rng(21))
    error = math.sqrt(report.variance / voters)
    assert np.abs(report.estimate(reports) + 1).max() < Z * error
    parts = np.array([report.estimate(part) for part in np.split(reports, batches)])
    share = parts.var(0, ddof=1).mean() * voters / batches / report.variance
    assert abs(share - 1) < Z * math.sqrt(2 / batches)
    assert np.abs(1.3 * report.estimate(reports) + 1).max() > Z * error


@each("epsilon", [1e-3, 1.0, 20.0])
def test_printed_pairs_spend_all_of_epsilon_and_no_more(epsilon):
    loss = PrintedPair.calibrated(n_items=5, epsilon=epsilon).loss
    assert epsilon * (1 - 1e-6) < loss <= epsilon


def test_a_clipped_matrix_publishes_what_it_samples():
    mechanism, data = ClippedMatrix(3, 4.0, law="continuous", rule="borda"), votes(2, 3)
    rows = sample(mechanism, data, 200, np.random.default_rng(0))
    assert abs(rows[:, 3:]).max() == 2
    assert abs(mechanism.release(data, np.random.default_rng(0)).margins).max() <= 2
    quiet = ClippedMatrix(3, HARDLY, rule="borda").release(data, np.random.default_rng(0))
    assert quiet.ranking == ("a", "b", "c")
    wide = exact(mechanism, data, Rankings([[0, 1, 2], [2, 1, 0]], ITEMS[:3]))
    assert wide.epsilon(0) == pytest.approx(mechanism.guarantee.epsilon)


@each(
    "words, make",
    [
        (["n_items = '3'"], lambda: corollary_3("3", 1.0)),
        (["n_items = 1"], lambda: corollary_3(1, 1.0)),
        (["delta = 1"], lambda: corollary_4(3, 1.0, 1.0)),
        (["constant = 0"], lambda: corollary_4(3, 1.0, 0.1, constant=0)),
        (["epsilon", "0"], lambda: corollary_6(4, 5, 0.0)),
        (["delta = 0"], lambda: corollary_7(4, 5, 1.0, 0)),
        (["queries", "1"], lambda: algorithm_3(3, 1, 1.0)),
        (["adjacency = 'add_remove'"], lambda: ClippedMatrix(3, 1.0, adjacency="add_remove")),
        (["no error is proved"], lambda: ClippedMatrix(3, 1.0).additive_error(5)),
        (["assignment", "'odd'"], lambda: PrintedKwikSort(3, 1.0, 1, 1, assignment="odd")),
        (["report", "'odd'"], lambda: PrintedKwikSort(3, 1.0, 1, 1, report="odd")),
        (["counter", "'odd'"], lambda: PrintedKwikSort(3, 1.0, 1, 1, counter="odd")),
        (["flips = "], lambda: PrintedPair(3, GRAIN // 2)),
        (["too little noise for any finite epsilon"], lambda: PrintedKwikSort(3, 1e308, 2, 1)),
        (["report_epsilon = inf", "above 0"], lambda: PrintedKwikSort(3, math.inf, 2, 1)),
    ],
)
def test_refusals(words, make):
    with refused(*words):
        make()


def test_whole_numbers_of_any_kind_are_numbers():
    assert corollary_3(np.int8(100), np.float32(1)) == corollary_3(100, 1.0)
