"""Edge and individual privacy beside each other: factors, rates and thresholds by hand."""

from __future__ import annotations

import math

import pytest

from companion.chapters.individual_privacy import edge_and_voters as beside
from companion.chapters.individual_privacy import noisy_counts


def test_printed_factors_by_hand():
    for answers in (1, 3):
        found = beside.noise_factors(answers, 0.5)
        assert found == pytest.approx({"likelihood": answers, "ridge": 2 * answers, "counts": answers / 2})


def test_a_person_moves_the_counts_twice_per_answer():
    assert beside.moved_counts(1) == (2, 2)
    assert beside.moved_counts(4) == (8, 2)


def test_rates_by_hand():
    edge, individual = beside.both_rates(10, 10 * 0.3, 500, 0.5)
    log = math.log(10)
    assert edge == pytest.approx([math.sqrt(log / 3), log / 1.5])
    assert individual == pytest.approx([math.sqrt(10 * log / 500), 10 * log / 250])


def test_equal_totals_have_equal_comparisons():
    n, total, answers = 10, 900.0, 3
    (row,) = beside.equal_total([n], total, answers, 1.0).itertuples()
    p = total / math.comb(n, 2)
    assert row.edge == pytest.approx(beside.both_rates(n, n * p, 1, 1.0)[0].sum())
    assert row.individual == pytest.approx(beside.both_rates(n, 1, total / answers, 1.0)[1].sum())


def test_verdicts_turn_on_the_constants():
    assert beside.check_necessary_sufficient().verdict == "needs a condition"
    n = noisy_counts.SIZES
    # noise that is private needs a larger constant than Theorem 3.3
    assert (noisy_counts.failure_bound(n, noisy_counts.ENOUGH, noise=2.0) * n**5).max() > 1
    assert (noisy_counts.failure_bound(n, beside.ENOUGH, noise=2.0) * n**5).max() <= 1


def test_verdicts():
    assert beside.check_factor_l().verdict == "depends on the reading"
    assert beside.check_rates_in_n().verdict == "holds"
    assert beside.check_divergence().verdict == "refuted"
    assert beside.check_optimal().verdict == "refuted"
    assert beside.check_no_algorithm().verdict == "depends on the reading"
