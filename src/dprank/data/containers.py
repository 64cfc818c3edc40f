"""What tables come in, by how a file begins and what it is called: a further container is one more entry."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dprank._require import require_whole, settle, shown
from dprank.data.kinds import OLD_STATA, R_NAMES, SAVE, require_unpacked
from dprank.data.layout import Layout

__all__ = ["CONTAINERS", "CSV", "PARQUET", "Container", "Given", "Sniffed", "container_of", "damaged", "text_in"]

#: So much of a file says what it is.
START = 64
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class Sniffed:
    """A table of texts, and how its file was written.

    Parameters
    ----------
    frame : pandas.DataFrame or Texts
        Every cell as it is written; empty where there is none.
    said : str
        Format, encoding, separator and line ends in words.
    others : dict of str to str
        Columns that hold neither numbers, text nor dates, and their types: they are not in the frame.
    beyond : ndarray of bool, shape (rows,)
        Which rows have more fields than the header: whose are whose nobody knows, and their cells are empty.
    keyed : bool
        Whether there is no header: its columns are the keys that any row has.
    """

    frame: Any
    said: str
    others: Mapping[str, str] = field(default_factory=dict)
    beyond: Any = None
    keyed: bool = False

    def __post_init__(self) -> None:
        if self.beyond is None:
            object.__setattr__(self, "beyond", np.zeros(len(self.frame), bool))


@dataclass(frozen=True)
class Given:
    """A file, and what a reader is told of it.

    Parameters
    ----------
    path : path
        As it was typed: messages name it so.
    layout : Layout
    people : callable
        Whether a column, by its name, holds people: their floats are read as the values that they have.
    plain : bool
        Whether `dprank.data.texts.Texts` may stand for a frame.
    unpacked : bytes, optional
        What the file holds, where it was compressed.
    """

    path: Path
    layout: Layout
    people: Callable[[str], bool]
    plain: bool = False
    unpacked: bytes | None = None

    @property
    def name(self) -> str:
        """What messages call the file."""
        return str(self.path)

    @property
    def called(self) -> str:
        """Its name without what it is packed in."""
        return next((self.name[: -len(it)] for it in _PACKED if self.name.lower().endswith(it)), self.name)

    @property
    def plain_path(self) -> str:
        """The whole name, which no reader takes for anything else."""
        return os.path.abspath(os.path.expanduser(self.name))

    @property
    def raw(self) -> bytes:
        """All bytes."""
        return Path(self.plain_path).read_bytes() if self.unpacked is None else self.unpacked


@dataclass(frozen=True, kw_only=True)
class Container:
    """What a table may come in.

    Parameters
    ----------
    name : str
        In words, with its article.
    reader : str
        Module and function, which takes `Given` and returns `Sniffed`; imported when such a file is given.
    suffixes : tuple of str
        In small letters, with the dot.
    marks : tuple of bytes
        What such a file begins with, at `mark_at`; where there are any, no other file is one, whatever it is called.
    mark_at : int
        At which byte.
    inside : tuple of str
        Of a ZIP what the name of one of its files begins with.
    extra : str, optional
        Which extra of dprank brings what reads it.
    takes : tuple of str
        Keys of `Layout` that say something of it.
    is_text : bool
        Whether it may be compressed.
    """

    name: str
    reader: str
    suffixes: tuple[str, ...] = ()
    marks: tuple[bytes, ...] = ()
    mark_at: int = 0
    inside: tuple[str, ...] = ()
    extra: str | None = None
    takes: tuple[str, ...] = ()
    is_text: bool = False

    def __post_init__(self) -> None:
        settle(self, mark_at=require_whole("mark_at", self.mark_at, 0, START))

    def read(self, given: Given) -> Sniffed:
        """The table.

        Raises
        ------
        ValueError
            Naming the file, where it is none, its header lacks what a header needs, or the extra is absent.
        """
        for key, value in given.layout.said.items():
            if key not in self.takes:
                raise ValueError(f"{key} = {shown(value)}; {given.name} is {self.name}, of which it says nothing")
        module, function = self.reader.split(":")
        table: Sniffed = getattr(import_module(module), function)(given)
        return table

    def is_called(self, name: str) -> bool:
        """Whether a name is that of such a file."""
        return name.lower().endswith(self.suffixes)

    def begins(self, start: bytes, path: str) -> bool:
        """Whether a file begins as such a one; what is marked later than at its start is no text besides."""
        if self.mark_at and b"\0" not in start:
            return False
        return start.startswith(self.marks, self.mark_at) and (not self.inside or _zipped(path, self.inside))


CSV = Container(
    name="a CSV",
    reader="dprank.data.sniffing:read_csv",
    suffixes=(".csv", ".tsv", ".tab", ".txt"),
    takes=("encoding", "skip", "header"),
    is_text=True,
)
PARQUET = Container(
    name="Parquet",
    reader="dprank.data.arrow_texts:read_parquet",
    suffixes=(".parquet", ".pq"),
    marks=(b"PAR1",),
    extra="parquet",
)
#: A CSV is what is nothing else.
CONTAINERS = (
    PARQUET,
    Container(
        name="an Excel workbook",
        reader="dprank.data.workbooks:read_workbook",
        suffixes=(".xlsx", ".xlsm"),
        marks=(_ZIP,),
        inside=("xl/workbook.xml",),
        extra="sheets",
        takes=("sheet", "skip", "header"),
    ),
    Container(
        name="an OpenDocument sheet",
        reader="dprank.data.workbooks:read_workbook",
        suffixes=(".ods",),
        marks=(_ZIP,),
        inside=("mimetypeapplication/vnd.oasis.opendocument.spreadsheet",),
        extra="sheets",
        takes=("sheet", "skip", "header"),
    ),
    Container(
        name="a file of Arrow or Feather",
        reader="dprank.data.arrow_texts:read_arrow",
        suffixes=(".arrow", ".arrows", ".feather", ".ipc"),
        marks=(b"ARROW1\0\0", b"\xff\xff\xff\xff"),
        extra="parquet",
    ),
    Container(
        name="a file of SPSS",
        reader="dprank.data.statistics:read_spss",
        suffixes=(".sav", ".zsav"),
        marks=(b"$FL2@(#)", b"$FL3@(#)"),
        extra="statistics",
        takes=("encoding",),
    ),
    Container(
        name="a file of Stata",
        reader="dprank.data.statistics:read_stata",
        suffixes=(".dta",),
        marks=(b"<stata_dta>", *OLD_STATA),
        extra="statistics",
        takes=("encoding",),
    ),
    Container(
        name="a database of SQLite",
        reader="dprank.data.databases:read_sqlite",
        suffixes=(".sqlite", ".sqlite3", ".db"),
        marks=(b"SQLite format 3\0",),
        takes=("sql",),
    ),
    Container(
        name="a database of DuckDB",
        reader="dprank.data.databases:read_duckdb",
        suffixes=(".duckdb",),
        marks=(b"DUCK",),
        mark_at=8,
        extra="duckdb",
        takes=("sql",),
    ),
    Container(
        name="JSON",
        reader="dprank.data.json_tables:read_json",
        suffixes=(".json",),
        takes=("encoding",),
        is_text=True,
    ),
    Container(
        name="JSON lines",
        reader="dprank.data.json_tables:read_json_lines",
        suffixes=(".jsonl", ".ndjson"),
        takes=("encoding",),
        is_text=True,
    ),
    Container(
        name="gzip",
        reader="dprank.data.packed:read_packed",
        suffixes=(".gz",),
        marks=(b"\x1f\x8b",),
        takes=("encoding", "skip", "header"),
    ),
    Container(
        name="zstd",
        reader="dprank.data.packed:read_packed",
        suffixes=(".zst",),
        marks=(b"\x28\xb5\x2f\xfd",),
        extra="parquet",
        takes=("encoding", "skip", "header"),
    ),
    CSV,
)
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+[\[{\]]|\{\s*+[\"}])")
#: How a name of what is compressed ends.
_PACKED = (".gz", ".zst")


def container_of(path: str | os.PathLike[str]) -> Container:
    """What a file is, by how it begins, and by its name where that does not say it.

    Raises
    ------
    ValueError
        Where it is of a kind that is not read, or is called as one whose files begin otherwise.
    OSError
        Where it cannot be read.

    Examples
    --------
    >>> import dprank
    >>> container_of(dprank.example("answers.csv")).name
    'a CSV'
    """
    name, plain = str(path), os.path.abspath(os.path.expanduser(path))
    with open(plain, "rb") as file:
        start = file.read(START)
    marked = next((it for it in CONTAINERS if it.marks and it.begins(start, plain)), None)
    if marked is not None and not name.lower().endswith(R_NAMES):
        return marked
    called = next((it for it in CONTAINERS if it.is_called(name)), CSV)
    if called.inside and start.startswith(called.marks) and not zipfile.is_zipfile(plain):
        raise damaged(name, called.name)
    require_unpacked(name, plain)
    if called is PARQUET:  # whose reader says what it is not
        return called
    if called.marks and not start:
        raise ValueError(f"{name} is empty; a header and a row an answer are needed")
    if called.marks:
        raise ValueError(f"{name} is called as {called.name} is, and begins as none does; if it is a CSV, call it .csv")
    return text_in(start, name)


def damaged(name: str, kind: str) -> ValueError:
    """What is said of a file that is not whole.

    Examples
    --------
    >>> print(damaged("a.ods", "an OpenDocument sheet"))
    a.ods is damaged: no whole OpenDocument sheet; save the table as CSV in UTF-8, or as Parquet
    """
    return ValueError(f"{name} is damaged: no whole {re.sub('^an? ', '', kind)}; {SAVE}")


def text_in(start: bytes, name: str) -> Container:
    """What a text is, by how it begins, and by its name where that does not say it.

    Examples
    --------
    >>> text_in(b'[{"who": 1}]', "a.csv").name, text_in(b"who,what", "a.csv").name
    ('JSON', 'a CSV')
    """
    called = next((it for it in CONTAINERS if it.is_text and it.is_called(name)), CSV)
    json = next(it for it in CONTAINERS if it.name == "JSON")
    return json if called is CSV and _JSON.match(start) else called


def _zipped(path: str, starts: tuple[str, ...]) -> bool:
    """Whether a ZIP has a file whose name, with what is in it where it is a type, begins so."""
    with suppress(OSError, ValueError, NotImplementedError, zipfile.BadZipFile), zipfile.ZipFile(path) as file:
        names = [it.filename for it in file.infolist()]
        kind = file.open("mimetype").read(100).decode("latin-1") if "mimetype" in names else ""
        return any(it.startswith(starts) for it in (*names, f"mimetype{kind}"))
    return False
