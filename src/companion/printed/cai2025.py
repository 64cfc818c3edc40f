"""Cai, Chakraborty and Wang (2025) as printed: the noise of their algorithms, and the privacy they state of it."""

from __future__ import annotations

import math
from typing import Any, Literal

from companion.printed import Printed
from dprank._require import require_positive
from dprank.data.comparisons import Design
from dprank.models.bradley_terry import LOGISTIC, Link
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.guarantee import Guarantee, Unit, ratio_up


def algorithm_1(
    epsilon: float, n_items: int, *, link: Link = LOGISTIC, kappa_2: float | None = None, ridge: float | None = None
) -> Printed:
    """Algorithm 1: noise 8 kappa_1 / epsilon and ridge 4 kappa_2 / epsilon (or another), for one comparison.

    kappa_1 is the link's least constant, and so is kappa_2 unless it is given.
    """
    return _perturbed(epsilon, n_items, "comparison", 1, 4, link, kappa_2, ridge)


def proposition_3_1(
    epsilon: float,
    n_items: int,
    *,
    per_person: int,
    link: Link = LOGISTIC,
    kappa_2: float | None = None,
    ridge: float | None = None,
) -> Printed:
    """Proposition 3.1: noise 8 L kappa_1 / epsilon, ridge 8 L kappa_2 / epsilon (or another), for L answers a voter."""
    return _perturbed(epsilon, n_items, "voter", per_person, 8 * per_person, link, kappa_2, ridge)


def algorithm_2(epsilon: float, n_items: int) -> Printed:
    """Algorithm 2: wins with noise of scale 2 / epsilon, for one comparison."""
    scale = ratio_up(2, require_positive("epsilon", epsilon))
    mechanism = NoisyCounts(n_items, scale, unit="comparison", score="wins", law="continuous")
    return Printed(mechanism, claims=_claim(epsilon, "comparison"))


def algorithm_3(
    epsilon: float, n_items: int, *, per_person: int = 1, design: Design = "any", ties: bool = True
) -> Printed:
    """Algorithm 3: wins with noise of scale L / epsilon, for L answers a voter."""
    scale = ratio_up(per_person, require_positive("epsilon", epsilon))
    voter: dict[str, Any] = {"per_person": per_person, "design": design, "ties": ties}
    mechanism = NoisyCounts(n_items, scale, score="wins", law="continuous", **voter)
    return Printed(mechanism, claims=_claim(epsilon, "voter"))


def _perturbed(
    epsilon: float,
    n_items: int,
    unit: Unit,
    per_person: int,
    times: int,
    link: Link,
    kappa_2: float | None,
    ridge: float | None,
) -> Printed:
    epsilon = require_positive("epsilon", epsilon)
    curvature = link.kappa_2 if kappa_2 is None else require_positive("kappa_2", kappa_2)
    scale = 8 * per_person * link.kappa_1 / epsilon
    gamma = times * curvature / epsilon if ridge is None else require_positive("ridge", ridge)
    if math.isinf(scale) or not 0 < gamma < math.inf:
        raise ValueError(f"epsilon = {epsilon}; the printed noise {scale} and ridge {gamma} are out of range")
    graph: Literal["private"] = "private"
    mechanism = PerturbedMLE(
        n_items, scale, gamma, graph=graph, per_person=per_person, unit=unit, link=link, law="continuous"
    )
    return Printed(mechanism, claims=_claim(epsilon, unit))


def _claim(epsilon: float, unit: Unit) -> Guarantee:
    return Guarantee(epsilon, unit=unit, adjacency="replace", model="central")
