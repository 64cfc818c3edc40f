"""Tracing at work, its identity, and a broken twin."""

import math
from fractions import Fraction

import pytest

from companion.chapters.aggregation_lower_bounds import tracing
from companion.ledger.claim import derive


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


def test_a_broken_threshold_is_rejected(monkeypatch):
    monkeypatch.setattr(tracing, "tracing_threshold", lambda d, *args, **sheet: 0.01 * math.sqrt(d))
    assert not all(outcomes(tracing.check_thm_14(), "corrected"))


def test_tracing_at_work():
    frame = tracing.tracing([90], [0.3, 20.0], [None, 1.0], 40)
    traced = frame[frame.outcome == "traced"].set_index(["share", "epsilon"])["mean"]
    exact = frame[frame.epsilon.isna() & (frame.outcome == "traced")].set_index("share")["mean"]
    private = frame[frame.epsilon.eq(1) & (frame.outcome == "traced")]
    assert len(traced) == 4
    assert exact[0.3] > 0.2 > exact[20.0]
    # mean of 40 numbers of [0, 1], each with a mean of at most 0.0272; Chernoff at 0.2: below 1e-4
    assert (private["mean"] < 0.2).all()
    wrong = frame[(frame.outcome == "wrong") & frame.epsilon.isna()]
    assert (wrong["mean"] == 0).all()
    assert derive(tracing.check_signs(frame)) in ("holds", "undecided here")
    broken = frame.assign(mean=frame["mean"] * 0)
    assert derive(tracing.check_signs(broken)) != "holds"


def test_marginals_near_the_ends_spread_most(monkeypatch):
    assert derive(tracing.check_footnote_4()) == "depends on the reading"
    assert tracing.spread_of(1.0)[0] == pytest.approx(1 / math.sqrt(3))
    assert tracing.spread_of(0.5)[0] == pytest.approx(math.sqrt(1 / 2))
    monkeypatch.setattr(tracing, "spread_of", lambda alpha: (math.sqrt(alpha), 0.5))
    assert derive(tracing.check_footnote_4()) == "refuted"


def test_the_first_number_of_items_that_asks_for_a_voter(monkeypatch):
    first = tracing.first_items(1.0, 1e-6, Fraction(1, 100))
    asked = [tracing.best_tracing(m, 1.0, 1e-6, error=0.01 * m * m) for m in range(first - 3, first + 3)]
    assert [voters > 1 for voters in asked] == [False] * 3 + [True] * 3
    monkeypatch.setattr(tracing, "best_tracing", lambda *_, error: 0.5)
    assert tracing.first_items(1.0, 1e-6, Fraction(1, 100)) == math.inf
