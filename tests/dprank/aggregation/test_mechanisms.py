"""What all mechanisms of the room have in common."""

import math

import numpy as np
import pytest
from checks import each, refused

from dprank.aggregation import (
    ExponentialMechanism,
    LocalBorda,
    LocalKwikSort,
    LocalMatrix,
    NoisyMatrix,
    PrivateBorda,
    PrivateKwikSort,
)
from dprank.aggregation.randomisers import SplitResponse
from dprank.data.rankings import Rankings
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.noise import SECURE
from dprank.topk import Oneshot, Peeling

ADDITIVE = {"noisy matrix": NoisyMatrix, "Borda": PrivateBorda, "KwikSort": PrivateKwikSort}
CENTRAL = ADDITIVE | {"exponential": ExponentialMechanism}
LOCAL = {"local matrix": LocalMatrix, "local Borda": LocalBorda, "local KwikSort": LocalKwikSort}
ALL = CENTRAL | LOCAL


def profile(m, voters, seed=0):
    rng = np.random.default_rng([seed, m])
    rows = [rng.permutation(m) for _ in range(voters)]
    return Rankings(np.array(rows, int).reshape(voters, m), [f"item {i}" for i in range(m)])


@each("name", ALL)
@each("m", [2, 3, 6])
def test_calibrated_keeps_its_word_and_releases_an_order(name, m):
    mechanism = ALL[name].calibrated(n_items=m, epsilon=0.8)
    assert 0.79 < mechanism.guarantee.epsilon <= 0.8
    assert mechanism.guarantee.delta == 0
    assert mechanism.guarantee.unit == "voter"
    assert mechanism.guarantee.model == ("local" if name in LOCAL else "central")
    data = profile(m, 40)
    released, again = (mechanism.release(data, np.random.default_rng(1)) for _ in range(2))
    assert sorted(released.order.tolist()) == list(range(m))
    assert released.order.tolist() == again.order.tolist()
    assert sorted(released.ranking) == sorted(data.items)
    assert released.guarantee == mechanism.guarantee


@each("name", ALL)
@each("m", [2, 3, 7, 10])
def test_calibrated_never_spends_an_ulp_too_much(name, m):
    for epsilon in [1e-9, *np.geomspace(1e-4, 30, 60)]:
        assert ALL[name].calibrated(n_items=m, epsilon=epsilon).guarantee.epsilon <= epsilon


@each("law", ["discrete", "continuous"])
@each("delta", [1e-300, 1e-6, 0.999])
@each("name", ADDITIVE)
def test_nor_does_gaussian_noise(name, delta, law):
    for epsilon in (1e-9, 1e-3, 0.7, 30.0):
        assert ADDITIVE[name].calibrated(n_items=5, epsilon=epsilon, delta=delta, law=law).guarantee.epsilon <= epsilon


@each("name", ALL)
def test_numbers_of_numpy_are_numbers(name):
    plain = ALL[name].calibrated(n_items=4, epsilon=1.0)
    for m, epsilon in ((np.int8(4), np.float32(1)), (np.int64(4), 1), (np.uint16(4), np.float64(1))):
        assert ALL[name].calibrated(n_items=m, epsilon=epsilon) == plain


@each("name", ALL)
def test_bad_parameters_are_refused(name):
    for epsilon in (0, -1, math.nan, math.inf, True, "1", None, 10**400):
        with refused("epsilon = "):
            ALL[name].calibrated(n_items=4, epsilon=epsilon)
    for m in (1, 0, -3, 2.5, True, "4", None, math.nan):
        with refused("n_items = "):
            ALL[name].calibrated(n_items=m, epsilon=1.0)
    with pytest.raises(TypeError):  # all by keyword: which is which is nowhere left to its place
        ALL[name].calibrated(4, 1.0)


@each("law", ["discrete", "continuous"])
@each("name", ADDITIVE)
def test_bad_and_extreme_budgets(name, law):
    for delta in (1, -0.1, math.nan, math.inf, True, "x", None, 5e-324):
        with refused("delta = "):
            ADDITIVE[name].calibrated(n_items=4, epsilon=1.0, delta=delta, law=law)
    for epsilon in (1e-12, 1e12):
        for delta in (0, 1e-300, 1 - 1e-12):
            mechanism = ADDITIVE[name].calibrated(n_items=4, epsilon=epsilon, delta=delta, law=law)
            assert mechanism.guarantee.epsilon <= epsilon
            mechanism.release(profile(4, 3), np.random.default_rng(0))


@pytest.mark.parametrize("name", ADDITIVE)
def test_noise_that_cannot_be_drawn_is_refused_before_the_release(name):
    with refused("epsilon = 1e-300", "can be"):
        ADDITIVE[name].calibrated(n_items=4, epsilon=1e-300)


@each("name", ALL)
def test_bad_data_and_sources_are_refused(name):
    mechanism, rng = ALL[name].calibrated(n_items=4, epsilon=1.0), np.random.default_rng(0)
    with refused("items = 5", "n_items = 4"):
        mechanism.release(profile(5, 20), rng)
    with refused("ndarray", "Rankings"):
        mechanism.release(np.arange(4)[None], rng)
    for source in (None, 7, np.random.RandomState(0), np.random):
        with refused("rng = ", "Generator"):
            mechanism.release(profile(4, 20), source)
    nobody = profile(4, 0)
    if name in LOCAL:
        with refused("data", "voters"):
            mechanism.release(nobody, rng)
    else:  # to refuse would reveal that a voter is missing
        assert sorted(mechanism.release(nobody, rng).order.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ADDITIVE)
def test_floats_are_not_published(name):
    with refused("SecureSource", "Generator"):
        ADDITIVE[name].calibrated(n_items=4, epsilon=1.0, law="continuous").release(profile(4, 3), SECURE)


@each("name", [name for name in ALL if name != "exponential"])
def test_many_items_and_pure_noise_take_no_time(name):
    mechanism = ALL[name].calibrated(n_items=100, epsilon=0.1)
    voters = mechanism.blocks if name == "local KwikSort" else 50
    assert len(mechanism.release(profile(100, voters), np.random.default_rng(0)).order) == 100


def test_split_responses_of_one_pair_spend_no_more_than_epsilon():
    for epsilon in np.geomspace(1e-3, 20, 200):
        assert SplitResponse.calibrated(n_items=2, epsilon=epsilon).loss <= epsilon


def test_fallbacks_are_checked_before_any_budget_is_spent():
    for fallback, words in (
        (NoisyMatrix.calibrated(n_items=5, epsilon=1.0), ("model = 'central'", "local")),
        (LocalBorda.calibrated(n_items=4, epsilon=1.0), ("n_items = 4", "5")),
    ):
        with refused("fallback", *words):
            LocalKwikSort(5, 1.0, 1, 1, fallback=fallback)
    with refused("fallback", "NoisyMatrix"):
        PrivateKwikSort(5, 3, 1.0, PrivateBorda(5, 1.0))
    for queries in (0, 11, 2.5, "3", True):
        with refused("queries = "):
            PrivateKwikSort.calibrated(n_items=5, epsilon=1.0, queries=queries)


@pytest.mark.parametrize("far", [2**51 + 1, -(2**51) - 1, 2**60, -(2**63)])
def test_counts_to_which_noise_cannot_be_added_exactly(far):
    """Twice two to the 51st is the last whole number before floats have gaps, which noise does not hide."""
    with refused("scores", "2^51"):
        NoisyCounts(2, 1.0, score="wins").perturb(np.array([far, 0]), SECURE)
    with refused("sum", "2^51"):
        PrivateBorda(2, 1.0).perturb(np.array([far, 0]), SECURE)
    with refused("2^51"):
        NoisyMatrix(2, 1.0).perturb(np.array([[0, far], [-far if far > -(2**63) else far, 0]]), SECURE)
    with refused("integers"):
        Oneshot(1, 1.0, n_items=2).release([far, 0], SECURE)
    with refused("wins", "2^51"):
        PerturbedMLE(2, 1.0, 1.0, graph="public", unit="comparison", law="discrete").estimate(
            [[[0, 1], [1, 0]]], [[far, 0]], SECURE
        )


def test_strengths_of_wins_off_the_grid_are_refused():
    mechanism = PerturbedMLE(2, 0.05, 1.0, graph="public", unit="comparison", law="discrete")
    with refused("wins", "multiples of 0.5"):
        mechanism.estimate([[[0, 3], [3, 0]]], [[1.3, 1.7]], SECURE)


HOPELESS = {
    "two parts that are finite": lambda: Oneshot(1, 1e-308, sensitivity=0.85, value_scale=1e-308, n_items=3),
    "advanced": lambda: Peeling(1, 1e-10, "laplace", composition="advanced", delta=1e-6, n_items=3),
    "zcdp": lambda: Peeling(1, 1e-160, "gumbel", composition="zcdp", delta=1e-6, n_items=3),
    "certain coins": lambda: LocalKwikSort.calibrated(n_items=3, epsilon=30.1),
    "two Gaussians": lambda: PrivateKwikSort(
        3,
        1,
        1.0001e-153,
        NoisyMatrix(3, 1.7322e-153, "gaussian", delta=1e-5, law="continuous"),
        "gaussian",
        delta=1e-5,
        law="continuous",
    ),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_no_mechanism_promises_an_infinite_epsilon(name):
    with refused("epsilon = 30.1" if name == "certain coins" else "too little noise for any finite epsilon"):
        HOPELESS[name]()


def test_a_fallback_draws_by_the_law_of_the_answers():
    with refused("law = 'discrete'", "'continuous'"):
        PrivateKwikSort(6, 5, 1.0, NoisyMatrix(6, 5.0, law="continuous"))


def test_masked_scores_are_no_scores():
    masked = np.ma.array([5, 1], mask=[1, 0])
    with refused("scores", "masked"):
        NoisyCounts(2, 1.0).perturb(masked, SECURE)
    with refused("values", "masked"):
        Oneshot(1, 1.0, n_items=2).release(masked, SECURE)
    with refused("sum", "masked"):
        PrivateBorda(2, 1.0).perturb(masked, SECURE)
    for repetitions in (2.5, -1, "2"):
        with refused("repetitions = "):
            NoisyCounts(2, 1.0).perturb([1, 0], SECURE, repetitions)


def test_reports_of_integers_of_several_kinds_are_counted():
    poll = LocalMatrix.calibrated(n_items=3, epsilon=1.0)
    mixed = [np.array(poll.report([0, 1, 2], SECURE), kind) for kind in (np.uint64, np.int64, np.int8)]
    assert sorted(poll.aggregate(mixed, np.random.default_rng(0), items=list("abc")).order) == [0, 1, 2]
