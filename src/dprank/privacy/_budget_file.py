"""The file of a budget: how it is opened, what guards its rows, and how its entries are chained."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from dprank._require import shown
from dprank.privacy.filters import COMPOSITIONS, NOTHING, Composition, Cost, Limit
from dprank.privacy.guarantee import Guarantee

__all__ = [
    "PATIENCE",
    "chain",
    "connected",
    "create",
    "fraction_of",
    "is_blank",
    "is_chained",
    "is_there",
    "named",
    "opened",
    "require_chain",
    "require_path",
    "spent_of",
    "text_of",
    "undamaged",
]

#: Seconds that a file is waited for which another process holds.
PATIENCE = 30.0
#: "dprB": marks SQLite files that are budgets.
_APPLICATION = 0x64707242
#: Of the file, by its composition. Version 0.2 wrote those without a chain: they are read, and chained when next
#: written to.
_VERSIONS: dict[Composition, int] = {"basic": 3, "zcdp": 4}
_UNCHAINED: dict[Composition, int] = {"basic": 1, "zcdp": 2}
_TABLES = """
CREATE TABLE limits (
  epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL, adjacency TEXT NOT NULL{limit});
CREATE TABLE entries (
  number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL,
  adjacency TEXT NOT NULL, charged_epsilon TEXT NOT NULL, charged_delta TEXT NOT NULL, what TEXT NOT NULL,
  day TEXT NOT NULL{entry});
CREATE INDEX entries_of_dataset ON entries (dataset)
"""
#: Columns more of "zcdp": exact, so that anybody can add up anew. `rho` is what the mechanism states, or empty: then it
#: is half the square of epsilon, for all but events of chance delta, which is the rest.
_LIMIT_COLUMNS = ", rho TEXT NOT NULL, spare TEXT NOT NULL"
_ENTRY_COLUMNS = ", rho TEXT NOT NULL, charged_rho TEXT NOT NULL, charged_rest TEXT NOT NULL"
#: Digests of the limit (number 0), and of each entry with the one before it.
_CHAIN = "CREATE TABLE chain (number INTEGER PRIMARY KEY, salt TEXT NOT NULL, digest TEXT NOT NULL)"
#: INSERT OR REPLACE deletes without a trigger for it: hence those before insertion.
_TRIGGERS = {
    "limits_stay": "UPDATE ON limits",
    "limits_remain": "DELETE ON limits",
    "limits_once": "INSERT ON limits WHEN EXISTS (SELECT 1 FROM limits)",
    "entries_stay": "UPDATE ON entries",
    "entries_remain": "DELETE ON entries",
    "entries_in_turn": "INSERT ON entries WHEN NEW.number IS NOT (SELECT COALESCE(MAX(number), 0) + 1 FROM entries)",
}
_CHAIN_TRIGGERS = {
    "chain_stays": "UPDATE ON chain",
    "chain_remains": "DELETE ON chain",
    "chain_in_turn": "INSERT ON chain WHEN NEW.number IS NOT (SELECT COALESCE(MAX(number), -1) + 1 FROM chain)",
}
_DAMAGED = (
    "is damaged: no budget as dprank wrote it; restore it from a copy, which knows nothing of what was released since"
)
_FAULTS: dict[int, tuple[type[Exception], str]] = {
    sqlite3.SQLITE_BUSY: (TimeoutError, "another process holds it; nothing is released"),
    sqlite3.SQLITE_LOCKED: (TimeoutError, "another process holds it; nothing is released"),
    sqlite3.SQLITE_PERM: (PermissionError, "must be writable, and so must its folder"),
    sqlite3.SQLITE_READONLY: (PermissionError, "must be writable, and so must its folder"),
    sqlite3.SQLITE_CANTOPEN: (PermissionError, "cannot be opened; it and its folder must be readable and writable"),
    sqlite3.SQLITE_FULL: (OSError, "the disk is full; nothing is released"),
    sqlite3.SQLITE_IOERR: (OSError, "the disk fails or is full; nothing is released"),
    sqlite3.SQLITE_NOTADB: (ValueError, "is no SQLite file; a budget of dprank is needed"),
    sqlite3.SQLITE_CORRUPT: (ValueError, _DAMAGED),
    sqlite3.SQLITE_CONSTRAINT: (ValueError, _DAMAGED),
    sqlite3.SQLITE_ERROR: (ValueError, _DAMAGED),
    0: (ValueError, _DAMAGED),  # text that is none
}


@contextmanager
def connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection that is closed at the end."""
    # Rollback journal, not WAL: one file that can be copied and is whole, and no shared memory. EXTRA, since FULL does
    # not flush the folder after the journal is deleted: a loss of power could undo what was recorded and shown.
    with _one_line(path):
        uri = f"{path.as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("PRAGMA fullfsync = ON")  # macOS, where fsync alone does not reach the disk
            yield db


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """What SQLite says, in one line that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        kind, why = _FAULTS.get(code, (OSError, f"cannot be used: {shown(str(error))}"))
        raise kind(f"{named(path)}: {why}") from None
    except UnicodeDecodeError:  # SQLite's own message may quote a damaged file's bytes
        raise ValueError(f"{named(path)}: {_DAMAGED}") from None


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """What is no row of ours is said to be damage."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        raise ValueError(f"{named(path)}: {_DAMAGED}") from None


def is_blank(path: Path) -> bool:
    """Whether its making was undone: SQLite then finds no page."""
    with connected(path, "rw") as db:
        return db.execute("PRAGMA page_count").fetchone()[0] == 0


def _require_budget(path: Path, db: sqlite3.Connection) -> Composition:
    """Refuse an SQLite file of others, and of later versions."""
    mark, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if mark != _APPLICATION:
        raise ValueError(f"{named(path)}: an SQLite file, but no budget; a budget of dprank is needed")
    for composition in COMPOSITIONS:
        if version in (_VERSIONS[composition], _UNCHAINED[composition]):
            return composition
    known = [*_VERSIONS.values(), *_UNCHAINED.values()]
    read = f"{min(known)} to {max(known)}"
    raise ValueError(f"{named(path)}: a budget of format {version}; this version of dprank reads {read}")


def is_chained(db: sqlite3.Connection) -> bool:
    """Whether entries have digests: version 0.2 wrote none."""
    return db.execute("PRAGMA user_version").fetchone()[0] in _VERSIONS.values()


def _guard(db: sqlite3.Connection, triggers: dict[str, str]) -> None:
    for name, event in triggers.items():
        stop = "SELECT RAISE(ABORT, 'what is in a budget stays')"
        db.execute(f"CREATE TRIGGER {name} BEFORE {event} BEGIN {stop}; END")


def _written(db: sqlite3.Connection, composition: Composition, first: int = 0) -> Iterator[tuple[Any, ...]]:
    """What is chained, from a number on: the limit, which is number 0, then the entries in order."""
    more = composition == "zcdp"
    if first == 0:
        columns = "epsilon, delta, unit, adjacency" + _named_only(_LIMIT_COLUMNS) * more
        yield from ((0, composition, *row) for row in db.execute(f"SELECT {columns} FROM limits"))
    columns = "number, dataset, epsilon, delta, unit, adjacency, charged_epsilon, charged_delta, what, day"
    columns += _named_only(_ENTRY_COLUMNS) * more
    yield from db.execute(f"SELECT {columns} FROM entries WHERE number >= ? ORDER BY number", (first,))


def _named_only(columns: str) -> str:
    return columns.replace(" TEXT NOT NULL", "")


def _digest(salt: str, before: str, row: tuple[Any, ...]) -> str:
    return hashlib.sha256(json.dumps([salt, before, *row]).encode("ascii")).hexdigest()


def chain(path: Path, db: sqlite3.Connection, composition: Composition) -> None:
    """Chain what is not yet: the last entry; of a file without a chain the limit, and all entries, in one go."""
    if not is_chained(db):
        db.execute(_CHAIN)
        _guard(db, _CHAIN_TRIGGERS)
        db.execute(f"PRAGMA user_version = {_VERSIONS[composition]}")
    last, before = db.execute("SELECT number, digest FROM chain ORDER BY number DESC LIMIT 1").fetchone() or (-1, "")
    with undamaged(path):
        for row in list(_written(db, composition, last + 1)):
            salt = secrets.token_hex(32)
            before = _digest(salt, before, row)
            db.execute("INSERT INTO chain VALUES (?, ?, ?)", (row[0], salt, before))


def require_chain(path: Path, db: sqlite3.Connection, composition: Composition) -> None:
    """Refuse a file in which anything is not as it was when it was chained."""
    if not is_chained(db):
        return
    links, before = db.execute("SELECT number, salt, digest FROM chain ORDER BY number"), ""
    with undamaged(path):
        for row, (number, salt, digest) in zip(_written(db, composition), links, strict=True):
            if (row[0], _digest(salt, before, row)) != (number, digest):
                raise ValueError
            before = digest


def _limit_of(path: Path, db: sqlite3.Connection, composition: Composition) -> Limit:
    """The limit, if the record is whole: all guards in place, and no number left out."""
    guards = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    count, last = db.execute("SELECT COUNT(*), COALESCE(MAX(number), 0) FROM entries").fetchone()
    chained = is_chained(db)
    links = db.execute("SELECT COUNT(*), MAX(number) FROM chain").fetchone() if chained else (last + 1, last)
    more = ", rho, spare" if composition == "zcdp" else ", '0/1', '0/1'"
    rows = db.execute(f"SELECT epsilon, delta, unit, adjacency{more} FROM limits").fetchall()
    with undamaged(path):
        ((epsilon, delta, unit, adjacency, rho, spare),) = rows
        if guards != set(_TRIGGERS) | set(_CHAIN_TRIGGERS if chained else ()):
            raise ValueError
        if count != last or links != (last + 1, last):
            raise ValueError
        exact = fraction_of(epsilon), fraction_of(delta)
        promise = Guarantee(float(exact[0]), float(exact[1]), unit, adjacency)
        limit = Limit(promise, composition, fraction_of(rho), fraction_of(spare), exact)
        if composition == "zcdp" and not 0 < limit.spare < limit.delta:
            raise ValueError
        return limit


def spent_of(path: Path, db: sqlite3.Connection, dataset: str, limit: Limit, last: int | None = None) -> Cost:
    """All that was charged to a data set, up to the entry of that number in the file."""
    more = "charged_rho, charged_rest" if limit.composition == "zcdp" else "'0/1', '0/1'"
    query = f"SELECT charged_epsilon, charged_delta, {more} FROM entries WHERE dataset = ? AND number <= ?"
    most = sys.maxsize if last is None else last
    rows = Counter(db.execute(query, (dataset, most)))  # what is charged a thousand times is read once
    with undamaged(path):
        return sum((Cost(*(times * fraction_of(text) for text in row)) for row, times in rows.items()), NOTHING)


def text_of(number: float | Fraction) -> str:
    """A number as a file holds it, exactly."""
    exact = Fraction(number)
    return f"{exact.numerator}/{exact.denominator}"


def fraction_of(text: str) -> Fraction:
    """What `text_of` wrote, and nothing else."""
    exact = Fraction(*map(int, text.split("/")))
    if exact < 0 or f"{exact.numerator}/{exact.denominator}" != text:
        raise ValueError
    return exact


def require_path(path: Any) -> Path:
    """An absolute path: another working directory does not change which file it is."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError(f"path = {shown(text if isinstance(text, str) else path)}; the path of a file is needed")
    return Path(os.path.abspath(text))


def named(path: Path) -> str:
    """A path as a message says it."""
    text = ascii(str(path))
    return text if len(text) <= 200 else f"'...{text[-190:]}"


def is_there(path: Path) -> bool:
    """Whether there is a file with something in it; else than one name of a file in a folder is refused."""
    # os.stat: to open and close the file here would drop this process's locks on it
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if path.parent.is_dir():
            return False
        raise FileNotFoundError(f"{named(path)}: its folder does not exist") from None
    except (OSError, ValueError) as error:
        raise OSError(f"{named(path)}: cannot be opened: {getattr(error, 'strerror', None) or 'no path'}") from None
    if not stat.S_ISREG(found.st_mode):
        kind = IsADirectoryError if stat.S_ISDIR(found.st_mode) else OSError
        raise kind(f"{named(path)}: is no file; the path of a file is needed")
    # SQLite's journal goes by the name: after a crash under one, what was spent under the other would be undone
    if found.st_nlink > 1:
        raise OSError(f"{named(path)}: has another name too, a hard link; take all but one away: nothing is released")
    return found.st_size > 0


def create(path: Path, limit: Limit) -> bool:
    """Make the file, unless another process just did; whether this one made it."""
    with connected(path, "rwc") as db:
        db.execute("BEGIN IMMEDIATE")
        if made := db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] == 0:
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {_UNCHAINED[limit.composition]}")
            more = limit.composition == "zcdp"
            tables = _TABLES.format(limit=_LIMIT_COLUMNS * more, entry=_ENTRY_COLUMNS * more)
            for statement in tables.split(";"):
                db.execute(statement)
            _guard(db, _TRIGGERS)
            promise = limit.guarantee
            row = [text_of(limit.epsilon), text_of(limit.delta), promise.unit, promise.adjacency]
            row += [text_of(limit.rho), text_of(limit.spare)] * more
            db.execute(f"INSERT INTO limits VALUES ({', '.join('?' * len(row))})", row)
            chain(path, db, limit.composition)
        db.execute("COMMIT")
    return made


@contextmanager
def opened(path: Path, begin: str = "BEGIN") -> Iterator[tuple[sqlite3.Connection, Limit]]:
    """One transaction, and the limit: committed at the end, undone if anything is raised."""
    if not is_there(path):
        raise FileNotFoundError(f"{named(path)}: no such file; the budget that was opened is gone")
    # a connection each: none is carried into another process or thread
    with connected(path, "rw") as db:
        composition = _require_budget(path, db)
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute(begin)
        yield db, _limit_of(path, db, composition)
        db.execute("COMMIT")
