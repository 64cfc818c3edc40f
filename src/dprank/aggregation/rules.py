"""Aggregation rules that cost little: two read the pairwise matrix only, two the rankings themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from dprank.aggregation.matrix import require_matrix
from dprank.rankings import Rankings


def borda(w: ArrayLike) -> NDArray[np.int64]:
    """Items by the average number of items that a voter puts behind them (de Borda 1781).

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        Fractions or weights of i before j; noisy ones are allowed, any finite numbers.

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first; items that tie in the order of their codes. O(items^2).
    """
    return _descending(require_matrix(w).sum(axis=1))


def copeland(w: ArrayLike) -> NDArray[np.int64]:
    """Items by the number of items that they beat in the majority of pairs, a tie counting one half.

    Parameters
    ----------
    w : array_like of float, shape (items, items)
        As in `borda`.

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first; items that tie in the order of their codes. O(items^2).
    """
    matrix = require_matrix(w)
    return _descending(np.sign(matrix - matrix.T).sum(axis=1))


def footrule(rankings: Rankings) -> NDArray[np.int64]:
    """An order of least total Spearman footrule distance to the voters' rankings (Dwork et al. 2001).

    The footrule distance sums over all items the absolute difference of their two places. It lies between the Kendall
    distance and twice it (Diaconis and Graham 1977), so the Kemeny score of this order is at most twice the optimum.

    Parameters
    ----------
    rankings : Rankings
        At least one voter.

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first; one of the optimal orders. O(items^2 (voters + items)).

    Raises
    ------
    ValueError
        Where there is no voter.
    """
    _require_voters(rankings)
    place = np.arange(rankings.n_items)
    cost = np.stack([abs(rankings.positions.astype(np.int64) - p).sum(axis=0) for p in place], axis=1)
    return np.argsort(linear_sum_assignment(cost)[1])


def pick_a_perm(rankings: Rankings, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """The ranking of a random voter (Ailon, Charikar and Newman 2008): in expectation at most twice the optimum.

    Parameters
    ----------
    rankings : Rankings
        At least one voter.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first. It is some person's ranking and hence (0, 1 / voters)-private only.

    Raises
    ------
    ValueError
        Where there is no voter.
    """
    _require_voters(rankings)
    return np.argsort(rankings.positions[rng.integers(len(rankings))]).astype(np.int64)


def _descending(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")


def _require_voters(rankings: Rankings) -> None:
    if not len(rankings):
        raise ValueError("rankings have no voters; at least one is needed")
