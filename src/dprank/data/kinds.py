"""What a file that is no table is, by how it begins: so that whoever has one knows what to do with it."""

from __future__ import annotations

import os
import re
import zipfile
from contextlib import suppress

__all__ = ["kind_of", "require_table", "require_unpacked"]

#: What a compressed file begins with.
PACKED = {
    b"\x1f\x8b": "gzip",
    **dict.fromkeys([b"BZh%d1AY&" % level for level in range(1, 10)], "bzip2"),
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "RAR",
}
#: R compresses what it saves, so that the name says what it is.
OF_R, R_NAMES = "a file of R", (".rds", ".rda", ".rdata")
OLD_STATA = tuple(bytes([version, order, 1, 0]) for version in range(0x69, 0x74) for order in (1, 2))
#: What other files begin with, none of which begins a text.
BINARY = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Excel workbook of before 2007, or with a password, or another file",
    b"SQLite format 3\0": "a database of SQLite",
    b"$FL2@(#)": "a file of SPSS",
    b"$FL3@(#)": "a file of SPSS",
    b"<stata_dta>": "a file of Stata",
    **dict.fromkeys(OLD_STATA, "a file of Stata"),
    bytes(12) + b"\xc2\xea\x81\x60": "a file of SAS",
    **dict.fromkeys([b"RDX2\n", b"RDX3\n", b"X\n\0\0\0\2", b"X\n\0\0\0\3"], OF_R),
    b"ARROW1\0\0": "a file of Arrow or Feather",
    b"Obj\x01": "a file of Avro",
    b"\x89HDF\r\n\x1a\n": "a file of HDF5",
    b"\x93NUMPY": "a file of numpy",
    b"%PDF-": "a PDF",
    b"{\\rtf": "a document",
    b"\x89PNG\r\n\x1a\n": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}
#: What else may be in a ZIP, by a folder or file of it.
ZIPPED = {
    "xl/": "an Excel workbook",
    "word/": "a document of Word",
    "Index/": "a sheet of Numbers",
    "mimetype": "a sheet of LibreOffice, or another OpenDocument file",
}
#: What a text is that is no table.
TEXTS = {
    r"<!doctype html|<html": "a page of the web",
    r"<\?xml|<svg": "XML",
    r"[\[{]\s*+[\[{\"]": "JSON",
}
_TEXTS = {re.compile(rf"\s*+(?:{start})", re.IGNORECASE): kind for start, kind in TEXTS.items()}
SAVE = "save the table as CSV in UTF-8, or as Parquet"
SAVE_IN_R = "in R save the table x by arrow::write_parquet(x, 'x.parquet') or write.csv(x, 'x.csv', row.names = FALSE)"


def require_unpacked(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a regular file that is no text and no Parquet, and say what it is.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/votes.csv"
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"SQLite format 3\\0")
    >>> require_unpacked("votes.csv", path)
    Traceback (most recent call last):
        ...
    ValueError: votes.csv is a database of SQLite; save the table as CSV in UTF-8, or as Parquet
    """
    with open(path, "rb") as file:
        start = file.read(32)
    kind = kind_of(start)
    if kind.startswith("compressed") and not name.lower().endswith(R_NAMES):
        raise ValueError(f"{name} is {kind}; unpack it, or save it as CSV or Parquet")
    if start.startswith(b"PK\x03\x04"):
        raise ValueError(f"{name} is {_in_zip(path)}")
    if kind == OF_R or str(name).lower().endswith(R_NAMES):
        raise ValueError(f"{name} is {OF_R}; {SAVE_IN_R}")
    if kind:
        raise ValueError(f"{name} is {kind}; {SAVE}")


def kind_of(start: bytes) -> str:
    """What a file is that begins so, and is no text; empty where it may be one.

    Examples
    --------
    >>> kind_of(b"%PDF-1.7"), kind_of(b"who,what")
    ('a PDF', '')
    """
    packed = next((kind for mark, kind in PACKED.items() if start.startswith(mark)), "")
    if packed:
        return f"compressed ({packed})"
    if start.startswith(b"PK\x03\x04"):
        return "a workbook, or another ZIP"
    kind = next((kind for mark, kind in BINARY.items() if start.startswith(mark)), "")
    duck = start[8:12] == b"DUCK" and b"\0" in start  # which names of columns may spell, too
    return "a database of DuckDB" if duck else kind


def _in_zip(path: str | os.PathLike[str]) -> str:
    names: list[str] = []
    with suppress(OSError, ValueError, NotImplementedError, zipfile.BadZipFile), zipfile.ZipFile(path) as file:
        names = file.namelist()
    kind = next((kind for start, kind in ZIPPED.items() if any(it.startswith(start) for it in names)), None)
    return f"{kind}; {SAVE}" if kind else "compressed (ZIP); unpack it, or save it as CSV or Parquet"


def require_table(name: str, text: str) -> None:
    """Refuse a text that begins as no header does.

    Examples
    --------
    >>> require_table("votes.csv", '[{"who": 1}]')
    Traceback (most recent call last):
        ...
    ValueError: votes.csv is JSON; save the table as CSV in UTF-8, or as Parquet
    """
    for start, kind in _TEXTS.items():
        if start.match(text):
            raise ValueError(f"{name} is {kind}; {SAVE}")
