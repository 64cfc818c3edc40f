"""MA around a centre that is not its own."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from companion.chapters.testing_uniformity import any_centre
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows


def test_limit_of_an_arbitrary_centre_by_enumeration():
    for m, n in ((5, 2), (6, 9)):
        distance = np.array([kendall_distance(row, range(m)) for row in permutations(range(m))])
        mean, variance = Mallows(m, 0.0).distance_moments()
        z = (distance - mean) / math.sqrt(variance / n)
        assert any_centre.fixed_centre_limit(m, n) == pytest.approx((np.abs(z) >= stats.norm.ppf(0.975)).mean())
        assert any_centre.fixed_centre_limit(m, n, 1) == pytest.approx((z <= stats.norm.ppf(0.05)).mean())


def test_fixed_centre_limit_counts_the_centres_on_the_near_side():
    for m, sides, share in ((3, 1, 1 / 2), (3, 2, 1), (4, 1, 9 / 24), (4, 2, 18 / 24)):
        assert any_centre.fixed_centre_limit(m, 10**6, sides) == pytest.approx(share)
