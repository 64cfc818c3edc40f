"""What a release is called, which one it corrects, and which wave it is: asked by flags, before anything is spent."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dprank
from dprank._require import shown
from dprank.cli.options import about, published_text
from dprank.publication import opened, read_publication, receipt_of, require_named

__all__ = ["named", "whose"]


def named(title: str | None, day: str | None, replaces: Path | None, wave: int | None) -> dict[str, Any]:
    """What `dprank.publication.publish` takes of these flags; the day is today (UTC), before any row is read.

    Examples
    --------
    >>> named("Staff survey", "2026-11-25", None, 2)
    {'title': 'Staff survey', 'day': '2026-11-25', 'replaces': None, 'wave': 2}
    """
    found = {
        "title": title,
        "day": datetime.now(UTC).date().isoformat() if day is None else day,
        "replaces": None if replaces is None else _published(replaces)["id"],
        "wave": wave,
    }
    require_named(**found)
    return found


def whose(
    dataset: str | None, new_dataset: bool, budget: Path | None, replaces: Path | None, wave: int | None
) -> str | None:
    """Under which name the budget knows the people: a correction and a later wave are of those that it has.

    Raises
    ------
    ValueError
        Where another name is said, or the budget has no such entry.
    """
    if budget is None:
        return dataset
    paid = None if replaces is None else receipt_of(_published(replaces))
    if paid is not None and dataset is None:
        dataset = paid.dataset
    elif paid is not None and dataset != paid.dataset:
        raise ValueError(
            f"dataset = {shown(dataset)}; {replaces} was paid for by {shown(paid.dataset)}, and a correction is of the "
            "same people: leave --dataset out"
        )
    known = "a correction" if replaces is not None else f"wave = {wave}" if wave is not None and wave > 1 else ""
    if not known:
        return dataset
    if new_dataset:
        raise ValueError(f"{known} is of people whom the budget has: leave --new-dataset out")
    if dataset is None:
        raise ValueError(f"{known}: say with --dataset by which name the budget has these people, or it begins anew")
    if not dprank.Budget(budget).entries(dataset):
        raise ValueError(f"dataset = {shown(dataset)}; {budget} has no entry of it, and {known} comes after one")
    return dataset


def _published(file: Path) -> Any:
    """The fields of a published file that is sound."""
    with about(file):
        text = published_text(file)
        read_publication(text)
        return opened(text)
