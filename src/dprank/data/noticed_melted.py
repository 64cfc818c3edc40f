"""Tallies in which everybody has every item: a table of answers, of which only some say that somebody has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.noticed_names import called_of_people

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_full"]

#: Fewer people may have all by chance; this share of all that there may be is all.
FEW, ALL = 4, 0.97
#: More values say nothing of an item.
VALUES = 30


def in_full(raw: Raw, intake: Intake, told: Sequence[str]) -> Iterator[str]:
    """A sentence on tallies of which everybody has every item, beside a column that may say whether it is so.

    `told` are sentences on columns that are not used: of those nothing is said again.
    """
    data = intake.data
    if raw.declared.kind != "tallies" or not len(data):
        return
    people, items = len(np.unique(data.person)), len(np.unique(data.item))
    if people < FEW or items < 2 or len(data) < ALL * people * items:
        return
    asks = [it for it in intake.unused if _answers(raw, it)]
    if not asks or any(line.startswith(f"column {shown(it)} is not used") for line in told for it in asks):
        return
    do, such = "A row says that somebody has an item: take out rows that do not say so", len(asks) > 1
    yield (
        f"everybody has every item, {people} people and {items} items: {'do columns as' if such else 'does column'} "
        f"{shown(asks[0])} say whether it is so? {do}"
    )


def _answers(raw: Raw, name: str) -> bool:
    """Whether a column has few values, by which rows of one person differ, and rows of one item, too."""
    columns = [raw.column(it) for it in (name, raw.declared.person or "", raw.declared.columns[0])]
    if any(it is None for it in columns) or called_of_people(name):
        return False
    value, person, item = (it.str.strip().factorize()[0].astype(np.int64) for it in columns)
    kinds = int(value.max(initial=0)) + 1
    if not 1 < kinds <= VALUES:
        return False
    return all(len(np.unique(of * kinds + value)) > len(np.unique(of)) for of in (person, item))
