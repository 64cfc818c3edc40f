"""Columns of decimals, as databases make them of 0.5, are columns of numbers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dprank
from dprank.data.counting import win_counts_parquet
from dprank.data.engines import count

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


@pytest.mark.parametrize("wrong", ["1.5", "-1", "Infinity", "0.50000000000000000001", "sNaN"])
def test_other_decimals_are_refused_in_one_line(wrong: str) -> None:  # nothing that is near 1 or 0.5 passes for it
    table = pd.DataFrame({"first": ["a"], "second": ["b"], "outcome": [Decimal(wrong)]})
    with pytest.raises(ValueError, match=r"^outcome\[0\] is not allowed"):
        dprank.Comparisons.from_frame(table, items=["a", "b"], voter=None)


def test_files_of_decimals_and_of_truth_values_hold_numbers(tmp_path: Path) -> None:
    """DuckDB writes the literal 1.0 as a DECIMAL(2, 1)."""
    for at, column in enumerate(
        [pa.array([Decimal("1.0"), Decimal("0.0")], pa.decimal128(2, 1)), pa.array([True, False])]
    ):
        path = tmp_path / f"{at}.parquet"
        pq.write_table(pa.table({"first": ["a", "a"], "second": ["b", "b"], "outcome": column}), path)
        assert dprank.read_comparisons(path, items=["a", "b"], voter=None).points.tolist() == [2, 0]
        assert win_counts_parquet(path, ["a", "b"]).tolist() == [1, 1]
        columns = ["first", "second", "outcome"]
        declared = dprank.Declaration(kind="comparisons", items=["a", "b"], columns=columns, answers="outcome")
        assert declared.read(path).data.points.tolist() == [2, 0]
        for engine in ("numpy", "duckdb"):
            assert count(path, declared, engine=engine).sums["wins"] == (1, 1)
    one = pa.array([Decimal("1.00"), Decimal("2.00")], pa.decimal128(3, 2))
    pq.write_table(pa.table({"a": one, "b": one.take(pa.array([1, 0]))}), tmp_path / "r.parquet")
    rankings = dprank.read_rankings(tmp_path / "r.parquet", items=["a", "b"], voter=None)
    assert rankings.positions.tolist() == [[0, 1], [1, 0]]
