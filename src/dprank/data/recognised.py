"""What form a file may have, and the flags that say so: for its curator alone, who looks at the data.

A guess is never what a release goes by: a flag says what a row is. Where two forms fit, both are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from dprank._require import as_typed
from dprank.data.forms import form_called, forms_like
from dprank.data.layout import Layout
from dprank.data.places import NONE, number_of
from dprank.data.sniffing import sniff

__all__ = ["Guess", "guesses_in", "recognised"]

#: So many rows and columns are looked at, and so many guesses told.
ROWS, COLUMNS, TOLD = 2000, 60, 3
#: Of rows that say a thing, or more, the form is that; more values are no vocabulary.
MOST, HALF, VOCABULARY = 0.9, 0.5, 200
_PLACE = re.compile(
    r"rank|choice|place|pref|favou?rite|\b[1-9][0-9]?(?:st|nd|rd|th)\b|^(?:first|second|third|fourth|fifth)\b", re.I
)
_RANK = re.compile(r"rank|choice|place|pref|favou?rite|[1-9](?:st|nd|rd|th)\b", re.I)
_NUMBERED = re.compile(r"(.*?)([0-9]{1,4})(\D*)")
_WON, _LOST = re.compile(r"winn|won\b|prefer|better|chosen", re.I), re.compile(r"los[et]|worse|rejected|beaten", re.I)
_POINTS = re.compile(r"score|goal|points|pts|fthg|ftag|sets|runs", re.I)
#: How columns are called that say who it was.
_WHO = re.compile(
    r"(?:.*[^a-z])?(?:id|who|voters?|persons?|people|users?|workers?|annotators?|raters?|judges?|observers?|patients?|"
    r"respondents?|participants?|members?|e-?mail(?: address)?|names?|username|ballot|session)(?:[ _.]?id)?",
    re.I,
)
_LAST = re.compile(r"place|rank|position", re.I)
_SIDES = (
    *({"0", "1"}, {"0", "0.5", "1"}, {"1", "2"}, {"-1", "0", "1"}, {"left", "right"}, {"a", "b"}, {"first", "second"}),
    {"h", "d", "a"},
)
_TIE = re.compile(r"tie|draw|equal|both|same", re.I)


class Guess(NamedTuple):
    """A form that a file may have: in words, and by flags."""

    words: str
    flags: str

    def __str__(self) -> str:
        return f"{self.words}: {self.flags}" if self.flags else self.words


def recognised(path: Any, layout: Mapping[str, Any] | None = None) -> list[Guess]:
    """Forms that fit what is in a file, the likeliest first; none where it is read as no table.

    Examples
    --------
    >>> import dprank
    >>> for guess in recognised(dprank.example("answers.csv")):
    ...     print(guess)
    comparisons with an answer for each: --comparisons 'first,second,outcome' --person 'person', and --map
    >>> print(*recognised(dprank.example("city.toc")))
    a file of PrefLib, known by its name
    """
    if called := form_called(path):
        return [Guess(f"{called.words}, known by its name", "")]
    if held := forms_like(path):
        return [Guess(it.words, f"--form {it.name}") for it in held]
    with suppress(ValueError, OSError):
        return guesses_in(sniff(path, layout=Layout.of(dict(layout) if layout else None)).frame)
    return []


def guesses_in(frame: Any) -> list[Guess]:
    """The same of a table that has been read.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"winner": ["tea", "tea", "mate"], "loser": ["mate", "cocoa", "cocoa"]})
    >>> print(*guesses_in(table))
    a winner and a loser a row: --comparisons 'winner,loser,winner' --map names
    """
    return list(dict.fromkeys(_guesses(_Seen(frame.iloc[:ROWS]))))[:TOLD]


class _Column:
    """A column by its name, and what its cells say."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name, self.cells = name, [it.strip() for it in cells]
        self.said = [it for it in self.cells if it.lower() not in NONE]
        self.distinct = {*self.said}

    @cached_property
    def is_number(self) -> bool:
        """Whether nearly all of it is."""
        return bool(self.said) and sum(number_of(it) == number_of(it) for it in self.said) >= MOST * len(self.said)

    @cached_property
    def whole(self) -> set[int]:
        """Whole numbers in it; none where there are other numbers."""
        numbers = [number_of(it) for it in self.distinct]
        return {int(it) for it in numbers} if all(it == it and it == int(it) for it in numbers) else set()

    @property
    def is_text(self) -> bool:
        """Whether it holds words, of which some come again."""
        return bool(self.said) and not self.is_number and len(self.distinct) <= VOCABULARY

    def share(self, fits: Any) -> float:
        """Of what is said the part that fits."""
        return sum(map(fits, self.said)) / max(1, len(self.said))

    def shares_words(self, other: _Column) -> bool:
        """Whether both hold words of one vocabulary."""
        return 2 * len(self.distinct & other.distinct) >= min(len(self.distinct), len(other.distinct))


def _is_who(name: str) -> bool:
    return bool(_WHO.fullmatch(name)) and not (_WON.search(name) or _LOST.search(name))


class _Seen:
    """The columns of a table."""

    def __init__(self, frame: Any) -> None:
        columns = enumerate(map(str, frame.columns[:COLUMNS]))
        self.all = [_Column(name, frame.iloc[:, at].astype(str).tolist()) for at, name in columns]
        self.people = [it for it in self.all if _is_who(it.name)]
        self.rest = [it for it in self.all if it not in self.people]
        self.texts = [it for it in self.rest if it.is_text]
        self.numbers = [it for it in self.rest if it.is_number]

    @property
    def person(self) -> str:
        """The flag of who it was."""
        return f" --person {as_typed(self.people[0].name)}" if self.people else ""


def _flag(names: Sequence[str]) -> str:
    """Names with commas between, as they are typed."""
    return as_typed(",".join(f'"{it}"' if "," in it else it for it in names))


def _guesses(seen: _Seen) -> Iterator[Guess]:
    if not seen.all or not seen.all[0].cells:
        return
    if found := [*_pairs(seen)] or [*_winners(seen)] or [*_comparisons(seen)]:
        yield from found
        return
    for rule in (_orders, _places, _wide, _long):
        yield from rule(seen)


def _pairs(seen: _Seen) -> Iterator[Guess]:
    if any(re.search(r"\S\s+(?:vs\.?|versus)\s+\S", it.name, re.I) for it in seen.rest):
        yield Guess("a column a pair", f"--pairs all --map names{seen.person}")


def _comparisons(seen: _Seen) -> Iterator[Guess]:
    for at, one in enumerate(seen.texts[: COLUMNS // 4]):
        for two in seen.texts[at + 1 :]:
            if not one.shares_words(two) or _RANK.search(one.name):
                continue
            for answer in seen.rest:
                if answer not in (one, two) and (told := _answers(one, two, answer)):
                    words, mapped = told
                    columns = _flag([one.name, two.name, answer.name])
                    more = ", and --map" * (not mapped)
                    yield Guess(words, f"--comparisons {columns}{mapped}{seen.person}{more}")
                    return
            points = [it for it in seen.numbers if _POINTS.search(it.name)]
            if len(points) == 2:
                columns = _flag([one.name, two.name, *(it.name for it in points)])
                yield Guess("points of two sides", f"--points {columns}{seen.person}")
                return


def _answers(one: _Column, two: _Column, answer: _Column) -> tuple[str, str] | None:
    """How a column answers which of two is preferred, in words and by --map, where that is seen."""
    rows = list(zip(one.cells, two.cells, answer.cells, strict=True))
    named = sum(it in (a, b) and bool(it) for a, b, it in rows)
    if len(answer.distinct) > 1 and named >= HALF * max(1, len(answer.said)):
        others = answer.distinct - one.distinct - two.distinct
        ties = [f"{it}=0.5" for it in sorted(others) if _TIE.search(it) and "," not in it]
        return "two items and the name of the better one", f" --map {_mapped(['names', *ties])}"
    if {one.name, two.name} <= answer.distinct and len(answer.distinct) <= 6:
        ties = [f"{it}=0.5" for it in sorted(answer.distinct) if _TIE.search(it)]
        return "two items and which side won", f" --map {_mapped([f'{one.name}=1', f'{two.name}=0', *ties])}"
    said = {f"{number_of(it):g}" if number_of(it) == number_of(it) else it.lower() for it in answer.distinct}
    sides = {it for it in said if not _TIE.search(it)}
    if len(sides) > 1 and any(sides <= known for known in _SIDES):
        return "comparisons with an answer for each", ""
    return None


def _mapped(parts: Sequence[str]) -> str:
    text = ",".join(parts)
    return text if text == "names" else as_typed(text)


def _winners(seen: _Seen) -> Iterator[Guess]:
    won = [it for it in seen.texts if _WON.search(it.name)]
    lost = [it for it in seen.texts if _LOST.search(it.name)]
    if len(won) == len(lost) == 1 and won != lost:
        columns = _flag([won[0].name, lost[0].name, won[0].name])
        yield Guess("a winner and a loser a row", f"--comparisons {columns} --map names{seen.person}")


def _orders(seen: _Seen) -> Iterator[Guess]:
    for it in seen.rest:
        name = as_typed(it.name)
        if it.share(lambda cell: ">" in cell) > HALF:
            yield Guess("orders as text", f"--orders {name}{seen.person}")
            continue
        for sign in (";", "|", ","):
            parts = {part.strip() for cell in it.distinct for part in cell.split(sign)} - {""}
            if it.share(lambda cell, sign=sign: sign in cell.rstrip(sign)) > HALF and 1 < len(parts) <= VOCABULARY:
                between = as_typed(sign)
                yield Guess(
                    "an order in a cell, if the first is the best", f"--orders {name} --between {between}{seen.person}"
                )
                yield Guess(
                    "a list in a cell, if its order says nothing", f"--basket {name} --between {between}{seen.person}"
                )
                break


def _places(seen: _Seen) -> Iterator[Guess]:
    """Several columns of one vocabulary."""
    texts = [it for it in seen.texts if _PLACE.search(it.name) or _NUMBERED.fullmatch(it.name)]
    stems = {stem(texts[0].name)} if texts else set()
    alike = [it for it in texts if stem(it.name) in stems or it.shares_words(texts[0])]
    if len(alike) < 2:
        return
    names = [it.name for it in alike]
    if all(map(_PLACE.search, names)):
        yield Guess("a column a place, with items in the cells", f"--ranks {_flag(names)}{seen.person}")
        return
    yield Guess("several columns of items, if their order says nothing", f"--each {_flag(names)}{seen.person}")
    yield Guess("a column a place, if the first is the best", f"--ranks {_flag(names)}{seen.person}")


def stem(name: str) -> str:
    """A name without its last number.

    Examples
    --------
    >>> stem("DX12"), stem("Rank [Ranking 2]")
    ('DX', 'Rank [Ranking ]')
    """
    found = _NUMBERED.fullmatch(name)
    return found[1] + found[3] if found else name


def _wide(seen: _Seen) -> Iterator[Guess]:
    whole = [it for it in seen.rest if it.is_number and it.whole]
    if len(whole) < 2:
        return
    marks = [it for it in whole if it.whole <= {0, 1}]
    if len(marks) >= 2 and any(0 in it.whole for it in marks):
        yield Guess(
            "a column an item, with a mark", f"--marked --items {_flag([it.name for it in marks])}{seen.person}"
        )
        return
    places = [it for it in whole if it.whole <= {*range(len(whole) + 1)} and _LAST.fullmatch(it.name) is None]
    items = f"--items {_flag([it.name for it in places])}"
    rows = list(zip(*(it.cells for it in places), strict=True))
    if len(places) >= 2 and sum(len({*row}) == len(row) for row in rows) > HALF * len(rows):
        yield Guess("a column an item, with its place", f"--wide {items}{seen.person}")
        return
    scores = [it for it in whole if it.whole <= {*range(-10, 101)} and len(it.whole) > 1]
    if len(scores) >= 3:
        items = f"--items {_flag([it.name for it in scores])}"
        yield Guess(
            "a column an item, with a score",
            f"--wide {items} --ballots tied{seen.person}, and --best high if more is better",
        )


def _long(seen: _Seen) -> Iterator[Guess]:
    again = [it for it in seen.people if len(it.distinct) < len(it.said)]
    if not again or not seen.texts:
        return
    item = seen.texts[0]
    person = f" --person {as_typed(again[0].name)}"
    if place := next((it for it in seen.numbers if _LAST.search(it.name) and it.whole), None):
        yield Guess("a row an item, with its place", f"--long {_flag([item.name, place.name])}{person}")
    elif len(seen.texts) == 1 and not item.share(lambda cell: ">" in cell):
        yield Guess("a row for each person and item", f"--item {as_typed(item.name)}{person}")
