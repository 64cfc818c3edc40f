"""Exact laws of few items against enumeration, and broken twins of their checks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from companion.chapters.testing_uniformity import (
    mallows_laws,
)
from companion.instruments.uniformity import all_distances
from dprank.models.mallows import theta_at


def inversions(ranking):
    return sum(a > b for a, b in combinations(ranking, 2))


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_mahonian_numbers_count_rankings(m):
    counted = np.bincount([inversions(r) for r in permutations(range(m))])
    assert mallows_laws.mahonian(m) == tuple(counted)
    assert mallows_laws.table_entries(m) == sum(len(mallows_laws.mahonian(j)) for j in range(1, m + 1))


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


def test_two_item_tester_against_the_enumeration_of_all_sequences():
    n, lead, before = 7, 5, 0.8
    sequences = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    ones = sequences.sum(1)
    power = (before**ones * (1 - before) ** (n - ones))[abs(2 * ones - n) >= lead].sum()
    assert mallows_laws.two_item_power(n, lead, before) == pytest.approx(power, rel=1e-12)
    assert mallows_laws.two_item_tester(0.49, 0.2) == (4, 4)


def test_known_centre_power_is_the_best_of_all_randomised_tests_of_two_items():
    theta, size = theta_at(2, 0.3), 0.05
    assert mallows_laws.known_centre_power(2, theta, 1, size) == pytest.approx(0.8 * size / 0.5, rel=1e-9)
    assert mallows_laws.known_centre_power(2, theta, 2, size) == pytest.approx(0.64 * size / 0.25, rel=1e-9)
    assert mallows_laws.known_centre_power(5, 0.0, 2, size) == pytest.approx(size, rel=1e-9)


@pytest.mark.parametrize(("m", "n"), [(3, 1), (3, 2), (4, 2)])
def test_chi_square_is_that_of_the_mixture_over_all_data_sets(m, n):
    theta = 0.4
    p = np.exp(-theta * all_distances(m).astype(float))
    p /= p[0].sum()
    ratio = np.ones((len(p), *[1] * n))
    for axis in range(n):
        shape = [len(p)] + [1] * n
        shape[axis + 1] = len(p)
        ratio = ratio * (p * len(p)).reshape(shape)
    assert mallows_laws.chi_square(m, theta, n) == pytest.approx((ratio.mean(0) ** 2).mean() - 1, abs=1e-12)


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
