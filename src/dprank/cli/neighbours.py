"""The worst neighbours known of every mechanism that is published, for `audit`."""

from __future__ import annotations

from functools import singledispatch
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_footrule import PrivateFootrule
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.winner import PrivateWinner
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.pairwise.perturbed_mle import PerturbedMLE
from dprank.topk.joint import JointExponential
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.optimal_vote import OptimalVote
from dprank.uniformity.pairs import disjoint_pairs

__all__ = ["alike", "split", "worst_pairs"]

Pairs = dict[str, tuple[Any, Any]]

#: Log probability, and number of ballots, beyond which nothing is to be gained.
_FAR, _MOST_BALLOTS = 40, 10_000


@singledispatch
def worst_pairs(mechanism: Any) -> Pairs:
    """The worst neighbours known of a mechanism, by name.

    Raises
    ------
    ValueError
        Where none are known for its class.

    Examples
    --------
    >>> list(worst_pairs(PrivateBorda.calibrated(epsilon=1.0, n_items=3)))
    ['one ballot reversed']
    """
    raise ValueError(f"no worst neighbours are known of a {type(mechanism).__name__}; dprank.audit takes yours")


#: Most ballots of everybody else.
_MANY = 10_000


@worst_pairs.register
def _of_winners(mechanism: PrivateWinner) -> Pairs:
    """Besides one ballot alone, one among so many that the first item of all of them wins nearly always."""
    pairs = _of_ballots(mechanism)
    others = [list(range(mechanism.n_items))] * min(int(4 * mechanism.scale) + 1, _MANY)
    items = tuple(map(str, range(mechanism.n_items)))
    among = (Rankings([*others, *votes.positions.tolist()], items) for votes in next(iter(pairs.values())))
    one, other = among
    return pairs | {f"{next(iter(pairs))}, among many": (one, other)}


@worst_pairs.register(PrivateBorda)
@worst_pairs.register(NoisyMatrix)
@worst_pairs.register(PrivateFootrule)
def _of_ballots(mechanism: Any) -> Pairs:
    items = tuple(map(str, range(mechanism.n_items)))
    one = Rankings([list(range(len(items)))], items)
    if mechanism.guarantee.adjacency == "add_remove":
        return {"one ballot, or none": (one, Rankings(np.empty((0, len(items)), np.int64), items))}
    return {"one ballot reversed": (one, Rankings([list(range(len(items)))[::-1]], items))}


@worst_pairs.register
def _of_votes(mechanism: OptimalVote) -> Pairs:
    """Where one ballot decides the vote of the first batch, of ballots that are dealt as they stand."""
    items, order = tuple(map(str, range(mechanism.n_items))), list(range(mechanism.n_items))
    pairs, k = disjoint_pairs(mechanism.n_items, rng=np.random.default_rng(1)), mechanism.batch_voters

    def poll(agreeing: int) -> Rankings:
        agree = [order] * agreeing + [order[::-1]] * (k - agreeing)
        return Rankings([*agree, *[order] * (mechanism.n_voters - k)], items)

    enough = next((it for it in range((k + 1) // 2, k + 1) if mechanism.batch_rejects(poll(it).positions, pairs, 0)), k)
    return {"a batch that just agrees, or one of its ballots reversed": (poll(enough), poll(enough - 1))}


@worst_pairs.register(ExponentialMechanism)
def _of_far_ballots(mechanism: ExponentialMechanism) -> Pairs:
    """Where everybody agrees, an order is so unlikely that one voter more for it is all there is to see."""
    if mechanism.guarantee.adjacency == "add_remove" or not mechanism.rate:
        return _of_ballots(mechanism)
    return _of_ballots(mechanism) | alike(mechanism.n_items, min(int(_FAR / mechanism.rate) + 1, _MOST_BALLOTS))


@worst_pairs.register(PrivateKwikSort)
def _of_split_ballots(mechanism: PrivateKwikSort) -> Pairs:
    """Where all pairs are even, or nearly, one voter may turn them."""
    return _of_ballots(mechanism) | (split(mechanism.n_items, 2) if mechanism.guarantee.adjacency == "replace" else {})


def alike(n_items: int, people: int) -> Pairs:
    """So many ballots alike, of which one is reversed.

    Examples
    --------
    >>> [[len(data) for data in pair] for pair in alike(3, people=5).values()]
    [[5, 5]]
    """
    return {"all ballots alike, or one reversed": _reversed(n_items, people, people)}


def split(n_items: int, people: int) -> Pairs:
    """So many ballots, of which half are alike and half reversed, and one of them turned round.

    Examples
    --------
    >>> [[data.pairwise()[0, 1].item() for data in pair] for pair in split(2, people=4).values()]
    [[2, 1]]
    """
    return {"half of the ballots reversed, or one more": _reversed(n_items, people, -(-people // 2))}


def _reversed(n_items: int, people: int, forwards: int) -> tuple[Rankings, Rankings]:
    items, order = tuple(map(str, range(n_items))), list(range(n_items))
    turned = [np.repeat([order, order[::-1]], [many, people - many], axis=0) for many in (forwards, forwards - 1)]
    return Rankings(turned[0], items), Rankings(turned[1], items)


@worst_pairs.register(NoisyNorm)
@worst_pairs.register(LaplaceUnif)
def _of_many_ballots(mechanism: Any) -> Pairs:
    return alike(mechanism.n_items, mechanism.n_voters)


@worst_pairs.register(NoisyCounts)
def _of_answers(mechanism: NoisyCounts) -> Pairs:
    """The sum of all moves is largest of a person who prefers one half of the items to the other.

    Their squares are largest of one who prefers an item to all others, then the next to all that are left. Of wins
    another such person for the other half moves more than one who takes all of it back.
    """
    m, most, squares = mechanism.n_items, mechanism.per_person, mechanism.noise in ("gaussian", "cube")
    middle = m // 2
    if mechanism.design == "any":
        pairs = [(0, m - 1)] * most
    elif mechanism.design == "matching":
        pairs = [(i, middle + i) for i in range(most)]
    elif squares:
        pairs = list(islice(combinations(range(m), 2), most))
    else:
        across = ((i, j) for i in range(middle) for j in range(middle, m))
        beside = (pair for pair in combinations(range(m), 2) if not pair[0] < middle <= pair[1])
        pairs = list(islice(chain(across, beside), most))
    items = tuple(map(str, range(m)))

    def sheet(won: float, asked: list[tuple[int, int]] = pairs) -> Comparisons:
        first, second = np.array(asked).T
        return Comparisons(first, second, np.full(len(asked), won), items, np.zeros(len(asked), np.int64))

    if mechanism.adjacency == "replace":
        found = {"one person's answers reversed": (sheet(1.0), sheet(0.0))}
        if mechanism.design == "once" and mechanism.score != "net":
            one, other = (_favours(m, best, most, squares) for best in (middle, m - middle))
            turned = [(m - 1 - i, m - 1 - j) for i, j in other]
            found["one person prefers the first half, or the last"] = sheet(1.0, one), sheet(1.0, turned)
        return found
    empty = np.zeros(0, np.int64)
    return {"one person, or none": (sheet(1.0), Comparisons(empty, empty, np.zeros(0), items, empty))}


@worst_pairs.register
def _of_likelihoods(mechanism: PerturbedMLE) -> Pairs:
    """One person who prefers the first items, or the last: who was compared with whom is the same."""
    m = mechanism.n_items
    first, second = np.array(list(islice(combinations(range(m), 2), mechanism.per_person))).T
    one, other = (
        Comparisons(first, second, np.full(len(first), won), tuple(map(str, range(m))), np.zeros(len(first), np.int64))
        for won in (1.0, 0.0)
    )
    return {"one person's answers reversed": (one, other)}


def _favours(n_items: int, best: int, most: int, squares: bool) -> list[tuple[int, int]]:
    """Answers by which the first few items win, each pair once: the first of them most, or against all others first."""
    ranked = ((i, j) for i in range(best) for j in range(i + 1, n_items))
    across = ((i, j) for i in range(best) for j in range(best, n_items))
    return list(islice(ranked if squares else chain(across, combinations(range(best), 2)), most))


@worst_pairs.register(JointExponential)
@worst_pairs.register(Oneshot)
@worst_pairs.register(Peeling)
def _of_counts(mechanism: Any) -> Pairs:
    """One person's items, of equal counts; and where the k best lie far above the others, of which some rise."""
    n, k = mechanism.n_items, mechanism.k
    own = min(getattr(mechanism, "per_person", None) or max(1, n // 2), n)
    far = np.zeros(n, np.int64)
    far[:k] = int(40 * mechanism.scale) + 1
    moved, low = np.zeros(n, np.int64), np.zeros(n, np.int64)
    moved[:own], low[max(0, n - own) :] = 1, 1
    if mechanism.guarantee.adjacency == "add_remove":
        return {"one person's items, or none": (moved, 0 * moved), "others rise": (far + low, far)}
    return {"one person's items, or other ones": (moved, moved[::-1].copy()), "others rise": (far + low, far + moved)}
