"""Cells of Arrow and Parquet as texts: each by itself, so that no cell changes what is read of another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from dprank._require import require_extra
from dprank.data.answers import cell_text
from dprank.data.bounding import RUN_TOGETHER
from dprank.data.containers import Given, Sniffed
from dprank.data.files import MOST_COLUMNS, parquet_file, reading
from dprank.data.uuids import is_uuid, uuid_columns, uuids_of

__all__ = ["arrow_texts", "is_engine_type", "is_text_type", "parquet_texts", "plain_type", "read_arrow", "read_parquet"]

#: What pandas calls the rows, if nobody does.
_UNNAMED = "__index_level_"


def parquet_texts(
    path: str | os.PathLike[str], people: Callable[[str], bool] = lambda name: False
) -> tuple[Any, dict[str, str]]:
    """A Parquet file as a frame of texts, and what else is in it: columns of other things, which are left alone.

    Parameters
    ----------
    path : path
    people : callable
        Whether a column, by its name, holds people: labels of `dprank.data.bounding.person_ids`.

    Raises
    ------
    ValueError
        Where it is no Parquet file, has too many columns, or pyarrow is absent.

    Notes
    -----
    O(cells). Which columns can be read is settled by their types alone.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"n": [1.0, None, 0.5], "t": [pd.Timedelta(1)] * 3}).to_parquet(f"{folder}/a.parquet")
    ...     frame, others = parquet_texts(f"{folder}/a.parquet")
    >>> frame["n"].tolist(), others
    (['1', '', '0.5'], {'t': 'duration[ns]'})
    """
    with parquet_file(path) as file:
        with reading(path, "Parquet"):
            schema, many = file.schema_arrow, len(_own(file.schema_arrow))
        _require_few(path, many)
        with reading(path, "Parquet"):
            read = lambda fit: file.read(columns=list(fit))  # noqa: E731
            return _texts(schema, file.metadata.num_rows, read, uuid_columns(file), people)


def read_arrow(given: Given) -> Sniffed:
    """A file or a stream of Arrow, which Feather is, too: columns as of `parquet_texts`.

    Raises
    ------
    ValueError
        Where it is not whole, has too many columns, or pyarrow is absent.
    """
    arrow = require_extra("pyarrow", "parquet", f"{given.name}: Arrow")
    with arrow.memory_map(given.plain_path) as mapped:
        with reading(given.name, "Arrow"):
            is_file = mapped.read(6) == b"ARROW1"
            mapped.seek(0)
            with (arrow.ipc.open_file if is_file else arrow.ipc.open_stream)(mapped) as reader:
                table = reader.read_all()
            many = len(_own(table.schema))
        _require_few(given.name, many)
        with reading(given.name, "Arrow"):
            for column in table.columns:
                _require_whole(column)
            uuids = {it.name for it in table.schema if is_uuid(it)}
            read = lambda fit: table.select([name for name in table.column_names if name in fit])  # noqa: E731
            frame, others = _texts(table.schema, table.num_rows, read, uuids, given.people)
    return Sniffed(frame, "Arrow", others)


def _require_whole(column: Any) -> None:
    """Refuse places of texts that are beyond their bytes, whose reading would end the process; not bytes of a cell."""
    import pyarrow as pa

    for chunk in column.chunks:
        chunk.validate()
        parts = [chunk.indices, chunk.dictionary] if pa.types.is_dictionary(chunk.type) else [chunk]
        for part in parts:
            plain = plain_type(part.type) == pa.string()
            _as_bytes(part).validate(full=True) if plain else part.validate(full=is_text_type(part.type))


def _as_bytes(array: Any) -> Any:
    """Texts as the bytes that they are, UTF-8 or not."""
    import pyarrow as pa

    views = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    return array.view(views.get(array.type, pa.binary_view()))


def _own(schema: Any) -> list[str]:
    """Names of columns that somebody named."""
    return [name for name in schema.names if not name.startswith(_UNNAMED)]


def _require_few(path: Any, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise ValueError(f"{path} has more than {MOST_COLUMNS:,} columns")


def _texts(
    schema: Any, rows: int, read: Callable[[set[str]], Any], uuids: set[str], people: Callable[[str], bool]
) -> tuple[Any, dict[str, str]]:
    """A frame of the columns that are read, and the types of others; `read` gives columns by their names."""
    import pandas as pd

    names, texts = _own(schema), dict[str, Any]()
    named, each = set(names), Counter(names)
    kinds = [(it.name, it.type) for it in schema if it.name in named]
    fit = {name for name, kind in kinds if each[name] == 1 and is_text_type(kind)}
    table = read(fit)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in fit:  # a name with a dot is that of a column inside of another, too
            cells = uuids_of(column) if name in uuids else arrow_texts(column, people(name))
            texts[name] = np.array(cells, object)
    others = {name: "several columns" if each[name] > 1 else str(kind) for name, kind in kinds if name not in texts}
    return pd.DataFrame(texts, index=range(rows), columns=[name for name in names if name in texts]), others


def read_parquet(given: Given) -> Sniffed:
    """A Parquet file, as `parquet_texts` explains it."""
    frame, others = parquet_texts(given.path, given.people)
    return Sniffed(frame, "Parquet", others)


def is_text_type(kind: Any) -> bool:
    """Whether cells of an Arrow type are read: numbers, texts, truth values, dates, dates with times, UUIDs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_text_type(pa.date32()), is_text_type(pa.list_(pa.int8()))
    (True, False)
    """
    return _writer(kind) is not None


def plain_type(kind: Any) -> Any:
    """The type of the cells alone: texts are one type, however long they may be, or whether each is kept once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> plain_type(pa.large_string()), plain_type(pa.dictionary(pa.int8(), pa.string())), plain_type(pa.int8())
    (DataType(string), DataType(string), DataType(int8))
    """
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = pa.types.is_large_string(value) or pa.types.is_string_view(value)
    return pa.string() if is_text else value


def is_engine_type(kind: Any) -> bool:
    """Whether DuckDB and Spark hold every cell of an Arrow type as it is.

    Of dates with times some are beyond their range, which refuses a file for the sake of a cell; decimals of more than
    38 digits become floats in DuckDB, which takes two people for one; UUIDs and floats of 16 bits are none of Spark's.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_engine_type(pa.date32()), is_engine_type(pa.timestamp("ms")), is_engine_type(pa.decimal256(40, 0))
    (True, False, False)
    """
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    foreign = pa.types.is_timestamp(value) or pa.types.is_float16(value) or isinstance(value, pa.BaseExtensionType)
    return not foreign and not (pa.types.is_decimal(value) and value.precision > 38)


def arrow_texts(column: Any, people: bool = False) -> list[str]:
    """The text of every cell; empty where there is none.

    A number is written in no more digits than it needs, whatever its column holds: one empty cell makes floats of all
    whole numbers, in many programs, and a decimal of two places writes 1.00. Bytes that are no UTF-8 are written
    ``\\xff``.

    Parameters
    ----------
    column : pyarrow.Array or ChunkedArray
        Of a type that `is_text_type` takes.
    people : bool
        Whether they are labels of `dprank.data.bounding.person_ids`: then floats of fewer bits are the values that
        they have, and those of 2^53 or more are nobody, as there whole numbers run together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_texts(pa.array([2.0, 0.1, float("nan"), None])), arrow_texts(pa.array([1, 2], pa.decimal128(5, 2)))
    (['2', '0.1', '', ''], ['1', '2'])
    >>> single = pa.array([0.1, 1e30], pa.float32())
    >>> arrow_texts(single), arrow_texts(single, people=True)
    (['0.1', '1e+30'], ['0.10000000149011612', ''])
    """
    chunks = getattr(column, "chunks", [column])
    return [text for chunk in chunks for text in _chunk(chunk, people)]


def _chunk(array: Any, people: bool = False) -> list[str]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        known = np.array([*_chunk(array.dictionary, people), ""], object)
        # by its place, and the empty text at the end where there is none
        at = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        at[array.indices.is_null().to_numpy(zero_copy_only=False)] = len(known) - 1
        return list(known[at])
    writer = _writer(kind)
    if people and pa.types.is_floating(kind):
        writer = _people
    elif people and pa.types.is_decimal(kind):
        writer = _digits
    assert writer is not None
    texts = np.array(writer(array), object)
    texts[array.is_null().to_numpy(zero_copy_only=False)] = ""
    return list(texts)


def _writer(kind: Any) -> Callable[[Any], list[str]] | None:
    """What makes texts of the cells of an array of this type; None where nothing does."""
    import pyarrow as pa

    is_ = pa.types
    if is_.is_dictionary(kind):
        return _chunk if is_text_type(kind.value_type) else None
    if str(kind) == "extension<arrow.uuid>":
        return uuids_of
    if is_.is_decimal(kind):
        return lambda array: [cell_text(it) for it in array.to_pylist()]
    if is_.is_boolean(kind) or is_.is_integer(kind) or is_.is_null(kind):
        return lambda array: [str(it) for it in array.to_pylist()]
    if is_.is_floating(kind):
        return _floats
    if is_.is_string(kind) or is_.is_large_string(kind):
        return lambda array: _bytes(array.cast(pa.large_binary()))
    if is_.is_string_view(kind):
        return lambda array: _bytes(array.cast(pa.binary_view()))
    if any(is_it(kind) for is_it in (is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary)):
        return _bytes
    if is_.is_date32(kind):
        return lambda array: _dates(array.view(pa.int32()), "D")
    if is_.is_date64(kind):
        return lambda array: _dates(array.view(pa.int64()), "ms")
    if is_.is_timestamp(kind):
        zone = "" if kind.tz is None else "+00:00"
        return lambda array: _dates(array.view(pa.int64()), kind.unit, zone)
    return None


def _floats(array: Any) -> list[str]:
    # str, not repr: numpy's says which type; and of the zeros there is one, or an engine that sees one picks for all
    texts = [str(it) for it in array.to_numpy(zero_copy_only=False) + 0]
    return ["" if text == "nan" else text.removesuffix(".0") for text in texts]


def _people(array: Any) -> list[str]:
    values = array.to_numpy(zero_copy_only=False).astype(np.float64) + 0
    beyond = np.isfinite(values) & (np.abs(values) >= RUN_TOGETHER)
    return [
        "" if gone or value != value else repr(value).removesuffix(".0")
        for value, gone in zip(values.tolist(), beyond.tolist(), strict=True)
    ]


def _digits(array: Any) -> list[str]:
    return ["" if it is None else format(it, "f") for it in array.to_pylist()]


def _bytes(array: Any) -> list[str]:
    return [(it or b"").decode("utf-8", "backslashreplace") for it in array.to_pylist()]


def _dates(array: Any, unit: str, zone: str = "") -> list[str]:
    """As ISO 8601 has it, without a time at midnight; of a time zone the time in Greenwich."""
    moments = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64).astype(f"datetime64[{unit}]")
    return [_moment(text, zone) for text in np.datetime_as_string(moments).tolist()]


def _moment(text: str, zone: str) -> str:
    day, _, time = text.partition("T")
    if day == "Na":  # the least number is no moment to numpy
        return ""
    time = time.rstrip("0").rstrip(".") if "." in time else time
    return day + (f" {time}" if time.strip("0:") else "") + zone
