"""Local privacy of the uniformity test: enumerations, closed forms and broken twins.

Statistical checks raise a false alarm with probability below 1e-4 each; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import each
from scipy.stats import binom

from companion.chapters.private_uniformity import (
    local_adversary,
    local_channels,
    local_moments,
    local_samples,
    local_voters,
)
from companion.chapters.private_uniformity.central_samples import unif_power
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_pairings, all_rankings
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.unif import pair_statistic, unif_null_threshold


@each(
    ("checks", "verdict"),
    lambda: [
        (local_channels.check_def_2(), "holds"),
        (local_channels.check_def_3(), "holds"),
        (local_channels.check_ldp_stronger(), "holds"),
        (local_channels.check_alg_5([1.0]), "holds"),
        (local_moments.check_null(), "holds"),
        (local_moments.check_alternative(), "constants"),
        (local_moments.check_tanh(), "refuted"),
        (local_samples.check_thm_7(), "refuted"),
        (local_samples.check_randomness(), "refuted"),
        (local_samples.check_private_randomness(500), "constants"),
        (local_adversary.check_adversary(), "underspecified"),
        (local_adversary.check_ldp_lower(), "holds"),
    ],
)
@pytest.mark.slow
def test_verdicts(checks, verdict):
    assert derive(checks) == verdict
    assert [c for c in checks if c.about == "corrected" and c.outcome is not True] == []


# --- channels


def test_events_cannot_do_worse_than_points_on_random_channels():
    rng = np.random.default_rng(0)
    for _ in range(20):
        law = rng.dirichlet(np.ones(5), 3)
        assert local_channels.eventwise_loss(law) == pytest.approx(local_channels.pointwise_loss(law), abs=1e-12)


def test_a_channel_that_leaves_the_last_bit_alone_is_seen(monkeypatch):
    whole = local_channels.channel

    def leaky(n_items, shrinkage, pairs):
        last = pair_signs(all_rankings(n_items), pairs[-1:])
        kept = local_channels.sign_vectors(len(pairs))[:, -1] == last
        law = whole(n_items, shrinkage, pairs) * np.where(kept, 1.0, 1e-6)
        return law / law.sum(1, keepdims=True)

    monkeypatch.setattr(local_channels, "channel", leaky)
    assert derive(local_channels.check_alg_5([1.0])) == "refuted"


def test_the_whole_budget_on_every_bit_is_seen(monkeypatch):
    printed = paper.local_pairs
    monkeypatch.setattr(paper, "local_pairs", lambda m, epsilon: printed(m, epsilon * (m // 2)))
    assert derive(local_channels.check_alg_5([1.0])) == "refuted"


def test_bits_of_rankings_and_pairings():
    assert local_samples.pairing_bits(2) == 0
    assert local_samples.pairing_bits(6) == pytest.approx(math.log2(15))
    assert local_samples.ranking_bits(5) == pytest.approx(math.log2(120))


def test_joint_laws_by_dynamic_programming_are_those_of_the_enumeration():
    rng = np.random.default_rng(1)
    for m, theta in ((4, 0.3), (5, 0.7), (6, 0.1), (6, 2.0)):
        pairs = local_voters.random_pairings(m, m // 2, 5, rng)
        laws = local_voters.joint_sign_laws(m, theta, pairs)
        for p, law in zip(pairs, laws, strict=True):
            np.testing.assert_allclose(law, local_moments.sign_law(m, theta, p), atol=1e-12)


def test_randomised_law_is_the_channel():
    m, pairs = 4, all_pairings(4)[1]
    weights = local_moments.sign_law(m, 0.5, pairs)
    rankings = all_rankings(m)
    law = Mallows(m, 0.5)
    chance = np.exp(-0.5 * kendall_distances(rankings, np.arange(m)) - law.log_normaliser)
    np.testing.assert_allclose(local_moments.randomised(weights, 0.3), chance @ local_channels.channel(m, 0.3, pairs))


# --- moments


@each("pairs", all_pairings(6))
def test_signs_are_independent_exactly_if_no_two_pairs_cross(pairs):
    signs = local_channels.sign_vectors(3)
    law = local_moments.sign_law(6, 0.7, pairs)
    gap = np.abs(law - ((1 + (law @ signs) * signs) / 2).prod(1)).max()
    crossing = any(a < c < b < d for a, b in pairs for c, d in pairs)
    assert (gap > 1e-4) == crossing
    assert (gap < 1e-12) != crossing


@each("samples", [1, 2, 5])
@each("pairs", all_pairings(4))
def test_moment_formula_with_products_is_exact(samples, pairs):
    law = local_moments.sign_law(4, 0.8, pairs)
    signs = local_channels.sign_vectors(2)
    products = np.einsum("z,zi,zj->ij", law, signs, signs)
    exact = local_moments.statistic_moments(law, samples)
    assert local_moments.unif_moments(law @ signs, samples, products) == pytest.approx(exact, abs=1e-12)


# --- Theorem 7


def test_two_item_errors_by_hand():
    # three samples at most: the printed threshold is not reached, the test misses always
    assert local_samples.two_item_errors(0.5, 1e-3, 8) <= 1
    k, bias, threshold = 30, 0.5, paper.unif_threshold(2, 0.05)
    totals = np.arange(-k, k + 1, 2)
    far = totals**2 / k >= threshold
    size = binom.pmf((totals + k) // 2, k, 0.5)[far].sum()
    miss = 1 - binom.pmf((totals + k) // 2, k, 0.75)[far].sum()
    assert local_samples.two_item_errors(bias, 0.05, 30) <= max(size, miss)


def test_no_number_of_pairs_breaks_the_bound_on_few_samples():
    grid = local_samples.power_gap((2, 6, 40), (0.05, 0.3), (0.05, 0.3))
    assert (grid["power − size"] <= grid["upper bound"] + 1e-9).all()
    assert (grid["P(miss)"] <= grid["δ"]).all()


def test_a_tenth_of_the_samples_would_not_always_do():
    m, bias, delta = 2, 0.3, 1e-3
    few = math.ceil(local_samples.sufficient_samples(m, bias, delta) / 40)
    assert 1 - unif_power(m, few, bias, delta) > delta


def test_own_numbering_leaves_nothing_but_a_common_one_does():
    for theta in (0.3, math.inf):
        np.testing.assert_allclose(local_samples.own_ranking_law(5, theta), 0.25)
    assert np.abs(local_moments.sign_law(5, 0.3, local_channels.pairing(5)) - 0.25).max() > 0.05


def test_own_rankings_have_the_power_of_their_size():
    m, n, test = 6, 200, LocalPairs.calibrated(epsilon=50.0, n_items=6)
    rng = stream("test own", {})
    rejections = 0
    threshold = unif_null_threshold(3, n, 0.05)
    for _ in range(400):
        rankings = Mallows(m, math.inf).sample(n, rng=rng)
        pairs = local_voters.random_pairings(m, 3, n, rng)
        signs = np.where(
            np.take_along_axis(rankings, pairs[..., 0], 1) < np.take_along_axis(rankings, pairs[..., 1], 1), 1, -1
        )
        rejections += bool(pair_statistic(signs) >= threshold)
    assert binom.sf(rejections - 1, 400, 0.05) > 1e-4
    assert test.shrinkage > 0.9999


# --- the adversary


def test_best_guess_bounds_every_private_channel():
    rng = np.random.default_rng(3)
    for epsilon in (0.3, 2.0):
        for _ in range(50):
            law = rng.uniform(1, math.exp(epsilon / 2), (6, 4))
            law /= law.sum(1, keepdims=True)
            assert local_channels.pointwise_loss(law) <= epsilon + 1e-12
            assert law.max(0).sum() / 6 <= local_adversary.best_guess(3, epsilon) + 1e-12
    assert local_adversary.best_guess(2, 0.0) == 0.5
    assert local_adversary.best_guess(4, 1.0) == pytest.approx(math.e / (math.e + 23))


# --- power


@pytest.mark.parametrize("one_bit", [False, True])
@pytest.mark.slow
def test_fast_simulation_agrees_with_the_library(one_bit):
    m, n, epsilon, gap, runs = 6, 600, 2.0, 0.15, 400
    test = (
        LocalOneBit.calibrated(epsilon=epsilon, n_items=m)
        if one_bit
        else LocalPairs.calibrated(epsilon=epsilon, n_items=m)
    )
    rng, law = np.random.default_rng(4), Mallows.of_gap(m, gap)
    slow = 0
    for _ in range(runs):
        rows = law.sample(n, rng=rng)
        pairs = test.pairs(rng)
        if isinstance(test, LocalOneBit):
            asked = rows.reshape(-1, test.groups, m)
            reports = np.stack([test.report(asked[:, g], pair, rng) for g, pair in enumerate(pairs)], 1)
        else:
            reports = test.report(rows, pairs, rng)
        slow += test.decide(reports).reject
    fast = local_voters.local_power(m, n, epsilon, [gap], 4_000, one_bit=one_bit).iloc[0]
    p = fast["mean"]
    assert 0.2 < p < 0.98
    assert abs(slow / runs - p) < 4 * math.sqrt(p * (1 - p) * (1 / runs + 1 / 4_000))


@pytest.mark.slow
def test_the_fast_simulation_keeps_its_size():
    for options in ({}, {"one_bit": True}, {"independent": True}, {"public": False}):
        power = local_voters.local_power(8, 2_000, 1.0, [0.0], 2_000, **options).iloc[0]["mean"]
        assert binom.sf(round(power * 2_000) - 1, 2_000, 0.05) > 1e-4
        assert binom.cdf(round(power * 2_000), 2_000, 0.04) > 1e-4


def test_replacement_bound_holds_where_the_joint_law_is_known():
    m, theta, epsilon = 6, 0.5, 1.0
    t = LocalPairs.calibrated(epsilon=epsilon, n_items=m).shrinkage
    worst = 0.0
    for pairs in all_pairings(m):
        joint = local_moments.randomised(local_moments.sign_law(m, theta, pairs), t)
        b = joint @ local_channels.sign_vectors(3)
        product = ((1 + b * local_channels.sign_vectors(3)) / 2).prod(1)
        worst = max(worst, float((joint**2 / product).sum()) - 1)
    gap = -math.expm1(-theta)
    bounds = [local_voters.replacement_error(m, gap, epsilon, 100, 3_200, np.random.default_rng(s)) for s in range(20)]
    divergences = [math.expm1(2 * bound["distance"] ** 2 / 100) for bound in bounds]
    assert max(divergences) >= worst > 0
    for bound in bounds:
        assert bound["distance"] == pytest.approx(
            math.sqrt(100 * math.log1p(bound["V, pairs"] + bound["V, larger sets"]) / 2)
        )


def test_covariances_are_estimated_without_bias():
    m, theta = 6, 0.5
    exact = []
    for pairs in all_pairings(m):
        law, signs = local_moments.sign_law(m, theta, pairs), local_channels.sign_vectors(3)
        covariance = np.einsum("z,zi,zj->ij", law, signs, signs) - np.outer(law @ signs, law @ signs)
        exact.append((np.triu(covariance, 1) ** 2).sum())
    gap = -math.expm1(-theta)
    found = [
        local_voters.replacement_error(m, gap, 1.0, 1, 1_600, np.random.default_rng(s))["Σκ², pairs"]
        for s in range(300)
    ]
    assert abs(np.mean(found) - np.mean(exact)) < 5 * np.std(found) / math.sqrt(300)


@pytest.mark.slow
def test_ceilings_are_the_simulated_power_of_full_agreement():
    cells = [(10, 2_000), (40, 20_000)]
    frame = local_voters.ceilings(cells, 1 / 3)
    for (m, n), row in zip(cells, frame.itertuples(index=False), strict=True):
        for options, limit in (({"threshold": "printed"}, row[2]), ({}, row[3])):
            power = local_voters.local_power(m, n, 1 / 3, [1.0], 2_000, **options).iloc[0]
            assert abs(power["mean"] - limit) < 4 * power.se + 0.01


@pytest.mark.slow
def test_needed_voters_give_the_power():
    needed = local_voters.needed_table((10, 30), 1 / 3, 0.5, 400)
    power = local_voters.confirm_needed(needed, 1 / 3, 0.5, 1_000)
    assert (abs(power.power - 0.8) < 0.08).all()
    assert local_voters.draw_voters_needed(needed).axes
    one = needed[needed.test == "one bit"].voters.to_numpy()
    assert (one < needed[needed.test == "all bits"].voters.to_numpy() / 3).all()


def test_group_rule_is_near_the_best():
    table = local_voters.group_choice(100, 1 / 3, (1, 2, 4, 8, 16, 32), (0.8, 0.95), 500)
    for power in (0.8, 0.95):
        best = table[f"power {power:g}"].idxmin()
        assert 0.4 < best / local_voters.best_groups(power) < 2.5
    assert (table.loc[8] < 1.15).all()
