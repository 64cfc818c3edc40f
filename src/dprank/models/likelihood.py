"""Penalised maximum likelihood from pairwise comparisons (Cai, Chakraborty and Wang 2025, (2.1), (2.2), (3.2))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dprank._frozen import FrozenFields
from dprank._require import as_array, as_floats, require_at_least_0, require_positive, settle
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.models.bradley_terry import LOGISTIC, Link

#: Newton steps in all, and how many are tried before the long way round is taken.
_NEWTON_STEPS = 300
_PATIENCE = 20
_ROUNDING = 1e-14
#: Up to here single precision tells whole numbers apart.
_FLOAT32_COUNTS = 2**24
#: So that points of one pair are integers of 32 bits.
_MOST_GAMES = 2**30
#: How far past the minimum along a step, in terms of the slope, is near enough.
_OVERSHOOT = 0.05
#: Spread of strengths up to which exp(theta) neither overflows nor loses its neighbours.
_EXP_RANGE = 500.0


@dataclass(frozen=True, eq=False)
class Fit(FrozenFields):
    """A minimiser, with its certificate.

    Attributes
    ----------
    theta : ndarray of float, shape (items,)
        Strengths; without ridge their mean is 0.
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
        """Upper bound on the l2 distance from theta to the minimiser: the objective is ridge-strongly convex.

        True of the gradient norm as it is; that of Fit has the rounding errors of a sum in double precision.
        """
        return self.gradient_norm / self.ridge if self.ridge else np.inf


@dataclass(frozen=True, eq=False)
class Games(FrozenFields):
    """Comparisons summed up by pair: all that a likelihood needs of them. Each compared pair is listed once.

    Attributes
    ----------
    start : ndarray of int, shape (items + 1,)
        Pairs ``start[i] : start[i + 1]`` are those of item i with larger items.
    other : ndarray of int, shape (pairs,)
        The larger item of the pair.
    played : ndarray of int or float, shape (pairs,)
        How often the pair was compared, above 0.
    points : ndarray of int, shape (pairs,)
        Of the smaller item: two for a win, one for a tie.

    Raises
    ------
    ValueError
        Naming the field that does not list pairs so. O(items + pairs).
    """

    start: NDArray[np.int64]
    other: NDArray[np.uint32]
    played: NDArray[Any]
    points: NDArray[np.int32]

    def __post_init__(self) -> None:
        start, other, played, points = (_column(name, value) for name, value in self._named())
        whole = start.dtype.kind in "iu" and len(start) > 2
        if not (whole and start[0] == 0 and start[-1] == len(other) and (start[1:] >= start[:-1]).all()):
            raise ValueError("start does not count up from 0 to the number of pairs; it must, with a step an item")
        for name, column in (("other", other), ("played", played), ("points", points)):
            if len(column) != len(other) or (column.dtype.kind not in "iu" and name != "played"):
                raise ValueError(f"{name} is no list of whole numbers, one a pair; that is needed")
        settle(self, start=start.astype(np.int64, copy=False))
        if not ((other > self.item) & (other < self.n_items)).all():
            raise ValueError("other lists what is no larger item; each pair is listed under its smaller one")
        counted = played.dtype.kind in "iu"
        if not ((played > 0) & (played <= (_MOST_GAMES if counted else np.finfo(np.float32).max))).all():
            raise ValueError(f"played has numbers out of range; they are from 1 to {_MOST_GAMES}, or fractions")
        played = played.astype(np.int32 if counted else np.float32, copy=False)
        if not ((points >= 0) & (points / 2 <= played)).all():
            raise ValueError("points has numbers out of range; they are from 0 to twice those of played")
        other, points = other.astype(np.uint32, copy=False), points.astype(np.int32, copy=False)
        settle(self, other=other, played=played, points=points)
        super().__post_init__()

    @classmethod
    def of(cls, comparisons: Comparisons) -> Games:
        """O(comparisons + items) time and memory."""
        c = require_comparisons(comparisons)
        return cls(*_merge(c.first, c.second, c.points, c.n_items))

    @classmethod
    def _listed(cls, table: NDArray[np.float32]) -> Games:
        """Of a symmetric table of counts above 0, without the points."""
        i, j = np.nonzero(np.triu(table))
        start = np.searchsorted(i, np.arange(len(table) + 1))
        return cls(start, j.astype(np.uint32), table[i, j], np.zeros(len(i), np.int32))

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
        return _points_of(self.start, self.other, self.played, self.points) / 2


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
        return _newton(_AnyLink(games, link, linear), games, ridge, tolerance)
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
    theta, norm, _ = _from_tables(single, wins, ridge, tolerance)
    if np.isnan(norm).any():
        _refuse_counts(tables[: np.isnan(norm).argmax() + 1], float(np.finfo(np.float32).max))
    for late in np.flatnonzero(np.isinf(norm)).tolist():
        games = Games._listed(single[min(late, len(single) - 1)])
        try:
            fit = _newton(_Logistic(games, wins[late]), games, ridge, tolerance)
        except ArithmeticError as error:
            raise ArithmeticError(f"replicate {late}: {error}") from None
        theta[late], norm[late] = fit.theta, fit.gradient_norm
    return theta, norm


# --- Newton's method on the centred problem --------------------------------------------------------------------------


class _Likelihood(Protocol):
    """All of the objective but its ridge."""

    def derivatives(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Gradient, and the weights of the Laplacian that the Hessian is."""
        ...


class _AnyLink:
    """One array operation a step."""

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


class _Logistic:
    """A linear term is wins taken away, and probabilities a / (a + b) need one exponential an item."""

    def __init__(self, games: Games, wins: NDArray[np.float64]) -> None:
        self.pairs, self.wins = (games.start, games.other, games.played), wins

    def derivatives(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        expected, weight = _expected_wins(*self.pairs, *_exp(theta))
        return expected - self.wins, weight


def _logistic_mle(games: Games, wins: NDArray[np.float64], ridge: float, tolerance: float) -> Fit:
    n = games.n_items
    if 4 * len(games.other) >= n * n and games.played.max() <= _FLOAT32_COUNTS:
        tables = _table(games.start, games.other, games.played)[None]
        theta, norm, steps = _from_tables(tables, wins[None], ridge, tolerance)
        if np.isfinite(norm[0]):
            return Fit(theta[0], float(norm[0]), ridge, int(steps[0]))
    return _newton(_Logistic(games, wins), games, ridge, tolerance)


def _newton(likelihood: _Likelihood, games: Games, ridge: float, tolerance: float) -> Fit:
    n, heat = games.n_items, 1.0

    def at(u: NDArray[np.float64]) -> _Point:
        g, weight = likelihood.derivatives(u)
        g = g + heat * ridge * u
        g -= g.mean()
        return _Point(u, g, weight, float(np.linalg.norm(g)))

    # along 1 the minimiser is known; what is left is orthogonal to it
    mean = -likelihood.derivatives(np.zeros(n))[0].mean() / ridge if ridge else 0.0
    start = point = at(np.zeros(n))
    highest, fall = 0.0, 1.0
    for iteration in range(_NEWTON_STEPS):
        enough = max(tolerance, _ROUNDING * start.size, 2e-16 * highest * float(np.linalg.norm(point.u)))
        if heat == 1 and point.size <= enough:
            theta = point.u + mean
            exact = likelihood.derivatives(theta)[0] + ridge * theta
            return Fit(theta, float(np.linalg.norm(exact)), ridge, iteration)
        if iteration == _PATIENCE and ridge:
            heat = max(1.0, float(np.abs(start.g).max()) / (10 * ridge))
            point, fall = at(start.u), 1.0
        # a Newton step squares the fall of the one before: solving for more would be lost
        accuracy = min(0.1, max(fall * fall, 0.3 * tolerance / point.size))
        laplacian = games.start, games.other, point.weight
        step, highest = _conjugate_gradients(*laplacian, heat * ridge, -point.g, accuracy, 2 * n + 1000)
        step -= step.mean()
        if heat > 1 and -point.g @ step < 0.1:
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
    descent, t = float(point.g @ step), 1.0
    low, below, high, above = 0.0, descent, np.inf, np.inf
    for _ in range(40):
        new = at(point.u + t * step)
        ahead = float(new.g @ step)
        if ahead <= -_OVERSHOOT * descent and (t == 1 or ahead >= 0.5 * descent):
            break
        if ahead > 0:
            high, above = t, ahead
        else:
            low, below = t, ahead
        t = low + (high - low) * min(max(below / (below - above), 0.1), 0.9)
    return new


def _require_minimiser(games: Games) -> None:
    """Ford (1957): without ridge there is a minimiser iff every item is linked to every other by a chain of wins."""
    if all(_all_reached(games.start, games.other, games.played, games.points, back) for back in (False, True)):
        return
    i, j, n = games.item, games.other, games.n_items
    won, lost = games.points > 0, games.points < 2 * games.played
    beats = sparse.csr_array(
        (np.ones(won.sum() + lost.sum(), np.int8), (np.r_[i[won], j[lost]], np.r_[j[won], i[lost]])), shape=(n, n)
    )
    parts, part = sparse.csgraph.connected_components(beats, directed=False)
    if parts > 1:
        apart = int((part != part[0]).argmax())
        raise ValueError(
            f"ridge = 0 on groups of items never compared with each other (items[0] and items[{apart}]): "
            "no unique minimiser; a ridge above 0 is needed"
        )
    parts, part = sparse.csgraph.connected_components(beats, connection="strong")
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


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    column = as_array(name, values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise ValueError(f"{name} is no list of numbers; that is needed")
    return column


def _finite(name: str, value: ArrayLike, n: int) -> NDArray[np.float64]:
    value = as_floats(name, value)
    if value.shape != (n,):
        raise ValueError(f"{name} has shape {value.shape}; {n} numbers are needed, one an item")
    if not (finite := np.isfinite(value)).all():
        raise ValueError(f"{name}[{int(finite.argmin())}] is not finite; finite numbers are needed")
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
    other, mine = np.empty(first.size, np.uint32), np.empty(first.size, np.uint8)
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
    return start, other[:new], played[:new], won[:new]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _points_of(start, other, played, points):
    """Of every item, two for a win and one for a tie."""
    total = np.zeros(start.size - 1)
    for i in range(total.size):
        mine = 0
        for at in range(start[i], start[i + 1]):
            mine += points[at]
            total[other[at]] += 2 * played[at] - points[at]
        total[i] += mine
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _table(start, other, played):
    n = start.size - 1
    table = np.zeros((n, n), np.float32)
    for i in range(n):
        for at in range(start[i], start[i + 1]):
            table[i, other[at]] = table[other[at], i] = played[at]
    return table


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _all_reached(start, other, played, points, back):
    """Whether chains of wins lead from item 0 to all others, or back from them; False also if it takes long to say."""
    n = start.size - 1
    reached = np.zeros(n, np.bool_)
    reached[0], count, before = True, 1, 0
    for sweep in range(50):
        if count in (n, before):
            break
        before = count
        for k in range(n):
            i = n - 1 - k if sweep % 2 else k
            for at in range(start[i], start[i + 1]):
                j = other[at]
                # the smaller item's side of the pair that leads on: it won, or it lost
                won = reached[i] != back
                if reached[i] != reached[j] and (points[at] > 0 if won else points[at] < 2 * played[at]):
                    reached[i] = reached[j] = True
                    count += 1
    return count == n


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _exp(theta):
    """Exponentials of centred strengths; strengths too far apart are left as they are, and that is said."""
    low, high = theta.min(), theta.max()
    narrow = high - low < _EXP_RANGE
    return (np.exp(theta - (low + high) / 2) if narrow else theta), narrow


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
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
    size, last, enough = 0.0, 1.0, accuracy * accuracy * np.dot(target, target)
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
    if np.dot(x, target) <= 0:
        x = scale * target
    return x, degree.max()


# --- kernels on tables -----------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dense_step(played, wins, ridge, theta, gradient, weight, degree):
    """Gradient, Hessian weights and their row sums at theta. Whole rows: what is computed twice is never scattered."""
    n = theta.size
    a, narrow = _exp(theta)
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
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


def _from_tables(
    played: NDArray[np.float32], wins: NDArray[np.float64], ridge: float, tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Strengths, gradient norms and Newton steps; norm NaN where a table is none of counts, inf where it takes long."""
    theta, norm, steps = np.empty_like(wins), np.empty(len(wins)), np.empty(len(wins), np.int64)
    _batch(played, wins, ridge, tolerance, theta, norm, steps)
    return theta, norm, steps


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _batch(played, wins, ridge, tolerance, thetas, norms, steps):
    replicates, n = wins.shape
    weight = np.zeros((n, n), np.float32)
    x, y, degree = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    direction, residual = np.empty(n, np.float32), np.empty(n, np.float32)
    gradient, new, theta, pull, rows = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for r in range(replicates):
        games = played[min(r, len(played) - 1)]
        norms[r] = np.nan
        if not _row_sums(games, rows, y):
            continue
        # at 0 all probabilities are 1/2
        gradient[:] = rows / 2 - wins[r]
        level = gradient.mean()
        gradient -= level
        pull[:] = wins[r] + level
        theta[:] = 0
        degree[:] = ridge + rows / 4
        table, factor = games, np.float32(0.25)
        size = first = np.sqrt(np.dot(gradient, gradient))
        enough = max(tolerance, _ROUNDING * first)
        for step in range(_PATIENCE):
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
                if ahead <= -_OVERSHOOT * descent:
                    break
                t *= max(0.1, descent / (descent - ahead))
            theta[:] = new
            size = np.sqrt(np.dot(gradient, gradient))
        thetas[r] = theta
        if ridge > 0:
            thetas[r] -= level / ridge
        # the shift rounds all strengths: is that lost in the gradient?
        if 1e-16 * np.sqrt(n) * np.abs(thetas[r]).max() * (rows.max() + ridge) > 0.01 * size:
            _dense_step(games, wins[r], ridge, thetas[r], gradient, weight, degree)
        norms[r] = np.sqrt(np.dot(gradient, gradient)) if size <= enough else np.inf
