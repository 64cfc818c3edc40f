"""A file whose rows are all there twice, where nobody is known by whom that would be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dprank._require import shown
from dprank.data.accounts import Intake

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_alike", "in_copies"]

#: Fewer rows may agree by chance.
FEW = 12


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
