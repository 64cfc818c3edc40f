"""What a file says of a release: values as JSON has them, and mechanisms by class and parameters."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

import dprank
from dprank._require import as_array, shown
from dprank.models.bradley_terry import LINKS, Link
from dprank.privacy.guarantee import Guarantee

#: How every refusal begins.
NO_RELEASE = "this is no release of dprank: "
#: Rooms whose mechanisms a file may name.
_FAMILIES = ("dprank.aggregation", "dprank.pairwise", "dprank.topk", "dprank.uniformity")
#: Where parts of mechanisms live that are not at the front door.
PARTS = {
    "OneRound": "aggregation.local_reports",
    "OrderReport": "aggregation.randomisers",
    "PositionVector": "aggregation.directions",
    "SampledOrder": "aggregation.randomisers",
    "SplitResponse": "aggregation.randomisers",
    "VectorReport": "aggregation.directions",
}


def refuse(why: str) -> NoReturn:
    """Say why a file is no release."""
    raise ValueError(NO_RELEASE + why) from None


def loaded(text: Any, fields: set[str], versions: tuple[int, ...]) -> dict[str, Any]:
    """What a file holds: these fields, each once, of one of these formats."""
    if not isinstance(text, str):
        refuse(f"it is of type {type(text).__name__}; text is needed")
    try:
        file = parsed(text)
    except LookupError:
        refuse("a field is there twice")
    except (ValueError, RecursionError):
        refuse("it is not JSON")
    if not isinstance(file, dict) or set(file) != fields:
        refuse(f"it must have the fields {', '.join(sorted(fields))}, and no others")
    if type(file["format"]) is not int or file["format"] not in versions:
        read = " and ".join(map(str, versions))
        refuse(f"format = {shown(file['format'])}; this version of dprank reads formats {read}")
    return file


def parsed(text: str) -> Any:
    """JSON as the standard has it: a `LookupError` where a field is there twice, `ValueError` where it is none.

    Examples
    --------
    >>> parsed('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_finite)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise LookupError
    return fields


def _finite(word: str) -> NoReturn:
    """Python would read NaN and Infinity as numbers, which JSON lacks: they are written as words."""
    raise ValueError(word)


def plain(name: str, value: Any) -> Any:
    """A value as JSON has it; infinities and NaN as words, but among names, where words are names."""
    if isinstance(value, np.ndarray):
        value = [*value] if value.dtype.kind in "mM" else value.tolist()
    if isinstance(value, tuple | list):
        return names(name, value) if name == "items" else [plain(name, one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(key, one) for key, one in value.items()}
    value = _python(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} holds a {type(value).__name__}; text and numbers alone can be written")


def names(field: str, items: Iterable[Any]) -> list[Any]:
    """Names as JSON has them and every reader takes them: text of Unicode, and finite numbers of some 600 digits."""
    plain_names = [_python(item) for item in items]
    for at, item in enumerate(plain_names):
        if not _is_name(item):
            needed = "text of Unicode and finite numbers of at most 600 digits can be written"
            raise ValueError(f"{field}[{at}] = <{type(item).__name__}>; {needed}")
    return plain_names


def _is_name(item: Any) -> bool:
    if isinstance(item, str):
        return item.isascii() or item.encode(errors="ignore").decode() == item
    return (isinstance(item, int) and item.bit_length() < 2000) or (isinstance(item, float) and math.isfinite(item))


def _python(value: Any) -> Any:
    """Python's own of a scalar of numpy; of dates it would be a number."""
    dates = isinstance(value, np.datetime64 | np.timedelta64)
    return value.item() if isinstance(value, np.generic) and not dates else value


def number(value: Any) -> Any:
    """A number as `_plain` wrote it."""
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return math.nan if value == "nan" else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number is missing")
    return value


def floats(values: Any) -> NDArray[np.float64] | None:
    """Numbers of a file as floats; None where there are none."""
    if values is None:
        return None
    given = as_array("scores or margins", values)
    if given.dtype.kind not in "iuf":
        raise ValueError("scores and margins must be numbers")
    return given.astype(float)


def written(parameter: Any, name: str = "mechanism") -> Any:
    """A mechanism, or a part of one, with its class and all its parameters."""
    if parameter is None or not is_dataclass(parameter):
        return plain(name, parameter)
    kind = type(parameter)
    home = next((room for room in (*_FAMILIES, "dprank.models") if kind.__module__.startswith(room + ".")), None)
    if home is None:
        raise ValueError(f"mechanism holds a {kind.__name__}, which is no class of dprank; only those can be written")
    if home == "dprank.models":
        if not isinstance(parameter, Link) or LINKS.get(parameter.name) != parameter:
            raise ValueError(f"link is none of {', '.join(LINKS)}; only those can be written")
        return {"link": parameter.name}
    values = {it.name: written(getattr(parameter, it.name), it.name) for it in fields(parameter) if it.init}
    if _named(kind.__qualname__) is not kind:
        raise ValueError(f"mechanism holds a {kind.__name__}, which no file names")
    return {"class": kind.__qualname__, **values}


def read(written: Any, releases: str | None = None, n_items: int | None = None) -> Any:
    """What `written` wrote of a mechanism: an instance of one of the library's classes and no other.

    Parameters
    ----------
    written : dict, or what JSON has as a parameter
    releases : str, optional
        The kind of release that the class gives, as its `release` is annotated. A part of a mechanism releases any
        kind, or draws reports.
    n_items : int, optional
        How many items it and its parts must be for: more may cost more than any file does.
    """
    if isinstance(written, list):
        return tuple(read(one, None, n_items) for one in written)
    if written in ("nan", "inf", "-inf"):
        return number(written)
    if not isinstance(written, dict):
        return written
    if set(written) == {"link"} and releases is None:
        if written["link"] not in [*LINKS]:
            refuse(f"link = {shown(written['link'])}; {', '.join(LINKS)} are known")
        return LINKS[written["link"]]
    path = written.get("class")
    kind = _named(path)
    given = [getattr(getattr(kind, door, None), "__annotations__", {}).get("return") for door in ("release", "report")]
    if kind is None or (given == [None, None] if releases is None else given[0] != releases):
        refuse(
            f"class = {shown(path)}; a mechanism of dprank {f'that gives a {releases} ' if releases else ''}is needed"
        )
    if written.get("pairs", ()) is None:  # those of a complete graph are written one by one
        refuse("pairs = None; a file lists them")
    if n_items is not None and written.get("n_items", n_items) != n_items:
        refuse(f"n_items = {shown(written['n_items'])}; of {n_items} items is the output")
    values = {key: value if key == "items" else read(value, None, n_items) for key, value in written.items()}
    del values["class"]
    try:
        names("items", values.get("items") or ())
        return kind(**values)
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        refuse(str(error) if isinstance(error, ValueError) else f"{kind.__name__} has other parameters")


def _named(path: Any) -> type[Any] | None:
    """The public dataclass of one of the families that has this name, or, as in files of version 0.2, this path."""
    home, _, name = str(path).rpartition(".")
    if not home and (room := dprank._HOMES.get(name) or PARTS.get(name)):
        home = f"dprank.{room}"
    kind = None
    if home.rpartition(".")[0] in _FAMILIES and name.isidentifier() and not name.startswith("_"):
        with suppress(ImportError):
            kind = getattr(importlib.import_module(home), name, None)
    return kind if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == home else None


def alike(written: Any, promised: Guarantee | None) -> bool:
    """Whether a guarantee in a file is that of its mechanism, but for the last digits of another machine."""
    if promised is None or not isinstance(written, dict):
        return written is promised
    if written.keys() != vars(promised).keys():
        return False
    with suppress(OverflowError):  # of a whole number that is no double
        return all(
            math.isclose(number(written[key]), value)
            if isinstance(value, float) and type(written[key]) in (int, float)
            else type(written[key]) is not bool and plain(key, value) == written[key]
            for key, value in vars(promised).items()
        )
    return False
