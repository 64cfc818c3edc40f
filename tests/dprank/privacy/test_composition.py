"""Nothing here is random."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from checks import each, refused
from dp_accounting.pld import accountant, common
from dp_accounting.pld import privacy_loss_distribution as pld

from dprank.data.tallies import MOST_CHOSEN
from dprank.privacy import composition as c


def coins(k, epsilon_0, epsilon):
    """Delta of k answers of randomized response, all 2^k outcomes."""
    p = 1 / (1 + math.exp(-epsilon_0))
    truths = np.array(list(product((0, 1), repeat=k))).sum(axis=1)
    law, other = p**truths * (1 - p) ** (k - truths), (1 - p) ** truths * p ** (k - truths)
    return np.maximum(law - math.exp(epsilon) * other, 0).sum()


@each("k", [1, 2, 5, 8])
@each("epsilon_0", [0.01, 0.3, 2.0])
def test_optimal_delta_is_that_of_all_outcomes(k, epsilon_0):
    for epsilon in np.array([0, 0.3, 1, 1.7, k - 1, k - 0.01]) * epsilon_0:
        assert c.optimal_delta(k, epsilon_0, epsilon) == pytest.approx(
            coins(k, epsilon_0, epsilon), rel=1e-8, abs=1e-15
        )
    assert c.optimal_delta(k, epsilon_0, k * epsilon_0) <= 1e-15


def test_optimal_delta_forgets_no_term(monkeypatch):
    monkeypatch.setattr(c, "_FAR", 0.2)
    assert c.optimal_delta(8, 0.3, 0.0) < 0.9 * coins(8, 0.3, 0.0)


@each(("k", "epsilon_0"), [(20_000, 2.2), (100_000, 1.0), (10**6, 0.5)])
def test_many_rounds_that_hide_nothing_cost_all(k, epsilon_0):
    """The likely losses are hundreds of standard deviations above the first that counts."""
    assert c.optimal_delta(k, epsilon_0, 0.0) == 1


def test_optimal_delta_agrees_with_dp_accounting():
    round_ = common.DifferentialPrivacyParameters(0.05, 0.0)
    rounds = pld.from_privacy_parameters(round_, value_discretization_interval=0.05).self_compose(100)
    for epsilon in (0.0, 0.5, 1.23, 2.2):
        assert c.optimal_delta(100, 0.05, epsilon) == pytest.approx(
            rounds.get_delta_for_epsilon(epsilon), rel=1e-8, abs=1e-13
        )
    theirs = accountant.advanced_composition(round_, 100, 1e-6)
    assert theirs - 0.1 - 1e-9 <= c.optimal(100, 0.05, 1e-6) <= theirs + 1e-9


def test_optimal_delta_may_be_tiny():
    k, epsilon_0, epsilon = 1000, 0.1, 36.0
    with mpmath.workdps(60):
        p = mpmath.exp(epsilon_0) / (1 + mpmath.exp(epsilon_0))
        exact = mpmath.fsum(
            mpmath.binomial(k, n) * p**n * (1 - p) ** (k - n) * (1 - mpmath.exp(epsilon - (2 * n - k) * epsilon_0))
            for n in range(681, k + 1)
        )
        assert 0 < exact < 1e-20
        assert c.optimal_delta(k, epsilon_0, epsilon) == pytest.approx(float(exact), rel=1e-7)
        assert c.optimal_delta(k, epsilon_0, epsilon) >= exact


@each("k", [1, 3, 50, 4000])
@each("delta", [0.3, 1e-3, 1e-12, 1e-200])
def test_optimal_inverts_and_beats_the_others(k, delta):
    for epsilon_0 in (0.002, 0.1, 1.5):
        epsilon = c.optimal(k, epsilon_0, delta)
        assert c.optimal_delta(k, epsilon_0, epsilon) <= delta
        if epsilon > 1e-6:
            assert c.optimal_delta(k, epsilon_0, epsilon * (1 - 1e-11)) > delta
        for other in ("basic", "advanced", "zcdp"):
            assert epsilon <= c.total_epsilon(other, k, epsilon_0, delta) * (1 + 1e-12)


def test_advanced_is_the_printed_sum():
    assert c.advanced(7, 0.3, 0.01) == pytest.approx(
        math.sqrt(14 * math.log(100)) * 0.3 + 7 * 0.3 * (math.exp(0.3) - 1), rel=1e-8
    )
    assert c.advanced(7, 0.3, 0.0) == c.zcdp(0.1, 0.0) == math.inf
    assert math.isfinite(c.advanced(1, 2000.0, 0.1))


def test_zcdp_agrees_with_opendp_and_is_never_below():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    gauss = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    approximate = dp.c.make_zCDP_to_approxDP(gauss)
    for rho, delta in product((1e-6, 1e-3, 0.5, 10.0, 100.0), (0.05, 1e-6, 1e-12)):
        theirs = approximate.map(math.sqrt(2 * rho)).epsilon(delta)
        assert theirs * (1 - 1e-6) <= c.zcdp(rho, delta) <= theirs * (1 + 2e-4)
        assert c.zcdp(rho, delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_bounded_range_halves_the_loss():
    assert c.rho(5, 0.4) == pytest.approx(0.4)
    assert c.rho(5, 0.4, bounded_range=True) == c.rho(5, 0.2)
    assert c.total_epsilon("zcdp", 5, 0.4, 1e-6, bounded_range=True) == c.total_epsilon("zcdp", 5, 0.2, 1e-6)
    assert c.total_epsilon("optimal", 5, 0.4, 1e-6, bounded_range=True) == c.optimal(5, 0.4, 1e-6)


@each("composition", ["basic", "advanced", "zcdp", "optimal"])
@each("k", [1, 12, 3000])
@pytest.mark.slow
def test_epsilon_per_round_is_the_largest(composition, k):
    for epsilon, delta in product((1e-3, 0.2, 8.0), (1e-9, 0.05)):
        most = c.epsilon_per_round(composition, k, epsilon, delta)
        assert c.total_epsilon(composition, k, most, delta) <= epsilon * (1 + 1e-11)
        assert c.total_epsilon(composition, k, most * 1.001, delta) > epsilon


@each("k", [1, 7, 1000])
def test_a_round_has_all_but_a_share_of_1e_13(k):
    for epsilon in (1e-3, 0.2, 1.0, 8.0):
        assert 0 <= 1 - k * c.epsilon_per_round("basic", k, epsilon) / epsilon < 1e-13


def test_no_rounds_cost_nothing_and_no_noise_promises_nothing():
    for composition in ("basic", "advanced", "zcdp", "optimal"):
        assert c.total_epsilon(composition, 0, 1.0, 1e-6) == c.total_epsilon(composition, 3, 0.0, 1e-6) == 0.0
        assert c.total_epsilon(composition, 3, math.inf, 1e-6) == math.inf
    assert c.total_epsilon("optimal", 3, 0.5) == c.basic(3, 0.5)
    assert c.optimal(1, 1e-6, 0.5) == 0.0
    assert c.optimal(1, 1e308, 1e-6) < math.inf == c.optimal(3, 1e308, 1e-6)


def test_bad_input():
    with refused("composition = 'best'", "optimal"):
        c.total_epsilon("best", 1, 1.0)
    with refused("delta = 1"):
        c.total_epsilon("basic", 1, 1.0, 1)
    with refused("round_epsilon = -1"):
        c.total_epsilon("basic", 1, -1)
    with refused("k = 0"):
        c.epsilon_per_round("basic", 0, 1.0)
    with refused("epsilon = 0"):
        c.epsilon_per_round("basic", 1, 0)
    with refused("delta = 0", "'zcdp'"):
        c.epsilon_per_round("zcdp", 1, 1.0, 0)
    for k in (-1, 1.5, True):
        for each_loses in (1.0, 0.0, math.inf):
            with refused(f"k = {k}"):
                c.total_epsilon("basic", k, each_loses)
    with refused("round_epsilon = nan"):
        c.total_epsilon("basic", 1, math.nan)
    with refused("k = 0"):
        c.optimal_delta(0, 1.0, 1.0)
    with refused("round_epsilon = 0"):
        c.optimal_delta(1, 0.0, 1.0)
    for epsilon in (-1.0, math.inf):
        with refused(f"epsilon = {epsilon}"):
            c.optimal_delta(1, 1.0, epsilon)
    for wrong in (-0.1, 1.0, math.nan):
        for call in (lambda x: c.zcdp(0.1, x), lambda x: c.optimal(1, 1.0, x), lambda x: c.advanced(1, 1.0, x)):
            with refused(f"delta = {wrong}"):
                call(wrong)
    with refused("rho = -1"):
        c.zcdp(-1, 0.1)


@each("epsilon_0", [0.01, 1.0, 349.0, 351.0, 500.0, 699.0])
def test_advanced_drifts_as_printed_up_to_the_end_of_the_floats(epsilon_0):
    k, delta = 5, 1e-6
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon_0)
        exact = mpmath.sqrt(2 * k * mpmath.log(1 / mpmath.mpf(delta))) * e + k * e * mpmath.expm1(e)
        assert float(c.advanced(k, epsilon_0, delta) / exact - 1) == pytest.approx(1e-9, rel=1e-3, abs=0)
    assert c.total_epsilon("advanced", k, epsilon_0, delta) == c.advanced(k, epsilon_0, delta)
    assert c.advanced(k, 1e6, delta) > c.basic(k, 1e6)


def test_numbers_that_are_no_floats_are_rounded_up():
    almost = Fraction(2**60 + 2**8 - 1, 2**60)  # the next float above 1 is nearer than 1
    assert c.basic(3, almost) >= 3 * almost
    assert c.rho(2, almost) >= almost**2
    for number in (almost, Fraction(1, 3)):
        above = math.nextafter(float(number), math.inf) if float(number) < number else float(number)
        for name in ("basic", "advanced", "zcdp", "optimal"):
            assert c.total_epsilon(name, 5, number, 1e-6) == c.total_epsilon(name, 5, above, 1e-6)
        for call in (lambda x: c.advanced(5, x, 0.1), lambda x: c.optimal(5, x, 0.1), lambda x: c.rho(5, x)):
            assert call(number) == call(above)
        assert c.optimal_delta(5, number, 0.1) == c.optimal_delta(5, above, 0.1)


def test_the_last_numbers_that_are_allowed():
    assert c.MOST_ROUNDS == 2 * MOST_CHOSEN
    assert [c.rho(1, e) for e in (0.9e154, 1e154, 1.3e154, 1.9e154, math.inf)] == [0.9e154**2 / 2] + [math.inf] * 4
    assert c.rho(0, math.inf) == c.rho(0, 1.0) == c.basic(0, 1.0) - 5e-324 == c.advanced(0, 1.0, 0.1) == 0
    assert c.rho(2**106, 1.0) == 2.0**105
    assert c.optimal_delta(3, 1e-300, 1.0) == c.optimal_delta(1, 5e-324, 1e10) == 0
    for call in (
        lambda: c.rho(2**106 + 1, 1.0),
        lambda: c.rho(-1, 1.0),
        lambda: c.basic(-1, 1.0),
        lambda: c.advanced(-1, 1.0, 0.1),
        lambda: c.optimal_delta(c.MOST_ROUNDS + 1, 1.0, 1.0),
        lambda: c.optimal(c.MOST_ROUNDS + 1, 1.0, 0.1),
        lambda: c.optimal(0, 1.0, 0.1),
        lambda: c.epsilon_per_round("basic", c.MOST_ROUNDS + 1, 1.0),
    ):
        with refused("k = "):
            call()
    assert c.epsilon_per_round("basic", c.MOST_ROUNDS, 1.0) == pytest.approx(1 / c.MOST_ROUNDS)
    for epsilon in (1.01e-300, 0.99e300):
        assert c.epsilon_per_round("basic", 3, epsilon) == pytest.approx(epsilon / 3)
    for epsilon in (1e-300, 1e300):
        with refused("epsilon = ", "(1e-300, 1e300)"):
            c.epsilon_per_round("basic", 3, epsilon)


def test_every_name_is_its_own_composition():
    k, epsilon_0, delta = 40, 0.3, 1e-6
    values = {name: c.total_epsilon(name, k, epsilon_0, delta) for name in ("basic", "advanced", "zcdp", "optimal")}
    assert values["basic"] == c.basic(k, epsilon_0)
    assert values["advanced"] == c.advanced(k, epsilon_0, delta)
    assert values["zcdp"] == c.zcdp(c.rho(k, epsilon_0), delta)
    assert values["optimal"] == c.optimal(k, epsilon_0, delta)
    assert len(set(values.values())) == 4


@each("bounded_range", [False, True])
def test_a_loss_whose_square_is_no_float_is_a_loss(bounded_range):
    assert 0 < c.rho(1, 1e-170, bounded_range) < 1e-300
    assert c.rho(0, 1.0, bounded_range) == c.rho(5, 0.0, bounded_range) == 0
    # neighbours differ by 1e-170 in total variation
    assert c.total_epsilon("zcdp", 1, 1e-170, 1e-300, bounded_range=bounded_range) >= 1e-170


@each("k", [3, 5000])
def test_without_a_delta_the_optimal_composition_is_the_sum(k):
    """Of 5,000 rounds the chance that all tell the truth is 0 as a float: an epsilon from it would be too low."""
    assert c.total_epsilon("optimal", k, 0.01, 0.0) == c.basic(k, 0.01) >= k * 0.01
    assert c.epsilon_per_round("optimal", k, 1.0) == pytest.approx(1 / k, rel=1e-12)
    assert c.basic(k, c.epsilon_per_round("optimal", k, 1.0)) <= 1.0
