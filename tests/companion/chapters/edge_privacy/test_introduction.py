"""What Sections 1 and 2.2 say on the way: small cases by hand, and lines that would be wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.edge_privacy import introduction
from dprank.models.bradley_terry import LOGISTIC


def test_upset_is_a_matrix_of_chances_in_which_the_best_loses():
    chances = introduction.UPSET
    np.testing.assert_allclose(chances + chances.T, 1)
    assert chances.mean(1).argmax() == 0
    assert chances[0, 1] < 0.5


@pytest.mark.parametrize("penalty", [0.01, 0.3, 2.0])
def test_fitted_lead_is_stationary(penalty):
    for of_likelihood, sign in ((True, -1), (False, 1)):
        lead = introduction.fitted_lead(of_likelihood, penalty)
        slope = float(LOGISTIC.pdf(lead)) if of_likelihood else -float(LOGISTIC.cdf(-lead))
        assert slope + penalty / 2 * lead == pytest.approx(0, abs=1e-4)
        assert sign * lead > 0


def test_sparse_rates_by_hand():
    log = 50.0
    (row,) = introduction.sparse_rates([log]).itertuples()
    assert row.over == pytest.approx((log**-0.25 + 1) / (log**-0.25 + 1 / log))
    # with the log n that Theorem 2.2 lacks the ratio would be 1
    assert row.over > 2


def test_room_is_small_and_would_be_missed_by_a_smaller_bound():
    record = introduction.check_room()
    assert record.verdict == "depends on the reading"
    assert 0.9 < record[2].observed <= 1  # the bound in (log n)^(1/4) is nearly attained


def test_replaced_attack_is_zero_only_with_the_copy():
    for k in range(3):
        worst, differ = introduction.replaced_attack(3, k, 7, False)
        own, _ = introduction.replaced_attack(3, k, 7, True)
        assert worst < 1e-12 < 1e-3 < own
        assert differ == 1


def test_tuned_shares_data_and_pulls_to_zero():
    frame = introduction.tuned(12, (1.0, 1e3), 1.0, 5)
    assert frame.more.iloc[0] == 0
    assert frame.differ.sum() == 0
    assert frame.error[1e3] == pytest.approx(1, abs=0.05)


def test_presence_is_told_and_which_is_not():
    record = introduction.check_presence(epsilons=(1.0,))
    told = {check.reading: check.observed for check in record if check.about == "printed"}
    assert told["presence against absence"] == pytest.approx(1)
    assert told["which of two units"] == pytest.approx(1 / (1 + math.exp(-1)))
