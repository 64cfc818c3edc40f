"""Exact: every order of up to four items, with ties and gaps, against counting by hand."""

import pickle
from itertools import product

import numpy as np
import pytest
from checks import each, refused

import dprank
from dprank.data.ballots import HEAVIEST, Ballots, as_orders, require_ballots
from dprank.data.rankings import Rankings

#: Partial orders of this kind of m items: weak orders of every subset.
COUNTS = {2: 6, 3: 26, 4: 150}


def every(m):
    """All orders with ties of subsets of m items, without gaps, each once."""
    return np.unique(as_orders("places", list(product(range(-1, m), repeat=m))), axis=0)


def sign(row, i, j):
    return 0 if min(row[i], row[j]) < 0 else int(row[i] < row[j]) - int(row[i] > row[j])


@pytest.mark.parametrize("m", COUNTS)
def test_margins_and_net_wins_count_pairs_that_a_ballot_orders(m):
    rows = every(m)
    assert len(rows) == COUNTS[m]
    weight = np.random.default_rng(m).integers(0, 9, len(rows))
    ballots = Ballots(rows, "abcd"[:m], weight)
    by_hand = [
        [sum(int(w) * sign(r, i, j) for r, w in zip(rows, weight, strict=True)) for j in range(m)] for i in range(m)
    ]
    np.testing.assert_array_equal(ballots.margins(), by_hand)
    np.testing.assert_array_equal(ballots.net_wins(), np.sum(by_hand, axis=1))
    for row in rows:
        own = Ballots([row], "abcd"[:m])
        np.testing.assert_array_equal(own.net_wins(), own.margins().sum(axis=1))


@pytest.mark.parametrize("m", [2, 127, 128, 300])
def test_many_items_are_counted_without_overflow(m):
    places = np.array([np.random.default_rng(v).integers(-1, m, m) for v in range(5)])
    ballots = Ballots(places, range(m), [HEAVIEST, 0, 3, 1, 1])
    signs = np.sign(places[:, None, :] - places[:, :, None]) * ((places[:, None, :] >= 0) & (places[:, :, None] >= 0))
    margins = (signs * ballots.weight[:, None, None]).sum(axis=0)
    np.testing.assert_array_equal(ballots.margins(), margins)
    np.testing.assert_array_equal(ballots.net_wins(), margins.sum(axis=1))
    assert ballots.places.max() < m
    assert ballots.places.dtype.itemsize == (1 if m <= 128 else 2)


def test_full_rankings_are_ballots():
    votes = Rankings([np.random.default_rng(v).permutation(5) for v in range(20)], "abcde")
    ballots = Ballots.from_rankings(votes)
    np.testing.assert_array_equal(ballots.places, votes.positions)
    np.testing.assert_array_equal(ballots.margins(), votes.pairwise() - votes.pairwise().T)
    assert require_ballots(votes, 5, 20) == ballots
    assert require_ballots(ballots) is ballots


def test_the_same_order_is_the_same_row():
    one = Ballots([[9, 4, -1, 9]], "abcd")
    assert one == Ballots(np.array([[1, 0, -1, 1]], np.int8), "abcd", [1])
    assert one.places.tolist() == [[1, 0, -1, 1]]
    assert Ballots(np.array([[2**64 - 1, 0]], np.uint64), "ab").places.tolist() == [[1, 0]]
    assert one != Ballots([[1, 0, -1, 1]], "abcd", [2])
    assert one != Ballots([[1, 0, 2, 1]], "abcd")


def test_what_is_unranked_is_compared_with_nothing_unless_it_is_said_to_be_last():
    top = Ballots([[0, -1, -1, 1], [-1, -1, -1, -1]], "abcd", [2, 5])
    assert top.margins()[0].tolist() == [0, 0, 0, 2]
    last = top.unranked_last()
    assert last.places.tolist() == [[0, 2, 2, 1], [0, 0, 0, 0]]
    assert last.margins()[0].tolist() == [0, 2, 2, 2]
    assert last.weight.tolist() == [2, 5]
    assert last.unranked_last() == last


def test_weights_are_bounded_ballot_by_ballot():
    ballots = Ballots([[0, 1]] * 4, "ab", [0, 1, 5, HEAVIEST])
    assert ballots.bounded_weight(5).weight.tolist() == [0, 1, 5, 5]
    with refused("most = 0", "from 1 to"):
        ballots.bounded_weight(0)


def test_there_may_be_no_ballot():
    none = Ballots(np.zeros((0, 3), int), "abc")
    assert (len(none), none.n_items, repr(none)) == (0, 3, "Ballots of 3 items by 0 voters: data, secret")
    assert not none.margins().any()
    assert not none.net_wins().any()
    with refused("too few voters", "at least 1"):
        require_ballots(none, least=1)


def test_rows_are_sorted_block_by_block(monkeypatch):
    rows = np.random.default_rng(1).integers(-1, 4, (50, 4))
    whole = as_orders("places", rows)
    monkeypatch.setattr("dprank.data.ballots._BLOCK", 12)
    np.testing.assert_array_equal(as_orders("places", rows), whole)


@each(
    ("places", "items", "weight", "words"),
    [
        ([[0, 1], [0, -2]], "ab", None, ["places[1]", "-1"]),
        ([[0, 1]], "abc", None, ["2 items", "items names 3"]),
        ([[0.0, 1.0]], "ab", None, ["float64", "integer places"]),
        ([[True, False]], "ab", None, ["places", "bool"]),
        ([[0, 1], [0]], "ab", None, ["places", "different lengths"]),
        ([0, 1], "ab", None, ["places has 1 dimensions"]),
        ([[0, 1]], "ab", [1, 1], ["weight", "another number of rows"]),
        ([[0, 1], [0, 1]], "ab", [1, -1], ["weight[1]", "0 .. 2^20"]),
        ([[0, 1]], "ab", [HEAVIEST + 1], ["weight[0]", "0 .. 2^20"]),
        ([[0, 1]], "ab", [0.5], ["weight holds float64"]),
        ([[0, 1]], "ab", np.array([2**64 - 1], np.uint64), ["weight[0]"]),
        ([[0, 1]], "aa", None, ["items[1] is items[0]"]),
    ],
)
def test_refuses(places, items, weight, words):
    with refused(*words):
        Ballots(places, items, weight)


def test_what_is_no_ballot_is_refused_by_its_type():
    with refused("type list", "dprank.Ballots"):
        require_ballots([[0, 1]])
    with refused("type Ballots", "dprank.Rankings"):
        Ballots.from_rankings(Ballots([[0, 1]], "ab"))
    with refused("items = 2 in the data", "n_items = 3"):
        require_ballots(Ballots([[0, 1]], "ab"), 3)


def test_comes_back_from_a_file_and_is_at_the_front_door():
    given = Ballots([[0, 0, -1]], "abc", [3])
    assert pickle.loads(pickle.dumps(given)) == given
    assert dprank.Ballots is Ballots
