"""The laws of a plan against quadrature, enumeration and simulation.

Simulations are 4 standard errors wide: a right law fails one of them with chance 6.4e-5.
"""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from checks import each, refused
from plan_brute import near
from scipy import integrate, stats

from dprank.pairwise.rank_law import rank_law, top_set_law
from dprank.plan.crowd import mallows_places
from dprank.plan.laws import (
    Spread,
    ladder_order_right,
    ladder_share_right,
    ladder_top_right,
    pair_right,
    pairs_of,
    simulated,
    told_apart,
)
from dprank.plan.ranking import ladder, middle, moments
from dprank.privacy.ranges import ScoreNoise, range_quantile


def laplace_difference(t):
    return (1 + abs(t)) * math.exp(-abs(t)) / 4


@pytest.mark.slow
@each("apart, variance, scale", [(1, 1, 1), (3, 4, 2), (0.5, 100, 1), (-2, 1, 0.5), (30, 900, 0.1), (5, 1e-4, 2)])
def test_two_items_with_normal_sampling_and_laplace_noise(apart, variance, scale):
    def right(t):
        return stats.norm.cdf((apart + scale * t) / math.sqrt(variance)) * laplace_difference(t)

    edge = -apart / scale
    kinks = sorted({0.0, edge, edge - 1e-2, edge + 1e-2, edge - 1, edge + 1})
    exact, _ = integrate.quad(right, -60, 60, points=[k for k in kinks if abs(k) < 60], limit=2000, epsabs=1e-12)
    assert math.isclose(pair_right(apart, variance, "laplace", scale), exact, abs_tol=1e-9)


def test_two_items_at_the_limits():
    x = np.linspace(-9, 9, 19)
    sharp = np.where(x < 0, np.exp(x) * (1 - x / 2) / 2, 1 - np.exp(-x) * (1 + x / 2) / 2)
    assert np.allclose(pair_right(x, 0.0, "laplace", 1.0), sharp, atol=1e-14)
    assert np.allclose(pair_right(x, 1e-6, "laplace", 1.0), sharp, atol=1e-5)
    assert np.allclose(pair_right(x, 4.0, "laplace", 1e-9), stats.norm.cdf(x / 2), atol=1e-9)
    assert np.allclose(pair_right(x, 4.0, "gaussian", 2.0), stats.norm.cdf(x / math.sqrt(12)), atol=1e-14)
    assert pair_right([0.0, 1.0], 0.0).tolist() == [0.5, 1.0]
    # on both sides of where noise counts as normal
    both = [pair_right(50.0, 10_000.0, "laplace", 100 / 1000 * off) for off in (0.999, 1.001)]
    assert math.isclose(*both, abs_tol=1e-8)
    with refused("noise"):
        pair_right(1.0, 1.0, "gumbel", 1.0)


def test_more_noise_is_never_better_and_chances_are_chances():
    scales = np.geomspace(1e-3, 1e3, 60)
    for apart, variance in product((0.1, 1.0, 30.0), (0.0, 0.01, 1.0, 1e4)):
        chances = [float(pair_right(apart, variance, "laplace", scale)) for scale in scales]
        assert all(a >= b - 1e-11 for a, b in pairwise(chances)), (apart, variance)
        assert 0.5 <= chances[-1] <= chances[0] <= 1


def test_all_pairs_stand_for_themselves_or_for_their_neighbours():
    for m in (2, 3, 7, 40, 41, 120, 1000):
        better, worse, weight = pairs_of(m)
        assert (better < worse).all()
        assert worse.max() < m
        assert math.isclose(weight.sum(), 1)
    m = 120
    i, j = np.triu_indices(m, 1)
    better, worse, weight = pairs_of(m)
    for step in (0.01, 0.1, 1.0):
        all_of_them = (1 - pair_right(step * (j - i), 4.0, "laplace", 3.0)).mean()
        some = float((1 - pair_right(step * (worse - better), 4.0, "laplace", 3.0)) @ weight)
        assert abs(all_of_them - some) < 2e-3 * max(all_of_them, 0.05), step


@pytest.mark.slow
@each("noise", ["laplace", "gaussian", "gumbel", "exponential"])
def test_noises_are_within_what_tells_apart(noise):
    rng = np.random.default_rng(1)
    draw = {"laplace": rng.laplace, "gaussian": rng.normal, "gumbel": rng.gumbel}
    for n in (2, 10, 300):
        q = told_apart(noise, 2.0, n)
        size = (20_000, n) if n < 100 else (4_000, n)
        drawn = rng.exponential(2.0, size) if noise == "exponential" else draw[noise](0, 2.0, size)
        assert near(0.95, np.ptp(drawn, axis=1) <= q), (noise, n)
    assert told_apart("none", 0.0, 9) == 0
    assert told_apart("laplace", 6.0, 9, 1.0) == range_quantile(ScoreNoise("laplace", 6.0, 1.0), 9, 0.95)


@pytest.mark.slow
@each("noise", ["none", "laplace", "gumbel", "exponential"])
def test_a_spread_is_the_sum_of_a_normal_variable_and_noise(noise):
    above = {
        "none": lambda _: 0.0,
        "laplace": lambda z: math.exp(-z) / 2 if z > 0 else 1 - math.exp(z) / 2,
        "gumbel": lambda z: -math.expm1(-math.exp(min(-z, 700))),
        "exponential": lambda z: min(1.0, math.exp(-max(z, 0))),
    }[noise]
    for deviation, scale in ((1.0, 1.0), (0.2, 1.0), (4.0, 0.5)):
        spread = Spread(deviation, noise, 0.0 if noise == "none" else scale)
        for x in (-3.0, 0.0, 0.7, 5.0, 20.0):
            exact, _ = integrate.quad(
                lambda y, x=x, s=deviation, b=scale: math.exp(-y * y / 2) * above((x - s * y) / b) / 2.5066282746310002,
                -12, 12, points=[max(-12, min(12, x / deviation))], limit=500, epsabs=1e-13,
            )  # fmt: skip
            exact = stats.norm.sf(x / deviation) if noise == "none" else exact
            assert math.isclose(float(spread.above(x)), exact, rel_tol=1e-6, abs_tol=1e-11), (deviation, scale, x)


def test_a_ladder_without_sampling_has_the_exact_law_of_the_ranking():
    k, rest, step = 2, 3, 1.5
    scores = [2 * step, step, 0, 0, 0]
    law = Spread(1e-3, "laplace", 1.0)
    assert math.isclose(ladder_top_right(step, k, rest, law), top_set_law(scores, 1.0, k)[0, 1], abs_tol=2e-4)
    places = rank_law(scores, 1.0)
    share = (places[0, :k].sum() + places[1, :k].sum()) / k
    assert math.isclose(ladder_share_right(step, k, rest, law), share, abs_tol=2e-4)
    alone = top_set_law([step, 0, 0], 1.0, 1)[0,]
    assert math.isclose(ladder_order_right(step, 1, 2, law), alone, abs_tol=2e-4)


@pytest.mark.slow
@each("noise", ["laplace", "gumbel", "exponential"])
def test_ladders_against_simulation(noise):
    rng = np.random.default_rng(2)
    for k, rest, step, deviation in (
        (1, 5, 2.0, 1.0),
        (3, 20, 1.5, 0.5),
        (5, 200, 3.0, 0.2),
        (20, 60, 0.5, 0.5),
        (40, 60, 0.3, 0.5),
    ):
        law, n = Spread(deviation, noise, 1.0), 8_000
        size = (n, k + rest)
        drawn = rng.exponential(1.0, size) if noise == "exponential" else getattr(rng, noise)(0, 1.0, size)
        values = deviation * rng.standard_normal(size) + drawn
        values[:, :k] += step * np.arange(k, 0, -1)
        top = values[:, :k].min(axis=1) > values[:, k:].max(axis=1)
        order = top & (np.diff(values[:, :k], axis=1) < 0).all(axis=1)
        chosen = np.argpartition(-values, k - 1, axis=1)[:, :k] < k
        assert near(ladder_top_right(step, k, rest, law), top), (k, noise)
        assert near(ladder_order_right(step, k, rest, law), order), (k, noise)
        # the threshold is taken as fixed where k is above 12
        assert near(ladder_share_right(step, k, rest, law), chosen.mean(axis=1), 0.006 if k > 12 else 0.0), (k, noise)


@pytest.mark.slow
def test_a_million_items_take_no_longer():
    law = Spread(50.0, "gumbel", 10.0)
    right = [ladder_top_right(300.0, 5, rest, law) for rest in (10, 10**3, 10**6, 10**8)]
    assert right == sorted(right, reverse=True)
    assert 0 < right[-1] < right[0] <= 1


@each("score", ["net", "wins", "half"])
def test_moments_by_listing_every_person(score):
    for m, answers in product((2, 3, 4), (1, 2, 3, 6)):
        pairs = list(combinations(range(m), 2))
        if answers > len(pairs):
            continue
        lead = ladder(m, 0.3).by_lag
        better, worse, _ = pairs_of(m)
        total, square = np.zeros(len(better)), np.zeros(len(better))
        for asked in combinations(pairs, answers):
            for won in product((True, False), repeat=answers):
                chance, scores = 1 / math.comb(len(pairs), answers), np.zeros(m)
                for (a, b), first in zip(asked, won, strict=True):
                    chance *= (1 + (lead[b - a] if first else -lead[b - a])) / 2
                    up, down = (a, b) if first else (b, a)
                    scores[up] += 1
                    scores[down] -= score == "net"
                apart = scores[better] - scores[worse]
                total += chance * apart
                square += chance * apart**2
        mean, variance = moments(m, 0.3, score, answers)
        assert np.allclose(mean, total, atol=1e-12), (m, answers)
        assert np.allclose(variance, square - total**2, atol=1e-12), (m, answers)


def test_the_middle_pair_is_of_neighbours():
    for m in (2, 3, 5, 10, 40, 41, 1000):
        better, worse, _ = pairs_of(m)
        at = middle(m)
        assert worse[at] - better[at] == 1
        assert abs(better[at] + 0.5 - (m - 1) / 2) <= max(1, m / 20)


def test_ballots_of_the_fixed_seed_are_mallows():
    m, phi = 5, 0.7
    places = mallows_places(m, phi)
    assert (np.sort(places, axis=1) == np.arange(m)).all()
    weights = {}
    for ballot in combinations(range(m), 2):
        turned = places[:, ballot[0]] > places[:, ballot[1]]
        weights[ballot] = turned
    distance = sum(turned.astype(int) for turned in weights.values())
    j = np.arange(1, m + 1)
    expected = sum(sum(v * phi**v for v in range(n)) / sum(phi**v for v in range(n)) for n in j)
    assert near(expected, distance)
    assert mallows_places(m, phi) is mallows_places(m, phi)


def test_simulated_releases_scale_the_same_luck():
    means = np.array([3.0, 2.0, 1.0, 0.0])
    assert simulated(means, 1.0, "laplace", 0.5, 2) == simulated(means, 1.0, "laplace", 0.5, 2)
    order = [simulated(means, 0.5, "laplace", scale, 2).order_right for scale in (0.1, 0.3, 1.0, 3.0)]
    assert order == sorted(order, reverse=True)
    exact = top_set_law(means, 1.0, 2)[0, 1]
    draws = 4000
    assert abs(simulated(means, 1e-6, "laplace", 1.0, 2).top_right - exact) < 4 * math.sqrt(0.25 / draws)
