"""A step of the induction closes with its constants, and with no smaller ones."""

from __future__ import annotations

import math

import pytest

from companion.chapters.edge_privacy import induction
from companion.chapters.individual_privacy import voter_induction


def test_one_step_bounds_what_a_step_does():
    """The closed form of a step's bounds against the measured ones, on a run that satisfies its conditions."""
    constants, link = induction.logistic_constants()
    items, mean, scale = 4.1e10, 4.1e10, 8.0
    inside = induction.one_step(constants, items, mean, scale, **link)
    assert max(inside[name] for name in ("C1", "C2", "C3", "C4")) < 1
    for name in ("C1", "C2", "C3"):  # a constant a tenth as large does not close its own step
        broken = constants | {name: constants[name] / 10}
        assert induction.one_step(broken, items, mean, scale, **link)[name] > 1
    fewer = induction.one_step(constants, 1e6, 1e6, scale, **link)
    assert fewer["reach"] > 1


def test_numbers_of_the_text():
    edge, voter = induction.edge_numbers(), voter_induction.voter_numbers()
    assert not edge.keys() & voter.keys()
    assert edge["lemma-c-sharp"] == "101.7"
    assert voter["lemma-b-sharp"] == "41.6"
    # at its least epsilon the penalty is large enough from exactly that many items on
    n = voter_induction.low_privacy_digits() * math.log(10)
    _, second = voter_induction.penalty_margin(math.exp(50), 50**-0.5, 1.0, 1, 1.0)
    assert second * (n / 50) ** 1.5 == pytest.approx(1)
