"""Closed forms; nothing here is random."""

import math

import numpy as np
import pytest
from mpmath import iv

from companion.instruments import topk as common


def test_printed_noise():
    assert common.theorem_2_1(7, 0.2) == pytest.approx(70)
    assert common.printed_scale(1, 0.2, 0.05, 2) == pytest.approx(40 * math.sqrt(math.log(40)))
    assert common.theorem_2_2(3, 2000.0, 0.1, 1e-6) == pytest.approx(80 * math.sqrt(3 * (2000 + 6 * math.log(10))))


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (1.0, 1.0 + 1e-12), common.ends(iv.mpf(1) / 3)])
def test_a_certified_check_covers_its_bounds_and_decides_beyond_them(bounds):
    low, high = bounds
    check = common.certified("x", bounds, "<=", high)
    assert check.observed - check.error <= low <= high <= check.observed + check.error
    assert common.certified("x", bounds, "<=", high + 1e-9).outcome is True
    assert common.certified("x", bounds, "<=", low - 1e-9).outcome is False


def test_panels_stop_at_kinks():
    half, at, weight = common.panels([-3.0, 0.3, 7.0], -1.0, 2.0)
    edges = np.r_[(at.mean(axis=1) - half[:, 0]), 2.0]
    assert (2 * half <= 1 + 1e-12).all()
    assert np.abs(edges - 0.3).min() < 1e-12
    assert (half * weight * np.abs(at - 0.3)).sum() == pytest.approx((1.3**2 + 1.7**2) / 2, rel=1e-14)


def test_integrals_upwards_are_those_of_the_law():
    grid = common.noise_grid([0.0, 1.5], "gumbel")
    upwards = common.integral_above(np.exp(grid.density), grid.half)
    assert upwards == pytest.approx(np.exp(grid.above), abs=1e-12)
