"""One way of giving data in other words, and columns of other types that hold the same numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ALL",
    "FORM",
    "NUMBERS",
    "ORDER",
    "REAL",
    "ROUTE",
    "TURNED",
    "TYPES",
    "WHOLE",
    "Words",
    "laid",
    "typed",
]

ORDER = "rows in another order"
TURNED = "pairs turned round"
TYPES = "columns of other types"
NUMBERS = "persons by other numbers"
FORM = "a table of another form"
ROUTE = "another route of the solver"
ALL = "all of it at once"

#: Types of whole numbers, and of fractions.
WHOLE = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
REAL = ("f4", "f8")


class Words(NamedTuple):
    """The same data once more.

    Parameters
    ----------
    way : str
        What is otherwise.
    data : object
    order : ndarray of int, optional
        Where each row stood before.
    crossed : bool
        Whether code for many rows is to read it, and code for few otherwise.

    Examples
    --------
    >>> Words(TYPES, [1.0]).order is None
    True
    """

    way: str
    data: Any
    order: NDArray[np.intp] | None = None
    crossed: bool = False


def typed(column: NDArray[Any], rng: np.random.Generator, kinds: tuple[str, ...]) -> NDArray[Any]:
    """As another type that holds the same numbers, where one does."""
    with np.errstate(all="ignore"):
        as_others = [column.astype(kind) for kind in kinds if np.dtype(kind) != column.dtype]
    same = [other for other in as_others if _same(column, other)]
    return same[int(rng.integers(len(same)))] if same else column


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether they are the same numbers, zeros without a sign."""
    if one.dtype.kind not in "iufb":
        return False
    whole, back = other.astype(one.dtype), np.asarray(one, float)
    signed = one.dtype.kind == "f" and bool(np.signbit(one[one == 0]).any())
    return not signed and np.array_equal(whole, one) and np.array_equal(np.asarray(other, float), back)


def laid(table: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """In another layout of memory: by columns, or every second row of a larger table."""
    return np.asfortranarray(table) if rng.random() < 0.5 else np.repeat(table, 2, axis=0)[::2]
