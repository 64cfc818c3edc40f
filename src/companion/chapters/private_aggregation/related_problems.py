"""Problems beside rank aggregation that the paper names: voting rules, and clustering by pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from companion.chapters.private_aggregation.kwiksort import tournament
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, claim, printed
from dprank.aggregation.kwiksort import expected_cost
from dprank.data.kendall import pairwise_kendall_distances

#: A rule for two voters on a pair (a, b): what society says, by whether the voters prefer a.
Rule = dict[tuple[bool, bool], bool]


def rules() -> list[Rule]:
    """Of a pair, all rules that follow two voters who agree."""
    agreed = {(True, True): True, (False, False): False}
    return [agreed | {(True, False): x, (False, True): y} for x, y in product((True, False), repeat=2)]


def transitive(ab: Rule, bc: Rule, ca: Rule) -> bool:
    """Whether rules of the pairs (a, b), (b, c) and (c, a) make an order of any two voters' orders of three items."""
    for orders in product(permutations(range(3)), repeat=2):
        before = [tuple(order.index(i) < order.index(j) for order in orders) for i, j in ((0, 1), (1, 2), (2, 0))]
        said = [rule[one, other] for rule, (one, other) in zip((ab, bc, ca), before, strict=True)]
        if all(said) or not any(said):
            return False
    return True


def possible() -> list[tuple[Rule, Rule, Rule]]:
    """All ways to rank three items by pairs for two voters, each pair by itself, that always end in an order."""
    ways = ((ab, bc, ca) for ab in rules() for bc in rules() for ca in rules())
    return [way for way in ways if transitive(*way)]


def dictated(three: tuple[Rule, ...], voter: int) -> bool:
    """Whether one voter decides all pairs."""
    return all(rule[votes] == votes[voter] for rule in three for votes in rule)


@claim("alabi2022:sec-related:arrow")
def check_arrow() -> Iterator[Check]:
    """Arrow's theorem for two voters and three items, by all rules: agreement is followed, each pair stands alone."""
    found = possible()
    free = [three for three in found if not any(dictated(three, voter) for voter in (0, 1))]
    yield printed(
        "rules for 2 voters and 3 items, of 64, that always give an order and obey no dictator", len(free), "==", 0
    )
    yield printed("rules that always give an order: one a dictator", len(found), "==", 2)
    pairs = sum(not any(all(rule[v] == v[who] for v in rule) for who in (0, 1)) for rule in rules())
    yield printed("the same rules for 2 items without a dictator", pairs, ">", 0)


def partitions(n_items: int) -> NDArray[np.int64]:
    """Every way to put items into groups: a row of labels each, the first item of a group having the least label."""
    rows = [[0]]
    for _ in range(n_items - 1):
        rows = [[*row, label] for row in rows for label in range(max(row) + 2)]
    return np.array(rows)


def clustering_ratio(n_items: int) -> float:
    """Worst expected cost of clustering by pivots over the least cost, over all graphs of green and red edges.

    A random item takes all that it has a green edge to into its group, and the rest is clustered in the same way. Where
    the least cost is 0, so must the other be: then infinite, else 1. At most 5 items.
    """
    pairs = list(combinations(range(n_items), 2))
    labels = partitions(n_items)
    together = np.array([labels[:, i] == labels[:, j] for i, j in pairs]).T
    worst = 1.0
    for code in range(1 << len(pairs)):
        green = np.array([code >> k & 1 for k in range(len(pairs))], bool)
        least = int((together != green).sum(axis=1).min())
        near = {pair for pair, is_green in zip(pairs, green, strict=True) if is_green}
        cost = pivot_cost(frozenset(near), n_items)
        worst = max(worst, cost / least if least else math.inf if cost > ROUNDING else 1.0)
    return worst


def pivot_cost(near: frozenset[tuple[int, int]], n_items: int) -> float:
    """Expected cost of clustering by pivots; `near` are the green edges."""

    @cache
    def cost(items: frozenset[int]) -> float:
        total = 0.0
        for pivot in items:
            group = {i for i in items if i == pivot or (min(i, pivot), max(i, pivot)) in near}
            red = sum(pair not in near for pair in combinations(sorted(group), 2))
            cut = sum((min(i, j), max(i, j)) in near for i in group for j in items - group)
            total += red + cut + cost(items - group)
        return total / max(len(items), 1)

    return cost(frozenset(range(n_items)))


def tournament_ratio(n_items: int) -> float:
    """Worst expected cost of KwikSort over the least cost, over all tournaments of at most 5 items."""
    orders, worst = all_rankings(n_items), 1.0
    before = orders[:, :, None] < orders[:, None]
    for code in range(1 << math.comb(n_items, 2)):
        beats = tournament(n_items, code).astype(float)
        least = (before * beats.T).sum(axis=(1, 2)).min()
        cost = expected_cost(beats, beats)
        worst = max(worst, cost / least if least else math.inf if cost > ROUNDING else 1.0)
    return worst


@claim("alabi2022:sec-related:clustering")
def check_clustering(n_items: int = 5) -> Iterator[Check]:
    """How near clustering by pairs is to ranking: one random pivot after the other is within 3 of the best in both."""
    what = f"worst expected cost over the least, pivots, {{}}, {n_items} items; 3 is proved for both"
    yield printed(what.format("all graphs of green and red edges"), clustering_ratio(n_items), "<=", 3)
    yield printed(what.format("all tournaments"), tournament_ratio(n_items), "<=", 3)


@claim("alabi2022:sec-conclusions:fast")
def check_fast(n_items: int = 5) -> Iterator[Check]:
    """Whether approximate clustering needs a feedback arc set: an algorithm that orders nothing has a ratio."""
    ratio = clustering_ratio(n_items)
    what = f"worst ratio of clustering by pivots, which looks at no tournament, all graphs, {n_items} items"
    yield printed(f"{what}; none, if approximations relied on FAST", ratio, "==", math.inf)
    yield amended(f"{what}: 9/5", ratio, "==", 9 / 5, error=ROUNDING)


@claim("alabi2022:sec-related:neighbours")
def check_neighbours(n_items: int = 5) -> Iterator[Check]:
    """Edges of the graph of pairs that move with one voter, where neighbours by Bun et al. differ in one edge."""
    for m in range(3, n_items + 1):
        most = int(pairwise_kendall_distances(all_rankings(m)).max())
        yield printed(f"most edges that one voter moves, all pairs of rankings, {m} items", most, ">", 1)
        yield printed(f"the same, {m} items: all", most, "==", math.comb(m, 2))
