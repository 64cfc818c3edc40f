"""What every mechanism of the package refuses, one line each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def require_k(k: int, n_items: float = math.inf) -> None:
    """Refuse anything but a whole number in 1 .. n_items."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n_items:
        raise ValueError(
            f"k = {k!r}; a whole number {f'in 1 .. {n_items}' if n_items < math.inf else 'above 0'} is needed"
        )


def require_positive(field: str, value: float) -> None:
    """Refuse what is not above 0 and finite."""
    if not 0 < value < math.inf:
        raise ValueError(f"{field} = {value}; it must be above 0 and finite")


def require_delta(delta: float) -> None:
    """Refuse a delta outside [0, 1)."""
    if not 0 <= delta < 1:
        raise ValueError(f"delta = {delta}; it must lie in [0, 1)")


def finite(values: ArrayLike) -> NDArray[Any]:
    """The values as one contiguous array of 64-bit numbers, copied only if they are not; all must be finite."""
    given = np.asarray(values)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"values have dtype {given.dtype}; numbers are needed")
    if given.ndim != 1 or not given.size:
        raise ValueError(f"values have shape {given.shape}; one number per item is needed")
    real = given.dtype.kind == "f" or given.dtype == np.uint64
    out: NDArray[Any] = np.ascontiguousarray(given, np.float64 if real else np.int64)
    # one pass each and no temporary: not-a-number spreads, infinities are extremes
    if out.dtype == np.float64 and not (np.isfinite(out.max()) and np.isfinite(out.min())):
        at = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"values[{at}] = {out[at]}; finite numbers are needed")
    return out
