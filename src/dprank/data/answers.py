"""What an answer about two items means: declared by a word or a map, asked for by flags and never read off the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.cleaning import RULES, cleaner

__all__ = [
    "NAMED",
    "NUMBER",
    "SAID",
    "WORDS",
    "NotDeclared",
    "cell_text",
    "codes_of",
    "number_in",
    "require_silent",
    "says_nothing",
    "settled_answers",
    "shown_answers",
    "told_answers",
    "twice_points",
]

#: Meanings that a word declares, and the numbers that each knows.
WORDS: dict[str, dict[Decimal | str, float]] = {
    "names": {},
    "outcome": {Decimal(1): 1.0, Decimal("0.5"): 0.5, Decimal(0): 0.0},
    "position": {Decimal(1): 1.0, Decimal(2): 0.0},
}
#: The same in words, in one line.
SAID = (
    "names (the preferred item's name), outcome (1 the first item, 0 the second, 0.5 a tie), position (1 the first, "
    "2 the second), or what each says: left=1,right=0,equal=0.5"
)
#: What to do where answers are written as items are.
APART = (
    "write other words for the answers in the file, as A and B, and --map A=1,B=0; or name the items as they are "
    "written, without --alias"
)
#: From here on codes of answers are names: of item 0, of item 1, ...
NAMED = 3

#: A number as people and programs write it; float() would take 1_000 and figures of other scripts, too.
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TRUTH = {"true": Decimal(1), "false": Decimal(0)}


class NotDeclared(ValueError):
    """Nobody has said what answers mean."""


def number_in(text: str) -> Decimal | None:
    """The number that a text spells, of which true is 1 and false 0, as in a column of truth values; None for none.

    Examples
    --------
    >>> number_in("1.00") == number_in(" 1 ") == number_in("True"), number_in(".5") == number_in("0.50")
    (True, True)
    >>> number_in("1,0"), number_in("nan"), number_in("0.99999999999999999999") == 1
    (None, None, False)
    """
    number = _figures(text)
    return _TRUTH.get(text.strip().lower()) if number is None else number


def _figures(text: str) -> Decimal | None:
    text = text.strip()
    return Decimal(text) if NUMBER.fullmatch(text) else None


def cell_text(cell: Any) -> str:
    """The text of a cell of a table: of a number one whether it is whole, a float or a decimal.

    Examples
    --------
    >>> [cell_text(it) for it in (1, 1.0, Decimal("1.00"), Decimal("0.50"), True, "1.00")]
    ['1', '1', '1', '0.5', 'True', '1.00']
    """
    if isinstance(cell, float):
        return str(cell + 0.0).removesuffix(".0")
    if isinstance(cell, Decimal) and cell.is_finite():
        text = format(cell, "f") if cell else "0"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(cell)


def shown_answers(answers: str | Mapping[str, float]) -> str:
    """Which answers there may be, for a message.

    Examples
    --------
    >>> shown_answers("position"), shown_answers({"left": 1.0, "right": 0.0})
    ('1 and 2', "'left', 'right' and names of the two items")
    """
    if isinstance(answers, str):
        return {"names": "names of the two items", "outcome": "1, 0.5 and 0", "position": "1 and 2"}[answers]
    return ", ".join(map(shown, answers)) + " and names of the two items"


def told_answers(answers: Mapping[str, float], words: bool = False) -> str:
    """What a declared map of answers means, by what was declared alone.

    A release tells how many answers mean what, and no `words`: they may be what somebody wrote. The curator has them.

    Examples
    --------
    >>> told_answers({"left": 1.0, "right": 0.0, "3": 0.5}, words=True)
    "'left' for the first item, 'right' for the second, 3 for a tie, or the name of the preferred item"
    >>> told_answers({"left": 1.0, "lefft": 1.0, "right": 0.0})
    '2 answers for the first item, 1 for the second, or the name of the preferred item'
    """
    told: list[str] = []
    for worth, end in {1.0: "for the first item", 0.0: "for the second", 0.5: "for a tie"}.items():
        if alike := [it.strip() for it, of in answers.items() if of == worth]:
            number = str(len(alike)) if told else f"{len(alike)} answer{'s' * (len(alike) > 1)}"
            told.append(f"{_in_order(alike) if words else number} {end}")
    return ", ".join([*told, "or the name of the preferred item"])


def _in_order(words: Sequence[str]) -> str:
    """Numbers by size, then words."""
    numbers = {it: number for it in words if (number := _figures(it)) is not None}
    return ", ".join([*sorted(numbers, key=lambda it: (numbers[it], it)),
                      *(shown(it) for it in sorted(words) if it not in numbers)])  # fmt: skip


def settled_answers(given: Any, codes: Mapping[str, int], clean: Callable[[str], str]) -> str | dict[str, float]:
    """A declared meaning, if it is one: a word of `WORDS`, or a map of what is written, after cleaning.

    Parameters
    ----------
    given : object
    codes : mapping of str to int
        Items after cleaning: the name of one says that it is preferred, so that a map cannot say otherwise.
    clean : callable
        As of `dprank.data.cleaning.cleaner`.

    Raises
    ------
    ValueError
        Naming what is no meaning, and what is allowed.

    Examples
    --------
    >>> settled_answers({"Left": 1, "right": 0}, {"tea": 0, "mate": 1}, str.casefold)
    {'left': 1.0, 'right': 0.0}
    >>> settled_answers({"tea": 1, "mate": 0}, {"tea": 0, "mate": 1}, str)
    Traceback (most recent call last):
        ...
    ValueError: answers = 'tea'; it is an item, whose name says that it is preferred: say names, ...
    """
    if given is None or (type(given) is dict and not given):
        raise NotDeclared(f"answers are not declared, and no file says what one means; say --map {SAID}")
    if type(given) is str:
        if given not in WORDS:
            raise ValueError(f"answers = {shown(given)}; allowed are {SAID}")
        return given
    if type(given) is not dict:
        raise ValueError(f"answers = {shown(given)}; allowed are {SAID}")
    alike = cleaner(RULES)
    items, found, meant = {_spoken(alike(name)) for name in codes}, dict[str, float](), dict[Decimal | str, float]()
    for key, value in given.items():
        if type(key) is not str or not key:
            raise ValueError(f"answers = {shown(key)}; text is needed, as it is written")
        if type(value) not in (int, float) or value not in (0, 0.5, 1):
            none = ": a Declaration names those that say nothing by unranked_as" * (value == "")
            raise ValueError(f"answers = {shown(value)}; an answer is worth 1, 0.5 or 0{none}")
        cleaned = clean(key)
        it = _spoken(cleaned)
        if _spoken(alike(cleaned)) in items and _spoken(alike(key)) not in items:
            raise ValueError(f"answers = {shown(key)}; --alias makes it the item {shown(cleaned)}: {APART}")
        if it in items or _spoken(alike(cleaned)) in items:
            rules = "" if it in items or cleaned in codes else ", and --clean as it is written otherwise"
            raise ValueError(
                f"answers = {shown(key)}; it is an item, whose name says that it is preferred: say names{rules}, or "
                "outcome or position where it is a number that names no item"
            )
        if meant.setdefault(it, float(value)) != value:
            raise ValueError(f"answers = {shown(key)}; it has two meanings, after cleaning: one is needed")
        found[cleaned] = float(value)
    return found


def _spoken(text: str) -> Decimal | str:
    """A text, or the number that it spells."""
    number = number_in(text)
    return text if number is None else number


def _named(codes: Mapping[str, int]) -> dict[Decimal | str | None, int]:
    """Items by name, and by number where one of them alone spells it: a program may write 7.0 of a 7."""
    found: dict[Decimal | str | None, int] = {}
    for name, at in codes.items():
        if (number := _figures(name)) is not None:
            found[number] = at if number not in found else -1
    return found | dict(codes)


def codes_of(
    answers: str | Mapping[str, float],
    codes: Mapping[str, int],
    clean: Callable[[str], str],
    nothing: Collection[str] = (),
) -> Callable[[str], int]:
    """What texts of answers stand for: twice what the first item gets; from `NAMED` on an item; -1 for nothing.

    Parameters
    ----------
    answers, codes, clean
        As in `settled_answers`, settled.
    nothing : collection of str
        Answers that are declared to say nothing.

    Examples
    --------
    >>> meaning = codes_of({"left": 1.0, "0": 0.5}, {"tea": 0, "mate": 1}, str)
    >>> [meaning(text) for text in ("left", "0.0", "mate", "coffee")]
    [2, 1, 4, -1]
    """
    known = WORDS[answers] if isinstance(answers, str) else {_spoken(text): it for text, it in answers.items()}
    named = _named(codes) if not isinstance(answers, str) or answers == "names" else {}
    silent = says_nothing(nothing, clean)

    def meaning(text: str) -> int:
        if silent(text):
            return -1
        text = clean(text)
        if (item := named.get(text, named.get(_figures(text), -1))) >= 0:
            return NAMED + item
        points = known.get(_spoken(text))
        return -1 if points is None else round(2 * points)

    return meaning


def says_nothing(nothing: Collection[str], clean: Callable[[str], str]) -> Callable[[str], bool]:
    """Whether a text is one of those that are declared to say nothing.

    Examples
    --------
    >>> silent = says_nothing(["NSP", "9"], str)
    >>> [silent(text) for text in ("NSP", "9.0", "nsp")]
    [True, True, False]
    """
    known = {_spoken(clean(it)) for it in nothing}
    return lambda text: bool(known) and _spoken(clean(text)) in known


def require_silent(
    nothing: Collection[str], answers: str | Mapping[str, float], codes: Mapping[str, int], clean: Callable[[str], str]
) -> None:
    """Refuse what is declared to say nothing, and is an item or has a meaning of its own.

    Examples
    --------
    >>> require_silent(["NSP"], {"A": 1.0, "NSP": 0.5}, {"tea": 0, "mate": 1}, str)
    Traceback (most recent call last):
        ...
    ValueError: unranked_as = 'NSP'; --map says what it means: one meaning is needed
    """
    known = codes_of(answers, codes, clean)
    for it in nothing:
        if (code := known(it)) >= NAMED:
            raise ValueError(f"unranked_as = {shown(it)}; it is an item")
        if code >= 0 and not isinstance(answers, str):
            raise ValueError(f"unranked_as = {shown(it)}; --map says what it means: one meaning is needed")


def twice_points(code: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Twice what the first item of each row gets, by the codes of answers; -1 where they say nothing of the two.

    Examples
    --------
    >>> twice_points(np.array([1, 3, 4, 5, -1]), np.zeros(5), np.ones(5)).tolist()
    [1, 2, 0, -1, -1]
    """
    item = code - NAMED
    return np.where(item < 0, code, np.where(item == first, 2, np.where(item == second, 0, -1)))
