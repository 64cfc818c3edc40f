"""Sets that exist, tolerances beyond the proof, procedures that look at nothing."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from companion.chapters.individual_privacy import (
    recovery_limits,
)


def test_no_smaller_number_of_items_has_a_blind_counterexample():
    for n in range(2, 6):
        for k in range(1, n):
            for u in range(min(k, n - k)):
                assert recovery_limits.random_set_failure(n, k, u) >= 0.1


def test_sets_that_certainly_exist_do():
    half, w, u = 9, 3, 1
    code = []
    for s in combinations(range(half), w):
        if all(2 * (w - len(set(s) & set(t))) > 4 * u for t in code):
            code.append(s)
    frame = recovery_limits.tolerant_recovery([2 * half], [1], [1.0], [0.1])
    assert len(code) >= math.exp(frame["log code"].iloc[0])


def test_tolerances_beyond_the_proof_are_left_out():
    frame = recovery_limits.tolerant_recovery([10**4], [1, 33, 34], [1.0], [0.1])
    assert frame.u.tolist() == [1, 33]


def test_constant_and_noiseless_procedures():
    inside = np.array([1.0, 1, 0, 0])
    rho = 0.5 + 0.2 * (inside[:, None] - inside)
    assert recovery_limits.constant_failure(rho, [0, 1]) == 0
    assert recovery_limits.constant_failure(rho, [0, 2]) == 1
    assert recovery_limits.noiseless_failure(1 / 160, 1e-3) > 0.1 > recovery_limits.noiseless_failure(1 / 160, 1e-7)
