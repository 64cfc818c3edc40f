"""Matches that are written twice, once from each side: two rows that say the same count, and are protected, as two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dprank.data.noticed_ties import answered

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_mirrors", "mirrored"]

#: The share of rows that must have a mirror, and of those that are as frequent as it.
NEARLY, AS_OFTEN = 0.95, 0.8
#: Fewer rows are no log of matches.
FEW = 4
#: How likely two judgements of a pair agree, and how rarely all of a table may do so.
AGREE, SELDOM = 0.75, 0.01
#: More rows are the mirror of the one above where sides are shown in turn, and not where each match has two rows.
TURNS = 0.7


def in_mirrors(raw: Raw) -> Iterator[str]:
    """A sentence on rows that are almost all there a second time, from the other side."""
    rows = answered(raw)
    rows = rows[rows[:, 2] >= 0]
    who = None if raw.declared.person is None else raw.column(raw.declared.person)
    apart = who is not None and who.is_unique
    if len(rows) < FEW or not mirrored(rows, len(raw.declared.items), apart):
        return
    both = int(_matched(*_sides(rows, len(raw.declared.items))))
    whose = "where its rows are of two persons, " if raw.declared.person is not None else ""
    yield (
        f"{both} of {len(rows)} rows have a mirror, which names the same two items the other way round with the same "
        f"result: is each match written twice? Everything counts twice then, and {whose}a match is protected half as "
        "much as a release says: keep one row of each two, say that whose first item is first in the alphabet"
    )


def mirrored(rows: NDArray[np.int64], n_items: int, apart: bool = False) -> bool:
    """Whether rows of first item, second item and twice the first's points are matches from both sides.

    Judges who see a pair both ways round agree often, but seldom all of them: so mirrors must stand side by side, or
    be as frequent as no judges would have them. Where each row is of another person (`apart`) both sides may have been
    shown in turn, by design: of one pair that says nothing, nor where almost every row is the mirror of the last one.

    Examples
    --------
    >>> twice = [[0, 1, 2], [1, 0, 0], [0, 2, 1], [2, 0, 1], [1, 2, 2], [2, 1, 0]]
    >>> [mirrored(np.array(twice)[rows], 3) for rows in ([0, 1, 2, 3, 4, 5], [0, 2, 4, 1, 3, 5], [0, 2, 4])]
    [True, False, False]
    """
    here, there = _sides(rows, n_items)
    same = here == there
    often = (here + there)[same].sum() / len(rows)
    if _matched(here, there) < NEARLY * len(rows) or often < AS_OFTEN:
        return False
    of_pair = here.reshape(-1, 3).sum(axis=1)
    each = of_pair[of_pair > 0]
    in_turn = apart and (len(each) == 1 or _mirrors(rows).mean() > TURNS)
    if _side_by_side(rows) >= NEARLY * _matched(here, there) and not in_turn:
        return True
    chance = np.ones(len(each)) if apart else np.sqrt(each)
    return bool(np.log(chance / AGREE).sum() > -np.log(SELDOM))


def _sides(rows: NDArray[np.int64], n_items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of every pair and result how many rows say it from the side of the first item, and from that of the other."""
    first, second, points = rows.T
    turned = first > second
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs, at = np.unique(low * n_items + high, return_inverse=True)
    key = 3 * np.ravel(at) + np.where(turned, 2 - points, points)
    here, there = (np.bincount(key[it], minlength=3 * len(pairs)) for it in (~turned, turned))
    return here, there


def _matched(here: NDArray[np.int64], there: NDArray[np.int64]) -> int:
    """Rows that have a mirror of their own."""
    return 2 * int(np.minimum(here, there).sum())


def _mirrors(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row but the first is the mirror of the one above."""
    return (rows[1:] == np.stack([rows[:-1, 1], rows[:-1, 0], 2 - rows[:-1, 2]], axis=1)).all(axis=1)


def _side_by_side(rows: NDArray[np.int64]) -> int:
    """Rows that are beside their mirror, of which each is taken once."""
    nearby = _mirrors(rows)
    if not nearby.any():
        return 0
    start = np.flatnonzero(np.diff(nearby.astype(int), prepend=0) == 1)
    end = np.flatnonzero(np.diff(nearby.astype(int), append=0) == -1)
    return 2 * int(((end - start + 2) // 2).sum())
