"""Quoted rates: which reading is right, and broken twins."""

from __future__ import annotations

import pytest

from companion.chapters.private_uniformity import earlier_rates as earlier


def test_the_sum_by_hand():
    assert earlier.central_rate(1, 1.0, 1.0, 1.0) == 4
    assert earlier.central_rate(64, 0.5, 4.0, 4.0) == pytest.approx(8 + 8 + 4 / 0.5 ** (4 / 3) / 4 ** (2 / 3) + 0.5)


def test_one_reading_is_right(monkeypatch):
    record = earlier.check_central_rate()
    assert record.verdict == "depends on the reading"
    by_reading = {c.reading: c.outcome for c in record if c.reading}
    assert list(by_reading.values()) == [False, True]
    rate = earlier.central_rate
    monkeypatch.setattr(earlier, "central_rate", lambda d, e, e_0, first: rate(d, e, e_0, e_0))
    assert earlier.check_central_rate().verdict == "refuted"


def test_two_cells_need_what_the_bound_says():
    needed = earlier.two_cells_need(0.1, 0.3, 0.1)
    assert (
        earlier.best_private_power(needed, 0.6, 0.3, 0.1)
        >= 0.9
        > earlier.best_private_power(needed // 2, 0.6, 0.3, 0.1)
    )


def test_the_local_rate_lacks_a_bound_on_the_budget(monkeypatch):
    assert earlier.check_local_rate().verdict == "needs a condition"
    monkeypatch.setattr(earlier, "coin_samples", lambda epsilon, bias, delta: (1 / bias**2, 10 / bias**2))
    record = earlier.check_local_rate()
    assert not all(c.outcome for c in record if c.about in ("supplied", "corrected"))
