"""How many rankings UNIF needs: intervals, closed forms and a power that is too low."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from companion.chapters.testing_uniformity import (
    independence,
    pair_samples,
    pair_statistics,
)
from companion.instruments.sweep import stream
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import pair_statistic


@pytest.mark.slow
def test_power_below_the_level_fails_the_check():
    weak = pair_samples.powers([100], [0.9], 0.05, 200).assign(mean=0.5)
    assert derive(pair_samples.check_family(weak)) == "refuted"
    assert any(c.outcome is False for c in pair_samples.check_thm_5(weak) if c.about == "corrected")


def test_mean_of_the_statistic_by_simulation():
    law, k = Mallows.of_phi(8, 0.7), 5
    rng = stream("test: mean statistic", {})
    y = np.array([pair_statistic(pair_signs(law.sample(k, rng=rng), disjoint_pairs(8, rng=rng))) for _ in range(4000)])
    assert abs(y.mean() - pair_samples.mean_statistic(law, k)) < 5 * y.std() / math.sqrt(len(y))


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


def test_tables():
    assert independence.least_failing_items() == 14
    frame = pair_samples.line_5([12, 100], 0.5, 2 * math.exp(-3))
    assert frame.k.iloc[0] == math.inf
    assert frame.m1.to_numpy() == pytest.approx([0, 12.5 - math.sqrt(300 / 16)])
    curves = pair_statistics.null_curves([(2, 7), (10, 2)])
    last = curves[curves.m == 2].iloc[-1]
    assert last["size"] > last.promised
