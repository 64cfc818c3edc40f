"""Checks of the lower bounds against brute force and broken twins.

Random tests have fixed seeds; each fails by chance less than once in a thousand runs of new seeds (four standard
errors, or the bound stated).
"""

import math

import pytest

from companion.chapters.aggregation_lower_bounds import cube, packing, tracing
from companion.ledger.claim import derive
from dprank.aggregation.lower_bounds import pure_threshold


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


def test_broken_twins_are_rejected(monkeypatch):
    monkeypatch.setattr(cube, "embedded_distance", lambda h, d, t: h * (t + 2 * d - h))
    assert not all(outcomes(cube.check_obs_16(), "corrected"))
    monkeypatch.setattr(packing, "pure_threshold", lambda m, error: math.log(m))
    assert derive(packing.check_thm_13()) == "refuted"
    monkeypatch.setattr(packing, "coded_threshold", lambda d, *args: math.log(d + 1))
    assert derive(packing.check_codes()) == "refuted"
    monkeypatch.setattr(tracing, "tracing_threshold", lambda d, *args, **sheet: 0.01 * math.sqrt(d))
    assert not all(outcomes(tracing.check_thm_14(), "corrected"))


def test_tables_for_readers():
    row = packing.pure_table([30]).iloc[0]
    assert row["needed"] - 1 < pure_threshold(30, 9) < row["needed"]
    assert row["ε n / items"] <= pure_threshold(30, 9) / 30 < row["ε n / items"] + 0.001
    assert row["needed (π^x)"] <= row["needed"] < row["enough (exponential mechanism)"]
    row = tracing.table_16([(10, 100, 3)]).iloc[0]
    assert row.tolist() == [10, 100, 3, 3 * (200 + 20 - 3), 300 + 200, 600 + 100]


def test_tracing_identity_for_any_rule():
    for voters, spread in ((1, 1.0), (2, 0.5), (6, 0.1)):
        left, right = tracing.majority_identity(voters, spread)
        assert left == pytest.approx(right, rel=1e-9)


def test_random_voter_is_private_to_one_in_n():
    ratio, delta = tracing.random_voter(3, 2)
    assert (ratio, delta) == (pytest.approx(1.0), pytest.approx(0.5))


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
