"""Full rankings given by voters: the data type, validated once at the door, and its pairwise matrix."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Frozen, frozen
from dprank._require import require_columns, settle, shown
from dprank.data import files as _files
from dprank.data.comparisons import item_names
from dprank.data.kendall import as_positions


class Rankings(Frozen):
    """One ranking a voter; they stay as they were validated.

    Attributes cannot be set or deleted and the array is read-only, also after pickling and copying; nothing is shared
    with the array that was given. Two are equal if all their rows and items are.

    Parameters
    ----------
    positions : array_like of int, shape (voters, items)
        ``positions[v, i]`` is the place voter v gives item i, 0 for the best; every row uses each place once.
    items : sequence of str
        Names of all items, at least two, no two alike, decided before looking at the data.

    Raises
    ------
    ValueError
        Naming the first row that is no ranking.
    """

    __slots__ = ("items", "positions")

    items: tuple[str, ...]
    positions: NDArray[Any]

    def __init__(self, positions: ArrayLike, items: Sequence[str]) -> None:
        names, table = require_items(items), as_positions("positions", positions)
        if table.shape[1] != len(names):
            raise ValueError(f"positions rank {table.shape[1]} items, items names {len(names)}")
        settle(self, items=names, positions=frozen(table))

    def __reduce__(self) -> Any:
        return Rankings, self._state()

    def _state(self) -> tuple[Any, ...]:
        return self.positions, self.items

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"Rankings of {self.n_items} items by {len(self)} voter{'s' * (len(self) != 1)}"

    @property
    def n_items(self) -> int:
        return len(self.items)

    @classmethod
    def from_orders(cls, orders: ArrayLike, items: Sequence[str]) -> Rankings:
        """Rankings from orders: ``orders[v, r]`` is the item that voter v puts in place r.

        Parameters
        ----------
        orders : array_like of int or of str, shape (voters, items)
            Item codes 0 .. items - 1, or the items' names; best item first.
        items : sequence of str
            As in `Rankings`.

        Raises
        ------
        ValueError
            Naming the first row that is no order.
        """
        names = require_items(items)
        return cls(np.argsort(as_positions("orders", _codes(orders, names)), axis=1), names)

    @classmethod
    def from_frame(cls, frame: Any, items: Sequence[str], voter: str | None = None) -> Rankings:
        """Rankings from a table with a column an item that holds its place, 1 for the best.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row a voter; each uses every place 1 .. items once. Other columns are ignored.
        items : sequence of str
            As in `Rankings`: the names of columns; a column called 7 is that of the item "7".
        voter : str, optional
            The column that says who gave a ranking. Guarantees protect all that one person contributes, if that is one
            row: a person with two is refused. Without it, every row is taken to be of another person.

        Returns
        -------
        Rankings
            Of the voters in the order of the rows.

        Raises
        ------
        ValueError
            Naming the column and the row: 0 for the first, whatever the table's index.
        """
        import pandas as pd

        names = require_items(items)
        if not isinstance(frame, pd.DataFrame):
            raise ValueError(f"frame is of type {type(frame).__name__}; a pandas.DataFrame is needed")
        labels = list(map(str, frame.columns))
        require_columns(labels, (*names, *([] if voter is None else [voter])))
        if not len(frame):
            raise ValueError("the table has no rows; one a voter is needed")
        if voter is not None:
            _require_one_row_each(frame.iloc[:, labels.index(voter)], voter)
        places = frame.iloc[:, [labels.index(name) for name in names]]
        if (gone := places.isna().any(axis=1).to_numpy()).any():
            raise ValueError(f"row {np.argmax(gone)} has a place missing; a ranking uses every place once")
        m = len(names)
        allowed = set(range(1, m + 1))
        for i, name in enumerate(names):
            for row, value in enumerate(places.iloc[:, i]):
                # one word in a file makes text of its whole column: the word is at fault
                place = pd.to_numeric(value, errors="coerce") if isinstance(value, str) else value
                if isinstance(place, bool) or not isinstance(place, numbers.Real) or place not in allowed:
                    raise ValueError(
                        f"{name}[{row}] is no place; places are the whole numbers 1 .. {m}, 1 for the best"
                    )
            if any(isinstance(value, str) for value in places.iloc[:, i]):
                raise ValueError(f"column {name!r} holds text; places are whole numbers, 1 for the best")
        table = places.to_numpy(float)
        if (wrong := (np.sort(table, axis=1) != np.arange(1, m + 1)).any(axis=1)).any():
            raise ValueError(f"row {np.argmax(wrong)} is no ranking; it uses every place 1 .. {m} once")
        return cls(table.astype(np.int64) - 1, names)

    def pairwise(self) -> NDArray[np.int64]:
        """How many voters put each item (row) before each other (column).

        Returns
        -------
        ndarray of int, shape (items, items)
            O(voters * items^2) time, O(items^2) memory.
        """
        return _pairwise(self.positions)


def read_csv(path: str | PathLike[str], items: Sequence[str], voter: str | None = None) -> Rankings:
    """Rankings from a CSV file with a column an item that holds its place, 1 for the best.

    Parameters
    ----------
    path : path
        A file with a header and one row a voter.
    items : sequence of str
        Column names, as in `Rankings.from_frame`.
    voter : str, optional
        The column of persons, as there.

    Raises
    ------
    ValueError
        As `Rankings.from_frame`, row 0 being the one below the header; or naming the file where it is no table.
    """
    names = require_items(items)
    persons = [] if voter is None else [voter]
    # persons stay as written: 01 is not 1
    frame = _files.read_csv(path, [*names, *persons], dtype=dict.fromkeys(persons, str))
    return Rankings.from_frame(frame, names, voter)


def read_parquet(path: str | PathLike[str], items: Sequence[str], voter: str | None = None) -> Rankings:
    """Rankings from a Parquet file with a column an item that holds its place, 1 for the best.

    Parameters
    ----------
    path : path
        A file with one row a voter.
    items : sequence of str
        Column names, as in `Rankings.from_frame`.
    voter : str, optional
        The column of persons, as there.

    Raises
    ------
    ValueError
        As `Rankings.from_frame`, row 0 being the first; or naming the file where it is no table.
    """
    names = require_items(items)
    return Rankings.from_frame(_files.read_parquet(path), names, voter)


def _require_one_row_each(persons: Any, voter: str) -> None:
    """Refuse a column of persons in which one is missing, or comes again."""
    if (gone := persons.isna().to_numpy()).any():
        raise ValueError(f"row {np.argmax(gone)} has no {voter!r}; who gave a ranking is needed")
    if (again := persons.duplicated().to_numpy()).any():
        raise ValueError(f"row {np.argmax(again)} is of a {voter!r} that had one before; one ranking a voter is needed")


def _codes(orders: Any, names: tuple[str, ...]) -> Any:
    """Orders of names as orders of codes; what are no names as it is."""
    try:
        table = np.asarray(orders)
    except ValueError:  # rows of different lengths
        return orders
    if table.ndim != 2 or not all(isinstance(name, str) for name in table.flat):
        return orders
    code = {name: i for i, name in enumerate(names)}
    for v, row in enumerate(table):
        for name in row:
            if name not in code:
                raise ValueError(f"orders[{v}] names what is none of the {len(names)} items")
    return np.vectorize(code.get, otypes=[np.int64])(table)


def require_rankings(data: Any, n_items: int | None = None, least: int = 0, *, n_voters: int | None = None) -> Rankings:
    """Refuse what are no rankings (of so many items) by at least so many voters, or by just `n_voters`."""
    if not isinstance(data, Rankings):
        raise ValueError(f"data are of type {type(data).__name__}; dprank.Rankings are needed (Rankings.from_frame)")
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} in the data; this mechanism is for n_items = {n_items}")
    if n_voters is not None and len(data) != n_voters:
        raise ValueError(f"data are of another number of voters; this mechanism is for n_voters = {n_voters}")
    if len(data) < least:
        raise ValueError(f"data have too few voters; at least {least} {'is' if least == 1 else 'are'} needed")
    return data


def require_items(items: Any, n_items: int | None = None) -> tuple[str, ...]:
    """Refuse what are no names of at least two items, or of so many."""
    if not isinstance(items, Iterable):
        raise ValueError(f"items = {shown(items)}; the names of at least two items are needed")
    names = item_names(tuple(items))
    if n_items not in (None, len(names)):
        raise ValueError(f"items names {len(names)} items; n_items = {n_items} are needed")
    return names


@numba.njit(cache=True, error_model="numpy")
def _pairwise(positions):
    voters, m = positions.shape
    table = np.zeros((m, m), np.int64)
    for v in range(voters):
        for i in range(m):
            for j in range(m):
                table[i, j] += positions[v, i] < positions[v, j]
    return table
