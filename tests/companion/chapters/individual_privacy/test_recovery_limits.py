"""Sets that exist, tolerances beyond the proof."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

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


def test_blind_sets_fall_below_what_is_said_to_be_unavoidable():
    frame = recovery_limits.blind_failures([6, 14, 1000])
    for row in frame[frame["items"] == 6].itertuples():
        assert row.failure == recovery_limits.listed_failure(6, row.k, row.u)
    last = frame.groupby("items").failure.last()
    assert last[6] == 1 / 20
    assert last[14] == 1 / 3432
    at = frame.set_index(["items", "u"]).failure[1000]
    assert at[275] < 0.001 < 0.1 < at[250]
    drawn = recovery_limits.draw_blind_failures(frame).axes[0]
    lines = {line.get_label(): np.asarray(line.get_ydata()).min() for line in drawn.lines}
    below = [name for name, least in lines.items() if least < recovery_limits.LEAST_FAILURE]
    assert below == ["blind, 6 items", "blind, 14 items", "blind, 1,000 items"]
    assert lines["said to be unavoidable: 1/10"] == recovery_limits.LEAST_FAILURE
