"""Columns of a questionnaire that ask about a pair, by their names or by their cells, and that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.answers import codes_of
from dprank.data.cleaning import RULES, cleaner
from dprank.data.noticed_ties import typed

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_pairs", "named_pairs", "taken_by"]

#: Columns that are named.
TOLD = 3
#: A longer flag is told in words.
LONGEST = 300
#: Scripts from here on are written without blanks between words.
_NO_BLANKS = "\u2e80"
_FOLD = cleaner(RULES)


def named_pairs(names: Sequence[str], items: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Names that hold two items and no third, in whatever words, with these two in their order.

    Examples
    --------
    >>> named_pairs(["Which? [Pay vs. leave]", "Pay rise or Leave", "Pay", "x"], ["Pay", "Leave", "Pay rise"])
    {'Which? [Pay vs. leave]': (0, 1), 'Pay rise or Leave': (2, 1)}
    """
    codes = {_FOLD(item): at for at, item in enumerate(items)}
    words, found = _Words(codes), dict[str, tuple[int, int]]()
    for name in names:
        met = list(dict.fromkeys(codes[it] for it in words.within(_FOLD(name))))
        if len(met) == 2:
            found[name] = met[0], met[1]
    return found


class _Words:
    """Names that are looked for in texts, each as a word of its own; of several at one place the longest."""

    def __init__(self, names: Collection[str]) -> None:
        self.names, lengths = names, dict[str, set[int]]()
        for name in filter(None, names):
            lengths.setdefault(name[0], set()).add(len(name))
        self.lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def within(self, text: str) -> Iterator[str]:
        """From left to right, none that begins within another. O(characters * lengths of names), of any number."""
        at = 0
        while at < len(text):
            ends = (at + length for length in self.lengths.get(text[at], ()) if at + length <= len(text))
            end = next((it for it in ends if text[at:it] in self.names and _is_apart(text, at, it)), None)
            if end is not None:
                yield text[at:end]
            at = end or at + 1


def _is_apart(text: str, at: int, end: int) -> bool:
    """Whether what stands there is no part of a longer word, where its script has blanks between words."""
    before, first, last, behind = text[at - 1 : at], text[at], text[end - 1], text[end : end + 1]
    return not (_joins(first) and _in_word(before)) and not (_joins(last) and _in_word(behind))


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _joins(sign: str) -> bool:
    return _in_word(sign) and sign < _NO_BLANKS


def taken_by(read: Sequence[str], pairs: Mapping[str, tuple[int, int]], items: Sequence[str]) -> str:
    """What to write so that columns are read, beside those that are.

    Examples
    --------
    >>> taken_by(["Pay vs Hours"], {"Pay v Leave": (0, 2)}, ["Pay", "Hours", "Leave"])
    "--pairs 'Pay vs Hours,Pay v Leave=Pay vs Leave' takes it, too"
    """
    them, more = ("it", "") if len(pairs) == 1 else ("them", ", and so on")
    meant = {name: f"{items[first]} vs {items[second]}" for name, (first, second) in pairs.items()}
    name, pair = next(iter(meant.items()))
    if not all(map(_typed, [*meant, *meant.values()])):
        return f"call {them} in the file as {'it asks' if not more else 'they ask'}, {typed(pair)}{more}"
    flag = ",".join([*read, *(f"{name}={it}" for name, it in meant.items())])
    if len(flag) > LONGEST or not all(map(_typed, read)):
        return f"--pairs with all columns takes {them}, too, as {typed(f'{name}={pair}')}{more}"
    return f"--pairs {typed(flag)} takes {them}, too"


def _typed(text: str) -> bool:
    """Whether a name can be typed into a flag that has commas and = between names."""
    return "," not in text and "=" not in text and text == " ".join(text.split())


def in_pairs(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on columns that hold two items in their names or cells and are not read, though all pairs are."""
    declared, items = raw.declared, raw.declared.items
    if declared.kind != "comparisons" or declared.form != "wide" or declared.pairs is not None:
        return
    named, asked = named_pairs(intake.unused, items), {frozenset(it) for it in intake.pairs or ()}
    known = codes_of(declared.answers or "names", raw.codes, raw.clean)
    codes = {_FOLD(it): at for at, it in enumerate(items)}
    found = dict[str, tuple[int, int]]()
    for name in intake.unused:
        column = raw.column(name)
        if column is None or _misnamed(raw, name):
            continue
        texts = {str(it): int(number) for it, number in column.value_counts().items() if not _blank(it)}
        if name in named and _answers(raw, known, texts, named[name]):
            found[name] = named[name]
        elif name not in named and (pair := _held(raw, codes, texts)) and frozenset(pair) not in asked:
            found[name] = pair
    if not found:
        return
    told = ", ".join(map(shown, list(found)[:TOLD])) + f" and {len(found) - TOLD} more" * (len(found) > TOLD)
    one, by_name = len(found) == 1, set(found) <= set(named)
    are, their, does = ("is", "its", "does it") if one else ("are", "their", "do they")
    hold = f"name{'s hold' * (not one)}{' holds' * one}" if by_name else "cells hold"
    yield (
        f"column{'s' * (not one)} {told} {are} not read, and {their} {hold} two declared items: {does} ask about a "
        "pair? --pairs all takes columns that are called like 'Pay vs Hours', and no others; "
        f"{taken_by(_read(raw, intake), found, items)}"
    )


def _blank(text: Any) -> bool:
    return str(text).strip().casefold() in BLANK


def _misnamed(raw: Raw, name: str) -> bool:
    """Whether a name is written like a pair with one side that is no item: somebody else speaks of it."""
    sides = [it.strip() for it in re.split(r"(?i)(?<=\s)vs\.?(?=\s)|(?<=\s)versus(?=\s)", name)]
    return len(sides) == 2 and sum(raw.item(it) is None for it in sides) == 1


def _answers(raw: Raw, known: Callable[[str], int], texts: Mapping[str, int], pair: tuple[int, int]) -> bool:
    """Whether most cells are answers, or one of the two items however it is written."""
    if not texts:
        return False
    names = {_FOLD(raw.declared.items[at]) for at in pair}
    some = [number for it, number in texts.items() if 0 <= known(it) <= 2 or _FOLD(it) in names]
    return 2 * sum(some) >= sum(texts.values())


def _held(raw: Raw, codes: Mapping[str, int], texts: Mapping[str, int]) -> tuple[int, int] | None:
    """The two items that most cells are; none where there are more, or fewer."""
    met = {it: codes[_FOLD(it)] for it in texts if _FOLD(it) in codes}
    kinds = sorted(set(met.values()))
    if len(kinds) != 2 or 2 * sum(texts[it] for it in met) <= sum(texts.values()):
        return None
    return None if all(item.isdecimal() for item in raw.declared.items) else (kinds[0], kinds[1])


def _read(raw: Raw, intake: Intake) -> list[str]:
    """Names of the columns that are read, as they are written."""
    unused = set(intake.unused)
    person = None if raw.declared.person is None else raw.clean(raw.declared.person)
    names = [str(it) for it in raw.frame.columns]
    return [it for it in names if it not in unused and raw.clean(it) != person]
