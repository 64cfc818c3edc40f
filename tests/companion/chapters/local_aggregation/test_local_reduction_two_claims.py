"""False-alarm rate of each statistical test, at its fixed seed: below 1e-6."""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from checks import each

from companion.chapters.local_aggregation import local_answers, local_bounds, local_costs
from companion.ledger.claim import derive
from companion.printed.alabi2022 import plus_chances, report_loss
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.data.rankings import Rankings

Z = 5.0


def test_privacy_holds_and_a_report_of_twice_the_budget_would_not(monkeypatch):
    assert derive(local_answers.check_privacy((2, 8), (1.0, 10.0))) == "holds"
    loss = report_loss
    monkeypatch.setattr(local_answers, "report_loss", lambda e, report: loss(2.05 * e, report))
    assert derive(local_answers.check_privacy((2, 8), (1.0, 10.0))) == "refuted"


def test_variance_ratio_at_equal_loss():
    for e in (0.1, 2.0):
        loss = float(np.logaddexp(0, e) - math.log(2))
        printed, centred = (
            local_answers.answer_variance(np.array([0.0, 1.0]), 100, 1, x, report)
            for x, report in ((e, "printed"), (loss, "centred"))
        )
        assert printed / centred == pytest.approx([math.exp(loss), 2 - math.exp(-loss)])


def test_overload_by_enumeration():
    for balls, bins, most in ((5, 3, 2), (6, 2, 4), (4, 4, 1), (3, 3, 3), (5, 2, 2)):
        throws = list(product(range(bins), repeat=balls))
        share = np.mean([max(Counter(t).values()) > most for t in throws])
        assert local_answers.overload(balls, bins, most) == pytest.approx(share, abs=1e-13)


@each("before, behind", [(0.0, 0.0), (0.2, 0.2), (0.1, 0.4), (1.0, 0.0), (0.5, 0.5)])
def test_placement_cost_by_enumeration(before, behind):
    """All pivots and answers of up to five items."""

    def cost(items):
        if len(items) < 2:
            return 0.0
        total = 0.0
        for pivot in items:
            rest = [i for i in items if i != pivot]
            for wrong in product((0, 1), repeat=len(rest)):
                chance = np.prod([(before if i < pivot else behind) if x else 1 - (before if i < pivot else behind)
                                  for i, x in zip(rest, wrong, strict=True)])  # fmt: skip
                if chance:
                    left = [i for i, x in zip(rest, wrong, strict=True) if (i < pivot) != bool(x)]
                    right = [i for i in rest if i not in left]
                    cross = sum(a > b for a in [*left, pivot] for b in right) + sum(a > pivot for a in left)
                    total += chance * (cross + cost(left) + cost(right))
        return total / len(items)

    for m in (2, 3, 4, 5):
        assert local_costs.placement_cost(m, before, behind) == pytest.approx(cost(list(range(m))), abs=1e-12)


@pytest.mark.parametrize("name", ["as printed", "corrected", "fresh blocks"])
@pytest.mark.slow
def test_design_cost_is_what_runs_cost(name):
    design, n, truth = local_costs.designs(8, 4.0)[name], 4000, np.triu(np.ones((8, 8)), 1)
    rng, data = np.random.default_rng(7), local_answers.unanimous(8, 4000)
    costs = np.array([kemeny_score(design.release(data, rng).order, truth) for _ in range(400)])
    assert abs(costs.mean() - local_costs.design_cost(design, n)) <= Z * costs.std() / 20 + 1e-3


@each("report", ["printed", "centred"])
def test_wrong_chances_by_enumeration(report):
    for size in (1, 2, 5):
        no, yes = plus_chances(0.9, report)
        d, seen = 1 / math.tanh(0.45), []
        for p, right in ((yes, True), (no, False)):
            wrong = 0.0
            for signs in product((0, 1), repeat=size):
                mean = d * (2 * sum(signs) / size - 1)
                answer = mean if report == "printed" else (1 + mean) / 2
                half = 0.5 if report == "centred" and sum(signs) * 2 == size else (answer <= 0.5) == right
                wrong += math.prod(p if s else 1 - p for s in signs) * half
            seen.append(wrong)
        assert local_costs.wrong_chances(size, 0.9, report) == pytest.approx(tuple(seen))


def test_mean_rounds_by_enumeration():
    def depth(order):
        if len(order) < 2:
            return 0
        pivot = order[0]
        return 1 + max(depth([i for i in order if i < pivot]), depth([i for i in order if i > pivot]))

    for m in (2, 3, 5):
        assert local_costs.mean_rounds(m) == pytest.approx(np.mean([depth(p) for p in permutations(range(m))]))


def test_two_approximation_needs_its_constant():
    """With a quarter of the noise term the bound fails for voters who agree: the noise is all there is."""
    design = LocalKwikSort.calibrated(n_items=4, epsilon=0.05)
    seen = local_bounds.two_approximation(np.tile(np.arange(4), (2, 1)), design, 60)
    assert seen["optimum"] == 0
    assert 0.01 * seen["wrong"] < seen["cost"] <= 4 * seen["wrong"]


@pytest.mark.slow
def test_two_approximation_is_what_runs_on_drawn_voters_cost():
    rng = np.random.default_rng(8)
    rankings = np.array([rng.permutation(4) for _ in range(5)])
    design = LocalKwikSort.calibrated(n_items=4, epsilon=2.0)
    w = pairwise_fractions(Rankings(rankings, "abcd"))
    costs = []
    for _ in range(2000):
        drawn = Rankings(rankings[rng.integers(5, size=30)], "abcd")
        costs.append(kemeny_score(design.release(drawn, rng).order, w))
    exact = local_bounds.two_approximation(rankings, design, 30)["cost"]
    assert abs(np.mean(costs) - exact) < Z * np.std(costs) / 2000**0.5


def test_thresholds():
    found = local_bounds.thresholds()
    for name, short in (("ordered", 1), ("unordered", 2)):
        m = found[name]
        assert short * local_answers.lemma_queries(m) <= m * (m - 1)
        assert short * local_answers.lemma_queries(m - 1) > (m - 1) * (m - 2)


def test_budgets_and_figure():
    assert (local_answers.budgets((3, 30), 1.0).exact / 0.5 - 1).abs().max() < 0.02
    curves = local_costs.cost_curves((8,), 1.0, points=3)
    simulated = local_costs.matrix_curve((8,), 1.0, 10, points=2)
    assert curves.error.between(0, 0.5).all()
    frame = pd.concat([curves, simulated])
    assert len(local_costs.draw_cost_curves(frame).axes) == 1
    needed = local_costs.voters_needed((8,), 1.0).iloc[0]
    assert needed["as printed"] > needed["corrected"] > needed["fresh blocks"]


def test_overtaking_finds_where_the_exact_error_meets_a_constant():
    """Errors of Borda's that do not depend on the number of voters: the level is met between two grid points."""
    level, sizes = 0.05, np.geomspace(100, 1600, 9).astype(int)
    row = local_costs.overtaking(pd.DataFrame({"items": 8, "voters": sizes, "mean": level}), 1.0).iloc[0]
    design = local_costs.designs(8, 1.0)["fresh blocks"]
    assert row["share"] == pytest.approx(level)
    errors = [local_costs.design_cost(design, n) / 28 for n in (row["fresh blocks"] / 1.2, row["fresh blocks"] * 1.2)]
    assert errors[1] < level < errors[0]


def test_algorithms_2_and_3_depend_on_the_reading():
    checks = local_answers.check_alg_2()
    assert derive(checks) == "depends on the reading"
    true = {c.reading for c in checks if c.reading} - {c.reading for c in checks if c.reading and not c.outcome}
    assert true == {f"base e, {local_answers.TEXT}"}
    checks = local_answers.check_alg_3()
    assert derive(checks) == "depends on the reading"
    false = {c.reading for c in checks if c.reading and not c.outcome}
    assert false == {local_answers.BORROWED, local_answers.LINES, local_answers.COPIED}
    assert {c.reading for c in checks if c.reading} - false == {local_answers.MENDED}


def test_a_budget_of_all_epsilon_breaks_the_kind_reading_too(monkeypatch):
    read = local_answers.algorithm_3
    monkeypatch.setattr(local_answers, "algorithm_3", lambda m, q, e, **given: read(m, q, 3 * e, **given))
    checks = local_answers.check_alg_3()
    assert not all(c.outcome for c in checks if c.reading == local_answers.MENDED)
