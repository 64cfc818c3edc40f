"""Ballots from rows, texts and files of PrefLib: what each form says of an item, then the rules that all share.

How many ballots there are is how many people, or sheets, the file has: where one is replaced, everybody may know it. So
one that does not fit stays, and ranks nothing.

One ballot is the same ballot by every form. What it says is an order of names and gaps in it; then

- gaps close: 1, 3 and 1, 2 are one order, and so are `A > > B` and `A > B`. Full is who gives every item a place of its
  own then, whatever the numbers;
- a name that is no item is taken off, and its gap closes. A ballot that has one, and leaves items out, may mean one of
  these by it: where unranked items come last, those of this ballot are compared with none. `withdrawn` says which names
  cannot be meant so. (A wide table has a column for every item, and whatever else it has is no part of a ballot.)
- an item that is there again keeps its best place. If two items tie then, a ballot says two things: it ranks nothing.

Each is a function of one ballot and the declaration: a ballot that becomes another changes one after these rules, as
before. They make full ballots where full ones are declared, and else such as any partial one may be. So neither gaps
that close nor items that stay apart change a sensitivity, and what protects a ballot of the result protects its own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE
from dprank.data.accounts import AGAIN, ALTERED, BEYOND, OPEN, TAKEN_OFF, Intake, Ledger, Table, ids_of
from dprank.data.amounts import count_of
from dprank.data.ballots import Ballots, dense_places
from dprank.data.bounding import kept
from dprank.data.cleaning import cleaner
from dprank.data.forms import form_named
from dprank.data.layout import Layout
from dprank.data.places import AWAY, COUNTED, UNKNOWN, Names, counts, place_reader

__all__ = ["long", "of_file", "orders", "ranks", "repeat", "wide"]


def wide(table: Table) -> Intake:
    """A column an item, which holds its place."""
    repeat(table)
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    meaning = place_reader(declared)
    values = np.array([table.read(table.column(name), meaning) for name in declared.items]).T
    values = values.reshape(len(table.frame), len(declared.items))
    ledger.leave_out((values == -math.inf).any(axis=1), "no such place")
    return _cast(table, values, _row_groups(table, person))


def orders(table: Table) -> Intake:
    """A column of texts like ``A > B = C``, or by another sign; between two of them there may be nothing."""
    repeat(table)
    declared, ledger, names = table.declared, table.ledger, Names(table.declared)
    person = None if declared.person is None else table.person(declared.person)
    column = table.column(declared.columns[0])
    codes, distinct = column.factorize()
    cells = np.bincount(codes[~table.beyond], minlength=len(distinct))
    said = _Said(len(distinct), len(declared.items))
    for at, text in enumerate(distinct):
        for place, tied in enumerate(text.split(declared.between or ">")):
            for part in filter(None, map(str.strip, tied.split("="))):
                [code] = names.coded({part: cells[at]}, ledger, declared.items).values()
                said.put(at, code, place)
    ledger.leave_out(said.counted[codes], "no such order")
    ledger.altered[TAKEN_OFF] += int(said.dropped[codes][ledger.stays].sum())
    return _cast(table, said.places[codes], _row_groups(table, person) | said.of(codes))


def ranks(table: Table) -> Intake:
    """A column a place, best first, which holds the name of an item."""
    repeat(table)
    declared, ledger, names = table.declared, table.ledger, Names(table.declared)
    person = None if declared.person is None else table.person(declared.person)
    said = _Said(len(table.frame), len(declared.items))
    for place, name in enumerate(declared.columns):
        codes, distinct = table.column(name).factorize()
        cells = np.bincount(codes[~table.beyond], minlength=len(distinct)).tolist()
        found = names.coded(dict(zip(distinct.tolist(), cells, strict=True)), ledger, declared.items)
        code = np.array([found[it] for it in distinct.tolist()], np.int64)[codes]
        said.put_each(code, place)
    ledger.leave_out(said.counted, "no such order")
    ledger.altered[TAKEN_OFF] += int(said.dropped[ledger.stays].sum())
    return _cast(table, said.places, _row_groups(table, person) | said.of(slice(None)))


class _Said:
    """What ballots that name items in their order say: of a name that comes again the best place."""

    def __init__(self, ballots: int, items: int) -> None:
        self.places = np.full((ballots, items), math.nan)
        self.again, self.foreign, self.counted = (np.zeros(ballots, bool) for _ in range(3))
        self.dropped = np.zeros(ballots, np.int64)

    def put(self, ballot: int, code: int, place: int) -> None:
        """A name of this code in a place not before any given so far."""
        if code == UNKNOWN:
            self.foreign[ballot] = True
            self.dropped[ballot] += 1
        elif code == COUNTED:
            self.counted[ballot] = True
        elif code != AWAY:
            before = self.places[ballot, code]
            self.again[ballot] |= before < place
            self.places[ballot, code] = np.fmin(before, place)

    def put_each(self, codes: NDArray[np.int64], place: int) -> None:
        """The same of all ballots at once, a name each."""
        self.foreign |= codes == UNKNOWN
        self.dropped += codes == UNKNOWN
        self.counted |= codes == COUNTED
        ballots = np.flatnonzero(codes >= 0)
        before = self.places[ballots, codes[ballots]]
        self.again[ballots] |= before < place
        self.places[ballots, codes[ballots]] = np.fmin(before, place)

    def of(self, rows: Any) -> dict[str, Any]:
        """Of rows what is not a place."""
        return {"again": self.again[rows], "foreign": self.foreign[rows]}


def repeat(table: Table) -> None:
    """Every ballot, or answer, a row of its own, where a row stands for several: a whole number; else it is one."""
    name = table.declared.times
    if name in (None, "none"):
        return
    most = MOST_AT_ONCE // max(1, len(table.declared.items))

    read = table.read(table.column(str(name)), lambda text: count_of(text, table.declared.thousands, most))
    wrong = read == -math.inf
    each = np.where(wrong, 1, read).astype(np.int64)
    if each.sum() > most:
        what = "answers" if table.declared.kind == "comparisons" else "ballots"
        raise ValueError(f"{table.path}: {name}: more {what} than {MOST_AT_ONCE:,} places have room for")
    rows = np.repeat(np.arange(len(each)), each)
    table.take(rows)
    table.ledger.leave_out(wrong[rows], "no such count")


def _require_once(table: Table) -> None:
    """Refuse a column that counts ballots by its name, where nothing says what it is: the header alone is looked at."""
    if table.declared.person is not None or table.declared.times is not None:
        return
    for column in table.frame.columns:
        if column not in table.used and counts(str(column)):
            raise ValueError(
                f"{table.path}: column {str(column)!r} may say for how many ballots a row stands; say --times "
                f"{'none, or give each ballot rows of its own' if table.declared.form == 'long' else repr(str(column))}"
                f"{'' if table.declared.form == 'long' else ', or --times none: each row is one'}"
            )


def _row_groups(table: Table, person: Any) -> dict[str, Any]:
    """Every row a ballot: whose it is, and its weight; a row of nobody is one of somebody who is not known."""
    declared, rows = table.declared, len(table.frame)
    named = ~table.ledger.left_for("no person", BEYOND)
    who = None if person is None else np.zeros(rows, np.int64)
    if who is not None:
        who[named] = ids_of(person, named)
    weight = None if declared.weight is None else _weights(table, declared.weight)
    _require_once(table)
    return {"rows": np.arange(rows), "person": who, "named": named, "weight": weight}


def _weights(table: Table, name: str) -> NDArray[np.float64]:
    def meaning(text: str) -> float:
        return count_of(text, table.declared.thousands, sys.float_info.max)

    return table.read(table.column(name), meaning)


def long(table: Table) -> Intake:
    """Rows of a person, or of a ballot, an item and its place."""
    declared, ledger = table.declared, table.ledger
    item = _names(table, declared.columns[0])
    value = table.read(table.column(declared.columns[1]), place_reader(declared))
    named = [name for name in (declared.person, declared.ballot) if name is not None]
    columns = [table.person(name) for name in named]
    ledger.leave_out(item == AWAY, "an item withdrawn, or none")
    ledger.leave_out((item == UNKNOWN) | ((item == COUNTED) & np.isnan(value)), "an item not declared")
    alive = ~ledger.left_for("no person", BEYOND)
    ids = np.zeros((len(named), len(item)), np.int64)
    for at, column in enumerate(columns):
        ids[at, alive] = ids_of(column, alive)
    # nobody's rows are a group of their own: a ballot that ranks nothing
    keys, group = np.unique(np.vstack([alive, ids]), axis=1, return_inverse=True)
    group = np.ravel(group)
    size = keys.shape[1]

    def leave_group_out(rows: Any, reason: str) -> None:
        """With one of its rows a ballot goes."""
        bad = np.zeros(size, bool)
        bad[group[rows]] = True
        ledger.leave_out(bad[group], reason)

    leave_group_out(ledger.stays & (value == -math.inf), "no such place")
    leave_group_out(ledger.stays & (item == COUNTED), "no such order")
    used = ledger.stays & ~np.isnan(value)
    values = np.full((size, len(declared.items)), math.nan)
    np.fmin.at(values, (group[used], item[used]), value[used])
    again, foreign = np.zeros(size, bool), np.zeros(size, bool)
    again[group[used][values[group[used], item[used]] != value[used]]] = True
    foreign[group[alive & (item == UNKNOWN) & ~np.isnan(value)]] = True
    weight = None
    if declared.weight is not None:
        each = _weights(table, declared.weight)
        weight = np.zeros(size)
        weight[group] = each
        leave_group_out(weight[group] != each, "no such weight")
    _require_once(table)
    # without persons every ballot is somebody's
    whose = {"rows": group, "person": keys[1], "named": keys[0] > 0, "weight": weight}
    return _cast(table, values, whose | {"again": again, "foreign": foreign})


def _names(table: Table, name: str) -> NDArray[np.int64]:
    """Codes of the names that a column holds."""
    codes, distinct = table.column(name).factorize()
    cells = np.bincount(codes[~table.beyond], minlength=len(distinct)).tolist()
    found = Names(table.declared).coded(
        dict(zip(distinct.tolist(), cells, strict=True)), table.ledger, table.declared.items
    )
    return np.array([found[it] for it in distinct.tolist()], np.int64)[codes]


def _cast(table: Any, values: NDArray[np.float64], ballots: Mapping[str, Any]) -> Intake:
    """Ballots from what they say of every item, the least best: the rules that all forms share.

    `ballots["rows"]` is the ballot of each row of the file, `ballots["named"]` says whose person is known, and "again"
    and "foreign", where they are, which name an item twice, or what is none. Rows of items that are not declared take
    nobody's ballot away: whoever put nothing else has a ballot that ranks nothing. So has whoever gave none that fits;
    of a person one ballot is there.
    """
    declared, ledger, rows = table.declared, table.ledger, ballots["rows"]
    full = declared.ballots == "full"
    there = np.ones(len(values), bool)
    there[rows[~ledger.stays & ~ledger.left_for("an item not declared", "an item withdrawn, or none")]] = False

    def leave_out(wrong: Any, reason: str) -> None:
        there[wrong] = False
        ledger.leave_out(wrong[rows], reason)

    gap, places = np.isnan(values), dense_places(values)
    again, foreign = (ballots.get(it, np.zeros(len(values), bool)) for it in ("again", "foreign"))
    tied = places.max(axis=1) + 1 < (places >= 0).sum(axis=1)
    leave_out(again & tied, "an item twice")
    if declared.ballots != "partial":
        leave_out(gap.any(axis=1), "not every place once" if full else "an item without a place")
    if full:
        leave_out(tied, "not every place once")
    weight = ballots["weight"]
    if weight is not None:
        leave_out(weight == -math.inf, "no such weight")
    person, one = ballots["person"], np.ones(len(values), bool)
    if person is not None:
        behind = declared.unranked == "last"
        said = np.where(gap & foreign[:, None], places.dtype.type(-2), places) if behind else places
        there &= _one_each(declared.repeated, person, said, weight, there)
        ledger.leave_out(~there[rows], "another ballot of the same person")
        one = there | _first_of_others(person, ballots["named"], there)
    if declared.ballots == "partial":
        ledger.altered[ALTERED[2]] += int(gap[there].all(axis=1).sum())
    heavy = None
    if weight is not None:
        most = declared.max_weight or 1
        ledger.altered[ALTERED[4]] += int((weight[there] > most).sum())
        heavy = np.where(there, np.minimum(weight, most), 0)[one].astype(np.int64)
    ledger.altered[AGAIN] += int((again & there).sum())
    places = np.where(there[:, None], places.astype(np.int64), -1)
    if declared.unranked == "last":
        left = gap.any(axis=1) & ~gap.all(axis=1) & there
        ledger.altered[ALTERED[3]] += int((left & ~foreign).sum())
        ledger.altered[OPEN] += int((left & foreign).sum())
        places = np.where((places < 0) & ~(foreign & there)[:, None], len(declared.items), places)
    return table.done(Ballots(places[one], declared.items, heavy))


def _first_of_others(person: NDArray[np.int64], named: NDArray[np.bool_], there: NDArray[np.bool_]) -> Any:
    """A ballot of every person of whom none is there, and all of nobody: they rank nothing."""
    first: NDArray[Any] = ~named
    others = np.flatnonzero(named & ~np.isin(person, person[there]))
    first[others[np.unique(person[others], return_index=True)[1]]] = True
    return first


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


class _Counted:
    """The ballots of a file that names its candidates, as a table whose rows they are."""

    def __init__(self, declared: Any, rows: int, said: str) -> None:
        self.declared, self.said, self.ledger = declared, said, Ledger(rows)

    def done(self, data: Any) -> Intake:
        return self.ledger.done(data, self.said)


def of_file(declared: Any, path: Any) -> Intake:
    """Every ballot of a file that names its candidates as a row of its own."""
    file = form_named(declared.form).read(path, Layout.of(declared.layout))
    if file.voters * len(declared.items) > MOST_AT_ONCE:
        raise ValueError(f"{path}: more ballots than {MOST_AT_ONCE:,} places have room for")
    clean, names = cleaner(declared.clean, declared.aliases), Names(declared)
    coded = [(name, names.code(clean(name))) for name in file.names]
    at = np.array([AWAY if code < 0 and name in file.withdrawn else code for name, code in coded], np.int64)
    table, read = _Counted(declared, file.voters, file.said), int(file.counts.sum())
    table.ledger.leave_out(np.arange(file.voters) >= read, "no such order")
    table.ledger.misread.update(file.others)
    said = _Said(len(file.orders), len(declared.items))
    met = np.zeros(len(file.names), np.int64)
    for row, (order, count) in enumerate(zip(file.orders, file.counts, strict=True)):
        for place, tied in enumerate(order):
            met[list(tied)] += count
            for code in at[list(tied)]:  # two spellings of a write-in may be one item
                said.put(row, code, place)
    for name, code, number in zip(file.names, at, met, strict=True):
        if code == COUNTED:
            table.ledger.misread[name] += int(number)
        elif code != AWAY:
            table.ledger.met(name, clean(name), int(code), int(number), declared.items)
    table.ledger.altered[TAKEN_OFF] += int(met[at == UNKNOWN].sum())
    each = np.append(np.repeat(np.arange(len(file.orders)), file.counts), np.full(file.voters - read, -1))
    table.ledger.leave_out(np.append(said.counted, False)[each], "no such order")
    nothing = np.full((1, len(declared.items)), math.nan)
    values = np.vstack([said.places, nothing])[each]
    whose = {"rows": np.arange(file.voters), "person": None, "weight": None}
    of = {it: np.append(of, False)[each] for it, of in said.of(slice(None)).items()}
    return replace(_cast(table, values, whose | of), absent=file.absent)
