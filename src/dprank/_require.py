"""What the package refuses, each in one line that names the field, its position and what is allowed.

Numbers are handed back as Python's: small integers and floats of numpy overflow, or are no fractions. What is no double
(a long double, a fraction, a decimal) is rounded down: no budget grows. Where less would promise more, `up` rounds it
up.

**No message tells of a person.** Messages go to logs, and logs are not private. A parameter's value is said if it is
a number or a word, by `shown`. Of data only the field and the position are: never a cell, a label, who it was, an entry
of an index, a count of rows or voters, a statistic, or a column that was not asked for, but for the one that is written
most like one that was. Positions start from 0; row 0 is the first below a header. What numpy, pandas and Arrow say may
quote a cell, and is replaced ``from None``.
"""

from __future__ import annotations

import difflib
import importlib
import json
import math
import numbers
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Most persons, items or answers: all numbers up to it are floats.
MOST = 1 << 53

#: Largest count that whole noise is added to: twice that is exact as a float, and the sum is within 64 bits.
WIDEST_COUNT = 2.0**51

#: Most numbers that are held in memory at once where a single parameter says how many.
MOST_AT_ONCE = 10**8

#: Most null statistics that are simulated.
MOST_DRAWS = 10**7


class WrongType(TypeError, ValueError):
    """A value of another type than is needed: a TypeError, and as all that is refused a ValueError.

    Examples
    --------
    >>> require_whole("k", "3", 1)
    Traceback (most recent call last):
        ...
    dprank._require.WrongType: k = '3'; an integer of at least 1 is needed
    """


def is_table(value: Any) -> bool:
    """Whether it is a table of pandas, polars or pyarrow, none of which is imported for that.

    Examples
    --------
    >>> import pandas as pd
    >>> is_table(pd.DataFrame()), is_table([[1, 2]])
    (True, False)
    """
    kind = type(value)
    home = str(getattr(kind, "__module__", "")).partition(".")[0]
    named = kind.__name__ in ("DataFrame", "LazyFrame", "Table", "RecordBatch")
    return home in ("pandas", "polars", "pyarrow") and named


def is_release(value: Any) -> bool:
    """Whether it is a release, which no room of data knows."""
    return _descends(value, "dprank.release", "Release")


def is_data(value: Any) -> bool:
    """Whether it is what people gave, checked."""
    return _descends(value, "dprank._frozen", "Data")


def _descends(value: Any, module: str, name: str) -> bool:
    return any((it.__module__, it.__name__) == (module, name) for it in type(value).__mro__)


def no_data(name: str, value: Any, needed: str, makes: str) -> WrongType | None:
    """What to say where a table, a release or other data stand for data; None where it is none of these.

    Examples
    --------
    >>> import pandas as pd
    >>> print(no_data("data", pd.DataFrame(), "Comparisons are needed", "Comparisons"))
    data are a DataFrame; Comparisons are needed: Comparisons.from_frame(frame, items=[...], ...) makes them of a table
    """
    kind = type(value).__name__
    if is_release(value):
        return WrongType(f"{name} are a {kind}, which is a release and no data; {needed}: what people answered")
    if is_table(value):
        made = f"{makes}.from_frame(frame, items=[...], ...) makes them of a table"
        return WrongType(f"{name} are a {kind}; {needed}: {made}")
    return WrongType(f"{name} are {kind}; {needed}") if is_data(value) else None


class _Unsaid:
    """Of an argument that nobody gave: None says something."""

    def __repr__(self) -> str:
        return "needed"


UNSAID: Any = _Unsaid()


def one_name(person: Any, voter: Any) -> Any:
    """The column that says who, by the name of the argument, person, or by its name of old.

    Examples
    --------
    >>> one_name("who", UNSAID), one_name(UNSAID, None)
    ('who', None)
    """
    if person is UNSAID and voter is UNSAID:
        raise TypeError("person (or voter, its name of old) is missing: the column that says who answered, or None")
    if person is not UNSAID and voter is not UNSAID:
        raise TypeError("person and voter are one argument, by its name and its name of old; person is enough")
    return voter if person is UNSAID else person


def settle(instance: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass to what a validator handed back."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def require_whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """Refuse what is not an integer from `least` to `most`."""
    if type(value) is int and least <= value <= most:
        return value
    # numpy counts time spans among the integers
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    if not whole or not least <= int(value) <= most:
        small = most == MOST and not (whole and int(value) > most)
        allowed = f"of at least {least}" if small else f"from {least} to {most}"
        refused = ValueError if isinstance(value, numbers.Number) and not isinstance(value, bool) else WrongType
        raise refused(f"{name} = {shown(value)}; an integer {allowed} is needed")
    return int(value)


def require_real(name: str, value: Any, needed: str, fits: Callable[[float], bool], *, up: bool = False) -> float:
    """Refuse what is not a real number that `fits`, which must be false of NaN."""
    number, real = math.nan, isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool | np.timedelta64)
    if type(value) is float:
        number = value
    elif real:
        number = _as_float(value, up)
    if not fits(number):
        raise (ValueError if real else WrongType)(f"{name} = {shown(value)}; {needed}")
    return number


def _as_float(value: Any, up: bool) -> float:
    if isinstance(value, np.integer):
        value = int(value)  # numpy would compare it as a float
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # allowed nowhere but where infinity is
    except (TypeError, ValueError):
        return math.nan
    if math.isfinite(number) and number != value and (number < value) == up:
        number = math.nextafter(number, math.inf if up else -math.inf)
    return number


def require_number(name: str, value: Any) -> float:
    """Refuse what is not a number; infinities are."""
    return require_real(name, value, "a number is needed", lambda x: not math.isnan(x))


def require_positive(name: str, value: Any, *, up: bool = False) -> float:
    """Refuse what is not a finite number above 0."""
    return require_real(name, value, "it must be above 0 and finite", lambda x: 0 < x < math.inf, up=up)


def require_at_least_0(name: str, value: Any, *, up: bool = False) -> float:
    """Refuse a negative number and what is not finite."""
    return require_real(name, value, "it must be at least 0 and finite", lambda x: 0 <= x < math.inf, up=up)


def require_loss(name: str, value: Any, *, up: bool = False) -> float:
    """Refuse a negative number; infinity says that nothing is promised."""
    return require_real(name, value, "it must be at least 0", lambda x: x >= 0, up=up)


def require_below_1(name: str, value: Any, *, up: bool = False) -> float:
    """Refuse what does not lie in [0, 1)."""
    return require_real(name, value, "it must lie in [0, 1)", lambda x: 0 <= x < 1, up=up)


def require_probability(name: str, value: Any, least: float = 0.0, most: float = 1.0) -> float:
    """Refuse what does not lie inside (0, 1), or within bounds inside of that."""
    number = require_real(name, value, "it must lie in (0, 1)", lambda x: 0 < x < 1)
    if number < least:
        raise ValueError(f"{name} = {shown(value)}; it must be at least {least:g}, or rounding would show")
    if number > most:
        raise ValueError(f"{name} = {shown(value)}; it must be at most 1 - {1 - most:g}, or rounding would show")
    return number


def require_sizes(n_items: Any, n_voters: Any, most: int = MOST_AT_ONCE) -> dict[str, int]:
    """Refuse fewer than two items or voters, or more than are held at once; closed forms may take more."""
    sizes = {"n_items": n_items, "n_voters": n_voters}
    return {name: require_whole(name, number, 2, most) for name, number in sizes.items()}


def require_draws(draws: Any, size: float, name: str = "draws") -> int:
    """Refuse so few simulated null statistics that no p-value could be as small as `size`."""
    draws = require_whole(name, draws, 1, MOST_DRAWS)
    if not size * (draws + 1) >= 1:
        raise ValueError(f"{name} = {draws}; at least 1 / size - 1 = {1 / size - 1:g} are needed")
    return draws


def require_generator(rng: Any, why: str = "") -> np.random.Generator:
    """Refuse what is no generator, and so `dprank.SECURE` where floating-point coins are tossed."""
    if not isinstance(rng, np.random.Generator):
        because = f"{why}: " if why else ""
        raise WrongType(f"rng = {source_shown(rng)}; {because}a numpy.random.Generator is needed")
    return rng


def require_one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """The one of those allowed that a value is; any other is refused, naming all three."""
    for one in allowed:
        if isinstance(value, type(one)) and value == one and not isinstance(value, bool):
            return one
    raise ValueError(f"{name} = {shown(value)}; allowed are {', '.join(map(repr, allowed))}")


def require_bool(name: str, value: Any) -> bool:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise WrongType(f"{name} = {shown(value)}; True or False is needed")
    return bool(value)


def require_label(field: str, value: Any) -> Any:
    """Refuse what names nothing: neither text nor a number, a date, or a tuple of such."""
    parts = value if isinstance(value, tuple) and value else (value,)
    if not all(isinstance(part, str | numbers.Real | date) and part == part for part in parts):
        raise WrongType(f"{field} = {shown(value)}; a name is needed")
    return value


def require_columns(labels: Iterable[Any], names: Iterable[Any], arguments: Sequence[str] = ()) -> None:
    """Refuse columns of which one that is asked for is missing, or comes again; the others may be data.

    `arguments` say the names, one by one; those of names that are missing are told.
    """
    labels, names = list(labels), list(names)
    for name in names:
        require_label("column", name)
    for name in names:
        if (count := labels.count(name)) != 1:
            fault = f"is in the table {count} times" if count else "is not in the table"
            gone = [it for it, of in zip(arguments, names, strict=False) if of not in labels]
            said = "" if count else _by_arguments([*dict.fromkeys(gone)])
            raise ValueError(
                f"column {shown(name)} {fault}, which has {len(labels)} columns{said}{_like(labels, name)}"
            )


def _by_arguments(arguments: Sequence[str]) -> str:
    """That these arguments say which columns are meant."""
    if not arguments:
        return ""
    *others, last = [f"{it}=" for it in arguments]
    says = "say which are meant" if others or last == "items=" else "says which is meant"
    return f"; {' and '.join(filter(None, (', '.join(others), last)))} {says}"


def _like(labels: list[Any], name: Any) -> str:
    """The column that is written most like the one that was asked for; any other may be data."""
    words = [label for label in labels if isinstance(label, str)]
    plain = {word.strip().casefold(): word for word in reversed(words)}
    like = difflib.get_close_matches(name.strip().casefold(), list(plain), n=1) if isinstance(name, str) else []
    if not like and (blank := next((word for word in words if word.startswith("Unnamed: ")), "")):
        return f"; {shown(blank)} has no name there, and is called so here"
    return f"; {shown(plain[like[0]])} is meant, maybe" if like and plain[like[0]] != name else ""


def is_number(value: Any) -> bool:
    """Whether a cell is a real number, as columns of decimals have them too; truth values and spans of time are.

    Examples
    --------
    >>> [is_number(value) for value in (0.5, Decimal("0.5"), Decimal("sNaN"), "0.5")]
    [True, True, False, False]
    """
    return isinstance(value, numbers.Real) or (isinstance(value, Decimal) and value.is_finite())


def require_unmasked(name: str, values: Any) -> None:
    """Refuse a masked array in which anything is: its mask would be lost, and what is missing counted."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; numbers are needed everywhere")


def require_extra(module: str, extra: str, what: str) -> Any:
    """A module that an extra brings; where it is absent the line says how to have it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ValueError(f"{what} needs {module.partition('.')[0]}: pip install 'dprank[{extra}]'") from None


def as_list(name: str, values: Any, needed: str) -> list[Any]:
    """What can be gone through, as a list."""
    try:
        return list(values)
    except Exception:  # what is foreign may raise anything
        raise WrongType(f"{name} = {shown(values)}; {needed}") from None


def as_array(name: str, values: Any) -> NDArray[Any]:
    """The values as an array of any kind; rows of different lengths are refused."""
    require_unmasked(name, values)
    try:
        return np.asarray(values)
    except Exception:  # what is foreign may raise anything
        raise ValueError(f"{name} has rows of different lengths; they must have one") from None


def as_floats(name: str, values: Any) -> NDArray[np.float64]:
    """The values as floats, copied only where they are not; what are no numbers is refused."""
    require_unmasked(name, values)
    try:
        given = np.asarray(values)
        # neither words nor complex numbers; what is beyond a double is infinite
        with np.errstate(over="ignore"):
            return np.asarray(given if given.dtype.kind in "biufO" else {}, float)
    except Exception:
        raise WrongType(f"{name} of type {type(values).__name__}; numbers in a regular shape are needed") from None


def require_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Refuse what is no column of integers."""
    array = require_column(name, values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise WrongType(f"{name} holds {array.dtype.type.__name__}; integers are needed")
    return array


def require_column(name: str, values: ArrayLike) -> NDArray[Any]:
    """Refuse what is no list of values."""
    require_unmasked(name, values)
    try:
        array = np.asarray(values)
    except Exception:  # rows of different lengths, or what is foreign
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise ValueError(f"{name} has rows or is one value; it must be one-dimensional")
    return array


#: Letters that nobody sees, though Python prints them: fillers, joiners and selectors.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0")
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""A text as it may be shown: what steers a terminal, turns the direction or has no shape is written out.

    Of joiners those stay that scripts and pictures need: between letters beyond Latin.

    Examples
    --------
    >>> print(visible("Pay\x1b[2J \u202etop\u202c, Zürich \u200d"))
    Pay\u001b[2J \u202etop\u202c, Zürich \u200d
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if _is_seen(text, at) else f"\\u{ord(letter):04x}" if letter < "\U00010000" else f"\\U{ord(letter):08x}"
        for at, letter in enumerate(text)
    )


def visible_lines(text: str) -> str:
    """The same of a text of several lines."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(text: str) -> str:
    """The same of a file in JSON, whose values stay what they are."""
    if text.isascii() and "\x7f" not in text:  # what is below a blank, JSON writes out itself
        return text
    return "".join(
        letter if letter == "\n" or _is_seen(text, at) else json.dumps(letter)[1:-1].replace("\x7f", "\\u007f")
        for at, letter in enumerate(text)
    )


def _is_seen(text: str, at: int) -> bool:
    letter = text[at]
    if letter in _JOINERS:
        return min(text[at - 1 : at], text[at + 1 : at + 2]) >= "\u0300"
    if letter in _UNSEEN or "\U000e0100" <= letter <= "\U000e01ef":
        return False
    return letter.isprintable() or letter == "\u3000" or unicodedata.category(letter) == "Zs"


def shown_down(number: float) -> str:
    """A number in six digits that are no more than it is: so is said what is left.

    Examples
    --------
    >>> shown_down(0.3), shown_down(2.9999999), shown_down(0.0)
    ('0.3', '2.99999', '0')
    """
    return f"{float(Context(6, ROUND_FLOOR).create_decimal(repr(float(number)))):g}"


def as_typed(text: str) -> str:
    r"""A text in quotation marks, as one types it: a backslash stays one.

    Examples
    --------
    >>> print(as_typed(r"\N"), as_typed("it's"), as_typed("a\tb"))
    '\N' "it's" 'a\tb'
    """
    return repr(text).replace("\\\\", "\\")


def source_shown(rng: Any) -> str:
    """What was given as a source of noise: a word is none, and may be data."""
    return f"<{type(rng).__name__}>" if isinstance(rng, str) else shown(rng)


def shown(value: Any) -> str:
    """A parameter on one line, for a message: a number or a word; of all else, which may hold data, the type."""
    text = f"<{type(value).__name__}>"
    with suppress(Exception):  # Python writes no integer of more than 4,300 digits; what is foreign may raise anything
        if value is None or isinstance(value, str):
            text = repr(value)
        elif isinstance(value, numbers.Number):
            text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
