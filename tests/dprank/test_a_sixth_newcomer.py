"""What a sixth newcomer's files were told that was untrue, or led astray, each as a kind."""

import numpy as np
import pytest
from test_a_fifth_newcomer import ORDERS
from test_a_fourth_newcomer import ITEMS, noticed
from test_cli_check import checked, written

from dprank.cli.path import said as run

WIDE = f"--wide --ballots tied {ITEMS}"


@pytest.mark.parametrize(
    ("header", "flags", "row", "counts"),
    [
        ("who,tree", "--item tree --person who", ["Total", "9"], False),
        ("who,tree", "--item tree --person who", ["Total", "oak"], True),
        ("who,a,b,said", "--comparisons a,b,said --map outcome --person who", ["Total", "oak", "", "1"], False),
        ("who,a,b,said", "--comparisons a,b,said --map outcome --person who", ["Total", "oak", "elm", "1"], True),
        ("who,one,two", "--ranks one,two --ballots partial --unranked last --person who", ["Total", "9", "8"], True),
        ("who,one,two", "--ranks one,two --ballots partial --unranked last --person who", ["Total", "oak", ""], True),
    ],
)
def test_a_total_is_said_to_count_only_where_it_does(header, flags, row, counts, tmp_path):
    usual = {"tree": "oak", "a": "oak", "b": "elm", "said": "1", "one": "elm", "two": "fir"}
    rows = [[f"p{at}", *(usual[name] for name in header.split(",")[1:])] for at in range(9)]
    path, flags = written(tmp_path, header, [*rows, row]), f"{flags} {ITEMS}"
    said = checked(path, flags)
    [line] = [it for it in said["noticed"] if "called as sums" in it]
    assert ("it counts like others" in line) == counts
    assert said["rows that count"] == 9 + counts


@pytest.mark.parametrize("of", [sum, lambda row: round(sum(row) / 3, 1)], ids=["sum", "mean"])
@pytest.mark.parametrize("comma", [False, True])
def test_what_sums_up_a_row_is_no_weight(of, comma, tmp_path):
    draws = np.random.default_rng(3).integers(2, 19, (30, 3)) / 2
    rows = [[f"p{at}", *row, of(row)] for at, row in enumerate(draws.tolist())]
    rows = [[str(it).replace(".", ",") if comma else str(it) for it in row] for row in rows]
    other = [[*row[:-1], str(at % 4 + 1)] for at, row in enumerate(rows)]
    for table, told in ((rows, False), (other, True)):
        said = noticed(tmp_path, "who,oak,elm,fir,weight", table, f"{WIDE} --best high --person who")
        assert any("'weight'" in it for it in said) == told


@pytest.mark.parametrize("number", [1, 2])
def test_more_lines_of_names(number, tmp_path):
    rows = [[f"p{at}", *ORDERS[at % 6]] for at in range(20)]
    more = [["id", *(f"Rank: {it} {at}" for it in ("oak", "elm", "fir"))] for at in range(number)]
    said = noticed(tmp_path, "who,oak,elm,fir", [*more, *rows], f"--wide --person who {ITEMS}")
    assert [it for it in said if "more lines of names?" in it]
    for first in (["p", "", "", ""], ["p", "1", "x", "2"], ["p", "7", "0", "9"]):
        said = noticed(tmp_path, "who,oak,elm,fir", [first, *rows], f"--wide --person who {ITEMS}")
        assert not [it for it in said if "lines of names" in it]


def test_a_column_without_a_name_is_called_so(tmp_path):
    path = written(tmp_path, ",who,oak,elm,fir", [[str(at), f"p{at}", *ORDERS[at % 6]] for at in range(20)])
    assert checked(path, f"--wide --person who {ITEMS}")["columns that are not used"] == [
        "'Unnamed: 0' (without a name)"
    ]


def test_marks_are_not_taken_for_points(tmp_path):
    marks = np.clip(np.random.default_rng(1).integers(1, 7, (40, 3)), 1, 6)
    said = noticed(tmp_path, "oak,elm,fir", [[*map(str, row)] for row in marks.tolist()], WIDE)
    assert [it for it in said if "not of marks, where 1 is" in it]


def test_items_with_the_same_score_are_not_blamed_on_noise(tmp_path):
    """A circle: every item won as often as it lost, and the noise is far too small to tell them apart."""
    rows = [[one, other, one] for one, other in (("oak", "elm"), ("elm", "fir"), ("fir", "oak")) for _ in range(9)]
    path = written(tmp_path, "left,right,best", rows)
    flags = ["--comparisons", "left,right,best", "--map", "names", *ITEMS.split()]
    out = tmp_path / "release.json"
    done = run("release", "ranking", path, *flags, "--protect", "answer", "--epsilon", "1000", "--out", out)
    assert done.code == 0, done.error
    assert "by net wins oak, elm and fir have the same score." in done.out
