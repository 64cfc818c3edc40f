"""Random graphs at fixed seeds, a false alarm of 1e-6 a test."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from companion.chapters.private_rank_centrality import constrained_graphs as s
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix


def test_incomplete_graphs():
    frame = s.incomplete_graphs(4)
    # connected labelled graphs on 3 and 4 vertices: 4 and 38, less the complete ones
    assert frame["items"].value_counts().to_dict() == {4: 37, 3: 3}
    assert (frame["largest tau"] == 1).all()


def test_overlap_rule_is_the_coefficient():
    for samples in (0, 1, 2):
        for seed in range(40):
            got = s.constrained_draws(7, 0.7, samples, 1, np.random.default_rng(seed))[0]
            again = np.random.default_rng(seed)
            edge = again.random(21) < 0.7
            pairs = np.array(list(combinations(range(7), 2)))[edge]
            shares = again.binomial(samples, 0.5, 21)[edge] / samples if samples else np.full(len(pairs), 0.5)
            assert got == (ergodicity_coefficient(transition_matrix(7, pairs, shares)) < 1)


def test_first_moment_bounds_hold_for_the_simulation():
    n = 400
    for m, p, samples in ((30, 0.3, 0), (30, 0.55, 0), (30, 0.95, 1)):
        hits = int(s.constrained_draws(m, p, samples, n, np.random.default_rng(2)).sum())
        low, high = stats.beta.ppf([1e-6, 1 - 1e-6], [hits, hits + 1], [n - hits + 1, n - hits])
        assert np.nan_to_num(low) <= 1
        assert (high if hits < n else 1) >= 1 - s.unconstrained_at_most(m, p, samples)
        if not samples:
            assert (low if hits else 0) <= s.constrained_at_most(m, p)
    assert s.constrained_at_most(10_000, 0.0018) < 0.05
    assert s.threshold(100, 1) == pytest.approx(2 * s.threshold(100))
