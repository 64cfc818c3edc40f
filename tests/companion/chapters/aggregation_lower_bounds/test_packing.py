"""Bounds below the exact thresholds, broken twins, and the table."""

import math

import pytest
from checks import each

from companion.chapters.aggregation_lower_bounds import packing
from companion.ledger.claim import derive
from dprank.aggregation.lower_bounds import local_threshold, pure_threshold


def test_floor_is_below_both_thresholds():
    for m in (10, 50, 150):
        assert packing.pure_floor(m) < pure_threshold(m, packing.printed_error(m))
        log_term = packing.pure_floor(m) - m * (math.log(m / (1 + m / 100)) - 2)
        assert packing.pure_floor(m) - log_term < local_threshold(m, 0.01 * m * m)


def test_broken_thresholds_are_rejected(monkeypatch):
    monkeypatch.setattr(packing, "pure_threshold", lambda m, error: math.log(m))
    assert derive(packing.check_thm_13()) == "refuted"
    monkeypatch.setattr(packing, "coded_threshold", lambda d, *args: math.log(d + 1))
    assert derive(packing.check_codes()) == "refuted"


def test_table_for_readers():
    row = packing.pure_table([30]).iloc[0]
    assert row["needed"] - 1 < pure_threshold(30, 9) < row["needed"]
    assert row["ε n / items"] <= pure_threshold(30, 9) / 30 < row["ε n / items"] + 0.001
    assert row["needed (π^x)"] <= row["needed"] < row["enough (exponential mechanism)"]


@each("n_items", [2, 5, 30])
def test_the_least_error_is_the_inverse_of_the_threshold(n_items: int) -> None:
    """And a coin's where there is no budget, none where there is much."""
    for budget in (0.5, 3.0, 12.0):
        error = packing.least_error(n_items, budget)
        assert pure_threshold(n_items, error) == pytest.approx(budget, abs=1e-6)
    assert packing.least_error(n_items, 0.0) == pytest.approx(math.comb(n_items, 2) / 2)
    assert packing.least_error(n_items, 5000.0) < 1e-9
