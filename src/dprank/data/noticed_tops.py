"""Lists of some items: of favourites, which are named unequally often, or of those that were shown, named alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dprank._require import shown
from dprank.data.accounts import ALTERED, Intake

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["in_shown", "in_tops"]

#: Fewer lists say nothing; by how many deviations of a fair draw, and how many times, items must differ.
FEW, DEVIATIONS, TIMES = 20, 5.0, 2
#: So many ballots, and so many of each item, show that all are named alike.
SHOWN_TO, EXPECTED = 24, 8
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


def in_shown(declared: Declaration, intake: Intake) -> Iterator[str]:
    """A sentence on ballots of as many items each, all named alike often, as of those that a person was shown."""
    if declared.kind != "ballots" or declared.unranked != "last":
        return
    places = np.asarray(intake.data.places)
    places = places[places.max(axis=1, initial=-1) > 0]
    if intake.altered.get(ALTERED[3], 0) < len(places):  # some name all
        return
    named = (places >= 0) & (places < places.max(axis=1, initial=-1)[:, None])
    each = named.sum(axis=1)
    named, each = named[each > 0], each[each > 0]
    m = len(declared.items)
    if len(named) < SHOWN_TO or not 1 < each.max() < m or each.min() < each.max():
        return
    often, share = named.sum(axis=0), each.max() / m
    expected = len(named) * share
    spread = float(((often - expected) ** 2).sum() / (expected * (1 - share)))
    if expected < EXPECTED or spread > m - 1 + 2 * np.sqrt(2 * (m - 1)):  # as of a fair draw
        return
    yield (
        f"each of {len(named)} ballots names {each.max()} of {m} items, and all are named about equally often: were "
        "these the only ones that a person was shown? --unranked last puts the others behind them; --unranked apart "
        "compares them with none"
    )
