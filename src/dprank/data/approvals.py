"""Which items a person has where a row holds several: columns of items, a list in a cell, a mark below each item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.data.accounts import BEYOND, NOBODY, REASONS, Intake, Ledger, Table, ids_of
from dprank.data.categories import read_categories
from dprank.data.cleaning import cleaner
from dprank.data.places import NONE, number_of
from dprank.data.tallies import Tallies

__all__ = ["basket", "each", "file_of_categories", "has", "marked"]

#: How a mark says that somebody has an item, and that somebody has not, beside numbers.
HAS, HAS_NOT = ("true", "yes", "x", "✓"), ("false", "no", *NONE)


def has(text: str) -> float:
    """What a mark says: 1 that somebody has the item, 0 that somebody has not, -inf where it is no mark.

    Examples
    --------
    >>> [has(text) for text in ("1", "0.0", "x", "", "No", "2", "maybe")]
    [1.0, 0.0, 1.0, 0.0, 0.0, -inf, -inf]
    """
    text = text.strip().lower()
    number = number_of(text)
    if number in (0.0, 1.0):
        return number
    return 1.0 if text in HAS else 0.0 if text in HAS_NOT else -np.inf


def each(table: Table) -> Intake:
    """Several columns, each of which holds an item, or nothing."""
    rows, codes = [], []
    for name in table.declared.columns:
        column, distinct = table.column(name).factorize()
        cells = _cells(table, column, len(distinct))
        known = np.array([_code(table, it, number) for it, number in zip(distinct.tolist(), cells, strict=True)])
        stays = (known[column] > _BLANK) & ~table.beyond
        rows.append(np.flatnonzero(stays))
        codes.append(known[column][stays])
    return _done(table, np.concatenate(rows), np.concatenate(codes))


def basket(table: Table) -> Intake:
    """A column of lists of items."""
    column, distinct = table.column(table.declared.columns[0]).factorize()
    cells = _cells(table, column, len(distinct))
    lists = []
    for text, number in zip(distinct.tolist(), cells, strict=True):
        parts = dict.fromkeys(it.strip() for it in text.split(table.declared.between))
        lists.append(np.array([code for it in parts if (code := _code(table, it, number)) > _BLANK], np.int64))
    within = np.where(table.beyond, 0, np.array([len(it) for it in lists], np.int64)[column])
    rows = np.repeat(np.arange(len(column)), within)
    held = [lists[at] for at in column[~table.beyond]]
    return _done(table, rows, np.concatenate([np.zeros(0, np.int64), *held]))


def marked(table: Table) -> Intake:
    """A column an item, which says whether somebody has it."""
    rows, codes = [], []
    for code, name in enumerate(table.declared.items):
        said = table.read(table.column(name), lambda text: has(table.clean(text)))
        stays = (said != 0) & ~table.beyond
        rows.append(np.flatnonzero(stays))
        codes.append(np.where(said[stays] == 1, code, _NO_MARK))
        table.ledger.met(name, table.clean(name), code, int((said[~table.beyond] == 1).sum()), table.declared.items)
    return _done(table, np.concatenate(rows), np.concatenate(codes))


#: Of a cell: it is empty; of an entry: it holds no item that was declared, or no mark.
_BLANK, _NO_ITEM, _NO_MARK = -3, -1, -2


def _cells(table: Table, column: NDArray[np.int64], distinct: int) -> list[int]:
    """How many cells hold each text."""
    number: list[int] = np.bincount(column[~table.beyond], minlength=distinct).tolist()
    return number


def _code(table: Table, text: str, number: int) -> int:
    if table.clean(text).strip().lower() in NONE and table.clean(text) not in table.codes:
        return _BLANK
    return table.coded({text: number})[text]


def _done(table: Table, row: NDArray[np.int64], code: NDArray[np.int64]) -> Intake:
    """Tallies of the entries of rows, each of which is a person, or a sheet where none is known."""
    declared, rows = table.declared, len(table.frame)
    person = None if declared.person is None else table.person(declared.person)
    nobody = table.ledger.left_for("no person")
    who = np.arange(rows)
    if person is not None:
        known = ~(nobody | table.beyond)
        who[known] = ids_of(person, known)
    beyond, ledger = int(table.beyond.sum()), table.ledger
    ledger.gone = np.append(np.zeros(len(row), np.int8), np.repeat(np.int8(REASONS.index(BEYOND) + 1), beyond))
    for wrong, reason in (
        (nobody[row], "no person"),
        (code == _NO_ITEM, "an item not declared"),
        (code == _NO_MARK, "no such answer"),
    ):
        ledger.leave_out(np.append(wrong, np.zeros(beyond, bool)), reason)
    stays = ledger.stays[: len(row)]
    sheets = table.beyond if person is None else np.zeros(rows, bool)
    others = who[~(nobody | table.beyond) | sheets]
    some = person is not None and bool((nobody | table.beyond).any())
    without = np.append(others, np.repeat(NOBODY, some))
    return table.done(Tallies(who[row][stays], code[stays], declared.items, without))


def file_of_categories(declared: Any, path: Any) -> Intake:
    """What stands in the first category of each ballot of a PrefLib file: a ballot is a person, or as good as one."""
    file = read_categories(path)
    clean: Callable[[str], str] = cleaner(declared.clean, declared.aliases)
    items = {clean(name): at for at, name in enumerate(declared.items)}
    at = np.array([items.get(clean(name), -1) for name in file.names], np.int64)
    who, codes, voter = [], [], 0
    met = np.zeros(len(file.names), np.int64)
    for (first, *_), count in zip(file.orders, file.counts.tolist(), strict=True):
        met[list(first)] += count
        who.append(np.repeat(np.arange(voter, voter + count), len(first)))
        codes.append(np.tile(at[list(first)], count))
        voter += count
    row, code = (np.concatenate([np.zeros(0, np.int64), *it]) for it in (who, codes))
    ledger = Ledger(len(row) + file.absent)
    ledger.leave_out(np.append(code < 0, np.zeros(file.absent, bool)), "an item not declared")
    ledger.leave_out(np.arange(len(ledger.gone)) >= len(row), "no such order")
    ledger.misread.update(file.others)
    for name, it, number in zip(file.names, at.tolist(), met.tolist(), strict=True):
        ledger.met(name, clean(name), it, number, declared.items)
    data = Tallies(row[code >= 0], code[code >= 0], declared.items, np.arange(file.voters))
    return ledger.done(data, file.said)
