"""Files of ballots that name their own candidates: what every reader of one gives, and what they share.

The header refuses a file, and nothing else does: a line below it that is no ballot of the format is left out, and as
many ballots rank nothing as it says that it stands for, one where that cannot be read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE
from dprank.data.packed import unpacked
from dprank.data.sniffing import NOT_UTF_8, decoded

__all__ = [
    "Ballot",
    "Line",
    "Names",
    "Order",
    "OrderFile",
    "Text",
    "numbers",
    "refusal",
    "require_names",
    "text_of",
    "totalled",
    "whole",
]

#: Best first, what is tied together; alternatives from 0. One may be there twice.
Order = tuple[tuple[int, ...], ...]
_COUNT = re.compile(r"[0-9]{1,15}")


class Line(NamedTuple):
    """A line that is not empty: its number from 1, and what it says, with one blank for several."""

    at: int
    text: str


class Text(NamedTuple):
    """A file as text: its name, its lines that are not empty, and how it is encoded."""

    name: str
    lines: list[Line]
    said: str


class Ballot(NamedTuple):
    """What a line says: its order, None where it is none, and for how many ballots it stands."""

    order: Order | None
    times: int
    line: str


@dataclass(frozen=True)
class OrderFile:
    """What a file of ballots holds.

    Parameters
    ----------
    said : str
        Format and encoding in words.
    names : tuple of str
        Of the candidates, by number; data where `listed` is false.
    orders : tuple of tuple of tuple of int
        Different orders: best first, what is tied together, candidates from 0.
    counts : ndarray of int, shape (orders,)
        How many ballots each is.
    voters : int
        How many ballots there are; those that `counts` lack are on lines that are no ballot.
    others : tuple of str
        Such lines.
    listed : bool
        Whether the file lists its candidates, or its ballots alone name them.
    withdrawn : tuple of str
        Candidates that are none any more.
    hint : str
        What the header says of ballots, for the curator.

    Examples
    --------
    >>> file = totalled("a file", ["Ann", "Bo"], [Ballot(((0,), (1,)), 3, "3: 1 2"), Ballot(None, 1, "?")])
    >>> file.orders, file.counts.tolist(), file.voters, file.others
    ((((0,), (1,)),), [3], 4, ('?',))
    """

    said: str
    names: tuple[str, ...]
    orders: tuple[Order, ...]
    counts: NDArray[np.int64]
    voters: int
    others: tuple[str, ...] = ()
    listed: bool = True
    withdrawn: tuple[str, ...] = ()
    hint: str = ""

    @property
    def absent(self) -> int:
        """Ballots that a header counts and no line holds: here no header counts any."""
        return 0


def text_of(path: str | os.PathLike[str], encoding: str | None = None) -> Text:
    """A file of text, also one that is compressed, in lines.

    Parameters
    ----------
    path : path
    encoding : str, optional
        One of `dprank.data.layout.ENCODINGS`; UTF-8, or UTF-16 with its mark, by default.

    Raises
    ------
    ValueError
        Naming the file, where it is none of text, or its first line is not; bytes further down are written ``\\xff``.
    OSError
        Where it cannot be read.
    """
    name = os.fspath(path)
    found = decoded(name, unpacked(path), lambda above: not above.strip() or "\n" not in above.lstrip("\n"), encoding)
    each = ((at, " ".join(line.split())) for at, line in enumerate(found.text.split("\n"), 1))
    lines = [Line(at, line) for at, line in each if line]
    if not lines:
        raise ValueError(f"{name} is empty; a header and a line a ballot are needed")
    return Text(name, lines, found.said)


def refusal(name: str, at: int, what: str) -> ValueError:
    """What is said of a header; of the whole file where `at` is 0.

    Examples
    --------
    >>> print(refusal("a.blt", 1, "two numbers are needed"))
    a.blt: line 1: two numbers are needed
    """
    return ValueError(f"{name}: line {at}: {what}" if at else f"{name}: {what}")


def whole(text: str) -> int | None:
    """A whole number from 0, of 15 figures at most; None where it is none.

    Examples
    --------
    >>> whole("27"), whole("2.0"), whole("-1"), whole("٣")
    (27, None, None, None)
    """
    return int(text) if _COUNT.fullmatch(text) else None


def require_names(text: Text, named: Sequence[tuple[int, str]], least: int = 2) -> tuple[str, ...]:
    """Names of candidates with their lines, each once, and all of them text.

    Raises
    ------
    ValueError
        Naming the file and the line.
    """
    seen: set[str] = set()
    for at, name in named:
        if not name:
            raise refusal(text.name, at, "a candidate has no name")
        if name in seen:
            raise refusal(text.name, at, "another candidate has this name")
        if NOT_UTF_8 in text.said and re.search(r"\\x[0-9a-f]{2}", name):
            raise refusal(text.name, at, "a name is not UTF-8; --encoding says what it is, as cp1252")
        seen.add(name)
    if len(seen) < least:
        raise refusal(text.name, 0, f"{len(seen)} candidate{'s' * (len(seen) != 1)}; at least {least} are needed")
    return tuple(name for _, name in named)


class Names:
    """Numbers of candidates by their names; of those that no list has, as ballots name them.

    Examples
    --------
    >>> names = Names(["Ann"])
    >>> [names.number(it) for it in ("Bo", "Ann", "Bo")], names.all
    ([1, 0, 1], ['Ann', 'Bo'])
    """

    def __init__(self, listed: Iterable[str] = ()) -> None:
        self.all = list(listed)
        self._number = {name: at for at, name in enumerate(self.all)}

    def number(self, name: str) -> int:
        """Of one name."""
        if name not in self._number:
            self._number[name] = len(self.all)
            self.all.append(name)
        return self._number[name]


def numbers(parts: Iterable[str], most: int) -> Order | None:
    """An order of numbers of candidates, from 1, with = between tied ones; None where one is not such a number.

    Examples
    --------
    >>> numbers(["2", "1=3"], 3), numbers(["4"], 3)
    (((1,), (0, 2)), None)
    """
    order = []
    for part in parts:
        tied = [whole(it) for it in part.split("=")]
        if any(it is None or not 1 <= it <= most for it in tied):
            return None
        order.append(tuple(int(it or 0) - 1 for it in tied))
    return tuple(order)


def totalled(
    said: str,
    names: Sequence[str],
    ballots: Iterable[Ballot],
    *,
    name: str = "",
    listed: bool = True,
    withdrawn: tuple[str, ...] = (),
    hint: str = "",
) -> OrderFile:
    """Ballots line by line as a file of them; an order that comes again is added up.

    Raises
    ------
    ValueError
        Naming the file, where it stands for more ballots than memory has room for.
    """
    found: dict[Order, int] = {}
    others, voters = [], 0
    for order, count, line in ballots:
        voters += count
        if order is None:
            others.append(line)
        elif count:
            found[order] = found.get(order, 0) + count
    if voters > MOST_AT_ONCE:
        raise refusal(name, 0, f"more than {MOST_AT_ONCE:,} ballots")
    counts = np.array(list(found.values()), np.int64)
    return OrderFile(said, tuple(names), tuple(found), counts, voters, tuple(others), listed, withdrawn, hint)
