"""Files of a third newcomer: sums that count as persons, ballots read as one, lines of names that are rows, aliases."""

import json
import random

import pytest
from test_cli_check import PARTIAL, checked, written

from dprank.cli.path import said as run

ABC = ["A", "B", "C"]
POINTS = [[5, 3, 9], [2, 5, 4], [7, 2, 1], [3, 4, 1]]
JURY = "--long act,points --person juror --ballots full --best high --items A,B,C"
HAS = "--item product --person customer --items tea,milk,salt"


def noticed(folder, header, rows, flags):
    """What is said of a file."""
    return checked(written(folder, header, rows), flags)["noticed"]


def jury(*sums, name="j{}"):
    """Points of jurors, and rows that sum them up."""
    rows = [[name.format(at + 1), act, p] for at, row in enumerate(POINTS) for act, p in zip(ABC, row, strict=True)]
    return [*rows, *([label, act, p] for label in sums for act, p in zip(ABC, (17, 14, 15), strict=True))]


@pytest.mark.parametrize(
    "label",
    [
        "Total",
        "TOTALS",
        "Summe",
        "Итого",
        "合計",
        "Σ",
        "Snitt",
        "Total général",
        "Gesamtergebnis",
        "SD",
        "Std. dev.",
        "N",
    ],
)
def test_a_sum_in_a_long_table_is_no_juror(label, tmp_path):
    [line] = noticed(tmp_path, "juror,act,points", jury(label), JURY)
    assert line == (
        f"3 rows are called as sums and means are, as '{label}' in 'juror': they count like others; take them out"
    )
    found = checked(written(tmp_path, "juror,act,points", jury()), JURY)
    assert (found["noticed"], found["ballots"]) == ([], 4)


def test_several_sums_and_their_order(tmp_path):
    [line] = noticed(tmp_path, "juror,act,points", jury("N", "Mean", "Total"), JURY)
    assert line.startswith("9 rows are called as sums and means are, as 'Total'")


@pytest.mark.parametrize("label", ["Grand Total", "Column Total", "gesamt", "Total:"])
def test_a_sum_among_purchases_is_no_customer(label, tmp_path):
    rows = ["c0,tea", "c1,tea", "c2,milk", "c3,tea", "c4,milk"]
    sums = [[label, it] for it in ("tea", "milk", "salt")]
    [line] = noticed(tmp_path, "customer,product", [*rows, *sums], HAS)
    assert line.startswith(f"3 rows are called as sums and means are, as '{label}' in 'customer'")
    each = [row for at in range(5) for row in (f"c{at},tea", [f"c{at} {label}", "tea"])]
    [line] = noticed(tmp_path, "customer,product", each, HAS)
    assert "5 rows are called as sums and means are, as '… " in line
    assert "c0" not in line


@pytest.mark.parametrize("names", [["Max", "Min", "Summer"], ["Totti", "Sumo", "Ann"], ["N", "M", "SD"]])
def test_jurors_who_are_no_sums(names, tmp_path):
    rows = [[who, act, at + 1] for who in (*names, "A", "Z", "O") for at, act in enumerate(ABC)]
    assert noticed(tmp_path, "juror,act,points", rows, JURY) == []


def test_departments_that_are_no_sums(tmp_path):
    rows = [[who, act, at + 1] for who in ("IT", "Media", "Press", "Sales") for at, act in enumerate(ABC)]
    assert noticed(tmp_path, "juror,act,points", rows, JURY) == []


@pytest.mark.parametrize("label", ["P1 Total", "Total P1", "Summe: P1", "P1 (total)", "Total for P1", "Subtotal P1"])
def test_sums_of_precincts(label, tmp_path):
    votes = [("A > B > C", 12), ("B > C > A", 9)]
    rows = [[of, vote, n] for of in ("P1", "P2") for vote, n in votes]
    flags = "--orders ballot --times votes --ballots full --items A,B,C"
    assert noticed(tmp_path, "precinct,ballot,votes", rows, flags) == []
    sums = [[label, *vote] for vote in votes]
    [line] = noticed(tmp_path, "precinct,ballot,votes", [*rows, *sums], flags)
    assert "2 rows are called as sums and means are, as '… " in line
    three = [*votes, ("C > A > B", 4)]
    rows = [[of, *vote] for of in ("P1", "P2", "Total") for vote in three]
    [line] = noticed(tmp_path, "precinct,ballot,votes", rows, flags)
    assert line.startswith("3 rows are called as sums and means are, as 'Total' in 'precinct'")


def test_a_kind_of_people_is_no_sum(tmp_path):
    rows = [[f"p{at}", "A > B > C", ("partial", "total", "none")[at % 3]] for at in range(30)]
    flags = "--orders ballot --ballots full --items A,B,C --person who"
    assert noticed(tmp_path, "who,ballot,amnesia", sorted(rows, key=lambda it: it[2]), flags) == []


#: What a person ranks in two tasks: C is first where items are compared within a task alone.
TASKS = [{"A": 1, "B": 2}, {"C": 1, "D": 2, "E": 3}]
OTHERS = [{"A": 1, "B": 2}, {"D": 1, "C": 2, "E": 3}]
ITEMS = "--items A,B,C,D,E"


def tasks(cell, people=5, tasks=TASKS, first=0):
    """Rows of persons, of a task each, of an item each, and its place."""
    return [
        [who, cell(at), item, place + first]
        for who in range(people)
        for at, task in enumerate(OTHERS if who == 0 and tasks is TASKS else tasks)
        for item, place in task.items()
    ]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("block", lambda at: at + 1),
        ("heat", lambda at: f"Heat {at}"),
        ("Woche", lambda at: f"KW {at + 7}"),
        ("zz", lambda at: "xy"[at]),
        ("page", lambda at: at),
        ("time", lambda at: f"2026-01-0{at + 1} 10:00"),
    ],
)
@pytest.mark.parametrize("complete", ["--ballots tied", PARTIAL])
def test_tasks_that_become_one_ballot(name, cell, complete, tmp_path):
    flags = f"--long item,rank --person resp {complete} {ITEMS}"
    [line] = noticed(tmp_path, f"resp,{name},item,rank", tasks(cell), flags)
    assert line.startswith(f"column '{name}' is not used and has 2 values, and items have places from 1 on in each")
    assert f"--ballot '{name}'" in line
    assert "--best high" not in line
    apart = [[f"{row[0]} {row[1]}", *row[2:]] for row in tasks(cell)]
    said = checked(written(tmp_path, "both,item,rank", apart), f"--long item,rank --ballot both {PARTIAL} {ITEMS}")
    assert (said["noticed"], said["ballots"]) == ([], 10)


def test_who_follows_it_gets_the_order_of_each_task(tmp_path):
    path = written(tmp_path, "both,item,rank", [[f"{row[0]} {row[1]}", *row[2:]] for row in tasks(str)])
    flags = f"--long item,rank --ballot both {PARTIAL} {ITEMS} --epsilon 1000".split()
    done = run("release", "consensus", path, *flags, "--json")
    assert done.code == 0, done.error
    said = str(json.loads(done.out)["answer"])
    assert "".join(sorted("ABCDE", key=lambda it: said.index(f"'{it}'"))) == "CADBE"


def test_heats_are_no_ratings(tmp_path):
    heats = [{"Ann": 1, "Bea": 2, "Cat": 3}, {"Dee": 1, "Eve": 2, "Fay": 3}]
    rows = tasks(lambda at: at + 1, 10, heats)
    flags = "--long swimmer,place --person meet --ballots tied --items Ann,Bea,Cat,Dee,Eve,Fay"
    [line] = noticed(tmp_path, "meet,heat,swimmer,place", rows, flags)
    assert "column 'heat'" in line
    assert "write 'meet' and 'heat' into one column" in line


def test_tasks_from_0_of_points_and_by_two_columns(tmp_path):
    flags = f"--long item,rank --person resp {PARTIAL} {ITEMS}"
    [line] = noticed(tmp_path, "resp,block,item,rank", tasks(str, first=-1), f"{flags} --lowest 0")
    assert "places from 0 on" in line
    points = [{"A": 12, "B": 10}, {"C": 12, "D": 10, "E": 8}]
    [line, *_] = noticed(tmp_path, "resp,block,item,rank", tasks(str, 8, points), f"{flags} --best high")
    assert "points of their own" in line
    four = [{"A": 1, "B": 2}, {"C": 1, "D": 2}, {"E": 1, "B": 2}, {"A": 1, "D": 2}]
    rows = [[who, at // 2, at % 2, *it] for who, at, *it in tasks(int, 8, four)]
    [line] = noticed(tmp_path, "resp,day,heat,item,rank", rows, flags)
    assert line.startswith("columns 'day' and 'heat' are not used and have together 4 values")


@pytest.mark.parametrize("name", ["kind", "block", "page"])
def test_columns_that_part_no_ballots(name, tmp_path):
    """Kinds of items of one order, ties among them, persons' groups, and a row's number."""
    rng = random.Random(7)
    rows = [
        [who, "xyxyx"[at], item, place]
        for who in range(20)
        for at, (item, place) in enumerate(zip("ABCDE", rng.sample(range(1, 6), 5), strict=True))
    ]
    flags = f"--long item,rank --person resp --ballots tied {ITEMS}"
    assert noticed(tmp_path, f"resp,{name},item,rank", rows, flags) == []
    two = [[who, kind, item, rng.randint(1, 2)] for who, kind, item, _ in rows]
    assert not any("--ballot " in it for it in noticed(tmp_path, f"resp,{name},item,rank", two, flags))
    rated = [[who, kind, item, rng.randint(1, 5)] for who, kind, item, _ in rows]
    said = noticed(tmp_path, f"resp,{name},item,stars", rated, flags.replace("rank", "stars") + " --best high")
    assert not any("--ballot" in it for it in said)
    of_people = [[who, who % 3, item, place] for who, _, item, place in rows]
    assert not any("--ballot " in it for it in noticed(tmp_path, f"resp,{name},item,rank", of_people, flags))
    by_row = [[who, at % 5, item, place] for at, (who, _, item, place) in enumerate(rows)]
    assert not any("--ballot " in it for it in noticed(tmp_path, f"resp,{name},item,rank", by_row, flags))


ORDERS = "--ballots full --items A,B,C"


@pytest.mark.parametrize(
    ("lines", "flags", "seen"),
    [
        (["A > B > C,40", "B > A > C,21"], f"--orders 'A > B > C' --times 40 {ORDERS}", "'A > B > C', '40' are"),
        (["A=B;2", "B;3"], f"--orders A=B {PARTIAL} --items A,B,C", "'A=B' is"),
        (["A,B,C", "A,B,C", "B,A,C"], f"--ranks A,B,C {ORDERS}", "'A', 'B', 'C' are"),
        (["p1,tea", "p2,tea", "p3,milk"], "--item tea --person p1 --items tea,milk", "'tea' is"),
        (["x,A,1", "x,B,2", "x,C,3"], f"--long A,1 --person x {PARTIAL} --items A,B,C", "'A', '1' are"),
        (["A,B,x", "B,C,x"], "--comparisons A,B,x --map x=1,y=0 --items A,B,C", "'A', 'B' are"),
        (["A > B,2.5", "B > A,3.5"], f"--orders 'A > B' --weight 2.5 --max-weight 9 {ORDERS}", "'A > B', '2.5' are"),
    ],
)
def test_a_line_of_names_that_is_a_row(lines, flags, seen, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines))
    said = checked(path, flags)["noticed"]
    assert [it for it in said if it.startswith("line 1 is taken for the names of columns")] == [
        f"line 1 is taken for the names of columns, and {seen} as rows are: "
        f"if {'it is' if ' is' in seen else 'they are'} of a row, that row does not count; put a line of names above it"
    ]


@pytest.mark.parametrize(
    ("header", "rows", "flags"),
    [
        ("A,B,C", ["1,2,3", "2,1,3"], "--wide --items A,B,C"),
        ("1,2,3", ["A,B,C", "B,A,C"], f"--ranks 1,2,3 {ORDERS}"),
        ("0,1", ["A > B > C,3", "B > A > C,4"], f"--orders 0 --times 1 {ORDERS}"),
        ("who,drink", ["p1,tea", "p2,drink", "p3,tea"], "--item drink --person who --items tea,drink"),
        ("A > B?,n", ["A > B > C,3", "B > A > C,4"], f"--orders 'A > B?' --times n {ORDERS}"),
        ("2024,2025", ["A,B", "B,A", "C,A"], f"--ranks 2024,2025 {PARTIAL} --items A,B,C"),
        ("A,B,C", ["1,2,3", "2,1,3"], f"--ranks A,B,C {ORDERS}"),
    ],
)
def test_lines_of_names_that_are_none_of_rows(header, rows, flags, tmp_path):
    assert not any("line 1" in it for it in noticed(tmp_path, header, rows, flags))


@pytest.mark.parametrize(
    ("lines", "flags"),
    [
        (["40,A > B > C", "21,B > A > C"], ["--orders", "order", "--times", "count", "--ballots", "full"]),
        (["21: A > B > C", "12: B > A > C"], ["--orders", "ballot", "--ballots", "full"]),
        (["A > B > C", "B > A > C"], ["--orders", "ballot", "--ballots", "full"]),
        (["p1,A", "p2,B"], ["--item", "it", "--person", "who"]),
        (["p1;1;2;3", "p2;2;1;3"], ["--wide", "--person", "p1"]),
        (["A,B,C", "B,A,C"], ["--ranks", "first,second,third", "--ballots", "full"]),
    ],
)
def test_a_refusal_says_that_line_1_is_the_header(lines, flags, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines))
    done = run("check", path, *flags, "--items", "A,B,C")
    assert done.code
    assert "ine 1 is taken for the header: if it is a row, put a line of names above it" in done.error
    assert "are needed between columns" not in done.error


def test_refusals_of_names_that_are_none_of_rows(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("vote,who\nA > B > C,x\n")
    error = run("check", path, "--orders", "order", "--ballots", "full", "--items", "A,B,C").error
    assert "put a line of names above it" not in error
    path.write_text("Stimmzettel\nA > B > C\n")
    one = run("check", path, "--orders", "order", "--ballots", "full", "--items", "A,B,C").error
    assert "are needed between columns" not in one
    assert "and no title" in one
    two = run("check", path, "--orders", "order", "--person", "who", "--ballots", "full", "--items", "A,B,C").error
    assert "commas, semicolons, tabs or bars are needed between columns" in two


GRID = f"--wide --person id {PARTIAL} --items Park,Pool,Tram"


def both(french):
    """A grid of two languages, in columns of their own."""
    return [[at, "fr", "", "", "", 3, 2, 1] if at < french else [at, "en", 1, 2, 3, "", "", ""] for at in range(50)]


@pytest.mark.parametrize("french", [20, 30])
@pytest.mark.parametrize("aliases", [["Parc=Park", "Piscine=Pool", "Tramway=Tram"], ["Parc=Park"]])
def test_an_alias_to_an_item_whose_column_is_there(french, aliases, tmp_path):
    flags = GRID + "".join(f" --alias {it}" for it in aliases)
    header = "id,lang,Park,Pool,Tram,Parc,Piscine,Tramway"
    [line] = [it for it in noticed(tmp_path, header, both(french), flags) if "alias" in it]
    more = " (so 'Piscine', 'Tramway')" * (len(aliases) > 1)
    assert line == (
        "column 'Parc' is not read, although --alias 'Parc=Park' makes it 'Park': a column 'Park' is there, too"
        f"{more}. Write what both say into one column"
    )


def test_a_case_that_is_another_column(tmp_path):
    rows = [[at, 1, 2, 3, 2] for at in range(9)]
    [line] = noticed(tmp_path, "id,Park,Pool,Tram,park", rows, f"{GRID} --clean casefold")
    assert "column 'park' is not read, although --clean makes it 'Park'" in line


@pytest.mark.parametrize(
    ("alias", "said"),
    [
        ("Nonsense=Park", "no column is called 'Nonsense'"),
        ("Parc=Pakr", "'Pakr' is no declared item"),
        ("parc=Park", "no column is called 'parc'"),
    ],
)
def test_an_alias_that_does_nothing(alias, said, tmp_path):
    rows = [[at, *FULL[at % 3]] for at in range(9)]
    [line] = noticed(tmp_path, "id,Park,Pool,Tram", rows, f"{GRID} --alias {alias}")
    assert line.startswith(f"--alias '{alias}' does nothing, as {said}")


FULL = [(1, 2, 3), (2, 1, 3), (3, 1, 2)]


@pytest.mark.parametrize(
    ("header", "flags"),
    [
        ("id,Parc,Pool,Tram", "--alias Parc=Park"),
        ("id,PARC,Pool,Tram", "--alias parc=park --clean casefold"),
        ("Nr,Park,Pool,Tram", "--alias Nr=id"),
        ("id,Park,Pool,Tram,Parc", ""),
        ("id,Park,Pool,Tram,Parc", "--alias Parc=Park"),
    ],
)
def test_aliases_that_do_something(header, flags, tmp_path):
    rows = [[at, *FULL[at % 3], *[""] * (header.count(",") - 3)] for at in range(9)]
    assert not any("alias" in it for it in noticed(tmp_path, header, rows, f"{GRID} {flags}"))


def test_aliases_of_cells_that_nobody_wrote(tmp_path):
    """They are chosen before anybody looks."""
    flags = "--item product --person who --items tea,milk --alias tee=tea --alias melk=milk"
    assert noticed(tmp_path, "who,product", ["a,tea", "b,tee", "c,milk"], flags) == []
    [line] = noticed(tmp_path, "who,product", ["a,tea", "b,tee", "c,milk"], f"{flags} --alias te=Tea")
    assert "'Tea' is no declared item" in line


@pytest.mark.parametrize("alias", ["left=1", "neither=0.5", "dunno=n/a", "tie=draw", "Aa=A"])
def test_aliases_of_answers(alias, tmp_path):
    flags = f"--comparisons x,y,which --map 1=1,0=0,0.5=0.5,draw=0.5 --items A,B,C --alias {alias}"
    assert noticed(tmp_path, "x,y,which", ["A,B,1", "B,C,0", "A,C,1"] * 3, flags) == []


VOTES = ["A > B > C", "B > A > C", "C > B > A"]


@pytest.mark.parametrize(
    ("name", "cells", "mark"),
    [
        ("Anzahl", ["1.204", "980", "711"], "."),
        ("Stimmen", ["12.204", "1.980", "7"], "."),
        ("Bulletins", ["1,204", "980", "711"], ","),
        ("zz", ["1.204", "980", "711"], "."),
        ("voix", ["1 204", "980", "711"], "' '"),
        ("röster", ["1’204", "980", "711"], '"\'"'),
    ],
)
def test_counts_with_a_mark_between_thousands(name, cells, mark, tmp_path):
    rows = [list(it) for it in zip(VOTES, cells, strict=True)]
    [line] = noticed(tmp_path, f"vote,{name}", rows, f"--orders vote {ORDERS} --times none")
    assert line.startswith(f"column '{name}' is not used and holds numbers with a mark before three figures, as '1")
    assert f"--times '{name}' and --thousands {mark} say so, if that is 1" in line
    assert ("once all are multiplied" in line) == (mark in ".,")


@pytest.mark.parametrize("cells", [["1.204", "0.983", "0.711"], ["1.5", "2", "0.5"], ["1.25", "1.204", "2"]])
def test_weights_with_decimals_are_no_counts(cells, tmp_path):
    rows = [list(it) for it in zip(VOTES, cells, strict=True)]
    [line] = noticed(tmp_path, "vote,weight", rows, f"--orders vote {ORDERS}")
    assert "holds numbers with decimals: does a row weigh so much?" in line


@pytest.mark.parametrize(
    ("rule", "cells"), [("nfkc", ["１", "２"]), ("casefold", ["ERST", "ZWEIT"]), ("spaces", ["er  st", "zw  eit"])]
)
def test_cells_of_places_that_a_rule_would_correct(rule, cells, tmp_path):
    key = [" ".join(it.split()).lower() for it in cells]
    flags = "--wide --person id --items A,B" + f" --map '{key[0]}=1,{key[1]}=2'" * (rule != "nfkc")
    path = written(tmp_path, "id,A,B", [["1", *cells], ["2", *cells[::-1]]])
    said = checked(path, flags)
    assert said["cleaning"][rule].startswith("would correct 4 cells")
    assert said["rows that count"] == 0
    after = checked(path, f"{flags} --clean {rule}")
    assert after["cleaning"][rule].startswith("corrects 4 cells")
    assert after["rows that count"] == 2
    sound = checked(written(tmp_path, "id,A,B", ["1,1,2", "2,2,1"]), flags)
    assert sound["cleaning"][rule].startswith("would correct 0 cells")


def test_answers_that_a_rule_would_correct(tmp_path):
    path = written(tmp_path, "x,y,which", ["A,B,LEFT", "B,C,left", "A,C,Right"])
    flags = "--comparisons x,y,which --map left=1,right=0 --items A,B,C"
    assert checked(path, flags)["cleaning"]["casefold"].startswith("would correct 2 cells")
    assert checked(path, f"{flags} --clean casefold")["cleaning"]["casefold"].startswith("corrects 2 cells")


@pytest.mark.parametrize("form", ["wide", "long"])
def test_an_item_that_is_withdrawn_is_not_asked_about(form, tmp_path):
    orders = [(1, 2, 4, 3), (2, 1, 3, 4), (3, 4, 2, 1)] * 4
    header, rows = "id,A,B,C,X", [[str(at), *map(str, it)] for at, it in enumerate(orders)]
    flags = "--wide --person id --ballots partial --unranked last --items A,B,C"
    if form == "long":
        header, flags = "id,item,place", flags.replace("--wide", "--long item,place")
        rows = [[at, item, place] for at, *it in rows for item, place in zip("ABCX", it, strict=True)]
    assert noticed(tmp_path, header, rows, f"{flags} --withdrawn X") == []
    assert any("X" in it or "places go up to 4" in it for it in noticed(tmp_path, header, rows, flags))


def test_a_bound_beyond_numbers_is_a_power(tmp_path):
    path = written(tmp_path, "id,A,B", ["1,1,2", "2,1,2"])
    for epsilon, odds in ((1000, "e^1000 times"), (2, "7.39 times")):
        flags = f"--wide --person id --items A,B --ballots full --epsilon {epsilon} --json"
        done = run("release", "consensus", path, *flags.split())
        assert f"no result becomes more than {odds} as likely" in done.out + done.error, done.out + done.error


def favourites(weights, form, length=3):
    """Lists of favourites, drawn with some weights."""
    rng = random.Random(3)
    lists = []
    for _ in range(200):
        left = dict(zip("ABCDEF", weights, strict=True))
        chosen = []
        for _ in range(length):
            chosen += rng.choices([*left], [*left.values()])
            del left[chosen[-1]]
        lists.append(chosen)
    return [[at, *it] if form == "ranks" else [at, " > ".join(it)] for at, it in enumerate(lists)]


@pytest.mark.parametrize("form", ["ranks", "orders"])
@pytest.mark.parametrize("weights", [[9, 5, 2, 1, 1, 1], [30, 1, 1, 1, 1, 1]])
def test_lists_of_favourites_apart(form, weights, tmp_path):
    header = "id,one,two,three" if form == "ranks" else "id,vote"
    flags = f"{'--ranks one,two,three' if form == 'ranks' else '--orders vote'} --person id --items A,B,C,D,E,F"
    rows = favourites(weights, form)
    [line] = noticed(tmp_path, header, rows, f"{flags} {PARTIAL}")
    assert line.startswith("items are named unequally often: 'A' on ")
    assert "--unranked last puts what a list leaves out behind it" in line
    assert noticed(tmp_path, header, rows, f"{flags} --ballots partial --unranked last") == []
    assert noticed(tmp_path, header, favourites([1] * 6, form), f"{flags} {PARTIAL}") == []
    assert noticed(tmp_path, header, rows[:12], f"{flags} {PARTIAL}") == []
    worst = f"--ranks best,worst --person id --items A,B,C,D,E,F {PARTIAL}"
    said = noticed(tmp_path, "id,best,worst", favourites(weights, "ranks", 2), worst)
    assert not any("favourites" in it for it in said)


def test_no_person_is_told(tmp_path):
    rows = jury("Total", name="Bea{}") + [[f"Bea1 {it}", "A", 1] for it in ("total",)]
    said = noticed(tmp_path, "juror,act,points", rows, JURY.replace("full", "tied"))
    assert not any("Bea" in it for it in said)
