"""The command line takes every form of ballots, or refuses the file in one line: nothing spent, nobody named."""

import json
import os
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checks import each
from hypothesis import given, settings
from hypothesis import strategies as st

import dprank
from dprank.cli.path import said
from dprank.publication import read_publication
from dprank.report import report

ITEMS = "roads,schools,parks,debt"
TOC = ["--items", ITEMS, "--ballots", "tied"]
#: How each form is told at the command line.
FORMS = {
    "wide": ["--wide"],
    "long": ["--long", "thing,place", "--ballots", "partial", "--unranked", "apart"],
    "orders": ["--orders", "vote", "--ballots", "partial", "--unranked", "last"],
    "weighted": ["--wide", "--ballots", "tied", "--weight", "heavy", "--max-weight", "3"],
}
NAMED = ["--items", ITEMS, "--person", "who"]
TALLIES = ["--item", "diagnosis", "--items", "flu,gout,kuru", "--person", "who"]
TOP = ["--k", "2"]
#: The columns of a questionnaire, which link all of its items.
ASKED = "Pay vs Hours,Hours vs Canteen"
ANSWERS = ["--pairs", "all", "--items", "Pay,Hours,Canteen", "--person", "who", "--map", "left=1,right=0"]


@pytest.fixture
def budget(tmp_path):
    path = tmp_path / "budget.sqlite"
    dprank.Budget(path, epsilon=100.0)
    return path


@pytest.mark.slow
def test_check_then_release_of_a_file_with_ties(tmp_path, budget):
    """Two commands from a file of PrefLib to a published order."""
    city, plan, out = dprank.example("city.toc"), tmp_path / "plan.toml", tmp_path / "release.json"
    done = said("check", city, *TOC, "--out", plan)
    assert (done.code, done.error) == (0, "")
    assert "not for publication" in done.out
    assert "ballots: 250" in done.out
    words = ["release", "consensus", city, "--plan", plan, "--epsilon", "1", "--budget", budget, "--out", out]
    assert "name nobody" in said(*words).error, "a budget of persons asks for a word"
    done = said(*words, "--protect", "ballot")
    assert (done.code, done.error) == (0, "")
    file = json.loads(out.read_text())
    release = read_publication(out.read_text())
    assert release.ranking[0] == "schools"
    assert release.mechanism.ballots == "partial"
    assert file["protects"].startswith("What one ballot says")
    assert any("several ballots" in line for line in file["not protected"])
    assert file["rules"]["ballots"] == "all items, with ties"
    assert "one ballot" in report(out.read_text())
    assert "Ballots: all items, with ties." in report(out.read_text())
    # a digest may hold any three figures
    assert "250" not in json.dumps({key: it for key, it in file.items() if key not in ("software", "receipt")})


def test_items_of_the_file_are_taken_by_an_act_of_the_user_only():
    city = dprank.example("city.toc")
    done = said("release", "consensus", city, "--epsilon", "1")
    assert done.code == 2
    assert "--items" in done.error
    assert "roads" not in done.error
    done = said("release", "consensus", city, "--items", city, "--epsilon", "1")
    assert done.code == 2
    assert "--ballots full" in done.error
    done = said("release", "consensus", city, "--items", city, "--ballots", "tied", "--epsilon", "1", "--json")
    assert done.code == 0
    assert "taken as public" in done.error
    assert len(done.error.splitlines()) == 1
    done = said("release", "consensus", city, "--items", city, "--ballots", "partial", "--epsilon", "1")
    assert "--unranked apart" in done.error
    assert "--unranked last" in done.error


@pytest.mark.slow
def test_a_file_that_claims_that_one_person_is_protected_where_one_ballot_is(tmp_path):
    out, city = tmp_path / "release.json", dprank.example("city.toc")
    said("release", "consensus", city, *TOC, "--epsilon", "1", "--out", out)
    file = json.loads(out.read_text())
    for lie in (
        {"not protected": file["not protected"][:2]},
        {"not protected": 5},
        {"protects": "everything"},
        {"protects": ["a"]},
    ):
        out.write_text(json.dumps(file | lie))
        done = said("verify", out)
        assert done.code == 2, lie
        assert len(done.error.splitlines()) == 1


def csv(*rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


GOOD = {
    "wide": csv(("who", *ITEMS.split(",")), *((f"SECRET {v}", 1, 2, 3, 4) for v in range(9))),
    "long": csv(
        ("who", "thing", "place"),
        *((f"SECRET {v}", it, at) for v in range(9) for at, it in enumerate(ITEMS.split(","), 1)),
    ),
    "orders": csv(("who", "vote"), *((f"SECRET {v}", "roads > parks = debt") for v in range(9))),
    "weighted": csv(("who", *ITEMS.split(","), "heavy"), *((f"SECRET {v}", 1, 2, 2, 4, v) for v in range(9))),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_at_the_command_line(form, tmp_path):
    path, plan = tmp_path / "data.csv", tmp_path / "plan.toml"
    path.write_text(GOOD[form], encoding="utf-8")
    done = said("check", path, *FORMS[form], *NAMED, "--out", plan, "--json")
    assert (done.code, done.error) == (0, "")
    found = json.loads(done.out)
    assert found["ballots"] == 9
    assert found["rows"] == found["rows that count"]
    by_plan = said("release", "consensus", path, "--plan", plan, "--epsilon", "1", "--json")
    by_flags = said("release", "consensus", path, *FORMS[form], *NAMED, "--epsilon", "1", "--json")
    assert (by_plan.code, by_flags.code) == (0, 0)
    one, other = (json.loads(it.out) for it in (by_plan, by_flags))
    assert one["declaration"] == other["declaration"]
    assert one["protects"].startswith("What one person contributed")
    mechanism = read_publication(by_flags.out).mechanism
    assert mechanism.ballots == ("full" if form == "wide" else "partial")
    assert mechanism.max_weight == (3 if form == "weighted" else 1)


def test_a_questionnaire_with_a_column_a_pair(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(csv(("who", "Pay vs Hours", "Hours vs Canteen"), *((f"p{v}", "left", "right") for v in range(9))))
    words = ["release", "ranking", path, "--epsilon", "1", "--answers", "2", "--json"]
    done = said(*words, *ANSWERS, "--protect", "person")
    assert (done.code, done.error) == (0, "")
    nobody = [word for word in ANSWERS if word not in ("--person", "who")]
    done = said(*words, *nobody, "--protect", "ballot")
    assert done.code == 0
    assert json.loads(done.out)["protects"].startswith("What one questionnaire says")
    done = said(*words, *nobody, "--protect", "person")
    assert done.code == 2
    assert "one filled-in questionnaire" in done.error
    done = said("check", path, *nobody, "--json")
    assert json.loads(done.out)["questionnaires"] == 9


@each(
    "words, about",
    [
        (["consensus", *NAMED, *FORMS["long"], "--orders", "vote"], "--long, --orders say different things"),
        (["consensus", *NAMED, "--long", "thing"], "item, place"),
        (["consensus", *NAMED, "--long", "thing,place"], "--ballots full"),
        (["consensus", *NAMED, "--ballots", "partial"], "--unranked apart"),
        (["consensus", *NAMED, "--ballots", "some"], "allowed are 'full', 'tied', 'partial'"),
        (["consensus", *NAMED, "--weight", "heavy"], "max_weight"),
        (["consensus", *NAMED, "--weight", "heavy", "--max-weight", "0"], "max_weight = 0"),
        (["consensus", *NAMED, "--repeated", "all"], "allowed are 'one', 'none'"),
        (["consensus", *NAMED, "--ballot", "x"], "only long ballots"),
        (["agreement", *NAMED, "--voters", "9", "--ballots", "tied"], "takes full ones"),
        (["ranking", "--pairs", "Pay", "--items", "Pay,Hours", "--protect", "answer"], "like 'Pay vs Hours'"),
        (["ranking", "--pairs", "all", "--comparisons", "a,b", "--items", "a,b", "--protect", "answer"], "of them"),
    ],
)  # fmt: skip
def test_flags_that_cannot_be_meant(tmp_path_factory, words, about):
    path = tmp_path_factory.mktemp("p") / "data.csv"
    path.write_text(GOOD["wide"], encoding="utf-8")
    done = said("release", words[0], path, *words[1:], "--epsilon", "1")
    assert (done.code, done.out) == (2, "")
    assert about in done.error
    assert len(done.error.splitlines()) == 1


def test_a_plan_of_another_kind_is_refused(tmp_path):
    path, plan = tmp_path / "data.csv", tmp_path / "plan.toml"
    path.write_text(GOOD["wide"], encoding="utf-8")
    said("check", path, *FORMS["wide"], *NAMED, "--out", plan)
    done = said("release", "topk", path, "--plan", plan, *TOP, "--epsilon", "1")
    assert done.code == 2
    assert "kind = 'ballots'" in done.error


#: Words of a command -> name -> content, and what the line says: files that are broken, whoever is in them.
HEAD = "who,roads,schools,parks,debt"
ROW = "SECRET,1,2,3,4"


def lines(*rows):
    return "\n".join(rows).encode()


BROKEN = {
    "wide: empty": ("wide", b"", "empty"),
    "wide: a column missing": ("wide", lines("who,roads,schools,parks", "SECRET,1,2,3"), "no column 'debt'"),
    "wide: a column twice": ("wide", lines(HEAD + ",debt", ROW + ",9"), "2 columns are called"),
    "wide: quote open": ("wide", lines(HEAD.replace("roads", '"roads'), ROW), "quotation mark"),
    "wide: latin-1": ("wide", "Zoë,".encode("latin-1") + lines(HEAD, ROW), "line 1 is not UTF-8"),
    "wide: null": ("wide", lines("SECRET\x00," + HEAD, ROW), "line 1 holds a null"),
    "wide: no person": ("wide", lines("roads,schools,parks,debt", "1,2,3,4"), "no column 'who'"),
    "long: no place": ("long", lines("who,thing", "SECRET,roads"), "no column 'place'"),
    "long: no header": ("long", lines("SECRET,roads,1", "SECRET,parks,2"), "no column"),
    "orders: of another column": ("orders", lines("who,votes", "SECRET,roads>parks"), "no column 'vote'"),
    "weighted: no weight": ("weighted", lines(HEAD, ROW), "no column 'heavy'"),
    "tallies: empty": ("tallies", b"\n", "empty"),
    "tallies: another column": ("tallies", lines("who,item", "SECRET,flu"), "no column 'diagnosis'"),
    "tallies: gzip": ("tallies", b"\x1f\x8b\x08\x00" + b"\x00" * 40, "gzip"),
    "pairs: no pair": ("pairs", lines("who,Pay,Hours", "SECRET,1,2"), "no column is named like"),
    "pairs: an undeclared pair": ("pairs", lines("who,Pay vs Zoo", "SECRET,left"), "no column is named like"),
    "pairs: a column twice": ("pairs", lines("who,Pay vs Hours,Pay vs Hours", "SECRET,left,left"), "2 columns are"),
}
#: Files that are a table. What is wrong in a row is one person's, and left out: to refuse it would tell.
TAKEN = {
    "wide: header only": ("wide", lines(HEAD)),
    "wide: more fields": ("wide", lines(HEAD, ROW, ROW + ",9")),
    "wide: quote open": ("wide", lines(HEAD, '"SECRET,1,2,3,4')),
    "wide: latin-1": ("wide", lines(HEAD, ROW) + "\nZoë SECRET,1,2,3,4".encode("latin-1")),
    "wide: null": ("wide", lines(HEAD, "SECRET\x00,1,2,3,4")),
    "long: more fields": ("long", lines("who,thing,place", "SECRET,roads,1,9")),
    "orders: commas": ("orders", lines("who,vote", "SECRET,roads,parks,debt")),
    "orders: truncated": ("orders", lines("who,vote", 'SECRET,"roads>pa')),
    "tallies: more fields": ("tallies", lines("who,diagnosis", "SECRET,flu,9", "a,gout")),
    "pairs: more fields": ("pairs", lines(f"who,{ASKED}", "SECRET,left,left,9", "a,left,right")),
    "wide: words": ("wide", lines(HEAD, "SECRET,first,second,third,fourth", ROW)),
    "wide: gaps": ("wide", lines(HEAD, "SECRET,1,,3,4", ROW)),
    "wide: fewer fields": ("wide", lines(HEAD, "SECRET,1", ROW)),
    "wide: a tie": ("wide", lines(HEAD, "SECRET,1,1,3,4", ROW)),
    "wide: 0 for the best": ("wide", lines(HEAD, "SECRET,0,1,2,3", ROW)),
    "wide: huge places": ("wide", lines(HEAD, f"SECRET,{2**63},{'9' * 5000},3,4", ROW)),
    "wide: NaN": ("wide", lines(HEAD, "SECRET,nan,inf,-inf,NA", ROW)),
    "wide: nobody": ("wide", lines(HEAD, ",1,2,3,4", ROW)),
    "wide: a person twice": ("wide", lines(HEAD, ROW, ROW.lower(), ROW.upper())),
    "long: unknown items": ("long", lines("who,thing,place", "SECRET,zoo,1", "SECRET,roads,2")),
    "long: an item twice": ("long", lines("who,thing,place", "SECRET,roads,1", "SECRET,roads,2")),
    "long: no place": ("long", lines("who,thing,place", "SECRET,roads,", "SECRET,parks,first", "x,roads,1")),
    "long: header only": ("long", lines("who,thing,place")),
    "long: nobody": ("long", lines("who,thing,place", ",roads,1", "   ,parks,1")),
    "orders: nonsense": ("orders", lines("who,vote", "SECRET,>>>", "a,===", "b,roads parks", "c,roads > roads", "d,")),
    "orders: blank": ("orders", lines("who,vote", "SECRET,", "a,  ")),
    "orders: very long": ("orders", lines("who,vote", "SECRET," + ">".join(["roads"] * 20_000))),
    "orders: header only": ("orders", lines("who,vote")),
    "orders: other signs": ("orders", lines("who,vote", "SECRET,roads ≻ parks", "a,roads＞parks")),
    "weighted: no number": ("weighted", lines(HEAD + ",heavy", ROW + ",SECRET", ROW + ",-1", ROW + ",1e999")),
    "weighted: huge": ("weighted", lines(HEAD + ",heavy", ROW + f",{2**70}", "x,1,2,3,4,1")),
    "weighted: all nothing": ("weighted", lines(HEAD + ",heavy", ROW + ",0")),
    "tallies: unknown": ("tallies", lines("who,diagnosis", "SECRET,SECRET", "a,flu")),
    "tallies: nobody": ("tallies", lines("who,diagnosis", ",flu", "a,flu")),
    "tallies: again": ("tallies", lines("who,diagnosis", *["SECRET,flu"] * 99)),
    "tallies: header only": ("tallies", lines("who,diagnosis")),
    "tallies: a formula": ("tallies", lines("who,diagnosis", '"=SECRET()",flu')),
    "pairs: blank": ("pairs", lines(f"who,{ASKED}", "SECRET,,", "a,left,left")),
    "pairs: nonsense": ("pairs", lines(f"who,{ASKED}", "SECRET,SECRET,left", "a,Canteen,left", "b,left,left")),
    "pairs: header only": ("pairs", lines(f"who,{ASKED}")),
}  # fmt: skip
CHECK = {form: [*words, *NAMED] for form, words in FORMS.items()} | {"tallies": TALLIES, "pairs": ANSWERS}
RELEASE = {form: ["consensus", *words, *NAMED] for form, words in FORMS.items()} | {
    "tallies": ["topk", *TALLIES, *TOP],
    "pairs": ["ranking", *ANSWERS, "--protect", "person", "--answers", "2"],
}


def refused_by(path, budget, check, release, about):
    """Both commands refuse the file in one line, and nothing is spent."""
    before = budget.read_bytes()
    for words in (
        ["check", path, *check],
        ["release", release[0], path, *release[1:], "--epsilon", "1", "--budget", budget],
    ):
        done = said(*words)
        assert (done.code, done.out) == (2, "")
        assert len(done.error.splitlines()) == 1, done.error
        assert path.name in done.error
        assert about in done.error
        assert "SECRET" not in done.error
        assert len(done.error) < 400
    assert budget.read_bytes() == before
    assert not dprank.Budget(budget).entries()


@pytest.mark.slow
@each("name", list(BROKEN))
def test_what_is_no_table_is_refused_and_nothing_spent(tmp_path_factory, name):
    form, content, about = BROKEN[name]
    path = tmp_path_factory.mktemp("p") / "data.csv"
    path.write_bytes(content)
    budget = path.parent / "budget.sqlite"
    dprank.Budget(budget, epsilon=10.0)
    refused_by(path, budget, CHECK[form], RELEASE[form], about)


@pytest.mark.slow
@each("name", list(TAKEN))
def test_what_is_a_table_is_taken(tmp_path_factory, name):
    form, content = TAKEN[name]
    path = tmp_path_factory.mktemp("p") / "data.csv"
    path.write_bytes(content)
    release = RELEASE[form]
    done = said("release", release[0], path, *release[1:], "--epsilon", "1", "--json")
    assert (done.code, done.error) == (0, "")
    assert "SECRET" not in done.out
    done = said("check", path, *CHECK[form], "--json")
    assert (done.code, done.error) == (0, "")
    found = json.loads(done.out)
    assert found["rows"] == found["rows that count"] + sum(found["left out"].values())


#: Numbers that a float cannot hold, or hardly; the third is one by its marks alone.
BEYOND = ("1e999", "-1e999", "1" + ".000" * 110, "9" * 400, "1e-999", "-0", "1e308")
#: What reads a file, by form, and every column that it may have.
COLUMNS = {
    **{form: (GOOD[form], CHECK[form]) for form in GOOD},
    "times": (
        csv(("vote", "n"), *(("roads > parks = debt", v) for v in range(9))),
        [*FORMS["orders"], *NAMED[:2], "--times", "n"],
    ),
    "tallies": (csv(("who", "diagnosis", "more"), *((f"SECRET {v}", "flu", v) for v in range(9))), TALLIES),
    "pairs": (
        csv(("who", *ASKED.split(","), "more"), *((f"SECRET {v}", "left", "right", v) for v in range(9))),
        ANSWERS,
    ),
}


@pytest.mark.slow
@each("form", list(COLUMNS))
def test_numbers_beyond_all_floats_in_every_column(tmp_path_factory, form):
    content, words = COLUMNS[form]
    header, *rows = [line.split(",") for line in content.splitlines()]
    for at in range(len(header)):
        for each_row in (BEYOND, BEYOND[:1], BEYOND[2:3]):
            path = tmp_path_factory.mktemp("p") / "data.csv"
            odd = [[*row[:at], each_row[number % len(each_row)], *row[at + 1 :]] for number, row in enumerate(rows)]
            path.write_text(csv(header, *odd), encoding="utf-8")
            done = said("check", path, *words, "--json")
            assert (done.code, done.error) == (0, ""), (header[at], each_row)


def parquet(path, kind):
    """Tables that Parquet can hold, and that are broken."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    who = ["SECRET", "b", "c"]
    tables = {
        "nested": {"who": who, "diagnosis": [["flu"], ["gout", "SECRET"], []]},
        "structs": {"who": who, "diagnosis": [{"a": "SECRET"}, {"a": "x"}, {"a": "y"}]},
        "numbers": {"who": [2**60, 2, 3], "diagnosis": [1, 2, 3]},
        "bytes": {"who": who, "diagnosis": [b"flu", b"\xff\x00SECRET", b"gout"]},
        "dates": {"who": who, "diagnosis": pa.array([0, 1, 2], pa.timestamp("ns"))},
        "nothing": {"who": pa.array([None] * 3, pa.string()), "diagnosis": pa.array([None] * 3, pa.string())},
        "null type": {"who": pa.nulls(3), "diagnosis": pa.nulls(3)},
        "dictionary": {"who": who, "diagnosis": pa.array(["flu", "gout", "flu"]).dictionary_encode()},
        "decimals": {"who": who, "diagnosis": pa.array([1, 2, 3], pa.decimal128(5, 2))},
        "no rows": {"who": pa.array([], pa.string()), "diagnosis": pa.array([], pa.string())},
        "another column": {"who": who, "item": who},
        "no columns": {},
    }
    pq.write_table(pa.table(tables.get(kind, tables["dictionary"])), path)
    content = path.read_bytes()
    cuts = {"half": content[: len(content) // 2], "no end": content[:-8], "a byte short": content[:-1],
            "no magic": content[4:], "zeros inside": content[:8] + bytes(len(content) - 40) + content[-32:],
            "text": b"who,diagnosis\nSECRET,flu\n", "nothing at all": b""}  # fmt: skip
    if kind in cuts:
        path.write_bytes(cuts[kind])


@pytest.mark.slow
@each(
    "kind",
    ["numbers", "bytes", "dates", "nothing", "null type", "dictionary", "decimals", "no rows"],
)
def test_strange_parquet_is_taken(tmp_path_factory, kind):
    path = tmp_path_factory.mktemp("p") / "data.parquet"
    parquet(path, kind)
    done = said("release", "topk", path, *TALLIES, *TOP, "--epsilon", "1", "--json")
    assert (done.code, done.error) == (0, "")
    assert "SECRET" not in done.out


@pytest.mark.slow
@each("kind, about", [
    ("half", "Parquet"), ("no end", "Parquet"), ("a byte short", "Parquet"), ("no magic", "Parquet"),
    ("zeros inside", "Parquet"), ("text", "Parquet"), ("nothing at all", "Parquet"),
    ("nested", "'diagnosis' holds list<"), ("structs", "'diagnosis' holds struct<"),
    ("another column", "no column 'diagnosis'"), ("no columns", "no column 'who'"),
])  # fmt: skip
def test_broken_parquet_is_refused(tmp_path_factory, kind, about):
    path = tmp_path_factory.mktemp("p") / "data.parquet"
    parquet(path, kind)
    budget = path.parent / "budget.sqlite"
    dprank.Budget(budget, epsilon=10.0)
    refused_by(path, budget, TALLIES, ["topk", *TALLIES, *TOP], about)


CITY = dprank.example("city.toc").read_text()


@pytest.mark.slow
@each("change, about", [
    (lambda text: text.replace("ALTERNATIVE NAME 2: schools", "ALTERNATIVE NAME 2: roads"), "line 9: ALTERNATIVE NAME"),
    (lambda text: text.replace("DATA TYPE: toc", "DATA TYPE: soc"), "line 3: DATA TYPE"),
    (lambda text: text.replace("NUMBER VOTERS: 250", "NUMBER VOTERS: SECRET"), "line 6: NUMBER VOTERS"),
    (lambda text: "", "no header"),
    (lambda text: text.replace("#", ""), "no header"),
])  # fmt: skip
def test_a_broken_file_of_preflib_is_refused(tmp_path_factory, change, about):
    path = tmp_path_factory.mktemp("p") / "city.toc"
    path.write_text(change(CITY), encoding="utf-8")
    budget = path.parent / "budget.sqlite"
    dprank.Budget(budget, epsilon=10.0)
    refused_by(path, budget, TOC, ["consensus", *TOC, "--protect", "ballot"], about)


@each("name", ["a folder", "missing", "a folder that is none"])
def test_what_is_no_file_of_preflib(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("p")
    (folder / "b.toc").mkdir()
    (folder / "x").write_text("")
    path = {"a folder": folder / "b.toc", "missing": folder / "c.toc", "a folder that is none": folder / "x" / "d.toc"}[
        name
    ]
    budget = folder / "budget.sqlite"
    dprank.Budget(budget, epsilon=10.0)
    refused_by(
        path,
        budget,
        TOC,
        ["consensus", *TOC, "--protect", "ballot"],
        {"a folder": "is a folder", "missing": "No such file"}.get(name, "Not a directory"),
    )


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become nobody")
@pytest.mark.slow
def test_no_permission(tmp_path):
    path = tmp_path / "city.toc"
    path.write_text(CITY)
    assert said("check", path, *TOC).code == 0  # and whatever is imported is there: nobody may read it later
    path.chmod(0)
    source, sink = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setuid(65534)
            done = said("check", path, *TOC)
            os.write(sink, json.dumps([done.code, done.error.strip()]).encode())
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source) as told:
        code, error = json.load(told)
    os.waitpid(child, 0)
    assert code == 2
    assert error.endswith("Permission denied")


def test_there_are_a_hundred_files():
    assert len(BROKEN) + len(TAKEN) >= 50


def test_check_tells_the_curator_what_every_rule_would_correct(tmp_path):
    rows = [
        ("ann", "Flu"),
        ("ann", "flu "),
        ("Ann", "flu"),
        ("bob", "flu"),
        ("bob", "gowt"),
        ("cy", "ｆlu"),
        ("dan", "?"),
    ]
    path = tmp_path / "data.csv"
    path.write_text(csv(("who", "diagnosis"), *rows), encoding="utf-8")
    done = said("check", path, *TALLIES, "--json")
    found = json.loads(done.out)
    assert found["mark"].startswith("not for publication")
    assert found["unknown items"] == {"'Flu', like 'flu'": 1, "'flu ', like 'flu'": 1, "'gowt', like 'gout'": 1,
                                      "'ｆlu', like 'flu'": 1, "'?'": 1}  # fmt: skip
    mends = {rule: said.split(" cell")[0] for rule, said in found["cleaning"].items()}
    assert mends == {
        "nfkc": "would correct 1",
        "strip": "would correct 1",
        "spaces": "would correct 1",
        "casefold": "would correct 1",
    }
    assert all("keeps every guarantee" in it for it in found["cleaning"].values())
    assert found["items that no row has"] == ["gout", "kuru"]
    assert found["rows of a person with the same item again"] == 0
    # a rule that is declared tells what it mends
    done = said("check", path, *TALLIES, "--clean", "strip,casefold", "--json")
    found = json.loads(done.out)
    assert found["cleaning"]["strip"].startswith("corrects 1 cell;")
    assert found["altered"] == {"cells cleaned": 2}
    assert found["rows of a person with the same item again"] == 2
    text = said("check", path, *TALLIES).out
    assert text.startswith("[not for publication")
    assert "alias" in text


def test_check_counts_answers_to_a_pair_again(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(csv(("l", "r", "o", "who"), ("a", "b", 1, 1), ("b", "a", 1, 1), ("a", "b", 1, 2)))
    done = said(
        "check", path, "--comparisons", "l,r,o", "--map", "outcome", "--items", "a,b", "--person", "who", "--json"
    )
    assert json.loads(done.out)["answers of a person to the same pair again"] == 1


def test_many_unknown_items_are_listed_in_part_and_counted(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(csv(("who", "diagnosis"), *((v, f"x{v}") for v in range(99))))
    done = said("check", path, *TALLIES)
    assert "unknown items: and 49 more; --json has all" in done.out
    assert len(json.loads(said("check", path, *TALLIES, "--json").out)["unknown items"]) == 99


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from(sorted(CHECK)),
    st.sampled_from([b"", *(it.encode() for it in GOOD.values())]),
)
def test_whatever_lies_on_the_disk_is_taken_or_refused(tmp_path_factory, noise, form, start):
    path = tmp_path_factory.mktemp("p") / "data.csv"
    path.write_bytes(start[: len(start) // 2] + noise + start[len(start) // 2 :])
    done = said("check", path, *CHECK[form], "--json")
    if done.code == 0:
        found = json.loads(done.out)
        assert found["rows"] == found["rows that count"] + sum(found["left out"].values())
        assert done.error == ""
    else:
        assert done.code == 2
        assert len(done.error.splitlines()) == 1
        assert "SECRET" not in done.error


@pytest.mark.slow
def test_partial_ballots_are_counted_right_through_the_door(tmp_path):
    """At an enormous epsilon the scores are the net wins, halved: of every partial and tied ballot of three items."""
    every = [row for row in product(("", 1, 2, 3), repeat=3) if set(row) != {""}]
    path = tmp_path / "data.csv"
    path.write_text(csv(("a", "b", "c"), *every))
    words = ["--wide", "--items", "a,b,c", "--ballots", "partial", "--unranked", "apart"]
    done = said("release", "consensus", path, *words, "--epsilon", "60", "--json")
    assert done.code == 0
    release = read_publication(done.out)
    places = np.array([[9 if it == "" else it for it in row] for row in every])
    ranked = np.array([[it != "" for it in row] for row in every])
    net = np.zeros(3)
    for i, j in product(range(3), repeat=2):
        both = ranked[:, i] & ranked[:, j]
        net[i] += np.sign(places[both, j] - places[both, i]).sum()
    scores = dict(zip(release.ranking, release.to_frame()["score"], strict=True))
    assert pd.Series(scores).sort_index().tolist() == pytest.approx(net / 2, abs=1.5)
