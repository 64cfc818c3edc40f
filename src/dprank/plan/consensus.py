"""Choices for one order from many ballots of a crowd whose neighbours lead by a gap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dprank.aggregation.private_footrule import assignments, footrule_costs
from dprank.aggregation.sent_reports import completed
from dprank.plan.crowd import POLLS, Crowd, ballots, crowd_of, in_camps, margins, middles, mixed, scored
from dprank.plan.laws import Noise, pair_right, pairs_of, share_of, summed_up, told_apart
from dprank.plan.ranking import middle
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting
from dprank.plan.tags import TAGS, choosable

__all__ = ["Ordering", "Placing", "candidates", "left_out"]

Array = NDArray[np.float64]

#: Items up to which all orders are listed, KwikSort and the footrule are simulated, reports about pairs are, and
#: majorities of pairs.
LISTED, SORTED, REPORTED, COMPARED = 7, 20, 20, 100
_SEED = 20260102


@lru_cache(maxsize=4)
def _sampled(crowd: Crowd, draws: int) -> Array:
    return mixed(scored(crowd).centred, draws)


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
            return Drawn("gaussian", math.sqrt((made.randomiser.variance + self._completing()) * m / (m - 1)))
        if self.mechanism == "LocalMatrix":
            return Drawn("gaussian", _reported(crowd_of(self.setting), made))
        if self.mechanism == "NoisyMatrix":
            m = self.setting.n_items
            return Drawn("gaussian", made.scale * math.sqrt((2 if made.noise == "laplace" else 1) * m))
        return Drawn(made.noise, made.scale)

    def _completing(self) -> float:
        """Variance of the places that a voter's coins give to the items that a ballot leaves out."""
        crowd = crowd_of(self.setting)
        if not crowd.cut:
            return 0.0
        whole = completed(ballots(crowd), np.random.default_rng(_SEED)) - (crowd.n_items - 1) / 2
        return float(np.mean((whole - middles(crowd)) ** 2))

    def _scale(self, drawn: Drawn, persons: int) -> float:
        return drawn.scale * (math.sqrt(persons) if self.local else 1.0)

    def _right(self, drawn: Drawn, persons: int) -> Array:
        mean, variance, _ = scored(crowd_of(self.setting))
        i, j, _ = pairs_of(self.setting.n_items)
        scale = self._scale(drawn, persons)
        return pair_right(persons * (mean[j] - mean[i]), persons * variance, drawn.noise, scale)

    def wrong(self, drawn: Drawn) -> float:
        """Expected share of pairs."""
        return float((1 - self._right(drawn, self.setting.persons)) @ pairs_of(self.setting.n_items).weight)

    def error(self, drawn: Drawn) -> float:
        return self.wrong(drawn)

    def elsewhere(self, drawn: Drawn) -> float | None:
        there = in_camps(self)
        return None if there is None else there.wrong(drawn)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        return float(self._right(drawn, persons)[middle(self.setting.n_items)])

    def measured(self, drawn: Drawn) -> Measured:
        setting = self.setting
        weight, persons = pairs_of(setting.n_items).weight, setting.persons
        bare = float((1 - self._right(NONE, persons)) @ weight)
        mean = scored(crowd_of(setting)).mean
        scale, rows = self._scale(drawn, persons), max(200, min(2000, 100_000 // setting.n_items))
        sums = persons * mean + math.sqrt(persons) * _sampled(crowd_of(setting), rows)
        every = summed_up(-sums - scale * _noise(drawn.noise, rows, setting.n_items), setting.k)
        step = 0.0 if self.local or self.mechanism == "NoisyMatrix" else 1.0
        apart = told_apart(drawn.noise, scale, setting.n_items, step)
        return Measured(
            self.wrong(drawn),
            bare,
            bare,
            apart,
            0.5 + apart / (2 * persons),
            self.accuracy(drawn, persons),
            *every,
            span=persons * float(np.ptp(mean)),
        )


@lru_cache(maxsize=4)
def _reported(crowd: Crowd, made: Any) -> float:
    """What the report of a person adds to a sum of places, from simulated reports."""
    rng, m, each = np.random.default_rng(_SEED), crowd.n_items, 25
    some = slice(0, None, max(1, len(ballots(crowd)) // 1500))
    places, means = (table[some][: 1500 // each * each] for table in (ballots(crowd), middles(crowd)))
    polls = len(places) // each
    blocks, means = (table[: polls * each].reshape(polls, each, m) for table in (places, means))
    signs = np.array([made.randomiser.estimate(made.sent(block, rng)) for block in blocks])
    margins = np.zeros((polls, m, m))
    margins[:, *np.triu_indices(m, 1)] = signs
    found = (margins.sum(axis=1) - margins.sum(axis=2)) / 2
    return math.sqrt(each * float(np.var(found - means.mean(axis=1), axis=0).mean()) * m / (m - 1))


@lru_cache(maxsize=2)
def _orders(n_items: int) -> tuple[Array, Array]:
    """Places of all orders, and of every pair (column) whether the order (row) turns it round, as 1, or not, as 0."""
    places = np.argsort(np.array(list(permutations(range(n_items)))), axis=1)
    i, j = np.triu_indices(n_items, 1)
    return places.astype(float), (places[:, i] > places[:, j]).astype(float)


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
        m = self.setting.n_items
        if self.mechanism == "PrivateFootrule":
            return self._assigned(drawn, persons)
        table = margins(crowd_of(self.setting), persons)
        if drawn.noise == "none":
            return self._best(table)
        if self.mechanism == "NoisyMatrix":
            return self._best(table + 2 * drawn.scale * _noise(drawn.noise, *table.shape))
        rng = np.random.default_rng([_SEED, m])
        if self.mechanism == "ExponentialMechanism":
            places, turned = _orders(m)
            weight = -table @ turned.T / drawn.scale
            chosen = np.argmax(weight + rng.gumbel(size=weight.shape), axis=1)
            return places[chosen]
        return self._sorted(table, drawn, rng)

    def _best(self, table: Array) -> Array:
        if self.setting.n_items <= LISTED:
            places, turned = _orders(self.setting.n_items)
            return places[np.argmin(table @ turned.T, axis=1)]
        rule = np.sign if self.mechanism == "NoisyMatrix" else np.asarray
        return _by_sums(rule(table), self.setting.n_items)

    def _assigned(self, drawn: Drawn, persons: int) -> Array:
        """Places of the cheapest assignments to noisy counts of places."""
        m, crowd = self.setting.n_items, crowd_of(self.setting)
        mean, each = _placed(crowd)
        counts = persons * mean + math.sqrt(persons) * each
        if drawn.noise != "none":
            counts = counts + drawn.scale * _noise(drawn.noise, *counts.shape)
        return assignments(footrule_costs(counts.reshape(-1, m, m))).astype(float)

    def _sorted(self, table: Array, drawn: Drawn, rng: np.random.Generator) -> Array:
        from dprank.aggregation.laws import sorted_by

        m = self.setting.n_items
        i, j = np.triu_indices(m, 1)
        noisy = np.zeros((len(table), m, m))
        noisy[:, i, j] = table + 2 * drawn.scale * _noise(drawn.noise, *table.shape)
        order, parts = sorted_by(noisy - np.swapaxes(noisy, 1, 2) > 0, rng)
        places = np.argsort(order, axis=1).astype(float)
        queries = self.base.queries
        if drawn.value_scale:
            late = parts.sum(axis=(0, 2)) > queries
            again = table + 2 * drawn.value_scale * _noise(drawn.noise, *table.shape)[::-1]
            places[late] = self._best(again[late])
        return places

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        return _right(self.places(drawn, persons))

    def wrong(self, drawn: Drawn) -> float:
        """Expected share of pairs."""
        return _wrong(self.places(drawn, self.setting.persons))

    def error(self, drawn: Drawn) -> float:
        return self.wrong(drawn)

    def elsewhere(self, drawn: Drawn) -> float | None:
        there = in_camps(self)
        return None if there is None else there.wrong(drawn)

    def measured(self, drawn: Drawn) -> Measured:
        setting = self.setting
        places, bare = (self.places(noise, setting.persons) for noise in (drawn, NONE))
        right, wrong = _right(places), _wrong(places)
        lost = _wrong(bare)
        return Measured(wrong, lost, lost, None, None, right, *summed_up(-places, setting.k))


def _right(places: Array) -> float:
    """Share of replicates with the pair of `middle` in its order."""
    pairs, at = pairs_of(places.shape[1]), middle(places.shape[1])
    return float((places[:, pairs.better[at]] < places[:, pairs.worse[at]]).mean())


def _wrong(places: Array) -> float:
    return float(share_of(np.greater, places).mean())


def _by_sums(table: Array, n_items: int) -> Array:
    """Places by the sums of what every item has over the others; ties, which are of whole numbers, in a fixed order."""
    i, j = np.triu_indices(n_items, 1)
    scores = np.zeros((len(table), n_items))
    for pair, (first, second) in enumerate(zip(i, j, strict=True)):
        scores[:, first] += table[:, pair]
        scores[:, second] -= table[:, pair]
    scores += np.random.default_rng(_SEED).random(scores.shape) / 2
    return np.argsort(np.argsort(-scores, axis=1), axis=1).astype(float)


@lru_cache(maxsize=4)
def _placed(crowd: Crowd) -> tuple[Array, Array]:
    """Share of the people who put every item at every place, and what a person of many polls adds, a column each."""
    places = ballots(crowd)
    at = (places[:, :, None] == np.arange(crowd.n_items)).reshape(len(places), -1).astype(float)
    return at.mean(axis=0), mixed(at - at.mean(axis=0), POLLS // 3)


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen.

    Examples
    --------
    >>> [one.mechanism for one in candidates(Setting("consensus", 5, 100, 1.0, trust="nobody"))]
    ['LocalBorda', 'LocalMatrix']
    """
    found: list[Candidate] = []
    partial = {"ballots": "partial", "max_weight": setting.max_weight} if setting.partial else {}
    for name in choosable("consensus", setting.trust):  # type: ignore[arg-type]
        if name in left_out(setting):
            continue
        if setting.trust == "nobody":
            if setting.adjacency == "replace":
                rule = {} if name == "LocalBorda" else {"rule": "borda"}
                made = {"n_items": setting.n_items} | rule
                found.append(Placing(setting, name, made, {"mechanism": name} | rule, local=True))
            continue
        for delta in sorted({0.0, setting.delta} if TAGS[name].delta else {0.0}):
            shared: dict[str, Any] = {"n_items": setting.n_items, "adjacency": setting.adjacency}
            asked: dict[str, Any] = {"mechanism": name, "adjacency": setting.adjacency}
            if TAGS[name].delta:
                shared, asked = shared | {"delta": delta}, asked | ({"delta": delta} if delta else {})
            shared |= partial
            for rule in _rules(name, setting.n_items):
                kind = Placing if name == "PrivateBorda" or rule.get("rule") == "borda" else Ordering
                found.append(kind(setting, name, shared | rule, asked | rule))
    return found


def _rules(name: str, n_items: int) -> list[dict[str, str]]:
    """How a mechanism may put the items in order: of few the best of all orders is known."""
    if name != "NoisyMatrix" or n_items <= LISTED:
        return [{}]
    return [{"rule": "borda"}] + [{"rule": "copeland"}] * (n_items <= COMPARED)


def left_out(setting: Setting) -> dict[str, str]:
    """Why something is not weighed.

    Examples
    --------
    >>> left_out(Setting("consensus", 50, 100, 1.0, trust="nobody"))
    {'LocalMatrix': 'reports about pairs are simulated up to 20 items'}
    """
    m, found = setting.n_items, {}
    if setting.trust == "nobody":
        return {"LocalMatrix": f"reports about pairs are simulated up to {REPORTED} items"} if m > REPORTED else {}
    if setting.partial:
        takes = "it takes full ballots without weights"
        found = {name: takes for name in choosable("consensus", "curator") if not TAGS[name].partial}
    elif m > SORTED:
        found = dict.fromkeys(("PrivateKwikSort", "PrivateFootrule"), f"it is simulated up to {SORTED} items")
    if m > LISTED:
        found.setdefault("ExponentialMechanism", f"all orders are listed up to {LISTED} items")
    return found
