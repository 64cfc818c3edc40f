"""What places look like that are no order of the declared items: ratings, and orders of more items than those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_codes import codes_among, in_codes
from dprank.data.noticed_scales import short_scale
from dprank.data.places import number_of, place_reader

__all__ = ["in_places", "unranked_columns"]

#: So many ballots are looked at.
LOOKED_AT = 100_000


def in_places(raw: Raw) -> Iterator[str]:
    """Sentences on places above the number of items, and on ballots that number their items as no order does.

    Codes for "no answer" come first: whoever takes 99 for a rating, or for the place of an item that is missing, is
    told so, and of the other places what is true without them.
    """
    yield from in_codes(raw)
    declared = raw.declared
    values = _values(raw) if declared.kind == "ballots" else None
    if values is None or declared.best == "high" or _in_words(raw):
        return
    values[np.isin(values, codes_among(raw))] = np.nan
    values = values[~np.isnan(values).all(axis=1) & ~np.isinf(values).any(axis=1)]
    if not len(values):
        return
    shift = 1 - (1 if declared.lowest is None else declared.lowest)
    values = values + shift
    m, highest = values.shape[1], np.nanmax(values, axis=1)
    above, odd = int((highest > m).sum()), int(np.count_nonzero([not is_numbered(row) for row in values]))
    if not above and 2 * odd <= len(values):
        line = short_scale(raw, values)
        if line is not None and not _others(raw, highest.max()):
            yield line
        return
    often = 2 * odd > len(values)
    seen = [f"places go up to {highest.max():g}, of {m} items, in {above} of {len(values)} ballots"] * bool(above)
    if often:
        seen.append(f"{odd} of {len(values)} ballots skip places, or do not begin at 1")
    others = _others(raw, highest.max())
    ask = [f"is {', '.join(map(shown, others[:3]))} an item, too"] if others else []
    ask += ["are they ratings, where the highest is best (--best high; not of marks, where 1 is)"] * often
    kinds = np.unique(values[values > m])
    again = len(kinds) == 1 and bool(((values == kinds[0]).sum(axis=1) > 1).any())
    if not ask and not again:  # of one ballot no two items are the one that is missing
        ask.append(
            "is it a row of sums, or is an item missing from --items"
            if above == 1
            else "is an item missing from --items"
        )
    if len(kinds) == 1 and (again or not others):
        partial = " with --ballots partial" * (declared.ballots != "partial")
        code = f"{kinds[0] - shift:g}"
        ask.append(f"does {code} say that there is no place (--unranked-as {code}{partial})")
    yield f"{'; '.join(seen)}: {', or '.join(ask)}?"


def _in_words(raw: Raw) -> bool:
    """Whether every place is declared for itself, by what stands for it: no number says one."""
    declared = raw.declared
    names = declared.columns[1:] if declared.form == "long" else declared.items
    columns = [column for name in names if (column := raw.column(name)) is not None]
    return bool(declared.places) and not any(np.isfinite(number_of(str(it))) for one in columns for it in one.unique())


def unranked_columns(raw: Raw) -> list[str]:
    """Items whose column says no place in any row."""
    columns = {name: raw.column(name) for name in raw.declared.items}
    return [name for name, column in columns.items() if column is None or all(map(raw.is_none, column.unique()))]


def is_numbered(row: NDArray[np.float64]) -> bool:
    """Whether places count items, in any usual way: those above, or those not below, or as means; or kinds of them.

    Examples
    --------
    >>> [is_numbered(np.array(row, float)) for row in ([2, 1, 3], [1, 1, 3], [2, 2, 3], [1.5, 1.5, 3], [1, 1, 2])]
    [True, True, True, True, True]
    >>> [is_numbered(np.array(row, float)) for row in ([10, 7, 1], [5, 5, 5], [1, np.nan, 3])]
    [False, False, False]
    """
    given = np.sort(row[~np.isnan(row)])
    if not len(given):
        return True
    kinds, first, each = np.unique(given, return_index=True, return_counts=True)
    above, upto = first + 1, first + each
    ways = (np.arange(1, len(kinds) + 1), above, upto, (above + upto) / 2)
    return any(np.array_equal(kinds, way) for way in ways)


def _values(raw: Raw) -> NDArray[np.float64] | None:
    """What ballots say of every item, as far as it is a place."""
    declared = raw.declared
    if declared.form == "wide":
        columns = [raw.column(name) for name in declared.items]
        if any(column is None for column in columns):
            return None
        columns += [column for name in _withdrawn(raw) if (column := raw.column(name)) is not None]
        return np.array([_read(raw, column.head(LOOKED_AT)) for column in columns]).T
    if declared.form != "long":
        return None
    columns = [raw.column(name) for name in declared.columns]
    keys = [raw.column(name) for name in (declared.person, declared.ballot) if name is not None]
    if any(column is None for column in (*columns, *keys)):
        return None
    code = dict.fromkeys(map(str, columns[0].unique()), -1)
    others = {name: at + len(declared.items) for at, name in enumerate(_withdrawn(raw))}
    code = {it: others.get(raw.clean(it), -1) if (at := raw.item(it)) is None else at for it in code}
    item = np.array([code[str(it)] for it in columns[0]], np.int64)
    place = _read(raw, columns[1])
    group = np.zeros(len(item), np.int64)
    for key in keys:
        group = np.unique(group * (len(item) + 1) + key.factorize()[0], return_inverse=True)[1].ravel()
    used = (item >= 0) & np.isfinite(place) & (group < LOOKED_AT)
    values = np.full((int(group.max(initial=-1)) + 1, len(declared.items) + len(others)), np.nan)[:LOOKED_AT]
    values[group[used], item[used]] = place[used]
    return values


def _withdrawn(raw: Raw) -> list[str]:
    """Names that are no items any more, as they are after cleaning: the places that they have are others' no more."""
    return [*dict.fromkeys(it for name in raw.declared.withdrawn if (it := raw.clean(name)) not in raw.codes)]


def _read(raw: Raw, column: Any) -> NDArray[np.float64]:
    """Places as they are declared, not-a-number where there is none, and -inf where it is no place."""
    codes, distinct = column.factorize()
    meaning = place_reader(raw.declared)
    return np.array([meaning(str(it)) for it in distinct], float)[codes]


def _others(raw: Raw, most: float) -> list[str]:
    """Columns that are not declared, and hold places: whole numbers from 1, almost all different from the others'."""
    if raw.declared.form != "wide":
        return []
    declared = raw.declared
    asked = (declared.person, declared.weight, declared.times, *declared.items, *declared.withdrawn)
    used = {raw.clean(name) for name in asked if name is not None}
    found = []
    for at, name in enumerate(raw.frame.columns):
        if raw.clean(str(name)) in used:
            continue
        cells = _read(raw, raw.frame.iloc[:, at].head(LOOKED_AT))
        there = cells[np.isfinite(cells)]
        whole = len(there) and (there == np.floor(there)).all() and there.max() <= max(most, len(declared.items) + 1)
        if whole and 2 * len(there) > len(cells):
            found.append(str(name))
    return found
