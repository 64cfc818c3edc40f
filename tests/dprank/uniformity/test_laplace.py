"""UNIF with Laplace noise against enumeration of all rankings; seeded tests fail by chance less than once in 10^6."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused
from scipy import stats

from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.uniformity.laplace import LaplaceUnif, disagreements, discrete_laplace_cdf
from dprank.uniformity.pairs import disjoint_pairs

FALSE_ALARM = 1e-6


def counts_of_all(m, k):
    """Disagreements of all data, neighbours in a row."""
    pairs = disjoint_pairs(m)
    rankings = all_rankings(m)
    return np.array(
        [
            [disagreements(np.array([*rest, last]), pairs) for last in rankings]
            for rest in product(rankings, repeat=k - 1)
        ]
    )


@pytest.mark.parametrize(("m", "k"), [(2, 2), (2, 5), (3, 3), (4, 2), (5, 2)])
def test_the_law_of_disagreements_and_their_sensitivity_by_enumeration(m, k):
    counts = counts_of_all(m, k)
    test = LaplaceUnif(m, k, 1.0, 0.0)
    values, law = test.law_of_counts()
    assert (np.diff(values) > 0).all()
    expected = np.bincount(counts.ravel(), minlength=values[-1] + 1) / counts.size
    assert np.abs(np.bincount(values, law) - expected).max() < 1e-12
    assert (counts.max(1) - counts.min(1)).max() == test.sensitivity


@pytest.mark.parametrize(("n_pairs", "k", "bias"), [(1, 7, 0.3), (3, 4, -1.0), (2, 6, 0.9), (5, 3, 1.0)])
def test_the_law_of_biased_pairs_by_enumeration(n_pairs, k, bias):
    values, law = LaplaceUnif(2 * n_pairs, k, 1.0, 0.0).law_of_counts(bias)
    expected = np.zeros(n_pairs * (k * k // 4) + 1)
    weights = stats.binom.pmf(np.arange(k + 1), k, (1 + bias) / 2)
    for b in product(range(k + 1), repeat=n_pairs):
        expected[sum(x * (k - x) for x in b)] += math.prod(weights[x] for x in b)
    assert np.abs(np.bincount(values, law, len(expected)) - expected).max() < 1e-12


@pytest.mark.parametrize(("n_pairs", "k", "bias"), [(5, 10_000, 0.0), (500, 1000, 0.0), (50, 101, 0.2)])
def test_the_law_of_large_data_has_the_right_mass_mean_and_variance(n_pairs, k, bias):
    u, law = LaplaceUnif(2 * n_pairs, k, 1.0, 0.0).law_of_counts(bias)
    b = np.arange(k + 1)
    weights = stats.binom.pmf(b, k, (1 + bias) / 2)
    mean = weights @ (b * (k - b))
    variance = weights @ (b * (k - b) - mean) ** 2
    assert law.sum() == pytest.approx(1, abs=1e-9)
    assert law @ u == pytest.approx(n_pairs * mean)
    assert law @ (u - n_pairs * mean) ** 2 == pytest.approx(n_pairs * variance, rel=1e-6)


def exact_loss(test, counts):
    """Privacy loss of the noisy count by enumeration: outcomes beyond all counts have the worst ratios."""
    reach = np.arange(counts.min() - 3, counts.max() + 4)
    q = math.exp(-1 / test.scale)
    log = math.log(q) * np.abs(reach - counts[..., None])
    return max(np.abs(log[:, :, None] - log[:, None]).max(), 0.0)


@each(("m", "k"), [(2, 2), (3, 3), (4, 2), (4, 3)])
@each("epsilon", [0.1, 1 / 3, 2.0])
@pytest.mark.slow
def test_calibrated_noise_is_exactly_as_private_as_asked(m, k, epsilon):
    counts = counts_of_all(m, k)
    test = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=0.05)
    assert test.guarantee.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert test.guarantee.epsilon <= epsilon
    assert exact_loss(test, counts) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("wrong", ["half the noise", "sensitivity of one pair", "sensitivity of the sum of signs"])
@pytest.mark.slow
def test_mutants_lose_more_than_they_claim(wrong):
    m, k, epsilon = 4, 3, 0.5
    counts = counts_of_all(m, k)
    right = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=0.05)
    scale = {
        "half the noise": right.scale / 2,
        "sensitivity of one pair": (k - 1) / epsilon,
        "sensitivity of the sum of signs": 1 / epsilon,
    }[wrong]
    mutant = replace(right, scale=scale)
    assert exact_loss(mutant, counts) > epsilon + 1e-6
    assert mutant.guarantee.epsilon == pytest.approx(exact_loss(mutant, counts))


@pytest.mark.parametrize("wrong", [None, "noise only when rejecting", "threshold read off the data"])
@pytest.mark.slow
def test_the_decision_is_private_and_broken_decisions_are_not(wrong):
    m, k, epsilon = 4, 3, 0.5
    counts = counts_of_all(m, k)
    test = replace(LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=0.05), threshold=4.0)
    cut = np.floor((test.statistic(0) - test.threshold) * k / 4 + 1e-6)
    if wrong == "threshold read off the data":  # agreeing rankings get another one
        cut = np.where(counts == 0, cut + 4, cut)
    p = discrete_laplace_cdf(cut - counts, test.scale)
    if wrong == "noise only when rejecting":
        p = np.where(counts <= cut, p, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = max(np.log(law.max(1) / law.min(1)).max() for law in (p, 1 - p))
    assert (loss <= epsilon + 1e-9) == (wrong is None)


@pytest.mark.parametrize(("m", "n"), [(10, 10_000), (100, 1000), (1000, 1000), (7, 3)])
def test_the_size_is_the_largest_that_whole_numbers_allow(m, n):
    test = LaplaceUnif.calibrated(epsilon=1 / 3, n_items=m, n_voters=n, size=0.05)
    step = 4 / n
    size, next_size = test.null_sf([test.threshold, test.threshold - step])
    assert size <= 0.05 + 1e-12 < next_size
    assert next_size - size < 0.05 / test.scale * 1.01


def test_p_values_are_uniform_on_uniform_rankings_and_follow_the_exact_law():
    rng = np.random.default_rng(2021)
    test = LaplaceUnif.calibrated(epsilon=4.0, n_items=5, n_voters=3, size=0.1)
    counts = np.zeros(2, int)
    p_values = []
    for _ in range(1500):
        data = Rankings(rng.permuted(np.tile(np.arange(5), (3, 1)), axis=1), "abcde")
        decision = test.release(data, rng)
        assert decision.reject == (decision.p_value <= test.null_sf(test.threshold) + 1e-12)
        counts[int(decision.reject)] += 1
        p_values.append(decision.p_value)
    size = float(test.null_sf(test.threshold))
    assert law_p_value(counts, [1 - size, size]) > FALSE_ALARM
    for level in (0.2, 0.5):  # super-uniform
        assert stats.binom.sf((np.array(p_values) <= level).sum() - 1, 1500, level) > FALSE_ALARM


def test_a_release_for_publishing():
    pytest.importorskip("opendp")
    data = Rankings([[0, 1, 2], [2, 1, 0], [0, 2, 1]], "abc")
    assert 0 <= LaplaceUnif.calibrated(epsilon=1.0, n_items=3, n_voters=3, size=0.05).release(data, SECURE).p_value <= 1
    with refused("rng", "research"):
        LaplaceUnif(3, 3, 1.0, 0.0, "continuous").release(data, SECURE)


@each(
    ("asked", "words"),
    [
        ({"n_items": 1}, ("n_items = 1", "2")),
        ({"n_voters": 1}, ("n_voters = 1", "2")),
        ({"epsilon": 0.0}, ("epsilon = 0.0", "above 0")),
        ({"epsilon": math.nan}, ("epsilon = nan", "above 0")),
        ({"size": 0.0}, ("size = 0.0", "(0, 1)")),
        ({"size": 1.0}, ("size = 1.0", "(0, 1)")),
    ],
)
def test_bad_parameters(asked, words):
    with refused(*words):
        LaplaceUnif.calibrated(**{"epsilon": 1.0, "n_items": 4, "n_voters": 5} | asked)


def test_bad_data():
    test = LaplaceUnif.calibrated(epsilon=1.0, n_items=3, n_voters=3, size=0.05)
    rng = np.random.default_rng(1)
    with refused("n_items = 3", "4"):
        test.release(Rankings([[0, 1, 2, 3]] * 3, "abcd"), rng)
    with refused("n_voters = 3"):
        test.release(Rankings([[0, 1, 2]] * 2, "abc"), rng)
    with refused("scale = -1", "0"):
        LaplaceUnif(3, 3, -1.0, 0.0)
    with refused("law = 'gauss'", "discrete"):
        LaplaceUnif(3, 3, 1.0, 0.0, "gauss")
    with refused("threshold = nan"):
        LaplaceUnif(3, 3, 1.0, math.nan)
