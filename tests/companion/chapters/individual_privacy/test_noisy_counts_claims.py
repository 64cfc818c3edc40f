"""Reversals by exact laws, gaps and orders by listing."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import each

from companion.chapters.individual_privacy import noisy_counts, voter_estimation


def packed(n, top, lead):
    inside = np.isin(np.arange(n), top).astype(float)
    return 0.5 + lead * (inside[:, None] - inside)


def exact_reversal(rho, a, b, games, scale):
    """Chance that item a comes after item b when Laplace noise is added to both counts."""
    pairs = math.comb(len(rho), 2)
    up = sum(rho[a, j] for j in range(len(rho)) if j != a) / pairs
    down = sum(rho[b, j] for j in range(len(rho)) if j != b) / pairs
    law = np.ones(1)
    for _ in range(games):
        law = np.convolve(law, [down, 1 - up - down, up])
    lead = np.arange(-games, games + 1) / scale
    behind = 0.5 * np.exp(-np.abs(lead)) * (1 + np.abs(lead) / 2)
    return law @ np.where(lead >= 0, behind, 1 - behind)


@each("n", [2, 3, 5])
@each(("voters", "answers", "epsilon"), [(200, 1, 1.0), (400, 1, 0.05), (60, 5, 0.3)])
def test_reversal_bound_is_above_the_exact_chance(n, voters, answers, epsilon):
    for lead in (0.1, 0.3, 0.5):
        rho = packed(n, [0], lead)
        constant = lead / voter_estimation.rate(n, voters, epsilon)
        for noise in (1.0, 2.0):
            exact = exact_reversal(rho, 0, 1, voters * answers, noise * answers / epsilon)
            assert exact <= noisy_counts.reversal_bound(n, constant, answers, noise)


def test_noise_that_privacy_needs_takes_twice_the_constant():
    n = np.arange(2, 1000)
    assert (noisy_counts.failure_bound(n, 16, noise=2.0) * n**5.0 <= 1).all()


def test_items_in_order_keep_the_set_within_tolerance():
    for n in (2, 3, 4, 5):
        for order in permutations(range(n)):  # order[r] is the item at noisy place r
            place = np.argsort(order)
            for k, u in ((size, least) for size in range(1, n) for least in range(min(size, n - size))):
                if all(place[a] < place[b] for a in range(k - u) for b in range(k + u, n)):
                    assert len(set(order[:k]) ^ set(range(k))) <= 2 * u


@pytest.mark.parametrize("n", [2, 3, 4])
def test_widest_gap_by_listing(n):
    first, second = np.triu_indices(n, 1)
    widest = {}
    for values in product((0, 0.5, 1), repeat=first.size):
        rho = np.full((n, n), 0.5)
        rho[first, second] = values
        rho[second, first] = 1 - rho[first, second]
        tau = np.sort(rho.mean(1))[::-1]
        for k in range(1, n):
            for u in range(min(k, n - k)):
                widest[k, u] = max(widest.get((k, u), 0), tau[k - u - 1] - tau[k + u])
    for (_, u), gap in widest.items():
        assert gap == pytest.approx(noisy_counts.widest_gap(n, u))
