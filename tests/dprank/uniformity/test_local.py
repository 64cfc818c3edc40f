"""Local tests of uniformity. Statistical checks raise a false alarm with probability below 1e-6 each; seeds fixed."""

from __future__ import annotations

import math
import secrets
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused
from scipy.stats import binom

from dprank.models.mallows import Mallows
from dprank.noise import SECURE
from dprank.randomized_response import GRAIN, bit_loss, flips_for, randomise
from dprank.rankings import Rankings
from dprank.uniformity import local
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

ALARM = 1e-6
NAMES = "abcdefgh"


def _rankings(m, n, theta, seed):
    return Rankings(Mallows(m, theta).sample(n, rng=np.random.default_rng(seed)), list(NAMES[:m]))


def _channel_loss(signs, keep):
    """Largest log ratio when bit j is kept with probability keep[j], over given true sign vectors and all outputs."""
    outputs = np.array(list(product((-1, 1), repeat=signs.shape[1])))
    law = np.where(signs[:, None] == outputs, keep, 1 - np.asarray(keep)).prod(-1)
    return float(np.ptp(np.log(law), axis=0).max())


# --- chances


@each("epsilon", [1e-20, 1e-9, 1e-3, 1 / 3, 1.0, 5.0, 30.0, 100.0, 1e6])
@each("bits", [1, 3, 500])
def test_chances_never_spend_more_than_promised_and_hardly_less(epsilon, bits):
    flips = flips_for(epsilon, bits)
    spent = bits * bit_loss(flips)
    assert spent <= epsilon * (1 + 1e-15)
    if 1e-3 <= epsilon / bits <= 10:
        assert spent == pytest.approx(epsilon, rel=1e-9)
        assert bits * bit_loss(flips - 8) > epsilon


def test_loss_is_rounded_up():
    from fractions import Fraction

    for flips in (1, 3, 12345, GRAIN // 3, GRAIN // 2 - 1):
        # e^loss >= odds, exactly, by a partial sum of the exponential series from below
        loss, odds = Fraction(bit_loss(flips)), Fraction(GRAIN - flips, flips)
        term, total, n = Fraction(1), Fraction(1), 0
        while n < 170:
            n += 1
            term = term * loss / n
            total += term
        assert total >= odds
    assert bit_loss(GRAIN // 2) == 0


@pytest.mark.parametrize("source", [np.random.default_rng(1), SECURE])
def test_reversals_have_their_probability_and_are_independent(source):
    flips = flips_for(0.7)
    signs = np.tile(np.int8([1, -1, 1]), (40_000, 1))
    reversed_ = randomise(signs, flips, source) != signs
    q = flips / GRAIN
    law = np.array([q ** sum(v) * (1 - q) ** (3 - sum(v)) for v in product((0, 1), repeat=3)])
    counts = np.bincount(reversed_ @ [4, 2, 1], minlength=8)
    assert law_p_value(counts, law) > ALARM


class Stub(np.random.Generator):
    """Hands out the words it was given, if they can be asked for at all."""

    def __init__(self, words):
        super().__init__(np.random.PCG64(0))
        self.words = np.array(words, np.uint64)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        assert (low, high, endpoint) == (0, GRAIN, False)
        return self.words.reshape(size).astype(dtype)


@pytest.mark.parametrize("flips", [1, 2, 12345, GRAIN // 2])
def test_exactly_so_many_words_reverse_a_sign(flips, monkeypatch):
    """The coin is exact: words below `flips` reverse, of the 2^53 there are."""
    words, signs = [0, flips - 1, flips, GRAIN - 1], np.ones(4, np.int8)
    wanted = [1 if word >= flips else -1 for word in words]
    assert randomise(signs, flips, Stub(words)).tolist() == wanted
    # the first 53 of 64 bits of the operating system's, whatever the other 11 are
    for rest in (0, 2**11 - 1):
        raw = (np.array(words, np.uint64) << np.uint64(11)) + np.uint64(rest)
        monkeypatch.setattr(secrets, "token_bytes", lambda n, raw=raw: raw.tobytes()[:n])
        assert randomise(signs, flips, SECURE).tolist() == wanted


def test_the_fewest_reversals_are_one():
    """And the least that is lost then, log(2^53 - 1), is found at once for every larger epsilon."""
    assert flips_for(1e6) == flips_for(37.0) == 1
    assert bit_loss(1) == pytest.approx(math.log(2.0**53 - 1), rel=1e-14)
    assert bit_loss(1) < 37 < 2 * bit_loss(1) == pytest.approx(bit_loss(1, 2), rel=1e-15)
    assert bit_loss(GRAIN // 2, 3) == 0


def test_the_check_of_reversals_sees_broken_twins():
    flips, rng = flips_for(0.7), np.random.default_rng(2)
    signs = np.tile(np.int8([1, -1, 1]), (40_000, 1))
    q = flips / GRAIN
    law = np.array([q ** sum(v) * (1 - q) ** (3 - sum(v)) for v in product((0, 1), repeat=3)])
    right = randomise(signs, flips, rng)
    twins = {
        "inverted": -right,
        "one coin": signs * np.where(rng.random((40_000, 1)) < q, -1, 1),
        "last untouched": np.column_stack([right[:, :2], signs[:, 2]]),
        "all of epsilon on every bit": randomise(signs, flips_for(3 * 0.7), rng),
    }
    for name, twin in twins.items():
        assert law_p_value(np.bincount((twin != signs) @ [4, 2, 1], minlength=8), law) < 1e-12, name


# --- guarantees


@each("m", [2, 3, 4, 5, 6])
@each("epsilon", [1 / 3, 1.0, 5.0])
def test_guarantees_are_the_exact_loss_of_a_voter(m, epsilon):
    rankings = all_rankings(m)
    for test in (LocalPairs.calibrated(m, epsilon), LocalPairs.as_printed(m, epsilon)):
        pairs = test.pairs(np.random.default_rng(0))
        loss = _channel_loss(pair_signs(rankings, pairs), np.full(m // 2, 1 - test.flips / GRAIN))
        assert test.guarantee.epsilon == pytest.approx(loss, rel=1e-12)
        assert test.guarantee.model == "local"
        assert test.guarantee.epsilon <= epsilon
    assert LocalPairs.calibrated(m, epsilon).guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)
    one = LocalOneBit.calibrated(m, epsilon)
    loss = _channel_loss(pair_signs(rankings, np.array([[0, 1]])), [1 - one.flips / GRAIN])
    assert one.guarantee.epsilon == pytest.approx(loss, rel=1e-12)
    assert one.guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)


def test_printed_odd_items_spend_less():
    test = LocalPairs.as_printed(5, 1.0)
    assert (test.claimed_epsilon, test.threshold) == (1.0, "printed")
    assert test.guarantee.epsilon == pytest.approx(4 / 5)


def test_broken_channels_are_louder():
    signs = pair_signs(all_rankings(4), disjoint_pairs(4))
    right = 1 - LocalPairs.calibrated(4, 1.0).flips / GRAIN
    assert _channel_loss(signs, [right, right]) == pytest.approx(1)
    assert _channel_loss(signs, [right, 1 - 1e-12]) > 20
    loud = 1 - flips_for(1.0) / GRAIN
    assert _channel_loss(signs, [loud, loud]) == pytest.approx(2)


# --- what a curator may ask


def test_a_curator_cannot_buy_a_ranking_by_asking_one_pair_a_thousand_times():
    """The attack: with so many answers about one pair opposite rankings would be told apart almost certainly."""
    test, ranking, rng = LocalPairs.calibrated(4, 1.0), np.arange(4), np.random.default_rng(8)
    with refused("(1000, 2)", "(2, 2)"):
        test.report(ranking, np.tile([0, 1], (1000, 1)), rng)
    signs = np.ones((1000, 1), np.int8)
    assert randomise(signs, test.flips, rng).sum() > 100 > -100 > randomise(-signs, test.flips, rng).sum()


@each(
    ("pairs", "words"),
    [
        ([[0, 1], [0, 1]], ("twice",)),
        ([[0, 1], [1, 2]], ("twice",)),
        ([[0, 0], [1, 2]], ("twice",)),
        ([[0, 1]], ("(1, 2)", "(2, 2)")),
        ([0, 1], ("(2,)", "(2, 2)")),
        ([[0, 1], [2, 4]], ("items 0 .. 3",)),
        ([[0, 1], [2, -1]], ("items 0 .. 3",)),
        ([[0.0, 1.0], [2.0, 3.0]], ("items 0 .. 3",)),
    ],
)
def test_a_peer_refuses_other_questions(pairs, words):
    with refused(*words):
        LocalPairs.calibrated(4, 1.0).report(np.arange(4), np.array(pairs), np.random.default_rng(0))


@pytest.mark.parametrize("pair", [[[0, 1], [2, 3]], [1, 1], [0, 4], [-1, 2]])
def test_one_bit_is_one_bit(pair):
    with refused("pairs"):
        LocalOneBit.calibrated(4, 1.0).report(np.arange(4), np.array(pair), np.random.default_rng(0))


# --- decisions


def test_the_statistic_by_hand():
    test = LocalPairs.calibrated(4, 1.0)
    reports = np.array([[1, 1], [1, -1], [1, 1]], np.int8)
    assert test.decide(reports).statistic == pytest.approx((9 + 1) / 3)
    assert LocalOneBit.calibrated(4, 1.0, groups=2).decide(reports).statistic == pytest.approx((9 + 1) / 3)


@pytest.mark.parametrize("make", [LocalPairs.calibrated, LocalOneBit.calibrated])
def test_p_values_hold_under_uniform_rankings(make):
    test = make(6, 1.0, 0.2)
    p = np.array(
        [test.release(_rankings(6, 60, 0.0, seed), np.random.default_rng(10_000 + seed)).p_value for seed in range(400)]
    )
    for level in (0.05, 0.2, 0.5):
        assert binom.sf((p <= level).sum() - 1, len(p), level) > ALARM
    assert binom.cdf((p <= 0.5).sum(), len(p), 0.35) > ALARM


@pytest.mark.parametrize(
    "test",
    [
        LocalPairs.calibrated(6, 4.0),
        LocalPairs.as_printed(6, 4.0),
        LocalPairs.calibrated(6, 4.0, randomness="private"),
        LocalOneBit.calibrated(6, 4.0),
    ],
)
def test_agreement_is_found(test):
    decision = test.release(_rankings(6, 3_000, 1.0, 0), np.random.default_rng(1))
    assert decision.reject
    assert decision.statistic >= decision.threshold
    assert decision.p_value < 1e-6


def test_rejection_is_a_p_value_of_at_most_delta():
    test = LocalPairs.calibrated(4, 1.0, 0.1)
    for total in product(range(-9, 10, 2), repeat=2):
        reports = np.column_stack([np.repeat([1, -1], [(9 + s) // 2, (9 - s) // 2]) for s in total])
        decision = test.decide(reports)
        assert decision.reject == (decision.p_value <= 0.1)


def test_the_pairing_is_public_or_fixed():
    rng = np.random.default_rng(3)
    assert (LocalPairs.calibrated(6, 1.0, randomness="private").pairs(rng) == [[0, 1], [2, 3], [4, 5]]).all()
    seen = {LocalPairs.calibrated(6, 1.0).pairs(rng).tobytes() for _ in range(20)}
    assert len(seen) > 10
    assert LocalOneBit.calibrated(100, 1.0).pairs(rng).shape == (8, 2)


def test_one_bit_asks_each_voter_about_one_pair():
    test = replace(LocalOneBit.calibrated(4, 1.0, groups=2), flips=1)
    positions = np.array([[0, 1, 2, 3], [3, 2, 1, 0]] * 5 + [[0, 1, 2, 3]])
    # voters 0, 2, ... are asked about the first pair and agree; the last of eleven is not asked
    decision = test.release(Rankings(positions, list("abcd")), np.random.default_rng(0))
    assert decision.statistic == pytest.approx(2 * 25 / 5)


def test_secure_release():
    for test in (LocalPairs.calibrated(6, 1.0), LocalOneBit.calibrated(6, 1.0)):
        assert 0 <= test.release(_rankings(6, 50, 0.0, 5), SECURE).p_value <= 1


def test_printed_threshold():
    test = LocalPairs.as_printed(4, 1.0, 0.05)
    reports = np.ones((9, 2), np.int8)
    assert test.decide(reports).threshold == pytest.approx(2 + 2 * math.sqrt(4 * math.log(20)))
    assert local.printed_threshold(4, 0.05) == test.decide(reports).threshold


@each(
    ("call", "words"),
    [
        (lambda: LocalPairs.calibrated(4, 0.0), ("epsilon_0 = 0.0", "above 0")),
        (lambda: LocalPairs.calibrated(4, math.nan), ("epsilon_0 = nan",)),
        (lambda: LocalOneBit.calibrated(4, math.inf), ("epsilon_0 = inf", "finite")),
        (lambda: LocalPairs.calibrated(1, 1.0), ("n_items = 1", "at least 2")),
        (lambda: LocalPairs.as_printed(0, 1.0), ("n_items = 0",)),
        (lambda: LocalPairs.calibrated(4, 1.0, 0.0), ("delta = 0.0", "(0, 1)")),
        (lambda: LocalOneBit.calibrated(4, 1.0, 1.0), ("delta = 1.0", "(0, 1)")),
        (lambda: LocalPairs(4, 0), ("flips = 0",)),
        (lambda: LocalPairs(4, GRAIN), (f"flips = {GRAIN}",)),
        (lambda: LocalPairs.calibrated(4, 1.0, randomness="own"), ("randomness = 'own'", "public")),
        (lambda: LocalPairs.calibrated(4, 1.0, threshold="mine"), ("threshold = 'mine'", "printed")),
        (lambda: LocalOneBit.calibrated(6, 1.0, groups=4), ("groups = 4", "1 .. 3")),
        (lambda: LocalPairs.calibrated(5, 1.0).release(_rankings(4, 5, 0.0, 0), SECURE), ("items = 4", "n_items = 5")),
        (lambda: LocalPairs.calibrated(4, 1.0).release(_rankings(4, 1, 0.0, 0), SECURE), ("rankings", "2")),
        (lambda: LocalOneBit.calibrated(4, 1.0).release(_rankings(4, 3, 0.0, 0), SECURE), ("rankings", "4")),
    ],
)
def test_bad_input(call, words):
    with refused(*words):
        call()
