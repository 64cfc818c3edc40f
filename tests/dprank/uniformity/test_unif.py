"""UNIF against all rankings, and its law against others; statistical tests raise a false alarm once in 1e6 runs."""

import math
from itertools import product

import numpy as np
import pytest
from checks import all_rankings, each, refused
from scipy import stats

from dprank.data.rankings import Rankings
from dprank.uniformity import unif
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import Unif, pair_statistic, unif_null_sf, unif_null_threshold, unif_sf


def all_samples(m, k):
    """Y of every sample of k rankings of m items, for the pairs (0, 1), (2, 3), ..."""
    signs = pair_signs(all_rankings(m), disjoint_pairs(m))
    return np.array([pair_statistic(signs[list(chosen)]) for chosen in product(range(len(signs)), repeat=k)])


@pytest.mark.parametrize(("m", "k"), [(2, 5), (3, 4), (4, 2), (4, 3), (5, 2)])
def test_law_against_all_rankings(m, k):
    y = all_samples(m, k)
    at = np.r_[np.unique(y), np.unique(y) + 0.1, 0.0, -1.0, 1e6]
    exact = (y >= at[:, None] - 1e-9).mean(1)
    assert unif_null_sf(m // 2, k, at) == pytest.approx(exact, abs=1e-10)
    assert y.mean() == pytest.approx(m // 2)
    for delta in (0.6, 0.3, 0.1, 0.01):
        test = Unif.calibrated(n_items=m, n_voters=k, size=delta)
        size = (y >= test.threshold - 1e-9).mean()
        assert size <= delta
        larger = y[y < test.threshold - 1e-9]
        assert (y >= larger.max() - 1e-9).mean() > delta  # no larger region of rejection keeps the size


@each("k", [2, 3, 6, 7])
@each("bias", [0.0, 0.3, -0.3, 1.0])
def test_biased_law_by_convolution(k, bias):
    ones = np.arange(k + 1)
    law, square = stats.binom.pmf(ones, k, (1 + bias) / 2), (2 * ones - k) ** 2
    y = np.add.outer(np.add.outer(square, square), square).ravel() / k
    p = np.multiply.outer(np.multiply.outer(law, law), law).ravel()
    at = np.unique(y)
    assert unif_sf(3, k, at, bias) == pytest.approx([p[y >= a - 1e-9].sum() for a in at], abs=1e-10)
    assert unif_sf(3, k, at, [bias] * 3) == pytest.approx(unif_sf(3, k, at, bias), abs=1e-12)


def test_unequal_biases():
    k, biases = 3, (0.0, 0.5)
    signs = np.array(list(product([-1, 1], repeat=2 * k))).reshape(-1, k, 2)
    p = ((1 + signs * np.array(biases)) / 2).prod((1, 2))
    y = pair_statistic(signs)
    at = np.unique(y)
    assert unif_sf(2, k, at, biases) == pytest.approx([p[y >= a - 1e-9].sum() for a in at], abs=1e-10)


def test_two_rankings_are_binomial():
    y = np.arange(4800, 5400, 20.0)
    assert unif_null_sf(5000, 2, y) == pytest.approx(stats.binom.sf(y / 2 - 1, 5000, 0.5), abs=1e-10)


def test_one_pair_is_binomial():
    k = 1_000_001
    s = np.array([1, 501, 2001, 4001])
    assert unif_null_sf(1, k, s**2 / k) == pytest.approx(2 * stats.binom.sf((k + s) // 2 - 1, k, 0.5), rel=1e-9)


@pytest.mark.parametrize(("pairs", "k"), [(20, 2001), (50, 2000), (30, 999)])
def test_series_agrees_with_table(pairs, k, monkeypatch):
    y = pairs + math.sqrt(2 * pairs) * np.array([-2.0, 0, 1, 2, 4])
    table = unif_null_sf(pairs, k, y)
    monkeypatch.setattr(unif, "POINTS", 10)
    assert unif_null_sf(pairs, k, y) == pytest.approx(table, abs=1e-8)


def test_many_rankings_of_few_pairs_near_chi_square(monkeypatch):
    y = np.array([2.0, 5, 11])
    table = unif_null_sf(5, 50_000, y)
    monkeypatch.setattr(unif, "POINTS", 10)
    assert unif_null_sf(5, 50_000, y) == pytest.approx(table, abs=1e-3)
    assert unif_sf(5, 50_000, 12.0, 0.01) > unif_null_sf(5, 50_000, 12.0) + 0.1


@each("pairs", [2, 25])
@each("k", [2, 3, 10])
def test_moments_of_the_law(pairs, k):
    step = (4 if k % 2 == 0 else 8) / k
    first = 0 if k % 2 == 0 else pairs / k
    value = first + step * np.arange(int(pairs * k / step) + 2)
    law = -np.diff(np.append(unif_null_sf(pairs, k, value), 0))
    assert law @ value == pytest.approx(pairs)
    assert law @ value**2 - (law @ value) ** 2 == pytest.approx(2 * pairs * (1 - 1 / k))


@pytest.mark.parametrize(("pairs", "k"), [(1, 4), (1, 7), (3, 4), (3, 5), (40, 31)])
def test_no_value_lies_beyond_infinity(pairs, k):
    assert unif_sf(pairs, k, [-math.inf, math.inf], 0.2).tolist() == [1, 0]


def test_single_ranking_says_nothing():
    assert pair_statistic(np.array([[1, -1, 1]])) == 3
    assert unif_null_sf(3, 1, [3.0, 3.01]).tolist() == [1, 0]
    assert unif_null_threshold(3, 1, 0.5) == math.inf


def test_decision():
    items = [f"i{i}" for i in range(8)]
    alike = Rankings(np.tile(np.arange(8), (30, 1)), items)
    for test in (Unif(8, 16.0), Unif.calibrated(n_items=8, n_voters=30, size=0.05)):
        decision = test.test(alike, np.random.default_rng(1))
        assert decision.reject
        assert decision.statistic == 4 * 30
        assert decision.p_value == 1e-7
        assert decision.threshold == test.threshold
    mixed = Rankings(np.stack([np.arange(8), 7 - np.arange(8)]), items)
    decision = Unif.calibrated(n_items=8, n_voters=2, size=0.07).test(mixed, np.random.default_rng(1))
    assert (decision.reject, decision.statistic, decision.p_value) == (False, 0, 1)


def test_level_and_uniform_pairing():
    """Exact test on uniform rankings: rejections within a two-sided interval that misses once in 1e6."""
    rng = np.random.default_rng(20261121)
    m, k, repetitions = 7, 6, 3000
    test = Unif.calibrated(n_items=m, n_voters=k, size=0.1)
    size = float(unif_null_sf(m // 2, k, test.threshold))
    items = [str(i) for i in range(m)]
    hits = sum(
        test.test(Rankings(rng.permuted(np.tile(np.arange(m), (k, 1)), axis=1), items), rng).reject
        for _ in range(repetitions)
    )
    assert stats.binomtest(hits, repetitions, size).pvalue > 1e-6


def test_mutants_of_the_statistic_are_caught():
    """Sum of the S before squaring, and squares of single signs, have other laws than that of Y."""
    signs = pair_signs(all_rankings(4), disjoint_pairs(4))
    samples = [signs[list(chosen)] for chosen in product(range(24), repeat=2)]
    right = np.array([pair_statistic(s) for s in samples])
    total = np.array([s.sum() ** 2 / 2 for s in samples])
    single = np.array([(s**2).sum() / 2 for s in samples])
    at = np.array([2.0, 4.0])
    law = unif_null_sf(2, 2, at)
    assert (right >= at[:, None]).mean(1) == pytest.approx(law)
    for mutant in (total, single):
        assert np.abs((mutant >= at[:, None]).mean(1) - law).max() > 0.05


def test_bad_input():
    with refused("n_items = 1"):
        Unif(1, 3.0)
    with refused("n_items = 2.5"):
        Unif.calibrated(n_items=2.5, n_voters=3, size=0.05)
    with refused("n_voters = 1", "from 2"):
        Unif.calibrated(n_items=4, n_voters=1, size=0.05)
    for delta in (0, 1, -0.5, math.nan, 1e-9):
        with refused(f"size = {delta}"):
            Unif.calibrated(n_items=4, n_voters=2, size=delta)
    with refused("y holds"):
        unif_sf(2, 2, math.nan)
    with refused("n_pairs = 0"):
        unif_null_sf(0, 2, 1.0)
    with refused("n_voters = 0"):
        unif_null_sf(2, 0, 1.0)
    with refused("bias = 1.5"):
        unif_sf(2, 2, 1.0, 1.5)
    with refused("bias"):
        unif_sf(2, 2, 1.0, [0.1, 0.1, 0.1])
    one = Rankings([[0, 1, 2]], ["a", "b", "c"])
    with refused("too few voters", "2"):
        Unif(3, 9.0).test(one, np.random.default_rng(0))
    two = Rankings([[0, 1, 2]] * 2, ["a", "b", "c"])
    with refused("number of voters", "n_voters = 3"):
        Unif.calibrated(n_items=3, n_voters=3, size=0.9).test(two, np.random.default_rng(0))
    with refused("items = 3", "n_items = 4"):
        Unif(4, 9.0).test(two, np.random.default_rng(0))
