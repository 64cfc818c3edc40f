"""Answers that say a side by a number which an alias makes an item: what to do, in one step."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from dprank._require import shown
from dprank.data.accounts import BLANK
from dprank.data.answers import WORDS, number_in
from dprank.data.cleaning import cleaner

if TYPE_CHECKING:
    from dprank.data.accounts import Intake
    from dprank.data.declaration import Declaration

__all__ = ["aliased_sides", "leads_round", "sides_of", "way_out"]

#: Numbers that say which of two columns is meant.
SIDES = {Decimal(it) for it in ("0", "0.5", "1", "2")}
#: So many items are typed out.
TYPED = 9


def _aliased(declared: Declaration, texts: Iterable[str]) -> list[str]:
    """Which numbers of sides an alias makes an item."""
    clean, plain = cleaner(declared.clean, declared.aliases), cleaner(declared.clean)
    items = {clean(it) for it in declared.items}
    found = {it.strip() for it in texts if number_in(it) in SIDES and clean(it) in items}
    return sorted(it for it in found if clean(it) != plain(it))


def sides_of(declared: Declaration, intake: Intake, word: str | None = None) -> list[str]:
    """Answers that are left out since an alias makes items of them, where a word says that they are numbers.

    `word` stands for what is declared.

    Examples
    --------
    >>> import dprank
    >>> from dprank.data.accounts import Intake
    >>> keys = {"items": ["bus", "tram"], "columns": ("l", "r", "w"), "aliases": {"1": "bus", "2": "tram"}}
    >>> lost = Intake(None, "", 3, {}, {}, {}, {}, {"1": 2, "2": 1})
    >>> [sides_of(dprank.Declaration(kind="comparisons", answers=it, **keys), lost) for it in ("position", "names")]
    [['1', '2'], []]
    """
    known = WORDS.get(word or str(declared.answers)) if declared.kind == "comparisons" else None
    found = _aliased(declared, intake.misread) if known else []
    return found if any(number_in(it) in (known or ()) for it in found) else []


def aliased_sides(declared: Declaration, intake: Intake, cells: Collection[str]) -> str:
    """A sentence on answers that an alias makes items, of which some say nothing; else nothing."""
    if found := sides_of(declared, intake):
        lost = sum(number for it, number in intake.misread.items() if it.strip() in found)
        what = f"--alias makes items of {', '.join(found)}, so that {lost} answers are none by --map {declared.answers}"
        return f"{what}: {way_out(declared)}"
    texts = [it for it in cells if it.strip().casefold() not in BLANK]
    codes = declared.kind == "comparisons" and len(texts) > 1 and all(number_in(it) in SIDES for it in texts)
    if not codes or not (found := _aliased(declared, intake.misread)):
        return ""
    what = f"all answers are {' and '.join(sorted(map(str.strip, texts)))}, of which --alias makes items"
    return f"{what}: if they say which of the two columns holds the preferred item, {way_out(declared)}"


def leads_round(line: str) -> bool:
    """Whether a sentence asks for a meaning of numbers, which an alias takes away again."""
    return any(it in line for it in ("--map position", "--map outcome", "--map 0=", "--map 1=", "--map 2="))


def way_out(declared: Declaration) -> str:
    """What to do in one step where answers and items are written by the same numbers."""
    clean = cleaner(declared.clean, declared.aliases)
    written = {clean(it): it for it in reversed(list(declared.aliases or {}))}
    names = [written.get(clean(it), it) for it in declared.items]
    typed = f"--items {shown(','.join(names))}" if len(names) <= TYPED else "by --items"
    return (
        "write other words for the answers in the file, as A and B, and --map A=1,B=0; or name the items as they are "
        f"written, {typed}, without --alias"
    )
