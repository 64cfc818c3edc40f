"""Exact against brute force and scipy; the simulated null at fixed seeds, a binomial p-value against FALSE_ALARM."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import each, refused
from scipy import stats

from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.uniformity.friedman import Friedman, friedman_statistic, null_rank_sums

FALSE_ALARM = 1e-6


def rankings(positions):
    rows = np.asarray(positions)
    return Rankings(rows, [f"i{j}" for j in range(rows.shape[1])])


def brute_force(m, n):
    """All data sets: statistic by its definition, in fractions of one."""
    law = {}
    every = list(permutations(range(m)))
    for data in product(every, repeat=n):
        sums = np.sum(data, axis=0)
        value = round(12 * ((sums - n * (m - 1) / 2) ** 2).sum() / (n * m * (m + 1)), 9)
        law[value] = law.get(value, 0) + len(every) ** -n
    return law


@each(("m", "n"), [(2, 2), (2, 5), (3, 2), (3, 4), (4, 2), (4, 3)])
def test_null_law_is_that_of_all_data_sets(m, n):
    values, law = Friedman(m, n).null()
    expected = brute_force(m, n)
    np.testing.assert_allclose(values, sorted(expected))
    np.testing.assert_allclose(law, [expected[v] for v in sorted(expected)])


@pytest.mark.slow
def test_moments_of_larger_null_laws():
    for m, n in ((3, 60), (4, 15), (5, 6), (6, 3), (6, 2)):
        values, law = Friedman(m, n).null()
        assert Friedman(m, n).enumerated
        assert law.sum() == pytest.approx(1)
        assert law @ values == pytest.approx(m - 1)
        assert law @ values**2 - (m - 1) ** 2 == pytest.approx(2 * (m - 1) * (n - 1) / n)


def test_statistic_is_scipys():
    rng = np.random.default_rng(1)
    for m, n in ((3, 4), (8, 5), (40, 12)):
        rows = Mallows(m, 0.05).sample(n, rng=rng)
        assert Friedman(m, n).statistic(rankings(rows)) == pytest.approx(stats.friedmanchisquare(*rows.T).statistic)


def test_extremes_and_spearman():
    assert Friedman(5, 3).statistic(rankings([[0, 1, 2, 3, 4]] * 3)) == pytest.approx(3 * 4)
    assert Friedman(3, 3).statistic(rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]])) == 0
    a, b = np.random.default_rng(2).permuted(np.tile(np.arange(9), (2, 1)), axis=1)
    spearman = stats.spearmanr(a, b).statistic
    assert Friedman(9, 2).statistic(rankings([a, b])) == pytest.approx(8 * (1 + spearman))


def test_names_of_items_and_order_of_rankings_do_not_matter():
    rng = np.random.default_rng(3)
    rows = Mallows(12, 0.1).sample(6, rng=rng)
    test = Friedman(12, 6)
    mixed = rows[rng.permutation(6)][:, rng.permutation(12)]
    assert test.statistic(rankings(mixed)) == test.statistic(rankings(rows))


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_exact_size_and_threshold(delta):
    for m, n in ((2, 6), (3, 5), (4, 4)):
        test = Friedman(m, n, delta)
        values, law = test.null()
        rejected = law[values >= test.test(rankings([[*range(m)]] * n)).threshold - 1e-9].sum()
        assert rejected <= delta * (1 + 1e-9)
        # the next value would be too many
        rest = values < test.test(rankings([[*range(m)]] * n)).threshold
        assert rejected + law[rest][-1] > delta


def test_decision_agrees_with_the_tail():
    m, n = 4, 3
    values, law = Friedman(m, n).null()
    rng = np.random.default_rng(4)
    for _ in range(50):
        rows = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)
        decision = Friedman(m, n, 0.2).test(rankings(rows))
        tail = law[values >= decision.statistic - 1e-9].sum()
        assert decision.p_value == pytest.approx(tail)
        assert decision.reject == (decision.p_value <= 0.2) == (decision.statistic >= decision.threshold)


def test_two_rankings_of_two_items_say_nothing():
    decision = Friedman(2, 2).test(rankings([[0, 1], [0, 1]]))
    assert not decision.reject
    assert decision.threshold == math.inf
    assert decision.p_value == 0.5


def simulated_p_values(certify, repetitions=2000):
    """P-values of uniform rankings from 19 simulated statistics each."""
    rng = np.random.default_rng(5)
    drawn = friedman_statistic(null_rank_sums(rng, repetitions, 4, 10), 4)
    null = friedman_statistic(null_rank_sums(rng, 19 * repetitions, 4, 10), 4).reshape(repetitions, 19)
    return certify((null >= drawn[:, None]).sum(axis=1), 19)


def test_simulated_null_keeps_the_size():
    """At delta = 1/20 the size is at most 1/20; a twin without the two ones rejects twice as often and is caught."""
    for certify, kept in ((lambda c, r: (1 + c) / (r + 1), True), (lambda c, r: c / r, False)):
        rejected = int((simulated_p_values(certify) <= 0.0527).sum())
        p = stats.binom.sf(rejected - 1, 2000, 0.05)
        assert (p > FALSE_ALARM) == kept


def test_simulated_null_is_the_exact_one():
    sums = null_rank_sums(np.random.default_rng(6), 4000, 3, 4)
    values, law = Friedman(4, 3).null()
    drawn = friedman_statistic(sums, 3)
    for value, tail in zip(values, np.cumsum(law[::-1])[::-1], strict=True):
        at_least = int((drawn >= value).sum())
        assert stats.binomtest(at_least, 4000, min(tail, 1)).pvalue > FALSE_ALARM
    assert (sums.sum(axis=1) == 3 * 6).all()


def test_simulated_decision():
    rng = np.random.default_rng(7)
    test = Friedman(50, 10, draws=199)
    assert not test.enumerated
    clear = test.test(rankings(Mallows(50, 0.1).sample(10, rng=rng)), rng=rng)
    assert clear.reject
    assert clear.p_value == 1 / 200
    assert clear.statistic > clear.threshold > 49
    again = [test.test(rankings(Mallows(50, 0.0).sample(10, rng=np.random.default_rng(8))), rng=rng) for _ in (1, 2)]
    assert all(d.reject == (d.p_value <= 0.05) == (d.statistic >= d.threshold) for d in again)


def test_bad_input():
    with refused("n_items = 1", "from 2"):
        Friedman(1, 3)
    with refused("n_voters = 1", "from 2"):
        Friedman(3, 1)
    with refused("n_items = 2.5"):
        Friedman(2.5, 3)
    for delta in (0, 1, math.nan):
        with refused(f"size = {delta}"):
            Friedman(3, 3, delta)
    with refused("draws = 18", "19"):
        Friedman(3, 3, draws=18)
    with refused("n_voters = 3"):
        Friedman(3, 3).statistic(rankings([[0, 1, 2]] * 2))
    with refused("rng = None"):
        Friedman(30, 30).test(rankings([[*range(30)]] * 30))
