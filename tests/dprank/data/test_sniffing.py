"""What a file says cell by cell: no cell of Parquet changes what is read of another; a CSV is held to its marks."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_columns import DAYS, TYPES, WHOLE, changed
from checks import each, refused
from hypothesis import given, settings
from hypothesis import strategies as st

from dprank import Declaration, read_tallies
from dprank.data.arrow_texts import arrow_texts, is_text_type
from dprank.data.files import read_table
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
    sniffed = sniff(tmp_path / "a.parquet")
    assert (list(sniffed.frame), dict(sniffed.others), len(sniffed.frame)) == ([], {"x": "several columns"}, 1)


def text(tmp_path, content):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    return sniff(tmp_path / "a.csv").frame


@each(
    "cells, what",
    [
        ('1,"hello,2\n2,x,3\n3,"bye,1\n', ['"hello', "x", '"bye']),  # who does not quote: no row between is gone
        ('1,"hello,2\n2,x,3\n', ['"hello', "x"]),
        ('1,"a"b,2\n', ['"a"b']),
        ('1,x,2\n1,"a" ,2\n', ["x", '"a" ']),
        ('1,"two\nlines",2\n2,"x"y,1\n3,"a,b",2\n4,"",7', ["two\nlines", '"x"y', "a,b", ""]),
        ('1,"say ""hi"" ,2\n2,""x"",1\n', ['"say ""hi"" ', '""x""']),
        ('1,x,"\n', ["x"]),
    ],
)
def test_a_mark_that_is_not_closed_is_a_character_of_its_cell(tmp_path_factory, cells, what):
    assert text(tmp_path_factory.mktemp("q"), "who,what,n\n" + cells)["what"].tolist() == what


#: Rows behind a header of three columns -> what is read of each, and which have too many fields.
ROWS = {
    "one too many": ("1,x,2\n2,y,3,4\n3,z,1\n", ["x", "", "z"], [1]),
    "the first of all": ("2,y,3,4\n3,z,1\n", ["", "z"], [0]),
    "all of them": ("2,y,3,4\n3,z,1,\u00e9\n", ["", ""], [0, 1]),
    "many, quoted": ('1,"a,b",2,"",,\n3,"z",1', ["", "z"], [0]),
    "over two lines": ('1,x,2\n2,"y\n",3,4\n\n3,z,1\n', ["x", "", "z"], [1]),
    "a mark that closes nothing": ('1,"x,2\n2,"y"a,3,4\n3,z,1\n', ['"x', "", "z"], [1]),
    "a separator at the end of one": ("1,x,2\n2,y,3,\n3,z,1\n", ["x", "y", "z"], []),
    "a separator at the end of all": ("1,x,2,\n2,y,3,\n", ["x", "y"], []),
    "of all but one": ("1,x,2,\n2,y,3,5\n", ["x", ""], [1]),
    "two at the end": ("1,x,2\n2,y,3,,\n", ["x", ""], [1]),
    "quoted nothing at the end": ('1,x,2\n2,"y",3,""\n', ["x", "y"], []),
    "fewer": ("1\n2,y,3,4\n3,z\n", ["", "", "z"], [1]),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_more_fields_than_the_header_is_there_without_its_cells(tmp_path, name):
    cells, what, beyond = ROWS[name]
    for ends in ("\n", "\r\n", "\r"):
        (tmp_path / "a.csv").write_bytes(("who,what,n\n" + cells).replace("\n", ends).encode())
        found = sniff(tmp_path / "a.csv")
        assert found.frame["what"].tolist() == what
        assert np.flatnonzero(found.beyond).tolist() == beyond
        assert not found.frame[found.beyond].to_numpy().astype(bool).any()


def test_of_one_column_a_line_of_nothing_is_a_row(tmp_path):
    """Or whoever leaves it empty would be missing in the number of rows."""
    for rows, cells, beyond in (("a\n\nb\n", ["a", "", "b"], []), ('a\n\n"b"c\nd,e\n', ["a", "", '"b"c', ""], [3])):
        (tmp_path / "a.csv").write_text("vote\n" + rows)
        found = sniff(tmp_path / "a.csv")
        assert (found.frame["vote"].tolist(), np.flatnonzero(found.beyond).tolist()) == (cells, beyond)


@each(
    "cell, read, encoding",
    [
        (b"Zo\xeb", r"Zo\xeb", "UTF-8"),
        (b"\xff\xfe\xc3", r"\xff\xfe\xc3", "UTF-8"),
        (b"a\0b", r"a\x00b", "UTF-8"),
        (b"\xed\xa0\x80", r"\xed\xa0\x80", "UTF-8"),
        (b"\x00\xd8", r"\x00\xd8", "UTF-16"),
        (b"\x00\x00", r"\x00", "UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_written_and_no_other_cell_changes(tmp_path_factory, cell, read, encoding):
    code = "utf-8" if encoding == "UTF-8" else "utf-16-le"
    mark = b"" if encoding == "UTF-8" else b"\xff\xfe"
    path = tmp_path_factory.mktemp("b") / "a.csv"
    path.write_bytes(mark + "who,what\nan\u00e9,".encode(code) + cell + "\nbob,x\n".encode(code))
    found = sniff(path)
    assert found.frame.to_numpy().tolist() == [["an\u00e9", read], ["bob", "x"]]
    assert found.said.startswith(f"CSV in {encoding}")
    assert ("but for bytes" in found.said) == (len(cell.strip(b"ab\0")) > 0)


def test_only_the_header_must_be_text(tmp_path):
    for head, about in ((b"wh\xe9,n\n", "line 1 is not UTF-8"), (b"\r\n\nwho,n\0\n", "line 3 holds a null character")):
        (tmp_path / "a.csv").write_bytes(head + b"1,2\n\xff,3\n")
        with refused("a.csv", about):
            sniff(tmp_path / "a.csv")


def test_how_lines_end_is_said_of_the_header(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'who,what\n1,"a\r\nb"\n2,x\r\n')
    found = sniff(tmp_path / "a.csv")
    assert found.said.endswith("lines end in LF")
    assert found.frame["what"].tolist() == ["a\nb", "x"]


CELLS = st.text(alphabet='ab" ,\n\r\u00e9', max_size=6)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4),
    st.integers(0, 4),
    st.sampled_from(["x,y,z", '"q"p,y', '"u,v', ",,z"]),
)
def test_one_row_that_is_broken_changes_no_other(tmp_path_factory, rows, at, broken):
    """All others as a writer of RFC 4180 has them, who quotes whatever he must."""
    path = tmp_path_factory.mktemp("r") / "a.csv"
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    at = min(at, len(lines))
    path.write_text("\n".join(["p,q", *lines[:at], broken, *lines[at:]]) + "\n", encoding="utf-8", newline="")
    found = sniff(path)
    plain = [[cell.replace("\r\n", "\n") for cell in row] for row in rows]
    # a mark that nothing closes takes what closes it for its own: RFC 4180 cannot tell
    if broken != '"u,v':
        assert np.delete(found.frame.to_numpy(), at, axis=0).tolist() == plain
        assert np.flatnonzero(found.beyond).tolist() == [at] * (broken.count(",") > 1)


@pytest.mark.slow
def test_rows_of_a_megabyte(tmp_path):
    """And as many marks that close nothing: every way through is one pass."""
    long = 1 << 20
    rows = [
        "1," + "x" * long,
        "2," + '"' * (long + 1) + "a",
        "3" + "," * long,
        "4," + '"a' * long,
        '5,"' + '""' * long + '"',
    ]
    (tmp_path / "a.csv").write_text("who,what\n" + "\n".join([*rows, *['6,"a'] * 50_000, "7,z"]) + "\n")
    found = sniff(tmp_path / "a.csv")
    assert np.flatnonzero(found.beyond).tolist() == [2]
    assert [len(it) for it in found.frame["what"][:5]] == [long, long + 2, 0, 2 * long, long]
    assert found.frame["what"].tolist()[-2:] == ['"a', "z"]


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


def padded(who):
    """Rows of 32 bytes, which a buffer of 2^18 bytes cuts at one and the same place, wherever `who` moves it to."""
    return f"item,who\nflu,{who}\n" + "".join(f"{'':14s}gout,p{at:011d}\n" for at in range(50_000))


@pytest.mark.slow
@pytest.mark.parametrize("read", [lambda path: sniff(path).frame, lambda path: read_table(path, ["item", "who"])])
def test_how_long_a_name_is_changes_no_other_cell(read, tmp_path):
    # catches pandas' buffer: of blanks at the head of a row it forgets those before its end
    for n in range(1, 34, 3):
        (tmp_path / "a.csv").write_text(padded("a" * n))
        frame = read(tmp_path / "a.csv")
        assert frame["item"].value_counts().to_dict() == {" " * 14 + "gout": 50_000, "flu": 1}
        assert frame["who"].iloc[0] == "a" * n


@pytest.mark.parametrize(("ends", "cells"), [("\n", 3), ("\r\n", 3), ("\r", 5)])
def test_a_return_in_a_cell_makes_no_rows(ends, cells, tmp_path):
    # catches lines that end otherwise than the header's: pandas and csv leave a CR in a cell unquoted
    rows = ["vote", "a > b", "b > a\rb > a\rb > a", "a > b", ""]
    (tmp_path / "a.csv").write_text(ends.join(rows), newline="")
    found = sniff(tmp_path / "a.csv").frame["vote"].tolist()
    assert found == (["a > b", *rows[2].split("\r"), "a > b"] if cells == 5 else rows[1:4])


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_there_is_one_zero(kind):
    # catches -0, which is no answer, and which DuckDB gives to all who said 0 where it comes first
    column = pa.array(np.array([-0.0, 0.0, -1.0], kind.to_pandas_dtype()), kind)
    for people in (False, True):
        assert arrow_texts(column, people) == ["0", "0", "-1"]


@pytest.mark.parametrize("column", ["item", "who"])
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_no_text_is_refused_and_not_quoted(column, packed, tmp_path):
    # catches Arrow's own words, which have the cell in them
    raw = pa.array([b"ann", b"bob\xff"])
    broken = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    cells = {"item": pa.array(["flu", "flu"]), "who": pa.array(["a", "b"])}
    cells[column] = pa.DictionaryArray.from_arrays(pa.array([0, 1]), broken) if packed else broken
    pq.write_table(pa.table(cells), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet is no Parquet table") as caught:
        read_tallies(tmp_path / "a.parquet", items=["flu"], person="who", item="item")
    assert "bob" not in str(caught.value)
    assert "\n" not in str(caught.value)
