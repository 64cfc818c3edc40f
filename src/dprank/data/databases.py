"""A query over a database of SQLite or DuckDB: its file is opened for reading alone, and no other one is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from dprank._require import require_extra
from dprank.data.cells import table_of, value_text
from dprank.data.containers import Given, Sniffed
from dprank.data.files import MOST_COLUMNS

__all__ = ["read_duckdb", "read_sqlite"]

TOLD = 20
#: What SQLite may do: nothing that writes, or opens another file.
_READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def read_sqlite(given: Given) -> Sniffed:
    """Rows that a query gives, by Python's own SQLite: cells are texts by themselves, whatever a column is declared as.

    Raises
    ------
    ValueError
        Naming the file, where it is damaged, or the query is missing, or is none of one table.
    """
    address, asked = f"{Path(given.plain_path).as_uri()}?mode=ro", False
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
            tables = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            _require_query(given, [name for (name,) in database.execute(tables)])
            database.set_authorizer(lambda what, *_: sqlite3.SQLITE_OK if what in _READS else sqlite3.SQLITE_DENY)
            database.execute(f"EXPLAIN {given.layout.sql}")  # which looks at no row
            asked = True
            return _table(given, database.execute(given.layout.sql or ""), "SQLite")
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise _refused(given, error, "not a database" in str(error) or "disk image" in str(error), asked) from None


def read_duckdb(given: Given) -> Sniffed:
    """The same by DuckDB, which may open no other file and load nothing; raises as `read_sqlite`."""
    duckdb = require_extra("duckdb", "duckdb", f"{given.name}: a database of DuckDB")
    try:
        options = {"enable_external_access": "false", "autoload_known_extensions": "false"}
        with closing(duckdb.connect(given.plain_path, read_only=True, config=options)) as database:
            tables = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
            _require_query(given, [name for (name,) in database.execute(tables).fetchall()])
            queries = database.extract_statements(given.layout.sql or "")
            if len(queries) != 1 or queries[0].type != duckdb.StatementType.SELECT:
                raise ValueError(f"sql: {len(queries)} statements; one that begins with select is needed")
            return _table(given, database.execute(queries[0]), "DuckDB")
    except (duckdb.Error, OverflowError) as error:
        raise _refused(given, error, isinstance(error, duckdb.IOException | duckdb.SerializationException)) from None


def _require_query(given: Given, tables: list[str]) -> None:
    if given.layout.sql is None:
        listed = ", ".join(tables[:TOLD]) + f" and {len(tables) - TOLD} more" * (len(tables) > TOLD)
        raise ValueError(
            f"{given.name} is a database; say with --sql which rows are the table: --sql 'select * from …', of "
            f"{listed or 'no table'}"
        )


def _refused(given: Given, error: Exception, damaged: bool, asked: bool = False) -> ValueError:
    """What is wrong: a damaged database, or a query, of which its reader says why before it has looked at a row."""
    if damaged:
        return ValueError(f"{given.name} is damaged: no whole database, or another program is writing it")
    told = type(error).__name__ in _OF_QUERIES and not asked
    why = str(error).splitlines()[0] if told else "it fails at a row"
    why = "a query may only read; one that begins with select is needed" if why == "not authorized" else why
    return ValueError(f"sql: {given.name} does not take it: {why}")


#: Errors that are found before any row is read.
_OF_QUERIES = ("OperationalError", "DatabaseError", "Warning", "ProgrammingError", "CatalogException",
               "BinderException", "ParserException", "PermissionException")  # fmt: skip


def _table(given: Given, cursor: Any, kind: str) -> Sniffed:
    """The rows of a query, as texts."""
    if not cursor.description:
        raise ValueError("sql: the query gives no table; one that begins with select is needed")
    names = [str(it[0]) for it in cursor.description]
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"sql: the query gives more than {MOST_COLUMNS:,} columns")
    rows = cursor.fetchall()
    columns = []
    for at, name in enumerate(names):
        people = given.people(name)
        columns.append([value_text(row[at], people) for row in rows])
    return Sniffed(table_of(names, columns), f"rows of a query over {kind}")
