"""Exact, but for shares of decisions: their z-scores are held against Z, a false alarm of 1e-6 a test."""

import math
from dataclasses import replace

import numpy as np
import pytest

from companion.chapters.private_uniformity import same_data
from companion.chapters.private_uniformity.trun import theorem_6
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

Z = 5.2


SIZES = (5, 200)


@pytest.fixture(scope="module")
def tests():
    return same_data.central_tests(*SIZES, 1.0, 199)


def test_sums_of_batches():
    rng = np.random.default_rng(0)
    rows = Mallows(7, 0.1).sample(23, rng=rng)
    pairs = disjoint_pairs(7, rng=rng)
    signs = pair_signs(rows, pairs)
    for batches in (1, 2, 5):
        size = 23 // batches
        expected = signs[: size * batches].reshape(batches, size, 3).sum(axis=1)
        np.testing.assert_array_equal(same_data.batch_sums(rows, pairs, [1, 2, 5, 23])[batches], expected)


@pytest.mark.slow
def test_probabilities_are_shares_of_the_library_s_decisions(tests):
    m, n = SIZES
    rng = np.random.default_rng(1)
    rows = Mallows(m, 0.1).sample(n, rng=rng)
    data = Rankings(rows, [str(i) for i in range(m)])
    draws = 1000
    expected = [same_data.rejection(tests, rows, disjoint_pairs(m, rng=rng)) for _ in range(draws)]
    for name in (
        *(same_data.BUCKETED, same_data.COIN, same_data.VOTE),
        *(same_data.LAPLACE, same_data.EXCHANGED, same_data.PAIRS),
    ):
        test = tests[name][0] if isinstance(tests[name], tuple) else tests[name]
        chances = np.array([it[name] for it in expected])
        ours, theirs = chances.mean(), np.mean([test.release(data, rng).reject for _ in range(draws)])
        share = (ours + theirs) / 2
        assert abs(ours - theirs) < Z * math.sqrt((chances.var() + max(share * (1 - share), 1 / draws)) / draws), name


@pytest.mark.slow
def test_every_test_that_is_not_the_paper_s_is_private_and_of_its_size(tests):
    for name in (same_data.COIN, same_data.VOTE, same_data.LAPLACE, same_data.RAMP):
        assert tests[name].guarantee.delta == 0
        assert tests[name].guarantee.epsilon <= 1.0
    for name in (same_data.PAIRS, same_data.RANKS):
        assert tests[name][0].guarantee.epsilon <= 1.0
    draws = same_data.central_draws(*SIZES, 0.0, 1.0, 199, repetitions=800, rng=np.random.default_rng(2))
    for name in (*map(str, (same_data.COIN, same_data.VOTE, same_data.LAPLACE, same_data.RAMP)), same_data.PAIRS):
        assert draws[(name,)].mean() < same_data.DELTA + Z * math.sqrt(0.05 / 800)


def test_mu_asks_for_the_rankings_at_hand():
    mu = same_data.printed_mu(100, 1000, 1 / 3)
    assert theorem_6(100, mu, 1 / 3, 0.05).max() == pytest.approx(1000)
    assert theorem_6(100, mu / 2, 1 / 3, 0.05).max() > 1000
    assert same_data.printed_mu(100, 2, 1 / 3) == 1.0


def test_the_trun_level_is_that_of_an_exact_sum():
    tests = same_data.central_tests(2, 60, 1.0, 49)
    k = 60
    first = np.arange(k + 1)
    law = np.array([math.comb(k, int(j)) for j in first]) / 2**k
    total = 2 * first - k
    exact = 1 - law @ tests[same_data.EXCHANGED].acceptance(total**2 / k, total)
    assert same_data.trun_size(tests[same_data.EXCHANGED]) == pytest.approx(exact, abs=0.003)
    assert same_data.trun_size(replace(tests[same_data.EXCHANGED], accept_large=True)) != pytest.approx(exact, abs=0.05)
