"""Searches end at the border, wherever they begin."""

import math
from collections import Counter
from functools import cache, partial

import numpy as np
import pytest
from scipy.optimize import brentq

from dprank._search import largest, largest_under, least, least_under, least_whole, least_whole_under


@pytest.mark.parametrize("border", [1e-200, 0.3, 1.0, 1e200])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("within", [2.0**-40, 1e-13])
def test_of_positive_numbers(border, start, within):
    assert border <= least(lambda x: x >= border, start, within) <= border * (1 + 2 * within)
    assert border * (1 - 2 * within) <= largest(lambda x: x <= border, start, within) <= border


def test_within_a_share_of_2_to_the_minus_40_unless_told():
    """Halving the last bracket once less leaves every third border farther away."""
    for border in [1 + at / 64 for at in range(64)]:
        assert border <= least(lambda x: x >= border, 1.0) <= border * (1 + 2.0**-40)  # noqa: B023
        assert border * (1 - 2.0**-40) <= largest(lambda x: x <= border, 1.0) <= border  # noqa: B023


@pytest.mark.parametrize("border", [-(10**30), -7, 0, 1, 10**30])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (5, 6), (-100, -50)])
def test_of_whole_numbers(border, low, high):
    assert least_whole(lambda x: x >= border, low, high) == border


FALLING = {
    "power": lambda x: x**-3,
    "exponential": lambda x: math.exp(-x),
    "rough": lambda x: round(2.0**40 / x) / 2.0**40,
    "step": lambda x: 2.0 if x < 0.7 else 0.0,
    "infinite": lambda x: math.inf if x < 0.7 else 0.7 / x,
    "flat": lambda x: max(0.25, 1 - x),
}


@pytest.mark.parametrize("value", FALLING.values(), ids=FALLING)
@pytest.mark.parametrize("most", [0.25, 0.3, 0.9])
@pytest.mark.parametrize("start", [1e-3, 1.0, 7.3])
@pytest.mark.parametrize("within", [2.0**-40, 1e-13, 2.0**-20])
def test_what_is_found_by_values_is_what_bisection_finds(value, most, start, within):
    assert least_under(value, most, start, within) == least(lambda x: value(x) <= most, start, within)
    rising = lambda x: value(1 / x)  # noqa: E731
    assert largest_under(rising, most, start, within) == largest(lambda x: rising(x) <= most, start, within)


WHOLE = {
    "power": lambda x: 1.0 if x < 1 else x**-3.0,
    "exponential": lambda x: math.exp(min(-x / 1000, 1.0)),
    "step": lambda x: 2.0 if x < 12345 else 0.0,
    "stairs": lambda x: 0.5 ** max(x // 100, -1),
    "flat": lambda x: max(0.25, 1 - x / 1e6),
    "infinite": lambda x: math.inf if x < 70 else 0.7 / x,
}


@pytest.mark.parametrize("value", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("most", [0.25, 0.3, 0.9])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-50, 10**7), (10**8, 10**9)])
def test_what_is_found_by_values_is_what_bisection_finds_of_whole_numbers(value, most, low, high):
    assert least_whole_under(value, most, low, high) == least_whole(lambda x: value(x) <= most, low, high)


def test_values_are_asked_for_in_less_than_half_of_the_places():
    asked: Counter[str] = Counter()

    def value(x, by):
        asked[by] += 1
        return math.exp(-x)

    least_under(lambda x: value(x, "values"), 1e-6, 1.0)
    least(lambda x: value(x, "halves") <= 1e-6, 1.0)
    assert 2 * asked["values"] < asked["halves"]
    asked.clear()
    least_whole_under(lambda x: value(x / 1e6, "values"), 1e-6, 0, 10**9)
    least_whole(lambda x: value(x / 1e6, "halves") <= 1e-6, 0, 10**9)
    assert 2 * asked["values"] < asked["halves"]


def test_what_a_search_of_values_ends_with_keeps_to_the_bound_where_they_rise_and_fall():
    for shift in range(50):
        value = lambda x, shift=shift: 1 / x + 1e-11 * math.sin(1e12 * x + shift)  # noqa: E731
        assert value(least_under(value, 0.6, 1.0)) <= 0.6
        assert value(1 / largest_under(lambda x, value=value: value(1 / x), 0.6, 1.0)) <= 0.6


def test_values_that_ripple_as_finely_as_is_searched_are_below_what_is_allowed_too():
    """Borders and ripples of all sizes: what was found between two places is asked again at both of its ends."""
    rng = np.random.default_rng(1)
    for border, ripple, phase in rng.uniform([-3, -13, 0], [3, -10, 1], (1000, 3)).tolist():
        value = cache(lambda x, b=10**border, r=10**ripple, f=phase: b / x * (1 + r * (hash((x, f)) % 997 / 997 - 0.5)))
        assert value(least_under(value, 1.0, 1.0)) <= 1
        assert value(1 / largest_under(lambda x, value=value: value(1 / x), 1.0, 1.0)) <= 1


def test_where_the_quicker_search_does_not_end_bisection_does(monkeypatch):
    """Catches `disp=True`, with which it would raise."""
    monkeypatch.setattr("scipy.optimize.brentq", partial(brentq, maxiter=1))
    value = lambda x: 1 / x + 1 / x**3  # noqa: E731
    assert least_under(value, 0.3, 1.0) == least(lambda x: value(x) <= 0.3, 1.0)
    assert largest_under(lambda x: x + x**3, 0.3, 1.0) == largest(lambda x: x + x**3 <= 0.3, 1.0)
    assert least_whole_under(lambda x: 1 / max(x, 1), 1e-6, 1, 10**9) == 10**6


def test_a_value_that_is_no_number_does_not_fit():
    value = lambda x: math.nan if x < 2 else 1 / x  # noqa: E731
    assert least_under(value, 0.6, 1.0) == least(lambda x: value(x) <= 0.6, 1.0)
