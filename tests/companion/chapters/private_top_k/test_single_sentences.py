"""Claims on single sentences of Qiao et al. against brute force, closed forms and deliberately broken twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.private_top_k import preliminaries, proof_steps, released_values, rounds, utility_bound
from companion.ledger.claim import derive
from dprank.pairwise.rank_law import top_set_law


def fails(checks, about="printed"):
    return any(check.outcome is False for check in checks if check.about == about)


# --- preliminaries ---------------------------------------------------------------------------------------------------


def test_the_mirror_needs_symmetric_noise(monkeypatch):
    plain = preliminaries.log_set_chance
    monkeypatch.setattr(preliminaries, "log_set_chance", lambda x, k: plain(x, k, "exponential"))
    assert derive(preliminaries.check_generalizes()) == "refuted"
    monkeypatch.setattr(preliminaries, "log_set_chance", plain)
    monkeypatch.setattr(preliminaries, "theorem_2_1", lambda k, epsilon: k / epsilon)
    assert derive(preliminaries.check_generalizes()) == "refuted"


def test_a_delta_that_is_not_small_supplies_nothing(monkeypatch):
    assert derive(preliminaries.check_not_revealed()) == "needs a condition"
    monkeypatch.setattr(preliminaries, "FAR_BELOW", 1)
    monkeypatch.setattr(preliminaries, "hockey_stick", lambda p, q, epsilon: float(np.max(p)) * 1.01)
    assert fails(preliminaries.check_not_revealed(), "supplied")


def test_additive_noise_would_be_one_law(monkeypatch):
    monkeypatch.setattr(preliminaries, "response_law", lambda bit, epsilon: {bit: 0.7, bit + 1: 0.3})
    monkeypatch.setattr(preliminaries, "index_law", lambda gap: {1: 0.7, 2: 0.3})
    assert [c.outcome for c in preliminaries.check_any_mechanism() if c.about == "printed"] == [True, True]


def test_error_laws_and_their_distance():
    assert preliminaries.error_law({3: 0.2, 5: 0.8}, 4) == {-1: 0.2, 1: 0.8}
    assert preliminaries.apart({0: 0.5, 1: 0.5}, {0: 0.25, -1: 0.75}) == pytest.approx(0.75)
    law = top_set_law([0.0, -1.5], 1.0, 1)
    assert preliminaries.index_law(1.5)[1] == pytest.approx(law[(0,)], rel=1e-9)


def test_losses_of_values_add_up(monkeypatch):
    monkeypatch.setattr(preliminaries, "found_loss", lambda release, m, k, shift, how: shift)
    assert derive(preliminaries.check_laplace_mechanism()) != "needs a condition"


def test_with_fewer_records_than_values_the_delta_would_do(monkeypatch):
    monkeypatch.setattr(preliminaries, "PEOPLE", 100)
    assert derive(preliminaries.check_delta()) == "holds"


def test_almost_surely_turns_on_a_chance_above_0(monkeypatch):
    assert derive(utility_bound.check_almost_surely()) == "depends on the reading"
    monkeypatch.setattr(utility_bound, "exact_failure", lambda m, k, gap: 0.0)
    assert fails(utility_bound.check_almost_surely(), "corrected")
    monkeypatch.undo()
    monkeypatch.setattr(utility_bound, "swapped", lambda gap: 1 / (1 + np.asarray(gap, float)))
    assert fails(utility_bound.check_almost_surely())


def test_the_example_hangs_on_the_superscript(monkeypatch):
    assert derive(utility_bound.check_example()) == "depends on the reading"
    monkeypatch.setattr(utility_bound, "EXAMPLE", 8 * 10**5)
    assert not fails(utility_bound.check_example())


# --- rounds ----------------------------------------------------------------------------------------------------------


def test_next_chance_is_plackett_luce_for_gumbel_noise():
    x = [0.3, -0.5, 1.0, 0.0]
    w = np.exp(x)
    assert rounds.next_chance(x, "gumbel") == pytest.approx(w[1] / w[1:].sum(), rel=1e-9)
    loss = rounds.next_loss(4, 0.3, "gumbel", one_pass=True)
    assert loss == pytest.approx(rounds.next_loss(4, 0.3, "gumbel", one_pass=False), rel=1e-9)


def test_a_pass_that_forgets_would_refute(monkeypatch):
    plain = rounds.next_loss
    assert plain(10, 0.1, "laplace", one_pass=True) > 0.2 > plain(10, 0.1, "laplace", one_pass=False)
    monkeypatch.setattr(rounds, "next_loss", lambda m, a, noise, one_pass: plain(m, a, "gumbel", one_pass=False))
    assert derive(rounds.check_dependence((3, 5), (0.1,))) == "refuted"


def test_tight_composition_would_refute(monkeypatch):
    plain = rounds.peeled_scale
    monkeypatch.setattr(rounds, "peeled_scale", lambda k, e, d, how: plain(k, e, d, "optimal"))
    assert derive(rounds.check_slack((100,))) == "refuted"


# --- values ----------------------------------------------------------------------------------------------------------


def test_constant_left_is_plain_arithmetic():
    low, high = released_values.constant_left()
    log = math.log(40)
    plain = 8 * (1 - 0.2 / (128 * log) - 2 / math.sqrt(128)) / math.sqrt(1 + math.log(2) / log)
    assert low - 1e-12 <= plain <= high + 1e-12


@pytest.mark.parametrize(("name", "value"), [("LEFT", 6.1), ("proof_ratio", lambda reach, constant: (4.6, 4.7))])
def test_the_values_need_their_constants(monkeypatch, name, value):
    monkeypatch.setattr(released_values, name, value)
    assert fails(released_values.check_values())


def test_half_the_noise_of_theorem_2_2_does_not_pay_for_the_values(monkeypatch):
    plain = released_values.printed_scale
    monkeypatch.setattr(released_values, "printed_scale", lambda *cell: 100 * plain(*cell))
    assert derive(released_values.check_completes()) == "holds"  # values that cost next to nothing


@pytest.mark.slow
def test_more_accurate_turns_on_k(monkeypatch):
    assert released_values.score_ratio(0.05, 320, 32) > 1 > released_values.score_ratio(0.05, 330, 33)
    monkeypatch.setattr(released_values, "score_ratio", lambda share, m, k: 0.5)
    assert derive(released_values.check_more_accurate()) != "needs a condition"


# --- steps of the proofs ---------------------------------------------------------------------------------------------


def test_given_their_number_by_hand():
    assert proof_steps.given_number([0.5, 0.25], 1) == pytest.approx([0.375 / 0.5, 0.125 / 0.5])
    assert proof_steps.given_number([0.3, 0.6], 0).tolist() == [0, 0]


def test_a_set_by_its_boundary_is_its_law():
    x = [0.2, 1.0, -0.4, 0.9]
    assert proof_steps.set_by_boundary(x, 2) == pytest.approx(top_set_law(x, 1.0, 2)[(0, 1)], rel=1e-9)


def test_a_fixed_number_would_be_multinomial(monkeypatch):
    monkeypatch.setattr(proof_steps, "outcomes", lambda q: (np.eye(4, dtype=int), np.full(4, 0.25)))
    assert not fails(list(proof_steps.check_multinomial())[:1])


def test_independence_given_the_number_would_be_as_printed(monkeypatch):
    monkeypatch.setattr(proof_steps, "given_number", lambda q, number: np.asarray(q))
    assert not fails(proof_steps.check_given())
    monkeypatch.undo()
    monkeypatch.setattr(proof_steps, "set_by_boundary", lambda x, k: 0.5)
    assert fails(proof_steps.check_given(), "corrected")


@pytest.mark.parametrize("twin", [lambda u, log: 3 * ((1 + u) * log(1 + u) - u), lambda u, log: u**2])
def test_a_stronger_bennett_is_false(monkeypatch, twin):
    monkeypatch.setattr(proof_steps, "bennett", twin)
    assert derive(proof_steps.check_bennett()) == "refuted"


def test_bennett_needs_the_right_logarithms(monkeypatch):
    monkeypatch.setattr(proof_steps, "log_ratios", lambda q, moved: (np.log(q / moved), np.log((1 - q) / (1 - moved))))
    assert derive(proof_steps.check_bennett()) == "refuted"


def test_mean_terms_by_the_printed_formula():
    q, tau = 0.3, 0.1
    for sign in (1, -1):
        delta = sign * tau * q * (1 - q)
        first, second, u, v = proof_steps.mean_terms(np.array([q]), np.array([[sign * tau]]))
        assert first[0, 0] == pytest.approx(q * math.log(1 + delta / q))
        assert second[0, 0] == pytest.approx((1 - q) * math.log(1 - delta / (1 - q)))
        assert (u[0, 0], v[0, 0]) == pytest.approx((delta / q, delta / (1 - q)))


def test_cases_turn_on_their_bounds(monkeypatch):
    assert derive(proof_steps.check_cases()) == "needs a condition"
    plain = proof_steps.mean_terms
    monkeypatch.setattr(proof_steps, "mean_terms", lambda q, move: (3 * plain(q, move)[0], *plain(q, move)[1:]))
    assert derive(proof_steps.check_cases()) == "refuted"
