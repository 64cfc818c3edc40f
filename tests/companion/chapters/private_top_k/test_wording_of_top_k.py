"""Single sentences of Qiao et al.: brute force, and lines that would be wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.private_top_k import proof_steps, rounds
from companion.ledger.claim import HELD

VERDICTS = {
    rounds.check_precise: "depends on the reading",
    rounds.check_applications: "refuted",
    proof_steps.check_one_less: "refuted",
    proof_steps.check_unit: "holds",
}


def fails(record, about):
    return any(check.outcome is False for check in record if check.about == about)


@pytest.mark.parametrize("settle", VERDICTS)
def test_verdicts_and_corrections(settle):
    record = settle()
    assert record.verdict == VERDICTS[settle]
    assert not any(fails(record, about) for about in HELD)


def test_a_theorem_that_bounds_the_noise_would_state_utility():
    assert rounds.check_precise(wide=1.0).verdict == "holds"


def test_a_cheaper_peeling_would_differ(monkeypatch):
    monkeypatch.setattr(rounds, "peeled_scale", lambda k, epsilon, delta, how: k / epsilon)
    assert fails(rounds.check_precise(), "corrected")


def test_sentences_that_speak_of_a_word():
    sentences = [
        {"place": "Section 3", "says": "A Test is private.", "claims": ["x"]},
        {"place": "Section 3", "says": "Another test.", "not_judged": "history"},
        {"place": "Section 5, paragraph 1", "says": "A test.", "claims": ["x"]},
    ]
    assert rounds.told_of(("test",), sentences) == 1
    assert rounds.told_of(("pair",), sentences) == 0


def test_one_sentence_on_tests_would_be_enough(monkeypatch):
    monkeypatch.setattr(rounds, "told_of", lambda words, sentences: 1)
    assert rounds.check_applications().verdict == "holds"


def test_a_condition_met_by_one_more_would_hold(monkeypatch):
    monkeypatch.setattr(proof_steps, "C0_PRINTED", 14.0)
    record = proof_steps.check_one_less()
    assert fails(record, "corrected")  # 14.9 is more than 14 less a little
    monkeypatch.setattr(proof_steps, "C0_LESS", "1.0")
    assert fails(proof_steps.check_one_less(), "corrected")


def test_scaled_set_by_simulation():
    rng = np.random.default_rng(5)
    x = np.array([0.0, 1.0, 2.5, 0.5])
    noisy = x + rng.laplace(size=(400_000, 4))
    share = (np.sort(np.argsort(-noisy, 1)[:, :2], 1) == [0, 1]).all(1).mean()
    assert proof_steps._scaled_set(x, 1.0) == pytest.approx(share, abs=5 * math.sqrt(share / 400_000))


def test_noise_that_does_not_scale_is_seen(monkeypatch):
    right = proof_steps._scaled_set
    monkeypatch.setattr(proof_steps, "_scaled_set", lambda values, scale: right(values, 1.0))
    assert proof_steps.check_unit().verdict == "refuted"
