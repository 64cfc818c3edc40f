"""Files of a fifth newcomer: stars for either item are no answer, and that is told before anything is spent."""

import itertools
import re

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
    assert [it for it in said if it.endswith("the highest is best (--best high; not of marks, where 1 is)?")]


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


# What to type, for answers and for codes of items


def sides_of(one, other, tie=""):
    said = [one, other, *([tie] * bool(tie))]
    return [[*PAIRS[at % 3], said[at * at % 5 % len(said)]] for at in range(30)]


@pytest.mark.parametrize(
    ("one", "other", "tie"),
    [("A", "B", ""), ("H", "A", "D"), ("1-0", "0-1", "½-½"), ("left", "right", "tie"), ("links", "rechts", "")],
)
@pytest.mark.parametrize("meaning", ["names", "outcome"])
def test_answers_of_sides_have_both_maps(one, other, tie, meaning, tmp_path):
    """Each of the two flags reads all rows, and one is the other turned round."""
    flags = f"--comparisons left,right,answer {ITEMS} --map"
    rows = sides_of(one, other, tie)
    [line] = [it for it in noticed(tmp_path, "left,right,answer", rows, f"{flags} {meaning}") if "--map does not" in it]
    assert f"if {one!r} says that the first item ('left') is preferred" in line
    first, second = re.findall(r'--map ("[^"]*"|[^ ,]+(?:,[^ ,]+)*), if', line)
    assert first.strip('"').startswith(f"{one}=1,{other}=0")
    assert second.strip('"').startswith(f"{one}=0,{other}=1")
    for each in (first, second):
        told = checked(written(tmp_path, "left,right,answer", rows), f"{flags} {each}")
        assert (told["rows that count"], told["noticed"]) == (30, [])


def test_answers_of_many_words_have_one_flag(tmp_path):
    rows = [[*PAIRS[at % 3], ("much", "little", "hardly", "not")[at % 4]] for at in range(30)]
    said = noticed(tmp_path, "left,right,answer", rows, f"--comparisons left,right,answer {ITEMS} --map names")
    assert [it for it in said if "--map hardly=,little=,much=,not= says it, with 1 behind = for the first" in it]


@pytest.mark.parametrize("cells", ["-1 0 1", "-2 -1 0 1 2", "1 2 3 4 5"])
def test_scales_have_both_maps(cells, tmp_path):
    kinds = cells.split()
    rows = [[*PAIRS[at % 3], kinds[at * at % 7 % len(kinds)]] for at in range(42)]
    flags = f"--comparisons left,right,answer {ITEMS} --map"
    [line] = [it for it in noticed(tmp_path, "left,right,answer", rows, f"{flags} outcome") if it[:7] == "answers"]
    first, second = (
        {it.split("=")[0]: float(it.split("=")[1]) for it in each.split(",")}
        for each in re.findall(r"--map (\S+=[01.5]+)", line)
    )
    assert {key: 1 - it for key, it in first.items()} == second
    assert set(first) == {it for row in rows for it in row[2:]} | set(first)


@pytest.mark.parametrize("form", ["--ranks one,two,three", "--orders vote", "--long item,place --person who"])
def test_codes_of_items(form, tmp_path):
    header = "who,item,place,one,two,three,vote"
    rows = [
        [f"p{at}", item, str(place), *order, " > ".join(order)]
        for at, order in enumerate(ORDERS)
        for place, item in enumerate(order, 1)
    ]
    flags = f"{form} {ITEMS} --ballots partial --unranked last"
    [line] = [it for it in noticed(tmp_path, header, rows, flags) if it.startswith("numbers stand where items should")]
    aliases = re.findall(r"--alias '[^']*'", line)
    assert aliases == ["--alias '1=oak'", "--alias '2=elm'", "--alias '3=fir'"]
    said = noticed(tmp_path, header, rows, f"{flags} {' '.join(aliases)}")
    assert not [it for it in said if "codes" in it or it.startswith("nothing counts")]


def test_codes_of_items_with_one_for_none(tmp_path):
    said = noticed(tmp_path, "a,b", ["1,0", "2,1", "3,2"] * 3, f"--ranks a,b {ITEMS} --ballots partial --unranked last")
    assert [it for it in said if it.endswith("in the order of --items; --unranked-as 0, if 0 is none")]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["21: oak > elm", "4: elm > oak > fir"],
            "count;order as line 1, and 21;A > B for 21: A > B in each line",
        ),
        (["21 oak > elm", "4 elm > oak > fir"], "write count;order as line 1, and 21;A > B for 21 A > B in each line"),
        (["oak > elm", "elm > oak > fir"], "each line is an order: write order as line 1, and add --orders order"),
    ],
)
def test_lines_of_orders(lines, told, tmp_path):
    path = tmp_path / "votes.txt"
    path.write_text("\n".join([*lines * 3, ""]))
    words = ["--items", "oak,elm,fir", "--ballots", "partial", "--unranked", "last"]
    done = run("check", path, *words)
    assert done.code == 2
    assert told in done.error
    header, *cells = ["count;order", *(re.sub("(?<=[0-9])(: | )", ";", it) for it in lines)]
    count = ["--times", "count"] if lines[0][0].isdigit() else []
    path.write_text("\n".join([header if count else "order", *cells, ""]))
    assert run("check", path, "--orders", "order", *count, *words).code == 0
    path.write_text("a,b\n1,2\n2,1\n")
    assert "say what a row is" in run("check", path, *words).error
