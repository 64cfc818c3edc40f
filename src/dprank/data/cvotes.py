"""The Condorcet Election Format of CondorcetVote: lines like ``Ann > Bo = Cy * 27``, and candidates above them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from dprank.data.order_files import Ballot, Names, OrderFile, Text, refusal, require_names, text_of, totalled

__all__ = ["read_cvotes"]

_PARAMETER = re.compile(r"#/\s*([^:]+?)\s*:(.*)")
_END = re.compile(r"(?P<said>[^*^]*?)\s*(?:\^\s*[0-9]{1,15}\s*)?(?:\*\s*(?P<count>[0-9]{1,15})\s*)?")
_TIMES = re.compile(r"\*\s*([0-9]{1,15})\s*$")
_NOTHING = "/EMPTY_RANKING/"
_FORBIDDEN = {*";,/*^<|"}


def read_cvotes(path: str | os.PathLike[str], encoding: str | None = None) -> OrderFile:
    """A file of the Condorcet Election Format, version 1.

    Parameters
    ----------
    path : path
    encoding : str, optional
        As of `dprank.data.order_files.text_of`.

    Raises
    ------
    ValueError
        Naming the file and the line, where candidates are listed twice, one of them again or with a sign of the format,
        or votes are said to have weights.

    Notes
    -----
    O(bytes). Where no line lists candidates, ballots alone name them. What stands before || is passed over. A line that
    breaks the format is left out. Parameters stand above the votes; a line that begins as one is none, wherever it is.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/club.cvotes"
    >>> with open(path, "w") as file:
    ...     _ = file.write("#/Candidates: Ann ; Bo\\nAnn > Bo * 27\\n/EMPTY_RANKING/ # none\\n")
    >>> found = read_cvotes(path)
    >>> found.names, found.orders, found.counts.tolist(), found.hint[:30]
    (('Ann', 'Bo'), (((0,), (1,)), ()), [27, 1], 'the file ranks who is left out')
    """
    text = text_of(path, encoding)
    said = _parameters(text)
    at, allowed = said.get("weight allowed", (0, ""))
    if allowed.casefold() == "true":
        needed = "a vote of weight 7 is one person's: write a table with columns of the order and its weight, and add"
        raise refusal(text.name, at, f"Weight Allowed: {needed} --orders ORDER --weight WEIGHT --max-weight 7")
    listed = _listed(text, *said["candidates"]) if "candidates" in said else ()
    implicit = said.get("implicit ranking", (0, "true"))[1].casefold() != "false"
    names = Names(listed)
    ballots = [_ballot(line, names) for line in _body(text)]
    hint = (
        f"the file ranks who is left out {'last: --unranked last' if implicit else 'nowhere: --unranked apart'} says so"
    )
    cvotes = f"Condorcet Election Format in {text.said}"
    return totalled(cvotes, names.all, ballots, name=text.name, listed=bool(listed), hint=hint)


def _parameters(text: Text) -> dict[str, tuple[int, str]]:
    """What is said above the votes, by its name, with the number of its line."""
    said: dict[str, tuple[int, str]] = {}
    for at, line in text.lines:
        if not line.startswith("#"):
            break
        found = _PARAMETER.fullmatch(line)
        if found and said.setdefault(found[1].casefold(), (at, found[2].strip()))[0] != at:
            raise refusal(text.name, at, f"{found[1].strip()} is there twice")
    return said


def _listed(text: Text, at: int, said: str) -> tuple[str, ...]:
    named = [it.strip() for it in said.split(";")]
    if any({*it} & (_FORBIDDEN | {*">=#"}) for it in named):
        raise refusal(text.name, at, "Candidates: names have ; between, and none of > = , # / * ^ < | in them")
    return require_names(text, [(at, it) for it in named])


def _body(text: Text) -> Iterator[str]:
    return (said for _, line in text.lines if (said := line.partition("#")[0].strip()))


def _ballot(line: str, names: Names) -> Ballot:
    said = line.rpartition("||")[2].strip()
    found, times = _END.fullmatch(said), _TIMES.search(line)
    order = said if found is None else found["said"]
    count = int(times[1]) if times else 1
    if found is None or not order:
        return Ballot(None, count, line)
    if order == _NOTHING:
        return Ballot((), count, line)
    places = [[name.strip() for name in tied.split("=")] for tied in order.split(">")]
    if any(not name or {*name} & _FORBIDDEN for tied in places for name in tied):
        return Ballot(None, count, line)
    return Ballot(tuple(tuple(names.number(name) for name in tied) for tied in places), count, line)
