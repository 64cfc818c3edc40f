"""Locally private reports. Statistical checks raise a false alarm with probability below 1e-6 each; seeds fixed."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import permutations, product
from typing import Any, get_args

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused
from scipy import stats

from dprank.aggregation import local_reports
from dprank.aggregation.directions import PositionVector, VectorReport
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.randomisers import OrderReport, SampledOrder, SplitResponse, ranking_signs
from dprank.aggregation.rules import Rule
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.privacy.noise import SECURE
from dprank.privacy.randomized_response import GRAIN

ALARM = 1e-6
Z = 5.5  # two-sided 4e-8 a coordinate

FORMS = {
    "sphere": lambda m, epsilon: VectorReport.calibrated(n_items=m, epsilon=epsilon),
    "cube": lambda m, epsilon: VectorReport.calibrated(n_items=m, epsilon=epsilon, geometry="cube"),
    "naive": lambda m, epsilon: SplitResponse.calibrated(n_items=m, epsilon=epsilon),
    "pair": lambda m, epsilon: SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=2),
    "three": lambda m, epsilon: SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=min(3, m)),
    "all": lambda m, epsilon: SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=m),
}


def test_signs_of_two_rankings():
    assert ranking_signs(np.array([[0, 1, 2], [2, 0, 1]])).tolist() == [[1, 1, 1], [-1, -1, 1]]


@each("epsilon", [1e-3, 0.3, 1.0, 5.0, 20.0])
@each("m", [2, 5, 9])
@each("form", FORMS)
def test_all_of_epsilon_is_spent_and_no_more(form, m, epsilon):
    loss = FORMS[form](m, epsilon).loss
    assert loss <= epsilon * (1 + 1e-15)
    assert loss == pytest.approx(epsilon, rel=1e-6)


def test_losses_of_huge_numbers_of_orders():
    report = SampledOrder.calibrated(n_items=300, epsilon=2000.0, length=300)
    assert 1400 < report.loss <= 2000
    near = SampledOrder.calibrated(n_items=300, epsilon=math.lgamma(301), length=300)
    assert near.shrinkage == pytest.approx(0.5, rel=1e-9)
    assert near.loss <= math.lgamma(301)
    with refused("epsilon = 1.0", "length = 100"):
        SampledOrder.calibrated(n_items=300, epsilon=1.0, length=100)


@each("m", [2, 3, 6])
@each("form", FORMS)
@pytest.mark.slow
def test_estimates_are_unbiased_with_the_stated_variance(form, m):
    report, voters, batches = FORMS[form](m, 1.3), 60_000, 300
    rng = np.random.default_rng(list(f"{form}{m}".encode()))
    ranking = np.arange(m)[::-1][None]  # all answers no
    reports = report.report(np.repeat(ranking, voters, 0), rng)
    truth = ranking_signs(ranking)[0]
    z = (report.estimate(reports) - truth) / math.sqrt(report.variance / voters)
    assert np.abs(z).max() < Z
    parts = np.array([report.estimate(part) for part in np.split(reports, batches)])
    share = parts.var(0, ddof=1).mean() * voters / batches / report.variance
    assert abs(share - 1) < Z * math.sqrt(2 / batches)


@each("form", FORMS)
@pytest.mark.slow
def test_a_scale_ten_percent_off_is_noticed(form):
    report, voters = FORMS[form](3, 1.3), 400_000
    reports = report.report(np.tile([2, 1, 0], (voters, 1)), np.random.default_rng(9))
    assert np.abs(1.1 * report.estimate(reports) + 1).max() > Z * math.sqrt(report.variance / voters)


def test_law_of_the_cube_and_of_the_naive_response():
    voters, epsilon = 80_000, 1.0
    sent = np.array(list(product((-1, 1), repeat=3)))
    for ranking in all_rankings(3)[[0, 3]]:
        signs = ranking_signs(ranking[None])[0].astype(int)
        keep = 1 / (1 + math.exp(-epsilon / 3))
        laws = {
            "cube": (1 + math.tanh(epsilon / 2) * np.sign(sent @ signs)) / 8,
            "naive": np.where(sent == signs, keep, 1 - keep).prod(1),
        }
        for form, law in laws.items():
            got = FORMS[form](3, epsilon).report(np.tile(ranking, (voters, 1)), np.random.default_rng(1))
            counts = np.bincount((got > 0) @ [4, 2, 1], minlength=8)
            assert law_p_value(counts, law) > ALARM
            assert law_p_value(counts, law[::-1]) < ALARM  # the mirrored law is refused


def test_ties_of_the_cube_are_sent_as_drawn():
    sent = np.array(list(product((-1, 1), repeat=6)))
    signs = np.ones(6, int)
    law = (1 + math.tanh(0.5) * np.sign(sent @ signs)) / 64
    got = FORMS["cube"](4, 1.0).report(np.tile(np.arange(4), (100_000, 1)), np.random.default_rng(2))
    counts = np.bincount((got > 0) @ (1 << np.arange(6)[::-1]), minlength=64)
    assert law_p_value(counts, law) > ALARM


def test_points_of_the_sphere():
    got = FORMS["sphere"](4, 1.0).report(np.tile(np.arange(4), (50_000, 1)), np.random.default_rng(3))
    assert np.linalg.norm(got, axis=1) == pytest.approx(1)
    near = (got.sum(1) > 0).mean()
    assert abs(near - 1 / (1 + math.exp(-1))) < Z * 0.5 / math.sqrt(50_000)


@each("source", ["seeded", "secure"])
@each("size", [2, 3, 4])
@pytest.mark.slow
def test_law_of_an_order_of_a_few_items(size, source):
    report, voters = SampledOrder.calibrated(n_items=4, epsilon=1.5, length=size), 30_000
    rng = np.random.default_rng(4) if source == "seeded" else SECURE
    ranking = np.array([2, 0, 3, 1])
    lists = np.array(list(permutations(range(4), size)))
    own = (np.diff(ranking[lists], axis=1) > 0).all(1)
    orders = math.factorial(size)
    chance = math.exp(1.5) / (math.exp(1.5) + orders - 1)
    law = np.where(own, chance, (1 - chance) / (orders - 1)) * orders / len(lists)
    got = report.report(np.tile(ranking, (voters, 1)).astype(np.uint8), rng)
    place = np.full(4**size, -1)
    place[lists @ 4 ** np.arange(size)] = np.arange(len(lists))
    counts = np.bincount(place[got @ 4 ** np.arange(size)], minlength=len(lists))
    assert law_p_value(counts, law) > (ALARM if source == "seeded" else 1e-12)


def test_sizes_of_least_variance():
    for m, epsilon in product((3, 5, 9), (0.5, 2.0, 6.0, 20.0)):
        best = SampledOrder.calibrated(n_items=m, epsilon=epsilon)
        assert best.variance == min(
            SampledOrder.calibrated(n_items=m, epsilon=epsilon, length=k).variance for k in range(2, m + 1)
        )


def test_fractions_of_voters_who_hide_nothing(monkeypatch):
    positions = Mallows(5, 0.3).sample(700, rng=np.random.default_rng(6))
    truth = pairwise_fractions(Rankings(positions, list("abcde")))
    open_book = SampledOrder(5, 5, GRAIN - 1)
    for block in (10, 1000, 1 << 22):
        monkeypatch.setattr(local_reports, "BLOCK", block)
        assert LocalMatrix(open_book).fractions(positions, np.random.default_rng(0)) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("rule", get_args(Rule))
def test_release(rule):
    rankings = Rankings(Mallows(6, 1.0).sample(30_000, rng=np.random.default_rng(7)), list("abcdef"))
    mechanism = LocalMatrix.calibrated(n_items=6, epsilon=2.0, rule=rule)
    released = mechanism.release(rankings, np.random.default_rng(8))
    assert released.ranking == tuple("abcdef")
    assert released.guarantee.model == "local"
    assert released.guarantee.epsilon == pytest.approx(2)
    again = mechanism.release(rankings, np.random.default_rng(8))
    assert released.order.tolist() == again.order.tolist()


def test_release_with_secure_coins():
    rankings = Rankings(np.tile(np.arange(3), (400, 1)), list("abc"))
    released = LocalMatrix(SampledOrder(3, 3, GRAIN - 1)).release(rankings, SECURE)
    assert released.ranking == ("a", "b", "c")
    with refused("rng", "Generator"):
        LocalMatrix(VectorReport.calibrated(n_items=3, epsilon=1.0)).release(rankings, SECURE)


def test_bad_input():
    with refused("n_items = 1"):
        VectorReport.calibrated(n_items=1, epsilon=1.0)
    with refused("geometry = 'simplex'", "ball", "cube"):
        VectorReport(3, 5, "simplex")
    with refused("flips = 0"):
        SplitResponse(3, 0)
    with refused("flips = "):
        VectorReport(3, GRAIN // 2)
    with refused("length = 4", "from 2 to 3"):
        SampledOrder(3, 4, 1)
    with refused("length = 1", "from 2 to 3"):  # not the epsilon, which is too little for any length
        SampledOrder.calibrated(epsilon=1e-17, n_items=3, length=1)
    for kept in (0, GRAIN):  # never the voter's order, or always
        with refused(f"kept = {kept}"):
            SampledOrder(3, 2, kept)
    with refused("epsilon = 0"):
        SampledOrder.calibrated(n_items=3, epsilon=0)
    with refused("rule = 'dictator'", "kemeny"):
        LocalMatrix(SampledOrder(3, 2, 1), "dictator")
    with refused("positions", "n_items = 3"):
        LocalMatrix(SampledOrder(3, 2, 1)).fractions([[0, 1, 2, 3]], np.random.default_rng(0))
    with refused("positions", "at least one row"):
        LocalMatrix(SampledOrder(3, 2, 1)).fractions(np.zeros((0, 3), int), np.random.default_rng(0))
    with refused("rng = 1"):
        LocalMatrix(SampledOrder(3, 2, 1)).fractions([[0, 1, 2]], 1)
    for wrong in (12, None, SampledOrder, PositionVector(3, 1), OrderReport(SampledOrder(3, 2, 1)), object(), math.nan):
        with refused("randomiser = ", "of signs", "SampledOrder"):
            LocalMatrix(wrong)
    with refused("randomiser = ", "of places", "OrderReport"):
        LocalBorda(SampledOrder(3, 2, 1))
    with refused("order = ", "SampledOrder"):
        OrderReport(SplitResponse(3, 1))
    with refused("rule = 'borda'"):
        LocalMatrix(SampledOrder(3, 2, 1), "borda").additive_error(10)


class Guess:
    """Not the library's: every voter says a fixed sign of all pairs, or not; no heir of any class of ours."""

    n_items, loss, variance, estimates = 3, 0.5, 2.0, "signs"

    def report(self, positions, rng):
        return np.ones((len(positions), 3), int)

    def estimate(self, reports):
        return reports.mean(axis=0)

    def checked(self, reports):
        return np.asarray(reports)


def test_any_randomiser_will_do_by_what_it_has():
    poll, rng = LocalMatrix(Guess()), np.random.default_rng(0)
    assert poll.guarantee.epsilon == 0.5
    assert poll.release(Rankings([[2, 1, 0]], "abc"), rng).ranking == ("a", "b", "c")
    assert poll.aggregate([poll.report([2, 1, 0], rng)], rng, items="abc").ranking == ("a", "b", "c")
    for field in ("loss", "report", "checked", "estimates"):
        lacking = type("Lacking", (), {k: v for k, v in vars(Guess).items() if k != field and not k.startswith("__")})
        with refused("randomiser = <Lacking>", "of signs"):
            LocalMatrix(lacking())


POLLS = {name: LocalMatrix(form(4, 1.5)) for name, form in FORMS.items()} | {
    "Borda": LocalBorda.calibrated(n_items=4, epsilon=1.5),
    "Borda, vector": LocalBorda(PositionVector.calibrated(n_items=4, epsilon=1.5)),
}


@each("name", POLLS)
@pytest.mark.slow
def test_client_and_server_are_the_release(name):
    """Reports that went through JSON, one by one, estimate what the release estimates."""
    poll, rng, voters, many = POLLS[name], np.random.default_rng(11), 1600, 32_000
    ranking = [3, 0, 2, 1]
    sent = json.loads(json.dumps([poll.report(ranking, rng) for _ in range(voters)]))
    released = poll.aggregate(sent, np.random.default_rng(0), items="abcd")
    assert released.guarantee == poll.guarantee
    assert released.guarantee.model == "local"
    assert sorted(released.ranking) == list("abcd")
    alone = poll.randomiser.estimate(poll.randomiser.checked(sent))
    together = poll.randomiser.estimate(poll.randomiser.report(np.tile(ranking, (many, 1)), rng))
    # per entry and all of them: at m = 4 no entry's variance is above six times the mean one
    assert abs(alone - together).max() < Z * math.sqrt((1 / voters + 1 / many) * 6 * poll.randomiser.variance)


@pytest.mark.parametrize("kind", [LocalMatrix, lambda order: LocalBorda(OrderReport(order))], ids=["matrix", "Borda"])
@pytest.mark.slow
def test_orders_of_client_and_server_have_the_law_of_the_release(kind):
    """And a client that hides too little is caught: of its orders, too, are drawn as many as miss it once in 10,000."""
    poll, mild = (kind(SampledOrder.calibrated(n_items=3, epsilon=epsilon, length=2)) for epsilon in (1.0, 2.0))
    data, rng, draws = Rankings([[0, 1, 2]] * 8, "abc"), np.random.default_rng(15), 700
    orders = {order: i for i, order in enumerate(permutations("abc"))}

    def halves():
        return poll.aggregate([poll.report(row, rng) for row in data.positions], rng, items="abc").ranking

    released, own, mutant = (
        np.bincount([orders[draw()] for _ in range(draws)], minlength=6)
        for draw in (
            lambda: poll.release(data, rng).ranking,
            halves,
            lambda: mild.release(data, rng).ranking,
        )
    )
    assert stats.chi2_contingency([released, own]).pvalue > ALARM
    assert stats.chi2_contingency([released, mutant]).pvalue < ALARM


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.slow
def test_law_of_one_report_of_a_client(secure):
    """And a mutant that spends two fifths more is caught."""
    rng = SECURE if secure else np.random.default_rng(12)
    draws, yes = 4_000, math.exp(1.0) / (1 + math.exp(1.0))
    lists = list(permutations(range(3), 2))
    ranking = [2, 0, 1]
    law = np.array([yes if ranking[a] < ranking[b] else 1 - yes for a, b in lists]) / 3

    def poll(epsilon):
        return LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=epsilon, length=2))

    def p_value(sent):
        seen = Counter(map(tuple, sent))
        return law_p_value([seen[entry] for entry in lists], law)

    client, mutant = poll(1.0), poll(1.4)
    assert p_value([client.report(ranking, rng) for _ in range(draws)]) > (1e-12 if secure else ALARM)
    assert p_value(mutant.sent(np.tile(ranking, (draws, 1)), rng).tolist()) < ALARM


@each("name", POLLS)
def test_reports_that_no_voter_sends_are_refused(name):
    poll, rng = POLLS[name], np.random.default_rng(13)
    good = [poll.report([0, 1, 2, 3], rng) for _ in range(3)]
    bad: list[Any] = [
        [],
        None,
        "ab",
        7,
        [math.nan] * len(good[0]),
        [10**400] * len(good[0]),
        [*good[0], good[0][0]],
        good[0][:-1],
    ]
    bad += [[[entry] for entry in good[0]], [1e6 * entry + 1e6 for entry in good[0]]]
    bad += [list(map(str, good[0])), {"a": 1}]
    for wrong in bad:
        with refused("reports[1]", "needed"):
            poll.aggregate([good[0], wrong, good[2]], rng, items="abcd")
    none: list[Any] = [[], None, 5, np.array(3.0), np.zeros((0, len(good[0])), int), "", {}]
    for wrong in none:
        with refused("reports", "needed"):
            poll.aggregate(wrong, rng, items="abcd")
    assert len(poll.aggregate(np.array(good), SECURE, items="abcd").order) == 4
    for items, words in (("abc", ("3", "n_items = 4")), ("abca", ("items[3]",)), (None, ("items = None",))):
        with refused(*words):
            poll.aggregate(good, rng, items=items)
    for wrong in ([0, 1, 2], [0, -2, 1, 2], [[0, 1, 2, 3]], None, [0.0, 1, 2, 3], "abcd"):
        with refused("positions"):
            poll.report(wrong, rng)
    with refused("rng = 3"):
        poll.report([0, 1, 2, 3], 3)


def test_items_of_an_order_are_different_and_known():
    poll = LocalMatrix(SampledOrder.calibrated(n_items=4, epsilon=1.0, length=2))
    for wrong in ([2, 2], [0, 4], [-1, 0], [0.0, 1.0], [0, 2**63]):
        with refused("reports[0] = <list>", "2 different items of 0 .. 3"):
            poll.aggregate([wrong], np.random.default_rng(0), items="abcd")
    with refused("reports[0]", "6 signs"):
        LocalMatrix(SplitResponse.calibrated(n_items=4, epsilon=1.0)).aggregate(
            [[0, 1, -1, 1, 1, 1]], SECURE, items="abcd"
        )


def test_narrow_reports_are_counted_right():
    poll = LocalMatrix(SampledOrder.calibrated(n_items=40, epsilon=1.0, length=2))
    wide = np.array([[39, 38], [20, 30]])
    orders = [poll.aggregate(r, np.random.default_rng(0), items=range(40)).order for r in (wide, wide.astype(np.int8))]
    assert orders[0].tolist() == orders[1].tolist()


@each("name", FORMS)
@pytest.mark.slow
def test_additive_errors_bound_what_is_paid(name):
    poll, rng = LocalMatrix(FORMS[name](4, 2.0)), np.random.default_rng(14)
    data = Rankings(np.array([[0, 1, 2, 3]] * 70 + [[3, 2, 1, 0]] * 50), "abcd")
    w = pairwise_fractions(data)
    paid = np.mean([kemeny_score(poll.release(data, rng).order, w) for _ in range(200)]) - kemeny(w).cost
    assert paid <= poll.additive_error(120)
    assert poll.ratio == 1
    assert poll.additive_error(480) == pytest.approx(poll.additive_error(120) / 2)
    with refused("n_voters = 0"):
        poll.additive_error(0)


@each(("m", "k"), [(m, k) for m in (2, 3, 5) for k in range(2, m + 1)])
def test_an_order_is_read_as_places_that_are_whole_times_a_public_chance(m, k):
    """One report of k items: twice each one's place among them, about the middle, and 0 for the others."""
    report = OrderReport(SampledOrder.calibrated(epsilon=0.8, n_items=m, length=k))
    for row in permutations(range(m), k):
        places = [2 * row.index(item) - (k - 1) if item in row else 0 for item in range(m)]
        assert report.estimate(np.array([row])) * report.doubled_chance == pytest.approx(places, rel=1e-12)
