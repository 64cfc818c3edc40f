"""Chernoff's and Bernstein's bounds against tiny cases."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from companion.chapters.edge_privacy import tails


def graphs(n):
    pairs = list(combinations(range(n), 2))
    for edges in product((0, 1), repeat=len(pairs)):
        a = np.zeros((n, n))
        for (i, j), e in zip(pairs, edges, strict=True):
            a[i, j] = a[j, i] = e
        yield a


def laplacian(a):
    return np.diag(a.sum(1)) - a


def test_the_bounds_bound_tiny_cases():
    """Matrix Chernoff and Bernstein against all graphs on four items and all their outcomes."""
    n, p = 4, 0.5
    low = sum(np.linalg.eigvalsh(laplacian(a))[1] < n * p / 2 - 1e-9 for a in graphs(n)) / 64
    assert 0 < low <= math.exp(tails.spectrum_failure(n, n * p))
    far = 0.0
    t = 0.2 * math.sqrt(n * p * math.log(n))
    for a in graphs(n):
        i, j = np.nonzero(np.triu(a))
        for won in product((0, 1), repeat=len(i)):
            wins = np.zeros((n, n))
            wins[i, j], wins[j, i] = won, 1 - np.array(won)
            slope = tails.gradient(wins, np.zeros(n))
            far += (np.abs(slope).max() > t) / 64 / 2 ** len(i)
    assert 0 < far <= math.exp(tails.gradient_failure(n, n * p, 0.2))


def test_cycles_have_the_largest_second_eigenvalue_of_graphs_of_degrees_one_and_two():
    for n in (4, 5):
        best = max(
            np.linalg.eigvalsh(laplacian(a))[1] for a in graphs(n) if a.sum(1).min() >= 1 and a.sum(1).max() <= 2
        )
        assert best == pytest.approx(2 - 2 * math.cos(2 * math.pi / n))
