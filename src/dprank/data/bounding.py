"""Who a person is, and what of a person is kept where a mechanism bounds it: functions of that person's data alone."""

from __future__ import annotations

import hashlib
import math
import numbers
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

__all__ = ["disjoint", "kept", "nameless", "person_ids", "shard_of"]

#: Besides formats and controls, characters that show nothing: Unicode's default ignorable ones, and Braille's blank.
_UNSEEN = frozenset(
    chr(code)
    for codes in (
        (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xFFF0, 0xFFF9),
        range(0xE0000, 0xE1000),
    )
    for code in codes
)
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
#: A number in decimals: what stands before the point, and behind it up to the last digit that is not 0.
_DECIMALS = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.(?=[0-9])([0-9]*[1-9])?0*)?")
#: A day, or a moment, as ISO 8601 and most programs write it.
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[t ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.(?P<part>[0-9]+))?"
    r"(?P<zone> ?z| ?[+-][0-9]{2}(?::?[0-9]{2})?)?|(?P<midnight>\+00:00))?"
)
#: From here on not every whole number is a double, so that one person's label could be that of others.
_RUN_TOGETHER = 2.0**53


def person_ids(name: str, labels: Any, rows: Any = None) -> NDArray[np.int64]:
    """A number for every label, the same in every table: "Ann" and "ann ", 1, "1" and "1.0" are one person.

    Labels are compared as text, each by itself: what type its column has, and what else is in it, changes no number.
    Without blanks around them, with single blanks inside, in one case, without characters that cannot be seen, and with
    letters that look alike written alike (Unicode's NFKC). A number is written in decimals without zeros at the end, a
    float as the value that it has; a day and a moment as ISO 8601 has them, without a time at midnight, and of a time
    zone in Greenwich. To take one person for two would double what that one may do. Two people who are written alike
    are one to every guarantee: they contribute together what one may, and what one of them gives is protected as part
    of what is replaced. Where people come and go ("add_remove"), one of two such people who goes replaces what is
    counted of both, which costs twice the epsilon: give such people labels of their own.

    Parameters
    ----------
    name : str
        Of the column, for a message.
    labels : array_like, shape (rows,)
        Numbers, text, dates or UUIDs; none missing.
    rows : sequence of int, optional
        Where they stand in the whole table.

    Returns
    -------
    ndarray of int, shape (rows,)
        Whole numbers from 0 to 2^63 - 1 as they are; of other text 63 bits of its SHA-256, less 2^63: negative, so that
        nobody can choose a number that is that of a text.

    Raises
    ------
    ValueError
        Naming the first row whose label is missing, or is a float of at least 2^53: there whole numbers run together.

    Examples
    --------
    >>> ids = person_ids("name", ["Ann", "ann ", "bob", "7"])
    >>> bool(ids[0] == ids[1]), bool(ids[0] == ids[2]), int(ids[3])
    (True, False, 7)
    """
    import pandas as pd

    given = np.asarray(labels)
    if given.dtype.kind == "i" and not (given < 0).any():
        return given.astype(np.int64)
    if given.dtype.kind in "cSVm" or (given.dtype.kind == "f" and given.dtype.itemsize > 8):
        raise ValueError(f"{name} holds {given.dtype.type.__name__}; labels are numbers, text or dates")
    if given.dtype.kind == "f":
        given = given.astype(np.float64)
        beyond = np.abs(given) >= _RUN_TOGETHER
    elif given.dtype.kind == "O":
        beyond = np.array([isinstance(x, float | np.floating) and abs(x) >= _RUN_TOGETHER for x in given], bool)
        # what is equal need not be written alike, as True and 1: texts alone are compared
        given = np.array([label if type(label) is str else _text(name, label) for label in given], object)
    else:
        given = given.astype(given.dtype.newbyteorder("="), copy=False)
        beyond = np.zeros(len(given), bool)
    whole = given.view(np.int64) if given.dtype.kind == "M" else given  # of moments pandas knows only some
    codes, distinct = pd.factorize(whole)
    texts = [_text(name, label) for label in distinct.astype(given.dtype, copy=False)]
    missing = np.array([not text for text in texts] or [False])[codes] | (codes < 0)
    for wrong, said in (
        (missing, "is missing: every row needs its person"),
        (beyond, "is a float of 2^53 or more, where whole numbers run together; write whole numbers, or text"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(f"{name}[{at if rows is None else rows[at]}] {said}")
    return np.array([_number(text) for text in texts if text is not None], np.int64)[codes]


def nameless(labels: Any) -> NDArray[np.bool_]:
    """Which texts name nobody: nothing of them can be seen.

    Examples
    --------
    >>> nameless(["ann", "  ", "\u200b"]).tolist()
    [False, True, True]
    """
    return np.array([not _plain(label) for label in labels], bool)


def kept(group: Sequence[NDArray[Any]], what: Sequence[NDArray[Any]], most: int) -> NDArray[np.bool_]:
    """Which rows stay, if every group keeps at most so many: by a rule that sees the rows of that group only.

    Parameters
    ----------
    group : sequence of ndarray of int, shape (rows,)
        Whose rows they are, column by column: the person first.
    what : sequence of ndarray of int, shape (rows,)
        What the rows say, column by column; rows that say the same are interchangeable.
    most : int
        At least 1.

    Returns
    -------
    ndarray of bool, shape (rows,)
        The rows of a group that are least by a hash of the group and of the first column of what they say, among those
        the ones that are least by a hash of the second too, and so on: neither the order of the table nor anybody
        else's rows matter, and how many rows say what in the first column is not changed by what they say in others.

    Notes
    -----
    O(rows log rows).

    Examples
    --------
    >>> stays = kept([np.array([7, 7, 7, 8])], [np.array([0, 1, 2, 0])], 2)
    >>> int(stays[:3].sum()), bool(stays[3])
    (2, True)
    """
    columns = [np.asarray(column, np.int64) for column in (*group, *what)]
    rows, groups = len(columns[0]), len(group)
    key, order_by = np.zeros(rows, np.uint64), list[NDArray[Any]](columns[:groups])
    for at, column in enumerate(columns):
        key = _mixed(key ^ column.view(np.uint64))
        if at >= groups:
            # what is said comes last: should two hashes be equal
            order_by += [key, column]
    order = np.lexsort(order_by[::-1])
    ordered = np.array([column[order] for column in columns[:groups]])
    new = np.ones(rows, bool)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    stays = np.empty(rows, bool)
    stays[order] = np.arange(rows) - np.flatnonzero(new)[np.cumsum(new) - 1] < most
    return stays


def disjoint(
    person: NDArray[Any], ends: tuple[NDArray[Any], NDArray[Any]], what: Sequence[NDArray[Any]], most: int
) -> NDArray[np.bool_]:
    """Which rows stay, if every person keeps at most so many and no two of them share an end: by the rule of `kept`.

    Parameters
    ----------
    person : ndarray of int, shape (rows,)
    ends : two ndarrays of int, shape (rows,)
        What a row connects: from 0.
    what : sequence of ndarray of int, shape (rows,)
        As in `kept`; the first column says both ends.
    most : int
        At least 1.

    Returns
    -------
    ndarray of bool, shape (rows,)
        Of a person the first row that `kept` would keep; then the first of those that share no end with it, and so on.

    Notes
    -----
    O(rows log rows) for each row that a person may keep.

    Examples
    --------
    >>> low, high = np.array([0, 0, 2]), np.array([1, 2, 3])
    >>> stays = disjoint(np.array([7, 7, 7]), (low, high), [4 * low + high], 2)
    >>> stays.tolist() in ([True, False, True], [False, True, False])
    True
    """
    persons, who = np.unique(person, return_inverse=True)
    stays, rows = np.zeros(len(person), bool), np.arange(len(person))
    for _ in range(most):
        if not len(rows):
            break
        first = rows[kept([person[rows]], [column[rows] for column in what], 1)]
        stays[first] = True
        taken = np.full((2, len(persons)), -1)
        taken[:, who[first]] = [end[first] for end in ends]
        shared = np.any([end[rows] == used[who[rows]] for end in ends for used in taken], axis=0)
        rows = rows[~shared]
    return stays


def shard_of(persons: Any, shards: int) -> NDArray[np.int64]:
    """Which shard, from 0, each person is in: by a hash of the person's number, whoever else there is.

    Parameters
    ----------
    persons : array_like of int
        As of `person_ids`.
    shards : int
        At least 1.

    Examples
    --------
    >>> shard_of([7, 8, 9, 7], 4).tolist()
    [0, 0, 2, 0]
    """
    key = _mixed(np.asarray(persons, np.int64).view(np.uint64)) ^ np.uint64(2**64 - 1)
    return (_mixed(key) >> np.uint64(1)).astype(np.int64) % shards


def _text(name: str, label: Any) -> str | None:
    """Of one label; None where it is missing."""
    import pandas as pd

    if label is None or label is pd.NA or label is pd.NaT:
        return None
    if label.is_nan() if isinstance(label, Decimal) else isinstance(label, numbers.Real) and bool(label != label):
        return None
    known = isinstance(label, str | numbers.Real | Decimal | np.bool_ | date | UUID | np.datetime64)
    if not known or isinstance(label, np.timedelta64):  # numpy counts time spans among the integers
        raise ValueError(f"{name} holds a {type(label).__name__}; labels are numbers, text or dates")
    if isinstance(label, np.datetime64):
        return None if np.isnat(label) else _plain(_iso(label))
    return _plain(label)


def _iso(moment: np.datetime64) -> str:
    """In words that `_MOMENT` knows, whatever its unit."""
    unit = np.datetime_data(moment.dtype)[0]
    return str(moment.astype({"Y": "M8[D]", "M": "M8[D]", "W": "M8[D]", "h": "M8[s]"}.get(unit, moment.dtype)))


def _plain(label: Any) -> str:
    """What labels are compared by."""
    if isinstance(label, np.floating):
        label = float(label)
    if isinstance(label, numbers.Real | Decimal) and not isinstance(label, bool | np.bool_):
        with suppress(OverflowError, ValueError):  # infinity is no whole number, but a label
            whole = math.floor(label)
            label = whole if whole == label else label
        # Python writes no whole number of more than 4,300 digits in decimals
        if isinstance(label, int) and label.bit_length() > 14_000:
            return hex(label)
        if isinstance(label, Decimal) and label.adjusted() > -30:
            label = format(label, "f")
    elif isinstance(label, datetime):
        label = label.isoformat()
    text = str(label)
    seen = text if text.isascii() and text.isprintable() else "".join(filter(_shows, text))
    # what is composed may have one case more than its parts: once before, once after
    text = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).split())
    if number := _DECIMALS.fullmatch(text):
        whole, part = number.groups()
        return f"{whole}.{part}" if part else "0" if whole == "-0" else whole
    moment = _MOMENT.fullmatch(text)
    return _moment(**moment.groupdict()) if moment else text


def _moment(day: str, time: str | None, part: str | None, zone: str | None, midnight: str | None) -> str:
    """A day, and the time if it is not midnight; of a time zone in Greenwich."""
    time, part = (time or "00:00") + ("" if len(time or "") == 8 else ":00"), (part or "").rstrip("0")
    zone = (zone or "").strip() or midnight
    if zone is not None:
        with suppress(ValueError, OverflowError):  # no such moment, or none that Python counts to
            there = datetime.fromisoformat(f"{day}T{time}{zone.replace('z', '+00:00')}")
            day, time, zone = *there.astimezone(timezone.utc).isoformat()[:19].split("T"), "+00:00"
    time = f"{time}.{part}" if part else time
    return day + (f" {time}" if time != "00:00:00" else "") + (zone or "")


def _shows(letter: str) -> bool:
    """Whether a character can be seen, or is a blank between those that can."""
    hidden = unicodedata.category(letter) in ("Cf", "Cc") or letter in _UNSEEN
    return not hidden or letter.isspace()


def _number(text: str) -> int:
    if _WHOLE.fullmatch(text) and len(text) <= 19 and 0 <= int(text) < 2**63:
        return int(text)
    hashed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return hashed // 2 - 2**63


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood's (2014) splitmix64: every bit of the result depends on every bit of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
