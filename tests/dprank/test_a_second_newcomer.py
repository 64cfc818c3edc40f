"""Files of a second newcomer that ended in a wrong answer without a word: each is told of, and a sound one is not."""

import pytest
from test_cli_check import PARTIAL, checked, written

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


def test_three_items_in_a_comparison(tmp_path):
    rows = [f"oak,elm,{'fir' if at % 2 else ''},{('oak', 'elm')[at % 3 > 0]}" for at in range(12)]
    flags = "--comparisons a,b,won --map names --items oak,elm,fir"
    [line] = [it for it in noticed(tmp_path, "a,b,c,won", rows, flags) if "column 'c'" in it]
    assert "a row is read as two items" in line


def test_items_that_say_nothing_new(tmp_path):
    rows = [f"oak,elm,{('oak', 'elm')[at % 2]},{at % 2},elm" for at in range(12)] + [
        "elm,fir,fir,1,elm",
        "fir,oak,oak,1,elm",
    ] * 12
    flags = "--comparisons a,b,answer --map 0=1,1=0 --items oak,elm,fir"
    assert noticed(tmp_path, "a,b,won,answer,shown", rows, flags) == []
    rows = [[f"p{at}", it, it.upper(), "tea"] for at in range(9) for it in ("tea", "mate")]
    assert noticed(tmp_path, "buyer,drink,as written,favourite", rows, f"{HAS} --clean casefold") == []
    rows = [[f"p{at}", str(at % 3), str(at % 2)] for at in range(12)]
    assert noticed(tmp_path, "who,code,children", rows, "--item code --items 0,1,2 --person who") == []
