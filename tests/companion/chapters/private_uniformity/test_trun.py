"""TRUN's privacy against enumeration and closed forms."""

import math
import re
from itertools import permutations

import numpy as np
import pytest
from checks import each

from companion.chapters.private_uniformity import trun
from companion.printed import busafekete2021 as paper
from dprank.uniformity.pairs import pair_signs


def test_mu_of_two_items():
    # total variation of phi and 1 on two items is (1 - phi) / (1 + phi) / 2
    phi = 0.5
    assert trun.mu_at(2, (1 - phi) / (1 + phi) / 2) == pytest.approx((1 - phi**0.25) / (1 + phi**0.25))


@each(("m", "k"), [(2, 8), (4, 5), (4, 6), (6, 3)])
@each("width", [1.0, 30.0, 100.0])
def test_worst_neighbours_between_nothing_and_the_exact_loss(m, k, width):
    test = paper.PrintedTrun(m, k, coin=0.3, scale=1.0, start=0.5, width=width, gate=math.inf, accept_large=False)
    found, exact = trun.worst_neighbours(test).loss, trun.exhaustive_loss(test)
    assert found <= exact + 1e-12
    assert exact <= test.guarantee.epsilon
    assert found >= 0.5 * exact


def drawn_acceptance(test):
    """P(accept) for all data of four items, the first ranking fixed: the mean over all orders that may be drawn."""
    rankings = np.array(list(permutations(range(4))))
    signs = np.array([pair_signs(rankings, order.reshape(2, 2)) for order in rankings])
    sums = signs[:, 0]
    for _ in range(test.n_voters - 1):
        sums = sums[..., None, :] + signs.reshape(24, *[1] * (sums.ndim - 2), 24, 2)
    return test.accepts(sums).mean(0)


@each("k", [2, 3, 4])
@each("accept_large", [True, False])
def test_agreeing_loss_by_enumeration_of_pairings(k, accept_large):
    test = paper.trun(4, k, 5.0, 0.3, 1.0, accept_large=accept_large).mechanism
    accept = drawn_acceptance(test)
    # the first of all rankings and its reverse, the last
    curve = [accept[(0,) * (k - 1 - a) + (-1,) * a] for a in range(k)]
    # all reversed is all agreed
    curve.append(curve[0])
    found = max(np.abs(np.diff(np.log(p))).max() for p in (np.array(curve), 1 - np.array(curve)))
    assert trun.agreeing_loss(test) == pytest.approx(found, rel=1e-12)
    # all data; neighbours differ in the last ranking
    exact = max(np.ptp(np.log(p), axis=-1).max() for p in (accept, 1 - accept))
    assert found <= exact + 1e-12
    assert exact <= trun.exhaustive_loss(test) + 1e-12


def test_a_secret_pairing_lowers_the_loss():
    test = paper.trun(4, 2, 5.0, 0.3, 1.0).mechanism
    assert trun.agreeing_loss(test) < trun.exhaustive_loss(test) - 0.01


@pytest.mark.parametrize("accept_large", [True, False])
def test_bounds_for_many_pairs_hold_the_exact_value(monkeypatch, accept_large):
    test = paper.trun(100_000, 100, trun.EPSILON_0, 0.5, 0.05, accept_large=accept_large).mechanism
    s = trun.ramp_sums(test)
    exact, loss = trun.agreeing_acceptance(test, s)[0], trun.agreeing_loss(test)
    monkeypatch.setattr(trun, "MOST_PAIRS", 1000)
    low, high = trun.agreeing_acceptance(test, s)
    assert (low <= exact).all()
    assert (exact <= high).all()
    assert 0.95 * loss < trun.agreeing_loss(test) <= loss


def test_worst_neighbours_meet_the_bound_where_the_grid_is_fine():
    test = paper.trun(100, 1000, trun.EPSILON_0, trun.DELTA, 0.05).mechanism
    worst = trun.worst_neighbours(test)
    assert 0.97 * test.guarantee.epsilon < worst.loss <= test.guarantee.epsilon
    assert abs(math.sqrt(1000 * worst.y) - math.sqrt(1000 * worst.y_less)) == pytest.approx(test.reach, rel=1e-3)


def test_privacy_is_lost_at_any_constant_and_at_the_significance_of_the_paper():
    """The rankings are a square, no less than the constant times the printed maximum and hardly more."""
    frame = trun.losses_by_constant((0.1, 1, 10, 100), trun.EPSILON_0, trun.DELTA)
    assert frame.attained.min() > 0.75
    for row in frame.itertuples():
        least = row.constant * trun.theorem_6(row.items, row.mu, trun.EPSILON_0, trun.DELTA).max()
        assert math.isqrt(row.rankings) ** 2 == row.rankings
        assert least <= row.rankings < (math.sqrt(least) + 1) ** 2 + 1


def test_private_sample_size_is_private_and_a_fifth_of_it_is_not_always():
    assert trun.corrected_margin() <= 1
    mu, delta = 1e-4, 0.05
    k = trun.private_rankings(mu, trun.EPSILON_0, delta)
    fifth = paper.trun(100, k // 20, trun.EPSILON_0, delta, mu).mechanism
    assert trun.agreeing_loss(fifth) > trun.EPSILON_0


def test_the_title_names_the_rankings_that_are_enough():
    frame = trun.acceptance_curve(100, 1000, 0.5)
    loss = frame[frame.panel == "loss"].set_index("rankings").low
    (number,) = re.findall(r"[\d,]{4,}", trun.draw_acceptance(frame).get_suptitle())
    enough = float(number.replace(",", ""))
    assert loss[loss.index > 1.25 * enough].max() < trun.EPSILON_0 < loss[loss.index < enough].min()


def test_a_sound_test_would_pass(monkeypatch):
    """The checks can say yes: with the answers exchanged the algorithm passes the check that the print fails."""
    printed = paper.trun
    monkeypatch.setattr(paper, "trun", lambda *a, **k: printed(*a, **(k | {"accept_large": False})))
    fall = [c for c in trun.check_alg_3() if c.about == "printed" and c.what.startswith("P(accept)")]
    assert all(check.outcome for check in fall)


def test_the_coin_is_tossed_with_chance_delta(monkeypatch):
    record = trun.check_tail()
    assert record.verdict == "holds"
    assert all(c.outcome for c in record)
    original = paper.trun
    monkeypatch.setattr(paper, "trun", lambda m, k, e, delta, mu: original(m, k, e, delta / 2, mu))
    assert not any(c.outcome for c in trun.check_tail() if c.about == "argument")
