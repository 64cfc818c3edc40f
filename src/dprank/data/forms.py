"""Files of ballots that name their own candidates, by how they are called: a further format is one more entry."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dprank._require import require_one_of
from dprank.data.layout import Layout

__all__ = ["BALLOT_FILES", "Form", "candidates_of", "form_called", "form_named", "forms_like"]

#: How a name of what is compressed ends.
_PACKED = (".gz", ".zst")
#: So much of a file, and of a line of it, is looked at to say what it may be.
LOOKED_AT, LONGEST = 1 << 16, 1000


@dataclass(frozen=True, kw_only=True)
class Form:
    """A format of files that hold ballots and the names of candidates.

    Parameters
    ----------
    name : str
        As `--form` and a declaration have it.
    words : str
        What it is, with its article.
    reader : str
        Module and function, which takes a path and what `takes` says, and returns what has the attributes of
        `dprank.data.order_files.OrderFile`; imported when such a file is given.
    takes : tuple of str
        Keys of `dprank.data.layout.Layout` that say something of it.
    suffixes : tuple of str
        By which a file is known without a word, in small letters.
    start : str
        A pattern of the first line, of a comment above it, or of any line where `anywhere`: it names no format, and is
        looked at for the curator's eyes, and to tell a list of names from such a file.
    anywhere : bool
    ballot : str
        A line as it has it.
    losses : str
        What is left out, or read as something else, in words.
    """

    name: str
    words: str
    reader: str
    takes: tuple[str, ...] = ("encoding",)
    suffixes: tuple[str, ...] = ()
    start: str = ""
    anywhere: bool = False
    ballot: str = ""
    losses: str = ""

    def read(self, path: str | os.PathLike[str], layout: Layout | None = None) -> Any:
        """The ballots of a file."""
        module, function = self.reader.split(":")
        said = {key: getattr(layout or Layout(), key) for key in self.takes}
        return getattr(import_module(module), function)(path, **said)


BALLOT_FILES = (
    Form(
        name="preflib",
        words="a file of PrefLib",
        reader="dprank.data.preflib:read_preflib",
        takes=(),
        suffixes=(".soc", ".toc", ".soi", ".toi", ".wmd", ".cat", ".dat", ".pwg", ".tog", ".wmg", ".mjg"),
        start=r"# ?FILE NAME ?:.*",
        ballot="21: 1,{2,3}",
        losses="a .cat ranks categories, the first best",
    ),
    Form(
        name="blt",
        words="a BLT of OpaVote or OpenSTV",
        reader="dprank.data.blt:read_blt",
        suffixes=(".blt",),
        start=r"[0-9]{1,4}[ \t]+[0-9]{1,4}[ \t]*(?:#.*)?",
        ballot="21 1 2=3 - 4 0",
        losses="a weight is taken for so many ballots; who has withdrawn is taken off; a skipped place is closed up",
    ),
    Form(
        name="abif",
        words="an ABIF",
        reader="dprank.data.abif:read_abif",
        suffixes=(".abif",),
        start=r"\{ ?\"?(?:version|title|filename)\"? ?:.*|=[^:]+:\[.*\]|[0-9]{1,15} ?[:*] ?[^:;,|]*[>/=].*",
        ballot="21:Ann>Bo=Cy",
        losses="scores give an order, and nothing beside it",
    ),
    Form(
        name="cvotes",
        words="a file of the Condorcet Election Format",
        reader="dprank.data.cvotes:read_cvotes",
        suffixes=(".cvotes",),
        start=r"#/ ?Candidates ?:.*",
        ballot="Ann > Bo = Cy * 21",
        losses="tags are passed over; votes with weights are refused",
    ),
    Form(
        name="scottish",
        words="a CSV of Scottish ballots",
        reader="dprank.data.scottish:read_scottish",
        start=r"[0-9]{1,4},[0-9]{1,4},*",
        ballot="21,1,2,3,",
        losses="parties are no part of a name",
    ),
    Form(
        name="debian",
        words="a tally sheet of Debian",
        reader="dprank.data.tally_sheet:read_tally_sheet",
        start=r"V:[ \t]*[0-9A-Z-]+(?:\s.*)?|.*\bOption 1-*>:.*",
        anywhere=True,
        ballot="V: 21-3",
        losses="places above 9, which are letters, are left out; who voted is passed over",
    ),
    Form(
        name="dominion",
        words="a cast vote record of Dominion",
        reader="dprank.data.dominion:read_dominion",
        takes=("contest", "overvotes"),
        start=r"(?:.*[{,] ?)?\"Sessions\" ?: ?.*",
        anywhere=True,
        ballot='"Rank": 1, "CandidateId": 12',
        losses="--contest names the contest; a place with several candidates is skipped, or ends the ballot by "
        "--overvotes exhaust; ambiguous marks say nothing; a session without the contest ranks nothing",
    ),
)


def form_named(name: str) -> Form:
    """The format of this name.

    Examples
    --------
    >>> form_named("blt").words
    'a BLT of OpaVote or OpenSTV'
    """
    known = {it.name: it for it in BALLOT_FILES}
    return known[require_one_of("form", name, tuple(known))]


def form_called(path: str | os.PathLike[str]) -> Form | None:
    """The format that the name of a file says, also of one that is compressed.

    Examples
    --------
    >>> form_called("club.BLT").name, form_called("city.soc.gz").name, form_called("votes.csv")
    ('blt', 'preflib', None)
    """
    name = os.fspath(path).lower()
    name = next((name.removesuffix(it) for it in _PACKED if name.endswith(it)), name)
    return next((it for it in BALLOT_FILES if it.suffixes and name.endswith(it.suffixes)), None)


def forms_like(path: str | os.PathLike[str]) -> tuple[Form, ...]:
    """Which formats a file looks like: for its curator, as it looks at ballots.

    Examples
    --------
    >>> import dprank
    >>> [it.name for it in forms_like(dprank.example("city.toc"))]
    ['preflib']
    """
    lines = _first_lines(path)
    comments = [line for line in lines if line.startswith("#")]
    heads = comments + [line for line in lines if not line.startswith("#")][:1]
    like = [(it, re.compile(it.start)) for it in BALLOT_FILES]
    return tuple(it for it, start in like if any(map(start.fullmatch, lines if it.anywhere else heads)))


def _first_lines(path: str | os.PathLike[str]) -> list[str]:
    from dprank.data.packed import begun

    raw = b""
    with suppress(OSError, ValueError):
        raw = begun(path, LOOKED_AT)
    text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    return [" ".join(line.split())[:LONGEST] for line in text.splitlines() if line.strip()]


def candidates_of(path: str | os.PathLike[str], form: Form, layout: Layout | None = None) -> tuple[str, ...]:
    """The candidates that a file lists, but for who has withdrawn. They are in the file: to use them makes them public.

    Raises
    ------
    ValueError
        Naming the file, where it is none of the format, or lists none: whom ballots alone name is data.

    Examples
    --------
    >>> import dprank
    >>> candidates_of(dprank.example("city.toc"), form_named("preflib"))
    ('roads', 'schools', 'parks', 'debt')
    """
    file = form.read(path, layout)
    if not file.listed:
        raise ValueError(f"{path} lists no candidates: whom its ballots name is data; say all with --items")
    return tuple(name for name in file.names if name not in file.withdrawn)
