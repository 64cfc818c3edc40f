"""Pairwise comparisons: the data type, validated once at the door, and its counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any, Literal, get_args

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._frozen import Frozen, frozen
from dprank._require import require_columns, require_unmasked, require_whole, settle, shown
from dprank.data import files as _files
from dprank.data.files import reading

Score = Literal["wins", "half", "net"]

#: What one comparison adds to the score of its first item when that item lost, tied or won, in grains (see `GRAIN`);
#: the second item receives the entry read backwards.
_VALUE: dict[str, NDArray[np.int64]] = {
    "wins": np.array([0, 0, 1]),
    "half": np.array([0, 1, 2]),
    "net": np.array([-1, 0, 1]),
}
#: The unit in which each score is an integer.
GRAIN: dict[str, float] = {"wins": 1.0, "half": 0.5, "net": 1.0}

#: Where in the whole table the rows of a part stand.
Rows = Sequence[int] | NDArray[np.int64] | None

#: Twice the outcomes there are.
_TWICE = (0, 1, 2)

_CHUNK = 1 << 22
_BATCH = 1 << 18


class Comparisons(Frozen):
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
        Who gave each answer.

    Attributes
    ----------
    points : ndarray of uint8
        Twice the outcome, one byte a row: what the kernels read.

    Raises
    ------
    ValueError
        Naming the field, the first offending row and what is allowed; never what the row holds.
    """

    __slots__ = ("first", "items", "points", "second", "voter")

    first: NDArray[Any]
    second: NDArray[Any]
    points: NDArray[np.uint8]
    items: tuple[str, ...]
    voter: NDArray[Any] | None

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        outcome: ArrayLike,
        items: Sequence[str],
        voter: ArrayLike | None = None,
    ) -> None:
        self._settle(first, second, _points("outcome", outcome), items, voter)

    def _settle(
        self, first: ArrayLike, second: ArrayLike, points: ArrayLike, items: Sequence[str], voter: ArrayLike | None
    ) -> None:
        names = item_names(items)
        columns = {
            "first": _codes("first", first, len(names)),
            "second": _codes("second", second, len(names)),
            "points": _codes("points", points, len(_TWICE)),
        }
        if voter is not None:
            columns["voter"] = _integers("voter", voter)
        for name, column in columns.items():
            if len(column) != len(columns["first"]):
                raise ValueError(f"{name} has another number of rows than first: they must agree")
        _differ("second", columns["first"], columns["second"])
        settle(self, items=names, voter=None)
        settle(self, **{name: frozen(column) for name, column in columns.items()})

    @classmethod
    def _again(cls, *columns: Any) -> Comparisons:
        data = object.__new__(cls)
        data._settle(*columns)
        return data

    def __reduce__(self) -> Any:
        return self._again, self._state()

    def _state(self) -> tuple[Any, ...]:
        return self.first, self.second, self.points, self.items, self.voter

    @property
    def outcome(self) -> NDArray[np.float64]:
        """1, 1/2 or 0 for every comparison."""
        return self.points / 2

    def __len__(self) -> int:
        return len(self.first)

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
        first: str = "first",
        second: str = "second",
        outcome: str = "outcome",
        voter: str | None = None,
        missing: Literal["refuse", "drop"] = "refuse",
    ) -> Comparisons:
        """Comparisons from a tidy table of item names.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row an answer.
        items : sequence of str
            All item names, in the order of their codes.
        first, second, outcome, voter : str
            Column names. Voters may be labels of any kind.
        missing : {"refuse", "drop"}
            What to do with rows whose outcome is empty.

        Raises
        ------
        ValueError
            Naming the column and the row: 0 for the first, whatever the table's index.
        """
        import pandas as pd

        if not isinstance(frame, pd.DataFrame):
            raise ValueError(f"frame is of type {type(frame).__name__}; a pandas.DataFrame is needed")
        require_columns(frame.columns, (first, second, outcome, *([] if voter is None else [voter])))
        if missing not in ("refuse", "drop"):
            raise ValueError(f"missing = {shown(missing)}; allowed are 'refuse' and 'drop'")
        gone = frame[outcome].isna().to_numpy()
        if missing == "refuse" and (bad := _first_true(gone)) is not None:
            raise ValueError(f"{outcome}[{bad}] is missing; say missing='drop' to leave such answers out")
        frame, rows = frame.loc[~gone], np.flatnonzero(~gone)
        names = pd.Index(item_names(items))

        def codes(column: str) -> NDArray[Any]:
            code = names.get_indexer(frame[column].map(str, na_action="ignore"))
            if (bad := _first_true(code < 0)) is not None:
                raise ValueError(f"{_at(column, bad, rows)} is none of the {len(names)} items")
            return code

        one, other = codes(first), codes(second)
        _differ(second, one, other, rows)
        points = _points(outcome, frame[outcome].to_numpy(), rows)
        who = None if voter is None else _voter_codes(voter, frame[voter], rows)
        return cls(one, other, points / 2, tuple(names), who)

    def at_most(self, answers: int) -> Comparisons:
        """The first `answers` rows of every voter: bounds what one voter can do, whatever the others did."""
        answers = require_whole("answers", answers, 1)
        voter = voter_column(self)
        order = np.argsort(voter, kind="stable")
        ordered = voter[order]
        start = np.r_[True, ordered[1:] != ordered[:-1]] if len(ordered) else np.zeros(0, bool)
        position = np.arange(len(order)) - np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))
        return self[np.sort(order[position < answers])]

    def __getitem__(self, rows: Any) -> Comparisons:
        """The comparisons of some rows (a slice, a mask or an index array)."""
        try:
            taken = np.arange(len(self))[rows]
        except (IndexError, TypeError):
            raise ValueError(
                "rows are none of the table's; a slice, a mask of its length or its row numbers are needed"
            ) from None
        voter = None if self.voter is None else self.voter[taken]
        return self._again(self.first[taken], self.second[taken], self.points[taken], self.items, voter)


def require_comparisons(data: Any, n_items: int | None = None) -> Comparisons:
    """Refuse what are no comparisons (of so many items)."""
    if not isinstance(data, Comparisons):
        raise ValueError(
            f"data are a {type(data).__name__}; Comparisons are needed (Comparisons.from_frame makes them)"
        )
    if n_items is not None and data.n_items != n_items:
        raise ValueError(f"items = {data.n_items} names; this mechanism is for n_items = {n_items}")
    return data


def win_counts(comparisons: Comparisons, score: Score = "wins", *, threads: int = 2) -> NDArray[np.float64]:
    """Score of every item.

    Parameters
    ----------
    comparisons : Comparisons
    score : {"wins", "half", "net"}
        Wins; wins plus half the ties; or wins minus losses.
    threads : int
        Threads that count; the result does not depend on it.

    Returns
    -------
    ndarray of float, shape (items,)
        Exact multiples of ``GRAIN[score]``.

    Notes
    -----
    O(comparisons + items * threads) time, O(items * threads) memory; the kernel reads five to nine bytes a comparison
    once. This is N of Algorithms 2 and 3 of Cai, Chakraborty and Wang (2025) for ``score="wins"``.
    """
    value = _value(score)
    require_comparisons(comparisons)
    chunks = (slice(start, start + _CHUNK) for start in range(0, len(comparisons), _CHUNK))
    first, second, points = comparisons.first, comparisons.second, comparisons.points
    calls = (partial(_score_kernel, first[r], second[r], points[r], comparisons.n_items, value) for r in chunks)
    return _add_up(calls, comparisons.n_items, threads) * GRAIN[score]


def pairwise_wins(comparisons: Comparisons) -> NDArray[np.float64]:
    """Wins of each item (row) over each other (column), a tie as half a win for both.

    Returns
    -------
    ndarray of float, shape (items, items)
        O(comparisons + items^2) time, O(items^2) memory.
    """
    n = require_comparisons(comparisons).n_items
    table = np.zeros((n, n), np.int64)
    _pair_kernel(comparisons.first, comparisons.second, comparisons.points, table)
    return table / 2


def win_counts_parquet(
    path: str | PathLike[str],
    items: Sequence[str],
    score: Score = "wins",
    *,
    first: str = "first",
    second: str = "second",
    outcome: str = "outcome",
    threads: int = 2,
) -> NDArray[np.float64]:
    """`win_counts` of a Parquet file of any length, a batch at a time.

    Parameters
    ----------
    path : path
        A file whose item columns hold names out of `items`, or integer codes 0 .. len(items) - 1.
    items, score, threads
        As in `Comparisons` and `win_counts`.
    first, second, outcome : str
        Column names.

    Raises
    ------
    ValueError
        Naming the column, the row of the file and what is allowed.

    Notes
    -----
    Memory is bounded by a few batches, whatever the length of the file; time is that of decoding it and little more.
    """
    import pyarrow.parquet as pq

    names, value = item_names(items), _value(score)
    if len({first, second, outcome}) < 3:
        raise ValueError(f"first, second, outcome = {first!r}, {second!r}, {outcome!r}; three columns are needed")
    with reading(path, "Parquet"):
        columns = pq.read_schema(path).names
    require_columns(columns, (first, second, outcome))
    with reading(path, "Parquet"):
        # Arrow's own pre-buffering would come to hold the whole file
        opened = pq.ParquetFile(path, read_dictionary=[first, second], pre_buffer=False)

    def calls(file: Any) -> Iterator[Callable[[], NDArray[np.int64]]]:
        row, books = 0, _Codebooks(names)
        batches = file.iter_batches(_BATCH, columns=[first, second, outcome])
        while True:
            with reading(path, "Parquet"):
                if (batch := next(batches, None)) is None:
                    return
            three = {name: batch.column(name) for name in (first, second, outcome)}
            yield partial(_count_batch, three, books, value, range(row, row + batch.num_rows))
            row += batch.num_rows

    with opened as file:
        return _add_up(calls(file), len(names), threads) * GRAIN[score]


def read_csv(path: str | PathLike[str], *, items: Sequence[str], **columns: Any) -> Comparisons:
    """Comparisons from a CSV file of item names; keywords as in `Comparisons.from_frame`."""
    # names stay as written: an item may be called 01 or None, and voter 01 is not voter 1
    labels = [columns.get(name, name) for name in ("first", "second", "voter")]
    outcome = columns.get("outcome", "outcome")
    gone = {label: [""] for label in labels} | {outcome: ["", "NA", "NaN", "nan", "NULL", "null"]}
    dtype = dict.fromkeys(labels, str)
    frame = _files.read_csv(path, [*labels, outcome], dtype=dtype, na_values=gone, keep_default_na=False)
    return Comparisons.from_frame(frame, items=items, **columns)


def read_parquet(path: str | PathLike[str], *, items: Sequence[str], **columns: Any) -> Comparisons:
    """Comparisons from a Parquet file of item names; keywords as in `Comparisons.from_frame`."""
    return Comparisons.from_frame(_files.read_parquet(path), items=items, **columns)


def _value(score: str) -> NDArray[np.int64]:
    if score not in _VALUE:
        raise ValueError(f"score = {shown(score)}; allowed are {get_args(Score)}")
    return _VALUE[score]


def _add_up(calls: Iterable[Callable[[], NDArray[np.int64]]], n_items: int, threads: int) -> NDArray[np.float64]:
    """Sum of what the calls return, a few of them at a time in threads; the first to fail fails it."""
    threads = require_whole("threads", threads, 1)
    total = np.zeros(n_items, np.int64)
    pending: deque[Future[NDArray[np.int64]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for call in calls:
            pending.append(pool.submit(call))
            if len(pending) > 2 * threads:
                total += pending.popleft().result()
        for job in pending:
            total += job.result()
    return total.astype(np.float64)


def _count_batch(
    columns: Mapping[str, Any], books: _Codebooks, value: NDArray[np.int64], rows: Sequence[int]
) -> NDArray[np.int64]:
    """Scores of one batch of Arrow columns: first, second and outcome."""
    counts = np.zeros((2, len(books.names)), np.int64)
    if not any(column.null_count for column in columns.values()):
        (one, code_one), (other, code_other) = (books.read(*pair) for pair in list(columns.items())[:2])
        outcome = list(columns.values())[2].to_numpy(zero_copy_only=False)
        numeric = all(array.dtype.kind in kinds for array, kinds in ((one, "iu"), (other, "iu"), (outcome, "fiub")))
        if numeric and _batch_kernel(one, other, _plain(outcome), code_one, code_other, value, counts):
            return counts[0] + counts[1]
    # one pass found a fault: look for it column by column
    first, second, outcome = columns
    a, b = (_batch_codes(name, columns[name], books, rows) for name in (first, second))
    _differ(second, a, b, rows)
    _points(outcome, _batch_column(outcome, columns[outcome], rows), rows)
    raise AssertionError("a batch was refused that has no fault")


class _Codebooks:
    """What the entries of item columns stand for; a dictionary that comes again is not looked up again."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.known = {name: code for code, name in enumerate(names)}
        self.last: dict[str, tuple[Any, NDArray[np.int32]]] = {}

    def read(self, name: str, column: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Entries of a column, and the item code that each entry stands for, -1 for none."""
        if not hasattr(column, "dictionary"):
            return column.to_numpy(zero_copy_only=False), np.arange(len(self.names), dtype=np.int32)
        last = self.last.get(name)
        if last is None or not last[0].equals(column.dictionary):
            codes = [self.known.get(entry, -1) for entry in column.dictionary.to_pylist()]
            self.last[name] = last = column.dictionary, np.array(codes, np.int32)
        return column.indices.to_numpy(zero_copy_only=False), last[1]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _score_kernel(first, second, points, n_items, value):
    # two rows of counters: a comparison's two increments never wait for each other
    counts = np.zeros((2, n_items), np.int64)
    for row in range(first.size):
        won = points[row]
        counts[0, first[row]] += value[won]
        counts[1, second[row]] += value[2 - won]
    return counts[0] + counts[1]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _batch_kernel(first, second, outcome, code_first, code_second, value, counts):
    for row in range(first.size):
        a, b, twice = np.int64(first[row]), np.int64(second[row]), 2.0 * outcome[row]
        if not (0 <= a < code_first.size and 0 <= b < code_second.size):
            return False
        i, j, won = code_first[a], code_second[b], 2 * (twice == 2.0) + (twice == 1.0)
        if i < 0 or j < 0 or i == j or won != twice:
            return False
        counts[0, i] += value[won]
        counts[1, j] += value[2 - won]
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pair_kernel(first, second, points, table):
    for row in range(first.size):
        i, j, won = first[row], second[row], points[row]
        table[i, j] += won
        table[j, i] += 2 - won


def _first_true(mask: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(mask)) if mask.any() else None


def item_names(items: Sequence[str]) -> tuple[str, ...]:
    """Item names as a tuple: at least two, no two alike."""
    if not isinstance(items, Iterable):
        raise ValueError(f"items = {shown(items)}; the names of at least two items are needed")
    names = tuple(map(str, items))
    if len(names) < 2:
        raise ValueError(f"items has length {len(names)}; at least two names are needed")
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        if (first := seen.setdefault(name, at)) != at:
            raise ValueError(f"items[{at}] is items[{first}] again; no two may be alike")
    return names


def _integers(name: str, values: ArrayLike) -> NDArray[Any]:
    array = _column(name, values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype.type.__name__}; integers are needed")
    return array


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    require_unmasked(name, values)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise ValueError(f"{name} has rows or is one value; it must be one-dimensional")
    return array


def _codes(name: str, values: ArrayLike, n_items: int, rows: Rows = None) -> NDArray[Any]:
    array = _integers(name, values)
    if array.size and not (array.min() >= 0 and array.max() < n_items):
        bad = int(np.argmax((array < 0) | (array >= n_items)))
        raise ValueError(f"{_at(name, bad, rows)} is no item code; those are 0 .. {n_items - 1}")
    return array.astype(np.min_scalar_type(n_items - 1), copy=False)


def _differ(name: str, first: NDArray[Any], second: NDArray[Any], rows: Rows = None) -> None:
    if (bad := _first_true(first == second)) is not None:
        raise ValueError(f"{_at(name, bad, rows)} is the item it is compared with; the two must differ")


def _at(name: str, row: int, rows: Rows) -> str:
    """A row that a column holds, as the whole table counts them."""
    return f"{name}[{row if rows is None else rows[row]}]"


def _points(name: str, outcome: ArrayLike, rows: Rows = None) -> NDArray[np.uint8]:
    array = _column(name, outcome)
    if array.dtype.kind not in "fiub":
        # no float of its own: nothing that is near 1 passes for it
        allowed: dict[Any, float] = {1: 1.0, 0.5: 0.5, 0: 0.0}
        array = np.array([allowed.get(x, np.nan) if isinstance(x, Real) else np.nan for x in array.tolist()], float)
    points = np.empty(len(array), np.uint8)
    if (bad := _points_kernel(_plain(array), points)) >= 0:
        raise ValueError(f"{_at(name, bad, rows)} is not allowed; the numbers 1, 0.5 and 0 are")
    return points


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a type that kernels know."""
    return array if array.dtype.isnative and array.dtype.itemsize in (1, 4, 8) else array.astype(np.float64)


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


def _batch_column(name: str, column: Any, rows: Sequence[int]) -> NDArray[Any]:
    if column.null_count:
        bad = _first_true(column.is_null().to_numpy(zero_copy_only=False))
        raise ValueError(f"{name}[{rows[bad or 0]}] is missing; leave out the rows that have no answer")
    return column.to_numpy(zero_copy_only=False)


def _batch_codes(name: str, column: Any, books: _Codebooks, rows: Sequence[int]) -> NDArray[Any]:
    entries = _batch_column(name, column, rows)
    if not hasattr(column, "dictionary"):
        return _codes(name, entries, len(books.names), rows)
    indices, book = books.read(name, column)
    if (bad := _first_true(book[indices] < 0)) is not None:
        raise ValueError(f"{_at(name, bad, rows)} is none of the {len(books.names)} items")
    return book[indices]


def _voter_codes(name: str, labels: Any, rows: Rows) -> NDArray[np.int64]:
    import pandas as pd

    try:
        codes, _ = pd.factorize(labels, sort=True)
    except TypeError:
        raise ValueError(f"{name} holds what cannot be sorted; labels of one kind are needed") from None
    if (bad := _first_true(codes < 0)) is not None:
        raise ValueError(f"{_at(name, bad, rows)} is missing: every answer needs its voter")
    return codes.astype(np.int64)


def voter_column(comparisons: Comparisons) -> NDArray[Any]:
    if comparisons.voter is None:
        raise ValueError("voter is absent: these comparisons do not say who gave which answer")
    return comparisons.voter
