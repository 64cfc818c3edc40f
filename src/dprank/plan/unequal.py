"""What a ranking becomes where some items are asked about more often: of counts, and of a likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank.plan.laws import pairs_of

__all__ = ["POPULAR", "counted_right", "counted_wrong", "fitted_right", "fitted_wrong"]

Array = NDArray[np.float64]
_SEED = 20260105
#: How much more often half of the items are asked for.
POPULAR = 4.0
#: Items of all the halves that are tried, of few items; of those that are looked at closely; items of which all are.
_TRIED, _CLOSELY, _FEW = 40, 600, 8


class _Asked(NamedTuple):
    """Chance of every pair to be the one that is asked, and by how much one wins it, shape (items, items)."""

    chance: Array
    lead: Array


@lru_cache(maxsize=64)
def asked(n_items: int, gap: float, half: int) -> _Asked:
    """Some half of the items, from a fixed seed, are asked for `POPULAR` times as often as the others.

    Examples
    --------
    >>> chance, lead = asked(4, 0.5, 0)
    >>> round(float(chance.sum()), 9), round(float(lead[0, 1]), 9)
    (2.0, 0.5)
    """
    return _asked(n_items, gap, np.random.default_rng([_SEED, n_items, half]).permutation(n_items)[::2])


def _asked(n_items: int, gap: float, popular: Sequence[int] | NDArray[np.int64]) -> _Asked:
    weight = np.ones(n_items)
    weight[np.asarray(popular)] = POPULAR
    chance = np.outer(weight, weight)
    np.fill_diagonal(chance, 0.0)
    item = np.arange(n_items)
    return _Asked(2 * chance / chance.sum(), np.tanh((item - item[:, None]) * math.atanh(gap)))


@lru_cache(maxsize=4)
def _halves(n_items: int, gap: float, closely: bool) -> tuple[_Asked, ...]:
    """Some; to look closely all, of few items, and more of others."""
    if closely and n_items <= _FEW:
        every = combinations(range(n_items), (n_items + 1) // 2)
        return tuple(_asked(n_items, gap, popular) for popular in every)
    tried = _CLOSELY if closely else _TRIED
    return tuple(asked(n_items, gap, half) for half in range(max(1, tried // n_items)))


def counted_right(
    n_items: int,
    gap: float,
    score: str,
    answers: float,
    right: Callable[[Array, Array], Array],
    closely: bool = True,
) -> Array:
    """Chance of every pair of `pairs_of` that counts put it in its order, of answers that are drawn one by one.

    Parameters
    ----------
    score : {"net", "half", "wins"}
    answers : float
        All together.
    right : callable
        Of mean and variance of the differences of the pairs of `pairs_of` the chances to be right, with noise.
    closely : bool
        Whether all halves are tried that may be popular, of few items, or some.

    Examples
    --------
    >>> from dprank.plan.laws import pair_right
    >>> counted_right(3, 0.2, "net", 1e6, pair_right).round(2).tolist()
    [0.67, 1.0, 0.67]
    """
    i, j, _ = pairs_of(n_items)
    leads, variances = [], []
    for chance, lead in _halves(n_items, gap, closely):
        if score == "net":
            mean, square, own = (chance * lead).sum(axis=1), chance.sum(axis=1), 2 * chance
        else:
            mean = square = (chance * (1 + lead) / 2).sum(axis=1)
            own = np.zeros_like(chance)
        apart = mean[i] - mean[j]
        leads.append(apart)
        variances.append(square[i] + square[j] + own[i, j] - apart**2)
    found = right(answers * np.concatenate(leads), answers * np.concatenate(variances))
    return np.asarray(found.reshape(len(leads), -1).mean(axis=0))


def counted_wrong(
    n_items: int, gap: float, score: str, answers: float, right: Callable[[Array, Array], Array]
) -> float:
    """Share of pairs in the wrong order, as of `counted_right` where some halves are tried.

    Examples
    --------
    >>> from dprank.plan.laws import pair_right
    >>> [round(counted_wrong(5, 0.2, score, 1e6, pair_right), 2) for score in ("net", "wins")]
    [0.05, 0.34]
    """
    return float((1 - counted_right(n_items, gap, score, answers, right, closely=False)) @ pairs_of(n_items).weight)


def fitted_right(
    n_items: int, gap: float, answers: float, deviation: float, ridge: float = 1.0, closely: bool = True
) -> Array:
    r"""Chance of every pair of `pairs_of` that fitted strengths put it in its order, with noise in every count of wins.

    Parameters
    ----------
    answers : float
        All together.
    deviation : float
        Of the noise.
    ridge : float
    closely : bool
        As of `counted_right`.

    Notes
    -----
    With F the information of the answers and H = F + ridge, strengths are about normal, of mean :math:`H^{-1} F \theta`
    and covariance :math:`H^{-1} (F + \sigma^2) H^{-1}`: where noise is large that is too much by up to a third.
    O(items^3).

    Examples
    --------
    >>> fitted_right(3, 0.2, 100, 4.0).round(2).tolist()
    [0.82, 0.94, 0.82]
    """
    i, j, _ = pairs_of(n_items)
    strength = -2 * math.atanh(gap) * np.arange(n_items)
    found = []
    for chance, lead in _halves(n_items, gap, closely):
        weight = answers * chance * (1 - lead**2) / 4
        information = np.diag(weight.sum(axis=1)) - weight
        inverse = np.linalg.inv(information + ridge * np.eye(n_items))
        spread = inverse @ (information + deviation**2 * np.eye(n_items)) @ inverse
        mean = inverse @ information @ strength
        wide = np.sqrt(spread[i, i] + spread[j, j] - 2 * spread[i, j])
        found.append(scipy.special.ndtr((mean[i] - mean[j]) / wide))
    return np.asarray(np.mean(found, axis=0))


def fitted_wrong(n_items: int, gap: float, answers: float, deviation: float, ridge: float = 1.0) -> float:
    """Share of pairs in the wrong order, as of `fitted_right` where some halves are tried.

    Examples
    --------
    >>> [round(fitted_wrong(5, 0.2, answers, 4.0), 2) for answers in (100, 1000, 10_000)]
    [0.21, 0.01, 0.0]
    """
    right = fitted_right(n_items, gap, answers, deviation, ridge, closely=False)
    return float((1 - right) @ pairs_of(n_items).weight)
