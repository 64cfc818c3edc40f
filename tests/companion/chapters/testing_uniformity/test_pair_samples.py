"""How many rankings UNIF needs: intervals, closed forms and a power that is too low."""

from __future__ import annotations

import pandas as pd
import pytest

from companion.chapters.testing_uniformity import pair_samples, pair_statistics
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper


@pytest.mark.slow
def test_power_below_the_level_fails_the_check():
    weak = pair_samples.powers([100], [0.9], 0.05, 200).assign(mean=0.5)
    assert derive(pair_samples.check_family(weak)) == "refuted"
    assert any(c.outcome is False for c in pair_samples.check_thm_5(weak) if c.about == "corrected")


def test_intervals():
    row = pd.Series({"mean": 1.0, "repetitions": 200})
    middle, half = pair_samples.interval(row)
    assert middle - half > 0.95
    assert middle + half == 1
    assert pair_samples.interval(pd.Series({"mean": 0.0, "repetitions": 100}))[0] < 0.06


def test_family_at_the_paper_s_own_end():
    """m_1 = m / 2 and exponent 1 is the paper's formula for small m but for constants: 48 of its first term."""
    m, theta, delta = 40, 0.3, 2e-300
    own = pair_samples.small_samples(m, theta, delta / 2)  # so that both take the log of 2 / delta
    assert pair_samples.family_samples(m, theta, delta, 1, m / 2) == pytest.approx(own, rel=0.05)


def test_exact_powers():
    assert pair_samples.adjacent_power(2, 1.0, 0.5, 50) == pytest.approx(1)
    assert pair_samples.adjacent_power(10, 0.0, 0.05, 30) == pytest.approx(
        pair_statistics.null_size(10, 30, paper.unif(10, 0.05).threshold)
    )
    assert pair_samples.too_few(1, 0.05)[1] == 1


def test_gain_of_a_random_pairing():
    frame = pair_samples.pairing_gain([1000], 1e-3)
    assert frame.gain.iloc[0] == pytest.approx(frame["2m²/27"].iloc[0], rel=0.01)


def test_the_tradeoff_and_what_is_left_out(monkeypatch):
    assert pair_samples.check_tradeoff().verdict == "holds"
    record = pair_samples.check_assumptions()
    assert record.verdict == "refuted"
    assert all(c.outcome for c in record if c.about != "printed")
    monkeypatch.setattr(pair_samples, "small_samples", lambda m, theta, delta: paper.unif_samples(m, theta, delta) / 2)
    assert pair_samples.check_tradeoff().verdict == "refuted"
