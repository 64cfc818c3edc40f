"""How many cells of places and answers are read by some cleaning rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dprank.data.answers import codes_of, settled_answers
from dprank.data.cleaning import cleaner
from dprank.data.intake import pair_of
from dprank.data.noticed_cells import Raw
from dprank.data.places import place_reader

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["cells_of", "readable"]


def cells_of(raw: Raw | None) -> Counter[str]:
    """What stands in columns of places, or of answers, and in how many cells."""
    found = Counter[str]()
    for name in [] if raw is None else _columns(raw):
        column = None if raw is None else raw.column(name)
        if column is not None:
            found.update({str(text): int(number) for text, number in column.value_counts().items()})
    return found


def readable(declared: Declaration, cells: Mapping[str, int], rules: tuple[str, ...]) -> int:
    """How many cells say by these rules what place there is, or what answer; or that there is none.

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="ballots", items=["oak", "elm"])
    >>> [readable(declared, {"1": 5, "２": 3}, rules) for rules in ((), ("nfkc",))]
    [5, 8]
    """
    try:
        reads = _reader(declared, rules)
    except ValueError:  # two meanings of one cell by these rules
        return 0
    return sum(number for text, number in cells.items() if reads(text))


def _columns(raw: Raw) -> list[str]:
    """Columns that hold places, or answers."""
    declared = raw.declared
    if declared.kind == "tallies" or declared.form in ("orders", "ranks"):
        return []
    if declared.form == "long":
        return [declared.columns[-1]]
    if declared.kind == "ballots":
        return [*declared.items]
    said = declared.pairs or {name: name for name in map(str, raw.frame.columns)}
    return [name for name, pair in said.items() if pair_of(pair, raw.codes, raw.clean) is not None]


def _reader(declared: Declaration, rules: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a cell is read by some rules."""
    if declared.kind == "ballots":
        place = place_reader(replace(declared, clean=rules, before_looking=None))
        return lambda text: place(text) != -math.inf
    clean = cleaner(rules, declared.aliases)
    codes = {clean(it): at for at, it in enumerate(declared.items)}
    given = declared.answers if isinstance(declared.answers, str) else dict(declared.answers or {})
    answer = codes_of(settled_answers(given, codes, clean), codes, clean)
    return lambda text: answer(text) >= 0
