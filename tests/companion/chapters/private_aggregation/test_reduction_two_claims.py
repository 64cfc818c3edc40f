"""Reduction II. Statistical tests have fixed seeds and a false-alarm rate of 1e-6 each."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from checks import law_p_value
from scipy import stats

from companion.chapters.private_aggregation import query_budget, second_gain
from companion.chapters.private_aggregation import reduction_two as experiment
from companion.chapters.private_aggregation.kwiksort import draw_noise_ratio
from companion.instruments.aggregation import gaussian_constant
from companion.instruments.style import show
from companion.ledger.claim import derive
from companion.printed import Printed
from companion.printed.alabi2022 import corollary_6
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import comparisons_law, queries
from dprank.aggregation.matrix import pairwise_fractions, shrink
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Guarantee

FALSE_ALARM = 1e-6
ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


def p_value(orders, law):
    counts = [sum(tuple(order) == o for order in orders) for o in ORDERS]
    return law_p_value(counts, [law.get(o, 0.0) for o in ORDERS])


def test_fractions_are_those_of_the_library():
    data = Rankings.from_orders(np.array(experiment.FIVE), "abc")
    assert experiment.fractions(experiment.FIVE) == pytest.approx(pairwise_fractions(data))
    assert len(list(experiment.data_sets(3, 2))) == 21
    assert len(list(experiment.neighbours(((0, 1, 2), (0, 1, 2), (1, 0, 2))))) == 10


@pytest.mark.parametrize("scale", [0.05, 0.7, 5.0])
@pytest.mark.slow
def test_the_law_of_three_items(scale):
    margins = experiment.half_margins(experiment.FIVE)
    law = experiment.kemeny_law(margins, scale)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
    rng = np.random.default_rng(1)
    orders = []
    for _ in range(1500):
        noise = np.triu(rng.laplace(0, scale, (3, 3)), 1)
        orders.append(kemeny(shrink(margins + noise - noise.T)).order)
    assert p_value(orders, law) > FALSE_ALARM


def test_the_law_of_algorithm_1():
    names = "abc"
    mechanism = PrivateKwikSort(3, 3, 0.8, law="continuous")
    data = Rankings.from_orders(np.array(experiment.FIVE), names)
    rng = np.random.default_rng(2)
    orders = [mechanism.release(data, rng).order for _ in range(3000)]
    law = experiment.kwiksort_law(experiment.half_margins(experiment.FIVE), 3, 0.8)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
    assert p_value(orders, law) > FALSE_ALARM
    assert None not in law


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_without_noise_the_fallback_is_quicksorts_tail(limit):
    law = experiment.kwiksort_law(experiment.half_margins(((0, 1, 2, 3),)), limit, 0.0)
    assert law.get(None, 0.0) == pytest.approx(comparisons_law(4)[limit + 1 :].sum(), abs=1e-12)


@pytest.mark.slow
def test_a_counter_for_the_run_and_one_handed_down():
    assert query_budget.by_value_law(6, 15) == pytest.approx(comparisons_law(6), abs=1e-12)
    law = query_budget.by_value_law(7, 9)
    for handed_down in (True, False):
        seen = query_budget.answered(7, 9, 4000, np.random.default_rng(3), handed_down)
        assert (seen.max() > 9) == handed_down
    # runs that fall back late may have answered more too
    more = (query_budget.answered(7, 9, 4000, np.random.default_rng(3), handed_down=True) > 9).sum()
    assert stats.binom.cdf(more, 4000, law[10:].sum()) > FALSE_ALARM
    five = query_budget.answered(5, 5, 4000, np.random.default_rng(4), handed_down=True) == 6
    assert law_p_value([five.sum(), 4000 - five.sum()], [0.2, 0.8]) > FALSE_ALARM
    assert query_budget.counters([5]).iloc[0].tolist() == [5, 5, 6, pytest.approx(0.2), 1.2]


@pytest.mark.parametrize(("m", "limit"), [(3, 2), (8, 20)])
def test_the_loss_of_a_run_is_the_guarantee(m, limit):
    printed = corollary_6(m, limit, 1.3).mechanism
    assert query_budget.run_loss(printed, 4) == pytest.approx(printed.guarantee.epsilon, rel=1e-9)


def test_a_tame_algorithm_passes_theorem_5(monkeypatch):
    monkeypatch.setattr(experiment, "contrary", lambda w: kemeny(shrink(w)).order)
    assert derive(experiment.check_thm_5(1, 5)) == "holds"


def test_voters_who_agree_pass_the_printed_proof(monkeypatch):
    monkeypatch.setattr(experiment, "FIVE", ((0, 1, 2),) * 5)
    assert derive(experiment.check_thm_5_proof(1)) == "holds"


def test_the_right_noise_passes_the_budget(monkeypatch):
    def twice(n_items, queries, epsilon):
        right = PrivateKwikSort.calibrated(
            epsilon=epsilon, n_items=n_items, queries=queries, share=0.5, law="continuous"
        )
        return Printed(right, claims=Guarantee(epsilon))

    monkeypatch.setattr(query_budget, "corollary_6", twice)
    assert derive(query_budget.check_cor_6_budget(1)) == "holds"


def test_a_counter_that_stops_passes_algorithm_1(monkeypatch):
    honest = query_budget.by_value_law
    monkeypatch.setattr(query_budget, "by_value_law", lambda m, q: np.where(np.arange(len(honest(m, q))) <= q, 1, 0))
    assert derive(query_budget.check_alg_1([5, 16], 50)) == "holds"


def test_too_little_noise_fails_corollary_6(monkeypatch):
    honest = PrivateKwikSort.calibrated.__func__

    def less(cls, **parameters):
        made = honest(cls, **parameters)
        return replace(made, scale=made.scale / 2)

    monkeypatch.setattr(PrivateKwikSort, "calibrated", classmethod(less))
    assert derive(query_budget.check_cor_6([2, 8], 5)) == "refuted"


def test_small_constants_fail():
    frame = query_budget.error_bounds([16, 32, 64], 1.0)
    assert frame.pure.min() > 5
    assert gaussian_constant(math.log(1e6), 1e-6) > 1.5


def test_where_the_second_reduction_has_less_noise():
    laplace, gaussian = second_gain.pays(range(3, 45)), second_gain.pays([8, 30], 1e-6)
    assert laplace["printed"].iloc[0] == 2
    assert laplace.printed.iloc[-1] == pytest.approx(2 * queries(44, 44**-4.0) / math.comb(44, 2))
    least = second_gain.helps_from(laplace, "printed")
    assert 2 * queries(least, least**-4.0) < math.comb(least, 2)
    assert 2 * queries(least - 1, (least - 1) ** -4.0) >= math.comb(least - 1, 2)
    assert (laplace.planned <= 1 + experiment.ROUNDING).all()
    assert (laplace["ξ = 0.01"] >= laplace.printed).all()
    assert gaussian.printed.iloc[1] == pytest.approx(2 * math.sqrt(queries(30, 30**-4.0) / 435))
    assert gaussian.planned.iloc[1] < 1
    assert len(draw_noise_ratio(pd.concat([laplace, gaussian])).axes[0].lines) == 5


def test_gains_in_words():
    rows = pd.DataFrame({"items": [8, 16], "gain": [0.5, 1.02], "se": [0.1, 0.1]})
    assert "Reduction I is clearly better with 8 items" in second_gain.in_words(rows)
    assert "1.02 ± 0.20" in second_gain.in_words(rows)
    assert "neither is clearly better" in second_gain.in_words(rows.assign(se=1.0))
    assert "Reduction II is clearly better with 8 and 16 items" in second_gain.in_words(rows.assign(gain=2.0))


@pytest.mark.slow
def test_errors_scale_and_the_factor_is_judged():
    errors = second_gain.worst_errors([4, 6], [0.0, 1e-6], 20)
    assert len(errors) == 8
    assert (errors["mean"] > 0).all()
    assert show("errors", errors, second_gain.draw_worst_errors).message
    table = second_gain.gains(errors)
    assert table.gain.between(0.3, 3).all()
    grown = errors.copy()
    second = (grown.n_items == 6) & (grown.reduction == "I")
    grown.loc[second, "mean"] *= 100
    grown["se"] = 0.0
    proved = [it for it in second_gain.check_sec_central_factor(grown, [16, 32, 64]) if it.about == "printed"]
    assert ["proved at most" in it.what for it in proved] == [it.outcome is False for it in proved]
    flat = errors.assign(mean=1.0, se=0.0)
    assert derive(second_gain.check_sec_central_factor(flat, [16, 32, 64])) == "depends on the reading"


def test_an_order_is_as_private_as_its_answers(monkeypatch):
    assert derive(experiment.check_thm_1_privacy(1)) == "holds"
    law = experiment.kemeny_law
    monkeypatch.setattr(experiment, "kemeny_law", lambda margins, scale: law(margins, scale / 3))
    assert derive(experiment.check_thm_1_privacy(1)) == "refuted"


def test_noisy_scores_exist_beyond_the_noise_of_corollary_7():
    assert 1 < query_budget.scores_over((3, 10, 100)) <= 2
    # there the sorted answers' noise would be far from private
    assert gaussian_constant(4 * math.log(100) * math.log(1e6), 1e-6) > 2
