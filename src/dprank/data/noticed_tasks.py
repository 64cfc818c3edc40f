"""Several ballots of one person that a long table reads as one: tasks, blocks, heats, weeks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_names import called_a_question, words_of
from dprank.data.noticed_places import is_numbered
from dprank.data.places import place_reader

__all__ = ["with_tasks"]

#: Words in names of columns that say which of a person's ballots a row is of.
_CALLED = re.compile(
    r"(?:block|blocks|task|set|heat|race|lauf|tour|stage|week|woche|semaine|semana|day|tag|jour|trial|group|"
    r"gruppe|groupe|round|section|session|part|teil|event|list|liste|bloc|bloque|tarea|serie|séance|screen|"
    r"page|occasion|match|game|leg|season|month|year|monat|jahr|durchgang|versuch|manche)"
)
#: Fewer ballots of several persons may have places of their own by chance; and fewer where a column is called so.
FEW, FEW_CALLED = 6, 4
#: This share of ballots has places of its own, and of persons several ballots.
MOST, SEVERAL = 0.85, 0.5
#: So many columns are joined by two.
JOINED = 8
#: So many rows are looked at.
LOOKED_AT = 200_000


class _Found(NamedTuple):
    """Columns whose values are ballots, and how many of these there are."""

    names: tuple[str, ...]
    values: int


def with_tasks(raw: Raw, intake: Intake, unused: Iterable[str]) -> tuple[Raw | None, list[str]]:
    """The table with a ballot for each task, and what is said of columns that are not used; None where none is one."""
    lines = list(unused)
    found = _found(raw, intake)
    if found is None:
        return None, lines
    own = tuple(f"column {shown(name)} is not used" for name in found.names)
    apart = _apart(raw, found.names)
    if any(line.startswith(own) and "--ballot" in line for line in lines):
        return apart, lines
    return apart, [_said(raw, found), *(line for line in lines if not line.startswith(own))]


def _said(raw: Raw, found: _Found) -> str:
    declared = raw.declared
    names = " and ".join(map(shown, found.names))
    is_not = "is not used and has" if len(found.names) == 1 else "are not used and have together"
    column = f"column{'s' * (len(found.names) > 1)} {names} {is_not} {found.values} values"
    who = [it for it in (declared.person, declared.ballot) if it is not None]
    whole = " and ".join(map(shown, (*who, *found.names)))
    lowest = 1.0 if declared.lowest is None else declared.lowest
    own = "points of their own" if declared.best == "high" else f"places from {lowest:g} on"
    seen = f"{column}, and items have {own} in each of {'a person' if declared.person else 'a ballot'}'s"
    ask = f"{seen}: are they several ballots? They are read as one, which compares items of one with those of another"
    partial = " (with --ballots partial --unranked apart)" * (declared.ballots != "partial")
    joined = f"write {whole} into one column, and --ballot with it{' without --person' * bool(declared.person)}"
    if declared.ballot is None and len(found.names) == 1:
        return f"{ask}; --ballot {names} parts them{partial}, and one of a person's counts: for all to count, {joined}"
    return f"{ask}; {joined}{partial}"


def _apart(raw: Raw, names: tuple[str, ...]) -> Raw:
    """The table with a column that says which ballot a row is of."""
    declared = raw.declared
    keys = [it for it in (declared.person, declared.ballot) if it is not None]
    ballot = _joined([_codes(raw, it) for it in (*keys, *names)])
    name = "ballot"
    while name in raw.frame.columns:
        name += "_"
    return Raw(replace(declared, person=None, ballot=name), raw.frame.assign(**{name: ballot.astype(str)}))


def _found(raw: Raw, intake: Intake) -> _Found | None:
    """The columns by which rows of one person are ballots, each with places of its own."""
    declared = raw.declared
    if declared.kind != "ballots" or declared.form != "long" or not 0 < len(raw.frame) <= LOOKED_AT:
        return None
    keys = [_codes(raw, it) for it in (declared.person, declared.ballot) if it is not None]
    item, place = (raw.column(it) for it in declared.columns)
    if item is None or place is None or any(it is None for it in keys):
        return None
    who, value, known = _joined(keys), _places(raw, place), item.map({it: raw.known(str(it)) for it in item.unique()})
    used = np.isfinite(value) & known.to_numpy(bool)
    if not used.any():
        return None
    codes = {it: code for it in intake.unused if (code := _codes(raw, it)) is not None}
    codes = {it: code for it, code in codes.items() if 1 < len(np.unique(code[used])) < used.sum()}
    names = sorted(codes, key=lambda it: (not _called(it), len(np.unique(codes[it]))))
    ways = [(it,) for it in names] + [*combinations(names[:JOINED], 2)]
    for way in ways:
        task = _joined([codes[it] for it in way])[used]
        few = FEW_CALLED if any(map(_called, way)) else FEW
        if _own_places(raw, who[used], task, value[used], few):
            return _Found(way, len(np.unique(task)))
    return None


def _called(name: str) -> bool:
    return called_a_question(name) or any(map(_CALLED.fullmatch, words_of(name)))


def _codes(raw: Raw, name: str) -> Any:
    column = raw.column(name)
    return None if column is None else column.str.strip().factorize()[0].astype(np.int64)


def _joined(keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Whole numbers, one for all rows that have the same keys."""
    return np.unique(np.stack(keys), axis=1, return_inverse=True)[1].ravel().astype(np.int64)


def _places(raw: Raw, column: Any) -> NDArray[np.float64]:
    codes, distinct = column.factorize()
    meaning = place_reader(raw.declared)
    return np.array([meaning(str(it)) for it in distinct], float)[codes]


def _own_places(raw: Raw, who: NDArray[np.int64], task: NDArray[np.int64], value: Any, few: int) -> bool:
    """Whether most persons have several ballots by a column, and most of these have places of their own.

    A ballot of one row says nothing.
    """
    ballot = _joined([who, task])
    order = np.lexsort((value, ballot))
    starts = np.flatnonzero(np.diff(ballot[order], prepend=-1))
    rows, whose = np.split(value[order], starts[1:]), who[order][starts]
    large = np.array([len(it) > 1 for it in rows])
    people, each = np.unique(whose[large], return_counts=True)
    several = people[each > 1]
    looked = [tuple(rows[at]) for at in np.flatnonzero(large & np.isin(whose, several))]
    if len(several) < SEVERAL * len(np.unique(who)) or len(looked) < few:
        return False
    way = _points if raw.declared.best == "high" else _numbered
    return way(looked, 1.0 if raw.declared.lowest is None else raw.declared.lowest) >= MOST * len(looked)


def _numbered(ballots: list[tuple[float, ...]], least: float) -> int:
    """How many ballots count their items from the least place on; with ties only where they have three places."""
    return sum(
        it[0] == least and len(set(it)) >= min(3, len(it)) and is_numbered(np.array(it) - least + 1) for it in ballots
    )


def _points(ballots: list[tuple[float, ...]], least: float) -> int:
    """How many ballots give the points that most others of so many items give, each once."""
    each = Counter(ballots)
    usual = {len(it): it for it, _ in reversed(each.most_common()) if len(set(it)) == len(it)}
    return sum(number for it, number in each.items() if usual.get(len(it)) == it)
