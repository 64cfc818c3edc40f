"""What the tests cost, and the polynomial of phi_epsilon, against brute force."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest

from companion.chapters.testing_uniformity import scaling
from dprank.models.mallows import Mallows


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_merging_counts_what_stands_the_wrong_way_round(order):
    row, wrong, steps = scaling.merged(order)
    assert row == sorted(order)
    assert wrong == sum(a > b for a, b in combinations(order, 2))
    assert 4 <= steps <= 5


def test_roots_in_prime_fields_are_those_that_are_tried():
    for coefficients in ([2, 0, 1], [-1, 0, 0, 1], [1, 3, 5, -42, -35, -21, -7]):
        for prime in (5, 7, 11, 13):
            if coefficients[-1] % prime:
                tried = sum(sum(c * x**i for i, c in enumerate(coefficients)) % prime == 0 for x in range(prime))
                assert scaling.roots_in(coefficients, prime, 1) == tried
    assert [scaling.roots_in([1, 0, 1], 3, power) for power in (1, 2)] == [0, 2]


def test_equation_of_two_items_is_the_closed_form():
    low, high = scaling.equation(2, 0.25)
    assert -low / high == pytest.approx((1 - 0.5) / (1 + 0.5))


def test_a_polynomial_that_roots_solve_is_seen(monkeypatch):
    assert scaling.check_closed_form().verdict == "holds"
    monkeypatch.setattr(scaling, "equation", lambda items, epsilon: [-2, 0, 0, 0, 0, 0, 1])
    assert scaling.check_closed_form().verdict != "holds"


def test_cost_and_scale_see_a_slower_distance(monkeypatch):
    checks = scaling.check_scale, scaling.check_cost
    assert [check().verdict for check in checks] == ["holds", "holds"]
    monkeypatch.setattr(scaling, "comparisons", lambda items: (math.comb(items, 2) * items // 2, 0))
    assert "holds" not in [check().verdict for check in checks]


def test_divergence_at_a_tolerance_is_bounded(monkeypatch):
    record = scaling.check_lecam()
    assert record.verdict == "depends on the reading"
    assert all(c.outcome for c in record if c.reading != "any bound by Le Cam's method")
    monkeypatch.setattr(scaling, "null_variance", lambda items: items**2.0)
    assert scaling.check_lecam().verdict == "refuted"


def test_rankings_are_no_farther_apart_than_their_number_times_one(monkeypatch):
    assert scaling.samples_distance(3, 0.4, 1) == pytest.approx(Mallows(3, 0.4).total_variation())
    right = scaling.samples_distance
    monkeypatch.setattr(scaling, "samples_distance", lambda items, theta, n: 2 * right(items, theta, n))
    assert not all(c.outcome for c in scaling.check_lecam() if c.about == "argument")


def test_normaliser_is_bounded_on_both_sides(monkeypatch):
    record = scaling.check_hard_nut()
    assert record.verdict == "refuted"
    assert all(c.outcome for c in record if c.about == "corrected")
    right = scaling.normaliser_excess
    assert right(2, math.log(2)) == pytest.approx(math.log(0.75) + math.log(2) / 2)
    for wrong in (lambda m, t: right(m, t) - t, lambda m, t: 1.01 * right(m, t)):
        monkeypatch.setattr(scaling, "normaliser_excess", wrong)
        assert not all(c.outcome for c in scaling.check_hard_nut() if c.about == "corrected")
