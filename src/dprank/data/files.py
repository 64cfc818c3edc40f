"""Tables out of files. What pandas and Arrow say of a file quotes it, and is never passed on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dprank._require import require_columns, require_label, shown

__all__ = ["is_parquet", "read_table", "reading"]

# the only words of a reader that are repeated: they say where
_RAGGED = re.compile(r"Error tokenizing data\. C error: Expected \d+ fields in line (\d+), saw \d+\s*")


def read_table(path: Any, labels: Sequence[str], numbers: Sequence[str] = ()) -> Any:
    """A CSV or Parquet file as a frame that has each of the columns once.

    Parameters
    ----------
    path : path
        Parquet if its name or its first bytes say so, else CSV.
    labels : sequence of str
        Columns that stay as they are written: an item may be called 01, or None.
    numbers : sequence of str
        Columns of numbers, where NA, NaN and null are none.

    Examples
    --------
    >>> import dprank
    >>> read_table(dprank.example("answers.csv"), ["first", "second", "person"], ["outcome"]).iloc[0].to_dict()
    {'first': 'London', 'second': 'Paris', 'outcome': 0.0, 'person': '1'}
    """
    import pandas as pd

    for name in (*labels, *numbers):
        require_label("column", name)
    if is_parquet(path):
        with reading(path, "Parquet"):
            # with pandas' own types one empty cell makes floats of all whole numbers of a column
            return pd.read_parquet(path, dtype_backend="numpy_nullable")
    gone: dict[Any, list[str]] = {label: [""] for label in labels}
    gone |= {number: ["", "NA", "NaN", "nan", "NULL", "null"] for number in numbers}
    options: Any = {"dtype": dict.fromkeys(labels, str), "na_values": gone, "keep_default_na": False}
    with reading(path, "CSV"):
        frame = pd.read_csv(path, low_memory=False, **options)
        header_only: Any = {"header": None, "nrows": 1, "dtype": str, "na_filter": False}
        again = pd.read_csv(path, **header_only) if isinstance(path, str | os.PathLike) else None
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes what is too much for names of rows
        raise ValueError(f"{_named(path)} is no CSV table: its rows have more fields than its header")
    if again is not None and len(again):  # pandas renames a column that comes again
        header = again.iloc[0].tolist()
        require_columns(header, [name for name in (*labels, *numbers) if header.count(name) > 1])
    return frame


def is_parquet(path: Any) -> bool:
    """Whether a path is that of a Parquet file, by its name or by its first bytes.

    Examples
    --------
    >>> is_parquet("answers.PQ"), is_parquet("answers.csv")
    (True, False)
    """
    if not isinstance(path, str | os.PathLike):
        return False
    if str(path).lower().endswith((".parquet", ".pq")):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except (OSError, ValueError):  # the reader says what is wrong
        return False


@contextmanager
def reading(path: Any, kind: str) -> Iterator[None]:
    """Refuse what is no table of this kind, in words of our own.

    Examples
    --------
    >>> with reading("answers.csv", "CSV"):
    ...     raise KeyError("what the file holds")
    Traceback (most recent call last):
        ...
    ValueError: answers.csv is no CSV table
    """
    name = _named(path)
    if len(name.splitlines()) > 1:
        raise ValueError("path has several lines; the name of a file is needed, not what is in it")
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        ragged = _RAGGED.fullmatch(str(error))
        where = f": line {ragged[1]} has more fields than those above it" if ragged else ""
        where += "; text in UTF-8 is needed" if isinstance(error, UnicodeError) else ""
        raise ValueError(f"{name} is no {kind} table{where}") from None


def _named(path: Any) -> str:
    return str(path) if isinstance(path, str | os.PathLike) else shown(path)
