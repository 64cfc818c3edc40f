"""BLT, of OpenSTV, OpaVote and others: numbers of candidates a line, and their names at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from dprank.data.order_files import (
    Ballot,
    Line,
    OrderFile,
    Text,
    numbers,
    refusal,
    require_names,
    text_of,
    totalled,
    whole,
)

__all__ = ["read_blt"]

_START = re.compile(r"([0-9]{1,9})\s+([0-9]{1,9})")
_WITHDRAWN = re.compile(r"-[1-9][0-9]{0,8}(?:\s+-[1-9][0-9]{0,8})*")
#: What stands before a comment: no # outside of quotation marks.
_SAID = re.compile(r'(?:[^"#]|"(?:[^"]|"")*"|")*')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
#: In the place of the weight OpenSTV has the name of a ballot in brackets: it is one.
_NAMED = re.compile(r"\([^()]*\)")


def read_blt(path: str | os.PathLike[str], encoding: str | None = None) -> OrderFile:
    """A file of BLT.

    Parameters
    ----------
    path : path
    encoding : str, optional
        As of `dprank.data.order_files.text_of`.

    Raises
    ------
    ValueError
        Naming the file and the line, where its first line is not the numbers of candidates and seats, a candidate that
        has withdrawn is none, no line 0 ends the ballots, or names below it are missing, there twice or no text.

    Notes
    -----
    O(bytes). A ballot is a weight, numbers with = between tied ones and - for a place that is left free, and 0. Its
    weight is taken for so many ballots. Any other line above the last line 0 is left out.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/club.blt"
    >>> with open(path, "w") as file:
    ...     _ = file.write('3 1\\n-2\\n4 3 1=2 0\\n1 0\\n0\\n"Ann"\\n"Bo"\\n"Cy"\\n"The club"\\n')
    >>> found = read_blt(path)
    >>> found.names, found.orders, found.counts.tolist(), found.withdrawn
    (('Ann', 'Bo', 'Cy'), (((2,), (0, 1)), ()), [4, 1], ('Bo',))
    """
    text = text_of(path, encoding)
    lines = [Line(at, said) for at, line in text.lines if (said := _before_comment(line))]
    start = _START.fullmatch(lines[0].text) if lines else None
    if start is None:
        raise refusal(text.name, text.lines[0].at, "numbers of candidates and of seats are needed, as 4 2, alone")
    ends = [at for at, line in enumerate(lines) if line.text == "0"]
    if not ends:
        raise refusal(text.name, 0, "no line 0, which ends the ballots, and the candidates' names below it")
    names = _names(text, lines[ends[-1] + 1 :], int(start[1]))
    above = 1
    while above < ends[-1] and _WITHDRAWN.fullmatch(lines[above].text):
        above += 1
    gone = [(line.at, -int(it)) for line in lines[1:above] for it in line.text.split()]
    if wrong := next((at for at, it in gone if it > len(names)), 0):
        raise refusal(text.name, wrong, f"a candidate has withdrawn who is none of 1 to {len(names)}")
    withdrawn = tuple(names[it - 1] for _, it in gone)
    ballots = (_ballot(line.text, len(names)) for line in lines[above : ends[-1]])
    return totalled(f"BLT in {text.said}", names, ballots, name=text.name, withdrawn=withdrawn)


def _before_comment(line: str) -> str:
    found = _SAID.match(line)
    return (found[0] if found and '"' in line else line.split("#")[0]).strip()


def _names(text: Text, lines: Sequence[Line], number: int) -> tuple[str, ...]:
    """Names of so many candidates; what is below them is a title, and more."""
    if len(lines) < number:
        raise refusal(text.name, 0, f"{len(lines)} names below the last line 0; line 1 tells of {number} candidates")
    named = []
    for at, line in lines[:number]:
        found = _QUOTED.fullmatch(line)
        if found is None and (set(line) & {*'" '} or whole(line) is not None):
            raise refusal(text.name, at, "the name of a candidate is needed, in quotation marks")
        named.append((at, (found[1].replace('""', '"') if found else line).strip()))
    return require_names(text, named)


def _ballot(line: str, candidates: int) -> Ballot:
    first, *rest = line.split(None, 1) if not line.startswith("(") else _named(line)
    count = 1 if first.startswith("(") else whole(first)
    places = rest[0].split() if rest else []
    ended = bool(places) and places[-1] == "0"
    order = numbers([it for it in places[:-1] if it != "-"], candidates) if ended and count is not None else None
    return Ballot(order, 1 if count is None else count, line)


def _named(line: str) -> list[str]:
    found = _NAMED.match(line)
    return [found[0], line[found.end() :]] if found else [line]
