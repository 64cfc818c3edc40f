"""What pages show beside the claims: numbers of sentences, tables, data of figures, printed texts; and how two differ.

Words, whole numbers and decisions are compared exactly; a number with a point or an exponent by tolerance.
"""

from __future__ import annotations

import json
import math
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any, NamedTuple

import nbformat

#: Relative tolerance of a number of a page: that of a claim which gives none.
TOLERANCE = 1e-9
#: What is off by less is the same: remainders of what should be 0 are some 1e-16 on one processor, 1e-13 on another.
FLOOR = 1e-10
#: Significant digits that are kept: one more than the tolerance asks for.
DIGITS = 10
#: The share of entries that may move on a kind of machine that nobody has measured.
MOVING = 0.02
#: What there is, and how it is said where its numbers are counted.
KINDS = {"number": "sentences", "table": "tables", "figure": "figures", "text": "printed texts"}
# a minus may be the sign of typesetters, in exponents, too
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:[eE][-+−]?\d+)?")
CELLS = {"td", "th"}
BREAKS = {"br", "dd", "div", "dt", "label", "li", "option", "p", "pre", "section", "summary", "text", "title"}
UNSEEN = {"script", "style"}

Key = tuple[str, str, str]


class Entry(NamedTuple):
    """A number, a table, the data of a figure or a text, row by row; `name` is its own in its chapter and kind."""

    chapter: str
    kind: str
    name: str
    rows: tuple[str, ...]

    @property
    def key(self) -> Key:
        return self[:3]


class Difference(NamedTuple):
    """Between two rows, or of an entry that only one side has."""

    key: Key
    what: str
    numeric: bool = False
    #: Whether only one side has the entry, or that row of it.
    lost: bool = False

    def __str__(self) -> str:
        return f"{said(self.key)}{self.what}"


def said(key: Key) -> str:
    """An entry by its name."""
    chapter, kind, name = key
    return f"{chapter}: {kind} {name}"


# ---------------------------------------------------------------- out of notebooks


def entries(chapter: str, notebook: nbformat.NotebookNode) -> Iterator[Entry]:
    """All that an executed chapter shows; not the claims, which the records have."""
    seen: Counter[tuple[str, str]] = Counter()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for kind, name, shown in _shown(cell.get("id", ""), output):
                if rows := tuple(row for row in map(_short, shown) if row):
                    seen[kind, name] += 1
                    again = f" ({seen[kind, name]})" if seen[kind, name] > 1 else ""
                    yield Entry(chapter, kind, f"{name}{again}", rows)


def _shown(cell: str, output: Any) -> Iterator[tuple[str, str, list[str]]]:
    """Kind, name and rows of what one output shows."""
    data, metadata = output.get("data", {}), output.get("metadata", {})
    if "claim" in metadata:
        return
    if glued := metadata.get("scrapbook"):
        kept = str(data[f"{glued['mime_prefix']}text/plain"])
        yield "number", glued["name"], [_unquoted(kept)]
    elif figure := metadata.get("figure"):
        yield "figure", figure.get("name", ""), [figure.get("message", ""), *figure.get("data", "").splitlines()]
    elif html := data.get("text/html"):
        if not html.startswith('<p class="figure-links">'):  # the same data once more
            page = _Page()
            page.feed(html)
            page.close()
            yield from (("table", cell, rows) for rows in page.tables)
            yield "text", cell, "".join(page.text).splitlines()
    else:
        yield "text", cell, str(output.get("text") or data.get("text/plain", "")).splitlines()


def _unquoted(text: str) -> str:
    """What was glued, from its repr."""
    try:
        return str(literal_eval(text))
    except (SyntaxError, ValueError):
        return text


class _Page(HTMLParser):
    """Of HTML, tables as rows, and all other text that is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[str]] = []
        self.text: list[str] = []
        self.cells: list[str] = []
        self.inside = False
        self.unseen = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
            self.inside = True
        elif tag == "tr":
            self.cells = []
        elif tag in CELLS and self.inside:
            self.cells.append("")
        elif tag in BREAKS:
            self.text.append("\n")
        self.unseen = tag in UNSEEN

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr" and self.inside:
            self.tables[-1].append(" | ".join(" ".join(cell.split()) for cell in self.cells))
            self.cells = []
        elif tag == "table":
            self.inside = False
        elif tag in BREAKS:
            self.text.append("\n")
        self.unseen = False

    def handle_data(self, data: str) -> None:
        if self.unseen:
            return
        if self.cells:
            self.cells[-1] += data
        elif not self.inside:
            self.text.append(data)


def _short(row: str) -> str:
    """The row, stripped, with at most `DIGITS` significant digits a number."""

    def rounded(match: re.Match[str]) -> str:
        text = match[0]
        if not _float(text) or len(re.sub(r"[eE].*|\D", "", text).lstrip("0")) <= DIGITS:
            return text
        short = f"{_value(text):.{DIGITS}g}"
        return short if _float(short) else f"{short}.0"

    return NUMBER.sub(rounded, row).strip()


# ---------------------------------------------------------------- the record


def written(head: Mapping[str, Any], pages: Iterable[Entry]) -> bytes:
    """JSON with a line a row, so that a difference can be read; `head` says what made the pages."""
    blocks = []
    for entry in sorted(pages):
        named = {"chapter": entry.chapter, "kind": entry.kind, "name": entry.name}
        rows = ",\n   ".join(_line(row) for row in entry.rows)
        blocks.append(f'{_line(named)[:-1]}, "rows": [\n   {rows}]}}')
    listed = ",\n  ".join(blocks)
    return f'{_line(head)[:-1]},\n "pages": [\n  {listed}]}}\n'.encode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read(content: Mapping[str, Any]) -> list[Entry]:
    """The entries of a record."""
    return [Entry(it["chapter"], it["kind"], it["name"], tuple(it["rows"])) for it in content["pages"]]


def counted(pages: Iterable[Entry]) -> str:
    """How many numbers of which kind there are."""
    entries: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    for it in pages:
        entries[it.kind] += 1
        numbers[it.kind] += sum(len(NUMBER.findall(row)) for row in it.rows)
    return ", ".join(f"{numbers[kind]:,} numbers in {entries[kind]} {words}" for kind, words in KINDS.items())


# ---------------------------------------------------------------- two of them


def differences(expected: Iterable[Entry], observed: Iterable[Entry], abroad: bool = False) -> Iterator[Difference]:
    """A line for each row that differs, and for each entry that only one side has.

    From `abroad`, another kind of machine, what was rounded to be read may be off by one in its last digit: 0.145 that
    is a last bit less is 0.14. Data of figures are not rounded.
    """
    old, new = ({it.key: it.rows for it in side} for side in (expected, observed))
    for key in sorted(old.keys() | new.keys()):
        if key not in old or key not in new:
            sides = ("nothing", f"a {key[1]}") if key not in old else (f"a {key[1]}", "nothing")
            yield Difference(key, f": expected {sides[0]}, observed {sides[1]}", lost=True)
            continue
        pairs = list(zip(old[key], new[key], strict=False))
        rounded = abroad and key[1] != "figure"
        alike = len(old[key]) == len(new[key])
        if not alike:
            first = next((i for i, (a, b) in enumerate(pairs) if apart(a, b, rounded) > 1), len(pairs))
            what = f", row {first + 1}: expected {len(old[key])} rows, observed {len(new[key])}"
            yield Difference(key, what, lost=True)
            continue
        for row, (one, other) in enumerate(pairs, 1):
            if (far := apart(one, other, rounded)) > 1:
                place = f", row {row}" if len(pairs) > 1 else ""
                a, b = _near(one, other)
                yield Difference(key, f"{place}: expected {a!r}, observed {b!r}", math.isfinite(far))


def few(found: Iterable[Difference], entries: int) -> bool:
    """Whether so few of the `entries` differ, and none is lost, that a last bit may have decided their draws."""
    found = list(found)
    return not any(it.lost for it in found) and len({it.key for it in found}) <= MOVING * entries


def distances(expected: Iterable[Entry], observed: Iterable[Entry]) -> Iterator[float]:
    """How far each row that both have is off, in units of what it may be: up to 1 it is the same."""
    old = {it.key: it.rows for it in expected}
    for it in observed:
        yield from map(apart, old.get(it.key, ()), it.rows)


def apart(expected: str, observed: str, rounded: bool = False) -> float:
    """How far two rows are apart, in units of what they may be: infinite if anything but a float differs.

    If `rounded`, a float may be one unit of its last digit off.
    """
    if expected == observed:
        return 0.0
    if NUMBER.split(expected) != NUMBER.split(observed):
        return math.inf
    most = 0.0
    for one, other in zip(NUMBER.findall(expected), NUMBER.findall(observed), strict=True):
        if one != other:
            if not (_float(one) or _float(other)):
                return math.inf
            a, b = _value(one), _value(other)
            if not math.isfinite(a - b):
                return math.inf
            may = max(TOLERANCE * max(abs(a), abs(b)), FLOOR, rounded * 1.01 * max(_unit(one), _unit(other)))
            most = max(most, abs(a - b) / may)
    return most


def _value(text: str) -> float:
    return float(text.replace("−", "-"))


def _unit(text: str) -> float:
    """Of the last digit that is written."""
    return 10.0 ** int(Decimal(text.replace("−", "-")).as_tuple().exponent)


def _float(text: str) -> bool:
    """Whether a number is written as one that need not be whole."""
    return any(sign in text for sign in ".eE")


def _near(one: str, other: str, width: int = 60) -> Sequence[str]:
    """Two rows; of long ones the part from a little before where they part."""
    if max(len(one), len(other)) <= 2 * width:
        return one, other
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    begin = max(0, start - width // 2)
    return [f"{'…' if begin else ''}{it[begin : begin + width]}" for it in (one, other)]
