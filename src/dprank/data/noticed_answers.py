"""Answers about two items that look as if they meant something else than is declared: for a curator alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.answers import codes_of, number_in
from dprank.data.noticed_names import words_of
from dprank.data.noticed_read import cells_of
from dprank.data.noticed_scales import SIDES_OF
from dprank.data.noticed_worst import called_the_worst

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["called_the_loser", "in_answers"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: What a column of the item that is not preferred is called, beside words for the worst.
_LESS = _set(
    """worse less lesser loser lost loses beaten weaker unpreferred disliked dislike rejected schlechter
    schlechtere weniger unterlegen verlierer verloren perdant perdu perdedor perdió perdente perso slechter
    minder verliezer verloren sämre förlorare dårligere taber taper häviäjä przegrany poražený vesztes kaybeden"""
)
#: And what takes it back.
_MORE = _set("""more better winner preferred best most not no""")
#: Codes of the two columns, in pairs.
_CODES = tuple(frozenset(it.split()) for it in ("a b", "1 2", "left right", "x y", "first second", "l r", "one two"))
#: Fewer answers show no scale, and so many of them are told.
FEW, TOLD = 4, 9


def called_the_loser(name: str) -> bool:
    """Whether a column is called so as one of the item that is not preferred.

    Examples
    --------
    >>> [called_the_loser(it) for it in ("loser", "Which is worse?", "least liked", "winner", "more or less")]
    [True, True, True, False, False]
    """
    words = set(words_of(name))
    return called_the_worst(name) or (not _LESS.isdisjoint(words) and _MORE.isdisjoint(words))


def in_answers(raw: Raw, intake: Intake) -> Iterator[str]:
    """Sentences on answers whose header, or whose numbers, say other than is declared."""
    declared = raw.declared
    if declared.kind != "comparisons":
        return
    yield from _losers(raw, intake)
    texts = Counter[str]()
    for text, number in cells_of(raw).items():
        if text.strip().casefold() not in BLANK:
            texts[text.strip()] += number
    if declared.form == "long":
        yield from _sides(raw, texts)
    values = [math.nan if (it := number_in(text)) is None else float(it) for text in texts]
    numbers = set(values)
    if not all(map(math.isfinite, values)) or len(numbers) < 2 or sum(texts.values()) < FEW:
        return
    lost = sum(number for text, number in intake.misread.items() if number_in(text) is not None)
    if lost and isinstance(declared.answers, str) and declared.answers != "names":
        yield from _numbers(str(declared.answers), sorted(numbers), lost)


def _losers(raw: Raw, intake: Intake) -> Iterator[str]:
    """A column of answers that says by its name which item lost."""
    declared = raw.declared
    if not isinstance(declared.answers, str):  # a map may have been turned round already
        return
    if declared.form == "long":
        names = [declared.columns[2]] if declared.columns[2] != declared.columns[0] else []
    else:
        unused = set(intake.unused)
        read = declared.pairs or {it: it for it in map(str, raw.frame.columns) if it not in unused}
        names = [it for it in read if it != declared.person]
    odd = [it for it in names if called_the_loser(it) and (declared.answers == "names" or not _of_a_side(raw, it))]
    if not odd or 2 * len(odd) <= len(names):
        return
    if declared.answers == "names":
        do = "the other item of each pair is needed there" if declared.form == "wide" else _winner(raw)
    else:
        do = "turn 1 and 0 of --map round"
    yield (
        f"column {shown(odd[0])} says by its name which item is liked less, or lost, and the one that it says is taken "
        f"for the preferred one: if the name is right, {do}"
    )


def _of_a_side(raw: Raw, name: str) -> bool:
    """Whether a name says of which of the two it speaks: somebody else looks at that."""
    said = {it for side in SIDES_OF for it in side} | {it for one in raw.declared.columns[:2] for it in words_of(one)}
    return not said.isdisjoint(words_of(name))


def _winner(raw: Raw) -> str:
    first, second, answer = raw.declared.columns
    if answer == second:
        return f"--comparisons {first},{second},{first} --map names says that the first column won"
    return "write the other item of the two into a column of its own, and name that"


def _sides(raw: Raw, texts: Counter[str]) -> Iterator[str]:
    """Answers that are names of items and of the two columns as well."""
    declared = raw.declared
    small = {it.casefold() for it in texts}
    codes = next((it for it in _CODES if len(small) > 1 and small <= it), None)
    if codes is None or declared.answers not in ("names", "position"):
        return
    named = codes_of("names", raw.codes, raw.clean)
    if any(named(it) < 0 for it in texts):
        return
    first, second, answer = (raw.column(it) for it in declared.columns)
    if first is None or second is None or answer is None or declared.columns[2] in declared.columns[:2]:
        return
    where = [one.map({it: named(str(it)) for it in one.unique()}).to_numpy(int) for one in (first, second, answer)]
    own = (where[2] == where[0]) | (where[2] == where[1])
    place = {it: at for at, it in enumerate(sorted(small))}
    code = answer.map({it: place.get(str(it).strip().casefold(), -1) for it in answer.unique()}).to_numpy(int)
    by_side = np.where(code == 0, where[0], where[1])
    there = code >= 0
    if (by_side == where[2])[there].all():  # either way the same item is meant
        return
    if own[there].all() != (declared.answers == "position"):
        return
    one, two = (shown(next(it for it in texts if it.casefold() == side)) for side in sorted(small))
    columns = " and ".join(map(shown, declared.columns[:2]))
    if declared.answers == "position":
        yield (
            f"{one} and {two} are items, too, and every answer is one of the two of its row: does it name the "
            "preferred item (--map names), and not the column where it stands?"
        )
        return
    do = "--map position" if codes == {"1", "2"} else "write 1 and 2 for them, and --map position"
    yield (
        f"all answers are {one} and {two}, which are items, too: do they say which of the columns {columns} holds the "
        f"preferred item? They are read as names of items: {do}, if so"
    )


def _numbers(meaning: str, values: list[float], lost: int) -> Iterator[str]:
    """Numbers of which --map knows some."""
    said = {"outcome": "outcome knows 1, 0.5 and 0", "position": "position knows 1 and 2"}[meaning]
    kinds = ", ".join(f"{it:g}" for it in values[:TOLD]) + ", …" * (len(values) > TOLD)
    seen = f"answers are {kinds}, and {lost} of them are left out, as {said}"
    have = set(values)
    whole = all(it == int(it) for it in values)
    low, top = values[0], values[-1]
    if -1.0 in have and have <= {-1.0, 0.0, 1.0}:
        also = ", and 0 is read as the second item's win" if 0.0 in have and meaning == "outcome" else ""
        tie = ",0=0.5" * (0.0 in have)
        ways = (
            f"--map 1=1,-1=0{tie} if 1 says that the first item is preferred and -1 the second, --map 1=0,-1=1{tie} if "
            "it is the other way round"
        )
        yield f"{seen}{also}: {ways}{'; 0 is a tie by both' * (0.0 in have)}"
    elif have == {1.0, 2.0}:
        ways = "--map position where 1 is the first, --map 1=0,2=1 where 1 is the second"
        yield f"{seen}: if they say which column is preferred, {ways}"
    elif have == {0.0, 1.0}:
        yield f"{seen}: if 1 is the first item and 0 the second, --map outcome; the other way round, --map 1=0,0=1"
    elif have == {0.0, 1.0, 2.0}:
        ways = "--map 1=1,2=0,0=0.5 if 0 is a tie, --map 2=1,1=0.5,0=0 if they are points of the first item;"
        ways += " where 1, or 2, is for the other one, turn 1 and 0 behind ="
        yield f"{seen}{', and 0 is read as the win of the second item' * (meaning == 'outcome')}: {ways}"
    elif have == {1.0, 2.0, 3.0} and meaning == "position":
        ways = "--map 1=1,2=0,3=0.5 if 3 is a tie; if 2 is the middle of a scale, --map 1=1,2=0.5,3=0"
        yield f"{seen}: {ways}; where 1 is for the second item, turn 1 and 0 behind ="
    elif whole and len(values) > 2 and low == -top:
        scale = _scale(values, 0.0)
        yield f"{seen}: are they a scale with 0 in the middle? Which end is the first item's is to be said: {scale}"
    elif whole and len(values) > 2 and low == 1 and top <= TOLD:
        yield f"{seen}: are they a scale from one item to the other? Which end is whose is to be said: " + _scale(
            values, (low + top) / 2
        )
    elif whole and low >= 0:
        yield (
            f"{seen}: are they points, or goals, of one side? A column is needed that says which item won, or 1, 0.5 "
            "and 0 for the first"
        )
    elif low >= 0 and top <= 1:
        yield f"{seen}: are they shares, or chances? Write 1 above 0.5 and 0 below it, if they are the first item's"


def _scale(values: list[float], middle: float) -> str:
    """Maps of a scale, for either end that may be the first item's."""
    low, high = (
        ",".join(f"{it:g}={one if it < middle else '0.5' if it == middle else 1 - one}" for it in values)
        for one in (1, 0)
    )
    return f"--map {low} if low ones are for the first item, --map {high} if high ones are"
