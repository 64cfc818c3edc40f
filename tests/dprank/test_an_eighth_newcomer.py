"""What an eighth newcomer, who got all of 25 files right, was told on the way that led astray."""

import json
import shlex

import pytest
from test_a_fourth_newcomer import ITEMS, noticed
from test_cli_check import checked, written

from dprank.cli.path import said as run

WIDE = f"--wide --ballots tied {ITEMS}"


def test_an_alias_of_bytes_that_are_no_text_is_typed_as_it_is_told(tmp_path):
    path = tmp_path / "who.csv"
    path.write_bytes(b"who,one,two\n" + "a,Bäume,elm\nb,elm,Bäume\n".encode("cp1252") * 3)
    flags = "--ranks one,two --ballots partial --unranked last --items Bäume,elm"
    said = checked(path, flags)["noticed"]
    assert (
        "some bytes are no UTF-8: save the file as UTF-8, which spreadsheets call 'CSV UTF-8', or say --encoding"
        in said
    )
    line = next(it for it in said if "--alias 'B" in it)
    alias = shlex.split(line.partition("--alias ")[2].partition(", if")[0])[0]
    done = run("check", path, *shlex.split(flags), "--alias", alias, "--json")
    assert json.loads(done.out)["unknown items"] == {}
    path.write_text(path.read_text("cp1252"), encoding="utf-8")
    assert not [it for it in checked(path, flags)["noticed"] if "UTF-8" in it]


@pytest.mark.parametrize("words", [("Very important", "So so", "Unimportant", "Not at all", "Never"), tuple("ABCDE")])
def test_places_that_are_declared_in_words_are_no_ratings(words, tmp_path):
    rows = [[words[at % 5], words[(at + 1) % 4], words[(at * 3 + 2) % 5]] for at in range(30)]
    meant = ",".join(f"{it}={at}" for at, it in enumerate(words, 1))
    said = noticed(tmp_path, "oak,elm,fir", rows, f"{WIDE} --map '{meant}'")
    assert not [it for it in said if "ratings" in it or "no place (--unranked-as" in it]
    assert [it for it in noticed(tmp_path, "oak,elm,fir", [["5", "4", "4"]] * 9, WIDE) if "ratings" in it]


def test_comparisons_have_no_weights(tmp_path):
    path = written(tmp_path, "a,b,n", [["oak", "elm", "3"]])
    weighed = ("--weight", "n", "--max-weight", "9")
    done = run("check", path, "--comparisons", "a,b,a", "--map", "names", *ITEMS.split(), *weighed)
    assert "comparisons have none; write the row as often as it counts" in done.error


def test_answers_in_another_case_are_cleaned(tmp_path):
    rows = [["oak", "elm", it] for it in ("gauche", "Gauche", "DROITE", "droite ", "ÉGAL")]
    flags = f"--comparisons l,r,said --map gauche=1,droite=0,égal=0.5 {ITEMS}"
    [line] = [it for it in noticed(tmp_path, "l,r,said", rows, flags) if "left out by what they say" in it]
    rules = line.partition("--clean ")[2].split()[0]
    assert checked(written(tmp_path, "l,r,said", rows), f"{flags} --clean {rules}")["rows that count"] == 5


def test_names_with_commas_are_listed_apart(tmp_path):
    trees, out = ("oak, old", "elm", "fir"), tmp_path / "items.txt"
    out.write_text("\n".join(trees))
    path = written(tmp_path, "", [], "votes.csv")
    path.write_text('"oak, old",elm,fir\n' + "1,2,3\n" * 60)
    done = run("release", "consensus", path, "--wide", "--items", out, "--ballots", "full", "--epsilon", "100")
    assert done.code == 0, done.error
    assert "is first, then elm; fir" in done.out or "oak, old is first, then elm, fir" in done.out
    path.write_text('elm,"oak, old",fir\n' + "1,2,3\n" * 60)
    done = run("release", "consensus", path, "--wide", "--items", out, "--ballots", "full", "--epsilon", "100")
    assert "elm is first, then oak, old; fir" in done.out
    assert "replace one ballot" in done.out
    assert "one voter" not in done.out


@pytest.mark.parametrize("meant", ["names", "names,same=0.5"])
def test_names_are_not_turned_by_a_map(meant, tmp_path):
    path = written(tmp_path, "l,r,said", [["oak", "elm", "oak"], ["oak", "fir", "fir"]])
    said = checked(path, f"--comparisons l,r,said --map {meant} {ITEMS}")["rows are read"]
    assert "of --map round" not in said
    assert said.endswith("the file needs a column of the preferred one")
