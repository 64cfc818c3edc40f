"""Cheap aggregation rules against brute force. False-alarm rate of the one statistical test: 1e-6."""

from itertools import permutations

import numpy as np
import pytest
from checks import law_p_value, refused

from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.rules import borda, copeland, footrule, pick_a_perm
from dprank.rankings import Rankings

FALSE_ALARM = 1e-6


def profile(rng, voters, m):
    return Rankings(rng.permuted(np.tile(np.arange(m), (voters, 1)), axis=1), [f"i{k}" for k in range(m)])


def distance(order, rankings):
    return abs(rankings.positions - np.argsort(order)).sum()


def test_borda_by_hand():
    rankings = Rankings.from_orders([[0, 1, 2], [1, 2, 0], [1, 0, 2]], "abc")
    assert borda(pairwise_fractions(rankings)).tolist() == [1, 0, 2]


def test_borda_is_the_order_of_mean_places():
    rankings = profile(np.random.default_rng(1), 7, 6)
    places = rankings.positions.sum(axis=0)
    assert (np.diff(places[borda(pairwise_fractions(rankings))]) >= 0).all()


def test_copeland_differs_from_borda():
    # 3 of 5 voters put a first, but the others put it last: a beats both others, Borda prefers b.
    rankings = Rankings.from_orders([[0, 1, 2]] * 3 + [[1, 2, 0]] * 2, "abc")
    w = pairwise_fractions(rankings)
    assert (copeland(w).tolist(), borda(w).tolist()) == ([0, 1, 2], [1, 0, 2])


@pytest.mark.parametrize("rule", [borda, copeland], ids=["borda", "copeland"])
def test_ties_go_by_code(rule):
    assert rule(np.full((4, 4), 0.5)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("rule", [borda, copeland], ids=["borda", "copeland"])
def test_a_unanimous_order_is_kept(rule):
    order = np.array([2, 0, 3, 1])
    w = pairwise_fractions(Rankings.from_orders([order], "abcd"))
    assert rule(w).tolist() == order.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_footrule_is_optimal_and_a_two_approximation(seed):
    rng = np.random.default_rng(seed)
    rankings = profile(rng, int(rng.integers(1, 6)), 5)
    orders = [np.array(o) for o in permutations(range(5))]
    found, w = footrule(rankings), pairwise_fractions(rankings)
    assert distance(found, rankings) == min(distance(o, rankings) for o in orders)
    assert kemeny_score(found, w) <= 2 * min(kemeny_score(o, w) for o in orders) + 1e-9


def test_borda_is_no_footrule_optimum():
    rankings = Rankings.from_orders([[0, 1, 2]] * 3 + [[1, 2, 0]] * 2, "abc")
    assert distance(footrule(rankings), rankings) < distance(borda(pairwise_fractions(rankings)), rankings)


def test_pick_a_perm_draws_every_voter():
    rankings = Rankings.from_orders([[0, 1, 2], [2, 1, 0], [1, 0, 2]], "abc")
    rng = np.random.default_rng(2)
    drawn = [tuple(pick_a_perm(rankings, rng=rng).tolist()) for _ in range(3000)]
    counts = [drawn.count(order) for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2))]
    assert sum(counts) == len(drawn)
    assert law_p_value(np.array(counts), np.full(3, 1 / 3)) > FALSE_ALARM


def test_bad_input():
    nobody = Rankings(np.empty((0, 3), int), "abc")
    with refused("no voters"):
        footrule(nobody)
    with refused("no voters"):
        pick_a_perm(nobody, rng=np.random.default_rng(0))
    with refused("w has shape", "(2, 3)"):
        borda(np.zeros((2, 3)))
    with refused("w[0, 1] = nan"):
        copeland([[0, np.nan], [0, 0]])
