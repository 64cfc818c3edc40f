"""Choices for a test whether ballots agree: its power where they come from a Mallows law."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dprank._search import least
from dprank.models.mallows import Mallows
from dprank.plan.consensus import mallows_places, mixed
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting
from dprank.plan.tags import choosable

__all__ = ["Testing", "candidates"]

Array = NDArray[np.float64]
_SEED = 20260103
_DRAWS = 2000
#: Entries of an exact null law that a plan waits for.
_ENTRIES = 2_000_000


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
    return np.asarray(chdtri(freedom, 1 - (np.arange(_DRAWS) + 0.5) / _DRAWS))


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


@dataclass(frozen=True)
class Testing(Candidate):
    """A statistic with Laplace noise; or an answer by a coin; or randomised answers.

    Examples
    --------
    >>> one = candidates(Setting("agreement", 5, 100, 1.0, gap=0.1))[0]
    >>> round(one.measured(one.drawn(1.0)).error, 1)
    0.2
    """

    means = "the test finds the agreement"

    def drawn(self, epsilon: float) -> Drawn:
        m = self.setting.n_items
        if self.mechanism == "NoisyNorm":
            made = self.made(epsilon)
            return Drawn("laplace", made.scale / made.steps * math.sqrt(made.squared_sensitivity))
        if self.mechanism == "LaplaceUnif":
            return Drawn("laplace", 4 * (m // 2) * (1 - 1 / self.setting.persons) / epsilon)
        if self.setting.trust == "nobody":
            return Drawn("flips", 1 - self.made(epsilon).shrinkage)
        return Drawn("coins", epsilon)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        setting = self.setting
        m, phi, pairs = setting.n_items, setting.phi, setting.n_items // 2
        if self.parameters.get("statistic") == "ranks":
            unit = math.sqrt(persons)
            values = np.sqrt(_ranks(m, phi, persons)) / unit
            null = np.sqrt(_null(m - 1) * m * (m + 1) / 3)
            return exceeds(values, drawn.scale / unit, threshold(null, drawn.scale / unit, setting.size))
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
    ['NoisyNorm', 'NoisyNorm', 'LaplaceUnif', 'Trun']
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
        elif name != "Trun" or setting.persons * (setting.n_items + 90) <= _ENTRIES:
            found.append(Testing(setting, name, counted, asked))
    return found
