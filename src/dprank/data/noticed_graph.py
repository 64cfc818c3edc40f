"""How comparisons hang together: how often each item was met, and whether all are met by way of others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["answers_each", "in_graph"]

#: Items of a group that are named.
NAMED = 3
#: By how many deviations of a fair draw pairs must differ, and by what share of their mean, to be called unequal.
DEVIATIONS, SHARE = 5.0, 0.5


def answers_each(data: Any) -> NDArray[np.int64]:
    """How many answers every item has. O(rows + items).

    Examples
    --------
    >>> import dprank
    >>> answers_each(dprank.Comparisons([0, 1], [1, 0], [1, 1], items=["a", "b", "c"])).tolist()
    [2, 2, 0]
    """
    first, second = (np.bincount(side, minlength=data.n_items) for side in (data.first, data.second))
    return first + second


def in_graph(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Sentences on comparisons that fall apart, or of which some are far more frequent than others."""
    if declared.kind != "comparisons" or not len(intake.data):
        return
    items, each, (low, high, met) = intake.data.items, answers_each(intake.data), _pairs(intake.data)
    groups = _groups(low, high, each)
    if unseen := [items[at] for at in np.flatnonzero(each == 0)]:
        yield f"never compared: {_named(unseen)}; nothing is known of their place"
    if len(groups) > 1:
        said = "; ".join(_named([items[at] for at in group]) for group in groups[:NAMED])
        yield (
            f"comparisons fall into {len(groups)} groups that never met ({said}{'; …' * (len(groups) > NAMED)}): how "
            "they lie to each other is not in the data, and one order of all would say that it is"
        )
    seen = np.flatnonzero(each)
    pairs = math.comb(len(seen), 2)
    if _unequal(met, pairs):
        most, least = seen[np.argmax(each[seen])], seen[np.argmin(each[seen])]
        never = f", and {pairs - len(met)} of {pairs} pairs never" * (len(met) < pairs)
        yield (
            f"pairs were not compared equally often: {shown(items[most])} has {each[most]} answers, "
            f"{shown(items[least])} {each[least]}{never}; net wins are an order only where all meet alike, and the "
            "Bradley-Terry model is for others (PerturbedMLE)"
        )


def _named(names: list[str]) -> str:
    return ", ".join(map(shown, names[:NAMED])) + f" and {len(names) - NAMED} more" * (len(names) > NAMED)


def _pairs(data: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every pair that was met, by its two items, and how many answers it has."""
    low, high = np.sort(np.stack([data.first, data.second]).astype(np.int64), axis=0)
    pairs, met = np.unique(low * data.n_items + high, return_counts=True)
    return *np.divmod(pairs, data.n_items), met


def _groups(low: NDArray[np.int64], high: NDArray[np.int64], each: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Items that hang together, the largest group first; none of an item that nobody met."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    seen = np.flatnonzero(each)
    edges = coo_array((np.ones(len(low), bool), (low, high)), shape=(len(each), len(each)))
    _, of = np.unique(connected_components(edges, directed=False)[1][seen], return_inverse=True)
    order = np.argsort(of, kind="stable")
    groups = np.split(seen[order], np.flatnonzero(np.diff(of[order])) + 1)
    return sorted(groups, key=len, reverse=True)


def _unequal(met: NDArray[np.int64], pairs: int) -> bool:
    """Whether pairs differ by far more than if each answer had drawn its pair with the same chance.

    Of `pairs` pairs those that were met have so many answers, and the others none.
    """
    if pairs < 2:
        return False
    mean, free = met.sum() / pairs, pairs - 1
    more = (((met - mean) ** 2).sum() + (pairs - len(met)) * mean**2) / mean - free
    return bool(more > DEVIATIONS * np.sqrt((2 + 1 / mean) * free) and more / free / mean > SHARE**2)
