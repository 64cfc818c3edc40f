"""ABIF, the aggregated ballots of electowiki, and lines like ``27: Ann > Bo = Cy`` of others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from dprank.data.order_files import Ballot, Names, Order, OrderFile, Text, refusal, require_names, text_of, totalled

__all__ = ["read_abif"]

_COUNT = re.compile(r"([0-9]{1,15})\s*[:*]\s*(?![:*])")
#: A name in square brackets or quotation marks, or of any signs that stand for nothing else; a score; what follows.
_VOTE = re.compile(
    r'\s*(?:\[(?P<long>[^\[\]]*)\]|"(?P<quoted>[^"]*)"|(?P<short>[^\[\]"<>=,/{}#:*^|]+?))\s*'
    r"(?:/\s*(?P<score>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*)?(?P<sign>[>=,]|$)"
)
#: What stands before a comment: no # in brackets or quotation marks.
_SAID = re.compile(r'(?:[^"#\[]|"[^"]*"|\[[^\[\]]*\]|["\[])*')
_CANDIDATE = re.compile(r"=\s*(?P<short>[^\[\]\"<>=,/{}#:*^|]+?)\s*:\s*\[(?P<long>[^\[\]]*)\]")


def read_abif(path: str | os.PathLike[str], encoding: str | None = None) -> OrderFile:
    """A file of ABIF.

    Parameters
    ----------
    path : path
    encoding : str, optional
        As of `dprank.data.order_files.text_of`.

    Raises
    ------
    ValueError
        Naming the file and the line, where a line that begins with = names no candidate, or one again.

    Notes
    -----
    O(bytes). A ballot is a count before ``:`` or ``*``, which may be missing, and names with ``>`` and ``=`` between,
    each with a score behind ``/`` or none; or with commas between, and then each with a score, the highest best. A
    ballot whose scores are not in its own order says two things: it is left out, as any other line is that is no
    ballot. Where no line like
    ``=short:[Long name]`` above them lists candidates, ballots alone name them.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/club.abif"
    >>> with open(path, "w") as file:
    ...     _ = file.write('{title: "The club"}\\n=A:[Ann Lee]\\n=B:[Bo]\\n27:A>B\\n3:A/1,B/5\\n')
    >>> found = read_abif(path)
    >>> found.names, found.orders, found.counts.tolist(), found.listed
    (('Ann Lee', 'Bo'), (((0,), (1,)), ((1,), (0,))), [27, 3], True)
    """
    text = text_of(path, encoding)
    longs, listed = _candidates(text)
    names = Names(listed)
    ballots = [_ballot(line, longs, names) for line in _body(text)]
    return totalled(f"ABIF in {text.said}", names.all, ballots, name=text.name, listed=bool(listed))


def _body(text: Text) -> Iterator[str]:
    """Lines of ballots, without comments."""
    for _, line in text.lines[_above(text) :]:
        if not line.startswith(("{", "#")):
            yield _before_comment(line)


def _above(text: Text) -> int:
    """How many lines stand above the first ballot."""
    return next(
        (at for at, line in enumerate(text.lines) if not line.text.startswith(("{", "=", "#"))), len(text.lines)
    )


def _before_comment(line: str) -> str:
    found = _SAID.match(line)
    return found[0].strip() if found else ""


def _candidates(text: Text) -> tuple[dict[str, str], tuple[str, ...]]:
    """What short names stand for, and all names that are listed."""
    longs, named = dict[str, str](), []
    for at, line in text.lines[: _above(text)]:
        if not line.startswith("="):
            continue
        found = _CANDIDATE.fullmatch(_before_comment(line))
        if found is None:
            raise refusal(text.name, at, "a candidate is needed, as =A:[Ann Lee]")
        if found["short"] in longs:
            raise refusal(text.name, at, "another candidate has this short name")
        longs[found["short"]] = found["long"].strip()
        named.append((at, longs[found["short"]]))
    return longs, require_names(text, named) if named else ()


def _ballot(line: str, longs: dict[str, str], names: Names) -> Ballot:
    found = _COUNT.match(line)
    count, said = (int(found[1]), line[found.end() :]) if found else (1, line)
    said = said.strip() if found else said
    return Ballot(_order(said, longs, names) if said or found else None, count, line)


def _order(said: str, longs: dict[str, str], names: Names) -> Order | None:
    """What a ballot says; None where it says nothing, or two things. Nothing at all is an order of nobody."""
    votes, at = [], 0
    while at < len(said):
        vote = _VOTE.match(said, at)
        if vote is None or (vote["sign"] and vote.end() == len(said)):
            return None
        votes.append(vote)
        at = vote.end()
    signs = [vote["sign"] for vote in votes[:-1]]
    scores = [None if vote["score"] is None else float(vote["score"]) for vote in votes]
    called = [(vote["long"] or vote["quoted"] or vote["short"] or "").strip() for vote in votes]
    if not all(called):
        return None
    places = _by_score(scores) if "," in signs else _by_sign(signs, scores, len(votes))
    if places is None or ("," in signs and {*signs} != {","}):
        return None
    coded = [names.number(longs.get(it, it)) for it in called]
    return tuple(tuple(it for it, of in zip(coded, places, strict=True) if of == place) for place in sorted({*places}))


def _by_score(scores: list[float | None]) -> list[int] | None:
    """Places by scores, the highest first; None where one is missing."""
    known = sorted({it for it in scores if it is not None}, reverse=True)
    return None if None in scores else [known.index(it) for it in scores if it is not None]


def _by_sign(signs: list[str], scores: list[float | None], votes: int) -> list[int] | None:
    """Places by what stands between names; None where scores say otherwise."""
    places = [0] * min(votes, 1)
    for sign in signs:
        places.append(places[-1] + (sign == ">"))
    pairs = [(place, score) for place, score in zip(places, scores, strict=True) if score is not None]
    for (one, high), (other, low) in pairwise(pairs):
        if (one < other and high <= low) or (one == other and high != low):
            return None
    return places
