"""Bounded noise by integration and by draws; the lower bound binds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from companion.chapters.edge_privacy import optimality
from dprank.models.bradley_terry import erdos_renyi_counts


def test_truncated_laplace_is_private_by_integration():
    for epsilon, delta in ((1.0, 0.01), (0.1, 0.01)):
        cut, b = optimality.truncation(epsilon, delta), 2 / epsilon
        x = np.linspace(-cut - 1, cut + 1, 400_001)

        def law(centre, x=x, cut=cut, b=b):
            y = np.abs(x - centre)
            return np.where(y <= cut, np.exp(-y / b), 0) / (2 * b * -math.expm1(-cut / b))

        excess = np.maximum(law(0.0) - math.exp(epsilon / 2) * law(1.0), 0)
        np.testing.assert_allclose(integrate.trapezoid(excess, x), delta / 2, rtol=1e-2)


def test_bounded_noise_finds_the_best():
    n, bounded = 2000, 5.0
    gap = optimality.enough(n, bounded)
    theta = np.zeros(n)
    theta[0] = gap
    rng = np.random.default_rng(4)
    _, wins = erdos_renyi_counts(theta, 1.0, 5, rng=rng)
    assert gap <= 1
    assert (wins[:, 0] - bounded > wins[:, 1:].max(1) + bounded).all()


def test_lower_bound_binds_a_private_method_on_few_items():
    """At a tenth of its noise the counts beat the bound, as they must if the bound says anything."""
    n, epsilon = 64, 0.05
    gap = optimality.lower_bound(n, epsilon)[0]
    theta = np.zeros(n)
    theta[0] = gap
    rng = np.random.default_rng(6)
    _, wins = erdos_renyi_counts(theta, 1.0, 2000, rng=rng)
    assert ((wins + rng.laplace(0, 0.2 / epsilon, wins.shape)).argmax(1) == 0).mean() > 0.5


def test_shared_bounds_meet_where_all_items_may_lead():
    law = optimality.shared(64, 0.2, 1.0)
    assert law["few"] == pytest.approx(optimality.lower_bound(64, 0.2)[0])
    assert law["delta"] == pytest.approx(optimality.most_delta(64, 0.2))
    assert law["cut"] < law["counts"]
    few = optimality.shared(1e12, 1e-3, 0.5)
    assert few["few"] < few["pure"] < 2.2 * few["few"]
    assert optimality.check_pure_cost().verdict == "needs a condition"
