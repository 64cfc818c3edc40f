"""Exact."""

from itertools import product

import numpy as np
import pytest
from ledgers import outcomes

from companion.chapters.private_rank_centrality import comparison_graphs as s
from companion.ledger.claim import derive
from dprank.topk.spectral import transition_matrix


def test_model_and_a_statistic_that_does_not_suffice(monkeypatch):
    assert derive(s.check_model()) == "holds"
    assert outcomes(s.check_model(1), "corrected") == [True] * 2
    laws = s.conditional_laws
    monkeypatch.setattr(s, "conditional_laws", lambda statistic, L: laws("wins of the first item", L))
    assert derive(s.check_model()) == "refuted"


def test_adjacency():
    for samples in (2, 3, 5):
        assert derive(s.check_adjacency(samples)) == "depends on the reading"
    # with single samples the two agree: the difference is one of weight
    assert derive(s.check_adjacency(1)) == "holds"


def test_printed_matrix_is_that_of_the_library():
    pairs, shares = s.graph(8, 0.5), np.random.default_rng(0).random(len(s.graph(8, 0.5)))
    d = s.rivals(8, pairs)
    np.testing.assert_allclose(
        s.printed_matrix(8, pairs, shares, d), transition_matrix(8, pairs, shares).toarray(), atol=1e-15
    )


def test_least_entry_over_real_shares():
    pairs = s.path(4)
    least = min(s.printed_matrix(4, pairs, y, 1.5).min() for y in product(np.linspace(0, 1, 5), repeat=3))
    assert s.least_entry(4, pairs, 0.75) == pytest.approx(least) == pytest.approx(1 - 2 / 1.5)


def test_transition_and_a_mutant(monkeypatch):
    assert derive(s.check_transition()) == "needs a condition"
    # the second largest number of rivals in place of the largest
    monkeypatch.setattr(s, "rivals", lambda n, pairs: max(1, np.sort(np.bincount(pairs.ravel(), minlength=n))[-2]))
    assert outcomes(s.check_transition(), "supplied") == [False]


def test_growth_and_a_mutant(monkeypatch):
    assert derive(s.check_growth()) == "needs a condition"
    tight = s.petersen()
    assert np.bincount(tight.ravel()).tolist() == [3] * 10
    assert len(s.degrees_within(3, 1)) == 1
    # all connected graphs on four labelled items
    assert len(s.degrees_within(4, 3)) == 38
    # a third step lets the cycle of six items in
    within = s.degrees_within
    monkeypatch.setattr(s, "degrees_within", lambda n: within(n, 3))
    assert outcomes(s.check_growth(), "supplied") == [False]
