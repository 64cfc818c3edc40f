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


def test_nearest_risk_covers_a_simulation_of_the_wins():
    rng = np.random.default_rng(8)
    n, voters, answers = 5, 3000, 2
    theta = np.array([1, 0.5, 0, -0.5, -1])
    first, second = np.triu_indices(n, 1)
    chance = 1 / (1 + np.exp(theta[second] - theta[first]))
    off = []
    for _ in range(300):
        games = rng.multinomial(voters * answers, np.full(10, 0.1))
        won = rng.binomial(games, chance)
        wins = np.bincount(first, won, n) + np.bincount(second, games - won, n)
        expected = voters * answers / 10 * (np.bincount(first, chance, n) + np.bincount(second, 1 - chance, n))
        off.append(np.abs(wins - expected).max())
    degree = 2 * voters * answers / n
    bound = np.sqrt(2 * degree * np.log(2 * n)) + np.log(2 * n) / 3
    assert np.mean(off) < bound < 4 * np.mean(off)
    slope = float(estimation_limits.LOGISTIC.pdf(2.0))
    assert estimation_limits.nearest_risk(n, voters, answers) == 2 * bound / (degree * slope)
    # centred strengths that differ by d somewhere differ by S F'(2) d in some expected wins
    for _ in range(300):
        a, b = (x - x.mean() for x in rng.uniform(-0.5, 0.5, (2, n)))
        p, q = (1 / (1 + np.exp(x - x[:, None])) for x in (a, b))
        moved = np.abs((p - q).sum(1)).max() / 10 * voters * answers
        assert moved >= degree * slope * np.abs(a - b).max()


def test_the_rate_without_privacy_depends_on_the_class():
    record = estimation_limits.check_nonprivate_rate()
    assert record.verdict == "depends on the reading"
    assert {c.outcome for c in record if "centred" in c.reading} == {True}
