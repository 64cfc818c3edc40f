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


def test_added_noise_by_hand():
    """eta times the norm of the noise over the rate, at n items: the number of items cancels."""
    log, c1, c2 = 30.0, 2.0, 3.0
    n, scale = math.exp(log), c2 * math.sqrt(log)
    mean = c1 * scale * log
    step = 1 / (3 * induction.tails.condition_number() * mean)
    rate = math.sqrt(log / (mean / n))
    for sharp, norm in ((False, 9 * scale * math.sqrt(n) * log), (True, scale * math.sqrt(18 * n * log))):
        assert induction.added(log, c1, c2, sharp=sharp) == pytest.approx(step * norm / rate)


def test_the_four_propositions_stand_apart():
    """Each of the bounds fails without a bound on the strengths; A.3 is judged with it."""
    for name in ("C1", "C2", "C4"):
        (check,) = induction.unbounded(name)
        assert check.outcome is False
    closed = list(induction.closes("C3", induction.printed))
    assert [check.outcome for check in closed] == [True, True]


def test_displays():
    assert induction.check_eq_a18().verdict == "refuted"
    assert induction.check_eq_a23(cases=20).verdict == "refuted"
    assert induction.check_eq_a33().verdict == "refuted"
    assert induction.check_eq_a33(far=0.5).verdict == "refuted"
