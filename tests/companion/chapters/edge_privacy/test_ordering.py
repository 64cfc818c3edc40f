"""Orders of a few items by brute force; the steps of the argument that no private method ranks everything."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from companion.chapters.edge_privacy import ordering
from dprank.models.bradley_terry import LOGISTIC


def test_telling_comparisons_by_brute_force():
    rng = np.random.default_rng(2)
    for n in (2, 3, 6):
        theta = np.sort(rng.normal(0, 2, n))[::-1]
        for k in range(n - 1):
            swapped = theta.copy()
            swapped[[k, k + 1]] = swapped[[k + 1, k]]
            moved = sum(
                abs(LOGISTIC.cdf(theta[i] - theta[j]) - LOGISTIC.cdf(swapped[i] - swapped[j]))
                for i, j in combinations(range(n), 2)
            )
            np.testing.assert_allclose(ordering.changed(theta)[k], moved)


def test_ranking_limit_on_two_items_exactly():
    """Exact P(right order) of noisy counts on one comparison never exceeds the limit at its exact loss."""
    for scale in (0.5, 2.0, 8.0):
        epsilon = 2 / scale
        for gap in (0.1, 1.0, 30.0):
            win = float(LOGISTIC.cdf(gap))
            behind = float(ordering.overtaken(1 / scale))
            right = win * (1 - behind) + (1 - win) * behind
            assert right <= ordering.ranking_limit(epsilon, ordering.changed([gap, 0])) + 1e-12


def test_one_step_of_the_mixing_argument():
    """exp((e^eps - 1) D) bounds the ratio for the mechanism that attains it: randomised response on one outcome."""
    for epsilon in (0.3, 1.0):
        for q, other in ((0.9, 0.1), (0.6, 0.4), (1.0, 0.0)):
            truth = math.exp(epsilon) / (1 + math.exp(epsilon))
            ratio = (q * truth + (1 - q) * (1 - truth)) / (other * truth + (1 - other) * (1 - truth))
            assert ratio <= 1 + abs(q - other) * math.expm1(epsilon) + 1e-12
