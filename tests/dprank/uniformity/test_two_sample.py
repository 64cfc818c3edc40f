"""2SAMP against enumeration of all pairs of rankings. Exact."""

import math
from itertools import permutations

import numpy as np
import pytest
from companion.printed import busafekete2021 as paper
from checks import each, refused

from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.two_sample import TwoSample

DELTAS = (0.4, 0.2, 0.05, 0.01)


def all_pairs(m):
    rankings = [np.array(p) for p in permutations(range(m))]
    return [Rankings([a, b], [f"i{i}" for i in range(m)]) for a in rankings for b in rankings]


@each("m", [2, 3, 4])
@each("delta", DELTAS)
@pytest.mark.slow
def test_decisions_over_all_pairs_have_the_stated_size_and_p_values(m, delta):
    pairs = all_pairs(m)
    distances = np.array([kendall_distance(*pair.positions) for pair in pairs])
    exact, printed = TwoSample.calibrated(n_items=m, size=delta), paper.two_sample(m, delta)
    for test in (exact, printed):
        decisions = [test.test(pair) for pair in pairs]
        assert np.mean([d.reject for d in decisions]) == pytest.approx(test.size, abs=1e-12)
        assert test.size <= delta + 1e-12
        for pair, decision, distance in zip(pairs, decisions, distances, strict=True):
            assert decision.statistic == test.statistic(pair) == distance
            assert decision.p_value == pytest.approx((distances <= distance).mean(), abs=1e-12)
            assert decision.reject == (distance <= test.threshold)
    assert (distances <= exact.threshold + 1).mean() > delta - 1e-12  # no larger threshold keeps the size


@pytest.mark.parametrize("m", [2, 7, 60, 1000])
def test_exact_threshold_is_the_largest_that_keeps_the_size(m):
    law = Mallows(m, 0.0)
    for delta in DELTAS:
        test = TwoSample.calibrated(n_items=m, size=delta)
        assert test.size <= delta
        assert float(law.distance_cdf(test.threshold + 1)) > delta
        assert test.threshold >= paper.two_sample(m, delta).threshold or test.threshold == -1


def test_printed_threshold_and_condition_are_the_paper_s():
    test = paper.two_sample(100, 0.05)
    assert test.threshold == 100 * 99 / 4 - math.sqrt(100**3 * math.log(20) / 12)
    assert test.least_gap == 8 / (107 - math.sqrt(12 * math.log(40) * 100))
    edge = Mallows.of_gap(100, test.least_gap * (1 + 1e-3)).total_variation()
    for epsilon in (0.5, 0.99):
        assert test.applies(epsilon) == (-math.expm1(-theta_at(100, epsilon)) >= test.least_gap)
    assert not test.applies(0.9)
    assert edge == pytest.approx(1, abs=1e-9)  # where line 3 lets it run, the laws hardly overlap


def test_line_3_lets_two_items_pass_at_any_epsilon_and_forty_at_none():
    assert all(paper.two_sample(2, 0.05).applies(epsilon) for epsilon in (1e-6, 0.1, 0.49))
    assert not any(paper.two_sample(40, 0.05).applies(epsilon) for epsilon in (1e-6, 0.5, 1 - 1e-9))


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, 2.0, math.nan])
def test_refuses_a_delta_that_is_no_size(delta):
    for make in (TwoSample.as_printed, TwoSample.exact):
        with refused(f"delta = {delta}", "(0, 1)"):
            make(5, delta)


def test_refuses_other_bad_input():
    with refused("n_items = 1"):
        TwoSample.calibrated(n_items=1, size=0.05)
    with refused("threshold = nan"):
        TwoSample(5, 0.05, math.nan)
    with refused("n_rankings = 2"):
        TwoSample.calibrated(n_items=3, size=0.2).test(Rankings([[0, 1, 2]] * 3, "abc"))
    with refused("n_items = 3", "n_items = 4"):
        TwoSample.calibrated(n_items=4, size=0.2).test(Rankings([[0, 1, 2]] * 2, "abc"))
    with refused("epsilon = 0.5"):
        TwoSample.calibrated(n_items=2, size=0.05).applies(0.5)
