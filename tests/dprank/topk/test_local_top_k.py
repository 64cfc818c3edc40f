"""Reports on the items that people have: their law, their privacy, what they estimate, and what the doors refuse.

Random checks have fixed seeds and a false-alarm rate of 1e-6 each, as ALARM says.
"""

import math
import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from checks import doubted
from scipy import stats

from dprank import SECURE, LocalTopK, Tallies
from dprank.privacy.laws import exact, sample
from dprank.privacy.randomized_response import GRAIN
from dprank.topk.local_laws import sets_sent
from dprank.topk.random_sets import random_sets

ALARM = 1e-6
#: Items, most of a person, length, hits.
SMALL = [(2, 1, 1, 1), (3, 1, 2, 1), (4, 2, 2, 1), (4, 2, 3, 2), (3, 3, 2, 2), (2, 3, 1, 1)]


def made(m, a, length, hits, share=0.6):
    return LocalTopK(1, a, length, hits, int(share * GRAIN), n_items=m)


def owners(m, a):
    """All that a person may have."""
    return [own for size in range(min(m, a) + 1) for own in combinations(range(m), size)]


def brute(mechanism, own):
    """Probability of every set, from the words of the class alone."""
    m, a = mechanism.n_items, mechanism.per_person
    codes = {*own, *range(m + len(own), m + a)}
    assert len(codes) == a
    every = [*combinations(range(m + a), mechanism.length)]
    fits = [codes_sent for codes_sent in every if len(codes & {*codes_sent}) >= mechanism.hits]
    c = mechanism.kept / GRAIN
    return {sent: (1 - c) / len(every) + c / len(fits) * (sent in fits) for sent in every}


@pytest.mark.parametrize("shape", SMALL)
def test_law_is_that_of_all_coins_and_loses_what_is_promised(shape):
    mechanism, worst = made(*shape), 0.0
    for own in owners(*shape[:2]):
        sets, chances = sets_sent(mechanism, own)
        law = brute(mechanism, own)
        assert sum(law.values()) == pytest.approx(1)
        assert dict(zip(map(tuple, sets.tolist()), chances, strict=True)) == pytest.approx(law)
        worst = max(worst, *(exact(mechanism, own, other).epsilon(0) for other in owners(*shape[:2])))
    assert worst == pytest.approx(mechanism.guarantee.epsilon, abs=1e-9)
    assert worst <= mechanism.guarantee.epsilon


@pytest.mark.parametrize("shape", SMALL)
def test_estimates_are_unbiased_with_the_variance_that_is_stated(shape):
    """By the law: of every item, whoever has what."""
    mechanism, m = made(*shape), shape[0]
    for own in owners(*shape[:2]):
        law = brute(mechanism, own)
        held = np.array([np.isin(np.arange(m), sent) for sent in law], float)
        chances = np.array([*law.values()])
        estimates = np.array([mechanism.estimates(row, 1) for row in held])
        mean = chances @ estimates
        assert mean == pytest.approx(np.isin(np.arange(m), own).astype(float), abs=1e-9)
        variance = chances @ estimates**2 - mean**2
        assert variance == pytest.approx([mechanism.deviation(float(i in own), 1) ** 2 for i in range(m)])


@pytest.mark.parametrize("shape", SMALL)
def test_the_correlation_is_that_of_two_items_of_others(shape):
    mechanism = made(*shape)
    law = brute(mechanism, ())
    both, one = (sum(chance for sent, chance in law.items() if {*items} <= {*sent}) for items in ((0, 1), (0,)))
    assert mechanism.correlation == pytest.approx((both - one**2) / (one * (1 - one)))


@pytest.mark.parametrize("rng", [np.random.default_rng(1), SECURE], ids=["seeded", "secure"])
def test_reports_have_that_law(rng):
    mechanism, size = made(4, 2, 3, 2), 5000
    sets, chances = sets_sent(mechanism, [1])
    counted = Counter(tuple(mechanism.report([1], rng)) for _ in range(size))
    observed = [counted.pop(tuple(row), 0) for row in sets.tolist()]
    assert not counted
    assert stats.chisquare(observed, size * chances).pvalue > ALARM
    # the check sees the law of another person
    assert stats.chisquare(observed, size * sets_sent(mechanism, [1, 2])[1]).pvalue < ALARM


def test_many_at_once_are_as_one_by_one():
    mechanism = made(4, 2, 3, 2)
    rows = sample(mechanism, [1], 20_000, np.random.default_rng(2))
    sets, chances = sets_sent(mechanism, [1])
    observed = [(rows == row).all(axis=1).sum() for row in sets]
    assert stats.chisquare(observed, len(rows) * chances).pvalue > ALARM


def test_random_sets_are_uniform_given_the_overlap():
    """Persons who come before do not matter: the kernel keeps one shuffled list for all of them."""
    own = np.array([[0, 5], [3, 1], [2, 4]] * 20_000)
    sets = np.sort(random_sets(own, np.full(len(own), 1), 7, 3, np.random.default_rng(3)), axis=1)[2::3]
    every = [sent for sent in combinations(range(7), 3) if len({2, 4} & {*sent}) == 1]
    observed = [(sets == sent).all(axis=1).sum() for sent in every]
    assert sum(observed) == len(sets)
    assert stats.chisquare(observed).pvalue > ALARM


class Unfilled(LocalTopK):
    """Reads reports as if there were no blanks: a set holds another item as often as if everybody had all they may."""

    def estimates(self, held, persons):
        p, _ = self.chances
        q = (self.length - self.per_person * p) / (self.n_items - self.per_person)
        return (held - persons * q) / (p - q)


@pytest.mark.parametrize(("kind", "unbiased"), [(LocalTopK, True), (Unfilled, False)])
def test_releases_are_unbiased(kind, unbiased):
    """Mean of many releases by its standard error; 5.2 of these are passed with probability 2e-7 an item."""
    rng = np.random.default_rng(4)
    person, item = np.repeat(np.arange(60), 2), rng.integers(0, 4, 120)
    tallies = Tallies(person, item, items=[*"abcd"])
    mechanism = kind.calibrated(epsilon=1.0, items=[*"abcd"], k=4, per_person=3)
    found = []
    for _ in range(2000):
        release = mechanism.release(tallies, rng)
        found.append([dict(zip(release.items, release.values, strict=True))[name] for name in "abcd"])
    z = (np.mean(found, 0) - tallies.counts()) / (np.std(found, 0) / math.sqrt(len(found)))
    assert (abs(z) < 5.2).all() == unbiased
    exactly = [mechanism.deviation(count, 60) for count in tallies.counts()]
    # a sample variance of 2000 is within a fifth with probability 1 - 3e-10
    assert not unbiased or np.std(found, 0) == pytest.approx(exactly, rel=0.1)


@pytest.mark.parametrize(("m", "a"), [(3, 1), (6, 2), (5, 4), (12, 3)])
def test_length_and_hits_are_the_best(m, a):
    """Against all of them, with the chances of exact whole numbers."""

    def variance(one):
        p, q = one.chances
        return (min(a, m) * p * (1 - p) + max(0, m - a) * q * (1 - q)) / (p - q) ** 2

    for epsilon in (0.1, 1.0, 3.0, 8.0):
        best = LocalTopK.calibrated(epsilon=epsilon, n_items=m, k=1, per_person=a)
        assert epsilon - 1e-9 <= best.guarantee.epsilon <= epsilon
        odds = math.expm1(epsilon)
        others = []
        for length in range(1, m + a):
            for hits in range(max(1, length - m + 1), min(a, length) + 1):
                one = LocalTopK(1, a, length, hits, GRAIN // 2, n_items=m)
                share = odds * one.overlap.fitting / (one.overlap.all + odds * one.overlap.fitting)
                one = LocalTopK(1, a, length, hits, max(1, min(round(share * GRAIN), GRAIN - 1)), n_items=m)
                others.append(variance(one))
        assert variance(best) <= min(others) * (1 + 1e-9)


def others(epsilon, m, a):
    """Variance of a rare item's count by formulas of others, of each report: one item drawn, or all with a share.

    Subset selection (Ye and Barg 2018) of the one drawn, blanks being one symbol more; and optimised unary encoding
    (Wang, Blocki, Li and Jha 2017).
    """
    grown, length = math.exp(epsilon), np.arange(1, m + 1)
    p = grown * length / (grown * length + m + 1 - length)
    q = (length - p) / m
    share = epsilon / a
    return min(a**2 * q * (1 - q) / (p - q) ** 2), 4 * math.exp(share) / math.expm1(share) ** 2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("m", "a"), [(50, 1), (1000, 1), (1000, 5), (1000, 10)])
def test_one_item_is_subset_selection_and_several_beat_one_that_is_drawn(epsilon, m, a):
    rare = LocalTopK.calibrated(epsilon=epsilon, n_items=m, k=1, per_person=a).deviation(0, 1) ** 2
    selection, unary = others(epsilon, m, a)
    if a == 1:  # its length is the best for rare items alone
        assert rare == pytest.approx(selection, rel=2e-3)
        assert rare <= unary
    else:
        assert 0.75 * a * rare < min(selection, unary)


def test_the_table_of_the_notes():
    rows = re.findall(r"^ *(\d+) {9,}([\d.]+) {4,}([\d.]+) {9,}([\d.]+)$", LocalTopK.__doc__, re.MULTILINE)
    assert len(rows) == 3
    for a, *stated in rows:
        own = LocalTopK.calibrated(epsilon=1.0, n_items=1000, k=1, per_person=int(a)).deviation(0, 1) ** 2
        assert [float(f"{value:.2g}") for value in (own, *others(1.0, 1000, int(a)))] == [*map(float, stated)]


def test_release_is_report_and_aggregate():
    """The same law of estimates: two samples of 1500 at most, by Kolmogorov and Smirnov."""
    tallies = Tallies([1, 1, 2, 3], [0, 2, 2, 1], items=[*"xyz"])
    mechanism = LocalTopK.calibrated(epsilon=2.0, items=[*"zyx"], k=1, per_person=2)
    rng = np.random.default_rng(5)
    people = (["x", "z"], ["z"], ["y"])

    def chance(draws):
        released = [mechanism.release(tallies, rng).values[0] for _ in range(draws)]
        sent = [[mechanism.report(own, rng) for own in people] for _ in range(draws)]
        reported = [mechanism.aggregate(reports, rng).values[0] for reports in sent]
        return stats.ks_2samp(released, reported, method="asymp").pvalue

    assert doubted(chance, 400, 1500) > ALARM


def test_sure_reports_give_the_exact_counts_and_bounds_are_kept():
    sure = LocalTopK(2, 1, 1, 1, GRAIN - 1, items=[*"abc"])
    tallies = Tallies(np.arange(9), [0, 0, 0, 0, 2, 2, 2, 1, 1], items=[*"cba"])
    for rng in (np.random.default_rng(1), SECURE):
        if rng is SECURE:
            with pytest.warns(UserWarning, match="protects little"):
                release = sure.release(tallies, rng)
        else:
            release = sure.release(tallies, rng)
        assert release.items.tolist() == ["c", "a"]
        assert release.values == pytest.approx([4, 3])
    many = Tallies([1] * 3, [0, 1, 2], items=[*"abc"])
    assert sure.own(many).shape == (1, 1)
    with pytest.warns(UserWarning, match="protects little"):
        assert len(sure.report([*"abc"], SECURE)) == 1


def test_no_report_shows_how_many_items_a_person_has():
    mechanism = LocalTopK.calibrated(epsilon=1.0, n_items=30, k=1, per_person=4)
    assert {len(mechanism.report(own, SECURE)) for own in ([], [1], [1, 2, 3, 4], range(30))} == {mechanism.length}
    assert mechanism.report([99, -5], SECURE).publishable  # left out without a word


def test_a_thousand_items_and_more():
    rng, people = np.random.default_rng(6), 5_000
    share = np.r_[np.linspace(0.9, 0.5, 5), np.full(995, 0.001)]
    person, item = np.nonzero(rng.random((people, 1000)) < share)
    named = LocalTopK.calibrated(epsilon=1.0, items=range(1000), k=5, per_person=5)
    release = named.release(Tallies(person, item, items=range(1000)), rng)
    assert set(release.items.tolist()) == {0, 1, 2, 3, 4}
    wide = LocalTopK.calibrated(epsilon=0.5, n_items=50_000, k=5, per_person=9)
    assert len(wide.report([7, 49_999], SECURE)) == wide.length


POLL = LocalTopK.calibrated(epsilon=1.0, n_items=3, k=1, per_person=2)
NAMED = LocalTopK.calibrated(epsilon=1.0, items=[*"abc"], k=1, per_person=2)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: LocalTopK.calibrated(epsilon=0, n_items=3, k=1, per_person=1), "epsilon = 0"),
        (lambda: LocalTopK.calibrated(epsilon=1e-18, n_items=3, k=1, per_person=1), "too little"),
        (lambda: LocalTopK.calibrated(epsilon=1, k=1, per_person=1), "n_items = None"),
        (lambda: LocalTopK.calibrated(epsilon=1, n_items=3, k=4, per_person=1), "k = 4"),
        (lambda: LocalTopK.calibrated(epsilon=1, n_items=3, k=1, per_person=0), "per_person = 0"),
        (lambda: LocalTopK.calibrated(epsilon=1, n_items=10**6, k=1, per_person=5), "per_person = 5 of n_items"),
        (lambda: LocalTopK(1, 1, 4, 1, 1, n_items=3), "length = 4; every set"),
        (lambda: LocalTopK(1, 2, 1, 2, 1, n_items=3), "hits = 2"),
        (lambda: LocalTopK(1, 2, 9, 1, 1, n_items=3), "length = 9"),
        (lambda: LocalTopK(1, 2, 1, 1, GRAIN, n_items=3), "kept = "),
        (lambda: POLL.report("ab", RNG), "own are of type str"),
        (lambda: POLL.report([0.5], RNG), "own are of type list"),
        (lambda: NAMED.report("ab", RNG), "own are of type str"),
        (lambda: NAMED.report(7, RNG), "own are of type int"),
        (lambda: NAMED.report([["a"]], RNG), "own are of type list"),
        (lambda: POLL.report([1], 7), "rng = 7"),
        (lambda: POLL.aggregate([[0, 1, 2], [0, 1, 9]], RNG), "reports[1] = <list>"),
        (lambda: POLL.aggregate([[0, 0, 1]], RNG), "reports[0] = <list>"),
        (lambda: POLL.aggregate([], RNG), "at least one"),
        (lambda: POLL.release([3, 1, 2], RNG), "Tallies"),
        (lambda: POLL.release(Tallies([1], [0], [*"abc"]), RNG), "items are not those"),
        (lambda: NAMED.release(Tallies([1], [0], [*"ab"]), RNG), "items are not those"),
        (lambda: NAMED.release(Tallies([], [], [*"abc"]), RNG), "nobody"),
        (lambda: POLL.deviation(3, 2), "count = 3"),
        (lambda: POLL.deviation(0, 0), "persons = 0"),
    ],
)
def test_refused_in_one_line(call, says):
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        call()
    assert "\n" not in str(caught.value)
