"""Several questions in one file: a column that is not used, by whose values people say everything once each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.bounding import nameless
from dprank.data.noticed_cells import Raw

__all__ = ["in_questions"]

#: More values are no questions.
MOST = 30


def in_questions(raw: Raw, intake: Intake) -> Iterator[str]:
    """Sentences on columns that may say which of several questions a row answers."""
    declared = raw.declared
    if (
        declared.person is None
        or declared.kind == "tallies"
        or (declared.kind, declared.form) == ("comparisons", "wide")
    ):
        return  # a person may have an item again and again; nobody is known
    many = {"comparisons": 2, "ballots": declared.form == "long"}[declared.kind]
    keys = [
        raw.column(name) for name in (declared.person, declared.ballot, *declared.columns[:many]) if name is not None
    ]
    if any(key is None for key in keys):
        return
    codes, distinct = keys[0].factorize()
    stays = ~nameless(np.array(distinct, object))[codes]
    said = _numbered([key.factorize()[0][stays] for key in keys])
    rows, ones = len(said), int(said.max(initial=-1)) + 1
    if rows < 4 or 4 * ones > 3 * rows:
        return
    for name in intake.unused:
        column = raw.column(name)
        cells = None if column is None else column[stays]
        values = 0 if cells is None else cells.nunique()
        if cells is None or not 1 < values <= MOST or int(_numbered([said, cells.factorize()[0]]).max()) + 1 < rows:
            continue
        once = "names items once for each" if declared.form == "long" else "has a row for each"
        also = f", or --ballot {shown(name)}, if each is a ballot on the same" * (
            declared.form == "long" and declared.kind == "ballots"
        )
        yield (
            f"column {shown(name)} is not used and has {values} values, and a person {once}: are they several "
            f"questions? One question a release: make a file of each{also}"
        )


def _numbered(keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Whole numbers from 0 for rows, one for all that have the same keys."""
    number = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        number = (
            np.unique(number * (int(key.max(initial=0)) + 1) + key, return_inverse=True)[1].ravel().astype(np.int64)
        )
    return number
