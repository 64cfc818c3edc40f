"""Who enters the arena: all that a plan may choose, each at the same privacy, and how it answers made-up data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, singledispatch
from importlib import import_module
from inspect import signature
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from companion.chapters.which_method.as_printed import is_printed
from companion.chapters.which_method.populations import Answers
from companion.instruments.sweep import stream
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.models.draws import binomial
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.pairwise.perturbed_mle import PerturbedMLE
from dprank.plan.planner import named
from dprank.plan.setting import Candidate, Setting
from dprank.plan.tags import TAGS, mechanism_class
from dprank.privacy import noise
from dprank.privacy.noise import best_first
from dprank.topk.local import LocalTopK
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import disjoint_pairs

__all__ = ["DELTA", "UNNAMED", "Slips", "Votes", "chosen_of", "contenders", "order_of", "publishable", "rejects"]

#: What a name leaves out: delta has a column of its own, and the bounds are those of the people.
UNNAMED = ("delta", "answers", "per_person")
#: What approximate privacy may spend besides epsilon.
DELTA = 1e-6


def _once(method: Callable[[Any], NDArray[np.int64]]) -> Callable[[Any], NDArray[np.int64]]:
    """A method that many mechanisms call on the same data."""

    def counted(self: Any) -> NDArray[np.int64]:
        if not hasattr(self, "_counted"):
            object.__setattr__(self, "_counted", {})
        if method.__name__ not in self._counted:
            self._counted[method.__name__] = method(self)
        return np.asarray(self._counted[method.__name__])

    return counted


class Votes(Rankings):
    """Rankings that are counted once."""

    __slots__ = ("_counted",)
    pairwise = _once(Rankings.pairwise)


class Slips(Ballots):
    """Ballots of weight 1 that are counted once."""

    __slots__ = ("_counted",)
    margins, net_wins = _once(Ballots.margins), _once(Ballots.net_wins)

    def bounded_weight(self, most: int) -> Ballots:
        """They weigh no more than that."""
        return self


@cache
def contenders(setting: Setting, ballots: str = "full") -> dict[tuple[str, float, str], Any]:
    """Mechanisms that answer a question at an epsilon, by name, delta and trust; those that are twins once.

    With ``ballots="partial"`` those alone that take such ballots.
    """
    found: dict[tuple[str, float, str], Any] = {}
    for trust in ("curator", "nobody"):
        for one in _entered(replace(setting, trust=trust), ballots):
            try:
                made = one.base
            except ValueError:  # so little epsilon is beyond this one
                continue
            asked = {key: value for key, value in one.asked.items() if key not in UNNAMED}
            found.setdefault((named(one.mechanism, asked), made.guarantee.delta, trust), made)
    return found


def _entered(setting: Setting, ballots: str) -> Iterator[Candidate]:
    """Candidates, but for those that promise less of the data than is known of them here, and so draw more noise."""
    for one in import_module(f"dprank.plan.{setting.question}").candidates(setting):
        known = signature(mechanism_class(one.mechanism).calibrated).parameters
        if one.parameters.get("design") == "any":
            continue
        if ballots == "full" or setting.trust == "nobody":
            yield one
        elif "ballots" in known:
            yield replace(one, parameters=one.parameters | {"ballots": ballots})


def publishable(method: str) -> bool:
    """Whether what a method of the arena releases may be published, by its name."""
    name, _, told = method.partition("(")
    return TAGS[name].publishable and "public_graph=False" not in told and not is_printed(method)


@singledispatch
def order_of(mechanism: Any, data: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    """Items by the release of a mechanism, best first."""
    return np.asarray(mechanism.release(data, rng).order)


@order_of.register
def _(mechanism: NoisyCounts, data: Answers, rng: np.random.Generator) -> NDArray[np.int64]:
    # what `release` does with the same counts
    return best_first(mechanism.perturb(data.scores(mechanism.score), rng), rng)


@order_of.register
def _(mechanism: PerturbedMLE, data: Answers, rng: np.random.Generator) -> NDArray[np.int64]:
    return best_first(mechanism.estimate(data.played, data.scores("half")[None], rng)[0], rng)


@order_of.register
def _(mechanism: LocalComparisons, data: Answers, rng: np.random.Generator) -> NDArray[np.int64]:
    # what `release` does with the same people
    assert data.rows is not None
    weight = mechanism.weight(data.rows.given)
    return best_first(_told(*data.rows, weight, mechanism.length, mechanism.shrinkage, mechanism.n_items, rng), rng)


@numba.njit(cache=True, error_model="numpy")
def _told(first, second, sign, given, weight, length, kept, items, rng):
    """Estimated net wins from a report of everybody; O(answers)."""
    scores, order = np.zeros(items), np.empty(given.max(), np.int64)
    start = 0
    for person in range(len(given)):
        own = rng.random() < kept
        asked = given[person]
        for place in range(asked):
            order[place] = place
        for told in range(min(length, asked)):
            pick = told + rng.integers(0, asked - told)
            order[told], order[pick] = order[pick], order[told]
            row = start + order[told]
            said = sign[row] if own and sign[row] != 0 else 2 * rng.integers(0, 2) - 1
            scores[first[row]] += said * weight[person]
            scores[second[row]] -= said * weight[person]
        start += asked
    return scores


@singledispatch
def chosen_of(mechanism: Any, data: Any, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The top k by the release of a mechanism, of how many of so many people have each item."""
    return np.asarray(mechanism.release(data, rng).items, np.int64)


@chosen_of.register
def _(mechanism: LocalTopK, data: NDArray[np.float64], people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    # reports hold the items as often as they do in `release`; that two are correlated, as those of others are
    p, q = mechanism.chances
    has = data.astype(np.int64)
    mean = has * p + (people - has) * q
    held = binomial(has, p, rng=rng) + binomial(people - has, q, rng=rng)
    wide = math.sqrt(1 - mechanism.correlation)
    return best_first(mean + wide * (held - mean), rng)[: mechanism.k]


@singledispatch
def rejects(mechanism: Any, data: Rankings, rng: np.random.Generator) -> bool:
    """Whether the test of a mechanism rejects that the data are uniform."""
    return bool(mechanism.release(data, rng).reject)


@rejects.register
def _(mechanism: NoisyNorm, data: Rankings, rng: np.random.Generator) -> bool:
    # what `release` does, but for a threshold that is computed once, and uniform data that are simulated once
    if mechanism.statistic == "pairs":
        pairs = disjoint_pairs(mechanism.n_items, rng=rng)
        exact = int(mechanism.on_grid(mechanism.squared_norm(data.positions, pairs)))
        return exact + int(noise.discrete_laplace(mechanism.scale, 1, rng=rng)[0]) >= _threshold(mechanism)
    exact = int(mechanism.on_grid(mechanism.squared_norm(data.positions)))
    null = _null_norms(replace(mechanism, scale=1.0))  # it does not depend on the noise
    noisy = np.r_[exact, null] + noise.discrete_laplace(mechanism.scale, 1 + len(null), rng=rng)
    return bool(1 + (noisy[1:] >= noisy[0]).sum() <= mechanism.size * len(noisy))


@cache
def _threshold(mechanism: NoisyNorm) -> int:
    return mechanism.threshold()


@cache
def _null_norms(mechanism: NoisyNorm) -> NDArray[np.int64]:
    return mechanism.null_norms(stream("arena: uniform", {"items": mechanism.n_items, "people": mechanism.n_voters}))
