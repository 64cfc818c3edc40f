"""What a file says of a release: values as JSON has them, and mechanisms by class and parameters."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.models.bradley_terry import LINKS, Link
from dprank.privacy.guarantee import Guarantee

#: Rooms whose mechanisms a file may name.
_FAMILIES = ("dprank.aggregation", "dprank.pairwise", "dprank.topk", "dprank.uniformity")


def refuse(why: str) -> NoReturn:
    """Say why a file is no release."""
    raise ValueError(f"this is no release of dprank: {why}") from None


def plain(name: str, value: Any) -> Any:
    """A value as JSON has it; infinities and NaN as words."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [plain(name, one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(key, one) for key, one in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} holds a {type(value).__name__}; text and numbers alone can be written")


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
    given = np.asarray(values)
    if given.dtype.kind not in "iuf":
        raise ValueError("scores and margins must be numbers")
    return given.astype(float)


def written(parameter: Any) -> Any:
    """A mechanism, or a part of one, with its class and all its parameters."""
    if parameter is None or not is_dataclass(parameter):
        return plain("mechanism", parameter)
    kind = type(parameter)
    home = next((room for room in (*_FAMILIES, "dprank.models") if kind.__module__.startswith(room + ".")), None)
    if home is None:
        raise ValueError(f"mechanism holds a {kind.__name__}, which is no class of dprank; only those can be written")
    if home == "dprank.models":
        if not isinstance(parameter, Link) or LINKS.get(parameter.name) != parameter:
            raise ValueError(f"link is none of {', '.join(LINKS)}; only those can be written")
        return {"link": parameter.name}
    values = {it.name: written(getattr(parameter, it.name)) for it in fields(parameter) if it.init}
    return {"class": f"{kind.__module__}.{kind.__qualname__}", **values}


def read(written: Any) -> Any:
    """What `_written` wrote of a mechanism: an instance of one of the library's classes and no other."""
    if isinstance(written, list):
        return tuple(read(one) for one in written)
    if written in ("nan", "inf", "-inf"):
        return number(written)
    if not isinstance(written, dict):
        return written
    if set(written) == {"link"}:
        if written["link"] not in [*LINKS]:
            refuse(f"link = {shown(written['link'])}; {', '.join(LINKS)} are known")
        return LINKS[written["link"]]
    path = written.get("class")
    home, _, name = str(path).rpartition(".")
    kind = None
    if home.rpartition(".")[0] in _FAMILIES and name.isidentifier() and not name.startswith("_"):
        try:
            kind = getattr(importlib.import_module(home), name, None)
        except ImportError:
            kind = None
    if not (isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == home):
        refuse(f"class = {shown(path)}; a mechanism of dprank is needed")
    values = {key: read(value) for key, value in written.items() if key != "class"}
    try:
        made = kind(**values)
    except (TypeError, ValueError, OverflowError) as error:
        refuse(str(error) if isinstance(error, ValueError) else f"{name} has other parameters")
    return made


def alike(written: Any, promised: Guarantee | None) -> bool:
    """Whether a guarantee in a file is that of its mechanism, but for the last digits of another machine."""
    if promised is None or not isinstance(written, dict):
        return written is promised
    if written.keys() != vars(promised).keys():
        return False
    return all(
        math.isclose(read(written[key]), value)
        if isinstance(value, float) and type(written[key]) in (int, float)
        else type(written[key]) is not bool and plain(key, value) == written[key]
        for key, value in vars(promised).items()
    )
