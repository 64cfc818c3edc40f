"""Small chains, exactly."""

import numpy as np
import pytest
from ledgers import outcomes

from companion.chapters.private_rank_centrality import comparison_graphs
from companion.chapters.private_rank_centrality import perturbed_chains as s
from companion.instruments.seed import VARIABLE
from companion.ledger.claim import derive
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix


def test_laws_of_small():
    chains = s.random_chains(4, 30, np.random.default_rng(0))
    law, unique = s.laws(chains)
    assert unique.all()
    for chain, row in zip(chains, law, strict=True):
        np.testing.assert_allclose(row, stationary_distribution(chain), rtol=1e-6, atol=1e-9)
    assert s.coefficients(chains) == pytest.approx([ergodicity_coefficient(c) for c in chains])
    assert s.laws(np.eye(3)[None])[1].tolist() == [False]
    assert len(s.grid_chains(3, 2)) == 6**3


def test_coefficient_and_a_mutant(monkeypatch):
    assert derive(s.check_coefficient()) == "holds"
    for wrong in (lambda c: 0.9 * ergodicity_coefficient(c), lambda c: 1.1 * ergodicity_coefficient(c)):
        monkeypatch.setattr(s, "ergodicity_coefficient", wrong)
        assert derive(s.check_coefficient()) == "refuted"


def test_condition_and_a_mutant(monkeypatch):
    checks = s.check_condition()
    assert derive(checks) == "depends on the reading"
    assert outcomes(checks, "corrected") == [True]
    least = s.least_condition
    monkeypatch.setattr(s, "least_condition", lambda c: 0.8 * least(c))
    assert outcomes(s.check_condition(), "corrected") == [False]
    monkeypatch.setattr(s, "least_condition", lambda c: 1.2 * least(c))
    assert derive(s.check_condition()) == "refuted"


def test_least_condition_of_two_states():
    # leaving with a and b: pi = (b, a) / (a + b), and dpi / da = -b / (a + b)^2 for a row sum of 2
    a, b = 0.3, 0.2
    kappa = s.least_condition(np.array([[1 - a, a], [b, 1 - b]]))
    assert kappa == pytest.approx(1 / (2 * (a + b)))


def test_rank_one_and_a_mutant(monkeypatch):
    checks = s.check_rank_one()
    assert derive(checks) == "refuted"
    assert outcomes(checks, "corrected") == [True] * 4
    monkeypatch.setattr(s, "coefficients", lambda chains: 1 - np.ones(len(chains)))
    assert not all(outcomes(s.check_rank_one(), "corrected"))


def test_perturbation_and_mutants(monkeypatch):
    frame = s.movements(300)
    checks = s.check_perturbation(frame)
    assert derive(checks) == "holds"
    assert outcomes(checks, "corrected") == [True] * 4
    true = s.coefficients
    # a coefficient a tenth too small would let the law move further than allowed
    monkeypatch.setattr(s, "coefficients", lambda chains: 0.9 * true(chains))
    assert derive(s.check_perturbation(s.movements(300))) == "refuted"


@pytest.mark.slow
def test_chains_that_rounding_cannot_tell_apart_are_not_compared(monkeypatch):
    """This root seed draws two chains at a distance of 7e-14, whose laws differ by rounding as much as in truth."""
    monkeypatch.setenv(VARIABLE, "20261122")
    frame = s.movements(20_000)
    assert derive(s.check_perturbation(frame)) == "holds"
    assert frame.pairs.iloc[-4:].between(19_000, 19_999).all()


def test_flips_by_brute_force():
    n, samples = 7, 3
    got = s.flip_changes(n, 0.8, samples, np.random.default_rng(5))
    again = np.random.default_rng(5)
    pairs = comparison_graphs.all_pairs(n)
    pairs = pairs[again.random(len(pairs)) < 0.8]
    won = again.binomial(samples, comparison_graphs.even_shares(comparison_graphs.strengths(n), pairs))
    law = stationary_distribution(transition_matrix(n, pairs, won / samples))
    worst = 0.0
    for edge in range(len(pairs)):
        for sign in (-1, 1):
            other = won + sign * (np.arange(len(pairs)) == edge)
            if 0 <= other[edge] <= samples:
                moved = stationary_distribution(transition_matrix(n, pairs, other / samples)) - law
                worst = max(worst, np.abs(moved).max())
    assert got["change"] == pytest.approx(worst, rel=1e-9)
    assert got["change"] <= got["halved"] == got["printed"] / 2
