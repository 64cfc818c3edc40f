"""Neighbours against their definitions, and climbing against exhaustion. Seeds are fixed, nothing fails by chance."""

from __future__ import annotations

from functools import partial
from itertools import combinations_with_replacement, permutations, product
from math import comb, factorial, inf

import numpy as np
import pytest
from checks import each, refused

from dprank.aggregation.exponential import ExponentialMechanism
from dprank.audit.neighbours import (
    ComparisonNeighbours,
    OneRanking,
    RankingNeighbours,
    ValueNeighbours,
    edge_data,
    voter_scores,
)
from dprank.audit.search import climb, worst
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.pairwise import l1_sensitivity
from dprank.privacy.divergence import pair_of
from dprank.topk.curve import Types, pair_law

DESIGNS = ["any", "once", "complete"]
ADJACENCIES = ["replace", "add_remove"]


def comparisons(*rows, items="abc"):
    first, second, outcome, voter = np.array(rows, float).reshape(-1, 4).T
    return Comparisons(first.astype(int), second.astype(int), outcome, items, voter.astype(int))


def key(data):
    """What the data say: the answer sheets, whoever gave them and whoever stands first in their rows."""
    if isinstance(data, Comparisons):
        columns = (data.first, data.second, data.outcome, data.voter)
        sheets = {}
        for i, j, won, who in zip(*(column.tolist() for column in columns), strict=True):
            sheets.setdefault(who, []).append((i, j, won) if i < j else (j, i, 1 - won))
        return tuple(sorted(tuple(sorted(sheet)) for sheet in sheets.values()))
    if isinstance(data, Rankings):
        return tuple(sorted(map(tuple, data.positions.tolist())))
    return tuple(np.asarray(data).tolist())


def scores(data, score):
    """Wins, or wins less losses; shares no code with `win_counts`."""
    out = [0.0] * data.n_items
    for i, j, won in zip(data.first.tolist(), data.second.tolist(), data.outcome.tolist(), strict=True):
        lost = 1 if score == "net" else 0
        if won != 0.5:
            winner, loser = (i, j) if won == 1 else (j, i)
            out[winner] += 1
            out[loser] -= lost
    return out


def apart(one, other, score="wins"):
    return sum(abs(a - b) for a, b in zip(scores(one, score), scores(other, score), strict=True))


VOTERS = comparisons((0, 1, 1, 0), (2, 1, 0, 0), (0, 2, 0.5, 4))
GRAPH = comparisons((0, 1, 1, 0), (0, 2, 0.5, 0))
EMPTY = comparisons()
RANKED = Rankings([[0, 1, 2], [2, 0, 1]], "abc")
KINDS = [
    *(
        (f"{unit}-{adjacency}-{design}", ComparisonNeighbours(unit, adjacency, 2, design, True), data)
        for (unit, data), adjacency, design in product(
            [("comparison", GRAPH), ("voter", VOTERS)], ADJACENCIES, ["any", "once"]
        )
    ),
    *((f"rankings-{adjacency}", RankingNeighbours(adjacency), RANKED) for adjacency in ADJACENCIES),
    ("one-ranking", OneRanking(), np.array([1, 0, 2])),
    *((f"values-{adjacency}", ValueNeighbours(2.0, adjacency), np.array([3.0, 4, 9])) for adjacency in ADJACENCIES),
    ("values-contributions", ValueNeighbours(1.0, contributions=1), np.array([3.0, 4, 9])),
]
NAMES = [name for name, *_ in KINDS]


@each(("neighbours", "data"), [kind[1:] for kind in KINDS])
@pytest.mark.slow
def test_being_neighbours_is_mutual_and_nobody_is_their_own(neighbours, data):
    own = key(data)
    for other in neighbours.all(data):
        assert key(other) != own
        assert any(key(back) == own for back in neighbours.all(other))


@each(("neighbours", "data"), [kind[1:] for kind in KINDS])
@pytest.mark.slow
def test_draws_are_neighbours_and_each_is_drawn(neighbours, data):
    every = {key(other) for other in neighbours.all(data)}
    rng, drawn = np.random.default_rng(1), set()
    # what else is drawn as often as one of them is missed once in 3,000 times
    for number in range(60 * len(every)):
        if number >= 8 * len(every) and every <= drawn:
            break
        drawn.add(key(neighbours.draw(data, rng)))
    assert drawn - {key(data)} == every


def test_comparisons_of_a_graph_are_those_of_edge_data():
    wins, pairs = edge_data(3)
    graph = ComparisonNeighbours(design="once")
    starts = [
        comparisons(*((*answer, 0) for answer in sheet))
        for sheet in ComparisonNeighbours("voter", answers=3, design="once").sheets(3)
    ]
    ours = {frozenset({key(data), key(other)}) for data in starts for other in graph.all(data)}
    assert len(starts) == len(wins)
    assert len(ours) == len(pairs)
    moved = sorted(int(np.abs(wins[a] - wins[b]).sum()) for a, b in pairs)
    found = {}
    for data in starts:
        for other in graph.all(data):
            found[frozenset({key(data), key(other)})] = apart(data, other)
    assert sorted(found.values()) == moved


@each("design", DESIGNS)
@each("ties", [False, True])
def test_sheets_are_all_that_the_design_allows(design, ties):
    pairs, values = 3, 2 + ties
    answers = 3 if design == "complete" else 2
    sheets = list(ComparisonNeighbours("voter", answers=answers, design=design, ties=ties).sheets(3))
    wanted = {
        "any": sum(comb(pairs * values + size - 1, size) for size in range(answers + 1)),
        "once": sum(comb(pairs, size) * values**size for size in range(answers + 1)),
        "complete": values**pairs,
    }
    assert len(set(sheets)) == len(sheets) == wanted[design]


@pytest.mark.parametrize("score", ["wins", "net"])
@pytest.mark.parametrize("design", ["any", "once"])
@pytest.mark.slow
def test_one_voter_moves_scores_as_the_formula_says(score, design):
    neighbours = ComparisonNeighbours("voter", answers=2, design=design, ties=True)
    starts = [comparisons(*((*answer, 7) for answer in sheet)) for sheet in neighbours.sheets(3) if sheet]

    moved = partial(apart, score=score)
    assert worst(moved, starts, neighbours).loss == l1_sensitivity(3, 2, score=score, design=design)
    sheets = voter_scores(3, 2, repeats=design == "any", ties=True, score=score)
    assert {tuple(scores(start, score)) for start in starts} | {(0, 0, 0)} == {tuple(row) for row in sheets}
    found = climb(moved, lambda rng: starts[0], neighbours, rng=np.random.default_rng(2), steps=60)
    assert found.loss == l1_sensitivity(3, 2, score=score, design=design)
    assert moved(found.data, found.other) == found.loss


def test_data_without_comparisons_have_neighbours_by_adding():
    rng = np.random.default_rng(3)
    # a voter who has given no answer may be replaced by one who has
    for how, count in ((("comparison", "add_remove"), 6), (("voter", "add_remove"), 6), (("voter", "replace"), 6)):
        assert len(list(ComparisonNeighbours(*how).all(EMPTY))) == count
        assert {len(ComparisonNeighbours(*how).draw(EMPTY, rng)) for _ in range(20)} <= {0, 1}
    nobody = [ComparisonNeighbours(), ComparisonNeighbours("voter", answers=3, design="complete")]
    assert [list(neighbours.all(EMPTY)) for neighbours in nobody] == [[], []]
    assert [key(neighbours.draw(EMPTY, rng)) for neighbours in nobody] == [(), ()]


@pytest.mark.parametrize("voters", [1, 3])
def test_rankings_have_so_many_neighbours(voters):
    data = Rankings([[0, 1, 2]] * voters, "abc")
    assert len(list(RankingNeighbours().all(data))) == voters * (factorial(3) - 1)
    assert len(list(RankingNeighbours("add_remove").all(data))) == voters + factorial(3)
    lone = RankingNeighbours("add_remove", least=voters)
    assert len(list(lone.all(data))) == factorial(3)
    assert all(len(lone.draw(data, np.random.default_rng(seed))) > voters for seed in range(20))
    assert len(list(OneRanking().all([2, 0, 1]))) == factorial(3) - 1


def test_values_move_within_the_sensitivity_and_all_one_way_where_they_must():
    values = np.array([1.0, 5.0])
    free = np.array(list(ValueNeighbours(2.0).all(values))) - values
    assert len(free) == 8
    assert np.abs(free).max() == 2
    one_way = np.array(list(ValueNeighbours(2.0, "add_remove").all(values))) - values
    assert len(one_way) == 6
    assert ((one_way >= 0).all(axis=1) | (one_way <= 0).all(axis=1)).all()
    assert len(list(ValueNeighbours(2.0, steps=2).all(values))) == 24
    few = np.array(list(ValueNeighbours(contributions=1).all(np.zeros(3))))
    assert ((few > 0).sum(axis=1) <= 1).all()
    assert ((few < 0).sum(axis=1) <= 1).all()
    assert len(few) == 3 + 3 + 6


# --- search ----------------------------------------------------------------------------------------------------------


def kemeny_loss(rate):
    """Loss of the exponential mechanism on three items, by listing the orders; shares no code with it."""
    orders = list(permutations(range(3)))

    def law(data):
        votes = data.pairwise()
        cost = [sum(votes[b, a] for x, a in enumerate(order) for b in order[x + 1 :]) for order in orders]
        weight = np.exp(-rate * np.array(cost, float))
        return weight / weight.sum()

    return lambda data, other: pair_of(law(data), law(other)).epsilon(0.0)


def selection_loss(data, other):
    moved = Types([1] * len(data), data, other)
    return pair_law(moved, 1, 2.0).epsilon(0.0)


def flipped(positions):
    """Law of the signs of the three pairs of a ranking, each reversed one time in four."""
    signs = [positions[i] < positions[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    return [
        float(np.prod([0.75 if said == true else 0.25 for said, true in zip(heard, signs, strict=True)]))
        for heard in product([False, True], repeat=3)
    ]


def families():
    profiles = [Rankings(v, "abc") for v in combinations_with_replacement(list(permutations(range(3))), 2)]
    values = [np.array(v, float) for v in combinations_with_replacement((0, 1, 30), 3)]
    rankings = [np.array(v) for v in permutations(range(3))]
    return {
        "kemeny": (kemeny_loss(0.3), profiles, RankingNeighbours()),
        "selection": (selection_loss, values, ValueNeighbours()),
        "selection-one-way": (selection_loss, values, ValueNeighbours(adjacency="add_remove")),
        "signs": (lambda a, b: pair_of(flipped(a), flipped(b)).epsilon(0.0), rankings, OneRanking()),
    }


def widened(values, rng):
    return values + 30.0 * (np.arange(len(values)) == rng.integers(len(values)))


@pytest.mark.parametrize("name", ["kemeny", "selection", "selection-one-way", "signs"])
@pytest.mark.slow
def test_climbing_finds_what_exhaustion_finds(name):
    loss, starts, neighbours = families()[name]
    all_of_them = worst(loss, starts, neighbours)
    assert all_of_them.tried == sum(1 for data in starts for _ in neighbours.all(data))
    assert loss(all_of_them.data, all_of_them.other) == all_of_them.loss
    moves = (widened,) if name.startswith("selection") else ()
    rng = np.random.default_rng(4)
    found = climb(loss, lambda _: starts[0], neighbours, rng=rng, steps=40, restarts=2, moves=moves)
    assert found.loss >= all_of_them.loss * (1 - 1e-6)
    assert loss(found.data, found.other) == found.loss


def test_climbing_is_the_same_from_the_same_seed_and_counts_what_it_looks_at():
    loss, starts, neighbours = families()["signs"]
    looked = []

    def counted(data, other):
        looked.append((key(data), key(other)))
        return loss(data, other)

    found = climb(counted, lambda _: starts[0], neighbours, rng=np.random.default_rng(5), steps=10, restarts=2)
    assert found.tried == len(looked)
    first = list(looked)
    looked.clear()
    climb(counted, lambda _: starts[0], neighbours, rng=np.random.default_rng(5), steps=10, restarts=2)
    assert looked == first


def test_a_search_ends_with_enough():
    loss, starts, neighbours = families()["signs"]

    def found(enough):
        rng = np.random.default_rng(5)
        return climb(loss, lambda _: starts[0], neighbours, rng=rng, steps=10, restarts=2, enough=enough)

    whole = found(inf)
    assert found(whole.loss).loss == whole.loss
    assert found(whole.loss).tried < found(whole.loss * 1.01).tried == whole.tried


def test_the_library_s_exponential_mechanism_has_that_loss():
    mechanism = ExponentialMechanism(3, 0.3)
    _, starts, neighbours = families()["kemeny"]
    found = worst(kemeny_loss(0.3), starts, neighbours)
    assert found.loss <= mechanism.guarantee.epsilon
    draws = mechanism.draw(found.data.pairwise(), 20_000, np.random.default_rng(6))
    others = mechanism.draw(found.other.pairwise(), 20_000, np.random.default_rng(7))
    ratios = [
        abs(np.log((draws == order).all(axis=1).mean() / (others == order).all(axis=1).mean()))
        for order in permutations(range(3))
    ]
    # five deviations of the log of two frequencies, each above 0.05
    assert max(ratios) == pytest.approx(found.loss, abs=5 * (2 / (0.05 * 20_000)) ** 0.5)


def test_a_search_over_single_answers_misses_the_worst_voter():
    data = comparisons((0, 1, 1, 0), (0, 2, 1, 0))

    whole = worst(apart, [data], ComparisonNeighbours("voter", answers=2)).loss
    single = worst(apart, [data], ComparisonNeighbours()).loss
    assert (whole, single) == (4, 2)


def test_a_loss_seen_from_one_side_only_misses_the_worst():
    law = pair_of([0.2, 0.8], [0.5, 0.5])
    assert float((law.log_p - law.log_q).max()) < law.epsilon(0.0)
    assert pair_of([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]).epsilon(0.0) == inf


def test_bad_input():
    with refused("starts"):
        worst(lambda a, b: 0.0, [EMPTY], ComparisonNeighbours())
    start, loss = (lambda rng: np.arange(3)), (lambda a, b: 0.0)
    with refused("rng"):
        climb(loss, start, OneRanking(), rng=1)
    with refused("steps"):
        climb(loss, start, OneRanking(), rng=np.random.default_rng(1), steps=0)
    with refused("restarts"):
        climb(loss, start, OneRanking(), rng=np.random.default_rng(1), restarts=0)
