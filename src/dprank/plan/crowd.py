"""Whose ballots a plan supposes: a Mallows law, or two camps of it; all items ranked, or the first ones alone."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank.models.mallows import Mallows
from dprank.plan.laws import pairs_of
from dprank.plan.setting import CAMP, Setting

__all__ = [
    "Crowd",
    "ballots",
    "crowd_of",
    "in_camps",
    "mallows_places",
    "margins",
    "middles",
    "misplaced",
    "mixed",
    "scored",
]

Array = NDArray[np.float64]
_SEED = 20260102
#: Polls that are simulated where no closed form is known.
POLLS = 600
#: Entries of simulated ballots, and most ballots: more where their mean has no closed form.
_ENTRIES, _MOST, _LONGER = 100_000, 3000, 8


class Crowd(NamedTuple):
    """People who rank items.

    Parameters
    ----------
    n_items : int
    phi : float
        Spread of the Mallows law.
    camps : float
        Share of those who have the right order in mind; the others have it with its halves exchanged.
    named : int
        How many places a ballot names: the first ones.
    last : bool
        Whether the others are tied behind these, or compared with none.
    """

    n_items: int
    phi: float
    camps: float
    named: int
    last: bool = False

    @property
    def cut(self) -> bool:
        """Whether ballots leave items out."""
        return self.named < self.n_items

    @property
    def law(self) -> Mallows:
        """Of each camp."""
        return Mallows(self.n_items, -math.log(self.phi))

    @property
    def other(self) -> NDArray[np.int64]:
        """Place of every item in the order of the other camp."""
        return (np.arange(self.n_items) + self.n_items // 2) % self.n_items


def in_camps(one: Any) -> Any:
    """A choice where there are two camps; None where somebody said whether there are.

    Examples
    --------
    >>> from dprank.plan.consensus import candidates
    >>> in_camps(candidates(Setting("consensus", 5, 100, 1.0))[0]).setting.camps
    0.6
    """
    setting = one.setting
    return None if setting.camps is not None else replace(one, setting=replace(setting, camps=CAMP))


def crowd_of(setting: Setting) -> Crowd:
    """Whom a setting supposes.

    Examples
    --------
    >>> crowd_of(Setting("consensus", 5, 100, 1.0, named=3)).cut
    True
    """
    last = setting.unranked == "last"
    return Crowd(setting.n_items, setting.phi, setting.camps or 1.0, setting.named or setting.n_items, last)


@lru_cache(maxsize=4)
def mallows_places(n_items: int, phi: float, number: int = 0) -> NDArray[np.int64]:
    """Ballots of the Mallows law from a fixed seed, shape (ballots, items): places, 0 for the best.

    Repeated insertion; O(ballots * items^2).

    Examples
    --------
    >>> mallows_places(3, 1e-9)[0].tolist()
    [0, 1, 2]
    """
    rng = np.random.default_rng([_SEED, n_items])
    number = number or max(250, min(_MOST, _ENTRIES // n_items))
    places = np.zeros((n_items, number), np.int16 if n_items < 2**15 else np.int64)
    theta = -math.log(phi)
    for item in range(n_items):
        # how many of the items before it an item gets ahead of
        uniform = rng.random(number)
        ahead = np.floor(-np.log1p(uniform * math.expm1(-theta * (item + 1))) / theta).astype(np.int64)
        place = (item - ahead.clip(0, item)).astype(places.dtype)
        before = places[:item]
        before += before >= place
        places[item] = place
    return places.T.astype(np.int64)


@lru_cache(maxsize=4)
def ballots(crowd: Crowd) -> NDArray[np.int64]:
    """Simulated ballots, shape (ballots, items): places; items that are left out have -1, or a last place together.

    Examples
    --------
    >>> ballots(Crowd(4, 1e-9, 0.5, 2))[[0, -1]].tolist()
    [[0, 1, -1, -1], [-1, -1, 0, 1]]
    >>> ballots(Crowd(4, 1e-9, 0.5, 2, last=True))[[0, -1]].tolist()
    [[0, 1, 2, 2], [2, 2, 0, 1]]
    """
    number = max(1000, min(_LONGER * _MOST, _LONGER * _ENTRIES // crowd.n_items)) if crowd.cut else 0
    places = mallows_places(crowd.n_items, crowd.phi, number)
    first = round(crowd.camps * len(places))
    places = np.concatenate([places[:first], places[first:][:, crowd.other]])
    return np.where(places < crowd.named, places, crowd.named if crowd.last else -1)


@lru_cache(maxsize=4)
def middles(crowd: Crowd) -> Array:
    """Places on the simulated ballots about their middle, of ties their mean; 0 for an item that is compared with none.

    Examples
    --------
    >>> middles(Crowd(4, 1e-9, 1.0, 2))[0].tolist()
    [-0.5, 0.5, 0.0, 0.0]
    >>> middles(Crowd(4, 1e-9, 1.0, 2, last=True))[0].tolist()
    [-1.5, -0.5, 1.0, 1.0]
    """
    places = ballots(crowd)
    if crowd.last:
        return np.where(places < crowd.named, places - (crowd.n_items - 1) / 2, crowd.named / 2)
    return np.where(places < 0, 0.0, places - (crowd.named - 1) / 2)


class _Scored(NamedTuple):
    """Mean of every item's place, variance of the differences of the pairs of `pairs_of`; ballots less their mean."""

    mean: Array
    variance: Array
    centred: Array


@lru_cache(maxsize=4)
def scored(crowd: Crowd) -> _Scored:
    """What a ballot adds to sums of places about their middle.

    Examples
    --------
    >>> scored(Crowd(3, 1e-9, 0.75, 3)).mean.round(6).tolist()
    [-0.75, 0.25, 0.5]
    """
    each = middles(crowd)
    mean = each.mean(axis=0)
    centred = each - mean
    i, j, _ = pairs_of(crowd.n_items)
    if not crowd.cut:
        lag = crowd.law.before(np.arange(1, crowd.n_items))
        behind, ahead = np.r_[0.0, np.cumsum(1 - lag)], np.r_[0.0, np.cumsum(lag)]
        item = np.arange(crowd.n_items)
        place = ahead[item] + behind[crowd.n_items - 1 - item] - (crowd.n_items - 1) / 2
        mean = crowd.camps * place + (1 - crowd.camps) * place[crowd.other]
    # of whole numbers, so that every processor adds up alike: twice the places about their middle
    twice = 2 * each
    products, sums, many = twice.T @ twice, twice.sum(axis=0), len(each)
    squares = np.diag(products)[j] + np.diag(products)[i] - 2 * products[i, j]
    return _Scored(mean, (many * squares - (sums[j] - sums[i]) ** 2) / (2 * many) ** 2, centred)


def misplaced(crowd: Crowd) -> float:
    """Share of pairs that sums of places put the other way round, without noise, however many people there are.

    Who leaves out what is not among their first items says nothing of it where such an item is compared with no other:
    one that is often named last of all then loses to one that nobody names.

    Examples
    --------
    >>> [round(misplaced(Crowd(12, 0.8, 1.0, 4, last)), 1) for last in (False, True)]
    [0.2, 0.0]
    """
    mean, (better, worse, share) = scored(crowd).mean, pairs_of(crowd.n_items)
    return float((mean[better] > mean[worse] + 1e-9) @ share)


def mixed(each: Array, draws: int) -> Array:
    """Sums over very many persons of what ballots say, as normal variables of its covariances: shape (draws, columns).

    Parameters
    ----------
    each : ndarray of float, shape (ballots, columns)
        Centred; 800 of them count. The result is for one person, and grows with the root of their number.
    draws : int

    Examples
    --------
    >>> mixed(np.array([[1.0, -1.0], [-1.0, 1.0]]), 3).sum(axis=1).tolist()
    [0.0, 0.0, 0.0]
    """
    some = each[:: max(1, len(each) // 800)][:800]
    return np.asarray(_normal(draws, len(some)) @ some / math.sqrt(len(some)))


@lru_cache(maxsize=4)
def _normal(draws: int, number: int) -> Array:
    return np.random.default_rng([_SEED, draws, number]).standard_normal((draws, number))


@lru_cache(maxsize=4)
def _signs(crowd: Crowd) -> tuple[Array, Array]:
    """Of every pair, how much more often its first is put first, and what a person of many polls adds to that."""
    places = ballots(crowd)
    i, j = np.triu_indices(crowd.n_items, 1)
    if crowd.cut:
        places = places[:: max(1, len(places) * len(i) // 20_000_000)]
        drift = _leads(places) / np.float32(len(places))
        mean = np.asarray(drift, float)
    else:
        lag, other = j - i, crowd.other[j] - crowd.other[i]
        mean = crowd.camps * crowd.law.bias(lag) + (1 - crowd.camps) * crowd.law.bias(other)
    some = places[:: max(1, len(places) // 800)][:800]
    signs = np.sign(some[:, j] - some[:, i]).astype(np.float32)
    if crowd.cut:
        signs[(some[:, i] < 0) | (some[:, j] < 0)] = 0
    else:
        drift = signs.mean(axis=0)
    return mean, mixed(signs - drift, POLLS)


def _leads(places: NDArray[np.int64]) -> NDArray[np.float32]:
    """By how many ballots more than the other way round the first of every pair is put before the second."""
    by_item, leads = np.ascontiguousarray(places.T, np.int16), []
    for item, first in enumerate(by_item[:-1]):
        others = by_item[item + 1 :]
        ahead = np.count_nonzero((others > first) & (first >= 0), axis=1)
        leads.append(ahead - np.count_nonzero((others < first) & (others >= 0), axis=1))
    return np.concatenate(leads).astype(np.float32)


def margins(crowd: Crowd, persons: int) -> Array:
    """How many more put the first of a pair first than last, of ballots of many polls, shape (draws, pairs).

    Examples
    --------
    >>> margins(Crowd(3, 1e-9, 1.0, 3), 50)[0].round(6).tolist()
    [50.0, 50.0, 50.0]
    """
    mean, each = _signs(crowd)
    return np.asarray(persons * mean + math.sqrt(persons) * each)
