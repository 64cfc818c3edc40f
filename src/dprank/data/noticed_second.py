"""A second answer in a row, as of another judge: nobody reads it, and no other rule speaks of its column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.answers import NAMED, codes_of, twice_points
from dprank.data.noticed_cells import Raw

__all__ = ["second_answers"]

#: Columns of more texts hold no answers; in so many rows, at least, two answers differ.
TEXTS, DIFFER = 50, 0.1
#: Numbers of more kinds measure something.
KINDS = 3
#: A longer name says nothing of judges.
LONGEST = 1_000
#: What tells two judges apart in the names of their columns.
_NUMBER = re.compile(r"[\W_]*(?:[0-9]+|(?<![^\W_])[a-z](?![^\W_]))[\W_]*", re.IGNORECASE)


def second_answers(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """Columns that are not used and hold answers as the one that is read does, each with a sentence."""
    declared = raw.declared
    if declared.kind != "comparisons" or declared.form != "long" or declared.columns[2] in declared.columns[:2]:
        return
    columns = [raw.column(it) for it in declared.columns]
    if any(it is None for it in columns):
        return
    first, second = (np.array([raw.codes.get(raw.clean(str(it)), -1) for it in one], np.int64) for one in columns[:2])
    meaning = codes_of(declared.answers or "names", raw.codes, raw.clean, declared.unranked_as)
    own, _ = _points(raw, meaning, declared.columns[2], first, second)
    for name in intake.unused:
        points, named = _points(raw, meaning, name, first, second)
        both = (points >= 0) & (own >= 0)
        if not both.any() or not (named or _alike(name, declared.columns[2])):
            continue
        if np.mean(points[both] != own[both]) >= DIFFER and len(np.unique(points[points >= 0])) > 1:
            yield (
                name,
                f"column {shown(name)} is not used, and holds answers as {shown(declared.columns[2])} does: are they "
                "of a second judge? Nobody reads them: write a row for each answer, with a column that says whose it "
                "is",
            )


def _points(
    raw: Raw, meaning: Callable[[str], int], name: str, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], bool]:
    """What the first item gets by a column, -1 where it says nothing; none at all if a third of it is no answer.

    And whether most answers are names of items.
    """
    column, nothing = raw.column(name), (np.full(len(first), -1, np.int64), False)
    if column is None or column.nunique() > TEXTS + len(raw.codes):
        return nothing
    codes, distinct = column.factorize()
    texts = list(map(str, distinct))
    code = np.array([meaning(it) for it in texts], np.int64)[codes]
    points = twice_points(code, first, second)
    written = [it.strip().casefold() not in BLANK for it in texts]
    there = np.array(written, bool)[codes]
    named = bool(2 * (code >= NAMED).sum() > there.sum())
    if 3 * (points >= 0).sum() < 2 * there.sum() or (not named and sum(written) > KINDS):
        return nothing
    return points, named


def _alike(one: str, other: str) -> bool:
    """Whether two names differ in a number or a letter alone.

    Examples
    --------
    >>> _alike("judge_1", "judge_2"), _alike("Rater A", "Rater B"), _alike("outcome", "tie"), _alike("a", "b")
    (True, True, False, False)
    """
    if max(len(one), len(other)) > LONGEST:
        return False
    stems = [_NUMBER.sub("", it).strip().casefold() for it in (one, other)]
    return stems[0] == stems[1] != ""
