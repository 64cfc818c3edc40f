"""The committed data."""

from __future__ import annotations

from companion.chapters.real_surveys import answers
from companion.ledger.claim import derive


def test_what_was_answered():
    frame = answers.answers_given().set_index("survey")
    assert (frame.asked >= frame.answers).all()
    assert frame.loc["CEMS", "full"] + answers.missing_answers()["students"] == frame.loc["CEMS", "students"]
    assert frame.loc["immigration", ["full", "some"]].tolist() == [80, 88]


def test_data_claims_and_their_mutants(monkeypatch):
    assert derive(answers.check_cems()) == "depends on the reading"
    assert derive(answers.check_immigration()) == "depends on the reading"
    assert all(c.outcome for c in [*answers.check_cems(), *answers.check_immigration()] if c.about != "printed")
    monkeypatch.setattr(answers, "PRINTED", {"CEMS": (302, 6, 15), "immigration": (97, 4, 6)})
    assert derive(answers.check_cems()) == "refuted"
    assert derive(answers.check_immigration()) == "refuted"
