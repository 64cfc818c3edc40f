"""A line of names that is none, as the first row of a file was taken for it: by headers and flags, and by labels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from dprank._require import shown
from dprank.data.headers import is_numeral, is_order
from dprank.data.noticed_cells import Raw
from dprank.data.places import place_reader

__all__ = ["in_more_names", "in_names"]

#: So many cells are looked at.
LOOKED_AT = 1_000
#: So many lines of names may stand below the first.
MORE = 3


def in_names(raw: Raw) -> Iterator[str]:
    """A sentence on used columns whose header is what rows hold: an item, an order of items, a number or a place."""
    declared = raw.declared
    header = [str(it) for it in raw.frame.columns]
    if declared.form == "wide" or _numbered(header):
        return
    odd = [*_items(raw), *_numbers(raw)]
    if odd:
        is_, them = ("are", "they are") if len(odd) > 1 else ("is", "it is")
        yield (
            f"line 1 is taken for the names of columns, and {', '.join(map(shown, odd))} {is_} as rows are: if {them} "
            "of a row, that row does not count; put a line of names above it"
        )


def in_more_names(raw: Raw) -> Iterator[str]:
    """A sentence on first rows that hold words where others hold places, as a second line of names does."""
    declared = raw.declared
    columns = [raw.column(it) for it in declared.items]
    if (declared.kind, declared.form) != ("ballots", "wide") or any(it is None for it in columns):
        return
    reads = place_reader(declared)
    rows = [[str(it) for it in row] for row in zip(*(it.head(MORE + 1) for it in columns), strict=True)]
    words = [all(reads(it) == -math.inf and re.search(r"[^\W\d]", it) for it in row) for row in rows]
    number = (*words, False).index(False)
    if 0 < number < len(rows):
        first, them = ("row 1 holds", "It counts") if number == 1 else (f"rows 1 to {number} hold", "They count")
        yield (
            f"{first} words in every column of places: more lines of names? {them} as a ballot without a place: take "
            f"{'it' if number == 1 else 'them'} out"
        )


def _numbered(header: list[str]) -> bool:
    """Whether columns are called by their numbers."""
    return header in ([str(at + first) for at in range(len(header))] for first in (0, 1))


def _items(raw: Raw) -> list[str]:
    """Headers of columns of items, or of orders, that hold items; one alone only if labels of people do not deny it."""
    declared = raw.declared
    many = {"comparisons": 2, "tallies": 1}.get(declared.kind, 1)
    names = declared.columns if declared.form == "ranks" else declared.columns[:many]
    if declared.form == "orders":
        order = [it for it in raw.parts(names[0]) if it.strip()]
        odd = len(order) > 1 and all(map(raw.known, order))
        return [names[0]] if odd or is_order(names[0], declared.items) else []
    known = [it for it in names if raw.known(it) and _holds_items(raw, it)]
    unlike = declared.person is not None and _unlike(raw, declared.person)
    return known if len(known) > 1 or (len(names) == 1 and not unlike) else []


def _holds_items(raw: Raw, name: str) -> bool:
    """Whether a column has cells that are items."""
    column = raw.column(name)
    return column is not None and any(raw.known(str(it)) for it in column.head(LOOKED_AT).unique())


def _numbers(raw: Raw) -> list[str]:
    """Headers of columns of amounts, or of places, that are numbers; and of people, where labels are so, too."""
    declared = raw.declared
    named = [declared.weight, None if declared.times == "none" else declared.times]
    if declared.form == "long" and declared.kind == "ballots":
        named.append(declared.columns[1])
    return [it for it in named if it is not None and is_numeral(it)]


def _unlike(raw: Raw, name: str) -> bool:
    """Whether the header of people is built otherwise than their labels are, most of which have figures."""
    column = raw.column(name)
    if column is None:
        return False
    labels = [str(it) for it in column.head(LOOKED_AT)]
    with_figures = sum(bool(re.search("[0-9]", it)) for it in labels)
    return 2 * with_figures > len(labels) and not re.search("[0-9]", name)
