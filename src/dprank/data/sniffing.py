"""Tables as people have them: the encoding, the separator and the line ends are found out, and said."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dprank.data.arrow_texts import parquet_texts
from dprank.data.files import MOST_COLUMNS, is_parquet, require_path

__all__ = ["Sniffed", "decoded", "sniff"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: What a file begins with that says how it is encoded.
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Sniffed:
    """A table of texts, and how its file was written.

    Parameters
    ----------
    frame : pandas.DataFrame
        Every cell as it is written; empty where there is none.
    said : str
        Format, encoding, separator and line ends in words.
    others : dict of str to str
        Columns of Parquet that hold neither numbers, text nor dates, and their types: they are not in the frame.
    """

    frame: Any
    said: str
    others: Mapping[str, str] = field(default_factory=dict)


def sniff(path: str | os.PathLike[str], exact: Callable[[str], bool] = lambda name: False) -> Sniffed:
    """Read a CSV or Parquet file as texts, whatever its encoding, separator and line ends.

    Parameters
    ----------
    path : path
        Parquet if its name or first bytes say so, else CSV with a header: in UTF-8, or in UTF-16 with its mark;
        separated by commas, semicolons, tabs or bars; lines that end in LF, CR LF or CR; a cell that begins with a
        quotation mark ends with one, as RFC 4180 has it. A file whose writer did not quote cells is another file: a
        cell of one person's may hold the rows of others.
    exact : callable
        Of which columns, by name, cells are texts by `dprank.data.arrow_texts.arrow_texts` with ``exact=True``.

    Raises
    ------
    ValueError
        Naming the file, and the line where one is at fault: never what stands there.
    OSError
        Where the file cannot be read.

    Notes
    -----
    O(bytes), and so much memory.

    Examples
    --------
    >>> import dprank
    >>> sniff(dprank.example("answers.csv")).said
    'CSV in UTF-8, separated by commas, lines end in LF'
    """
    path = require_path(path)
    if is_parquet(path):
        frame, others = parquet_texts(path, exact)
        return Sniffed(frame, "Parquet", others)
    text, encoding = decoded(path)
    ends = next((end for end in ("\r\n", "\r") if end in text), "\n")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    name, head = str(path), text.lstrip("\n").split("\n", 1)[0]
    if not head.strip():
        raise ValueError(f"{name} is empty; a header and a row an answer are needed")
    separator = max(SEPARATORS, key=head.count)
    frame = _parsed(name, text, separator)
    said = {"\r\n": "CR LF", "\r": "CR", "\n": "LF"}[ends]
    mark = " with its mark" if encoding != "utf-8" else ""
    written = f"CSV in {encoding.removesuffix('-sig').upper()}{mark}"
    return Sniffed(frame, f"{written}, separated by {SEPARATORS[separator]}, lines end in {said}")


def decoded(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a file, and its encoding: UTF-8, with or without its mark, or UTF-16 with it.

    Raises
    ------
    ValueError
        Naming the file and the line that is no text.
    """
    name = str(path)
    with open(path, "rb") as file:
        raw = file.read()
    encoding = next((encoding for mark, encoding in MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        line = raw[:at].count(b"\n") + 1
        raise ValueError(f"{name}: line {line} is not {encoding.upper()}; text in UTF-8 is needed") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"{name}: line {line} holds a null character; a text file is needed")
    return text, encoding


def _parsed(name: str, text: str, separator: str) -> Any:
    import pandas as pd

    try:
        [header] = csv.reader([text.lstrip("\n").split("\n", 1)[0]], delimiter=separator, strict=True)
    except csv.Error:
        raise ValueError(f"{name}: line 1: a quotation mark is not closed, or a name has no end") from None
    seen: dict[str, int] = {}
    for at, column in enumerate(header, 1):
        if seen.setdefault(column, at) != at:
            raise ValueError(f"{name}: line 1: column {at} has the name of another; every name once is needed")
    if len(header) > MOST_COLUMNS:
        raise ValueError(f"{name}: line 1 has more than {MOST_COLUMNS:,} columns")
    _require_quoted(name, text, separator)
    options: Any = {"dtype": str, "keep_default_na": False, "na_filter": False, "index_col": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.StringIO(text), sep=separator, low_memory=False, **options)
    except (pd.errors.ParserWarning, pd.errors.ParserError, csv.Error):
        raise ValueError(f"{name}: {_ragged(text, separator, len(header))}") from None
    return frame.fillna("")


def _require_quoted(name: str, text: str, separator: str) -> None:
    """Refuse a cell that begins with a quotation mark and does not end where it is closed.

    Of a program that does not quote, such a cell would swallow the rows of others up to the next mark.
    """
    if '"' not in text:
        return
    quoted = re.compile(rf'(?:(?<=[\n{re.escape(separator)}])|\A)"(?:[^"]|"")*+("?)(?=([^\n]?))')
    for cell in quoted.finditer(text):
        if not cell[1] or cell[2] not in ("", separator):
            line = text.count("\n", 0, cell.start()) + 1
            what = "is not closed" if not cell[1] else "is closed inside of a cell"
            raise ValueError(f"{name}: line {line}: a quotation mark {what}; a mark in a cell is written twice")


def _ragged(text: str, separator: str, width: int) -> str:
    """Which line is at fault."""
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    with suppress(csv.Error):
        for row in reader:
            if len(row) > width:
                return f"line {reader.line_num} has {len(row)} fields, the header {width}"
    return "no table: lines have more fields than the header"
