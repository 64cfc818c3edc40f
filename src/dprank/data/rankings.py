"""Full rankings given by voters: the data type, validated once at the door, and its pairwise matrix."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Data, frozen
from dprank._jit import njit
from dprank._require import UNSAID, WrongType, is_number, no_data, one_name, require_columns, settle
from dprank.data.bounding import kept, person_ids
from dprank.data.comparisons import item_names
from dprank.data.files import as_pandas, read_table
from dprank.data.kendall import as_positions

__all__ = ["UNRANKED", "Rankings", "read_rankings"]

#: Why ballots are no rankings, whatever is in them.
UNRANKED = "which may have ties and gaps, and rank nothing where a row of a file did not fit"
#: What reads tables as people have them: here a row that is no ranking refuses all, which tells of whoever gave it.
_OTHERS = "; where some rows may be none, dprank.Declaration(kind='ballots', …).read(path) has them rank nothing"


class Rankings(Data):
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

    Examples
    --------
    >>> Rankings([[0, 1, 2], [2, 0, 1]], items=["roads", "parks", "debt"]).pairwise().tolist()
    [[0, 1, 1], [1, 0, 2], [1, 0, 0]]
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
        return f"Rankings of {self.n_items} items by {len(self)} voter{'s' * (len(self) != 1)}: data, secret"

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
    def from_frame(
        cls, frame: Any, *, items: Sequence[str], person: str | None = UNSAID, voter: str | None = UNSAID
    ) -> Rankings:
        """Rankings from a table with a column an item that holds its place, 1 for the best.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row a ranking; each uses every place 1 .. items once. Other columns are ignored.
        items : sequence of str
            As in `Rankings`: the names of columns; a column called 7 is that of the item "7".
        person : str or None
            The column that says who gave a ranking, by labels of any kind: "Ann" and "ann " are one person (see
            `dprank.data.bounding.person_ids`). Guarantees protect all that one person contributes, if that is one
            ranking: of a person with several one stays, by a rule that sees that person's rows only
            (`dprank.data.bounding.kept`). None says aloud that no person has two, which nothing checks.
        voter
            The name of old of `person`.

        Returns
        -------
        Rankings
            In the order of the rows. ``len(frame) - len(rankings)`` tells the curator how many were left out.

        Raises
        ------
        ValueError
            Naming the column and the row: 0 for the first, whatever the table's index. That a table is refused tells
            of whoever gave the row: it is for the curator alone. `dprank.Declaration.read`, of a file, refuses none by
            its rows, and has such a ballot rank nothing.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("ann", 1, 2), ("Ann ", 2, 1), ("bob", 1, 2)]
        >>> table = pd.DataFrame(rows, columns=["person", "roads", "parks"])
        >>> len(Rankings.from_frame(table, items=["roads", "parks"], person="person"))
        2
        """
        import pandas as pd

        names = require_items(items)
        voter, frame = one_name(person, voter), as_pandas(frame)
        labels = list(map(str, frame.columns))
        asked = (*names, *([] if voter is None else [voter]))
        require_columns(labels, asked, [*["items"] * len(names), "person"])
        who = None if voter is None else person_ids(voter, frame.iloc[:, labels.index(voter)])
        places = frame.iloc[:, [labels.index(name) for name in names]]
        if (gone := places.isna().any(axis=1).to_numpy()).any():
            raise ValueError(f"row {np.argmax(gone)} has a place missing; a ranking uses every place once{_OTHERS}")
        m = len(names)
        allowed = set(range(1, m + 1))
        for i, name in enumerate(names):
            for row, value in enumerate(places.iloc[:, i]):
                # one word in a file makes text of its whole column: the word is at fault
                place = pd.to_numeric(value, errors="coerce") if isinstance(value, str) else value
                if isinstance(place, bool) or not is_number(place) or place not in allowed:
                    raise ValueError(
                        f"{name}[{row}] is no place; places are the whole numbers 1 .. {m}, 1 for the best{_OTHERS}"
                    )
            if any(isinstance(value, str) for value in places.iloc[:, i]):
                raise ValueError(f"column {name!r} holds text; places are whole numbers, 1 for the best")
        table = places.to_numpy(float)
        if (wrong := (np.sort(table, axis=1) != np.arange(1, m + 1)).any(axis=1)).any():
            raise ValueError(f"row {np.argmax(wrong)} is no ranking; it uses every place 1 .. {m} once{_OTHERS}")
        ranks = table.astype(np.int64) - 1
        if who is not None and len(np.unique(who)) < len(who):
            ranks = ranks[kept([who], list(ranks.T), 1)]
        return cls(ranks, names)

    def pairwise(self) -> NDArray[np.int64]:
        """How many voters put each item (row) before each other (column).

        Returns
        -------
        ndarray of int, shape (items, items)
            O(voters * items^2) time, O(items^2) memory.
        """
        return _pairwise(self.positions)


def read_rankings(
    path: str | PathLike[str], *, items: Sequence[str], person: str | None = UNSAID, voter: str | None = UNSAID
) -> Rankings:
    """Rankings from a CSV or Parquet file with a column an item that holds its place, 1 for the best.

    Parameters
    ----------
    path : path
        Parquet if its name or its first bytes say so, else CSV; one row a ranking.
    items, person, voter
        As in `Rankings.from_frame`.

    Raises
    ------
    ValueError
        As `Rankings.from_frame`, row 0 being the first below a header; or naming the file where it is no table.

    Examples
    --------
    >>> import dprank
    >>> items = ["roads", "schools", "parks", "debt"]
    >>> dprank.read_rankings(dprank.example("ballots.csv"), items=items, person="person").n_items
    4
    """
    names, voter = require_items(items), one_name(person, voter)
    frame = read_table(path, [] if voter is None else [voter], names)
    return Rankings.from_frame(frame, items=names, person=voter)


def _codes(orders: Any, names: tuple[str, ...]) -> Any:
    """Orders of names as orders of codes; what are no names as it is."""
    try:
        table = np.asarray(orders)
    except Exception:  # rows of different lengths, or what is foreign: the next to look at it says so
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
    """Refuse what are no rankings (of so many items) by at least so many voters, or by just `n_voters`.

    Examples
    --------
    >>> require_rankings(Rankings([[0, 1]], items=["roads", "parks"]), n_items=2, least=3)
    Traceback (most recent call last):
        ...
    ValueError: data have too few voters; at least 3 are needed
    """
    if type(data).__name__ == "Ballots":
        raise WrongType(f"data are dprank.Ballots, {UNRANKED}; data.completed(dprank.SECURE) are rankings of as many")
    if not isinstance(data, Rankings):
        raise no_data("data", data, "Rankings are needed", "Rankings") or WrongType(
            f"data are of type {type(data).__name__}; dprank.Rankings are needed (Rankings.from_frame)"
        )
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} in the data; this mechanism is for n_items = {n_items}")
    if n_voters is not None and len(data) != n_voters:
        raise ValueError(f"data are of another number of voters; this mechanism is for n_voters = {n_voters}")
    if len(data) < least:
        raise ValueError(f"data have too few voters; at least {least} {'is' if least == 1 else 'are'} needed")
    return data


def require_items(items: Any, n_items: int | None = None) -> tuple[str, ...]:
    """Refuse what are no names of at least two items, or of so many.

    Examples
    --------
    >>> require_items(["roads", "parks"], n_items=2)
    ('roads', 'parks')
    """
    names = item_names(items)
    if n_items not in (None, len(names)):
        raise ValueError(f"items names {len(names)} items; n_items = {n_items} are needed")
    return names


@njit(cache=True, error_model="numpy")
def _pairwise(positions):
    voters, m = positions.shape
    table = np.zeros((m, m), np.int64)
    for v in range(voters):
        for i in range(m):
            for j in range(m):
                table[i, j] += positions[v, i] < positions[v, j]
    return table
