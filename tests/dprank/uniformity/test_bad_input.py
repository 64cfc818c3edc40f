"""What every test of uniformity refuses, in one line that names the field. Nothing here is random."""

import inspect
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
    LocalTwoStage,
    MallowsApproximate,
    NoisyNorm,
    OptimalVote,
    Trun,
    TwoSample,
    Unif,
)

RNG = np.random.default_rng(0)
DATA = Rankings([[0, 1, 2, 3], [3, 2, 1, 0]] * 20, "abcd")
NO_NUMBERS = [None, "1", True, math.nan, [1.0], np.ones(3), np.array(1.0), 1j]
NO_INTEGERS = [*NO_NUMBERS, 2.5, math.inf]

TESTS = {
    "unif": Unif.calibrated(n_items=4, n_voters=40).test,
    "friedman": Friedman(4, 40).test,
    "simulated": MallowsApproximate.calibrated(n_items=4, n_voters=40, size=0.05, centre="borda").test,
    "mallows": MallowsApproximate.calibrated(n_items=4, n_voters=40, size=0.05).test,
    "two": TwoSample.calibrated(n_items=4, size=0.05).test,
    "bucketed": Bucketed(4, 40, 2, 6.0, 0.5).release,
    "vote": BatchVote(4, 40, 10, 6.0, 1.0, 3).release,
    "laplace": LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=0.05).release,
    "continuous": LaplaceUnif(4, 40, 40.0, 6.0, "continuous").release,
    "trun": Trun.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=0.05).release,
    "norm": NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40).release,
    "ranks": NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40, statistic="ranks").release,
    "local": LocalPairs.calibrated(epsilon=1.0, n_items=4).release,
    "fixed pairs": LocalPairs.calibrated(epsilon=1.0, n_items=4, randomness="private").release,
    "two stages": LocalTwoStage.calibrated(epsilon=1.0, n_items=4).release,
    "optimal": OptimalVote(4, 40, 10, 6.0, 1.0, 3.0).release,
    "one bit": LocalOneBit.calibrated(epsilon=1.0, n_items=4).release,
}
PRIVATE = [BatchVote, Bucketed, LaplaceUnif, LocalOneBit, LocalPairs, LocalTwoStage, NoisyNorm, OptimalVote, Trun]
WITHOUT_PRIVACY = [Friedman, MallowsApproximate, TwoSample, Unif]
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
        with refused(f"data are of type {kind}", "dprank.Rankings"):
            TESTS[name](data, RNG)


@pytest.mark.parametrize(
    "test", [LocalPairs.calibrated(epsilon=1.0, n_items=4), LocalOneBit.calibrated(epsilon=1.0, n_items=4)]
)
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
    pairs, one = LocalPairs.calibrated(epsilon=1.0, n_items=4), LocalOneBit.calibrated(epsilon=1.0, n_items=4)
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
    assert LocalPairs.calibrated(epsilon=1.0, n_items=4, randomness="private").pairs(SECURE).tolist() == [
        [0, 1],
        [2, 3],
    ]


@each(
    ("field", "make"),
    [
        ("size", lambda x: Unif.calibrated(n_items=4, n_voters=40, size=x)),
        ("threshold", lambda x: Unif(4, x)),
        ("size", lambda x: Friedman(4, 40, x)),
        ("size", lambda x: MallowsApproximate(4, 40, x)),
        ("size", lambda x: TwoSample.calibrated(n_items=4, size=x)),
        ("threshold", lambda x: TwoSample(4, 0.05, x)),
        ("batch_threshold", lambda x: Bucketed(4, 40, 2, x, 0.5)),
        ("coin", lambda x: Bucketed(4, 40, 2, 6.0, x)),
        ("delta", lambda x: Bucketed(4, 40, 2, 6.0, 0.5, delta=x)),
        ("epsilon", lambda x: Bucketed.calibrated(epsilon=x, n_items=4, n_voters=40, size=0.05)),
        ("scale", lambda x: BatchVote(4, 40, 2, 6.0, x, 3)),
        ("epsilon", lambda x: BatchVote.calibrated(epsilon=x, n_items=4, n_voters=40, size=0.05)),
        ("batch_level", lambda x: BatchVote.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=0.05, batch_level=x)),
        ("scale", lambda x: LaplaceUnif(4, 40, x, 3.0)),
        ("threshold", lambda x: LaplaceUnif(4, 40, 1.0, x)),
        ("epsilon", lambda x: LaplaceUnif.calibrated(epsilon=x, n_items=4, n_voters=40, size=0.05)),
        ("epsilon", lambda x: Trun.calibrated(epsilon=x, n_items=4, n_voters=40, size=0.05)),
        ("start", lambda x: Trun(4, 40, coin=0.1, start=x, width=1.0)),
        ("width", lambda x: Trun(4, 40, coin=0.1, start=1.0, width=x)),
        ("coin", lambda x: Trun(4, 40, coin=x, start=1.0, width=1.0)),
        ("epsilon", lambda x: NoisyNorm.calibrated(epsilon=x, n_items=4, n_voters=40)),
        ("size", lambda x: NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=x)),
        ("epsilon", lambda x: LocalPairs.calibrated(epsilon=x, n_items=4)),
        ("size", lambda x: LocalOneBit.calibrated(epsilon=1.0, n_items=4, size=x)),
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
        ("n_items", lambda x: LocalPairs.calibrated(epsilon=1.0, n_items=x)),
        ("n_voters", lambda x: Friedman(4, x)),
        ("n_voters", lambda x: Bucketed(4, x, 2, 6.0, 0.5)),
        ("n_voters", lambda x: BatchVote(4, x, 2, 6.0, 1.0, 3)),
        ("n_voters", lambda x: NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=x)),
        ("n_batches", lambda x: BatchVote(4, 40, x, 6.0, 1.0, 3)),
        ("threshold", lambda x: BatchVote(4, 40, 2, 6.0, 1.0, x)),
        ("flips", lambda x: LocalPairs(4, x)),
        ("groups", lambda x: LocalOneBit(4, 1, groups=x)),
        ("draws", lambda x: Friedman(4, 40, draws=x)),
        ("steps", lambda x: NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40, steps=x)),
        ("null_draws", lambda x: NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40, null_draws=x)),
    ],
)
def test_whole_parameters(field, make):
    for value in NO_INTEGERS:
        with refused(f"{field} = "):
            make(value)


def test_numbers_of_numpy_are_numbers():
    sizes, plain = {"n_items": np.int8(100), "n_voters": np.int16(400)}, {"n_items": 100, "n_voters": 400}
    one, size = np.float32(1), np.float64(0.05)
    for free in (Unif, Friedman):
        assert free.calibrated(**sizes, size=size) == free.calibrated(**plain, size=0.05)
    for test in (NoisyNorm, LaplaceUnif, BatchVote, OptimalVote, Trun):
        assert test.calibrated(epsilon=one, **sizes, size=size) == test.calibrated(epsilon=1.0, **plain, size=0.05)
    few = {"n_items": np.int8(100), "size": size}
    assert TwoSample.calibrated(**few) == TwoSample.calibrated(n_items=100, size=0.05)
    assert LocalOneBit.calibrated(epsilon=one, **few) == LocalOneBit.calibrated(epsilon=1, n_items=100, size=0.05)


@each("test", [*PRIVATE, *WITHOUT_PRIVACY])
def test_one_constructor(test):
    """By keyword, in one order, and nothing that it cannot do without has a default."""
    parameters = inspect.signature(test.calibrated).parameters
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    known = ("epsilon", "delta", "n_items", "n_voters", "size")
    assert [name for name in known if name in parameters] == list(parameters)[: len(set(known) & set(parameters))]
    needed = [name for name, p in parameters.items() if p.default is p.empty]
    assert needed == [name for name in ("epsilon", "n_items", "n_voters") if name in parameters]
    assert ("epsilon" in parameters) == (test in PRIVATE)
    assert parameters["size"].default == 0.05


def test_too_few_draws_could_never_reject():
    with refused("null_draws = 999", "1 / size - 1 = 1999"):
        NoisyNorm.calibrated(epsilon=5.0, n_items=4, n_voters=500, size=0.0005, statistic="ranks")
    assert (
        NoisyNorm.calibrated(epsilon=5.0, n_items=4, n_voters=500, size=0.0005, statistic="ranks", null_draws=1999)
        .release(Rankings([[0, 1, 2, 3]] * 500, "abcd"), np.random.default_rng(0))
        .reject
    )
    assert NoisyNorm.calibrated(epsilon=5.0, n_items=4, n_voters=500, size=0.0005).null_draws == 999  # unused for pairs


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda delta: TwoSample.calibrated(n_items=40, size=delta), 1e-10),
        (lambda delta: MallowsApproximate.calibrated(n_items=10, n_voters=20, size=delta), 1e-10),
        (lambda delta: LocalPairs.calibrated(epsilon=1.0, n_items=4, size=delta), 1e-7),
        (lambda delta: LocalOneBit.calibrated(epsilon=1.0, n_items=4, size=delta), 1e-7),
    ],
)
def test_significances_below_the_rounding_of_the_null_law(make, least):
    make(least)
    with refused(f"size = {least / 2}", f"at least {least:g}"):
        make(least / 2)


@each(
    ("make", "words"),
    [
        (lambda: Bucketed.calibrated(epsilon=1.0, n_items=4, n_voters=1000, size=0.9), ("size = 0.9", "coin of")),
        (
            lambda: BatchVote.calibrated(epsilon=1e-3, n_items=4, n_voters=100, size=0.05),
            ("epsilon = 0.001", "n_voters = 100"),
        ),
        (
            lambda: BatchVote.calibrated(epsilon=0.06, n_items=4, n_voters=100, size=0.05),
            ("epsilon = 0.06", "n_batches = 51"),
        ),
        (
            lambda: LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=10, size=1 - 1e-16),
            ("size = 0.9999", "at most 1 - 1e-09"),
        ),
        (
            lambda: BatchVote.calibrated(epsilon=1.0, n_items=4, n_voters=100, size=1 - 1e-16),
            ("size = 0.9999", "at most 1 - 1e-09"),
        ),
        (lambda: MallowsApproximate(4, 10, 1 - 1e-16), ("size = 0.9999", "at most 1 - 1e-09")),
        (lambda: NoisyNorm(4, 10, 1.0, size=1 - 1e-16), ("size = 0.9999", "at most 1 - 1e-09")),
        (
            lambda: NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=100, steps=10**7),
            ("steps = 10000000", "10000"),
        ),
    ],
)
def test_what_cannot_be_calibrated(make, words):
    with refused(*words):
        make()


@pytest.mark.parametrize("epsilon", [1e-300, 5e-324])
def test_tiny_epsilons(epsilon):
    for test in (Bucketed, BatchVote, LaplaceUnif, NoisyNorm, OptimalVote, Trun):
        with refused(f"epsilon = {epsilon}"):
            test.calibrated(epsilon=epsilon, n_items=4, n_voters=100)
    with refused(f"epsilon = {epsilon}"):
        BatchVote.calibrated(epsilon=epsilon, n_items=4, n_voters=100, n_batches=3)
    with refused(f"epsilon = {epsilon}", "fair coins"):  # they keep any promise, and tell nothing
        LocalPairs.calibrated(epsilon=epsilon, n_items=4)


def test_large_sizes_reject_where_the_p_value_is_small():
    for delta in (0.3, 0.5, 0.6, 0.9, 0.999):
        test = MallowsApproximate.calibrated(n_items=3, n_voters=4, size=delta)
        norm = NoisyNorm.calibrated(epsilon=0.5, n_items=4, n_voters=10, size=delta)
        least = norm.threshold()
        assert norm.p_value(least) <= delta < norm.p_value(least - 1)
        for rows in ([0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1]):
            data = Rankings(np.array([[0, 1, 2], [2, 1, 0]])[rows], "abc")
            decision = test.test(data)
            assert decision.reject == (decision.p_value <= delta)
    assert norm.threshold() < 0


def test_unknown_parameters_are_python_s_to_refuse():
    with pytest.raises(TypeError, match=r"NoisyNorm.calibrated.* unexpected keyword argument 'scale'"):
        NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=10, scale=1.0)
    with pytest.raises(TypeError, match=r"LocalPairs.calibrated.* unexpected keyword argument 'foo'"):
        LocalPairs.calibrated(epsilon=1.0, n_items=4, foo=1)
