"""Algorithms in the lines that the paper prints; chapters show them. Cai, Chakraborty and Wang (2025)."""

import numpy as np

__all__ = ["noisy_counts"]


def noisy_counts(winners, items, per_person, epsilon, k, rng):
    """Algorithm 3: the k items with the most wins, after noise."""
    counts = [winners.count(item) for item in items]
    noise = rng.laplace(0, per_person / epsilon, len(items))
    noisy = counts + noise
    return [items[at] for at in np.argsort(-noisy)[:k]]
