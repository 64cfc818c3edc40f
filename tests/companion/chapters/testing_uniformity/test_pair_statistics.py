"""Pairs under Mallows laws, against enumeration; statistical tests raise a false alarm once in 1e6 runs."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from companion.chapters.testing_uniformity import independence, pair_samples
from companion.chapters.testing_uniformity import pair_statistics as experiment
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_pairings
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import pair_statistic

FRAME = pair_samples.powers([100], [0.9], 0.05, 200)


@pytest.mark.slow
def test_verdicts():
    expected = {
        independence.check_independence: "refuted",
        independence.check_bias: "refuted",
        independence.check_m1: "refuted",
        experiment.check_alg_2: "constants",
        experiment.check_moments: "refuted",
        pair_samples.check_small_m: "refuted",
    }
    with_power = {
        pair_samples.check_alg_2_k: "refuted",
        pair_samples.check_thm_5: "refuted",
        pair_samples.check_family: "underspecified",
    }
    seen = [(check(), verdict) for check, verdict in expected.items()]
    seen += [(check(FRAME), verdict) for check, verdict in with_power.items()]
    for checks, verdict in seen:
        assert derive(checks) == verdict
        assert {c.outcome for c in checks if c.about == "corrected"} == {True}


@pytest.mark.slow
def test_power_below_the_level_fails_the_check():
    weak = FRAME.assign(mean=0.5)
    assert derive(pair_samples.check_family(weak)) == "refuted"
    assert any(c.outcome is False for c in pair_samples.check_thm_5(weak) if c.about == "corrected")


@pytest.mark.parametrize("phi", [0.2, 0.7])
def test_sign_law(phi):
    law = independence.sign_law(4, phi, ((0, 2), (1, 3)))
    assert law.sum() == pytest.approx(1)
    assert law[1].sum() == pytest.approx(float(Mallows.of_phi(4, phi).before(2)))


def test_pairs_are_independent_if_and_only_if_none_cross():
    for phi in (0.3, 0.8):
        for pairs in all_pairings(6):
            assert (independence.dependence(6, phi, pairs) < 1e-12) == (independence.crossings(pairs) == 0)
    # also with an item between that belongs to no pair
    assert independence.dependence(6, 0.5, ((0, 4), (1, 3))) < 1e-12
    assert independence.dependence(5, 0.5, ((0, 1), (1, 2))) > 0.01  # a shared item
    assert independence.crossings(((3, 0), (5, 1), (2, 4))) == 2


def test_number_of_pairings():
    table = independence.pairings(6, 0.5)
    assert table.pairings.tolist() == [5, 6, 3, 1]  # the first is a Catalan number


@pytest.mark.parametrize("k", [1, 2, 3])
def test_covariance_of_squares_by_enumeration(k):
    pairs, phi = ((0, 2), (1, 3)), 0.5
    law = independence.sign_law(4, phi, pairs)
    moments = np.zeros(3)
    for cells in product(range(4), repeat=k):
        signs = np.array([[2 * (c // 2) - 1, 2 * (c % 2) - 1] for c in cells])
        p = np.prod([law[c // 2, c % 2] for c in cells])
        y = signs.sum(0) ** 2 / k
        moments += p * np.array([y[0], y[1], y[0] * y[1]])
    assert independence.squares_covariance(phi, k, pairs) == pytest.approx(
        moments[2] - moments[0] * moments[1], abs=1e-12
    )


def test_far_law_by_enumeration():
    for m, g in ((4, 2), (6, 2), (6, 3), (8, 3)):
        counts = [sum(abs(a - b) >= g for a, b in pairs) for pairs in all_pairings(m)]
        expected = np.bincount(counts, minlength=m // 2 + 1) / len(counts)
        assert independence.far_law(m, g) == pytest.approx(expected, abs=1e-14)
        assert independence.far_mean(m, g) == pytest.approx(np.mean(counts))


@pytest.mark.parametrize(("k", "b"), [(2, 0.3), (5, 0.0), (6, 0.7)])
def test_square_moments(k, b):
    ones = np.arange(k + 1)
    p, y = stats.binom.pmf(ones, k, (1 + b) / 2), (2 * ones - k) ** 2 / k
    mean, variance = experiment.square_moments(k, b)
    assert mean == pytest.approx(p @ y)
    assert variance == pytest.approx(p @ y**2 - mean**2)


def test_size_at_atoms_finds_the_smallest_counterexample():
    broken = [k for k in range(2, 12) if (lambda f: (f["size"] > f.delta).any())(experiment.size_at_atoms(2, k))]
    assert broken[0] == 7
    frame = experiment.size_at_atoms(2, 7)
    assert frame["size"].iloc[-1] == pytest.approx(2**-6)
    assert paper.unif(2, frame.delta.iloc[-1]).threshold == pytest.approx(7)
    mutant = frame.assign(delta=np.sqrt(frame.delta))  # a threshold that is twice as far
    assert (mutant["size"] <= mutant.delta).all()


def test_mean_of_the_statistic_by_simulation():
    law, k = Mallows.of_phi(8, 0.7), 5
    rng = stream("test: mean statistic", {})
    y = np.array([pair_statistic(pair_signs(law.sample(k, rng=rng), disjoint_pairs(8, rng=rng))) for _ in range(4000)])
    assert abs(y.mean() - pair_samples.mean_statistic(law, k)) < 5 * y.std() / math.sqrt(len(y))


def test_intervals():
    row = pd.Series({"mean": 1.0, "repetitions": 200})
    check = pair_samples.at_least("power", row, 0.95)
    assert check.outcome
    assert check.observed + check.error == 1
    assert pair_samples.at_least("power", pd.Series({"mean": 1.0, "repetitions": 100}), 0.95).outcome is None
    assert pair_samples.at_least("power", pd.Series({"mean": 0.0, "repetitions": 100}), 0.95).outcome is False


def test_family_at_the_paper_s_own_end():
    """m_1 = m / 2 and exponent 1 is the paper's formula for small m but for constants: 48 of its first term."""
    m, theta, delta = 40, 0.3, 2e-300
    own = pair_samples.small_samples(m, theta, delta / 2)  # so that both take the log of 2 / delta
    assert pair_samples.family_samples(m, theta, delta, 1, m / 2) == pytest.approx(own, rel=0.05)


def test_exact_powers():
    assert pair_samples.adjacent_power(2, 1.0, 0.5, 50) == pytest.approx(1)
    assert pair_samples.adjacent_power(10, 0.0, 0.05, 30) == pytest.approx(
        experiment.null_size(10, 30, paper.unif(10, 0.05).threshold)
    )
    assert pair_samples.too_few(1, 0.05)[1] == 1


def test_gain_of_a_random_pairing():
    frame = pair_samples.pairing_gain([1000], 1e-3)
    assert frame.gain.iloc[0] == pytest.approx(frame["2m²/27"].iloc[0], rel=0.01)


def test_tables():
    assert independence.least_failing_items() == 14
    frame = pair_samples.line_5([12, 100], 0.5, 2 * math.exp(-3))
    assert frame.k.iloc[0] == math.inf
    assert frame.m1.to_numpy() == pytest.approx([0, 12.5 - math.sqrt(300 / 16)])
    curves = experiment.null_curves([(2, 7), (10, 2)])
    last = curves[curves.m == 2].iloc[-1]
    assert last["size"] > last.promised
