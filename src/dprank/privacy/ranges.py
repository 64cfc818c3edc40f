"""How far apart independent noises lie, and which places of items that leaves open.

A released score is a true score plus noise whose law is public, so what the noise may have done to the order is known
without another look at the data: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._quadrature import beyond, cut, gauss
from dprank._require import (
    MOST_AT_ONCE,
    as_floats,
    as_list,
    require_at_least_0,
    require_loss,
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
_WIDE = 256.0
#: Blocks of items that are told apart: more are joined again where the gaps are least, or it would take too long.
_BLOCKS = 16
#: Nats: what all noises together leave beyond the sums and integrals is less than exp(-33).
_BEYOND = 33.0
#: As good as infinitely far, in scales or steps.
_FARTHEST = 2.0**62
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


def range_cdf(law: ScoreNoise, n: int | Sequence[int], q: float) -> float:
    r"""Probability that n independent noises all lie within q of each other.

    Parameters
    ----------
    law : ScoreNoise
    n : int or sequence of int
        From 2 to 10^8; or numbers of noises in blocks, of which a noise may exceed those in later blocks by any amount.
    q : float
        At least 0, in the unit of the scores.

    Returns
    -------
    float
        To about 1e-13. Of whole noise of more than 256 steps a scale a lower bound, see `range_quantile`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    The least of the noises is at x and the others are within :math:`[x, x + q]`:

    .. math:: P(R \le q) = n \int f(x) \bigl(F(x + q) - F(x)\bigr)^{n - 1} dx
              = \sum_x P(x \le w \le x + q)^n - P(x < w \le x + q)^n

    on the real line and on the grid. Of blocks, let :math:`g_b(x)` be the probability (density) that all is well with
    the first b and the least noise in them is x, and :math:`W(x) = P(x \le w \le x + q)`. The next block, of n noises,
    has to stay within q above x, and within q above its own least, which may be less:

    .. math:: g_{b + 1}(x) = g_b(x) W(x)^n + \Bigl(\sum_{y > x} g_b(y)\Bigr) h_n(x),

    where :math:`h_n` is what is summed or integrated above. Of n, time depends on the logarithm alone: a few thousand
    nodes, or up to about a hundred scales of steps, for each block.

    Examples
    --------
    Two Laplace variables differ by more than t with probability :math:`e^{-t} (1 + t / 2)`, and the first is above the
    second by that with half of it.

    >>> law = ScoreNoise("laplace", 1.0)
    >>> abs(range_cdf(law, 2, 3.0) - (1 - math.exp(-3) * 2.5)) < 1e-13
    True
    >>> abs(range_cdf(law, [1, 1], 3.0) - (1 - math.exp(-3) * 2.5 / 2)) < 1e-13
    True
    """
    sizes, q = _require_sizes(n), require_loss("q", q)
    unit = law.step or law.scale
    q = min(q / unit, _FARTHEST)
    return _within(law, sizes)(math.floor(q) if law.step else q)


def range_quantile(law: ScoreNoise, n: int | Sequence[int], level: float) -> float:
    r"""A number that n independent noises differ by at most, all of them, with probability at least `level`.

    Parameters
    ----------
    law : ScoreNoise
    n : int or sequence of int
        As in `range_cdf`.
    level : float
        In (0, 1), at most 1 - 1e-9.

    Returns
    -------
    float
        In the unit of the scores. The least such number, rounded up: by a share of 1e-9 on the real line, not at all on
        the grid; of whole noise of more than 256 steps a scale by a step or two. Some milliseconds for each block.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Whole noise w of many steps a scale is a function of noise g of the same scale on the line: let :math:`w \ge x`
    where :math:`g \ge c_x`, for x = 1, 2, …, and :math:`-w \ge x` where :math:`-g \ge c_x`. Then
    :math:`x - 1/2 \le c_x \le x`. The first since :math:`P(w = k) / P(|g - k| < 1/2)` falls in :math:`|k|`, of either
    law, so that w is nearer to 0 than rounded g; the second since densities fall, so that the sum of those from x on is
    more than the integral. So :math:`w_i - w_j = k` needs :math:`g_i - g_j > k - 3/2`: differences of w are at most a
    whole number q where those of g are at most :math:`q - 1/2`.

    Examples
    --------
    >>> law = ScoreNoise("laplace", 8.0, step=1.0)
    >>> range_quantile(law, 4, 0.95)
    46.0
    >>> range_cdf(law, 4, 45) < 0.95 <= range_cdf(law, 4, 46)
    True
    """
    return _quantile(law, _require_sizes(n), require_probability("level", level, most=_MOST))


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
    O(items log items), and `range_quantile`. Scores differ by :math:`D_{ij} = s_i - s_j + w_i - w_j`, with true
    scores s and noises w. With probability at least `level` no two noises differ by more than :math:`q`, the
    `range_quantile`; then :math:`D_{ij} > q` implies :math:`s_i > s_j`, for all pairs at once. So the place of i is
    at least one more than the number of j with :math:`D_{ji} > q`, and the items j with :math:`D_{ij} > q` come
    after it. If all true scores are equal, that is wrong with the very probability of a larger range: no smaller
    :math:`q` will do. On a grid, a difference of exactly :math:`q` shows nothing.

    Then it goes on, step by step. Where neighbouring scores are more than :math:`q` apart, the items fall into blocks,
    between which all pairs are told apart, and :math:`q` becomes the quantile of the largest :math:`w_i - w_j` of all
    other pairs: i in the same block as j or in a worse one. That stays right (Romano and Wolf 2005, "Exact and
    approximate stepdown methods", of ranks Mogstad, Romano, Shaikh and Wilhelm 2024). Let I be the pairs with
    :math:`s_i \le s_j`, and c the quantile of :math:`\max_I w_i - w_j`. With probability `level` that is at most c, and
    all :math:`D_{ij}` of I are so too. Then nothing wrong is ever told: as long as nothing was, the pairs that
    :math:`q` speaks of have all of I among them, so that :math:`q \ge c`, and no pair of I is told apart next.

    Examples
    --------
    >>> lowest, highest = place_intervals([900, 40, 10, 0], ScoreNoise("laplace", 8.0, step=1.0), 0.95)
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 2, 2], [1, 4, 4, 4])
    """
    scores = as_floats("scores", scores)
    if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores are not a list of at least two finite numbers: that is needed")
    ascending, largest = np.sort(scores), float(np.abs(scores).max())
    with np.errstate(over="ignore"):
        gaps = np.diff(ascending)[::-1]
        sizes: tuple[int, ...] = ()
        found: tuple[int, ...] = (len(scores),)
        while len(found) > len(sizes) and (not sizes or max(found) > 1):
            sizes = found
            # halfway to the next step on a grid; and what floats may have lost of scores and sums
            apart = range_quantile(law, sizes, level) + law.step / 2
            apart += 4 * math.ulp(apart + largest)
            found = _blocks(gaps, apart)
        ahead = len(scores) - np.searchsorted(ascending, scores + apart, "right")
        behind = np.searchsorted(ascending, scores - apart, "left")
    return 1 + ahead, len(scores) - behind


def _blocks(gaps: Array, apart: float) -> tuple[int, ...]:
    """Sizes of the blocks of items between which gaps are wider than that, at most as many as are gone through."""
    cuts = np.flatnonzero(gaps > apart)
    cuts = np.sort(cuts[np.argsort(-gaps[cuts], kind="stable")][: _BLOCKS - 1])
    return tuple(int(size) for size in np.diff(np.r_[0, cuts + 1, len(gaps) + 1]))


def _require_sizes(n: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(n, int | np.integer):
        return (require_whole("n", n, 2, MOST_AT_ONCE),)
    sizes = tuple(require_whole("n", size, 1, MOST_AT_ONCE) for size in as_list("n", n, "an integer is needed"))
    require_whole("sum of n", sum(sizes), 2, MOST_AT_ONCE)
    return sizes


@lru_cache(maxsize=256)
def _quantile(law: ScoreNoise, sizes: tuple[int, ...], level: float) -> float:
    within = _within(law, sizes)
    fits = lambda q: within(q) - _SLACK >= level  # noqa: E731
    if law.step:
        return least_whole(fits, -1, 1) * law.step
    return least(fits, 2 + 2 * math.log(sum(sizes)), 2.0**-30) * law.scale


def _within(law: ScoreNoise, sizes: tuple[int, ...]) -> Callable[[float], float]:
    """Probability that noises are within q of each other, of q in steps or scales."""
    if not law.step:
        return lambda q: _on_the_line(law.noise, sizes, q)
    if (ratio := law.scale / law.step) > _WIDE:
        return lambda q: _on_the_line(law.noise, sizes, (q - 0.5) / ratio)
    chance, below = _steps(law.noise, ratio, _reach(law.noise, sizes))
    return lambda q: _on_the_grid(chance, below, sizes, int(q))


def _reach(noise: Noise, sizes: tuple[int, ...]) -> float:
    """Scales that one of so many noises leaves with probability exp(-33) at most."""
    nats = math.log(sum(sizes)) + _BEYOND
    return nats if noise == "laplace" else math.sqrt(2 * nats)


def _on_the_line(noise: Noise, sizes: tuple[int, ...], q: float) -> float:
    """Probability of a range of at most q scales."""
    if q <= 0:
        return 0.0
    reach = _reach(noise, sizes)
    # kinks at 0 and -q
    edges = cut(np.unique(np.clip([-reach, -q, 0.0, reach], -reach, reach)), _PANEL[noise])
    panels = edges[:-1], edges[1:], _NODES
    x, weight = gauss(*panels)
    if noise == "laplace":
        density, outside = np.exp(-np.abs(x)) / 2, _laplace_cdf(x) + _laplace_cdf(-x - q)
    else:
        density, outside = (
            np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
            scipy.special.ndtr(x) + scipy.special.ndtr(-x - q),
        )
    # at most rounding is left of what floats cannot tell from 0
    log_inside = np.log1p(-np.minimum(outside, 1 - 2.0**-53))
    least_at = lambda n: n * density * np.exp((n - 1) * log_inside)  # noqa: E731
    return float(weight @ _chained(sizes, log_inside, least_at, lambda held: beyond(held, *panels)))


def _laplace_cdf(x: Array) -> Array:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def _steps(noise: Noise, scale: float, reach: float) -> tuple[Array, Array]:
    """Probability of each whole number, from least to largest, and of all below it."""
    end = math.ceil(scale * reach) + 1
    k = np.arange(-end, end + 1, dtype=float)
    with np.errstate(over="ignore"):  # of scales next to 0
        if noise == "laplace":
            tail = np.exp(np.where(k <= 0, k - 1, -k) / scale) / (1 + np.exp(-1 / scale))
            return np.exp(-np.abs(k) / scale) * math.tanh(0.5 / scale), np.where(k <= 0, tail, 1 - tail)
        chance = np.exp(-((k / scale) ** 2) / 2)
    chance /= chance.sum()
    return chance, np.r_[0.0, np.cumsum(chance)[:-1]]


def _on_the_grid(chance: Array, below: Array, sizes: tuple[int, ...], q: int) -> float:
    """Probability of a range of at most q steps."""
    if q < 0:
        return 0.0
    above = np.zeros(len(below))
    above[: max(len(below) - q, 0)] = below[::-1][q:]  # symmetric
    # at most rounding is left of what floats cannot tell from 0
    outside = np.minimum(below + above, np.minimum(1 - chance, 1 - 2.0**-53))
    log_inside = np.log1p(-outside)
    with np.errstate(divide="ignore"):
        log_rest = np.log1p(-np.minimum(chance / (1 - outside), 1))
    # of all at x or up to q beyond, less that of none at x: without cancellation
    least_at = lambda n: -np.exp(n * log_inside) * np.expm1(n * log_rest)  # noqa: E731
    return float(_chained(sizes, log_inside, least_at, lambda held: np.cumsum(held[::-1])[::-1] - held).sum())


def _chained(
    sizes: tuple[int, ...],
    log_inside: Array,
    least_at: Callable[[int], Array],
    beyond: Callable[[Array], Array],
) -> Array:
    """At every node, probability (density) that it is the least of all noises, and that none is too far above."""
    held = least_at(sizes[0])
    for n in sizes[1:]:
        held = held * np.exp(n * log_inside) + beyond(held) * least_at(n)
    return held
