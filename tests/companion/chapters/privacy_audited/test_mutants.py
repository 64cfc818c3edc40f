"""Every planted bug is caught, and the same code without it is not. Seeds are fixed; ALARM is a right one's chance."""

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from checks import each

from companion.chapters.privacy_audited.bugs import planted
from companion.chapters.privacy_audited.cases.pairwise import comparisons
from companion.chapters.privacy_audited.mutants import local, pairwise
from dprank.data.counting import win_counts
from dprank.privacy.divergence import pair_of
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
#: Bugs of local mechanisms whose exact loss is infinite.
ENDLESS = {mutant.bug: mutant for mutant in local.mutants() if mutant.exact_epsilon() == math.inf}


@cache
def loss_of(name):
    return planted()[name].exact_epsilon()


every_bug = pytest.mark.parametrize("name", planted())


@pytest.mark.parametrize("name", [name for name in planted() if name != HARMLESS])
@pytest.mark.slow
def test_a_bug_is_caught_by_both_routes(name):
    mutant = planted()[name]
    loss = loss_of(name)
    assert math.isnan(loss) if name in UNKNOWN else loss > RISE * mutant.guarantee.epsilon
    found = mutant.bet(np.random.default_rng(1), budget=200_000)
    assert found.refuted
    assert found.event


@every_bug
@pytest.mark.slow
def test_without_the_bug_the_promise_is_kept(name):
    mutant = planted()[name]
    twin, right = replace(mutant, sample=mutant.twin, bits=False), mechanism_of(mutant.twin)
    # of the library's own the exact loss is known, and that its draws have that law
    budget = 20_000 if right is None else 4_000
    assert not twin.bet(np.random.default_rng(2), budget=budget, confidence=1 - ALARM).refuted
    if right is not None:
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
    loss = loss_of(name)
    if math.isfinite(loss):
        told = replace(mutant, guarantee=replace(mutant.guarantee, epsilon=loss * (1 + ROUNDING)))
        assert not told.bet(np.random.default_rng(3), budget=20_000, confidence=1 - ALARM).refuted


def test_right_mechanisms_stand_beside_most_bugs():
    """Of every class with a bug; the other twins are rewritten code, or run twice."""
    beside = {type(mechanism_of(mutant.twin)) for mutant in planted().values()} - {type(None)}
    assert beside == {mutant.of for mutant in planted().values()}


def test_noise_reused_over_rounds_is_harmless_where_losses_add_up():
    assert 0 < planted()[HARMLESS].exact_epsilon() <= planted()[HARMLESS].guarantee.epsilon * (1 + ROUNDING)


@each("bug", ENDLESS)
def test_as_much_is_told_for_certain_as_the_law_says(bug):
    """Shares of 20 000 reports that the other ranking never gives, six standard deviations allowed."""
    mutant = ENDLESS[bug]
    for data, other in mutant.pairs:
        rows = [mutant.sample(side, 20_000, np.random.default_rng(seed)) for seed, side in enumerate((data, other))]
        assert outside(*rows) + outside(*rows[::-1]) == pytest.approx(impossible(mutant.loss(data, other)), abs=0.03)


def outside(first, second):
    """Share of the rows of one sample that never occur in the other."""
    seen = {row.tobytes() for row in second.astype(float)}
    return np.mean([row.tobytes() not in seen for row in first.astype(float)])


def impossible(law):
    """Probability of what the other law cannot give, both ways round."""
    return np.exp(law.log_p[law.log_q == -np.inf]).sum() + np.exp(law.log_q[law.log_p == -np.inf]).sum()


def test_a_small_chance_of_reversal_is_only_needless_noise():
    """exp(-epsilon) for 1 / (1 + exp(epsilon)) keeps its promise where epsilon is above the log of the golden ratio."""
    golden = math.log((1 + math.sqrt(5)) / 2)
    turned = np.exp([-golden, -0.9 * golden, -1.0])
    lost = [pair_of([t, 1 - t], [1 - t, t]).epsilon(0) for t in turned]
    assert lost[0] == pytest.approx(golden)
    assert lost[1] > 0.9 * golden
    assert lost[2] < 0.55


def test_enumerated_losses_of_honest_counts():
    """What is published as it was drawn loses what is promised."""
    for data, other in pairwise.FLIPS:
        assert pairwise._loss(lambda noisy, data: noisy, data, other).epsilon(0.0) == pytest.approx(1, rel=1e-9)


def test_each_bug_of_counts_does_what_it_says():
    noisy, data = np.array([[3, -2], [1, 1]]), comparisons([(1, 0, 1.0)], 2)
    assert win_counts(data).tolist() == [0, 1]
    assert pairwise.on_positive(noisy, data).tolist() == [[0, -2], [0, 1]]
    assert pairwise.clamped(noisy, data).tolist() == [[1, 0], [1, 1]]
    assert pairwise.by_appearance(noisy, data).tolist() == [[3, -2, 0, 1], [1, 1, 1, 0]]
