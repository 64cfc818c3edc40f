"""The first step against draws."""

from __future__ import annotations

import math

import numpy as np

from companion.chapters.individual_privacy import voter_induction
from dprank.models.bradley_terry import voter_counts


def test_first_step_norm_is_below_every_draw():
    n, mean, scale = 200, 100.0, 8.0
    rng = np.random.default_rng(3)
    gamma = math.sqrt(mean * math.log(n))
    eta = 1 / (gamma + 3 * 57 * mean)
    for _ in range(20):  # fails with probability 20 exp(-25)
        played, wins = voter_counts(np.zeros(n), int(mean * n / 2), 1, 1, rng=rng)
        step = eta * (played[0].sum(1) / 2 - wins[0] + rng.laplace(0, scale, n))
        assert np.linalg.norm(step) > voter_induction.first_step_norm(n, mean, scale)
