"""Laws of signs by enumeration, and formulas for moments."""

import numpy as np
import pytest
from checks import each

from companion.chapters.private_uniformity import local_channels, local_moments
from companion.instruments.uniformity import all_pairings, all_rankings
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows


def test_randomised_law_is_the_channel():
    m, pairs = 4, all_pairings(4)[1]
    weights = local_moments.sign_law(m, 0.5, pairs)
    rankings = all_rankings(m)
    law = Mallows(m, 0.5)
    chance = np.exp(-0.5 * kendall_distances(rankings, np.arange(m)) - law.log_normaliser)
    np.testing.assert_allclose(local_moments.randomised(weights, 0.3), chance @ local_channels.channel(m, 0.3, pairs))


@each("pairs", all_pairings(6))
def test_signs_are_independent_exactly_if_no_two_pairs_cross(pairs):
    signs = local_channels.sign_vectors(3)
    law = local_moments.sign_law(6, 0.7, pairs)
    gap = np.abs(law - ((1 + (law @ signs) * signs) / 2).prod(1)).max()
    crossing = any(a < c < b < d for a, b in pairs for c, d in pairs)
    assert (gap > 1e-4) == crossing
    assert (gap < 1e-12) != crossing


@each("samples", [1, 2, 5])
@each("pairs", all_pairings(4))
def test_moment_formula_with_products_is_exact(samples, pairs):
    law = local_moments.sign_law(4, 0.8, pairs)
    signs = local_channels.sign_vectors(2)
    products = np.einsum("z,zi,zj->ij", law, signs, signs)
    exact = local_moments.statistic_moments(law, samples)
    assert local_moments.unif_moments(law @ signs, samples, products) == pytest.approx(exact, abs=1e-12)
