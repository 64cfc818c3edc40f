"""Ballots that may rank some items only and tie others: the data type, validated once at the door, and its margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Data, frozen
from dprank._jit import njit
from dprank._require import (
    UNSAID,
    WrongType,
    as_array,
    is_number,
    no_data,
    one_name,
    require_columns,
    require_integers,
    require_whole,
    settle,
)
from dprank.data.bounding import kept, person_ids
from dprank.data.files import as_pandas
from dprank.data.rankings import Rankings, require_items

__all__ = ["HEAVIEST", "BallotForm", "Ballots", "as_orders", "dense_places", "require_ballots"]

#: What a mechanism takes: rankings of all items; or `Ballots`, of some items, with ties and weights.
BallotForm = Literal["full", "partial"]

#: Largest weight of a ballot: with it all counts that fit a machine's memory are exact in 64 bits.
HEAVIEST = 1 << 20

#: Places that are sorted at a time.
_BLOCK = 1 << 22


class Ballots(Data):
    """One order a voter, of all items or of some, with or without ties; they stay as they were validated.

    Two items that a ballot ranks alike are tied, and an item that it does not rank is compared with none: neither says
    anything of the pair. `unranked_last` makes what is left out the last of a ballot, which is another claim.

    Attributes cannot be set or deleted and arrays are read-only, also after pickling and copying; nothing is shared
    with the arrays that were given. Two are equal if all their orders, weights and items are.

    Parameters
    ----------
    places : array_like of int, shape (ballots, items)
        ``places[v, i]`` is the place ballot v gives item i, the smaller the better; equal numbers are a tie, -1 an item
        that is not ranked. Kept are 0, 1, 2 and so on without gaps, so that the same order is the same row.
    items : sequence of str
        Names of all items, at least two, no two alike, decided before looking at the data.
    weight : array_like of int, shape (ballots,), optional
        How much each voter counts, from 0 to 2^20; 1 each by default. Not how many voters gave the same ballot: a
        guarantee protects one row, so that voters who agree have a row each.

    Raises
    ------
    ValueError
        Naming the field and the first row at fault.

    Notes
    -----
    O(ballots * items * log(items)) time.

    Examples
    --------
    >>> ballots = Ballots([[0, 1, 1], [5, -1, 3], [0, 1, 2]], items=["roads", "parks", "debt"])
    >>> ballots.places.tolist()
    [[0, 1, 1], [1, -1, 0], [0, 1, 2]]
    >>> ballots.margins().tolist()
    [[0, 2, 1], [-2, 0, 1], [-1, -1, 0]]
    >>> ballots.net_wins().tolist()
    [3, -1, -2]
    """

    __slots__ = ("items", "places", "weight")

    items: tuple[str, ...]
    places: NDArray[Any]
    weight: NDArray[np.int64]

    def __init__(self, places: ArrayLike, items: Sequence[str], weight: ArrayLike | None = None) -> None:
        names, table = require_items(items), as_orders("places", places)
        if table.shape[1] != len(names):
            raise ValueError(f"places rank {table.shape[1]} items, items names {len(names)}")
        if weight is None:
            heavy = np.ones(len(table), np.int64)
        else:
            given = require_integers("weight", weight)
            if len(given) != len(table):
                raise ValueError("weight has another number of rows than places: they must agree")
            if (wrong := (given < 0) | (given > HEAVIEST)).any():
                raise ValueError(f"weight[{np.argmax(wrong)}] is out of range; whole numbers 0 .. 2^20 are needed")
            heavy = given.astype(np.int64)
        self._settle(table, names, heavy)

    def _settle(self, places: NDArray[Any], items: tuple[str, ...], weight: NDArray[np.int64]) -> Self:
        settle(self, items=items, places=frozen(places), weight=frozen(weight))
        return self

    def __reduce__(self) -> Any:
        places, items, weight = self._state()
        return Ballots, (places, items, weight)

    def _state(self) -> tuple[Any, ...]:
        return self.places, self.items, self.weight

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return f"Ballots of {self.n_items} items by {len(self)} voter{'s' * (len(self) != 1)}: data, secret"

    @property
    def n_items(self) -> int:
        return len(self.items)

    @classmethod
    def from_rankings(cls, rankings: Rankings) -> Ballots:
        """Full rankings as ballots, each of weight 1.

        Raises
        ------
        ValueError
            Where they are none.

        Examples
        --------
        >>> Ballots.from_rankings(Rankings([[0, 1], [1, 0]], items=["roads", "parks"])).net_wins().tolist()
        [0, 0]
        """
        if not isinstance(rankings, Rankings):
            raise WrongType(f"rankings are of type {type(rankings).__name__}; dprank.Rankings are needed")
        places = rankings.positions.astype(_kind(rankings.n_items))
        return object.__new__(cls)._settle(places, rankings.items, np.ones(len(places), np.int64))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        items: Sequence[str],
        person: str | None = UNSAID,
        weight: str | None = None,
        voter: str | None = UNSAID,
    ) -> Ballots:
        """Ballots from a table with a column an item that holds its place, 1 for the best, or nothing.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row a ballot. Other columns are ignored.
        items : sequence of str
            As in `Ballots`: the names of columns; a column called 7 is that of the item "7".
        person, voter : str or None
            As in `dprank.Rankings.from_frame`: of a person with several ballots one stays, by a hash of that person's.
        weight : str, optional
            The column of weights.

        Raises
        ------
        ValueError
            Naming the column and the row: 0 for the first, whatever the table's index.

        Notes
        -----
        O(ballots * items * log(items)). To leave out the rows at fault instead, see `dprank.Declaration`.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"person": ["ann", "bob"], "roads": [1, 2], "parks": [1, None]})
        >>> Ballots.from_frame(table, items=["roads", "parks"], person="person").places.tolist()
        [[0, 0], [0, -1]]
        """
        voter, frame, names = one_name(person, voter), as_pandas(frame), require_items(items)
        labels = list(map(str, frame.columns))
        others = {key: it for key, it in (("person", voter), ("weight", weight)) if it is not None}
        require_columns(labels, (*names, *others.values()), [*["items"] * len(names), *others])
        who = None if voter is None else person_ids(voter, frame.iloc[:, labels.index(voter)])
        columns = [frame.iloc[:, labels.index(name)] for name in names]
        values = np.stack([_places_of(name, column) for name, column in zip(names, columns, strict=True)], axis=1)
        places = dense_places(values)
        heavy = None if weight is None else require_integers(weight, frame.iloc[:, labels.index(weight)].to_numpy())
        stays = np.ones(len(places), bool)
        if who is not None and len(np.unique(who)) < len(who):
            stays = kept([who], list(places.T) + ([] if heavy is None else [heavy]), 1)
        return cls(places[stays], names, None if heavy is None else heavy[stays])

    def unranked_last(self) -> Ballots:
        """The same with all items that a ballot leaves out tied behind those that it ranks.

        For ballots that rank the best only ("your three favourites"): a function of each ballot alone, so that whatever
        protects a ballot of the result protects the one that was given.

        Examples
        --------
        >>> Ballots([[0, -1, -1], [-1, -1, -1]], items=["roads", "parks", "debt"]).unranked_last().places.tolist()
        [[0, 1, 1], [0, 0, 0]]
        """
        places = self.places.astype(np.int64)
        return Ballots(np.where(places < 0, self.n_items, places), self.items, self.weight)

    def completed(self, rng: Any) -> Rankings:
        """As many rankings, in which lots decide what a ballot leaves open; weights are not read.

        For mechanisms that take full rankings alone. Tied items are put in random order; what a ballot does not rank in
        random order before all others, or behind all. So one that ranks nothing becomes any ranking, and none is lost:
        their number stays as public as it was. Each is drawn for one ballot alone, so that whatever protects a ranking
        of the result protects the ballot that was given.

        Parameters
        ----------
        rng : numpy.random.Generator or dprank.SECURE
            `SECURE` to publish; the same lots are drawn for every ballot, whatever it says.

        Raises
        ------
        ValueError
            Where it draws no lots.

        Examples
        --------
        >>> ballots = Ballots([[2, 0, 1], [-1, -1, -1]], items=["roads", "parks", "debt"])
        >>> rankings = ballots.completed(np.random.default_rng(1))
        >>> len(rankings), rankings.positions[0].tolist()
        (2, [2, 0, 1])
        """
        draw = getattr(rng, "permutation", None)
        if not callable(draw):
            raise WrongType(f"rng is of type {type(rng).__name__}; numpy.random.Generator or dprank.SECURE are needed")
        m = self.n_items
        lots = np.array([draw(m) for _ in range(len(self))], np.int64).reshape(len(self), m)
        front = np.array([draw(2)[0] for _ in range(len(self))], bool)
        tiers = np.where(self.places < 0, np.where(front, -1, m)[:, None], self.places.astype(np.int64))
        return Rankings(np.argsort(np.lexsort((lots, tiers), axis=-1), axis=1), self.items)

    def bounded_weight(self, most: int) -> Ballots:
        """The same with no weight above a public bound: a heavier ballot counts as the bound.

        Parameters
        ----------
        most : int
            From 1 to 2^20.

        Raises
        ------
        ValueError
            Where it is out of range.

        Examples
        --------
        >>> Ballots([[0, 1], [1, 0]], items=["roads", "parks"], weight=[9, 2]).bounded_weight(3).weight.tolist()
        [3, 2]
        """
        most = require_whole("most", most, 1, HEAVIEST)
        return object.__new__(Ballots)._settle(self.places, self.items, np.minimum(self.weight, most))

    def margins(self) -> NDArray[np.int64]:
        """Weight of the ballots that put each item (row) before each other (column), less of those that do the reverse.

        Returns
        -------
        ndarray of int, shape (items, items)
            Antisymmetric. O(ballots * items^2) time, O(items^2) memory.
        """
        upper = _margins(self.places, self.weight)
        return upper - upper.T

    def net_wins(self) -> NDArray[np.int64]:
        """Items that each item is put before, less items that it is put behind, over all ballots by their weight.

        Returns
        -------
        ndarray of int, shape (items,)
            The sums of the rows of `margins`; their sum is 0. O(ballots * items) time.
        """
        return _net_wins(self.places, self.weight)


def _places_of(name: str, column: Any) -> NDArray[np.float64]:
    """A column of finite numbers, not-a-number where a place is missing."""
    gone = column.isna().to_numpy()
    given = [np.nan if missing else place for place, missing in zip(column, gone, strict=True)]
    for row, place in enumerate(given):
        whole = is_number(place) and not isinstance(place, bool | np.bool_ | np.timedelta64)
        if not gone[row] and not (whole and 0 < place <= 2**53):
            raise ValueError(f"{name}[{row}] is no place; numbers above 0, up to 2^53, are: 1 for the best; or nothing")
    return np.array(given, float)


def dense_places(values: NDArray[np.float64]) -> NDArray[Any]:
    """Places 0, 1, 2 and so on by what is said of every item, the least best; -1 where nothing is.

    Examples
    --------
    >>> dense_places(np.array([[2.5, 1.0, np.nan], [7.0, 7.0, 9.0]])).tolist()
    [[1, 0, -1], [0, 0, 1]]
    """
    places, said = np.full(values.shape, -1), ~np.isnan(values)
    places[said] = np.unique(values[said], return_inverse=True)[1]
    return as_orders("places", places)


def as_orders(name: str, values: ArrayLike) -> NDArray[Any]:
    """Rows of places that may be tied (equal) or missing (-1), without gaps, in the narrowest type that holds them.

    Parameters
    ----------
    name : str
        What error messages call the array.
    values : array_like of int, shape (ballots, items)

    Raises
    ------
    ValueError
        Where they are no table of integers, or naming the first row with a number below -1.

    Examples
    --------
    >>> as_orders("places", [[7, 7, 2], [-1, 4, -1]]).tolist()
    [[1, 1, 0], [-1, 0, -1]]
    """
    array = as_array(name, values)
    if array.ndim != 2 or array.shape[1] < 1 or array.dtype.kind not in "iu":
        kind = f"{array.ndim} dimensions of {array.dtype.type.__name__}"
        raise ValueError(f"{name} has {kind}; rows of integer places are needed, -1 for an item that is not ranked")
    if array.dtype.kind == "i" and (wrong := (array < -1).any(axis=1)).any():
        raise ValueError(f"{name}[{np.argmax(wrong)}] holds a place below -1; 0 or more is a place, -1 is not ranked")
    voters, m = array.shape
    dense = np.empty((voters, m), _kind(m))
    rows = max(1, _BLOCK // m)
    for start in range(0, voters, rows):
        block = array[start : start + rows]
        at = np.arange(len(block))[:, None], np.argsort(block, axis=1)
        ascending = block[at]
        rank = np.zeros(block.shape, np.int64)
        np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=rank[:, 1:])
        # numpy would make floats of -1 and unsigned numbers
        if array.dtype.kind == "i":
            rank -= ascending[:, :1] == -1
        dense[start : start + rows][at] = rank
    return dense


def require_ballots(data: Any, n_items: int | None = None, least: int = 0) -> Ballots:
    """Ballots (of so many items) of at least so many voters, or `Rankings` as ballots; anything else is refused.

    Examples
    --------
    >>> require_ballots(Rankings([[0, 1]], items=["roads", "parks"]), n_items=2)
    Ballots of 2 items by 1 voter: data, secret
    >>> require_ballots(Ballots([[0, 0]], items=["roads", "parks"]), n_items=3)
    Traceback (most recent call last):
        ...
    ValueError: items = 2 in the data; this mechanism is for n_items = 3
    """
    if isinstance(data, Rankings):
        data = Ballots.from_rankings(data)
    if not isinstance(data, Ballots):
        raise no_data("data", data, "Ballots or Rankings are needed", "Ballots") or WrongType(
            f"data are of type {type(data).__name__}; dprank.Ballots or dprank.Rankings are needed"
        )
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} in the data; this mechanism is for n_items = {n_items}")
    if len(data) < least:
        raise ValueError(f"data have too few voters; at least {least} {'is' if least == 1 else 'are'} needed")
    return data


def _kind(n_items: int) -> np.dtype[Any]:
    """The narrowest type that holds places and -1."""
    return np.dtype(np.min_scalar_type(-n_items))


@njit(cache=True, error_model="numpy")
def _margins(places, weight):
    """Above the diagonal; 0 elsewhere."""
    voters, m = places.shape
    table = np.zeros((m, m), np.int64)
    for v in range(voters):
        for i in range(m):
            if places[v, i] < 0:
                continue
            for j in range(i + 1, m):
                if places[v, j] >= 0:
                    ahead = np.int64(places[v, i] < places[v, j]) - np.int64(places[v, i] > places[v, j])
                    table[i, j] += ahead * weight[v]
    return table


@njit(cache=True, error_model="numpy")
def _net_wins(places, weight):
    """An item beats those ranked behind it: places have no gaps, so that a count of each and running sums suffice."""
    voters, m = places.shape
    net, upto = np.zeros(m, np.int64), np.zeros(m + 1, np.int64)
    for v in range(voters):
        upto[:] = 0
        for i in range(m):
            if places[v, i] >= 0:
                upto[places[v, i] + 1] += 1
        for place in range(m):
            upto[place + 1] += upto[place]
        for i in range(m):
            if places[v, i] >= 0:
                behind = upto[m] - upto[places[v, i] + 1]
                net[i] += (behind - upto[places[v, i]]) * weight[v]
    return net
