"""Choices for the winner of many ballots: how often the right one is named, of simulated polls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprank._quadrature import gauss
from dprank.plan.crowd import Crowd, crowd_of, in_camps, margins, mixed, scored
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting

__all__ = ["PAIRED", "Winning", "candidates", "first_named", "left_out"]

Array = NDArray[np.float64]
#: Items up to which margins of all pairs are simulated.
PAIRED = 100


def first_named(scores: Array, scale: float) -> float:
    r"""Chance that exponential noise of that scale makes the first score the largest, on average over the rows.

    Parameters
    ----------
    scores : ndarray of float, shape (polls, items)
    scale : float
        0 for no noise: then the largest score wins, and ties are broken by lot.

    Notes
    -----
    The integral over the first noise of the product of the others' laws: O(polls * items), 48 nodes each.

    Examples
    --------
    >>> round(first_named(np.array([[1.0, 0.0]]), 1.0), 4)  # 1 - exp(-1) / 2
    0.8161
    """
    behind = scores[:, :1] - scores[:, 1:]
    if scale == 0:
        return float(((behind >= 0).all(axis=1) / (1 + (behind == 0).sum(axis=1))).mean())
    # noise beyond the best rival's score is memoryless; its exponential is uniform, and near 0 the root of that smooth
    root, weight = gauss(np.array([0.0]), np.array([1.0]), 48)
    needed = np.maximum(0.0, -behind.min(axis=1) / scale)[:, None]
    log_chance = np.zeros((len(scores), len(root)))
    with np.errstate(divide="ignore"):
        for rival in behind.T / scale:
            log_chance += np.log(-np.expm1(2 * np.log(root) - needed - rival[:, None]))
    return float((np.exp(log_chance - needed) @ (2 * root * weight)).mean())


@lru_cache(maxsize=4)
def _scores(crowd: Crowd, rule: str, persons: int) -> Array:
    """Of many polls, by the rule, shape (polls, items)."""
    m = crowd.n_items
    if rule == "borda":
        found = scored(crowd)
        polls = max(200, min(2000, 100_000 // m))
        return np.asarray(-2 * (persons * found.mean + math.sqrt(persons) * mixed(found.centred, polls)))
    table, (i, j) = margins(crowd, persons), np.triu_indices(m, 1)
    every = np.full((len(table), m, m), np.inf, np.float32)
    every[:, i, j], every[:, j, i] = table, -table
    return np.asarray(every.min(axis=2), float)


@dataclass(frozen=True)
class Winning(Candidate):
    """One item, by its worst margin or by net wins.

    Examples
    --------
    >>> one = candidates(Setting("winner", 5, 300, 1.0))[0]
    >>> one.parameters["rule"], round(1 - one.measured(one.drawn(1.0)).error, 1)
    ('maximin', 0.9)
    """

    def drawn(self, epsilon: float) -> Drawn:
        return Drawn("exponential", self.made(epsilon).scale)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        scores = _scores(crowd_of(self.setting), self.parameters["rule"], persons)
        return first_named(scores, 0.0 if drawn.noise == "none" else drawn.scale)

    def elsewhere(self, drawn: Drawn) -> float | None:
        there = in_camps(self)
        return None if there is None else 1 - there.accuracy(drawn, self.setting.persons)

    def measured(self, drawn: Drawn) -> Measured:
        right, bare = (self.accuracy(noise, self.setting.persons) for noise in (drawn, NONE))
        return Measured(1 - right, 1 - bare, 1 - bare, top_right=right)


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen.

    Examples
    --------
    >>> [one.parameters["rule"] for one in candidates(Setting("winner", 500, 100, 1.0))]
    ['borda']
    """
    if setting.trust == "nobody":
        return []
    shared = {"n_items": setting.n_items, "adjacency": setting.adjacency}
    partial = {"ballots": "partial", "max_weight": setting.max_weight} if setting.partial else {}
    told = {"mechanism": "PrivateWinner", "adjacency": setting.adjacency}
    rules = ("maximin", "borda") if setting.n_items <= PAIRED else ("borda",)
    return [
        Winning(setting, "PrivateWinner", shared | partial | {"rule": rule}, told | {"rule": rule}) for rule in rules
    ]


def left_out(setting: Setting) -> dict[str, str]:
    """Why something is not weighed.

    Examples
    --------
    >>> left_out(Setting("winner", 500, 100, 1.0))
    {'PrivateWinner(maximin)': 'margins of all pairs are simulated up to 100 items'}
    """
    if setting.n_items <= PAIRED or setting.trust == "nobody":
        return {}
    return {"PrivateWinner(maximin)": f"margins of all pairs are simulated up to {PAIRED} items"}
