"""What an answer about two items means: asked for by flags, and by no data; and what `check` says of it."""

from __future__ import annotations

import json
import re
import shlex

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checks import each

import dprank
from dprank.cli.path import said
from dprank.data.answers import SAID

SELECTED = """Observer,Condition_1,Condition_2,Selection
1,tea,cocoa,1
2,tea,cocoa,2
3,tea,cocoa,2
4,tea,cocoa,2
5,cocoa,mate,1
6,cocoa,mate,1
7,tea,mate,2
8,tea,mate,2
"""
CHOSEN = ["--comparisons", "Condition_1,Condition_2,Selection", "--items", "tea,cocoa,mate", "--person", "Observer"]
NAMED = """worker,left,right,label
w1,tea,cocoa,tea
w2,cocoa,tea,tea
w3,cocoa,tea,tea
w4,cocoa,tea,tea
w5,mate,tea,tea
w6,mate,cocoa,cocoa
"""
LABELLED = ["--comparisons", "left,right,label", "--items", "tea,cocoa,mate", "--person", "worker"]
ONE = ["--protect", "person", "--answers", "1", "--epsilon", "100", "--json"]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def order(file, *words):
    done = said("release", "ranking", file, *words, *ONE)
    assert done.code == 0, done.error
    return [it["item"] for it in json.loads(done.out)["answer"]]


@pytest.fixture
def selected(tmp_path):
    return write(tmp_path / "sel.csv", SELECTED)


@pytest.fixture
def named(tmp_path):
    return write(tmp_path / "ck.csv", NAMED)


@each("meaning", ["position", "1=1,2=0", "1.0=1,2.00=0"])
def test_choices_coded_1_and_2(selected, meaning):
    assert order(selected, *CHOSEN, "--map", meaning) == ["cocoa", "mate", "tea"]


def test_no_meaning_is_no_release_whatever_the_file_holds(tmp_path, selected):
    """By flags: two files of which one has no row say the same."""
    told = {said("release", "ranking", it, *CHOSEN, *ONE).error for it in (selected, write(tmp_path / "n.csv", "a\n"))}
    assert told == {f"dprank: answers are not declared, and no file says what one means; say --map {SAID}\n"}
    wide = said("release", "ranking", selected, "--pairs", "all", "--items", "tea,cocoa,mate", *ONE)
    assert (wide.code, f"--map (what an answer means: {SAID})" in wide.error) == (2, True)
    assert said("count", selected, *CHOSEN, "--answers", "1", "--out", tmp_path / "c.json").error in told
    with pytest.raises(ValueError, match=r"^answers are not declared"):
        dprank.Declaration(kind="comparisons", items=["a", "b"], columns=["l", "r", "x"])


def test_the_newcomer_that_loses_is_last(tmp_path):
    rows = [f"{at},fir,{'oak' if at % 2 else 'elm'},{1 if at % 4 == 0 else 2}" for at in range(600)]
    file = write(tmp_path / "coded.csv", "person,left,right,answer\n" + "\n".join(rows))
    words = ["--comparisons", "left,right,answer", "--person", "person", "--items", "oak,elm,fir"]
    assert order(file, *words, "--map", "position")[-1] == "fir"


def test_the_answer_is_a_name(named):
    assert order(named, *LABELLED, "--map", "names")[0] == "tea"
    assert order(named, *LABELLED, "--map", "names,equal=0.5")[0] == "tea"
    assert order(named, *LABELLED, "--map", "equal=0.5")[0] == "tea"
    done = said("check", named, *LABELLED, "--map", "names", "--json")
    assert json.loads(done.out)["rows that count"] == 6


@each("meaning", ["tea=1,cocoa=0,mate=0", "tea=1", "equal=0.5,mate=0"])
@each("command", ["check", "release"])
def test_a_map_of_items_is_refused_in_long_form_too(named, command, meaning):
    words = ["check"] if command == "check" else ["release", "ranking"]
    more = [] if command == "check" else ONE
    done = said(*words, named, *LABELLED, "--map", meaning, *more)
    assert (done.code, "it is an item" in done.error, "names" in done.error) == (2, True, True)


@each(
    "text, fits",
    [
        (SELECTED, "--map position fits"),
        (NAMED, "--map names fits"),
        (NAMED.replace("tea,tea", "tea,same"), "--map names,same=0.5 where"),
        (SELECTED.replace(",2\n", ",0\n"), "--map outcome fits"),
        (SELECTED.replace(",2\n", ",0.50\n").replace(",1\n", ",1.00\n"), "--map outcome fits"),
        (SELECTED.replace(",2\n", ",-1\n"), "--map 1=1,0=0.5,-1=0 fits"),
        (SELECTED.replace(",2\n", ",left\n").replace(",1\n", ",right\n"), "--map left=,right= with"),
        (SELECTED.replace(",2\n", ',"Yes, left"\n').replace(",1\n", ",no\n"), "answers = {'Yes, left' = 1.0"),
        ("Observer,Condition_1,Condition_2,Selection\n1,tea,cocoa,\n", "there is no answer"),
    ],
)
def test_check_says_what_answers_are_and_which_meaning_fits(tmp_path_factory, text, fits):
    file = write(tmp_path_factory.mktemp("c") / "t.csv", text)
    done = said("check", file, *(LABELLED if "label" in text else CHOSEN))
    assert (done.code, fits in done.out, "--map names" in done.error) == (2, True, True), done.out
    assert done.out.startswith("[not for publication")
    told = json.loads(said("check", file, *(LABELLED if "label" in text else CHOSEN), "--json").out)
    assert fits in told["answers"]


LIKERT = ["Much prefer A", "Slightly prefer A", "Equal", "Slightly prefer B", "Much prefer B"]


def graded(tmp_path, words):
    rows = [f"{at},tea,cocoa,{word}" for at, word in enumerate(words * 3)]
    return write(tmp_path / "g.csv", "\n".join(["Observer,Condition_1,Condition_2,Selection", *rows]) + "\n")


def test_check_names_every_answer_in_what_one_types(tmp_path):
    """What is shown, with numbers put in, is what a shell takes, and no answer is lost."""
    file = graded(tmp_path, LIKERT)
    out = " ".join(said("check", file, *CHOSEN).out.split())
    hint = re.search(r': (--map ".*?") with 1, 0.5 or 0 behind each says it', out)
    assert hint is not None, out
    flag, meaning = shlex.split(hint[1])
    assert sorted(meaning.split(",")) == sorted(f"{it}=" for it in LIKERT)
    points = dict(zip(LIKERT, ("1", "1", "0.5", "0", "0"), strict=True))
    meaning = ",".join(it + points[it.removesuffix("=")] for it in meaning.split(","))
    told = json.loads(said("check", file, *CHOSEN, flag, meaning, "--json").out)
    assert told["rows that count"] == 15


@each("number, more", [(9, None), (10, None), (13, "3 more")])
def test_check_says_how_many_answers_it_does_not_name(tmp_path_factory, number, more):
    out = said("check", graded(tmp_path_factory.mktemp("m"), [f"w{at}" for at in range(number)]), *CHOSEN).out
    assert out.count("=,") + 1 == min(number, 10)
    assert ("in the same way" in out, more is None or more in out) == (more is not None, True)


def test_check_says_what_is_lost_by_what_it_says(tmp_path, selected):
    told = said("check", selected, *CHOSEN, "--map", "outcome").out
    assert "5 answers that --map does not know" in told
    assert "every answer that counts prefers the first item" in told
    assert "--map does not know" not in said("check", selected, *CHOSEN, "--map", "position").out
    assert "prefers the first" not in said("check", selected, *CHOSEN, "--map", "position").out


@each("name", ["count", "N", "votes", "Times ", "freq"])
def test_check_says_that_a_row_counts_once(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("w")
    told = "does a row stand for so many? It counts once"
    file = write(folder / "t.csv", SELECTED.replace("Selection\n", f"Selection,{name}\n").replace("\n", ",9\n", 99))
    file.write_text(file.read_text().replace(f"{name},9", name))
    assert told in said("check", file, *CHOSEN, "--map", "position").out
    tallies = ["--item", "Condition_1", "--items", "tea,cocoa", "--person", "Observer"]
    assert told in said("check", file, *tallies).out
    assert "counts once" not in said("check", write(folder / "u.csv", SELECTED), *tallies).out


@each("weight, factor", [("1.2", 10), ("0.25", 100), ("1.23456", 100)])
def test_check_says_why_weights_with_decimals_are_none(tmp_path_factory, weight, factor):
    file = write(tmp_path_factory.mktemp("w") / "w.csv", f"id,oak,elm,w\n1,1,2,{weight}\n2,1,2,1.00\n")
    words = ["--wide", "--items", "oak,elm", "--ballots", "full", "--person", "id", "--weight", "w"]
    done = said("check", file, *words, "--max-weight", "2")
    assert "left out: no such weight: 1" in done.out
    assert f"multiply all of them and --max-weight by {factor}," in done.out


def test_winner_and_loser_alone(tmp_path):
    file = write(tmp_path / "w.csv", "id,W,L\n1,tea,cocoa\n2,tea,mate\n3,cocoa,mate\n")
    words = ["--items", "tea,cocoa,mate", "--person", "id"]
    assert order(file, "--comparisons", "W,L,W", "--map", "names", *words) == ["tea", "cocoa", "mate"]
    done = said("check", file, "--comparisons", "W,L", "--map", "names", *words)
    assert (done.code, "winner,loser,winner" in done.error) == (2, True)
    assert "each once" in said("check", file, "--comparisons", "W,L,W", "--map", "outcome", *words).error
    assert "each once" in said("check", file, "--comparisons", "W,W,L", "--map", "names", *words).error


def test_winner_and_loser_are_counted_in_shards(tmp_path):
    frame = pd.DataFrame({"id": range(40), "W": ["tea", "mate"] * 20, "L": ["cocoa", "tea"] * 20})
    frame.to_parquet(tmp_path / "w.parquet")
    words = ["--comparisons", "W,L,W", "--map", "names", "--items", "tea,cocoa,mate", "--person", "id"]
    for engine in ("numpy", "duckdb"):
        for part in (1, 2):
            more = [
                "--answers",
                "1",
                "--shard",
                f"{part}/2",
                "--engine",
                engine,
                "--out",
                tmp_path / f"{engine}{part}.json",
            ]
            assert said("count", tmp_path / "w.parquet", *words, *more).code == 0
        assert (
            said(
                "merge",
                tmp_path / f"{engine}1.json",
                tmp_path / f"{engine}2.json",
                "--out",
                tmp_path / f"{engine}.json",
            ).code
            == 0
        )
        counts = json.loads((tmp_path / f"{engine}.json").read_text())["counts"]
        assert (counts["wins"], counts["losses"]) == ([20, 0, 20], [20, 20, 0])


@each(
    "meaning, words",
    [
        ("nams", "answers = 'nams'; allowed are names"),
        ("names,position", "name=value is needed"),
        ("left=1,left=0", "'left' has two meanings"),
        ("left=1,right=2", "worth 1, 0.5 or 0"),
        ("1=1,1.0=0", "two meanings"),
        ("Left=1,left=0", "two meanings"),
        ("true=1,1=0", "two meanings"),
        ("left=", "a number is needed"),
        ("", "answers are not declared"),
        ("names,names", "answers are not declared"),
    ],
)
def test_what_is_no_meaning_is_refused(tmp_path_factory, meaning, words):
    file = write(tmp_path_factory.mktemp("m") / "sel.csv", SELECTED)
    done = said("check", file, *CHOSEN, "--clean", "casefold", "--map", meaning)
    assert (done.code, words in done.error, len(done.error.splitlines())) == (2, True, 1), done.error


def test_a_number_that_is_an_item_is_no_code(tmp_path):
    """Of items called 1 and 2 a map of 1 would be one of items; the words are not."""
    file = write(tmp_path / "t.csv", "who,l,r,x\na,2,1,1\nb,2,1,1\nc,2,3,2\n")
    words = ["--comparisons", "l,r,x", "--items", "1,2,3", "--person", "who"]
    assert "it is an item" in said("check", file, *words, "--map", "1=1,2=0").error
    assert "it is an item" in said("check", file, *words, "--map", "1.0=1,0=0").error
    assert "if the numbers are no items" in said("check", file, *words).out
    assert order(file, *words, "--map", "position")[-1] == "1"
    assert order(file, *words, "--map", "names")[0] == "1"


def test_items_of_a_column_of_decimals_are_the_numbers(tmp_path):
    number = pa.decimal128(5, 2)
    columns = [pa.array([1, 2, 3], number), pa.array([2, 3, 1], number), pa.array([1, 0, 1], pa.decimal128(3, 2))]
    pq.write_table(pa.table([*columns, pa.array([1, 2, 3])], ["l", "r", "x", "who"]), tmp_path / "t.parquet")
    words = ["--comparisons", "l,r,x", "--items", "1,2,3", "--person", "who", "--map", "outcome"]
    assert json.loads(said("check", tmp_path / "t.parquet", *words, "--json").out)["rows that count"] == 3
    told = dprank.read_comparisons(
        tmp_path / "t.parquet", items=["1", "2", "3"], first="l", second="r", outcome="x", person="who"
    )
    assert (told.first.tolist(), told.points.tolist()) == ([0, 1, 2], [2, 0, 2])


def test_a_meaning_is_kept_in_the_plan(tmp_path, named):
    plan = tmp_path / "plan.toml"
    assert said("check", named, *LABELLED, "--map", "names", "--out", plan).code == 0
    assert 'answers = "names"' in plan.read_text()
    assert order(named, "--plan", plan)[0] == "tea"
    assert order(named, "--plan", plan, "--map", "equal=0.5")[0] == "tea"


def test_counts_by_rules_without_a_meaning_are_counted_again(tmp_path, selected):
    """As version 0.2 wrote them."""
    counts = tmp_path / "counts.json"
    words = ["--map", "outcome", "--answers", "1", "--out", counts]
    assert said("count", selected, *CHOSEN, *words).code == 0
    text = counts.read_text()
    assert 'answers = \\"outcome\\"\\n' in text
    counts.write_text(text.replace('answers = \\"outcome\\"\\n', ""))
    done = said("release", "ranking", "--counts", counts, *ONE)
    assert (done.code, "count again: answers are not declared" in done.error) == (2, True)
    assert len(done.error.splitlines()) == 1


def test_numbers_without_end_are_numbers(tmp_path):
    """And take no time that tells of them: 200,000 digits, and exponents of three."""
    long = ["1." + "0" * 200_000, "0" * 200_000 + "1", "0." + "9" * 200_000, "1e999", "1e-999", "1e9999", "-" * 200_000]
    rows = "".join(f"{at},a,b,{it}\n" for at, it in enumerate(long))
    file = write(tmp_path / "t.csv", "who,l,r,x\n" + rows)
    declared = dprank.Declaration(
        kind="comparisons", items=["a", "b"], person="who", columns=["l", "r", "x"], answers="outcome"
    )
    intake = declared.read(file)
    assert (intake.data.points.tolist(), dict(intake.left_out)) == ([2, 2], {"no such answer": 5})


@each("written", [str.upper, str.title, " {} ".format, "\u00a0{}".format])
def test_a_map_of_items_written_otherwise_is_one_of_items(tmp_path_factory, written):
    """It would turn the order round as one of items does; `check` does not lead there."""
    name = {it: written(it) for it in ("tea", "cocoa", "mate")}
    text = "".join(
        ",".join([*row.split(",")[:3], name.get(row.split(",")[3], "label")]) + "\n" for row in NAMED.split()
    )
    file = write(tmp_path_factory.mktemp("o") / "t.csv", text)
    done = said("check", file, *LABELLED)
    assert "--map names fits, with --clean or --alias" in done.out
    plan = write(file.with_name("p.toml"), f'kind = "comparisons"\nitems = ["tea", "cocoa", "mate"]\n'
                 f'columns = ["left", "right", "label"]\nanswers = {{{json.dumps(name["tea"])} = 1.0}}\n')  # fmt: skip
    done = said("check", file, "--plan", plan)
    assert (done.code, "it is an item" in done.error, "--clean" in done.error) == (2, True, True)
    words = ["--map", "names", "--clean", "nfkc,strip,casefold"]
    assert order(file, *LABELLED, *words)[0] == "tea"


def test_a_questionnaire_whose_answers_nobody_declared_is_told_how(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("who,oak vs elm,elm vs fir\nann,left,right\nbob,right,left\n")
    words = ("--pairs", "all", "--items", "oak,elm,fir", "--person", "who", "--map", "yes=1,no=0")
    told = said("check", path, *words).out
    assert "--map left=1,right=0, if 'left' says that the first item is preferred" in told
