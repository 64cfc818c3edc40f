"""Exact."""

from itertools import permutations

import numpy as np
import pytest
from checks import refused

from dprank.aggregation.matrix import (
    kemeny_score,
    pairwise_fractions,
    require_fractions,
    require_matrix,
    require_order,
    shrink,
)
from dprank.data.kendall import kendall_distances
from dprank.data.rankings import Rankings

VOTES = Rankings(np.array([np.random.default_rng(v).permutation(5) for v in range(7)]), "abcde")


def test_fractions_count_voters():
    w = pairwise_fractions(VOTES)
    for i in range(5):
        for j in range(5):
            assert w[i, j] == np.mean(VOTES.positions[:, i] < VOTES.positions[:, j])
    with refused("voters"):
        pairwise_fractions(Rankings(np.zeros((0, 3), int), "abc"))


def test_the_score_is_the_mean_distance():
    w = pairwise_fractions(VOTES)
    for order in permutations(range(5)):
        assert kemeny_score(order, w) == pytest.approx(kendall_distances(VOTES.positions, np.argsort(order)).mean())


def test_the_diagonal_is_not_read():
    w = pairwise_fractions(VOTES)
    np.testing.assert_array_equal(require_fractions(w + 0.5 * np.eye(5)), require_fractions(w))
    assert kemeny_score(range(5), w + np.eye(5)) == kemeny_score(range(5), w)


def test_rounding_is_forgiven_and_removed():
    w = np.array([[0, 1 + 5e-10], [-5e-10, 0]])
    np.testing.assert_array_equal(require_fractions(w), [[0, 1], [0, 0]])
    third = require_fractions([[0, 1 / 3], [2 / 3 + 1e-12, 0]])
    assert third[0, 1] + third[1, 0] == 1
    for off in (1e-8, -1e-8):
        with refused("w[0, 1] + w[1, 0]", "sum to 1"):
            require_fractions([[0, 0.5 + off], [0.5, 0]])


def test_the_caller_s_matrix_is_left_alone():
    w = np.full((3, 3), 0.5)
    for call in (require_fractions, require_matrix, shrink):
        call(w)[0, 1] = 7
    assert (w == 0.5).all()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_shrinking_keeps_the_proportions_of_costs(size):
    noisy = size * np.random.default_rng(0).normal(size=(4, 4))
    w = require_fractions(shrink(noisy))
    orders = list(permutations(range(4)))
    before, after = (np.array([kemeny_score(order, x) for order in orders]) for x in (noisy, w))
    ratio = (after - after[0])[1:] / (before - before[0])[1:]
    np.testing.assert_allclose(ratio, ratio[0])
    assert ratio[0] > 0


def test_shrinking_leaves_fractions_as_they_are():
    w = pairwise_fractions(VOTES)
    np.testing.assert_allclose(shrink(w), w, atol=1e-15)


def test_clipping_changes_the_best_order_and_shrinking_does_not():
    """Two cycles share the pair (0, 1), in which the noise says more than a unanimous vote could."""
    noisy = np.full((4, 4), 0.5)
    for i, j, w in [(0, 1, 2.0), (1, 2, 0.9), (2, 0, 0.9), (1, 3, 0.9), (3, 0, 0.9)]:
        noisy[i, j], noisy[j, i] = w, 1 - w

    def ahead(w):
        """Whether the best orders have 0 before 1: a set of one where they agree."""
        cost = {order: kemeny_score(order, w) for order in permutations(range(4))}
        return {o.index(0) < o.index(1) for o, c in cost.items() if c < min(cost.values()) + 1e-9}

    assert ahead(noisy) == ahead(shrink(noisy)) == {True}
    assert ahead(require_fractions(np.clip(noisy, 0, 1))) == {False}


@pytest.mark.parametrize(
    ("order", "words"),
    [
        pytest.param([0, 0, 1], ["order is no ranking"], id="twice"),
        pytest.param([0, 1], ["order ranks 2 items", "w has 3"], id="short"),
        pytest.param([0, 1, 3], ["order is no ranking"], id="outside"),
        pytest.param("abc", ["order"], id="words"),
        pytest.param([0.0, 1.0, 2.0], ["order", "float"], id="floats"),
    ],
)
def test_refuses_what_is_no_order(order, words):
    for call in (lambda: require_order(order, 3), lambda: kemeny_score(order, np.zeros((3, 3)))):
        with refused(*words):
            call()


@pytest.mark.parametrize(
    ("w", "words"),
    [
        pytest.param(0.5, ["shape ()"], id="number"),
        pytest.param([[0]], ["shape (1, 1)", "two items"], id="one"),
        pytest.param([[0, np.inf], [0, 0]], ["w[0, 1]", "finite"], id="infinite"),
        pytest.param([["a", "b"], ["c", "d"]], ["no matrix of numbers"], id="words"),
        pytest.param(None, ["shape ()"], id="none"),
    ],
)
def test_refuses_what_is_no_matrix(w, words):
    for call in (require_matrix, require_fractions, shrink, lambda x: kemeny_score([0, 1], x)):
        with refused(*words):
            call(w)
