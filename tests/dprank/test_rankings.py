"""Exact."""

import numpy as np
import pandas as pd
import pytest
from checks import refused

from dprank import rankings
from dprank.rankings import Rankings

POSITIONS = np.array([np.random.default_rng(v).permutation(4) for v in range(9)])
ITEMS = ("a", "b", "c", "d")
TABLE = pd.DataFrame(POSITIONS + 1, columns=list(ITEMS))


def test_pairwise_counts_who_is_before_whom():
    expected = [[sum(p[i] < p[j] for p in POSITIONS) for j in range(4)] for i in range(4)]
    np.testing.assert_array_equal(Rankings(POSITIONS, ITEMS).pairwise(), expected)
    assert not Rankings(np.zeros((0, 4), int), ITEMS).pairwise().any()


@pytest.mark.parametrize("m", [2, 5, 256, 257])
def test_an_order_is_the_inverse_of_its_positions(m):
    positions = np.array([np.random.default_rng(v).permutation(m) for v in range(3)])
    orders = [[int(np.flatnonzero(p == r)[0]) for r in range(m)] for p in positions]
    out = Rankings.from_orders(orders, range(m))
    np.testing.assert_array_equal(out.positions, positions)
    assert (len(out), out.n_items) == (3, m)


@pytest.mark.parametrize("kind", ["frame", "floats", "csv", "parquet"])
def test_reads_places_from_a_table(kind, tmp_path):
    table = TABLE[list("cabd")].assign(remark="x")
    if kind == "csv":
        table.to_csv(tmp_path / "t", index=False)
        out = rankings.read_csv(tmp_path / "t", ITEMS)
    elif kind == "parquet":
        table.to_parquet(tmp_path / "t")
        out = rankings.read_parquet(tmp_path / "t", ITEMS)
    else:
        out = Rankings.from_frame(table.astype(dict.fromkeys(ITEMS, float)) if kind == "floats" else table, ITEMS)
    np.testing.assert_array_equal(out.positions, POSITIONS)
    assert out.items == ITEMS


def test_is_immutable_and_leaves_the_caller_s_array_alone():
    given = POSITIONS.copy()
    out = Rankings(given, ITEMS)
    given[0] = 0
    np.testing.assert_array_equal(out.positions, POSITIONS)
    with pytest.raises(ValueError, match="read-only"):
        out.positions[0] = 0


@pytest.mark.parametrize(
    ("positions", "items", "words"),
    [
        ([[0, 1], [1, 1]], "ab", ["positions[1] = [1, 1]", "0 .. 1"]),
        ([[0, 1]], "abc", ["2 items", "items names 3"]),
        ([[0]], "a", ["items = ('a',)", "at least two"]),
        ([[0, 1]], "aa", ["items name 'a' more than once"]),
        ([[True, False]], "ab", ["positions", "bool"]),
    ],
)
def test_refuses(positions, items, words):
    with refused(*words):
        Rankings(positions, items)
    with refused(*(word.replace("positions[", "orders[") for word in words[1:])):
        Rankings.from_orders(positions, items)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, None], ["row 1", "missing", "1 of 2"]),
        ([1, 1.5], ["b[1] = 1.5", "whole"]),
        ([1, np.inf], ["b[1] = inf", "whole"]),
        ([1, "last"], ["b[1] = 'last'", "whole"]),
        ([1, 3], ["[1]", "0 .. 1"]),
    ],
)
def test_a_table_s_bad_place_is_named(column, words):
    with refused(*words):
        Rankings.from_frame(pd.DataFrame({"a": [2, 1], "b": column}), "ab")


def test_an_absent_column_is_named():
    with refused("'c'", "['a', 'b']"):
        Rankings.from_frame(pd.DataFrame({"a": [1], "b": [2]}), "abc")
