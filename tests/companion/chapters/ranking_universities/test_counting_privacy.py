"""Exact losses against closed forms, brute force and deliberately broken twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import each

from companion.chapters.ranking_universities import counting_privacy as s
from companion.chapters.ranking_universities import survey_counts
from companion.instruments import two_items
from companion.ledger.claim import derive
from companion.printed.cai2025 import algorithm_2, algorithm_3
from dprank.pairwise import NoisyCounts, noisy_counts, rank_law

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)


ROUNDING = 1e-12


@pytest.mark.parametrize("gap", [0, 1, 2, 7, 40])
def test_two_items_closed_form_is_the_quadrature(gap):
    for scale in (0.5, 1.0, 3.0):
        law = rank_law([gap, 0], scale)
        assert math.exp(two_items.log_first_wins(gap, scale)) == pytest.approx(law[0, 0], rel=ROUNDING)
        assert math.exp(two_items.log_first_wins(-gap, scale)) == pytest.approx(law[1, 0], rel=1e-10)


@each("epsilon", EPSILONS)
@each("answers", [1, 2, 5])
def test_two_voters_break_algorithm_3_and_one_does_not(epsilon, answers):
    scale = answers / epsilon
    one, two = (s.two_items_loss(m, answers, scale) for m in (1, 2))
    assert one < epsilon < two
    assert two == pytest.approx(2 * epsilon - math.log1p(epsilon), rel=ROUNDING)
    assert two < s.two_items_loss(3, answers, scale) < 2 * epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_answer_of_one_voter_breaks_algorithm_3_with_three_items_and_not_with_two(epsilon):
    assert s.one_answer_loss(2, 1 / epsilon) == pytest.approx(s.two_items_loss(1, 1, 1 / epsilon))
    assert s.one_answer_loss(2, 1 / epsilon) < epsilon < s.one_answer_loss(3, 1 / epsilon)
    assert s.one_answer_loss(3, 2 / epsilon) < epsilon


@pytest.mark.slow
def test_the_questionnaire_needs_the_sensitivity_of_its_sheets():
    frame = s.questionnaire_losses(6, 303, 15.0)
    assert frame.agree.tolist() == [0, 3, 10, 302]
    assert frame.loss.is_monotonic_increasing
    assert frame.loss.iloc[0] > 1.0
    assert 1.59 < frame.loss.iloc[3] < 1.6
    assert np.allclose(np.abs(np.log(frame.before / frame.after)), frame.loss)
    assert min(frame.before.iloc[0], frame.after.iloc[0]) > 0.02, "an event that happens"
    assert s.questionnaire_losses(6, 303, 24.0).loss.max() < 1.0
    assert len(s.questionnaire_losses(3, 1, 1.0)) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_calibrated_noise_keeps_and_approaches_its_promise(epsilon):
    mechanism = NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=2, score="wins", law="continuous")
    losses = [s.two_items_loss(m, 1, mechanism.scale) for m in (1, 5, 50, 500)]
    assert losses == sorted(losses)
    assert 0.98 * epsilon < losses[-1] < epsilon


def test_loss_covers_data_between_the_extremes():
    """With many answers a voter the worst data are not always the most one-sided ones: all are tried."""
    voters, answers, scale = 3, 2, 1.5
    total = voters * answers

    def law(wins):
        p = math.exp(two_items.log_first_wins(2 * wins - total, scale))
        return np.log([p, 1 - p])

    brute = max(abs(law(a) - law(b)).max() for a in range(total + 1) for b in range(total + 1) if abs(a - b) <= answers)
    assert s.two_items_loss(voters, answers, scale) == pytest.approx(brute, rel=ROUNDING)


def test_edge_privacy_is_tight_for_the_vector_and_rejects_half_the_noise(monkeypatch):
    frame = s.edge_privacy(3, 1.0)
    assert frame.loss[frame.k == 0].item() == pytest.approx(1.0)
    assert frame.loss[frame.k > 0].max() < 1.0
    assert derive(s.check_alg_2(3, [1.0])) == "holds"
    printed = algorithm_2
    monkeypatch.setattr(s, "algorithm_2", lambda epsilon, n: printed(2 * epsilon, n))
    assert derive(s.check_alg_2(3, [1.0])) == "refuted"


def test_verdicts_follow_the_noise(monkeypatch):
    assert derive(s.check_alg_3([1.0], 1, 10)) == "refuted"
    printed = algorithm_3
    for section in (s, survey_counts):
        monkeypatch.setattr(section, "algorithm_3", lambda epsilon, *n, **kw: printed(epsilon / 2, *n, **kw))
    assert derive(s.check_alg_3([1.0], 1, 10)) == "holds", "with twice the noise the print would be right"


def test_a_wrong_sensitivity_cannot_confirm_itself(monkeypatch):
    """With L in place of 2L noise and guarantee would agree with each other, but not with the answer sheets."""
    right = noisy_counts.l1_sensitivity
    monkeypatch.setattr(noisy_counts, "l1_sensitivity", lambda *args, **kwargs: right(*args, **kwargs) // 2)
    corrected = [check for check in s.check_alg_3([1.0], 1, 10) if check.about == "corrected"]
    assert not all(check.outcome for check in corrected if "noisy counts" in check.what)
