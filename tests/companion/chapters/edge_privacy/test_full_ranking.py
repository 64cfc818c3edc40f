"""Thresholds of ranking: orders by listing, gaps by hand, bounds that no private method beats."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest

from companion.chapters.edge_privacy import full_ranking, ordering


def inversions(order):
    return sum(a > b for a, b in combinations(order, 2))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_log_orders_by_listing(n):
    for epsilon in (0.3, 1.0):
        listed = sum(math.exp(-epsilon * inversions(order)) for order in permutations(range(n)))
        assert ordering.log_orders(n, epsilon) == pytest.approx(math.log(listed))


def test_transitive_matrices_have_the_largest_smallest_gap():
    for n in (2, 3, 5):
        tau = (np.triu(np.ones((n, n)), 1) + np.eye(n) / 2).mean(1)
        np.testing.assert_allclose(-np.diff(tau), 1 / n)
        assert full_ranking.smallest_gap(n) == pytest.approx(1 / n)


def test_best_order_is_attained_by_no_less_than_a_guess_and_bounded():
    for n, epsilon in full_ranking.EXACT:
        best = full_ranking.best_order(n, epsilon)
        assert 1 / math.factorial(n) < best <= full_ranking.order_limit(n, epsilon) + 1e-9
    # the bound at half of epsilon would be broken
    assert full_ranking.best_order(3, 1.0) > full_ranking.order_limit(3, 0.5)


def test_many_limit_by_listing_of_exchanges():
    """All sets of separate places, each exchange with the mean number of telling comparisons."""
    n, epsilon = 5, 0.7
    step = math.exp(-math.expm1(epsilon) * ordering.most_comparisons(n))
    places = range(0, n - 1, 2)
    total = sum(step**k for k in range(len(places) + 1) for _ in combinations(places, k))
    assert ordering.log_many_limit(n, epsilon) == pytest.approx(-math.log(total))


def test_exchange_of_several_pairs_adds_up():
    """Exchanging separate neighbours at once changes at most the sum of what each exchange changes."""
    from dprank.models.bradley_terry import LOGISTIC

    theta = np.array([2.0, 1.2, 0.5, -0.3, -1.0])
    other = theta[[1, 0, 3, 2, 4]]
    moved = np.abs(LOGISTIC.cdf(theta[:, None] - theta) - LOGISTIC.cdf(other[:, None] - other)).sum() / 2
    assert moved <= ordering.changed(theta)[[0, 2]].sum() + 1e-12


def test_attained_is_private_and_below_the_limit():
    n, epsilon = 3, 1.0
    orders = list(permutations(range(n)))
    pairs = list(combinations(range(n), 2))
    law = {}
    for data in np.ndindex(2, 2, 2):
        wrong = [
            sum((o.index(a) < o.index(b)) != bool(d) for (a, b), d in zip(pairs, data, strict=True)) for o in orders
        ]
        weight = np.exp(-epsilon / 2 * np.array(wrong))
        law[data] = weight / weight.sum()
    for one, other in combinations(law, 2):
        if sum(x != y for x, y in zip(one, other, strict=True)) == 1:
            assert np.abs(np.log(law[one] / law[other])).max() <= epsilon + 1e-12
    assert law[1, 1, 1][0] == pytest.approx(math.exp(ordering.log_attained(n, epsilon)))
    assert ordering.log_attained(n, epsilon) <= ordering.log_many_limit(n, epsilon)


def test_errors_fall_below_a_tenth_where_the_constant_is_large():
    assert full_ranking.recovery_errors(full_ranking.NECESSARY).min() >= 0.1
    assert full_ranking.recovery_errors(1.0).min() < 0.1


def test_named_set_fails_where_it_is_not_ahead():
    assert full_ranking.named_failure(5, 2, 1e-3) == 0
    assert full_ranking.named_failure(5, 2, -1e-3) == 1
