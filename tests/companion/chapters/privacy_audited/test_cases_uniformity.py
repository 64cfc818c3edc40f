"""Exact laws against brute force, ROUNDING a float's. Samples and bets with fixed seeds: false alarm ALARM each."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from checks import all_rankings, each
from scipy import stats
from scipy.special import logsumexp

from companion.chapters.privacy_audited.cases import uniformity
from companion.chapters.privacy_audited.cases.uniformity import agreeing
from companion.printed import busafekete2021 as paper
from dprank.data.rankings import Rankings
from dprank.privacy.divergence import LaplaceShift, discrete_laplace_shift, pair_of
from dprank.privacy.laws import exact, features
from dprank.uniformity import BatchVote, Bucketed, LaplaceUnif, NoisyNorm, OptimalVote, Trun
from dprank.uniformity.bucketed import vote_sf
from dprank.uniformity.laws import NoisyReals, noisy_integers, pairings
from dprank.uniformity.optimal_vote import noisy_vote_sf
from dprank.uniformity.pairs import disjoint_pairs

ROUNDING, ALARM = 1e-9, 1e-6
EPSILONS = np.array([0.0, 0.1, 0.5, 0.9, 2.0])
NUMBERS = [([0], [3]), ([3, 3, 5], [4, 5]), ([2, 9], [2]), ([1], [1])]


@each("scale", [0.7, 5.0])
@each(("p", "q"), NUMBERS)
def test_noise_on_integers_by_listing_outcomes(p, q, scale):
    outcomes = np.arange(-400, 400)[:, None]
    logs = [logsumexp(-np.abs(outcomes - values) / scale, axis=1) for values in (np.array(p), np.array(q))]
    listed = pair_of(*(law - logsumexp(law) for law in logs), log=True)
    law = noisy_integers(p, q, scale)
    assert law.delta(EPSILONS) == pytest.approx(listed.delta(EPSILONS), abs=ROUNDING)
    assert law.epsilon(0.0) == pytest.approx(listed.epsilon(0.0), abs=ROUNDING)
    assert law.epsilon(0.03) == pytest.approx(listed.epsilon(0.03), abs=ROUNDING)


@each(("p", "q"), NUMBERS)
def test_noise_on_reals_by_integration(p, q):
    scale, x = 1.7, np.linspace(-60, 70, 130_001)
    law = NoisyReals(p, q, scale)
    first, second = (stats.laplace.pdf(x[:, None], values, scale).mean(1) for values in (p, q))
    above = np.exp(EPSILONS)[:, None]
    excess = [np.maximum(a - above * b, 0).sum(1) * (x[1] - x[0]) for a, b in ((first, second), (second, first))]
    assert law.delta(EPSILONS) == pytest.approx(np.maximum(*excess), abs=1e-5)
    near = np.abs(x) < 15
    assert law.epsilon(0.0) == pytest.approx(np.abs(np.log(first / second))[near].max(), abs=ROUNDING)
    for delta in (0.01, 0.2):
        epsilon = law.epsilon(delta)
        assert epsilon == 0 or float(law.delta(epsilon)) == pytest.approx(delta)


def test_noise_on_one_number_is_a_shift():
    for law, shift in (
        (NoisyReals([0], [3], 1.5), LaplaceShift([3.0], 1.5)),
        (noisy_integers([0], [3], 1.5), discrete_laplace_shift([3], 1.5)),
    ):
        assert law.delta(EPSILONS) == pytest.approx(shift.delta(EPSILONS), abs=ROUNDING)
        assert law.epsilon(0.1) == pytest.approx(shift.epsilon(0.1), abs=ROUNDING)


@each("m", [2, 3, 4])
def test_pairings_are_all_that_may_be_drawn(m):
    rng = np.random.default_rng(1)
    drawn = {tuple(disjoint_pairs(m, rng=rng).ravel().tolist()) for _ in range(500)}
    assert drawn == {tuple(pairs.ravel().tolist()) for pairs in pairings(m)}


def worst(test, m, k, *, ordered=False):
    """Largest loss over all data and neighbours; items are alike, and so are rankings unless `ordered`."""
    rankings, pairs = all_rankings(m), set()
    rows = range(len(rankings))
    for others in product(rows, repeat=k - 1) if ordered else combinations_with_replacement(rows, k - 1):
        first = (0, *others)
        for place, new in product(range(k), rows):
            second = (*first[:place], new, *first[place + 1 :])
            pairs.add(tuple(sorted(one if ordered else tuple(sorted(one)) for one in (first, second))))
    return max(
        exact(test, *(Rankings(rankings[list(some)], "abcd"[:m]) for some in pair)).epsilon(test.guarantee.delta)
        for pair in pairs
    )


@each(("m", "k"), [(3, 3), (4, 2)])
@pytest.mark.slow
def test_reversing_one_of_agreeing_rankings_is_the_worst(m, k):
    asked = {"epsilon": 1.0, "n_items": m, "n_voters": k}
    tests: list[LaplaceUnif | NoisyNorm] = [LaplaceUnif.calibrated(**asked, size=0.1)]
    if m == 3:
        ranks = NoisyNorm.calibrated(**asked, size=0.25, statistic="ranks", null_draws=3)
        tests += [replace(tests[0], law="continuous"), NoisyNorm.calibrated(**asked), ranks]
    for test in tests:
        stored = exact(test, agreeing(m, k), agreeing(m, k, 1)).epsilon(0.0)
        assert worst(test, m, k) == pytest.approx(stored, abs=ROUNDING)
        assert stored == pytest.approx(1, abs=ROUNDING)


BATCHED = [
    BatchVote.calibrated(epsilon=1.0, n_items=2, n_voters=6, size=0.3, n_batches=3, batch_level=0.5),
    *(OptimalVote(2, 6, 3, 2.0, 1.0, 1.5, bound) for bound in (math.inf, 4.3, 0.8)),
    *(Bucketed(2, 6, 3, 2.0, 0.3, delta=delta) for delta in (0.0, 0.1)),
    paper.PrintedBucketed(2, 6, 3, 2.0),
]


@each("test", BATCHED)
def test_reversing_one_ranking_of_agreeing_batches_is_the_worst(test):
    stored = exact(test, agreeing(2, 6), agreeing(2, 6, 1)).epsilon(test.guarantee.delta)
    assert worst(test, 2, 6, ordered=True) == pytest.approx(stored, abs=ROUNDING)
    assert stored == pytest.approx(test.guarantee.epsilon, abs=ROUNDING)


@each(("m", "k"), [(2, 7), (3, 3)])
def test_truncated_on_all_data_keeps_its_guarantee(m, k):
    right = Trun.calibrated(epsilon=1.0, n_items=m, n_voters=k, size=0.3)
    for test in (right, paper.trun(m, k, 1.0, 0.3, 0.7).mechanism):
        split = max(exact(test, agreeing(m, k, d), agreeing(m, k, d + 1)).epsilon(0.0) for d in range(k))
        loss = worst(test, m, k)
        assert split - ROUNDING <= loss <= test.guarantee.epsilon
        if m == 2:
            assert loss == pytest.approx(split, abs=ROUNDING)


def test_decision_and_p_value_follow_from_the_statistic():
    rng = np.random.default_rng(5)
    for case in uniformity.cases():
        test = case.mechanism
        said = test.release(case.data, rng)
        if isinstance(test, Trun):
            assert len(features(said)) == 1
            continue
        assert features(said).tolist() == [said.reject, said.statistic]
        if getattr(test, "statistic", None) == "ranks":  # simulated, from uniform rankings
            continue
        assert said.reject == (said.statistic >= said.threshold)
        if isinstance(test, LaplaceUnif):
            assert said.p_value == pytest.approx(float(test.null_sf(said.statistic)))
        elif isinstance(test, NoisyNorm):
            assert said.p_value == pytest.approx(test.p_value(said.statistic))
        elif isinstance(test, BatchVote):
            rest = vote_sf(test.n_batches, test.batch_power(), test.scale, int(said.statistic))
            assert said.p_value == pytest.approx(rest)
        elif isinstance(test, OptimalVote):
            rest = noisy_vote_sf(test.n_batches, test.batch_power(), test.scale, test.bound, said.statistic)
            assert said.p_value == pytest.approx(rest)
