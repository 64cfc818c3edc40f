"""Bugs planted in selections die by either route; without them nothing is refuted.

Seeds are fixed. A kept promise is refuted with chance 1e-3 an audit.
"""

from dataclasses import replace

import numpy as np
import pytest

from companion.experiments.audit.mutants import topk as planted
from dprank.topk import Oneshot, Peeling, PrivateRankCentrality

#: Rounding of quadratures, relative.
ROUNDING = 1e-9
PLANTED = planted.plantings()


@pytest.mark.parametrize("planting", PLANTED, ids=[planting.mutant.bug for planting in PLANTED])
def test_mutants_die_by_either_route_and_their_twins_live(planting):
    mutant, twin = planting
    assert mutant.exact_epsilon() > 1.2 * mutant.guarantee.epsilon
    assert mutant.bet(np.random.default_rng(1), budget=200_000).refuted
    assert twin.exact_epsilon() <= twin.guarantee.epsilon * (1 + ROUNDING)
    assert not twin.bet(np.random.default_rng(2), budget=20_000).refuted


def test_every_class_has_a_mutant():
    assert {mutant.of for mutant in planted.mutants()} == {Oneshot, Peeling, PrivateRankCentrality}
    assert len({mutant.bug for mutant in planted.mutants()}) == len(PLANTED) >= 15


def test_noise_reused_over_rounds_is_harmless_where_losses_add_up():
    mutant, twin = planted.harmless()
    assert twin.exact_epsilon() <= mutant.exact_epsilon() <= mutant.guarantee.epsilon * (1 + ROUNDING)
    assert not mutant.bet(np.random.default_rng(1), budget=50_000).refuted


@pytest.mark.parametrize("planting", PLANTED, ids=[planting.mutant.bug for planting in PLANTED])
def test_what_a_mutant_draws_has_no_more_than_its_exact_loss(planting):
    mutant = planting.mutant
    if np.isfinite(mutant.exact_epsilon()):
        bound = replace(mutant.guarantee, epsilon=mutant.exact_epsilon() * (1 + ROUNDING))
        assert not replace(mutant, guarantee=bound).bet(np.random.default_rng(3), budget=20_000).refuted
