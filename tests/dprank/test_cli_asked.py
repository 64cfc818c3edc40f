"""One refusal names all that is missing, or the question that takes what was said."""

import shlex

import pytest

import dprank
from dprank.cli.path import said

LACKS = {
    "release consensus o.csv --orders vote": ["options '--epsilon', '--items'"],
    "release ranking o.csv": ["options '--epsilon', '--protect', '--items'"],
    "release ranking o.csv --protect=answer --items a,b": ["option '--epsilon'"],
    "release consensus o.csv --orders vote --epsilon 1": ["--items (all", "--ballots (full", "apart or last"],
    "release consensus city.toc --epsilon 1": ["--items (all", "of PrefLib", "--ballots (full"],
    "release consensus o.csv --orders vote --ballots partial --epsilon 1": ["--items (all", "and --unranked (apart"],
    "release consensus o.csv --orders vote --ballots partial --weight w --items a,b --epsilon 1":
        ["missing: --unranked (apart", "and --max-weight"],
    "release consensus o.csv --orders vote --items a,b --epsilon 1": ["--ballots full", "--unranked apart or last"],
    "release winner o.csv --long a,b --epsilon 1": ["--items (all", "--person or --ballot", "and --ballots (full"],
    "release ranking o.csv --comparisons a,b,c --protect person --epsilon 1":
        ["--items (all", "--person (the", "and --answers (how many"],
    "release topk o.csv --item a --k 1 --per-person 1 --epsilon 1": ["--items (all", "and --person (the"],
    "check o.csv --long a,b": ["--items (all", "--person or --ballot", "and --ballots (full"],
}  # fmt: skip
NOWHERE = {
    "release ranking o.csv --wide --epsilon 1": "ballots, whole orders, go to `release consensus`",
    "release ranking o.csv --orders vote --epsilon 1": "ballots, whole orders, go to `release consensus`",
    "release topk o.csv --ballots full --epsilon 1": "ballots, whole orders, go to `release consensus`",
    "release winner o.csv --comparisons a,b,c --epsilon 1": "go to `release ranking`",
    "release agreement o.csv --pairs all": "go to `release ranking`",
    "release consensus o.csv --item a --epsilon 1": "items that people have go to `release topk`",
    "release ranking city.toc --items a,b --protect answer --epsilon 1":
        "is what the file holds; this takes comparisons: ballots, whole orders, go to `release consensus`",
    "release topk city.toc --items a,b --person who --k 1 --per-person 1 --epsilon 1": "this takes tallies: ballots",
    "count o.csv --wide --items a,b --out x": "counted in parts; ballots, whole orders, go to `release consensus`",
    "release consensus o.csv --itms a,b --epsilon 1": "--itms (Possible options: --items, ",
    "release ranking o.csv --comparisons winner,loser --items a,b --protect answer --epsilon 1":
        "the columns of first, second, answer are needed, each once; of winner and loser alone: ",
}  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "o.csv").write_text("who,vote\n1,SECRET>b\n")
    (tmp_path / "city.toc").write_bytes(dprank.example("city.toc").read_bytes())
    monkeypatch.chdir(tmp_path)


def refused(words):
    done = said(*shlex.split(words))
    assert (done.code, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert "SECRET" not in done.error
    return done.error


@pytest.mark.parametrize("words", LACKS)
def test_all_that_is_missing_is_said_at_once(words, files):
    error = refused(words)
    assert [part for part in LACKS[words] if part not in error] == []


@pytest.mark.parametrize("words", NOWHERE)
def test_another_question_takes_it(words, files):
    assert NOWHERE[words] in refused(words)


def test_what_a_plan_says_is_not_missing(files, tmp_path):
    (tmp_path / "plan.toml").write_text(
        'kind = "tallies"\nitems = ["a", "b"]\nperson = "who"\ncolumns = ["vote"]\n[release]\nk = 1\nper_person = 1\n'
    )
    assert "option '--epsilon'" in refused("release topk o.csv --plan plan.toml")
    assert said(*shlex.split("release topk o.csv --plan plan.toml --epsilon 1 --rehearse")).code == 0
