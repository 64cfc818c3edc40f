"""Algorithms 2 and 3 in their own lines, against the exact law of noisy counts."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from checks import each
from scipy import stats

from companion.printed.cai2025 import algorithm_3
from companion.printed.cai2025_lines import noisy_counts
from dprank.topk.list_law import list_chances

#: Chance that a right algorithm fails a test.
ALARM = 1e-6
DRAWS = 12_000
ITEMS = ["a", "b", "c"]


def misfit(drawn: list[tuple[str, ...]], orders: list[tuple[str, ...]], chances: np.ndarray) -> float:
    """How likely draws that far from the law are, by chi-square."""
    seen = np.array([drawn.count(order) for order in orders])
    assert seen.sum() == len(drawn)
    return stats.chisquare(seen, len(drawn) * chances / chances.sum()).pvalue


@each(("per_person", "epsilon"), [(1, 1.0), (3, 2.0)])
def test_algorithm_3_has_the_law_of_its_noise(per_person: int, epsilon: float) -> None:
    winners, rng = ["a", "b", "a", "c", "a", "b"], np.random.default_rng(1)
    drawn = [tuple(noisy_counts(winners, ITEMS, per_person, epsilon, 2, rng)) for _ in range(DRAWS)]
    places = list(permutations(range(3), 2))
    scale = algorithm_3(epsilon, 3, per_person=per_person).mechanism.scale
    chances = np.array(list_chances(np.array([3, 2, 1]) / scale, places))
    orders = [tuple(ITEMS[at] for at in place) for place in places]
    assert misfit(drawn, orders, chances) > ALARM
    half = np.array(list_chances(np.array([3, 2, 1]) / scale * 2, places))
    assert misfit(drawn, orders, half) < ALARM, "half the noise is noticed"
