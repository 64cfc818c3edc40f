"""Columns that nobody uses: those that may change what a row means are asked about, and no others."""

import itertools
import random
import re

import pytest
from test_cli_check import checked, written

from dprank.data.noticed_columns import TOLD

TREES = ["oak", "elm", "fir"]
PARTIAL = "--ballots partial --unranked apart"


def table(form, column, people=24, rows_of=None, seed=3):
    """Header, rows and flags of a form, with a column by (person, row of the person, item)."""
    rng = random.Random(seed)
    rows = []
    for at in range(people):
        order = rng.sample(TREES, 3)
        if form == "tallies":
            rows += [[f"p{at}", it, column(at, row, it)] for row, it in enumerate(TREES)]
        elif form == "long":
            rows += [[f"p{at}", it, row + 1, column(at, row, it)] for row, it in enumerate(order)]
        elif form == "pairs":
            pairs = itertools.combinations(TREES, 2)
            rows += [[f"p{at}", *pair, rng.choice([0, 1]), column(at, row, pair)] for row, pair in enumerate(pairs)]
        elif form == "wide":
            rows.append([f"p{at}", *(order.index(it) + 1 for it in TREES), column(at, 0, None)])
        else:
            rows.append([f"p{at}", " > ".join(order), column(at, 0, None)])
    header, flags = {
        "tallies": ("who,tree", "--item tree"),
        "long": ("who,tree,place", f"--long tree,place {PARTIAL}"),
        "pairs": ("who,left,right,answer", "--comparisons left,right,answer --map outcome"),
        "wide": ("who,oak,elm,fir", "--wide"),
        "orders": ("who,vote", f"--orders vote {PARTIAL}"),
    }[form]
    return header, [list(map(str, row)) for row in rows], f"{flags} --items oak,elm,fir"


def asked(folder, form, name, column, person=True, **sizes):
    """What is said of the column."""
    header, rows, flags = table(form, column, **sizes)
    path = written(folder, f"{header},{name}", rows)
    said = checked(path, flags + " --person who" * person)["noticed"]
    return [line for line in said if line.startswith(f"column '{name}'")]


FORMS = ("tallies", "long", "pairs", "wide", "orders")
SEVERAL = ("tallies", "long", "pairs")
#: Of two sides the one that says that a row does not count.
SIDES = [
    ("yes", "no"),
    ("Yes", "No"),
    ("Y", "N"),
    ("1", "0"),
    ("TRUE", "FALSE"),
    ("x", ""),
    ("ja", "nein"),
    ("oui", "non"),
    ("confirmed", "excluded"),
    ("kept", "rejected"),
    ("✓", ""),
    ("1.0", "0.0"),
    ("sí", "no"),
    ("live", "test"),
]


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("form", SEVERAL)
def test_yes_and_no_in_rows_of_one_person(form, sides, tmp_path):
    yes, no = sides
    [line] = asked(tmp_path, form, "zz", lambda at, row, it: (yes, no)[(at + row) % 3 > 0])
    words = "do (both count(, or are some of them ties)?|such rows count)[?] All rows do now"
    assert re.search(words, line)
    assert (repr(no) if no else "nothing") in line
    assert "out of the file" in line
    assert ("do such rows count" in line) == (no in ("excluded", "rejected", "test"))


@pytest.mark.parametrize("name", ["valid", "Status", "consent", "is_complete", "Excluded", "Test vote", "gültig"])
@pytest.mark.parametrize("form", FORMS)
def test_a_ballot_may_not_count_by_its_name(form, name, tmp_path):
    sides = [("yes", "no"), ("1", "0"), ("TRUE", "FALSE"), ("x", "")][(len(name) + FORMS.index(form)) % 4]
    [line] = asked(tmp_path, form, name, lambda at, row, it: sides[at % 3 > 0])
    assert "do both count" in line


@pytest.mark.parametrize("word", ["test", "invalid", "Spoiled", "duplicate", "Survey Preview", "ungültig", "cancelled"])
@pytest.mark.parametrize("form", FORMS)
def test_a_ballot_may_not_count_by_a_word(form, word, tmp_path):
    [line] = asked(tmp_path, form, "zz", lambda at, row, it: ("fine", "good", word)[at % 3])
    assert f"8 of 24 rows have '{word}'" in line or f"24 of 72 rows have '{word}'" in line


NAMES = [
    "shares",
    "Stimmen",
    "voix",
    "votos",
    "wgt",
    "WTFACTOR",
    "perweight",
    "n_voters",
    "weight_trim",
    "pond",
    "Gewicht",
    "sample weight",
    "Freq",
    "nb_bulletins",
    "Anteile",
    "tokens",
]
AMOUNTS = {
    "heavy": lambda at: 500 if at == 3 else 1 + at % 3,
    "counts": lambda at: at * at * 7 % 900 + 1,
    "decimal": lambda at: f"{0.4 + (at * 37 % 100) / 80:.3f}",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS[1:])
def test_amounts_by_their_name(form, name, tmp_path):
    of = [*AMOUNTS][(NAMES.index(name) + FORMS.index(form)) % 3]
    [line] = asked(tmp_path, form, name, lambda at, row, it: AMOUNTS[of](at))
    flag = "write the row as often" if form == "pairs" else f"--weight '{name}' with --max-weight"
    assert flag in line
    assert ("--times" in line) == (form in ("wide", "orders") and of != "decimal")


@pytest.mark.parametrize("form", ["wide", "orders"])
def test_amounts_by_what_they_are(form, tmp_path):
    for of in ("heavy", "decimal"):
        assert asked(tmp_path, form, "zz", lambda at, row, it, of=of: AMOUNTS[of](at)), of
    rows = [["oak > elm > fir", "120"], ["elm > oak > fir", "80"], ["fir > elm > oak", "75"]]
    said = checked(written(tmp_path, "vote,zz", rows), f"--orders vote --items oak,elm,fir {PARTIAL}")["noticed"]
    assert any("--times 'zz' says how many" in line for line in said)


def test_rows_of_nothing_among_what_people_have(tmp_path):
    for name in ("quantity", "zz"):
        [line] = asked(tmp_path, "tallies", name, lambda at, row, it: (0, 0, 3, 2, 9)[(at + 2 * row) % 5])
        assert "with 0 in it count, too" in line
        assert "take out what should not" in line


@pytest.mark.parametrize("name", ["question", "criterion", "Round", "wave", "Frage", "contest", "sub_question"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("person", [True, False])
def test_questions_by_their_name(form, name, person, tmp_path):
    """A person of its own for each question, and nobody known."""
    values = [("best", "worst"), ("1", "2"), ("taste", "price", "look")][(len(name) + FORMS.index(form)) % 3]
    if person or form not in ("tallies", "long"):
        [line] = asked(tmp_path, form, name, lambda at, row, it: values[at % len(values)], person=person)
        assert "are they several questions? One question a release: make a file of each" in line


@pytest.mark.parametrize("form", ["wide", "orders", "long", "pairs"])
@pytest.mark.parametrize("values", [("best", "worst"), ("Most", "Least"), ("like", "dislike")])
def test_questions_that_turn_the_answer_round(form, values, tmp_path):
    assert asked(tmp_path, form, "zz", lambda at, row, it: values[at % 2])


def test_questions_by_the_same_items_under_each(tmp_path):
    pairs = [*itertools.combinations(TREES, 2)]
    for several in (2, 3):
        rows = [
            [f"p{at}", *pair, str((at + of) % 2), f"k{of}"]
            for at in range(9)
            for pair in pairs
            for of in range(several)
        ]
        path = written(tmp_path, "who,left,right,answer,zz", rows)
        for person in ("", " --person who"):
            said = checked(path, f"--comparisons left,right,answer --map outcome --items oak,elm,fir{person}")[
                "noticed"
            ]
            assert any(f"column 'zz' is not used and has {several} values, and" in line for line in said), person


#: What people say of themselves, and what programs say of rows.
QUIET = {
    "id": lambda rng, at, row: 10_000 + 7 * at,
    "ResponseId": lambda rng, at, row: f"R_{rng.randint(0, 10**9):x}",
    "submitted at": lambda rng, at, row: f"2026-11-{at % 28 + 1:02} 10:{row:02}:00",
    "unix": lambda rng, at, row: 1_790_000_000 + 60 * at + row,
    "comment": lambda rng, at, row: rng.choice(["", f"no {rng.random()}", f"well {rng.random()}"]),
}
PEOPLE = {
    "sex": lambda rng, at: rng.choice("mf"),
    "Geschlecht": lambda rng, at: rng.choice(["männlich", "weiblich", "divers"]),
    "age": lambda rng, at: rng.randint(18, 90),
    "age group": lambda rng, at: rng.choice(["18-29", "30-49", "50-64", "65+"]),
    "region": lambda rng, at: rng.choice(["north", "south", "east", "west"]),
    "year of birth": lambda rng, at: rng.randint(1940, 2005),
    "education": lambda rng, at: rng.randint(1, 6),
    "smoker": lambda rng, at: rng.choice(["yes", "no"]),
    "Do you have children?": lambda rng, at: rng.choice(["Yes", "No"]),
    "smoking": lambda rng, at: rng.choice(["never", "former", "current"]),
    "household size": lambda rng, at: rng.randint(1, 6),
    "satisfaction": lambda rng, at: rng.randint(1, 7),
    "Q7_1": lambda rng, at: rng.choice(["0", "1"]),
    "Q7_2": lambda rng, at: rng.choice(["1", ""]),
    "device": lambda rng, at: rng.choice(["phone", "desk"]),
    "work": lambda rng, at: rng.choice(["employed", "not employed"]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_what_people_are_is_nobodys_question(form, seed, tmp_path):
    rng = random.Random(seed)
    known = {(name, at): of(rng, at) for name, of in PEOPLE.items() for at in range(60)}
    header, rows, flags = table(form, lambda at, row, it: "", people=60, seed=seed)
    wide = []
    for number, row in enumerate(rows):
        at = int(row[0][1:])
        said = [known[name, at] for name in PEOPLE] + [of(rng, at, number) for of in QUIET.values()]
        wide.append([*row[:-1], *map(str, said)])
    path = written(tmp_path, ",".join([header, *PEOPLE, *QUIET]), wide)
    assert checked(path, f"{flags} --person who")["noticed"] == []
    if form in ("wide", "orders"):
        assert checked(path, flags)["noticed"] == []


@pytest.mark.parametrize("form", ["tallies", "long"])
def test_what_items_are_is_no_question(form, tmp_path):
    of = {"oak": ("yes", "2", "a"), "elm": ("no", "0", "b"), "fir": ("no", "7", "a")}
    for which, name in enumerate(["evergreen", "height", "kind"]):
        assert asked(tmp_path, form, name, lambda at, row, it, which=which: of[it][which]) == []


def test_six_at_most_and_the_strongest_first(tmp_path):
    header, rows, flags = table("tallies", lambda at, row, it: "")
    names = [f"c{at}" for at in range(9)] + ["valid"]
    wide = [
        [*row[:-1], *(("yes", "no")[(at * at + at // 3 + number) % 5 > 2] for number in range(10))]
        for at, row in enumerate(rows)
    ]
    said = checked(written(tmp_path, ",".join([header, *names]), wide), f"{flags} --person who")["noticed"]
    assert len(said) == TOLD
    assert said[0].startswith("column 'valid' is not used")


def test_no_person_and_no_word_of_theirs_is_shown(tmp_path):
    written_there = {"status": ("Bea", "Cem"), "zz": ("Bea", ""), "valid": ("Bea said no", "yes", "no")}
    for form, (name, values) in itertools.product(SEVERAL, written_there.items()):
        said = asked(tmp_path, form, name, lambda at, row, it, values=values: values[(at + row) % len(values)])
        assert not any("Bea" in line or "Cem" in line for line in said)


@pytest.mark.parametrize(
    "word", ["Total", "TOTAL", "Grand total", "Mean", "average:", "Summe", "Durchschnitt", "Moyenne"]
)
@pytest.mark.parametrize("person", ["", " --person name"])
def test_rows_that_sum_up_the_others(word, person, tmp_path):
    rows = [[f"p{at}", "1", "2", "3"] for at in range(30)]
    flags = f"--wide --items oak,elm,fir{person}"
    path = written(tmp_path, "name,oak,elm,fir", [*rows, [word, "30", "60", "90"]])
    said = checked(path, flags)["noticed"]
    assert said == [f"1 row is called as sums and means are, as '{word}' in 'name': it counts like others; take it out"]
    assert checked(written(tmp_path, "name,oak,elm,fir", [*rows, ["Max", "1", "2", "3"]]), flags)["noticed"] == []
    many = written(
        tmp_path, "name,oak,elm,fir,level", [[*row, ("mean", "high")[at % 2]] for at, row in enumerate(rows)]
    )
    assert checked(many, flags)["noticed"] == []
