"""The error bounds against simulation, brute force and closed forms on tiny cases, and deliberately broken twins.

Seeds are fixed. Statistical tests: 5 standard errors, or a Hoeffding bound at 1e-6; false alarm 1e-5 for the file.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from checks import each
from scipy import integrate

from companion.chapters.edge_privacy import estimation, link_conditions, optimality, ordering
from companion.ledger.claim import derive
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, erdos_renyi_counts
from dprank.pairwise import mle_from_counts


@pytest.fixture(scope="module")
def frame():
    return estimation.error_ratios((50, 100, 200), 60)


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


# --- the error bound -------------------------------------------------------------------------------------------------


def spread_bound(theta, score, gamma):
    """Largest range of the error that the two-line proof allows for one given score, by scanning."""
    n = len(theta)
    force = score.max() - score.min() + 2 * gamma
    d = np.linspace(0, force / gamma, 200_001)
    allowed = n * (LOGISTIC.cdf(2 + d) - LOGISTIC.cdf(2.0)) + gamma * d <= force
    return d[allowed].max() + 1e-3


@each("n", [2, 3, 10, 60])
@each("scale", [0.0, 1.0, 8.0])
@pytest.mark.slow
def test_the_proof_bounds_every_single_draw_on_the_complete_graph(n, scale):
    rng = np.random.default_rng(n)
    for c_0 in (0.1, 2.0):
        gamma = estimation.ridge(n, 1.0, c_0)
        theta = rng.uniform(-1, 1, n)
        theta -= theta.mean()
        theta /= max(1, np.abs(theta).max())
        played, wins = erdos_renyi_counts(theta, 1.0, 20, rng=rng)
        noise = rng.laplace(0, scale, wins.shape) if scale else np.zeros(wins.shape)
        estimate, _ = mle_from_counts(played, wins - noise, ridge=gamma)
        expected = LOGISTIC.cdf(theta[:, None] - theta).sum(1) - 0.5
        for row, won, w in zip(estimate, wins, noise, strict=True):
            error = row - theta
            assert np.ptp(error) <= spread_bound(theta, won - expected - w, gamma)
            np.testing.assert_allclose(error.mean(), -w.mean() / gamma, atol=1e-6)


def test_least_rise_of_the_link_from_a_gap_within_two():
    x, u = np.linspace(-2, 2, 401)[:, None], np.linspace(0, 20, 401)
    rise = LOGISTIC.cdf(x + u) - LOGISTIC.cdf(x)
    np.testing.assert_allclose(rise.min(0), LOGISTIC.cdf(2 + u) - LOGISTIC.cdf(2.0), atol=1e-12)


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_the_bound_holds_in_simulation(p):
    n, scale = 300, 2.0
    rng = np.random.default_rng(3)
    theta = np.linspace(-1, 1, n)
    played, wins = erdos_renyi_counts(theta, p, 10, rng=rng)
    estimate, _ = mle_from_counts(played, wins - rng.laplace(0, scale, wins.shape), ridge=estimation.ridge(n, p))
    assert np.abs(estimate - theta).max() <= estimation.error_bound(n, p, scale)[0]


def test_score_noise_and_sum_exceed_their_bounds_as_seldom_as_claimed():
    n, draws = 30, 20_000
    rng = np.random.default_rng(5)
    w = rng.laplace(0, 1, (draws, n))
    log = math.log(n)
    assert (np.abs(w).max(1) > 6 * log).mean() <= 1e-3
    assert (np.abs(w.sum(1)) > math.sqrt(48 * n * log)).mean() <= 1e-3
    # exponential moments behind the bound on the sum, where n >= 6 log n
    s = math.sqrt(3 * log / n)
    assert -n * math.log1p(-(s**2)) - s * math.sqrt(48 * n * log) <= -6 * log


def test_promise_follows_for_every_n_from_the_boundary():
    for factor, power in ((8.0, 0.0), (8.0, 0.5), (20.0, 0.0)):
        least = estimation.smallest_dense(factor, power)
        for n in np.geomspace(least, 10**14, 60).astype(int):
            scale = factor * math.log(n) ** power
            for c_0 in (0.01, 1.0, 5.0):
                assert estimation.error_bound(int(n), 1.0, scale, c_0)[0] <= estimation.promised(
                    int(n), 1.0, scale, c_0
                )


def test_two_groups_solve_the_full_problem():
    n, t = 40, 0.8
    theta = np.r_[np.full(n // 2, t), np.full(n // 2, -t)]
    wins = LOGISTIC.cdf(theta[:, None] - theta).sum(1) - 0.5
    played = np.ones((n, n)) - np.eye(n)
    estimate, _ = mle_from_counts(played, wins[None], ridge=estimation.ridge(n, 1.0))
    row = estimation.two_groups(n, [t]).iloc[0]
    np.testing.assert_allclose(np.abs(estimate), row.estimate, atol=1e-6)


def test_estimates_stay_bounded_however_far_the_truth():
    n = 20
    rng = np.random.default_rng(1)
    played, wins = erdos_renyi_counts(np.linspace(-400, 400, n), 1.0, 50, rng=rng)
    estimate, _ = mle_from_counts(played, wins - rng.laplace(0, 1.0, wins.shape), ridge=estimation.ridge(n, 1.0))
    assert np.abs(estimate).max() <= estimation.largest_estimate(n, 1.0, 1.0)


def test_proposition_and_theorem(frame):
    for checks in (estimation.check_prop_2_2(frame), estimation.check_thm_2_1(frame)):
        assert derive(checks) == "constants"
        assert set(outcomes(checks, "printed")) == {False}
        assert set(outcomes(checks, "corrected")) == {True}


def test_a_faster_rate_is_not_confirmed(frame):
    """Mutant: without log n / (n p eps) constant along p = 4 log n / (n eps), an error over 1 / sqrt(n) grows."""
    slope, se = estimation.growth(frame[frame.privacy == "ε = 1"].assign(mean=lambda f: f["mean"] * f["items"] ** 0.5))
    assert slope - 5 * se > 0.2


def test_a_wrong_promise_is_refuted(monkeypatch, frame):
    monkeypatch.setattr(estimation, "constants", lambda c_0=2.0: (14.7, 24.1))
    assert derive(estimation.check_prop_2_2(frame)) == "refuted"


def test_without_the_larger_ridge_the_supplied_privacy_fails(monkeypatch, frame):
    monkeypatch.setattr(estimation, "KAPPA_2", 0.05)
    assert False in outcomes(estimation.check_thm_2_1(frame), "supplied")


def test_growth_recovers_a_power(frame):
    exact = frame.assign(mean=3 * frame["items"] ** 0.3, se=0.1)
    np.testing.assert_allclose(estimation.growth(exact)[0], 0.3)


# --- the corollary ---------------------------------------------------------------------------------------------------


def test_tail_is_that_of_a_difference_of_laplace_variables():
    x = np.linspace(-60, 60, 240_001)
    density = np.exp(-np.abs(x)) / 2
    for u in (0.0, 0.5, 3.0):
        below = np.where(x < u, np.exp(np.minimum(x - u, 0)) / 2, 1 - np.exp(-np.maximum(x - u, 0)) / 2)
        np.testing.assert_allclose(ordering.tail(u), integrate.simpson(density * below, x=x), rtol=1e-5)


@pytest.mark.parametrize("scale", [0.5, 8.0])
def test_swap_probability_by_enumeration(scale):
    n, gap = 4, 0.7
    pairs = list(combinations(range(n), 2))
    theta = np.array([gap, 0, 0, 0])
    total = 0.0
    for result in product((0, 1), repeat=len(pairs)):
        chance, wins = 1.0, np.zeros(n)
        for (i, j), first in zip(pairs, result, strict=True):
            f = float(LOGISTIC.cdf(theta[i] - theta[j]))
            chance *= f if first else 1 - f
            wins[i if first else j] += 1
        lead = (wins[0] - wins[1]) / scale
        total += chance * (ordering.tail(lead) if lead >= 0 else 1 - ordering.tail(-lead))
    np.testing.assert_allclose(ordering.swap_probability(n, gap, scale), total, rtol=1e-12)


def test_swap_probability_of_equal_items_is_a_half_and_bad_input_is_refused():
    np.testing.assert_allclose(ordering.swap_probability(50, 0.0, 3.0), 0.5)
    with pytest.raises(ValueError, match=r"^n = 2; at least 3 items"):
        ordering.swap_probability(2, 0.1, 1.0)
    with pytest.raises(ValueError, match=r"^privacy = 'ε = 2'; allowed"):
        estimation.budget(10, "ε = 2")


def test_swap_probability_is_below_the_bound_of_the_proof():
    for n in (100, 3000):
        for epsilon in (0.5, 1.0):
            gap = ordering.separation(n, epsilon)
            # the proof needs a slope of F'(2), so test it where the gap is within 2
            if gap <= 2:
                assert ordering.swap_probability(n, gap, 8 / epsilon) <= n**-7.0 + ordering.tail(8 * math.log(n))
    assert (
        ordering.separation(ordering.separable(1.0), 1.0) <= 2 < ordering.separation(ordering.separable(1.0) - 1, 1.0)
    )


def test_corollary(monkeypatch):
    checks = ordering.check_cor_2_1()
    assert derive(checks) == "constants"
    assert set(outcomes(checks, "corrected")) == {True}
    monkeypatch.setattr(ordering, "separation", lambda n, epsilon: 3 * estimation.rate(n, 1.0, 1 / epsilon))
    monkeypatch.setattr(ordering, "separable", lambda epsilon: 5300)
    assert derive(ordering.check_cor_2_1()) == "refuted"


# --- ranking everything ----------------------------------------------------------------------------------------------


def test_telling_comparisons_by_brute_force():
    rng = np.random.default_rng(2)
    for n in (2, 3, 6):
        theta = np.sort(rng.normal(0, 2, n))[::-1]
        for k in range(n - 1):
            swapped = theta.copy()
            swapped[[k, k + 1]] = swapped[[k + 1, k]]
            moved = sum(
                abs(LOGISTIC.cdf(theta[i] - theta[j]) - LOGISTIC.cdf(swapped[i] - swapped[j]))
                for i, j in combinations(range(n), 2)
            )
            np.testing.assert_allclose(ordering.changed(theta)[k], moved)


def test_ranking_limit_on_two_items_exactly():
    """Exact P(right order) of noisy counts on one comparison never exceeds the limit at its exact loss."""
    for scale in (0.5, 2.0, 8.0):
        epsilon = 2 / scale
        for gap in (0.1, 1.0, 30.0):
            win = float(LOGISTIC.cdf(gap))
            behind = ordering.tail(1 / scale)
            right = win * (1 - behind) + (1 - win) * behind
            assert right <= ordering.ranking_limit(epsilon, ordering.changed([gap, 0])) + 1e-12


def test_one_step_of_the_mixing_argument():
    """exp((e^eps - 1) D) bounds the ratio for the mechanism that attains it: randomised response on one outcome."""
    for epsilon in (0.3, 1.0):
        for q, other in ((0.9, 0.1), (0.6, 0.4), (1.0, 0.0)):
            truth = math.exp(epsilon) / (1 + math.exp(epsilon))
            ratio = (q * truth + (1 - q) * (1 - truth)) / (other * truth + (1 - other) * (1 - truth))
            assert ratio <= 1 + abs(q - other) * math.expm1(epsilon) + 1e-12


def test_rank_all(monkeypatch):
    assert derive(ordering.check_rank_all(500)) == "refuted"
    monkeypatch.setattr(ordering, "most_comparisons", lambda n: 0.3)
    assert False in outcomes(ordering.check_rank_all(500), "corrected")


# --- the other sentences ---------------------------------------------------------------------------------------------


def test_dominates(monkeypatch):
    assert derive(ordering.check_dominates()) == "holds"
    plain = ordering.dominance
    monkeypatch.setattr(ordering, "dominance", lambda logs: plain(logs).assign(inside=lambda f: f.outside))
    assert derive(ordering.check_dominates()) == "refuted"


def test_flat_link_is_what_it_is_said_to_be():
    x = np.linspace(-6, 6, 4001)
    numeric = np.gradient(link_conditions.flat_cdf(x), x)
    f = link_conditions.flat_cdf(x)
    np.testing.assert_allclose(numeric, link_conditions.flat_steepness(x) * f * (1 - f), atol=1e-5)
    np.testing.assert_allclose(link_conditions.flat_steepness(math.sqrt(3)), 9 / 8)
    for n in (2, 6):
        t = 0.2
        theta = np.r_[np.full(n // 2, t), np.full(n // 2, -t)]
        tau = link_conditions.flat_cdf(theta[:, None] - theta).mean(1)
        np.testing.assert_allclose(tau[0] - tau[-1], link_conditions.gaps([t])["tau gap"].iloc[0])


def test_remark_1(monkeypatch):
    assert derive(link_conditions.check_rem_1((LOGISTIC, ARCTAN))) == "constants"
    # mutant: with a proportional link the gaps are of one order and nothing is refuted
    frame = link_conditions.gaps((0.1, 0.01, 0.001, 0.0001))
    monkeypatch.setattr(link_conditions, "gaps", lambda halves: frame.assign(ratio=0.25))
    assert derive(link_conditions.check_rem_1((LOGISTIC,))) == "holds"


def test_truncated_laplace_is_private_by_integration():
    for epsilon, delta in ((1.0, 0.01), (0.1, 0.01)):
        cut, b = optimality.truncation(epsilon, delta), 2 / epsilon
        x = np.linspace(-cut - 1, cut + 1, 400_001)

        def law(centre, x=x, cut=cut, b=b):
            y = np.abs(x - centre)
            return np.where(y <= cut, np.exp(-y / b), 0) / (2 * b * -math.expm1(-cut / b))

        excess = np.maximum(law(0.0) - math.exp(epsilon / 2) * law(1.0), 0)
        np.testing.assert_allclose(integrate.trapezoid(excess, x), delta / 2, rtol=1e-2)


def test_bounded_noise_finds_the_best():
    n, bounded = 2000, 5.0
    gap = optimality.enough(n, bounded)
    theta = np.zeros(n)
    theta[0] = gap
    rng = np.random.default_rng(4)
    _, wins = erdos_renyi_counts(theta, 1.0, 5, rng=rng)
    assert gap <= 1
    assert (wins[:, 0] - bounded > wins[:, 1:].max(1) + bounded).all()


def test_lower_bound_binds_a_private_method_on_few_items():
    """At a tenth of its noise the counts beat the bound, as they must if the bound says anything."""
    n, epsilon = 64, 0.05
    gap = optimality.lower_bound(n, epsilon)[0]
    theta = np.zeros(n)
    theta[0] = gap
    rng = np.random.default_rng(6)
    _, wins = erdos_renyi_counts(theta, 1.0, 2000, rng=rng)
    assert ((wins + rng.laplace(0, 0.2 / epsilon, wins.shape)).argmax(1) == 0).mean() > 0.5


def test_optimality(frame):
    checks = optimality.check_optimal(frame, 500)
    assert derive(checks) == "constants"
    assert set(outcomes(checks, "corrected")) == {True}


def test_figure_draws_every_series(frame):
    axes = estimation.draw_error_ratios(frame).axes[0]
    assert len(axes.containers) == 2
    assert axes.get_ylim()[0] == 0
