"""Exact laws of noisy top-k selection, written for the tests and independent of what they test."""

import math
from functools import cache, lru_cache, reduce
from itertools import combinations, pairwise, permutations, product

import numpy as np
from scipy import special, stats
from scipy.special import softmax

LAW = {"laplace": stats.laplace, "gumbel": stats.gumbel_r, "exponential": stats.expon}
NODE, WEIGHT = np.polynomial.legendre.leggauss(20)


def nodes(values, scale):
    """Gauss-Legendre nodes and weights, panels no wider than the scale between the kinks."""
    values = np.unique(values)
    ends = np.r_[values[0] - 45 * scale, values, values[-1] + 45 * scale]
    cuts = np.unique(np.concatenate([np.linspace(a, b, int((b - a) / scale) + 2) for a, b in pairwise(ends)]))
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (1 + NODE)).ravel(), (half * WEIGHT).ravel()


def count_law(values, counts, k, scale, noise):
    """Law of how many of each group are among the k largest: from tuples of numbers to probabilities."""
    at, weight = nodes(values, scale)
    gaps = (at - np.asarray(values, float)[:, None]) / scale
    density, above, below = LAW[noise].pdf(gaps) / scale, LAW[noise].sf(gaps), LAW[noise].cdf(gaps)

    @cache
    def share(h, c, n):
        if n == 1:
            return above[h] if c else below[h]
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
                    * reduce(np.multiply, (share(h, numbers[h] - (h == g), counts[h] - (h == g)) for h in groups))
                )
                for g in groups
                if numbers[g]
            )
    return out


@lru_cache(8)
def _levels(levels, scale, noise):
    """Of values, a row each, at common nodes: the hazard, the logarithms of being above and below; and the weights."""
    at, weight = nodes(levels, scale)
    gaps = (at - np.array(levels, float)[:, None]) / scale
    above, below = (np.maximum(chance(gaps), 1e-300) for chance in (LAW[noise].sf, LAW[noise].cdf))
    return LAW[noise].pdf(gaps) / scale / above, np.log(above), np.log(below), weight


def set_law(values, k, scale, noise, levels=None):
    """Law of the set of the k largest: from ascending positions to probabilities.

    Where many values have few `levels`, these share the work.
    """
    levels = tuple(np.unique(values) if levels is None else levels)
    hazard, above, below, weight = _levels(levels, scale, noise)
    rows = np.searchsorted(levels, values)
    assert np.array_equal(np.take(levels, rows), values)
    sets = list(combinations(range(len(values)), k))
    inside = np.zeros((len(sets), len(values)))
    np.put_along_axis(inside, np.array(sets), 1.0, axis=1)
    # the least of the set is at a node: the others are above it or below
    chances = np.exp(inside @ above[rows] + (1 - inside) @ below[rows]) * (inside @ hazard[rows])
    return dict(zip(sets, (chances @ weight).tolist(), strict=True))


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


def grid_set_law(values, k, scale, noise, grain=1.0, reach=25.0):
    """Law of the set under whole multiples of `grain` with chances exp(-abs / scale), ties broken at random.

    All outcomes of the noise are listed, up to so many scales that the rest has chance exp(-reach) an item.
    """
    steps = np.arange(math.ceil(reach * scale / grain) + 1)
    steps = np.r_[-steps[:0:-1], steps] if noise == "laplace" else steps
    chance = np.exp(-np.abs(steps) * grain / scale)
    m = len(values)
    chances = np.prod(np.meshgrid(*[chance / chance.sum()] * m), axis=0).ravel()
    noisy = np.array([np.ravel(s) for s in np.meshgrid(*[steps] * m)]) + np.divide(values, grain)[:, None].astype(int)
    out = {}
    for chosen in combinations(range(m), k):
        inside = noisy[list(chosen)]
        last, best = inside.min(axis=0), np.delete(noisy, chosen, axis=0).max(axis=0)
        ties = special.comb((noisy == last).sum(axis=0), (inside == last).sum(axis=0))
        out[chosen] = float(chances @ np.where(last > best, 1.0, (last == best) / ties))
    return out


@cache
def _winner(values, scale, noise):
    """Law of one round; values are a tuple."""
    x = np.array(values) / scale
    if noise == "gumbel":
        return softmax(x)
    if noise == "laplace":
        return np.array([p for _, p in sorted(set_law(x, 1, 1.0, noise).items())])
    # the others are below x_i + z with chance the product of 1 - exp(x_j - x_i - z); expand it, integrate above max x
    law = []
    for i in range(len(x)):
        rest, total = np.delete(x, i), 0.0
        for some in product((False, True), repeat=len(rest)):
            picked = rest[list(some)]
            count = len(picked) + 1
            total += (-1) ** len(picked) * math.exp(x[i] + picked.sum() - count * x.max()) / count
        law.append(total)
    return np.array(law)


def rounds_law(values, k, scale, noise):
    """Law of k winners, each taken away before the next round of fresh noise: a product over the rounds."""
    law = {}
    for items in permutations(range(len(values)), k):
        left, chance = list(range(len(values))), 1.0
        for item in items:
            chance *= _winner(tuple(values[left]), scale, noise)[left.index(item)] if len(left) > 1 else 1.0
            left.remove(item)
        law[items] = chance
    return law
