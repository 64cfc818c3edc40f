"""Newton's method on tables of dense graphs, many replicates at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit
from dprank.models.newton import OVERSHOOT, PATIENCE, ROUNDING, exponentials, product

__all__ = ["from_tables"]


def from_tables(
    played: NDArray[np.float32], wins: NDArray[np.float64], ridge: float, tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Strengths, gradient norms and Newton steps; norm NaN where a table is none of counts, inf where it takes long.

    Examples
    --------
    >>> played, wins = np.array([[[0, 4], [4, 0]]], np.float32), np.array([[3.0, 1.0]])
    >>> theta, norm, steps = from_tables(played, wins, ridge=0.0, tolerance=1e-6)
    >>> theta.shape, round(float(np.exp(theta[0, 0] - theta[0, 1])), 4), bool(norm[0] <= 1e-6)
    ((1, 2), 3.0, True)
    """
    theta, norm, steps = np.empty_like(wins), np.empty(len(wins)), np.empty(len(wins), np.int64)
    n = wins.shape[1]
    single, double = tuple(np.empty((5, n), np.float32)), tuple(np.empty((5, n)))
    _batch(played, wins, ridge, tolerance, theta, norm, steps, np.zeros((n, n), np.float32), single, double)
    return theta, norm, steps


@njit(cache=True, nogil=True, error_model="numpy")
def _batch(played, wins, ridge, tolerance, thetas, norms, steps, weight, single, double):
    replicates, n = wins.shape
    valid, most = False, 0.0
    (x, y, degree, direction, residual), (gradient, new, theta, pull, rows) = single, double
    for r in range(replicates):
        games = played[min(r, len(played) - 1)]
        norms[r] = np.nan
        if r < len(played):
            valid, most = _row_sums(games, rows, y), rows.max()
        if not valid:
            continue
        # at 0 all probabilities are 1/2; loops compile in a fifth of the time of array expressions
        level = 0.0
        for i in range(n):
            gradient[i] = rows[i] / 2 - wins[r, i]
            level += gradient[i]
        level /= n
        for i in range(n):
            gradient[i] -= level
            pull[i] = wins[r, i] + level
            theta[i] = 0
            degree[i] = ridge + rows[i] / 4
        table, factor = games, np.float32(0.25)
        size = first = np.sqrt(product(gradient, gradient))
        enough = max(tolerance, ROUNDING * first)
        for step in range(PATIENCE):
            steps[r] = step
            if size <= enough:
                break
            accuracy = min(0.1, max(size / first, 0.3 * enough / size, 1e-5))
            _dense_solve(table, factor, degree, gradient, size, accuracy, x, direction, residual, y)
            table, factor = weight, np.float32(1)
            descent, mean, t = 0.0, 0.0, size
            for i in range(n):
                descent += gradient[i] * x[i]
                mean += x[i] / n
            if not descent < 0:
                break
            for _ in range(20):
                for i in range(n):
                    new[i] = theta[i] + t * (x[i] - mean)
                _dense_step(games, pull, ridge, new, gradient, weight, degree)
                ahead = 0.0
                for i in range(n):
                    ahead += gradient[i] * x[i]
                if ahead <= -OVERSHOOT * descent:
                    break
                t *= max(0.1, descent / (descent - ahead))
            for i in range(n):
                theta[i] = new[i]
            size = np.sqrt(product(gradient, gradient))
        furthest, shift = 0.0, level / ridge if ridge > 0 else 0.0
        for i in range(n):
            thetas[r, i] = theta[i] - shift
            furthest = max(furthest, abs(thetas[r, i]))
        # the shift rounds all strengths: is that lost in the gradient?
        if 1e-16 * np.sqrt(n) * furthest * (most + ridge) > 0.01 * size:
            _dense_step(games, wins[r], ridge, thetas[r], gradient, weight, degree)
        norms[r] = np.sqrt(product(gradient, gradient)) if size <= enough else np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _row_sums(table, rows, columns):
    """Sums of the rows; says whether all entries are counts, the columns have the same sums and the diagonal is 0."""
    columns[:] = 0
    valid = True
    for i in range(rows.size):
        total, absolute, row = 0.0, 0.0, table[i]
        for j in range(rows.size):
            total += row[j]
            absolute += abs(row[j])
            columns[j] += row[j]
        rows[i] = total
        valid &= row[i] == 0 and total == absolute and absolute < np.inf
    for i in range(rows.size):
        valid &= abs(rows[i] - columns[i]) <= 1e-4 * rows[i]
    return valid


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dense_step(played, wins, ridge, theta, gradient, weight, degree):
    """Gradient, Hessian weights and their row sums at theta. Whole rows: what is computed twice is never scattered."""
    n = theta.size
    a, narrow = exponentials(theta)
    for i in range(n):
        total, around, mine, games, row = 0.0, 0.0, a[i], played[i], weight[i]
        for j in range(n):
            p = mine / (mine + a[j]) if narrow else 1.0 / (1.0 + np.exp(a[j] - mine))
            win = games[j] * p
            row[j] = win - win * p
            total += win
            around += win - win * p
        gradient[i] = total - wins[i] + ridge * theta[i]
        degree[i] = ridge + around


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dense_solve(weight, factor, degree, gradient, size, accuracy, x, direction, residual, y):
    """Conjugate gradients as above for a step of unit right side, in single precision: it needs no more."""
    n = x.size
    ahead = 0.0
    for i in range(n):
        x[i] = 0
        residual[i] = -gradient[i] / size
        direction[i] = residual[i] / degree[i]
        ahead += residual[i] * direction[i]
    for _ in range(2 * n + 20):
        curvature = 0.0
        for i in range(n):
            total = np.float32(0)
            row = weight[i]
            for j in range(n):
                total += row[j] * direction[j]
            y[i] = degree[i] * direction[i] - factor * total
            curvature += direction[i] * y[i]
        if not curvature > 0:
            break
        length = np.float32(ahead / curvature)
        last, ahead, left = ahead, 0.0, 0.0
        for i in range(n):
            x[i] += length * direction[i]
            residual[i] -= length * y[i]
            ahead += residual[i] * residual[i] / degree[i]
            left += residual[i] * residual[i]
        if left <= accuracy * accuracy:
            break
        ratio = np.float32(ahead / last)
        for i in range(n):
            direction[i] = residual[i] / degree[i] + ratio * direction[i]
