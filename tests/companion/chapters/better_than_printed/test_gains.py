"""Every gain: its sources are there, its privacy is that of what it replaces, and its factor is found another way."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from scipy import stats

import dprank
from companion.chapters.better_than_printed import (
    agreement,
    comparisons,
    consensus,
    growth,
    overview,
    selection,
    unpaid,
)
from companion.chapters.better_than_printed.gain import Factor, measured, over
from companion.chapters.privacy_audited import promises
from companion.chapters.which_method import table as arena
from companion.instruments.sweep import stream
from companion.ledger.card import anchor
from companion.ledger.files import Claim, find_root, load_ledger
from companion.printed import alabi2022, cai2025, qiao2021
from dprank.aggregation.kwiksort import comparisons_law, queries
from dprank.models.bradley_terry import ARCTAN
from dprank.privacy.divergence import GaussianShift
from dprank.privacy.laws import exact
from dprank.topk.laws import joint_choices

#: False alarms of each statistical test here.
ALARM = 1e-6
NAMES = {gain.name: gain for gain in overview.GAINS}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return overview.frame(100)


# --- sources ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ledger() -> dict[str, Claim]:
    return load_ledger(find_root())


@pytest.mark.parametrize("name", NAMES)
def test_a_row_leads_to_a_claim_a_proof_and_an_audit(name, ledger):
    gain, root = NAMES[name], find_root()
    assert gain.claim in ledger
    audited = {case.kind.__name__ for case in promises.known().values()}
    assert gain.mechanism in audited
    assert hasattr(dprank, gain.mechanism)
    page, _, place = gain.proof.partition("#")
    source = (root / "notebooks" / page).resolve()
    assert source.with_suffix(".md").exists() or source.with_suffix(".ipynb").exists()
    if place.startswith("dprank."):
        module, _, name = place.rpartition(".")
        assert hasattr(import_module(module), name)
        assert Path(page).stem == module
    elif (found := [claim for claim in ledger.values() if anchor(claim.id) == place]) and place:
        assert [claim.chapter for claim in found] == [Path(page).stem]


def test_names_are_different_and_no_replacement_is_worse(table):
    assert len(NAMES) == len(overview.GAINS)
    assert (table["high"] > 1).all()
    assert (table.loc[table["exact"], "factor"] > 1).all()
    assert list(dict.fromkeys(table["paper"])) == ["cai2025", "busafekete2021", "qiao2021", "alabi2022"]
    cells = BeautifulSoup(overview.catalogue(table), "html.parser").find_all("tr")
    assert len(cells) == 1 + len(NAMES)
    assert all(len(row.find_all("a")) == 3 for row in cells[1:])
    numbers = overview.numbers(table)
    assert int(numbers["exact"]) + int(numbers["measured"]) == len(NAMES)


def test_a_factor_has_its_error_bar():
    factor = measured((0.4, 0.02), (0.1, 0.01))
    assert factor.value == 4
    assert factor.log_se == pytest.approx(math.hypot(0.05, 0.1))
    with pytest.raises(ValueError, match=r"^means = 0.4, 0; both must be above 0, with more repetitions$"):
        measured((0.4, 0.1), (0.0, 0.0))
    assert over(3.0, 2.0) == Factor(1.5, 0.0)
    assert overview.shown(2650.2, 2581.0, 2720.4) == "2,650 (2,581 to 2,720)"
    assert overview.shown(2.0, 2.0, 2.0) == "2"


# --- equal privacy ---------------------------------------------------------------------------------------------------

#: Cases of the audit that stand for the mechanisms of the table.
CASES = (
    "PerturbedMLE, calibrated, logistic",
    "PerturbedMLE, calibrated, 2 answers",
    "PerturbedMLE, public graph, discrete",
    "NoisyCounts, complete, replace, discrete",
    "NoisyCounts, cube",
    "NoisyCounts, conditioned, replace",
    "LaplaceUnif, calibrated",
    "NoisyNorm, ranks",
    "OptimalVote, calibrated",
    "LocalOneBit",
    "LocalTwoStage",
    "Oneshot, laplace, set, add_remove",
    "Oneshot, laplace, four of five",
    "Oneshot, laplace, delta = 0.05",
    "Oneshot, gumbel, delta = 0.05",
    "JointExponential, set, replace",
    "PrivateRankCentrality, triangle, k = 1",
    "NoisyMatrix, discrete laplace, replace",
    "NoisyMatrix, discrete gaussian, replace",
    "PrivateBorda, discrete laplace, replace",
    "PrivateKwikSort, discrete laplace, replace, with a fallback",
    "LocalMatrix, order of 2",
)


@pytest.mark.parametrize("name", CASES)
def test_ours_keeps_its_promise(name):
    case = promises.known()[name]
    assert case.exact_epsilon() <= case.claimed * (1 + 1e-9)


def test_all_classes_of_the_table_are_among_the_cases():
    assert {gain.mechanism for gain in overview.GAINS} <= {promises.known()[name].kind.__name__ for name in CASES}


def test_noise_that_is_a_fiftieth_too_small_is_seen():
    """A twin that wins a factor by a broken promise."""
    case = promises.known()["PerturbedMLE, calibrated, logistic"]
    ours: Any = case.mechanism
    weaker = replace(ours, scale=ours.scale / 1.02)
    assert exact(weaker, case.data, case.other).epsilon(0.0) > case.claimed * 1.005


# --- comparisons -----------------------------------------------------------------------------------------------------


def test_noise_on_the_likelihood_is_eight_against_the_least():
    assert comparisons.public_graph(1.0).value == 8 / 2  # a comparison moves two wins by one each
    arctan = comparisons.public_graph(link=ARCTAN).value
    ours, ridge = (getattr(cai2025.algorithm_1(1.0, 3, link=ARCTAN).mechanism, name) for name in ("scale", "ridge"))
    weaker = {"graph": "public", "unit": "comparison", "law": "continuous", "link": ARCTAN}
    for share in (1.0, 1.02):
        loss = dprank.PerturbedMLE(3, ours / arctan / share, ridge, **weaker).guarantee.epsilon
        assert loss == pytest.approx(1.0, rel=1e-6) if share == 1 else loss > 1.005
    for epsilon in (0.1, 1.0, 4.0):
        ours = 8 / epsilon / comparisons.secret_graph(epsilon).value
        ridge = cai2025.algorithm_1(epsilon, 3).mechanism.ridge
        made = {"graph": "private", "unit": "comparison", "law": "continuous"}
        # at that noise the guarantee is used up
        assert dprank.PerturbedMLE(3, ours, ridge, **made).guarantee.epsilon == pytest.approx(epsilon, rel=1e-6)
        assert comparisons.secret_graph(epsilon).value > 1.25
        assert comparisons.secret_graph(epsilon, per_person=5).value > 1.8


@pytest.mark.parametrize("items", [3, 4])
def test_net_wins_by_all_answer_sheets(items):
    pairs = list(itertools.combinations(range(items), 2))
    sheets = np.array(list(itertools.product((-1, 0, 1), repeat=len(pairs))))
    sides = np.zeros((len(pairs), items))
    for row, (i, j) in enumerate(pairs):
        sides[row, [i, j]] = 1, -1
    net = sheets @ sides
    wins = np.maximum(sheets, 0) @ np.maximum(sides, 0) + np.maximum(-sheets, 0) @ np.maximum(-sides, 0)
    most = [max(np.abs(it - one).sum(axis=1).max() for one in it) for it in (wins, net)]
    assert comparisons.net_wins(items).value == pytest.approx(most[0] / (most[1] / 2))


@pytest.mark.parametrize(("noise", "items"), [("cube", 6), ("conditioned", 5)])
def test_deviations_of_noise_are_those_of_draws(noise, items):
    answers, design = (items // 2, "matching") if noise == "cube" else (math.comb(items, 2), "once")
    made = {"epsilon": 0.1, "n_items": items, "per_person": answers, "design": design, "score": "net"}
    rng, number = np.random.default_rng(3), 20_000
    drawn = [
        dprank.NoisyCounts.calibrated(**made, noise=it).perturb(np.zeros(items, np.int64), rng, number)
        for it in ("laplace", noise)
    ]
    if noise == "conditioned":
        drawn = [it[:, 0] - it[:, 1] for it in drawn]
    ratio = np.std(drawn[0]) / np.std(drawn[1])
    found = comparisons.cube(items) if noise == "cube" else comparisons.conditioned(items)
    # deviations of so many draws: five standard errors, tails of Laplace noise counted
    assert found.value == pytest.approx(ratio, rel=5 * math.sqrt(2 * 5 / (4 * number)) + 0.01)


# --- selection -------------------------------------------------------------------------------------------------------


def test_theorem_2_1_costs_what_the_audit_says():
    known = promises.known()
    printed, twice = known["Oneshot, Theorem 2.1, add_remove"], selection.one_way(10, 100).value
    assert printed.guaranteed == pytest.approx(printed.claimed / twice)
    assert printed.guaranteed * 0.99 < printed.exact_epsilon() <= printed.guaranteed
    assert selection.nearly_all(90, 100).value == pytest.approx(90 / 10)
    # one of two is the other left out: the law of the choice is the same
    law = known["Oneshot, laplace, four of five"]
    assert law.mechanism.scale == pytest.approx(2 * 1 / law.claimed)


def test_theorem_2_2_asks_for_more_at_every_size():
    for k, m, delta, epsilon in [(1, 2, 0.05, 0.2), (1, 10**3, 1e-6, 0.2), (2, 4, 0.05, 0.01), (300, 600, 1e-9, 0.1)]:
        printed = 8 * math.sqrt(k * math.log(m / delta)) / epsilon
        for noise, deviation in (("laplace", math.sqrt(2)), ("gumbel", math.pi / math.sqrt(6))):
            ours = dprank.Oneshot.calibrated(epsilon=epsilon, delta=delta, n_items=m, k=k, noise=noise)
            factor = selection.theorem_2_2_over(noise, k, m, delta, epsilon).value
            assert factor == pytest.approx(printed * math.sqrt(2) / (ours.scale * deviation))
            assert factor > 4


def test_theorem_3_5_by_its_formula():
    items, k, samples, epsilon = 6, 2, 4, 0.2
    # the largest change of a share: half of 2 / (d L), d = m - 1, at the data's own coefficient
    moved = 2 / ((items - 1) * samples)
    printed = 8 * moved * math.sqrt(k * math.log(items / 1e-6)) / epsilon
    ours = dprank.PrivateRankCentrality.calibrated(
        epsilon=epsilon, n_items=items, k=k, samples=samples, damped=True, relative=False
    )
    assert selection.theorem_3_5_over(items, k, samples).value == pytest.approx(printed / ours.scale)
    assert ours.guarantee.delta == 0
    as_printed = qiao2021.theorem_3_5(epsilon=epsilon, delta=1e-6, n_items=items, k=k, samples=samples)
    assert as_printed.mechanism.guarantee.epsilon < epsilon / 10


def test_the_right_set_is_as_likely_as_its_law_says():
    made = {"epsilon": 0.8, "n_items": 6, "k": 2, "adjacency": "replace"}
    law = joint_choices(dprank.JointExponential.calibrated(**made), selection.zipf(6, 12))
    cell = {"items": 6, "people": 12, "k": 2, "epsilon": 0.8, "repetitions": 2000}
    hits = selection.joint_chances(method="joint", **cell, rng=np.random.default_rng(4))
    assert stats.binomtest(int(hits.sum()), 2000, law[(0, 1)]).pvalue > ALARM
    found = selection.joint(400)
    assert found == selection.joint(400)
    assert found.value > math.exp(5 * found.log_se)


# --- consensus -------------------------------------------------------------------------------------------------------


def test_noise_on_pairs_by_all_replacements():
    orders = list(itertools.permutations(range(4)))
    pairs = np.array([[int(o.index(a) < o.index(b)) for a, b in itertools.combinations(range(4), 2)] for o in orders])
    moved = max(np.abs(one - other).sum() for one, other in itertools.combinations(pairs, 2))
    assert consensus.corollary_3_over(4).value == pytest.approx(4**2 / moved)


def test_gaussian_noise_on_pairs_by_the_law_on_the_line():
    for items in (5, 20):
        ours = alabi2022.corollary_4(items, 1.0, 1e-6).mechanism.scale / consensus.corollary_4_over(items).value
        l2 = math.sqrt(math.comb(items, 2))
        assert GaussianShift(l2, ours).epsilon(1e-6) == pytest.approx(1.0, rel=0.01)
        assert unpaid.exact_over_zcdp(items).value > 1


def test_kwiksort_pays_for_its_fallback_where_it_has_one():
    for items in (8, 20):
        q, pairs = queries(items, items**-4.0), math.comb(items, 2)
        ours = dprank.PrivateKwikSort.calibrated(n_items=items, epsilon=1.0, law="continuous")
        beyond = comparisons_law(items)[ours.queries + 1 :].sum()
        spare = ours.fallback.scale if ours.fallback else 0.0
        printed = q if q == pairs else 1.5 * q  # so that all it spends is epsilon
        found = consensus.queries(items).value
        assert found == pytest.approx(printed / ((1 - beyond) * ours.scale + beyond * spare))
        # little is gained where all pairs are asked anyway
        assert found > (0.999 if items == 8 else 1.5)


def test_a_pair_by_the_laws_of_its_answers():
    for items, epsilon in ((3, 0.5), (10, 1.0), (10, 8.0)):
        pairs, kept = math.comb(items, 2), math.tanh(epsilon / 2)
        printed = 4 * pairs / kept**2  # a coin where the answer is no: twice the estimate's unit, which is squared
        ours = dprank.LocalMatrix.calibrated(epsilon=epsilon, n_items=items).randomiser.variance
        assert ours <= pairs / kept**2 - 1 + 1e-9
        assert consensus.answer(items, epsilon).value == pytest.approx(printed / ours)
        assert consensus.random_pair(items, epsilon).value > 1.3
    assert consensus.random_pair(2).value == pytest.approx(1.0)


def test_scores_lose_what_stands_in_the_arena():
    whole = arena.load()
    rows = whole.query(
        "question == 'consensus' and data == 'Mallows' and items == 20 and people == 400 and epsilon == 1.0"
        " and delta == 0 and loss == 'pairs' and trust == 'curator'"
    ).set_index("method")
    found = consensus.scores()
    best = [min(row["mean"] for name, row in rows.iterrows() if name.startswith(it)) for it in ("NoisyM", "PrivateB")]
    assert found.value == best[0] / best[1]
    assert found.log_se > 0
    with pytest.raises(ValueError, match=r"^method = 'None'; the arena has no row of it with these sizes$"):
        consensus.lost(whole, "None", items=20, people=400, epsilon=1.0)


def test_the_bound_counts_each_pair_once():
    """On all noise of three items that meets the constraints of probabilities, half of the printed sum, attained."""
    orders, worst = list(itertools.permutations(range(3))), 0.0
    for upper in itertools.product((-0.3, 0.0, 0.3), repeat=3):
        error = np.zeros((3, 3))
        error[np.triu_indices(3, 1)] = upper
        error -= error.T
        change = max(abs(sum(error[o[b], o[a]] for a in range(3) for b in range(a + 1, 3))) for o in orders)
        worst = max(worst, change / max(np.abs(error).sum(), 1e-9))
    assert worst == pytest.approx(0.5)
    assert consensus.theorem_1_bound(3).value == 9 / 3


# --- agreement -------------------------------------------------------------------------------------------------------


def test_one_item_is_in_no_pair():
    for items in (4, 5):
        assert agreement.laplace_noise(items).value == pytest.approx(2 * items / (4 * (items // 2) * (1 - 1 / 100)))


def test_the_best_vote_needs_no_more():
    most = agreement.needed(4, 0.7, 1.0, agreement.SIZE)["vote"]
    found = agreement.optimal_voters(4, 0.7, most)
    assert most // 2 < found < most
    assert agreement.optimal_power(4, found, 0.7) >= 0.95 > agreement.optimal_power(4, found - 1, 0.7)


def test_the_norm_sees_what_stands_in_the_arena():
    found = agreement.norm()
    low, high = (found.value * math.exp(side * 1.96 * found.log_se) for side in (-1, 1))
    assert 2 < low < found.value < high < 8


def test_one_bit_has_the_power_that_it_is_said_to_have():
    """At the number of voters that the law for many gives, 2,000 decisions."""
    rng = stream("17: voters needed", {"test": "one bit", "items": 10})
    voters, _ = agreement.samples_needed(10, agreement.Mallows.of_gap(10, 0.05).theta, 1.0, "one bit", 200, rng)
    hits = agreement.local_rejections(
        test="LocalOneBit", items=10, people=round(voters), phi=0.95, repetitions=200, rng=np.random.default_rng(5)
    )
    # 0.8, but for the whole numbers of the threshold and 200 pairings
    assert stats.binomtest(int(hits.sum()), 200, 0.8).pvalue > ALARM
    assert agreement.one_bit(2).value == pytest.approx(1.0)
    assert agreement.one_bit(1000).value > 1000


def test_two_stages_pay_with_many_items_and_not_with_three():
    many, few = agreement.two_stage(200), unpaid.two_stages_of_three(200)
    assert many.value > math.exp(5 * many.log_se)
    assert few.value < math.exp(1.96 * few.log_se) * 1.05
    assert agreement.two_stage(50) == agreement.two_stage(50)


# --- pictures and what did not pay -----------------------------------------------------------------------------------


def test_what_did_not_pay_did_not():
    assert unpaid.few_chosen().value == 1.0
    assert unpaid.few_chosen(k=100, items=1000).value > 3  # where more are chosen a delta pays
    matrix = unpaid.kwiksort()
    assert matrix.value * math.exp(1.96 * matrix.log_se) < 1
    assert overview.unpaid_frame(100)["what"].is_unique


def test_scores_are_better_in_places_only():
    found = growth.scores_over_pairs()
    bar = np.exp(1.96 * found["log_se"])
    assert (found["factor"] / bar > 1.5).any()
    worse = found[found["factor"] * bar < 1]
    assert set(worse["data"]) == {"two camps"}
    assert set(worse["people"]) == {10_000}
    figure = growth.draw_scores(found)
    assert figure.get_suptitle().endswith("except in two camps")
    said = " ".join(text.get_text() for text in figure.texts)
    assert f"{10_000:,} voters and ε of {worse['epsilon'].min():g} or more" in " ".join(said.split())
    # from there on, without an exception
    camps = found[(found["data"] == "two camps") & (found["people"] == 10_000)]
    assert set(camps.loc[camps["epsilon"] >= worse["epsilon"].min(), "epsilon"]) == set(worse["epsilon"])
    fine = growth.draw_scores(found.assign(factor=2.0)).get_suptitle()
    assert "except" not in fine


def test_the_picture_has_a_dot_and_a_name_for_each(table):
    figure = overview.draw_factors(table)
    names = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    assert sorted(names) == sorted(NAMES)
    hollow = [
        line
        for axes in figure.axes
        for line in axes.lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == "none"
    ]
    assert len(hollow) == (~table["exact"]).sum()
    assert re.match(r"\d+ of \d+ replacements", figure.get_suptitle())
    grown = pd.DataFrame({"curve": name, "size": m, "factor": 2.0} for name in growth.CURVES for m in growth.SIZES)
    assert len(growth.draw_growth(grown).axes[0].texts) == len(growth.CURVES)
    one_grows = grown.assign(factor=grown["size"].where(grown["curve"] == next(iter(growth.CURVES)), 2.0).astype(float))
    title = " ".join(growth.draw_growth(one_grows).get_suptitle().split())
    assert title.startswith(f"1 of {len(growth.CURVES)} ")
