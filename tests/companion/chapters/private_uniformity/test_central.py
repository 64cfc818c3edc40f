"""Checks of central privacy against brute force and broken twins. Nothing is random here."""

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from companion.chapters.private_uniformity import batches, central, central_bounds, central_samples
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

EPSILON, DELTA = 1 / 3, 0.05


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


@pytest.mark.parametrize(("m", "k"), [(2, 3), (3, 2), (4, 2)])
def test_sign_data_are_those_of_all_rankings(m, k):
    signs = pair_signs(np.array(list(permutations(range(m)))), disjoint_pairs(m)).astype(int)
    brute = {tuple(sum(rows)) for rows in product(signs, repeat=k)}
    data = central.sign_data(m // 2, k)
    assert {tuple(row) for row in data.reshape(-1, m // 2)} == brute
    steps = np.abs(data[:, :, None] - data[:, None]).reshape(-1, m // 2)
    assert set(np.unique(steps)) == {0, 2}


def test_sensitivity_is_refuted_by_the_sum_alone():
    checks = central.check_sensitivity([(2, 2), (4, 3), (5, 2)])
    assert derive(checks) == "refuted"
    assert all("ΣΣX = 0" in c.what for c in checks if c.about == "printed" and not c.outcome)
    assert all(outcomes(checks, "corrected"))


def test_laplace_is_private_and_half_the_noise_is_not():
    checks = central.check_laplace(EPSILON, DELTA, [(2, 2), (4, 3)])
    assert derive(checks) == "holds"
    test = paper.laplace_unif(4, 6, EPSILON, DELTA).mechanism
    assert central.laplace_loss(replace(test, scale=test.scale / 2)) > EPSILON
    big = paper.laplace_unif(100, 1000, EPSILON, DELTA).mechanism
    assert central.agreeing_loss(big) == pytest.approx(big.guarantee.epsilon)
    tiny = paper.laplace_unif(4, 4, EPSILON, DELTA).mechanism
    assert central.agreeing_loss(tiny) <= central.laplace_loss(tiny) + 1e-12


def test_variance_of_y_by_enumeration():
    for m, k in ((2, 4), (4, 3)):
        y = central.statistic(central.sign_data(m // 2, k), k)
        assert central.y_variance(m // 2, k, 0.0) == pytest.approx(y.var())
    assert derive(central.check_variance(EPSILON)) == "underspecified"


def test_bucketing_has_no_bounded_ratio_by_enumeration():
    test = paper.bucketed(2, 18, EPSILON, DELTA).mechanism
    assert batches.enumerated_loss(test) == math.inf == batches.bucketed_loss(test)
    coin = Bucketed(test.n_items, test.n_voters, test.n_batches, test.batch_threshold, 0.3)
    assert batches.enumerated_loss(coin) == pytest.approx(batches.bucketed_loss(coin))
    never = paper.bucketed(2, 6, EPSILON, DELTA).mechanism  # two rankings a batch: nothing is ever rejected
    assert batches.enumerated_loss(never) == 0 == batches.bucketed_loss(never)
    checks = batches.check_bucketing(EPSILON, DELTA)
    assert derive(checks) == "refuted"
    assert all(outcomes(checks, "corrected"))


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


def test_certified_rankings_are_enough_and_hardly_too_many():
    k = central_samples.certified_laplace(10, 0.3, EPSILON, DELTA)
    power = [
        central_samples.laplace_power(LaplaceUnif.calibrated(epsilon=EPSILON, n_items=10, n_voters=n, size=DELTA), 0.3)
        for n in (k, round(0.95 * k))
    ]
    assert power[0] >= 1 - DELTA > power[1]
    assert (
        central_samples.laplace_least(0.09, EPSILON, DELTA) <= k <= central_samples.laplace_enough(0.3, EPSILON, DELTA)
    )


@pytest.mark.slow
def test_samples_grow_as_they_should():
    frame = central_samples.needed_by_items([10, 100, 1000, 10_000], 0.05, EPSILON, DELTA)
    checks = central_samples.check_laplace_samples(frame, 0.05, EPSILON, DELTA)
    assert derive(checks) == "refuted"
    assert all(outcomes(checks, "corrected"))
    mutant = frame.assign(increase=frame["items"] ** 1.5)
    assert not all(outcomes(central_samples.check_laplace_samples(mutant, 0.05, EPSILON, DELTA), "corrected"))


@pytest.mark.slow
def test_rates_at_a_fixed_distance():
    frame = central_samples.rate_at_distance([10, 100, 1000], 0.5, EPSILON, DELTA)
    assert derive(central_samples.check_rate(frame, EPSILON, DELTA, 0.25)) == "constants"
    assert derive(batches.check_bucketing_samples(frame, EPSILON, DELTA)) == "refuted"
    for checks in (
        central_samples.check_rate(frame, EPSILON, DELTA, 0.25),
        batches.check_bucketing_samples(frame, EPSILON, DELTA),
    ):
        assert all(outcomes(checks, "corrected"))


def test_no_private_test_of_bits_beats_the_bound():
    for n, epsilon in product((1, 3, 8), (0.2, 1.0)):
        for p in (0.6, 1.0):
            power = central_bounds.best_private_power(n, p, epsilon, DELTA)
            assert power <= DELTA * (1 + (p - 0.5) * math.expm1(epsilon)) ** n + 1e-9
            assert power >= DELTA - 1e-9
    assert central_bounds.best_private_power(1, 1.0, 1.0, 0.05) == pytest.approx(
        0.05 * (1 + math.expm1(1.0)) / (math.e / 2 + 0.5)
    )


@pytest.mark.slow
def test_lower_bound_definition_and_bernoulli():
    needs = central_bounds.bernoulli_needs([1.0, 0.3], 0.75, DELTA)
    assert derive(central_bounds.check_lower(needs, 0.75, DELTA)) == "holds"
    mutant = needs.assign(**{"bits needed": needs["lower bound"] * 0.9})
    assert derive(central_bounds.check_lower(mutant, 0.75, DELTA)) == "refuted"
    assert derive(central_bounds.check_bernoulli(21)) == "holds"
    assert derive(central_bounds.check_definition(EPSILON, DELTA)) == "constants"
    optimal = central_bounds.check_optimal(EPSILON, DELTA, 0.25)
    assert derive(optimal) == "underspecified"
    assert all(outcomes(optimal, "corrected"))
