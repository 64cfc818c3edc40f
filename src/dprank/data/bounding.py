"""Who a person is, and what of a person is kept where a mechanism bounds it: functions of that person's data alone."""

from __future__ import annotations

import hashlib
import math
import numbers
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dprank.data.texts import MOST_CELLS, factorized

__all__ = ["RUN_TOGETHER", "disjoint", "kept", "nameless", "person_ids", "shard_of"]

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
_TRUTH = {"true": "1", "false": "0"}
_WHOLE = re.compile(r"0|[1-9][0-9]{,18}")
#: A number in decimals; or a small one by a power of ten, with one digit before the point, as programs write floats.
_NUMBER = re.compile(
    r"(-?)(?:(0|[1-9][0-9]*)(?:\.([0-9]+))?|([1-9])(?:\.([0-9]+))?e-(0{,2}[4-9]|0?[1-9][0-9]|[1-9][0-9]{2}))"
)
#: A day, or a moment, as ISO 8601 and most programs write it, in small letters.
_MOMENT = re.compile(
    r"((?:-[0-9]{3,}|[0-9]{4,})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))"
    r"(?:[t ]((?:[01][0-9]|2[0-3]):[0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?"
    r"(?: ?(z|utc|[+-][0-9]{2}(?::?[0-9]{2}){,2}))?|(\+00:00))?"
)
#: Of whole numbers in decimals; longer ones are in hexadecimal digits, or by a power of ten.
_MOST_DIGITS = 20_000
#: From here on not every whole number is a float, so that one float may be the labels of several people.
RUN_TOGETHER = 2.0**53


def person_ids(name: str, labels: Any, rows: Any = None) -> NDArray[np.int64]:
    """A number for every label, the same in every table: "Ann" and "ann ", 1, "1" and "1.0" are one person.

    Labels are compared as text, each by itself: what type its column has, and what else is in it, changes no number.
    Text is without blanks around it, with single blanks inside, in one case, without characters that cannot be seen,
    and with letters that look alike written alike (Unicode's NFKC). A number is in decimals, without zeros at the end
    of those; a float, of however many bits, is the value that it has. A day or a moment is as ISO 8601 has it, without
    a time at midnight; with a time zone it is in Greenwich. Truth values are 1 and 0, of which many programs make them.

    To take one person for two would double what that one may do. Two people who are written alike are one to every
    guarantee: they contribute together what one may, and what one of them gives is protected as part of what is
    replaced. Where people come and go ("add_remove"), one of two such people who goes replaces what is counted of both,
    which costs twice the epsilon: give such people labels of their own; 12.1 and 12.10 are none.

    Parameters
    ----------
    name : str
        Of the column, for a message.
    labels : array_like, shape (rows,)
        Numbers, text, dates, truth values or UUIDs; none missing. Of a list each label is taken as it is. What another
        program made of labels before, as floats of whole numbers, nobody can undo.
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
        Naming the first row whose label is missing, or is a float of 2^53 or more: there whole numbers run together, so
        that one float among them would rename others. Of files such rows are nobody's (`dprank.Declaration`).

    Examples
    --------
    >>> ids = person_ids("name", ["Ann", "ann ", "bob", "7"])
    >>> bool(ids[0] == ids[1]), bool(ids[0] == ids[2]), int(ids[3])
    (True, False, 7)
    """
    given = _column(labels)
    kind = given.dtype.kind
    if kind in "cSVm" or (kind == "f" and given.dtype.itemsize > 8):
        raise ValueError(f"{name} holds {given.dtype.type.__name__}; labels are numbers, text or dates")
    if kind == "b":
        return given.astype(np.int64)
    given = given.astype(np.float64, copy=False) if kind == "f" else given
    others = np.zeros(0, int)
    if kind in "iuf":
        itself = given >= 0
        if kind == "u":
            itself &= given < 2**63
        elif kind == "f":
            itself &= (given < RUN_TOGETHER) & (np.floor(given) == given)
        if itself.all():
            return given.astype(np.int64)
        others = np.flatnonzero(~itself)
        given, whole = given[others], np.where(itself, given, 0).astype(np.int64)
    zone = "+00:00" if _zoned(labels) else ""
    codes, texts = _texts(name, given, zone)
    for wrong, said in (
        ("", "is missing: every row needs its person"),
        (None, "is a float of 2^53 or more, where whole numbers run together; whole numbers or text are needed"),
    ):
        found = np.array([text == wrong for text in texts], bool)[codes]
        if found.any():
            at = int(np.argmax(found))
            at = int(others[at]) if len(others) else at
            raise ValueError(f"{name}[{at if rows is None else rows[at]}] {said}")
    ids = np.array([_number(text) for text in texts if text is not None], np.int64)[codes]
    if len(others):
        whole[others] = ids
        return whole
    return ids


def nameless(labels: Any) -> NDArray[np.bool_]:
    """Which texts name nobody: nothing of them can be seen.

    Examples
    --------
    >>> nameless(["ann", "  ", "\u200b"]).tolist()
    [False, True, True]
    """
    return np.array([not _plain(str(label)) for label in labels], bool)


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


def _column(labels: Any) -> NDArray[Any]:
    """Labels as an array: of a list numpy would make labels of one type, so that 1 and True are one."""
    if _zoned(labels):
        return np.asarray(labels, f"M8[{labels.dtype.unit}]")
    if not isinstance(labels, list | tuple):
        given = np.asarray(labels)
        if given.dtype.kind in "UT":
            return given.astype(object)
        return given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))
    if len(labels) and type(labels[0]) in (int, float):
        with suppress(OverflowError, ValueError):
            given = np.array(labels)
            # numpy makes whole numbers of nothing but whole numbers and truth values, but floats of both and floats
            if given.dtype.kind == "i" or (given.dtype.kind == "f" and set(map(type, labels)) == {float}):
                return given
    return np.fromiter(labels, object, len(labels))


def _zoned(labels: Any) -> bool:
    """Whether a column of pandas holds moments of a time zone, of which numpy makes those in Greenwich."""
    return getattr(getattr(labels, "dtype", None), "tz", None) is not None


def _texts(name: str, given: NDArray[Any], zone: str) -> tuple[NDArray[np.int64], list[str | None]]:
    """Which text every label is, and the texts: empty where it is missing, None of a float that may be several."""
    if given.dtype.kind == "O" and len(given) <= MOST_CELLS and set(map(type, given)) <= {str}:
        codes, names = factorized(given)
        return codes, [_plain(text) for text in names]
    import pandas as pd

    if given.dtype.kind == "M":  # of whose units pandas knows few
        codes, whole = pd.factorize(given.view(np.int64))
        unit = np.datetime_data(given.dtype)[0]
        moments = [_iso(text, unit) for text in np.datetime_as_string(whole.view(given.dtype)).tolist()]
        return codes, [it and it + zone for it in moments]
    if given.dtype.kind == "O":
        # what is equal need not be written alike, as True and 1: texts alone are compared
        given = np.array([label if type(label) is str else _text(name, label) for label in given], object)
        codes, distinct = pd.factorize(given, use_na_sentinel=False)
        return codes, [_plain(text) if isinstance(text, str) else None for text in distinct]
    codes, distinct = pd.factorize(given, use_na_sentinel=False)
    texts = [_text(name, label) for label in distinct.tolist()]
    # numbers are plain, but for powers of ten
    return codes, [_plain(text) if text and "e" in text else text for text in texts]


def _text(name: str, label: Any) -> str | None:
    """Of one label that is no text; as of `_texts`."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # of pandas
        return ""
    if isinstance(label, float | np.float32 | np.float16):
        label = float(label)
        if label != label:
            return ""
        if label.is_integer():
            return str(int(label)) if abs(label) < RUN_TOGETHER else None
        return repr(label)
    if isinstance(label, str | UUID | bool | np.bool_):
        return str(label)
    if isinstance(label, date):
        return label.isoformat()
    if isinstance(label, np.datetime64):
        return _iso(str(label), np.datetime_data(label.dtype)[0])
    # numpy counts time spans among the integers
    if not isinstance(label, numbers.Real | Decimal) or isinstance(label, np.timedelta64 | np.floating):
        raise ValueError(f"{name} holds a {type(label).__name__}; labels are numbers, text or dates")
    if label.is_nan() if isinstance(label, Decimal) else bool(label != label):
        return ""
    if isinstance(label, Decimal) and label.is_finite() and label.adjusted() > _MOST_DIGITS:
        return str(label)
    with suppress(OverflowError, ValueError):  # infinity is no whole number, but a label
        whole: Any = math.floor(label)
        if whole == label:
            # Python writes no whole number of more than 4,300 digits in decimals
            return hex(whole) if whole.bit_length() > 14_000 else str(whole)
    return str(label)


def _iso(moment: str, unit: str) -> str:
    """What `_plain` makes of a moment, of what numpy writes in any unit."""
    if moment == "NaT":
        return ""
    day, _, time = (moment + {"Y": "-01-01", "M": "-01", "h": ":00"}.get(unit, "")).partition("T")
    if not time.strip("0:."):
        return day
    time = time.rstrip("0").rstrip(".") if "." in time else time
    return f"{day} {time}:00" if len(time) == 5 else f"{day} {time}"


def _plain(text: str) -> str:
    """What labels are compared by, of a text."""
    if text.isascii() and text.isprintable():
        text = " ".join(text.lower().split())
    else:
        # what is composed may have one case more than its parts: once before, once after
        seen = unicodedata.normalize("NFKC", "".join(filter(_shows, text)))
        text = " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())
    if text[:1] not in "-0123456789":
        return _TRUTH.get(text, text)
    if text.isdecimal():
        return text
    if ":" in text:
        if len(text) == 19 and text[10] == " " and text[16] == ":" and text[11:] != "00:00:00":
            return text  # as most programs write a moment
        moment = _MOMENT.fullmatch(text)
        return _moment(*moment.groups("")) if moment else text
    number = _NUMBER.fullmatch(text)
    return _decimals(*number.groups("")) if number else text


def _decimals(sign: str, whole: str, part: str, digit: str, behind: str, power: str) -> str:
    """Of a number, without zeros at its end."""
    if digit:
        whole, part = "0", "0" * (int(power) - 1) + digit + behind
    part = part.rstrip("0")
    return f"{sign}{whole}.{part}" if part else "0" if whole == "0" else sign + whole


def _moment(day: str, minute: str, second: str, part: str, zone: str, greenwich: str) -> str:
    """Of a day, and of the time if it is not midnight; in Greenwich, if there is a time zone."""
    time, part, zone = f"{minute or '00:00'}:{second or '00'}", part.rstrip("0"), zone or greenwich
    if zone not in ("", "z", "utc", "+00:00"):
        day, time = _in_greenwich(day, time, zone)
    text = day if time == "00:00:00" and not part else f"{day} {time}"
    return text + (f".{part}" if part else "") + ("+00:00" if zone else "")


def _in_greenwich(day: str, time: str, zone: str) -> tuple[str, str]:
    """As it is, if there is no such day."""
    with suppress(ValueError, OverflowError):
        there = datetime.fromisoformat(f"{day} {time}{zone}").astimezone(UTC).isoformat(" ")
        return there[:10], there[11:19]
    with suppress(ValueError):  # of years, and of zones, that Python has not
        hours, minutes, seconds = (int(f"{zone[1:].replace(':', '')}0000"[at : at + 2]) for at in (0, 2, 4))
        ahead = np.timedelta64(3600 * hours + 60 * minutes + seconds, "s")
        here = np.datetime64(f"{day}T{time}")
        day, _, time = str(here + ahead if zone[0] == "-" else here - ahead).partition("T")
    return day, time


def _shows(letter: str) -> bool:
    """Whether a character can be seen, or is a blank between those that can."""
    hidden = unicodedata.category(letter) in ("Cf", "Cc") or letter in _UNSEEN
    return not hidden or letter.isspace()


def _number(text: str) -> int:
    if _WHOLE.fullmatch(text) and int(text) < 2**63:
        return int(text)
    hashed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return hashed // 2 - 2**63


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood's (2014) splitmix64: every bit of the result depends on every bit of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
