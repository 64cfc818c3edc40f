"""Full rankings given by voters: the data type, validated once at the door, and its pairwise matrix."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank.comparisons import item_names
from dprank.kendall import as_positions


class Rankings:
    """One ranking a voter; its array is read-only.

    Parameters
    ----------
    positions : array_like of int, shape (voters, items)
        ``positions[v, i]`` is the place voter v gives item i, 0 for the best; every row uses each place once.
    items : sequence of str
        Names of all items, decided before looking at the data.

    Raises
    ------
    ValueError
        Naming the first row that is no ranking.
    """

    __slots__ = ("items", "positions")

    def __init__(self, positions: ArrayLike, items: Sequence[str]) -> None:
        self.items = item_names(items)
        self.positions = as_positions("positions", positions)
        if self.positions.shape[1] != len(self.items):
            raise ValueError(f"positions rank {self.positions.shape[1]} items, items names {len(self.items)}")
        self.positions.flags.writeable = False

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @classmethod
    def from_orders(cls, orders: ArrayLike, items: Sequence[str]) -> Rankings:
        """Rankings from orders: ``orders[v, r]`` is the item that voter v puts in place r."""
        return cls(np.argsort(as_positions("orders", orders), axis=1), items)

    @classmethod
    def from_frame(cls, frame: Any, items: Sequence[str]) -> Rankings:
        """Rankings from a table with a column an item that holds its place, 1 for the best."""
        names = item_names(items)
        for column in names:
            if column not in frame.columns:
                raise ValueError(f"column {column!r} is not in the table; it has {list(map(str, frame.columns))}")
        places = frame[list(names)]
        if (gone := places.isna().any(axis=1).to_numpy()).any():
            raise ValueError(
                f"row {int(np.argmax(gone))} has a place missing, as have {gone.sum()} of {len(gone)} rows"
            )
        for column in names:
            for row, value in places[column].items():
                if not isinstance(value, numbers.Real) or value != value // 1:
                    raise ValueError(f"{column}[{row}] = {value!r}; places are whole numbers, 1 for the best")
        return cls(places.to_numpy().astype(np.int64) - 1, names)

    def pairwise(self) -> NDArray[np.int64]:
        """How many voters put each item (row) before each other (column).

        Returns
        -------
        ndarray of int, shape (items, items)
            O(voters * items^2) time, O(items^2) memory.
        """
        return _pairwise(self.positions)


def read_csv(path: str | PathLike[str], items: Sequence[str]) -> Rankings:
    """Rankings from a CSV file as in `Rankings.from_frame`."""
    import pandas as pd

    return Rankings.from_frame(pd.read_csv(path), items)


def read_parquet(path: str | PathLike[str], items: Sequence[str]) -> Rankings:
    """Rankings from a Parquet file as in `Rankings.from_frame`."""
    import pandas as pd

    return Rankings.from_frame(pd.read_parquet(path), items)


@numba.njit(cache=True, error_model="numpy")
def _pairwise(positions):
    voters, m = positions.shape
    table = np.zeros((m, m), np.int64)
    for v in range(voters):
        for i in range(m):
            for j in range(m):
                table[i, j] += positions[v, i] < positions[v, j]
    return table
