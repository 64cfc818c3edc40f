"""Scores beside answers: of matches not played out, drawn, or lost by who has more; or of each item apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.noticed_names import words_of
from dprank.data.noticed_scales import SIDES_OF
from dprank.data.noticed_ties import answered
from dprank.data.places import number_of

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_halves", "in_results", "in_scores", "unplayed"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Fewer scores show no column of them.
FEW = 4
#: This share of scores says the other one, or fits; and so many rows say it.
ALMOST, RESULTS = 0.9, 6
#: A result in one cell, and words of columns of one side's; what stands for a side; and where the least wins.
_RESULT = re.compile(r"([0-9]{1,3})\s*[-–−:]\s*([0-9]{1,3})")
_POINTS = _set(
    """score scores points pts goals goal runs votes result tore punkte buts but puntos goles punti gol reti punten
    doelpunten poäng mål ftg fthg ftag hg ag hs as ft for against"""
)
_LEAST = _set("rank ranking seed elo odds price time seconds strokes place position handicap age id no number")
#: What else tells the column of one item from that of the other.
_MARKS = frozenset(frozenset(it.split()) for it in ("1 2", "0 1", "x y", "l r", "h a", "home away", "heim gast"))
_SCORE = re.compile(r"[0-9]{1,3}\s*[-–−:/]\s*[0-9]{1,3}")
#: What is written for matches that were not played, or not to their end.
_UNPLAYED = _set(
    """w/o wo walkover ret retd retired def default defaulted abd abn aband abandoned unf unfinished awd awarded
    forfeit forfeited forfait ff dq dsq disq disqualified canc cancelled canceled postponed postp ppd susp
    suspended n/p void bye conceded annulled nullified kampflos aufgabe aufg abbruch abgebrochen gewertet
    wertung ausgefallen verlegt abandon annulé reporté incomparecencia retirada suspendido aplazado ritirato rit
    tavolino rinviato annullato opgave afgelast uitgesteld inställd avbruten wyco wycofanie krecz walkower
    kontumačně skreč"""
)


def unplayed(text: str) -> str | None:
    """The word by which a cell of scores says that a match was not played to its end.

    Examples
    --------
    >>> [unplayed(it) for it in ("W/O", "6-3 2-1 ret.", "6-3 6-4", "2:1 (a.e.t.)", "Walkover")]
    ['W/O', 'ret', None, None, 'Walkover']
    """
    for word in re.split(r"[\s()\[\],;]+", text):
        plain = word.strip(".").casefold()
        if plain in _UNPLAYED or plain.replace(".", "") in ("wo", "ret", "dq", "dsq"):
            return word.strip(".")
    return None


def in_scores(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """Columns of scores that are not used, each with a sentence, that say of some rows that nobody won by playing."""
    if raw.declared.kind != "comparisons" or raw.declared.form != "long":
        return
    for name in intake.unused:
        column = raw.column(name)
        if column is None:
            continue
        cells = {str(it).strip(): int(number) for it, number in column.value_counts().items()}
        cells = {text: number for text, number in cells.items() if text.casefold() not in BLANK}
        scores = sum(number for text, number in cells.items() if _SCORE.search(text))
        words = Counter[str]()
        for text, number in cells.items():
            if (word := unplayed(text)) is not None:
                words[word] += number
        lost = sum(words.values())
        if scores < FEW or 2 * scores < sum(cells.values()) or not lost or 2 * lost > sum(cells.values()):
            continue
        have = f"{lost} of {len(column)} rows {'has' if lost == 1 else 'have'} {shown(words.most_common(1)[0][0])}"
        seen = f"column {shown(name)} is not used, and {have} beside scores there: do such rows count?"
        yield name, f"{seen} All rows do now; if these do not, take them out of the file"


def in_results(raw: Raw, intake: Intake) -> Iterator[str]:
    """Sentences on scores that are equal where somebody wins, or almost all of which say that the other one did."""
    if raw.declared.kind != "comparisons" or raw.declared.form != "long":
        return
    points = answered(raw)[:, 2]
    for name, first, second in _scores(raw, intake):
        there = (points >= 0) & np.isfinite(first) & np.isfinite(second)
        apart, decided = there & (first != second), there & (points != 1)
        both = apart & decided
        right = ((first > second) == (points == 2))[both]
        if both.sum() < RESULTS or max(right.mean(), 1 - right.mean()) < ALMOST:
            continue
        equal = int((decided & (first == second)).sum())
        if right.mean() < 0.5:
            yield (
                f"in {int((~right).sum())} of {int(both.sum())} rows the item with more in {name} is taken for the one "
                "that lost: is the answer that of the winner, and which of the columns comes first? If the least wins "
                "there, all is well"
            )
        elif equal:
            yield (
                f"{equal} of {int(there.sum())} rows have equal scores in {name} and count as a win: are they ties? "
                "Write tie for their answer, and say with --map that it is 0.5"
            )
        return


def in_halves(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """Columns that measure one item where the answer, called alike, measures the other, each with a sentence.

    Examples
    --------
    >>> sides("stars_left", "stars_right"), sides("Rating A", "Rating B"), sides("stars", "hotel_stars")
    (True, True, False)
    """
    if raw.declared.kind != "comparisons" or raw.declared.form != "long" or len(raw.declared.columns) < 3:
        return
    answer = raw.declared.columns[2]
    values = _values(raw, answer)
    for name in intake.unused:
        other = _values(raw, name) if len(values) > 2 and sides(answer, name) else set[float]()
        if 2 * len(values & other) >= len(other) > 1:
            seen = (
                f"the answer stands in {shown(answer)}, and {shown(name)} has numbers of the same kind and is not used"
            )
            do = "write a column with 1 for the first item, 0 for the second, 0.5 for a tie, and say --map outcome"
            yield (
                name,
                f"{seen}: does each measure one of the two items? Then an answer is which of them has more: {do}",
            )


def sides(one: str, other: str) -> bool:
    """Whether two columns are called alike, but for the side whose they are."""
    first, second = ([word for it in words_of(name) for word in re.findall(r"\d+|\D+", it)] for name in (one, other))
    apart = [it for it in zip(first, second, strict=False) if it[0] != it[1]]
    return len(first) == len(second) > 1 and len(apart) == 1 and _parted(*apart[0])


def _parted(one: str, other: str) -> bool:
    left, right = SIDES_OF
    return {one, other} in _MARKS or (one in left and other in right) or (other in left and one in right)


def _values(raw: Raw, name: str) -> set[float]:
    """The different numbers of a column, if it has numbers."""
    column = raw.column(name)
    if column is None:
        return set()
    numbers = np.array([number_of(str(it)) for it in column.unique()])
    return set(numbers[np.isfinite(numbers)].tolist())


def _scores(raw: Raw, intake: Intake) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Scores of the first and of the second item of each row, and the columns where they stand."""
    numbers = list[tuple[str, NDArray[np.float64]]]()
    for name in intake.unused:
        column = raw.column(name)
        if column is None or not _LEAST.isdisjoint(words_of(name)):
            continue
        codes, distinct = column.factorize()
        found = [_RESULT.fullmatch(str(it).strip()) for it in distinct]
        if sum(it is not None for it in found) > len(found) / 2:
            both = np.array([[float(it[1]), float(it[2])] if it else [np.nan] * 2 for it in found]).reshape(-1, 2)
            yield shown(name), *both[codes].T
        elif len(distinct):
            numbers.append((name, np.array([number_of(str(it)) for it in distinct])[codes]))
    named = [(name, values) for name, values in numbers if _half(values) and not _POINTS.isdisjoint(words_of(name))]
    if len(named) == 2:
        (one, first), (two, second) = named
        yield f"{shown(one)} and {shown(two)}", first, second


def _half(values: Any) -> bool:
    return bool(2 * np.isfinite(values).sum() > len(values))
