"""The user's door to the audit. Seeds are fixed; a kept promise is refuted with probability 0.001 at most."""

from dataclasses import dataclass

import numpy as np
import pytest

from companion.chapters.privacy_audited.cases import cases
from dprank.aggregation import LocalMatrix, PrivateBorda
from dprank.audit import audit
from dprank.data.rankings import Rankings
from dprank.pairwise import NoisyCounts
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import discrete_laplace


@dataclass(frozen=True)
class Count:
    """Integer Laplace noise of a scale that may be too small for its promise."""

    epsilon: float
    scale: float

    @property
    def guarantee(self):
        return Guarantee(self.epsilon)

    def release(self, data, rng):
        return data + discrete_laplace(self.scale, 1, rng=rng)[0]


@pytest.mark.slow
def test_a_mechanism_of_ones_own_is_audited_by_its_releases():
    kept = audit(Count(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(1))
    assert not kept.broken
    assert kept.exact is None
    assert 0.5 < kept.epsilon <= 1.0
    assert str(kept).startswith("not refuted: epsilon = 1")
    broken = audit(Count(1.0, 0.5), [(0, 1)], rng=np.random.default_rng(1))
    assert broken.broken
    assert 1 < broken.epsilon < 2
    assert str(broken).startswith("BROKEN: epsilon = 1")


@pytest.mark.slow
def test_a_mechanism_of_the_library_is_audited_by_its_law_too():
    votes = Rankings.from_orders([["a", "b", "c"], ["b", "a", "c"]], ["a", "b", "c"])
    other = Rankings.from_orders([["c", "b", "a"], ["b", "a", "c"]], ["a", "b", "c"])
    mechanism, rng = PrivateBorda.calibrated(n_items=3, epsilon=1.0), np.random.default_rng(2)
    found = audit(mechanism, [(votes, votes), (votes, other)], rng=rng, budget=4096)
    assert not found.broken
    assert found.worst == 1
    assert found.exact == pytest.approx(1.0)
    assert found.samples.epsilon <= found.exact


def test_of_a_local_mechanism_the_report_is_audited():
    pair = np.array([0, 1, 2]), np.array([2, 1, 0])
    found = audit(LocalMatrix.calibrated(n_items=3, epsilon=1.0), [pair], rng=np.random.default_rng(3))
    assert not found.broken
    assert found.exact <= 1.0


def test_what_floats_betray_is_broken_unless_only_the_law_is_asked_for():
    @dataclass(frozen=True)
    class Floats(Count):
        def release(self, data, rng):
            return data + rng.laplace(0.0, self.scale)

    mechanism = Floats(1.0, 1.0)
    assert audit(mechanism, [(0, 1)], rng=np.random.default_rng(4)).broken
    assert not audit(mechanism, [(0, 1)], rng=np.random.default_rng(4), bits=False).broken


def test_a_mechanism_that_promises_nothing_breaks_nothing():
    found = audit(Count(np.inf, 0.5), [(0, 1)], rng=np.random.default_rng(5))
    assert not found.broken
    assert found.epsilon > 1


def test_a_release_that_reuses_its_memory_is_no_leak():
    buffer = np.zeros(1)

    class Reused(Count):
        def release(self, data, rng):
            buffer[:] = data if rng.random() < 1 / (1 + np.exp(-1)) else 1 - data
            return buffer

    assert not audit(Reused(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(6)).broken


def test_a_derived_class_is_not_judged_by_the_law_of_its_parent():
    class Constant(NoisyCounts):
        guarantee = Guarantee(0.0)

        def release(self, data, rng):
            return 0.0

    found = audit(Constant(2, 1.0), [(0, 1)], rng=np.random.default_rng(7))
    assert found.exact is None
    assert not found.broken


def test_a_promise_beyond_the_reach_of_the_budget_is_called_so():
    class Raw(Count):
        def release(self, data, rng):
            return data

    found = audit(Raw(12.0, 1.0), [(0, 1)], rng=np.random.default_rng(8))
    assert not found.broken
    assert "can refute nothing above" in str(found)
    assert 6 < found.reach < 8
    assert audit(Raw(6.0, 1.0), [(0, 1)], rng=np.random.default_rng(8)).broken
    assert not audit(Raw(600.0, 1.0), [(0, 1)], rng=np.random.default_rng(8)).broken


def test_the_sign_of_zero_and_a_direction_without_noise_are_seen():
    class Signed(Count):
        def release(self, data, rng):
            return -0.0 if data else 0.0

    class Flat(Count):
        def release(self, data, rng):
            noise = rng.laplace(0.0, 10.0, 8)
            return data * np.arange(8) + noise - noise.mean()

    assert audit(Signed(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(9)).broken
    assert audit(Flat(1.0, 1.0), [(0, 0.5)], rng=np.random.default_rng(9), bits=False).broken


@pytest.mark.parametrize(
    ("released", "message"),
    [
        ("text", "release returned <str>; a number"),
        ({"a": 1}, "release returned <dict>; a number"),
        (1j, "release returned <complex>; a number"),
        (2**60 + 1, "must be split in two"),
    ],
)
def test_releases_that_are_no_numbers_are_refused(released, message):
    class Odd(Count):
        def release(self, data, rng):
            return released

    with pytest.raises(ValueError, match=message):
        audit(Odd(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(0))


def test_releases_of_varying_length_are_refused():
    class Ragged(Count):
        def release(self, data, rng):
            return np.zeros(rng.integers(1, 3))

    with pytest.raises(ValueError, match="releases vary in how many numbers"):
        audit(Ragged(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(0))


@pytest.mark.parametrize("pairs", [([0, 1], [5, 6]), (3, 4), [(0, 1, 2)]])
def test_what_is_no_pair_is_refused(pairs):
    with pytest.raises(ValueError, match=r"pairs\[0\] = .*; a tuple"):
        audit(Count(1.0, 1.0), pairs, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_names_of_cases_are_their_own():
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) > 40


def test_no_pair_is_refused():
    with pytest.raises(ValueError, match="pairs is empty"):
        audit(Count(1.0, 1.0), [], rng=np.random.default_rng(0))
