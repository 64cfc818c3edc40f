"""Algorithms in the lines that the paper prints; chapters show them. Busa-Fekete, Fotakis and Zampetakis (2021)."""

from math import ceil

import numpy as np


def distance(phi, m):
    """How far a Mallows law is from shuffled decks of m items."""
    reversed_pairs = np.ones(1)
    for j in range(2, m + 1):
        reversed_pairs = np.convolve(reversed_pairs, np.full(j, 1 / j))
    mallows = reversed_pairs * phi ** np.arange(len(reversed_pairs))
    return np.abs(reversed_pairs - mallows / mallows.sum()).sum() / 2


def phi_at(epsilon, m):
    """Line 2: the largest phi whose distance exceeds epsilon."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if distance(middle, m) > epsilon:
            low = middle
        else:
            high = middle
    return low


def two_samples(first, second, epsilon, delta):
    """Algorithm 1 (2SAMP): two rankings, as the places of m items."""
    m = len(first)
    least = 8 / (m + 7 - np.sqrt(12 * np.log(2 / delta) * m))
    if phi_at(epsilon, m) > 1 - least:
        return "too close to 1"
    i, j = np.triu_indices(m, 1)
    d = np.sum((first[i] < first[j]) != (second[i] < second[j]))
    bar = m * (m - 1) / 4 - np.sqrt(m**3 * np.log(1 / delta) / 12)
    return "accept" if d > bar else "reject"


def unif_samples(m, epsilon, delta):
    """Algorithm 2 (UNIF), lines 3 to 5: how many rankings to take."""
    phi = phi_at(epsilon, m)
    mu = (1 - phi ** (m / 8)) / (1 + phi ** (m / 8))
    m1 = m / 8 - np.sqrt(m * np.log(2 / delta) / 16)
    spread = m * np.log(2 / delta) / m1**2
    return 1 + ceil((12 * spread + 10 * np.sqrt(spread)) / mu**2)


def pair_signs(places, rng):
    """Lines 2 and 7: a random pairing, and 1 for each pair in order."""
    m = places.shape[1]
    first, second = rng.permutation(m)[: m - m % 2].reshape(2, -1)
    return np.where(places[:, first] < places[:, second], 1, -1)


def unif(places, delta, rng):
    """Algorithm 2 (UNIF), lines 6 to 10; a row of places a ranking."""
    k, m = places.shape
    x = pair_signs(places, rng)
    y = np.sum(x.sum(axis=0) ** 2 / k)
    bar = m / 2 + 2 * np.sqrt(m * np.log(1 / delta))
    return "accept" if y < bar else "reject"


def trun(places, delta, epsilon, mu, rng):
    """Algorithm 3 (TRUN), lines 2 to 4 and 9 to 16."""
    k, m = places.shape
    scale = 4 / (k * delta * epsilon)
    z = rng.laplace(scale=scale)
    if abs(z) > scale * np.log(1 / delta):
        return rng.choice(["accept", "reject"])
    x = pair_signs(places, rng)
    gate = np.sqrt(2 * np.log(2 / delta) / (m * k))
    if abs(2 * x.sum() / (m * k) + z) > gate + scale * np.log(1 / delta):
        return "reject"
    y = np.sum(x.sum(axis=0) ** 2 / k)
    p = min(1, 16 * (y - m / 2) / (m * mu**2 * (k - 1)))
    return "accept" if rng.random() < p else "reject"


def laplace_unif(places, delta, epsilon, rng):
    """Algorithm 4: UNIF with noise on Y; how far the bar rises is ours."""
    k, m = places.shape
    y = np.sum(pair_signs(places, rng).sum(axis=0) ** 2 / k)
    noisy = y + rng.laplace(scale=2 * m / epsilon)
    bar = m / 2 + 2 * np.sqrt(m * np.log(2 / delta))
    bar = bar + 2 * m / epsilon * np.log(1 / delta)
    return "accept" if noisy < bar else "reject"


def bunif(places, delta, epsilon, rng):
    """Section 5 (BUNIF): UNIF on batches; one answer is published."""
    batches = np.array_split(places, ceil(1 / epsilon))
    return rng.choice([unif(batch, delta, rng) for batch in batches])


def peer(places, first, second, epsilon, rng):
    """Algorithm 6: a voter's signs, each hidden behind gamma."""
    x = np.where(places[first] < places[second], 1, -1)
    gamma = 2 * epsilon / len(places)
    kept = rng.random(len(x)) < np.exp(gamma) / (np.exp(gamma) + 1)
    return np.where(kept, x, -x)


def curator(voters, delta, epsilon, rng):
    """Algorithm 5: one pairing for all, and UNIF's bar."""
    m = len(voters[0])
    first, second = rng.permutation(m)[: m - m % 2].reshape(2, -1)
    sent = [peer(it, first, second, epsilon, rng) for it in voters]
    y = np.sum(np.sum(sent, axis=0) ** 2 / len(voters))
    bar = m / 2 + 2 * np.sqrt(m * np.log(1 / delta))
    return "accept" if y < bar else "reject"
