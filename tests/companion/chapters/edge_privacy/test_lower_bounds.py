"""The lower bounds of edge privacy: brute force, linear programs, closed forms and broken twins. Nothing is random."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from checks import each
from scipy.stats import binom, laplace

from companion.chapters.edge_privacy import attack, attack_limit, fano, minimax, private_programs, recovery
from companion.chapters.edge_privacy import lower_bounds as experiment
from companion.ledger.claim import derive
from dprank.models.bradley_terry import ARCTAN, LOGISTIC

ROUNDING = 1e-9


def _outcomes(checks):
    return [check.outcome for check in checks]


# --- the attack


def test_outcomes_are_all_and_antisymmetric():
    outcomes = attack.all_outcomes(3)
    assert len({o.tobytes() for o in outcomes}) == 8
    assert (outcomes + outcomes.swapaxes(1, 2) == 1 - np.eye(3)).all()
    with pytest.raises(ValueError, match=r"n_items = 1.*2 to 5"):
        attack.all_outcomes(1)


@pytest.mark.parametrize("link", [LOGISTIC, ARCTAN])
def test_score_terms_are_the_derivative_of_the_log_likelihood(link):
    theta, step = np.array([0.4, -0.3, 0.1]), 1e-6
    for outcome in attack.all_outcomes(3):
        rows, columns = np.triu_indices(3, 1)

        def log_likelihood(t, outcome=outcome, rows=rows, columns=columns):
            gaps = t[rows] - t[columns]
            return np.where(outcome[rows, columns], link.log_cdf(gaps), link.log_cdf(-gaps)).sum()

        score = attack.score_terms(theta, outcome, link).sum(-1)
        for k, e in enumerate(np.eye(3)):
            slope = (log_likelihood(theta + step * e) - log_likelihood(theta - step * e)) / (2 * step)
            assert score[k] == pytest.approx(slope, abs=1e-8)


def test_the_attack_by_hand():
    # two items of strength 0 that meet once; item 1 wins: its score is 1/2, that of item 2 is -1/2
    terms = attack.score_terms([0.0, 0.0], [[0, 1], [0, 0]])
    assert attack.attack([1.0, 3.0], terms, 0, printed=True).sum() == 0.5
    assert attack.attack([1.0, 3.0], terms, 1, printed=True).sum() == 1.5
    assert attack.attack([1.0, 3.0], terms, 1, printed=False).sum() == -1.5


@pytest.mark.parametrize("n", [2, 3])
def test_only_the_first_item_gets_its_score_as_printed(n):
    assert (attack.attack_gaps(n, printed=False)[["from_score", "from_l2"]] < ROUNDING).all(axis=None)
    printed = attack.attack_gaps(n, printed=True)
    assert printed.from_score[0] < ROUNDING
    assert (printed.from_score[1:] > 0.5).all()


# --- Proposition 2.3


@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_mean_absolute_score(d):
    wins = np.arange(d + 1)
    assert attack_limit.mean_abs_score(d) == pytest.approx((binom.pmf(wins, d, 0.5) * abs(wins - d / 2)).sum())


def test_a_rare_leak_by_enumeration():
    n, epsilon, delta, size = 4, 0.1, 0.01, 50.0
    law = np.full(8, 1 / 8)
    y = np.array(list(product((0, 1), repeat=3)))
    score = (y - 0.5).sum(-1)
    estimate = delta * size * np.sign(score)
    both = attack_limit.rare_leak(n, epsilon, delta, size)
    assert both["attack"] == pytest.approx(law @ (estimate * score))
    assert both["bound"] == pytest.approx(attack_limit.printed_bound(n, 1, epsilon, delta, delta * size))


def test_the_rare_leak_obeys_once_it_is_clipped():
    for n in (17, 1000, 10**6):
        both = attack_limit.rare_leak(n, 1 / (4 * n), 1 / n**2, 1.0)
        assert both["attack"] < both["bound"]


def test_pure_ratio_by_enumeration():
    d, epsilon = 4, 0.5
    wins = np.arange(d + 1)
    law, chance = binom.pmf(wins, d, 0.5), np.exp(epsilon * (wins - d)) / 2
    attack, error = law @ (chance * (wins - d / 2)), law @ chance
    steps = np.r_[chance[1:] / chance[:-1], (1 - chance[:-1]) / (1 - chance[1:])]
    assert np.log(steps).max() <= epsilon + 1e-12, "private"
    ratio = attack / (4 * attack_limit.KAPPA_1 * 5 * 0.5 * epsilon * error)
    assert attack_limit.pure_ratio(5, 0.5, epsilon) == pytest.approx(ratio)


def test_worst_attack_on_one_comparison_is_the_closed_form():
    # free of charge: -1 after a loss, 1 after a win, each with the largest allowed probability
    epsilon = 0.7
    keep = 1 / (1 + math.exp(-epsilon))
    assert attack_limit.worst_attack(1, epsilon, 0.0, 0.0) == pytest.approx(0.5 * (2 * keep - 1))
    assert attack_limit.worst_attack(1, 0.0, 0.3, 0.0) == pytest.approx(0.5 * 0.3)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (0.5, 0.05)])
def test_no_private_estimate_beats_the_worst_attack(epsilon, delta):
    d, price = 6, 1.3
    wins = np.arange(d + 1)
    law = binom.pmf(wins, d, 0.5)
    most = attack_limit.worst_attack(d, epsilon, delta, price)
    for scale in (0.2, 1.0):
        # Laplace noise on the wins, then the sign of what is left
        up = laplace.sf(d / 2, wins, 1 / epsilon)
        mean, size = scale * (2 * up - 1), scale
        assert law @ (mean * (wins - d / 2)) - price * size <= most + ROUNDING


def test_prop_2_3_verdicts_and_mutant():
    checks = attack_limit.check_prop_2_3((0.3,))
    assert derive(checks) == "constants"
    assert all(c.outcome for c in checks if c.about != "printed")
    # with half the density our lemma must fail
    at = attack_limit.worst_attack(16, 0.01, 0.01, 16 * 0.125 * math.expm1(0.01))
    assert at > 2 * 16 * 0.125 * 0.01


def test_prop_2_3_proof():
    checks = attack_limit.check_prop_2_3_proof()
    assert derive(checks) == "refuted"
    assert _outcomes(checks) == [False, False, True, True, True, True, True]


# --- Proposition 2.4 and Theorem 2.2


def test_the_prior_and_its_slope():
    x, w = attack.prior_rule(1.0)
    assert w.sum() == pytest.approx(1)
    assert w @ x**2 == pytest.approx(1 / 7)
    assert (w * abs(4 * x / (1 - x**2))).sum() == pytest.approx(attack.PRIOR_SLOPE, rel=2e-3)
    with pytest.raises(ValueError, match=r"radius = 0"):
        attack.prior_rule(0)


def test_no_estimator_identifies_a_shift():
    for link in (LOGISTIC, ARCTAN):
        assert attack.least_risk(3, link) == 1


@pytest.mark.slow
def test_expected_attacks_are_those_of_the_enumeration():
    n, slope = 3, 0.8

    def linear(outcomes):
        return slope * (outcomes.sum(-1) - (n - 1) / 2)

    frame = attack.expected_attacks(n, slope, 1.0).set_index(["calibration", "k"]).attack
    for k, printed in product(range(n), (True, False)):
        both = attack.enumerated_attack(n, linear, k, printed=printed)
        assert both["attack"] == pytest.approx(frame["as printed" if printed else "corrected", k + 1], abs=1e-6)
        if not printed:
            assert both["by_parts"] == pytest.approx(both["attack"], abs=ROUNDING)
    assert frame["as printed", 3] < 0


def test_linear_estimate_has_the_bias_that_is_claimed():
    x = np.linspace(-1, 1, 401)
    assert abs(4 * LOGISTIC.cdf(x) - 2 - x).max() <= attack.linear_risk(10**12, 0.5)


def test_the_verdicts_of_the_score_attack():
    assert derive(attack.check_attack_sum()) == "refuted"
    for name, verdict in (
        ("prop_2_4", "vacuous"),
        ("prop_2_4_proof", "refuted"),
        ("thm_2_2", "vacuous"),
        ("nonprivate_rate", "refuted"),
    ):
        checks = getattr(experiment, f"check_{name}")()
        assert derive(checks) == verdict
        assert all(c.outcome for c in checks if c.about == "corrected")


def test_corrected_bounds_hold_on_a_finer_grid_and_refuse_sparse_graphs():
    grid = minimax.corrected_grid((17, 18, 25, 60, 300, 3000, 10**5, 10**7))
    for bound in ("fano", "private", "score"):
        assert (grid[bound] >= grid[f"stated_{bound}"]).all()
    with pytest.raises(ValueError, match=r"p = 0\.5.*above 6 log n / n"):
        minimax.corrected_bounds(17, 0.5, 0.5, 0.0)


def test_the_bounds_do_not_exceed_the_risk_of_zero():
    assert (minimax.corrected_grid()[["fano", "private", "score"]] < 1).all(axis=None)


# --- DP Fano


def _cube(bits):
    data = np.array(list(product((0, 1), repeat=bits)))
    distance = np.abs(data[:, None] - data).sum(-1)
    return data, distance, [(a, b) for a, b in combinations(range(len(data)), 2) if distance[a, b] == 1]


@each("epsilon", [0.1, 1.0, 3.0])
@each("bits", [1, 2, 3])
def test_two_constants_are_told_apart_as_well_as_a_path_between_them_allows(epsilon, bits):
    data, _, neighbours = _cube(bits)
    laws = np.eye(len(data))[[0, -1]]
    risk = private_programs.private_risk(laws, epsilon, 0.0, fano.star(2), neighbours)
    # each answer's probability may fall by e^epsilon a step from the middle of the path to its end
    middle = 1 / (1 + math.exp(epsilon)) if bits % 2 else 0.5
    assert risk == pytest.approx(middle * math.exp(-(bits // 2) * epsilon))


def test_private_risk_with_delta_only_is_name_and_shame():
    risk = private_programs.private_risk(np.eye(2), 0.0, 0.2, 1 - np.eye(2), [(0, 1)])
    assert risk == pytest.approx(0.4)


def test_least_coupling_of_coins_is_total_variation():
    assert private_programs.least_coupling([0.3, 0.7], [0.6, 0.4], [[0, 1], [1, 0]]) == pytest.approx(0.3)


@pytest.mark.slow
def test_our_bound_is_below_every_exact_risk():
    for delta in (0.0, 0.003, 0.05):
        cases = fano.fano_cases((0.05, 0.5, 2.0), delta)
        assert (cases.ours <= cases.risk + ROUNDING).all()
        assert (cases.printed <= cases.risk + ROUNDING).all()
    # twice the bound is too much: the comparison can fail
    assert (2 * cases.ours > cases.risk).any()


def test_our_bound_against_a_fine_grid():
    z = np.linspace(1e-4, 1, 200_001)
    for laws, y in ((2, 0.1), (5, 2.0), (10**6, 5.0), (10**6, 14.0)):
        risk = (1 - z + (laws - 1) * z * np.exp(-y / z)) / 2
        assert fano.fano_bound(laws, 1.0, 0.0, y) == pytest.approx(risk.min(), abs=1e-7)
    with pytest.raises(ValueError, match=r"laws = 1.*at least 2"):
        fano.fano_bound(1, 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"moved = \-1"):
        fano.fano_bound(2, 1.0, 0.0, -1.0)


def test_squared_loss_without_privacy_is_already_too_good():
    case = fano.squared_loss(1.0, 0.01)
    assert case["risk"] == 0.25 < case["promised"]
    # the exact risk of the best private estimator with answers on a grid is no larger
    grid = np.linspace(0, 1, 21)
    losses = (grid[:, None] - [0.49, 0.51]) ** 2 / 0.02**2
    laws = [[0.51, 0.49], [0.49, 0.51]]
    assert private_programs.private_risk(laws, 1.0, 0.0, losses, [(0, 1)]) <= 0.25 + ROUNDING


@pytest.mark.slow
def test_guaranteed_error_is_a_root_and_below_the_exact_error():
    b = fano.guaranteed_error(math.log(9), 1.0, math.log(0.001))
    assert b == pytest.approx(9 * ((1 - b) * math.exp(-1 / (1 - b)) - 0.001), abs=1e-9)
    assert fano.guaranteed_error(0.0, 1.0, math.log(0.9)) == 0
    for n, epsilon, delta, gap in product((3, 4), (0.1, 1.0), (0.0, 0.02), (0.1, 0.4)):
        case = recovery.small_recovery(n, epsilon, delta, gap)
        assert case["bound"] <= case["exact"] + ROUNDING


@pytest.mark.slow
def test_fano_verdicts():
    assert derive(fano.check_thm_a_1((0.2, 1.0))) == "constants"
    checks = fano.check_thm_a_1_proof()
    assert derive(checks) == "refuted"
    assert all(c.outcome for c in checks if c.about == "corrected")


# --- Theorem 2.4


@pytest.mark.parametrize(("n", "k", "u"), [(6, 3, 2), (9, 2, 1), (9, 7, 2), (20, 10, 10)])
def test_exchange_is_the_closed_form(n, k, u):
    case = recovery.exchange(n, k, u)
    assert case["gap"] == pytest.approx(1)
    assert case["moved"] == pytest.approx(2 * u * (n - u))


def test_exchange_refuses_more_items_than_there_are():
    with pytest.raises(ValueError, match=r"exchanged = 4.*min\(k, n \- k\) = 3"):
        recovery.exchange(6, 3, 4)


@pytest.mark.parametrize(("items", "size", "m"), [(8, 3, 1), (9, 3, 1), (7, 4, 1)])
def test_the_packing_bound_is_below_the_truth(items, size, m):
    sets = list(combinations(range(items), size))
    # sets more than 4 m apart share fewer than size - 2 m items: greedy choice finds that many at least
    chosen: list = []
    for s in sets:
        if all(len(set(s) ^ set(t)) > 4 * m for t in chosen):
            chosen.append(s)
    assert math.log(len(chosen)) >= recovery.log_packing(math.log(items), size, m)


def test_rounding_down_leaves_a_single_set():
    assert recovery.set_size(1, 0.25) == 3
    assert recovery.largest_packing(list(combinations(range(8), 2)), 4) == 1
    assert recovery.largest_packing(list(combinations(range(6), 3)), 4) == 2
    with pytest.raises(ValueError, match=r"size = 2.*above 2m = 2"):
        recovery.log_packing(3.0, 2, 1)


def test_theorem_2_4_at_a_constant_twenty_times_ours_is_not_proved(monkeypatch):
    assert derive(recovery.check_thm_2_4()) == "holds"
    ours = recovery.constant_2_4
    monkeypatch.setattr(recovery, "constant_2_4", lambda a, b: 20 * ours(a, b))
    assert derive(recovery.check_thm_2_4()) != "holds"


def test_exact_recovery_needs_a_small_constant():
    assert min(recovery.exact_recovery(n, 1, 0.4) for n in (20, 50, 10**5, 10**12)) > 0.1
    assert recovery.exact_recovery(10**12, 1, 0.8) < 0.1
    assert recovery.exact_recovery(100, 99, 0.4) == recovery.exact_recovery(100, 1, 0.4)
    with pytest.raises(ValueError, match=r"k = 5"):
        recovery.exact_recovery(5, 5, 0.4)


def test_counting_error_is_above_the_exact_error_of_a_small_case():
    # two items, p = 1, gap 0.3 between the averages: item 1 wins with probability 0.8
    assert recovery.counting_error(2, 0.3) >= 0.2


def test_the_jump_meets_a0_and_helps():
    x = np.linspace(-50, 50, 2001)
    assert (np.diff(recovery.jump_cdf(x)) > 0).all()
    assert np.allclose(recovery.jump_cdf(x) + recovery.jump_cdf(-x), 1)
    assert recovery.jump_cdf(1e-12) > 0.75
    assert recovery.jump_gap(6) >= 1
    case = recovery.jump_recovery(10**6, 0.5)
    assert case["error"] < 0.02
    assert recovery.jump_recovery(10**6, 0.5, jump=0.01)["power"] > 1, "a small jump asks for a large tolerance"


@pytest.mark.slow
def test_remaining_verdicts():
    for name, verdict in (
        ("thm_2_4_m0", "constants"),
        ("thm_2_4_parametric", "constants"),
        ("thm_2_4_proof", "refuted"),
    ):
        checks = getattr(experiment, f"check_{name}")()
        assert derive(checks) == verdict
        assert all(c.outcome for c in checks if c.about == "corrected")


def test_figure_shows_both_signs():
    frame = attack.expected_attacks(11, 4 / 11, 0.5)
    lines = attack.draw_attack_by_item(frame).axes[0].get_lines()
    assert [len(line.get_xdata()) for line in lines[:2]] == [11, 11]
