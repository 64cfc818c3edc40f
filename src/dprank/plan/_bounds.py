"""How many items of a person count where all may: asked for by whoever releases, too, who plans nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dprank.data.tallies import MOST_CHOSEN

__all__ = ["costs_nothing", "everything"]


def everything(n_items: int) -> int:
    """The bound on the items of a person that leaves nothing out.

    Examples
    --------
    >>> everything(42), everything(10**8)
    (42, 10000000)
    """
    return min(n_items, MOST_CHOSEN)


def costs_nothing(made: Any, per_person: int | None = None) -> bool:
    """Whether all items of a person may count for the noise that a mechanism has.

    Rounds, and sets that are drawn at once, cost the same for however many; and so does noise that is added once where
    as many items of a person count as are named.

    Parameters
    ----------
    made : Mechanism
    per_person : int, optional
        The bound, of a mechanism that does not have it.

    Examples
    --------
    >>> import dprank
    >>> shared = {"epsilon": 1.0, "n_items": 42, "k": 3}
    >>> [costs_nothing(dprank.Oneshot.calibrated(per_person=bound, **shared)) for bound in (2, 3, 42)]
    [False, True, True]
    """
    if getattr(made, "per_person", None) is None:
        return True
    wide = replace(made, per_person=everything(made.n_items))
    return bool(wide.guarantee.epsilon <= made.guarantee.epsilon * (1 + 1e-9))
