"""Counting beyond memory and beyond one machine: one SQL text that DuckDB and Spark run, and numpy's numbers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from dprank._require import require_bool, require_extra, require_one_of, require_whole, shown
from dprank.data.accounts import REASONS, sniffed_as
from dprank.data.bounding import nameless, person_ids, shard_of
from dprank.data.comparisons import Design
from dprank.data.containers import PARQUET, container_of
from dprank.data.count_files import Counts
from dprank.data.counting import whole_counts
from dprank.data.declaration import Declaration
from dprank.data.duckdb_engine import by_duckdb, split_by_duckdb
from dprank.data.engine_job import Job, found_columns, require_alike
from dprank.data.files import is_parquet, require_plain
from dprank.data.layout import Layout
from dprank.data.sniffing import sniff
from dprank.data.spark_engine import by_spark

__all__ = ["ENGINES", "Engine", "count", "split"]

Engine = Literal["numpy", "duckdb", "spark"]
ENGINES = get_args(Engine)


def count(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    declaration: Declaration,
    *,
    per_person: int | None = None,
    design: Design = "any",
    ties: bool = True,
    shard: tuple[int, int] = (1, 1),
    engine: Engine = "numpy",
    memory: str = "4GB",
    threads: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    session: Any = None,
) -> Counts:
    """Exact counts of what files hold, or of one shard of their people: the same integers from every engine.

    Parameters
    ----------
    files : path or sequence of path
        One table in any number of files of one kind: Parquet, or for numpy what `Declaration.read` takes. A person's
        rows may be in any of them.
    declaration : Declaration
        Of comparisons or tallies.
    per_person : int, optional
        Answers, or items, of a person that count; None where one comparison is what is protected.
    design, ties
        As in `Comparisons.bounded`.
    shard : tuple of two int
        Which of how many, from 1: (3, 16) are the people whose hash is the third of sixteen. Rows of no person are in
        the first.
    engine : {"numpy", "duckdb", "spark"}
        In memory; on one machine, whatever the length of the files; on a cluster.
    memory : str
        What DuckDB may hold, such as "4GB"; more goes to `folder`.
    threads : int, optional
        Of DuckDB; as many as there are processors by default.
    folder : path, optional
        For DuckDB's files, which hold personal data, are this user's alone, and are removed at the end.
    session : pyspark.sql.SparkSession, optional
        Of Spark; a local one is made otherwise. Its workers must have dprank where a column has more than a hundred
        thousand labels that are no whole numbers of people.

    Raises
    ------
    ValueError
        Naming the file, the column, or the package that is missing.

    Notes
    -----
    DuckDB splits people into buckets by a hash, in files, and bounds a bucket at a time: O(rows) time, and memory that
    does not grow with the number of rows. Spark is handed the same text, and splits by itself. Neither draws anything:
    what a task that is run again keeps is what it kept.

    Examples
    --------
    >>> import dprank
    >>> columns = ("first", "second", "outcome")
    >>> declared = Declaration(
    ...     kind="comparisons",
    ...     items=["London", "Paris", "Rome"],
    ...     person="person",
    ...     columns=columns,
    ...     answers="outcome",
    ... )
    >>> count(dprank.example("answers.csv"), declared, per_person=1)
    Counts of 3 items, secret: 1 of 1 shards
    """
    given = _once(files)
    if not given:
        raise ValueError("files are missing; at least one is needed")
    if not isinstance(declaration, Declaration) or declaration.kind not in ("comparisons", "tallies"):
        raise ValueError("declaration is not one of comparisons or tallies: those can be counted by shards")
    if declaration.form != "long":
        raise ValueError(f"form = {declaration.form!r}; a row an answer, or a row an item of a person, is counted so")
    if declaration.times not in (None, "none"):
        raise ValueError(f"times = {shown(declaration.times)}; rows that stand for several are not counted by shards")
    require_one_of("engine", engine, ENGINES)
    require_one_of("design", design, get_args(Design))
    if design == "matching" and engine != "numpy":
        raise ValueError(f"engine = {engine!r}; design = 'matching' is bounded by the engine 'numpy' alone")
    require_bool("ties", ties)
    part, shards = _require_shard(shard)
    if per_person is None:
        if declaration.kind == "tallies" or design != "any":
            raise ValueError(f"per_person = None, design = {design!r}; say how many of a person's count")
    else:
        require_whole("per_person", per_person, 1)
        if declaration.person is None:
            raise ValueError("person = None; without it an answer alone can be protected: leave out per_person")
    if shards > 1 and declaration.person is None:
        raise ValueError("person = None; shards are of people: say which column names them")
    job = Job(tuple(map(str, given)), declaration, per_person, design, ties, part, shards)
    if engine == "numpy":
        return _by_numpy(job)
    if engine == "duckdb":
        return by_duckdb(job, memory, threads, folder)
    return by_spark(job, session)


def _once(files: Any) -> list[Any]:
    """Refuse a file that is there twice, by whatever names: its people would count twice."""
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    seen: dict[tuple[int, int], Any] = {}
    for path in given:
        found = require_plain(path, contained=True).stat()
        key = found.st_dev, found.st_ino
        if key in seen:
            raise ValueError(f"files: {path} is {seen[key]} again; every file once is needed")
        seen[key] = path
    return given


def _require_shard(shard: Any) -> tuple[int, int]:
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise ValueError(f"shard = {shown(shard)}; which of how many is needed, as (3, 16)")
    shards = require_whole("shards", shard[1], 1, 1 << 16)
    return require_whole("shard", shard[0], 1, shards), shards


def split(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    declaration: Declaration,
    shards: int,
    out: str | os.PathLike[str],
    *,
    memory: str = "4GB",
    threads: int | None = None,
) -> list[Path]:
    """Rows as they are, in a folder a shard of the people: what the counters of all shards read, each its own.

    Parameters
    ----------
    files, declaration, memory, threads
        As in `count`, with persons; Parquet, or CSV that fits in memory.
    shards : int
        At least 2.
    out : path
        A folder that is made; it will hold personal data, for this user alone.

    Returns
    -------
    list of Path
        The folders, first shard first; a folder of a shard without rows is empty.

    Raises
    ------
    ValueError
        As `count`.
    FileExistsError
        If there is such a folder.

    Notes
    -----
    O(rows). Every machine may split the files that it has: shard 3 of 16 is in the third folder of each of them.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> folder = Path(tempfile.mkdtemp())
    >>> pd.DataFrame({"who": range(9), "what": ["flu", "gout", "flu"] * 3}).to_parquet(folder / "all.parquet")
    >>> declared = Declaration(kind="tallies", items=["flu", "gout"], person="who", columns=("what",))
    >>> one, two = split(folder / "all.parquet", declared, 2, folder / "shards")
    >>> parts = [count(list(it.glob("*")), declared, per_person=1, shard=(at, 2)) for at, it in ((1, one), (2, two))]
    >>> sum(part.rows for part in parts)
    9
    """
    given = _once(files)
    shards = require_whole("shards", shards, 2, 1 << 10)
    if not given or not isinstance(declaration, Declaration) or declaration.person is None:
        raise ValueError("files or person are missing; shards are of people: say which column names them")
    with tempfile.TemporaryDirectory(prefix="dprank-") as folder:
        job = Job(tuple(map(str, given)), declaration, 1, "any", True, 1, shards)
        paths = [it if is_parquet(it) else _as_parquet(job, it, f"{folder}/{at}") for at, it in enumerate(job.files)]
        return split_by_duckdb(replace(job, files=tuple(paths)), Path(out), memory, threads)


def _as_parquet(job: Job, path: str, at: str) -> str:
    """The same table of texts in another file, but for columns that nobody uses and whose name is there twice."""
    require_extra("pyarrow", "parquet", f"{path}: to split a CSV")
    frame = sniff(path, layout=Layout.of(job.declared.layout)).frame
    found_columns(job, path, list(map(str, frame.columns)))
    frame.loc[:, ~frame.columns.duplicated()].to_parquet(f"{at}.parquet")
    return f"{at}.parquet"


def _by_numpy(job: Job) -> Counts:
    """In memory: what the other engines are compared with."""
    kinds = {container_of(path) for path in job.files}
    if len(kinds) > 1:
        named = " and ".join(sorted(it.name.split(" ", 1)[-1] for it in kinds))
        raise ValueError(f"files are {named}; one person may be written otherwise in each: one kind is needed")
    if kinds == {PARQUET}:
        require_alike(job, every=True)
    others, declared = 0, job.declared
    with tempfile.TemporaryDirectory(prefix="dprank-") as folder:
        path = job.files[0]
        if len(job.files) > 1 or job.shards > 1:
            require_extra("pyarrow", "parquet", "to count a shard, or several files,")
            path = f"{folder}/shard.parquet"
            own, others = _own_rows(job)
            own.to_parquet(path)
            declared = replace(declared, layout=None)
        intake = declared.read(path)
    if job.declared.kind == "tallies":
        sums = {"persons": intake.data.counts(job.per_person)}
    else:
        data = intake.data.bounded(job.per_person, design=job.design, ties=job.ties)
        won, half, net = (whole_counts(data, score) for score in ("wins", "half", "net"))
        sums = {"wins": won, "ties": half - 2 * won, "losses": won - net}
    reasons = {REASONS.index(name) + 1: number for name, number in intake.left_out.items()}
    return job.result(sums, intake.rows, reasons | {0: intake.kept}, f"numpy {np.__version__}", others)


def _own_rows(job: Job) -> tuple[Any, int]:
    """The rows of the people of a shard, as text, in one table; and how many there are of others."""
    import pandas as pd

    frames, rows = [], 0
    for path in job.files:
        frame = sniffed_as(job.declared, path).frame
        rows += len(frame)
        found = found_columns(job, path, list(map(str, frame.columns)))
        frame = pd.DataFrame({job.columns[name]: frame[it] for name, it in found.items()})
        if job.shards > 1:
            who = frame[job.columns["person"]].to_numpy(object)
            distinct, code = np.unique(who.astype(str), return_inverse=True)
            named = ~nameless(distinct)
            part = np.zeros(len(distinct), np.int64)
            part[named] = shard_of(person_ids("person", distinct[named].astype(object)), job.shards)
            frame = frame[part[code] == job.part - 1]
        frames.append(frame)
    own = pd.concat(frames, ignore_index=True)
    return own, rows - len(own)
