"""Ballots of Scottish councils as CSV, as the collection scot-elex has them and VoteKit reads them."""

from __future__ import annotations

import csv
import os
import re

from dprank.data.order_files import Ballot, OrderFile, numbers, refusal, require_names, text_of, totalled, whole

__all__ = ["read_scottish"]

_START = re.compile(r"([0-9]{1,9}) ?, ?([0-9]{1,9}),*")
_CANDIDATE = re.compile(r'"?Candidate ([1-9][0-9]{0,8})"?,')


def read_scottish(path: str | os.PathLike[str], encoding: str | None = None) -> OrderFile:
    """A file of the ballots of a ward.

    Parameters
    ----------
    path : path
    encoding : str, optional
        As of `dprank.data.order_files.text_of`.

    Raises
    ------
    ValueError
        Naming the file and the line, where its first line is not the numbers of candidates and seats, or the lines of
        candidates below the ballots are not those of 1, 2 and so on.

    Notes
    -----
    O(bytes). A ballot is how many gave it and numbers of candidates, with commas between. Any other line above that of
    Candidate 1 is left out. Parties are no part of a name.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/ward.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write('2,1,\\n5,2,1,\\n"Candidate 1","Ann","A (A)",\\n"Candidate 2","Bo","B (B)",\\n"Ward 1",\\n')
    >>> found = read_scottish(path)
    >>> found.names, found.orders, found.counts.tolist()
    (('Ann', 'Bo'), (((1,), (0,)),), [5])
    """
    text = text_of(path, encoding)
    start = _START.fullmatch(text.lines[0].text)
    if start is None:
        needed = "numbers of candidates and of seats are needed, as 7,3, alone"
        raise refusal(text.name, text.lines[0].at, needed)
    listed = [at for at, line in enumerate(text.lines) if _CANDIDATE.match(line.text)]
    first = next((at for at in reversed(listed) if _numbered(text.lines[at].text) == 1), 0)
    if not first:
        raise refusal(text.name, 0, 'no line "Candidate 1","NAME","PARTY", below the ballots')
    number, named = int(start[1]), []
    for wanted, (at, line) in enumerate(text.lines[first : first + number], 1):
        row = _cells(line)
        if _numbered(line) != wanted or len(row) < 2:
            raise refusal(text.name, at, f'"Candidate {wanted}","NAME","PARTY", is needed')
        named.append((at, row[1].strip()))
    if len(named) < number:
        raise refusal(text.name, 0, f"{len(named)} candidates below the ballots; line 1 tells of {number}")
    names = require_names(text, named)
    ballots = (_ballot(line.text, number) for line in text.lines[1:first])
    return totalled(f"Scottish CSV in {text.said}", names, ballots, name=text.name)


def _cells(line: str) -> list[str]:
    """Of a line of a candidate; none where one is longer than any name."""
    try:
        return next(csv.reader([line]))
    except csv.Error:
        return []


def _numbered(line: str) -> int:
    found = _CANDIDATE.match(line)
    return int(found[1]) if found else 0


def _ballot(line: str, candidates: int) -> Ballot:
    first, *places = [it.strip() for it in line.rstrip(", ").split(",")]
    count = whole(first)
    order = None if count is None else numbers(places, candidates)
    return Ballot(order, 1 if count is None else count, line)
