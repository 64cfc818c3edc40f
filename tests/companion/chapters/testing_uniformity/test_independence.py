"""Pairs of signs under Mallows laws, against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from companion.chapters.testing_uniformity import (
    independence,
)
from companion.instruments.uniformity import all_pairings
from dprank.models.mallows import Mallows


@pytest.mark.parametrize("phi", [0.2, 0.7])
def test_sign_law(phi):
    law = independence.sign_law(4, phi, ((0, 2), (1, 3)))
    assert law.sum() == pytest.approx(1)
    assert law[1].sum() == pytest.approx(float(Mallows.of_phi(4, phi).before(2)))


def test_pairs_are_independent_if_and_only_if_none_cross():
    for phi in (0.3, 0.8):
        for pairs in all_pairings(6):
            assert (independence.dependence(6, phi, pairs) < 1e-12) == (independence.crossings(pairs) == 0)
    # also with an item between that belongs to no pair
    assert independence.dependence(6, 0.5, ((0, 4), (1, 3))) < 1e-12
    assert independence.dependence(5, 0.5, ((0, 1), (1, 2))) > 0.01  # a shared item
    assert independence.crossings(((3, 0), (5, 1), (2, 4))) == 2


@pytest.mark.parametrize("k", [1, 2, 3])
def test_covariance_of_squares_by_enumeration(k):
    pairs, phi = ((0, 2), (1, 3)), 0.5
    law = independence.sign_law(4, phi, pairs)
    moments = np.zeros(3)
    for cells in product(range(4), repeat=k):
        signs = np.array([[2 * (c // 2) - 1, 2 * (c % 2) - 1] for c in cells])
        p = np.prod([law[c // 2, c % 2] for c in cells])
        y = signs.sum(0) ** 2 / k
        moments += p * np.array([y[0], y[1], y[0] * y[1]])
    assert independence.squares_covariance(phi, k, pairs) == pytest.approx(
        moments[2] - moments[0] * moments[1], abs=1e-12
    )


def test_far_law_by_enumeration():
    for m, g in ((4, 2), (6, 2), (6, 3), (8, 3)):
        counts = [sum(abs(a - b) >= g for a, b in pairs) for pairs in all_pairings(m)]
        expected = np.bincount(counts, minlength=m // 2 + 1) / len(counts)
        assert independence.far_law(m, g) == pytest.approx(expected, abs=1e-14)
        assert independence.far_mean(m, g) == pytest.approx(np.mean(counts))
