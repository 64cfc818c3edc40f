"""Bugs of noisy win counts and of the perturbed likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.case import sampler
from companion.chapters.privacy_audited.cases.pairwise import comparisons, worst_sheets
from companion.chapters.privacy_audited.planted import REVEALED, Loss, Mutant, rewritten
from dprank.audit.betting import Sampler
from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins, win_counts
from dprank.models.likelihood import mle
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy import noise
from dprank.privacy.divergence import LaplaceShift, PairLaw, pair_of, whole_noise
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact

Array = NDArray[Any]
Pairs = Sequence[tuple[Comparisons, Comparisons]]

#: Whole noise beyond so many scales has no place in an exact law, and outcomes that are as rare are told as one.
_REACH, _RARE = 25, 1e-9
#: What one comparison turned round looks like on little data and on more.
WON, NONE = comparisons([(0, 1, 1.0)], 2), comparisons([], 2)
FLIPS: Pairs = [
    (comparisons([(0, 1, 1.0)] * n, 2), comparisons([(0, 1, 1.0)] * (n - 1) + [(0, 1, 0.0)], 2)) for n in (1, 2, 20)
]
#: One comparison of three items moved to another pair.
PATHS: Pairs = [
    (comparisons([*rest, (0, 1, 1.0)], 3), comparisons([*rest, (1, 2, 1.0)], 3)) for rest in ([], [(0, 2, 1.0)] * 3)
]
COUNTS = NoisyCounts.calibrated(epsilon=1.0, n_items=2, unit="comparison", score="wins")
PUBLIC = PerturbedMLE.calibrated(epsilon=1.0, n_items=2, ridge=0.5, graph="public", unit="comparison", law="continuous")

#: Of a likelihood whose graph is part of what is protected, one comparison at a time.
SECRET: dict[str, Any] = {"graph": "private", "unit": "comparison", "law": "continuous"}


def mutants() -> list[Mutant]:
    """Of noisy counts and of the perturbed likelihood."""
    return [*_on_counts(), *_on_likelihoods()]


def _plant(
    bug: str, right: NoisyCounts | PerturbedMLE, pairs: Pairs, broken: Sampler, loss: Loss | None = None, **known: Any
) -> Mutant:
    """Scores of all items and their order are published."""
    places = range(right.n_items)
    names = [f"score of item {place}" for place in places] + [f"place {1 + place}" for place in places]
    return rewritten(bug, right, pairs, broken, loss, names=names, **known)


def _recalibrated(bug: str, right: Any, wrong: Any, pairs: Pairs, **known: Any) -> Mutant:
    """The right code with the wrong parameters."""
    return _plant(bug, right, pairs, sampler(wrong), partial(exact, wrong), **known)


def _on_counts() -> list[Mutant]:
    several = NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3, score="wins")
    survey: dict[str, Any] = {"per_person": 3, "score": "wins", "design": "complete"}
    ties, none = (NoisyCounts.calibrated(epsilon=2.0, n_items=3, ties=ties, **survey) for ties in (True, False))
    zero = NoisyCounts.calibrated(epsilon=1.0, n_items=3, unit="comparison", noise="conditioned")
    box = NoisyCounts.calibrated(epsilon=1.0, n_items=2, unit="comparison", noise="cube")
    same = NoisyCounts.calibrated(epsilon=2.0, delta=1e-2, n_items=4, per_person=2)
    disjoint = replace(same, scale=same.scale * replace(same, design="matching").l2_sensitivity / same.l2_sensitivity)
    half, single = replace(COUNTS, scale=COUNTS.scale / 2), replace(several, scale=COUNTS.scale)
    tied = replace(ties, scale=none.scale)
    table, doubles = replace(COUNTS, n_items=3), replace(COUNTS, law="continuous")
    # the same pair, noted down the other way round, with the other outcome
    flips: Pairs = [*FLIPS, (WON, comparisons([(1, 0, 1.0)], 2))]
    rest, moves = [(0, 2, 1.0)] * 2, ((0, 1, 0.0), (0, 2, 1.0))
    met: Pairs = [(comparisons([*rest, (0, 1, 1.0)], 3), comparisons([*rest, moved], 3)) for moved in moves]

    def published(bug: str, publish: Callable[[Array, Comparisons], Array]) -> Mutant:
        return _plant(bug, COUNTS, flips, partial(_released, publish), partial(_loss, publish))

    return [
        _recalibrated("half the noise on win counts", COUNTS, half, FLIPS),
        _recalibrated("one answer's sensitivity for a voter with 3", several, single, [worst_sheets(several)]),
        _recalibrated("sensitivity of a survey whose ties were dropped", ties, tied, [worst_sheets(ties)]),
        _recalibrated("half the conditioned noise", zero, replace(zero, scale=zero.scale / 2), [worst_sheets(zero)]),
        _recalibrated("half the noise in a cube", box, replace(box, scale=box.scale / 2), [worst_sheets(box)]),
        _recalibrated("l2 sensitivity of a matching for answers to one pair", same, disjoint, [worst_sheets(same)]),
        published("noise on positive counts only", on_positive),
        published("counts clamped to the data's own maximum", clamped),
        published("equal noisy counts in order of first appearance", by_appearance),
        _plant("no noise on pairs that met once", table, met, _met_often, _met_loss),
        _plant("noise in double precision on a count", COUNTS, FLIPS, sampler(doubles), bits=True),
    ]


def _released(publish: Callable[[Array, Comparisons], Array], data: Comparisons, size: int, rng: Any) -> Array:
    return publish(COUNTS.perturb(win_counts(data), rng, size), data)


def _loss(publish: Callable[[Array, Comparisons], Array], data: Comparisons, other: Comparisons) -> PairLaw:
    """By enumeration of the noise on two items."""
    steps, mass = (
        np.array(list(product(each, repeat=2)))
        for each in whole_noise("laplace", COUNTS.scale, round(_REACH * COUNTS.scale))
    )
    rows = np.concatenate([publish(win_counts(d) + steps, d) for d in (data, other)])
    _, outcome = np.unique(rows, axis=0, return_inverse=True)
    laws = [np.bincount(part, mass.prod(axis=1), outcome.max() + 1) for part in np.split(outcome.ravel(), 2)]
    rare = np.maximum(*laws) < _RARE
    return pair_of(*(np.r_[law[~rare], law[rare].sum()] for law in laws))


def on_positive(noisy: Array, data: Comparisons) -> Array:
    """Noisy counts, but zeros as they are: nothing there to protect."""
    return np.where(win_counts(data) > 0, noisy, 0)


def clamped(noisy: Array, data: Comparisons) -> Array:
    """Noisy counts, none below 0 or above the largest of the data."""
    return np.clip(noisy, 0, win_counts(data).max())


def by_appearance(noisy: Array, data: Comparisons) -> Array:
    """Noisy counts and their order, ties by a stable sort of items as the data name them first."""
    named = np.column_stack([data.first, data.second]).ravel()
    seen = named[np.sort(np.unique(named, return_index=True)[1])]
    return np.hstack([noisy, seen[np.argsort(-noisy[:, seen], axis=1, kind="stable")]])


def _met_often(data: Comparisons, size: int, rng: np.random.Generator) -> Array:
    """Win counts from a table of pairs, in which only those that met more than once receive noise."""
    wins = pairwise_wins(data)
    drawn = noise.discrete_laplace(COUNTS.scale, (size, *wins.shape), rng=rng)
    return np.asarray((wins + drawn * (wins + wins.T > 1)).sum(axis=2))


def _met_loss(data: Comparisons, other: Comparisons) -> PairLaw:
    """A lower bound: of the items that nobody met twice, whose counts come out as they are."""
    bare = [np.where((pairwise_wins(d) + pairwise_wins(d).T > 1).any(axis=1), -1, win_counts(d)) for d in (data, other)]
    return REVEALED if (bare[0] != bare[1]).any() else pair_of([1.0], [1.0])


def _on_likelihoods() -> list[Mutant]:
    private = PerturbedMLE.calibrated(epsilon=1.0, n_items=3, ridge=1.5, **SECRET)
    bare, smooth, tiny = (PerturbedMLE(*of, **SECRET) for of in ((3, 4.0, 0.05), (2, 4.0, 1.5), (2, 2.0, 0.05)))
    added = Guarantee(2 / tiny.scale, unit="comparison", adjacency="add_remove")
    secret = PerturbedMLE(3, PUBLIC.scale, PUBLIC.ridge, graph="public", unit="comparison", law="discrete")
    return [
        _recalibrated("half the noise in the objective", PUBLIC, replace(PUBLIC, scale=PUBLIC.scale / 2), FLIPS),
        _recalibrated("curvature of a moved comparison forgotten", private, bare, PATHS),
        _recalibrated(
            "ridge forgotten under add/remove", smooth, tiny, [(NONE, WON), (WON, FLIPS[1][0])], guarantee=added
        ),
        _plant("edge set of the data behind noisy counts", private, PATHS, sampler(secret)),
        _plant("one step of the optimiser from the estimate without noise", PUBLIC, FLIPS, _one_step, _step_loss),
    ]


def _one_step(data: Comparisons, size: int, rng: np.random.Generator) -> Array:
    """A gradient step on the noisy objective, from where the gradient of all but the noise is 0."""
    start, rate = _warm_start(data)
    return start - rate * noise.laplace(PUBLIC.scale, (size, data.n_items), rng=rng)


def _step_loss(data: Comparisons, other: Comparisons) -> LaplaceShift:
    (one, rate), (two, _) = _warm_start(data), _warm_start(other)
    return LaplaceShift((one - two).tolist(), rate * PUBLIC.scale)


def _warm_start(data: Comparisons) -> tuple[Array, float]:
    """The estimate without noise, and a rate that suits the public graph."""
    most = np.bincount(np.r_[data.first, data.second]).max()
    return mle(data, ridge=PUBLIC.ridge).theta, 1 / (most / 2 + PUBLIC.ridge)
