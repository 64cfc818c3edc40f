"""The plain estimate by simulation; what publishing a few answers gains."""

from __future__ import annotations

import numpy as np

from companion.chapters.individual_privacy import (
    estimation_limits,
)
from companion.ledger.claim import derive


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


def test_publishing_a_few_answers_beats_the_uncorrected_bound():
    ratio = estimation_limits.published_subset(2, [1e-6, 1e-8, 1e-10, 1e-12])["over rate"]
    assert ratio.is_monotonic_decreasing
    assert np.allclose(ratio.to_numpy()[1:] / ratio.to_numpy()[:-1], 0.11, atol=0.01), "about the root of epsilon"


def test_the_cube_without_centring_is_not_the_content_of_theorem_3_2():
    checks = estimation_limits.check_thm_3_2()
    assert [c.outcome for c in checks if c.about == "content"] == [False]
    assert derive([c for c in checks if c.about != "content"]) == "holds"
