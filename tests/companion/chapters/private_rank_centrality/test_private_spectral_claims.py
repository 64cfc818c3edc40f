"""Algorithm 3 and Theorem 3.5, and mutants."""

import math

import numpy as np
import pytest
from ledgers import outcomes

from companion.chapters.private_rank_centrality import constrained_graphs, small_graphs
from companion.chapters.private_rank_centrality import private_spectral as e
from companion.chapters.private_rank_centrality.comparison_graphs import all_pairs
from companion.ledger.claim import derive
from dprank.topk.spectral import ergodicity_coefficient, transition_matrix

CASES = [("two items", 3), ("triangle", 2), ("path of 3", 6), ("all pairs but one of 4", 1), ("all pairs of 4", 1)]


@pytest.fixture(scope="module")
def moves():
    return small_graphs.sensitivities(CASES)


def test_gap_of_equal_items():
    pairs = all_pairs(9)
    tau = ergodicity_coefficient(transition_matrix(9, pairs, np.full(len(pairs), 0.5)))
    assert 1 - tau == pytest.approx(e.public_gap(9))


@pytest.mark.slow
def test_model_rho_limit_is_the_exact_delta():
    assert e.model_rho_delta(150, 300) == pytest.approx(e.model_rho_limit(150), abs=1e-6)
    smallest = e.smallest_model_refutation()
    assert e.model_rho_limit(smallest - 1) <= e.DELTA < e.model_rho_limit(smallest)


def test_set_delta_by_hand():
    # two items apart by x: the first leads with probability 1 - (2 + x) exp(-x) / 4
    tail = (2 + 1) * math.exp(-1) / 4
    assert e.set_delta([1.0, 0.0], [0.0, 1.0], 1.0, 1, 0.2) == pytest.approx(1 - tail - math.exp(0.2) * tail)


def test_printed_noise_passes_and_a_tenth_of_it_fails():
    move = e.largest_move([10, 1000])
    assert 0.75 < move < 7.5
    assert e.largest_delta(move - 0.01, [10, 1000]) <= 1 < e.largest_delta(move + 0.01, [10, 1000])


def test_verdicts(moves):
    definition = constrained_graphs.check_constrained_graph(constrained_graphs.incomplete_graphs(3), moves)
    ratios = small_graphs.perturbation_ratios([("triangle", 1), ("path of 3", 2)])
    algorithm = e.check_algorithm([("path of 3", 2), ("triangle", 1)])
    theorem = e.check_theorem(moves, [2, 10, 1000], samples=101)
    graph = constrained_graphs.check_random_graph()
    sentence = small_graphs.check_map_sensitivity(ratios)
    assert derive(definition) == derive(algorithm) == derive(theorem) == "depends on the reading"
    assert derive(graph) == "needs a condition"
    assert derive(sentence) == "holds"
    for checks in (definition, algorithm, theorem, graph, sentence):
        assert set(outcomes(checks, "corrected")) == {True}


@pytest.mark.slow
def test_checks_reject_mutants(moves):
    # scores without the damping; a coefficient taken too small; a graph whose worst coefficient is forgotten
    assert False in outcomes(e.check_theorem(moves.assign(damped=moves["pi"]), [10], 101), "corrected")
    wrong = e.check_theorem(moves.assign(**{"one valid rho": 2.1}), [10], 101)
    assert outcomes(wrong, "printed").count(False) == 2
    ratios = small_graphs.perturbation_ratios([("triangle", 1)])
    assert derive(small_graphs.check_map_sensitivity(ratios.assign(sum=2 * ratios["sum"]))) == "refuted"
    forgotten = moves.assign(**{"largest tau": 0.9})
    checks = constrained_graphs.check_constrained_graph(constrained_graphs.incomplete_graphs(3), forgotten)
    assert outcomes(checks, "corrected") == [False]


def test_other_losses_and_thresholds_change_the_verdict(monkeypatch):
    loss, threshold = e.worst_loss, constrained_graphs.threshold
    monkeypatch.setattr(e, "worst_loss", lambda *args: 100 * loss(*args))
    assert derive(e.check_algorithm([("path of 3", 2)])) == "refuted"
    monkeypatch.setattr(constrained_graphs, "threshold", lambda *args: threshold(*args) / 2)
    # below the threshold our bound says nothing
    assert derive(constrained_graphs.check_random_graph()) == "undecided here"
