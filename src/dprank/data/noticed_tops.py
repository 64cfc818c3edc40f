"""Lists of favourites whose items are named unequally often, where an item that is left out is compared with none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dprank._require import shown
from dprank.data.accounts import Intake

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["in_tops"]

#: Fewer lists say nothing; by how many deviations of a fair draw, and how many times, items must differ.
FEW, DEVIATIONS, TIMES = 20, 5.0, 2
#: This share of lists is as long as a list may be, or shorter by one.
MOST = 0.8
#: What the column of the worst is called: it is no place of a list of favourites.
_WORST = re.compile(
    r"worst|least|last|schlecht|letzte|pire|dernier|peor|peggior|slecht|pior|sämst|dårlig", re.IGNORECASE
)


def in_tops(declared: Declaration, intake: Intake) -> Iterator[str]:
    """A sentence on lists of favourites that are compared as if each had been asked about its own items alone."""
    if declared.kind != "ballots" or declared.unranked != "apart" or declared.form not in ("ranks", "orders"):
        return
    if any(map(_WORST.search, declared.columns)):
        return
    named = np.asarray(intake.data.places) >= 0
    each = named.sum(axis=1)
    named, each = named[each > 0], each[each > 0]
    m, often = len(declared.items), named.sum(axis=0)
    if len(named) < FEW or each.max() >= m or 10 * (each >= each.max() - 1).sum() < 10 * MOST * len(each):
        return
    share = often.mean() / len(named)
    deviation = np.sqrt(len(named) * share * (1 - share))
    most, least = int(np.argmax(often)), int(np.argmin(np.where(often > 0, often, often.max())))
    if often[most] < TIMES * often[least] or often[most] - often[least] < DEVIATIONS * deviation:
        return
    yield (
        f"items are named unequally often: {shown(declared.items[most])} on {often[most]} of {len(named)} ballots, "
        f"{shown(declared.items[least])} on {often[least]}: are these lists of favourites? --unranked apart compares "
        "an item with those beside it on a list alone, and --unranked last puts what a list leaves out behind it"
    )
