"""The same tables in what people have besides text and Parquet: packed, workbooks, JSON, Arrow, databases …"""

from __future__ import annotations

import bz2
import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from workbooks import write_ods, write_xlsx

#: What XML cannot hold.
_NO_XML = {at: None for at in range(32) if chr(at) not in "\t\n\r"} | dict.fromkeys(range(0xD800, 0xE000))


def plain(value: Any) -> str:
    """As whoever saves a text writes it."""
    return value if isinstance(value, str) else str(value)


def native(value: Any) -> Any:
    """What a workbook or a database has a type for; all else as text."""
    return value if value is None or isinstance(value, bool | float) or _short(value) else plain(value)


def _short(value: Any) -> bool:
    return isinstance(value, int) and abs(value) < 2**53


def in_xml(value: Any) -> Any:
    """A cell of a workbook."""
    if isinstance(value, float) and not abs(value) < 1e300:
        return str(value)
    value = native(value)
    return value.translate(_NO_XML) if isinstance(value, str) else value


def workbook(rng: Random, path: Path, header: list[str], rows: list[list[Any]]) -> list[str]:
    """One of one sheet or of two, and the flag that says which."""
    cells = [[in_xml(value) for value in row] for row in (header, *rows)]
    others: dict[str, list[list[Any]]] = rng.choice([{}, {}, {"Notes": [["nothing"]]}, {"Notes": []}])
    (write_xlsx if path.suffix == ".xlsx" else write_ods)(path, {"Answers": cells, **others})
    return ["--sheet", rng.choice(["Answers", "Answers", "1", "Notes", "3"])] if others or rng.random() < 0.1 else []


def arrow_file(rng: Random, path: Path, table: Any) -> list[str]:
    """A file of Arrow, or a stream."""
    import pyarrow as pa

    made = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, made(file, table.schema) as out:
        out.write_table(table, max_chunksize=rng.choice([None, 1, 7]))
    return []


def database(rng: Random, path: Path, header: list[str], rows: list[list[Any]]) -> list[str]:
    """A table of SQLite, and a query for all of it or some."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in header)
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"CREATE TABLE votes ({names})")
        file.executemany(
            f"INSERT INTO votes VALUES ({', '.join('?' * len(header))})", [[native(it) for it in row] for row in rows]
        )
        file.commit()
    query = rng.choice(
        ["select * from votes"] * 6 + ["select * from votes limit 5", "select 1", "votes", "drop table votes"]
    )
    return ["--sql", query] if rng.random() < 0.95 else []


def records(rng: Random, path: Path, header: list[str], rows: list[list[Any]]) -> list[str]:
    """JSON, or JSON a line; keys of what is empty are left out, mostly."""
    lack = rng.random() < 0.5
    made = [
        {name: native(it) for name, it in zip(header, row, strict=False) if not (lack and it in ("", None))}
        for row in rows
    ]
    text = "\n".join(map(json.dumps, made)) if ".jsonl" in path.name else json.dumps(made)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return []


def statistics(rng: Random, path: Path, header: list[str], rows: list[list[Any]]) -> list[str]:
    """A file of Stata, all text; such names as Stata takes."""
    import pandas as pd
    import pyreadstat

    cells = [[plain(it)[:200].encode(errors="replace").decode().replace("\0", "") for it in row] for row in rows]
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(pd.DataFrame(cells, columns=header, dtype=object), str(path))
    return []


def packed(rng: Random, path: Path, text: bytes) -> list[str]:
    """Text that is packed, whole or cut off; or in a way that nobody here unpacks."""
    import pyarrow as pa

    whole = {".gz": gzip.compress, ".zst": lambda it: pa.compress(it, "zstd").to_pybytes(), ".bz2": bz2.compress}
    raw = whole[path.suffix](text)
    path.write_bytes(raw if rng.random() < 0.9 else raw[: rng.randrange(len(raw))])
    return []


#: By the end of a name: how often it is drawn, and what writes it.
OF_ROWS: dict[str, tuple[int, Callable[..., list[str]]]] = {
    ".xlsx": (5, workbook),
    ".ods": (3, workbook),
    ".json": (3, records),
    ".jsonl": (3, records),
    ".jsonl.gz": (1, records),
    ".sqlite": (4, database),
    ".dta": (1, statistics),
    ".sav": (1, statistics),
}
OF_TEXT = {".csv.gz": 3, ".csv.zst": 2, ".tsv.gz": 1, ".csv.bz2": 1}
OF_ARROW = {".arrow": 2, ".feather": 2, ".arrows": 1}
