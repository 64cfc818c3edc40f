"""Newton's method on the centred problem: on lists of pairs, for every link."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dprank._jit import njit
from dprank.models.bradley_terry import Link
from dprank.models.games import Fit, Games

__all__ = [
    "NEWTON_STEPS",
    "OVERSHOOT",
    "PATIENCE",
    "ROUNDING",
    "AnyLink",
    "Likelihood",
    "Logistic",
    "exponentials",
    "newton",
    "product",
]

#: Newton steps in all, and how many are tried before the long way round is taken.
NEWTON_STEPS = 300
PATIENCE = 20
ROUNDING = 1e-14
#: How far past the minimum along a step, in terms of the slope, is near enough.
OVERSHOOT = 0.05
#: Spread of strengths up to which exp(theta) neither overflows nor loses its neighbours.
_EXP_RANGE = 500.0


class Likelihood(Protocol):
    """All of the objective but its ridge.

    Examples
    --------
    >>> class Gap:  # half the square of theta_0 - theta_1 - 2
    ...     def derivatives(self, theta):
    ...         above = theta[0] - theta[1] - 2
    ...         return np.array([above, -above]), np.ones(1, np.float32)
    >>> newton(Gap(), Games([0, 1, 1], [1], [1], [2]), ridge=0.0, tolerance=1e-9).theta.round(6).tolist()
    [1.0, -1.0]
    """

    def derivatives(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Gradient, and the weights of the Laplacian that the Hessian is."""
        ...


class AnyLink:
    """One array operation a step.

    Examples
    --------
    >>> from dprank.models.bradley_terry import LOGISTIC
    >>> likelihood = AnyLink(Games([0, 1, 1], [1], [4], [6]), LOGISTIC)  # item 0 won 3 of 4 games
    >>> likelihood.gradient(np.zeros(2)).tolist(), likelihood.curvature(np.zeros(2)).tolist()
    ([-1.0, 1.0], [1.0])
    """

    def __init__(self, games: Games, link: Link, linear: Any = 0.0) -> None:
        self.games, self.link, self.item, self.linear = games, link, games.item, linear
        self.won = games.points / 2
        self.lost = games.played - self.won

    def _gap(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        return theta[self.item] - theta[self.games.other]

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        x, n = self._gap(theta), len(theta)
        slope = self.lost * self.link.score(-x) - self.won * self.link.score(x)
        return np.asarray(np.bincount(self.item, slope, n) - np.bincount(self.games.other, slope, n) + self.linear)

    def curvature(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        x = self._gap(theta)
        return self.won * self.link.curvature(x) + self.lost * self.link.curvature(-x)

    def derivatives(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        return self.gradient(theta), self.curvature(theta).astype(np.float32)


class Logistic:
    """A linear term is wins taken away, and probabilities a / (a + b) need one exponential an item.

    Examples
    --------
    >>> games = Games([0, 1, 1], [1], [4], [6])  # item 0 won 3 of 4
    >>> [part.tolist() for part in Logistic(games, games.wins).derivatives(np.zeros(2))]
    [[-1.0, 1.0], [1.0]]
    """

    def __init__(self, games: Games, wins: NDArray[np.float64]) -> None:
        self.pairs, self.wins = (games.start, games.other, games.played), wins

    def derivatives(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        expected, weight = _expected_wins(*self.pairs, *exponentials(theta))
        return expected - self.wins, weight


def newton(likelihood: Likelihood, games: Games, ridge: float, tolerance: float) -> Fit:
    """Newton's method with a falling ridge, then with the one asked for.

    Examples
    --------
    >>> games = Games([0, 1, 1], [1], [4], [6])  # item 0 won 3 of 4: the odds are 3
    >>> theta = newton(Logistic(games, games.wins), games, ridge=0.0, tolerance=1e-9).theta
    >>> round(float(np.exp(theta[0] - theta[1])), 6)
    3.0
    """
    n, heat = games.n_items, 1.0

    def at(u: NDArray[np.float64]) -> _Point:
        g, weight = likelihood.derivatives(u)
        g = g + heat * ridge * u
        g -= g.mean()
        return _Point(u, g, weight, _norm(g))

    # along 1 the minimiser is known; what is left is orthogonal to it
    mean = -likelihood.derivatives(np.zeros(n))[0].mean() / ridge if ridge else 0.0
    start = point = at(np.zeros(n))
    highest, fall = 0.0, 1.0
    for iteration in range(NEWTON_STEPS):
        enough = max(tolerance, ROUNDING * start.size, 2e-16 * highest * _norm(point.u))
        if heat == 1 and point.size <= enough:
            theta = point.u + mean
            exact = likelihood.derivatives(theta)[0] + ridge * theta
            return Fit(theta, _norm(exact), ridge, iteration)
        if iteration == PATIENCE and ridge:
            heat = max(1.0, float(np.abs(start.g).max()) / (10 * ridge))
            point, fall = at(start.u), 1.0
        # a Newton step squares the fall of the one before: solving for more would be lost
        accuracy = min(0.1, max(fall * fall, 0.3 * tolerance / point.size))
        laplacian = games.start, games.other, point.weight
        step, highest = _conjugate_gradients(*laplacian, heat * ridge, -point.g, accuracy, 2 * n + 1000)
        step -= step.mean()
        if heat > 1 and -_product(point.g, step) < 0.1:
            # where items stand far apart the minimiser is inversely proportional to the ridge
            cooler = max(1.0, heat / 4)
            u, heat = point.u * (heat / cooler), cooler
            point, fall = at(u), 1.0
        else:
            last, point = point, _line_search(at, point, step)
            fall = point.size / last.size
    raise ArithmeticError(f"the gradient norm stays above tolerance = {tolerance:g}")


@dataclass(frozen=True)
class _Point:
    u: NDArray[np.float64]
    g: NDArray[np.float64]
    weight: NDArray[np.float32]
    size: float


def _line_search(at: Callable[[NDArray[np.float64]], _Point], point: _Point, step: NDArray[np.float64]) -> _Point:
    """The objective is convex: along a step its derivative rises, from below 0. All of it, or half the way down."""
    descent, t = _product(point.g, step), 1.0
    low, below, high, above = 0.0, descent, np.inf, np.inf
    for _ in range(40):
        new = at(point.u + t * step)
        ahead = _product(new.g, step)
        if ahead <= -OVERSHOOT * descent and (t == 1 or ahead >= 0.5 * descent):
            break
        if ahead > 0:
            high, above = t, ahead
        else:
            low, below = t, ahead
        t = low + (high - low) * min(max(below / (below - above), 0.1), 0.9)
    return new


def _product(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """By NumPy's own sum: BLAS adds up in an order that the processor chooses."""
    return float((x * y).sum())


def _norm(x: NDArray[np.float64]) -> float:
    return math.sqrt(_product(x, x))


# --- kernels ---------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def exponentials(theta):
    """Exponentials of centred strengths; strengths too far apart are left as they are, and that is said."""
    low = high = theta[0]
    for x in theta:
        low, high = min(low, x), max(high, x)
    narrow = high - low < _EXP_RANGE
    out = theta.copy()
    if narrow:
        for i in range(theta.size):
            out[i] = np.exp(theta[i] - (low + high) / 2)
    return out, narrow


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_wins(start, other, played, a, narrow):
    """sum_j played_ij p_ij for every item i, and played_ij p_ij p_ji for every pair, where p_ij = a_i / (a_i + a_j)."""
    expected, weight = np.zeros(a.size), np.empty(other.size, np.float32)
    for i in range(a.size):
        total, mine = 0.0, a[i]
        for at in range(start[i], start[i + 1]):
            j = other[at]
            p = mine / (mine + a[j]) if narrow else 1.0 / (1.0 + np.exp(a[j] - mine))
            win = played[at] * p
            weight[at] = win - win * p
            total += win
            expected[j] += played[at] - win
        expected[i] += total
    return expected, weight


@njit(inline="always")
def product(x, y):
    """x . y. BLAS would bring its own threads, and take another kernel on another processor."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


# What follows adds up in the width of the processor's vectors: the same strengths on all, but for their last digits.
# Eight sums of its own, the same on all, took up to 1.15 times as long on lists of pairs, and 1.3 times on tables.


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _laplacian(start, other, weight, degree, xy):
    """y = (diag(degree) - W) x, for W symmetric and given above its diagonal, x and y side by side; returns x . y."""
    n, product = degree.size, 0.0
    for i in range(n):
        xy[i, 1] = degree[i] * xy[i, 0]
    for i in range(n):
        total, mine = 0.0, xy[i, 0]
        for at in range(start[i], start[i + 1]):
            j = other[at]
            total += weight[at] * xy[j, 0]
            xy[j, 1] -= weight[at] * mine
        xy[i, 1] -= total
        # no later pair is one of item i
        product += mine * xy[i, 1]
    return product


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _conjugate_gradients(start, other, weight, ridge, target, accuracy, steps):
    """Solve (Laplacian + ridge) x = target to a relative accuracy, with a Jacobi preconditioner.

    Returns x and the largest diagonal entry.
    """
    n = target.size
    degree = np.full(n, ridge)
    for i in range(n):
        for at in range(start[i], start[i + 1]):
            degree[i] += weight[at]
            degree[other[at]] += weight[at]
    x, residual, direction = np.zeros(n), target.copy(), np.zeros((n, 2))
    scale = np.empty(n)
    for i in range(n):
        scale[i] = 1.0 / degree[i] if degree[i] > 0 else 1.0
    size, last, enough = 0.0, 1.0, accuracy * accuracy * product(target, target)
    for i in range(n):
        size += scale[i] * target[i] * target[i]
    ratio = 0.0
    for _ in range(steps):
        for i in range(n):
            direction[i, 0] = scale[i] * residual[i] + ratio * direction[i, 0]
        curvature = _laplacian(start, other, weight, degree, direction)
        if curvature <= 0:
            break
        length = size / curvature
        last, size, left = size, 0.0, 0.0
        for i in range(n):
            x[i] += length * direction[i, 0]
            residual[i] -= length * direction[i, 1]
            size += scale[i] * residual[i] * residual[i]
            left += residual[i] * residual[i]
        if left <= enough:
            break
        ratio = size / last
    if product(x, target) <= 0:
        x = scale * target
    return x, degree.max()
