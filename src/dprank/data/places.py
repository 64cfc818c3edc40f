"""What stands on a ballot, cell by cell and name by name: a place, an item, nothing, or what nobody declared.

Each rule looks at one cell, and the declaration: none at what others wrote, or at how often.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dprank.data.accounts import BLANK, OPEN
from dprank.data.answers import NUMBER
from dprank.data.cleaning import cleaner

if TYPE_CHECKING:
    from dprank.data.accounts import Intake
    from dprank.data.declaration import Declaration

__all__ = [
    "AWAY",
    "BACKWARDS",
    "COUNTED",
    "NONE",
    "UNKNOWN",
    "Names",
    "counts",
    "hints",
    "meanings",
    "number_of",
    "place_reader",
]

#: How people write that there is no place, in any case.
NONE = (*BLANK, "n/a", "#n/a", "<na>", "none", "nil", "-", "--", "–", "—", ".")
#: Signs between two items of which the second is better.
BACKWARDS = "<≺≼≾≲≤≪⪯⊂⊏←⇐⟵↼‹«﹤＜◁◀"
#: Of a name: nobody declared it; it is withdrawn, or says that there is none; it is an item with a count beside it.
UNKNOWN, AWAY, COUNTED = -1, -2, -3
#: Names of columns that say for how many ballots a row stands, and words in such names.
_COUNTS = ("n", "times", "votes", "voters", "ballots", "number of ballots", "number of votes", "number of voters")
_COUNT_WORDS = {"count", "counts", "frequency", "freq", "multiplicity"}
#: A count beside a name: `21:Ann`, `21 Ann`, `Ann (21)`, `Ann x 21`.
_FRONT = re.compile(r"[0-9]+(?:\s*[:;,.)x×*|]\s*|\s+)(.+)", re.DOTALL)
_BEHIND = re.compile(r"(.+?)(?<!\s)\s*+[:;,x×*|(\[]\s*+[0-9]++\s*+[)\]]?", re.DOTALL)


def number_of(text: str) -> float:
    """The number that a text is; not-a-number where it is none, or beyond all floats.

    Examples
    --------
    >>> number_of("1.00"), number_of(".5"), number_of("1st"), number_of("1_000"), number_of("1e999")
    (1.0, 0.5, nan, nan, nan)
    """
    text = text.strip()
    number = float(text) if NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


def counts(name: str) -> bool:
    """Whether a column may say, by its name, for how many ballots a row stands.

    Examples
    --------
    >>> [counts(name) for name in ("count", "Vote_Count", "n", "Number of ballots", "Country", "vote")]
    [True, True, True, True, False, False]
    """
    words = re.split("[^a-z]+", name.casefold())
    return " ".join(filter(None, words)) in _COUNTS or not _COUNT_WORDS.isdisjoint(words)


def meanings(declared: Declaration) -> tuple[dict[str, float], dict[float, float]]:
    """What words mean, and what numbers do: a place, or not-a-number for none.

    Raises
    ------
    ValueError
        Where one is said to mean two things.
    """
    clean = cleaner(declared.clean)
    words, numbers = dict[str, float](), dict[float, float]()
    said = [(key, math.nan if it == "" else float(it)) for key, it in (declared.places or {}).items()]
    for key, meant in [*said, *((key, math.nan) for key in declared.unranked_as)]:
        text = clean(key).strip()
        number = number_of(text)
        before = words.setdefault(text, meant) if math.isnan(number) else numbers.setdefault(number, meant)
        if before != meant and not (math.isnan(before) and math.isnan(meant)):
            raise ValueError("places: two meanings of one cell after cleaning; one is needed")
    return words, numbers


def place_reader(declared: Declaration) -> Callable[[str], float]:
    """What a cell says of its item: the less the better, not-a-number where there is no place, -inf where it is none.

    Numbers are places by their value (`1.00` is 1, and `.5` comes before it): above 0, or from `lowest` on. `places`
    and `unranked_as` go first. Whatever is neither is no place: its ballot ranks nothing, since to leave out the cell
    alone would take one place, as that of the best, off every ballot.

    Examples
    --------
    >>> from dprank import Declaration
    >>> keys = {"kind": "ballots", "items": ["a", "b"], "places": {"1st": 1}, "unranked_as": ["99"]}
    >>> read = place_reader(Declaration(**keys))
    >>> [read(text) for text in (" 2.0 ", "1st", "99", "N/A", "0", "2nd")]
    [2.0, 1.0, nan, nan, -inf, -inf]
    """
    clean = cleaner(declared.clean)
    words, numbers = meanings(declared)
    sign = -1.0 if declared.best == "high" else 1.0
    lowest = declared.lowest

    def meaning(text: str) -> float:
        text = clean(text).strip()
        if text in words:
            return sign * words[text]
        place = number_of(text)
        if math.isnan(place):
            return math.nan if text.lower() in NONE else -math.inf
        if place in numbers:
            return sign * numbers[place]
        fits = math.isfinite(place) and (place > 0 if lowest is None else place >= lowest)
        return sign * place if fits else -math.inf

    return meaning


class Names:
    """What a name on a ballot stands for: an item by its number, or `UNKNOWN`, `AWAY`, `COUNTED`.

    `21:Ann` may mean one ballot, or many: whoever wrote it ranks nothing. To take off that name alone would take the
    first choice off every ballot of such a file.
    """

    def __init__(self, declared: Declaration) -> None:
        self.clean = cleaner(declared.clean, declared.aliases)
        self.codes = {self.clean(name): at for at, name in enumerate(declared.items)}
        self._longest = 40 + max(map(len, self.codes))
        self._away = {self.clean(name) for name in (*declared.withdrawn, *declared.unranked_as)}

    def code(self, cleaned: str) -> int:
        """Of a name after cleaning.

        Examples
        --------
        >>> from dprank import Declaration
        >>> names = Names(Declaration(kind="ballots", items=["Ann", "Bo"], withdrawn=["Dee"]))
        >>> [names.code(name) for name in ("Bo", "Anne", "Dee", "n/a", "21:Ann", "2 Bo", "Ann (21)", "21")]
        [1, -1, -2, -2, -3, -3, -3, -1]
        """
        if cleaned in self.codes:
            return self.codes[cleaned]
        if cleaned in self._away or cleaned.strip().lower() in NONE:
            return AWAY
        if len(cleaned) > self._longest:
            return UNKNOWN
        found = (_FRONT.fullmatch(cleaned), _BEHIND.fullmatch(cleaned))
        return COUNTED if any(it and self.clean(it[1].strip()) in self.codes for it in found) else UNKNOWN

    def coded(self, counts: Mapping[str, int], ledger: Any, items: tuple[str, ...]) -> dict[str, int]:
        """Of every label; counted as met, but for what does not count."""
        found = {}
        for text, number in counts.items():
            cleaned = self.clean(text)
            found[text] = self.code(cleaned)
            if found[text] == COUNTED:
                ledger.misread[text] += int(number)
            elif found[text] != AWAY:
                ledger.met(text, cleaned, found[text], int(number), items)
        return found


def hints(intake: Intake, declared: Declaration) -> list[str]:
    """What to declare of names and numbers that nobody declared: for the curator alone, who looks at the data."""
    told = []
    if OPEN in intake.altered:
        told.append("of a name that is no item --alias says which one it means, --withdrawn that it means none")
    commas = [it.strip() for it in intake.misread if re.fullmatch(r"\s*-?[0-9]+,[0-9]+\s*", it)]
    if commas and declared.kind == "ballots" and declared.times in (None, "none") and declared.weight is None:
        point = commas[0].replace(",", ".")
        thousand = re.fullmatch(r"[1-9][0-9]{0,2},[0-9]{3}", commas[0])  # which may be a thousand: never say which
        write = f"{number_of(point):g} or {commas[0].replace(',', '')}" if thousand else point
        told.append(f"a comma makes no number: write {write} for {commas[0]}")
    return told
