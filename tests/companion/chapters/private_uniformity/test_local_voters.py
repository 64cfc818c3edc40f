"""Power at scale against enumeration and the library; seeds are fixed, false alarms below 1e-4 each."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from companion.chapters.private_uniformity import local_channels, local_moments, local_voters
from companion.instruments.uniformity import all_pairings
from dprank.models.mallows import Mallows
from dprank.uniformity.local import LocalOneBit, LocalPairs


def test_joint_laws_by_dynamic_programming_are_those_of_the_enumeration():
    rng = np.random.default_rng(1)
    for m, theta in ((4, 0.3), (5, 0.7), (6, 0.1), (6, 2.0)):
        pairs = local_voters.random_pairings(m, m // 2, 5, rng)
        laws = local_voters.joint_sign_laws(m, theta, pairs)
        for p, law in zip(pairs, laws, strict=True):
            np.testing.assert_allclose(law, local_moments.sign_law(m, theta, p), atol=1e-12)


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
