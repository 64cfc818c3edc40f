"""What several sections share, against enumeration and closed forms."""

import math
from itertools import combinations

import numpy as np
import pytest
from checks import refused
from scipy import special

from companion.instruments import uniformity as common
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows


def test_all_rankings_and_pairings_are_all_and_different():
    assert len({tuple(row) for row in common.all_rankings(4).tolist()}) == 24
    pairings = common.all_pairings(6)
    assert len({str(pairs.tolist()) for pairs in pairings}) == 15
    assert all(sorted(pairs.ravel()) == [*range(6)] for pairs in pairings)
    with refused("n_items = 9", "2 to 8"):
        common.all_rankings(9)


def test_mean_square_bias_by_enumeration():
    law, rows = Mallows(5, 0.3), common.all_rankings(5)
    weight = np.array([law.phi ** kendall_distance(row, range(5)) for row in rows])
    weight /= weight.sum()
    bias = [weight @ np.where(rows[:, i] < rows[:, j], 1, -1) for i, j in combinations(range(5), 2)]
    assert common.mean_square_bias(law) == pytest.approx(np.mean(np.square(bias)))


def test_distance_law_keeps_precision_in_its_tail():
    law = common.distance_law(25)
    assert law[0] == pytest.approx(1 / math.factorial(25), rel=1e-12)
    assert law[1] == pytest.approx(24 / math.factorial(25), rel=1e-12)


def test_divergence_is_the_sum():
    law, null = common.distance_law(6, 0.2), common.distance_law(6)
    assert common.divergence(Mallows(6, 0.2)) == pytest.approx(special.rel_entr(law, null).sum(), rel=1e-9)
    assert common.divergence(Mallows.of_phi(2, 0.5)) == pytest.approx(2 / 3 * math.log(4 / 3) + 1 / 3 * math.log(2 / 3))


def test_exponent_of_a_power_law():
    assert common.exponent([1, 2, 5], [3, 12, 75]) == pytest.approx(2)


@pytest.mark.parametrize("step", [2, 3, 17, 1000])
def test_least_finds_the_step(step):
    assert common.least(lambda n: n >= step) == step
    assert step <= common.least(lambda n: n >= step, share=0.1) <= step / 0.9


def test_certain_is_wider_than_clopper_pearson_and_a_bound():
    for k, n in ((0, 20), (3, 20), (50, 100), (100, 100)):
        half = common.certain(k / n, n, 1e-6)
        low = special.betaincinv(k, n - k + 1, 5e-7) if k else 0
        high = special.betaincinv(k + 1, n - k, 1 - 5e-7) if k < n else 1
        assert k / n - half <= low + 1e-9
        assert k / n + half >= high - 1e-9
    assert common.certain(0, 20, 1e-6) == pytest.approx(1 - (5e-7) ** (1 / 20))


def test_wilson_contains_the_mean_and_shrinks():
    low, high = common.wilson([0, 0.5, 1], [100, 100, 100])
    assert ((low <= np.array([0, 0.5, 1]) + 1e-12) & (high >= np.array([0, 0.5, 1]) - 1e-12)).all()
    assert low[1] == pytest.approx(0.4038, abs=1e-4)
