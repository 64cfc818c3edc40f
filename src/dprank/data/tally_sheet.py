"""The tally sheets of Debian's votes: a line ``V: 21-3`` a ballot, with the place of each option in a figure."""

from __future__ import annotations

import os
import re

from dprank.data.order_files import Ballot, OrderFile, refusal, require_names, text_of, totalled

__all__ = ["read_tally_sheet"]

_OPTION = re.compile(r"[\s|/\\]*(?:Option|Choice)\s+([1-9][0-9]?)\s*-*>?\s*:\s*(.*)", re.IGNORECASE)
_VOTE = re.compile(r"V:\s*(\S+)(?:\s.*)?")


def read_tally_sheet(path: str | os.PathLike[str], encoding: str | None = None) -> OrderFile:
    """A tally sheet.

    Parameters
    ----------
    path : path
    encoding : str, optional
        As of `dprank.data.order_files.text_of`.

    Raises
    ------
    ValueError
        Naming the file and the line, where it has no line that begins with V:, or the options above the first of them
        are not those of 1, 2 and so on.

    Notes
    -----
    O(bytes). Figures 1 to 9 are places, the lowest the best, and - says that there is none; a ballot with another sign,
    or of another length, is left out, as is any line below the first that is none. Who voted is passed over.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/tally.txt"
    >>> with open(path, "w") as file:
    ...     _ = file.write("Option 1----->: Ann\\n/ Option 2--->: Bo\\nV: 21 ab12\\nV: -1 cd34\\n")
    >>> found = read_tally_sheet(path)
    >>> found.names, found.orders, found.counts.tolist()
    (('Ann', 'Bo'), (((1,), (0,)), ((1,),)), [1, 1])
    """
    text = text_of(path, encoding)
    first = next((at for at, line in enumerate(text.lines) if line.text.startswith("V:")), None)
    if first is None:
        raise refusal(text.name, 0, "no line that begins with V:, as V: 12-3; and options above them")
    options = [(line.at, it) for line in text.lines[:first] if (it := _OPTION.fullmatch(line.text))]
    for wanted, (at, option) in enumerate(options, 1):
        if int(option[1]) != wanted:
            raise refusal(text.name, at, f"Option {wanted} is needed")
    names = require_names(text, [(at, option[2].strip()) for at, option in options])
    ballots = (_ballot(line.text, len(names)) for line in text.lines[first:])
    hint = "by Debian's rules an option without a place is behind all others: --unranked last says so"
    return totalled(f"tally sheet of Debian in {text.said}", names, ballots, name=text.name, hint=hint)


def _ballot(line: str, options: int) -> Ballot:
    found = _VOTE.fullmatch(line)
    said = found[1] if found else ""
    if len(said) != options or not {*said} <= {*"123456789-"}:
        return Ballot(None, 1, f"V: {said}" if found else line)
    given = sorted({*said} - {"-"})
    return Ballot(tuple(tuple(at for at, it in enumerate(said) if it == place) for place in given), 1, line)
