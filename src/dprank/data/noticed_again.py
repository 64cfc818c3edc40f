"""What is there again: all rows of a file, one ballot for everybody, and answers of a person to the same pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dprank._require import shown
from dprank.data.accounts import Intake

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration
    from dprank.data.noticed_cells import Raw

__all__ = ["in_alike", "in_copies", "in_same_pairs", "said_again"]

#: Fewer rows may agree by chance.
FEW = 12
#: A smaller share of answers to a pair that was answered before are slips.
AGAIN = 0.05


def in_copies(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on rows that are alike in all columns, each with one other: a file that was joined with itself."""
    rows = len(raw.frame)
    if raw.declared.person is not None or raw.declared.ballot is not None or rows < FEW or rows % 2:
        return
    key = np.zeros(rows, np.int64)
    for at in range(raw.frame.shape[1]):
        code = raw.frame.iloc[:, at].factorize()[0].astype(np.int64)
        key = np.unique(key * (int(code.max(initial=0)) + 2) + code, return_inverse=True)[1].ravel()
    half = rows // 2
    if int(key.max(initial=0)) + 1 != half:
        return
    if (key[:half] == key[half:]).all() or (key[::2] == key[1::2]).all():
        yield (
            f"each of {half} rows is there twice, alike in every column: was a file joined with itself? Both count: "
            "keep one of each two"
        )


def in_alike(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on places that hang on the item alone, whoever gives them: those of a result, and of nobody."""
    declared = raw.declared
    if declared.kind != "ballots" or declared.form != "long" or len(intake.data) < FEW:
        return
    places = np.asarray(intake.data.places)
    if (places != places[0]).any() or places[0].max() <= 0:
        return
    yield (
        f"all {len(places)} ballots are the same: is {shown(declared.columns[1])} the place in a result, and not what "
        "each of them said?"
    )


def said_again(data: Any) -> int:
    """How many answers are to a pair that the same person answered before; 0 where nobody is known."""
    people = getattr(data, "person", getattr(data, "voter", None))
    if people is None or not len(data):
        return 0
    low, high = np.sort(np.stack([data.first, data.second]).astype(np.int64), axis=0)
    who, many = np.unique(people, return_inverse=True)[1].ravel(), int(high.max()) + 1
    return len(data) - len(np.unique((who * many + low) * many + high))


def in_same_pairs(declared: Declaration, intake: Intake) -> Iterator[str]:
    """A sentence on answers of a person to one pair, of which a release counts one unless it is told otherwise."""
    again = said_again(intake.data) if declared.kind == "comparisons" and declared.person is not None else 0
    if again >= max(1, AGAIN * len(intake.data)):
        yield (
            f"{again} of {len(intake.data)} answers are to a pair that the same person answered before: of each pair "
            "one of a person's answers counts, unless release is told --design any, and by --answers how many"
        )
