"""What tables come in: the same table counts the same in every container, and a broken one is one line."""

import csv
import gzip
import io
import json
import math
import os
import re
import sqlite3
import struct
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
from arrow_columns import TYPES
from checks import each, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbooks import Formula, Raw, write_ods, write_xlsx

from dprank import Declaration
from dprank.cli import main
from dprank.data import packed, statistics, workbooks
from dprank.data.containers import CONTAINERS, container_of
from dprank.data.engines import count
from dprank.data.layout import Layout
from dprank.data.sniffing import sniff


def as_csv(header, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


def write_bytes(make):
    return lambda path, header, rows: path.write_bytes(make(header, rows))


def of_zstd(raw):
    return pa.compress(raw, "zstd").to_pybytes()


def as_json(header, rows):
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows], ensure_ascii=False).encode()


def as_lines(header, rows):
    return b"".join(json.dumps(dict(zip(header, row, strict=True))).encode() + b"\n" for row in rows)


def as_arrow(header, rows):
    return pa.table([[row[at] for row in rows] for at in range(len(header))], header)


def write_stream(path, header, rows):
    table = as_arrow(header, rows)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def as_pandas(header, rows):
    return pd.DataFrame([list(row) for row in rows], columns=header, dtype=object)


#: How a table of texts is written in each container: by the end of its name.
WRITERS = {
    ".csv": write_bytes(as_csv),
    ".csv.gz": write_bytes(lambda header, rows: gzip.compress(as_csv(header, rows))),
    ".csv.zst": write_bytes(lambda header, rows: of_zstd(as_csv(header, rows))),
    ".json": write_bytes(as_json),
    ".jsonl": write_bytes(as_lines),
    ".jsonl.gz": write_bytes(lambda header, rows: gzip.compress(as_lines(header, rows))),
    ".xlsx": lambda path, header, rows: write_xlsx(path, {"Answers": [header, *rows], "Notes": []}),
    ".ods": lambda path, header, rows: write_ods(path, {"Answers": [header, *rows], "Notes": []}),
    ".parquet": lambda path, header, rows: pq.write_table(as_arrow(header, rows), path),
    ".feather": lambda path, header, rows: feather.write_feather(as_arrow(header, rows), str(path)),
    ".arrows": write_stream,
    ".sav": lambda path, header, rows: pyreadstat.write_sav(as_pandas(header, rows), str(path)),
    ".zsav": lambda path, header, rows: pyreadstat.write_sav(as_pandas(header, rows), str(path), compress=True),
    ".dta": lambda path, header, rows: pyreadstat.write_dta(as_pandas(header, rows), str(path)),
}
STATISTICS = (".sav", ".zsav", ".dta")
NEW = [end for end in WRITERS if end not in (".csv", ".parquet")]
ITEMS = ["oak", "elm", "fir"]
ANSWERS = Declaration(
    kind="comparisons", items=ITEMS, person="who", columns=("l", "r", "won"), answers={"1": 1.0, "2": 0.0, "=": 0.5}
)
WIDE = Declaration(kind="ballots", items=ITEMS, ballots="partial", unranked="last")
CELLS_OF = [*ITEMS, "1", "2", "3", "=", "", "001", "1.00", "é\U0001f332", 'a "b"', "x;y|z", "#N/A", "TRUE"]
CELL = st.sampled_from(CELLS_OF)


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=6))
def test_the_same_table_counts_the_same_in_every_container(tmp_path_factory, rows):
    same(tmp_path_factory.mktemp("same"), rows, [end for end in WRITERS if end not in STATISTICS])


def test_the_same_table_counts_the_same_in_files_of_statistics(tmp_path):
    cells = CELLS_OF * 2
    same(tmp_path, [cells[at : at + 4] for at in range(len(CELLS_OF))], [".csv", *STATISTICS])


def same(folder, rows, ends):
    seen = {}
    for end in ends:
        write, path = WRITERS[end], folder / f"a{end}"
        write(path, ["who", "l", "r", "won"], rows)
        intake = ANSWERS.read(path)
        data = intake.data
        counted = count(path, ANSWERS, per_person=1)
        people = len(set(data.voter.tolist()))
        seen[end] = (data.first.tolist(), data.second.tolist(), data.outcome.tolist(), people, counted.sums,
                     {key: it for key, it in intake.left_out.items() if key != "no person"},
                     {key: it for key, it in intake.misread.items() if key})  # fmt: skip
    assert all(it == seen[".csv"] for it in seen.values()), seen


@each("end", list(WRITERS))
def test_ballots_and_shards_of_a_container(end, tmp_path):
    path, rows = tmp_path / f"a{end}", [["1", "2", "3"], ["2", "1", ""], ["x", "1", "2"], ["3", "2", "1"]]
    WRITERS[end](path, ITEMS, rows)
    assert WIDE.read(path).data.places.tolist() == [[0, 1, 2], [1, 0, 2], [0, 0, 0], [2, 1, 0]]
    tallies = Declaration(kind="tallies", items=["1", "2", "3"], person=ITEMS[2], columns=("oak",))
    parts = [count(path, tallies, per_person=1, shard=(at, 2)) for at in (1, 2)]
    assert np.sum([it.sums["persons"] for it in parts], axis=0).tolist() == [1, 0, 1]


def test_a_container_is_one_entry():
    names = [it.name for it in CONTAINERS]
    assert len(set(names)) == len(names)
    ends = [end for it in CONTAINERS for end in it.suffixes]
    assert len(set(ends)) == len(ends)
    assert {container for end in WRITERS for container in CONTAINERS if container.is_called(f"a{end}")} >= {
        it for it in CONTAINERS if "sql" not in it.takes
    }


def flags(path, *more):
    return [path, "--person", "who", "--item", "what", "--items", "flu,gout", *more]


def refuse(capsys, tmp_path, path, *words, more=()):
    """One line on standard error, of a code, and nothing is spent."""
    budget = tmp_path / "b.sqlite"
    if not budget.exists():
        assert run(capsys, "budget", budget, "--epsilon", "1")[0] == 0
    before = run(capsys, "budget", budget)[1]
    release = ["release", "topk", *flags(path, *more), "--k", "1", "--epsilon", "0.5"]
    for command in (["check", *flags(path, *more)], [*release, "--budget", budget, "--dataset", "d"]):
        code, out, error = run(capsys, *command)
        assert (code, out, len(error.splitlines())) == (2, "", 1), (command, out, error)
        assert [word for word in words if word not in error] == [], error
        assert not re.search(r"\bann\b", error.replace(str(tmp_path), ""))
    assert run(capsys, "budget", budget)[1] == before


@pytest.mark.parametrize("end", [end for end in NEW if end not in (".zsav", ".jsonl.gz", ".arrows")])
def test_broken_files_are_one_line_and_cost_nothing(end, tmp_path, capsys):
    write, path = WRITERS[end], tmp_path / f"a{end}"
    header, rows = ["who", "what"], [["ann", "flu"], ["bob", "gout"], ["cyd", "flu"]] * 40

    def broken(*words):
        refuse(capsys, tmp_path, path, f"a{end}", *words)

    write(path, header, rows)
    whole = path.read_bytes()
    assert run(capsys, "check", *flags(path))[0] == 0
    path.write_bytes(b"")
    if end != ".jsonl":
        broken("empty" if end != ".json" else "damaged")
    path.write_bytes(as_csv(header, rows))
    if end != ".jsonl":  # of which each line is one person's
        broken({".json": "damaged"}.get(end, "begins as none does"))
    write(path, ["id", "what"], rows)
    if "json" not in end:
        broken("'who'")
    if "json" not in end and end not in (".feather", *STATISTICS):  # which hold no name twice
        write(path, ["who", "what", "what"], [[*row, "flu"] for row in rows])
        broken("'what'")
    for part in (0.3, 0.6, 0.95)[end in STATISTICS :: 1 + (end in STATISTICS)]:
        path.write_bytes(whole[: int(len(whole) * part)])
        if end != ".jsonl":
            broken("no Arrow" if end in (".feather", ".arrows") else "damaged")
    if end == ".jsonl":
        assert run(capsys, "check", *flags(path))[0] == 0  # the last row is broken, and no more
    path.unlink()
    broken("No such file")


def test_a_wrong_name_is_read_by_what_the_file_is(tmp_path):
    for end in (".xlsx", ".ods", ".csv.gz", ".json", ".jsonl", ".feather"):
        WRITERS[end](tmp_path / "a.csv", ["who", "what"], [["ann", "flu"]])
        assert sniff(tmp_path / "a.csv").frame.to_numpy().tolist() == [["ann", "flu"]]
    WRITERS[".ods"](tmp_path / "a.xlsx", ["who"], [["ann"]])
    assert container_of(tmp_path / "a.xlsx").name == "an OpenDocument sheet"


CELLS = [3.0, 0.5, 2.0**53, 1e22, True, date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5), "3", " x ", None]
TEXTS = ["3", "0.5", "9007199254740992", "1e+22", "TRUE", "2026-01-02", "2026-01-02 03:04:05", "3", " x ", ""]


@each("write", [write_xlsx, write_ods])
def test_cells_of_a_workbook(write, tmp_path):
    rows = [[it, "y"] for it in CELLS]
    write(tmp_path / "a", {"one": [["x", "who"], *rows]})
    assert sniff(tmp_path / "a").frame["x"].tolist() == TEXTS
    for at in range(len(rows)):  # one cell changes no other
        other = [*rows[:at], [Formula("else"), "y"], *rows[at + 1 :]]
        write(tmp_path / "a", {"one": [["x", "who"], *other]})
        assert sniff(tmp_path / "a").frame["x"].tolist() == [*TEXTS[:at], "else", *TEXTS[at + 1 :]]
    write(tmp_path / "a", {"one": [["x"], [2.0**53], [5.0]]})
    assert sniff(tmp_path / "a", lambda name: name == "x").frame["x"].tolist() == ["", "5"]


def test_errors_are_empty_and_stray_cells_are_nobodys(tmp_path):
    error = Raw('<c PLACE t="e"><v>#N/A</v></c>')
    rows = [[], ["", "who", "", "who"], [None, "a", "b", "c"], [], ["", "d", error, "e"],
            ["stray", "f", "g", "h"], [None, "i", "j", "k", "stray"], [None, " ", ""]]  # fmt: skip
    write_xlsx(tmp_path / "a.xlsx", {"one": rows})
    sniffed = sniff(tmp_path / "a.xlsx")
    assert sniffed.frame.columns.tolist() == ["who", "Unnamed: 1", "who"]
    assert sniffed.frame.to_numpy().tolist() == [["a", "b", "c"], ["d", "", "e"], [""] * 3, [""] * 3]
    assert sniffed.beyond.tolist() == [False, False, True, True]


@each("write, end", [(write_xlsx, "xlsx"), (write_ods, "ods")])
def test_one_of_several_sheets_is_named(write, end, tmp_path, capsys):
    path = tmp_path / f"a.{end}"
    write(path, {"Read me": [["by who"]], "Answers": [["who", "what"], ["ann", "flu"]], "Empty": []})
    refuse(capsys, tmp_path, path, "2 sheets with cells", "--sheet", "'Read me', 'Answers'")
    refuse(capsys, tmp_path, path, "sheet = 'answers'", "'Answers', 'Empty'", more=["--sheet", "answers"])
    refuse(capsys, tmp_path, path, "empty", more=["--sheet", "Empty"])
    refuse(capsys, tmp_path, path, "encoding = 'cp1252'", "of which it says nothing", more=["--encoding", "cp1252"])
    plan = tmp_path / "plan.toml"
    assert run(capsys, "check", *flags(path, "--sheet", "Answers"), "--out", plan)[0] == 0
    plan_of = Declaration.from_toml(plan)
    assert plan_of.layout == {"sheet": "Answers"}
    assert plan_of.read(path).kept == 1
    assert "Answers" not in plan_of.public_toml()
    counts = tmp_path / f"c.{end}.json"
    out, more = tmp_path / f"r.{end}.json", ["--k", "1", "--epsilon", "1"]
    assert run(capsys, "release", "topk", path, "--plan", plan, *more, "--out", out)[0] == 0
    assert "Answers" not in out.read_text()
    assert run(capsys, "count", path, "--plan", plan, "--per-person", "1", "--out", counts)[0] == 0
    assert "Answers" not in counts.read_text()
    assert run(capsys, "release", "topk", "--counts", counts, "--plan", plan, *more)[0] == 0


@each("far", ["B51", "AZ2"])
def test_a_cell_far_from_the_table_is_told_before_room_is_made_for_it(far, tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_CELLS", 100)
    path = tmp_path / "far.xlsx"
    write_xlsx(path, {"one": [["who", "what"], ["ann", "flu"]]})
    assert sniff(path).frame["who"].tolist() == ["ann"]
    write_xlsx(path, {"one": [["who", "what"], ["ann", Raw(f'<c r="{far}"><v>1</v></c>')]]})
    with refused("far.xlsx", "which is more than 100 places"):
        sniff(path)


def test_a_reader_that_gives_up_is_a_damaged_file(tmp_path, monkeypatch):
    def gives_up(path):
        raise PanicException

    write_xlsx(tmp_path / "a.xlsx", {"one": [["who"], ["ann"]]})
    monkeypatch.setattr("python_calamine.load_workbook", gives_up)
    with refused("a.xlsx is damaged"):
        sniff(tmp_path / "a.xlsx")


def test_nothing_packed_takes_the_machine(tmp_path, monkeypatch):
    for module in (packed, workbooks):
        monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    write_xlsx(tmp_path / "a.xlsx", {"one": [["who"], ["x" * (1 << 16)]]})
    for name, pack in (("a.csv.gz", gzip.compress), ("a.csv.zst", of_zstd)):
        (tmp_path / name).write_bytes(pack(b"who\n" + b"\0" * (1 << 16)))
    for name in ("a.xlsx", "a.csv.gz", "a.csv.zst"):
        with refused(name, "unpacks to more than"):
            sniff(tmp_path / name)


def test_only_text_is_read_packed(tmp_path):
    for end in (".xlsx", ".parquet", ".csv.gz"):
        WRITERS[end](tmp_path / f"a{end}", ["who"], [["ann"]])
        for name, pack in (("b.csv.gz", gzip.compress), ("b.csv.zst", of_zstd)):
            (tmp_path / name).write_bytes(pack((tmp_path / f"a{end}").read_bytes()))
            with refused(name, "only text is read so"):
                sniff(tmp_path / name)
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a,b\tc,d\n1\t2\n"))
    assert sniff(tmp_path / "a.tsv.gz").frame.columns.tolist() == ["a,b", "c,d"]
    (tmp_path / "two.csv.gz").write_bytes(gzip.compress(b"who\nann\n") + gzip.compress(b"bob\n"))
    assert sniff(tmp_path / "two.csv.gz").frame["who"].tolist() == ["ann", "bob"]


@each("module, end, extra", [("python_calamine", ".xlsx", "sheets"), ("pyarrow", ".csv.zst", "parquet"),
                                ("pyreadstat", ".dta", "statistics"), ("pyarrow", ".feather", "parquet")])  # fmt: skip
def test_what_is_absent_is_named(module, end, extra, tmp_path, monkeypatch):
    WRITERS[end](tmp_path / f"a{end}", ["who"], [["ann"]])
    monkeypatch.setitem(sys.modules, module, None)
    with refused(f"a{end}", f"pip install 'dprank[{extra}]'"):
        sniff(tmp_path / f"a{end}")


LAYOUTS = {
    "title": ({"skip": 2}, 'A title, "or two"\n\nwho,what\nann,flu\n', ["who", "what"], [["ann", "flu"]]),
    "sep": ({"skip": 1}, "A title\nsep=;\nwho;what\nann;flu\n", ["who", "what"], [["ann", "flu"]]),
    "cp1252": ({"encoding": "cp1252"}, b"who,caf\xe9\nann,\x93x\x94\n", ["who", "café"], [["ann", "“x”"]]),
    "undefined": ({"encoding": "windows-1252"}, b"who,what\nann,\x81\n", ["who", "what"], [["ann", "\\x81"]]),
    "surveymonkey": (
        {"header": 2},
        'ID,"Rank, please",,,Why?\n,weir,quarry,orchard,Open-Ended\n1,1,2,3,x\n',
        ["ID", "weir", "quarry", "orchard", "Why?"],
        [["1", "1", "2", "3", "x"]],
    ),
    "asked twice": (
        {"header": 2},
        "First,,Then,\na,b,a,b\n1,2,3,4\n",
        ["First a", "First b", "Then a", "Then b"],
        [["1", "2", "3", "4"]],
    ),
    "qualtrics": (
        {"header": 3},
        'id,Q1\n"Response\nID","Rank, please"\n"{""ImportId"":""_id""}","{""ImportId"":""QID1""}"\n1,2\n',
        ["id", "Q1"],
        [["1", "2"]],
    ),
}  # fmt: skip


@each("layout, text, header, rows", list(LAYOUTS.values()))
def test_a_layout_is_declared(layout, text, header, rows, tmp_path):
    raw = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "a.csv").write_bytes(raw)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(raw))
    for name in ("a.csv", "a.csv.gz"):
        for plain in (False, True):
            sniffed = sniff(tmp_path / name, layout=Layout(**layout), plain=plain)
            assert list(sniffed.frame.columns) == header
            assert [list(it) for it in zip(*(sniffed.frame[it].to_numpy() for it in header), strict=True)] == rows
    if "encoding" not in layout:
        grid = list(csv.reader(io.StringIO(text)))
        if not text.startswith("A title\n"):
            write_xlsx(tmp_path / "a.xlsx", {"one": grid})
            assert sniff(tmp_path / "a.xlsx", layout=Layout(**layout)).frame.columns.tolist() == header


@each("words, said", [
    (["--encoding", "rot13"], "encoding = 'rot13'"), (["--skip", "-1"], "skip = -1"), (["--header", "4"], "header = 4"),
    (["--sheet", "x"], "sheet = 'x'"), (["--skip", "9"], "below the 9 lines"), (["--encoding", "utf-16-le"], "a.csv"),
])  # fmt: skip
def test_a_layout_that_does_not_fit_is_one_line(words, said, tmp_path, capsys):
    (tmp_path / "a.csv").write_text("who,what\nann,flu\n")
    refuse(capsys, tmp_path, tmp_path / "a.csv", said, more=words)


def test_bytes_of_a_header_name_the_flag(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes("who,what,caf\xe9\nann,flu,1\n".encode("cp1252"))
    refuse(capsys, tmp_path, path, "a.csv: line 1 is not UTF-8", "--encoding, as cp1252")
    assert run(capsys, "check", *flags(path, "--encoding", "cp1252"))[0] == 0
    path.write_bytes(b"\xef\xbb\xbfwho,what\nann,flu\n")
    refuse(capsys, tmp_path, path, "begins with the mark of UTF-8", more=["--encoding", "cp1252"])
    (tmp_path / "a.soc").write_text("# FILE NAME: a.soc\n")
    with refused("layout = 'skip'", "PrefLib"):
        Declaration(kind="ballots", items=["a", "b"], form="preflib", ballots="full", layout={"skip": 1})


@pytest.mark.parametrize("key", [{"page": 1}, {"skip": "1"}, {"sheet": 3}, {"header": True}, {"encoding": ""}])
def test_a_plan_with_another_layout_is_refused(key):
    with refused(next(iter(key))):
        Declaration(kind="ballots", items=["a", "b"], layout=key)


WHO = Declaration(kind="tallies", items=["1", "2"], person="who", columns=("what",))
ROWS = ["no json", "[1]", "7", '{"who": "b", "what": [1]}', '{"who": "b", "who": "c", "what": 1}', '{"what": 1}',
        "{" * 5000, '{"who": "b", "what": "\\ud800"}', '{"who": "b", "what": 9e999}', '{"who": 1e16, "what": 1}',
        '{"who": "b", "what": NaN}', '{"who": "b"', "", '{"who": ' + "9" * 5000 + "}", '{"k' + "7" * 99 + '": {}}',
        json.dumps(dict.fromkeys(map(str, range(1001)), 1) | {"who": "b", "what": 1})]  # fmt: skip


@each("row", ROWS)
def test_no_record_of_a_line_refuses_a_file_or_changes_another(row, tmp_path):
    for at in range(3):
        lines = ['{"who": "a", "what": 1}', '{"what": 2.0, "who": 3}']
        lines.insert(at, row)
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        intake = WHO.read(tmp_path / "a.jsonl")
        assert intake.kept == 2
        assert sorted(intake.data.item.tolist()) == [0, 1]


def test_bytes_of_json_that_are_no_text(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"who": "a\xff", "what": "1"}\n{"who": "a\xfe", "what": "1"}\n')
    assert sniff(tmp_path / "a.jsonl").frame["who"].tolist() == ["a\\xff", "a\\xfe"]
    (tmp_path / "a.json").write_bytes(json.dumps([{"é": "ü"}], ensure_ascii=False).encode("cp1252"))
    assert sniff(tmp_path / "a.json", layout=Layout(encoding="cp1252")).frame.to_dict("list") == {"é": ["ü"]}
    (tmp_path / "a.json").write_bytes(b"\xff\xfe" + json.dumps([{"é": "ü"}]).encode("utf-16-le"))
    assert sniff(tmp_path / "a.json").frame.to_dict("list") == {"é": ["ü"]}


@each("text, said", [
    ('{"total": 2, "rows": [{"a": 1}, {"a": 2}]}', 2), ('{"a": 1}\n{"a": 2}\n', 2), ('{"x": 1}\n]', 2),
    (' [\n {"a": 1}, {"a": 2}]', 2), ('{"x": [{"a": 1}], "y": [{"a": 2}]}', 1), ('7', "without records"),
    ("[]", 0), ('{"rows": []}', 0), ("[[1, 2]]", 1), ('["a", {"a": 1}]', 2), ("[{]", "damaged"),
    ("[" * 9999, "damaged"),
])  # fmt: skip
def test_what_of_json_is_a_table(text, said, tmp_path):
    (tmp_path / "a.json").write_text(text)
    if isinstance(said, int):
        assert len(sniff(tmp_path / "a.json").frame) == said
    else:
        with refused("a.json", said):
            sniff(tmp_path / "a.json")


def test_no_record_decides_which_items_there_are(tmp_path, capsys):
    """Where a program leaves out what is empty, the last who ranks an item must not be told by a refusal."""
    path, said = tmp_path / "a.jsonl", []
    for last in ('{"who": "b", "oak": 1, "yew": 2}', '{"who": "b", "oak": 1}', "{}"):
        path.write_text('{"who": "a", "oak": 1}\n' + last)
        declared = Declaration(kind="ballots", items=["oak", "yew"], ballots="partial", unranked="last")
        assert declared.read(path).data.places.tolist()[0] == [0, 1]
        words = ["--wide", "--items", "oak,yew", "--ballots", "partial", "--unranked", "last"]
        code = run(capsys, "release", "consensus", path, *words, "--epsilon", "1000")[0]
        assert code == 0
        said.append(run(capsys, "check", path, *words)[1])
    assert ["no record has 'yew'" in it for it in said] == [False, True, True]


#: Lists of records, and whether `who` or `what` is a key of none.
RECORDS = {
    "[]": True, '[{"who": "a", "what": "oak"}]': False, "[{}]": True, '["who"]': True,
    '[{"what": "oak"}, {"who": 1}, 7]': False, '[{"who": 1, "WHO": 2}, {"who": 3, "what": "oak", "x": [1]}]': False,
}  # fmt: skip


@each("rows, lacks", RECORDS.items())
@each("end", [".json", ".jsonl"])
def test_no_record_decides_whether_a_file_is_refused(rows, lacks, end, tmp_path, capsys):
    """Nobody, somebody alone, and what is no record: all are released, and only `check` says which keys none has."""
    path = tmp_path / f"a{end}"
    path.write_text(rows if end == ".json" else "\n".join(map(json.dumps, json.loads(rows))))
    more = ["--items", "oak,yew", "--person", "who", "--item", "what"]
    assert run(capsys, "release", "topk", path, *more, "--k", "1", "--epsilon", "1000")[0] == 0
    code, out = run(capsys, "check", path, *more)[:2]
    assert (code, "no record has" in out) == (0, lacks)


def test_keys_alike_are_one_column_and_two_filled_are_none(tmp_path):
    records = [{"Who": 1, "what": 1}, {"who ": 2, "what": 1}, {"who": 3, "WHO": 4, "what": 1}]
    (tmp_path / "a.json").write_text(json.dumps(records))
    taken = replace(WHO, clean=("strip", "casefold")).read(tmp_path / "a.json")
    assert (taken.kept, taken.left_out["no person"]) == (2, 1)


def test_arrow_as_parquet_and_bytes_beyond_it(tmp_path):
    """Every type of column is read as in Parquet; a file whose places of texts are wrong is refused, not followed."""
    for kind, (column, _) in TYPES.items():
        table = pa.table({"x": column})
        feather.write_feather(table, str(tmp_path / "a.feather"))
        pq.write_table(table, tmp_path / "a.parquet")
        one, other = sniff(tmp_path / "a.feather"), sniff(tmp_path / "a.parquet")
        assert one.frame.to_dict("list") == other.frame.to_dict("list"), kind
    broken = pa.array([b"a\xff", b"b"]).view(pa.string())
    write_stream(tmp_path / "a.arrows", ["x"], [])
    table = pa.table({"x": broken, "t": pa.array([[1], [2]])})
    with pa.OSFile(str(tmp_path / "a.arrows"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    sniffed = sniff(tmp_path / "a.arrows")
    assert (sniffed.frame["x"].tolist(), list(sniffed.others)) == (["a\\xff", "b"], ["t"])
    feather.write_feather(
        as_arrow(["x", "y"], [["who", "1"]] * 20), str(tmp_path / "b.feather"), compression="uncompressed"
    )
    whole, rng, said = (tmp_path / "b.feather").read_bytes(), np.random.default_rng(1), set()
    for _ in range(300):
        raw = bytearray(whole)
        for at in rng.integers(8, len(raw), 3):
            raw[at] = rng.integers(256)
        (tmp_path / "b.feather").write_bytes(raw)
        try:
            sniff(tmp_path / "b.feather")
        except ValueError as error:
            said.add(str(error).replace(str(tmp_path), ""))
    assert {it.partition(";")[0] for it in said} == {"/b.feather is no Arrow table"}


def test_values_have_labels_and_dates_are_dates(tmp_path):
    frame = pd.DataFrame(
        {
            "who": ["é", "b", "", "ü"],
            "x": [1.0, 2.0, np.nan, 4.0],
            "n": [1.5, 2.0, 99.0, 2.0**53],
            "two": [1.0, 2.0, 3.0, 1.0],
            "day": [date(2026, 1, 2), None, date(1, 1, 1), date(1999, 12, 31)],
            "time": [datetime(2026, 1, 2, 3, 4, 5), None, datetime(1960, 1, 1), datetime(1959, 1, 1, 12)],
        }
    )
    labels = {"x": {1: "oäk", 2: "elm"}, "two": {1: "same", 2: "same", 3: "other"}}
    expected = {
        "who": ["é", "b", "", "ü"],
        "x": ["oäk", "elm", "", "4"],
        "n": ["1.5", "2", "99", "9007199254740992"],
        "two": ["1", "2", "other", "1"],
        "day": ["2026-01-02", "", "0001-01-01", "1999-12-31"],
        "time": ["2026-01-02 03:04:05", "", "1960-01-01", "1959-01-01 12:00:00"],
    }
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels)
    pyreadstat.write_dta(frame, tmp_path / "a.dta", variable_value_labels=labels)
    for name in ("a.sav", "a.dta"):
        sniffed = sniff(tmp_path / name, lambda name: name == "n")
        assert sniffed.frame.to_dict("list") == expected | {"n": ["1.5", "2", "99", ""]}
    pyreadstat.write_sav(frame, tmp_path / "b.sav", missing_ranges={"n": [99]})
    assert sniff(tmp_path / "b.sav").frame["n"].tolist() == ["1.5", "2", "", "9007199254740992"]


def test_a_cell_of_spss_refuses_nothing(tmp_path):
    """A day that no calendar has, and a byte that is no text, are what they are in their own cells alone."""
    frame = pd.DataFrame({"day": [date(2026, 1, 2)] * 3, "who": ["ann", "bob", "cyd"]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav")
    raw, day = (tmp_path / "a.sav").read_bytes(), struct.pack("<d", 13986691200.0)
    assert (raw.count(day), raw.count(b"bob")) == (3, 1)
    for value, text in ((1e20, "1e+20"), (math.inf, "inf"), (-1e12, "-1000000000000"), (math.nan, "")):
        (tmp_path / "b.sav").write_bytes(raw.replace(day, struct.pack("<d", value), 1).replace(b"bob", b"b\xe9b"))
        sniffed = sniff(tmp_path / "b.sav")
        assert sniffed.frame.to_dict("list") == {"day": [text, *["2026-01-02"] * 2], "who": ["ann", "b\\xe9b", "cyd"]}
    assert sniff(tmp_path / "b.sav", layout=Layout(encoding="cp1252")).frame["who"].tolist() == ["ann", "béb", "cyd"]


def test_what_ends_a_reader_of_c_ends_not_this_one(tmp_path, monkeypatch):
    pyreadstat.write_sav(pd.DataFrame({"who": ["ann"]}), tmp_path / "a.sav")
    monkeypatch.setattr(statistics, "_PROGRAM", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    with refused("a.sav is damaged", "file of SPSS"):
        sniff(tmp_path / "a.sav")


@each("name", ["a.rds", "a.rda", "a.RData", "a.csv.gz"])
def test_a_file_of_r_is_told_how_to_become_parquet(name, tmp_path):
    for raw in (b"RDX3\nX\n\0\0\0\3", b"X\n\0\0\0\3", b"BZh91AY&"):
        for kept in (raw, gzip.compress(raw)):
            (tmp_path / name).write_bytes(kept)
            with refused(name, "" if name == "a.csv.gz" else "arrow::write_parquet(x, 'x.parquet')"):
                sniff(tmp_path / name)


def test_a_folder_and_a_pattern_of_parquet_are_one_table(tmp_path, capsys):
    folder = tmp_path / "parts"
    folder.mkdir()
    rows = [[f"p{at}", "flu" if at % 3 else "gout"] for at in range(30)]
    for at in range(3):
        WRITERS[".parquet"](folder / f"part-{at}.parquet", ["who", "what"], rows[10 * at : 10 * at + 10])
    for other in ("_SUCCESS", ".part-0.parquet.crc", "README.txt"):
        (folder / other).write_text("x")
    assert sniff(folder).frame.to_numpy().tolist() == rows
    for path in (folder, folder / "part-*.parquet"):
        assert "file: Parquet, 3 files" in run(capsys, "check", *flags(path))[1]
        budget = tmp_path / f"{len(path.name)}.sqlite"
        run(capsys, "budget", budget, "--epsilon", "1000")
        release = ["release", "topk", *flags(path), "--k", "1", "--epsilon", "100", "--budget", budget]
        assert "flu is the most frequent" in run(capsys, *release)[1]
        for engine in ("numpy", "duckdb"):
            out = tmp_path / f"{budget.stem}{engine}.json"
            assert run(capsys, "count", *flags(path), "--per-person", "1", "--engine", engine, "--out", out)[0] == 0
            assert json.loads(out.read_text())["counts"]["persons"] == [20, 10]
        budget.unlink()
    refuse(capsys, tmp_path, folder, "sheet = 'x'", more=["--sheet", "x"])
    refuse(capsys, tmp_path, tmp_path / "none-*.parquet", "No such file")
    os.link(folder / "part-0.parquet", folder / "part-9.parquet")
    refuse(capsys, tmp_path, folder, "part-9.parquet is", "again")
    (folder / "part-9.parquet").unlink()
    pq.write_table(pa.table({"who": [1], "why": ["flu"]}), folder / "part-9.parquet")
    refuse(capsys, tmp_path, folder, "part-9.parquet has other columns")
    (folder / "part-9.parquet").write_bytes(b"PAR1")
    refuse(capsys, tmp_path, folder, "part-9.parquet is no Parquet")
    (tmp_path / "nothing").mkdir()
    refuse(capsys, tmp_path, tmp_path / "nothing", "is a folder")


@each("end", [".csv", ".csv.gz", ".xlsx", ".jsonl", ".parquet"])
def test_standard_input_is_a_file_like_others(end, tmp_path, capsys, monkeypatch):
    WRITERS[end](tmp_path / f"a{end}", ["who", "what"], [["ann", "flu"], ["bob", "flu"]])
    raw = (tmp_path / f"a{end}").read_bytes()

    def typed(*words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        return run(capsys, *words)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir(exist_ok=True)
    assert "people: 2" in typed("check", *flags("-"))[1]
    assert "flu is the most frequent" in typed("release", "topk", *flags("-"), "--k", "1", "--epsilon", "50")[1]
    if end not in (".csv.gz", ".xlsx"):
        code, out, error = typed("check", *flags("-", "--sheet", "x"))
        assert (code, out) == (2, "")
        assert error.startswith("dprank: sheet = 'x'; standard input is ")
    budget = tmp_path / f"b{end}.sqlite"
    run(capsys, "budget", budget, "--epsilon", "9")
    words = ["release", "topk", *flags("-"), "--k", "1", "--epsilon", "1", "--budget", budget]
    assert "dataset is missing" in typed(*words)[2]
    assert typed(*words, "--dataset", "clinic")[0] == 0
    assert not os.listdir(tmp_path / "spool")


def write_sqlite(path, header, rows):
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE votes ({', '.join(header)})")
        database.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * len(header))})", rows)
        database.commit()


def write_duckdb(path, header, rows):
    with closing(duckdb.connect(path)) as database:
        database.execute(f"CREATE TABLE votes ({', '.join(f'{it} VARCHAR' for it in header)})")
        database.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * len(header))})", rows)


DATABASES = {".sqlite": write_sqlite, ".db": write_sqlite, ".duckdb": write_duckdb, ".x": write_duckdb}


@each("end, write", list(DATABASES.items()))
def test_a_query_gives_the_rows_of_a_database(end, write, tmp_path, capsys):
    cells = [CELLS_OF[at % len(CELLS_OF)] for at in range(60)]
    rows, header = [cells[at : at + 4] for at in range(50)], ["who", "l", "r", "won"]
    path, table = tmp_path / f"a{end}", tmp_path / "a.csv"
    WRITERS[".csv"](table, header, rows)
    write(path, header, rows)
    asked = replace(ANSWERS, layout={"sql": "SELECT won, r, l, who FROM votes"})
    one, other = count(path, asked, per_person=2), count(table, ANSWERS, per_person=2)
    assert (one.sums, one.left_out) == (other.sums, other.left_out)
    words = ["--comparisons", "l,r,won", "--items", ",".join(ITEMS), "--map", "1=1,2=0,==0.5", "--protect", "answer"]
    release = ["release", "ranking", path, *words, "--epsilon", "1", "--json"]
    code, out, _ = run(capsys, *release, "--sql", "SELECT * FROM votes WHERE who <> 'SECRET'")
    assert (code, "SECRET" in out) == (0, False)
    assert json.loads(out)["rules"]["rows"].startswith("those that a query")
    (tmp_path / "r.json").unlink(missing_ok=True)
    (tmp_path / "r.json").write_text(out)
    assert run(capsys, "verify", tmp_path / "r.json")[0] == 0


@each("end, write", list(DATABASES.items())[1:3])
def test_a_query_that_is_none_is_one_line(end, write, tmp_path, capsys):
    path = tmp_path / f"a{end}"
    write(path, ["who", "what"], [["ann", "flu"], ["bob", "gout"]])
    before = path.read_bytes()

    def wrong(query, *words):
        refuse(capsys, tmp_path, path, *words, more=["--sql", query] if query else [])

    wrong(None, "is a database; say with --sql", "of votes")
    wrong("select nobody from votes", "sql", "nobody")
    wrong("select what from votes", "'who'")
    wrong("select who, who, what from votes", "2 columns are called 'who'")
    for query in ("drop table votes", "select 1; drop table votes", "delete from votes returning *", "", "selec"):
        wrong(query or " ", "sql")
    wrong("drop table votes", "one that begins with select is needed")
    wrong(f"attach '{tmp_path / 'c.db'}' as c", "sql")
    wrong("select * from read_csv('/etc/passwd')", "sql")
    assert not (tmp_path / "c.db").exists()
    assert path.read_bytes() == before
    path.write_bytes(before[:100])
    wrong("select * from votes", "damaged")
    path.write_bytes(as_csv(["who", "what"], []))
    wrong("select * from votes", f"a{end} is called as", "begins as none does")


def test_cells_of_a_query_are_read_by_themselves(tmp_path):
    with closing(duckdb.connect(tmp_path / "a.duckdb")) as database:
        database.execute(
            "CREATE TABLE t AS SELECT 1.00::DECIMAL(5, 2) AS d, 2.0::DOUBLE AS f, DATE '2026-01-02' AS day, true AS b, "
            "TIMESTAMP '2026-01-02 03:04:05' AS t, '002468ac-f135-49bd-a246-8acf13579bde'::UUID AS u, NULL AS n, "
            "[1] AS l"
        )
    found = sniff(tmp_path / "a.duckdb", layout=Layout(sql="SELECT * FROM t")).frame.to_dict("list")
    assert {key: it for key, (it,) in found.items()} == {
        "d": "1", "f": "2", "day": "2026-01-02", "b": "TRUE", "t": "2026-01-02 03:04:05",
        "u": "002468ac-f135-49bd-a246-8acf13579bde", "n": "", "l": "",
    }  # fmt: skip
    write_sqlite(tmp_path / "a.db", ["x", "y"], [(1.0, "a"), ("1", "a"), (b"b\xff", "a"), (None, "a"), (2**60, "a")])
    found = sniff(tmp_path / "a.db", layout=Layout(sql="SELECT x FROM votes")).frame["x"].tolist()
    assert found == ["1", "1", "b\\xff", "", str(2**60)]


def test_what_one_person_writes_refuses_no_container(tmp_path):
    """A moment of no calendar, a text that looks as the place of a cell, an object of people, a type of one file."""
    path = tmp_path / "a.xlsx"
    far = "x r=\"XFD1048576\" <c r='XFD1048576'"
    write_xlsx(path, {"one": [["who", "what"], ["ann", far], ["bob", "oak"]]})
    assert sniff(path).frame["what"].tolist() == [far, "oak"]
    people = '{"a": {"who": 1, "what": "oak"}, "b": [{"who": 2, "what": "oak"}]}'
    (tmp_path / "a.json").write_text(people)
    declared = Declaration(kind="tallies", items=["oak", "elm"], person="who", columns=("what",))
    assert declared.read(tmp_path / "a.json").kept == 0
    (tmp_path / "parts").mkdir()
    for at, why in enumerate((["x"], [None])):
        frame = pd.DataFrame({"who": [1 + at], "why": why})
        frame.to_parquet(tmp_path / "parts" / f"{at}.parquet")
    assert sniff(tmp_path / "parts").frame["who"].tolist() == ["1", "2"]
    pd.DataFrame({"who": [3.0, None], "why": ["y", "z"]}).to_parquet(tmp_path / "parts" / "2.parquet")
    assert sniff(tmp_path / "parts").frame["who"].tolist() == ["1", "2", "3", ""]
    pd.DataFrame({"who": ["03"], "why": ["y"]}).to_parquet(tmp_path / "parts" / "3.parquet")
    with refused("3.parquet has other columns, or of another kind"):
        sniff(tmp_path / "parts")
    (tmp_path / "parts" / "3.parquet").unlink()
    (tmp_path / "a.csv").write_text("who,car,DUCK\n1,2,3\n")
    assert sniff(tmp_path / "a.csv").frame.columns.tolist() == ["who", "car", "DUCK"]
    (tmp_path / "parts" / "more.csv").write_text("who,why\n3,y\n")
    with refused("parts", "another table: more.csv"):
        sniff(tmp_path / "parts")


class PanicException(BaseException):
    """As compiled readers raise it."""


@each("error", [OverflowError, PanicException])
def test_a_row_that_its_reader_gives_up_is_empty(error):
    class Sheet:
        start = (1, 0)

        def to_python(self, **_):
            raise error

        def iter_rows(self):
            return iter(self)

        def __init__(self):
            self.rows = [["who"], None, ["bob"]]

        def __iter__(self):
            return self

        def __next__(self):
            if not self.rows:
                raise StopIteration
            if (row := self.rows.pop(0)) is None:
                raise error
            return row

    assert workbooks._rows(Sheet()) == [[], ["who"], [], ["bob"]]


def test_no_word_of_a_row_is_told_of_a_query(tmp_path, capsys):
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (who, what, p)")
        database.execute("INSERT INTO t VALUES (1, 'flu', 'ann smith')")
        database.commit()
    query = "select who, what from t where json_extract('{}', p) is null"
    code, out, error = run(capsys, "check", *flags(path, "--sql", query))
    assert (code, out) == (2, "")
    assert "it fails at a row" in error
    assert "ann" not in error.replace(str(tmp_path), "")
