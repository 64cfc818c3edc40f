"""How many items of a person count in a top k: all of them, unless somebody says fewer; and what that costs."""

from __future__ import annotations

from typing import Any

from dprank.cli.counts import Given
from dprank.cli.options import console
from dprank.plan.topk import costs_nothing, everything

__all__ = ["bound_of", "told_of_bound"]


def bound_of(per_person: int | None, given: Given | None, items: tuple[str, ...]) -> int:
    """The bound that is asked for, or that a file of counts has; else as many as there are items."""
    if per_person is not None:
        return per_person
    counted = None if given is None else given.counts.per_person
    return everything(len(items)) if counted is None else counted


def told_of_bound(mechanism: Any, per_person: int, asked: int | None, as_json: bool) -> None:
    """Say to whoever releases what the bound leaves out; by public numbers alone, before anything is spent."""
    items = mechanism.n_items
    if as_json:
        return
    if asked is None and per_person >= items:
        fewer = f"; --per-person below {mechanism.k} would need less noise" if mechanism.k > 1 else ""
        said = f"all items of a person count{fewer}" if costs_nothing(mechanism) else "all items of a person count"
    elif per_person < items and costs_nothing(mechanism, per_person):
        said = (
            f"{per_person} of a person's items count, and what somebody has beyond is left out; without --per-person "
            "all would count, for the same noise"
        )
    else:
        return
    console().print(f"per-person: {said}")
