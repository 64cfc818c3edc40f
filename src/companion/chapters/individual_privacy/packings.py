"""Fano's inequality on top sets that are hard to tell apart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

# --- lower bounds: packings and Fano's inequality --------------------------------------------------------------------


def _divergence(p: float | NDArray[np.float64], q: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of two coins."""
    return np.asarray(special.rel_entr(p, q) + special.rel_entr(1 - np.asarray(p), 1 - np.asarray(q)))


def draw_distances(
    n_items: ArrayLike, swapped: ArrayLike, lead: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Total variation and divergence of one answer under two matrices of the packing of Appendix B.5.

    Under each of them the members of a top set of k items beat every other item with probability 1/2 + lead, and all
    else is even. Two top sets of equal size that differ in `swapped` items each way give :math:`2 h (n - h)` times the
    lead in total variation, summed over the pairs.
    """
    n, h, d = (np.asarray(x, float) for x in (n_items, swapped, lead))
    pairs = n * (n - 1) / 2
    one_sided = _divergence(0.5 + d, np.full_like(d, 0.5)) + _divergence(np.full_like(d, 0.5), 0.5 + d)
    total = h**2 * _divergence(0.5 + d, 0.5 - d) + h * (n - 2 * h) * one_sided
    return 2 * h * (n - h) * d / pairs, total / pairs


def fano(
    log_size: ArrayLike, changed: ArrayLike, divergence: ArrayLike, epsilon: ArrayLike, log_delta: ArrayLike
) -> NDArray[np.float64]:
    r"""Least mean error of guessing which of M hypotheses is true, for every private procedure.

    With M = exp(log_size), D the expected number of voters that a coupling changes and :math:`x = (M - 1) e^{-10
    \varepsilon D}` it is at least :math:`(0.9 x - 10 (M-1) D \delta) / (1 + x)`, by Markov's inequality and the privacy
    of groups (Theorem A.1), and at least Fano's bound without privacy.
    """
    log_size, changed = np.asarray(log_size, float), np.asarray(changed, float)
    # log(M - 1); minus infinity for M = 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        others = np.where(log_size > 0, log_size + np.log1p(-np.exp(-log_size)), -np.inf)
        exponent = others - 10 * np.asarray(epsilon, float) * changed
        leak = np.exp(np.minimum(others + np.log(10 * changed) + log_delta, 700))
        x = np.exp(np.minimum(exponent, 700))
        private = (0.9 * x - leak) / (1 + x)
        plain = 1 - (np.asarray(divergence, float) + math.log(2)) / log_size
    return np.maximum(0, np.maximum(private, np.where(log_size > 0, plain, 0)))


def exact_recovery(
    n_items: Iterable[float], epsilons: Iterable[float], reached: Iterable[float], answers: int = 1
) -> pd.DataFrame:
    r"""Theorem 3.4 with u = 0 on a grid: lower bound on the worst chance of a wrong top set of any size.

    `reached` are values of the rate; the number of voters follows (a real number).

    The hypotheses are the top sets that share all but one item: max(k, n - k) + 1 of them, so at least n / 2 + 1, with
    gap c times the rate, c = 1 / (160 L), and delta = epsilon / (10 n log n).

    Columns: ``items``, ``epsilon``, ``rate``, ``voters``, ``c``, ``gap``, ``wrong`` (the bound for the least favourable
    k), ``strength`` (distance of two logistic strengths with that gap), ``risk over rate`` (bound on the largest error
    of any private estimate of centred logistic strengths, k = 1, over the rate).
    """
    grid = pd.DataFrame(product(n_items, epsilons, reached), columns=["items", "epsilon", "rate"]).astype(float)
    n, epsilon, r = (grid[name].to_numpy() for name in ("items", "epsilon", "rate"))
    root = epsilon / 2 * (np.sqrt(1 + 4 * r / epsilon) - 1)
    voters = n * np.log(n) / root**2
    gap = r / (160 * answers)
    tv, kl = draw_distances(n, 1, gap)
    log_delta = np.log(epsilon / (10 * n * np.log(n)))

    def wrong(size: NDArray[np.float64]) -> NDArray[np.float64]:
        return fano(np.log(size), voters * answers * tv, voters * answers * kl, epsilon, log_delta)

    strength = special.logit(0.5 + gap)
    return grid.assign(
        voters=voters,
        c=1 / (160 * answers),
        gap=gap,
        wrong=wrong(np.ceil(n / 2) + 1),
        strength=strength,
        **{"risk over rate": strength / 2 * wrong(n) / r},
    )


#: Grid on which the lower bounds are evaluated: items, epsilon, rate.
ITEMS = tuple(sorted({*range(4, 65), *(int(x) for x in np.geomspace(64, 10**9, 40))}))
EPSILONS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 4.0)
RATES = (1e-6, 1e-3, 0.1, 0.5, 1.0)
