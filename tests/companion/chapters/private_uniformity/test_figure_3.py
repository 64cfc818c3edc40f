"""Exact, but for shares of decisions: their z-scores are held against Z, a false alarm of 1e-6 a test."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from companion.chapters.private_uniformity import figure_3, same_data
from companion.chapters.private_uniformity.local_voters import local_power
from companion.chapters.private_uniformity.truncated import theorem_6
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

Z = 5.2
SIZES = (5, 200)


@pytest.fixture(scope="module")
def tests():
    return same_data.central_tests(*SIZES, 1.0, 199)


def test_sums_of_batches():
    rng = np.random.default_rng(0)
    rows = Mallows(7, 0.1).sample(23, rng=rng)
    pairs = disjoint_pairs(7, rng=rng)
    signs = pair_signs(rows, pairs)
    for batches in (1, 2, 5):
        size = 23 // batches
        expected = signs[: size * batches].reshape(batches, size, 3).sum(axis=1)
        np.testing.assert_array_equal(same_data.batch_sums(rows, pairs, [1, 2, 5, 23])[batches], expected)


@pytest.mark.slow
def test_probabilities_are_shares_of_the_library_s_decisions(tests):
    m, n = SIZES
    rng = np.random.default_rng(1)
    rows = Mallows(m, 0.1).sample(n, rng=rng)
    data = Rankings(rows, [str(i) for i in range(m)])
    draws = 1500
    expected = [same_data.rejection(tests, rows, disjoint_pairs(m, rng=rng)) for _ in range(draws)]
    for name in (
        *(same_data.BUCKETED, same_data.COIN, same_data.VOTE),
        *(same_data.LAPLACE, same_data.EXCHANGED, same_data.PAIRS),
    ):
        test = tests[name][0] if isinstance(tests[name], tuple) else tests[name]
        ours = np.mean([chances[name] for chances in expected])
        theirs = np.mean([test.release(data, rng).reject for _ in range(draws)])
        share = (ours + theirs) / 2
        assert abs(ours - theirs) < Z * math.sqrt(2 * max(share * (1 - share), 1 / draws) / draws), name


@pytest.mark.slow
def test_every_test_that_is_not_the_paper_s_is_private_and_of_its_size(tests):
    for name in (same_data.COIN, same_data.VOTE, same_data.LAPLACE, same_data.RAMP):
        assert tests[name].guarantee.delta == 0
        assert tests[name].guarantee.epsilon <= 1.0
    for name in (same_data.PAIRS, same_data.RANKS):
        assert tests[name][0].guarantee.epsilon <= 1.0
    draws = same_data.central_draws(*SIZES, 0.0, 1.0, 199, repetitions=800, rng=np.random.default_rng(2))
    for name in (
        *map(str, (same_data.COIN, same_data.VOTE, same_data.LAPLACE, same_data.RAMP)),
        same_data.PAIRS,
    ):
        assert draws[(name,)].mean() < same_data.DELTA + Z * math.sqrt(0.05 / 800)


def test_mu_asks_for_the_rankings_at_hand():
    mu = same_data.printed_mu(100, 1000, 1 / 3)
    assert theorem_6(100, mu, 1 / 3, 0.05).max() == pytest.approx(1000)
    assert theorem_6(100, mu / 2, 1 / 3, 0.05).max() > 1000
    assert same_data.printed_mu(100, 2, 1 / 3) == 1.0


@pytest.mark.slow
def test_verdicts_and_a_mutant(monkeypatch):
    assert derive(figure_3.check_third()) == "refuted"
    central = same_data.central_power([(10, 400)], [0, 60, 120], 60, null_draws=49)
    local = central[central.test == same_data.FREE].assign(test=figure_3.LOCAL)
    assert derive(figure_3.check_near_one(central)) == "refuted"
    checks = figure_3.check_figure_3(central, local)
    assert derive(checks) == "refuted"
    assert [check.outcome for check in checks[:2]] == [False, True]
    weak = figure_3.check_figure_3(central.assign(mean=0.5), local)  # a grid that ends before BUNIF sees anything
    assert len(weak) == len(checks) - 2
    assert derive(weak) == "refuted"
    # somebody who reads the last line the wrong way round
    upright = paper.trun
    monkeypatch.setattr(paper, "trun", lambda *a, accept_large=True: upright(*a, accept_large=not accept_large))
    mutant = figure_3.check_figure_3(central, local)
    assert [check.outcome for check in mutant[:2]] == [True, True]
    # a difference on the same data: half of what two independent samples would be sure of
    level, trun, behind = (
        central[central.test == name].set_index("scaled")
        for name in (same_data.LEVEL, same_data.EXCHANGED, same_data.BEHIND)
    )
    np.testing.assert_allclose(behind["mean"], level["mean"] - trun["mean"], atol=1e-12)
    assert (behind.se <= np.hypot(level.se, trun.se) + 1e-12).all()


def test_ratios_of_spreads_and_bounds_where_a_curve_stays_low():
    scaled = [0.0, 10.0, 20.0, 40.0]
    curves = {"best": [0, 0.5, 1, 1], "other": [0, 0, 0.5, 1], "flat": [0, 0, 0, 0.1]}
    frame = pd.DataFrame(
        {"n_items": 10, "test": test, "scaled": s, "mean": y, "repetitions": 10_000}
        for test, curve in curves.items()
        for s, y in zip(scaled, curve, strict=True)
    )
    table = figure_3.gains(frame, "best", list(curves), 40).set_index("test")
    assert table["ratio of spreads"].to_dict() == {"other": "2", "flat": "> 4"}
    low, high = map(float, table.loc["other", "95 % interval"].split(" to "))
    assert 1.9 < low < 2.1 < 2.2 > high
    assert table.loc["flat", "95 % interval"] == "beyond the grid"


@pytest.mark.slow
def test_no_ranking_is_easier_for_the_local_test_than_equal_ones():
    for m, _, n in figure_3.PANELS:
        limit = figure_3.local_limit(m, n)
        assert limit < 0.05 or m <= 100
    curve = local_power(10, 3000, 1 / 3, [1 - 1e-9], 400, threshold="printed")["mean"].iloc[0]
    assert abs(figure_3.local_limit(10, 3000) - curve) < Z * math.sqrt(0.25 / 400)


def test_the_trun_level_is_that_of_an_exact_sum():
    tests = same_data.central_tests(2, 60, 1.0, 49)
    k = 60
    first = np.arange(k + 1)
    law = np.array([math.comb(k, int(j)) for j in first]) / 2**k
    total = 2 * first - k
    exact = 1 - law @ tests[same_data.EXCHANGED].acceptance(total**2 / k, total)
    assert same_data.trun_size(tests[same_data.EXCHANGED]) == pytest.approx(exact, abs=0.003)
    assert same_data.trun_size(replace(tests[same_data.EXCHANGED], accept_large=True)) != pytest.approx(exact, abs=0.05)
