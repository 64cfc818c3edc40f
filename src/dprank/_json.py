"""What a file says of a release: values as JSON has them, and mechanisms by class and parameters."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_writable, shown
from dprank.models.bradley_terry import LINKS, Link
from dprank.privacy.guarantee import Guarantee

#: Rooms whose mechanisms a file may name.
_FAMILIES = ("dprank.aggregation", "dprank.pairwise", "dprank.topk", "dprank.uniformity")


def refuse(why: str) -> NoReturn:
    """Say why a file is no release."""
    raise ValueError(f"this is no release of dprank: {why}") from None


def plain(name: str, value: Any) -> Any:
    """A value as JSON has it; infinities and NaN in words, marked as numbers: an item may have such a name."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list):
        if name == "items" and any(isinstance(one, tuple | list) for one in value):
            raise ValueError("items holds a tuple; text and numbers alone can be written")
        return [plain(name, one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(key, one) for key, one in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    require_writable(name, value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} holds a {type(value).__name__}; text and numbers alone can be written")


def parsed(text: str) -> Any:
    """What a file says, no field twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise KeyError
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except ValueError:
        refuse("it is not JSON")
    except KeyError:
        refuse("a field stands there twice")


def number(value: Any) -> Any:
    """A number as `plain` wrote it."""
    if isinstance(value, dict) and value.keys() == {"number"} and value["number"] in ("nan", "inf", "-inf"):
        return math.nan if value["number"] == "nan" else float(value["number"])
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
    """What `written` wrote of a mechanism: an instance of one of the library's classes and no other."""
    if isinstance(written, list):
        return tuple(read(one) for one in written)
    if not isinstance(written, dict):
        return written
    if set(written) == {"number"}:
        return number(written)
    if set(written) == {"link"}:
        if written["link"] not in [*LINKS]:
            refuse(f"link = {shown(written['link'])}; {', '.join(LINKS)} are known")
        return LINKS[written["link"]]
    kind = _class(written.get("class"))
    values = {key: read(value) for key, value in written.items() if key != "class"}
    try:
        made = kind(**values)
    except (TypeError, ValueError, ArithmeticError) as error:
        refuse(str(error) if isinstance(error, ValueError) else f"{kind.__name__} has other parameters")
    return made


def _class(path: Any) -> type:
    """One of the library's own, by its name."""
    home, _, name = str(path).rpartition(".")
    kind = None
    if home.rpartition(".")[0] in _FAMILIES and name.isidentifier() and not name.startswith("_"):
        try:
            kind = getattr(importlib.import_module(home), name, None)
        except ImportError:
            kind = None
    if not (isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == home):
        refuse(f"class = {shown(path)}; a mechanism of dprank is needed")
    return kind


def read_mechanism(written: Any, kind: str) -> Any:
    """A mechanism that releases what is of this kind, or None; before it is made, since that may cost much."""
    if written is None:
        return None
    if not isinstance(written, dict):
        refuse("mechanism must have a class and parameters")
    made = _class(written.get("class"))
    if _annotation(made, "release", "return") != kind:
        refuse(f"class = {made.__name__}; it releases no {kind}")
    return read(written)


def require_possible(mechanism: Any, source: str | None) -> None:
    """Refuse a source that a mechanism does not take; and any where there is none."""
    if (mechanism is None) != (source is None):
        refuse(f"source = {shown(source)}; what a mechanism released has one, and nothing else has")
    if source == "operating system" and not _takes_secure(mechanism):
        refuse(f"source = {shown(source)}; {type(mechanism).__name__} is not drawn so")


def _takes_secure(mechanism: Any) -> bool:
    """Whether its noise, and that of its parts, can be drawn by `dprank.SECURE`."""
    parts = [getattr(mechanism, name, None) for name in ("fallback", "randomiser")]
    draws = "release" if hasattr(mechanism, "release") else "report"
    return (
        "Source" in _annotation(type(mechanism), draws, "rng")
        and getattr(mechanism, "law", "discrete") == "discrete"
        and all(part is None or _takes_secure(part) for part in parts)
    )


def _annotation(kind: type, method: str, name: str) -> str:
    return str(getattr(getattr(kind, method, None), "__annotations__", {}).get(name))


def alike(written: Any, promised: Guarantee | None) -> bool:
    """Whether a guarantee in a file is that of its mechanism, but for the last digits of another machine."""
    if promised is None or not isinstance(written, dict):
        return written is promised
    if written.keys() != vars(promised).keys():
        return False
    return all(
        abs(written[key]) < math.inf and math.isclose(float(min(written[key], 2**1023)), value)
        if isinstance(value, float) and type(written[key]) in (int, float)
        else type(written[key]) is not bool and plain(key, value) == written[key]
        for key, value in vars(promised).items()
    )
