"""Columns that nobody uses, and that may change what a row means: that it does not count, or counts for several.

By what they hold, and by whether a person's rows differ in them; a name makes the word stronger. What is the same in
all rows of a person says something of people, as their age does, and of what a row means only by its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.amounts import as_thousands
from dprank.data.bounding import nameless
from dprank.data.noticed_amounts import one_or_a_thousand
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_items import items_too
from dprank.data.noticed_names import (
    DOUBTED,
    MEANT,
    NOT_COUNTED,
    OF_OTHERS,
    OPPOSITES,
    SIDES,
    TESTS,
    UNSURE,
    YES_NO,
    called_a_count,
    called_a_number,
    called_a_question,
    called_a_round,
    called_a_share,
    called_a_weight,
    called_certain,
    called_of_people,
    called_paid,
    called_progress,
    called_valid,
    words_of,
)
from dprank.data.places import number_of

__all__ = ["in_unused"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: So many columns are spoken of.
TOLD = 6
#: More values are no kinds of rows, and no questions; by so many columns, at most, what others say is settled.
KINDS, QUESTIONS, OTHERS = 12, 30, 100
#: So many questions are thought of where nothing is called one.
FEW_QUESTIONS = 6
#: This share of rows, at least, is the only one of its two items in a round.
ONCE = 0.9
#: Codes of no answer.
NO_ANSWER = _set("-9 -8 -7 -1 8 9 88 98 99 888 998 999")
#: Words in names of columns of how much of an item a person has, where 0 is none of it.
GRADES = _set("grade level scale score rating likert severity intensity stufe grad nivel niveau")
#: Fewer rows do not show that a column says something of items.
FEW = 8
#: Signs of money, which are no part of a number, and minus as it is typed.
_MONEY = str.maketrans({**dict.fromkeys("€$£¥₹ ", ""), "−": "-", "–": "-", "\u00a0": "", "\u202f": ""})
_HUNDRED = re.compile(r"%|perc|pct|proz|pourc|porc|proc", re.IGNORECASE)
_PERCENT = re.compile(r"%|\b(?:percent|pct|prozent|share|anteil)", re.IGNORECASE)


class _Rows:
    """Which rows are of one person, and which name the same items."""

    def __init__(self, raw: Raw, intake: Intake) -> None:
        declared = raw.declared
        self.raw, self.kind, self.n, self.unused = raw, declared.kind, len(raw.frame), intake.unused
        self.by_row = declared.kind != "tallies" and (declared.kind, declared.form) not in (
            ("ballots", "long"),
            ("comparisons", "long"),
        )
        many = {"comparisons": 2, "tallies": 1}.get(declared.kind, declared.form == "long")
        named = () if self.by_row else declared.columns[:many]
        who = [it for it in (declared.person, declared.ballot) if it is not None]
        self.person, self.ballot = declared.person, declared.ballot
        self.items = _numbered([_codes(raw, name) for name in named], self.n)
        self.who = _numbered([_codes(raw, name) for name in who[:1]], self.n) if who else None
        self.stays = np.ones(self.n, bool)
        if declared.person is not None and (column := raw.column(declared.person)) is not None:
            codes, distinct = column.factorize()
            self.stays = ~nameless(np.array(distinct, object))[codes]
        if self.who is None and self.by_row:
            self.who = np.arange(self.n)
        said = [name for name in (declared.person, declared.ballot) if name is not None]
        self.said = _numbered([self.items, *(_codes(raw, name) for name in said)], self.n)

    @cached_property
    def once(self) -> bool:
        """Whether nobody is known, and every row says what no other does, as in a table of totals."""
        declared = self.raw.declared
        if declared.person is not None or declared.ballot is not None or self.n < 3:
            return False
        used = declared.items if (declared.kind, declared.form) == ("ballots", "wide") else declared.columns
        key = _numbered([_codes(self.raw, name) for name in used], self.n)
        return len(np.unique(key)) == self.n

    def differs(self, codes: NDArray[np.int64]) -> bool:
        """Whether rows of one person differ; where nobody is known, whether no other column settles what they say."""
        codes, stays = codes[self.stays], self.stays
        if self.who is not None:
            who = self.who[stays]
            return _pairs(who, codes) > len(np.unique(who))
        kinds = len(np.unique(codes))
        return not any(2 * kinds <= many and _pairs(other, codes) == many for other, many in self.others)

    @cached_property
    def others(self) -> list[tuple[NDArray[np.int64], int]]:
        """Columns that are not used and whose values come again, each with their number: of many the first ones."""
        there = (it[self.stays] for name in self.unused if (it := _codes(self.raw, name)) is not None)
        counted = ((it, len(np.unique(it))) for it in there)
        return [*islice((it for it in counted if 2 * it[1] <= len(it[0])), OTHERS)]

    def of_items(self, codes: NDArray[np.int64]) -> bool:
        """Whether the items of a row say what stands there."""
        kinds = len(np.unique(self.items))
        return not self.by_row and len(codes) >= max(FEW, 2 * kinds) and _pairs(self.items, codes) == kinds

    def is_schedule(self, codes: NDArray[np.int64]) -> bool:
        """Whether two items, in their order, meet once under each value, as in rounds of a tournament."""
        many = self.kind != "comparisons" or self.by_row or self.person is not None
        return not many and _pairs(self.items, codes) >= ONCE * self.n

    def again(self, codes: NDArray[np.int64]) -> float:
        """Of what is said several times, by one person where they are known, the share said under several values."""
        said, codes = self.said[self.stays], codes[self.stays]
        kinds, code, each = np.unique(said, return_inverse=True, return_counts=True)
        if not (each > 1).any():
            return 0.0
        both = np.unique(np.stack([np.ravel(code), codes]), axis=1)[0]
        return float((np.bincount(both, minlength=len(kinds)) > 1).sum() / len(kinds))


def in_unused(raw: Raw, intake: Intake, told: Collection[str] = ()) -> Iterator[str]:
    """Sentences on columns that are not used, the strongest first; of those that are told of already none."""
    rows, found = _Rows(raw, intake), list[tuple[int, str]]()
    for name in intake.unused:
        column = raw.column(name)
        if column is None or not len(column) or name in told:
            continue
        codes, distinct = column.factorize()
        texts = [str(it).strip() for it in distinct]
        cells = np.bincount(codes, minlength=len(texts)).tolist()
        by_text: dict[str, int] = {}
        for text, number in zip(texts, cells, strict=True):
            key = "" if text.casefold() in BLANK else text
            by_text[key] = by_text.get(key, 0) + number
        codes = codes.astype(np.int64)
        found += [it for it in (_of_column(rows, name, codes, by_text),) if it is not None]
    found.sort(key=lambda it: -it[0])
    for _, line in found[:TOLD]:
        yield line


def _of_column(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """What a column may mean, and how likely it does."""
    if len(cells) < 2 and not called_a_count(name):
        return items_too(rows, name, codes, cells)
    fits = not rows.of_items(codes)
    asked = called_a_question(name)
    ways = (
        [_question] * asked
        + [_below, _progress, _share, items_too, _counts_or_not, _number]
        + [_question] * (not asked)
    )
    for way in ways if fits else [_below, items_too, *[_number] * called_a_count(name)]:
        if (line := way(rows, name, codes, cells)) is not None:
            return line
    return None


def _counts_or_not(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column that may say that a row does not count."""
    written = {text: text.casefold() for text in cells}
    texts = set(written.values()) - {""}
    if not texts or len(cells) > KINDS:
        return None
    said = f"column {shown(name)} is not used"
    do = "All rows do now; if these do not, take them out of the file"
    differ = not rows.by_row and rows.differs(codes)
    none = NOT_COUNTED | OF_OTHERS if rows.kind == "tallies" and differ else NOT_COUNTED
    if len(texts) > 1 and texts <= none:  # kinds of trials, of which a test is no test; or of events
        none = NOT_COUNTED if texts <= none - TESTS else none - TESTS
    sure = [text for text in cells if written[text] in none]
    sure = sure or [text for text in cells if called_certain(name) and written[text] in UNSURE]
    doubted = [text for text in cells if DOUBTED.fullmatch(written[text])]
    remark = "" in cells and len(doubted) == len(texts) and 2 * cells[""] > sum(cells.values())
    bad = sure or (doubted if differ or called_valid(name) or remark else [])
    if bad and (len(texts) > 1 or ((sure or remark) and "" in cells)):
        return 7, f"{said}, and {_rows_with(bad, cells)}: do such rows count? {do}"
    mark = len(texts) == 1 and "" in cells and texts <= MEANT
    if mark or any(_is_pair(texts, pair) for pair in SIDES):
        if called_valid(name) or differ:
            strength = 7 if called_valid(name) else 5 if rows.kind == "comparisons" else 6
            ask = "do both count, or are some of them ties" if rows.kind == "comparisons" else "do both count"
            alike = "All rows do now, and alike: take those that do not out of the file"
            return strength, f"{said}, and {_halves(cells, mark)}: {ask}? {alike}"
    elif rows.kind == "tallies" and differ and "" not in cells and _two_kinds(name, cells):
        return 2, f"{said} and has two values, by which rows of one person differ: do rows of either count? {do}"
    return None


def _two_kinds(name: str, cells: dict[str, int]) -> bool:
    """Whether a column has two values, or as codes two besides those of no answer, that are no count, day or place."""
    if not _all(cells):
        return len(cells) == 2
    said = [it for it in cells if it not in NO_ANSWER]
    return len(said) == 2 and not called_of_people(name) and not called_a_count(name)


def _is_pair(texts: set[str], pair: frozenset[str]) -> bool:
    """Whether texts are yes and no, in some words, and a third at most that is no number."""
    return pair <= texts and len(texts - pair) <= 2 and not any(map(_is_figure, texts - pair))


def _is_figure(text: str) -> bool:
    return not math.isnan(_value(text))


def _all(cells: dict[str, int]) -> bool:
    """Whether all are numbers."""
    return all(_is_figure(text) for text in cells if text)


def _rows_with(texts: list[str], cells: dict[str, int]) -> str:
    number, most = sum(cells[it] for it in texts), max(texts, key=lambda it: cells[it])
    have = f"{number} of {sum(cells.values())} rows {'has' if number == 1 else 'have'}"
    return f"{have} {shown(most) if most else 'nothing'} there"


def _halves(cells: dict[str, int], mark: bool) -> str:
    """How many rows say no, yes and anything else; which of them is odd is not known."""
    no = [""] if mark else [text for text in cells if text.casefold() in YES_NO]
    yes = [it for it in cells if it and it not in no and (mark or any(it.casefold() in pair for pair in SIDES))]
    rest = sum(number for text, number in cells.items() if text not in (*no, *yes))
    also = f", and {rest} something else" if rest else ""
    most = max(yes, key=lambda it: cells[it])
    return f"{_rows_with(no, cells)}, {sum(cells[it] for it in yes)} {shown(most)}{also}"


def _value(text: str) -> float:
    """The number that a text is, however it is written."""
    number = number_of(text)
    if math.isnan(number) and (grouped := as_thousands(text)) is not None:
        return grouped[1]
    return number_of(text.replace(",", ".", 1)) if math.isnan(number) else number


def _signed(text: str) -> float:
    """The number that an amount is, as it is written with money, and with a minus of any kind."""
    plain = text.translate(_MONEY).strip()
    behind = plain.startswith("(") and plain.endswith(")")
    number = _value(plain.strip("()").strip() if behind else plain)
    if math.isnan(number) and plain.startswith("-"):
        number = -_value(plain[1:].strip())
    return -abs(number) if behind else number


def _below(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column of amounts with some below 0: a row that takes another back."""
    values = {text: _signed(text) for text in cells if text}
    low = {text: it for text, it in values.items() if it < 0}
    number, there = sum(cells[it] for it in low), sum(cells[it] for it in values)
    if not low or number == there or any(map(math.isnan, values.values())) or 2 * there < rows.n:
        return None
    undone = sum(cells[text] for text, it in low.items() if -it in values.values())
    alike = rows.kind == "tallies" and not called_of_people(name) and rows.differs(codes)
    alike = alike and 2 * undone >= number and 2 * number <= there
    if not (called_paid(name) if rows.kind == "tallies" else called_a_count(name)) and not alike:
        return None
    most = max(low, key=lambda it: cells[it])
    row = f"{number} of {rows.n} rows {'has' if number == 1 else 'have'} a number below 0 there, as {shown(most)}"
    do = "All rows count now: take out such rows, and those that they take back"
    return 7, f"column {shown(name)} is not used, and {row}: was it returned, or cancelled? {do}"


def _progress(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column of how much was answered, in percent, where some did not come to the end."""
    values = {text: _value(text.replace("%", "").strip()) for text in cells if text}
    if not called_progress(name) or not values or max(values.values()) != 100 or any(map(math.isnan, values.values())):
        return None
    number = sum(cells[text] for text, it in values.items() if it < 100)
    if not number:
        return None
    seen = f"column {shown(name)} is not used, and {number} of {rows.n} rows {'has' if number == 1 else 'have'} less"
    do = "All rows do now; if these do not, take them out of the file"
    return 7, f"{seen} than 100 there: were they broken off, and do they count? {do}"


def _share(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column of percentages, by its name or the sign in it, that may say how much a row weighs."""
    texts = [it for it in cells if it]
    plain = {it: it.replace("%", "").strip() for it in texts}
    values = np.array([_value(it) for it in plain.values()])
    each = np.array([cells[it] for it in texts])
    signs = bool(texts) and all("%" in it for it in texts)
    called = called_a_share(name)
    if rows.kind == "tallies" or not (called or signs or _PERCENT.search(name)):
        return None
    if len(values) < 2 or not ((values >= 0) & (values <= 100)).all() or 2 * each.sum() < rows.n:
        return None
    total = float((values * each).sum())
    sums = [of * (rows.n / 2 if rows.kind == "comparisons" else 1) for of in (1.0, 100.0)]  # of the two sides of a pair
    whole = any(abs(total - of) <= 0.02 * of for of in sums)
    sure = called and (signs or _HUNDRED.search(name))  # shares may be those of a company
    if not (sure or whole or (signs and rows.once)) or set(values) <= {0.0, 1.0}:
        return None
    seen = f"column {shown(name)} is not used and holds percentages, as {shown(texts[0])}: does a row weigh so much?"
    weight = f"--weight {shown(name)} with --max-weight says how much, once all are whole numbers, as 605 for 60.5%"
    do = "if so, write the row as often as it counts" if rows.kind == "comparisons" else weight
    return 6, f"{seen} It counts once: {do}"


def _number(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column that may say for how many a row stands, or how much it counts."""
    texts = [it for it in cells if it]
    values = np.array([_value(it) for it in texts])
    each = np.array([cells[it] for it in texts])
    if not len(values) or not (values >= 0).all() or 2 * each.sum() < rows.n or set(texts) == {"1"}:
        return None
    whole = bool((values == np.floor(values)).all())
    called = called_a_count(name) and (whole or rows.kind != "tallies" or _weighs(rows, name, codes))
    strength = 6 if called else 0 if len(values) < 2 else _like_amounts(rows, name, values, each, whole, codes)
    kinds = np.sort(values)
    by_number = len(values) == rows.n >= 3 and np.array_equal(kinds, kinds[0] + np.arange(rows.n))
    if not strength or (by_number and (not called or called_a_number(name))):
        return None
    if rows.kind == "ballots":
        by_times = rows.raw.declared.form != "long"
        if told := one_or_a_thousand(name, texts, by_times, rows.raw.declared.person is not None):
            return strength, told
    zeros = int(each[values == 0].sum())
    those = "Rows with 0 in it count" if zeros > 1 else "The row with 0 in it counts"
    as_none = f"{those}, too ({zeros} of {rows.n}): take out what should not"
    seen = f"column {shown(name)} is not used and holds {'whole numbers' if whole else 'numbers with decimals'}"
    if rows.kind == "tallies" and not called:
        return strength, f"{seen}: does 0 say that a person has not got the item? {as_none}"
    many = "stand for so many" if whole else "weigh so much"
    also = f". {as_none}" * (zeros > 0)
    return strength, f"{seen}: does a row {many}? It counts once{_say(rows, name, whole)}{also}"


def _weighs(rows: _Rows, name: str, codes: NDArray[np.int64]) -> bool:
    """Whether numbers with decimals are called a weight, and are one of people: the same in all rows of each."""
    return called_a_weight(name) and not rows.differs(codes)


def _like_amounts(
    rows: _Rows, name: str, values: NDArray[np.float64], each: NDArray[np.int64], whole: bool, codes: Any
) -> int:
    """How much numbers look like amounts, by what they are."""
    graded = rows.kind == "tallies" and not GRADES.isdisjoint(words_of(name))
    if (called_of_people(name) and not graded) or (values >= 1e9).any() or ((values >= 1900) & (values <= 2100)).all():
        return 0
    if set(values) <= {0.0, 1.0}:
        return 0
    all_differ = len(values) == rows.n
    if whole and all_differ and len({len(str(int(it))) for it in values}) == 1 and values.min() >= 1000:
        return 0  # numbers of rows, or people
    if rows.kind == "tallies":
        return 4 if whole and (values == 0).any() and rows.differs(codes) else 0
    mean = float((values * each).sum() / each.sum())
    if not whole:
        near = len(values) >= 5 and values.min() > 0 and 0.8 <= mean <= 1.25 and values.max() >= 1.2
        return 4 if near and not rows.differs(codes) else 3 * rows.once
    if rows.once:
        return 3
    order = np.argsort(values)
    middle = values[order][np.searchsorted(np.cumsum(each[order]), each.sum() / 2)]
    tail = values.min() > 0 and 2 * len(values) <= rows.n and values.max() >= 8 * middle
    return 3 if rows.by_row and tail else 0


def _say(rows: _Rows, name: str, whole: bool) -> str:
    """What to do where a row stands for several."""
    declared = rows.raw.declared
    if rows.kind == "tallies" and not whole:
        return ", as every person does: a count of people knows no weights"
    if rows.kind == "tallies":
        return ": if it counts people, write a row for each, with a person of its own"
    if rows.kind == "comparisons":
        return ": if so, write the row as often as it counts"
    weight = f"--weight {shown(name)} with --max-weight says how much"
    if declared.form == "long" or not whole:
        return f": {weight}" + ", once all are multiplied so that they are whole" * (not whole)
    without = ", without --person," * (declared.person is not None)
    return f": --times {shown(name)}{without} says how many, {weight} it weighs"


def _question(rows: _Rows, name: str, codes: NDArray[np.int64], cells: dict[str, int]) -> tuple[int, str] | None:
    """A column that may say which of several questions a row answers."""
    values = len(cells) - ("" in cells)
    scheduled = called_a_round(name) and rows.is_schedule(codes)
    if scheduled or not 1 < values <= QUESTIONS or rows.n < 4 or called_of_people(name):
        return None
    asked = called_a_question(name)
    opposed = any({text.casefold() for text in cells if text} <= pair for pair in OPPOSITES)
    share, long = rows.again(codes), not rows.by_row
    seen = f"column {shown(name)} is not used and has {values} values"
    do = "are they several questions? One question a release: make a file of each"
    ballots = long and rows.kind == "ballots"
    do += f", or --ballot {shown(name)}, if each is a ballot on the same" * (ballots and rows.ballot is None)
    pairs = rows.by_row and rows.kind == "comparisons"
    if rows.kind != "tallies" and not pairs and rows.person is not None and share >= 0.25:
        once = "names items once for each" if long else "has a row for each"
        return 6, f"{seen}, and a person {once}: {do}"
    few = values <= KINDS if asked else values <= FEW_QUESTIONS and not _all(cells) and not _items(rows.raw, cells)
    if long and rows.kind != "tallies" and share >= 0.5 and few and rows.differs(codes):
        return 6 if asked else 3, f"{seen}, and the same items are answered under each: {do}"
    return (5, f"{seen}: {do}") if asked or (opposed and rows.kind != "tallies") else None


def _items(raw: Raw, cells: dict[str, int]) -> bool:
    """Whether most of what a column holds are items: what lost, or won."""
    return 2 * sum(raw.known(text) for text in cells if text) > len(cells)


def _codes(raw: Raw, name: str) -> Any:
    column = raw.column(name)
    return None if column is None else column.factorize()[0].astype(np.int64)


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """How many pairs of two columns there are."""
    return len(np.unique(one * (int(other.max(initial=0)) + 1) + other))


def _numbered(keys: list[Any], rows: int) -> NDArray[np.int64]:
    """Whole numbers from 0 for rows, one for all that have the same keys."""
    number = np.zeros(rows, np.int64)
    for key in keys:
        if key is not None:
            joined = number * (int(key.max(initial=0)) + 1) + key
            number = np.unique(joined, return_inverse=True)[1].ravel().astype(np.int64)
    return number
