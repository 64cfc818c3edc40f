"""Single sentences of Section 3 and Appendix B: tiny cases by hand, and lines that would be wrong."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from companion.chapters.individual_privacy import estimation_limits as estimates
from companion.chapters.individual_privacy import noisy_counts, voter_likelihood, voter_tails
from companion.chapters.individual_privacy import recovery_limits as limits
from companion.ledger.claim import HELD
from dprank.models.bradley_terry import LOGISTIC

VERDICTS = {
    voter_likelihood.check_loser: "refuted",
    voter_tails.check_projected: "refuted",
    voter_tails.check_winner: "depends on the reading",
    voter_tails.check_number: "depends on the reading",
    limits.check_b5_step: "refuted",
    limits.check_b5_users: "refuted",
    noisy_counts.check_stronger: "holds",
    estimates.check_thm_3_2_proof: "refuted",
}


def fails(record, about):
    return any(check.outcome is False for check in record if check.about == about)


@pytest.mark.parametrize("settle", VERDICTS)
def test_verdicts_and_corrections(settle):
    record = settle()
    assert record.verdict == VERDICTS[settle]
    assert not any(fails(record, about) for about in HELD)


def test_the_loser_of_a_symmetric_table_is_no_slip(monkeypatch):
    # were answers symmetric in user and draw, and all lost, y_lk would still not be 1 - y_kl
    off, right = voter_likelihood.loser_gradients(np.random.default_rng(3))
    assert off > 0.01 > 1e-8 > right
    monkeypatch.setattr(voter_likelihood, "loser_gradients", lambda rng: (0.0, 0.0))
    assert voter_likelihood.check_loser().verdict == "holds"
    monkeypatch.setattr(voter_likelihood, "loser_gradients", lambda rng: (1.0, 1.0))
    assert fails(voter_likelihood.check_loser(), "corrected")


def test_path_laplacian_by_hand(monkeypatch):
    np.testing.assert_array_equal(voter_tails.path_laplacian(3), [[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    monkeypatch.setattr(voter_tails, "path_laplacian", np.eye)
    assert any(check.outcome is False for check in voter_tails.check_projected() if check.about == "argument")


def test_of_even_curvatures_one_reading_is_enough(monkeypatch):
    monkeypatch.setattr(voter_tails, "PROBIT", LOGISTIC)
    monkeypatch.setattr(voter_tails, "ARCTAN", LOGISTIC)
    assert voter_tails.check_winner().verdict == "holds"


@pytest.mark.parametrize(("constant", "hundredths"), [(4, 200), (33, 574), (2, 141)])
def test_square_roots_to_two_places(constant, hundredths):
    found = [check.observed for check in voter_tails.check_number(constant) if check.about == "corrected"]
    assert found == [hundredths]


def test_u_in_place_of_m_is_what_is_meant(monkeypatch):
    assert limits.check_b5_users(users=1).verdict == "holds"
    monkeypatch.setattr(limits, "NU", 20.0)
    assert fails(limits.check_b5_users(), "corrected")


def test_d_twice_as_large_would_break_its_bound(monkeypatch):
    right = limits.packings.draw_distances
    monkeypatch.setattr(limits.packings, "draw_distances", lambda *a: [3 * x for x in right(*a)])
    assert fails(limits.check_b5_step(), "corrected")


def test_count_moves_by_hand():
    assert noisy_counts.count_moves(2, 1, 1, False) == 2
    assert noisy_counts.count_moves(3, 2, 1, True) == 2
    assert noisy_counts.count_moves(3, 1, 2, True) == 4


def test_one_answer_a_person_is_no_stronger():
    assert noisy_counts.check_stronger(answers=1).verdict == "refuted"


def test_pairs_of_a_packing_are_as_far_as_said():
    # two sets of 3 of 6 items differ in at most 6 places
    sets = [set(it) for it in combinations(range(6), 3)]
    assert max(len(a ^ b) for a in sets for b in sets) == 6
    assert math.log(math.comb(50, 3)) < 0.225 * 10_000 * math.log(100)
