"""What a person would see who looked at a table: for its curator alone, and for no release.

Each finding is a sentence that says what was seen, in how many cells, and what to do about it. They are of the data: a
release prints none, and asks for what they lead to by flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dprank._require import shown
from dprank.data.accounts import BEYOND, BLANK, Intake, people_column
from dprank.data.bounding import nameless, person_ids
from dprank.data.cleaning import RULES, cleaner
from dprank.data.noticed_again import in_alike, in_copies
from dprank.data.noticed_aliases import in_aliases
from dprank.data.noticed_amounts import in_amounts
from dprank.data.noticed_answers import in_answers
from dprank.data.noticed_cells import Raw, in_cells
from dprank.data.noticed_codes import below_0
from dprank.data.noticed_columns import in_unused
from dprank.data.noticed_graph import in_graph
from dprank.data.noticed_lines import in_names
from dprank.data.noticed_matches import in_results, in_scores
from dprank.data.noticed_melted import in_full
from dprank.data.noticed_mirrors import in_mirrors
from dprank.data.noticed_names import called_a_count
from dprank.data.noticed_pairs import in_pairs
from dprank.data.noticed_people import in_blanks, in_people
from dprank.data.noticed_places import in_places
from dprank.data.noticed_scales import in_headers
from dprank.data.noticed_sums import sums_in
from dprank.data.noticed_tasks import with_tasks
from dprank.data.noticed_ties import in_ties
from dprank.data.noticed_tops import in_shown, in_tops
from dprank.data.noticed_turned import in_orders, in_turned
from dprank.data.noticed_worst import in_ranks
from dprank.data.sniffing import sniff

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["noticed", "raw_of"]

#: Fewer rows of one label are nothing to ask about.
FEW = 10
#: People whose spellings are compared.
LOOKED_AT = 1_000
#: A label with so many times as many rows as the next one is nobody's name, maybe.
TIMES = 10
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
    "an item not declared": "'unknown items' says which; --items names all, --clean and --alias mend spellings",
    "an item compared with itself": "are the columns of --comparisons the right ones?",
    "another ballot of the same person": "is the column of --person the one that says who?",
}
#: Names of columns of counts that say who, as often as not: a member's number.
NAMES = "num number weight weights w wt wgt size"
#: What to do about a table of totals.
_TO_DO = {
    "tallies": (
        "A row for every item of every person is needed, with a column that says who; where there are totals alone, a "
        "mechanism takes them in Python: dprank.Oneshot"
    ),
    "comparisons": "Write each row as often as it counts, with a column that says who, or without --person",
    "ballots": "--times with that column, and no --person, says how many ballots a row stands for",
}
_WHOLE = re.compile(r"[0-9]++(?:,[0-9]{3})*+(?:\.0*+)?")


def raw_of(declared: Declaration, path: Any) -> Raw | None:
    """The cells of a table as they are written, without rows of more fields than the header; None of PrefLib.

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="tallies", items=["flu", "gout"], person="patient", columns=("diagnosis",))
    >>> len(raw_of(declared, dprank.example("diagnoses.csv")).frame)
    438
    """
    if declared.form == "preflib":
        return None
    sniffed = sniff(path, people_column(declared))
    return Raw(declared, sniffed.frame.loc[~sniffed.beyond])


def noticed(raw: Raw | None, intake: Intake, declared: Declaration) -> tuple[str, ...]:
    """Sentences on what is odd about a file, the gravest first.

    Parameters
    ----------
    raw : Raw or None
        Of the file, by `raw_of`.
    intake : Intake
        What the declaration made of it.
    declared : Declaration

    Notes
    -----
    O(rows).

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="tallies", items=["flu", "gut"], person="patient", columns=("diagnosis",))
    >>> path = dprank.example("diagnoses.csv")
    >>> noticed(raw_of(declared, path), declared.read(path), declared)[0][:34]
    'most rows are left out: 241 of 438'
    """
    blanks = [] if raw is None else [*in_blanks(raw, intake)]
    found = [*_lost(declared, intake, merged=bool(blanks))]
    if raw is not None:
        sums, said = sums_in(raw, intake)
        ties = dict(in_ties(raw, intake))
        people, turned = dict(in_people(raw, intake)), dict(in_turned(raw, intake))
        told_of = {*ties, *people, *turned}
        tasks, others = with_tasks(raw.without(sums), intake, in_unused(raw, intake, told=told_of))
        found += [
            *in_names(raw),
            *in_aliases(raw),
            *filter(None, [said]),
            *in_amounts(raw),
            *people.values(),
            *blanks,
            *in_copies(raw, intake),
            *in_alike(raw, intake),
            *_person(raw),
            *_totals(raw),
            *filter(None, ties.values()),
            *in_mirrors(raw),
            *in_answers(raw, intake),
            *turned.values(),
            *in_orders(raw, intake),
            *in_scores(raw, intake),
            *in_results(raw, intake),
            *in_full(raw, intake, others),
            *in_pairs(raw, intake),
            *others,
            *in_cells(raw, intake, below_0(raw)),
        ]
        places = [*in_places(raw.without(sums) if tasks is None else tasks)]
        told = [*in_headers(raw, any("--best high" in it for it in places))]
        told = told or [*in_ranks(raw)]
        found += [*told, *(it for it in places if not told or not it.startswith("places are "))]
    found += [*_again(declared, intake), *_unnamed(declared, intake), *_spelt(declared, intake)]
    return (*found, *in_graph(declared, intake), *in_tops(declared, intake), *in_shown(declared, intake))


def _lost(declared: Declaration, intake: Intake, merged: bool) -> Iterator[str]:
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
        yield from _some_lost(declared, intake, merged)
    if 2 * lost > intake.rows and 2 * intake.absent < lost:
        reason, number = max(intake.left_out.items(), key=lambda it: it[1])
        advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
        if reason == "no such answer" and 2 * intake.misread.get("", 0) > number:
            advice = f"; a blank answer says nothing: {BLANKS}"
        of_them = "all" if number == lost else str(number)
        rows = "ballots" if ballots and declared.form != "long" else "rows"
        yield f"most {rows} are left out: {lost} of {intake.rows}, {of_them} for '{reason}'{advice}"


def _some_lost(declared: Declaration, intake: Intake, merged: bool) -> Iterator[str]:
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
    rows = "ballots" if declared.kind == "ballots" and declared.form != "long" else "rows"
    advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
    if reason == "no such answer":
        reason, advice = "a blank answer", f"; {BLANKS}"
    yield f"{number} of {intake.rows} {rows} are left out for '{reason}', which may lean to one side{advice}"


def _again(declared: Declaration, intake: Intake) -> Iterator[str]:
    """That of a person with several ballots one counts that nobody chose."""
    again = intake.left_out.get("another ballot of the same person", 0)
    if declared.kind != "ballots" or again < LOST or 2 * again > intake.rows or declared.repeated == "none":
        return
    rows = "rows" if declared.form == "long" else "ballots"
    yield (
        f"{again} {rows} are left out as a person has others: which one counts is by lot, and need not be the last. If "
        "the last counts, take the others out of the file; --repeated none counts none of such a person"
    )


def _spelt(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Labels that are items but for case and blanks."""
    alike = cleaner(RULES)
    names = {alike(it) for it in declared.items}
    found = {text: number for text, number in intake.unknown.items() if alike(text) in names}
    if (number := sum(found.values())) >= LOST and len(names) == len(declared.items):
        yield (
            f"{number} cells are items but for case, blanks or how letters are written, as {shown(next(iter(found)))}, "
            f"and do not count: --clean {','.join(RULES)} takes them"
        )


def _unnamed(declared: Declaration, intake: Intake) -> Iterator[str]:
    """Alternatives of a file of PrefLib that are no items."""
    if declared.form == "preflib" and (number := sum(intake.unknown.values())):
        yield (
            f"alternatives that are no declared item stand on ballots, {number} times, and are taken off: 'unknown "
            "items' says which; --withdrawn says that they are none, --alias which item one is"
        )


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


def _person(raw: Raw) -> Iterator[str]:
    """One label for many people, and many labels for one: none of them is told."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if column is None:
        return
    codes, distinct = column.factorize()
    texts, rows = np.array(distinct, object), np.bincount(codes, minlength=len(distinct))
    named = ~nameless(texts)
    texts, rows = texts[named], rows[named]
    if not len(texts):
        return
    if 2 * sum(raw.item(it) is not None for it in texts) > len(texts):
        yield f"the column of --person, {shown(name)}, holds names of items: is it the one that says who?"
    ids, who, each = np.unique(person_ids("person", texts), return_inverse=True, return_counts=True)
    who = np.ravel(who)
    if len(ids) < len(texts):
        people, spellings = int((each > 1).sum()), len(texts) - int((each == 1).sum())
        yield (
            f"{spellings} spellings were taken for {people} person{'s' * (people != 1)}, as they differ in "
            f"{_differing(texts, who, each > 1)} alone: is that so in {shown(name)}? Else write people so that they "
            "differ in more"
        )
    total = np.bincount(who, weights=rows).astype(int)
    order = np.sort(total)[::-1]
    most, second = int(order[0]), int(order[1]) if len(order) > 1 else 0
    each_once = raw.declared.kind == "ballots" and raw.declared.form != "long"
    if most >= FEW and (most >= TIMES * second or (each_once and 2 * most > total.sum())):
        all_of = "all" if most == total.sum() else f"{most} of"
        yield f"one label has {all_of} {total.sum()} {'ballots' if each_once else 'rows'}: does {shown(name)} say who?"


def _differing(texts: Any, who: Any, several: Any) -> str:
    """By what spellings of one person differ, in words."""
    found = set()
    for one in np.flatnonzero(several)[:LOOKED_AT]:
        written = list(map(str, texts[who == one]))
        trimmed = [" ".join(it.split()) for it in written]
        small = {it.casefold() for it in trimmed}
        found |= {"blanks"} if trimmed != written else set()
        found |= {"case"} if len(small) < len(set(trimmed)) else set()
        found |= {"how letters or numbers are written"} if len(small) > 1 else set()
    return " and ".join(sorted(found))


def _totals(raw: Raw) -> Iterator[str]:
    """A count in the place of who it was: every row is taken for one person, called 500."""
    name = raw.declared.person
    column = None if name is None else raw.column(name)
    if name is None or column is None:
        return
    cells = [it for it in map(str.strip, column.tolist()) if it]
    distinct = sorted({int(it.replace(",", "").partition(".")[0]) for it in cells if _WHOLE.fullmatch(it)})
    if len(distinct) < 2 or not all(map(_WHOLE.fullmatch, cells)):
        return
    if raw.declared.kind != "ballots" and len(cells) >= 2 * len(distinct):  # somebody with rows of their own
        return
    if distinct == list(range(distinct[0], distinct[0] + len(distinct))):  # rows by number
        return
    called = called_a_count(name) and name.strip().casefold() not in NAMES.split()
    if called or _each_item_once(raw):
        yield (
            f"the column of --person, {shown(name)}, holds whole numbers: is this a table of totals? dprank counts "
            f"rows, and takes each number for one person. {_TO_DO[raw.declared.kind]}"
        )


def _each_item_once(raw: Raw) -> bool:
    """Whether a table has one row an item and no more."""
    if raw.declared.kind != "tallies":
        return False
    column = raw.column(raw.declared.columns[0])
    return column is not None and len(column) > 2 and column.str.strip().nunique() == len(column)
