"""Thresholds below which no private method ranks: what Section 2.3 says of them, for one matrix and for the worst."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import rel_entr

from companion.chapters.edge_privacy.attack import all_outcomes
from companion.chapters.edge_privacy.counting_rates import rate
from companion.chapters.edge_privacy.ordering import log_orders
from companion.chapters.edge_privacy.private_programs import private_risk
from companion.chapters.edge_privacy.recovery import COUNTED, SETS, exact_recovery
from companion.instruments.allowance import ROUNDING, agree
from companion.ledger.claim import Check, amended, claim, printed

#: Our constant below which some matrix defeats every private method.
NECESSARY = 0.15


def divergence(p: float, q: float) -> float:
    """Kullback-Leibler divergence of two coins."""
    return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def plain_recovery(n_items: int, k: int, probability: float, gap: float) -> float:
    """Fano's bound, no privacy, on the error of naming the top k: k - 1 known ones and one other, `gap` ahead in tau.

    Members beat every other item with chance 1/2 + gap, all else is even.
    """
    others = n_items - min(k, n_items - k)
    half, up, down = 0.5, 0.5 + gap, 0.5 - gap
    apart = (n_items - 2) * (divergence(up, half) + divergence(half, up)) + divergence(up, down)
    return 1 - (probability * apart + math.log(2)) / math.log(others + 1)


def recovery_error(n_items: int, k: int, probability: float, epsilon: float, constant: float) -> float:
    """Guaranteed P(wrong top set) of every private method at a gap `constant` times the threshold; nan if none is."""
    first, second = rate(n_items, probability, epsilon)
    gap = constant * (first + second)
    if gap > 0.25:
        return math.nan
    return max(exact_recovery(n_items, k, gap / second), plain_recovery(n_items, k, probability, gap))


def recovery_errors(constant: float) -> NDArray[np.float64]:
    """The same over n, k, p and epsilon, delta = epsilon / (n log n), where such a gap is at most 1/4."""
    cases = [
        recovery_error(n, k, p, epsilon, constant)
        for n, p, epsilon in product((20, 100, 10**4, 10**6), (1e-4, 0.01, 0.1, 1.0), (1e-3, 0.03, 0.3, 1.0))
        for k in (1, n // 2, n - 1)
    ]
    return np.array([case for case in cases if not math.isnan(case)])


def named_failure(n_items: int, k: int, gap: float) -> int:
    """Failure, 0 or 1, of always naming the first k items, where these lead by `gap` in tau."""
    ahead = np.arange(n_items) < k
    tau = (0.5 + gap * (ahead[:, None].astype(float) - ahead)).mean(1)
    return int(set(np.argsort(-tau, kind="stable")[:k].tolist()) != set(range(k)))


@claim("cai2025:sec-2.3.1:no-algorithm")
def check_no_algorithm() -> Iterator[Check]:
    """Below the threshold: one matrix, the worst matrix with a small delta, and with any."""
    for n, k in ((2, 1), (6, 3)):
        what = f"P(wrong) of always naming the first {k} of {n} items, which lead by 10⁻⁶"
        yield printed(what, named_failure(n, k, 1e-6), ">=", 0.1, reading="whatever the matrix")
    found, small = recovery_errors(NECESSARY), "the worst matrix, a small δ"
    what = f"guaranteed P(wrong) at {NECESSARY:g} × the threshold, δ = ε/(n log n), least of {len(found)}"
    yield printed(what, found.min(), ">=", 0.1, reading=small)
    yield amended(f"{what} cases, n ≥ 20", found.min(), ">=", 0.1)
    least = min(exact_recovery(n, k, 0.4) for n, k in SETS)
    yield printed("the same for a gap of 0.4 × the privacy term alone", least, ">=", 0.1, reading=small)
    n, c = COUNTED[-1]
    error = n**2 / 4 * math.exp(-(2 * math.log(n) + 3))
    what = f"P(counting wins misses the set), δ = 1, p = 1, n = {n:.0e}, gap = {c:g} × the privacy term"
    yield printed(what, error, ">=", 0.1, reading="the worst matrix, any δ")
    # every pair of the listing, not the closed form
    g, n = 0.1, 5
    chance = [[0.5 + g * ((i == a) - (j == a)) for i, j in combinations(range(n), 2)] for a in (0, 1)]
    listed = 1 - (0.7 * sum(map(divergence, *chance)) + math.log(2)) / math.log(n)
    yield agree("Fano's bound for the best of 5, off the sum over pairs", plain_recovery(n, 1, 0.7, g) - listed)


def smallest_gap(n_items: int) -> float:
    """Largest possible smallest gap of tau between neighbours in the order, over all matrices: a linear program."""
    pairs = list(combinations(range(n_items), 2))
    tau = np.zeros((n_items, len(pairs)))
    fixed = np.full(n_items, 0.5)
    for at, (i, j) in enumerate(pairs):
        tau[i, at], tau[j, at] = 1, -1
        fixed[j] += 1
    rows = np.c_[-(tau[:-1] - tau[1:]), np.full(n_items - 1, n_items)]
    right = fixed[:-1] - fixed[1:]
    cost = np.r_[np.zeros(len(pairs)), -1]
    return -float(linprog(cost, rows, right, bounds=[(0, 1)] * len(pairs) + [(None, None)]).fun)


def order_limit(n_items: int, epsilon: float) -> float:
    """Bound on P(all right) of every private method, for the worst of the transitive matrices.

    Two of these differ in as many outcomes as there are inversions between their orders.
    """
    return math.exp(-log_orders(n_items, epsilon))


def best_order(n_items: int, epsilon: float) -> float:
    """Exact best P(all right) for the worst transitive matrix, over all private methods, p = 1: a linear program."""
    outcomes = all_outcomes(n_items)
    data = outcomes[:, *np.triu_indices(n_items, 1)]
    orders = list(permutations(range(n_items)))
    place = np.array([np.argsort(order) for order in orders])
    beats = (place[:, :, None] < place[:, None, :])[:, *np.triu_indices(n_items, 1)]
    laws = (beats[:, None] == data).all(-1).astype(float)
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if (data[a] != data[b]).sum() == 1]
    return 1 - private_risk(laws, epsilon, 0.0, 1 - np.eye(len(orders)), neighbours)


#: Sizes and epsilons at which the best private order is found exactly.
EXACT: tuple[tuple[int, float], ...] = ((2, 0.5), (2, 1.0), (3, 0.2), (3, 1.0), (3, 2.0))


@claim("cai2025:sec-2.3.2:full-ranking")
def check_full_ranking(sizes: Sequence[int] = (100, 10**4, 10**6)) -> Iterator[Check]:
    """The threshold for ranking all items: which gaps there can be, and what privacy leaves at the largest."""
    met = [1 / (n * sum(rate(n, 1, 1))) for n in sizes]
    what = f"largest C that some ρ meets for all k, p = 1, ε = 1: n = {sizes[-1]:,} over n = {sizes[0]}"
    yield printed(what, met[-1] / met[0], ">=", 1)
    off = [smallest_gap(n) * n - 1 for n in (2, 3, 4, 6)]
    yield agree("largest smallest gap of τ, times n, off 1, 2 to 6 items", off)
    for n in (10, 100):
        what = f"P(all in order), worst matrix with all gaps 1/n, every 1-private method, at most, n = {n}"
        yield printed(what, order_limit(n, 1.0), ">=", 1 - n**-4.0)
    for n, epsilon in EXACT:
        what = f"best exact P(all in order) over our bound, {n} items, p = 1, ε = {epsilon:g}"
        yield amended(what, best_order(n, epsilon) / order_limit(n, epsilon), "<=", 1 + ROUNDING)
    yield amended("that bound, ε = 1, n = 100", order_limit(100, 1.0), "<=", 1e-19)
