"""Columns of decimals, as databases make them of 0.5, are columns of numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import dprank

_TABLES = [pd.DataFrame, pa.table]


@pytest.mark.parametrize("table", _TABLES)
def test_outcomes_may_be_decimals(table: Any) -> None:
    # they were refused, as "outcome[0] is not allowed", at whatever row came first
    given = {
        "first": ["a", "a", "b"],
        "second": ["b", "b", "a"],
        "outcome": [Decimal(x) for x in ("1.00", "0.50", "0")],
    }
    data = dprank.Comparisons.from_frame(table(given), items=["a", "b"], voter=None)
    assert data.points.tolist() == [2, 1, 0]


@pytest.mark.parametrize("table", _TABLES)
def test_places_may_be_decimals(table: Any) -> None:
    given = {"a": [Decimal("1.0"), Decimal("2.0")], "b": [Decimal("2.0"), Decimal("1.0")]}
    rankings = dprank.Rankings.from_frame(table(given), items=["a", "b"], voter=None)
    ballots = dprank.Ballots.from_frame(table(given), items=["a", "b"], voter=None)
    assert rankings.positions.tolist() == ballots.places.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("wrong", ["1.5", "-1", "Infinity", "0.50000000000000000001"])
def test_other_decimals_are_refused_in_one_line(wrong: str) -> None:  # nothing that is near 1 or 0.5 passes for it
    table = pd.DataFrame({"first": ["a"], "second": ["b"], "outcome": [Decimal(wrong)]})
    with pytest.raises(ValueError, match=r"^outcome\[0\] is not allowed"):
        dprank.Comparisons.from_frame(table, items=["a", "b"], voter=None)
