"""Rank centrality: items by the long-run shares of a walk that moves to winners (Qiao, Su and Zhang 2021)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, gmres

from dprank._require import MOST_AT_ONCE, as_array, as_floats, require_at_least_0, require_real, require_whole
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.models.games import Games

#: The last correction of an iterative solution, in l1; its error is seen to be within a factor of 10 of it.
_ACCURACY = 1e-11
#: Items up to which elimination is at once the fast way and the accurate one.
_SMALL = 300
#: Entries of the band, and multiplications, that elimination may take.
_BAND_ENTRIES, _BAND_WORK = 1e8, 1e11
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
    """
    require_comparisons(comparisons)
    prior = require_at_least_0("prior", prior)
    games = Games.of(comparisons)
    won = games.played - games.points / 2
    return np.column_stack([games.item, games.other.astype(np.int64)]), (won + prior) / (games.played + 2 * prior)


def transition_matrix(n_items: int, pairs: ArrayLike, shares: ArrayLike, d: float | None = None) -> sparse.csr_array:
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
    if d is None:
        d = max(rivals, 1)
    else:
        needed = f"it must be finite and at least the largest number of rivals of an item, {rivals}"
        d = require_real("d", d, needed, lambda x: rivals <= x < np.inf and x > 0)
    leave = np.bincount(i, shares, n_items) + np.bincount(j, 1 - shares, n_items)
    # summed apart the two may exceed the number of rivals by their rounding
    stay = np.maximum((d - leave) / d, 0)
    diagonal = np.arange(n_items)
    entries = np.r_[shares / d, (1 - shares) / d, stay]
    chain = sparse.csr_array((entries, (np.r_[i, j, diagonal], np.r_[j, i, diagonal])), shape=(n_items, n_items))
    chain.eliminate_zeros()
    return chain


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
    """
    n_items = require_whole("n_items", n_items, 1, MOST_AT_ONCE)
    given = as_array("pairs", pairs)
    if given.size == 0:
        given = np.zeros((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"pairs has another shape, of {given.dtype.type.__name__}; two item codes a row are needed")
    edges = given.astype(np.int64)
    low, high = edges.min(axis=1), edges.max(axis=1)
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
    Random graphs take a few dozen products, O(entries) each. Where GMRES crawls (paths, grids), elimination within the
    band of a reverse Cuthill-McKee order takes over: O(states * band^2) time, O(states * band) memory.
    """
    return _stationary(_chain(chain), "states")


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

    Notes
    -----
    Two rows are as far apart as 1 minus what they share, :math:`1 - \sum_k \min(P_{ik}, P_{jk})`, so that the search
    ends at 1 with the first two that share nothing. O(states * entries) time otherwise, O(states) memory beside the
    chain.
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
    """
    pairs, shares = pair_shares(comparisons, prior=prior)
    return _stationary(transition_matrix(comparisons.n_items, pairs, shares), "items")


# --- solvers ---------------------------------------------------------------------------------------------------------


def _chain(chain: Any) -> sparse.csr_array:
    """The chain as a sparse matrix without explicit zeros, validated."""
    if not sparse.issparse(chain):
        chain = np.atleast_2d(as_floats("chain", chain))
        if not np.isfinite(chain).all():
            raise ValueError("chain holds a number that is not finite")
    else:
        chain = _sound(chain)
    if chain.ndim != 2 or chain.shape[0] != chain.shape[1] or chain.shape[0] < 1:
        raise ValueError(f"chain has shape {chain.shape}; it must be square")
    chain = sparse.csr_array(chain, dtype=float, copy=True)
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
            return sparse.coo_array((listed.data, listed.coords), shape=listed.shape)
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
    made = sparse.csr_array if across else sparse.csc_array
    parts = data.astype(float), indices.astype(np.int64), ends.astype(np.int64)
    return made(parts, shape=chain.shape)


def _stationary(chain: sparse.csr_array, kind: str) -> NDArray[np.float64]:
    n = chain.shape[0]
    rates = sparse.csr_array(chain - sparse.diags_array(chain.diagonal()))
    rates.eliminate_zeros()
    closed = _closed_class(rates, kind)
    law = np.zeros(n)
    part = rates if len(closed) == n else rates[closed][:, closed]
    found = None if len(closed) <= _SMALL else _refined(part)
    law[closed] = _eliminated(part) if found is None else found
    return law


def _closed_class(rates: sparse.csr_array, kind: str) -> NDArray[np.int64]:
    """States of the only class that the chain never leaves."""
    count, part = csgraph.connected_components(rates, connection="strong")
    if count == 1:
        return np.arange(len(part))
    left = np.zeros(count, bool)
    from_part = part[np.repeat(np.arange(len(part)), np.diff(rates.indptr))]
    left[from_part[from_part != part[rates.indices]]] = True
    ends = np.flatnonzero(~left)
    if len(ends) == 1:
        return np.flatnonzero(part == ends[0])
    parts, group = csgraph.connected_components(rates, directed=False)
    first = int((~left[part]).argmax())
    other = (~left[part]) & ((group != group[first]) if parts > 1 else (part != part[first]))
    two = f"{kind}[{first}] and {kind}[{int(other.argmax())}]"
    if parts > 1:
        raise ValueError(f"groups of {kind} are not connected with each other ({two}): a connected graph is needed")
    raise ValueError(
        f"several groups of {kind} are never left ({two}): no unique stationary distribution; "
        "a group that all others lead to is needed"
    )


def _refined(rates: sparse.csr_array) -> NDArray[np.float64] | None:
    """Law of an irreducible chain by GMRES with iterative refinement, or None where it does not settle."""
    n, leave = rates.shape[0], rates.sum(axis=1)
    back = sparse.csr_array((rates.multiply(1 / leave[:, None])).T)
    start = leave / leave.sum()
    system: Any = LinearOperator((n, n), matvec=lambda x: x - back @ x + start * x.sum(), dtype=float)
    law = np.full(n, 1 / n)
    for _ in range(6):
        # what flows in less what flows out, of the same products: rounded rates to leave would tilt the balance
        flow = sparse.csr_array(rates.multiply(law[:, None]))
        step, failed = gmres(system, flow.sum(axis=0) - flow.sum(axis=1), rtol=1e-8, atol=0, restart=40, maxiter=5)
        if failed:
            return None
        law = np.maximum(law + step / leave, 0)
        law /= law.sum()
        if np.abs(step / leave).sum() < _ACCURACY:
            return law
    return None


def _eliminated(rates: sparse.csr_array) -> NDArray[np.float64]:
    """Law of an irreducible chain by elimination within a band."""
    n = rates.shape[0]
    order = csgraph.reverse_cuthill_mckee(rates).astype(np.int64)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    rows = np.repeat(np.arange(n), np.diff(rates.indptr))
    band = int(np.abs(place[rows] - place[rates.indices]).max(initial=0))
    if n * (2 * band + 1) > _BAND_ENTRIES or n * band**2 > _BAND_WORK:
        raise ArithmeticError(
            f"the stationary distribution of {n} states does not settle to an l1 error of 1e-10, and the chain is too "
            "wide to eliminate: it mixes too slowly for its size"
        )
    law = _gth(rates.indptr, rates.indices, rates.data, place, band)
    if not np.isfinite(law).all():
        raise ArithmeticError(f"the rates between the {n} states underflow: some are too small beside others")
    return np.asarray(law)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _gth(start, other, rate, place, band):
    """Elimination without subtraction of an irreducible chain, states in the order of their places.

    Row k holds the rates from k to k - band .. k + band.
    """
    n = start.size - 1
    table = np.zeros((n, 2 * band + 1))
    for i in range(n):
        for at in range(start[i], start[i + 1]):
            table[place[i], place[other[at]] - place[i] + band] += rate[at]
    for k in range(n - 1, 0, -1):
        low = max(0, k - band)
        row = table[k, low - k + band : band]
        total = row.sum()
        for i in range(low, k):
            share = table[i, k - i + band] / total
            table[i, k - i + band] = share
            if share > 0:
                mine = table[i, low - i + band : k - i + band]
                for j in range(mine.size):
                    mine[j] += share * row[j]
    law = np.empty(n)
    law[0] = 1.0
    for k in range(1, n):
        value = 0.0
        for i in range(max(0, k - band), k):
            value += law[i] * table[i, k - i + band]
        law[k] = value
        if value > 1e200:
            law[: k + 1] *= 1e-200
    law /= law.sum()
    return law[place]


@numba.njit(cache=True, nogil=True, error_model="numpy")
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
