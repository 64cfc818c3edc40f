"""What a newcomer's files are refused for, and hints that led astray: each says the true cause, and one step."""

import json

import pytest
from test_cli_check import PARTIAL, checked, written

import dprank
from dprank.cli.path import said as run
from dprank.data.places import BACKWARDS
from dprank.publication import read_publication
from dprank.report import report

ORDERS = f"--orders vote --items oak,elm,fir {PARTIAL}"


def refused(*words):
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.error.count("\n") == 1
    return done.error


def put(folder, text, name="data.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("sign", [*BACKWARDS, "<<", "<-", "<=", " < ", "-<"])
def test_a_sign_that_puts_the_best_last_is_refused(sign, tmp_path):
    path = written(tmp_path, "vote", [[f" {sign} ".join(["fir", "elm", "oak"])]] * 5)
    words = ["--orders", "vote", "--items", "oak,elm,fir", "--ballots", "full", "--between", sign]
    for command in (["check"], ["release", "winner", "--epsilon", "1"]):
        error = refused(command[0], *command[1:2], path, *words, *command[2:])
        assert "says that the best comes last, and an order is read the best first" in error
    if sign != "<=":
        said = checked(path, ORDERS)["noticed"]
        assert not any("--between" in line for line in said)


@pytest.mark.parametrize(("one", "other"), [(">", "≻"), (">", "<"), (">", "→"), (">", "»"), ("≻", ">"), (";", ">")])
def test_two_signs_in_an_order(one, other, tmp_path):
    path = written(tmp_path, "vote", [[f"oak {one} elm {other} fir"]] * 3 + [[f"oak {one} fir"]])
    said = checked(path, f"{ORDERS} --between '{one}'")["noticed"]
    assert any(
        f"orders have other signs beside {one}, as 'oak {one} elm {other} fir', in 3 cells" in line for line in said
    )
    path = written(tmp_path, "vote", [[f"oak {one} elm = fir"]])
    assert not any("other signs" in line for line in checked(path, f"{ORDERS} --between '{one}'")["noticed"])


@pytest.mark.parametrize(
    "cell", ["oak:1,elm:2,fir:3", "oak (1), elm (2)", "fir:2;oak:1", "oak 1 > elm 2", "oak x 3|elm x 1"]
)
@pytest.mark.parametrize("between", ["", " --between ,"])
def test_places_behind_items_are_no_counts(cell, between, tmp_path):
    said = checked(written(tmp_path, "vote", [[cell]] * 4), ORDERS + between)["noticed"]
    assert any("items have numbers behind them" in line and "if they are places" in line for line in said)
    assert not any("does it count ballots" in line for line in said)


@pytest.mark.parametrize("text", ["=", "==", "a=b", "=1", "<=>", "1 = 1st"])
def test_an_answer_that_holds_the_sign_of_a_map(text, tmp_path):
    rows = ["oak,elm,A", "elm,fir,B", "fir,oak,A"] * 4 + [["oak", "elm", text]] * 3
    path = written(tmp_path, "left,right,answer", rows)
    flags = ["--comparisons", "left,right,answer", "--items", "oak,elm,fir", "--json"]
    found = json.loads(run("check", path, *flags, "--map", f"A=1,B=0,{text}=0.5").out)
    assert (found["rows that count"], found["misread"]) == (15, {})
    told = run("check", path, *flags)
    assert f"{text}=" in json.loads(told.out)["answers"]


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ('"oak" "elm"\n"1" 1 2\n', "--wide", "names are separated by blanks; commas, semicolons, tabs or bars"),
        ('"who" "oak tree" elm\n"1" 1 2\n', "--wide", "names are separated by blanks"),
        ("Survey 2026,,\nwho,oak,elm\n1,1,2\n", "--wide", "2 of them have no name in line 1: is it a title"),
        ("Id,Rank these,,\n,oak,elm,fir\n1,1,2,3\n", "--wide", "or the first of two header lines?"),
        ('"oak,elm\n1,2\n', "--wide", "a quotation mark is not closed"),
        ("tree,n\noak,812\nelm,640\n", "--item tree", "totals alone say nothing of who is in several of them"),
        ("tree,n\noak,812\nelm,640\n", "--item tree --person n --times n", "tallies have none; totals alone say"),
    ],
)
def test_the_true_cause_of_a_refusal(text, words, said, tmp_path):
    assert said in refused("check", put(tmp_path, text), *words.split(), "--items", "oak,elm")


def test_row_names_of_r_are_rows_of_more_fields(tmp_path):
    path = put(tmp_path, 'left,right,winner\n"1",oak,elm,oak\n"2",elm,fir,elm\n')
    found = checked(path, "--comparisons left,right,winner --map names --items oak,elm,fir")
    assert any("is there a name for every column? (R leaves out that of its row names" in it for it in found["noticed"])
    assert (found["unknown items"], found["misread"]) == ({}, {})
    for flags in (
        "--wide",
        f"--long left,right --person winner {PARTIAL}",
        f"--ranks left,right {PARTIAL}",
        f"--orders left {PARTIAL}",
    ):
        text = "oak,elm,fir,left,right,winner\n1,2,3,oak,1,a\n" + "9,1,2,3,oak,1,a\n" * 3
        found = checked(put(tmp_path, text), f"{flags} --items oak,elm,fir")
        assert found["left out"]["more fields than the header"] == 3
        assert "" not in {it.strip("'") for it in (*found["unknown items"], *found["misread"])}


@pytest.mark.parametrize("complete", ["full", "tied", "partial --unranked apart"])
def test_a_code_above_the_places_is_no_missing_item(complete, tmp_path):
    path = written(
        tmp_path, "who,oak,elm,fir", [[f"p{at}", "1", *(("2", "3") if at % 2 else ("4", "4"))] for at in range(10)]
    )
    [line] = [
        it
        for it in checked(path, f"--wide --items oak,elm,fir --ballots {complete}")["noticed"]
        if "places go up" in it
    ]
    assert "--unranked-as 4" in line
    assert "missing from --items" not in line
    assert ("with --ballots partial" in line) == (not complete.startswith("partial"))
    path = written(
        tmp_path, "who,oak,elm,fir", [[f"p{at}", *(("1", "2", "4") if at % 2 else ("4", "3", "1"))] for at in range(10)]
    )
    [line] = [
        it
        for it in checked(path, f"--wide --items oak,elm,fir --ballots {complete}")["noticed"]
        if "places go up" in it
    ]
    assert (
        "is an item missing from --items, or does 4 say that there is no place (--unranked-as 4" in line
        or "ratings" in line
    )


@pytest.mark.parametrize("question", ["consensus", "winner"])
def test_a_rehearsal_says_that_its_data_are_made_up(question, tmp_path):
    path = written(tmp_path, "oak,elm", ["1,2", "2,1"])
    words = [question, path, "--wide", "--items", "oak,elm", "--epsilon", "1"]
    for flags, made_up in ((["--rehearse"], True), ([], False)):
        out = tmp_path / f"{made_up}.json"
        shown = run("release", *words, *flags, "--out", out).out
        says = json.loads(out.read_text())["says"]
        pages = [report(out.read_text(), it) for it in ("markdown", "html")] if made_up else []
        assert shown.startswith("Made up: a rehearsal invents its data") == made_up
        assert says[0].startswith("Made up") == made_up
        assert run("verify", out).code == 0
        for page in pages:
            assert "Made up: a rehearsal invents its data" in page
    file = json.loads((tmp_path / "False.json").read_text())
    file["rules"]["data"] = "made up, for a rehearsal"
    with pytest.raises(ValueError, match="rehearsal"):
        read_publication(json.dumps(file))


def test_compare_names_what_was_declared(tmp_path):
    path = written(tmp_path, "oak,elm", ["1,2", "2,1"])
    for complete in ("tied", "full"):
        words = ["--wide", "--items", "oak,elm", "--ballots", complete, "--epsilon", "1", "--out", tmp_path / complete]
        assert run("release", "consensus", path, *words).code == 0
    error = refused("compare", tmp_path / "tied", tmp_path / "full")
    assert "ballots of the first is 'all items, with ties', of the second 'all items, none alike'" in error


@pytest.mark.parametrize(("sign", "said"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_readers_say_which_sign_separates_columns(sign, said, tmp_path):
    path = put(tmp_path, f"who{sign}it{sign}price\na{sign}oak{sign}1,50\nb{sign}elm{sign}2,25\n")
    with pytest.raises(ValueError, match=f"is separated by {said}, and this reads commas alone: dprank.Declaration"):
        dprank.read_tallies(path, items=["oak", "elm"], person="who", item="it")
    path = put(tmp_path, f"oak{sign}elm\n1{sign}2\n")
    with pytest.raises(ValueError, match=f"is separated by {said}, and this reads commas alone"):
        dprank.read_rankings(path, items=["oak", "elm"], person=None)
