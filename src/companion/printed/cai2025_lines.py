"""Algorithms in the lines that the paper prints; chapters show them. Cai, Chakraborty and Wang (2025)."""

import numpy as np

import dprank

__all__ = ["noisy_counts"]


def noisy_counts(winners, items, per_person, epsilon, k, rng):
    """Algorithm 3: the k items with the most wins, after noise."""
    counts = [winners.count(item) for item in items]
    noise = rng.laplace(0, per_person / epsilon, len(items))
    noisy = counts + noise
    return [items[at] for at in np.argsort(-noisy)[:k]]


def minimiser(met, noisy_wins, ridge):
    """Of (2.2), logistic F: downhill until every slope is zero."""
    theta, slope = np.zeros(len(met)), np.ones(len(met))
    pace = 1 / (met.sum(axis=1).max() / 2 + ridge)
    while np.abs(slope).max() > 1e-9:
        chance = 1 / (1 + np.exp(theta - theta[:, None]))
        slope = (met * chance).sum(axis=1) + ridge * theta - noisy_wins
        theta = theta - pace * slope
    return theta


def perturbed_mle(won, epsilon, kappa_1, kappa_2, rng):
    """Algorithm 1: strengths; won[i, j]: whether i beat j."""
    scale, ridge = 8 * kappa_1 / epsilon, 4 * kappa_2 / epsilon
    w = rng.laplace(scale=scale, size=len(won))
    return minimiser(won + won.T, won.sum(axis=1) - w, ridge)


def noisy_best(won, epsilon, k, rng):
    """Algorithm 2: the k items with the most wins, after noise."""
    noise = rng.laplace(scale=2 / epsilon, size=len(won))
    return np.argsort(-(won.sum(axis=1) + noise))[:k]


def person_mle(survey, answers, epsilon, kappa_1, kappa_2, rng):
    """(3.2), with the ridge and the noise of Theorem 3.1."""
    ridge = 8 * answers * kappa_2 / epsilon
    scale = 8 * answers * kappa_1 / epsilon
    w = rng.laplace(scale=scale, size=survey.n_items)
    return dprank.mle(survey, ridge=ridge, linear=w).theta
