"""Exhaustive neighbours of ballots against lists by hand."""

from collections import Counter
from itertools import product

import numpy as np
from checks import each, refused

from dprank.audit.ballots import BallotNeighbours, OneBallot, all_orders
from dprank.data.ballots import Ballots, as_orders


def rows(ballots):
    """Ballots without their order: whose they are is not said."""
    return Counter(zip(map(tuple, ballots.places.tolist()), ballots.weight.tolist(), strict=True))


@each(("m", "orders"), [(1, 2), (2, 6), (3, 26), (4, 150)])
def test_all_orders_are_listed_once(m, orders):
    listed = all_orders(m)
    assert len(listed) == orders == len(set(map(tuple, listed.tolist())))
    for row in product(range(-1, m), repeat=m):
        assert as_orders("row", [row])[0].tolist() in listed.tolist()


def test_too_many_are_not_listed():
    with refused("n_items = 7", "from 1 to 6"):
        all_orders(7)
    with refused("max_weight = 0"):
        BallotNeighbours(max_weight=0)


@each("weight", [1, 4])
@each("adjacency", ["replace", "add_remove"])
def test_neighbours_differ_in_one_ballot(adjacency, weight):
    data = Ballots([[0, 1, 1], [-1, 0, -1]], "abc", [1, 0])
    kept, rng = BallotNeighbours(adjacency, weight), np.random.default_rng(3)
    listed, weights = list(kept.all(data)), sorted({0, 1, weight})
    if adjacency == "replace":
        assert len(listed) == 2 * (26 * len(weights) - 1)
    else:
        assert len(listed) == 2 + 26 * len(weights)
    drawn = [kept.draw(data, rng) for _ in range(400)]
    for other in [*listed, *drawn]:
        gone, new = rows(data) - rows(other), rows(other) - rows(data)
        if adjacency == "replace":
            assert len(other) == 2
            assert gone.total() == new.total() <= 1
        else:
            assert {gone.total(), new.total()} == {0, 1}
        assert other.weight.max(initial=0) <= max(weight, 1)
    # the worst: a ballot turned round, with all its weight
    turned = Ballots([[1, 0, 0], [-1, 0, -1]], "abc", [weight, 0])
    assert adjacency == "add_remove" or any(rows(other) == rows(turned) for other in drawn)
    none = Ballots(np.zeros((0, 3), int), "abc")
    assert len(kept.draw(none, rng)) == (adjacency == "add_remove")


def test_one_ballot_has_all_others():
    assert len(list(OneBallot().all([2, 0, 1]))) == 25
    assert len(list(OneBallot().all([5, 5, -1]))) == 25
    drawn = {tuple(OneBallot().draw([0, 1, 2], np.random.default_rng(seed)).tolist()) for seed in range(300)}
    assert {(0, 1, 2), (2, 1, 0)} <= drawn
    assert any(-1 in row for row in drawn)
    assert any(len({*row}) < 3 for row in drawn)
