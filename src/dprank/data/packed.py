"""A table of text in gzip or zstd: unpacked in a stream, and looked at first, so that no bomb takes memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dprank._require import require_extra
from dprank.data.containers import CONTAINERS, START, Given, Sniffed, container_of, damaged, text_in
from dprank.data.kinds import kind_of

__all__ = ["CHUNK", "MOST_BYTES", "chunks", "read_packed"]

#: More must be unpacked by whoever has it, or be Parquet, which need not be.
MOST_BYTES = 1 << 30
CHUNK = 1 << 20


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
