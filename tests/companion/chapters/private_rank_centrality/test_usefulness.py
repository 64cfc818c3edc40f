"""Simulations have fixed seeds, a false alarm of 1e-6 a test."""

import math

import numpy as np
import pandas as pd
import pytest

from companion.chapters.private_rank_centrality import constrained_graphs
from companion.chapters.private_rank_centrality import usefulness as s


@pytest.mark.slow
def test_recall_draws_find_all_with_many_samples():
    draws = s.recall_draws(12, 2, 1.0, 10**6, 1.0, 1e-6, 0.5, 3, np.random.default_rng(0))
    assert set(draws) == {(method,) for method in s.METHODS}
    assert all((values == 1).all() for values in draws.values())
    blind = s.recall_draws(12, 3, 1.0, 1, 1e-3, 1e-6, 0.5, 40, np.random.default_rng(0))
    for method in s.METHODS[1:]:
        assert abs(blind[method,].mean() - 0.25) < 6 * 0.25 / math.sqrt(40)


def test_counts_and_the_model_beat_counts_where_rivals_differ():
    # a thin graph and little noise: counts over degrees stay wrong, the model is right; errors of the means below 0.03
    draws = s.recall_draws(50, 5, 0.12, 3000, 0.2, 1e-6, 0.5, 30, np.random.default_rng(1))
    assert draws["win counts, then the model",].mean() > 0.97
    assert draws["win counts over degrees",].mean() < 0.95


def test_more_teleport_needs_less_noise():
    ratio = s.teleport_noise([0.01, 0.3, 0.9, 0.999])["noise / gap, win counts = 1"]
    damped, *undamped = ratio
    assert (np.diff(undamped) < 0).all()
    # counting, once more: nothing is left of our proof to improve there
    assert undamped[-1] == pytest.approx(1.0, rel=0.01)
    assert undamped[-1] < damped < undamped[0]


def test_noise_quantile():
    # one against one: the difference of two Laplace variables has median 0
    assert s.noise_quantile(2, 1) == pytest.approx(0, abs=1e-3)
    t, rng = s.noise_quantile(30, 4), np.random.default_rng(3)
    kept = rng.laplace(t, size=(20_000, 4)).min(1) > rng.laplace(size=(20_000, 26)).max(1)
    assert abs(kept.mean() - 0.5) < 5 * 0.5 / math.sqrt(20_000)


def test_least_samples_orders():
    frame = s.least_samples([(25, 1), (25, 5), (100, 5)])
    methods = ["win counts", "chain, relative", "chain, least noise", "chain, as printed"]
    assert (np.diff(frame[methods]) > 0).all()
    assert frame["chain, as printed"][2] > frame["chain, as printed"][1]


def test_figures():
    frame = constrained_graphs.constrained([8, 12], [0.5, 1.0], 4)
    assert len(constrained_graphs.draw_constrained(frame).axes) == 2
    recalled = s.recall([1.0], [1, 10], 2, n_items=8, k=2)
    assert isinstance(recalled, pd.DataFrame)
    assert (recalled.blind == 2 / 8).all()
    assert len(s.draw_recall(recalled).axes) == 1


def test_numbers_of_the_road_follow_from_its_parameters():
    said, twice = s.numbers(50, 5, 0.2), s.numbers(50, 5, 0.4)
    assert said.items() >= {"items": "50", "k": "5", "epsilon": "0.2"}.items()
    games, half = (
        {key: int(it[key].replace(",", "")) for key in ("count", "least", "printed")} for it in (said, twice)
    )
    assert games["count"] < games["least"] < games["printed"]
    assert 45 < games["printed"] / games["least"] < 55
    assert half["least"] == pytest.approx(games["least"] / 2, rel=0.1)
