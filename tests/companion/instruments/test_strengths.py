"""Losses by hand."""

import math

import numpy as np
import pytest

from companion.instruments import strengths


def test_strengths_and_sizes():
    theta = strengths.strengths(16, 200, rng=np.random.default_rng(0))
    assert theta.shape == (200, 16)
    assert (theta[:, :4] == 0).all()
    assert ((theta[:, 4:] > math.log(0.2)) & (theta[:, 4:] < math.log(0.7))).all()
    assert (strengths.strengths(16, 3, rng=np.random.default_rng(0), strong=3)[:, 3] < 0).all()
    assert [strengths.top_size(n) for n in (12, 150, 175, 250, 350)] == [3, 38, 44, 62, 88]
    np.testing.assert_allclose(strengths.centred(theta).sum(1), 0, atol=1e-13)


def test_log_errors_on_a_case_by_hand():
    theta = np.array([[3.0, -4.0]])
    errors = strengths.log_errors(np.array([[3.3, -3.6]]), theta)
    assert errors[strengths.LINF][0] == pytest.approx(math.log(0.1))
    assert errors[strengths.L2][0] == pytest.approx(math.log(0.1))


def test_missed_by_hand_and_by_ties():
    theta = np.array([[1.0, 1.0, 0, 0, 0, 0, 0, 0]])
    zero = np.zeros((1, 8))
    assert strengths.missed([[9, 8, 7, 6, 5, 4, 3, 2]], theta, zero) == [0]
    assert strengths.missed([[9, 1, 7, 6, 5, 4, 3, 2]], theta, zero) == [0.5]
    assert strengths.missed([[1, 1, 7, 6, 5, 4, 3, 2]], theta, zero) == [1]
    tie = [[9, 5, 5, 1, 1, 1, 1, 1]]
    assert strengths.missed(tie, theta, theta) == [0]
    assert strengths.missed(tie, theta, -theta) == [0.5]
    # a draw of strengths without a tie at the border
    assert strengths.missed(theta, [[3, 2, 1, 0, 0, 0, 0, 0]], zero) == [0]


def test_chunks_cover_all_replicates(monkeypatch):
    monkeypatch.setattr(strengths, "CHUNK", 3 * 20**2)
    seen = strengths.in_chunks(20, 7, lambda rows: {(): np.full(rows, rows)})[()]
    assert seen.tolist() == [3, 3, 3, 3, 3, 3, 1]
