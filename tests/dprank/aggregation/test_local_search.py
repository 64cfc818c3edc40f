"""Exact: the search against all single moves, and against the optimum of what can be solved."""

from itertools import permutations

import numpy as np
import pytest
from checks import refused

from dprank.aggregation import local_search as module
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import kemeny_score, shrink


def neighbours(order):
    """All orders that move one item."""
    for here in range(len(order)):
        rest = np.delete(order, here)
        for there in range(len(order)):
            yield np.insert(rest, there, order[here])


def noise(m, seed=0):
    return np.random.default_rng([seed, m]).normal(size=(m, m))


@pytest.mark.parametrize("m", [2, 3, 5, 9, 20])
def test_no_single_move_helps(m):
    w = noise(m)
    order = local_search(w)
    assert kemeny_score(order, w) <= min(kemeny_score(other, w) for other in neighbours(order)) + 1e-9


def test_finds_the_optimum_of_few_items():
    for seed in range(10):
        w = noise(6, seed)
        least = min(kemeny_score(order, w) for order in permutations(range(6)))
        assert kemeny_score(local_search(w), w) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("spread", [0.1, 0.3])
def test_is_within_half_a_percent_on_noisy_matrices(spread):
    m = 50
    gap = np.subtract.outer(np.arange(m), np.arange(m))
    w = shrink(0.5 - 0.5 * np.tanh(gap / 10) + spread * noise(m))
    assert kemeny_score(local_search(w), w) <= 1.005 * kemeny(w, time_limit=60).cost


def test_is_never_worse_than_its_start():
    w = noise(12)
    for seed in range(5):
        start = np.random.default_rng(seed).permutation(12)
        given = start.copy()
        assert kemeny_score(local_search(w, start), w) <= kemeny_score(start, w)
        np.testing.assert_array_equal(start, given)


def test_is_deterministic_and_has_no_unit():
    w = noise(30)
    np.testing.assert_array_equal(local_search(w), local_search(w))
    # powers of two: no rounding
    np.testing.assert_array_equal(local_search(2.0**-40 * w), local_search(w))
    np.testing.assert_array_equal(local_search(2.0**40 * w), local_search(w))


def test_keeps_the_order_where_all_is_tied():
    assert local_search(np.full((5, 5), 0.5)).tolist() == list(range(5))


def test_its_account_of_the_cost_is_right():
    w = noise(15)
    margin = w - w.T
    order, place = np.random.default_rng(3).permutation(15), np.empty(15, np.int64)
    before = kemeny_score(order, w)
    saved = module._descend(margin, order, place, 0, 15)
    assert before - saved == pytest.approx(kemeny_score(order, w), abs=1e-9)
    np.testing.assert_array_equal(place[order], np.arange(15))


def test_only_moves_into_or_out_of_what_has_changed_are_tried():
    rng = np.random.default_rng(4)
    for m in (30, 60):
        margin = noise(m) - noise(m).T
        best, place = rng.permutation(m), np.empty(m, np.int64)
        module._descend(margin, best, place, 0, m)
        for first in rng.integers(0, m - 12, 20):
            shaken = best.copy()
            shaken[first : first + 12] = rng.permutation(shaken[first : first + 12])
            every = shaken.copy()
            saved = module._descend(margin, shaken, place, first, first + 12)
            assert module._descend(margin, every, place, 0, m) == saved
            np.testing.assert_array_equal(shaken, every)


def test_a_search_that_worsens_is_found_out():
    """The same search led by the opposite margins ends where single moves help."""
    w = noise(9)
    order = local_search(-w)
    assert kemeny_score(order, w) > min(kemeny_score(other, w) for other in neighbours(order)) + 1e-9


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([0, 1], ["order ranks 2 items", "w has 3"]),
        ([0, 1, 1], ["order is no ranking"]),
        ([0.5], ["order has 1 dimensions of float64"]),
    ],
    ids=["short", "repeated", "fraction"],
)
def test_refuses_what_is_no_order(start, words):
    with refused(*words):
        local_search(np.zeros((3, 3)), start)


def test_refuses_what_is_no_matrix():
    with refused("shape (1, 1)"):
        local_search([[0]])
