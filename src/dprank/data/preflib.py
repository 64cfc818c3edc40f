"""Files of PrefLib: every line is held against the format, then preflibtools reads them (extra `preflib`).

preflibtools takes what it can of a line and leaves the rest: of `2: 1,x,3` the order 1 > 3, of an order that is there
twice the last count. So the grammar is checked here first, preflibtools is handed what was checked, and what it read is
compared with that.

Only the header refuses a file: that there is none, that it is no text, a number or name in it that is none, missing or
there twice, a data type that is not the file's, numbers beyond a machine's memory. A line below that is no order of the
format, or no edge, is left out; and how many ballots there are is what the header says, whatever the lines say.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE, require_extra
from dprank.data.files import require_path
from dprank.data.packed import unpacked
from dprank.data.sniffing import decoded

__all__ = ["KINDS", "PrefLib", "header_of", "in_header", "is_preflib", "read_alternatives", "read_preflib", "same_read"]

#: Of the files that hold orders: what a line of each is.
KINDS = {
    "soc": "strict orders of all alternatives",
    "toc": "orders of all alternatives, with ties",
    "soi": "strict orders of some alternatives",
    "toi": "orders of some alternatives, with ties",
    "wmd": "weights that each alternative gives to others",
    "cat": "approvals, or other categories of alternatives, the first the best",
}
#: Others of PrefLib, which hold no orders.
OTHER = ("dat", "pwg", "tog", "wmg", "mjg")
_HEADER = re.compile(r"# ?([A-Z][A-Z ]*?)(?: ([0-9]{1,9}))? ?:(.*)")
_COUNT = re.compile(r"[0-9]{1,15}")
_NUMBERED = "ALTERNATIVE NAME"
_NEEDED = {
    "orders": ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS"),
    "wmd": ("NUMBER ALTERNATIVES", "NUMBER EDGES"),
    "cat": ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE PREFERENCES", "NUMBER CATEGORIES"),
}
# as PrefLib writes them: 01 is no number, and a blank inside of one makes it two
_ONE = "[1-9][0-9]{0,8}+"
_TIED = rf"(?:{_ONE}|\{{{_ONE}(?:,{_ONE})*+\}})"
_ORDER = re.compile(rf"(0|[1-9][0-9]{{0,14}}):({_TIED}(?:,{_TIED})*+)")
_BLANKS = re.compile(r"(?<!\s)\s++(?=[,:{}])|(?<=[,:{}])\s++")
_WEIGHT = re.compile(r"[+-]?[0-9.]++(?:[eE][+-]?[0-9]++)?")

Order = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PrefLib:
    """What a file of PrefLib holds.

    Parameters
    ----------
    kind : {"soc", "toc", "soi", "toi", "wmd", "cat"}
    names : tuple of str
        Of the alternatives, by number; from the file, and so data.
    orders : tuple of tuple of tuple of int
        Different orders: best first, what is tied together, alternatives from 0.
    counts : ndarray of int, shape (orders,)
        How many ballots each is.
    voters : int
        How many ballots there are by the header; those that `counts` lack are on no line that is an order.
    others : tuple of str
        Lines that are no order, or no edge.
    beyond : int
        How many ballots of the lines are left out so that there are `voters`.
    """

    kind: str
    names: tuple[str, ...]
    orders: tuple[Order, ...]
    counts: NDArray[np.int64]
    voters: int
    others: tuple[str, ...] = ()
    beyond: int = 0

    #: None has withdrawn, and the file lists all.
    withdrawn: tuple[str, ...] = ()
    listed: bool = True
    hint: str = ""

    @property
    def absent(self) -> int:
        """How many ballots the header counts and no line holds."""
        return self.voters - int(self.counts.sum())

    @property
    def said(self) -> str:
        """Format in words."""
        more = f"; {self.beyond} more ballots than its header says are left out" if self.beyond else ""
        return f"PrefLib .{self.kind}: {KINDS[self.kind]}{more}"


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
        Naming the file, the line and the field of its header; or how to have preflibtools. For no line below.
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
    if kind == "cat":
        from dprank.data.categories import read_categories

        return read_categories(path)
    # preflibtools first: who lacks it should not mend a file before hearing of it
    tools = require_extra("preflibtools.instances", "preflib", f"{name}: PrefLib")
    lines = decoded(name, unpacked(path), in_header).text.split("\n")
    refuse = _refuser(name)
    fields, names, body = header_of(name, lines, kind)
    head, m = [line.strip() for line in lines if line.strip()][: -len(body) or None], len(names)
    if kind == "wmd":
        if m * m > MOST_AT_ONCE:
            raise refuse(0, f"NUMBER ALTERNATIVES: more ballots than {MOST_AT_ONCE:,} places have room for")
        edges, others = _edges(body, m)
        plain = [f"{source},{target},{weight!r}" for (source, target), weight in edges.items()]
        same_read(name, tools.MatchingInstance(), kind, [*head, *plain], "weights", edges)
        given = _by_weight(edges, m)
        return PrefLib(kind, names, given, np.ones(m, np.int64), m, others)
    voters = fields["NUMBER VOTERS"]
    if voters * m > MOST_AT_ONCE:
        raise refuse(0, f"NUMBER VOTERS: more ballots than {MOST_AT_ONCE:,} places have room for")
    counts, others, beyond = _orders(body, voters, m, kind)
    plain = [f"{count}: {_written(order)}" for order, count in counts.items()]
    same_read(name, tools.OrdinalInstance(), kind, [*head, *plain], "multiplicity", counts)
    orders = tuple(tuple(tuple(it - 1 for it in tied) for tied in order) for order in counts)
    return PrefLib(kind, names, orders, np.array(list(counts.values()), np.int64), voters, others, beyond)


def in_header(above: str) -> bool:
    """Whether what comes behind these lines, the last of them begun, is of the header: all begin with a #, so far."""
    *whole, begun = above.split("\n")
    return begun.lstrip().startswith("#") and all(line.lstrip()[:1] in ("#", "") for line in whole)


def _suffix(path: Any) -> str:
    name = Path(path)
    name = name.with_suffix("") if name.suffix.lower() in (".gz", ".zst") else name
    return name.suffix.lower().removeprefix(".")


def _refuser(name: str) -> Callable[[int, str], ValueError]:
    def refuse(line: int, what: str) -> ValueError:
        return ValueError(f"{name}: line {line}: {what}" if line else f"{name}: {what}")

    return refuse


def header_of(name: str, lines: list[str], kind: str) -> tuple[dict[str, int], tuple[str, ...], list[str]]:
    """Numbers of the header of a file of this kind, names of alternatives, and the lines below it.

    Raises
    ------
    ValueError
        Naming the file, the line and the field.
    """
    refuse = _refuser(name)
    fields: dict[str, int] = {}
    found: dict[int, str] = {}
    taken: set[str] = set()
    body: list[str] = []
    type_said = False
    needed = _NEEDED.get(kind, _NEEDED["orders"])
    for at, written in enumerate(lines, 1):
        line = written.strip()
        if body or not line.startswith("#"):
            body += [line] * bool(line)
            continue
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
        orders = ", and orders as '3: 1,2'" * (kind != "wmd")
        like = ", ".join(
            f"'# {it}'" for it in (f"DATA TYPE: {kind}", *(f"{it}: 2" for it in needed), f"{_NUMBERED} 1: Ann")
        )
        raise refuse(0, f"no header of PrefLib (files of before 2022 have none); {like}{orders} are needed")
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


def _orders(body: Iterable[str], voters: int, m: int, kind: str) -> tuple[dict[Order, int], tuple[str, ...], int]:
    """Every order and its count, of so many ballots at most; the lines that are none; how many ballots there are more.

    Ballots are taken as if they came one by one: another one in the place of one moves one of those that are taken.
    """
    found: dict[Order, int] = {}
    others, left, given = [], voters, 0
    for line in body:
        parts = _ORDER.fullmatch(_BLANKS.sub("", line))
        order = None if parts is None else _order(parts[2], m, kind)
        if parts is None or order is None:
            others.append(line)
        else:
            if (count := min(int(parts[1]), left)) > 0:
                found[order] = found.get(order, 0) + count
            given, left = given + int(parts[1]), left - count
    return found, tuple(others), max(0, given - voters)


def _order(written: str, m: int, kind: str) -> Order | None:
    """An order as written; None where a file of this kind has none such."""
    groups = re.findall(r"\{[^}]*\}|[0-9]+", written)
    order = tuple(tuple(int(it) for it in group.strip("{}").split(",")) for group in groups)
    flat = [it for tied in order for it in tied]
    fits = max(flat) <= m and len(set(flat)) == len(flat)
    fits &= kind not in ("soc", "soi") or len(order) == len(flat)
    fits &= kind not in ("soc", "toc") or len(flat) == m
    return order if fits else None


def _written(order: Order) -> str:
    return ",".join(str(*tied) if len(tied) == 1 else "{" + ",".join(map(str, tied)) + "}" for tied in order)


def _edges(body: Iterable[str], m: int) -> tuple[dict[tuple[int, int], float], tuple[str, ...]]:
    """Every edge and its weight, that of the first line that has it; and the lines that are none."""
    found: dict[tuple[int, int], float] = {}
    others = []
    for line in body:
        parts = [part.strip() for part in line.split(",")]
        ends = [int(part) for part in parts[:2] if re.fullmatch(r"[0-9]{1,9}", part) and 1 <= int(part) <= m]
        weight = _float(parts[2]) if len(parts) == 3 and _WEIGHT.fullmatch(parts[2]) else None
        if len(ends) < 2 or weight is None or (ends[0], ends[1]) in found:
            others.append(line)
        else:
            found[ends[0], ends[1]] = weight
    return found, tuple(others)


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


def same_read(name: str, instance: Any, kind: str, lines: list[str], what: str, checked: dict[Any, Any]) -> None:
    """Refuse a preflibtools that reads otherwise; what holds nothing it refuses to read."""
    if checked and _parsed(instance, kind, lines, what) != checked:
        raise ValueError(f"{name}: preflibtools reads other ballots than are written; another version of it is needed")
