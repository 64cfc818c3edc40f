"""Discrete Gaussian noise against laws that are summed outcome by outcome, and against noise on the line. No chance."""

import math
from collections import Counter
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from checks import each

import dprank.aggregation.laws  # noqa: F401  registers the exact laws
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.data.rankings import Rankings
from dprank.privacy import discrete_gaussian
from dprank.privacy.discrete_gaussian import LONGEST, Answers, exact_delta, exact_epsilon, smoothed_epsilon
from dprank.privacy.divergence import discrete_gaussian_shift, pair_of, whole_noise
from dprank.privacy.gaussian import gaussian_delta, gaussian_epsilon, zcdp
from dprank.privacy.laws import exact as exact_law

ADJACENCIES = ["replace", "add_remove"]
MOVES = [[1], [1, 1], [2], [1, 1, 1], [1, 2, 3], [2] * 4, [1] * 10, [5, 3, 3, 1, 1]]


def brute(moves, scale):
    """Laws of vectors of noise, outcome by outcome."""
    reach = math.ceil(9 * scale) + max(moves)
    z, chance = whole_noise("gaussian", scale, reach)
    moved = [np.exp(-(((z - d) / scale) ** 2) / 2) / np.exp(-((z / scale) ** 2) / 2).sum() for d in moves]
    p, q = np.ones(1), np.ones(1)
    for other in moved:
        p, q = np.multiply.outer(p, chance).ravel(), np.multiply.outer(q, other).ravel()
    return p, q


def hockey_stick(p, q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


# --- the exact law ---------------------------------------------------------------------------------------------------


@each("scale", [0.4, 1.0, 1.7])
@each("moves", [[1], [2], [1, 1], [1, 2], [3, 1]])
def test_the_exact_law_is_that_of_all_outcomes(moves, scale):
    p, q = brute(moves, scale)
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        told = exact_delta([(Counter(moves), scale)], epsilon)
        assert told == pytest.approx(hockey_stick(p, q, epsilon), rel=1e-9, abs=1e-17)
        assert told >= hockey_stick(p, q, epsilon) * (1 - 1e-12)


@each("moves", MOVES)
@each("scale", [1.3, 6.0])
@each("delta", [0.05, 1e-6, 1e-12])
def test_it_is_rounded_up_from_that_of_another_convolution(moves, scale, delta):
    other = discrete_gaussian_shift(moves, scale).epsilon(delta)
    told = exact_epsilon([(Counter(moves), scale)], delta)
    assert other * (1 - 1e-12) <= told
    if delta > 1e-10:  # the other law counts what it leaves out, 1e-20 a move, to delta
        assert told <= other * (1 + 1e-8) + 1e-8


def test_two_scales_are_all_outcomes_of_both():
    (p, q), (r, s) = brute([1, 1], 1.2), brute([3], 2.1)
    p, q = np.multiply.outer(p, r).ravel(), np.multiply.outer(q, s).ravel()
    for parts in (((1, 1), 1.2), ((3,), 2.1)), (((3,), 2.1), ((1, 1), 1.2)):
        for epsilon in (0.0, 0.5, 2.0, 4.0):
            told = exact_delta([(Counter(moves), scale) for moves, scale in parts], epsilon)
            assert hockey_stick(p, q, epsilon) * (1 - 1e-11) <= told
            assert told == pytest.approx(hockey_stick(p, q, epsilon), rel=1e-8)
    assert exact_epsilon([({1: 2}, 3.0), ({1: 3}, 3.0)], 1e-6) == pytest.approx(exact_epsilon([({1: 5}, 3.0)], 1e-6))


def test_a_number_that_moves_by_less_loses_less():
    for scale, epsilon in product((0.5, 1.3), (0.0, 0.4, 2.0)):
        told = {moves: exact_delta([(Counter(moves), scale)], epsilon) for moves in product(range(4), repeat=2)}
        for one, other in product(told, told):
            if np.less_equal(one, other).all():
                assert told[one] <= told[other] * (1 + 1e-9) + 1e-19


def test_what_is_too_long_or_too_rare_is_left_to_others():
    assert exact_delta([({1: 1}, LONGEST)], 0.0) == 1
    assert exact_epsilon([({1: 1}, LONGEST)], 1e-6) == exact_epsilon([({1: 1}, 0.01)], 1e-6) == math.inf
    assert exact_epsilon([({1: 1}, 2.0)], 1e-200) == math.inf
    assert exact_epsilon([({1: 1}, 2.0)], 0.9) == exact_epsilon([({}, 2.0)], 1e-6) == 0
    assert exact_epsilon([({0: 3}, 2.0)], 1e-6) == 0
    assert exact_epsilon([({1: 1}, 2.0)], math.nextafter(1e-100, 0.0)) == math.inf
    assert 10 < exact_epsilon([({1: 1}, 2.0)], 1e-100) < 11


def test_losses_of_either_part_are_told_up_to_twice_the_most_that_is_asked():
    """The steep one has losses up to 440 where draws as rare as 1e-31 count, and of 740 where those of 1e-111 do."""
    steep, flat = ({1: 1}, 0.058), ({1: 1}, 3.0)
    assert exact_delta([steep], 0.0) == 1  # and what is rounded up no more than that
    for parts in ([steep], [steep, flat], [flat, steep]):
        assert exact_delta(parts, 290.0, 1e-20) < 1e-30
        assert exact_delta(parts, 290.0, 1e-100) == 1


@each("moves", [{1: 1}, {1: 4}, {3: 2, 6: 1}])
def test_laws_are_told_up_to_the_longest_table(monkeypatch, moves):
    """What is convolved is as long as is said, but for a hundredth: neither more memory, nor less told."""
    lengths = []

    def seen(*given):
        lengths.append(len(law := convolved(*given)))
        return law

    convolved = discrete_gaussian._convolved
    monkeypatch.setattr(discrete_gaussian, "_convolved", seen)
    told = [exact_delta([(moves, scale)], 0.0) < 1 for scale in np.geomspace(10, 500, 400)]
    assert 0 < sum(told) == len(lengths) < len(told)
    assert 0.99 * 2048 < max(lengths) <= 2048 == LONGEST
    assert told == sorted(told, reverse=True)


# --- smoothing -------------------------------------------------------------------------------------------------------


@each("moves", MOVES)
@each("delta", [0.05, 1e-6, 1e-12])
def test_smoothing_is_above_the_exact_loss_and_near_that_on_the_line(moves, delta):
    l2 = math.hypot(*moves)
    before = math.inf
    for scale in (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0, 9.0):
        told = smoothed_epsilon([Answers(l2, scale, len(moves))], delta)
        exact = exact_epsilon([(Counter(moves), scale)], delta)
        assert told >= exact or exact == math.inf
        assert told <= before
        before = told
        if scale >= 4:
            assert told < gaussian_epsilon(l2, scale * (1 - 0.6 / scale**2), delta) + 1e-3


def test_smoothing_of_many_scales_is_that_of_one():
    one = smoothed_epsilon([Answers(math.sqrt(5), 7.0, 5)], 1e-6)
    two = smoothed_epsilon([Answers(math.sqrt(2), 7.0, 2), Answers(math.sqrt(3), 7.0, 3)], 1e-6)
    assert two == pytest.approx(one, rel=2e-3)
    mixed = [({1: 2}, 3.0), ({2: 3}, 5.0)]
    told = smoothed_epsilon([Answers(math.sqrt(2), 3.0, 2), Answers(math.sqrt(12), 5.0, 3)], 1e-6)
    assert exact_epsilon(mixed, 1e-6) < told < exact_epsilon(mixed, 1e-6) * 1.1


def test_smoothing_knows_where_it_ends():
    # what does not move loses nothing, whatever is seen of it
    assert smoothed_epsilon([Answers(0.0, 3.0, 4)], 1e-6, folded=0.6) == smoothed_epsilon([], 1e-6, folded=0.6) == 0
    assert smoothed_epsilon([Answers(1.0, 0.1, 1)], 1e-6) == math.inf
    assert smoothed_epsilon([Answers(1.0, 8.0, 1)], 1e-300) == math.inf
    assert smoothed_epsilon([Answers(1.0, 8.0, 1)], 1e-6, folded=0.1) == math.inf
    assert smoothed_epsilon([Answers(0.0, 8.0, 1)], 1e-6) == smoothed_epsilon([], 1e-6) == 0
    for scale in (1e100, 1e15):
        assert 0 <= smoothed_epsilon([Answers(1.0, scale, 3)], 1e-6) < 1e-40


@each("scale", [0.3, 0.45, 0.6, 0.9, 1.0, 1.5, 2.0, 5.0, 80.0, 1e6])
@each("numbers", [1, 12, 10**6])
def test_smoothing_is_the_theorem_written_again(scale, numbers):
    """With all digits: also that nothing is told where t^2 is not in (0, s^2), or where H is one half or more.

    A slip at the first of these makes the root of a negative number, or less of an epsilon where there are two parts.
    """
    delta, beside = 1e-5, Answers(1.0, 40.0, 3)
    for l2 in (1e-140, 1e-3, 1.0, *(share * scale**3 for share in (4.0, 6.0, 7.0, 12.0, 1000.0))):
        square, power = mpmath.mpf(0), mpmath.mpf(1)
        known = True
        for far, s, n in ((l2, scale, numbers), beside):
            t2 = mpmath.log(32 * n * mpmath.mpf(s) ** 3 / far) / (2 * mpmath.pi**2)
            if not 0 < t2 < mpmath.mpf(s) ** 2:
                known = False
                break
            q = mpmath.exp(-2 * mpmath.pi**2 * t2)
            power *= (1 + 2 * q / (1 - q**3)) ** n
            square += mpmath.mpf(far) ** 2 / (mpmath.mpf(s) ** 2 - t2)
        told = smoothed_epsilon([Answers(l2, scale, numbers), beside], delta)
        if not known or power >= 1.5:
            assert told == math.inf, l2
            continue
        ratio = float(mpmath.log(power) - mpmath.log(2 - power))
        wanted = gaussian_epsilon(float(mpmath.sqrt(square)), 1.0, delta / float(power)) + ratio
        assert told == pytest.approx(wanted, rel=1e-7), l2


@each("scale", [2.0, 7.0, 300.0])
@each("numbers", [1, 4, 50])
@each("folded", [0.6, math.inf])
def test_every_step_of_smoothing_is_rounded_to_the_safe_side(scale, numbers, folded, monkeypatch):
    """Distance and ratio up, delta down, each by a share of 1e-12 or so: catches `/ _UP` for `* _UP`."""
    asked = []

    def line(l2, one, delta):
        asked.append((l2, one, delta))
        return 0.25

    monkeypatch.setattr(discrete_gaussian, "gaussian_epsilon", line)
    l2, delta = math.sqrt(numbers), 1e-6
    told = smoothed_epsilon([Answers(l2, scale, numbers)], delta, folded=folded)
    with mpmath.workdps(50):
        s, far = mpmath.mpf(scale), mpmath.mpf(l2)
        t2 = mpmath.log(32 * numbers * s**3 / far) / (2 * mpmath.pi**2)
        q, p = mpmath.exp(-2 * mpmath.pi**2 * t2), mpmath.exp(-2 * mpmath.pi**2 * mpmath.mpf(folded) ** 2)
        power, once = (1 + 2 * q / (1 - q**3)) ** numbers, 1 + 2 * p / (1 - p**3)
        ratio = mpmath.log(power * once / ((2 - power) * (2 - once)))
        more = 1 + mpmath.mpf(5e-12)
        assert far / mpmath.sqrt(s * s - t2) < asked[0][0] < far / mpmath.sqrt(s * s - t2) * more
        assert delta / (power * once) / more < asked[0][2] < delta / (power * once)
        assert 0.25 + ratio < told < (0.25 + ratio) * more
    assert asked[0][1] == 1


@each("t", [0.3, 0.45, 0.7])
def test_the_sum_over_a_grid_is_as_even_as_is_said(t):
    sums = [np.exp(-(((np.arange(-40, 41) - y) / t) ** 2) / 2).sum() for y in np.linspace(0, 1, 101)]
    off = np.abs(np.array(sums) / (math.sqrt(2 * math.pi) * t) - 1).max()
    told = discrete_gaussian._unevenness(t * t)
    assert off <= told * (1 + 1e-9) + 1e-15
    assert told < 1.1 * off


@each("square", [*np.geomspace(1e-4, 30, 60)])
def test_how_uneven_a_sum_over_a_grid_is_is_rounded_up(square):
    """By a share of 1e-12, and of what the bound 2 q / (1 - q^3) is above the sum 2 (q + q^4 + q^9 + ...)."""
    told = discrete_gaussian._unevenness(float(square))
    with mpmath.workdps(50):
        q = mpmath.exp(-2 * mpmath.pi**2 * mpmath.mpf(float(square)))
        assert mpmath.jtheta(3, 0, q) - 1 <= told <= 2 * q / (1 - q**3) * (1 + 2e-12)


@each("folded", [0.45, 0.6, 1.0])
def test_what_is_seen_of_differences_loses_twice_how_uneven_a_line_is(folded):
    """Chances of a class lie within 1 -+ h of those on the line: h in delta, (1 + h) / (1 - h) in ratios."""
    h = discrete_gaussian._unevenness(folded * folded)
    parts, delta = [Answers(3.0, 8.0, 6)], 1e-5
    wanted = smoothed_epsilon(parts, delta / (1 + h)) + math.log1p(h) - math.log1p(-h)
    assert smoothed_epsilon(parts, delta, folded=folded) == pytest.approx(wanted, rel=1e-9)


# --- what is promised ------------------------------------------------------------------------------------------------


def all_rankings(m):
    return [Rankings([list(places)], [*"abcdef"[:m]]) for places in permutations(range(m))]


@each("adjacency", ADJACENCIES)
@each("kind", [NoisyMatrix, PrivateBorda])
@each("epsilon", [0.5, 3.0])
def test_no_neighbours_lose_more_than_is_promised(kind, adjacency, epsilon):
    delta, m = 1e-4, 3
    made = kind.calibrated(epsilon=epsilon, delta=delta, n_items=m, adjacency=adjacency)
    none = Rankings(np.empty((0, m), int), [*"abc"])
    pairs = product(all_rankings(m), all_rankings(m) if adjacency == "replace" else [none])
    losses = [exact_law(made, data, other).epsilon(delta) for data, other in pairs]
    assert 0.999 * epsilon < max(losses) <= made.guarantee.epsilon * (1 + 1e-9) <= epsilon * (1 + 1e-9)
    louder = kind(m, made.scale * 0.99, "gaussian", delta=delta, adjacency=adjacency)
    assert louder.guarantee.epsilon > epsilon


def law_of_differences(z, chance, m, centre):
    """Of a noisy vector, up to common shifts of all: probabilities of the differences to the first number."""
    grid = np.stack(np.meshgrid(*[np.arange(len(z))] * m, indexing="ij")).reshape(m, -1)
    differences = z[grid] + np.array(centre)[:, None]
    differences = differences[1:] - differences[0]
    width = 4 * (len(z) + m)
    keys = ((differences + width // 2) * width ** np.arange(m - 1)[:, None]).sum(axis=0)
    return keys, chance[grid].prod(axis=0)


@each("m, scale, delta", [(2, 0.8, 1e-3), (2, 1.5, 1e-6), (2, 3.0, 1e-6), (4, 1.3, 1e-3), (4, 2.0, 1e-4)])
def test_borda_with_a_middle_between_two_places_sum_by_sum(m, scale, delta):
    """All differences of noisy sums, without a ranking and with it: the promise needs no whole shift."""
    z, chance = whole_noise("gaussian", scale, math.ceil(5 * scale))
    keys, p = law_of_differences(z, chance, m, [0] * m)
    moved, q = law_of_differences(z, chance, m, list(range(m)))
    _, where = np.unique(np.r_[keys, moved], return_inverse=True)
    p, q = np.bincount(where[: len(p)], p, where.max() + 1), np.bincount(where[len(p) :], q, where.max() + 1)
    exact = pair_of(p, q).epsilon(delta)
    made = PrivateBorda(m, scale, "gaussian", delta=delta, adjacency="add_remove")
    assert exact <= made.guarantee.epsilon
    if scale >= 1.5:
        assert made.guarantee.epsilon < 1.13 * exact


@pytest.mark.parametrize("m", [2, 3, 4])
def test_borda_knows_the_worst_rankings(m):
    made = PrivateBorda(m, 2.0, "gaussian", delta=1e-5)
    places = np.array(list(permutations(range(m))))
    losses = {
        moves: exact_epsilon([(Counter(moves), 2.0)], 1e-5)
        for moves in {tuple(sorted(np.abs(other - places[0]).tolist())) for other in places}
    }
    assert made.guarantee.epsilon == max(losses.values())


@each("adjacency", ADJACENCIES)
@each("m", [2, 3, 5, 10])
@each("delta", [1e-3, 1e-6])
def test_noise_is_that_on_the_line(m, adjacency, delta):
    for kind in (NoisyMatrix, PrivateBorda, PrivateKwikSort):
        keys = {"epsilon": 0.5, "delta": delta, "n_items": m, "adjacency": adjacency}
        made, line = kind.calibrated(**keys), kind.calibrated(**keys, law="continuous")
        assert made.guarantee.epsilon <= 0.5
        assert 0.997 < made.scale / line.scale < (1.03 if kind is PrivateBorda and m == 2 else 1.004)


def test_the_concentrated_route_is_left_where_it_is_worse_and_kept_where_it_is_better():
    made = NoisyMatrix.calibrated(epsilon=1.0, delta=1e-3, n_items=4)
    assert zcdp(made.rho, made.delta) > 1.1
    steep = NoisyMatrix(2, 0.05, "gaussian", delta=1e-6)  # losses in the hundreds
    assert steep.guarantee.epsilon == zcdp(steep.rho, 1e-6)
    rare = NoisyMatrix(2, 2.0, "gaussian", delta=1e-299)
    assert rare.guarantee.epsilon <= zcdp(rare.rho, 1e-299)


def test_more_noise_never_promises_less():
    for kind, m in ((NoisyMatrix, 3), (PrivateBorda, 4), (PrivateBorda, 8)):
        scales = np.geomspace(0.5, 50, 60)
        told = [kind(m, s, "gaussian", delta=1e-6).guarantee.epsilon for s in scales]
        assert (np.diff(told) <= 0).all()


# --- twins with a slip -----------------------------------------------------------------------------------------------


def on_the_line(parts, delta, folded=math.inf):
    """Noise on the grid taken for noise on the line."""
    return gaussian_epsilon(math.sqrt(sum((l2 / scale) ** 2 for l2, scale, _ in parts)), 1.0, delta)


def test_noise_on_the_grid_is_not_noise_on_the_line():
    def faults(told):
        cases = product((1, 2, 3), np.geomspace(0.4, 3, 40), (1e-2, 1e-4))
        return [
            (n, scale, delta)
            for n, scale, delta in cases
            if told([Answers(math.sqrt(n), scale, n)], delta) < discrete_gaussian_shift([1] * n, scale).epsilon(delta)
        ]

    assert not faults(smoothed_epsilon)
    assert faults(on_the_line)


def test_the_law_of_a_slip_is_not_that_of_all_outcomes():
    right = exact_delta([({1: 2}, 1.0)], 0.5)
    assert exact_delta([({2: 1}, 1.0)], 0.5) != pytest.approx(right, rel=1e-2)  # one number, twice as far
    assert exact_delta([({1: 2}, 1.05)], 0.5) < right * 0.99  # a twentieth more noise
    assert gaussian_delta(math.sqrt(2), 1.0, 0.5) != pytest.approx(right, rel=1e-3)  # on the line


@each("adjacency", ADJACENCIES)
@each("kind", [NoisyMatrix, PrivateBorda])
def test_the_audit_sees_a_hundredth_of_the_noise_missing(kind, adjacency):
    made = kind.calibrated(epsilon=1.0, delta=1e-4, n_items=3, adjacency=adjacency)
    data = Rankings([[0, 1, 2]], [*"abc"])
    other = Rankings([[2, 1, 0]] if adjacency == "replace" else np.empty((0, 3), int), [*"abc"])
    cheap = kind(3, made.scale * 0.99, "gaussian", delta=1e-4, adjacency=adjacency)
    assert exact_law(made, data, other).epsilon(1e-4) <= made.guarantee.epsilon
    assert exact_law(cheap, data, other).epsilon(1e-4) > made.guarantee.epsilon
