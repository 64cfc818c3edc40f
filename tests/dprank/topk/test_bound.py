"""Exact: laws of small cases by enumeration, exact curves of grouped values, and the formula in 60 digits."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from checks import each, refused
from numpy.testing import assert_allclose
from scipy import stats
from set_laws import order_law_of_three

from dprank.pairwise import top_set_law
from dprank.topk.accounting import Chosen
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.curve import Types, pair_law


def formula(k, shift, epsilon, n_items):
    """Log of the theorem's delta at its best alpha without `n_items`, in 40 digits, and the size of its terms."""
    k, a = min(k, n_items - k), mpmath.mpf(shift)
    low, high = mpmath.mpf(0), mpmath.log1p(mpmath.exp(-a)) / a  # where B = 0
    for _ in range(80):
        alpha = (low + high) / 2
        b = 1 + mpmath.exp(a) - mpmath.exp((1 + alpha) * a)
        slope = 2 * a - epsilon - k * a - mpmath.log1p(1 / alpha) + k * a * mpmath.exp((1 + alpha) * a) / b
        low, high = (alpha, high) if slope < 0 else (low, alpha)
    terms = [-mpmath.log1p(alpha), -alpha * mpmath.log1p(1 / alpha)]  # alpha^alpha / (1 + alpha)^(1 + alpha)
    terms += [(k * mpmath.log(k) - (k - 1) * mpmath.log(k - 1) if k > 1 else 0) - mpmath.log(b)]
    terms += [-alpha * epsilon, 2 * alpha * a, -k * alpha * a, -(k - 1) * mpmath.log(b)]
    if n_items < math.inf:
        terms.append(mpmath.log(1 - (1 - b / k) ** n_items))
    return sum(terms), sum(map(abs, terms))


def hockey_stick(p, q, epsilon):
    return sum(max(p[s] - math.exp(epsilon) * q[s], 0.0) for s in p)


@each(
    ("k", "shift", "epsilon"),
    [(1, 0.1, 1), (1, 0.5, 1), (7, 0.02, 0.1), (100, 0.002, 0.2), (1000, 0.001, 5), (1, 1e-13, 0)],
)
def test_is_the_formula_at_its_best_rounded_up_by_1e_13(k, shift, epsilon):
    with mpmath.workdps(40):
        exact, size = formula(k, shift, epsilon, math.inf)
        assert float((log_delta(k, shift, epsilon) - exact) / (1 + size)) == pytest.approx(1e-13, rel=0.01, abs=0)


@each(("k", "n_items"), [(1, 3), (1, 1000), (2, 4), (5, 11), (12, 30), (20, 30)])
@each(("shift", "epsilon"), [(0.02, 2.0), (0.01, 0.7)])
def test_a_number_of_items_takes_its_factor_off(k, n_items, shift, epsilon):
    with mpmath.workdps(40):
        exact, _ = formula(k, shift, epsilon, n_items)
        assert log_delta(k, shift, epsilon, n_items) == pytest.approx(float(exact), rel=1e-9)


def test_bounds_at_the_ends():
    with mpmath.workdps(40):
        assert log_delta(2, 0.3, 1e15) == pytest.approx(float(formula(2, 0.3, 1e15, math.inf)[0]), rel=1e-9)
    assert log_delta(3, 0.1, math.inf) == log_delta(1, 0.1, 0.1, 1) == -math.inf
    assert log_delta(1000, 0.5, 3.0) == log_delta(1, 699.5, 1.0) == 0
    # the largest shift at which a float of epsilon makes a difference lies between 699 and 700
    assert log_delta(1, 699.2, 1.7e308) < 0 == log_delta(1, 700.0, 1.7e308)
    for epsilon in (1.01e-300, 0.99e300):
        shift = shift_for(3, epsilon, 0.1)
        assert log_delta(3, shift, epsilon) <= math.log(0.1) < log_delta(3, shift * (1 + 1e-8), epsilon)
    for epsilon in (1e-300, 1e300):
        with refused("epsilon = ", "(1e-300, 1e300)"):
            shift_for(3, epsilon, 0.1)


@each(("k", "shift"), [(100, 1.0), (30, 2.0)])
def test_noise_that_hides_nothing_promises_nothing_at_any_epsilon(k, shift):
    """Across the epsilon at which the best alpha leaves 0."""
    values = [log_delta(k, shift, epsilon) for epsilon in np.linspace(0, 2 * k * shift, 4000)]
    assert max(values) <= 0
    assert (np.diff(values) <= 1e-9).all()


def test_what_the_proof_asks_of_every_factor():
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, k = rng.uniform(0.001, 1), int(rng.integers(2, 50))
        u = rng.uniform(0, 0.99) * math.log1p(math.exp(-a))
        alpha, big = u / a, 1 + math.exp(a) - math.exp(a + u)
        eta = big / k
        keep = math.exp(u) * (big - eta)  # e^-mu
        low = 1 / (1 + math.exp(a))
        corners = np.array([(0, 0), (1, 1), (low, 1 - low), (1 - low, low)])
        q, r = (rng.dirichlet(np.ones(4) / 2, 500) @ corners).clip(1e-12, 1 - 1e-12).T
        assert (np.abs(np.log(q / r)) <= a + 1e-9).all()
        assert (np.abs(np.log((1 - q) / (1 - r))) <= a + 1e-9).all()
        factor = q * keep * (q / r) ** alpha + (1 - q) * ((1 - q) / (1 - r)) ** alpha
        assert (factor <= 1 - eta * q + 1e-9).all()
        q, r = corners[2]
        too_much = q * keep * 1.01 * (q / r) ** alpha + (1 - q) * ((1 - q) / (1 - r)) ** alpha
        assert too_much > 1 - eta * q


def test_what_the_proof_asks_of_the_factors_of_a_list():
    """Both sides of the coin above v, and Laplace laws moved by up to a, at every v."""
    rng, broken = np.random.default_rng(3), 0
    for _ in range(60):
        a, k = rng.uniform(0.001, 2), int(rng.integers(1, 50))
        u = rng.uniform(0, 0.999) * math.log1p(math.exp(-a))
        alpha, big = u / a, 1 + math.exp(a) - math.exp(a + u)
        eta = big / k
        keep = math.exp(u) * (big - eta)  # e^-mu

        def coin(a, alpha=alpha):
            return (math.exp((1 + alpha) * a) + math.exp(-alpha * a)) / (1 + math.exp(a))

        assert keep * coin(a) + eta <= 1 + 1e-12
        assert math.exp(u) * big * coin(a) <= 1 + 1e-12
        broken += math.exp(u) * big * coin(2 * a) > 1
        at = np.linspace(-30, 30, 12_001)
        f = np.exp(-np.abs(at)) / 2
        for shift in (-a, -a / 3, a / 3, a):
            ratio = np.exp(np.abs(at - shift) - np.abs(at))
            cell = f * ratio**alpha * (at[1] - at[0])
            above = np.cumsum(cell[::-1])[::-1] - cell / 2
            q, r = stats.laplace.sf(at), stats.laplace.sf(at - shift)
            factor = keep * above + (1 - q) * ((1 - q) / (1 - r)) ** alpha
            assert (factor <= 1 - (eta - 1e-4) * q + 1e-12).all()
    assert broken > 5


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.slow
def test_lists_of_three_by_enumeration(k):
    below, broken = 0, 0
    for scale in (2.0, 6.0, 15.0):
        for x in ([0, 0, 0], [0, 1, 1], [0, 5, 9]):
            p = order_law_of_three(x, scale, "laplace")
            for signs in product((-1, 0, 1), repeat=3):
                q = order_law_of_three(np.add(x, signs), scale, "laplace")
                for epsilon in (0.0, 0.1, 0.3, 1.0, 2.0):
                    exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
                    bound = math.exp(log_delta(k, 1 / scale, epsilon))
                    assert exact <= bound
                    below += bound < 0.5
                    # the others do not stand for the chosen of a list
                    broken += exact > math.exp(log_delta(k, 1 / scale, epsilon, 3))
    assert below > 100
    assert (broken > 0) is (k == 3)


@pytest.mark.parametrize("law", ["continuous", "discrete"])
def test_small_cases_by_enumeration(law):
    rng = np.random.default_rng(2)
    below = 0
    for m, k in [(2, 1), (4, 1), (5, 2), (6, 3), (5, 4)]:
        for scale in (1.5, 4.0, 12.0):
            x = rng.integers(0, 3, m)
            for signs in rng.choice(list(product((-1, 0, 1), repeat=m)), 4, replace=False):
                p, q = (top_set_law(values, scale, k, law) for values in (x, x + signs))
                for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
                    exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
                    for items in (m, math.inf):
                        bound = math.exp(log_delta(k, 1 / scale, epsilon, items))
                        assert exact <= bound
                        below += bound < 0.5
    assert below > 100  # of some content even here


@each("k", [10, 100])
@each("shares", [(1, 1), (1, 3), (3, 1), (2, 2)])
def test_exact_curves_of_equal_values(k, shares):
    epsilons = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
    for scale in (2.5 * k**0.5, 25 * k**0.5):
        up, down = (k * share for share in shares)
        exact = pair_law(Types((up, down), (0, 0), (1, -1)), k, scale).delta(epsilons)
        bound = [log_delta(k, 1 / scale, epsilon) for epsilon in epsilons]
        assert (np.log(np.maximum(exact, 1e-300)) <= bound).all()


def test_half_the_shift_would_be_too_good_to_be_true():
    scale, k, epsilon = 225.0, 100, 0.2
    exact = float(pair_law(Types((k, k), (0, 0), (1, -1)), k, scale).delta(epsilon))
    assert log_delta(k, 0.5 / scale, epsilon) < math.log(exact) < log_delta(k, 1 / scale, epsilon)


def test_monotone_and_symmetric():
    grid = [log_delta(k, 0.004, 0.2) for k in (1, 2, 5, 20, 50)]
    assert grid == sorted(grid)
    grid = [log_delta(20, shift, 0.2) for shift in (0.001, 0.002, 0.005, 0.01, 5, 500, 5000)]
    assert grid == sorted(grid)
    grid = [log_delta(20, 0.004, epsilon) for epsilon in (0, 0.01, 0.1, 1, 10)]
    assert grid == sorted(grid, reverse=True)
    assert log_delta(3, 0.01, 0.1, 10) == log_delta(7, 0.01, 0.1, 10) < log_delta(3, 0.01, 0.1)
    assert log_delta(7, 0.01, 0.1, 7) == -math.inf
    assert shift_for(7, 0.1, 0.01, 7) == math.inf


def test_inverse_over_the_whole_range():
    for k, epsilon, delta in product((1, 2, 30, 1000, 10**6), (1e-3, 0.2, 1.0, 50.0), (1e-300, 1e-6, 0.05, 0.9)):
        shift = shift_for(k, epsilon, delta)
        assert log_delta(k, shift, epsilon) <= math.log(delta) < log_delta(k, shift * (1 + 1e-8), epsilon)


def test_order_of_the_noise():
    """Two root k log(e k / delta) over epsilon is right to first order, for many items and small shifts."""
    k, delta = 10**8, 1e-12
    assert_allclose(1 / shift_for(k, 0.1, delta), 20 * math.sqrt(k * math.log(math.e * k / delta)), rtol=0.15)


@each(
    ("arguments", "words"),
    [
        ((0, 0.1, 0.1), ("k = 0",)),
        ((1.5, 0.1, 0.1), ("k = 1.5",)),
        ((3, 0.1, 0.1, 2), ("k = 3", "2")),
        ((3, 0.0, 0.1), ("shift = 0.0",)),
        ((3, math.nan, 0.1), ("shift = nan",)),
        ((3, 0.1, -1.0), ("epsilon = -1.0",)),
        ((3, 0.1, math.nan), ("epsilon = nan",)),
        ((3, 0.1, 0.1, 9.5), ("n_items = 9.5",)),
        ((1, 0.1, 0.1, 0), ("n_items = 0",)),
        ((3, 0.1, 0.1, math.nan), ("n_items = nan",)),
        ((3, "0.1", 0.1), ("shift = '0.1'",)),
    ],
)
def test_log_delta_refuses(arguments, words):
    with refused(*words):
        log_delta(*arguments)


@each(("k", "shift", "epsilon"), [(1, 0.5, 1.0), (7, 0.02, 0.1)])
def test_a_move_that_is_no_float_counts_as_the_next_one_above(k, shift, epsilon):
    above = math.nextafter(shift, 1.0)
    assert log_delta(k, Fraction(shift) + Fraction(1, 2**80), epsilon) == log_delta(k, above, epsilon)
    assert log_delta(k, shift, epsilon) < log_delta(k, above, epsilon)


@each(
    ("arguments", "words"),
    [
        ((0, 0.1, 0.1), ("k = 0",)),
        ((1, 0.0, 0.1), ("epsilon = 0.0",)),
        ((1, math.inf, 0.1), ("epsilon = inf",)),
        ((1, 0.1, 0.0), ("delta = 0.0",)),
        ((1, 0.1, 1.0), ("delta = 1.0",)),
        ((1, 0.1, 0.1, 1.5), ("n_items = 1.5",)),
    ],
)
def test_shift_for_refuses(arguments, words):
    with refused(*words):
        shift_for(*arguments)


@pytest.mark.parametrize("shift", [700.0, 1e3, 1e300])
def test_almost_no_noise_promises_nothing(shift):
    for epsilon in (0.0, 1.0, 1e300):
        assert log_delta(3, shift, epsilon) == 0.0


@each("k", [1, 2, 5, 40])
@each("shift", [0.01, 0.3, 2.0])
@each("m", [50, math.inf])
def test_the_bound_is_turned_round(k, shift, m):
    """The least epsilon at a delta, by the root of `log_delta`; 0 just where that delta pays for all."""
    chosen, most = Chosen(k, "laplace", 1.0, "replace", False, m, math.inf), 2 * k * shift
    free = log_delta(k, shift, 0.0, m)
    for delta, nothing in ((math.exp(free) * (1 + 1e-9), True), (math.exp(free) * (1 - 1e-6), False), (1e-9, False)):
        if not delta < 1:
            continue
        told = chosen._bounded_epsilon(shift, most, delta)
        assert (told == 0) == nothing
        assert told <= most
        if not nothing and told < most:
            assert log_delta(k, shift, told, m) <= math.log(delta) < log_delta(k, shift, told * (1 - 1e-7), m)
        if told == most:
            assert log_delta(k, shift, most * (1 - 1e-9), m) > math.log(delta)


@each("k", [1, 4])
@each("epsilon", [0.1, 0.5, 3.0])
def test_of_next_to_no_shift_the_bound_is_where_b_is_0(k, epsilon):
    """There the best alpha is at its end, log(2) / shift, and all but its epsilon is nothing."""
    for shift in (1e-15, 1e-14, 1e-13):
        assert log_delta(k, shift, epsilon) == pytest.approx(-math.log(2) * epsilon / shift, rel=1e-9)
