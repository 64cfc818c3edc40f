"""The published curve, and deliberately broken twins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.chapters.real_surveys import published_curve as s
from companion.chapters.real_surveys import survey_likelihood
from companion.ledger.claim import derive


@pytest.mark.slow
def test_published_curve_is_reproduced_and_privately():
    assert derive(s.check_figure_8_mle()) == "holds"


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_published_curve_rejects_other_noise(monkeypatch, factor):
    printed = survey_likelihood.survey_mle

    def other(calibration, epsilon, survey):
        mechanism = printed(calibration, epsilon, survey)
        return replace(mechanism, scale=factor * mechanism.scale)

    monkeypatch.setattr(survey_likelihood, "survey_mle", other)
    monkeypatch.setattr(s, "REPETITIONS", 1000)
    assert derive(s.check_figure_8_mle()) == "refuted"


def test_published_curve_rejects_noise_that_is_too_small_for_its_epsilon(monkeypatch):
    """A third of the printed noise is no longer epsilon-private: the first check that turns must be the loss."""
    mechanism = survey_likelihood.survey_mle("as printed", 1.0, "CEMS")
    assert mechanism.guarantee.epsilon < 1 < replace(mechanism, scale=mechanism.scale / 3).guarantee.epsilon


@pytest.mark.slow
def test_close_is_a_matter_of_the_threshold(monkeypatch):
    checks = s.check_figure_8([0.5, 1.0, 2.0, 4.0])
    assert derive(checks) == "holds"
    assert [str(c) for c in checks if c.about == "corrected" and not c.outcome] == []
    monkeypatch.setattr(s, "CLOSE", 0.01)
    assert derive(s.check_figure_8([0.5, 1.0])) == "refuted"


def test_a_curve_that_does_not_fall_is_refused(monkeypatch):
    printed = survey_likelihood.survey_mle
    monkeypatch.setattr(survey_likelihood, "survey_mle", lambda c, epsilon, survey: printed(c, 2.0, survey))
    monkeypatch.setattr(s, "CLOSE", 0.95)
    monkeypatch.setattr(s, "REPETITIONS", 1000)
    checks = [c for c in s.check_figure_8([0.5, 1.0]) if c.about == "printed" and "change" in c.what]
    assert all(check.outcome is not True for check in checks)
