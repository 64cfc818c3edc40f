"""Whose a row is: people in a column that is not used, labels with a number behind, and such as are written once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.bounding import nameless, person_ids
from dprank.data.noticed_names import called_a_person

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_blanks", "in_numbered", "in_people", "in_zeros"]

#: This share of the labels of --person must be of one other label, and so many of those may be other people's.
NEARLY, FEWER = 0.95, 0.95
#: Fewer labels are kinds of people, or programs.
PEOPLE = 4
#: Fewer rows say nothing, and fewer blanks are slips.
FEW, BLANKS = 6, 0.25
#: So many labels have numbers behind them that count rows of one, and no more of one label.
STEMS, ROWS_OF_ONE = 8, 12
_NUMBERED = re.compile(r"(.*[^-_./#: ])[-_./#: ]+(0|[1-9][0-9]?)", re.DOTALL)


def in_people(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """A column that names people several of whose rows are protected as if they were others', and a sentence on it."""
    declared, named = raw.declared, declared_by(raw)
    if named and any(map(called_a_person, named)):
        return
    keys = [code for it in named if (code := _people(raw, it)) is not None]
    for name in intake.unused:
        who = _people(raw, name) if called_a_person(name) else None
        if who is None:
            continue
        known = who >= 0
        if known.sum() < FEW or 2 * known.sum() < len(who):
            continue
        people, seen = len(np.unique(who[known])), f"column {shown(name)} is not used,"
        if declared.person is None and not keys:
            if people > FEWER * known.sum() or people < PEOPLE:
                continue
            seen = f"{seen} and {people} labels there have {int(known.sum())} rows: does it say who?"
            do = f"Without --person one {declared.unit} is protected, and not all that somebody gave"
            yield name, f"{seen} {do}: --person {shown(name)}"
            return
        own = np.unique(np.stack([*keys, np.zeros(len(who), np.int64)])[:, known], axis=1, return_inverse=True)[1]
        units, both = int(own.max()) + 1, len(np.unique(np.ravel(own) * (who.max() + 1) + who[known]))
        if people > FEWER * units or NEARLY * both > units or people < PEOPLE:
            continue
        said = shown(declared.person if declared.person is not None else named[0])
        seen = f"{seen} and {people} labels there have {units} of {said}: does it say who?"
        do = f"A person is protected in what one label of {said} gave, and not in all"
        yield name, f"{seen} {do}: --person {shown(name)}"
        return


def declared_by(raw: Raw) -> list[str]:
    """Columns that say whose a row is, and of which ballot."""
    return [it for it in (raw.declared.person, raw.declared.ballot) if it is not None]


def _people(raw: Raw, name: str) -> NDArray[np.int64] | None:
    """Whole numbers for people, -1 for nobody."""
    column = raw.column(name)
    if column is None:
        return None
    codes, distinct = column.factorize()
    texts = np.array(distinct, object)
    number = np.full(len(texts), -1, np.int64)
    there = ~nameless(texts)
    if there.any():
        number[there] = np.unique(person_ids("person", texts[there]), return_inverse=True)[1].ravel()
    return number[codes] if len(texts) else np.full(len(column), -1, np.int64)


def in_blanks(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on labels that stand in the first of several rows alone, as merged cells of a sheet are saved."""
    declared = raw.declared
    if declared.form in ("wide", "orders", "ranks"):  # a row is a person, or a ballot
        return
    items = declared.columns[: {"comparisons": 2}.get(declared.kind, 1)]
    for name in (*declared_by(raw), *items):
        column = raw.column(name)
        if column is None or len(column) < FEW:
            continue
        texts = column.str.strip()
        blank = (texts == "").to_numpy()
        if blank[0] or not BLANKS * len(blank) <= blank.sum() < len(blank) - 1:
            continue
        labels: Any = texts[~blank]
        if labels.nunique() < NEARLY * len(labels):
            continue
        what = "no person" if name in declared_by(raw) else "no item"
        yield (
            f"{int(blank.sum())} of {len(blank)} rows have nothing in {shown(name)}, below one that has: does it say "
            f"the same as above, as in merged cells? Such a row is of {what}, and left out: write the label into every "
            "row"
        )
        return


def in_numbered(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on labels of people that count from 1 behind what is the same: rows of one person, maybe."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if name is None or column is None:
        return
    labels = [it for it in map(str.strip, map(str, column.unique())) if it]
    found = [it for it in map(_NUMBERED.fullmatch, labels) if it]
    if len(found) < NEARLY * len(labels):
        return
    counted = dict[str, list[int]]()
    for it in found:
        counted.setdefault(it[1], []).append(int(it[2]))
    each = [len(it) for it in counted.values()]
    fits = [sorted(it) in ([*range(len(it))], [*range(1, len(it) + 1)]) for it in counted.values()]
    if len(counted) < STEMS or 2 * len(counted) > len(found) or max(each) > ROWS_OF_ONE:
        return
    if sum(fits) >= NEARLY * len(fits):
        yield (
            f"labels of {shown(name)} count from {min(map(min, counted.values()))} behind what {len(counted)} have in "
            f"common: are they rows of one person? Each of {len(labels)} labels is protected as somebody; if a person "
            "has several, take the number off"
        )


def in_zeros(raw: Raw) -> Iterator[str]:
    """A sentence on labels of people that are others' but for zeros in front, which a spreadsheet takes off."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if name is None or column is None:
        return
    labels = {it for it in map(str.strip, map(str, column.unique())) if re.fullmatch("[0-9]+", it)}
    plain = [it.lstrip("0") or "0" for it in labels]
    if again := len(labels) - len(set(plain)):
        yield (
            f"{again} label{'s' * (again != 1)} of {shown(name)} {'are' if again != 1 else 'is'} another one but for "
            "zeros in front, as a spreadsheet takes them off: one person? Each label is protected as somebody: write "
            "them alike"
        )
