"""The lower bound on any test against exact overlaps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from companion.chapters.testing_uniformity import fewest_rankings, fixed_epsilon, mallows_laws
from companion.instruments.uniformity import all_distances, all_rankings


def covariances(m):
    distances = all_distances(m).astype(float)
    centred = distances - distances.mean(1, keepdims=True)
    return centred @ centred[0] / len(centred)


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_covariance_formula_and_its_variances(m):
    exact = covariances(m)
    first, second = np.triu_indices(m, 1)
    signs = np.where(all_rankings(m)[:, first] < all_rankings(m)[:, second], 1, -1)
    assert signs @ ((2 * (second - first) + 1) / 12) == pytest.approx(exact, abs=1e-9)
    variance, proxy = fixed_epsilon.shared_variance(m)
    assert variance == pytest.approx(exact.var(), rel=1e-9)
    assert proxy <= m * ((m**2 - 1) / 12) ** 2 * (1 + 1e-12)
    for t in (-2.0, -0.1, 0.1, 0.5, 2.0):
        assert np.exp(t * exact).mean() <= math.exp(t**2 * proxy / 2)


@pytest.mark.parametrize("m", [3, 5, 6])
def test_remainder_bounds_what_the_second_order_leaves(m):
    for share in (0.05, 0.3, 0.9):
        theta = share * 0.5 / (2 * math.e * (2 * m - 3))
        off = np.abs(np.log(mallows_laws.overlaps(m, theta)) - theta**2 * covariances(m)).max()
        assert off <= fewest_rankings.remainder(m, theta) < math.inf
    assert fewest_rankings.remainder(m, 1.0) == math.inf


def test_cumulants_obey_the_bound_that_the_remainder_sums():
    m, r = 5, 4
    for row in all_distances(m)[:40].astype(float):
        x = row + all_distances(m)[0]
        x -= x.mean()
        fourth = (x**4).mean() - 3 * (x**2).mean() ** 2
        assert abs(fourth) <= 2 ** (r - 1) * r ** (r - 2) * 10 * (2 * m - 3) ** (r - 1)


def test_leading_form_is_right_where_theta_is_small():
    for m in (4, 6):
        row = fewest_rankings.overlap_table([m], 0.01, 5).iloc[0]
        assert row.exact == pytest.approx(row.leading, rel=0.01)


def test_proved_samples_solve_the_bound_and_stay_below_the_leading_order():
    m, epsilon, delta = 10**12, 0.5, 0.05
    theta = fixed_epsilon.bracket(m, epsilon)[1]
    k = fewest_rankings.proved_samples(m, epsilon, delta)
    exponent = k**2 * theta**4 * m * ((m**2 - 1) / 12) ** 2 / 2 + k * fewest_rankings.remainder(m, theta)
    assert math.sqrt(math.expm1(exponent)) / 2 == pytest.approx(1 - 2 * delta, rel=1e-9)
    assert fewest_rankings.proved_samples(100, epsilon, delta) == 0
    assert (
        k
        < math.sqrt(2 * math.log(1 + 4 * 0.81) * 1296 / m**5)
        / (fixed_epsilon.limit(epsilon) / math.sqrt(m**3 / 36)) ** 2
    )


@pytest.mark.parametrize(("items", "phi"), [(2, Fraction(1, 3)), (3, Fraction(1, 2)), (4, Fraction(9, 10))])
def test_two_rankings_by_the_mixture_over_all_centres(items, phi):
    weights = np.vectorize(lambda d: float(phi) ** d)(all_distances(items))
    law = weights / weights[0].sum()
    one, two = (np.abs(it * it.size - 1).mean() / 2 for it in (law[0], law.T @ law / len(law)))
    share = fewest_rankings.two_rankings_share(items, phi)
    assert float(share) == pytest.approx(two / (2 * one**2), rel=1e-12)
    assert share <= 1


def test_above_its_tolerance_the_bound_on_two_rankings_refutes_nothing():
    few = fixed_epsilon.sample_table([30, 50], [0.5, 0.7], 0.05)
    first = [fewest_rankings.check_rate(few, epsilon)[0].outcome for epsilon in (0.5, 0.7)]
    assert first == [False, True]


def test_a_reader_s_few_items_and_the_figure():
    few = fixed_epsilon.sample_table([30, 50], [0.5], 0.05)
    assert fewest_rankings.check_rate(few).verdict == "refuted"
    assert len(fewest_rankings.draw_samples(fixed_epsilon.rate_table((30, 300, 10**5), 0.5, 0.05)).axes) == 1
