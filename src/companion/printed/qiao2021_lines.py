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
