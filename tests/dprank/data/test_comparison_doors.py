"""Drawn tables of answers through every door: the counts are those of a small program that imports nothing of ours."""

from __future__ import annotations

import csv
import io
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dprank
from dprank.data.counting import whole_counts, win_counts_parquet
from dprank.data.engines import count

ITEMS = (
    ["tea", "cocoa", "mate"],
    ["1", "2", "10", "03"],
    ["0", "1", "2"],
    ["1.5", "oak, old", "elm"],
    ["tie", "no", "left"],
)
MAPS = (
    {"left": 1.0, "right": 0.0, "equal": 0.5},
    {"1": 1.0, "2": 0.0},
    {"1": 1.0, "0": 0.5, "-1": 0.0},
    {"a": 1.0, "b": 0.0},
    {"1": 1.0, "2": 1.0, "3": 0.5, "4": 0.0, "5": 0.0},
    {"true": 1.0, "false": 0.0},
    {"draw": 0.5},
)
#: What no number is, though some programs take it for one.
ODD = (
    "",
    "NA",
    "maybe",
    "1,0",
    "1_0",
    "0x1",
    "\u0661",
    "inf",
    "nan",
    "1/2",
    "one",
    "0.99999999999999999999",
    "1e",
    "--1",
)
SPELT = {
    1: ("1", "1.0", "1.00", "1.", "1e0", "01", "+1", " 1 ", "10e-1", "True", "TRUE", "true"),
    0: ("0", "0.0", "0.00", "-0", ".0", "0e5", "False", "FALSE"),
    Fraction(1, 2): ("0.5", ".5", "0.50", "5e-1", "00.5"),
    2: ("2", "2.0", "2.00"),
    -1: ("-1", "-1.0", "-1.00"),
    3: ("3", "3.0"),
    4: ("4", "4.00"),
    5: ("5", "5."),
}


# --- what is right: these three functions know nothing of ours ---


def number(text):
    text = text.strip()
    if text.lower() in ("true", "false"):
        return Fraction(text.lower() == "true")
    if not text.isascii() or "_" in text or "/" in text:
        return None
    try:
        return Fraction(text)
    except ValueError:
        return None


def points(answers, text, first, second, items):
    """Twice what the first item gets; None where the answer says nothing of the two."""
    if answers == "names" or isinstance(answers, dict):
        plain = None if text.strip().lower() in ("true", "false") else number(text)
        alike = [it for it in items if plain is not None and number(it) == plain]
        if text in items or len(alike) == 1:
            return {first: 2, second: 0}.get(text if text in items else alike[0])
        if answers == "names":
            return None
        for written, worth in answers.items():
            if text == written or (number(text) is not None and number(text) == number(written)):
                return int(2 * worth)
        return None
    known = {"outcome": {1: 2, Fraction(1, 2): 1, 0: 0}, "position": {1: 2, 2: 0}}[answers]
    return known.get(number(text))


def counted(rows, answers, items):
    """Wins, ties and losses of every item, and why each other row is left out."""
    tally, gone = {item: [0, 0, 0] for item in items}, Counter()
    for _, first, second, text in rows:
        if first not in items or second not in items:
            gone["an item not declared"] += 1
        elif first == second:
            gone["an item compared with itself"] += 1
        elif (worth := points(answers, text, first, second, items)) is None:
            gone["no such answer"] += 1
        else:
            tally[first][2 - worth] += 1
            tally[second][worth] += 1
    return [tuple(tally[item][at] for item in items) for at in (0, 1, 2)], dict(gone)


# --- what is drawn ---


def drawn(rng):
    """Items, what answers mean, and rows of texts; of a typed column the values too."""
    while True:
        items, answers = rng.choice(ITEMS), rng.choice(["names", "outcome", "position", *MAPS])
        numbers = {number(it) for it in items} - {None}
        clash = isinstance(answers, dict) and any(key in items or number(key) in numbers for key in answers)
        if not clash:
            break
    kind = rng.choice(["text", "text", "text", "decimal", "boolean", "double", "whole", "category"])
    rows = []
    for _ in range(rng.choice([1, 3, 8, 20])):
        first, second = (rng.choice(items) if rng.random() < 0.93 else "yew" for _ in "ab")
        if first == second and rng.random() < 0.8:
            second = items[(items.index(first) + 1) % len(items)] if first in items else items[0]
        rows.append((f"p{rng.randrange(6)}", first, second, cell(rng, kind, answers, items)))
    return items, answers, kind, rows


def cell(rng, kind, answers, items):
    """A text, and its value where the column has a type."""
    values = [it for it in SPELT if it != Fraction(1, 2)] if kind == "whole" else list(SPELT)
    usual = {"outcome": [1, 0, Fraction(1, 2)], "position": [1, 2]}.get(
        answers if isinstance(answers, str) else "", [1, 0]
    )
    value = rng.choice([it for it in usual if it in values] if rng.random() < 0.8 else values)
    if kind == "decimal":
        return f"{float(value):.2f}"
    if kind == "boolean":
        return str(value in (1, 2))
    if kind == "double":
        return str(float(value))
    if kind == "whole":
        return str(value)
    words = (
        [*items, *items] if answers == "names" else [*answers, *items] if isinstance(answers, dict) else SPELT[value]
    )
    return rng.choice(ODD if rng.random() < 0.06 else SPELT[value] if rng.random() < 0.1 else words)


MADE = {
    "decimal": lambda texts: pa.array(map(Decimal, texts), pa.decimal128(5, 2)),
    "boolean": lambda texts: pa.array([it == "True" for it in texts]),
    "double": lambda texts: pa.array(map(float, texts)),
    "whole": lambda texts: pa.array(map(int, texts)),
    "category": lambda texts: pa.array(texts).dictionary_encode(),
    "text": pa.array,
}


def table_of(rows, kind):
    who, first, second, said = (list(it) for it in zip(*rows, strict=True))
    names = ["who", "l", "r", "x"]
    return pa.table([pa.array(who), pa.array(first), pa.array(second), MADE[kind](said)], names)


def csv_of(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("who", "l", "r", "x"), *rows])
    return out.getvalue()


def sums(data):
    won, half, net = (whole_counts(data, score) for score in ("wins", "half", "net"))
    return [tuple(it.tolist()) for it in (won, half - 2 * won, won - net)]


COLUMNS = {"first": "l", "second": "r", "outcome": "x"}


def declared_by(items, answers):
    return dprank.Declaration(kind="comparisons", items=items, person="who", columns=("l", "r", "x"), answers=answers)


def held(folder, rng, engine):
    """One drawn table through the doors."""
    items, answers, kind, rows = drawn(rng)
    expected, gone = counted(rows, answers, items)
    declared, table = declared_by(items, answers), table_of(rows, kind)
    (folder / "t.csv").write_text(csv_of(rows), encoding="utf-8")
    pq.write_table(table, folder / "t.parquet")
    where = items, answers, kind, rows
    for path in (folder / "t.csv", folder / "t.parquet"):
        intake = declared.read(path)
        assert (sums(intake.data), dict(intake.left_out)) == (expected, gone), where
    if engine:
        every = len(rows)
        found = count(folder / "t.parquet", declared, per_person=every, engine=engine)
        assert [found.sums[it] for it in ("wins", "ties", "losses")] == expected, (engine, where)
        assert {why: many for why, many in found.left_out.items() if why in gone} == gone, (engine, where)
    # doors that refuse a row instead of leaving it out take those that count
    fits = [row for row in rows if not counted([row], answers, items)[1]]
    keys = {"items": items, "person": "who", "answers": answers, **COLUMNS}
    bad = next((at for at, row in enumerate(rows) if row not in fits), None)
    blank = [row for row in rows if not row[3]]
    if bad is not None and not blank:
        with pytest.raises(ValueError, match=r"^[lrx]\[\d+\] is "):
            dprank.Comparisons.from_frame(table, **keys)
    if not fits:
        return
    table = table_of(fits, kind)
    pq.write_table(table, folder / "fits.parquet")
    (folder / "fits.csv").write_text(csv_of(fits), encoding="utf-8")
    doors = [
        dprank.Comparisons.from_frame(table, **keys),
        dprank.Comparisons.from_frame(table.to_pandas(), **keys),
        dprank.read_comparisons(folder / "fits.parquet", **keys),
        dprank.read_comparisons(folder / "fits.csv", **keys),
    ]
    assert [sums(it) for it in doors] == [expected] * 4, where
    if answers == "outcome" and kind not in ("text", "category"):
        assert win_counts_parquet(folder / "fits.parquet", items, **COLUMNS).tolist() == [*expected[0]], where


def test_every_door_counts_what_a_small_program_does(tmp_path):
    rng = Random(40)
    for _ in range(150):
        held(tmp_path, rng, rng.choice(["numpy", None, None]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_door_counts_what_a_small_program_does_in_hundreds(tmp_path, seed):
    rng = Random(seed)
    for at in range(125):
        held(tmp_path, rng, "duckdb" if at % 15 == 0 else None)
