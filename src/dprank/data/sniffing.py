"""Tables as people have them: the encoding, the separator and the line ends are found out, and said.

Only its header refuses a CSV: what is wrong in a row is one person's, and to refuse the file for it would tell.
"""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank.data.containers import Given, Sniffed, container_of
from dprank.data.files import MOST_COLUMNS, AtOnce, require_path, require_plain
from dprank.data.kinds import require_table
from dprank.data.layout import Layout
from dprank.data.texts import plain_rows

__all__ = ["NOT_UTF_8", "Sniffed", "decoded", "read_csv", "sniff"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: What a file begins with that says how it is encoded.
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
NOT_UTF_8 = "bytes that are not"
ENDS = {"\r\n": "CR LF", "\r": "CR", "\n": "LF"}
#: What spreadsheets write above a header, for others of their kind.
_SAID = re.compile(r"\"?sep=([,;\t|])\"?\n")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Decoded(NamedTuple):
    """What a file says, in lines that end in LF; how it is encoded, in words; and how its lines end."""

    text: str
    said: str
    ends: str


def sniff(
    path: str | os.PathLike[str],
    people: Callable[[str], bool] = lambda name: False,
    *,
    plain: bool = False,
    layout: Layout | None = None,
) -> Sniffed:
    r"""Read a table as texts, whatever it comes in: a CSV in any encoding, separator and line ends, or a container.

    Parameters
    ----------
    path : path
        One of `dprank.data.containers.CONTAINERS` if its first bytes or name say so, else CSV with a header: in UTF-8,
        or in UTF-16 with its mark; separated by commas, semicolons, tabs or bars, by what the header has most of
        outside of quotation marks, unless a line ``sep=;`` above it, or a name like ``a.tsv``, says which; lines that
        end in LF or CR LF, or in CR, if the header does: below another one a CR alone is a character, as many writers
        do not quote it. A cell that begins with a quotation mark and ends with one, as RFC 4180 has it, is what stands
        between, lines and all, in the header too; any other mark is a character like others. A file whose writer did
        not quote cells is another file: a cell of one person's may hold the rows of others. Bytes that are no UTF-8 are
        written ``\xff``, and a null character ``\x00``. A row with more fields than the header is there without its
        cells, but for one that ends in a separator too many and says nothing behind it. A folder, or a pattern like
        ``part-*.parquet``: the files of Parquet in it are one table.
    people : callable
        Whether a column, by its name, holds people: of Parquet their floats are read as the values that they have.
    plain : bool
        Whether `dprank.data.texts.Texts` may stand for a frame, where `plain_rows` can read the file.
    layout : Layout, optional
        What the file does not say itself: which sheet of a workbook, an encoding, lines above the header.

    Raises
    ------
    ValueError
        Naming the file, for what its header is, or lacks: that it is empty, no UTF-8, holds a null character or a
        quotation mark that is not closed, or has too many names. For no row; of containers as their readers say.
    OSError
        Where the file cannot be read.

    Notes
    -----
    O(bytes), and so much memory. A file with a row that is none by RFC 4180, or too long, takes a few times as long.

    Examples
    --------
    >>> import dprank
    >>> sniff(dprank.example("answers.csv")).said
    'CSV in UTF-8, separated by commas, lines end in LF'
    """
    path = require_path(path)
    given = Given(path, layout or Layout(), people, plain)
    if os.path.isdir(os.path.expanduser(path)) or "*" in path.name:
        from dprank.data.folders import files_of, read_files

        if files := files_of(path):
            return read_files(given, files)
    require_plain(path, contained=True)
    return container_of(path).read(given)


def read_csv(given: Given) -> Sniffed:
    """A CSV, as `sniff` explains it."""
    layout, name = given.layout, given.name
    found = decoded(name, given.raw, lambda above: not _cut(above, layout).ended, layout.encoding)
    cut = _cut(found.text, layout)
    require_table(name, found.text.lstrip("\n"))
    if not cut.heads[0].strip():
        above = f" below the {layout.skip} lines that are skipped" * bool(layout.skip)
        raise ValueError(f"{name} is empty{above}; a header and a row an answer are needed")
    separator = cut.separator or _separator(given.called, cut.heads[0])
    header, head = _names(name, cut.heads, separator, layout)
    rows = plain_rows(cut.rows, header, separator) if given.plain else None
    text = f"{head}\n{cut.rows}" if cut.ended and rows is None else head
    frame, beyond = _parsed(name, text, head, header, separator) if rows is None else (rows, None)
    said = f"CSV in {found.said}, separated by {SEPARATORS[separator]}, lines end in {ENDS[found.ends]}"
    return Sniffed(frame, said + _above(layout), beyond=beyond)


class Cut(NamedTuple):
    """The rows of a header, as they are written; the separator that a line above them says; what is below them, and
    whether they have an end.
    """

    heads: list[str]
    separator: str | None
    rows: str
    ended: bool


def _cut(text: str, layout: Layout) -> Cut:
    """A text, in lines that end in LF, cut where its header ends."""
    for _ in range(layout.skip):
        text = text.partition("\n")[2]
    text = text.lstrip("\n")
    above = _SAID.match(text)
    text = text[above.end() :] if above else text
    heads, ended = [], None
    for _ in range(layout.header):
        ended = _ended(text)
        heads.append(text if ended is None else text[: ended.start()])
        text = "" if ended is None else text[ended.end() :]
    return Cut(heads, above[1] if above else None, text, ended is not None)


def _names(name: str, heads: list[str], separator: str, layout: Layout) -> tuple[list[str], str]:
    """What columns are called, and a line that says so."""
    line = layout.skip + 1
    rows = [_header(name, head, separator, line + at) for at, head in enumerate(heads[: layout.header % 3 or 1])]
    if len(rows) == 1:
        return rows[0], heads[0]
    width = max(map(len, rows))
    header, out = layout.named([[*row, *[""] * (width - len(row))] for row in rows]), io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow(header)
    return header, out.getvalue()


def _above(layout: Layout) -> str:
    """What of a file is no row by what was said of it, in words."""
    lines = f", {layout.skip} line{'s' * (layout.skip != 1)} above the header skipped" * bool(layout.skip)
    return lines + ("", "", ", names in two rows", ", two rows below the names dropped")[layout.header]


def decoded(name: str, raw: bytes, in_header: Callable[[str], bool], encoding: str | None = None) -> Decoded:
    r"""The text of a file in UTF-8, with or without its mark, or in UTF-16 with it; or in the encoding that is said.

    Parameters
    ----------
    name : str
        What messages call the file.
    raw : bytes
    in_header : callable
        Whether what comes behind a text is of the header still: there all must be text. Elsewhere bytes that are none
        are written ``\xff``, as in Parquet, and a null character ``\x00``.
    encoding : str, optional
        One of `dprank.data.layout.ENCODINGS`.

    Raises
    ------
    ValueError
        Naming the file and the line of the header that is no text, or the mark of another encoding than is said.
    """
    mark, marked = next(((mark, it) for mark, it in MARKS if raw.startswith(mark)), (b"", encoding or "utf-8"))
    if encoding not in (None, marked):
        raise ValueError(f"encoding = {encoding!r}; {name} begins with the mark of {_shown(marked)}: leave it out")
    rest, shown = memoryview(raw)[len(mark) :], _shown(marked)
    said = shown + " with its mark" * bool(mark)

    def require_below(above: str, what: str) -> None:
        lines = _lines(above, _ends(above))
        if in_header(lines):
            raise ValueError(f"{name}: line {lines.count(chr(10)) + 1} {what}")

    try:
        text = str(rest, marked)
    except UnicodeDecodeError as error:
        csv = ", as 'CSV UTF-8' of Excel" * name.lower().endswith((".csv", ".tsv", ".txt"))
        need = (
            f"text in UTF-8 is needed{csv}, or --encoding, as cp1252" if encoding is None else "say another --encoding"
        )
        require_below(str(rest[: error.start], marked), f"is not {shown}; {need}")
        text = str(rest, marked, "backslashreplace")
        said += f", but for {NOT_UTF_8}, written \\xff"
    if (at := text.find("\0")) >= 0:
        require_below(text[:at], "holds a null character; a text file is needed")
        text = text.replace("\0", "\\x00")
    ends = _ends(text)
    return Decoded(_lines(text, ends), said, ends)


def _shown(encoding: str) -> str:
    """An encoding as people know it."""
    return encoding[:6].rstrip("-").upper() if encoding.startswith("utf") else encoding


#: A cell of a header up to what ends it, whatever separates cells: in quotation marks, lines and separators and all.
_CELL = re.compile(r'(?:"[^"]*+(?:""[^"]*+)*+"[^,;\t|\r\n]*+|(?!")[^,;\t|\r\n]*+)(?:[,;\t|]|(?P<end>\r\n|\r|\n)|\Z)')


def _ended(text: str) -> re.Match[str] | None:
    """Where the header ends, by a line end outside of quotation marks; by its first one where a mark is not closed."""
    at = 0
    while (cell := _CELL.match(text, at)) is not None and cell.end() > at:
        if cell["end"] is not None:
            return _LINE_END.search(text, cell.start("end"))
        at = cell.end()
    return _LINE_END.search(text, at) if cell is None and "\n" in text else None


def _ends(text: str) -> str:
    """How the header ends: what is below is of rows."""
    found = _ended(text.lstrip("\r\n"))
    return found[0] if found else "\n"


def _separator(name: str, head: str) -> str:
    """What a header has most of outside of quotation marks; tabs, if it has any, where the name of the file says so."""
    ends = [cell[0][-1:] for cell in _CELL.finditer(head)]
    if name.lower().endswith((".tsv", ".tab")) and "\t" in ends:
        return "\t"
    return max(SEPARATORS, key=ends.count)


def _lines(text: str, ends: str) -> str:
    """The same in lines that end in LF. A CR alone ends one where the header ends so; else it is a character."""
    text = text.replace("\r\n", "\n")
    return text.replace("\r", "\n") if ends == "\r" else text


def _header(name: str, head: str, separator: str, line: int) -> list[str]:
    """The names of one of its rows, as they are written."""
    try:
        [header] = csv.reader(io.StringIO(head, newline="\n"), delimiter=separator, strict=True)
    except csv.Error:
        raise ValueError(f"{name}: line {line}: {_unreadable(head)}") from None
    if len(header) > MOST_COLUMNS:
        raise ValueError(f"{name}: line {line} has more than {MOST_COLUMNS:,} columns")
    return header


def _parsed(name: str, text: str, head: str, header: list[str], separator: str) -> tuple[Any, NDArray[np.bool_]]:
    """The table, and which of its rows have more fields than its header."""
    options = {"sep": separator, "skip_blank_lines": len(header) > 1}  # of one column a line of nothing is a row
    first = _FIRST.match(text, len(head))
    assert first is not None
    frame = None
    # pandas would make a table as wide as the first row
    if first[1].count(separator) <= 2 * len(header) + _WIDE and _is_closed(text, len(head), separator):
        frame = _frame(text, options)
    if frame is not None:
        return _named(frame, header), np.zeros(len(frame), bool)
    mark = secrets.token_hex(16)  # which no cell is
    frame = _frame(f"{head}\n{_mended(text, len(head) + 1, separator, len(header), mark)}", options)
    if frame is None:
        raise ValueError(f"{name}: no table by this version of pandas")
    beyond = np.asarray(frame.iloc[:, 0] == mark, bool)
    frame.iloc[beyond, 0] = ""
    return _named(frame, header), beyond


def _unreadable(head: str) -> str:
    """Why a header is none."""
    if _BY_BLANKS.fullmatch(head.strip()):
        return "names are separated by blanks; commas, semicolons, tabs or bars are needed (in R: write.csv)"
    return "a quotation mark is not closed, or a name has no end"


def _named(frame: Any, header: list[str]) -> Any:
    """The frame with the names that its header has, also one that is there twice; columns without any as pandas has."""
    frame.columns = [written or given for written, given in zip(header, frame.columns, strict=True)]
    return frame


def _frame(text: str, given: dict[str, Any]) -> Any:
    """What pandas reads; None where a row has more fields than the header."""
    import pandas as pd

    options: Any = given | {"dtype": str, "keep_default_na": False, "na_filter": False, "index_col": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(AtOnce(text), low_memory=False, lineterminator="\n", **options).fillna("")
    except (pd.errors.ParserWarning, pd.errors.ParserError):
        return None


#: Names in quotation marks, with blanks between them, and other names.
_BY_BLANKS = re.compile(r'(?:"[^"\n]*"|[^"\s,;|]+)(?: +(?:"[^"\n]*"|[^"\s,;|]+))+')
#: The first row, or its first line; and how many separators more than expected it may have, as some are quoted.
_FIRST, _WIDE = re.compile(r"\n*+([^\n]*+)"), 1000
#: What stands between two quotation marks, up to the one that closes: a mark in it is written twice.
_WITHIN = '[^"]*+(?:""[^"]*+)*+'


def _is_closed(text: str, start: int, separator: str) -> bool:
    """Whether each cell that begins with a quotation mark ends where it is closed, from the end of the header on."""
    if '"' not in text:
        return True
    edge = f"[\n{re.escape(separator)}]"
    closed = rf'(?:[^"]++|(?<={edge})"{_WITHIN}"(?={edge}|\Z)|(?<!{edge})")*+\Z'
    return re.compile(closed).match(text, start) is not None


def _mended(text: str, at: int, separator: str, width: int, mark: str) -> str:
    """The rows from there on as RFC 4180 has them, each by itself; of one with too many fields the first is `mark`."""
    edge, out = f"\n{re.escape(separator)}", list[str]()
    cell = re.compile(rf'(?:(?P<quoted>"{_WITHIN}")(?=[{edge}]|\Z)|(?P<plain>[^{edge}]*+))(?P<end>[{edge}]|\Z)')
    gone = mark + separator * (width - 1)
    while at < len(text):
        quote = text.find('"', at)
        start = len(text) if quote < 0 else max(at, text.rfind("\n", at, quote) + 1)
        if start > at:  # lines without any
            for line in text[at:start].removesuffix("\n").split("\n"):
                more = line.count(separator) - width
                fits = more < 0 or (more == 0 and line.endswith(separator))
                out.append(line[: len(line) - (more == 0)] if fits else gone)
        at, end, cells = start, separator, list[str]()
        while end == separator and quote >= 0:
            found = cell.match(text, at)
            assert found is not None
            at, end, quoted, plain = found.end(), found["end"], found["quoted"], found["plain"]
            quotes = plain is not None and plain.startswith('"')
            cells.append('"' + plain.replace('"', '""') + '"' if quotes else plain if quoted is None else quoted)
        if cells:
            if len(cells) == width + 1 and cells[-1] in ("", '""'):
                cells.pop()
            out.append(separator.join(cells) if len(cells) <= width else gone)
    return "\n".join(out)
