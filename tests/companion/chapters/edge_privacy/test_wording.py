"""Single sentences and slips of the pen on edge privacy: brute force at tiny size, and lines that would be wrong."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from companion.chapters.edge_privacy import induction, introduction, recovery, slips, wording
from companion.ledger.claim import HELD

VERDICTS = {
    wording.check_reals: "needs a condition",
    wording.check_akin: "depends on the reading",
    wording.check_centered: "depends on the reading",
    wording.check_convexity: "depends on the reading",
    wording.check_own: "depends on the reading",
    wording.check_single_dose: "holds",
    slips.check_tolerance: "refuted",
    slips.check_signs: "refuted",
    slips.check_equal: "depends on the reading",
}


def fails(record, about):
    return any(check.outcome is False for check in record if check.about == about)


@pytest.mark.parametrize("settle", VERDICTS)
def test_verdicts_and_corrections(settle):
    record = settle()
    assert record.verdict == VERDICTS[settle]
    assert not any(fails(record, about) for about in HELD)


def test_one_replaced_by_hand():
    assert wording.one_replaced((1, 1, 2), (2, 2, 1))
    assert not wording.as_sets((1, 1, 2), (2, 2, 1))
    assert wording.as_multisets((1, 1, 2), (2, 2, 1))
    assert not wording.one_replaced((1, 2), (2, 1))
    assert not wording.as_multisets((1, 1), (2, 2))


def test_counting_sets_would_not_mend_the_display(monkeypatch):
    monkeypatch.setattr(wording, "as_multisets", wording.as_sets)
    assert wording.check_reals().verdict == "refuted"


def test_edge_steps_of_two_items():
    # one pair: absent, lost or won; an answer is flipped in two steps, and never comes in by flips
    assert wording.edge_steps(2) == (2, math.inf, 2)


def test_a_ridge_that_is_always_enough_would_settle_it(monkeypatch):
    monkeypatch.setattr(wording, "objective_loss", lambda scale, ridge: 0.5)
    assert wording.check_convexity().verdict == "holds"


def test_were_algorithm_2_best_there_would_be_one_reading(monkeypatch):
    best = wording.private_risk
    laws = {g: [[0.5 + g, 0.5 - g], [0.5 - g, 0.5 + g]] for g in (0.05, 0.2, 0.4)}
    monkeypatch.setattr(wording, "two_items_error", lambda g, e: best(laws[g], e, 0.0, 1 - np.eye(2), [(0, 1)]))
    assert wording.check_own().verdict == "holds"


def test_charges_of_a_descent_by_simulation():
    rng, steps, size = np.random.default_rng(1), 7, 0.3
    theta = np.zeros(200_000)
    weight = 0.0
    for _ in range(steps):
        theta = (1 - size) * theta + size * rng.normal(size=theta.size)
        weight = (1 - size) * weight + size
    assert wording.charged(steps, size) == pytest.approx(steps * theta.std() / weight, rel=0.01)


def test_only_the_last_step_charged_would_be_no_higher(monkeypatch):
    right = wording.charged
    monkeypatch.setattr(wording, "charged", lambda steps, size: right(steps, size) / steps)
    assert wording.check_single_dose().verdict == "refuted"


@pytest.mark.parametrize(("items", "top"), [(5, 1), (9, 3), (12, 5)])
def test_block_means_by_listing(items, top):
    listed = slips.listed_means(items, top, 0.2)
    np.testing.assert_allclose(slips.block_means(items, top, 0.2), listed[[0, top, top + 1, top + 2]])
    assert listed.mean() == pytest.approx(0.5)


def test_were_k_far_ahead_the_display_would_stand(monkeypatch):
    right = slips.block_means

    def apart(items, top, lead):
        best, one, _, rest = right(items, top, lead)
        return best, one, rest, rest

    monkeypatch.setattr(slips, "block_means", apart)
    displays = [c for c in slips.check_tolerance() if c.about == "printed" and c.what.startswith("2τ")]
    assert displays
    assert all(check.outcome for check in displays)


def test_more_noise_breaks_the_corrected_end(monkeypatch):
    monkeypatch.setattr(slips, "log_first_wins", lambda gap, scale: math.log(0.4))
    assert fails(slips.check_tolerance(), "corrected")


def test_a_smaller_kappa_would_be_too_small(monkeypatch):
    monkeypatch.setattr(slips, "gradient", lambda t, data, right=slips.gradient: 3 * right(t, data))
    assert fails(slips.check_equal(), "corrected")


# --- claims that were widened ---------------------------------------------------------------------------------------


def test_the_likelihood_is_neither_value(monkeypatch):
    record = introduction.check_likelihood()
    assert record.verdict == "refuted"
    assert not fails(record, "corrected")


def test_blind_sets_by_hand():
    assert recovery.blind_failure(4, 2, 1) == pytest.approx(1 / 6)
    assert recovery.blind_failure(6, 2, 0) == pytest.approx(1 - 1 / 15)


def test_a_bound_that_blind_sets_meet_would_not_need_a_range(monkeypatch):
    monkeypatch.setattr(recovery, "blind_failure", lambda n, k, m: 0.5)
    assert recovery.check_thm_2_4().verdict == "holds"


@pytest.mark.parametrize("packed", recovery.PACKED)
def test_no_set_is_near_two_of_a_packing(packed):
    assert recovery.least_losses(*packed) == 1


def one_coordinate(odds, items, scale, deviation, steps):
    """The distance of copy and iterate of one strong item, step by step, all others at their strengths."""
    log = math.log(items)
    lead = math.log(odds - 1)
    variance = items * (1 - 1 / odds) / odds
    surplus = deviation * math.sqrt(variance * log)
    gamma = math.sqrt(items * log)
    eta = 1 / (gamma + 3 * induction.tails.condition_number() * items)
    lost = items / odds
    x = y = lead
    for _ in range(steps):
        x -= eta * (lost - items / (1 + math.exp(x)) - surplus + gamma * x)
        y -= eta * (lost - items / (1 + math.exp(y)) + gamma * y)
    return x - y


def test_strong_item_against_its_descent():
    third, items = 20.0, 1e18
    case = induction.strong_item(third, items)
    steps = int(case["steps"])
    assert steps < 200_000
    apart = one_coordinate(third**2, items, 8.0, 2.0, steps)
    rate = math.sqrt(math.log(items) / items) + 8 * math.log(items) / items
    # the bound lets the curvature be e^0.2 times as large
    assert case["distance"] * (1 - 1e-6) <= apart / (third * rate) <= 2 * case["distance"]


def test_a_weak_surprise_never_gets_there(monkeypatch):
    assert induction.strong_item(606.0, 1e18, deviation=0.5)["steps"] == math.inf


def test_prop_a3_needs_the_bound():
    frame = pd.DataFrame({"A.33": [1.0], "drift": [0.0]})
    assert induction.check_prop_a3(frame).verdict == "needs a condition"
    assert fails(induction.check_prop_a3(frame.assign(drift=1.0)), "corrected")
