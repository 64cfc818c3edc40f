"""Acceptance probabilities exactly, over all sign data; ROUNDING is a float's. Simulations, fixed seeds: ALARM."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from checks import each, law_p_value, refused

from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import square_law

ROUNDING = 1e-9
ALARM = 1e-6
EPSILON, DELTA = 1 / 3, 0.05


def all_data(test):
    """Acceptance probability of every sequence of sign vectors; the rows are neighbours."""
    pairs, k = test.n_items // 2, test.n_voters
    signs = np.array(list(product((-1, 1), repeat=pairs)))
    sums = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=k)])
    return test.accepts(sums).reshape(len(signs), -1)


def exact_loss(accept):
    return max(np.ptp(np.log(p), axis=0).max() for p in (accept, 1 - accept))


@each("y", [0.0, 2.0, 3.5, 5.0, 9.0])
def test_acceptance_is_that_of_the_algorithm(y):
    test, rng, draws = Trun(4, 100, coin=0.2, start=2.0, width=4.0), np.random.default_rng(7), 20_000
    coin, large = rng.random(draws) < test.coin, rng.random(draws) < (y - test.start) / test.width
    accepted = int(np.where(coin, rng.random(draws) < 0.5, ~large).sum())
    p = float(test.acceptance(y))
    assert law_p_value([accepted, draws - accepted], [p, 1 - p]) > ALARM


def test_acceptance_of_sums_is_that_of_their_statistic():
    test = Trun(4, 10, coin=0.2, start=2.0, width=4.0)
    assert test.accepts(np.array([[6, -4], [0, 0]])).tolist() == test.acceptance([5.2, 0.0]).tolist()


SMALL = each(("m", "k"), [(2, 2), (2, 7), (3, 4), (4, 2), (4, 5), (5, 3), (6, 3)])


@SMALL
@each("coin", [0.05, 0.6])
def test_guarantee_covers_all_data(m, k, coin):
    steep = Trun(m, k, coin=coin, start=m / 2, width=0.1)
    assert exact_loss(all_data(steep)) <= steep.guarantee.epsilon
    # wide ramps, where the loss is below its ceiling
    wide = replace(steep, width=20 * m, start=0.5)
    assert exact_loss(all_data(wide)) <= wide.guarantee.epsilon
    assert wide.guarantee.epsilon < math.log((2 - coin) / coin)


@SMALL
def test_calibrated_is_private_and_keeps_its_size(m, k):
    for delta in (0.05, 0.4):
        test = Trun.calibrated(epsilon=EPSILON, n_items=m, n_voters=k, size=delta)
        assert test.guarantee.epsilon <= EPSILON
        accept = all_data(test)
        assert exact_loss(accept) <= EPSILON * (1 + ROUNDING)
        assert 1 - accept.mean() <= delta * (1 + ROUNDING)


def test_calibrated_uses_all_of_its_size_and_privacy():
    test = Trun.calibrated(epsilon=EPSILON, n_items=10, n_voters=10_000, size=DELTA)
    values, law = square_law(5, 10_000)
    size = law @ (1 - test.acceptance(values / 10_000))
    assert size == pytest.approx(DELTA, rel=1e-6)
    top = math.sqrt(10_000 * (test.start + test.width))
    y = np.array([top, top - test.reach]) ** 2 / 10_000
    accept = test.acceptance(y)
    assert math.log(accept[1] / accept[0]) == pytest.approx(EPSILON, rel=1e-6)


@each(("m", "k"), [(5, 200), (10, 1000), (100, 300)])
@each("epsilon", [1e-4, 0.1, 1 / 3, 1.0, 2.5, math.log(19), 3.0])
def test_calibrated_never_promises_less_than_was_asked(m, k, epsilon):
    guarantee = Trun.calibrated(epsilon=epsilon, n_items=m, n_voters=k, size=0.1).guarantee.epsilon
    assert guarantee <= epsilon
    assert guarantee == pytest.approx(min(epsilon, math.log(19)), rel=1e-6)


def test_large_epsilon_needs_no_more_than_one_ranking_of_ramp():
    test = Trun.calibrated(epsilon=20.0, n_items=4, n_voters=50, size=0.1)
    assert test.ramp_step == pytest.approx(1)
    assert test.guarantee.epsilon == pytest.approx(math.log(19))


def test_mutants_break_the_guarantee():
    epsilon = 1.5
    right = Trun.calibrated(epsilon=epsilon, n_items=2, n_voters=8, size=0.3)
    assert 0.7 * epsilon < exact_loss(all_data(right)) <= epsilon
    third = right.width / 3
    for mutant in (
        replace(right, width=right.width / 2),  # half the noise
        replace(right, width=third, start=right.start + third),  # a steep middle
        replace(right, coin=0.01),  # a coin that hardly ever is tossed
    ):
        assert exact_loss(all_data(mutant)) > epsilon * 1.01
        assert mutant.guarantee.epsilon > epsilon * 1.01


def test_release():
    rng = np.random.default_rng(3)
    test = Trun.calibrated(epsilon=5.0, n_items=4, n_voters=400, size=0.1)
    agree = Rankings(np.tile(np.arange(4), (400, 1)), list("abcd"))
    said = [test.release(agree, rng) for _ in range(500)]
    rejected = sum(s.reject for s in said)
    p = 1 - float(test.acceptance(800))
    assert p == pytest.approx(0.95)
    assert law_p_value([rejected, 500 - rejected], [p, 1 - p]) > ALARM
    assert all(math.isnan(x) for x in (said[0].statistic, said[0].threshold, said[0].p_value))


def test_bad_input():
    good = {"coin": 0.1, "start": 1.0, "width": 1.0}
    bad = [("coin", 0), ("coin", 1), ("coin", 1e-13), ("width", 0), ("width", math.inf), ("width", math.nan)]
    bad += [("start", -9), ("start", math.inf), ("start", math.nan)]
    for name, value in bad:
        with refused(f"{name} = {value}"):
            Trun(4, 4, **good | {name: value})
    with refused("n_items = 1"):
        Trun(1, 4, **good)
    with refused("n_voters = 1"):
        Trun(4, 1, **good)
    with refused("epsilon = -1"):
        Trun.calibrated(epsilon=-1, n_items=4, n_voters=4, size=0.1)
    with refused("size = 2"):
        Trun.calibrated(epsilon=1.0, n_items=4, n_voters=4, size=2)
    with refused("SecureSource", "research"):
        Trun(2, 4, **good).release(Rankings([[0, 1], [1, 0]], ["a", "b"]), SECURE)
    with refused("n_voters", "4"):
        Trun(2, 4, **good).release(Rankings([[0, 1], [1, 0]], ["a", "b"]), np.random.default_rng(0))
