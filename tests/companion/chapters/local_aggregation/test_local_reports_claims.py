"""Claims on locally private reports. Statistical checks: false alarms below 1e-6 each; seeds fixed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import each
from scipy.stats import binom

from companion.chapters.local_aggregation import local_reports as claims
from companion.instruments.aggregation import one_pair_error
from companion.ledger.claim import derive
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.randomisers import SampledOrder


@pytest.fixture(scope="module")
def excess():
    return claims.excesses(5, [2000, 8000], [1.0], 4)


@pytest.fixture(scope="module")
def planted():
    return claims.planted([3, 6], 2000, 1.0, 20)


def test_errors_of_unanimous_voters():
    """Simulated; and a normal variable has sqrt(2 / pi) of its deviation."""
    report = VectorReport.calibrated(n_items=8, epsilon=1.0, geometry="cube")
    reports = report.report(np.tile(np.arange(8), (500, 1)), np.random.default_rng(1))
    errors = [abs(report.estimate(part) - 1).mean() / 2 for part in np.split(reports, 100)]
    exact = claims.unanimous_error("cube", 8, 5, 1.0) * 8 / math.sqrt(5)
    assert abs(np.mean(errors) - exact) < 5 * np.std(errors) / 10
    ratio = claims.unanimous_error("cube", 8, 500, 1.0) * 8 / claims.entry_deviation("cube", 8, 1.0)
    assert ratio == pytest.approx(math.sqrt(2 / math.pi), rel=0.01)


@each("name", ["cube", "every pair (naive)", "one pair, printed form", "one pair", "order of k items"])
@each("m", [2, 3, 4])
def test_laws_of_reports_spend_epsilon_exactly(name, m):
    law = claims.report_law(claims.RANDOMISERS[name](m, 1.2))
    assert law.sum(1) == pytest.approx(1)
    assert claims.largest_loss(law) == pytest.approx(1.2)


def test_event_losses_are_never_above_those_of_outcomes():
    law = np.random.default_rng(3).dirichlet(np.ones(8), 4)
    assert claims.event_loss(law) == pytest.approx(claims.largest_loss(law))


def test_cost_of_one_voters_order():
    for epsilon in (0.5, 3.0, 50.0):
        t = math.tanh(epsilon / 2)
        assert claims.cube_excess(epsilon) == pytest.approx((1 + t) / 8 * 2 + (1 - t) / 8 * (2 * 2 + 3))


@pytest.mark.parametrize("voters", [1, 2, 9, 60])
def test_our_bound_on_two_items_with_the_exact_cost(voters):
    k = np.arange(voters + 1)
    for epsilon in (0.1, 1.0, 4.0):
        keep = 1 / (1 + math.exp(-epsilon))
        for first in range(voters // 2 + 1, voters + 1):  # so many prefer the first item
            yes = np.convolve(binom.pmf(np.arange(first + 1), first, keep), _pmf(voters - first, 1 - keep))
            wrong = yes[2 * k < voters].sum() + yes[2 * k == voters].sum()
            assert wrong * (2 * first / voters - 1) <= one_pair_error(2, epsilon, voters)


def _pmf(n, p):
    return binom.pmf(np.arange(n + 1), n, p)


@pytest.mark.slow
def test_planted_cost_of_two_items():
    frame = claims.planted([2], 400, 1.0, 600)
    keep = 1 / (1 + math.exp(-1))
    margin = 2 * math.sqrt(SampledOrder.calibrated(n_items=2, epsilon=1.0, length=2).variance / 800)
    forward = math.ceil(200 * (1 + margin))
    yes = np.convolve(_pmf(forward, keep), _pmf(400 - forward, 1 - keep))
    cost = (2 * forward / 400 - 1) * (yes[:200].sum() + yes[200] / 2)
    doubt = (2 * forward / 400 - 1) * yes[200] / 2  # a tie may go either way
    assert abs(frame["mean"][0] - cost) < 5 * frame.se[0] + doubt
    assert abs(frame["mean"][0] - 2 * cost) > 5 * frame.se[0] + doubt


# --- mutants: a world in which a check must change its mind


def test_a_randomiser_that_spends_twice_epsilon_is_found(monkeypatch):
    honest = VectorReport.calibrated
    twice = lambda epsilon, **others: honest(epsilon=2 * epsilon, **others)  # noqa: E731
    monkeypatch.setattr(VectorReport, "calibrated", twice)
    assert derive(claims.check_adjacency()) == "refuted"


def test_a_sphere_as_bad_as_the_naive_response_is_found(monkeypatch):
    monkeypatch.setitem(claims.RANDOMISERS, "sphere", claims.RANDOMISERS["every pair (naive)"])
    assert derive(claims.check_naive()) == "refuted"


def test_a_sphere_that_keeps_improving_would_save_the_sentence(monkeypatch):
    monkeypatch.setitem(claims.RANDOMISERS, "sphere", claims.RANDOMISERS["order of k items"])
    assert claims.saving(4, 8.0) > 1


def test_an_error_that_falls_with_epsilon_would_save_theorem_8(monkeypatch, excess):
    monkeypatch.setattr(claims, "unanimous_error", lambda *cell: 1 / cell[-1])
    assert derive(claims.check_thm_8(excess)) == "holds"


def test_costs_above_the_theorem_are_found(excess, planted):
    assert derive(claims.check_thm_8(excess.assign(mean=excess["mean"] + 100))) == "refuted"
    checks = claims.check_cor_9(excess, planted.assign(mean=planted["mean"] + 100))
    assert {c.about for c in checks if c.outcome is not True} == {"printed", "corrected"}


def test_pairs_without_their_scale_are_found(monkeypatch):
    monkeypatch.setattr(SampledOrder, "variance", property(lambda r: 4 * r.n_pairs / r.shrinkage**2))
    assert not all(c.outcome for c in claims.check_naive() if c.about == "corrected")


def test_figures_draw(excess):
    frame = claims.deviations([4, 6], [0.5, 2.0])
    assert len(claims.draw_deviations(frame).axes) == 2
    assert len(claims.draw_excesses(excess).axes) == 1
