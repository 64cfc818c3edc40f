"""A column most of whose cells are items, beside those that are read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.noticed_names import called_a_count, called_of_people
from dprank.data.places import number_of

__all__ = ["items_too"]

#: What to do about a column of items more than a form reads.
_ONE_ITEM = {
    ("tallies", "long"): "a row is read as one item. Write a row for each person and item",
    ("ballots", "long"): "a row is read as one item. Write a row for each ballot and item",
    ("ballots", "ranks"): "is it a place, too? --ranks names all columns, the best first",
    ("comparisons", "long"): "a row is read as two items. Write a row for each pair that was compared",
}


def items_too(rows: Any, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column most of whose cells are items, beside those that are read."""
    declared, raw = rows.raw.declared, rows.raw
    way = (rows.kind, declared.form)
    if way not in _ONE_ITEM:
        return None
    known = {text: code for text in cells if text and (code := raw.item(text)) is not None}
    there, held = sum(cells.values()) - cells.get("", 0), sum(cells[it] for it in known)
    column = raw.column(name)
    if 2 * held <= there or column is None or _by_chance(declared.items, name, set(known.values())):
        return None
    own = [raw.column(it) for it in declared.columns[: 2 if rows.kind == "comparisons" else 1]]
    if declared.form != "ranks":  # which of its own items a row is about says nothing new
        codes_of = {text: raw.item(text) for text in {str(it) for one in (column, *own) for it in one.unique()}}
        names = [np.array([-1 if (at := codes_of[str(it)]) is None else at for it in one]) for one in (column, *own)]
        new = (names[0] >= 0) & np.all([names[0] != it for it in names[1:]], axis=0)
        if 10 * new.sum() <= held:
            return None
    several = rows.who is not None and 2 * rows.n >= 3 * len(np.unique(rows.who))
    if rows.kind == "tallies" and several and not rows.differs(codes):  # of a person it says the same in every row
        return None
    return 7, f"column {shown(name)} is not used, and {held} of {there} cells there are items: {_ONE_ITEM[way]}"


def _by_chance(items: tuple[str, ...], name: str, found: set[int]) -> bool:
    """Whether numbers that are items may count, or say something of people: few of the items, or by their name."""
    if any(math.isnan(number_of(it)) for it in items):
        return False
    return called_a_count(name) or called_of_people(name) or len(found) < max(2, len(items) / 2)
