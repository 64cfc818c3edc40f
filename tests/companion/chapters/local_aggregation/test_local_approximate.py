import math

import numpy as np
import pytest

from companion.chapters.local_aggregation import local_approximate as module
from companion.ledger.claim import derive


def test_a_delta_helps_if_large():
    assert derive(module.check_approximate(50)) == "needs a condition"
    assert derive(module.check_footnote_3(50)) == "needs a condition"
    assert not module._helps(1e-3, 1e-3, 100).outcome
    assert module._helps(1.0, 1e-6, 100).outcome


def test_shown_error_by_simulation():
    # all pairs are tied: ten items, half of the voters one order, half its reverse; three pairs of them drawn
    rng, voters, delta = np.random.default_rng(1), 4000, 0.05
    kept = rng.binomial(voters // 2, delta, (2000, 2))
    off = abs(kept[:, 0] / kept.sum(axis=1) - 0.5).mean()
    assert 2 * math.comb(10, 2) * off < module.shown_error(10, voters, delta)
    enough = module.shown_voters(10, delta, 1.0)
    assert module.shown_error(10, enough, delta) <= 1 < module.shown_error(10, 0.99 * enough, delta)


def test_reports_are_mended_by_hand():
    law = np.array([[0.5, 0.5, 0.0], [0.45, 0.45, 0.1]])
    assert module.least_delta(law, 0.0) == pytest.approx(0.1)
    assert module.mended(law, 0.2)[1] == pytest.approx([0.5, 0.5, 0])
    loss, distance, delta = module.change(np.array([[0.5, 0.5], [0.6, 0.4]]), 1.0)
    assert delta == 0
    assert distance == 0
    assert loss < 0


def test_laws_that_are_not_pulled_keep_their_loss(monkeypatch):
    monkeypatch.setattr(module, "mended", lambda law, epsilon: law)
    assert derive(module.check_approximate(50)) == "refuted"


def test_composed_by_enumeration():
    # two reports: none, one or two pluses
    p = 1 / (1 + math.exp(-0.5))
    one = np.array([(1 - p) ** 2, 2 * p * (1 - p), p**2])
    epsilon = module.composed_epsilon(0.5, 2, 0.05)
    assert np.maximum(one - math.exp(epsilon) * one[::-1], 0).sum() == pytest.approx(0.05)
    assert epsilon < 1.0
