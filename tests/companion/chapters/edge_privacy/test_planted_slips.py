"""Constants that are too small and steps that are wrong: the book's verdict, or its own statement, does not survive."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.edge_privacy import counting_rates as counts
from companion.chapters.edge_privacy import estimation, link_conditions, ordering, recovery, tails
from companion.chapters.individual_privacy import estimation_limits as estimates
from companion.chapters.individual_privacy import (
    noisy_counts,
    packings,
    voter_estimation,
    voter_likelihood,
    voter_tails,
)
from companion.chapters.individual_privacy import recovery_limits as limits
from companion.ledger.claim import HELD
from dprank.models.bradley_terry import LOGISTIC


def errors():
    return estimation.error_ratios((50, 100, 200), 60)


def curve():
    return voter_estimation.estimation_curve([16], [10**5], 0.5, 5, 40)


def moments(right):
    return lambda *a: right(*a) | {"printed mean": 0.9 * right(*a)["printed mean"]}


def proportional(right):
    """With a proportional link the gaps are of one order, and nothing is refuted."""
    return lambda halves: right(halves).assign(ratio=0.25)


#: Where the slip is, what it makes of what is right there, and the claim that notices.
SLIPS = (
    (tails, "C_DEGREES", lambda right: 60.0, tails.check_degrees),
    (tails, "C_GRADIENT", lambda right: 20.0, tails.check_lemma_a1),
    (tails, "C_SPECTRUM", lambda right: 90.0, tails.check_lemma_a3),
    (voter_tails, "C_SPECTRUM_VOTERS", lambda right: 40.0, voter_tails.check_lemma_b4),
    (voter_tails, "C_GRADIENT_VOTERS", lambda right: 0.5, voter_tails.check_lemma_b2),
    (voter_tails, "C_DEGREES_VOTERS", lambda right: 42.0, voter_tails.check_lemma_b1),
    (counts, "SUFFICIENT", lambda right: 13.0, counts.check_cor_2_2),
    (counts, "SUFFICIENT", lambda right: 13.0, lambda: counts.check_rank_all(10)),
    (counts, "log_count_bound", lambda right: lambda n, c: 4 * right(n, c), lambda: counts.check_thm_2_3(3)),
    (counts, "log_count_bound", lambda right: lambda n, c: 4 * right(n, c), counts.check_thm_2_3_proof),
    (counts, "log_noise_tail", lambda right: lambda n, c: right(n, 2 * c), lambda: counts.check_thm_2_3(3)),
    (estimation, "constants", lambda right: lambda c_0=2.0: (14.7, 24.1), lambda: estimation.check_prop_2_2(errors())),
    (estimation, "KAPPA_2", lambda right: 0.05, lambda: estimation.check_thm_2_1(errors())),
    (link_conditions, "gaps", proportional, lambda: link_conditions.check_rem_1((LOGISTIC,))),
    (ordering, "most_comparisons", lambda right: lambda n: 0.3, lambda: ordering.check_rank_all(500)),
    (recovery, "constant_2_4", lambda right: lambda *nu: 20 * right(*nu), recovery.check_thm_2_4),
    (noisy_counts, "ENOUGH", lambda right: 6.0, noisy_counts.check_thm_3_3),
    (noisy_counts, "ENOUGH", lambda right: 6.0, noisy_counts.check_rank_all),
    (noisy_counts, "draw_moments", moments, lambda: noisy_counts.check_thm_3_3_proof(np.random.default_rng(1))),
    (packings, "fano", lambda right: lambda *a: right(*a[:4], a[4] + math.log(1e6)), limits.check_thm_3_4_u0),
    (packings, "draw_distances", lambda right: lambda *a: [1000 * x for x in right(*a)], estimates.check_thm_3_2),
    (voter_likelihood, "win_shares", lambda right: lambda *a: 2 * right(*a) - 1, voter_likelihood.check_likelihood),
    (voter_estimation, "rate", lambda right: lambda *a: right(*a) / 100, lambda: estimates.check_optimal(curve())),
)


@pytest.mark.parametrize(("module", "name", "slip", "settle"), SLIPS)
@pytest.mark.slow
def test_a_slip_is_found_out(module, name, slip, settle, monkeypatch):
    def seen(record):
        return record.verdict, [check.about for check in record if check.about in HELD and not check.outcome]

    before = seen(settle())
    assert before[1] == []
    monkeypatch.setattr(module, name, slip(getattr(module, name)))
    assert seen(settle()) != before
