"""Laws of what is right after sampling and noise: two items in closed form, a top k by an integral (long: both).

A score is a sum over many persons, so that sampling moves it by a normal variable; the noise of a mechanism is added
as it is. Nothing here is drawn but in `simulated`, from a seed of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._quadrature import gauss
from dprank._require import as_floats
from dprank._search import least
from dprank.plan.dependent import dependent_apart, dependent_draws
from dprank.privacy.ranges import ScoreNoise, range_quantile

__all__ = [
    "LEVEL",
    "Noise",
    "Simulated",
    "Spread",
    "ladder_order_right",
    "ladder_share_right",
    "ladder_top_right",
    "pair_right",
    "pairs_of",
    "share_of",
    "simulated",
    "told_apart",
]

Array = NDArray[np.float64]
#: "flips" and "coins" are answers that are randomised, or drawn, as a whole.
Noise = Literal["none", "laplace", "gaussian", "conditioned", "cube", "gumbel", "exponential", "flips", "coins"]
#: Of all distances at once that tell items apart.
LEVEL = 0.95
#: All pairs are gone through up to so many items.
_FEW = 100
#: Noise so many times narrower than what sampling does is as good as normal.
_NARROW = 300.0
#: Cells of an integral; nodes of the sum over what sampling does.
_CELLS, _NODES = 500, 16
#: Places that are filled in an exact sum; beyond, the threshold is as good as fixed.
_PLACES = 12
#: Seed of what is simulated: a plan is a function of its question.
_SEED = 20260101


def pair_right(apart: ArrayLike, variance: ArrayLike, noise: Noise = "none", scale: float = 0.0) -> Array:
    r"""Chance that the better of two items has the larger noisy score; half of it where they are equal.

    Parameters
    ----------
    apart : array_like of float
        Mean difference of the scores.
    variance : array_like of float
        What sampling adds to that difference; at least 0.
    noise : {"none", "laplace", "gaussian"}
        Of each score, apart from the other's.
    scale : float
        Laplace scale or standard deviation of it.

    Notes
    -----
    The difference of two Laplace variables of scale 1 exceeds t with probability :math:`e^{-t} (1 + t / 2) / 2`. Of
    what lies to the left of a normal variable that is an integral of exponentials over half a line: in closed form.

    Examples
    --------
    >>> pair_right([0.0, 3.0], 0.0, "laplace", 1.0).round(4).tolist()
    [0.5, 0.9378]
    """
    x, v = np.broadcast_arrays(as_floats("apart", apart), as_floats("variance", variance))
    if noise == "gaussian":
        v = v + 2 * scale**2
    elif noise == "laplace" and scale > 0:
        a = 1 / scale
        s = np.sqrt(v)
        narrow = s > _NARROW * scale
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            bare = np.exp(-np.abs(a * x)) * (1 + np.abs(a * x) / 2) / 2
            bare = np.where(x < 0, bare, 1 - bare)
            z = np.clip(x / np.maximum(s, 1e-300), -1e6, 1e6)
            smooth = scipy.special.ndtr(z) - _half_line(z, s * a) + _half_line(-z, s * a)
        normal = _normal_right(x, v + 4 * scale**2)
        return np.asarray(np.where(s < 1e-9 * scale, bare, np.where(narrow, normal, smooth)).clip(0, 1))
    elif noise not in ("none", "laplace"):
        raise ValueError(f"noise = {noise!r}; none, laplace or gaussian is needed")
    return _normal_right(x, v)


def _half_line(z: Array, a: Array) -> Array:
    """Mean of exp(-a y) (1 + a y / 2) / 2 over the positive part of a normal y of mean z and deviation 1."""
    weight = np.exp(np.minimum(a * (a / 2 - z) + scipy.special.log_ndtr(z - a), 0.0))
    return np.asarray((weight * (1 + a * (z - a) / 2) + a / 2 * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)) / 2)


def _normal_right(apart: Array, variance: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(variance > 0, apart / np.sqrt(variance), np.sign(apart) * np.inf)
    return np.asarray(scipy.special.ndtr(np.where(apart == 0, 0.0, z)))


class Pairs(NamedTuple):
    """Pairs of items of a ladder, the better one first, and which share of all pairs each stands for."""

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: Array


@lru_cache(maxsize=8)
def pairs_of(n_items: int) -> Pairs:
    """All pairs of few items; of many, pairs that stand for their neighbours: chances are smooth along a ladder.

    Examples
    --------
    >>> pairs_of(3)
    Pairs(better=array([0, 0, 1]), worse=array([1, 2, 2]), weight=array([0.33333333, 0.33333333, 0.33333333]))
    >>> len(pairs_of(1000).better) < 2000
    True
    """
    if n_items <= _FEW:
        better, worse = np.triu_indices(n_items, 1)
        return Pairs(better, worse, np.full(len(better), 1 / len(better)))
    edges = [*range(1, 25)]
    while edges[-1] < n_items - 1:
        edges.append(min(n_items - 1, math.ceil(edges[-1] * 1.12) + 1))
    parts = []
    for low, high in zip(edges, [*edges[1:], n_items], strict=True):
        lags = np.arange(low, high)
        if not len(lags):
            continue
        count = float((n_items - lags).sum())
        lag = round(float(lags @ (n_items - lags)) / count)
        spots = min(24, n_items - lag)
        first = np.floor((np.arange(spots) + 0.5) * (n_items - lag) / spots).astype(np.int64)
        parts.append((first, first + lag, np.full(spots, count / spots)))
    better, worse, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Pairs(better, worse, weight / weight.sum())


def share_of(holds: np.ufunc, scores: Array) -> Array:
    """Of every row the share of pairs of which the better item's number, compared with the worse one's, `holds`.

    Examples
    --------
    >>> share_of(np.less, np.array([[2.0, 1.0], [1.0, 2.0]])).tolist()
    [0.0, 1.0]
    """
    n_items = scores.shape[1]
    better, worse, weight = pairs_of(n_items)
    if n_items > _FEW:
        by_item = np.ascontiguousarray(scores.T)
        # turned round as truth values: as floats that takes twice as long
        seen = np.ascontiguousarray(holds(by_item[better], by_item[worse]).T)
    else:
        # item by item: to pick the columns of all pairs takes several times as long
        seen, at = np.empty((len(scores), len(weight)), bool), 0
        for item in range(n_items - 1):
            end = at + n_items - 1 - item
            holds(scores[:, item, None], scores[:, item + 1 :], out=seen[:, at:end])
            at = end
    return np.asarray(seen.astype(float) @ weight)


def told_apart(noise: Noise, scale: float, n_items: int, step: float = 0.0, level: float = LEVEL) -> float:
    """How far apart noisy scores must lie, so that all that do are in their right order with probability `level`.

    Parameters
    ----------
    noise : {"none", "laplace", "gaussian", "conditioned", "cube", "gumbel", "exponential"}
    scale : float
        Of the noise; above 0 where there is any.
    n_items : int
        At least 2.
    step : float
        Of the grid of Laplace and Gaussian noise, as in `dprank.privacy.ranges.ScoreNoise`.
    level : float
        In (0, 1).

    Notes
    -----
    The range of so many noises: of exponential ones it is the largest of all but one, which is memoryless; of Gumbel
    ones, with c = exp(-q), its law is :math:`n B(\\alpha, n) / (1 - c)`, :math:`\\alpha = (1 + c (n - 1)) / (1 - c)`.

    Examples
    --------
    >>> [round(told_apart(noise, 1.0, 10), 2) for noise in ("laplace", "gaussian", "gumbel", "exponential")]
    [7.64, 4.47, 6.31, 5.17]
    """
    if noise == "none":
        return 0.0
    if noise == "conditioned" or noise == "cube":
        return dependent_apart(noise, n_items, scale, step, level)
    if noise == "laplace" or noise == "gaussian":
        return range_quantile(ScoreNoise(noise, scale, step), n_items, level)
    if noise == "exponential":
        return -math.log1p(-(level ** (1 / (n_items - 1)))) * scale

    def within(q: float) -> bool:
        rest = -math.expm1(-q)
        alpha = (1 + math.exp(-q) * (n_items - 1)) / rest
        return math.log(n_items) - math.log(rest) + float(scipy.special.betaln(alpha, n_items)) >= math.log(level)

    return least(within, 1.0, 2.0**-20) * scale


# --- all items at once, simulated ------------------------------------------------------------------------------------


class Simulated(NamedTuple):
    """Of many releases: how often order and top k are right, and which share of pairs is wrong in 19 of 20."""

    order_right: float
    top_right: float
    band: tuple[float, float]


@lru_cache(maxsize=8)
def _standard(n_items: int, draws: int, noise: Noise) -> Array:
    rng = np.random.default_rng([_SEED, n_items, draws, len(noise)])
    if noise == "conditioned" or noise == "cube":
        return dependent_draws(noise, n_items, draws, rng)
    return rng.laplace(0, 1, (draws, n_items)) if noise == "laplace" else rng.standard_normal((draws, n_items))


def draws_for(n_items: int) -> int:
    """As many as take a few milliseconds."""
    return max(200, min(4000, 100_000 // n_items))


def simulated(means: Array, deviation: Array | float, noise: Noise, scale: float, k: int) -> Simulated:
    """Releases of scores with these means, in falling order, each off by sampling and by noise of its own.

    The seed is fixed, and the same numbers are scaled for every choice: they are compared on the same luck.

    Examples
    --------
    >>> simulated(np.array([9.0, 0.0]), 1.0, "laplace", 0.5, 1)[:2]
    (1.0, 1.0)
    """
    draws = draws_for(len(means))
    scores = means + deviation * _standard(len(means), draws, "none")
    if noise != "none":
        scores = scores + scale * _standard(len(means), draws, noise)
    return summed_up(scores, k)


def summed_up(scores: Array, k: int) -> Simulated:
    """What `simulated` says, of given noisy scores, shape (draws, items), the best item first."""
    order = (np.diff(scores, axis=1) < 0).all(axis=1).mean()
    top = (scores[:, :k].min(axis=1) > scores[:, k:].max(axis=1, initial=-np.inf)).mean()
    low, high = np.quantile(share_of(np.less_equal, scores), [0.025, 0.975])
    return Simulated(float(order), float(top), (float(low), float(high)))


# --- the largest k of very many --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """Law of a normal variable plus noise: what sampling and a mechanism do to one count.

    Parameters
    ----------
    deviation : float
        Of the normal variable, above 0.
    noise : {"none", "laplace", "gumbel", "exponential"}
    scale : float
        Of the noise; at least 0.

    Examples
    --------
    >>> Spread(1.0, "laplace", 2.0).above([0.0, 4.0]).round(4).tolist()
    [0.5, 0.0767]
    """

    deviation: float
    noise: Noise = "none"
    scale: float = 0.0

    def above(self, x: ArrayLike) -> Array:
        """Probability of more than x: however small, with its leading digits."""
        x, s = as_floats("x", x), self.deviation
        noise = self.noise if self.scale > s / _NARROW else "none"
        if noise == "none":
            return np.asarray(scipy.special.ndtr(-x / s))
        a, z = s / self.scale, x / s
        if noise == "laplace":
            up, down = _tilted(z, a), _tilted(-z, a)
            return np.asarray(scipy.special.ndtr(-z) + (up - down) / 2)
        if noise == "exponential":
            return np.asarray(scipy.special.ndtr(-z) + _tilted(z, a))
        # over what is the narrower of the two, where the other is smooth
        with np.errstate(over="ignore"):
            if a < 1:
                y, mass = _nodes(-9.0, 9.0, 6)
                mass = mass * np.exp(-y * y / 2) / math.sqrt(2 * math.pi)
                return np.asarray(-np.expm1(-np.exp(-(x[..., None] / self.scale - a * y))) @ mass)
            y, mass = _nodes(-4.0, 44.0, 16)
            mass = mass * np.exp(-y - np.exp(-y))
            return np.asarray(scipy.special.ndtr((y - x[..., None] / self.scale) / a) @ mass)

    def about(self, x: ArrayLike) -> Array:
        """The same to a part in a thousand, where it would take long: of Gumbel noise from a table.

        Examples
        --------
        >>> law = Spread(1.0, "gumbel", 2.0)
        >>> bool(np.allclose(law.about([-5.0, 0.3, 9.0]), law.above([-5.0, 0.3, 9.0]), rtol=1e-3))
        True
        """
        if self.noise != "gumbel":
            return self.above(x)
        at, logs = _table(self)
        return np.asarray(np.exp(np.interp(as_floats("x", x), at, logs)))

    @property
    def width(self) -> float:
        """Where it lies, but for exp(-45) of it, on both sides of 0."""
        return 9.5 * self.deviation + 45 * self.scale


@lru_cache(maxsize=8)
def _table(law: Spread) -> tuple[Array, Array]:
    at = np.linspace(-law.width, law.width + 20 * law.scale, 1500)
    with np.errstate(divide="ignore"):
        return at, np.log(np.maximum(law.above(at), 1e-300))


@cache
def _nodes(low: float, high: float, panels: int) -> tuple[Array, Array]:
    """Gauss-Legendre panels of one width."""
    edges = np.linspace(low, high, panels + 1)
    return gauss(edges[:-1], edges[1:], _NODES)


def _tilted(z: Array, a: float) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(np.minimum(a * (a / 2 - z) + scipy.special.log_ndtr(z - a), 700.0)))


def _ladder(law: Spread, rest: int) -> tuple[Array, Array]:
    """Cells in which the largest of the rest lies, all of them at 0, and the chance that it is below each edge."""
    low, high = -law.width, law.width + law.scale * math.log(rest)
    for _ in range(4):
        x = np.linspace(low, high, _CELLS + 1)
        below = np.exp(rest * np.log1p(-np.minimum(law.about(x), 1 - 2.0**-53)))
        inside = np.flatnonzero((below > 1e-13) & (below < 1 - 1e-13))
        first, last = max(int(inside[0]) - 1, 0), min(int(inside[-1]) + 1, _CELLS)
        if last - first > _CELLS // 2:
            break
        low, high = float(x[first]), float(x[last])
    return x, below


@lru_cache(maxsize=256)
def ladder_top_right(step: float, k: int, rest: int, law: Spread) -> float:
    """Chance that the k largest are those on a ladder: the last a step above all the rest, which are level.

    Parameters
    ----------
    step : float
        Of the ladder, in the unit of the law.
    k, rest : int
        Items on the ladder, and below it; at least 1.
    law : Spread
        Of every item alike.

    Examples
    --------
    >>> round(ladder_top_right(2.0, 1, 1, Spread(1.0)), 3)  # a normal variable of variance 2 is above -2
    0.921
    """
    x, below = _ladder(law, rest)
    at = (x[1:] + x[:-1]) / 2
    above = np.zeros(len(at))
    for rung in range(1, k + 1):
        gone = 1 - law.about(at - rung * step)
        above += np.log1p(-np.minimum(gone, 1 - 2.0**-53))
        if rung > 1 and float(gone.max()) * (k - rung) < 1e-12:
            break
    return float(np.diff(below) @ np.exp(above))


def ladder_order_right(step: float, k: int, rest: int, law: Spread) -> float:
    """Chance that the k largest are those on the ladder, in their order.

    Parameters
    ----------
    step, k, rest, law
        As in `ladder_top_right`.

    Examples
    --------
    >>> round(ladder_order_right(0.0, 2, 1, Spread(1.0)), 3)  # one of six orders
    0.167
    """
    reach = law.width + law.scale * math.log(rest)
    x = np.linspace(-reach, reach, 4 * _CELLS + 1)
    mass = np.diff(1 - law.about(x))
    held = np.exp(rest * np.log1p(-np.minimum(law.about(x + step), 1 - 2.0**-53)))
    for rung in range(k):
        held = np.r_[0.0, np.cumsum(mass * (held[1:] + held[:-1]) / 2)]
        if rung < k - 1:
            held = np.interp(x + step, x, held)
    return float(held[-1])


def ladder_share_right(step: float, k: int, rest: int, law: Spread) -> float:
    """Expected share of the k largest that are on the ladder.

    Parameters
    ----------
    step, k, rest, law
        As in `ladder_top_right`.

    Notes
    -----
    An item at x is among the largest if no more of the rest lie above it than of the ladder below it. Where the ladder
    has more than 12 items, all of them above the value that k items are expected to exceed.

    Examples
    --------
    >>> round(ladder_share_right(2.0, 1, 1, Spread(1.0)), 3)
    0.921
    """
    rungs = step * np.arange(1, k + 1)
    if k > _PLACES:
        low, high = -law.width, law.width + law.scale * math.log(rest) + k * step
        for _ in range(60):
            middle = (low + high) / 2
            held = float(law.about(middle - rungs).sum() + rest * law.about(middle))
            low, high = (middle, high) if held > k else (low, middle)
        return float(law.about(high - rungs).mean())
    low, high = -law.width, law.width + k * step
    x = np.linspace(low, high, 2 * _CELLS + 1)
    at = (x[1:] + x[:-1]) / 2
    below = 1 - law.about(at - rungs[:, None])
    few = np.array([scipy.special.bdtr(fallen, rest, np.minimum(law.about(at), 1.0)) for fallen in range(k)])
    mass = np.diff(1 - law.about(x - rungs[:, None]), axis=1)
    right = 0.0
    for own in range(k):
        fallen = np.zeros((k, len(at)))
        fallen[0] = 1.0
        for other in range(k):
            if other != own:
                fallen[1:] = fallen[1:] * (1 - below[other]) + fallen[:-1] * below[other]
                fallen[0] *= 1 - below[other]
        right += float(mass[own] @ (fallen * few).sum(axis=0))
    return min(1.0, right / k)
