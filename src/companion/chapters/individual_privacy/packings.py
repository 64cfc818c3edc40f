"""Fano's inequality on top sets that are hard to tell apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from companion.instruments.allowance import agree
from companion.ledger.claim import Check

Array = NDArray[np.float64]


def _divergence(p: float | NDArray[np.float64], q: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of two coins."""
    return np.asarray(special.rel_entr(p, q) + special.rel_entr(1 - np.asarray(p), 1 - np.asarray(q)))


def draw_distances(
    n_items: ArrayLike, swapped: ArrayLike, lead: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Total variation and divergence of one answer under two matrices of the packing of Appendix B.5.

    Members of a top set beat every other item with probability 1/2 + lead, all else is even; the sets differ in
    `swapped` items each way.
    """
    n, h, d = (np.asarray(x, float) for x in (n_items, swapped, lead))
    pairs = n * (n - 1) / 2
    one_sided = _divergence(0.5 + d, np.full_like(d, 0.5)) + _divergence(np.full_like(d, 0.5), 0.5 + d)
    total = h**2 * _divergence(0.5 + d, 0.5 - d) + h * (n - 2 * h) * one_sided
    return 2 * h * (n - h) * d / pairs, total / pairs


def fano(
    log_size: ArrayLike, changed: ArrayLike, divergence: ArrayLike, epsilon: ArrayLike, log_delta: ArrayLike
) -> NDArray[np.float64]:
    """Least mean error of guessing which of M hypotheses is true, for every private procedure.

    With D changed voters and x = (M - 1) e^(-10 epsilon D) at least (0.9 x - 10 (M - 1) D delta) / (1 + x) (Theorem
    A.1), and at least Fano's bound without privacy.
    """
    log_size, changed = np.asarray(log_size, float), np.asarray(changed, float)
    with np.errstate(divide="ignore", over="ignore"):
        others = log_size + np.log1p(-np.exp(-log_size))  # log(M - 1); minus infinity for M = 1
        plain = 1 - (np.asarray(divergence, float) + math.log(2)) / log_size
        exponent = others - 10 * np.asarray(epsilon, float) * changed
        all_others = np.logaddexp(0, exponent)
        leak = np.exp(others + np.log(10 * changed) + log_delta - all_others)
    return np.maximum(0, np.maximum(0.9 * np.exp(exponent - all_others) - leak, plain))


def log_delta(n_items: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    """Log of the delta up to which our bounds hold: epsilon / (10 n log n)."""
    n = np.asarray(n_items, float)
    return np.log(np.asarray(epsilon, float) / (10 * n * np.log(n)))


def tolerant_log_delta(n_items: ArrayLike, tolerance: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    """Log of the delta that Theorem 3.4 allows, c0 = 1: epsilon / (u n^(10 u) log n)."""
    n, u = np.asarray(n_items, float), np.asarray(tolerance, float)
    return np.log(np.asarray(epsilon, float)) - np.log(u * np.log(n)) - 10 * u * np.log(n)


def packing_checks(n: int, answers: int) -> Iterator[Check]:
    """Distances of one answer about n items by listing, voters from their rate, Fano's bounds by hand."""
    h, lead, pairs = 2, 0.11, math.comb(n, 2)
    tops = np.array([np.arange(n) < 3, (np.arange(n) < 1) | (np.arange(n) >= n - h)], float)
    p, q = ((0.5 + lead * (top[:, None] - top))[~np.eye(n, dtype=bool)] for top in tops)
    listed = np.array([np.abs(p - q).sum() / 2, (p * np.log(p / q)).sum()]) / pairs
    off = np.array(draw_distances(n, h, lead)) - listed
    yield agree(f"total variation and divergence of one answer, off the listing, {n} items", off)
    frame = exact_recovery(ITEMS, EPSILONS, RATES, answers)
    yield rate_check(frame, f"L = {answers}")
    few = exact_recovery([n], EPSILONS, RATES, answers)
    tv, kl = (few.voters * answers * distance for distance in draw_distances(n, 1, few.gap))
    for sets, bound in ((min(max(k, n - k) for k in range(1, n)) + 1, few.wrong), (n, few.best)):
        found = fano(math.log(sets), tv, kl, few.epsilon, log_delta(n, few.epsilon))
        yield agree(f"least error of a guess among {sets} sets, off those of {n} items", found - bound)
    moved, leak = 0.2, 1e-3
    x = (n - 1) * math.exp(-10 * moved)
    by_hand = [(0.9 * x - 10 * (n - 1) * moved * leak) / (1 + x), 1 - (0.2 + math.log(2)) / math.log(n)]
    off = fano(math.log(n), [moved, np.inf], [np.inf, 0.2], 1.0, math.log(leak)) - by_hand
    yield agree(f"least error of a guess among {n}, off both bounds by hand", off)


def voters_for(n: Array, epsilon: Array, rate: Array) -> Array:
    """How many voters, a real number, have that rate."""
    return np.asarray(n * np.log(n) / (epsilon / 2 * (np.sqrt(1 + 4 * rate / epsilon) - 1)) ** 2)


def rate_check(frame: pd.DataFrame, name: str) -> Check:
    """The rate of the voters of a frame."""
    share = frame["items"] * np.log(frame["items"]) / frame.voters
    off = (np.sqrt(share) + share / frame.epsilon) / frame.rate - 1
    return agree(f"the rate of the voters of {len(frame):,} cases, relative, {name}", off)


def exact_recovery(
    n_items: Iterable[float], epsilons: Iterable[float], rates: Iterable[float], answers: int = 1
) -> pd.DataFrame:
    """Theorem 3.4 with u = 0: lower bound on the worst chance of a wrong top set of any size.

    ``items``, ``epsilon``, ``rate``, ``voters`` (real), ``gap`` (the rate / (160 L)), ``wrong`` (for the least
    favourable k, at least n / 2 + 1 top sets that share all but one item), ``best`` (k = 1); delta as in `log_delta`.
    """
    grid = pd.DataFrame(product(n_items, epsilons, rates), columns=["items", "epsilon", "rate"]).astype(float)
    n, epsilon, r = (grid[name].to_numpy() for name in ("items", "epsilon", "rate"))
    voters = voters_for(n, epsilon, r)
    gap = r / (160 * answers)
    tv, kl = (voters * answers * distance for distance in draw_distances(n, 1, gap))
    wrong, best = (fano(np.log(sets), tv, kl, epsilon, log_delta(n, epsilon)) for sets in (np.ceil(n / 2) + 1, n))
    return grid.assign(voters=voters, gap=gap, wrong=wrong, best=best)


def estimation_risk(frame: pd.DataFrame) -> pd.Series:
    """Bound on the largest error of any private estimate of centred logistic strengths over the rate."""
    return special.logit(0.5 + frame.gap) / 2 * frame.best / frame.rate


#: Grid on which the lower bounds are evaluated: items, epsilon, rate.
ITEMS = tuple(sorted({*range(4, 65), *(int(x) for x in np.geomspace(64, 10**9, 40))}))
EPSILONS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 4.0)
RATES = (1e-6, 1e-3, 0.1, 0.5, 1.0)
