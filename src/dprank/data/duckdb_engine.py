"""Counting by DuckDB: people are split by a hash, in files, and bounded a bucket at a time."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dprank._require import require_whole, shown
from dprank.data.count_files import Counts
from dprank.data.engine_job import Job, require_alike
from dprank.data.engine_sql import DUCKDB, shard_sql

__all__ = ["BUCKET_ROWS", "by_duckdb", "split_by_duckdb"]

#: Rows that are bounded at a time.
BUCKET_ROWS = 2_000_000
_MOST_BUCKETS = 512
#: Labels that are looked up at a time.
_BATCH = 200_000
#: Types of whole numbers that fit into 63 bits if they are at least 0.
_SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def by_duckdb(job: Job, memory: str, threads: int | None, folder: Any) -> Counts:
    """Counts of a job: O(rows) time, and memory that does not grow with them."""
    columns = require_alike(job)
    with tempfile.TemporaryDirectory(prefix="dprank-", dir=folder) as place, _duckdb(place, memory, threads) as run:
        _given(run, job, columns)
        [(rows,)] = run("SELECT count(*) FROM given")
        mapped = job.declared.person is not None and not _plain_numbers(run)
        _look_up(run, job, [name for name in columns if name != "person" or mapped])
        buckets = min(_MOST_BUCKETS, max(1, math.ceil(rows / BUCKET_ROWS / job.shards)))
        coded = job.coded(mapped, buckets)
        if buckets == 1:
            run(f"CREATE TABLE coded AS {coded}")
            found: list[Path | None] = [None]
        else:
            run(f"COPY ({coded}) TO '{_quoted(place)}/rows' (FORMAT parquet, PARTITION_BY (bucket))")
            found = [*sorted(Path(place, "rows").iterdir())]
        tables, reasons = [], Counter[int]()
        for bucket in found:
            if bucket is not None:
                files = _quoted(str(bucket / "*.parquet"))
                run(f"CREATE OR REPLACE TEMP VIEW coded AS SELECT * FROM read_parquet('{files}')")
            tables.append(run(job.counted, "numpy"))
            reasons.update(dict(run("SELECT reason, count(*) FROM coded GROUP BY reason")))
        # of one shard nobody counts the rows but the text itself
        total = rows if job.shards == 1 else reasons.total()
        engine = f"duckdb {version('duckdb')}"
        return job.result(job.summed(tables), total, reasons, engine, rows - total)


def split_by_duckdb(job: Job, out: Path, memory: str, threads: int | None) -> list[Path]:
    """Files of the rows of each shard, in folders of `out`."""
    columns = require_alike(job)
    out.mkdir(mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".dprank-", dir=out) as place, _duckdb(place, memory, threads) as run:
        _given(run, job, columns)
        mapped = not _plain_numbers(run)
        _look_up(run, job, ["person"] if mapped else [])
        who = "persons.code" if mapped else "CAST(given.person AS BIGINT)"
        join = " LEFT JOIN persons ON given.person IS NOT DISTINCT FROM persons.label" if mapped else ""
        once = {it: name for name, it in columns.items()}
        names = ", ".join(f"given.{name} AS {_name(it)}" for it, name in once.items())
        rows = f"SELECT {names}, {shard_sql(who, -1, job.shards)} AS dprank_shard FROM given{join}"
        run(f"COPY ({rows}) TO '{_quoted(place)}/rows' (FORMAT parquet, PARTITION_BY (dprank_shard))")
        folders = [out / f"{at}-of-{job.shards}" for at in range(1, job.shards + 1)]
        for at, target in enumerate(folders):
            made = Path(place, "rows", f"dprank_shard={at}")
            if made.is_dir():
                made.rename(target)
            else:
                target.mkdir()
    return folders


@contextmanager
def _duckdb(place: str, memory: str, threads: int | None) -> Iterator[Callable[..., Any]]:
    """A function that runs SQL and gives rows, or columns; what DuckDB says quotes data, and is not passed on."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ValueError("duckdb is not installed: pip install 'dprank[duckdb]'") from None
    connection = duckdb.connect(f"{place}/tables.duckdb")

    def run(text: str, gives: str = "rows", **tables: Any) -> Any:
        try:
            for name, table in tables.items():
                connection.register(name, table)
            if gives == "arrow":
                return connection.sql(text).to_arrow_table()
            done = connection.execute(text)  # which binds the text once only
            return done.fetchnumpy() if gives == "numpy" else done.fetchall()
        except duckdb.OutOfMemoryException:
            raise ValueError(
                f"memory = {shown(memory)} is too little for DuckDB; say more, or take more shards"
            ) from None
        except duckdb.IOException:
            raise OSError("DuckDB cannot read its files, or the disk is full") from None
        except duckdb.Error as error:
            raise ValueError(f"DuckDB cannot count these files: {type(error).__name__}") from None
        finally:
            for name in tables:
                connection.unregister(name)

    try:
        try:
            connection.execute(f"SET memory_limit = '{_quoted(str(memory))}'")
        except duckdb.Error:
            raise ValueError(f"memory = {shown(memory)}; a size is needed, as 4GB") from None
        if threads is not None:
            connection.execute(f"SET threads = {require_whole('threads', threads, 1, 1 << 10)}")
        connection.execute(f"SET temp_directory = '{_quoted(place)}/spilled'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("; ".join(DUCKDB))
        yield run
    finally:
        connection.close()


def _given(run: Callable[..., Any], job: Job, columns: dict[str, str]) -> None:
    renamed = ", ".join(f"{_name(it)} AS {name}" for name, it in columns.items())
    paths = ", ".join(f"'{_quoted(path)}'" for path in job.files)
    run(f"CREATE TEMP VIEW given AS SELECT {renamed} FROM read_parquet([{paths}], hive_partitioning = false)")


def _look_up(run: Callable[..., Any], job: Job, columns: Iterable[str]) -> None:
    """Tables of labels and codes of these columns."""
    for name in columns:
        run(f"CREATE TABLE labels AS SELECT DISTINCT {name} AS label FROM given")
        run(f"CREATE TABLE {name}s AS SELECT label, CAST(0 AS BIGINT) AS code FROM labels LIMIT 0")
        [(rows,)] = run("SELECT count(*) FROM labels")
        for start in range(0, rows, _BATCH):
            some = run(f"SELECT label FROM labels WHERE rowid >= {start} AND rowid < {start + _BATCH}", "arrow")
            codes = job.looked_up(name, some.column("label").combine_chunks())
            run(f"INSERT INTO {name}s SELECT * FROM looked_up", looked_up=codes)
        run("DROP TABLE labels")


def _plain_numbers(run: Callable[..., Any]) -> bool:
    """Whether all persons are whole numbers that stand for themselves."""
    kind = run("SELECT typeof(person) FROM given LIMIT 1")
    if kind not in [[(it,)] for it in _SMALL]:
        return False
    [(least,)] = run("SELECT min(person) FROM given")
    return (least or 0) >= 0


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return text.replace("'", "''")
