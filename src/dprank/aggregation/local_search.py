"""Local search for a low Kemeny score: what one runs where the optimum is out of reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank.aggregation.matrix import require_matrix, require_order

__all__ = ["local_search"]

# shakes times items^2, beyond few items: about a hundredth of a second
_EFFORT = 5_000_000


def local_search(w: ArrayLike, start: ArrayLike | None = None) -> NDArray[np.int64]:
    """Move single items to better places until no move helps; then shake a little, and again.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        ``w[i, j]`` is the weight of i before j. Noisy matrices are allowed: any finite numbers.
    start : array_like of int, shape (items,), optional
        An order, best first; by default items by their total margin (Borda's order).

    Returns
    -------
    ndarray of int, shape (items,)
        An order that no move of a single item improves, at most as costly as `start`. Deterministic: the shaking
        follows a fixed pattern, ``min(40 items, 5e6 / items^2)`` times over. A round over all items takes O(items^2).

    Raises
    ------
    ValueError
        Where `w` is no square matrix of finite numbers, or `start` no order of its items.

    Notes
    -----
    Prefix sums of an item's margins give the change in cost for all its new places at once. Shaking moves a few items
    of a short stretch of the order at random and descends again, where only moves into or out of what has changed can
    help; the result replaces the order if it costs no more.

    Examples
    --------
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> local_search(w).tolist()
    [0, 1, 2]
    """
    matrix = require_matrix(w)
    margin = matrix - matrix.T
    order = np.argsort(-margin.sum(axis=1), kind="stable") if start is None else require_order(start, len(matrix))
    scale = abs(margin).max()
    _search(margin / (scale or 1.0), order, min(40 * len(matrix), _EFFORT // len(matrix) ** 2))
    return order


@njit(cache=True, error_model="numpy")
def _best_place(margin, order, here, low, high):
    """Where the item at `here` should be, and what moving it there saves, where only places from `low` to `high` hold
    other items than when no move helped: beyond them, from outside, what a move saves is what it was.
    """
    m = len(order)
    row = margin[order[here]]
    best, place, saved = 1e-12, here, 0.0
    if low <= here < high:
        low, high = 0, m
    if low < here:
        for k in range(here - 1, high - 1, -1):
            saved += row[order[k]]
        for k in range(min(here, high) - 1, low - 1, -1):
            saved += row[order[k]]
            if saved > best:
                best, place = saved, k
    saved = 0.0
    if here < high:
        for k in range(here + 1, low):
            saved -= row[order[k]]
        for k in range(max(here + 1, low), high):
            saved -= row[order[k]]
            if saved > best:
                best, place = saved, k
    return place, (best if place != here else 0.0)


@njit(cache=True, error_model="numpy")
def _move(order, here, there):
    item = order[here]
    step = 1 if there > here else -1
    for k in range(here, there, step):
        order[k] = order[k + step]
    order[there] = item


@njit(cache=True, error_model="numpy")
def _descend(margin, order, place, low, high):
    """Move items in turn, each to its best place, until a whole round moves none; what all that saves.

    Before items were moved between the places `low` and `high`, no move helped.
    """
    m = len(order)
    for k in range(m):
        place[order[k]] = k
    total, idle, item = 0.0, 0, 0
    while idle < m:
        here = place[item]
        there, saved = _best_place(margin, order, here, low, high)
        if there != here:
            _move(order, here, there)
            for k in range(min(here, there), max(here, there) + 1):
                place[order[k]] = k
            low, high = min(low, here, there), max(high, here + 1, there + 1)
            total += saved
            idle = 0
        idle += 1
        item = item + 1 if item + 1 < m else 0
    return total


@njit(cache=True, error_model="numpy")
def _search(margin, order, rounds):
    """Descend, then `rounds` times: shake, descend, go on from there if it is no worse. Leaves the best in `order`."""
    m = len(order)
    place = np.empty(m, np.int64)
    _descend(margin, order, place, 0, m)
    if m < 4:
        return
    state = np.uint64(1)
    here, trial, ahead, most = order.copy(), order.copy(), 0.0, 1e-9
    reach = min(m, 12)
    for _ in range(rounds):
        state = _next(state)
        first = _below(state, m - reach + 1)
        for _ in range(3):
            state = _next(state)
            one = first + _below(state, reach)
            state = _next(state)
            _move(trial, one, first + _below(state, reach))
        low, high = (0, m) if m < 2 * reach else (first, first + reach)
        saved = _saving(margin, here, trial, place) + _descend(margin, trial, place, low, high)
        if saved >= 0:
            _copy(trial, here)
            ahead += saved
            if ahead > most:
                _copy(here, order)
                most = ahead
        else:
            _copy(here, trial)


@njit(inline="always")
def _copy(one, other):
    """What is assigned to a slice takes seconds to compile."""
    for k in range(len(one)):
        other[k] = one[k]


@njit(inline="always")
def _next(state):
    """Knuth's linear congruential generator of 64 bits."""
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@njit(inline="always")
def _below(state, n):
    return np.int64((state >> np.uint64(33)) % np.uint64(n))


@njit(cache=True, error_model="numpy")
def _saving(margin, old, new, place):
    """What a change of a few places of an order saves."""
    low, high = 0, len(old)
    while low < high and old[low] == new[low]:
        low += 1
    while high > low and old[high - 1] == new[high - 1]:
        high -= 1
    for k in range(low, high):
        place[old[k]] = k
    saved = 0.0
    for k in range(low, high):
        for other in range(k + 1, high):
            if place[new[k]] > place[new[other]]:
                saved += margin[new[k], new[other]]
    return saved
