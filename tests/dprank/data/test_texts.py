"""Small files are read without pandas: as pandas reads them, or not at all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dprank.data.bounding import person_ids
from dprank.data.sniffing import sniff
from dprank.data.texts import MOST_CELLS, Texts, factorized, plain_rows

CELLS = st.text(st.sampled_from("ab 0,;\t|\"'\n\r\x0b\x85\u2028\u00a0é\x00-#\\NA"), max_size=4)


def same(path):
    """Whether a file is read without pandas, and if so, alike."""
    plain, usual = sniff(path, plain=True), sniff(path)
    assert plain.said == usual.said
    assert plain.beyond.tolist() == usual.beyond.tolist()
    if not isinstance(plain.frame, Texts):
        assert plain.frame.equals(usual.frame)
        return False
    assert plain.frame.columns == list(usual.frame.columns)
    assert len(plain.frame) == len(usual.frame)
    for name in plain.frame.columns:
        one, other = plain.frame[name], usual.frame[name]
        assert one.to_numpy(object).tolist() == other.to_numpy(object).tolist()
        for found, meant in zip(one.factorize(), other.factorize(), strict=True):
            assert found.tolist() == meant.tolist()
        assert one.name == other.name
    rows = np.array([0, 0])
    assert plain.frame.taken(rows)[name].to_numpy().tolist() == usual.frame[name].iloc[rows].tolist()
    return True


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a,b\n1,2\n", True),
        ("a,b\r\n1,2\r\n, \r\n01,NA", True),
        ("a;b\n1,5;x\nnull;\n", True),
        ('"a, c",b\n1,2\n', True),
        ("a\tb\n1\t2\n", True),
        ("a,b\n1,2,3\n", False),
        ("a,b\n1,2\n1\n", False),
        ("a,b\n1,2\n\n3,4\n", False),
        ("a,b\n1,2\n  \n3,4\n", False),
        ("a,b\n 1,2\n", False),
        ('a,b\n"1",2\n', False),
        ("a,b\n1\r,2\n", False),
        ("a,a\n1,2\n", False),
        ("a,\n1,2\n", False),
        ("a\n1\n", False),
        ("a,b\n", False),
    ],
)
def test_which_files_are_read_without_pandas(text, plain, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert same(tmp_path / "a.csv") is plain


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_any_file_is_read_as_pandas_reads_it(tmp_path_factory, rows, separator):
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    path.write_text("\n".join([separator.join("xy"), *map(separator.join, rows)]), encoding="utf-8", newline="")
    same(path)


def test_many_cells_are_for_pandas():
    assert plain_rows("1,2\n" * (MOST_CELLS // 2), "ab", ",") is not None
    assert plain_rows("1,2\n" * (MOST_CELLS // 2 + 1), "ab", ",") is None


@given(st.lists(CELLS))
def test_texts_are_told_apart_as_pandas_does(texts):
    given = np.fromiter(texts, object, len(texts))
    codes, distinct = factorized(given)
    meant = pd.factorize(given)
    assert (codes.tolist(), distinct.tolist()) == (meant[0].tolist(), meant[1].tolist())


def test_persons_keep_their_numbers():
    names = ["ann", "Ann ", "1", "1.0", "é", "ann"]
    assert person_ids("who", names).tolist() == person_ids("who", pd.Series([*names, 1]))[:-1].tolist()
