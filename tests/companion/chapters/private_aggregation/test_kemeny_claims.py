"""Exact."""

from itertools import permutations

import numpy as np
import pytest
from checks import refused

from companion.chapters.private_aggregation import kemeny as module
from companion.ledger.claim import derive
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings

CYCLE = pairwise_fractions(Rankings([[0, 1, 2], [2, 0, 1], [1, 2, 0]], "abc"))


def rng():
    return np.random.default_rng(1)


def test_counts_disagreements_by_the_definition():
    rows = list(permutations(range(3)))
    expected = [[kendall_distance(a, b) for b in rows] for a in rows]
    np.testing.assert_array_equal(module.disagreements(3), expected)


def test_the_formula_without_a_diagonal_is_the_score():
    w = pairwise_fractions(module.draw(5, 4, rng=rng()))
    order = [3, 1, 4, 0, 2]
    assert module.displayed(order, w, 0.0) == pytest.approx(kemeny_score(order, w), abs=1e-12)
    assert module.displayed(order, w, 0.5) == pytest.approx(kemeny_score(order, w) + 2.5, abs=1e-12)


def test_verdicts():
    assert derive(module.check_kendall(4, rng=rng())) == "holds"
    assert derive(module.check_cost(4, 3, rng=rng())) == "needs a condition"
    assert derive(module.check_feedback(3, rng=rng())) == "holds"


def test_a_distance_that_counts_pairs_twice_is_found_out(monkeypatch):
    true = module.disagreements
    monkeypatch.setattr(module, "disagreements", lambda m: 2 * true(m))
    assert derive(module.check_kendall(3, rng=rng())) != "holds"


def test_a_score_of_the_opposite_order_is_found_out(monkeypatch):
    true = module.kemeny_score
    monkeypatch.setattr(module, "kemeny_score", lambda order, w: true(order[::-1], w))
    corrected = [check.outcome for check in module.check_cost(3, 3, rng=rng()) if check.about == "corrected"]
    assert corrected
    assert not all(corrected)


def test_least_feedback_of_a_cycle():
    assert module.least_feedback(CYCLE) == pytest.approx(4 / 3)
    with refused("w has 5 items", "up to 4"):
        module.least_feedback(np.zeros((5, 5)))


def test_a_consensus_that_follows_the_first_voter_is_found_out(monkeypatch):
    class Wrong:
        def __init__(self, w):
            self.cost = kemeny_score(range(len(w))[::-1], w)

    monkeypatch.setattr(module, "kemeny", Wrong)
    assert derive(module.check_feedback(3, rng=rng())) != "holds"


def test_solvers_bound_each_other():
    cells = [{"items": 8, "voters": 20, "phi": 0.9, "noise": noise} for noise in (0.0, 0.3)]
    frame = module.solvers(cells, rng=rng())
    assert frame.noise.tolist() == [0.0, 0.3]
    assert (frame.floor <= frame.optimum + 1e-12).all()
    assert (frame["local search (%)"] >= 0).all()
    assert (frame["local search (%)"] <= frame["Borda (%)"] + 1e-9).all()


def test_what_is_no_metric_is_seen(monkeypatch):
    counts = module.disagreements
    monkeypatch.setattr(module, "disagreements", lambda m: counts(m) ** 2)
    checks = module.check_kendall(3, rng=rng())
    assert any("K(a,b) + K(b,c)" in check.what and not check.outcome for check in checks)
