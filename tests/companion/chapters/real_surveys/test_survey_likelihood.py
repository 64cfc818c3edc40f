"""The MLE on a questionnaire against brute force; a mean may be off its law by five standard errors."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from checks import each
from scipy.special import expit

from companion.chapters.ranking_universities.survey_counts import survey_data
from companion.chapters.real_surveys import survey_likelihood as s
from dprank.data.counting import win_counts
from dprank.pairwise import l1_sensitivity


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_rank_difference_of_a_random_order(n):
    brute = np.mean([np.abs(np.array(order) - np.arange(n)).mean() for order in permutations(range(n))])
    assert s.random_difference(n) == pytest.approx(brute)


def largest_log_ratio(scale, ridge, draws, rng):
    """Largest log ratio of the densities of the estimate for two answer sheets on three items, over random others.

    A pair is missing, won, lost or half won. The other voters are a random shift of the gradient, and sometimes some
    curvature: shift without curvature is what comparisons with far weaker or stronger items give.
    """
    pairs = list(combinations(range(3), 2))
    sheets = np.array(list(product((np.nan, 1.0, 0.0, 0.5), repeat=3)))
    worst = 0.0
    for draw in range(draws):
        t = rng.normal(0, rng.choice([0.1, 1.0, 5.0]), 3)
        shift = rng.normal(0, rng.choice([0.0, 1.0, 20.0]), 3)
        common = np.diag(rng.exponential(1.0, 3)) if draw % 2 else np.zeros((3, 3))
        slope = np.tile(ridge * t + shift, (len(sheets), 1))
        curved = np.tile(ridge * np.eye(3) + common, (len(sheets), 1, 1))
        for column, (i, j) in enumerate(pairs):
            p, d = expit(t[i] - t[j]), np.eye(3)[i] - np.eye(3)[j]
            given = ~np.isnan(sheets[:, column])
            slope += np.where(given, p - sheets[:, column], 0.0)[:, None] * d
            curved += (given * p * (1 - p))[:, None, None] * np.outer(d, d)
        log_density = -np.abs(slope).sum(1) / scale + np.linalg.slogdet(curved)[1]
        worst = max(worst, np.ptp(log_density))
    return worst


@pytest.mark.parametrize(("scale", "ridge"), [(8.0, 2.0), (4.0, 100.0), (50.0, 1.0), (0.5, 0.2)])
@pytest.mark.slow
def test_questionnaire_loss_bounds_every_density_ratio(scale, ridge):
    found = largest_log_ratio(scale, ridge, 1500, np.random.default_rng(4))
    bound = s.questionnaire_loss(3, scale, ridge)
    assert 0.6 * bound < found <= bound
    assert found > 2 / scale, "one pair of unlike signs is not all there is"


@each("n", [2, 4, 6, 9])
@each(("scale", "ridge"), [(120.0, 30.0), (0.3, 0.1), (1.0, 1.0), (1e6, 1e-3), (20.0, 1e9)])
def test_questionnaire_loss_is_the_maximum_over_a_fine_grid(n, scale, ridge):
    r = np.linspace(0, 1, 200001)
    unlike = (2 * r / scale + np.log1p(2 * r * (1 - r) / ridge)).max()
    like = math.log1p(0.5 / ridge)
    grid = max(a * (n - a) * unlike + (math.comb(n, 2) - a * (n - a)) * like for a in range(n + 1))
    assert s.questionnaire_loss(n, scale, ridge) == pytest.approx(grid, rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_with_a_large_ridge_the_mle_needs_the_noise_of_net_wins(n):
    net = l1_sensitivity(n, math.comb(n, 2), score="net", design="once")
    assert s.questionnaire_loss(n, 1.0, 1e12) == pytest.approx(net / 2, rel=1e-8)


def test_questionnaire_scale_is_the_least():
    for n, epsilon, ridge in ((6, 1.0, 100.0), (4, 0.5, 20.0), (6, 10.0, 10.0)):
        scale = s.questionnaire_scale(n, epsilon, ridge)
        assert s.questionnaire_loss(n, scale, ridge) <= epsilon
        assert s.questionnaire_loss(n, scale * (1 - 1e-6), ridge) > epsilon


@pytest.mark.parametrize("survey", ["CEMS", "immigration"])
def test_tables_keep_the_counts(survey):
    data = survey_data(survey)
    played, wins = s.decided(survey)
    assert (wins == win_counts(data, "wins")).all()
    for table in (s.decided, s.halved, s.planned):
        compared, won = table(survey)
        assert (2 * won - compared.sum(1) == win_counts(data, "net")).all()
    assert played.sum() == 2 * (data.points != 1).sum()
    plan = s.planned("immigration")[0]
    assert (plan == 98 * (1 - np.eye(4))).all()


def test_simulated_mle_on_a_balanced_table_has_the_law_of_counts(monkeypatch):
    """With all pairs equally often compared the order is that of wins minus noise, whose law is known exactly."""
    from dprank.pairwise import mean_rank_difference, rank_law

    wins = np.array([30.0, 22.0, 21.0, 11.0])
    played = 14.0 * (1 - np.eye(4))
    monkeypatch.setattr(s, "decided", lambda survey: (played, wins))
    rng = np.random.default_rng(3)
    draws = s.mle_differences("immigration", "as printed", 4.0, repetitions=20000, rng=rng)
    scale = s.survey_mle("as printed", 4.0, "immigration").scale
    exact = mean_rank_difference(rank_law(wins, scale), wins)
    assert abs(draws.mean() - exact) < 5 * draws.std() / 20000**0.5
    half = mean_rank_difference(rank_law(wins, scale / 2), wins)
    assert abs(draws.mean() - half) > 20 * draws.std() / 20000**0.5


def test_strengths_from_private_net_wins_are_centred_and_see_only_differences():
    played, _ = s.planned("CEMS")
    net = np.random.default_rng(1).normal(0, 200, (3, 6))
    theta = s.public_mle(net, played, 1.0)
    assert np.abs(theta.mean(1)).max() < 1e-8
    assert np.allclose(theta, s.public_mle(net + 77.0, played, 1.0), atol=1e-8)
