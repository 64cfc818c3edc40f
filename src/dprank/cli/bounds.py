"""How many items of a person count in a top k: all of them, unless somebody says fewer; and what that costs."""

from __future__ import annotations

from typing import Any

from dprank.cli.counts import Given
from dprank.plan.topk import costs_nothing, everything

__all__ = ["bound_of", "told_of_bound"]


def bound_of(per_person: int | None, given: Given | None, items: tuple[str, ...]) -> int:
    """The bound that is asked for, or that a file of counts has; else as many as there are items."""
    if per_person is not None:
        return per_person
    counted = None if given is None else given.counts.per_person
    return everything(len(items)) if counted is None else counted


def told_of_bound(mechanism: Any, per_person: int) -> list[str]:
    """That a bound leaves out what would cost no noise, in a sentence, by public numbers alone; else nothing."""
    if per_person >= mechanism.n_items or not costs_nothing(mechanism, per_person):
        return []
    return [
        f"per-person: {per_person} of a person's items count, and what somebody has beyond is left out; without "
        "--per-person all would count, for the same noise"
    ]
