"""The gap below which no private method finds the top items: Theorem 2.4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import hypergeom

from companion.chapters.edge_privacy.attack import all_outcomes, outcome_law
from companion.chapters.edge_privacy.fano import guaranteed_error
from companion.chapters.edge_privacy.private_programs import private_risk
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.two_items import overtaken
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC

#: nu_1 and nu_2 at which Theorem 2.4 is evaluated; how many times our least log n; m, beside those that depend on n.
NUS, FACTORS, TOLERANCES = (0.1, 0.5, 0.9), (1.0, 1.5, 2.5), (1, 2, 10)
#: Items, k and exchanged items of matrices whose pairs are listed; items, sizes and m of packings that are.
SHAPES = tuple((n, k, u) for n in (6, 11, 40) for k in (3, n // 2) for u in (1, 2, 3))
PACKED = ((8, 3, 1), (9, 3, 1), (7, 4, 1))
#: Items of which half are drawn blindly.
BLIND = (10, 100, 1000)
#: Items and constants c = c_0 at which counting beats (2.12) for m = 0; items and k of our bound; small exact cases.
COUNTED = ((10**6, 0.1), (10**10, 0.01), (10**14, 0.001))
SETS = tuple((n, k) for n in (20, 100, 10**4, 10**8) for k in (1, n // 4, n // 2, n - 1))
SMALL = tuple(product((3, 4), (0.2, 1.0), (0.0, 0.02), (0.1, 0.4)))
#: Items at which a jump helps, and steps of a link.
JUMPED, DELTAS = (10**6, 10**9, 10**12), np.geomspace(1e-9, 0.3, 30)
TINY = 1e-9


def set_size(m: int, nu_2: float) -> int:
    """Exchanged items: 2 (1 + nu_2) m, rounded up (rounded down there may be no two sets more than 4 m apart)."""
    return math.ceil(2 * (1 + nu_2) * m - 1e-12)


def log_packing(log_items: float, size: int, m: int) -> float:
    """Lower bound r log(N r / (e s)^2), r = s - 2 m, on the log number of sets of size s, pairwise over 4 m apart."""
    r = size - 2 * m
    return r * (log_items + math.log(r) - 2 - 2 * math.log(size))


def exchange(n_items: int, k: int, exchanged: int) -> dict[str, float]:
    """Two matrices of A.7.1 whose top sets differ in `exchanged` items each, by listing all pairs.

    ``moved``: mean number of changed answers in p Delta; ``gap``: tau(k) - tau(k + 1) in Delta.
    """
    tops = np.zeros((2, n_items))
    tops[0, :k] = 1
    tops[1, : k - exchanged] = tops[1, k : k + exchanged] = 1
    first, second = tops[:, :, None] - tops[:, None, :]  # (rho - 1/2) / Delta
    tau = np.sort(first.mean(1))[::-1]
    return {"moved": float(np.abs(np.triu(first - second)).sum()), "gap": float(tau[k - 1] - tau[k])}


def constant_2_4(nu_1: float, nu_2: float) -> float:
    """Our c(nu_1, nu_2) for Theorem 2.4."""
    return min(nu_1 * nu_2, 1.0) / (8 * (1 + nu_2))


def large_enough(nu_1: float, nu_2: float) -> float:
    """Log of our n from which on Theorem 2.4 holds."""
    return max(math.log(3 * math.e**2 * (1 + nu_2) / nu_2) * 2 / nu_1, math.log(10) / (0.9 * nu_1 * nu_2))


def recovery_grid() -> pd.DataFrame:
    """Theorem 2.4 at our constants, c_0 = 1/2, k up to n / 2, from our smallest n on, m from 1 to the largest.

    ``nu_1``, ``nu_2``, ``log_n``, ``m``; logarithms of the sets that there are (``log_packing``), of the paper's number
    (``log_printed``); ``moved`` (epsilon D).
    """
    rows = []
    for nu_1, nu_2, factor in product(NUS, NUS, FACTORS):
        log_n = factor * large_enough(nu_1, nu_2)
        most = math.exp((1 - nu_1) * log_n) / (2 * (1 + nu_2))  # of m
        c = constant_2_4(nu_1, nu_2)
        for m in sorted(m for m in {*TOLERANCES, int(most**0.5), int(most)} if 1 <= m <= most):
            size = set_size(m, nu_2)
            moved = 2 * size * c * log_n  # epsilon D
            known = {"nu_1": nu_1, "nu_2": nu_2, "log_n": log_n, "m": m}
            logs = {
                "log_packing": log_packing(log_n - math.log(2), size, m),
                "log_printed": 0.9 * nu_1 * nu_2 * m * log_n,
            }
            rows.append(known | logs | {"moved": moved})
    return pd.DataFrame(rows)


def shape_checks(per_item: float, bound: str) -> Iterator[Check]:
    """The matrices of the proof: changed answers over `per_item` n for an exchanged item, and their closed form."""
    shapes = [(n, u, exchange(n, k, u)["moved"]) for n, k, u in SHAPES]
    most = max(moved / (per_item * u * n) for n, u, moved in shapes)
    yield argument(f"mean number of changed answers over {bound}, largest", most, "<=", 1)
    off = [moved - 2 * u * (n - u) for n, u, moved in shapes]
    yield agree(f"that number off 2s(n − s)·pΔ, {len(shapes)} matrices", off)


def greedy_packing(items: int, size: int, m: int) -> list[tuple[int, ...]]:
    """Sets of that size, more than 4 m apart, chosen one after the other."""
    chosen: list[tuple[int, ...]] = []
    for candidate in combinations(range(items), size):
        if all(len(set(candidate) ^ set(other)) > 4 * m for other in chosen):
            chosen.append(candidate)
    return chosen


def blind_failure(n_items: int, k: int, m: int) -> float:
    """Chance that k items drawn without looking at data are at Hamming distance above 2 m from the top set."""
    return float(hypergeom.cdf(k - m - 1, n_items, k, k))


@claim("cai2025:thm-2.4")
def check_thm_2_4() -> Iterator[Check]:
    """Theorem 2.4 for m >= 1: for any nu, and with constants of ours where it asks for small ones."""
    for n in BLIND:
        k = n // 2
        what = f"P(Hamming error > 2m) of a set drawn blindly, ν₁ = 0, ν₂ = −½, n = {n}, k = n/2, m = k − 1"
        yield printed(what, blind_failure(n, k, k - 1), ">=", 0.1)
        yield argument(f"2m less min(n, k, n − k)/(1 + ν₂), n = {n}", 2 * (k - 1) - min(n, k, n - k) / 0.5, "<=", 0)
    small = [set(tops) for tops in combinations(range(6), 3)]
    off = blind_failure(6, 3, 2) - np.mean([len(tops ^ small[0]) > 4 for tops in small])
    yield agree("that chance, off a listing of 3 of 6 items", off)
    grid = recovery_grid()
    at = f"{len(grid)} cases of ν₁, ν₂ > 0, n, m"
    gap = max(abs(exchange(*shape)["gap"] - 1) for shape in SHAPES)
    what = "τ(k-m) - τ(k+m+1) in units of Δ, largest distance from 1, all pairs of a few matrices"
    yield supplied(what, gap, "==", 0, error=ROUNDING)
    yield from shape_checks(2.0, "2s·npΔ")
    spare = float((grid.log_packing - np.logaddexp(grid.moved / 0.85, math.log(2))).min())
    size = grid.m.astype(float) * grid.log_n
    slack = np.log(grid.moved / size) - 10 * size  # log of delta D, doubled: the number of laws is rounded up
    least = min(map(guaranteed_error, grid.moved / 0.85, grid.moved, slack))
    for says in (supplied, amended):
        yield says(f"log of the number of sets minus log of those needed, least of {at}", spare, ">=", 0)
        yield says(f"least guaranteed P(Hamming error > 2m), {at}", least, ">=", 0.1)
    yield agree("the same, off its limit 0.15 for many items", least - 0.15)
    spare = min(math.log(len(greedy_packing(n, s, m))) - log_packing(math.log(n), s, m) for n, s, m in PACKED)
    yield argument(f"log of sets that are found less their bound, {len(PACKED)} packings", spare, ">=", 0)


def least_losses(items: int, size: int, m: int) -> int:
    """Least l(S_a, S) + l(S, S_b) over all sets S of that size and two of a packing, l = 1 if d_H > 2 m, else 0."""
    packing = [set(it) for it in greedy_packing(items, size, m)]
    losses = [[len(set(it) ^ one) > 2 * m for one in packing] for it in combinations(range(items), size)]
    return min(sum(pair) for row in losses for pair in combinations(row, 2))


@claim("cai2025:thm-2.4:proof")
def check_thm_2_4_proof() -> Iterator[Check]:
    """Steps of A.7.1."""
    nu, m, n = 0.5, 1, 10**6
    grid, log_n = recovery_grid(), math.log(n)
    laws = math.exp(0.9 * nu * nu * m * log_n)
    c = constant_2_4(nu, nu) / 1000
    moved = 16 * (1 + nu) * m * c * log_n  # epsilon D
    what = f"10εD - log(M - 1) at D = 16(1+ν₂)mnpΔ, ν₁ = ν₂ = 1/2, m = 1, n = 10⁶, c = {c:.2g}"
    yield printed(what, 10 * moved - math.log(laws - 1), ">", 0)
    size = set_size(m, nu)
    apart = largest_packing(list(combinations(range(2 * size), size)), 4 * m)
    what = "sets S_a for k = n - 3, m = 1, ν₁ = ν₂ = 1/2, n = 10⁶: the most there are"
    yield printed(what, apart, ">=", laws)
    found = len(greedy_packing(2 * size, size, m))
    yield argument(f"sets of {size} of {2 * size} items that are found, against the most there are", found, "==", apart)
    yield from shape_checks(8.0, "16(1+ν₂)mnpΔ, s = 2(1+ν₂)m")
    apart = min(least_losses(*packed) for packed in PACKED)
    what = "l(S_a, S) + l(S, S_b), l = 1 if d_H > 2m, least: all that Theorem A.1 needs to bound P(d_H > 2m)"
    yield argument(what, apart, ">=", 1)
    spare = float((grid.log_packing - grid.log_printed).min())
    what = "log of the number of sets minus 0.9ν₁ν₂m log n, k ≤ n/2, sizes rounded up, least"
    yield amended(what, spare, ">=", 0)
    r = size - 2 * m
    off = log_packing(log_n, size, m) - r * math.log(n * r / (math.e * size) ** 2)
    yield agree("bound on the log of the number of sets off r log(Nr/(es)²), N = 10⁶", off)


def largest_packing(sets: Sequence[tuple[int, ...]], apart: int) -> int:
    """Largest number of sets with pairwise Hamming distance above `apart`, by exhaustion."""
    fits = {s: {t for t in sets if len(set(s) ^ set(t)) > apart} for s in sets}

    def grow(chosen: int, left: set[tuple[int, ...]]) -> int:
        return max((grow(chosen + 1, {t for t in left & fits[s] if t > s}) for s in left), default=chosen)

    return grow(0, set(sets))


def exact_recovery(n_items: int, k: int, c: float) -> float:
    """Guaranteed error of private exact recovery, gap c log n / (n p epsilon), delta = epsilon / (n log n).

    The sets are the top k - 1 items and one other; above n / 2 the complements take their place.
    """
    others = n_items - min(k, n_items - k)
    moved = 2 * c * math.log(n_items) * (n_items - 1) / n_items  # epsilon D
    return guaranteed_error(math.log(others), moved, math.log(moved / (n_items * math.log(n_items))))


def small_recovery(n_items: int, epsilon: float, delta: float, gap: float) -> dict[str, float]:
    """Exact minimax error of privately finding the best of a few items, all compared once, and our bound.

    The best beats every other item with probability 1/2 + gap, all else is even.
    """
    outcomes = all_outcomes(n_items)
    data = outcomes[:, *np.triu_indices(n_items, 1)]
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if (data[a] != data[b]).sum() == 1]
    best = np.eye(n_items)
    laws = [outcome_law(0.5 + gap * (top[:, None] - top), outcomes) for top in best]
    moved = exchange(n_items, 1, 1)["moved"] * gap
    log_slack = math.log(moved * delta) if delta else -math.inf
    return {
        "exact": private_risk(laws, epsilon, delta, 1 - best, neighbours),
        "bound": guaranteed_error(math.log(n_items - 1), epsilon * moved, log_slack),
    }


@claim("cai2025:thm-2.4:m0")
def check_thm_2_4_m0() -> Iterator[Check]:
    """Exact recovery: Theorem 2.4 at m = 0 asks nothing of delta."""
    for n, c in COUNTED:
        gap = math.sqrt((2 * math.log(n) + 3) / n)
        epsilon = c * math.log(n) / (n * gap)
        what = f"P(counting wins misses the top set), δ = 1, p = 1, n = {n:.0e}, ε = {epsilon:.2g}, c = c₀ = {c:g}"
        error = n**2 / 4 * math.exp(-n * gap**2)  # Hoeffding, union over pairs
        yield printed(what, error, ">=", 0.1)
        yield agree("the same, off e⁻³/4", error - math.exp(-3) / 4)
        yield argument(f"log n/(npε) over c there, n = {n:.0e}", math.log(n) / (n * epsilon) / c, "<", 1)
    least = min(exact_recovery(n, k, 0.4) for n, k in SETS)
    what = "guaranteed P(wrong set), c = 0.4, δ = ε/(n log n), n = 20 to 10⁸, k = 1 to n - 1: least"
    small = [small_recovery(*case) for case in SMALL]
    gap = min(case["exact"] - case["bound"] for case in small)
    for says in (supplied, amended):
        yield says(what, least, ">=", 0.1)
    what = f"exact minimax error minus our bound, best of 3 or 4 items, least of {len(small)}"
    yield amended(what, gap, ">", 0)
    off = abs(exact_recovery(100, 99, 0.4) - exact_recovery(100, 1, 0.4))
    yield argument("our bound for k = n − 1, off that for k = 1, n = 100", off, "==", 0)
    b, y, slack = exact_recovery(100, 1, 0.4), 0.8 * math.log(100) * 0.99, 0.8 * 0.0099
    root = 99 * ((1 - b) * math.exp(-y / (1 - b)) - slack)
    yield argument("that bound b, against (M − 1)((1 − b)e^(−εD/(1 − b)) − Dδ), M = 100", b, "==", root, error=1e-8)


def jump_cdf(x: ArrayLike, jump: float = 0.25) -> NDArray[np.float64]:
    """A link that meets (A0) and jumps at 0: 1/2 at 0, below 1/2 - jump to the left, above 1/2 + jump to the right."""
    x = np.asarray(x, float)
    return np.asarray(0.5 + jump * np.sign(x) + (0.5 - jump) * x / (1 + np.abs(x)))


def jump_gap(n_items: int, jump: float = 0.25) -> float:
    """Least n (tau(k-m) - tau(k+m+1)) over (2 m + 2) jump, over all orders with ties, all k and m."""
    least = math.inf
    for levels in product(range(2), repeat=n_items - 1):
        theta = -TINY * np.r_[0, np.cumsum(levels)]
        tau = jump_cdf(theta[:, None] - theta, jump).mean(1)
        for k in range(1, n_items):
            for m in range(min(k, n_items - k)):
                if theta[k - m - 1] > theta[k + m]:
                    least = min(least, n_items * (tau[k - m - 1] - tau[k + m]) / ((2 * m + 2) * jump))
    return least


def jump_recovery(n_items: float, epsilon: float, jump: float = 0.25) -> dict[str, float]:
    """Algorithm 2 under a link with a jump, p = 1, k = n / 2: ``m``, a tolerance, ``error`` and ``power``.

    ``error`` bounds P(Hamming error > 2m) for all strengths with tau(k-m) > tau(k+m+1); ``power`` is log_n of 2.2 m, at
    most 1 - nu_1 (nu_2 = 0.1).
    """
    n = n_items
    m = math.ceil(math.sqrt(n * (2 * math.log(n) + 3)) / jump)
    lead = (2 * m + 2) * jump
    tail = math.exp(-(lead**2) / (4 * n)) + float(overtaken(lead * epsilon / 4))
    return {"m": m, "error": min(1.0, n * n / 4 * tail), "power": math.log(2.2 * m) / math.log(n)}


@claim("cai2025:thm-2.4:parametric")
def check_thm_2_4_parametric() -> Iterator[Check]:
    """(2.12) for a link with a jump, and for continuous ones."""
    for n in JUMPED:
        case = jump_recovery(n, 0.5)
        what = f"P(Hamming error > 2m) of Algorithm 2, jump ¼, p = 1, ε = ½, n = {n:.0e}, k = n/2, m = {case['m']:,}"
        yield printed(what, case["error"], ">=", 0.1)
        share = 4 * math.exp(3) * case["error"]
        yield argument("the same over e⁻³/4, what chance leaves", share, "==", 1, error=0.02)
        closed = 0.5 + math.log(8.8 * math.sqrt(2 * math.log(n) + 3)) / math.log(n)
        yield agree("log_n of 2.2m there, off ½ + log(8.8 √(2 log n + 3))/log n", case["power"] - closed, 1e-5)
        yield argument(f"log_n of 2.2m there, against 1 − ν₁ = 0.8, n = {n:.0e}", case["power"], "<=", 0.8)
    for link in (LOGISTIC, ARCTAN):
        roots = [brentq(lambda x, d=d, link=link: float(link.cdf(x)) - 0.5 - d, 0, 5, xtol=1e-14) for d in DELTAS]
        off = np.abs(link.cdf(np.array(roots)) - 0.5 - DELTAS).max()
        what = f"distance of F(α - β) from ½ + Δ, {link.name} link, Δ from 10⁻⁹ to 0.3, largest"
        yield supplied(what, off, "==", 0, error=ROUNDING)
    what = f"n(τ(k-m) - τ(k+m+1)) over (2m+2)·jump, all orders of 8 items {TINY:g} apart with ties, all k and m: least"
    yield amended(what, jump_gap(8), "==", 1, error=16 * TINY)
    x = np.r_[0.0, DELTAS, 1 / DELTAS]
    odd, rise = np.abs(jump_cdf(x) + jump_cdf(-x) - 1).max(), np.diff(jump_cdf(np.sort(np.r_[-x, x[1:]]))).min()
    yield agree("(A0) of this link: F(x) + F(−x) off 1", odd)
    yield argument("its least rise from x to x, 10⁻⁹ to 10⁹ and both signs", rise, ">", 0)
    tops = jump_cdf([0.0, DELTAS[0]])
    yield agree("its values at ±10⁹, off 0 and 1", jump_cdf([-1e9, 1e9]) - [0, 1], 1e-8)
    yield agree("its jump, off ¼", tops[1] - tops[0] - 0.25, 1e-8)
