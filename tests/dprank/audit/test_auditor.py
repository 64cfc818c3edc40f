"""The user's door to the audit. Seeds are fixed; a kept promise is refuted with probability 0.001 at most."""

from dataclasses import dataclass

import numpy as np
import pytest

from dprank.aggregation import LocalMatrix, PrivateBorda
from dprank.audit import audit, cases
from dprank.mechanism import Guarantee
from dprank.noise import discrete_laplace
from dprank.rankings import Rankings


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


def test_a_mechanism_of_ones_own_is_audited_by_its_releases():
    kept = audit(Count(1.0, 1.0), [(0, 1)], rng=np.random.default_rng(1))
    assert not kept.broken
    assert kept.exact is None
    assert 0.5 < kept.epsilon <= 1.0
    assert str(kept).startswith("kept: epsilon = 1")
    broken = audit(Count(1.0, 0.5), [(0, 1)], rng=np.random.default_rng(1))
    assert broken.broken
    assert 1 < broken.epsilon < 2
    assert str(broken).startswith("BROKEN: epsilon = 1")


def test_a_mechanism_of_the_library_is_audited_by_its_law_too():
    votes = Rankings.from_orders([["a", "b", "c"], ["b", "a", "c"]], ["a", "b", "c"])
    other = Rankings.from_orders([["c", "b", "a"], ["b", "a", "c"]], ["a", "b", "c"])
    found = audit(
        PrivateBorda.calibrated(3, epsilon=1.0), [(votes, votes), (votes, other)], rng=np.random.default_rng(2)
    )
    assert not found.broken
    assert found.worst == 1
    assert found.exact == pytest.approx(1.0)
    assert found.samples.epsilon <= found.exact


def test_of_a_local_mechanism_the_report_is_audited():
    pair = np.array([0, 1, 2]), np.array([2, 1, 0])
    found = audit(LocalMatrix.calibrated(3, epsilon=1.0), [pair], rng=np.random.default_rng(3))
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


def test_names_of_cases_are_their_own():
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) > 40


def test_no_pair_is_refused():
    with pytest.raises(ValueError, match="pairs is empty"):
        audit(Count(1.0, 1.0), [], rng=np.random.default_rng(0))
