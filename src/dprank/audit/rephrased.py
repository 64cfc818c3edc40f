"""The same data in other words: rows in another order, pairs turned round, other types, numbers and forms of a file.

A release is a function of what is noisy and of public facts, so none of this may show in it. What a kind of data can be
rewritten to is registered here, and so may others be: ``@rephrased.register``.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.count_files import Counts
from dprank.data.files import as_pandas
from dprank.data.rankings import Rankings
from dprank.data.tallies import Tallies, is_series

__all__ = [
    "ALL",
    "FORM",
    "NUMBERS",
    "ORDER",
    "ROUTE",
    "TURNED",
    "TYPES",
    "Words",
    "enriched",
    "lost",
    "rephrased",
    "taken",
]

ORDER = "rows in another order"
TURNED = "pairs turned round"
TYPES = "columns of other types"
NUMBERS = "persons by other numbers"
FORM = "a table of another form"
ROUTE = "another route of the solver"
ALL = "all of it at once"

#: Types of whole numbers, and of fractions.
_WHOLE = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
_REAL = ("f4", "f8")
#: Fewest rows of data that are made up, and share of all pairs that they compare.
_ROWS, _SHARE = 24, 0.4


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


@singledispatch
def rephrased(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    """Some of the ways in which the same data can be given.

    Parameters
    ----------
    data : object
        `Comparisons`, `Rankings`, `Ballots`, `Tallies`, `Counts`, an array, a Series of pandas, a table of pandas,
        polars or pyarrow, or the bytes of a file: CSV or Parquet with a header, JSON, PrefLib.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        Where none are known.

    Examples
    --------
    >>> data = Rankings([[0, 1], [1, 0], [1, 0]], "ab")
    >>> [words.way for words in rephrased(data, np.random.default_rng(1))]
    ['rows in another order', 'columns of other types', 'all of it at once']
    """
    if is_series(data):
        return _of_series(data, rng)
    if is_frame(data):
        return _of_frame(data, rng)
    if is_foreign(data):
        return _of_foreign(data, rng)
    raise ValueError(f"data = {shown(data)}; nobody knows other words for it: see dprank.audit.rephrased")


@singledispatch
def taken(data: Any, rows: NDArray[np.intp]) -> Any:
    """These rows of data, in this order.

    Examples
    --------
    >>> taken(Rankings([[0, 1], [1, 0]], "ab"), np.array([1, 0])).positions.tolist()
    [[1, 0], [0, 1]]
    """
    if is_frame(data) or is_series(data):
        return data.iloc[rows]
    return data.take(rows) if is_foreign(data) and hasattr(data, "take") else data[rows]


@singledispatch
def enriched(data: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Other data of the kind in which order and side could matter: people with several rows that disagree, few pairs.

    They are no neighbours, and a mechanism may refuse them.

    Examples
    --------
    >>> [len(more) for more in enriched(Rankings([[0, 1, 2]] * 9, "abc"), np.random.default_rng(1))]
    [9, 24]
    """
    if is_frame(data) and len(data):
        at = _columns_apart(len(data), len(data.columns), rng)
        columns = {name: data[name].iloc[rows].to_numpy() for name, rows in zip(data.columns, at, strict=True)}
        yield data.iloc[at[0]].reset_index(drop=True).assign(**columns)


@singledispatch
def lost(data: Any, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Neighbours in which one person has left wholly, or has no row that fits, where the promise covers that.

    Examples
    --------
    >>> import dprank
    >>> data = Comparisons([0, 0], [1, 1], [1, 1], "ab", [1, 2])
    >>> mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=2, per_person=1)
    >>> [(name, len(other)) for name, other in lost(data, mechanism, np.random.default_rng(1))]
    [('one person has left', 1), ('no row of one person fits', 1)]
    """
    yield from ()


def is_frame(data: Any) -> bool:
    """Whether it is one of pandas, which whoever has one has imported.

    Examples
    --------
    >>> is_frame([[1]])
    False
    """
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def is_foreign(data: Any) -> bool:
    """Whether it is a table of polars or pyarrow.

    Examples
    --------
    >>> is_foreign([[1]])
    False
    """
    return type(data).__module__.partition(".")[0] in ("polars", "pyarrow") and hasattr(data, "to_pandas")


def _columns_apart(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Which rows a table of more rows takes of each column, so that who says what is otherwise."""
    return rng.integers(0, rows, (columns, max(2 * rows, _ROWS)))


# --- comparisons -----------------------------------------------------------------------------------------------------


@rephrased.register
def _of_comparisons(data: Comparisons, rng: np.random.Generator) -> Iterator[Words]:
    order, turned = rng.permutation(len(data)), rng.random(len(data)) < 0.5
    yield Words(ORDER, taken(data, order), order)
    yield Words(TURNED, _turned(data, turned))
    yield Words(TYPES, _retyped(data, rng))
    known = data.voter is not None and data.unanswered is None and len(np.unique(data.voter)) == len(data)
    numbered = _renumbered(data) if known else data
    if known:
        yield Words(NUMBERS, numbered)
    yield Words(ROUTE, taken(data, np.arange(len(data))), crossed=True)
    yield Words(ALL, _retyped(taken(_turned(numbered, turned), order), rng), order, crossed=True)


@taken.register
def _(data: Comparisons, rows: NDArray[np.intp]) -> Comparisons:
    columns = (data.first, data.second, data.points, data.voter)
    return _again(data, *(None if column is None else column[rows] for column in columns))


@enriched.register
def _(data: Comparisons, rng: np.random.Generator) -> Iterator[Comparisons]:
    m, rows = data.n_items, max(len(data), _ROWS)
    both = np.transpose(np.triu_indices(m, 1))
    both = both[rng.permutation(len(both))[: max(1, int(_SHARE * len(both)))]]
    for values in ((0, 2), (0, 1, 2)):
        pair = both[rng.integers(0, len(both), rows)]
        points, voter = rng.choice(values, rows), rng.integers(0, rows // 4, rows)
        # of what a person says of a pair something else comes again
        pair[1::2], voter[1::2] = pair[::2], voter[::2]
        yield Comparisons(pair[:, 0], pair[:, 1], points / 2, data.items, None if data.voter is None else voter)


@lost.register
def _(data: Comparisons, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    # who was asked what is public, or everybody was asked everything
    fixed = getattr(mechanism, "design", "any") == "complete" or getattr(mechanism, "graph", "private") == "public"
    if mechanism.guarantee.unit != "voter" or data.voter is None or not len(data) or fixed:
        return
    gone = data.voter == rng.choice(data.voter)
    rest = taken(data, np.flatnonzero(~gone))
    yield "one person has left", rest
    if data.unanswered is None:
        named = taken(data, np.flatnonzero(gone))
        ties = Comparisons(named.first, named.second, np.full(len(named), 0.5), data.items, named.voter)
        yield "no row of one person fits", _again(rest, rest.first, rest.second, rest.points, rest.voter, ties)


def _again(data: Comparisons, first: Any, second: Any, points: Any, voter: Any, unanswered: Any = None) -> Comparisons:
    return Comparisons._again(first, second, points, data.items, voter, unanswered or data.unanswered)


def _turned(data: Comparisons, turned: NDArray[np.bool_]) -> Comparisons:
    first, second = np.where(turned, data.second, data.first), np.where(turned, data.first, data.second)
    return _again(data, first, second, np.where(turned, 2 - data.points, data.points), data.voter)


def _retyped(data: Comparisons, rng: np.random.Generator) -> Comparisons:
    first, second = (_typed(column, rng, _WHOLE) for column in (data.first, data.second))
    voter = None if data.voter is None else _typed(data.voter, rng, _WHOLE)
    made = Comparisons(first, second, _typed(data.points / 2, rng, (*_WHOLE, "f4")), data.items, voter)
    return _again(made, made.first, made.second, made.points, voter, data.unanswered)


def _renumbered(data: Comparisons) -> Comparisons:
    """By other numbers in the same order: whoever draws for persons one after another draws the same."""
    number = np.unique(np.asarray(data.voter), return_inverse=True)[1].astype(np.int64)
    return _again(data, data.first, data.second, data.points, 3 * number - 7)


# --- rankings, ballots, people and their items, counts ---------------------------------------------------------------


@rephrased.register
def _of_rankings(data: Rankings, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))
    yield Words(ORDER, taken(data, order), order)
    yield Words(TYPES, Rankings(_laid(_typed(data.positions, rng, _WHOLE), rng), data.items))
    yield Words(ALL, Rankings(_laid(_typed(data.positions[order], rng, _WHOLE), rng), data.items), order)


@taken.register
def _(data: Rankings, rows: NDArray[np.intp]) -> Rankings:
    return Rankings(data.positions[rows], data.items)


@enriched.register
def _(data: Rankings, rng: np.random.Generator) -> Iterator[Rankings]:
    for rows in dict.fromkeys((len(data), _ROWS)):
        yield Rankings(rng.permuted(np.tile(np.arange(data.n_items), (rows, 1)), axis=1), data.items)


@lost.register
def _(data: Rankings, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    if mechanism.guarantee.adjacency == "add_remove" and len(data):
        yield "one person has left", taken(data, np.delete(np.arange(len(data)), rng.integers(len(data))))


@rephrased.register
def _of_ballots(data: Ballots, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))
    yield Words(ORDER, taken(data, order), order)
    yield Words(TYPES, _again_typed(data, rng))
    yield Words(ALL, _again_typed(taken(data, order), rng), order)


def _again_typed(data: Ballots, rng: np.random.Generator) -> Ballots:
    signed = tuple(kind for kind in _WHOLE if kind[0] == "i")
    return Ballots(_laid(_typed(data.places, rng, signed), rng), data.items, _typed(data.weight, rng, _WHOLE))


@taken.register
def _(data: Ballots, rows: NDArray[np.intp]) -> Ballots:
    return Ballots(data.places[rows], data.items, data.weight[rows])


@enriched.register
def _(data: Ballots, rng: np.random.Generator) -> Iterator[Ballots]:
    heaviest = int(data.weight.max(initial=1))
    for rows in dict.fromkeys((len(data), _ROWS)):
        places = rng.integers(-1, data.n_items, (rows, data.n_items))
        yield Ballots(places, data.items, rng.integers(0, heaviest + 1, rows))


@lost.register
def _(data: Ballots, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    if not len(data):
        return
    who = int(rng.integers(len(data)))
    if mechanism.guarantee.adjacency == "add_remove":
        yield "one person has left", taken(data, np.delete(np.arange(len(data)), who))
    else:
        places = np.array(data.places)
        places[who] = -1
        yield "no row of one person fits", Ballots(places, data.items, data.weight)


@rephrased.register
def _of_tallies(data: Tallies, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data.person))
    yield Words(ORDER, taken(data, order), order)
    who, what = _typed(data.person, rng, _WHOLE), _typed(data.item, rng, _WHOLE)
    yield Words(TYPES, Tallies(who, what, data.items, data.without))
    if len(np.unique(data.person)) == len(data.person) and not len(data.without):
        yield Words(NUMBERS, Tallies(3 * np.argsort(np.argsort(data.person)) - 7, data.item, data.items))
    without = data.without[rng.permutation(len(data.without))]
    yield Words(ALL, Tallies(who[order], what[order], data.items, without), order)


@taken.register
def _(data: Tallies, rows: NDArray[np.intp]) -> Tallies:
    return Tallies(data.person[rows], data.item[rows], data.items, data.without)


@enriched.register
def _(data: Tallies, rng: np.random.Generator) -> Iterator[Tallies]:
    rows = max(2 * len(data.person), _ROWS)
    yield Tallies(rng.integers(0, rows // 3, rows), rng.integers(0, data.n_items, rows), data.items)


@lost.register
def _(data: Tallies, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    if not len(data.person):
        return
    who = rng.choice(data.person)
    stay = data.person != who
    if mechanism.guarantee.adjacency == "add_remove":
        yield "one person has left", Tallies(data.person[stay], data.item[stay], data.items, data.without)
    else:
        without = np.append(data.without, who)
        yield "no row of one person fits", Tallies(data.person[stay], data.item[stay], data.items, without)


@rephrased.register
def _of_counts(data: Counts, rng: np.random.Generator) -> Iterator[Words]:
    sums = {name: data.sums[name] for name in reversed(list(data.sums))}
    yield Words(ORDER, replace(data, sums=sums, parts=data.parts[::-1], sizes=data.sizes[::-1]))


# --- arrays, tables of pandas, files ---------------------------------------------------------------------------------


@rephrased.register
def _of_array(data: np.ndarray, rng: np.random.Generator) -> Iterator[Words]:
    yield Words(TYPES, _laid(_typed(data, rng, _WHOLE + _REAL), rng))


def _of_series(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))

    def typed(series: Any) -> Any:
        made = series.astype(_typed(series.to_numpy(), rng, _WHOLE + _REAL).dtype)
        if all(isinstance(label, str) for label in made.index):
            made.index = made.index.astype(str(rng.choice(["object", "string"])))
        return made

    yield Words(ORDER, data.iloc[order], order)
    yield Words(TYPES, typed(data))
    yield Words(ALL, typed(data.iloc[order]), order)


def _of_frame(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))

    def typed(frame: Any) -> Any:
        kinds = {}
        for name in frame.columns:
            column = frame[name].to_numpy()
            numbers = column.dtype.kind in "iuf"
            kinds[name] = (
                _typed(column, rng, _WHOLE + _REAL).dtype if numbers else str(rng.choice(["object", "category"]))
            )
        return frame.astype(kinds)

    yield Words(ORDER, data.iloc[order], order)
    yield Words(TYPES, typed(data))
    if find_spec("pyarrow") is not None:
        import pyarrow

        yield Words(FORM, pyarrow.Table.from_pandas(data, preserve_index=False))
    yield Words(ALL, typed(data.iloc[order]), order)


def _of_foreign(data: Any, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))
    yield Words(ORDER, taken(data, order), order)
    yield Words(FORM, as_pandas(data))
    yield Words(ALL, as_pandas(taken(data, order)), order)


@rephrased.register
def _of_bytes(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    return _of_parquet(data, rng) if data.startswith(b"PAR1") else _of_text(data, rng)


def _of_parquet(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    order, others = rng.permutation(len(table)), {pyarrow.string(): pyarrow.large_string()}
    kinds = [others.get(it.type, it.type) for it in table.schema]
    typed = table.cast(pyarrow.schema(list(zip(table.column_names, kinds, strict=True))))
    mixed = typed.take(order).select([table.column_names[at] for at in rng.permutation(table.num_columns)])
    yield Words(ORDER, _as_parquet(table.take(order)), order)
    yield Words(TYPES, _as_parquet(typed))
    yield Words(FORM, _as_parquet(table, row_group_size=2, compression="none", use_dictionary=False))
    yield Words(ALL, _as_parquet(mixed, row_group_size=2), order)


def _as_parquet(table: Any, **named: Any) -> bytes:
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(table, file, **named)
    return file.getvalue()


def _of_text(data: bytes, rng: np.random.Generator) -> Iterator[Words]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError("the file is no text: nobody knows other words for it") from None
    if text.startswith("{"):
        yield from _of_json(text)
    elif text.startswith("#"):
        yield from _of_preflib(text, rng)
    else:
        yield from _of_csv(text, rng)


def _of_json(text: str) -> Iterator[Words]:
    whole = json.loads(text)
    yield Words(FORM, json.dumps(dict(reversed(whole.items())), indent=3).encode())


def _of_preflib(text: str, rng: np.random.Generator) -> Iterator[Words]:
    lines = text.splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    rest = [line for line in lines[len(head) :] if line.strip()]
    if len(head) + len(rest) == len(lines) and lines[-1].endswith("\n"):
        order = rng.permutation(len(rest))
        yield Words(ORDER, "".join([*head, *(rest[at] for at in order)]).encode(), order)
    yield Words(FORM, text.replace("\r\n", "\n").replace("\n", "\r\n").encode())


def _of_csv(text: str, rng: np.random.Generator) -> Iterator[Words]:
    header, rows = _cells(text)
    order, across = rng.permutation(len(rows)), rng.permutation(len(header))
    whole = all(len(row) == len(header) for row in rows) and len(set(header)) == len(header)
    mixed = [rows[at] for at in order]
    table = [[row[at] for at in across] for row in [header, *mixed]] if whole else [header, *mixed]
    yield Words(ORDER, _written([header, *mixed]).encode(), order)
    yield Words(FORM, _written([header, *rows], "\r\n", csv.QUOTE_ALL, str(rng.choice(list(",;\t|")))).encode())
    if whole and find_spec("pyarrow") is not None and rng.random() < 0.5:
        import pyarrow

        columns = [pyarrow.array([row[at] or None for row in table[1:]], "string") for at in range(len(header))]
        yield Words(ALL, _as_parquet(pyarrow.table(columns, table[0]), row_group_size=2), order)
    else:
        yield Words(ALL, _written(table, "\r\n", csv.QUOTE_ALL).encode("utf-16"), order)


@enriched.register
def _(data: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    if data.startswith((b"PAR1", b"{", b"#")):
        return
    header, rows = _cells(data.decode())
    rows = [row for row in rows if len(row) == len(header)]
    if rows:
        at = _columns_apart(len(rows), len(header), rng)
        made = [[rows[row][column] for column, row in enumerate(one)] for one in at.T]
        yield _written([header, *made]).encode()


def _cells(text: str) -> tuple[list[str], list[list[str]]]:
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (ValueError, csv.Error):
        raise ValueError("the file is no table with a header: nobody knows other words for it") from None
    return header, rows


def _written(rows: list[list[str]], end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL, separator: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=end, quoting=quoting, delimiter=separator).writerows(rows)
    return file.getvalue()


def _typed(column: NDArray[Any], rng: np.random.Generator, kinds: tuple[str, ...]) -> NDArray[Any]:
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


def _laid(table: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """In another layout of memory: by columns, or every second row of a larger table."""
    return np.asfortranarray(table) if rng.random() < 0.5 else np.repeat(table, 2, axis=0)[::2]
