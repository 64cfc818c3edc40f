"""KwikSort against brute-force recursions. False-alarm rate of each statistical test: 1e-6."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from checks import law_p_value, refused

from dprank.aggregation.kwiksort import (
    TAIL_ERROR,
    before_probabilities,
    comparisons_law,
    expected_cost,
    kwiksort,
    log_moments,
    majority,
    queries,
)
from dprank.aggregation.matrix import kemeny_score

FALSE_ALARM = 1e-6


def random_matrix(rng, m):
    w = np.triu(rng.random((m, m)), 1)
    return w + np.tril(1 - w.T, -1)


def order_law(before):
    """Law of the order by plain recursion over pivots."""

    def law(items):
        if not items:
            return {(): Fraction(1)}
        result = {}
        for pivot in items:
            left = law(tuple(j for j in items if before[j, pivot]))
            right = law(tuple(j for j in items if before[pivot, j]))
            for a, p in left.items():
                for b, q in right.items():
                    key = (*a, pivot, *b)
                    result[key] = result.get(key, 0) + p * q / len(items)
        return result

    return law(tuple(range(len(before))))


@cache
def quicksort_law(m):
    """Exact law of the comparisons as fractions."""
    if m < 2:
        return (Fraction(1),)
    law = [Fraction(0)] * (math.comb(m, 2) + 1)
    for left in range(m):
        for a, p in enumerate(quicksort_law(left)):
            for b, q in enumerate(quicksort_law(m - 1 - left)):
                law[m - 1 + a + b] += p * q / m
    return tuple(law)


def test_majority_is_a_tournament_and_breaks_ties_by_code():
    w = random_matrix(np.random.default_rng(0), 6)
    w[1, 4] = w[4, 1] = 0.5
    beats = majority(w)
    assert (beats ^ beats.T)[~np.eye(6, dtype=bool)].all()
    assert beats[1, 4]
    assert not beats.diagonal().any()


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_and_cost_against_plain_recursion(seed):
    rng = np.random.default_rng(seed)
    w, truth = random_matrix(rng, 5), random_matrix(rng, 5)
    law = order_law(majority(w))
    assert sum(law.values()) == 1
    chance = before_probabilities(w)
    for i, j in combinations(range(5), 2):
        exact = sum(p for order, p in law.items() if order.index(i) < order.index(j))
        assert chance[i, j] == pytest.approx(float(exact), abs=1e-14)
        assert chance[j, i] == pytest.approx(float(1 - exact), abs=1e-14)
    cost = sum(float(p) * kemeny_score(order, truth) for order, p in law.items())
    assert expected_cost(w, truth) == pytest.approx(cost, abs=1e-12)


def test_samples_follow_the_law():
    w = random_matrix(np.random.default_rng(7), 4)
    law = order_law(majority(w))
    rng = np.random.default_rng(8)
    drawn = [tuple(kwiksort(w, rng=rng).tolist()) for _ in range(4000)]
    assert set(drawn) <= set(law)
    counts = np.array([drawn.count(order) for order in law])
    assert law_p_value(counts, np.array([float(p) for p in law.values()])) > FALSE_ALARM


def test_without_cycles_it_sorts():
    order = np.random.default_rng(3).permutation(40)
    w = np.zeros((40, 40))
    w[order[:, None], order] = np.triu(np.ones((40, 40)), 1)
    assert kwiksort(w, rng=np.random.default_rng(4)).tolist() == order.tolist()


def test_a_cycle_costs_what_it_must():
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert expected_cost(cycle) == pytest.approx(1)
    assert expected_cost(cycle, 1 - cycle - np.eye(3)) == pytest.approx(2)


def test_noisy_matrices_are_read_by_their_margins():
    w = random_matrix(np.random.default_rng(5), 6)
    np.testing.assert_array_equal(before_probabilities(w), before_probabilities(7 * w - 3))


@pytest.mark.parametrize("m", [1, 2, 3, 6, 9])
def test_law_against_fractions(m):
    np.testing.assert_allclose(comparisons_law(m), [float(p) for p in quicksort_law(m)], atol=1e-15)


@pytest.mark.parametrize("m", [7, 40, 200])
@pytest.mark.slow
def test_mean_and_variance_of_the_law(m):
    law, number = comparisons_law(m), np.arange(math.comb(m, 2) + 1)
    h = sum(1 / k for k in range(1, m + 1))
    h2 = sum(1 / k**2 for k in range(1, m + 1))
    assert law.sum() == pytest.approx(1, abs=1e-11)
    assert law @ number == pytest.approx(2 * (m + 1) * h - 4 * m, rel=1e-10)
    variance = 7 * m**2 - 4 * (m + 1) ** 2 * h2 - 2 * (m + 1) * h + 13 * m
    assert law @ number**2 - (law @ number) ** 2 == pytest.approx(variance, rel=1e-7)


def test_far_tails_against_sums_of_positive_terms():
    laws = [np.ones(1), np.ones(1)]
    for m in range(2, 46):
        law = np.zeros(math.comb(m, 2) + 1)
        for left in range(m):
            part = np.convolve(laws[left], laws[m - 1 - left])
            law[m - 1 : m - 1 + len(part)] += part / m
        laws.append(law)
    exact, found = (law[::-1].cumsum() for law in (laws[45], comparisons_law(45)))
    assert abs(found - exact)[exact < 1e-3].max() < TAIL_ERROR


@pytest.mark.parametrize("m", [3, 11, 30])
def test_queries_is_the_least(m):
    law = comparisons_law(m)
    for tail in (0.5, 1e-3, 1 / m**4):
        q = queries(m, tail)
        assert law[q + 1 :].sum() <= tail
        assert law[q:].sum() > tail


def test_moments_against_the_law():
    theta = np.array([-0.3, 0.01, 0.2])
    expected = np.log(np.exp(np.outer(theta, np.arange(46))) @ comparisons_law(10))
    np.testing.assert_allclose(log_moments(10, theta)[10], expected, rtol=1e-12)
    assert (log_moments(10, theta)[:2] == 0).all()


def test_bad_input():
    with refused("w has 17 items", "16"):
        expected_cost(np.zeros((17, 17)))
    with refused("truth has 3 items", "w has 4"):
        expected_cost(np.zeros((4, 4)), np.zeros((3, 3)))
    with refused("w has shape", "(1, 1)"):
        kwiksort([[0.0]], rng=np.random.default_rng(0))
    for m in (0, 257):
        with refused(f"n_items = {m}"):
            comparisons_law(m)
    for tail in (0.0, 1.0, math.nan):
        with refused(f"tail = {tail}"):
            queries(5, tail)
    with refused("n_items = 0"):
        log_moments(0, 1.0)
