"""Pairwise comparisons, validated once at the door (long: half of it is what the door refuses, and how it says so)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Data, frozen
from dprank._jit import njit
from dprank._require import (
    UNSAID,
    WrongType,
    as_list,
    is_number,
    no_data,
    one_name,
    require_bool,
    require_column,
    require_columns,
    require_integers,
    require_label,
    require_one_of,
    require_whole,
    settle,
)
from dprank.data.answers import cell_text, codes_of, settled_answers, shown_answers, twice_points
from dprank.data.bounding import disjoint, kept, nameless, person_ids
from dprank.data.files import as_pandas, read_table

__all__ = [
    "FEW_ROWS",
    "Comparisons",
    "Design",
    "Rows",
    "at_row",
    "first_true",
    "item_names",
    "plain",
    "read_comparisons",
    "twice_the_outcome",
    "voter_column",
]

#: What one voter may do: answer any pairs, again and again; no pair twice; every pair exactly once; no item twice.
Design = Literal["any", "once", "complete", "matching"]

#: Where in the whole table the rows of a part stand.
Rows = Sequence[int] | NDArray[np.int64] | None

#: Below so many rows numpy has counted before a kernel would be compiled.
FEW_ROWS = 20_000
#: What reads tables as people have them: here a row that does not fit refuses all, which tells of whoever gave it.
_OTHERS = "; where some rows may not fit, dprank.Declaration(kind='comparisons', …).read(path) leaves these out"
#: Twice the outcomes there are.
_TWICE = (0, 1, 2)


class Comparisons(Data):
    """Outcomes of comparisons between pairs of items; they stay as they were validated.

    Attributes cannot be set or deleted and arrays are read-only, also after pickling and copying; nothing is shared
    with the arrays that were given. Two are equal if all their rows and items are.

    Parameters
    ----------
    first, second : array_like of int, shape (comparisons,)
        Item codes, 0 .. len(items) - 1; the two of a row differ.
    outcome : array_like of float, shape (comparisons,)
        1 where the first item was preferred, 0 where the second was, 1/2 where the answer was undecided. An answer that
        is missing is a row that is absent.
    items : sequence of str
        Names of all items, decided before looking at the data: an item list read off the data would itself reveal
        whom somebody compared.
    voter : array_like of int, shape (comparisons,), optional
        Who gave each answer, by a number of their own.

    Attributes
    ----------
    points : ndarray of uint8
        Twice the outcome, one byte a row: what the kernels read.
    unanswered : Comparisons or None
        Questions that were put to voters who are known and have no answer that means anything, each as a tie: what
        `Declaration.read` and ``missing="drop"`` left out. They are no rows, and count for nothing, but where who was
        asked what is public: see `asked`. Some of the rows have none.

    Raises
    ------
    ValueError
        Naming the field, the first offending row and what is allowed; never what the row holds.

    Examples
    --------
    >>> Comparisons([0, 1], [1, 2], [1, 0.5], items=["London", "Paris", "Rome"], voter=[7, 7])
    Comparisons of 3 items by voters who are known: data, secret
    """

    __slots__ = ("_last", "first", "items", "points", "second", "unanswered", "voter")

    first: NDArray[Any]
    second: NDArray[Any]
    points: NDArray[np.uint8]
    items: tuple[str, ...]
    voter: NDArray[Any] | None
    unanswered: Comparisons | None
    #: Of few rows, the bound that was asked for last, and what it left.
    _last: tuple[Any, Comparisons | None]

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        outcome: ArrayLike,
        items: Sequence[str],
        voter: ArrayLike | None = None,
    ) -> None:
        self._settle(first, second, twice_the_outcome("outcome", outcome), items, voter)

    def _settle(
        self,
        first: ArrayLike,
        second: ArrayLike,
        points: ArrayLike,
        items: Sequence[str],
        voter: ArrayLike | None,
        unanswered: Comparisons | None = None,
    ) -> None:
        names = item_names(items)
        columns = {
            "first": require_codes("first", first, len(names)),
            "second": require_codes("second", second, len(names)),
            "points": require_codes("points", points, len(_TWICE)),
        }
        if voter is not None:
            columns["voter"] = require_integers("voter", voter)
        for name, column in columns.items():
            if len(column) != len(columns["first"]):
                raise ValueError(f"{name} has another number of rows than first: they must agree")
        require_different("second", columns["first"], columns["second"])
        if unanswered is not None and (
            not isinstance(unanswered, Comparisons) or unanswered.items != names or unanswered.voter is None
        ):
            raise ValueError("unanswered are no comparisons of the same items by voters who are known")
        settle(self, items=names, voter=None, unanswered=unanswered, _last=(None, None))
        settle(self, **{name: frozen(column) for name, column in columns.items()})

    @classmethod
    def _again(cls, *columns: Any) -> Comparisons:
        data = object.__new__(cls)
        data._settle(*columns)
        return data

    def __reduce__(self) -> Any:
        return self._again, self._state()

    def _state(self) -> tuple[Any, ...]:
        return self.first, self.second, self.points, self.items, self.voter, self.unanswered

    @property
    def outcome(self) -> NDArray[np.float64]:
        """1, 1/2 or 0 for every comparison."""
        return self.points / 2

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        by = "voters who are not known" if self.voter is None else "voters who are known"
        return f"Comparisons of {self.n_items} items by {by}: data, secret"

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def voters(self) -> NDArray[np.int64]:
        """The distinct voters, ascending."""
        return np.unique(voter_column(self))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        items: Sequence[str],
        person: str | None = UNSAID,
        first: str = "first",
        second: str = "second",
        outcome: str = "outcome",
        answers: str | Mapping[str, float] = "outcome",
        missing: Literal["refuse", "drop"] = "refuse",
        voter: str | None = UNSAID,
    ) -> Comparisons:
        """Comparisons from a tidy table of item names.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row an answer.
        items : sequence of str
            All item names, in the order of their codes.
        person : str or None
            The column that says who gave an answer, by labels of any kind: "Ann" and "ann " are one person (see
            `dprank.data.bounding.person_ids`). None says aloud that it is not known: then one comparison alone can be
            protected.
        first, second, outcome : str
            Column names.
        answers : {"outcome", "names", "position"} or mapping of str to float
            What an outcome means, as in `dprank.Declaration`: 1, 0.5 and 0 themselves, unless it is said.
        missing : {"refuse", "drop"}
            What to do with rows whose outcome is empty; of what is dropped `unanswered` says what was asked.
        voter
            The name of old of `person`.

        Raises
        ------
        ValueError
            Naming the column and the row: 0 for the first, whatever the table's index. That a table is refused tells
            of whoever gave the row: it is for the curator alone. `dprank.Declaration.read`, of a file, refuses none by
            its rows, and leaves such a row out.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("Rome", "Paris", 1, "ann"), ("Paris", "London", 0.5, "Ann ")]
        >>> table = pd.DataFrame(rows, columns=["first", "second", "outcome", "person"])
        >>> answers = Comparisons.from_frame(table, items=["London", "Paris", "Rome"], person="person")
        >>> len(answers), len(answers.voters)
        (2, 1)
        """
        voter, frame = one_name(person, voter), as_pandas(frame)
        asked = {"first": first, "second": second, "outcome": outcome} | ({} if voter is None else {"person": voter})
        require_columns(frame.columns, asked.values(), [*asked])
        require_one_of("missing", missing, ("refuse", "drop"))
        try:
            gone = frame[outcome].isna().to_numpy()
        except ArithmeticError:  # a decimal that signals is no answer, and refused as such
            gone = np.zeros(len(frame), bool)
        if missing == "refuse" and (bad := first_true(gone)) is not None:
            raise ValueError(f"{outcome}[{bad}] is missing; say missing='drop' to leave such answers out")
        whole, frame, rows = frame, frame.loc[~gone], np.flatnonzero(~gone)
        names = item_names(items)

        def codes(column: str) -> NDArray[Any]:
            code = _codes(names, frame[column])
            if (bad := first_true(code < 0)) is not None:
                raise ValueError(f"{at_row(column, bad, rows)} is none of the {len(names)} items{_OTHERS}")
            return code

        one, other = codes(first), codes(second)
        require_different(second, one, other, rows)
        points = _points_of(outcome, frame[outcome], rows, answers, names, one, other)
        who = None if voter is None else person_ids(voter, frame[voter], rows)
        data = cls(one, other, points / 2, names, who)
        if voter is None or not gone.any():
            return data
        one, other = (_codes(names, whole[it]) for it in (first, second))
        asked = gone & (one >= 0) & (other >= 0) & (one != other) & whole[voter].notna().to_numpy()
        asked[asked] = ~nameless(whole.loc[asked, voter])
        who = person_ids(voter, whole.loc[asked, voter], np.flatnonzero(asked))
        return data.with_unanswered(one[asked], other[asked], who)

    def with_unanswered(self, first: ArrayLike, second: ArrayLike, voter: ArrayLike | None) -> Comparisons:
        """The same, and what else was asked of voters who are known: codes of items, and numbers of voters.

        Examples
        --------
        >>> data = Comparisons([0], [1], [1], items=["a", "b", "c"], voter=[7]).with_unanswered([1], [2], [7])
        >>> len(data), len(data.asked())
        (1, 2)
        """
        if voter is None or not len(np.asarray(voter)):
            return self
        ties = Comparisons(first, second, np.full(len(np.asarray(voter)), 0.5), self.items, voter)
        return self._again(*self._state()[:-1], ties)

    def asked(self) -> Comparisons:
        """All that voters were asked, in no order that says anything: what has no answer is a tie.

        For mechanisms of which it is public who was asked what: whether somebody answered is then as hidden as what.
        """
        more = self.unanswered
        if more is None:
            return self
        names = ("first", "second", "points", "voter")
        first, second, points, voter = (np.append(getattr(self, it), getattr(more, it)) for it in names)
        order = np.lexsort((points, second, first, voter))
        return self._again(first[order], second[order], points[order], self.items, voter[order])

    def bounded(self, per_person: int | None = None, *, design: Design = "any", ties: bool = True) -> Comparisons:
        """What a release counts: of every voter no more than was promised, by a rule that sees that voter's rows only.

        Parameters
        ----------
        per_person : int, optional
            Most answers of a voter, at least 1; None where one comparison is what is protected.
        design : {"any", "once", "complete", "matching"}
            "once" keeps one answer of a voter to each pair; "complete" also leaves out voters with fewer than
            `per_person` of them; "matching" keeps one answer of a voter to each item.
        ties : bool
            False leaves out undecided answers.

        Returns
        -------
        Comparisons
            Itself where all is as promised. ``len(data) - len(data.bounded(3))`` tells the curator, and nobody else,
            how many answers a bound of 3 leaves out.

        Notes
        -----
        Which answers stay depends on a hash of the voter's number and of the pair, and among answers to one pair of
        what they say: not on the order of the table, and not on others, so that one voter changes at most their own.
        Unless undecided answers are left out, how often each pair stays does not depend on outcomes: where everybody
        knows who was asked what, they know that too. O(rows log rows), of a matching for each answer of a voter.

        Examples
        --------
        >>> data = Comparisons([0, 0, 1], [1, 2, 2], [1, 0, 1], items=["a", "b", "c"], voter=[7, 7, 8])
        >>> len(data.bounded(1)), data.bounded(2) is data
        (2, True)
        """
        require_one_of("design", design, get_args(Design))
        most = None if per_person is None else require_whole("per_person", per_person, 1)
        asked = most, design, require_bool("ties", ties)
        before, found = self._last
        if asked != before:
            found = self._bounded(*asked)
            if len(self) < FEW_ROWS:  # the same data are released again and again where a mechanism is audited
                settle(self, _last=(asked, found))
        return self if found is None else found

    def _bounded(self, per_person: int | None, design: Design, ties: bool) -> Comparisons | None:
        """What stays; None if all do."""
        stays = np.ones(len(self), bool) if ties else self.points != 1
        if per_person is not None:
            voter, first, second, points = voter_column(self), self.first, self.second, self.points
            swapped = first > second
            low, high = np.where(swapped, (second, first), (first, second))
            pair = low.astype(np.int64) * self.n_items + high
            won = np.where(swapped, 2 - points, points)
            if design in ("once", "complete"):
                stays[stays] = kept([voter[stays], pair[stays]], [won[stays]], 1)
            if design == "matching":
                stays[stays] = disjoint(voter[stays], (low[stays], high[stays]), [pair[stays], won[stays]], per_person)
            else:
                stays[stays] = kept([voter[stays]], [pair[stays], won[stays]], per_person)
            if design == "complete":
                voters, person = np.unique(voter, return_inverse=True)
                stays &= (np.bincount(person[stays], minlength=len(voters)) == per_person)[person]
        return None if stays.all() else self[stays]

    def __getitem__(self, rows: Any) -> Comparisons:
        """The comparisons of some rows (a slice, a mask or an index array)."""
        try:
            taken = np.arange(len(self))[rows]
        except Exception:
            raise ValueError(
                "rows are none of the table's; a slice, a mask of its length or its row numbers are needed"
            ) from None
        voter = None if self.voter is None else self.voter[taken]
        return self._again(self.first[taken], self.second[taken], self.points[taken], self.items, voter)


def require_comparisons(data: Any, n_items: int | None = None) -> Comparisons:
    """Refuse what are no comparisons (of so many items)."""
    if not isinstance(data, Comparisons):
        raise no_data("data", data, "Comparisons are needed", "Comparisons") or WrongType(
            f"data are a {type(data).__name__}; Comparisons are needed (Comparisons.from_frame makes them)"
        )
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} names; this mechanism is for n_items = {n_items}")
    return data


def read_comparisons(
    path: str | PathLike[str],
    *,
    items: Sequence[str],
    person: str | None = UNSAID,
    first: str = "first",
    second: str = "second",
    outcome: str = "outcome",
    answers: str | Mapping[str, float] = "outcome",
    missing: Literal["refuse", "drop"] = "refuse",
    voter: str | None = UNSAID,
) -> Comparisons:
    """Comparisons from a CSV or Parquet file of item names.

    Parameters
    ----------
    path : path
        Parquet if its name or its first bytes say so, else CSV.
    items, person, first, second, outcome, answers, missing, voter
        As in `Comparisons.from_frame`.

    Raises
    ------
    ValueError
        Naming the column and the row, 0 for the first below a header; or the file, where it is no table.

    Examples
    --------
    >>> import dprank
    >>> answers = dprank.read_comparisons(
    ...     dprank.example("answers.csv"), items=["London", "Paris", "Rome"], person="person"
    ... )
    >>> answers
    Comparisons of 3 items by voters who are known: data, secret
    """
    voter = one_name(person, voter)
    labels, names = [name for name in (first, second, voter) if name is not None], item_names(items)
    numbers = isinstance(answers, str) and answers != "names"
    frame = read_table(path, [*labels, *([] if numbers else [outcome])], [outcome] if numbers else [])
    return Comparisons.from_frame(
        frame, items=names, person=voter, first=first, second=second, outcome=outcome, answers=answers, missing=missing
    )


def _points_of(
    name: str, column: Any, rows: Rows, answers: Any, names: tuple[str, ...], first: Any, second: Any
) -> NDArray[np.uint8]:
    """Twice what the first item of each row gets; refuses an answer that says nothing of the two."""
    known = {text: at for at, text in enumerate(names)}
    answers = settled_answers(answers, known, str)
    cells, meaning = column.to_numpy(), codes_of(answers, known, str)
    if answers == "outcome" and cells.dtype.kind in "fiub":
        return twice_the_outcome(name, cells, rows)
    # of what is foreign nothing is asked
    texts = [cell_text(cell) if isinstance(cell, str) or is_number(cell) else "" for cell in cells.tolist()]
    codes = {it: meaning(it) for it in set(texts)}
    points = twice_points(np.array([codes[it] for it in texts], np.int64), first, second)
    if (bad := first_true(points < 0)) is not None:
        allowed = "the numbers 1, 0.5 and 0 are" if answers == "outcome" else f"answers are {shown_answers(answers)}"
        raise ValueError(f"{at_row(name, bad, rows)} is not allowed; {allowed}{_OTHERS}")
    return points.astype(np.uint8)


def _codes(names: tuple[str, ...], column: Any) -> NDArray[Any]:
    """Which item each cell is, compared as text; -1 for none of them, and for what is missing."""
    import pandas as pd

    try:
        found = pd.Index(names).get_indexer(column.map(str, na_action="ignore"))
        if column.dtype.kind in "fO" and (found < 0).any():  # 1.0 and 1.00 are the item 1 where they are numbers
            found = np.where(found < 0, pd.Index(names).get_indexer(column.map(cell_text, na_action="ignore")), found)
        return found
    except UnicodeError:  # pandas makes no text of half a letter, and would quote it
        places = {name: at for at, name in enumerate(names)}
        cells = zip(column, column.isna(), strict=True)
        return np.array([-1 if gone else places.get(str(it), -1) for it, gone in cells], np.intp)


def first_true(mask: NDArray[np.bool_]) -> int | None:
    """Where the first of a mask is true; None where none is."""
    return int(np.argmax(mask)) if mask.any() else None


def item_names(items: Sequence[str]) -> tuple[str, ...]:
    """Item names as a tuple: at least two, no two alike.

    Examples
    --------
    >>> item_names(["roads", 7])
    ('roads', '7')
    """
    given = as_list("items", items, "the names of at least two items are needed")
    for at, name in enumerate(given):
        if type(name) is not str and type(name) is not int:
            require_label(f"items[{at}]", name)
    names = tuple(map(str, given))
    if len(names) < 2:
        raise ValueError(f"items has length {len(names)}; at least two names are needed")
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        if (first := seen.setdefault(name, at)) != at:
            raise ValueError(f"items[{at}] is items[{first}] again; no two may be alike")
    return names


def require_codes(name: str, values: ArrayLike, n_items: int, rows: Rows = None) -> NDArray[Any]:
    """Refuse what are no codes of so many items; in the smallest kind that holds them."""
    array = require_integers(name, values)
    if array.size and not (array.min() >= 0 and array.max() < n_items):
        bad = int(np.argmax((array < 0) | (array >= n_items)))
        raise ValueError(f"{at_row(name, bad, rows)} is no item code; those are 0 .. {n_items - 1}")
    return array.astype(np.min_scalar_type(n_items - 1), copy=False)


def require_different(name: str, first: NDArray[Any], second: NDArray[Any], rows: Rows = None) -> None:
    """Refuse an item that is compared with itself."""
    if (bad := first_true(first == second)) is not None:
        raise ValueError(f"{at_row(name, bad, rows)} is the item it is compared with; the two must differ")


def at_row(name: str, row: int, rows: Rows) -> str:
    """A row that a column holds, as the whole table counts them."""
    return f"{name}[{row if rows is None else rows[row]}]"


def twice_the_outcome(name: str, outcome: ArrayLike, rows: Rows = None) -> NDArray[np.uint8]:
    """Twice every outcome, a whole number; refuses what is none of 1, 0.5 and 0.

    Examples
    --------
    >>> twice_the_outcome("outcome", [1, 0.5, 0]).tolist()
    [2, 1, 0]
    """
    array = require_column(name, outcome)
    if array.dtype.kind not in "fiub":
        # no float of its own: nothing that is near 1 passes for it
        allowed: dict[Any, float] = {1: 1.0, 0.5: 0.5, 0: 0.0}
        if text := [row for row, x in enumerate(array.tolist()) if isinstance(x, str)]:
            # one word in a file makes text of its whole column: the word is at fault
            word = next((row for row in text if not _spells_a_number(array[row])), text[0])
            raise ValueError(f"{at_row(name, word, rows)} is not allowed; the numbers 1, 0.5 and 0 are")
        array = np.array([allowed.get(x, np.nan) if is_number(x) else np.nan for x in array.tolist()], float)
    points = np.empty(len(array), np.uint8)
    bad = (_points_of_few if len(array) < FEW_ROWS else _points_kernel)(plain(array), points)
    if bad >= 0:
        raise ValueError(f"{at_row(name, bad, rows)} is not allowed; the numbers 1, 0.5 and 0 are")
    return points


def _spells_a_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a type that kernels know."""
    if array.dtype.isnative and array.dtype.itemsize in (1, 4, 8):
        return array
    with np.errstate(over="ignore"):  # what is beyond a double is infinite
        return array.astype(np.float64)


def _points_of_few(outcome: NDArray[Any], points: NDArray[np.uint8]) -> int:
    """Fills in twice the outcomes; the first row that has none, or -1."""
    with np.errstate(over="ignore"):
        twice = 2.0 * outcome
    points[:] = 2 * (twice == 2.0) + (twice == 1.0)
    bad = first_true(points != twice)
    return -1 if bad is None else bad


@njit(cache=True, nogil=True, error_model="numpy")
def _points_kernel(outcome, points):
    valid = True
    for row in range(outcome.size):
        twice = 2.0 * outcome[row]
        points[row] = np.uint8(2 * (twice == 2.0) + (twice == 1.0))
        valid &= points[row] == twice
    if not valid:
        for row in range(outcome.size):
            if points[row] != 2.0 * outcome[row]:
                return row
    return -1


def voter_column(comparisons: Comparisons) -> NDArray[Any]:
    """Who gave each answer; refused where that is not known.

    Examples
    --------
    >>> voter_column(Comparisons([0, 1], [1, 2], [1, 0], items=["a", "b", "c"], voter=[7, 8])).tolist()
    [7, 8]
    """
    if comparisons.voter is None:
        raise ValueError("voter is absent: these comparisons do not say who gave which answer")
    return comparisons.voter
