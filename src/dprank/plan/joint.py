"""Choices for a top k that is drawn at once: what a joint exponential mechanism does to simulated counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank.plan.laws import ladder_share_right
from dprank.plan.setting import NONE, Drawn, Measured
from dprank.plan.topk import Counted

__all__ = ["LISTED", "TABLED", "Together", "sets_right"]

Array = NDArray[np.float64]
_SEED = 20260104
#: Most of k times the number of items: of sets, whose chances are summed; of lists, which are drawn.
TABLED, LISTED = 50_000, 2000


class _Right(NamedTuple):
    """Expected number of right items, and chance that all are."""

    items: float
    all: float


def sets_right(values: Array, k: int, scale: float) -> _Right:
    r"""How right a set of k is, if every set has a chance in proportion to exp(-loss / scale).

    Parameters
    ----------
    values : ndarray of float, shape (items,)
        What is counted, the k right items first.
    k : int
        Less than the number of items.
    scale : float

    Notes
    -----
    Items are sorted. Besides the best k, a set has the first h items, not the next one, as its last one the item of
    place t, and any others in between: its loss is that of the pair, and of such sets there are
    :math:`\binom{t - h - 2}{k - h - 1}`. O(k items).

    Examples
    --------
    >>> [round(float(it), 3) for it in sets_right(np.array([5.0, 4.0, 4.0, 0.0]), 2, 1.0)]
    [1.414, 0.417]
    """
    order = np.argsort(-values, kind="stable")
    c, true = values[order], (order < k).astype(float)
    before = np.r_[0.0, np.cumsum(true)]
    h, t, free, between, log_sets = _shapes(k, len(c))
    log_weight = log_sets + (c[t] - c[h]) / scale
    log_best = (c[k - 1] - c[k]) / scale
    most = max(float(log_weight.max()), float(log_best))
    weight, best = np.exp(log_weight - most), np.exp(log_best - most)
    total = weight.sum() + best
    held = before[h] + true[t] + (before[t] - before[h + 1]) * free / between
    right = float((weight * held).sum() + best * before[k]) / total
    lead = (values[:k].min() - values[k:].max()) / scale - most
    return _Right(float(right), float(np.exp(lead) / total))


@lru_cache(maxsize=4)
def _shapes(k: int, items: int) -> tuple[NDArray[Any], ...]:
    """Of sets that end at place t after the first h items: h, t, how many others, of how many, and log of how often."""
    h, t = np.arange(k)[:, None], np.arange(k, items)
    free, between = k - h - 1, t - h - 1
    log_sets = (
        scipy.special.gammaln(between + 1) - scipy.special.gammaln(free + 1) - scipy.special.gammaln(between - free + 1)
    )
    return h, t, free, np.maximum(between, 1), log_sets


def _first_right(values: Array, scale: float) -> _Right:
    """The same of one item, whose chance is in proportion to exp(value / scale)."""
    weight = np.exp((values - values.max()) / scale)
    chance = float(weight[0] / weight.sum())
    return _Right(chance, chance)


@lru_cache(maxsize=4)
def _luck(rows: int, items: int) -> Array:
    return np.random.default_rng([_SEED, rows, items]).standard_normal((rows, items))


@dataclass(frozen=True)
class Together(Counted):
    """All k at once: the chances of sets are summed for simulated counts, lists are drawn.

    Examples
    --------
    >>> from dprank.plan.setting import Setting
    >>> from dprank.plan.topk import candidates
    >>> setting = Setting("topk", 50, 2000, 1.0, k=3, gap=0.05, answers=(3,), ordered=False)
    >>> one = candidates(setting)[-1]
    >>> one.mechanism, round(one.measured(one.drawn(1.0)).top_right, 1)
    ('JointExponential', 1.0)
    """

    simulated: ClassVar[bool] = True

    def drawn(self, epsilon: float) -> Drawn:
        return Drawn("coins", self.made(epsilon).scale)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        if drawn.noise == "none":
            return super().accuracy(drawn, persons)
        return self._right(drawn, persons).all

    def measured(self, drawn: Drawn) -> Measured:
        persons, right = self.setting.persons, self._right(drawn, self.setting.persons)
        bare, kept = (1 - ladder_share_right(*self._law(NONE, persons, share)) for share in (1.0, self._kept()))
        ordered = self.setting.ordered and self.setting.k > 1
        wrong = 1 - right.items / self.setting.k
        return Measured(
            wrong, min(bare, wrong), min(kept, wrong), order_right=None if ordered else right.all, top_right=right.all
        )

    def _right(self, drawn: Drawn, persons: int) -> _Right:
        """Mean of many polls."""
        step, k, rest, law = self._law(NONE, persons, self._kept())
        lists = self.setting.ordered and k > 1
        rows = 100 if lists else max(50, min(400, 2_000_000 // (k * (k + rest))))
        mean = np.r_[step * np.arange(k, 0, -1), np.zeros(rest)]
        polls = mean + law.deviation * _luck(rows, k + rest)
        if k == 1:
            found = [_first_right(values, drawn.scale) for values in polls]
        elif lists:
            found = self._listed(polls, drawn.scale)
        else:
            found = [sets_right(values, k, drawn.scale) for values in polls]
        return _Right(*(float(it) for it in np.mean(found, axis=0)))

    def _listed(self, polls: Array, scale: float) -> list[_Right]:
        from dprank.topk.joint import JointExponential

        k = self.setting.k
        made = JointExponential(k, scale, n_items=polls.shape[1], ordered=True)
        rng = np.random.default_rng(_SEED)
        held = [int((made.draw(values, 1, rng) < k).sum()) for values in polls]
        return [_Right(number, float(number == k)) for number in held]
