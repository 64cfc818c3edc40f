"""Choices for a test whether ballots agree: its power where they come from a Mallows law."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._search import least
from dprank.models.mallows import Mallows
from dprank.plan.crowd import mallows_places, mixed
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting
from dprank.plan.tags import choosable

__all__ = ["Testing", "candidates"]

Array = NDArray[np.float64]
_SEED = 20260103
_DRAWS = 2000
#: Entries of an exact null law that a plan waits for.
_ENTRIES = 2_000_000
#: Items up to which all rankings are listed.
_ALL = 6


@lru_cache(maxsize=4)
def _biases(n_items: int, phi: float) -> Array:
    """Mean sign of every disjoint pair of many random pairings, shape (draws, pairs)."""
    rng = np.random.default_rng([_SEED, n_items])
    items = rng.permuted(np.tile(np.arange(n_items), (_DRAWS if n_items < 200 else _DRAWS // 4, 1)), axis=1)
    pairs = n_items // 2
    lag = items[:, 1 : 2 * pairs : 2] - items[:, : 2 * pairs : 2]
    table = Mallows(n_items, -math.log(phi)).bias(np.arange(n_items))
    return np.asarray(table[np.abs(lag)])


@lru_cache(maxsize=4)
def _normal(rows: int, columns: int) -> Array:
    return np.random.default_rng([_SEED, rows, columns]).standard_normal((rows, columns))


def squares(n_items: int, phi: float, persons: int, kept: float = 1.0, pairs: int | None = None) -> Array:
    """Of many polls, the sum of squares of the sums of signs, a sum for each of the disjoint pairs.

    Parameters
    ----------
    kept : float
        What randomised response leaves of a sign's mean.
    pairs : int, optional
        How many of the pairs are asked about; all by default.

    Examples
    --------
    Of two items and one order, every sign is that of all 50 people.

    >>> round(float(squares(2, 1e-9, 50).mean()))
    2500
    """
    bias = kept * _biases(n_items, phi)[:, :pairs]
    sums = persons * bias + np.sqrt(persons * (1 - bias**2)) * _normal(*bias.shape)
    return np.asarray((sums**2).sum(axis=1))


@lru_cache(maxsize=4)
def _places(n_items: int, phi: float) -> tuple[Array, Array]:
    """Mean of doubled places about their middle, and what a person of many polls adds to it."""
    ballots = 2.0 * mallows_places(n_items, phi) - (n_items - 1)
    mean = ballots.mean(axis=0)
    return mean, mixed(ballots - mean, max(200, min(_DRAWS, 100_000 // n_items)))


def _ranks(n_items: int, phi: float, persons: int) -> Array:
    """The same of doubled sums of places about their middle."""
    mean, each = _places(n_items, phi)
    return np.asarray(((persons * mean + math.sqrt(persons) * each) ** 2).sum(axis=1))


@lru_cache(maxsize=16)
def _null(freedom: int) -> Array:
    """Points that stand for a chi-square law, each as likely as any other."""
    return np.asarray(scipy.special.chdtri(freedom, 1 - (np.arange(_DRAWS) + 0.5) / _DRAWS))


def threshold(null: Array, scale: float, size: float) -> float:
    """Least value that a null law with Laplace noise exceeds no more often than `size`.

    Examples
    --------
    >>> round(threshold(np.zeros(1), 1.0, 0.05), 3)  # exp(-t) / 2
    2.303
    """
    if scale == 0:
        return float(np.quantile(null, 1 - size))
    shift = float(null.min())
    start = scale + float(np.median(null)) - shift
    return shift + least(lambda t: exceeds(null - shift, scale, t) <= size, start, 2.0**-20)


def exceeds(values: Array, scale: float, threshold: float) -> float:
    """How often values with Laplace noise reach a threshold.

    Examples
    --------
    >>> round(exceeds(np.array([1.0, 3.0]), 1.0, 2.0), 2)
    0.5
    """
    if scale == 0:
        return float((values >= threshold).mean())
    z = (threshold - values) / scale
    tail = np.exp(-np.abs(z)) / 2
    return float(np.where(z > 0, tail, 1 - tail).mean())


@lru_cache(maxsize=4)
def _covariance(n_items: int, phi: float) -> Array:
    """Of doubled places."""
    return np.asarray(np.cov(2.0 * mallows_places(n_items, phi).T))


def _staged(n_items: int, phi: float, persons: int, kept: float, size: float) -> float:
    """Power of a test in two stages: half of the people weigh the items, the others are asked about the weights.

    Weights are normal variables: sums of randomised answers about pairs that are asked as often. What a ranking makes
    of weights is summed over all rankings of few items, and normal of more.
    """
    m, asked = n_items, max(1, persons // 2)
    pairs, number = math.comb(m, 2), persons - asked
    bias = Mallows(m, -math.log(phi)).bias(np.arange(m))
    item = np.arange(m)
    lead = np.sign(item - item[:, None]) * bias[np.abs(item - item[:, None])]
    each = asked / pairs
    draws = _DRAWS if m <= 100 else _DRAWS // 10
    noise = _normal(draws, m)
    weights = each * kept * lead.sum(axis=1) + math.sqrt(each * m) * (noise - noise.mean(axis=1, keepdims=True))
    if m <= _ALL:
        fronts, chance = _rankings(m, phi)
        agree = np.sign(weights @ fronts.T) @ chance
    else:
        deviation = np.sqrt(np.einsum("di,di->d", weights @ _covariance(m, phi), weights))
        agree = 2 * scipy.special.ndtr(weights @ lead.sum(axis=1) / deviation) - 1
    least_votes = int(scipy.stats.binom.isf(size, number, 0.5))
    return float(scipy.stats.binom.sf(least_votes, number, (1 + kept * agree) / 2).mean())


@lru_cache(maxsize=4)
def _rankings(n_items: int, phi: float) -> tuple[Array, Array]:
    """What weights see of every ranking, a row each, and its chance."""
    places = np.array(list(permutations(range(n_items))))
    i, j = np.triu_indices(n_items, 1)
    chance = phi ** (places[:, i] > places[:, j]).sum(axis=1)
    return (n_items - 1) - 2.0 * places, chance / chance.sum()


@dataclass(frozen=True)
class Testing(Candidate):
    """A statistic with Laplace noise; or an answer by a coin; or randomised answers.

    Examples
    --------
    >>> one = candidates(Setting("agreement", 5, 100, 1.0, gap=0.1))[0]
    >>> round(one.measured(one.drawn(1.0)).error, 1)
    0.2
    """

    def drawn(self, epsilon: float) -> Drawn:
        m = self.setting.n_items
        if self.mechanism == "NoisyNorm":
            made = self.made(epsilon)
            return Drawn("laplace", made.scale / made.steps * math.sqrt(made.squared_sensitivity))
        if self.mechanism == "LaplaceUnif":
            return Drawn("laplace", 4 * (m // 2) * (1 - 1 / self.setting.persons) / epsilon)
        if self.setting.trust == "nobody":
            return Drawn("flips", 1 - self.made(epsilon).shrinkage)
        if self.mechanism == "OptimalVote":
            return Drawn("laplace", self.made(epsilon).scale)
        return Drawn("coins", epsilon)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        setting = self.setting
        m, phi, pairs = setting.n_items, setting.phi, setting.n_items // 2
        if self.parameters.get("statistic") == "ranks":
            unit = math.sqrt(persons)
            values = np.sqrt(_ranks(m, phi, persons)) / unit
            null = np.sqrt(_null(m - 1) * m * (m + 1) / 3)
            return exceeds(values, drawn.scale / unit, threshold(null, drawn.scale / unit, setting.size))
        if self.mechanism == "OptimalVote" and drawn.noise != "none":
            made = replace_persons(self, persons).made(1 / drawn.scale)
            return float(made.power(math.sqrt(float((_biases(m, phi) ** 2).mean()))))
        if self.mechanism == "LocalTwoStage" and drawn.noise != "none":
            return _staged(m, phi, persons, 1 - drawn.scale, setting.size)
        if drawn.noise == "coins":
            made = replace_persons(self, persons).made(drawn.scale)
            return float(1 - made.acceptance(squares(m, phi, persons) / persons).mean())
        if self.mechanism == "NoisyNorm" and drawn.noise == "laplace":
            unit = math.sqrt(persons)
            values, null = np.sqrt(squares(m, phi, persons)) / unit, np.sqrt(_null(pairs))
            return exceeds(values, drawn.scale / unit, threshold(null, drawn.scale / unit, setting.size))
        kept = 1 - drawn.scale if drawn.noise == "flips" else 1.0
        asked = min(8, pairs) if self.mechanism == "LocalOneBit" and drawn.noise == "flips" else pairs
        each = max(2, persons // asked) if asked < pairs or self.mechanism == "LocalOneBit" else persons
        if drawn.noise == "none":
            asked, each = pairs, persons
        values = squares(m, phi, each, kept, asked) / each
        scale = drawn.scale if drawn.noise == "laplace" else 0.0
        return exceeds(values, scale, threshold(_null(asked), scale, setting.size))

    def measured(self, drawn: Drawn) -> Measured:
        persons = self.setting.persons
        power, bare = self.accuracy(drawn, persons), self.accuracy(NONE, persons)
        return Measured(1 - power, 1 - bare, 1 - bare)


def replace_persons(one: Candidate, persons: int) -> Candidate:
    """The same test of so many voters.

    Examples
    --------
    >>> replace_persons(candidates(Setting("agreement", 5, 100, 1.0))[0], 50).parameters["n_voters"]
    50
    """
    return replace(one, parameters=one.parameters | {"n_voters": persons})


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen.

    Examples
    --------
    >>> [one.mechanism for one in candidates(Setting("agreement", 5, 100, 1.0))]
    ['NoisyNorm', 'NoisyNorm', 'LaplaceUnif', 'OptimalVote', 'Trun']
    """
    found: list[Candidate] = []
    if setting.adjacency != "replace":
        return found
    sized: dict[str, Any] = {"n_items": setting.n_items, "size": setting.size}
    for name in choosable("agreement", setting.trust):  # type: ignore[arg-type]
        asked: dict[str, Any] = {"mechanism": name, "size": setting.size, "voters": setting.persons}
        if setting.trust == "nobody":
            found.append(Testing(setting, name, sized, asked))
            continue
        counted = sized | {"n_voters": setting.persons}
        if name == "NoisyNorm":
            found += [
                Testing(setting, name, counted | {"statistic": one}, asked | {"statistic": one})
                for one in ("ranks", "pairs")
            ]
        elif name == "OptimalVote":
            for delta in sorted({0.0, setting.delta}):
                more = {"delta": delta} if delta else {}
                found.append(Testing(setting, name, counted | more, asked | more))
        elif name not in left_out(setting):
            found.append(Testing(setting, name, counted, asked))
    return found


def left_out(setting: Setting) -> dict[str, str]:
    """Why something is not weighed.

    Examples
    --------
    >>> left_out(Setting("agreement", 5, 10**6, 1.0))
    {'Trun': 'its null law would be a table of 95,000,000 numbers'}
    """
    if setting.trust == "nobody" or (entries := setting.persons * (setting.n_items + 90)) <= _ENTRIES:
        return {}
    return {"Trun": f"its null law would be a table of {entries:,} numbers"}
