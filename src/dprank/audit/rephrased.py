"""The same data in other words: rows in another order, pairs turned round, other types, numbers and forms of a file.

A release is a function of what is noisy and of public facts, so none of this may show in it. What a kind of data can be
rewritten to is registered here, and so may others be: ``@rephrased.register``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import shown
from dprank.audit import _forms as forms
from dprank.audit._words import ALL, FORM, NUMBERS, ORDER, ROUTE, TURNED, TYPES, WHOLE, Words, laid, typed
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.count_files import Counts
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

#: Share of all pairs that data compare which are made up.
_SHARE = 0.4


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
        return forms.of_series(data, rng)
    if forms.is_frame(data):
        return forms.of_frame(data, rng)
    if forms.is_foreign(data):
        return forms.of_foreign(data, rng)
    raise ValueError(f"data = {shown(data)}; nobody knows other words for it: see dprank.audit.rephrased")


@singledispatch
def taken(data: Any, rows: NDArray[np.intp]) -> Any:
    """These rows of data, in this order.

    Examples
    --------
    >>> taken(Rankings([[0, 1], [1, 0]], "ab"), np.array([1, 0])).positions.tolist()
    [[1, 0], [0, 1]]
    """
    return forms.picked(data, rows)


@singledispatch
def enriched(data: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Other data of the kind in which order and side could matter: people with several rows that disagree, few pairs.

    They are no neighbours, and a mechanism may refuse them.

    Examples
    --------
    >>> [len(more) for more in enriched(Rankings([[0, 1, 2]] * 9, "abc"), np.random.default_rng(1))]
    [9, 24]
    """
    if forms.is_frame(data):
        yield from forms.frames_apart(data, rng)


@singledispatch
def lost(data: Any, mechanism: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Neighbours in which one person has left wholly, or has no row that fits, where the promise covers that.

    None of tables and files: whose a row is only their reader knows. Nor of comparisons where a mechanism says that who
    was asked what is public, by its attribute ``graph = "public"`` or ``design = "complete"``.

    Examples
    --------
    >>> import dprank
    >>> data = Comparisons([0, 0], [1, 1], [1, 1], "ab", [1, 2])
    >>> mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=2, per_person=1)
    >>> [(name, len(other)) for name, other in lost(data, mechanism, np.random.default_rng(1))]
    [('one person has left', 1), ('no row of one person fits', 1)]
    """
    yield from ()


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
    m, rows = data.n_items, max(len(data), forms.FEWEST)
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
    first, second = (typed(column, rng, WHOLE) for column in (data.first, data.second))
    voter = None if data.voter is None else typed(data.voter, rng, WHOLE)
    made = Comparisons(first, second, typed(data.points / 2, rng, (*WHOLE, "f4")), data.items, voter)
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
    yield Words(TYPES, Rankings(laid(typed(data.positions, rng, WHOLE), rng), data.items))
    yield Words(ALL, Rankings(laid(typed(data.positions[order], rng, WHOLE), rng), data.items), order)


@taken.register
def _(data: Rankings, rows: NDArray[np.intp]) -> Rankings:
    return Rankings(data.positions[rows], data.items)


@enriched.register
def _(data: Rankings, rng: np.random.Generator) -> Iterator[Rankings]:
    for rows in dict.fromkeys((len(data), forms.FEWEST)):
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
    signed = tuple(kind for kind in WHOLE if kind[0] == "i")
    return Ballots(laid(typed(data.places, rng, signed), rng), data.items, typed(data.weight, rng, WHOLE))


@taken.register
def _(data: Ballots, rows: NDArray[np.intp]) -> Ballots:
    return Ballots(data.places[rows], data.items, data.weight[rows])


@enriched.register
def _(data: Ballots, rng: np.random.Generator) -> Iterator[Ballots]:
    heaviest = int(data.weight.max(initial=1))
    for rows in dict.fromkeys((len(data), forms.FEWEST)):
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
    who, what = typed(data.person, rng, WHOLE), typed(data.item, rng, WHOLE)
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
    rows = max(2 * len(data.person), forms.FEWEST)
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


# arrays and files
rephrased.register(np.ndarray, forms.of_array)
rephrased.register(bytes, forms.of_bytes)
enriched.register(bytes, forms.rows_apart)
