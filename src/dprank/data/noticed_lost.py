"""Rows and ballots that are left out, and what of a ballot is: how many, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dprank._require import shown
from dprank.data.accounts import BEYOND, BLANK, Intake
from dprank.data.cleaning import RULES, cleaner

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["in_again", "in_lost", "in_spelt", "in_unnamed"]

#: What to do about blank answers.
BLANKS = "where it means something, write a word for it, and --map that word"
#: Fewer rows that are left out, or a smaller share of them, are slips.
LOST, MANY = 4, 0.1
#: Reasons that are declared, or of which there is a sentence of its own.
_SPOKEN_OF = ("another ballot of the same person", "an item withdrawn, or none", "no such answer", "no such count")
#: What to do where most rows are left out for a reason.
ADVICE = {
    "no person": "is the column of --person the one that says who?",
    BEYOND: "is line 1 the header, no title above it, and is there a name for every column? (R leaves out that of its "
    "row names: write.csv with row.names = FALSE)",
    "not every place once": "they do not rank all items once, as --ballots full has it: --ballots tied takes equal "
    "places, --ballots partial items without a place",
    "an item without a place": "--ballots partial takes ballots that leave items out",
    "no such order": "an order is written A > B = C",
    "no such place": "--map says what it means, as '1st=1', and --unranked-as what means that there is none",
    "an item twice": "has a person several ballots? --ballot says which rows are one",
    "no such count": "--times names a column of whole numbers",
    "an item not declared": "'unknown items' says which; --items names all, --clean and --alias correct spellings",
    "an item compared with itself": "are the columns of --comparisons the right ones?",
    "another ballot of the same person": "is the column of --person the one that says who?",
}


def in_lost(declared: Declaration, intake: Intake, merged: bool) -> Iterator[str]:
    """Whether all is lost, or most, and why; `merged` says that labels which are missing are spoken of."""
    lost, ballots = sum(intake.left_out.values()), declared.kind == "ballots"
    silent, said = _silent(declared, intake) if ballots else (0, "")
    if not intake.kept or (ballots and silent == len(intake.data)):
        yield f"nothing counts: {said}a release would be noise alone"
    elif said and 2 * silent > len(intake.data):
        yield f"most ballots say nothing: {said.removesuffix('; ')}"
    if intake.absent:
        yield (
            f"the header says that there are {intake.rows} ballots (NUMBER VOTERS), and the lines below hold "
            f"{intake.rows - intake.absent}: the others are left out"
            + "; 'misread' has lines that are no orders"
            * bool(intake.misread)
        )
    if 2 * lost <= intake.rows:
        yield from _somein_lost(declared, intake, merged)
    if 2 * lost > intake.rows and 2 * intake.absent < lost:
        reason, number = max(intake.left_out.items(), key=lambda it: it[1])
        advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
        if reason == "no such answer" and 2 * intake.misread.get("", 0) > number:
            advice = f"; a blank answer says nothing: {BLANKS}"
        of_them = "all" if number == lost else str(number)
        rows = _counted(declared)
        yield f"most {rows} are left out: {lost} of {intake.rows}, {of_them} for '{reason}'{advice}"


def _counted(declared: Declaration) -> str:
    """What is read, or left out, one by one."""
    if declared.form == "long" or declared.kind == "tallies":
        return "rows"
    return "answers" if declared.kind == "comparisons" else "ballots"


def _somein_lost(declared: Declaration, intake: Intake, merged: bool) -> Iterator[str]:
    """Whether many are lost by what they say, for a reason that nobody else speaks of."""
    lost = {it: number for it, number in intake.left_out.items() if it not in _SPOKEN_OF}
    if declared.kind == "tallies":  # of what people have all else is left out as it should be
        lost.pop("an item not declared", None)
    if merged:
        lost = {it: number for it, number in lost.items() if it not in ("no person", "an item not declared")}
    if declared.kind == "comparisons" and declared.form == "long":
        lost["no such answer"] = sum(number for it, number in intake.misread.items() if it.strip().lower() in BLANK)
    reason, number = max(lost.items(), key=lambda it: it[1], default=("", 0))
    if number < max(LOST, MANY * intake.rows) or number <= intake.absent:
        return
    rows = _counted(declared)
    advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
    if reason == "no such answer":
        reason, advice = "a blank answer", f"; {BLANKS}"
    yield f"{number} of {intake.rows} {rows} are left out for '{reason}', which may lean to one side{advice}"


def _silent(declared: Declaration, intake: Intake) -> tuple[int, str]:
    """How many ballots are nothing, and what of them is so; without a word where all of them are left out."""
    data, number = intake.data, len(intake.data)
    flat = data.places.max(axis=1, initial=-1) <= 0
    silent, light = int((flat | (data.weight == 0)).sum()), int((~flat & (data.weight == 0)).sum())
    if declared.form == "long" and intake.left_out:  # rows are left out, and of how many ballots is not known
        told = f"{silent} of {number} ballots are left out, or put no item before another; "
        return silent, told
    gone = 0 if declared.form == "long" else number - intake.kept
    own = silent - gone - light
    if not silent or silent == gone or (number > silent and 2 * gone > number):  # why they are left out says it
        return silent, ""
    if own == silent == number:
        puts = f"none of {number} ballots puts" if number > 1 else "the one ballot does not put"
        return silent, f"{puts} one item before another; "
    kinds = ((gone, "left out"), (own, "without one item before another"), (light, "of weight 0"))
    parts = [f"{many} {'is' if many == 1 else 'are'} {what}" for many, what in kinds if many]
    return silent, f"of {number} ballot{'s' * (number != 1)} {', '.join(parts)}; "


def in_again(declared: Declaration, intake: Intake) -> Iterator[str]:
    """That of a person with several ballots one counts that nobody chose."""
    again = intake.left_out.get("another ballot of the same person", 0)
    if declared.kind != "ballots" or again < LOST or 2 * again > intake.rows or declared.repeated == "none":
        return
    rows = "rows" if declared.form == "long" else "ballots"
    yield (
        f"{again} {rows} are left out as a person has others: which one counts is drawn at random, and need not be the "
        "last. If the last counts, take the others out of the file; --repeated none counts none of such a person"
    )


def in_unnamed(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Candidates of a file that names them, as of PrefLib, that are no items."""
    if declared.held and (number := sum(intake.unknown.values())):
        yield (
            f"alternatives that are no declared item stand on ballots, {number} times, and are taken off: 'unknown "
            "items' says which; --withdrawn says that they are none, --alias which item one is"
        )


def in_spelt(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Labels that are items but for case and blanks."""
    alike = cleaner(RULES)
    names = {alike(it) for it in declared.items}
    found = {text: number for text, number in intake.unknown.items() if alike(text) in names}
    if (number := sum(found.values())) >= LOST and len(names) == len(declared.items):
        yield (
            f"{number} cells are items but for case, blanks or how letters are written, as {shown(next(iter(found)))}, "
            f"and do not count: --clean {','.join(RULES)} takes them"
        )
