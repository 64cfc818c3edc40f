"""Experiment 4, against brute force and a broken twin."""

import math

import numpy as np
import pytest
from ledgers import outcomes

from companion.chapters.edge_privacy import oneshot
from companion.chapters.private_rank_centrality.comparison_graphs import all_pairs
from companion.chapters.real_surveys import findings
from companion.ledger.claim import derive
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix


@pytest.mark.parametrize("n", [3, 4, 9, 12])
def test_chain_coefficient_and_law_are_those_of_the_library(n):
    pairs = all_pairs(n)
    i, j = pairs.T
    for seed in range(20):
        answers, won = np.random.default_rng(seed).integers(0, 2, len(pairs)), np.zeros((n, n), np.float32)
        won[i, j], won[j, i] = 1 - answers, answers
        chain = transition_matrix(n, pairs, answers, n)
        np.testing.assert_allclose(chain.toarray(), oneshot.transition_matrix(won), atol=1e-15)
        assert oneshot.ergodicity(won) == pytest.approx(ergodicity_coefficient(chain), abs=1e-6)
        law = oneshot.stationary(chain.toarray())
        np.testing.assert_allclose(law @ chain, law, atol=1e-11)
        assert law.sum() == pytest.approx(1)


def test_oneshot_scale_by_hand():
    n, k, rho = 100, 25, 0.5
    expected = 8 * (2 / (n * (1 - rho))) * math.sqrt(k * math.log(n / n**-2)) / 2
    assert oneshot.oneshot_scale(n, k, rho, 2.0) == pytest.approx(expected)
    assert oneshot.oneshot_scale(n, k, rho, math.inf) == 0


def test_oneshot_check_and_a_mutant(monkeypatch):
    frame = oneshot.oneshot([60], [2.0, math.inf], 30)
    assert derive(findings.check_oneshot(frame)) == "true but empty"
    monkeypatch.setattr(oneshot, "oneshot_scale", lambda *a: 0.0)
    quiet = oneshot.oneshot([60], [2.0, math.inf], 30)
    checks = findings.check_oneshot(quiet)
    assert outcomes(checks, "content") == [True]
    assert True not in outcomes(checks, "printed")[1:]
