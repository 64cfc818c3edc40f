"""What chapter 5 says at a reader's parameters."""

from __future__ import annotations

import math

from companion.chapters.testing_uniformity import any_tolerance
from companion.chapters.testing_uniformity.fixed_epsilon import least_epsilon, rate_table


def numbers(epsilon: float, delta: float) -> dict[str, str]:
    return any_tolerance.numbers(rate_table((300, any_tolerance.MANY), epsilon, delta), epsilon=epsilon, delta=delta)


def test_numbers_follow_from_tolerance_and_errors() -> None:
    book, near, strict = numbers(0.5, 0.05), numbers(0.3, 0.05), numbers(0.5, 0.001)
    assert {"tolerance", "many-any", "many-unif", "many-known", "two"} == {it for it in book if book[it] != near[it]}
    assert {"some", "nines", "first", "never"} <= {it for it in book if book[it] != strict[it]}
    assert book["two"] == "55 %"
    assert numbers(0.9, 0.2)["two"] == "100 %"


def test_the_nines_are_the_least_over_all_sizes() -> None:
    for delta in (0.2, 0.05):
        assert numbers(0.5, delta)["nines"] == f"{math.floor(least_epsilon(range(2, 300), delta).zeros.min())}"


def test_laws_are_of_leans_below_one() -> None:
    assert any_tolerance.laws(20, 0.6, 0.05, 20).law.nunique() == 3
    assert any_tolerance.laws(100, 0.98, 0.05, 20).law.nunique() == 4
