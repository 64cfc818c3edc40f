"""Fairness: what is said to be lost is what exact laws say at a few items, and noise that is too little is caught."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

import dprank
from companion.chapters.which_method import arena, fairness, losses, table, unused
from companion.chapters.which_method.as_printed import OWN
from companion.chapters.which_method.fairness import Size
from dprank.audit.neighbours import RankingNeighbours, voter_scores
from dprank.cli.neighbours import alike, split
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.privacy.divergence import discrete_gaussian_shift
from dprank.privacy.laws import exact, sample
from dprank.topk.curve import Types, pair_law
from dprank.topk.laws import joint_choices
from dprank.topk.local import LocalTopK
from dprank.topk.peeling import Peeling

#: False alarms of a statistical test here.
ALARM = 1e-6
SMALL = [
    {"question": "ranking", "data": "ladder", "items": 4, "people": 30, "answers": 3},
    {"question": "consensus", "data": "Mallows", "items": 4, "people": 3000},
    {"question": "consensus", "data": "cut short", "items": 6, "people": 20},
    {"question": "winner", "data": "Mallows", "items": 4, "people": 3000},
    {"question": "topk", "data": "Zipf", "items": 6, "people": 4000, "answers": 2, "k": 2},
    {"question": "agreement", "data": "Mallows", "items": 4, "people": 30},
]


def entered(epsilon):
    for heat in SMALL:
        for label, mechanism in arena.entered(heat, epsilon):
            if not label[3].endswith(OWN):  # which may promise too little
                yield label, mechanism, losses.size_of(heat)


# --- the planted bug -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_nobody_loses_more_than_is_allowed_and_too_little_noise_is_caught(epsilon):
    caught = set()
    for (_, delta, _, name), mechanism, size in entered(epsilon):
        assert fairness.loss(mechanism, size).epsilon <= epsilon * (1 + losses.SLACK), name
        if "scale" in vars(mechanism) and fairness.loss(mechanism, size).epsilon > 0.96 * epsilon:
            careless = replace(mechanism, scale=0.95 * mechanism.scale)
            assert fairness.loss(careless, size).epsilon > epsilon * (1 + losses.SLACK), name
            caught.add((name.partition("(")[0], delta > 0))
    assert {("NoisyCounts", False), ("NoisyCounts", True), ("PrivateBorda", False), ("NoisyMatrix", False)} <= caught
    assert {("Oneshot", False), ("Peeling", False), ("NoisyNorm", False), ("LaplaceUnif", False)} <= caught


def test_a_promise_that_says_too_little_changes_nothing():
    # catches a loss that is read off the guarantee
    class Boasting(dprank.PrivateBorda):
        guarantee = dprank.Guarantee(0.01)

    borda = dprank.PrivateBorda(5, 12.0)
    assert fairness.loss(Boasting(5, 12.0), Size(50)) == fairness.loss(borda, Size(50))
    assert fairness.loss(borda, Size(50)).epsilon == pytest.approx(1.0)


# --- against exact laws of all neighbours ----------------------------------------------------------------------------


@pytest.mark.parametrize(("moves", "scale"), [([1, 2], 3.0), ([5, 3, 1], 20.0), ([1] * 6, 1.2), ([4, 4], 0.9)])
def test_gaussian_losses_are_those_of_the_convolution(moves, scale):
    for delta in (1e-6, 1e-3):
        expected = discrete_gaussian_shift(moves, scale).epsilon(delta)
        assert fairness.gaussian_loss(moves, scale, delta) == pytest.approx(expected, rel=1e-8)
    assert fairness.gaussian_loss([0, 0], scale, 1e-6) == 0


def test_long_tables_give_way_to_the_continuous_law(monkeypatch):
    long = fairness.gaussian_loss([7, 3, 1], 60.0, 1e-6)
    monkeypatch.setattr(fairness, "LONGEST", 1)
    assert fairness.gaussian_loss([7, 3, 1], 60.0, 1e-6) == pytest.approx(long, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("answers", [3, 6])
@pytest.mark.parametrize(("score", "noise"), list(product(("net", "wins"), ("laplace", "gaussian"))))
def test_no_two_persons_differ_more_than_the_worst_known(score, noise, answers):
    # all answer sheets of 4 items and 3 answers, or all 6, with gaps and ties
    delta = 1e-6 if noise == "gaussian" else 0.0
    shared = {"n_items": 4, "per_person": answers, "score": score, "design": "once"}
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, delta=delta, **shared)
    sheets = voter_scores(4, answers, repeats=False, ties=True, score=score)
    moves = {tuple(np.sort(np.abs(a - b)).tolist()) for a in sheets for b in sheets}
    most = max(fairness._shifted(noise, move, mechanism.scale, delta) for move in moves)
    assert fairness.loss(mechanism, Size(30, answers)).epsilon == pytest.approx(most, rel=1e-9)


@pytest.mark.slow
def test_of_three_items_no_neighbours_of_few_ballots_lose_more():
    people = [dprank.Rankings(list(rows), "abc") for rows in product(permutations(range(3)), repeat=2)]
    neighbours = RankingNeighbours()
    for mechanism in (
        dprank.PrivateKwikSort.calibrated(epsilon=1.0, n_items=3),
        dprank.ExponentialMechanism.calibrated(epsilon=1.0, n_items=3),
    ):
        worst = max(exact(mechanism, one, two).epsilon(0.0) for one in people for two in neighbours.all(one))
        known = fairness.loss(mechanism, Size(2)).epsilon
        assert known <= worst * (1 + 1e-9)
        assert known > 0.95 * worst


def test_rounds_and_their_worst_list_are_those_of_the_law():
    types, scale = Types([2, 1, 2], [0, 9, 0], [1, 8, 0]), 3.0
    for noise in ("gumbel", "exponential"):
        mechanism = Peeling(2, scale, noise, n_items=5)
        one, two = (np.repeat(values, types.counts).astype(int) for values in types[1:])
        law = exact(mechanism, one, two)
        assert fairness.list_loss(types, 2, scale, noise) == pytest.approx(law.epsilon(0.0), rel=1e-9)
        assert fairness.taken_law(types, 2, scale, noise).epsilon(1e-3) <= law.epsilon(1e-3)
    # one pass of Gumbel noise chooses what rounds of it do
    once, rounds = pair_law(types, 2, scale, "gumbel"), fairness.taken_law(types, 2, scale, "gumbel")
    assert rounds.epsilon(1e-3) == pytest.approx(once.epsilon(1e-3), rel=1e-9)


def test_counts_that_turn_are_of_no_more_people_than_there_are():
    for delta, people in product((0.0, 1e-6), (50, 10_000)):
        mechanism = dprank.Oneshot.calibrated(epsilon=0.2, delta=delta, k=3, n_items=9, ordered=False, per_person=2)
        for _, types, _ in fairness._turning(mechanism, Size(people, 2)):
            assert sum(types.counts) == 9
            for values in types[1:]:
                assert max(values) - min(values) <= people
            moved = np.subtract(types.after, types.before)
            assert np.abs(moved).max() <= 1
            for way in (1, -1):
                assert np.array(types.counts)[moved == way].sum() <= 2


@pytest.mark.parametrize(("k", "m"), [(1, 4), (2, 5), (3, 6), (3, 4)])
def test_joint_choices_have_the_chance_that_listing_gives(k, m):
    mechanism = dprank.JointExponential.calibrated(epsilon=1.0, n_items=m, k=k)
    instead = (*range(k - 1), k)
    for gap in (0, 1, 5):
        values = np.where(np.arange(m) < k, gap, 0)
        for x in (values, values - (np.arange(m) == k - 1) + (np.arange(m) == k)):
            listed = math.log(joint_choices(mechanism, x)[instead])
            assert fairness._log_instead(mechanism, x) == pytest.approx(listed, rel=1e-9)
    assert fairness.loss(mechanism, Size(10_000)).epsilon == pytest.approx(1.0)


def test_a_test_loses_most_at_the_end_of_its_ramp():
    test = dprank.Trun.calibrated(epsilon=1.0, n_items=4, n_voters=30)
    known = fairness.loss(test, Size(30))
    pairs = [(alike(4, 30) | split(4, 30)).values()]
    assert all(exact(test, *pair).epsilon(0.0) <= known.epsilon * (1 + 1e-9) for some in pairs for pair in some)
    assert known.epsilon <= 1.0


def test_what_a_voter_sends_loses_what_its_law_says():
    ballot, reverse = np.arange(4), np.arange(4)[::-1]
    for mechanism, one, other in (
        (dprank.LocalPairs.calibrated(epsilon=1.0, n_items=4), ballot, reverse),
        (dprank.LocalOneBit.calibrated(epsilon=1.0, n_items=4), ballot, reverse),
        (dprank.LocalBorda.calibrated(epsilon=1.0, n_items=4), ballot, reverse),
        (dprank.LocalMatrix.calibrated(epsilon=3.0, n_items=4), ballot, reverse),
        (LocalComparisons.calibrated(epsilon=2.0, n_items=4, per_person=3), [1, 1, 1], [-1, -1, -1]),
        (LocalTopK.calibrated(epsilon=2.0, n_items=6, k=2, per_person=2), [0, 1], [2, 3]),
    ):
        law = exact(mechanism, one, other)
        assert fairness.loss(mechanism, Size(30)).epsilon == pytest.approx(law.epsilon(0.0), rel=1e-9)


@pytest.mark.slow
def test_bets_see_noise_that_is_far_too_little():
    right = dprank.PrivateKwikSort.calibrated(epsilon=1.0, n_items=8, queries=20)
    careless = replace(right, scale=right.scale / 30)
    pairs = split(8, 40)
    honest = fairness._bets(right, pairs)
    assert honest.how == "bets"
    assert honest.epsilon <= 1.0  # but for one time in a thousand
    seen = sample(careless, pairs["half of the ballots reversed, or one more"][0], 50, np.random.default_rng(1))
    assert seen.shape == (50, 8)
    assert fairness._bets(careless, pairs).epsilon > honest.epsilon


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table_has_all_cells_and_none_is_over():
    frame = losses.load()
    assert losses.over(frame).empty
    # a curve that nobody audits would be a gap
    assert set(frame["how"]) <= {"exact law", "part of it", "of more", "bets"}
    assert set(frame.loc[frame["loss"] <= 0, "how"]) <= {"bets"}
    assert not frame.duplicated([*table.HEAT, *table.LABEL]).any()
    # a table in which somebody is over is told apart
    tight = frame["unused"] < losses.ALLOWED
    assert len(losses.over(frame.assign(loss=frame["loss"] * 1.06))) >= tight.sum() > len(frame) / 2


def test_some_of_it_computed_again():
    frame = losses.load()
    quick = frame[(frame["items"] <= 20) & ~frame["method"].str.contains("KwikSort")]
    assert list(losses.rerun(losses.some(quick, 6))) == []
    off = losses.some(quick, 1)
    assert "loss: expected" in next(losses.rerun(off.assign(loss=off["loss"] * 1.01)))
    assert "made: expected" in next(losses.rerun(off.assign(made="another")))


def test_whoever_leaves_much_unused_is_named_with_a_reason():
    frame = losses.load()
    found = unused.reasons(frame)
    assert (found["why"] != "").all()
    assert set(found["mechanism"]) == set(frame.loc[frame["unused"] > losses.ALLOWED, "method"].str.partition("(")[0])


def test_sums_over_cells():
    frame = losses.load()
    found = unused.by_method(frame)
    assert found["cells"].sum() == len(frame)
    assert not found.assign(delta=found["delta"] > 0)[unused._GROUP].duplicated().any()
    assert (found["most"] <= 1 + losses.SLACK).all()
    assert (found["least"] <= found["median"]).all()
    assert math.isclose(found["least"].min(), (1 - frame["unused"]).min())
