"""Theorem 2.3 against quadrature, sums over pairs and broken twins."""

from __future__ import annotations

import numpy as np
import pytest
from checks import refused
from scipy import integrate, stats

from companion.chapters.private_top_k import utility_bound
from companion.ledger.claim import derive


def test_swapped_is_the_tail_of_a_difference():
    law = stats.laplace
    for gap in (0.0, 0.3, 2.0, 9.0):
        kinks = {"points": [0, gap], "limit": 400}
        want = integrate.quad(lambda v, gap=gap: law.pdf(v) * law.cdf(v - gap), -40, 40, **kinks)[0]
        assert float(utility_bound.swapped(gap)) == pytest.approx(want, rel=1e-7)


def test_exact_failure_of_two_items_is_the_closed_form_however_small():
    for gap in (1e-3, 5.0, 100.0, 300.0):
        assert utility_bound.exact_failure(2, 1, gap) == pytest.approx(float(utility_bound.swapped(gap)), rel=1e-12)


def test_far_items_do_not_matter():
    assert utility_bound.exact_failure(10**7, 10**6, 2.0) == utility_bound.exact_failure(10**3, 500, 2.0)


def test_our_failure_is_the_sum_over_pairs():
    for gap in (0.9, 3.0, 12.0):
        n = np.arange(1, 400)
        assert float(utility_bound.our_failure(gap)) == pytest.approx(
            min(1, (n * utility_bound.swapped(n * gap)).sum()), rel=1e-12
        )


@pytest.mark.parametrize(
    "twin", [lambda x: np.exp(-x) / 2, lambda x: np.exp(-x) * (1 + x) / 4, lambda x: np.exp(-x) * (2 + x) / 4.1]
)
@pytest.mark.slow
def test_broken_bounds_are_rejected(monkeypatch, twin):
    monkeypatch.setattr(utility_bound, "swapped", lambda x: twin(np.asarray(x, float)))
    assert derive(utility_bound.check_utility()) == "refuted"


def test_an_example_with_a_tenth_of_the_failures_would_hold(monkeypatch):
    swapped = utility_bound.swapped
    monkeypatch.setattr(utility_bound, "swapped", lambda gap: swapped(gap) / 10)
    assert derive(utility_bound.check_example()) == "holds"


def test_frame_and_figure():
    frame = utility_bound.failures([1.0, 5.0, 10.0], sizes=(10, 100))
    assert len(frame) == 12
    exact = frame[frame.kind == "exact"].failure.to_numpy()
    for _, part in frame[frame.kind != "exact"].groupby(["kind", "items"]):
        assert (part.failure.to_numpy() >= exact).all()
    lines = utility_bound.draw_failure(frame).axes[0].lines
    assert [line.get_label() for line in lines][:2] == ["Theorem 2.3, 10 items", "Theorem 2.3, 100 items"]
    assert lines[-1].get_xydata().tolist() == [[20, pytest.approx(0.01)]]  # as published


def test_bad_input():
    with refused("k = 5", "1 .. 4"):
        utility_bound.exact_failure(5, 5, 1.0)
    with refused("gap = 0"):
        utility_bound.exact_failure(5, 2, 0.0)
    with refused("gap = -1", "above 0"):
        utility_bound.our_failure([1.0, -1.0])
