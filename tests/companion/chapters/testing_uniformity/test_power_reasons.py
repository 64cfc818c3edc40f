"""Why one test beats another, against enumeration and line-by-line simulation."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from checks import all_rankings
from scipy import stats

from companion.chapters.private_uniformity import epsilon_role
from companion.chapters.testing_uniformity import power, power_reasons
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows, theta_at


@pytest.mark.parametrize("m", [4, 6, 10])
def test_rounds_hold_every_pair_once(m):
    pairs = power_reasons.rounds(m)
    assert sorted(tuple(sorted(p)) for p in pairs.reshape(-1, 2).tolist()) == list(combinations(range(m), 2))
    assert all(sorted(r.ravel().tolist()) == list(range(m)) for r in pairs)


def test_variance_behind_the_gain():
    """By enumeration over all pairs of rankings of six items, one of which may be the identity."""
    m = 6
    rows = all_rankings(m)
    pairs = power_reasons.rounds(m).reshape(-1, 2)
    signs = np.where(rows[:, pairs[:, 0]] < rows[:, pairs[:, 1]], 1, -1)
    for j in range(1, m):
        used = signs[:, : j * m // 2]
        covariance = (used.T @ used / len(rows)) ** 2
        assert covariance.sum() == pytest.approx(j * m / 2 * (1 + 2 * (j - 1) / 9))
        assert power_reasons.signal_gain(j) == pytest.approx(j * math.sqrt(m / 2) / math.sqrt(covariance.sum()))
    distance = Mallows(m, 0.0).distance_moments()[1]
    assert covariance.sum() == pytest.approx(4 * distance)


def test_all_pairings_are_the_kendall_distance():
    law, m = Mallows(8, 0.1), 8
    total = power_reasons.agreement(law, [1, m - 1], 5, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    rng.permuted(np.tile(np.arange(m), (5, 1)), axis=1)
    a, b = law.sample(5, rng=rng), law.sample(5, rng=rng)
    assert total[1].tolist() == (28 - 2 * power.row_distances(a, b)).tolist()


@pytest.mark.slow
def test_why_holds_and_equal_statistics_are_not_enough():
    assert derive(power_reasons.check_why(100, 9.0, 1000)) == "holds"
    assert derive(power_reasons.check_why(100, 0.0, 1000)) == "undecided here"


def test_known_centre_by_enumeration():
    m, theta = 5, 0.4
    rows = np.array([kendall_distance(row, range(m)) for row in permutations(range(m))])
    uniform = np.bincount(rows) / len(rows)
    law = uniform * np.exp(-theta * np.arange(len(uniform)))
    law /= law.sum()
    null, other = np.convolve(uniform, uniform).cumsum(), np.convolve(law, law).cumsum()
    limit = int(np.searchsorted(null, 0.05, "right"))
    assert null[limit - 1] <= 0.05 < null[limit]
    assert power_reasons.known_centre_bounds(m, theta) == pytest.approx((other[limit - 1], other[limit]))


def test_known_centre_at_the_largest_size_is_normal():
    m, gap = 10_000, 1e-5
    shift = gap * math.sqrt(2 * Mallows(m, 0.0).distance_moments()[1])
    least, most = power_reasons.known_centre_bounds(m, gap)
    assert most == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.05) + shift), abs=2e-3)
    assert least <= most < power.DETECTED
    assert power_reasons.known_centre_bounds(m, 2 * gap)[0] > power.DETECTED


def test_ceilings_hold_the_power_of_few_items():
    """By enumeration of all pairs of five-item rankings; the printed threshold is made one that can reject."""
    m, delta = 5, 0.7
    rows = all_rankings(m)
    apart = np.array([[kendall_distance(a, b) for b in rows] for a in rows])
    threshold = paper.two_sample(m, delta).threshold
    for theta in (1e-3, 0.05, 0.2, 1.0):
        law = np.exp(-theta * apart[0].astype(float))
        law /= law.sum()
        reached = float(law @ (apart <= threshold) @ law)
        assert reached <= power_reasons.two_sample_ceiling(m, theta, delta) <= 1
    assert power_reasons.two_sample_ceiling(m, 1e-3, delta) < 1
    for theta in (0.01, 0.1, 0.5):
        for at in (0.05, 0.3):
            least, _ = power_reasons.known_centre_bounds(m, theta, delta=at)
            assert least <= power_reasons.affinity_ceiling(m, theta, delta=at)
    assert power_reasons.affinity_ceiling(m, 0.0) == pytest.approx(power.DELTA, abs=1e-6)


def test_margin_is_refuted_and_would_not_be_for_a_tenfold_margin():
    frame = power.power([(2000, 2)], [2, 20, 30], 150)
    record = power_reasons.check_margin(frame, 2000)
    reached = [check for check in record if check.about == "corrected" and "centre known" not in check.what]
    assert all(check.outcome for check in reached)
    assert len(reached) == 2
    assert record.verdict == "refuted"
    shifted = power_reasons.check_margin(frame.assign(scaled=frame.scaled / 10), 2000)
    assert all(c.outcome is not False for c in shifted if c.what.startswith("power of 2SAMP as printed"))


def test_trun_power_by_simulation():
    """Algorithm 3 line by line."""
    k, phi, epsilon, epsilon_0, delta, draws = 7, 0.5, 0.499, 1 / 3, 0.05, 200_000
    rng = np.random.default_rng(6)
    b = 4 / (k * delta * epsilon_0)
    z = rng.laplace(scale=b, size=draws)
    s = 2 * rng.binomial(k, 1 / (1 + phi), draws) - k
    root = math.exp(-theta_at(2, epsilon) / 4)
    mu = (1 - root) / (1 + root)
    p = np.clip(16 * (s**2 / k - 1) / (2 * mu**2 * (k - 1)), 0, 1)
    far = np.abs(s / k + z) > math.sqrt(2 * math.log(2 / delta) / (2 * k)) + b * math.log(1 / delta)
    coin = np.abs(z) > b * math.log(1 / delta)
    reject = np.where(coin, 0.5, np.where(far, 1.0, 1 - p))
    error = 5 * reject.std() / math.sqrt(draws)
    assert epsilon_role.trun_power(k, phi, epsilon, epsilon_0) == pytest.approx(reject.mean(), abs=error)


def test_seven_rankings_are_the_least():
    grid = (0.05, 0.25, 0.4, 0.499, 0.49999)
    for k in range(2, 7):
        assert np.ptp([epsilon_role.trun_power(k, 0.5, epsilon) for epsilon in grid]) < 1e-12
    assert np.ptp([epsilon_role.trun_power(7, 0.5, epsilon) for epsilon in grid]) > 0.05
    assert epsilon_role.check_epsilon_role(6, 10_000, (0.25, 0.499))[0].outcome


def test_standard_errors_need_the_power():
    record = power_reasons.check_error_bars()
    assert record.verdict == "needs a condition"
    assert all(c.outcome for c in record if c.about != "printed")
    assert power_reasons.check_error_bars(powers=(0.5, 0.5, 0.5)).verdict == "holds"
