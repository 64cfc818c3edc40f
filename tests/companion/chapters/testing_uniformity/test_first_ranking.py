"""MA, whatever its centre; false alarm 1e-6."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
from scipy.stats import norm

from companion.chapters.testing_uniformity import first_ranking
from companion.instruments.style import BAR
from companion.ledger.claim import derive
from dprank.data.kendall import kendall_distance


def test_a_coarse_normal_approximation_is_no_right_size():
    checks = first_ranking.check_ma(first_ranking.ma_sizes(0.05, 40, [(5, 3)]), 0.05)
    assert derive(checks) == "refuted"


def test_the_nearest_centre_by_looking_at_all_data_and_all_centres():
    m, n, delta = 3, 2, 0.3
    orders = list(permutations(range(m)))
    least = [min(sum(kendall_distance(it, c) for it in data) for c in orders) for data in product(orders, repeat=n)]
    spread = math.sqrt(n * m * (m - 1) * (2 * m + 5) / 72)
    rejected = [norm.cdf((total - n * m * (m - 1) / 4) / spread) <= delta / 2 for total in least]
    assert 0 < sum(rejected) < len(rejected)
    assert first_ranking.nearest_size(m, n, delta) == sum(rejected) / len(rejected)


def test_first_ranking_limit_is_reached_by_many_rankings():
    limit = first_ranking.first_ranking_limit(4, [0.0, 0.6]).power.tolist()
    assert limit[0] == 1
    rows = first_ranking.ma_rejections(
        4, 3000, 0.4, 0.05, ["first ranking"], repetitions=300, rng=np.random.default_rng(6)
    )
    share = rows["first ranking",].mean()
    assert abs(share - limit[1]) < math.sqrt(math.log(2 / 1e-6) / 600)


def test_the_figure_draws_every_reading_with_its_bars():
    powers = first_ranking.ma_power(5, 10, [0.0, 0.5], 0.05, 10)
    bars = first_ranking.draw_ma_power(powers).axes[0].containers
    assert [bar.get_label() for bar in bars] == list(first_ranking.READINGS)
    half = [(top[1] - bottom[1]) / 2 for bottom, top in bars[0].lines[2][0].get_segments()]
    assert np.allclose(half, BAR * powers[powers.reading == bars[0].get_label()].se)


def test_the_normal_threshold_is_accurate_unless_the_centre_is_estimated(monkeypatch):
    record = first_ranking.check_accurate()
    assert record.verdict == "depends on the reading"
    assert all(c.outcome == c.reading.startswith("the ranking nearest") for c in record if c.reading)
    monkeypatch.setattr(first_ranking, "two_nearest_size", lambda items, delta: delta)
    assert first_ranking.check_accurate().verdict == "refuted"
