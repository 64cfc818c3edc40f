"""Bounds are exact; audits are seeded, with false alarms of 1e-3 at most each."""

import numpy as np
import pytest
from checks import refused
from scipy.stats import binom

from dprank.audit.betting import lower_bound
from dprank.audit.clopper_pearson import held_out_bound, loss_bounds
from dprank.privacy import noise


def count(epsilon):
    return lambda data, size, rng: (data + noise.discrete_laplace(1 / epsilon, size, rng=rng))[:, None]


def bound(epsilon, promise=1.0, seed=0, **keywords):
    rng = np.random.default_rng(seed)
    return held_out_bound(count(epsilon), [(0, 1)], promise, rng=rng, **keywords)


@pytest.mark.parametrize(("hits", "other"), [(0, 0), (3, 0), (10, 10), (7, 2)])
def test_bounds_solve_the_binomial_tail_equations(hits, other):
    rows, delta, error = 10, 0.01, 0.03
    p = 0.0 if hits == 0 else _root(lambda p: binom.sf(hits - 1, rows, p) - error)
    q = 1.0 if other == rows else _root(lambda q: error - binom.cdf(other, rows, q))
    with np.errstate(divide="ignore"):
        expected = np.log(max(p - delta, 0)) - np.log(q)
    assert float(loss_bounds(hits, other, rows, delta, error)) == pytest.approx(expected, abs=1e-6)


def _root(f):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle) > 0 else (middle, high)
    return low


@pytest.mark.parametrize("true", [0.5, 1.0, 2.0])
def test_the_bound_is_below_the_truth_and_near_it(true):
    for seed in range(3):
        found = bound(true, seed=seed, budget=100_000)
        assert 0.9 * true < found.epsilon <= true
        assert found.refuted == (found.epsilon > 1.0)
        assert found.samples == 100_000


def test_refuted_exactly_where_the_bound_exceeds_the_promise():
    for seed in range(6):
        found = bound(1.15, seed=seed, budget=20_000)
        assert found.refuted == (found.epsilon > 1.0)
        assert found.wealth >= 1


def test_nothing_is_shown_by_equal_laws():
    found = held_out_bound(count(1.0), [(3, 3)], 0.5, rng=np.random.default_rng(0), budget=4096)
    assert found.epsilon == 0.0
    assert found.wealth == 1.0
    assert not found.refuted


def test_the_broken_pair_is_found():
    def sample(data, size, rng):
        value, which = data
        return (value + noise.discrete_laplace(1 / (1.5 if which == 3 else 1), size, rng=rng))[:, None]

    pairs = [((0, i), (1, i)) for i in range(6)]
    found = held_out_bound(sample, pairs, 1.0, rng=np.random.default_rng(0), budget=100_000)
    assert found.refuted
    assert found.pair == 3


def test_betting_needs_no_more_than_counting():
    """At a tenth too much, medians of five audits; counting is told the budget that betting took."""
    rng = np.random.default_rng
    bets = [lower_bound(count(1.1), [(0, 1)], 1.0, rng=rng(seed)) for seed in range(5)]
    assert all(found.refuted for found in bets)
    half = int(np.median([found.samples for found in bets])) // 2
    assert sum(bound(1.1, seed=seed, budget=half).refuted for seed in range(5)) <= 2


def test_parameters_are_checked_as_in_betting():
    with refused("delta = 1"):
        held_out_bound(count(1.0), [(0, 1)], 1.0, 1, rng=np.random.default_rng(0))


def test_a_p_value_beyond_the_reach_of_beta_quantiles_is_still_a_number():
    def sample(data, size, rng):
        return data + noise.discrete_laplace(5.0, (size, 1), rng=rng)

    for seed in (158, 159):
        found = held_out_bound(sample, [(0, 1)], 0.2, rng=np.random.default_rng(seed), confidence=0.99, budget=6000)
        assert found.wealth >= 1
