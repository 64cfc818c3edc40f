"""Gaps by linear programmes, laws by listing graphs."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import optimize

from companion.chapters.edge_privacy import counting_rates as experiment
from dprank.pairwise import top_set_law


def outcomes(rho, probability):
    """All win counts with their probabilities, by listing graphs and outcomes."""
    n = len(rho)
    cells = [
        [(None, 1 - probability), ((i, j), probability * rho[i][j]), ((j, i), probability * rho[j][i])]
        for i, j in combinations(range(n), 2)
    ]
    for choice in product(*cells):
        wins = np.zeros(n)
        for won, _ in choice:
            if won:
                wins[won[0]] += 1
        yield wins, math.prod(q for _, q in choice)


def matrix(n, direct, first, second):
    """Items 0 and 1 are the paper's a and b, the others tie."""
    rho = np.full((n, n), 0.5)
    rho[0, 1:], rho[1, 2:] = first, second
    rho[0, 1] = direct
    lower = np.tril_indices(n, -1)
    rho[lower] = 1 - rho.T[lower]
    return rho


def programme(n, rows, objective):
    """Largest objective(tau, t) over all matrices with rows(tau, t) >= 0."""
    pairs = list(combinations(range(n), 2))
    tau = np.zeros((n, len(pairs) + 2))  # coefficients of rho_ij, i < j, then t, then 1
    tau[:, -1] = 0.5 / n
    for column, (i, j) in enumerate(pairs):
        tau[i, column] = 1 / n
        tau[j, column], tau[j, -1] = -1 / n, tau[j, -1] + 1 / n
    t = np.zeros(len(pairs) + 2)
    t[-2] = 1
    inside = np.array(rows(tau, t))
    goal = objective(tau, t)
    bounds = [(0, 1)] * len(pairs) + [(0, 1)]
    found = optimize.linprog(-goal[:-1], -inside[:, :-1], inside[:, -1], bounds=bounds)
    return -found.fun + goal[-1]


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_gaps_are_the_optima_of_linear_programmes(n):
    def ordered(tau, t):
        return tau[:-1] - tau[1:]

    for k in range(1, n):
        for m in range(min(k - 1, n - k - 1) + 1):
            best = programme(n, ordered, lambda tau, t, k=k, m=m: tau[k - m - 1] - tau[k + m])
            assert experiment.largest_gap(n, m) == pytest.approx(best, abs=1e-9)
    least = programme(n, lambda tau, t: tau[:-1] - tau[1:] - t, lambda tau, t: t)
    assert least == pytest.approx(1 / n, abs=1e-9)


@pytest.mark.parametrize("design", [(1, 1, 0.5), (0.6, 0.9, 0.7)])
@pytest.mark.slow
def test_pair_failure_is_the_enumeration_of_graphs_and_outcomes(design):
    n, p, epsilon = 4, 0.3, 2.0
    rho = matrix(n, *design)
    gap = rho.mean(1)[0] - rho.mean(1)[1]
    constant = gap / sum(experiment.rate(n, p, epsilon))
    counts = wrong = missed = mean = 0.0
    short = n * p * gap - constant * math.sqrt(n * p * math.log(n))
    pairs = 0.0
    for wins, q in outcomes(rho, p):
        counts += q * (wins[0] - wins[1] <= short + 1e-9)
        mean += q * (wins[0] - wins[1])
        reverse = [top_set_law(wins[[0, b]], 2 / epsilon, 1)[1,] for b in range(1, n)]
        wrong += q * reverse[0]
        pairs += q * sum(reverse)
        missed += q * (1 - top_set_law(wins, 2 / epsilon, 1)[0,])
    found = experiment.counts_short(n, p, *design, epsilon)
    assert mean == pytest.approx(n * p * gap)
    assert found == pytest.approx((constant, counts))
    assert experiment.pair_reversed(n, p, *design, epsilon) == pytest.approx(wrong)
    assert wrong <= missed <= pairs  # one pair, the set, the union bound
