"""The map of the lower bounds, and broken twins."""

from itertools import product

import numpy as np
from checks import all_rankings

from companion.chapters.aggregation_lower_bounds import cube
from companion.ledger.claim import derive
from dprank.aggregation.lower_bounds import embed, signs
from dprank.data.kendall import pairwise_kendall_distances


def test_observations_for_several_voters():
    rng = np.random.default_rng(1)
    for d, t, n in ((2, 1, 3), (3, 2, 4)):
        x = rng.choice([-1, 1], (n, d))
        cost = pairwise_kendall_distances(all_rankings(2 * d + t), embed(x, t)).mean(1)
        inner = (d - signs(all_rankings(2 * d + t), d) @ x.mean(0)) / 2
        assert (cost >= (t + (d + 1) / 2) * inner - 1e-9).all()
        for y in cube.all_signs(d):
            cost = pairwise_kendall_distances(embed(y, t)[None], embed(x, t)).mean()
            assert cost <= 2 * t * (d - y @ x.mean(0)) / 2 + d * d + 1e-9


def test_observation_16_fails_where_t_exceeds_d_only():
    for d, t in product(range(1, 6), range(9)):
        frame = cube.observation_16(d, t)
        assert (frame.cost <= frame.printed).all() == (t <= d)


def test_borda_scores_of_embedded_rankings_are_sums_of_signs():
    rng = np.random.default_rng(4)
    d, t = 3, 4
    x = rng.choice([-1, 1], (5, d))
    total = embed(x, t).sum(0)
    assert (total[:d] - total[d + t :] == (d + t) * x.sum(0)).all()
    m = 2 * d + t
    reverse = np.arange(m)[::-1]
    assert ((np.arange(m) - reverse) ** 2).sum() == m * (m * m - 1) // 3


def test_a_broken_distance_is_rejected(monkeypatch):
    monkeypatch.setattr(cube, "embedded_distance", lambda h, d, t: h * (t + 2 * d - h))
    assert not all(check.outcome for check in cube.check_obs_16() if check.about == "corrected")


def test_table_for_readers():
    row = cube.table_16([(10, 100, 3)]).iloc[0]
    assert row.tolist() == [10, 100, 3, 3 * (200 + 20 - 3), 300 + 200, 600 + 100]


def test_the_picture_of_the_map_exchanges_what_the_words_exchange():
    frame = cube.places((1, -1), 3)
    assert frame.place.tolist() == [6, 2, 3, 4, 5, 1, 7]
    assert frame.kind.tolist() == ["exchanged", "left alone", *["between"] * 3, "exchanged", "left alone"]
    axes = cube.draw_places(frame).axes[0]
    assert axes.get_legend_handles_labels()[1] == ["3 to 5 stay", "2 and 7 stay", "1 and 6 change places"]
    assert len(axes.lines) == 7 + 2  # a line an item, a bracket a pair


def test_only_signs_are_read_off_the_best_orders(monkeypatch):
    assert derive(cube.check_only_signs(((1, 1, 3), (2, 2, 3)))) == "holds"
    frame = cube.best_orders(1, 1, 3)
    assert frame.marginal.tolist() == [(-3,), (-1,), (1,), (3,)]
    assert frame.orders.nunique() == 2
    inverse = cube.signs
    monkeypatch.setattr(cube, "signs", lambda rankings, d: -inverse(rankings, d))
    assert derive(cube.check_only_signs(((1, 1, 3), (2, 2, 3)))) == "refuted"
