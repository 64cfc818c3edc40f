"""Private estimators as linear programs: the exact best of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog


def private_rows(
    neighbours: Iterable[tuple[int, int]], data: int, outputs: int, epsilon: float, delta: float, extra: int = 0
) -> tuple[sparse.csr_array, NDArray[np.float64], int]:
    """Rows A x <= b that say (epsilon, delta)-private; x are the laws, `extra` variables, and slacks."""
    ordered = np.array([pair for a, b in neighbours for pair in ((a, b), (b, a))])
    one, other = (sparse.csr_array(np.eye(data)[side]) for side in ordered.T)
    ratios = sparse.kron(one - math.exp(epsilon) * other, sparse.eye_array(outputs))
    rows = sparse.hstack([ratios, sparse.csr_array((ratios.shape[0], extra))], "csr")
    right = np.zeros(ratios.shape[0])
    over = sparse.kron(sparse.eye_array(len(ordered)), np.ones((1, outputs)))
    with_slacks = sparse.block_array([[rows, -sparse.eye_array(len(right))], [None, over]], format="csr")
    return with_slacks, np.r_[right, np.full(len(ordered), delta)], len(right)


def sum_rows(data: int, outputs: int, total: int) -> sparse.csr_array:
    """Rows that say that laws sum to one."""
    index = np.arange(data * outputs)
    return sparse.csr_array((np.ones(len(index)), (index // outputs, index)), shape=(data, total))


def private_risk(
    laws: ArrayLike, epsilon: float, delta: float, losses: ArrayLike, neighbours: Iterable[tuple[int, int]]
) -> float:
    """Exact minimax risk over all (epsilon, delta)-private estimators, by a linear program.

    `laws` has the shape (laws, data), `losses` (outputs, laws); `neighbours` are pairs of data.
    """
    laws, losses = np.asarray(laws, float), np.asarray(losses, float)
    (count, data), outputs = laws.shape, len(losses)
    a, b, slacks = private_rows(neighbours, data, outputs, epsilon, delta, extra=1)
    total = data * outputs + 1 + slacks
    risk = np.zeros((count, total))
    risk[:, : data * outputs] = np.einsum("ix,oi->ixo", laws, losses).reshape(count, data * outputs)
    risk[:, data * outputs] = -1
    cost = np.zeros(total)
    cost[data * outputs] = 1
    solved = linprog(
        cost,
        sparse.vstack([a, sparse.csr_array(risk)]),
        np.r_[b, np.zeros(count)],
        sum_rows(data, outputs, total),
        np.ones(data),
    )
    return float(solved.fun)


def least_coupling(p: ArrayLike, q: ArrayLike, distance: ArrayLike) -> float:
    """Least mean distance of two laws over all couplings, by a linear program."""
    p, q, distance = np.asarray(p, float), np.asarray(q, float), np.asarray(distance, float)
    size = len(p)
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    return float(linprog(distance.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[p, q]).fun)
