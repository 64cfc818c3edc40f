import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from checks import each

from companion.chapters.private_aggregation import related_problems as module
from companion.ledger.claim import derive


def test_only_dictators_make_orders_of_three_items():
    assert derive(module.check_arrow()) == "holds"
    assert all(any(module.dictated(three, voter) for voter in (0, 1)) for three in module.possible())
    assert len(module.rules()) == 4


def test_without_agreement_there_would_be_others(monkeypatch):
    votes = list(product((True, False), repeat=2))
    free = [dict(zip(votes, said, strict=True)) for said in product((True, False), repeat=4)]
    monkeypatch.setattr(module, "rules", lambda: free)
    assert derive(module.check_arrow()) == "refuted"


@each("n_items, number", [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)])
def test_partitions_are_counted(n_items, number):
    rows = module.partitions(n_items)
    same = {tuple(row[i] == row[j] for i, j in combinations(range(n_items), 2)) for row in rows.tolist()}
    assert len(rows) == len(same) == number


def clustered(order, near):
    """Cost of pivots in this order."""
    left, groups = list(order), []
    while left:
        groups.append([i for i in left if i == left[0] or (min(i, left[0]), max(i, left[0])) in near])
        left = [i for i in left if i not in groups[-1]]
    where = {i: k for k, group in enumerate(groups) for i in group}
    return sum((where[i] == where[j]) != ((i, j) in near) for i, j in combinations(range(len(order)), 2))


def test_pivots_by_all_orders():
    rng = np.random.default_rng(2)
    for _ in range(20):
        near = frozenset(pair for pair in combinations(range(5), 2) if rng.random() < 0.5)
        costs = [clustered(order, near) for order in permutations(range(5))]
        assert module.pivot_cost(near, 5) == pytest.approx(np.mean(costs))


def test_clustering_and_tournaments_have_ratios():
    # a path of three: the middle pivot cuts nothing right, the ends cut one edge
    assert module.clustering_ratio(3) == pytest.approx(1)
    assert module.clustering_ratio(2) == 1
    assert derive(module.check_clustering(4)) == "holds"
    assert derive(module.check_fast()) == "refuted"
    assert module.tournament_ratio(4) < 3


def test_a_group_of_its_own_for_each_item_has_no_ratio(monkeypatch):
    monkeypatch.setattr(module, "pivot_cost", lambda near, n_items: float(len(near)))
    assert module.clustering_ratio(3) == math.inf
    assert derive(module.check_clustering(3)) == "refuted"


def test_one_voter_moves_all_pairs():
    checks = module.check_neighbours(4)
    assert derive(checks) == "holds"
    assert max(check.observed for check in checks) == 6
