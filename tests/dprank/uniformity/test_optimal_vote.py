"""Tulap noise by enumeration, and power by linear programs; seeded tests fail by chance less than once in 10^6."""

import json
import math
from bisect import bisect_left

import numpy as np
import pytest
from checks import doubted, each, law_p_value, refused
from scipy import stats
from scipy.optimize import linprog

from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.release import Decision
from dprank.uniformity.bucketed import BatchVote, vote_sf
from dprank.uniformity.optimal_vote import OptimalVote, noisy_vote_sf
from dprank.uniformity.tulap import NARROWEST, UNIT, WIDEST, tulap, tulap_bound, tulap_delta, tulap_law, tulap_sf

FALSE_ALARM = 1e-6
#: A step of the grid, relative to what a whole vote weighs.
GRID = 2.0 / UNIT
BOUNDS = [
    (1.0, NARROWEST),
    (1.0, 0.75),
    (2.0, 3.25),
    (0.3, 1.6875),
    (5.0, 40.5),
    (5.0, 40.75),
    (1e9, 2.25),
    (1.0, math.inf),
    (0.4, math.inf),
]


def grid_law(scale, bound, bits=4, reach=60):
    """Noise on a coarse grid, point by point: odd multiples of 2^-(bits + 1) next to each whole number."""
    unit = 2 << bits
    odd = np.arange(-(unit // 2) + 1, unit // 2, 2)
    whole = np.repeat(np.arange(-reach, reach + 1), len(odd))
    points = whole + np.tile(odd, 2 * reach + 1) / unit
    weights = np.exp(-np.abs(whole) / scale) * (np.abs(points) <= bound)
    return points, weights / weights.sum()


@each(("scale", "bound"), BOUNDS[1:])
def test_the_tail_and_the_delta_by_listing_a_coarse_grid(scale, bound):
    points, law = grid_law(scale, bound)
    for x in np.arange(-4, 4.01, 0.25):
        # no point of either grid lies between two multiples of 2^-4
        assert float(tulap_sf(x, scale, bound)) == pytest.approx(law[points >= x].sum(), abs=1e-12)
    if bound == math.inf:
        assert tulap_delta(scale, bound) == 0
        return
    moved = dict(zip((points + 1).tolist(), law, strict=True))
    for epsilon in (1 / scale, 2 / scale):
        lost = sum(max(p - math.exp(epsilon) * moved.get(x, 0.0), 0) for x, p in zip(points.tolist(), law, strict=True))
        assert tulap_delta(scale, bound) == pytest.approx(lost, rel=1e-9)
    assert tulap_delta(scale, bound) >= lost


@each(("scale", "bound"), BOUNDS)
def test_draws_are_of_that_law(scale, bound):
    draws = tulap(np.zeros(20_000, int), scale, bound, rng=np.random.default_rng(3))
    assert np.abs(draws).max() <= bound
    assert (draws * UNIT % 2 == 1).all()
    ends = np.unique(np.quantile(draws, np.linspace(0, 1, 12)[1:-1]))
    chances = -np.diff(np.r_[1.0, tulap_sf(ends, scale, bound), 0.0])
    counts = np.bincount(np.searchsorted(ends, draws, side="right"), minlength=len(chances))
    assert law_p_value(counts, chances) > FALSE_ALARM
    # the mutant: the sign of 0 is not fair
    twisted = np.where(np.abs(draws) < 0.5, np.abs(draws), draws)
    counts = np.bincount(np.searchsorted(ends, twisted, side="right"), minlength=len(chances))
    assert law_p_value(counts, chances) < FALSE_ALARM or scale > 2


@each(("scale", "bound"), BOUNDS[:-2])
def test_the_law_by_parts(scale, bound):
    if scale > 1e6:
        scale = 1e6
    whole, law = tulap_law(scale, bound)
    assert law.sum() == pytest.approx(1)
    assert law.sum(axis=1) == pytest.approx(tulap_sf(whole - 0.5, scale, bound) - tulap_sf(whole + 0.5, scale, bound))
    none = np.zeros((1, 3))
    first, second = np.vstack([law, none]), np.vstack([none, law])
    for epsilon in (1 / scale, 1.5 / scale):
        lost = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        assert tulap_delta(scale, bound) == pytest.approx(lost, rel=1e-9)


@each("epsilon", [1e-6, 0.1, 1.0, 3.0, 40.0])
@each("delta", [1e-12, 1e-6, 0.01, 0.3, 0.9, 1 - 1e-9])
def test_the_bound_is_that_of_awan_and_slavkovic(epsilon, delta):
    if epsilon == 1e-6 and delta < 1e-3:
        assert tulap_delta(1 / epsilon, tulap_bound(1 / epsilon, delta)) <= delta
        return
    bound = tulap_bound(1 / epsilon, delta)
    assert tulap_delta(1 / epsilon, bound) <= delta
    b = math.exp(-epsilon)
    q = 2 * delta * b / (1 - b + 2 * delta * b)
    if bound > NARROWEST and q > 1e-300:
        assert tulap_delta(1 / epsilon, bound - GRID) > delta
        assert 2 * float(tulap_sf(bound, 1 / epsilon)) == pytest.approx(q, rel=1e-5)


def decision(test):
    """Probability to reject each number of votes."""
    return tulap_sf(test.threshold - np.arange(test.n_batches + 1), test.scale, test.bound)


PROMISES = [(1.0, 0.0), (0.3, 0.0), (1.0, 1e-3), (0.3, 0.05), (2.0, 0.2), (0.01, 0.3)]


@each(("epsilon", "delta"), PROMISES)
@each("size", [0.01, 0.3])
def test_the_decision_is_the_recursion_from_its_own_start(epsilon, delta, size):
    test = OptimalVote.calibrated(
        epsilon=epsilon, delta=delta, n_items=4, n_voters=400, size=size, n_batches=20, batch_level=0.2
    )
    assert test.exact_size == pytest.approx(size, rel=1e-5)
    assert test.exact_size <= size
    chances = decision(test)
    e, before = math.exp(epsilon), chances[:-1]
    grown = np.minimum(np.minimum(e * before + delta, 1 - (1 - before - delta) / e), 1)
    first = int(np.flatnonzero(chances > 0)[0])
    assert chances[first + 1 :] == pytest.approx(grown[first:], abs=1e-5)
    assert (chances[1:] <= grown + 1e-9).all()


@each(("epsilon", "delta"), PROMISES)
@each("size", [0.01, 0.1, 0.4])
def test_no_private_decision_has_more_power(epsilon, delta, size):
    """A linear program over all private decisions from the number of votes, at several rates."""
    n_batches = 12
    test = OptimalVote.calibrated(
        epsilon=epsilon, delta=delta, n_items=4, n_voters=400, size=size, n_batches=n_batches, batch_level=0.2
    )
    e, count = math.exp(epsilon), np.arange(n_batches + 1)
    rows, most = [stats.binom.pmf(count, n_batches, test.batch_power())], [size]
    for v in range(n_batches):
        for a, b in ((v, v + 1), (v + 1, v)):
            rows += [np.eye(n_batches + 1)[a] - e * np.eye(n_batches + 1)[b]]
            rows += [e * np.eye(n_batches + 1)[a] - np.eye(n_batches + 1)[b]]
            most += [delta, delta + e - 1]
    for rate in (0.3, 0.6, 0.95):
        law = stats.binom.pmf(count, n_batches, rate)
        best = -linprog(-law, A_ub=np.array(rows), b_ub=most, bounds=(0, 1)).fun
        ours = noisy_vote_sf(n_batches, rate, test.scale, test.bound, test.threshold)
        assert ours == pytest.approx(best, abs=1e-5)
        assert ours == pytest.approx(float(law @ decision(test)))


@each(("epsilon", "delta"), PROMISES)
def test_the_guarantee_holds_for_the_decision_and_is_attained(epsilon, delta):
    asked = {"n_items": 4, "n_voters": 400, "size": 0.1, "n_batches": 20, "batch_level": 0.2}
    test = OptimalVote.calibrated(epsilon=epsilon, delta=delta, **asked)
    assert (test.guarantee.epsilon, test.guarantee.delta) <= (epsilon, delta)
    assert test.guarantee.epsilon == pytest.approx(epsilon)
    assert test.guarantee.delta == pytest.approx(delta, rel=1e-5)

    def beyond(made, epsilon):
        p, e = decision(made), math.exp(epsilon)
        return max((p[1:] - e * p[:-1]).max(), ((1 - p[:-1]) - e * (1 - p[1:])).max())

    assert beyond(test, epsilon) == pytest.approx(delta, abs=1e-5)
    loud = OptimalVote.calibrated(epsilon=2 * epsilon + 0.02, delta=delta, **asked)
    assert beyond(loud, epsilon) > delta + 1e-3  # mutant: half the noise
    if delta:
        near = OptimalVote.calibrated(epsilon=epsilon, delta=min(2 * delta, 0.9), **asked)
        assert beyond(near, epsilon) > 1.5 * delta  # mutant: a closer bound


def test_without_delta_it_is_whole_noise_with_a_coin_at_the_threshold():
    test = OptimalVote.calibrated(epsilon=0.7, n_items=4, n_voters=100, n_batches=9, batch_level=0.2)
    low = math.floor(test.threshold + 0.5)
    share = math.ceil((test.threshold - low + 0.5) * UNIT / 2) / (UNIT / 2)
    for rate in (0.2, 0.7):
        mixed = (1 - share) * vote_sf(9, rate, test.scale, low) + share * vote_sf(9, rate, test.scale, low + 1)
        assert noisy_vote_sf(9, rate, test.scale, math.inf, test.threshold) == pytest.approx(mixed, abs=1e-6)


@each("epsilon", [0.3, 3.0])
@pytest.mark.slow
def test_it_has_more_power_than_whole_noise(epsilon):
    asked = {"epsilon": epsilon, "n_items": 10, "n_voters": 300}
    other = BatchVote.calibrated(**asked)
    same = OptimalVote.calibrated(**asked, n_batches=other.n_batches, batch_level=0.1)
    for bias in (0.05, 0.1, 0.2):
        rate = other.batch_power(bias)
        assert same.power(bias) >= vote_sf(other.n_batches, rate, other.scale, other.threshold)
    best = OptimalVote.calibrated(**asked, bias=0.2)
    assert best.exact_size <= 0.05
    assert best.power(0.2) >= OptimalVote.calibrated(**asked).power(0.2)


@pytest.mark.slow
def test_the_default_number_of_batches_is_the_least():
    for epsilon, delta in ((0.3, 0.0), (1.0, 1e-3)):
        asked = {"epsilon": epsilon, "delta": delta, "n_items": 4, "n_voters": 500, "batch_level": 0.2}
        test = OptimalVote.calibrated(**asked)
        scale, bound = test.scale, test.bound
        for number in range(1, test.n_batches + 2):
            steps = np.arange(-1, number + bound if bound < math.inf else 200, 1 / 8)
            null = (number, 0.2, scale, bound)
            rare = lambda z, null=null: noisy_vote_sf(*null, float(z)) <= 0.05  # noqa: E731
            power = noisy_vote_sf(number, 1.0, scale, bound, float(steps[bisect_left(steps, True, key=rare)]))
            if number > test.n_batches:
                assert power >= 0.945
            elif number < test.n_batches:
                assert power < 0.95


@pytest.mark.slow
def test_p_values_and_sizes_hold_on_uniform_rankings():
    test = OptimalVote.calibrated(epsilon=2.0, delta=0.01, n_items=5, n_voters=60, size=0.3, n_batches=6)
    rng = np.random.default_rng(7)

    def chance(runs):
        found = []
        for _ in range(runs):
            data = Rankings(rng.permuted(np.tile(np.arange(5), (60, 1)), axis=1), "abcde")
            made = test.release(data, rng)
            assert made.reject == (made.p_value <= test.exact_size + 1e-12)
            found.append(made.p_value)
        p_values = np.array(found)
        # the level of a batch is discrete, the p-value all but continuous
        counts = np.bincount(np.minimum((p_values * 10).astype(int), 9), minlength=10)
        rejected = (p_values <= test.exact_size + 1e-12).sum()
        sizes = law_p_value([runs - rejected, rejected], [1 - test.exact_size, test.exact_size])
        return 2 * min(law_p_value(counts, np.full(10, 0.1)), sizes)

    assert doubted(chance, 750, 3000) > FALSE_ALARM


def test_a_vote_for_publishing():
    pytest.importorskip("opendp")
    data = Rankings([[0, 1, 2]] * 40, "abc")
    for delta in (0.0, 1e-6):
        test = OptimalVote.calibrated(epsilon=1.0, delta=delta, n_items=3, n_voters=40)
        made = test.release(data, SECURE)
        assert made.publishable
        assert 0 <= made.p_value <= 1
        assert Decision.from_json(made.to_json()) == made
        forged = json.loads(made.to_json())
        forged["guarantee"]["delta"] = delta / 2 + 1e-9
        with refused("guarantee"):
            Decision.from_json(json.dumps(forged))


@each(
    ("change", "words"),
    [
        ({"epsilon": 0.0}, ("epsilon = 0.0", "above 0")),
        ({"delta": 1.0}, ("delta = 1.0", "[0, 1)")),
        ({"delta": 1e-9, "epsilon": 1e-9}, ("epsilon = 1e-09", "n_voters = 500")),
        ({"delta": 1e-300, "epsilon": 1e-9}, ("delta = 1e-300", "2^30")),
        ({"size": 1.0}, ("size = 1.0", "(0, 1)")),
        ({"n_items": 1}, ("n_items = 1", "2")),
        ({"n_voters": 1}, ("n_voters = 1", "2")),
        ({"n_batches": 0}, ("n_batches = 0", "1")),
        ({"n_batches": 251}, ("n_batches = 251", "2 in each")),
        ({"batch_level": 0.0}, ("batch_level = 0.0", "(0, 1)")),
        ({"bias": 0.0}, ("bias = 0.0", "(0, 1")),
        ({"bias": 1.5}, ("bias = 1.5", "(0, 1")),
        ({"epsilon": 0.001}, ("epsilon = 0.001", "250 batches", "n_voters = 500")),
    ],
)
def test_bad_parameters(change, words):
    with refused(*words):
        OptimalVote.calibrated(**{"epsilon": 1.0, "n_items": 4, "n_voters": 500} | change)


@each(
    ("change", "words"),
    [
        ({"scale": 0.0}, ("scale = 0.0", "above 0")),
        ({"threshold": math.nan}, ("threshold = nan",)),
        ({"bound": 0.5}, ("bound = 0.5", "1/2 + 2^-20")),
        ({"bound": 2 * WIDEST}, ("bound", "2^30")),
        ({"bound": math.nan}, ("bound = nan",)),
    ],
)
def test_bad_fields(change, words):
    right = {"n_items": 4, "n_voters": 40, "n_batches": 4, "batch_threshold": 6.0, "scale": 1.0, "threshold": 2.0}
    with refused(*words):
        OptimalVote(**right | change)
