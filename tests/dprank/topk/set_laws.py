"""Exact laws of noisy top-k selection, written for the tests and independent of what they test."""

import math
from functools import cache
from itertools import combinations, pairwise, permutations, product

import numpy as np
from scipy import stats

LAW = {"laplace": stats.laplace, "gumbel": stats.gumbel_r, "exponential": stats.expon}


def nodes(values, scale):
    """Gauss-Legendre nodes and weights, panels no wider than the scale between the kinks."""
    values = np.unique(values)
    ends = np.r_[values[0] - 45 * scale, values, values[-1] + 45 * scale]
    cuts = np.unique(np.concatenate([np.linspace(a, b, int((b - a) / scale) + 2) for a, b in pairwise(ends)]))
    x, w = np.polynomial.legendre.leggauss(20)
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


def count_law(values, counts, k, scale, noise):
    """Law of how many of each group are among the k largest: from tuples of numbers to probabilities."""
    at, weight = nodes(values, scale)
    gaps = (at - np.asarray(values, float)[:, None]) / scale
    density, above, below = LAW[noise].pdf(gaps) / scale, LAW[noise].sf(gaps), LAW[noise].cdf(gaps)

    @cache
    def share(h, c, n):
        return math.comb(n, c) * above[h] ** c * below[h] ** (n - c)

    groups = range(len(counts))
    out = {}
    for numbers in product(*(range(min(n, k) + 1) for n in counts)):
        if sum(numbers) == k:
            out[numbers] = sum(
                weight
                @ (
                    counts[g]
                    * density[g]
                    * np.prod([share(h, numbers[h] - (h == g), counts[h] - (h == g)) for h in groups], axis=0)
                )
                for g in groups
                if numbers[g]
            )
    return out


def set_law(values, k, scale, noise):
    """Law of the set of the k largest: from ascending positions to probabilities."""
    law = count_law(values, [1] * len(values), k, scale, noise)
    return {tuple(np.flatnonzero(numbers)): p for numbers, p in law.items()}


def plackett_luce(values, k, scale):
    """Law of the k largest under Gumbel noise, best first."""
    worth = np.exp((np.asarray(values, float) - np.max(values)) / scale)
    out = {}
    for order in permutations(range(len(values)), k):
        left = worth.sum() - np.cumsum(np.r_[0, worth[list(order)]])[:-1]
        out[order] = float(np.prod(worth[list(order)] / left))
    return out


def order_law_of_three(values, scale, noise):
    """Law of the order of three noisy values, best first: given the middle one the others are independent."""
    at, weight = nodes(values, scale)
    gaps = (at - np.asarray(values, float)[:, None]) / scale
    density, above, below = LAW[noise].pdf(gaps) / scale, LAW[noise].sf(gaps), LAW[noise].cdf(gaps)
    return {(a, b, c): float(weight @ (above[a] * density[b] * below[c])) for a, b, c in permutations(range(3))}


def unordered(law):
    """The law of the set, from that of the order."""
    out = dict.fromkeys(combinations(range(1 + max(map(max, law))), len(next(iter(law)))), 0.0)
    for order, p in law.items():
        out[tuple(sorted(order))] += p
    return out
