"""How comparisons hang together: how often each item was met, and whether all are met by way of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["in_graph", "meetings"]

#: Items of a group that are named.
NAMED = 3
#: By how many deviations of a fair draw pairs must differ, and by what share of their mean, to be called unequal.
DEVIATIONS, SHARE = 5.0, 0.5


def meetings(data: Any) -> NDArray[np.int64]:
    """How many answers every pair of items has.

    Examples
    --------
    >>> import dprank
    >>> meetings(dprank.Comparisons([0, 1], [1, 0], [1, 1], items=["a", "b"])).tolist()
    [[0, 2], [2, 0]]
    """
    m = data.n_items
    table = np.bincount(data.first.astype(np.int64) * m + data.second, minlength=m * m).reshape(m, m)
    return table + table.T


def in_graph(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Sentences on comparisons that fall apart, or of which some are far more frequent than others."""
    if declared.kind != "comparisons" or not len(intake.data):
        return
    table, items = meetings(intake.data), intake.data.items
    each, groups = table.sum(axis=1), _groups(table > 0)
    if unseen := [items[at] for at in np.flatnonzero(each == 0)]:
        yield f"never compared: {_named(unseen)}; nothing is known of their place"
    if len(groups) > 1:
        said = "; ".join(_named([items[at] for at in group]) for group in groups[:NAMED])
        yield (
            f"comparisons fall into {len(groups)} groups that never met ({said}{'; …' * (len(groups) > NAMED)}): how "
            "they lie to each other is not in the data, and one order of all would say that it is"
        )
    seen = np.flatnonzero(each)
    if _unequal(table[np.ix_(seen, seen)]):
        pairs = table[np.ix_(seen, seen)][np.triu_indices(len(seen), 1)]
        most, least = seen[np.argmax(each[seen])], seen[np.argmin(each[seen])]
        never = f", and {int((pairs == 0).sum())} of {len(pairs)} pairs never" if (pairs == 0).any() else ""
        yield (
            f"pairs were not compared equally often: {shown(items[most])} has {each[most]} answers, "
            f"{shown(items[least])} {each[least]}{never}; net wins are an order only where all meet alike, and the "
            "Bradley-Terry model is for others (PerturbedMLE)"
        )


def _named(names: list[str]) -> str:
    return ", ".join(map(shown, names[:NAMED])) + f" and {len(names) - NAMED} more" * (len(names) > NAMED)


def _groups(met: NDArray[np.bool_]) -> list[list[int]]:
    """Items that hang together, the largest group first; none of an item that nobody met."""
    left, groups = set(np.flatnonzero(met.any(axis=1)).tolist()), []
    while left:
        group = {left.pop()}
        edge = set(group)
        while edge:
            edge = set(np.flatnonzero(met[sorted(edge)].any(axis=0)).tolist()) - group
            group |= edge
        left -= group
        groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)


def _unequal(table: NDArray[np.int64]) -> bool:
    """Whether pairs differ by far more than if each answer had drawn its pair with the same chance."""
    pairs = table[np.triu_indices(len(table), 1)].astype(float)
    if len(pairs) < 2:
        return False
    mean, free = pairs.mean(), len(pairs) - 1
    more = ((pairs - mean) ** 2).sum() / mean - free
    return bool(more > DEVIATIONS * np.sqrt((2 + 1 / mean) * free) and more / free / mean > SHARE**2)
