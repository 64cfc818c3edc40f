"""Seeds are fixed: a lower bound is above the truth with probability 0.001 at most when they change."""

import math
from dataclasses import dataclass

import pandas as pd
import pytest

from companion.chapters.privacy_audited import own, promises
from companion.chapters.privacy_audited.cases.case import Case
from dprank.privacy.divergence import pair_of
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import NoExactRoute, exact, sample


@dataclass(frozen=True)
class Coin:
    """Reports a bit, with a promise that need not be true."""

    loss: float
    promise: float

    @property
    def guarantee(self):
        return Guarantee(self.promise)

    @property
    def lie(self):
        return 1 / (1 + math.exp(self.loss))

    def release(self, data, rng):
        return float(rng.random() < abs(data - self.lie))


@dataclass(frozen=True)
class Secret(Coin):
    """The same without an exact route."""


Coin.__module__, Secret.__module__ = "dprank.pairwise.coin", "dprank.topk.secret"


@exact.register(Coin)
def _(mechanism, data, other):
    return pair_of([1 - mechanism.lie, mechanism.lie], [mechanism.lie, 1 - mechanism.lie])


@sample.register(Coin)
def _(mechanism, data, size, rng):
    return (rng.random((size, 1)) < abs(data - mechanism.lie)).astype(float)


@exact.register(Secret)
def _(mechanism, data, other):
    raise NoExactRoute


@pytest.fixture
def table(monkeypatch):
    """The frame of cases by name: mechanism, and what is printed or known of it."""

    def of(**cases):
        named = {name: Case(name, mechanism, 0, 1, **known) for name, (mechanism, known) in cases.items()}
        monkeypatch.setattr(promises, "known", lambda: named)
        return promises.frame(20_000).set_index("case")

    return of


def test_a_kept_promise(table):
    row = table(kept=(Coin(1.0, 1.0), {"closed_form": 1.0})).loc["kept"]
    assert (row.mechanism, row.paper, row.calibration) == ("Coin", "Cai et al.", "calibrated")
    assert row.exact == pytest.approx(1.0)
    assert 0.6 < row.lower <= row.exact


def test_a_broken_promise_is_seen_by_either_route(table):
    frame = table(kept=(Coin(1.0, 1.0), {}), broken=(Coin(1.5, 1.0), {}), hidden=(Secret(2.0, 1.0), {}))
    assert promises.broken(frame).index.tolist() == ["broken", "hidden"]
    assert math.isnan(frame.exact["hidden"])
    assert own.check_promises_kept(frame)[0].outcome is False
    assert own.check_promises_kept(frame)[1].observed == 2


def test_what_a_paper_promises_is_held_against_its_own_noise(table):
    frame = table(
        calibrated=(Coin(1.0, 1.0), {}),
        well=(Secret(0.5, 0.5), {"printed": 0.6}),
        badly=(Coin(3.0, 3.0), {"printed": 1.0}),
        worse=(Coin(4.0, 4.0), {"printed": 1.0}),
    )
    assert not len(promises.broken(frame))
    assert promises.lies(frame).index.tolist() == ["badly", "worse"]
    assert promises.worst_lies(frame).index.tolist() == ["worse"]
    checks = own.check_printed_promises(frame.reset_index(), 1)
    assert [check.outcome for check in checks] == [True, True]
    assert checks[1].observed == pytest.approx(4.0)
    assert own.check_printed_promises(frame.reset_index(), 0)[0].outcome is False


def test_the_picture_has_the_worst_case_of_every_mechanism_and_calibration(table):
    frame = table(
        secret=(Secret(2.0, 2.0), {}),
        loose=(Coin(0.5, 1.0), {}),
        tight=(Coin(1.0, 1.0), {}),
        printed=(Coin(3.0, math.inf), {"printed": 1.0}),
    )
    drawn = promises.picture(frame.reset_index())
    assert drawn.case.tolist() == ["printed", "tight", "secret"]
    assert drawn.cases.tolist() == [1, 2, 1]


def test_disagreement_is_told(table):
    frame = table(kept=(Coin(1.0, 1.0), {"closed_form": 1.0}))
    assert [check.outcome for check in own.check_agreement(frame)] == [True, True]
    assert own.check_agreement(frame.assign(closed_form=1.001))[0].outcome is False
    assert own.check_agreement(frame.assign(lower=1.1))[1].outcome is False


def test_a_mechanism_without_a_loss_or_a_bug_that_is_caught_would_be_missed(table, monkeypatch):
    monkeypatch.setattr(promises, "mechanisms", lambda: [Coin, Secret])
    frame = table(kept=(Coin(1.0, 1.0), {}), silent=(Secret(0.0, 1.0), {}))
    bugs = pd.DataFrame({"mechanism": ["Coin", "Secret"], "by_exact": [False, True], "caught": [0, 0]})
    assert [check.observed for check in own.check_coverage(frame, bugs)] == [1, 1]


def test_mechanisms_are_the_dataclasses_that_release():
    names = [found.__name__ for found in promises.mechanisms()]
    assert len(names) == len(set(names)) >= 19
    assert {"NoisyCounts", "Oneshot", "LocalKwikSort", "Bucketed"} <= set(names)
    assert not {"Mechanism", "Guarantee", "Unif"} & set(names)
