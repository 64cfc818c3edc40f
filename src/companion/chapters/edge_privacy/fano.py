"""Fano's inequality under privacy: Theorem A.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from companion.chapters.edge_privacy.private_programs import least_coupling, private_risk
from companion.instruments.allowance import CLOSED, ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied

#: Numbers of laws, epsilons and changed data at which our bound is compared with the printed one; with a fine grid.
LAWS, EPSILONS, MOVED = (2, 3, 10, 1_000, 10**6, 10**12), (0.05, 1.0), np.geomspace(1e-3, 30, 30)
#: Epsilons of the steps of group privacy; the last inequality: epsilon D, M - 1, and chances of being near.
STEPS, LAST = (0.01, 0.1, 1.0, 3.0), (np.geomspace(1e-3, 10, 40), (1, 9, 10**4 - 1), np.linspace(1e-3, 1, 400))
FINE = ((2, 0.1), (5, 2.0), (10**6, 5.0), (10**6, 14.0))


def fano_bound(laws: int, epsilon: float, delta: float, moved: float) -> float:
    """Our lower bound on the minimax risk over alpha, for a loss with the triangle inequality; D is `moved`.

    Least over z in [0, 1] of (1 - z + (M - 1) z exp(-epsilon D / z)) / 2, less (M - 1) D delta / 2.
    """
    y = epsilon * moved

    def risk(z: ArrayLike) -> NDArray[np.float64]:
        z = np.asarray(z, float)
        return np.asarray(1 - z + np.exp(math.log(laws - 1) + np.log(z) - y / z)) / 2

    grid = np.linspace(1e-6, 1, 2001)
    best = int(np.argmin(risk(grid)))
    inside = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(lambda z: float(risk(z)), bounds=inside, method="bounded").fun  # convex: no other minimum
    return min(float(found), float(risk(grid).min())) - (laws - 1) * moved * delta / 2


def printed_fano(laws: int, epsilon: float, delta: float, moved: float) -> float:
    """The lower bound of Theorem A.1 over alpha, its private part."""
    return 0.45 * (min(1.0, math.exp(math.log(laws - 1) - 10 * epsilon * moved)) - 10 * (laws - 1) * moved * delta)


def guaranteed_error(log_others: float, y: float, log_slack: float = -math.inf) -> float:
    """Least average error b of a private guess of M laws: b = (M - 1) ((1 - b) exp(-y / (1 - b)) - s).

    `log_others` is log(M - 1), y is epsilon D, and s is D delta.
    """

    def excess(b: float) -> float:
        private = math.exp(min(log_others + math.log1p(-b) - y / (1 - b), 50.0))
        return b - private + math.exp(log_others + log_slack)

    return float(brentq(excess, 0.0, 1 - 1e-9)) if excess(0.0) < 0 else 0.0


def star(laws: int) -> NDArray[np.float64]:
    """Losses of the worst metric: guesses 1 apart, and one output, the last, at 1/2 from all."""
    return np.vstack([1 - np.eye(laws), np.full(laws, 0.5)])


def fano_cases(epsilons: Sequence[float], delta: float = 0.0, bits: int = 3) -> pd.DataFrame:
    """Exact private minimax risk in the worst metric for laws of a few bits, against both bounds.

    ``family``, ``laws``, ``epsilon``, ``delta``, ``moved`` (D, the largest least coupling), ``risk``, ``ours``,
    ``printed``.
    """
    data = np.array(list(product((0, 1), repeat=bits)))
    distance = np.abs(data[:, None] - data).sum(-1)
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if distance[a, b] == 1]

    def bernoulli(chances: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(np.where(data, chances, 1 - np.asarray(chances)).prod(-1))

    corners = np.eye(len(data))
    families = {
        "two product laws": [bernoulli([0.4] * bits), bernoulli([0.6] * bits)],
        "two constants": [corners[0], corners[-1]],
        "two neighbours": [corners[0], corners[1]],
        "one bit raised": [bernoulli(0.1 + 0.8 * np.eye(bits)[i]) for i in range(bits)],
        "rarely a giveaway": [0.85 * corners[0] + 0.15 * corners[i] for i in range(1, len(data))],
        "all constants": list(corners),
    }
    rows = []
    for family, members in families.items():
        laws = np.array(members)
        moved = max(least_coupling(p, q, distance) for p, q in combinations(laws, 2))
        for epsilon in epsilons:
            known = {"family": family, "laws": len(laws), "epsilon": epsilon, "delta": delta, "moved": moved}
            risk = private_risk(laws, epsilon, delta, star(len(laws)), neighbours)
            ours, as_printed = (f(len(laws), epsilon, delta, moved) for f in (fano_bound, printed_fano))
            rows.append(known | {"risk": risk, "ours": ours, "printed": as_printed})
    return pd.DataFrame(rows)


def squared_loss(epsilon: float, lean: float) -> dict[str, float]:
    """Two coins, squared loss: risk over alpha of answering 1/2, of the best private answer on a grid; the promise."""
    coins, grid = np.array([0.5 - lean, 0.5 + lean]), np.linspace(0, 1, 21)
    losses = (grid[:, None] - coins) ** 2 / np.ptp(coins) ** 2
    exact = private_risk(np.array([1 - coins, coins]).T, epsilon, 0.0, losses, [(0, 1)])
    return {"risk": losses[10].max(), "exact": exact, "promised": printed_fano(2, epsilon, 0.0, 2 * lean)}


def excess(laws: ArrayLike, factor: float) -> float:
    """Least delta with which one law of outcomes is at most `factor` times another, plus delta, both ways."""
    p, q = np.asarray(laws, float)
    return max(float(np.maximum(a - factor * b, 0).sum()) for a, b in ((p, q), (q, p)))


def fano_margin(delta: float) -> float:
    """Least of our bound minus that of Theorem A.1 over alpha, on a grid of M, epsilon and D."""
    return min(
        fano_bound(m, epsilon, delta, moved) - printed_fano(m, epsilon, delta, moved)
        for m, epsilon in product(LAWS, EPSILONS)
        for moved in (0.0, *MOVED, math.log(m) / (10 * epsilon))
    )


def fine_gaps() -> list[float]:
    """Distances of our bound, delta = 0, from the least of its function on a fine grid."""
    z = np.linspace(1e-4, 1, 200_001)
    return [fano_bound(m, 1.0, 0.0, y) - ((1 - z + (m - 1) * z * np.exp(-y / z)) / 2).min() for m, y in FINE]


@claim("cai2025:thm-a.1")
def check_thm_a_1(epsilons: Sequence[float] = (0.01, 0.2, 1.0, 3.0)) -> Iterator[Check]:
    """DP Fano for squared loss, and for losses with the triangle inequality."""
    case = squared_loss(1.0, 0.01)
    what = "risk/α of answering ½: coins of chance 0.49 and 0.51, squared loss, ε = 1, D = 0.02"
    yield printed(what, case["risk"], ">=", case["promised"])
    share = case["exact"] / case["risk"]
    yield argument("risk/α of the best private answer on a grid, over that", share, "<=", 1 + ROUNDING)
    for delta in (0.0, 1e-9, 0.01, 1.0):
        what = f"our bound minus that of Theorem A.1, least over M, ε, D, δ = {delta:g}"
        yield supplied(what, fano_margin(delta), ">=", -ROUNDING)
    for delta in (0.0, 0.01):
        cases = fano_cases(epsilons, delta)
        for says, column, bound in ((supplied, "printed", "Theorem A.1"), (amended, "ours", "our bound")):
            worst = float((cases.risk - cases[column]).min())
            what = f"exact minimax risk minus {bound}, worst metric, {len(cases)} cases, δ = {delta:g}: least"
            yield says(what, worst, ">=", 0)
    yield agree("our bound, off the least on a fine grid", fine_gaps(), 1e-7)
    slope = (fano_bound(3, 1.0, 0.0, 0.2) - fano_bound(3, 1.0, 0.01, 0.2)) / 0.01
    yield argument("what δ takes off our bound, M = 3, D = 0.2, over (M − 1)D/2", slope / 0.2, "==", 1, error=ROUNDING)
    named = private_risk(np.eye(2), 0.0, 0.2, 1 - np.eye(2), [(0, 1)])
    yield argument("exact risk of naming one of two bits, ε = 0, δ = 0.2", named, "==", 0.4, error=ROUNDING)


@claim("cai2025:thm-a.1:proof")
def check_thm_a_1_proof() -> Iterator[Check]:
    """Steps of the proof in A.7.2."""
    delta, epsilon, steps = 0.01, 1.0, 10
    x = np.geomspace(1e-3, 1e3, 601)  # (M - 1) exp(-10 epsilon D), with 1 in the middle
    last = (x / (1 + x) / np.minimum(1, x)).min()
    yield printed("last step, 0.9x/(1 + x) over 0.9 min(1, x), x = (M-1)e^(-10εD): least", last, ">=", 1)
    yield argument("the same: it is ½ at x = 1", last, "==", 0.5, error=ROUNDING)
    two = math.exp(-1)  # (M - 1) exp(-10 epsilon D)
    what = "last step, 0.9M(M − 1)q/(1 + (M − 1)q), q = e^(−10εD), M = 2, ε = 1, D = 1/10"
    yield printed(what, 1.8 * two / (1 + two), ">=", 1.8 * min(1, two), error=CLOSED)
    told = [[1 - delta, delta, 0], [1 - delta, 0, delta]]  # nothing, or the bit, with probability delta
    one = excess(told, math.exp(epsilon))
    yield argument("least δ of a bit that is published with probability 0.01, ε = 1, one step", one, "==", delta)
    what = f"the same against group privacy as printed, 10D = 1, ε = 1, {steps} steps"
    yield printed(what, excess(told, math.exp(steps * epsilon)), "<=", one * math.exp(epsilon * (1 - steps)))
    guesses = np.linspace(0, 1, 11)
    way = (guesses[:, None, None] - guesses[:, None]) ** 2 + (guesses[:, None] - guesses) ** 2
    straight = ((guesses[:, None] - guesses) ** 2)[:, None]
    over = np.divide(straight, way, out=np.zeros_like(way), where=way > 0).max()
    yield printed("squared loss of two guesses against the way over a third, largest quotient", over, "<=", 1)
    yield argument("the same: it is 2 half-way", over, "==", 2, error=ROUNDING)
    k, e = np.meshgrid(np.arange(1, 200), STEPS)
    group = -np.expm1(-e * k) / np.expm1(e) / (k * np.exp(-e))
    yield amended("e^(-kε)·(sum of δe^(iε), i < k) over kδe^(-ε), largest", float(group.max()), "<=", 1 + ROUNDING)
    yield argument("the same: equal for k = 1", float(group.max()), "==", 1, error=ROUNDING)
    y, others, z = np.meshgrid(*LAST)
    ours = (1 - z + others * z * np.exp(-y / z)) / 2
    spare = float((ours - 0.45 * np.minimum(1, others * np.exp(-10 * y))).min())
    yield amended("½(1 - z + (M-1)ze^(-y/z)) minus 0.45 min(1, (M-1)e^(-10y)), least on a grid", spare, ">=", 0)
