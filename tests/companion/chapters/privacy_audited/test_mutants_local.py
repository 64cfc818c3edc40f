"""Bugs of local mechanisms whose exact loss is infinite, and one that is only needless noise. Seeds are fixed."""

import math

import numpy as np
import pytest

from companion.chapters.privacy_audited.mutants.local import mutants
from dprank.privacy.divergence import pair_of

ENDLESS = {mutant.bug: mutant for mutant in mutants() if mutant.exact_epsilon() == math.inf}


@pytest.mark.parametrize("bug", ENDLESS)
def test_as_much_is_told_for_certain_as_the_law_says(bug):
    """Shares of 20 000 reports that the other ranking never gives, six standard deviations allowed."""
    mutant = ENDLESS[bug]
    for data, other in mutant.pairs:
        rows = [mutant.sample(side, 20_000, np.random.default_rng(seed)) for seed, side in enumerate((data, other))]
        certain = impossible(mutant.loss(data, other))
        assert outside(*rows) + outside(*rows[::-1]) == pytest.approx(certain, abs=0.03)


def outside(first, second):
    """Share of the rows of one sample that never occur in the other."""
    seen = {row.tobytes() for row in second.astype(float)}
    return np.mean([row.tobytes() not in seen for row in first.astype(float)])


def impossible(law):
    """Probability of what the other law cannot give, both ways round."""
    return np.exp(law.log_p[law.log_q == -np.inf]).sum() + np.exp(law.log_q[law.log_p == -np.inf]).sum()


def test_a_small_chance_of_reversal_is_only_needless_noise():
    """exp(-epsilon) for 1 / (1 + exp(epsilon)) keeps its promise where epsilon is above the log of the golden ratio."""

    def lost(epsilon):
        turned = math.exp(-epsilon)
        return pair_of([turned, 1 - turned], [1 - turned, turned]).epsilon(0)

    golden = math.log((1 + math.sqrt(5)) / 2)
    assert lost(golden) == pytest.approx(golden)
    assert lost(0.9 * golden) > 0.9 * golden
    assert lost(1.0) < 0.55
