"""Every planted bug is caught, and the same code without it is not. Seeds are fixed; ALARM is a right one's chance."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from companion.chapters.privacy_audited.bugs import planted
from dprank.privacy.laws import exact, sample

ALARM = 1e-6
#: Rounding of exact losses, relative.
ROUNDING = 1e-9
#: Rise of the exact loss that every planted bug has at least.
RISE = 1.2
#: Without an exact loss: the bug is in the floats, or in a law that nobody has written down.
UNKNOWN = {
    "NoisyCounts: noise in double precision on a count",
    "PerturbedMLE: edge set of the data behind noisy counts",
}
#: Looks like a bug and breaks nothing.
HARMLESS = "Peeling: noise reused in every round, losses added up"

every_bug = pytest.mark.parametrize("name", planted())


@pytest.mark.parametrize("name", [name for name in planted() if name != HARMLESS])
@pytest.mark.slow
def test_a_bug_is_caught_by_both_routes(name):
    mutant = planted()[name]
    loss = mutant.exact_epsilon()
    assert math.isnan(loss) if name in UNKNOWN else loss > RISE * mutant.guarantee.epsilon
    found = mutant.bet(np.random.default_rng(1), budget=200_000)
    assert found.refuted
    assert found.event


@every_bug
@pytest.mark.slow
def test_without_the_bug_the_promise_is_kept(name):
    mutant = planted()[name]
    twin = replace(mutant, sample=mutant.twin, bits=False)
    assert not twin.bet(np.random.default_rng(2), budget=20_000, confidence=1 - ALARM).refuted
    if (right := mechanism_of(mutant.twin)) is not None:
        assert type(right) is mutant.of
        loss = replace(mutant, loss=partial(exact, right)).exact_epsilon()
        assert loss <= mutant.guarantee.epsilon * (1 + ROUNDING)


def mechanism_of(twin):
    """Of the library, if the twin draws from one; else None."""
    return twin.args[0] if isinstance(twin, partial) and twin.func is sample else None


@every_bug
@pytest.mark.slow
def test_a_bug_loses_no_more_than_its_exact_loss(name):
    mutant = planted()[name]
    loss = mutant.exact_epsilon()
    if math.isfinite(loss):
        told = replace(mutant, guarantee=replace(mutant.guarantee, epsilon=loss * (1 + ROUNDING)))
        assert not told.bet(np.random.default_rng(3), budget=20_000, confidence=1 - ALARM).refuted


def test_right_mechanisms_stand_beside_most_bugs():
    """Of every class with a bug; the other twins are rewritten code, or run twice."""
    beside = {type(mechanism_of(mutant.twin)) for mutant in planted().values()} - {type(None)}
    assert beside == {mutant.of for mutant in planted().values()}
