"""What of the items is known, where that is public: nothing is placed of which nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dprank._require import shown
from dprank.data.accounts import Intake

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
        _require_linked(np.array(intake.pairs), items, "no column asks about")
    if getattr(mechanism, "graph", None) == "public":
        data = mechanism.bounded(intake.data)
        _require_linked(np.stack([data.first, data.second], axis=1), items, "in the public graph nobody compared")


def _require_linked(pairs: NDArray[Any], items: Sequence[str], why: str) -> None:
    met = np.zeros(len(items), bool)
    met[pairs.ravel()] = True
    if not met.all():
        names = _few([items[at] for at in np.flatnonzero(~met).tolist()])
        raise ValueError(
            f"items: {why} {names}, so that nothing would be known of their place; leave them out of the items"
        )
    links = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(items),) * 2)
    groups, group = connected_components(links, directed=False)
    if groups > 1:
        one, other = (items[int(np.argmax(group == number))] for number in (0, 1))
        raise ValueError(
            f"items: {why} one of the group of {shown(one)} with one of the group of {shown(other)}, so that nothing "
            "would be known of their order; release each group by itself, with --items of that group"
        )


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(shown, names[:_NAMED])) + more
