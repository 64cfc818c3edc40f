"""How often every item won: scores and pairwise wins, of tables in memory and of Parquet files of any length."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit
from dprank._require import require_columns, require_one_of, require_whole
from dprank.data.comparisons import (
    FEW_ROWS,
    Comparisons,
    at_row,
    first_true,
    item_names,
    plain,
    require_codes,
    require_comparisons,
    require_different,
    twice_the_outcome,
)
from dprank.data.files import parquet_file, reading

__all__ = ["GRAIN", "Score", "pairwise_wins", "whole_counts", "win_counts", "win_counts_parquet"]

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

_CHUNK = 1 << 22
_BATCH = 1 << 18


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

    Examples
    --------
    >>> answers = Comparisons([0, 1], [1, 2], [1, 0.5], items=["a", "b", "c"])
    >>> win_counts(answers).tolist(), win_counts(answers, "net").tolist()
    ([1.0, 0.0, 0.0], [1.0, -1.0, 0.0])
    """
    return whole_counts(comparisons, score, threads=threads).astype(np.float64) * GRAIN[score]


def whole_counts(comparisons: Comparisons, score: Score = "wins", *, threads: int = 2) -> NDArray[np.int64]:
    """`win_counts` in units of ``GRAIN[score]``: what whole noise is added to.

    Parameters
    ----------
    comparisons, score, threads
        As in `win_counts`.

    Returns
    -------
    ndarray of int, shape (items,)

    Examples
    --------
    >>> answers = Comparisons([0, 1], [1, 2], [1, 0.5], items=["a", "b", "c"])
    >>> whole_counts(answers, "half").tolist(), win_counts(answers, "half").tolist()
    ([2, 1, 1], [1.0, 0.5, 0.5])
    """
    value = _value(score)
    require_comparisons(comparisons)
    if len(comparisons) < FEW_ROWS:
        require_whole("threads", threads, 1)
        sides = (comparisons.first, value), (comparisons.second, value[::-1])
        both = [np.bincount(item, worth[comparisons.points], comparisons.n_items) for item, worth in sides]
        return (both[0] + both[1]).astype(np.int64)
    chunks = (slice(start, start + _CHUNK) for start in range(0, len(comparisons), _CHUNK))
    first, second, points = comparisons.first, comparisons.second, comparisons.points
    calls = (partial(_score_kernel, first[r], second[r], points[r], comparisons.n_items, value) for r in chunks)
    return _add_up(calls, comparisons.n_items, threads)


def pairwise_wins(comparisons: Comparisons) -> NDArray[np.float64]:
    """Wins of each item (row) over each other (column), a tie as half a win for both.

    Returns
    -------
    ndarray of float, shape (items, items)
        O(comparisons + items^2) time, O(items^2) memory.

    Examples
    --------
    >>> answers = Comparisons([0, 1], [1, 2], [1, 0.5], items=["a", "b", "c"])
    >>> pairwise_wins(answers).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    n = require_comparisons(comparisons).n_items
    table, first, second, points = np.zeros((n, n), np.int64), comparisons.first, comparisons.second, comparisons.points
    if len(comparisons) < FEW_ROWS:
        np.add.at(table, (first, second), points)
        np.add.at(table, (second, first), 2 - points)
    else:
        _pair_kernel(first, second, points, table)
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

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> table = pd.DataFrame([("b", "a", 1.0), ("b", "c", 0.5)], columns=["first", "second", "outcome"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(f"{folder}/answers.parquet")
    ...     win_counts_parquet(f"{folder}/answers.parquet", ["a", "b", "c"], "half").tolist()
    [0.0, 1.5, 0.5]
    """
    names, value = item_names(items), _value(score)
    if len({first, second, outcome}) < 3:
        raise ValueError(f"first, second, outcome = {first!r}, {second!r}, {outcome!r}; three columns are needed")
    with parquet_file(path) as file:
        columns = file.schema_arrow.names
    require_columns(columns, (first, second, outcome), ("first", "second", "outcome"))

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

    # Arrow's own pre-buffering would come to hold the whole file
    with parquet_file(path, read_dictionary=[first, second], pre_buffer=False) as file:
        return _add_up(calls(file), len(names), threads).astype(np.float64) * GRAIN[score]


def _value(score: str) -> NDArray[np.int64]:
    return _VALUE[require_one_of("score", score, get_args(Score))]


def _add_up(calls: Iterable[Callable[[], NDArray[np.int64]]], n_items: int, threads: int) -> NDArray[np.int64]:
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
    return total


def _count_batch(
    columns: Mapping[str, Any], books: _Codebooks, value: NDArray[np.int64], rows: Sequence[int]
) -> NDArray[np.int64]:
    """Scores of one batch of Arrow columns: first, second and outcome."""
    counts = np.zeros((2, len(books.names)), np.int64)
    if not any(column.null_count for column in columns.values()):
        (one, code_one), (other, code_other) = (books.read(*pair) for pair in list(columns.items())[:2])
        name, given = list(columns.items())[2]
        outcome = given.to_numpy(zero_copy_only=False)
        if outcome.dtype.kind == "O":  # decimals, or what is refused
            outcome = twice_the_outcome(name, outcome, rows) / 2
        numeric = all(array.dtype.kind in kinds for array, kinds in ((one, "iu"), (other, "iu"), (outcome, "fiub")))
        if numeric and _batch_kernel(one, other, plain(outcome), code_one, code_other, value, counts):
            return counts[0] + counts[1]
    # one pass found a fault: look for it column by column
    first, second, outcome = columns
    a, b = (_batch_codes(name, columns[name], books, rows) for name in (first, second))
    require_different(second, a, b, rows)
    twice_the_outcome(outcome, _batch_column(outcome, columns[outcome], rows), rows)
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


@njit(cache=True, nogil=True, error_model="numpy")
def _score_kernel(first, second, points, n_items, value):
    # two rows of counters: a comparison's two increments never wait for each other
    counts = np.zeros((2, n_items), np.int64)
    for row in range(first.size):
        won = points[row]
        counts[0, first[row]] += value[won]
        counts[1, second[row]] += value[2 - won]
    return counts[0] + counts[1]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_kernel(first, second, points, table):
    for row in range(first.size):
        i, j, won = first[row], second[row], points[row]
        table[i, j] += won
        table[j, i] += 2 - won


def _batch_column(name: str, column: Any, rows: Sequence[int]) -> NDArray[Any]:
    if column.null_count:
        bad = first_true(column.is_null().to_numpy(zero_copy_only=False))
        raise ValueError(f"{name}[{rows[bad or 0]}] is missing; leave out the rows that have no answer")
    return column.to_numpy(zero_copy_only=False)


def _batch_codes(name: str, column: Any, books: _Codebooks, rows: Sequence[int]) -> NDArray[Any]:
    entries = _batch_column(name, column, rows)
    if not hasattr(column, "dictionary"):
        return require_codes(name, entries, len(books.names), rows)
    indices, book = books.read(name, column)
    if (bad := first_true(book[indices] < 0)) is not None:
        raise ValueError(f"{at_row(name, bad, rows)} is none of the {len(books.names)} items")
    return book[indices]
