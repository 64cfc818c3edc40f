"""Noise in a cube of random size: its law by all outcomes, the loss by all sheets, and draws that are broken."""

import math
from collections import Counter
from itertools import product

import mpmath
import numpy as np
import pytest
from checks import certified_epsilon, each, law_p_value, refused
from test_count_noises import DESIGNS, SCORES, farthest, one_voter, sheets

import dprank
from dprank.data.counting import GRAIN
from dprank.pairwise import NoisyCounts, linf_sensitivity
from dprank.pairwise.shift_laws import cube_shift
from dprank.privacy import cube
from dprank.privacy.cube import CubeError, cube_law, cube_noise
from dprank.privacy.divergence import discrete_laplace_shift
from dprank.privacy.pair_errors import PairError
from dprank.privacy.ranges import ScoreNoise

ALARM = 1e-6


@each(("n", "design", "most"), DESIGNS)
def test_the_sensitivity_of_one_score_is_the_most_that_any_two_sheets_differ(n, design, most):
    for score, ties, adjacency in product(SCORES, (True, False), ("replace", "add_remove")):
        promise = {"score": score, "design": design, "ties": ties, "adjacency": adjacency}
        assert linf_sensitivity(n, most, **promise) == farthest(n, most, *promise.values(), "chebyshev")


def whole_law(n, scale, reach):
    rows = np.array(list(product(range(-reach, reach + 1), repeat=n)))
    chance = np.exp(-np.abs(rows).max(axis=1) / scale)
    return rows, chance / chance.sum()


@each(("n", "scale"), [(1, 0.4), (1, 3.0), (2, 1.5), (3, 0.5)])
@each("source", ["seeded", "secure"])
def test_draws_have_a_law_of_the_largest_number_alone(n, scale, source):
    """False alarm 1e-9; a scale of a tenth more is caught in seeded draws."""
    rng, size = (np.random.default_rng(5), 40_000) if source == "seeded" else (dprank.SECURE, 4000)
    seen = Counter(map(tuple, cube_noise(scale, n, size, rng=rng).tolist()))

    def p_value(other):
        rows, chance = whole_law(n, other, math.ceil(25 * other) + 3)
        often = chance * size > 5
        counts = np.array([seen[tuple(row)] for row in rows[often].tolist()])
        return law_p_value(np.r_[counts, size - counts.sum()], np.r_[chance[often], 1 - chance[often].sum()])

    assert p_value(scale) > 1e-9
    if source == "seeded":
        assert p_value(1.15 * scale) < 1e-9


@each(("scale", "n"), [(0.01, 3), (0.7, 1), (3.0, 5), (40.0, 20), (2.5, 300)])
def test_bounds_enclose_the_law_of_radii_and_are_as_near_as_the_bits(scale, n):
    law = np.cumsum(cube_law(scale, n))
    for bits in (128, 256):
        low, high, most = cube._bounds(scale, n, bits)
        assert all(a <= b for a, b in zip(low, high, strict=True))
        assert 0 <= (most - low[-1]) << (bits - 8) <= low[-1]
        found = [a / most for a in low[: len(law)]]
        assert found == pytest.approx(law[: len(found)], abs=1e-12)


@each(("scale", "n"), [(0.05, 2), (0.7, 1), (3.0, 5), (2.5, 30)])
def test_bounds_of_few_bits_enclose_all_weights_of_all_radii(scale, n):
    """By 400 bits, hence radii far beyond: also the rest beyond the last radius, and no more than twice that."""
    low, high, most = cube._bounds(scale, n, 2)
    with mpmath.workdps(200):
        unit = 2 ** mpmath.mpf(2 + 64 + math.ceil(1.5 * min(len(low) / scale, 1e6)))
        fall = mpmath.exp(-1 / mpmath.mpf(scale))
        weights = [(2 * t + 1) ** n * fall**t for t in range(cube._beyond(scale, n, 300.0))]
        below = mpmath.mpf(0)
        for at, (less, more) in enumerate(zip(low, high, strict=True)):
            below += weights[at]
            assert less <= below * unit <= more
        rest = mpmath.fsum(weights[len(low) :])
        assert (below + rest) * unit <= most <= high[-1] + 2 * rest * unit + 5 * (2 * len(low) + 1) ** n


def test_of_a_scale_next_to_nothing_all_radii_but_0_weigh_less_than_a_unit():
    low, high, most = cube._bounds(1e-7, 3, 2)
    # of numbers that are too long to be shown; a weight of a unit would already be too much from below
    right = low == low[:1] * len(low) and low[0].bit_length() > 1_500_000 and most - low[0] < 10**4 > high[-1] - low[0]
    assert right


def test_a_scale_is_refused_from_200_000_radii_on():
    """To a share of 1e-4: catches another number of them, and another bound on how far they go."""
    for n in (2, 3, 40):
        nats = 0.7 * 128 + 20
        widest = 2e5 / (n + 1 + math.sqrt(2 * (n + 1) * nats) + nats)
        cube.require_radii(widest * (1 - 1e-4), n)
        with refused("more than 200000 radii"):
            cube.require_radii(widest * (1 + 1e-4), n)


def test_as_many_numbers_as_are_allowed_are_drawn_exactly():
    """Weights of 10^4 numbers fall slowly: the rest beyond the last radius is bounded all the same."""
    # about n scale, the mean of a gamma variable, and a root n scales to either side
    assert 15 < np.abs(cube_noise(0.002, 10_000, 1, rng=dprank.SECURE)).max() < 25


def test_no_more_vectors_are_drawn_at_once_than_fit_and_the_most_is_said_as_a_whole_number():
    for n, most in ((3, 33_333_333), (7, 14_285_714)):
        assert cube_noise(0.0, n, 2, rng=dprank.SECURE).shape == (2, n)
        with refused(f"size = {most + 1}; an integer from 0 to {most} is needed"):
            cube_noise(0.0, n, most + 1, rng=dprank.SECURE)


@each("call", [cube_law, lambda scale, n: cube_noise(scale, n, 1, rng=np.random.default_rng(1))])
def test_cubes_have_from_1_to_10000_sides(call):
    assert all(np.isfinite(call(0.002, n)).all() for n in (1, 10_000))
    for n in (0, 10_001):
        with refused(f"n = {n}", "from 1 to 10000"):
            call(0.002, n)


def test_where_bits_do_not_decide_more_are_drawn(monkeypatch):
    """With two bits at first nearly nothing is decided; the law stays."""
    monkeypatch.setattr(cube, "_BITS", 2)
    drawn = cube_noise(1.5, 2, 4000, rng=dprank.SECURE)
    rows, chance = whole_law(2, 1.5, 40)
    seen, often = Counter(map(tuple, drawn.tolist())), chance * 4000 > 5
    counts = np.array([seen[tuple(row)] for row in rows[often].tolist()])
    assert law_p_value(np.r_[counts, 4000 - counts.sum()], np.r_[chance[often], 1 - chance[often].sum()]) > 1e-9


@each("moves", [(2,), (1, -1), (2, -1), (2, 2, -1)])
@each("scale", [0.8, 2.0])
def test_the_law_of_the_loss_is_that_of_all_outcomes(moves, scale):
    rows, chance = whole_law(len(moves), scale, {1: 120, 2: 90, 3: 45}[len(moves)])
    loss = np.abs(rows + np.array(moves)).max(axis=1) - np.abs(rows).max(axis=1)
    law = cube_shift(moves, scale)
    for epsilon in (0.0, 0.2, 0.7):
        brute = float((chance * -np.expm1(-np.maximum(loss / scale - epsilon, 0))).sum())
        assert float(law.delta(epsilon)) == pytest.approx(brute, rel=1e-6, abs=1e-12)
    assert law.epsilon(0.0) == pytest.approx(max(map(abs, moves)) / scale)
    if len(moves) == 1:
        assert float(law.delta(0.3)) == pytest.approx(float(discrete_laplace_shift(moves, scale).delta(0.3)))


@each(
    ("n", "promise"),
    [
        (3, {"unit": "comparison", "score": "wins"}),
        (4, {"per_person": 2, "design": "matching"}),
        (4, {"per_person": 2, "design": "matching", "adjacency": "add_remove"}),
        (3, {"per_person": 3, "design": "once", "score": "half"}),
    ],
)
def test_the_promise_is_the_exact_loss_of_the_worst_sheets(n, promise):
    m = NoisyCounts.calibrated(epsilon=0.7, n_items=n, noise="cube", **promise)
    one = sheets(n, m.per_person, m.score, m.design, m.ties)
    other = one[:1] * 0 if m.adjacency == "add_remove" else one
    grain = GRAIN[m.score]
    moves = {tuple(np.sort(np.abs((a - b) / grain)).astype(int)) for a in one for b in other}
    losses = [cube_shift(move, m.scale / grain).epsilon(0.0) for move in moves]
    assert max(losses) == pytest.approx(m.guarantee.epsilon, rel=1e-9)
    assert 0.7 * (1 - 1e-12) <= m.guarantee.epsilon <= 0.7


def _of_one_radius(m, size, rng):
    law = cube_law(m.scale, 1)
    radius = rng.choice(len(law), size, p=law / law.sum())[:, None]
    return rng.integers(-radius, radius + 1, (size, m.n_items))


BROKEN = {
    "half the noise": lambda m, size, rng: cube_noise(m.scale / 2, m.n_items, size, rng=rng),
    "a radius for each item": lambda m, size, rng: cube_noise(m.scale, 1, size * m.n_items, rng=rng).reshape(size, -1),
    "the radius of fewer items": _of_one_radius,
}


@each("mutant", [None, *BROKEN])
def test_broken_draws_are_caught_and_right_ones_are_not(mutant):
    """An audit of the worst move; certified too high by chance one time in a million."""
    mechanism = NoisyCounts.calibrated(
        epsilon=2.0, n_items=4, per_person=2, design="matching", noise="cube", score="wins", adjacency="add_remove"
    )
    draw = BROKEN.get(mutant, lambda m, size, rng: cube_noise(m.scale, m.n_items, size, rng=rng))
    rng, size = np.random.default_rng(6), 200_000
    noisy = [np.asarray(draw(mechanism, size, rng)) + np.array(move) for move in ((1, 1, 0, 0), (0, 0, 0, 0))]
    cells = [
        np.bincount(np.ravel_multi_index(tuple((np.clip(z, -2, 3) + 2).T), (6,) * 4), minlength=6**4) for z in noisy
    ]
    found = certified_epsilon(*cells, ALARM)
    if mutant is None:
        assert 1.2 < found <= mechanism.guarantee.epsilon
    else:
        assert found > mechanism.guarantee.epsilon


def test_releases_are_published_with_ranges_that_hold():
    data = one_voter([(0, 1, 1), (2, 3, 1)])
    mechanism = NoisyCounts.calibrated(epsilon=1.0, n_items=5, per_person=2, design="matching", noise="cube")
    release = mechanism.release(data, dprank.SECURE)
    assert release.publishable
    assert dprank.Release.from_json(release.to_json()) == release
    assert (release.intervals().lowest <= release.intervals().highest).all()
    scores, right = np.array([30.0, 4, 4, -8, -30]), 0
    for row in mechanism.perturb(scores, np.random.default_rng(8), 2000):
        low, high = mechanism.open_places(
            dprank.Ranking(tuple("abcde"), np.argsort(-row), row, mechanism=mechanism), 0.9
        )
        right += all(
            low[i] <= 1 + (scores > scores[i]).sum() and high[i] >= (scores >= scores[i]).sum() for i in range(5)
        )
    assert right > 0.9 * 2000
    law = ScoreNoise("laplace", mechanism.scale, step=1.0)
    drawn = cube_noise(mechanism.scale, 5, 100_000, rng=np.random.default_rng(9))
    beyond = (drawn[:, 0] - drawn[:, 1] > CubeError(((law, 2, 1.0),), n_items=5).quantile(0.01)).mean()
    assert 0.006 < beyond < 0.0115
    with refused("scale = ", "radii"):
        NoisyCounts(5, 1e6, noise="cube").release(data, np.random.default_rng(1))
    with refused("law = 'continuous'", "cube"):
        NoisyCounts(5, 1.0, noise="cube", law="continuous")


@each(("n", "scale"), [(2, 1.0), (5, 2.0)])
def test_the_error_of_two_scores_is_beyond_its_quantile_no_more_often_than_asked(n, scale):
    """Next to the chance of a quantile itself: chances as small as the allowance for rounding fail on the safe side."""
    error, law = CubeError(((ScoreNoise("laplace", scale, step=1.0), 2, 1.0),), n_items=n), cube_law(scale, n)
    for q in (0, 3, 40):
        beyond = math.fsum(
            chance * max(2 * t - q, 0) * (max(2 * t - q, 0) + 1) / 2 / (2 * t + 1) ** 2 for t, chance in enumerate(law)
        )
        assert error.quantile(beyond + 2.5e-13) == q
        assert error.quantile(beyond + 2e-14) == q + 1
        # noise and drawing share the chance
        drawing = CubeError(error.noises, deviation=5.0, n_items=n).quantile(beyond)
        assert drawing == error.quantile(beyond / 2) + PairError(deviation=5.0).quantile(beyond / 2)


def test_the_error_on_a_wider_grid_is_that_of_the_whole_numbers_times_its_step():
    whole, half = (CubeError(((ScoreNoise("laplace", 2 * step, step), 2, 1.0),), n_items=5) for step in (1.0, 0.5))
    for chance in (0.5, 0.01, 1e-6):
        assert half.quantile(chance) == whole.quantile(chance) / 2


def test_what_rounding_left_of_the_law_is_its_last_radius(monkeypatch):
    monkeypatch.setattr(cube, "cube_law", lambda scale, n: np.array([0.25, 0.25]))
    drawn = cube_noise(1.0, 2, 400, rng=np.random.default_rng(1))
    assert set(np.abs(drawn).max(axis=1).tolist()) == {0, 1}


def test_it_has_half_the_noise_where_everybody_meets_each_item_once():
    for n in (4, 20):
        laplace, box = (
            NoisyCounts.calibrated(epsilon=1.0, n_items=n, per_person=n // 2, design="matching", noise=noise)
            for noise in ("laplace", "cube")
        )
        noisy = box.perturb(np.zeros(n), np.random.default_rng(10), 4000)
        assert noisy.std() < 0.6 * math.sqrt(2) * laplace.scale
        assert noisy.std() == pytest.approx(2 * math.sqrt((n + 1) * (n + 2) / 3), rel=0.03)
