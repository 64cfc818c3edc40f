"""Fano's bound against a mechanism that exists."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np

from companion.chapters.individual_privacy import packings


def packed(n, top, lead):
    inside = np.isin(np.arange(n), top).astype(float)
    return 0.5 + lead * (inside[:, None] - inside)


def test_fano_is_below_a_mechanism_that_exists():
    """The exponential mechanism on one answer of each of three voters, against three hypotheses."""
    lead, epsilon, voters = 0.3, 2.0, 3
    outcomes = list(permutations(range(3), 2))
    laws = [np.array([packed(3, [a], lead)[i, j] for i, j in outcomes]) / 3 for a in range(3)]
    wrong = 0.0
    for data in product(range(6), repeat=voters):
        wins = np.zeros(3)
        for answer in data:
            wins[outcomes[answer][0]] += 1
        choice = np.exp(epsilon / 2 * wins)  # a count changes by at most one
        choice /= choice.sum()
        wrong += sum(np.prod(law[list(data)]) * (1 - choice[a]) for a, law in enumerate(laws)) / 3
    tv, kl = packings.draw_distances(3, 1, lead)
    bound = packings.fano(math.log(3), voters * tv, voters * kl, epsilon, -np.inf)
    assert 0 < bound < wrong < 2 / 3
