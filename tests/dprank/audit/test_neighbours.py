"""Exhaustive neighbours against loops that share no code with them, and against the formula they are to confirm."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from checks import each, refused

from dprank.audit.neighbours import ValueNeighbours, edge_data, voter_scores, worst_pair
from dprank.pairwise import l1_sensitivity


@pytest.mark.parametrize("items", [2, 3])
def test_edge_neighbours_are_those_of_the_definition(items):
    pairs = list(combinations(range(items), 2))
    data = list(product((None, 0, 1), repeat=len(pairs)))
    wins, neighbours = edge_data(items)
    for row, outcomes in enumerate(data):
        won = [pair[w] for pair, w in zip(pairs, outcomes, strict=True) if w is not None]
        assert wins[row].tolist() == [won.count(i) for i in range(items)]

    def adjacent(a, b):
        differ = [e for e in range(len(pairs)) if a[e] != b[e]]
        same_graph = [x is None for x in a] == [x is None for x in b]
        flipped = same_graph and len(differ) == 1
        moved = len(differ) == 2 and {(a[e] is None, b[e] is None) for e in differ} == {(True, False), (False, True)}
        return flipped or moved

    wanted = {(i, j) for i, j in combinations(range(len(data)), 2) if adjacent(data[i], data[j])}
    assert set(neighbours) == wanted
    assert len(neighbours) == len(wanted), "each pair once"


@each("score", ["wins", "net"])
@each(("repeats", "ties"), list(product((False, True), repeat=2)))
def test_voter_scores_are_those_of_all_answer_sheets(score, repeats, ties):
    items, answers = 3, 2
    moves = []
    for i, j in combinations(range(items), 2):
        for winner, loser in ((i, j), (j, i), *([(None, None)] if ties else [])):
            gain = np.zeros(items, int)
            if winner is not None:
                gain[winner] += 1
                gain[loser] -= score == "net"
            moves.append(((i, j), gain))
    brute = set()
    for size in range(answers + 1):
        for sheet in product(moves, repeat=size):
            if repeats or len({pair for pair, _ in sheet}) == size:
                brute.add(tuple(sum((gain for _, gain in sheet), np.zeros(items, int)).tolist()))
    found = voter_scores(items, answers, repeats=repeats, ties=ties, score=score)
    assert {tuple(row) for row in found.tolist()} == brute
    assert len(found) == len(brute)


def test_worst_pair_is_the_worst_of_all_pairs():
    rows = np.random.default_rng(3).integers(-5, 6, (40, 4))
    distance, a, b = worst_pair(rows)
    assert distance == max(int(np.abs(x - y).sum()) for x in rows for y in rows)
    assert np.abs(a - b).sum() == distance


@each("score", ["wins", "net"])
@each(("items", "answers", "repeats"), [(3, 2, True), (4, 3, True), (4, 4, False), (5, 10, False)])
def test_the_sensitivity_is_attained_by_answer_sheets(items, answers, repeats, score):
    sheets = voter_scores(items, answers, repeats=repeats, ties=True, score=score)
    formula = l1_sensitivity(items, answers, score=score, design="any" if repeats else "once")
    assert worst_pair(sheets)[0] == formula


def test_values_that_have_no_neighbour_are_refused():
    """A draw would never end."""
    for parameters in ({"contributions": 0}, {"steps": 0}):
        with refused(next(iter(parameters))):
            ValueNeighbours(**parameters)
    with refused("data are empty"):
        ValueNeighbours().draw([], np.random.default_rng(1))
