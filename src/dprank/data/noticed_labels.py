"""Labels of people: one for many, many for one, names of items, or counts in their place. None of them is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from dprank._require import shown
from dprank.data.amounts import as_thousands
from dprank.data.bounding import nameless, person_ids
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_names import called_a_count

__all__ = ["in_labels", "in_totals"]

#: Fewer rows of one label are nothing to ask about.
FEW = 10
#: People whose spellings are compared.
LOOKED_AT = 1_000
#: A longer text counts nothing.
LONGEST = 1_000
#: A label with so many times as many rows as the next one is nobody's name, maybe.
TIMES = 10
#: Names of columns of counts that say who, as often as not: a member's number.
NAMES = "num number weight weights w wt wgt size"
#: What to do about a table of totals.
_TO_DO = {
    "tallies": (
        "A row for every item of every person is needed, with a column that says who; where there are totals alone, a "
        "mechanism takes them in Python: dprank.Oneshot"
    ),
    "comparisons": "Write each row as often as it counts, with a column that says who, or without --person",
    "ballots": "--times with that column, and no --person, says how many ballots a row stands for",
}
_WHOLE = re.compile(r"[0-9]++(?:\.0*+)?")


def in_labels(raw: Raw) -> Iterator[str]:
    """One label for many people, and many labels for one: none of them is told."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if column is None:
        return
    codes, distinct = column.factorize()
    texts, rows = np.array(distinct, object), np.bincount(codes, minlength=len(distinct))
    named = ~nameless(texts)
    texts, rows = texts[named], rows[named]
    if not len(texts):
        return
    if 2 * sum(raw.item(it) is not None for it in texts) > len(texts):
        yield f"the column of --person, {shown(name)}, holds names of items: is it the one that says who?"
    ids, who, each = np.unique(person_ids("person", texts), return_inverse=True, return_counts=True)
    who = np.ravel(who)
    if len(ids) < len(texts):
        people, spellings = int((each > 1).sum()), len(texts) - int((each == 1).sum())
        yield (
            f"{spellings} spellings were taken for {people} person{'s' * (people != 1)}, as they differ in "
            f"{_differing(texts, who, each > 1)} alone: is that so in {shown(name)}? Else write people so that they "
            "differ in more"
        )
    total = np.bincount(who, weights=rows).astype(int)
    order = np.sort(total)[::-1]
    most, second = int(order[0]), int(order[1]) if len(order) > 1 else 0
    each_once = raw.declared.kind == "ballots" and raw.declared.form != "long"
    if most >= FEW and (most >= TIMES * second or (each_once and 2 * most > total.sum())):
        all_of = "all" if most == total.sum() else f"{most} of"
        yield f"one label has {all_of} {total.sum()} {'ballots' if each_once else 'rows'}: does {shown(name)} say who?"


def _differing(texts: Any, who: Any, several: Any) -> str:
    """By what spellings of one person differ, in words."""
    found = set()
    for one in np.flatnonzero(several)[:LOOKED_AT]:
        written = list(map(str, texts[who == one]))
        trimmed = [" ".join(it.split()) for it in written]
        small = {it.casefold() for it in trimmed}
        found |= {"blanks"} if trimmed != written else set()
        found |= {"case"} if len(small) < len(set(trimmed)) else set()
        found |= {"how letters or numbers are written"} if len(small) > 1 else set()
    return " and ".join(sorted(found))


def in_totals(raw: Raw) -> Iterator[str]:
    """A count in the place of who it was: every row is taken for one person, called 500."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if name is None or column is None:
        return
    cells = [it for it in map(str.strip, column.tolist()) if it]
    numbers = [_whole(it) for it in dict.fromkeys(cells)]
    distinct = sorted({it for it in numbers if it is not None})
    if len(distinct) < 2 or None in numbers:
        return
    if raw.declared.kind != "ballots" and len(cells) >= 2 * len(distinct):  # somebody with rows of their own
        return
    if distinct == list(range(distinct[0], distinct[0] + len(distinct))):  # rows by number
        return
    called = called_a_count(name) and name.strip().casefold() not in NAMES.split()
    if called or _each_item_once(raw):
        yield (
            f"the column of --person, {shown(name)}, holds whole numbers: is this a table of totals? dprank counts "
            f"rows, and takes each number for one person. {_TO_DO[raw.declared.kind]}"
        )


def _whole(text: str) -> int | None:
    """The whole number that a text is, also with marks between thousands; None where it is none.

    Examples
    --------
    >>> [_whole(it) for it in ("1234", "1.234", "12,345", "7.0", "1.5", "p7")]
    [1234, 1234, 12345, 7, None, None]
    """
    if len(text) > LONGEST:
        return None
    grouped = as_thousands(text)
    if grouped is not None:
        return int(grouped[1])
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else None


def _each_item_once(raw: Raw) -> bool:
    """Whether a table has one row an item and no more."""
    if raw.declared.kind != "tallies":
        return False
    column = raw.column(raw.declared.columns[0])
    return column is not None and len(column) > 2 and column.str.strip().nunique() == len(column)
