"""Neighbours and top sets by listing."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from checks import refused

from companion.chapters.edge_privacy import estimand
from dprank.models.bradley_terry import LOGISTIC


def test_neighbours_are_those_of_the_printed_cases():
    pairs = list(combinations(range(3), 2))
    data = [dict(zip(pairs, y, strict=True)) for y in product((None, 0, 1), repeat=3)]
    data = [{pair: won for pair, won in y.items() if won is not None} for y in data]
    cases = [0, 0]
    for x, y in combinations(data, 2):
        differ = sum(x[pair] != y[pair] for pair in x.keys() & y.keys())
        cases[0] += x.keys() == y.keys() and differ == 1
        cases[1] += len(x.keys() - y.keys()) == len(y.keys() - x.keys()) == 1 and differ == 0
    assert estimand.adjacency(3)["neighbours"] == sum(cases)
    assert min(cases) > 0


def test_targets():
    levels = np.array([0, 1, 1, 2])
    assert estimand.targets(levels, 2, "kept") == [{0, 1, 2}]
    assert estimand.targets(levels, 2, "broken") == [{0, 1}, {0, 2}]
    assert len(list(estimand.tie_patterns(4))) == 8
    with refused("ties", "'random'", "'kept', 'broken'"):
        estimand.targets(levels, 2, "random")


def test_excess_distance_by_listing_orders():
    """The same from all orders of four items in which every separated pair is in the right order."""
    for ties in ("kept", "broken"):
        worst = -9
        for levels, k in product(estimand.tie_patterns(4), range(1, 4)):
            for m, target in product(range(min(k - 1, 3 - k) + 1), estimand.targets(levels, k, ties)):
                best_first = sorted(range(4), key=lambda i: levels[i] + (i not in target) / 2)
                for released in permutations(range(4)) if levels[k - m - 1] < levels[k + m] else ():
                    pairs = product(best_first[: k - m], best_first[k + m :])
                    if all(released.index(a) < released.index(b) for a, b in pairs):
                        worst = max(worst, len(target ^ set(released[:k])) - 2 * m)
        assert estimand.excess_distance(4, ties)[1] == worst
    assert estimand.excess_distance(2, "kept")[0] == 1


def test_order_of_strengths():
    tau = estimand.mean_win_probabilities([1.0, -0.5, 0.25], LOGISTIC.cdf)
    assert tau[0] == pytest.approx((0.5 + LOGISTIC.cdf(1.5) + LOGISTIC.cdf(0.75)) / 3)
    assert estimand.order_differs(2, estimand.flat_middle) > 0
    assert estimand.order_differs(3, lambda x: LOGISTIC.cdf(-x)) > 0
