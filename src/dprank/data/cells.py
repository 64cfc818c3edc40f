"""Cells of other programs as texts, each by itself; and rows of them as a table with a header."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dprank.data.answers import cell_text
from dprank.data.bounding import RUN_TOGETHER
from dprank.data.containers import Given, Sniffed
from dprank.data.files import MOST_COLUMNS

__all__ = ["grid_table", "table_of", "value_text"]


def value_text(value: Any, people: bool = False) -> str:
    r"""The text of a cell; empty where there is none, or where it holds several.

    A whole number is written without a point whether it is a float or not, a date as ISO 8601 has it, a time at
    midnight is none, and a truth value is TRUE or FALSE, as spreadsheets have it.

    Parameters
    ----------
    value : object
    people : bool
        Whether it is a label of `dprank.data.bounding.person_ids`: a float of 2^53 or more is nobody, as there whole
        numbers run together.

    Examples
    --------
    >>> [value_text(it) for it in (3.0, 0.5, True, None, math.nan, date(2026, 1, 2), datetime(2026, 1, 2, 9), [1])]
    ['3', '0.5', 'TRUE', '', '', '2026-01-02', '2026-01-02 09:00:00', '']
    >>> value_text(2.0**53), value_text(2.0**53, people=True), value_text(b"a\xff")
    ('9007199254740992', '', 'a\\xff')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        gone = value != value or (people and math.isfinite(value) and abs(value) >= RUN_TOGETHER)
        return "" if gone else cell_text(value)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):
        return cell_text(value) if value.is_finite() else ""
    known = isinstance(value, int | date | time | timedelta | UUID)
    return str(value) if known else ""


def _moment(value: datetime) -> str:
    text = value.date().isoformat() if not (value.hour or value.minute or value.second or value.microsecond) else ""
    zone = value.isoformat()[-6:] if value.tzinfo else ""
    return text + zone if text else value.isoformat(" ")


def table_of(names: Sequence[str], columns: Sequence[Any], rows: int | None = None) -> Any:
    """A frame of columns of texts; a name may be there twice, and a column without one is called as pandas calls it.

    `rows` is how many there are, where there may be no column that says it.

    Examples
    --------
    >>> table_of(["who", ""], [["ann"], ["flu"]]).columns.tolist()
    ['who', 'Unnamed: 1']
    """
    import pandas as pd

    index = None if rows is None else range(rows)
    frame = pd.DataFrame(dict(enumerate(np.array(list(it), object) for it in columns)), index)
    frame.columns = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    return frame


def grid_table(given: Given, rows: Sequence[Sequence[Any]], said: str) -> Sniffed:
    """A table of a sheet: the first row with any cell is the header, and rows without any are none.

    A row with a cell beside the header's columns says things that nobody can tell apart: it is there without its cells.

    Parameters
    ----------
    given : Given
    rows : sequence of sequence
        Of one length.
    said : str
        What it is, in words.

    Raises
    ------
    ValueError
        Naming the file, where no row is a header.
    """
    layout = given.layout
    filled = [row for row in rows[layout.skip :] if any(map(_is_filled, row))]
    heads = [[value_text(it).strip() for it in row] for row in filled[: layout.header]]
    if len(heads) < layout.header:
        raise ValueError(f"{given.name} is empty: {said} has no header; a header and a row an answer are needed")
    named = [at for at in range(len(heads[0])) if any(row[at] for row in heads)]
    first, last = named[0], named[-1] + 1
    if last - first > MOST_COLUMNS:
        raise ValueError(f"{given.name} has more than {MOST_COLUMNS:,} columns")
    names = layout.named([row[first:last] for row in heads])
    body = filled[layout.header :]
    beyond = np.array([any(map(_is_filled, (*row[:first], *row[last:]))) for row in body], bool)
    columns = [_column(given, name, [row[first + at] for row in body], beyond) for at, name in enumerate(names)]
    return Sniffed(table_of(names, columns), said, beyond=beyond)


def _is_filled(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _column(given: Given, name: str, values: Sequence[Any], beyond: NDArray[np.bool_]) -> list[str]:
    people = given.people(name)
    return ["" if gone else value_text(it, people) for it, gone in zip(values, beyond.tolist(), strict=True)]
