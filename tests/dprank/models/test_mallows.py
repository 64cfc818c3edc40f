"""Exact against integers, decimals and enumeration; samples at fixed seeds. ALARM: the chance that a seed was unlucky,
and the level at which every mutant must be caught."""

import math
from decimal import Decimal, getcontext
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused
from prefsampling.ordinal import mallows as prefsampling_mallows
from scipy import stats

from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows, _log_characteristic, _mean_deviation, theta_at
from dprank.privacy.noise import SECURE

ALARM = 1e-6
THETAS = [0.0, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 1.0, 5.0, 50.0, 400.0]
getcontext().prec = 80


@cache
def mahonian(m):
    """How many rankings of m items stand at each distance from one."""
    counts = [1]
    for j in range(2, m + 1):
        sums = [0, *accumulate(counts), *[sum(counts)] * (j - 1)]
        counts = [sums[d + 1] - sums[max(d + 1 - j, 0)] for d in range(len(counts) + j - 1)]
    return counts


@cache
def decimal_law(m, theta):
    phi, weights, power = (-Decimal(theta)).exp(), [], Decimal(1)
    for count in mahonian(m):
        weights.append(count * power)
        power *= phi
    total = sum(weights)
    return [w / total for w in weights], total


def decimal_overlap(m, theta):
    return sum(map(min, decimal_law(m, theta)[0], decimal_law(m, 0.0)[0]))


# --- the law of the distance ------------------------------------------------------------------------------------------


@each("m", [2, 3, 7, 60])
@each("theta", THETAS)
@pytest.mark.slow
def test_distance_law_is_that_of_exact_integers(m, theta):
    law = Mallows(m, theta)
    p, total = decimal_law(m, theta)
    mean = sum(d * x for d, x in enumerate(p))
    variance = sum((d - mean) ** 2 * x for d, x in enumerate(p))
    assert law.distance_moments() == pytest.approx((float(mean), float(variance)), rel=1e-13)
    cdf = law.distance_cdf(np.arange(-1, len(p) + 1))
    np.testing.assert_allclose(cdf, [0, *map(float, accumulate(p)), 1], rtol=0, atol=1e-12)
    assert (cdf[0], cdf[-2], cdf[-1]) == (0, 1, 1)
    assert law.log_normaliser == pytest.approx(float(total.ln()), rel=1e-13, abs=1e-18)
    overlap = decimal_overlap(m, theta)
    assert law.total_variation() == pytest.approx(float(1 - overlap), abs=1e-12)
    assert law.log_overlap() == pytest.approx(float(overlap.ln()), abs=2e-12)


def test_moments_of_many_items():
    m = 3000
    for theta in [1e-9, 1e-7, 3e-4, 6e-4, 1e-3, 0.01, 0.029, 0.031, 0.4, 3.0, 30.0]:
        phi = (-Decimal(theta)).exp()
        mean, variance, power = Decimal(0), Decimal(0), Decimal(1)
        for j in range(1, m + 1):
            power *= phi
            mean += phi / (1 - phi) - j * power / (1 - power)
            variance += phi / (1 - phi) ** 2 - j * j * power / (1 - power) ** 2
        assert Mallows(m, theta).distance_moments() == pytest.approx((float(mean), float(variance)), rel=1e-13)
    assert Mallows(m, 0.0).distance_moments() == pytest.approx(
        (m * (m - 1) / 4, m * (m - 1) * (2 * m + 5) / 72), rel=1e-14
    )


def product(m, theta, t):
    """The characteristic function, factor by factor."""
    j = np.arange(1, m + 1)[:, None]
    size = j if theta == 0 else np.expm1(-theta * j)
    factors = np.expm1((1j * t - theta) * j) / size
    return (factors / factors[0]).prod(axis=0)


@pytest.mark.parametrize("m", [140, 180])
@pytest.mark.slow
def test_whole_law_by_fourier_transform_of_the_product(m):
    n = m * (m - 1) // 2 + 1
    t, law_of = 2 * np.pi * np.arange(1, n // 2 + 1) / n, {}
    for theta in [0.0, 1e-9, 1e-4, 0.006, 0.02, 0.03, 0.05, 0.7] if m == 180 else [0.0, 1e-4, 0.02, 0.7]:
        wave = np.concatenate([[1], product(m, theta, t)])
        cdf = np.fft.irfft(wave.conj(), n).cumsum()
        law = Mallows(m, theta)
        np.testing.assert_allclose(law.distance_cdf(np.arange(n)), cdf, rtol=0, atol=2e-12)
        law_of[theta] = np.diff(cdf, prepend=0)
        apart = np.abs(law_of[theta] - law_of[0.0]).sum() / 2
        assert law.total_variation() == pytest.approx(apart, abs=2e-12)


@pytest.mark.parametrize("m", [150, 151, 300, 1300, 6000])
def test_few_nodes_are_as_good_as_all_factors(m):
    for theta in [0.0, 1e-9, 1e-5, 1e-4, 1e-3, 4e-3, 0.01, 0.029, 0.031, 0.2, 4.0]:
        t = np.array([0.01, 0.3, 1, 3, 6, 9]) / max(math.sqrt(Mallows(m, theta).distance_moments()[1]), 3)
        log, angle = _log_characteristic(m, theta, t)
        np.testing.assert_allclose(np.exp(log + 1j * angle), product(m, theta, t), rtol=0, atol=1e-14 * m)


def test_left_out_frequencies_do_not_matter():
    """The two bounds that the cut-off rests on: factors fall in the first lobe and never exceed 1."""
    t = np.linspace(0, np.pi, 4001)[1:]
    for m in (2, 3, 10, 41):
        for theta in [0.0, 1e-3, 0.1, 1.0, 4.0]:
            j = np.arange(1, m + 1)[:, None]
            size = j if theta == 0 else np.expm1(-theta * j)
            factors = np.abs(np.expm1((1j * t - theta) * j) / size)
            factors /= factors[0]
            assert (factors <= 1 + 1e-12).all()
            inside = (t < 2 * np.pi / m)[1:]
            assert (np.diff(factors, axis=1)[:, inside] <= 1e-12).all()


def test_cdf_takes_any_shape_and_real_numbers():
    law = Mallows(5, 0.4)
    d = np.array([[0.0, 2.5, -1.0], [10.0, 1e300, -np.inf]])
    cdf = law.distance_cdf(d)
    assert cdf.shape == d.shape
    assert cdf[0, 1] == pytest.approx(law.distance_cdf(2), abs=1e-14)
    assert (cdf[0, 2], *cdf[1]) == (0, 1, 1, 0)
    assert law.distance_cdf(3).shape == ()
    assert law.distance_cdf([]).shape == (0,)
    assert Mallows(5, math.inf).distance_cdf([-1, 0, 1]).tolist() == [0, 1, 1]


# --- distance from uniform --------------------------------------------------------------------------------------------


@each("m", [2, 3, 10, 40, 60])
@each("epsilon", [1e-6, 0.01, 0.3, 0.5, 0.8, 0.99, 1 - 1e-6])
@pytest.mark.slow
def test_theta_at_undoes_exact_total_variation(m, epsilon):
    epsilon *= 1 - 1 / math.factorial(m)
    exact = 1 - decimal_overlap(m, theta_at(m, epsilon))
    assert float(exact) == pytest.approx(epsilon, abs=1e-12)
    assert float(1 - exact) == pytest.approx(1 - epsilon, rel=1e-9)


@each("m", [2, 3, 4, 5, 10, 40, 60])
@each("epsilon", [5e-10, 1e-12, 1e-16, 1e-300])
def test_theta_at_the_smallest_distances(m, epsilon):
    exact = 1 - decimal_overlap(m, theta_at(m, epsilon)) if epsilon > 1e-20 else theta_at(m, epsilon) * slope(m)
    assert float(exact) == pytest.approx(epsilon, rel=1e-9, abs=0)


def slope(m):
    counts = mahonian(m)
    return sum(c * abs(2 * d - len(counts) + 1) for d, c in enumerate(counts)) / sum(counts) / 4


@each("m", [2, 3, 4, 5, 30, 31, 150])
def test_mean_deviation_is_that_of_exact_integers(m):
    assert _mean_deviation(m) == pytest.approx(2 * slope(m), rel=2e-12)


@pytest.mark.parametrize("m", [100, 10_000, 1_000_000])
@pytest.mark.slow
def test_the_ends_of_theta_at_join_the_middle(m):
    assert theta_at(m, 9.999e-10) == pytest.approx(0.9999 * theta_at(m, 1e-9), rel=1e-4)
    assert theta_at(m, 1e-300) * m**1.5 == pytest.approx(12e-300 * math.sqrt(math.pi / 2), rel=5 / m, abs=0)
    for epsilon in (1 - 1e-15, 1 - 1e-16):
        assert Mallows(m, theta_at(m, epsilon)).log_overlap() == pytest.approx(math.log1p(-epsilon), rel=1e-12)
    assert theta_at(m, 1 - 1e-16) > theta_at(m, 1 - 1e-15) > theta_at(m, 1 - 1e-9)


@pytest.mark.slow
def test_overlap_far_beyond_floating_point():
    m = 160
    for theta in [8 / m, 0.3, 2.0, 40.0]:
        assert Mallows(m, theta).log_overlap() == pytest.approx(float(decimal_overlap(m, theta).ln()), rel=1e-12)
    assert Mallows(m, math.inf).log_overlap() == -math.lgamma(m + 1)


@pytest.mark.parametrize("m", [1000, 10_000, 1_000_000])
def test_many_items_near_the_normal_limit(m):
    """theta m^1.5 / 12 tends to the normal quantile of (1 + epsilon) / 2; the next term is of order 1 / m."""
    for epsilon in [1e-3, 0.1, 0.5, 0.9]:
        theta = theta_at(m, epsilon)
        assert theta * m**1.5 == pytest.approx(12 * stats.norm.ppf((1 + epsilon) / 2), rel=5 / m)
        assert Mallows(m, theta).total_variation() == pytest.approx(epsilon, abs=1e-11)
        assert math.exp(Mallows(m, theta).log_overlap()) == pytest.approx(1 - epsilon, abs=1e-11)


def test_endpoints_of_total_variation():
    assert Mallows(4, 0.0).total_variation() == 0 == Mallows(4, 0.0).log_overlap()
    assert Mallows(4, math.inf).total_variation() == pytest.approx(1 - 1 / 24, rel=1e-15)
    grid = [Mallows(30, t).total_variation() for t in np.geomspace(1e-7, 30, 60)]
    assert (np.diff(grid) >= -1e-13).all()


# --- two items --------------------------------------------------------------------------------------------------------


@each("m", [2, 4, 6])
@each("theta", [*THETAS, math.inf])
def test_order_of_two_items_by_enumeration(m, theta):
    rankings = all_rankings(m)
    weights = np.exp(-min(theta, 1e4) * kendall_distances(rankings, np.arange(m)))
    law = Mallows(m, theta)
    for i in range(m):
        for j in range(i + 1, m):
            first = weights @ (rankings[:, i] < rankings[:, j]) / weights.sum()
            assert law.before(j - i) == pytest.approx(first, abs=1e-14)
            assert law.bias(j - i) == pytest.approx(2 * first - 1, abs=1e-14)


def test_bias_of_any_size():
    def coth(x):
        return ((2 * x).exp() + 1) / ((2 * x).exp() - 1)

    for gap in [1, 2, 30, 999_999]:
        for angle in np.geomspace(1e-12, 1e4, 33):
            theta = angle / gap
            half = Decimal(theta) / 2
            exact = (gap + 1) * coth((gap + 1) * half) - gap * coth(gap * half)
            law = Mallows(1_000_000, theta)
            assert law.bias(gap) == pytest.approx(float(exact), rel=1e-13), (gap, angle)
            assert law.bias(-gap) == -law.bias(gap)
    assert Mallows(3, 0.7).bias([[0, 1, 2]]).shape == (1, 3)
    assert Mallows(3, 0.7).bias(0) == 0


# --- samples ----------------------------------------------------------------------------------------------------------


def codes_of(m, theta, u):
    """How many of the items before it an item falls behind: exact inverse of the truncated geometric law."""
    c, x = np.arange(m - 1, -1, -1), u.astype(np.longdouble)
    if theta == 0:
        return (x * (c + 1)).astype(int)
    if math.isinf(theta):
        return np.zeros(u.shape, int)
    behind = -np.log1p(x * np.expm1(-np.longdouble(theta) * (c + 1))) / np.longdouble(theta)
    return np.minimum(behind.astype(int), c)


def decode(codes):
    """Positions from codes, the last item's first, by hand."""
    rows = np.empty(codes.shape, int)
    for row, code in zip(rows, codes, strict=True):
        free = list(range(len(row)))
        for k, behind in enumerate(code):
            row[len(row) - 1 - k] = free.pop(len(free) - 1 - behind)
    return rows


@each("m", [2, 3, 63, 64, 65, 127, 128, 129, 1000, 4097])
@each("theta", [0.0, 1e-9, 1e-4, 0.02, 3.0, 1e3, math.inf])
def test_samples_follow_the_documented_draws(m, theta):
    size = 6 if m < 1000 else 5
    rows = Mallows(m, theta).sample(size, rng=np.random.default_rng(m))
    expected = decode(codes_of(m, theta, np.random.default_rng(m).random((size, m))))
    assert rows.dtype == np.int32
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.slow
def test_samples_do_not_depend_on_the_last_bits_of_a_logarithm(monkeypatch):
    """numpy has a logarithm for each kind of processor; a far worse one gives the same rankings."""
    law, size = Mallows(1000, 1e-3), 8000
    expected = law.sample(size, rng=np.random.default_rng(3))
    exact = np.log1p
    monkeypatch.setattr(np, "log1p", lambda x: exact(x) * (1 + 1e-9))
    np.testing.assert_array_equal(law.sample(size, rng=np.random.default_rng(3)), expected)


def law_check(rows, theta, centre):
    """Chi-square p-value of samples against the enumerated law."""
    m = len(centre)
    rankings, radix = all_rankings(m), m ** np.arange(m)
    law = np.exp(-theta * kendall_distances(rankings, centre))
    keys = rankings @ radix
    order = np.argsort(keys)
    index = order[np.searchsorted(keys[order], rows @ radix)]
    return law_p_value(np.bincount(index, minlength=len(keys)), law / law.sum())


@each("m", [2, 3, 4, 5, 6, 7])
@each("theta", [0.0, 1e-9, 0.05, 0.4, 1.5])
@pytest.mark.slow
def test_samples_have_the_law_around_any_centre(m, theta):
    rng = np.random.default_rng(100 * m + int(10 * theta))
    centre = rng.permutation(m)
    assert law_check(Mallows(m, theta).sample(100_000, rng=rng, centre=centre), theta, centre) > ALARM


@pytest.mark.slow
def test_the_check_catches_mutants():
    m, theta, rng = 5, 0.4, np.random.default_rng(0)
    centre, c = np.arange(m), np.arange(m - 1, -1, -1)
    codes = codes_of(m, theta, rng.random((50_000, m)))
    assert law_check(decode(codes), theta, centre) > ALARM
    mutants = {
        "off by one": np.minimum(codes + 1, c),
        "1 / phi": c - codes,
        "truncation by clipping": np.minimum(rng.geometric(-math.expm1(-theta), codes.shape) - 1, c),
    }
    for name, wrong in mutants.items():
        assert law_check(decode(wrong), theta, centre) < ALARM, name
    # positions and orders mistaken for each other: only a centre that is not its own inverse shows it
    centre = np.array([2, 0, 1, 4, 3])
    rows = Mallows(m, theta).sample(50_000, rng=rng, centre=np.argsort(centre))
    assert law_check(rows, theta, centre) < ALARM


@pytest.mark.slow
def test_prefsampling_has_the_same_law():
    theta, centre = 0.4, np.array([2, 0, 3, 1])
    # a theta of a quarter more or less is denied by 99 of 100 samples of this size
    orders = prefsampling_mallows(5_000, 4, math.exp(-theta), central_vote=np.argsort(centre), seed=5)
    theirs = np.argsort(np.array(orders, int), axis=1)
    ours = Mallows(4, theta).sample(5_000, rng=np.random.default_rng(6), centre=centre)
    assert law_check(theirs, theta, centre) > ALARM
    counts = [np.bincount(rows @ 4 ** np.arange(4), minlength=256) for rows in (ours, theirs)]
    seen = np.sum(counts, axis=0) > 0
    assert stats.chi2_contingency(np.array(counts)[:, seen]).pvalue > ALARM


def test_samples_around_a_centre_each():
    rng = np.random.default_rng(3)
    centres = np.array([rng.permutation(70) for _ in range(9)])
    rows = Mallows(70, 0.1).sample(9, rng=np.random.default_rng(4), centre=centres)
    plain = Mallows(70, 0.1).sample(9, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(rows, np.take_along_axis(plain, centres, axis=1))
    np.testing.assert_array_equal(Mallows(70, math.inf).sample(9, rng=rng, centre=centres), centres)
    assert Mallows(70, 0.1).sample(0, rng=rng).shape == (0, 70)


@pytest.mark.parametrize("gap", [1e-9, 1e-4, 0.3])
def test_distances_of_long_samples(gap):
    """By the exact law of their distance, at as many items as the paper has."""
    law = Mallows.of_gap(10_000, gap)
    distances = kendall_distances(law.sample(60, rng=np.random.default_rng(8)), np.arange(10_000))
    assert stats.kstest(law.distance_cdf(distances), "uniform").pvalue > ALARM
    if gap > 1e-9:
        assert stats.kstest(Mallows(10_000, 0.0).distance_cdf(distances), "uniform").pvalue < ALARM


# --- bad input --------------------------------------------------------------------------------------------------------


@each(
    ("call", "words"),
    [
        (lambda: Mallows(1, 0.5), ["n_items = 1", "at least 2"]),
        (lambda: Mallows(2.0, 0.5), ["n_items = 2.0", "integer"]),
        (lambda: Mallows(True, 0.5), ["n_items = True"]),
        (lambda: Mallows(3, -0.1), ["theta = -0.1", "at least 0"]),
        (lambda: Mallows(3, math.nan), ["theta = nan"]),
        (lambda: Mallows.of_phi(3, 1.1), ["phi = 1.1", "[0, 1]"]),
        (lambda: Mallows.of_phi(3, math.nan), ["phi = nan"]),
        (lambda: Mallows.of_gap(3, -1e-9), ["gap = -1e-09", "[0, 1]"]),
        (lambda: Mallows(3, 0.1).distance_cdf([0, math.nan]), ["distances", "nan"]),
        (lambda: theta_at(3, 0.0), ["epsilon = 0.0", "1 - 1/3!"]),
        (lambda: theta_at(3, 5 / 6), ["epsilon = 0.8333", "1 - 1/3!"]),
        (lambda: theta_at(3, math.nan), ["epsilon = nan"]),
        (lambda: theta_at(3, "0.1"), ["epsilon = '0.1'", "above 0"]),
        (lambda: theta_at(3, None), ["epsilon = None", "above 0"]),
        (lambda: theta_at(3, np.array([0.1])), ["epsilon", "above 0"]),
        (lambda: theta_at(100, 1.0), ["epsilon = 1.0", "below 1 - 1/100!"]),
        (lambda: theta_at(2, 1 - 1e-16), ["epsilon = 0.9999999999999999", "1 - 1/2! = 0.4999"]),
        *(
            (lambda make=make, wrong=wrong: make(3, wrong), [name])
            for name, make in [("theta", Mallows), ("phi", Mallows.of_phi), ("gap", Mallows.of_gap)]
            for wrong in ["0.5", None, True, np.True_, [0.5], np.full((2, 2), 0.5), 0.5j]
        ),
        *(
            (lambda wrong=wrong, ask=ask: getattr(Mallows(3, 0.1), ask)(wrong), ["gap = ", "finite"])
            for ask in ("bias", "before")
            for wrong in [math.nan, math.inf, [1, -math.inf], "1", None, ["1", "2"], True, np.full((9, 9), math.nan)]
        ),
        (lambda: Mallows(3, math.inf).bias(math.nan), ["gap = nan"]),
        (lambda: Mallows(np.ones((9, 9)), 0.1), ["n_items"]),
        *(
            (lambda rng=rng: Mallows(3, 0.1).sample(3, rng=rng), ["rng = ", "a numpy.random.Generator is needed"])
            for rng in (None, 7, SECURE, np.random.RandomState(0), np.random)
        ),
        (lambda: sample(None), ["size = None"]),
        (lambda: sample("3"), ["size = '3'"]),
        (lambda: sample(True), ["size = True"]),
        (lambda: sample(np.ones((9, 9))), ["size"]),
        (lambda: theta_at(1, 0.5), ["n_items = 1"]),
        (lambda: sample(-1), ["size = -1", "whole number"]),
        (lambda: sample(2.0), ["size = 2.0"]),
        (lambda: sample(2, [0, 1]), ["centre has shape (1, 2)", "(3,)"]),
        (lambda: sample(3, [[0, 1, 2], [0, 1, 2]]), ["centre has shape (2, 3)", "(3, 3)"]),
        (lambda: sample(2, [0, 1, 1]), ["centre[0]", "0 .. 2"]),
        (lambda: sample(2, [0.0, 1.0, 2.0]), ["centre", "float64", "integer"]),
    ],
)
def test_refuses(call, words):
    with refused(*words):
        call()


def sample(size, centre=None):
    return Mallows(3, 0.1).sample(size, rng=np.random.default_rng(0), centre=centre)


def test_spread_and_gap_name_the_same_law():
    assert Mallows.of_phi(4, 0.25).theta == Mallows.of_gap(4, 0.75).theta == pytest.approx(math.log(4), rel=1e-15)
    assert Mallows.of_gap(4, 1e-30).theta == 1e-30
    assert Mallows.of_phi(4, 0.0).theta == Mallows.of_gap(4, 1.0).theta == math.inf
    assert Mallows(4, math.inf).phi == 0
    assert Mallows(4, 0.1).n_pairs == 6
    assert Mallows(np.int32(100_000), 0.1).n_pairs == 4_999_950_000


def sum_law(m, n):
    one = np.ones(1)
    for j in range(2, m + 1):
        one = np.convolve(one, np.full(j, 1 / j))
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    return law


@each(("m", "n"), [(2, 1), (3, 1), (5, 1), (10, 1), (30, 1), (2, 50), (4, 3), (10, 99), (30, 20)])
def test_the_law_of_sums_of_uniform_distances_is_the_convolution(m, n):
    exact = np.r_[0, np.cumsum(sum_law(m, n)), 1]
    uniform = Mallows(m, 0.0)
    np.testing.assert_allclose(uniform.distance_cdf(np.arange(-1, len(exact) - 1), n), exact, atol=1e-12)
    assert uniform.distance_cdf(0.5, n) == uniform.distance_cdf(0, n)
    assert uniform.distance_cdf([[-1e9, 1e9]], n).tolist() == [[0, 1]]


@pytest.mark.parametrize(("m", "theta", "n"), [(2, 1.0, 30), (5, 0.4, 2), (5, 3.0, 7), (30, 0.05, 3), (30, 0.5, 40)])
def test_the_law_of_sums_of_distances_is_the_convolution(m, theta, n):
    law = Mallows(m, theta)
    one = np.diff(law.distance_cdf(np.arange(-1, law.n_pairs + 1)))
    total = np.ones(1)
    for _ in range(n):
        total = np.convolve(total, one)
    np.testing.assert_allclose(law.distance_cdf(np.arange(len(total)), n), np.cumsum(total), atol=1e-10)
    with refused("count = 0"):
        law.distance_cdf(0, 0)
