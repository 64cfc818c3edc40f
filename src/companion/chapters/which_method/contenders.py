"""Who enters the arena: all that a plan may choose, each at the same privacy, and how it answers made-up data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, singledispatch
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.which_method.populations import Answers
from companion.instruments.sweep import stream
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.pairwise.perturbed_mle import PerturbedMLE
from dprank.plan.planner import named
from dprank.plan.setting import Candidate, Setting
from dprank.plan.tags import mechanism_class
from dprank.privacy import noise
from dprank.privacy.noise import best_first
from dprank.uniformity.noisy_norm import NoisyNorm

__all__ = ["DELTA", "UNNAMED", "Slips", "Votes", "contenders", "order_of", "rejects"]

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


@singledispatch
def rejects(mechanism: Any, data: Rankings, rng: np.random.Generator) -> bool:
    """Whether the test of a mechanism rejects that the data are uniform."""
    return bool(mechanism.release(data, rng).reject)


@rejects.register
def _(mechanism: NoisyNorm, data: Rankings, rng: np.random.Generator) -> bool:
    if mechanism.statistic == "pairs":
        return bool(mechanism.release(data, rng).reject)
    # what `release` does, but for uniform data that are simulated once
    exact = int(mechanism.on_grid(mechanism.squared_norm(data.positions)))
    null = _null_norms(replace(mechanism, scale=1.0))  # it does not depend on the noise
    noisy = np.r_[exact, null] + noise.discrete_laplace(mechanism.scale, 1 + len(null), rng=rng)
    return bool(1 + (noisy[1:] >= noisy[0]).sum() <= mechanism.size * len(noisy))


@cache
def _null_norms(mechanism: NoisyNorm) -> NDArray[np.int64]:
    return mechanism.null_norms(stream("arena: uniform", {"items": mechanism.n_items, "people": mechanism.n_voters}))
