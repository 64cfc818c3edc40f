"""Bugs planted in central rank aggregation."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from companion.chapters.privacy_audited.cases.aggregation import neighbours, voters_of
from companion.chapters.privacy_audited.cases.case import sampler
from companion.chapters.privacy_audited.planted import REVEALED, Loss, Mutant, listed, miscalibrated, rewritten
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.laws import answer_chances, kwiksort_law, noisy_margins, sorted_by, tournaments
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_footrule import PrivateFootrule, assignments, footrule_costs
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.winner import PrivateWinner
from dprank.aggregation.winner_laws import permute_and_flip
from dprank.data.rankings import Rankings
from dprank.privacy import noise as laws
from dprank.privacy.divergence import Divergence, noise_shift, pair_of
from dprank.privacy.guarantee import Guarantee, Mechanism
from dprank.privacy.laws import best_first, exact

Pairs = Sequence[tuple[Rankings, Rankings]]

#: Scale of whole noise that no double tells from none: it is not 0 with chance exp(-10^4).
HARDLY = 1e-4
#: Voters who agree, so many that the margin is large; one less and it is not.
_LARGE = 13
_PLACES = ("first", "second", "third")
_MARGINS = (*_PLACES, "margin ab", "margin ac", "margin bc")
_RAW = ("sum a", "sum b", "sum c")
_SCORES = (*_PLACES, "score a", "score b", "score c")
#: Scores of three items from the margins of their three pairs.
_SIGNS = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
#: Alone, among a few, in a crowd, and a voter who swaps two items.
_REPLACED = [neighbours("replace", n) for n in (1, 3, 15)] + [(voters_of("abc abc abc"), voters_of("bac abc abc"))]

#: Those without bugs.
MATRIX = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, rule="borda")
BORDA = PrivateBorda.calibrated(n_items=3, epsilon=1.0)
ADDED = PrivateBorda.calibrated(n_items=3, epsilon=1.0, adjacency="add_remove")
ORDERS = ExponentialMechanism.calibrated(n_items=3, epsilon=1.0)
WINNER = PrivateWinner.calibrated(n_items=3, epsilon=1.0)
SORT = PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, law="continuous")


def mutants() -> list[Mutant]:
    """Of every central mechanism of rank aggregation."""
    return [*_matrices(), *_bordas(), *_exponentials(), *_kwiksorts(), *_footrules(), *_winners()]


def _footrules() -> list[Mutant]:
    """Of four items: a voter alone is turned round."""
    right = PrivateFootrule.calibrated(n_items=4, epsilon=1.0)
    pairs = [neighbours("replace", 1, n_items=4)]

    def shared(data: Rankings, size: int, rng: np.random.Generator) -> NDArray[Any]:
        noise = laws.discrete_laplace(right.scale, (size, 1, 4), rng=rng)
        counts = right.counts(data) + noise
        return np.argsort(assignments(footrule_costs(counts)), axis=1)

    return [
        _rescaled("noise for one item, not for all", right, replace(right, scale=right.scale / 4), pairs),
        # it is added to all items alike: every order becomes dearer by as much
        rewritten("one draw for all items", right, pairs, shared, lambda p, q: REVEALED),
    ]


def _rescaled(bug: str, right: Mechanism, wrong: Mechanism, pairs: Pairs = _REPLACED, **known: Any) -> Mutant:
    """The library's own code with a wrong parameter."""
    names = {NoisyMatrix: _MARGINS, PrivateBorda: _SCORES}.get(type(right), ())
    return miscalibrated(bug, right, wrong, pairs, names=names, **known)


def _matrices() -> list[Mutant]:
    delta, wide = 0.01, 0.05
    classical = math.sqrt(2 * math.log(1.25 / delta))  # of Dwork and Roth (2014), Theorem A.1
    gaussian = NoisyMatrix(3, math.sqrt(3) * classical, "gaussian", delta=delta, law="continuous", rule="borda")
    small = replace(gaussian, scale=gaussian.scale / classical * math.sqrt(2))
    make = partial(NoisyMatrix.calibrated, n_items=3, epsilon=1.0, law="continuous", rule="borda")
    pure, approximate = make(), make(delta=wide)

    def planted(bug: str, loss: Loss, **wrong: Any) -> Mutant:
        sampler = partial(_noisy_matrix, **wrong)
        return rewritten(bug, MATRIX, _REPLACED, sampler, loss, names=_MARGINS, twin=_noisy_matrix)

    def bare(statistic: Callable[[Rankings], NDArray[Any]]) -> Loss:
        """Of what publishes something of the data without noise, at delta 0."""
        return lambda p, q: REVEALED if (statistic(p) != statistic(q)).any() else exact(MATRIX, p, q)

    def ballot(data: Rankings) -> NDArray[Any]:
        return data.positions[0]

    order = bare(lambda data: np.sign(np.diff(_upper(data) @ _SIGNS)))
    return [
        _rescaled("half the noise", MATRIX, replace(MATRIX, scale=MATRIX.scale / 2)),
        _rescaled("noise for one pair, not for all", MATRIX, replace(MATRIX, scale=MATRIX.scale / MATRIX.n_pairs)),
        _rescaled("Gaussian noise without log(1 / delta)", gaussian, small, guarantee=Guarantee(1.0, delta)),
        _rescaled("delta forgotten", pure, approximate, guarantee=Guarantee(1.0)),
        planted("noise on positive margins only", bare(lambda data: np.minimum(_upper(data), 0)), only_positive=True),
        planted("one draw for all pairs", _shared_loss, shared=True),
        planted("margins clamped to the data's largest", bare(lambda data: np.abs(_upper(data)).max()), clamped=True),
        planted("ties in the noisy scores broken by the true ones", order, ties=lambda data: -_sums(data)),
        planted("ties in the noisy scores broken by the first ballot", bare(ballot), ties=lambda data: -ballot(data)),
    ]


def _upper(data: Rankings) -> NDArray[np.int64]:
    """Margins of the pairs."""
    votes = data.pairwise()
    return (votes - votes.T)[np.triu_indices(data.n_items, 1)]


def _noisy_matrix(
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
    drawn = laws.discrete_laplace(MATRIX.scale, (size, 1 if shared else len(margins)), rng=rng)
    noisy = margins + 2 * drawn * ((margins > 0) if only_positive else 1)
    if clamped:
        noisy = np.clip(noisy, -np.abs(margins).max(), np.abs(margins).max())
    scores = noisy @ _SIGNS
    if ties is None:
        return np.c_[best_first(scores, rng), noisy]
    return np.c_[np.lexsort((np.broadcast_to(-ties(data), scores.shape), -scores)), noisy]


def _shared_loss(data: Rankings, other: Rankings) -> Divergence:
    moves = (_upper(other) - _upper(data)) / 2
    return noise_shift(MATRIX.noise, MATRIX.law, moves[:1], MATRIX.scale) if (moves == moves[0]).all() else REVEALED


def _bordas() -> list[Mutant]:
    return [
        _rescaled("half the noise", BORDA, replace(BORDA, scale=BORDA.scale / 2)),
        _rescaled("noise for one item's places, not for all", BORDA, replace(BORDA, scale=BORDA.n_items - 1.0)),
        rewritten(
            "raw sums published, where only their differences are covered",
            ADDED,
            [neighbours("add_remove", voters) for voters in (0, 3, 15)],
            lambda data, size, rng: ADDED.perturb(np.tile(_sums(data), (size, 1)), rng),
            lambda data, other: noise_shift("laplace", "discrete", _sums(other) - _sums(data), ADDED.scale),
            names=_RAW,
        ),
        rewritten(
            *("noise drawn anew until no sum is out of range", BORDA, _REPLACED, _in_range),
            lambda data, other: pair_of(_in_range_law(data), _in_range_law(other), log=True),
            names=_RAW,
        ),
    ]


def _sums(data: Rankings) -> NDArray[np.int64]:
    return data.positions.sum(axis=0, dtype=np.int64)


def _in_range(data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    sums = np.tile(_sums(data), (size, 1))
    noisy = BORDA.perturb(sums, rng)
    while (out := (noisy < 0) | (noisy > len(data) * (BORDA.n_items - 1))).any():
        noisy[out] = sums[out] + laws.discrete_laplace(BORDA.scale, int(out.sum()), rng=rng)
    return noisy


def _in_range_law(data: Rankings) -> NDArray[np.float64]:
    """Log probabilities of all sums in range."""
    weights = -np.abs(np.arange(len(data) * (BORDA.n_items - 1) + 1) - _sums(data)[:, None]) / BORDA.scale
    logs = weights - np.log(np.exp(weights).sum(axis=1, keepdims=True))
    return np.asarray(sum(np.ix_(*logs))).ravel()


def _exponentials() -> list[Mutant]:
    large = ExponentialMechanism.calibrated(n_items=7, epsilon=2.0)
    fast = replace(large, rate=large.guarantee.epsilon / (2 * large.n_items))
    doubled = replace(ORDERS, rate=2 * ORDERS.rate)
    return [
        _rescaled("a sensitivity of 1 for a Kemeny score", ORDERS, replace(ORDERS, rate=0.5)),
        rewritten(
            *("a sensitivity of m for a Kemeny score", large, [neighbours("replace", 1, n_items=7)], sampler(fast)),
            lambda data, other: _turned_alone(fast),
        ),
        _rescaled("the factor 2 of the exponential mechanism forgotten", ORDERS, doubled),
        listed("only orders that some voter gave", ORDERS, _REPLACED, _of_ballots, _ballot_law),
    ]


def _turned_alone(mechanism: ExponentialMechanism) -> Divergence:
    """Of the only voter, who turns round: what counts is the distance of the order to their ranking."""
    orders = reduce(np.convolve, [np.ones(size) for size in range(1, mechanism.n_items + 1)])
    logs = np.log(orders) - mechanism.rate * np.arange(len(orders))
    return pair_of(*(law - logsumexp(law) for law in (logs, logs[::-1])), log=True)


def _ballot_law(data: Rankings) -> dict[tuple[int, ...], float]:
    given = np.unique(data.positions, axis=0)
    first, second = np.triu_indices(data.n_items, 1)
    asked, said = (positions[:, first] < positions[:, second] for positions in (given, data.positions))
    costs = (asked[:, None] != said).sum(axis=(1, 2))
    weights = np.exp(-ORDERS.rate * (costs - costs.min()))
    orders = map(tuple, np.argsort(given, axis=1).tolist())
    return dict(zip(orders, (weights / weights.sum()).tolist(), strict=True))


def _of_ballots(data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    law = _ballot_law(data)
    return np.array(list(law), float)[rng.choice(len(law), size, p=list(law.values()))]


def _winners() -> list[Mutant]:
    borda = replace(WINNER, rule="borda", scale=float(WINNER.scale * (WINNER.n_items - 1)))
    crowds = [neighbours("replace", 3), neighbours("replace", 30), neighbours("replace", 31, 15)]
    return [
        _rescaled("a margin's move for that of a difference", WINNER, replace(WINNER, scale=WINNER.scale / 2), crowds),
        _rescaled("net wins said to move as margins do", borda, replace(borda, scale=WINNER.scale), crowds),
        listed("a clear Condorcet winner named without noise", WINNER, crowds, _if_unclear, _if_unclear_law),
    ]


def _if_unclear(data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    law = _if_unclear_law(data)
    return np.array(rng.choice(len(law), (size, 1), p=list(law.values())), float)


def _if_unclear_law(data: Rankings) -> dict[int, float]:
    scores = WINNER.scores(data)
    clear = scores.max() > len(data) - 1
    return dict(enumerate(np.eye(len(scores))[scores.argmax()] if clear else permute_and_flip(scores / WINNER.scale)))


def _kwiksorts() -> list[Mutant]:
    make = partial(PrivateKwikSort.calibrated, n_items=3, epsilon=1.0, queries=2, rule="copeland")
    few, spent = make(share=0.3), make(share=0.005, law="continuous")
    endless = PrivateKwikSort(3, 3, spent.scale, None, law="continuous")
    one, two, three, far = (neighbours("replace", voters) for voters in (1, 2, 3, _LARGE))
    return [
        _rescaled("half the noise", SORT, replace(SORT, scale=SORT.scale / 2)),
        _rescaled("all of epsilon on every comparison", SORT, replace(SORT, scale=1.0)),
        # no call makes more than m - 1 comparisons, so that none ever stops
        _rescaled("the counter starts anew in every call", spent, endless, [one, two, three]),
        _rescaled("a fallback without noise", few, replace(few, fallback=NoisyMatrix(3, HARDLY, rule="copeland"))),
        listed("no noise where the margin is large", SORT, [three, far], _if_close, _if_close_law),
    ]


def _if_close(data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    margins = _half_margins(data)
    noisy = np.where(abs(margins) > 2 * SORT.scale, margins, noisy_margins(SORT, data, size, rng))
    return sorted_by(tournaments(noisy, rng), rng)[0]


def _if_close_law(data: Rankings) -> dict[Any, float]:
    [before] = answer_chances(SORT, data)
    margins = _half_margins(data)
    law: defaultdict[Any, float] = defaultdict(float)
    for (order, _), chance in kwiksort_law(np.where(abs(margins) > 2 * SORT.scale, margins > 0, before)).items():
        law[order] += chance
    return law


def _half_margins(data: Rankings) -> NDArray[np.float64]:
    votes = data.pairwise()
    return (votes - votes.T) / 2
