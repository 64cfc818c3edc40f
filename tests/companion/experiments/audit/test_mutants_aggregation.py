"""Bugs planted in central rank aggregation are caught by both routes, their right twins by neither. Seeds are fixed."""

import numpy as np
import pytest

from companion.experiments.audit.mutants.aggregation import mutants, twins
from dprank.aggregation import ExponentialMechanism, NoisyMatrix, PrivateBorda, PrivateKwikSort

TWINS = {f"{bad.of.__name__}: {bad.bug}": (bad, good) for bad, good in twins()}
BUDGET = 200_000


def test_every_class_has_bugs_with_names_of_their_own():
    assert len(TWINS) == len(mutants()) >= 8
    assert {mutant.of for mutant in mutants()} == {NoisyMatrix, PrivateBorda, ExponentialMechanism, PrivateKwikSort}


@pytest.mark.parametrize("name", TWINS)
def test_a_bug_is_caught_by_both_routes(name):
    bad, good = TWINS[name]
    assert bad.exact_epsilon() > 1.2 * bad.guarantee.epsilon
    assert good.exact_epsilon() <= good.guarantee.epsilon + 1e-9
    assert bad.bet(np.random.default_rng(1), budget=BUDGET * 2).refuted
    assert not good.bet(np.random.default_rng(1), budget=BUDGET // 10, confidence=1 - 1e-6).refuted
