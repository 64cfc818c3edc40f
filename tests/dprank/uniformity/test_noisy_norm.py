"""Laws and losses exactly, over all sign data; ROUNDING is a float's. One statistical test, fixed seed: ALARM."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from checks import HARDLY, all_rankings, each, law_p_value, refused
from scipy import stats

from dprank._require import MOST_DRAWS
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.uniformity import noisy_norm
from dprank.uniformity.noisy_norm import NoisyNorm, _end
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import square_law, unif_null_sf

ROUNDING = 1e-9
ALARM = 1e-6
EPSILON = 1 / 3


def squares_of_all_data(pairs, k):
    """Squared norm of every sequence of k sign vectors, shape (2^pairs, 2^(pairs (k - 1))); rows are neighbours."""
    signs = np.array(list(product((-1, 1), repeat=pairs)))
    sums = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=k)])
    return (sums**2).sum(1).reshape(len(signs), -1)


def exact_loss(test, squares):
    """Exact privacy loss of the noisy norm: the log mass of discrete Laplace is piecewise linear."""
    steps = test.on_grid(squares)
    outcomes = np.arange(steps.min() - 3, steps.max() + 4)
    log = -np.abs(outcomes[:, None, None] - steps) / test.scale
    return float(np.ptp(log, axis=1).max())


@pytest.mark.parametrize(("pairs", "k"), [(1, 2), (1, 5), (2, 3), (2, 4), (3, 3)])
def test_null_law_is_that_of_all_data(pairs, k):
    values, law = square_law(pairs, k)
    found, count = np.unique(squares_of_all_data(pairs, k), return_counts=True)
    assert abs(law.sum() - 1) < ROUNDING
    assert np.abs(law[np.searchsorted(values, found)] - count / count.sum()).max() < ROUNDING


@pytest.mark.parametrize(("pairs", "k"), [(5, 10_000), (50, 999), (500, 1000)])
def test_null_moments(pairs, k):
    values, law = square_law(pairs, k)
    y = values / k
    assert law @ y == pytest.approx(pairs)
    assert law @ (y - pairs) ** 2 == pytest.approx(2 * pairs * (1 - 1 / k))


@each(("m", "k"), [(2, 2), (2, 6), (4, 2), (5, 3), (4, 5), (6, 3)])
@each("steps", [1, 3, 64])
def test_loss_on_all_data_is_the_guarantee(m, k, steps):
    test = NoisyNorm.calibrated(epsilon=EPSILON, n_items=m, n_voters=k, steps=steps)
    assert test.guarantee.epsilon <= EPSILON
    loss = exact_loss(test, squares_of_all_data(m // 2, k))
    assert loss <= test.guarantee.epsilon + ROUNDING
    # attained up to one step of the grid, when all agree and one is reversed
    assert loss >= EPSILON * (1 - 1 / steps) - ROUNDING


@pytest.mark.parametrize(("m", "k"), [(3, 2), (3, 3), (4, 2)])
def test_ranks_on_all_rankings(m, k):
    test = NoisyNorm.calibrated(epsilon=EPSILON, n_items=m, n_voters=k, statistic="ranks")
    rankings = all_rankings(m)
    data = rankings[np.array(list(product(range(len(rankings)), repeat=k)))]
    squares = test.squared_norm(data).reshape(len(rankings), -1)
    assert squares.max() == k * k * test.squared_sensitivity // 4
    norm = np.sqrt(squares)
    assert np.ptp(norm, axis=0).max() == pytest.approx(math.sqrt(test.squared_sensitivity))
    loss = exact_loss(test, squares)
    assert EPSILON * (1 - 1 / 64) <= loss <= test.guarantee.epsilon + ROUNDING


def test_mutants_break_the_guarantee():
    squares = squares_of_all_data(3, 3)
    right = NoisyNorm.calibrated(epsilon=EPSILON, n_items=6, n_voters=3)
    half = replace(right, scale=right.scale / 2)
    assert exact_loss(half, squares) > EPSILON * 1.5

    class OnePair(NoisyNorm):
        """Sensitivity of a single pair."""

        squared_sensitivity = 4

    class Nearest(NoisyNorm):
        """Rounds half to even: two numbers one step apart may become two steps apart."""

        def on_grid(self, squared):
            return np.round(np.sqrt(squared) * self.steps / math.sqrt(self.squared_sensitivity)).astype(int)

    assert exact_loss(OnePair(6, 3, right.scale), squares) > EPSILON * 1.5
    line = squares_of_all_data(1, 3)
    assert exact_loss(Nearest(2, 3, 1 / EPSILON, steps=1), line) > EPSILON * 1.5
    assert exact_loss(NoisyNorm(2, 3, 1 / EPSILON, steps=1), line) <= EPSILON + ROUNDING


@pytest.mark.parametrize(("m", "k"), [(2, 2), (5, 7), (10, 400), (101, 100)])
def test_threshold_is_the_least_of_its_size(m, k):
    test = NoisyNorm.calibrated(epsilon=EPSILON, n_items=m, n_voters=k)
    c = test.threshold()
    assert type(c) is int
    assert test.p_value(c) <= test.size < test.p_value(c - 1)
    values, law = square_law(m // 2, k)
    size = law @ test.noise_sf(c - test.on_grid(values))
    assert size == pytest.approx(test.p_value(c), abs=ROUNDING)


def test_noise_tail_is_that_of_the_noise():
    test = NoisyNorm(2, 2, 3.0)
    j = np.arange(-30, 31)
    mass = math.tanh(1 / 6) * np.exp(-np.abs(j) / 3)
    assert np.abs(test.noise_sf(j) - test.noise_sf(j + 1) - mass).max() < ROUNDING
    assert replace(test, scale=HARDLY).noise_sf([0, 1]).tolist() == [1, 0]


def test_grid_by_integers_and_by_floats_agree():
    test = NoisyNorm(10, 1000, 1.0)
    squares = np.arange(0, 5_000_000, 997)
    small, large = test.on_grid(squares), test.on_grid(squares.astype(object))
    assert (small == large).all()
    assert (small**2 * test.squared_sensitivity <= squares * test.steps**2).all()
    assert ((small + 1) ** 2 * test.squared_sensitivity > squares * test.steps**2).all()


@pytest.mark.slow
def test_release_has_the_law_of_norm_plus_noise():
    m, k, draws = 4, 3, 4000
    rng = np.random.default_rng(5)
    agree = Rankings(np.tile(np.arange(m), (k, 1)), [str(i) for i in range(m)])
    test = NoisyNorm.calibrated(epsilon=1.0, n_items=m, n_voters=k, steps=2)
    noisy = np.array([test.release(agree, rng).statistic for _ in range(draws)]).astype(int)
    exact = int(test.on_grid(2 * k * k))
    window = np.arange(exact - 12, exact + 13)
    mass = test.noise_sf(window - exact) - test.noise_sf(window + 1 - exact)
    counts = [(noisy == w).sum() for w in window]
    law = np.append(mass, 1 - mass.sum())
    assert law_p_value(np.append(counts, draws - sum(counts)), law) > ALARM


@pytest.mark.parametrize("statistic", ["pairs", "ranks"])
def test_release(statistic):
    m, k = 6, 200
    rng = np.random.default_rng(1)
    test = NoisyNorm.calibrated(epsilon=1.0, n_items=m, n_voters=k, statistic=statistic, null_draws=199)
    names = [str(i) for i in range(m)]
    agree = test.release(Rankings(np.tile(rng.permutation(m), (k, 1)), names), rng)
    assert agree.reject
    assert agree.p_value <= test.size
    assert agree.reject == (agree.statistic >= agree.threshold)
    uniform = Rankings(rng.permuted(np.tile(np.arange(m), (k, 1)), axis=1), names)
    said = test.release(uniform, rng)
    assert said.reject == (said.p_value <= test.size)


def test_secure_release():
    pytest.importorskip("opendp")
    agree = Rankings(np.tile(np.arange(4), (50, 1)), list("abcd"))
    for statistic in ("pairs", "ranks"):
        assert (
            NoisyNorm.calibrated(epsilon=2.0, n_items=4, n_voters=50, statistic=statistic, null_draws=99)
            .release(agree, noise.SECURE)
            .reject
        )


def test_squared_norm_of_pairs():
    rng = np.random.default_rng(0)
    positions = rng.permuted(np.tile(np.arange(7), (5, 4, 1)), axis=-1)
    pairs = disjoint_pairs(7, rng=rng)
    test = NoisyNorm(7, 4, 1.0)
    assert (test.squared_norm(positions, pairs) == (pair_signs(positions, pairs).sum(1) ** 2).sum(1)).all()


def test_bad_input():
    data = Rankings([[0, 1], [1, 0]], ["a", "b"])
    with refused("n_items = 1"):
        NoisyNorm(1, 2, 1.0)
    with refused("n_voters = 1"):
        NoisyNorm(2, 1, 1.0)
    with refused("scale = -1"):
        NoisyNorm(2, 2, -1)
    with refused("size = 1"):
        NoisyNorm(2, 2, 1.0, size=1)
    with refused("steps = 0"):
        NoisyNorm(2, 2, 1.0, steps=0)
    with refused("statistic = 'norm'", "pairs"):
        NoisyNorm(2, 2, 1.0, statistic="norm")
    with refused("n_voters = 1000000"):
        NoisyNorm(10_000, 1_000_000, 1.0, statistic="ranks")
    with refused("epsilon = 0"):
        NoisyNorm.calibrated(epsilon=0, n_items=2, n_voters=2)
    with refused("n_voters", "3"):
        NoisyNorm(2, 3, 1.0).release(data, np.random.default_rng(0))
    with refused("items = 2", "n_items = 4"):
        NoisyNorm(4, 2, 1.0).release(data, np.random.default_rng(0))
    with refused("pairs"):
        NoisyNorm(2, 2, 1.0).squared_norm(data.positions)
    with refused("statistic = 'ranks'"):
        NoisyNorm(2, 2, 1.0, statistic="ranks").threshold()


def test_p_values_are_probabilities_over_their_whole_range():
    test = NoisyNorm.calibrated(epsilon=1.0, n_items=6, n_voters=20)
    values, law = square_law(3, 20)
    steps = test.on_grid(values)
    for noisy in (-400, -40, 0, 1, 64, 200):
        assert test.p_value(noisy) == pytest.approx(float(law @ test.noise_sf(noisy - steps)), abs=ROUNDING)
    assert test.p_value(0) == pytest.approx(0.912, abs=5e-4)
    assert test.p_value(-(10**6)) == pytest.approx(1, abs=ROUNDING)
    assert test.p_value(-(10**6)) <= 1
    # P(p <= u) is the largest level not above u that p can have, also above one half
    outcomes = np.arange(-1500, 3000)
    mass = np.array([law @ (test.noise_sf(n - steps) - test.noise_sf(n + 1 - steps)) for n in outcomes])
    p = np.array([test.p_value(n) for n in outcomes])
    for u in (0.05, 0.7, 0.9):
        assert u - mass.max() - ROUNDING <= mass[p <= u].sum() <= u + ROUNDING


@pytest.mark.parametrize("delta", [0.6, 0.9, 0.99])
def test_threshold_of_a_size_above_one_half(delta):
    test = NoisyNorm.calibrated(epsilon=0.2, n_items=4, n_voters=3, size=delta)
    c = test.threshold()
    assert test.p_value(c) <= delta < test.p_value(c - 1)
    assert c < 0


@pytest.mark.parametrize(("delta", "draws"), [(0.05, 19), (0.05, 99), (0.3, 10), (0.9, 20), (0.5, 4)])
def test_a_decision_of_ranks_is_what_its_p_value_says(delta, draws):
    """On data of few values and a coarse grid, hence with ties."""
    test = NoisyNorm(3, 3, 1.5, statistic="ranks", size=delta, steps=1, null_draws=draws)
    data = Rankings([[0, 1, 2], [0, 1, 2], [0, 2, 1]], list("abc"))
    said = [test.release(data, np.random.default_rng(seed)) for seed in range(60)]
    assert [s.reject for s in said] == [s.p_value <= delta for s in said]
    assert {s.reject for s in said} == {True, False}
    shares = np.array([s.p_value * (draws + 1) for s in said])
    assert np.abs(shares - np.round(shares)).max() < ROUNDING
    assert 1 - ROUNDING <= shares.min() <= shares.max() <= draws + 1 + ROUNDING


@each("m", [2, 3, 7, 40])
@each("statistic", ["pairs", "ranks"])
def test_the_grid_rounds_exactly_at_every_edge(m, statistic):
    """Against whole numbers without end: at squares of the grid, one below, and one above."""
    test = NoisyNorm(m, 2, 1.0, statistic=statistic)
    s2 = test.squared_sensitivity
    for u in (1, 2, 3, 64, 1000, 2**20 + 1, 2**28 - 1, 2**30):
        edge = -(-u * u * s2 // test.steps**2)  # the least square that reaches u steps
        squares = [x for x in (edge - 1, edge, edge + 1) if x < 2**62]
        assert test.on_grid(squares).tolist() == [math.isqrt(x * test.steps**2 // s2) for x in squares]
    # where squares times steps^2 leave 64 bits
    for last in (2**62 // 64**2 - 1, 2**62 // 64**2, 2**62 // 64**2 + 1, 2**62 - 1):
        for given in (np.array([last]), np.array([1, last]), last):
            assert test.on_grid(given).ravel()[-1] == math.isqrt(last * test.steps**2 // s2)


@pytest.mark.parametrize("statistic", ["pairs", "ranks"])
def test_the_last_number_of_rankings_that_fits_64_bits(statistic):
    m = 100
    s2 = 4 * 50 if statistic == "pairs" else 4 * m * (m * m - 1) // 3
    most = math.isqrt((2**62 - 1) // s2)
    assert NoisyNorm(m, most, 1.0, statistic=statistic).n_voters == most
    with refused("n_voters"):
        NoisyNorm(m, most + 1, 1.0, statistic=statistic)


def test_2_to_the_62_is_too_much():
    assert NoisyNorm(2, 2**30 - 1, 1.0).n_voters == 2**30 - 1
    with refused(f"n_voters = {2**30}"):
        NoisyNorm(2, 2**30, 1.0)


def test_p_values_of_rare_norms_keep_their_digits():
    """Without noise they are those of the exact test, far into its tail."""
    for m, k in ((2, 60), (12, 2000), (40, 300)):
        test, pairs = NoisyNorm(m, k, HARDLY), m // 2
        for square in (pairs * k * np.array([1.0, 4.0, 12.0, 16.0])).astype(int):
            step = int(test.on_grid(square))
            least = -(-step * step * test.squared_sensitivity // test.steps**2)
            exact = float(unif_null_sf(pairs, k, np.array([least]) / k)[0])
            assert test.p_value(step) == pytest.approx(exact, rel=1e-6)
    assert exact < 1e-40 or exact == 0


@pytest.mark.parametrize("each", [0, 4])
def test_null_norms_of_ranks_have_the_law_of_all_data(each, monkeypatch):
    """By orders of many voters, and voter by voter: a million voters took 45 s."""
    monkeypatch.setattr(noisy_norm, "_EACH", each)
    test = NoisyNorm(3, 2, 1.0, statistic="ranks", size=0.5, null_draws=5)
    rankings = all_rankings(3)
    exact = test.on_grid(test.squared_norm(rankings[np.array(list(product(range(6), repeat=2)))]))
    values, law = np.unique(exact, return_counts=True)
    drawn = test.null_norms(np.random.default_rng(7), 1500)
    counts = [(drawn == value).sum() for value in values]
    assert sum(counts) == 1500
    assert law_p_value(counts, law / law.sum()) > ALARM
    assert len(test.null_norms(np.random.default_rng(7))) == 5


def test_defaults_and_the_last_numbers_that_are_allowed():
    plain = NoisyNorm(4, 9, 64.0, statistic="pairs", size=0.05, steps=64, null_draws=999)
    assert NoisyNorm(4, 9, 64.0) == NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=9) == plain
    for field, least, most in (("steps", 1, 10_000), ("null_draws", 1, MOST_DRAWS)):
        for edge in (least, most):
            assert getattr(replace(plain, **{field: edge}), field) == edge
        for beyond in (least - 1, most + 1):
            with refused(f"{field} = {beyond}"):
                replace(plain, **{field: beyond})
    assert plain.on_grid(np.zeros((0, 3), int)).shape == (0, 3)
    assert NoisyNorm(2, 2, 1.0).squared_sensitivity == 4


@each(("pairs", "n"), [(1, 1), (1, 7), (1, 60), (1, 400), (2, 60), (3, 30)])
def test_beyond_the_end_of_the_null_law_is_next_to_nothing(pairs, n):
    """Summed over all margins of some pairs; what is said to be left out, exp(-45), and no less than it has to."""
    squares = (2 * np.arange(n + 1) - n) ** 2
    chance = stats.binom.pmf(np.arange(n + 1), n, 0.5)
    total, law = squares, chance
    for _ in range(pairs - 1):
        total, where = np.unique(np.add.outer(total, squares), return_inverse=True)
        law = np.bincount(where.ravel(), np.multiply.outer(law, chance).ravel())
    end = _end(pairs, n)
    assert end <= pairs * n**2
    assert law[total > end].sum() < math.exp(-45)
    if n == 400:
        assert law[total > 0.95 * end].sum() > math.exp(-65)


@pytest.mark.parametrize(("pairs", "n"), [(3, 30), (400, 20), (5000, 40)])
def test_the_null_law_of_many_pairs_is_all_there_and_no_longer(pairs, n):
    steps, law = noisy_norm._grid_law(pairs, n, 4)
    assert law.sum() == pytest.approx(1.0, abs=1e-10)
    assert 4 * pairs * int(steps[-2]) ** 2 <= 16 * _end(pairs, n)
