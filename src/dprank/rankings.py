"""Full rankings given by voters: the data type, validated once at the door, and its pairwise matrix."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
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
        Names of all items, at least two, no two alike, decided before looking at the data.

    Raises
    ------
    ValueError
        Naming the first row that is no ranking.
    """

    __slots__ = ("items", "positions")

    def __init__(self, positions: ArrayLike, items: Sequence[str]) -> None:
        self.items = require_items(items)
        self.positions = as_positions("positions", positions)
        if self.positions.shape[1] != len(self.items):
            raise ValueError(f"positions rank {self.positions.shape[1]} items, items names {len(self.items)}")
        self.positions.flags.writeable = False

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
            Naming the column, or the row (by the table's index, 0 for the first unless it has another) and its places.
        """
        import pandas as pd

        names = require_items(items)
        if not isinstance(frame, pd.DataFrame):
            raise ValueError(f"frame is of type {type(frame).__name__}; a pandas.DataFrame is needed")
        labels = list(map(str, frame.columns))
        for name in (*names, *([] if voter is None else [voter])):
            if (count := labels.count(name)) != 1:
                fault = f"is in the table {count} times" if count else "is not in the table"
                raise ValueError(f"column {name!r} {fault}; it has {labels}")
        if not len(frame):
            raise ValueError("the table has no rows; one a voter is needed")
        if voter is not None:
            _require_one_row_each(frame.iloc[:, labels.index(voter)], voter)
        places = frame.iloc[:, [labels.index(name) for name in names]]
        if (gone := places.isna().any(axis=1).to_numpy()).any():
            raise ValueError(
                f"row {frame.index[np.argmax(gone)]} has a place missing, as have {gone.sum()} of {len(gone)} rows"
            )
        for i, name in enumerate(names):
            for row, value in places.iloc[:, i].items():
                # one word in a file makes text of its whole column: the word is at fault
                place = pd.to_numeric(value, errors="coerce") if isinstance(value, str) else value
                if isinstance(place, bool) or not isinstance(place, numbers.Real) or place != place // 1:
                    raise ValueError(f"{name}[{row}] = {value!r}; places are whole numbers, 1 for the best")
            if any(isinstance(value, str) for value in places.iloc[:, i]):
                raise ValueError(f"column {name!r} holds text; places are whole numbers, 1 for the best")
        table, m = places.to_numpy(float), len(names)
        if (wrong := (np.sort(table, axis=1) != np.arange(1, m + 1)).any(axis=1)).any():
            bad = np.argmax(wrong)
            given = ", ".join(f"{place:.15g}" for place in table[bad])
            raise ValueError(f"row {frame.index[bad]} has places {given}; a ranking uses every place 1 .. {m} once")
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
    import pandas as pd

    names = require_items(items)
    try:
        # persons stay as written: 01 is not 1
        frame = pd.read_csv(path, dtype=None if voter is None else {voter: str})
        # pandas renames a column that comes again
        header = pd.read_csv(path, header=None, nrows=1, dtype=str).iloc[0] if isinstance(path, str | PathLike) else []
    except ValueError as error:
        raise ValueError(f"{path} is no CSV table: {' '.join(str(error).split())}") from None
    for name in (*names, *([] if voter is None else [voter])):
        if (count := list(header).count(name)) > 1:
            raise ValueError(f"column {name!r} is in the table {count} times; it has {list(header)}")
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
    import pandas as pd

    names = require_items(items)
    try:
        frame = pd.read_parquet(path)
    except ValueError as error:
        raise ValueError(f"{path} is no Parquet table: {' '.join(str(error).split())}") from None
    return Rankings.from_frame(frame, names, voter)


def _require_one_row_each(persons: Any, voter: str) -> None:
    """Refuse a column of persons in which one is missing, or comes again."""
    if (gone := persons.isna().to_numpy()).any():
        raise ValueError(f"row {persons.index[np.argmax(gone)]} has no {voter!r}; who gave a ranking is needed")
    if (again := persons.duplicated(keep=False).to_numpy()).any():
        person = persons.iloc[np.argmax(again)]
        rows = persons.index[(persons == person).to_numpy()]
        raise ValueError(f"{person} has rows {' and '.join(map(str, rows[:2]))}; one ranking a voter is needed")


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
                raise ValueError(f"orders[{v}] names {str(name)!r}; items are {list(names)}")
    return np.vectorize(code.get, otypes=[np.int64])(table)


def require_rankings(data: Any, n_items: int | None = None, least: int = 0) -> Rankings:
    """Refuse what are no rankings (of so many items) by at least so many voters."""
    if not isinstance(data, Rankings):
        raise ValueError(
            f"data are of type {type(data).__name__}; dprank.rankings.Rankings are needed (Rankings.from_frame)"
        )
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} in the data; this mechanism is for n_items = {n_items}")
    if len(data) < least:
        raise ValueError(f"voters = {len(data)} in the data; at least {least} {'is' if least == 1 else 'are'} needed")
    return data


def require_items(items: Any, n_items: int | None = None) -> tuple[str, ...]:
    """Refuse what are no names of at least two items, or of so many."""
    if not isinstance(items, Iterable):
        raise ValueError(f"items = {items!r}; the names of at least two items are needed")
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
