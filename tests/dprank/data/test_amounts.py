"""Numbers of ballots and weights: what a mark before three figures means is what is declared, or nothing."""

import math
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dprank
from dprank.data.amounts import MARKS, amount_of, as_thousands, count_of

ITEMS = ["oak", "elm", "fir"]
#: What people type for each mark.
TYPED = {".": ".", ",": ",", "'": "'’", " ": " \u00a0\u202f\u2009"}


def marked(number, mark):
    return f"{number:,}".replace(",", mark)


@given(
    number=st.integers(1_000, 10**15), mark=st.sampled_from("".join(TYPED.values())), blanks=st.sampled_from(["", " "])
)
def test_thousands_are_no_number_until_they_are_declared(number, mark, blanks):
    text, declared = f"{blanks}{marked(number, mark)}{blanks}", next(it for it in MARKS if mark in TYPED[it])
    assert count_of(text) == -math.inf
    assert as_thousands(text) == (declared, number)
    assert count_of(text, declared) == number
    for other in {*MARKS, "none"} - {declared}:
        assert count_of(text, other) in (-math.inf, *({number / 1000} if number < 10**6 and number % 1000 == 0 else ()))


@given(number=st.integers(0, 10**12), point=st.sampled_from(["", ".", ".0", ".00", ".0000", ".000000"]))
def test_other_whole_numbers_are_what_they_are(number, point):
    for thousands in (None, "none", ",", "'", " "):
        assert count_of(f"{number}{point}", thousands) == number


@given(number=st.integers(0, 999), rest=st.text("0123456789", max_size=6))
def test_with_a_comma_before_decimals_the_point_stands_between_thousands(number, rest):
    assert amount_of(f"{number},{rest}" if rest else str(number), ".") == float(f"{number}.{rest}")
    assert amount_of(f"12.{number:03},{rest}", ".") == float(f"12{number:03}.{rest}")
    ambiguous = number > 0 and len(rest) == 3
    assert math.isnan(amount_of(f"{number}.{rest}")) == ambiguous
    assert math.isnan(amount_of(f"{number}.{rest}", " ")) == ambiguous
    assert amount_of(f"{number}.{rest}", "none") == float(f"{number}.{rest}")


@pytest.mark.parametrize(
    "text", ["1.00.000", "12,34", "1,0000", "0.000.000", "1.000,", "1,000.5.5", "1 000 ,5", "1_000"]
)
@pytest.mark.parametrize("thousands", [".", ",", "'", " ", "none", None])
def test_what_is_no_number_by_any_mark(text, thousands):
    number = amount_of(text, thousands)
    fits = {("12,34", "."): 12.34, ("1,0000", "."): 1.0, ("1.000,", "."): 1000.0}.get((text, thousands))
    assert math.isnan(number) if fits is None else number == fits


@pytest.mark.parametrize("text", ["1e999", "-1e999", "1" + ".000" * 110, "9" * 400, "1" + ",000" * 110 + ".5"])
@pytest.mark.parametrize("thousands", [".", ",", "'", " ", "none", None])
def test_what_no_float_holds_is_no_number(text, thousands):
    assert math.isnan(amount_of(text, thousands))
    assert count_of(text, thousands, math.inf) == -math.inf


def read(folder, text, **keys):
    path = folder / "votes.csv"
    path.write_text(text, encoding="utf-8")
    shared = {"kind": "ballots", "items": ITEMS, "form": "orders", "columns": ("vote",), "ballots": "full"}
    return dprank.Declaration(**shared | keys).read(path)


@pytest.mark.parametrize("form", ["orders", "wide", "ranks"])
def test_what_a_row_counts_is_nobody_elses(form, tmp_path):
    """Rows before and behind, of any look, change nothing of what a row counts."""
    rng = random.Random(4)
    votes = {
        "orders": ("vote", "oak > elm > fir", ("vote",)),
        "wide": ("oak;elm;fir", "1;2;3", ()),
        "ranks": ("one;two;three", "oak;elm;fir", ("one", "two", "three")),
    }
    head, ballot, columns = votes[form]
    cells = ["1.000", "2.500", "1,000", "1 000", "1'000", "3", "4.0", "7", "x", ""]
    alone = {}
    for thousands in (None, ".", "none"):
        keys = {"form": form, "columns": columns, "times": "n", "thousands": thousands}
        for cell in cells:
            data = read(tmp_path, f"n;{head}\n{cell};{ballot}\n", **keys).data
            alone[cell] = data.margins().astype(int)
        for _ in range(10):
            some = rng.choices(cells, k=rng.randint(2, 6))
            text = f"n;{head}\n" + "".join(f"{cell};{ballot}\n" for cell in some)
            assert (read(tmp_path, text, **keys).data.margins() == sum(alone[cell] for cell in some)).all()


def test_the_winner_of_a_file_with_thousands(tmp_path):
    text = "n;vote\n2.000;oak > elm > fir\n850;fir > elm > oak\n700;elm > fir > oak\n"
    undeclared = read(tmp_path, text, times="n")
    assert (undeclared.left_out, undeclared.misread, len(undeclared.data)) == ({"no such count": 1}, {"2.000": 1}, 1551)
    assert read(tmp_path, text, times="n", thousands=".").data.net_wins().tolist()[0] == 2 * (2000 - 1550)
    text = "who;w;vote\na;1,000;oak > elm > fir\nb;3,000;elm > fir > oak\nc;999;fir > elm > oak\n"
    keys = {"person": "who", "weight": "w", "max_weight": 5000}
    assert read(tmp_path, text, **keys).left_out == {"no such weight": 2}
    assert read(tmp_path, text, **keys, thousands=",").data.weight.tolist() == [1000, 3000, 999]
    assert read(tmp_path, text, **keys, thousands=".").data.weight.tolist() == [1, 3, 999]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"thousands": ".", "times": None}, "only times and weight name a column of amounts"),
        ({"thousands": ".", "times": "none"}, "only times and weight name a column of amounts"),
        ({"thousands": ";", "times": "n"}, "thousands = ';'; a point, a comma, a blank or ' , or none"),
        ({"thousands": "", "times": "n"}, "thousands = ''"),
        ({"thousands": ["."], "times": "n"}, "is what stands between thousands"),
    ],
)
def test_what_cannot_stand_between_thousands(keys, said):
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        dprank.Declaration(kind="ballots", items=ITEMS, **keys)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("mark", [*MARKS, "none"])
def test_what_is_declared_is_kept_and_published(mark, tmp_path):
    declared = dprank.Declaration(kind="ballots", items=ITEMS, times="n", thousands=mark)
    (tmp_path / "plan.toml").write_text(declared.to_toml(), encoding="utf-8")
    assert dprank.Declaration.from_toml(tmp_path / "plan.toml") == declared
    assert declared.rules == ("thousands",)
    assert declared.rules_of_ballots()["numbers"].startswith("of ballots, and weights, have ")
