"""Exact, but for the law of the pairing; chi-square p-values are held against FALSE_ALARM."""

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused

from dprank.uniformity.pairs import disjoint_pairs, pair_signs

FALSE_ALARM = 1e-6


@each("m", [2, 3, 4, 5, 100, 101])
def test_pairs_are_disjoint_and_leave_one_item_at_most(m):
    for rng in (None, np.random.default_rng(m)):
        pairs = disjoint_pairs(m, rng=rng)
        assert pairs.shape == (m // 2, 2)
        assert len(np.unique(pairs)) == m // 2 * 2
    np.testing.assert_array_equal(disjoint_pairs(5), [[0, 1], [2, 3]])


@pytest.mark.parametrize("m", [4, 5])
def test_every_pairing_is_equally_likely(m):
    rng = np.random.default_rng(1)
    counts = {}
    for _ in range(6000):
        pairing = frozenset(map(frozenset, disjoint_pairs(m, rng=rng).tolist()))
        counts[pairing] = counts.get(pairing, 0) + 1
    assert len(counts) == {4: 3, 5: 15}[m]
    assert law_p_value(list(counts.values()), np.full(len(counts), 1 / len(counts))) > FALSE_ALARM


def test_signs_say_who_comes_first():
    positions = all_rankings(4)
    pairs = np.array([[2, 0], [1, 3]])
    signs = pair_signs(positions, pairs)
    for ranking, row in zip(positions, signs, strict=True):
        assert row.tolist() == [1 if ranking[a] < ranking[b] else -1 for a, b in pairs]
    np.testing.assert_array_equal(pair_signs(positions[None], pairs), signs[None])
    np.testing.assert_array_equal(pair_signs(positions, pairs[:, ::-1]), -signs)
    assert signs.dtype == np.int8


def test_refuses():
    with refused("n_items = 1", "at least 2"):
        disjoint_pairs(1)
