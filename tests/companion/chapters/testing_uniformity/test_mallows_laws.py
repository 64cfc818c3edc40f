"""Exact laws of few items against enumeration, and broken twins of their checks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from companion.chapters.testing_uniformity import mallows_laws


def inversions(ranking):
    return sum(a > b for a, b in combinations(ranking, 2))


def test_best_event_is_the_best_of_all_events():
    phi = Fraction(1, 3)
    weights = [phi ** inversions(r) for r in permutations(range(3))]
    gaps = [w / sum(weights) - Fraction(1, 6) for w in weights]
    best = max(sum(g for g, inside in zip(gaps, f"{event:06b}", strict=True) if inside == "1") for event in range(64))
    assert mallows_laws.best_event(3, phi) == best == mallows_laws.printed_sum(3, phi) / 2


@pytest.mark.parametrize("m", [2, 4, 6])
def test_distance_law_is_that_of_the_enumeration(m):
    theta = 0.3
    weights = np.array(mallows_laws.mahonian(m)) * np.exp(-theta * np.arange(m * (m - 1) // 2 + 1))
    assert mallows_laws.distance_law(m, theta) == pytest.approx(weights / weights.sum(), rel=1e-12)


MUTANTS = {
    "normaliser": (lambda z: z * 2, lambda: mallows_laws.check_z(range(2, 4))),
    "printed_sum": (lambda s: s / 2, lambda: mallows_laws.check_tv_formula(range(2, 4))),
    "chi_square": (lambda x: 1.0, mallows_laws.check_h1),
    "two_item_tester": (lambda plan: (plan[0], plan[1] - 2), mallows_laws.check_tester),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_twin_is_seen(monkeypatch, name):
    change, check = MUTANTS[name]
    before, original = check().verdict, getattr(mallows_laws, name)
    monkeypatch.setattr(mallows_laws, name, lambda *args: change(original(*args)))
    record = check()
    assert record.verdict != before or not all(c.outcome for c in record if c.about == "corrected")


def test_geometric_means_stay_around_one_centre_only(monkeypatch):
    assert mallows_laws.check_kendall().verdict == "holds"
    assert mallows_laws.check_exponential().verdict == "needs a condition"
    halves = [0.5**d / (1 + 0.5) / (1 + 0.5 + 0.25) for d in map(inversions, permutations(range(3)))]
    assert mallows_laws.tilted(3, [(0.25, 0), (1.0, 0)]) == pytest.approx(halves)
    wrong = mallows_laws.all_distances(3).copy()
    wrong[0, 5] = 0
    monkeypatch.setattr(mallows_laws, "all_distances", lambda items: wrong)
    assert mallows_laws.check_kendall((3,)).verdict == "refuted"


def test_a_private_function_of_the_rankings_alone_is_constant(monkeypatch):
    for private in (True, False):
        powers = []
        for f in product((0, 1), repeat=8):
            apart = [(a, a ^ 1 << i) for a in range(8) for i in range(3)]
            if np.mean(f) <= 0.3 and (not private or all(f[a] == f[b] for a, b in apart)):
                powers.append(min(f[0], f[-1]))
        assert mallows_laws.fixed_power(3, 0.3, private) == max(powers)
    record = mallows_laws.check_tester()
    assert record.verdict == "needs a condition"
    right = mallows_laws.coin_test
    monkeypatch.setattr(mallows_laws, "coin_test", lambda n, epsilon_0, cut: 1.01 * right(n, epsilon_0, cut))
    assert mallows_laws.check_tester().verdict == "refuted"
    monkeypatch.setattr(mallows_laws, "fixed_power", lambda n, delta, private=True: 1.0)
    assert mallows_laws.check_tester().verdict == "holds"
