"""Acceptance probabilities exactly, over all sign data; ROUNDING is a float's. Simulations, fixed seeds: ALARM."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from companion.printed import busafekete2021 as paper
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
    return test.acceptance(sums.sum(1), (sums**2).sum(1) / k).reshape(len(signs), -1)


def exact_loss(accept):
    return max(np.ptp(np.log(p), axis=0).max() for p in (accept, 1 - accept))


def drawn(test, total, y, rng, draws=20_000):
    """Algorithm 3 line by line."""
    z = rng.laplace(0, test.scale, draws)
    cut = test.scale * math.log(1 / test.delta)
    coin = np.abs(z) > cut
    mean = 2 * total / (test.n_items * test.n_voters)
    rejected = np.abs(mean + z) > test.gate + cut
    p = min(1, max(0, (y - test.start) / test.width))
    b = rng.random(draws) < p
    accept = np.where(coin, rng.random(draws) < 0.5, ~rejected & (b if test.accept_large else ~b))
    return int(accept.sum()), draws


@each("accept_large", [True, False])
@each(("total", "y"), [(0, 2.0), (0, 3.5), (40, 3.5), (-140, 9.0), (230, 5.0)])
def test_acceptance_is_that_of_the_algorithm(total, y, accept_large):
    test = paper.trun(4, 100, 0.5, 0.2, 0.6, accept_large=accept_large).mechanism
    accepted, draws = drawn(test, total, y, np.random.default_rng(7))
    p = float(test.acceptance(total, y))
    assert law_p_value([accepted, draws - accepted], [p, 1 - p]) > ALARM


def test_printed_constants():
    test = paper.trun(10, 50, EPSILON, DELTA, 0.3).mechanism
    assert test.scale == pytest.approx(4 / (50 * DELTA * EPSILON))
    assert test.gate == pytest.approx(math.sqrt(2 * math.log(2 / DELTA) / 500))
    assert 1 / test.width == pytest.approx(16 / (10 * 0.3**2 * 49))
    assert test.start == 5
    assert test.accept_large
    assert test.claimed_epsilon == EPSILON


SMALL = each(("m", "k"), [(2, 2), (2, 7), (3, 4), (4, 2), (4, 5), (5, 3), (6, 3)])


@SMALL
@each(("delta", "mu"), [(0.05, 0.5), (0.6, 1.0)])
def test_guarantee_covers_all_data(m, k, delta, mu):
    for accept_large in (True, False):
        test = paper.trun(m, k, 2.0, delta, mu, accept_large=accept_large).mechanism
        assert exact_loss(all_data(test)) <= test.guarantee.epsilon
        # wide ramps, where the loss is below its ceiling
        wide = replace(test, width=20 * m, start=0.5, gate=math.inf)
        assert exact_loss(all_data(wide)) <= wide.guarantee.epsilon
        assert wide.guarantee.epsilon < math.log((2 - delta) / delta)


def test_smallest_counterexample():
    test = paper.trun(2, 2, EPSILON, DELTA, 0.5).mechanism
    assert exact_loss(all_data(test)) == pytest.approx(math.log((2 - DELTA) / DELTA))


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
    size = law @ (1 - test.acceptance(np.zeros(len(values)), values / 10_000))
    assert size == pytest.approx(DELTA, rel=1e-6)
    top = math.sqrt(10_000 * (test.start + test.width))
    y = np.array([top, top - test.reach]) ** 2 / 10_000
    accept = test.acceptance([0, 0], y)
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
        replace(right, delta=0.01),  # a coin that hardly ever is tossed
    ):
        assert exact_loss(all_data(mutant)) > epsilon * 1.01
        assert mutant.guarantee.epsilon > epsilon * 1.01


def test_release():
    rng = np.random.default_rng(3)
    test = Trun.calibrated(epsilon=5.0, n_items=4, n_voters=400, size=0.1)
    agree = Rankings(np.tile(np.arange(4), (400, 1)), list("abcd"))
    said = [test.release(agree, rng) for _ in range(500)]
    rejected = sum(s.reject for s in said)
    p = 1 - float(test.acceptance(0, 800))
    assert p == pytest.approx(0.95)
    assert law_p_value([rejected, 500 - rejected], [p, 1 - p]) > ALARM
    assert all(math.isnan(x) for x in (said[0].statistic, said[0].threshold, said[0].p_value))


def test_bad_input():
    good = {"delta": 0.1, "scale": 1.0, "start": 1.0, "width": 1.0}
    bad = [("delta", 0), ("delta", 1), ("scale", 0), ("width", 0), ("width", math.inf), ("gate", -1)]
    bad += [("start", -9), ("start", math.inf), ("start", math.nan), ("width", math.nan), ("gate", math.nan)]
    for name, value in bad:
        with refused(f"{name} = {value}"):
            Trun(4, 4, **good | {name: value})
    with refused("n_items = 1"):
        Trun(1, 4, **good)
    with refused("n_rankings = 1"):
        Trun(4, 1, **good)
    with refused("epsilon_0 = 0"):
        paper.trun(4, 4, 0, 0.1, 0.5).mechanism
    with refused("mu = 0"):
        paper.trun(4, 4, 1, 0.1, 0).mechanism
    with refused("delta = 2"):
        paper.trun(4, 4, 1, 2, 0.5).mechanism
    with refused("epsilon_0 = -1"):
        Trun.calibrated(epsilon=-1, n_items=4, n_voters=4, size=0.1)
    with refused("SecureSource", "research"):
        Trun(2, 4, **good).release(Rankings([[0, 1], [1, 0]], ["a", "b"]), SECURE)
    with refused("n_rankings", "4"):
        Trun(2, 4, **good).release(Rankings([[0, 1], [1, 0]], ["a", "b"]), np.random.default_rng(0))
