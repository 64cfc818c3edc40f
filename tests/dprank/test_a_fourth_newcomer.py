"""Files of a fourth newcomer: what was counted wrongly, or protected less than people think, is told."""

import itertools
import json
import random
import re

import pytest
from test_cli_check import checked, written

import dprank
from dprank.cli.path import said as run
from dprank.data.noticed_worst import from_the_worst

TREES = ("oak", "elm", "fir")
PAIRS = [*itertools.combinations(TREES, 2)]
ITEMS = "--items oak,elm,fir"
TWO = f"--comparisons left,right,answer {ITEMS}"
OUTCOME = f"{TWO} --map outcome"
HAS = "--item dx --items flu,gout,asthma"
FULL = ("1,2,3", "1,3,2", "3,2,1")


def noticed(folder, header, rows, flags):
    return checked(written(folder, header, rows), flags)["noticed"]


def released(folder, question, header, rows, flags, *more):
    """Items in the order that is published, at an epsilon that leaves no noise."""
    path, out = written(folder, header, rows), folder / "release.json"
    words = [*re.findall(r"'[^']*'|\S+", flags), *more, "--epsilon", "1000", "--out", str(out)]
    done = run("release", question, path, *[it.strip("'") for it in words])
    assert done.code == 0, done.error
    said = json.loads(out.read_text())["answer"]
    out.unlink()
    return [it["item"] for it in said]


def answers(*lists):
    """Rows of a pair and an answer, those of each pair in a list of its own."""
    return [[*pair, str(it)] for pair, said in zip(PAIRS, lists, strict=True) for it in said]


# Who is protected


@pytest.mark.parametrize(
    "name", ["user", "user_id", "E-Mail", "Voter No.", "Kundennummer", "worker", "Name", "participant code", "cliente"]
)
def test_a_column_of_people_that_is_not_used(name, tmp_path):
    rows = [[f"u{at % 5}", *PAIRS[at % 3], str(at % 2)] for at in range(30)]
    [line] = noticed(tmp_path, f"{name},left,right,answer", rows, OUTCOME)
    assert line.startswith(f"column '{name}' is not used, and 5 labels there have 30 rows: does it say who?")
    assert line.endswith(f"one answer is protected, and not all that somebody gave: --person '{name}'")
    said = noticed(tmp_path, f"{name},left,right,answer", rows, f"{OUTCOME} --person '{name}'")
    assert [it for it in said if "answered before" not in it] == []


@pytest.mark.parametrize(("unit", "who"), [("order_id", "customer_id"), ("visit", "patient"), ("row", "Kunde")])
def test_people_above_what_is_said_to_be_one(unit, who, tmp_path):
    """An order, or a visit, is protected, and not whoever made several."""
    rows = [[f"o{at}", f"c{at % 7}", ("flu", "gout", "asthma")[at * at % 3]] for at in range(40)]
    [line] = noticed(tmp_path, f"{unit},{who},dx", rows, f"{HAS} --person {unit}")
    assert f"column '{who}' is not used, and 7 labels there have 40 of '{unit}'" in line
    assert f"A person is protected in what one label of '{unit}' gave, and not in all: --person '{who}'" in line
    assert noticed(tmp_path, f"{unit},{who},dx", rows, f"{HAS} --person {who}") == []


def test_people_of_ballots(tmp_path):
    rows = [[f"u{at % 7}@x.example", *FULL[at % 7 % 3].split(",")] for at in range(28)]
    [line] = noticed(tmp_path, "email,oak,elm,fir", rows, f"--wide {ITEMS}")
    assert "one ballot is protected" in line
    rows = [[f"s{at // 3}", f"v{at // 6}", TREES[at % 3], str((at + at // 9) % 3 + 1)] for at in range(36)]
    flags = f"--long item,rank --ballot session --ballots full {ITEMS}"
    [line] = noticed(tmp_path, "session,voter,item,rank", rows, flags)
    assert "column 'voter' is not used, and 6 labels there have 12 of 'session'" in line


@pytest.mark.parametrize(
    "columns",
    [
        {"customer segment": lambda at: f"s{at % 3}"},
        {"patient sex": lambda at: "mf"[at % 2]},
        {"doctor": lambda at: f"Dr {at % 4}"},
        {"user agent": lambda at: f"Firefox {at % 4}"},
        {"voter": lambda at: f"v{at}"},
        {"region": lambda at: f"r{at % 5}", "household size": lambda at: at % 5},
        {"email": lambda at: "" if at % 9 else f"m{at}"},
    ],
)
def test_columns_that_name_nobody(columns, tmp_path):
    rows = [
        [f"p{at}", *PAIRS[at % 3], str(at * at % 5 % 2), *(str(of(at)) for of in columns.values())] for at in range(40)
    ]
    header = ",".join(["id,left,right,answer", *columns])
    for person in ("", " --person id"):
        assert not [it for it in noticed(tmp_path, header, rows, OUTCOME + person) if "say who" in it], person
    rows = [[f"p{at // 2}", "flu" if at % 3 else "gout", f"Dr {at % 4}", f"k{at % 3}"] for at in range(40)]
    assert noticed(tmp_path, "patient,dx,doctor,employee", rows, f"{HAS} --person patient") == []


@pytest.mark.parametrize(
    ("header", "rows", "flags", "column"),
    [
        (
            "patient,dx",
            [[f"p{at // 2}" * (at % 2 == 0), ("flu", "gout", "asthma")[at * at % 3]] for at in range(40)],
            f"{HAS} --person patient",
            "patient",
        ),
        (
            "who,left,right,answer",
            [[f"p{at // 3}" * (at % 3 == 0), *PAIRS[at % 3], str(at * at % 5 % 2)] for at in range(30)],
            f"{OUTCOME} --person who",
            "who",
        ),
        (
            "who,item,rank",
            [[f"p{at // 3}" * (at % 3 == 0), TREES[at % 3], str((at + at // 3) % 3 + 1)] for at in range(30)],
            f"--long item,rank --person who --ballots full {ITEMS}",
            "who",
        ),
    ],
)
def test_cells_that_were_merged(header, rows, flags, column, tmp_path):
    found = noticed(tmp_path, header, rows, flags)
    [line] = [it for it in found if "merged cells" in it]
    assert f"rows have nothing in '{column}', below one that has" in line
    at = header.split(",").index(column)
    filled = [*itertools.accumulate(rows, lambda above, row: [*row[:at], row[at] or above[at], *row[at + 1 :]])]
    assert noticed(tmp_path, header, filled, flags) == []


def test_people_who_are_missing_here_and_there(tmp_path):
    rows = [[f"p{at // 2}" if at % 5 else "", ("flu", "gout", "asthma")[at * at % 3]] for at in range(40)]
    assert not [it for it in noticed(tmp_path, "patient,dx", rows, f"{HAS} --person patient") if "merged" in it]


@pytest.mark.parametrize("sign", "_-. #")
def test_labels_that_count_rows_of_one_person(sign, tmp_path):
    rows = [[f"u{at // 3}{sign}{at % 3 + 1}", *PAIRS[at % 3], str(at * at % 5 % 2)] for at in range(60)]
    [line] = noticed(tmp_path, "id,left,right,answer", rows, f"{OUTCOME} --person id")
    assert line.startswith("labels of 'id' count from 1 behind what 20 have in common: are they rows of one person?")
    assert "Each of 60 labels is protected as somebody" in line
    whole = [[row[0].split(sign)[0], *row[1:]] for row in rows]
    assert noticed(tmp_path, "id,left,right,answer", whole, f"{OUTCOME} --person id") == []


@pytest.mark.parametrize(
    "label",
    [
        lambda at: f"site{at // 15}-{at % 15 + 1}",
        lambda at: f"2026-{at + 1}",
        lambda at: f"{at // 3}-{at % 3 + 1:03}",
        lambda at: f"p{at}",
        lambda at: f"ann.{at * 7 % 61}",
        lambda at: f"{at // 3}.{at * 5 % 60}",
    ],
)
def test_labels_that_are_numbered_otherwise(label, tmp_path):
    rows = [[label(at), *PAIRS[at % 3], str(at * at % 5 % 2)] for at in range(60)]
    assert noticed(tmp_path, "id,left,right,answer", rows, f"{OUTCOME} --person id") == []


# What answers mean


@pytest.mark.parametrize(
    ("meaning", "lists", "asks", "right"),
    [
        (
            "outcome",
            ([1, 0, 0, -1], [1, 1, 0, -1], [0, 0, -1, 1]),
            "0 is read as the second item's win",
            "1=1,-1=0,0=0.5",
        ),
        (
            "outcome",
            ([1, 2, 0, 2], [1, 2, 1, 0], [0, 2, 2, 1]),
            "0 is read as the win of the second item",
            "1=1,2=0,0=0.5",
        ),
        ("outcome", ([1, 2, 2], [1, 2, 1], [1, 2, 2]), "as outcome knows 1, 0.5 and 0", "position"),
        ("position", ([1, 0, 0], [0, 1, 1], [1, 0, 1]), "as position knows 1 and 2", "outcome"),
        ("position", ([1, 2, 3], [2, 2, 3], [1, 1, 3]), "as position knows 1 and 2", "1=1,2=0,3=0.5"),
        ("position", ([1, 2, 3], [2, 5, 3], [1, 4, 3]), "are they a scale", "1=1,2=1,3=0.5,4=0,5=0"),
        ("outcome", ([-2, 1, 0], [2, -1, 0], [1, 1, 2]), "a scale with 0 in the middle", "-2=1,-1=1,0=0.5,1=0,2=0"),
    ],
)
def test_numbers_that_are_none_of_those_declared(meaning, lists, asks, right, tmp_path):
    """What the notice says to do is tried, and is the end of it."""
    rows = answers(*lists) * 4
    found = noticed(tmp_path, "left,right,answer", rows, f"{TWO} --map {meaning}")
    [line] = [it for it in found if it.startswith("answers are ")]
    assert asks in line
    assert f"--map {right}" in line
    assert noticed(tmp_path, "left,right,answer", rows, f"{TWO} --map={right}") == []


@pytest.mark.parametrize(
    ("lists", "asks"),
    [(([0, 3, 1], [2, 4, 1], [0, 0, 5]), "points, or goals"), (([0.1, 0.7], [0.2, 1], [0.4, 0.9]), "shares")],
)
def test_numbers_of_one_side(lists, asks, tmp_path):
    found = noticed(tmp_path, "left,right,answer", answers(*lists) * 4, OUTCOME)
    assert [it for it in found if asks in it and it.startswith("answers are ")]


@pytest.mark.parametrize(
    ("items", "sides", "do"), [("A,B,C,D", "AB", "write 1 and 2"), ("1,2,3,4", "12", "--map position, if so")]
)
def test_sides_that_are_called_as_items_are(items, sides, do, tmp_path):
    rng = random.Random(1)
    rows = [[*rng.sample(items.split(","), 2), rng.choice(sides)] for _ in range(60)]
    found = noticed(tmp_path, "one,two,answer", rows, f"--comparisons one,two,answer --map names --items {items}")
    [line] = [it for it in found if it.startswith("all answers are ")]
    assert (
        f"which of the columns 'one' and 'two' holds the preferred item? They are read as names of items: {do}" in line
    )


def test_items_that_are_called_as_sides_are(tmp_path):
    rows = [[*pair, rng] for pair in (("1", "2"), ("2", "1")) for rng in "112"]
    flags = "--comparisons one,two,answer --items 1,2 --map "
    [line] = noticed(tmp_path, "one,two,answer", rows, f"{flags}position")
    assert line.endswith("does it name the preferred item (--map names), and not the column where it stands?")
    assert noticed(tmp_path, "one,two,answer", rows, f"{flags}names") == []
    rows = [["1", "2", it] for it in "112"]  # either way the same
    assert noticed(tmp_path, "one,two,answer", rows, f"{flags}'1=1,2=0'".replace("'1=1,2=0'", "names")) == []
    names = [[*pair, pair[at % 2]] for at in range(4) for pair in itertools.permutations("ABC", 2)]
    names = [row for row in names if row[2] != "C"]
    assert not [
        it
        for it in noticed(tmp_path, "one,two,answer", names, "--comparisons one,two,answer --map names --items A,B,C")
        if it.startswith("all answers")
    ]


@pytest.mark.parametrize("name", ["least", "Which do you like least?", "loser", "worse", "schlechter", "peor"])
def test_an_answer_that_names_the_loser(name, tmp_path):
    rows = [[*pair, pair[1]] for pair in PAIRS for _ in range(9)]
    flags = f"--comparisons 'left,right,{name}' --map names {ITEMS}"
    [line] = noticed(tmp_path, f"left,right,{name}", rows, flags)
    assert line.startswith(f"column '{name}' says by its name which item is liked less, or lost")
    rows = [["oak", "elm", "elm"]] * 9
    [line] = noticed(tmp_path, "winner,loser,x", rows, "--comparisons winner,loser,loser --map names --items oak,elm")
    assert line.endswith(
        "if the name is right, --comparisons winner,loser,winner --map names says that the first column won"
    )


@pytest.mark.parametrize("name", ["winner", "better", "preferred (not worse)", "answer"])
def test_an_answer_that_names_the_winner(name, tmp_path):
    rows = [[*pair, pair[at % 2]] for pair in PAIRS for at in range(9)]
    flags = f"--comparisons 'left,right,{name}' --map names {ITEMS}"
    assert noticed(tmp_path, f"left,right,{name}", rows, flags) == []


# What turns rows, and files, round


def shown(of, turned, seed=3):
    """Rows of an answer of the sides that were shown; oak is better than elm, and elm than fir."""
    rng, rows = random.Random(seed), []
    for at in range(60):
        pair, other = PAIRS[at % 3], rng.random() < 0.5
        wins = pair[rng.random() < 0.2]
        rows.append([f"j{at}", *pair, of(pair, other), ("right", "left")[(wins == pair[0]) != (other and turned)]])
    return rows


SWAPPED = {
    "order": lambda pair, other: ("AB", "BA")[other],
    "swapped": lambda pair, other: ("FALSE", "TRUE")[other],
    "is_flipped": lambda pair, other: ("0", "1")[other],
    "layout": lambda pair, other: ("normal", "reversed")[other],
    "vertauscht": lambda pair, other: ("", "x")[other],
    "presentation": lambda pair, other: ("1-2", "2-1")[other],
    "left_item": lambda pair, other: pair[other],
}


@pytest.mark.parametrize("name", SWAPPED)
def test_sides_that_were_shown_the_other_way_round(name, tmp_path):
    flags = f"--comparisons one,two,answer --map left=1,right=0 --person id {ITEMS}"
    header = f"id,one,two,{name},answer"
    rows = shown(SWAPPED[name], turned=True)
    [line] = noticed(tmp_path, header, rows, flags)
    assert line.startswith(f"column '{name}' is not used, and ")
    assert re.search("the other way round|the sides that were shown", line)
    others = [SWAPPED[name](pair, True) for pair in PAIRS]
    fixed = []
    for row in rows:
        other = row[3] != row[1] if name == "left_item" else row[3] in others[:1]
        fixed.append([row[0], *(row[2:0:-1] if other else row[1:3]), row[4]])
    order = released(tmp_path, "ranking", "id,one,two,answer", fixed, flags, "--protect", "person", "--answers", "1")
    assert order == ["oak", "elm", "fir"]
    names = [[*row[:4], row[1 + at % 2]] for at, row in enumerate(rows)]
    found = noticed(tmp_path, header, names, flags.replace("left=1,right=0", "names"))
    assert not [it for it in found if "way round" in it or "sides" in it]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("order", ["1", "2"]),
        ("version", ["A", "B"]),
        ("mode", ["online", "paper"]),
        ("switch user", ["yes", "no"]),
        ("left-handed", ["yes", "no"]),
        ("default", ["normal", "large"]),
        ("first language", ["oak", "beech"]),
    ],
)
def test_columns_that_turn_nothing(name, cells, tmp_path):
    rows = [[f"j{at}", *PAIRS[at % 3], cells[at * at % 5 % 2], ("left", "right")[at % 7 % 2]] for at in range(60)]
    flags = f"--comparisons one,two,answer --map left=1,right=0 --person id {ITEMS}"
    found = noticed(tmp_path, f"id,one,two,{name},answer", rows, flags)
    assert not [it for it in found if "way round" in it or "sides" in it]


@pytest.mark.parametrize(("name", "cells"), [("direction", ("asc", "desc")), ("scale", ("1=best", "5=best"))])
def test_places_that_are_turned_in_some_rows(name, cells, tmp_path):
    rows = [[f"p{at}", cells[at % 2], *("123", "321")[at % 2]] for at in range(20)]
    [line] = noticed(tmp_path, f"id,{name},oak,elm,fir", rows, f"--wide --person id {ITEMS}")
    assert f"10 of 20 rows have '{cells[1]}' there: are their places the other way round?" in line


@pytest.mark.parametrize("name", ["ranking (worst to best)", "worst first", "von der schlechtesten zur besten"])
def test_orders_from_the_worst(name, tmp_path):
    rows = [[f"p{at}", "fir > elm > oak"] for at in range(20)]
    flags = f"--orders '{name}' --ballots full --person id {ITEMS}"
    [line] = noticed(tmp_path, f"id,{name}", rows, flags)
    assert "says by its name that orders begin at the worst" in line
    assert released(tmp_path, "consensus", f"id,{name}", [[it, "oak > elm > fir"] for it, _ in rows], flags)[0] == "oak"
    rows = [[f"p{at}", *FULL[at % 3].split(",")] for at in range(20)]
    header = ",".join(f"{name} [{it}]" for it in TREES)
    alias = " ".join(f"--alias '{name} [{it}]={it}'" for it in TREES)
    found = noticed(tmp_path, f"id,{header}", rows, f"--wide --person id {ITEMS} {alias}")
    assert [it for it in found if it.endswith("if the name is right, --best high")]
    assert noticed(tmp_path, f"id,{header}", rows, f"--wide --person id {ITEMS} {alias} --best high") == []


def test_orders_from_the_best(tmp_path):
    for name in ("ranking (best to worst)", "order", "most liked first", "last vote"):
        assert not from_the_worst(name)
    rows = [[f"p{at}", "fir > elm > oak"] for at in range(20)]
    assert (
        noticed(tmp_path, "id,best to worst", rows, f"--orders 'best to worst' --ballots full --person id {ITEMS}")
        == []
    )


# Rows that do not count, or count twice


@pytest.mark.parametrize(
    ("word", "cell"), [("W/O", "W/O"), ("RET", "6-3 2-1 RET"), ("Kampflos", "kampflos (gewertet 2:0)"), ("dsq", "dsq.")]
)
def test_matches_that_were_not_played(word, cell, tmp_path):
    rows = [[*PAIRS[at % 3], f"6-{at % 5} {at % 4}-6 7-{at % 6}", PAIRS[at % 3][at * at % 5 % 2]] for at in range(18)]
    flags = f"--comparisons a,b,won --map names {ITEMS}"
    assert noticed(tmp_path, "a,b,score,won", rows, flags) == []
    [line] = noticed(tmp_path, "a,b,score,won", [*rows, *[["oak", "fir", cell, "fir"]] * 3], flags)
    assert line.startswith("column 'score' is not used, and 3 of 21 rows have '")
    assert f"{word.casefold()}' beside scores there: do such rows count?" in line.casefold()


@pytest.mark.parametrize("score", ["2:1 (a.e.t.)", "1-1 (4-3 pens)", "3-2 SO", "7-6(5) 6-4"])
def test_matches_that_were_played_to_the_end(score, tmp_path):
    rows = [[*PAIRS[at % 3], f"{at}-{at % 4}", PAIRS[at % 3][at * at % 5 % 2]] for at in range(18)]
    rows += [["oak", "fir", score, "fir"], ["oak", "elm", score, "elm"]] * 2
    assert noticed(tmp_path, "a,b,score,won", rows, f"--comparisons a,b,won --map names {ITEMS}") == []


def test_a_file_that_was_joined_with_itself(tmp_path):
    rng = random.Random(2)
    rows = [[f"2026-01-{at + 1:02}", *PAIRS[at % 3], str(rng.randint(0, 1))] for at in range(15)]
    for twice in (rows * 2, [row for row in rows for _ in "12"]):
        [line] = noticed(tmp_path, "day,left,right,answer", twice, OUTCOME)
        assert line.startswith("each of 15 rows is there twice, alike in every column: was a file joined with itself?")
    assert noticed(tmp_path, "day,left,right,answer", rows, OUTCOME) == []
    assert noticed(tmp_path, "left,right,answer", [row[1:] for row in rows] * 2, OUTCOME) == []


@pytest.mark.parametrize(
    "word",
    [
        *[
            "imputed",
            "simulated",
            "practice",
            "pilot",
            "dummy",
            "pretest",
            "superseded",
            "obsolete",
            "opt-out",
            "refused",
            "abgebrochen",
        ],
        "no consent",
        "not eligible",
    ],
)
def test_remarks_that_a_row_does_not_count(word, tmp_path):
    rows = [[f"p{at}", word if at % 4 == 0 else "", *FULL[at % 3].split(",")] for at in range(20)]
    [line] = noticed(tmp_path, "id,remark,oak,elm,fir", rows, f"--wide --person id {ITEMS}")
    assert line.startswith(f"column 'remark' is not used, and 5 of 20 rows have '{word}' there: do such rows count?")


@pytest.mark.parametrize("cells", [("pilot", "nurse", "cook"), ("training", "sales", ""), ("late", "early", "")])
def test_words_that_say_something_of_people(cells, tmp_path):
    rows = [[f"p{at}", cells[at % 3], *FULL[at % 3].split(",")] for at in range(20)]
    assert noticed(tmp_path, "id,work,oak,elm,fir", rows, f"--wide --person id {ITEMS}") == []


@pytest.mark.parametrize("name", ["proxies", "mandates", "voting power", "Stimmrechte", "seats", "delegates"])
def test_votes_that_one_ballot_casts(name, tmp_path):
    rows = [[f"p{at}", "11215"[at % 5], *FULL[at % 3].split(",")] for at in range(20)]
    [line] = noticed(tmp_path, f"id,{name},oak,elm,fir", rows, f"--wide --person id {ITEMS}")
    assert line.startswith(f"column '{name}' is not used and holds whole numbers: does a row stand for so many?")


OTHERS = [
    ("relation", ("self", "mother", "father"), "mother"),
    ("Diagnosesicherheit", ("G", "V", "Z"), "V"),
    ("event", ("purchase", "view", "wishlist"), "view"),
    ("trial_type", ("catch", "test", "test"), "catch"),
]


@pytest.mark.parametrize(("name", "cells", "word"), OTHERS)
def test_what_somebody_else_has(name, cells, word, tmp_path):
    rng = random.Random(4)
    rows = [[f"p{at // 2}", ("flu", "gout", "asthma")[at * at % 3], rng.choice(cells)] for at in range(40)]
    [line] = noticed(tmp_path, f"patient,dx,{name}", rows, f"{HAS} --person patient")
    assert line.startswith(f"column '{name}' is not used, and ")
    assert f"rows have '{word}' there: do such rows count?" in line or name == "event"


@pytest.mark.parametrize("cells", [("Never", "Sometimes", "Often"), "12345", "12", ("low", "high", "none")])
def test_tallies_in_which_everybody_has_everything(cells, tmp_path):
    rng = random.Random(5)
    names = ("flu", "gout", "asthma")
    rows = [[f"p{at // 3}", names[at % 3], rng.choice(cells)] for at in range(60)]
    flags = f"{HAS} --person patient"
    [line] = noticed(tmp_path, "patient,dx,value", rows, flags)
    assert "column 'value'" in line
    assert re.search("everybody has every item, 20 people and 3 items|do such rows count|rows of either count", line)
    assert not [it for it in noticed(tmp_path, "patient,dx,value", rows[::2], flags) if "everybody" in it]


# Scores beside answers


def results(rule, seed=1, of=36):
    """Rows of two sides, their goals and an answer by them."""
    rng, rows = random.Random(seed), []
    for at in range(of):
        goals = rng.randint(0, 3), rng.randint(0, 3)
        rows.append([*PAIRS[at % 3], *map(str, goals), rule(PAIRS[at % 3], *goals)])
    return rows


@pytest.mark.parametrize("names", ["home_goals,away_goals", "score_1,score_2", "FTHG,FTAG", "Tore A,Tore B"])
def test_draws_that_count_as_wins(names, tmp_path):
    rows = results(lambda pair, one, two: str(int(one > two)))
    drawn = sum(row[2] == row[3] for row in rows)
    flags = f"--comparisons home,away,res {ITEMS} --map "
    [line] = noticed(tmp_path, f"home,away,{names},res", rows, f"{flags}outcome")
    assert line.startswith(f"{drawn} of 36 rows have equal scores in ")
    assert "count as a win: are they ties?" in line
    joined = [[*row[:2], f"{row[2]}:{row[3]}", row[4]] for row in rows]
    assert noticed(tmp_path, "home,away,result,res", joined, f"{flags}outcome") == [
        line.replace(" and ".join(f"'{it}'" for it in names.split(",")), "'result'")
    ]
    rows = [[*row[:4], "tie" if row[2] == row[3] else row[4]] for row in rows]
    assert noticed(tmp_path, f"home,away,{names},res", rows, f"{flags}1=1,0=0,tie=0.5") == []


def test_scores_that_say_that_the_other_one_won(tmp_path):
    flags = f"--comparisons home,away,res --map names {ITEMS}"
    wrong = results(lambda pair, one, two: "tie" if one == two else pair[one > two])
    right = results(lambda pair, one, two: "tie" if one == two else pair[one < two])
    names = "home,away,goals_home,goals_away,res"
    [line] = noticed(tmp_path, names, wrong, flags.replace("names", "names,tie=0.5"))
    assert "rows the item with more in 'goals_home' and 'goals_away' is taken for the one that lost" in line
    assert noticed(tmp_path, names, right, flags.replace("names", "names,tie=0.5")) == []
    rng = random.Random(2)
    mixed = results(lambda pair, one, two: rng.choice(pair))
    assert noticed(tmp_path, names, mixed, flags) == []
    for others in ("rank_home,rank_away", "elo_1,elo_2", "time A,time B"):
        assert noticed(tmp_path, f"home,away,{others},res", wrong, flags.replace("names", "names,tie=0.5")) == []


# Which ballots count, and what of them


def test_which_ballot_of_a_person_counts(tmp_path):
    rows = [[f"{at:02}:00", f"u{at % 20}@x", *FULL[at % 3].split(",")] for at in range(26)]
    flags = f"--wide --person email {ITEMS}"
    [line] = noticed(tmp_path, "time,email,oak,elm,fir", rows, flags)
    assert line.startswith("6 ballots are left out as a person has others: which one counts is drawn at random")
    assert noticed(tmp_path, "time,email,oak,elm,fir", rows[6:], flags) == []
    assert noticed(tmp_path, "time,email,oak,elm,fir", rows, f"{flags} --repeated none") == []


@pytest.mark.parametrize(("cells", "reason"), [("1,2=,2=", "no such place"), ("1,2,2", "not every place once")])
def test_ballots_that_are_lost_by_what_they_say(cells, reason, tmp_path):
    """Ten of forty, who all like oak best: the others put fir first."""
    rows = [[f"p{at}", *(cells if at % 4 == 0 else "3,2,1" if at % 4 < 3 else "1,2,3").split(",")] for at in range(40)]
    [line] = noticed(tmp_path, "id,oak,elm,fir", rows, f"--wide --person id {ITEMS}")
    assert line.startswith(f"10 of 40 ballots are left out for '{reason}', which may lean to one side; ")
    rows = [[it.removesuffix("=") for it in row] for row in rows]
    assert noticed(tmp_path, "id,oak,elm,fir", rows, f"--wide --ballots tied --person id {ITEMS}") == []


def test_labels_that_are_items_but_for_case(tmp_path):
    rows = [[f"p{at // 2}", ("flu", "FLU ", "gout", "asthma")[(at * at + at // 3) % 4]] for at in range(40)]
    [line] = noticed(tmp_path, "patient,dx", rows, f"{HAS} --person patient")
    assert line.startswith("7 cells are items but for case, blanks or how letters are written, as 'FLU ', and do not")
    assert noticed(tmp_path, "patient,dx", rows, f"{HAS} --person patient --clean nfkc,strip,spaces,casefold") == []
    others = [[f"p{at // 2}", ("flu", "other", "gout", "asthma")[(at * at + at // 3) % 4]] for at in range(40)]
    assert noticed(tmp_path, "patient,dx", others, f"{HAS} --person patient") == []


def test_answers_that_are_blank(tmp_path):
    rows = [[*pair, ("", pair[0], pair[1])[at % 3]] for at in range(9) for pair in PAIRS]
    flags = f"{TWO} --map "
    [line] = noticed(tmp_path, "left,right,answer", rows, f"{flags}names")
    assert line.startswith("9 of 27 rows are left out for 'a blank answer', which may lean to one side; where it means")
    rows = [[*row[:2], row[2] or "tie"] for row in rows]
    assert noticed(tmp_path, "left,right,answer", rows, f"{flags}names,tie=0.5") == []


def lists(of, shown, seed=3):
    """Ballots of three of six items: of those that were shown, or the three best of all."""
    rng, rows = random.Random(seed), []
    for at in range(of):
        among = rng.sample(range(6), 3) if shown else range(6)
        order = sorted(among, key=lambda it: it + rng.gauss(0, 2))[:3]
        rows.append([f"p{at}", " > ".join("abcdef"[it] for it in order)])
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_items_that_were_not_shown_are_not_last(seed, tmp_path):
    flags = "--orders vote --person id --items a,b,c,d,e,f --ballots partial --unranked "
    [line] = noticed(tmp_path, "id,vote", lists(60, True, seed), f"{flags}last")
    assert line.startswith("each of 60 ballots names 3 of 6 items, and all are named about equally often")
    assert noticed(tmp_path, "id,vote", lists(60, True, seed), f"{flags}apart") == []
    assert noticed(tmp_path, "id,vote", lists(60, False, seed), f"{flags}last") == []
    wide = [
        [who, *(str(vote.split(" > ").index(it) + 1) if it in vote else "" for it in "abcdef")]
        for who, vote in lists(60, True, seed)
    ]
    flags = flags.replace("--orders vote", "--wide")
    assert noticed(tmp_path, "id,a,b,c,d,e,f", wide, f"{flags}last") == [line]


@pytest.mark.parametrize("name", ["position", "display_order", "slot"])
def test_where_an_item_was_shown_is_no_answer(name, tmp_path):
    rng, rows = random.Random(1), []
    for at in range(20):
        for one, (tree, two) in enumerate(zip(rng.sample(TREES, 3), rng.sample("123", 3), strict=True)):
            rows.append([f"p{at}", tree, str(one + 1), two])
    flags = f"--person who --ballots full {ITEMS} --long item,"
    [line] = noticed(tmp_path, f"who,item,{name},rank", rows, f"{flags}{name}")
    assert line.startswith("column 'rank' is not used, and its name says more of a place than that of ")
    assert noticed(tmp_path, f"who,item,{name},rank", rows, f"{flags}rank") == []
    assert noticed(tmp_path, f"who,item,{name},age", rows, f"{flags}{name}") == []


def test_places_of_a_result(tmp_path):
    rows = [[f"p{at}", it, str(place + 1)] for at in range(20) for place, it in enumerate(TREES)]
    flags = f"--long item,overall --person who --ballots full {ITEMS}"
    [line] = noticed(tmp_path, "who,item,overall", rows, flags)
    assert line.startswith("all 20 ballots are the same: is 'overall' the place in a result")
    rows[:2] = [["p0", "oak", "2"], ["p0", "elm", "1"]]
    assert noticed(tmp_path, "who,item,overall", rows, flags) == []


@pytest.mark.parametrize(("name", "cell"), [("Progress", "35"), ("percent complete", "40%"), ("Fortschritt", "99")])
def test_questionnaires_that_were_broken_off(name, cell, tmp_path):
    rows = [[f"p{at}", cell if at % 4 == 0 else "100", *FULL[at % 3].split(",")] for at in range(20)]
    flags = f"--wide --person id {ITEMS}"
    [line] = noticed(tmp_path, f"id,{name},oak,elm,fir", rows, flags)
    assert line.startswith(f"column '{name}' is not used, and 5 of 20 rows have less than 100 there")
    assert noticed(tmp_path, f"id,{name},oak,elm,fir", [[row[0], "100", *row[2:]] for row in rows], flags) == []


def test_alternatives_of_preflib_that_are_no_items(tmp_path):
    path = tmp_path / "city.toc"
    text = dprank.example("city.toc").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    flags = "--items roads,schools,parks --ballots partial --unranked last"
    found = checked(path, flags)
    [line] = found["noticed"][:1]
    assert line.startswith("alternatives that are no declared item stand on ballots, ")
    assert f", {sum(found['unknown items'].values())} times" in line
    assert not [it for it in checked(path, f"{flags} --withdrawn debt")["noticed"] if "alternatives" in it]


# No false alarm


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("answers.csv", "--comparisons first,second,outcome --map outcome --items London,Paris,Rome --person person"),
        ("ballots.csv", "--wide --items roads,schools,parks,debt --person person"),
        ("diagnoses.csv", "--item diagnosis --items asthma,flu,gout,kuru,measles,migraine --person patient"),
        ("city.toc", "--ballots tied --items roads,schools,parks,debt"),
    ],
)
def test_nothing_is_said_of_the_examples(name, flags):
    assert checked(dprank.example(name), flags)["noticed"] == []


def test_no_label_is_shown(tmp_path):
    rows = [[f"Ann {at % 5}", *PAIRS[at % 3], str(at % 2)] for at in range(30)]
    assert "Ann" not in "".join(noticed(tmp_path, "user,left,right,answer", rows, OUTCOME))
    rows = [["Ann" if at == 0 else f"p{at // 2}" * (at % 2 == 0), "flu" if at % 3 else "gout"] for at in range(40)]
    assert "Ann" not in "".join(noticed(tmp_path, "patient,dx", rows, f"{HAS} --person patient"))
