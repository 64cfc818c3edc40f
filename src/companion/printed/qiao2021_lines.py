"""Algorithms in the lines that the paper prints; chapters show them."""

from __future__ import annotations

import numpy as np


def oneshot_laplace(x, k, scale, rng):
    """Algorithm 1: which k values are smallest, and what they are."""
    y = x + rng.laplace(scale=scale, size=len(x))
    order = np.argsort(y)
    smallest = np.sort(order[:k])
    fresh = rng.laplace(scale=scale, size=k)
    return smallest, x[smallest] + fresh


def walk(y, d):
    """Equation (3.2): from i to j with chance y[i, j] / d, or not."""
    steps = y / d
    return steps + np.diag(1 - steps.sum(axis=1))


def spectral_ranking(y, d):
    """Algorithm 2: items by the walk's leading left eigenvector."""
    values, vectors = np.linalg.eig(walk(y, d).T)
    pi = np.abs(vectors[:, np.argmax(values.real)].real)
    pi = pi / pi.sum()
    return np.argsort(-pi), pi


def private_spectral(y, games, d, rho, k, epsilon, delta, rng):
    """Algorithm 3: the k largest, noise once, as of Theorem 3.5."""
    _, pi = spectral_ranking(y, d)
    s = 2 / (d * games * (1 - rho))
    scale = 8 * s * np.sqrt(k * np.log(len(pi) / delta)) / epsilon
    noisy = -pi + rng.laplace(scale=scale, size=len(pi))
    return np.sort(np.argsort(noisy)[:k])
