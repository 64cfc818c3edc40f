"""The flat link, and a proportional one for which nothing is refuted."""

from __future__ import annotations

import math

import numpy as np

from companion.chapters.edge_privacy import link_conditions
from companion.ledger.claim import derive
from dprank.models.bradley_terry import ARCTAN, LOGISTIC


def test_flat_link_is_what_it_is_said_to_be():
    x = np.linspace(-6, 6, 4001)
    numeric = np.gradient(link_conditions.flat_cdf(x), x)
    f = link_conditions.flat_cdf(x)
    np.testing.assert_allclose(numeric, link_conditions.flat_steepness(x) * f * (1 - f), atol=1e-5)
    np.testing.assert_allclose(link_conditions.flat_steepness(math.sqrt(3)), 9 / 8)
    for n in (2, 6):
        t = 0.2
        theta = np.r_[np.full(n // 2, t), np.full(n // 2, -t)]
        tau = link_conditions.flat_cdf(theta[:, None] - theta).mean(1)
        np.testing.assert_allclose(tau[0] - tau[-1], link_conditions.gaps([t])["tau gap"].iloc[0])


def test_remark_1(monkeypatch):
    assert derive(link_conditions.check_rem_1((LOGISTIC, ARCTAN))) == "constants"
    # mutant: with a proportional link the gaps are of one order and nothing is refuted
    frame = link_conditions.gaps((0.1, 0.01, 0.001, 0.0001))
    monkeypatch.setattr(link_conditions, "gaps", lambda halves: frame.assign(ratio=0.25))
    assert derive(link_conditions.check_rem_1((LOGISTIC,))) == "holds"
