"""How many people have each item: who has which, and counts of that, of a declared list of items (long: doors).

Messages keep to the rule of `dprank._require`: positions, and nothing of the data.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Data, frozen
from dprank._require import (
    MOST,
    WIDEST_COUNT,
    as_array,
    as_list,
    no_data,
    require_columns,
    require_integers,
    require_unmasked,
    require_whole,
    settle,
    shown,
)
from dprank.data.bounding import kept, person_ids
from dprank.data.comparisons import require_codes
from dprank.data.count_files import Counts
from dprank.data.files import as_pandas, is_parquet, read_table

__all__ = [
    "MOST_CHOSEN",
    "Tallies",
    "counted",
    "declared",
    "finite",
    "is_series",
    "labels_of",
    "read_tallies",
    "undeclared",
]

if TYPE_CHECKING:
    import pandas as pd

#: Most items that are chosen: the losses of so many rounds are added up one by one.
MOST_CHOSEN = 10**7


class Tallies(Data):
    """Which items each person has; they stay as they were validated.

    An item that a person has twice counts once, and the order of the rows is forgotten. Two are equal if all their rows
    and items are.

    Parameters
    ----------
    person : array_like of int, shape (rows,)
        Whose item it is, by a number of their own.
    item : array_like of int, shape (rows,)
        Codes 0 .. len(items) - 1.
    items : iterable of hashable
        Public names of all items, different from each other, decided before looking at the data.
    without : array_like of int, optional
        Persons, by their numbers, who have none of the items: no count knows them, and local mechanisms, whose reports
        are counted, hear of them as of others. Whoever has one is none of them.

    Raises
    ------
    ValueError
        Naming the field, the first offending row and what is allowed; never what the row holds.

    See Also
    --------
    read_tallies : from a file.
    Tallies.from_frame : from a table of persons and items by name.

    Examples
    --------
    >>> tallies = Tallies([7, 7, 8, 7], [0, 1, 0, 0], items=["flu", "gout"])
    >>> len(tallies), tallies.counts().tolist()
    (3, [2, 1])
    """

    __slots__ = ("item", "items", "person", "without")

    person: NDArray[np.int64]
    item: NDArray[np.int64]
    items: tuple[Any, ...]
    without: NDArray[np.int64]

    def __init__(self, person: ArrayLike, item: ArrayLike, items: Iterable[Any], without: ArrayLike = ()) -> None:
        names = _require_names(items)
        who, what = require_integers("person", person), require_codes("item", item, len(names))
        if len(who) != len(what):
            raise ValueError("item has another number of rows than person: they must agree")
        once = np.unique(np.stack([who.astype(np.int64), what.astype(np.int64)]), axis=1)
        others = np.setdiff1d(require_integers("without", without).astype(np.int64), once[0])
        settle(self, person=frozen(once[0]), item=frozen(once[1]), items=names, without=frozen(others))

    def __reduce__(self) -> Any:
        return Tallies, self._state()

    def _state(self) -> tuple[Any, ...]:
        return self.person, self.item, self.items, self.without

    def __len__(self) -> int:
        return len(self.person)

    def __repr__(self) -> str:
        return f"Tallies of {self.n_items} items by persons who are known: data, secret"

    @property
    def n_items(self) -> int:
        """How many items are declared."""
        return len(self.items)

    @classmethod
    def from_frame(cls, frame: Any, *, items: Iterable[Any], person: str, item: str) -> Tallies:
        """Tallies from a table of persons and items.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A row for every item that a person has.
        items : iterable of hashable
            As in `Tallies`. Rows of other items are left out without a word: to refuse one would tell of whoever alone
            has it. `undeclared` shows them to the curator. Whoever has no other is one of `without`.
        person, item : str
            Column names. Persons may be labels of any kind, of which "Ann" and "ann " are one person (see
            `dprank.data.bounding.person_ids`). An item is compared as it is.

        Raises
        ------
        ValueError
            Naming the column and the row of a person who is missing: 0 for the first, whatever the table's index.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("ann", "flu"), ("Ann ", "flu"), ("ann", "gout"), ("bob", "flu"), ("bob", "plague")]
        >>> table = pd.DataFrame(rows, columns=["patient", "diagnosis"])
        >>> tallies = Tallies.from_frame(table, items=["flu", "gout"], person="patient", item="diagnosis")
        >>> tallies.counts().tolist()
        [2, 1]
        """
        frame = as_pandas(frame)
        require_columns(frame.columns, (person, item), ("person", "item"))
        names = _require_names(items)
        place = {name: code for code, name in enumerate(names)}
        who = person_ids(person, frame[person])
        codes = np.array([_place(place, label) for label in frame[item]], np.int64)
        return cls(who[codes >= 0], codes[codes >= 0], items=names, without=who[codes < 0])

    def counts(self, per_person: int | None = None) -> NDArray[np.int64]:
        """How many persons have each item.

        Parameters
        ----------
        per_person : int, optional
            Most items of a person that count, at least 1: those that are least by a hash of the person and the item, so
            that neither the order of the table nor anybody else's items matter.

        Returns
        -------
        ndarray of int, shape (n_items,)
            A person more or less moves each by at most 1, and no more than `per_person` of them; one in the place of
            another moves twice as many. O(rows log rows).

        Raises
        ------
        ValueError
            If `per_person` is no integer of at least 1.

        Examples
        --------
        >>> tallies = Tallies([7, 7, 7, 8], [0, 1, 2, 0], items=["flu", "gout", "kuru"])
        >>> int(tallies.counts().sum()), int(tallies.counts(per_person=2).sum())
        (4, 3)
        """
        stays: Any = slice(None)
        if per_person is not None:
            stays = kept([self.person], [self.item], require_whole("per_person", per_person, 1))
        return np.bincount(self.item[stays], minlength=self.n_items)


def read_tallies(path: str | PathLike[str], *, items: Iterable[Any], person: str, item: str) -> Tallies:
    """Tallies from a CSV or Parquet file with a row for every item that a person has.

    Parameters
    ----------
    path : path
        Parquet if its name or its first bytes say so, else CSV.
    items, person, item
        As in `Tallies.from_frame`; text where the file is CSV.

    Raises
    ------
    ValueError
        As `Tallies.from_frame`; or naming the file where it is no table.

    Examples
    --------
    >>> import dprank
    >>> items = ["asthma", "flu", "gout", "kuru", "measles", "migraine"]
    >>> dprank.read_tallies(dprank.example("diagnoses.csv"), items=items, person="patient", item="diagnosis")
    Tallies of 6 items by persons who are known: data, secret
    """
    names = require_items(None, items)[1] or ()
    if not is_parquet(path) and (other := [at for at, name in enumerate(names) if not isinstance(name, str)]):
        raise ValueError(f"items[{other[0]}] is a {type(names[other[0]]).__name__}; the items of a CSV file are text")
    return Tallies.from_frame(read_table(path, [person, item]), items=names, person=person, item=item)


def require_k(k: Any, n_items: float = math.inf, most: int = MOST) -> int:
    """Refuse anything but an integer from 1 to n_items, or to `most` if that is less."""
    return require_whole("k", k, 1, int(min(n_items, most)))


def require_items(n_items: Any, items: Any = None) -> tuple[int | None, tuple[Any, ...] | None]:
    """Refuse a number of items that is not whole, names that are none, and two numbers; None says not declared."""
    number = None if n_items is None else require_whole("n_items", n_items, 1)
    if items is None:
        return number, None
    needed = "the names of the items are needed, one by one"
    if isinstance(items, str):
        raise ValueError(f"items = {shown(items)}; {needed}")
    names = tuple(as_list("items", items, needed))
    if isinstance(items, np.ndarray) and items.dtype.kind in "mM" and items.ndim == 1:
        names = tuple(_index(items))  # dates as the labels of a Series have them
    if not names:
        raise ValueError("items = (); at least one is needed")
    seen = set()
    for at, name in enumerate(names):
        try:
            again = name in seen
        except TypeError:
            raise ValueError(
                f"items[{at}] = <{type(name).__name__}>; it must be hashable, as labels of a Series are"
            ) from None
        if _is_missing(name):
            raise ValueError(f"items[{at}]: a name is missing")
        if again:
            raise ValueError(f"items[{at}] is there twice; every item needs a name of its own")
        seen.add(name)
    if number not in (None, len(names)):
        raise ValueError(f"items names {len(names)} items; n_items = {n_items} is another number")
    return len(names), names


def _require_names(items: Any) -> tuple[Any, ...]:
    _, names = require_items(None, items)
    if names is None:
        raise ValueError("items = None; which items there are must not be read off the data: declare items=[...]")
    return names


def finite(values: ArrayLike | pd.Series) -> NDArray[Any]:
    """The values as one contiguous array of 64-bit numbers, copied only if they are not; all must be finite."""
    if isinstance(values, Mapping):
        raise ValueError(
            f"values are a {type(values).__name__}; a Series (pandas.Series(values)) or an array is needed"
        )
    require_unmasked("values", values)
    try:
        given = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"values are a {type(values).__name__} of no shape; one number per item is needed") from None
    if given.ndim != 1 or not given.size:
        raise ValueError(f"values have {given.ndim} dimensions, or are empty; one number per item is needed")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"values have dtype {given.dtype.type.__name__}; numbers are needed")
    whole = given.dtype.kind == "i" or (given.dtype.kind == "u" and given.max() < 2**63)
    out: NDArray[Any] = given
    if given.dtype != (np.int64 if whole else np.float64) or not given.flags.c_contiguous:
        with np.errstate(over="ignore"):  # what is beyond a double is infinite
            out = np.ascontiguousarray(given, np.int64 if whole else np.float64)
    if out.dtype == np.int64 and int(out.max()) - int(out.min()) >= 2**63:
        raise ValueError(
            "values are integers of 2^63 or more apart; their differences must be integers of 64 bits, too"
        )
    # one pass each and no temporary: not-a-number spreads, infinities are extremes
    if out.dtype == np.float64 and not (np.isfinite(out.max()) and np.isfinite(out.min())):
        at = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"values[{at}] is missing or infinite; finite numbers are needed")
    return out


def require_values(values: ArrayLike | pd.Series, k: int) -> NDArray[Any]:
    """Refuse values from which k cannot be chosen; otherwise as `finite`."""
    given = finite(values)
    require_k(k, len(given))
    return given


def counted(
    data: Tallies | Counts | ArrayLike | pd.Series,
    n_items: int | None,
    items: Iterable[Any] | None,
    *,
    sensitivity: float = 1.0,
    per_person: int | None = None,
) -> Any:
    """One number per declared item: of tallies how many persons have it, of a list of numbers as `declared`.

    Parameters
    ----------
    data : Tallies, Counts, Series or array_like
    n_items, items
        As of `declared`; the items of tallies and counts must be these, in any order.
    sensitivity : float
        Most that a person may move any of the numbers: at least the 1 by which a person moves a count.
    per_person : int, optional
        Items of a person that count, and were counted; of a list of numbers nobody knows.

    Raises
    ------
    ValueError
        Whatever the persons have, if other items are declared, or none; or if less than 1 is said to move.

    Examples
    --------
    >>> counted(Tallies([7, 8, 7], [0, 0, 1], items=["flu", "gout"]), 2, ["gout", "flu"]).to_dict()
    {'gout': 1, 'flu': 2}
    """
    if not isinstance(data, Tallies | Counts):
        return declared(data, n_items, items)
    if items is None:
        raise ValueError("items = None; those of tallies have names: declare items=tallies.items")
    names = tuple(items)
    if set(names) != set(data.items):
        raise ValueError("items are not those of the tallies; the same names are needed, in any order")
    if sensitivity < 1:
        raise ValueError(f"sensitivity = {sensitivity}; a person moves a count by 1: tallies need at least that")
    place = {name: code for code, name in enumerate(data.items)}
    if isinstance(data, Counts):
        bound = {} if per_person is None else {"per_person": per_person}
        persons = np.array(data.require("tallies", **bound).sums["persons"], np.int64)
    else:
        persons = data.counts(per_person)
    return _labelled(persons[[place[name] for name in names]], names)


def declared(values: ArrayLike | pd.Series, n_items: int | None, items: Iterable[Any] | None) -> Any:
    r"""One number per declared item: what the data say of it, or 0; all else in the data is left out.

    Parameters
    ----------
    values : array_like or Series
        By code, or by label.
    n_items : int or None
        As of `require_items`.
    items : iterable or None

    Returns
    -------
    array_like, or Series with the index `items`, shape (n_items,)
        Not yet looked at otherwise: `finite` does that.

    Raises
    ------
    ValueError
        Whatever the data, where nothing is declared, or no names for the labels of a Series. And for a Series with two
        values of one declared item, which is no list of counts, whoever is in it.

    Notes
    -----
    Why no label of the data is refused: see `dprank.topk.oneshot.Oneshot`.

    A label is compared by itself, as in a dict. An index of one kind reads others as its own (dates read texts), and
    of which kind it is depends on all labels.

    Examples
    --------
    >>> declared([3, 1], 3, ["flu", "gout", "kuru"]).to_dict()
    {'flu': 3, 'gout': 1, 'kuru': 0}
    """
    if n_items is None:
        raise ValueError(
            "items = None, n_items = None; which items there are must not be read off the data: "
            "declare items=[...], or n_items=... for an array"
        )
    if is_series(values):
        if items is None:
            raise ValueError("items = None; values are a Series, whose labels are data: declare items=[...]")
        place = {item: at for at, item in enumerate(items)}
        at = np.array([_place(place, label) for label in values.index], np.int64)
        known = at >= 0
        given, at = np.asarray(values[known]), at[known]
        if given.dtype == object:  # for the sake of what is left out, maybe
            given = as_array("values", given.tolist())
        if len(twice := np.flatnonzero(np.bincount(at, minlength=n_items) > 1)):
            raise ValueError(f"values hold items[{twice[0]}] twice; one number per item is needed")
        full = np.zeros(n_items, given.dtype if len(given) else np.int64)
        full[at] = given
        return _series(full, items)
    if (wrong := no_data("values", values, "Tallies, or a list of counts, are needed", "Tallies")) is not None:
        raise wrong
    if not isinstance(values, Mapping):
        values = as_array("values", values)
        if values.ndim == 1 and len(values) != n_items:
            short = values[:n_items]
            values = np.concatenate([short, np.zeros(n_items - len(short), short.dtype)])
    return values if items is None else _labelled(finite(values), items)


def _place(place: Mapping[Any, int], label: Any) -> int:
    """Of a label among the declared; -1 of any other, though it be none that a dict could hold."""
    try:
        return place.get(label, -1)
    except TypeError:
        return -1


def _index(items: Iterable[Any]) -> pd.Index:
    """Of names, pairs among them as they are."""
    import pandas as pd

    if type(items) is tuple and set(map(type, items)) == {str}:
        return _of_words(items).view()  # its name is whose it is
    given = items if isinstance(items, np.ndarray) else list(items)
    try:
        return pd.Index(given, tupleize_cols=False)
    except NotImplementedError:  # pandas has no index of numbers of 16 bits: the same ones of 64
        return pd.Index([float(it) if isinstance(it, np.float16) else it for it in given], tupleize_cols=False)


@lru_cache(maxsize=8)
def _of_words(names: tuple[str, ...]) -> pd.Index:
    """The same of words alone: as often as the same items are released."""
    import pandas as pd

    return pd.Index(list(names), tupleize_cols=False)


class Labelled:
    """Values of items whose names are texts, with as much of what a Series has as is asked of it.

    Examples
    --------
    >>> values = Labelled(np.array([3, 1]), ("flu", "gout"))
    >>> np.asarray(values).tolist(), labels_of(values).tolist()
    ([3, 1], ['flu', 'gout'])
    """

    def __init__(self, values: NDArray[Any], names: tuple[str, ...]) -> None:
        self.values, self.names = values, names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def to_dict(self) -> dict[str, Any]:
        """The value of each name."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


def labels_of(values: Any) -> NDArray[Any] | None:
    """What the values are called; None where they are called by their places."""
    if isinstance(values, Labelled):
        return np.array(values.names, object)
    return values.index.to_numpy() if is_series(values) else None


def _labelled(values: NDArray[Any], items: Iterable[Any]) -> Any:
    """A Series of other names than texts: numbers and dates are what it makes of them."""
    texts = type(items) is tuple and set(map(type, items)) == {str}
    return Labelled(values, items) if texts else _series(values, items)  # type: ignore[arg-type]


def _series(values: NDArray[Any], items: Iterable[Any]) -> pd.Series:
    import pandas as pd

    return pd.Series(values, _index(items))


def is_series(values: Any) -> TypeGuard[pd.Series]:
    """Whether it is one of pandas, which whoever has one has imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.Series)


def _is_missing(name: Any) -> bool:
    """Whether it is None, or not-a-number, or not-a-time, or that of pandas, which cannot be compared."""
    return name is None or type(name).__name__ == "NAType" or bool(name != name)


def undeclared(values: pd.Series, items: Iterable[Any]) -> list[Any]:
    """Labels of the data that a release leaves out, as they are not declared: for the curator's eyes, and not private.

    Parameters
    ----------
    values : Series
    items : iterable of hashable
        Declared.

    Examples
    --------
    >>> import pandas as pd
    >>> undeclared(pd.Series({"flu": 3, "Gout": 1}), ["flu", "gout"])
    ['Gout']
    """
    known = set(require_items(None, items)[1] or ())
    if not is_series(values):
        raise ValueError(f"values are a {type(values).__name__}; a Series, whose labels are items, is needed")
    return [label for label in values.index if label not in known]


def require_exact_values(values: ArrayLike | pd.Series, sensitivity: float) -> NDArray[np.int64]:
    """Refuse values, or moves of them, that are not integers: exact noise is for those."""
    if sensitivity != round(sensitivity):
        raise ValueError(f"sensitivity = {sensitivity}; exact noise needs an integer")
    given = finite(values)
    wrong = (given != np.round(given)) | (given > WIDEST_COUNT) | (given < -WIDEST_COUNT)
    if wrong.any():
        raise ValueError(f"values[{int(wrong.argmax())}] is none of the integers up to 2^51 that exact noise needs")
    return given.astype(np.int64)
