"""One table in several files of Parquet: those of a folder, or that a pattern names."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import numpy as np

from dprank._require import shown
from dprank.data.arrow_texts import parquet_texts, plain_type
from dprank.data.containers import PARQUET, Given, Sniffed
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
        Naming the file: where it is no Parquet, or has other columns, or of other types, than the first.
    """
    import pandas as pd

    for key, value in given.layout.said.items():
        raise ValueError(f"{key} = {shown(value)}; {given.name} is Parquet, of which it says nothing")
    first = _types(files[0])
    for path in files[1:]:
        if _types(path) != first:
            raise ValueError(f"{path} has other columns, or of other types, than {files[0]}; one table is needed")
    found = [parquet_texts(it, given.people) for it in files]
    frame = pd.concat([it for it, _ in found], ignore_index=True)
    return Sniffed(frame, f"Parquet, {len(files)} files", found[0][1], np.zeros(len(frame), bool))


def _types(path: Path) -> dict[str, Any]:
    """Types of the columns, by name; texts are one type, and UUIDs another."""
    with parquet_file(path) as file, reading(path, "Parquet"):
        uuids = uuid_columns(file)
        return {it.name: "UUIDs" if it.name in uuids else plain_type(it.type) for it in file.schema_arrow}
