"""Sections on two rankings: laws against enumeration, checks against broken twins.

Simulations use fixed seeds; false alarm 1e-6 each.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from checks import each, law_p_value

from companion.chapters.testing_uniformity import first_ranking
from companion.chapters.testing_uniformity import two_samples as experiment
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows

VERDICTS = {
    "null": (lambda: experiment.check_null(12), "holds"),
    "alt": (lambda: experiment.check_alt([0.0, 0.5, 0.99]), "holds"),
    "alg-1": (lambda: experiment.check_alg_1(12, [0.5, 0.05]), "holds"),
    "thm-4": (lambda: experiment.check_thm_4(experiment.theorem_4([30, 47, 100], [0.2, 0.05]), 0.05), "constants"),
    "alternative": (lambda: experiment.check_alternative(0.01, [20, 100], [0.2, 0.9, 1.0]), "underspecified"),
    "one-sample": (lambda: experiment.check_one_sample(0.05), "underspecified"),
    "ma": (
        lambda: first_ranking.check_ma(first_ranking.ma_sizes(0.05, 40, [(100, 100), (1000, 2)]), 0.05),
        "underspecified",
    ),
}


@each("name", VERDICTS)
def test_verdicts(name):
    make, verdict = VERDICTS[name]
    checks = make()
    assert derive(checks) == verdict
    corrected = [check for check in checks if check.about == "corrected"]
    assert all(check.outcome for check in corrected)
    assert corrected or verdict == "holds"


def test_a_coarse_normal_approximation_is_no_right_size():
    checks = first_ranking.check_ma(first_ranking.ma_sizes(0.05, 40, [(5, 3)]), 0.05)
    assert derive(checks) == "refuted"


@each("m", [2, 3, 4])
@each("phi", [0.0, 0.4, 1.0])
def test_pair_law_is_that_over_all_pairs(m, phi):
    rankings = list(permutations(range(m)))
    law = np.zeros(m * (m - 1) // 2 + 1)
    weight = {a: phi ** kendall_distance(a, range(m)) for a in rankings}
    for a in rankings:
        for b in rankings:
            law[kendall_distance(a, b)] += weight[a] * weight[b]
    np.testing.assert_allclose(experiment.pair_law(m, phi), law / law.sum(), atol=1e-14)


@pytest.mark.parametrize("m", [2, 4, 6])
def test_least_power_is_below_the_power_and_the_law_of_the_two_distances(m):
    for phi in (0.0, 0.3, 0.8):
        law = Mallows.of_phi(m, phi)
        one = np.diff(np.r_[0, law.distance_cdf(np.arange(law.n_pairs + 1))])
        both, pairs = np.convolve(one, one), np.cumsum(experiment.pair_law(m, phi))
        for threshold in (-1, 0, 1, 2.7, law.n_pairs - 1, law.n_pairs, 3 * law.n_pairs):
            least = experiment.least_power(m, 1 - phi, threshold)
            assert least == pytest.approx(both[: max(0, math.floor(threshold) + 1)].sum(), abs=1e-8)
            assert least <= (pairs[min(math.floor(threshold), law.n_pairs)] if threshold >= 0 else 0) + 1e-8


def test_null_excess_is_the_worst_of_many_deltas():
    for m in (2, 3, 7, 12):
        deltas = np.exp(-np.linspace(1e-3, 3 * m, 400))
        ratios = [paper.two_sample(m, delta).exact_size / delta for delta in deltas]
        assert 0.5 < max(ratios) / experiment.null_excess(m) <= 1 + 1e-6


def test_a_constant_too_small_is_caught(monkeypatch):
    real = paper.two_sample
    monkeypatch.setattr(paper, "two_sample", lambda m, d: replace(real(m, d), threshold=m * (m - 1) / 4 - 0.1 * m**1.5))
    checks = experiment.check_alg_1(3, [0.05])
    assert [check.outcome for check in checks[1:]] == [False] * 3


def test_a_threshold_too_low_loses_theorem_4(monkeypatch):
    real = paper.two_sample
    monkeypatch.setattr(
        paper,
        "two_sample",
        lambda m, d: replace(real(m, d), threshold=min(real(m, d).threshold, m * (m - 1) / 20)),
    )
    checks = experiment.check_thm_4(experiment.theorem_4([100], [0.05]), 0.05)
    assert derive(checks) == "refuted"


def test_a_smaller_gap_than_theorem_4_asks_for_is_seen():
    test = paper.two_sample(100, 0.05)
    assert experiment.least_power(100, test.least_gap, test.threshold) > 1 - 1e-9
    assert experiment.least_power(100, test.least_gap / 10, test.threshold) < 0.95


def test_free_delta_is_one_at_which_the_test_runs_and_accepts_equal_rankings():
    free = experiment.free_delta(0.01)
    test = paper.two_sample(int(free["items"]), free["delta"])
    assert test.threshold < 0 < free["promised"]
    assert test.least_gap < 0
    assert experiment.printed_failure(int(free["items"]) - 1, 0.99) >= 1


@each("delta", [0.05, 0.3, 0.5])
@each("phi", [0.0, 0.5, 0.9])
def test_one_ranking_has_least_power_equal_to_its_size(delta, phi):
    for m in (2, 3, 4):
        assert experiment.one_ranking_power(m, phi, delta) == pytest.approx(delta, abs=1e-9)


def test_known_centre_reaches_its_power_there():
    for row in experiment.known_centre([4, 30], 0.05).to_dict("records"):
        law = Mallows.of_gap(row["items"], row["1 - phi"])
        assert float(law.distance_cdf(row["radius"])) == pytest.approx(0.95, abs=1e-6)
        assert row["size"] <= 0.05
        assert row["epsilon"] == pytest.approx(law.total_variation())


def test_simulated_pairs_have_the_enumerated_law():
    rng = np.random.default_rng(5)
    drawn = experiment.pair_distances(5, 0.4, repetitions=20_000, rng=rng)
    assert law_p_value(np.bincount(drawn, minlength=11), experiment.pair_law(5, 0.6)) > 1e-6


def test_first_ranking_limit_is_reached_by_many_rankings():
    limit = first_ranking.first_ranking_limit(4, [0.0, 0.6]).power.tolist()
    assert limit[0] == 1
    rows = first_ranking.ma_rejections(
        4, 3000, 0.4, 0.05, ["first ranking"], repetitions=300, rng=np.random.default_rng(6)
    )
    share = rows["first ranking",].mean()
    assert abs(share - limit[1]) < math.sqrt(math.log(2 / 1e-6) / 600)


def test_fixed_centre_limit_counts_the_centres_on_the_near_side():
    assert first_ranking.fixed_centre_limit(3) == pytest.approx({"one": 0.5, "two": 1.0})
    assert first_ranking.fixed_centre_limit(4) == pytest.approx({"one": 9 / 24, "two": 18 / 24})


def test_figures_draw_every_law_and_reading():
    laws = experiment.distance_laws(10, [0.1, 0.5], 0.05, 50)
    assert laws.law.nunique() == 3
    axes = experiment.draw_distance_laws(laws).axes[0]
    assert len(axes.get_legend().get_texts()) == 5
    powers = first_ranking.ma_power(5, 10, [0.0, 0.5], 0.05, 10)
    bars = first_ranking.draw_ma_power(powers).axes[0].containers
    assert [bar.get_label() for bar in bars] == list(experiment.READINGS)
    half = [(top[1] - bottom[1]) / 2 for bottom, top in bars[0].lines[2][0].get_segments()]
    part = powers[powers.reading == bars[0].get_label()]
    assert np.allclose(half, experiment.BAR * part.se)
