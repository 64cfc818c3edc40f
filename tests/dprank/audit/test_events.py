"""Exact; samples are seeded, and what is expected of them is far from what chance could change."""

import numpy as np
import pytest
from checks import each

from dprank.audit.events import CATEGORIES, Event, lowest_bit, proposals


def two_samples(features, rows=500, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    return rng.laplace(0, 1, (rows, features)), rng.laplace(shift, 1, (rows, features))


def events(partitions):
    return [
        Event(partition, order, size, swapped)
        for partition in partitions
        for order, ranks in enumerate(partition.ranks)
        for size in range(1, len(ranks))
        for swapped in (False, True)
    ]


@pytest.mark.parametrize("features", [1, 2, 6, 9])
def test_orders_are_permutations_and_counts_are_counts(features):
    p, q = two_samples(features)
    fresh, _ = two_samples(features, seed=1)
    for partition in proposals(p, q):
        cells = partition.ranks.shape[1]
        assert cells > 1
        assert (np.sort(partition.ranks, axis=1) == np.arange(cells)).all()
        assert partition.cells(fresh).min() >= 0
        assert partition.cells(fresh).max() < cells
        counts = partition.counts(fresh)
        for order in range(len(partition.ranks)):
            for size in (1, cells // 2, cells - 1):
                event = Event(partition, order, size, False)
                assert event.holds(fresh).sum() == counts[order, size - 1]


@pytest.mark.parametrize("features", [1, 3])
def test_an_event_and_its_complement(features):
    p, q = two_samples(features, rows=100)
    for event in events(proposals(p, q))[::50]:
        other = Event(event.partition, event.order, event.size, not event.swapped)
        assert (event.holds(q) != other.holds(q)).all()
        assert event.describe() != other.describe()


def test_whether_an_event_happens_to_a_row_is_up_to_that_row():
    p, q = two_samples(4, rows=300)
    fresh, _ = two_samples(4, seed=1, rows=300)
    for event in events(proposals(p, q))[::97]:
        at_once = event.holds(fresh)
        assert np.array_equal(at_once[::-1], event.holds(np.ascontiguousarray(fresh[::-1])))
        assert [bool(event.holds(fresh[i : i + 1])[0]) for i in range(20)] == at_once[:20].tolist()


def best(partitions, p, q):
    return max(events(partitions), key=lambda event: event.holds(p).mean() - event.holds(q).mean())


@pytest.mark.parametrize("move", [[0.0, 4.0, 0.0], [2.0, -2.0, 0.0], [1.5, 1.5, 1.5]])
@pytest.mark.slow
def test_what_tells_the_samples_apart_is_found(move):
    p, _ = two_samples(3, 2000)
    q = two_samples(3, 2000, seed=1, shift=0.0)[1] + np.array(move)
    event = best(proposals(p, q), p, q)
    gained = event.holds(p).mean() - event.holds(q).mean()
    alone = max(np.mean(p[:, c] < t) - np.mean(q[:, c] < t) for c in range(3) for t in np.linspace(-4, 4, 33))
    assert gained >= alone - 0.02


def test_a_rare_single_value_has_a_cell_of_its_own():
    rng = np.random.default_rng(0)
    p, q = (rng.laplace(0, 1, (4000, 1)) for _ in range(2))
    p[:8] = 0.25
    event = max(events(proposals(p, q)), key=lambda e: (e.holds(p).sum() == 8) and not e.holds(q).any())
    assert event.holds(p).sum() == 8
    assert event.describe(["x"]) == "x = 0.25"


def test_few_distinct_outputs_are_told_apart_and_unseen_ones_share_a_cell():
    rng = np.random.default_rng(0)
    p, q = (rng.integers(0, 3, (400, 2)).astype(float) for _ in range(2))
    whole = proposals(p, q)[0]
    assert whole.ranks.shape == (1, 10)
    grid = np.array([(a, b) for a in range(3) for b in range(3)], float)
    assert sorted(whole.cells(grid).tolist()) == list(range(9))
    assert whole.cells(np.array([[7.0, 7.0]])).tolist() == [9]
    assert "the output is one of (" in Event(whole, 0, 5, False).describe()


def test_many_distinct_outputs_are_not():
    rng = np.random.default_rng(0)
    p, q = (rng.integers(0, 1000, (4 * CATEGORIES, 2)).astype(float) for _ in range(2))
    assert all(partition.ranks.shape[1] < CATEGORIES for partition in proposals(p, q))


def test_constant_outputs_give_only_a_tree():
    p = q = np.ones((50, 2))
    assert len(proposals(p, q)) == 1


@each(
    ("x", "bit"),
    [
        (0.0, 1024),
        (1.0, 0),
        (-1.0, 0),
        (3.0, 0),
        (0.75, -2),
        (2.0**60, 60),
        (5e-324, -1074),
        (1 + 2.0**-52, -52),
        (-1.5 * 2.0**-1022, -1023),
        (np.finfo(float).max, 971),
        (np.inf, 1024),
        (np.nan, 1024),
    ],
)
def test_lowest_bit(x, bit):
    assert lowest_bit(np.array([x])).tolist() == [bit]


def test_lowest_bits_of_random_doubles_divide_them_exactly():
    x = np.random.default_rng(0).laplace(0, 1e-3, 1000)
    odd = x / 2.0 ** lowest_bit(x)
    assert (odd == np.round(odd)).all()
    assert (odd % 2 == 1).all()
