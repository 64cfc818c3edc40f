"""Complete graphs, the limit of the descent, and what a run reaches."""

from __future__ import annotations

import numpy as np
import pytest

from companion.chapters.edge_privacy import descent, induction


def test_complete_graphs_are_complete():
    theta = np.linspace(-1, 1, 6)
    full = descent.draw_wins(theta, 1.0, np.random.default_rng(1))
    assert np.array_equal(full + full.T, 1 - np.eye(6))
    assert not descent.draw_wins(theta, 0.0, np.random.default_rng(1)).any()


def test_minimise_is_the_limit_of_the_descent():
    wins, theta, noise, gamma, eta = descent.small_problem(3, 0)
    limit = descent.minimise(wins, noise, gamma)
    path = descent.descend(wins, theta, noise, gamma, eta)
    for _ in range(8000):
        at = next(path)
    assert np.allclose(at, limit, atol=1e-10)
    assert limit.sum() == pytest.approx(-noise.sum() / gamma)


def test_watch_stays_within_the_constants_and_starts_at_zero():
    constants, _ = induction.logistic_constants()
    short = descent.watch(6, 1.0, 8.0, 0)
    assert [short[name] for name in ("C1", "C2", "C3", "C4")] == [0, 0, 0, 0]
    run = descent.watch(8, 0.5, 8.0, 400)
    assert all(0 < run[name] < constants[name] for name in ("C1", "C2", "C3", "C4", "A.33"))
    assert run["drift"] < 1e-10
    assert run == descent.watch(8, 0.5, 8.0, 400)
