r"""The probability that a noisy choice of k items is the right one, whatever the data are, and the gap that it needs.

Let the k-th largest of the true values be at least g above the next. *Of all such data those are the worst of which the
k best are all tied, and the others too, g below.* One pass of noise: the set is right if the least of the k noisy
values is above the largest of the others. With the same noise, that stays so if one of the k is raised or one of
the others lowered; so lower the k to the k-th and raise the others to the next, and then move the two groups
together until g is left. Rounds: given that all winners so far were among the k, the next is so too with a
probability that rises in the values of those of the k that are left, and falls in the others. It is least where all of
them are tied, and there it is a number that depends only on how many are left: the product of these is a lower bound
for all data, and attained.

Whole noise with ties broken at random is noise that is spread evenly over the cell above each of its points.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprank._quadrature import cut, gauss
from dprank._require import require_at_least_0, require_one_of, require_positive, require_probability, require_whole
from dprank._search import least, least_whole
from dprank.data.tallies import MOST_CHOSEN, require_k
from dprank.topk.noise_laws import LAWS, Noise

__all__ = ["gap_needed", "rounds_chance", "set_chance"]

Array = NDArray[np.float64]

#: Probabilities are computed to less than this, and lowered by it.
_SLACK = 1e-11
#: Nats: what all noises together leave beyond the integrals is less than exp(-33).
_BEYOND = 33.0
#: Whole noise of more steps a scale is bounded by noise on the line.
_WIDE = 64.0
#: How much nearer noise on the line may bring two values than whole noise does, in steps.
_NEARER = {"laplace": 1.5, "exponential": 1.0, "gumbel": 0.0}
_NODES = 20


def set_chance(k: int, n_items: int, gap: float, noise: Noise, scale: float, step: float = 0.0) -> float:
    r"""Probability that the k largest of `n_items` noisy values are the k largest, at the worst data with that gap.

    Parameters
    ----------
    k : int
        From 1 to `n_items`.
    n_items : int
        At most 10^8.
    gap : float
        Between the k-th and the next true value, at least 0.
    noise : {"laplace", "gumbel", "exponential"}
    scale : float
        Of the noise, above 0.
    step : float
        Of the grid on which values and noise lie, ties broken at random; 0 for the real line.

    Returns
    -------
    float
        Rounded down. Of whole noise of more than 64 steps a scale a lower bound: as if the gap were a step and a half
        (of exponential noise a step) less.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    With density f and distribution function F the least of the k is at g + x:

    .. math:: k \int f(x) (1 - F(x))^{k - 1} F(x + g)^{m - k} dx .

    Some thousand nodes, whatever k and m; whole noise has as many panels as it has points.

    Examples
    --------
    Of two values the right one wins but with probability :math:`e^{-t} (1 + t / 2) / 2`.

    >>> abs(set_chance(1, 2, 3.0, "laplace", 1.0) - (1 - math.exp(-3) * 2.5 / 2)) < 1e-10
    True
    >>> round(set_chance(2, 5, 0.0, "gumbel", 1.0), 6)  # one of ten sets
    0.1
    """
    n_items = require_whole("n_items", n_items, 1, 10 * MOST_CHOSEN)
    k, gap = require_k(k, n_items), require_at_least_0("gap", gap)
    require_one_of("noise", noise, tuple(LAWS))
    scale, step = require_positive("scale", scale), require_at_least_0("step", step)
    if k == n_items:
        return 1.0
    return max(0.0, min(1.0, _set_chance(k, n_items, gap, noise, scale, step)) - _SLACK)


@lru_cache(maxsize=4096)
def _set_chance(k: int, m: int, gap: float, noise: Noise, scale: float, step: float) -> float:
    if step and scale / step <= _WIDE:
        return _of_cells(k, m, math.ceil(gap / step - 1e-9), noise, scale / step)
    gap = max(0.0, gap - _NEARER[noise] * step) / scale
    x, weight = _line(noise, m, gap)
    law = LAWS[noise]
    with np.errstate(under="ignore"):
        held = law.log_density(x) + (k - 1) * law.log_above(x) + (m - k) * law.log_below(x + gap)
        return float(weight @ (k * np.exp(held)))


def _line(noise: Noise, m: int, gap: float) -> tuple[Array, Array]:
    """Nodes and weights, in scales, between the kinks of noise at 0 and at -gap, finer near to where it begins."""
    far = math.log(m) + _BEYOND
    low = {"laplace": -far, "gumbel": -math.log(far) - 1, "exponential": 0.0}[noise]
    ends = [low, far, *(kink for kink in (0.0, -gap) if low < kink < far)]
    if noise == "exponential":
        ends += [2.0**-i for i in range(1, 40)]
    edges = cut(np.unique(ends), 0.5)
    return gauss(edges[:-1], edges[1:], _NODES)


def _of_cells(k: int, m: int, gap: int, noise: Noise, scale: float) -> float:
    """The same of whole noise, spread evenly over its cells."""
    far = math.ceil(scale * (math.log(m) + _BEYOND)) + 1
    point = np.arange(0 if noise == "exponential" else -far, far + 1)
    ratio = math.exp(-1 / scale)
    if noise == "exponential":
        chance, above = (1 - ratio) * ratio**point, ratio**point  # from the point on
    else:
        chance = math.tanh(0.5 / scale) * ratio ** np.abs(point)
        above = np.where(point > 0, ratio ** np.abs(point), 1 + ratio - ratio ** (1.0 - np.minimum(point, 0))) / (
            1 + ratio
        )
    # where many noises share a cell, finer towards both of its ends
    finer = np.r_[0.0, 2.0 ** -np.arange(30, 1, -1.0), 0.5, 1 - 2.0 ** -np.arange(2.0, 31), 1.0]
    total = 0.0
    for fine in (False, True):
        mine = (m * chance > 4) == fine
        if not mine.any():
            continue
        edges = finer if fine else np.array([0.0, 1.0])
        u, weight = gauss(edges[:-1], edges[1:], _NODES)
        p, over = chance[mine, None], above[mine, None]
        # the others are lower by the gap, in the cell so many points above
        ahead = np.minimum(np.flatnonzero(mine) + gap, len(point) - 1)
        beyond = np.flatnonzero(mine) + gap > len(point) - 1
        rest = np.where(beyond[:, None], 0.0, above[ahead, None] - u * chance[ahead, None])
        with np.errstate(under="ignore", divide="ignore"):
            log_above = np.log(np.maximum(over - u * p, 1e-300))
            held = np.log(p) + (k - 1) * log_above + (m - k) * np.log1p(-np.minimum(rest, 1 - 2.0**-53))
            total += float((k * np.exp(held) @ weight).sum())
    return total


def rounds_chance(k: int, n_items: int, gap: float, noise: Noise, scale: float) -> float:
    r"""Probability that k rounds, each the largest of the noisy values that are left, take the k largest values.

    Parameters
    ----------
    k, n_items, gap, noise, scale
        As of `set_chance`; noise on the line.

    Returns
    -------
    float
        At the worst data with that gap; rounded down.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    A round with a of the k left is right with probability :math:`a \int f(x) F(x)^{a - 1} F(x + g)^{m - k} dx`: some
    thousand nodes for each round, of which Gumbel noise needs none, as k rounds are one pass.

    Examples
    --------
    >>> one = rounds_chance(1, 9, 4.0, "exponential", 1.0)
    >>> abs(one - set_chance(1, 9, 4.0, "exponential", 1.0)) < 1e-10  # one round is one pass
    True
    """
    whole = set_chance(k, n_items, gap, noise, scale)
    if noise == "gumbel" or k == n_items:
        return whole
    gap, rest, law = gap / scale, n_items - k, LAWS[noise]
    x, weight = _line(noise, n_items, gap)
    with np.errstate(under="ignore"):
        below = law.log_below(x)
        ahead = weight * np.exp(law.log_density(x) + rest * law.log_below(x + gap))
        total = 0.0
        for start in range(1, k + 1, 256):
            left = np.arange(start, min(start + 256, k + 1))
            # at 0 exponential noise has no mass below
            rounds = left * (np.exp(np.multiply.outer(left - 1, np.maximum(below, -1e300))) @ ahead)
            total += float(np.log(np.maximum(np.minimum(rounds, 1.0) - _SLACK, 1e-300)).sum())
    return math.exp(total)


def gap_needed(
    chance: float, k: int, n_items: int, noise: Noise, scale: float, step: float = 0.0, rounds: bool = False
) -> float:
    """The least gap at which `set_chance`, or with `rounds` `rounds_chance`, is at least `chance`.

    Parameters
    ----------
    chance : float
        In (0, 1), at most 1 - 1e-9.
    k, n_items, noise, scale, step
        As of `set_chance`.
    rounds : bool

    Returns
    -------
    float
        Rounded up by a share of 1e-9 at most, or to the grid.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> gap_needed(0.95, 3, 20, "laplace", 4.0, step=1.0)
    29.0
    """
    chance = require_probability("chance", chance, most=1 - 1e-9)
    at = lambda gap: (  # noqa: E731
        rounds_chance(k, n_items, gap, noise, scale) if rounds else set_chance(k, n_items, gap, noise, scale, step)
    )
    if at(0.0) >= chance:
        return 0.0
    if step:
        return least_whole(lambda q: at(max(q, 0) * step) >= chance, 0, max(1, round(scale / step))) * step
    return least(lambda gap: at(gap) >= chance, scale, 2.0**-30)
