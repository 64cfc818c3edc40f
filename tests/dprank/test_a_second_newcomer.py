"""Files of a second newcomer that ended in a wrong answer without a word: each is told of, and a sound one is not."""

import random
import shlex

import pytest
from scipy.stats import rankdata
from test_cli_check import PARTIAL, checked, written

import dprank
from dprank.cli.path import said as run

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


@pytest.mark.parametrize("name", ["percent", "pct", "zz", "share"])
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


def test_shares_of_a_company_are_no_percentages(tmp_path):
    rows = [[f"p{at}", "oak > elm > fir", str(at % 4 + 1)] for at in range(20)]
    [line] = noticed(tmp_path, "who,vote,shares", rows, f"{ORDERS} --person who")
    assert "holds whole numbers: does a row stand for so many?" in line
    assert noticed(tmp_path, "who,vote,part", rows, f"{ORDERS} --person who") == []


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


@pytest.mark.parametrize(("steps", "items"), [(3, 3), (3, 4), (3, 7), (5, 5)])
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


@pytest.mark.parametrize("rows", [["1,1,3", "1,1,2", "1,2,2", "2,1,3", "3,1,2"] * 4, ["1,1,2", "2,1,2", "2,2,1"] * 5])
def test_ties_that_people_write_in_two_ways(rows, tmp_path):
    assert noticed(tmp_path, "oak,elm,fir", rows, "--wide --items oak,elm,fir --ballots tied") == []


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


@pytest.mark.parametrize(("meaning", "flags"), [("unsure=0", ""), ("unsure=-3", ""), ("unsure=1", " --lowest 2")])
def test_no_place_below_the_lowest(meaning, flags, tmp_path):
    path = written(tmp_path, "oak,elm,fir", ["fine,poor,unsure"] * 9 + ["poor,fine,fine"] * 9)
    words = shlex.split(f"--wide --items oak,elm,fir --ballots tied --map fine=2,poor=3,{meaning}{flags}")
    number = meaning.partition("=")[2]
    for command in (["check", path], ["release", "consensus", path, "--epsilon", "1"]):
        done = run(*command, *words)
        assert done.code == 2
        assert f"places: 'unsure' = {number}; " in done.error
        assert f"'unsure=' says that there is none, and --lowest {number} that this is one" in done.error
    keys = {"kind": "ballots", "items": TREES, "ballots": "tied"}
    with pytest.raises(ValueError, match="says that there is none"):
        dprank.Declaration(**keys, places={"fine": 2, "unsure": float(number)}, lowest=2 if flags else None)
    best = dprank.Declaration(**keys, places={"fine": 2, "unsure": float(number)}, lowest=float(number)).read(path)
    none = dprank.Declaration(**keys, places={"fine": 2, "poor": 3, "unsure": ""}).read(path)
    assert (best.kept, none.kept) == (0, 9)  # poor is nothing in the first, and unsure in the second


@pytest.mark.parametrize("flag", ["--times no", "--weight no --max-weight 90"])
def test_numbers_of_rows_are_no_amounts(flag, tmp_path):
    votes = ["oak > elm > fir", "elm > oak > fir", "fir > elm > oak"]
    for start in (0, 1):
        rows = [[str(at + start), votes[at % 3]] for at in range(40)]
        [line] = noticed(tmp_path, "no,vote", rows, f"{ORDERS} {flag}")
        assert line.startswith(f"'no' is {start} to {39 + start}, row by row, as numbers of rows are, and ")
        assert line.endswith("--times none" if "times" in flag else "leave --weight and --max-weight out")
    for counts in ([4, 3, 2, 1], [5, 4, 3, 2, 1, 0], [1, 2, 3, 4, 6]):
        rows = [[str(it), votes[at % 3]] for at, it in enumerate(counts)]
        assert noticed(tmp_path, "no,vote", rows, f"{ORDERS} {flag}") == []
    found = checked(written(tmp_path, "no,vote", [["7", votes[0]], ["5", votes[1]]]), f"{ORDERS} --times no")
    assert (found["rows of the file"], found["rows"]) == (2, 12)


@pytest.mark.parametrize(
    ("cell", "between"),
    [
        ("fir=2,oak=1,elm=3", " --between ,"),
        ("fir = 2; oak = 1; elm = 3", " --between ';'"),
        ("oak=1|fir=2", ""),
        ("oak#1, fir#2, elm#3", " --between ,"),
        ("oak - 1st, elm - 2nd", " --between ,"),
    ],
)
def test_places_behind_items_by_other_signs(cell, between, tmp_path):
    said = noticed(tmp_path, "vote", [[cell]] * 4, f"--orders vote --items oak,elm,fir {PARTIAL}{between}")
    assert any("items have numbers behind them" in line and "if they are places" in line for line in said)


def test_items_that_tie_have_no_numbers_behind_them(tmp_path):
    flags = f"--orders vote --items oak,elm,fir,i2 {PARTIAL}"
    said = noticed(tmp_path, "vote", [["oak = elm > fir"], ["i2 > oak = elm"]] * 9, flags)
    assert not any("numbers" in line for line in said)


@pytest.mark.parametrize(
    ("columns", "turned"),
    [
        ("2. Wahl,1. Wahl", "1. Wahl,2. Wahl"),
        ("Q4 rank 3,Q4 rank 2,Q4 rank 1", "Q4 rank 1,Q4 rank 2,Q4 rank 3"),
        ("troisième,premier,deuxième", "premier,deuxième,troisième"),
        ("least liked,middle,best liked", "best liked,middle,least liked"),
    ],
)
def test_columns_of_places_in_another_order(columns, turned, tmp_path):
    n = columns.count(",") + 1
    rows = [[("oak", "elm", "fir")[(at + of) % 3] for of in range(n)] for at in range(9)]
    flags = f"--items oak,elm,fir {PARTIAL}"
    [line] = noticed(tmp_path, columns, rows, f"--ranks '{columns}' {flags}")
    assert line.endswith(f"--ranks '{turned}'")
    assert noticed(tmp_path, columns, rows, f"--ranks '{turned}' {flags}") == []


@pytest.mark.parametrize(
    ("header", "meant", "right"),
    [
        ("left,right,right_wins", "outcome", "1=0,0=1"),
        ("a,b,B better", "1=1,0=0", "1=0,0=1"),
        ("links,rechts,rechts gewinnt", "ja=1,nein=0", "ja=0,nein=1"),
        ("left,right,left_lost", "outcome", "1=0,0=1"),
        ("right,left,left preferred", "outcome", "1=0,0=1"),
    ],
)
def test_answers_whose_header_speaks_of_the_other_item(header, meant, right, tmp_path):
    yes, no = ("ja", "nein") if "ja" in meant else ("1", "0")
    pairs = ["oak,elm", "elm,fir", "fir,oak"]
    path = written(tmp_path, header, [f"{pair},{(yes, no)[at % 2]}" for at in range(8) for pair in pairs])
    flags = f"--comparisons '{header}' --items oak,elm,fir --map "
    [line] = checked(path, flags + meant)["noticed"]
    assert "by its name" in line
    assert right[: right.index(",")] in line
    assert checked(path, flags + right)["noticed"] == []


def test_a_sign_that_was_said_is_not_said_again(tmp_path):
    said = noticed(
        tmp_path, "vote", [["1) oak | 2) elm"]] * 5, f"--orders vote --items oak,elm,fir {PARTIAL} --between '|'"
    )
    assert any("items have numbers before them" in line for line in said)
    assert not any("reads it" in line for line in said)


@pytest.mark.parametrize("low", [-3, -1])
def test_a_scale_around_0(low, tmp_path):
    rows = [[str((at * of + at) % (1 - 2 * low) + low) for of in (1, 2, 3)] for at in range(40)]
    flags = "--wide --items oak,elm,fir --ballots tied --best high"
    said = noticed(tmp_path, "oak,elm,fir", rows, flags)
    assert any(f"{low} to {-low} look like one scale" in line and f"--lowest {low} takes all" in line for line in said)
    assert not any("--unranked-as -" in line or "--lowest 0" in line for line in said)
    assert noticed(tmp_path, "oak,elm,fir", rows, f"{flags} --lowest {low}") == []
    rows = [[str(("1", "2", "3", "4", "5", "-1", "0")[(at * of + at) % 7]) for of in (1, 2, 3)] for at in range(40)]
    assert any("--unranked-as -1" in line for line in noticed(tmp_path, "oak,elm,fir", rows, flags))


def test_refusals_say_a_step(tmp_path):
    path = written(tmp_path, "vote", [["oak, red, elm"]] * 3)
    words = ["check", path, "--orders", "vote", "--ballots", "full"]
    assert (
        "texts is empty: a blank cell says so anyway; leave it out"
        in run(*words, "--items", "oak,elm", "--unranked-as", " ").error
    )
    items = tmp_path / "items.txt"
    items.write_text("oak, red\nelm\n")
    said = run(*words, "--items", items, "--between", ",").error
    assert "put another sign than , between places in the file, and say it with --between" in said
    rows = [["Mittelwert", "1,5", "2,5"], *([f"p{at}", "1,0", "2,0"] for at in range(9))]
    lines = noticed(tmp_path, "who,oak,elm", rows, "--wide --items oak,elm --person who")
    assert any(line.endswith("as 'Mittelwert' in 'who': take it out") for line in lines)


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("answers.csv", "--comparisons first,second,outcome --map outcome --items London,Paris,Rome --person person"),
        ("ballots.csv", "--wide --items roads,schools,parks,debt --person person"),
        ("ballots.csv", "--wide --items roads,schools,parks,debt --ballots tied"),
        ("city.toc", "--items roads,schools,parks,debt --ballots tied"),
        ("diagnoses.csv", "--item diagnosis --items flu,gout --person patient --clean strip"),
    ],
)
def test_nothing_of_this_is_said_of_the_examples(name, flags):
    words = ("below 0", "percentages", "there are items", "best", "look like one scale", "row by row", "--ranks")
    found = checked(dprank.example(name), flags)["noticed"]
    assert not [line for line in found if any(word in line for word in words)]


def test_a_scale_is_asked_about_once(tmp_path):
    rng = random.Random(5)
    names = [f"Taste of {it} (3 = best)" for it in TREES]
    path = written(tmp_path, ",".join(names), [[str(rng.randint(1, 3)) for _ in names] for _ in range(40)])
    alias = "".join(f" --alias {shlex.quote(f'{name}={it}')}" for name, it in zip(names, TREES, strict=True))
    [line] = checked(path, f"--wide --items oak,elm,fir --ballots tied{alias}")["noticed"]
    assert line.endswith("says that the highest is the best, and the lowest counts as it: --best high")


@pytest.mark.parametrize("word", ["walkover", "Forfeit", "storniert", "w/o", "refunded"])
def test_a_remark_that_a_row_does_not_count(word, tmp_path):
    pairs = ["oak,elm", "elm,fir", "fir,oak"]
    flags = "--comparisons won,lost,won --map names --items oak,elm,fir"
    rows = [f"{pair},{word * (at == 3)}" for at in range(6) for pair in pairs]
    [line] = noticed(tmp_path, "won,lost,remark", rows, flags)
    assert f"3 of 18 rows have '{word}' there: do such rows count?" in line
    rows = [f"{pair},{'rain' * (at == 3)}" for at in range(6) for pair in pairs]
    assert noticed(tmp_path, "won,lost,remark", rows, flags) == []


def test_the_help_of_a_map_says_how_none_is_said():
    for command in (["check"], ["release", "consensus"]):
        assert "DK=" in run(*command, "--help").out
