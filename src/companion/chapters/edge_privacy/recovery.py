"""The gap below which no private method finds the top items: Theorem 2.4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from companion.chapters.edge_privacy.attack import all_outcomes
from companion.chapters.edge_privacy.fano import guaranteed_error
from companion.chapters.edge_privacy.private_programs import private_risk
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC

# --- Theorem 2.4 -----------------------------------------------------------------------------------------------------


def set_size(m: int, nu_2: float) -> int:
    """Exchanged items: 2 (1 + nu_2) m, rounded up (rounded down there may be no two sets more than 4 m apart)."""
    return math.ceil(2 * (1 + nu_2) * m - 1e-12)


def log_packing(log_items: float, size: int, m: int) -> float:
    """Lower bound r log(N r / (e s)^2), r = s - 2 m, on the log number of sets of size s, pairwise over 4 m apart."""
    r = size - 2 * m
    if r < 1:
        raise ValueError(f"size = {size}; allowed: above 2m = {2 * m}, no two smaller sets are more than 4m apart")
    return r * (log_items + math.log(r) - 2 - 2 * math.log(size))


def exchange(n_items: int, k: int, exchanged: int) -> dict[str, float]:
    """Two matrices of A.7.1 whose top sets differ in `exchanged` items each, by listing all pairs.

    ``moved``: mean number of changed answers, in units of p Delta; ``gap``: tau(k) - tau(k + 1) in units of Delta.
    """
    if not 0 < exchanged <= min(k, n_items - k):
        raise ValueError(f"exchanged = {exchanged}; allowed: 1 to min(k, n - k) = {min(k, n_items - k)}")
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


def recovery_grid(nus: Sequence[float] = (0.1, 0.5, 0.9), c_0: float = 0.5) -> pd.DataFrame:
    """Theorem 2.4 at our constants, k up to n / 2, from our smallest n on and m from 1 to the largest allowed.

    Columns: ``nu_1``, ``nu_2``, ``log_n``, ``m``; logarithms of how many sets there are at least (``log_packing``), of
    the paper's number (``log_printed``) and of those that the argument needs (``log_needed``); ``error`` (guaranteed).
    """
    rows = []
    for nu_1, nu_2, factor in product(nus, nus, (1.0, 1.5, 2.5)):
        log_n = factor * large_enough(nu_1, nu_2)
        most = math.exp((1 - nu_1) * log_n) / (2 * (1 + nu_2))  # of m
        c = constant_2_4(nu_1, nu_2)
        for m in sorted({1, 2, 10, int(most**0.5), int(most)}):
            if not 1 <= m <= most:
                continue
            size = set_size(m, nu_2)
            moved = 2 * size * c * log_n  # epsilon D
            # delta D, doubled: the number of laws is rounded up
            log_slack = math.log(2 * moved * c_0 / (m * log_n)) - 10 * m * log_n
            rows.append(
                {
                    "nu_1": nu_1,
                    "nu_2": nu_2,
                    "log_n": log_n,
                    "m": m,
                    "log_packing": log_packing(log_n - math.log(2), size, m),
                    "log_printed": 0.9 * nu_1 * nu_2 * m * log_n,
                    "log_needed": float(np.logaddexp(moved / 0.85, math.log(2))),
                    "error": guaranteed_error(moved / 0.85, moved, log_slack),
                }
            )
    return pd.DataFrame(rows)


@claim("cai2025:thm-2.4")
def check_thm_2_4() -> Iterator[Check]:
    """Theorem 2.4 for m >= 1, with constants of ours where it asks for small ones."""
    grid = recovery_grid()
    shapes = [exchange(n, k, u) | {"n": n, "u": u} for n in (6, 11, 40) for k in (3, n // 2) for u in (1, 2, 3)]
    at = f"{len(grid)} cases of ν₁, ν₂, n, m"
    yield printed(
        "τ(k-m) - τ(k+m+1) in units of Δ, largest distance from 1, all pairs of a few matrices",
        max(abs(s["gap"] - 1) for s in shapes),
        "==",
        0,
        error=ROUNDING,
    )
    yield printed(
        "mean number of changed answers over 2s·npΔ, largest",
        max(s["moved"] / (2 * s["u"] * s["n"]) for s in shapes),
        "<=",
        1,
    )
    yield printed(
        f"log of the number of sets minus log of those needed, least of {at}",
        float((grid.log_packing - grid.log_needed).min()),
        ">=",
        0,
    )
    yield printed(f"least guaranteed P(Hamming error > 2m), {at}", float(grid.error.min()), ">=", 0.1)


@claim("cai2025:thm-2.4:proof")
def check_thm_2_4_proof() -> Iterator[Check]:
    """Steps of A.7.1."""
    nu, m, n = 0.5, 1, 10**6
    grid = recovery_grid()
    log_n = math.log(n)
    shapes = [exchange(n, k, u) | {"n": n, "u": u} for n in (6, 11, 40) for k in (3, n // 2) for u in (1, 2, 3)]
    for shrink in (10, 1000):
        c = constant_2_4(nu, nu) / shrink
        exponent = 160 * (1 + nu) * m * c * log_n
        others = math.log(math.exp(0.9 * nu * nu * m * log_n) - 1)
        what = f"10εD - log(M - 1) at D = 16(1+ν₂)mnpΔ, ν₁ = ν₂ = 1/2, m = 1, n = 10⁶, c = {c:.2g}"
        yield printed(what, exponent - others, ">", 0)
    size = set_size(m, nu)
    sets = list(combinations(range(2 * size), size))
    apart = largest_packing(sets, 4 * m)
    yield printed(
        "sets S_a for k = n - 3, m = 1, ν₁ = ν₂ = 1/2, n = 10⁶: the most there are",
        apart,
        ">=",
        math.exp(0.9 * nu * nu * m * log_n),
    )
    yield printed(
        "mean number of changed answers over 16(1+ν₂)mnpΔ, s = 2(1+ν₂)m, largest",
        max(s["moved"] / (8 * s["u"] * s["n"]) for s in shapes),
        "<=",
        1,
    )
    yield amended(
        "log of the number of sets minus 0.9ν₁ν₂m log n, k ≤ n/2, sizes rounded up, least",
        float((grid.log_packing - grid.log_printed).min()),
        ">=",
        0,
    )
    yield amended("least guaranteed P(Hamming error > 2m) at our constant", float(grid.error.min()), ">=", 0.1)


def largest_packing(sets: Sequence[tuple[int, ...]], apart: int) -> int:
    """Largest number of sets with pairwise Hamming distance above `apart`, by exhaustion."""
    fits = {s: {t for t in sets if len(set(s) ^ set(t)) > apart} for s in sets}

    def grow(chosen: int, left: set[tuple[int, ...]]) -> int:
        return max((grow(chosen + 1, {t for t in left & fits[s] if t > s}) for s in left), default=chosen)

    return grow(0, set(sets))


# --- Theorem 2.4 with m = 0 ------------------------------------------------------------------------------------------


def counting_error(n_items: int, gap: float) -> float:
    """Bound on the probability that counting wins misses a top set, p = 1 (Hoeffding, union over pairs)."""
    return min(1.0, n_items**2 / 4 * math.exp(-n_items * gap**2))


def exact_recovery(n_items: int, k: int, c: float) -> float:
    """Guaranteed error of private exact recovery at gap c log n / (n p epsilon), delta = epsilon / (n log n).

    The sets are the top k - 1 items and one other item; if k is above n / 2 the complements take their place.
    """
    if not 1 <= k < n_items:
        raise ValueError(f"k = {k}; allowed: 1 to n - 1 = {n_items - 1}")
    others = n_items - min(k, n_items - k)
    moved = 2 * c * math.log(n_items) * (n_items - 1) / n_items  # epsilon D
    return guaranteed_error(math.log(others), moved, math.log(moved / (n_items * math.log(n_items))))


def small_recovery(n_items: int, epsilon: float, delta: float, gap: float) -> dict[str, float]:
    """Exact minimax error of privately finding the best of a few items, and our bound.

    All pairs compared once; the best beats every other item with probability 1/2 + gap, all else is even.
    """
    outcomes = all_outcomes(n_items)
    rows, columns = np.triu_indices(n_items, 1)
    data = outcomes[:, rows, columns]
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if (data[a] != data[b]).sum() == 1]
    best = np.eye(n_items)
    win = 0.5 + gap * (best[:, rows] - best[:, columns])
    laws = np.where(data, win[:, None], 1 - win[:, None]).prod(-1)
    moved = exchange(n_items, 1, 1)["moved"] * gap
    log_slack = math.log(moved * delta) if delta else -math.inf
    return {
        "exact": private_risk(laws, epsilon, delta, 1 - best, neighbours),
        "bound": guaranteed_error(math.log(n_items - 1), epsilon * moved, log_slack),
    }


@claim("cai2025:thm-2.4:m0")
def check_thm_2_4_m0() -> Iterator[Check]:
    """Exact recovery: Theorem 2.4 at m = 0 asks nothing of delta."""
    for n, c in ((10**6, 0.1), (10**10, 0.01), (10**14, 0.001)):
        gap = math.sqrt((2 * math.log(n) + 3) / n)
        epsilon = c * math.log(n) / (n * gap)
        if not math.log(n) / (n * epsilon) < c:
            raise ValueError(f"n = {n}; allowed: large enough that log n / (n p epsilon) < {c}")
        what = f"P(counting wins misses the top set), δ = 1, p = 1, n = {n:.0e}, ε = {epsilon:.2g}, c = c₀ = {c:g}"
        yield printed(what, counting_error(n, gap), ">=", 0.1)
    sizes = [(n, k) for n in (20, 100, 10**4, 10**8) for k in (1, n // 4, n // 2, n - 1)]
    least = min(exact_recovery(n, k, 0.4) for n, k in sizes)
    what = "guaranteed P(wrong set), c = 0.4, δ = ε/(n log n), n = 20 to 10⁸, k = 1 to n - 1: least"
    small = [small_recovery(n, e, d, g) for n in (3, 4) for e in (0.2, 1.0) for d in (0.0, 0.02) for g in (0.1, 0.4)]
    gap = min(case["exact"] - case["bound"] for case in small)
    yield supplied(what, least, ">=", 0.1)
    yield amended(what, least, ">=", 0.1)
    yield amended("exact minimax error minus our bound, best of 3 or 4 items, least", gap, ">=", -ROUNDING)


# --- Theorem 2.4 in the parametric model -----------------------------------------------------------------------------


def jump_cdf(x: ArrayLike, jump: float = 0.25) -> NDArray[np.float64]:
    """A link that meets (A0) and jumps at 0: 1/2 at 0, below 1/2 - jump to the left, above 1/2 + jump to the right."""
    x = np.asarray(x, float)
    return np.asarray(0.5 + jump * np.sign(x) + (0.5 - jump) * x / (1 + np.abs(x)))


def jump_gap(n_items: int, jump: float = 0.25) -> float:
    """Least n (tau(k-m) - tau(k+m+1)) over (2 m + 2) jump, over all orders with ties, all k and m."""
    least = math.inf
    for levels in product(range(2), repeat=n_items - 1):
        theta = -0.01 * np.r_[0, np.cumsum(levels)]
        tau = jump_cdf(theta[:, None] - theta, jump).mean(1)
        for k in range(1, n_items):
            for m in range(min(k, n_items - k)):
                if theta[k - m - 1] > theta[k + m]:
                    least = min(least, n_items * (tau[k - m - 1] - tau[k + m]) / ((2 * m + 2) * jump))
    return least


def jump_recovery(n_items: float, epsilon: float, jump: float = 0.25) -> dict[str, float]:
    """Algorithm 2 under a link with a jump, all pairs compared, k = n / 2.

    ``m``: a tolerance; ``error``: bound on P(Hamming error > 2m) for every strengths with tau(k-m) > tau(k+m+1);
    ``power``: log_n of 2.2 m, which must be at most 1 - nu_1 (nu_2 = 0.1).
    """
    n = n_items
    m = math.ceil(math.sqrt(n * (2 * math.log(n) + 3)) / jump)
    lead = (2 * m + 2) * jump
    t = lead * epsilon / 4
    tail = math.exp(-(lead**2) / (4 * n)) + math.exp(-t) * (1 + t / 2) / 2
    return {"m": m, "error": min(1.0, n * n / 4 * tail), "power": math.log(2.2 * m) / math.log(n)}


@claim("cai2025:thm-2.4:parametric")
def check_thm_2_4_parametric() -> Iterator[Check]:
    """(2.12) for a link with a jump, and for continuous ones."""
    for n in (10**6, 10**9, 10**12):
        case = jump_recovery(n, 0.5)
        if not case["power"] <= 0.85:
            raise ValueError(f"n = {n}; allowed: large enough for 2.2 m <= n^0.85")
        what = f"P(Hamming error > 2m) of Algorithm 2, jump ¼, p = 1, ε = ½, n = {n:.0e}, k = n/2, m = {case['m']:,}"
        yield printed(what, case["error"], ">=", 0.1)
    deltas = np.geomspace(1e-9, 0.3, 30)
    for link in (LOGISTIC, ARCTAN):
        roots = [brentq(lambda x, d=d, link=link: float(link.cdf(x)) - 0.5 - d, 0, 5, xtol=1e-14) for d in deltas]
        off = np.abs(link.cdf(np.array(roots)) - 0.5 - deltas).max()
        what = f"distance of F(α - β) from ½ + Δ, {link.name} link, Δ from 10⁻⁹ to 0.3, largest"
        yield supplied(what, off, "<=", ROUNDING)
    error = float(recovery_grid().error.min())
    yield supplied("least guaranteed P(Hamming error > 2m) of Theorem 2.4", error, ">=", 0.1)
    yield amended("least guaranteed P(Hamming error > 2m), continuous F", error, ">=", 0.1)
    what = "n(τ(k-m) - τ(k+m+1)) over (2m+2)·jump, all orders of 8 items with ties, all k and m: least"
    yield amended(what, jump_gap(8), ">=", 1 - ROUNDING)
