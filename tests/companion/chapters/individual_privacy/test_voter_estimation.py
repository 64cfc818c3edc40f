"""Laws of the noise and of items that nobody compared, by draws; comparisons allow 5 standard errors."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from companion.chapters.individual_privacy import estimation_limits, voter_estimation


@pytest.fixture(scope="module")
def curve():
    return voter_estimation.estimation_curve([16], [1000, 10**5], 0.5, 5, 40)


def test_law_of_the_mean_noise():
    assert voter_estimation.mean_noise(1) == pytest.approx(1)
    assert voter_estimation.mean_noise(2) == pytest.approx(0.75)
    assert voter_estimation.sum_peak(1) == pytest.approx(0.5)
    assert voter_estimation.sum_peak(2) == pytest.approx(0.25)
    for n in (3, 16):
        peak = integrate.quad(lambda x, n=n: stats.gamma.pdf(x, n) ** 2, 0, 200)[0]
        assert voter_estimation.sum_peak(n) == pytest.approx(peak, rel=1e-7)
    sums = np.random.default_rng(2).laplace(size=(40_000, 16)).sum(-1)
    assert np.abs(sums).mean() / 16 == pytest.approx(voter_estimation.mean_noise(16), abs=5 * sums.std() / 16 / 200)
    density = (np.abs(sums) < 0.5).mean()  # the density is largest at 0
    assert density <= voter_estimation.sum_peak(16) + 5 * math.sqrt(density / 40_000)


def test_chance_within_falls_with_voters_and_is_cut():
    few, many = (voter_estimation.chance_within(10, 16, m, 0.5) for m in (10, 10**12))
    assert few == 1
    assert many < 1e-2
    rng = np.random.default_rng(4)
    reach = 0.05 * 1.1 / 57
    hit = (np.abs(rng.laplace(size=(20_000, 16)).mean(-1)) <= 0.05).mean()
    bound = voter_estimation.chance_within(reach / float(voter_estimation.rate(16, 10**6, 0.5)), 16, 10**6, 0.5)
    assert hit <= bound + 5 * math.sqrt(hit / 20_000)


def test_uncompared_items():
    n, share, epsilon = 1000, 10.0, 0.9
    row = voter_estimation.uncompared([n], share, epsilon).iloc[0]
    draws = round(n * math.log(n) / (share * epsilon))
    rng = np.random.default_rng(5)
    alone, worst = [], []
    for _ in range(400):
        first = rng.integers(0, n, draws)
        second = (first + rng.integers(1, n, draws)) % n
        lonely = n - np.unique(np.r_[first, second]).size
        alone.append(lonely)
        worst.append(np.abs(rng.laplace(scale=4, size=lonely)).max() - 1)
    assert np.mean(alone) == pytest.approx(row.expected, abs=5 * np.std(alone) / 20)
    assert np.mean(np.array(worst) >= row["median"]) >= 0.5


def test_a_broken_correction_is_seen(curve):
    worse = curve.assign(mean=curve["mean"] * 30)
    assert any(c.outcome is False for c in voter_estimation.check_thm_3_1(worse) if c.about == "corrected")
    assert any(c.outcome is False for c in estimation_limits.check_optimal(worse) if c.about == "corrected")


def test_releases_of_one_data_set_are_shifted_and_their_centres_agree():
    frame = voter_estimation.releases(6, 10**6, 0.5, 5, 3)
    shift = (frame["as printed"] - frame["minus its mean"]).groupby(frame.release)
    assert shift.std().max() < 1e-9, "each is shifted as a whole"
    assert shift.mean().abs().min() > 0.01
    assert (frame["minus its mean"] - frame.truth).abs().max() < 0.05
    printed, centred = voter_estimation.draw_releases(frame).axes
    assert len(printed.lines) == len(centred.lines) == 4


def test_releases_say_whether_a_shift_is_all():
    truth = np.tile([-1.0, 1.0], 2)
    frame = pd.DataFrame({"release": [0, 0, 1, 1], "truth": truth, "voters": 100})
    for left, said in ((0.01, "right but for"), (0.3, "differ mostly by"), (1.5, "differ by more than")):
        own = truth + np.tile([left, -left], 2)
        drawn = voter_estimation.draw_releases(frame.assign(**{"minus its mean": own, "as printed": own + 1}))
        title = " ".join(drawn._suptitle.get_text().split())
        assert said in title


def test_a_curve_of_some_strengths_is_that_part_of_all(curve):
    some = voter_estimation.estimation_curve([16], [1000, 10**5], 0.5, 5, 40, ["spread"])
    pd.testing.assert_frame_equal(some, curve[curve.strengths == "spread"].reset_index(drop=True), check_exact=True)
