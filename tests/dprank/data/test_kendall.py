"""Exact."""

import numpy as np
import pytest
from checks import all_rankings, each, refused
from scipy import stats

from dprank.data.kendall import as_positions, kendall_distance, kendall_distances, pairwise_kendall_distances


def all_distances(rankings):
    return np.array([kendall_distances(rankings, centre) for centre in rankings])


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_counts_discordant_pairs_of_every_two_rankings(m):
    rankings = all_rankings(m)
    before = rankings[:, :, None] < rankings[:, None, :]
    opposite = (before[:, None] & before[None].swapaxes(-1, -2)).sum(axis=(2, 3))
    np.testing.assert_array_equal(all_distances(rankings), opposite)


def test_is_a_metric_that_does_not_see_names():
    rankings = all_rankings(4)
    d = all_distances(rankings)
    assert (d == d.T).all()
    assert ((d == 0) == np.eye(len(d), dtype=bool)).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None]).all()
    np.testing.assert_array_equal(all_distances(rankings[:, [2, 0, 3, 1]]), d)


@each("m", [2, 3, 200, 256, 257, 1000])
def test_is_scipy_s_tau(m):
    rng = np.random.default_rng(m)
    a, b = rng.permutation(m), rng.permutation(m)
    pairs = m * (m - 1) // 2
    assert kendall_distance(a, b) == round(pairs * (1 - stats.kendalltau(a, b).statistic) / 2)
    assert kendall_distance(a, a) == 0
    assert kendall_distance(a, m - 1 - a) == pairs


@each("m", [1, 2, 11, 12, 40, 64, 65, 300, 500, 501])
def test_all_pairs_are_pair_by_pair(m):
    rng = np.random.default_rng(m)
    rankings = np.array([rng.permutation(m) for _ in range(9)])
    table = pairwise_kendall_distances(rankings)
    np.testing.assert_array_equal(table, all_distances(rankings))
    np.testing.assert_array_equal(pairwise_kendall_distances(rankings, rankings[:4]), table[:, :4])
    assert table.dtype == np.int64
    assert pairwise_kendall_distances(rankings[:1]).tolist() == [[0]]
    assert pairwise_kendall_distances(rankings, rankings[:0]).shape == (9, 0)


def test_all_pairs_refuse():
    with refused("others[1]", "0 .. 1"):
        pairwise_kendall_distances([[0, 1]], [[0, 1], [1, 1]])
    with refused("positions rank 3 items", "others rank 2"):
        pairwise_kendall_distances([[0, 1, 2]], [[0, 1]])


@each(
    ("positions", "centre", "words"),
    [
        ([[0, 1, 2], [0, 2, 2]], [0, 1, 2], ["positions[1]", "0 .. 2"]),
        ([[0, 1, 2]], [1, 2, 3], ["centre", "0 .. 2"]),
        ([[0, -1]], [0, 1], ["positions[0]"]),
        ([[0, 1], [0, 256]], [0, 1], ["positions[1]"]),
        ([[0, 1, 2]], [0, 1], ["positions rank 3 items", "centre ranks 2"]),
        ([[0, 1], [0]], [0, 1], ["positions", "different lengths"]),
        (None, [0, 1], ["positions", "object"]),
        ([[0.0, 1.0]], [0, 1], ["positions", "float64", "integer"]),
        ([0, 1], [0, 1], ["positions has 1 dimensions"]),
        ([[]], [0, 1], ["positions"]),
    ],
)
def test_refuses(positions, centre, words):
    with refused(*words):
        kendall_distances(positions, centre)


@each(
    ("a", "b", "words"),
    [
        ([0, 2, 2], [0, 1, 2], ["a is no ranking", "0 .. 2"]),
        ([0, 1, 2], [1, 2, 3], ["b is no ranking", "0 .. 2"]),
        ([0, 1, 2], [0, 1], ["a ranks 3 items", "b ranks 2"]),
        ([0.0, 1.0], [0, 1], ["a has 1 dimensions of float64", "integer"]),
        ([0, 1], "01", ["b has 0 dimensions", "one ranking"]),
        ([0, 1], None, ["b has 0 dimensions", "one ranking"]),
        ([], [], ["a has 1 dimensions"]),
        ([[0], [0, 1]], [0, 1], ["a has", "different lengths"]),
        ([[0, 1]], [0, 1], ["a has 2 dimensions", "one ranking"]),
    ],
)
def test_two_rankings_are_called_a_and_b(a, b, words):
    with refused(*words):
        kendall_distance(a, b)


@pytest.mark.parametrize(
    "call",
    [
        lambda: kendall_distance([[0, 1], [1, 0]], [0, 1]),
        lambda: kendall_distance([0, 1], [[0, 1], [1, 0]]),
        lambda: kendall_distances([[0, 1]], [[0, 1], [1, 0]]),
    ],
)
def test_refuses_several_rankings_where_one_belongs(call):
    with refused("2 dimensions", "one ranking"):
        call()


def test_positions_are_a_copy():
    given = np.array([[1, 0]])
    assert as_positions("x", given) is not given
    assert as_positions("x", np.arange(300)[None]).dtype == np.uint16
