"""Tests for any alternative: laws and bounds against enumeration, and broken twins of their checks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from companion.chapters.testing_uniformity import earlier_tests as earlier


def test_distance_of_a_random_half_is_that_of_all_sequences():
    cells, n = 4, 3
    halves = list(combinations(range(cells), cells // 2))
    law: dict[Any, Fraction] = Counter()  # type: ignore[assignment]
    for half in halves:
        for draw in product(half, repeat=n):
            law[draw] += Fraction(1, len(halves) * (cells // 2) ** n)
    every = product(range(cells), repeat=n)
    assert earlier.halves_distance(cells, n) == sum(abs(law[it] - Fraction(1, cells**n)) for it in every) / 2


def test_law_of_the_singles_is_that_of_all_outcomes():
    chances, n = [0.4, 0.2, 0.2, 0.2], 4
    law = np.zeros(n + 1)
    for draw in product(range(4), repeat=n):
        law[sum(count == 1 for count in Counter(draw).values())] += np.prod([chances[i] for i in draw])
    assert earlier.singles_law(n, [0.4, 0.2], [1, 3]) == pytest.approx(law)


def test_blur_is_the_chi_square_of_all_mixtures():
    cells, epsilon, n = 4, 0.3, 2
    laws = []
    for signs in product((1, -1), repeat=cells // 2):
        p = np.array([(1 + s * t * 2 * epsilon) / cells for s in signs for t in (1, -1)])
        laws.append(np.multiply.outer(p, p))
    mixture = np.mean(laws, axis=0)
    assert earlier.blur(cells, epsilon, n) == pytest.approx((mixture**2).sum() * cells**n - 1)


def test_statistic_of_rankings_that_repeat_and_of_all():
    assert earlier.empirical_distance(np.array([[0, 1]] * 3 + [[1, 0]])) == pytest.approx(1 / 4)
    assert earlier.empirical_distance(np.array([[0, 1], [1, 0]])) == 0


MUTANTS = {
    "halves_distance": (lambda x: 3 * x, earlier.check_polynomial),
    "empirical_distance": (lambda x: 2 * x, earlier.check_tv_statistic),
    "log_repeats": (lambda x: x / 2, earlier.check_adapt),
    "singles_moments": (lambda x: (x[0], 4 * x[1]), earlier.check_paninski),
    "repeats_moments": (lambda x: (x[0], 4 * x[1]), earlier.check_general_epsilon),
    "singles_power": (lambda x: (x[0], 1.0), earlier.check_small_m),
    "coincidences": (lambda x: (x[0], x[1] + x[0][:, 0, 0]), earlier.check_adapt),
    "singles_by_distance": (lambda x: {k: {min(v)} for k, v in x.items()}, earlier.check_tv_statistic),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_twin_is_seen(monkeypatch, name):
    change, check = MUTANTS[name]
    before, original = check(), getattr(earlier, name)
    assert all(c.outcome for c in before if c.about in ("argument", "corrected"))
    monkeypatch.setattr(earlier, name, lambda *args: change(original(*args)))
    record = check()
    assert record.verdict != before.verdict or not all(
        c.outcome for c in record if c.about in ("argument", "corrected")
    )


def test_the_verdicts():
    checks = (earlier.check_plug_in, earlier.check_small_m, earlier.check_polynomial)
    assert {check().verdict for check in checks} == {"holds"}
    assert earlier.check_tv_statistic().verdict == "refuted"
    record = earlier.check_adapt()
    assert record.verdict == "depends on the reading"
    assert {c.reading: c.outcome for c in record if c.reading} == {
        "each ranking is a cell": True,
        "the two orders of a pair are cells": False,
    }
