"""How far apart independent noises lie, and which places of items that leaves open.

A released score is a true score plus noise whose law is public, so what the noise may have done to the order is known
without another look at the data: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dprank._quadrature import cut, gauss
from dprank._require import (
    MOST_AT_ONCE,
    as_floats,
    require_at_least_0,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank._search import least, least_whole
from dprank.privacy.noise import Noise

__all__ = ["ScoreNoise", "place_intervals", "range_cdf", "range_quantile"]

Array = NDArray[np.float64]

#: Levels beyond it are not told from 1.
_MOST = 1 - 1e-9
#: Probabilities of ranges are computed to less than this, which every level is raised by.
_SLACK = 1e-12
#: Whole noise of more steps a scale is bounded by noise on the line: a sum over steps would take too long.
_WIDE = 1024.0
#: Nats: what all noises together leave beyond the sums and integrals is less than exp(-33).
_BEYOND = 33.0
#: Gauss-Legendre nodes on a panel, and its width in scales.
_NODES, _PANEL = 20, {"laplace": 1.0, "gaussian": 0.5}


@dataclass(frozen=True)
class ScoreNoise:
    """Law of the noise on every score, independent of that on the others.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Symmetric about 0.
    scale : float
        Laplace scale or standard deviation (of whole noise, as in `dprank.privacy.noise`), in the unit of the scores;
        above 0.
    step : float
        Of the grid on which noise and scores lie, in that unit; 0 for the real line.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> import dprank
    >>> dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4).noise_law
    ScoreNoise(noise='laplace', scale=8.0, step=1.0)
    """

    noise: Noise
    scale: float
    step: float = 0.0

    def __post_init__(self) -> None:
        settle(
            self,
            noise=require_one_of("noise", self.noise, get_args(Noise)),
            scale=require_positive("scale", self.scale),
            step=require_at_least_0("step", self.step),
        )


def range_cdf(law: ScoreNoise, n: int, q: float) -> float:
    r"""Probability that n independent noises all lie within q of each other.

    Parameters
    ----------
    law : ScoreNoise
    n : int
        From 2 to 10^8.
    q : float
        At least 0, finite, in the unit of the scores.

    Returns
    -------
    float
        To about 1e-13. Of whole noise of more than 1024 steps a scale a lower bound, see `range_quantile`.

    Notes
    -----
    The least of the noises is at x and the others are within :math:`[x, x + q]`:

    .. math:: P(R \le q) = n \int f(x) \bigl(F(x + q) - F(x)\bigr)^{n - 1} dx
              = \sum_x P(x \le w \le x + q)^n - P(x < w \le x + q)^n

    on the real line and on the grid. Of n, time depends on the logarithm alone: a few thousand nodes, or up to about
    hundred scales of steps.

    Examples
    --------
    Two Laplace variables differ by more than t with probability :math:`e^{-t} (1 + t / 2)`.

    >>> abs(range_cdf(ScoreNoise("laplace", 1.0), 2, 3.0) - (1 - math.exp(-3) * 2.5)) < 1e-13
    True
    """
    n, q = require_whole("n", n, 2, MOST_AT_ONCE), require_at_least_0("q", q)
    within, unit, _ = _measure(law, n)
    return within(math.floor(q / unit) if law.step else q / unit)


def range_quantile(law: ScoreNoise, n: int, level: float) -> float:
    r"""A number that n independent noises differ by at most, all of them, with probability at least `level`.

    Parameters
    ----------
    law : ScoreNoise
    n : int
        From 2 to 10^8.
    level : float
        In (0, 1), at most 1 - 1e-9.

    Returns
    -------
    float
        In the unit of the scores. The least such number, rounded up: by a share of 1e-9 on the real line, not at all on
        the grid; of whole noise of more than 1024 steps a scale perhaps by a step. A few hundredths of a second.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Whole noise w of many steps a scale is bounded by noise g on the line with the same scale, rounded to whole
    numbers. The ratio of their probabilities :math:`P(w = k) / P(k - 1/2 < g < k + 1/2)` falls in :math:`|k|`, for
    either law: :math:`\int_{-1/2}^{1/2} f(k + h) dh / f(k)` rises. So w is nearer to 0 in law, on both sides, and
    :math:`\max w - \min w` is no larger in law than the same of rounded g. To round changes that by less than 1: it is
    at most a whole number q where the range of g is.

    Examples
    --------
    >>> law = ScoreNoise("laplace", 8.0, step=1.0)
    >>> range_quantile(law, 4, 0.95)
    46.0
    >>> range_cdf(law, 4, 45) < 0.95 <= range_cdf(law, 4, 46)
    True
    """
    n, level = require_whole("n", n, 2, MOST_AT_ONCE), require_probability("level", level, most=_MOST)
    within, unit, whole = _measure(law, n)
    return _quantile(within, level, whole, n) * unit


def place_intervals(scores: Array, law: ScoreNoise, level: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Places that every item may have without the noise, all of them right at once with probability `level`.

    Parameters
    ----------
    scores : array_like of float, shape (items,)
        At least two, finite: with noise, up to a common shift; the higher the better.
    law : ScoreNoise
        Of the noise in them.
    level : float
        As in `range_quantile`.

    Returns
    -------
    lowest, highest : ndarray of int, shape (items,)
        Places from 1, the best. An item has every place between that which it has if all items with equal true scores
        come after it and that if they come before it.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(items log items). Scores differ by :math:`D_{ij} = s_i - s_j + w_i - w_j`, with true scores s and noises w. With
    probability at least `level` no two noises differ by more than :math:`q`, the `range_quantile`; then
    :math:`D_{ij} > q` implies :math:`s_i > s_j`, for all pairs at once. So the place of i is at least one more than the
    number of j with :math:`D_{ji} > q`, and the items j with :math:`D_{ij} > q` come after it. If all true scores are
    equal, that is wrong with no more and no less than the probability of a larger range: no smaller :math:`q` will do.
    On a grid, a difference of exactly :math:`q` shows nothing.

    Examples
    --------
    >>> lowest, highest = place_intervals([900, 40, 10, 0], ScoreNoise("laplace", 8.0, step=1.0), 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2, 2], [1, 4, 4, 4])
    """
    scores = as_floats("scores", scores)
    if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores are not a list of at least two finite numbers: that is needed")
    ascending = np.sort(scores)
    # halfway to the next step on a grid; and what floats may have lost of scores and sums
    apart = range_quantile(law, len(scores), level) + law.step / 2
    apart += 4 * math.ulp(apart + float(np.abs(scores).max()))
    ahead = len(scores) - np.searchsorted(ascending, scores + apart, "right")
    behind = np.searchsorted(ascending, scores - apart, "left")
    return 1 + ahead, len(scores) - behind


def _measure(law: ScoreNoise, n: int) -> tuple[Callable[[float], float], float, bool]:
    """Probability that n noises lie within so many units, the unit in that of scores, and whether these are whole."""
    if not law.step:
        return lambda q: _on_the_line(law.noise, n, q), law.scale, False
    if (ratio := law.scale / law.step) > _WIDE:
        return lambda q: _on_the_line(law.noise, n, q / ratio), law.step, True
    chance, below = _steps(law.noise, ratio, n)
    return lambda q: _on_the_grid(chance, below, n, int(q)), law.step, True


def _quantile(within: Callable[[float], float], level: float, whole: bool, n: int) -> float:
    fits = lambda q: within(q) - _SLACK >= level  # noqa: E731
    return least_whole(fits, -1, 1) if whole else least(fits, 2 + 2 * math.log(n), 2.0**-30)


def _on_the_line(noise: Noise, n: int, q: float) -> float:
    """Probability of a range of at most q scales."""
    if q <= 0:
        return 0.0
    reach = math.log(n) + _BEYOND
    reach = reach if noise == "laplace" else math.sqrt(2 * reach)
    # kinks at 0 and -q
    edges = cut(np.unique(np.clip([-reach, -q, 0.0, reach], -reach, reach)), _PANEL[noise])
    x, weight = gauss(edges[:-1], edges[1:], _NODES)
    if noise == "laplace":
        density, outside = np.exp(-np.abs(x)) / 2, _laplace_cdf(x) + _laplace_cdf(-x - q)
    else:
        density, outside = np.exp(-x * x / 2) / math.sqrt(2 * math.pi), ndtr(x) + ndtr(-x - q)
    return float(weight @ (n * density * np.exp((n - 1) * np.log1p(-np.minimum(outside, 1 - 1e-16)))))


def _laplace_cdf(x: Array) -> Array:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def _steps(noise: Noise, scale: float, n: int) -> tuple[Array, Array]:
    """Probability of each whole number, from least to largest, and of all below it."""
    reach = scale * (math.log(n) + _BEYOND) if noise == "laplace" else scale * math.sqrt(2 * (math.log(n) + _BEYOND))
    k = np.arange(-math.ceil(reach) - 1, math.ceil(reach) + 2, dtype=float)
    with np.errstate(over="ignore"):  # of scales next to 0
        if noise == "laplace":
            ratio = math.exp(-1 / scale)
            tail = np.exp(np.where(k <= 0, k - 1, -k) / scale) / (1 + ratio)
            return np.exp(-np.abs(k) / scale) * math.tanh(0.5 / scale), np.where(k <= 0, tail, 1 - tail)
        chance = np.exp(-((k / scale) ** 2) / 2)
    chance /= chance.sum()
    return chance, np.r_[0.0, np.cumsum(chance)[:-1]]


def _on_the_grid(chance: Array, below: Array, n: int, q: int) -> float:
    """Probability of a range of at most q steps."""
    if q < 0:
        return 0.0
    above = np.zeros(len(below))
    above[: max(len(below) - q, 0)] = below[::-1][q:]  # symmetric
    within = np.maximum(1 - (below + above), chance)
    # of all at x or up to q beyond, less that of none at x: without cancellation
    return float(-np.exp(n * np.log(within)) @ np.expm1(n * _log1p(-chance / within)))


def _log1p(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log1p(x)
