"""Files of a third newcomer, of comparisons and of best and worst: what was counted wrongly without a word is told."""

import itertools
import random
import re
import shlex

import numpy as np
import pytest
from test_cli_check import PARTIAL, checked, written

import dprank
from dprank.cli.path import said as run
from dprank.data.noticed_mirrors import mirrored

#: Fifteen comparisons of three essays, the better one first; 1 where it was a tie.
ESSAYS = ["AB1"] * 3 + ["BA0"] * 2 + ["AC0"] * 2 + ["AC1"] + ["CA0"] * 2 + ["BC0"] * 3 + ["CB0", "CB1"]
BETTER = "--comparisons better,worse,better --map names --items A,B,C"
ASKS = "--pairs all --map names --person id --items Pay,Hours,Leave"


def noticed(folder, header, rows, flags):
    """What is said of a file."""
    return checked(written(folder, header, rows), flags)["noticed"]


def essays(tie, win):
    """The rows of judges who marked ties in a column of its own."""
    return [[f"j{at}", row[0], row[1], (win, tie)[int(row[2])]] for at, row in enumerate(ESSAYS)]


def flags_of(line):
    """The flags that a notice tells."""
    return shlex.split(re.search(r"--\w+ ('[^']*'|\"[^\"]*\").*(?= says so| takes)", line)[0])


TIES = [
    ("is_tie", "1", "0"),
    ("tie", "yes", "no"),
    ("Tie?", "yes", ""),
    ("isDraw", "TRUE", "FALSE"),
    ("Was it a draw?", "Y", "N"),
    ("Q7: No preference", "x", ""),
    ("undecided", "1.0", "0.0"),
    ("Did both essays tie?", "yes", "no"),
    ("War das Duell unentschieden?", "x", ""),
    ("Remis", "ja", "nein"),
    ("Unentschieden", "x", ""),
    ("Gleichstand", "1", ""),
    ("match nul", "oui", "non"),
    ("Égalité", "vrai", "faux"),
    ("¿Fue empate?", "sí", "no"),
    ("Empate", "sim", "não"),
    ("Pareggio", "vero", "falso"),
    ("gelijkspel", "ja", "nee"),
    ("oavgjort", "ja", "nej"),
    ("Uafgjort", "1", "0"),
    ("tasapeli", "kyllä", "ei"),
    ("remis", "tak", "nie"),
    ("ничья", "да", "нет"),
    ("引き分け", "はい", "いいえ"),
    ("berabere", "evet", "hayır"),
    ("outcome", "draw", "win"),
    ("Ergebnis", "Remis", "Sieg"),
    ("zz", "tie", ""),
    ("zz", "Tie (both bad)", "win"),
    ("result", "1/2-1/2", "1-0"),
    ("verdict", "equal", "better"),
    ("resultado", "empate", "victoria"),
    ("zz", "unentschieden", "gewonnen"),
    ("decisive", "no", "yes"),
    ("FTR", "D", "H"),
]


@pytest.mark.parametrize(("name", "tie", "win"), TIES)
@pytest.mark.parametrize("person", ["", " --person judge"])
def test_a_column_that_marks_ties(name, tie, win, person, tmp_path):
    """What the notice says to do is tried: five rows are ties then."""
    path = written(tmp_path, f"judge,better,worse,{name}", essays(tie, win))
    [line] = checked(path, BETTER + person)["noticed"]
    assert line.startswith(f"column '{name}' is not used, and 5 of 15 rows have '{tie}' there and count as a win: ")
    told = flags_of(line)
    if not win:
        [word] = re.findall("With '(no|0)' written where nothing is", line)
        path = written(tmp_path, f"judge,better,worse,{name}", essays(tie, word))
    assert checked(path, f"{shlex.join(told)} --items A,B,C{person}")["noticed"] == []
    columns, meant = told[1].split(","), [it.split("=") for it in told[3].split(",")]
    data = (
        dprank.Declaration(
            kind="comparisons", items=list("ABC"), columns=columns, answers={it: float(value) for it, value in meant}
        )
        .read(path)
        .data
    )
    assert data.points.tolist() == [2 - int(row[2]) for row in ESSAYS]


@pytest.mark.parametrize(
    ("flags", "answers", "advice"),
    [
        ("--comparisons l,r,picked --map names", ("A", "B"), "Write tie in 'picked' for such rows: --map 'names,tie=0"),
        ("--comparisons l,r,picked --map outcome", ("1", "0"), "Write 0.5 in 'picked' for such rows"),
        ("--comparisons l,r,picked --map position", ("1", "2"), "--map '1=1,2=0,tie=0.5' says so"),
        ("--comparisons l,r,picked --map left=1,right=0", ("left", "right"), "--map '…,tie=0.5' says so"),
    ],
)
def test_ties_beside_a_column_of_answers(flags, answers, advice, tmp_path):
    rows = [["A", "B", answers[at % 2], ("", "yes")[at % 3 == 0]] for at in range(12)]
    [line] = noticed(tmp_path, "l,r,picked,tied", rows, f"{flags} --items A,B")
    assert "4 of 12 rows have 'yes' there and count as a win: are they ties? " in line
    assert advice in line


def test_a_winner_that_is_not_used(tmp_path):
    rows = [
        [one, other, ("tie", one)[at % 3 > 0]] for at, (one, other) in enumerate([*zip("ACB", "BAC", strict=True)] * 4)
    ]
    path = written(tmp_path, "better,worse,winner", rows)
    [line] = checked(path, BETTER)["noticed"]
    assert line.endswith("--comparisons 'better,worse,winner' --map 'names,tie=0.5' says so")
    assert checked(path, f"{shlex.join(flags_of(line))} --items A,B,C")["noticed"] == []


@pytest.mark.parametrize("loser", ["worse", "better"])
def test_ties_where_the_loser_comes_first(loser, tmp_path):
    winner = "better" if loser == "worse" else "worse"
    flags = BETTER.replace("better,worse,better", f"{loser},{winner},{winner}")
    [line, *others] = noticed(tmp_path, "judge,better,worse,tie", essays("yes", "no"), flags)
    assert [it[:43] for it in others] == ["column 'worse' says by its name which item "] * (winner == "worse")
    assert f"--comparisons '{loser},{winner},tie' --map 'no=0,yes=0.5' says so" in line


@pytest.mark.parametrize(
    ("name", "tie", "win"),
    [
        ("tie-break", "yes", "no"),
        ("draw date", "yes", "no"),
        ("Was the tie broken?", "yes", "no"),
        ("colour of the tie", "red", "blue"),
        ("necktie", "yes", "no"),
        ("same room", "yes", "no"),
        ("Do you draw?", "yes", "no"),
        ("is_tie", "0", "0"),
        ("is_tie", "", "no"),
        ("tie", "0", "3"),
        ("draw", "main", "main"),
        ("draw", "upper", "lower"),
        ("outcome", "win", "win"),
        ("hobby", "draw", "paint"),
        ("party", "undecided", "left wing"),
        ("pet", "same", "cat"),
        ("remark", "nice", ""),
        ("sex", "d", "w"),
    ],
)
def test_columns_that_mark_no_ties(name, tie, win, tmp_path):
    path = written(tmp_path, f"judge,better,worse,{name}", essays(tie, win))
    said = checked(path, f"{BETTER} --person judge")["noticed"]
    assert [it for it in said if "answered before" not in it] == []


@pytest.mark.parametrize("answer", ["tie", "", "neither"])
def test_ties_that_are_known(answer, tmp_path):
    """The answers say so, too, or say nothing: no row is counted as a win."""
    rows = [
        [row[1 + at % 2], row[2 - at % 2], answer if row[3] else row[1], row[3]]
        for at, row in enumerate(essays("yes", ""))
    ]
    flags = "--comparisons l,r,picked --map names,tie=0.5,neither=0.5 --items A,B,C"
    found = noticed(tmp_path, "l,r,picked,tied", rows, flags)
    assert ["blank answer" in it for it in found] == [True] * (answer == "")
    same = [[f"p{at % 5}", *row[1:3], ("no", "tie")[at % 5 == 0]] for at, row in enumerate(essays("", ""))]
    assert noticed(tmp_path, "judge,better,worse,favourite game", same, f"{BETTER} --person judge") == []


def test_no_label_of_a_judge_is_shown(tmp_path):
    for name, tie, win in (
        ("Draw?", "Bea", ""),
        ("Draw?", "Bea", "Cem"),
        ("zz", "Bea", "tie"),
        ("result", "Bea", "tie"),
    ):
        said = noticed(tmp_path, f"judge,better,worse,{name}", essays(tie, win), f"{BETTER} --person judge")
        assert not any("Bea" in line or "Cem" in line for line in said)
    [line] = noticed(tmp_path, "judge,better,worse,Draw?", essays("Bea", ""), BETTER)
    assert "5 of 15 rows have something there and count as a win: are they ties?" in line


@pytest.mark.parametrize(
    ("name", "yes", "no", "seen"),
    [
        ("spoilt", "yes", "", "30 of 50 rows have nothing there, 20 'yes'"),
        ("valid", "1", "0", "30 of 50 rows have '0' there, 20 '1'"),
        ("Excluded", "TRUE", "FALSE", "30 of 50 rows have 'FALSE' there, 20 'TRUE'"),
        ("gültig", "ja", "nein", "30 of 50 rows have 'nein' there, 20 'ja'"),
        ("confirmé", "oui", "non", "30 of 50 rows have 'non' there, 20 'oui'"),
        ("flag", "x", "", "30 of 50 rows have nothing there, 20 'x'"),
    ],
)
def test_both_halves_are_named(name, yes, no, seen, tmp_path):
    rows = [[str(at), "1", "2", "3", (no, yes)[at % 5 < 2]] for at in range(50)]
    [line] = noticed(tmp_path, f"paper,A,B,C,{name}", rows, "--wide --person paper --items A,B,C")
    assert f"column '{name}' is not used, and {seen}: do both count? All rows do now, and alike" in line


def test_something_else_beside_two_halves(tmp_path):
    rows = [["1", "2", "3", ("yes", "no", "no", "unsure")[at % 4]] for at in range(20)]
    [line] = noticed(tmp_path, "A,B,C,valid", rows, "--wide --items A,B,C")
    assert "10 of 20 rows have 'no' there, 5 'yes', and 5 something else: do both count?" in line


@pytest.mark.parametrize("said", ["yes=0.5,=1", "=1", "yes=0.5,="])
def test_a_map_of_a_blank(said, tmp_path):
    path = written(tmp_path, "judge,better,worse,tie", essays("yes", ""))
    for command in (["check"], ["release", "ranking", "--epsilon", "1", "--protect", "answer"]):
        done = run(
            *command[:2],
            path,
            *command[2:],
            *shlex.split("--comparisons better,worse,tie --items A,B,C"),
            "--map",
            said,
        )
        assert done.code == 2
        value = said.rpartition("=")[2]
        assert (
            "a blank cell says nothing, and no map changes that: where it means something, write a word" in done.error
        )
        assert f"say 'none={value}'" in done.error
    done = run("check", path, *shlex.split("--comparisons better,worse,tie --items A,B,C --map yes=0.5"))
    assert "a blank answer says nothing: where it means something, write a word for it, and --map that word" in done.out


ANSWERS = [[f"p{at}", "Pay", ("Hours", "Leave")[at % 2], ("Leave", "Pay")[at % 4 == 0]] for at in range(9)]


@pytest.mark.parametrize(
    "name",
    [
        "Pay v Leave",
        "Pay vs.Leave",
        "Pay v. Leave",
        "Pay or Leave",
        "Pay / Leave",
        "Pay-Leave",
        "Pay gegen Leave",
        "Which matters more? [Pay vs Leave]",
        "3. Pay contre Leave",
        "pay oder leave",
        "Q3",
    ],
)
def test_a_pair_that_is_called_otherwise(name, tmp_path):
    path = written(tmp_path, f"id,Pay vs Hours,Hours vs Leave,{name}", ANSWERS)
    line, *others = checked(path, ASKS)["noticed"]
    assert line.startswith(f"column '{name}' is not read, and its {'cells hold' if name == 'Q3' else 'name holds'} two")
    assert line.endswith(f"--pairs 'Pay vs Hours,Hours vs Leave,{name}=Pay vs Leave' takes it, too")
    assert not others
    told = checked(path, f"{shlex.join(flags_of(line))} {ASKS.removeprefix('--pairs all')}")
    assert (told["rows"], told["noticed"]) == (27, [])


def test_pairs_that_are_called_otherwise(tmp_path):
    path = written(tmp_path, "id,Pay vs Hours,Hours v Leave,Pay v Leave", ANSWERS)
    line = checked(path, ASKS)["noticed"][0]
    assert line.startswith(
        "columns 'Hours v Leave', 'Pay v Leave' are not read, and their names hold two declared items"
    )
    assert line.endswith("Hours v Leave=Hours vs Leave,Pay v Leave=Pay vs Leave' takes them, too")


def test_pairs_by_the_sides_of_their_names(tmp_path):
    rows, flags = [[f"p{at}", *"ABA"] for at in range(9)], ASKS.replace("names", "A=1,B=0")
    assert not noticed(tmp_path, "id,Pay vs Hours,Hours vs Leave,More?", rows, flags)
    [line] = noticed(tmp_path, "id,Pay vs Hours,Hours vs Leave,Leave or Pay", rows, flags)
    assert "'Pay vs Hours,Hours vs Leave,Leave or Pay=Leave vs Pay' takes it" in line
    path = tmp_path / "comma.csv"
    path.write_text(
        'id,Pay vs Hours,Hours vs Leave,"Say, Pay or Leave?"\n' + "p,Pay,Hours,Leave\nq,Hours,Leave,Leave\n"
    )
    assert "call it in the file as it asks, 'Pay vs Leave'" in checked(path, ASKS)["noticed"][0]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Comment on Pay or Leave", ["more of both", "", "none of them"]),
        ("How happy are you with Pay and Leave?", ["3", "5", "1"]),
        ("Favourite", ["Pay", "Hours", "Leave"]),
        ("Pay", ["Pay", "Pay", "Pay"]),
        ("Overpay or Leave", ["Leave", "Leave", "Leave"]),
        ("Pay, Hours or Leave?", ["Pay", "Leave", "Pay"]),
        ("age", ["30", "41", "52"]),
    ],
)
def test_columns_that_ask_about_no_pair(name, cells, tmp_path):
    rows = [[f"p{at}", "Pay", "Leave", "Hours", cells[at % 3]] for at in range(9)]
    path = tmp_path / "data.csv"
    header = f'id,Pay vs Hours,Pay vs Leave,Hours vs Leave,"{name}"'
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n")
    assert checked(path, ASKS)["noticed"] == []


def test_a_second_favourite_of_two_in_a_full_design(tmp_path):
    rows = [[f"p{at}", "Pay", "Leave", "Hours", ("Pay", "Leave")[at % 2]] for at in range(9)]
    assert noticed(tmp_path, "id,Pay vs Hours,Pay vs Leave,Hours vs Leave,best", rows, ASKS) == []
    declared = ASKS.replace("all", "'Pay vs Hours,Hours vs Leave'")
    assert noticed(tmp_path, "id,Pay vs Hours,Hours vs Leave,Pay v Leave", ANSWERS, declared) == []


def test_a_refusal_says_which_column_asks(tmp_path):
    release = ["release", "ranking", "--protect", "person", "--answers", "3", "--epsilon", "9"]
    for header, items in (
        ("id,Pay vs Hours,Pay v Leave,Hours v Leave", "Pay,Hours,Leave"),
        ("id,Pay vs Hours,Leave or Hours", "Pay,Hours,Leave"),
        ("id,Pay vs Hours,Leave vs Room,Pay v Leave", "Pay,Hours,Leave,Room"),
    ):
        rows = [["p", *["Pay"] * header.count(",")], ["q", *["Leave"] * header.count(",")]]
        path = written(tmp_path, header, rows)
        flags = shlex.split(f"--pairs all --map names --person id --items {items}")
        done = run(*release[:2], path, *release[2:], *flags, "--out", tmp_path / "out.json")
        assert done.code == 2
        name = header.split(",")[2 if "Room" not in items else 3]
        assert (
            f"no column that is read asks about {'one of the group' if 'Room' in items else repr('Leave')}"
            in done.error
        )
        assert f"'{name}" in done.error
        assert "leave them out" not in done.error
    path = written(tmp_path, "id,Pay vs Hours,Comment", [["p", "Pay", "Leave"], ["q", "Hours", "Leave"]])
    done = run(*release[:2], path, *release[2:], *shlex.split(ASKS), "--out", tmp_path / "out.json")
    assert "no column asks about 'Leave', so that nothing would be known of their place; leave them out" in done.error


def season(rng, teams, times, draws=True):
    """Matches, each once: first, second, and twice what the first gets."""
    pairs = [pair for pair in itertools.combinations(range(teams), 2) for _ in range(times)]
    return [[*rng.sample(pair, 2), rng.choice([0, 1, 2] if draws else [0, 2])] for pair in pairs]


def from_both(rows, how):
    """Every match from each side, in one of the orders in which people keep them."""
    both = [it for a, b, points in rows for it in ([a, b, points], [b, a, 2 - points])]
    if how == "by half":
        return both[::2] + both[1::2]
    return sorted(both) if how == "by team" else both


def logged(folder, rows, letters="LDW", person=False):
    header = "team,opponent,result"
    cells = [[f"T{a}", f"T{b}", letters[points]] for a, b, points in rows]
    items = ",".join(sorted({it for row in cells for it in row[:2]}))
    flags = f"--comparisons {header} --map {letters[2]}=1,{letters[0]}=0,{letters[1]}=0.5 --items {items}"
    if person:
        header, cells = f"{header},owner", [[*row, row[0]] for row in cells]
        flags += " --person owner"
    return [it for it in noticed(folder, header, cells, flags) if "mirror" in it]


def test_a_match_from_each_side(tmp_path):
    [line] = logged(tmp_path, [[0, 1, 2], [1, 0, 0], [0, 2, 1], [2, 0, 1], [1, 2, 2], [2, 1, 0]])
    assert line.startswith("6 of 6 rows have a mirror")
    assert "is each match written twice? Everything counts twice then, and a match is protected half as much" in line


@pytest.mark.parametrize(
    ("teams", "times", "how"),
    [(3, 1, ""), (4, 2, ""), (6, 1, ""), (8, 1, "by team"), (6, 2, "by half"), (4, 8, "by team"), (20, 2, "by half")],
)
@pytest.mark.parametrize("letters", ["LDW", "021"])
@pytest.mark.parametrize("person", [False, True])
def test_matches_from_each_side(teams, times, how, letters, person, tmp_path):
    rows = from_both(season(random.Random(teams), teams, times), how)
    [line] = logged(tmp_path, rows, letters, person)
    assert line.startswith(f"{len(rows)} of {len(rows)} rows have a mirror")
    assert ("where its rows are of two persons" in line) == person
    if len(rows) > 90:  # some are lost
        assert logged(tmp_path, rows[1:-2], letters)


@pytest.mark.parametrize("how", ["", "by team", "by half"])
def test_matches_from_each_side_by_the_name_of_the_winner(how, tmp_path):
    rows = from_both(season(random.Random(2), 7, 2, draws=False), how)
    cells = [[f"T{a}", f"T{b}", f"T{a if points else b}"] for a, b, points in rows]
    items = ",".join(f"T{at}" for at in range(7))
    assert "mirror" in noticed(tmp_path, "a,b,won", cells, f"--comparisons a,b,won --map names --items {items}")[0]


@pytest.mark.parametrize("seed", range(4))
def test_rows_with_mirrors_by_chance(seed):
    """Matches once each; home and away; judges who see pairs both ways round, and mostly agree."""
    rng = random.Random(seed)
    for teams, times in ((3, 2), (4, 10), (3, 400), (10, 2), (20, 1), (2, 500)):
        rows = season(rng, teams, times)
        assert not mirrored(np.array(rows), teams), (teams, times)
        league = [[*pair, rng.choices([0, 1, 2], [1, 1, 3])[0]] for pair in itertools.permutations(range(teams), 2)]
        if teams > 2:
            assert not mirrored(np.array(league * 2), teams), (teams, times)
    for teams, judges in ((3, 1), (4, 1), (3, 20), (6, 10)):
        both = [
            [a, b, 2 * ((a < b) == (rng.random() < 0.85))]
            for _ in range(judges)
            for a, b in rng.sample([*itertools.permutations(range(teams), 2)], teams * (teams - 1))
        ]
        assert not mirrored(np.array(both), teams), (teams, judges)
    strong = [[a, b, 2 * (a < b)] for a, b in itertools.permutations(range(4), 2)]
    assert not mirrored(np.array(strong), 4)  # a small league, home and away, where the stronger side always won


def test_winners_and_losers_have_no_mirrors(tmp_path):
    rows = [[f"p{at}", *pair] for at, pair in enumerate(itertools.permutations("ABC", 2))] * 3
    said = noticed(tmp_path, "who,better,worse", rows, f"{BETTER} --person who")
    assert [it for it in said if "answered before" not in it] == []


MAXDIFF = f"--person resp {PARTIAL.replace('apart', 'last')} --items A,B,C,D"


@pytest.mark.parametrize(
    ("best", "worst"),
    [
        ("best", "worst"),
        ("Most important", "Least important"),
        ("top", "bottom"),
        ("first", "last"),
        ("Q1_BEST", "Q1_WORST"),
        ("am wichtigsten", "am unwichtigsten"),
        ("beste", "schlechteste"),
        ("le plus", "le moins"),
        ("meilleur", "pire"),
        ("mejor", "peor"),
        ("melhor", "pior"),
        ("migliore", "peggiore"),
        ("beste", "slechtste"),
        ("bäst", "sämst"),
        ("bedst", "dårligst"),
        ("paras", "huonoin"),
        ("najlepszy", "najgorszy"),
        ("лучший", "худший"),
        ("最良", "最悪"),
    ],
)
def test_best_and_worst(best, worst, tmp_path):
    rows = ["0,A,D", "1,A,D", "2,B,D", "3,C,D"]
    [line] = noticed(tmp_path, f"resp,{best},{worst}", rows, f"--ranks {shlex.quote(f'{best},{worst}')} {MAXDIFF}")
    assert line.startswith(
        f"column '{worst}' is called as the worst is, and --ranks reads '{worst}' as place 2 of 4, ahead"
    )
    assert "Write each ballot as an order then, as A > B = C > D with the worst last" in line


@pytest.mark.parametrize(
    ("header", "unranked"),
    [
        ("best,worst", "apart"),
        ("first,second", "last"),
        ("first,second,last choice at least", "apart"),
        ("Rank 1 (1 = best),Rank 2 (9 = worst and best)", "last"),
        ("Last name,at least one", "last"),
        ("first,second,third,last", "last"),
        ("ballast,blast", "last"),
    ],
)
def test_columns_of_places_that_are_sound(header, unranked, tmp_path):
    many = header.count(",") + 1
    rows = [[str(at), *("ABCD"[(at + of) % 4] for of in range(many))] for at in range(8)]
    flags = f"--ranks {shlex.quote(header)} {MAXDIFF.replace('last', unranked)}"
    assert noticed(tmp_path, f"resp,{header}", rows, flags) == []


def test_the_worst_that_is_not_the_last(tmp_path):
    rows = [[str(at), *("ABCD"[(at + of) % 4] for of in range(4))] for at in range(8)]
    flags = "--ranks 'b,worst,c,d' --person resp --items A,B,C,D --ballots full"
    [line] = noticed(tmp_path, "resp,b,worst,c,d", rows, flags)
    assert "as place 2 of 4, the best first: is it the worst? --ranks names that column last" in line
    [line] = noticed(tmp_path, "resp,worst,b,c,best", rows, flags.replace("b,worst,c,d", "worst,b,c,best"))
    assert line.endswith("if their names say it right, --ranks 'best,c,b,worst'")
    header = "best,worst,second worst"
    [line] = noticed(tmp_path, f"resp,{header}", [it[:4] for it in rows], f"--ranks '{header}' {MAXDIFF}")
    assert line.startswith("columns 'worst', 'second worst' are called as the worst are")


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("answers.csv", "--comparisons first,second,outcome --map outcome --items London,Paris,Rome --person person"),
        ("staff.csv", "--comparisons left,right,answer --map left=1,right=0,equal=0.5 --items Pay,Hours,Leave"),
    ],
)
def test_nothing_of_this_is_said_of_the_examples(name, flags):
    found = checked(dprank.example(name), flags)["noticed"]
    assert not [it for it in found if re.search("ties|mirror|not read|worst|both count", it)]
