"""Reports on comparisons: their law, their privacy, what they estimate and how well, and what the doors refuse.

Random checks have fixed seeds and a false-alarm rate of 1e-6 each, as ALARM says.
"""

import math
import re
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from checks import doubted
from scipy import stats

from dprank import SECURE, Comparisons, LocalComparisons, win_counts
from dprank.pairwise.local_laws import reports_on_comparisons
from dprank.privacy.laws import exact, sample
from dprank.privacy.randomized_response import GRAIN

ALARM = 1e-6
PAIRS = np.array([[0, 1], [1, 2], [0, 2]])
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0)


def brute(mechanism, answers):
    """Probability of every report, from the words of the class alone: picks, the one coin, coins of ties."""
    told, c = min(mechanism.length, len(answers)), mechanism.kept / GRAIN
    law = Counter()
    for picked in combinations(range(len(answers)), told):
        for coins in product((1, -1), repeat=told):
            share = 1 / math.comb(len(answers), told) / 2**told
            law[tuple((at + 1) * coin for at, coin in zip(picked, coins, strict=True))] += share * (1 - c)
            own = tuple((at + 1) * (answers[at] or coin) for at, coin in zip(picked, coins, strict=True))
            law[own] += share * c
    return law


@pytest.mark.parametrize(("asked", "length"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (2, 3)])
def test_law_is_that_of_all_coins_and_loses_what_is_promised(asked, length):
    mechanism = LocalComparisons.calibrated(epsilon=0.7, n_items=3, per_person=3, length=length)
    worst = 0.0
    laws = {answers: brute(mechanism, answers) for answers in product((1, 0, -1), repeat=asked)}
    for answers, law in laws.items():
        reports, chances = reports_on_comparisons(mechanism, answers)
        assert sum(law.values()) == pytest.approx(1)
        assert dict(zip(map(tuple, reports.tolist()), chances, strict=True)) == pytest.approx(dict(law))
        worst = max(worst, *(exact(mechanism, answers, other).epsilon(0) for other in laws))
    assert worst <= mechanism.guarantee.epsilon <= 0.7
    # attained where as many answers are told as the loss is of
    if asked >= length:
        assert worst == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize("rng", [np.random.default_rng(1), SECURE], ids=["seeded", "secure"])
def test_reports_have_that_law(rng):
    mechanism = LocalComparisons.calibrated(epsilon=2.0, n_items=3, per_person=3, length=2)
    answers, size = [1, 0, -1], 4000
    reports, chances = reports_on_comparisons(mechanism, answers)
    counted = Counter(tuple(mechanism.report(answers, rng)) for _ in range(size))
    observed = [counted.pop(tuple(report), 0) for report in reports.tolist()]
    assert not counted
    assert stats.chisquare(observed, size * chances).pvalue > ALARM
    # the check sees the law of other answers
    assert stats.chisquare(observed, size * reports_on_comparisons(mechanism, [1, 1, -1])[1]).pvalue < ALARM


def test_many_at_once_are_as_one_by_one():
    mechanism = LocalComparisons.calibrated(epsilon=2.0, n_items=3, per_person=3, length=2)
    rows = sample(mechanism, [1, 0, -1], 20_000, np.random.default_rng(2))
    reports, chances = reports_on_comparisons(mechanism, [1, 0, -1])
    observed = [(rows == report).all(axis=1).sum() for report in reports]
    assert stats.chisquare(observed, len(rows) * chances).pvalue > ALARM


def moments(mechanism, answers):
    """Mean and variance of the estimate of every answer, by the law."""
    reports, chances = reports_on_comparisons(mechanism, answers)
    number = np.arange(1, len(answers) + 1)
    told = (np.sign(reports)[:, :, None] * (abs(reports)[:, :, None] == number)).sum(1)
    estimates = told * mechanism.weight(len(answers))
    mean = chances @ estimates
    return mean, chances @ estimates**2 - mean**2


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("answers", [(1, -1, 1), (1, 0, -1), (0,), (-1, 1)])
def test_estimates_are_unbiased_with_the_variance_that_is_stated(length, answers):
    mechanism = LocalComparisons.calibrated(epsilon=1.3, n_items=4, per_person=3, length=length)
    mean, variance = moments(mechanism, answers)
    assert mean == pytest.approx(answers)
    if len(answers) == mechanism.per_person:
        assert variance == pytest.approx(mechanism.variance + 1 - np.square(answers))


class Forgetful(LocalComparisons):
    """Takes everybody for one who was asked about the most pairs."""

    def _ranking(self, items, pairs, signs, asked, *drawn):
        return super()._ranking(items, pairs, signs, np.full_like(asked, self.per_person), *drawn)


@pytest.mark.parametrize(("kind", "unbiased"), [(LocalComparisons, True), (Forgetful, False)])
def test_release_estimates_net_wins_also_of_people_asked_about_fewer_pairs(kind, unbiased):
    """Mean of many releases, by its standard error; 5.2 of these are passed with probability 2e-7 an item."""
    first, second = [0, 1, 2, 0, 3, 1], [1, 2, 0, 2, 1, 0]
    data = Comparisons(first, second, [1, 0.5, 0, 1, 1, 0], "abcd", [7, 7, 7, 8, 8, 9])
    mechanism = kind.calibrated(epsilon=1.5, n_items=4, per_person=3, length=2)
    rng, size = np.random.default_rng(3), 2000
    scores = np.array([mechanism.release(data, rng).scores for _ in range(size)])
    z = (scores.mean(0) - win_counts(data, "net")) / (scores.std(0) / math.sqrt(size))
    assert (abs(z) < 5.2).all() == unbiased


def test_aggregate_is_the_sum_of_weighted_signs():
    mechanism = LocalComparisons(n_items=3, per_person=3, length=2, kept=GRAIN // 2)
    rng = np.random.default_rng(0)
    same = mechanism.aggregate([[1, -3], [2, 3]], PAIRS, rng, items="abc")
    weight = 3 / (2 * 0.5)
    assert same.scores.tolist() == [weight * (1 - 1 + 1), weight * (-1 + 1), weight * (1 - 1 - 1)]
    own = [[[0, 1], [1, 2], [0, 2]], [[2, 1], [-1, -1], [-1, -1]]]
    each = mechanism.aggregate([[1, -3], [-1]], own, rng, items="abc")
    assert each.scores.tolist() == [0.0, -weight + 2.0, weight - 2.0]
    assert each.source == "seeded"
    assert mechanism.aggregate([[1, -3]], PAIRS, SECURE, items="abc").source == "voters"


def test_release_is_report_and_aggregate():
    """The same law of scores: two samples of 2000 at most, by Kolmogorov and Smirnov."""
    mechanism = LocalComparisons.calibrated(epsilon=3.0, n_items=3, per_person=3)
    answers = [[1, 1, 0], [1, -1, 1]]
    data = Comparisons(
        np.tile(PAIRS[:, 0], 2), np.tile(PAIRS[:, 1], 2), (np.ravel(answers) + 1) / 2, "abc", np.repeat([4, 5], 3)
    )
    rng = np.random.default_rng(4)

    def reported():
        return mechanism.aggregate([mechanism.report(a, rng) for a in answers], PAIRS, rng, items="abc").scores

    def chance(draws):
        one = np.array([mechanism.release(data, rng).scores for _ in range(draws)])
        other = np.array([reported() for _ in range(draws)])
        items = zip(one.T, other.T, strict=True)
        return 3 * min(stats.ks_2samp(*scores, method="asymp").pvalue for scores in items)

    assert doubted(chance, 500, 2000) > ALARM


@pytest.mark.parametrize("per_person", [1, 2, 5, 20])
def test_the_length_is_the_best_and_beats_answers_randomised_one_by_one(per_person):
    for epsilon in EPSILONS:
        shared = {"epsilon": epsilon, "n_items": 9, "per_person": per_person}
        best = LocalComparisons.calibrated(**shared)
        each = [LocalComparisons.calibrated(**shared, length=s).variance for s in range(1, per_person + 1)]
        assert best.variance == min(each)
        apart = min(
            per_person / (s * math.tanh(epsilon / 2 / s) ** 2) - 1 for s in range(1, per_person + 1)
        )  # each of s answers by randomised response
        assert best.variance <= apart * (1 + 1e-9)
    one, two, four = (LocalComparisons.calibrated(epsilon=e, n_items=9, per_person=5) for e in (1.0, 2.0, 4.0))
    assert one.length == 1
    assert one.variance == pytest.approx(5 / math.tanh(0.5) ** 2 - 1)
    apart = [min(5 / (s * math.tanh(e / 2 / s) ** 2) for s in range(1, 6)) for e in (2.0, 4.0)]
    assert np.divide(apart, [two.variance + 1, four.variance + 1]).round(1).tolist() == [1.3, 2.0]


@pytest.mark.parametrize("per_person", [5, 40])
def test_vectors_with_a_few_wrong_signs_gain_what_is_stated(per_person):
    """Of s signs one of the vectors that differ in at most r places, if the coin says so: s of the a, its best r."""
    gains = {}
    for epsilon in np.arange(0.5, 10.01, 0.5):
        odds, least = math.expm1(epsilon), math.inf
        for s in range(1, per_person + 1):
            fitting = 0
            for r in range(s // 2 + 1):
                fitting += math.comb(s, r)
                kept = odds * math.comb(s - 1, r) / (odds * fitting + 2.0**s)
                least = min(least, per_person / (s * kept**2))
        own = LocalComparisons.calibrated(epsilon=epsilon, n_items=9, per_person=per_person).variance + 1
        gains[epsilon] = own / least - 1
    assert max(gain for epsilon, gain in gains.items() if epsilon <= 4) < 1e-9
    assert max(gain for epsilon, gain in gains.items() if epsilon <= 6) < 0.05
    assert max(gains.values()) < 0.115


def test_missing_answers_and_ties_do_not_show():
    mechanism = LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=3, length=2)
    assert len(mechanism.report([0, 0, 0], SECURE)) == len(mechanism.report([1, -1, 1], SECURE)) == 2
    _, chances = reports_on_comparisons(mechanism, [0, 0, 0])
    assert chances == pytest.approx(1 / 12)


def test_sure_reports_give_the_exact_order():
    data = Comparisons([0, 0, 1] * 3, [1, 2, 2] * 3, [1] * 9, "abc", np.repeat([1, 2, 3], 3))
    sure = LocalComparisons(n_items=3, per_person=3, length=3, kept=GRAIN - 1)
    release = sure.release(data, np.random.default_rng(0))
    assert release.ranking == ("a", "b", "c")
    assert release.scores == pytest.approx([6, 0, -6])
    with pytest.warns(UserWarning, match="protects little"):
        assert sure.release(data, SECURE).publishable


POLL = LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=3, length=2)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: LocalComparisons.calibrated(epsilon=0, n_items=3, per_person=1), "epsilon = 0"),
        (lambda: LocalComparisons.calibrated(epsilon=1e-18, n_items=3, per_person=1), "too little"),
        (lambda: LocalComparisons.calibrated(epsilon=1, n_items=1, per_person=1), "n_items = 1"),
        (lambda: LocalComparisons.calibrated(epsilon=1, n_items=3, per_person=0), "per_person = 0"),
        (lambda: LocalComparisons.calibrated(epsilon=1, n_items=3, per_person=2, length=3), "length = 3"),
        (lambda: LocalComparisons(3, 2, 1, GRAIN), "kept = "),
        (lambda: POLL.report([1, 2], RNG), "answers hold others"),
        (lambda: POLL.report([1, 1, 1, 1], RNG), "answers are no list"),
        (lambda: POLL.report([], RNG), "answers are no list"),
        (lambda: POLL.report([0.5, 1], RNG), "answers are no list"),
        (lambda: POLL.report([1, 1], 7), "rng = 7"),
        (lambda: POLL.aggregate([[1, 2]], [[0, 0], [1, 2]], RNG, items="abc"), "two different codes"),
        (lambda: POLL.aggregate([[1, 2]], [[-1, -1], [1, 2]], RNG, items="abc"), "two different codes"),
        (lambda: POLL.aggregate([[1, 2]], [[0, 3], [1, 2]], RNG, items="abc"), "two different codes"),
        (lambda: POLL.aggregate([[1, 2]], [0, 1], RNG, items="abc"), "pairs are no table"),
        (lambda: POLL.aggregate([[2, 1]], PAIRS, RNG, items="abc"), "reports[0] = <list>; 2 numbers of pairs"),
        (lambda: POLL.aggregate([[1, 2], [1, 4]], PAIRS, RNG, items="abc"), "reports[1] = <list>"),
        (lambda: POLL.aggregate([[1, 2], [0, 1]], PAIRS, RNG, items="abc"), "reports[1] = <list>"),
        (lambda: POLL.aggregate([], PAIRS, RNG, items="abc"), "at least one"),
        (lambda: POLL.aggregate([[1, 2]], [PAIRS, PAIRS], RNG, items="abc"), "one of each"),
        (lambda: POLL.aggregate([[1, 2]], PAIRS, RNG, items="ab"), "items"),
        (lambda: POLL.release(Comparisons([0], [1], [1], "abc"), RNG), "voter is absent"),
        (lambda: POLL.release(Comparisons([0], [1], [1], "ab", [1]), RNG), "n_items = 3"),
        (lambda: POLL.release([1], RNG), "Comparisons are needed"),
    ],
)
def test_refused_in_one_line(call, says):
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_table_of_answers_is_sent_as_answers_out_of_order_are(length):
    poll = LocalComparisons(n_items=5, per_person=3, length=length, kept=GRAIN - 1)
    answers, voter = np.tile(np.array([1, -1, 1], np.int8), 200), np.repeat(np.arange(200), 3)
    table = poll.sent(answers, voter, np.random.default_rng(8))
    falling = poll.sent(answers, 199 - voter, np.random.default_rng(8))
    assert [part.tolist() for part in table] == [part.tolist() for part in falling]
    assert len(table.rows) == 200 * length
