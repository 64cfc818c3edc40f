"""The arena: people whose right answer is known, the real mechanisms on them, and a table that can be run again."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dprank
from companion.chapters.which_method import advice, arena, contenders, guide, populations, table
from companion.instruments.seed import ROOT
from dprank.data.ballots import Ballots
from dprank.data.kendall import kendall_distance
from dprank.plan.setting import Setting

SMALL = [
    {"question": "ranking", "data": "unequal", "items": 4, "people": 30, "answers": 3},
    {"question": "consensus", "data": "cut short", "items": 6, "people": 20},
    {"question": "topk", "data": "Zipf", "items": 6, "people": 40, "answers": 2, "k": 2},
    {"question": "agreement", "data": "Mallows", "items": 4, "people": 30},
]
#: False alarms of all statistical tests here, each.
ALARM = 1e-6


# --- people ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["ladder", "two camps", "ties", "unequal"])
def test_people_answer_as_they_are_said_to(data):
    rng = np.random.default_rng(1)
    seen = [populations.comparing(data, 4, 500, 3, rng) for _ in range(20)]
    wins, ties = sum(it.wins for it in seen), sum(it.ties for it in seen)
    answers = 20 * (500 * 3 if data != "unequal" else 250 + 250 * 3)
    assert wins.sum() + ties.sum() / 2 == answers
    assert (ties == ties.T).all()
    chance = populations._chances(data, 4)[0]
    for i, j in itertools.combinations(range(4), 2):
        there, back = int(wins[i, j]), int(wins[j, i])
        assert stats.binomtest(there, there + back, chance[i, j]).pvalue > ALARM
    tied = stats.binomtest(int(ties.sum() // 2), answers, populations.TIED if data == "ties" else 0.0).pvalue
    assert tied > ALARM


def test_nobody_answers_a_pair_twice():
    # three people with all six pairs each: every pair three times
    played = populations.comparing("ladder", 4, 3, 6, np.random.default_rng(2)).played
    assert (played + 3 * np.eye(4) == 3).all()


def test_strengths_lead_by_the_gap():
    for items in (3, 1000):
        chance = populations._chances("ladder", items)[0]
        assert 2 * chance[0, 1] - 1 == pytest.approx(populations.gap_of(items))
        assert 0.1 >= populations.gap_of(items) > 0


def test_scores_are_those_of_the_library():
    data = dprank.Comparisons([0, 0, 1, 2], [1, 2, 2, 0], [1, 0.5, 1, 1], "abc")
    wins, ties = np.zeros((3, 3), np.int64), np.zeros((3, 3), np.int64)
    wins[0, 1] = wins[1, 2] = wins[2, 0] = ties[0, 2] = ties[2, 0] = 1
    for score in ("net", "wins", "half"):
        assert populations.Answers(wins, ties).scores(score).tolist() == dprank.win_counts(data, score).tolist()


def test_camps_and_cut_ballots():
    rng = np.random.default_rng(3)
    places = populations.ranking_people("two camps", 6, 4000, rng)
    first = (places[:, :3].mean(1) < places[:, 3:].mean(1)).mean()
    assert 0.5 < first < populations.CAMP  # noise crosses from the larger camp more often
    cut = populations.ranking_people("cut short", 8, 100, rng)
    assert (np.sort(cut, axis=1)[:, -populations.NAMED :] == np.arange(populations.NAMED)).all()
    assert ((cut == -1).sum(1) == 8 - populations.NAMED).all()


@pytest.mark.parametrize("data", ["ladder", "Zipf", "ties"])
def test_people_have_no_more_items_than_they_may(data):
    for items, k, answers in ((5, 1, 1), (100, 10, 20), (1000, 50, 50)):
        shares = populations.shares(data, items, k, answers)
        assert (np.diff(shares) <= 0).all()
        assert 0 < shares.min() <= shares.max() < 1
        top = shares[:k].sum() if data == "ladder" else shares.sum()
        assert top <= answers


# --- contenders ------------------------------------------------------------------------------------------------------


def test_every_mechanism_that_a_plan_may_choose_enters():
    for heat in SMALL:
        entered = {name.partition("(")[0] for (_, _, _, name), _ in arena.entered(heat, 1.0)}
        plans = [advice.plan_for(heat, 1.0, contenders.DELTA, trust) for trust in trusts(heat)]
        chosen = {choice.mechanism for plan in plans for choice in plan.choices}
        if heat["data"] == "cut short":
            chosen -= {"PrivateKwikSort", "ExponentialMechanism"}  # of full rankings alone
        assert entered == chosen


def trusts(heat):
    return ("curator",) if heat["question"] in ("ranking", "topk") else ("curator", "nobody")


def test_all_promise_the_same_privacy_and_none_more_than_is_asked():
    for heat, epsilon in itertools.product(SMALL, (0.2, 5.0)):
        for (_, delta, trust, _), mechanism in arena.entered(heat, epsilon):
            promise = mechanism.guarantee
            assert promise.epsilon <= epsilon * (1 + 1e-9)
            assert promise.delta == delta <= contenders.DELTA
            assert (promise.unit, promise.adjacency) == ("voter", "replace")
            assert promise.model == {"curator": "central", "nobody": "local"}[trust]


@pytest.mark.parametrize("score", ["net", "wins", "half"])
def test_counts_answer_as_their_release_does(score):
    data = dprank.Comparisons([0, 0, 1, 2], [1, 2, 2, 0], [1, 0.5, 1, 1], "abc", [0, 1, 2, 3])
    wins, ties = np.zeros((3, 3), np.int64), np.zeros((3, 3), np.int64)
    wins[0, 1] = wins[1, 2] = wins[2, 0] = ties[0, 2] = ties[2, 0] = 1
    answers = populations.Answers(wins, ties)
    counting = dprank.NoisyCounts.calibrated(epsilon=2.0, n_items=3, per_person=1, score=score)
    fitting = dprank.PerturbedMLE.calibrated(epsilon=2.0, n_items=3, per_person=1, graph="public", ridge=1.0)
    for mechanism, seed in itertools.product((counting, fitting), range(20)):
        here = contenders.order_of(mechanism, answers, np.random.default_rng(seed))
        assert here.tolist() == mechanism.release(data, np.random.default_rng(seed)).order.tolist()


def test_votes_that_are_counted_once_are_the_same():
    places = populations.ranking_people("Mallows", 4, 30, np.random.default_rng(4))
    votes, rankings = contenders.Votes(places, "abcd"), dprank.Rankings(places, "abcd")
    assert (votes.pairwise() == rankings.pairwise()).all()
    assert votes.pairwise() is votes.pairwise()
    cut = np.where(places < 2, places, -1)
    slips, ballots = contenders.Slips(cut, "abcd"), Ballots(cut, "abcd")
    assert (slips.margins() == ballots.margins()).all()
    assert (slips.net_wins() == ballots.net_wins()).all()
    assert (slips.bounded_weight(1).weight == ballots.bounded_weight(1).weight).all()


def test_uniform_ballots_are_rejected_as_often_as_the_size_says():
    rng = np.random.default_rng(5)
    setting = Setting("agreement", 4, 30, 2.0, delta=contenders.DELTA)
    for (name, _, _), mechanism in contenders.contenders(setting).items():
        uniform = [
            contenders.Votes(np.argsort(rng.random((30, 4)), axis=1), [str(it) for it in range(4)]) for _ in range(400)
        ]
        rejected = sum(contenders.rejects(mechanism, data, rng) for data in uniform)
        assert stats.binom.sf(rejected - 1, 400, 0.055) > ALARM, name


# --- the arena -------------------------------------------------------------------------------------------------------


def test_losses_of_right_and_wrong_orders():
    assert arena._ordered(np.arange(5)) == {"pairs": 0.0, "places": 0.0, "winner": 0.0}
    assert arena._ordered(np.arange(5)[::-1]) == {"pairs": 1.0, "places": 2.4, "winner": 1.0}
    assert arena._ordered(np.array([1, 0, 2])) == {"pairs": 1 / 3, "places": 2 / 3, "winner": 1.0}
    shares = np.array([0.5, 0.3, 0.3, 0.1])
    assert arena._chosen(np.array([2, 0]), shares) == {"missed": 0.0, "set": 0.0}  # as many have it as the second
    assert arena._chosen(np.array([0, 3]), shares) == {"missed": 0.5, "set": 1.0}
    order = np.array([3, 1, 0, 2])
    assert arena._ordered(order)["pairs"] * 6 == kendall_distance(np.argsort(order), np.arange(4))


@pytest.mark.parametrize("heat", SMALL, ids=lambda heat: heat["question"])
def test_a_newcomer_changes_nobody_s_numbers(heat):
    whole = table.ran(heat, table.due(heat))
    assert len(table.cells(whole)) == sum(len(list(arena.entered(heat, epsilon))) for epsilon in arena.EPSILONS)
    assert not whole.isna().any().any()
    cells = table.cells(whole).sample(3, random_state=6)
    labels = {table.label_of(row) for _, row in cells.iterrows()}
    alone = table.ran(heat, labels)
    pd.testing.assert_frame_equal(alone, whole.merge(cells), check_exact=True)


def test_more_privacy_costs_more():
    for heat in SMALL:
        frame = table.ran(heat, table.due(heat))
        judged = frame[(frame["loss"] == arena.FIRST_LOSS[heat["question"]]) & frame["epsilon"].isin([0.05, 10.0])]
        means = judged.pivot_table(index=["trust", "method"], columns="epsilon", values="mean")
        bars = judged.groupby(["trust", "method"])["se"].max()
        assert (means[10.0] <= means[0.05] + 5 * bars).all()


# --- the table -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committed():
    return table.load()


def test_the_table_is_whole(committed):
    assert not committed.isna().any().any()
    assert not table.cells(committed).duplicated().any()
    assert committed.equals(table.settled(committed))
    assert committed.attrs["seed"] == ROOT
    assert len(committed[list(table._HEAT)].drop_duplicates()) == len(arena.heats())
    for heat in arena.heats():
        here = pd.Series({name: heat.get(name, 0) for name in table._HEAT})
        mine = committed[(committed[list(table._HEAT)] == here).all(axis=1)]
        due = {label for epsilon in arena.EPSILONS for label, _ in arena.entered(heat, epsilon)}
        assert {table.label_of(row) for _, row in table.cells(mine).iterrows()} == due, heat


@pytest.mark.slow
def test_cells_run_again_are_the_same_bits(committed):
    few = committed[committed["people"] * committed["items"] <= 10_000]
    assert list(table.again(few, np.random.default_rng(7).choice(len(table.cells(few)), 8))) == []


def test_a_number_that_is_not_what_it_was_is_seen(committed):
    few = committed[(committed["people"] == 50) & (committed["items"] == 5)].reset_index(drop=True)
    cell = few.iloc[[0]][[*table._HEAT, *table._LABEL]]
    mine = few.merge(cell)
    mine["mean"] = np.nextafter(mine["mean"], math.inf)
    lines = list(table.again(mine, [0]))
    assert len(lines) == len(mine)
    assert "mean: expected" in lines[0]


def test_the_table_is_made_of_what_it_lacks(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(table, "heats", lambda: SMALL[:1])
    monkeypatch.setattr(table, "EPSILONS", (1.0,))
    monkeypatch.setattr(arena, "EPSILONS", (1.0,))
    said = []
    number = table.update(tmp_path, said.append)
    assert number == len(table.cells(table.load(tmp_path))) > 0
    assert len(said) == 1
    whole = table.load(tmp_path)
    table.write(whole[whole["method"] != whole["method"].iloc[0]], tmp_path)
    assert 0 < table.update(tmp_path, said.append) < number
    pd.testing.assert_frame_equal(table.load(tmp_path), whole, check_exact=True)
    assert table.update(tmp_path, said.append) == 0


# --- advice ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_plan_recommends_one_of_the_best(committed):
    # with 400 people; over all heats it is right less often, see page 13b
    some = committed[(committed["people"] == 400) & committed["epsilon"].isin([0.2, 1.0, 5.0])]
    found = advice.advised(some)
    assert len(found) > 100
    assert found["right"].mean() >= 0.95, found[found["right"] == 0].to_string()


def test_bad_advice_would_be_seen(committed, monkeypatch):
    # whatever is asked, the last of the choices is recommended
    some = committed[(committed["items"] == 5) & (committed["people"] == 400) & (committed["epsilon"] == 0.2)]
    asked = advice.plan_for

    def worst(*given):
        found = asked(*given)
        public = [it for it in found.choices if it.publishable and it.parameters.get("design") != "any"]
        return type(found)(found.setting, found.choices, public[-1], None, "", None)

    monkeypatch.setattr(advice, "plan_for", worst)
    assert advice.advised(some)["right"].mean() < 0.6


# --- the map ---------------------------------------------------------------------------------------------------------


def test_a_mechanism_is_named_where_it_alone_is_the_best():
    def rows(method, mean, se, data="Mallows"):
        cell = {"question": "consensus", "items": 5, "people": 50, "answers": 0, "k": 0, "epsilon": 1.0, "delta": 0.0}
        return cell | {"trust": "curator", "method": method, "data": data, "loss": "pairs", "mean": mean, "se": se}

    borda, matrix = rows("PrivateBorda", 0.1, 0.01), rows("NoisyMatrix", 0.2, 0.01)
    camps = rows("PrivateBorda", 0.3, 0.01, "two camps"), rows("NoisyMatrix", 0.2, 0.01, "two camps")
    assert guide.map_of(pd.DataFrame([borda, matrix]), "consensus")["use"].tolist() == ["PrivateBorda"]
    # each stands with the kind that is worst for it
    assert guide.map_of(pd.DataFrame([borda, matrix, *camps]), "consensus")["use"].tolist() == ["NoisyMatrix"]
    near = rows("NoisyMatrix", 0.12, 0.01)
    assert guide.map_of(pd.DataFrame([borda, near]), "consensus")["use"].tolist() == [""]
    assert guide.map_of(pd.DataFrame([borda]), "consensus")["use"].tolist() == [""]  # nobody else takes part
    # what cannot be published names nobody
    exact = rows("ExponentialMechanism", 0.01, 0.001)
    assert guide.map_of(pd.DataFrame([borda, matrix, exact]), "consensus")["use"].tolist() == ["PrivateBorda"]


def test_answers_add_up(committed):
    found = guide.answers(committed[committed["people"] <= 400])
    assert set(found["question"]) == set(arena.FIRST_LOSS)
    assert ((found["best in"] >= found["second best in"]) & (found["best in"] >= found["alone in"])).all()
    assert (found["costs"] >= 0).all()
    assert (found.loc[found["best in"] == 1, "costs"] == 0).all()


def test_a_map_has_a_number_in_every_cell(committed):
    frame = guide.map_of(committed, "agreement")
    figure = guide.draw_map(frame)
    assert sum(len(axes.texts) for axes in figure.axes) == len(frame)
