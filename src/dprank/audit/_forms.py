"""Arrays, tables and files in other words: types of columns, kinds of tables, separators, quotes, formats."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.audit._words import ALL, FORM, ORDER, REAL, TYPES, WHOLE, Words, laid, typed
from dprank.data.files import as_pandas
from dprank.data.sniffing import SEPARATORS
from dprank.data.tallies import is_series

__all__ = [
    "FEWEST",
    "frames_apart",
    "is_foreign",
    "is_frame",
    "of_array",
    "of_bytes",
    "of_foreign",
    "of_frame",
    "of_series",
    "picked",
    "rows_apart",
]

#: Fewest rows of data that are made up.
FEWEST = 24


def is_frame(data: Any) -> bool:
    """Whether it is one of pandas, which whoever has one has imported.

    Examples
    --------
    >>> is_frame([[1]])
    False
    """
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def is_foreign(data: Any) -> bool:
    """Whether it is a table of polars or pyarrow.

    Examples
    --------
    >>> is_foreign([[1]])
    False
    """
    return type(data).__module__.partition(".")[0] in ("polars", "pyarrow") and hasattr(data, "to_pandas")


def picked(data: Any, rows: NDArray[np.intp]) -> Any:
    """These rows of a table, a Series or an array, in this order."""
    if is_frame(data) or is_series(data):
        return data.iloc[rows]
    return data.take(rows) if is_foreign(data) and hasattr(data, "take") else data[rows]


def frames_apart(data: Any, rng: np.random.Generator) -> Iterator[Any]:
    """A table of pandas of the same cells in other rows."""
    if len(data):
        at = _columns_apart(len(data), len(data.columns), rng)
        columns = {name: data[name].iloc[rows].to_numpy() for name, rows in zip(data.columns, at, strict=True)}
        yield data.iloc[at[0]].reset_index(drop=True).assign(**columns)


def _columns_apart(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Which rows a table of more rows takes of each column, so that who says what is otherwise."""
    return rng.integers(0, rows, (columns, max(2 * rows, FEWEST)))


def of_array(data: NDArray[Any], rng: np.random.Generator) -> Iterator[Words]:
    """Of another type, and laid out otherwise."""
    yield Words(TYPES, laid(typed(data, rng, WHOLE + REAL), rng))


def of_series(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    """Of a Series of pandas: entries in another order, of other types."""
    order = rng.permutation(len(data))

    def retyped(series: Any) -> Any:
        made = series.astype(typed(series.to_numpy(), rng, WHOLE + REAL).dtype)
        if all(isinstance(label, str) for label in made.index):
            made.index = made.index.astype(str(rng.choice(["object", "string"])))
        return made

    yield Words(ORDER, data.iloc[order], order)
    yield Words(TYPES, retyped(data))
    yield Words(ALL, retyped(data.iloc[order]), order)


def of_frame(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    """Of a table of pandas: rows in another order, columns of other types, as a table of pyarrow."""
    order = rng.permutation(len(data))

    def retyped(frame: Any) -> Any:
        kinds = {}
        for name in frame.columns:
            column = frame[name].to_numpy()
            numbers = column.dtype.kind in "iuf"
            kinds[name] = typed(column, rng, WHOLE + REAL).dtype if numbers else str(rng.choice(["object", "category"]))
        return frame.astype(kinds)

    yield Words(ORDER, data.iloc[order], order)
    yield Words(TYPES, retyped(data))
    if find_spec("pyarrow") is not None:
        import pyarrow

        table = None
        with suppress(pyarrow.ArrowException, TypeError, OverflowError):  # a column of values of several kinds
            table = pyarrow.Table.from_pandas(data, preserve_index=False)
        if table is not None:
            yield Words(FORM, table)
    yield Words(ALL, retyped(data.iloc[order]), order)


def of_foreign(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    """Of a table of polars or pyarrow: rows in another order, and as one of pandas."""
    order = rng.permutation(len(data))
    mixed = picked(data, order)
    yield Words(ORDER, mixed, order)
    yield Words(FORM, as_pandas(data))
    yield Words(ALL, as_pandas(mixed), order)


def of_bytes(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    """Of a file: Parquet, CSV in any form that is read, JSON or PrefLib."""
    return _of_parquet(data, rng) if data.startswith(b"PAR1") else _of_text(data, rng)


def _of_parquet(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    order, wider = rng.permutation(len(table)), {pyarrow.string(): pyarrow.large_string()}
    kinds = [wider.get(it.type, it.type) for it in table.schema]
    wide = table.cast(pyarrow.schema(list(zip(table.column_names, kinds, strict=True))))
    mixed = wide.take(order).select([table.column_names[at] for at in rng.permutation(table.num_columns)])
    yield Words(ORDER, _as_parquet(table.take(order)), order)
    yield Words(TYPES, _as_parquet(wide))
    yield Words(FORM, _as_parquet(table, row_group_size=2, compression="none", use_dictionary=False))
    yield Words(ALL, _as_parquet(mixed, row_group_size=2), order)


def _as_parquet(table: Any, **named: Any) -> bytes:
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(table, file, **named)
    return file.getvalue()


def _of_text(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    text = _text(data)
    if text.startswith("{"):
        yield from _of_json(text)
    elif text.startswith("#"):
        yield from _of_preflib(text, rng)
    else:
        yield from _of_csv(text, rng)


def _text(data: bytes) -> str:
    """What a file says; bytes that are no UTF-8 stay what they are."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    return data.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _of_json(text: str) -> Iterator[Words]:
    whole = json.loads(text)
    yield Words(FORM, json.dumps(dict(reversed(whole.items())), indent=3).encode())


def _of_preflib(text: str, rng: np.random.Generator) -> Iterator[Words]:
    lines = text.replace("\r\n", "\n").splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    rest = lines[len(head) :]
    if lines[: len(head)] == head and lines[-1].endswith("\n"):
        order = rng.permutation(len(rest))
        yield Words(ORDER, _bytes("".join([*head, *(rest[at] for at in order)])), order)
    yield Words(FORM, _bytes("".join(lines).replace("\n", "\r\n")))


def _of_csv(text: str, rng: np.random.Generator) -> Iterator[Words]:
    header, rows = _cells(text)
    order, across = rng.permutation(len(rows)), rng.permutation(len(header))
    whole = all(len(row) == len(header) for row in rows) and len(set(header)) == len(header)
    mixed = [rows[at] for at in order]
    table = [[row[at] for at in across] for row in [header, *mixed]] if whole else [header, *mixed]
    other = str(rng.choice(list(SEPARATORS)))
    yield Words(ORDER, _bytes(_written([header, *mixed])), order)
    yield Words(FORM, _bytes(_written([header, *rows], "\r\n", csv.QUOTE_ALL, other)))
    quoted = _written(table, "\r\n", csv.QUOTE_ALL)
    if not quoted.isascii():  # it may hold bytes that no other encoding has
        yield Words(ALL, _bytes(quoted), order)
    elif whole and find_spec("pyarrow") is not None and rng.random() < 0.5:
        import pyarrow

        columns = [pyarrow.array([row[at] or None for row in table[1:]], "string") for at in range(len(header))]
        yield Words(ALL, _as_parquet(pyarrow.table(columns, table[0]), row_group_size=2), order)
    else:
        yield Words(ALL, quoted.encode("utf-16"), order)


def rows_apart(data: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """A CSV of the same cells in other rows."""
    if data.startswith((b"PAR1", b"{", b"#")):
        return
    header, rows = _cells(_text(data))
    rows = [row for row in rows if len(row) == len(header)]
    if rows:
        at = _columns_apart(len(rows), len(header), rng)
        yield _bytes(_written([header, *([rows[row][column] for column, row in enumerate(one)] for one in at.T)]))


def _cells(text: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows, by the separator that the header has most often; a CR that ends no line is not known here."""
    lines = text.replace("\r\n", "\n")
    separator = max(SEPARATORS, key=lines.partition("\n")[0].count)
    try:
        if "\r" in lines:
            raise ValueError
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    except (ValueError, csv.Error):
        raise ValueError("the file is no table with a header: nobody knows other words for it") from None
    return header, rows


def _written(rows: list[list[str]], end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL, separator: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=end, quoting=quoting, delimiter=separator).writerows(rows)
    return file.getvalue()
