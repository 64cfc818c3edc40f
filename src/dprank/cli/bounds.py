"""How much of a person counts: at most what there is, unless it may be said again; and what a bound costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dprank.cli.given import Given
from dprank.plan._bounds import costs_nothing, everything
from dprank.questions import QUESTIONS, QuestionName

__all__ = ["bound_of", "require_planned", "require_room", "told_of_bound"]


def require_room(answers: int | None, design: str | None, n_items: int) -> None:
    """Refuse more answers of a person than a design has room for.

    Examples
    --------
    >>> require_room(15, "once", 3)
    Traceback (most recent call last):
        ...
    ValueError: answers = 15; --answers of 1 to 3 goes with --design once, by which each of 3 pairs counts once a ...
    """
    pairs = n_items * (n_items - 1) // 2
    most, each = (n_items // 2, f"{n_items} items") if design == "matching" else (pairs, f"{pairs} pairs")
    if answers is not None and design in ("once", "complete", "matching") and answers > most:
        raise ValueError(
            f"answers = {answers}; --answers of 1 to {most} goes with --design {design}, by which each of {each} "
            "counts once a person: --design any takes more"
        )


def require_planned(question: QuestionName, asked: Mapping[str, Any], n_items: int) -> None:
    """Refuse to plan for more of a person than there is, by the names of the flags.

    Examples
    --------
    >>> require_planned("topk", {"answers": (2, 9)}, 5)
    Traceback (most recent call last):
        ...
    ValueError: per-person = 9; --per-person of 1 to 5 is planned, as there are 5 items
    """
    pairs = n_items * (n_items - 1) // 2
    most, flag, why = n_items, "per-person", f"there are {n_items} items"
    if QUESTIONS[question].data == "comparisons":
        again = "; where people answer a pair again, `release ranking --design any` takes more, and no plan does"
        most, flag, why = pairs, "answers", f"each of {pairs} pairs counts once a person{again}"
    if n_items < 2:  # which is refused for itself
        return
    for key, name in (("answers", flag), ("given", "given")):
        if (top := max(asked.get(key) or (0,))) > most:
            raise ValueError(f"{name} = {top}; --{name} of 1 to {most} is planned, as {why}")


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
