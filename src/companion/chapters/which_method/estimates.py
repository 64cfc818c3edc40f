"""Who estimates strengths in the arena: from noisy net wins on a secret graph, and by perturbed likelihoods.

`dprank.PrivateRankCentrality` is not among them: it releases a set, and no number of it.
"""

from __future__ import annotations

from functools import cache, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.which_method.populations import Answers
from dprank.pairwise.noisy_counts import CountNoise, NoisyCounts
from dprank.pairwise.perturbed_mle import Graph, PerturbedMLE
from dprank.pairwise.strengths import strengths
from dprank.plan.planner import named
from dprank.plan.setting import Setting
from dprank.privacy.noise import Law, best_first
from dprank.release import Ranking

__all__ = ["estimate", "estimators"]

#: Ridges among which the best is expected: that of a prior of deviation 1 for strengths, and up to much noise.
_RIDGES = 4.0 ** np.arange(0, 13)
#: Noise in a cube is for people who meet every item: here each meets a few.
_NOISES: tuple[CountNoise, ...] = ("laplace", "conditioned", "gaussian")


@cache
def estimators(setting: Setting) -> dict[tuple[str, float, str], Any]:
    """Mechanisms that estimate strengths at an epsilon, by name, delta and trust."""
    told = setting.epsilon, setting.n_items, setting.answers[-1]
    everybody: list[tuple[str, Any]] = []
    for noise in _NOISES:
        delta = setting.delta if noise == "gaussian" else 0.0
        if delta or noise != "gaussian":
            everybody.append((named("NoisyCounts", {"score": "net", "noise": noise}), _counts(noise, delta, *told)))
    graphs: tuple[Graph, ...] = ("public", "private")
    for graph in graphs:
        fits = _fits(graph, *told)
        asked = {"public_graph": graph == "public"}
        if graph == "public":  # what a plan offers
            everybody.append((named("PerturbedMLE", asked), fits[0]))
        everybody.append((named("PerturbedMLE", asked | {"ridge": "best"}), min(fits, key=_Expected(setting))))
    return {(name, made.guarantee.delta, "curator"): made for name, made in everybody}


@cache
def _counts(noise: CountNoise, delta: float, epsilon: float, n_items: int, per_person: int) -> NoisyCounts:
    """Noisy net wins of people who answer no pair twice."""
    asked: dict[str, Any] = {"noise": noise, "delta": delta, "design": "once"}
    return NoisyCounts.calibrated(epsilon=epsilon, n_items=n_items, per_person=per_person, **asked)


@cache
def _fits(graph: Graph, epsilon: float, n_items: int, per_person: int) -> list[PerturbedMLE]:
    """At all ridges that an epsilon allows."""
    law: Law = "discrete" if graph == "public" else "continuous"
    asked: dict[str, Any] = {"n_items": n_items, "per_person": per_person, "graph": graph, "law": law}
    found = []
    for ridge in _RIDGES.tolist():
        try:
            found.append(PerturbedMLE.calibrated(epsilon=epsilon, ridge=ridge, **asked))
        except ValueError:  # the curvature of one voter's answers does not hide behind it
            continue
    return found


class _Expected:
    """Mean squared error near strength 0, if strengths have deviation 1: what noise, drawing and the ridge add."""

    def __init__(self, setting: Setting) -> None:
        answers = setting.persons * float(np.mean(setting.given))
        self.information = answers / (2 * (setting.n_items - 1))

    def __call__(self, fit: PerturbedMLE) -> float:
        added = 2 * fit.scale**2 + self.information + fit.ridge**2
        return float(added / (self.information + fit.ridge) ** 2)


@singledispatch
def estimate(mechanism: Any, data: Answers, rng: np.random.Generator) -> NDArray[np.float64]:
    """Log-strengths by the release of a mechanism, of mean 0."""
    raise TypeError(f"{type(mechanism).__name__} releases no strengths, and nothing they could be read off")


@estimate.register
def _(mechanism: NoisyCounts, data: Answers, rng: np.random.Generator) -> NDArray[np.float64]:
    noisy = mechanism.perturb(data.scores("net"), rng)
    release = Ranking(tuple(map(str, range(len(noisy)))), best_first(noisy, rng), noisy, mechanism=mechanism)
    return strengths(release, float(data.played.sum() / 2)).theta


@estimate.register
def _(mechanism: PerturbedMLE, data: Answers, rng: np.random.Generator) -> NDArray[np.float64]:
    theta = mechanism.estimate(data.played, data.scores("half")[None], rng)[0]
    return np.asarray(theta - theta.mean())
