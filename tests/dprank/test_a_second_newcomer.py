"""Files of a second newcomer that ended in a wrong answer without a word: each is told of, and a sound one is not."""

import random
import shlex

import pytest
from scipy.stats import rankdata
from test_cli_check import PARTIAL, checked, written

TREES = ["oak", "elm", "fir"]
HAS = "--item drink --items tea,mate,cocoa --person buyer"
ORDERS = "--orders vote --items oak,elm,fir --ballots full"


def noticed(folder, header, rows, flags):
    """What is said of a file."""
    return checked(written(folder, header, rows), flags)["noticed"]


def bought(amount, back, at_back=range(6)):
    """Rows of people who bought things, some of which went back."""
    rows = [[f"p{at}", ("tea", "mate", "cocoa")[at % 3], amount(at)] for at in range(30)]
    return [*rows, *([f"p{at}", ("tea", "mate", "cocoa")[at % 3], back(at)] for at in at_back)]


@pytest.mark.parametrize(
    ("name", "amount", "back"),
    [
        ("units", lambda at: "2", lambda at: "-2"),
        ("Menge", lambda at: str(at % 4 + 1), lambda at: "−1"),
        ("Betrag", lambda at: "7,80", lambda at: "-7,80"),
        ("line total", lambda at: "$12.00", lambda at: "($12.00)"),
        ("price", lambda at: "€4.10", lambda at: "-€4.10"),
        ("zz", lambda at: str(at % 3 + 1), lambda at: str(-(at % 3) - 1)),
    ],
)
def test_what_was_given_back(name, amount, back, tmp_path):
    [line] = noticed(tmp_path, f"buyer,drink,{name}", bought(amount, back), HAS)
    assert line.startswith(f"column '{name}' is not used, and 6 of 36 rows have a number below 0 there")
    assert "was it returned, or cancelled? All rows count now: take out such rows" in line


@pytest.mark.parametrize("name", ["temperature", "latitude", "change"])
def test_numbers_below_0_that_take_nothing_back(name, tmp_path):
    rows = bought(lambda at: f"{at % 7 - 3}.{at % 10}", lambda at: f"1.{at}5")
    assert noticed(tmp_path, f"buyer,drink,{name}", rows, HAS) == []
    of_people = [[*row[:2], str(int(row[0][1:]) % 5 - 2)] for row in bought(str, str)]
    assert noticed(tmp_path, "buyer,drink,mood", of_people, HAS) == []


def test_votes_below_0(tmp_path):
    rows = [["oak > elm > fir", "12"], ["elm > oak > fir", "-3"], ["fir > elm > oak", "4"]]
    [line] = noticed(tmp_path, "vote,Stimmen", rows, ORDERS)
    assert "1 of 3 rows has a number below 0 there, as '-3'" in line


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Prozent", ["51.5", "30", "18.5"]),
        ("vote share", ["0.52", "0.3", "0.18"]),
        ("% of votes", ["52", "30", "18"]),
        ("pourcentage", ["52,5 %", "30 %", "17,5 %"]),
        ("zz", ["52 %", "31 %", "17 %"]),
        ("Anteil", ["51,5", "30,0", "18,5"]),
    ],
)
@pytest.mark.parametrize("person", ["", " --person who"])
def test_percentages_of_ballots(name, cells, person, tmp_path):
    votes = ["oak > elm > fir", "elm > oak > fir", "fir > elm > oak"]
    rows = [[str(at), vote, cell] for at, (vote, cell) in enumerate(zip(votes, cells, strict=True))]
    said = noticed(tmp_path, f"who,vote,{name}", rows, ORDERS + person)
    assert len(said) == 1
    assert f"column '{name}' is not used and holds percentages, as '{cells[0]}': does a row weigh so much?" in said[0]
    assert f"--weight '{name}' with --max-weight" in said[0]


@pytest.mark.parametrize("name", ["percent", "pct", "zz"])
def test_percentages_of_comparisons(name, tmp_path):
    sign = "%" * (name == "zz")
    rows = [
        f"{one},{other},{one if flip else other},{share}{sign}"
        for at, (one, other) in enumerate([("oak", "elm"), ("elm", "fir"), ("fir", "oak")])
        for flip, share in ((1, 61.5 + at), (0, 38.5 - at))
    ]
    flags = "--comparisons left,right,won --map names --items oak,elm,fir"
    [line] = noticed(tmp_path, f"left,right,won,{name}", rows, flags)
    assert "does a row weigh so much? It counts once: if so, write the row as often as it counts" in line


@pytest.mark.parametrize("name", ["percent complete", "Progress", "charged %", "income percentile", "share of income"])
@pytest.mark.parametrize("sign", ["", "%"])
def test_percentages_of_people(name, sign, tmp_path):
    rows = [[f"p{at}", "oak > elm > fir", f"{(at * 37) % 101}{sign}"] for at in range(20)]
    assert noticed(tmp_path, f"who,vote,{name}", rows, f"{ORDERS} --person who") == []


@pytest.mark.parametrize("last", ["cocoa", "tea"])
def test_items_in_columns_that_are_not_used(last, tmp_path):
    rows = [[f"p{at}", ("tea", "mate")[at % 2], ("mate", "cocoa")[at % 3 > 0], ("", last)[at % 2]] for at in range(20)]
    said = noticed(tmp_path, "buyer,first,second,third", rows, HAS.replace("drink", "first"))
    assert [line.split(" is")[0] for line in said] == ["column 'second'", "column 'third'"]
    assert all("a row is read as one item. Write a row for each person and item" in line for line in said)
    ranks = f"--ranks first,second --items tea,mate,cocoa --person buyer {PARTIAL}"
    [line] = [it for it in noticed(tmp_path, "buyer,first,second,third", rows, ranks) if "'third'" in it]
    assert "--ranks names all columns, the best first" in line


@pytest.mark.parametrize(
    ("header", "flags"),
    [
        ("Taste {} (7 = best)", ""),
        ("{} [1: worst]", ""),
        ("{} (1 = sehr schlecht, 5 = sehr gut)", ""),
        ("Note {} (5 : très bien)", ""),
        ("{} - 3 = muy bueno", ""),
        ("{} (very important = 4)", ""),
        ("{} (1 is not important)", ""),
        ("{} 1=best 6=worst", " --best high"),
        ("{} (1 = am wichtigsten)", " --best high"),
        ("Score of {}", ""),
        ("Bewertung: {}", ""),
        ("Rank of {}", " --best high"),
    ],
)
def test_headers_that_say_which_end_is_the_best(header, flags, tmp_path):
    """Each row is an order, so that the cells say nothing of it."""
    complete = ("tied", "full")[len(header) % 2]
    names = [header.format(it) for it in ("oak", "elm", "fir")]
    alias = "".join(f" --alias {shlex.quote(f'{name}={it}')}" for name, it in zip(names, TREES, strict=True))
    path = tmp_path / "data.csv"
    path.write_text("\n".join([",".join(f'"{it}"' for it in names), *["3,2,1", "1,2,3", "2,3,1"] * 4]))
    found = checked(path, f"--wide --items oak,elm,fir --ballots {complete}{flags}{alias}")["noticed"]
    assert len(found) == 1
    assert names[0].split(",")[0] in found[0]
    assert ("--best high out" in found[0] or "--best high takes" in found[0]) == ("--best" in flags)
    other = " --best high" if "--best" not in flags else ""
    assert (
        checked(
            path, f"--wide --items oak,elm,fir --ballots {complete}{flags.replace(' --best high', '')}{alias}{other}"
        )["noticed"]
        == []
    )


@pytest.mark.parametrize(
    "header", ["{}", "{} (1-3)", "Rank {} (1 = best)", "{} 1 = highest priority", "Choice {}", "Q3_{}"]
)
def test_headers_that_say_what_is_declared(header, tmp_path):
    names = [header.format(it) for it in TREES]
    alias = "".join(
        f" --alias {shlex.quote(f'{name}={it}')}" for name, it in zip(names, TREES, strict=True) if name != it
    )
    path = written(tmp_path, ",".join(names), ["3,2,1", "1,2,3", "2,3,1"] * 4)
    assert checked(path, f"--wide --items oak,elm,fir{alias}")["noticed"] == []


@pytest.mark.parametrize("name", ["stars", "Rating (5 = excellent)", "Punkte", "1 = worst"])
def test_ratings_in_rows_of_an_item(name, tmp_path):
    rows = [[f"p{at}", it, str(1 + (at + of) % 3)] for at in range(12) for of, it in enumerate(TREES)]
    flags = f"--long tree,{shlex.quote(name)} --items oak,elm,fir --person who --ballots tied"
    path = written(tmp_path, f"who,tree,{name}", rows)
    [line] = checked(path, flags)["noticed"]
    assert line.startswith(f"column '{name}'")
    assert line.endswith("--best high")
    assert checked(path, f"{flags} --best high")["noticed"] == []


@pytest.mark.parametrize(("steps", "items"), [(3, 3), (3, 7), (5, 5)])
@pytest.mark.parametrize("complete", ["tied", PARTIAL.removeprefix("--ballots ")])
def test_short_scales(steps, items, complete, tmp_path):
    """Ratings of no more steps than items, in a file that does not say so; and orders with ties of five writers."""
    rng = random.Random(steps * items)
    names = [f"i{at}" for at in range(items)]
    flags = f"--wide --items {','.join(names)} --ballots {complete}"
    rated = [[str(min(steps, rng.randint(1, steps + 2))) for _ in names] for _ in range(60)]
    found = checked(written(tmp_path, ",".join(names), rated), flags)["noticed"]
    assert sum("--best high" in line for line in found) == 1
    assert len(found) == 1
    for tied in ("min", "max", "average", "dense"):
        orders = [rankdata([rng.randint(1, items) for _ in names], tied) for _ in range(60)]
        rows = [[f"{it:g}" for it in row] for row in orders]
        assert checked(written(tmp_path, ",".join(names), rows), flags)["noticed"] == [], tied


def test_three_items_in_a_comparison(tmp_path):
    rows = [f"oak,elm,{'fir' if at % 2 else ''},{('oak', 'elm')[at % 3 > 0]}" for at in range(12)]
    flags = "--comparisons a,b,won --map names --items oak,elm,fir"
    [line] = [it for it in noticed(tmp_path, "a,b,c,won", rows, flags) if "column 'c'" in it]
    assert "a row is read as two items" in line


def test_items_that_say_nothing_new(tmp_path):
    rows = [f"oak,elm,{('oak', 'elm')[at % 2]},{at % 2},oak" for at in range(12)]
    rows += ["elm,fir,fir,1,elm", "fir,oak,oak,1,fir"] * 12
    flags = "--comparisons a,b,answer --map 0=1,1=0 --items oak,elm,fir"
    assert noticed(tmp_path, "a,b,won,answer,shown", rows, flags) == []
    rows = [[f"p{at}", it, it.upper(), "tea"] for at in range(9) for it in ("tea", "mate")]
    assert noticed(tmp_path, "buyer,drink,as written,favourite", rows, f"{HAS} --clean casefold") == []
    rows = [[f"p{at}", str(at % 3), str(at % 2)] for at in range(12)]
    assert noticed(tmp_path, "who,code,children", rows, "--item code --items 0,1,2 --person who") == []
