"""Batched tests against enumeration of their batches; seeded tests fail by chance less than once in 10^6."""

import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from checks import each, law_p_value, refused
from scipy import stats

from dprank.audit.exact import privacy_loss
from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.uniformity.bucketed import BatchVote, Bucketed, vote_sf, vote_threshold

FALSE_ALARM = 1e-6


def uniform(rng, n, m):
    return Rankings(rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1), [f"i{j}" for j in range(m)])


def losses(laws):
    """Privacy loss and least delta at epsilon 0 between neighbouring states."""
    pairs = [((a, 1 - a), (b, 1 - b)) for a, b in pairwise(laws)]
    return max(privacy_loss(*pair) for pair in pairs), max(abs(p[0] - q[0]) for p, q in pairs)


def state_laws(test):
    return test.coin / 2 + (1 - test.coin) * np.arange(test.n_batches + 1) / test.n_batches


@each("epsilon", [0.1, 1 / 3, 2.0])
@each("delta", [0.0, 0.01])
def test_a_coin_is_exactly_as_private_as_asked(epsilon, delta):
    asked = {"epsilon": epsilon, "delta": delta, "n_items": 10, "n_voters": 20_000, "size": 0.05}
    test = Bucketed.calibrated(**asked)
    p = state_laws(test)
    left = (p[1:] - math.exp(epsilon) * p[:-1]).max(), ((1 - p[:-1]) - math.exp(epsilon) * (1 - p[1:])).max()
    assert max(left) == pytest.approx(delta, abs=1e-12)
    assert test.guarantee.delta == delta
    assert test.guarantee.epsilon == pytest.approx(epsilon)
    if delta == 0:
        assert test.guarantee.epsilon >= losses(p)[0] - 1e-13
        assert test.guarantee.epsilon <= epsilon
        assert losses(state_laws(replace(test, coin=test.coin / 2)))[0] > epsilon + 1e-6  # mutant: half the coin
    assert test.exact_size <= 0.05
    fewer = test.n_batches - 1
    if fewer:
        assert Bucketed.calibrated(**asked, n_batches=fewer).coin > 0.05


def test_enough_delta_needs_no_coin():
    asked = {"epsilon": 1 / 3, "n_items": 10, "n_voters": 1000, "size": 0.05, "n_batches": 3}
    test = Bucketed.calibrated(**asked, delta=0.4)
    assert (test.coin, test.guarantee.delta) == (0, pytest.approx(1 / 3))
    # as floats both are 1/3, but it lies below
    assert replace(test, coin=1e-300, delta=1 / 3).coin == 1e-300
    for delta in (0.0, 0.3, 1 / 3):
        with refused("coin = 0", "1 / n_batches"):
            replace(test, delta=delta)


@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
def test_the_law_of_a_noisy_vote_by_enumeration(scale):
    batches, rate = 4, 0.3
    q = math.exp(-1 / scale)
    noise = np.arange(-2000, 2001)
    weights = (1 - q) / (1 + q) * q ** np.abs(noise)
    for votes in (-3, 0, 2, 5):
        expected = sum(
            math.prod(rate if r else 1 - rate for r in rejects) * weights[noise + sum(rejects) >= votes].sum()
            for rejects in product((0, 1), repeat=batches)
        )
        assert vote_sf(batches, rate, scale, votes) == pytest.approx(expected)
    cut = vote_threshold(batches, rate, scale, 0.05)
    assert vote_sf(batches, rate, scale, cut) <= 0.05 < vote_sf(batches, rate, scale, cut - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2.0])
def test_a_noisy_vote_is_exactly_as_private_as_asked(epsilon):
    test = BatchVote.calibrated(epsilon=epsilon, n_items=10, n_voters=20_000, size=0.05)
    votes = np.arange(-5, test.n_batches + 6)

    def law(count, scale):
        return -np.abs(votes - count) / scale

    assert test.guarantee.epsilon <= epsilon
    for count in range(test.n_batches):
        loss = np.abs(law(count, test.scale) - law(count + 1, test.scale)).max()
        assert loss == pytest.approx(epsilon)
        assert np.abs(law(count, test.scale / 2) - law(count + 1, test.scale / 2)).max() > epsilon + 1e-6  # half noise
    assert test.exact_size <= 0.05


def test_default_number_of_votes_is_the_least():
    for epsilon, delta in ((0.1, 0.05), (1.0, 0.01), (3.0, 0.2)):
        test = BatchVote.calibrated(epsilon=epsilon, n_items=10, n_voters=20_000, size=delta)

        def power(batches, epsilon=epsilon, delta=delta):
            cut = vote_threshold(batches, 0.1, 1 / epsilon, delta)
            return vote_sf(batches, 1.0, 1 / epsilon, cut)

        assert power(test.n_batches) >= 1 - delta
        assert all(power(b) < 1 - delta for b in range(1, test.n_batches))


@pytest.mark.parametrize("kind", ["coin", "vote", "delta"])
@pytest.mark.slow
def test_sizes_are_exact(kind):
    rng = np.random.default_rng(7)
    make = {
        "coin": lambda: Bucketed.calibrated(epsilon=2.0, n_items=5, n_voters=60, size=0.3),
        "vote": lambda: BatchVote.calibrated(
            epsilon=2.0, n_items=5, n_voters=60, size=0.3, n_batches=6, batch_level=0.2
        ),
        "delta": lambda: Bucketed(5, 60, 3, 4.0, 0.0, 0.4),
    }
    test = make[kind]()
    assert 0.02 < test.exact_size < 0.5
    runs = 3000
    rejected = 0
    for _ in range(runs):
        decision = test.release(uniform(rng, 60, 5), rng)
        rejected += decision.reject
        assert (decision.p_value <= test.exact_size + 1e-12) == decision.reject
    assert law_p_value([runs - rejected, rejected], [1 - test.exact_size, test.exact_size]) > FALSE_ALARM


def test_power_of_a_batch():
    test = Bucketed(2, 12, 2, 6.0, 0.1)
    assert test.batch_power() == pytest.approx(2 / 2**6)
    assert test.batch_power(0.6) == pytest.approx(stats.binom.pmf(0, 6, 0.8) + stats.binom.pmf(6, 6, 0.8))
    assert Bucketed(2, 12, 2, math.inf, 0.1).batch_power(1.0) == 0


def test_a_vote_for_publishing():
    pytest.importorskip("opendp")
    data = uniform(np.random.default_rng(3), 40, 3)
    assert 0 <= BatchVote.calibrated(epsilon=1.0, n_items=3, n_voters=40, size=0.05).release(data, SECURE).p_value <= 1


@each("make", [Bucketed.calibrated, BatchVote.calibrated])
@each(
    ("asked", "words"),
    [
        ({"n_items": 1}, ("n_items = 1", "2")),
        ({"n_voters": 1}, ("n_voters = 1", "2")),
        ({"epsilon": 0.0}, ("epsilon = 0.0", "above 0")),
        ({"size": 1.0}, ("size = 1.0", "(0, 1)")),
    ],
)
def test_bad_parameters(make, asked, words):
    with refused(*words):
        make(**{"epsilon": 1.0, "n_items": 4, "n_voters": 500} | asked)


def test_more_bad_parameters():
    with refused("coin = 2", "1e-300, 1]"):
        Bucketed(4, 10, 2, 3.0, 2)
    with refused("n_batches = 3", "size = 0.05", "more batches"):
        Bucketed.calibrated(epsilon=1 / 3, n_items=4, n_voters=100, size=0.05, n_batches=3)
    with refused("delta = 1", "[0, 1)"):
        Bucketed(4, 10, 2, 3.0, 0.5, delta=1)
    with refused("delta = 1", "[0, 1)"):
        Bucketed.calibrated(epsilon=1 / 3, delta=1, n_items=4, n_voters=100, size=0.05)
    with refused("batch_level = 0", "(0, 1)"):
        BatchVote.calibrated(epsilon=1 / 3, n_items=4, n_voters=100, size=0.05, batch_level=0)
    with refused("items = 3", "n_items = 4"):
        Bucketed(4, 10, 2, 3.0, 0.5).release(uniform(np.random.default_rng(1), 10, 3), np.random.default_rng(1))
    with refused("SecureSource", "research"):
        Bucketed(3, 10, 2, 3.0, 0.5).release(uniform(np.random.default_rng(1), 10, 3), SECURE)


@pytest.mark.parametrize("kind", [BatchVote, Bucketed])
def test_where_a_voter_stands_tells_nothing_of_the_others(kind):
    """Ann's rows are the first and the last, and which one stays depends on them: all others may move by one place.

    In batches of two by their order, 99 of 100 batches would agree for one of her answers, and 1 for the other.
    """
    votes = kind is BatchVote
    others = [(f"v{v}", *((1, 2) if (v + 1) // 2 % 2 == 0 else (2, 1))) for v in range(199)]
    test = kind.calibrated(
        epsilon=1.0, n_items=2, n_voters=200, n_batches=100, size=0.1, **({"batch_level": 0.5} if votes else {})
    )
    shares = []
    for first, last in [((1, 2), (2, 1)), ((2, 1), (1, 2))]:
        table = pd.DataFrame([("ann", *first), *others, ("ann", *last)], columns=["voter", "a", "b"])
        data = Rankings.from_frame(table, items=["a", "b"], voter="voter")
        shares.append(np.mean([test.release(data, np.random.default_rng(seed)).reject for seed in range(100)]))
    # 100 coins of one bias differ by more than 5 standard errors, 0.354, once in a million
    assert abs(shares[0] - shares[1]) < 0.354
