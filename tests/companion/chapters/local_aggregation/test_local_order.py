import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from companion.chapters.local_aggregation import local_order as module
from companion.ledger.claim import derive
from companion.printed.alabi2022 import plus_chances

VOTES = ((1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 1))


def test_order_holds():
    assert derive(module.check_order()) == "holds"


def test_sets_in_turn_are_sets_beforehand_whatever_is_asked_next():
    assert sum(module.in_turn(VOTES, module.cautious).values()) == 1
    assert module.in_turn(VOTES, module.cautious) == module.beforehand(VOTES)

    def greedy(known):
        return next(pair for pair in (2, 0, 1) if pair not in known)

    assert module.apart(module.in_turn(VOTES, greedy), module.beforehand(VOTES)) == 0


def test_sets_that_are_not_cut_at_random_would_be_told_apart(monkeypatch):
    monkeypatch.setattr(module, "permutations", lambda items, size=None: [(2, 3, 1)])
    assert module.apart(module.in_turn(VOTES, module.cautious), module.beforehand(VOTES)) > 0


def test_means_of_the_second_set():
    which, cuts = module.moved([1, 1, 0, 0], 2)
    assert (which, cuts) == (8, 24)
    assert module.moved([1, 0, 0, 0], 2) == (24, 24)


def test_who_is_refused():
    assert module.exhausted(2, 1, list(permutations(range(3)))) == 8
    assert module.exhausted(1, 3, list(permutations(range(3)))) == 0
    assert module.exhausted(2, 1, [(0, 1, 2)]) == 0


def test_warner(monkeypatch):
    assert derive(module.check_warner()) == "refuted"
    monkeypatch.setattr(module, "plus_chances", lambda e, report: plus_chances(e, "centred"))
    assert derive(module.check_warner()) == "holds"


def test_bassily(monkeypatch):
    assert derive(module.check_bassily()) == "holds"
    sphere = module.entry_deviation
    monkeypatch.setattr(module, "entry_deviation", lambda *given: sphere(*given) / 2)
    assert derive(module.check_bassily()) == "refuted"


def test_apart_counts():
    half = Fraction(1, 2)
    assert module.apart({(0,): half, (1,): half}, {(0,): half, (2,): half}) == 2
    assert module.beside_sphere(2, 1.0) == pytest.approx(2 * 1.1276259652063807)


def test_two_rounds_by_all_reports_and_one_by_its_best(monkeypatch):
    kept = 1 / (1 + math.exp(-1.0))
    by_hand = kept**3 + 3 * kept**2 * (1 - kept)
    assert module.right_chance(3, 1.0) == pytest.approx(by_hand)
    laws = [np.array([kept, 1 - kept]), np.array([1 - kept, kept])]
    assert module.report_nats(1.0) == pytest.approx(laws[0] @ np.log(laws[0] / laws[1]))
    # with one bit, and no error allowed, the string's owner must say it: log 2 nats
    assert module.without_rounds(1, 1.0, 0.0) == pytest.approx(math.log(2) / module.report_nats(1.0))
    record = module.check_separations()
    assert record.verdict == "holds"
    assert all(c.outcome for c in record)
    monkeypatch.setattr(module, "report_nats", lambda epsilon: epsilon**2 / 4)
    assert not all(c.outcome for c in module.check_separations() if c.about == "argument")
    monkeypatch.setattr(module, "without_rounds", lambda bits, epsilon, error: 100.0)
    assert module.check_separations().verdict == "refuted"
