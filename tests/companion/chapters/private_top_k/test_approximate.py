"""Closed forms, enumeration, and twins that the checks must reject. Nothing here is random."""

import math
import re
from itertools import product

import numpy as np
import pytest
from checks import patch_all
from numpy.testing import assert_allclose

from companion.chapters.private_top_k import approximate as approx
from companion.chapters.private_top_k import noise_need
from companion.ledger.claim import derive
from dprank.pairwise import top_set_law
from dprank.topk.bound import log_delta, shift_for


def test_proof_ratio_is_the_supremum():
    t = np.linspace(1e-3, 0.25, 400)
    assert (np.diff(-np.log(np.exp(t) + np.exp(3 * t) - np.exp(4 * t)) / t**2) > 0).all()


def test_proof_ratio_fails_where_the_proof_does():
    """The constant 4 and a range three times as wide are beyond this proof."""
    assert approx.proof_ratio(constant=4.0)[0] > approx.proof_room(math.log(40), 4.0)
    assert approx.proof_ratio(reach=48.0)[0] > approx.proof_room(math.log(40))


def test_proof_step_against_the_theorem():
    """What the proof concludes is what the library's bound says, at the proof's alpha or better."""
    for k, delta, epsilon in product((200, 1000, 10**5), (0.5, 0.05, 1e-5), (0.2, 1.0, 16.0)):
        length = math.log(k / delta)
        if k > 16 * length:
            scale = approx.printed_scale(k, epsilon * length / 16, delta, k)
            assert log_delta(k, 1 / scale, epsilon * length / 16) <= math.log(delta)


def test_range_of_epsilon():
    beyond = approx.beyond_range(1000, 0.05, [16.0, 256.0])
    assert beyond["δ needed"].iloc[0] < 0.05 < beyond["δ needed"].iloc[1]
    assert_allclose(approx._shortest_length(), math.log(68))


def test_useful():
    for row in noise_need.first_useful([0.05, 1e-6]).itertuples():
        k, delta = row[2], row[1]
        assert k > 16 * math.log((k + 1) / delta)
        assert k - 1 <= 16 * math.log(k / delta)
        assert shift_for(row[5], 0.2, delta) > 0.1 / row[5]
        assert shift_for(row[5] - 1, 0.2, delta) <= 0.1 / (row[5] - 1)
    k = noise_need.first_useful_square()
    assert k > 48 * math.log(k + 1) > 47 * math.log(k)


def test_closed_form_is_enough():
    for k, epsilon, delta in product((1, 3, 8, 20, 100, 10**4, 10**6), (0.01, 0.2, 1.0), (0.05, 1e-3, 1e-9, 1e-100)):
        proved = max(epsilon / (2 * k), shift_for(k, epsilon, delta))
        assert 1 / noise_need.simple_scale(k, epsilon, delta) <= proved * (1 + 1e-12)
    low, high = noise_need.simple_slack()
    assert 0 < low <= high < low + 1e-9
    assert noise_need.simple_slack(epsilon=4.0)[1] < 0  # the proof has its range


def test_pieces_of_the_proof_of_the_closed_form():
    u = np.linspace(1e-4, (3 - math.sqrt(5)) / 2, 1000)
    assert (-np.log(1 - np.expm1(u) ** 2) <= u**2 / (1 - u) ** 2).all()
    assert (np.exp(u) * np.expm1(u) / u * (1 - u) ** 2 <= 1).all()
    alpha = np.geomspace(0.1, 1e4, 100)
    assert (alpha * np.log1p(1 / alpha) >= 1 - 1 / (2 * alpha + 1)).all()


def test_needed_scale_by_enumeration():
    """Two of four equal values up: the least scale at which the enumerated laws are close enough."""
    epsilon, delta = 0.3, 0.02
    scale = approx.needed_scale(2, epsilon, delta)
    worst = 0.0
    for up, down in approx.candidate_pairs(2):
        if up + down <= 8:
            p, q = (top_set_law(x, scale, 2) for x in (np.zeros(up + down), np.r_[np.ones(up), -np.ones(down)]))
            worst = max(
                worst,
                sum(max(p[s] - math.exp(epsilon) * q[s], 0) for s in p),
                sum(max(q[s] - math.exp(epsilon) * p[s], 0) for s in p),
            )
    assert worst <= delta * (1 + 1e-3)
    assert scale <= min(4 / epsilon, 1 / shift_for(2, epsilon, delta))


def test_exponential_noise():
    law = approx.equal_values(1, 4, 4, 5.0, "exponential")
    assert_allclose(law.epsilon(0.0), 8 / 5, rtol=1e-9)
    assert_allclose(law.delta(0.3), -np.expm1(0.3 - 8 / 5) / 5, rtol=1e-9)
    frame = noise_need.exponential_needs([10, 50], 0.2, 1e-3)
    for row in frame.itertuples():
        law = approx.equal_values(1, row.k, row.k, row[3] * row[2], "exponential")
        assert_allclose(law.delta(0.2), 1e-3, rtol=1e-6)
    frame = noise_need.exponential_needs([10, 50], 0.2, 1e-6)
    assert (frame["k of k + 1"] > 0.999).all()
    assert (np.diff(frame["k of 2k"]) < 0).all()


def test_scales_and_winners():
    frame = approx.scales([1, 10], 0.2, 1e-6, 1e6)
    assert len(frame) == 2 * len(approx.MECHANISMS)
    wide = frame.pivot(index="k", columns="mechanism", values="scale")
    assert (wide["Laplace, true need at least"] <= wide["Laplace, our bound"]).all()
    for proof, need in (("Gumbel, zCDP or pure", "Gumbel"), ("exponential, pure", "exponential")):
        over = wide[proof] / wide[f"{need}, true need at least"]
        assert over.between(1 - 1e-9, 1.15).all()
    proved = wide[["Laplace, Theorem 2.1", "Laplace, our bound"]].min(axis=1) / wide["Laplace, true need at least"]
    assert proved[1] < 1.01
    assert proved[10] > 1.3
    figure = approx.draw_scales(frame)
    (most,) = re.findall(r"([\d.]+) times", figure.get_suptitle().replace("\n", " "))
    drawn = [
        text.get_text().removesuffix(" ×") for axes in figure.axes for text in axes.texts if "×" in text.get_text()
    ]
    assert drawn[0] == most
    told = [float(drawn[1]), float(most)]
    over_gumbel = (wide["Gumbel, zCDP or pure"] / wide["Gumbel, true need at least"]).max()
    assert np.subtract(told, [over_gumbel, proved.max()]) == pytest.approx([0.005] * 2, abs=0.005 + 1e-9)
    assert approx.winners(frame)["least noise"].tolist() == ["exponential, pure", "Gumbel, zCDP or pure"]
    first = approx.gumbel_wins(0.2, 1e-6)
    wins = [approx.LAWS["gumbel"].deviation * approx.gumbel_scale(k, 0.2, 1e-6) < 10 * k for k in (first - 1, first)]
    assert wins == [False, True]


@pytest.mark.parametrize(
    ("name", "factor", "check", "verdict"),
    [
        ("printed_scale", 1 / 30, lambda: approx.check_thm_2_2([200]), "refuted"),
        ("printed_scale", 1 / 3.4, lambda: approx.check_thm_2_2([200]), "refuted"),  # too little to be proved
        (
            "printed_scale",
            1 / 30,
            lambda: approx.check_lem_4_1(150),
            "depends on the reading",
        ),  # the proof sees no noise
        ("printed_scale", 1 / 100, lambda: approx.check_epsilon_range(500), "refuted"),
        ("printed_scale", 1 / 10, lambda: noise_need.check_useful([0.05]), "holds"),
        ("needed_scale", 10, lambda: noise_need.check_better_bounds([10]), "refuted"),
        ("needed_scale", 1 / 10, lambda: noise_need.check_noise_level([10]), "refuted"),
    ],
)
@pytest.mark.slow
def test_other_noise_changes_the_verdict(monkeypatch, name, factor, check, verdict):
    patch_all(monkeypatch, (approx, noise_need), name, lambda true: lambda *args: factor * true(*args))
    assert derive(check()) == verdict
