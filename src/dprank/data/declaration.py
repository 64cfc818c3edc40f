"""What a file holds and what of it counts, declared before anybody looks: columns, public items, rules, persons."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from dprank._require import require_one_of, settle, shown
from dprank.data.bounding import kept, nameless, person_ids
from dprank.data.cleaning import cleaner
from dprank.data.comparisons import Comparisons, item_names
from dprank.data.rankings import Rankings
from dprank.data.sniffing import sniff
from dprank.data.tallies import Tallies

__all__ = ["Declaration", "Intake", "declared_part", "release_part"]

Kind = Literal["comparisons", "ballots", "tallies"]
#: Why a row is left out. Each looks at the row alone, or at the rows of its person.
REASONS = (
    "no person",
    "an item not declared",
    "an item compared with itself",
    "no such answer",
    "not every place once",
)
NUMBERS = {"1": 1.0, "0": 0.0, "0.5": 0.5, "1.0": 1.0, "0.0": 0.0}


@dataclass(frozen=True)
class Intake:
    """Data that a mechanism takes, and what became of the rows: for the curator, not for publication.

    Parameters
    ----------
    data : Comparisons, Rankings or Tallies
    said : str
        How the file was written.
    rows : int
        In the file.
    left_out : dict of str to int
        Rows by reason, one of `REASONS`.
    unknown : dict of str to int
        Labels that are no declared item, with the number of cells that hold them.
    """

    data: Any
    said: str
    rows: int
    left_out: Mapping[str, int]
    unknown: Mapping[str, int]

    @property
    def kept(self) -> int:
        """Rows that a mechanism sees, before it bounds what one person contributes."""
        return self.rows - sum(self.left_out.values())


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Columns, public items and cleaning rules of a file.

    Rows that do not fit are left out, and only the curator is told: to refuse them would tell of whoever gave them.
    Every rule looks at one row, so the guarantee of a mechanism on what is left is its guarantee on the file.

    Parameters
    ----------
    kind : {"comparisons", "ballots", "tallies"}
        A row an answer about two items; a row a ballot, with a column an item that holds its place, 1 for the best; a
        row for every item that a person has.
    items : sequence of str
        All of them, decided before looking at the data; published as written here, compared after cleaning.
    person : str, optional
        The column that says who; without it an answer, or a ballot, is all that can be protected.
    columns : tuple of str
        Of comparisons: first item, second item, answer. Of tallies: the item. Of ballots none.
    answers : mapping of str to float, optional
        What an answer means: 1 where the first item is preferred, 0 where the second is, 0.5 for a tie. Without it the
        numbers themselves.
    clean : sequence of {"nfkc", "strip", "spaces", "casefold"}
        As in `dprank.data.cleaning.cleaner`.
    aliases : mapping of str to str, optional
        As in `dprank.data.cleaning.cleaner`.

    Raises
    ------
    ValueError
        Naming the key and what is allowed.

    Examples
    --------
    >>> import dprank
    >>> columns = ("first", "second", "outcome")
    >>> declared = Declaration(
    ...     kind="comparisons", items=["London", "Paris", "Rome"], person="person", columns=columns
    ... )
    >>> intake = declared.read(dprank.example("answers.csv"))
    >>> intake.rows - intake.kept, dict(intake.left_out)
    (0, {})
    """

    kind: Kind
    items: tuple[str, ...]
    person: str | None = None
    columns: tuple[str, ...] = ()
    answers: Mapping[str, float] | None = None
    clean: tuple[str, ...] = ()
    aliases: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        require_one_of("kind", self.kind, get_args(Kind))
        needed = {"comparisons": ("first", "second", "answer"), "tallies": ("item",), "ballots": ()}[self.kind]
        columns = _texts("columns", self.columns)
        if len(columns) != len(needed) or len(set(columns)) != len(columns):
            asked = f"the columns of {', '.join(needed)}" if needed else "none"
            raise ValueError(f"columns = {shown(', '.join(map(str, columns)))}; {asked} are needed, each once")
        if self.person is not None:
            _texts("person", [self.person])
        rules, aliases = _texts("clean", self.clean), self.aliases
        if aliases is not None:
            _texts("aliases", [*_table("aliases", aliases), *aliases.values()])
        clean = cleaner(rules, aliases)
        items = item_names([name.strip() for name in item_names(self.items)])
        item_names([clean(item) for item in items])  # no two alike after cleaning
        answers = self.answers
        if answers is not None:
            answers = {clean(k): _points(answers[k]) for k in _texts("answers", list(_table("answers", answers)))}
        if self.kind == "tallies" and self.person is None:
            raise ValueError("person = None; tallies are bounded by person: say which column names them")
        settle(self, columns=columns, items=items, answers=answers, clean=rules, aliases=aliases)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """A declaration from its file; an unknown key is an error.

        Raises
        ------
        ValueError
            Naming the file, and the key or the line.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
        >>> _ = file.write_text('kind = "ballots"\\nitems = ["a", "b"]\\nperson = "who"\\n')
        >>> Declaration.from_toml(file).items
        ('a', 'b')
        """
        given = declared_part(path)
        if missing := sorted({"kind", "items"} - given.keys()):
            raise ValueError(f"{path}: {missing[0]} is missing")
        try:
            return cls(**given)
        except (TypeError, AttributeError):
            raise ValueError(f"{path}: a value of another kind than the key has") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def to_toml(self) -> str:
        """The declaration as a file that `from_toml` reads.

        Examples
        --------
        >>> print(Declaration(kind="ballots", items=("a", "b")).to_toml(), end="")
        kind = "ballots"
        items = ["a", "b"]
        """
        lines = []
        for it in fields(self):
            value = getattr(self, it.name)
            if value is not None and value != ():
                lines.append(f"{it.name} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    def read(self, path: str | Path) -> Intake:
        """The file as data that a mechanism takes.

        Parameters
        ----------
        path : path
            CSV or Parquet, as `dprank.data.sniffing.sniff` reads it.

        Raises
        ------
        ValueError
            Naming the file where it is no table, or the column that it lacks.

        Notes
        -----
        O(rows).
        """
        sniffed = sniff(path)
        frame = sniffed.frame
        named = [*self.columns, *([] if self.person is None else [self.person])]
        clean = cleaner(self.clean, self.aliases)
        header = {clean(str(column)): column for column in frame.columns}
        if self.kind == "ballots":
            named += self.items
        for name in named:
            if name not in frame.columns and clean(name) not in header:
                raise ValueError(f"{path}: no column {shown(name)}; the file has no such name in its first line")
        column = {name: frame[name if name in frame.columns else header[clean(name)]] for name in named}
        cells = {name: _mapped(column[name], clean) for name in named if name != self.person}
        gone = np.zeros(len(frame), np.int8)
        unknown: Counter[str] = Counter()

        def leave_out(rows: Any, reason: str) -> None:
            gone[np.asarray(rows) & (gone == 0)] = REASONS.index(reason) + 1

        if self.person is not None:
            distinct = column[self.person].unique()
            leave_out(column[self.person].isin(distinct[nameless(distinct)]), "no person")
        codes = {clean(name): at for at, name in enumerate(self.items)}
        taken: Any
        if self.kind == "ballots":
            places = np.array([_mapped(column[name], str.strip).map(_place).to_numpy() for name in self.items]).T
            whole = (np.sort(places, axis=1) == np.arange(1, len(self.items) + 1)).all(axis=1)
            leave_out(~whole, "not every place once")
            taken = places.astype(np.int64) - 1
        else:
            named_items = self.columns[: 2 if self.kind == "comparisons" else 1]
            taken = [cells[name].map(codes).fillna(-1).to_numpy(np.int64) for name in named_items]
            for name, numbers in zip(named_items, taken, strict=True):
                unknown.update(cells[name][numbers < 0].tolist())
                leave_out(numbers < 0, "an item not declared")
        if self.kind == "comparisons":
            leave_out(taken[0] == taken[1], "an item compared with itself")
            outcome = cells[self.columns[2]].map(self.answers or NUMBERS).to_numpy(float)
            leave_out(np.isnan(outcome), "no such answer")
        stays = gone == 0
        person: Any = (
            None if self.person is None else person_ids(self.person, column[self.person][stays].to_numpy(object))
        )
        if self.kind == "comparisons":
            data: Any = Comparisons(taken[0][stays], taken[1][stays], outcome[stays], items=self.items, voter=person)
        elif self.kind == "tallies":
            data = Tallies(person, taken[0][stays], self.items)
        else:
            data = _ballots(taken[stays], self.items, person)
        counts = {reason: int((gone == at).sum()) for at, reason in enumerate(REASONS, 1) if (gone == at).any()}
        return Intake(data, sniffed.said, len(frame), counts, dict(unknown.most_common()))


def declared_part(path: str | Path) -> dict[str, Any]:
    """What a file declares, complete or not: flags may say the rest.

    Parameters
    ----------
    path : path
        Of a declaration, or of a plan.

    Raises
    ------
    ValueError
        Naming the file, and the key that no declaration has.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('kind = "comparisons"\\n[release]\\nepsilon = 1.0\\n')
    >>> declared_part(file)
    {'kind': 'comparisons'}
    """
    given = _toml_of(path)
    given.pop("release", None)
    known = {it.name for it in fields(Declaration)}
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"{path}: unknown key {shown(unknown[0])}; allowed: {', '.join(sorted(known))}")
    return given


def release_part(path: str | Path) -> dict[str, Any]:
    """What a plan says of a release: the table `release` of its file, which a declaration passes over.

    Parameters
    ----------
    path : path
        Of a plan, as `dprank plan --out` writes it; or of a declaration, which says nothing of a release.

    Raises
    ------
    ValueError
        Naming the file, where it is no such table of single values.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('kind = "ballots"\\nitems = ["a", "b"]\\n[release]\\nepsilon = 1.0\\n')
    >>> release_part(file), Declaration.from_toml(file).items
    ({'epsilon': 1.0}, ('a', 'b'))
    """
    found = _toml_of(path).get("release", {})
    if type(found) is not dict or not all(type(it) in (str, int, float, bool) for it in found.values()):
        raise ValueError(f"{path}: release is no table of single values: [release], then a line each")
    return found


def _toml_of(path: str | Path) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise ValueError(f"{path}: not TOML: {' '.join(str(error).split())}") from None


def _ballots(places: Any, items: tuple[str, ...], person: Any) -> Rankings:
    if person is not None and len(np.unique(person)) < len(person):
        places = places[kept([person], list(places.T), 1)]
    return Rankings(places, items)


def _mapped(column: Any, clean: Any) -> Any:
    """A column with its distinct texts cleaned."""
    distinct = {text: clean(text) for text in column.unique()}
    return column.map(distinct)


def _place(text: str) -> float:
    try:
        place = float(text)
    except ValueError:
        return 0.0
    return place if math.isfinite(place) else 0.0


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """One by one, each of them text."""
    if type(given) not in (list, tuple) or not all(type(it) is str and it for it in given):
        raise ValueError(f"{name} = {shown(given)}; text is needed, or a list of texts")
    return tuple(given)


def _table(name: str, given: Any) -> dict[Any, Any]:
    if type(given) is not dict:
        raise ValueError(f"{name} = {shown(given)}; a table of what is written and what is meant is needed")
    return given


def _points(value: Any) -> float:
    if type(value) not in (int, float) or value not in (0, 0.5, 1):
        raise ValueError(f"answers = {shown(value)}; an answer is worth 1, 0.5 or 0")
    return float(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(it)}" for key, it in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)
