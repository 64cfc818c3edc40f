"""Privacy of Gaussian noise, against dp-accounting, against 60 digits and by its own inverse."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from checks import each, refused
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from scipy.optimize import brentq

from dprank.privacy.gaussian import ROUNDING, gaussian_delta, gaussian_epsilon, gaussian_scale, zcdp


@each("epsilon", [0.0, 1e-3, 1.0, 20.0, 600.0])
@each("mu", [0.01, 0.3, 2.0, 30.0])
def test_gaussian_delta_agrees_with_dp_accounting(epsilon, mu):
    other = GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon)
    assert gaussian_delta(2.0, 2.0 / mu, epsilon) == pytest.approx(other, rel=1e-7, abs=1e-15)


def digits(l2, scale, epsilon):
    """Delta to more digits than are lost."""
    with mpmath.workdps(400):
        mu, epsilon = mpmath.mpf(l2) / mpmath.mpf(scale), mpmath.mpf(epsilon)
        upper = [mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (epsilon / mu - mu / 2, epsilon / mu + mu / 2)]
        return upper[0] - mpmath.exp(epsilon) * upper[1]


@each("mu", [1e-290, 1e-150, 1e-17, 1e-10, 1e-7, 1e-3, 0.3, 0.9999, 1.0, 5.0, 70.0, 1e3, 1e5])
@pytest.mark.slow
def test_gaussian_delta_keeps_nine_digits(mu):
    """At all places that leave a delta of 1e-300 or more, in both tails."""
    for x in (-30, -3.0, -0.4, 0.0, 0.1, 1.0, 3.0, 10.0, 25.0, 36.0):
        epsilon = mu * (x + mu / 2)
        if epsilon >= 0 and (exact := digits(mu, 1, epsilon)) >= 1e-300:
            assert abs(gaussian_delta(mu, 1.0, epsilon) / exact - 1) < ROUNDING / 10


def test_small_deltas_and_scales_keep_their_word():
    for epsilon, delta in ((1e-8, 1e-9), (1e-12, 1e-6), (1e-3, 1e-300), (1e-200, 1e-100), (1e12, 1e-9)):
        scale = gaussian_scale(1.0, epsilon, delta)
        assert delta * (1 - 1e-5) < digits(1, scale, epsilon) <= delta
    mu = 1e-200
    epsilon = gaussian_epsilon(mu, 1.0, 1e-300)
    assert digits(mu, 1, 0) > 1e-300 >= digits(mu, 1, epsilon)
    assert gaussian_delta(1.0, 1e200, 1e300) == gaussian_delta(1e-200, 1e200, 1.0) == 0


def test_zcdp_of_a_large_delta_is_true():
    for rho in np.geomspace(1e-6, 20, 50):
        for delta in (1e-3, 0.3, 0.9, 0.999):
            exact = gaussian_epsilon(math.sqrt(2 * rho), 1.0, delta)
            assert zcdp(rho, delta) >= exact * (1 - 1e-9)


@each("delta", [1e-300, 1e-9, 1e-3, 0.3, 0.999])
@each("rho", [1e-12, 1e-3, 0.5, 20.0, 1e4, 1e12])
def test_zcdp_takes_the_best_order(rho, delta):
    orders = 1 + np.append(np.geomspace(0.01 + 1e-15, 1e152, 20_000), np.geomspace(0.01 + 1e-15, 40, 20_000))
    converted = rho * orders + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)
    best = 0.0 if delta**2 > -math.expm1(-rho) else max(0.0, converted.min())
    found = zcdp(rho, delta)
    assert found <= best * (1 + 2 * ROUNDING)
    # the grid is coarse; fifty digits at the order where the derivative is 0
    with mpmath.workdps(50):
        at = max(mpmath.findroot(lambda t: rho * t**2 + mpmath.log(1 + t) + mpmath.log(delta), start(rho, delta)), 0.01)
        exact = rho * (1 + at) + mpmath.log(at / (1 + at)) - (mpmath.log(delta) + mpmath.log(1 + at)) / at
    assert best == 0 == found or 0.9e-9 < found / float(exact) - 1 < 1.1e-9


def start(rho, delta):
    return min(math.sqrt(-math.log(delta) / rho), 1 / delta - 1)


def test_zcdp_at_the_ends_of_the_floats():
    assert zcdp(0.0, 0.0) == zcdp(0.0, 0.1) == zcdp(5e-324, 0.5) == zcdp(5e-324, 1 - 2.0**-53) == 0
    assert zcdp(1e-3, 0.0) == zcdp(math.inf, 0.5) == zcdp(1.79e308, 1e-9) == math.inf
    assert 0 < zcdp(1e-320, 1e-300) < 1e-9
    assert 1e300 < zcdp(1e300, 5e-324) < 1.02e300


@each("epsilon", [1e-3, 0.5, 8.0, 300.0])
@each("delta", [1e-12, 1e-5, 0.4, 0.99])
def test_scale_and_epsilon_are_inverse_and_tight(epsilon, delta):
    scale = gaussian_scale(3.0, epsilon, delta)
    assert gaussian_epsilon(3.0, scale, delta) <= epsilon
    assert gaussian_delta(3.0, scale, epsilon) <= delta
    # the classical scale of Dwork and Roth, used beyond epsilon = 1, is caught; a hair less noise as well
    assert gaussian_delta(3.0, scale * (1 - 1e-6), epsilon) > delta
    classical = 3.0 * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert epsilon < 9 or gaussian_epsilon(3.0, classical, delta) > epsilon


def test_gaussian_boundaries():
    assert gaussian_epsilon(1.0, 0.0, 0.1) == math.inf
    assert gaussian_epsilon(0.0, 0.0, 0.1) == gaussian_scale(0.0, 1.0, 0.1) == 0
    assert gaussian_epsilon(1.0, 1e6, 0.1) == 0
    assert gaussian_delta(1.0, 5e-324, 1.0) == 1
    assert gaussian_delta(np.float32(1), np.int64(2), np.float16(0.5)) == gaussian_delta(1, 2, 0.5)
    with refused("delta = 0"):
        gaussian_scale(1.0, 1.0, 0.0)
    with refused("epsilon = -1"):
        gaussian_delta(1.0, 1.0, -1)
    for delta in (5e-324, 1e-301):
        with refused("delta = ", "1e-300"):
            gaussian_epsilon(1.0, 1.0, delta)


@each(("l2", "scale", "delta"), [(1, 1, 0.1), (1, 3, 1e-6), (1, 0.2, 1e-3), (2, 50, 1e-9), (1, 0.05, 0.5)])
def test_the_allowance_for_rounding_is_a_share_of_1e_9(l2, scale, delta):
    assert 1 - gaussian_delta(l2, scale, gaussian_epsilon(l2, scale, delta)) / delta == pytest.approx(
        1e-9, rel=0.02, abs=0
    )


@each("epsilon", [1e-3, 0.5, 8.0, 300.0])
@each("delta", [1e-12, 1e-5, 0.4, 0.99])
def test_not_a_step_less_noise_would_do(epsilon, delta):
    scale = gaussian_scale(3.0, epsilon, delta)
    assert 1 - gaussian_delta(3.0, scale, epsilon) / delta == pytest.approx(1e-9, rel=0.11, abs=0)
    assert gaussian_epsilon(3.0, scale / (1 + 2.0**-40) * (1 - 1e-15), delta) > epsilon


def test_sensitivities_that_are_no_floats_are_rounded_up():
    least = math.ulp(0.0)
    for loss in (gaussian_epsilon, gaussian_delta):
        assert loss(Fraction(1, 10**324), least, 0.1) == loss(least, least, 0.1) > 0


def test_the_last_numbers_that_are_allowed():
    assert gaussian_epsilon(1e153, 1.0, 0.1) == pytest.approx(5e305)
    for l2, scale in ((math.nextafter(1e153, math.inf), 1.0), (1e-10, 1e-170), (1e-300, 0.0)):
        assert gaussian_epsilon(l2, scale, 0.1) == math.inf
    assert gaussian_scale(1.0, 1e305, 0.1) == gaussian_scale(1.0, 1e300, 0.1)
    assert gaussian_epsilon(1.0, gaussian_scale(1.0, 1e305, 0.1), 0.1) == pytest.approx(1e300)
    for l2, beyond in ((1e-150, 0.0), (1e150, math.inf)):
        assert gaussian_scale(l2, 1.0, 0.1) == pytest.approx(1.0858777 * l2)
        with refused("l2 = ", "1e-150"):
            gaussian_scale(math.nextafter(l2, beyond), 1.0, 0.1)
    assert gaussian_epsilon(1.0, 1.0, 1e-300) > 0
    for call in (gaussian_epsilon, gaussian_scale):
        with refused("delta = ", "1e-300"):
            call(1.0, 1.0, math.nextafter(1e-300, 0))


def test_nothing_moves_and_nothing_is_promised():
    assert gaussian_scale(0.0, 1.0, 1e-6) == 0
    assert gaussian_delta(0.0, 1.0, 0.0) == gaussian_delta(1.0, 1.0, math.inf) == 0
    assert gaussian_delta(1e-300, 1e300, 0.0) == 0 < gaussian_delta(1.0, 1e3, 0.0)
    with refused("epsilon = inf"):
        gaussian_scale(1.0, math.inf, 1e-6)


@pytest.mark.parametrize("delta", [1e-3, 0.1, 0.5])
def test_an_epsilon_of_0_is_paid_by_the_delta_and_not_by_rounding(delta):
    """Where delta falls short by a share of 1e-10 only, the allowance for rounding decides: an epsilon above 0."""
    free = gaussian_scale(1.0, 1e-12, delta)
    least_scale = brentq(lambda s: gaussian_delta(1.0, s, 0.0) - delta, free / 2, 2 * free, xtol=1e-15 * free)
    assert gaussian_epsilon(1.0, least_scale * (1 + 1e-10), delta) > 0
    assert gaussian_epsilon(1.0, least_scale * (1 + 1e-7), delta) == 0


@pytest.mark.parametrize(("rho", "delta"), [(1e-9, 0.5), (1e-4, 0.99), (2.0, 0.9), (1e-12, 1e-3)])
def test_zcdp_at_large_deltas_is_true_and_never_negative(rho, delta):
    """rho-zCDP holds for Gaussian noise of l2 / scale = sqrt(2 rho): its least epsilon is a lower bound."""
    assert zcdp(rho, delta) >= gaussian_epsilon(math.sqrt(2 * rho), 1.0, delta) * (1 - 1e-8) >= 0


@pytest.mark.parametrize("rho", [9.6, 18.0])
def test_a_delta_that_pays_for_all_is_seen_at_order_1(rho):
    """Relative entropy at most rho leaves a total variation of at most sqrt(1 - e^-rho) (Bretagnolle and Huber)."""
    delta = 1 - (1 - math.sqrt(-math.expm1(-rho))) / (1 + 1e-6)
    assert zcdp(rho, delta) == 0 < zcdp(rho, delta - 0.01)


def test_next_to_no_loss_costs_next_to_nothing_at_any_delta():
    """There the best order is just at the end of where it is sought, but for a rounding."""
    for delta in np.random.default_rng(4).random(300).tolist():
        assert 0 <= zcdp(1e-300, delta) <= 1e-140
