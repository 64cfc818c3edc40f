"""Places of items where errors of scores depend on each other: a bound for each pair, and all pairs at once.

Sums of noise over the pairs of an item, reports of voters, and persons that were drawn from a population: what is known
there is the error in the difference of two scores, of every two. `dprank.privacy.ranges` is for independent noise.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST, as_floats, require_one_of, require_probability, require_whole
from dprank.privacy.pair_errors import PairError
from dprank.privacy.ranges import ScoreNoise, place_intervals

__all__ = ["NoRanges", "Places", "Sampling", "drawn", "majority_places", "pair_places", "score_places"]

Array = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
#: What was drawn from a population: persons, whatever each of them says; or answers, each by itself.
Sampling = Literal["persons", "answers"]

#: Levels beyond it are not told from 1.
_MOST = 1 - 1e-9
#: Steps down, at most.
_STEPS = 20


class NoRanges(ValueError):
    """Of just this release no range is known, though of others by its mechanism, with the same arguments, one is."""


def drawn(sampling: Sampling | None, persons: int | None) -> int:
    """How many persons were drawn, 0 where nothing is said of sampling.

    Parameters
    ----------
    sampling : {"persons", "answers"} or None
    persons : int or None
        At least 1 where `sampling` is named, and None elsewhere.

    Raises
    ------
    ValueError
        Naming what is missing.

    Examples
    --------
    >>> drawn("persons", 400), drawn(None, None)
    (400, 0)
    """
    require_one_of("sampling", sampling, (*get_args(Sampling), None))
    if sampling is None and persons is not None:
        raise ValueError("persons without sampling; name it: sampling = 'persons' or 'answers'")
    if sampling is not None and persons is None:
        raise ValueError(
            f"persons = None; with sampling = {sampling!r} say how many took part at most, a public number"
        )
    return 0 if persons is None else require_whole("persons", persons, 1, MOST)


def pair_places(scores: Array, error: PairError, level: float) -> Places:
    r"""Places that every item may have without the errors, all of them right at once with probability `level`.

    Parameters
    ----------
    scores : array_like of float, shape (items,)
        As in `dprank.privacy.ranges.place_intervals`.
    error : PairError
        Of the difference of any two of them, whatever it has to do with those of others.
    level : float
        In (0, 1), at most 1 - 1e-9.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        As of `dprank.privacy.ranges.place_intervals`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(items log items), and `PairError.quantile` some times. Of the m (m - 1) sentences "i is better than j" those are
    told whose difference is above q, with :math:`P(D_{ij} - (s_i - s_j) > q) \le (1 - level) / h`, where h is the
    number of sentences that are not told yet (Holm 1979). Among the wrong ones let one be told first. Before, none of
    the wrong sentences was told, so h is at least their number w, and the difference is above the quantile for
    :math:`(1 - level) / w`: all that are wrong together have a chance of at most 1 - level of that.

    Examples
    --------
    >>> error = PairError(deviation=10.0)
    >>> lowest, highest = pair_places([900, 40, 10, 0], error, 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2, 3], [1, 3, 4, 4])
    """
    scores = as_floats("scores", scores)
    if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores are not a list of at least two finite numbers: that is needed")
    level = require_probability("level", level, most=_MOST)
    ascending, m = np.sort(scores), len(scores)
    largest, told, found = float(np.abs(scores).max()), -1, 0
    for _ in range(_STEPS):
        if found == told:
            break
        told = found
        apart = error.quantile((1 - level) / (m * (m - 1) - told)) + error.step / 2
        apart += 4 * math.ulp(apart + largest)
        ahead = m - np.searchsorted(ascending, scores + apart, "right")
        behind = np.searchsorted(ascending, scores - apart, "left")
        found = int(behind.sum())
    return 1 + ahead, m - behind


def majority_places(margins: Array, error: PairError, level: float) -> Places:
    r"""Places that every item may have in the best orders of the exact margins, right at once with that probability.

    Parameters
    ----------
    margins : array_like of float, shape (items, items)
        Antisymmetric: by how much the row's item beats the column's.
    error : PairError
        Of any margin.
    level : float
        As in `pair_places`.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        Of the first and last place of the block that the item is in.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(items^2). Told are majorities, as `pair_places` tells differences. If every item of a set X beats every item
    outside of it, X stands first in each order that has no two neighbours of which the second beats the first: else
    somewhere an item of the rest stands directly before one of X. Every optimal Kemeny order is such an order, and so
    is every order that no exchange of neighbours improves. By Copeland's count too X is first: its items beat all of
    the rest, and an item of the rest beats fewer. So items are cut into blocks where all before are known to beat all
    behind, and an item stays within its block.

    Examples
    --------
    >>> margins = np.array([[0, 90, 80], [-90, 0, 5], [-80, -5, 0]])
    >>> lowest, highest = majority_places(margins, PairError(deviation=10.0), 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    margins = as_floats("margins", margins)
    m = len(margins) if margins.ndim else 0
    if margins.shape != (m, m) or m < 2 or not np.isfinite(margins).all() or (margins != -margins.T).any():
        raise ValueError("margins are no antisymmetric square of finite numbers: that is needed")
    level = require_probability("level", level, most=_MOST)
    told, found, beats = -1, 0, np.zeros((m, m), bool)
    for _ in range(_STEPS):
        if found == told:
            break
        told = found
        apart = error.quantile((1 - level) / (m * (m - 1) - told)) + error.step / 2
        beats = margins > apart
        found = int(beats.sum())
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    cumulative = beats[np.ix_(order, order)].cumsum(axis=0)  # of the first t items, how many beat each
    whole = [t for t in range(1, m) if (cumulative[t - 1, t:] == t).all()]
    edges = np.array([0, *whole, m])
    block = np.searchsorted(edges, np.arange(m), "right") - 1
    lowest, highest = np.empty(m, np.int64), np.empty(m, np.int64)
    lowest[order], highest[order] = 1 + edges[block], edges[block + 1]
    return lowest, highest


def score_places(scores: Array, law: ScoreNoise, level: float, deviation: float = 0.0) -> Places:
    """Places that independent noise on scores leaves open, or with what drawing the persons adds.

    Parameters
    ----------
    scores, law, level
        As in `dprank.privacy.ranges.place_intervals`.
    deviation : float
        As in `PairError`: of the difference of two scores, from drawing; 0 for the noise alone.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        With drawing never within those without.

    Examples
    --------
    >>> law = ScoreNoise("laplace", 8.0, step=1.0)
    >>> [places.tolist() for places in score_places([900, 740, 10], law, 0.95)]
    [[1, 2, 3], [1, 2, 3]]
    >>> [places.tolist() for places in score_places([900, 740, 10], law, 0.95, deviation=60.0)]
    [[1, 1, 3], [2, 2, 3]]
    """
    low, high = place_intervals(scores, law, level)
    if not deviation:
        return low, high
    lowest, highest = pair_places(scores, PairError(((law, 2, 1.0),), deviation=deviation), level)
    return np.minimum(low, lowest), np.maximum(high, highest)
