"""Exact."""

from itertools import product

import numpy as np
import pytest

from companion.chapters.private_rank_centrality import comparison_graphs
from companion.ledger.claim import derive
from dprank.topk.spectral import transition_matrix


def rng(seed=0):
    return np.random.default_rng(seed)


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


def test_model_and_a_statistic_that_does_not_suffice(monkeypatch):
    assert derive(comparison_graphs.check_model()) == "holds"
    assert outcomes(comparison_graphs.check_model(1), "corrected") == [True] * 3
    laws = comparison_graphs.conditional_laws
    monkeypatch.setattr(comparison_graphs, "conditional_laws", lambda statistic, L: laws("wins of the first item", L))
    assert derive(comparison_graphs.check_model()) == "refuted"


def test_adjacency():
    for samples in (2, 3, 5):
        assert derive(comparison_graphs.check_adjacency(samples)) == "underspecified"
    # with single samples the two agree: the difference is one of weight
    assert derive(comparison_graphs.check_adjacency(1)) == "holds"


def test_printed_matrix_is_that_of_the_library():
    pairs, shares = comparison_graphs.graph(8, 0.5), rng().random(len(comparison_graphs.graph(8, 0.5)))
    d = comparison_graphs.rivals(8, pairs)
    np.testing.assert_allclose(
        comparison_graphs.printed_matrix(8, pairs, shares, d), transition_matrix(8, pairs, shares).toarray(), atol=1e-15
    )


def test_least_entry_over_real_shares():
    pairs = comparison_graphs.path(4)
    least = min(
        comparison_graphs.printed_matrix(4, pairs, y, 1.5).min() for y in product(np.linspace(0, 1, 5), repeat=3)
    )
    assert comparison_graphs.least_entry(4, pairs, 0.75) == pytest.approx(least) == pytest.approx(1 - 2 / 1.5)


def test_transition_and_a_mutant(monkeypatch):
    assert derive(comparison_graphs.check_transition()) == "constants"
    # the second largest number of rivals in place of the largest
    monkeypatch.setattr(
        comparison_graphs, "rivals", lambda n, pairs: max(1, np.sort(np.bincount(pairs.ravel(), minlength=n))[-2])
    )
    assert outcomes(comparison_graphs.check_transition(), "supplied") == [False]


def test_growth_and_a_mutant(monkeypatch):
    assert derive(comparison_graphs.check_growth()) == "constants"
    tight = comparison_graphs.petersen()
    assert np.bincount(tight.ravel()).tolist() == [3] * 10
    assert len(comparison_graphs.degrees_within(3, 1)) == 1
    # all connected graphs on four labelled items
    assert len(comparison_graphs.degrees_within(4, 3)) == 38
    # a third step lets the cycle of six items in
    within = comparison_graphs.degrees_within
    monkeypatch.setattr(comparison_graphs, "degrees_within", lambda n: within(n, 3))
    assert outcomes(comparison_graphs.check_growth(), "supplied") == [False]
