"""The errata as a feed (Atom): who follows it hears of each new one, of each change, and of each that is taken back."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from companion.ledger.card import fill
from companion.ledger.history import Change, erroneous
from companion.ledger.papers import how_many
from companion.ledger.scoreboard import Entry

#: Where `book/_ext/share.py` puts it.
FILE = "errata.xml"
#: All ids are derived from it, and from the first name of a claim: they are the same wherever the site is put.
FEED = uuid.uuid5(uuid.NAMESPACE_OID, "Private ranking, executable: errata")


@dataclass(frozen=True)
class Erratum:
    """A statement that once did not stand as printed, and the changes of its verdict."""

    it: Entry
    past: Sequence[Change]

    @property
    def id(self) -> str:
        return uuid.uuid5(FEED, self.past[0].claim).urn

    @property
    def since(self) -> str:
        """The day on which it became one."""
        return next(change.date for change in self.past if change.errs)

    @property
    def last(self) -> Change:
        return self.past[-1]

    @property
    def stands(self) -> bool:
        """Whether it is one no more."""
        return not self.last.errs


def feed(entries: Iterable[Entry], changes: Sequence[Change], author: str, base: str = "") -> bytes:
    """All errata that the papers ever had, the last changed first; links are relative, or to `base` if given."""
    stated = {entry.claim.id: entry for entry in entries if not entry.ours}
    errata = [Erratum(stated[name], past) for name, past in erroneous(changes).items() if name in stated]
    errata.sort(key=lambda erratum: erratum.last.date, reverse=True)
    listed = [(erratum, fill("feed-entry.html", erratum=erratum, it=erratum.it)) for erratum in errata]
    values = {"id": FEED.urn, "updated": changes[-1].date, "author": author, "base": base, "file": FILE}
    return f"{fill('feed.xml', errata=listed, papers=how_many(), **values)}\n".encode()
