"""The private footrule against all orders and all neighbours; seeds are fixed, and false alarms rarer than 10^-6."""

import json
import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import all_rankings, each, refused
from scipy.stats import binom

from dprank.aggregation.private_footrule import PrivateFootrule, assignments, cheapest, cheapest_orders, footrule_costs
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.release import Ranking

ALARM = 1e-6


def counts_of(mechanism, *rows):
    return mechanism.counts(Rankings(np.array(rows, int).reshape(-1, mechanism.n_items), "abcdef"[: mechanism.n_items]))


@each("m", [2, 3, 4])
@each("adjacency", ["replace", "add_remove"])
def test_sensitivities_are_the_largest_moves(m, adjacency):
    mechanism, rankings = PrivateFootrule(m, 99.0, adjacency=adjacency), all_rankings(m)
    pairs = [((one,), (other,)) for one, other in product(rankings, repeat=2)]
    pairs = pairs if adjacency == "replace" else [((), (one,)) for one in rankings]
    moves = [counts_of(mechanism, *other) - counts_of(mechanism, *one) for one, other in pairs]
    assert max(np.abs(move).sum() for move in moves) == mechanism.l1_sensitivity
    assert max(math.sqrt((move**2).sum()) for move in moves) == pytest.approx(mechanism.l2_sensitivity)
    assert max(math.sqrt((move**2).sum()) for move in moves) <= mechanism.l2_sensitivity


@each("delta", [0.0, 1e-6])
@each("adjacency", ["replace", "add_remove"])
@each("epsilon", [0.1, 1.0, 8.0])
def test_it_is_as_private_as_asked(delta, adjacency, epsilon):
    promised = PrivateFootrule.calibrated(epsilon=epsilon, delta=delta, n_items=7, adjacency=adjacency).guarantee
    assert promised.epsilon <= epsilon
    assert promised.epsilon == pytest.approx(epsilon)
    assert (promised.delta, promised.adjacency, promised.model) == (delta, adjacency, "central")


@each("m", [2, 3, 4, 5])
def test_almost_without_noise_the_footrule_is_least(m):
    rng, rankings = np.random.default_rng(4), all_rankings(m)
    for _ in range(20):
        rows = rankings[rng.integers(len(rankings), size=7)]
        order = PrivateFootrule(m, 0.01).release(Rankings(rows, "abcdef"[:m]), rng).order
        places = np.argsort(order)
        footrules = np.abs(rankings[:, None] - rows).sum(axis=(1, 2))
        assert np.abs(places - rows).sum() == footrules.min()
        costs = footrule_costs(counts_of(PrivateFootrule(m, 0.01), *rows))
        assert costs[np.arange(m), places].sum() == footrules.min()
        kemeny = [sum(_kendall(one, row) for row in rows) for one in rankings]
        assert sum(_kendall(places, row) for row in rows) <= 2 * min(kemeny)


def _kendall(one, other):
    first, second = np.triu_indices(len(one), 1)
    return int(((one[first] < one[second]) != (other[first] < other[second])).sum())


@each("m", [2, 3, 4, 5, 6])
@each("spread", [1, 30, 0.5])
def test_many_orders_at_once_are_those_drawn_one_after_another(m, spread):
    """Whole counts up to 1 are tied more often than not, and up to 30 seldom; fractions never are."""
    data = np.random.default_rng(m)
    counts = data.random((400, m, m)) if spread == 0.5 else data.integers(0, spread + 1, (400, m, m))
    one, many = np.random.default_rng(1), np.random.default_rng(1)
    assert cheapest_orders(counts, many).tolist() == [cheapest(each, one).tolist() for each in counts]
    assert one.bit_generator.state == many.bit_generator.state


def test_assignments_are_the_least_of_all(monkeypatch):
    monkeypatch.setattr("dprank.aggregation.private_footrule._SUMS", 100)  # in blocks of four
    costs = np.random.default_rng(2).integers(-9, 9, (30, 4, 4)).astype(float)
    found = assignments(costs)
    for cost, places in zip(costs, found, strict=True):
        assert sorted(places.tolist()) == [0, 1, 2, 3]
        assert cost[range(4), places].sum() == min(cost[range(4), order].sum() for order in permutations(range(4)))
    assert assignments(np.empty((0, 3, 3))).shape == (0, 3)


def test_equally_cheap_orders_are_equally_likely():
    """One voter each way: whatever the items are called, either order costs as much."""
    data, mechanism = Rankings([[0, 1], [1, 0]], "ab"), PrivateFootrule(2, 0.01)
    first = sum(mechanism.release(data, np.random.default_rng(seed)).ranking[0] == "a" for seed in range(2000))
    assert 2 * min(binom.cdf(first, 2000, 0.5), binom.sf(first - 1, 2000, 0.5)) > ALARM


def test_whole_noise_is_added_to_whole_counts():
    mechanism = PrivateFootrule(3, 5.0)
    noisy = mechanism.perturb(np.zeros((1000, 3, 3)), np.random.default_rng(1))
    assert (noisy == np.rint(noisy)).all()
    assert noisy.std() == pytest.approx(5 * math.sqrt(2), rel=0.05)
    with refused("count", "fractions"):
        mechanism.perturb(np.full((3, 3), 0.5), np.random.default_rng(1))


def test_items_that_divide_the_voters_are_put_where_most_have_them():
    """Of five, a is first for 65 of 100 and last for 35: its mean place is the third, its median the first."""
    rows = [[0, 1, 2, 3, 4]] * 650 + [[4, 0, 1, 2, 3]] * 350
    mechanism = PrivateFootrule.calibrated(epsilon=1.0, n_items=5)
    assert mechanism.release(Rankings(rows, "abcde"), np.random.default_rng(0)).ranking == tuple("abcde")


def test_a_release_for_publishing_and_its_file():
    data = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, "abc")
    made = PrivateFootrule.calibrated(epsilon=1.0, delta=1e-6, n_items=3).release(data, SECURE)
    assert made.publishable
    assert (made.scores, made.margins) == (None, None)
    assert Ranking.from_json(made.to_json()) == made
    forged = json.loads(made.to_json())
    forged["guarantee"]["epsilon"] = 0.5
    with refused("guarantee"):
        Ranking.from_json(json.dumps(forged))


@each(
    ("call", "words"),
    [
        (lambda: PrivateFootrule(1, 4.0), ("n_items = 1", "2")),
        (lambda: PrivateFootrule(3, 0.0), ("scale = 0.0", "above 0")),
        (lambda: PrivateFootrule(3, 4.0, ballots="partial"), ("ballots = 'partial'", "full")),
        (lambda: PrivateFootrule(3, 4.0, max_weight=2), ("max_weight = 2", "full")),
        (lambda: PrivateFootrule.calibrated(epsilon=0.0, n_items=3), ("epsilon = 0.0", "above 0")),
        (lambda: PrivateFootrule.calibrated(epsilon=1.0, delta=1.0, n_items=3), ("delta = 1.0", "[0, 1)")),
        (lambda: PrivateFootrule(3, 4.0).release(Rankings([[0, 1]], "ab"), SECURE), ("items = 2", "n_items = 3")),
        (
            lambda: PrivateFootrule(2, 4.0).release(Ballots([[0, 0]], "ab"), SECURE),
            ("Ballots", "completed", "rankings"),
        ),
    ],
)
def test_bad_input(call, words):
    with refused(*words):
        call()
