"""Checks of the lower bounds against brute force and broken twins.

Random tests have fixed seeds; each fails by chance less than once in a thousand runs of new seeds (four standard
errors, or the bound stated).
"""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checks import all_rankings, each

from companion.chapters.aggregation_lower_bounds import cube, enough, pure, tracing
from companion.instruments.aggregation import exponential_needs, matrix_error
from companion.ledger.claim import derive
from dprank.aggregation.lower_bounds import coded_threshold, embed, local_threshold, pure_threshold, signs
from dprank.data.kendall import pairwise_kendall_distances
from dprank.privacy.gaussian import gaussian_scale


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


@each(
    ("check", "verdict"),
    [
        (cube.check_map, "refuted"),
        (cube.check_inverse, "refuted"),
        (cube.check_obs_15, "refuted"),
        (cube.check_obs_16, "refuted"),
        (cube.check_outer, "constants"),
        (cube.check_large_middle, "holds"),
        (pure.check_thm_13, "holds"),
        (pure.check_codes, "holds"),
        (enough.check_trivial, "constants"),
        (enough.check_local, "refuted"),
        (enough.check_lower_match, "underspecified"),
        (tracing.check_thm_14, "underspecified"),
    ],
)
@pytest.mark.slow
def test_verdicts(check, verdict):
    checks = check()
    assert derive(checks) == verdict
    assert all(outcomes(checks, "corrected"))


def test_observations_for_several_voters():
    rng = np.random.default_rng(1)
    for d, t, n in ((2, 1, 3), (3, 2, 4)):
        x = rng.choice([-1, 1], (n, d))
        cost = pairwise_kendall_distances(all_rankings(2 * d + t), embed(x, t)).mean(1)
        inner = (d - signs(all_rankings(2 * d + t), d) @ x.mean(0)) / 2
        assert (cost >= (t + 1) * inner - 1e-9).all()
        for y in cube.all_signs(d):
            cost = pairwise_kendall_distances(embed(y, t)[None], embed(x, t)).mean()
            assert cost <= 2 * t * (d - y @ x.mean(0)) / 2 + d * d + 1e-9


def test_observation_16_fails_where_t_exceeds_d_only():
    for d, t in product(range(1, 6), range(9)):
        frame = cube.observation_16(d, t)
        assert (frame.cost <= frame.printed).all() == (t <= d)


def test_broken_twins_are_rejected(monkeypatch):
    monkeypatch.setattr(cube, "embedded_distance", lambda h, d, t: h * (t + 2 * d - h))
    assert not all(outcomes(cube.check_obs_16(), "corrected"))
    monkeypatch.setattr(pure, "pure_threshold", lambda m, error: math.log(m))
    assert derive(pure.check_thm_13()) == "refuted"
    monkeypatch.setattr(pure, "coded_threshold", lambda d, *args: math.log(d + 1))
    assert derive(pure.check_codes()) == "refuted"
    monkeypatch.setattr(tracing, "tracing_threshold", lambda d, *args, **sheet: 0.01 * math.sqrt(d))
    assert not all(outcomes(tracing.check_thm_14(), "corrected"))


def test_floor_is_below_both_thresholds():
    for m in (10, 50, 150):
        assert pure.pure_floor(m) < pure_threshold(m, pure.SHARE * m * m)
        log_term = pure.pure_floor(m) - m * (math.log(m / (1 + m / 100)) - 2)
        assert pure.pure_floor(m) - log_term < local_threshold(m, 0.01 * m * m)


def test_code_floor_is_below_the_codes_and_grows():
    floors = {m: pure.code_floor(m) / m for m in range(4, 200)}
    assert list(floors.values()) == sorted(floors.values())
    for m in (4, 5, 7, 60, 100, 301):
        assert pure.code_floor(m) < coded_threshold(m // 3, m - 2 * (m // 3), pure.SHARE * m * m)


def test_tables_for_readers():
    row = pure.pure_table([30]).iloc[0]
    assert row["needed"] - 1 < pure_threshold(30, 9) < row["needed"]
    assert row["ε n / items"] <= pure_threshold(30, 9) / 30 < row["ε n / items"] + 0.001
    assert row["needed (π^x)"] <= row["needed"] < row["enough (exponential mechanism)"]
    row = tracing.table_16([(10, 100, 3)]).iloc[0]
    assert row.tolist() == [10, 100, 3, 3 * (200 + 20 - 3), 300 + 200, 600 + 100]


def test_drift_of_lines_with_known_slopes():
    items = np.array([3, 30, 300])
    lines = {"needed": items**1.0, "enough": 7 * items * np.log(items)}
    part = [pd.DataFrame({"items": items, "kind": kind, "voters": voters}) for kind, voters in lines.items()]
    frame = pd.concat([p.assign(model=model) for p in part for model in ("pure", "approximate", "local")])
    drift = enough.drift(frame).set_index("model")
    assert drift["slope needed"].tolist() == pytest.approx([1, 1, 1])
    assert (drift["slope enough"] > 1.1).all()
    assert drift.loc["pure", ["least", "most"]].tolist() == pytest.approx([7, 7])
    assert drift.loc["approximate", ["least", "most"]].tolist() == pytest.approx(
        [7 * math.log(3) ** 0.5, 7 * math.log(300) ** 0.5]
    )


@pytest.mark.parametrize("budget", [5.0, 60.0, 400.0])
def test_exponential_mechanism_meets_its_bounds(budget):
    # all data sets of three voters on four items, from a sample; n epsilon = budget
    rankings = all_rankings(4)
    table = pairwise_kendall_distances(rankings)
    rng = np.random.default_rng(2)
    for voters in rng.integers(24, size=(40, 3)):
        costs = table[:, voters].mean(1)
        law = np.exp(-budget * (costs - costs.min()) / 12)
        mean, best = law @ costs / law.sum(), costs.min()
        error = exponential_needs(4, 1.0) / budget
        assert mean - best <= error
        assert mean - 3 * best <= math.exp(enough.unanimous_excess(4, 3, budget / 3))


def test_padding_costs_all_orders_the_same():
    rankings = all_rankings(4)
    table = pairwise_kendall_distances(rankings)
    reverse = {row.tobytes(): k for k, row in enumerate(rankings)}
    for k, row in enumerate(rankings):
        assert (table[:, k] + table[:, reverse[(3 - row).tobytes()]] == 6).all()
    assert enough.padded_error(30, 10**6, 1.0) * 10**6 == pytest.approx(62 * 9)
    assert enough.padded_error(30, 10**6 + 1, 1.0) * (10**6 + 1) == pytest.approx(61 * 9)


def test_matrix_and_one_bit_errors_by_simulation():
    # mean over 400 draws, below the bound with room to spare
    rng = np.random.default_rng(3)
    m, n, epsilon = 4, 500, 1.0
    rankings = all_rankings(m)
    table = pairwise_kendall_distances(rankings)
    first, second = np.triu_indices(m, 1)
    prefers = rankings[:, first] < rankings[:, second]
    data = rng.integers(24, size=n)
    costs = table[:, data].mean(1)
    true = prefers[data].mean(0)
    keep = 1 / (1 + math.exp(-epsilon))
    deviation = gaussian_scale(math.sqrt(6), epsilon, 1e-6) / n
    gauss, bits = [], []
    for _ in range(400):
        noisy = true + rng.normal(0, deviation, 6)
        pair = rng.integers(6, size=n)
        answer = prefers[data, pair] ^ (rng.random(n) > keep)
        local = np.bincount(pair, np.where(answer, 1, -1), 6) * 6 / math.tanh(epsilon / 2) / n / 2 + 0.5
        for found, w in ((gauss, noisy), (bits, local)):
            order = (prefers @ (1 - w) + ~prefers @ w).argmin()
            found.append(costs[order] - costs.min())
    assert 0 < np.mean(gauss) < matrix_error(m, epsilon, 1e-6) / n
    error = np.mean(bits)
    assert error > 0
    assert enough.one_bit_needs(m, epsilon, error) > n


def test_tracing_identity_for_any_rule():
    for voters, spread in ((1, 1.0), (2, 0.5), (6, 0.1)):
        left, right = tracing.majority_identity(voters, spread)
        assert left == pytest.approx(right, rel=1e-9)


def test_random_voter_is_private_to_one_in_n():
    ratio, delta = tracing.random_voter(3, 2)
    assert (ratio, delta) == (pytest.approx(1.0), pytest.approx(0.5))


def test_borda_scores_of_embedded_rankings_are_sums_of_signs():
    rng = np.random.default_rng(4)
    d, t = 3, 4
    x = rng.choice([-1, 1], (5, d))
    total = embed(x, t).sum(0)
    assert (total[:d] - total[d + t :] == (d + t) * x.sum(0)).all()
    m = 2 * d + t
    reverse = np.arange(m)[::-1]
    assert ((np.arange(m) - reverse) ** 2).sum() == m * (m * m - 1) // 3


def test_tracing_at_work():
    frame = tracing.tracing([90], [0.3, 20.0], [None, 1.0], 40)
    traced = frame[frame.outcome == "traced"].set_index(["share", "epsilon"])["mean"]
    exact = frame[frame.epsilon.isna() & (frame.outcome == "traced")].set_index("share")["mean"]
    private = frame[frame.epsilon.eq(1) & (frame.outcome == "traced")]
    assert len(traced) == 4
    assert exact[0.3] > 0.2 > exact[20.0]
    # mean of 40 numbers of [0, 1], each with a mean of at most 0.0272; Chernoff at 0.2: below 1e-4
    assert (private["mean"] < 0.2).all()
    wrong = frame[(frame.outcome == "wrong") & frame.epsilon.isna()]
    assert (wrong["mean"] == 0).all()
    assert derive(tracing.check_signs(frame)) in ("holds", "undecided here")
    broken = frame.assign(mean=frame["mean"] * 0)
    assert derive(tracing.check_signs(broken)) != "holds"
