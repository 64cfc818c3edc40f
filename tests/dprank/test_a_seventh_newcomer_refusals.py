"""What a seventh newcomer was refused: each line names the flag as it is typed, and the way out."""

import json

import pandas as pd
import pytest
from test_a_fourth_newcomer import ITEMS, PAIRS, TREES
from test_cli_check import written

import dprank
from dprank.cli.path import said as run
from dprank.data.counting import win_counts_parquet
from dprank.data.engines import count

ROWS = [[f"p{at}", *PAIRS[at % 3], "AB"[at * at % 5 % 2]] for at in range(12)]
TWO = ["--comparisons", "left,right,answer", *ITEMS.split()]
RANKS = ["--ranks", "left,right", "--ballots", "partial", "--unranked", "last", *ITEMS.split()]


def asked(folder, *words, header="who,left,right,answer", rows=ROWS, question=("check",)):
    done = run(*question, written(folder, header, rows), *words)
    assert done.error.count("\n") <= 1
    return done


# A decimal with a comma


@pytest.mark.parametrize("form", [TWO, ["--long", "left,answer", "--person", "who", *RANKS[2:]]])
@pytest.mark.parametrize("said", ["A=1,0,333=0", "A=1,B=0,5", "0,5=0.5,A=1", "1,0=1"])
def test_a_comma_divides_what_a_map_says(form, said, tmp_path):
    error = asked(tmp_path, *form, "--map", said).error
    assert "name=value is needed: a comma divides them, so that a decimal has a point, as 0.5=0.5" in error


# Columns of other names, in Python


@pytest.mark.parametrize(
    ("read", "options", "words"),
    [
        ("read_comparisons", {}, "'first' is not in the table, which has 4 columns; first=, second= and outcome= say"),
        ("read_comparisons", {"person": "judge"}, "; first=, second=, outcome= and person= say which are meant"),
        ("read_comparisons", {"first": "left", "second": "right"}, "'outcome' is not in the table"),
        ("read_comparisons", {"first": "left", "second": "right"}, "; outcome= says which is meant"),
        ("read_tallies", {"person": "who", "item": "dx"}, "'dx' is not in the table, which has 4 columns; item= says"),
        ("read_rankings", {}, "'oak' is not in the table, which has 4 columns; items= say which are meant"),
        ("read_rankings", {"person": "judge"}, "; items= and person= say which are meant"),
    ],
)
def test_arguments_that_name_columns_are_named(read, options, words, tmp_path):
    path = written(tmp_path, "who,left,right,answer", ROWS)
    with pytest.raises(ValueError, match=r"column '[a-z]+' is not in the table") as caught:
        getattr(dprank, read)(path, **{"items": list(TREES), "person": "who"} | options)
    assert words in str(caught.value)


def test_columns_of_ballots_and_of_batches(tmp_path):
    table = pd.DataFrame(ROWS, columns=["who", "left", "right", "answer"])
    for words, options in (("items=, person= and weight=", {"weight": "w"}), ("items= and person=", {})):
        with pytest.raises(ValueError, match=f"; {words} say which are meant"):
            dprank.Ballots.from_frame(table, items=list(TREES), person="judge", **options)
    table.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="first=, second= and outcome= say which are meant"):
        win_counts_parquet(tmp_path / "a.parquet", list(TREES))


def test_named_columns_are_read(tmp_path):
    rows = [[*row[:3], str(at % 2)] for at, row in enumerate(ROWS)]
    path = written(tmp_path, "who,left,right,answer", rows)
    columns = {"first": "left", "second": "right", "outcome": "answer", "person": "who"}
    assert len(dprank.read_comparisons(path, items=list(TREES), **columns)) == len(rows)


# More answers than pairs

PERSON = ["--protect", "person", "--person", "who", "--epsilon", "1000"]
MAPPED = [*TWO, "--map", "A=1,B=0", *PERSON]


@pytest.mark.parametrize(
    ("words", "design", "most"),
    [([], "once", 3), (["--design", "once"], "once", 3), (["--design", "matching"], "matching", 1),
     (["--design", "complete"], "complete", 3)],
)  # fmt: skip
@pytest.mark.parametrize("answers", [4, 15])
def test_more_answers_than_pairs(words, design, most, answers, tmp_path):
    question = ("release", "ranking")
    error = asked(tmp_path, *MAPPED, "--answers", str(answers), *words, question=question).error
    assert f"answers = {answers}; --answers of 1 to {most} goes with --design {design}" in error
    assert "--design any takes more" in error
    assert "per_person" not in error
    words = ["--answers", str(answers), "--design", "any", "--rehearse"]
    assert asked(tmp_path, *MAPPED, *words, question=question).code == 0


@pytest.mark.parametrize(("items", "pairs"), [("oak,elm,fir", 3), ("5", 10)])
@pytest.mark.parametrize(("flag", "name"), [("--answers", "answers"), ("--given", "given")])
def test_a_plan_of_more_answers_than_pairs(items, pairs, flag, name):
    words = ["plan", "ranking", "--items", items, "--persons", "99", "--epsilon", "1"]
    error = run(*words, flag, f"1,{pairs + 1}").error
    assert f"{name} = {pairs + 1}; {flag} of 1 to {pairs} is planned" in error
    assert "`release ranking --design any` takes more" in error


def test_a_plan_of_more_of_what_a_person_has_than_there_is():
    words = ["plan", "topk", "--items", "5", "--persons", "99", "--epsilon", "1"]
    assert "per-person = 9; --per-person of 1 to 5 is planned" in run(*words, "--per-person", "2,9").error


@pytest.mark.parametrize("design", ["once", "matching"])
def test_more_answers_than_pairs_in_python(design):
    with pytest.raises(ValueError, match=r"per_person = 9; .* of 3 pairs allows 1 \.\. [13]: design='any' allows more"):
        dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=9, design=design)
    with pytest.raises(ValueError, match=r"answers = 9; an integer from 1 to 3 is needed: .*design='any'"):
        dprank.plan("ranking", items=3, persons=99, epsilon=1.0, answers=(1, 9))


# A column without a name, as R writes it

CALLED = "a column without a name in line 1 is called by its place: 'Unnamed: 0' the first, 'Unnamed: 1' the second"
R_HEADERS = [",left,right,answer", '"",left,right,answer']


def of_r(folder, header, *words):
    path = folder / "r.csv"
    path.write_text("\n".join([header, *(",".join(row) for row in ROWS), ""]))
    return run("check", path, *words)


@pytest.mark.parametrize("header", R_HEADERS)
@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ([*TWO, "--map", "A=1,B=0", "--person", ""], "person"),
        (["--item", "left", *ITEMS.split(), "--person", ""], "person"),
        (["--item", "", *ITEMS.split(), "--person", "left"], "columns"),
        (["--orders", "", "--ballots", "full", *ITEMS.split()], "columns"),
        (["--comparisons", ",left,right", "--map", "names", *ITEMS.split()], "columns"),
        (["--long", "left,answer", "--ballots", "full", "--ballot", "", *ITEMS.split()], "ballot"),
        ([*RANKS, "--weight", "", "--max-weight", "2"], "weight"),
        ([*RANKS, "--times", ""], "times"),
    ],
)
def test_a_column_without_a_name_is_called_by_its_place(header, flags, name, tmp_path):
    done = of_r(tmp_path, header, *flags)
    assert (done.code, f"{name} = ''; {CALLED}" in done.error) == (2, True)


@pytest.mark.parametrize("header", R_HEADERS)
def test_it_is_read_by_that_name(header, tmp_path):
    assert of_r(tmp_path, header, *TWO, "--map", "A=1,B=0", "--person", "Unnamed: 0").code == 0


@pytest.mark.parametrize(
    ("header", "person", "told"),
    [
        (",left,right,answer", "judge", "'Unnamed: 0' is a column without a name in line 1"),
        ("who,left,right,answer,,", "judge", "'Unnamed: 4', 'Unnamed: 5' are columns without a name in line 1"),
        ("left,right,answer,", "lefft", "; 'Unnamed: 3' is a column without a name in line 1"),
    ],
)
def test_a_missing_column_may_be_one_without_a_name(header, person, told, tmp_path):
    assert told in of_r(tmp_path, header, *TWO, "--map", "A=1,B=0", "--person", person).error


def test_two_columns_of_r(tmp_path):
    error = of_r(tmp_path, '"","w"', "--item", "w", "--person", "id", *ITEMS.split()).error
    assert "1 of them has no name in line 1: is it a title" in error
    assert "'Unnamed: 0' is a column without a name" in error
    (tmp_path / "r2.csv").write_text('"","w"\n"1","oak"\n')
    for person in ("", "id"):
        with pytest.raises(ValueError, match="'Unnamed: 0' has no name there"):
            dprank.Tallies.from_frame(pd.read_csv(tmp_path / "r2.csv"), items=list(TREES), person=person, item="w")


# Answers that say nothing

SILENT = [[f"p{at}", *PAIRS[at % 3], ("A", "B", "NSP", "A", "NSP")[at % 5]] for at in range(30)]
LEFT = sum(row[3] == "NSP" for row in SILENT)
NONE_OF_IT = [["--map", "A=1,B=0,NSP="], ["--map", "A=1,B=0", "--unranked-as", "NSP"]]


def looked(folder, *words, header="who,left,right,answer", rows=SILENT):
    done = asked(folder, *words, "--json", header=header, rows=rows)
    assert (done.code, done.error) == (0, "")
    return json.loads(done.out)


@pytest.mark.parametrize("said", NONE_OF_IT)
@pytest.mark.parametrize("person", [[], ["--person", "who"]])
def test_an_answer_that_says_nothing(said, person, tmp_path):
    found = looked(tmp_path, *TWO, *said, *person, "--before-looking", "all")
    blank = looked(
        tmp_path, *TWO, *said[:1], "A=1,B=0", *person, rows=[[*it[:3], it[3].replace("NSP", "")] for it in SILENT]
    )
    assert (found["left out"], found["misread"]) == ({"no such answer": LEFT}, {})
    assert (found["rows"], found["rows that count"]) == (blank["rows"], blank["rows that count"])
    assert found["left out"] == blank["left out"]
    assert not [it for it in found["noticed"] if "NSP" in it or "--map" in it]


@pytest.mark.parametrize(
    ("cells", "said", "silent"),
    [
        ("oak elm 9.0", ["--map", "names", "--unranked-as", "9"], "9.0"),
        ("oak elm k.A.", ["--map", "names,k.A.="], "k.A."),
        ("1 0 -99", ["--map", "outcome", "--unranked-as", "-99,-98"], "-99"),
        ("1 2 0", ["--map", "position", "--unranked-as", "0"], "0"),
        ("1 0 0.5", ["--map", "outcome", "--unranked-as", "0.50"], "0.5"),
        ("A B nsp", ["--map", "A=1,B=0,NSP=", "--clean", "casefold"], "nsp"),
    ],
)
def test_codes_that_say_nothing(cells, said, silent, tmp_path):
    rows = [["p", "oak", "elm", cells.split()[at % 3]] for at in range(9)]
    found = looked(tmp_path, *TWO, *said, rows=rows)
    assert (found["rows that count"], found["left out"], found["misread"]) == (6, {"no such answer": 3}, {})
    assert not [it for it in found["noticed"] if silent in it]


@pytest.mark.parametrize("said", NONE_OF_IT)
def test_a_questionnaire_with_answers_that_say_nothing(said, tmp_path):
    rows = [["p1", "A", "NSP"], ["p2", "B", ""], ["p3", "NSP", "A"]]
    words = ["--pairs", "all", "--person", "who", *ITEMS.split(), *said]
    found = looked(tmp_path, *words, header="who,oak vs elm,elm vs fir", rows=rows)
    assert (found["rows"], found["rows that count"], found["left out"], found["misread"]) == (3, 3, {}, {})


@pytest.mark.parametrize("said", NONE_OF_IT)
def test_it_is_kept_in_the_plan_and_read_by_every_command(said, tmp_path):
    path, plan = written(tmp_path, "who,left,right,answer", SILENT), tmp_path / "plan.toml"
    assert run("check", path, *TWO, *said, "--person", "who", "--before-looking", "all", "--out", plan).code == 0
    assert 'unranked_as = ["NSP"]' in plan.read_text()
    declared = dprank.Declaration.from_toml(plan)
    assert (declared.unranked_as, declared.answers) == (("NSP",), {"A": 1.0, "B": 0.0})
    assert declared.rules_of_ballots()["no place"] == "1 code of answers that say nothing"
    pd.read_csv(path).to_parquet(tmp_path / "a.parquet")
    sums = []
    for engine in ("numpy", "duckdb"):
        counts = count(tmp_path / "a.parquet", declared, per_person=3, engine=engine)
        sums.append((counts.sums, dict(counts.left_out), counts.rows))
    assert sums[0] == sums[1]
    assert sums[0][1]["no such answer"] == LEFT
    out = tmp_path / "release.json"
    words = ["--protect", "person", "--answers", "1", "--score", "half", "--epsilon", "1000"]
    assert run("release", "ranking", path, "--plan", plan, *words, "--out", out).code == 0
    assert "NSP" not in out.read_text()
    assert run("report", out).code == 0
    assert run("release", "ranking", path, *TWO, "--person", "who", *said, *words, "--rehearse").code == 0
    assert run("count", path, *TWO, "--person", "who", *said, "--answers", "1", "--out", tmp_path / "c.json").code == 0


def test_nobody_becomes_a_tie(tmp_path):
    """By half the ties for either, what says nothing would put the item first that was asked about most."""
    rows = ["oak,elm,A", "oak,fir,NSP", "oak,fir,NSP", "fir,oak,NSP", "elm,fir,A", "elm,fir,A"]
    path = written(tmp_path, "l,r,w", rows)
    keys = {"kind": "comparisons", "items": TREES, "columns": ("l", "r", "w"), "answers": {"A": 1, "B": 0}}
    data = dprank.Declaration(**keys, unranked_as=["NSP"]).read(path).data
    assert dprank.win_counts(data, "half").tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["--map", "A=1,B=0,oak="], "unranked_as = 'oak'; it is an item"),
        (["--map", "names", "--unranked-as", "oak"], "unranked_as = 'oak'; it is an item"),
        (["--map", "A=1,B=0", "--unranked-as", "B"], "unranked_as = 'B'; --map says what it means: one meaning"),
        (["--map", "A=,B=,NSP="], "a number is needed behind = of one answer at least: 1, 0 or 0.5"),
        (["--map", "A=1,A="], "'A' has two meanings"),
    ],
)
def test_what_says_nothing_has_no_other_meaning(said, words, tmp_path):
    assert words in asked(tmp_path, *TWO, *said).error


def test_tallies_have_no_answers_and_tables_say_where_it_is_declared():
    with pytest.raises(ValueError, match="unranked_as = 'x'; tallies have none"):
        dprank.Declaration(kind="tallies", items=TREES, person="who", columns=["it"], unranked_as=["x"])
    keys = {"kind": "comparisons", "items": TREES, "columns": ("l", "r", "w")}
    with pytest.raises(ValueError, match=r"answers = ''; .* 1, 0.5 or 0: a Declaration names .* by unranked_as"):
        dprank.Declaration(**keys, answers={"A": 1, "NSP": ""})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("A=1,B=0", "with nothing behind = where one says nothing"),
        ("names", "or with nothing behind = where it says nothing"),
        ("outcome", "or with nothing behind = where it says nothing"),
    ],
)
def test_check_says_how_an_answer_says_nothing(said, hint, tmp_path):
    [line] = [it for it in looked(tmp_path, *TWO, "--map", said)["noticed"] if "--map does not know" in it]
    assert hint in line


def test_one_answer_beside_names_may_say_nothing(tmp_path):
    rows = [["p", "oak", "elm", ("oak", "elm", "NSP")[at % 3]] for at in range(9)]
    [line] = [it for it in looked(tmp_path, *TWO, "--map", "names", rows=rows)["noticed"] if "NSP" in it]
    assert "--map 'names,NSP='" in line or '--map "names,NSP="' in line or "--map names,NSP=, if it says" in line


# Items by an alias, and answers by the same numbers

WAY = "write other words for the answers in the file, as A and B, and --map A=1,B=0; or name the items as they are"


def of_codes(flag, *more):
    """Items of which numbers are codes, and answers that are numbers of sides."""
    names = ["oak", "elm", "fir"]
    aliases = [it for at, name in enumerate(names, flag) for it in ("--alias", f"{at}={name}")]
    return ["--comparisons", "left,right,answer", *ITEMS.split(), *aliases, "--before-looking", "all", *more]


def coded(first, sides):
    pairs = [(0, 1), (1, 2), (0, 2), (2, 0)] * 3
    return [["p", str(one + first), str(two + first), sides[at % 2]] for at, (one, two) in enumerate(pairs)]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("word", "sides"), [("position", "12"), ("outcome", "10")])
def test_answers_that_an_alias_makes_items(first, word, sides, tmp_path):
    rows = coded(first, sides)
    said = looked(tmp_path, *of_codes(first, "--map", word), rows=rows)["noticed"]
    assert len([it for it in said if WAY in it]) == 1
    assert not [it for it in said if "knows" in it or "--map 1=" in it or f"--map {word} " in it]
    numbers = ",".join(str(it + first) for it in range(3))
    assert [it for it in said if f"written, --items '{numbers}', without --alias" in it]
    plain = ["--comparisons", "left,right,answer", "--items", numbers, "--map", word]
    assert looked(tmp_path, *plain, rows=rows)["rows that count"] == len(rows)
    words = [[*row[:3], "AB"[sides.index(row[3])]] for row in rows]
    assert looked(tmp_path, *of_codes(first, "--map", "A=1,B=0"), rows=words)["rows that count"] == len(rows)


@pytest.mark.parametrize("said", ["names", "A=1,B=0"])
@pytest.mark.parametrize("sides", ["12", "10"])
def test_the_same_where_they_are_read_as_names(said, sides, tmp_path):
    told = looked(tmp_path, *of_codes(int(sides[1] == "2"), "--map", said), rows=coded(int(sides[1] == "2"), sides))
    assert len([it for it in told["noticed"] if WAY in it]) == 1
    assert not [it for it in told["noticed"] if "--map position" in it or "let it say" in it]


@pytest.mark.parametrize("said", ["1=1,2=0", "1=0,2=1", "2=0"])
def test_a_map_of_what_an_alias_makes_items(said, tmp_path):
    error = asked(tmp_path, *of_codes(1, "--map", said), rows=coded(1, "12")).error
    assert "; --alias makes it the item '" in error
    assert WAY in error
    assert "outcome or position" not in error


def test_answers_of_which_nothing_is_said_and_aliases(tmp_path):
    done = run("check", written(tmp_path, "who,left,right,answer", coded(1, "12")), *of_codes(1))
    assert (done.code, WAY in done.out, "--map position fits" in done.out) == (2, True, False)


def test_winners_and_losers_by_codes(tmp_path):
    words = ["--comparisons", "left,right,left", *of_codes(1)[2:]]
    rows = coded(1, "12")
    assert looked(tmp_path, *words, "--map", "names", rows=[*rows, ["p", "4", "1", ""]])["rows that count"] == len(rows)
    assert run("check", written(tmp_path, "who,left,right,answer", rows), *words).code == 2


def test_names_of_items_by_their_codes_are_no_sides(tmp_path):
    rows = [[*row[:3], row[1 + at % 2]] for at, row in enumerate(coded(1, "12"))]
    found = looked(tmp_path, *of_codes(1, "--map", "names"), rows=rows)
    assert (found["rows that count"], found["noticed"]) == (len(rows), [])
