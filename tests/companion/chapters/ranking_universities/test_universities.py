"""The experiments of chapter 1 against closed forms, brute force and deliberately broken twins.

Simulations use fixed seeds; a check of a mean against its exact value is off by more than Z standard errors with
probability 6e-7.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from checks import each

from companion.chapters.ranking_universities import universities as experiment
from companion.instruments import surveys as datasets
from companion.ledger.claim import derive
from dprank.data.counting import win_counts
from dprank.pairwise import NoisyCounts, noisy_counts, rank_law

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
ROUNDING = 1e-12


@pytest.mark.parametrize("gap", [0, 1, 2, 7, 40])
def test_two_items_closed_form_is_the_quadrature(gap):
    for scale in (0.5, 1.0, 3.0):
        law = rank_law([gap, 0], scale)
        assert math.exp(experiment.log_first_wins(gap, scale)) == pytest.approx(law[0, 0], rel=ROUNDING)
        assert math.exp(experiment.log_first_wins(-gap, scale)) == pytest.approx(law[1, 0], rel=1e-10)


@each("epsilon", EPSILONS)
@each("answers", [1, 2, 5])
def test_two_voters_break_algorithm_3_and_one_does_not(epsilon, answers):
    scale = answers / epsilon
    one, two = (experiment.two_items_loss(m, answers, scale) for m in (1, 2))
    assert one < epsilon < two
    assert two == pytest.approx(2 * epsilon - math.log1p(epsilon), rel=ROUNDING)
    assert two < experiment.two_items_loss(3, answers, scale) < 2 * epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_answer_of_one_voter_breaks_algorithm_3_with_three_items_and_not_with_two(epsilon):
    assert experiment.one_answer_loss(2, 1 / epsilon) == pytest.approx(experiment.two_items_loss(1, 1, 1 / epsilon))
    assert experiment.one_answer_loss(2, 1 / epsilon) < epsilon < experiment.one_answer_loss(3, 1 / epsilon)
    assert experiment.one_answer_loss(3, 2 / epsilon) < epsilon


@pytest.mark.slow
def test_the_questionnaire_needs_the_sensitivity_of_its_sheets():
    frame = experiment.questionnaire_losses(6, 303, 15.0)
    assert frame.agree.tolist() == [0, 3, 10, 302]
    assert frame.loss.is_monotonic_increasing
    assert frame.loss.iloc[0] > 1.0
    assert 1.59 < frame.loss.iloc[3] < 1.6
    assert np.allclose(np.abs(np.log(frame.before / frame.after)), frame.loss)
    assert min(frame.before.iloc[0], frame.after.iloc[0]) > 0.02, "an event that happens"
    assert experiment.questionnaire_losses(6, 303, 24.0).loss.max() < 1.0
    assert len(experiment.questionnaire_losses(3, 1, 1.0)) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_calibrated_noise_keeps_and_approaches_its_promise(epsilon):
    mechanism = NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=2, score="wins", law="continuous")
    losses = [experiment.two_items_loss(m, 1, mechanism.scale) for m in (1, 5, 50, 500)]
    assert losses == sorted(losses)
    assert 0.98 * epsilon < losses[-1] < epsilon


def test_loss_covers_data_between_the_extremes():
    """With many answers a voter the worst data are not always the most one-sided ones: all are tried."""
    voters, answers, scale = 3, 2, 1.5
    total = voters * answers

    def law(wins):
        p = math.exp(experiment.log_first_wins(2 * wins - total, scale))
        return np.log([p, 1 - p])

    brute = max(abs(law(a) - law(b)).max() for a in range(total + 1) for b in range(total + 1) if abs(a - b) <= answers)
    assert experiment.two_items_loss(voters, answers, scale) == pytest.approx(brute, rel=ROUNDING)


def test_edge_privacy_is_tight_for_the_vector_and_rejects_half_the_noise(monkeypatch):
    frame = experiment.edge_privacy(3, 1.0)
    assert frame.loss[frame.k == 0].item() == pytest.approx(1.0)
    assert frame.loss[frame.k > 0].max() < 1.0
    assert derive(experiment.check_alg_2(3, [1.0])) == "holds"
    printed = experiment.algorithm_2
    monkeypatch.setattr(experiment, "algorithm_2", lambda epsilon, n: printed(2 * epsilon, n))
    assert derive(experiment.check_alg_2(3, [1.0])) == "refuted"


def test_verdicts_follow_the_noise(monkeypatch):
    assert derive(experiment.check_alg_3([1.0], 1, 10)) == "refuted"
    printed = experiment.algorithm_3
    monkeypatch.setattr(experiment, "algorithm_3", lambda epsilon, n, **kw: printed(epsilon / 2, n, **kw))
    assert derive(experiment.check_alg_3([1.0], 1, 10)) == "holds", "with twice the noise the print would be right"


def test_readings_of_the_neighbour():
    frame = experiment.adjacency_readings(1.0).set_index("reading")
    assert frame.loss.iloc[0] == math.inf
    assert frame.truth.iloc[1] == pytest.approx(math.e / (1 + math.e))
    assert frame.loss.iloc[1] == pytest.approx(1.0)
    assert frame.loss.iloc[2] == math.inf
    # below log 2 even the averaged reading refuses the bare truth
    assert experiment.adjacency_readings(0.5).loss.iloc[0] < math.inf


@each("calibration", ["as printed", "corrected", "net wins"])
@each("survey", ["CEMS", "immigration"])
def test_figure_8_simulation_agrees_with_the_exact_value(survey, calibration):
    draws = experiment.rank_differences(survey, calibration, 1.0, repetitions=4000, rng=np.random.default_rng(8))
    row = experiment.figure_8([1.0], 2, [calibration]).set_index("survey").loc[survey]
    assert abs(draws.mean() - row.exact) < experiment.Z * draws.std() / 4000**0.5


def test_figure_8_check_rejects_a_simulation_that_reuses_its_noise():
    """A twin that draws one noise vector for all replicates: its mean is off by far more than its error says."""
    mechanism = experiment.survey_mechanism("as printed", 0.5, "CEMS")
    scores = experiment.survey_scores("CEMS", "wins")
    noise = mechanism.perturb(np.zeros(6), np.random.default_rng(1))
    draws = np.abs(experiment.places(np.tile(scores + noise, (500, 1))) - experiment.places(scores)).mean(-1)
    exact = experiment.figure_8([0.5], 2, ["as printed"]).exact.iloc[0]
    assert abs(draws.mean() - exact) > experiment.Z * draws.std() / 500**0.5


@pytest.mark.parametrize("law", ["continuous", "discrete"])
def test_figure_8_check_rejects_half_the_noise(monkeypatch, law):
    """Whichever noise is halved where it is drawn, the simulation leaves the exact curve."""
    perturb = NoisyCounts.perturb

    def half(self, scores, rng, repetitions=None):
        weaker = replace(self, scale=self.scale / 2) if self.law == law else self
        return perturb(weaker, scores, rng, repetitions)

    assert all(check.outcome for check in corrected_of_figure_8())
    monkeypatch.setattr(NoisyCounts, "perturb", half)
    assert not all(check.outcome for check in corrected_of_figure_8())


def corrected_of_figure_8():
    return [c for c in experiment.check_figure_8(experiment.figure_8([0.5], 200)) if c.about == "corrected"]


def test_published_figure_needs_the_printed_noise_and_the_corrected_data():
    frame = experiment.figure_8([0.5, 1.0, 2.0, 4.0], 50)
    assert derive(experiment.check_figure_8(frame)) == "constants"
    table = experiment.figure_8_by_data()
    assert np.abs(table.corrected - table.published).max() < experiment.READING
    assert np.abs(table["1998"] - table.published).max() > 5 * experiment.READING


def test_reversed_pair():
    frame = experiment.reversed_pair().set_index(["score", "data", "university"]).place.sort_index()
    assert (frame["wins", "corrected"] == frame["wins", "1998"]).all()
    assert frame["net", "1998", "Barcelona"] > frame["net", "corrected", "Barcelona"]
    assert experiment.majority_cycle(datasets.cems()) == ()
    assert len(experiment.majority_cycle(datasets.cems_1998())) == 3


def test_sensitivities_of_the_survey_bound_the_real_students():
    """Replacing any student by any other one moves the scores by no more than promised."""
    data = datasets.cems()
    sheets = np.stack([win_counts(data[data.voter == v], "net") for v in data.voters[:40]])
    moved = np.abs(sheets[:, None] - sheets).sum(-1).max()
    frame = experiment.survey_sensitivities(6).set_index(["sheet", "score"]).sensitivity
    assert 0 < moved <= frame["each pair once, ties and gaps allowed", "net"] == 36


def test_dean():
    numbers = experiment.dean(1.0)
    assert numbers["dean-odds"] == f"{math.e:.2f}"
    assert float(numbers["dean-top"]) > 0.99
    gap = experiment.wrong_order_gap(36.0)
    assert math.exp(experiment.log_first_wins(-gap, 36.0)) == pytest.approx(0.05)


def test_bad_input():
    with pytest.raises(ValueError, match="calibration = 'wrong'; allowed are"):
        experiment.survey_mechanism("wrong", 1.0, "CEMS")
    with pytest.raises(ValueError, match="survey = 'wrong'; allowed are 'CEMS', 'immigration'"):
        experiment.survey_data("wrong")


def test_a_wrong_sensitivity_cannot_confirm_itself(monkeypatch):
    """With L in place of 2L noise and guarantee would agree with each other, but not with the answer sheets."""
    right = noisy_counts.l1_sensitivity
    monkeypatch.setattr(noisy_counts, "l1_sensitivity", lambda *args, **kwargs: right(*args, **kwargs) // 2)
    corrected = [check for check in experiment.check_alg_3([1.0], 1, 10) if check.about == "corrected"]
    assert not all(check.outcome for check in corrected if "noisy counts" in check.what)
