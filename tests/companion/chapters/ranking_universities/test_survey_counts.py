"""Fixed seeds; a mean is off its exact value by more than Z standard errors with probability 6e-7."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from checks import each

from companion.chapters.ranking_universities import survey_counts as s
from companion.instruments import surveys as datasets
from companion.instruments.allowance import Z
from companion.ledger.claim import derive
from dprank.data.counting import win_counts
from dprank.pairwise import NoisyCounts
from dprank.pairwise.rank_law import places


@each("calibration", ["as printed", "corrected", "net wins"])
@each("survey", ["CEMS", "immigration"])
def test_figure_8_simulation_agrees_with_the_exact_value(survey, calibration):
    draws = s.rank_differences(survey, calibration, 1.0, repetitions=4000, rng=np.random.default_rng(8))
    row = s.figure_8([1.0], 2, [calibration]).set_index("survey").loc[survey]
    assert abs(draws.mean() - row.exact) < Z * draws.std() / 4000**0.5


def test_figure_8_check_rejects_a_simulation_that_reuses_its_noise():
    """A twin that draws one noise vector for all replicates: its mean is off by far more than its error says."""
    mechanism = s.survey_mechanism("as printed", 0.5, "CEMS")
    scores = s.survey_scores("CEMS", "wins")
    noise = mechanism.perturb(np.zeros(6), np.random.default_rng(1))
    draws = np.abs(places(np.tile(scores + noise, (500, 1))) - places(scores)).mean(-1)
    exact = s.figure_8([0.5], 2, ["as printed"]).exact.iloc[0]
    assert abs(draws.mean() - exact) > Z * draws.std() / 500**0.5


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
    return [c for c in s.check_figure_8(s.figure_8([0.5], 200)) if c.about == "corrected"]


def test_published_figure_needs_the_printed_noise_and_the_corrected_data():
    frame = s.figure_8([0.5, 1.0, 2.0, 4.0], 50)
    assert derive(s.check_figure_8(frame)) == "needs a condition"
    table = s.figure_8_by_data()
    assert np.abs(table.corrected - table.published).max() < s.READING
    assert np.abs(table["1998"] - table.published).max() > 5 * s.READING


def test_sensitivities_of_the_survey_bound_the_real_students():
    """Replacing any student by any other one moves the scores by no more than promised."""
    data = datasets.cems()
    sheets = np.stack([win_counts(data[data.voter == v], "net") for v in data.voters[:40]])
    moved = np.abs(sheets[:, None] - sheets).sum(-1).max()
    frame = s.survey_sensitivities(6).set_index(["sheet", "score"]).sensitivity
    assert 0 < moved <= frame["each pair once, ties and gaps allowed", "net"] == 36
