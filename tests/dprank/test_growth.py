"""Every form grows with its file and its list of items: never with their squares, nor with what a cell says.

Counted are calls, of Python and of C, and the most memory that is held at once: both are the same in every run.
"""

from __future__ import annotations

import csv
import io
import json
import random
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from one_command import said_by

#: The most calls, and bytes, that another declared item, row of a few cells, or column of sixty may cost.
MOST = {"items": (230, 6_000), "rows": (1_000, 4_000), "columns": (20_000, 12_000)}
#: So many times what the first four-fold adds the second may add: 4, and what rounding does; and so much beside it.
TIMES, FEW = 4.2, 10_000
#: Cells that are numbers beyond all counts, places and weights, or none that anybody meant.
CELLS = (
    "1e15",
    "1e300",
    "-1e300",
    "-1e15",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e-300",
    "9" * 5_000,
    "1,000,000,000,000,000",
)
#: What a pattern may try again and again: runs of blanks, figures, marks and signs.
LENGTH = 500_000
LONG = (
    "a" * LENGTH,
    f"item1;x{' ' * LENGTH}y",
    f"item1;{'1' * LENGTH}x",
    "(" * LENGTH,
    "item1>" * (LENGTH // 6),
    f"item0>x{' ' * LENGTH}y",
)

pytestmark = pytest.mark.slow


class Form(NamedTuple):
    """Flags of a form, its header for so many items, and one of its rows, by its number."""

    flags: list[str]
    header: Callable[[list[str]], list[str]]
    row: Callable[[list[str], int, random.Random], list[Any]]


def _questions(items: list[str]) -> list[tuple[str, str]]:
    return list(zip(items[::2], items[1::2], strict=False))


_PLACES = [f"rank {at}" for at in range(1, 101)]
_PARTIAL = ["--person", "who", "--ballots", "partial", "--unranked"]
FORMS = {
    "comparisons": Form(
        ["--comparisons", "first,second,answer", "--map", "outcome", "--person", "who"],
        lambda items: ["first", "second", "answer", "who"],
        lambda items, at, rng: [*rng.sample(items, 2), rng.choice("01"), f"p{at // 2}"],
    ),
    "names": Form(
        ["--comparisons", "first,second,answer", "--map", "names"],
        lambda items: ["first", "second", "answer"],
        lambda items, at, rng: [*(pair := rng.sample(items, 2)), rng.choice(pair)],
    ),
    "pairs": Form(
        ["--pairs", "all", "--map", "names", "--person", "who"],
        lambda items: ["who", *(f"{one} vs {other}" for one, other in _questions(items))],
        lambda items, at, rng: [f"p{at}", *map(rng.choice, _questions(items))],
    ),
    "wide": Form(
        ["--wide", "--ballots", "full", "--times", "n"],
        lambda items: ["n", *items],
        lambda items, at, rng: [rng.randint(1, 3), *rng.sample(range(1, len(items) + 1), len(items))],
    ),
    "weights": Form(
        ["--wide", "--ballots", "full", "--weight", "w", "--max-weight", "3", "--person", "who"],
        lambda items: ["who", "w", *items],
        lambda items, at, rng: [f"p{at}", rng.randint(1, 3), *rng.sample(range(1, len(items) + 1), len(items))],
    ),
    "long": Form(
        ["--long", "item,score", "--best", "high", *_PARTIAL, "apart"],
        lambda items: ["who", "item", "score"],
        lambda items, at, rng: [f"p{at // 3}", items[at % len(items)], rng.randint(1, 5)],
    ),
    "orders": Form(
        ["--orders", "order", *_PARTIAL, "last"],
        lambda items: ["who", "order"],
        lambda items, at, rng: [f"p{at}", ">".join(rng.sample(items, 3))],
    ),
    "ticks": Form(
        ["--orders", "order", "--between", ";", *_PARTIAL, "last"],
        lambda items: ["who", "order"],
        lambda items, at, rng: [f"p{at}", ";".join(items[: 1 + at % len(items)])],
    ),
    "ranks": Form(
        ["--ranks", ",".join(_PLACES), *_PARTIAL, "apart"],
        lambda items: ["who", *_PLACES],
        lambda items, at, rng: [f"p{at}", *rng.sample(items, 3), *[""] * (len(_PLACES) - 3)],
    ),
    "tallies": Form(
        ["--item", "item", "--person", "who"],
        lambda items: ["who", "item"],
        lambda items, at, rng: [f"p{at // 2}", rng.choice(items)],
    ),
}
#: Forms whose items are columns: their file grows with them.
WIDE = ("pairs", "wide", "weights")
#: What stands in columns that nobody uses.
_UNUSED: tuple[Callable[[int, random.Random], Any], ...] = (
    lambda at, rng: rng.choice("xyz"),
    lambda at, rng: rng.choice("01"),
    lambda at, rng: f"g{at % 15}",
    lambda at, rng: rng.randint(0, 99),
    lambda at, rng: f"{rng.random():.3f}",
    lambda at, rng: f"item{at % 5}",
)


class Drawn(NamedTuple):
    """A file of a form, in cells, and its declared items."""

    header: list[str]
    rows: list[list[Any]]
    items: list[str]


def drawn(form: str, items: int = 5, rows: int = 60, columns: int = 2, declared: int = 0) -> Drawn:
    rng, names = random.Random(7), [f"item{at}" for at in range(max(items, declared))]
    kind, own = FORMS[form], names[:items]
    cells = [
        [*kind.row(own, at, rng), *(_UNUSED[it % len(_UNUSED)](at, rng) for it in range(columns))] for at in range(rows)
    ]
    return Drawn([*kind.header(own), *(f"column {it}" for it in range(columns))], cells, names)


def looked_at(data: Drawn) -> list[int]:
    """Columns of every kind that a form has: the first ones, and the two that nobody uses."""
    last = len(data.header)
    return sorted({*range(min(5, last)), last - 2, last - 1})


def checked(form: str, data: Drawn, folder: Path) -> tuple[Any, str]:
    """`dprank check` of it: what it ends with, and what it says."""
    table, text = folder / "table.csv", io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([data.header, *data.rows])
    table.write_text(text.getvalue())
    items = folder / "items.txt"
    items.write_text("\n".join([*data.items, ""]))
    code, said, err, _ = said_by(["check", str(table), *FORMS[form].flags, "--items", str(items), "--json"])
    return code, said or err


def cost(run: Callable[[], object]) -> tuple[int, int]:
    """Calls, and the most bytes that are held at once."""
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    tracemalloc.start()
    try:
        run()
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def require_linear(form: str, what: str, sizes: tuple[int, int, int], folder: Path, of: Callable[[int], Drawn]) -> None:
    """Whether a file of four, and of sixteen times as much costs no more by it than a line."""
    tables = [of(size) for size in sizes]
    assert checked(form, tables[0], folder)[0] == 0
    costs = [cost(lambda it=table: checked(form, it, folder)) for table in tables]
    for at, (name, most) in enumerate(zip(("calls", "bytes"), MOST[what], strict=True)):
        least, middle, all_of = (it[at] for it in costs)
        more = all_of - middle
        assert more <= most * (sizes[2] - sizes[1]), f"{name} of {what}: {more / (sizes[2] - sizes[1]):.0f} each"
        # the most at once may be of something else than what grows, as long as that is little
        within = TIMES * (middle - least) + FEW if name == "calls" else TIMES * middle - middle
        assert more <= within, f"{name} of {what}: {least}, {middle}, {all_of}"


@pytest.mark.parametrize("form", [it for it in FORMS if it not in WIDE])
def test_another_declared_item_costs_no_more_than_its_name(form, tmp_path):
    require_linear(form, "items", (64, 256, 1024), tmp_path, lambda size: drawn(form, declared=size))


@pytest.mark.parametrize("form", FORMS)
def test_another_row_costs_no_more_than_its_cells(form, tmp_path):
    require_linear(form, "rows", (60, 240, 960), tmp_path, lambda size: drawn(form, rows=size))


@pytest.mark.parametrize("form", FORMS)
def test_another_column_that_nobody_uses_costs_no_more_than_its_cells(form, tmp_path):
    require_linear(form, "columns", (6, 24, 96), tmp_path, lambda size: drawn(form, rows=30, columns=size))


@pytest.mark.parametrize("form", WIDE)
def test_another_column_of_an_item_costs_no_more_than_its_cells(form, tmp_path):
    require_linear(form, "columns", (32, 128, 512), tmp_path, lambda size: drawn(form, items=size, rows=3))


@pytest.mark.parametrize("form", FORMS)
def test_a_number_beyond_all_others_costs_no_more_than_its_digits(form, tmp_path):
    plain = drawn(form)
    checked(form, plain, tmp_path)
    tracemalloc.start()
    checked(form, plain, tmp_path)
    usual = tracemalloc.get_traced_memory()[1]
    for at in looked_at(plain):
        for text in CELLS:
            data = drawn(form)
            data.rows[30][at] = text
            tracemalloc.reset_peak()
            code, said = checked(form, data, tmp_path)
            assert code == 0, (plain.header[at], text, said)
            assert tracemalloc.get_traced_memory()[1] < usual + 2**20, (plain.header[at], text)
    tracemalloc.stop()


@pytest.mark.parametrize("form", FORMS)
def test_a_long_cell_is_read_once(form, tmp_path):
    """It ends: a pattern that tries each place of a run again takes hours, and the limit of a test is minutes."""
    data = drawn(form)
    for at in looked_at(data):
        for row, text in enumerate(LONG):
            data.rows[row][at] = text
    code, said = checked(form, data, tmp_path)
    assert code == 0, said
    assert json.loads(said)["mark"]


def test_a_long_name_is_looked_for_once(tmp_path):
    data = drawn("orders")
    data.items.append("z" * LENGTH)
    data.rows[30][1] = f"item0>x{' ' * LENGTH}y"
    assert checked("orders", data, tmp_path)[0] == 0
