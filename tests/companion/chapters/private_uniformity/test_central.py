"""Laplace noise on Y, by enumeration and broken twins."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from companion.chapters.private_uniformity import central
from companion.printed import busafekete2021 as paper
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

EPSILON, DELTA = 1 / 3, 0.05


@pytest.mark.parametrize(("m", "k"), [(2, 3), (3, 2), (4, 2)])
def test_sign_data_are_those_of_all_rankings(m, k):
    signs = pair_signs(np.array(list(permutations(range(m)))), disjoint_pairs(m)).astype(int)
    brute = {tuple(sum(rows)) for rows in product(signs, repeat=k)}
    data = central.sign_data(m // 2, k)
    assert {tuple(row) for row in data.reshape(-1, m // 2)} == brute
    steps = np.abs(data[:, :, None] - data[:, None]).reshape(-1, m // 2)
    assert set(np.unique(steps)) == {0, 2}


def test_sensitivity_is_refuted_by_the_sum_alone():
    checks = central.check_sensitivity([(2, 2), (4, 3), (5, 2)])
    assert all("ΣΣX = 0" in c.what for c in checks if c.about == "printed" and not c.outcome)


def test_half_the_noise_is_not_private():
    test = paper.laplace_unif(4, 6, EPSILON, DELTA).mechanism
    assert central.laplace_loss(replace(test, scale=test.scale / 2)) > EPSILON
    big = paper.laplace_unif(100, 1000, EPSILON, DELTA).mechanism
    assert central.agreeing_loss(big) == pytest.approx(big.guarantee.epsilon)
    tiny = paper.laplace_unif(4, 4, EPSILON, DELTA).mechanism
    assert central.agreeing_loss(tiny) <= central.laplace_loss(tiny) + 1e-12


def test_variance_of_y_by_enumeration():
    for m, k in ((2, 4), (4, 3)):
        y = central.statistic(central.sign_data(m // 2, k), k)
        assert central.y_variance(m // 2, k, 0.0) == pytest.approx(y.var())


def test_a_variance_in_proportion_to_the_sensitivity_is_not_enough():
    record = central.check_noise_variance()
    assert record.verdict == "refuted"
    assert record[0].observed == pytest.approx(10)
    assert all(c.outcome for c in record if c.about == "corrected")
    assert central.check_noise_variance(few=2, many=2).verdict == "holds"


def test_the_bound_on_a_change_is_attained(monkeypatch):
    assert all(c.outcome for c in central.check_sensitivity([(2, 3), (4, 2)]) if c.about == "corrected")
    frame = central.sensitivities([(2, 3)])
    monkeypatch.setattr(central, "sensitivities", lambda sizes: frame.assign(**{"beyond local": -0.5}))
    assert not all(c.outcome for c in central.check_sensitivity([(2, 3)]) if c.about == "corrected")


def test_signs_cancel_in_the_printed_sum_and_not_in_what_is_drawn():
    """At a tiny size against all data, and as it is drawn."""
    n_pairs, k = 2, 4
    data = central.sign_data(n_pairs, k)
    y = central.statistic(data, k)
    change = np.abs(y[:, :, None] - y[:, None]).max(2)
    frame = central.split_leads(n_pairs, k).set_index("pairs")
    for pairs, row in frame.iterrows():
        agreed = (data == k * np.where(np.arange(n_pairs) < pairs, 1, -1)).all(-1)
        assert change[agreed].max() == row.moves
        assert np.abs(4 / k * data[agreed].sum(-1)).max() == row.printed
    assert frame.printed[1] == 0 < frame.moves[1] == central.sensitivities([(4, k)])["largest change"].iloc[0]
    drawn = central.draw_split_leads(central.split_leads(500, 1000)).axes[0]
    assert [text.get_text() for text in drawn.texts] == ["1,998", "0"]
