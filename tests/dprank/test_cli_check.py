"""What `check` sees that a person would see: each on a file that shows it, and on a sound one that does not."""

import csv
import io
import json
import random
import shlex

import numpy as np
import pytest

import dprank
from dprank.cli.path import said as run
from dprank.data.noticed import noticed, raw_of


def written(folder, header, rows, name="data.csv"):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header.split(","))
    writer.writerows(row.split(",") if isinstance(row, str) else row for row in rows)
    path = folder / name
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def checked(path, flags):
    done = run("check", path, *shlex.split(flags), "--json")
    assert (done.code, done.error) == (0, "")
    return json.loads(done.out)


@pytest.mark.parametrize("name", ["Respondent number", "household size", "member", "age", "body weight", "total score"])
def test_numbers_of_people_are_no_counts(name, tmp_path):
    """As a column that is not used, and as the one that says who, where items stand in several rows."""
    rows = [f"p{at},{('oak', 'elm')[at % 2]},{at * at + 7}" for at in range(9)]
    path = written(tmp_path, f"who,tree,{name}", rows)
    for who in ("who", name):
        assert checked(path, f"--item tree --items oak,elm --person {shlex.quote(who)}")["noticed"] == []


def test_what_was_noticed_comes_first(tmp_path):
    flags = ["--wide", "--items", "oak,elm", "--person", "who"]
    path = written(tmp_path, "who,oak,elm", [f"p{at},2,1" for at in range(9)] + [["x", "", ""]])
    assert "noticed" not in run("check", path, *flags).out
    path = written(tmp_path, "who,oak,elm", ["anon,2,1"] * 12)
    lines = [line for line in run("check", path, *flags).out.splitlines() if not line.startswith("rows")]
    assert [line.startswith("noticed: ") for line in lines[:7]] == [False] * 4 + [True, True, False]


WIDE = "--wide --items oak,elm,fir --person who"
PARTIAL = "--ballots partial --unranked apart"
VOTES = f"--orders vote --items oak,elm,fir {PARTIAL}"
LONG = f"--long tree,place --items oak,elm,fir --person who {PARTIAL}"
HAS = "--item tree --items oak,elm,fir --person who"
TWO = "--comparisons left,right,answer --items oak,elm,fir --person who --map 1=1,0=0"
PAIRS = "--pairs all --map names --items oak,elm,fir --person who"
FULL = ["1,2,3", "2,1,3", "3,2,1", "1,3,2"]
SOUND = [f"p{at},{FULL[at % 4]}" for at in range(40)]
ORDERS = ["oak > elm > fir", "elm > fir", "fir = oak > elm"] * 5
MEET = [f"p{at},{pair},{at % 2}" for at in range(60) for pair in ("oak,elm", "elm,fir", "fir,oak")]

#: What is noticed: flags; a header, rows and words of the finding; a header and rows of a sound file.
CASES = {
    "ballots that rank nothing: wide": (
        f"{WIDE} {PARTIAL}",
        ("who,oak,elm,fir", [f"p{at},,," for at in range(9)], ["nothing counts: none of 9 ballots"]),
        ("who,oak,elm,fir", [*SOUND, "x,,,"]),
    ),
    "ballots that rank nothing: one item each": (
        f"{WIDE} {PARTIAL}",
        ("who,oak,elm,fir", [f"p{at},1,," for at in range(9)], ["nothing counts: none of 9 ballots"]),
        ("who,oak,elm,fir", [*SOUND, *[f"q{at},1,," for at in range(40)]]),
    ),
    "ballots that rank nothing: last": (
        f"{WIDE} --ballots partial --unranked last",
        ("who,oak,elm,fir", [f"p{at},,," for at in range(9)], ["nothing counts: none of 9 ballots"]),
        ("who,oak,elm,fir", [f"q{at},1,," for at in range(40)]),
    ),
    "ballots that rank nothing: orders": (
        VOTES,
        ("vote", ["ash > yew"] * 3 + ["oak"] * 3, ["nothing counts: none of 6 ballots"]),
        ("vote", ORDERS),
    ),
    "ballots that rank nothing: long": (
        LONG,
        ("who,tree,place", [f"p{at},oak,1" for at in range(9)], ["nothing counts: none of 9 ballots"]),
        ("who,tree,place", [f"p{at},{it}" for at in range(9) for it in ("oak,1", "elm,2")]),
    ),
    "ballots of no weight": (
        f"{WIDE} --weight w --max-weight 3",
        ("who,oak,elm,fir,w", [f"{row},0" for row in SOUND], ["nothing counts: of 40 ballots 40 are of weight 0"]),
        ("who,oak,elm,fir,w", [f"{row},2" for row in SOUND]),
    ),
    "most ballots lost": (
        WIDE,
        (
            "who,oak,elm,fir",
            [*SOUND, *[f"q{at},1,1,2" for at in range(41)]],
            ["most ballots are left out: 41 of 81, all for 'not every place once'; they do not rank all items once"],
        ),
        ("who,oak,elm,fir", [*SOUND, *[f"q{at},1,1,2" for at in range(4)]]),
    ),
    "many ballots lost": (
        WIDE,
        (
            "who,oak,elm,fir",
            [*SOUND, *[f"q{at},1,1,2" for at in range(5)]],
            ["5 of 45 ballots are left out for 'not every place once', which may lean to one side; they do not rank"],
        ),
        ("who,oak,elm,fir", [*SOUND, *[f"q{at},1,1,2" for at in range(4)]]),
    ),
    "most answers lost": (
        TWO,
        (
            "who,left,right,answer",
            [row.replace(",1", ",yes") for row in MEET] + ["p,oak,elm,yes"] * 3,
            ["most rows are left out: 93 of 183, all for 'no such answer'"],
        ),
        ("who,left,right,answer", [*MEET, "p,oak,elm,"]),
    ),
    "a title above the header": (
        "--item 'Survey of trees' --items oak,elm,fir --person 'Survey of trees'",
        ("Survey of trees", [["who", "tree"], ["1", "oak"], ["2", "elm"]], ["is line 1 the header"]),
        ("Survey of trees", ["oak", "elm"]),
    ),
    "one label for all": (
        WIDE,
        ("who,oak,elm,fir", ["anon,1,2,3"] * 200, ["one label has all 200 ballots: does 'who' say who?"]),
        ("who,oak,elm,fir", [*SOUND, "anon,1,2,3", "anon,1,2,3"]),
    ),
    "one label for many": (
        WIDE,
        ("who,oak,elm,fir", [*SOUND, *["anon,1,2,3"] * 12], ["one label has 12 of 52 ballots"]),
        ("who,oak,elm,fir", [*SOUND, *["p1,1,2,3"] * 3]),
    ),
    "one label for most answers": (
        TWO,
        (
            "who,left,right,answer",
            [*MEET, *(row.replace(row.split(",")[0], "n/a", 1) for row in MEET[3:]), *["n/a,oak,elm,1"] * 4],
            ["one label has 181 of 361 rows"],
        ),
        ("who,left,right,answer", [*MEET, *(row.replace("p", "q", 1) for row in MEET)]),
    ),
    "spellings of one person": (
        WIDE,
        (
            "who,oak,elm,fir",
            ["aB,1,2,3", "Ab,2,1,3", "ab,1,3,2", "c,1,2,3", "C ,1,2,3", "d,1,2,3", "e,1,2,3"],
            ["5 spellings were taken for 2 persons, as they differ in blanks and case alone: is that so in 'who'?"],
        ),
        ("who,oak,elm,fir", ["aB,1,2,3", "aB,2,1,3", "ac,1,3,2", "c,1,2,3"]),
    ),
    "numbers of one person": (
        WIDE,
        (
            "who,oak,elm,fir",
            ["1,1,2,3", "1.0,2,1,3", "2,1,2,3"],
            ["2 spellings were taken for 1 person, as they differ in how letters or numbers are written alone"],
        ),
        ("who,oak,elm,fir", ["1,1,2,3", "1.5,2,1,3", "2,1,2,3"]),
    ),
    "semicolons between items: orders": (
        VOTES,
        (
            "vote",
            [["oak;elm;fir;"], ["elm;oak"]],
            ["several items, with ';' between, as 'oak;elm;fir;', in 2 cells: --between ';'"],
        ),
        ("vote", [*ORDERS, "ash;yew > oak > elm"]),
    ),
    "commas between items: orders": (
        VOTES,
        ("vote", [["oak, elm, fir"], ["elm, oak, fir"]], ["several items, with ',' between"]),
        ("vote", [*ORDERS]),
    ),
    "bars between items: baskets": (
        HAS,
        (
            "who,tree",
            ["p1,oak|elm", "p2,fir|oak", "p3,oak"],
            ["with '|' between", "in 2 cells: write a row for each person and item"],
        ),
        ("who,tree", ["p1,oak", "p1,elm", "p2,fir", "p3,oak", "p3,yew|ash"]),
    ),
    "lines between items: baskets": (
        HAS,
        ("who,tree", [["p1", "oak\nelm"]], ["with a line end between"]),
        ("who,tree", [["p1", "oak\n"], ["p1", "oak"]]),
    ),
    "arrows between items": (
        VOTES,
        (
            "vote",
            ["oak -> elm -> fir", "elm->oak", "elm → fir"],
            ["with '->' between, as 'oak -> elm -> fir', in 2 cells"],
        ),
        ("vote", ORDERS),
    ),
    "blanks between items": (
        VOTES,
        ("vote", ["oak elm fir", "elm oak"], ["with a blank between, as 'oak elm fir', in 2 cells"]),
        ("vote", ORDERS),
    ),
    "lines between items, with numbers": (
        VOTES,
        ("vote", [["1. oak\n2. elm\n3. fir"]], ["with a line end between"]),
        ("vote", ORDERS),
    ),
    "nothing between items": (
        VOTES,
        ("vote", ["oakelmfir", "elmoak"], ["with nothing between, as 'oakelmfir', in 2 cells"]),
        ("vote", ORDERS),
    ),
    "no order in any cell": (
        VOTES,
        ("vote", ["oak", "elm", "fir"], ["no cell of 'vote' holds > or =", "--ranks"]),
        ("vote", ORDERS),
    ),
    "items for people": (
        HAS,
        ("who,tree", ["oak,p1", "elm,p2", "elm,p3"], ["the column of --person, 'who', holds names of items"]),
        ("who,tree", ["p1,oak", "p2,elm", "oak,elm"]),
    ),
    "a count before an order": (
        VOTES,
        (
            "vote",
            ["21:oak>elm>fir", "5: elm>oak>fir"],
            ["a number before or behind them, as '21:oak>elm>fir', in 2 cells", "--times"],
        ),
        ("vote", ORDERS),
    ),
    "a count behind an order": (
        VOTES,
        ("vote", ["oak>elm>fir (21)", "elm>oak>fir x 5"], ["a number before or behind them", "in 2 cells"]),
        ("vote", [*ORDERS, "oak > elm 2000"[:9]]),
    ),
    "numbers before items": (
        VOTES,
        ("vote", ["1. oak > 2. elm > 3. fir"], ["items have numbers before them"]),
        ("vote", ORDERS),
    ),
    "a column of counts": (
        f"{VOTES} --person who",
        (
            "who,vote,Count",
            ["a,oak > elm,300", "b,elm > oak,2"],
            ["column 'Count' is not used and holds whole numbers", "--times 'Count'"],
        ),
        ("who,vote,Count", ["a,oak > elm,1", "b,elm > oak,1"]),
    ),
    "a column of counts: rows by number": (
        HAS,
        ("who,tree,n", [f"p{at},{('oak', 'elm')[at % 2]},{at % 3}" for at in range(9)], ["column 'n' is not used"]),
        ("who,tree,n", [f"p{at},{('oak', 'elm')[at % 2]},{at}" for at in range(9)]),
    ),
    "a table of totals": (
        "--item tree --items oak,elm,fir --person customers",
        (
            "tree,customers",
            ["oak,500", "elm,300", "fir,100"],
            ["is this a table of totals? dprank counts rows", "A row for every item of every person"],
        ),
        ("tree,customers", [f"{tree},{at * 7}" for at in range(9) for tree in ("oak", "elm", "fir")]),
    ),
    "a table of totals: another name, thousands": (
        "--item tree --items oak,elm,fir --person bought",
        ("tree,bought", [["oak", "1,500"], ["elm", "300"], ["fir", "300"]], ["is this a table of totals?"]),
        ("tree,bought", [f"{('oak', 'elm', 'fir')[at % 3]},{at * at}" for at in range(9)]),
    ),
    "a table of totals: pairs": (
        "--comparisons left,right,left --map names --items oak,elm,fir --person n_votes",
        (
            "left,right,n_votes",
            ["oak,elm,700", "elm,oak,300", "fir,elm,80", "elm,fir,20", "oak,fir,160", "fir,oak,40"],
            ["is this a table of totals?", "Write each row as often as it counts"],
        ),
        ("left,right,n_votes", [f"{pair},{at}" for at, pair in enumerate(["oak,elm", "fir,oak", "elm,fir"] * 3)]),
    ),
    "a table of totals: ballots": (
        f"{VOTES} --person Votes",
        (
            "Votes,vote",
            ["120,oak > elm", "80,elm > oak", "7,fir > elm", *["1,oak > elm > fir"] * 9],
            ["is this a table of totals?", "--times with that"],
        ),
        ("Votes,vote", [f"{at},oak > elm" for at in range(9)]),
    ),
    "a column of counts: pairs": (
        f"{TWO}",
        ("who,left,right,answer,n", [f"{row},3" for row in MEET], ["write the row as often as it counts"]),
        ("who,left,right,answer,n", [f"{row},1" for row in MEET]),
    ),
    "weights of a statistical office": (
        f"{WIDE} --weight w --max-weight 2",
        (
            "who,oak,elm,fir,w",
            [f"{row},1.2" for row in SOUND],
            ["all for 'no such weight'", "multiply all of them and --max-weight by 10"],
        ),
        ("who,oak,elm,fir,w", [f"{row},2" for row in SOUND]),
    ),
    "places above the items": (
        f"{WIDE} --ballots tied",
        (
            "who,oak,elm,fir,ash",
            [f"p{at},{row}" for at, row in enumerate(["4,2,1,3", "1,2,3,4", "1,2,3,4"] * 3)],
            ["places go up to 4, of 3 items, in 3 of 9 ballots: is 'ash' an item, too?"],
        ),
        ("who,oak,elm,fir,ash", [f"{row},x" for row in SOUND]),
    ),
    "ratings": (
        f"{WIDE} --ballots tied",
        (
            "who,oak,elm,fir",
            [f"p{at},10,7,1" for at in range(9)],
            ["places go up to 10", "9 of 9 ballots skip places", "--best high"],
        ),
        (
            "who,oak,elm,fir",
            [f"p{at},{row}" for at, row in enumerate(["1,1,3", "1,1,2", "2,2,3", "1.5,1.5,3", "2,1,3"] * 4)],
        ),
    ),
    "ratings of few stars": (
        f"{WIDE} --ballots tied",
        (
            "who,oak,elm,fir",
            [f"p{at},3,3,2" for at in range(9)],
            ["9 of 9 ballots skip places, or do not begin at 1: are they ratings"],
        ),
        ("who,oak,elm,fir", SOUND),
    ),
    "ratings: long": (
        LONG,
        (
            "who,tree,place",
            [f"p{at},{it}" for at in range(9) for it in ("oak,9", "elm,5", "fir,5")],
            ["places go up to 9, of 3 items, in 9 of 9"],
        ),
        ("who,tree,place", [f"p{at},{it}" for at in range(9) for it in ("oak,3", "elm,1", "fir,2")]),
    ),
    "names where places are": (
        f"--wide --items oak,elm {PARTIAL}",
        ("oak,elm", ["oak,elm", "elm,oak"], ["cells of places hold items, as 'oak', in 4 cells", "--ranks"]),
        ("oak,elm", ["1,2", "2,1", "1,2", "yew,1"]),
    ),
    "zero": (
        f"{WIDE} {PARTIAL}",
        (
            "who,oak,elm,fir",
            ["a,1,0,0", "b,2,1,0"],
            ["0 is no place: --lowest 0 if it is one, the best", "--unranked-as 0"],
        ),
        ("who,oak,elm,fir", ["a,1,,2", "b,2,1,"]),
    ),
    "decimal commas": (
        TWO,
        (
            "who,left,right,answer",
            [[*row.split(",")[:3], "1,0"] for row in MEET],
            ["decimal comma, as '1,0', in 180 cells"],
        ),
        ("who,left,right,answer", [*MEET, "p,oak,elm,1.5"]),
    ),
    "a name with a comma": (
        f"--long tree,place --items 'oak, white,elm,fir' --person who {PARTIAL}",
        (
            "who,tree,place",
            [[f"p{at}", *it] for at in range(3) for it in (("oak, white", "1"), ("elm", "2"), ("fir", "3"))],
            ["'oak, white', which was declared as 2 items", "one a line"],
        ),
        (
            "who,tree,place",
            [[f"p{at}", *it] for at in range(3) for it in (("oak", "1"), ("white", "3"), ("elm", "2"), ("fir", "2"))],
        ),
    ),
    "a name with a comma: orders": (
        f"--orders vote --items 'oak, white,elm,fir' {PARTIAL}",
        (
            "vote",
            [["oak, white > elm"], ["fir > oak, white"]],
            ["'oak, white', which was declared as 2 items", "one a line"],
        ),
        ("vote", [["oak > white"], ["elm > fir"]]),
    ),
    "a misspelt favourite": (
        "--orders vote --items oak,elm,fir --ballots partial --unranked last",
        ("vote", [*ORDERS, "oka > elm"], ["item; --unranked last puts nothing behind on these"]),
        ("vote", [*ORDERS, "elm > oak"]),
    ),
    "a pair that nobody declared": (
        PAIRS,
        (
            "who,oak vs elm,Q3: fir vs oak",
            ["a,oak,fir", "b,elm,oak"],
            ["column 'Q3: fir vs oak' is not used, as 'Q3: fir' is no", "never compared: 'fir'"],
        ),
        ("who,oak vs elm,fir vs oak,elm vs fir", ["a,oak,fir,elm", "b,elm,oak,fir"]),
    ),
    "comparisons that fall apart": (
        "--comparisons left,right,answer --items oak,elm,fir,yew --person who --map 1=1,0=0",
        (
            "who,left,right,answer",
            [f"p{at},{pair},{at % 2}" for at in range(9) for pair in ("oak,elm", "yew,fir")],
            ["fall into 2 groups that never met ('oak', 'elm'; 'fir', 'yew')"],
        ),
        (
            "who,left,right,answer",
            [
                f"p{at},{pair},{at % 2}"
                for at in range(9)
                for pair in ("oak,elm", "yew,fir", "oak,yew", "elm,fir", "oak,fir", "elm,yew")
            ],
        ),
    ),
    "unequal comparisons": (
        TWO,
        (
            "who,left,right,answer",
            [*MEET, *[f"q{at},oak,elm,1" for at in range(300)]],
            ["pairs were not compared equally often: 'oak' has 420 answers, 'fir' 120"],
        ),
        ("who,left,right,answer", [*MEET, *[f"q{at},oak,elm,1" for at in range(30)]]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_odd_is_said_and_what_is_not_is_not(name, tmp_path):
    flags, (header, rows, words), (sound_header, sound) = CASES[name]
    said = checked(written(tmp_path, header, rows), flags)["noticed"]
    for word in words:
        assert any(word in line for line in said), (word, said)
    said = checked(written(tmp_path, sound_header, sound), flags)["noticed"]
    for word in words:
        start = word.split("'")[0].split(" of ")[0][:14]
        assert not any(start in line for line in said), (start, said)


SURE = (
    "a title above the header",
    "semicolons between items: orders",
    "bars between items: baskets",
    "decimal commas",
    "a name with a comma",
    "names where places are",
    "lines between items: baskets",
)


@pytest.mark.parametrize("name", [it for it in CASES if it not in SURE])
def test_a_sound_file_is_noticed_in_no_way(name, tmp_path):
    """Those of other names hold a slip of another kind."""
    flags, _, (header, rows) = CASES[name]
    said = checked(written(tmp_path, header, rows), flags)["noticed"]
    assert [line for line in said if not line.startswith("spellings")] == []


@pytest.mark.parametrize("n_items", [3, 8, 40])
@pytest.mark.parametrize("answers", [20, 200, 4000])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_that_are_drawn_evenly_are_not_called_unequal(n_items, answers, seed):
    rng = np.random.default_rng(seed)
    items = [f"i{at}" for at in range(n_items)]
    pairs = np.array([rng.permutation(n_items)[:2] for _ in range(answers)])
    data = dprank.Comparisons(*pairs.T, rng.integers(0, 2, answers), items=items)
    said = noticed(None, intake_of(data), declared_of(items))
    assert not [line for line in said if "equally" in line]
    often = np.concatenate([pairs, np.tile([[0, 1]], (2 * answers, 1))])
    data = dprank.Comparisons(*often.T, np.ones(len(often)), items=items)
    assert [line for line in noticed(None, intake_of(data), declared_of(items)) if "equally" in line]


def declared_of(items):
    return dprank.Declaration(kind="comparisons", items=items, columns=("a", "b", "c"), answers={"1": 1, "0": 0})


def intake_of(data):
    from dprank.data.accounts import Intake

    return Intake(data, "", len(data), {}, {}, {}, {}, {})


SOUND_FILES = {
    "answers.csv": {
        "kind": "comparisons",
        "items": ["London", "Paris", "Rome"],
        "person": "person",
        "columns": ("first", "second", "outcome"),
        "answers": {"1": 1, "0": 0, "0.5": 0.5},
    },
    "ballots.csv": {"kind": "ballots", "items": ["roads", "schools", "parks", "debt"], "person": "person"},
    "city.toc": {
        "kind": "ballots",
        "items": ["roads", "schools", "parks", "debt"],
        "form": "preflib",
        "ballots": "tied",
    },
    "diagnoses.csv": {
        "kind": "tallies",
        "items": ["asthma", "flu", "gout", "kuru", "measles", "migraine"],
        "person": "patient",
        "columns": ("diagnosis",),
    },
}


@pytest.mark.parametrize("name", SOUND_FILES)
def test_nothing_is_noticed_in_the_examples(name):
    declared, path = dprank.Declaration(**SOUND_FILES[name]), dprank.example(name)
    assert noticed(raw_of(declared, path), declared.read(path), declared) == ()


@pytest.mark.parametrize("name", ["cems", "first_names", "german_parties"])
def test_nothing_is_noticed_in_surveys_of_the_repository(name, request):
    path = request.config.rootpath / f"data/surveys/{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    declared = dprank.Declaration(
        kind="comparisons",
        items=sorted({it for row in rows for it in row[1:3]}),
        person=head[0],
        columns=("first", "second", "outcome"),
        answers={"1": 1, "0": 0, "0.5": 0.5},
    )
    assert noticed(raw_of(declared, path), declared.read(path), declared) == ()


def test_answers_an_item_and_lists_that_end(tmp_path):
    path = written(tmp_path, "who,left,right,answer", MEET)
    found = checked(path, TWO)
    assert found["answers an item"] == {"oak": 120, "elm": 120, "fir": 120}
    many = [f"tree {at}" for at in range(5000)]
    (tmp_path / "many.txt").write_text("\n".join(["oak", "elm", "fir", *many]))
    flags = TWO.replace("oak,elm,fir", str(tmp_path / "many.txt"))
    found = checked(path, flags)
    assert found["items that no row has"] == many
    lines = run("check", path, *shlex.split(flags)).out.splitlines()
    assert max(map(len, lines)) < 1500
    [line] = [line for line in lines if line.startswith("items that no row has")]
    assert line.count("tree") == 50
    assert line.endswith(" and 4950 more; --json has all")


@pytest.mark.parametrize("name", ["one label for all", "one label for many", "spellings of one person"])
def test_nobody_is_named(name, tmp_path):
    flags, (header, rows, _), _ = CASES[name]
    labels = {row.split(",")[0].strip() for row in rows} - {"c", "C", "d", "e"}
    said = json.dumps(checked(written(tmp_path, header, rows), flags))
    assert len(labels) > 0
    assert [label for label in labels if label in said] == []


def test_what_to_do_about_people_of_one_spelling(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", ["a1,1,2,3", "A1,2,1,3"])
    [line] = checked(path, WIDE)["noticed"]
    assert line.endswith(
        "as they differ in case alone: is that so in 'who'? Else write people so that they differ in more"
    )


def test_ballots_an_item_where_some_leave_it_out(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", ["a,1,2,", "b,2,1,3", "c,,,"])
    assert checked(path, f"{WIDE} {PARTIAL}")["ballots an item"] == {"oak": 2, "elm": 2, "fir": 1}


def test_another_sign_between_items_is_no_list(tmp_path):
    path = written(tmp_path, "vote", [["oak;elm;fir;"], ["elm;oak"], ["fir"]])
    assert checked(path, f"{VOTES} --between ';'")["noticed"] == []
    path = written(tmp_path, "vote", ["oak>elm>fir", "elm>oak"])
    said = checked(path, f"{VOTES} --between ';'")["noticed"]
    assert any("with '>' between, as 'oak>elm>fir', in 2 cells: --between '>'" in line for line in said)
    path = written(tmp_path, "vote", ["oak", "elm"])
    said = checked(path, f"{VOTES} --between ';'")["noticed"]
    assert any("no cell of 'vote' holds ; or =" in line for line in said)


def test_items_that_no_row_has_where_items_are_columns(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", [f"p{at},1,2," for at in range(9)])
    assert checked(path, f"{WIDE} --ballots partial --unranked last")["items that no row has"] == ["fir"]
    path = written(tmp_path, "who,oak vs elm", ["a,oak", "b,elm"])
    assert checked(path, PAIRS)["items that no row has"] == ["fir"]


def test_places_of_any_usual_numbering_are_no_ratings(tmp_path):
    random.seed(1)
    for way in range(3):
        rows = []
        for at in range(30):
            kinds = [random.choice("abc") for _ in range(3)]
            upto = {it: (sum(o < it for o in kinds), sum(o <= it for o in kinds)) for it in kinds}
            value = {it: (low + 1, high, (low + 1 + high) / 2)[way] for it, (low, high) in upto.items()}
            rows.append([f"p{at}", *(f"{value[it]:g}" for it in kinds)])
        assert not checked(written(tmp_path, "who,oak,elm,fir", rows), f"{WIDE} --ballots tied")["noticed"]


@pytest.mark.parametrize(
    "head", ["Rank from 1 to 4:\n{}", "Rank  \t {}", "{}\n(1 = best)", "1 = best: {}", "Q1\r\n{}\r\n"]
)
def test_the_command_that_a_header_leads_to_works(head, tmp_path):
    """What is hinted is run, hint by hint, until the file is read."""
    items = ["oak", "elm", "fir"]
    text = io.StringIO()
    csv.writer(text).writerows([["who", *map(head.format, items)], *(row.split(",") for row in SOUND)])
    path = tmp_path / "data.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    flags = [*shlex.split(WIDE)]
    for _ in items:
        done = run("check", path, *flags, "--json")
        assert done.code != 0
        hint = shlex.split(done.error.split("is meant, maybe: ")[1])
        assert len(hint) in (2, 4)
        flags += hint[:2] + hint[2:] * ("--clean" not in flags)
    found = checked(path, shlex.join(flags))
    assert (found["rows that count"], found["noticed"]) == (40, [])


def rated(scale, code, share=0.6, n=300, seed=1):
    """Ratings of three items: fir is worst, and most cells of it hold a code."""
    rng, low, top = random.Random(seed), min(scale), max(scale)
    rows = []
    for at in range(n):
        some = [round(min(top, max(low, rng.gauss(low + (top - low) * by, (top - low) / 6)))) for by in (0.8, 0.6, 0.1)]
        rows.append([f"p{at}", some[0], some[1], code if rng.random() < share else some[2]])
    return rows


STARS, SLIDER = range(1, 6), range(101)
HIGH = f"{WIDE} --best high --ballots tied"


@pytest.mark.parametrize(
    ("scale", "code", "share"),
    [
        *[(STARS, code, 0.6) for code in (6, 8, 9, 88, 98, 99, 999, -1, -9, 50)],
        *[(STARS, code, 0.05) for code in (8, 9, 99, -1)],
        *[(range(1, 8), code, 0.5) for code in (8, 9, 99)],
        *[(range(1, 11), code, 0.2) for code in (11, 77, 99, -99)],
        *[(SLIDER, code, 0.2) for code in (999, -1, 9999)],
    ],
)
def test_a_code_among_ratings_is_seen_and_what_is_said_of_it_mends_it(scale, code, share, tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", rated(scale, code, share))
    flags = f"{HIGH} --lowest {min(scale)}"
    [line] = [it for it in checked(path, flags)["noticed"] if "stands apart" in it]
    assert line.startswith(f"{code} stands apart from the other ratings, {min(scale)} to {max(scale)}, in ")
    assert ("counts as the best" in line) == (code > 0)
    hint = f"--unranked-as {code}"
    assert f": {hint}, if it says that there is no answer" in line
    said = checked(path, f"{flags} {hint} --ballots partial --unranked apart".replace("--ballots tied ", ""))
    assert (said["noticed"], said["rows that count"]) == ([], 300)


def test_several_codes_are_named_together(tmp_path):
    rows = rated(STARS, 99) + rated(STARS, 98, seed=2) + rated(STARS, 6, seed=3)
    [line, why] = checked(written(tmp_path, "who,oak,elm,fir", rows), f"{HIGH} --repeated one")["noticed"][-2:]
    assert line.startswith("6, 98, 99 stand apart from the other ratings, 1 to 5, in")
    assert "--unranked-as 6,98,99, if they say" in line
    assert why == "6 is often said of 'fir', and 5 and 4 hardly ever"
    long = [
        [who, tree, cell]
        for who, *cells in rated(STARS, 9)
        for tree, cell in zip(("oak", "elm", "fir"), cells, strict=True)
    ]
    said = checked(written(tmp_path, "who,tree,place", long), f"{LONG} --best high")["noticed"]
    assert [it for it in said if it.startswith("9 stands apart from the other ratings, 1 to 5")]


def test_a_code_among_places_is_no_rating_and_no_item(tmp_path):
    rng, rows = random.Random(1), []
    for at in range(300):
        places = rng.sample([1, 2, 3], 3)
        rows.append([f"p{at}", *(99 if it > rng.choice([1, 2, 3]) else it for it in places)])
    path = written(tmp_path, "who,oak,elm,fir", rows)
    for flags in (WIDE, f"{WIDE} {PARTIAL}", f"{WIDE} --ballots tied"):
        said = checked(path, flags)["noticed"]
        assert any("99 stands apart from the other places, 1 to 3" in it and "--unranked-as 99," in it for it in said)
        assert not any("ratings" in it or "missing" in it for it in said)
    assert checked(path, f"{WIDE} {PARTIAL} --unranked-as 99")["noticed"] == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("people", [12, 60, 400])
@pytest.mark.parametrize(
    "scale",
    [
        STARS,
        range(6),
        range(1, 7),
        range(1, 8),
        range(1, 9),
        range(1, 10),
        range(11),
        range(1, 12),
        SLIDER,
        range(0, 101, 10),
    ],
)
def test_no_scale_has_codes(scale, people, seed, tmp_path):
    rng = random.Random(seed)
    rows = [[f"p{at}", *(rng.choice(scale) for _ in range(3))] for at in range(people)]
    flags = f"{HIGH} --lowest {min(scale)}"
    assert checked(written(tmp_path, "who,oak,elm,fir", rows), flags)["noticed"] == []
    rows = rated(scale, 1, 0, people, seed)
    assert checked(written(tmp_path, "who,oak,elm,fir", rows), flags)["noticed"] == []


def test_zero_is_named_by_the_direction(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", rated(range(6), 0, 0.3))
    [line] = [it for it in checked(path, HIGH)["noticed"] if it.startswith("0 is no")]
    assert line == "0 is no place: --lowest 0 if it is one, the worst; --unranked-as 0 if it says that there is none"
    assert checked(path, f"{HIGH} --lowest 0")["noticed"] == []


NONE_PUTS = "one item before another"


@pytest.mark.parametrize("some", [30, 0])
@pytest.mark.parametrize(
    ("flags", "row", "reason"),
    [
        (WIDE, "1,2,,1", "not every place once"),
        (WIDE, "1,2,2,1", "not every place once"),
        (WIDE, "1,2,4th,1", "no such place"),
        (f"{WIDE} --ballots tied", "1,2,,1", "an item without a place"),
        (f"{WIDE} --weight w --max-weight 3", "1,2,3,x", "no such weight"),
        (f"{WIDE} {PARTIAL}", "1,2,x,1", "no such place"),
        (f"{WIDE} --ballots partial --unranked last", "1,2,x,1", "no such place"),
    ],
)
def test_ballots_that_are_left_out_are_not_said_to_say_nothing(flags, row, reason, some, tmp_path):
    rows = [f"p{at},1,2,3,1" for at in range(some)] + [f"q{at},{row}" for at in range(31)]
    said = checked(written(tmp_path, "who,oak,elm,fir,w", rows), flags)["noticed"]
    assert f"most ballots are left out: 31 of {some + 31}, all for '{reason}'" in " ".join(said)
    assert not any(NONE_PUTS in line or "say nothing" in line for line in said)
    assert any(line == "nothing counts: a release would be noise alone" for line in said) == (not some)


def test_what_ballots_are_is_said_of_each_kind(tmp_path):
    kinds = [[f"p{at},1,2,3,1" for at in range(9)], [f"q{at},x,1,2,1" for at in range(5)]]
    kinds += [[f"r{at},,,1,1" for at in range(6)], [f"s{at},1,2,3,0" for at in range(7)]]
    flags = f"{WIDE} {PARTIAL} --weight w --max-weight 3"
    said = checked(written(tmp_path, "who,oak,elm,fir,w", [row for kind in kinds for row in kind]), flags)["noticed"]
    parts = "of 27 ballots 5 are left out, 6 are without one item before another, 7 are of weight 0"
    assert said[0] == f"most ballots say nothing: {parts}"
    said = checked(written(tmp_path, "who,oak,elm,fir,w", kinds[1] + kinds[2]), flags)["noticed"]
    assert said[0].startswith("nothing counts: of 11 ballots 5 are left out, 6 are without one item before another; a")
    rows = ["a,oak,1", "a,elm,2"] + [f"p{at},{it}" for at in range(5) for it in ("oak,1", "elm,x")]
    said = checked(written(tmp_path, "who,tree,place", rows), LONG)["noticed"]
    assert said[0] == "most ballots say nothing: 5 of 6 ballots are left out, or put no item before another"
    twice = [f"p1,{it},1" for it in ("1,2,3", "3,2,1")] + ["p2,x,1,2,1", "p2,1,x,2,1"]
    said = checked(written(tmp_path, "who,oak,elm,fir,w", twice), flags)["noticed"]
    assert not any(NONE_PUTS in line for line in said)


def questions(form, several, n=30):
    """Rows of people who answer one question or several: alike, but for a column that says which."""
    rows, rng = [], random.Random(2)
    for at in range(n):
        for question in range(several):
            order = rng.sample(["oak", "elm", "fir"], 3)
            which = [f"p{at}", f"q{question}"]
            if form == "long":
                rows += [[*which, it, place] for place, it in enumerate(order, 1)]
            elif form == "wide":
                rows.append([*which, *(order.index(it) + 1 for it in ("oak", "elm", "fir"))])
            elif form == "orders":
                rows.append([*which, " > ".join(order)])
            else:
                rows += [
                    [*which, *pair, rng.choice([0, 1])] for pair in (("oak", "elm"), ("elm", "fir"), ("oak", "fir"))
                ]
    return rows


@pytest.mark.parametrize(
    ("form", "flags", "header", "words"),
    [
        ("long", LONG, "who,question,tree,place", "a person names items once for each: are"),
        ("wide", WIDE, "who,question,oak,elm,fir", "a person has a row for each: are"),
        ("orders", f"{VOTES} --person who", "who,question,vote", "a person has a row for each: are"),
        ("two", TWO, "who,question,left,right,answer", "a person names items once for each: are"),
    ],
)
def test_two_questions_in_one_file(form, flags, header, words, tmp_path):
    for several in (2, 3):
        said = checked(written(tmp_path, header, questions(form, several)), flags)["noticed"]
        [line] = [it for it in said if "question" in it]
        assert line.startswith(f"column 'question' is not used and has {several} values, and {words} they several")
        assert "One question a release: make a file of each" in line
        assert ("--ballot 'question'" in line) == (form == "long")
    one = questions(form, 1)
    assert not any("question" in it for it in checked(written(tmp_path, header, one), flags)["noticed"])
    where = [[row[0], f"q{int(row[0][1:]) % 2}", *row[2:]] for row in one]
    region = header.replace("question", "region")
    assert not any("region" in it for it in checked(written(tmp_path, region, where), flags)["noticed"])
    [line] = [it for it in checked(written(tmp_path, header, where), flags)["noticed"] if "question" in it]
    assert line.startswith("column 'question' is not used and has 2 values: are they several questions?")
    noted = [[*row[:1], f"note {at}", *row[2:]] for at, row in enumerate(questions(form, 2))]
    assert not any("question" in it for it in checked(written(tmp_path, header, noted), flags)["noticed"])


@pytest.mark.parametrize("sign", ["≻", "~", "»", "!", "⟶", ":", "*"])
def test_any_sign_between_items_is_named_and_reads_them(sign, tmp_path):
    path = written(tmp_path, "vote", [[f" {sign} ".join(it)] for it in (["oak", "elm", "fir"], ["elm", "fir"])] * 5)
    flags = f"--orders vote --items oak,elm,fir {PARTIAL}"
    said = checked(path, flags)["noticed"]
    [line] = [it for it in said if it.startswith("cells hold several items")]
    assert f"with '{sign}' between, as 'oak {sign} elm {sign} fir', in 10 cells: --between '{sign}' reads it" in line
    assert checked(path, f"{flags} --between '{sign}'")["noticed"] == []


def test_a_sign_of_an_item_or_from_worst_to_best_is_not_offered(tmp_path):
    path = written(tmp_path, "vote", [["oak/ash / elm"], ["elm / oak/ash"]] * 5)
    said = checked(path, f"--orders vote --items oak/ash,elm {PARTIAL}")["noticed"]
    assert not any("--between" in it for it in said)
    path = written(tmp_path, "vote", [["fir ≺ elm ≺ oak"]] * 5)
    said = checked(path, VOTES)["noticed"]
    assert any("with '≺' between" in it for it in said)
    assert not any("--between" in it for it in said)


def test_several_items_in_a_cell_by_what_a_cell_should_hold(tmp_path):
    ranks = written(tmp_path, "who,one,two", [["a", "oak;elm", "fir"], ["b", "elm;fir", ""]])
    said = checked(ranks, f"--ranks one,two --items oak,elm,fir --person who {PARTIAL}")["noticed"]
    assert any(
        it.endswith("one item a cell is read; where a cell holds a whole order, --orders COLUMN --between ';' reads it")
        for it in said
    )
    pairs = written(tmp_path, "who,left,right,answer", [["a", "oak;elm", "fir", "1"]])
    assert any(it.endswith("write a row for each person and pair") for it in checked(pairs, TWO)["noticed"])


def test_rows_that_stand_for_many_ballots_are_so_many(tmp_path):
    rows = [["oak>elm>fir", "60"], ["elm>oak", "1,300"], ["oka>elm", "7"], ["yew", "0"], ["fir>oka", "many"]]
    said = checked(written(tmp_path, "vote,n", rows), f"{VOTES} --times n --thousands ,")["noticed"]
    assert any(it.startswith("8 of 1368 ballots hold what is no declared item") for it in said)


def test_a_header_of_preflib_that_counts_more_than_the_lines(tmp_path):
    pytest.importorskip("preflibtools")
    text = dprank.example("city.toc").read_text(encoding="utf-8")
    flags = "--items roads,schools,parks,debt --ballots tied"
    for more, lines in ((900, ""), (300, "x: 1\n"), (250, "")):
        path = tmp_path / "city.toc"
        path.write_text(text.replace("NUMBER VOTERS: 250", f"NUMBER VOTERS: {more}") + lines, encoding="utf-8")
        said = checked(path, flags)["noticed"]
        told = (
            f"the header says that there are {more} ballots (NUMBER VOTERS), and the lines below hold 250: the others"
        )
        if more == 250:
            assert said == []
        else:
            assert said == [f"{told} are left out" + "; 'misread' has lines that are no orders" * bool(lines)]


def test_a_decimal_comma_is_mended_in_the_words_of_the_file(tmp_path):
    path = written(tmp_path, "who,oak,elm,fir", [["a", "4,5", "3", "2,0"], ["b", "1", "2,5", "3"]])
    assert "a comma makes no number: write 4.5 for 4,5" in checked(path, f"{HIGH}")["noticed"]
