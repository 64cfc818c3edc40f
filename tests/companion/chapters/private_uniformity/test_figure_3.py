"""Figure 3: mutants of its claims; z-scores are held against Z, a false alarm of 1e-6 a test."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

from companion.chapters.private_uniformity import figure_3, same_data
from companion.chapters.private_uniformity.local_voters import local_power
from companion.ledger.claim import derive
from companion.printed import busafekete2021 as paper

Z = 5.2


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch):
    """Sizes are then off by less than 0.006; those that are judged lie further from their bounds."""
    monkeypatch.setattr(figure_3, "trun_size", partial(same_data.trun_size, draws=5_000))


@pytest.mark.parametrize("accept_large", [True, False])
def test_trun_rejects_no_more_often_than_its_coin_lets_it(accept_large):
    """The error bar of its power rests on that: a rejection that is likelier would be outside of what it allows."""
    test = paper.trun(10, 400, figure_3.EPSILON, same_data.DELTA, 0.1, accept_large=accept_large).mechanism
    power = 1 - test.acceptance(np.linspace(0, 5000, 501))
    assert power.max() == pytest.approx(1 - test.coin / 2)
    assert power.max() <= 1 - test.coin / 2 + 1e-15


@pytest.mark.slow
def test_verdicts_and_a_mutant(monkeypatch):
    assert derive(figure_3.check_third()) == "refuted"
    central = same_data.central_power([(10, 400)], [0, 60, 120], 60, null_draws=49)
    local = central[central.test == same_data.FREE].assign(test=figure_3.LOCAL)
    assert derive(figure_3.check_near_one(central)) == "refuted"
    checks = figure_3.check_figure_3(central, local)
    assert derive(checks) == "refuted"
    assert [check.outcome for check in checks[:3]] == [False, False, True]
    weak = figure_3.check_figure_3(central.assign(mean=0.5), local)  # a grid that ends before BUNIF sees anything
    assert len(weak) == len(checks) - 2
    assert derive(weak) == "refuted"
    # somebody who reads the last line the wrong way round
    upright = paper.trun
    monkeypatch.setattr(paper, "trun", lambda *a, accept_large=True: upright(*a, accept_large=not accept_large))
    mutant = figure_3.check_figure_3(central, local)
    assert [check.outcome for check in mutant[:3]] == [True, True, True]
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


def test_the_least_size_of_trun_is_below_what_simulation_finds():
    central, local = (pd.DataFrame({"n_items": []}) for _ in range(2))
    checks = {check.what: check for check in figure_3.check_figure_3(central, local)}
    for m, k, _ in figure_3.PANELS:
        least = checks[f"size of TRUN as printed, no less than, whatever ε, m = {m}, k = {k:,}"].observed
        assert 0.5 < least < checks[f"size of TRUN as printed, m = {m}"].observed


@pytest.mark.slow
def test_no_ranking_is_easier_for_the_local_test_than_equal_ones():
    for m, _, n in figure_3.PANELS:
        limit = figure_3.local_limit(m, n)
        assert limit < 0.05 or m <= 100
    curve = local_power(10, 3000, 1 / 3, [1 - 1e-9], 400, threshold="printed")["mean"].iloc[0]
    assert abs(figure_3.local_limit(10, 3000) - curve) < Z * math.sqrt(0.25 / 400)


@pytest.mark.slow
def test_private_tests_need_more(monkeypatch):
    assert figure_3.check_more().verdict == "needs a condition"
    monkeypatch.setattr(figure_3, "unif_power", lambda m, k, bias, delta: 1.0)
    assert figure_3.check_more().verdict == "refuted"
