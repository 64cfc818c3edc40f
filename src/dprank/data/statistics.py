"""Files of SPSS and Stata, by pyreadstat: value labels are texts, and what is declared as missing is empty.

Its reader is one of C, which some damaged files end: it reads in a process of its own. All texts are taken as bytes,
and read here, each by itself: one that is none in the file's encoding refuses nothing.
"""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from dprank._require import require_extra
from dprank.data.cells import table_of, value_text
from dprank.data.containers import Given, Sniffed, container_of, damaged

__all__ = ["read_spss", "read_stata"]

#: What the other process does: nothing of dprank is imported there.
_PROGRAM = """
import json, sys
import pyreadstat
read, path = getattr(pyreadstat, sys.argv[1]), sys.argv[2]
columns, meta = read(path, output_format="dict", disable_datetime_conversion=True, encoding="LATIN1")
try:
    encoding = read(path, metadataonly=True, output_format="dict")[1].file_encoding
except Exception:
    encoding = None
labels = {name: list(of.items()) for name, of in meta.variable_value_labels.items()}
columns = {name: [None if it != it else it for it in cells] for name, cells in columns.items()}
print(json.dumps([columns, labels, meta.original_variable_types, encoding]))
"""
#: By how a format begins: from when a program counts, and how long one of its units is.
_SPSS, _STATA = datetime(1582, 10, 14), datetime(1960, 1, 1)
_SECOND, _DAY, _MILLISECOND = timedelta(seconds=1), timedelta(days=1), timedelta(milliseconds=1)
FORMATS = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "YMDHMS"), (_SPSS, _SECOND)),
    **dict.fromkeys(("%td", "%-td", "%d", "%-d"), (_STATA, _DAY)),
    **dict.fromkeys(("%tc", "%-tc"), (_STATA, _MILLISECOND)),
}


def read_spss(given: Given) -> Sniffed:
    """A file of SPSS, whole or compressed by it.

    Raises
    ------
    ValueError
        Naming the file, where it is not whole, has no columns, or pyreadstat is absent.
    """
    return _table(given, "read_sav")


def read_stata(given: Given) -> Sniffed:
    """A file of Stata; raises as `read_spss`."""
    return _table(given, "read_dta")


def _table(given: Given, reader: str) -> Sniffed:
    kind = container_of(given.path).name
    require_extra("pyreadstat", "statistics", f"{given.name}: {kind}")
    columns, labels, formats, encoding = _apart(given, reader, kind)
    if not columns:
        raise ValueError(f"{given.name} is empty: {kind} without a column")
    plain = _reader(given, encoding)
    names = [plain(name) for name in columns]
    texts = [
        _column(cells, labels.get(name, []), _writer(formats.get(name) or "", given.people(plain(name)), plain), plain)
        for name, cells in columns.items()
    ]
    return Sniffed(table_of(names, texts), kind.partition(" of ")[2] + ", value labels as texts")


def _apart(given: Given, reader: str, kind: str) -> Any:
    """What the file holds, read in another process."""
    found = os.pathsep.join([*filter(None, sys.path)])
    asked = [sys.executable, "-c", _PROGRAM, reader, given.plain_path]
    done = subprocess.run(asked, env=os.environ | {"PYTHONPATH": found}, capture_output=True, check=False)
    if done.returncode or not done.stdout:
        raise damaged(given.name, kind) from None
    return json.loads(done.stdout)


def _reader(given: Given, found: str | None) -> Callable[[str], str]:
    r"""What makes a text of bytes, each of them a sign, by what the file, or its declaration, says of its encoding."""
    unicode = given.raw.startswith((b"<stata_dta><header><release>118", b"<stata_dta><header><release>119"))
    encoding = given.layout.encoding or found or ("utf-8" if unicode else "cp1252")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"{given.name} is in an encoding that is not known; say which by --encoding") from None

    def plain(text: str) -> str:
        return text if text.isascii() else text.encode("latin-1", "replace").decode(encoding, "backslashreplace")

    return plain


def _column(
    cells: Sequence[Any], labels: Sequence[Any], write: Callable[[Any], str], plain: Callable[[str], str]
) -> list[str]:
    """Texts of cells; a label that two codes have says neither, and both stay codes."""
    each = Counter(plain(label) for _, label in labels)
    meant = {code: plain(label) for code, label in labels if each[plain(label)] == 1}
    return ["" if it is None else meant[it] if it in meant else write(it) for it in cells]


def _writer(form: str, people: bool, plain: Callable[[str], str]) -> Callable[[Any], str]:
    """What makes a text of a cell, by the format of its column."""
    counted = next((FORMATS[it] for it in sorted(FORMATS, key=len, reverse=True) if form.startswith(it)), None)

    def write(cell: Any) -> str:
        if isinstance(cell, str):
            return plain(cell)
        try:
            return value_text(cell, people) if counted is None else value_text(counted[0] + cell * counted[1])
        except (OverflowError, ValueError):  # no day of any calendar
            return value_text(cell, people)

    return write
