"""MA: null law against convolution, sizes against enumeration of all data of few items.

Statistical tests: fixed seeds; false alarm 1e-6 each unless a line says otherwise.
"""

import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import each, refused
from scipy import stats

from dprank.data.kendall import kendall_distances
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.uniformity.mallows_approximate import MallowsApproximate
from dprank.uniformity.two_sample import TwoSample

CENTRES = ("fixed", "first")


@each(("m", "n"), [(3, 2), (3, 3), (4, 2)])
@each("centre", CENTRES)
@each("sided", ["one", "two"])
@pytest.mark.slow
def test_size_is_that_over_all_data_and_p_values_are_honest(m, n, centre, sided):
    items = [f"i{i}" for i in range(m)]
    data = [Rankings(rows, items) for rows in product(permutations(range(m)), repeat=n)]
    delta = 0.2
    test = MallowsApproximate.calibrated(n_items=m, n_voters=n, size=delta, centre=centre, sided=sided)
    decisions = [test.test(rankings) for rankings in data]
    rejected = np.mean([d.reject for d in decisions])
    assert rejected == pytest.approx(test.exact_size, abs=1e-12)
    assert rejected <= delta
    p_values = np.array([d.p_value for d in decisions])
    assert all((p_values <= p).mean() <= p + 1e-12 for p in p_values)
    assert [d.reject for d in decisions] == [p <= delta + 1e-12 for p in p_values]


def test_two_rankings_with_the_first_as_centre_are_2samp():
    for m, delta in ((2, 0.6), (5, 0.05), (40, 0.01)):
        two = TwoSample.calibrated(n_items=m, size=delta)
        test = MallowsApproximate.calibrated(n_items=m, n_voters=2, size=delta)
        assert test.exact_size == pytest.approx(two.exact_size, abs=1e-8)
        assert m * (m - 1) / 4 - test.threshold() == two.threshold


def test_statistics_are_summed_distances_below_their_mean():
    rng = np.random.default_rng(1)
    data = np.argsort(rng.random((9, 6)), axis=1)
    assert MallowsApproximate(6, 9, 0.05).statistic(data) == 8 * 7.5 - kendall_distances(data[1:], data[0]).sum()
    fixed = MallowsApproximate(6, 9, 0.05, "fixed", "two")
    assert fixed.statistic(data) == abs(9 * 7.5 - kendall_distances(data, np.arange(6)).sum())
    borda = MallowsApproximate(6, 9, 0.05, "borda")
    centre = np.argsort(np.argsort(data.sum(axis=0), kind="stable"))
    assert borda.statistic(data) == 9 * 7.5 - kendall_distances(data, centre).sum()


@pytest.mark.slow
def test_the_simulated_law_of_an_estimated_centre_keeps_the_size():
    m, n, delta = 5, 20, 0.1
    rng = np.random.default_rng(2)
    right = MallowsApproximate(m, n, delta, "borda", draws=99)
    law = Mallows(m, 0.0)
    rejected = sum(right.test(Rankings(law.sample(n, rng=rng), "abcde"), rng).reject for _ in range(150))
    assert stats.binom.sf(rejected - 1, 150, delta) > 1e-6


def test_simulated_decision_is_the_rank_of_the_statistic():
    test = MallowsApproximate(4, 3, 0.2, "borda", draws=19)
    data = Rankings([[0, 1, 2, 3], [1, 0, 2, 3], [0, 2, 1, 3]], "abcd")
    decision = test.test(data, np.random.default_rng(3))
    null = test.null_statistics(19, np.random.default_rng(3))
    assert decision.p_value == (1 + (null >= decision.statistic).sum()) / 20
    assert decision.reject == (decision.p_value <= 0.2)
    assert decision.threshold == test.threshold(np.random.default_rng(3))


def test_rejects_a_certain_law():
    same = Rankings([[2, 0, 1, 4, 3]] * 10, "abcde")
    for centre in ("first", "borda"):
        assert (
            MallowsApproximate.calibrated(n_items=5, n_voters=10, size=0.05, centre=centre)
            .test(same, np.random.default_rng(4))
            .reject
        )
    assert not MallowsApproximate(5, 10, 0.05, "fixed").test(Rankings([[4, 3, 2, 1, 0]] * 10, "abcde")).reject


def test_refuses_bad_input():
    with refused("n_items = 1"):
        MallowsApproximate(1, 5, 0.05)
    with refused("n_voters = 1"):
        MallowsApproximate(5, 1, 0.05)
    for delta in (0.0, 1.0, math.nan):
        with refused(f"size = {delta}"):
            MallowsApproximate(5, 5, delta)
    with refused("centre = 'median'"):
        MallowsApproximate(5, 5, 0.05, "median")
    with refused("sided = 'three'"):
        MallowsApproximate(5, 5, 0.05, sided="three")
    with refused("size = 1e-11", "at least 1e-10"):
        MallowsApproximate(5, 5, 1e-11)
    with refused("draws = 18", "19"):
        MallowsApproximate(5, 5, 0.05, "borda", draws=18)
    with refused("rng = None"):
        MallowsApproximate.calibrated(n_items=3, n_voters=2, size=0.05, centre="borda").test(
            Rankings([[0, 1, 2]] * 2, "abc")
        )
    with refused("centre = 'borda'"):
        _ = MallowsApproximate(3, 2, 0.05, "borda").exact_size
    with refused("n_voters = 2"):
        MallowsApproximate(3, 2, 0.05).test(Rankings([[0, 1, 2]] * 3, "abc"))
