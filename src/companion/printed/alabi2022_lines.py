"""Algorithms in the lines that the paper prints; chapters show them. Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from itertools import combinations, permutations
from math import lgamma

import numpy as np


def noised(w, scale, rng):
    """Footnote 2: noise on each pair once, clipped to be a share."""
    answers = np.clip(w + rng.laplace(scale=scale, size=w.shape), 0, 1)
    upper = np.triu(answers, 1)
    return upper + np.tril(1 - upper.T, -1)


def cost(order, w):
    """Kemeny's score: the share of voters against it, over all pairs."""
    return sum(w[j, i] for i, j in combinations(order, 2))


def reduction_one(w, n, epsilon, rng):
    """Corollary 3: the best order of noisy answers to all pairs."""
    m = len(w)
    noisy = noised(w, m**2 / (epsilon * n), rng)
    return min(permutations(range(m)), key=lambda it: cost(it, noisy))


def dp_kwiksort(w, items, q, scale, rng, c=0):
    """Algorithm 1: sort by noisy answers; c counts them."""
    if len(items) == 0:
        return []
    pivot = rng.choice(items)
    others = items[items != pivot]
    c += len(others)
    if c > q:
        raise LookupError("more than q answers")
    noisy = w[others, pivot] + rng.laplace(scale=scale, size=len(others))
    sides = others[noisy > 0.5], others[noisy <= 0.5]
    left, right = (dp_kwiksort(w, it, q, scale, rng, c) for it in sides)
    return [*left, pivot, *right]


def reduction_two(w, n, q, epsilon, rng):
    """Corollary 6: Algorithm 1, or Corollary 3 with half of epsilon."""
    try:
        return dp_kwiksort(w, np.arange(len(w)), q, q / (epsilon * n), rng)
    except LookupError:
        return reduction_one(w, n, epsilon / 2, rng)


def directions(signs, epsilon, rng):
    """Of every voter a unit vector, mostly on the side of the signs."""
    u = rng.normal(size=signs.shape)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    side = np.sign((u * signs).sum(axis=1, keepdims=True))
    honest = rng.random(side.shape) < 1 / (1 + np.exp(-epsilon))
    return np.where(honest, side, -side) * u


def all_shares(reports, epsilon):
    """Theorem 8's answers: the share of every pair, right on average."""
    d = reports.shape[1]
    size = np.exp(lgamma(d / 2) - lgamma((d + 1) / 2)) / np.sqrt(np.pi * d)
    return (1 + reports.mean(axis=0) / size / np.tanh(epsilon / 2)) / 2


def answer(places, j, i, q, epsilon, blocks, ell, c, rng, counted):
    """Algorithm 2: a block of voters answers; None is "no answer"."""
    (n, m), block = places.shape, ell[j, i]
    epsilon_0 = 0.5 * epsilon * m / q
    d = (np.exp(epsilon_0) + 1) / (np.exp(epsilon_0) - 1)
    c[block] += len(blocks[block]) if counted == "voters" else 1
    if c[block] > 2 * q / m:
        return None
    w = places[blocks[block], j] < places[blocks[block], i]
    reports = np.where(rng.random(len(w)) < (1 + w / d) / 2, d, -d)
    return m / n * reports.sum()


def ldp_kwiksort(items, ask, rng):
    """Algorithm 3: sort by what blocks of voters answer."""
    if len(items) == 0:
        return []
    pivot = rng.choice(items)
    others = items[items != pivot]
    shares = [ask(j, pivot) for j in others]
    if None in shares:
        raise LookupError("a block has no more answers")
    before = np.array(shares) > 0.5
    sides = others[before], others[~before]
    left, right = (ldp_kwiksort(it, ask, rng) for it in sides)
    return [*left, pivot, *right]
