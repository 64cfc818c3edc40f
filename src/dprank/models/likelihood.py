"""Penalised maximum likelihood from pairwise comparisons (Cai, Chakraborty and Wang 2025, (2.1), (2.2), (3.2))."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_array, as_floats, require_at_least_0, require_positive
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.models.bradley_terry import LOGISTIC, Link
from dprank.models.games import Fit, Games
from dprank.models.newton import AnyLink, Logistic, newton
from dprank.models.tables import from_tables

__all__ = ["gradient", "hessian", "log_likelihood", "mle", "mle_from_counts"]

#: Up to here single precision tells whole numbers apart.
_FLOAT32_COUNTS = 2**24


def log_likelihood(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> float:
    """Log likelihood of strengths, a tie as half a win for both (minus equation 2.1). O(comparisons).

    Examples
    --------
    >>> data = Comparisons([0, 0, 1, 1], [1, 1, 2, 2], [1, 0, 1, 0.5], items=["a", "b", "c"])
    >>> round(log_likelihood([0, 0, 0], data), 6)
    -2.772589
    """
    theta, games = _strengths(theta, comparisons), Games.of(comparisons)
    x = theta[games.item] - theta[games.other]
    won = games.points / 2
    return float(won @ link.log_cdf(x) + (games.played - won) @ link.log_cdf(-x))


def gradient(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Gradient of the negative log likelihood (equation A.8), shape (items,). O(comparisons).

    Examples
    --------
    >>> data = Comparisons([0, 0, 1, 1], [1, 1, 2, 2], [1, 0, 1, 0.5], items=["a", "b", "c"])
    >>> gradient([0, 0, 0], data).tolist()
    [0.0, -0.5, 0.5]
    """
    return AnyLink(Games.of(comparisons), link).gradient(_strengths(theta, comparisons))


def hessian(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> scipy.sparse.csr_array:
    """Hessian of the negative log likelihood (equation A.9): a weighted graph Laplacian, sparse, (items, items).

    Examples
    --------
    >>> data = Comparisons([0, 0, 1, 1], [1, 1, 2, 2], [1, 0, 1, 0.5], items=["a", "b", "c"])
    >>> hessian([0, 0, 0], data).toarray().tolist()
    [[0.5, -0.5, 0.0], [-0.5, 1.0, -0.5], [0.0, -0.5, 0.5]]
    """
    theta, games = _strengths(theta, comparisons), Games.of(comparisons)
    weight = AnyLink(games, link).curvature(theta)
    i, j, n = games.item, games.other, games.n_items
    degree = np.bincount(i, weight, n) + np.bincount(j, weight, n)
    rows, columns = np.r_[i, j, np.arange(n)], np.r_[j, i, np.arange(n)]
    return scipy.sparse.csr_array((np.r_[-weight, -weight, degree], (rows, columns)), shape=(n, n))


def mle(
    comparisons: Comparisons,
    *,
    link: Link = LOGISTIC,
    ridge: float = 0.0,
    linear: ArrayLike | None = None,
    wins: ArrayLike | None = None,
    tolerance: float = 1e-8,
) -> Fit:
    r"""Minimise :math:`\mathcal L(\theta) + \frac\gamma2 \|\theta\|_2^2 + w \cdot \theta`.

    Parameters
    ----------
    comparisons : Comparisons
        Any graph; repeated comparisons; a tie is half a win for both.
    link : Link
        Log-concave.
    ridge : float
        gamma, at least 0. Without it only comparisons that have a minimiser are accepted.
    linear : array_like of float, shape (items,), optional
        w; needs a ridge.
    wins : array_like of float, shape (items,), optional
        Win counts to use in place of those of the comparisons, of which then only the graph is read: the logistic
        likelihood sees no more. Private counts on a public graph so give a private estimate. Needs a ridge.
    tolerance : float
        On the l2 norm of the gradient. Where data or strengths are so large that rounding allows no less, that little
        counts as enough; `Fit.gradient_norm` says what was reached.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        For input out of range, and if there is no unique minimiser: ridge 0 on a graph that is not connected, or on
        comparisons in which some items never lost to the others.
    ArithmeticError
        If rounding keeps the gradient above the tolerance.

    Notes
    -----
    Newton steps on the centred problem, each by conjugate gradients with a Jacobi preconditioner on the weighted graph
    Laplacian; pairs are merged once. Memory O(items + pairs), time O(comparisons) to merge and O(pairs) for each
    gradient and each of the inner steps, of which an expander needs a few and a path as many as it has items. Tables of
    dense graphs go the way of `mle_from_counts`. Where a linear term pulls items so far apart that Newton's method
    walks from kink to kink, the ridge is lowered to its value in steps. Source: the estimators (2.2) and (3.2) of Cai,
    Chakraborty and Wang (2025).

    Examples
    --------
    >>> data = Comparisons([0, 0, 1, 1], [1, 1, 2, 2], [1, 0, 1, 0.5], items=["a", "b", "c"])
    >>> fit = mle(data)
    >>> fit.theta.round(3).tolist(), fit.gradient_norm < 1e-8
    ([0.366, 0.366, -0.732], True)
    """
    n = require_comparisons(comparisons).n_items
    ridge, linear = _penalty(ridge, linear, n)
    if wins is not None:
        wins = _finite("wins", wins, n)
        if link is not LOGISTIC or ridge == 0:
            raise ValueError(
                f"wins with link = {link.name!r}, ridge = {ridge}; only a logistic link with a ridge allows it"
            )
    tolerance = require_positive("tolerance", tolerance)
    games = Games.of(comparisons)
    if ridge == 0:
        _require_minimiser(games)
    if link is not LOGISTIC:
        return newton(AnyLink(games, link, linear), games, ridge, tolerance)
    return _logistic_mle(games, (games.wins if wins is None else wins) - linear, ridge, tolerance)


def mle_from_counts(
    played: ArrayLike,
    wins: ArrayLike,
    *,
    ridge: float,
    tolerance: float = 1e-8,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logistic minimisers of many replicates of one number of items, from their sufficient statistics.

    Parameters
    ----------
    played : array_like of float, shape (items, items) or (replicates, items, items)
        How often each pair was compared: symmetric, diagonal 0. One table serves all replicates.
    wins : array_like of float, shape (replicates, items)
        Wins of each item, minus the linear term: w enters the objective as wins that are taken away.
    ridge : float
        gamma, above 0.
    tolerance : float
        On the l2 norm of every gradient, as in `mle`.

    Returns
    -------
    theta : ndarray of float, shape (replicates, items)
    gradient_norm : ndarray of float, shape (replicates,)

    Notes
    -----
    O(replicates * items^2) time for dense graphs, in one thread. Because the pair of `played` and `wins` is all that
    the logistic likelihood sees, private wins on a public graph give a private estimate by post-processing.

    Examples
    --------
    >>> theta, norm = mle_from_counts(2 * (1 - np.eye(3)), [[3, 2, 1], [2, 2, 2]], ridge=0.1)
    >>> theta.round(2).tolist(), bool((norm < 1e-8).all())
    ([[0.69, 0.0, -0.69], [0.0, 0.0, 0.0]], True)
    """
    wins = np.ascontiguousarray(as_floats("wins", wins))
    if wins.ndim != 2 or wins.shape[1] < 2:
        raise ValueError(f"wins has shape {wins.shape}; one row a replicate is needed, of at least two items")
    replicates, n = wins.shape
    if not (finite := np.isfinite(wins)).all():
        r, i = np.argwhere(~finite)[0]
        raise ValueError(f"wins[{r}, {i}] is not finite; finite numbers are needed")
    tables = as_array("played", played)
    tables = tables if tables.dtype.kind in "biuf" else as_floats("played", played)
    tables = tables[None] if tables.ndim == 2 else tables
    if tables.shape not in ((1, n, n), (replicates, n, n)):
        raise ValueError(f"played has shape {tables.shape}; ({n}, {n}) is needed, once or for {replicates} replicates")
    ridge, _ = _penalty(ridge, None, n)
    if ridge == 0:
        raise ValueError("ridge = 0; a batch needs a ridge above 0")
    tolerance = require_positive("tolerance", tolerance)
    if tables.dtype != np.float32 and tables.size and not (tables.min() >= 0 and tables.max() <= _FLOAT32_COUNTS):
        _refuse_counts(tables, _FLOAT32_COUNTS)
    single = np.ascontiguousarray(tables, np.float32)
    theta, norm, _ = from_tables(single, wins, ridge, tolerance)
    if np.isnan(norm).any():
        _refuse_counts(tables[: np.isnan(norm).argmax() + 1], float(np.finfo(np.float32).max))
    for late in np.flatnonzero(np.isinf(norm)).tolist():
        games = Games.listed(single[min(late, len(single) - 1)])
        try:
            fit = newton(Logistic(games, wins[late]), games, ridge, tolerance)
        except ArithmeticError as error:
            raise ArithmeticError(f"replicate {late}: {error}") from None
        theta[late], norm[late] = fit.theta, fit.gradient_norm
    return theta, norm


def _logistic_mle(games: Games, wins: NDArray[np.float64], ridge: float, tolerance: float) -> Fit:
    n = games.n_items
    if 4 * len(games.other) >= n * n and games.played.max() <= _FLOAT32_COUNTS:
        theta, norm, steps = from_tables(games.table[None], wins[None], ridge, tolerance)
        if np.isfinite(norm[0]):
            return Fit(theta[0], float(norm[0]), ridge, int(steps[0]))
    return newton(Logistic(games, wins), games, ridge, tolerance)


def _require_minimiser(games: Games) -> None:
    """Ford (1957): without ridge there is a minimiser iff every item is linked to every other by a chain of wins."""
    if games.chained():
        return
    i, j, n = games.item, games.other, games.n_items
    won, lost = games.points > 0, games.points < 2 * games.played
    beats = scipy.sparse.csr_array(
        (np.ones(won.sum() + lost.sum(), np.int8), (np.r_[i[won], j[lost]], np.r_[j[won], i[lost]])), shape=(n, n)
    )
    parts, part = scipy.sparse.csgraph.connected_components(beats, directed=False)
    if parts > 1:
        apart = int((part != part[0]).argmax())
        raise ValueError(
            f"ridge = 0 on groups of items never compared with each other (items[0] and items[{apart}]): "
            "no unique minimiser; a ridge above 0 is needed"
        )
    parts, part = scipy.sparse.csgraph.connected_components(beats, connection="strong")
    if parts > 1:
        # a group that no item outside it ever beat
        rows, columns = beats.nonzero()
        beaten = np.zeros(parts, bool)
        beaten[part[columns[part[rows] != part[columns]]]] = True
        best = int((part == int(beaten.argmin())).argmax())
        raise ValueError(
            f"ridge = 0 on comparisons in which no other item ever won against the group of items[{best}]: "
            "its strength has no finite estimate; a ridge above 0 is needed"
        )


def _penalty(ridge: float, linear: ArrayLike | None, n: int) -> tuple[float, NDArray[np.float64]]:
    ridge = require_at_least_0("ridge", ridge)
    if linear is None:
        return ridge, np.zeros(n)
    linear = _finite("linear", linear, n)
    if ridge == 0:
        raise ValueError("ridge = 0 with a linear term: a minimiser need not exist; a ridge above 0 is needed")
    return ridge, linear


def _refuse_counts(tables: NDArray[Any], most: float) -> None:
    """Says what is wrong with the tables: an entry, or else the last of them."""
    for place in np.argwhere(~((tables >= 0) & (tables <= most))).tolist():
        raise ValueError(f"played{place} is out of range; numbers from 0 to {most:.9g} are needed")
    raise ValueError(f"played[{len(tables) - 1}] is not symmetric with diagonal 0")


def _strengths(theta: ArrayLike, comparisons: Comparisons) -> NDArray[np.float64]:
    return _finite("theta", theta, require_comparisons(comparisons).n_items)


def _finite(name: str, value: ArrayLike, n: int) -> NDArray[np.float64]:
    value = as_floats(name, value)
    if value.shape != (n,):
        raise ValueError(f"{name} has shape {value.shape}; {n} numbers are needed, one an item")
    if not (finite := np.isfinite(value)).all():
        raise ValueError(f"{name}[{int(finite.argmin())}] is not finite; finite numbers are needed")
    return value
