"""Places of items where errors of scores depend on each other: a bound for each pair, and all pairs at once.

Sums of noise over the pairs of an item, reports of voters, and persons that were drawn from a population: what is known
there is the error in the difference of two scores, of every two. `dprank.privacy.ranges` is for independent noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dprank._require import (
    MOST,
    as_floats,
    require_at_least_0,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank._search import least, least_whole
from dprank.privacy.ranges import ScoreNoise, place_intervals

__all__ = ["PairError", "Places", "Sampling", "drawn", "majority_places", "pair_places", "score_places"]

Array = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
#: What was drawn from a population: persons, whatever each of them says; or answers, each by itself.
Sampling = Literal["persons", "answers"]

#: 5! (e / 5)^5, see `PairError`.
DOMINATED = 120 * (math.e / 5) ** 5
#: Levels beyond it are not told from 1.
_MOST = 1 - 1e-9
#: Tails are computed to less than this; below the second, bounds by moments are as good.
_SLACK, _LEAST = 1e-12, 1e-10
#: Terms of a sum over frequencies, at most; and the size of those that are left out.
_TERMS, _NOTHING = 1 << 18, 1e-13
#: Steps down, at most.
_STEPS = 20


@dataclass(frozen=True)
class PairError:
    r"""Error in the difference of two scores: a symmetric law of noise, and sums of bounded numbers, all independent.

    Parameters
    ----------
    noises : tuple of (ScoreNoise, int, float)
        Laws, how many independent ones of each, and by what each is multiplied, above 0.
    deviation : float
        Of bounded numbers that are drawn independently: the root of the sum of squares of half the lengths of their
        ranges; 0 for none.
    variance, bound : float
        Of others: a bound on the sum of their variances, and on how far one is above its mean; 0 for none.

    Raises
    ------
    ValueError
        Naming what is out of range, or where there is no error at all.

    Notes
    -----
    Noise alone: the tail is a Fourier sum, exact but for 1e-12, of T apart where no more than 1e-14 lies beyond T / 2.

    A sum S of independent numbers, each in a range of length :math:`2 s_v`, minus its mean, is dominated by Gaussian
    noise G of deviation :math:`s = (\sum s_v^2)^{1/2}`: :math:`E f(S) \le E f(G)` for all
    :math:`f(x) = (x - t)_+^5` (Pinelis 2006, "On normal domination of (super)martingales", Theorem 2.1). Such f are
    closed under shifts, so with independent noise N also :math:`E f(S + N) \le E f(G + N)`; by Jensen's inequality the
    same holds of whole Laplace noise N and Laplace noise on the line, which is N plus a difference of two fractional
    parts of exponential variables, of one law and independent of N. Where G + N is log-concave, as sums of Gaussian and
    Laplace variables are,

    .. math:: P(S + N > x) \le 5!\, (e / 5)^5\, P(G + N > x) < 5.7\, P(G + N > x).

    That holds for every number of persons; nothing is left to a limit. The least of it and of
    :math:`\min_\lambda E e^{\lambda (S + N - x)}` is taken, with Hoeffding's bound on S, :math:`e^{\lambda^2 s^2/2}`,
    Bennett's where variances are given, and :math:`e^{\lambda^2 \sigma^2 / 2}` for whole Gaussian noise.

    Examples
    --------
    >>> noise = ScoreNoise("laplace", 8.0)
    >>> round(PairError(((noise, 2, 1.0),)).quantile(0.01), 2)  # exp(-t) (1 + t / 2) / 2 = 0.01 at t = 5.19
    41.53
    """

    noises: tuple[tuple[ScoreNoise, int, float], ...] = ()
    _: KW_ONLY
    deviation: float = 0.0
    variance: float = 0.0
    bound: float = 0.0

    def __post_init__(self) -> None:
        settle(
            self,
            noises=tuple(
                (law, require_whole("how many", n, 1), require_positive("weight", w)) for law, n, w in self.noises
            ),
            **{name: require_at_least_0(name, getattr(self, name)) for name in ("deviation", "variance", "bound")},
        )
        if not (self.noises or self.deviation or self.variance):
            raise ValueError("noises, deviation and variance are all nothing: an error is needed")

    def quantile(self, chance: float) -> float:
        """A number that the error exceeds with at most that chance; on a grid, one of its points.

        Parameters
        ----------
        chance : float
            In (0, 1).

        Notes
        -----
        Some milliseconds for up to 2^18 frequencies; all that is asked again is remembered.
        """
        return _quantile(self, require_probability("chance", chance))

    @cached_property
    def step(self) -> float:
        """Of the grid on which the error lies; 0 where it lies on none."""
        steps = {law.step for law, _, _ in self.noises}
        whole = all(weight == int(weight) for _, _, weight in self.noises)
        return steps.pop() if len(steps) == 1 and whole and not (self.deviation or self.variance) else 0.0

    def _by_moments(self, chance: float) -> float:
        """The least of (log E exp(x D) - log(chance)) / x."""
        nats = -math.log(chance)
        square = self.deviation**2 + sum(n * (w * law.scale) ** 2 for law, n, w in self.noises) + self.variance
        steep = max((w * law.scale for law, _, w in self.noises if law.noise == "laplace"), default=0.0)
        most = 10 * math.sqrt(2 * (nats + 1) / square)
        top = min(most, (1 - 1e-9) / steep) if steep else most

        def at(u: float) -> float:
            x = top * math.exp(-u)
            held = self.deviation**2 * x * x / 2
            for law, n, weight in self.noises:
                part = (weight * law.scale * x) ** 2
                held += n * (-math.log1p(-part) if law.noise == "laplace" else part / 2)
            if self.variance:
                held += self.variance / self.bound**2 * (math.expm1(self.bound * x) - self.bound * x)
            return (held + nats) / x

        grid = np.linspace(0, 12, 49)
        start = grid[int(np.argmin([at(u) for u in grid]))]
        found = minimize_scalar(at, bounds=(max(start - 0.25, 0), start + 0.25), method="bounded")
        return min(float(found.fun), at(start))

    def _transform(self, theta: NDArray[Any]) -> Array:
        """Characteristic function of noise and Gaussian part."""
        out = np.exp(-((self.deviation * theta) ** 2) / 2)
        for law, n, weight in self.noises:
            out = out * _transformed(law, weight * theta) ** n
        return out


def _transformed(law: ScoreNoise, theta: NDArray[Any]) -> Array:
    if law.noise == "laplace" and law.step:
        ratio = math.exp(-law.step / law.scale)
        return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 4 * ratio * np.sin(law.step * theta / 2) ** 2))
    if law.noise == "laplace":
        return 1 / (1 + (law.scale * theta) ** 2)
    if not law.step:
        return np.exp(-((law.scale * theta) ** 2) / 2)
    scale, turn = law.scale / law.step, np.mod(law.step * theta + math.pi, 2 * math.pi) - math.pi
    if scale < 0.4:  # few whole numbers
        k = np.arange(1, 20)
        chance = np.exp(-((k / scale) ** 2) / 2)
        return np.asarray((1 + 2 * np.cos(np.multiply.outer(turn, k)) @ chance) / (1 + 2 * chance.sum()))
    images = 2 * math.pi * np.arange(-6, 7)
    return np.asarray(
        np.exp(-((scale * np.add.outer(turn, images)) ** 2) / 2).sum(-1) / np.exp(-((scale * images) ** 2) / 2).sum()
    )


@lru_cache(maxsize=4096)
def _quantile(error: PairError, chance: float) -> float:
    if len(error.noises) == 1 and error.noises[0][0].noise == "laplace" and error.noises[0][1] == 1:
        law, _, weight = error.noises[0]
        if not (error.deviation or error.variance):
            return weight * _of_one(law, chance)
    found = error._by_moments(chance)
    gaussian_steps = any(law.noise == "gaussian" and law.step for law, _, _ in error.noises)
    if error.step:
        found = math.floor(found / error.step) * error.step
    smoothed = error
    share = chance
    if error.deviation:
        share /= DOMINATED
        smoothed = replace(error, noises=tuple((replace(law, step=0.0), n, w) for law, n, w in error.noises))
    if error.variance or share < _LEAST or (error.deviation and gaussian_steps):
        return found
    above = _inverted(smoothed)
    if above is None:
        return found
    fits = lambda q: above(q) + _SLACK <= share  # noqa: E731
    if smoothed.step:
        return min(found, least_whole(fits, -1, 1) * smoothed.step)
    return min(found, least(fits, found, 2.0**-30)) if fits(found) else found


def _of_one(law: ScoreNoise, chance: float) -> float:
    """Least number that one Laplace variable exceeds with at most that chance."""
    if not law.step:
        return max(0.0, -law.scale * math.log(2 * chance))
    # P(w >= j) = r^j / (1 + r)
    ratio = law.step / law.scale
    j = math.ceil(-(math.log(chance) + math.log1p(math.exp(-ratio))) / ratio - 1e-12)
    return max(j - 1, 0 if chance < 0.5 else -1) * law.step


@lru_cache(maxsize=256)
def _inverted(error: PairError) -> Callable[[float], float] | None:
    """Chance of more than a number, of steps where there are any; None where it would take too many terms."""
    half = error._by_moments(1e-14)
    step = error.step
    if step:
        n = math.ceil(half / step)
        period = (2 * n + 1) * step
    else:
        n, period = _TERMS + 1, 2 * half
    envelope = lambda theta: float(error._transform(np.array([theta]))[0])  # noqa: E731
    most, k = min(n, _TERMS + 1), 1
    # of larger frequencies the transform is as small or smaller but where weights differ: all are summed then
    even = len({w for _, _, w in error.noises}) <= 1 or not step
    while k < most and (not even or envelope(2 * math.pi * k / period) > _NOTHING):
        k = min(2 * k, most)
    if k > _TERMS and (n > _TERMS):
        return None
    theta = np.arange(1.0, k + 1) * (2 * math.pi / period)
    held = error._transform(theta)
    seen = held > _NOTHING
    theta, held = theta[seen], held[seen]
    if step:
        share = held / np.sin(step * theta / 2) / (2 * n + 1)
        return lambda q: 0.5 - (q + 0.5) / (2 * n + 1) - float(share @ np.sin((q + 0.5) * step * theta))
    share = 2 / period * held / theta
    return lambda q: 0.5 - q / period - float(share @ np.sin(q * theta))


def drawn(sampling: Sampling | None, persons: int | None) -> int:
    """How many persons were drawn, 0 where nothing is said of sampling.

    Parameters
    ----------
    sampling : {"persons", "answers"} or None
    persons : int or None
        At least 1 where `sampling` is named, and None elsewhere.

    Raises
    ------
    ValueError
        Naming what is missing.

    Examples
    --------
    >>> drawn("persons", 400), drawn(None, None)
    (400, 0)
    """
    require_one_of("sampling", sampling, (*get_args(Sampling), None))
    if sampling is None and persons is not None:
        raise ValueError("persons without sampling; name it: sampling = 'persons' or 'answers'")
    if sampling is not None and persons is None:
        raise ValueError(
            f"persons = None; with sampling = {sampling!r} say how many took part at most, a public number"
        )
    return 0 if persons is None else require_whole("persons", persons, 1, MOST)


def pair_places(scores: Array, error: PairError, level: float) -> Places:
    r"""Places that every item may have without the errors, all of them right at once with probability `level`.

    Parameters
    ----------
    scores : array_like of float, shape (items,)
        As in `dprank.privacy.ranges.place_intervals`.
    error : PairError
        Of the difference of any two of them, whatever it has to do with those of others.
    level : float
        In (0, 1), at most 1 - 1e-9.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        As of `dprank.privacy.ranges.place_intervals`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(items log items), and `PairError.quantile` some times. Of the m (m - 1) sentences "i is better than j" those are
    told whose difference is above q, with :math:`P(D_{ij} - (s_i - s_j) > q) \le (1 - level) / h`, where h is the
    number of sentences that are not told yet (Holm 1979). Among the wrong ones let one be told first. Before, none of
    the wrong sentences was told, so h is at least their number w, and the difference is above the quantile for
    :math:`(1 - level) / w`: all that are wrong together have a chance of at most 1 - level of that.

    Examples
    --------
    >>> error = PairError(deviation=10.0)
    >>> lowest, highest = pair_places([900, 40, 10, 0], error, 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2, 3], [1, 3, 4, 4])
    """
    scores = as_floats("scores", scores)
    if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores are not a list of at least two finite numbers: that is needed")
    level = require_probability("level", level, most=_MOST)
    ascending, m = np.sort(scores), len(scores)
    largest, told, found = float(np.abs(scores).max()), -1, 0
    for _ in range(_STEPS):
        if found == told:
            break
        told = found
        apart = error.quantile((1 - level) / (m * (m - 1) - told)) + error.step / 2
        apart += 4 * math.ulp(apart + largest)
        ahead = m - np.searchsorted(ascending, scores + apart, "right")
        behind = np.searchsorted(ascending, scores - apart, "left")
        found = int(behind.sum())
    return 1 + ahead, m - behind


def majority_places(margins: Array, error: PairError, level: float) -> Places:
    r"""Places that every item may have in the best orders of the exact margins, right at once with that probability.

    Parameters
    ----------
    margins : array_like of float, shape (items, items)
        Antisymmetric: by how much the row's item beats the column's.
    error : PairError
        Of any margin.
    level : float
        As in `pair_places`.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        Of the first and last place of the block that the item is in.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(items^2). Told are majorities, as `pair_places` tells differences. If every item of a set X beats every item
    outside of it, X stands first in each order that has no two neighbours of which the second beats the first: else
    somewhere an item of the rest stands directly before one of X. Every optimal Kemeny order is such an order, and so
    is every order that no exchange of neighbours improves. By Copeland's count too X is first: its items beat all of
    the rest, and an item of the rest beats fewer. So items are cut into blocks where all before are known to beat all
    behind, and an item stays within its block.

    Examples
    --------
    >>> margins = np.array([[0, 90, 80], [-90, 0, 5], [-80, -5, 0]])
    >>> lowest, highest = majority_places(margins, PairError(deviation=10.0), 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    margins = as_floats("margins", margins)
    m = len(margins) if margins.ndim else 0
    if margins.shape != (m, m) or m < 2 or not np.isfinite(margins).all() or (margins != -margins.T).any():
        raise ValueError("margins are no antisymmetric square of finite numbers: that is needed")
    level = require_probability("level", level, most=_MOST)
    told, found, beats = -1, 0, np.zeros((m, m), bool)
    for _ in range(_STEPS):
        if found == told:
            break
        told = found
        apart = error.quantile((1 - level) / (m * (m - 1) - told)) + error.step / 2
        beats = margins > apart
        found = int(beats.sum())
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    cumulative = beats[np.ix_(order, order)].cumsum(axis=0)  # of the first t items, how many beat each
    whole = [t for t in range(1, m) if (cumulative[t - 1, t:] == t).all()]
    edges = np.array([0, *whole, m])
    block = np.searchsorted(edges, np.arange(m), "right") - 1
    lowest, highest = np.empty(m, np.int64), np.empty(m, np.int64)
    lowest[order], highest[order] = 1 + edges[block], edges[block + 1]
    return lowest, highest


def score_places(scores: Array, law: ScoreNoise, level: float, deviation: float = 0.0) -> Places:
    """Places that independent noise on scores leaves open, or with what drawing the persons adds.

    Parameters
    ----------
    scores, law, level
        As in `dprank.privacy.ranges.place_intervals`.
    deviation : float
        As in `PairError`: of the difference of two scores, from drawing; 0 for the noise alone.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        With drawing never within those without.

    Examples
    --------
    >>> law = ScoreNoise("laplace", 8.0, step=1.0)
    >>> [places.tolist() for places in score_places([900, 740, 10], law, 0.95)]
    [[1, 2, 3], [1, 2, 3]]
    >>> [places.tolist() for places in score_places([900, 740, 10], law, 0.95, deviation=60.0)]
    [[1, 1, 3], [2, 2, 3]]
    """
    low, high = place_intervals(scores, law, level)
    if not deviation:
        return low, high
    lowest, highest = pair_places(scores, PairError(((law, 2, 1.0),), deviation=deviation), level)
    return np.minimum(low, lowest), np.maximum(high, highest)
