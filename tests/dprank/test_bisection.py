"""Searches end at the border, wherever they begin."""

import pytest

from dprank._search import largest, least, least_whole


@pytest.mark.parametrize("border", [1e-200, 0.3, 1.0, 1e200])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("within", [2.0**-40, 1e-13])
def test_of_positive_numbers(border, start, within):
    assert border <= least(lambda x: x >= border, start, within) <= border * (1 + 2 * within)
    assert border * (1 - 2 * within) <= largest(lambda x: x <= border, start, within) <= border


@pytest.mark.parametrize("border", [-(10**30), -7, 0, 1, 10**30])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (5, 6), (-100, -50)])
def test_of_whole_numbers(border, low, high):
    assert least_whole(lambda x: x >= border, low, high) == border
