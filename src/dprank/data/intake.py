"""Rows of a file as data that a mechanism takes, and what became of each: by rules that look at one person's rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank.data.ballots import Ballots
from dprank.data.bounding import kept, nameless, person_ids
from dprank.data.cleaning import cleaner
from dprank.data.comparisons import Comparisons
from dprank.data.preflib import is_preflib, read_preflib
from dprank.data.rankings import Rankings
from dprank.data.sniffing import sniff
from dprank.data.tallies import Tallies

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["ALTERED", "REASONS", "Intake", "pair_of", "read_file"]

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
)
#: What is changed of a row that stays, in cells or ballots; as local.
ALTERED = (
    "cells cleaned",
    "items not declared, taken off their ballots",
    "ballots that rank nothing",
    "ballots with unranked items, put last",
    "weights above the most, counted as the most",
)
NUMBERS = {"1": 1.0, "0": 0.0, "0.5": 0.5, "1.0": 1.0, "0.0": 0.0}
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
        In the file; of a questionnaire with a column a pair, its answers; of a PrefLib file, its ballots.
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
    """

    data: Any
    said: str
    rows: int
    left_out: Mapping[str, int]
    unknown: Mapping[str, int]
    altered: Mapping[str, int]
    written: Mapping[str, int]
    misread: Mapping[str, int]

    @property
    def kept(self) -> int:
        """Rows that a mechanism sees, before it bounds what one person contributes."""
        return self.rows - sum(self.left_out.values())


def read_file(declared: Declaration, path: Any) -> Intake:
    """A file as its declaration says; what `dprank.Declaration.read` returns.

    Raises
    ------
    ValueError
        Naming the file, and what it is not or lacks.
    """
    if declared.form == "preflib":
        return _preflib(declared, path)
    if is_preflib(path):
        raise ValueError(f"{path} is a file of PrefLib; form = 'preflib' reads it")
    table = _Table(declared, path)
    form = {
        ("comparisons", "long"): _answers,
        ("comparisons", "wide"): _questionnaire,
        ("tallies", "long"): _tallies,
        ("ballots", "wide"): _wide,
        ("ballots", "long"): _long,
        ("ballots", "orders"): _orders,
    }[declared.kind, declared.form or "long"]
    return form(table)


class _Table:
    """A table of texts, and an account of its rows."""

    def __init__(self, declared: Declaration, path: Any) -> None:
        sniffed = sniff(path)
        self.declared, self.path, self.said, self.frame = declared, path, sniffed.said, sniffed.frame
        self.clean = cleaner(declared.clean, declared.aliases)
        self.codes = {self.clean(name): at for at, name in enumerate(declared.items)}
        self.header: dict[str, list[Any]] = {}
        for column in self.frame.columns:
            self.header.setdefault(self.clean(str(column)), []).append(column)
        self.ledger = _Ledger(len(self.frame))

    def column(self, name: str) -> Any:
        """A column by its name, as written or after cleaning."""
        if name in self.frame.columns:
            return self.frame[name]
        found = self.header.get(self.clean(name), [])
        if not found:
            raise ValueError(f"{self.path}: no column {name!r}; the file has no such name in its first line")
        if len(found) > 1:
            raise ValueError(f"{self.path}: line 1: columns that are {name!r} after cleaning: {len(found)}; one is needed")
        return self.frame[found[0]]

    def person(self, name: str) -> Any:
        """The column of persons; rows of nobody are left out."""
        column = self.column(name)
        distinct = column.unique()
        self.ledger.leave_out(column.isin(distinct[nameless(distinct)]), "no person")
        return column

    def items(self, name: str) -> NDArray[np.int64]:
        """Codes of the items that a column holds, -1 of any other."""
        column = self.column(name)
        return column.map(self.coded(column.value_counts())).fillna(-1).to_numpy(np.int64)

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
        meant = {}
        for text, number in column.value_counts().items():
            meant[text] = meaning(text)
            if meant[text] == -math.inf:
                self.ledger.misread[text] += int(number)
        return column.map(meant).to_numpy(float)

    def done(self, data: Any) -> Intake:
        return self.ledger.done(data, self.said)


class _Ledger:
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
        return self.gone == 0

    def met(self, text: str, cleaned: str, code: int, number: int, items: tuple[str, ...]) -> None:
        """A label of an item in so many cells."""
        self.written[text] += number
        if code < 0:
            self.unknown[cleaned] += number
        elif text != items[code]:
            self.altered["cells cleaned"] += number

    def done(self, data: Any, said: str) -> Intake:
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


def _ids(column: Any, rows: Any) -> Any:
    return None if column is None else person_ids("person", column[rows].to_numpy(object))


def _answers(table: _Table) -> Intake:
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    first, second = (table.items(name) for name in declared.columns[:2])
    ledger.leave_out(first < 0, "an item not declared")
    ledger.leave_out(second < 0, "an item not declared")
    ledger.leave_out(first == second, "an item compared with itself")
    known = declared.answers or NUMBERS
    outcome = table.read(table.column(declared.columns[2]), lambda text: known.get(table.clean(text), -math.inf))
    ledger.leave_out(outcome == -math.inf, "no such answer")
    stays = ledger.stays
    voter = _ids(person, stays)
    return table.done(Comparisons(first[stays], second[stays], outcome[stays], items=declared.items, voter=voter))


def pair_of(header: str, codes: Mapping[str, int], clean: Callable[[str], str]) -> tuple[int, int] | None:
    """The two items that a header like ``Pay vs Hours`` names; None where it names none.

    Examples
    --------
    >>> pair_of("Pay vs Hours", {"Pay": 0, "Hours": 1}, str)
    (0, 1)
    """
    words = header.split()
    for at, word in enumerate(words):
        if word.lower() in ("vs", "vs.", "versus"):
            sides = [codes.get(clean(" ".join(part))) for part in (words[:at], words[at + 1 :])]
            if sides[0] is not None and sides[1] is not None and sides[0] != sides[1]:
                return sides[0], sides[1]
    return None


def _questionnaire(table: _Table) -> Intake:
    """A row a person, or a sheet where no person is known; a column a pair."""
    declared = table.declared
    found: list[tuple[Any, tuple[int, int]]] = []
    if declared.pairs is None:
        for header in table.frame.columns:
            if pair := pair_of(str(header), table.codes, table.clean):
                found.append((table.frame[header], pair))
        if not found:
            raise ValueError(f"{table.path}: no column is named like 'Pay vs Hours', by two declared items; say --pairs")
    else:
        for header, said in declared.pairs.items():
            pair = pair_of(said, table.codes, table.clean)
            if pair is not None:  # the declaration has looked
                found.append((table.column(header), pair))
    rows = len(table.frame)
    if declared.person is None:
        nobody, voter = np.zeros(rows, bool), np.arange(rows)
    else:
        column = table.person(declared.person)
        nobody, voter = ~table.ledger.stays, np.zeros(rows, np.int64)
        voter[~nobody] = _ids(column, ~nobody)
    table.ledger.gone = np.zeros(rows * len(found), np.int8)
    ledger, known = table.ledger, declared.answers or NUMBERS
    ledger.leave_out(np.tile(nobody, len(found)), "no person")
    outcomes = []
    for column, (first, second) in found:

        def meaning(text: str, first: int = first, second: int = second) -> float:
            cleaned = table.clean(text)
            won = table.codes.get(cleaned)
            if won is not None:
                return 1.0 if won == first else 0.0 if won == second else -math.inf
            return known.get(cleaned, math.nan if cleaned.strip().lower() in BLANK else -math.inf)

        outcomes.append(table.read(column, meaning))
    outcome = np.concatenate(outcomes)
    blank = np.isnan(outcome)
    ledger.leave_out(outcome == -math.inf, "no such answer")
    # what nobody answered is no row
    ledger.gone = ledger.gone[~blank]
    stays = ~blank
    stays[~blank] = ledger.stays
    pairs = np.repeat(np.array([pair for _, pair in found]), rows, axis=0)[stays]
    who = np.tile(voter, len(found))[stays]
    return table.done(Comparisons(pairs[:, 0], pairs[:, 1], outcome[stays], items=declared.items, voter=who))


def _tallies(table: _Table) -> Intake:
    declared = table.declared
    person = table.person(declared.person or "")
    item = table.items(declared.columns[0])
    table.ledger.leave_out(item < 0, "an item not declared")
    stays = table.ledger.stays
    return table.done(Tallies(_ids(person, stays), item[stays], declared.items))


def _place(text: str) -> float:
    """A place as it is written; not-a-number where there is none, -inf where it is no number above 0."""
    text = text.strip()
    if text.lower() in BLANK:
        return math.nan
    try:
        place = float(text)
    except ValueError:
        return -math.inf
    return place if 0 < place < math.inf else -math.inf


def _wide(table: _Table) -> Intake:
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    values = np.array([table.read(table.column(name), _place) for name in declared.items]).T
    values = values.reshape(len(table.frame), len(declared.items))
    if declared.ballots == "full":
        whole = (np.sort(values, axis=1) == np.arange(1, len(declared.items) + 1)).all(axis=1)
        ledger.leave_out(~whole, "not every place once")
    else:
        ledger.leave_out((values == -math.inf).any(axis=1), "no such place")
    return _cast(table, values, _row_groups(table, person))


def _orders(table: _Table) -> Intake:
    """A column of texts like ``A > B = C``."""
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    column = table.column(declared.columns[0])
    codes, distinct = column.factorize(use_na_sentinel=False)
    counts = np.bincount(codes, minlength=len(distinct))
    places = np.full((len(distinct), len(declared.items)), math.nan)
    fault = np.zeros(len(distinct), np.int8)
    dropped = np.zeros(len(distinct), np.int64)
    for at, text in enumerate(distinct):
        groups = [[part.strip() for part in tied.split("=")] for tied in text.split(">")] if text.strip() else []
        if not all(part for tied in groups for part in tied):
            fault[at] = REASONS.index("no such order") + 1
            ledger.misread[text] += int(counts[at])
            continue
        for place, tied in enumerate(groups):
            for part in tied:
                [code] = table.coded({part: counts[at]}).values()
                if code < 0:
                    dropped[at] += 1
                elif not math.isnan(places[at, code]):
                    fault[at] = REASONS.index("an item twice") + 1
                else:
                    places[at, code] = place
    for reason in ("no such order", "an item twice"):
        ledger.leave_out((fault == REASONS.index(reason) + 1)[codes], reason)
    ledger.altered[ALTERED[1]] += int(dropped[codes][ledger.stays].sum())
    return _cast(table, places[codes], _row_groups(table, person))


def _row_groups(table: _Table, person: Any) -> dict[str, Any]:
    """Every row a ballot: whose it is, and its weight."""
    declared, rows = table.declared, len(table.frame)
    who = None if person is None else np.zeros(rows, np.int64)
    if who is not None:
        alive = table.ledger.gone != REASONS.index("no person") + 1
        who[alive] = _ids(person, alive)
    weight = None if declared.weight is None else _weights(table, declared.weight)
    return {"rows": np.arange(rows), "person": who, "weight": weight}


def _weights(table: _Table, name: str) -> NDArray[np.float64]:
    def meaning(text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            return -math.inf
        return weight if 0 <= weight < math.inf and weight == int(weight) else -math.inf

    return table.read(table.column(name), meaning)


def _long(table: _Table) -> Intake:
    """Rows of a person, or of a ballot, an item and its place."""
    declared, ledger = table.declared, table.ledger
    item = table.items(declared.columns[0])
    value = table.read(table.column(declared.columns[1]), _place)
    named = [name for name in (declared.person, declared.ballot) if name is not None]
    columns = [table.person(name) for name in named]
    ledger.leave_out(item < 0, "an item not declared")
    alive = ledger.gone != REASONS.index("no person") + 1
    ids = np.zeros((len(named), len(item)), np.int64)
    for at, column in enumerate(columns):
        ids[at, alive] = _ids(column, alive)
    # nobody's rows are a group of their own, which is left out
    keys, group = np.unique(np.vstack([alive, ids]), axis=1, return_inverse=True)
    group = np.ravel(group)
    size = keys.shape[1]

    def leave_group_out(rows: Any, reason: str) -> None:
        """With one of its rows a ballot goes."""
        bad = np.zeros(size, bool)
        bad[group[rows]] = True
        ledger.leave_out(bad[group], reason)

    leave_group_out(ledger.stays & (value == -math.inf), "no such place")
    used = ledger.stays & ~np.isnan(value)
    values = np.full((size, len(declared.items)), math.nan)
    values[group[used], item[used]] = value[used]
    again = np.zeros(len(item), bool)
    again[used] = values[group[used], item[used]] != value[used]
    leave_group_out(again, "an item twice")
    weight = None
    if declared.weight is not None:
        each = _weights(table, declared.weight)
        weight = np.zeros(size)
        weight[group] = each
        leave_group_out(weight[group] != each, "no such weight")
    person = None if declared.person is None else keys[1]
    return _cast(table, values, {"rows": group, "person": person, "weight": weight})


def _cast(table: Any, values: NDArray[np.float64], ballots: Mapping[str, Any]) -> Intake:
    """Ballots from what they say of every item, the least best: the rules that all forms share.

    `ballots["rows"]` is the ballot of each row of the file. Rows of items that are not declared take nobody's ballot
    away: whoever put nothing else has a ballot that ranks nothing.
    """
    declared, ledger, rows = table.declared, table.ledger, ballots["rows"]
    full = declared.ballots == "full"
    there = np.ones(len(values), bool)
    there[rows[~ledger.stays & (ledger.gone != REASONS.index("an item not declared") + 1)]] = False

    def leave_out(wrong: NDArray[np.bool_], reason: str) -> None:
        there[wrong] = False
        ledger.leave_out(wrong[rows], reason)

    gap = np.isnan(values)
    if declared.ballots != "partial":
        leave_out(gap.any(axis=1), "not every place once" if full else "an item without a place")
    if full:
        ordered = np.sort(values, axis=1)
        leave_out((ordered[:, 1:] == ordered[:, :-1]).any(axis=1), "not every place once")
    weight = ballots["weight"]
    if weight is not None:
        leave_out(weight == -math.inf, "no such weight")
    places, person = _dense(values), ballots["person"]
    if person is not None:
        there &= _one_each(declared.repeated, person, places, weight, there)
        ledger.leave_out(~there[rows], "another ballot of the same person")
    places, gap = places[there], gap[there]
    if declared.ballots == "partial":
        ledger.altered[ALTERED[2]] += int(gap.all(axis=1).sum())
    if full and weight is None:
        return table.done(Rankings(places, declared.items))
    heavy = None
    if weight is not None:
        most = declared.max_weight or 1
        ledger.altered[ALTERED[4]] += int((weight[there] > most).sum())
        heavy = np.minimum(weight[there], most).astype(np.int64)
    cast = Ballots(places, declared.items, heavy)
    if declared.unranked == "last":
        ledger.altered[ALTERED[3]] += int((gap.any(axis=1) & ~gap.all(axis=1)).sum())
        cast = cast.unranked_last()
    return table.done(cast)


def _one_each(
    rule: str | None, person: NDArray[np.int64], places: NDArray[np.int64], weight: Any, there: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which ballots stay of persons with several: one by hash, or none."""
    stays = there.copy()
    whose = person[there]
    if rule == "none":
        _, code, each = np.unique(whose, return_inverse=True, return_counts=True)
        stays[there] = (each == 1)[np.ravel(code)]
    elif len(np.unique(whose)) < len(whose):
        said = list(places[there].T) + ([] if weight is None else [np.minimum(weight[there], 2.0**53)])
        stays[there] = kept([whose], said, 1)
    return stays


def _dense(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places 0, 1, 2 … by what is said of each item, the least best; -1 where nothing is."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    rank = np.zeros(values.shape, np.int64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=rank[:, 1:])
    places = np.empty(values.shape, np.int64)
    np.put_along_axis(places, order, rank, axis=1)
    places[np.isnan(values)] = -1
    return places


class _Counted:
    """The ballots of a PrefLib file as a table whose rows they are."""

    def __init__(self, declared: Declaration, rows: int, said: str) -> None:
        self.declared, self.said, self.ledger = declared, said, _Ledger(rows)

    def done(self, data: Any) -> Intake:
        return self.ledger.done(data, self.said)


def _preflib(declared: Declaration, path: Any) -> Intake:
    file = read_preflib(path)
    clean = cleaner(declared.clean, declared.aliases)
    codes = {clean(name): at for at, name in enumerate(declared.items)}
    at = np.array([codes.get(clean(name), -1) for name in file.names])
    if len(np.unique(at[at >= 0])) < (at >= 0).sum():
        raise ValueError(f"{path}: ALTERNATIVE NAME: two are one declared item after cleaning")
    table = _Counted(declared, int(file.counts.sum()), file.said)
    values = np.full((len(file.orders), len(declared.items)), math.nan)
    met = np.zeros(len(file.names), np.int64)
    for row, (order, count) in enumerate(zip(file.orders, file.counts, strict=True)):
        for place, tied in enumerate(order):
            met[list(tied)] += count
            known = at[list(tied)]
            values[row, known[known >= 0]] = place
    for name, code, number in zip(file.names, at, met, strict=True):
        table.ledger.met(name, clean(name), int(code), int(number), declared.items)
    table.ledger.altered[ALTERED[1]] += int(met[at < 0].sum())
    rows = np.repeat(np.arange(len(values)), file.counts)
    return _cast(table, values[rows], {"rows": np.arange(len(rows)), "person": None, "weight": None})
