"""How many samples, by hand and at the edges; seeds are fixed, a false alarm has a probability below 1e-4."""

import math

import numpy as np
from scipy.stats import binom

from companion.chapters.private_uniformity import local_channels, local_moments, local_samples, local_voters
from companion.chapters.private_uniformity.central_samples import unif_power
from companion.instruments.sweep import stream
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.local import LocalPairs
from dprank.uniformity.unif import pair_statistic, unif_null_threshold


def test_two_item_errors_by_hand():
    # three samples at most: the printed threshold is not reached, the test misses always
    assert local_samples.two_item_errors(0.5, 1e-3, 8) <= 1
    k, bias, threshold = 30, 0.5, paper.unif_threshold(2, 0.05)
    totals = np.arange(-k, k + 1, 2)
    far = totals**2 / k >= threshold
    size = binom.pmf((totals + k) // 2, k, 0.5)[far].sum()
    miss = 1 - binom.pmf((totals + k) // 2, k, 0.75)[far].sum()
    assert local_samples.two_item_errors(bias, 0.05, 30) <= max(size, miss)


def test_a_tenth_of_the_samples_would_not_always_do():
    m, bias, delta = 2, 0.3, 1e-3
    few = math.ceil(local_samples.sufficient_samples(m, bias, delta) / 40)
    assert 1 - unif_power(m, few, bias, delta) > delta


def test_own_numbering_leaves_nothing_but_a_common_one_does():
    for theta in (0.3, math.inf):
        np.testing.assert_allclose(local_samples.own_ranking_law(5, theta), 0.25)
    assert np.abs(local_moments.sign_law(5, 0.3, local_channels.pairing(5)) - 0.25).max() > 0.05


def test_own_rankings_have_the_power_of_their_size():
    m, n, test = 6, 200, LocalPairs.calibrated(epsilon=50.0, n_items=6)
    rng = stream("test own", {})
    rejections = 0
    threshold = unif_null_threshold(3, n, 0.05)
    for _ in range(400):
        rankings = Mallows(m, math.inf).sample(n, rng=rng)
        pairs = local_voters.random_pairings(m, 3, n, rng)
        signs = np.where(
            np.take_along_axis(rankings, pairs[..., 0], 1) < np.take_along_axis(rankings, pairs[..., 1], 1), 1, -1
        )
        rejections += bool(pair_statistic(signs) >= threshold)
    assert binom.sf(rejections - 1, 400, 0.05) > 1e-4
    assert test.shrinkage > 0.9999


def test_a_random_pairing_gains(monkeypatch):
    record = local_samples.check_pairing_gain()
    assert record.verdict == "holds"
    assert all(c.outcome for c in record)
    monkeypatch.setattr(local_samples, "mean_square_bias", lambda law: float(law.bias(np.array([1]))[0]) ** 2)
    assert local_samples.check_pairing_gain().verdict == "refuted"


def test_two_local_reports_hardly_tell(monkeypatch):
    law = local_channels.printed_channel(3, 1.0)
    uniform = law.mean(axis=0)
    pairs = [np.log(np.outer(a, b) / np.outer(uniform, uniform)).max() for a in law for b in law]
    assert abs(local_samples.reports_ratio(3, 1.0) - max(pairs)) < 1e-12
    record = local_samples.check_local_both()
    assert record.verdict == "depends on the reading"
    assert [c.outcome for c in record if c.reading] == [True, True, False]
    monkeypatch.setattr(local_samples, "sufficient_samples", lambda m, bias, delta: 100)
    assert local_samples.check_local_both().verdict == "refuted"
    monkeypatch.setattr(local_samples, "reports_ratio", lambda m, epsilon: 3 * epsilon)
    assert not all(c.outcome for c in local_samples.check_local_both() if c.about == "argument")
