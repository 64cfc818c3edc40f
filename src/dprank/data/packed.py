"""A table of text in gzip or zstd: unpacked in a stream, and looked at first, so that no bomb takes memory."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dprank._require import require_extra
from dprank.data.containers import CONTAINERS, START, Given, Sniffed, container_of, damaged, text_in
from dprank.data.files import require_plain
from dprank.data.kinds import kind_of
from dprank.data.layout import Layout

__all__ = ["CHUNK", "MOST_BYTES", "begun", "chunks", "read_packed", "unpacked"]

#: More must be unpacked by whoever has it, or be Parquet, which need not be.
MOST_BYTES = 1 << 30
CHUNK = 1 << 20
#: Containers that pack a text.
_TEXTS = ("gzip", "zstd")


def chunks(file: Any) -> Iterator[bytes]:
    """What a file holds, a piece at a time.

    Examples
    --------
    >>> import io
    >>> list(chunks(io.BytesIO(b"who")))
    [b'who']
    """
    while chunk := file.read(CHUNK):
        yield chunk


def read_packed(given: Given) -> Sniffed:
    """A text that is compressed, as a CSV or JSON is read.

    Raises
    ------
    ValueError
        Naming the file: where it is damaged, unpacks to more than `MOST_BYTES`, or holds what is no text.
    """
    how = container_of(given.path).name
    start = _start(given, how)
    marked = (it.name for it in CONTAINERS if it.marks and start.startswith(it.marks, it.mark_at))
    if kind := kind_of(start) or next(marked, ""):
        raise ValueError(f"{given.name} holds {kind}, in {how}: only text is read so; unpack it")
    inner = text_in(start, given.called)
    table = inner.read(replace(given, unpacked=b"".join(_pieces(given, how))))
    return replace(table, said=f"{table.said}, in {how}")


def unpacked(path: str | os.PathLike[str]) -> bytes:
    """What a file of text holds, also one in gzip or zstd.

    Raises
    ------
    ValueError
        Naming the file: where it is no text, damaged, or unpacks to more than `MOST_BYTES`.
    OSError
        Where it cannot be read.

    Examples
    --------
    >>> import dprank
    >>> unpacked(dprank.example("city.toc"))[:6]
    b'# FILE'
    """
    how = _packing(path)
    if how is None:
        return require_plain(path).read_bytes()
    given = Given(Path(path), Layout(), lambda name: False)
    if kind := kind_of(_start(given, how)):
        raise ValueError(f"{path} holds {kind}, in {how}: only text is read so; unpack it")
    return b"".join(_pieces(given, how))


def begun(path: str | os.PathLike[str], most: int) -> bytes:
    """How a file of text begins, also one in gzip or zstd.

    Examples
    --------
    >>> import dprank
    >>> begun(dprank.example("city.toc"), 6)
    b'# FILE'
    """
    how = _packing(path)
    if how is None:
        with require_plain(path).open("rb") as file:
            return file.read(most)
    return next(_pieces(Given(Path(path), Layout(), lambda name: False), how), b"")[:most]


def _packing(path: str | os.PathLike[str]) -> str | None:
    """What a file is packed in, if it is in one of text."""
    plain = require_plain(path, contained=True)
    with plain.open("rb") as file:
        start = file.read(START)
    found = (it.name for it in CONTAINERS if it.name in _TEXTS and it.begins(start, str(plain)))
    return next(found, None)


def _start(given: Given, how: str) -> bytes:
    """How the text begins; all of it has been unpacked once, and nothing was kept."""
    start, read = b"", 0
    for chunk in _pieces(given, how):
        start, read = start or chunk[:START], read + len(chunk)
        if read > MOST_BYTES:
            raise ValueError(
                f"{given.name} unpacks to more than {MOST_BYTES >> 20:,} MiB; unpack it, or save the table as Parquet"
            )
    return start


def _pieces(given: Given, how: str) -> Iterator[bytes]:
    """What is packed, a piece at a time."""
    try:
        with _opened(given, how) as file:
            yield from chunks(file)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise damaged(given.name, f"text in {how}") from None


def _opened(given: Given, how: str) -> Any:
    if how == "gzip":
        return gzip.open(Path(given.plain_path))
    arrow = require_extra("pyarrow", "parquet", f"{given.name}: zstd")
    return arrow.CompressedInputStream(arrow.OSFile(given.plain_path), "zstd")
