"""Rank centrality: items by the long-run shares of a walk that moves to winners (Qiao, Su and Zhang 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import MOST_AT_ONCE, as_array, as_floats, require_at_least_0, require_real, require_whole
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.models.games import Games
from dprank.topk.solvers import solved

__all__ = [
    "comparison_graph",
    "ergodicity_coefficient",
    "pair_shares",
    "rank_centrality",
    "require_normalisation",
    "stationary_distribution",
    "transition_matrix",
]

#: Row sums may be off by so much.
_ROW_SUM = 1e-9


def pair_shares(comparisons: Comparisons, *, prior: float = 0.0) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which pairs were compared, and the share of its comparisons that the second item of each pair won.

    Parameters
    ----------
    comparisons : Comparisons
        A tie is half a win for both; pairs may have been compared unequally often.
    prior : float
        Wins given to either side of every compared pair in advance, at least 0.

    Returns
    -------
    pairs : ndarray of int, shape (pairs, 2)
        Each compared pair once, the smaller code first.
    shares : ndarray of float, shape (pairs,)
        y of equation 3.1, in [0, 1]. O(comparisons + items) time and memory.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> pairs, shares = pair_shares(Comparisons([0, 0, 1], [1, 1, 2], [1, 0, 1], "abc"))
    >>> pairs.tolist(), shares.tolist()
    ([[0, 1], [1, 2]], [0.5, 0.0])
    """
    games, shares = _shares(comparisons, prior)
    return np.column_stack([games.item, games.other.astype(np.int64)]), shares


def _shares(comparisons: Comparisons, prior: float) -> tuple[Games, NDArray[np.float64]]:
    games, prior = Games.of(require_comparisons(comparisons)), require_at_least_0("prior", prior)
    won = games.played - games.points / 2
    return games, (won + prior) / (games.played + 2 * prior)


def transition_matrix(
    n_items: int, pairs: ArrayLike, shares: ArrayLike, d: float | None = None
) -> scipy.sparse.csr_array:
    """Transition matrix of rank centrality (equation 3.2): from i to j with probability y_ij / d.

    Parameters
    ----------
    n_items : int
        At least 1.
    pairs : array_like of int, shape (pairs, 2)
        The edges (i, j) of the comparison graph, each once, in either direction.
    shares : array_like of float, shape (pairs,)
        y_ij in [0, 1], the share of the comparisons of the pair that j won; i won the others.
    d : float, optional
        Finite, at least the largest number of rivals of an item, which is the default.

    Returns
    -------
    scipy.sparse.csr_array, shape (items, items)
        Rows sum to 1. O(pairs log pairs) time, O(items + pairs) memory.

    Raises
    ------
    ValueError
        Naming the field, the first offending entry and what is allowed.

    Notes
    -----
    The graph is public in the private method, and d with it. A smaller d would have some outcome of the comparisons
    give a negative probability: an item with more than d rivals may lose to all of them. The stationary distribution
    does not depend on d; how fast the walk moves does.

    Examples
    --------
    >>> transition_matrix(3, [(0, 1), (1, 2)], [0.75, 0.5]).toarray().tolist()
    [[0.625, 0.375, 0.0], [0.125, 0.625, 0.25], [0.0, 0.25, 0.75]]
    """
    pairs = comparison_graph(n_items, pairs)
    shares = as_floats("shares", shares)
    if shares.shape != (len(pairs),):
        raise ValueError(f"shares has shape {shares.shape}; one a pair is needed, ({len(pairs)},)")
    if not ((shares >= 0) & (shares <= 1)).all():
        row = int(np.argmin((shares >= 0) & (shares <= 1)))
        raise ValueError(f"shares[{row}] does not lie in [0, 1]")
    i, j = pairs.T
    rivals = int(np.bincount(pairs.ravel(), minlength=n_items).max())
    d = max(rivals, 1) if d is None else require_normalisation(d, rivals)
    leave = np.bincount(i, shares, n_items) + np.bincount(j, 1 - shares, n_items)
    # summed apart the two may exceed the number of rivals by their rounding
    stay = np.maximum((d - leave) / d, 0)
    diagonal = np.arange(n_items)
    entries = np.r_[shares / d, (1 - shares) / d, stay]
    chain = scipy.sparse.csr_array((entries, (np.r_[i, j, diagonal], np.r_[j, i, diagonal])), shape=(n_items, n_items))
    chain.eliminate_zeros()
    return chain


def require_normalisation(d: float, rivals: int) -> float:
    """Refuse what a chain cannot be divided by, where an item has so many rivals.

    Examples
    --------
    >>> require_normalisation(2, 3)
    Traceback (most recent call last):
        ...
    ValueError: d = 2; it must be finite and at least the largest number of rivals of an item, 3
    """
    needed = f"it must be finite and at least the largest number of rivals of an item, {rivals}"
    return require_real("d", d, needed, lambda x: rivals <= x < np.inf and x > 0)


def comparison_graph(n_items: int, pairs: ArrayLike) -> NDArray[np.int64]:
    """Pairs of items as one array, each once and in the direction given.

    Parameters
    ----------
    n_items : int
        At least 1.
    pairs : array_like of int, shape (pairs, 2)

    Returns
    -------
    ndarray of int, shape (pairs, 2)

    Raises
    ------
    ValueError
        Naming the first pair that is none, or comes again, and what is allowed.

    Examples
    --------
    >>> comparison_graph(3, [(0, 1), (2, 1)]).tolist()
    [[0, 1], [2, 1]]
    """
    n_items = require_whole("n_items", n_items, 1, MOST_AT_ONCE)
    given = as_array("pairs", pairs)
    if given.size == 0:
        given = np.zeros((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"pairs has another shape, of {given.dtype.type.__name__}; two item codes a row are needed")
    edges = given.astype(np.int64)
    low, high = np.minimum(*edges.T), np.maximum(*edges.T)
    key = low * n_items + high
    order = np.argsort(key, kind="stable")
    again = np.zeros(len(key), bool)
    again[order[1:]] = key[order[1:]] == key[order[:-1]]
    for fault, allowed in (
        ((low < 0) | (high >= n_items), f"item codes are 0 .. {n_items - 1}"),
        (low == high, "the two items must differ"),
        (again, "each pair is given once, in one direction"),
    ):
        if fault.any():
            row = int(fault.argmax())
            raise ValueError(f"pairs[{row}]: {allowed}")
    return edges


def stationary_distribution(chain: Any) -> NDArray[np.float64]:
    r"""The stationary distribution of a Markov chain that has only one.

    Parameters
    ----------
    chain : sparse array or array_like of float, shape (states, states)
        Rows sum to 1. The chain may be periodic and may have transient states.

    Returns
    -------
    ndarray of float, shape (states,)
        Transient states get exactly 0.

    Raises
    ------
    ValueError
        If it is no transition matrix, or has several closed classes: two states of two of them are named.
    ArithmeticError
        If rounding or size keeps the estimated l1 error above 1e-10, or probabilities underflow.

    Notes
    -----
    Only the unique closed class is solved, from the entries off the diagonal. Up to 300 states by the elimination of
    Grassmann, Taksar and Heyman (1985), which never subtracts: every entry is accurate to about states times the
    machine precision, however nearly reducible the chain. Above, by GMRES on the chain of jumps

    .. math:: (I - S^\top + u e^\top) x = b, \quad S_{ij} = P_{ij} / (1 - P_{ii}) \text{ for } i \ne j,

    refined until the correction is below 1e-11 in l1: a residual alone says nothing of a chain that mixes slowly.
    Random graphs take a few dozen products, O(entries) each; large dense ones start from the law after a few dozen
    steps. Where GMRES crawls (paths, grids), elimination within the
    band of a reverse Cuthill-McKee order takes over: O(states * band^2) time, O(states * band) memory.

    Examples
    --------
    >>> stationary_distribution([[0.5, 0.5], [0.25, 0.75]]).round(4).tolist()
    [0.3333, 0.6667]
    """
    chain = _chain(chain)
    return solved(_off_diagonal(chain), "states")


def ergodicity_coefficient(chain: Any) -> float:
    r"""Ergodicity coefficient :math:`\tau_1` (Definition 3.1): half the largest l1 distance of two rows.

    Parameters
    ----------
    chain : sparse array or array_like of float, shape (states, states)
        Rows sum to 1.

    Returns
    -------
    float
        In [0, 1]; 0 for a single state.

    Raises
    ------
    ValueError
        If it is no transition matrix.

    Notes
    -----
    Two rows are as far apart as 1 minus what they share, :math:`1 - \sum_k \min(P_{ik}, P_{jk})`, so that the search
    ends at 1 with the first two that share nothing. O(states * entries) time otherwise, O(states) memory beside the
    chain.

    Examples
    --------
    >>> ergodicity_coefficient([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]])
    0.5
    """
    chain = _chain(chain)
    return float(_ergodicity(chain.indptr, chain.indices, chain.data))


def rank_centrality(comparisons: Comparisons, *, prior: float = 0.0) -> NDArray[np.float64]:
    """Rank centrality of every item (Algorithm 2): the stationary distribution of its walk.

    Parameters
    ----------
    comparisons : Comparisons
        A tie is half a win for both; pairs may have been compared unequally often.
    prior : float
        Wins given to either side of every compared pair in advance, at least 0. Any positive number makes the
        distribution unique and positive on a connected graph.

    Returns
    -------
    ndarray of float, shape (items,)
        Sums to 1. Under the Bradley-Terry-Luce model it estimates the strengths exp(theta) up to a factor. With names:
        ``pandas.Series(rank_centrality(comparisons), comparisons.items)``.

    Raises
    ------
    ValueError
        If items fall into groups that were never compared with each other, or if several groups of items never lost
        to the others: two items are named, by their codes.

    Notes
    -----
    The normalisation d of the paper is no parameter here: it cancels. O(comparisons) time to sum up pairs; then as
    `stationary_distribution`. Not private.

    Examples
    --------
    >>> import dprank
    >>> games = dprank.Comparisons([0, 0, 0, 1, 1, 2], [1, 1, 2, 2, 2, 0], [1, 0.5, 1, 1, 0, 1], ["ash", "elm", "oak"])
    >>> dprank.rank_centrality(games).round(2).tolist()
    [0.44, 0.22, 0.33]
    """
    games, shares = _shares(comparisons, prior)
    return solved(_rates(games, shares), "items")


# --- matrices ---------------------------------------------------------------------------------------------------------


def _chain(chain: Any) -> scipy.sparse.csr_array:
    """The chain as a sparse matrix without explicit zeros, validated."""
    if not scipy.sparse.issparse(chain):
        chain = np.atleast_2d(as_floats("chain", chain))
        if not np.isfinite(chain).all():
            raise ValueError("chain holds a number that is not finite")
    else:
        chain = _sound(chain)
    if chain.ndim != 2 or chain.shape[0] != chain.shape[1] or chain.shape[0] < 1:
        raise ValueError(f"chain has shape {chain.shape}; it must be square")
    chain = scipy.sparse.csr_array(chain, dtype=float, copy=True)
    chain.sum_duplicates()
    chain.eliminate_zeros()
    if not (chain.data >= 0).all():
        raise ValueError("chain holds a number below 0 or none; probabilities are needed")
    total = chain.sum(axis=1)
    if not (np.abs(total - 1) <= _ROW_SUM).all():
        row = int(np.argmin(np.abs(total - 1) <= _ROW_SUM))
        raise ValueError(f"row {row} of chain does not sum to 1; it must")
    return chain


def _sound(chain: Any) -> Any:
    """A sparse matrix of numbers whose indices point into it: SciPy follows those made by hand anywhere."""
    broken = ValueError("chain is a sparse matrix of broken indices or no numbers; sound ones are needed")
    try:
        if chain.format not in ("csr", "csc"):
            if chain.format == "bsr":
                chain.check_format(full_check=True)
            listed = chain.tocoo()
            return scipy.sparse.coo_array((listed.data, listed.coords), shape=listed.shape)
        across = chain.format == "csr"
        rows, columns = chain.shape if across else chain.shape[::-1]
        data, indices, ends = (as_array("chain", part) for part in (chain.data, chain.indices, chain.indptr))
    except (AttributeError, IndexError, TypeError, ValueError):
        raise broken from None
    whole = all(part.ndim == 1 and part.dtype.kind in "iu" for part in (indices, ends))
    if not whole or data.ndim != 1 or data.dtype.kind not in "biuf":
        raise broken
    if (
        len(ends) != rows + 1
        or ends[0] != 0
        or not ends[-1] == len(indices) == len(data)
        or (ends[1:] < ends[:-1]).any()
    ):
        raise broken
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        raise broken
    made = scipy.sparse.csr_array if across else scipy.sparse.csc_array
    parts = data.astype(float), indices.astype(np.int64), ends.astype(np.int64)
    return made(parts, shape=chain.shape)


def _off_diagonal(chain: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    rates = scipy.sparse.csr_array(chain - scipy.sparse.diags_array(chain.diagonal()))
    rates.eliminate_zeros()
    return rates


def _rates(games: Games, shares: NDArray[np.float64]) -> scipy.sparse.csr_array:
    """What the `transition_matrix` of their pairs has off the diagonal."""
    n, i, j = games.n_items, games.item.astype(np.int32), games.other.astype(np.int32)
    d = max(int((np.bincount(i, minlength=n) + np.bincount(j, minlength=n)).max()), 1)
    leave = np.concatenate([shares / d, (1 - shares) / d])
    back = scipy.sparse.coo_array((leave, (np.concatenate([j, i]), np.concatenate([i, j]))), shape=(n, n))
    back.has_canonical_format = True  # no pair comes twice
    # the columns of the transposed are the rows, in order
    rates = scipy.sparse.csr_array(back.tocsr().tocsc().T)
    rates.eliminate_zeros()
    return rates


@njit(cache=True, nogil=True, error_model="numpy")
def _ergodicity(start, other, probability):
    n = start.size - 1
    row, least = np.zeros(n), 1.0
    for i in range(n - 1):
        for at in range(start[i], start[i + 1]):
            row[other[at]] = probability[at]
        for j in range(i + 1, n):
            shared = 0.0
            for at in range(start[j], start[j + 1]):
                shared += min(row[other[at]], probability[at])
            least = min(least, shared)
            if least == 0:
                return 1.0
        for at in range(start[i], start[i + 1]):
            row[other[at]] = 0.0
    return max(0.0, 1.0 - least) if n > 1 else 0.0
