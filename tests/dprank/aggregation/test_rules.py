"""Cheap aggregation rules against brute force. False-alarm rate of the one statistical test: 1e-6."""

from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from checks import each, law_p_value, refused

from dprank.aggregation import rules
from dprank.aggregation.kemeny import quick_order
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.rules import borda, copeland, footrule, order_by, pick_a_perm
from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE

FALSE_ALARM = 1e-6
RNG = np.random.default_rng(0)


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
    with refused("voters"):
        footrule(nobody)
    with refused("voters"):
        pick_a_perm(nobody, rng=np.random.default_rng(0))
    with refused("w has shape", "(2, 3)"):
        borda(np.zeros((2, 3)))
    with refused("w[0, 1]"):
        copeland([[0, np.nan], [0, 0]])


def noise(m, seed=0):
    margins = np.triu(np.random.default_rng(seed).normal(size=(m, m)), 1)
    return margins - margins.T


def test_auto_is_exact_where_that_is_quick_and_never_worse_than_a_search():
    w = noise(12)
    assert kemeny_score(order_by("auto", w, rng=RNG), w) == pytest.approx(
        kemeny_score(order_by("kemeny", w, rng=RNG), w), abs=1e-9
    )
    big = np.block([[noise(40), np.full((40, 12), 9.0)], [np.full((12, 40), -9.0), w]])  # 40 items before 12
    found = quick_order(big)
    assert set(found[:40]) == set(range(40))
    assert kemeny_score(found[40:] - 40, w) == pytest.approx(kemeny_score(order_by("kemeny", w, rng=RNG), w), abs=1e-9)
    assert kemeny_score(found, big) <= kemeny_score(order_by("borda", big, rng=RNG), big)


def test_an_order_out_of_reach_is_the_best_one_known(monkeypatch):
    monkeypatch.setattr(rules, "PATIENCE", 0.05)
    w = noise(60)
    with pytest.warns(RuntimeWarning, match="'kemeny'.* the best order known is used"):
        order = order_by("kemeny", w, rng=RNG)
    assert kemeny_score(order, w) <= kemeny_score(order_by("borda", w, rng=RNG), w)


def test_all_ties_and_unknown_rules():
    for rule in get_args(rules.Rule):
        assert sorted(order_by(rule, np.zeros((25, 25)), rng=RNG)) == list(range(25))
    for rule in ("dictator", None, []):
        with refused("rule = ", "'auto'"):
            order_by(rule, np.zeros((2, 2)), rng=RNG)


@each("w", ["ab", None, [[0, 1j], [0, 0]], [[0, "1"], [0, 0]], [[0, 10**400], [0, 0]], {"a": 1}])
def test_what_is_no_matrix(w):
    for rule in get_args(rules.Rule):
        with refused("w"):
            order_by(rule, w, rng=RNG)
    with refused("w[0, 1]", "1e300"):
        order_by("borda", [[0, 1e301], [0, 0]], rng=RNG)


@pytest.mark.parametrize("rule", get_args(rules.Rule))
@pytest.mark.slow
def test_ties_are_fair(rule):
    """All orders of three items in a cycle, or of no majority at all, that tie come equally often."""
    draws, rng = 600, np.random.default_rng(3)
    tie, cycle = np.zeros((3, 3)), np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    for w in (tie, cycle):
        first = np.bincount([order_by(rule, w, rng=rng)[0] for _ in range(draws)], minlength=3)
        assert law_p_value(first, np.full(3, 1 / 3)) > FALSE_ALARM
    assert set(order_by(rule, tie, rng=SECURE).tolist()) == {0, 1, 2}
    with refused("rng = 7"):
        order_by(rule, tie, rng=7)
