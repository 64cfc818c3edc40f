"""Laws of central rank aggregation: noisy matrices, Borda's count, KwikSort and the exponential mechanism."""

from __future__ import annotations

import math
from itertools import chain, combinations, permutations, product

import numpy as np
import scipy
from numpy.typing import NDArray

import dprank.aggregation.footrule_laws
import dprank.aggregation.local_laws
import dprank.aggregation.winner_laws  # noqa: F401  these register laws of their own
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.matrix import kemeny_score
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.rules import order_by
from dprank.data.ballots import Ballots
from dprank.data.rankings import Rankings
from dprank.privacy import noise as laws
from dprank.privacy.divergence import Divergence, PairLaw, noise_shift, pair_of, whole_noise
from dprank.privacy.laws import NoExactRoute, best_first, exact, sample
from dprank.privacy.noise import Law, Noise

__all__ = [
    "answer_chances",
    "draw_exponentials",
    "draw_noisy_matrices",
    "draw_private_bordas",
    "draw_private_kwiksorts",
    "exponential_law",
    "fall_back",
    "fallback_law",
    "kwiksort_law",
    "noisy_margins",
    "noisy_matrix_law",
    "order_law",
    "ordered",
    "private_borda_law",
    "private_kwiksort_law",
    "published",
    "sorted_by",
    "sorting_chances",
    "tournaments",
]

#: Items of which all ways to sort them are listed.
_SORTED = 6
#: Scales beyond which whole noise is cut off.
_REACH = {"laplace": 60, "gaussian": 12}


# --- noise on every count --------------------------------------------------------------------------------------------


@exact.register
def noisy_matrix_law(mechanism: NoisyMatrix, data: Rankings | Ballots, other: Rankings | Ballots) -> Divergence:
    """Of the noisy margins, from which all else is computed.

    Examples
    --------
    >>> one, other = (Rankings([places], "ab") for places in ([0, 1], [1, 0]))
    >>> round(noisy_matrix_law(NoisyMatrix(2, 2.0), one, other).epsilon(0), 6)  # a count moves by 1
    0.5
    """
    margins = [mechanism.margins(d)[np.triu_indices(mechanism.n_items, 1)] for d in (data, other)]
    steps = (margins[1] - margins[0]) / 2 / mechanism.grain
    return noise_shift(mechanism.noise, mechanism.law, steps, mechanism.scale / mechanism.grain)


@sample.register
def draw_noisy_matrices(
    mechanism: NoisyMatrix, data: Rankings | Ballots, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders, and the margins of all pairs."""
    return ordered(mechanism, mechanism.perturb(np.tile(mechanism.margins(data), (size, 1, 1)), rng), rng)


def ordered(mechanism: NoisyMatrix, margins: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Orders of many noisy margins by the rule, and the margins of all pairs, as `NoisyMatrix.release` makes them.

    Examples
    --------
    >>> ordered(NoisyMatrix(2, 1.0), np.array([[[0.0, 3.0], [-3.0, 0.0]]]), np.random.default_rng(1)).tolist()
    [[0.0, 1.0, 3.0]]
    """
    first, second = np.triu_indices(mechanism.n_items, 1)
    return np.c_[_orders(mechanism, margins, rng), margins[:, first, second]]


def _margins(data: Rankings) -> NDArray[np.int64]:
    votes = data.pairwise()
    return votes - votes.T


def _orders(mechanism: NoisyMatrix, margins: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """By the rule, many at once where it sorts scores; the others one by one, at 0.1 ms each."""
    if mechanism.rule == "borda":
        return best_first(margins.sum(axis=2), rng)
    if mechanism.rule == "copeland":
        return best_first(np.sign(margins).sum(axis=2), rng)
    return np.array([order_by(mechanism.rule, matrix, rng=rng) for matrix in margins])


# --- noise on every sum of places ------------------------------------------------------------------------------------


@exact.register
def private_borda_law(mechanism: PrivateBorda, data: Rankings | Ballots, other: Rankings | Ballots) -> Divergence:
    """Of the differences of the noisy sums, which is all that is published.

    Laplace noise: exact at delta 0, where the loss is the least over all common shifts, approached as the items split
    into two far groups; at other deltas that of the sums themselves, an upper bound. Gaussian noise: exact, by the
    inner product of noise and move, which no common shift changes if the move sums to 0.

    Examples
    --------
    >>> one, other = (Rankings([places], "ab") for places in ([0, 1], [1, 0]))
    >>> round(private_borda_law(PrivateBorda(2, 4.0), one, other).epsilon(0), 6)  # two sums move by 1 each
    0.5
    """
    move = mechanism.counts(other) - mechanism.counts(data)
    if mechanism.noise == "laplace":
        move = move - np.sort(move)[len(move) // 2]
    elif mechanism.law == "continuous" or move.sum() % len(move) == 0:
        move = move - move.mean()
    else:
        raise NoExactRoute("moves sum to no multiple of the number of items: no exact law")
    return noise_shift(mechanism.noise, mechanism.law, move, mechanism.scale / mechanism.grain)


@sample.register
def draw_private_bordas(
    mechanism: PrivateBorda, data: Rankings | Ballots, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders, and centred scores."""
    sums = mechanism.perturb(mechanism.grain * np.tile(mechanism.counts(data), (size, 1)), rng)
    return published(sums, rng)


def published(sums: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Orders and centred scores of rows of noisy sums of places, as `PrivateBorda.release` makes them.

    Examples
    --------
    >>> published(np.array([[10.0, 14.0]]), np.random.default_rng(1)).tolist()  # two items, two scores
    [[0.0, 1.0, 2.0, -2.0]]
    """
    ahead = sums[:, :1] - sums
    scores = ahead - ahead.mean(axis=1, keepdims=True)
    return np.c_[best_first(scores, rng), scores]


# --- the exponential mechanism ---------------------------------------------------------------------------------------


@exact.register
def exponential_law(mechanism: ExponentialMechanism, data: Rankings, other: Rankings) -> PairLaw:
    """By listing all orders.

    Examples
    --------
    >>> one, other = (Rankings([places], "ab") for places in ([0, 1], [1, 0]))
    >>> round(exponential_law(ExponentialMechanism(2, 0.5), one, other).epsilon(0), 6)
    0.5
    """
    return pair_of(*(_exponential(d, mechanism.rate) for d in (data, other)), log=True)


@sample.register
def draw_exponentials(
    mechanism: ExponentialMechanism, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders.

    Examples
    --------
    >>> draw_exponentials(ExponentialMechanism(2, 99), Rankings([[1, 0]], "ab"), 1, np.random.default_rng(1)).tolist()
    [[1.0, 0.0]]
    """
    return mechanism.draw(data.pairwise(), size, rng).astype(float)


def _exponential(data: Rankings, rate: float) -> NDArray[np.float64]:
    votes = data.pairwise()
    costs = np.array([kemeny_score(order, votes) for order in permutations(range(len(votes)))])
    return -rate * costs - scipy.special.logsumexp(-rate * costs)


# --- KwikSort --------------------------------------------------------------------------------------------------------


@exact.register
def private_kwiksort_law(mechanism: PrivateKwikSort, data: Rankings, other: Rankings) -> PairLaw:
    """Of the order, which is all that is published, by recursion over pivots and answers.

    Its loss is at most that of the answers, which `guarantee` adds up: most runs do not tell how they got there.

    Examples
    --------
    >>> one, other = (Rankings([places], "abc") for places in ([0, 1, 2], [2, 1, 0]))
    >>> mechanism = PrivateKwikSort(n_items=3, queries=3, scale=6.0)
    >>> private_kwiksort_law(mechanism, one, other).epsilon(0) < mechanism.guarantee.epsilon
    True
    """
    return pair_of(order_law(mechanism, data), order_law(mechanism, other))


def order_law(mechanism: PrivateKwikSort, data: Rankings) -> dict[tuple[int, ...], float]:
    """Probability of every order that may be released, for a few items.

    Parameters
    ----------
    mechanism : PrivateKwikSort
        Its fallback, if any, with the rule "copeland".
    data : Rankings

    Raises
    ------
    NoExactRoute
        Of more than six items, since all orders are sorted again for each order that may decide ties; or with a
        fallback that orders by the size of the margins.

    Examples
    --------
    >>> round(float(order_law(PrivateKwikSort(2, 1, 2.0), Rankings([[0, 1], [1, 0]], "ab"))[0, 1]), 6)  # a tie
    0.5
    """
    if mechanism.n_items > _SORTED:
        raise NoExactRoute(f"n_items = {mechanism.n_items}; all ways to sort up to {_SORTED} are listed")
    chances = np.mean([sorting_chances(before)[1] for before in answer_chances(mechanism, data)], axis=0)
    in_time, spare = chances[:, : mechanism.queries + 1].sum(axis=1), chances[:, mechanism.queries + 1 :].sum()
    law = dict(zip(permutations(range(mechanism.n_items)), in_time.tolist(), strict=True))
    if mechanism.fallback is not None:
        for order, chance in fallback_law(mechanism.fallback, data).items():
            law[order] += spare * chance
    return law


def answer_chances(mechanism: PrivateKwikSort, data: Rankings) -> list[NDArray[np.float64]]:
    """Chance that the row's item is put before the column's, for every order of the items that may decide ties.

    Examples
    --------
    >>> answer_chances(PrivateKwikSort(2, 1, 2.0, law="continuous"), Rankings([[0, 1], [1, 0]], "ab"))[0].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    steps = _margins(data) / 2 / mechanism.grain
    more, equal = _signs(mechanism.noise, mechanism.law, steps, mechanism.scale / mechanism.grain)
    ranks = map(np.array, permutations(range(mechanism.n_items)))
    return [more + equal * (rank[:, None] < rank) for rank in ranks] if equal.any() else [more]


def kwiksort_law(before: NDArray[np.float64]) -> dict[tuple[tuple[int, ...], int], float]:
    """Law of the order and of the number of comparisons of KwikSort with independent answers.

    Parameters
    ----------
    before : ndarray of float, shape (items, items)
        Chance that the row's item is put before the column's; the two entries of a pair sum to 1.

    Returns
    -------
    dict of (order, comparisons) to float
        Of what may happen.

    Examples
    --------
    >>> {key: float(chance) for key, chance in kwiksort_law(np.array([[0, 0.75], [0.25, 0]])).items()}
    {((0, 1), 1): 0.75, ((1, 0), 1): 0.25}
    """
    orders, chances = sorting_chances(before)
    happen = zip(*chances.nonzero(), strict=True)
    return {(tuple(orders[which].tolist()), int(asked)): chances[which, asked] for which, asked in happen}


def sorting_chances(before: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All orders of the items; and the chance that KwikSort ends in each (row) after so many comparisons (column).

    Places from i to j of an order come out as they are if one of their items is the pivot, all others go to their side
    of it, and either side comes out as it is: so from short runs of places to all. O(items! items^7), orders at once.

    Examples
    --------
    >>> orders, chances = sorting_chances(np.full((3, 3), 0.5))
    >>> len(orders), chances.sum(axis=0).round(6).tolist()  # two comparisons, or three
    (6, [0.0, 0.0, 0.5, 0.5])
    """
    m = len(before)
    orders = np.array(list(permutations(range(m))))
    put = before[orders[:, :, None], orders[:, None, :]]
    law = {(i, i): np.ones((len(orders), 1)) for i in range(m + 1)}
    for length in range(1, m + 1):
        for i in range(m - length + 1):
            j = i + length
            law[i, j] = np.zeros((len(orders), math.comb(length, 2) + 1))
            for pivot in range(i, j):
                sides = put[:, i:pivot, pivot].prod(axis=1) * put[:, pivot, pivot + 1 : j].prod(axis=1) / length
                left, right = law[i, pivot], law[pivot + 1, j]
                for asked, chance in enumerate(left.T, start=length - 1):
                    law[i, j][:, asked : asked + right.shape[1]] += (sides * chance)[:, None] * right
    return orders, law[0, m]


def fallback_law(mechanism: NoisyMatrix, data: Rankings) -> dict[tuple[int, ...], float]:
    """Probability of every order by Copeland's rule, which sees nothing but the signs of the margins.

    Raises
    ------
    NoExactRoute
        With any other rule.

    Examples
    --------
    >>> round(float(fallback_law(NoisyMatrix(2, 2.0, rule="copeland"), Rankings([[0, 1], [1, 0]], "ab"))[0, 1]), 6)
    0.5
    """
    if mechanism.rule != "copeland":
        raise NoExactRoute(f"rule = {mechanism.rule!r}: the law of the order is computed for 'copeland' only")
    steps = _margins(data) / 2 / mechanism.grain
    more, equal = _signs(mechanism.noise, mechanism.law, steps, mechanism.scale / mechanism.grain)
    scores = {(0,) * mechanism.n_items: 1.0}
    for i, j in combinations(range(mechanism.n_items), 2):
        met: dict[tuple[int, ...], float] = {}
        for score, chance in scores.items():
            for sign, share in ((1, more[i, j]), (0, equal[i, j]), (-1, more[j, i])):
                if share > 0:
                    key = tuple(s + sign * ((k == i) - int(k == j)) for k, s in enumerate(score))
                    met[key] = met.get(key, 0.0) + chance * share
        scores = met
    law: dict[tuple[int, ...], float] = {}
    for score, chance in scores.items():
        tied = [[i for i, s in enumerate(score) if s == value] for value in sorted(set(score), reverse=True)]
        orders = [tuple(chain(*parts)) for parts in product(*map(permutations, tied))]
        for order in orders:
            law[order] = law.get(order, 0.0) + chance / len(orders)
    return law


def _signs(
    noise: Noise, law: Law, centres: NDArray[np.float64], scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance that a centre with noise is above 0, and that it is 0."""
    if law == "continuous":
        x = centres / scale
        above = scipy.special.ndtr(x) if noise == "gaussian" else np.where(x > 0, 1 - (t := np.exp(-abs(x)) / 2), t)
        return above, np.zeros(np.shape(centres))
    reach = math.ceil(_REACH[noise] * scale) + math.ceil(np.abs(centres).max())
    grid, mass = whole_noise(noise, scale, reach)
    noisy = centres[..., None] + grid
    return (mass * (noisy > 0)).sum(axis=-1), (mass * (noisy == 0)).sum(axis=-1)


@sample.register
def draw_private_kwiksorts(
    mechanism: PrivateKwikSort, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders."""
    order, parts = sorted_by(tournaments(noisy_margins(mechanism, data, size, rng), rng), rng)
    return fall_back(mechanism, data, order, parts.sum(axis=(0, 2)), rng)


def noisy_margins(
    mechanism: PrivateKwikSort, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Half margins of all pairs with the noise of their comparison, whether it is made or not.

    Returns
    -------
    ndarray of float, shape (size, items, items)
        Antisymmetric.

    Examples
    --------
    >>> noisy_margins(PrivateKwikSort(2, 1, 2.0), Rankings([[0, 1]], "ab"), 5, np.random.default_rng(1)).shape
    (5, 2, 2)
    """
    m = mechanism.n_items
    drawn = laws.draw(mechanism.noise, mechanism.law, mechanism.scale / mechanism.grain, (size, m, m), rng=rng)
    noisy = np.triu(_margins(data) / 2 + mechanism.grain * drawn, 1)
    return np.asarray(noisy - np.swapaxes(noisy, 1, 2))


def tournaments(noisy: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Whether the row's item is put before the column's; ties by a uniform order of the items.

    Examples
    --------
    >>> tournaments(np.array([[[0.0, 2.5], [-2.5, 0.0]]]), np.random.default_rng(1)).tolist()
    [[[False, True], [False, False]]]
    """
    ties = rng.random(noisy.shape[:2])
    return (noisy > 0) | ((noisy == 0) & (ties[:, :, None] < ties[:, None, :]))


def sorted_by(before: NDArray[np.bool_], rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """KwikSort of many tournaments: the first item of a uniform order is the pivot, then the first on every side.

    Parameters
    ----------
    before : ndarray of bool, shape (size, items, items)
    rng : numpy.random.Generator

    Returns
    -------
    order : ndarray of float, shape (size, items)
    parts : ndarray of bool, shape (items, size, items)
        The items compared with the first pivot, the second, and so on.

    Examples
    --------
    >>> sorted_by(np.array([[[False, False], [True, False]]]), np.random.default_rng(1))[0].tolist()
    [[1.0, 0.0]]
    """
    size, m = before.shape[:2]
    rows = np.arange(size)
    # the place where an item's part begins; of a pivot, its own
    place, parts = np.zeros((size, m), np.int64), np.zeros((m, size, m), bool)
    for part, pivot in zip(parts, rng.permuted(np.tile(np.arange(m), (size, 1)), axis=1).T, strict=True):
        part[:] = place == place[rows, pivot][:, None]
        part[rows, pivot] = False
        first = part & before[rows, :, pivot]
        place[rows, pivot] += first.sum(axis=1)
        place = np.where(part & ~first, place[rows, pivot][:, None] + 1, place)
    return np.argsort(place, axis=1).astype(float), parts


def fall_back(
    mechanism: PrivateKwikSort,
    data: Rankings,
    order: NDArray[np.float64],
    asked: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Orders, of which those that took too many comparisons are the fallback's.

    Examples
    --------
    >>> mechanism = PrivateKwikSort(3, 2, 1.0, fallback=NoisyMatrix(3, 1.0))
    >>> votes, orders = Rankings([[0, 1, 2]] * 99, "abc"), np.array([[2.0, 1.0, 0.0]] * 2)
    >>> fall_back(mechanism, votes, orders, asked=np.array([2, 3]), rng=np.random.default_rng(1)).tolist()
    [[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]
    """
    late = np.flatnonzero(asked > mechanism.queries)
    if mechanism.fallback is not None:
        order[late] = sample(mechanism.fallback, data, len(late), rng)[:, : mechanism.n_items]
    return order
