"""Workbooks of Excel and LibreOffice, by python-calamine; cells are read by themselves, whatever is shown of them."""

from __future__ import annotations

import re
import zipfile
from typing import Any

from dprank._require import require_extra, shown
from dprank.data.cells import grid_table
from dprank.data.containers import Given, Sniffed, container_of, damaged
from dprank.data.packed import CHUNK, MOST_BYTES, chunks

__all__ = ["MOST_CELLS", "read_workbook"]

#: From the first cell that is filled to the last: a reader makes room for all that are between.
MOST_CELLS = 50_000_000
#: In the tag of a cell alone: what people wrote may look alike.
_PLACE = re.compile(rb"<(?:\w{1,20}:)?c\s(?:[^<>]{0,900}?\s)?r=[\"']([A-Z]{1,3})([0-9]{1,7})[\"']")
#: So many bytes hold the place of a cell.
_LONGEST = 1000
TOLD = 20


def read_workbook(given: Given) -> Sniffed:
    """A sheet of a workbook: the only one with cells, or the one that is named.

    What a formula gives is what the workbook holds as its value; an error, like #N/A, is an empty cell. Cells in other
    columns than the header's are nobody's.

    Raises
    ------
    ValueError
        Naming the file: where it is damaged, or too large; or where several sheets have cells, and none is named.
    """
    name, kind = given.name, container_of(given.path).name
    calamine = require_extra("python_calamine", "sheets", f"{name}: {kind}")
    try:
        _require_room(given)
        with calamine.load_workbook(given.plain_path) as book:
            sheet, rows = _sheet(given, book)
    except MemoryError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, UnicodeError, calamine.CalamineError) as error:
        locked = isinstance(error, calamine.PasswordError) or "password" in str(error).lower()
        told = ValueError(f"{name} has a password; save it without one") if locked else damaged(name, kind)
        raise told from None
    except BaseException as error:
        _require_given_up(error)
        raise damaged(name, kind) from None
    return grid_table(given, rows, f"{kind.partition(' ')[2]}, sheet {shown(sheet)}")


def _sheet(given: Given, book: Any) -> tuple[str, list[list[Any]]]:
    """The sheet that is read, and its rows from the first on."""
    names, asked = list(book.sheet_names), given.layout.sheet
    listed = ", ".join(map(shown, names[:TOLD])) + f" and {len(names) - TOLD} more" * (len(names) > TOLD)
    if asked is not None and asked not in names:
        raise ValueError(f"sheet = {shown(asked)}; {given.name} has {listed or 'none'}")
    tables = {it: book.get_sheet_by_name(it) for it in ([asked] if asked else names)}
    found = {it: sheet for it, sheet in tables.items() if sheet.height}
    if len(found) > 1:
        raise ValueError(
            f"{given.name} has {len(found)} sheets with cells; say with --sheet which: {', '.join(map(shown, found))}"
        )
    if not found:
        raise ValueError(f"{given.name} is empty: no cell is filled; a header and a row an answer are needed")
    [(name, sheet)] = found.items()
    return name, _rows(sheet)


def _rows(sheet: Any) -> list[list[Any]]:
    """All rows. A cell that is no moment of any calendar has its reader give up on its row, which then is empty."""
    try:
        found: list[list[Any]] = sheet.to_python(skip_empty_area=False)
        return found
    except BaseException as error:
        _require_given_up(error)
    rows: list[list[Any]] = [[] for _ in range(sheet.start[0])]
    each = sheet.iter_rows()
    while True:
        try:
            rows.append(next(each))
        except StopIteration:
            return rows
        except BaseException as error:
            _require_given_up(error)
            rows.append([])


def _require_given_up(error: BaseException) -> None:
    """Raise what is no word of a compiled reader that it gives up."""
    if not isinstance(error, OverflowError) and type(error).__name__ != "PanicException":
        raise error


def _require_room(given: Given) -> None:
    """Refuse what would unpack to more than there is room for, or has a cell so far off that a table has none."""
    read = 0
    with zipfile.ZipFile(given.plain_path) as file:
        for info in file.infolist():
            info.file_size = 2 * MOST_BYTES + CHUNK  # what a file says of its size may be untrue
            with file.open(info) as member:
                read += _walked(given, member, MOST_BYTES - read, info.filename)


def _walked(given: Given, member: Any, most: int, part: str) -> int:
    """How many bytes a part of a workbook has, looked at a piece at a time."""
    read, tail, last, lowest = 0, b"", 0, 0
    for chunk in chunks(member):
        read += len(chunk)
        if read > most:
            raise ValueError(f"{given.name} unpacks to more than {MOST_BYTES >> 20:,} MiB; save the table as Parquet")
        if part.startswith("xl/worksheets/"):
            for letters, digits in _PLACE.findall(tail + chunk):
                last, lowest = max(last, _number(letters)), max(lowest, int(digits))
            tail = chunk[-_LONGEST:]
        if last * lowest > MOST_CELLS:
            raise ValueError(
                f"{given.name}: a sheet has cells down to row {lowest:,} and column {last:,}, which is more than "
                f"{MOST_CELLS:,} places; delete what is far from the table, or save it as Parquet"
            )
    return read


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
