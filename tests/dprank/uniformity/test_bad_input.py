"""What every test of uniformity refuses, in one line that names the field. Nothing here is random."""

import math

import numpy as np
import pytest
from checks import each, refused

from dprank.data.rankings import Rankings
from dprank.privacy.noise import SECURE
from dprank.uniformity import (
    BatchVote,
    Bucketed,
    Friedman,
    LaplaceUnif,
    LocalOneBit,
    LocalPairs,
    MallowsApproximate,
    NoisyNorm,
    Trun,
    TwoSample,
    Unif,
)

RNG = np.random.default_rng(0)
DATA = Rankings([[0, 1, 2, 3], [3, 2, 1, 0]] * 20, "abcd")
NO_NUMBERS = [None, "1", True, math.nan, [1.0], np.ones(3), np.array(1.0), 1j]
NO_INTEGERS = [*NO_NUMBERS, 2.5, math.inf]

TESTS = {
    "unif": Unif.as_printed(4, 0.05).test,
    "friedman": Friedman(4, 40).test,
    "simulated": MallowsApproximate.calibrated(4, 40, 0.05, centre="borda").test,
    "mallows": MallowsApproximate.calibrated(4, 40, 0.05).test,
    "two": TwoSample.exact(4, 0.05).test,
    "bucketed": Bucketed.as_printed(4, 40, 0.5, 0.05).release,
    "vote": BatchVote(4, 40, 10, 6.0, 1.0, 3).release,
    "laplace": LaplaceUnif.calibrated(4, 40, 1.0, 0.05).release,
    "continuous": LaplaceUnif.as_printed(4, 40, 1.0, 0.05).release,
    "trun": Trun.calibrated(4, 40, 1.0, 0.05).release,
    "norm": NoisyNorm.calibrated(4, 40, 1.0).release,
    "ranks": NoisyNorm.calibrated(4, 40, 1.0, statistic="ranks").release,
    "local": LocalPairs.calibrated(4, 1.0).release,
    "fixed pairs": LocalPairs.calibrated(4, 1.0, randomness="private").release,
    "one bit": LocalOneBit.calibrated(4, 1.0).release,
}
WITHOUT_RNG = {"friedman", "mallows", "two"}


@each("name", TESTS)
def test_sources_of_randomness(name):
    data = Rankings(DATA.positions[:2], "abcd") if name == "two" else DATA
    for rng in (np.random, np.random.RandomState(0), 7, "x", *([] if name in WITHOUT_RNG else [None])):
        with refused("rng = ", "numpy.random.Generator"):
            TESTS[name](data, rng)


@each("name", TESTS)
def test_data_must_be_rankings(name):
    for data, kind in ((DATA.positions, "ndarray"), ([[0, 1, 2, 3]] * 40, "list"), (None, "NoneType"), ("ab", "str")):
        with refused(f"data = {kind}", "dprank.Rankings"):
            TESTS[name](data, RNG)


@pytest.mark.parametrize("test", [LocalPairs.calibrated(4, 1.0), LocalOneBit.calibrated(4, 1.0)])
def test_reports(test):
    good = [[1, -1], [1, 1], [-1, 1]]
    assert test.decide(good) == test.decide(np.array(good, float))
    for misshapen in ([1, -1], [[1, -1]], [[1], [1]], [[1, 1, 1]] * 3, [[[1, -1]] * 2] * 2, None, 3, []):
        with refused("reports of another shape"):
            test.decide(misshapen)
    for bad in ([[7, 7]] * 9, [[1, 0]] * 3, [[1, math.nan]] * 3, np.full((3, 2), 255, np.uint8), [[True, True]] * 3):
        with refused("reports", "-1 and +1"):
            test.decide(bad)


def test_peers_answer_for_rankings_only():
    pairs, one = LocalPairs.calibrated(4, 1.0), LocalOneBit.calibrated(4, 1.0)
    for bad in ([9, 9, 9, 9], [0, 1, 1, 2], [0, 1, 2], 3, [0.0, 1.0, 2.0, 3.0], [[0, 1, 2, 3], [0, 0, 2, 3]]):
        with refused("ranking"):
            pairs.report(bad, np.array([[0, 1], [2, 3]]), RNG)
        with refused("ranking"):
            one.report(bad, np.array([0, 1]), RNG)
    assert pairs.report(np.arange(4), np.array([[0, 1], [2, 3]]), RNG).shape == (2,)
    for rng in (None, 7, np.random):
        with refused("rng = "):
            pairs.report(np.arange(4), np.array([[0, 1], [2, 3]]), rng)
    with refused("rng = None"):
        pairs.pairs(None)
    assert LocalPairs.calibrated(4, 1.0, randomness="private").pairs(SECURE).tolist() == [[0, 1], [2, 3]]


@each(
    ("field", "make"),
    [
        ("delta", lambda x: Unif.exact(4, 40, x)),
        ("delta", lambda x: Unif.as_printed(4, x)),
        ("threshold", lambda x: Unif(4, x)),
        ("delta", lambda x: Friedman(4, 40, x)),
        ("delta", lambda x: MallowsApproximate(4, 40, x)),
        ("delta", lambda x: TwoSample.exact(4, x)),
        ("threshold", lambda x: TwoSample(4, 0.05, x)),
        ("batch_threshold", lambda x: Bucketed(4, 40, 2, x)),
        ("coin", lambda x: Bucketed(4, 40, 2, 6.0, x)),
        ("privacy_delta", lambda x: Bucketed(4, 40, 2, 6.0, 0.5, privacy_delta=x)),
        ("epsilon_0", lambda x: Bucketed.calibrated(4, 40, x, 0.05)),
        ("epsilon_0", lambda x: Bucketed.as_printed(4, 40, x, 0.05)),
        ("scale", lambda x: BatchVote(4, 40, 2, 6.0, x, 3)),
        ("epsilon_0", lambda x: BatchVote.calibrated(4, 40, x, 0.05)),
        ("batch_level", lambda x: BatchVote.calibrated(4, 40, 1.0, 0.05, batch_level=x)),
        ("scale", lambda x: LaplaceUnif(4, 40, x, 3.0)),
        ("threshold", lambda x: LaplaceUnif(4, 40, 1.0, x)),
        ("epsilon_0", lambda x: LaplaceUnif.calibrated(4, 40, x, 0.05)),
        ("epsilon_0", lambda x: LaplaceUnif.as_printed(4, 40, x, 0.05)),
        ("epsilon_0", lambda x: Trun.calibrated(4, 40, x, 0.05)),
        ("epsilon_0", lambda x: Trun.as_printed(4, 40, x, 0.05, 0.5)),
        ("start", lambda x: Trun(4, 40, delta=0.1, scale=1.0, start=x, width=1.0)),
        ("width", lambda x: Trun(4, 40, delta=0.1, scale=1.0, start=1.0, width=x)),
        ("gate", lambda x: Trun(4, 40, delta=0.1, scale=1.0, start=1.0, width=1.0, gate=x)),
        ("epsilon_0", lambda x: NoisyNorm.calibrated(4, 40, x)),
        ("delta", lambda x: NoisyNorm.calibrated(4, 40, 1.0, x)),
        ("epsilon_0", lambda x: LocalPairs.calibrated(4, x)),
        ("epsilon_0", lambda x: LocalPairs.as_printed(4, x)),
        ("delta", lambda x: LocalOneBit.calibrated(4, 1.0, x)),
    ],
)
def test_real_parameters(field, make):
    for value in NO_NUMBERS:
        with refused(f"{field} = "):
            make(value)


@each(
    ("field", "make"),
    [
        ("n_items", lambda x: Unif(x, 3.0)),
        ("n_items", lambda x: Unif.as_printed(x, 0.05)),
        ("n_items", lambda x: Bucketed.as_printed(x, 40, 0.5, 0.05)),
        ("n_items", lambda x: TwoSample.as_printed(x, 0.05)),
        ("n_items", lambda x: Trun.as_printed(x, 40, 1.0, 0.05, 0.5)),
        ("n_items", lambda x: LaplaceUnif.as_printed(x, 40, 1.0, 0.05)),
        ("n_items", lambda x: LocalPairs.calibrated(x, 1.0)),
        ("n_rankings", lambda x: Friedman(4, x)),
        ("n_rankings", lambda x: Bucketed(4, x, 2, 6.0)),
        ("n_rankings", lambda x: BatchVote(4, x, 2, 6.0, 1.0, 3)),
        ("n_rankings", lambda x: NoisyNorm.calibrated(4, x, 1.0)),
        ("n_batches", lambda x: BatchVote(4, 40, x, 6.0, 1.0, 3)),
        ("threshold", lambda x: BatchVote(4, 40, 2, 6.0, 1.0, x)),
        ("flips", lambda x: LocalPairs(4, x)),
        ("groups", lambda x: LocalOneBit(4, 1, groups=x)),
        ("draws", lambda x: Friedman(4, 40, draws=x)),
        ("steps", lambda x: NoisyNorm.calibrated(4, 40, 1.0, steps=x)),
        ("null_draws", lambda x: NoisyNorm.calibrated(4, 40, 1.0, null_draws=x)),
    ],
)
def test_whole_parameters(field, make):
    for value in NO_INTEGERS:
        with refused(f"{field} = "):
            make(value)


def test_numbers_of_numpy_are_numbers():
    m, k, one, delta = np.int8(100), np.int16(400), np.float32(1), np.float64(0.05)
    assert Unif.exact(m, k, delta) == Unif.exact(100, 400, 0.05)
    assert TwoSample.as_printed(m, delta) == TwoSample.as_printed(100, 0.05)
    assert Friedman(m, k, delta) == Friedman(100, 400, 0.05)
    assert NoisyNorm.calibrated(m, k, one, delta) == NoisyNorm.calibrated(100, 400, 1, 0.05)
    assert LaplaceUnif.as_printed(m, k, one, delta) == LaplaceUnif.as_printed(100, 400, 1, 0.05)
    assert BatchVote.calibrated(m, k, one, delta) == BatchVote.calibrated(100, 400, 1, 0.05)
    assert Bucketed.as_printed(m, k, one, delta) == Bucketed.as_printed(100, 400, 1, 0.05)
    assert LocalOneBit.calibrated(m, one, delta) == LocalOneBit.calibrated(100, 1, 0.05)
    assert Trun.calibrated(m, k, one, delta) == Trun.calibrated(100, 400, 1, 0.05)


def test_too_few_draws_could_never_reject():
    with refused("null_draws = 999", "1 / delta - 1 = 1999"):
        NoisyNorm.calibrated(4, 500, 5.0, 0.0005, statistic="ranks")
    assert (
        NoisyNorm.calibrated(4, 500, 5.0, 0.0005, statistic="ranks", null_draws=1999)
        .release(Rankings([[0, 1, 2, 3]] * 500, "abcd"), np.random.default_rng(0))
        .reject
    )
    assert NoisyNorm.calibrated(4, 500, 5.0, 0.0005).null_draws == 999  # unused for pairs


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda delta: TwoSample.exact(40, delta), 1e-10),
        (lambda delta: MallowsApproximate.calibrated(10, 20, delta), 1e-10),
        (lambda delta: LocalPairs.calibrated(4, 1.0, delta), 1e-7),
        (lambda delta: LocalOneBit.calibrated(4, 1.0, delta), 1e-7),
    ],
)
def test_significances_below_the_rounding_of_the_null_law(make, least):
    make(least)
    with refused(f"delta = {least / 2}", f"at least {least:g}"):
        make(least / 2)


@each(
    ("make", "words"),
    [
        (lambda: Bucketed.calibrated(4, 1000, 1.0, 0.9), ("delta = 0.9", "coin of")),
        (lambda: BatchVote.calibrated(4, 100, 1e-3, 0.05), ("epsilon_0 = 0.001", "n_rankings = 100")),
        (lambda: BatchVote.calibrated(4, 100, 0.06, 0.05), ("epsilon_0 = 0.06", "n_batches = 51")),
        (lambda: LaplaceUnif.calibrated(4, 10, 1.0, 1 - 1e-16), ("delta = 0.9999", "at most 1 - 1e-09")),
        (lambda: BatchVote.calibrated(4, 100, 1.0, 1 - 1e-16), ("delta = 0.9999", "at most 1 - 1e-09")),
        (lambda: NoisyNorm.calibrated(4, 100, 1.0, steps=10**7), ("steps = 10000000", "10000")),
    ],
)
def test_what_cannot_be_calibrated(make, words):
    with refused(*words):
        make()


@pytest.mark.parametrize("epsilon", [1e-300, 5e-324])
def test_tiny_epsilons(epsilon):
    for make in (Bucketed.calibrated, Bucketed.as_printed, BatchVote.calibrated, LaplaceUnif.calibrated):
        with refused(f"epsilon_0 = {epsilon}"):
            make(4, 100, epsilon, 0.05)
    for call in (
        lambda: BatchVote.calibrated(4, 100, epsilon, 0.05, n_batches=3),
        lambda: NoisyNorm.calibrated(4, 100, epsilon),
        lambda: Trun.calibrated(4, 100, epsilon, 0.05),
        lambda: Trun.as_printed(4, 100, epsilon, 1e-3, 0.5),
    ):
        with refused(f"epsilon_0 = {epsilon}"):
            call()
    assert LocalPairs.calibrated(4, epsilon).guarantee.epsilon == 0  # a fair coin is within any budget


def test_large_sizes_reject_where_the_p_value_is_small():
    for delta in (0.3, 0.5, 0.6, 0.9, 0.999):
        test = MallowsApproximate.calibrated(3, 4, delta)
        norm = NoisyNorm.calibrated(4, 10, 0.5, delta)
        least = norm.threshold()
        assert norm.p_value(least) <= delta < norm.p_value(least - 1)
        for rows in ([0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1]):
            data = Rankings(np.array([[0, 1, 2], [2, 1, 0]])[rows], "abc")
            decision = test.test(data)
            assert decision.reject == (decision.p_value <= delta)
    assert norm.threshold() < 0


def test_unknown_parameters_are_python_s_to_refuse():
    with pytest.raises(TypeError, match=r"NoisyNorm.calibrated.* unexpected keyword argument 'scale'"):
        NoisyNorm.calibrated(4, 10, 1.0, scale=1.0)
    with pytest.raises(TypeError, match=r"LocalPairs.calibrated.* unexpected keyword argument 'foo'"):
        LocalPairs.calibrated(4, 1.0, foo=1)
