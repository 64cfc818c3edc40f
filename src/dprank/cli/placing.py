"""What of the items is known, where that is public: nothing is placed of which nothing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.noticed_pairs import named_pairs

__all__ = ["require_known"]

#: Items that a refusal names.
_NAMED = 5


def require_known(mechanism: Any, intake: Intake, items: Sequence[str]) -> None:
    """Refuse items that no public pair asks about, and groups that none links, before anything is spent.

    Public are the pairs that the columns of a questionnaire ask about, and who compared what where a graph is public.

    Raises
    ------
    ValueError
        Naming the items.
    """
    if intake.pairs is not None:
        asked = np.array(intake.pairs)
        _require_linked(asked, items, "no column asks about", named_pairs(intake.unused, items))
    if getattr(mechanism, "graph", None) == "public":
        data = mechanism.bounded(intake.data)
        _require_linked(np.stack([data.first, data.second], axis=1), items, "in the public graph nobody compared")


def _require_linked(
    pairs: NDArray[Any], items: Sequence[str], why: str, unread: Mapping[str, tuple[int, int]] | None = None
) -> None:
    """`unread` are columns that may ask about a pair and are not read, by their names."""
    met = np.zeros(len(items), bool)
    met[pairs.ravel()] = True
    if not met.all():
        lacking = {name: pair for name, pair in (unread or {}).items() if not met[list(pair)].all()}
        names = _few([items[at] for at in np.flatnonzero(~met).tolist()])
        found = _read_too(lacking, items) if lacking else "leave them out of the items"
        which = "no column that is read asks about" if lacking else why
        raise ValueError(f"items: {which} {names}, so that nothing would be known of their place; {found}")
    links = scipy.sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(items),) * 2)
    groups, group = scipy.sparse.csgraph.connected_components(links, directed=False)
    if groups > 1:
        one, other = (items[int(np.argmax(group == number))] for number in (0, 1))
        lacking = {name: (a, b) for name, (a, b) in (unread or {}).items() if group[a] != group[b]}
        found = _read_too(lacking, items) if lacking else "release each group by itself, with --items of that group"
        which = "no column that is read asks about" if lacking else why
        raise ValueError(
            f"items: {which} one of the group of {shown(one)} with one of the group of {shown(other)}, so that nothing "
            f"would be known of their order; {found}"
        )


def _read_too(unread: Mapping[str, tuple[int, int]], items: Sequence[str]) -> str:
    """How columns are read that are called otherwise."""
    name, (first, second) = next(iter(unread.items()))
    return (
        f"{_few([*unread])} may: say all columns in --pairs, and of such a one what it asks, as "
        f"{shown(f'{name}={items[first]} vs {items[second]}')}"
    )


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(shown, names[:_NAMED])) + more
