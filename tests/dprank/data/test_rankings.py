"""Exact."""

import numpy as np
import pandas as pd
import pytest
from checks import each, refused

import dprank
from dprank.data import rankings
from dprank.data.rankings import Rankings

POSITIONS = np.array([np.random.default_rng(v).permutation(4) for v in range(9)])
ITEMS = ("a", "b", "c", "d")
NAMED = {"items": ITEMS, "voter": None}
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
        out = rankings.read_rankings(tmp_path / "t", items=ITEMS, voter=None)
    elif kind == "parquet":
        table.to_parquet(tmp_path / "t")
        out = rankings.read_rankings(tmp_path / "t", items=ITEMS, voter=None)
    else:
        out = Rankings.from_frame(table.astype(dict.fromkeys(ITEMS, float)) if kind == "floats" else table, **NAMED)
    np.testing.assert_array_equal(out.positions, POSITIONS)
    assert out.items == ITEMS


def test_is_immutable_and_leaves_the_caller_s_array_alone():
    given = POSITIONS.copy()
    out = Rankings(given, ITEMS)
    given[0] = 0
    np.testing.assert_array_equal(out.positions, POSITIONS)
    with pytest.raises(ValueError, match="read-only"):
        out.positions[0] = 0


@each(
    ("positions", "items", "words"),
    [
        ([[0, 1], [1, 1]], "ab", ["positions[1]", "0 .. 1"]),
        ([[0, 1]], "abc", ["2 items", "items names 3"]),
        ([[0]], "a", ["items has length 1", "at least two"]),
        ([[0, 1]], "aa", ["items[1] is items[0]"]),
        ([[True, False]], "ab", ["positions", "bool"]),
        ([[0, 1], [0]], "ab", ["positions", "different lengths"]),
        (None, "ab", ["positions has 0 dimensions"]),
    ],
)
def test_refuses(positions, items, words):
    with refused(*words):
        Rankings(positions, items)
    with refused(*(word.replace("positions[", "orders[") for word in words[1:])):
        Rankings.from_orders(positions, items)


@each(
    ("column", "words"),
    [
        ([1, None], ["row 1", "missing"]),
        ([1, 1.5], ["b[1]", "whole"]),
        ([1, np.inf], ["b[1]", "whole"]),
        ([1, "last"], ["b[1]", "whole"]),
        ([True, False], ["b[0]", "whole"]),
        ([1, 3], ["b[1]", "1 .. 2"]),
        ([1, 0], ["b[1]", "1 .. 2"]),
        ([1, 1e300], ["b[1]", "1 .. 2"]),
    ],
)
def test_a_table_s_bad_place_is_named(column, words):
    with refused(*words):
        Rankings.from_frame(pd.DataFrame({"a": [2, 1], "b": column}), items="ab", voter=None)


@pytest.mark.parametrize("items", [None, 3])
def test_refuses_what_holds_no_names(items, tmp_path):
    (tmp_path / "t").write_text("a,b\n1,2\n")
    for call in (Rankings, Rankings.from_orders, lambda _, x: Rankings.from_frame(TABLE, items=x, voter=None)):
        with refused(f"items = {items}", "names"):
            call([[0, 1]], items)
    with refused(f"items = {items}"):
        rankings.read_rankings(tmp_path / "t", items=items, voter=None)


def test_columns_may_be_called_by_numbers():
    frame = pd.DataFrame(POSITIONS + 1)
    for items in (range(4), "0123"):
        out = Rankings.from_frame(frame, items=items, voter=None)
        np.testing.assert_array_equal(out.positions, POSITIONS)
        assert out.items == tuple("0123")
    with refused("column '1' is in the table 2 times"):
        Rankings.from_frame(frame.rename(columns={2: "1"}), items=range(4), voter=None)


def test_a_column_that_comes_again_is_refused(tmp_path):
    words = ["column 'a' is in the table 2 times"]
    with refused(*words):
        Rankings.from_frame(pd.DataFrame([[1, 2, 1]], columns=list("aba")), items="ab", voter=None)
    (tmp_path / "t").write_text("a,b,a\n1,2,1\n")
    with refused(*words):
        rankings.read_rankings(tmp_path / "t", items="ab", voter=None)
    # not an item's: of no concern
    (tmp_path / "t").write_text("a,b,c,c\n1,2,5,6\n")
    assert rankings.read_rankings(tmp_path / "t", items="ab", voter=None).positions.tolist() == [[0, 1]]


def test_rows_are_named_by_position_not_by_the_table_s_index():
    index = ["ann", "bob"]
    with refused("row 1 is no ranking"):
        Rankings.from_frame(pd.DataFrame({"a": [1, 2], "b": [2, 2]}, index), items="ab", voter=None)
    with refused("row 1 has a place missing"):
        Rankings.from_frame(pd.DataFrame({"a": [1, 2], "b": [2, None]}, index), items="ab", voter=None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is no CSV table"]),
        ("a,b\n1,2\n2,1,5\n", ["is no CSV table", "line 3"]),
        ("a,b\n1,2\n1,1\n", ["row 1 is no ranking"]),
        ("a,b\n1,\n", ["row 0 has a place missing"]),
    ],
)
def test_a_file_s_fault_is_named(text, words, tmp_path):
    (tmp_path / "t").write_text(text)
    with refused(*words):
        rankings.read_rankings(tmp_path / "t", items="ab", voter=None)


def test_what_is_no_parquet_file_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with refused("is no Parquet table"):
        rankings.read_rankings(tmp_path / "t.parquet", items="ab", voter=None)


@pytest.mark.parametrize("frame", [None, [[1, 2]], {"a": [1], "b": [2]}, np.array([[1, 2]])])
def test_what_is_no_table_is_refused(frame):
    with refused(f"frame is of type {type(frame).__name__}", "pandas.DataFrame"):
        Rankings.from_frame(frame, items="ab", voter=None)


def test_says_what_it_holds():
    assert repr(Rankings(POSITIONS, ITEMS)) == "Rankings of 4 items by 9 voters: data, secret"
    assert repr(Rankings([[0, 1]], "ab")) == "Rankings of 2 items by 1 voter: data, secret"


def test_an_absent_column_is_named():
    with refused("column 'c' is not in the table", "2 columns"):
        Rankings.from_frame(pd.DataFrame({"a": [1], "b": [2]}), items="abc", voter=None)


def test_the_cell_at_fault_is_named_in_a_column_of_text(tmp_path):
    (tmp_path / "t").write_text("P1,P2\n1,2\n2,1\n1,2\n1,third\n")
    with refused("P2[3]", "whole numbers"):
        rankings.read_rankings(tmp_path / "t", items=["P1", "P2"], voter=None)
    with refused("column 'a' holds text"):
        Rankings.from_frame(pd.DataFrame({"a": ["1"], "b": ["2"]}), items="ab", voter=None)


def test_one_ranking_a_voter(tmp_path):
    rows = ["person,a,b", "ann,1,2", "bob,2,1", "01,1,2", "1,1,2"]
    (tmp_path / "t").write_text("\n".join(rows))
    assert len(rankings.read_rankings(tmp_path / "t", items="ab", voter="person")) == 4
    frame = pd.read_csv(tmp_path / "t")
    frame.to_parquet(tmp_path / "p")
    assert len(rankings.read_rankings(tmp_path / "p", items="ab", voter="person")) == 4
    # of ann's second ranking nothing is refused, which would tell of her: one of hers stays, whatever the order
    twice = pd.concat([frame, frame.assign(a=frame.b, b=frame.a)], ignore_index=True)
    twice["person"] = [*"abcd", "A ", "ｂ", " c", "d"]
    kept = {
        tuple(Rankings.from_frame(rows, items="ab", voter="person").positions[:, 0].tolist())
        for rows in (twice, twice[::-1], twice.sample(frac=1, random_state=3))
    }
    assert {sum(places) for places in kept} == {sum(next(iter(kept)))}
    assert {len(places) for places in kept} == {4}
    twice = twice[:5]
    assert len(Rankings.from_frame(twice, items="ab", voter=None)) == 5
    with refused("column 'who' is not in the table"):
        Rankings.from_frame(frame, items="ab", voter="who")
    with refused("person[1] is missing"):
        Rankings.from_frame(frame.assign(person=["ann", None, "c", "d"]), items="ab", voter="person")
    (tmp_path / "t").write_text("person,a,b,person\nann,1,2,x")
    with refused("column 'person' is in the table 2 times"):
        rankings.read_rankings(tmp_path / "t", items="ab", voter="person")


def test_orders_of_names():
    for kind in (list, np.array, lambda x: np.array(x, object)):
        out = Rankings.from_orders(
            kind([["Rome", "Paris", "Oslo"], ["Oslo", "Rome", "Paris"]]), ["Paris", "Oslo", "Rome"]
        )
        assert out.positions.tolist() == [[1, 2, 0], [2, 0, 1]]
    for wrong, words in (
        ([["a", "b"], ["a", "c"]], ["orders[1]", "none of the 2 items"]),
        ([["a", "b"], ["b", "b"]], ["orders[1]"]),
        ([["a", "b"], ["b"]], ["different lengths"]),
        (["ab", "ba"], ["orders"]),
    ):
        with refused(*words):
            Rankings.from_orders(wrong, "ab")


def test_masked_places_and_spans_of_time_are_no_places():
    for positions in (np.ma.array([[0, 1]], mask=[[0, 1]]), np.array([[0, 1]], "m8[s]")):
        with refused("positions"):
            Rankings(positions, ["a", "b"])


def test_nobody_is_a_table_too(tmp_path):
    """Or the only voter could not leave."""
    (tmp_path / "t").write_text("who,a,b\n")
    for voter in ("who", None):
        assert len(rankings.read_rankings(tmp_path / "t", items="ab", voter=voter)) == 0


def test_a_refusal_says_what_reads_tables_as_people_have_them(tmp_path):
    """A row refuses here, and says what refuses none: there the ballot ranks nothing."""
    path = tmp_path / "t.csv"
    path.write_text("who,a,b\nann,1,2\nbob,N/A,1\n", encoding="utf-8")
    with refused("a[1] is no place", "dprank.Declaration(kind='ballots', …).read(path) has them rank nothing"):
        rankings.read_rankings(path, items="ab", person="who")
    intake = dprank.Declaration(kind="ballots", items="ab", person="who", ballots="full").read(path)
    assert (len(intake.data), dict(intake.left_out)) == (2, {"not every place once": 1})
    pairs = tmp_path / "p.csv"
    pairs.write_text("first,second,outcome,who\na,b,1,ann\na,c,1,bob\n", encoding="utf-8")
    with refused("second[1]", "dprank.Declaration(kind='comparisons', …).read(path) leaves these out"):
        dprank.read_comparisons(pairs, items="ab", person="who")
