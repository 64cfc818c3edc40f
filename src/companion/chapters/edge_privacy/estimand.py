"""Who is next to whom, and what a top set is: Section 2.1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special
from scipy.sparse.csgraph import connected_components

from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.audit.neighbours import edge_data
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT

Array = NDArray[np.float64]


def adjacency(n_items: int) -> pd.Series:
    """Of all data of n items: ``data sets``, ``neighbours``, ``parts`` they connect, ``totals`` of comparisons.

    Pairs of data, unordered: ``both`` printed cases apply; ``unlike sets``, ``unlike library``: a case applies, but
    they do not differ in one element as sets of outcomes, or for `edge_data`, or the reverse.
    """
    pairs = math.comb(n_items, 2)
    data = np.array(list(product((-1, 0, 1), repeat=pairs)))
    held = (data >= 0).astype(np.int64)
    size = held.sum(1)
    edges_gone = size[:, None] - held @ held.T
    agree = sum(((data == v).astype(np.int64) @ (data == v).astype(np.int64).T for v in (0, 1)), np.int64(0))
    shared = held @ held.T
    outcome = (edges_gone == 0) & (edges_gone.T == 0) & (shared - agree == 1)
    edge = (edges_gone == 1) & (edges_gone.T == 1) & (shared == agree)
    sets = (size[:, None] - agree == 1) & (size[None] - agree == 1)
    either = outcome | edge
    library = np.zeros_like(either)
    rows, columns = np.array(edge_data(n_items).neighbours).T
    library[rows, columns] = library[columns, rows] = True
    parts, _ = connected_components(sparse.csr_matrix(either), directed=False)
    return pd.Series(
        {
            "data sets": len(data),
            "neighbours": int(either.sum()) // 2,
            "both": int((outcome & edge).sum()) // 2,
            "unlike sets": int((either != sets).sum()) // 2,
            "unlike library": int((either != library).sum()) // 2,
            "parts": int(parts),
            "totals": pairs + 1,
        }
    )


@claim("cai2025:sec-2.1:adjacency")
def check_adjacency(n_items: int) -> Iterator[Check]:
    """Edge adjacency on all data of up to `n_items` items."""
    for n in range(n_items, 1, -1):
        found = adjacency(n)
        of = f"all {found['data sets']} data sets of {n} items"
        yield printed(f"pairs in both cases, {of}", found["both"], "==", 0)
        what = f"pairs in a case but not |X∖X′| = |X′∖X| = 1, or the reverse, {of}"
        yield printed(what, found["unlike sets"], "==", 0)
        yield argument(f"the same of the library's neighbours, {of}", found["unlike library"], "==", 0)


def tie_patterns(n_items: int) -> Iterator[NDArray[np.int64]]:
    """Every way in which win probabilities can be ordered and tied, best item first: levels, smaller is better."""
    for cuts in product((0, 1), repeat=n_items - 1):
        yield np.cumsum([0, *cuts])


def targets(levels: NDArray[np.int64], k: int, ties: str) -> list[frozenset[int]]:
    """The sets that can be called the top k, ties "kept" (all as good as the k-th) or "broken"; `levels` ascend."""
    if ties == "kept":
        return [frozenset(np.flatnonzero(levels <= levels[k - 1]).tolist())]
    if ties != "broken":
        raise ValueError(f"ties = {ties!r}; allowed are 'kept', 'broken'")
    sure = np.flatnonzero(levels < levels[k - 1]).tolist()
    tied = np.flatnonzero(levels == levels[k - 1]).tolist()
    return [frozenset(sure + list(rest)) for rest in combinations(tied, k - len(sure))]


def excess_distance(n_items: int, ties: str) -> tuple[int, int]:
    """Largest abs(size of the target - k), and Hamming distance less 2 m of what Theorem 2.3's proof allows.

    Items are numbered from the best, of tied ones those in the target first. Released are all sets of k items that hold
    the first k - m, or none from number k + m + 1 on, for all tie patterns with a gap between these places.
    """
    size, excess = 0, -n_items
    for levels, k in product(tie_patterns(n_items), range(1, n_items)):
        for target in targets(levels, k, ties):
            size = max(size, abs(len(target) - k))
            order = sorted(range(n_items), key=lambda i: (levels[i], i not in target))
            for m in range(min(k - 1, n_items - k - 1) + 1):
                top, bottom = set(order[: k - m]), set(order[k + m :])
                if levels[k - m - 1] < levels[k + m]:
                    sets = map(set, combinations(range(n_items), k))
                    possible = (released for released in sets if top <= released or not released & bottom)
                    excess = max(excess, *(len(target ^ released) - 2 * m for released in possible))
    return size, excess


@claim("cai2025:sec-2.1:top-k")
def check_top_k(n_items: int) -> Iterator[Check]:
    """The estimand with tied items kept, and with ties broken."""
    for ties, reading in (("kept", "tied items are all in"), ("broken", "k items, ties broken anyhow")):
        size, excess = excess_distance(n_items, ties)
        patterns = f"all tie patterns of {n_items} items"
        yield printed(f"size of the target off k, {patterns}", size, "==", 0, reading=reading)
        yield printed(f"largest d_H − 2m with separated items in order, {patterns}", excess, "<=", 0, reading=reading)
    _, excess = excess_distance(n_items + 1, "broken")
    what = f"largest d_H − 2m with separated items in order, ties broken, {n_items + 1} items"
    yield amended(what, excess, "<=", 0)


def mean_win_probabilities(theta: ArrayLike, link: Callable[[Array], Array]) -> Array:
    """The paper's tau for strengths theta, along the last axis; j = i included."""
    theta = np.asarray(theta, float)
    return link(theta[..., :, None] - theta[..., None, :]).mean(-1)


def clipped(x: Array) -> Array:
    """A link that rises from 0 to 1 on [-1, 1] and is flat outside: not decreasing, and above 1/2 for x > 0."""
    return np.clip((1 + np.asarray(x, float)) / 2, 0, 1)


def flat_middle(x: Array) -> Array:
    """A link that is 1/2 on [-1, 1] and logistic beyond: not decreasing, F(x) = 1 - F(-x), flat at 0."""
    x = np.asarray(x, float)
    return special.expit(np.sign(x) * np.maximum(np.abs(x) - 1, 0))


#: Strengths that are tried in every combination; differences are exact, ties occur.
STRENGTHS = (-3.0, -1.0, -0.5, 0.0, 0.25, 2.0)


def order_differs(n_items: int, link: Callable[[Array], Array]) -> int:
    """Pairs of items that strengths and win probabilities order differently, over all choices of `STRENGTHS`."""
    theta = np.array(list(product(STRENGTHS, repeat=n_items)))
    tau = mean_win_probabilities(theta, link)
    gaps = tau[:, :, None] - tau[:, None]
    sign = np.where(np.abs(gaps) < 1e-12, 0, np.sign(gaps))
    return int((sign != np.sign(theta[:, :, None] - theta[:, None])).sum()) // 2


@claim("cai2025:sec-2.1:same-order")
def check_same_order(n_items: int) -> Iterator[Check]:
    """Whether tau and theta order items alike, for strictly increasing and for flat links."""
    strict, flat = "strictly increasing", "flat pieces allowed"
    links = ((LOGISTIC.name, LOGISTIC.cdf), (ARCTAN.name, ARCTAN.cdf), (PROBIT.name, PROBIT.cdf))
    for n in range(n_items, 1, -1):
        what = f"pairs in another order, {n} items, all {len(STRENGTHS) ** n} θ on a grid"
        for name, cdf in links:
            yield printed(f"{what}, {name} link", order_differs(n, cdf), "==", 0, reading=strict)
        yield amended(f"{what}, link clipped at ±1", order_differs(n, clipped), "==", 0)
    tau = mean_win_probabilities([0.5, 0.0], flat_middle)
    yield printed("τ₁ − τ₂, θ = (½, 0), F = ½ on [−1, 1]", tau[0] - tau[1], ">", 0, reading=flat)
