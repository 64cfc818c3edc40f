"""Power curves against enumeration, closed forms and the tests of the library, and deliberately broken twins.

Seeds are fixed. Statistical tests: 5 standard errors or a binomial p-value of 1e-6; false alarm 1e-5 for the file.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from checks import all_rankings
from scipy import stats

from companion.chapters.testing_uniformity import all_ranks, any_centre, power, power_reasons
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at

PANELS = ((10, 200), (100, 2), (300, 2))
SCALED = (0, 2, 8, 15, 20, 25, 30, 50)


@pytest.fixture(scope="module")
def frame():
    return power.power(PANELS, SCALED, 150)


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


# --- yardsticks ------------------------------------------------------------------------------------------------------


def test_randomised_test_has_exactly_its_size():
    for law in (stats.binom(7, 0.5), stats.binom(50, 0.5)):
        values = np.arange(51)
        reject = power.randomised(law.sf(values), law.pmf(values), 0.05)
        assert law.pmf(values) @ reject == pytest.approx(0.05)
        # without the randomisation the size is another
        assert law.pmf(values) @ (reject >= 1) < 0.05


def test_against_draws_has_exactly_its_size():
    """Over all equally likely places of the observed statistic among the draws, ties included."""
    for values in ([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], [1.0] * 7, list(range(40))):
        pool = np.array(values, float)
        sizes = [power.against_draws(pool[[i]], np.delete(pool, i), 0.05)[0] for i in range(len(pool))]
        assert np.mean(sizes) == pytest.approx(0.05)


# --- the simulated statistics ----------------------------------------------------------------------------------------


def test_row_distances_and_pairwise_wins():
    rng = np.random.default_rng(1)
    a, b = (Mallows(9, 0.1).sample(5, rng=rng) for _ in range(2))
    assert power.row_distances(a, b).tolist() == [kendall_distance(x, y) for x, y in zip(a, b, strict=True)]
    wins = power.pairwise_wins(a)
    assert all(wins[i, j] == (a[:, i] < a[:, j]).sum() for i in range(9) for j in range(9) if i != j)


def test_many_rankings_agree_with_the_definitions():
    law, n = Mallows(7, 0.2), 5
    got = power._many_rankings(law, n, 1, np.random.default_rng(2))
    rng = np.random.default_rng(2)
    rows, centre = law.sample(n, rng=rng), rng.permutation(7)
    order = np.argsort(centre)
    signs = np.where(rows[:, order[0:6:2]] < rows[:, order[1:6:2]], 1, -1).sum(axis=0)
    assert got["y"][0] == pytest.approx((signs**2).sum() / n)
    assert got["fixed"][0] == pytest.approx(np.mean([kendall_distance(row, centre) for row in rows]))
    assert got["first"][0] == pytest.approx(np.mean([kendall_distance(row, rows[0]) for row in rows[1:]]))


def test_two_rankings_agree_with_the_library():
    """The printed decisions are those of the classes on the same data."""
    rng = np.random.default_rng(3)
    m, delta = 60, 0.05
    two = paper.two_sample(m, delta)
    unif = paper.unif(m, delta)
    assert two.threshold == pytest.approx(power.two_threshold(m))
    assert unif.threshold == pytest.approx(power.unif_threshold(m))
    items = [str(i) for i in range(m)]
    for scaled in (0.0, 12.0, 40.0):
        rows = Mallows(m, power.spread(m, 2, scaled)).sample(2, rng=rng)
        assert two.test(Rankings(rows, items)).statistic == power.row_distances(rows[:1], rows[1:])[0]


def test_readings_of_ma_agree_with_the_library():
    m, n = 12, 6
    rows = Mallows(m, 0.05).sample(n, rng=np.random.default_rng(8))
    statistics = {"y": np.zeros(1), "fixed": np.zeros(1), "first": np.zeros(1)}
    statistics["fixed"][0] = np.mean([kendall_distance(row, range(m)) for row in rows])
    statistics["first"][0] = np.mean([kendall_distance(row, rows[0]) for row in rows[1:]])
    got = power._decisions(m, n, rng=np.random.default_rng(9), **statistics)
    data = Rankings(rows, [str(i) for i in range(m)])
    for label, centre, sided in (
        (power.FIXED, "fixed", "two"),
        (power.ONE_SIDED, "fixed", "one"),
        (power.FIRST, "first", "one"),
    ):
        test = paper.mallows_approximate(m, n, 0.05, centre=centre, sided=sided)
        assert test.test(data).reject == (got[label, power.PRINTED][0] == 1)


def test_identical_rankings_have_y_equal_to_m():
    got = power._two_rankings(Mallows(10, math.inf), 3, np.random.default_rng(4))
    assert got["y"].tolist() == [10] * 3
    assert got["first"].tolist() == [0] * 3
    # the names are random: the arbitrary centre is no better than any
    assert len(set(got["fixed"].tolist())) > 1


def test_sizes_of_the_exact_tests(frame):
    null = frame[(frame.scaled == 0) & (frame.calibration == power.EXACT)]
    assert len(null) == 5
    for row in null.to_dict("records"):
        assert abs(row["mean"] - 0.05) < power.certain(row["mean"], row["repetitions"])


# --- Figure 1 --------------------------------------------------------------------------------------------------------


def test_first_sizes_by_scanning():
    sizes = power.first_sizes()
    for m in range(2, 60):
        can = math.comb(m, 2) >= 0 and m * (m - 1) / 4 - math.sqrt(m**3 * math.log(20) / 12) >= 0
        assert can == (m >= sizes[power.TWO])
    assert power.printed_sizes([sizes[power.UNIF] - 1])[power.UNIF].iloc[0] == 0
    assert power.printed_sizes([sizes[power.UNIF]])[power.UNIF].iloc[0] > 0


def test_figure_1_holds_and_a_swap_is_noticed(frame):
    two = frame[frame.n_rankings == 2]
    checks = power.check_figure_1(two)
    assert derive(checks) == "holds", [str(c) for c in checks if c.outcome is not True]
    swapped = two.copy()
    gains = swapped.test == "gain"
    swapped.loc[gains, "mean"] = 1 - swapped.loc[gains, "mean"]
    assert derive(power.check_figure_1(swapped)) == "refuted"


def test_scales_move_like_the_balance(frame):
    fitted = power.scale_exponents(frame)
    assert len(fitted) == 4
    two = fitted[fitted.test == power.TWO]
    assert (two.exponent + 1.25).abs().max() < 0.1
    # 43 of 50 pairs have to agree before UNIF as printed rejects at m = 100
    assert fitted.exponent.min() < -1.5


# --- why -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [4, 6, 10])
def test_rounds_hold_every_pair_once(m):
    pairs = power_reasons.rounds(m)
    assert sorted(tuple(sorted(p)) for p in pairs.reshape(-1, 2).tolist()) == list(combinations(range(m), 2))
    assert all(sorted(r.ravel().tolist()) == list(range(m)) for r in pairs)


def test_variance_behind_the_gain():
    """By enumeration over all pairs of rankings of six items, one of which may be the identity."""
    m = 6
    rows = all_rankings(m)
    pairs = power_reasons.rounds(m).reshape(-1, 2)
    signs = np.where(rows[:, pairs[:, 0]] < rows[:, pairs[:, 1]], 1, -1)
    for j in range(1, m):
        used = signs[:, : j * m // 2]
        covariance = (used.T @ used / len(rows)) ** 2
        assert covariance.sum() == pytest.approx(j * m / 2 * (1 + 2 * (j - 1) / 9))
        assert power_reasons.signal_gain(j) == pytest.approx(j * math.sqrt(m / 2) / math.sqrt(covariance.sum()))
    distance = Mallows(m, 0.0).distance_moments()[1]
    assert covariance.sum() == pytest.approx(4 * distance)


def test_all_pairings_are_the_kendall_distance():
    law, m = Mallows(8, 0.1), 8
    total = power_reasons.agreement(law, [1, m - 1], 5, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    rng.permuted(np.tile(np.arange(m), (5, 1)), axis=1)
    a, b = law.sample(5, rng=rng), law.sample(5, rng=rng)
    assert total[1].tolist() == (28 - 2 * power.row_distances(a, b)).tolist()


@pytest.mark.slow
def test_why_holds_and_equal_statistics_are_not_enough():
    assert derive(power_reasons.check_why(100, 9.0, 1000)) == "holds"
    assert derive(power_reasons.check_why(100, 0.0, 1000)) == "undecided here"


# --- margin ----------------------------------------------------------------------------------------------------------


def test_known_centre_by_enumeration():
    m, theta = 5, 0.4
    rows = np.array([kendall_distance(row, range(m)) for row in permutations(range(m))])
    uniform = np.bincount(rows) / len(rows)
    law = uniform * np.exp(-theta * np.arange(len(uniform)))
    law /= law.sum()
    null, other = np.convolve(uniform, uniform).cumsum(), np.convolve(law, law).cumsum()
    limit = int(np.searchsorted(null, 0.05, "right"))
    assert null[limit - 1] <= 0.05 < null[limit]
    assert power_reasons.known_centre_power(m, theta) == pytest.approx(other[limit])


def test_known_centre_at_the_largest_size_is_normal():
    m, gap = 10_000, 1e-5
    shift = gap * math.sqrt(2 * Mallows(m, 0.0).distance_moments()[1])
    assert power_reasons.known_centre_power(m, gap) == pytest.approx(
        stats.norm.cdf(stats.norm.ppf(0.05) + shift), abs=2e-3
    )
    assert power_reasons.known_centre_power(m, gap) < power.DETECTED


def test_margin_is_refuted_and_would_not_be_for_a_tenfold_margin():
    frame = power.power([(2000, 2)], [2, 20, 30], 150)
    assert all(outcomes(power_reasons.check_margin(frame, 2000), "corrected"))
    assert derive(power_reasons.check_margin(frame, 2000)) == "refuted"
    shifted = frame.assign(scaled=frame.scaled / 10)
    strong = [
        check
        for check in power_reasons.check_margin(shifted, 2000)
        if check.what.startswith("power of 2SAMP as printed")
    ]
    assert all(check.outcome is not False for check in strong)


# --- epsilon ---------------------------------------------------------------------------------------------------------


def test_trun_power_by_simulation():
    """Algorithm 3 line by line."""
    k, phi, epsilon, epsilon_0, delta, draws = 7, 0.5, 0.499, 1 / 3, 0.05, 200_000
    rng = np.random.default_rng(6)
    b = 4 / (k * delta * epsilon_0)
    z = rng.laplace(scale=b, size=draws)
    s = 2 * rng.binomial(k, 1 / (1 + phi), draws) - k
    root = math.exp(-theta_at(2, epsilon) / 4)
    mu = (1 - root) / (1 + root)
    p = np.clip(16 * (s**2 / k - 1) / (2 * mu**2 * (k - 1)), 0, 1)
    far = np.abs(s / k + z) > math.sqrt(2 * math.log(2 / delta) / (2 * k)) + b * math.log(1 / delta)
    coin = np.abs(z) > b * math.log(1 / delta)
    reject = np.where(coin, 0.5, np.where(far, 1.0, 1 - p))
    error = 5 * reject.std() / math.sqrt(draws)
    assert power_reasons.trun_power(k, phi, epsilon, epsilon_0) == pytest.approx(reject.mean(), abs=error)


def test_seven_rankings_are_the_least():
    grid = (0.05, 0.25, 0.4, 0.499, 0.49999)
    for k in range(2, 7):
        assert np.ptp([power_reasons.trun_power(k, 0.5, epsilon) for epsilon in grid]) < 1e-12
    assert np.ptp([power_reasons.trun_power(7, 0.5, epsilon) for epsilon in grid]) > 0.05
    checks = power_reasons.check_epsilon_role(7, 10_000, (0.25, 0.499))
    assert derive(checks) == "refuted"
    assert outcomes(checks, "corrected") == [True, True]
    assert outcomes(power_reasons.check_epsilon_role(6, 10_000, (0.25, 0.499)), "printed")[0] is True


# --- Figure 2 --------------------------------------------------------------------------------------------------------


def test_limit_of_an_arbitrary_centre_by_enumeration():
    for m, n in ((5, 2), (6, 9)):
        distance = np.array([kendall_distance(row, range(m)) for row in permutations(range(m))])
        mean, variance = Mallows(m, 0.0).distance_moments()
        z = (distance - mean) / math.sqrt(variance / n)
        assert any_centre.fixed_centre_limit(m, n) == pytest.approx((np.abs(z) >= stats.norm.ppf(0.975)).mean())
        assert any_centre.fixed_centre_limit(m, n, 1) == pytest.approx((z <= stats.norm.ppf(0.05)).mean())


def test_figure_2_is_refuted_in_every_reading(frame):
    panels = ((10, 200), (300, 2))
    sizes = any_centre.estimated_centre_sizes(((100, 30), (300, 2)), 60)
    checks = any_centre.check_figure_2(frame, sizes, panels)
    assert derive(checks) == "refuted"
    for reading in {check.reading for check in checks if check.about == "printed"}:
        assert False in [check.outcome for check in checks if check.reading == reading]
    assert all(outcomes(checks, "corrected")), [str(c) for c in checks if c.about == "corrected" and not c.outcome]


# --- better ----------------------------------------------------------------------------------------------------------


def test_running_statistics_are_those_of_each_prefix():
    law, marks = Mallows(6, 0.2), np.array([2, 5, 9])
    got = all_ranks.running_statistics(law, marks, 1, np.random.default_rng(7))[..., 0]
    rng = np.random.default_rng(7)
    rows, order = law.sample(9, rng=rng), rng.permutation(6)
    for column, n in enumerate(marks):
        signs = np.where(rows[:n, order[::2]] < rows[:n, order[1::2]], 1, -1).sum(axis=0)
        assert got[0, column] == (signs**2).sum()
        assert got[1, column] == pytest.approx(((rows[:n].sum(axis=0) - n * 2.5) ** 2).sum())


def test_mean_ranks_move_as_the_chapter_says():
    """theta (m + 1) / 6 times the centred place, to first order; by the exact biases."""
    m, theta = 40, 1e-6
    bias = Mallows(m, theta).bias(np.arange(1, m))
    for c in (0, 7, 39):
        shift = (bias[:c].sum() - bias[: m - 1 - c].sum()) / 2
        assert shift == pytest.approx(theta * (m + 1) / 6 * (c - (m - 1) / 2), rel=1e-4)


@pytest.mark.slow
def test_friedman_needs_fewer_rankings():
    table = all_ranks.needed_table(all_ranks.growth_cells(0.02, [20, 40], 0.5, [10]), 150)
    low = table["ratio"] - 4 * table["ratio se"]
    assert (low.to_numpy() < 3 / math.sqrt(2)).all()
    assert (table["Friedman"] < table["UNIF"]).all()
    assert (table["known centre"] < table["Friedman"]).all()
    exponents = all_ranks.growth_exponents(table[table.held == "1 − φ = 0.02"])
    assert (exponents.exponent + 2.5).abs().max() < 0.8


def test_rivals():
    powers = all_ranks.rivals(30, 10, 9.0, 400)
    assert powers["Friedman"] > powers["UNIF"] + 0.1
    assert abs(powers["Friedman"] - powers["mean distance"]) < 0.1
    assert abs(powers["Friedman"] - powers["MA, estimated centre"]) < 0.1


@pytest.mark.slow
def test_figures_draw(frame):
    assert len(power.draw_two_rankings(frame[(frame.n_rankings == 2) & frame.test.isin(["2SAMP", "UNIF"])]).axes) == 2
    part = frame[frame.test.isin(["UNIF", "MA, any centre", "MA, first ranking"]) & (frame.scaled > 0)].assign(
        limit=0.2
    )
    assert len(any_centre.draw_any_centre(part).axes) == 4
    table = all_ranks.needed_table(all_ranks.growth_cells(0.02, [20], 0.5, [10]), 40)
    assert len(all_ranks.draw_rankings_needed(table).axes) == 2
    rarely = all_ranks.needed_table(
        all_ranks.growth_cells(0.01, [5], 0.5, [5]), 5
    )  # too few data sets to find a size at all
    assert rarely["ratio se"].isna().any()


def test_crossing():
    assert power.crossing([1, 2, 3], [0.2, 0.4, 0.8], 0.6) == pytest.approx(2.5)
    assert math.isnan(power.crossing([1, 2], [0.2, 0.4], 0.6))
