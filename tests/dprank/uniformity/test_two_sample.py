"""2SAMP against enumeration of all pairs of rankings. Exact."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from checks import each, refused

from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
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
    exact = TwoSample.calibrated(n_items=m, size=delta)
    for test in (exact, replace(exact, threshold=exact.threshold - 0.5)):
        decisions = [test.test(pair) for pair in pairs]
        assert np.mean([d.reject for d in decisions]) == pytest.approx(test.exact_size, abs=1e-12)
        assert test.exact_size <= delta + 1e-12
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
        assert test.exact_size <= delta
        assert float(law.distance_cdf(test.threshold + 1)) > delta


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, 2.0, math.nan])
def test_refuses_a_delta_that_is_no_size(delta):
    with refused(f"size = {delta}", "(0, 1)"):
        TwoSample.calibrated(n_items=5, size=delta)


def test_refuses_other_bad_input():
    with refused("n_items = 1"):
        TwoSample.calibrated(n_items=1, size=0.05)
    with refused("threshold = nan"):
        TwoSample(5, 0.05, math.nan)
    with refused("n_voters = 2"):
        TwoSample.calibrated(n_items=3, size=0.2).test(Rankings([[0, 1, 2]] * 3, "abc"))
    with refused("items = 3", "n_items = 4"):
        TwoSample.calibrated(n_items=4, size=0.2).test(Rankings([[0, 1, 2]] * 2, "abc"))
