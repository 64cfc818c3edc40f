"""Pairs of signs under Mallows laws, against enumeration."""

from __future__ import annotations

from companion.chapters.testing_uniformity import independence
from companion.instruments.uniformity import all_pairings


def test_pairs_are_independent_if_and_only_if_none_cross():
    for phi in (0.3, 0.8):
        for pairs in all_pairings(6):
            assert (independence.dependence(6, phi, pairs) < 1e-12) == (independence.crossings(pairs) == 0)
    # also with an item between that belongs to no pair
    assert independence.dependence(6, 0.5, ((0, 4), (1, 3))) < 1e-12
    assert independence.dependence(5, 0.5, ((0, 1), (1, 2))) > 0.01  # a shared item
    assert independence.crossings(((3, 0), (5, 1), (2, 4))) == 2


def test_the_bound_on_the_bias_hangs_on_the_lost_sign():
    record = independence.check_bias()
    assert record.verdict == "depends on the reading"
    lost = [c.outcome for c in record if "minus lost" in c.reading]
    assert lost == [False] * 3
    assert [c.outcome for c in record if "as our copy" in c.reading] == [True]
