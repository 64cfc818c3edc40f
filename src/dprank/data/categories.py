"""PrefLib's .cat: ballots that put alternatives into categories, as approved and not, the first category best."""

from __future__ import annotations

import os
import re

import numpy as np

from dprank._require import MOST_AT_ONCE, require_extra
from dprank.data.files import require_path
from dprank.data.packed import unpacked
from dprank.data.preflib import PrefLib, header_of, in_header, same_read
from dprank.data.sniffing import decoded

__all__ = ["read_categories"]

_ONE = "[1-9][0-9]{0,8}"
_PART = rf"(?:{_ONE}|\{{(?:{_ONE}(?:,{_ONE})*)?\}})"
_LINE = re.compile(rf"(0|[1-9][0-9]{{0,14}}):({_PART}(?:,{_PART})*)")


def read_categories(path: str | os.PathLike[str]) -> PrefLib:
    """Ballots of a .cat file: of each its categories, the best first, which may be empty.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        Naming the file, the line and the field of its header; or how to have preflibtools. For no line below.

    Notes
    -----
    O(bytes). A line that is no ballot of as many categories as the header says is left out.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/a.cat"
    >>> head = ["DATA TYPE: cat", "NUMBER ALTERNATIVES: 3", "NUMBER VOTERS: 5", "NUMBER UNIQUE PREFERENCES: 2"]
    >>> head += ["NUMBER CATEGORIES: 2", "CATEGORY NAME 1: Yes", "CATEGORY NAME 2: No"]
    >>> head += [f"ALTERNATIVE NAME {at}: {name}" for at, name in enumerate(["oak", "elm", "fir"], 1)]
    >>> with open(path, "w") as file:
    ...     _ = file.write("".join(f"# {it}\\n" for it in head) + "4: {1,3},2\\n1: {},{1,2,3}\\n")
    >>> found = read_categories(path)
    >>> found.orders, found.counts.tolist()
    ((((0, 2), (1,)), ((), (0, 1, 2))), [4, 1])
    """
    path = require_path(path)
    name = str(path)
    tools = require_extra("preflibtools.instances", "preflib", f"{name}: PrefLib")
    lines = decoded(name, unpacked(path), in_header).text.split("\n")
    fields, names, body = header_of(name, lines, "cat")
    m, voters, categories = len(names), fields["NUMBER VOTERS"], fields["NUMBER CATEGORIES"]
    if voters * m > MOST_AT_ONCE:
        raise ValueError(f"{name}: NUMBER VOTERS: more ballots than {MOST_AT_ONCE:,} places have room for")
    found, others, given, left = dict[tuple[tuple[int, ...], ...], int](), [], 0, voters
    for line in body:
        parts = _LINE.fullmatch(re.sub(r"\s+", "", line))
        ballot = None if parts is None else _ballot(parts[2], m, categories)
        if parts is None or ballot is None:
            others.append(line)
        else:
            if (count := min(int(parts[1]), left)) > 0:
                found[ballot] = found.get(ballot, 0) + count
            given, left = given + int(parts[1]), left - count
    head = [line.strip() for line in lines if line.strip()][: -len(body) or None]
    plain = [f"{count}: {_written(ballot)}" for ballot, count in found.items()]
    same_read(name, tools.CategoricalInstance(), "cat", [*head, *plain], "multiplicity", found)
    orders = tuple(tuple(tuple(it - 1 for it in part) for part in ballot) for ballot in found)
    counts = np.array(list(found.values()), np.int64)
    return PrefLib("cat", names, orders, counts, voters, tuple(others), max(0, given - voters))


def _ballot(written: str, m: int, categories: int) -> tuple[tuple[int, ...], ...] | None:
    parts = re.findall(r"\{[^}]*\}|[0-9]+", written)
    ballot = tuple(tuple(int(it) for it in part.strip("{}").split(",") if it) for part in parts)
    flat = [it for part in ballot for it in part]
    fits = len(ballot) == categories and max(flat, default=0) <= m and len({*flat}) == len(flat)
    return ballot if fits else None


def _written(ballot: tuple[tuple[int, ...], ...]) -> str:
    return ",".join(str(*part) if len(part) == 1 else "{" + ",".join(map(str, part)) + "}" for part in ballot)
