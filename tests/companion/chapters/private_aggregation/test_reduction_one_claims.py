"""Exact but for means of simulations, whose streams are fixed; the chance that one was unlucky is below 1e-6 a test."""

import math
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from checks import each
from scipy import integrate

from companion.chapters.private_aggregation import matrix_order
from companion.chapters.private_aggregation import reduction_one as module
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import derive
from dprank.aggregation.matrix import kemeny_score
from dprank.privacy.gaussian import gaussian_delta


def test_fact_2_on_random_matrices():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(200):
        w, other = rng.random((2, 4, 4)) * rng.choice([0, 1], (2, 4, 4))
        order, change = rng.permutation(4), abs(w - other).sum() - abs(np.diag(w - other)).sum()
        ratios.append(abs(kemeny_score(order, w) - kemeny_score(order, other)) / change)
    assert max(ratios) <= module.largest_change(all_rankings(4), constrained=False) == 1


def test_theorem_1_fails_with_the_fewest_voters_for_which_it_promises_something():
    loose = module.loose_answers(2.0, 1.0, np.random.default_rng(0))
    assert (loose.voters, loose.cost) == (25, 1.0)
    assert loose.promised < 1 <= loose.promised * 25 / 24


@each("alpha", [1.5, 2.0, 5.0])
def test_the_factor_of_theorem_1_is_attained(alpha):
    """A twin that promised alpha, or a hair less than alpha + 1, would be rejected."""
    assert module.transfer(3, alpha, 300, np.random.default_rng(2)) == pytest.approx(alpha + 1, abs=1e-6)


@each("fraction", [0.0, 0.2, 0.5, 1.0])
@each("scale", [0.05, 0.7, 20.0])
def test_error_of_a_clipped_answer_is_its_integral(fraction, scale):
    def term(x):
        return abs(np.clip(fraction + x, 0, 1) - fraction) * math.exp(-abs(x) / scale) / (2 * scale)

    pieces = (-60 * scale, -fraction, 0.0, 1 - fraction, 60 * scale)
    exact = sum(integrate.quad(term, *ends, limit=200)[0] for ends in pairwise(sorted(pieces)))
    assert matrix_order.clipped_error(fraction, scale) == pytest.approx(exact, rel=1e-6)


def test_half_the_budget_of_corollary_3_is_unused():
    assert [module.matrix_loss(m, 3.0) for m in (2, 4, 7)] == pytest.approx([3 / 4, 9 / 8, 9 / 7])


def test_the_constant_of_corollary_4_is_enough_only_under_its_condition():
    for constant in (module.CONSTANT, 50.0):
        epsilon = module.too_large_epsilon(10, 1e-6, constant)
        assert epsilon > math.log(1e6)
        assert module.printed_delta(10, epsilon, 1e-6, constant) > 0.5
        assert module.printed_delta(10, 64 * epsilon, 1e-6, constant) > 0.99
    # a fifth of the constant fails under the condition
    assert module.printed_delta(1000, math.log(1e6), 1e-6, module.CONSTANT / 5) > 1e-6


def test_printed_delta_is_that_of_the_fractions():
    """In the paper's units, n = 40 voters."""
    m, n, epsilon, delta = 6, 40, 2.0, 1e-3
    deviation = module.CONSTANT * m / (epsilon * n) * math.sqrt(math.log(1 / delta))
    exact = gaussian_delta(math.sqrt(15) / n, deviation, epsilon)
    assert module.printed_delta(m, epsilon, delta) == pytest.approx(exact, rel=1e-9)


@each("noise", ["gaussian", "laplace"])
def test_order_bound_holds_on_pure_noise_and_is_not_idle(noise):
    gain = matrix_order.over_bound(matrix_order.gain_sweep([3, 6, 9], 200, noise))
    assert (gain["mean"] + 5 * gain.se < 1).all()
    # a twin without the logarithm of the number of orders, at m^1.5 / 2, is rejected
    twin = gain["mean"] * [matrix_order.order_bound(m, noise) / (m**1.5 / 2) for m in gain.n_items]
    assert (twin - 5 * gain.se > 1).any()


@each("noise", ["gaussian", "laplace"])
def test_order_bound_is_the_infimum_of_its_family(noise):
    """The closed forms against the exponential moments they come from, at the chapter's choice of lambda."""
    m = 12
    pairs, orders = math.comb(m, 2), math.lgamma(m + 1)
    grid = np.linspace(1e-3, 0.999, 5000)
    log_moment = grid**2 / 2 if noise == "gaussian" else -np.log1p(-(grid**2))
    least = ((orders + pairs * log_moment) / grid).min()
    assert least <= matrix_order.order_bound(m, noise) * (1 + 1e-6)
    assert matrix_order.order_bound(m, noise) <= 1.1 * least


def test_planted_errors_count_wrong_pairs():
    rng = np.random.default_rng(3)
    assert matrix_order.planted_errors(5, 1e4, "gaussian", 20, rng) == pytest.approx(0)
    errors = matrix_order.planted_errors(5, 1.0, "gaussian", 50, rng) / (2 / math.sqrt(5))
    assert errors == pytest.approx(np.rint(errors))
    assert errors.max() > 0


@each("noise, check", [("laplace", matrix_order.check_cor_3), ("gaussian", matrix_order.check_cor_4)])
@pytest.mark.slow
def test_gains_beyond_our_bound_are_found(noise, check):
    frame = matrix_order.gain_sweep([4, 7], 30, noise)
    for times in (1, 2.5):
        checks = check(frame.assign(mean=times * frame["mean"]), 20)
        assert all(one.outcome for one in checks if one.about == "corrected") == (times == 1)


def test_the_worst_crowd_of_the_exponential_mechanism_agrees():
    for voters in (1, 2, 4, 6):
        every, crowd = (matrix_order.exponential_loss(3, voters, kind) for kind in ("all", "unanimous"))
        assert every == pytest.approx(crowd, rel=1e-12)
    assert matrix_order.exponential_loss(4, 1, "unanimous") == pytest.approx(0.5)
    assert 0.9999 < matrix_order.exponential_loss(3, 2000, "unanimous") <= 1 + 1e-12


def test_exact_errors_of_the_exponential_mechanism():
    frame = matrix_order.exponential_errors((2, 4))
    row = frame[(frame.n_items == 4) & (frame["agree"] == 0.75) & (frame.voters == 80)].iloc[0]
    orders, votes = all_rankings(4), np.triu(np.full((4, 4), 60.0), 1) + np.tril(np.full((4, 4), 20.0), -1)
    cost = np.array([kemeny_score(order, votes) for order in orders])
    law = np.exp(-cost / 12) / np.exp(-cost / 12).sum()
    assert row.error == pytest.approx((law @ cost - cost.min()) / 80)
    assert frame["of ours"].max() < 1
    assert derive(matrix_order.check_hay()) == "holds"


def test_curves_and_table():
    curves = matrix_order.error_curves(matrix_order.planted_sweep([3, 5, 8], 10))
    assert sorted(curves.curve.unique()) == ["measured", "our bound", "printed bound"]
    rise = matrix_order.slopes(curves)
    assert rise["printed bound"].tolist() == pytest.approx([2, 2])

    def grown(small, large):
        ratio = matrix_order.order_bound(large, "gaussian") / matrix_order.order_bound(small, "gaussian")
        return math.log(ratio) / math.log(large / small)

    assert rise["our bound"].iloc[1] == pytest.approx(grown(5, 8))
    far = [grown(m, 2 * m) for m in (10, 1000, 10**5)]
    assert 1.5 < far[2] < far[1] < far[0] < 2
    bounds = matrix_order.bounds_table((5, 100))
    assert (bounds["Gaussian, ours"] < bounds["Gaussian, printed"]).all()
    assert bounds["Laplace, printed"].tolist() == [2 * 5.0**4, 2 * 100.0**4]


def test_corollary_4_exists_beyond_its_noise(monkeypatch):
    monkeypatch.setattr(matrix_order, "EXISTING", (3, 20, 1000))
    assert 0.9 < matrix_order.existing((1e-6,)) <= 1
    wider = matrix_order.matrix_error(100, 8 * 100 * math.log(1e6) / math.log(100), 1e-6)
    assert wider > matrix_order.printed_rate(4, 100, 8 * 100 * math.log(1e6) / math.log(100), 1e-6)


def test_corollary_4_fails_just_above_log_delta():
    share = matrix_order.fails_from(1e-6)
    log = math.log(1e6)
    assert matrix_order.printed_delta(10**6, 0.999 * share * log, 1e-6) < 1e-6
    assert matrix_order.printed_delta(10**6, 1.001 * share * log, 1e-6) > 1e-6
    assert 1 < matrix_order.fails_from(1e-100) < share


def test_the_exponential_mechanism_needs_no_law_of_the_voters(monkeypatch):
    assert derive(matrix_order.check_generative()) == "refuted"
    monkeypatch.setattr(matrix_order.ExponentialMechanism, "additive_error", lambda self, n: 100.0)
    assert derive(matrix_order.check_generative()) == "holds"


def test_second_line_by_hand_and_with_its_mean(monkeypatch):
    assert module.second_line(0.1, 0.01, 1.0) == pytest.approx(0.04 + 0.4)
    record = module.check_thm_1_proof()
    assert record.verdict == "refuted"
    assert all(c.outcome for c in record if c.about in ("corrected", "argument"))
    right = module.second_line
    monkeypatch.setattr(module, "second_line", lambda noise, scale, alpha: right(noise, scale, alpha) - 0.04)
    assert not all(c.outcome for c in module.check_thm_1_proof() if c.about in ("corrected", "argument"))


def test_noise_of_a_pair_is_not_that_of_two_fractions(monkeypatch):
    assert module.check_independent().verdict == "depends on the reading"

    def apart(fraction, noise):
        return fraction + noise, 1 - fraction + np.random.default_rng(1).permutation(noise)

    monkeypatch.setattr(module, "footnote_answers", apart)
    assert not all(c.outcome for c in module.check_independent() if c.about == "corrected")
    monkeypatch.setattr(module, "matrix_loss", lambda n_items, epsilon: epsilon)
    assert module.check_independent().verdict == "refuted"


def test_best_orders_are_drawn_by_the_mechanism_itself(monkeypatch):
    m, epsilon = 3, 1.0
    mechanism = matrix_order.ExponentialMechanism.calibrated(n_items=m, epsilon=epsilon)
    copies = math.ceil(6 * math.log(12))
    least = 1.0
    for voters in combinations_with_replacement(all_rankings(m), 4):
        cost = np.array(
            [
                sum((np.sign(np.subtract.outer(a, a)) != np.sign(np.subtract.outer(b, b))).sum() // 2 for b in voters)
                for a in all_rankings(m)
            ]
        )
        weight = np.exp(-mechanism.rate * copies * cost)
        least = min(least, weight[cost == cost.min()].sum() / weight.sum())
    assert matrix_order.best_share(m) == pytest.approx(least)
    record = matrix_order.check_inefficient(few=(2, 3))
    assert record.verdict == "holds"
    assert all(c.outcome for c in record)
    monkeypatch.setattr(matrix_order, "best_share", lambda m: 0.5)
    assert not all(c.outcome for c in matrix_order.check_inefficient(few=(2,)) if c.about == "corrected")
