"""Choices for one order from many ballots: a Mallows law whose neighbours lead by a gap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dprank.models.mallows import Mallows
from dprank.plan.laws import Noise, pair_right, pairs_of, summed_up, told_apart
from dprank.plan.ranking import middle
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting
from dprank.plan.tags import choosable

__all__ = ["Ordering", "Placing", "candidates", "mallows_places", "mixed"]

Array = NDArray[np.float64]

#: Items up to which all orders are listed, KwikSort is simulated, and reports about pairs are.
LISTED, SORTED, REPORTED = 7, 20, 20
_SEED = 20260102
#: Releases that are simulated where no closed form is known.
_DRAWS = 600


@lru_cache(maxsize=4)
def mallows_places(n_items: int, phi: float) -> NDArray[np.int64]:
    """Ballots of the Mallows law from a fixed seed, shape (ballots, items): places, 0 for the best.

    Repeated insertion; O(ballots * items^2).

    Examples
    --------
    >>> mallows_places(3, 1e-9)[0].tolist()
    [0, 1, 2]
    """
    rng = np.random.default_rng([_SEED, n_items])
    ballots = max(250, min(3000, 100_000 // n_items))
    places = np.zeros((n_items, ballots), np.int16 if n_items < 2**15 else np.int64)
    theta = -math.log(phi)
    for item in range(n_items):
        # how many of the items before it an item gets ahead of
        uniform = rng.random(ballots)
        ahead = np.floor(-np.log1p(uniform * math.expm1(-theta * (item + 1))) / theta).astype(np.int64)
        place = (item - ahead.clip(0, item)).astype(places.dtype)
        before = places[:item]
        before += before >= place
        places[item] = place
    return places.T.astype(np.int64)


@lru_cache(maxsize=4)
def _law(n_items: int, phi: float) -> tuple[Array, Array, Array]:
    """Mean place of every item, and of pairs the variance of the difference of places; ballots less their mean."""
    lag = Mallows(n_items, -math.log(phi)).before(np.arange(1, n_items))
    behind = np.r_[0.0, np.cumsum(1 - lag)]
    ahead = np.r_[0.0, np.cumsum(lag)]
    item = np.arange(n_items)
    mean = ahead[item] + behind[n_items - 1 - item]
    ballots = mallows_places(n_items, phi).astype(float)
    ballots -= ballots.mean(axis=0)
    i, j, _ = pairs_of(n_items)
    return mean, np.var(ballots[:, j] - ballots[:, i], axis=0), ballots


def mixed(ballots: Array, draws: int) -> Array:
    """Sums over very many persons of what ballots say, as normal variables of its covariances: shape (draws, columns).

    Parameters
    ----------
    ballots : ndarray of float, shape (ballots, columns)
        Centred; the first 800 count. The result is for one person, and grows with the root of their number.
    draws : int

    Examples
    --------
    >>> mixed(np.array([[1.0, -1.0], [-1.0, 1.0]]), 3).sum(axis=1).tolist()
    [0.0, 0.0, 0.0]
    """
    some = ballots[:800]
    rng = np.random.default_rng([_SEED, draws, len(some)])
    return np.asarray(rng.standard_normal((draws, len(some))) @ some / math.sqrt(len(some)))


@lru_cache(maxsize=4)
def _sampled(n_items: int, phi: float, draws: int) -> Array:
    return mixed(_law(n_items, phi)[2], draws)


@lru_cache(maxsize=8)
def _noise(noise: Noise, rows: int, columns: int) -> Array:
    rng = np.random.default_rng([_SEED, rows, columns, len(noise)])
    return rng.laplace(0, 1, (rows, columns)) if noise == "laplace" else rng.standard_normal((rows, columns))


@dataclass(frozen=True)
class Placing(Candidate):
    """Sums of places, each off by noise: Borda's count, central or local, or of a noisy matrix.

    Parameters
    ----------
    factor : float
        Noise on a sum of places, in scales of the mechanism.
    local : bool
        Whether every person adds noise.

    Examples
    --------
    >>> one = candidates(Setting("consensus", 5, 300, 1.0))[0]
    >>> one.mechanism, round(one.measured(one.drawn(1.0)).pair_right, 2)
    ('PrivateBorda', 0.91)
    """

    factor: float = 1.0
    local: bool = False

    def drawn(self, epsilon: float) -> Drawn:
        made = self.made(epsilon)
        if self.mechanism == "LocalBorda":
            m = self.setting.n_items
            return Drawn("gaussian", math.sqrt(made.randomiser.variance * m / (m - 1)))
        if self.mechanism == "LocalMatrix":
            return Drawn("gaussian", self._reported(made))
        if self.mechanism == "NoisyMatrix":
            m = self.setting.n_items
            return Drawn("gaussian", made.scale * math.sqrt((2 if made.noise == "laplace" else 1) * m))
        return Drawn(made.noise, made.scale)

    def _reported(self, made: Any) -> float:
        """What the report of a person adds to a sum of places, from simulated reports."""
        rng, m, each = np.random.default_rng(_SEED), self.setting.n_items, 25
        ballots = mallows_places(m, self.setting.phi)
        ballots = ballots[: min(len(ballots), 1500) // each * each].reshape(-1, each, m)
        signs = np.array([made.randomiser.estimate(made.randomiser.report(block, rng)) for block in ballots])
        margins = np.zeros((len(ballots), m, m))
        margins[:, *np.triu_indices(m, 1)] = signs
        places = (margins.sum(axis=1) - margins.sum(axis=2)) / 2
        return math.sqrt(each * float(np.var(places - ballots.mean(axis=1), axis=0).mean()) * m / (m - 1))

    def _scale(self, drawn: Drawn, persons: int) -> float:
        return drawn.scale * (math.sqrt(persons) if self.local else 1.0)

    def _right(self, drawn: Drawn, persons: int) -> Array:
        mean, variance, _ = _law(self.setting.n_items, self.setting.phi)
        i, j, _ = pairs_of(self.setting.n_items)
        scale = self._scale(drawn, persons)
        return pair_right(persons * (mean[j] - mean[i]), persons * variance, drawn.noise, scale)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        return float(self._right(drawn, persons)[middle(self.setting.n_items)])

    def measured(self, drawn: Drawn) -> Measured:
        setting = self.setting
        weight, persons = pairs_of(setting.n_items).weight, setting.persons
        bare = float((1 - self._right(NONE, persons)) @ weight)
        mean = _law(setting.n_items, setting.phi)[0]
        scale, rows = self._scale(drawn, persons), max(200, min(2000, 100_000 // setting.n_items))
        sums = persons * mean + math.sqrt(persons) * _sampled(setting.n_items, setting.phi, rows)
        every = summed_up(-sums - scale * _noise(drawn.noise, rows, setting.n_items), setting.k)
        step = 0.0 if self.local or self.mechanism == "NoisyMatrix" else 1.0
        apart = told_apart(drawn.noise, scale, setting.n_items, step)
        right = self._right(drawn, persons)
        return Measured(
            float((1 - right) @ weight),
            bare,
            bare,
            apart,
            0.5 + apart / (2 * persons),
            self.accuracy(drawn, persons),
            *every,
        )


@lru_cache(maxsize=2)
def _orders(n_items: int) -> tuple[Array, Array]:
    """Places of all orders, and of every pair (column) whether the order (row) turns it round, as 1, or not, as 0."""
    places = np.argsort(np.array(list(permutations(range(n_items)))), axis=1)
    i, j = np.triu_indices(n_items, 1)
    return places.astype(float), (places[:, i] > places[:, j]).astype(float)


@lru_cache(maxsize=4)
def _signs(n_items: int, phi: float) -> tuple[Array, Array]:
    """Of every pair, how much more often its first is put first, and what a person of many polls adds to that."""
    places = mallows_places(n_items, phi)
    i, j = np.triu_indices(n_items, 1)
    signs = np.sign(places[:, j] - places[:, i]).astype(float)
    return Mallows(n_items, -math.log(phi)).bias(j - i), mixed(signs - signs.mean(axis=0), _DRAWS)


def _margins(n_items: int, phi: float, persons: int) -> Array:
    """How many more put the first of a pair first than last, of ballots of many polls, shape (draws, pairs)."""
    mean, each = _signs(n_items, phi)
    return np.asarray(persons * mean + math.sqrt(persons) * each)


@dataclass(frozen=True)
class Ordering(Candidate):
    """Orders of pairs that no closed form gives, simulated from a fixed seed: of few items.

    Examples
    --------
    >>> one = candidates(Setting("consensus", 4, 300, 1.0))[1]
    >>> one.mechanism, one.measured(one.drawn(1.0)).error < 0.1
    ('NoisyMatrix', True)
    """

    simulated: ClassVar[bool] = True

    def drawn(self, epsilon: float) -> Drawn:
        made = self.made(epsilon)
        if self.mechanism == "ExponentialMechanism":
            return Drawn("exponential", 1 / made.rate)
        return Drawn(made.noise, made.scale, made.fallback.scale if getattr(made, "fallback", None) else None)

    def epsilon_of(self, ratio: float) -> float:
        if self.mechanism == "ExponentialMechanism":
            return float(replace(self.base, rate=self.base.rate / ratio).guarantee.epsilon)
        if getattr(self.base, "fallback", None):
            spare = replace(self.base.fallback, scale=self.base.fallback.scale * ratio)
            louder = replace(self.base, scale=self.base.scale * ratio, fallback=spare)
            return float(louder.guarantee.epsilon)
        return super().epsilon_of(ratio)

    def places(self, drawn: Drawn, persons: int) -> Array:
        """Of every item in every simulated release."""
        m, margins = self.setting.n_items, _margins(self.setting.n_items, self.setting.phi, persons)
        if drawn.noise == "none":
            return self._best(margins)
        if self.mechanism == "NoisyMatrix":
            return self._best(margins + 2 * drawn.scale * _noise(drawn.noise, *margins.shape))
        rng = np.random.default_rng([_SEED, m])
        if self.mechanism == "ExponentialMechanism":
            places, turned = _orders(m)
            weight = -margins @ turned.T / drawn.scale
            chosen = np.argmax(weight + rng.gumbel(size=weight.shape), axis=1)
            return places[chosen]
        return self._sorted(margins, drawn, rng)

    def _best(self, margins: Array) -> Array:
        if self.setting.n_items <= LISTED:
            places, turned = _orders(self.setting.n_items)
            return places[np.argmin(margins @ turned.T, axis=1)]
        return _borda(margins, self.setting.n_items)

    def _sorted(self, margins: Array, drawn: Drawn, rng: np.random.Generator) -> Array:
        from dprank.aggregation.laws import sorted_by

        m = self.setting.n_items
        i, j = np.triu_indices(m, 1)
        noisy = np.zeros((len(margins), m, m))
        noisy[:, i, j] = margins + 2 * drawn.scale * _noise(drawn.noise, *margins.shape)
        order, parts = sorted_by(noisy - np.swapaxes(noisy, 1, 2) > 0, rng)
        places = np.argsort(order, axis=1).astype(float)
        queries = self.base.queries
        if drawn.value_scale:
            late = parts.sum(axis=(0, 2)) > queries
            again = margins + 2 * drawn.value_scale * _noise(drawn.noise, *margins.shape)[::-1]
            places[late] = self._best(again[late])
        return places

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        places = self.places(drawn, persons)
        pairs, at = pairs_of(self.setting.n_items), middle(self.setting.n_items)
        return float((places[:, pairs.better[at]] < places[:, pairs.worse[at]]).mean())

    def measured(self, drawn: Drawn) -> Measured:
        setting = self.setting
        weight = pairs_of(setting.n_items)

        def wrong(places: Array) -> float:
            return float(((places[:, weight.better] > places[:, weight.worse]) @ weight.weight).mean())

        places, bare = (self.places(noise, setting.persons) for noise in (drawn, NONE))
        right = self.accuracy(drawn, setting.persons)
        # a wider error bar than noise has: what is lost to sampling is no more than all
        lost = min(wrong(bare), wrong(places))
        return Measured(wrong(places), lost, lost, None, None, right, *summed_up(-places, setting.k))


def _borda(margins: Array, n_items: int) -> Array:
    i, j = np.triu_indices(n_items, 1)
    scores = np.zeros((len(margins), n_items))
    for pair, (first, second) in enumerate(zip(i, j, strict=True)):
        scores[:, first] += margins[:, pair]
        scores[:, second] -= margins[:, pair]
    return np.argsort(np.argsort(-scores, axis=1), axis=1).astype(float)


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen.

    Examples
    --------
    >>> [one.mechanism for one in candidates(Setting("consensus", 5, 100, 1.0, trust="nobody"))]
    ['LocalBorda', 'LocalMatrix']
    """
    found: list[Candidate] = []
    m = setting.n_items
    for name in choosable("consensus", setting.trust):  # type: ignore[arg-type]
        if setting.trust == "nobody":
            if setting.adjacency == "replace" and (name == "LocalBorda" or m <= REPORTED):
                rule = {} if name == "LocalBorda" else {"rule": "borda"}
                found.append(Placing(setting, name, {"n_items": m} | rule, {"mechanism": name} | rule, local=True))
            continue
        for delta in sorted({0.0, setting.delta}):
            shared: dict[str, Any] = {"n_items": m, "adjacency": setting.adjacency}
            asked: dict[str, Any] = {"mechanism": name, "adjacency": setting.adjacency}
            if name != "ExponentialMechanism":
                shared, asked = shared | {"delta": delta}, asked | ({"delta": delta} if delta else {})
            elif delta or m > LISTED:
                continue
            if name == "NoisyMatrix" and m > LISTED:
                shared, asked = shared | {"rule": "borda"}, asked | {"rule": "borda"}
            if name == "PrivateKwikSort" and m > SORTED:
                continue
            kind = Placing if name == "PrivateBorda" or "rule" in shared else Ordering
            found.append(kind(setting, name, shared, asked))
    return found
