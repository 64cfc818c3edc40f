"""Sets that exist, tolerances beyond the proof."""

from __future__ import annotations

import math
from itertools import combinations

from companion.chapters.individual_privacy import recovery_limits


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
