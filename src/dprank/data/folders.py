"""One table in several files of Parquet: those of a folder, or that a pattern names."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import numpy as np

from dprank._require import shown
from dprank.data.arrow_texts import parquet_texts, plain_type
from dprank.data.containers import CONTAINERS, PARQUET, Given, Sniffed
from dprank.data.files import parquet_file, reading, require_plain
from dprank.data.uuids import uuid_columns

__all__ = ["files_of", "read_files"]


def files_of(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The files of Parquet in a folder, or those that a pattern like ``part-*.parquet`` names; none of a file.

    What begins with a dot or an underscore is none, as programs mark what is no part of the table.

    Raises
    ------
    ValueError
        Where a file is there twice, by whatever names, or a folder has folders with more.

    Examples
    --------
    >>> files_of("votes.csv")
    ()
    """
    named = os.path.expanduser(path)
    if os.path.isfile(named):
        return ()
    if os.path.isdir(named):
        found = [it for it in Path(named).iterdir() if not it.name.startswith((".", "_"))]
        parts = [it for it in found if PARQUET.is_called(it.name)]
        if inner := next((it for it in found if it.is_dir() and files_of(it)), None) if parts else None:
            raise ValueError(
                f"{path} has files of Parquet, and a folder with more: {inner.name}; put them in one folder"
            )
        if other := next((it for it in sorted(found) if parts and it not in parts and _is_table(it)), None):
            raise ValueError(f"{path} has files of Parquet, and another table: {other.name}; take it out of the folder")
    else:
        parts = [Path(it) for it in glob.glob(named)] if "*" in os.path.basename(named) else []
    seen: dict[tuple[int, int], Path] = {}
    for part in sorted(parts):
        status = require_plain(part, contained=True).stat()
        if (other := seen.setdefault((status.st_dev, status.st_ino), part)) is not part:
            raise ValueError(f"{part} is {other} again; every file once is needed")
    return tuple(sorted(parts))


def read_files(given: Given, files: tuple[Path, ...]) -> Sniffed:
    """Their rows, one file after the other, in the order of their names.

    Raises
    ------
    ValueError
        Naming the file: where it is no Parquet, or has other columns than the first, or of another kind: one person may
        be written otherwise in numbers than in text. A column that is empty in a file is of any kind, and numbers are
        of one, as a missing one makes whole numbers floats.
    """
    import pandas as pd

    for key, value in given.layout.said.items():
        raise ValueError(f"{key} = {shown(value)}; {given.name} is Parquet, of which it says nothing")
    first = _kinds(files[0])
    for path in files[1:]:
        own = _kinds(path)
        if own.keys() != first.keys() or any(len({it, own[name]} - {None}) > 1 for name, it in first.items()):
            raise ValueError(f"{path} has other columns, or of another kind, than {files[0]}; one table is needed")
        first = {name: it or own[name] for name, it in first.items()}
    found = [parquet_texts(it, given.people) for it in files]
    others = {name: held for _, them in found for name, held in them.items()}
    frame = pd.concat([it.drop(columns=[*others], errors="ignore") for it, _ in found], ignore_index=True)
    said = f"Parquet, {len(files)} file{'s' * (len(files) != 1)}"
    return Sniffed(frame, said, others, np.zeros(len(frame), bool))


def _is_table(path: Path) -> bool:
    return not path.name.endswith(".txt") and any(it.is_called(path.name) for it in CONTAINERS)


def _kinds(path: Path) -> dict[str, str | None]:
    """Kinds of the columns, by name: numbers, UUIDs, texts and other types; None of one that is empty."""
    with parquet_file(path) as file, reading(path, "Parquet"):
        uuids = uuid_columns(file)
        return {it.name: "UUIDs" if it.name in uuids else _kind(it.type) for it in file.schema_arrow}


def _kind(of: Any) -> str | None:
    import pyarrow as pa

    of = plain_type(of)
    number = pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of)
    return None if pa.types.is_null(of) else "numbers" if number else str(of)
