"""Local tests of uniformity. Statistical checks raise a false alarm with probability below 1e-6 each; seeds fixed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from checks import all_rankings, each, refused
from scipy.stats import binom

from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.privacy.noise import SECURE
from dprank.privacy.randomized_response import GRAIN, flips_for, randomise
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


# --- guarantees


@each("m", [2, 3, 4, 5, 6])
@each("epsilon", [1 / 3, 1.0, 5.0])
def test_guarantees_are_the_exact_loss_of_a_voter(m, epsilon):
    rankings = all_rankings(m)
    test = LocalPairs.calibrated(epsilon=epsilon, n_items=m)
    pairs = test.pairs(np.random.default_rng(0))
    loss = _channel_loss(pair_signs(rankings, pairs), np.full(m // 2, 1 - test.flips / GRAIN))
    assert test.guarantee.epsilon == pytest.approx(loss, rel=1e-12)
    assert test.guarantee.model == "local"
    assert test.guarantee.epsilon <= epsilon
    assert test.guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)
    one = LocalOneBit.calibrated(epsilon=epsilon, n_items=m)
    loss = _channel_loss(pair_signs(rankings, np.array([[0, 1]])), [1 - one.flips / GRAIN])
    assert one.guarantee.epsilon == pytest.approx(loss, rel=1e-12)
    assert one.guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)


def test_broken_channels_are_louder():
    signs = pair_signs(all_rankings(4), disjoint_pairs(4))
    right = 1 - LocalPairs.calibrated(epsilon=1.0, n_items=4).flips / GRAIN
    assert _channel_loss(signs, [right, right]) == pytest.approx(1)
    assert _channel_loss(signs, [right, 1 - 1e-12]) > 20
    loud = 1 - flips_for(1.0) / GRAIN
    assert _channel_loss(signs, [loud, loud]) == pytest.approx(2)


# --- what a curator may ask


def test_a_curator_cannot_buy_a_ranking_by_asking_one_pair_a_thousand_times():
    """The attack: with so many answers about one pair opposite rankings would be told apart almost certainly."""
    test, ranking, rng = LocalPairs.calibrated(epsilon=1.0, n_items=4), np.arange(4), np.random.default_rng(8)
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
        LocalPairs.calibrated(epsilon=1.0, n_items=4).report(np.arange(4), np.array(pairs), np.random.default_rng(0))


@pytest.mark.parametrize("pair", [[[0, 1], [2, 3]], [1, 1], [0, 4], [-1, 2]])
def test_one_bit_is_one_bit(pair):
    with refused("pairs"):
        LocalOneBit.calibrated(epsilon=1.0, n_items=4).report(np.arange(4), np.array(pair), np.random.default_rng(0))


# --- decisions


def test_the_statistic_by_hand():
    test = LocalPairs.calibrated(epsilon=1.0, n_items=4)
    reports = np.array([[1, 1], [1, -1], [1, 1]], np.int8)
    assert test.decide(reports).statistic == pytest.approx((9 + 1) / 3)
    assert LocalOneBit.calibrated(epsilon=1.0, n_items=4, groups=2).decide(reports).statistic == pytest.approx(
        (9 + 1) / 3
    )


@pytest.mark.parametrize("make", [LocalPairs.calibrated, LocalOneBit.calibrated])
@pytest.mark.slow
def test_p_values_hold_under_uniform_rankings(make):
    test = make(epsilon=1.0, n_items=6, size=0.2)
    p = np.array(
        [test.release(_rankings(6, 60, 0.0, seed), np.random.default_rng(10_000 + seed)).p_value for seed in range(400)]
    )
    for level in (0.05, 0.2, 0.5):
        assert binom.sf((p <= level).sum() - 1, len(p), level) > ALARM
    assert binom.cdf((p <= 0.5).sum(), len(p), 0.35) > ALARM


@pytest.mark.parametrize(
    "test",
    [
        LocalPairs.calibrated(epsilon=4.0, n_items=6),
        LocalPairs.calibrated(epsilon=4.0, n_items=6, randomness="private"),
        LocalOneBit.calibrated(epsilon=4.0, n_items=6),
    ],
)
def test_agreement_is_found(test):
    decision = test.release(_rankings(6, 3_000, 1.0, 0), np.random.default_rng(1))
    assert decision.reject
    assert decision.statistic >= decision.threshold
    assert decision.p_value < 1e-6


def test_rejection_is_a_p_value_of_at_most_delta():
    test = LocalPairs.calibrated(epsilon=1.0, n_items=4, size=0.1)
    for total in product(range(-9, 10, 2), repeat=2):
        reports = np.column_stack([np.repeat([1, -1], [(9 + s) // 2, (9 - s) // 2]) for s in total])
        decision = test.decide(reports)
        assert decision.reject == (decision.p_value <= 0.1)


def test_the_pairing_is_public_or_fixed():
    rng = np.random.default_rng(3)
    assert (
        LocalPairs.calibrated(epsilon=1.0, n_items=6, randomness="private").pairs(rng) == [[0, 1], [2, 3], [4, 5]]
    ).all()
    seen = {LocalPairs.calibrated(epsilon=1.0, n_items=6).pairs(rng).tobytes() for _ in range(20)}
    assert len(seen) > 10
    assert LocalOneBit.calibrated(epsilon=1.0, n_items=100).pairs(rng).shape == (8, 2)


def test_one_bit_asks_each_voter_about_one_pair():
    test = replace(LocalOneBit.calibrated(epsilon=1.0, n_items=4, groups=2), flips=1)
    # all agree: five voters on either pair, the last of eleven is not asked
    decision = test.release(Rankings([[0, 1, 2, 3]] * 11, list("abcd")), np.random.default_rng(0))
    assert decision.statistic == pytest.approx(2 * 25 / 5)


def test_secure_release():
    for test in (LocalPairs.calibrated(epsilon=1.0, n_items=6), LocalOneBit.calibrated(epsilon=1.0, n_items=6)):
        assert 0 <= test.release(_rankings(6, 50, 0.0, 5), SECURE).p_value <= 1


@each(
    ("call", "words"),
    [
        (lambda: LocalPairs.calibrated(epsilon=0.0, n_items=4), ("epsilon = 0.0", "above 0")),
        (lambda: LocalPairs.calibrated(epsilon=math.nan, n_items=4), ("epsilon = nan",)),
        (lambda: LocalOneBit.calibrated(epsilon=math.inf, n_items=4), ("epsilon = inf", "finite")),
        (lambda: LocalPairs.calibrated(epsilon=1.0, n_items=1), ("n_items = 1", "at least 2")),
        (lambda: LocalPairs.calibrated(epsilon=1.0, n_items=4, size=0.0), ("size = 0.0", "(0, 1)")),
        (lambda: LocalOneBit.calibrated(epsilon=1.0, n_items=4, size=1.0), ("size = 1.0", "(0, 1)")),
        (lambda: LocalPairs(4, 0), ("flips = 0",)),
        (lambda: LocalPairs(4, GRAIN), (f"flips = {GRAIN}",)),
        (lambda: LocalPairs.calibrated(epsilon=1.0, n_items=4, randomness="own"), ("randomness = 'own'", "public")),
        (lambda: LocalOneBit.calibrated(epsilon=1.0, n_items=6, groups=4), ("groups = 4", "1 .. 3")),
        (
            lambda: LocalPairs.calibrated(epsilon=1.0, n_items=5).release(_rankings(4, 5, 0.0, 0), SECURE),
            ("items = 4", "n_items = 5"),
        ),
        (
            lambda: LocalPairs.calibrated(epsilon=1.0, n_items=4).release(_rankings(4, 1, 0.0, 0), SECURE),
            ("too few voters", "2"),
        ),
        (
            lambda: LocalOneBit.calibrated(epsilon=1.0, n_items=4).release(_rankings(4, 3, 0.0, 0), SECURE),
            ("too few voters", "4"),
        ),
    ],
)
def test_bad_input(call, words):
    with refused(*words):
        call()
