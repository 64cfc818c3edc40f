"""The private winner. Seeds are fixed; a chi-square test of a right law fails with chance 1e-4."""

import math
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from checks import each, law_p_value, refused

import dprank
from dprank.aggregation.winner import PrivateWinner
from dprank.aggregation.winner_laws import permute_and_flip
from dprank.privacy.laws import exact, sample

RULES, ADJACENCIES = ["maximin", "borda"], ["replace", "add_remove"]


def ballots_of(m, most=0):
    """All orders of some items, ties and gaps among them; or all rankings."""
    if not most:
        return [list(order) for order in permutations(range(m))]
    rows = product(range(-1, m), repeat=m)
    return np.unique(dprank.Ballots(list(rows), [*"abcd"[:m]]).places, axis=0).tolist()


def by_order(scores):
    """Of permute-and-flip, over all orders in which items may come up."""
    accepted = np.exp(np.array(scores, float) - max(scores))
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for item in order:
            law[item] += left * accepted[item] / len(orders)
            left *= 1 - accepted[item]
    return law


def test_the_law_is_that_of_permute_and_flip():
    rng = np.random.default_rng(1)
    for m in (1, 2, 3, 5, 6):
        scores = np.round(rng.normal(size=m), 1)
        assert permute_and_flip(scores) == pytest.approx(by_order(scores), abs=1e-13)
    assert permute_and_flip(np.zeros(40)) == pytest.approx(np.full(40, 1 / 40))


@each("rule", RULES)
@pytest.mark.slow
def test_releases_have_the_law(rule):
    votes = dprank.Rankings([[0, 1, 2, 3]] * 3 + [[1, 2, 3, 0]] * 2 + [[3, 1, 0, 2]], [*"0123"])
    mechanism = PrivateWinner(4, 3.0, rule=rule)
    law = permute_and_flip(mechanism.scores(votes) / 3.0)
    for rng in (dprank.SECURE, np.random.default_rng(1)):
        named = [mechanism.release(votes, rng).items[0] for _ in range(2000)]
        assert law_p_value([named.count(item) for item in "0123"], law) > 1e-4 / 6
    codes = sample(mechanism, votes, 4000, np.random.default_rng(2))[:, 0].astype(int)
    assert law_p_value(np.bincount(codes, minlength=4), law) > 1e-4 / 6
    assert law_p_value(np.bincount(codes, minlength=4), permute_and_flip(mechanism.scores(votes) / 6.0)) < 1e-9


def reader(rule, kind, m, weight):
    """A mechanism, and how it takes rows of places."""
    made = PrivateWinner(m, 1e3, rule=rule, ballots=kind, max_weight=weight)
    names = [*"abcd"[:m]]
    data = (lambda r: dprank.Ballots(r, names, [weight] * len(r))) if kind == "partial" else (
        lambda r: dprank.Rankings(np.array(r).reshape(-1, m), names)
    )  # fmt: skip
    return made, data


@each("rule", RULES)
@each("kind", ["full", "partial"])
@pytest.mark.slow
def test_a_ballot_moves_no_difference_of_scores_by_more(rule, kind):
    """All profiles of three voters on three items, of two where ballots may have ties, gaps and weights."""
    m, weight = 3, (1 if kind == "full" else 2)
    rows = ballots_of(m, 0 if kind == "full" else 1)
    made, data = reader(rule, kind, m, weight)
    worst = {"replace": 0, "add_remove": 0}
    for others in combinations_with_replacement(rows, 2 if kind == "full" else 1):
        scores = np.array([made.scores(data([*others, row])) for row in rows])
        without = made.scores(data(list(others))) if others else None
        for adjacency, pairs in (("replace", scores[:, None] - scores), ("add_remove", scores - without)):
            worst[adjacency] = max(worst[adjacency], int((pairs.max(axis=-1) - pairs.min(axis=-1)).max()))
    for adjacency, moved in worst.items():
        spread = PrivateWinner(m, 1e3, rule=rule, ballots=kind, max_weight=weight, adjacency=adjacency).spread
        assert moved == spread, (adjacency, "attained")


@each("rule", RULES)
@each("adjacency", ADJACENCIES)
def test_the_guarantee_is_attained_and_kept(rule, adjacency):
    mechanism = PrivateWinner(3, 2.0 * (1 if rule == "maximin" else 2), rule=rule, adjacency=adjacency)
    promise = mechanism.guarantee.epsilon
    rows, worst = ballots_of(3), 0.0
    crowd = [[0, 1, 2]] * 30
    for many in ([], crowd):
        for old, new in product(rows, repeat=2):
            one = dprank.Rankings([*many, [1, 0, 2], old], "abc")
            other = dprank.Rankings([*many, [1, 0, 2], *([new] if adjacency == "replace" else [])], "abc")
            worst = max(worst, exact(mechanism, one, other).epsilon(0.0))
    assert worst == pytest.approx(promise)
    assert worst <= promise * (1 + 1e-9)


def test_a_condorcet_winner_has_the_best_worst_margin():
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(200):
        votes = dprank.Rankings(rng.permuted(np.tile(np.arange(4), (7, 1)), axis=1), [*"abcd"])
        margins = votes.pairwise() - votes.pairwise().T
        scores = PrivateWinner(4, 1.0).scores(votes)
        assert scores.tolist() == [min(np.delete(row, i)) for i, row in enumerate(margins)]
        for i in np.flatnonzero(scores > 0):
            found += 1
            assert scores[i] - np.delete(scores, i).max() >= 2 * scores[i]
    assert found > 100


def test_chance_right_is_that_of_the_worst_data():
    mechanism, rng = PrivateWinner(5, 3.0), np.random.default_rng(1)
    for gap in (0, 1, 6.5, 200, 1e5):
        assert mechanism.chance_right(gap) == pytest.approx(permute_and_flip(np.array([gap, 0, 0, 0, 0]) / 3.0)[0])
        for _ in range(20):
            behind = -gap - rng.exponential(3.0, 4)
            assert permute_and_flip(np.r_[0, behind] / 3.0)[0] >= mechanism.chance_right(gap) * (1 - 1e-12)
    for chance in (0.3, 0.95, 1 - 1e-9):
        gap = mechanism.gap_needed(chance)
        assert mechanism.chance_right(gap) >= chance > mechanism.chance_right(gap * (1 - 1e-6))
    assert mechanism.gap_needed(0.2) == 0


def test_what_is_released():
    votes = dprank.Rankings([[0, 1, 2]] * 900 + [[1, 2, 0]] * 100, ["roads", "parks", "debt"])
    for rng in (dprank.SECURE, np.random.default_rng(1)):
        release = PrivateWinner.calibrated(epsilon=1.0, n_items=3).release(votes, rng)
        assert release.items.tolist() == ["roads"]
        assert release.values is None
        assert release.publishable == (rng is dprank.SECURE)
        assert dprank.Release.from_json(release.to_json()) == release
        assert str(release).startswith("roads; epsilon = 1 (central; replace one voter), by PrivateWinner")
    with refused("k = 1"):
        two = release.to_json().replace('"roads"', '"roads", "debt"')
        dprank.Release.from_json(two)


def test_ballots_and_their_weights():
    ballots = dprank.Ballots([[0, 0, 1], [-1, 0, 1], [0, 1, -1]], "abc", [9, 2, 1])
    maximin, borda = (PrivateWinner(3, 1.0, rule=r, ballots="partial", max_weight=3) for r in RULES)
    assert maximin.scores(ballots).tolist() == [1, -1, -5]
    assert borda.scores(ballots).tolist() == [4, 4, -8]
    empty = dprank.Ballots(np.zeros((0, 3), int), "abc")
    assert maximin.release(empty, dprank.SECURE).items[0] in "abc"


def test_what_is_refused():
    votes = dprank.Rankings([[0, 1, 2]], "abc")
    with refused("n_items = 1"):
        PrivateWinner(1, 1.0)
    with refused("rule = 'copeland'"):
        PrivateWinner(3, 1.0, rule="copeland")
    with refused("max_weight = 2; 1 with ballots = 'full'"):
        PrivateWinner(3, 1.0, max_weight=2)
    with refused("scale = 1e-320; too little noise"):
        PrivateWinner(3, 1e-320)
    with refused("epsilon = 0"):
        PrivateWinner.calibrated(epsilon=0, n_items=3)
    with refused("n_items = 4"):
        PrivateWinner(4, 1.0).release(votes, dprank.SECURE)
    with refused("ballots = 'partial' takes them"):
        PrivateWinner(3, 1.0).release(dprank.Ballots([[0, 0, 1]], "abc"), dprank.SECURE)
    with refused("rng = 3"):
        PrivateWinner(3, 1.0).release(votes, 3)
    assert math.isclose(PrivateWinner(3, 4.0).guarantee.epsilon, 1.0)
