"""Penalised maximum likelihood from pairwise comparisons (Cai, Chakraborty and Wang 2025, (2.1), (2.2), (3.2))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dprank.comparisons import Comparisons
from dprank.models.bradley_terry import LOGISTIC, Link

_NEWTON_STEPS = 100
_CG_STEPS = 1000
_ROUNDING = 1e-14
#: Spread of strengths up to which exp(theta) neither overflows nor loses its neighbours.
_EXP_RANGE = 500.0


@dataclass(frozen=True)
class Fit:
    """A minimiser, with its certificate.

    Attributes
    ----------
    theta : ndarray of float, shape (items,)
        Strengths; their mean is that of ``-linear / ridge``, or 0 without ridge.
    gradient_norm : float
        l2 norm of the gradient at theta, computed in double precision.
    ridge : float
    iterations : int
        Newton steps taken.
    """

    theta: NDArray[np.float64]
    gradient_norm: float
    ridge: float
    iterations: int

    @property
    def distance_bound(self) -> float:
        """Upper bound on the l2 distance from theta to the minimiser: the objective is ridge-strongly convex."""
        return self.gradient_norm / self.ridge if self.ridge else np.inf


@dataclass(frozen=True)
class Games:
    """Comparisons summed up by pair: all that a likelihood needs of them. Each compared pair is listed once.

    Attributes
    ----------
    start : ndarray of int, shape (items + 1,)
        Pairs ``start[i] : start[i + 1]`` are those of item i with larger items.
    other : ndarray of int, shape (pairs,)
        The larger item of the pair.
    played : ndarray of int, shape (pairs,)
        How often the pair was compared.
    points : ndarray of int, shape (pairs,)
        Of the smaller item: two for a win, one for a tie.
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    played: NDArray[np.int32]
    points: NDArray[np.int32]

    @classmethod
    def of(cls, comparisons: Comparisons) -> Games:
        """O(comparisons + items) time and memory."""
        c = comparisons
        return cls(*_merge(c.first, c.second, c.points, c.n_items))

    @property
    def n_items(self) -> int:
        return len(self.start) - 1

    @property
    def item(self) -> NDArray[np.int64]:
        """The smaller item of each pair."""
        return np.repeat(np.arange(self.n_items), np.diff(self.start))

    @property
    def wins(self) -> NDArray[np.float64]:
        """Wins of every item, a tie as half a win."""
        n, twice = self.n_items, 2 * self.played
        ours = np.bincount(self.item, self.points, n) + np.bincount(self.other, twice - self.points, n)
        return ours / 2


def log_likelihood(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> float:
    """Log likelihood of strengths, a tie as half a win for both (minus equation 2.1). O(comparisons)."""
    theta, games = _strengths(theta, comparisons), Games.of(comparisons)
    x = theta[games.item] - theta[games.other]
    won = games.points / 2
    return float(won @ link.log_cdf(x) + (games.played - won) @ link.log_cdf(-x))


def gradient(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Gradient of the negative log likelihood (equation A.8), shape (items,). O(comparisons)."""
    return _AnyLink(Games.of(comparisons), link).gradient(_strengths(theta, comparisons))


def hessian(theta: ArrayLike, comparisons: Comparisons, link: Link = LOGISTIC) -> sparse.csr_array:
    """Hessian of the negative log likelihood (equation A.9): a weighted graph Laplacian, sparse, (items, items)."""
    theta, games = _strengths(theta, comparisons), Games.of(comparisons)
    weight = _AnyLink(games, link).curvature(theta)
    i, j, n = games.item, games.other, games.n_items
    degree = np.bincount(i, weight, n) + np.bincount(j, weight, n)
    rows, columns = np.r_[i, j, np.arange(n)], np.r_[j, i, np.arange(n)]
    return sparse.csr_array((np.r_[-weight, -weight, degree], (rows, columns)), shape=(n, n))


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
        On the l2 norm of the gradient; where the data are so large that rounding allows no less, 1e-14 of that at 0.

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
    gradient and each of the inner steps, of which an expander needs a few and a path many. Source: the estimators (2.2)
    and (3.2) of Cai, Chakraborty and Wang (2025).
    """
    n = comparisons.n_items
    ridge, linear = _penalty(ridge, linear, n)
    if wins is not None:
        wins = _finite("wins", wins, n)
        if link is not LOGISTIC or ridge == 0:
            raise ValueError(
                f"wins with link = {link.name!r}, ridge = {ridge}; only a logistic link with a ridge allows it"
            )
    if not 0 < tolerance < np.inf:
        raise ValueError(f"tolerance = {tolerance}; it must be above 0 and finite")
    games = Games.of(comparisons)
    if ridge == 0:
        _require_minimiser(games, comparisons.items)
    likelihood = _Logistic(games, games.wins if wins is None else wins) if link is LOGISTIC else _AnyLink(games, link)
    return _newton(likelihood, games, ridge, linear, tolerance)


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
    """
    played = np.asarray(played, np.float32)
    wins = np.ascontiguousarray(wins, float)
    if wins.ndim != 2 or not np.isfinite(wins).all():
        raise ValueError(f"wins has shape {wins.shape}; finite numbers are needed, one row a replicate")
    replicates, n = wins.shape
    played = played.reshape(-1, *played.shape[-2:])
    if played.shape[1:] != (n, n) or len(played) not in (1, replicates):
        raise ValueError(f"played has shape {played.shape}; ({n}, {n}) is needed, once or for {replicates} replicates")
    if not ((played >= 0).all() and np.isfinite(played).all()):
        raise ValueError("played has entries below 0 or not finite; how often each pair was compared is needed")
    ridge, _ = _penalty(ridge, None, n)
    if ridge == 0:
        raise ValueError("ridge = 0; a batch needs a ridge above 0")
    theta, norm = np.empty_like(wins), np.empty(replicates)
    _batch(np.ascontiguousarray(played), wins, ridge, tolerance, theta, norm)
    if (late := ~np.isfinite(norm)).any():
        raise ArithmeticError(f"replicate {int(late.argmax())}: the gradient stays above tolerance = {tolerance:g}")
    return theta, norm


# --- Newton's method on the centred problem --------------------------------------------------------------------------


class _Likelihood(Protocol):
    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def weights(self, theta: NDArray[np.float64]) -> NDArray[np.float32]: ...


class _AnyLink:
    """Gradient and Hessian weights of the negative log likelihood, one array operation a step."""

    def __init__(self, games: Games, link: Link) -> None:
        self.games, self.link, self.item = games, link, games.item
        self.won = games.points / 2
        self.lost = games.played - self.won

    def _gap(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        return theta[self.item] - theta[self.games.other]

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        x, n = self._gap(theta), len(theta)
        slope = self.lost * self.link.score(-x) - self.won * self.link.score(x)
        return np.asarray(np.bincount(self.item, slope, n) - np.bincount(self.games.other, slope, n), float)

    def curvature(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        x = self._gap(theta)
        return self.won * self.link.curvature(x) + self.lost * self.link.curvature(-x)

    def weights(self, theta: NDArray[np.float64]) -> NDArray[np.float32]:
        return self.curvature(theta).astype(np.float32)


class _Logistic:
    """The same for the logistic link, whose probabilities a / (a + b) need one exponential an item."""

    def __init__(self, games: Games, wins: NDArray[np.float64]) -> None:
        self.pairs, self.wins = (games.start, games.other, games.played), wins

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        return _expected_wins(*self.pairs, *_exp(theta)) - self.wins

    def weights(self, theta: NDArray[np.float64]) -> NDArray[np.float32]:
        return _logistic_weights(*self.pairs, *_exp(theta))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _exp(theta):
    """Exponentials of centred strengths; strengths too far apart are left as they are, and that is said."""
    low, high = theta.min(), theta.max()
    narrow = high - low < _EXP_RANGE
    return (np.exp(theta - (low + high) / 2) if narrow else theta), narrow


def _newton(likelihood: _Likelihood, games: Games, ridge: float, linear: NDArray[np.float64], tolerance: float) -> Fit:
    n = games.n_items
    # along 1 the minimiser is known; what is left is orthogonal to it
    mean = -linear.mean() / ridge if ridge else 0.0
    pull = linear - linear.mean()

    def slope(u: NDArray[np.float64]) -> NDArray[np.float64]:
        g = likelihood.gradient(u) + ridge * u + pull
        return g - g.mean()

    u, g = np.zeros(n), slope(np.zeros(n))
    size = first = float(np.linalg.norm(g))
    tolerance = max(tolerance, _ROUNDING * first)
    for iteration in range(_NEWTON_STEPS + 1):
        if size <= tolerance:
            exact = likelihood.gradient(u) + ridge * (u + mean) + linear
            return Fit(u + mean, float(np.linalg.norm(exact)), ridge, iteration)
        accuracy = min(0.1, max(size / first, 0.3 * tolerance / size))
        step = _conjugate_gradients(games.start, games.other, likelihood.weights(u), ridge, -g, accuracy, _CG_STEPS)
        u, g, size = _line_search(slope, u, g, step - step.mean())
    raise ArithmeticError(f"gradient norm {size:.3g} stays above tolerance = {tolerance:g}")


def _line_search(
    slope: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    u: NDArray[np.float64],
    g: NDArray[np.float64],
    step: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The objective is convex: along a step its derivative rises, from below 0, and may overshoot."""
    descent, t = float(g @ step), 1.0
    for _ in range(60):
        new = slope(u + t * step)
        ahead = float(new @ step)
        if ahead <= -0.5 * descent:
            break
        t *= max(0.1, descent / (descent - ahead))
    return u + t * step, new, float(np.linalg.norm(new))


def _require_minimiser(games: Games, items: tuple[str, ...]) -> None:
    """Ford (1957): without ridge there is a minimiser iff every item is linked to every other by a chain of wins."""
    i, j, n = games.item, games.other, games.n_items
    won, lost = games.points > 0, games.points < 2 * games.played
    beats = sparse.csr_array(
        (np.ones(won.sum() + lost.sum(), np.int8), (np.r_[i[won], j[lost]], np.r_[j[won], i[lost]])), shape=(n, n)
    )
    parts, part = sparse.csgraph.connected_components(beats, directed=False)
    if parts > 1:
        apart = items[int((part != part[0]).argmax())]
        raise ValueError(
            f"ridge = 0 on {parts} groups of items never compared with each other ({items[0]!r} and {apart!r}): "
            "no unique minimiser; a ridge above 0 is needed"
        )
    parts, part = sparse.csgraph.connected_components(beats, connection="strong")
    if parts > 1:
        # a group that no item outside it ever beat
        rows, columns = beats.nonzero()
        beaten = np.zeros(parts, bool)
        beaten[part[columns[part[rows] != part[columns]]]] = True
        best = items[int((part == int(beaten.argmin())).argmax())]
        raise ValueError(
            f"ridge = 0 on comparisons in which no other item ever won against the group of {best!r}: "
            "its strength has no finite estimate; a ridge above 0 is needed"
        )


def _penalty(ridge: float, linear: ArrayLike | None, n: int) -> tuple[float, NDArray[np.float64]]:
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge = {ridge}; it must be at least 0 and finite")
    if linear is None:
        return float(ridge), np.zeros(n)
    linear = _finite("linear", linear, n)
    if ridge == 0:
        raise ValueError("ridge = 0 with a linear term: a minimiser need not exist; a ridge above 0 is needed")
    return float(ridge), linear


def _strengths(theta: ArrayLike, comparisons: Comparisons) -> NDArray[np.float64]:
    return _finite("theta", theta, comparisons.n_items)


def _finite(name: str, value: ArrayLike, n: int) -> NDArray[np.float64]:
    value = np.asarray(value, float)
    if value.shape != (n,):
        raise ValueError(f"{name} has shape {value.shape}; {n} numbers are needed, one an item")
    if not (finite := np.isfinite(value)).all():
        where = int(finite.argmin())
        raise ValueError(f"{name}[{where}] = {value[where]}; finite numbers are needed")
    return value


# --- kernels ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _merge(first, second, points, n):
    """Counting sort by the smaller item, then every row by its larger items."""
    start = np.zeros(n + 1, np.int64)
    for r in range(first.size):
        start[min(first[r], second[r]) + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    place = start[:-1].copy()
    other, mine = np.empty(first.size, np.int32), np.empty(first.size, np.uint8)
    for r in range(first.size):
        a, b = np.int64(first[r]), np.int64(second[r])
        low = min(a, b)
        at = place[low]
        place[low] = at + 1
        other[at] = max(a, b)
        mine[at] = points[r] if a < b else 2 - points[r]
    played, won = np.empty(first.size, np.int32), np.empty(first.size, np.int32)
    seen = np.full(n, -1, np.int64)
    new, begin = 0, 0
    for i in range(n):
        row, end = new, start[i + 1]
        for at in range(begin, end):
            j = other[at]
            if seen[j] >= row:
                played[seen[j]] += 1
                won[seen[j]] += mine[at]
            else:
                seen[j] = new
                other[new], played[new], won[new] = j, 1, mine[at]
                new += 1
        begin = end
        start[i + 1] = new
    return start, other[:new].copy(), played[:new].copy(), won[:new].copy()


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _expected_wins(start, other, played, a, narrow):
    """sum_j played_ij a_i / (a_i + a_j) for every item i."""
    expected = np.zeros(a.size)
    for i in range(a.size):
        total, mine = 0.0, a[i]
        for at in range(start[i], start[i + 1]):
            j = other[at]
            win = played[at] * (mine / (mine + a[j]) if narrow else 1.0 / (1.0 + np.exp(a[j] - mine)))
            total += win
            expected[j] += played[at] - win
        expected[i] += total
    return expected


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _logistic_weights(start, other, played, a, narrow):
    weight = np.empty(other.size, np.float32)
    for i in range(a.size):
        for at in range(start[i], start[i + 1]):
            b = a[other[at]]
            p = a[i] / (a[i] + b) if narrow else 1.0 / (1.0 + np.exp(b - a[i]))
            weight[at] = played[at] * p * (1 - p)
    return weight


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _laplacian(start, other, weight, degree, x, y):
    """y = (diag(degree) - W) x, for W symmetric and given above its diagonal."""
    for i in range(x.size):
        y[i] = degree[i] * x[i]
    for i in range(x.size):
        total, mine = 0.0, x[i]
        for at in range(start[i], start[i + 1]):
            j = other[at]
            total += weight[at] * x[j]
            y[j] -= weight[at] * mine
        y[i] -= total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _conjugate_gradients(start, other, weight, ridge, target, accuracy, steps):
    """Solve (Laplacian + ridge) x = target to a relative accuracy, with a Jacobi preconditioner."""
    n = target.size
    degree = np.full(n, ridge)
    for i in range(n):
        for at in range(start[i], start[i + 1]):
            degree[i] += weight[at]
            degree[other[at]] += weight[at]
    scale = np.empty(n)
    for i in range(n):
        scale[i] = 1.0 / degree[i] if degree[i] > 0 else 1.0
    x, y, residual = np.zeros(n), np.empty(n), target.copy()
    ahead = scale * residual
    direction = ahead.copy()
    size, enough = np.dot(residual, ahead), accuracy * accuracy * np.dot(target, target)
    for _ in range(steps):
        _laplacian(start, other, weight, degree, direction, y)
        curvature = np.dot(direction, y)
        if curvature <= 0:
            break
        length = size / curvature
        x += length * direction
        residual -= length * y
        if np.dot(residual, residual) <= enough:
            break
        ahead = scale * residual
        last, size = size, np.dot(residual, ahead)
        direction = ahead + (size / last) * direction
    if np.dot(x, target) <= 0:
        return scale * target
    return x


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dense_step(played, wins, ridge, theta, gradient, weight, degree):
    """Gradient, Hessian weights and their row sums at theta. Whole rows: what is computed twice is never scattered."""
    n = theta.size
    a, narrow = _exp(theta)
    for i in range(n):
        total, around, mine = 0.0, 0.0, a[i]
        for j in range(n):
            p = mine / (mine + a[j]) if narrow else 1.0 / (1.0 + np.exp(a[j] - mine))
            win = played[i, j] * p
            curvature = win * (1.0 - p)
            total += win
            around += curvature
            weight[i, j] = curvature
        gradient[i] = total - wins[i] + ridge * theta[i]
        degree[i] = ridge + around


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dense_solve(weight, degree, target, accuracy, x, direction, residual, y):
    """Conjugate gradients as above, in single precision: the step needs no more."""
    n = target.size
    size = enough = 0.0
    for i in range(n):
        x[i] = 0
        residual[i] = target[i]
        direction[i] = residual[i] / degree[i]
        size += residual[i] * direction[i]
        enough += residual[i] * residual[i]
    enough *= accuracy * accuracy
    for _ in range(2 * n + 20):
        curvature = 0.0
        for i in range(n):
            total = np.float32(0)
            for j in range(n):
                total += weight[i, j] * direction[j]
            y[i] = degree[i] * direction[i] - total
            curvature += direction[i] * y[i]
        if not curvature > 0:
            return
        length = np.float32(size / curvature)
        last, size, left = size, 0.0, 0.0
        for i in range(n):
            x[i] += length * direction[i]
            residual[i] -= length * y[i]
            size += residual[i] * residual[i] / degree[i]
            left += residual[i] * residual[i]
        if left <= enough:
            return
        ratio = np.float32(size / last)
        for i in range(n):
            direction[i] = residual[i] / degree[i] + ratio * direction[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _batch(played, wins, ridge, tolerance, thetas, norms):
    replicates, n = wins.shape
    theta, gradient, new = np.zeros(n), np.empty(n), np.empty(n)
    weight = np.zeros((n, n), np.float32)
    x, direction, residual = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    y, degree = np.empty(n, np.float32), np.empty(n, np.float32)
    for r in range(replicates):
        games = played[min(r, len(played) - 1)]
        theta[:] = 0
        _dense_step(games, wins[r], ridge, theta, gradient, weight, degree)
        size = first = np.sqrt(np.dot(gradient, gradient))
        enough = max(tolerance, _ROUNDING * first)
        for _ in range(_NEWTON_STEPS):
            if size <= enough:
                break
            accuracy = min(0.1, max(size / first, 0.3 * enough / size, 1e-5))
            _dense_solve(weight, degree, -gradient, accuracy, x, direction, residual, y)
            descent, t = 0.0, 1.0
            for i in range(n):
                descent += gradient[i] * x[i]
            for _ in range(60):
                for i in range(n):
                    new[i] = theta[i] + t * x[i]
                _dense_step(games, wins[r], ridge, new, gradient, weight, degree)
                ahead = 0.0
                for i in range(n):
                    ahead += gradient[i] * x[i]
                if ahead <= -0.5 * descent:
                    break
                t *= max(0.1, descent / (descent - ahead))
            theta[:] = new
            size = np.sqrt(np.dot(gradient, gradient))
        thetas[r] = theta
        norms[r] = size if size <= enough else np.inf
