"""The error bound against draws, brute force and broken twins; statistical tests allow 5 standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import each
from scipy.optimize import brentq

from companion.chapters.edge_privacy import estimation
from dprank.models.bradley_terry import LOGISTIC, erdos_renyi_counts
from dprank.pairwise import mle_from_counts


@pytest.fixture(scope="module")
def frame():
    return estimation.error_ratios((50, 100, 200), 60)


def spread_bound(theta, score, gamma):
    """Largest range of the error that the two-line proof allows for one given score."""
    n = len(theta)
    force = score.max() - score.min() + 2 * gamma

    def beyond(d):
        return n * (LOGISTIC.cdf(2 + d) - LOGISTIC.cdf(2.0)) + gamma * d - force

    return brentq(beyond, 0, force / gamma) + 1e-3


@each("n", [2, 3, 10, 60])
@each("scale", [0.0, 1.0, 8.0])
@pytest.mark.slow
def test_the_proof_bounds_every_single_draw_on_the_complete_graph(n, scale):
    rng = np.random.default_rng(n)
    for c_0 in (0.1, 2.0):
        gamma = estimation.ridge(n, 1.0, c_0)
        theta = rng.uniform(-1, 1, n)
        theta -= theta.mean()
        theta /= max(1, np.abs(theta).max())
        played, wins = erdos_renyi_counts(theta, 1.0, 20, rng=rng)
        noise = rng.laplace(0, scale, wins.shape) if scale else np.zeros(wins.shape)
        estimate, _ = mle_from_counts(played, wins - noise, ridge=gamma)
        expected = LOGISTIC.cdf(theta[:, None] - theta).sum(1) - 0.5
        for row, won, w in zip(estimate, wins, noise, strict=True):
            error = row - theta
            assert np.ptp(error) <= spread_bound(theta, won - expected - w, gamma)
            np.testing.assert_allclose(error.mean(), -w.mean() / gamma, atol=1e-6)


def test_score_noise_and_sum_exceed_their_bounds_as_seldom_as_claimed():
    n, draws = 30, 20_000
    rng = np.random.default_rng(5)
    w = rng.laplace(0, 1, (draws, n))
    log = math.log(n)
    assert (np.abs(w).max(1) > 6 * log).mean() <= 1e-3
    assert (np.abs(w.sum(1)) > math.sqrt(48 * n * log)).mean() <= 1e-3
    # exponential moments behind the bound on the sum, where n >= 6 log n
    s = math.sqrt(3 * log / n)
    assert -n * math.log1p(-(s**2)) - s * math.sqrt(48 * n * log) <= -6 * log


def test_two_groups_solve_the_full_problem():
    n, t = 40, 0.8
    theta = np.r_[np.full(n // 2, t), np.full(n // 2, -t)]
    wins = LOGISTIC.cdf(theta[:, None] - theta).sum(1) - 0.5
    played = np.ones((n, n)) - np.eye(n)
    estimate, _ = mle_from_counts(played, wins[None], ridge=estimation.ridge(n, 1.0))
    row = estimation.two_groups(n, [t]).iloc[0]
    np.testing.assert_allclose(np.abs(estimate), row.estimate, atol=1e-6)


def test_a_faster_rate_is_not_confirmed(frame):
    """Mutant: without log n / (n p eps) constant along p = 4 log n / (n eps), an error over 1 / sqrt(n) grows."""
    slope, se = estimation.growth(frame[frame.privacy == "ε = 1"].assign(mean=lambda f: f["mean"] * f["items"] ** 0.5))
    assert slope - 5 * se > 0.2


def test_growth_recovers_a_power(frame):
    exact = frame.assign(mean=3 * frame["items"] ** 0.3, se=0.1)
    np.testing.assert_allclose(estimation.growth(exact)[0], 0.3)
