"""Packings, the private error and the jump; a constant that is too large is noticed."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from companion.chapters.edge_privacy import recovery
from companion.ledger.claim import derive


def test_rounding_down_leaves_a_single_set():
    assert recovery.set_size(1, 0.25) == 3
    assert recovery.largest_packing(list(combinations(range(8), 2)), 4) == 1
    assert recovery.largest_packing(list(combinations(range(6), 3)), 4) == 2


def test_theorem_2_4_at_a_constant_twenty_times_ours_is_not_proved(monkeypatch):
    assert derive(recovery.check_thm_2_4()) == "holds"
    ours = recovery.constant_2_4
    monkeypatch.setattr(recovery, "constant_2_4", lambda a, b: 20 * ours(a, b))
    assert derive(recovery.check_thm_2_4()) != "holds"


def test_exact_recovery_needs_a_small_constant():
    assert min(recovery.exact_recovery(n, 1, 0.4) for n in (20, 50, 10**5, 10**12)) > 0.1
    assert recovery.exact_recovery(10**12, 1, 0.8) < 0.1
    assert recovery.exact_recovery(100, 99, 0.4) == recovery.exact_recovery(100, 1, 0.4)


def test_the_jump_meets_a0_and_helps():
    x = np.linspace(-50, 50, 2001)
    assert (np.diff(recovery.jump_cdf(x)) > 0).all()
    assert np.allclose(recovery.jump_cdf(x) + recovery.jump_cdf(-x), 1)
    assert recovery.jump_cdf(1e-12) > 0.75
    assert recovery.jump_gap(6) >= 1
    case = recovery.jump_recovery(10**6, 0.5)
    assert case["error"] < 0.02
    assert recovery.jump_recovery(10**6, 0.5, jump=0.01)["power"] > 1, "a small jump asks for a large tolerance"
