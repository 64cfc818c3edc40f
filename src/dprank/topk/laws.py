"""Selection of the k largest: laws of sets by one quadrature, of lists by nested ones, of rounds by their product.

Items that move alike are one type, and outcomes that take as many of each type are one class: the cost grows with the
number of types, not of items. Only lists under Laplace and exponential noise go through all permutations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

import dprank.topk.local_laws  # noqa: F401  registers the law of reports
from dprank._require import as_floats
from dprank.data.comparisons import Comparisons
from dprank.data.tallies import Tallies, counted, is_series
from dprank.privacy import noise as noises
from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.topk.curve import Types, compositions, log_set_probability, pair_law
from dprank.topk.joint import JointExponential
from dprank.topk.list_law import list_chances
from dprank.topk.noise_laws import LAWS, Noise
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.topk.private_spectral import PrivateRankCentrality

__all__ = [
    "Array",
    "draw_joint_choices",
    "draw_rank_centrality",
    "draw_rounds",
    "draw_selections",
    "joint_choices",
    "joint_law",
    "rank_centrality_law",
    "rounds_law",
    "selection_law",
]

Array = NDArray[np.float64]

#: Cells of all released values of one outcome.
_CELLS = 10_000
#: Most choices that are listed.
_CHOICES = 200_000


# --- exact -----------------------------------------------------------------------------------------------------------


class _Outcomes(NamedTuple):
    """How many of each type are chosen, shape (outcomes, types), and log probabilities of that at both data sets."""

    taken: Array
    log_p: Array
    log_q: Array


@exact.register
def selection_law(mechanism: Oneshot, data: Any, other: Any) -> PairLaw:
    """Law of what is chosen, and of the released values cell by cell.

    A value moves the density by a constant factor beyond its two centres; between them cells of equal width stand in
    for the value. That is exact at delta 0, and else a lower bound, off by the square of a width.

    Examples
    --------
    >>> round(selection_law(Oneshot(1, 2.0, "gumbel"), [1, 0], [0, 1]).epsilon(0.0), 4)
    0.5
    """
    types = _types(mechanism, data, other)
    of = _lists if mechanism.ordered else _sets
    outcomes = of(types, mechanism.k, mechanism.scale, mechanism.noise)
    if mechanism.value_scale is None:
        return PairLaw(outcomes.log_p, outcomes.log_q)
    moves = np.abs(np.subtract(types.after, types.before)) / mechanism.value_scale
    shown = [_shown(np.repeat(moves, taken.astype(int))) for taken in outcomes.taken]
    return PairLaw(
        np.concatenate([log_p + cells for log_p, (cells, _) in zip(outcomes.log_p, shown, strict=True)]),
        np.concatenate([log_q + cells for log_q, (_, cells) in zip(outcomes.log_q, shown, strict=True)]),
    )


@exact.register
def rounds_law(mechanism: Peeling, data: Any, other: Any) -> PairLaw:
    """Law of the list: a product over the rounds.

    Examples
    --------
    >>> round(rounds_law(Peeling(1, 2.0, "gumbel"), [1, 0], [0, 1]).epsilon(0.0), 4)
    0.5
    """
    outcomes = _rounds(_types(mechanism, data, other), mechanism.k, mechanism.scale, mechanism.noise)
    return PairLaw(outcomes.log_p, outcomes.log_q)


@exact.register
def joint_law(mechanism: JointExponential, data: Any, other: Any) -> PairLaw:
    """By listing all choices.

    Examples
    --------
    >>> round(joint_law(JointExponential(1, 2.0, n_items=2), [1, 0], [0, 1]).epsilon(0.0), 4)
    0.5
    """
    return pair_of(*(list(joint_choices(mechanism, values).values()) for values in (data, other)))


def joint_choices(mechanism: JointExponential, data: Any) -> dict[tuple[int, ...], float]:
    """Probability of every choice, from the definition of its loss.

    Raises
    ------
    NoExactRoute
        Where there are more than 200,000.

    Examples
    --------
    >>> joint_choices(JointExponential(1, 2.0, n_items=2), [5, 5])
    {(0,): 0.5, (1,): 0.5}
    """
    x = _values(mechanism, data) * (1 if mechanism.largest else -1)
    best, k = -np.sort(-x), mechanism.k
    if (math.perm if mechanism.ordered else math.comb)(len(x), k) > _CHOICES:
        raise NoExactRoute(f"n_items = {len(x)}, k = {k}: more choices than are listed for an exact law")
    if mechanism.ordered or k == 1:
        choices = list(permutations(range(len(x)), k))
        losses = [max(best[:k] - x[list(chosen)]) for chosen in choices]
    else:
        choices = list(combinations(range(len(x)), k))
        losses = [max(np.delete(x, chosen), default=0.0) - min(x[list(chosen)]) for chosen in choices]
    return dict(zip(choices, scipy.special.softmax(-np.array(losses) / mechanism.scale).tolist(), strict=True))


@exact.register
def rank_centrality_law(mechanism: PrivateRankCentrality, data: Comparisons, other: Comparisons) -> PairLaw:
    """That of the selection from the scores.

    Examples
    --------
    >>> data, other = (Comparisons([0], [1], [won], items=["a", "b"]) for won in (1, 0))
    >>> mechanism = PrivateRankCentrality(n_items=2, k=1, samples=1, scale=2.0)
    >>> round(rank_centrality_law(mechanism, data, other).epsilon(0.0), 4), mechanism.guarantee.epsilon
    (0.4934, 2.5)
    """
    before, after = (mechanism.scores(mechanism.shares(comparisons)) for comparisons in (data, other))
    return selection_law(Oneshot(mechanism.k, mechanism.scale), before, after)


def _values(mechanism: JointExponential | Oneshot | Peeling, data: Any) -> Array:
    """Of the declared items; of a law that is stated for any number of items, those of an array."""
    if mechanism.n_items is not None or is_series(data) or isinstance(data, Tallies):
        bound = getattr(mechanism, "per_person", None)
        data = counted(data, mechanism.n_items, mechanism.items, sensitivity=mechanism.sensitivity, per_person=bound)
    return as_floats("data", data)


def _types(mechanism: Oneshot | Peeling, data: Any, other: Any) -> Types:
    """Items that have the same value in either data set, counted."""
    sign = 1 if mechanism.largest else -1
    both = sign * np.array([_values(mechanism, data), _values(mechanism, other)])
    moves, counts = np.unique(both, axis=1, return_counts=True)
    return Types(counts.tolist(), *moves)


def _sets(types: Types, k: int, scale: float, noise: Noise) -> _Outcomes:
    law = pair_law(types, k, scale, noise)
    return _Outcomes(compositions(types.counts, k), law.log_p, law.log_q)


def _lists(types: Types, k: int, scale: float, noise: Noise) -> _Outcomes:
    if noise == "gumbel":  # one pass has the law of k rounds
        return _rounds(types, k, scale, noise)
    kind = np.repeat(np.arange(len(types.counts)), types.counts)
    lists = list(permutations(range(len(kind)), k))
    log_p, log_q = (np.log(list_chances(np.repeat(values, types.counts) / scale, lists, noise)) for values in types[1:])
    return _Outcomes((kind[lists][:, :, None] == np.arange(len(types.counts))).sum(axis=1).astype(float), log_p, log_q)


def _rounds(types: Types, k: int, scale: float, noise: Noise) -> _Outcomes:
    """Lists of types, a winner taken away after every round."""
    counts = np.asarray(types.counts)
    winners: dict[tuple[int, ...], list[Array]] = {}

    def descend(left: NDArray[np.int64], log_p: float, log_q: float) -> Iterator[tuple[Array, float, float]]:
        if (counts - left).sum() == k:
            yield (counts - left).astype(float), log_p, log_q
            return
        key = tuple(left.tolist())
        if key not in winners:
            winners[key] = [_log_winner(left, as_floats("values", values) / scale, noise) for values in types[1:]]
        for kind in np.flatnonzero(left):
            rest = left - (np.arange(len(left)) == kind)
            yield from descend(rest, log_p + winners[key][0][kind], log_q + winners[key][1][kind])

    return _Outcomes(*map(np.array, zip(*descend(counts, 0.0, 0.0), strict=True)))


def _log_winner(counts: NDArray[np.int64], values: Array, noise: Noise) -> Array:
    """Log probability that the largest noisy value is one of each type; of types that are used up, minus infinity."""
    with np.errstate(divide="ignore"):
        weight = np.log(counts)
    if noise == "gumbel":
        return np.asarray(scipy.special.log_softmax(weight + values))
    there = np.flatnonzero(counts)
    out = np.full(len(counts), -np.inf)
    out[there] = weight[there] + log_set_probability(
        counts[there].astype(float), values[there], np.eye(len(there)), LAWS[noise]
    )
    return out


def _shown(moves: Array) -> tuple[Array, Array]:
    """Log probabilities of the cells of all released values; moves in units of the scale of their Laplace noise."""
    moves = moves[moves > 0]
    log_p = log_q = np.zeros(1)
    for move in moves:
        inner = max(1, int(_CELLS ** (1 / len(moves))) - 2)
        start = move * np.arange(inner) / inner
        width = math.log(-math.expm1(-move / inner))
        p = np.r_[0.0, width - start, -move] - math.log(2)
        log_p, log_q = (np.add.outer(*laws).ravel() for laws in ((log_p, p), (log_q, p[::-1])))
    return log_p, log_q


# --- releases --------------------------------------------------------------------------------------------------------


@sample.register
def draw_selections(mechanism: Oneshot, data: Any, size: int, rng: np.random.Generator) -> Array:
    """Codes, and values where these are released.

    Examples
    --------
    >>> draw_selections(Oneshot(1, 0.1), [10, 90], 3, np.random.default_rng(1)).tolist()
    [[1.0], [1.0], [1.0]]
    """
    x = _values(mechanism, data)
    noisy = (x if mechanism.largest else -x) + LAWS[mechanism.noise].draw(mechanism.scale, (size, len(x)), rng)
    codes = np.argsort(-noisy, axis=1)[:, : mechanism.k]
    if not mechanism.ordered:
        codes.sort(axis=1)
    if mechanism.value_scale is None:
        return codes.astype(float)
    return np.hstack([codes, x[codes] + noises.laplace(mechanism.value_scale, codes.shape, rng=rng)])


@sample.register
def draw_rounds(mechanism: Peeling, data: Any, size: int, rng: np.random.Generator) -> Array:
    """Codes in the order in which they are taken, shape (size, k).

    Examples
    --------
    >>> draw_rounds(Peeling(2, 0.1), [0, 90, 50], 3, np.random.default_rng(1)).tolist()
    [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    """
    x = _values(mechanism, data)
    left = np.tile(x if mechanism.largest else -x, (size, 1))
    out = np.empty((size, mechanism.k))
    rows = np.arange(size)
    for column in range(mechanism.k):
        winner = (left + LAWS[mechanism.noise].draw(mechanism.scale, left.shape, rng)).argmax(axis=1)
        out[:, column] = winner
        left[rows, winner] = -np.inf
    return out


@sample.register
def draw_joint_choices(mechanism: JointExponential, data: Any, size: int, rng: np.random.Generator) -> Array:
    """Codes, shape (size, k).

    Examples
    --------
    >>> draw_joint_choices(JointExponential(2, 0.1, n_items=3), [0, 90, 50], 2, np.random.default_rng(1)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    return mechanism.draw(_values(mechanism, data), size, rng).astype(float)


@sample.register
def draw_rank_centrality(
    mechanism: PrivateRankCentrality, data: Comparisons, size: int, rng: np.random.Generator
) -> Array:
    """Codes of items; names that count from 0 are the same.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1], items=["a", "b"])
    >>> mechanism = PrivateRankCentrality(n_items=2, k=1, samples=1, scale=0.01)
    >>> draw_rank_centrality(mechanism, data, 3, np.random.default_rng(1)).tolist()
    [[0.0], [0.0], [0.0]]
    """
    return draw_selections(Oneshot(mechanism.k, mechanism.scale), mechanism.scores(mechanism.shares(data)), size, rng)
