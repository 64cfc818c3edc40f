"""Kendall tau distance: how many pairs two rankings order differently."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import as_array

__all__ = ["as_positions", "kendall_distance", "kendall_distances", "pairwise_kendall_distances", "ranking"]


def kendall_distance(a: ArrayLike, b: ArrayLike) -> int:
    """Pairs of items that two rankings put in opposite orders.

    Parameters
    ----------
    a, b : array_like of int, shape (items,)
        Positions 0 .. items - 1 of the items, each used once.

    Returns
    -------
    int
        0 for equal rankings, items (items - 1) / 2 for opposite ones. O(items log items).

    Raises
    ------
    ValueError
        Where `a` or `b` is no ranking, or they differ in length.

    Examples
    --------
    >>> kendall_distance([0, 1, 2], [2, 0, 1])
    2
    """
    one, other = ranking("a", a), ranking("b", b)
    if len(one) != len(other):
        raise ValueError(f"a ranks {len(one)} items, b ranks {len(other)}: they must agree")
    out = np.empty(1, np.int64)
    _inversions(one[None], other, out)
    return int(out[0])


def kendall_distances(positions: ArrayLike, centre: ArrayLike) -> NDArray[np.int64]:
    """Kendall tau distance of many rankings from one.

    Parameters
    ----------
    positions : array_like of int, shape (rankings, items)
        Positions 0 .. items - 1 of the items, each used once in a row.
    centre : array_like of int, shape (items,)
        Positions of the items in the ranking that all are compared with.

    Returns
    -------
    ndarray of int, shape (rankings,)
        O(rankings * items * log(items)) time.

    Raises
    ------
    ValueError
        Naming the first row that is no ranking, or the two numbers of items where they differ.

    Examples
    --------
    >>> kendall_distances([[0, 1, 2], [1, 0, 2], [2, 1, 0]], [0, 1, 2]).tolist()
    [0, 1, 3]
    """
    middle = ranking("centre", centre)
    rows = as_positions("positions", positions)
    if rows.shape[1] != len(middle):
        raise ValueError(f"positions rank {rows.shape[1]} items, centre ranks {len(middle)}: they must agree")
    out = np.empty(len(rows), np.int64)
    _inversions(rows, middle, out)
    return out


def pairwise_kendall_distances(positions: ArrayLike, others: ArrayLike | None = None) -> NDArray[np.int64]:
    """Kendall tau distance of every ranking from every other.

    Parameters
    ----------
    positions : array_like of int, shape (rankings, items)
    others : array_like of int, shape (others, items), optional
        The rankings themselves by default.

    Returns
    -------
    ndarray of int, shape (rankings, others)
        O(rankings * others * min(items^2 / 128, items * log(items))) time. Up to 500 items a ranking becomes
        items^2 / 2 bits, one a pair of items, and a distance the number of bits that differ; beyond, memory is that of
        the result.

    Examples
    --------
    >>> pairwise_kendall_distances([[0, 1, 2], [1, 0, 2], [2, 1, 0]]).tolist()
    [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    """
    rows = as_positions("positions", positions)
    columns = rows if others is None else as_positions("others", others)
    if rows.shape[1] != columns.shape[1]:
        raise ValueError(f"positions rank {rows.shape[1]} items, others rank {columns.shape[1]}: they must agree")
    if rows.shape[1] <= 500:
        bits = _signatures(rows)
        return _differences(bits, bits if others is None else _signatures(columns), others is None)
    out = np.zeros((len(rows), len(columns)), np.int64)
    for i, row in enumerate(rows):
        first = 0 if others is not None else i + 1
        _inversions(columns[first:], row, out[i, first:])
    return out + out.T if others is None else out


def ranking(name: str, values: ArrayLike) -> NDArray[Any]:
    """One ranking, shape (items,), as `as_positions` has many.

    Examples
    --------
    >>> ranking("a", [2, 0, 1]).tolist()
    [2, 0, 1]
    >>> ranking("a", [2, 0, 2])
    Traceback (most recent call last):
        ...
    ValueError: a is no ranking; it uses every position 0 .. 2 once
    """
    array = as_array(name, values)
    if array.ndim != 1 or array.size < 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} has {_form(array)}; one ranking is needed, integer positions of its items")
    return _checked(array[None], name)[0]


def as_positions(name: str, values: ArrayLike) -> NDArray[Any]:
    """Rows that are rankings: each uses every position 0 .. items - 1 once.

    Parameters
    ----------
    name : str
        What error messages call the array.
    values : array_like of int, shape (rankings, items)

    Returns
    -------
    ndarray of unsigned int, shape (rankings, items)
        A copy, of the narrowest type that holds the positions.

    Raises
    ------
    ValueError
        Naming the first row that does not.

    Examples
    --------
    >>> rows = as_positions("positions", [[0, 1, 2], [2, 0, 1]])
    >>> rows.tolist(), rows.dtype.name
    ([[0, 1, 2], [2, 0, 1]], 'uint8')
    """
    array = as_array(name, values)
    if array.ndim != 2 or array.shape[1] < 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} has {_form(array)}; rows of integer positions are needed")
    return _checked(array, name + "[{}]")


def _form(array: NDArray[Any]) -> str:
    return f"{array.ndim} dimensions of {array.dtype.type.__name__}"


def _checked(array: NDArray[Any], row: str) -> NDArray[Any]:
    """Rows of integers, narrowed, if all are rankings; `row` is what error messages call a row, given its number."""
    m = array.shape[1]
    rows = array.astype(np.min_scalar_type(m - 1), order="C")
    if array.min(initial=0) < 0 or array.max(initial=0) >= m or _repeats(rows):
        bad = np.argmax((np.sort(array, axis=1) != np.arange(m)).any(axis=1))
        raise ValueError(f"{row.format(bad)} is no ranking; it uses every position 0 .. {m - 1} once")
    return rows


@njit(cache=True)
def _repeats(rows):
    """Whether a row has a value twice; all of them are below its length."""
    seen = np.zeros(rows.shape[1], np.int64)
    for r in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            seen[rows[r, i]] += 1
        for i in range(rows.shape[1]):
            if seen[i] != r + 1:
                return True
    return False


@njit(inline="always")
def _ones(word):
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, error_model="numpy")
def _inversions(rows, middle, out):
    """Pairs in which a row and the middle disagree, by radix sort: from the highest bit to sets of 64 values."""
    m = rows.shape[1]
    source, target = np.empty(m, np.int32), np.empty(m, np.int32)
    top = 6
    while 1 << top < m:
        top += 1
    for r in range(rows.shape[0]):
        for i in range(m):
            source[middle[i]] = rows[r, i]
        count = 0
        for bit in range(top - 1, 5, -1):
            for low in range(0, m, 2 << bit):
                half = low + (1 << bit)
                zero, one = low, half
                for i in range(low, min(half + (1 << bit), m)):
                    value = source[i]
                    high = (value >> bit) & 1
                    target[one if high else zero] = value
                    # ones in front of a zero
                    count += (one - half) * (1 - high)
                    one += high
                    zero += 1 - high
            source, target = target, source
        for low in range(0, m, 64):
            seen = np.uint64(0)
            for i in range(low, min(low + 64, m)):
                place = np.uint64(source[i] & 63)
                count += _ones(seen >> place)
                seen |= np.uint64(1) << place
        out[r] = count


@njit(cache=True, error_model="numpy")
def _signatures(rows):
    """A bit for every pair of items: whether a row ranks the first of them higher."""
    n, m = rows.shape
    words = np.zeros((n, (m * (m - 1) // 2 + 63) // 64), np.uint64)
    for r in range(n):
        at, word = 0, np.uint64(0)
        for i in range(m):
            for j in range(i):
                word |= np.uint64(rows[r, j] < rows[r, i]) << np.uint64(at & 63)
                at += 1
                if at & 63 == 0:
                    words[r, (at >> 6) - 1] = word
                    word = np.uint64(0)
        if at & 63:
            words[r, at >> 6] = word
    return words


@njit(cache=True, error_model="numpy")
def _differences(a, b, same):
    out = np.zeros((len(a), len(b)), np.int64)
    for i in range(len(a)):
        for j in range(i if same else len(b)):
            count = 0
            for w in range(a.shape[1]):
                count += _ones(a[i, w] ^ b[j, w])
            out[i, j] = count
            if same:
                out[j, i] = count
    return out
