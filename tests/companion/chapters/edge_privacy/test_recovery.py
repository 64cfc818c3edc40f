"""Packings by exhaustion."""

from __future__ import annotations

from itertools import combinations

from companion.chapters.edge_privacy import recovery


def test_rounding_down_leaves_a_single_set():
    assert recovery.set_size(1, 0.25) == 3
    assert recovery.largest_packing(list(combinations(range(8), 2)), 4) == 1
    assert recovery.largest_packing(list(combinations(range(6), 3)), 4) == 2
