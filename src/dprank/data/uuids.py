"""UUIDs in Arrow and Parquet, of which some versions of pyarrow make bytes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

__all__ = ["is_uuid", "uuid_columns", "uuids_of"]

#: What pyarrow, where it knows them, calls their type.
_UUID = "extension<arrow.uuid>"


def uuids_of(column: Any) -> list[str]:
    """UUIDs of an array of Arrow, as text; empty where there are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> uuids_of(pa.array([bytes(16), None], pa.binary(16)))
    ['00000000-0000-0000-0000-000000000000', '']
    """
    cells = [getattr(it, "bytes", it) for it in column.to_pylist()]
    return ["" if it is None else str(UUID(bytes=it)) for it in cells]


def uuid_columns(file: Any) -> set[str]:
    """Columns of UUIDs by what stands in a Parquet file: to pyarrow before 21 they may be bytes, to DuckDB never.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> who = pa.field("who", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table([[bytes(16)], [1]], pa.schema([who, ("n", pa.int8())])), f"{folder}/a.parquet")
    ...     with pq.ParquetFile(f"{folder}/a.parquet") as file:
    ...         uuid_columns(file)
    {'who'}
    """
    columns = (file.schema.column(at) for at in range(len(file.schema.names)))
    named = {it.path for it in columns if it.logical_type.type == "UUID"}
    found = set()
    for field in file.schema_arrow:
        bare = str(field.type) == "fixed_size_binary[16]"
        if is_uuid(field) or (bare and field.name in named):
            found.add(field.name)
    return found


def is_uuid(field: Any) -> bool:
    """Whether a field of Arrow says that it holds UUIDs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_uuid(pa.field("who", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"}))
    True
    """
    said = (field.metadata or {}).get(b"ARROW:extension:name") == b"arrow.uuid"
    return str(field.type) == _UUID or (said and str(field.type) == "fixed_size_binary[16]")
