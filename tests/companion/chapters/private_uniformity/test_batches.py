"""One vote a batch, by enumeration."""

import math

import numpy as np
import pytest

from companion.chapters.private_uniformity import batches
from companion.printed import busafekete2021 as paper
from dprank.uniformity.bucketed import BatchVote, Bucketed

EPSILON, DELTA = 1 / 3, 0.05


def test_bucketing_has_no_bounded_ratio_by_enumeration():
    test = paper.bucketed(2, 18, EPSILON, DELTA).mechanism
    assert batches.enumerated_loss(test) == math.inf == batches.bucketed_loss(test)
    coin = Bucketed(test.n_items, test.n_voters, test.n_batches, test.batch_threshold, 0.3)
    assert batches.enumerated_loss(coin) == pytest.approx(batches.bucketed_loss(coin))
    never = paper.bucketed(2, 6, EPSILON, DELTA).mechanism  # two rankings a batch: nothing is ever rejected
    assert batches.enumerated_loss(never) == 0 == batches.bucketed_loss(never)


def test_profiles_start_at_the_total_variation_and_end_at_the_claim():
    frame = batches.privacy_profiles(EPSILON, DELTA, np.linspace(0, 2 * EPSILON, 9))
    curves = dict(list(frame.groupby("test").delta))
    assert np.allclose(curves.pop("BUNIF as printed"), 1 / 3)
    for curve in curves.values():
        assert (np.diff(curve) <= 1e-12).all()
        assert curve.iloc[3] > 1e-6 > abs(curve.iloc[4])
    vote = BatchVote.calibrated(epsilon=EPSILON, n_items=100, n_voters=1000, size=DELTA)
    x = np.arange(-400, 401)
    q = math.exp(-1 / vote.scale)
    p = (1 - q) / (1 + q) * q ** np.abs(x)
    shifted = (1 - q) / (1 + q) * q ** np.abs(x - 1)
    brute = np.clip(p - math.exp(0.1) * shifted, 0, None).sum()
    assert batches.vote_delta(vote, np.array([0.1]))[0] == pytest.approx(brute)
