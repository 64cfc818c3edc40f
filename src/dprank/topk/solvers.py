"""Laws of Markov chains from their rates: elimination without subtraction, and GMRES with refinement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, gmres

from dprank._jit import njit

__all__ = ["solved"]

#: The last correction of an iterative solution, in l1; its error is seen to be within a factor of 10 of it.
_ACCURACY = 1e-11
#: Items up to which elimination is at once the fast way and the accurate one.
_SMALL = 300
#: States and share of their pairs from which on walks are followed first: dense chains mix within a few dozen steps.
_MANY, _DENSE = 500, 0.02
#: Steps of such a walk, at most.
_STEPS = 40
#: Entries of the band, and multiplications, that elimination may take.
_BAND_ENTRIES, _BAND_WORK = 1e8, 1e11


def solved(rates: sparse.csr_array, kind: str) -> NDArray[np.float64]:
    """Law of the chain with these rates off the diagonal, as `dprank.topk.spectral.stationary_distribution` says.

    Parameters
    ----------
    rates : sparse array of float, shape (states, states)
        Above 0, in the order of their columns.
    kind : str
        What states are called in a message.

    Examples
    --------
    >>> solved(sparse.csr_array([[0, 0.5], [0.25, 0]]), "states").round(4).tolist()
    [0.3333, 0.6667]
    """
    n = rates.shape[0]
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
    back = sparse.csr_array(_scaled(rates, 1 / leave).T)
    start = leave / leave.sum()
    system: Any = LinearOperator((n, n), matvec=lambda x: x - back @ x + start * x.sum(), dtype=float)
    law = np.full(n, 1 / n)
    if n > _MANY and rates.nnz > _DENSE * n * n:
        law = _walked(back) / leave
        law /= law.sum()
    for _ in range(6):
        # what flows in less what flows out, of the same products: rounded rates to leave would tilt the balance
        flow = _scaled(rates, law)
        step, failed = gmres(system, flow.sum(axis=0) - flow.sum(axis=1), rtol=1e-8, atol=0, restart=40, maxiter=5)
        if failed:
            return None
        law = np.maximum(law + step / leave, 0)
        law /= law.sum()
        if np.abs(step / leave).sum() < _ACCURACY:
            return law
    return None


def _scaled(rates: sparse.csr_array, factors: NDArray[np.float64]) -> sparse.csr_array:
    """Every row times its factor."""
    data = rates.data * np.repeat(factors, np.diff(rates.indptr))
    return sparse.csr_array((data, rates.indices, rates.indptr), shape=rates.shape)


def _walked(back: sparse.csr_array) -> NDArray[np.float64]:
    """Where a walk of jumps is after some steps: close to its law, if it mixes at all fast."""
    law = np.full(back.shape[0], 1 / back.shape[0])
    for _ in range(_STEPS):
        law, before = back @ law, law
        if np.abs(law - before).sum() < _ACCURACY / 10:
            break
    return law


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


@njit(cache=True, nogil=True, error_model="numpy")
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
