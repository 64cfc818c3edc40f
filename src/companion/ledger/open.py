"""What the book leaves open, of what the ledger says itself: unchecked, tried on a part, not proved, not answered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from companion.ledger.card import fill, typeset
from companion.ledger.papers import copies, paper_of
from companion.ledger.scoreboard import Entry
from companion.ledger.verdicts import HOLDS, UNCHECKED

__all__ = ["OPEN", "SIMULATED", "open_lists"]

#: How the ledger says of what is corrected that more is to be found out, and that it was seen in simulations only.
OPEN = re.compile(r"\bnot known\b|\b(?:is|are) open\b|\bproof\b.*\bmissing\b")
SIMULATED = re.compile(r"(?<!must be )\bsimulat(?:ed|ions?|es)\b")
#: Verdicts by these rest on the cases that were run, and on no proof.
BY_CASES = ("exact", "numeric", "simulation")


def open_lists(root: Path, stated: Iterable[Entry]) -> dict[str, str]:
    """What stands in braces on the page of open questions: lists as HTML on one line, and their lengths."""
    entries = [it for it in stated if not it.ours]
    unchecked = [(it, f"{it.claim.statement} {it.claim.reason}") for it in entries if it.verdict == UNCHECKED]
    parts = [
        (it, it.claim.runs) for it in entries if it.claim.runs and it.verdict == HOLDS and it.claim.method in BY_CASES
    ]
    needs = [(it, it.claim.necessity) for it in entries if it.claim.necessity and OPEN.search(it.claim.necessity)]
    seen = [(it, it.claim.corrected) for it in entries if it.claim.corrected and SIMULATED.search(it.claim.corrected)]
    pages = [it.claim.page for it in entries if it.claim.page]
    asked = [it for it in pages if it.asked]
    answered = [it for it in asked if it.answered]
    return {
        "open_unchecked": _list(unchecked),
        "open_parts": _list(parts, "statements, with what was run of each"),
        "open_needs": _list(needs),
        "open_simulated": _list(seen),
        "open_lacks": _lacks(root),
        "open_unchecked_count": str(len(unchecked)),
        "open_parts_count": str(len(parts)),
        "open_hold_count": str(sum(it.verdict == HOLDS for it in entries)),
        "open_asked": _asked(len(pages), len(asked), len(answered)),
    }


def _list(rows: list[tuple[Entry, str]], folded: str = "") -> str:
    """Places with what is said of each; below a line that unfolds if that line's words are given."""
    return fill("open.html", rows=rows, folded=folded).replace("\n", "")


def _asked(pages: int, asked: int, answered: int) -> str:
    """How many results were put to the authors, and answered: only what is true."""
    of = f"Of the {pages} results that have a page of their own"
    if not asked:
        return f"{of}, none has been put to the authors yet, and so none is answered"
    return f"{of}, the authors have been asked about {asked}, and have answered {answered}"


def _lacks(root: Path) -> str:
    """What was missing from the copy of each paper that was read."""
    rows = [f"<li>{typeset(paper_of(key).name)}: {typeset(it.lacks)}</li>" for key, it in copies(root).items()]
    return f"<ul>{''.join(rows)}</ul>" if rows else ""
