"""What columns of --times and --weight hold that is no number, or one of two: for a curator alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from dprank._require import shown
from dprank.data.amounts import amount_of, as_thousands, count_of
from dprank.data.noticed_cells import Raw

__all__ = ["in_amounts", "one_or_a_thousand"]

#: How a mark is typed, and the other thing that it may be.
TYPED = {".": (".", "none"), ",": (",", "."), " ": ("' '", ""), "'": ('"\'"', "")}
#: Fewer rows may be counts of 1, 2 and 3.
FEW = 5


def in_amounts(raw: Raw) -> Iterator[str]:
    """Sentences on cells that are no amount: how many rows, how many of the ballots, and what to declare."""
    declared = raw.declared
    for flag, name in (("--times", declared.times), ("--weight", declared.weight)):
        column = None if name in (None, "none") else raw.column(str(name))
        if name is None or column is None:
            continue
        yield from _row_numbers(raw, flag, name, list(map(str, column)))
        cells = {str(text): int(number) for text, number in column.value_counts().items()}
        lost = {text: number for text, number in cells.items() if count_of(text, declared.thousands) < 0}
        either = {
            text: found
            for text in lost
            if math.isnan(amount_of(text, declared.thousands)) and (found := as_thousands(text)) is not None
        }
        if either:
            yield _either(raw, flag, name, cells, either)
        others = [text for text in lost if text not in either and (flag == "--times" or not _is_fraction(text))]
        if others:
            rows = sum(cells[it] for it in others)
            what = "is one ballot that ranks nothing" if flag == "--times" else "counts nothing"
            hold = f"{_of(rows, cells)} of {shown(name)} hold{'s' * (rows == 1)} no whole number"
            yield f"{hold}, as {shown(others[0])}: each {what}"


def _row_numbers(raw: Raw, flag: str, name: str, cells: list[str]) -> Iterator[str]:
    """That a column of amounts goes up by 1 from row to row, as numbers of rows do."""
    read = [count_of(it, raw.declared.thousands) for it in cells]
    first = read[0] if read else -1.0
    if len(read) < FEW or first not in (0, 1) or read != [first + at for at in range(len(read))]:
        return
    last = f"{read[-1]:.0f}"
    told = f"{len(read)} rows stand for {sum(read):.0f} ballots" if flag == "--times" else f"the last row weighs {last}"
    do = "--times none" if flag == "--times" else "leave --weight and --max-weight out"
    yield f"{shown(name)} is {first:.0f} to {last}, row by row, as numbers of rows are, and {told}: if it is one, {do}"


def _is_fraction(text: str) -> bool:
    """Whether it is a number, which somebody else speaks of."""
    number = amount_of(text)
    return number > 0 and number != int(number)


def _of(rows: int, cells: dict[str, int]) -> str:
    return f"{rows} of {sum(cells.values())} rows"


def _either(raw: Raw, flag: str, name: str, cells: dict[str, int], either: dict[str, tuple[str, float]]) -> str:
    """How much is lost by numbers that are one, or a thousand."""
    marks = Counter[str]()
    for text, (mark, _) in either.items():
        marks[mark] += cells[text]
    [(mark, _)] = marks.most_common(1)
    text = next(it for it, (of, _) in either.items() if of == mark)
    large, small = f"{either[text][1]:.0f}", text.strip().partition(mark)
    told = ""
    if flag == "--times":
        sums = sum(cells[it] * number for it, (_, number) in either.items())
        rest = sum(cells[it] * max(0.0, count_of(it, raw.declared.thousands)) for it in cells)
        told = f"; {sums:.0f} of {sums + rest:.0f} ballots are lost by it"
    typed, other = TYPED[mark]
    decimal = f"{small[0]}.{small[2]}"
    or_else = f", --thousands {other} that it is {float(decimal):g}" if other and text.count(mark) == 1 else ""
    rows = sum(cells[it] for it in either)
    return (
        f"{_of(rows, cells)} of {shown(name)} {'are' if rows > 1 else 'is'} no number until its mark is declared, as "
        f"{shown(text)}{told}: --thousands {typed} says that this is {large}{or_else}"
    )


def one_or_a_thousand(name: str, texts: Sequence[str], by_times: bool, alone: bool) -> str | None:
    """What is said of a column whose numbers are counts, or have decimals, by a mark before three figures.

    None where a number is neither whole nor so marked. `by_times` says that a row may stand for several ballots, and
    `alone` that it is a person's.
    """
    marked = {text: found for text in texts if (found := as_thousands(text)) is not None}
    rest = [amount_of(text) for text in texts if text not in marked]
    if not marked or not all(it == it and it == int(it) for it in rest if not math.isinf(it)):
        return None
    text, (mark, number) = next(iter(marked.items()))
    weight = f"--weight {shown(name)} with --max-weight"
    without = ", without --person," * alone
    do = f"--times {shown(name)}{without} and --thousands {TYPED[mark][0]} say" if by_times else ""
    do = do or f"{weight} and --thousands {TYPED[mark][0]} say"
    small = text.strip().translate({ord(mark): "."})
    decimal = f"; if it is {small}, {weight} says how much it weighs, once all are multiplied so that they are whole"
    or_else = decimal * (mark in ".," and text.count(mark) == 1)
    return (
        f"column {shown(name)} is not used and holds numbers with a mark before three figures, as {shown(text)}: does "
        f"a row stand for so many? It counts once: {do} so, if that is {number:.0f}{or_else}"
    )
