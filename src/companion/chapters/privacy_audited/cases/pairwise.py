"""Noisy win counts and the perturbed likelihood of Cai, Chakraborty and Wang (2025), on their worst neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed import Printed
from companion.printed.cai2025 import algorithm_1, algorithm_2, algorithm_3, proposition_3_1
from dprank.audit.neighbours import ComparisonNeighbours, worst_pair
from dprank.data.comparisons import Comparisons
from dprank.data.counting import GRAIN, win_counts
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.noise import Law

Array = NDArray[np.float64]

#: What stands for infinitely far: links and scores are at their limits to the last bit.
FAR = 60.0


class Attained(NamedTuple):
    """Two neighbouring data sets and an output at which their densities are compared."""

    data: Comparisons
    other: Comparisons
    output: Array


def worst_neighbours(
    scale: float, ridge: float, far: float = FAR, answers: int = 1, link: Link = LOGISTIC, *, repeats: bool = False
) -> Attained:
    """Neighbours whose density ratio approaches `dprank.pairwise.objective_loss` as `far` grows; `answers` comparisons
    move.

    For every answer that moves, item i beats j in the first data set, at a distance where score and curvature together
    cost most. Helpers far away make the rest of the gradient point the other way at i and j without adding curvature.
    In the second data set that comparison is gone, and k has lost to l although the output puts k far ahead. If pairs
    may repeat, k and l are the helpers, and 4 items an answer are enough.
    """
    x = np.linspace(-40, 40, 80_001)
    at = float(x[np.argmax(2 * link.score(x) / scale + np.log1p(2 * link.curvature(x) / ridge))])
    pull = math.ceil((float(link.score(at)) + ridge * abs(at)) / link.steepest) + 1
    output: list[float] = []
    common: list[tuple[int, int]] = []
    old: list[tuple[int, int]] = []
    new: list[tuple[int, int]] = []
    for _ in range(answers):
        i, j, k, loser = (len(output) + c for c in range(4))
        output += [at / 2, -at / 2, far, -far]
        if repeats:
            common += [(loser, i), (j, k)] * pull
        else:
            helpers = range(loser + 1, loser + 1 + 2 * pull)
            output += [-far] * pull + [far] * pull
            common += [(h, i) for h in helpers[:pull]] + [(j, h) for h in helpers[pull:]]
        old.append((i, j))
        new.append((loser, k))

    def data(games: list[tuple[int, int]]) -> Comparisons:
        voters = np.r_[np.arange(answers, answers + len(common)), np.zeros(answers, int)]
        return comparisons([(*game, 1.0) for game in games], len(output), voters)

    return Attained(data(common + old), data(common + new), np.array(output))


def worst_flip(scale: float, ridge: float, link: Link, far: float = FAR) -> Attained:
    """The same on a public graph: of two items, apart by the distance that costs most, the first wins or loses.

    Two helpers far away, who win against the one and lose to the other, keep the gradient there of one sign.
    """
    x = np.linspace(-40, 40, 80_001)
    scores = 2 * (link.score(x) + link.score(-x)) / scale
    at = float(x[np.argmax(scores + np.log((ridge + 2 * link.curvature(x)) / (ridge + 2 * link.curvature(-x))))])
    pull = math.ceil((link.kappa_1 + ridge * abs(at)) / link.steepest) + 1
    common = [(3, 0, 1.0), (1, 2, 1.0)] * pull
    data, other = (comparisons([*common, (0, 1, won)], 4) for won in (1.0, 0.0))
    return Attained(data, other, np.array([at / 2, -at / 2, far, -far]))


def worst_sheets(mechanism: NoisyCounts) -> tuple[Comparisons, Comparisons]:
    """The two sheets of one voter that noisy counts tell apart best, or none and the sheet to add: by exhaustion."""
    m = mechanism  # the loss depends on nothing but the move of the counts, so that no other voters are needed
    sheets = ComparisonNeighbours(m.unit, m.adjacency, m.per_person, m.design, m.ties).sheets(m.n_items)
    listed = [comparisons(sheet, m.n_items) for sheet in sheets]
    counts = np.array([win_counts(sheet, m.score) / GRAIN[m.score] for sheet in listed]).astype(np.int64)
    if m.adjacency == "add_remove":
        return comparisons([], m.n_items), listed[int(np.abs(counts).sum(axis=1).argmax())]
    _, one, two = worst_pair(counts)
    first, second = (int((counts == row).all(axis=1).argmax()) for row in (one, two))
    return listed[first], listed[second]


def comparisons(rows: Sequence[tuple[int, int, float]], n_items: int, voters: ArrayLike | None = None) -> Comparisons:
    """Comparisons from rows of first item, second item and outcome: of one voter, unless others are named."""
    first, second, won = zip(*rows, strict=True) if rows else ((), (), ())
    voter = np.zeros(len(rows), int) if voters is None else voters
    return Comparisons(np.array(first, int), np.array(second, int), won, [str(i) for i in range(n_items)], voter)


def cases() -> list[Case]:
    """Both mechanisms, as printed and as calibrated, on their worst neighbours."""
    return [*_count_cases(), *_likelihood_cases()]


def _count_cases() -> Iterator[Case]:
    """Exhausted over all sheets of one voter for 3 items; none depends on the law of the noise."""
    survey: dict[str, Any] = {"per_person": 3, "design": "complete"}
    made: dict[str, NoisyCounts | Printed] = {
        "Algorithm 2": algorithm_2(1.0, 3),
        "Algorithm 3, 2 answers": algorithm_3(1.0, 3, per_person=2),
        "Algorithm 3, complete without ties": algorithm_3(1.0, 3, ties=False, **survey),
    }
    designs: dict[str, dict[str, Any]] = {
        "one comparison": {"unit": "comparison", "score": "wins"},
        "net of 2 answers": {"per_person": 2, "score": "net"},
        "half wins of 2 answers": {"per_person": 2, "score": "half", "design": "once"},
        "complete": {"score": "wins"} | survey,
        "complete without ties": {"score": "wins", "ties": False} | survey,
    }
    for (name, design), adjacency in product(designs.items(), get_args(Adjacency)):
        calibrated = NoisyCounts.calibrated(epsilon=1.0, n_items=3, adjacency=adjacency, **design)
        made[f"{name}, {adjacency.replace('_', '/')}"] = calibrated
    for name, one in made.items():
        mechanism, known = _promised(one)
        pair, loss = worst_sheets(mechanism), mechanism.sensitivity / mechanism.scale
        for law in get_args(Law):
            drawn = replace(mechanism, law=law)
            yield Case(f"NoisyCounts, {name}, {law}", drawn, *pair, closed_form=loss, found="exhausted", **known)
    yield from _other_noises()


def _other_noises() -> Iterator[Case]:
    """Matchings of 4 items with Gaussian noise and with noise in a cube; net wins of 3 with noise that sums to zero."""
    for law in get_args(Law):
        made = NoisyCounts.calibrated(epsilon=1.0, delta=0.01, n_items=4, per_person=2, design="matching", law=law)
        loss = made.guarantee.epsilon if law == "continuous" else None
        pair = worst_sheets(made)
        yield Case(f"NoisyCounts, matching, {law} gaussian", made, *pair, closed_form=loss, found="exhausted")
    box = NoisyCounts.calibrated(epsilon=1.0, n_items=4, per_person=2, design="matching", noise="cube")
    yield Case("NoisyCounts, cube", box, *worst_sheets(box), closed_form=2 / box.scale, found="exhausted")
    for adjacency in get_args(Adjacency):
        made = NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=2, noise="conditioned", adjacency=adjacency)
        pair, loss = worst_sheets(made), made.sensitivity / made.scale
        name = f"NoisyCounts, conditioned, {adjacency.replace('_', '/')}"
        yield Case(name, made, *pair, closed_form=loss, found="exhausted")


def _likelihood_cases() -> Iterator[Case]:
    """By hand where the closed form is met; all edge-adjacent data of 2 and 3 items exhausted."""

    def case(name: str, mechanism: PerturbedMLE, pair: tuple[Comparisons, Comparisons], **known: Any) -> Case:
        loss = None if "found" in known else mechanism.guarantee.epsilon
        return Case(f"PerturbedMLE, {name}", mechanism, *pair, closed_form=loss, **known)

    def worst(name: str, made: PerturbedMLE | Printed) -> Case:
        m, known = _promised(made)
        data, other, _ = worst_neighbours(m.scale, m.ridge, answers=m.per_person, link=m.link, repeats=True)
        return case(name, replace(m, n_items=data.n_items), (data, other), **known)

    calibrated = partial(PerturbedMLE.calibrated, epsilon=1.0)
    edges: dict[str, Any] = {"unit": "comparison"}
    pair: dict[str, Any] = {"per_person": 2, "unit": "voter"}
    secret: dict[str, Any] = {"graph": "private", "law": "continuous"}
    flip = comparisons([(0, 1, 1.0)], 2), comparisons([(0, 1, 0.0)], 2)
    for link in (LOGISTIC, ARCTAN):
        yield worst(f"Algorithm 1, {link.name}", algorithm_1(1.0, 4, link=link))
        yield worst(f"calibrated, {link.name}", calibrated(n_items=4, ridge=1.5, link=link, **edges, **secret))
    yield worst("Proposition 3.1, 2 answers", proposition_3_1(1.0, 8, per_person=2))
    yield worst("calibrated, 2 answers", calibrated(n_items=8, ridge=3.0, **pair, **secret))
    for law in ("continuous", "discrete"):
        chosen: dict[str, Any] = {"ridge": 0.2, "graph": "public", "law": law}
        yield case(f"public graph, {law}", calibrated(n_items=2, **edges, **chosen), flip)
        flips = comparisons([(0, 1, 1.0), (2, 3, 1.0)], 4), comparisons([(0, 1, 0.0), (2, 3, 0.0)], 4)
        yield case(f"public graph, 2 answers, {law}", calibrated(n_items=4, **pair, **chosen), flips)
    # found among all neighbours of three items with at most one comparison a pair: a guarantee for any number of items
    moved = comparisons([(0, 1, 1.0)], 3), comparisons([(1, 2, 1.0)], 3)
    three = calibrated(n_items=3, ridge=1.5, **edges, **secret)
    yield case("calibrated, three items", three, moved, found="exhausted")
    known = calibrated(n_items=4, ridge=1.5, graph="public", link=ARCTAN, law="continuous", **edges)
    yield case("public graph, arctan", known, worst_flip(known.scale, known.ridge, ARCTAN)[:2], found="by hand")


def _promised(made: Any) -> tuple[Any, dict[str, Any]]:
    """A mechanism, and what its paper promises if it is printed."""
    if isinstance(made, Printed):
        return made.mechanism, {"printed": made.claims.epsilon, "source": "cai2025"}
    return made, {}
