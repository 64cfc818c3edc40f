"""Rows that sum up the others, by what they are called: where they name items, they count until taken out."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import Intake
from dprank.data.amounts import amount_of, as_thousands
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_names import called_a_count, summed_up
from dprank.data.places import number_of

__all__ = ["part_of", "sums_in", "sums_of_rows"]

#: So many labels may sum up all others, and so many rows of one.
SUMS, ROWS = 6, 2
#: Fewer rows sum up nothing.
FEW = 3
#: This share of rows, at least, is summed up by a column; a mean is rounded by so much at most.
SUMMED, ROUNDED = 0.95, 0.051
#: A longer label is a text.
LONGEST = 40
#: What is somebody's name, or kind, as often as not: at the end of a file it is neither; and what are initials.
DOUBTED = frozenset(("count", "media", "mode", "mean", "sum", "suma", "soma", "mittel"))
INITIALS = frozenset(("n", "sd", "σ"))
#: What stands between a label and what it sums up.
_MARKS = " :,;()[]-–—_"
_OF = re.compile(r"(?:of|for|von|für|de|du|di|per)\s+", re.IGNORECASE)


def part_of(text: str, others: frozenset[str]) -> str | None:
    """The words by which a label sums up another one, as 'P1 Total' does P1; None where it sums up none.

    Examples
    --------
    >>> [part_of(it, frozenset({"p1"})) for it in ("P1 Total", "Summe P1", "Total for P1:", "P1 Summers")]
    ['Total', 'Summe', 'Total', None]
    """
    words = text.split()
    for cut in range(1, len(words)):
        front, behind = (" ".join(it).strip(_MARKS) for it in (words[:cut], words[cut:]))
        if summed_up(behind) and front.casefold() in others:
            return behind
        if summed_up(front) and _OF.sub("", behind, count=1).casefold() in others:
            return front
    return None


def sums_in(raw: Raw, intake: Intake) -> tuple[NDArray[np.bool_], str]:
    """Rows that sum up the others, by what they are called: which ones, and a sentence."""
    people = [it for it in (raw.declared.person, raw.declared.ballot) if it is not None]
    for name in (*people, *intake.unused):
        column = raw.column(name)
        if column is None or not len(column):
            continue
        codes, distinct = column.factorize()
        texts = list(map(str, distinct))
        for called, text in (_alone(raw, texts, codes, name in people), _of_others(texts)):
            rows = called[codes]
            if 0 < rows.sum() <= len(rows) / 2:
                return rows, _say(int(rows.sum()), text, name, bool(intake.kept) and _may_count(raw, rows))
    return _of_ballots(raw, intake)


def sums_of_rows(raw: Raw, intake: Intake) -> dict[str, str]:
    """Columns that are not used and hold the sum, or the mean, of what a row says of all items: nothing to speak of."""
    columns = [raw.column(it) for it in raw.declared.items]
    if (raw.declared.kind, raw.declared.form) != ("ballots", "wide") or any(it is None for it in columns):
        return {}
    said = np.array([_figures(it) for it in columns])
    total, number = np.nansum(said, axis=0), np.isfinite(said).sum(axis=0)
    found = {}
    for name in intake.unused:
        if (column := raw.column(name)) is None:
            continue
        cells = _figures(column)
        there = np.isfinite(cells) & (number > 0)
        off = np.minimum(np.abs(cells - total), np.maximum(np.abs(cells - total / np.maximum(number, 1)) - ROUNDED, 0))
        if there.sum() >= FEW and len(np.unique(cells[there])) > 1 and np.mean(off[there] < 1e-9) >= SUMMED:
            found[name] = ""
    return found


def _figures(column: Any) -> NDArray[np.float64]:
    """The numbers of a column, with a point or a comma, not-a-number where there is none."""
    codes, distinct = column.factorize()
    return np.array([number_of(str(it).replace(",", ".", 1)) for it in distinct], float)[codes]


def _of_ballots(raw: Raw, intake: Intake) -> tuple[NDArray[np.bool_], str]:
    """A row that is read as ballots and sums up the others: by the word where an order stands, or by its amount."""
    declared, none = raw.declared, np.zeros(len(raw.frame), bool)
    if declared.kind != "ballots" or declared.form == "long" or len(none) < FEW:
        return none, ""
    odd = _no_ballots(raw)
    called = odd & _called_sums(raw)
    amounts = {name: it for name in _amounts(raw, intake) if (it := _amounts_of(raw, name)) is not None}
    of = {name: odd & (it > 0) & (2 * it == it.sum()) for name, it in amounts.items()}
    name = next((it for it in of if of[it].any()), "")
    rows = called if called.any() else of.get(name, none)
    if not 0 < rows.sum() <= len(rows) / 2:
        return none, ""
    seen = "called as sums are, where an order stands" if called.any() else f"the sum of all others, by {shown(name)}"
    counted = float(amounts[declared.times][rows].sum() if declared.times in amounts else rows.sum())
    read = f"read as {counted:.0f} ballot{'s' * (counted != 1)}"
    number = int(rows.sum())
    if number == 1:
        return rows, f"1 row is {seen}, and {read}: take it out"
    return rows, f"{number} rows are {seen}, and {read}: take them out"


def _may_count(raw: Raw, rows: NDArray[np.bool_]) -> bool:
    """Whether one of some rows names an item wherever its form asks for one."""
    declared = raw.declared
    if declared.form != "long":  # where a ballot that ranks nothing is one, too
        return True
    for name in declared.columns[: 1 + (declared.kind == "comparisons")]:
        if (column := raw.column(name)) is not None:
            rows = rows & np.array([raw.known(str(it)) for it in column], bool)
    return bool(rows.any())


def _cells(raw: Raw) -> list[Any]:
    """Columns that hold an order, or its places."""
    declared = raw.declared
    names = declared.items if declared.form == "wide" else declared.columns
    return [it for name in names if (it := raw.column(name)) is not None]


def _no_ballots(raw: Raw) -> NDArray[np.bool_]:
    """Rows that hold no item, or of which no cell is a place among as many as there are items."""
    rows = np.ones(len(raw.frame), bool)
    for column in _cells(raw):
        codes, distinct = column.factorize()
        texts = list(map(str, distinct))
        if raw.declared.form == "wide":
            known = [0 < (number_of(it) or 0) <= len(raw.declared.items) for it in texts]
        else:
            known = [any(map(raw.known, raw.parts(it) if raw.declared.form == "orders" else [it])) for it in texts]
        rows &= ~np.array(known, bool)[codes]
    return rows


def _called_sums(raw: Raw) -> NDArray[np.bool_]:
    """Rows with a word for a sum where an order, or a place, stands."""
    rows = np.zeros(len(raw.frame), bool)
    for column in _cells(raw):
        codes, distinct = column.factorize()
        rows |= np.array([summed_up(str(it)) and str(it).casefold() not in INITIALS for it in distinct], bool)[codes]
    return rows


def _amounts(raw: Raw, intake: Intake) -> list[str]:
    """Columns of how many ballots a row stands for, or how much it weighs: as declared, or as called so."""
    declared = raw.declared
    said = [it for it in (declared.times, declared.weight) if it is not None and it != "none"]
    return said or [it for it in intake.unused if called_a_count(it)]


def _amounts_of(raw: Raw, name: str) -> NDArray[np.float64] | None:
    """The amounts of a column, whatever stands between thousands; nothing where a cell is none."""
    column = raw.column(name)
    if column is None:
        return None
    codes, distinct = column.factorize()
    read = [amount_of(str(it), raw.declared.thousands) for it in distinct]
    marked = [as_thousands(str(it)) for it in distinct]
    each = [of[1] if math.isnan(it) and of is not None else it for it, of in zip(read, marked, strict=True)]
    return np.nan_to_num(np.array(each, float), nan=0.0, posinf=0.0)[codes]


def _say(number: int, text: str, name: str, count: bool) -> str:
    seen = f"called as sums and means are, as {shown(text)} in {shown(name)}"
    if number == 1:
        return f"1 row is {seen}: {'it counts like others; ' * count}take it out"
    return f"{number} rows are {seen}: {'they count like others; ' * count}take them out"


def _alone(raw: Raw, texts: list[str], codes: Any, of_people: bool) -> tuple[NDArray[np.bool_], str]:
    """Labels that do not say what they sum up."""
    small = [" ".join(it.split()).casefold().rstrip(".:") for it in texts]
    called = np.array([len(it) < LONGEST and summed_up(it) for it in texts], bool)
    if np.mean([len(it) <= 3 and it.isalpha() for it in small]) > 0.3:
        called &= np.array([it not in INITIALS for it in small], bool)
    each, none = np.bincount(codes, minlength=len(texts)), np.zeros(len(texts), bool)
    if not 0 < called.sum() <= SUMS:
        return none, ""
    sure = called & np.array([it not in DOUBTED | INITIALS for it in small], bool)
    few = each[called].max() <= ROWS and each[called].sum() <= SUMS
    several = of_people and raw.declared.form == "long"
    fits = (few or several) if sure.any() else few and not (INITIALS & {*np.array(small)[called]})
    if not fits and not (_at_the_end(called[codes]) and (several or few or _once(raw, called[codes]))):
        return none, ""
    return called, texts[int(np.argmax(sure if sure.any() else called))]


def _at_the_end(rows: NDArray[np.bool_]) -> bool:
    """Whether these are the last rows of a file, as totals are."""
    return bool(rows[-int(rows.sum()) :].all())


def _once(raw: Raw, rows: NDArray[np.bool_]) -> bool:
    """Whether no two of these rows are about the same items, or order."""
    declared = raw.declared
    names = declared.columns[: {"comparisons": 2, "tallies": 1}.get(declared.kind, 1)]
    columns = [raw.column(it) for it in (names if declared.form != "ranks" else declared.columns)]
    if not columns or any(it is None for it in columns):
        return False
    said = list(zip(*(it[rows] for it in columns), strict=True))
    return len(set(said)) == len(said)


def _of_others(texts: list[str]) -> tuple[NDArray[np.bool_], str]:
    """Labels that sum up another label each; what that is called is not told."""
    others = frozenset(" ".join(it.split()).casefold() for it in texts)
    words = [part_of(it, others) if len(it) < LONGEST else None for it in texts]
    called = np.array([it is not None for it in words], bool)
    said = next(filter(None, words), "")
    if called.sum() < 2 and said.casefold() in DOUBTED | INITIALS:
        return np.zeros(len(texts), bool), ""
    called |= called.any() & np.array([summed_up(it) for it in texts], bool)
    return called, f"… {said}"
