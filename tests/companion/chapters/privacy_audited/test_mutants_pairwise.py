"""Bugs of noisy counts, one by one. Nothing is random here."""

import numpy as np
import pytest

from companion.chapters.privacy_audited.cases.pairwise import comparisons
from companion.chapters.privacy_audited.mutants import pairwise
from dprank.data.counting import win_counts


def test_enumerated_losses_of_honest_counts():
    """What is published as it was drawn loses what is promised."""
    for data, other in pairwise.FLIPS:
        assert pairwise._loss(lambda noisy, data: noisy, data, other).epsilon(0.0) == pytest.approx(1, rel=1e-9)


def test_each_bug_does_what_it_says():
    noisy, data = np.array([[3, -2], [1, 1]]), comparisons([(1, 0, 1.0)], 2)
    assert win_counts(data).tolist() == [0, 1]
    assert pairwise.on_positive(noisy, data).tolist() == [[0, -2], [0, 1]]
    assert pairwise.clamped(noisy, data).tolist() == [[1, 0], [1, 1]]
    assert pairwise.by_appearance(noisy, data).tolist() == [[3, -2, 0, 1], [1, 1, 1, 0]]
