"""Tables that are well formed and odd: drawn by kind, and written in every way that a reader might be given.

Whoever is in them is called by a word that nobody else says, and so is what a person alone wrote: wherever one of these
words comes out again, a person was told of.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import importlib
import io
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import odd_containers as boxes
from odd_containers import plain

#: What is in every label of a person, as text, as a number, as a date and as a UUID; and in a cell that none declared.
PERSONS, CELL = ("zqperson", "731371", "1871-03", "7a717a71"), "zqcell"
#: Lists of items, some of which no flag can say.
ITEMS = (
    ["oak", "elm", "fir"],
    ["oak", "elm", "fir", "ash", "yew"],
    ["Zürich", "東京", "Москва", "القاهرة"],
    ["1", "02", "3.0"],
    ["[bold]Tea[/]", "a|b`c", "<b>x</b>"],
    ['say "so"', "x;y", "'z'", "x\ty"],
    ["None", "nan", "NULL", "true"],
    ["é", "ﬁ", "👩\u200d🚀"],
    ["a,b", "c"],
    [f"item {at}" for at in range(12)],
    ["x" * 300, "y"],
)
#: Cells that somebody might write, or a program.
ODD = (
    "", " ", "\u3000", "NA", "n/a", "null", "None", "NaN", "nan", "inf", "-inf", "Infinity", "-0", "-0.0", "-1",
    "0", "+1", "1.0", "01", "007", "1e0", "1E+2", "1e309", "1e-400", ".5", "5.", "1,5", "1_000", "0x10", "١", "１",
    "½", "1/2", "9007199254740993", "18446744073709551616", "1" * 400, "2026-11-29", "29.11.2026",
    "2026-11-29T10:00:00Z", "true", "FALSE", "[1, 2]", '{"a": {"b": [null]}}', "[]", '"', '""', 'a"b', "it's", "a,b",
    "a;b\tc|d", "a\nb", "a\r\nb", "a\rb", "=1+1", "@x", "é", "e\u0301", "ﬁ", "東京", "\u202etop", "\u200b", "\ufeffx",
    "\x1b[2J", "\0", "\udcff", "%s", "\\", "> =", "a > > b", "a = b = a", "x" * 3000,
)  # fmt: skip
#: Types of a column in Arrow, and how often each is drawn.
TYPES = {"text": 10, "own": 12} | dict.fromkeys(["large", "words", "bytes", "whole", "float"], 2)
TYPES |= dict.fromkeys(["short", "decimal", "list", "struct", "moment", "bool", "null"], 1)
FORMS = ("answers", "pairs", "wide", "long", "orders", "ranks", "tallies", "preflib", "points", "each", "basket",
         "marked")  # fmt: skip


@dataclass
class Table:
    """Rows under a header, what they are about, and the flags that say so."""

    form: str
    items: list[str]
    header: list[str]
    rows: list[list[Any]]
    flags: list[str]
    person: str | None
    #: Whether cells may stand under another header than they were drawn for.
    shifted: bool = False
    text: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """What is asked of such a table by default."""
        ranked, had = ("answers", "pairs", "points"), ("tallies", "each", "basket", "marked")
        return "ranking" if self.form in ranked else "topk" if self.form in had else "consensus"


def label(rng: Random, kind: str, at: int) -> Any:
    """Of one person, as a value of some type or a way to write it."""
    if kind == "number":
        return 731371000 + at
    if kind == "date":
        return datetime.date(1871, 3, 1 + at % 28)
    if kind == "uuid":
        return uuid.UUID(int=(0x7A717A71 << 96) + at)
    said = f"{PERSONS[0]}{at}"
    return rng.choice([said, said, said, said.upper(), f" {said}", f"{said} ü", f"{said},x"]) if kind == "odd" else said


def cell(rng: Random, odd: float, usual: Any) -> Any:
    """The usual one, or one that is not."""
    if rng.random() >= odd:
        return usual
    return rng.choice([*ODD, f"{CELL} {rng.randrange(99)}", f" {usual} ", str(usual).upper(), f'"{usual}"'])


def table(rng: Random, form: str | None = None, items: list[str] | None = None) -> Table:
    """One of any form, of nobody up to some hundred people; most have few odd cells."""
    form, items = form or rng.choice(FORMS), list(items or rng.choice(ITEMS))
    odd = rng.choice([0.0, 0.0, 0.02, 0.2, 0.7])
    people = rng.choice([0, 1, 2, 7, 30, 120])
    kind = rng.choice(["plain", "plain", "odd", "number", "date", "uuid"])
    who = rng.choice(["who", "who", "Person", "a b", "wer?", "名", "id,x", 'i"d', "1"])
    places = list(range(1, len(items) + 1))
    rows: list[list[Any]] = []
    header, flags, columns = [who], ["--person", who], dict[str, str]()

    def persons(most: int = 3) -> list[Any]:
        return [label(rng, kind, rng.randrange(people) if rng.random() < 0.2 else at)
                for at in range(people) for _ in range(rng.randint(1, most))]  # fmt: skip

    def shuffled() -> list[int]:
        return rng.sample(places, len(places))

    if form == "answers":
        header += ["left", "right", "answer"]
        columns = {"first": "left", "second": "right", "outcome": "answer"}
        words = rng.random() < 0.4
        flags += ["--comparisons", "left,right,answer", "--map", "l=1,r=0,same=0.5" if words else "outcome"]
        answers = ["l", "r", "same"] if words else [0, 1, 0.5, 1.0]
        rows = [[it, *rng.sample(items, 2), rng.choice(answers)] for it in persons()]
    elif form == "pairs":
        asked = [rng.sample(items, 2) for _ in range(rng.randint(1, 3))]
        header += [f"{one} vs {other}" for one, other in asked]
        flags += ["--pairs", "all", "--map", rng.choice(["names", "outcome"])]
        rows = [[it, *(rng.choice([0, 1, 0.5, *pair]) for pair in asked)] for it in persons(1)]
    elif form == "wide":
        header += items
        flags += rng.choice([[], ["--wide"], ["--wide", "--ballots", "tied"]])
        rows = [[it, *rng.sample(places, len(places))] for it in persons(1)]
    elif form == "long":
        header += ["item", "place"]
        flags += ["--long", "item,place", "--ballots", "partial", "--unranked", rng.choice(["apart", "last"])]
        rows = [[it, item, place] for it in persons(1) for item, place in zip(items, shuffled(), strict=True)]
    elif form == "orders":
        header += ["vote"]
        flags += ["--orders", "vote", "--ballots", rng.choice(["full", "tied", "partial"])]
        flags += ["--unranked", "last"] if flags[-1] == "partial" else []
        sign = [" > ", ">", " = "]
        rows = [[it, "".join(x + rng.choice(sign) for x in rng.sample(items, len(items)))[:-2]] for it in persons(1)]
    elif form == "ranks":
        header += [f"choice {at}" for at in places]
        flags += ["--ranks", ",".join(header[1:]), "--ballots", rng.choice(["full", "tied", "partial"])]
        flags += ["--unranked", rng.choice(["apart", "last"])] if flags[-1] == "partial" else []
        rows = [[it, *rng.sample(items, len(items))] for it in persons(1)]
    elif form == "points":
        header += ["home", "away", "hs", "as"]
        flags += ["--points", "home,away,hs,as", *rng.choice([[], ["--best", "low"], ["--best", "high"]])]
        rows = [[it, *rng.sample(items, 2), rng.randrange(4), rng.choice([0, 1, 2.0, "-", ""])] for it in persons()]
    elif form == "each":
        header += ["DX1", "DX2", "DX3"]
        flags += ["--each", rng.choice(["DX1..DX3", "DX1,DX2,DX3", "DX2"])]
        rows = [[it, *(rng.choice([*items, ""]) for _ in range(3))] for it in persons(1)]
    elif form == "basket":
        header, between = [*header, "things"], rng.choice([";", "|", ", ", "/"])
        flags += ["--basket", "things", *(["--between", between] if rng.random() < 0.9 else [])]
        rows = [[it, between.join(rng.sample(items, rng.randrange(len(items) + 1)))] for it in persons(1)]
    elif form == "marked":
        header += items
        flags += ["--marked"]
        rows = [[it, *(rng.choice([0, 1, "x", "", "no", True]) for _ in items)] for it in persons(1)]
    elif form == "tallies":
        header += ["item"]
        flags += ["--item", "item"]
        rows = [[it, rng.choice(items)] for it in persons()]
    if form in ("wide", "long", "orders", "ranks") and rng.random() < 0.15:  # how much a ballot counts
        header.append("weight")
        flags += ["--weight", "weight", "--max-weight", rng.choice(["1", "3", "1000"])]
        rows = [[*row, rng.choice([1, 1, 2, 7, 1.0])] for row in rows]
    if form == "long" and rng.random() < 0.2:
        header.append("ballot")
        flags += ["--ballot", "ballot"]
        rows = [[*row, label(rng, kind, 1) if rng.random() < 0.1 else rng.choice([1, 2, "a"])] for row in rows]
    if form in ("wide", "long") and rng.random() < 0.2:  # what places mean
        flags += rng.choice([["--best", "high"], ["--lowest", "0"], ["--map", "1=2,2=1,1st="], ["--map", "0=,x=3"]])
    if form in ("wide", "long", "orders", "ranks") and rng.random() < 0.2:
        flags += rng.choice([["--unranked-as", "99,-1,none"], ["--withdrawn", "larch,zoo"], ["--times", "none"]])
    found = Table(form, items, header, rows, flags, who, columns=columns)
    if form == "preflib":
        found.flags, found.person = ["--ballots", "partial", "--unranked", rng.choice(["apart", "last"])], None
        found.text = preflib(rng, items, odd)
        return found
    found.rows = [[cell(rng, odd if at else odd / 4, it) for at, it in enumerate(row)] for row in found.rows]
    if rng.random() < 0.3:  # a column that nobody asked for
        found.header.append(rng.choice(["note", "", "left", who.upper(), "x" * 500, "[b]"]))
        found.rows = [[*row, cell(rng, 0.7, f"{CELL} said")] for row in found.rows]
    if rng.random() < 0.5:  # in another order
        order = rng.sample(range(len(found.header)), len(found.header))
        found.header = [found.header[at] for at in order]
        found.rows = [[row[at] for at in order] for row in found.rows]
    return found


def preflib(rng: Random, items: list[str], odd: float) -> str:
    """A file of PrefLib, of which a line of the header or of a ballot may be another."""
    orders = []
    for _ in range(rng.choice([0, 1, 3, 20])):
        chosen = rng.sample(range(1, len(items) + 1), rng.randint(1, len(items)))
        order = ",".join(map(str, chosen))
        order = f"{{{order}}}" if len(chosen) > 1 and rng.random() < 0.2 else order
        orders.append(f"{cell(rng, odd, rng.choice([1, 2, 40]))}: {cell(rng, odd, order)}")
    names = [f"# ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(items, 1)]
    voters = rng.choice([0, 5, 10**9, sum(int(it.partition(":")[0]) for it in orders if it.partition(":")[0].isdecimal()
                                          and len(it.partition(":")[0]) < 9)])  # fmt: skip
    head = [f"# FILE NAME: x.{rng.choice(['toi', 'toi', 'soc'])}", "# DATA TYPE: toi",
            f"# NUMBER ALTERNATIVES: {cell(rng, odd / 3, len(items))}",
            f"# NUMBER VOTERS: {cell(rng, odd / 3, voters)}",
            f"# NUMBER UNIQUE ORDERS: {len(orders)}", *names]  # fmt: skip
    if rng.random() < odd:
        head.pop(rng.randrange(len(head)))
    return "\n".join([*head, *orders, ""])


def damaged(rng: Random, it: Table) -> None:
    """Another header: one that is missing, doubled, in other letters, or blank; or rows of other lengths."""
    what, at = rng.randrange(7), rng.randrange(len(it.header))
    if what == 0:
        it.header[at] = rng.choice(
            ["", " ", it.header[at].upper(), f" {it.header[at]}", "Unnamed: 0", f"{it.header[at]}.1"]
        )
    elif what == 1:
        it.header[at] = it.header[0]
    elif what == 2:
        it.header.pop(at)
        it.rows = [[cell for place, cell in enumerate(row) if place != at] for row in it.rows]
    elif what == 3:
        it.rows.clear()
    else:  # at the end of a row alone: no cell comes to stand under another header
        for row in it.rows:
            if rng.random() < 0.2:
                row[len(row) if what < 6 else rng.randrange(1, len(row)) :] = [""] * rng.choice([0, 1, 5])


def written(rng: Random, it: Table, folder: Path) -> Path:
    """A file of it, in some format."""
    if it.form == "preflib":
        path = folder / f"votes.{rng.choice(['toi', 'toi', 'toi', 'soi', 'toc', 'soc', 'wmd', 'csv'])}"
        said = path.suffix[1:] if rng.random() < 0.95 else "soc"
        path.write_bytes(coded(rng, it.text.replace("DATA TYPE: toi", f"DATA TYPE: {said}")))
        return path
    if rng.random() < 0.15:
        damaged(rng, it)
    ends = {"csv": 60, "parquet": 20, "nothing": 2} | boxes.OF_TEXT | boxes.OF_ARROW
    ends |= {end: often for end, (often, _) in boxes.OF_ROWS.items()}
    way = rng.choices(list(ends), list(ends.values()))[0]
    path = folder / f"table{way if way[0] == '.' else '.' + way}"
    if way == "nothing":
        path.write_bytes(rng.choice([b"", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b" \n \n", b"PAR1", b"\0" * 50]))
        return path
    if way in boxes.OF_ROWS or way in boxes.OF_ARROW or way == "parquet":
        with suppress(Exception):  # names that it cannot have: as text
            it.flags += boxed(rng, it, path)
            return path
        path.unlink(missing_ok=True)
        way, path = "csv", folder / "table.csv"
    if way in boxes.OF_TEXT:
        it.flags += boxes.packed(rng, path, coded(rng, separated(rng, it)))
        return path
    path = path.with_suffix(rng.choice([".csv", ".csv", ".tsv", ".txt", ".CSV"]))
    text = separated(rng, it)
    if rng.random() < 0.1:  # a title, and whether it is said
        lines = rng.randint(1, 3)
        text = "".join(rng.choice(["A title\n", "\n", "a,b;c\n"]) for _ in range(lines)) + text
        it.flags += ["--skip", str(lines if rng.random() < 0.8 else rng.randint(0, 9))]
    path.write_bytes(coded(rng, text))
    if rng.random() < 0.05:
        it.flags += ["--encoding", rng.choice(["cp1252", "latin-1", "utf-8", "mac-roman", "none"])]
    return path


def boxed(rng: Random, it: Table, path: Path) -> list[str]:
    """In a file that is no text, and the flags that it takes."""
    end = path.name.removeprefix("table")
    if end in boxes.OF_ROWS:
        width = len(it.header)
        rows = [[*row[:width], *[None] * (width - len(row))] for row in it.rows]
        return boxes.OF_ROWS[end][1](rng, path, it.header, rows)
    if end in boxes.OF_ARROW:
        return boxes.arrow_file(rng, path, arrow(rng, it))
    import pyarrow.parquet as pq

    pq.write_table(arrow(rng, it), path, compression=rng.choice(["none", "snappy", "zstd"]))
    return []


def separated(rng: Random, it: Table) -> str:
    """With commas, mostly; quoted as needed, always, or never."""
    mark, end = rng.choices([",", ";", "\t", "|"], [12, 1, 1, 1])[0], rng.choices(["\n", "\r\n", "\r"], [4, 2, 1])[0]
    rows = [it.header, *([plain(value) for value in row] for row in it.rows)]
    if rng.random() < 0.1:
        it.shifted = True
        return end.join(mark.join(row) for row in rows) + end * rng.randrange(3)
    file = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    if end != "\r\n" and quoting == csv.QUOTE_MINIMAL:  # Python quotes no end of a line but its own
        it.shifted = any({*value} & {*"\r\n"} for row in rows for value in row)
    csv.writer(file, delimiter=mark, lineterminator=end, quoting=quoting).writerows(rows)
    return file.getvalue() + rng.choice(["", "", "", end, end * 9, f"{mark}{mark}{end}", '"'])


def coded(rng: Random, text: str) -> bytes:
    """In UTF-8, mostly."""
    code = rng.choices(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"], [30, 5, 1, 1, 1, 1])[0]
    return text.encode(code, "surrogatepass" if code.startswith("utf") else "replace")


def arrow(rng: Random, it: Table) -> Any:
    """As a table of Arrow, each column of a type that takes some of its cells; the others are empty."""
    import pyarrow as pa

    columns = {}
    for at, name in enumerate(it.header):
        values = [row[at] if at < len(row) else None for row in it.rows]
        columns[name] = column(rng, values)
    return pa.table(columns)


def column(rng: Random, values: list[Any]) -> Any:
    """One column of Arrow."""
    import pyarrow as pa

    texts = [None if it is None else plain(it).encode(errors="replace").decode() for it in values]
    kind = rng.choices(list(TYPES), list(TYPES.values()))[0]
    try:
        if kind == "own" and values:  # of the type of the first
            first = type(values[0])
            same = [it if type(it) is first else None for it in values]
            return pa.array(texts if first is str else [str(it) if first is uuid.UUID and it else it for it in same])
        if kind in ("whole", "float", "short", "bool"):
            types = {"whole": pa.int64(), "float": pa.float64(), "short": pa.float32(), "bool": pa.bool_()}
            numbers = [float(it) if isinstance(it, int | float) else None for it in values]
            made = [None if it is None else it if "o" in kind and kind != "bool" else int(it) for it in numbers]
            return pa.array(made).cast(types[kind], safe=False)
        if kind == "decimal":
            return pa.array(
                [decimal.Decimal(it) if isinstance(it, int) else None for it in values], pa.decimal128(20, 2)
            )
        if kind == "moment":
            days = [it if isinstance(it, datetime.date) else None for it in values]
            return pa.array(days, pa.date32()).cast(pa.timestamp(rng.choice(["s", "ms", "us"])))
        if kind == "uuid" or (values and isinstance(values[0], uuid.UUID) and rng.random() < 0.5):
            return pa.array([it.bytes if isinstance(it, uuid.UUID) else None for it in values], pa.binary(16))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    if kind == "large":
        return pa.array(texts, pa.large_string())
    if kind == "words":
        return pa.array(texts, pa.string()).dictionary_encode()
    if kind == "bytes":
        return pa.array([None if it is None else it.encode() for it in texts], pa.binary())
    if kind == "list":
        return pa.array([[it] for it in texts], pa.list_(pa.string()))
    if kind == "struct":
        return pa.array([{"a": it} for it in texts], pa.struct({"a": pa.string()}))
    if kind == "null":
        return pa.nulls(len(texts))
    return pa.array(texts, pa.string())


def frame(rng: Random, it: Table) -> Any:
    """As a table of pandas, pyarrow or, where it is installed, polars."""
    import pandas as pd

    made_by = rng.choice(["pandas", "pandas", "arrow", "polars"])
    if made_by == "pandas" or len(set(it.header)) != len(it.header):
        rows = [[*row, *[None] * len(it.header)][: len(it.header)] for row in it.rows]
        bare = any(isinstance(it, str) and not it.isascii() and "\udcff" in it for row in rows for it in row)
        kind = object if bare else rng.choice([None, object])  # of half a letter pandas makes no text
        made = pd.DataFrame(rows, columns=pd.Index(it.header, dtype=object), dtype=kind)
        if rng.random() < 0.3 and len(made.columns):
            name = rng.choice(it.header)
            if it.header.count(name) == 1 and not bare:
                made[name] = made[name].astype(str).astype("category")
        return made
    table = arrow(rng, it)
    if made_by == "polars":
        with suppress(ImportError):
            return importlib.import_module("polars").from_arrow(table)
    return table
