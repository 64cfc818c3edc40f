"""What a seventh newcomer's files were not told of, or were told wrongly, each as a kind."""

import itertools
import json
import shlex

import pytest
from test_a_fourth_newcomer import ITEMS, noticed
from test_cli_check import checked, written

from dprank.cli.path import said as run
from dprank.data.noticed_again import said_again
from dprank.publication import opened

COUNTS = "--before-looking all --person who"


@pytest.mark.parametrize("codes", [("1", "2", "3"), ("11", "12", "13"), ("1.0", "2.0", "3.0")])
@pytest.mark.parametrize("other", ["Q2", "second", "P7_2"])
def test_a_second_column_of_items_that_are_numbers(codes, other, tmp_path):
    rows = [[f"p{at}", codes[at % 3], codes[(at + 1) % 3]] for at in range(12)]
    flags = f"--item Q1 --items {','.join(codes)} {COUNTS}"
    said = noticed(tmp_path, f"who,Q1,{other}", rows, flags)
    assert [it for it in said if f"column '{other}' is not used, and 12 of 12 cells there are items" in it]


@pytest.mark.parametrize("other", ["age", "household size", "n", "rating", "year"])
def test_numbers_of_people_and_counts_are_no_items(other, tmp_path):
    rows = [[f"p{at}", str(at % 3 + 1), str((at + 1) % 3 + 1)] for at in range(12)]
    said = noticed(tmp_path, f"who,Q1,{other}", rows, f"--item Q1 --items 1,2,3 {COUNTS}")
    assert not [it for it in said if "cells there are items" in it]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("value", "12"),
        ("answer", "129"),
        ("chosen", ("1.0", "2.0", "98")),
        ("grade", "0123"),
        ("severity", "0123"),
        ("level", "012"),
    ],
)
def test_rows_that_say_that_somebody_has_it_not(name, values, tmp_path):
    """Every person has a row for every item, and a code says which they have."""
    rows = [
        [f"p{at}", tree, values[(at * 7 + number) % len(values)]]
        for at in range(30)
        for number, tree in enumerate(("oak", "elm", "fir"))
    ]
    said = noticed(tmp_path, f"who,tree,{name}", rows, f"--item tree {ITEMS} {COUNTS}")
    assert [it for it in said if f"column '{name}' is not used" in it], said


@pytest.mark.parametrize("name", ["weight", "PESO", "wgt", "Gewicht", "ponderacion", "WTSSALL", "pond_fact"])
def test_weights_with_decimals_of_people_who_have_items(name, tmp_path):
    rows = [[f"p{at}", ("oak", "elm")[at % 2], f"{0.5 + at % 5 / 2}"] for at in range(40)]
    [line] = [it for it in noticed(tmp_path, f"who,tree,{name}", rows, f"--item tree {ITEMS} {COUNTS}") if name in it]
    assert line.endswith(
        "does a row weigh so much? It counts once, as every person does: a count of people knows no weights"
    )


def test_prices_are_no_weights(tmp_path):
    rows = [[f"p{at // 2}", ("oak", "elm")[at % 2], f"{1.25 + at % 3}"] for at in range(40)]
    assert not noticed(tmp_path, "who,tree,weight", rows, f"--item tree {ITEMS} {COUNTS}")


def pairs(again):
    """Answers of 8 people to all pairs of three trees, of the first 3 of them so many times."""
    said = {("oak", "elm"): "elm", ("oak", "fir"): "oak", ("elm", "fir"): "elm"}
    return [
        [f"p{who}", *pair, "oak" if who >= 3 and "oak" in pair else best]
        for who in range(8)
        for pair, best in said.items()
        for _ in range(again if who < 3 else 1)
    ]


@pytest.mark.parametrize(("again", "told"), [(5, 36), (2, 9), (1, 0)])
def test_answers_to_a_pair_again(again, told, tmp_path):
    flags = f"--comparisons l,r,best --map names {ITEMS}"
    rows = pairs(again)
    found = checked(written(tmp_path, "who,l,r,best", rows), f"{flags} --person who")
    assert found["answers of a person to the same pair again"] == told
    [line] = [it for it in found["noticed"] if "answered before" in it] or [""]
    assert line.startswith(f"{told} of {len(rows)} answers are to a pair") == bool(told)
    assert ("--design any" in line) == bool(told)
    assert not [it for it in noticed(tmp_path, "who,l,r,best", rows, flags) if "answered before" in it]


def test_nobody_says_anything_again_where_nobody_is_known():
    assert said_again(object.__new__(type("Empty", (), {"__len__": lambda self: 0}))) == 0


def test_a_release_says_that_one_answer_to_each_pair_counts(tmp_path):
    path, out = written(tmp_path, "who,l,r,best", pairs(5)), tmp_path / "release.json"
    flags = ["--comparisons", "l,r,best", "--map", "names", "--person", "who", *ITEMS.split()]
    done = run(
        "release", "ranking", path, *flags, "--protect", "person", "--answers", "3", "--epsilon", "9", "--out", out
    )
    assert done.code == 0, done.error
    assert "at most 3 answers of each person, one to each pair" in done.out
    file = json.loads(out.read_text())
    assert "beyond 3 of them, or beyond one to each pair, is left out" in file["rules"]["bounding"]
    file["rules"]["bounding"] = "what a person gives beyond 3 of them is left out, by a hash of that person's own rows"
    assert opened(json.dumps(file))["rules"] == file["rules"]  # as earlier versions wrote it


@pytest.mark.parametrize("form", ["{:,}", "{}"])
@pytest.mark.parametrize("mark", [".", ",", "'", " "])
def test_totals_with_marks_between_thousands_are_no_people(form, mark, tmp_path):
    cells = [form.format(it).replace(",", mark) for it in (1234, 12345, 9876)]
    rows = [[tree, cell] for tree, cell in zip(("oak", "elm", "fir"), cells, strict=True)]
    said = noticed(tmp_path, "tree,number", rows, f"--item tree --person number {ITEMS} --before-looking all")
    assert [it for it in said if "is this a table of totals?" in it]


JUDGED = [("oak", "elm"), ("oak", "fir"), ("elm", "fir"), ("fir", "oak")]


@pytest.mark.parametrize(
    ("one", "two", "answers", "meant"),
    [
        ("judge_1", "judge_2", ("{0}", "{1}", "tie"), "names,tie=0.5"),
        ("winner", "other opinion", ("{0}", "{1}", "tie"), "names,tie=0.5"),
        ("Rater A", "Rater B", ("1", "0"), "outcome"),
        ("answer1", "answer2", ("1", "2"), "position"),
        ("score_1", "score_2", ("1", "0", "-1"), "1=1,0=0.5,-1=0"),
    ],
)
def test_a_second_judge_in_a_column_of_its_own(one, two, answers, meant, tmp_path):
    rows = [
        [
            *pair,
            *(answers[(at * step + shift) % len(answers)].format(*pair) for step, shift in ((1, 0), (5, at // 4 + 1))),
        ]
        for at, pair in enumerate(JUDGED * 6)
    ]
    rows[5][3] = ""
    said = noticed(tmp_path, f"l,r,{one},{two}", rows, f"--comparisons 'l,r,{one}' --map {meant} {ITEMS}")
    about = [it for it in said if f"'{two}'" in it]
    assert len(about) == 1, said
    assert about[0].endswith("write a row for each answer, with a column that says whose it is")


@pytest.mark.parametrize("two", ["is_tie", "gold", "correct", "male"])
def test_other_columns_of_0_and_1_are_no_second_judge(two, tmp_path):
    rows = [[*pair, str(at % 2), str(at // 2 % 2)] for at, pair in enumerate(JUDGED * 6)]
    said = noticed(tmp_path, f"l,r,judge_1,{two}", rows, f"--comparisons l,r,judge_1 --map outcome {ITEMS}")
    assert not [it for it in said if "second judge" in it]


def test_a_column_that_says_the_same_is_no_second_judge(tmp_path):
    rows = [[*pair, str(at % 2), str(at % 2)] for at, pair in enumerate(JUDGED * 6)]
    said = noticed(tmp_path, "l,r,judge_1,judge_2", rows, f"--comparisons l,r,judge_1 --map outcome {ITEMS}")
    assert not [it for it in said if "second judge" in it]


def test_nothing_is_left_out_where_answers_are_protected(tmp_path):
    path, out = written(tmp_path, "l,r,said", [["oak", "elm", "1"], ["elm", "fir", "0"]] * 9), tmp_path / "release.json"
    flags = ["--comparisons", "l,r,said", "--map", "outcome", *ITEMS.split(), "--protect", "answer", "--epsilon", "9"]
    done = run("release", "ranking", path, *flags, "--out", out)
    assert done.code == 0, done.error
    assert json.loads(out.read_text())["rules"]["bounding"] == "none: every answer counts by itself"


@pytest.mark.parametrize(("none", "says"), [("1", "the lowest place that is left"), ("9", "1 is taken for the best")])
def test_the_best_place_is_one_that_is_a_place(none, says, tmp_path):
    flags = f"--wide --ballots partial --unranked last --unranked-as {none} {ITEMS}"
    path = written(tmp_path, "oak,elm,fir", [["1", "2", "2"], ["2", "1", "1"]] * 4)
    assert checked(path, flags)["rows are read"].startswith(says)


@pytest.mark.parametrize("zeros", ["{:05d}", "0{}"])
def test_people_but_for_zeros_in_front(zeros, tmp_path):
    labels = [form.format(100 + at) for form, at in itertools.product((zeros, "{}"), range(10))]
    said = noticed(tmp_path, "who,tree", [[it, "oak"] for it in labels], f"--item tree {ITEMS} {COUNTS}")
    [line] = [it for it in said if "zeros in front" in it]
    assert line.startswith("10 labels of 'who' are another one")
    assert not any(label in line for label in labels)
    said = noticed(tmp_path, "who,tree", [[it, "oak"] for it in labels[:10]], f"--item tree {ITEMS} {COUNTS}")
    assert not [it for it in said if "zeros in front" in it]


PARTIAL = "--ballots partial --unranked last"


@pytest.mark.parametrize("zero", ["0", "0.0", "0.00", "00", "-0"])
def test_0_in_every_way_that_it_is_written(zero, tmp_path):
    rows = [[zero, "1.0", "2.0"], [zero, "2.0", "1.0"], ["1.0", zero, "2.0"], ["", zero, "1.0"]] * 3
    said = noticed(tmp_path, "oak,elm,fir", rows, f"--wide {PARTIAL} {ITEMS}")
    assert (
        f"0 is no place: --lowest 0 if it is one, the best; --unranked-as {zero} if it says that there is none" in said
    )


@pytest.mark.parametrize(
    "word", ["Anzahl", "Antal", "Aantal", "Número", "Conteggio", "Total votes", "Total responses", "Liczba", "Ukupno"]
)
def test_more_words_for_sums(word, tmp_path):
    rows = [[f"p{at}", *it] for at, it in enumerate([("OK", "", ""), ("OK", "OK", ""), ("", "OK", "OK")] * 4)]
    flags = f"--wide {PARTIAL} --map OK=1 --person who {ITEMS}"
    said = noticed(tmp_path, "who,oak,elm,fir", [*rows, [word, "3", "2", "1"]], flags)
    assert [it for it in said if f"called as sums and means are, as '{word}'" in it]


def test_one_ballot_of_large_places_may_be_a_sum(tmp_path):
    rows = [["1", "2", "3"], ["2", "1", "3"]] * 9
    said = noticed(tmp_path, "oak,elm,fir", [*rows, ["27", "27", "54"]], f"--wide --ballots tied {ITEMS}")
    assert [it for it in said if "is it a row of sums, or is an item missing" in it]


@pytest.mark.parametrize("sign", [", ", "; ", "|"])
def test_ticks_in_a_cell_are_no_ranking(sign, tmp_path):
    picked = [(0, 1, 2), (0, 2), (0, 1, 2), (1, 2), (2,), (0, 1), (0, 2)]
    trees = ("oak", "elm", "fir")
    flags = f"--orders vote --between '{sign.strip()}' {PARTIAL} {ITEMS}"
    for order, told in (((0, 1, 2), True), ((2, 0, 1), True), (None, False)):
        cells = [
            sign.join(
                trees[it] for it in sorted(each, key=(order or (0, 1, 2)).index, reverse=order is None and at % 2)
            )
            for at, each in enumerate(picked)
        ]
        said = noticed(tmp_path, "id,vote", [[f"b{at}", it] for at, it in enumerate(cells)], flags)
        assert any("are they ticks, and no ranking?" in it for it in said) == told


@pytest.mark.parametrize(("cell", "places"), [("2. oak; 1. elm; 3. fir", True), ("1. elm; 2. oak; 3. fir", False)])
def test_numbers_before_items_may_be_their_places(cell, places, tmp_path):
    rows = [[f"b{at}", cell] for at in range(6)]
    said = noticed(tmp_path, "id,vote", rows, f"--orders vote --between ';' --ballots full {ITEMS}")
    [line] = [it for it in said if "items have numbers before them" in it]
    assert line.endswith("which holds its place (--wide)" if places else "take them away")


@pytest.mark.parametrize("sign", [",", "/", " & ", "~"])
def test_ties_with_another_sign(sign, tmp_path):
    cells = [f"oak{sign}elm > fir", "oak > fir > elm", "fir > oak > elm", "fir > oak > elm"]
    said = noticed(
        tmp_path, "id,vote", [[f"b{at}", it] for at, it in enumerate(cells)], f"--orders vote {PARTIAL} {ITEMS}"
    )
    assert [it for it in said if f"as 'oak{sign}elm', in 1 cell: where they are tied, write = between them" in it]


def test_the_line_of_names_again_is_no_sign_of_columns_of_places(tmp_path):
    rows = [["1", "1", "2", "3"], ["2", "3", "2", "1"], ["id", "oak", "elm", "fir"], ["3", "1", "2", "3"]]
    said = noticed(tmp_path, "id,oak,elm,fir", rows, f"--wide --ballots full {ITEMS}")
    assert not [it for it in said if "--ranks" in it]


def test_what_is_shown_of_a_cell_can_be_typed(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", [["a", "1", "2", "\\N"], ["b", "1", "2", "3"]])
    assert checked(path, f"--wide {PARTIAL} {ITEMS}")["misread"] == {"'\\N'": 1}


@pytest.mark.parametrize("name", ["Price over $5? [oak]", "`oak`", "oak!"])
def test_an_alias_that_a_shell_would_change_is_quoted(name, tmp_path):
    path = written(tmp_path, f"who,{name},elm,fir", [["a", "1", "2", "3"]])
    done = run("check", path, "--wide", *ITEMS.split())
    found = done.error.partition("--alias ")[2]
    assert shlex.split(found)[0] == f"{name}=oak"
    assert found.startswith("'")


def test_a_file_of_preflib_without_a_header_is_told_all_that_is_needed(tmp_path):
    path = tmp_path / "old.soc"
    path.write_text("2\n1,Ann\n2,Bo\n3,3,2\n2,1,2\n1,2,1\n")
    done = run("check", path, "--items", str(path), "--ballots", "full")
    for word in ("DATA TYPE: soc", "NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS", "'3: 1,2'"):
        assert word in done.error


def test_a_comma_in_what_is_typed(tmp_path):
    """In quotation marks it stays in the name, of columns and of what stands for no place, and that is told."""
    none = "Don't know, no answer"
    path = written(tmp_path, "id,oak,elm,fir", [["a", "1", "2", none], ["b", "1", none, "2"], ["c", "2", "1", "3"]])
    flags = ["--wide", *ITEMS.split(), "--ballots", "partial", "--unranked", "apart", "--unranked-as", f'"{none}"']
    done = run("check", path, *flags, "--json")
    assert json.loads(done.out)["misread"] == {}
    done = run("check", path, *flags[:-2], "--map", f'"{none}="', "--json")
    assert json.loads(done.out)["misread"] == {}
    path = tmp_path / "ranks.csv"
    path.write_text('id,"First, best",Second\n1,oak,elm\n2,fir,oak\n')
    ranks = ["--ballots", "partial", "--unranked", "last", *ITEMS.split()]
    assert "'\"First, best\"', it stays one" in run("check", path, "--ranks", "First, best,Second", *ranks).error
    done = run("check", path, "--ranks", '"First, best",Second', *ranks, "--json")
    assert json.loads(done.out)["rows that count"] == 2
