"""Bugs planted in central rank aggregation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from companion.chapters.privacy_audited.cases.aggregation import neighbours, voters_of
from companion.chapters.privacy_audited.cases.case import sampler
from companion.chapters.privacy_audited.planted import REVEALED, Loss, Mutant, by_law, miscalibrated, rewritten
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.laws import answer_chances, kwiksort_law, noisy_margins, sorted_by, tournaments
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.data.rankings import Rankings
from dprank.privacy import noise as laws
from dprank.privacy.divergence import Divergence, noise_shift, pair_of
from dprank.privacy.guarantee import Guarantee, Mechanism
from dprank.privacy.laws import best_first, exact

Pairs = Sequence[tuple[Rankings, Rankings]]

#: Scale of whole noise that no double tells from none: it is not 0 with chance exp(-10^4).
HARDLY = 1e-4
_PLACES = ("first", "second", "third")
_MARGINS = (*_PLACES, "margin ab", "margin ac", "margin bc")
_RAW = ("sum a", "sum b", "sum c")
_SCORES = (*_PLACES, "score a", "score b", "score c")
#: Alone, among a few, in a crowd, and a voter who swaps two items.
_REPLACED = (
    neighbours("replace", 1),
    neighbours("replace", 3),
    neighbours("replace", 15),
    (voters_of("abc abc abc"), voters_of("bac abc abc")),
)


def mutants() -> list[Mutant]:
    """Of every central mechanism of rank aggregation."""
    return [*_matrices(), *_bordas(), *_exponentials(), *_kwiksorts()]


def _rescaled(bug: str, right: Mechanism, wrong: Mechanism, pairs: Pairs = _REPLACED, **known: Any) -> Mutant:
    """The library's own code with a wrong parameter."""
    names = {NoisyMatrix: _MARGINS, PrivateBorda: _SCORES}.get(type(right), ())
    return miscalibrated(bug, right, wrong, pairs, names=names, **known)


# --- noisy matrices --------------------------------------------------------------------------------------------------


def _matrices() -> list[Mutant]:
    right = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, rule="borda")
    delta, wide = 0.01, 0.05
    classical = math.sqrt(2 * math.log(1.25 / delta))  # of Dwork and Roth (2014), Theorem A.1
    gaussian = NoisyMatrix(3, math.sqrt(3) * classical, "gaussian", delta=delta, law="continuous", rule="borda")
    approximate = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, delta=wide, law="continuous", rule="borda")
    pure = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, law="continuous", rule="borda")
    noisy = partial(_noisy_matrix, right)
    return [
        _rescaled("half the noise", right, replace(right, scale=right.scale / 2)),
        _rescaled("noise for one pair, not for all", right, replace(right, scale=right.scale / right.n_pairs)),
        _rescaled(
            "Gaussian noise without log(1 / delta)",
            gaussian,
            replace(gaussian, scale=gaussian.scale / classical * math.sqrt(2)),
            promise=Guarantee(1.0, delta),
        ),
        _rescaled("delta forgotten", pure, approximate, promise=Guarantee(1.0)),
        rewritten(
            "noise on positive margins only",
            right,
            _REPLACED,
            partial(noisy, only_positive=True),
            _revealing(right, lambda margins: np.minimum(margins, 0)),
            names=_MARGINS,
            twin=noisy,
        ),
        rewritten(
            "one draw for all pairs",
            right,
            _REPLACED,
            partial(noisy, shared=True),
            partial(_shared_loss, right),
            names=_MARGINS,
            twin=noisy,
        ),
        rewritten(
            "margins clamped to the data's largest",
            right,
            _REPLACED,
            partial(noisy, clamped=True),
            _revealing(right, lambda margins: np.abs(margins).max()),
            names=_MARGINS,
            twin=noisy,
        ),
        rewritten(
            "ties in the noisy scores broken by the true ones",
            right,
            _REPLACED,
            partial(noisy, ties=lambda data: -data.positions.sum(axis=0)),
            _revealing(right, lambda margins: np.sign(np.diff(margins @ _SIGNS))),
            names=_MARGINS,
            twin=noisy,
        ),
        rewritten(
            "ties in the noisy scores broken by the first ballot",
            right,
            _REPLACED,
            partial(noisy, ties=lambda data: -data.positions[0]),
            lambda data, other: (
                exact(right, data, other) if (data.positions[0] == other.positions[0]).all() else REVEALED
            ),
            names=_MARGINS,
            twin=noisy,
        ),
    ]


#: Scores of three items from the margins of their three pairs.
_SIGNS = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])


def _upper(data: Rankings) -> NDArray[np.int64]:
    votes = data.pairwise()
    return (votes - votes.T)[np.triu_indices(data.n_items, 1)]


def _noisy_matrix(
    right: NoisyMatrix,
    data: Rankings,
    size: int,
    rng: np.random.Generator,
    *,
    only_positive: bool = False,
    shared: bool = False,
    clamped: bool = False,
    ties: Callable[[Rankings], NDArray[Any]] | None = None,
) -> NDArray[np.float64]:
    """Orders by Borda's rule, and margins, with at most one bug."""
    margins = _upper(data)
    drawn = laws.discrete_laplace(right.scale, (size, 1 if shared else len(margins)), rng=rng)
    noisy = margins + 2 * drawn * ((margins > 0) if only_positive else 1)
    if clamped:
        noisy = np.clip(noisy, -np.abs(margins).max(), np.abs(margins).max())
    scores = noisy @ _SIGNS
    if ties is None:
        return np.c_[best_first(scores, rng), noisy]
    return np.c_[np.lexsort((np.broadcast_to(-ties(data), scores.shape), -scores)), noisy]


def _shared_loss(right: NoisyMatrix, data: Rankings, other: Rankings) -> Divergence:
    moves = (_upper(other) - _upper(data)) / 2
    return noise_shift(right.noise, right.law, moves[:1], right.scale) if (moves == moves[0]).all() else REVEALED


def _revealing(right: NoisyMatrix, bare: Callable[[NDArray[np.int64]], NDArray[Any]]) -> Loss:
    """Divergence at delta 0 where a statistic of the margins is published without noise."""

    def loss(data: Rankings, other: Rankings) -> Divergence:
        margins = _upper(data), _upper(other)
        if (bare(margins[0]) != bare(margins[1])).any():
            return REVEALED
        return exact(right, data, other)

    return loss


# --- Borda's count ---------------------------------------------------------------------------------------------------


def _bordas() -> list[Mutant]:
    right = PrivateBorda.calibrated(n_items=3, epsilon=1.0)
    added = PrivateBorda.calibrated(n_items=3, epsilon=1.0, adjacency="add_remove")
    return [
        _rescaled("half the noise", right, replace(right, scale=right.scale / 2)),
        _rescaled("noise for one item's places, not for all", right, replace(right, scale=right.n_items - 1.0)),
        rewritten(
            "raw sums published, where only their differences are covered",
            added,
            [neighbours("add_remove", voters) for voters in (0, 3, 15)],
            partial(_raw_sums, added),
            lambda data, other: noise_shift("laplace", "discrete", _sums(other) - _sums(data), added.scale),
            names=_RAW,
        ),
        rewritten(
            "noise drawn anew until no sum is out of range",
            right,
            _REPLACED,
            partial(_in_range, right),
            lambda data, other: pair_of(*(_in_range_law(right, d) for d in (data, other)), log=True),
            names=_RAW,
        ),
    ]


def _sums(data: Rankings) -> NDArray[np.int64]:
    return data.positions.sum(axis=0, dtype=np.int64)


def _raw_sums(right: PrivateBorda, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return right.perturb(np.tile(_sums(data), (size, 1)), rng)


def _in_range(right: PrivateBorda, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    sums = np.tile(_sums(data), (size, 1))
    noisy = right.perturb(sums, rng)
    most = len(data) * (right.n_items - 1)
    while (out := (noisy < 0) | (noisy > most)).any():
        noisy[out] = sums[out] + laws.discrete_laplace(right.scale, int(out.sum()), rng=rng)
    return noisy


def _in_range_law(right: PrivateBorda, data: Rankings) -> NDArray[np.float64]:
    """Log probabilities of all sums in range."""
    grid = np.arange(len(data) * (right.n_items - 1) + 1)
    weights = -np.abs(grid - _sums(data)[:, None]) / right.scale
    logs = weights - np.log(np.exp(weights).sum(axis=1, keepdims=True))
    return np.asarray(sum(np.ix_(*logs))).ravel()


# --- the exponential mechanism ---------------------------------------------------------------------------------------


def _exponentials() -> list[Mutant]:
    right, large = (
        ExponentialMechanism.calibrated(n_items=3, epsilon=1.0),
        ExponentialMechanism.calibrated(n_items=7, epsilon=2.0),
    )
    fast = replace(large, rate=large.guarantee.epsilon / (2 * large.n_items))
    return [
        _rescaled("a sensitivity of 1 for a Kemeny score", right, replace(right, rate=0.5)),
        rewritten(
            "a sensitivity of m for a Kemeny score",
            large,
            [neighbours("replace", 1, n_items=7)],
            sampler(fast),
            lambda data, other: _turned_alone(fast),
        ),
        _rescaled("the factor 2 of the exponential mechanism forgotten", right, replace(right, rate=2 * right.rate)),
        rewritten(
            "only orders that some voter gave",
            right,
            _REPLACED,
            partial(_of_ballots, right),
            by_law(partial(_ballot_law, right)),
        ),
    ]


def _turned_alone(mechanism: ExponentialMechanism) -> Divergence:
    """Of the only voter, who turns round: what counts is the distance of the order to their ranking."""
    steps = [np.ones(size) for size in range(1, mechanism.n_items + 1)]
    orders = reduce(np.convolve, steps)
    logs = np.log(orders) - mechanism.rate * np.arange(len(orders))
    return pair_of(*(law - logsumexp(law) for law in (logs, logs[::-1])), log=True)


def _ballot_law(right: ExponentialMechanism, data: Rankings) -> dict[tuple[int, ...], float]:
    given = np.unique(data.positions, axis=0)
    costs = np.array([_disagreements(row, data) for row in given])
    weights = np.exp(-right.rate * (costs - costs.min()))
    orders = map(tuple, np.argsort(given, axis=1).tolist())
    return dict(zip(orders, (weights / weights.sum()).tolist(), strict=True))


def _disagreements(row: NDArray[Any], data: Rankings) -> int:
    first, second = np.triu_indices(data.n_items, 1)
    signs = data.positions[:, first] < data.positions[:, second]
    return int((signs != (row[first] < row[second])).sum())


def _of_ballots(
    right: ExponentialMechanism, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    law = _ballot_law(right, data)
    return np.array(list(law), float)[rng.choice(len(law), size, p=list(law.values()))]


# --- KwikSort --------------------------------------------------------------------------------------------------------


def _kwiksorts() -> list[Mutant]:
    right = PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, law="continuous")
    few = PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, queries=2, share=0.3, rule="copeland")
    spent = PrivateKwikSort.calibrated(
        n_items=3, epsilon=1.0, queries=2, share=0.005, rule="copeland", law="continuous"
    )
    far = [neighbours("replace", voters) for voters in (3, _LARGE)]
    return [
        _rescaled("half the noise", right, replace(right, scale=right.scale / 2)),
        _rescaled("all of epsilon on every comparison", right, replace(right, scale=1.0)),
        # no call makes more than m - 1 comparisons, so that none ever stops
        _rescaled(
            "the counter starts anew in every call",
            spent,
            PrivateKwikSort(3, 3, spent.scale, None, law="continuous"),
            [neighbours("replace", voters) for voters in (1, 2, 3)],
        ),
        _rescaled("a fallback without noise", few, replace(few, fallback=NoisyMatrix(3, HARDLY, rule="copeland"))),
        rewritten(
            "no noise where the margin is large",
            right,
            far,
            partial(_noise_if_close, right),
            by_law(partial(_noise_if_close_law, right)),
        ),
    ]


#: Voters who agree, so many that the margin is large; one less and it is not.
_LARGE = 13


def _noise_if_close(right: PrivateKwikSort, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    margins = _half_margins(data)
    noisy = np.where(abs(margins) > 2 * right.scale, margins, noisy_margins(right, data, size, rng))
    return sorted_by(tournaments(noisy, rng), rng)[0]


def _noise_if_close_law(right: PrivateKwikSort, data: Rankings) -> dict[Any, float]:
    [before] = answer_chances(right, data)
    margins = _half_margins(data)
    sharp = np.where(abs(margins) > 2 * right.scale, margins > 0, before)
    law: dict[Any, float] = {}
    for (order, _), chance in kwiksort_law(sharp).items():
        law[order] = law.get(order, 0.0) + chance
    return law


def _half_margins(data: Rankings) -> NDArray[np.float64]:
    votes = data.pairwise()
    return (votes - votes.T) / 2
