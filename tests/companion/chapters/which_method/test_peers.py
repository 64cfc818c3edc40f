"""Other packages beside ours: the same people, a promise that is what it says, and ratios whose bars are right."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dprank
from companion.chapters.which_method import advice, arena, peer_calls, peers
from companion.chapters.which_method.contenders import Votes
from companion.chapters.which_method.populations import Answers
from dprank.privacy.laws import sample

#: False alarms of all statistical tests here, each; OpenDP draws from the operating system, so seeds do not help.
ALARM = 1e-6
COUNTS = np.array([12, 10, 7, 3])
DRAWS, FEW = 4000, 1000
MANY = 400_000
#: How much more epsilon a twin has that must be noticed.
TWIN = 1.3


def need(*packages):
    if not peer_calls.installed(*packages):
        pytest.skip(f"{' and '.join(packages)} not installed: `make peers` brings them")


def codes(lists, base):
    return np.asarray(lists, np.int64) @ base ** np.arange(np.shape(lists)[1])


def alike(theirs, ours):
    """P-value that two samples of codes have one law."""
    table = np.array([[np.sum(part == value) for value in np.unique(ours)] for part in (theirs, ours)])
    rare = table.sum(0) * len(theirs) / (len(theirs) + len(ours)) < 5
    table = np.c_[table[:, ~rare], table[:, rare].sum(1)] if rare.any() else table
    return stats.chi2_contingency(table[:, table.sum(0) > 0]).pvalue


def looked(draw, law, base):
    """P-values of few draws, and of these and more."""
    theirs = [draw() for _ in range(FEW)]
    yield alike(codes(theirs, base), law)
    yield alike(codes(theirs + [draw() for _ in range(DRAWS - FEW)], base), law)


def same(draw, law, base):
    """Whether draws have the law: a twin's few are taken for it once in ten thousand times at most."""
    return any(p > least for p, least in zip(looked(draw, law, base), (0.5, ALARM), strict=True))


def another(draw, law, base):
    return any(p < ALARM for p in looked(draw, law, base))


def opendp(epsilon, k):
    return partial(peer_calls.select(k, 1, epsilon, 0.0), COUNTS.tolist())


def diffprivlib(name):
    def draws(epsilon, k):
        rng = np.random.default_rng([2, int(10 * epsilon)])
        return partial(peer_calls.rounds, name, COUNTS.tolist(), k, 1.0, epsilon, 0.0, rng)

    return draws


SAME = [
    pytest.param("opendp", opendp, dprank.Peeling, "exponential", {}, id="opendp"),
    pytest.param("diffprivlib", diffprivlib("Exponential"), dprank.Peeling, "gumbel", {}, id="exponential"),
    pytest.param("diffprivlib", diffprivlib("PermuteAndFlip"), dprank.Peeling, "exponential", {}, id="flip"),
]


# --- the same privacy ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("package", "draw", "ours", "noise", "more"), SAME)
def test_a_selection_has_the_law_of_ours_at_the_same_epsilon(package, draw, ours, noise, more, k):
    need(package)
    mechanism = ours.calibrated(epsilon=1.0, n_items=len(COUNTS), k=k, noise=noise, **more)
    law = codes(sample(mechanism, COUNTS, MANY, np.random.default_rng(1)), len(COUNTS))
    assert same(draw(1.0, k), law, len(COUNTS))
    assert another(draw(TWIN, k), law, len(COUNTS))


@pytest.mark.slow
def test_gumbel_noise_of_opendp_is_the_exponential_mechanism():
    # delta is large enough that its zCDP needs less noise than its pure promise
    epsilon, k = 0.05, 3
    dp = peer_calls._opendp()
    made = peer_calls.select(k, 1, epsilon, 1e-2)
    rho = made.map(1)
    assert rho == pytest.approx(made.map(2) / 4)  # a zCDP, not an epsilon
    stated = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), 1e-2).map(1)
    assert stated[0] <= epsilon < 1.001 * stated[0]
    scale = math.sqrt(k / 2 / rho)  # rho = k (2 / scale)^2 / 8
    counts = np.array([60, 40, 20, 0])
    for factor, told in ((1.0, same), (1 / TWIN, another)):
        mechanism = dprank.Peeling(k, factor * scale, "gumbel", n_items=4)
        law = codes(sample(mechanism, counts, MANY, np.random.default_rng(3)), 4)
        assert told(partial(made, counts.tolist()), law, 4)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, TWIN])
def test_all_orders_by_diffprivlib_are_the_exponential_mechanism(epsilon):
    need("diffprivlib")
    votes = Votes(np.array([[0, 1, 2]] * 6 + [[1, 2, 0]] * 2), list("abc"))
    ours = dprank.ExponentialMechanism.calibrated(epsilon=1.0, n_items=3)
    law = codes(sample(ours, votes, MANY, np.random.default_rng(4)), 3)
    heat = {"question": "consensus", "data": "Mallows", "items": 3, "people": 8}
    made = {peer.name: peer for peer in peer_calls.peers(heat, epsilon, 0.0)}["diffprivlib Exponential of all orders"]
    rng = np.random.default_rng(5)
    drawn = codes([made.release(votes, rng).order for _ in range(DRAWS)], 3)
    assert (alike(drawn, law) > ALARM) == (epsilon == 1.0)


@pytest.mark.parametrize("epsilon", [1.0, TWIN])
def test_noise_of_opendp_has_the_scale_of_its_promise(epsilon):
    noise = np.array(peer_calls.noise(2, 3, epsilon, 0.0)([0] * 20_000))
    reach = 25
    pmf = np.tanh(1 / 12) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / 6)  # scale 2 * 3 / epsilon, epsilon = 1
    pmf = np.r_[pmf, 1 - pmf.sum()]
    seen = np.r_[[np.sum(noise == z) for z in range(-reach, reach + 1)], np.sum(np.abs(noise) > reach)]
    assert (stats.chisquare(seen, len(noise) * pmf).pvalue > ALARM) == (epsilon == 1.0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.0), (1.0, 1e-6), (5.0, 1e-6)])
def test_opendp_promises_what_was_asked_and_no_more_noise(epsilon, delta):
    dp = peer_calls._opendp()
    most = 190 if delta else 10
    made, moved = peer_calls.noise(1, most, epsilon, delta), math.nextafter(math.sqrt(most), most) if delta else most
    if delta:
        found, spent = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), delta).map(moved)
        assert spent == delta
    else:
        found = made.map(moved)
    assert found <= epsilon <= 1.000001 * found


def test_gaussian_noise_is_not_forced_on_few_pairs():
    assert peer_calls.noise(2, 5, 1.0, 1e-6).map(10) == peer_calls.noise(2, 5, 1.0, 0.0).map(10) <= 1.0


def test_the_accountant_of_diffprivlib_adds_up_to_the_budget():
    need("diffprivlib")
    from diffprivlib.accountant import BudgetAccountant

    for epsilon, delta, k in ((1.0, 0.0, 5), (1.0, 1e-6, 50)):
        each = BudgetAccountant(epsilon, delta, slack=delta).remaining(k)[0]
        total = BudgetAccountant(epsilon, delta, slack=delta, spent_budget=[(each, 0.0)] * k).total()
        assert total[0] <= epsilon * (1 + 1e-9)
        assert total[1] <= delta
        assert each >= epsilon / k * (1 - 1e-9)


# --- what a person moves ---------------------------------------------------------------------------------------------


def comparing(outcomes):
    """Three items, the pairs (0, 1) and (1, 2): 1 for a win of the first, 0 for a tie, -1; one row a person."""
    wins, ties = np.zeros((3, 3), np.int64), np.zeros((3, 3), np.int64)
    for person in outcomes:
        for (i, j), outcome in zip([(0, 1), (1, 2)], person, strict=True):
            wins[i, j] += outcome == 1
            wins[j, i] += outcome == -1
            ties[i, j] += outcome == 0
            ties[j, i] += outcome == 0
    return Answers(wins, ties)


def neighbours(question):
    """All that one person may say and another instead, with another person who stays."""
    if question == "ranking":
        says = list(itertools.product((-1, 0, 1), repeat=2))
        yield from ((comparing([(1, 0), one]), comparing([(1, 0), other])) for one in says for other in says)
    else:
        says = list(itertools.permutations(range(3)))
        for one, other in itertools.product(says, says):
            yield tuple(Votes(np.array([(2, 0, 1), said]), list("abc")) for said in (one, other))


@pytest.mark.parametrize("question", ["ranking", "consensus"])
def test_a_person_moves_what_is_promised_and_may_move_all_of_it(question):
    heat = {"question": question, "items": 3, "people": 2} | ({"answers": 2} if question == "ranking" else {})
    widest = np.zeros(4)
    for one, other in neighbours(question):
        a, b = (peer_calls.pairs_of(heat, data) for data in (one, other))
        moves = np.abs(a.votes - b.votes)
        scores = np.abs(peer_calls.agreements(3, a) - peer_calls.agreements(3, b)).max()
        assert (a.total == b.total).all()
        widest = np.maximum(widest, [moves.max(), (moves > 0).sum(), moves.sum(), scores])
    assert widest.tolist() == [a.step, a.most, a.moved, a.moved]


def test_pairs_count_votes():
    votes = Votes(np.array([[0, 1, 2], [0, 2, 1], [2, 1, 0]]), list("abc"))
    pairs = peer_calls.pairs_of({"items": 3, "people": 3}, votes)
    assert pairs.votes.tolist() == [2, 2, 1]
    assert peer_calls._square(pairs.votes, pairs.total, 3).tolist() == votes.pairwise().tolist()
    orders, _ = peer_calls._listed(3)
    agreed = {
        tuple(order): score for order, score in zip(orders.tolist(), peer_calls.agreements(3, pairs), strict=True)
    }
    assert agreed[0, 1, 2] == 5
    assert agreed[2, 1, 0] == 4


# --- rules on exact counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["choix_order", "ranked_pairs", "bioconsert"])
def test_a_rule_finds_an_order_that_all_agree_on(rule):
    need({"choix_order": "choix", "ranked_pairs": "pref_voting", "bioconsert": "corankco"}[rule])
    order = np.array([3, 1, 4, 0, 2])
    place = np.argsort(order)
    votes = np.where(place[:, None] < place, 70.0, 30.0)
    np.fill_diagonal(votes, 0)
    assert getattr(peer_calls, rule)(votes, np.random.default_rng(1)).tolist() == order.tolist()


@pytest.mark.parametrize("rule", ["choix_order", "ranked_pairs", "bioconsert"])
def test_a_rule_does_not_prefer_the_first_items_of_a_tie(rule):
    # items are numbered from the best: who breaks ties by number would win without any data
    need({"choix_order": "choix", "ranked_pairs": "pref_voting", "bioconsert": "corankco"}[rule])
    votes, rng = 50.0 * (1 - np.eye(4)), np.random.default_rng(2)
    first = [int(getattr(peer_calls, rule)(votes, rng)[0]) for _ in range(200)]
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > ALARM


# --- the same run ----------------------------------------------------------------------------------------------------


class _Noting:
    """A mechanism that keeps which people it saw."""

    def __init__(self):
        self.seen = []

    def release(self, data, rng):
        self.seen.append(data.tolist())
        return peer_calls._Answer(np.array([0]), np.array([0]))


def test_all_see_the_same_people(monkeypatch):
    ours, theirs = _Noting(), _Noting()
    theirs.name, theirs.packages = "other", ("other",)
    monkeypatch.setattr(peers, "rivals", lambda *_: {"plan": ("ours", ours)})
    monkeypatch.setattr(peers, "peers", lambda *_: [theirs])
    heat = {"question": "topk", "data": "Zipf", "items": 4, "people": 30, "answers": 2, "k": 1}
    found = peers.contest(repetitions=3, rng=np.random.default_rng(1), **heat)
    assert ours.seen == theirs.seen
    assert len({tuple(counts) for counts in ours.seen}) == 3
    assert (found[1.0, 0.0, "other", "plan"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("question", ["topk", "ranking", "consensus"])
def test_a_row_is_made_of_a_run(question):
    heat = next(heat for heat in peers.HEATS if heat["question"] == question)
    ours = peers.rivals(heat, 1.0, 0.0)
    assert ours["plan"][0] == advice.called(advice.plan_for(heat, 1.0, 0.0, "curator").best)
    rows = list(peers.measured(heat, 0.02))
    names = {peer.name for peer in peer_calls.peers(heat, 1.0, 0.0)}
    assert {row["peer"] for row in rows} == names
    assert len(rows) == len(names) * len(peers.BUDGETS)
    assert all(0 <= row["theirs"] <= 1 and row["low_plan"] <= row["high_plan"] for row in rows)
    call = peers.call(heat, (1.0, 0.0), "")
    assert call() is not None


def test_nobody_tests_agreement_and_a_missing_package_is_left_out():
    assert peer_calls.peers({"question": "agreement", "data": "Mallows", "items": 5, "people": 50}, 1.0, 0.0) == []
    assert peer_calls.installed("opendp", "no-such-package-of-anybody") == ""
    assert peer_calls.installed("opendp").startswith("opendp ")


# --- ratios ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours", "variances"),
    [
        (0.3, 0.2, (1e-4, 1e-4, 1.5e-4)),
        (0.3, 0.01, (1e-4, 1e-4, 1e-4)),  # ours may be 0
        (0.01, 0.3, (1e-4, 1e-4, 2e-4)),
        (0.01, 0.01, (1e-4, 1e-4, 1e-4)),
    ],
)
def test_an_interval_is_all_ratios_that_are_not_rejected(theirs, ours, variances):
    both = (variances[0] + variances[1] - variances[2]) / 2
    grid = np.linspace(0, 200, 400_001)
    error = np.sqrt(variances[0] - 2 * grid * both + grid**2 * variances[1])
    kept = grid[np.abs(theirs - grid * ours) <= peers.BARS * error]
    found = peers.ratio(theirs, ours, variances)
    assert found.ratio == theirs / ours
    assert found.low == pytest.approx(kept[0], abs=1e-3)
    assert found.high == math.inf if kept[-1] == grid[-1] else found.high == pytest.approx(kept[-1], abs=1e-3)


def test_ratios_of_nothing():
    assert math.isnan(peers.ratio(0.0, 0.0, (0.0, 0.0, 0.0)).ratio)
    assert peers.ratio(0.2, 0.0, (1e-4, 0.0, 1e-4)).low == math.inf
    assert peers.ratio(0.0, 0.2, (0.0, 1e-4, 1e-4))[:2] == (0.0, 0.0)


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table_says_who_and_what():
    frame = peers.load()
    assert frame["versions"].notna().all()
    heats = {tuple(sorted(heat.items())) for heat in arena.heats()}
    assert all(tuple(sorted(heat.items())) in heats for heat in peers.HEATS)
    assert set(map(tuple, frame[["epsilon", "delta"]].drop_duplicates().to_numpy())) == set(peers.BUDGETS)
    assert len(frame) == len(frame[[*peers._CELL, "peer"]].drop_duplicates())
    for name in ("plan", "best"):
        known = frame[frame[name] > 0]
        np.testing.assert_allclose(known[f"ratio_{name}"], known["theirs"] / known[name], rtol=1e-4)
        assert (known[f"low_{name}"] <= known[f"ratio_{name}"] * 1.0001).all()


@pytest.mark.slow
def test_the_plan_of_the_table_is_today_s():
    frame = peers.load()
    for heat in peers.HEATS:
        cells = frame[(frame[list(heat)] == pd.Series(heat)).all(axis=1)]
        for epsilon, delta in peers.BUDGETS:
            told = cells.loc[(cells["epsilon"] == epsilon) & (cells["delta"] == delta), "plan_is"].unique()
            today = advice.called(advice.plan_for(heat, epsilon, delta, "curator").best)
            assert list(told) == [today], (heat, epsilon, delta)


def test_nobody_is_counted_twice():
    frame = peers.load()
    counted = peers.counted(frame)
    assert (counted[["ours", "alike", "theirs"]].sum(axis=1) == counted["cells"]).all()
    assert counted["cells"].sum() == len(frame)
    better = peers.beaten(frame)
    assert len(better) == counted["theirs"].sum()


def test_copeland_is_tried_where_another_ranks_ballots_better():
    cell = {"question": "consensus", "data": "two camps", "items": 5, "people": 400, "epsilon": 5.0, "delta": 0.0}
    rows = pd.DataFrame(
        [cell | {"peer": name, "theirs": loss, "best": 0.2} for name, loss in (("a", 0.1), ("b", 0.05))]
    )
    found = peers.retried(pd.concat([rows, rows.assign(question="topk")]), 50).iloc[0]
    assert (found["peer"], found["theirs"]) == ("b", 0.05)
    assert abs(found["mean"] - 0.2) < 6 * found["se"]
    assert peers.retried(rows.assign(question="topk"), 50).empty


def test_cells_in_words():
    cell = {
        "question": "topk",
        "data": "Zipf",
        "items": 1000,
        "people": 10_000,
        "answers": 5.0,
        "k": 10.0,
        "epsilon": 1.0,
    }
    (words,) = peers.in_words(pd.DataFrame([cell]))["whom"]
    assert words == "Zipf: 1,000 items, 10,000 people, top 10, 5 answers each"
    (words,) = peers.in_words(pd.DataFrame([cell | {"answers": math.nan, "k": math.nan}]))["whom"]
    assert words == "Zipf: 1,000 items, 10,000 people"
