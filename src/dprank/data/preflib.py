"""Files of PrefLib: every line is held against the format, then preflibtools reads them (extra `preflib`).

preflibtools takes what it can of a line and leaves the rest: of `2: 1,x,3` the order 1 > 3, of an order that is there
twice the last count. So the grammar is checked here first, and what it read is compared with what was checked.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE, require_extra
from dprank.data.files import require_path
from dprank.data.sniffing import decoded

__all__ = ["KINDS", "PrefLib", "is_preflib", "read_alternatives", "read_preflib"]

#: Of the files that hold orders: what a line of each is.
KINDS = {
    "soc": "strict orders of all alternatives",
    "toc": "orders of all alternatives, with ties",
    "soi": "strict orders of some alternatives",
    "toi": "orders of some alternatives, with ties",
    "wmd": "weights that each alternative gives to others",
}
#: Others of PrefLib, which hold no orders.
OTHER = ("cat", "dat", "pwg", "tog", "wmg", "mjg")
_HEADER = re.compile(r"# ?([A-Z][A-Z ]*?)(?: ([0-9]{1,9}))? ?:(.*)")
_COUNT = re.compile(r"[0-9]{1,15}")
_NUMBERED = "ALTERNATIVE NAME"
_NEEDED = {
    "orders": ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS"),
    "edges": ("NUMBER ALTERNATIVES", "NUMBER EDGES"),
}
# as PrefLib writes them: 01 is no number, and a blank inside of one makes it two
_ONE = "(?:0|[1-9][0-9]*)"
_TIED = rf"(?:{_ONE}|\{{{_ONE}(?:,{_ONE})*\}})"
_ORDER = re.compile(rf"{_TIED}(?:,{_TIED})*")
_BLANKS = re.compile(r"\s*([,:{}])\s*")

Order = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PrefLib:
    """What a file of PrefLib holds.

    Parameters
    ----------
    kind : {"soc", "toc", "soi", "toi", "wmd"}
    names : tuple of str
        Of the alternatives, by number; from the file, and so data.
    orders : tuple of tuple of tuple of int
        Different orders: best first, what is tied together, alternatives from 0.
    counts : ndarray of int, shape (orders,)
        How many ballots each is.
    """

    kind: str
    names: tuple[str, ...]
    orders: tuple[Order, ...]
    counts: NDArray[np.int64]

    @property
    def said(self) -> str:
        """Format in words."""
        return f"PrefLib .{self.kind}: {KINDS[self.kind]}"


def is_preflib(path: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a file of PrefLib.

    Examples
    --------
    >>> is_preflib("city.toc"), is_preflib("city.csv")
    (True, False)
    """
    return _suffix(path) in (*KINDS, *OTHER)


def read_alternatives(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Names of the alternatives that a file of PrefLib lists. They are in the file: to use them makes them public.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        As `read_preflib`.

    Examples
    --------
    >>> import dprank
    >>> read_alternatives(dprank.example("city.toc"))
    ('roads', 'schools', 'parks', 'debt')
    """
    return read_preflib(path).names


def read_preflib(path: str | os.PathLike[str]) -> PrefLib:
    """Orders of a file of PrefLib, and how many ballots each is.

    Parameters
    ----------
    path : path
        Its last letters say which of `KINDS` it is, and its header must agree. Of a .wmd file each alternative is a
        voter, who puts the others by the weights given to them: the heaviest first, equal ones tied.

    Raises
    ------
    ValueError
        Naming the file, the line and the field: what breaks the format is a broken file, and no ballot. Or how to have
        preflibtools.
    OSError
        Where the file cannot be read.

    Notes
    -----
    O(bytes). A file of PrefLib counts ballots and knows no voters: a mechanism protects one ballot.

    Examples
    --------
    >>> import dprank
    >>> file = read_preflib(dprank.example("city.toc"))
    >>> file.said, int(file.counts.sum())
    ('PrefLib .toc: orders of all alternatives, with ties', 250)
    """
    path = require_path(path)
    kind, name = _suffix(path), str(path)
    if kind not in KINDS:
        raise ValueError(f"{name}: no PrefLib file of orders; .{', .'.join(KINDS)} are")
    # preflibtools first: who lacks it should not mend a file before hearing of it
    tools = require_extra("preflibtools.instances", "preflib", f"{name}: PrefLib")
    text, _ = decoded(path)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    refuse = _refuser(name)
    fields, names, body = _header(lines, kind, refuse)
    plain = [line.strip() for line in lines if line.strip()]
    if kind == "wmd":
        edges = _edges(body, fields, len(names), refuse)
        _require_same(name, _parsed(tools.MatchingInstance(), kind, plain, "weights"), edges)
        orders = _by_weight(edges, len(names))
        return PrefLib(kind, names, orders, np.ones(len(orders), np.int64))
    counts = _orders(body, fields, len(names), kind, refuse)
    _require_same(name, _parsed(tools.OrdinalInstance(), kind, plain, "multiplicity"), counts)
    orders = tuple(tuple(tuple(it - 1 for it in tied) for tied in order) for order in counts)
    return PrefLib(kind, names, orders, np.array(list(counts.values()), np.int64))


def _suffix(path: Any) -> str:
    return Path(path).suffix.lower().removeprefix(".")


def _refuser(name: str) -> Callable[[int, str], ValueError]:
    def refuse(line: int, what: str) -> ValueError:
        return ValueError(f"{name}: line {line}: {what}" if line else f"{name}: {what}")

    return refuse


def _header(lines: list[str], kind: str, refuse: Any) -> tuple[dict[str, int], tuple[str, ...], dict[int, str]]:
    """Numbers of the header, names of alternatives, and the lines below it by their number."""
    fields: dict[str, int] = {}
    found: dict[int, str] = {}
    taken: set[str] = set()
    body: dict[int, str] = {}
    type_said = False
    needed = _NEEDED["edges" if kind == "wmd" else "orders"]
    for at, written in enumerate(lines, 1):
        line = written.strip()
        if not line.startswith("#"):
            if line:
                body[at] = line
            continue
        if body:
            raise refuse(at, "a line of the header stands among the ballots")
        parts = _HEADER.fullmatch(line)
        key, number, value = (parts[1], parts[2], parts[3].strip()) if parts else (line[1:].strip(), None, "")
        if key.startswith(_NUMBERED):
            if parts is None or key != _NUMBERED or number is None or not value:
                raise refuse(at, f"{_NUMBERED}: a number and a name are needed")
            if int(number) in found:
                raise refuse(at, f"{_NUMBERED}: its number is there twice")
            if value in taken:
                raise refuse(at, f"{_NUMBERED}: another alternative has this name")
            taken.add(value)
            found[int(number)] = value
        elif key.startswith("NUMBER "):
            field = next((it for it in needed if key.startswith(it)), None)
            if field is None:
                continue
            if key != field or number is not None or not _COUNT.fullmatch(value):
                raise refuse(at, f"{field}: a whole number is needed")
            if field in fields:
                raise refuse(at, f"{field} is there twice")
            fields[field] = int(value)
        elif key.startswith("DATA TYPE"):
            if value != kind:
                raise refuse(at, f"DATA TYPE is not that of the file's name, {kind}")
            if type_said:
                raise refuse(at, "DATA TYPE is there twice")
            type_said = True
    if not fields and not found and not type_said:
        lines_like = "lines such as '# ALTERNATIVE NAME 1: Ann' are needed"
        raise refuse(0, f"no header of PrefLib (files of before 2022 have none); {lines_like}")
    if not type_said:
        raise refuse(0, "DATA TYPE is missing in the header")
    if missing := [it for it in needed if it not in fields]:
        raise refuse(0, f"{missing[0]} is missing in the header")
    number = fields["NUMBER ALTERNATIVES"]
    if number < 2:
        raise refuse(0, "NUMBER ALTERNATIVES: at least 2 are needed")
    if len(found) != number or set(found) != set(range(1, len(found) + 1)):
        raise refuse(0, f"{_NUMBERED}: one for every number from 1 to NUMBER ALTERNATIVES is needed")
    return fields, tuple(found[it] for it in range(1, number + 1)), body


def _orders(body: dict[int, str], fields: dict[str, int], m: int, kind: str, refuse: Any) -> dict[Order, int]:
    """Every order and its count, as written."""
    found: dict[Order, int] = {}
    for at, line in body.items():
        count, sign, written = _BLANKS.sub(r"\1", line).partition(":")
        if not sign or not re.fullmatch(r"[1-9][0-9]{0,14}", count):
            raise refuse(at, "count: a whole number of at least 1 is needed, then a colon")
        if not _ORDER.fullmatch(written):
            raise refuse(at, "order: numbers with commas between are needed, in braces where tied")
        groups = re.findall(r"\{[^}]*\}|[0-9]+", written)
        if any(len(digits) > 9 for digits in re.findall(r"[0-9]+", written)):
            raise refuse(at, "order: an alternative is none of the header's")
        order = tuple(tuple(int(it) for it in group.strip("{}").split(",")) for group in groups)
        flat = [it for tied in order for it in tied]
        if not all(1 <= it <= m for it in flat):
            raise refuse(at, "order: an alternative is none of the header's")
        if len(set(flat)) != len(flat):
            raise refuse(at, "order: an alternative is there twice")
        if kind in ("soc", "soi") and len(order) != len(flat):
            raise refuse(at, f"order: alternatives are tied, which a .{kind} file does not have")
        if kind in ("soc", "toc") and len(flat) != m:
            raise refuse(at, f"order: an alternative is missing, which a .{kind} file does not have")
        if order in found:
            raise refuse(at, "order: it is there twice")
        found[order] = int(count)
    if len(found) != fields["NUMBER UNIQUE ORDERS"]:
        raise refuse(0, "NUMBER UNIQUE ORDERS is not how many lines of orders there are")
    if (total := sum(found.values())) != fields["NUMBER VOTERS"]:
        raise refuse(0, "NUMBER VOTERS is not the sum of the counts")
    if total * m > MOST_AT_ONCE:
        raise refuse(0, f"NUMBER VOTERS: more ballots than {MOST_AT_ONCE:,} places have room for")
    return found


def _edges(body: dict[int, str], fields: dict[str, int], m: int, refuse: Any) -> dict[tuple[int, int], float]:
    """Every edge and its weight, as written."""
    found: dict[tuple[int, int], float] = {}
    for at, line in body.items():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) != 3:
            raise refuse(at, "edge: two alternatives and a weight are needed, with commas between")
        if not all(re.fullmatch(r"[0-9]{1,9}", part) and 1 <= int(part) <= m for part in parts[:2]):
            raise refuse(at, "edge: an alternative is none of the header's")
        if not re.fullmatch(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", parts[2]) or (weight := _float(parts[2])) is None:
            raise refuse(at, "weight: a finite number is needed")
        if (edge := (int(parts[0]), int(parts[1]))) in found:
            raise refuse(at, "edge: it is there twice")
        found[edge] = weight
    if len(found) != fields["NUMBER EDGES"]:
        raise refuse(0, "NUMBER EDGES is not how many lines of edges there are")
    if m * m > MOST_AT_ONCE:
        raise refuse(0, f"NUMBER ALTERNATIVES: more ballots than {MOST_AT_ONCE:,} places have room for")
    return found


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _by_weight(edges: dict[tuple[int, int], float], m: int) -> tuple[Order, ...]:
    """Of every alternative its order of those to which it gives a weight."""
    given: list[dict[float, list[int]]] = [{} for _ in range(m)]
    for (source, target), weight in sorted(edges.items()):
        given[source - 1].setdefault(weight, []).append(target - 1)
    return tuple(tuple(tuple(tied) for _, tied in sorted(it.items(), reverse=True)) for it in given)


def _parsed(instance: Any, kind: str, lines: list[str], what: str) -> Any:
    """What preflibtools reads; None where it cannot, in words that quote the line."""
    instance.data_type = kind
    try:
        instance.parse_lines(lines)
        return dict(getattr(instance, what))
    except Exception:
        return None


def _require_same(name: str, read: Any, checked: Any) -> None:
    if read != checked:
        raise ValueError(f"{name}: preflibtools reads other ballots than are written; another version of it is needed")
