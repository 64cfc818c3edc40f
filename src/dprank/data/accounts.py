"""The account of a file's rows on their way in: which stay, what was changed of them, and why the others do not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.bounding import nameless, person_ids
from dprank.data.cells import table_of
from dprank.data.cleaning import cleaner
from dprank.data.headers import no_column
from dprank.data.layout import Layout
from dprank.data.sniffing import Sniffed, sniff
from dprank.data.texts import Texts

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = [
    "AGAIN",
    "ALTERED",
    "BEYOND",
    "BLANK",
    "NOBODY",
    "OPEN",
    "REASONS",
    "TAKEN_OFF",
    "Intake",
    "Ledger",
    "Table",
    "ids_of",
    "people_column",
    "sniffed_as",
]

#: Keys that no record has, as many as are told.
TOLD = 10
#: Of a row whose cells are those of other columns: nobody's, and nothing is read of it.
BEYOND = "more fields than the header"
#: A number for all rows without a person: that of a text once in 2^63.
NOBODY = -(2**63)
#: Why a row is left out. Each looks at the row alone, or at the rows of its person.
REASONS = (
    "no person",
    "an item not declared",
    "an item compared with itself",
    "no such answer",
    "not every place once",
    "no such place",
    "no such order",
    "an item twice",
    "an item without a place",
    "no such weight",
    "another ballot of the same person",
    BEYOND,
    "an item withdrawn, or none",
    "no such count",
)
#: Items that are none, whose ballots stay; ballots that may mean one of their own by it; and that name an item twice.
TAKEN_OFF = "items not declared, taken off their ballots"
OPEN = "ballots with an item not declared, whose unranked items are compared with none"
AGAIN = "ballots that name an item again, by its best place"
#: What is changed of a row that stays, in cells or ballots; as local.
ALTERED = (
    "cells cleaned",
    TAKEN_OFF,
    "ballots that rank nothing",
    "ballots with unranked items, put last",
    "weights above the most, counted as the most",
    OPEN,
    AGAIN,
)
#: How people write that there is none.
BLANK = ("", "na", "nan", "null")


@dataclass(frozen=True)
class Intake:
    """Data that a mechanism takes, and what became of the rows: for the curator, not for publication.

    Parameters
    ----------
    data : Comparisons, Rankings, Ballots or Tallies
    said : str
        How the file was written.
    rows : int
        In the file; of a questionnaire with a column a pair, its answers; of a PrefLib file, its ballots by the header.
    left_out : dict of str to int
        Rows by reason, one of `REASONS`.
    unknown : dict of str to int
        Labels that are no declared item, as they are after cleaning, with the number of cells that hold them.
    altered : dict of str to int
        What was changed of rows that stay, one of `ALTERED`.
    written : dict of str to int
        Labels of items as they are written, with the number of cells that hold them.
    misread : dict of str to int
        What stands for an answer, a place, an order or a weight, and is none.
    unused : tuple of str
        Columns of the file that say nothing of what is declared.
    pairs : tuple of (int, int), optional
        Of a questionnaire the items that its columns ask about, whoever answers.
    absent : int
        Of a PrefLib file ballots that its header counts and no line holds.
    """

    data: Any
    said: str
    rows: int
    left_out: Mapping[str, int]
    unknown: Mapping[str, int]
    altered: Mapping[str, int]
    written: Mapping[str, int]
    misread: Mapping[str, int]
    unused: tuple[str, ...] = ()
    pairs: tuple[tuple[int, int], ...] | None = None
    absent: int = 0

    @property
    def kept(self) -> int:
        """Rows that a mechanism sees, before it bounds what one person contributes."""
        return self.rows - sum(self.left_out.values())


class Ledger:
    """What becomes of rows."""

    def __init__(self, rows: int) -> None:
        self.gone = np.zeros(rows, np.int8)
        self.unknown: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.misread: Counter[str] = Counter()
        self.altered: Counter[str] = Counter()

    def leave_out(self, rows: Any, reason: str) -> None:
        """For the first reason there is."""
        self.gone[np.asarray(rows, bool) & (self.gone == 0)] = REASONS.index(reason) + 1

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Which rows do."""
        return self.gone == 0

    def left_for(self, *reasons: str) -> NDArray[np.bool_]:
        """Which rows are left out for one of these reasons."""
        return np.isin(self.gone, [REASONS.index(reason) + 1 for reason in reasons])

    def met(self, text: str, cleaned: str, code: int, number: int, items: tuple[str, ...]) -> None:
        """A label of an item in so many cells; of none where only rows beyond the header have it."""
        if not number:
            return
        self.written[text] += number
        if code < 0:
            self.unknown[cleaned] += number
        elif text != items[code]:
            self.altered["cells cleaned"] += number

    def done(self, data: Any, said: str) -> Intake:
        """The data, and the account."""
        gone = np.bincount(self.gone, minlength=len(REASONS) + 1)[1:]
        return Intake(
            data,
            said,
            len(self.gone),
            {reason: int(number) for reason, number in zip(REASONS, gone, strict=True) if number},
            dict(self.unknown.most_common()),
            {what: self.altered[what] for what in ALTERED if self.altered[what]},
            dict(self.written.most_common()),
            dict(self.misread.most_common()),
        )


class Table:
    """A table of texts, and an account of its rows."""

    def __init__(self, declared: Declaration, path: Any) -> None:
        self.clean = cleaner(declared.clean, declared.aliases)
        sniffed = sniffed_as(declared, path, plain=True)
        self.declared, self.path, self.said, self.frame = declared, path, sniffed.said, sniffed.frame
        self.others = sniffed.others
        self.used: set[Any] = set()
        self.codes = {self.clean(name): at for at, name in enumerate(declared.items)}
        self.header: dict[str, list[Any]] = {}
        for column in self.frame.columns:
            self.header.setdefault(self.clean(str(column)), []).append(column)
        self.beyond = sniffed.beyond
        self.ledger = Ledger(len(self.frame))
        self.ledger.leave_out(self.beyond, BEYOND)

    def column(self, name: str) -> Any:
        """A column by its name, as written or after cleaning."""
        found = self.header.get(self.clean(name), [])
        if name in found:
            found = [it for it in found if it == name]
        if not found and (other := self.others.get(name)):
            raise ValueError(f"{self.path}: column {name!r} holds {other}; numbers, text or dates are needed")
        if not found:
            names, wide = [*map(str, self.frame.columns), *self.others], bool(self.declared.item_columns)
            raise ValueError(f"{self.path}: {no_column([name], names, self.said, self.declared.items, wide=wide)}")
        if len(found) > 1:
            after = "" if found[0] == name else " after cleaning"
            raise ValueError(f"{self.path}: line 1: {len(found)} columns are called {name!r}{after}; one is needed")
        self.used.add(found[0])
        return self.frame[found[0]]

    def require(self) -> None:
        """Refuse a header that lacks a declared column, and say all that it lacks."""
        declared = self.declared
        asked = (declared.person, *declared.columns, declared.ballot, declared.weight)
        wide = declared.item_columns
        needed = [name for name in (*asked, *wide) if name is not None]
        if lacking := [name for name in needed if not self.header.get(self.clean(name)) and name not in self.others]:
            names = [*map(str, self.frame.columns), *self.others]
            lacks = no_column(lacking, names, self.said, declared.items, len({*needed}), bool(wide))
            raise ValueError(f"{self.path}: {lacks}")

    def person(self, name: str) -> Any:
        """The column of persons; rows of nobody are left out."""
        column = self.column(name)
        codes, distinct = column.factorize()
        self.ledger.leave_out(nameless(distinct)[codes], "no person")
        return column

    def items(self, name: str) -> NDArray[np.int64]:
        """Codes of the items that a column holds, -1 of any other."""
        codes, counts = self.counted(self.column(name))
        return np.array([*self.coded(counts).values()], np.int64)[codes]

    def coded(self, counts: Any) -> dict[str, int]:
        """Code of every label, -1 of what is no item; counted as met."""
        codes = {}
        for text, number in counts.items():
            cleaned = self.clean(text)
            codes[text] = self.codes.get(cleaned, -1)
            self.ledger.met(text, cleaned, codes[text], int(number), self.declared.items)
        return codes

    def read(self, column: Any, meaning: Callable[[str], float]) -> NDArray[np.float64]:
        """What the texts of a column mean, not-a-number where nothing; -inf is told to the curator as misread."""
        codes, counts = self.counted(column)
        meant = np.array([meaning(text) for text in counts], float)
        for text, value in zip(counts, meant.tolist(), strict=True):
            if value == -math.inf and counts[text]:
                self.ledger.misread[text] += counts[text]
        return meant[codes]

    def counted(self, column: Any) -> tuple[NDArray[np.int64], dict[str, int]]:
        """Which text every cell holds, and in how many cells each is: the most frequent first, then as they come.

        Of a row with more fields than the header nothing is known: none of its cells is one.
        """
        codes, distinct = column.factorize()
        texts, counts = distinct.tolist(), np.bincount(codes[~self.beyond], minlength=len(distinct))
        order = np.argsort(-counts, kind="stable")
        return np.argsort(order)[codes], {texts[at]: int(counts[at]) for at in order}

    def take(self, rows: NDArray[np.int64]) -> None:
        """The table of these rows, and their account."""
        plain = isinstance(self.frame, Texts)
        self.frame = self.frame.taken(rows) if plain else self.frame.iloc[rows].reset_index(drop=True)
        self.beyond, self.ledger.gone = self.beyond[rows], self.ledger.gone[rows]

    def done(self, data: Any) -> Intake:
        """The data, and the account."""
        unused = (*(it for it in self.frame.columns if it not in self.used), *self.others)
        return replace(self.ledger.done(data, self.said), unused=tuple(map(str, unused)))


def sniffed_as(declared: Declaration, path: Any, *, plain: bool = False) -> Sniffed:
    """A table of texts, as its declaration says that it stands in its file."""
    sniffed = sniff(path, people_column(declared), plain=plain, layout=Layout.of(declared.layout))
    return _with_keys(declared, sniffed) if sniffed.keyed else sniffed


def _with_keys(declared: Declaration, sniffed: Sniffed) -> Sniffed:
    """The same with a column for all that is declared, whatever keys records have: if none has it, of empty cells.

    Keys that are one after cleaning are one column. A record that fills two of them has said nothing by either.
    """
    clean, frame = cleaner(declared.clean, declared.aliases), sniffed.frame
    alike: dict[str, list[Any]] = {}
    for name in frame.columns:
        alike.setdefault(clean(str(name)), []).append(name)
    columns = {names[0]: _one_of(frame[names].to_numpy(object)) for names in alike.values()}
    wide = declared.item_columns or declared.pairs or ()
    asked = (declared.person, *declared.columns, declared.ballot, declared.weight, *wide)
    lacking = [name for name in dict.fromkeys(asked) if name is not None and clean(name) not in alike]
    columns |= {name: np.full(len(frame), "", object) for name in lacking}
    told = f"; no record has {', '.join(map(shown, lacking[:TOLD]))}" + " and others" * (len(lacking) > TOLD)
    return replace(sniffed, frame=table_of([*columns], [*columns.values()]), said=sniffed.said + told * bool(lacking))


def _one_of(cells: NDArray[Any]) -> NDArray[Any]:
    """Of every row the only cell that is filled; empty where none is, or several."""
    filled = cells != ""
    return np.where(filled.sum(axis=1) == 1, cells[np.arange(len(cells)), filled.argmax(axis=1)], "")


def people_column(declared: Declaration) -> Callable[[str], bool]:
    """Whether a column, by its name, is that of the declared persons."""
    clean, person = cleaner(declared.clean, declared.aliases), declared.person
    return lambda name: person is not None and (name == person or clean(name) == clean(person))


def ids_of(column: Any, rows: Any) -> Any:
    """Numbers of the persons of some rows; None where nobody is known."""
    return None if column is None else person_ids("person", column.to_numpy(object)[rows])
