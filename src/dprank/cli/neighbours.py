"""The worst neighbours known of every mechanism that is published, for `audit`."""

from __future__ import annotations

from functools import singledispatch
from itertools import combinations
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
from dprank.topk.joint import JointExponential
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm

__all__ = ["worst_pairs"]

Pairs = dict[str, tuple[Any, Any]]


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


@worst_pairs.register(PrivateBorda)
@worst_pairs.register(NoisyMatrix)
@worst_pairs.register(PrivateWinner)
@worst_pairs.register(ExponentialMechanism)
@worst_pairs.register(PrivateFootrule)
@worst_pairs.register(PrivateKwikSort)
def _of_ballots(mechanism: Any) -> Pairs:
    items = tuple(map(str, range(mechanism.n_items)))
    one = Rankings([list(range(len(items)))], items)
    if mechanism.guarantee.adjacency == "add_remove":
        return {"one ballot, or none": (one, Rankings(np.empty((0, len(items)), np.int64), items))}
    return {"one ballot reversed": (one, Rankings([list(range(len(items)))[::-1]], items))}


@worst_pairs.register(NoisyNorm)
@worst_pairs.register(LaplaceUnif)
def _of_many_ballots(mechanism: Any) -> Pairs:
    items, order = tuple(map(str, range(mechanism.n_items))), list(range(mechanism.n_items))
    alike = [order] * (mechanism.n_voters - 1)
    one, other = (Rankings([*alike, last], items) for last in (order, order[::-1]))
    return {"all ballots alike, or one reversed": (one, other)}


@worst_pairs.register(NoisyCounts)
def _of_answers(mechanism: NoisyCounts) -> Pairs:
    """One person who prefers all of one half of the items to all of the other."""
    items, middle = tuple(map(str, range(mechanism.n_items))), mechanism.n_items // 2
    across = [(i, j) for i in range(middle) for j in range(middle, len(items))]
    beside = [pair for pair in combinations(range(len(items)), 2) if pair not in set(across)]
    pairs = {
        "any": [(0, len(items) - 1)] * mechanism.per_person,
        "matching": [(i, middle + i) for i in range(middle)],
    }.get(mechanism.design, [*across, *beside])
    first, second = np.array(pairs[: mechanism.per_person]).T

    def sheet(won: float) -> Comparisons:
        outcome = np.full(len(first), won)
        return Comparisons(first, second, outcome, items, np.zeros(len(first), np.int64))

    if mechanism.adjacency == "replace":
        return {"one person's answers reversed": (sheet(1.0), sheet(0.0))}
    empty = np.zeros(0, np.int64)
    return {"one person, or none": (sheet(1.0), Comparisons(empty, empty, np.zeros(0), items, empty))}


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
