"""What selections refuse beside what `dprank._require` does, each in one line.

Messages name the position or the label of what is wrong with the data, never its value: logs are not private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_whole, shown

# twice such integers are exact as floats, and noise can be added within 64 bits
_WIDEST = 2.0**51


def require_k(k: Any, n_items: float = math.inf) -> int:
    """Refuse anything but a whole number in 1 .. n_items."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n_items:
        allowed = f"in 1 .. {n_items}" if n_items < math.inf else "above 0"
        raise ValueError(f"k = {shown(k)}; a whole number {allowed} is needed")
    return int(k)


def require_items(n_items: Any) -> int | None:
    """Refuse a number of items that is not whole; None says that it is not public."""
    return None if n_items is None else require_whole("n_items", n_items, 1)


def refuse_scales(parameters: Mapping[str, Any]) -> None:
    """Refuse scales where they are what is computed."""
    for name in ("scale", "value_scale"):
        if name in parameters:
            raise ValueError(f"{name} = {shown(parameters[name])}; it is computed here, and is no parameter")


def finite(values: ArrayLike | pd.Series) -> NDArray[Any]:
    """The values as one contiguous array of 64-bit numbers, copied only if they are not; all must be finite."""
    if isinstance(values, Mapping):
        raise ValueError(
            f"values are a {type(values).__name__}; a Series (pandas.Series(values)) or an array is needed"
        )
    try:
        given = np.asarray(values)
    except ValueError:
        raise ValueError(f"values are a {type(values).__name__} of no shape; one number per item is needed") from None
    if given.ndim != 1 or not given.size:
        raise ValueError(f"values have shape {given.shape}; one number per item is needed")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"values have dtype {given.dtype}; numbers are needed")
    whole = given.dtype.kind == "i" or (given.dtype.kind == "u" and given.max() < 2**63)
    out: NDArray[Any] = np.ascontiguousarray(given, np.int64 if whole else np.float64)
    # one pass each and no temporary: not-a-number spreads, infinities are extremes
    if out.dtype == np.float64 and not (np.isfinite(out.max()) and np.isfinite(out.min())):
        at = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"values[{_place(values, at)}] is missing or infinite; finite numbers are needed")
    return out


def require_values(values: ArrayLike | pd.Series, k: int, n_items: int | None = None) -> NDArray[Any]:
    """Refuse values from which k of `n_items` cannot be chosen and named; otherwise as `finite`."""
    given = finite(values)
    if n_items not in (None, len(given)):
        raise ValueError(
            f"values are {len(given)}; this mechanism is for n_items = {n_items}: "
            "reindex over the public list of items, fill_value=0"
        )
    require_k(k, len(given))
    if isinstance(values, pd.Series) and not values.index.is_unique:
        twice = values.index[values.index.duplicated()][0]
        raise ValueError(f"values have {shown(twice)} twice in their index; every item needs a name of its own")
    return given


def require_integers(values: ArrayLike | pd.Series, sensitivity: float) -> NDArray[np.int64]:
    """Refuse values, or moves of them, that are not integers: exact noise is for those."""
    if sensitivity != round(sensitivity):
        raise ValueError(f"sensitivity = {sensitivity}; exact noise needs an integer")
    given = finite(values)
    wrong = (given != np.round(given)) | (np.abs(given) > _WIDEST)
    if wrong.any():
        raise ValueError(
            f"values[{_place(values, int(wrong.argmax()))}] is none of the integers up to 2^51 that exact noise needs"
        )
    return given.astype(np.int64)


def _place(values: ArrayLike | pd.Series, at: int) -> str:
    """An item as the index names it, or its position."""
    return shown(values.index[at]) if isinstance(values, pd.Series) else str(at)
