"""Power curves against enumeration and the tests of the library; statistical tests with 5 standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from companion.chapters.testing_uniformity import any_centre, power
from companion.instruments.uniformity import certain, crossing
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows

PANELS = ((10, 200), (100, 2), (300, 2))
SCALED = (0, 2, 8, 15, 20, 25, 30, 50)


@pytest.fixture(scope="module")
def frame():
    return power.power(PANELS, SCALED, 150)


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


def test_readings_of_ma_agree_with_the_library():
    m, n = 12, 6
    rows = Mallows(m, 0.05).sample(n, rng=np.random.default_rng(8))
    statistics = {"y": np.zeros(1), "fixed": np.zeros(1), "first": np.zeros(1)}
    statistics["fixed"][0] = np.mean([kendall_distance(row, range(m)) for row in rows])
    statistics["first"][0] = np.mean([kendall_distance(row, rows[0]) for row in rows[1:]])
    got = power._decisions(m, n, rng=np.random.default_rng(9), **statistics)
    data = Rankings(rows, [str(i) for i in range(m)])
    readings = (power.FIXED, "fixed", "two"), (power.ONE_SIDED, "fixed", "one"), (power.FIRST, "first", "one")
    for label, centre, sided in readings:
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
        assert abs(row["mean"] - 0.05) < certain(row["mean"], row["repetitions"])


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
    assert checks.verdict == "holds", str(checks)
    swapped = two.assign(mean=two["mean"].mask(two.test == "gain", 1 - two["mean"]))
    assert power.check_figure_1(swapped).verdict == "refuted"


def test_scales_move_like_the_balance(frame):
    fitted = power.scale_exponents(frame)
    assert len(fitted) == 4
    two = fitted[fitted.test == power.TWO]
    assert (two.exponent + 1.25).abs().max() < 0.1
    # 43 of 50 pairs have to agree before UNIF as printed rejects at m = 100
    assert fitted.exponent.min() < -1.5


def test_crossing():
    assert crossing([1, 2, 3], [0.2, 0.4, 0.8], 0.6) == pytest.approx(2.5)
    assert math.isnan(crossing([1, 2], [0.2, 0.4], 0.6))


def test_figure_2_is_refuted_in_every_reading(frame):
    panels = ((10, 200), (300, 2))
    sizes = any_centre.estimated_centre_sizes(((100, 30), (300, 2)), 60)
    checks = any_centre.check_figure_2(frame, sizes, panels)
    assert checks.verdict == "refuted"
    assert all(check.outcome for check in checks if check.about == "corrected")


@pytest.mark.slow
def test_figures_draw(frame):
    pairs = frame[(frame.n_rankings == 2) & frame.test.isin(["2SAMP", "UNIF"])]
    assert len(power.draw_two_rankings(pairs).axes) == 2
    published = power.draw_two_rankings(power.with_published(pairs.assign(n_items=10_000))).axes[0]
    assert [line.get_xydata().tolist() for line in published.lines if line.get_marker() == "x"] == [[[2e-5, 1.0]]]
    part = frame[frame.test.isin(["UNIF", "MA, any centre", "MA, first ranking"]) & (frame.scaled > 0)]
    titles = [axes.get_title(loc="left") for axes in any_centre.draw_any_centre(part.assign(limit=0.2)).axes]
    assert titles == ["10 items, 200 rankings", "100 items, 2 rankings", "300 items, 2 rankings"]
