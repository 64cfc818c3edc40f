"""Files of a fifth newcomer: stars for either item are no answer, and that is told before anything is spent."""

import itertools

import pytest
from test_a_fourth_newcomer import ITEMS, PAIRS, TREES, noticed
from test_cli_check import checked, written

import dprank
from dprank.cli.path import said as run
from dprank.data.answers import told_answers
from dprank.data.noticed_matches import sides

STARS = [(4, 5), (3, 1), (3, 5), (2, 1), (5, 5), (1, 2)]


def rows(people=24):
    return [[f"j{at}", *PAIRS[at % 3], *map(str, STARS[at % 6])] for at in range(people)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("stars_left", "stars_right"), ("ratingA", "ratingB"), ("Score 1", "Score 2"), ("note_links", "note_rechts")],
)
@pytest.mark.parametrize("scale", ["1=0,2=0,3=0.5,4=1,5=1", "5=0,4=0,3=0.5,2=1,1=1"])
def test_a_measure_of_either_item(one, other, scale, tmp_path):
    flags = f"--comparisons 'left,right,{one}' {ITEMS} --person judge --map {scale}"
    said = [it for it in noticed(tmp_path, f"judge,left,right,{one},{other}", rows(), flags) if other in it]
    assert len(said) == 1
    assert said[0].startswith(f"the answer stands in '{one}', and '{other}' has numbers of the same kind")
    assert said[0].endswith("1 for the first item, 0 for the second, 0.5 for a tie, and say --map outcome")


@pytest.mark.parametrize("header", ["hotel_stars", "stars", "age_right", "stars_left_again"])
def test_other_columns_are_no_half(header, tmp_path):
    flags = f"--comparisons left,right,stars_left {ITEMS} --person judge --map 1=0,2=0,3=0.5,4=1,5=1"
    said = noticed(tmp_path, f"judge,left,right,stars_left,{header}", rows(), flags)
    assert not [it for it in said if it.startswith("the answer stands in")]


def test_sides_are_told_apart_by_one_word():
    assert sides("points_home", "points_away")
    assert sides("q1_a", "q1_b")
    assert not sides("q1_a", "q2_b")
    assert not sides("a", "b")


# Which way rows are read

HIGH = "if the highest number is the best, as of points, add --best high"
ORDERS = [*itertools.permutations("123")]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (f"--wide {ITEMS}", f"1 is taken for the best place; {HIGH}"),
        (f"--wide {ITEMS} --lowest 0", f"0 is the best place; {HIGH}"),
        (f"--wide {ITEMS} --best high", "the highest number is taken for the best; if the lowest is, as of places"),
        (f"--long tree,place --ballots full --person who {ITEMS}", f"1 is taken for the best place; {HIGH}"),
        (f"--orders vote --ballots full {ITEMS}", "of A > B, A is taken for the better one"),
        (f"--orders vote --ballots full --between ';' {ITEMS}", "of A ; B, A is taken for the better one"),
        (
            f"--ranks one,two --ballots partial --unranked last {ITEMS}",
            "'one' is taken for the best place and 'two' for",
        ),
        (f"--ranks one --ballots partial --unranked last {ITEMS}", "'one' is taken for the best place; if not, name"),
        (
            f"--comparisons left,right,who --map position {ITEMS}",
            "1 for the first item, 2 for the second; the fir",
        ),
        (f"--comparisons left,right,left --map names {ITEMS}", "the item of 'left' is taken for the preferred one"),
        (f"--comparisons left,right,vote --map names {ITEMS}", "an answer is the name of the item that is preferred"),
        (f"--item tree --person who {ITEMS}", "each says that a person has an item"),
    ],
)
def test_which_way_rows_are_read_is_always_told(flags, words, tmp_path):
    header = "who,tree,place,vote,one,two,left,right,oak,elm,fir"
    rows = [["p0", "oak", "1", "oak > elm > fir", "oak", "elm", "fir", "oak", "1", "2", "3"]]
    full, none = (checked(written(tmp_path, header, some), flags)["rows are read"] for some in (rows, []))
    assert words in full
    assert full == none  # by what is declared alone


@pytest.mark.parametrize("word", ["points", "Note", "grade", "Punkte", "nota", "voto"])
def test_a_column_that_is_called_a_rating(word, tmp_path):
    """Points from 1 to the number of items look like places: their name alone may tell."""
    rows = [[f"p{at // 3}", TREES[at % 3], ORDERS[at // 3 % 6][at % 3]] for at in range(60)]
    flags = f"--long tree,{word} --ballots full --person who {ITEMS}"
    assert f"column '{word}' is called a rating, and the lowest is taken for the best: if not, --best high" in noticed(
        tmp_path, f"who,tree,{word}", rows, flags
    )
    assert noticed(tmp_path, f"who,tree,{word}", rows, f"{flags} --best high") == []


def test_ratings_that_are_no_full_ballots(tmp_path):
    """Most have ties: before they are let in, it is asked which number is the best."""
    cells = [("3", "3", "2"), ("2", "3", "2"), ("3", "1", "3"), ("2", "2", "3"), ("1", "2", "3")]
    said = noticed(tmp_path, "oak,elm,fir", [cells[at % 5] for at in range(40)], f"--wide {ITEMS}")
    assert [it for it in said if it.endswith("are they ratings, where the highest is best (--best high)?")]


# Rows that are no ballots, and what is told of rows

COUNTED = ["5,oak > elm > fir", "4,elm > fir > oak", "3,fir > oak > elm"]


@pytest.mark.parametrize("cell", ["", "Total", "Summe", "total:"])
@pytest.mark.parametrize("flags", ["--times Stimmen", "", "--times Stimmen --ballots full"])
def test_a_row_that_sums_up_counted_ballots(cell, flags, tmp_path):
    form = f"--orders vote {ITEMS} {flags}" + " --ballots partial --unranked last" * ("full" not in flags)
    [line] = [it for it in noticed(tmp_path, "Stimmen,vote", [*COUNTED, f"12,{cell}"], form) if "1 row is" in it]
    assert line.endswith(f"read as {'12 ballots' if flags else '1 ballot'}: take it out")
    assert not [it for it in noticed(tmp_path, "Stimmen,vote", [*COUNTED, "2,"], form) if "1 row is" in it]
    assert not [it for it in noticed(tmp_path, "Stimmen,vote", COUNTED, form) if "1 row is" in it]


@pytest.mark.parametrize("last", [["24", "", "", ""], ["24", "48", "51", "45"]])
def test_a_row_that_sums_up_a_column_an_item(last, tmp_path):
    rows = [[str(n), *order] for n, order in zip((5, 7, 9, 3), ORDERS, strict=False)]
    flags = f"--wide --times n --ballots tied {ITEMS}"
    assert [it for it in noticed(tmp_path, "n,oak,elm,fir", [*rows, last], flags) if it.startswith("1 row is the sum")]
    assert not [it for it in noticed(tmp_path, "n,oak,elm,fir", [*rows, ["24", *"123"]], flags) if "1 row is" in it]


def test_a_declared_sign_is_not_asked_for(tmp_path):
    rows = [f"{at},oak|elm|fir" for at in range(9)] + ["9,Oaak|fir|elm", "10,Oaak|elm|fir"]
    said = noticed(tmp_path, "id,vote", rows, f"--orders vote --between '|' --ballots tied --person id {ITEMS}")
    assert not [it for it in said if "A > B" in it]
    assert said[-1].endswith("--alias 'Oaak=oak', if that is what 'Oaak' means")


def test_answers_of_a_questionnaire_are_no_rows(tmp_path):
    path = written(tmp_path, "id,oak vs elm,oak vs fir,elm vs fir", ["1,oak,oak,", "2,elm,fir,elm"])
    flags = ["--pairs", "all", "--map", "names", "--items", "oak,elm,fir", "--person", "id"]
    lines = run("check", path, *flags).out.splitlines()
    assert {"rows of the file: 2", "answers: 5", "answers that count: 5"} <= {*lines}
    assert not [it for it in lines if it.startswith(("rows:", "rows that count"))]


def matches(rounds=4):
    return [[str(at + 1), *pair, "10"[at % 2]] for at in range(rounds) for pair in itertools.permutations(TREES, 2)]


@pytest.mark.parametrize("name", ["Round", "Spieltag", "week"])
def test_rounds_of_a_tournament_are_no_questions(name, tmp_path):
    flags = f"--comparisons left,right,answer {ITEMS} --map outcome"
    assert not [it for it in noticed(tmp_path, f"{name},left,right,answer", matches(), flags) if name in it]
    again = [row for row in matches() for _ in range(3)]  # where many answer the same in each round, it is one
    assert [it for it in noticed(tmp_path, "wave,left,right,answer", again, flags) if "several questions" in it]


def test_a_match_not_played_is_told_once(tmp_path):
    rows = [[*pair, "W/O" if at == 1 else "6-4 6-3"] for at in range(4) for pair in itertools.permutations(TREES, 2)]
    said = noticed(tmp_path, "w,l,score", rows, f"--comparisons w,l,w --map names {ITEMS}")
    assert len([it for it in said if "'score'" in it]) == 1


@pytest.mark.parametrize("person", ["", "--person judge"])
def test_two_sides_in_turn_are_no_match_written_twice(person, tmp_path):
    """Each judge of two items has one row, and sides were shown in turn."""
    each = [("oak", "elm", "1"), ("elm", "oak", "0.5"), ("oak", "elm", "0.5"), ("elm", "oak", "0")]
    rows = [[f"j{at}", *each[at % 4]] for at in range(40)]
    said = noticed(tmp_path, "judge,left,right,answer", rows, f"--comparisons left,right,answer --map outcome "
                   f"--items oak,elm {person}")  # fmt: skip
    assert bool([it for it in said if "mirror" in it]) == (person == "")


# What is published of answers


@pytest.mark.parametrize(
    ("answers", "words", "published"),
    [
        (
            {"H": 1, "D": 0.5, "A": 0},
            "'H' for the first item, 'A' for the second, 'D' for a tie",
            "1 answer for the first item, 1 for the second, 1 for a tie",
        ),
        (
            {"-1": 1, "1": 0, "0": 0.5},
            "-1 for the first item, 1 for the second, 0 for a tie",
            "1 answer for the first item, 1 for the second, 1 for a tie",
        ),
        (
            {"3": 0, "2": 0, "-2": 1, "-3": 1},
            "-3, -2 for the first item, 2, 3 for the second",
            "2 answers for the first item, 2 for the second",
        ),
        ({"tie": 0.5}, "'tie' for a tie", "1 answer for a tie"),
        (
            {"0": 0, "Ann said the left": 1},
            "'Ann said the left' for the first item, 0 for the second",
            "1 answer for the first item, 1 for the second",
        ),
    ],
)
def test_answers_are_told_to_the_curator_and_counted_in_public(answers, words, published):
    declared = dprank.Declaration(kind="comparisons", items=TREES, columns=("left", "right", "answer"), answers=answers)
    assert told_answers(answers, words=True) == f"{words}, or the name of the preferred item"
    assert declared.rules_of_ballots()["answers"] == f"{published}, or the name of the preferred item"
