"""2SAMP and one ranking, against enumeration and broken twins; false alarm 1e-6 each."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from checks import each, law_p_value

from companion.chapters.testing_uniformity import two_samples
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows


@each("m", [2, 3, 4])
@each("phi", [0.0, 0.4, 1.0])
def test_pair_law_is_that_over_all_pairs(m, phi):
    rankings = list(permutations(range(m)))
    law = np.zeros(m * (m - 1) // 2 + 1)
    weight = {a: phi ** kendall_distance(a, range(m)) for a in rankings}
    for a in rankings:
        for b in rankings:
            law[kendall_distance(a, b)] += weight[a] * weight[b]
    np.testing.assert_allclose(two_samples.pair_law(m, phi), law / law.sum(), atol=1e-14)


@pytest.mark.parametrize("m", [2, 4, 6])
def test_least_power_is_below_the_power_and_the_law_of_the_two_distances(m):
    for phi in (0.0, 0.3, 0.8):
        law = Mallows.of_phi(m, phi)
        one = np.diff(np.r_[0, law.distance_cdf(np.arange(law.n_pairs + 1))])
        both, pairs = np.convolve(one, one), np.cumsum(two_samples.pair_law(m, phi))
        for threshold in (-1, 0, 1, 2.7, law.n_pairs - 1, law.n_pairs, 3 * law.n_pairs):
            least = two_samples.least_power(m, 1 - phi, threshold)
            assert least == pytest.approx(both[: max(0, math.floor(threshold) + 1)].sum(), abs=1e-8)
            assert least <= (pairs[min(math.floor(threshold), law.n_pairs)] if threshold >= 0 else 0) + 1e-8


def test_null_excess_is_the_worst_of_many_deltas():
    for m in (2, 3, 7, 12):
        deltas = np.exp(-np.linspace(1e-3, 3 * m, 400))
        ratios = [paper.two_sample(m, delta).exact_size / delta for delta in deltas]
        assert 0.5 < max(ratios) / two_samples.null_excess(m) <= 1 + 1e-6


def test_a_constant_too_small_is_caught(monkeypatch):
    real = paper.two_sample
    monkeypatch.setattr(paper, "two_sample", lambda m, d: replace(real(m, d), threshold=m * (m - 1) / 4 - 0.1 * m**1.5))
    checks = two_samples.check_alg_1([0.05])
    assert [check.outcome for check in checks] == [False] * 3


def test_a_threshold_too_low_loses_theorem_4(monkeypatch):
    real = paper.two_sample

    def low(m, d):
        return replace(real(m, d), threshold=min(real(m, d).threshold, m * (m - 1) / 20))

    monkeypatch.setattr(paper, "two_sample", low)
    checks = two_samples.check_thm_4(two_samples.theorem_4([100], [0.05]), 0.05)
    assert derive(checks) == "refuted"


def test_a_smaller_gap_than_theorem_4_asks_for_is_seen():
    test = paper.two_sample(100, 0.05)
    assert two_samples.least_power(100, test.least_gap, test.threshold) > 1 - 1e-9
    assert two_samples.least_power(100, test.least_gap / 10, test.threshold) < 0.95


def test_free_delta_is_one_at_which_the_test_runs_and_accepts_equal_rankings():
    free = two_samples.free_delta(0.01)
    test = paper.two_sample(int(free["items"]), free["delta"])
    assert test.threshold < 0 < free["promised"]
    assert test.least_gap < 0
    assert two_samples.printed_failure(int(free["items"]) - 1, 0.99) >= 1


@each("delta", [0.05, 0.3, 0.5])
@each("phi", [0.0, 0.5, 0.9])
def test_one_ranking_has_least_power_equal_to_its_size(delta, phi):
    for m in (2, 3, 4):
        assert two_samples.one_ranking_power(m, phi, delta) == pytest.approx(delta, abs=1e-9)


def test_known_centre_reaches_its_power_there():
    for row in two_samples.known_centre([4, 30], 0.05).to_dict("records"):
        law = Mallows.of_gap(row["items"], row["1 - phi"])
        assert float(law.distance_cdf(row["radius"])) == pytest.approx(0.95, abs=1e-6)
        assert row["size"] <= 0.05
        assert row["epsilon"] == pytest.approx(law.total_variation())


def test_simulated_pairs_have_the_enumerated_law():
    rng = np.random.default_rng(5)
    drawn = two_samples.pair_distances(5, 0.4, repetitions=20_000, rng=rng)
    assert law_p_value(np.bincount(drawn, minlength=11), two_samples.pair_law(5, 0.6)) > 1e-6


def test_the_figure_draws_every_law():
    laws = two_samples.distance_laws(10, [0.1, 0.5], 0.05, 50)
    assert laws.law.nunique() == 3
    names = [text.get_text() for text in two_samples.draw_distance_laws(laws).legends[0].get_texts()]
    curves = ["shuffled", "lean 0.1", "lean 0.5"]
    assert sorted(names) == sorted([*curves, "threshold, printed", "threshold, 5 % false alarms"])


def test_a_group_that_is_last_by_all_pairs_of_such_rankings():
    m, last = 5, 2
    rows = [row for row in permutations(range(m)) if all(row[i] >= m - last for i in range(m - last, m))]
    for threshold in (-0.5, 0, 2.5, 4):
        near = np.mean([kendall_distance(a, b) <= threshold for a in rows for b in rows])
        assert two_samples.last_power(m, last, threshold) == pytest.approx(near)


def test_evidence_of_no_bias_depends_on_what_a_bias_is(monkeypatch):
    record = two_samples.check_no_bias()
    assert record.verdict == "depends on the reading"
    assert all(c.outcome for c in record if c.about in ("corrected", "argument"))
    monkeypatch.setattr(two_samples, "last_power", lambda m, last, threshold: 0.96)
    assert two_samples.check_no_bias().verdict == "holds"


@each("m", [4, 5])
def test_shift_is_below_that_of_all_pairs(m):
    for theta in (0.1, 1.0):
        law = two_samples.pair_law(m, math.exp(-theta))
        exact = m * (m - 1) / 4 - law @ np.arange(len(law))
        assert two_samples.least_shift(m, theta) == pytest.approx(exact)
        assert exact / 2 < two_samples.least_shift(m, theta, points=3) < exact


def test_one_item_inserted_elsewhere_moves_the_distance_by_no_more():
    m = 4

    def inserted(places):
        order = []
        for item, place in enumerate(places):
            order.insert(place, item)
        return np.argsort(order)

    every = list(product(*(range(i + 1) for i in range(m))))
    for i in range(1, m):
        most = max(
            abs(kendall_distance(inserted(v), b) - kendall_distance(inserted((*v[:i], w, *v[i + 1 :])), b))
            for v in every
            for w in range(i + 1)
            for b in permutations(range(m))
        )
        assert most <= 2 * m - i - 2
    assert 2 * sum((2 * m - i - 2) ** 2 for i in range(1, m)) <= two_samples.bounded_moves(m)


def test_the_comparison_works_nearer_than_line_3_lets_it(monkeypatch):
    record = two_samples.check_only_when()
    assert record.verdict == "depends on the reading"
    assert all(c.outcome for c in record if c.about == "corrected")
    right = two_samples.least_shift
    monkeypatch.setattr(two_samples, "least_shift", lambda m, theta: right(m, theta) / m**0.6 * 250)
    assert two_samples.check_only_when().verdict == "holds"
