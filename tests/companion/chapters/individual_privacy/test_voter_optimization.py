"""The descent by its iterates, the range of errors by simulation, the chances by listing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.edge_privacy.descent import descend
from companion.chapters.individual_privacy import voter_optimization as section
from companion.ledger.claim import derive
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.likelihood import mle_from_counts


def test_what_is_left_of_the_sum_is_what_descent_leaves(monkeypatch):
    run = section.descent(4, 10**4, 2, 0.9)._replace(steps=300)
    rng = np.random.default_rng(2)
    wins = np.triu(np.full((4, 4), 5000.0), 1)
    noise = rng.laplace(0, run.scale, 4)
    path = descend(wins, np.zeros(4), noise, run.ridge, run.step)
    last = [next(path) for _ in range(301)][-1]
    left = abs(last.sum() + noise.sum() / run.ridge) / 2
    most, exact = section.within(4, left, run)
    # the chance of the very distance that this noise leaves is that of a sum up to the one drawn
    assert exact == pytest.approx(1 - 2 * section.laplace_sum_tail(4, abs(noise.sum()) / run.scale))
    assert most >= exact


def test_the_printed_steps_are_enough_where_np_is_and_no_farther():
    few, many = section.descent(10, 10, 5, 0.9), section.descent(10, 10**6, 5, 0.9)
    assert few.steps == many.steps == 172_000
    assert -few.steps * math.log1p(-few.step * few.ridge) > 100 > -many.steps * math.log1p(-many.step * many.ridge)


def test_range_of_errors_is_below_the_bound_and_half_of_it_is_too_little():
    n, each = 6, 20_000
    theta = np.array([1.0, 0.6, 0.2, -0.3, -0.5, -1.0])
    rng = np.random.default_rng(4)
    first, second = np.triu_indices(n, 1)
    played = np.zeros((200, n, n))
    played[:, first, second] = played[:, second, first] = each
    wins = np.zeros((200, n))
    for i, j in zip(first, second, strict=True):
        won = rng.binomial(each, LOGISTIC.cdf(theta[i] - theta[j]), 200)
        wins[:, i] += won
        wins[:, j] += each - won
    estimate, _ = mle_from_counts(played, wins, ridge=1.0)
    force = wins - (played * LOGISTIC.cdf(theta[:, None] - theta)).sum(-1) - theta
    degree = 2 * each * len(first) / n
    ratio = np.ptp(estimate - theta, axis=1) / section.spread_bound(np.ptp(force, axis=1), degree)
    assert 0.2 < ratio.max() <= 1
    assert section.spread_bound(np.array([degree]), degree) == math.inf


def test_uneven_bounds_the_exact_chance_of_a_rare_pair():
    from scipy import stats

    n = 4
    draws = math.ceil(section.DRAWS * n * (n - 1) * math.log(n))
    pairs = math.comb(n, 2)
    exact = pairs * stats.binom(draws, 1 / pairs).cdf(math.ceil(draws / pairs / 2) - 1)
    assert 0 < exact < section.uneven(n)


def test_verdicts():
    assert derive(section.check_optimization()) == "refuted"
    assert derive(section.check_final()) == "refuted"
    held = [c for c in (*section.check_optimization(), *section.check_final()) if c.about in ("corrected", "argument")]
    assert all(c.outcome for c in held)
