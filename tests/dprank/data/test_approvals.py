"""What people have, where a row holds several: the same counts from each form, and a slip is that person's alone."""

import gzip

import pytest
from checks import each, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kinds_of_files import BASKETS, CANDIDATES, cat, each_column, one_cell, zeros_and_ones

from dprank import Declaration
from dprank.cli.options import numbered
from dprank.cli.path import said
from dprank.data.approvals import has
from dprank.data.categories import read_categories

DX = ("DX1", "DX2", "DX3")
#: Of each form: what it writes, its suffix, and how it is declared.
WAYS = {
    "each": (each_column, ".csv", {"form": "each", "columns": DX}),
    "semicolons": (lambda it: one_cell(";", it), ".csv", {"form": "basket", "columns": ("things",), "between": ";"}),
    "commas": (lambda it: one_cell(", ", it), ".csv", {"form": "basket", "columns": ("things",), "between": ","}),
    "bars": (lambda it: one_cell("|", it), ".csv", {"form": "basket", "columns": ("things",), "between": "|"}),
    "marked": (lambda it: zeros_and_ones(baskets=it), ".csv", {"form": "marked"}),
    "crosses": (lambda it: zeros_and_ones(("", "x"), it), ".csv", {"form": "marked"}),
    "truths": (lambda it: zeros_and_ones(("False", "TRUE"), it), ".csv", {"form": "marked"}),
    "cat": (cat, ".cat", {"form": "preflib"}),
}


def read(folder, way, text=None, baskets=BASKETS, **rest):
    write, suffix, keys = WAYS[way]
    path = folder / f"a{suffix}"
    path.write_text(write(baskets) if text is None else text, encoding="utf-8")
    return Declaration(**{"kind": "tallies", "items": CANDIDATES} | keys | rest).read(path)


def wanted(baskets=BASKETS):
    return [sum(it in has for has in baskets) for it in range(len(CANDIDATES))]


@each("way", list(WAYS))
def test_counts_are_those_that_were_written(tmp_path, way):
    for rest in ({}, {} if way == "cat" else {"person": "id"}):
        intake = read(tmp_path, way, **rest)
        assert intake.data.counts().tolist() == wanted()
        assert intake.rows == intake.kept == sum(map(len, BASKETS))
        assert len({*intake.data.person.tolist()} | {*intake.data.without.tolist()}) == len(BASKETS), "all are there"
        assert len(intake.data.without) == 1, "who has nothing is somebody"


@given(st.lists(st.sets(st.integers(0, 3), max_size=3).map(lambda it: tuple(sorted(it))), min_size=1, max_size=12))
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_baskets_are_counted_alike(tmp_path, baskets):
    baskets = (*baskets, (0, 1, 2))  # three columns are needed
    for way in WAYS:
        intake = read(tmp_path, way, baskets=baskets)
        assert intake.data.counts().tolist() == wanted(baskets), way
        bounded = intake.data.counts(per_person=1)
        assert bounded.sum() == sum(bool(it) for it in baskets), "one of a person, whoever it is"


#: A slip, what is left out for it, and what stays.
SLIPS = [
    ("each", "id,DX1,DX2,DX3\na,Bob,Nobody,\nb,Bob,Chuck,NA\n", {"an item not declared": 1}, [0, 2, 1, 0]),
    ("each", "id,DX1,DX2,DX3\na,Bob,Bob,Bob\n", {}, [0, 1, 0, 0]),
    ("each", "id,DX1,DX2,DX3\na,Bob,,,SECRET,\nb,Bob,,\n", {"more fields than the header": 1}, [0, 1, 0, 0]),
    ("semicolons", "id,things\na,Bob;;Chuck;\nb,Bob ; Nobody\n", {"an item not declared": 1}, [0, 2, 1, 0]),
    ("semicolons", "id,things\na,Bob;Bob;Bob\nb,\nc,none\n", {}, [0, 1, 0, 0]),
    ("semicolons", 'id,things\na,"Bob,Chuck"\nb,Bob\n', {"an item not declared": 1}, [0, 1, 0, 0]),
    ("marked", "id,Amy Lee,Bob,Chuck,Dó\na,1,2,0,\nb,1,1.0,no,maybe\n", {"no such answer": 2}, [2, 1, 0, 0]),
    ("marked", "id,Dó,Bob,Amy Lee,Chuck\na,1,0,0,0\n", {}, [0, 0, 0, 1]),
]


@each("way, text, left, counts", SLIPS)
def test_a_slip_is_left_out_and_the_rest_stays(tmp_path, way, text, left, counts):
    intake = read(tmp_path, way, text)
    assert dict(intake.left_out) == left
    assert intake.data.counts().tolist() == counts


def test_an_item_again_in_a_list_is_one_entry(tmp_path):
    assert read(tmp_path, "semicolons", "id,things\na,Bob;Bob ;Bob\n").rows == 1


def test_rows_of_nobody_are_left_out_and_somebody(tmp_path):
    text = "id,things\n,Bob;Chuck\na,Bob\nb,\n"
    intake = read(tmp_path, "semicolons", text, person="id")
    assert dict(intake.left_out) == {"no person": 2}
    assert intake.data.counts().tolist() == [0, 1, 0, 0]
    assert len(intake.data.without) == 2, "whoever has left out the name, and b"


def test_two_rows_of_a_person_are_one_person(tmp_path):
    text = "id,things\nann,Bob;Chuck\nAnn ,Bob\n"
    assert read(tmp_path, "semicolons", text, person="id").data.counts().tolist() == [0, 1, 1, 0]
    assert read(tmp_path, "semicolons", text).data.counts().tolist() == [0, 2, 1, 0], "where nobody is known, two"


@each("keys, words", [
    ({"form": "basket", "columns": ("things",)}, "between"),
    ({"form": "basket", "columns": ("a", "b"), "between": ";"}, "columns"),
    ({"form": "each", "columns": ()}, "columns"), ({"form": "marked", "columns": ("a",)}, "columns"),
    ({"form": "each", "columns": ("a", "a")}, "columns"), ({"form": "long", "columns": ("a",)}, "person"),
    ({"form": "marked", "between": ";"}, "between"), ({"form": "preflib", "layout": {"skip": 1}}, "layout"),
])  # fmt: skip
def test_a_declaration_that_says_too_little_is_refused(keys, words):
    with refused(words):
        Declaration(kind="tallies", items=CANDIDATES, **keys)


@each("way, text, words", [
    ("each", "id,DX1,DX2\na,Bob,\n", "DX3"), ("semicolons", "id,stuff\na,Bob\n", "things"),
    ("marked", "id,Bob,Chuck\na,1,0\n", "Amy Lee"),
    ("cat", cat().replace("NUMBER VOTERS", "VOTERS"), "NUMBER VOTERS"),
    ("cat", cat().replace("NUMBER CATEGORIES: 2", ""), "NUMBER CATEGORIES"),
    ("cat", cat().replace("DATA TYPE: cat", "DATA TYPE: soc"), "DATA TYPE"),
])  # fmt: skip
def test_a_header_that_lacks_something_is_one_line(tmp_path, way, text, words):
    with refused(words, f"a{WAYS[way][1]}"):
        read(tmp_path, way, text)


#: Lines of a .cat that are no ballots.
NO_BALLOTS = [
    "1: {1,2}", "1: {1},{2},{3}", "1: {1,9},{2}", "1: {1,1},{2}", "x: {1},{2}", "1: 1;2", "1 {1},{2}", "SECRET",
    "1: {1,{2}",
    "1: {},{},{}", "1: {1},{1}", "-1: {1},{2}", "1: {1},{2},", "1.5: {1},{2}", "1: {01},{2}",
    "1:", "{1},{2}", "1: (1),(2)",
]  # fmt: skip


@each("line", NO_BALLOTS)
def test_a_line_of_a_cat_that_is_none_is_left_out(tmp_path, line):
    path = tmp_path / "a.cat"
    path.write_text(cat(voters=len(BASKETS) + 1) + line + "\n")
    file = read_categories(path)
    assert file.others == (line,)
    assert (file.voters, file.absent) == (len(BASKETS) + 1, 1)
    intake = read(tmp_path, "cat", path.read_text())
    assert intake.data.counts().tolist() == wanted()
    assert len({*intake.data.person.tolist()} | {*intake.data.without.tolist()}) == len(BASKETS) + 1


def test_a_cat_is_ballots_too_and_may_be_packed(tmp_path):
    path = tmp_path / "a.cat.gz"
    path.write_bytes(gzip.compress(cat().encode()))
    keys = {"kind": "ballots", "items": CANDIDATES, "form": "preflib", "ballots": "tied"}
    places = Declaration(**keys).read(path).data.places.tolist()
    assert sorted(places) == sorted([int(it not in has) if has else 0 for it in range(4)] for has in BASKETS)


@each("text, meant", [
    ("1", 1), ("1.0", 1), ("0", 0), ("", 0), (" X ", 1), ("✓", 1), ("NO", 0), ("true", 1), ("-", 0), ("2", None),
    ("-1", None), ("0.5", None), ("maybe", None),
])  # fmt: skip
def test_marks(text, meant):
    assert has(text) == (-float("inf") if meant is None else meant)


@each("names, meant", [
    (["DX1..DX3"], ("DX1", "DX2", "DX3")), (["A09..A11"], ("A09", "A10", "A11")), (["a..b"], ("a..b",)),
    (["DX3..DX1"], ("DX3..DX1",)), (["DX1..EX3"], ("DX1..EX3",)), (["1..999999"], ("1..999999",)),
    (["x", "q2..q2"], ("x", "q2")),
])  # fmt: skip
def test_columns_with_numbers(names, meant):
    assert numbered(names) == meant


@pytest.mark.slow
def test_two_commands_from_a_file_to_a_release(tmp_path):
    flags = {
        "each": ["--each", "DX1..DX3"], "semicolons": ["--basket", "things", "--between", ";"], "marked": ["--marked"],
        "cat": [],
    }  # fmt: skip
    for way, words in flags.items():
        write, suffix, _ = WAYS[way]
        path = tmp_path / f"{way}{suffix}"
        path.write_text(write(BASKETS * 40), encoding="utf-8")
        named = [*words, "--items", ",".join(CANDIDATES)]
        seen = said("check", path, *named)
        assert seen.code == 0, seen
        assert f"items that count: {40 * sum(map(len, BASKETS))}" in seen.out or way == "cat"
        done = said("release", "topk", path, *named, "--k", "2", "--epsilon", "50")
        assert (done.code, "Amy Lee" in done.out) == (0, True), done
        assert "Chuck" in done.out
