"""Exact, but for two tests at fixed seeds with bounds 3 standard errors away or more (false alarm 0.003 each)."""

import joblib
import numpy as np
import pandas as pd
import pytest
from ledgers import outcomes

from companion.chapters.private_rank_centrality import comparison_graphs, perturbed_chains
from companion.chapters.private_rank_centrality import spectral_method as s
from companion.ledger.claim import derive
from dprank.topk.spectral import stationary_distribution, transition_matrix


@pytest.fixture(scope="module")
def errors():
    return s.estimation([1, 16, 256], 60)


def test_population_and_separate_graphs():
    weights = np.array([0.1, 0.2, 0.7])
    assert s.population_error(3, comparison_graphs.path(3), weights) < 1e-14
    assert s.laws_of(4, np.array([[0, 1], [2, 3]]), [0.5, 0.5]) == 2
    assert s.laws_of(3, comparison_graphs.path(3), [0.5, 0.5]) == 1


def test_spectral_and_mutants(errors, monkeypatch):
    checks = s.check_spectral(errors)
    assert derive(checks) == "needs a condition"
    assert outcomes(checks, "corrected") == [True, True]
    stuck = errors.assign(mean=np.where(errors.samples == 256, 0.6, 0.9) * errors["mean"].max())
    assert derive(s.check_spectral(stuck)) == "refuted"
    # a walk that moves to losers
    monkeypatch.setattr(s, "even_shares", lambda weights, pairs: np.full(len(pairs), 0.5))
    assert derive(s.check_spectral(errors)) == "refuted"


@pytest.mark.slow
def test_limiting_covariances_against_simulation():
    n, samples, repetitions = 6, 4000, 1500
    pairs, weights = comparison_graphs.graph(n, 0.6), comparison_graphs.strengths(n)
    central, likely = s.log_covariances(n, pairs, weights)
    assert np.trace(central) >= np.trace(likely)
    won = np.random.default_rng(0).binomial(
        samples, comparison_graphs.even_shares(weights, pairs), (repetitions, len(pairs))
    )
    logs = np.log([stationary_distribution(transition_matrix(n, pairs, w / samples)) for w in won])
    logs -= logs.mean(1, keepdims=True)
    assert samples * np.trace(np.cov(logs.T)) == pytest.approx(np.trace(central), rel=0.12)


def test_efficiency_is_one_on_trees_and_for_equals():
    frame = s.efficiency([1, 50])
    assert frame["a path"].to_numpy() == pytest.approx(1)
    assert frame.iloc[0, 1:].to_numpy(float) == pytest.approx(1)
    assert (frame.iloc[1, 2:] > 1.1).all()


def test_shapes_of_data():
    draws = s.shape_draws(20, 0.3, 1, repetitions=100, rng=np.random.default_rng(0))
    assert sum(draws.values()).tolist() == [1] * 100
    assert s.shapes([1, 50], 30).shape == (2, 4)
    # three comparisons of four items: by inclusion, every item escapes with chance (3/4)^3
    assert s.undefeated(4, 3) == pytest.approx(4 * (3 / 4) ** 3)


def test_figures(errors):
    drawn = s.draw_estimation_error(errors)
    assert len(drawn.axes) == 2
    assert "four times the games, half the error" in [text.get_text() for text in drawn.legends[0].get_texts()]
    frame = perturbed_chains.flips([0.8, 1.0], 5)
    with joblib.parallel_config("threading"):
        pd.testing.assert_frame_equal(frame, perturbed_chains.flips([0.8, 1.0], 5, jobs=2))
    assert set(frame.quantity) == {"change", "printed", "halved"}
    axes = perturbed_chains.draw_flipped_comparison(frame).axes[0]
    assert axes.get_yscale() == "log"
