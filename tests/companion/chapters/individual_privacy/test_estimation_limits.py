"""The plain estimate by simulation."""

from __future__ import annotations

import numpy as np

from companion.chapters.individual_privacy import estimation_limits


def test_pair_estimate_bound_covers_a_simulation():
    rng = np.random.default_rng(6)
    n, mu = 4, 400.0
    theta = np.array([1, 0.3, -0.3, -1])
    first, second = np.triu_indices(n, 1)
    errors = []
    for _ in range(200):
        played = rng.poisson(mu, 6)
        share = rng.binomial(played, 1 / (1 + np.exp(theta[second] - theta[first]))) / played
        gap = np.zeros((n, n))
        gap[first, second] = np.log(np.clip(share, 0.12, 0.88) / np.clip(1 - share, 0.12, 0.88))
        errors.append(np.abs((gap - gap.T).mean(1) - theta).max())
    assert np.mean(errors) < estimation_limits.pair_estimate_risk(n, mu)
    assert estimation_limits.pair_estimate_risk(n, 1e8) < estimation_limits.pair_estimate_risk(n, 1e8, 4.0) < 0.05
    assert estimation_limits.pair_estimate_risk(n, 10, 50.0) == 2
