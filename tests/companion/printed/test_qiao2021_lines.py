"""What the chapters print of Qiao, Su and Zhang (2021) has the law of the mechanism; a false alarm in a million."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
from scipy.stats import chisquare

from companion.chapters.private_top_k.pure import log_set_chance
from companion.printed.qiao2021_lines import oneshot_laplace

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
