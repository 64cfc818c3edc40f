"""A budget in a file: what has been spent on a data set, written before noise is drawn, for all processes at once."""

from __future__ import annotations

import errno
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from dprank._json import exact
from dprank._require import shown
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit
from dprank.privacy.noise import SECURE

__all__ = ["Budget", "BudgetRefused", "Entry"]

#: Of the file: "dprk", and another version when its tables change.
APPLICATION, VERSION = 0x6470726B, 1
#: Seconds to wait for another process.
PATIENCE = 60.0
LONGEST = 200
_TABLES = """
CREATE TABLE limits (
    one INTEGER PRIMARY KEY CHECK (one = 1), epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    unit TEXT NOT NULL, adjacency TEXT NOT NULL
) STRICT;
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    what TEXT NOT NULL, day TEXT NOT NULL
) STRICT;
CREATE INDEX by_dataset ON entries (dataset);
"""
_ONLY_APPEND = "".join(
    f"CREATE TRIGGER {table}_{act} BEFORE {act} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'a budget is never changed'); END;\n"
    for table in ("limits", "entries")
    for act in ("UPDATE", "DELETE")
)


class BudgetRefused(ValueError):
    """A release that would cost more than is left."""


@dataclass(frozen=True)
class Entry:
    """One spend: on which data set, how much in the budget's unit and adjacency, for what, and on which day."""

    number: int
    dataset: str
    epsilon: float
    delta: float
    what: str
    day: str


class Budget:
    """Epsilon and delta for every data set, in an SQLite file that is only ever added to.

    What is spent is the exact sum of what was asked for (basic composition, in rational numbers), converted to the unit
    and adjacency of the budget. It is on the disk before any noise is drawn: whoever is cut off in between has paid for
    nothing, and nobody has seen what is not paid for. Processes wait for each other.

    Parameters
    ----------
    path : path
        Of the file; made where there is none and `epsilon` is given.
    epsilon : float, optional
        What each data set may cost in all, above 0 and finite: due for a new file. Of a file that is there it must be
        the same, if it is given.
    delta : float, optional
        In [0, 1); 0 for a new file.
    unit : {"comparison", "voter"}, optional
        What is protected; "voter" for a new file.
    adjacency : {"replace", "add_remove"}, optional
        "replace" for a new file.

    Raises
    ------
    ValueError
        Naming what is out of range, or other than in the file; or the file, where it is no budget.
    OSError
        Naming the file, where it cannot be read or written.

    Notes
    -----
    A spend is one transaction with SQLite's synchronous=EXTRA: file, journal and folder are synchronised. O(entries of
    the data set). No row count, person, hash of data or time finer than the day is kept.

    Examples
    --------
    >>> import tempfile
    >>> import dprank
    >>> budget = Budget(Path(tempfile.mkdtemp()) / "budget.sqlite", epsilon=1.5)
    >>> ballots = dprank.read_rankings(
    ...     dprank.example("ballots.csv"), items=["roads", "schools", "parks", "debt"], voter="person"
    ... )
    >>> mechanism = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4)
    >>> release = budget.release(mechanism, ballots, dataset="ballots", what="consensus")
    >>> budget.remaining("ballots").epsilon
    0.5
    >>> budget.release(mechanism, ballots, dataset="ballots")
    Traceback (most recent call last):
        ...
    dprank.budget.BudgetRefused: epsilon: 1 is asked for, 0.5 of 1.5 is left for 'ballots': 0.5 is missing
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        unit: Unit | None = None,
        adjacency: Adjacency | None = None,
    ) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a budget is a file", str(self.path))
        given = {"epsilon": epsilon, "delta": delta, "unit": unit, "adjacency": adjacency}
        said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if not self.path.exists() or self.path.stat().st_size == 0:
            if epsilon is None:
                raise ValueError(f"{self.path}: no budget is there; epsilon makes one")
            self._make(Guarantee(**said))
        self.limit = self._limit()
        asked = replace(self.limit, **said)
        for name in said:
            if getattr(asked, name) != getattr(self.limit, name):
                own = getattr(self.limit, name)
                raise ValueError(f"{name} = {shown(getattr(asked, name))}; the budget in {self.path} has {own!r}")

    def spend(self, guarantee: Guarantee, *, dataset: str, what: str = "") -> Entry:
        """Write down what a release costs, before it is drawn.

        Parameters
        ----------
        guarantee : Guarantee
            Of the release.
        dataset : str
            Whose budget it is: one line of at most 200 characters, never a person's name.
        what : str
            A line for whoever reads the list; public.

        Raises
        ------
        BudgetRefused
            Naming what is asked for, left and missing.
        ValueError
            Where the guarantee is of the local model, promises nothing, or says nothing about the budget's unit.
        """
        if not isinstance(guarantee, Guarantee):
            raise ValueError(f"guarantee is a {type(guarantee).__name__}; a Guarantee is needed")
        if guarantee.model != "central" or math.isinf(guarantee.epsilon):
            raise ValueError(f"'{guarantee}' is nothing that a budget pays for; a finite central guarantee is needed")
        cost = guarantee.converted(self.limit.unit, self.limit.adjacency)
        line = _line("dataset", dataset, 1), _line("what", what, 0)
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            for name, spent in zip(("epsilon", "delta"), self._sums(database, line[0]), strict=True):
                asked, most = Fraction(getattr(cost, name)), Fraction(getattr(self.limit, name))
                if spent + asked > most:
                    left, missing = _down(most - spent), _up(spent + asked - most)
                    raise BudgetRefused(
                        f"{name}: {_said(asked)} is asked for, {left:g} of {_said(most)} is left for {line[0]!r}: "
                        f"{missing:g} is missing"
                    )
            day = datetime.now(UTC).date().isoformat()
            row = (line[0], str(Fraction(cost.epsilon)), str(Fraction(cost.delta)), line[1], day)
            made = database.execute(
                "INSERT INTO entries (dataset, epsilon, delta, what, day) VALUES (?, ?, ?, ?, ?)", row
            )
            number = int(made.lastrowid or 0)
            database.execute("COMMIT")
        return Entry(number, line[0], cost.epsilon, cost.delta, line[1], day)

    def release(self, mechanism: Any, data: Any, *, dataset: str, what: str = "") -> Any:
        """Spend what a mechanism promises, then draw its release from the operating system's randomness.

        Parameters
        ----------
        mechanism : Mechanism
            With noise that is fit for publication.
        data : object
            What it takes.
        dataset, what : str
            As in `spend`; the name of the mechanism by default.

        Raises
        ------
        ValueError
            As `spend`; or where the mechanism's noise is for research alone: then nothing is spent.
        """
        if not exact(mechanism):
            raise ValueError(f"the noise of this {type(mechanism).__name__} is for research alone: nothing is spent")
        self.spend(mechanism.guarantee, dataset=dataset, what=what or type(mechanism).__name__)
        return mechanism.release(data, SECURE)

    def spent(self, dataset: str) -> Guarantee:
        """What has been spent on a data set, rounded up."""
        with self._opened() as database:
            epsilon, delta = self._sums(database, _line("dataset", dataset, 1))
        return Guarantee(_up(epsilon), _up(delta), self.limit.unit, self.limit.adjacency)

    def remaining(self, dataset: str) -> Guarantee:
        """What is left of a data set's budget, rounded down."""
        with self._opened() as database:
            sums = self._sums(database, _line("dataset", dataset, 1))
        epsilon, delta = (
            _down(Fraction(most) - spent)
            for most, spent in zip((self.limit.epsilon, self.limit.delta), sums, strict=True)
        )
        return Guarantee(epsilon, delta, self.limit.unit, self.limit.adjacency)

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """All spends, or those on one data set, in their order."""
        with self._opened() as database:
            rows = database.execute("SELECT number, dataset, epsilon, delta, what, day FROM entries ORDER BY number")
            found = [Entry(n, of, float(Fraction(e)), float(Fraction(d)), what, day) for n, of, e, d, what, day in rows]
        return [it for it in found if dataset in (None, it.dataset)]

    def to_frame(self) -> Any:
        """All spends as a table."""
        import pandas as pd

        return pd.DataFrame([vars(it) for it in self.entries()], columns=list(Entry.__dataclass_fields__))

    def __repr__(self) -> str:
        return f"Budget({str(self.path)!r}, {self.limit})"

    @staticmethod
    def _sums(database: sqlite3.Connection, dataset: str) -> tuple[Fraction, Fraction]:
        rows = database.execute("SELECT epsilon, delta FROM entries WHERE dataset = ?", (dataset,)).fetchall()
        return sum((Fraction(e) for e, _ in rows), Fraction(0)), sum((Fraction(d) for _, d in rows), Fraction(0))

    def _make(self, limit: Guarantee) -> None:
        if not 0 < limit.epsilon < math.inf:
            raise ValueError(f"epsilon = {shown(limit.epsilon)}; it must be above 0 and finite")
        row = (str(Fraction(limit.epsilon)), str(Fraction(limit.delta)), limit.unit, limit.adjacency)
        with self._opened(make=True) as database:
            database.execute("BEGIN IMMEDIATE")
            if database.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
                return  # another process was faster
            for statement in (*_TABLES.split(";\n"), *_ONLY_APPEND.split("END;\n")):
                if statement.strip():
                    database.execute(statement + "END" * ("TRIGGER" in statement))
            database.execute("INSERT INTO limits VALUES (1, ?, ?, ?, ?)", row)
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")

    def _limit(self) -> Guarantee:
        with self._opened() as database:
            [application] = database.execute("PRAGMA application_id").fetchone()
            [version] = database.execute("PRAGMA user_version").fetchone()
            if (application, version) != (APPLICATION, VERSION):
                raise ValueError(f"{self.path}: no budget of this version of dprank; say another file")
            row = database.execute("SELECT epsilon, delta, unit, adjacency FROM limits").fetchone()
        epsilon, delta, unit, adjacency = row
        return Guarantee(float(Fraction(epsilon)), float(Fraction(delta)), unit, adjacency)

    @contextmanager
    def _opened(self, make: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection whose transaction, unless it was committed, never was."""
        try:
            mode = "rwc" if make else "rw"
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)) as database:
                database.execute("PRAGMA synchronous = EXTRA")
                yield database
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, f"the budget cannot be written or read: {error}", str(self.path)) from None
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path}: no budget of dprank: {error}") from None


def _line(name: str, text: Any, least: int) -> str:
    if not isinstance(text, str) or not text.isprintable() or not least <= len(text.strip()) or len(text) > LONGEST:
        raise ValueError(f"{name} = {shown(text)}; one line of at most {LONGEST} characters is needed")
    return text.strip()


def _said(number: Fraction) -> str:
    return f"{float(number):g}"


def _down(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def _up(number: Fraction) -> float:
    return -_down(-number)
