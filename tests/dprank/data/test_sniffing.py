"""What a file says cell by cell: no cell of Parquet changes what is read of another; a CSV is held to its marks."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_columns import DAYS, TYPES, WHOLE, changed
from checks import each, refused

from dprank import Declaration
from dprank.data.arrow_texts import arrow_texts, is_text_type
from dprank.data.sniffing import sniff


def read(column, folder):
    pq.write_table(pa.table({"x": column}), folder / "x.parquet")
    return sniff(folder / "x.parquet").frame["x"].tolist()


@pytest.mark.parametrize("kind", TYPES)
def test_one_cell_of_parquet_changes_no_other(kind, tmp_path):
    column, cells = TYPES[kind]
    texts = read(column, tmp_path)
    assert texts == arrow_texts(column)
    assert not any(text for text, gone in zip(texts, column.is_null().to_pylist(), strict=True) if gone)
    for cell in cells:
        for at in range(len(column)):
            other = read(changed(column, at, cell), tmp_path)
            assert other[:at] + other[at + 1 :] == texts[:at] + texts[at + 1 :], (kind, cell)


def test_a_reader_of_whole_columns_is_seen():
    """As pandas writes dates: one with a time gives all others one, too."""
    days = DAYS.view(pa.timestamp("ms"))
    one, other = (changed(days, 3, cell).to_pandas().astype("string")[:2].tolist() for cell in (0, 1))
    assert one != other


def test_texts_of_cells():
    assert arrow_texts(pa.array([2.0, 0.1, 2e22])) == ["2", "0.1", "2e+22"]
    assert arrow_texts(pa.array(np.array([0.1, 3], "f4"))) == ["0.1", "3"]
    assert arrow_texts(WHOLE.view(pa.timestamp("us"))) == [
        "1970-01-01", "1970-01-01 00:00:00.000003", "", "1970-01-01 00:00:00.000005",
    ]  # fmt: skip
    assert arrow_texts(DAYS.view(pa.timestamp("ms", "UTC"))) == [
        "1970-01-01+00:00", "1970-01-02+00:00", "", "1970-01-11+00:00",
    ]  # fmt: skip
    assert arrow_texts(TYPES["uuid"][0])[2] == "00010203-0405-0607-0809-0a0b0c0d0e0f"


OTHERS = {
    "list": pa.array([["secret"], [], None]),
    "struct": pa.array([{"x": 1}, None, {"x": 2}]),
    "time": pa.array([1, 2, 3], pa.int64()).view(pa.time64("us")),
    "duration": pa.array([1, 2, 2**62], pa.int64()).view(pa.duration("s")),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_columns_of_other_things_are_left_alone_and_refused_where_asked_for(kind, tmp_path):
    column = OTHERS[kind]
    assert not is_text_type(column.type)
    pq.write_table(pa.table({"who": ["a", "b", "c"], "x": column}), tmp_path / "a.parquet")
    sniffed = sniff(tmp_path / "a.parquet")
    assert (list(sniffed.frame), sniffed.others) == (["who"], {"x": str(column.type).replace("item", "element")})
    declared = {"kind": "tallies", "items": ["flu", "gout"], "person": "who"}
    with refused("a.parquet", "'x' holds", "numbers, text or dates"):
        Declaration(**declared, columns=("x",)).read(tmp_path / "a.parquet")
    assert Declaration(**declared, columns=("who",)).read(tmp_path / "a.parquet").rows == 3


def test_names_of_parquet(tmp_path):
    frame = pd.DataFrame({"a.b": [1, 2], "a": [{"b": 3}, {"b": 4}]}, index=pd.Index([7, 8], name="who"))
    frame.to_parquet(tmp_path / "a.parquet")
    sniffed = sniff(tmp_path / "a.parquet")
    assert sniffed.frame.to_dict("list") == {"a.b": ["1", "2"], "who": ["7", "8"]}
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), tmp_path / "a.parquet")
    with refused("a.parquet", "the name of another"):
        sniff(tmp_path / "a.parquet")


def text(tmp_path, content):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    return sniff(tmp_path / "a.csv").frame


@each(
    "cells, line",
    [
        ('1,"hello,2\n2,x,3\n3,"bye,1\n', 2),  # who does not quote: the rows between would be gone
        ('1,"hello,2\n2,x,3\n', 2),
        ('1,"a"b,2\n', 2),
        ('1,x,2\n1,"a" ,2\n', 3),
        ('1,"two\nlines",2\n2,"x"y,1\n', 4),
    ],
)
def test_a_mark_that_would_swallow_others_is_refused(tmp_path_factory, cells, line):
    with refused("a.csv", f"line {line}", "quotation mark"):
        text(tmp_path_factory.mktemp("q"), "who,what,n\n" + cells)


@each(
    "cells, what",
    [
        ('1,"a,b",2\n', ["a,b"]),
        ('1,"say ""hi""",2\n2,"",1\n', ['say "hi"', ""]),
        ('1,"two\nlines",2\n2,5" pipe,3\n', ["two\nlines", '5" pipe']),
        (f'1,"{"x" * 200_000}",2\n2,y,3', ["x" * 200_000, "y"]),
        ("1,it's,2\n", ["it's"]),
    ],
)
def test_marks_that_are_closed_are_read(tmp_path_factory, cells, what):
    assert text(tmp_path_factory.mktemp("q"), "who,what,n\n" + cells)["what"].tolist() == what


def test_a_name_without_end_is_refused_in_one_line(tmp_path):
    with refused("a.csv", "line 1"):
        text(tmp_path, "who," + "x" * 200_000 + "\n1,2\n")
    with refused("a.csv", "line 1", "quotation mark"):
        text(tmp_path, 'who,"what\n1,2\n')
