"""What the chapters print of Qiao, Su and Zhang (2021) has the law of the mechanism; a false alarm in a million."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
from scipy.stats import chisquare

from companion.chapters.private_top_k.pure import log_set_chance
from companion.printed.qiao2021_lines import oneshot_laplace, private_spectral, spectral_ranking, walk
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix

ALARM = 1e-6


def set_law(values: np.ndarray, k: int, scale: float) -> dict[tuple[int, ...], float]:
    """Exact chance of each set of the k smallest, by quadrature."""
    law = {}
    for chosen in combinations(range(len(values)), k):
        first = np.r_[-values[list(chosen)], -np.delete(values, chosen)] / scale
        law[chosen] = float(np.exp(log_set_chance(first, k)))
    return law


def test_algorithm_1_has_the_law_of_set_and_fresh_values() -> None:
    """Each value is in either quarter of its noise with the same chance, whatever was chosen."""
    x, k, scale, runs = np.array([0.0, 1.0, 1.5, 4.0]), 2, 2.0, 20_000
    law = set_law(x, k, scale)
    assert np.isclose(sum(law.values()), 1)
    rng, seen = np.random.default_rng(42), Counter[tuple[int, ...]]()
    for _ in range(runs):
        chosen, values = oneshot_laplace(x, k, scale, rng)
        noise = (values - x[chosen]) / scale
        quarters = np.searchsorted([-np.log(2), 0, np.log(2)], noise)
        seen[(*map(int, chosen), *map(int, quarters))] += 1
    cells = [(*chosen, *quarters) for chosen in law for quarters in product(range(4), repeat=k)]
    expected = np.array([runs * law[cell[:k]] / 4**k for cell in cells])
    assert sum(seen.values()) == sum(seen[cell] for cell in cells)
    assert chisquare([seen[cell] for cell in cells], expected * runs / expected.sum()).pvalue > ALARM


PAIRS = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
SHARES = np.array([0.3, 0.25, 0.4, 0.2])


def table() -> np.ndarray:
    y = np.zeros((4, 4))
    y[PAIRS[:, 0], PAIRS[:, 1]], y[PAIRS[:, 1], PAIRS[:, 0]] = SHARES, 1 - SHARES
    return y


def test_algorithm_2_is_rank_centrality() -> None:
    chain = transition_matrix(4, PAIRS, SHARES, 3)
    assert np.allclose(walk(table(), 3), chain.toarray())
    order, pi = spectral_ranking(table(), 3)
    assert np.allclose(pi, stationary_distribution(chain))
    assert (np.diff(pi[order]) <= 0).all()


def test_algorithm_3_has_the_law_of_one_shot_noise() -> None:
    games, k, runs = 400, 2, 20_000
    rho = ergodicity_coefficient(transition_matrix(4, PAIRS, SHARES, 3))
    scale = 8 * 2 / (3 * games * (1 - rho)) * np.sqrt(k * np.log(4 / 0.05)) / 0.2
    law = set_law(-spectral_ranking(table(), 3)[1], k, scale)
    rng = np.random.default_rng(43)
    drawn = (private_spectral(table(), games, 3, rho, k, 0.2, 0.05, rng) for _ in range(runs))
    seen = Counter(tuple(map(int, chosen)) for chosen in drawn)
    expected = np.array([*law.values()])
    assert max(law.values()) > 1.1 / 6
    assert chisquare([seen[chosen] for chosen in law], runs * expected / expected.sum()).pvalue > ALARM
