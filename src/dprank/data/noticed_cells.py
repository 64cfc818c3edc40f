"""What cells look like that are no item, place or order: lists, counts before an order, names with commas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dprank._require import as_typed, shown
from dprank.data.accounts import Intake
from dprank.data.amounts import count_of
from dprank.data.cleaning import cleaner, nearest
from dprank.data.places import BACKWARDS, NONE, number_of

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["Raw", "in_cells"]

#: What people write between items, in words.
SIGNS = {it: f"'{it}'" for it in (";", "|", ",", "->", "→", "<", "/", "+", "&")} | {
    "\n": "a line end",
    "\t": "a tab",
    " ": "a blank",
    "": "nothing",
}
#: Texts of one kind that are looked at, the most frequent ones.
LOOKED_AT = 2_000
#: Blanks, which a flag holds badly.
BLANKS = " \n\t"
#: So many other signs are tried.
FEW_SIGNS = 20
#: So many labels are looked at for one that says something.
SPELT = 20
#: So many items may stand in one cell with nothing between.
JOINED = 500
#: What people write between items that stand together; fewer rows of such say nothing.
TOGETHER = (",", "/", "~", "&", "+", "|", ";")
TICKED = 6
_SIGN = re.compile(r"->|[<>≻≽≥≿»›→⇒⟶≺≼≤≾←⇐⟵«‹﹤﹥＜＞]")
_BEFORE = re.compile(r"\s*+([0-9]++)\s*+(?:[:;,.)xX×*]|\s)\s*+(.+)", re.DOTALL)
_LISTED = re.compile(r"(?<!\s)\s*+(?<![0-9])[0-9]++\s*+[.)]\s*+")
_BEHIND = re.compile(
    r"(.+?)(?<!\s)(?:\s*+(?:=>|->|[:;,(\[xX×*=#@→/–—-])|\s)\s*+([0-9]++)(?:st|nd|rd|th|\.|º|°)?+\s*+[)\]]?\s*+",
    re.DOTALL,
)


class Raw:
    """A table as it is written, and what of it is declared."""

    def __init__(self, declared: Declaration, frame: Any) -> None:
        self.declared, self.frame = declared, frame
        self.clean = cleaner(declared.clean, declared.aliases)
        self.codes = {self.clean(name): at for at, name in enumerate(declared.items)}
        self.header: dict[str, list[int]] = {}
        self._written: dict[str, list[int]] = {}
        for at, column in enumerate(map(str, frame.columns)):
            self.header.setdefault(self.clean(column), []).append(at)
            self._written.setdefault(column, []).append(at)

    def column(self, name: str) -> Any:
        """A column by its name, as written or after cleaning; None where none has it, or several have."""
        found = self._written.get(name) or self.header.get(self.clean(name), [])
        return self.frame.iloc[:, found[0]] if len(found) == 1 else None

    def item(self, text: str) -> int | None:
        """The code of an item, however blanks are around it."""
        return self.codes.get(self.clean(text), self.codes.get(self.clean(text.strip())))

    def without(self, rows: Any) -> Raw:
        """The same without some rows."""
        return Raw(self.declared, self.frame.loc[~rows]) if rows.any() else self

    def known(self, text: str) -> bool:
        """Whether a text is an item."""
        return self.item(text) is not None

    @cached_property
    def header_again(self) -> int:
        """How many rows are the line of names again."""
        names = np.array(list(map(str, self.frame.columns)), object)
        return int((self.frame.to_numpy(object) == names).all(axis=1).sum())

    def parts(self, order: str) -> list[str]:
        """What stands between the signs of an order as text."""
        return [part for tied in order.split(self.declared.between or ">") for part in tied.split("=")]

    def is_none(self, text: str) -> bool:
        """Whether a text says that there is no item, or none that counts."""
        away = {*NONE, *map(str.casefold, (*self.declared.unranked_as, *self.declared.withdrawn))}
        return text.strip().casefold() in away


def in_cells(raw: Raw, intake: Intake, around_0: bool = False) -> Iterator[str]:
    """Sentences on labels that are no item, and on what stands for a place, an order or an answer and is none.

    `around_0` says that 0 is one of a scale, of which somebody else speaks.
    """
    odd = Counter(dict(intake.unknown)) + Counter(dict(intake.misread))
    texts = {text: number for text, number in odd.most_common(LOOKED_AT) if not raw.is_none(text)}
    if raw.declared.form == "orders":
        texts = _disordered(raw)
        yield from _counts(raw)
        yield from _tied(raw, texts)
        yield from _ticks(raw)
    yield from _taken_off(raw, intake)
    if raw.declared.kind == "comparisons" and raw.declared.form == "wide" and raw.declared.pairs is None:
        yield from _pairs(raw, intake)
    lists = [*_cut_names(raw, intake)] or [*_lists(raw, texts)]
    yield from lists
    if raw.declared.form == "orders" and raw.declared.unranked != "last" and not lists:
        yield from _single(raw)
    names = {text: number for text, number in intake.misread.items() if raw.item(text) is not None}
    if names and raw.declared.kind == "ballots" and sum(names.values()) > raw.header_again * len(raw.declared.items):
        yield (
            f"cells of places hold items, as {shown(next(iter(names)))}, {_cells(names)}: has the table a column a "
            "place? --ranks FIRST,SECOND,… reads it"
        )
    zero = max((it for it in intake.misread if number_of(it) == 0), key=lambda it: intake.misread[it], default=None)
    if zero and not around_0 and raw.declared.form in ("wide", "long") and raw.declared.kind == "ballots":
        end = "worst" if raw.declared.best == "high" else "best"
        yield f"0 is no place: --lowest 0 if it is one, the {end}; --unranked-as {zero} if it says that there is none"
    commas = {text: number for text, number in intake.misread.items() if re.fullmatch(r"\s*-?[0-9]+,[0-9]+\s*", text)}
    if commas and raw.declared.kind != "ballots":
        yield f"numbers have a decimal comma, as {shown(next(iter(commas)))}, {_cells(commas)}: write 0.5 for 0,5"


def _tied(raw: Raw, texts: Mapping[str, int]) -> Iterator[str]:
    """Items between two signs of an order that stand together by another sign, as ties are written."""
    own, seen = raw.declared.between or ">", dict[str, int]()
    for text in texts:
        for part in raw.parts(text) if own in text else []:
            ways = ([it.strip() for it in part.split(sign)] for sign in TOGETHER)
            if raw.item(part) is None and any(len(it) > 1 and all(map(raw.known, it)) for it in ways):
                seen[part.strip()] = seen.get(part.strip(), 0) + texts[text]
    if seen:
        yield (
            f"orders hold several items at one place, as {shown(next(iter(seen)))}, {_cells(seen)}: where they are "
            "tied, write = between them"
        )


def _ticks(raw: Raw) -> Iterator[str]:
    """Cells of which all have their items in one order, as a form has them, and not everybody has all."""
    column = raw.column(raw.declared.columns[0])
    if column is None or (raw.declared.between or ">") not in TOGETHER or len(column) < TICKED:
        return
    cells = [[raw.item(it) for it in raw.parts(str(text))] for text in column.value_counts().head(LOOKED_AT).index]
    lists = [it for it in cells if len(it) > 1 and None not in it]
    if len(lists) < 3 or len(set(map(len, lists))) < 2 or not _in_one_order(lists):
        return
    yield (
        "the items of all cells stand in one order, as in a form where one ticks some: are they ticks, and no ranking? "
        "Then write a row for each person and item, and ask for topk"
    )


def _in_one_order(lists: Iterable[Sequence[Any]]) -> bool:
    """Whether there is an order in which all lists have what they hold. O(length of all)."""
    order = TopologicalSorter[Any]()
    for it in lists:
        for one, other in pairwise(it):
            order.add(other, one)
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _single(raw: Raw) -> Iterator[str]:
    """That no ballot puts anything before anything."""
    column = raw.column(raw.declared.columns[0])
    if column is not None and len(column) and all(len(raw.parts(text)) < 2 for text in column.unique()):
        sign = raw.declared.between or ">"
        yield (
            f"no cell of {shown(raw.declared.columns[0])} holds {sign} or =: an order is written A {sign} B = C; where "
            "each column is a place, --ranks FIRST,SECOND,… reads them"
        )


def _disordered(raw: Raw) -> dict[str, int]:
    """Texts of orders that hold what is no item."""
    column = raw.column(raw.declared.columns[0])
    if column is None:
        return {}
    counts = {str(text): int(number) for text, number in column.value_counts().head(LOOKED_AT).items()}
    parts = {text: [it for it in raw.parts(text) if it.strip()] for text in counts}
    return {it: counts[it] for it in counts if any(raw.item(p) is None and not raw.is_none(p) for p in parts[it])}


def _cells(texts: Mapping[str, int]) -> str:
    number = sum(texts.values())
    return f"in {number} cell{'s' * (number != 1)}"


def _cut_names(raw: Raw, intake: Intake) -> Iterator[str]:
    """An item whose name was cut at its commas: nothing else holds its parts, and others are whole."""
    parts = {text: [it.strip() for it in text.split(",") if it.strip()] for text in intake.unknown if "," in text}
    codes = {text: [raw.item(it) for it in parts[text]] for text in parts}
    found = {text: set(it) for text, it in codes.items() if None not in it and len(it) > 1}
    where = Counter(at for it in found.values() for at in it)
    alone = {raw.item(text) for text in intake.written}
    whole = len(where) < len(raw.declared.items) and (raw.declared.form != "orders" or bool(alone - {None}))
    if found and whole and not alone & set(where) and max(where.values()) == 1:
        text = next(iter(found))
        yield (
            f"cells hold {shown(text)}, which was declared as {len(parts[text])} items: name all items in a text file, "
            "one a line, where a name has a comma"
        )


def _lists(raw: Raw, texts: Mapping[str, int]) -> Iterator[str]:
    """Cells with several items, by the sign that most of them have."""
    best: tuple[int, str, dict[str, int], dict[str, list[str]]] = (0, "", {}, {})
    few = [it for it in raw.codes if it] if len(raw.codes) <= JOINED else []
    joined = re.compile(f"(?:{'|'.join(sorted(map(re.escape, few), key=len, reverse=True)) or '(?!)'})++")
    own = (raw.declared.between or ">") if raw.declared.form == "orders" else None
    for sign in (*SIGNS, *_other_signs(raw, texts)):
        if sign == own:  # as declared: what stands between is some name
            continue
        if sign:
            parts = {text: [it for it in map(str.strip, text.split(sign)) if it] for text in texts if sign in text}
        else:
            parts = {it: re.findall(joined.pattern[:-2], it) for it in map(raw.clean, texts) if joined.fullmatch(it)}
            texts = dict.fromkeys(parts, 1) | dict(texts)
        codes = {text: [raw.item(_LISTED.sub("", it, 1)) for it in parts[text]] for text in parts}
        known = {text: set(codes[text]) - {None} for text in parts}
        found = {it: texts[it] for it in parts if len(known[it]) > 1 and (sign != " " or None not in codes[it])}
        if (number := sum(found.values())) > best[0]:
            best = number, sign, found, parts
    _, sign, found, parts = best
    if not found:
        return
    between = SIGNS.get(sign, shown(sign))
    seen = f"as {shown(next(iter(found)))}, {_cells(found)}"
    yield f"cells hold several items, with {between} between, {seen}: {_split(raw, sign)}"


def _split(raw: Raw, sign: str) -> str:
    """What to do about cells that hold several items."""
    declared = raw.declared
    backwards = not set(sign).isdisjoint(BACKWARDS)
    reads = (
        bool(sign.strip(BLANKS))
        and not backwards
        and sign != (declared.between or ">")
        and "=" not in sign
        and not any(sign in item for item in declared.items)
    )
    if declared.form == "orders":
        if backwards:
            return f"{sign} says that the best comes last: turn the orders round, as A > B > C, the best first"
        return f"--between {shown(sign)} reads it, the best first; else " * reads + "an order is written A > B > C"
    if declared.kind != "ballots":
        return f"write a row for each person and {'item' if declared.kind == 'tallies' else 'pair'}"
    whole = f"; where a cell holds a whole order, --orders COLUMN --between {shown(sign)} reads it"
    return "one item a cell is read" + whole * reads


def _other_signs(raw: Raw, texts: Mapping[str, int]) -> list[str]:
    """Signs of these texts that are in no item, and that nobody thought of; the most frequent first."""
    met: Counter[str] = Counter()
    for text in texts:
        met.update(set(text))
    own = {*SIGNS, "=", raw.declared.between or ">", *"".join(raw.declared.items), *"()[]{}'\"._"}
    return [it for it, _ in met.most_common() if not it.isalnum() and not it.isspace() and it not in own][:FEW_SIGNS]


def _pairs(raw: Raw, intake: Intake) -> Iterator[str]:
    """Columns that are named like a pair, of which one is no declared item."""
    for name in intake.unused:
        sides = [it.strip() for it in re.split(r"(?i)(?<=\s)vs\.?(?=\s)|(?<=\s)versus(?=\s)", name)]
        odd = [it for it in sides if raw.item(it) is None]
        if len(sides) == 2 and len(odd) == 1:
            yield f"column {shown(name)} is not used, as {shown(odd[0])} is no declared item: --pairs says what it asks"


def _taken_off(raw: Raw, intake: Intake) -> Iterator[str]:
    """How many ballots hold what is no item: what was meant by it has no place there."""
    declared = raw.declared
    columns = [raw.column(name) for name in declared.columns[: 1 if declared.form == "long" else None]]
    if declared.kind != "ballots" or not columns or any(column is None for column in columns):
        return
    lost = np.zeros(len(raw.frame), bool)
    for column in columns:
        codes, distinct = column.factorize()
        parts = [raw.parts(str(it)) if declared.form == "orders" else [str(it)] for it in distinct]
        odd = [any(raw.item(it) is None and not raw.is_none(it) for it in some) for some in parts]
        lost |= np.array(odd, bool)[codes]
    if not lost.any():
        return
    each = np.ones(len(lost), np.int64)
    times = None if declared.times in (None, "none") else raw.column(str(declared.times))
    if times is not None:  # as they are counted: a cell that is no number is one ballot
        codes, distinct = times.factorize()
        each = np.array(
            [1 if (it := count_of(str(text), declared.thousands)) < 0 else int(it) for text in distinct], np.int64
        )[codes]
    number, rows = int(each[lost].sum()), int(each.sum())
    if not number:
        return
    what = "rows" if declared.form == "long" else "ballots"
    last = " --unranked last puts nothing behind on these, as it may be meant:" * (declared.unranked == "last")
    seen = f"{number} of {rows} {what} hold what is no declared item"
    yield f"{seen};{last} 'unknown items' says which{_spelt(raw, intake)}"


def _spelt(raw: Raw, intake: Intake) -> str:
    """How to say that the most frequent label is an item that is written otherwise; nothing where none is like one."""
    label = next((it for it in list(intake.unknown)[:SPELT] if not raw.is_none(it)), None)
    like = None if label is None else nearest(label, raw.declared.items)
    if label is None or like is None or raw.clean(label) == raw.clean(like):
        return ""
    return f"; --alias {as_typed(f'{label}={like}')}, if that is what {shown(label)} means"


def _counts(raw: Raw) -> Iterator[str]:
    """A number before an order, or behind it; or beside each of its items; or another sign between two of them."""
    column = raw.column(raw.declared.columns[0])
    if column is None:
        return
    found = {kind: dict[str, int]() for kind in ("alone", "before", "behind", "mixed")}
    for text, number in column.value_counts().head(LOOKED_AT).items():
        if (kind := _numbers_in(raw, str(text))) is not None:
            found[kind][str(text)] = int(number)
    seen = {kind: f"{shown(next(iter(it)))}, {_cells(it)}" for kind, it in found.items() if it}
    if "alone" in seen:
        yield (
            f"orders have a number before or behind them, as {seen['alone']}: does it "
            "count ballots? A row is one; with the number in a column of its own, --times COLUMN says so"
        )
    if "before" in seen:
        rising = all(_rise(raw, text) for text in found["before"])
        places = (
            "if they are places, write the items in their order, or a column an item, which holds its place (--wide)"
        )
        yield f"items have numbers before them, as in {seen['before']}: {'take them away' if rising else places}"
    if "behind" in seen:
        yield (
            f"items have numbers behind them, as in {seen['behind']}: if they are places, write the items in their "
            "order, as A > B > C, or a column an item, which holds its place (--wide)"
        )
    if "mixed" in seen:
        sign = raw.declared.between or ">"
        yield f"orders have other signs beside {sign}, as {seen['mixed']}: only {sign} and = are read; write one sign"


def _rise(raw: Raw, text: str) -> bool:
    """Whether the numbers before the items of an order rise."""
    numbers = [float(it[1]) for part in raw.parts(text) if (it := _BEFORE.fullmatch(part)) is not None]
    return numbers == sorted(set(numbers))


def _numbers_in(raw: Raw, text: str) -> str | None:
    """Where an order has numbers that are of no item: one alone, or one before or behind each; or if it mixes signs."""
    parts = [it for it in raw.parts(text) if it.strip()]
    odd = [at for at, it in enumerate(parts) if raw.item(it) is None]
    if not odd:
        return None
    numbered = [at for at in odd if _numbered(raw, _BEFORE.fullmatch(parts[at]), 2)]
    if len(numbered) > 1:
        return "before"
    ways = [parts] if len(parts) > 1 else [[it for it in re.split("[,;|/>\n]", text) if it.strip()]]
    if "=" in text:  # which ties items, and here says what a number is of
        ways += [text.split(sign) for sign in (raw.declared.between or ">", ",", ";", "|", ">", "\n", " ")]
    if any(sum(_numbered(raw, _BEHIND.fullmatch(it.strip()), 1) for it in pieces) > 1 for pieces in ways):
        return "behind"
    if numbered == [0] or (odd[-1] == len(parts) - 1 and _numbered(raw, _BEHIND.fullmatch(parts[-1]), 1)):
        return "alone"
    own = raw.declared.between or ">"
    signs = {own, *_SIGN.findall(text)}
    names = [it for it in re.split("|".join(map(re.escape, sorted({*signs, "="}, key=len)[::-1])), text) if it.strip()]
    return "mixed" if len(signs) > 1 and own in text and len(names) > 1 and all(map(raw.known, names)) else None


def _numbered(raw: Raw, found: re.Match[str] | None, group: int) -> bool:
    return found is not None and raw.item(found[group]) is not None
