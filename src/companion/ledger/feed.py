"""The errata as a feed (Atom): who follows it hears of each new one, of each change, and of each that is taken back."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from companion.ledger.card import OURS, fill
from companion.ledger.files import NEEDS_CORRECTION
from companion.ledger.history import Change, erroneous
from companion.ledger.scoreboard import Entry

#: Where `book/_ext/share.py` puts it.
FILE = "errata.xml"
#: All ids are derived from it, and from the first name of a claim: they are the same wherever the site is put.
FEED = uuid.uuid5(uuid.NAMESPACE_OID, "Private ranking, executable: errata")


def feed(entries: Iterable[Entry], changes: Iterable[Change], author: str, base: str = "") -> bytes:
    """All errata that the four papers ever had, the last changed first; links are relative, to `base` if it is known."""
    stated = {entry.claim.id: entry for entry in entries if not entry.claim.id.startswith(OURS)}
    past = {name: rows for name, rows in erroneous(changes).items() if name in stated}
    errata = [
        {
            "id": uuid.uuid5(FEED, rows[0].claim).urn,
            "it": stated[name],
            "last": rows[-1],
            "since": next(it.date for it in rows if it.now in NEEDS_CORRECTION),
            "stands": rows[-1].now not in NEEDS_CORRECTION,
        }
        for name, rows in past.items()
    ]
    errata.sort(key=lambda erratum: erratum["last"].date, reverse=True)
    for erratum in errata:
        erratum["html"] = fill("feed-entry.html", **erratum)
    return fill("feed.xml", id=FEED.urn, errata=errata, author=author, base=base, file=FILE).encode() + b"\n"
