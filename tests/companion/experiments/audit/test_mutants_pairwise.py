"""Planted bugs die and their twins live; ALARM is the chance that the audit of one twin cries wolf."""

import math

import numpy as np
import pytest

from companion.experiments.audit.mutants import pairwise
from dprank.audit.case import exact
from dprank.audit.routes.pairwise import comparisons
from dprank.comparisons import win_counts
from dprank.pairwise import NoisyCounts, PerturbedMLE

ALARM = 1e-4
MUTANTS, TWINS = pairwise.mutants(), pairwise.twins()
#: Without an exact loss: the bug is in the floats, or in a law that nobody has written down.
UNKNOWN = {
    "noise in double precision on a count",
    "edge set of the data behind noisy counts",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.bug)
def test_every_bug_is_caught_by_samples(mutant):
    found = mutant.bet(np.random.default_rng(81), budget=200_000)
    assert found.refuted
    assert found.event


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.bug)
def test_every_bug_with_a_law_loses_a_fifth_more_than_promised(mutant):
    loss = mutant.exact_epsilon()
    assert math.isnan(loss) == (mutant.bug in UNKNOWN)
    assert math.isnan(loss) or loss >= 1.2 * mutant.guarantee.epsilon


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.bug)
def test_without_the_bug_no_alarm(twin):
    assert not twin.bet(np.random.default_rng(82), budget=60_000, confidence=1 - ALARM).refuted


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.bug)
def test_without_the_bug_the_promise_is_kept(twin):
    (right,) = twin.sample.args
    assert max(exact(right, *pair).epsilon(0.0) for pair in twin.pairs) <= twin.guarantee.epsilon * (1 + 1e-9)


def test_bugs_have_names_and_cover_the_family():
    assert len({mutant.bug for mutant in MUTANTS}) == len(MUTANTS) >= 8
    assert {mutant.of for mutant in MUTANTS} == {NoisyCounts, PerturbedMLE}


def test_enumerated_losses_of_honest_counts():
    """What is published as it was drawn loses what is promised."""
    for data, other in pairwise.FLIPS:
        assert pairwise._loss(lambda noisy, data: noisy, data, other).epsilon(0.0) == pytest.approx(1, rel=1e-9)


def test_each_bug_does_what_it_says():
    noisy, data = np.array([[3, -2], [1, 1]]), comparisons([(1, 0, 1.0)], 2)
    assert win_counts(data).tolist() == [0, 1]
    assert pairwise.on_positive(noisy, data).tolist() == [[0, -2], [0, 1]]
    assert pairwise.clamped(noisy, data).tolist() == [[1, 0], [1, 1]]
    assert pairwise.by_appearance(noisy, data).tolist() == [[3, -2, 0, 1], [1, 1, 1, 0]]
