"""Ballots from rows, texts and files of PrefLib: what each form says of an item, then the rules that all share.

How many ballots there are is how many people, or sheets, the file has: where one is replaced, everybody may know it. So
one that does not fit stays, and ranks nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.data.accounts import ALTERED, BEYOND, BLANK, REASONS, Intake, Ledger, Table, ids_of
from dprank.data.ballots import Ballots, dense_places
from dprank.data.bounding import kept
from dprank.data.cleaning import cleaner
from dprank.data.preflib import read_preflib

__all__ = ["long", "orders", "preflib", "wide"]


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


def wide(table: Table) -> Intake:
    """A column an item, which holds its place."""
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


def orders(table: Table) -> Intake:
    """A column of texts like ``A > B = C``."""
    declared, ledger = table.declared, table.ledger
    person = None if declared.person is None else table.person(declared.person)
    column = table.column(declared.columns[0])
    codes, distinct = column.factorize()
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


def _row_groups(table: Table, person: Any) -> dict[str, Any]:
    """Every row a ballot: whose it is, and its weight; a row of nobody is one of somebody who is not known."""
    declared, rows = table.declared, len(table.frame)
    named = ~table.ledger.left_for("no person", BEYOND)
    who = None if person is None else np.zeros(rows, np.int64)
    if who is not None:
        who[named] = ids_of(person, named)
    weight = None if declared.weight is None else _weights(table, declared.weight)
    return {"rows": np.arange(rows), "person": who, "named": named, "weight": weight}


def _weights(table: Table, name: str) -> NDArray[np.float64]:
    def meaning(text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            return -math.inf
        return weight if 0 <= weight < math.inf and weight == int(weight) else -math.inf

    return table.read(table.column(name), meaning)


def long(table: Table) -> Intake:
    """Rows of a person, or of a ballot, an item and its place."""
    declared, ledger = table.declared, table.ledger
    item = table.items(declared.columns[0])
    value = table.read(table.column(declared.columns[1]), _place)
    named = [name for name in (declared.person, declared.ballot) if name is not None]
    columns = [table.person(name) for name in named]
    ledger.leave_out(item < 0, "an item not declared")
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
    # without persons every ballot is somebody's
    return _cast(table, values, {"rows": group, "person": keys[1], "named": keys[0] > 0, "weight": weight})


def _cast(table: Any, values: NDArray[np.float64], ballots: Mapping[str, Any]) -> Intake:
    """Ballots from what they say of every item, the least best: the rules that all forms share.

    `ballots["rows"]` is the ballot of each row of the file, and `ballots["named"]` says whose person is known. Rows of
    items that are not declared take nobody's ballot away: whoever put nothing else has a ballot that ranks nothing. So
    has whoever gave none that fits; of a person one ballot is there.
    """
    declared, ledger, rows = table.declared, table.ledger, ballots["rows"]
    full = declared.ballots == "full"
    there = np.ones(len(values), bool)
    there[rows[~ledger.stays & ~ledger.left_for("an item not declared")]] = False

    def leave_out(wrong: Any, reason: str) -> None:
        there[wrong] = False
        ledger.leave_out(wrong[rows], reason)

    gap = np.isnan(values)
    if declared.ballots != "partial":
        leave_out(gap.any(axis=1), "not every place once" if full else "an item without a place")
    if full:
        ordered = np.sort(values, axis=1)
        leave_out(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1), "not every place once")
    weight = ballots["weight"]
    if weight is not None:
        leave_out(weight == -math.inf, "no such weight")
    places, person, one = dense_places(values), ballots["person"], np.ones(len(values), bool)
    if person is not None:
        there &= _one_each(declared.repeated, person, places, weight, there)
        ledger.leave_out(~there[rows], "another ballot of the same person")
        one = there | _first_of_others(person, ballots["named"], there)
    if declared.ballots == "partial":
        ledger.altered[ALTERED[2]] += int(gap[there].all(axis=1).sum())
    heavy = None
    if weight is not None:
        most = declared.max_weight or 1
        ledger.altered[ALTERED[4]] += int((weight[there] > most).sum())
        heavy = np.where(there, np.minimum(weight, most), 0)[one].astype(np.int64)
    cast = Ballots(np.where(there[:, None], places, -1)[one], declared.items, heavy)
    if declared.unranked == "last":
        ledger.altered[ALTERED[3]] += int((gap.any(axis=1) & ~gap.all(axis=1) & there).sum())
        cast = cast.unranked_last()
    return table.done(cast)


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
    """The ballots of a PrefLib file as a table whose rows they are."""

    def __init__(self, declared: Any, rows: int, said: str) -> None:
        self.declared, self.said, self.ledger = declared, said, Ledger(rows)

    def done(self, data: Any) -> Intake:
        return self.ledger.done(data, self.said)


def preflib(declared: Any, path: Any) -> Intake:
    """Every ballot of a file as a row of its own."""
    file = read_preflib(path)
    clean = cleaner(declared.clean, declared.aliases)
    codes = {clean(name): at for at, name in enumerate(declared.items)}
    at = np.array([codes.get(clean(name), -1) for name in file.names])
    table, read = _Counted(declared, file.voters, file.said), int(file.counts.sum())
    table.ledger.leave_out(np.arange(file.voters) >= read, "no such order")
    table.ledger.misread.update(file.others)
    values = np.full((len(file.orders), len(declared.items)), math.nan)
    met = np.zeros(len(file.names), np.int64)
    for row, (order, count) in enumerate(zip(file.orders, file.counts, strict=True)):
        for place, tied in enumerate(order):
            met[list(tied)] += count
            known = at[list(tied)]
            known = known[known >= 0]
            # of what is one item after cleaning, as two spellings of a write-in, the best place
            values[row, known] = np.fmin(values[row, known], place)
    for name, code, number in zip(file.names, at, met, strict=True):
        table.ledger.met(name, clean(name), int(code), int(number), declared.items)
    table.ledger.altered[ALTERED[1]] += int(met[at < 0].sum())
    values = np.vstack(
        [np.repeat(values, file.counts, axis=0), np.full((file.voters - read, values.shape[1]), math.nan)]
    )
    return _cast(table, values, {"rows": np.arange(file.voters), "person": None, "weight": None})
