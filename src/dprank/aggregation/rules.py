"""Aggregation rules: two of the pairwise matrix and two of the rankings that cost little; and rules by their names."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_generator, require_one_of
from dprank.aggregation.kemeny import KemenyTimeout, kemeny, quick_order
from dprank.aggregation.local_search import local_search
from dprank.aggregation.matrix import require_matrix, shrink
from dprank.data.rankings import Rankings, require_rankings
from dprank.privacy.noise import Source, require_source

__all__ = ["Rule", "borda", "copeland", "footrule", "order_by", "pick_a_perm"]

Rule = Literal["auto", "kemeny", "local_search", "borda", "copeland"]
#: Seconds that `order_by` lets the exact rule "kemeny" take.
PATIENCE = 60.0


def order_by(rule: Rule, w: ArrayLike, *, rng: Source) -> NDArray[np.int64]:
    """The order of a matrix by the rule of that name: no rule fails, however noisy the matrix is.

    The rule sees the items in random order, so that what they are called and how they are listed decides no tie.

    Parameters
    ----------
    rule : {"auto", "kemeny", "local_search", "borda", "copeland"}
        `quick_order`; the proved optimum of `kemeny`, which
        noise at many items puts out of reach: after a minute a warning, and the best order known; and the three
        functions of these names.
    w : array_like of float, shape (items, items)
        Fractions, weights or margins of i before j; noisy ones are allowed, any finite numbers.
    rng : numpy.random.Generator or dprank.SECURE
        Draws the order in which the rule sees the items, and nothing else.

    Returns
    -------
    ndarray of int, shape (items,)
        Item codes, best first.

    Examples
    --------
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> order_by("borda", w, rng=np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    rules = {"auto": quick_order, "kemeny": _kemeny, "local_search": local_search, "borda": borda, "copeland": copeland}
    ordered, matrix = rules[require_rule(rule)], require_matrix(w)
    seen = require_source(rng).permutation(len(matrix))
    return seen[ordered(matrix[np.ix_(seen, seen)])]


def require_rule(rule: Rule) -> Rule:
    """Refuse what is not the name of a rule of `order_by`.

    Examples
    --------
    >>> require_rule("borda")
    'borda'
    >>> require_rule("best")
    Traceback (most recent call last):
        ...
    ValueError: rule = 'best'; ...
    """
    require_one_of("rule", rule, get_args(Rule))
    return rule


def require_exact(rule: Rule) -> None:
    """Refuse a rule that does not look for the least Kemeny score; "auto" finds it up to 20 items.

    Examples
    --------
    >>> require_exact("kemeny")
    >>> require_exact("borda")
    Traceback (most recent call last):
        ...
    ValueError: rule = 'borda'; an additive error is proved for 'kemeny' and, where it is exact, 'auto'
    """
    if rule not in ("auto", "kemeny"):
        raise ValueError(f"rule = {rule!r}; an additive error is proved for 'kemeny' and, where it is exact, 'auto'")


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

    Examples
    --------
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> borda(w).tolist()
    [0, 1, 2]
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

    Examples
    --------
    >>> w = np.array([[0, 0.9, 0.6], [0.1, 0, 0.7], [0.4, 0.3, 0]])  # the row's item before the column's
    >>> copeland(w).tolist()
    [0, 1, 2]
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

    Examples
    --------
    >>> votes = Rankings([[0, 1, 2], [0, 2, 1], [0, 1, 2]], ["roads", "schools", "parks"])
    >>> footrule(votes).tolist()
    [0, 1, 2]
    """
    from scipy.optimize import linear_sum_assignment

    require_rankings(rankings, least=1)
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

    Examples
    --------
    >>> votes = Rankings([[0, 1, 2]] * 4, ["roads", "schools", "parks"])
    >>> pick_a_perm(votes, rng=np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    require_rankings(rankings, least=1)
    return np.argsort(rankings.positions[require_generator(rng).integers(len(rankings))]).astype(np.int64)


def _kemeny(w: NDArray[np.float64]) -> NDArray[np.int64]:
    try:
        return kemeny(shrink(w), time_limit=PATIENCE).order
    except KemenyTimeout as late:
        late_by = f"no proof of optimality within {PATIENCE:g} s"
        warnings.warn(f"rule = 'kemeny': {late_by}; the best order known is used", RuntimeWarning, stacklevel=3)
        return late.order


def _descending(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")
