"""Busa-Fekete et al. (2021) as printed, against enumeration. Seeded tests fail by chance less than once in 10^6."""

import math
from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from checks import all_rankings, each, law_p_value, refused
from scipy import stats

from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact
from dprank.privacy.noise import SECURE
from dprank.privacy.randomized_response import GRAIN
from dprank.uniformity.bucketed import Bucketed
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.truncated import Trun
from dprank.uniformity.two_sample import TwoSample
from dprank.uniformity.unif import unif_null_threshold

EPSILON, DELTA = 1 / 3, 0.05
ALARM = 1e-6


@each(
    ("printed", "claims"),
    [
        (paper.laplace_unif(4, 40, EPSILON, DELTA), Guarantee(EPSILON)),
        (paper.bucketed(4, 40, EPSILON, DELTA), Guarantee(EPSILON)),
        (paper.trun(4, 40, EPSILON, DELTA, 0.5), Guarantee(EPSILON)),
        (paper.local_pairs(4, EPSILON), Guarantee(EPSILON, model="local")),
    ],
)
def test_claims_are_those_of_definitions_1_and_2(printed, claims):
    assert printed.claims == claims
    assert printed.guarantee == printed.mechanism.guarantee
    data = Rankings([[0, 1, 2, 3]] * 40, "abcd")
    assert isinstance(printed.release(data, np.random.default_rng(1)).reject, bool)


# --- two rankings


def test_threshold_and_condition_of_algorithm_1():
    test = paper.two_sample(100, DELTA)
    assert test.threshold == 100 * 99 / 4 - math.sqrt(100**3 * math.log(20) / 12)
    assert test.least_gap == 8 / (107 - math.sqrt(12 * math.log(40) * 100))
    edge = Mallows.of_gap(100, test.least_gap * (1 + 1e-3)).total_variation()
    for epsilon in (0.5, 0.99):
        assert test.applies(epsilon) == (-math.expm1(-theta_at(100, epsilon)) >= test.least_gap)
    assert not test.applies(0.9)
    assert edge == pytest.approx(1, abs=1e-9)  # where line 3 lets it run, the laws hardly overlap


def test_line_3_lets_two_items_pass_at_any_epsilon_and_forty_at_none():
    assert all(paper.two_sample(2, DELTA).applies(epsilon) for epsilon in (1e-6, 0.1, 0.49))
    assert not any(paper.two_sample(40, DELTA).applies(epsilon) for epsilon in (1e-6, 0.5, 1 - 1e-9))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_algorithm_1_keeps_its_size_with_a_threshold_below_the_exact_one(m):
    for delta in (0.4, 0.2, 0.05, 0.01):
        test, best = paper.two_sample(m, delta), TwoSample.calibrated(n_items=m, size=delta)
        data = [Rankings(rows, [f"i{i}" for i in range(m)]) for rows in product(permutations(range(m)), repeat=2)]
        assert np.mean([test.test(two).reject for two in data]) == pytest.approx(test.exact_size, abs=1e-12)
        assert test.exact_size <= delta
        assert best.threshold >= math.floor(test.threshold) or best.threshold == -1


# --- Section 7.2


@each(("m", "n"), [(3, 2), (3, 3), (4, 2)])
@each("centre", ["fixed", "first"])
@each("sided", ["one", "two"])
@pytest.mark.slow
def test_size_of_the_normal_approximation_is_that_over_all_data(m, n, centre, sided):
    items = [f"i{i}" for i in range(m)]
    test = paper.mallows_approximate(m, n, 0.2, centre=centre, sided=sided)
    decisions = [test.test(Rankings(rows, items)) for rows in product(permutations(range(m)), repeat=n)]
    assert np.mean([d.reject for d in decisions]) == pytest.approx(test.exact_size, abs=1e-12)
    assert all(d.reject == (d.p_value <= 0.2 + 1e-12) for d in decisions)


def test_an_estimated_centre_breaks_the_size():
    m, n, delta, repetitions = 5, 20, 0.1, 500
    rng, naive = np.random.default_rng(2), paper.mallows_approximate(m, n, delta, centre="borda")
    data = [Mallows(m, 0.0).sample(n, rng=rng) for _ in range(repetitions)]
    rejected = sum(naive.statistic(rows) >= naive.threshold() for rows in data)
    assert stats.binom.sf(rejected - 1, repetitions, delta) < 1e-12
    assert naive.test(Rankings(data[0], "abcde")).threshold == naive.threshold()
    with refused("centre = 'borda'"):
        _ = naive.exact_size


# --- UNIF


def test_constants_of_algorithm_2():
    assert paper.unif(100, DELTA).threshold == pytest.approx(50 + 20 * math.sqrt(math.log(20)))
    phi = 0.9
    assert paper.unif_bias(40, -math.log(phi)) == pytest.approx((1 - phi**5) / (1 + phi**5))
    m1 = 100 / 8 - math.sqrt(100 * math.log(40) / 16)
    need = 12 * 100 * math.log(40) / m1**2 + 10 * math.sqrt(100 * math.log(40) / m1**2)
    mu = (1 - phi**12.5) / (1 + phi**12.5)
    assert paper.unif_samples(100, -math.log(phi), DELTA) == 1 + math.ceil(need / mu**2)
    assert paper.unif_samples(12, 0.1, 2 * math.exp(-3)) == math.inf
    assert paper.unif_samples(100, 0.0, DELTA) == math.inf


# --- central privacy


def test_size_of_algorithm_4_is_at_most_delta():
    for m, n in ((10, 10_000), (100, 1000), (2, 6)):
        printed = paper.laplace_unif(m, n, EPSILON, DELTA)
        assert printed.guarantee.epsilon == pytest.approx((1 - 1 / n) / 3)
        assert printed.mechanism.null_sf(printed.mechanism.threshold) <= DELTA
    assert printed.guarantee.epsilon < printed.claims.epsilon
    with refused("rng", "research"):
        paper.laplace_unif(3, 3, 1.0, DELTA).release(Rankings([[0, 1, 2]] * 3, "abc"), SECURE)


@pytest.mark.parametrize("batches", [2, 3, 7])
def test_without_a_coin_no_ratio_is_bounded(batches):
    test = paper.bucketed(10, 100 * batches, 1 / batches, DELTA).mechanism
    rejection = np.arange(batches + 1) / batches
    pairs = [((a, 1 - a), (b, 1 - b)) for a, b in pairwise(rejection)]
    assert (test.n_batches, max(privacy_loss(*pair) for pair in pairs)) == (batches, math.inf)
    delta = max(abs(p[0] - q[0]) for p, q in pairs)
    assert (test.guarantee.epsilon, test.guarantee.delta) == (0, pytest.approx(delta))
    assert paper.bucketed(10, 100, 1.0, DELTA).guarantee.epsilon == math.inf


def test_the_library_refuses_a_batch_without_a_coin():
    printed = paper.bucketed(4, 40, 0.5, DELTA).mechanism
    with refused("coin = 0.0"):
        Bucketed(4, 40, printed.n_batches, printed.batch_threshold, 0.0)
    for change in ({"coin": 0.5}, {"delta": 0.1}):
        with refused("as printed"):
            replace(printed, **change)


def test_number_of_batches():
    assert paper.bucketed(10, 1000, 0.33, DELTA).mechanism.n_batches == 4
    third = paper.bucketed(10, 1000, EPSILON, DELTA).mechanism
    assert (third.n_batches, third.batch_voters) == (3, 333)


@pytest.mark.slow
def test_size_of_the_printed_batches_is_exact():
    rng, test, runs = np.random.default_rng(7), paper.PrintedBucketed(5, 60, 3, 4.0), 3000
    rejected = 0
    for _ in range(runs):
        data = Rankings(rng.permuted(np.tile(np.arange(5), (60, 1)), axis=1), "abcde")
        rejected += test.release(data, rng).reject
    assert law_p_value([runs - rejected, rejected], [1 - test.exact_size, test.exact_size]) > ALARM


def drawn(test, total, y, rng, draws=20_000):
    """Algorithm 3 line by line."""
    z = rng.laplace(0, test.scale, draws)
    cut = test.scale * math.log(1 / test.coin)
    coin = np.abs(z) > cut
    mean = 2 * total / (test.n_items * test.n_voters)
    rejected = np.abs(mean + z) > test.gate + cut
    p = min(1, max(0, (y - test.start) / test.width))
    b = rng.random(draws) < p
    accept = np.where(coin, rng.random(draws) < 0.5, ~rejected & (b if test.accept_large else ~b))
    return int(accept.sum()), draws


@each("accept_large", [True, False])
@each(("total", "y"), [(0, 2.0), (0, 3.5), (40, 3.5), (-140, 9.0), (230, 5.0)])
def test_acceptance_is_that_of_algorithm_3(total, y, accept_large):
    test = paper.trun(4, 100, 0.5, 0.2, 0.6, accept_large=accept_large).mechanism
    accepted, draws = drawn(test, total, y, np.random.default_rng(7))
    p = float(test.acceptance(y, total))
    assert law_p_value([accepted, draws - accepted], [p, 1 - p]) > ALARM


def test_constants_of_algorithm_3():
    test = paper.trun(10, 50, EPSILON, DELTA, 0.3).mechanism
    assert test.scale == pytest.approx(4 / (50 * DELTA * EPSILON))
    assert test.gate == pytest.approx(math.sqrt(2 * math.log(2 / DELTA) / 500))
    assert 1 / test.width == pytest.approx(16 / (10 * 0.3**2 * 49))
    assert (test.start, test.accept_large, test.coin) == (5, True, DELTA)


def all_data(test):
    """Acceptance probability of every sequence of sign vectors; the rows are neighbours."""
    pairs, k = test.n_items // 2, test.n_voters
    signs = np.array(list(product((-1, 1), repeat=pairs)))
    sums = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=k)])
    return test.accepts(sums).reshape(len(signs), -1)


def exact_loss(accept):
    return max(np.ptp(np.log(p), axis=0).max() for p in (accept, 1 - accept))


@each(("m", "k"), [(2, 2), (2, 7), (3, 4), (4, 2), (4, 5), (5, 3), (6, 3)])
@each(("delta", "mu"), [(0.05, 0.5), (0.6, 1.0)])
def test_guarantee_of_algorithm_3_covers_all_data(m, k, delta, mu):
    for accept_large in (True, False):
        test = paper.trun(m, k, 2.0, delta, mu, accept_large=accept_large).mechanism
        assert exact_loss(all_data(test)) <= test.guarantee.epsilon
        # wide ramps, where the loss is below its ceiling
        wide = replace(test, width=20 * m, start=0.5, gate=math.inf)
        assert exact_loss(all_data(wide)) <= wide.guarantee.epsilon
        assert wide.guarantee.epsilon < math.log((2 - delta) / delta)


def test_smallest_counterexample_to_theorem_6():
    printed = paper.trun(2, 2, EPSILON, DELTA, 0.5)
    assert exact_loss(all_data(printed.mechanism)) == pytest.approx(math.log((2 - DELTA) / DELTA))
    data, other = (Rankings(rows, "ab") for rows in ([[0, 1], [0, 1]], [[1, 0], [0, 1]]))
    found = exact(printed.mechanism, data, other).epsilon(0.0)
    assert found == pytest.approx(math.log((2 - DELTA) / DELTA))
    assert found > printed.claims.epsilon


def test_without_gate_and_with_answers_exchanged_it_is_the_library_s():
    printed = replace(paper.trun(4, 5, 2.0, 0.3, 0.5, accept_large=False).mechanism, width=50.0)
    free = replace(printed, gate=math.inf)
    right = Trun(4, 5, coin=free.coin, start=free.start, width=free.width)
    assert all_data(free) == pytest.approx(all_data(right), abs=1e-15)
    assert free.guarantee == right.guarantee
    assert printed.guarantee.epsilon > right.guarantee.epsilon


# --- local privacy


@each("m", [2, 3, 4, 5, 6])
@each("epsilon", [EPSILON, 1.0, 5.0])
def test_guarantee_of_algorithm_5_is_the_exact_loss_of_a_voter(m, epsilon):
    printed = paper.local_pairs(m, epsilon)
    test = printed.mechanism
    signs = pair_signs(all_rankings(m), test.pairs(np.random.default_rng(0)))
    sent = np.array(list(product((-1, 1), repeat=m // 2)))
    kept = 1 - test.flips / GRAIN
    law = np.where(signs[:, None] == sent, kept, 1 - kept).prod(-1)
    assert printed.guarantee.epsilon == pytest.approx(float(np.ptp(np.log(law), axis=0).max()), rel=1e-12)
    # an odd number of items spends less than is claimed
    assert printed.guarantee.epsilon == pytest.approx(epsilon * (m // 2 * 2) / m)
    assert printed.claims == Guarantee(epsilon, model="local")


def test_threshold_of_algorithm_6():
    test = paper.local_pairs(4, 1.0, DELTA).mechanism
    threshold = test.decide(np.ones((9, 2), np.int8)).threshold
    assert threshold == pytest.approx(2 + 2 * math.sqrt(4 * math.log(20))) == paper.unif_threshold(4, DELTA)
    assert threshold > unif_null_threshold(2, 9, DELTA)
    agreeing = Rankings(Mallows(6, 1.0).sample(3_000, rng=np.random.default_rng(0)), "abcdef")
    assert paper.local_pairs(6, 4.0).release(agreeing, np.random.default_rng(1)).reject


# --- what is refused


@each(
    ("make", "words"),
    [
        (lambda: paper.laplace_unif(1, 5, 1.0, 0.05), ("n_items = 1", "2")),
        (lambda: paper.laplace_unif(4, 1, 1.0, 0.05), ("n_voters = 1", "2")),
        (lambda: paper.laplace_unif(4, 5, math.nan, 0.05), ("epsilon = nan", "above 0")),
        (lambda: paper.laplace_unif(4, 5, 1.0, 0.0), ("size = 0.0", "(0, 1)")),
        (lambda: paper.laplace_unif(4, 5, 5e-324, 0.05), ("epsilon = 5e-324",)),
        (lambda: paper.bucketed(4, 500, 0.0, 0.05), ("epsilon = 0.0", "above 0")),
        (lambda: paper.bucketed(4, 500, 1.0, 1.0), ("size = 1.0", "(0, 1)")),
        (lambda: paper.bucketed(4, 100, 1e-300, 0.05), ("epsilon = 1e-300", "n_voters = 100")),
        (lambda: paper.trun(4, 4, 0, 0.1, 0.5), ("epsilon = 0",)),
        (lambda: paper.trun(4, 4, 1, 2, 0.5), ("size = 2",)),
        (lambda: paper.trun(4, 4, 1, 0.1, 0), ("mu = 0",)),
        (lambda: paper.trun(4, 100, 1e-300, 1e-3, 0.5), ("epsilon = 1e-300",)),
        (lambda: replace(paper.trun(4, 4, 1, 0.1, 0.5).mechanism, scale=0), ("scale = 0",)),
        (lambda: replace(paper.trun(4, 4, 1, 0.1, 0.5).mechanism, gate=-1), ("gate = -1",)),
        (lambda: paper.local_pairs(0, 1.0), ("n_items = 0",)),
        (lambda: paper.two_sample(5, 0.0), ("size = 0.0", "(0, 1)")),
        (lambda: paper.two_sample(1, 0.1), ("n_items = 1",)),
        (lambda: paper.unif(4, 0), ("size = 0",)),
        (lambda: paper.two_sample(2, 0.05).applies(0.5), ("epsilon = 0.5",)),
    ],
)
def test_bad_input(make, words):
    with refused(*words):
        make()
