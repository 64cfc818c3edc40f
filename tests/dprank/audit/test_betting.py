"""Seeded; false alarms of an audit have probability 1e-3 at most, of the checks on wealth 1e-6."""

import numpy as np
import pytest
from checks import each, refused

from dprank.audit import betting
from dprank.audit.betting import INFINITY, NAN, Seen, draw_rows, lower_bound
from dprank.privacy import noise

FALSE_ALARM = 1e-6


def count(epsilon):
    def sample(data, size, rng):
        return (data + noise.discrete_laplace(1 / epsilon, size, rng=rng)).astype(float)[:, None]

    return sample


def vector(epsilon):
    return lambda data, size, rng: data + rng.laplace(0, np.abs(MOVE).sum() / epsilon, (size, len(MOVE)))


MOVE = np.array([1.0, -1.0, 0.0])
PAIRS = [(0, 1)]


def bet(sample, pairs=PAIRS, epsilon=1.0, delta=0.0, seed=0, **keywords):
    return lower_bound(sample, pairs, epsilon, delta, rng=np.random.default_rng(seed), **keywords)


# --- power -----------------------------------------------------------------------------------------------------------


def rare(data, size, rng):
    """The noise is skipped in one of 500 releases."""
    return np.where(rng.random(size) < 0.002, data, rng.laplace(data, 1, size))[:, None]


def shared(data, size, rng):
    return np.round(np.asarray(data) + rng.laplace(0, 4, (size, 1)))


def one_bad_pair(data, size, rng):
    value, which = data
    return (value + noise.discrete_laplace(1 / (1.3 if which == 7 else 1), size, rng=rng))[:, None]


def skips_far(data, size, rng):
    far = data[0] > 10
    noisy = np.argmax(data + rng.laplace(0, 2, (size, 3)), axis=1)[:, None]
    return np.zeros((size, 1)) if far else noisy


def per_answer(data, size, rng):
    return (rng.random((size, 8)) < 1 / (1 + np.exp(-0.25 * (2 * data - 1)))).astype(float)


BUGS = {
    "scale 1.2": (count(1.2), PAIRS, 1.0, 0.0),
    "vector 1.3": (vector(1.3), [(0 * MOVE, MOVE)], 1.0, 0.0),
    "rare": (rare, PAIRS, 1.0, 0.0),
    "shared draw": (shared, [((5, 3, 2), (6, 3, 2))], 0.5, 0.0),
    "one bad pair of ten": (one_bad_pair, [((0, i), (1, i)) for i in range(10)], 1.0, 0.0),
    "far gap": (skips_far, [(np.array([i, 0, 0]), np.array([i + 1, 0, 0])) for i in (0, 1, 10)], 1.0, 0.0),
    "an epsilon for every answer": (per_answer, PAIRS, 1.0, 0.0),
    "gaussian": (lambda data, size, rng: rng.normal(data, 1.5, (size, 1)), PAIRS, 0.9, 0.02),
}


@each("bug", BUGS)
def test_a_bug_is_caught(bug):
    found = bet(*BUGS[bug], budget=300_000, bits=False)
    assert found.refuted
    assert found.samples < 300_000
    assert found.event


def test_the_bad_pair_is_named():
    assert bet(*BUGS["one bad pair of ten"]).pair == 7


def test_low_bits_betray_floating_point_noise():
    def sample(data, size, rng):
        return data + rng.laplace(0, 1, (size, 1))

    assert bet(sample, [(0.0, 1.0)]).samples <= 2000
    assert "lowest set bit" in bet(sample, [(0.0, 1.0)]).event
    assert not bet(sample, [(0.0, 1.0)], budget=20_000, bits=False).refuted


def test_levels_find_most_of_the_loss():
    levels = np.arange(0.1, 3, 0.1)
    found = bet(count(2.0), levels=levels, budget=200_000)
    assert found.refuted
    assert 1.6 < found.epsilon <= 2.0


# --- validity --------------------------------------------------------------------------------------------------------

RIGHT = {
    "count": (count(1.0), PAIRS, 1.0, 0.0),
    "no privacy at all": (lambda data, size, rng: np.full((size, 2), float(data)), PAIRS, 500.0, 0.0),
    "nothing is lost": (lambda data, size, rng: rng.integers(0, 3, (size, 2)), PAIRS, 0.0, 0.0),
    "delta": (
        lambda data, size, rng: np.where(rng.random(size) < 0.1, data, 2)[:, None],
        PAIRS,
        0.0,
        0.1,
    ),
    "large delta": (lambda data, size, rng: np.where(rng.random((size, 1)) < 0.99, data, 2), PAIRS, 0.0, 0.99),
    "large epsilon": (count(10.0), PAIRS, 10.0, 0.0),
}


@each("promise", RIGHT)
def test_a_kept_promise_survives(promise):
    for seed in range(4):
        assert not bet(*RIGHT[promise], seed=seed, budget=10_000).refuted


@pytest.mark.slow
def test_wealth_is_no_better_than_a_fair_game():
    """The mean of final wealth is 1 at most; wealth is cut at 3, so Hoeffding bounds the mean of 200 audits."""
    runs, cap = 200, 3.0
    ends = [min(bet(count(1.0), seed=seed, budget=4000, confidence=0.9999).path[-1][1], cap) for seed in range(runs)]
    assert np.mean(ends) <= 1 + cap * np.sqrt(np.log(1 / FALSE_ALARM) / (2 * runs))


@each("delta", [0.0, 0.3, 0.99])
@each("epsilon", [0.0, 1.0, 10.0, 500.0])
def test_no_bet_can_lose_everything_and_a_fair_one_gains_nothing(epsilon, delta):
    returns = np.exp(betting.log_returns(epsilon, delta))
    assert (returns > 0).all()
    q = np.linspace(0, 1, 11)
    p = np.minimum(np.exp(min(epsilon, 50.0)) * q + delta, 1)
    chance = np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])
    assert (returns @ chance <= 1 + 1e-12).all()


def test_bets_do_not_look_at_what_they_are_made_on():
    """The stakes of a part are the same whatever comes in that part or later."""
    rng = np.random.default_rng(0)
    past = Seen(rng.laplace(0, 1, (1024, 1)), rng.laplace(1, 0.5, (1024, 1)))
    grid = np.array([0.5])
    plan = past.plan(grid, 0.0, bits=False)
    fresh = Seen(rng.laplace(0, 1, (1600, 1)), rng.laplace(1, 0.5, (1600, 1)))
    half = 8 * 1600 // betting.PARTS
    other = Seen(np.r_[fresh.first[:half], 0 * fresh.first[half:]], np.r_[fresh.second[:half], fresh.second[half:] + 9])
    a, b = (plan.gains(new, grid, 0.0)[:, 0] for new in (fresh, other))
    assert np.array_equal(a[:8], b[:8])
    assert not np.array_equal(a[8:], b[8:])


def test_the_same_seed_gives_the_same_audit():
    assert bet(count(1.1), seed=3, budget=20_000) == bet(count(1.1), seed=3, budget=20_000)


def test_the_budget_is_kept():
    for budget in (1024, 1500, 10_000):
        assert bet(count(1.0), budget=budget).samples <= budget


def test_layout_in_memory_does_not_matter():
    def columns_first(data, size, rng):
        return np.asfortranarray(vector(1.3)(data, size, rng))

    pairs = [(0 * MOVE, MOVE)]
    assert bet(columns_first, pairs, budget=20_000) == bet(vector(1.3), pairs, budget=20_000)


# --- strange outputs -------------------------------------------------------------------------------------------------

STRANGE = {
    "nan": lambda data, size, rng: np.where(rng.random((size, 2)) < 0.2 * data, np.nan, 1.0),
    "infinite": lambda data, size, rng: np.where(rng.random((size, 2)) < 0.2 * data, -np.inf, np.inf),
    "tiny": lambda data, size, rng: np.where(rng.random((size, 2)) < 0.2 * data, 5e-324, 0.0),
    "huge": lambda data, size, rng: np.where(rng.random((size, 2)) < 0.2 * data, 1.7e308, -1.7e308),
    "boolean": lambda data, size, rng: rng.random((size, 2)) < 0.2 * data,
    "thousand categories": lambda data, size, rng: (
        rng.integers(0, 1000, (size, 1)) * [[1, -1]] + 5000 * (rng.random((size, 1)) < 0.2 * data)
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", STRANGE)
def test_strange_outputs_are_outputs_like_any_other(kind):
    sample = STRANGE[kind]
    assert bet(sample, [(0, 1)], budget=50_000).refuted
    assert not bet(sample, [(1, 1)], budget=5000).refuted


def test_what_is_not_finite_is_told_apart():
    drawn = draw_rows(lambda *_: np.array([[np.nan], [np.inf], [-np.inf], [1.0]]), 0, 4, np.random.default_rng(0))
    assert drawn.ravel().tolist() == [NAN, INFINITY, -INFINITY, 1.0]


@each(
    ("shape", "kind"),
    [((9, 1), float), ((10,), float), ((10, 0), float), ((10, 1, 1), float), ((10, 1), str), ((10, 1), object)],
)
def test_other_shapes_are_refused(shape, kind):
    with refused("sample returned", "numbers of shape (10, features) are needed"):
        draw_rows(lambda *_: np.zeros(shape, kind), 0, 10, np.random.default_rng(0))


@each(
    ("keywords", "words"),
    [
        ({"epsilon": -1.0}, ["epsilon = -1.0"]),
        ({"epsilon": np.inf}, ["epsilon = inf"]),
        ({"epsilon": 1000.0}, ["epsilon = 1000.0", "at most 500"]),
        ({"delta": 1.0}, ["delta = 1.0"]),
        ({"delta": -0.1}, ["delta = -0.1"]),
        ({"confidence": 1.0}, ["confidence = 1.0"]),
        ({"levels": [0.1, np.nan]}, ["levels = nan"]),
        ({"levels": -1.0}, ["levels = -1.0"]),
        ({"budget": 1000}, ["budget = 1000"]),
        ({"budget": 1024, "pairs": [(0, 1)] * 3}, ["budget = 1024", "at least 2048"]),
        ({"pairs": []}, ["pairs is empty"]),
    ],
)
def test_parameters_out_of_range_are_refused(keywords, words):
    with refused(*words):
        bet(count(1.0), **keywords)


def test_a_generator_is_needed():
    with refused("rng = 1"):
        lower_bound(count(1.0), PAIRS, 1.0, rng=1)


def test_levels_that_repeat_do_no_harm():
    found = bet(count(2.0), levels=[1.0, 1.0, 0.5, 1 + 1e-16], budget=20_000)
    assert found.refuted
    assert found.epsilon == 1.0


def test_confidence_close_to_one():
    found = bet(count(3.0), confidence=1 - 1e-15)
    assert found.refuted
    assert found.wealth >= 1e15


def test_what_no_number_of_releases_can_refute():
    assert betting.ceiling(514) == 0.0
    assert betting.ceiling(10_000) < betting.ceiling(20_000)
    for budget in (512, 513, 0, -1):
        with refused("budget"):
            betting.ceiling(budget)
