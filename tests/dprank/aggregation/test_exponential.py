"""Exact but for the law of the draws; their seed is fixed, ALARM: the chance that it was unlucky."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import law_p_value, refused
from scipy.special import logsumexp

from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.matrix import kemeny_score
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE

ALARM = 1e-6


def profile(m, voters, seed=0):
    rng = np.random.default_rng([seed, m])
    return Rankings(np.array([rng.permutation(m) for _ in range(voters)]), [str(i) for i in range(m)])


def listed(mechanism, votes):
    """All orders, their costs and their probabilities."""
    orders = np.array(list(permutations(range(len(votes)))))
    cost = np.array([kemeny_score(order, votes) for order in orders])
    weight = np.exp(-mechanism.rate * (cost - cost.min()))
    return orders, cost, weight / weight.sum()


def histogram(draws):
    m = draws.shape[1]
    code = m ** np.arange(m)
    keys = np.array(list(permutations(range(m)))) @ code
    rank = np.argsort(keys)
    found = np.bincount(np.searchsorted(keys[rank], draws @ code), minlength=len(keys))
    return found[np.argsort(rank)]


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_draws_have_the_law_of_the_list(m):
    votes = profile(m, 9).pairwise()
    mechanism = ExponentialMechanism.calibrated(n_items=m, epsilon=3.0)
    _, cost, law = listed(mechanism, votes)
    counts = histogram(mechanism.draw(votes, 30_000, np.random.default_rng(m)))
    assert law_p_value(counts, law) > ALARM
    assert mechanism.expected_disagreements(votes) == pytest.approx(law @ cost, rel=1e-12)
    # turned round, or with half of the rate, it is another law
    assert law_p_value(counts, listed(mechanism, votes.T)[2]) < ALARM
    assert law_p_value(counts, listed(ExponentialMechanism(m, mechanism.rate / 2), votes)[2]) < ALARM


@pytest.mark.parametrize("m", [7, 12])
def test_one_voter_gives_a_mallows_law(m):
    """Its mean distance is a sum of those of the insertions, whatever the ranking."""
    mechanism, votes = ExponentialMechanism(m, 0.4), profile(m, 1).pairwise()
    steps = (np.arange(j) for j in range(1, m + 1))
    mean = sum((s * np.exp(-0.4 * s)).sum() / np.exp(-0.4 * s).sum() for s in steps)
    assert mechanism.expected_disagreements(votes) == pytest.approx(mean, rel=1e-12)


def test_large_rates_do_not_overflow():
    votes = profile(10, 100_001).pairwise()
    orders = ExponentialMechanism(10, 50.0).draw(votes, 3, np.random.default_rng(0))
    assert (orders == orders[0]).all()
    assert ExponentialMechanism(10, 50.0).expected_disagreements(votes) == kemeny_score(orders[0], votes)
    assert ExponentialMechanism(5, 0.0).expected_disagreements(profile(5, 7).pairwise()) == pytest.approx(35)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_guarantee_is_approached_and_never_passed(adjacency):
    mechanism = ExponentialMechanism.calibrated(n_items=4, epsilon=1.5, adjacency=adjacency)
    one = Rankings([[0, 1, 2, 3]], list("abcd")).pairwise()

    def loss(others):
        """One voter turns round, or is added, the reverse of all others."""
        laws = []
        for votes in (others * one + one * (adjacency == "replace"), others * one + one.T):
            cost = listed(mechanism, votes)[1]
            laws.append(-mechanism.rate * cost - logsumexp(-mechanism.rate * cost))
        return privacy_loss(*laws, log=True)

    losses = [loss(n) for n in (0, 5, 20, 200)]
    assert (np.diff(losses) > 0).all()
    assert 1.499 < losses[-1] <= 1.5 + 1e-9
    if adjacency == "replace":
        assert losses[0] == pytest.approx(0.75)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_calibrated_is_the_fastest_decay_that_keeps_its_word(adjacency):
    for m in (2, 3, 10, 22):
        with refused("epsilon = 5e-324", "blindly"):
            ExponentialMechanism.calibrated(n_items=m, epsilon=5e-324, adjacency=adjacency)
        for epsilon in [1e-300, 1e-9, 1e300, *np.geomspace(1e-6, 1e3, 200)]:
            rate = ExponentialMechanism.calibrated(n_items=m, epsilon=epsilon, adjacency=adjacency).rate
            faster = np.nextafter(rate, np.inf)
            kept, lost = (ExponentialMechanism(m, r, adjacency=adjacency).guarantee.epsilon for r in (rate, faster))
            assert kept <= epsilon < lost


def test_a_release_is_an_order_with_its_guarantee():
    mechanism, data = ExponentialMechanism.calibrated(n_items=5, epsilon=1.0), profile(5, 40)
    released = mechanism.release(data, np.random.default_rng(0))
    assert sorted(released.order) == [0, 1, 2, 3, 4]
    assert released.guarantee == mechanism.guarantee
    assert mechanism.guarantee.epsilon <= 1
    assert mechanism.rho == pytest.approx(1 / 8)
    assert ExponentialMechanism.calibrated(n_items=5, epsilon=1.0, adjacency="add_remove").rate == pytest.approx(0.1)


def test_bad_input_is_refused():
    with refused("n_items = 23", "22"):
        ExponentialMechanism(23, 1.0)
    with refused("rate = -1"):
        ExponentialMechanism(3, -1.0)
    with refused("adjacency = 'edge'"):
        ExponentialMechanism(3, 1.0, adjacency="edge")
    with refused("epsilon = 0"):
        ExponentialMechanism.calibrated(n_items=3, epsilon=0.0)
    with refused("4", "n_items = 3"):
        ExponentialMechanism(3, 1.0).release(profile(4, 2), np.random.default_rng(0))
    with refused("votes", "n_items = 3"):
        ExponentialMechanism(3, 1.0).expected_disagreements(np.zeros((4, 4)))
    with refused("rng", "research"):
        ExponentialMechanism(3, 1.0).release(profile(3, 2), SECURE)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_additive_error_bounds_the_exact_mean(adjacency):
    shares = []
    for m, voters, epsilon in product((2, 3, 5), (1, 20), (0.1, 1.0, 20.0)):
        mechanism = ExponentialMechanism.calibrated(n_items=m, epsilon=epsilon, adjacency=adjacency)
        votes = voters * np.triu(np.ones((m, m)), 1)  # unanimous: the least score is 0
        bound = mechanism.additive_error(voters)
        assert bound == pytest.approx(mechanism.spread * math.lgamma(m + 1) / (epsilon * voters))
        shares.append(mechanism.expected_disagreements(votes) / voters / bound)
    assert 0.25 < max(shares) <= 1
    assert mechanism.ratio == 1
    assert ExponentialMechanism(3, 0.0).additive_error(5) == math.inf
    with refused("n_voters = 0"):
        mechanism.additive_error(0)
